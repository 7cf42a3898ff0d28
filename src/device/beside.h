/* Launches that may run at the same time (ShadowBeside): what a cell has of another one, and what the two have done to
 * each other.
 *
 * Such a cell is not taken for this launch's: what it says is held against each access. A read leaves it as it is, so
 * that the launch's own write, which comes later, finds who has read; a write takes its place. Signals of launches are
 * not followed: a launch that acquires an address through which the other one has released may be ordered after it, and
 * after all that this one comes after (device/flags.h). What races with those is reported as met. */
#ifndef DEVICE_BESIDE_H
#define DEVICE_BESIDE_H

#include "device/compact.h"
#include "device/touch.h"

static inline uint64_t beside_at(const Here *here) {
    return here->real - sizeof(ShadowBeside);
}
/* On its way: whether some launches may run at the same time. */
static inline uint32_t beside_any(const Here *here) {
    return load32(beside_at(here) + offsetof(ShadowBeside, any));
}

/* Whether more has to be looked at: the cell may be of a launch that runs at the same time. */
static inline bool is_foreign(Wide wide, uint32_t tag, uint32_t any) {
    uint32_t other = wide_tag(wide);
    return any && other && other != tag;
}

static inline bool has_waited(const View *view) {
    uint64_t waits = STATE64(view->here, waits);
    uint32_t cta = waits ? own_cta(view) : 0;
    return waits && load32(waits + 4 * (uint64_t)(cta / 32)) >> cta % 32 & 1;
}

static inline bool row_has(uint64_t row, uint32_t tag) {
    return load32(row + 4 * (tag / 32)) >> tag % 32 & 1;
}

/* Whether the launch of another tag may run at the same time. Of two, the one that was made later has the bit. */
static inline bool is_beside(const View *view, uint32_t other) {
    uint32_t tag = here_tag(view->here);
    uint64_t at = beside_at(view->here), begun = at + offsetof(ShadowBeside, begun);
    enum { ROW = 32 };
    bool is = row_has(begun + ROW * (uint64_t)tag, other) &&
              (!has_waited(view) || row_has(at + offsetof(ShadowBeside, waited) + ROW * (uint64_t)tag, other));
    return is || row_has(begun + ROW * (uint64_t)other, tag);
}

/* The tag of the launch that has left the cell, if it may run at the same time; else 0. */
static inline uint32_t beside_tag(const View *view, Wide wide) {
    uint32_t other = wide_tag(wide);
    bool asks = is_foreign(wide, here_tag(view->here), beside_any(view->here));
    return asks && is_beside(view, other) ? other : 0;
}

static inline void report_beside(const View *view, const Touch *touch, uint32_t access, bool was_read, uint32_t mask,
                                 uint32_t other) {
    uint64_t at = beside_at(view->here);
    uint32_t form = load32(at + offsetof(ShadowBeside, forms) + 4 * (uint64_t)other), stamp = compact_stamp(access);
    uint32_t site_bits = form & 255, epoch_bits = form >> 8 & 255, shift = form >> 16 & 255;
    uint32_t actor = stamp >> site_bits >> epoch_bits >> shift;
    uint32_t cta = !epoch_bits ? actor : form >> SHADOW_BESIDE_OWN & 1 ? actor + 1 : 0;
    uint32_t met = row_has(view->here->state + offsetof(ShadowState, met), other);
    bool in_flight = shift && (stamp >> site_bits >> epoch_bits & 1);
    weir_tell_pair(view->here->state, view->here->real + touch->offset, mask & touch->mask, touch->site, own_cta(view),
                   stamp & ((1u << site_bits) - 1), cta,
                   touch->kind | view->scope << 8 | (was_read ? KIND_READ : KIND_WRITE) << 16 |
                       compact_scope(access) << 24,
                   (uint32_t)in_flight | touch->order << 8, other | met << 8);
}

/* `wide`: a cell of a launch that may run at the same time, or its line's. */
static inline void judge_beside(const View *view, const Touch *touch, Wide wide, uint32_t other) {
    Compact cell = compact_unpack(wide, other);
    cell.write &= ~(1u << COMPACT_TAG); /* of a line: whether it is split */
    bool strong = view->scope >= COMPACT_LINKS, written = cell.write && (cell.masks & touch->mask);
    if (written && !(strong && compact_links(cell.write)))
        report_beside(view, touch, cell.write, false, cell.masks, other);
    if (touch->kind == KIND_READ || !(cell.masks >> 16 & touch->mask))
        return;
    uint32_t reader = cell.readers[0] && !(strong && compact_links(cell.readers[0]))   ? cell.readers[0]
                      : cell.readers[1] && !(strong && compact_links(cell.readers[1])) ? cell.readers[1]
                                                                                       : 0;
    if (reader)
        report_beside(view, touch, reader, true, cell.masks >> 16, other);
}

#endif
