/* Launches, clusters, havoc choices and schedules: which runs are made, and what is made of how they end. */
#include "check/tile/run/check.h"

#include "base/deadline.h"
#include "check/explain/place.h"
#include "check/explain/tile/blocked.h"
#include "check/tile/run/alternatives.h"
#include "check/tile/run/havocked.h"
#include "check/tile/run/races.h"
#include "check/tile/run/trail.h"
#include "machine/tile/launch/choose.h"
#include "machine/tile/launch/open.h"
#include "machine/tile/schedule/classes.h"
#include "machine/tile/schedule/coverage.h"

enum { MOST_HAVOC_CHOICE_CLUSTERS = 4, RANDOM_BY_DEFAULT = 8 };
static const uint64_t usual_states = 200 * 1000, states_by_default = 20 * 1000;
static const size_t scratch_budget = (size_t)1 << 30, search_budget = (size_t)1 << 28;

typedef struct RunCheck {
    Module *module;
    const CheckOptions *options;
    Verdict *verdict;
    const Program *program;
    Machine *machine;
    HappensBefore *happens_before;
    Alternatives *alternatives;
    Races *races; /* NULL: not looked for */
    OtherData other_data;
    Covered *covered;
    uint32_t races_reported;
    bool races_wrong;    /* some of them is more than a note */
    Arena scratch;       /* tensors of one run */
    const Launch *given; /* NULL: none was */
    const Launch *launch;
    const char *launch_text;
    bool symmetry;   /* every cluster does the same */
    bool noted_data; /* that control depends on data was said */
    bool noted_havoc_dependent;
    bool noted_budget;
    bool doubted[DOUBT_KINDS]; /* that something goes wrong only at such launches was said */
} RunCheck;

/* ---- One run -------------------------------------------------------------------------------------- */

static void empty_scratch(RunCheck *check) {
    jmp_buf *exhausted = check->scratch.exhausted;
    if (check->scratch.held) {
        arena_free(&check->scratch);
        arena_init(&check->scratch, scratch_budget);
    }
    check->scratch.exhausted = exhausted;
    check->machine->atomic_capacity = 0;
}

/* `loads`: what they give; NULL: what is in memory. */
static RunEnd run_with(RunCheck *check, const Rerun *rerun, const LoadLog *loads) {
    empty_scratch(check);
    check->machine->havoc_choice = rerun->havoc_choice;
    machine_give_loads(check->machine, loads);
    return schedule_run(check->machine, rerun->cluster, &rerun->schedule);
}

static RunEnd run_with_other_data(void *check, const Rerun *rerun) {
    return run_with(check, rerun, NULL);
}

static RunEnd run(RunCheck *check, const Rerun *rerun) {
    const CheckOptions *options = check->options;
    RunEnd end = run_with(check, rerun, options->loads ? options->loads(options->loads_context, rerun->cluster) : NULL);
    covered_add_run(check->covered);
    return end;
}

/* How the schedule came about, in words. */
static const char *schedule_text(RunCheck *check, const Rerun *rerun) {
    Text text = {0};
    const Schedule *schedule = &rerun->schedule;
    if (schedule->kind == SCHEDULE_DELAYED) {
        text_addf(&text, "if ");
        schedule_describe_delays(check->machine, schedule, &text);
        text_addf(&text, " there");
    } else if (schedule->kind == SCHEDULE_EAGER && check->options->choice == SCHEDULES_DIRECTED) {
        uint32_t sensitive_points;
        (void)happens_before_sensitive(check->happens_before, &sensitive_points);
        text_addf(&text, sensitive_points ? "even in the simplest schedule, where copies and MMAs complete at once"
                                          : "in every schedule");
    } else if (schedule->kind == SCHEDULE_LAZY) {
        text_addf(&text, "if copies and MMAs complete late");
    } else {
        schedule_describe(check->machine, schedule, &text);
    }
    return verdict_keep(check->verdict, &text);
}

static bool is_race(const Finding *finding) {
    return (finding->rule >= RULE_RACE_RAW && finding->rule <= RULE_RACE_EXIT) ||
           finding->rule == RULE_BARRIER_OVERWRITTEN;
}

/* Found without a run (finding/lint.def, which comes last): it takes nothing from what a run shows at the same place.
 */
static bool is_legality(const Finding *finding) {
    return finding->rule > RULE_MEMBAR_NEEDLESS;
}

/* The same place again is the same fault, and is counted, not listed; so are bytes left over where something hangs for
 * them. */
static void settle_finding(RunCheck *check, Finding *finding) {
    Verdict *verdict = check->verdict;
    bool minor = finding->rule == RULE_BARRIER_BYTES || finding->rule == RULE_BARRIER_OVERRUN;
    for (size_t i = 0; i + 1 < verdict->finding_count; i++) {
        Finding *other = &verdict->findings[i];
        bool minor_too = other->rule == RULE_BARRIER_BYTES || other->rule == RULE_BARRIER_OVERRUN;
        if (!minor && minor_too) { /* the graver one takes its place */
            size_t times = other->times;
            *other = *finding;
            other->times += times;
            verdict->finding_count--;
            return;
        }
        if (is_race(other) || is_legality(other))
            continue;
        if (minor ||
            (other->place_count && finding->place_count && other->places[0].ir_line == finding->places[0].ir_line)) {
            other->times++;
            verdict->finding_count--;
            return;
        }
    }
}

/* Whether transaction bytes are left on a barrier. */
static bool has_leftover(const Machine *machine) {
    for (uint32_t i = 0; i < machine->slot_count; i++)
        if (machine->state->barriers[i].life != BARRIER_NEVER && machine->state->barriers[i].bytes)
            return true;
    return machine->state->unread != 0;
}

/* Whether it goes right if what is not known is chosen in another way. That it does where data is 0 says nothing: there
 * is nothing to do then. */
static bool goes_right_otherwise(RunCheck *check, const Rerun *rerun) {
    Rerun other = *rerun;
    bool data = check->machine->loads_chosen != 0;
    for (other.havoc_choice = 0; other.havoc_choice < MACHINE_HAVOC_CHOICES; other.havoc_choice++)
        if (other.havoc_choice != rerun->havoc_choice &&
            !(data && machine_havoc_choice_has_zeros(other.havoc_choice)) && run(check, &other) == RUN_COMPLETE &&
            !has_leftover(check->machine))
            return true;
    return deadline_look(); /* it is not known */
}

/* What goes wrong may come of choices that cannot be so: of data that Weir made up, or of two conditions that are not
 * known and that hang together. Then it is no finding, and what to give is said. One condition alone can be either. */
static bool take_back_havoc_dependent(RunCheck *check, const Rerun *rerun, const Op *first, const Finding *finding) {
    Verdict *verdict = check->verdict;
    if (!goes_right_otherwise(check, rerun))
        return false;
    bool memory = false;
    Effect effects[EFFECTS_MOST];
    unsigned count = effects_of(check->module, first, effects);
    for (unsigned i = 0; i < count; i++)
        memory |= effects[i].space == SPACE_GLOBAL;
    const char *op = verdict_text(verdict, "%.*s", STR_ARG(first->name));
    if (!check->noted_havoc_dependent && memory)
        op_havoc_dependent(check->program, first, finding, verdict);
    else if (!check->noted_havoc_dependent)
        verdict_incomplete(verdict, op, op_line(check->module, first),
                           "it fails for one choice of this and other unknown conditions: %s; whether that "
                           "combination is possible is not known",
                           finding->message);
    check->noted_havoc_dependent = true;
    verdict->finding_count--; /* which it is the last of */
    return true;
}

/* What is kept of a run that went wrong. */
typedef struct Watched {
    History *history;
    TileFlow flow;
} Watched;

static void watch(void *observer, const Event *event) {
    Watched *watched = observer;
    history_observe(watched->history, event);
    flow_observe(&watched->flow, event);
}

/* Repeats a run that went wrong, watching it, and explains how it ended. */
static bool report(RunCheck *check, const Rerun *rerun, RunEnd end) {
    Machine *machine = check->machine;
    History *history = history_create(&check->module->arena, machine);
    Watched watched = {.history = history};
    Trail trail = {.arena = &check->module->arena};
    Rerun again = *rerun;
    deadline_grant();
    again.schedule.record = &trail;
    machine->observe = watch;
    machine->observer = &watched;
    RunEnd repeated = run(check, &again);
    machine->observe = NULL;
    if (repeated != end) {
        if (!deadline_look())
            verdict_incomplete(check->verdict, "", 0, "two equal runs ended differently");
        return true;
    }
    const char *schedule = schedule_text(check, rerun);
    const Op *first = machine->loads_chosen || machine->root_count > 1 ? machine->first_choice : NULL;
    uint32_t overrun = 0;
    Finding *finding = end_explain(machine, history, end, check->verdict);
    if (!finding && !history->unknown && happens_before_overrun(check->happens_before, &overrun))
        finding = overrun_explain(machine, history, overrun, check->verdict);
    if (!finding)
        return false;
    finding->launch = check->launch_text;
    finding->schedule = schedule;
    finding->times = 1;
    Text witness = {0};
    trail_write(machine, rerun, &trail, &witness);
    flow_report_end(machine, &watched.flow, check->verdict, finding);
    finding->witness = verdict_keep(check->verdict, &witness);
    if (!first || !take_back_havoc_dependent(check, rerun, first, finding))
        settle_finding(check, finding);
    return true;
}

/* What to make of how a run ended. False: this launch needs no other run. */
static bool judge(RunCheck *check, const Rerun *rerun, RunEnd end) {
    Machine *machine = check->machine;
    switch (end) {
    case RUN_COMPLETE: {
        uint32_t barrier;
        bool leftover = has_leftover(machine);
        bool overrun =
            rerun->schedule.kind == SCHEDULE_EAGER && happens_before_overrun(check->happens_before, &barrier);
        bool reported = (leftover || overrun) && report(check, rerun, end);
        return !leftover || !reported; /* after a mere overrun other schedules may show something graver */
    }
    case RUN_STUCK:
    case RUN_FAULT:
        report(check, rerun, end);
        return false;
    case RUN_UNKNOWN:
        unknown_explain(machine, check->verdict);
        return false;
    case RUN_BUDGET:
        if (rerun->havoc_choice) /* loops on made-up data need not end */
            return true;
        if (!check->noted_budget && !deadline_look())
            verdict_incomplete(check->verdict, "", 0, "a run was stopped after %llu steps (raise --budget)",
                               (unsigned long long)machine->budget);
        check->noted_budget = true;
        return false;
    case RUN_EXCLUDED:
        if (!check->launch->chosen)
            verdict_incomplete(check->verdict, "", 0,
                               "the launch breaks an assumption of the kernel (llvm.intr.assume)");
        return false;
    default:
        verdict_incomplete(check->verdict, "", 0, "a trail does not fit the kernel");
        return false;
    }
}

/* ---- Races ----------------------------------------------------------------------------------------- */

/* Several observers of one run. */
enum { MOST_OBSERVERS = 3 };
typedef struct RunCheckAudience {
    struct {
        Observe *observe; /* NULL: none */
        void *observer;
    } seats[MOST_OBSERVERS];
} RunCheckAudience;

static void observe_all(void *observer, const Event *event) {
    const RunCheckAudience *audience = observer;
    for (int i = 0; i < MOST_OBSERVERS; i++)
        if (audience->seats[i].observe)
            audience->seats[i].observe(audience->seats[i].observer, event);
}

/* A run that the race engine watches, and someone else. */
static RunEnd run_for_races(RunCheck *check, const Rerun *rerun, Observe *observe, void *observer) {
    bool given = !check->given || check->launch == check->given;
    bool plain = schedule_is_immediate(&rerun->schedule) && rerun->schedule.kind != SCHEDULE_DELAYED;
    const Spectator *spectator = given && plain ? check->options->spectator : NULL;
    RunCheckAudience audience = {{{observe, observer},
                                  {check->races ? races_observe : NULL, check->races},
                                  {spectator ? spectator->observe : NULL, spectator ? spectator->context : NULL}}};
    if (check->races)
        races_start(check->races, rerun->cluster, rerun->havoc_choice, rerun->schedule.kind == SCHEDULE_DELAYED);
    if (spectator)
        spectator->start(spectator->context, check->machine, rerun);
    check->machine->observe = observe_all;
    check->machine->observer = &audience;
    RunEnd end = run(check, rerun);
    check->machine->observe = NULL;
    other_data_note(&check->other_data);
    if (spectator)
        spectator->end(spectator->context, check->machine, end);
    return end;
}

/* In which schedules the race shows, in words. */
static const char *race_schedule(RunCheck *check, const Rerun *rerun, const Race *race) {
    if (race->by_order)
        return "where tensor-core work is ordered by waits alone";
    if (rerun->schedule.kind == SCHEDULE_DELAYED)
        return schedule_text(check, rerun);
    if (rerun->schedule.kind != SCHEDULE_EAGER)
        return "in some schedules";
    return race_is_exit(race) ? "in every schedule" : "in every schedule";
}

/* Adds a finding for the race of that number. Where it comes of data that Weir made up it is none, and what to give is
 * said. */
static void report_race(RunCheck *check, const Rerun *rerun, uint32_t index) {
    Verdict *verdict = check->verdict;
    uint32_t count;
    Race race = races_found(check->races, &count)[index];
    const Finding *finding = races_report(check->races, check->machine, index, verdict);
    const Op *load = finding ? race_havoc_dependent(&check->other_data, rerun, &race) : NULL;
    if (!load)
        return;
    if (!check->noted_havoc_dependent)
        op_havoc_dependent(check->program, load, finding, verdict);
    check->noted_havoc_dependent = true;
    verdict->finding_count--;
    races_take_back(check->races, index);
}

/* Findings for the races that the run just made has shown; all share its trail. */
static void report_races(RunCheck *check, const Rerun *rerun) {
    Verdict *verdict = check->verdict;
    uint32_t count, before = check->races_reported;
    const Race *races = check->races ? races_found(check->races, &count) : NULL;
    if (!races || count == before)
        return;
    size_t found = verdict->finding_count;
    deadline_grant();
    for (uint32_t i = before; i < count; i++)
        report_race(check, rerun, i);
    count = check->races_reported = races_forget_may_order(check->races);
    if (verdict->finding_count == found)
        return;
    Trail trail = {.arena = &check->module->arena};
    Rerun again = *rerun;
    again.schedule.record = &trail;
    (void)run(check, &again);
    Text text = {0};
    trail_write(check->machine, rerun, &trail, &text);
    const char *witness = verdict_keep(verdict, &text);
    for (uint32_t i = before; i < count; i++) {
        if (races[i].havoc_dependent)
            continue;
        Finding *finding = &verdict->findings[found++];
        finding->witness = witness;
        finding->launch = check->launch_text;
        finding->schedule = race_schedule(check, rerun, &races[i]);
        check->races_wrong |= finding_severity(finding) != SEVERITY_NOTE;
    }
}

/* ---- One cluster ---------------------------------------------------------------------------------- */

/* Runs in which others come first, as far as the risks of the plain run and of these themselves ask for them.
 * `reported`: what went wrong was said already, and only races are looked for. Returns how many runs were made; *good:
 * whether none went wrong. */
static uint32_t try_alternatives(RunCheck *check, const Rerun *rerun, bool reported, bool *good) {
    uint32_t made = 0;
    Rerun other = *rerun;
    *good = true;
    alternatives_add(check->alternatives, check->happens_before, &rerun->schedule);
    for (; alternatives_next(check->alternatives, &other.schedule); made++) {
        happens_before_start(check->happens_before);
        RunEnd end = run_for_races(check, &other, happens_before_observe, check->happens_before);
        alternatives_add(check->alternatives, check->happens_before, &other.schedule);
        if (end == RUN_STUCK || end == RUN_FAULT || (end == RUN_COMPLETE && has_leftover(check->machine))) {
            if (*good && !reported)
                report(check, &other, end);
            *good = false;
        }
        report_races(check, &other);
    }
    return made;
}

static bool try_schedule(RunCheck *check, const Rerun *rerun, Schedule schedule) {
    Rerun other = *rerun;
    other.schedule = schedule;
    other.schedule.mirrored = rerun->schedule.mirrored;
    return judge(check, &other, run(check, &other));
}

/* The same, watched for races. */
static bool watch_schedule(RunCheck *check, const Rerun *rerun, Schedule schedule) {
    Rerun other = *rerun;
    other.schedule = schedule;
    other.schedule.mirrored = rerun->schedule.mirrored;
    bool good = judge(check, &other, run_for_races(check, &other, NULL, NULL));
    report_races(check, &other);
    return good;
}

static bool try_random(RunCheck *check, const Rerun *rerun, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        if (!try_schedule(check, rerun, (Schedule){.kind = SCHEDULE_RANDOM, .seed = check->options->seed + i}))
            return false;
    return true;
}

typedef struct CheckFound {
    RunCheck *check;
    const Rerun *rerun;
    Trail trail;
    RunEnd end;
    bool any;
} CheckFound;

static bool found_end(void *context, RunEnd end, const Trail *trail) {
    CheckFound *found = context;
    if (end == RUN_COMPLETE && !has_leftover(found->check->machine))
        return false;
    found->any = true;
    found->end = end;
    found->trail = *trail;
    found->trail.steps = ARENA_ARRAY(&found->check->module->arena, uint32_t, trail->count + 1);
    if (trail->count)
        memcpy(found->trail.steps, trail->steps, trail->count * sizeof *trail->steps);
    return true;
}

/* Every schedule, within the budget. */
static bool try_all(RunCheck *check, const Rerun *rerun, uint64_t states) {
    CheckFound found = {.check = check, .rerun = rerun};
    (void)run(check, rerun); /* the search goes back and forth: one plain run counts turns */
    empty_scratch(check);
    check->machine->havoc_choice = rerun->havoc_choice;
    Exploration result = explore(check->machine, rerun->cluster, states, search_budget, found_end, &found);
    if (found.any) {
        Rerun wrong = *rerun;
        wrong.schedule = (Schedule){.kind = SCHEDULE_REPLAY, .replay = &found.trail};
        report(check, &wrong, found.end);
        return false;
    }
    if (!result.complete && !deadline_look())
        verdict_incomplete(
            check->verdict, "", 0, "%snot all schedules were tried: the search was stopped after %llu states",
            check->options->choice == SCHEDULES_ALL ? "" : "barriers alone do not decide the order of arrivals, and ",
            (unsigned long long)result.states);
    return true;
}

/* What arrives first is not settled by barriers alone, and the runs that were made for that went well: plainer ones,
 * and as many as there can be. */
static bool try_loosely(RunCheck *check, const Rerun *rerun) {
    if (!watch_schedule(check, rerun, (Schedule){.kind = SCHEDULE_LAZY}) ||
        !watch_schedule(check, rerun, (Schedule){.kind = SCHEDULE_ROUND_ROBIN}))
        return false;
    for (unsigned i = 0; i < RANDOM_BY_DEFAULT; i++)
        if (!watch_schedule(check, rerun, (Schedule){.kind = SCHEDULE_RANDOM, .seed = check->options->seed + i}))
            return false;
    return try_all(check, rerun, states_by_default);
}

static bool directed(RunCheck *check, const Rerun *rerun) {
    Machine *machine = check->machine;
    happens_before_start(check->happens_before);
    RunEnd end = run_for_races(check, rerun, happens_before_observe, check->happens_before);
    bool chosen = machine->choices || machine->loads_chosen || machine->counted;
    const Op *first = machine->first_choice;
    bool goes_on = judge(check, rerun, end);
    report_races(check, rerun);
    if (!goes_on && check->races && (end == RUN_STUCK || end == RUN_FAULT)) { /* a fairer one may get further */
        Rerun fair = *rerun;
        fair.schedule =
            (Schedule){.kind = SCHEDULE_ROUND_ROBIN, .mirrored = rerun->schedule.mirrored, .immediate = true};
        (void)run_for_races(check, &fair, NULL, NULL);
        report_races(check, &fair);
    }
    /* After a run that went wrong others are made only to see whether there are races at all. */
    bool good = true, ends = end == RUN_COMPLETE || end == RUN_STUCK || end == RUN_FAULT;
    bool wanted = ends && (goes_on || !check->races_wrong);
    uint32_t alternatives = wanted ? try_alternatives(check, rerun, !goes_on, &good) : 0;
    if (!goes_on || !good)
        return false;
    if (rerun->cluster == 0 && rerun->havoc_choice == 0 &&
        !try_schedule(check, rerun, (Schedule){.kind = SCHEDULE_LAZY}))
        return false;
    size_t incomplete = check->verdict->incomplete_count;
    if (alternatives && !try_loosely(check, rerun))
        return false;
    if (alternatives_left(check->alternatives) && check->verdict->incomplete_count == incomplete && !check->races_wrong)
        verdict_incomplete(check->verdict, "", 0,
                           "barriers alone do not decide the order of arrivals, and %u orders were checked for "
                           "races, not all",
                           alternatives);
    if (!chosen)
        return true;
    if (!check->noted_data && first)
        verdict_note(check->verdict,
                     "control flow depends on unknown data (%.*s at line %u); %d outcomes were tried; give the data "
                     "in a launch file",
                     STR_ARG(first->name), op_line(check->module, first), MACHINE_HAVOC_CHOICES);
    check->noted_data = true;
    if (rerun->havoc_choice || rerun->cluster >= MOST_HAVOC_CHOICE_CLUSTERS)
        return true;
    for (unsigned havoc_choice = 1; havoc_choice < MACHINE_HAVOC_CHOICES; havoc_choice++) {
        Rerun other = *rerun;
        other.havoc_choice = havoc_choice;
        if (!directed(check, &other))
            return false;
    }
    return true;
}

ScheduleKind schedule_chosen(ScheduleChoice choice) {
    static const ScheduleKind kinds[] = {SCHEDULE_EAGER,       SCHEDULE_EAGER,  SCHEDULE_LAZY,
                                         SCHEDULE_ROUND_ROBIN, SCHEDULE_RANDOM, SCHEDULE_EAGER};
    return kinds[choice]; /* ORDER ScheduleChoice */
}

/* False: this launch needs no other run. */
static bool run_cluster(RunCheck *check, uint64_t cluster) {
    Rerun rerun = {.launch = check->launch,
                   .cluster = cluster,
                   .out_of_order = check->options->out_of_order,
                   .schedule = {.kind = SCHEDULE_EAGER, .mirrored = check->options->mirrored}};
    unsigned schedules = check->options->schedules ? check->options->schedules : RANDOM_BY_DEFAULT;
    switch (check->options->choice) {
    case SCHEDULES_DIRECTED:
        return directed(check, &rerun);
    case SCHEDULES_RANDOM:
        return try_random(check, &rerun, schedules);
    case SCHEDULES_ALL:
        return try_all(check, &rerun, check->options->states ? check->options->states : usual_states);
    default:
        return try_schedule(check, &rerun, (Schedule){.kind = schedule_chosen(check->options->choice)});
    }
}

/* ---- Launches ------------------------------------------------------------------------------------- */

static void run_launch(RunCheck *check, const Launch *launch) {
    Machine *machine = check->machine;
    check->launch = launch;
    check->launch_text = launch_text(launch, check->verdict->arena);
    alternatives_start(check->alternatives);
    machine_launch(machine, launch);
    covered_launch(check->covered, launch);
    uint64_t clusters = machine_clusters(machine), events = machine->events, cluster;
    CtaClasses *classes = classes_create(&check->module->arena, machine, check->options->loads != NULL);
    size_t findings = check->verdict->finding_count, incomplete = check->verdict->incomplete_count;
    bool goes_on = true;
    while (goes_on && classes_next(classes, &cluster)) {
        if (check->options->progress)
            check->options->progress(check->options->context, check->launch_text, classes_covered(classes), clusters);
        goes_on = run_cluster(check, cluster);
    }
    uint32_t ctas = check->program->ranks_are_programs ? 1 : check->program->ctas;
    if (goes_on && classes_covered(classes) < clusters && !deadline_look())
        verdict_incomplete(check->verdict, "", 0,
                           "only %llu of %llu CTAs were checked: they behave in more than %d ways (use a smaller "
                           "--grid)",
                           (unsigned long long)(classes_covered(classes) * ctas), (unsigned long long)(clusters * ctas),
                           MOST_CLASSES);
    /* of a launch that callers may never make, what goes wrong is a note, and nothing hangs on the rest of it */
    if (!goes_on && launch->doubt == DOUBT_NONE && classes_covered(classes) < clusters && !deadline_look())
        verdict_unreached(check->verdict, "", 0,
                          "only %llu of %llu CTAs were checked: the check stopped at an error in one of them",
                          (unsigned long long)(classes_covered(classes) * ctas), (unsigned long long)(clusters * ctas));
    bool silent = check->verdict->finding_count == findings && check->verdict->incomplete_count == incomplete;
    if (launch->chosen && silent && machine->excluded)
        return;
    *verdict_launch(check->verdict) = (LaunchRun){.text = check->launch_text,
                                                  .chosen = launch->chosen,
                                                  .ctas = (size_t)(clusters * ctas),
                                                  .classes = (size_t)classes_count(classes),
                                                  .schedules = 1,
                                                  .events = machine->events - events};
}

/* The first finding, from that index on, that counts and is more than a note; NULL: there is none. */
static const Finding *first_wrong(const Verdict *verdict, size_t from) {
    for (size_t i = from; i < verdict->finding_count; i++)
        if (!verdict->findings[i].suppressed && finding_severity(&verdict->findings[i]) != SEVERITY_NOTE)
            return &verdict->findings[i];
    return NULL;
}

/* What goes wrong only at a launch that callers may never make is no finding. No caller launches a size of 0; whether
 * sizes are multiples of the tile a launch that was given tells, and without one it is not known. */
static void settle_may_order(RunCheck *check, const Launch *launch, size_t first) {
    static const char *const when[] = {"", "with a size of 0", "with a size that is not a multiple of the tile",
                                       "if two loops, whose bounds come from different arguments or are computed "
                                       "differently, make different numbers of trips"};
    static const char *const unless[] = {NULL, NULL, "sizes are always multiples", "they always make the same"};
    Verdict *verdict = check->verdict; /* ORDER LaunchDoubt */
    const Finding *finding = first_wrong(verdict, first);
    if (finding && !check->doubted[launch->doubt]) { /* one tells enough */
        uint32_t line = finding->place_count ? finding->places[0].ir_line : 0;
        if (unless[launch->doubt] && !check->given)
            verdict_incomplete(verdict, finding->place_count ? finding->places[0].op : "", line,
                               "it fails %s (%s): %s; give a launch file if %s", when[launch->doubt],
                               check->launch_text, finding->message, unless[launch->doubt]);
        else
            verdict_note(verdict, "only %s (%s): %s", when[launch->doubt], check->launch_text, finding->message);
    }
    check->doubted[launch->doubt] |= finding != NULL;
    verdict->finding_count = first;
}

/* A launch that was not given. What is found at one beside a given one says so. */
static void run_chosen_launch(RunCheck *check, const Launch *launch) {
    Verdict *verdict = check->verdict;
    size_t found = verdict->finding_count, incomplete = verdict->incomplete_count;
    run_launch(check, launch);
    if (launch->doubt == DOUBT_EMPTY) /* what no caller launches need not be looked at whole */
        verdict->incomplete_count = incomplete;
    if (launch->doubt)
        settle_may_order(check, launch, found);
    for (size_t i = found; i < verdict->finding_count; i++)
        verdict->findings[i].elsewhere = check->given != NULL;
}

/* Launches that were not given; `fixed`: what they must have. Those that callers may never make come last: a race is
 * reported once, and as a finding where it is one. */
static void run_chosen(RunCheck *check, const Launch *fixed) {
    Launch *launches = ARENA_ARRAY(&check->module->arena, Launch, MOST_CHOSEN);
    size_t count =
        choose_launches(check->program, &check->module->arena, check->given, fixed, check->options->chosen, launches);
    for (int doubtful = 0; doubtful < 2; doubtful++)
        for (size_t i = 0; i < count; i++)
            if ((launches[i].doubt != DOUBT_NONE) == doubtful)
                run_chosen_launch(check, &launches[i]);
}

/* The launch of the file; or the one that is left if the command line says it all. NULL: some is for us to choose. */
static const Launch *given_launch(const RunCheck *check) {
    const CheckOptions *options = check->options;
    if (options->launch || !options->fixed)
        return options->launch;
    Launch *launches = ARENA_ARRAY(&check->module->arena, Launch, MOST_CHOSEN);
    size_t count =
        choose_launches(check->program, &check->module->arena, NULL, options->fixed, options->chosen, launches);
    return count && !launches[0].chosen ? &launches[0] : NULL;
}

/* Which of what was found counts. */
static void settle(const RunCheck *check) {
    if (check->options->settle)
        check->options->settle(check->options->settle_context, check->verdict);
}

/* Whether what is said of launches leaves none with a second cluster. */
static bool is_one_cluster(const Program *program, const Launch *said) {
    int64_t left = program->ranks_are_programs ? program->ctas : 1;
    for (int i = 0; said && i < 3; i++)
        left = said->grid[i] > 0 ? left / said->grid[i] : 0;
    return said && left > 0;
}

/* What is left open that a launch gives; NULL: nothing is. Writes of CTAs that do the same meet in global memory, which
 * two CTAs show as well as more: a launch that has but one does not. */
static const char *left_open(const RunCheck *check) {
    const Launch *said = check->given ? check->given : check->options->fixed;
    const char *open = program_open(check->program);
    Verdict ignored = {.arena = check->verdict->arena};
    const Program *whole =
        open ? NULL : program_compile(check->module, check->program->function, COMPILE_GLOBAL, &ignored);
    if (open || !whole)
        return open ? open : "global memory";
    open = program_open(whole);
    if (!open && program_updates_global(whole))
        return "on how many devices it runs"; /* an atomic that orders one device does not order two */
    return open ? open : is_one_cluster(whole, said) && program_writes_global(whole) ? "the grid" : NULL;
}

static void find_scope(const RunCheck *check) {
    Verdict *verdict = check->verdict;
    if (verdict->only_launch || verdict->incomplete_count || first_wrong(verdict, 0))
        return;
    verdict->open = left_open(check);
    verdict->closed = !verdict->open;
}

static void run_all(RunCheck *check) {
    const CheckOptions *options = check->options;
    Verdict *verdict = check->verdict;
    check->given = given_launch(check);
    if (check->given)
        run_launch(check, check->given);
    verdict->only_launch = check->given && options->only_launch;
    settle(check);
    if (!verdict->only_launch && !(check->given && first_wrong(verdict, 0))) /* what is wrong there comes first */
        run_chosen(check, check->given ? NULL : options->fixed);
    settle(check);
    covered_close(check->covered, !first_wrong(verdict, 0) && !verdict->only_launch, verdict);
    find_scope(check);
}

static void run_launches(RunCheck *check) {
    const char *problem = NULL;
    const Op *function = check->program ? check->program->function : NULL;
    check->machine = function ? machine_create(&check->module->arena, check->program, &problem) : NULL;
    if (!check->machine) {
        if (!check->verdict->incomplete_count)
            verdict_incomplete(check->verdict, "", 0, "%s", problem ? problem : "there is nothing to run");
        return;
    }
    check->machine->arena = &check->scratch;
    check->machine->budget = check->options->budget ? check->options->budget : RERUN_BUDGET;
    check->machine->out_of_order = check->options->out_of_order;
    check->other_data = (OtherData){.machine = check->machine, .run = run_with_other_data, .context = check};
    check->covered = covered_create(&check->module->arena, check->machine);
    check->happens_before = happens_before_create(&check->module->arena, check->machine);
    check->alternatives = alternatives_create(&check->module->arena);
    if (check->program->planned)
        verdict_incomplete(check->verdict, "", 0,
                           "its tasks are planned, but not split into partitions yet: Weir checks races only after "
                           "that");
    else if (!(check->races =
                   races_create(&check->module->arena, check->machine, check->options->out_of_order, &problem)))
        verdict_incomplete(check->verdict, "", 0, "%s", problem);
    run_all(check);
    const Op *op;
    const char *unknown = check->races ? races_problem(check->races, &op) : NULL;
    if (unknown)
        verdict_incomplete(check->verdict, verdict_text(check->verdict, "%.*s", STR_ARG(op->name)),
                           op_line(check->module, op), "%s", unknown);
}

void check_runs(Module *module, const Op *function, const CheckOptions *options, Verdict *verdict) {
    jmp_buf out_of_memory, *outer = module->arena.exhausted;
    RunCheck *const check = ARENA_NEW(&module->arena, RunCheck);
    check->module = module;
    check->options = options;
    check->verdict = verdict;
    arena_init(&check->scratch, scratch_budget);
    check->scratch.exhausted = module->arena.exhausted = &out_of_memory;
    if (setjmp(out_of_memory) == 0) {
        verdict->kernel = program_name(module, function);
        check->program = program_compile(module, function, 0, verdict);
        run_launches(check);
        module->arena.exhausted = outer;
    } else {
        module->arena.exhausted = outer;
        if (!deadline_look())
            verdict_incomplete(verdict, "", 0, "the run needs more memory than the limit");
    }
    arena_free(&check->scratch);
}
