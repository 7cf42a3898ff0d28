/* Calls of kernels that check themselves, with the cells of the seed: 24 bytes for each word, with a lock, as the CPU's
 * engine has them (engine/shadow/gsan_cell.h). What a release has published is found by its address (device/flags.h),
 * and not in the cell. */
#define CELLS_COMPACT 0

#include "device/touch.h"
#include "engine/shadow/gsan_cell.h"

enum { SEED_SLOTS = 4, SEED_LOCK = 1 << 16, SEED_META = 4 };

static inline bool try_cell(uint64_t at) {
    if (or32(at + SEED_META, SEED_LOCK) & SEED_LOCK)
        return false;
    fence();
    return true;
}
static inline void unlock_cell(uint64_t at) {
    fence();
    and32(at + SEED_META, ~(uint32_t)SEED_LOCK);
}

/* Global addresses as pointers: generic ones are the same. */
static inline void *pointer(uint64_t at) {
    return (void *)(uintptr_t)at;
}

static inline uint32_t seed_stamp(const View *view, CellClock clock) {
    return (cell_thread(clock) << view->epoch_bits | cell_epoch(clock)) << view->site_bits;
}

/* Whether a read of it makes it an observed one. */
static inline bool cell_is_observable(const CellView *view, CellClock write) {
    return !cell_is_observed(write) && cell_links(view, write) && cell_needed(view, write) > 1;
}

/* Who polls finds itself again: nothing has to be locked for that. */
static inline bool is_seen(const CellView *cell_view, uint64_t at, CellClock clock) {
    CellClock write = load32(at);
    bool is_there = false;
    for (uint32_t i = 0; i < SEED_SLOTS; i++)
        is_there |= load32(at + sizeof(GsanCell) + 4 * i) == clock;
    return is_there && cell_allows(cell_view, write) && !(write && cell_is_observable(cell_view, write));
}

static inline void seed_record(const View *view, GsanCell *cell, const CellView *cell_view, CellClock clock, bool reads,
                               uint32_t index) {
    if (!reads) {
        cell_record_write(cell, SEED_SLOTS, cell_view, clock);
        return;
    }
    if (cell->readers[0] != clock)
        cell_record_read(cell, SEED_SLOTS, cell_view, clock,
                         cell_random(STATE64(view->here, random), view->here->who, index));
    if (view->scope)
        cell_observe(cell, cell_view);
}

static inline void seed_word(const View *view, const Touch *touch, CellView *cell_view, uint32_t word) {
    uint64_t index = touch->offset / SHADOW_WORD + word, at = view->here->cells + index * SHADOW_SEED_CELL;
    CellClock clock = cell_clock(view->epoch, view->here->who, view->scope, false);
    bool reads = touch->kind == KIND_READ;
    if (reads && view->scope && is_seen(cell_view, at, clock))
        return;
    /* Who has a lock gives it back before lanes of the same warp try again: no lane waits for one that waits. */
    uint32_t lanes = active_lanes();
    CellClock reader = 0, race = 0;
    for (bool done = false; ballot(lanes, !done);)
        if (!done && try_cell(at)) {
            GsanCell *cell = pointer(at);
            reader = reads || !cell->reads ? 0 : cell_judge_readers(cell, SEED_SLOTS, cell_view);
            race = reader ? reader : cell_judge_read(cell, SEED_SLOTS, cell_view);
            seed_record(view, cell, cell_view, clock, reads, (uint32_t)index);
            unlock_cell(at);
            done = true;
        }
    if (race)
        report(view, touch, seed_stamp(view, race), cell_scope(race), reader != 0, 0xfu << 4 * word);
}

/* Nothing of a cell is looked at before it is locked. */
typedef struct Cells {
    bool none;
} Cells;
static inline Cells cells_begin(const Here *here, uint64_t offset, bool there) {
    (void)here, (void)offset, (void)there;
    return (Cells){true};
}

static inline void touch_cell(const View *view, const Touch *touch, Cells cells) {
    (void)cells;
    const Here *here = view->here;
    CellThreads threads = {.count = STATE32(here, slots),
                           .per_device = SHADOW_MOST_SLOTS + 1,
                           .ring = 1,
                           .begun = pointer(STATE64(here, begun)),
                           .clusters = pointer(STATE64(here, clusters))};
    uint64_t vector = vector_of(here, here->who, VECTOR_KNOWS);
    CellView cell_view = {.threads = &threads,
                          .clock = pointer(vector),
                          .thread = here->who,
                          .own = (uint16_t)view->epoch,
                          .before = load16(vector + 2 * (uint64_t)here->who),
                          .scope = (uint8_t)view->scope};
    for (uint32_t word = 0; word < SHADOW_GRANULE / SHADOW_WORD; word++)
        if (touch->mask >> 4 * word & 0xf)
            seed_word(view, touch, &cell_view, word);
}

static inline void touch_part(const View *view, uint32_t lanes, bool acts, const Touch *touch, const Cells *cells) {
    if (acts)
        touch_cell(view, touch, *cells);
    meet(lanes);
}

/* Nothing is done before the cell is locked. */
typedef Cells Strong;
static inline Strong strong_begin(const View *view, bool acts, const Touch *touch, const Cells *cells) {
    (void)view, (void)acts, (void)touch;
    return *cells;
}
static inline void strong_end(const View *view, uint32_t lanes, bool acts, const Touch *touch, const Cells *cells,
                              const Strong *strong) {
    (void)strong;
    touch_part(view, lanes, acts, touch, cells);
}

static inline void touch_cells(const View *view, uint32_t lanes, const Touch *touches) {
#pragma unroll
    for (uint32_t i = 0; i < BATCH; i++)
        if (touches[i].mask)
            touch_cell(view, &touches[i], cells_begin(view->here, touches[i].offset, true));
    meet(lanes);
}

/* There are none. */
static inline void touch_lines(const View *view, uint32_t lanes, const Touch *touches, uint32_t count) {
    (void)view, (void)lanes, (void)touches, (void)count;
}

#include "device/calls.h"
