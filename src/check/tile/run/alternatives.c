/* A queue of schedules, each of which was not in it before. */
#include "check/tile/run/alternatives.h"

enum { MOST_RUNS = 64 };

struct Alternatives {
    Schedule runs[MOST_RUNS];
    uint32_t count, made;
    bool left;
};

Alternatives *alternatives_create(Arena *arena) {
    return ARENA_NEW(arena, Alternatives);
}

void alternatives_start(Alternatives *alternatives) {
    alternatives->count = alternatives->made = 0;
    alternatives->left = false;
}

static bool same_delay(const Delay *a, const Delay *b) {
    return a->agent == b->agent && a->tick == b->tick && a->outstanding == b->outstanding &&
           (!a->outstanding || a->pc == b->pc);
}

static bool same_run(const Schedule *a, const Schedule *b) {
    bool same = a->kind == b->kind && a->delay_count == b->delay_count;
    for (uint32_t i = 0; same && i < a->delay_count; i++)
        same = same_delay(&a->delays[i], &b->delays[i]);
    return same;
}

static void add_run(Alternatives *alternatives, const Schedule *schedule) {
    for (uint32_t i = 0; i < alternatives->count; i++)
        if (same_run(&alternatives->runs[i], schedule))
            return;
    if (alternatives->count == MOST_RUNS)
        alternatives->left = true;
    else
        alternatives->runs[alternatives->count++] = *schedule;
}

/* Beside what was held back in `schedule`, and let go last or first. */
static void add_delayed(Alternatives *alternatives, const Schedule *schedule, Delay delay, bool last) {
    Schedule held = {.kind = SCHEDULE_DELAYED, .mirrored = schedule->mirrored};
    if (last)
        held.delays[held.delay_count++] = delay;
    for (uint32_t i = 0; i < schedule->delay_count; i++) {
        if (same_delay(&schedule->delays[i], &delay))
            continue;
        if (held.delay_count + !last == MOST_DELAYS) {
            alternatives->left = true;
            return;
        }
        held.delays[held.delay_count++] = schedule->delays[i];
    }
    if (!last)
        held.delays[held.delay_count++] = delay;
    add_run(alternatives, &held);
}

void alternatives_add(Alternatives *alternatives, const HappensBefore *happens_before, const Schedule *schedule) {
    uint32_t count;
    const SensitivePoint *sensitive_points = happens_before_sensitive(happens_before, &count);
    alternatives->left |= happens_before_overflowed(happens_before);
    for (uint32_t i = 0; i < count; i++) {
        /* The last one before those in between: what goes wrong late in a loop often does so only at its end. */
        const SensitivePoint *sensitive_point = &sensitive_points[i == 0 ? 0 : i == 1 ? count - 1 : i - 1];
        Delay delay = {.agent = sensitive_point->agent,
                       .tick = sensitive_point->tick,
                       .pc = sensitive_point->pc,
                       .outstanding = sensitive_point->outstanding};
        if (sensitive_point->outstanding_ops) {
            add_run(alternatives, &(Schedule){.kind = SCHEDULE_LAZY, .mirrored = schedule->mirrored});
            continue;
        }
        add_delayed(alternatives, schedule, delay, true);
        if (schedule->delay_count)
            add_delayed(alternatives, schedule, delay, false);
    }
}

bool alternatives_next(Alternatives *alternatives, Schedule *schedule) {
    if (alternatives->made == alternatives->count)
        return false;
    *schedule = alternatives->runs[alternatives->made++];
    return true;
}

bool alternatives_left(Alternatives *alternatives) {
    bool left = alternatives->left;
    alternatives->left = false;
    return left;
}
