/* What is asked of functions without running them: thread barriers, what they become on other targets; and the IR with
 * what they need. */
#include "check/pipeline/internal.h"

#include "base/deadline.h"
#include "check/fences/fences.h"
#include "check/port/port.h"

static const char no_memory[] = "the analysis needs more memory than the limit";

/* Finds the functions that are meant. */
static void find(Look *look, Task *work) {
    if (!result_attempt(look->result, work, look))
        look->result->problem = "there is not enough memory";
    result_close(look->result);
}

/* ---- Thread barriers ------------------------------------------------------------------------------ */

static void find_functions(void *context) {
    const Look *look = context;
    PipelineResult *result = look->result;
    const char *only = ((const MembarRequest *)look->request)->function;
    size_t count = membar_functions(result->module, NULL, 0);
    result->functions = ARENA_ARRAY(&result->arena, const Op *, count + 1);
    result->membars = ARENA_ARRAY(&result->arena, const MembarResult *, count + 1);
    result->membar_reports = ARENA_ARRAY(&result->arena, MembarReport, count + 1);
    result->count = membar_functions(result->module, result->functions, count);
    if (only && !result_keep(result, str_of(only)))
        result_fail(result, "there is no function '%s'; there is %s%s", only, count ? "" : "none with a body",
                    result_names(result));
}

static void look_at_barriers(void *context) {
    const Look *look = context;
    const MembarRequest *request = look->request;
    PipelineResult *result = look->result;
    const Op *function = result->functions[look->at];
    const MembarResult *found = membar_analyze(result->module, function, request->model, request->releases);
    MembarQuestion question = {.stage = request->stage, .line = request->line};
    if (request->compares)
        question.other = membar_analyze(result->module, function, request->other, request->releases);
    result->membars[look->at] = found;
    result->membar_reports[look->at] = membar_report(&result->arena, result->module, found, question);
}

void result_membar(PipelineResult *result, const MembarRequest *request) {
    Look look = {.result = result, .request = request};
    find(&look, find_functions);
    for (; look.at < result->count; look.at++) {
        MembarReport *report = &result->membar_reports[look.at];
        deadline_start(request->timeout, NULL, NULL);
        bool done = result_attempt(result, look_at_barriers, &look);
        deadline_end();
        if (!done) {
            *report = membar_report_blank(result->module->source->name, "");
            report->model = membar_model_name(request->model);
            report->problem = no_memory;
            report->verdict = VERDICT_INCOMPLETE;
            result->membars[look.at] = NULL;
        }
        result->kind = verdict_worse(result->kind, report->verdict);
    }
}

/* ---- Ports ---------------------------------------------------------------------------------------- */

static void find_ported(void *context) {
    const Look *look = context;
    PipelineResult *result = look->result;
    size_t count = program_kernels(result->module, NULL, 0);
    result->functions = ARENA_ARRAY(&result->arena, const Op *, count + 1);
    result->ports = ARENA_ARRAY(&result->arena, PortReport, count + 1);
    result->count = program_kernels(result->module, result->functions, count);
    if (!count)
        result_fail(result, "there is no kernel in it: no tt.func with a body");
    else if (look->request && !result_keep(result, str_of(look->request)))
        result_fail(result, "there is no kernel '%s'", (const char *)look->request);
}

static void port_kernel(void *context) {
    const Look *look = context;
    PipelineResult *result = look->result;
    result->ports[look->at] = port_report(&result->arena, result->module, result->functions[look->at], look->request);
}

void result_port(PipelineResult *result, const Target *target, const char *kernel) {
    Look look = {.result = result, .request = kernel};
    find(&look, find_ported);
    look.request = target;
    for (; look.at < result->count; look.at++) {
        if (!result_attempt(result, port_kernel, &look))
            result->ports[look.at] = (PortReport){.file = result->module->source->name,
                                                  .function = "",
                                                  .target = target->name,
                                                  .problem = no_memory,
                                                  .verdict = VERDICT_INCOMPLETE,
                                                  .shared_bytes = -1};
        result->kind = verdict_worse(result->kind, result->ports[look.at].verdict);
    }
}

/* ---- The IR with what it needs -------------------------------------------------------------------- */

typedef struct Emission {
    PipelineResult *result;
    bool prune, settled;
    Text *to;
} Emission;

static void emit_barriers(void *context) {
    const Emission *emission = context;
    PipelineResult *result = emission->result;
    const MembarResult **found = ARENA_ARRAY(&result->arena, const MembarResult *, result->count + 1);
    size_t count = 0;
    for (size_t i = 0; i < result->count; i++)
        if (result->membars[i])
            found[count++] = result->membars[i];
    membar_emit(result->module, found, count, emission->prune, emission->to);
}

static void emit_fences(void *context) {
    Emission *emission = context;
    PipelineResult *result = emission->result;
    FencePlan *plans = ARENA_ARRAY(&result->arena, FencePlan, result->count + 1);
    Verdict ignored = {.arena = &result->arena, .kernel = ""};
    for (size_t i = 0; i < result->count; i++) {
        plans[i] = fences_plan(result->module, result->functions[i], result_given_launch(result, i), &ignored);
        emission->settled &= plans[i].settled;
    }
    fences_emit(result->module, plans, result->count, emission->to);
}

bool result_emit(PipelineResult *result, bool prune, Text *to) {
    Emission emission = {result, prune, true, to};
    if (result->ptx)
        return false; /* it is looked at, not changed */
    if (!result_attempt(result, result->membars ? emit_barriers : emit_fences, &emission))
        to->failed = true;
    return emission.settled;
}
