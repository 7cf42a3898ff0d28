/* Which lines of global memory threads can race for at all, whatever order there is between them.
 *
 * Every access of a recording to global memory is added, line by line (128 bytes). A line is quiet if nothing writes
 * it, or if each of its bytes is accessed by one thread alone, which is no asynchronous operation: what a thread does
 * itself is ordered. No access to a quiet line can race, so that none needs a look. Other lines are noisy, and so are
 * those of which that is not easily told: several warps of a CTA that share one, for instance. 4 bytes a line. Lines of
 * which threads access a few bytes are told word by word, with 128 bytes more. */
#ifndef CHECK_REPLAY_FOOTPRINT_H
#define CHECK_REPLAY_FOOTPRINT_H

#include "base/arena.h"

enum { FOOTPRINT_LINE = 128, FOOTPRINT_WARPS = 1 << 22 }; /* the most warps that it can tell apart */

/* By which threads of a warp the bytes of a line are accessed: in each access of the same layout they are the same
 * ones. */
typedef uint32_t FootprintLayout;
/* Threads beside each other, `bytes` each (a power of two, and the address a multiple of it), in whose order the line's
 * first byte is one of lane `lane`. */
static inline FootprintLayout footprint_beside(uint32_t bytes, uint32_t lane) {
    return (uint32_t)__builtin_ctz(bytes) << 5 | (lane & 31);
}
/* Some threads, and which quarters of the line they access, a bit each: those of two accesses with no quarter in common
 * have no byte in common. */
static inline FootprintLayout footprint_quarters(uint32_t quarters) {
    return 0xC0 | quarters;
}

typedef struct Footprint Footprint;
/* NULL: there are more warps than it can tell apart. Memory is the arena's. `only_writes`: what is read need not be
 * added; lines that something writes are noisy, and all others quiet. */
Footprint *footprint_new(Arena *arena, uint32_t warps, uint32_t cluster_warps, bool only_writes);
/* Threads of a warp (of the grid) read or write in the line. */
void footprint_add(Footprint *footprint, uint32_t warp, bool writes, uint64_t line, FootprintLayout layout);
/* All threads of a warp do, beside each other, `bytes` each (a power of two, and `first` a multiple of it). `alone`:
 * what each does so is ordered with what else it does. */
void footprint_add_beside(Footprint *footprint, uint32_t warp, bool writes, uint64_t first, uint32_t bytes, bool alone);
/* One thread reads or writes some bytes of a line. `alone`: what it does so is ordered with what else it does. */
void footprint_add_words(Footprint *footprint, uint32_t warp, uint32_t lane, bool alone, bool writes, uint64_t first,
                         uint64_t end);
/* Several warps read in these lines. */
void footprint_add_readers(Footprint *footprint, uint64_t first, uint64_t end);
/* It would have taken too much memory: not all was added, and nothing is known. */
bool footprint_is_full(const Footprint *footprint);

/* All that was added to another one, of the same warps. */
void footprint_merge(Footprint *footprint, const Footprint *from);

/* Whether more than half of what was added is in lines that were noisy, or became so. */
bool footprint_is_loud(const Footprint *footprint);

/* When all is added, and it is not full: */
/* Whether there is no noisy line near these bytes: sooner told than the next. */
bool footprint_is_far(const Footprint *footprint, uint64_t first, uint64_t end);
/* Whether bytes from `first` on, before `end`, are in quiet lines, or words. */
bool footprint_is_quiet(const Footprint *footprint, uint64_t first, uint64_t end);
/* The same of `bytes` at each of the addresses of some lanes. */
bool footprint_are_quiet(const Footprint *footprint, uint32_t lanes, const uint64_t addresses[32], uint32_t bytes);
/* Whether all that warps of the cluster access is in those. */
bool footprint_cluster_is_quiet(const Footprint *footprint, uint32_t cluster);

#endif
