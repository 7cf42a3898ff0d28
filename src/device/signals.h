/* What may order CTAs of several processes: releases and acquires are written down with the time, for who knows what the
 * other processes did at that time (ShadowSignal). Only where the launch wants that. */
#ifndef DEVICE_SIGNALS_H
#define DEVICE_SIGNALS_H

#include "device/report.h"

enum { MOST_STEPS_BACK = 16 };

static inline uint64_t signals_of(const Here *here) {
    return CELLS_COMPACT ? STATE64(here, signals) : 0;
}
static inline uint64_t signal_at(const Here *here, uint32_t number_1) {
    return signals_of(here) + (number_1 - 1) * (uint64_t)sizeof(ShadowSignal);
}

/* Who polls has read the address before, and released nothing since: that is the same signal, now. */
static inline bool is_again(const Here *here, uint64_t actor, uint64_t address, uint32_t kind) {
    uint32_t number = load32(ACTOR(actor, signal));
    for (uint32_t i = 0; number && i < MOST_STEPS_BACK; i++) {
        uint64_t at = signal_at(here, number);
        uint32_t was = load32(at + offsetof(ShadowSignal, kind));
        if (was != SHADOW_ACQUIRES && was != SHADOW_OBSERVES)
            return false;
        if (was == kind && load64(at) == address) {
            store64(at + offsetof(ShadowSignal, time), device_time());
            return true;
        }
        number = load32(at + offsetof(ShadowSignal, previous));
    }
    return false;
}

/* By one lane. `epoch`: that a release has closed; others close the one that there is now, but for observations. That
 * of a release is written before its write is made, and one of an acquire behind its read: who acquires what was
 * released does so at a later time. A function of its own: there are few. */
static __attribute__((noinline)) void weir_slow_signal(uint64_t address, uint32_t kind, uint32_t epoch,
                                                       uint32_t complete, HERE_FEW) {
    Here here = HERE_FEW_IS;
    uint64_t actor = actor_of(&here, who);
    if (kind == SHADOW_OBSERVES)
        add32(ACTOR(actor, observed), 1);
    if ((kind == SHADOW_ACQUIRES || kind == SHADOW_OBSERVES) && is_again(&here, actor, address, kind))
        return;
    uint32_t number = 1 + add32(state + offsetof(ShadowState, signal_count), 1);
    if (number > SHADOW_SIGNALS)
        return;
    uint64_t at = signal_at(&here, number), time = device_time();
    if (kind == SHADOW_OBSERVES)
        epoch = load32(ACTOR(actor, epoch)) + 1;
    else if (kind != SHADOW_RELEASES)
        epoch = add32(ACTOR(actor, epoch), 1) + 1;
    if (epoch >= most_epoch(form >> 16 & 255))
        report_trouble(&here, SHADOW_EPOCHS_OVER, 0);
    store64(at, address);
    store64(at + offsetof(ShadowSignal, time), time);
    store32(at + offsetof(ShadowSignal, actor), who);
    store32(at + offsetof(ShadowSignal, epoch), epoch);
    store32(at + offsetof(ShadowSignal, complete), complete);
    store32(at + offsetof(ShadowSignal, previous), load32(ACTOR(actor, signal)));
    store32(at + offsetof(ShadowSignal, kind), kind);
    store32(ACTOR(actor, signal), number);
    fence();
}

/* By all lanes, of which some did that, each address once. */
static inline void signal_each(const Here *here, uint32_t lanes, uint32_t want, uint64_t address, uint32_t kind) {
    while (want) {
        uint32_t leader = lowest(want);
        uint64_t one = from_lane64(lanes, address, leader);
        if (lane() == leader)
            weir_slow_signal(one, kind, 0, 0, HERE_FEW_GIVEN(here));
        want &= ~ballot(lanes, address == one);
    }
    meet(lanes);
}

#endif
