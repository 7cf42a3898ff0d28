/* The cell of the sampled mode, and what is done with one: plain C, without memory of its own or a library, so that a
 * device can run it, too. The caller locks the cell meanwhile.
 *
 * A cell stands for a granule of memory. With four slots it has 24 bytes: the last write, how many have read since, a
 * lock, and four of the readers. Beyond four, the next reader takes the place of one of them with a probability of four
 * to the number of readers: so each of them, however long ago, is there with the same probability. */
#ifndef ENGINE_SHADOW_GSAN_CELL_H
#define ENGINE_SHADOW_GSAN_CELL_H

#include "base/consistency.h"

#include <stddef.h>
#include <stdint.h>

/* An access, in 32 bits; 0: none.
 *   epoch    16  of its thread, from 1 on: 65535 releases; of a release the token of its clock instead
 *   thread   12  4096 of all devices
 *   scope     3  0: weak; else as Scope; 5 to 7: of a write with the scope 2 to 4, which another CTA has observed
 *   release   1 */
typedef uint32_t CellClock;

enum {
    CELL_THREAD = 16,
    CELL_SCOPE = 28,
    CELL_RELEASE = 31,
    CELL_OBSERVED = 3, /* what is added to a scope */
    CELL_MOST_READS = UINT16_MAX,
};

typedef struct GsanCell {
    CellClock write;
    uint16_t reads; /* readers since the last write that came after all of them; stays at its most */
    uint16_t lock;
    CellClock readers[];
} GsanCell;

/* A clock that a release has published. */
typedef struct CellEntry {
    uint16_t epoch; /* of the write that has the token */
    uint8_t scope;  /* of the release */
    bool inherited; /* others have released, too, and this write passed it on */
} CellEntry;

/* The threads: clocks of their releases, and who runs on them. A token is never used again, so one whose clock is
 * overwritten is known to be. */
typedef struct CellThreads {
    uint32_t count, per_device, ring;
    uint16_t *clocks;   /* [thread][token % ring][thread] */
    CellEntry *entries; /* [thread][token % ring] */
    uint32_t *tokens;   /* of each thread, the last one; from 1 on */
    uint16_t *begun;    /* the first epoch of the CTA that a thread runs now */
    uint64_t *clusters; /* a number of that CTA's cluster */
} CellThreads;

/* Who makes an access, and what is before it. */
typedef struct CellView {
    const CellThreads *threads;
    const uint16_t *clock; /* of other threads */
    uint32_t thread;
    uint16_t own;    /* the last epoch of its own CTA that is before it */
    uint16_t before; /* the last epoch of CTAs that its thread ran earlier */
    uint8_t scope;   /* of the access; 0: weak */
} CellView;

static inline CellClock cell_clock(uint32_t epoch, uint32_t thread, uint32_t scope, bool release) {
    return epoch | thread << CELL_THREAD | scope << CELL_SCOPE | (uint32_t)release << CELL_RELEASE;
}
static inline uint32_t cell_epoch(CellClock clock) {
    return clock & 0xffff;
}
static inline uint32_t cell_thread(CellClock clock) {
    return clock >> CELL_THREAD & 0xfff;
}
static inline uint32_t cell_reader_scope(CellClock clock) {
    return clock >> CELL_SCOPE & 7;
}
static inline bool cell_is_observed(CellClock clock) {
    return cell_reader_scope(clock) > SCOPE_SYS;
}
static inline uint32_t cell_scope(CellClock clock) {
    return cell_reader_scope(clock) - (cell_is_observed(clock) ? CELL_OBSERVED : 0);
}
static inline bool cell_is_release(CellClock clock) {
    return clock >> CELL_RELEASE;
}

static inline size_t cell_size(uint32_t slots) {
    return sizeof(GsanCell) + slots * sizeof(CellClock);
}

static inline const CellEntry *cell_entry(const CellThreads *threads, uint32_t thread, uint32_t token) {
    return &threads->entries[(size_t)thread * threads->ring + token % threads->ring];
}
static inline uint16_t *cell_row(const CellThreads *threads, uint32_t thread, uint32_t token) {
    return &threads->clocks[((size_t)thread * threads->ring + token % threads->ring) * threads->count];
}
/* Whether the clock of a release has left the ring. */
static inline bool cell_is_lost(const CellThreads *threads, CellClock clock) {
    return cell_is_release(clock) && threads->tokens[cell_thread(clock)] - cell_epoch(clock) >= threads->ring;
}

/* The epoch of an access; if it is lost, one that is not before it: that of the oldest clock still there. */
static inline uint32_t cell_time(const CellThreads *threads, CellClock clock) {
    if (!cell_is_release(clock))
        return cell_epoch(clock);
    uint32_t thread = cell_thread(clock);
    uint32_t token = cell_is_lost(threads, clock) ? threads->tokens[thread] - threads->ring + 1 : cell_epoch(clock);
    return cell_entry(threads, thread, token)->epoch;
}

static inline bool cell_is_before(const CellView *view, CellClock clock) {
    uint32_t thread = cell_thread(clock), time = cell_time(view->threads, clock);
    if (thread != view->thread)
        return time <= view->clock[thread];
    uint32_t own = view->own, before = view->before; /* on a device, the view stays in registers then */
    return time <= (time >= view->threads->begun[thread] ? own : before);
}

/* The narrowest scope that has both; a CTA that has left its thread may have been anywhere on its device. */
static inline uint32_t cell_needed(const CellView *view, CellClock clock) {
    const CellThreads *threads = view->threads;
    uint32_t thread = cell_thread(clock);
    bool is_current = cell_time(threads, clock) >= threads->begun[thread];
    if (thread == view->thread && is_current)
        return 1;
    if (thread / threads->per_device != view->thread / threads->per_device)
        return 4;
    return is_current && threads->clusters[thread] != threads->clusters[view->thread] ? 3 : 2;
}

/* Both are strong, and each scope has the other one. */
static inline bool cell_links(const CellView *view, CellClock clock) {
    if (!view->scope || !cell_scope(clock))
        return false;
    uint32_t needed = cell_needed(view, clock);
    return view->scope >= needed && cell_scope(clock) >= needed;
}

static inline bool cell_allows(const CellView *view, CellClock clock) {
    return !clock || cell_is_before(view, clock) || cell_links(view, clock);
}

/* Another CTA has read the write, so what comes after that comes after the write. */
static inline void cell_observe(GsanCell *cell, const CellView *view) {
    if (!cell_is_observed(cell->write) && cell_links(view, cell->write) && cell_needed(view, cell->write) > 1)
        cell->write += (uint32_t)CELL_OBSERVED << CELL_SCOPE;
}

/* Whether the access may come after one that has observed the write: a reader knows only when it was there last, so it
 * counts if anything of its thread is known; so does one that is no longer there. */
static inline bool cell_may_be_after_observer(const GsanCell *cell, uint32_t slots, const CellView *view) {
    for (uint32_t i = 0; i < slots; i++) {
        uint32_t thread = cell_thread(cell->readers[i]);
        if (cell->readers[i] && (thread == view->thread || view->clock[thread]))
            return true;
    }
    return cell->reads > slots;
}

/* The access that one races with, or 0. */
static inline CellClock cell_judge_read(const GsanCell *cell, uint32_t slots, const CellView *view) {
    if (cell_allows(view, cell->write))
        return 0;
    return cell_is_observed(cell->write) && cell_may_be_after_observer(cell, slots, view) ? 0 : cell->write;
}
static inline CellClock cell_judge_readers(const GsanCell *cell, uint32_t slots, const CellView *view) {
    for (uint32_t i = 0; i < slots; i++)
        if (!cell_allows(view, cell->readers[i]))
            return cell->readers[i];
    return 0;
}

/* A number from a seed, a thread and how often that thread has asked: the finalizer of MurmurHash3. */
static inline uint32_t cell_random(uint64_t seed, uint32_t thread, uint32_t count) {
    uint64_t hash = seed ^ ((uint64_t)thread << 32 | count) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccdu;
    hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53u;
    return (uint32_t)(hash >> 32);
}

/* The slot of a read that stands for an earlier one of the same thread, or that nothing has; else `slots`. */
static inline uint32_t cell_own_slot(const GsanCell *cell, uint32_t slots, const CellView *view) {
    uint32_t empty = slots;
    for (uint32_t i = 0; i < slots; i++) {
        CellClock reader = cell->readers[i];
        if (!reader)
            empty = empty == slots ? i : empty;
        else if (cell_thread(reader) == view->thread && cell_reader_scope(reader) >= view->scope &&
                 cell_is_before(view, reader))
            return i;
    }
    return empty;
}

/* `random`: any number, another one for each call. */
static inline void cell_record_read(GsanCell *cell, uint32_t slots, const CellView *view, CellClock clock,
                                    uint32_t random) {
    uint32_t slot = cell_own_slot(cell, slots, view);
    if (slot < slots && cell->readers[slot]) {
        cell->readers[slot] = clock;
        return;
    }
    cell->reads += cell->reads < CELL_MOST_READS;
    if (slot == slots)
        slot = random % cell->reads;
    if (slot < slots)
        cell->readers[slot] = clock;
}

/* A weak write stands for all reads that it comes after. */
static inline void cell_record_write(GsanCell *cell, uint32_t slots, const CellView *view, CellClock clock) {
    if (!view->scope && cell->reads) {
        cell->reads = 0;
        for (uint32_t i = 0; i < slots; i++) {
            if (cell->readers[i] && cell_is_before(view, cell->readers[i]))
                cell->readers[i] = 0;
            cell->reads += cell->readers[i] != 0;
        }
    }
    cell->write = clock;
}

/* ---- gsan_cell.c: weak accesses to cells one after the other ---- */

/* Goes on until a cell has a race: its number is the result, and `*race` what it races with; `count`: there is none. A
 * cell with a race is recorded, too. `*asked`: how often the thread has asked for a number. */
uint32_t gsan_cells_read(void *cells, uint32_t count, uint32_t slots, const CellView *view, CellClock clock,
                         uint64_t seed, uint32_t *asked, CellClock *race);
uint32_t gsan_cells_write(void *cells, uint32_t count, uint32_t slots, const CellView *view, CellClock clock,
                          CellClock *race, bool *was_read);

#endif
