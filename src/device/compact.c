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

#include "device/calls.h"
