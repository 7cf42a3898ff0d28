/* Vector clocks over CTAs, for engines that follow any number of them.
 *
 * A clock says of each CTA up to which epoch it is known: one number where its threads are known alike, or where the
 * CTA counts as one thread; else a run for each set of lanes of a warp. What is equal is shared: clocks, their leaves
 * and what they have of a CTA are counted references, and copied when something changes them. So a snapshot costs
 * nothing, a CTA that communicates with no other has no clock at all, and after a barrier of a whole grid its CTAs
 * share all but their own part. */
#ifndef ENGINE_CLOCK_CLOCK_H
#define ENGINE_CLOCK_CLOCK_H

#include "engine/shadow/gsan_pool.h"

/* Lanes of a warp of a CTA that are known up to an epoch. Warps from CLOCK_MARKS on are no warps: what their lanes and
 * epochs are is up to who uses them, and the epoch of a whole CTA says nothing of them. */
enum { CLOCK_MARKS = 64 };
typedef struct ClockRun {
    uint32_t warp, lanes, epoch;
} ClockRun;

/* Of one CTA: `base`, or more where a run says so. Sorted by warp; no lane is in two runs. NULL: nothing is known. */
typedef struct CtaClock {
    uint32_t references, base, count, capacity;
    ClockRun runs[];
} CtaClock;

enum { CTA_LEAF = 64 };
typedef struct CtaLeaf {
    uint32_t references, end; /* end: nothing is known from there on */
    CtaClock *ctas[CTA_LEAF];
} CtaLeaf;
/* NULL knows nothing. */
typedef struct Clock {
    uint32_t references, leaf_count;
    uint64_t version; /* another one whenever it changes; no two have the same */
    /* What it was made from by learning more: of one line, each has all that those with lower steps have. Who changes
     * what is not the last of its line begins another one. */
    uint32_t line, step, parent_line, parent_step;
    CtaLeaf *leaves[];
} Clock;

/* What clocks that are joined with each other have in common. */
enum { INCLUDED_MEMO = 256 };
typedef struct ClockSpace ClockSpace;
struct ClockSpace {
    Pool *pool;
    uint32_t leaf_count;  /* for all CTAs that there are; it may grow */
    uint64_t versions;    /* given to clocks so far */
    uint32_t *line_steps; /* of each line of clocks: the last step */
    uint32_t line_count, line_capacity;
    uint64_t included[INCLUDED_MEMO][2]; /* two versions, of which the first is known to have all of the second */
    /* Runs may have become all of the CTA's: then `base` can say it. NULL: there are no runs. */
    void (*lift)(void *context, CtaClock *clock, uint32_t cta);
    void *context;
};

/* So many CTAs, or more, there are. */
void clock_space_grow(ClockSpace *space, uint32_t ctas);

/* ---- One CTA. These change *clock, and copy it first if others have it ---- */

CtaClock *cta_clock_share(CtaClock *clock);
void cta_clock_drop(ClockSpace *space, CtaClock *clock);
CtaClock *cta_clock_new(ClockSpace *space, uint32_t capacity);
uint32_t cta_clock_lanes(const CtaClock *clock, uint32_t warp, uint32_t epoch);
/* Lanes of the warp that are known up to that epoch. */
static inline uint32_t cta_clock_known(const CtaClock *clock, uint32_t warp, uint32_t epoch) {
    return !clock ? 0 : clock->base >= epoch && warp < CLOCK_MARKS ? UINT32_MAX : cta_clock_lanes(clock, warp, epoch);
}
bool cta_clock_has_runs(const CtaClock *clock, const CtaClock *other);
/* Whether one has all that the other has. */
static inline bool cta_clock_includes(const CtaClock *clock, const CtaClock *other) {
    return !other || clock == other ||
           (clock && other->base <= clock->base && (!other->count || cta_clock_has_runs(clock, other)));
}
void cta_clock_join(ClockSpace *space, CtaClock **clock, CtaClock *other, uint32_t cta);
void cta_clock_raise(ClockSpace *space, CtaClock **clock, uint32_t cta, ClockRun run);
/* The same of several runs, which are given away, those of a lane in the order of their epochs. */
void cta_clock_raise_all(ClockSpace *space, CtaClock **clock, uint32_t cta, CtaClock *runs);
/* All of its threads are known up to an epoch. */
void cta_clock_raise_base(ClockSpace *space, CtaClock **clock, uint32_t cta, uint32_t base);
/* A run behind others: of lanes that are there already it is the newer one. There is room. */
void cta_clock_add(CtaClock *clock, ClockRun run);

/* ---- All CTAs ---- */

Clock *clock_share(Clock *clock);
void clock_drop(ClockSpace *space, Clock *clock);
/* Of a CTA, or of a number that is none. */
static inline CtaClock *clock_at(const Clock *clock, uint32_t cta) {
    const CtaLeaf *leaf = clock && cta / CTA_LEAF < clock->leaf_count ? clock->leaves[cta / CTA_LEAF] : NULL;
    return leaf ? leaf->ctas[cta % CTA_LEAF] : NULL;
}
/* Whether all of the CTA's threads are known up to that epoch. */
static inline bool clock_knows(const Clock *clock, uint32_t cta, uint32_t epoch) {
    const CtaClock *known = clock_at(clock, cta);
    return known && known->base >= epoch;
}
bool clock_includes(ClockSpace *space, const Clock *clock, const Clock *other);
/* These change *clock, and copy it first if others have it. */
void clock_join(ClockSpace *space, Clock **clock, Clock *other);
void clock_raise(ClockSpace *space, Clock **clock, uint32_t cta, uint32_t epoch);
/* Where the clock of the CTA stands, for code that changes it. */
CtaClock **clock_seat(ClockSpace *space, Clock **clock, uint32_t cta);

/* CTAs whose launch has ended: they are known up to this epoch, which none of them comes to. A clock that knows that of
 * those, and nothing else. */
#define EPOCH_ENDED UINT32_MAX
Clock *clock_of_ended(ClockSpace *space, uint32_t first_cta, uint32_t ctas);

#endif
