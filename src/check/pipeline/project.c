/* What the project has decided about the findings of a kernel (src/config), and what of that was of use. */
#include "check/pipeline/internal.h"

#include "config/apply.h"
#include "ir/location.h"

/* Whether all was asked that a finding may come from. Else what was not found may be there all the same. */
static bool asks_all(const PipelineResult *result) {
    const Question *question = &result->question;
    return question->lint && !question->lint_only && question->membar && question->global && !question->only_launch &&
           !result->trail &&
           !(result->ptx && (result->launch || result->threads_trail || result->recording)); /* that launch alone */
}

/* The lines of its own source that a kernel has ops on. */
static void look_at_lines(PipelineResult *result, size_t kernel) {
    Module *module = result->module;
    const Op *function = result->functions[kernel];
    const Attr *last = NULL;
    for (const Op *op = function; op; op = op_next_in_walk(op, function)) {
        const Attr *location = kernel_location(module, op->location);
        bool same = location && last && location->line == last->line && str_equal(location->name, last->name);
        if (location && !same)
            project_looked_at_line(result->question.project, module->source->name, location_text(location),
                                   location->line);
        last = location ? location : last;
    }
}

/* The same of PTX, from .loc. */
static void look_at_ptx(PipelineResult *result, size_t kernel) {
    enum { MOST_PLACES = 8 };
    const PtxFunction *function = &result->ptx->functions[result->entries[kernel]];
    PtxPlace places[MOST_PLACES];
    for (uint32_t i = function->begin; i < function->end; i++) {
        if (result->ptx->statements[i].kind != PTX_LOC)
            continue;
        uint32_t count = i + 1 < function->end ? ptx_places(result->ptx, i + 1, places, MOST_PLACES) : 0;
        for (uint32_t k = 0; k < count; k++)
            project_looked_at_line(result->question.project, result->module->source->name, places[k].file,
                                   places[k].line);
    }
}

void settle_findings(void *context, Verdict *verdict) {
    const Look *look = context;
    step_rules(look->result, look->at);
    if (!look->result->question.project)
        return;
    add_fingerprints(look->result, look->at);
    project_apply(look->result->question.project, verdict, look->result->module->source->name);
}

void step_project(PipelineResult *result, size_t kernel) {
    Project *project = result->question.project;
    Verdict *verdict = &result->verdicts[kernel];
    if (!project)
        return;
    project_apply(project, verdict, result->module->source->name);
    if (!asks_all(result) || verdict->incomplete_count || verdict->kind == VERDICT_INCOMPLETE)
        return;
    project_looked_at(project, verdict);
    if (result->ptx)
        look_at_ptx(result, kernel);
    else
        look_at_lines(result, kernel);
}
