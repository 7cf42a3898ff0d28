/* The growing buffer, numbers, and what may go to a terminal. */
#include "base/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool str_ends(Str s, Str suffix) {
    return s.size >= suffix.size && memcmp(s.data + s.size - suffix.size, suffix.data, suffix.size) == 0;
}

Str symbol_plain(const char *name) {
    if (strncmp(name, "_Z", 2) != 0)
        return str_of(name);
    Str last = str_of(name);
    const char *at = name + 2;
    while (*at && isupper((unsigned char)*at)) /* N, and qualifiers; L of what is internal */
        at++;
    while (isdigit((unsigned char)*at)) {
        char *end;
        unsigned long size = strtoul(at, &end, 10);
        if (size > strlen(end))
            break;
        last = (Str){end, size};
        at = end + size;
    }
    return last;
}

static int digit_value(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

bool str_to_int(Str s, int64_t *value) {
    bool negative = s.size && s.data[0] == '-';
    size_t i = negative;
    unsigned base = 10;
    if (s.size > i + 2 && s.data[i] == '0' && (s.data[i + 1] | 0x20) == 'x') {
        base = 16;
        i += 2;
    }
    if (i >= s.size)
        return false;
    uint64_t sum = 0;
    for (; i < s.size; i++) {
        unsigned digit = (unsigned)digit_value(s.data[i]);
        if (digit >= base || __builtin_mul_overflow(sum, (uint64_t)base, &sum) ||
            __builtin_add_overflow(sum, (uint64_t)digit, &sum))
            return false;
    }
    if (sum > (uint64_t)INT64_MAX + negative)
        return false;
    *value = negative ? (int64_t)(0 - sum) : (int64_t)sum;
    return true;
}

enum { SINK_SIZE = 64 << 10 };

static bool reserve(Text *text, size_t more) {
    if (text->failed)
        return false;
    if (text->capacity - text->size >= more)
        return true;
    if (text->sink && text->size && !text_flush(text))
        return false;
    if (text->capacity - text->size >= more)
        return true;
    size_t capacity = text->capacity ? text->capacity * 2 : (text->sink ? SINK_SIZE : 256);
    if (capacity < text->size + more)
        capacity = text->size + more;
    char *data = realloc(text->data, capacity);
    if (!data) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->capacity = capacity;
    return true;
}

void text_add(Text *text, const char *data, size_t size) {
    if (!size || !reserve(text, size))
        return;
    memcpy(text->data + text->size, data, size);
    text->size += size;
}

void text_vaddf(Text *text, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int size = vsnprintf(NULL, 0, format, arguments);
    if (size >= 0 && reserve(text, (size_t)size + 1)) {
        vsnprintf(text->data + text->size, (size_t)size + 1, format, again);
        text->size += (size_t)size;
    }
    va_end(again);
}

void text_addf(Text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    text_vaddf(text, format, arguments);
    va_end(arguments);
}

void text_number(Text *text, uint64_t number) {
    char digits[32];
    size_t start = sizeof digits - 1, count = 0;
    digits[start] = 0;
    do {
        if (count && count % 3 == 0)
            digits[--start] = ',';
        digits[--start] = (char)('0' + number % 10);
        count++;
    } while (number /= 10);
    text_addf(text, "%s", digits + start);
}

static void add_noun(Text *text, uint64_t number, const char *one) {
    text_addf(text, " %s%s", one, number == 1 ? "" : str_ends(str_of(one), STR("ch")) || str_ends(str_of(one), STR("ss")) ? "es" : "s");
}

void text_count(Text *text, uint64_t number, const char *one) {
    text_addf(text, "%" PRIu64, number);
    add_noun(text, number, one);
}

void text_number_of(Text *text, uint64_t number, const char *one) {
    text_number(text, number);
    add_noun(text, number, one);
}

void text_extent(Text *text, const char *one, int64_t begin, int64_t end) {
    text_addf(text, end == begin + 1 ? "%s %lld" : "%ss %lld", one, (long long)begin);
    if (end != begin + 1)
        text_addf(text, "-%lld", (long long)end - 1);
}

/* ---- UTF-8 ------------------------------------------------------------------------------------- */

size_t utf8_size(Str text, uint32_t *character) {
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *at = (const unsigned char *)text.data;
    size_t size = at[0] < 0x80 ? 1 : (at[0] & 0xe0) == 0xc0 ? 2 : (at[0] & 0xf0) == 0xe0 ? 3 : 4;
    if (size > text.size || (size == 4 && (at[0] & 0xf8) != 0xf0))
        return 0;
    uint32_t code = size == 1 ? at[0] : at[0] & (0xffu >> (size + 1));
    for (size_t i = 1; i < size; i++) {
        if (!utf8_continues(text.data[i]))
            return 0;
        code = code << 6 | (at[i] & 0x3f);
    }
    *character = code;
    return code < smallest[size] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0 : size;
}

size_t utf8_count(Str text) {
    size_t count = 0;
    for (size_t i = 0; i < text.size; i++)
        count += !utf8_continues(text.data[i]);
    return count;
}

Str utf8_cut(Str text, size_t most) {
    if (text.size <= most)
        return text;
    while (most && utf8_continues(text.data[most]))
        most--;
    return (Str){text.data, most};
}

static bool is_control(uint32_t character) {
    return character < 0x20 || (character >= 0x7f && character < 0xa0);
}

bool utf8_deceives(uint32_t c) {
    return (is_control(c) && c != '\n' && c != '\t') || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069) || c == 0xfeff || (c & 0xfffe) == 0xfffe;
}

void text_add_plain(Text *text, Str s) {
    for (size_t i = 0; i < s.size;) {
        uint32_t character = 0;
        size_t size = utf8_size((Str){s.data + i, s.size - i}, &character);
        if (is_control(character))
            size = 0;
        if (size)
            text_add(text, s.data + i, size);
        else
            text_char(text, s.data[i] == '\t' ? '\t' : '?');
        i += size ? size : 1;
    }
}

/* Numbers are as wide as their modifier says: none, or one of the 64 bits that z, l and ll all have. */
void text_vescapef(Text *text, void (*escape)(Text *text, Str s), const char *format, va_list arguments) {
    for (const char *at = format; *at; at++) {
        if (*at != '%' || *++at == '%') {
            text_char(text, *at);
            continue;
        }
        if (*at == 's') {
            const char *string = va_arg(arguments, const char *);
            escape(text, str_of(string ? string : ""));
            continue;
        }
        bool wide = *at == 'l' || *at == 'z';
        at += strspn(at, "lz");
        if (*at == 'u')
            text_addf(text, "%" PRIu64, wide ? va_arg(arguments, uint64_t) : va_arg(arguments, unsigned));
        else
            text_addf(text, "%" PRId64, wide ? va_arg(arguments, int64_t) : va_arg(arguments, int));
    }
}

void text_plainf(Text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    text_vescapef(text, text_add_plain, format, arguments);
    va_end(arguments);
}

bool text_flush(Text *text) {
    if (!text->failed && text->sink && text->size) {
        if (!text->sink(text->to, text->data, text->size))
            text->failed = true;
        text->size = 0;
    }
    return !text->failed;
}

void text_free(Text *text) {
    free(text->data);
    *text = (Text){0};
}

/* Where the arena is exhausted, the text is freed on the way out. */
const char *text_keep(Text *text, Arena *arena) {
    jmp_buf exhausted, *outer = arena->exhausted;
    if (outer && setjmp(exhausted) != 0) {
        arena->exhausted = outer;
        text_free(text);
        longjmp(*outer, 1);
    }
    arena->exhausted = outer ? &exhausted : NULL;
    const char *kept = arena_copy(arena, text->data ? text->data : "", text->size);
    arena->exhausted = outer;
    text_free(text);
    return kept;
}

static bool stands_alone(char letter) {
    return letter == '[' || letter == ']' || letter == ';';
}

Str str_next_word(const char **at) {
    const char *start = *at;
    while (*start == ' ')
        start++;
    const char *end = start;
    if (stands_alone(*end))
        end++;
    else
        while (*end && *end != ' ' && !stands_alone(*end))
            end++;
    *at = end;
    return str_between(start, end);
}
