/* How many instructions were issued on AMD's wait counters since something: the distances that waits are made of.
 *
 * A wait is for "at most N left" on a counter, and what is on one queue completes in the order of its issue. So a wait
 * covers an operation if at least N others were issued after it on the same queue, on every path: the least distance
 * over all paths is the most that may be waited for. Distances go around loops until nothing changes.
 *
 * Distances are kept of
 *   tokens   of copies, groups and waits, through everything that hands them on;
 *   groups   the latest commits, by how many commits ago;
 *   stores   the latest stores of TMA, or ops of the tensor data mover, each of which is a group of its own;
 *   stages   the latest expects on the mbarriers of one allocation: each starts a stage of a ring, and waits are taken
 * to be for the stages in the order in which they were started; copies   the latest executions of each op that copies,
 * by how many executions ago, until a wait covers them. */
#ifndef CHECK_PORT_COUNTERS_H
#define CHECK_PORT_COUNTERS_H

#include "finding/port.h"
#include "ir/optable.h"
#include "model/flow/flow.h"
#include "model/target/amd.h"

enum { DISTANCE_NONE = UINT16_MAX, COUNTERS_GROUPS = 64, COUNTERS_STAGES = 16, COUNTERS_EXECUTIONS = 8 };

/* Over all paths: at least `low` on each, since every op counts at least its least; `high` where each counts its most
 * on the path on which that is least; `most` on the longest. DISTANCE_NONE: on no path it was issued at all. */
typedef struct Distance {
    uint16_t low, high, most;
} Distance;

static inline bool distance_is_none(Distance distance) {
    return distance.low == DISTANCE_NONE;
}

typedef struct Counters Counters;

/* Of a function with a body. In the arena, which must be able to jump. */
Counters *counters_of(Module *module, const Op *function, const Target *target, Arena *arena);
/* A sentence if it is too large to be looked at, and then nothing is known; else NULL. */
const char *counters_problem(const Counters *counters);

/* What is known right before `op`. An op that no path leads to has no distances. */
Distance distance_of_token(Counters *counters, const Op *op, const Value *token, AmdQueue queue);
/* Since the commit before the `leave` latest ones: what a wait that leaves that many groups must cover. */
Distance distance_of_group(Counters *counters, const Op *op, uint64_t leave, AmdQueue queue);
Distance distance_of_store(Counters *counters, const Op *op, uint64_t leave, AmdQueue queue);

/* For a wait on an mbarrier: since the stages that were started after the one it is for, on the queue of the tensor
 * data mover; *left is how many those are at least. None if the waiting waves started no stage. */
Distance distance_of_stage(Counters *counters, const Op *op, unsigned *left);

/* Copies, by number in the order of the text. */
uint32_t counters_copies(const Counters *counters);
const Op *counters_copy(const Counters *counters, uint32_t number);
/* On the queue that it is on; `high` is DISTANCE_NONE where some wait may have covered it on every path. */
Distance distance_of_copy(Counters *counters, const Op *op, uint32_t number, uint32_t executions_ago);
AmdQueue counters_queue(const Counters *counters, uint32_t number);

/* A wait as written: how many may be left on which queue. */
typedef struct CounterWait {
    AmdQueue queue; /* QUEUE_NONE: it is no wait */
    int64_t leave;
    bool written; /* in instructions of the target; else in groups or ops */
} CounterWait;
/* How many may be left on a counter; NULL: it does not wait for that one. */
const Attr *counter_left(const Op *op, WaitCounter counter);
CounterWait counter_wait_of(const Op *op, const Target *target);

/* What the wait's tokens need: none if it has none, or if nothing they stand for is outstanding. */
Distance distance_of_tokens(Counters *counters, const Op *wait, AmdQueue queue);
bool waits_for_tokens(const Op *wait);
/* Whether leaving that many covers what was so long ago. */
PortCover distance_cover(Distance distance, int64_t leave);
/* The same for a wait with tokens, and what those need; a number that means nothing, or a wait that nothing relies on,
 * proves nothing. */
PortCover counter_cover(Counters *counters, const Op *op, const CounterWait *wait, Distance *need);

#endif
