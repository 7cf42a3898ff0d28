/* The steps of a run: which are before which whatever the order is, and which could come the other way round. */
#include "machine/simt/schedule/explore_internal.h"

#include "engine/clock/vector.h"

static uint32_t chain_of(ExploreSteps *steps, uint32_t who) {
    for (uint32_t i = 0; i < steps->chain_count; i++)
        if (steps->chains[i] == who)
            return i;
    if (steps->chain_count == CHAINS_MOST) {
        steps->wide = true;
        return CHAINS_MOST - 1;
    }
    steps->chains[steps->chain_count] = who;
    return steps->chain_count++;
}

static void learn(ExploreStep *step, const ExploreStep *other) {
    vector16_join(step->known, other->known, CHAINS_MOST);
}

static bool knows(const ExploreStep *step, const ExploreStep *other) {
    return step->known[other->chain] >= other->number;
}

bool steps_before(const ExploreSteps *steps, uint32_t first, uint32_t second) {
    return knows(&steps->all[second], &steps->all[first]);
}

void steps_issue(ExploreSteps *steps, uint32_t sequence) {
    *ARENA_PUSH(steps->arena, steps->issued, steps->issued_count, steps->issued_capacity) =
        (Issued){sequence, steps->count};
}

/* What its threads, or those that issued the operation, did before. */
static void learn_own(const ExploreSteps *steps, ExploreStep *step, uint32_t first_thread, uint32_t lanes) {
    for (uint32_t i = 0; step->who & TRAIL_OUTSTANDING && i < steps->issued_count; i++)
        if (steps->issued[i].sequence == (step->who & ~TRAIL_OUTSTANDING) && steps->issued[i].step < steps->count)
            learn(step, &steps->all[steps->issued[i].step]);
    uint32_t seen = 0;
    for (; !(step->who & TRAIL_OUTSTANDING) && lanes; lanes &= lanes - 1) {
        uint32_t last = steps->last[first_thread + (uint32_t)__builtin_ctz(lanes)];
        if (last && last != seen)
            learn(step, &steps->all[last - 1]);
        seen = last;
    }
}

void steps_add(ExploreSteps *steps, uint32_t who, uint32_t first_thread, uint32_t lanes, uint32_t point,
               const ExploreTouch *touch, StepsExchange *exchange, void *context) {
    uint32_t chain = chain_of(steps, who), index = steps->count;
    ExploreStep *made = ARENA_PUSH(steps->arena, steps->all, steps->count, steps->capacity);
    *made =
        (ExploreStep){.who = who, .point = point, .chain = chain, .number = ++steps->lengths[chain], .touch = *touch};
    steps->count--; /* not there yet for what looks at those before */
    learn_own(steps, made, first_thread, lanes);
    steps->count++;
    for (uint32_t i = index; i-- > 0;) {
        ExploreStep *before = &steps->all[i];
        if (knows(made, before))
            continue;
        TouchOrder order = touch_order(&before->touch, touch);
        if (order == TOUCH_EXCHANGE)
            exchange(context, steps, i, index);
        if (order != TOUCH_APART)
            learn(made, before);
    }
    made->known[chain] = (uint16_t)made->number;
    for (; !(who & TRAIL_OUTSTANDING) && lanes; lanes &= lanes - 1)
        steps->last[first_thread + (uint32_t)__builtin_ctz(lanes)] = index + 1;
}
