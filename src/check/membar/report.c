/* From what the analysis of thread barriers found to what is said of it: places and names for ops, what is needed, what
 * is there, and the answer to a question about a line. */
#include "check/membar/report.h"

#include "check/explain/place.h"
#include "check/membar/telling.h"
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

MembarPlace membar_place(MembarTeller *teller, const Op *op) {
    MembarPlace place = {.role = "", .agent = "", .op = "", .note = "", .file = ""};
    if (op)
        op_place_set(teller->module, op, &place, &teller->words);
    return place;
}

static const char *buffer_name(MembarTeller *teller, const Op *buffer) {
    if (!buffer)
        return "";
    uint32_t line = op_line(teller->module, buffer);
    if (op_has_effect(teller->module, buffer, EFFECT_ALLOCATE, GROUP_NONE)) {
        if (!teller->names)
            teller->names = names_of(teller->module, teller->function);
        return name_of(teller->names, buffer);
    }
    if (op_is_control(buffer, CONTROL_CALL))
        return verdict_text(&teller->words, "memory of the function called at line %u", line);
    return verdict_text(&teller->words, "scratch of %.*s at line %u", STR_ARG(buffer->name), line);
}

/* ---- Hazards, needs, barriers -------------------------------------------------------------------------------------
 */

size_t membar_kept(size_t hazards) {
    return hazards < MEMBAR_MOST_HAZARDS ? hazards : MEMBAR_MOST_HAZARDS;
}

const MembarConflict *membar_conflicts(MembarTeller *teller, const MembarHazard *hazards, size_t count) {
    static const char *const kinds[] = {"RAW", "WAR", "WAW"}; /* ORDER MembarHazardKind */
    MembarConflict *conflicts = ARENA_ARRAY(teller->words.arena, MembarConflict, count + 1);
    for (size_t i = 0; i < count; i++) {
        const MembarHazard *hazard = &hazards[i];
        conflicts[i] = (MembarConflict){.kind = kinds[hazard->kind],
                                        .space = hazard->space == SPACE_TENSOR ? "tensor" : "shared",
                                        .first = membar_place(teller, hazard->first),
                                        .second = membar_place(teller, hazard->second),
                                        .first_buffer = buffer_name(teller, hazard->first_buffer),
                                        .second_buffer = buffer_name(teller, hazard->second_buffer),
                                        .begin = hazard->begin,
                                        .end = hazard->end,
                                        .loop = membar_place(teller, hazard->loop)};
    }
    return conflicts;
}

static void report_needs(MembarTeller *teller, const MembarResult *result, MembarReport *report) {
    static const char *const kinds[] = {"local", "tensor", "cluster", "init-fence", "init"}; /* ORDER MembarKind */
    MembarNeeded *needed = ARENA_ARRAY(teller->words.arena, MembarNeeded, result->need_count + 1);
    for (size_t i = 0; i < result->need_count; i++) {
        const MembarNeed *need = &result->needs[i];
        size_t kept = membar_kept(need->hazard_count);
        needed[i] = (MembarNeeded){.at = membar_place(teller, need->op),
                                   .after = need->after,
                                   .automatic = need->automatic,
                                   .missing = report->inserted && !need->automatic,
                                   .kind = kinds[need->kind],
                                   .conflicts = membar_conflicts(teller, need->hazards, kept),
                                   .conflict_count = kept,
                                   .all_conflicts = need->hazard_count};
        report->missing_count += needed[i].missing;
    }
    report->needed = needed;
    report->needed_count = result->need_count;
}

static void report_present(MembarTeller *teller, const MembarResult *result, MembarReport *report) {
    MembarThere *present = ARENA_ARRAY(teller->words.arena, MembarThere, result->present_count + 1);
    for (size_t i = 0; i < result->present_count; i++) {
        const MembarPresent *there = &result->present[i];
        size_t kept = membar_kept(there->hazard_count);
        present[i] = (MembarThere){.at = membar_place(teller, there->op),
                                   .needless = there->needless,
                                   .why = there->needless && there->why ? there->why : "",
                                   .covered_by = membar_place(teller, there->needless ? there->covered_by : NULL),
                                   .conflicts = membar_conflicts(teller, there->hazards, kept),
                                   .conflict_count = kept,
                                   .all_conflicts = there->hazard_count};
        report->needless_count += there->needless;
    }
    report->present = present;
    report->present_count = result->present_count;
}

static void report_proofs(MembarTeller *teller, const MembarResult *result, MembarReport *report) {
    MembarDistinct *distinct = ARENA_ARRAY(teller->words.arena, MembarDistinct, result->proof_count + 1);
    for (size_t i = 0; i < result->proof_count; i++)
        distinct[i] = (MembarDistinct){.first = membar_place(teller, result->proofs[i].first),
                                       .second = membar_place(teller, result->proofs[i].second),
                                       .why = result->proofs[i].text ? result->proofs[i].text : ""};
    report->distinct = distinct;
    report->distinct_count = result->proof_count;
}

/* No more is asked about ops of one line. */
enum { MOST_ANSWERS = 16 };

/* Those of the function that start on the line. */
static size_t ops_at(MembarTeller *teller, uint32_t line, const Op *ops[MOST_ANSWERS]) {
    size_t count = 0;
    for (const Op *op = teller->function; op && count < MOST_ANSWERS; op = op_next_in_walk(op, teller->function))
        if (!op->implicit && op_line(teller->module, op) == line)
            ops[count++] = op;
    return count;
}

static void answer(MembarTeller *teller, const MembarResult *result, uint32_t line, MembarReport *report) {
    const Op *ops[MOST_ANSWERS];
    size_t count = ops_at(teller, line, ops);
    MembarPending *pending = ARENA_ARRAY(teller->words.arena, MembarPending, count + 1);
    for (size_t i = 0; i < count; i++) {
        Text lines = {0};
        membar_why(teller->module, result, ops[i], &lines);
        pending[i].at = membar_place(teller, ops[i]);
        pending[i].lines = verdict_keep(&teller->words, &lines);
    }
    report->asked = true;
    report->pending = pending;
    report->pending_count = count;
}

/* ---- All of it ----------------------------------------------------------------------------------------------------
 */

MembarReport membar_report(Arena *arena, Module *module, const MembarResult *result, MembarQuestion question) {
    MembarTeller teller = {.module = module, .function = result->function, .words = {.arena = arena}};
    Str name = op_symbol(result->function);
    MembarReport report = membar_report_blank(module->source->name, arena_copy(arena, name.data, name.size));
    bool claimed = question.stage == MEMBAR_STAGE_INSERTED;
    report.model = membar_model_name(result->model);
    bool said = question.stage == MEMBAR_STAGE_AS_READ;
    report.inserted = said ? result->inserted == PAST_YES : claimed;
    report.unknown = said && result->inserted == PAST_UNKNOWN;
    report.assumed = !said && (result->inserted == PAST_UNKNOWN || report.inserted != (result->inserted == PAST_YES));
    report_needs(&teller, result, &report);
    report_present(&teller, result, &report);
    report_proofs(&teller, result, &report);
    if (question.other)
        membar_compare(&teller, result, question.other, &report.comparison);
    if (question.line)
        answer(&teller, result, question.line, &report);
    if (result->problem) {
        report.problem = arena_copy(arena, result->problem, strlen(result->problem));
        report.at = membar_place(&teller, result->problem_op);
        report.verdict = VERDICT_INCOMPLETE;
    }
    if (report.missing_count)
        report.verdict = VERDICT_FINDINGS;
    return report;
}
