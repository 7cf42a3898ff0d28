/* One access that is looked at, and what is before it: between the files that look at accesses. */
#ifndef ENGINE_THREADS_ATTEMPT_H
#define ENGINE_THREADS_ATTEMPT_H

#include "engine/threads_internal.h"

enum { MEMO = 8 };

/* One access of lanes that know the same. */
typedef struct Attempt {
    Threads *threads;
    Knower knower;
    uint32_t index; /* of the record */
    const Record *record;
    uint32_t node;    /* the list that has it alone; 0: nobody has asked for it */
    uint32_t by;      /* lanes that do it at the place that is looked at: one, or several that read the same */
    uint64_t address; /* of the cell */
    struct {
        uint32_t known[MEMO];    /* records of which lanes are known; by record */
        uint32_t clear[MEMO];    /* lists all of which is before whatever lane */
        uint32_t put_from[MEMO]; /* lists that it was put in front of, where the lane does not matter */
    } memos;
    uint32_t known_lanes[MEMO], put_to[MEMO];
    ShadowPage *page; /* the last */
    bool whole;       /* all elements are touched */
} Attempt;

static inline uint32_t attempt_node(Attempt *attempt) {
    if (!attempt->node)
        attempt->node = threads_node_alone(attempt->threads, attempt->index);
    return attempt->node;
}
void attempt_begin(Attempt *attempt, Threads *threads, const Knower *knower, const ThreadsAccess *access,
                   uint32_t epoch);
/* Whether everything of the list is before whatever lane does this. */
bool attempt_is_clear(Attempt *attempt, uint32_t slot);
/* Whether the same lanes have read it in the same epoch in the same way: nothing is new then. */
bool attempt_is_there(const Attempt *attempt, uint32_t slot);
/* The list with this access in front, without those that it stands for. */
uint32_t attempt_put(Attempt *attempt, uint32_t slot);
/* Whether what stays of the list does not depend on which lane does it, other than that it is the slot's. */
bool attempt_any_lane(Attempt *attempt, uint32_t slot);
/* These bytes, cell by cell, by attempt->by. */
void attempt_touch(Attempt *attempt, uint64_t begin, uint64_t end);
/* Whole lines, if it is of such alone; false: it is not, and nothing was done. */
bool attempt_lines(Attempt *attempt, const ThreadsAccess *access, uint32_t lanes, const uint64_t *addresses);
/* Bytes of one lane, attempt->by: whole lines of them, and what is left at the ends. */
void attempt_piece(Attempt *attempt, const ThreadsAccess *access, uint64_t begin, uint64_t end);
/* One side of a race; and the race, which may be there already. */
ThreadsSide threads_side(const Threads *threads, const Record *record, uint32_t lane);
void threads_tell(Threads *threads, const ThreadsRace *race);
/* The keys of fences for a proxy at the place. */
uint32_t attempt_keys_at(uint64_t address, uint8_t proxy, uint64_t keys[4]);
/* Whether a proxy fence has to stand between the two. */
bool attempt_needs_fence(const Attempt *attempt, const Record *earlier);
/* Lanes of the earlier access that are before this one, whichever lane does it; behind a fence if it needs one. */
uint32_t attempt_known_lanes(Attempt *attempt, uint32_t index, const Record *earlier);
uint32_t attempt_over_lanes(Attempt *attempt, uint32_t index, const Record *earlier);
bool attempt_same_warp(const Attempt *attempt, const Record *earlier);
/* Whether lane `lane` of the earlier access is before this one by lane `by`; it is not known to all of them. */
bool attempt_lane_before(const Attempt *attempt, const Record *earlier, uint32_t lane, uint32_t by);
/* Of `lanes` of the earlier access, those that are not before all that is done here. */
uint32_t attempt_unordered(Attempt *attempt, uint32_t index, uint32_t lanes);

#endif
