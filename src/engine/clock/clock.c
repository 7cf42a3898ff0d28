/* Clocks over CTAs: what only one owner has is changed in place, anything else is copied first. */
#include "engine/clock/clock.h"

#include "base/table.h"

#include <string.h>

enum { LANES = 32 };

/* ---- One CTA ---- */

static size_t cta_size(uint32_t capacity) {
    return sizeof(CtaClock) + capacity * sizeof(ClockRun);
}

CtaClock *cta_clock_share(CtaClock *clock) {
    if (clock)
        clock->references++;
    return clock;
}

void cta_clock_drop(ClockSpace *space, CtaClock *clock) {
    if (clock && --clock->references == 0)
        gsan_pool_give(space->pool, clock, cta_size(clock->capacity));
}

CtaClock *cta_clock_new(ClockSpace *space, uint32_t capacity) {
    CtaClock *clock = gsan_pool_take(space->pool, cta_size(capacity));
    clock->references = 1;
    clock->capacity = capacity;
    return clock;
}

/* The first run of that warp or a later one. */
static uint32_t first_run(const CtaClock *clock, uint32_t warp) {
    uint32_t low = 0, high = clock->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (clock->runs[middle].warp < warp)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t cta_clock_lanes(const CtaClock *clock, uint32_t warp, uint32_t epoch) {
    uint32_t known = 0;
    for (uint32_t i = first_run(clock, warp); i < clock->count && clock->runs[i].warp == warp; i++)
        if (clock->runs[i].epoch >= epoch)
            known |= clock->runs[i].lanes;
    return known;
}

bool cta_clock_has_runs(const CtaClock *clock, const CtaClock *other) {
    for (uint32_t i = 0; i < other->count; i++)
        if (other->runs[i].lanes & ~cta_clock_known(clock, other->runs[i].warp, other->runs[i].epoch))
            return false;
    return true;
}

/* Appends what is above the base of runs of one warp, the largest epochs first. */
static void put_runs(CtaClock *to, ClockRun *runs, uint32_t count) {
    uint32_t covered = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t best = i;
        for (uint32_t j = i + 1; j < count; j++)
            if (runs[j].epoch > runs[best].epoch)
                best = j;
        ClockRun run = runs[best];
        runs[best] = runs[i];
        run.lanes &= ~covered;
        if (!run.lanes || (run.warp < CLOCK_MARKS && run.epoch <= to->base))
            continue;
        covered |= run.lanes;
        if (to->count && to->runs[to->count - 1].warp == run.warp && to->runs[to->count - 1].epoch == run.epoch)
            to->runs[to->count - 1].lanes |= run.lanes;
        else
            to->runs[to->count++] = run;
    }
}

static void lift(const ClockSpace *space, CtaClock *clock, uint32_t cta) {
    if (space->lift)
        space->lift(space->context, clock, cta);
}

static CtaClock *cta_union(ClockSpace *space, const CtaClock *a, const CtaClock *b, uint32_t cta) {
    CtaClock *made = cta_clock_new(space, a->count + b->count);
    made->base = a->base > b->base ? a->base : b->base;
    for (uint32_t i = 0, j = 0; i < a->count || j < b->count;) {
        uint32_t warp =
            i < a->count && (j == b->count || a->runs[i].warp <= b->runs[j].warp) ? a->runs[i].warp : b->runs[j].warp;
        ClockRun runs[2 * LANES];
        uint32_t count = 0;
        while (i < a->count && a->runs[i].warp == warp)
            runs[count++] = a->runs[i++];
        while (j < b->count && b->runs[j].warp == warp)
            runs[count++] = b->runs[j++];
        put_runs(made, runs, count);
    }
    lift(space, made, cta);
    return made;
}

void cta_clock_join(ClockSpace *space, CtaClock **clock, CtaClock *other, uint32_t cta) {
    if (cta_clock_includes(*clock, other))
        return;
    CtaClock *made = cta_clock_includes(other, *clock) ? cta_clock_share(other) : cta_union(space, *clock, other, cta);
    cta_clock_drop(space, *clock);
    *clock = made;
}

void cta_clock_raise_all(ClockSpace *space, CtaClock **clock, uint32_t cta, CtaClock *runs) {
    if (*clock) {
        cta_clock_join(space, clock, runs, cta);
        cta_clock_drop(space, runs);
    } else {
        lift(space, runs, cta);
        *clock = runs;
    }
}

void cta_clock_raise(ClockSpace *space, CtaClock **clock, uint32_t cta, ClockRun run) {
    if (!(run.lanes & ~cta_clock_known(*clock, run.warp, run.epoch)))
        return;
    CtaClock *more = cta_clock_new(space, 1);
    more->count = 1;
    more->runs[0] = run;
    cta_clock_raise_all(space, clock, cta, more);
}

void cta_clock_raise_base(ClockSpace *space, CtaClock **clock, uint32_t cta, uint32_t base) {
    if (*clock && (*clock)->references == 1 && !(*clock)->count) {
        (*clock)->base = (*clock)->base > base ? (*clock)->base : base;
        return;
    }
    CtaClock *more = cta_clock_new(space, 0);
    more->base = base;
    cta_clock_join(space, clock, more, cta);
    cta_clock_drop(space, more);
}

void cta_clock_add(CtaClock *clock, ClockRun run) {
    uint32_t at = first_run(clock, run.warp), kept = at, end = at;
    while (end < clock->count && clock->runs[end].warp == run.warp) {
        ClockRun there = clock->runs[end++];
        there.lanes &= ~run.lanes;
        if (there.lanes && there.epoch == run.epoch)
            run.lanes |= there.lanes;
        else if (there.lanes)
            clock->runs[kept++] = there;
    }
    memmove(&clock->runs[kept + 1], &clock->runs[end], (clock->count - end) * sizeof(ClockRun));
    clock->runs[kept] = run;
    clock->count += kept + 1 - end;
}

/* ---- All CTAs ---- */

void clock_space_grow(ClockSpace *space, uint32_t ctas) {
    uint32_t leaves = (uint32_t)(((uint64_t)ctas + CTA_LEAF - 1) / CTA_LEAF);
    space->leaf_count = leaves > space->leaf_count ? leaves : space->leaf_count;
}

Clock *clock_share(Clock *clock) {
    if (clock)
        clock->references++;
    return clock;
}

static void leaf_drop(ClockSpace *space, CtaLeaf *leaf) {
    if (!leaf || --leaf->references > 0)
        return;
    for (uint32_t i = 0; i < leaf->end; i++)
        cta_clock_drop(space, leaf->ctas[i]);
    gsan_pool_give(space->pool, leaf, sizeof *leaf);
}

static size_t clock_size(uint32_t leaf_count) {
    return sizeof(Clock) + leaf_count * sizeof(CtaLeaf *);
}

void clock_drop(ClockSpace *space, Clock *clock) {
    if (!clock || --clock->references > 0)
        return;
    for (uint32_t i = 0; i < clock->leaf_count; i++)
        leaf_drop(space, clock->leaves[i]);
    gsan_pool_give(space->pool, clock, clock_size(clock->leaf_count));
}

static uint32_t new_line(ClockSpace *space) {
    if (space->line_count == space->line_capacity) {
        uint32_t more = space->line_capacity ? space->line_capacity * 2 : 16;
        uint32_t *steps = gsan_pool_take(space->pool, more * sizeof *steps);
        if (space->line_count)
            memcpy(steps, space->line_steps, space->line_count * sizeof *steps);
        gsan_pool_give(space->pool, space->line_steps, space->line_capacity * sizeof *steps);
        space->line_steps = steps;
        space->line_capacity = more;
    }
    space->line_steps[space->line_count] = 0;
    return space->line_count++;
}

/* It is about to learn more. */
static void take_step(ClockSpace *space, Clock *clock, bool made) {
    uint32_t *last = made ? NULL : &space->line_steps[clock->line];
    clock->version = ++space->versions;
    if (last && *last == clock->step) {
        clock->step = ++*last;
        return;
    }
    clock->parent_line = made ? UINT32_MAX : clock->line;
    clock->parent_step = clock->step;
    clock->line = new_line(space);
    clock->step = 0;
}

/* Whether what they were made from shows it: one has all of the other. */
static bool is_behind(const Clock *clock, const Clock *other) {
    return (clock->line == other->line && clock->step >= other->step) ||
           (clock->parent_line == other->line && clock->parent_step >= other->step);
}

CtaClock **clock_seat(ClockSpace *space, Clock **clock, uint32_t cta) {
    Clock *from = *clock;
    if (!from || from->references > 1 || cta / CTA_LEAF >= from->leaf_count) {
        Clock *made = gsan_pool_take(space->pool, clock_size(space->leaf_count));
        made->references = 1;
        made->leaf_count = space->leaf_count;
        if (from) {
            made->line = from->line;
            made->step = from->step;
            made->parent_line = from->parent_line;
            made->parent_step = from->parent_step;
        }
        for (uint32_t i = 0; from && i < from->leaf_count; i++)
            if ((made->leaves[i] = from->leaves[i]))
                made->leaves[i]->references++;
        clock_drop(space, from);
        *clock = made;
    }
    take_step(space, *clock, !from);
    CtaLeaf **leaf = &(*clock)->leaves[cta / CTA_LEAF];
    if (!*leaf || (*leaf)->references > 1) {
        CtaLeaf *made = POOL_NEW(space->pool, CtaLeaf);
        made->references = 1;
        made->end = *leaf ? (*leaf)->end : 0;
        for (uint32_t i = 0; i < made->end; i++)
            made->ctas[i] = cta_clock_share((*leaf)->ctas[i]);
        leaf_drop(space, *leaf);
        *leaf = made;
    }
    uint32_t at = cta % CTA_LEAF;
    (*leaf)->end = (*leaf)->end > at ? (*leaf)->end : at + 1;
    return &(*leaf)->ctas[at];
}

bool clock_includes(ClockSpace *space, const Clock *clock, const Clock *other) {
    if (!other || clock == other)
        return true;
    if (!clock)
        return false;
    if (is_behind(clock, other))
        return true;
    if (clock->line == other->line) /* it has less, as a rule; if it has not, it may be taken for less */
        return false;
    uint64_t *memo = space->included[table_hash(clock->version * 31 + other->version) % INCLUDED_MEMO];
    if (memo[0] == clock->version && memo[1] == other->version)
        return true;
    for (uint32_t i = 0; i < other->leaf_count; i++) {
        const CtaLeaf *mine = i < clock->leaf_count ? clock->leaves[i] : NULL, *theirs = other->leaves[i];
        if (!theirs || theirs == mine)
            continue;
        if (!mine)
            return false;
        for (uint32_t j = 0; j < theirs->end; j++)
            if (!cta_clock_includes(mine->ctas[j], theirs->ctas[j]))
                return false;
    }
    memo[0] = clock->version;
    memo[1] = other->version;
    return true;
}

void clock_join(ClockSpace *space, Clock **clock, Clock *other) {
    if (clock_includes(space, *clock, other))
        return;
    if (clock_includes(space, other, *clock)) {
        clock_drop(space, *clock);
        *clock = clock_share(other);
        return;
    }
    for (uint32_t i = 0; i < other->leaf_count; i++) {
        CtaLeaf *leaf = other->leaves[i];
        if (!leaf || (i < (*clock)->leaf_count && leaf == (*clock)->leaves[i]))
            continue;
        for (uint32_t cta = i * CTA_LEAF, j = 0; j < leaf->end; j++, cta++)
            if (!cta_clock_includes(clock_at(*clock, cta), leaf->ctas[j]))
                cta_clock_join(space, clock_seat(space, clock, cta), leaf->ctas[j], cta);
    }
}

void clock_raise(ClockSpace *space, Clock **clock, uint32_t cta, uint32_t epoch) {
    if (!clock_knows(*clock, cta, epoch))
        cta_clock_raise_base(space, clock_seat(space, clock, cta), cta, epoch);
}

/* Leaves that have nothing else are one. */
Clock *clock_of_ended(ClockSpace *space, uint32_t first_cta, uint32_t ctas) {
    CtaClock *ended = cta_clock_new(space, 0);
    Clock *clock = NULL;
    CtaLeaf *whole = NULL;
    ended->base = EPOCH_ENDED;
    for (uint32_t cta = first_cta, end = first_cta + ctas; cta < end;) {
        bool is_whole = cta % CTA_LEAF == 0 && end - cta >= CTA_LEAF;
        if (is_whole && whole) {
            clock->leaves[cta / CTA_LEAF] = whole;
            whole->references++;
            cta += CTA_LEAF;
            continue;
        }
        for (uint32_t left = is_whole ? CTA_LEAF : 1; left; left--, cta++)
            *clock_seat(space, &clock, cta) = cta_clock_share(ended);
        if (is_whole)
            whole = clock->leaves[(cta - 1) / CTA_LEAF];
    }
    cta_clock_drop(space, ended);
    return clock;
}
