/* The difference of two reports as text, Markdown and JSON. What stems from the IR goes through text_add_plain. */
#include "render/report/difference.h"

#include "render/json.h"

static const char red[] = "\033[31m", green[] = "\033[32m", bold[] = "\033[1m", normal[] = "\033[0m";
static const char not_there[] = "not there";

static const char *said(const char *text) {
    return *text ? text : not_there;
}

static bool is_first(const Difference *difference, size_t row) {
    return row == 0 || difference->rows[row].level != difference->rows[row - 1].level;
}

/* "2 differences, the first in channels" */
static void add_sum(const Difference *difference, Text *to) {
    if (!difference->row_count)
        text_addf(to, "no difference");
    else
        text_addf(to, "%zu difference%s, %s %s", difference->row_count, difference->row_count == 1 ? "" : "s",
                  difference->row_count == 1 ? "in" : "the first in", difference_level_name(difference->rows[0].level));
}

/* ---- Text ------------------------------------------------------------------------------------ */

/* Columns that a text takes, up to its first space. */
static size_t word_size(Str text, size_t *columns) {
    const char *space = memchr(text.data, ' ', text.size);
    size_t size = space ? (size_t)(space - text.data) : text.size;
    *columns = utf8_count((Str){text.data, size});
    return size;
}

/* A text at column `at`, broken at spaces; the lines after the first start at `indent`. */
static void add_wrapped(Text *to, size_t at, size_t indent, unsigned width, const char *text) {
    Str left = str_of(text);
    for (bool first = true; left.size; first = false) {
        size_t columns, size = word_size(left, &columns);
        if (!first && width && at + 1 + columns > width) {
            text_addf(to, "\n%*s", (int)indent, "");
            at = indent;
        } else if (!first) {
            text_char(to, ' ');
            at++;
        }
        text_add_plain(to, (Str){left.data, size});
        at += columns;
        size += size < left.size;
        left = (Str){left.data + size, left.size - size};
    }
}

static void add_side(Text *to, const char *name, const char *color, unsigned width, const char *text) {
    text_addf(to, "    %s: %s", name, color);
    add_wrapped(to, 9, 9, width, said(text));
    text_addf(to, "%s\n", *color ? normal : "");
}

static void add_names(const Difference *difference, Text *to) {
    text_plainf(to, "%s @%s and %s @%s: ", difference->old_file, difference->old_kernel, difference->new_file,
                difference->new_kernel);
}

static void add_pairs(const Difference *difference, Text *to) {
    if (difference->pair_count)
        text_addf(to, "Partitions, by role:\n");
    for (size_t i = 0; i < difference->pair_count; i++) {
        const DifferencePair *pair = &difference->pairs[i];
        text_plainf(to, "  %s: %s", pair->role, *pair->old ? pair->old : pair->new);
        if (!*pair->old || !*pair->new)
            text_addf(to, ", only in the %s one", *pair->old ? "old" : "new");
        else if (strcmp(pair->old, pair->new) != 0)
            text_plainf(to, ", now %s", pair->new);
        text_char(to, '\n');
    }
}

void render_difference_text(const Difference *difference, bool color, unsigned width, Text *to) {
    if (*difference->protocol)
        text_plainf(to, "%s\n", difference->protocol);
    add_names(difference, to);
    text_addf(to, "%s", color ? bold : "");
    add_sum(difference, to);
    text_addf(to, "%s\n", color ? normal : "");
    if (!difference->row_count)
        return;
    add_pairs(difference, to);
    for (size_t i = 0; i < difference->row_count; i++) {
        const DifferenceRow *row = &difference->rows[i];
        if (is_first(difference, i))
            text_addf(to, "\n%s%s%s: %s\n", color ? bold : "", difference_level_name(row->level), color ? normal : "",
                      difference_level_text(row->level));
        text_addf(to, "  ");
        add_wrapped(to, 2, 4, width, row->what);
        text_char(to, '\n');
        add_side(to, "old", color ? red : "", width, row->old);
        add_side(to, "new", color ? green : "", width, row->new);
    }
}

/* ---- Markdown -------------------------------------------------------------------------------- */

/* A text as it is, whatever in it means something in Markdown or in HTML. */
static void add_markdown(Text *to, const char *text) {
    for (const char *at = text; *at;) {
        size_t plain = strcspn(at, "\\`*_{}[]<>|#&~$");
        text_add_plain(to, (Str){at, plain});
        at += plain;
        if (*at == '<' || *at == '>' || *at == '&')
            text_addf(to, "%s", *at == '<' ? "&lt;" : *at == '>' ? "&gt;" : "&amp;");
        else if (*at)
            text_addf(to, "\\%c", *at);
        at += *at != 0;
    }
}

static void add_cells(Text *to, const char *first, const char *old, const char *new) {
    const char *const cells[] = {first, old, new};
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        text_addf(to, "| ");
        add_markdown(to, cells[i]);
        text_char(to, ' ');
    }
    text_addf(to, "|\n");
}

static void add_table_head(Text *to, const char *first) {
    text_addf(to, "| %s | old | new |\n|---|---|---|\n", first);
}

void render_difference_markdown(const Difference *difference, Text *to) {
    text_addf(to, "# Difference: ");
    add_sum(difference, to);
    text_addf(to, "\n\n");
    if (*difference->protocol) {
        add_markdown(to, difference->protocol);
        text_addf(to, "\n\n");
    }
    add_table_head(to, "");
    add_cells(to, "file", difference->old_file, difference->new_file);
    add_cells(to, "kernel", difference->old_kernel, difference->new_kernel);
    if (difference->row_count && difference->pair_count) {
        text_addf(to, "\n## Partitions, by role\n\n");
        add_table_head(to, "role");
        for (size_t i = 0; i < difference->pair_count; i++)
            add_cells(to, difference->pairs[i].role, said(difference->pairs[i].old), said(difference->pairs[i].new));
    }
    for (size_t i = 0; i < difference->row_count; i++) {
        const DifferenceRow *row = &difference->rows[i];
        if (is_first(difference, i)) {
            text_addf(to, "\n## %s: %s\n\n", difference_level_name(row->level), difference_level_text(row->level));
            add_table_head(to, "what");
        }
        add_cells(to, row->what, said(row->old), said(row->new));
    }
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static const JsonField pair_fields[] = {JSON(DifferencePair, role, old, new), {0}};

static void add_level(Json *json, const char *key, const void *object) {
    const DifferenceRow *row = object;
    json_text(json, key, difference_level_name(row->level));
}

static const JsonField row_fields[] = {JSON_BY(0, "level", add_level), JSON(DifferenceRow, what, old, new), {0}};

static const JsonField old_fields[] = {
    JSON_NAMED("file", Difference, old_file), JSON_NAMED("kernel", Difference, old_kernel), {0}};
static const JsonField new_fields[] = {
    JSON_NAMED("file", Difference, new_file), JSON_NAMED("kernel", Difference, new_kernel), {0}};

static void add_same(Json *json, const char *key, const void *object) {
    const Difference *difference = object;
    json_truth(json, key, !difference->row_count);
    json_text(json, "first", difference->row_count ? difference_level_name(difference->rows[0].level) : "");
    json_text(json, "protocol", difference->protocol);
}

static const JsonField difference_fields[] = {JSON_GROUP(1, "old", old_fields),
                                              JSON_GROUP(1, "new", new_fields),
                                              JSON_BY(1, "same", add_same),
                                              JSON_LIST(1, 2, "partitions", Difference, pairs, pair_count, pair_fields),
                                              JSON_LIST(1, 2, "differences", Difference, rows, row_count, row_fields),
                                              {0}};

void render_difference_json(const Difference *difference, const char *version, Text *to) {
    Json json = {.to = to};
    render_json_head(&json, version);
    json_members(&json, difference_fields, difference);
    json_end(&json);
    text_char(to, '\n');
}
