/* The compact cell: 16 bytes for 16 bytes of memory (trace/shadow.h). What is done with one, without memory of its
 * own.
 *
 * Of readers it keeps two, and both of the same bytes. Every reader has a rank at each cell, a number that is as good
 * as drawn at random and always the same; those of the lowest rank stay. So each of them, however long ago, is there
 * with the same probability, and who reads again and again changes nothing. One that has read other bytes stays alone,
 * or does not. Of writers it keeps the last: bytes of the granule that it has not written are forgotten. Both lose
 * races, and make up none. */
#ifndef DEVICE_COMPACT_H
#define DEVICE_COMPACT_H

#include "device/view.h"

typedef struct Compact {
    uint32_t write, readers[2]; /* stamp, scope */
    uint32_t masks;             /* written, and from bit 16 on read */
} Compact;

enum {
    COMPACT_ALL = 0xffff,
    COMPACT_SCOPE = SHADOW_STAMP,
    COMPACT_TAG = 29,
    COMPACT_WIDEST = 4,
    COMPACT_LINKS = 3,
    COMPACT_OBSERVED = 3
};

static inline uint32_t compact_stamp(uint32_t access) {
    return access & ((1u << SHADOW_STAMP) - 1);
}
static inline uint32_t compact_raw_scope(uint32_t access) {
    return access >> COMPACT_SCOPE & 7;
}
static inline bool compact_is_observed(uint32_t write) {
    return compact_raw_scope(write) > COMPACT_WIDEST;
}
static inline uint32_t compact_scope(uint32_t access) {
    return compact_raw_scope(access) - (compact_is_observed(access) ? COMPACT_OBSERVED : 0);
}

/* None, or an access that does not race with one that is strong for the device. */
static inline bool compact_links(uint32_t access) {
    return !access || compact_scope(access) >= COMPACT_LINKS;
}

static inline Wide compact_pack(const Compact *cell, uint32_t tag) {
    uint32_t write = cell->write | tag << 30, first = cell->readers[0] | tag >> 2 << COMPACT_TAG,
             second = cell->readers[1] | tag >> 5 << COMPACT_TAG;
    return (Wide){write | (uint64_t)cell->masks << 32, first | (uint64_t)second << 32};
}
static inline uint32_t wide_tag(Wide wide) {
    return shadow_cell_tag(wide.low, wide.high);
}
/* Of another launch: an empty one. */
static inline Compact compact_unpack(Wide wide, uint32_t tag) {
    uint32_t write = (uint32_t)wide.low, first = (uint32_t)wide.high, second = (uint32_t)(wide.high >> 32);
    if (wide_tag(wide) != tag)
        return (Compact){0};
    return (Compact){
        write & ~(3u << 30), {first & ~(7u << COMPACT_TAG), second & ~(7u << COMPACT_TAG)}, (uint32_t)(wide.low >> 32)};
}

/* Whether the access may come after one that has observed the write: see gsan_cell.h. */
static inline bool compact_may_be_after_observer(const Compact *cell, const View *view) {
    for (int i = 0; i < 2; i++) {
        uint32_t reader = compact_stamp(cell->readers[i]);
        if (!reader || view->is_flat)
            continue;
        if (stamp_actor(view, reader) >> view->slot_shift == view->here->who)
            return true;
        if (knows_of(view, stamp_actor(view, reader)))
            return true;
    }
    return cell->readers[0] && cell->readers[1];
}

static inline bool compact_allows(const View *view, uint32_t access) {
    return !access || is_before(view, compact_stamp(access)) ||
           scopes_link(view, compact_stamp(access), compact_scope(access));
}

/* The access that one to these bytes races with, or 0. */
static inline uint32_t compact_judge_write(const Compact *cell, const View *view, uint32_t mask) {
    if (!(cell->masks & mask) || compact_allows(view, cell->write))
        return 0;
    return compact_is_observed(cell->write) && compact_may_be_after_observer(cell, view) ? 0 : cell->write;
}
static inline uint32_t compact_judge_readers(const Compact *cell, const View *view, uint32_t mask) {
    if (!(cell->masks >> 16 & mask))
        return 0;
    for (int i = 0; i < 2; i++)
        if (!compact_allows(view, cell->readers[i]))
            return cell->readers[i];
    return 0;
}

static inline bool compact_is_same(const View *view, uint32_t access) {
    return access && stamp_time(view, compact_stamp(access)) == view->time;
}

/* Whether an access that is there says what a read would: with the same epoch, and weak, or as strong. */
static inline bool compact_says(const View *view, uint32_t access) {
    uint32_t scope = compact_raw_scope(access);
    return compact_is_same(view, access) && (!scope || scope == view->scope);
}

/* One that stays alone is the first: the next one would have the second place, and another one's bytes. (No index that
 * is not a constant: the cell stays in registers.) */
static inline bool compact_put_reader(Compact *cell, uint32_t at, uint32_t reader, uint32_t mask, bool alone) {
    uint32_t other = alone ? 0 : at ? cell->readers[0] : cell->readers[1];
    bool second = at && !alone;
    cell->readers[0] = second ? other : reader;
    cell->readers[1] = second ? reader : other;
    cell->masks = (cell->masks & 0xffff) | mask << 16;
    return true;
}

/* Whether it is an earlier read of the same CTA, for which one of the view stands, too. */
static inline bool compact_is_stood_for(const View *view, uint32_t reader) {
    return reader && compact_raw_scope(reader) >= view->scope && is_own(view, compact_stamp(reader));
}

/* Of a reader: lower ones stay. */
static inline uint32_t compact_rank(const View *view, uint32_t reader, uint32_t key) {
    uint32_t mixed = stamp_time(view, compact_stamp(reader)) * 0x9e3779b1u ^ key;
    mixed = (mixed ^ mixed >> 15) * 0x85ebca6bu;
    return mixed ^ mixed >> 13;
}
/* Where two readers are kept, whether another one may take the place of one of them at all. */
static inline bool compact_is_candidate(const View *view, uint32_t reader, uint32_t key) {
    return !(compact_rank(view, reader, key) & ((1u << (view->here->form >> 24)) - 1));
}
static inline bool compact_goes_before(const View *view, uint32_t reader, uint32_t other, uint32_t key) {
    return compact_rank(view, reader, key) < compact_rank(view, other, key);
}

/* Of a reader that has an entry: with other bytes than the second one it stays alone, or as it is. */
static inline bool compact_grow_reader(Compact *cell, const View *view, uint32_t at, uint32_t reader, uint32_t mask,
                                       uint32_t key) {
    uint32_t other = at ? cell->readers[0] : cell->readers[1];
    if (!other || mask == cell->masks >> 16)
        return compact_put_reader(cell, at, reader, mask, false);
    return compact_goes_before(view, reader, other, key) && compact_put_reader(cell, at, reader, mask, true);
}

/* Of one that has none. */
static inline bool compact_add_reader(Compact *cell, const View *view, uint32_t reader, uint32_t mask, uint32_t key) {
    uint32_t first = cell->readers[0], second = cell->readers[1], had = cell->masks >> 16;
    if (!first)
        return compact_put_reader(cell, 0, reader, mask, false);
    if (second && !compact_is_candidate(view, reader, key))
        return false;
    if (mask != had)
        return compact_goes_before(view, reader, first, key) &&
               (!second || compact_goes_before(view, reader, second, key)) &&
               compact_put_reader(cell, 0, reader, mask, true);
    if (!second)
        return compact_put_reader(cell, 1, reader, mask, false);
    bool at = compact_goes_before(view, first, second, key);
    return compact_goes_before(view, reader, at ? second : first, key) &&
           compact_put_reader(cell, at, reader, mask, false);
}

/* False: the cell stays as it is. `key`: of the cell. */
static inline bool compact_record_read(Compact *cell, const View *view, uint32_t mask, uint32_t key) {
    uint32_t reader = view->stamp | view->scope << COMPACT_SCOPE, had = cell->masks >> 16;
    /* What races with the read races with the own write, too. */
    if (!(mask & ~cell->masks) && compact_is_same(view, cell->write) && !compact_raw_scope(cell->write))
        return false;
    bool first = compact_says(view, cell->readers[0]);
    if (first || compact_says(view, cell->readers[1]))
        return mask & ~had ? compact_grow_reader(cell, view, !first, reader, mask | had, key) : false;
    first = compact_is_stood_for(view, cell->readers[0]);
    if (first || compact_is_stood_for(view, cell->readers[1]))
        return compact_grow_reader(cell, view, !first, reader, mask, key);
    return compact_add_reader(cell, view, reader, mask, key);
}

/* A weak write stands for all reads of its bytes that it comes after. */
static inline void compact_record_write(Compact *cell, const View *view, uint32_t mask) {
    uint32_t write = view->stamp | view->scope << COMPACT_SCOPE, written = cell->masks & 0xffff,
             read = cell->masks >> 16;
    bool goes_on = compact_is_same(view, cell->write) && compact_raw_scope(cell->write) == view->scope;
    if (!view->scope) {
        read &= ~mask;
        if (!read)
            cell->readers[0] = cell->readers[1] = 0;
    }
    cell->write = write;
    cell->masks = (goes_on ? written | mask : mask) | read << 16;
}

/* Another actor has read the write, so what comes after that comes after the write. */
static inline bool compact_observe(Compact *cell, const View *view, uint32_t mask) {
    uint32_t write = cell->write;
    if (!write || !(cell->masks & mask) || compact_is_observed(write) || compact_raw_scope(write) < 2 ||
        is_own(view, compact_stamp(write)) || !scopes_link(view, compact_stamp(write), compact_scope(write)))
        return false;
    cell->write += (uint32_t)COMPACT_OBSERVED << COMPACT_SCOPE;
    return true;
}

#endif
