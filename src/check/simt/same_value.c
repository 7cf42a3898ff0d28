/* Races that have to be looked at twice, in a run like the one that shows them. The first are mbarriers that end, at
 * the end of this file; the others writes that change nothing: whether that is so whatever the data is, or by chance,
 * as the data is zero or padded.
 *
 * The run is made again with other data (machine/simt/core/other.h). A pair that is not the same then is a race like
 * any other. So is one whose values are made of data that cannot be changed, since it decides what is run, or that has
 * none in it, as it is padding; unless the instruction stores the same by what it is made of: one value of all threads,
 * or one element that several threads hold. */
#include "check/simt/executions.h"

#include "machine/simt/core/other.h"
#include "machine/simt/decode/slice.h"
#include "machine/simt/schedule/explore.h"

static const size_t slice_budget = (size_t)1 << 30;

static bool is_pair(const PtxRace *a, const PtxRace *b) {
    return (a->first.code == b->first.code && a->second.code == b->second.code) ||
           (a->first.code == b->second.code && a->second.code == b->first.code);
}

/* ---- Runs with other data ------------------------------------------------------------------------- */

typedef struct Again {
    ThreadsCheck *check;
    PtxMachine *machine;
    PtxSchedule schedule;
    unsigned havoc_choice;
    PtxWatch *watch; /* of the run that is made; NULL: there is none */
    PtxDeciding deciding;
    bool *data; /* of each code: PtxOther.data */
} Again;

static void see(void *to, const PtxEvent *event) {
    Again *again = to;
    if (again->watch)
        ptx_watch_observe(again->watch, event);
    else
        ptx_deciding_observe(&again->deciding, event);
}

static void begin(void *to) {
    const Again *again = to;
    if (again->watch)
        ptx_watch_start(again->watch);
}

static void make(Again *again, const PtxOther *other) {
    PtxMachine *machine = again->machine;
    machine->other = other;
    machine->havoc_choice = again->havoc_choice;
    if (again->schedule.explored) {
        PtxExplorer explorer = {
            .context = again, .start = begin, .observe = see, .reads = ptx_watch_reads(again->watch)};
        (void)ptx_explore_replay(machine, &explorer, again->schedule.replay);
    } else {
        machine->observe = see;
        machine->observer = again;
        begin(again);
        (void)ptx_schedule_run(machine, &again->schedule);
    }
    if (again->watch)
        ptx_watch_end(again->watch);
}

/* What decides; of an exploration, as in the eager run. */
static void collect(Again *again) {
    PtxSchedule schedule = again->schedule;
    if (schedule.explored)
        again->schedule = (PtxSchedule){0};
    make(again, NULL);
    again->schedule = schedule;
}

static PtxWatch *watch_again(const Again *again) {
    const char *problem;
    PtxWatchOptions options = {.volatile_races = again->check->options->volatile_races,
                               .history = again->schedule.explored};
    return ptx_watch(&again->check->arena, again->machine, &options, &problem);
}

/* What a run with other data says of the pairs: those that are not the same are marked. False: it could not be made. */
static bool mark_different(Again *again, const PtxOther *other, const PtxRace *races, uint32_t count, bool *different) {
    uint32_t found_count = 0, havocs = again->check->machine->havoc_count;
    again->watch = watch_again(again);
    if (!again->watch)
        return false;
    make(again, other);
    const PtxRace *found = ptx_watch_races(again->watch, &found_count);
    bool as_before = again->machine->havoc_count <= havocs;
    for (uint32_t i = 0; as_before && i < count; i++)
        for (uint32_t k = 0; k < found_count; k++)
            different[i] |= !found[k].same_value && is_pair(&races[i], &found[k]);
    ptx_watch_free(again->watch);
    again->watch = NULL;
    return as_before;
}

/* Of a grid of which one CTA of each class was run: those that the races are in, of one kind. */
static void restrict_to(Again *again, const PtxRace *races, uint32_t count, bool same_value) {
    if (!again->check->classes || again->schedule.only)
        return;
    uint32_t *only = ARENA_ARRAY(&again->check->arena, uint32_t, 2 * count + 1), *to = only;
    for (uint32_t i = 0; i < 2 * count; i++) {
        uint32_t cta = i % 2 ? races[i / 2].second.cta : races[i / 2].first.cta, k = 0;
        while (k < to - only && only[k] != cta)
            k++;
        if (races[i / 2].same_value == same_value && k == to - only)
            *to++ = cta;
    }
    again->schedule.only = only;
    again->schedule.only_count = (uint32_t)(to - only);
}

/* ---- By what instructions say --------------------------------------------------------------------- */

static bool open_replicas(ThreadsCheck *check) {
    const uint32_t *block = check->launch->block;
    PtxBlockShape shape = {.x = block[0], .y = block[1], .z = block[2]};
    return check->replicas.program ||
           ptx_replicas_open(&check->replicas, check->program, &shape, ptx_values_budget(check->module));
}

/* Two writes by one instruction. */
static bool is_of_one(const PtxRace *race) {
    return race->first.code == race->second.code && race->first.access.kind == KIND_WRITE &&
           !race->first.asynchronous && !race->second.asynchronous;
}

/* Whether they are of one value that threads hold in common, as far as that can be decided. */
static bool is_common(ThreadsCheck *check, const PtxRace *race) {
    return is_of_one(race) &&
           (!open_replicas(check) || ptx_may_store_same(&check->replicas, race->first.code, race->first.thread,
                                                        race->second.thread, race->first.cta != race->second.cta));
}

/* Of recordings it is known, or PtxRace.unknown says so. */
bool threads_may_be_same(ThreadsCheck *check, const PtxRace *race) {
    return race->rule == RULE_RACE_WAW && !race->same_value && !race->unset && race->reason != REASON_PROXY &&
           !check->machine->plays && check->ran[race->first.code - check->program->code] & PTX_RAN_UNKNOWN &&
           race->first.cta == race->second.cta && is_common(check, race);
}

/* ---- Both ----------------------------------------------------------------------------------------- */

static void unmark(PtxRace *race) {
    bool reads_first = race->first.access.kind == KIND_READ;
    race->same_value = false;
    race->by_chance = true;
    if (race->rule == RULE_RACE_SAME_VALUE)
        race->rule = race->second.access.kind == KIND_READ ? RULE_RACE_RAW
                     : reads_first                         ? RULE_RACE_WAR
                                                           : RULE_RACE_WAW;
}

static bool open_again(Again *again, const ThreadsRun *run) {
    ThreadsCheck *check = again->check;
    const char *problem;
    uint32_t codes = check->program->code_count;
    again->machine = ptx_machine(check->program, check->launch, COMPUTES_ALL, &problem);
    if (!again->machine)
        return false;
    again->machine->budget = check->machine->budget;
    again->machine->spans = check->machine->spans;
    again->schedule = run->schedule;
    again->havoc_choice = run->havoc_choice;
    again->data = ARENA_ARRAY(&check->arena, bool, codes + 1);
    bool *decides = ARENA_ARRAY(&check->arena, bool, codes + 1), open = open_replicas(check);
    for (uint32_t i = 0; i < codes; i++)
        again->data[i] =
            check->program->code[i].visible && (!open || ptx_stores_data(&check->replicas, &check->program->code[i]));
    ptx_slice_decides(check->program, slice_budget, decides);
    again->deciding = (PtxDeciding){.machine = again->machine,
                                    .arena = &check->arena,
                                    .decides = decides,
                                    .kept = ARENA_ARRAY(&check->arena, uint8_t *, check->launch->buffer_count + 1)};
    return true;
}

/* ---- What ends an mbarrier ------------------------------------------------------------------------ */

/* One thread ends an mbarrier that others used before. cuda::pipeline ends its own so: lanes of a warp come together at
 * match.sync, and one of them tells the thread that does, for all. Whether match.sync orders memory PTX does not say.
 */
static bool ends(const ThreadsCheck *check, const PtxRace *race) {
    PtxEffect effect;
    return (race->reason == REASON_UNORDERED || race->reason == REASON_SAME_WARP) &&
           code_effect(check, race->second.code, EFFECT_INVALIDATE, &effect);
}

/* Races that are none if lanes are ordered where they come together. */
static void mark_lanes(ThreadsCheck *check, const ThreadsRun *run, PtxRace *races, uint32_t count) {
    uint32_t found_count = 0, any = 0;
    Again again = {.check = check};
    for (uint32_t i = 0; i < count; i++)
        any += ends(check, &races[i]);
    if (!any || check->machine->plays || !open_again(&again, run))
        return;
    again.watch = watch_again(&again);
    again.machine->lanes_meet = true;
    if (again.watch)
        make(&again, NULL);
    const PtxRace *found = again.watch ? ptx_watch_races(again.watch, &found_count) : NULL;
    for (uint32_t i = 0; again.watch && i < count; i++) {
        races[i].by_lanes = ends(check, &races[i]);
        for (uint32_t k = 0; k < found_count; k++)
            races[i].by_lanes &= !is_pair(&races[i], &found[k]);
    }
    if (again.watch)
        ptx_watch_free(again.watch);
    ptx_machine_free(again.machine);
}

/* ---- Values that nothing has written --------------------------------------------------------------- */

/* Whether the run read anything, or the kernel has registers, that nothing has written; and all writes were made. */
static bool has_unset(const ThreadsCheck *check) {
    const PtxMachine *machine = check->machine;
    const PtxFlow *flow = &check->replicas.flow;
    bool found = false;
    for (uint32_t i = 0; i < machine->unset_count; i++)
        found |= machine->unset[i].space != PTX_SPACE_GLOBAL;
    for (uint32_t i = 0; check->replicas.program && i < flow->value_count; i++)
        found |= flow->values[i].kind == VALUE_UNDEFINED;
    return found && !machine->havoc_count;
}

/* Writes of values that are not known, and that are the same if what nothing has written is the same in all threads: a
 * race, since it need not be. */
static void mark_unset(ThreadsCheck *check, const ThreadsRun *run, PtxRace *races, uint32_t count) {
    bool *differ = ARENA_ARRAY(&check->arena, bool, count), *unset = ARENA_ARRAY(&check->arena, bool, count),
         any = false;
    Again again = {.check = check};
    for (uint32_t i = 0; i < count; i++)
        any |= threads_may_be_same(check, &races[i]);
    if (!any || !has_unset(check) || !open_again(&again, run))
        return;
    restrict_to(&again, races, count, false);
    if (mark_different(&again, &(PtxOther){0}, races, count, differ) &&
        mark_different(&again, &(PtxOther){.unset = true}, races, count, unset))
        for (uint32_t i = 0; i < count; i++)
            races[i].unset = unset[i] && !differ[i] && threads_may_be_same(check, &races[i]);
    ptx_machine_free(again.machine);
}

/* Where no run can be made again: by the instructions alone. */
static void judge_recorded(ThreadsCheck *check, PtxRace *races, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (races[i].same_value && open_replicas(check) && ptx_stores_data(&check->replicas, races[i].first.code) &&
            !is_common(check, &races[i]))
            unmark(&races[i]);
}

/* Whether the run itself shows the two with different values. */
static bool is_shown(const PtxRace *races, uint32_t count, const PtxRace *race) {
    for (uint32_t i = 0; i < count; i++)
        if (!races[i].same_value && is_pair(&races[i], race))
            return true;
    return false;
}

void threads_run_again(ThreadsCheck *check, const ThreadsRun *run, PtxRace *races, uint32_t count) {
    uint32_t same = 0;
    mark_lanes(check, run, races, count);
    mark_unset(check, run, races, count);
    for (uint32_t i = 0; i < count; i++)
        same += races[i].same_value && !is_shown(races, count, &races[i]);
    if (!same)
        return;
    if (check->machine->plays) {
        judge_recorded(check, races, count);
        return;
    }
    Again again = {.check = check};
    bool *different = ARENA_ARRAY(&check->arena, bool, count), *open = ARENA_ARRAY(&check->arena, bool, count);
    if (!open_again(&again, run))
        return;
    restrict_to(&again, races, count, true);
    collect(&again);
    PtxOther other = {.kept = again.deciding.kept}, strict = {.data = again.data};
    for (other.seed = 0; other.seed < OTHER_SEEDS && mark_different(&again, &other, races, count, different);)
        other.seed++;
    if (other.seed)
        strict.kept = other.kept;
    (void)mark_different(&again, &strict, races, count, open);
    ptx_machine_free(again.machine);
    for (uint32_t i = 0; i < count; i++)
        if (races[i].same_value && (different[i] || (open[i] && !is_common(check, &races[i]))))
            unmark(&races[i]);
}
