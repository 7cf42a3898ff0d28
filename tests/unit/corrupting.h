/* Certificates with a fault: what kinds of faults there are, and which of them change nothing. */
#ifndef TESTS_UNIT_CORRUPTING_H
#define TESTS_UNIT_CORRUPTING_H

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

typedef enum Corruption {
    CORRUPT_NUMBER,   /* another number: a factor, a period, a place */
    CORRUPT_ATOM,     /* another atom */
    CORRUPT_SIGN,     /* a + b for a - b */
    CORRUPT_DROP,     /* a line less */
    CORRUPT_PAIR,     /* a pair less */
    CORRUPT_WHERE,    /* a precondition less */
    CORRUPT_BOUND,    /* a bound that is not as tight */
    CORRUPT_RUN,      /* a run less, or one that speaks for more */
    CORRUPT_TWICE,    /* a line more */
    CORRUPT_EXCHANGE, /* two lines exchanged */
    CORRUPT_WORD,     /* another word of those that there are */
    CORRUPT_END,      /* the end is missing */
    CORRUPT_BYTES,    /* other bytes */
    CORRUPTIONS
} Corruption;

static const char *const corruption_names[CORRUPTIONS] = {"number",       "atom",  "sign", "line",  "pair",
                                                          "precondition", "bound", "run",  "twice", "exchange",
                                                          "word",         "end",   "bytes"};

static inline uint32_t corrupt_pick(uint64_t *seed, uint32_t below) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return below ? (uint32_t)((*seed >> 33) % below) : 0;
}

/* Line `number` of the text; empty: there are not so many. */
static inline Str corrupt_line(Str text, uint32_t number) {
    const char *at = text.data, *end = text.data + text.size;
    for (; at < end; number--) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        newline = newline ? newline + 1 : end;
        if (!number)
            return str_between(at, newline);
        at = newline;
    }
    return (Str){end, 0};
}

/* A line that begins so, by chance, behind the first one; empty: there is none. */
static inline Str corrupt_line_of(Str text, const char *head, uint64_t *seed) {
    uint32_t found = 0;
    Str chosen = {text.data + text.size, 0};
    for (uint32_t i = 1;; i++) {
        Str line = corrupt_line(text, i);
        if (!line.size)
            return chosen;
        if (str_starts(line, str_of(head)) && corrupt_pick(seed, ++found) == 0)
            chosen = line;
    }
}

/* A place in the text where one of the characters stands, by chance; NULL: there is none. */
static inline const char *corrupt_place(Str text, const char *characters, uint64_t *seed) {
    const char *chosen = NULL;
    uint32_t found = 0;
    for (const char *at = text.data; at < text.data + text.size; at++)
        if (strchr(characters, *at) && *at && corrupt_pick(seed, ++found) == 0)
            chosen = at;
    return chosen;
}

/* text with `with` in place of `part`. */
static inline void corrupt_replace(Str text, Str part, Str with, Text *to) {
    text_add(to, text.data, (size_t)(part.data - text.data));
    text_str(to, with);
    text_add(to, part.data + part.size, (size_t)(text.data + text.size - part.data - part.size));
}

static inline void corrupt_number(Str text, Str within, bool atom, uint64_t *seed, Text *to) {
    char number[32];
    const char *at = NULL;
    for (unsigned tries = 0; tries < 50 && !at; tries++) {
        at = corrupt_place(within, atom ? "a" : "0123456789", seed);
        at = at && atom && (at + 1 == text.data + text.size || at[1] < '0' || at[1] > '9') ? NULL : at;
    }
    if (!at)
        return;
    at += atom;
    while (at > text.data && at[-1] >= '0' && at[-1] <= '9')
        at--;
    const char *end = at;
    while (end < text.data + text.size && *end >= '0' && *end <= '9')
        end++;
    int64_t was = strtoll(at, NULL, 10);
    const int64_t others[] = {was + 1, was ? was - 1 : 1, 2 * was, was / 2, 0, was + 64, -was};
    snprintf(number, sizeof number, "%" PRId64, others[corrupt_pick(seed, atom ? 6 : 7)]);
    corrupt_replace(text, str_between(at, end), str_of(number), to);
}

static inline void corrupt_word(Str text, uint64_t *seed, Text *to) {
    static const char *const words[] = {"known",  "pinned", "one",       "where",   "free",    "up",       "down",
                                        "speaks", "alone",  "none",      "same",    "ordered", "programs", "program",
                                        "lane",   "divide", "remainder", "minimum", "maximum", "shape",    "stride",
                                        "equal",  "least",  "nest",      "apart"};
    enum { WORDS = sizeof words / sizeof *words };
    for (unsigned tries = 0; tries < 50; tries++) {
        const char *was = words[corrupt_pick(seed, WORDS)], *with = words[corrupt_pick(seed, WORDS)];
        Str rest = {text.data + corrupt_pick(seed, (uint32_t)text.size), 0};
        rest.size = (size_t)(text.data + text.size - rest.data);
        const char *at = memmem(rest.data, rest.size, was, strlen(was));
        if (at && strcmp(was, with) != 0) {
            corrupt_replace(text, (Str){at, strlen(was)}, str_of(with), to);
            return;
        }
    }
}

/* The text with that fault. False: there is nothing of the kind in it, or nothing changed. */
static inline bool corrupt(Str text, Corruption kind, uint64_t *seed, Text *to) {
    Str behind = corrupt_line(text, 1), part;
    behind.size = (size_t)(text.data + text.size - behind.data);
    part = corrupt_line_of(text, "", seed);
    to->size = 0;
    switch (kind) {
    case CORRUPT_NUMBER:
    case CORRUPT_ATOM:
        corrupt_number(text, behind, kind == CORRUPT_ATOM, seed, to);
        break;
    case CORRUPT_SIGN: {
        const char *at = corrupt_place(behind, "+-", seed);
        if (at)
            corrupt_replace(text, (Str){at, 1}, str_of(*at == '+' ? "-" : "+"), to);
        break;
    }
    case CORRUPT_WHERE:
        part = corrupt_line_of(text, corrupt_pick(seed, 2) ? "where" : "free", seed);
        corrupt_replace(text, part, (Str){"", 0}, to);
        break;
    case CORRUPT_BOUND:
        part = corrupt_line_of(text, "bound", seed);
        if (part.size && corrupt_pick(seed, 2))
            corrupt_replace(text, part, (Str){"", 0}, to);
        else
            corrupt_number(text, part, false, seed, to);
        break;
    case CORRUPT_RUN:
        part = corrupt_line_of(text, corrupt_pick(seed, 3) ? "run" : "count", seed);
        if (part.size && corrupt_pick(seed, 2))
            corrupt_replace(text, part, (Str){"", 0}, to);
        else
            corrupt_number(text, part, false, seed, to);
        break;
    case CORRUPT_PAIR: {
        part = corrupt_line_of(text, "pair", seed);
        const char *end = part.data + part.size, *all = text.data + text.size;
        while (part.size && end < all && !str_starts(str_between(end, all), STR("pair")) &&
               !str_starts(str_between(end, all), STR("end")))
            end = (const char *)memchr(end, '\n', (size_t)(all - end)) + 1;
        part.size = (size_t)(end - part.data);
        corrupt_replace(text, part, (Str){"", 0}, to);
        break;
    }
    case CORRUPT_DROP:
        corrupt_replace(text, part, (Str){"", 0}, to);
        break;
    case CORRUPT_TWICE:
        corrupt_replace(text, (Str){part.data, 0}, part, to);
        break;
    case CORRUPT_EXCHANGE: {
        Str other = corrupt_line_of(text, "", seed), first = part.data < other.data ? part : other;
        Str second = part.data < other.data ? other : part;
        if (first.data == second.data)
            break;
        text_add(to, text.data, (size_t)(first.data - text.data));
        text_str(to, second);
        text_str(to, str_between(first.data + first.size, second.data));
        text_str(to, first);
        text_str(to, str_between(second.data + second.size, text.data + text.size));
        break;
    }
    case CORRUPT_WORD:
        corrupt_word(text, seed, to);
        break;
    case CORRUPT_END:
        text_add(to, text.data, corrupt_pick(seed, (uint32_t)text.size));
        break;
    case CORRUPT_BYTES:
        text_str(to, text);
        for (uint32_t n = 1 + corrupt_pick(seed, 3); n-- && to->size;)
            to->data[(size_t)(behind.data - text.data) + corrupt_pick(seed, (uint32_t)behind.size)] =
                (char)corrupt_pick(seed, 256);
        break;
    case CORRUPTIONS:
        break;
    }
    return to->size && !(to->size == text.size && memcmp(to->data, text.data, text.size) == 0);
}

static inline int corrupt_order(const void *a, const void *b) {
    const Str *x = a, *y = b;
    int order = memcmp(x->data, y->data, x->size < y->size ? x->size : y->size);
    return order ? order : (x->size > y->size) - (x->size < y->size);
}

/* What it says is proved, line by line in some order: of which accesses, by which numbers, and what a launch is asked;
 * not by which steps, nor the launch that is an example: any that fulfills what is asked will do. */
static inline uint32_t corrupt_lines(Str text, Str *lines, uint32_t most) {
    static const char *const theorem[] = {"a", "kernel ", "access ", "where ", "bound ", "count ", "run"};
    uint32_t count = 0;
    for (uint32_t i = 0; count < most; i++) {
        Str line = corrupt_line(text, i);
        while (line.size && (line.data[line.size - 1] == '\n' || line.data[line.size - 1] == ' '))
            line.size--;
        if (!line.size || str_is(line, "end"))
            break;
        bool kept = false;
        for (unsigned k = 0; k < sizeof theorem / sizeof *theorem; k++)
            kept |= str_starts(line, str_of(theorem[k]));
        if (kept && !str_starts(line, STR("axis")) && !str_starts(line, STR("apart")))
            lines[count++] = line;
    }
    qsort(lines, count, sizeof *lines, corrupt_order);
    return count;
}

/* Whether two certificates say that the same is proved. The checker has looked at how. */
static inline bool corrupt_same(Str a, Str b) {
    enum { MOST = 4096 };
    static Str first[MOST], second[MOST];
    uint32_t count = corrupt_lines(a, first, MOST);
    bool same = corrupt_lines(b, second, MOST) == count;
    for (uint32_t i = 0; same && i < count; i++)
        same = str_equal(first[i], second[i]);
    return same;
}

#endif
