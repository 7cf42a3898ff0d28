/* A port for a person: a table of ops, a table of waits, and what it comes to. */
#include "render/port.h"

#include <inttypes.h>
#include <stdio.h>

enum { MOST_LINES = 6 /* of one op; the others are counted */, MOST_NOTES = 64 /* more than there are */ };

static void add_lines(Text *to, const PortOp *op) {
    for (size_t i = 0; i < op->line_count && i < MOST_LINES; i++)
        text_addf(to, "%s%u", i ? ", " : "", op->lines[i]);
    if (op->line_count > MOST_LINES)
        text_addf(to, " and %zu more", op->line_count - MOST_LINES);
}

static Tone tone_of(const char *class) {
    return strcmp(class, "exact") == 0 ? TONE_GOOD : strcmp(class, "none") == 0 ? TONE_BAD : TONE_WARNING;
}

/* What there is to know of several ops is said once, under a number. */
typedef struct PortTextNotes {
    const char *texts[MOST_NOTES];
    size_t count;
} PortTextNotes;

static size_t note_number(PortTextNotes *notes, const char *text) {
    size_t i = 0;
    while (i < notes->count && strcmp(notes->texts[i], text) != 0)
        i++;
    if (i == notes->count && i < MOST_NOTES)
        notes->texts[notes->count++] = text;
    return i + 1;
}

static void add_note(Text *to, Style style, const char *head, const char *text) {
    text_addf(to, "  %s", head);
    text_wrapped(to, style, TONE_PLAIN, str_of(text), 2 + strlen(head), "      ");
}

static void add_ops(const PortReport *report, Style style, Text *to) {
    static const TableColumn columns[] = {{"op", IS_WORDS, false},
                                          {"lines", IS_WORDS, false},
                                          {"on AMD", IS_WORDS, false},
                                          {"as", IS_WORDS, false},
                                          {"note", IS_NUMBER, true}};
    Table table = table_begin(columns, sizeof columns / sizeof *columns);
    PortTextNotes notes = {0};
    for (size_t i = 0; i < report->op_count; i++) {
        const PortOp *op = &report->ops[i];
        TEXT_CELLS(&table, op->op);
        add_lines(table_cell(&table, TONE_PLAIN), op);
        text_addf(table_cell(&table, tone_of(op->class)), "%s", op->class);
        TEXT_CELLS(&table, op->form);
        Text *cell = table_cell(&table, TONE_PLAIN);
        if (*op->remark)
            text_addf(cell, "%zu", note_number(&notes, op->remark));
    }
    table_print(&table, style, 2, to);
    table_free(&table);
    for (size_t i = 0; i < notes.count; i++) {
        char head[32];
        snprintf(head, sizeof head, "%zu  ", i + 1);
        add_note(to, style, head, notes.texts[i]);
    }
}

/* "0"; "2, written 4: too little" */
static void add_count(Text *to, const PortWait *wait) {
    if (wait->count >= 0)
        text_addf(to, "%" PRId64, wait->count);
    if (wait->written >= 0)
        text_addf(to, "%s%" PRId64 " written: %s", wait->count >= 0 ? "; " : "", wait->written,
                  port_cover_name(wait->cover));
}

static void add_waits(const PortReport *report, Style style, Text *to) {
    static const TableColumn columns[] = {{"line", IS_NUMBER, false},
                                          {"wait", IS_WORDS, false},
                                          {"asked for", IS_WORDS, false},
                                          {"counter", IS_WORDS, false},
                                          {"may be left", IS_WORDS, false}};
    Table table = table_begin(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < report->wait_count; i++) {
        const PortWait *wait = &report->waits[i];
        Tone tone = wait->cover == PORT_TOO_LITTLE ? TONE_BAD : wait->cover == PORT_MORE ? TONE_WARNING : TONE_PLAIN;
        NUMBER_CELLS(&table, wait->ir_line);
        TEXT_CELLS(&table, wait->op, wait->asked, *wait->counter ? wait->counter : "-");
        add_count(table_cell(&table, tone), wait);
    }
    if (report->wait_count)
        text_addf(to, "\n");
    table_print(&table, style, 2, to);
    table_free(&table);
    for (size_t i = 0; i < report->wait_count; i++) {
        char head[32];
        snprintf(head, sizeof head, "line %u: ", report->waits[i].ir_line);
        if (*report->waits[i].more)
            add_note(to, style, head, report->waits[i].more);
    }
}

/* What of the MMAs has to be in registers. */
static void add_mmas(const PortReport *report, Style style, Text *to) {
    static const TableColumn columns[] = {{"line", IS_NUMBER, false},       {"MMA", IS_WORDS, false},
                                          {"now", IS_WORDS, false},         {"waves", IS_NUMBER, false},
                                          {"accumulator", IS_NUMBER, true}, {"operands", IS_WORDS, true}};
    if (!report->mma_count)
        return;
    Table table = table_begin(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < report->mma_count; i++) {
        const PortMma *mma = &report->mmas[i];
        NUMBER_CELLS(&table, mma->ir_line);
        TEXT_CELLS(&table, mma->shape, mma->now);
        NUMBER_CELLS(&table, mma->waves, mma->accumulator);
        Text *operands = table_cell(&table, TONE_PLAIN);
        if (mma->operands >= 0)
            text_addf(operands, "%" PRId64 " or more", mma->operands);
    }
    text_addf(to, "\nMMAs, with the registers of a lane that their accumulators and operands take:\n");
    table_print(&table, style, 2, to);
    table_free(&table);
}

static void add_needs(const PortReport *report, Style style, Text *to) {
    if (report->warp_threads && report->warp_threads != report->wave_threads)
        text_addf(to, "waves have %u threads: the layouts are for warps of %u and have to be redone\n",
                  report->wave_threads, report->warp_threads);
    if (report->shared_bytes < 0)
        return;
    bool fits = report->shared_bytes <= report->shared_limit;
    text_addf(to, "shared memory: %" PRId64 " bytes of the %" PRId64 " that a workgroup can have", report->shared_bytes,
              report->shared_limit);
    if (!fits)
        text_toned(to, style, TONE_BAD, STR(": it does not fit"));
    text_char(to, '\n');
}

void render_port_text(const PortReport *report, Style style, Text *to) {
    text_tonedf(to, style, TONE_HEAD, "%s: @%s on %s", report->file, report->function, report->target);
    text_char(to, '\n');
    add_needs(report, style, to);
    if (*report->problem)
        text_addf(to, "incomplete: %s\n", report->problem);
    add_ops(report, style, to);
    add_waits(report, style, to);
    add_mmas(report, style, to);
    text_addf(to, "%s", report->op_count ? "\n" : "");
    text_count(to, report->exact + report->staged + report->none + report->unknown, "op");
    text_addf(to, ": %zu exact, %zu stage-level, %zu none, %zu not known; %zu more need nothing\n", report->exact,
              report->staged, report->none, report->unknown, report->plain);
}
