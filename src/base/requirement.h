/* What callers of a kernel promise, as they write it: "K % 64 == 0", "grid.y == 1", "strides of c nest".
 *
 *     requirement = sum comparison sum | "strides of" NAME "nest"
 *     comparison  = "==" | "!=" | "<" | "<=" | ">" | ">="
 *     sum         = product {("+" | "-") product}
 *     product     = factor {("*" | "//" | "/" | "%") factor}      both divisions round down
 *     factor      = NUMBER | "-" factor | "(" sum ")" | ("min" | "max") "(" sum "," sum ")" | "size of" NAME
 *                 | NAME | NAME ".shape[" NUMBER "]" | NAME ".strides[" NUMBER "]" | ("grid" | "block") ("." axis)
 *
 * A NAME is that of a parameter. Preconditions that proofs print (check/prove/condition.h) are such texts. */
#ifndef BASE_REQUIREMENT_H
#define BASE_REQUIREMENT_H

#include "base/arena.h"
#include "base/text.h"

#include <stdbool.h>

typedef enum TermKind {
    TERM_NUMBER,
    TERM_ARGUMENT, /* of `name` */
    TERM_SHAPE,    /* dimension `axis` of the tensor */
    TERM_STRIDE,   /* its stride, in elements */
    TERM_SIZE,     /* how many elements its memory has, from its first one on */
    TERM_GRID,     /* programs along `axis` */
    TERM_BLOCK,    /* of PTX: threads along it */
    TERM_ADD,
    TERM_SUBTRACT,
    TERM_MULTIPLY,
    TERM_DIVIDE,
    TERM_REMAINDER,
    TERM_MINIMUM,
    TERM_MAXIMUM,
} TermKind;

typedef struct RequiredTerm {
    TermKind kind;
    unsigned axis;
    int64_t number;
    Str name;
    const struct RequiredTerm *a, *b;
} RequiredTerm;

typedef enum RequiredRelation {
    REQUIRES_EQUAL,
    REQUIRES_UNEQUAL,
    REQUIRES_LESS,
    REQUIRES_AT_MOST,
    REQUIRES_GREATER,
    REQUIRES_AT_LEAST,
    REQUIRES_NEST, /* strides of `subject` */
} RequiredRelation;

typedef struct Requirement {
    RequiredRelation relation;
    const RequiredTerm *a, *b;
    Str subject;
    const char *text; /* with one space between words and signs, as a person writes it */
    const char *from; /* "weir.toml:7"; "": not known */
} Requirement;

/* Reads one. NULL, or what is wrong in one sentence, a constant, and where. What is read goes to the arena. */
const char *requirement_read(Arena *arena, Str text, Requirement *to, size_t *at);

/* What a name stands for; false: it is not known. */
typedef bool TermLookup(const void *context, const RequiredTerm *name, int64_t *value);
/* The value; false: something in it is not known, it is divided by 0, or it is beyond 62 bits. */
bool term_value(const RequiredTerm *term, TermLookup *lookup, const void *context, int64_t *value);
/* Whether it holds; false: it is not known. Of strides that nest nothing is known here. */
bool requirement_value(const Requirement *requirement, TermLookup *lookup, const void *context, bool *holds);
/* Calls `visit` with each name in it. */
typedef void TermVisit(void *context, const RequiredTerm *name);
void requirement_names(const Requirement *requirement, TermVisit *visit, void *context);

#endif
