/* Tables and paragraphs: measuring, breaking lines, sharing out the width. */
#include "render/table.h"

#include "base/array.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

/* ---- Width ------------------------------------------------------------------------------------- */

typedef struct Character {
    size_t size;    /* in bytes */
    unsigned width; /* in columns */
} Character;

static const struct {
    uint32_t first, last;
    unsigned width;
} odd_widths[] = {
    {0x300, 0x36f, 0},   {0x200b, 0x200f, 0}, {0x202a, 0x202e, 0},   {0x2060, 0x2064, 0},   {0xfe00, 0xfe0f, 0},
    {0x1100, 0x115f, 2}, {0x2e80, 0xa4cf, 2}, {0xac00, 0xd7a3, 2},   {0xf900, 0xfaff, 2},   {0xfe30, 0xfe6f, 2},
    {0xff00, 0xff60, 2}, {0xffe0, 0xffe6, 2}, {0x1f300, 0x1f64f, 2}, {0x1f900, 0x1f9ff, 2}, {0x20000, 0x3fffd, 2},
};

static unsigned code_width(uint32_t code) {
    for (size_t i = 0; i < sizeof odd_widths / sizeof *odd_widths; i++)
        if (code >= odd_widths[i].first && code <= odd_widths[i].last)
            return odd_widths[i].width;
    return 1;
}

/* What text_add_plain makes one character of: bytes that are no UTF-8 are a '?' each. */
static Character character_at(Str text, size_t at) {
    uint32_t code = 0;
    size_t size = utf8_size((Str){text.data + at, text.size - at}, &code);
    if (size < 2 || code < 0xa0)
        return (Character){1, 1};
    return (Character){size, code_width(code)};
}

size_t text_width(Str text) {
    size_t width = 0;
    for (size_t i = 0; i < text.size;) {
        Character character = character_at(text, i);
        width += character.width;
        i += character.size;
    }
    return width;
}

/* ---- Lines ------------------------------------------------------------------------------------- */

typedef struct TableLine {
    size_t size;  /* in bytes */
    size_t width; /* in columns */
    size_t next;  /* where the line after it starts */
} TableLine;

static bool is_space(char c) {
    return c == ' ' || c == '\t';
}

/* A long word is rather broken after one of these than in the middle of a name. */
static bool may_break_after(char c) {
    return c && strchr("/.,:;_-)]>", c);
}

/* The first line of a text, no wider than `width` (0: whatever it takes), but at least one character. */
static TableLine first_line(Str text, size_t width) {
    TableLine line = {0}, at_space = {0}, in_word = {0};
    size_t i = 0;
    while (i < text.size && text.data[i] != '\n') {
        Character character = character_at(text, i);
        bool space = is_space(text.data[i]);
        if (space && i && !is_space(text.data[i - 1]))
            at_space = (TableLine){i, line.width, i + 1};
        if (width && line.width + character.width > width && i) {
            if (space || at_space.size)
                line = at_space.size ? at_space : line;
            else if (in_word.width * 2 >= width)
                line = in_word;
            else
                line.next = i;
            while (line.next < text.size && is_space(text.data[line.next]))
                line.next++;
            return line;
        }
        i += character.size;
        line.width += character.width;
        line.size = line.next = i;
        if (may_break_after(text.data[i - 1]))
            in_word = line;
    }
    line.next = i < text.size ? i + 1 : i;
    return line;
}

static const char *tone_code(Tone tone) {
    static const char *const codes[] = {"", "\033[1m", "\033[1;32m", "\033[1;31m", "\033[1;33m"}; /* ORDER Tone */
    return codes[tone];
}

static void add_line(Text *to, Str line) {
    while (line.size) {
        const char *tab = memchr(line.data, '\t', line.size);
        size_t size = tab ? (size_t)(tab - line.data) : line.size;
        text_add_plain(to, (Str){line.data, size});
        if (tab)
            text_char(to, ' ');
        line.data += size + (tab != NULL);
        line.size -= size + (tab != NULL);
    }
}

void text_toned(Text *to, Style style, Tone tone, Str text) {
    bool colored = style.color && tone != TONE_PLAIN && text.size;
    if (colored)
        text_addf(to, "%s", tone_code(tone));
    add_line(to, text);
    if (colored)
        text_addf(to, "\033[0m");
}

void text_tonedf(Text *to, Style style, Tone tone, const char *format, ...) {
    Text text = {0};
    va_list arguments;
    va_start(arguments, format);
    text_vaddf(&text, format, arguments);
    va_end(arguments);
    text_toned(to, style, tone, (Str){text.data, text.size});
    to->failed |= text.failed;
    text_free(&text);
}

static void add_spaces(Text *to, size_t count) {
    while (count--)
        text_char(to, ' ');
}

enum { LEAST_LINE = 20 };

void text_wrapped(Text *to, Style style, Tone tone, Str text, size_t used, const char *prefix) {
    for (bool first = true; first || text.size; first = false) {
        size_t room = style.width > used + LEAST_LINE ? style.width - used : LEAST_LINE;
        TableLine line = first_line(text, style.width ? room : 0);
        text_addf(to, "%s", first ? "" : prefix);
        text_toned(to, style, tone, (Str){text.data, line.size});
        text_char(to, '\n');
        text.data += line.next;
        text.size -= line.next;
        used = strlen(prefix);
    }
}

/* ---- Filling a table --------------------------------------------------------------------------- */

Table table_begin(const TableColumn *columns, size_t count) {
    assert(count <= MOST_COLUMNS);
    return (Table){.columns = columns, .column_count = count};
}

void table_free(Table *table) {
    text_free(&table->text);
    free(table->cells);
    *table = (Table){0};
}

Text *table_row(Table *table, Tone tone, Anchor anchor) {
    if (ARRAY_ROOM(table->cells, table->cell_count, table->cell_capacity, 64))
        table->cells[table->cell_count++] = (TableCell){table->text.size, tone, anchor};
    else
        table->text.failed = true;
    return &table->text;
}

Text *table_cell(Table *table, Tone tone) {
    return table_row(table, tone, (Anchor){0});
}

void table_add_texts(Table *table, const char *const *texts, size_t count) {
    for (size_t i = 0; i < count; i++)
        text_addf(table_cell(table, TONE_PLAIN), "%s", texts[i] ? texts[i] : "");
}

void table_add_numbers(Table *table, const int64_t *numbers, size_t count) {
    for (size_t i = 0; i < count; i++) {
        Text *cell = table_cell(table, TONE_PLAIN);
        if (numbers[i] >= 0)
            text_addf(cell, "%" PRId64, numbers[i]);
    }
}

size_t table_rows(const Table *table) {
    return table->cell_count / table->column_count;
}

Str table_text(const Table *table, size_t row, size_t column) {
    size_t i = row * table->column_count + column;
    size_t end = i + 1 < table->cell_count ? table->cells[i + 1].start : table->text.size;
    size_t start = table->cells[i].start;
    return end > start ? (Str){table->text.data + start, end - start} : (Str){"", 0};
}

Tone table_tone(const Table *table, size_t row, size_t column) {
    return table->cells[row * table->column_count + column].tone;
}

Anchor table_anchor(const Table *table, size_t row) {
    return table->cells[row * table->column_count].anchor;
}

bool table_shows(const Table *table, size_t column) {
    bool shows = !table->columns[column].optional;
    for (size_t row = 0; row < table_rows(table) && !shows; row++)
        shows = table_text(table, row, column).size;
    return shows;
}

/* ---- Sharing out the width --------------------------------------------------------------------- */

enum {
    GAP = 2,            /* between columns */
    LONGEST_WORD = 18,  /* a column need not be wider for the sake of a word, */
    LONGEST_PIECE = 12, /* nor, where words are broken, for the sake of a piece of one */
};

typedef struct TableWidths {
    bool shown[MOST_COLUMNS];
    size_t full[MOST_COLUMNS];   /* with no line broken but where the cell says so */
    size_t least[MOST_COLUMNS];  /* with no word broken */
    size_t pieces[MOST_COLUMNS]; /* with words broken only where they may be */
    size_t chosen[MOST_COLUMNS];
    size_t count; /* of columns shown */
} TableWidths;

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

/* The widest part of a line that is not to be broken: a word, or a piece of one. */
static size_t widest_part(Str line, bool pieces) {
    size_t widest = 0, width = 0;
    for (size_t i = 0; i < line.size;) {
        Character character = character_at(line, i);
        width = is_space(line.data[i]) ? 0 : width + character.width;
        widest = larger(widest, width);
        if (pieces && may_break_after(line.data[i]))
            width = 0;
        i += character.size;
    }
    return smaller(widest, pieces ? LONGEST_PIECE : LONGEST_WORD);
}

static void measure(TableWidths *widths, size_t column, Str text) {
    while (text.size) {
        TableLine line = first_line(text, 0);
        Str part = {text.data, line.size};
        widths->full[column] = larger(widths->full[column], line.width);
        widths->least[column] = larger(widths->least[column], widest_part(part, false));
        widths->pieces[column] = larger(widths->pieces[column], widest_part(part, true));
        text.data += line.next;
        text.size -= line.next;
    }
}

static TableWidths measure_all(const Table *table) {
    TableWidths widths = {0};
    for (size_t column = 0; column < table->column_count; column++) {
        widths.shown[column] = table_shows(table, column);
        if (!widths.shown[column])
            continue;
        widths.count++;
        measure(&widths, column, str_of(table->columns[column].title));
        for (size_t row = 0; row < table_rows(table); row++)
            measure(&widths, column, table_text(table, row, column));
    }
    return widths;
}

/* Chooses widths of which none is more than `most`, unless a word needs it; returns what they come to. */
static size_t choose_below(TableWidths *widths, size_t columns, size_t most) {
    size_t sum = 0;
    for (size_t i = 0; i < columns; i++) {
        widths->chosen[i] = smaller(widths->full[i], larger(most, widths->least[i]));
        sum += widths->chosen[i];
    }
    return sum;
}

/* The widest columns give way first. False if the table cannot be made to fit. */
static bool choose_widths(TableWidths *widths, size_t columns, size_t room) {
    size_t low = 0, high = 0;
    for (size_t i = 0; i < columns; i++)
        high = larger(high, widths->full[i]);
    if (!room || choose_below(widths, columns, high) <= room)
        return choose_below(widths, columns, high), true;
    if (choose_below(widths, columns, 0) > room)
        memcpy(widths->least, widths->pieces, sizeof widths->least);
    if (choose_below(widths, columns, 0) > room)
        return false;
    while (low + 1 < high) {
        size_t middle = low + (high - low) / 2;
        if (choose_below(widths, columns, middle) <= room)
            low = middle;
        else
            high = middle;
    }
    size_t left = room - choose_below(widths, columns, low);
    for (size_t i = 0; i < columns && left; i++)
        if (widths->chosen[i] < widths->full[i]) {
            widths->chosen[i]++;
            left--;
        }
    return true;
}

/* ---- Printing ---------------------------------------------------------------------------------- */

/* One row, over as many lines as its longest cell takes. */
static void print_row(const Table *table, const TableWidths *widths, const Str *texts, const Tone *tones, Style style,
                      unsigned indent, Text *to) {
    Str left[MOST_COLUMNS];
    memcpy(left, texts, table->column_count * sizeof *left);
    for (bool more = true; more;) {
        size_t owed = indent; /* spaces that are written only if something follows */
        more = false;
        for (size_t column = 0; column < table->column_count; column++) {
            if (!widths->shown[column])
                continue;
            size_t width = widths->chosen[column];
            TableLine line = first_line(left[column], width ? width : 1);
            size_t space = width > line.width ? width - line.width : 0;
            bool right = column_is_right(&table->columns[column]);
            owed += right ? space : 0;
            if (line.size) {
                add_spaces(to, owed);
                text_toned(to, style, tones[column], (Str){left[column].data, line.size});
                owed = 0;
            }
            owed += (right ? 0 : space) + GAP;
            left[column].data += line.next;
            left[column].size -= line.next;
            more |= left[column].size > 0;
        }
        text_char(to, '\n');
    }
}

static void print_head(const Table *table, const TableWidths *widths, Style style, unsigned indent, Text *to) {
    Str titles[MOST_COLUMNS];
    Tone tones[MOST_COLUMNS];
    for (size_t column = 0; column < table->column_count; column++) {
        titles[column] = str_of(table->columns[column].title);
        tones[column] = TONE_HEAD;
    }
    print_row(table, widths, titles, tones, style, indent, to);
    add_spaces(to, indent);
    for (size_t column = 0, shown = 0; column < table->column_count; column++) {
        if (!widths->shown[column])
            continue;
        for (size_t i = 0; i < widths->chosen[column]; i++)
            text_char(to, '-');
        add_spaces(to, ++shown < widths->count ? GAP : 0);
    }
    text_char(to, '\n');
}

/* A row as a paragraph: its first cell, then the others below each other. */
static void print_record(const Table *table, const TableWidths *widths, size_t row, Style style, unsigned indent,
                         Text *to) {
    size_t title_width = 0;
    for (size_t column = 0; column < table->column_count; column++)
        if (widths->shown[column])
            title_width = larger(title_width, strlen(table->columns[column].title));
    Text prefix = {0};
    add_spaces(&prefix, indent + title_width + GAP);
    text_char(&prefix, 0);
    for (size_t column = 0; column < table->column_count && !prefix.failed; column++) {
        Str text = table_text(table, row, column);
        if (!text.size)
            continue;
        const char *title = table->columns[column].title;
        add_spaces(to, indent);
        text_toned(to, style, TONE_HEAD, str_of(title));
        add_spaces(to, title_width + GAP - strlen(title));
        text_wrapped(to, style, table_tone(table, row, column), text, indent + title_width + GAP, prefix.data);
    }
    text_free(&prefix);
}

void table_print(const Table *table, Style style, unsigned indent, Text *to) {
    to->failed |= table->text.failed;
    size_t rows = table_rows(table);
    if (!rows || to->failed)
        return;
    TableWidths widths = measure_all(table);
    size_t gaps = indent + GAP * (widths.count - 1);
    size_t room = style.width > gaps ? style.width - gaps : 1;
    if (!choose_widths(&widths, table->column_count, style.width ? room : 0)) {
        for (size_t row = 0; row < rows; row++) {
            if (row)
                text_char(to, '\n');
            print_record(table, &widths, row, style, indent, to);
        }
        return;
    }
    print_head(table, &widths, style, indent, to);
    for (size_t row = 0; row < rows; row++) {
        Str texts[MOST_COLUMNS];
        Tone tones[MOST_COLUMNS];
        for (size_t column = 0; column < table->column_count; column++) {
            texts[column] = table_text(table, row, column);
            tones[column] = table_tone(table, row, column);
        }
        print_row(table, &widths, texts, tones, style, indent, to);
    }
}
