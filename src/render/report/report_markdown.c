/* The barrier report as Markdown, as GitHub reads it: headings, lists and tables, with the glossary at the end and
 * links to it. All texts are escaped, so that names of the IR stay names. */
#include "render/report/report.h"
#include "render/report/report_say.h"

#include <assert.h>

enum { MOST_TERMS = 128 };

typedef struct ReportMarkdownPage {
    ReportWriter writer; /* first, so that a writer can be taken for its page */
    Text *to;
    bool in_part;            /* blocks are then one level below */
    bool in_list;            /* the last line was an item: what is none needs an empty line before it */
    bool linked[MOST_TERMS]; /* only the first use of a word is a link */
} ReportMarkdownPage;

static ReportMarkdownPage *page_of(ReportWriter *writer) {
    return (ReportMarkdownPage *)writer;
}

/* ---- Texts ------------------------------------------------------------------------------------- */

/* One character that means something to Markdown. */
static void add_special(Text *to, char c) {
    if (c == '\n')
        text_addf(to, "<br>");
    else if (c == '\t')
        text_char(to, ' ');
    else if (c == '&')
        text_addf(to, "&amp;");
    else if (c == '<')
        text_addf(to, "&lt;");
    else
        text_addf(to, "\\%c", c);
}

static bool is_special(char c) {
    return c && strchr("\\`*_[]<>#|~&$\n\t", c);
}

static void add_escaped(Text *to, Str text) {
    size_t start = 0;
    for (; start < text.size && text.data[start] == ' '; start++)
        text_addf(to, "&nbsp;");
    if (start < text.size && strchr("-+=", text.data[start])) /* no list, no line below a heading */
        text_char(to, '\\');
    for (size_t i = start; i < text.size; i++) {
        if (!is_special(text.data[i]))
            continue;
        text_add_plain(to, (Str){text.data + start, i - start});
        add_special(to, text.data[i]);
        start = i + 1;
    }
    text_add_plain(to, (Str){text.data + start, text.size - start});
}

/* Between as many backticks as it takes. What looks like the name of a user would else be one for GitHub. */
static void add_code(Text *to, const char *before, const char *text) {
    size_t longest = 0;
    for (const char *at = text; *at; at++) {
        size_t run = strspn(at, "`");
        longest = run > longest ? run : longest;
        at += run ? run - 1 : 0;
    }
    for (size_t i = 0; i <= longest; i++)
        text_char(to, '`');
    text_addf(to, "%s%s", longest ? " " : "", before);
    text_add_plain(to, str_of(text));
    text_addf(to, "%s", longest ? " " : "");
    for (size_t i = 0; i <= longest; i++)
        text_char(to, '`');
}

static void add_toned(Text *to, Tone tone, Str text) {
    bool bold = tone != TONE_PLAIN && tone != TONE_GOOD && text.size;
    text_addf(to, "%s", bold ? "**" : "");
    add_escaped(to, text);
    text_addf(to, "%s", bold ? "**" : "");
}

/* ---- Words of the glossary --------------------------------------------------------------------- */

static void add_word(ReportMarkdownPage *page, Str word, Str id) {
    size_t count, i = 0;
    const Term *terms = glossary(&count);
    assert(count <= MOST_TERMS);
    while (i < count && !str_is(id, terms[i].id))
        i++;
    assert(i < count);
    if (page->linked[i]) {
        text_str(page->to, word);
        return;
    }
    page->linked[i] = true;
    text_addf(page->to, "[%.*s](#%s)", STR_ARG(word), terms[i].id);
}

/* A sentence of our own, in which "[word]" and "[word|id]" are words of the glossary. */
static void add_sentence(ReportMarkdownPage *page, const char *sentence) {
    while (*sentence) {
        const char *open = strchrnul(sentence, '[');
        text_str(page->to, str_between(sentence, open));
        if (!*open)
            return;
        const char *close = strchr(open, ']');
        Str inside = str_between(open + 1, close);
        const char *bar = memchr(inside.data, '|', inside.size);
        add_word(page, str_between(open + 1, bar ? bar : close), str_between(bar ? bar + 1 : open + 1, close));
        sentence = close + 1;
    }
}

static void add_glossary(Text *to) {
    size_t count;
    const Term *terms = glossary(&count);
    text_addf(to, "\n## Glossary\n\n");
    for (size_t i = 0; i < count; i++) {
        text_addf(to, "- <a id=\"%s\"></a>**%s**: ", terms[i].id, terms[i].word);
        add_escaped(to, str_of(terms[i].text));
        text_char(to, '\n');
    }
}

/* ---- What the writer is told ------------------------------------------------------------------- */

/* A paragraph, a heading or a table begins. */
static Text *begin(ReportMarkdownPage *page) {
    page->in_list = false;
    text_char(page->to, '\n');
    return page->to;
}

static void add_section(ReportWriter *writer, const ReportSection *section, const char *sentence, size_t count) {
    (void)count;
    ReportMarkdownPage *page = page_of(writer);
    page->in_part = false;
    text_addf(begin(page), "## %s\n", section->title);
    if (!*sentence)
        return;
    begin(page);
    add_sentence(page, sentence);
    text_char(page->to, '\n');
}

static void add_part(ReportWriter *writer, const char *title) {
    ReportMarkdownPage *page = page_of(writer);
    page->in_part = true;
    text_addf(begin(page), "### ");
    add_sentence(page, title);
    text_char(page->to, '\n');
}

static void add_block(ReportWriter *writer, Tone tone, const char *name, Str what, Anchor anchor) {
    ReportMarkdownPage *page = page_of(writer);
    (void)tone; /* it is a heading anyway */
    (void)anchor;
    text_addf(begin(page), "%s ", page->in_part ? "####" : "###");
    add_escaped(page->to, str_of(name));
    text_char(page->to, '\n');
    if (!what.size)
        return;
    add_escaped(begin(page), what);
    text_char(page->to, '\n');
}

static void add_entry(ReportWriter *writer, const char *key, Content content, Tone tone, Str text) {
    (void)content;
    ReportMarkdownPage *page = page_of(writer);
    if (!page->in_list)
        begin(page);
    page->in_list = true;
    text_addf(page->to, "- **%s**: ", key);
    add_toned(page->to, tone == TONE_BAD ? TONE_BAD : TONE_PLAIN, text);
    text_char(page->to, '\n');
}

static void add_paragraph(ReportWriter *writer, Tone tone, Str text, Anchor about) {
    (void)about;
    ReportMarkdownPage *page = page_of(writer);
    add_toned(begin(page), tone, text);
    text_char(page->to, '\n');
}

static void add_table(ReportWriter *writer, const Table *table) {
    ReportMarkdownPage *page = page_of(writer);
    Text *to = page->to;
    bool shown[MOST_COLUMNS] = {0};
    if (!table_rows(table))
        return;
    begin(page);
    for (size_t column = 0; column < table->column_count; column++)
        if ((shown[column] = table_shows(table, column)))
            text_addf(to, "| %s ", table->columns[column].title);
    text_addf(to, "|\n");
    for (size_t column = 0; column < table->column_count; column++)
        if (shown[column])
            text_addf(to, "| %s ", column_is_right(&table->columns[column]) ? "---:" : "---");
    text_addf(to, "|\n");
    for (size_t row = 0; row < table_rows(table); row++) {
        for (size_t column = 0; column < table->column_count; column++) {
            if (!shown[column])
                continue;
            text_addf(to, "| ");
            add_toned(to, table_tone(table, row, column), table_text(table, row, column));
            text_char(to, ' ');
        }
        text_addf(to, "|\n");
    }
}

/* ---- All of it --------------------------------------------------------------------------------- */

static void add_title(ReportMarkdownPage *page, const Report *report) {
    Text *to = page->to;
    text_addf(to, "# Barrier report: ");
    add_code(to, "", report->file);
    if (*report->kernel) {
        text_addf(to, ", ");
        add_code(to, "@", verdict_name(report->verdict));
    }
    text_addf(to, "\n\n");
    report_outcome(report, &page->writer.text);
    add_toned(to, *report->nothing ? TONE_PLAIN : TONE_HEAD, say_taken(&page->writer));
    text_char(to, '\n');
}

void render_report_markdown(const Report *report, Text *to) {
    ReportMarkdownPage page = {
        .writer = {.section = add_section,
                   .part = add_part,
                   .block = add_block,
                   .entry = add_entry,
                   .line = add_paragraph,
                   .table = add_table},
        .to = to,
    };
    add_title(&page, report);
    if (!*report->nothing) {
        report_sections(report, &page.writer);
        add_glossary(to);
    }
    to->failed |= page.writer.failed;
    text_free(&page.writer.text);
}
