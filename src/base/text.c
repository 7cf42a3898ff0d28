/* The growing buffer, numbers, and what may go to a terminal. */
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>

bool str_ends(Str s, Str suffix) {
    return s.size >= suffix.size && memcmp(s.data + s.size - suffix.size, suffix.data, suffix.size) == 0;
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

/* The size of the UTF-8 character at `at`, or 0 if the bytes there are none, or a control. */
static size_t utf8_size(const unsigned char *at, size_t left) {
    size_t size = at[0] < 0x80                    ? 1
                  : at[0] >= 0xc2 && at[0] < 0xe0 ? 2
                  : at[0] >= 0xe0 && at[0] < 0xf0 ? 3
                  : at[0] >= 0xf0 && at[0] < 0xf5 ? 4
                                                  : 0;
    if (size > left || (size == 1 && (at[0] < 0x20 || at[0] == 0x7f)) || (size == 2 && at[0] == 0xc2 && at[1] < 0xa0))
        return 0;
    for (size_t i = 1; i < size; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    return size;
}

void text_add_plain(Text *text, Str s) {
    for (size_t i = 0; i < s.size;) {
        size_t size = utf8_size((const unsigned char *)s.data + i, s.size - i);
        if (size)
            text_add(text, s.data + i, size);
        else
            text_char(text, s.data[i] == '\t' ? '\t' : '?');
        i += size ? size : 1;
    }
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

const char *text_keep(Text *text, Arena *arena) {
    const char *kept = arena_copy(arena, text->data ? text->data : "", text->size);
    text_free(text);
    return kept;
}

Str str_next_word(const char **at) {
    while (**at == ' ')
        ++*at;
    const char *start = *at;
    if (*start && strchr("[];", *start)) {
        ++*at;
    } else {
        while (**at && !strchr(" [];", **at))
            ++*at;
    }
    return str_between(start, *at);
}
