/* Text: slices of bytes that belong to something else (`Str`), and a growing buffer to write into (`Text`). */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include "base/arena.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct Str {
    const char *data;
    size_t size;
} Str;

#define STR(literal) ((Str){literal, sizeof(literal) - 1})
#define STR_ARG(s)   (int)((s).size > 200 ? 200 : (s).size), (s).data /* for "%.*s" in messages */

static inline Str str_of(const char *zero_terminated) {
    return (Str){zero_terminated, strlen(zero_terminated)};
}
/* The "s" of as many things. */
static inline const char *plural(int64_t count) {
    return count == 1 ? "" : "s";
}
static inline Str str_between(const char *begin, const char *end) {
    return (Str){begin, (size_t)(end - begin)};
}
/* For texts that are mostly short: two loads that may overlap beat a call of memcmp. */
static inline bool bytes_equal(const char *a, const char *b, size_t size) {
    uint64_t x, y;
    if (size >= 8) {
        for (size_t i = 0; i + 8 < size; i += 8) {
            memcpy(&x, a + i, 8);
            memcpy(&y, b + i, 8);
            if (x != y)
                return false;
        }
        memcpy(&x, a + size - 8, 8);
        memcpy(&y, b + size - 8, 8);
        return x == y;
    }
    if (size >= 4) {
        uint32_t low[2], high[2];
        memcpy(&low[0], a, 4);
        memcpy(&low[1], b, 4);
        memcpy(&high[0], a + size - 4, 4);
        memcpy(&high[1], b + size - 4, 4);
        return low[0] == low[1] && high[0] == high[1];
    }
    for (size_t i = 0; i < size; i++)
        if (a[i] != b[i])
            return false;
    return true;
}
static inline bool str_equal(Str a, Str b) {
    return a.size == b.size && bytes_equal(a.data, b.data, a.size);
}
static inline bool str_is(Str s, const char *zero_terminated) {
    return str_equal(s, str_of(zero_terminated));
}
static inline bool str_starts(Str s, Str prefix) {
    return s.size >= prefix.size && memcmp(s.data, prefix.data, prefix.size) == 0;
}
bool str_ends(Str s, Str suffix);
/* Of a C++ name as compilers write it (_ZN5tools3addEPf) the last part: add. Else the name. */
Str symbol_plain(const char *name);

/* ---- UTF-8 ---- */

/* The size of the character that a text starts with, or 0 if its first bytes are none. Exact, as browsers and parsers
 * are: no overlong forms, no surrogates, nothing past U+10FFFF. The text is not empty. */
size_t utf8_size(Str text, uint32_t *character);
/* Whether it would be seen as something else than it is: controls, and marks that reorder the text around them. */
bool utf8_deceives(uint32_t character);
/* Whether a byte is not the first of its character. */
static inline bool utf8_continues(char byte) {
    return ((unsigned char)byte & 0xc0) == 0x80;
}
/* Characters of a text, or as many of its bytes, at most `most`, as are whole ones. */
size_t utf8_count(Str text);
Str utf8_cut(Str text, size_t most);

/* ---- Numbers ---- */

/* A decimal or 0x number that fills the whole slice; false if it is none or does not fit. */
bool str_to_int(Str s, int64_t *value);

/* Where a full Text goes. Returns false when it cannot be written. */
typedef bool TextSink(void *to, const char *data, size_t size);

/* A buffer that grows, or, with a sink, empties itself into the sink. After `failed` (no memory, or
 * the sink said no) nothing more is kept; the writer checks once at the end. */
typedef struct Text {
    char *data;
    size_t size, capacity;
    TextSink *sink;
    void *to;
    bool failed;
} Text;

void text_add(Text *text, const char *data, size_t size);
void text_addf(Text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vaddf(Text *text, const char *format, va_list arguments);
/* 12345 as "12,345". */
void text_number(Text *text, uint64_t number);
/* "1 barrier", "12345 barriers", "2 launches"; or "12,345 barriers". */
void text_count(Text *text, uint64_t number, const char *one);
void text_number_of(Text *text, uint64_t number, const char *one);
/* "columns 0-63", "column 64": from `begin` up to `end`, which is not of it. */
void text_extent(Text *text, const char *one, int64_t begin, int64_t end);
/* Bytes of an untrusted file for a terminal: controls, and what is no UTF-8, become '?'. */
void text_add_plain(Text *text, Str s);
/* printf of %s, which goes through text_add_plain and may be NULL, of whole numbers (%u, %d, %zu, PRIu64, PRId64), and
 * of
 * %%. */
void text_plainf(Text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same with another way to make a text harmless. */
void text_vescapef(Text *text, void (*escape)(Text *text, Str s), const char *format, va_list arguments);
/* Hand what is held to the sink. False if anything failed since the start. */
bool text_flush(Text *text);
void text_free(Text *text);
/* What was built up, as a string in an arena; frees it. */
const char *text_keep(Text *text, Arena *arena);

static inline void text_str(Text *text, Str s) {
    text_add(text, s.data, s.size);
}
static inline void text_char(Text *text, char c) {
    if (text->size < text->capacity)
        text->data[text->size++] = c;
    else
        text_add(text, &c, 1);
}

static inline bool str_mentions(Str text, Str word) {
    return memmem(text.data, text.size, word.data, word.size) != NULL;
}
/* The next word of a text whose words stand between blanks: of a column of the op table, or of a list of keywords.
 * Brackets and semicolons are words of their own. Empty at the end. */
Str str_next_word(const char **at);

#endif
