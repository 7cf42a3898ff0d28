/* Values under other names: what loops carry, branches pass, regions yield, partitions capture, and a select chooses.
 *
 * Forward, `op_hands_on` tells of one op all that it hands on; backward, `value_sources` tells of one value all that it
 * may be. What each kind of control flow does is written once, here. */
#ifndef MODEL_FLOW_FORWARDED_H
#define MODEL_FLOW_FORWARDED_H

#include "base/pointers.h"
#include "ir/op.h"

/* On which way a value gets its other name. */
typedef enum Forwarded {
    FORWARDED_IN,      /* into a loop, before its first turn; a result of a loop that counts, if there is no turn */
    FORWARDED_ROUND,   /* to the next turn of a loop */
    FORWARDED_ACROSS,  /* from the first region of a while to its second */
    FORWARDED_OUT,     /* out of a loop: what the next turn would have got */
    FORWARDED_OVER,    /* from the end of a region to a result */
    FORWARDED_CAPTURE, /* to a partition */
    FORWARDED_BRANCH,  /* to a block that is branched to */
    FORWARDED_CHOICE,  /* by a select: one of the two */
    FORWARDED_TILE,    /* to the region of one tile */
} Forwarded;

typedef void HandOn(void *context, Forwarded how, const Value *from, const Value *to);

/* Calls `hand_on` for each value that the op hands on, and the name that it then has; false if it is no such op. */
bool op_hands_on(const Op *op, HandOn *hand_on, void *context);
/* Calls `hand_on` for each value that `value` is another name of; false if there is none: it is made where it stands.
 */
bool value_sources(const Value *value, HandOn *hand_on, void *context);

/* Backward from values to what they come from, each once. */
typedef struct ValueWalk {
    Pointers seen;       /* with its arena; 0: it is in the walk */
    const Value **items; /* a caller takes the last one, or goes through all in order */
    uint32_t count, capacity;
} ValueWalk;
/* The value is to be looked at (NULL is nothing), unless it was before. */
void value_walk_to(ValueWalk *walk, const Value *value);
/* So are all that it is another name of; false if there is none. */
bool value_walk_sources(ValueWalk *walk, const Value *value);
static inline bool value_walk_has(const ValueWalk *walk, const Value *value) {
    return pointers_get(&walk->seen, value) != NO_NUMBER;
}

/* The first of them, the one on the way `how` if there are several; NULL if there is none. */
const Value *value_forwarded(const Value *value, Forwarded how);
const Value *value_source(const Value *value);
/* The only one: whatever way is taken, it is that value. NULL if there are several, or none. */
const Value *value_always(const Value *value);

/* ---- Loops ---------------------------------------------------------------------------------------- */

/* The loop that counts with this value; NULL if none does. */
const Op *counted_by(const Value *value);

/* From which number to which a loop counts; false if it does not count. */
typedef struct Bounds {
    const Value *from, *to, *step;
} Bounds;
bool loop_bounds(const Op *loop, Bounds *bounds);

/* A value that goes around a loop: before its first turn, in its region, and at the end of a turn. */
typedef struct Carried {
    const Op *loop;
    uint32_t index; /* among those that the loop carries */
    const Value *first, *argument, *next;
} Carried;
/* False if the loop, of either kind, carries fewer, or is not whole. */
bool loop_carries(const Op *loop, uint32_t index, Carried *carried);
/* The same of a value in the loop's first region, or, of a loop that counts, behind it. */
bool carried_of(const Value *value, Carried *carried);

/* ---- Ends ----------------------------------------------------------------------------------------- */

/* The last op of the first block of a region; NULL if there is none. */
const Op *region_end(const Op *op, uint32_t region);
/* What the end of a region of one block hands over as number `index`, the condition of a while aside; NULL if there is
 * none. */
const Value *forwarded_over(const Op *op, uint32_t region, uint32_t index);

/* One of two: a select, or the result of a branch. */
typedef struct Choice {
    const Value *condition, *yes, *no;
} Choice;
bool choice_of(const Value *value, Choice *choice);
/* A select by one condition for all elements: a branch in another form, which hands on either value whole. The compiler
 * makes one of a branch that does nothing but yield. One with a condition for each element reads both. */
bool chooses_whole(const Op *op);

/* The op with the captures of a partition: `op` itself, or the fork around it. */
const Op *captures_of(const Op *partitions);

#endif
