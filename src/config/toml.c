/* The reader of TOML: one pass over the text, a table that is current, and where keys lead from it. */
#include "config/toml.h"

#include <inttypes.h>

typedef struct TomlReader {
    Arena *arena;
    Source *source;
    Diagnostics *diagnostics;
    const char *at, *end;
    size_t entries;
    unsigned depth; /* of arrays and inline tables */
    TomlValue *root;
} TomlReader;

/* A key, and where it stands. */
typedef struct TomlKey {
    Str text;
    size_t offset;
} TomlKey;

static size_t offset_of(const TomlReader *reader, const char *at) {
    return (size_t)(at - reader->source->data);
}

__attribute__((format(printf, 3, 4))) static bool fail_at(TomlReader *reader, size_t offset, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    diagnostics_vadd(reader->diagnostics, SEVERITY_ERROR, reader->source, offset, format, arguments);
    va_end(arguments);
    return false;
}

#define FAIL(reader, ...) fail_at(reader, offset_of(reader, (reader)->at), __VA_ARGS__)

const char *toml_kind_name(TomlKind kind) {
    static const char *const names[] = {"a string", "an integer", "true or false", "an array", "a table"};
    return names[kind]; /* ORDER TomlKind */
}

/* ---- Blanks ------------------------------------------------------------------------------------- */

/* The source has zero bytes behind its end, so one byte ahead can always be looked at. */
static bool is_newline(const TomlReader *reader) {
    return *reader->at == '\n' || (*reader->at == '\r' && reader->at[1] == '\n');
}

static void skip_spaces(TomlReader *reader) {
    while (*reader->at == ' ' || *reader->at == '\t')
        reader->at++;
}

/* A comment, up to the end of its line. */
static void skip_comment(TomlReader *reader) {
    if (*reader->at == '#')
        while (reader->at < reader->end && !is_newline(reader))
            reader->at++;
}

/* Spaces, comments and ends of lines, as between the elements of an array. */
static void skip_blank(TomlReader *reader) {
    for (;;) {
        skip_spaces(reader);
        skip_comment(reader);
        if (reader->at == reader->end || !is_newline(reader))
            return;
        reader->at += *reader->at == '\r' ? 2 : 1;
    }
}

/* Nothing more is on the line but a comment. */
static bool end_line(TomlReader *reader, const char *after) {
    skip_spaces(reader);
    skip_comment(reader);
    if (reader->at == reader->end || is_newline(reader))
        return true;
    return FAIL(reader, "a line must end after %s", after);
}

/* ---- Strings ------------------------------------------------------------------------------------ */

static void add_character(Text *text, uint32_t character) {
    if (character < 0x80) {
        text_char(text, (char)character);
        return;
    }
    unsigned more = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
    static const unsigned char leads[] = {0, 0xc0, 0xe0, 0xf0};
    text_char(text, (char)(leads[more] | character >> 6 * more));
    while (more--)
        text_char(text, (char)(0x80 | (character >> 6 * more & 0x3f)));
}

/* \u12ab or \U0012abcd, of which `at` is past the letter. */
static bool read_code(TomlReader *reader, unsigned digits, Text *text) {
    const char *start = reader->at - 2;
    uint32_t character = 0;
    for (; digits; digits--, reader->at++) {
        char c = *reader->at;
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                         : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                                : 16;
        if (digit == 16)
            return FAIL(reader, "\\u takes 4 hexadecimal digits, and \\U takes 8");
        character = character << 4 | digit;
    }
    if (character == 0)
        return fail_at(reader, offset_of(reader, start), "a string may not hold a zero byte");
    if (character > 0x10ffff || (character >= 0xd800 && character < 0xe000))
        return fail_at(reader, offset_of(reader, start), "there is no such character");
    add_character(text, character);
    return true;
}

/* A backslash at the end of a line of a multi-line string takes away what is blank up to the next text. */
static bool skips_line(TomlReader *reader) {
    const char *before = reader->at;
    skip_spaces(reader);
    if (!is_newline(reader)) {
        reader->at = before;
        return false;
    }
    while (*reader->at == ' ' || *reader->at == '\t' || is_newline(reader))
        reader->at++; /* the '\r' of "\r\n", then its '\n' */
    return true;
}

static bool read_escape(TomlReader *reader, bool lines, Text *text) {
    static const char letters[] = "btnfr\"\\", characters[] = "\b\t\n\f\r\"\\";
    reader->at++;
    if (lines && skips_line(reader))
        return true;
    char letter = *reader->at;
    const char *found = letter ? strchr(letters, letter) : NULL;
    if (!found && letter != 'u' && letter != 'U')
        return FAIL(reader, "a backslash must be followed by b, t, n, f, r, \", \\, u or U; in '...' it is literal");
    reader->at++;
    if (!found)
        return read_code(reader, letter == 'u' ? 4 : 8, text);
    text_char(text, characters[found - letters]);
    return true;
}

static size_t count_quotes(const TomlReader *reader, char quote) {
    size_t count = 0;
    while (reader->at[count] == quote)
        count++;
    return count;
}

/* What is between the quotes, and past the last of them; false: it is wrong. */
static bool read_quoted(TomlReader *reader, char quote, bool lines, Text *text) {
    const char *start = reader->at - (lines ? 3 : 1);
    for (;;) {
        if (reader->at == reader->end || (!lines && is_newline(reader)))
            return fail_at(reader, offset_of(reader, start), "this string does not end");
        if (*reader->at == '\\' && quote == '"') {
            if (!read_escape(reader, lines, text))
                return false;
            continue;
        }
        size_t quotes = count_quotes(reader, quote);
        if (quotes && !lines) {
            reader->at++;
            return true;
        }
        if (quotes >= 3) { /* up to two belong to the text */
            if (quotes > 5)
                return FAIL(reader, "there are too many quotes here");
            text_add(text, reader->at, quotes - 3);
            reader->at += quotes;
            return true;
        }
        if (*reader->at == '\r' && lines) { /* a line ends the same everywhere */
            reader->at++;
            continue;
        }
        text_char(text, *reader->at++);
    }
}

static bool read_string(TomlReader *reader, Str *to) {
    char quote = *reader->at;
    bool lines = reader->at[1] == quote && reader->at[2] == quote;
    Text text = {0};
    reader->at += lines ? 3 : 1;
    if (lines && is_newline(reader))
        reader->at += *reader->at == '\r' ? 2 : 1;
    bool good = read_quoted(reader, quote, lines, &text);
    if (good && text.failed)
        good = FAIL(reader, "there is not enough memory");
    if (good) {
        size_t size = text.size;
        *to = (Str){text_keep(&text, reader->arena), size};
    } else {
        text_free(&text);
    }
    return good;
}

/* ---- Keys --------------------------------------------------------------------------------------- */

static bool is_bare(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

static bool read_key(TomlReader *reader, TomlKey *key) {
    *key = (TomlKey){.offset = offset_of(reader, reader->at)};
    if (*reader->at == '"' || *reader->at == '\'') {
        if (reader->at[1] == *reader->at && reader->at[2] == *reader->at)
            return FAIL(reader, "a key must be on one line");
        return read_string(reader, &key->text);
    }
    const char *start = reader->at;
    while (is_bare(*reader->at))
        reader->at++;
    key->text = str_between(start, reader->at);
    return key->text.size || FAIL(reader, "a key is expected here: letters, digits, '_' and '-', or a string");
}

static TomlEntry *find(const TomlValue *table, Str key) {
    TomlEntry *entry = table->first;
    while (entry && !str_equal(entry->key, key))
        entry = entry->next;
    return entry;
}

/* A new member or element at the end; NULL: there are too many. */
static TomlEntry *add(TomlReader *reader, TomlValue *to, TomlKey key, TomlValue value) {
    if (reader->entries++ == TOML_MOST_ENTRIES) {
        fail_at(reader, key.offset, "there are more than %d values", TOML_MOST_ENTRIES);
        return NULL;
    }
    TomlEntry *entry = ARENA_NEW(reader->arena, TomlEntry);
    *entry = (TomlEntry){.key = key.text, .key_offset = key.offset, .value = value};
    *(to->last ? &to->last->next : &to->first) = entry;
    to->last = entry;
    to->count++;
    return entry;
}

static TomlEntry *add_table(TomlReader *reader, TomlValue *to, TomlKey key, TomlOrigin origin) {
    return add(reader, to, key, (TomlValue){.kind = TOML_TABLE, .offset = key.offset, .origin = origin});
}

/* ---- Values ------------------------------------------------------------------------------------- */

static bool read_value(TomlReader *reader, TomlValue *value);
static bool read_member(TomlReader *reader, TomlValue *table);

static bool deeper(TomlReader *reader) {
    return ++reader->depth <= TOML_DEEPEST || FAIL(reader, "this is nested more than %d deep", TOML_DEEPEST);
}

static bool read_array(TomlReader *reader, TomlValue *value) {
    value->kind = TOML_ARRAY;
    if (!deeper(reader))
        return false;
    reader->at++;
    for (skip_blank(reader); *reader->at != ']'; skip_blank(reader)) {
        TomlValue element = {0};
        TomlKey none = {{"", 0}, offset_of(reader, reader->at)};
        if (!read_value(reader, &element) || !add(reader, value, none, element))
            return false;
        skip_blank(reader);
        if (*reader->at == ',')
            reader->at++;
        else if (*reader->at != ']')
            return FAIL(reader, "expected ',' or ']' in an array");
    }
    reader->at++;
    reader->depth--;
    return true;
}

static bool read_inline_table(TomlReader *reader, TomlValue *value) {
    value->kind = TOML_TABLE;
    value->origin = TOML_HEADER; /* until it is complete */
    if (!deeper(reader))
        return false;
    reader->at++;
    skip_spaces(reader);
    for (bool more = *reader->at != '}'; more;) {
        skip_spaces(reader);
        if (!read_member(reader, value))
            return false;
        skip_spaces(reader);
        more = *reader->at == ',';
        reader->at += more;
    }
    if (*reader->at != '}')
        return FAIL(reader, "an inline table must be on one line: expected ',' or '}'");
    reader->at++;
    reader->depth--;
    value->origin = TOML_INLINE;
    return true;
}

/* Digits of a base, with '_' between two of them; false: they are none, or too many. */
static bool read_digits(TomlReader *reader, unsigned base, bool negative, int64_t *integer) {
    const char *start = reader->at;
    uint64_t value = 0, most = negative ? (uint64_t)1 << 63 : INT64_MAX;
    for (bool digit_before = false;; reader->at++) {
        char c = *reader->at;
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                         : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                                : 99;
        bool is_digit = digit < base;
        if (!is_digit && c != '_')
            break;
        if (c == '_' && !digit_before)
            return FAIL(reader, "'_' must be between two digits of a number");
        digit_before = is_digit;
        if (is_digit && (value > most / base || value * base > most - digit))
            return fail_at(reader, offset_of(reader, start), "this number does not fit in 64 bits");
        value = is_digit ? value * base + digit : value;
    }
    if (reader->at == start || reader->at[-1] == '_')
        return FAIL(reader, "a digit is expected here");
    *integer = negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}

static unsigned base_of(const char *at) {
    return at[0] != '0' ? 10 : at[1] == 'x' ? 16 : at[1] == 'o' ? 8 : at[1] == 'b' ? 2 : 10;
}

static bool read_integer(TomlReader *reader, TomlValue *value) {
    const char *start = reader->at;
    bool sign = *start == '-' || *start == '+';
    reader->at += sign;
    unsigned base = sign ? 10 : base_of(reader->at);
    reader->at += base == 10 ? 0 : 2;
    const char *digits = reader->at;
    value->kind = TOML_INTEGER;
    if (!read_digits(reader, base, *start == '-', &value->integer))
        return false;
    if (base == 10 && *reader->at && strchr(".eE-:", *reader->at))
        return fail_at(reader, offset_of(reader, start),
                       "floating-point numbers, dates and times are not accepted "
                       "here");
    if (base == 10 && *digits == '0' && reader->at > digits + 1)
        return fail_at(reader, offset_of(reader, start), "a number must not start with 0");
    return true;
}

/* true, false, and what is none. */
static bool read_word(TomlReader *reader, TomlValue *value) {
    const char *start = reader->at;
    while (is_bare(*reader->at))
        reader->at++;
    Str word = str_between(start, reader->at);
    value->kind = TOML_BOOLEAN;
    value->truth = str_is(word, "true");
    if (value->truth || str_is(word, "false"))
        return true;
    if (!word.size)
        return FAIL(reader, "a value is expected here");
    return fail_at(reader, offset_of(reader, start),
                   "'%.*s' is not a value: a string needs quotes, and true and false are lowercase", STR_ARG(word));
}

static bool read_value(TomlReader *reader, TomlValue *value) {
    char c = *reader->at;
    *value = (TomlValue){.offset = offset_of(reader, reader->at)};
    switch (c) {
    case '"':
    case '\'':
        value->kind = TOML_STRING;
        return read_string(reader, &value->text);
    case '[':
        return read_array(reader, value);
    case '{':
        return read_inline_table(reader, value);
    default:
        if ((c >= '0' && c <= '9') || ((c == '+' || c == '-') && reader->at[1] >= '0' && reader->at[1] <= '9'))
            return read_integer(reader, value);
        return read_word(reader, value);
    }
}

/* ---- Members and headers ------------------------------------------------------------------------ */

/* Down to the table that a part of a dotted key names. */
static TomlValue *enter_dotted(TomlReader *reader, TomlValue *table, TomlKey key) {
    TomlEntry *entry = find(table, key.text);
    if (!entry)
        entry = add_table(reader, table, key, TOML_DOTTED);
    else if (entry->value.kind != TOML_TABLE || entry->value.origin != TOML_DOTTED)
        entry = (fail_at(reader, key.offset, "'%.*s' is already defined, and cannot be extended by dotted keys",
                         STR_ARG(key.text)),
                 NULL);
    return entry ? &entry->value : NULL;
}

/* KEY = VALUE, and KEY may be A.B.C. */
static bool read_member(TomlReader *reader, TomlValue *table) {
    TomlKey key;
    if (!read_key(reader, &key))
        return false;
    for (skip_spaces(reader); *reader->at == '.'; skip_spaces(reader)) {
        table = enter_dotted(reader, table, key);
        reader->at++;
        skip_spaces(reader);
        if (!table || !read_key(reader, &key))
            return false;
    }
    if (*reader->at != '=')
        return FAIL(reader, "'=' is expected after a key");
    reader->at++;
    skip_spaces(reader);
    if (find(table, key.text))
        return fail_at(reader, key.offset, "'%.*s' is already defined", STR_ARG(key.text));
    TomlValue value;
    return read_value(reader, &value) && add(reader, table, key, value) != NULL;
}

/* Down to the table that a part of a header names, which is not its last one. */
static TomlValue *enter_header(TomlReader *reader, TomlValue *table, TomlKey key) {
    TomlEntry *entry = find(table, key.text);
    if (!entry)
        entry = add_table(reader, table, key, TOML_IMPLIED);
    else if (entry->value.of_tables)
        entry = entry->value.last;
    else if (entry->value.kind != TOML_TABLE || entry->value.origin == TOML_INLINE)
        entry = (fail_at(reader, key.offset, "'%.*s' is already defined, and cannot be extended by headers",
                         STR_ARG(key.text)),
                 NULL);
    return entry ? &entry->value : NULL;
}

/* [a.b]: a table that had no header before. */
static TomlValue *open_table(TomlReader *reader, TomlValue *in, TomlKey key) {
    TomlEntry *entry = find(in, key.text);
    if (!entry)
        entry = add_table(reader, in, key, TOML_HEADER);
    else if (entry->value.kind != TOML_TABLE || entry->value.origin != TOML_IMPLIED)
        entry = (fail_at(reader, key.offset, "'%.*s' is already defined", STR_ARG(key.text)), NULL);
    if (entry)
        entry->value.origin = TOML_HEADER;
    return entry ? &entry->value : NULL;
}

/* [[a.b]]: one more table of an array. */
static TomlValue *open_element(TomlReader *reader, TomlValue *in, TomlKey key) {
    TomlEntry *entry = find(in, key.text);
    if (entry && !entry->value.of_tables) {
        fail_at(reader, key.offset, "'%.*s' is already defined, and is not an array of tables", STR_ARG(key.text));
        return NULL;
    }
    if (!entry)
        entry = add(reader, in, key, (TomlValue){.kind = TOML_ARRAY, .offset = key.offset, .of_tables = true});
    TomlEntry *element = entry ? add_table(reader, &entry->value, (TomlKey){{"", 0}, key.offset}, TOML_HEADER) : NULL;
    return element ? &element->value : NULL;
}

/* The table that a header names; NULL: it is wrong. */
static TomlValue *read_header(TomlReader *reader) {
    bool many = reader->at[1] == '[';
    TomlValue *table = reader->root;
    TomlKey key;
    unsigned parts = 0;
    reader->at += many ? 2 : 1;
    for (;; reader->at++) {
        skip_spaces(reader);
        if (!read_key(reader, &key))
            return NULL;
        skip_spaces(reader);
        if (*reader->at != '.')
            break;
        if (++parts == TOML_DEEPEST) {
            FAIL(reader, "this is nested more than %d deep", TOML_DEEPEST);
            return NULL;
        }
        if (!(table = enter_header(reader, table, key)))
            return NULL;
    }
    if (*reader->at != ']' || (many && reader->at[1] != ']')) {
        FAIL(reader, many ? "']]' is expected here" : "']' is expected here");
        return NULL;
    }
    reader->at += many ? 2 : 1;
    return many ? open_element(reader, table, key) : open_table(reader, table, key);
}

/* ---- The file ----------------------------------------------------------------------------------- */

/* Text is UTF-8 without controls, also in comments. */
static bool check_text(TomlReader *reader) {
    if (reader->source->size > TOML_LARGEST)
        return FAIL(reader, "a project file has at most %d bytes", TOML_LARGEST);
    for (const char *at = reader->at; at < reader->end;) {
        uint32_t character = 0;
        size_t size = utf8_size(str_between(at, reader->end), &character);
        if (!size)
            return fail_at(reader, offset_of(reader, at), "this is not UTF-8");
        bool line_end = character == '\n' || (character == '\r' && at[1] == '\n');
        if ((character < 0x20 && character != '\t' && !line_end) || character == 0x7f)
            return fail_at(reader, offset_of(reader, at), "a control character is not allowed here");
        at += size;
    }
    return true;
}

const TomlValue *toml_read(Arena *arena, Source *source, Diagnostics *diagnostics) {
    TomlValue *root = ARENA_NEW(arena, TomlValue), *table = root;
    TomlReader reader = {.arena = arena,
                         .source = source,
                         .diagnostics = diagnostics,
                         .at = source->data,
                         .end = source->data + source->size,
                         .root = root};
    *root = (TomlValue){.kind = TOML_TABLE, .origin = TOML_HEADER};
    if (!check_text(&reader))
        return NULL;
    for (skip_blank(&reader); reader.at < reader.end; skip_blank(&reader)) {
        bool header = *reader.at == '[';
        if (header && !(table = read_header(&reader)))
            return NULL;
        if (!header && !read_member(&reader, table))
            return NULL;
        if (!end_line(&reader, header ? "a header" : "a value"))
            return NULL;
    }
    return root;
}
