/* Vector clocks of any number of threads, for the exact mode.
 *
 * A clock says of each launch either that all of it is before, or up to which epoch each of its CTAs is. What is equal
 * is shared: clocks, their parts, branches and leaves are counted references, and copied when something changes them.
 * So a snapshot costs nothing, a CTA that communicates with no other has next to no clock, and after a barrier of a
 * whole grid its CTAs share all but their own leaf. A thread's own epoch is not in its clock, but kept by the thread.
 */
#ifndef ENGINE_CLOCK_GSAN_CLOCK_H
#define ENGINE_CLOCK_GSAN_CLOCK_H

#include "engine/shadow/gsan_pool.h"

enum { CLOCK_LEAF = 64, CLOCK_BRANCH = 64 };

/* Of launches, by number. */
typedef struct LaunchSet {
    uint32_t references, words;
    uint64_t bits[];
} LaunchSet;

typedef struct ClockLeaf {
    uint32_t references;
    uint32_t epochs[CLOCK_LEAF]; /* 0: nothing of that CTA */
} ClockLeaf;

typedef struct ClockBranch {
    uint32_t references;
    ClockLeaf *leaves[CLOCK_BRANCH]; /* NULL: all 0 */
} ClockBranch;

/* Of one launch: branches, so that of a large grid a copy has not to touch every leaf. */
typedef struct ClockPart {
    uint32_t references, launch, branch_count;
    ClockBranch *branches[]; /* NULL: all 0 */
} ClockPart;

/* NULL stands for a clock that knows nothing. */
typedef struct Clock {
    uint32_t references, part_count;
    LaunchSet *whole; /* may be NULL */
    ClockPart *parts[];
} Clock;

/* Up to which epoch it has that CTA; UINT32_MAX: all of it. */
uint32_t gsan_clock_epoch(const Clock *clock, uint32_t launch, uint32_t cta);
Clock *gsan_clock_share(Clock *clock);
void gsan_clock_drop(Pool *pool, Clock *clock);
/* These replace *clock, and drop it, where it must change. `ctas`: of the launch. */
void gsan_clock_raise(Pool *pool, Clock **clock, uint32_t launch, uint32_t ctas, uint32_t cta, uint32_t epoch);
void gsan_clock_join(Pool *pool, Clock **clock, Clock *other);
void gsan_clock_join_whole(Pool *pool, Clock **clock, LaunchSet *launches);

bool gsan_launches_has(const LaunchSet *set, uint32_t launch);
/* A new one: `set` (may be NULL), one more launch, and what that launch has before itself (may be NULL). */
LaunchSet *gsan_launches_with(Pool *pool, const LaunchSet *set, uint32_t launch, const LaunchSet *before);
void gsan_launches_drop(Pool *pool, LaunchSet *set);

#endif
