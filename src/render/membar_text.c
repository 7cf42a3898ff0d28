/* Thread barriers for a person at a terminal, in the manner of a compiler's messages. */
#include "render/membar.h"
#include "render/table.h"
#include "render/text.h"

#include <inttypes.h>

typedef struct MembarTextWriter {
    Text *to;
    const MembarReport *report;
    Source *source;
    Style style;
} MembarTextWriter;

/* ---- Places ---------------------------------------------------------------------------------------------------- */

/* " (kernel.py:9)", where the kernel's own source is known. */
static void add_kernel_place(Text *to, const MembarPlace *place) {
    if (!*place->file || !place->line)
        return;
    const char *slash = strrchr(place->file, '/');
    text_plainf(to, " (%s:%u)", slash ? slash + 1 : place->file, place->line);
}

/* "ttg.local_load (kernel.py:9)" */
static void add_named_op(Text *to, const MembarPlace *place) {
    text_plainf(to, "%s", place->op);
    add_kernel_place(to, place);
}

/* "ttg.local_load at line 14 (kernel.py:9)" */
static void add_op(Text *to, const MembarPlace *place) {
    text_plainf(to, "%s at line %u", place->op, place->ir_line);
    add_kernel_place(to, place);
}

/* The start of a line about a place of the IR. */
static void start_at(MembarTextWriter *writer, const MembarPlace *place, Tone tone, const char *what) {
    text_tonedf(writer->to, writer->style, TONE_HEAD, place->ir_line ? "%s:%u:%u:" : "%s:", writer->report->file,
                place->ir_line, place->ir_column);
    text_char(writer->to, ' ');
    text_toned(writer->to, writer->style, tone, str_of(what));
    text_char(writer->to, ' ');
}

static void end_line(MembarTextWriter *writer, const MembarPlace *place) {
    text_char(writer->to, '\n');
    if (writer->source && place->ir_line)
        render_excerpt(writer->source, place->ir_line, place->ir_column, writer->to);
}

/* ---- Conflicts ------------------------------------------------------------------------------------------------- */

void render_membar_path(const MembarConflict *conflict, Text *to) {
    if (!conflict->loop.ir_line) {
        text_addf(to, "straight");
        return;
    }
    text_addf(to, "around the back edge of the loop at line %u", conflict->loop.ir_line);
    add_kernel_place(to, &conflict->loop);
}

static void add_conflict(MembarTextWriter *writer, const MembarConflict *conflict) {
    Text *to = writer->to;
    bool same = strcmp(conflict->first_buffer, conflict->second_buffer) == 0;
    text_addf(to, "  ");
    text_toned(to, writer->style, TONE_HEAD, str_of(conflict->kind));
    text_plainf(to, " on %s", *conflict->first_buffer ? conflict->first_buffer : "memory that is not known");
    if (!same && *conflict->second_buffer)
        text_plainf(to, " and %s", conflict->second_buffer);
    if (conflict->begin < conflict->end)
        text_addf(to, ", %s %" PRId64 " to %" PRId64, strcmp(conflict->space, "tensor") == 0 ? "columns" : "bytes",
                  conflict->begin, conflict->end - 1);
    text_addf(to, ": ");
    add_op(to, &conflict->first);
    text_addf(to, strcmp(conflict->kind, "WAR") == 0 ? " reads, " : " writes, ");
    add_op(to, &conflict->second);
    text_addf(to, strcmp(conflict->kind, "RAW") == 0 ? " reads; " : " writes; ");
    render_membar_path(conflict, to);
    text_char(to, '\n');
}

static void add_conflicts(MembarTextWriter *writer, const MembarConflict *conflicts, size_t count, size_t all) {
    for (size_t i = 0; i < count; i++)
        add_conflict(writer, &conflicts[i]);
    if (all > count)
        text_addf(writer->to, "  and %zu more\n", all - count);
}

/* ---- Barriers -------------------------------------------------------------------------------------------------- */

static const char *barrier_text(const MembarNeeded *needed) {
    if (strcmp(needed->kind, "init") == 0)
        return "an mbarrier-init fence and a cluster barrier";
    if (strcmp(needed->kind, "init-fence") == 0)
        return "an mbarrier-init fence";
    return strcmp(needed->kind, "cluster") == 0 ? "a cluster barrier" : "a barrier";
}

static void add_needed(MembarTextWriter *writer, const MembarNeeded *needed) {
    Text *to = writer->to;
    start_at(writer, &needed->at, needed->missing ? TONE_BAD : TONE_HEAD, needed->missing ? "error:" : "needed:");
    text_plainf(to, "%s%s %s %s", barrier_text(needed), needed->missing ? " is missing" : "",
                needed->after ? "after" : "before", needed->at.op);
    add_kernel_place(to, &needed->at);
    if (needed->automatic)
        text_addf(to, ": the model inserts one after every wait for copies; no conflict requires it");
    if (needed->missing)
        text_addf(to, " [membar.missing]");
    end_line(writer, &needed->at);
    add_conflicts(writer, needed->conflicts, needed->conflict_count, needed->all_conflicts);
}

static void add_needless(MembarTextWriter *writer, const MembarThere *there) {
    Text *to = writer->to;
    start_at(writer, &there->at, TONE_WARNING, "note:");
    add_named_op(to, &there->at);
    text_addf(to, " is needless");
    if (*there->why)
        text_plainf(to, ": %s", there->why);
    text_addf(to, " [membar.needless]");
    end_line(writer, &there->at);
    if (!there->covered_by.ir_line)
        return;
    text_addf(to, "  covered by ");
    add_op(to, &there->covered_by);
    text_char(to, '\n');
}

static void add_distinct(MembarTextWriter *writer, const MembarDistinct *distinct) {
    Text *to = writer->to;
    start_at(writer, &distinct->second, TONE_GOOD, "proof:");
    add_named_op(to, &distinct->second);
    text_addf(to, " and ");
    add_op(to, &distinct->first);
    text_plainf(to, " are never at the same slot: %s\n", distinct->why);
}

/* ---- Two models ------------------------------------------------------------------------------------------------ */

static void add_difference(MembarTextWriter *writer, const MembarDifference *difference) {
    Text *to = writer->to;
    const MembarReport *report = writer->report;
    start_at(writer, &difference->at, TONE_HEAD, "only");
    text_addf(to, "%s: ", difference->saved ? report->comparison.model : report->model);
    if (!difference->present)
        text_addf(to, "a barrier %s ", difference->after ? "after" : "before");
    add_named_op(to, &difference->at);
    text_plainf(to, " (%s): %s\n", membar_cause_name(difference->cause), difference->why);
}

static void add_comparison(MembarTextWriter *writer) {
    const MembarReport *report = writer->report;
    const MembarComparison *comparison = &report->comparison;
    if (!comparison->model)
        return;
    for (size_t i = 0; i < comparison->difference_count; i++)
        add_difference(writer, &comparison->differences[i]);
    text_addf(writer->to, "%s wants ", report->model);
    text_count(writer->to, comparison->count, "barrier");
    text_addf(writer->to, ", %s %zu\n", comparison->model, comparison->other);
}

/* ---- A question about a line ----------------------------------------------------------------------------------- */

static bool is_at(const MembarPlace *a, const MembarPlace *b) {
    return a->ir_line == b->ir_line && a->ir_column == b->ir_column;
}

static void add_answers(MembarTextWriter *writer, const MembarPending *pending) {
    Text *to = writer->to;
    const MembarReport *report = writer->report;
    start_at(writer, &pending->at, TONE_HEAD, "why:");
    add_named_op(to, &pending->at);
    text_plainf(to, " in @%s, model %s", report->function, report->model);
    end_line(writer, &pending->at);
    for (size_t i = 0; i < report->needed_count; i++)
        if (is_at(&report->needed[i].at, &pending->at)) {
            text_addf(to, "  %s is %s %s it\n", barrier_text(&report->needed[i]),
                      report->needed[i].missing ? "missing" : "needed", report->needed[i].after ? "after" : "before");
            add_conflicts(writer, report->needed[i].conflicts, report->needed[i].conflict_count,
                          report->needed[i].all_conflicts);
        }
    if (!*pending->lines)
        text_addf(to, "  nothing is pending before it\n");
    for (const char *line = pending->lines; *line;) {
        size_t size = strcspn(line, "\n");
        text_addf(to, "  ");
        text_add_plain(to, (Str){line, size});
        text_char(to, '\n');
        line += size + (line[size] == '\n');
    }
}

/* ---- All of it ------------------------------------------------------------------------------------------------- */

static void add_problem(MembarTextWriter *writer) {
    const MembarReport *report = writer->report;
    start_at(writer, &report->at, TONE_WARNING, "incomplete:");
    text_plainf(writer->to, "%s%s%s%s\n", report->problem, *report->at.op ? " (" : "", report->at.op,
                *report->at.op ? ")" : "");
}

static void add_summary(MembarTextWriter *writer) {
    const MembarReport *report = writer->report;
    Text *to = writer->to;
    size_t automatic = report->inserted ? report->needed_count - report->missing_count : 0;
    if (!report->needed_count) {
        text_addf(to, "no %sbarrier is needed", report->present_count ? "further " : "");
    } else if (report->inserted) {
        text_count(to, report->missing_count, "barrier");
        text_addf(to, " missing");
    } else {
        text_count(to, report->needed_count, "barrier");
        text_addf(to, " needed");
    }
    if (automatic)
        text_addf(to, ", %zu automatic", automatic);
    if (report->present_count)
        text_addf(to, "; %zu there", report->present_count);
    if (report->needless_count)
        text_addf(to, ", %zu needless", report->needless_count);
    if (report->distinct_count) {
        text_addf(to, "; ");
        text_count(to, report->distinct_count, "proof");
    }
    text_addf(to, "%s\n", report->verdict == VERDICT_INCOMPLETE ? "; incomplete" : "");
}

static bool is_short(const MembarReport *report) {
    return !report->needed_count && !report->needless_count && !report->distinct_count && !*report->problem &&
           !report->comparison.model;
}

static void add_first_line(MembarTextWriter *writer) {
    const MembarReport *report = writer->report;
    text_tonedf(writer->to, writer->style, TONE_HEAD, "%s: @%s:", report->file, report->function);
    text_addf(writer->to, " %s%s; model %s%s", membar_stage_text(report), report->assumed ? " (assumed)" : "",
              report->model, is_short(report) ? ": " : "\n");
}

void render_membar_text(const MembarReport *report, Source *source, bool color, Text *to) {
    MembarTextWriter writer = {.to = to, .report = report, .source = source, .style = {.color = color}};
    for (size_t i = 0; i < report->pending_count; i++)
        add_answers(&writer, &report->pending[i]);
    if (report->asked)
        return;
    add_first_line(&writer);
    for (size_t i = 0; i < report->needed_count; i++)
        add_needed(&writer, &report->needed[i]);
    for (size_t i = 0; i < report->present_count; i++)
        if (report->present[i].needless)
            add_needless(&writer, &report->present[i]);
    for (size_t i = 0; i < report->distinct_count; i++)
        add_distinct(&writer, &report->distinct[i]);
    if (*report->problem)
        add_problem(&writer);
    add_comparison(&writer);
    add_summary(&writer);
}

/* ---- Several functions ----------------------------------------------------------------------------------------- */

static void add_row(Text *to, size_t count, const char *what) {
    if (count)
        text_addf(to, "%8zu  %s\n", count, what);
}

static void add_causes(Text *to, const size_t *counts, const char *model) {
    for (MembarCause cause = 0; cause < MEMBAR_CAUSE_COUNT; cause++)
        if (counts[cause])
            text_addf(to, "%8zu  only %s: %s\n", counts[cause], model, membar_cause_text(cause));
}

void render_membar_totals(const MembarTotals *totals, Text *to) {
    text_addf(to, "functions: %zu\nbarriers needed: %zu\n", totals->functions, totals->needed);
    add_row(to, totals->missing, "missing");
    text_addf(to, "barriers there: %zu\n", totals->present);
    add_row(to, totals->needless, "needless");
    if (!totals->compared)
        return;
    text_addf(to, "%s wants ", totals->model);
    text_count(to, totals->count, "barrier");
    text_addf(to, ", %s %zu\n", totals->compared, totals->other);
    add_causes(to, totals->saved, totals->compared);
    add_causes(to, totals->added, totals->model);
}
