/* What a page makes of sections, blocks, entries and tables. Whatever is wrong is marked with a sign, too, not by its
 * color alone. */
#include "render/html/html_writer.h"

#include "render/html/html_graph.h"
#include "render/html/pack.h"
#include "render/report/report_say.h"

#include <stdlib.h>

static HtmlWriter *writer_of(ReportWriter *writer) {
    return (HtmlWriter *)writer;
}

static void add(HtmlWriter *writer, const char *markup) {
    text_str(writer->html.to, str_of(markup));
}

/* The attributes of what links lead to. The two ends and the direction of an edge are what a line of the graph is
 * about. */
static void add_anchor(HtmlWriter *writer, Anchor anchor) {
    Text *to = writer->html.to;
    if (!anchor.kind)
        return;
    text_addf(to, " id=\"%s-%zu\"", anchor.kind, anchor.index);
    if (strcmp(anchor.kind, "barrier") == 0 || strcmp(anchor.kind, "sites") == 0)
        text_addf(to, " data-barrier=\"%zu\"", anchor.index);
    if (strcmp(anchor.kind, "edge") == 0) {
        const ReportEdge *edge = &writer->html.report->edges[anchor.index];
        html_addf(&writer->html, " data-pair=\"%s>%s>%s\"", edge->from, edge->to, edge->direction);
    }
}

/* ---- Texts ------------------------------------------------------------------------------------- */

static void add_code(Html *html, Str text) {
    text_str(html->to, STR("<code>"));
    html_words(html, text);
    text_str(html->to, STR("</code>"));
}

/* A number with commas, if it is one. */
static void add_number(Html *html, Str text) {
    int64_t number;
    if (str_to_int(text, &number) && number >= 0)
        text_number(html->to, (uint64_t)number);
    else
        html_words(html, text);
}

static void add_ir_line(Html *html, Str text) {
    int64_t line;
    if (str_to_int(text, &line))
        html_line(html, (uint32_t)line);
}

static void add_share(Html *html, Str text) {
    int percent = atoi(text.data);
    html_addf(html, "<span class=\"share\"><span style=\"width: %u%%\"></span></span> ",
              percent > 100 ? 100u : (unsigned)percent);
    html_text(html->to, text);
}

static void add_content(HtmlWriter *writer, Content content, Str text) {
    static void (*const contents[])(Html *, Str) = {
        [IS_WORDS] = html_words,       [IS_CODE] = add_code,        [IS_NUMBER] = add_number, [IS_LINE] = add_ir_line,
        [IS_BARRIERS] = html_barriers, [IS_BUFFERS] = html_buffers, [IS_SLOT] = html_slot,    [IS_SHARE] = add_share};
    contents[content](&writer->html, text);
}

/* ---- Sections and blocks ----------------------------------------------------------------------- */

void html_end_facts(HtmlWriter *writer) {
    if (writer->key)
        add(writer, "</div>\n</dl>\n");
    writer->key = NULL;
}

/* Of thousands of blocks and rows, a browser is spared those that are not looked at: they are packed texts, which the
 * script lays out when they come into view, or something leads to one of them (page.js, Later). */
enum { MANY_BLOCKS = 200, BLOCKS_AT_ONCE = 100, MANY_ROWS = 200, ROWS_AT_ONCE = 400 };

static void begin_later(HtmlWriter *writer, const char *kind) {
    writer->later_kind = kind ? kind : "";
    writer->page_then = writer->html.to;
    writer->html.to = &writer->put_off;
}

static void end_later(HtmlWriter *writer) {
    if (!writer->later)
        return;
    Text *packed = &writer->put_off;
    writer->html.to = writer->page_then;
    text_addf(
        writer->html.to,
        "<div class=\"later\" data-kind=\"%s\" data-count=\"%zu\"><noscript><p class=\"notice\">%zu more are laid "
        "out by a script.</p></noscript><script type=\"text/plain\">",
        writer->later_kind, writer->later, writer->later);
    pack_text((Str){packed->data, packed->size}, writer->html.to);
    text_str(writer->html.to, STR("</script></div>\n"));
    writer->html.to->failed |= packed->failed;
    packed->size = 0;
    writer->later = 0;
}

/* What is wrong is there at once. */
static void put_off(HtmlWriter *writer) {
    if (writer->count <= MANY_BLOCKS)
        return;
    if (writer->wrong || writer->later == BLOCKS_AT_ONCE)
        end_later(writer);
    if (writer->wrong)
        return;
    if (!writer->later++)
        begin_later(writer, writer->anchor.kind);
}

/* Where there are many, only those are open in which something is wrong. */
static void end_block(HtmlWriter *writer) {
    html_end_facts(writer);
    if (!writer->in_block)
        return;
    unsigned most = writer->section->most_open;
    bool open = !most || writer->count <= most || writer->wrong;
    writer->html.to = writer->page;
    put_off(writer);
    Text *to = writer->html.to;
    text_addf(to, "<details class=\"fold%s\"%s", writer->wrong ? " wrong" : "", open ? " open" : "");
    add_anchor(writer, writer->anchor);
    text_char(to, '>');
    text_str(to, (Str){writer->head.data, writer->head.size});
    text_str(to, (Str){writer->body.data, writer->body.size});
    add(writer, "</details>\n");
    to->failed |= writer->head.failed || writer->body.failed;
    writer->head.size = writer->body.size = 0;
    writer->in_block = false;
}

void html_end_section(HtmlWriter *writer) {
    end_block(writer);
    end_later(writer);
    html_section_end(&writer->html);
    writer->in_part = false;
}

static void add_section(ReportWriter *base, const ReportSection *section, const char *sentence, size_t count) {
    HtmlWriter *writer = writer_of(base);
    if (writer->section)
        html_end_section(writer);
    else
        writer->first(writer);
    writer->section = section;
    writer->count = count;
    writer->label = section->title;
    report_plain_sentence(sentence, &base->text);
    html_section(&writer->html, section->id, section->title, count, section->one, say_taken(base));
}

static void add_part(ReportWriter *base, const char *title) {
    HtmlWriter *writer = writer_of(base);
    end_block(writer);
    end_later(writer);
    writer->in_part = true;
    writer->label = writer->section->title;
    report_plain_sentence(title, &base->text);
    add(writer, "<h3 class=\"sub\">");
    html_prose(&writer->html, say_taken(base));
    add(writer, "</h3>\n");
}

static void add_block(ReportWriter *base, Tone tone, const char *name, Str what, Anchor anchor) {
    HtmlWriter *writer = writer_of(base);
    unsigned level = writer->in_part ? 4 : 3;
    end_block(writer);
    writer->in_block = true;
    writer->wrong = tone == TONE_BAD || anchor.wrong;
    writer->anchor = anchor;
    writer->label = name;
    writer->page = writer->html.to;
    writer->html.to = &writer->head;
    html_addf(&writer->html, "<summary><h%u>%s<span class=\"count\">", level, name);
    html_words(&writer->html, what);
    html_addf(&writer->html, "</span></h%u></summary>\n", level);
    writer->html.to = &writer->body;
}

void html_start_fact(HtmlWriter *writer, const char *key) {
    if (!writer->key || strcmp(writer->key, key) != 0)
        html_addf(&writer->html, writer->key ? "</div>\n<div><dt>%s</dt>" : "<dl class=\"facts\">\n<div><dt>%s</dt>",
                  key);
    writer->key = key;
}

static void add_entry(ReportWriter *base, const char *key, Content content, Tone tone, Str text) {
    static const char *const classes[] = {"", "", "", " class=\"flag\"", " class=\"remark\""}; /* ORDER Tone */
    HtmlWriter *writer = writer_of(base);
    html_start_fact(writer, key);
    writer->wrong |= tone == TONE_BAD;
    text_addf(writer->html.to, "<dd%s>", classes[tone]);
    add_content(writer, content, text);
    add(writer, "</dd>");
}

void html_fact(HtmlWriter *writer, const char *key, const char *text) {
    if (html_said(text))
        add_entry(&writer->writer, key, IS_WORDS, TONE_PLAIN, str_of(text));
}

static void add_line(ReportWriter *base, Tone tone, Str text, Anchor about) {
    static const struct {
        const char *class, *sign;
    } tags[] = {
        {"", ""}, {"", ""}, {"good", "\xe2\x9c\x93"}, {"error", "\xe2\x9c\x97"}, {"warning", "?"}}; /* ORDER Tone */
    HtmlWriter *writer = writer_of(base);
    if (!*tags[tone].sign)
        add(writer, "<p class=\"lead\">");
    else if (about.kind)
        text_addf(writer->html.to, "<p class=\"answer\"><a class=\"tag tag-%s\" href=\"#%s-%zu\">%s</a> ",
                  tags[tone].class, about.kind, about.index, tags[tone].sign);
    else
        text_addf(writer->html.to, "<p class=\"answer\"><span class=\"tag tag-%s\">%s</span> ", tags[tone].class,
                  tags[tone].sign);
    html_prose(&writer->html, text);
    add(writer, "</p>\n");
}

static void add_picture(ReportWriter *base) {
    html_graph(&writer_of(base)->html);
}

/* ---- Tables ------------------------------------------------------------------------------------ */

static void add_cell_text(HtmlWriter *writer, const TableColumn *column, Tone tone, Str text) {
    static const char *const classes[] = {"", "", "tag tag-good", "tag tag-error", "remark"}; /* ORDER Tone */
    bool toned = column->content == IS_WORDS && *classes[tone];
    if (!text.size) {
        add(writer, "<span class=\"none\">\xe2\x80\x93</span>"); /* a dash */
        return;
    }
    if (toned)
        text_addf(writer->html.to, "<span class=\"%s\">", classes[tone]);
    add_content(writer, column->content, text);
    add(writer, toned ? "</span>" : "");
}

/* A barrier's name leads from its row to its block. A line says of what it is one, for screens where no heads stand
 * above cells. */
static void add_cell(HtmlWriter *writer, const Table *table, size_t row, size_t column) {
    Anchor anchor = column ? (Anchor){0} : table_anchor(table, row);
    bool named = anchor.kind && strcmp(anchor.kind, "barrier") == 0;
    Str text = table_text(table, row, column);
    text_addf(writer->html.to, "<%s%s", column ? "td" : "th scope=\"row\"",
              column_is_right(&table->columns[column]) ? " class=\"number\"" : "");
    if (table->columns[column].content == IS_LINE)
        text_addf(writer->html.to, " data-of=\"%s\"", table->columns[column].title);
    add(writer, ">");
    if (named) {
        text_addf(writer->html.to, "<a class=\"name\" href=\"#sites-%zu\">", anchor.index);
        html_text(writer->html.to, text);
        add(writer, "</a>");
    } else {
        add_cell_text(writer, &table->columns[column], table_tone(table, row, column), text);
    }
    add(writer, column ? "</td>" : "</th>");
}

static void add_row(HtmlWriter *writer, const Table *table, size_t row, const bool *shown) {
    bool wrong = table_anchor(table, row).wrong;
    for (size_t column = 0; column < table->column_count; column++)
        wrong |= table_tone(table, row, column) == TONE_BAD && table_text(table, row, column).size;
    writer->wrong |= wrong;
    add(writer, "<tr");
    add_anchor(writer, table_anchor(table, row));
    add(writer, wrong ? " class=\"flagged\">" : ">");
    for (size_t column = 0; column < table->column_count; column++)
        if (shown[column])
            add_cell(writer, table, row, column);
    add(writer, "</tr>\n");
}

static void add_rows(HtmlWriter *writer, const Table *table, const bool *shown, size_t first, size_t end) {
    html_addf(&writer->html,
              "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"%s\"><table>\n<thead><tr>",
              writer->label);
    for (size_t column = 0; column < table->column_count; column++) {
        if (!shown[column])
            continue;
        add(writer,
            column_is_right(&table->columns[column]) ? "<th scope=\"col\" class=\"number\">" : "<th scope=\"col\">");
        html_prose(&writer->html, str_of(table->columns[column].title));
        add(writer, "</th>");
    }
    add(writer, "</tr></thead>\n<tbody>\n");
    for (size_t row = first; row < end; row++)
        add_row(writer, table, row, shown);
    add(writer, "</tbody></table></div>\n");
}

/* Many rows beyond the first, folded. */
static void add_folded_rows(HtmlWriter *writer, const Table *table, const bool *shown) {
    for (size_t row = MANY_ROWS, end; row < table_rows(table); row = end) {
        end = row + ROWS_AT_ONCE < table_rows(table) ? row + ROWS_AT_ONCE : table_rows(table);
        text_addf(writer->html.to, "<details class=\"fold\"><summary><h4>Rows %zu to %zu</h4></summary>\n", row + 1,
                  end);
        begin_later(writer, table_anchor(table, row).kind);
        add_rows(writer, table, shown, row, end);
        writer->later = end - row;
        end_later(writer);
        add(writer, "</details>\n");
    }
}

void html_table(HtmlWriter *writer, const Table *table) {
    bool shown[MOST_COLUMNS] = {0};
    size_t rows = table_rows(table);
    bool many = rows > MANY_ROWS && !writer->in_block;
    html_end_facts(writer);
    if (!rows)
        return;
    for (size_t column = 0; column < table->column_count; column++)
        shown[column] = table_shows(table, column);
    add_rows(writer, table, shown, 0, many ? MANY_ROWS : rows);
    if (many)
        add_folded_rows(writer, table, shown);
}

static void add_table(ReportWriter *base, const Table *table) {
    html_table(writer_of(base), table);
}

/* ---- The writer -------------------------------------------------------------------------------- */

void html_writer_init(HtmlWriter *writer, const Report *report, const ReportHtml *what, Text *to) {
    *writer = (HtmlWriter){.writer = {.section = add_section,
                                      .part = add_part,
                                      .block = add_block,
                                      .entry = add_entry,
                                      .line = add_line,
                                      .table = add_table,
                                      .picture = add_picture,
                                      .roomy = true}};
    html_init(&writer->html, report, what, to);
}

void html_writer_free(HtmlWriter *writer) {
    writer->html.to->failed |= writer->writer.failed;
    html_free(&writer->html);
    text_free(&writer->writer.text);
    text_free(&writer->head);
    text_free(&writer->body);
    text_free(&writer->put_off);
}
