/* What may have ordered two accesses that nothing else orders: ops that are not known.
 *
 * An observer of a run. An op whose effects are not known could wait for any agent, and release any agent. It cannot
 * have ordered two accesses if it surely comes before both, or after both: happens-before, as far as it is known,
 * decides that (machine/tile/schedule/clocks.h). So a race is certain if every such op of its run is unrelated to it;
 * else it is a doubt, and no error. What comes after the second access is seen as the run goes on. */
#ifndef CHECK_TILE_RUN_MAY_ORDER_H
#define CHECK_TILE_RUN_MAY_ORDER_H

#include "machine/tile/schedule/clocks.h"

typedef struct MayOrder MayOrder;

/* Whether two accesses are surely unordered. */
typedef struct Doubt {
    const Op *op;         /* that may order them; NULL: none yet */
    uint32_t agent;       /* who runs it */
    Epoch earlier, later; /* when the two are over */
    AgentSet open;        /* those whose next unknown op is still to be looked at */
} Doubt;

/* NULL if everything in the program is known. */
MayOrder *may_order_create(Arena *arena, Machine *machine);
void may_order_start(MayOrder *may_order);
/* To be called with each event, before anything is asked about it. */
void may_order_observe(MayOrder *may_order, const Event *event);

/* Writes down an access of the event's agent; its number, from 0 on. */
uint32_t may_order_note(MayOrder *may_order, const Event *event);
uint32_t may_order_pc(const MayOrder *may_order, uint32_t note);
/* Of an access that was written down and what happens now; UINT32_MAX: the other one is not known. */
Doubt may_order_about(MayOrder *may_order, uint32_t note, const Event *event);
/* After an event of the kind EVENT_UNKNOWN: what it says of two accesses before it. */
void may_order_settle(const MayOrder *may_order, const Event *event, Doubt *doubt);

#endif
