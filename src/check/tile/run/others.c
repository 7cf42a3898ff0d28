/* A queue of schedules, each of which was not in it before. */
#include "check/tile/run/others.h"

enum { MOST_RUNS = 64 };

struct Others {
    Schedule runs[MOST_RUNS];
    uint32_t count, made;
    bool left;
};

Others *others_create(Arena *arena) {
    return ARENA_NEW(arena, Others);
}

void others_start(Others *others) {
    others->count = others->made = 0;
    others->left = false;
}

static bool same_hold(const Hold *a, const Hold *b) {
    return a->agent == b->agent && a->tick == b->tick && a->flight == b->flight && (!a->flight || a->pc == b->pc);
}

static bool same_run(const Schedule *a, const Schedule *b) {
    bool same = a->kind == b->kind && a->hold_count == b->hold_count;
    for (uint32_t i = 0; same && i < a->hold_count; i++)
        same = same_hold(&a->holds[i], &b->holds[i]);
    return same;
}

static void add_run(Others *others, const Schedule *schedule) {
    for (uint32_t i = 0; i < others->count; i++)
        if (same_run(&others->runs[i], schedule))
            return;
    if (others->count == MOST_RUNS)
        others->left = true;
    else
        others->runs[others->count++] = *schedule;
}

/* Beside what was held back in `schedule`, and let go last or first. */
static void add_held(Others *others, const Schedule *schedule, Hold hold, bool last) {
    Schedule held = {.kind = SCHEDULE_HELD, .mirrored = schedule->mirrored};
    if (last)
        held.holds[held.hold_count++] = hold;
    for (uint32_t i = 0; i < schedule->hold_count; i++) {
        if (same_hold(&schedule->holds[i], &hold))
            continue;
        if (held.hold_count + !last == MOST_HOLDS) {
            others->left = true;
            return;
        }
        held.holds[held.hold_count++] = schedule->holds[i];
    }
    if (!last)
        held.holds[held.hold_count++] = hold;
    add_run(others, &held);
}

void others_add(Others *others, const Causes *causes, const Schedule *schedule) {
    uint32_t count;
    const Risk *risks = causes_risks(causes, &count);
    others->left |= causes_overflowed(causes);
    for (uint32_t i = 0; i < count; i++) {
        /* The last one before those in between: what goes wrong late in a loop often does so only at its end. */
        const Risk *risk = &risks[i == 0 ? 0 : i == 1 ? count - 1 : i - 1];
        Hold hold = {.agent = risk->agent, .tick = risk->tick, .pc = risk->pc, .flight = risk->flight};
        if (risk->flights) {
            add_run(others, &(Schedule){.kind = SCHEDULE_LAZY, .mirrored = schedule->mirrored});
            continue;
        }
        add_held(others, schedule, hold, true);
        if (schedule->hold_count)
            add_held(others, schedule, hold, false);
    }
}

bool others_next(Others *others, Schedule *schedule) {
    if (others->made == others->count)
        return false;
    *schedule = others->runs[others->made++];
    return true;
}

bool others_left(Others *others) {
    bool left = others->left;
    others->left = false;
    return left;
}
