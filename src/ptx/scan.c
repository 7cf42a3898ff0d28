/* Characters of PTX: classes, comments, words. */
#include "ptx/internal.h"

#define LOWER CLASS_LETTER | CLASS_IDENTIFIER | CLASS_FORM
#define UPPER CLASS_LETTER | CLASS_IDENTIFIER
const uint8_t ptx_class[256] = {
    [' '] = CLASS_SPACE,
    ['\t'] = CLASS_SPACE,
    ['\n'] = CLASS_SPACE,
    ['\r'] = CLASS_SPACE,
    ['\v'] = CLASS_SPACE,
    ['\f'] = CLASS_SPACE,
    ['0' ... '9'] = CLASS_DIGIT | CLASS_IDENTIFIER | CLASS_FORM,
    ['a' ... 'z'] = LOWER,
    ['A' ... 'Z'] = UPPER | CLASS_FORM,
    ['_'] = LOWER,
    ['$'] = UPPER,
    ['.'] = CLASS_FORM,
};

bool ptx_skip_comment(Reader *r) {
    const char *close;
    if (r->p[1] == '/') {
        close = memchr(r->p, '\n', (size_t)(r->end - r->p));
        r->p = close ? close + 1 : r->end;
        return true;
    }
    if (r->p[1] != '*')
        return false;
    close = memmem(r->p + 2, (size_t)(r->end - r->p - 2), "*/", 2);
    if (!close)
        ptx_fail(r, r->p, "this comment has no end");
    r->p = close ? close + 2 : r->end;
    return true;
}

bool want(Reader *r, char c) {
    if (take(r, c))
        return true;
    char expected[] = {'\'', c, '\'', 0};
    return fail_expected(r, expected);
}

Str take_identifier(Reader *r) {
    next_char(r);
    const char *start = r->p, *at = start;
    if (is_class(*at, CLASS_LETTER) || (*at == '%' && is_class(at[1], CLASS_IDENTIFIER)))
        for (at++; is_class(*at, CLASS_IDENTIFIER);)
            at++;
    r->p = at;
    return str_between(start, at);
}

Str take_dotted(Reader *r) {
    if (next_char(r) != '.' || !is_class(r->p[1], CLASS_IDENTIFIER))
        return (Str){r->p, 0};
    const char *start = r->p++;
    for (;;) {
        while (is_class(*r->p, CLASS_IDENTIFIER))
            r->p++;
        if (r->p[0] != ':' || r->p[1] != ':')
            return str_between(start, r->p);
        r->p += 2;
    }
}

Str take_string(Reader *r) {
    if (next_char(r) != '"') {
        fail_expected(r, "a string");
        return (Str){r->p, 0};
    }
    const char *start = r->p;
    for (const char *at = start + 1; at < r->end && *at != '\n'; at++) {
        if (*at == '\\' && at + 1 < r->end) {
            at++;
        } else if (*at == '"') {
            r->p = at + 1;
            return str_between(start, r->p);
        }
    }
    ptx_fail(r, start, "this string has no end on its line");
    return (Str){start, 0};
}

/* Eight characters at a time: those past 127 have their highest bit set, and a zero byte borrows it. */
static const char *first_odd(const char *at, const char *end) {
    const uint64_t ones = UINT64_C(0x0101010101010101), highs = ones << 7;
    for (uint64_t word; at + 8 <= end; at += 8) {
        memcpy(&word, at, 8);
        if ((word | (word - ones)) & highs)
            break;
    }
    while (at < end && *at && !(*at & 0x80))
        at++;
    return at;
}

bool check_characters(Reader *r) {
    const char *at = first_odd(r->base, r->end);
    if (at == r->end)
        return true;
    if (*at)
        return ptx_fail(r, at, "PTX is ASCII alone, in comments, too; this is byte 0x%02x", (unsigned char)*at);
    return ptx_fail(r, at, "there is a zero byte in the text");
}
