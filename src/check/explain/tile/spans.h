/* Which spans of the race engine a view of memory covers.
 *
 * Spans are the largest pieces of memory that every region seen so far either contains or does not touch. They are made
 * as regions appear: a region that cuts a span splits it, and the two go on with the same past. */
#ifndef CHECK_EXPLAIN_TILE_SPANS_H
#define CHECK_EXPLAIN_TILE_SPANS_H

#include "engine/consan/consan.h"
#include "machine/tile/step/machine.h"

/* A region that was seen: its spans. The list grows when spans are split; the pointer stays good. */
typedef struct SpanSet {
    struct SpanSet *next; /* of the same memory */
    const Type *type;
    const ViewPart *part; /* NULL: the whole view */
    Word view;
    uint32_t *spans;
    uint32_t count, capacity;
    Bytes bytes;
} SpanSet;

typedef struct Spans Spans;

Spans *spans_create(Arena *arena, Module *module, Consan *engine);
void spans_reset(Spans *spans);
/* The spans of a view; NULL, with a reason, if its bytes are not known or there are too many. */
const SpanSet *spans_of(Spans *spans, Word view, const Type *type, const char **problem);
/* The same of a part of it (NULL: of all). */
const SpanSet *spans_of_part(Spans *spans, Word view, const Type *type, const ViewPart *part, const char **problem);
/* "bytes 0-8191 of %a", "columns 0-63 of %acc"; where a span lies. */
void spans_describe(const Spans *spans, const Machine *machine, uint32_t span, Text *to);
/* Going over the pieces of a storage in a CTA that were accessed so far: the span of piece *at, from 0 on, and its
 * bytes; UINT32_MAX: there are no more. */
uint32_t spans_next(const Spans *spans, uint32_t storage, uint32_t cta, uint32_t *at, Run *bytes);
Space spans_space(const Spans *spans, uint32_t span);
uint32_t spans_cta(const Spans *spans, uint32_t span);
/* Whether two spans are of one allocation's memory. */
bool spans_together(const Spans *spans, uint32_t a, uint32_t b);

#endif
