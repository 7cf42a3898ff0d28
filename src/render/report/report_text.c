/* The barrier report for a terminal, and the glossary. */
#include "render/report/report.h"
#include "render/report/report_say.h"

#include <stdio.h>

typedef struct Terminal {
    ReportWriter writer; /* first, so that a writer can be taken for its terminal */
    Text *to;
    Style style;
    bool in_block;    /* tables are then further in */
    bool after_entry; /* what comes now is told from it by an empty line */
} Terminal;

static Terminal *terminal_of(ReportWriter *writer) {
    return (Terminal *)writer;
}

/* A sentence of our own, without the marks of the glossary's words. */
static void add_sentence(Terminal *terminal, Tone tone, const char *sentence) {
    report_plain_sentence(sentence, &terminal->writer.text);
    text_wrapped(terminal->to, terminal->style, tone, say_taken(&terminal->writer), 2, "  ");
}

/* ---- What the writer is told ------------------------------------------------------------------- */

static void add_section(ReportWriter *writer, const ReportSection *section, const char *sentence, size_t count) {
    (void)count;
    Terminal *terminal = terminal_of(writer);
    terminal->after_entry = false;
    terminal->in_block = false;
    text_char(terminal->to, '\n');
    text_toned(terminal->to, terminal->style, TONE_HEAD, str_of(section->title));
    text_char(terminal->to, '\n');
    if (!*sentence)
        return;
    text_addf(terminal->to, "  ");
    add_sentence(terminal, TONE_PLAIN, sentence);
}

static void add_part(ReportWriter *writer, const char *title) {
    Terminal *terminal = terminal_of(writer);
    terminal->after_entry = false;
    terminal->in_block = false;
    text_addf(terminal->to, "\n  ");
    add_sentence(terminal, TONE_HEAD, title);
}

static void add_block(ReportWriter *writer, Tone tone, const char *name, Str what, Anchor anchor) {
    (void)anchor;
    Terminal *terminal = terminal_of(writer);
    Text *to = terminal->to;
    terminal->after_entry = false;
    terminal->in_block = true;
    text_addf(to, "\n  ");
    text_toned(to, terminal->style, tone, str_of(name));
    if (what.size)
        text_addf(to, ": ");
    text_wrapped(to, terminal->style, TONE_PLAIN, what, 2 + text_width(str_of(name)) + 2, "      ");
}

/* Keys stand in a column of their own. */
enum { KEY_WIDTH = 12, LONGEST_PREFIX = 64 };

static void add_entry(ReportWriter *writer, const char *key, Content content, Tone tone, Str text) {
    (void)content;
    Terminal *terminal = terminal_of(writer);
    size_t indent = terminal->in_block ? 4 : 2, size = strlen(key) + 2;
    terminal->after_entry = true;
    size_t width = size > KEY_WIDTH ? size : KEY_WIDTH;
    char prefix[LONGEST_PREFIX];
    snprintf(prefix, sizeof prefix, "%*s", (int)(indent + width), "");
    text_addf(terminal->to, "%*s", (int)indent, "");
    text_toned(terminal->to, terminal->style, tone == TONE_PLAIN ? TONE_HEAD : tone, str_of(key));
    text_addf(terminal->to, "%*s", (int)(width - strlen(key)), "");
    text_wrapped(terminal->to, terminal->style, TONE_PLAIN, text, indent + width, prefix);
}

static void add_paragraph(ReportWriter *writer, Tone tone, Str text, Anchor about) {
    (void)about;
    Terminal *terminal = terminal_of(writer);
    text_addf(terminal->to, "  ");
    text_wrapped(terminal->to, terminal->style, tone, text, 2, "  ");
}

static void add_table(ReportWriter *writer, const Table *table) {
    Terminal *terminal = terminal_of(writer);
    if (table_rows(table) && (terminal->after_entry || !terminal->in_block))
        text_char(terminal->to, '\n');
    table_print(table, terminal->style, terminal->in_block ? 4 : 2, terminal->to);
}

/* ---- The graph --------------------------------------------------------------------------------- */

static void add_node(Terminal *terminal, const Report *report, const char *name) {
    const char *role = report_role(report, name);
    text_addf(terminal->to, "    ");
    text_toned(terminal->to, terminal->style, TONE_HEAD, str_of(name));
    if (*role) {
        text_addf(terminal->to, " (");
        text_add_plain(terminal->to, str_of(role));
        text_addf(terminal->to, ")");
    }
    text_char(terminal->to, '\n');
}

/* What it is, and where: behind it if there is room, else below. */
static void add_edge(Terminal *terminal, const ReportEdge *edge) {
    Text what = {0}, where = {0};
    report_edge_text(edge, &what);
    report_edge_places(edge, &where);
    size_t used = 8, size = text_width((Str){what.data, what.size}) + 3 + text_width((Str){where.data, where.size});
    bool fits = !terminal->style.width || used + size <= terminal->style.width;
    if (where.size)
        text_addf(&what, fits ? " [%.*s]" : "\n[%.*s]", (int)where.size, where.data);
    text_addf(terminal->to, "      | ");
    text_wrapped(terminal->to, terminal->style, TONE_PLAIN, (Str){what.data, what.size}, used, "      |   ");
    if (*edge->note) {
        text_addf(terminal->to, "      | ");
        text_wrapped(terminal->to, terminal->style, TONE_WARNING, str_of(edge->note), used, "      |   ");
    }
    const Finding *found[4];
    size_t count = about_edge(&terminal->writer.about, edge, found, LENGTH(found));
    for (size_t i = 0; i < count; i++) {
        Tone tone;
        const char *word = report_severity(found[i], &tone);
        what.size = 0;
        text_addf(&what, "%s: ", word);
        report_mention(&terminal->writer.about, found[i], &what);
        text_addf(terminal->to, "      | ");
        text_wrapped(terminal->to, terminal->style, tone, (Str){what.data, what.size}, used, "      |   ");
    }
    terminal->to->failed |= what.failed || where.failed;
    text_free(&what);
    text_free(&where);
}

static void add_edges(ReportWriter *writer, const Report *report, const EdgeGroup *groups, size_t count) {
    Terminal *terminal = terminal_of(writer);
    for (size_t i = 0; i < count; i++) {
        if (!groups[i].goes_on) {
            text_addf(terminal->to, "%s", i ? "\n" : "");
            add_node(terminal, report, groups[i].edges[0]->from);
        }
        for (size_t k = 0; k < groups[i].count; k++)
            add_edge(terminal, groups[i].edges[k]);
        text_addf(terminal->to, "      v\n");
        add_node(terminal, report, groups[i].edges[0]->to);
    }
}

/* ---- All of it --------------------------------------------------------------------------------- */

static void add_first_line(Terminal *terminal, const Report *report) {
    static const Tone tones[] = {TONE_GOOD, TONE_BAD, TONE_WARNING, TONE_BAD}; /* ORDER VerdictKind */
    Text *to = terminal->to;
    Tone tone = *report->nothing || !report_ran(report) ? TONE_PLAIN : tones[report->verdict->kind];
    text_tonedf(to, terminal->style, TONE_HEAD, *report->kernel ? "%s: @%s: " : "%s: ", report->file,
                verdict_name(report->verdict));
    report_outcome(report, &terminal->writer.text);
    text_toned(to, terminal->style, tone, say_taken(&terminal->writer));
    text_char(to, '\n');
}

void render_report_text(const Report *report, ReportTextOptions options, Text *to) {
    Terminal terminal = {
        .writer = {.section = add_section,
                   .part = add_part,
                   .block = add_block,
                   .entry = add_entry,
                   .line = add_paragraph,
                   .table = add_table,
                   .edges = add_edges,
                   .sections = options.sections},
        .to = to,
        .style = {options.color, options.width},
    };
    add_first_line(&terminal, report);
    if (!*report->nothing && options.summary) {
        report_head(report, &terminal.writer);
        report_summary(report, terminal.style, to);
    } else if (!*report->nothing) {
        report_sections(report, &terminal.writer);
        text_addf(to, "\n`weir report --glossary` explains the terms.\n");
    }
    to->failed |= terminal.writer.failed;
    text_free(&terminal.writer.text);
}

void render_glossary_text(Text *to, unsigned width) {
    size_t count;
    const Term *terms = glossary(&count);
    for (size_t i = 0; i < count; i++) {
        text_addf(to, "%s%s\n    ", i ? "\n" : "", terms[i].word);
        text_wrapped(to, (Style){.width = width}, TONE_PLAIN, str_of(terms[i].text), 4, "    ");
    }
}
