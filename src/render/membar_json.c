/* Thread barriers for programs. */
#include "render/json.h"
#include "render/membar.h"

#include <inttypes.h>

static const char next[] = ",\n   ";

static const char *truth(bool value) {
    return value ? "true" : "false";
}

static void add_bool(Text *to, const char *key, bool value) {
    text_addf(to, ", \"%s\": %s", key, truth(value));
}

/* The members of a place, the first after a brace. */
static void add_place(Text *to, const MembarPlace *place) {
    text_addf(to, "{\"ir_line\": %u", place->ir_line);
    render_json_number(to, "ir_column", place->ir_column);
    render_json_text(to, ", ", "op", place->op);
    render_json_text(to, ", ", "file", place->file);
    render_json_number(to, "line", place->line);
    render_json_number(to, "column", place->column);
}

/* ---- Hazards --------------------------------------------------------------------------------------------------- */

static void add_side(Text *to, const char *key, const MembarPlace *place, const char *buffer) {
    text_addf(to, ",\n      \"%s\": ", key);
    add_place(to, place);
    render_json_text(to, ", ", "buffer", buffer);
    text_char(to, '}');
}

/* One name where both touch the same buffer. */
static void add_buffer(Text *to, const MembarConflict *conflict) {
    Text both = {0};
    text_addf(&both, "%s", conflict->first_buffer);
    if (strcmp(conflict->first_buffer, conflict->second_buffer) != 0)
        text_addf(&both, ", %s", conflict->second_buffer);
    text_char(&both, 0);
    render_json_text(to, ",\n      ", "buffer", both.failed ? "" : both.data);
    to->failed |= both.failed;
    text_free(&both);
}

static void add_path(Text *to, const MembarConflict *conflict) {
    Text path = {0};
    render_membar_path(conflict, &path);
    text_char(&path, 0);
    render_json_number(to, "loop_line", conflict->loop.ir_line);
    render_json_text(to, ", ", "path", path.failed ? "" : path.data);
    to->failed |= path.failed;
    text_free(&path);
}

static void add_hazard(Text *to, const MembarConflict *conflict) {
    render_json_text(to, "{", "kind", conflict->kind);
    render_json_text(to, ", ", "space", conflict->space);
    add_side(to, "first", &conflict->first, conflict->first_buffer);
    add_side(to, "second", &conflict->second, conflict->second_buffer);
    add_buffer(to, conflict);
    if (conflict->begin < conflict->end)
        text_addf(to, ", \"bytes\": [%" PRId64 ", %" PRId64 "]", conflict->begin, conflict->end);
    else
        text_addf(to, ", \"bytes\": null");
    add_path(to, conflict);
    text_char(to, '}');
}

static void add_hazards(Text *to, const MembarConflict *conflicts, size_t count, size_t all) {
    render_json_number(to, "conflicts", all);
    text_addf(to, ",\n     \"hazards\": [");
    for (size_t i = 0; i < count; i++) {
        render_json_separate(to, i, 5);
        add_hazard(to, &conflicts[i]);
    }
    text_addf(to, "]}");
}

/* ---- The parts of a function ----------------------------------------------------------------------------------- */

static void add_needed(Text *to, const MembarNeeded *needed) {
    add_place(to, &needed->at);
    add_bool(to, "after", needed->after);
    render_json_text(to, ", ", "kind", needed->kind);
    add_bool(to, "automatic", needed->automatic);
    add_bool(to, "missing", needed->missing);
    add_hazards(to, needed->conflicts, needed->conflict_count, needed->all_conflicts);
}

static void add_present(Text *to, const MembarThere *there) {
    add_place(to, &there->at);
    add_bool(to, "needless", there->needless);
    render_json_text(to, ", ", "why", there->why);
    render_json_number(to, "covered_by_line", there->covered_by.ir_line);
    add_hazards(to, there->conflicts, there->conflict_count, there->all_conflicts);
}

static void add_proof(Text *to, const MembarDistinct *distinct) {
    text_addf(to, "{\"first\": ");
    add_place(to, &distinct->first);
    text_addf(to, "}, \"second\": ");
    add_place(to, &distinct->second);
    render_json_text(to, "}, ", "text", distinct->why);
    text_char(to, '}');
}

static void add_comparison(Text *to, const MembarReport *report) {
    const MembarComparison *comparison = &report->comparison;
    text_addf(to, "%s\"compare\": ", next);
    if (!comparison->model) {
        text_addf(to, "null");
        return;
    }
    render_json_text(to, "{", "model", comparison->model);
    render_json_number(to, "count", comparison->count);
    render_json_number(to, "other_count", comparison->other);
    text_addf(to, ", \"differences\": [");
    for (size_t i = 0; i < comparison->difference_count; i++) {
        const MembarDifference *difference = &comparison->differences[i];
        render_json_separate(to, i, 4);
        add_place(to, &difference->at);
        add_bool(to, "after", difference->after);
        add_bool(to, "present", difference->present);
        render_json_text(to, ", ", "only", difference->saved ? comparison->model : report->model);
        render_json_text(to, ", ", "cause", membar_cause_name(difference->cause));
        render_json_text(to, ", ", "why", difference->why);
        text_char(to, '}');
    }
    text_addf(to, "]}");
}

/* The lines of a text, as a list. */
static void add_lines(Text *to, const char *lines) {
    text_char(to, '[');
    for (size_t count = 0; *lines; count++) {
        size_t size = strcspn(lines, "\n");
        Text line = {0};
        text_add(&line, lines, size);
        text_char(&line, 0);
        text_addf(to, "%s", count ? ", " : "");
        render_json_string(to, line.failed ? "" : line.data);
        to->failed |= line.failed;
        text_free(&line);
        lines += size + (lines[size] == '\n');
    }
    text_char(to, ']');
}

static void add_answers(Text *to, const MembarReport *report) {
    text_addf(to, "%s\"why\": [", next);
    for (size_t i = 0; i < report->pending_count; i++) {
        render_json_separate(to, i, 4);
        add_place(to, &report->pending[i].at);
        text_addf(to, ", \"lines\": ");
        add_lines(to, report->pending[i].lines);
        text_char(to, '}');
    }
    text_addf(to, "]");
}

/* ---- Functions ------------------------------------------------------------------------------------------------- */

static void add_head(Text *to, const char *version) {
    render_json_text(to, "{", "tool", "weir");
    render_json_text(to, ", ", "version", version);
}

static void add_function(Text *to, const MembarReport *report, const char *version) {
    add_head(to, version);
    render_json_text(to, ", ", "file", report->file);
    render_json_text(to, ", ", "function", report->function);
    render_json_text(to, next, "verdict", verdict_kind_name(report->verdict));
    render_json_text(to, ", ", "model", report->model);
    render_json_text(to, ", ", "stage", membar_stage_text(report));
    add_bool(to, "inserted", report->inserted);
    add_bool(to, "assumed", report->assumed);
    render_json_text(to, next, "problem", report->problem);
    render_json_number(to, "problem_line", report->at.ir_line);
    text_addf(to, "%s\"needed\": [", next);
    for (size_t i = 0; i < report->needed_count; i++) {
        render_json_separate(to, i, 4);
        add_needed(to, &report->needed[i]);
    }
    text_addf(to, "]%s\"present\": [", next);
    for (size_t i = 0; i < report->present_count; i++) {
        render_json_separate(to, i, 4);
        add_present(to, &report->present[i]);
    }
    text_addf(to, "]%s\"proofs\": [", next);
    for (size_t i = 0; i < report->distinct_count; i++) {
        render_json_separate(to, i, 4);
        add_proof(to, &report->distinct[i]);
    }
    text_addf(to, "]");
    add_comparison(to, report);
    add_answers(to, report);
    text_char(to, '}');
}

MembarJson render_membar_json_begin(Text *to, const char *version) {
    return (MembarJson){.to = to, .version = version};
}

static void release_first(MembarJson *json) {
    text_add(json->to, json->first.data ? json->first.data : "", json->first.size);
    json->to->failed |= json->first.failed;
    text_free(&json->first);
}

static void start_list(MembarJson *json) {
    add_head(json->to, json->version);
    text_addf(json->to, ",\n \"functions\": [");
}

void render_membar_json_add(MembarJson *json, const MembarReport *report) {
    size_t index = json->count++;
    if (index == 0) {
        add_function(&json->first, report, json->version);
        return;
    }
    if (index == 1) {
        start_list(json);
        render_json_separate(json->to, 0, 2);
        release_first(json);
    }
    render_json_separate(json->to, index, 2);
    add_function(json->to, report, json->version);
}

static void add_causes(Text *to, const char *key, const size_t *counts) {
    text_addf(to, ", \"%s\": {", key);
    for (MembarCause cause = 0; cause < MEMBAR_CAUSE_COUNT; cause++)
        text_addf(to, "%s\"%s\": %zu", cause ? ", " : "", membar_cause_name(cause), counts[cause]);
    text_char(to, '}');
}

static void add_totals(Text *to, const MembarTotals *totals) {
    text_addf(to, "],\n \"totals\": {\"functions\": %zu", totals->functions);
    render_json_number(to, "needed", totals->needed);
    render_json_number(to, "missing", totals->missing);
    render_json_number(to, "present", totals->present);
    render_json_number(to, "needless", totals->needless);
    render_json_number(to, "proofs", totals->distinct);
    text_addf(to, ", \"compare\": ");
    if (totals->compared) {
        render_json_text(to, "{", "model", totals->compared);
        render_json_number(to, "count", totals->count);
        render_json_number(to, "other_count", totals->other);
        add_causes(to, "saved", totals->saved);
        add_causes(to, "added", totals->added);
        text_char(to, '}');
    } else {
        text_addf(to, "null");
    }
    text_addf(to, "}}");
}

void render_membar_json_end(MembarJson *json, const MembarTotals *totals) {
    if (json->count == 1) {
        release_first(json);
    } else {
        if (json->count == 0)
            start_list(json);
        add_totals(json->to, totals);
    }
    text_char(json->to, '\n');
}
