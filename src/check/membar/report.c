/* From what the analysis of thread barriers found to what is said of it: places and names for ops, what is needed, what
 * is there, and the answer to a question about a line. */
#include "check/membar/report.h"

#include "check/explain/place.h"
#include "check/membar/reporting.h"
#include "ir/op.h"

static const char *const model_names[] = {"sync", "near", "async"}; /* ORDER MembarModel */

const char *membar_model_name(MembarModel model) {
    return model_names[model];
}

bool membar_model_find(const char *name, MembarModel *model) {
    for (size_t i = 0; i < sizeof model_names / sizeof *model_names; i++)
        if (strcmp(model_names[i], name) == 0) {
            *model = (MembarModel)i;
            return true;
        }
    return false;
}

size_t membar_functions(const Module *module, const Op **functions, size_t most) {
    size_t count = 0;
    for (const Item *item = module->first; item; item = item->next)
        for (const Op *op = item->kind == ITEM_OP ? item->op : NULL; op; op = op_next_in_walk(op, item->op)) {
            if (!op_is_control(op, CONTROL_FUNCTION) || !op->region_count || !op->regions[0].first)
                continue;
            if (count < most)
                functions[count] = op;
            count++;
        }
    return count;
}

/* ---- Places and names ---------------------------------------------------------------------------------------------
 */

MembarPlace membar_place(MembarReporter *reporter, const Op *op) {
    MembarPlace place = {.role = "", .agent = "", .op = "", .note = "", .file = ""};
    if (op)
        op_place_set(reporter->module, op, &place, &reporter->words);
    return place;
}

static const char *buffer_name(MembarReporter *reporter, const Op *buffer) {
    if (!buffer)
        return "";
    uint32_t line = op_line(reporter->module, buffer);
    if (op_has_effect(reporter->module, buffer, EFFECT_ALLOCATE, GROUP_NONE)) {
        if (!reporter->names)
            reporter->names = names_of(reporter->module, reporter->function);
        return name_of(reporter->names, buffer);
    }
    if (op_is_control(buffer, CONTROL_CALL))
        return verdict_text(&reporter->words, "memory of the function called at line %u", line);
    return verdict_text(&reporter->words, "scratch of %.*s at line %u", STR_ARG(buffer->name), line);
}

/* ---- Hazards, needs, barriers -------------------------------------------------------------------------------------
 */

size_t membar_kept(size_t hazards) {
    return hazards < MEMBAR_MOST_HAZARDS ? hazards : MEMBAR_MOST_HAZARDS;
}

const MembarConflict *membar_conflicts(MembarReporter *reporter, const MembarHazard *hazards, size_t count) {
    static const char *const kinds[] = {"RAW", "WAR", "WAW"}; /* ORDER MembarHazardKind */
    MembarConflict *conflicts = ARENA_ARRAY(reporter->words.arena, MembarConflict, count + 1);
    for (size_t i = 0; i < count; i++) {
        const MembarHazard *hazard = &hazards[i];
        conflicts[i] = (MembarConflict){.kind = kinds[hazard->kind],
                                        .space = hazard->space == SPACE_TENSOR ? "tensor" : "shared",
                                        .first = membar_place(reporter, hazard->first),
                                        .second = membar_place(reporter, hazard->second),
                                        .first_buffer = buffer_name(reporter, hazard->first_buffer),
                                        .second_buffer = buffer_name(reporter, hazard->second_buffer),
                                        .begin = hazard->begin,
                                        .end = hazard->end,
                                        .loop = membar_place(reporter, hazard->loop)};
    }
    return conflicts;
}

static void report_needs(MembarReporter *reporter, const MembarResult *result, MembarReport *report) {
    static const char *const kinds[] = {"local", "tensor", "cluster", "init-fence", "init"}; /* ORDER MembarKind */
    MembarNeeded *needed = ARENA_ARRAY(reporter->words.arena, MembarNeeded, result->need_count + 1);
    for (size_t i = 0; i < result->need_count; i++) {
        const MembarNeed *need = &result->needs[i];
        size_t kept = membar_kept(need->hazard_count);
        needed[i] = (MembarNeeded){.at = membar_place(reporter, need->op),
                                   .after = need->after,
                                   .automatic = need->automatic,
                                   .missing = report->inserted && !need->automatic,
                                   .kind = kinds[need->kind],
                                   .conflicts = membar_conflicts(reporter, need->hazards, kept),
                                   .conflict_count = kept,
                                   .all_conflicts = need->hazard_count};
        report->missing_count += needed[i].missing;
    }
    report->needed = needed;
    report->needed_count = result->need_count;
}

static void report_present(MembarReporter *reporter, const MembarResult *result, MembarReport *report) {
    MembarThere *present = ARENA_ARRAY(reporter->words.arena, MembarThere, result->present_count + 1);
    for (size_t i = 0; i < result->present_count; i++) {
        const MembarPresent *there = &result->present[i];
        size_t kept = membar_kept(there->hazard_count);
        present[i] = (MembarThere){.at = membar_place(reporter, there->op),
                                   .needless = there->needless,
                                   .why = there->needless && there->why ? there->why : "",
                                   .covered_by = membar_place(reporter, there->needless ? there->covered_by : NULL),
                                   .conflicts = membar_conflicts(reporter, there->hazards, kept),
                                   .conflict_count = kept,
                                   .all_conflicts = there->hazard_count};
        report->needless_count += there->needless;
    }
    report->present = present;
    report->present_count = result->present_count;
}

static void report_proofs(MembarReporter *reporter, const MembarResult *result, MembarReport *report) {
    MembarDistinct *distinct = ARENA_ARRAY(reporter->words.arena, MembarDistinct, result->proof_count + 1);
    for (size_t i = 0; i < result->proof_count; i++)
        distinct[i] = (MembarDistinct){.first = membar_place(reporter, result->proofs[i].first),
                                       .second = membar_place(reporter, result->proofs[i].second),
                                       .why = result->proofs[i].text ? result->proofs[i].text : ""};
    report->distinct = distinct;
    report->distinct_count = result->proof_count;
}

/* No more is asked about ops of one line. */
enum { MOST_ANSWERS = 16 };

/* Those of the function that start on the line. */
static size_t ops_at(MembarReporter *reporter, uint32_t line, const Op *ops[MOST_ANSWERS]) {
    size_t count = 0;
    for (const Op *op = reporter->function; op && count < MOST_ANSWERS; op = op_next_in_walk(op, reporter->function))
        if (!op->implicit && op_line(reporter->module, op) == line)
            ops[count++] = op;
    return count;
}

static void answer(MembarReporter *reporter, const MembarResult *result, uint32_t line, MembarReport *report) {
    const Op *ops[MOST_ANSWERS];
    size_t count = ops_at(reporter, line, ops);
    MembarPending *pending = ARENA_ARRAY(reporter->words.arena, MembarPending, count + 1);
    for (size_t i = 0; i < count; i++) {
        Text lines = {0};
        membar_why(reporter->module, result, ops[i], &lines);
        pending[i].at = membar_place(reporter, ops[i]);
        pending[i].lines = verdict_keep(&reporter->words, &lines);
    }
    report->asked = true;
    report->pending = pending;
    report->pending_count = count;
}

/* ---- All of it ----------------------------------------------------------------------------------------------------
 */

MembarReport membar_report(Arena *arena, Module *module, const MembarResult *result, MembarQuestion question) {
    MembarReporter reporter = {.module = module, .function = result->function, .words = {.arena = arena}};
    Str name = op_symbol(result->function);
    MembarReport report = membar_report_blank(module->source->name, arena_copy(arena, name.data, name.size));
    bool claimed = question.stage == MEMBAR_STAGE_INSERTED;
    report.model = membar_model_name(result->model);
    bool said = question.stage == MEMBAR_STAGE_AS_READ;
    report.inserted = said ? result->inserted == PAST_YES : claimed;
    report.unknown = said && result->inserted == PAST_UNKNOWN;
    report.assumed = !said && (result->inserted == PAST_UNKNOWN || report.inserted != (result->inserted == PAST_YES));
    report_needs(&reporter, result, &report);
    report_present(&reporter, result, &report);
    report_proofs(&reporter, result, &report);
    if (question.other)
        membar_compare(&reporter, result, question.other, &report.comparison);
    if (question.line)
        answer(&reporter, result, question.line, &report);
    if (result->problem) {
        report.problem = arena_copy(arena, result->problem, strlen(result->problem));
        report.at = membar_place(&reporter, result->problem_op);
        report.verdict = VERDICT_INCOMPLETE;
    }
    if (report.missing_count)
        report.verdict = VERDICT_FINDINGS;
    return report;
}
