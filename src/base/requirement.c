/* The reader of requirements, and their values. */
#include "base/requirement.h"

#include <ctype.h>

enum { LONGEST_REQUIREMENT = 1000, DEEPEST_TERM = 60 };
static const int64_t LARGEST_VALUE = INT64_C(1) << 62;

typedef struct Reader {
    Arena *arena;
    const char *begin, *at, *end;
    unsigned depth;
    const char *problem;
    const char *problem_at;
} Reader;

/* ---- Words ---------------------------------------------------------------------------------------- */

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
static bool begins_name(char c) {
    return isalpha((unsigned char)c) || c == '_' || c == '$';
}
static bool is_in_name(char c) {
    return begins_name(c) || isdigit((unsigned char)c);
}

static void skip(Reader *reader) {
    while (reader->at < reader->end && is_blank(*reader->at))
        reader->at++;
}

static bool fail(Reader *reader, const char *problem) {
    if (!reader->problem) {
        reader->problem = problem;
        reader->problem_at = reader->at;
    }
    return false;
}

/* Whether the sign is next, which is then passed. */
static bool take(Reader *reader, const char *sign) {
    size_t size = strlen(sign);
    skip(reader);
    if ((size_t)(reader->end - reader->at) < size || memcmp(reader->at, sign, size) != 0)
        return false;
    reader->at += size;
    return true;
}

static Str name_at(const char *at, const char *end) {
    const char *begin = at;
    if (at < end && begins_name(*at))
        while (at < end && is_in_name(*at))
            at++;
    return str_between(begin, at);
}

/* The same of a word. */
static bool take_word(Reader *reader, const char *word) {
    skip(reader);
    if (!str_is(name_at(reader->at, reader->end), word))
        return false;
    reader->at += strlen(word);
    return true;
}

static bool read_name(Reader *reader, Str *name) {
    skip(reader);
    *name = name_at(reader->at, reader->end);
    if (!name->size)
        return fail(reader, "the name of an argument is expected here");
    reader->at += name->size;
    name->data = arena_copy(reader->arena, name->data, name->size);
    return true;
}

/* ---- Terms ---------------------------------------------------------------------------------------- */

static const RequiredTerm *new_term(Reader *reader, RequiredTerm term) {
    RequiredTerm *kept = ARENA_NEW(reader->arena, RequiredTerm);
    *kept = term;
    return kept;
}

static const RequiredTerm *read_sum(Reader *reader);

static bool read_digits(Reader *reader, int64_t *number) {
    skip(reader);
    const char *begin = reader->at;
    *number = 0;
    for (; reader->at < reader->end && isdigit((unsigned char)*reader->at); reader->at++) {
        *number = *number * 10 + (*reader->at - '0');
        if (*number > LARGEST_VALUE / 16) {
            reader->at = begin;
            return fail(reader, "the number is too large");
        }
    }
    if (reader->at == begin)
        return fail(reader, "a number is expected here");
    return (reader->at == reader->end || !(is_in_name(*reader->at) || *reader->at == '.')) ||
           fail(reader, "numbers are whole ones, written with digits");
}

/* ".x", of the grid. */
static bool read_axis(Reader *reader, unsigned *axis) {
    static const char *const axes[] = {"x", "y", "z"};
    if (take(reader, "."))
        for (*axis = 0; *axis < 3; ++*axis)
            if (take_word(reader, axes[*axis]))
                return true;
    return fail(reader, "the grid and the block have x, y and z");
}

/* "[1]" */
static bool read_dimension(Reader *reader, unsigned *axis) {
    enum { MOST_AXES = 8 };
    int64_t number;
    if (!take(reader, "["))
        return fail(reader, "a dimension in brackets is expected here: a.shape[0]");
    if (!read_digits(reader, &number))
        return false;
    if (number >= MOST_AXES)
        return fail(reader, "a tensor has at most 8 dimensions");
    *axis = (unsigned)number;
    return take(reader, "]") || fail(reader, "']' is expected here");
}

static const RequiredTerm *read_two(Reader *reader, TermKind kind) {
    const RequiredTerm *a, *b;
    if (!take(reader, "(") || !(a = read_sum(reader)))
        return NULL;
    if (!take(reader, ",")) {
        fail(reader, "',' is expected here: min and max have two operands");
        return NULL;
    }
    if (!(b = read_sum(reader)))
        return NULL;
    if (!take(reader, ")")) {
        fail(reader, "')' is expected here");
        return NULL;
    }
    return new_term(reader, (RequiredTerm){.kind = kind, .a = a, .b = b});
}

static bool is_followed_by(Reader *reader, const char *word, char sign) {
    const char *at = reader->at + strlen(word);
    if (!str_is(name_at(reader->at, reader->end), word))
        return false;
    while (at < reader->end && is_blank(*at))
        at++;
    return at < reader->end && *at == sign;
}

/* A name, and what follows it. */
static const RequiredTerm *read_named(Reader *reader) {
    RequiredTerm term = {.kind = TERM_ARGUMENT};
    skip(reader);
    if (is_followed_by(reader, "min", '(') || is_followed_by(reader, "max", '(')) {
        bool least = take_word(reader, "min");
        if (!least)
            take_word(reader, "max");
        return read_two(reader, least ? TERM_MINIMUM : TERM_MAXIMUM);
    }
    if (is_followed_by(reader, "grid", '.') || is_followed_by(reader, "block", '.')) {
        term.kind = take_word(reader, "grid") ? TERM_GRID : TERM_BLOCK;
        if (term.kind == TERM_BLOCK)
            take_word(reader, "block");
        return read_axis(reader, &term.axis) ? new_term(reader, term) : NULL;
    }
    if (is_followed_by(reader, "size", 'o')) {
        take_word(reader, "size");
        term.kind = TERM_SIZE;
        if (!take_word(reader, "of")) {
            fail(reader, "'of' is expected here: size of a");
            return NULL;
        }
        return read_name(reader, &term.name) ? new_term(reader, term) : NULL;
    }
    if (!read_name(reader, &term.name))
        return NULL;
    if (!take(reader, "."))
        return new_term(reader, term);
    if (take_word(reader, "shape")) {
        term.kind = TERM_SHAPE;
    } else if (take_word(reader, "strides")) {
        term.kind = TERM_STRIDE;
    } else {
        fail(reader, "an argument has .shape[i] and .strides[i]");
        return NULL;
    }
    return read_dimension(reader, &term.axis) ? new_term(reader, term) : NULL;
}

static const RequiredTerm *read_factor(Reader *reader) {
    static const RequiredTerm zero = {.kind = TERM_NUMBER};
    const RequiredTerm *inner = NULL;
    int64_t number;
    skip(reader);
    if (++reader->depth > DEEPEST_TERM) {
        fail(reader, "this is nested too deeply");
    } else if (take(reader, "-")) {
        const RequiredTerm *of = read_factor(reader);
        inner = of ? new_term(reader, (RequiredTerm){.kind = TERM_SUBTRACT, .a = &zero, .b = of}) : NULL;
    } else if (take(reader, "(")) {
        inner = read_sum(reader);
        if (inner && !take(reader, ")")) {
            fail(reader, "')' is expected here");
            inner = NULL;
        }
    } else if (reader->at < reader->end && isdigit((unsigned char)*reader->at)) {
        if (read_digits(reader, &number))
            inner = new_term(reader, (RequiredTerm){.kind = TERM_NUMBER, .number = number});
    } else if (reader->at < reader->end && begins_name(*reader->at)) {
        inner = read_named(reader);
    } else {
        fail(reader, "a number, the name of an argument, or '(' is expected here");
    }
    reader->depth--;
    return inner;
}

static const RequiredTerm *read_product(Reader *reader) {
    const RequiredTerm *a = read_factor(reader);
    while (a) {
        TermKind kind;
        if (take(reader, "*"))
            kind = TERM_MULTIPLY;
        else if (take(reader, "//") || take(reader, "/"))
            kind = TERM_DIVIDE;
        else if (take(reader, "%"))
            kind = TERM_REMAINDER;
        else
            break;
        const RequiredTerm *b = read_factor(reader);
        a = b ? new_term(reader, (RequiredTerm){.kind = kind, .a = a, .b = b}) : NULL;
    }
    return a;
}

static const RequiredTerm *read_sum(Reader *reader) {
    const RequiredTerm *a = read_product(reader);
    while (a) {
        bool add = take(reader, "+");
        if (!add && !take(reader, "-"))
            break;
        const RequiredTerm *b = read_product(reader);
        a = b ? new_term(reader, (RequiredTerm){.kind = add ? TERM_ADD : TERM_SUBTRACT, .a = a, .b = b}) : NULL;
    }
    return a;
}

/* ---- The whole ------------------------------------------------------------------------------------ */

static bool read_relation(Reader *reader, RequiredRelation *relation) {
    static const struct {
        const char *sign;
        RequiredRelation relation;
    } signs[] = {{"==", REQUIRES_EQUAL},    {"!=", REQUIRES_UNEQUAL}, {"<=", REQUIRES_AT_MOST},
                 {">=", REQUIRES_AT_LEAST}, {"<", REQUIRES_LESS},     {">", REQUIRES_GREATER}};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (take(reader, signs[i].sign)) {
            *relation = signs[i].relation;
            return true;
        }
    return fail(reader, reader->at < reader->end && *reader->at == '='
                            ? "two numbers are compared with '=='"
                            : "a comparison is expected here: ==, !=, <, <=, > or >=");
}

static bool read_nest(Reader *reader, Requirement *to) {
    to->relation = REQUIRES_NEST;
    if (!take_word(reader, "strides") || !take_word(reader, "of"))
        return fail(reader, "'of' is expected here: strides of a nest");
    return read_name(reader, &to->subject) &&
           (take_word(reader, "nest") || fail(reader, "'nest' is expected here: strides of a nest"));
}

static bool read_whole(Reader *reader, Requirement *to) {
    skip(reader);
    if (is_followed_by(reader, "strides", 'o')) {
        if (!read_nest(reader, to))
            return false;
    } else if (!(to->a = read_sum(reader)) || !read_relation(reader, &to->relation) || !(to->b = read_sum(reader))) {
        return false;
    }
    skip(reader);
    if (reader->at == reader->end)
        return true;
    Str word = name_at(reader->at, reader->end);
    bool more = str_is(word, "and") || str_is(word, "or") || memchr("=!<>&|", *reader->at, 6);
    return fail(reader, more ? "there is one comparison in each: make two of this"
                             : "nothing is expected behind the comparison");
}

/* As one text, whatever blanks were in it: two that are the same but for these have equal texts. */
static const char *plain_text(Reader *reader) {
    Text text = {0};
    for (const char *at = reader->begin; at < reader->end; at++) {
        if (!is_blank(*at)) {
            text_char(&text, *at);
            continue;
        }
        while (at + 1 < reader->end && is_blank(at[1]))
            at++;
        if (text.size && at + 1 < reader->end)
            text_char(&text, ' ');
    }
    return text_keep(&text, reader->arena);
}

const char *requirement_read(Arena *arena, Str text, Requirement *to, size_t *at) {
    Reader reader = {.arena = arena, .begin = text.data, .at = text.data, .end = text.data + text.size};
    *to = (Requirement){.from = ""};
    *at = 0;
    if (text.size > LONGEST_REQUIREMENT)
        return "it is longer than 1000 characters";
    if (!text.size || !read_whole(&reader, to)) {
        *at = reader.problem ? (size_t)(reader.problem_at - reader.begin) : 0;
        return reader.problem ? reader.problem : "it is empty";
    }
    to->text = plain_text(&reader);
    return NULL;
}

/* ---- Values --------------------------------------------------------------------------------------- */

static int64_t floored(int64_t a, int64_t b) {
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

bool term_value(const RequiredTerm *term, TermLookup *lookup, const void *context, int64_t *value) {
    int64_t a, b;
    if (term->kind == TERM_NUMBER) {
        *value = term->number;
        return true;
    }
    if (term->kind < TERM_ADD)
        return lookup(context, term, value) && *value <= LARGEST_VALUE && *value >= -LARGEST_VALUE;
    if (!term_value(term->a, lookup, context, &a) || !term_value(term->b, lookup, context, &b))
        return false;
    bool overflow = false;
    switch (term->kind) {
    case TERM_ADD:
        *value = a + b;
        break;
    case TERM_SUBTRACT:
        *value = a - b;
        break;
    case TERM_MULTIPLY:
        overflow = __builtin_mul_overflow(a, b, value);
        break;
    case TERM_MINIMUM:
        *value = a < b ? a : b;
        break;
    case TERM_MAXIMUM:
        *value = a > b ? a : b;
        break;
    default:
        if (b == 0)
            return false;
        *value = term->kind == TERM_DIVIDE ? floored(a, b) : a - floored(a, b) * b;
        break;
    }
    return !overflow && *value <= LARGEST_VALUE && *value >= -LARGEST_VALUE;
}

bool requirement_value(const Requirement *requirement, TermLookup *lookup, const void *context, bool *holds) {
    int64_t a, b;
    if (requirement->relation == REQUIRES_NEST || !term_value(requirement->a, lookup, context, &a) ||
        !term_value(requirement->b, lookup, context, &b))
        return false;
    const bool answers[] = {[REQUIRES_EQUAL] = a == b,
                            [REQUIRES_UNEQUAL] = a != b,
                            [REQUIRES_LESS] = a<b, [REQUIRES_AT_MOST] = a <= b, [REQUIRES_GREATER] = a> b,
                            [REQUIRES_AT_LEAST] = a >= b};
    *holds = answers[requirement->relation];
    return true;
}

static void visit_names(const RequiredTerm *term, TermVisit *visit, void *context) {
    if (term->kind >= TERM_ADD) {
        visit_names(term->a, visit, context);
        visit_names(term->b, visit, context);
    } else if (term->kind != TERM_NUMBER) {
        visit(context, term);
    }
}

void requirement_names(const Requirement *requirement, TermVisit *visit, void *context) {
    if (requirement->relation == REQUIRES_NEST)
        return;
    visit_names(requirement->a, visit, context);
    visit_names(requirement->b, visit, context);
}
