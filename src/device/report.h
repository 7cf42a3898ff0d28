/* What was found, and what was not checked: told to the host by the state of the launch. Nothing stops. */
#ifndef DEVICE_REPORT_H
#define DEVICE_REPORT_H

#include "device/view.h"

typedef struct DeviceReported {
    uint64_t address;
    uint32_t mask, site, kind, order, scope;
    uint32_t earlier_stamp, earlier_scope;
    uint32_t earlier_kind;
} DeviceReported;

static inline void report_trouble(const Here *here, uint32_t trouble, uint32_t site) {
    uint64_t at = here->state + offsetof(ShadowState, trouble);
    if (!(or32(at, trouble) & trouble))
        store32(here->state + offsetof(ShadowState, trouble_site), site);
}

/* By all lanes, of which some touch memory that has no cells. */
static inline void report_outside(const Here *here, uint32_t lanes, bool is_outside, uint32_t site, uint64_t address) {
    uint32_t all = ballot(lanes, is_outside);
    if (all && lane() == lowest(all) && !add64(here->state + offsetof(ShadowState, outside), ones(all))) {
        store32(here->state + offsetof(ShadowState, outside_site), site + 1);
        store64(here->state + offsetof(ShadowState, outside_address), address);
    }
}

/* Two sites and what they did: told once. */
static inline bool is_new_pair(uint64_t state, uint32_t site, uint32_t earlier_site, uint32_t kinds) {
    uint32_t key = (site * 0x9e3779b1u ^ earlier_site * 0x85ebca6bu ^ kinds * 0xc2b2ae35u) | 1;
    uint64_t pairs = constant64(state + offsetof(ShadowState, pairs));
    for (uint32_t i = 0; i < 8; i++) {
        uint64_t at = pairs + 4 * (uint64_t)(((key >> 8) + i) & (SHADOW_PAIRS - 1));
        uint32_t old = load32(at);
        if (!old)
            old = cas32(at, 0, key);
        if (old == key)
            return false;
        if (!old)
            return true;
    }
    return false;
}

/* Numbers alone, so that there is no need to keep what they come from in memory. `kinds`: as the report has them, a
 * byte each. `other`: tag of the launch of the earlier one, and from bit 8 on whether signals may order the two; 0: it
 * is of the same launch. */
static __attribute__((noinline)) void weir_tell_pair(uint64_t state, uint64_t address, uint32_t mask, uint32_t site,
                                                     uint32_t cta, uint32_t earlier_site, uint32_t earlier,
                                                     uint32_t kinds, uint32_t rest, uint32_t other) {
    if (!(other >> 8))
        add64(state + offsetof(ShadowState, races), 1);
    if (!is_new_pair(state, site, earlier_site ^ other << 20, kinds))
        return;
    uint32_t number = add32(state + offsetof(ShadowState, report_count), 1);
    if (number >= SHADOW_REPORTS) {
        or32(state + offsetof(ShadowState, trouble), SHADOW_REPORTS_FULL);
        return;
    }
    uint64_t at = constant64(state + offsetof(ShadowState, reports)) + (uint64_t)number * sizeof(ShadowReport);
    store64(at + offsetof(ShadowReport, address), address);
    store32(at + offsetof(ShadowReport, mask), mask);
    store32(at + offsetof(ShadowReport, site), site);
    store32(at + offsetof(ShadowReport, cta), cta);
    store32(at + offsetof(ShadowReport, earlier_site), earlier_site);
    store32(at + offsetof(ShadowReport, earlier), earlier);
    store32(at + offsetof(ShadowReport, kind), kinds);
    store32(at + offsetof(ShadowReport, other), other & 255);
    store32(at + offsetof(ShadowReport, met), other >> 8);
    store32(at + offsetof(ShadowReport, in_flight), rest | 1u << 16);
}

/* CTA + 1, if it is still known. */
static inline uint32_t cta_of(const View *view, uint32_t stamp) {
    if (view->is_flat)
        return stamp_time(view, stamp);
    uint32_t actor = stamp_actor(view, stamp), epoch = stamp_epoch(view, stamp);
    uint64_t at = actor_of(view->here, actor >> view->slot_shift);
    bool of_group = view->slot_shift && (actor & 1);
    return epoch > load32(of_group ? ACTOR(at, old_groups) : ACTOR(at, begun)) ? load32(ACTOR(at, cta)) + 1 : 0;
}

static inline uint32_t own_cta(const View *view) {
    return view->is_flat ? view->here->who - 1 : load32(ACTOR(view->actor, cta));
}

static inline void report_race(const View *view, const DeviceReported *reported) {
    bool in_flight = !view->is_flat && view->slot_shift && (stamp_actor(view, reported->earlier_stamp) & 1);
    weir_tell_pair(view->here->state, reported->address, reported->mask, reported->site, own_cta(view),
                   reported->earlier_stamp & ((1u << view->site_bits) - 1), cta_of(view, reported->earlier_stamp),
                   reported->kind | reported->scope << 8 | reported->earlier_kind << 16 | reported->earlier_scope << 24,
                   (uint32_t)in_flight | reported->order << 8, 0);
}

#endif
