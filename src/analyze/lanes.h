/* Which lanes of the race engine a view of memory covers.
 *
 * Lanes are the largest pieces of memory that every region seen so far either contains or does not touch. They are made
 * as regions appear: a region that cuts a lane splits it, and the two go on with the same past. */
#ifndef ANALYZE_LANES_H
#define ANALYZE_LANES_H

#include "emulate/machine.h"
#include "engine/consan.h"

/* A region that was seen: its lanes. The list grows when lanes are split; the pointer stays good. */
typedef struct LaneSet {
    struct LaneSet *next; /* of the same memory */
    const Type *type;
    Word view;
    uint32_t *lanes;
    uint32_t count, capacity;
    Bytes bytes;
} LaneSet;

typedef struct Lanes Lanes;

Lanes *lanes_create(Arena *arena, Module *module, Consan *engine);
void lanes_reset(Lanes *lanes);
/* The lanes of a view; NULL, with a reason, if its bytes are not known or there are too many. */
const LaneSet *lanes_of(Lanes *lanes, Word view, const Type *type, const char **problem);
/* "bytes 0-8191 of %a", "columns 0-63 of %acc"; where a lane lies. */
void lanes_describe(const Lanes *lanes, const Machine *machine, uint32_t lane, Text *to);
Space lanes_space(const Lanes *lanes, uint32_t lane);

#endif
