/* Thread barriers for programs. */
#include "render/membar.h"

static const JsonField place_fields[] = {JSON(MembarPlace, ir_line, ir_column, op, file, line, column), {0}};

/* ---- Hazards --------------------------------------------------------------------------------------------------- */

static const JsonField first_fields[] = {
    JSON_MEMBERS(MembarConflict, first, place_fields), JSON_NAMED("buffer", MembarConflict, first_buffer), {0}};
static const JsonField second_fields[] = {
    JSON_MEMBERS(MembarConflict, second, place_fields), JSON_NAMED("buffer", MembarConflict, second_buffer), {0}};

/* One name where both touch the same buffer. */
static void add_buffer(Json *json, const char *key, const void *object) {
    const MembarConflict *conflict = object;
    bool same = strcmp(conflict->first_buffer, conflict->second_buffer) == 0;
    Text both = {0};
    text_addf(&both, "%s%s%s", conflict->first_buffer, same ? "" : ", ", same ? "" : conflict->second_buffer);
    json_take(json, key, &both);
}

static void add_bytes(Json *json, const char *key, const void *object) {
    const MembarConflict *conflict = object;
    if (conflict->begin < conflict->end)
        json_integers(json, key, (int64_t[]){conflict->begin, conflict->end}, 2);
    else
        json_nothing(json, key);
}

static void add_path(Json *json, const char *key, const void *object) {
    Text path = {0};
    render_membar_path(object, &path);
    json_take(json, key, &path);
}

static const JsonField hazard_fields[] = {
    JSON(MembarConflict, kind, space),      JSON_GROUP(6, "first", first_fields),
    JSON_GROUP(6, "second", second_fields), JSON_BY(6, "buffer", add_buffer),
    JSON_BY(0, "bytes", add_bytes),         JSON_NAMED("loop_line", MembarConflict, loop.ir_line),
    JSON_BY(0, "path", add_path),           {0}};

/* ---- The parts of a function ----------------------------------------------------------------------------------- */

static const JsonField needed_fields[] = {
    JSON_MEMBERS(MembarNeeded, at, place_fields),
    JSON(MembarNeeded, after, kind, automatic, missing),
    JSON_NAMED("conflicts", MembarNeeded, all_conflicts),
    JSON_LIST(5, 5, "hazards", MembarNeeded, conflicts, conflict_count, hazard_fields),
    {0}};

static const JsonField present_fields[] = {
    JSON_MEMBERS(MembarThere, at, place_fields),
    JSON(MembarThere, needless, why),
    JSON_NAMED("covered_by_line", MembarThere, covered_by.ir_line),
    JSON_NAMED("conflicts", MembarThere, all_conflicts),
    JSON_LIST(5, 5, "hazards", MembarThere, conflicts, conflict_count, hazard_fields),
    {0}};

static const JsonField proof_fields[] = {JSON_WITHIN(0, MembarDistinct, first, place_fields),
                                         JSON_WITHIN(0, MembarDistinct, second, place_fields),
                                         JSON_NAMED("text", MembarDistinct, why),
                                         {0}};

static void add_comparison(Json *json, const char *key, const void *object) {
    const MembarReport *report = object;
    const MembarComparison *comparison = &report->comparison;
    if (!comparison->model) {
        json_nothing(json, key);
        return;
    }
    json_begin(json, key);
    json_text(json, "model", comparison->model);
    json_number(json, "count", comparison->count);
    json_number(json, "other_count", comparison->other);
    json_begin_list(json, "differences");
    for (size_t i = 0; i < comparison->difference_count; i++) {
        const MembarDifference *difference = &comparison->differences[i];
        json_line(json, 4);
        json_begin(json, NULL);
        json_members(json, place_fields, &difference->at);
        json_truth(json, "after", difference->after);
        json_truth(json, "present", difference->present);
        json_text(json, "only", difference->saved ? comparison->model : report->model);
        json_text(json, "cause", membar_cause_name(difference->cause));
        json_text(json, "why", difference->why);
        json_end(json);
    }
    json_end_list(json);
    json_end(json);
}

static void add_lines(Json *json, const char *key, const void *object) {
    const MembarPending *pending = object;
    json_begin_list(json, key);
    for (const char *line = pending->lines; *line;) {
        size_t size = strcspn(line, "\n");
        json_str(json, NULL, (Str){line, size});
        line += size + (line[size] == '\n');
    }
    json_end_list(json);
}

static const JsonField pending_fields[] = {
    JSON_MEMBERS(MembarPending, at, place_fields), JSON_BY(0, "lines", add_lines), {0}};

/* ---- Functions ------------------------------------------------------------------------------------------------- */

static void add_verdict(Json *json, const char *key, const void *object) {
    const MembarReport *report = object;
    json_text(json, key, verdict_kind_name(report->verdict));
}

static void add_stage(Json *json, const char *key, const void *object) {
    json_text(json, key, membar_stage_text(object));
}

static const JsonField report_fields[] = {
    JSON(MembarReport, file, function),
    JSON_BY(3, "verdict", add_verdict),
    JSON(MembarReport, model),
    JSON_BY(0, "stage", add_stage),
    JSON(MembarReport, inserted, unknown, assumed),
    JSON_AT(3, MembarReport, problem),
    JSON_NAMED("problem_line", MembarReport, at.ir_line),
    JSON_LIST(3, 4, "needed", MembarReport, needed, needed_count, needed_fields),
    JSON_LIST(3, 4, "present", MembarReport, present, present_count, present_fields),
    JSON_LIST(3, 4, "proofs", MembarReport, distinct, distinct_count, proof_fields),
    JSON_BY(3, "compare", add_comparison),
    JSON_LIST(3, 4, "why", MembarReport, pending, pending_count, pending_fields),
    {0}};

void render_membar_json(JsonSeries *functions, const MembarReport *report) {
    render_json_add(functions, report->verdict, report_fields, report);
}

static void add_causes(Json *json, const char *key, const size_t *counts) {
    json_begin(json, key);
    for (MembarCause cause = 0; cause < MEMBAR_CAUSE_COUNT; cause++)
        json_number(json, membar_cause_name(cause), counts[cause]);
    json_end(json);
}

static void add_compared(Json *json, const char *key, const void *object) {
    const MembarTotals *totals = object;
    if (!totals->compared) {
        json_nothing(json, key);
        return;
    }
    json_begin(json, key);
    json_text(json, "model", totals->compared);
    json_number(json, "count", totals->count);
    json_number(json, "other_count", totals->other);
    add_causes(json, "saved", totals->saved);
    add_causes(json, "added", totals->added);
    json_end(json);
}

static const JsonField totals_fields[] = {JSON(MembarTotals, functions, needed, missing, present, needless),
                                          JSON_NAMED("proofs", MembarTotals, distinct),
                                          JSON_BY(0, "compare", add_compared),
                                          {0}};

void render_membar_json_end(JsonSeries *functions, const MembarTotals *totals) {
    static const JsonField fields[] = {JSON_GROUP(1, "totals", totals_fields), {0}};
    render_json_end(functions, fields, totals);
}
