/* Words, numbers, strings and brackets: the reader's lowest level. It works on characters, not on a
 * list of tokens; most text is never looked at twice. */
#include "mlir/internal.h"

#define D (CLASS_DIGIT | CLASS_ID | CLASS_SUFFIX)
#define L (CLASS_LETTER | CLASS_ID | CLASS_SUFFIX)
#define P (CLASS_ID | CLASS_SUFFIX)
/* clang-format off: a row a kind */
const uint8_t char_class[256] = {
    [' '] = CLASS_SPACE,
    ['\t'] = CLASS_SPACE,
    ['\n'] = CLASS_SPACE,
    ['\r'] = CLASS_SPACE,
    ['0'] = D,
    ['1'] = D,
    ['2'] = D,
    ['3'] = D,
    ['4'] = D,
    ['5'] = D,
    ['6'] = D,
    ['7'] = D,
    ['8'] = D,
    ['9'] = D,
    ['a'] = L,
    ['b'] = L,
    ['c'] = L,
    ['d'] = L,
    ['e'] = L,
    ['f'] = L,
    ['g'] = L,
    ['h'] = L,
    ['i'] = L,
    ['j'] = L,
    ['k'] = L,
    ['l'] = L,
    ['m'] = L,
    ['n'] = L,
    ['o'] = L,
    ['p'] = L,
    ['q'] = L,
    ['r'] = L,
    ['s'] = L,
    ['t'] = L,
    ['u'] = L,
    ['v'] = L,
    ['w'] = L,
    ['x'] = L,
    ['y'] = L,
    ['z'] = L,
    ['A'] = L,
    ['B'] = L,
    ['C'] = L,
    ['D'] = L,
    ['E'] = L,
    ['F'] = L,
    ['G'] = L,
    ['H'] = L,
    ['I'] = L,
    ['J'] = L,
    ['K'] = L,
    ['L'] = L,
    ['M'] = L,
    ['N'] = L,
    ['O'] = L,
    ['P'] = L,
    ['Q'] = L,
    ['R'] = L,
    ['S'] = L,
    ['T'] = L,
    ['U'] = L,
    ['V'] = L,
    ['W'] = L,
    ['X'] = L,
    ['Y'] = L,
    ['Z'] = L,
    ['_'] = L,
    ['$'] = P,
    ['.'] = P,
    ['-'] = CLASS_SUFFIX,
};
/* clang-format on */
#undef D
#undef L
#undef P

void skip_comment(MlirReader *r) {
    const char *line_end = r->p < r->end ? memchr(r->p, '\n', (size_t)(r->end - r->p)) : NULL;
    r->p = line_end ? line_end : r->end;
}

bool take_number(MlirReader *r, int64_t *value) {
    skip_space(r);
    const char *at = r->p;
    if (*at == '-')
        at++;
    if (!is_class(*at, CLASS_DIGIT) || (*at == '0' && is_class(at[1], CLASS_DIGIT)))
        return false;
    while (is_class(*at, CLASS_DIGIT))
        at++;
    if (!str_to_int(str_between(r->p, at), value))
        return false;
    r->p = at;
    return true;
}

const char *string_end(MlirReader *r, const char *at) {
    for (const char *q = at + 1; q < r->end && *q != '\n'; q++) {
        if (*q == '"')
            return q + 1;
        if (*q == 0) {
            fail_at_zero(r, q);
            return NULL;
        }
        if (*q == '\\' && q + 1 < r->end)
            q++;
    }
    fail(r, at, "this string is not closed on its line");
    return NULL;
}

const char *balanced_end(MlirReader *r, const char *at) {
    static const uint8_t interesting[256] = {
        ['<'] = 1, ['('] = 1, ['['] = 1, ['{'] = 1, ['>'] = 2, [')'] = 2,
        [']'] = 2, ['}'] = 2, ['"'] = 3, ['-'] = 4, ['/'] = 5, [0] = 6,
    };
    const char *open[LIMIT_NESTING];
    unsigned depth = 0;
    r->too_deep = NULL;
    for (const char *q = at;; q++) {
        while (!interesting[(unsigned char)*q])
            q++;
        switch (interesting[(unsigned char)*q]) {
        case 1:
            if (*q == '<' && q[1] == '=' && depth && *open[depth - 1] == '(') /* a comparison in an affine set */
                break;
            if (depth == LIMIT_NESTING) {
                r->too_deep = q;
                fail(r, q, "brackets nested more than %d deep", LIMIT_NESTING);
                return NULL;
            }
            open[depth++] = q;
            break;
        case 2: {
            if (*q == '>' && q[1] == '=' && *open[depth - 1] == '(')
                break;
            const char *opened = open[depth - 1];
            char want = *opened == '(' ? ')' : (char)(*opened + 2);
            if (*q == want) {
                if (--depth == 0)
                    return q + 1;
                break;
            }
            r->brackets_broken |= !r->quiet;
            if (memchr(opened, '\n', (size_t)(q - opened)))
                fail(r, opened, "this '%c' is never closed", *opened);
            else
                fail(r, q, "expected '%c' for the '%c' at column %u", want, *opened,
                     source_place(r->source, offset_of(r, opened)).column);
            return NULL;
        }
        case 3: {
            const char *end = string_end(r, q);
            if (!end)
                return NULL;
            q = end - 1;
            break;
        }
        case 4:
            if (q[1] == '>')
                q++;
            break;
        case 5:
            if (q[1] == '/') {
                const char *line_end = memchr(q, '\n', (size_t)(r->end - q));
                q = line_end ? line_end : r->end - 1;
            }
            break;
        case 6:
            if (q >= r->end) {
                r->brackets_broken |= !r->quiet;
                fail(r, open[depth - 1], "this '%c' is never closed", *open[depth - 1]);
                return NULL;
            }
            fail_at_zero(r, q);
            return NULL;
        default:
            break;
        }
    }
}

/* No line ends or other controls, no comments, no two spaces in a row. */
static bool is_plain(Str text) {
    const char *at = text.data, *end = at + text.size;
    for (char before = 0; at < end; before = *at++)
        if ((unsigned char)*at <= '/' && ((unsigned char)*at < ' ' || (*at == before && (*at == ' ' || *at == '/'))))
            return false;
    return true;
}

Str tidy(MlirReader *r, Str text) {
    if (is_plain(text))
        return text;
    char *copy = arena_alloc(&r->module->arena, text.size + 1), *to = copy;
    const char *at = text.data, *end = text.data + text.size;
    while (at < end) {
        if (*at == '"') {
            const char *close = string_end(r, at);
            if (!close || close > end)
                close = end;
            memcpy(to, at, (size_t)(close - at));
            to += close - at;
            at = close;
        } else if (*at == '/' && at + 1 < end && at[1] == '/') {
            while (at < end && *at != '\n')
                at++;
        } else if (is_class(*at, CLASS_SPACE)) {
            at++;
            if (to > copy && to[-1] != ' ')
                *to++ = ' ';
        } else {
            *to++ = *at++;
        }
    }
    while (to > copy && to[-1] == ' ')
        to--;
    return str_between(copy, to);
}

bool note_aliases(MlirReader *r, Str text) {
    bool any = false;
    const char *end = text.data + text.size;
    for (const char *at = text.data; at < end; at++) {
        if ((unsigned char)*at > '#' && *at != '/')
            continue;
        if (*at == '/' && at + 1 < end && at[1] == '/') {
            const char *line_end = memchr(at, '\n', (size_t)(end - at));
            at = line_end ? line_end : end;
        } else if (*at == '"') {
            do
                at += *at == '\\' ? 2 : 1;
            while (at < end && *at != '"');
        } else if ((*at == '#' || *at == '!') && at + 1 < end && is_class(at[1], CLASS_LETTER)) {
            const char *start = at;
            bool dotted = false;
            for (at++; at < end && is_class(*at, CLASS_SUFFIX); at++)
                dotted |= *at == '.';
            if (!dotted && !(at < end && *at == '<')) {
                any = true;
                Str name = str_between(start, at);
                void **place = map_put(&r->alias_uses, name);
                if (place && !*place) {
                    *place = (void *)(uintptr_t)(offset_of(r, start) + 1);
                    PUSH(r, r->alias_keys) = name;
                }
            }
            at--;
        }
    }
    return any;
}
