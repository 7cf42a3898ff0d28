/* Launches, havoc choices and orders: which runs of a PTX kernel are made, and what is made of how they end. */
#include "check/simt/executions.h"

#include "base/deadline.h"
#include "check/simt/classes.h"
#include "machine/simt/core/scout.h"
#include "machine/simt/decode/slice.h"
#include "machine/simt/decode/unused.h"
#include "machine/simt/decode/within.h"
#include "machine/simt/schedule/explore.h"

enum { USUAL_RANDOM = 4, MOST_GROWTHS = 6 };
static const uint64_t usual_budget = UINT64_C(1) << 28, largest_buffer = UINT64_C(1) << 28;
static const size_t program_budget = (size_t)2 << 30;

/* ---- A machine ----------------------------------------------------------------------------------- */

bool runs_open(ThreadsCheck *check, PtxLaunch *launch) {
    const char *problem = "";
    launch->text = verdict_text(check->verdict, "%s", launch->text); /* findings outlive the launch */
    check->launch = launch;
    check->machine = ptx_machine(check->program, launch, check->options->computes, &problem);
    if (!check->machine) {
        verdict_incomplete(check->verdict, "", 0, "%s", problem);
        return false;
    }
    check->machine->budget = check->options->budget ? check->options->budget : usual_budget;
    if (check->odd_budget && check->odd_budget < check->machine->budget)
        check->machine->budget = check->odd_budget;
    check->machine->ran = check->ran;
    check->events = 0;
    check->classes = 0;
    check->havocked = check->hung = false;
    check->always_count = 0;
    check->runs = 0;
    check->history = history_new(&check->arena);
    return true;
}

/* An engine that stops because the time is up says that it lacks memory; that the time was up is reported anyway. */
static void report_unwatched(const ThreadsCheck *check, const char *how, const char *problem) {
    if (!deadline.missed)
        verdict_incomplete(check->verdict, "", 0, "races were not checked%s: %s", how, problem);
}

void runs_close(ThreadsCheck *check) {
    for (uint32_t i = 0; i < check->watch_count; i++) {
        const char *problem = ptx_watch_problem(check->watches[i]);
        if (problem && check->watches[i] != check->explores)
            report_unwatched(check, " in all of it", problem);
        ptx_watch_free(check->watches[i]);
    }
    check->watch_count = 0;
    check->explores = NULL;
    ptx_replicas_close(&check->replicas);
    if (check->machine)
        ptx_machine_free(check->machine);
    check->machine = NULL;
}

typedef struct CheckAudience {
    ThreadsCheck *check;
    PtxWatch *watch;
    uint32_t reported; /* explorations: races that have been */
    bool wrong;        /* ... and a run ended as it must not */
} CheckAudience;

static void observe(void *observer, const PtxEvent *event) {
    const CheckAudience *audience = observer;
    audience->check->events++;
    history_see(audience->check->history, event);
    if (audience->watch)
        ptx_watch_observe(audience->watch, event);
}

static void begin_run(void *to) {
    const CheckAudience *audience = to;
    history_clear(audience->check->history);
    if (audience->watch)
        ptx_watch_start(audience->watch);
}

static void end_run(const CheckAudience *audience) {
    if (audience->watch)
        ptx_watch_end(audience->watch);
    const char *problem = audience->watch ? ptx_watch_problem(audience->watch) : NULL;
    if (problem && audience->watch != audience->check->explores)
        report_unwatched(audience->check, " to the end", problem);
    audience->check->runs++;
    audience->check->spent += audience->check->machine->used;
    havoc_choices_note(audience->check);
}

/* Races that matter: CTAs that write the same say nothing of others, which may not. */
static bool has_races(const ThreadsCheck *check, PtxWatch *watch) {
    uint32_t count = 0;
    const PtxRace *races = watch ? ptx_watch_races(watch, &count) : NULL;
    for (uint32_t i = 0; i < count; i++)
        if (!races[i].same_value && races[i].reason != REASON_LATE && !threads_fence_is_note(check, &races[i]))
            return true;
    return false;
}

/* A CTA has run that speaks for others; what it shows beside races is reported at once. */
static bool end_class(void *to, const uint32_t *ctas, uint32_t count) {
    const CheckAudience *audience = to;
    ThreadsCheck *check = audience->check;
    ThreadsRun run = {.schedule = {.only = ctas, .only_count = count}, .havoc_choice = check->machine->havoc_choice};
    end_run(audience);
    if (audience->watch) { /* else it is tried whether the launch fits, and no more is asked */
        threads_unset(check, &run);
        threads_havocs(check);
    }
    check->havocked |= check->machine->havoc_count > 0;
    return !has_races(check, audience->watch) && !deadline_passed();
}

/* One CTA of each class; false: the grid has to be run whole. */
static bool make_classes(CheckAudience *audience, ThreadsRun *run, PtxEnd *end) {
    ClassesRun classes;
    ThreadsCheck *check = audience->check;
    ClassesAudience to = {.begin = begin_run, .end = end_class, .to = audience};
    bool first = run->schedule.kind == SCHEDULE_EAGER && !run->schedule.mirrored && !run->schedule.gives_up;
    if ((!first && !check->classes && !classes_large(check->machine)) || run->schedule.only ||
        check->options->classes == THREADS_CLASSES_NEVER || !classes_apply(check->machine) ||
        has_races(check, audience->watch))
        return false;
    ClassesEnd result =
        classes_run(check->machine, &run->schedule, &to, check->options->classes == THREADS_CLASSES_LARGE, &classes);
    *end = classes.end;
    check->runs -= classes.discarded;
    check->classes = result == CLASSES_NONE ? 0 : classes.count;
    if (result == CLASSES_NONE || (result == CLASSES_OVERLAP && !has_races(check, audience->watch)))
        return false;
    if (result != CLASSES_DONE) {
        uint32_t *only = ARENA_ARRAY(&check->arena, uint32_t, classes.cta_count);
        memcpy(only, classes.ctas, classes.cta_count * sizeof *only);
        run->schedule.only = only;
        run->schedule.only_count = classes.cta_count;
    }
    return true;
}

/* ---- Explorations -------------------------------------------------------------------------------- */

static bool end_explored(void *to, PtxEnd end, const Trail *trail);

static PtxExplorer explorer_of(CheckAudience *audience) {
    return (PtxExplorer){.context = audience,
                         .start = begin_run,
                         .observe = observe,
                         .reads = ptx_watch_reads(audience->watch),
                         .end = end_explored};
}

PtxEnd runs_make(ThreadsCheck *check, ThreadsRun *run, PtxWatch *watch) {
    PtxMachine *machine = check->machine;
    CheckAudience audience = {.check = check, .watch = watch};
    PtxEnd end;
    if (run->schedule.explored && watch) {
        PtxExplorer explorer = explorer_of(&audience);
        machine->havoc_choice = run->havoc_choice;
        end = ptx_explore_replay(machine, &explorer, run->schedule.replay);
        end_run(&audience);
        return end;
    }
    machine->havoc_choice = run->havoc_choice;
    machine->observe = observe;
    machine->observer = &audience;
    if (check->options->progress)
        check->options->progress(check->options->context, check->launch->text, check->runs, 0);
    if (!make_classes(&audience, run, &end)) {
        begin_run(&audience);
        end = ptx_schedule_run(machine, &run->schedule);
        end_run(&audience);
    }
    machine->observe = NULL;
    return end;
}

/* ---- What a run shows ---------------------------------------------------------------------------- */

static bool is_wrong(PtxEnd end) {
    return end == PTX_END_STUCK || end == PTX_END_FAULT;
}

/* If that does not count, as it is ignored or a note: what comes behind it was not looked at all the same. */
void runs_report_stop(ThreadsCheck *check, const PtxCode *code) {
    verdict_unreached(check->verdict, "", code ? code_line(check->program, code) : 0,
                      "a run %s: later instructions were not checked", code ? "stops here" : "hangs");
}

bool runs_judge(ThreadsCheck *check, const ThreadsRun *run, PtxEnd end) {
    const PtxMachine *machine = check->machine;
    switch (end) {
    case PTX_END_COMPLETE:
        return true;
    case PTX_END_STUCK:
        if (threads_blocked(check, &run->schedule, run->havoc_choice))
            runs_report_stop(check, NULL);
        return false;
    case PTX_END_FAULT:
        if (threads_fault(check, &run->schedule, run->havoc_choice))
            runs_report_stop(check, machine->fault.code);
        return false;
    case PTX_END_UNKNOWN:
        threads_unmodeled(check);
        return false;
    case PTX_END_TIME:
        return false; /* the caller that set the deadline reports it */
    case PTX_END_BUDGET:
        check->stopped = true;
        if (check->odd_budget)
            return false; /* what it would have shown is missing, and that is reported */
        if (machine->used >= machine->budget)
            verdict_incomplete(check->verdict, "", 0, "a run was stopped after %llu instructions (raise --budget)",
                               (unsigned long long)machine->budget);
        else if (!deadline_look())
            verdict_incomplete(check->verdict, "", 0, "the run needs more memory than the limit");
        return false;
    default:
        verdict_incomplete(check->verdict, "", 0, "a trail does not fit the kernel");
        return false;
    }
}

/* ---- Races --------------------------------------------------------------------------------------- */

/* Reports the races of the watch beyond the first `reported`. Returns how many it has. */
uint32_t runs_report_races(ThreadsCheck *check, const ThreadsRun *run, PtxWatch *watch, uint32_t reported) {
    uint32_t count = 0;
    const PtxRace *found = watch ? ptx_watch_races(watch, &count) : NULL;
    if (reported >= count)
        return count;
    PtxRace *races = ARENA_ARRAY(&check->arena, PtxRace, count);
    memcpy(races, found, count * sizeof *races);
    threads_run_again(check, run, races + reported, count - reported);
    if (check->machine->havoc_count > 1) {
        havoc_choices_doubt_races(check, races + reported, count - reported);
        if (!reported && !run->havoc_choice)
            havoc_choices_first_races(check, races, count);
        return count;
    }
    for (unsigned turn = 0; turn < 3; turn++) /* of two orders of the same two, what is read too early says most */
        for (uint32_t i = reported; i < count; i++)
            if (turn == (races[i].by_chance ? 2 : races[i].rule == RULE_RACE_RAW ? 0 : 1))
                (void)threads_race(check, &races[i], &run->schedule, run->havoc_choice);
    return count;
}

PtxWatch *runs_watch(ThreadsCheck *check, bool history) {
    const char *problem = "";
    PtxWatchOptions options = {
        .volatile_races = check->options->volatile_races, .history = history, .beyond = !check->recorded};
    PtxWatch *watch = ptx_watch(&check->arena, check->machine, &options, &problem);
    if (!watch)
        report_unwatched(check, "", problem);
    else
        *ARENA_PUSH(&check->arena, check->watches, check->watch_count, check->watch_capacity) = watch;
    return watch;
}

uint32_t runs_found_in(const ThreadsCheck *check, const PtxWatch *watch, PtxEnd end) {
    const PtxMachine *machine = check->machine;
    uint32_t races, cta = 0;
    const PtxRace *race = ptx_watch_races(watch, &races);
    if (races && end != PTX_END_STUCK)
        return race->second.cta / machine->cluster_size;
    while (end == PTX_END_STUCK && cta < machine->cta_count && !machine->ctas[cta])
        cta++;
    return cta < machine->cta_count ? cta / machine->cluster_size : 0;
}

/* ---- Orders -------------------------------------------------------------------------------------- */

/* Others than the eager one. `open`: something that was read depends on the order; `phases`: of an mbarrier may pass
 * unseen by a thread that is slow. */
static uint32_t list_orders(const ThreadsCheck *check, bool open, bool phases, PtxSchedule *list) {
    ThreadsOrders orders = check->options->orders;
    uint32_t count = 0, random = check->options->random ? check->options->random : USUAL_RANDOM;
    bool all = orders == ORDERS_ALL || (orders == ORDERS_DIRECTED && open);
    bool other = all || (orders == ORDERS_DIRECTED && phases);
    if (other)
        list[count++] = (PtxSchedule){.kind = SCHEDULE_EAGER, .mirrored = true};
    if (other || orders == ORDERS_LAZY)
        list[count++] = (PtxSchedule){.kind = SCHEDULE_LAZY};
    if (all || orders == ORDERS_ROUND_ROBIN)
        list[count++] = (PtxSchedule){.kind = SCHEDULE_ROUND_ROBIN};
    for (uint32_t i = 0; (all || orders == ORDERS_RANDOM) && i < random; i++)
        list[count++] = (PtxSchedule){.kind = SCHEDULE_RANDOM, .seed = check->options->seed + i};
    return count;
}

/* Says how a run of another order ended; of hangs, the first. False: this launch needs no other one. After a hang or a
 * fault it does, for the races that these keep from coming up. */
static bool judge_other(ThreadsCheck *check, const ThreadsRun *run, PtxEnd end) {
    bool known = end == PTX_END_STUCK && check->hung;
    check->hung |= end == PTX_END_STUCK;
    return known || runs_judge(check, run, end) || is_wrong(end);
}

/* Runs in which those who wait for an mbarrier, or arrive on one, are slow there: a thread that does not wait for them
 * is ahead by as much as it ever is. Others may spin without end meanwhile, which says nothing. */
static void run_held(ThreadsCheck *check, PtxWatch *watch, uint32_t reported) {
    enum { MOST_HELD = 48 };
    static const uint64_t all_runs = UINT64_C(1) << 22, least = UINT64_C(1) << 16;
    PtxMachine *machine = check->machine;
    PtxSchedule list[MOST_HELD];
    uint64_t budget = machine->budget, spent = 0;
    uint32_t count = history_delays(check->history, check, list, MOST_HELD), made = 0;
    uint64_t most = check->odd_budget ? check->odd_budget : all_runs;
    for (; made < count && spent < most && !deadline_passed(); made++) {
        ThreadsRun run = {.schedule = list[made]};
        machine->budget = 4 * check->first_used + least < budget ? 4 * check->first_used + least : budget;
        PtxEnd end = runs_make(check, &run, watch);
        machine->budget = budget;
        spent += machine->used;
        reported = runs_report_races(check, &run, watch, reported);
        if (is_wrong(end) && !judge_other(check, &run, end))
            return;
    }
    if (made < count && !check->odd_budget)
        verdict_note(check->verdict,
                     "of %u orders in which threads are slow at an mbarrier wait or arrival, %u were run", count, made);
}

static void run_orders(ThreadsCheck *check, PtxWatch *watch, uint32_t reported, const PtxCode *why) {
    uint32_t most = 8 + (check->options->random ? check->options->random : USUAL_RANDOM);
    PtxSchedule *list = ARENA_ARRAY(&check->arena, PtxSchedule, most);
    uint32_t count = list_orders(check, why != NULL, history_any(check->history), list), made = 0;
    for (; made < count && !deadline_passed(); made++) {
        ThreadsRun run = {.schedule = list[made]};
        PtxEnd end = runs_make(check, &run, watch);
        reported = runs_report_races(check, &run, watch, reported);
        if (!judge_other(check, &run, end))
            return;
    }
    if (why && made)
        verdict_note(check->verdict, "the value read at line %u depends on thread order; %u schedules were tried",
                     code_line(check->program, why), made + 1);
    if (check->options->orders == ORDERS_DIRECTED || check->options->orders == ORDERS_ALL)
        run_held(check, watch, reported);
}

/* Waits that are made once may time out, whenever the phase is not over yet: the code behind has to be right then,
 * too. */
static uint32_t run_without_spin_timeout(ThreadsCheck *check, PtxWatch *watch, uint32_t reported) {
    static const PtxSchedule list[] = {{.kind = SCHEDULE_EAGER, .gives_up = true},
                                       {.kind = SCHEDULE_EAGER, .mirrored = true, .gives_up = true},
                                       {.kind = SCHEDULE_LAZY, .gives_up = true}};
    for (unsigned i = 0; i < sizeof list / sizeof *list && !deadline_passed(); i++) {
        ThreadsRun run = {.schedule = list[i]};
        PtxEnd end = runs_make(check, &run, watch);
        reported = runs_report_races(check, &run, watch, reported);
        if (!judge_other(check, &run, end))
            break;
    }
    return reported;
}

/* A run of an exploration; its trail is a schedule like any other. */
static bool end_explored(void *to, PtxEnd end, const Trail *trail) {
    CheckAudience *audience = to;
    ThreadsRun run = {.schedule = {.kind = SCHEDULE_REPLAY, .replay = trail, .explored = true}};
    end_run(audience);
    audience->reported = runs_report_races(audience->check, &run, audience->watch, audience->reported);
    if (end == PTX_END_COMPLETE || end == PTX_END_BUDGET || end == PTX_END_TIME)
        return ptx_watch_problem(audience->watch) != NULL;
    audience->wrong = !runs_judge(audience->check, &run, end);
    return audience->wrong;
}

/* Every order of a small kernel, and what its reads may give in it. False: there are too many. */
static bool explore_orders(ThreadsCheck *check, const PtxCode *why) {
    enum { MOST_THREADS = 512, MOST_INSTRUCTIONS = 4096, MOST_RUNS = 2000 };
    const PtxMachine *machine = check->machine;
    PtxExplored explored;
    if ((uint64_t)machine->cta_count * machine->threads_per_cta > MOST_THREADS || machine->used > MOST_INSTRUCTIONS ||
        machine->havoc_count || machine->computes != COMPUTES_ALL)
        return false;
    /* what it cannot keep, other runs look at: so it is not one of those that have to have seen everything */
    const char *problem = NULL;
    PtxWatchOptions options = {
        .volatile_races = check->options->volatile_races, .history = true, .beyond = !check->recorded};
    CheckAudience audience = {.check = check, .watch = ptx_watch(&check->arena, check->machine, &options, &problem)};
    PtxExplorer explorer = explorer_of(&audience);
    if (!audience.watch)
        return false;
    check->explores = audience.watch;
    ptx_explore(check->machine, &explorer, MOST_RUNS, &explored);
    bool complete = explored.complete && !ptx_watch_problem(audience.watch);
    ptx_watch_free(audience.watch);
    if (audience.wrong || !complete)
        return audience.wrong;
    verdict_note(check->verdict,
                 "the value read at line %u depends on thread order; all %llu distinct orders were explored",
                 code_line(check->program, why), (unsigned long long)explored.runs);
    return true;
}

/* Whether what strong reads give may change more than values: it decides what is run, or what is acquired. Not so where
 * all are volatile, no fence stands behind one, and no address or condition is made of what they give. */
static bool orders_decide(ThreadsCheck *check) {
    PtxProgram *program = check->program;
    bool *decides = ARENA_ARRAY(&check->arena, bool, program->code_count + 1);
    ptx_slice_decides(program, program_budget, decides);
    for (uint32_t i = 0; i < program->code_count; i++) {
        const PtxCode *code = &program->code[i];
        PtxEffect effect;
        bool reads = code_effect(check, code, EFFECT_READ, &effect) || code_effect(check, code, EFFECT_UPDATE, &effect);
        bool strong = reads && effect.effect.order != ORDER_WEAK && !code->dead;
        if (strong && (decides[i] || !code_has(code, STR("volatile"))))
            return true;
        if (code_effect(check, code, EFFECT_FENCE_ORDER, &effect))
            return true;
    }
    return false;
}

/* ---- A launch ------------------------------------------------------------------------------------ */

/* The buffer of a chosen launch that the machine ran out of, and how large it should be; false: that is not why. */
static bool wants_more(const ThreadsCheck *check, uint32_t *buffer, uint64_t *bytes) {
    const PtxFault *fault = &check->machine->fault;
    if (fault->rule != RULE_GLOBAL_OUT_OF_RANGE && fault->rule != RULE_ACCESS_INVALID)
        return false;
    for (uint32_t i = 0; i < check->launch->buffer_count; i++) {
        const PtxBuffer *at = &check->launch->buffers[i];
        uint64_t offset = fault->address - at->address;
        if (fault->address < at->address || offset < at->bytes || offset >= largest_buffer / 2 || !at->chosen)
            continue;
        *buffer = i;
        for (*bytes = at->bytes ? at->bytes : 1; *bytes <= offset + (offset >> 1);)
            *bytes *= 2;
        return true;
    }
    return false;
}

static PtxEnd run_first(ThreadsCheck *check, PtxLaunch *launch, ThreadsRun *run, PtxWatch **watch) {
    PtxEnd end = runs_make(check, run, *watch);
    uint32_t buffer;
    uint64_t bytes;
    for (unsigned i = 0; end == PTX_END_FAULT && i < MOST_GROWTHS && wants_more(check, &buffer, &bytes); i++) {
        if (!ptx_launch_grow(&check->arena, check->program, launch, buffer, bytes))
            break;
        runs_close(check);
        if (!runs_open(check, launch))
            return PTX_END_TIME;
        *watch = runs_watch(check, false);
        end = runs_make(check, run, *watch);
    }
    return end;
}

void runs_add_launch(ThreadsCheck *check, const PtxLaunch *launch) {
    *verdict_launch(check->verdict) =
        (LaunchRun){.text = launch->text,
                    .chosen = launch->chosen,
                    .ctas = (size_t)launch->grid[0] * launch->grid[1] * launch->grid[2],
                    .schedules = check->classes ? check->runs / check->classes : check->runs,
                    .classes = check->classes,
                    .events = check->events};
}

/* Whether two threads write the same bytes: what they write decides how grave that is. */
static bool has_writes(PtxWatch *watch) {
    uint32_t count = 0;
    const PtxRace *races = watch ? ptx_watch_races(watch, &count) : NULL;
    for (uint32_t i = 0; i < count; i++)
        if (races[i].rule == RULE_RACE_WAW)
            return true;
    return false;
}

static void check_with_data(ThreadsCheck *check, const PtxLaunch *launch);

static void run_all(ThreadsCheck *check, PtxLaunch *launch, PtxWatch *watch) {
    ThreadsOrders orders = check->options->orders;
    ThreadsRun first = {0};
    if (orders == ORDERS_LAZY || orders == ORDERS_ROUND_ROBIN || orders == ORDERS_RANDOM) {
        run_orders(check, watch, 0, NULL);
        return;
    }
    PtxEnd end = run_first(check, launch, &first, &watch);
    if (!check->machine)
        return;
    const PtxCode *why = watch ? ptx_watch_order_matters(watch) : NULL;
    if (check->options->computes == COMPUTES_NEEDED &&
        (why || has_writes(watch))) { /* orders are reported apart by values, too */
        check_with_data(check, launch);
        return;
    }
    threads_volatile(check, watch, &first.schedule, first.havoc_choice); /* of which races may be a consequence */
    uint32_t reported = runs_report_races(check, &first, watch, 0);
    threads_unset(check, &first);
    threads_overwrite(check, &first);
    threads_havocs(check);
    bool havocked = check->havocked || check->machine->havoc_count > 0;
    check->completed += end == PTX_END_COMPLETE;
    check->first_used = check->machine->used;
    check->hung = end == PTX_END_STUCK;
    if ((!runs_judge(check, &first, end) && !check->hung) || orders == ORDERS_EAGER)
        return;
    check->open |= havocked || why || history_any(check->history);
    if (check->once || (check->odd_budget && has_races(check, watch)))
        return;
    if (havocked && !check->hung)
        havoc_choices_run(check);
    if (check->program->peeks && (orders == ORDERS_DIRECTED || orders == ORDERS_ALL))
        reported = run_without_spin_timeout(check, watch, reported);
    bool is_volatile = why && code_has(why, STR("volatile"));
    if (is_volatile)
        verdict_note(check->verdict,
                     "the load at line %u is volatile: threads that exchange values this way do not count as races; "
                     "with --volatile-races they do",
                     code_line(check->program, why));
    if (why && !check->hung && !check->odd_budget && (orders == ORDERS_DIRECTED || orders == ORDERS_ALL) &&
        (!is_volatile || orders_decide(check)) && explore_orders(check, why))
        return;
    run_orders(check, watch, reported, why);
}

void runs_launch(ThreadsCheck *check, PtxLaunch *launch) {
    if (runs_open(check, launch))
        run_all(check, launch, runs_watch(check, false));
    runs_add_launch(check, launch);
    runs_close(check);
}

/* ---- A kernel ------------------------------------------------------------------------------------ */

PtxProgram *threads_program(Arena *arena, const PtxModule *module, uint32_t entry, PtxComputes computes,
                            const char **problem) {
    PtxProgram *program = ptx_program(arena, module, entry, program_budget, problem);
    if (!program || (computes == COMPUTES_NEEDED && !ptx_slice(program, program_budget, problem)))
        return NULL;
    ptx_unused(program, program_budget);
    ptx_dead(program, arena);
    ptx_within(program, program_budget);
    return program;
}

bool runs_prepare(ThreadsCheck *check, const char **problem) {
    PtxComputes computes = check->options->computes;
    check->program = computes == COMPUTES_ALL ? check->options->prepared : NULL;
    if (!check->program)
        check->program = threads_program(&check->arena, check->module, check->entry, computes, problem);
    if (check->program) {
        check->ran = ARENA_ARRAY(&check->arena, uint8_t, check->program->code_count + 1);
        check->went = ARENA_ARRAY(&check->arena, uint8_t, check->program->code_count + 1);
        check->ways = ARENA_ARRAY(&check->arena, unsigned, check->program->code_count + 1);
    }
    return check->program;
}

static void replay(ThreadsCheck *check) {
    const ThreadsTrail *trail = check->options->trail;
    const char *problem;
    PtxLaunch *launch = ARENA_NEW(&check->arena, PtxLaunch);
    if (!ptx_launch_bind(&check->arena, check->program, &trail->launch, launch, &problem)) {
        verdict_incomplete(check->verdict, "", 0, "the trail does not fit the kernel: %s", problem);
        return;
    }
    ThreadsRun run = {.schedule = trail->schedule, .havoc_choice = trail->havoc_choice};
    if (runs_open(check, launch)) {
        PtxWatch *watch = runs_watch(check, run.schedule.explored);
        PtxEnd end = runs_make(check, &run, watch);
        (void)runs_report_races(check, &run, watch, 0);
        threads_unset(check, &run);
        threads_overwrite(check, &run);
        (void)runs_judge(check, &run, end);
    }
    runs_add_launch(check, launch);
    runs_close(check);
}

static void check_kernel(ThreadsCheck *check) {
    const char *problem = "";
    if (!runs_prepare(check, &problem))
        verdict_incomplete(check->verdict, "", 0, "%s", problem);
    else if (check->options->trail)
        replay(check);
    else
        launches_check(check);
}

/* Calls `work`, and frees what the check holds if an arena is exhausted. */
void runs_with_arena(ThreadsCheck *check, void (*work)(ThreadsCheck *check)) {
    jmp_buf here, *outer = check->verdict->arena->exhausted;
    arena_init(&check->arena, program_budget);
    if (setjmp(here)) {
        check->verdict->arena->exhausted = outer;
        runs_close(check);
        ptx_scout_free(check->scout);
        arena_free(&check->arena);
        if (outer)
            longjmp(*outer, 1);
        return;
    }
    check->arena.exhausted = check->verdict->arena->exhausted = &here;
    work(check);
    check->verdict->arena->exhausted = outer;
    arena_free(&check->arena);
}

/* The launch of another check, with all of its values. */
static void check_same(ThreadsCheck *check) {
    const PtxLaunch *like = check->launch;
    PtxLaunch *launch = ARENA_NEW(&check->arena, PtxLaunch);
    const char *problem = "";
    *launch = *like;
    if (!runs_prepare(check, &problem) ||
        (like->from && !ptx_launch_bind(&check->arena, check->program, like->from, launch, &problem))) {
        verdict_incomplete(check->verdict, "", 0, "%s", problem);
        return;
    }
    launch->chosen = like->chosen;
    launch->chosen_grid = like->chosen_grid;
    launch->chosen_block = like->chosen_block;
    launch->chosen_shared = like->chosen_shared;
    launch->text = like->text;
    for (uint32_t i = 0; i < launch->buffer_count && i < like->buffer_count; i++)
        launch->buffers[i].chosen = like->buffers[i].chosen;
    if (runs_open(check, launch))
        run_all(check, launch, runs_watch(check, false));
    runs_close(check);
    for (uint32_t i = 0; i < check->program->code_count; i++) {
        check->outer->ran[i] |= check->ran[i];
        check->outer->went[i] |= check->went[i];
    }
}

/* The slice does not have the values that are stored. */
static void check_with_data(ThreadsCheck *check, const PtxLaunch *launch) {
    ThreadsOptions options = *check->options;
    options.computes = COMPUTES_ALL;
    ThreadsCheck again = {.module = check->module,
                          .entry = check->entry,
                          .options = &options,
                          .verdict = check->verdict,
                          .launch = launch,
                          .outer = check,
                          .completed = check->completed};
    memcpy(again.doubts, check->doubts, sizeof again.doubts);
    runs_with_arena(&again, check_same);
    memcpy(check->doubts, again.doubts, sizeof again.doubts);
    check->completed = again.completed;
    check->runs += again.runs;
    check->events += again.events;
}

/* Where other things are not known, either, stores may have been left out: that nothing was written is no finding then.
 */
static void doubt_unset(const ThreadsCheck *check) {
    Verdict *verdict = check->verdict;
    for (size_t i = 0; verdict->incomplete_count > check->doubted_launches && i < verdict->finding_count; i++)
        if (verdict->findings[i].rule == RULE_SHARED_UNINITIALIZED) {
            verdict->findings[i].graded = true;
            verdict->findings[i].grade = SEVERITY_NOTE;
        }
}

void threads_check(PtxModule *module, uint32_t entry, const ThreadsOptions *options, Verdict *verdict) {
    ThreadsCheck check = {.module = module, .entry = entry, .options = options, .verdict = verdict};
    runs_with_arena(&check, check_kernel);
    doubt_unset(&check);
}
