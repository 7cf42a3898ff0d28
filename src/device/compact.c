/* Calls of kernels that check themselves, with compact cells. */
#include "device/compact.h"
#include "device/touch.h"

#define CELLS_HAVE_TAGS
enum { CELLS_ARE_LOCKED = 0 };

static inline void judge(const View *view, const Touch *touch, const Compact *cell) {
    if (!cell->masks)
        return;
    uint32_t reader = touch->kind == SHADOW_READ ? 0 : compact_judge_readers(cell, view, touch->mask);
    uint32_t race = reader ? reader : compact_judge_write(cell, view, touch->mask);
    if (race)
        tell(view, touch, compact_stamp(race), compact_scope(race), reader != 0,
             reader ? cell->masks >> 16 : cell->masks);
}

/* Of what another launch left, nothing counts. */
static inline void read_cell(const View *view, const Touch *touch) {
    uint32_t tag = here_tag(view->here);
    uint64_t at = view->here->cells + touch->offset;
    Wide old = wide_load(at);
    for (uint32_t i = 0; i < MOST_TRIES; i++) {
        Compact cell = compact_unpack(old, tag), now = cell;
        bool changes = compact_record_read(&now, view, touch->mask, (uint32_t)(touch->offset >> 4));
        if (view->scope)
            changes |= compact_observe(&now, view, touch->mask);
        Wide seen = changes ? wide_cas(at, old, compact_pack(&now, tag)) : old;
        if (wide_equal(seen, old)) {
            judge(view, touch, &cell);
            return;
        }
        old = seen;
    }
    tell_trouble(view->here, SHADOW_CELL_BUSY, touch->site);
}

static inline void write_whole(const View *view, const Touch *touch) {
    uint32_t tag = here_tag(view->here);
    Compact now = {view->stamp, {0, 0}, GRANULE_ALL};
    Wide old = wide_exchange(view->here->cells + touch->offset, compact_pack(&now, tag));
    Compact cell = compact_unpack(old, tag);
    judge(view, touch, &cell);
}

static inline void write_cell(const View *view, const Touch *touch) {
    if (touch->mask == GRANULE_ALL && !view->scope) {
        write_whole(view, touch);
        return;
    }
    uint32_t tag = here_tag(view->here);
    uint64_t at = view->here->cells + touch->offset;
    Wide old = wide_load(at);
    for (uint32_t i = 0; i < MOST_TRIES; i++) {
        Compact cell = compact_unpack(old, tag), now = cell;
        compact_record_write(&now, view, touch->mask);
        Wide next = compact_pack(&now, tag), seen = wide_equal(next, old) ? old : wide_cas(at, old, next);
        if (wide_equal(seen, old)) {
            judge(view, touch, &cell);
            return;
        }
        old = seen;
    }
    tell_trouble(view->here, SHADOW_CELL_BUSY, touch->site);
}

static inline void touch_cell(const View *view, const Touch *touch) {
    if (touch->kind == SHADOW_READ)
        read_cell(view, touch);
    else
        write_cell(view, touch);
}

/* ---- Several granules at once: the memory's answers are waited for together ---- */

/* What is left to do where a granule is not as most are: numbers alone, as of weir_tell_pair. `rest`: mask, kind, order
 * and scope. */
static inline uint32_t rest_of(const View *view, const Touch *touch) {
    return touch->mask | touch->kind << 16 | touch->order << 18 | view->scope << 21 | (uint32_t)view->is_flat << 24 |
           (uint32_t)view->of_groups << 25;
}
static inline View view_of_rest(const Here *here, uint32_t rest, uint32_t site) {
    return rest >> 24 & 1 ? view_flat(here, site, rest >> 21 & 7)
                          : view_clocked(here, site, rest >> 21 & 7, rest >> 25 & 1);
}
static inline Touch touch_of_rest(uint64_t offset, uint32_t rest, uint32_t site) {
    return (Touch){offset, rest & GRANULE_ALL, site, rest >> 16 & 3, rest >> 18 & 7};
}

static __attribute__((noinline)) void weir_slow_touch(uint64_t offset, uint32_t rest, uint32_t site, HERE) {
    Here here = HERE_IS;
    View view = view_of_rest(&here, rest, site);
    Touch touch = touch_of_rest(offset, rest, site);
    touch_cell(&view, &touch);
}
static __attribute__((noinline)) void weir_slow_judge(uint64_t low, uint64_t high, uint64_t offset, uint32_t rest,
                                                      uint32_t site, HERE) {
    Here here = HERE_IS;
    View view = view_of_rest(&here, rest, site);
    Touch touch = touch_of_rest(offset, rest, site);
    Compact cell = compact_unpack((Wide){low, high}, here_tag(&here));
    judge(&view, &touch, &cell);
}

/* Nobody else is in the cell, but for weak accesses of the same CTA in the same epoch. */
static inline bool is_mine_alone(const View *view, const Compact *cell) {
    return (!cell->write || (compact_is_same(view, cell->write) && !compact_raw_scope(cell->write))) &&
           (!cell->readers[0] || compact_is_same(view, cell->readers[0])) &&
           (!cell->readers[1] || compact_is_same(view, cell->readers[1]));
}

/* A weak read that changes nothing, and races with nothing: the own one is there, or others that stay. */
static inline bool is_quick_read(const View *view, const Compact *cell, uint32_t mask, uint32_t key) {
    uint32_t had = cell->masks >> 16;
    if (cell->write && !(compact_is_same(view, cell->write) && !compact_raw_scope(cell->write)))
        return false;
    if (compact_is_same(view, cell->readers[0]) || compact_is_same(view, cell->readers[1]))
        return !(mask & ~had) && !compact_raw_scope(cell->readers[0]) && !compact_raw_scope(cell->readers[1]);
    return view->is_flat && mask == had && cell->readers[0] && cell->readers[1] &&
           !compact_goes_before(view, view->stamp, cell->readers[0], key) &&
           !compact_goes_before(view, view->stamp, cell->readers[1], key);
}

static inline void slow_touch(const View *view, const Touch *touch) {
    const Here *here = view->here;
    weir_slow_touch(touch->offset, rest_of(view, touch), touch->site, here->real, here->bytes, here->cells, here->state,
                    here->who, here->form);
}

/* Accesses of one call have sites of their own. */
static inline uint32_t stamp_at(const View *view, const Touch *touch) {
    return view->time << view->site_bits | site_in(touch->site, view->site_bits);
}

#define BATCH_EACH _Pragma("unroll") for (uint32_t i = 0; i < BATCH; i++)

/* Those of mask 0 are none. */
static inline void read_batch(const View *view, const Touch *touches) {
    uint32_t tag = here_tag(view->here), slow = 0, changed = 0;
    Wide old[BATCH];
    BATCH_EACH old[i] = touches[i].mask ? wide_load(view->here->cells + touches[i].offset) : (Wide){0, 0};
    BATCH_EACH {
        Compact cell = compact_unpack(old[i], tag);
        bool is_empty = !cell.masks;
        if (touches[i].mask && is_empty)
            changed |= 1u << i;
        else if (touches[i].mask && !is_quick_read(view, &cell, touches[i].mask, (uint32_t)(touches[i].offset >> 4)))
            slow |= 1u << i;
    }
    BATCH_EACH if (changed >> i & 1) {
        Compact first = {0, {stamp_at(view, &touches[i]), 0}, touches[i].mask << 16};
        Wide seen = wide_cas(view->here->cells + touches[i].offset, old[i], compact_pack(&first, tag));
        slow |= (uint32_t)!wide_equal(seen, old[i]) << i;
    }
    BATCH_EACH if (slow >> i & 1) slow_touch(view, &touches[i]);
}

static inline void write_batch(const View *view, const Touch *touches) {
    uint32_t tag = here_tag(view->here);
    const Here *here = view->here;
    Wide old[BATCH];
    BATCH_EACH {
        Compact now = {stamp_at(view, &touches[i]), {0, 0}, GRANULE_ALL};
        old[i] = touches[i].mask == GRANULE_ALL
                     ? wide_exchange(here->cells + touches[i].offset, compact_pack(&now, tag))
                     : (Wide){0, 0};
    }
    BATCH_EACH {
        Compact cell = compact_unpack(old[i], tag);
        if (touches[i].mask == GRANULE_ALL && !is_mine_alone(view, &cell))
            weir_slow_judge(old[i].low, old[i].high, touches[i].offset, rest_of(view, &touches[i]), touches[i].site,
                            here->real, here->bytes, here->cells, here->state, here->who, here->form);
        else if (touches[i].mask && touches[i].mask != GRANULE_ALL)
            slow_touch(view, &touches[i]);
    }
}

/* BATCH of them, all of one kind. */
static inline void touch_cells(const View *view, const Touch *touches, uint32_t kind) {
    if (view->scope) {
        BATCH_EACH if (touches[i].mask) slow_touch(view, &touches[i]);
    } else if (kind == SHADOW_READ) {
        read_batch(view, touches);
    } else {
        write_batch(view, touches);
    }
}

#include "device/calls.h"
