/* Launches that may have run at the same time, played together. */
#include "check/replay/together.h"

#include "base/deadline.h"
#include "check/replay/concurrent.h"
#include "check/replay/reached.h"

#include <stdlib.h>

enum { MOST_MEMBERS = 256, MOST_MODULES = 30, VARIABLES_SHIFT = 57, KEY_MODULE_SHIFT = 56 };

typedef struct Member {
    ThreadsCheck check; /* first: runs_with_arena gives it back */
    struct TogetherGroup *group;
    RecordedLaunch *launch;
    uint32_t number; /* in the group */
    Recording recording;
    PlaySites sites;
    Player player;
    WatchSlot seat;
    PtxWatch *watch;
    Reached reached;
    uint32_t ctas; /* of the engine */
    uint32_t part; /* the first of those that it has memory in common with */
    bool ready;
    RecordingSeen seen; /* where steps are wanted */
    HostSteps *steps;
    StepRange *ranges;
} Member;

/* Those that are played together, and all that are open with them. */
struct ReplayTogether {
    Member **members; /* by when they were launched */
    Player **players; /* of them */
    uint32_t count;
    Threads *engine;
    ModificationOrders turns;
};

typedef struct TogetherGroup {
    Member *members;
    uint32_t count, at;
    uint8_t *relation;          /* Beside, of each two: [first * count + second] */
    const TogetherSteps *steps; /* NULL: races are wanted, else what the launches do */
    TogetherTake *take;
    void *context;
    bool taken; /* all of it was */
} TogetherGroup;

static Beside relation_of(const Member *first, const Member *second) {
    return first->group->relation[first->number * first->group->count + second->number];
}

/* ---- What players ask ---------------------------------------------------------------------------- */

static Member *member_of(const Player *player) {
    return player->together->members[player->member];
}

/* Whether those that it comes behind, by at most that, are over. */
static bool are_over(const Member *member, Beside most) {
    const struct ReplayTogether *together = member->player.together;
    for (uint32_t i = 0; i < member->player.member; i++) {
        Beside relation = relation_of(together->members[i], member);
        if (relation >= BESIDE_BEFORE && relation <= most && !play_is_over(&together->members[i]->player))
            return false;
    }
    return true;
}

static void learn_ends(const Member *member, uint32_t warp, uint32_t lanes, Beside which) {
    const struct ReplayTogether *together = member->player.together;
    for (uint32_t i = 0; i < member->player.member; i++) {
        const Member *other = together->members[i];
        if (relation_of(other, member) == which)
            threads_ended(together->engine, warp, lanes, other->seat.first_cta, other->ctas);
    }
}

void together_begins(const Player *player, const PtxCta *cta) {
    const Member *member = member_of(player);
    Threads *engine = player->together->engine;
    uint32_t first = ptx_watch_cta(member->watch, cta->number) * member->seat.cta_warps;
    for (uint32_t i = 0; i < member->seat.cta_warps; i++) {
        uint32_t lanes = i < cta->warp_count ? cta->warps[i].launched : 0;
        if (lanes)
            learn_ends(member, first + i, lanes, BESIDE_BEFORE);
        if (~lanes) /* there are so many in the largest block */
            threads_exit(engine, first + i, ~lanes);
    }
}

bool together_may_go_on(const Player *player) {
    return are_over(member_of(player), BESIDE_WAITED);
}

void together_waited(const Player *player, const PtxEvent *event) {
    const Member *member = member_of(player);
    uint32_t cta = ptx_watch_cta(member->watch, event->warp->cta->number);
    learn_ends(member, cta * member->seat.cta_warps + event->warp->index, event->lanes, BESIDE_WAITED);
}

Player *together_player(const Player *player, uint32_t *cluster) {
    const struct ReplayTogether *together = player->together;
    uint32_t at = together->count - 1;
    while (at && together->members[at]->player.first_cluster > *cluster)
        at--;
    Player *found = &together->members[at]->player;
    *cluster -= found->first_cluster;
    return found;
}

/* ---- The play ------------------------------------------------------------------------------------- */

/* One round: whether anything was done. */
static bool play_round(const struct ReplayTogether *together) {
    bool any = false;
    for (uint32_t i = 0; i < together->count; i++) {
        Member *member = together->members[i];
        Player *player = &member->player;
        if (play_is_over(player) || !are_over(member, BESIDE_BEFORE))
            continue;
        uint64_t before = player->records + player->begun;
        play_on(player);
        any |= player->records + player->begun != before || play_is_over(player);
        for (uint32_t k = 0; play_is_over(player) && k < together->count; k++)
            if (!play_is_over(&together->members[k]->player))
                play_wake_all(&together->members[k]->player);
    }
    return any;
}

static bool pass_one(const struct ReplayTogether *together) {
    for (uint32_t i = 0; i < together->count; i++)
        if (play_pass(&together->members[i]->player))
            return true;
    return false;
}

/* Whether all of them came to their end. */
static bool play_members(struct ReplayTogether *together) {
    turns_read(&together->turns, together->players, together->count);
    if (together->turns.doubts.late)
        return false;
    for (bool any = true; any && !deadline_passed();)
        any = play_round(together) || play_skip(together->players[0]) || pass_one(together);
    for (uint32_t i = 0; i < together->count; i++)
        if (!play_is_over(together->players[i]))
            return false;
    return true;
}

/* ---- Places in one engine ------------------------------------------------------------------------- */

/* The number of the module among those that are different, from 1; 0: it is one too many. */
static uint64_t module_of(const struct ReplayTogether *together, const Member *member) {
    uint64_t different = 1;
    for (uint32_t i = 0; together->members[i] != member; i++) {
        const Member *other = together->members[i];
        bool first = true;
        if (str_equal(other->recording.ptx, member->recording.ptx))
            return other->seat.variables >> VARIABLES_SHIFT;
        for (uint32_t k = 0; k < i && first; k++)
            first = !str_equal(together->members[k]->recording.ptx, other->recording.ptx);
        different += first;
    }
    return different <= MOST_MODULES ? different : 0;
}

static ThreadsShape shape_of(const struct ReplayTogether *together) {
    ThreadsShape shape = {.cluster = 1};
    for (uint32_t i = 0; i < together->count; i++) {
        const PtxMachine *machine = together->members[i]->check.machine;
        shape.cluster = machine->cluster_size > shape.cluster ? machine->cluster_size : shape.cluster;
        shape.cta_threads = machine->threads_per_cta > shape.cta_threads ? machine->threads_per_cta : shape.cta_threads;
    }
    for (uint32_t i = 0; i < together->count; i++) {
        Member *member = together->members[i];
        const PtxMachine *machine = member->check.machine;
        member->ctas = machine->cta_count / machine->cluster_size * shape.cluster;
        shape.ctas += member->ctas;
    }
    return shape;
}

static void see_step(void *steps, const PtxEvent *event) {
    host_steps_observe(steps, event);
}

/* Its steps are taken down. */
static bool watch_steps(Member *member) {
    const TogetherSteps *of = &member->group->steps[member->number];
    member->steps = host_steps_new(member->check.machine);
    if (!member->steps)
        return false;
    member->ranges = ARENA_ARRAY(&member->check.arena, StepRange, of->place_count + 1);
    for (uint32_t i = 0; i < of->place_count; i++)
        member->ranges[i] = (StepRange){of->places[i].address, of->places[i].bytes};
    host_steps_within(member->steps, member->ranges, of->place_count);
    member->seen = (RecordingSeen){.see = see_step, .observer = member->steps, .all = true};
    member->player.seen = &member->seen;
    member->player.across = of;
    return true;
}

/* False, with a sentence: they cannot be played. */
static bool take_seats(struct ReplayTogether *together, jmp_buf *exhausted, const char **problem) {
    ThreadsShape shape = shape_of(together);
    uint32_t cta = 0, site = 0, cluster = 0, thread = 0;
    if (!(together->engine = threads_create(&shape, problem)))
        return false;
    for (uint32_t i = 0; i < together->count; i++) {
        Member *member = together->members[i];
        uint64_t module = module_of(together, member);
        member->seat = (WatchSlot){.engine = together->engine,
                                   .first_cta = cta,
                                   .cta_warps = (shape.cta_threads + PTX_LANES - 1) / PTX_LANES,
                                   .cluster = shape.cluster,
                                   .first_site = site,
                                   .variables = module << VARIABLES_SHIFT};
        PtxWatchOptions options = {.volatile_races = member->check.options->volatile_races, .seat = &member->seat};
        *problem = "they belong to too many different modules";
        if (!module || !(member->watch = ptx_watch(&member->check.arena, member->check.machine, &options, problem)))
            return false;
        playing_open(&member->player, &member->check, &member->recording, &member->sites, member->watch);
        member->player.arena.exhausted = member->check.machine->arena.exhausted = exhausted;
        member->player.together = together;
        member->player.member = i;
        member->player.first_cluster = cluster;
        member->player.first_thread = thread;
        member->player.variables = module << KEY_MODULE_SHIFT;
        *problem = "the recordings need more memory than the limit";
        if (!playing_start(&member->player) || (member->group->steps && !watch_steps(member)))
            return false;
        cta += member->ctas;
        site += member->check.program->code_count;
        cluster += member->player.cluster_count;
        thread += member->check.machine->cta_count * member->seat.cta_warps * PTX_LANES;
    }
    return true;
}

static void leave_seats(struct ReplayTogether *together) {
    for (uint32_t i = 0; i < together->count; i++) {
        Member *member = together->members[i];
        if (!member->watch)
            continue;
        ptx_watch_free(member->watch);
        member->watch = NULL;
        host_steps_free(member->steps);
        member->steps = NULL;
        member->check.machine->observe = NULL;
        member->check.machine->arena.exhausted = NULL;
        arena_free(&member->player.arena);
    }
    threads_free(together->engine);
}

/* ---- What is told --------------------------------------------------------------------------------- */

static const Member *member_at(const struct ReplayTogether *together, const ThreadsSide *side) {
    uint32_t cta = side->warp / together->members[0]->seat.cta_warps, at = together->count - 1;
    while (at && together->members[at]->seat.first_cta > cta)
        at--;
    return together->members[at];
}

static const char *label_of(const Member *member, const Member *other, Verdict *verdict) {
    Str kernel = symbol_plain(member->recording.kernel);
    if (!str_equal(kernel, symbol_plain(other->recording.kernel)))
        return verdict_text(verdict, "%.*s", STR_ARG(kernel));
    return verdict_text(verdict, "%.*s (launch %llu)", STR_ARG(kernel),
                        (unsigned long long)member->recording.launch.number);
}

/* They race if they ran at the same time, and it is not known whether they can. */
static void report_maybe(const Member *first, const Member *second) {
    const char *why =
        first->recording.order->flags & RECORDING_ORDER_OPEN || second->recording.order->flags & RECORDING_ORDER_OPEN
            ? "a stream of theirs waits for memory, a semaphore or an event of others"
        : first->reached.reports_host ? "the host may have waited for a signal of the first one"
        : second->recording.order->flags & RECORDING_ORDER_CALLED
            ? "the host was called from a stream"
            : "the host may have waited for the first one in a way that is not seen, by another thread of it or by a "
              "copy";
    verdict_incomplete(second->launch->verdict, "", 0,
                       "whether it can run at the same time as launch %llu (%.*s), which accesses the same memory, "
                       "is not known: %s",
                       (unsigned long long)first->recording.launch.number,
                       STR_ARG(symbol_plain(first->recording.kernel)), why);
}

/* `race`: its first side is of the earlier launch. */
static void report_race(const Member *first, const Member *second, const ThreadsRace *race) {
    Verdict *verdict = second->launch->verdict;
    bool same = str_equal(first->recording.ptx, second->recording.ptx);
    PtxRace between = ptx_watch_between(first->watch, second->watch, race);
    RaceNames names = {.first = label_of(first, second, verdict),
                       .second = label_of(second, first, verdict),
                       .file = same ? NULL : first->launch->file,
                       .number = first->recording.launch.number};
    ThreadsCheck other = first->check; /* words about it are the second's verdict's */
    other.verdict = verdict;
    size_t reported = verdict->finding_count;
    threads_race_between(&second->check, &other, &between, &names);
    for (uint32_t i = 0; i < second->player.together->count; i++)
        polls_report(&second->player.together->members[i]->player, verdict, reported);
}

/* A race between two members, the earlier one first. */
typedef struct Between {
    const Member *first, *second;
    ThreadsRace race;
} Between;

/* False: it is of one launch, and found when that is played alone. */
static bool is_between(const struct ReplayTogether *together, const ThreadsRace *race, Between *between) {
    *between = (Between){member_at(together, &race->first), member_at(together, &race->second), *race};
    if (race->reason == THREADS_AT_EXIT || between->first == between->second)
        return false;
    if (between->first->player.member > between->second->player.member)
        *between = (Between){between->second, between->first, *race};
    if (member_at(together, &race->first) != between->first) {
        between->race.first = race->second;
        between->race.second = race->first;
    }
    return true;
}

static uint32_t code_of(const Member *member, const ThreadsSide *side) {
    return side->access.site - member->seat.first_site;
}

/* The same instructions of the same kernels: an earlier launch more of the first. */
static bool is_same(const Between *one, const Between *other) {
    return one->second == other->second && str_equal(one->first->recording.ptx, other->first->recording.ptx) &&
           strcmp(one->first->recording.kernel, other->first->recording.kernel) == 0 &&
           code_of(one->first, &one->race.first) == code_of(other->first, &other->race.first) &&
           code_of(one->second, &one->race.second) == code_of(other->second, &other->race.second);
}

/* Whether what was not recorded of a launch may order it with others: strong accesses of CTAs or threads. */
static bool may_be_ordered(const struct ReplayTogether *together) {
    bool lacks = false;
    for (uint32_t i = 0; i < together->count; i++) {
        const RecordingLaunch *launch = &together->members[i]->recording.launch;
        lacks |= is_sampled(launch) || launch->dropped & RECORD_DROPPED_PLACE;
    }
    return lacks && together->turns.count;
}

static void report_races(const struct ReplayTogether *together) {
    uint32_t count, reported = 0, open = 0;
    bool ordered = may_be_ordered(together);
    const ThreadsRace *races = threads_races(together->engine, &count);
    Between *all = ARENA_ARRAY(&together->members[0]->check.arena, Between, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        Between *between = &all[reported];
        bool known = !is_between(together, &races[i], between);
        for (uint32_t k = 0; k < reported && !known; k++)
            known = is_same(&all[k], between);
        if (known)
            continue;
        reported++;
        open += ordered;
        if (ordered)
            continue;
        if (relation_of(between->first, between->second) == BESIDE_MAYBE || between->first->reached.reports_host)
            report_maybe(between->first, between->second);
        else
            report_race(between->first, between->second, &between->race);
    }
    if (open)
        verdict_incomplete(
            together->members[together->count - 1]->launch->verdict, "", 0,
            "%u pair%s of accesses of launches that may have run at the same time %s not decided: operations that "
            "were not recorded may order %s",
            open, open == 1 ? "" : "s", open == 1 ? "is" : "are", open == 1 ? "it" : "them");
}

/* Whether all of it was played; else a sentence. Memory that is not there ends it, too. */
static bool play_all(struct ReplayTogether *together, const char **problem) {
    static const char no_memory[] = "that needs more memory than the limit";
    jmp_buf here;
    if (setjmp(here)) {
        *problem = deadline.missed ? "there was no time left for that" : no_memory;
        return false;
    }
    if (!take_seats(together, &here, problem))
        return false;
    *problem = play_members(together) ? threads_trouble(together->engine)
                                      : "the recordings cannot be replayed together to their end";
    if (!together->members[0]->group->steps)
        report_races(together);
    if (!may_be_ordered(together))
        report_order(together->members[together->count - 1]->launch->verdict, &together->turns);
    return !*problem;
}

static void play_part(TogetherGroup *group, uint32_t part) {
    Arena *arena = &group->members[0].check.arena;
    struct ReplayTogether together = {.members = ARENA_ARRAY(arena, Member *, group->count),
                                      .players = ARENA_ARRAY(arena, Player *, group->count)};
    const char *problem = NULL;
    for (uint32_t i = 0; i < group->count; i++)
        if (group->members[i].ready && group->members[i].part == part) {
            together.players[together.count] = &group->members[i].player;
            together.members[together.count++] = &group->members[i];
        }
    if (together.count < 2)
        return;
    bool whole = play_all(&together, &problem);
    for (uint32_t i = 0; i < together.count; i++) {
        together.members[i]->launch->together = TOGETHER_PLAYED;
        if (together.members[i]->recording.order->device != together.members[0]->recording.order->device)
            verdict_incomplete(together.members[i]->launch->verdict, "", 0,
                               "launches on several devices use the same memory and may have run at the same time: "
                               "between them, Weir treated scope .gpu as scope .sys");
        if (!whole)
            verdict_incomplete(together.members[i]->launch->verdict, "", 0,
                               "not all races with launches that may have run at the same time were checked: %s",
                               problem);
    }
    leave_seats(&together);
}

/* ---- What several processes do ---------------------------------------------------------------------- */

static bool take_steps(const TogetherGroup *group) {
    bool good = true;
    for (uint32_t i = 0; i < group->count; i++) {
        const Member *member = &group->members[i];
        uint32_t count;
        const char *problem;
        const HostStep *steps = host_steps_all(member->steps, &count, &problem);
        good &= steps && !member->launch->verdict->incomplete_count;
        if (steps)
            group->take(group->context, i, member->check.machine, steps, count);
    }
    return good;
}

static void play_steps(TogetherGroup *group) {
    Arena *arena = &group->members[0].check.arena;
    struct ReplayTogether together = {.members = ARENA_ARRAY(arena, Member *, group->count),
                                      .players = ARENA_ARRAY(arena, Player *, group->count)};
    const char *problem = NULL;
    for (uint32_t i = 0; i < group->count; i++) {
        if (!group->members[i].ready || group->members[i].recording.launch.dropped ||
            is_sampled(&group->members[i].recording.launch))
            return;
        together.players[together.count] = &group->members[i].player;
        together.members[together.count++] = &group->members[i];
    }
    group->taken = play_all(&together, &problem) && take_steps(group);
    leave_seats(&together);
}

/* ---- Which belong together ------------------------------------------------------------------------ */

/* Pages of all of them, while they are compared. */
static bool take_reached(Member *member, Arena *arena) {
    Player *player = &member->player;
    *player = (Player){.check = &member->check,
                       .recording = &member->recording,
                       .sites = &member->sites,
                       .machine = member->check.machine};
    if (!record_reader(&player->reader, player->recording, player->sites->shapes, player->sites->sites.count, arena))
        return false;
    reached_by(&member->reached, player, arena);
    return true;
}

static uint32_t root_of(const TogetherGroup *group, uint32_t at) {
    while (group->members[at].part != at)
        at = group->members[at].part;
    return at;
}

/* A variable that one names and the other has the address of is two places here. */
static void report_variables(const Member *first, const Member *second) {
    if (reached_variables(&first->reached, &second->reached))
        verdict_incomplete(second->launch->verdict, "", 0,
                           "it and launch %llu (%.*s) may run at the same time: one accesses variables of a module by "
                           "name, the other memory that was not allocated, which may be the same, and was not checked",
                           (unsigned long long)first->recording.launch.number,
                           STR_ARG(symbol_plain(first->recording.kernel)));
}

static void find_parts(TogetherGroup *group) {
    for (uint32_t i = 0; i < group->count; i++)
        for (uint32_t k = 0; k < i; k++) {
            const Member *first = &group->members[k], *second = &group->members[i];
            if (!first->ready || !second->ready || relation_of(first, second) < BESIDE_WAITED)
                continue;
            report_variables(first, second);
            if (!reached_overlap(&first->reached, &second->reached))
                continue;
            uint32_t one = root_of(group, k), other = root_of(group, i);
            group->members[one > other ? one : other].part = one > other ? other : one;
        }
    for (uint32_t i = 0; i < group->count; i++)
        group->members[i].part = root_of(group, i);
}

static bool names_variables(const TogetherGroup *group) {
    for (uint32_t i = 0; i < group->count; i++)
        if (group->members[i].ready && group->members[i].reached.named)
            return true;
    return false;
}

/* False: there is not enough memory. */
static bool compare(TogetherGroup *group) {
    static const size_t most = (size_t)2 << 30;
    Arena arena;
    jmp_buf here;
    arena_init(&arena, most);
    arena.exhausted = &here;
    if (setjmp(here)) {
        arena_free(&arena);
        return false;
    }
    for (uint32_t i = 0; i < group->count; i++)
        if (group->members[i].ready)
            group->members[i].ready = take_reached(&group->members[i], &arena);
    for (uint32_t i = 0; i < group->count; i++)
        if (group->members[i].ready && names_variables(group))
            reached_outside(&group->members[i].reached, &group->members[i].recording);
    find_parts(group);
    arena_free(&arena);
    return true;
}

static void play_parts(TogetherGroup *group) {
    bool compared = compare(group);
    for (uint32_t i = 0; compared && i < group->count; i++)
        if (group->members[i].part == i && !deadline_passed())
            play_part(group, i);
    for (uint32_t i = 0; !compared && i < group->count; i++)
        verdict_incomplete(group->members[i].launch->verdict, "", 0,
                           "races with launches that may have run at the same time were not checked: that needs "
                           "more memory than the limit");
}

/* Opens one after the other, each with an arena of its own; with the last one all are there. */
static void open_member(ThreadsCheck *check) {
    Member *member = (Member *)check;
    TogetherGroup *group = member->group;
    const char *problem;
    member->recording = *member->launch->recording;
    /* Of what ended otherwise, its own verdict says enough. */
    bool ended = !(member->recording.launch.flags & (RECORDING_HUNG | RECORDING_CUT));
    member->ready = ended && playing_prepare(check, &member->recording, &member->sites, &problem) &&
                    runs_open(check, recording_launch(check, &member->recording));
    if (++group->at < group->count)
        runs_with_arena(&group->members[group->at].check, open_member);
    else if (group->steps)
        play_steps(group);
    else
        play_parts(group);
    runs_close(check);
}

/* ---- All launches --------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b) {
    RecordedLaunch *const *x = a, *const *y = b;
    return recordings_by_number((*x)->recording, (*y)->recording);
}

/* The launch that a dependent one comes behind has to be there, unless it waits for that before it does anything. */
static void report_missing(RecordedLaunch *const *launches, size_t count, size_t at) {
    const RecordedLaunch *launch = launches[at];
    uint64_t wanted = recording_depends_on(launch->recording);
    for (size_t i = 0; i < at; i++)
        if (launches[i]->recording->launch.number + 1 == wanted)
            return;
    if (wanted && count &&
        recording_touches_early(launch->module, launch->entry, launch->recording, launch->options, launch->verdict->arena))
        verdict_incomplete(launch->verdict, "", 0,
                           "as a dependent launch, it may begin before the preceding launch ends: races between the "
                           "two were not checked, as that was not recorded");
}

static void add_member(TogetherGroup *group, uint32_t number, RecordedLaunch *launch) {
    group->members[number] = (Member){.check = {.module = launch->module,
                                                .entry = launch->entry,
                                                .options = launch->options,
                                                .verdict = launch->verdict,
                                                .recorded = true},
                                      .group = group,
                                      .launch = launch,
                                      .number = number,
                                      .part = number};
}

static void check_group(RecordedLaunch **launches, uint32_t count, Arena *arena) {
    TogetherGroup group = {.count = count,
                           .members = ARENA_ARRAY(arena, Member, count),
                           .relation = ARENA_ARRAY(arena, uint8_t, (size_t)count * count)};
    for (uint32_t i = 0; i < count; i++) {
        RecordedLaunch *launch = launches[i];
        add_member(&group, i, launch);
        launch->together = TOGETHER_COMPARED;
        for (uint32_t k = 0; k < i; k++)
            group.relation[k * count + i] = (uint8_t)recordings_concurrent(launches[k]->recording, launch->recording);
        report_missing(launches, count, i);
    }
    runs_with_arena(&group.members[0].check, open_member);
}

static void check_groups(RecordedLaunch **sorted, const size_t *groups, size_t count, RecordedLaunch **some,
                         Arena *arena) {
    for (size_t i = 0; i < count; i++) {
        size_t members = 0;
        for (size_t k = i; groups[i] == i && k < count; k++)
            if (groups[k] == i)
                some[members++] = sorted[k];
        if (members > MOST_MEMBERS)
            for (size_t k = 0; k < members; k++)
                verdict_incomplete(some[k]->verdict, "", 0,
                                   "it is one of %zu recorded launches that may have run at the same time: these "
                                   "are too many to check for races",
                                   members);
        else if (members > 1)
            check_group(some, (uint32_t)members, arena);
    }
}

/* One that waits for the launches before it, and does nothing before that, comes behind them as any other does. */
static const Recording *settled(const RecordedLaunch *launch, Arena *arena) {
    const Recording *recording = launch->recording;
    if (!recording_depends_on(recording) || !recording_waits_first(launch->module, launch->entry))
        return recording;
    uint32_t count = recording->order->known_count;
    Recording *made = ARENA_NEW(arena, Recording);
    RecordingKnown *known = ARENA_ARRAY(arena, RecordingKnown, count);
    *made = *recording;
    for (uint32_t i = 0; i < count; i++) {
        known[i] = recording->known[i];
        known[i].begun = known[i].waited;
    }
    made->known = known;
    return made;
}

void recordings_check(RecordedLaunch *launches, size_t count, Arena *arena) {
    RecordedLaunch **sorted = ARENA_ARRAY(arena, RecordedLaunch *, 2 * count + 1);
    const Recording **recordings = ARENA_ARRAY(arena, const Recording *, count + 1);
    size_t *groups = ARENA_ARRAY(arena, size_t, count + 1), there = 0;
    for (size_t i = 0; i < count; i++)
        if (launches[i].recording->order && launches[i].recording->ptx.size && !launches[i].recording->shadow.size) {
            launches[i].recording = settled(&launches[i], arena);
            sorted[there++] = &launches[i];
        }
    qsort(sorted, there, sizeof *sorted, by_number);
    for (size_t i = 0; i < there; i++)
        recordings[i] = sorted[i]->recording;
    recordings_group(recordings, there, groups, arena);
    check_groups(sorted, groups, there, sorted + count, arena);
}

bool recordings_steps(RecordedLaunch *launches, const TogetherSteps *steps, uint32_t count, const bool *before,
                      TogetherTake *take, void *context) {
    Arena *arena = launches[0].verdict->arena;
    TogetherGroup group = {.count = count,
                           .members = ARENA_ARRAY(arena, Member, count),
                           .relation = ARENA_ARRAY(arena, uint8_t, (size_t)count * count),
                           .steps = steps,
                           .take = take,
                           .context = context};
    for (uint32_t i = 0; i < count; i++) {
        add_member(&group, i, &launches[i]);
        for (uint32_t k = 0; k < i; k++)
            group.relation[k * count + i] = before[k * count + i] ? BESIDE_BEFORE : BESIDE_BOTH;
    }
    runs_with_arena(&group.members[0].check, open_member);
    return group.taken;
}
