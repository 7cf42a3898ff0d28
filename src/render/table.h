/* Tables and paragraphs for a terminal: columns that shrink and wrap until they fit, and lose nothing.
 *
 *     Table table = table_begin(columns, 2);
 *     text_addf(table_cell(&table, TONE_PLAIN), "%s", name);
 *     text_addf(table_cell(&table, TONE_BAD), "MISSING");
 *     table_print(&table, style, 2, to);
 *     table_free(&table);
 *
 * Cells are filled row by row. They may hold anything, also bytes of an untrusted file: what is printed has gone
 * through text_add_plain. A newline in a cell starts a new line of that cell.
 *
 * A table that does not fit has its widest columns narrowed, as far as their longest words allow, then as far as the
 * pieces of words allow (split after a dot, an underscore and such); if not even that is enough, each row becomes a
 * paragraph of `title  cell` lines. Words that are too long for their line are broken. */
#ifndef RENDER_TABLE_H
#define RENDER_TABLE_H

#include "base/text.h"

typedef enum Tone { TONE_PLAIN, TONE_HEAD, TONE_GOOD, TONE_BAD, TONE_WARNING } Tone;

/* What a text is, for who can make links of it. */
typedef enum Content {
    IS_WORDS,
    IS_CODE,
    IS_NUMBER,
    IS_LINE,     /* a number: of a line of the IR */
    IS_BARRIERS, /* names of barriers, joined by ", " */
    IS_BUFFERS,
    IS_SLOT,  /* of a barrier: "%full[1]" */
    IS_SHARE, /* "62%" */
} Content;

typedef struct TableColumn {
    const char *title;
    Content content; /* numbers are at the right edge of the column */
    bool optional;   /* left out if all its cells are empty */
} TableColumn;

static inline bool column_is_right(const TableColumn *column) {
    return column->content == IS_NUMBER || column->content == IS_LINE;
}

/* What a row or a block is about, for links that lead to it: "barrier", 3. */
typedef struct Anchor {
    const char *kind; /* NULL: nothing that has a number */
    size_t index;
    bool wrong; /* with it, even if none of what is said there is */
} Anchor;

enum { MOST_COLUMNS = 16 };

typedef struct TableCell {
    size_t start; /* in `text`; it ends where the next one starts */
    Tone tone;
    Anchor anchor; /* of the row, if it is its first cell */
} TableCell;

typedef struct Table {
    const TableColumn *columns;
    size_t column_count;
    Text text;
    TableCell *cells;
    size_t cell_count, cell_capacity;
} Table;

/* How a terminal is written to. */
typedef struct Style {
    bool color;
    unsigned width; /* columns; 0: as wide as need be */
} Style;

Table table_begin(const TableColumn *columns, size_t count);
void table_free(Table *table);
/* Starts the next cell, which is what is added to the text until the next call. */
Text *table_cell(Table *table, Tone tone);
/* Cells that are plain texts, or plain numbers, of which those below 0 are not known. */
#define TEXT_CELLS(table, ...) \
    table_add_texts(table, (const char *const[]){__VA_ARGS__}, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *))
#define NUMBER_CELLS(table, ...) \
    table_add_numbers(table, (const int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
void table_add_texts(Table *table, const char *const *texts, size_t count);
void table_add_numbers(Table *table, const int64_t *numbers, size_t count);
/* The same as table_cell for the first cell of a row that links may lead to. */
Text *table_row(Table *table, Tone tone, Anchor anchor);
size_t table_rows(const Table *table);
Str table_text(const Table *table, size_t row, size_t column);
Tone table_tone(const Table *table, size_t row, size_t column);
Anchor table_anchor(const Table *table, size_t row);
/* Whether a column is shown. */
bool table_shows(const Table *table, size_t column);
/* With no rows, nothing. */
void table_print(const Table *table, Style style, unsigned indent, Text *to);

/* The columns that a text takes on a terminal. */
size_t text_width(Str text);

/* A text of our own, or an untrusted one, in color if the style has it. */
void text_toned(Text *to, Style style, Tone tone, Str text);
void text_tonedf(Text *to, Style style, Tone tone, const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The rest of a paragraph whose line so far takes `used` columns, and the newline. Further lines start with `prefix`,
 * which is ASCII. */
void text_wrapped(Text *to, Style style, Tone tone, Str text, size_t used, const char *prefix);

#endif
