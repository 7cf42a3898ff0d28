/* What the barrier report says of what was decided: deadlocks, coverage, limits. */
#include "render/report/report_say.h"

#include <inttypes.h>

/* ---- 6. Deadlocks ------------------------------------------------------------------------------ */

static void add_blocked(Table *table, const ReportBlocked *blocked, bool roomy) {
    text_addf(table_cell(table, TONE_HEAD), "%s", blocked->place.partition);
    report_cell_place(&blocked->place, roomy, table_cell(table, TONE_PLAIN));
    text_addf(table_cell(table, TONE_BAD), "%s", blocked->waits_for);
    TEXT_CELLS(table, roomy ? blocked->held_by : ""); /* else it stands with what could complete it */
    NUMBER_CELLS(table, blocked->parity, blocked->phase, blocked->pending);
    Text *bytes = table_cell(table, TONE_PLAIN);
    if (blocked->bytes) /* fewer than none: more have come than were expected */
        text_addf(bytes, "%" PRId64, blocked->bytes);
    NUMBER_CELLS(table, blocked->flips);
}

static void say_could(ReportWriter *writer, const ReportBlocked *blocked) {
    bool several = str_starts(str_of(blocked->place.partition), STR("warps "));
    text_addf(&writer->text, "%s wait%s", blocked->place.partition, several ? "" : "s");
    if (*blocked->held_by)
        text_addf(&writer->text, " for %s", blocked->held_by);
    if (*blocked->why)
        text_addf(&writer->text, ": %s", blocked->why);
    writer->block(writer, TONE_HEAD, blocked->waits_for, say_taken(writer), (Anchor){0});
    for (size_t i = 0; i < blocked->could_count; i++) {
        ReportPlace place = blocked->could[i];
        const char *reason = place.detail;
        place.detail = "";
        report_full_place(&place, &writer->text);
        if (*reason)
            report_add_part(&writer->text, 0, "; ", "%s", reason);
        say(writer, "could flip", TONE_PLAIN);
    }
    if (!blocked->could_count)
        say_toned(writer, "could flip", TONE_BAD, "none");
}

static void say_deadlock(const ReportDeadlock *deadlock, ReportWriter *writer) {
    static const TableColumn columns[] = {{"agent", IS_WORDS, false},        {"at", IS_WORDS, true},
                                          {"waits for", IS_SLOT, false},     {"held by", IS_WORDS, true},
                                          {"wants parity", IS_NUMBER, true}, {"phase now", IS_NUMBER, true},
                                          {"pending", IS_NUMBER, true},      {"bytes", IS_NUMBER, true},
                                          {"flips", IS_NUMBER, true}};
    text_addf(&writer->text, "%s", deadlock->message);
    writer->block(writer, TONE_BAD, deadlock->rule, say_taken(writer), (Anchor){0});
    if (!writer->finding) { /* else the finding says it, above */
        say_text(writer, "why", deadlock->why);
        say_text(writer, "fix", deadlock->fix);
        say_text(writer, "schedule", deadlock->schedule);
        say_text(writer, "launch", deadlock->launch);
    }
    if (!deadlock->blocked_count)
        return;
    writer->part(writer, "[Agents|agent] that wait forever");
    Table table = table_begin(columns, LENGTH(columns));
    for (size_t i = 0; i < deadlock->blocked_count; i++)
        add_blocked(&table, &deadlock->blocked[i], writer->roomy);
    say_table(writer, &table);
    writer->part(writer, "What could complete it, and why it does not");
    for (size_t i = 0; i < deadlock->blocked_count; i++)
        say_could(writer, &deadlock->blocked[i]);
}

bool say_is_deadlock(const ReportCandidate *candidate) {
    return strcmp(candidate->verdict, "deadlock") == 0;
}

static void say_candidates(const Report *report, ReportWriter *writer) {
    static const TableColumn columns[] = {{"barrier", IS_BARRIERS, false},
                                          {"by count", IS_WORDS, false},
                                          {"verdict", IS_WORDS, false},
                                          {"why", IS_WORDS, false},
                                          {"at", IS_WORDS, true}};
    if (!report->candidate_count)
        return;
    writer->part(writer, "[Candidates|candidate]: suspicious by count, decided by phases");
    Table table = table_begin(columns, LENGTH(columns));
    for (size_t i = 0; i < report->candidate_count; i++) {
        const ReportCandidate *candidate = &report->candidates[i];
        text_addf(table_cell(&table, TONE_HEAD), "%s", candidate->barrier);
        TEXT_CELLS(&table, candidate->counts);
        text_addf(table_cell(&table, say_is_deadlock(candidate) ? TONE_BAD : TONE_PLAIN), "%s", candidate->verdict);
        TEXT_CELLS(&table, candidate->why);
        Text *at = table_cell(&table, TONE_PLAIN);
        for (size_t k = 0; k < candidate->place_count; k++) {
            text_addf(at, "%s", k ? "\n" : "");
            report_cell_place(&candidate->places[k], writer->roomy, at);
        }
    }
    say_table(writer, &table);
}

void say_deadlocks(const Report *report, ReportWriter *writer) {
    Text *to = &writer->text;
    bool none = strcmp(report->deadlock_verdict, "none") == 0, found = strcmp(report->deadlock_verdict, "found") == 0;
    say_section(writer, SECTION_DEADLOCKS, report->deadlock_count, "");
    text_addf(to, "%s", none ? "no deadlock" : found ? "DEADLOCK" : "unknown");
    if (*report->deadlock_reason)
        text_addf(to, ": %s", report->deadlock_reason);
    say_line(writer, none ? TONE_GOOD : found ? TONE_BAD : TONE_WARNING);
    for (size_t i = 0; i < report->deadlock_count; i++)
        say_deadlock(&report->deadlocks[i], writer);
    for (size_t i = 0; i < report->verdict->finding_count; i++)
        if (str_starts(str_of(rule_of(report->verdict->findings[i].rule)->id), STR("deadlock.")))
            about_report(&writer->about, &report->verdict->findings[i]);
    say_candidates(report, writer);
}

/* ---- 7. Coverage ------------------------------------------------------------------------------- */

static const struct {
    const char *mark, *word;
    Tone tone;
} orders[] = {{"✓ ", "ordered", TONE_GOOD},
              {"✗ ", "MISSING", TONE_BAD},
              {"", "to be ordered", TONE_WARNING},
              {"", "not seen", TONE_PLAIN}}; /* ORDER ReportOrder */

static void add_row(Table *table, const ReportRow *row) {
    text_addf(table_cell(table, orders[row->order].tone), "%s%s", orders[row->order].mark, orders[row->order].word);
    text_addf(table_cell(table, TONE_HEAD), "%s", row->name);
    TEXT_CELLS(table, row->extent);
    Text *reader = table_cell(table, TONE_PLAIN);
    text_addf(reader, "%s", row->consumer);
    if (row->read.ir_line || *row->read.file) {
        report_part_by(reader, 0, ", ");
        report_cell_place(&row->read, false, reader);
    }
    if (*row->read.detail)
        text_addf(reader, "; %s", row->read.detail);
    Text *cadence = table_cell(table, TONE_PLAIN);
    text_addf(cadence, "%s", row->cadence);
    if (row->times) {
        text_addf(cadence, "%s", *row->cadence ? "; " : "");
        text_count(cadence, row->times, "time");
    }
    TEXT_CELLS(table, row->by);
}

/* "; 2 ordered, 1 MISSING" */
static void add_orders(Text *to, const ReportCoverage *coverage) {
    const char *between = to->size ? "; " : "";
    for (ReportOrder order = 0; order < LENGTH(orders); order++) {
        size_t count = 0;
        for (size_t i = 0; i < coverage->row_count; i++)
            count += coverage->rows[i].order == order;
        if (!count)
            continue;
        text_addf(to, "%s%zu %s", between, count, orders[order].word);
        between = ", ";
    }
}

static void say_storage(const ReportCoverage *coverage, size_t index, ReportWriter *writer) {
    static const TableColumn columns[] = {{"order", IS_WORDS, false},  {"buffer", IS_BUFFERS, false},
                                          {"extent", IS_WORDS, true},  {"read by", IS_WORDS, false},
                                          {"cadence", IS_WORDS, true}, {"by", IS_WORDS, true}};
    Text *to = &writer->text;
    if (*coverage->owner)
        text_addf(to, "the memory of %s", coverage->owner);
    if (writer->roomy)
        add_orders(to, coverage);
    writer->block(writer, TONE_HEAD, coverage->storage, say_taken(writer), (Anchor){"coverage", index, false});
    report_full_place(&coverage->writer, to);
    say(writer, "written by", TONE_PLAIN);
    text_addf(to, "%s%s", coverage->extent, coverage->whole ? *coverage->extent ? ", all of it" : "all of it" : "");
    if (to->size)
        say(writer, "overwrites", TONE_PLAIN);
    Table table = table_begin(columns, LENGTH(columns));
    for (size_t i = 0; i < coverage->row_count; i++)
        add_row(&table, &coverage->rows[i]);
    say_table(writer, &table);
}

/* "m (column 65): default reads it at IR line 133, partition0.tensor overwrites it at IR line 184, ..." */
static void say_missing(const ReportCoverage *coverage, size_t index, const ReportRow *row, ReportWriter *writer) {
    Text *to = &writer->text;
    text_addf(to, "%s (%s): %s reads it at ", row->name, row->extent, row->consumer);
    report_place(&row->read, to);
    text_addf(to, ", %s overwrites it at ", coverage->writer.partition);
    report_place(&coverage->writer, to);
    text_addf(to, ", and nothing makes it wait.");
    writer->line(writer, TONE_BAD, say_taken(writer), (Anchor){"coverage", index, false});
}

static void say_all_missing(const Report *report, ReportWriter *writer) {
    enum { MOST = 12 };
    size_t said = 0;
    for (size_t i = 0; i < report->coverage_count; i++)
        for (size_t k = 0; k < report->coverage[i].row_count; k++)
            if (report->coverage[i].rows[k].order == COVERAGE_MISSING && said++ < MOST)
                say_missing(&report->coverage[i], i, &report->coverage[i].rows[k], writer);
}

void say_coverage(const Report *report, ReportWriter *writer) {
    say_section(writer, SECTION_COVERAGE, report->coverage_count, report->coverage_note);
    if (report->coverage_count && *report->coverage_note)
        writer->line(writer, TONE_PLAIN, str_of(report->coverage_note), (Anchor){0});
    size_t missing = report_missing(report);
    if (missing) {
        text_addf(&writer->text, "%zu MISSING: data may be overwritten before it is read", missing);
        say_line(writer, TONE_BAD);
    }
    if (writer->roomy)
        say_all_missing(report, writer);
    for (size_t i = 0; i < report->coverage_count; i++)
        say_storage(&report->coverage[i], i, writer);
}

/* ---- Limits ------------------------------------------------------------------------------------ */

void say_limits(const Report *report, ReportWriter *writer) {
    static const TableColumn columns[] = {{"limit", IS_WORDS, false}, {"used", IS_NUMBER, false},
                                          {"of", IS_NUMBER, true},    {"unit", IS_WORDS, true},
                                          {"share", IS_SHARE, true},  {"note", IS_WORDS, true}};
    if (!report->limit_count)
        return;
    say_section(writer, SECTION_LIMITS, report->limit_count, "");
    Table table = table_begin(columns, LENGTH(columns));
    for (size_t i = 0; i < report->limit_count; i++) {
        const ReportLimit *limit = &report->limits[i];
        bool over = limit->most >= 0 && limit->used > limit->most;
        TEXT_CELLS(&table, limit->name);
        Text *used = table_cell(&table, over ? TONE_BAD : TONE_PLAIN);
        if (limit->used >= 0)
            text_addf(used, "%" PRId64, limit->used);
        NUMBER_CELLS(&table, limit->most);
        TEXT_CELLS(&table, limit->unit);
        Text *share = table_cell(&table, TONE_PLAIN);
        if (writer->roomy && limit->used >= 0 && limit->most > 0)
            text_addf(share, "%.0f%%", (double)limit->used * 100 / (double)limit->most);
        text_addf(table_cell(&table, TONE_BAD), "%s", over ? "TOO MUCH" : "");
    }
    say_table(writer, &table);
}
