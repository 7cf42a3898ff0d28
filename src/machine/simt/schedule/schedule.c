/* Who has the next turn. */
#include "machine/simt/schedule/schedule.h"

#include "base/deadline.h"
#include "machine/simt/core/internal.h"

/* Clusters that are there at the same time, where several can move: at least one, and no more than makes so many
 * threads. Of a large grid each meets many others in the course of it, and fewer are there at once: those that wait for
 * one of them spin less. */
enum {
    THREADS_AT_ONCE = 4096,
    LARGE_GRID = 1024,
    AT_ONCE_IN_LARGE = 12,
    MANY_LIVE = 4, /* fewer are looked at one by one */
    SPIN_TIMEOUT = 64,
    JUMPS_UNTIL_SPIN_TIMEOUT = 1021
};

/* A cluster in which no thread could go, and none can before something changes or lands: it is not looked at. */
typedef struct RunnerQuiet {
    uint64_t changes, stirred; /* when that was so; 0: it was not */
} RunnerQuiet;

typedef struct Runner {
    PtxMachine *machine;
    const PtxSchedule *schedule;
    uint32_t clusters, begun, at_once;
    uint64_t random;
    uint32_t replayed;
    uint32_t *live; /* clusters that have begun and are not over, in the order in which they began */
    uint32_t live_count;
    RunnerQuiet *quiet; /* of each cluster */
    uint64_t stirred;   /* from 1: how often something landed, or was let go on */
    uint64_t steps;
    PtxEnd end;
    bool over;
    bool ended; /* some CTA, since that was looked at */
} Runner;

/* ---- Steps ---- */

static void note_step(Runner *r, uint32_t step) {
    if (r->schedule->record)
        trail_push(r->schedule->record, step);
}

static bool finish(Runner *r, PtxEnd end) {
    r->end = end;
    r->over = true;
    return false;
}

static void end_ctas(Runner *r, uint32_t cluster) {
    PtxMachine *machine = r->machine;
    for (uint32_t i = 0; i < machine->cluster_size; i++) {
        PtxCta *cta = machine->ctas[cluster * machine->cluster_size + i];
        if (cta && !cta->live) {
            cta_end(machine, cta);
            r->ended = true;
        }
    }
}

/* One turn of a group; false: the run is over. */
static bool turn(Runner *r, PtxGroup *group) {
    PtxMachine *machine = r->machine;
    uint32_t lane = (uint32_t)__builtin_ctz(group->lanes), cluster = group->warp->cta->cluster;
    PtxCta *cta = group->warp->cta;
    note_step(r, ptx_thread_number(machine, group->warp, lane));
    r->quiet[cluster].stirred = 0;
    PtxTurn result = ptx_group_turn(machine, group);
    if (!cta->live)
        end_ctas(r, cluster);
    switch (result) {
    case PTX_TURN_FAULT:
        return finish(r, PTX_END_FAULT);
    case PTX_TURN_UNKNOWN:
        return finish(r, PTX_END_UNKNOWN);
    case PTX_TURN_BUDGET:
        return finish(r, PTX_END_BUDGET);
    default:
        return !deadline_passed() || finish(r, PTX_END_TIME);
    }
}

static bool land(Runner *r, uint32_t index) {
    PtxMachine *machine = r->machine;
    const PtxOutstanding *outstanding = machine->outstanding_ops[index];
    uint32_t cluster = outstanding->warp->cta->cluster;
    note_step(r, TRAIL_OUTSTANDING | outstanding->sequence);
    r->stirred++;
    ptx_outstanding_complete(machine, index);
    if (machine->fault.code)
        return finish(r, PTX_END_FAULT);
    if (machine->unknown)
        return finish(r, PTX_END_UNKNOWN);
    end_ctas(r, cluster);
    return true;
}

/* ---- Clusters ---- */

static bool begin_one(Runner *r) {
    uint32_t cluster;
    const PtxSchedule *schedule = r->schedule;
    do {
        if (schedule->next ? !schedule->next(schedule->context, r->live_count != 0, &cluster) : r->begun == r->clusters)
            return false;
        if (schedule->next)
            continue;
        cluster = schedule->mirrored ? r->clusters - 1 - r->begun : r->begun;
        if (schedule->only)
            cluster = schedule->only[cluster];
        r->begun++;
    } while (barriers_canceled(r->machine, cluster));
    ptx_machine_begin(r->machine, cluster);
    r->live[r->live_count++] = cluster;
    return true;
}

static bool is_over(const PtxMachine *machine, uint32_t cluster) {
    for (uint32_t i = 0; i < machine->cluster_size; i++)
        if (machine->ctas[cluster * machine->cluster_size + i])
            return false;
    return true;
}

static void drop_over(Runner *r) {
    uint32_t kept = 0;
    if (!r->ended && r->live_count >= r->at_once)
        return;
    r->ended = false;
    for (uint32_t i = 0; i < r->live_count; i++)
        if (!is_over(r->machine, r->live[i]))
            r->live[kept++] = r->live[i];
    r->live_count = kept;
    while (r->live_count < r->at_once && begin_one(r))
        continue;
}

/* ---- Going through warps ---- */

typedef bool AtWarp(Runner *r, PtxWarp *warp);

/* All warps of all CTAs that are there, in the schedule's order; false: the run is over. */
static bool each_warp(Runner *r, AtWarp *at_warp, bool *any) {
    PtxMachine *machine = r->machine;
    bool mirrored = r->schedule->mirrored;
    for (uint32_t i = 0; i < r->live_count; i++)
        for (uint32_t rank = 0; rank < machine->cluster_size; rank++) {
            uint32_t number = r->live[i] * machine->cluster_size + (mirrored ? machine->cluster_size - 1 - rank : rank);
            PtxCta *cta = machine->ctas[number];
            for (uint32_t k = 0; cta && machine->ctas[number] == cta && k < cta->warp_count; k++) {
                *any |= at_warp(r, &cta->warps[mirrored ? cta->warp_count - 1 - k : k]);
                if (r->over)
                    return false;
            }
        }
    return true;
}

static bool is_held(const Runner *r, const PtxGroup *group) {
    const PtxSchedule *schedule = r->schedule;
    uint32_t first = ptx_thread_number(r->machine, group->warp, (uint32_t)__builtin_ctz(group->lanes));
    return schedule->kind == SCHEDULE_DELAYED && group->pc == schedule->delayed_pc && first >= schedule->held &&
           first < schedule->held + schedule->held_count;
}

static PtxGroup *first_ready(const Runner *r, const PtxWarp *warp, bool held) {
    for (PtxGroup *group = warp->groups; group; group = group->next)
        if (ptx_group_can_go(r->machine, group) && (held || !is_held(r, group)))
            return group;
    return NULL;
}

/* The next turn of the warp is another group's. */
static void rotate(PtxWarp *warp, PtxGroup *group) {
    PtxGroup **at = &warp->groups;
    while (*at && *at != group)
        at = &(*at)->next;
    if (!*at || !group->next)
        return;
    *at = group->next;
    while (*at)
        at = &(*at)->next;
    *at = group;
    group->next = NULL;
}

/* As long as some group of the warp can go. Where one spins for long, those who wait for it go on. */
static bool run_warp(Runner *r, PtxWarp *warp) {
    PtxGroup *group;
    const PtxCta *cta = warp->cta;
    uint32_t number = cta->number;
    bool any = false;
    for (unsigned turns = 0; turns < SPIN_TIMEOUT && (group = first_ready(r, warp, false)); turns++) {
        any = true;
        if (!turn(r, group) || r->machine->ctas[number] != cta)
            return true;
        rotate(warp, group);
        if (turns + 1 == SPIN_TIMEOUT)
            control_release(r->machine, warp);
    }
    return any;
}

static bool release_patient(Runner *r, PtxWarp *warp) {
    bool released = ptx_warp_release(r->machine, warp);
    if (r->machine->fault.code)
        finish(r, PTX_END_FAULT);
    return released;
}

static bool run_held(Runner *r, PtxWarp *warp) {
    PtxGroup *group = first_ready(r, warp, true);
    if (!group)
        return false;
    turn(r, group);
    return true;
}

/* ---- What is in flight
 * ----------------------------------------------------------------------------------------------- */

static bool land_oldest(Runner *r) {
    for (uint32_t i = 0; i < r->machine->outstanding_count; i++)
        if (ptx_outstanding_can_complete(r->machine, r->machine->outstanding_ops[i])) {
            land(r, i);
            return true;
        }
    return false;
}

/* No thread moves by itself: what is in flight, those who are held, those who wait for others of their warp, those who
 * go around and may be needed at barriers, then more CTAs. False: nothing is left. */
static bool stir(Runner *r) {
    bool any = false;
    r->stirred++;
    if (land_oldest(r))
        return true;
    if (!r->live_count)
        return begin_one(r);
    if (r->schedule->kind == SCHEDULE_DELAYED) {
        each_warp(r, run_held, &any);
        if (any)
            return true;
    }
    each_warp(r, release_patient, &any);
    return any || spins_stir(r->machine) || begin_one(r) || waits_give_up(r->machine);
}

static PtxEnd none_moves(const Runner *r) {
    return r->live_count ? PTX_END_STUCK : PTX_END_COMPLETE;
}

/* ---- The kinds
 * --------------------------------------------------------------------------------------------------------- */

/* Other processes have their turn; what they have changed is looked at again. */
static bool let_others(Runner *r, bool stuck) {
    const PtxSchedule *schedule = r->schedule;
    if (!schedule->others || !schedule->others(schedule->context, stuck))
        return false;
    r->machine->changes += stuck;
    return !deadline_passed();
}

static void run_eagerly(Runner *r) {
    while (!r->over) {
        bool any = false;
        drop_over(r);
        if (!each_warp(r, run_warp, &any))
            return;
        drop_over(r);
        if (any || stir(r) || r->over)
            let_others(r, false);
        else if (none_moves(r) == PTX_END_COMPLETE || !let_others(r, true))
            finish(r, none_moves(r));
    }
}

/* One visible step of each warp's next group, and one completion. */
static bool step_warp(Runner *r, PtxWarp *warp) {
    PtxGroup *group = first_ready(r, warp, false);
    const PtxCta *cta = warp->cta;
    uint32_t number = cta->number;
    if (!group)
        return false;
    if (turn(r, group) && r->machine->ctas[number] == cta)
        rotate(warp, group);
    if (++r->steps % (SPIN_TIMEOUT * JUMPS_UNTIL_SPIN_TIMEOUT) == 0)
        control_release(r->machine, warp);
    return true;
}

static void run_round_robin(Runner *r) {
    while (!r->over) {
        bool any = false;
        drop_over(r);
        if (!each_warp(r, step_warp, &any))
            return;
        any |= !r->over && land_oldest(r);
        drop_over(r);
        if (!r->over && !any && !stir(r) && !r->over)
            finish(r, none_moves(r));
    }
}

static uint64_t next_random(Runner *r) {
    r->random ^= r->random << 13;
    r->random ^= r->random >> 7;
    r->random ^= r->random << 17;
    return r->random;
}

typedef struct ScheduleScheduleChoice {
    PtxGroup *group;
    uint64_t seen;
} ScheduleScheduleChoice;

/* Each of those who can go with the same chance. */
static void choose(Runner *r, ScheduleScheduleChoice *choice) {
    PtxMachine *machine = r->machine;
    for (uint32_t i = 0; i < r->live_count; i++) {
        RunnerQuiet *quiet = &r->quiet[r->live[i]];
        uint64_t seen = choice->seen;
        if (quiet->stirred == r->stirred && quiet->changes == machine->changes)
            continue;
        for (uint32_t rank = 0; rank < machine->cluster_size; rank++) {
            PtxCta *cta = machine->ctas[r->live[i] * machine->cluster_size + rank];
            for (uint32_t k = 0; cta && k < cta->warp_count; k++)
                for (PtxGroup *group = cta->warps[k].groups; group; group = group->next)
                    if (ptx_group_can_go(machine, group) && next_random(r) % ++choice->seen == 0)
                        choice->group = group;
        }
        if (choice->seen == seen)
            *quiet = (RunnerQuiet){.changes = machine->changes, .stirred = r->stirred};
    }
}

/* One of some that can go; where most can, it is found at once. NULL: it was not found. */
static PtxGroup *guess(Runner *r) {
    enum { TRIES = 4 };
    PtxMachine *machine = r->machine;
    for (unsigned i = 0; r->live_count && i < TRIES; i++) {
        uint64_t random = next_random(r) >> 16;
        uint32_t cluster = r->live[random % r->live_count], rank = (uint32_t)(random >> 16) % machine->cluster_size;
        const PtxCta *cta = machine->ctas[cluster * machine->cluster_size + rank];
        PtxGroup *group = cta ? cta->warps[(uint32_t)(random >> 24) % cta->warp_count].groups : NULL;
        if (group && group->next && random >> 40 & 1)
            group = group->next;
        if (group && ptx_group_can_go(machine, group))
            return group;
    }
    return NULL;
}

/* Now and then something does not wait at a meeting place. */
static void random_turn(Runner *r, PtxGroup *group) {
    PtxWarp *warp = group->warp;
    const PtxCta *cta = warp->cta;
    uint32_t number = cta->number;
    if (turn(r, group) && r->machine->ctas[number] == cta && next_random(r) % JUMPS_UNTIL_SPIN_TIMEOUT == 0)
        control_release(r->machine, warp);
}

static void run_randomly(Runner *r) {
    PtxMachine *machine = r->machine;
    while (!r->over) {
        ScheduleScheduleChoice choice = {0};
        drop_over(r);
        uint32_t outstanding_ops = machine->outstanding_count;
        choice.group = outstanding_ops || r->live_count < MANY_LIVE ? NULL : guess(r);
        if (!choice.group)
            choose(r, &choice);
        uint32_t outstanding = outstanding_ops ? (uint32_t)(next_random(r) % outstanding_ops) : 0;
        bool lands = outstanding_ops && next_random(r) % (choice.seen + 1) == 0 &&
                     ptx_outstanding_can_complete(machine, machine->outstanding_ops[outstanding]);
        if (lands)
            land(r, outstanding);
        else if (choice.group)
            random_turn(r, choice.group);
        else if (!stir(r) && !r->over)
            finish(r, none_moves(r));
    }
}

/* ---- Replays
 * ------------------------------------------------------------------------------------------------------------ */

static PtxGroup *group_of(Runner *r, uint32_t thread) {
    PtxMachine *machine = r->machine;
    uint32_t number = thread / machine->threads_per_cta, within = thread % machine->threads_per_cta;
    while (number < machine->cta_count && !machine->ctas[number] && begin_one(r))
        continue;
    PtxCta *cta = number < machine->cta_count ? machine->ctas[number] : NULL;
    PtxGroup *group = cta ? cta->warps[within / PTX_LANES].groups : NULL;
    while (group && !(group->lanes >> within % PTX_LANES & 1))
        group = group->next;
    return group;
}

static bool replay_step(Runner *r, uint32_t step) {
    PtxMachine *machine = r->machine;
    if (step & TRAIL_OUTSTANDING) {
        for (uint32_t i = 0; i < machine->outstanding_count; i++)
            if (machine->outstanding_ops[i]->sequence == (step & ~TRAIL_OUTSTANDING))
                return land(r, i);
        return finish(r, PTX_END_DIVERGED);
    }
    PtxGroup *group = group_of(r, step);
    for (unsigned i = 0; group && group->status == PTX_IS_MEETS && i < PTX_LANES; i++) {
        control_release(machine, group->warp); /* the run had let it go on alone */
        group = group_of(r, step);
    }
    bool can_go = group && (ptx_group_can_go(machine, group) ||
                            ((spins_stir(machine) || waits_give_up(machine)) && ptx_group_can_go(machine, group)));
    return can_go ? turn(r, group) : finish(r, PTX_END_DIVERGED);
}

/* Behind the trail it goes on as an eager run does. */
static void run_replay(Runner *r) {
    const Trail *trail = r->schedule->replay;
    for (uint32_t i = 0; i < trail->count && !r->over; i++) {
        drop_over(r);
        replay_step(r, trail->steps[i]);
    }
    if (!r->over)
        run_eagerly(r);
}

/* ---- All of it
 * ----------------------------------------------------------------------------------------------------------- */

static void run_kind(Runner *r) {
    switch (r->schedule->kind) {
    case SCHEDULE_ROUND_ROBIN:
        run_round_robin(r);
        break;
    case SCHEDULE_RANDOM:
        run_randomly(r);
        break;
    case SCHEDULE_REPLAY:
        run_replay(r);
        break;
    default:
        run_eagerly(r);
    }
}

static void start(Runner *r) {
    PtxMachine *machine = r->machine;
    ScheduleKind kind = r->schedule->kind == SCHEDULE_REPLAY ? r->schedule->as : r->schedule->kind;
    bool steps = kind == SCHEDULE_ROUND_ROBIN || kind == SCHEDULE_RANDOM || kind == SCHEDULE_DELAYED;
    machine->immediate = kind == SCHEDULE_EAGER || kind == SCHEDULE_DELAYED;
    machine->step_visible = steps;
    machine->sparse = r->schedule->only != NULL;
    ptx_machine_start(machine);
    uint32_t threads = machine->threads_per_cta * machine->cluster_size, most = THREADS_AT_ONCE / threads;
    r->clusters = r->schedule->only ? r->schedule->only_count : machine->cta_count / machine->cluster_size;
    r->live = ARENA_ARRAY(&machine->arena, uint32_t, r->clusters);
    r->quiet = ARENA_SPARSE(&machine->arena, RunnerQuiet, machine->cta_count / machine->cluster_size);
    r->stirred = 1;
    most = r->clusters > LARGE_GRID && most > AT_ONCE_IN_LARGE ? AT_ONCE_IN_LARGE : most;
    r->at_once = !steps || !most ? 1 : most;
    r->random = r->schedule->seed * UINT64_C(0x9e3779b97f4a7c15) + 0x1234567;
}

/* Whether the clusters that are to be run alone are of the grid. */
static bool has_only(const Runner *r) {
    for (uint32_t i = 0; i < r->schedule->only_count; i++)
        if (r->schedule->only[i] >= r->machine->cta_count / r->machine->cluster_size)
            return false;
    return true;
}

PtxEnd ptx_schedule_run(PtxMachine *machine, const PtxSchedule *schedule) {
    Runner runner = {.machine = machine, .schedule = schedule};
    jmp_buf *before = machine->arena.exhausted, here;
    machine->arena.exhausted = &here;
    if (setjmp(here)) {
        machine->arena.exhausted = before;
        return deadline_passed() ? PTX_END_TIME : PTX_END_BUDGET;
    }
    machine->gives_up = schedule->gives_up;
    start(&runner);
    if (has_only(&runner))
        run_kind(&runner);
    else
        finish(&runner, PTX_END_DIVERGED);
    sources_find(machine);
    machine->arena.exhausted = before;
    return runner.end;
}

void ptx_schedule_describe(const PtxSchedule *schedule, Text *to) {
    static const char *const names[] = {"eager", "lazy", "round robin", "random", "held", "replay"};
    text_addf(to, "%s", schedule->explored ? "that of the witness" : names[schedule->kind]);
    if (schedule->kind == SCHEDULE_RANDOM)
        text_addf(to, " (seed %llu)", (unsigned long long)schedule->seed);
    if (schedule->mirrored)
        text_addf(to, ", last CTA first");
    if (schedule->gives_up)
        text_addf(to, ", try_wait timing out");
    for (uint32_t i = 0; i < schedule->only_count; i++)
        text_addf(to, "%s %u", i ? " and" : ", cluster", schedule->only[i]);
}
