/* Which runs of a grid are made, and what is made of how they end. */
#include "check/tile/grid/internal.h"

#include "base/deadline.h"
#include "ir/op.h"

enum { MOST_CLUSTERS = 1 << 20, PART_OF_CLUSTERS = 1 << 16, SCHEDULES_BY_DEFAULT = 6, MOST_WITNESS_TURNS = 1 << 20 };
static const size_t access_budget = (size_t)1 << 28;
static const uint64_t orders_budget = 1 << 25; /* instructions, of all orders of atomics */

/* ---- Setting up ----------------------------------------------------------------------------------- */

static void say_not_looked_at(const GlobalCheck *run, const char *why) {
    if (deadline_look()) /* which the code that set it reports */
        return;
    for (size_t i = 0; i < run->count; i++)
        verdict_incomplete(run->kernels[i].verdict, "", 0, "global memory was not checked: %s", why);
}

/* A grid of billions is not run as a whole. Of a launch that others wait for, a part says nothing. */
static bool limit_clusters(GlobalCheck *run, const char **problem) {
    uint64_t all = 0;
    for (uint32_t i = 0; i < run->launch_sequence.count; i++) {
        const int64_t *grid = run->launch_sequence.launches[i].launch->grid;
        all += (uint64_t)grid[0] * (uint64_t)grid[1] * (uint64_t)grid[2];
    }
    run->partly = all > MOST_CLUSTERS;
    if (run->partly)
        run->launch_sequence.launches[0].most = PART_OF_CLUSTERS;
    *problem = "its launches have too many CTAs (use a smaller --grid)";
    return !run->partly || run->launch_sequence.count == 1;
}

static void report_part(const GlobalCheck *run) {
    const int64_t *grid = run->kernels[0].launch->grid;
    if (run->partly)
        verdict_incomplete(run->kernels[0].verdict, "", 0,
                           "global memory was checked only in part: the first %d CTAs of %llu (use a smaller --grid)",
                           PART_OF_CLUSTERS,
                           (unsigned long long)((uint64_t)grid[0] * (uint64_t)grid[1] * (uint64_t)grid[2]));
}

static bool set_up(GlobalCheck *run) {
    const char *problem = NULL;
    uint32_t sites = 0;
    LaunchSequenceInput *inputs = ARENA_ARRAY(run->arena, LaunchSequenceInput, run->count);
    run->programs = ARENA_ARRAY(run->arena, const Program *, run->count);
    run->first_site = ARENA_ARRAY(run->arena, uint32_t, run->count);
    run->launch_texts = ARENA_ARRAY(run->arena, const char *, run->count);
    for (size_t i = 0; i < run->count; i++) {
        const GlobalKernel *kernel = &run->kernels[i];
        run->programs[i] =
            program_compile(kernel->module, kernel->function, COMPILE_GLOBAL | COMPILE_DATA, kernel->verdict);
        if (!run->programs[i])
            return false; /* running its clusters one by one says why */
        run->first_site[i] = sites;
        sites += run->programs[i]->code_count;
        run->launch_texts[i] = launch_text(kernel->launch, kernel->verdict->arena);
        inputs[i] = (LaunchSequenceInput){.program = run->programs[i], .launch = kernel->launch};
    }
    run->site_count = sites;
    own_set_up(run);
    grid_may_order_set_up(run);
    uint32_t devices = run->options->devices ? run->options->devices : 1;
    if (!launch_sequence_build(run->arena, inputs, run->count, devices, &run->launch_sequence, &problem) ||
        !limit_clusters(run, &problem) ||
        !(run->grid = grid_create(run->arena, run->launch_sequence.memory, run->launch_sequence.launches,
                                  run->launch_sequence.count, &problem))) {
        say_not_looked_at(run, problem);
        return false;
    }
    run->launches = ARENA_ARRAY(run->arena, LaunchState, run->launch_sequence.count);
    run->loud = ARENA_ARRAY(run->arena, Run, (size_t)sites * run->launch_sequence.count + 1);
    run->reached = ARENA_ARRAY(run->arena, bool, sites + 1);
    run->touched = ARENA_ARRAY(run->arena, uint8_t, area_count(run) + 1);
    run->written = ARENA_ARRAY(run->arena, bool, area_count(run) + 1);
    proxies_set_up(run);
    unknown_start(run);
    inside_set_up(run);
    return true;
}

/* ---- One run -------------------------------------------------------------------------------------- */

static void progress(void *context, uint32_t launch, uint64_t ended, uint64_t clusters) {
    const GlobalCheck *run = context;
    run->options->progress(run->options->context, run->launch_texts[run->launch_sequence.inputs[launch]], ended,
                           clusters);
}

static const char *write_witness(const GlobalCheck *run, const Turns *turns, bool cancels) {
    if (turns->count > MOST_WITNESS_TURNS)
        return "";
    uint32_t granule = gsan_exact(&run->options->engine).granule;
    GridTrail trail = {.kernels = ARENA_ARRAY(run->arena, Str, run->count),
                       .launches = ARENA_ARRAY(run->arena, Launch, run->count),
                       .count = run->count,
                       .devices = run->options->devices ? run->options->devices : 1,
                       .resident = run->options->resident,
                       .granule = granule > 1 ? granule : 0,
                       .cancels = cancels,
                       .turns = *turns};
    for (size_t i = 0; i < run->count; i++) {
        trail.kernels[i] = str_of(run->programs[i]->name);
        trail.launches[i] = *run->kernels[i].launch;
    }
    Text text = {0};
    grid_trail_write(&trail, &text);
    return text_keep(&text, run->arena);
}

/* A run that stopped half-way has not looked at everything. */
static void report_end(const GlobalCheck *run, RunEnd end) {
    uint32_t launch = 0;
    uint64_t cluster = 0;
    const Machine *machine = grid_ended_by(run->grid, &launch, &cluster);
    Verdict *verdict = run->kernels[run->launch_sequence.inputs[launch]].verdict;
    if (deadline_look()) {
        return; /* the code that set it says so */
    } else if (end == RUN_BUDGET) {
        verdict_incomplete(verdict, "", 0,
                           "global memory was checked only in part: the run of the whole grid was stopped (raise "
                           "--budget)");
    } else if (end == RUN_UNKNOWN && machine && machine->unknown_op) {
        unknown_explain(machine, verdict);
    } else if (end == RUN_EXCLUDED) {
        verdict_incomplete(verdict, "", 0, "the launch breaks an assumption of the kernel (llvm.intr.assume)");
    }
    /* A fault of a barrier is told when the cluster is run by itself; of a trail that does not fit, the caller. */
}

static void report_trouble(const GlobalCheck *run) {
    uint32_t thread, site;
    GsanTrouble trouble = gsan_trouble(run->gsan, &thread, &site);
    if (trouble == GSAN_FINE || deadline_look())
        return;
    const char *more = trouble == GSAN_RING_OVERWRITTEN ? " (--ring)" : "";
    if (site == UINT32_MAX || trouble == GSAN_TOO_MANY_THREADS) /* for which no site is to blame */
        verdict_incomplete(run->kernels[0].verdict, "", 0, "races in global memory: %s", gsan_trouble_text(trouble));
    else
        site_incomplete(
            run, own_site(run, site),
            verdict_text(run->kernels[0].verdict, "races in global memory: %s%s", gsan_trouble_text(trouble), more));
}

/* Whether plain reads were left out that can race after all: of areas that the run has written. They count from now
 * on. */
static bool left_out_reads(GlobalCheck *run) {
    bool any = false;
    for (uint32_t i = 0; i < area_count(run); i++) {
        any |= run->touched[i] == (AREA_READ | AREA_WRITTEN) && !run->written[i];
        run->written[i] |= run->touched[i] & AREA_WRITTEN;
        run->touched[i] = 0;
    }
    return any;
}

bool global_run_watched(GlobalCheck *run, const GridOptions *options) {
    const char *problem = NULL;
    if (!global_watch_start(run, &problem)) {
        say_not_looked_at(run, problem);
        return false;
    }
    options->record->count = 0;
    run->end = grid_run(run->grid, options);
    report_trouble(run);
    global_watch_end(run);
    return true;
}

/* The same run in the exact mode, for the races that the sampled one has found. */
static bool run_confirming(GlobalCheck *run, const GridOptions *options) {
    run->confirming = true;
    bool good = global_run_watched(run, options);
    run->confirming = false;
    sampled_settle(run);
    return good;
}

bool global_run_so(GlobalCheck *run, GridOptions options) {
    Turns turns = {.arena = run->arena};
    options.record = &turns;
    options.only = run->only;
    options.only_count = run->only_count;
    options.resident = run->options->resident;
    options.budget = run->options->budget;
    options.observe = global_watch_observe;
    options.observer = run;
    options.progress = run->options->progress ? progress : NULL;
    options.context = run;
    uint32_t races = run->found.race_count, accesses = run->found.access_count, sampled = run->sampled_count;
    uint32_t unfenced = run->found.unfenced_count;
    if (!global_run_watched(run, &options))
        return false;
    bool left_out = proxies_left_out(run);
    if (left_out_reads(run) || left_out) {
        run->sampled_count = sampled; /* where only a part was looked at, it was no fair sample */
        if (!global_run_watched(run, &options))
            return false;
    }
    if (inside_left_out(run)) {
        run->sampled_count = sampled;
        if (!global_run_watched(run, &options))
            return false;
    }
    if (sampled_is_open(run) && !run_confirming(run, &options))
        return false;
    RunEnd end = run->end;
    GridStats stats = grid_stats(run->grid);
    Reporting reporting = {.kind = options.kind,
                           .cancels = options.cancels,
                           .seed = options.seed,
                           .communicates = stats.communicates,
                           .havoc_dependent = stats.chosen,
                           .witness = "",
                           .witnesses = ARENA_ARRAY(run->arena, const char *, run->count)};
    bool found = run->found.race_count > races || run->found.access_count > accesses || end == RUN_STUCK;
    if (found || run->found.unfenced_count > unfenced)
        deadline_grant();
    if (found || run->found.unfenced_count > unfenced)
        reporting.witness = write_witness(run, &turns, options.cancels);
    run->havocked |= stats.chosen != NULL;
    if (found && stats.chosen && options.kind != GRID_REPLAY)
        reporting.hang_havoc_dependent = havoc_dependent_settle(run, options);
    report_races(run, &reporting);
    report_accesses(run, &reporting);
    report_unfenced(run, &reporting);
    if (end == RUN_STUCK && run->partly)
        return false; /* it may wait for those that were left out */
    if (end == RUN_STUCK)
        run->hangs = report_hang(run, &reporting);
    else if (end != RUN_COMPLETE)
        report_end(run, end);
    else if (!run->options->order_log)
        report_forgotten_waits(run, &reporting);
    return end == RUN_COMPLETE;
}

static void report_chosen(const GlobalCheck *run, const Op *op) {
    for (size_t i = 0; i < run->count; i++) {
        const Program *program = run->programs[i];
        bool here = false;
        for (uint32_t pc = 0; pc < program->code_count && !here; pc++)
            here = program->ops[pc] == op;
        if (here)
            verdict_note(run->kernels[i].verdict,
                         "control flow depends on unknown data (%.*s at line %u); one outcome was tried with all "
                         "CTAs; give the data in a launch file",
                         STR_ARG(op->name), op_line(program->module, op));
    }
}

/* ---- All runs ------------------------------------------------------------------------------------- */

/* What the first cluster of each launch found in a run in which it went as far as it could: where clusters share out
 * work, as much as one can get. */
static void keep_first_loads(GlobalCheck *run) {
    run->first_loads = ARENA_ARRAY(run->arena, const LoadLog *, run->launch_sequence.count);
    for (uint32_t i = 0; i < run->launch_sequence.count; i++) {
        const LoadLog *loads = grid_loads(run->grid, i, 0);
        run->first_loads[i] = loads ? loads_copy(run->arena, loads) : NULL;
    }
}

/* Orders of atomics: see tickets.c. False: some run did not finish. */
static bool run_orders(GlobalCheck *run) {
    const GridLaunch *launch = &run->launch_sequence.launches[0];
    uint64_t clusters = program_clusters(launch->program, launch->launch->grid), spent = 0, number = 0;
    if (run->launch_sequence.count != 1 || run->only || run->partly || clusters < 2)
        return true;
    Tickets tickets = tickets_of(launch->program);
    if (tickets == TICKETS_SYMMETRY)
        return true;
    uint64_t *order = ARENA_ARRAY(run->arena, uint64_t, clusters);
    bool all = clusters <= TICKETS_MOST && tickets != TICKETS_ENDLESS;
    for (; all && spent < orders_budget && !run->found.race_count && tickets_order(clusters, number, order); number++) {
        if (!global_run_so(run, (GridOptions){.kind = GRID_FORWARD, .order = order}))
            return false;
        spent += grid_stats(run->grid).instructions;
    }
    all &= spent < orders_budget;
    if (!all && tickets != TICKETS_GUARDED && !run->found.race_count)
        verdict_incomplete(run->kernels[0].verdict, "", 0,
                           "its addresses depend on the program id and on the order of CTAs at an atomic, and not "
                           "all orders were tried (a smaller --grid allows more)");
    return true;
}

static void run_schedules(GlobalCheck *run) {
    const GlobalOptions *options = run->options;
    if (options->replay) {
        representatives_replay(run);
        run->partly &= !run->only || run->only_count >= PART_OF_CLUSTERS; /* else it is a run of those that matter */
        global_run_so(
            run,
            (GridOptions){.kind = GRID_REPLAY, .replay = &options->replay->turns, .cancels = options->replay->cancels});
        return;
    }
    bool completed = global_run_so(run, (GridOptions){.kind = GRID_FORWARD, .keep_loads = true});
    GridStats stats = grid_stats(run->grid);
    /* What is not known, and was chosen, is chosen in other ways when clusters run by themselves. */
    run->has_loads = !stats.chosen || stats.strong;
    if (stats.chosen && stats.strong)
        report_chosen(run, stats.chosen);
    if (!completed || options->steps || (!stats.communicates && !stats.asks))
        return;
    keep_first_loads(run);
    if (stats.asks)
        completed = global_run_so(run, (GridOptions){.kind = GRID_FORWARD, .cancels = true});
    if (!stats.communicates)
        return;
    unsigned schedules = options->schedules ? options->schedules : SCHEDULES_BY_DEFAULT;
    /* What clusters find when they run by themselves is kept: in turn, so that all of those that share out work get
     * some; or as where some cluster got stuck in itself, which its own runs tell. */
    GridOptions again = {.kind = GRID_ROUND_ROBIN};
    for (unsigned i = 1; i < schedules && completed; i++) {
        GridScheduleKind kind = i == 1 ? GRID_BACKWARD : i == 2 ? GRID_ROUND_ROBIN : GRID_RANDOM;
        GridOptions now = {.kind = kind, .seed = options->seed + i};
        completed = global_run_so(run, now);
        if (run->end == RUN_STUCK) {
            again = now;
            run->first_loads = NULL;
        }
    }
    if (completed)
        completed = run_orders(run);
    again.keep_loads = true;
    again.resident = options->resident;
    again.budget = options->budget;
    RunEnd end = grid_run(run->grid, &again);
    run->has_loads &= end == RUN_COMPLETE || end == RUN_STUCK;
}

/* Whether the whole run is that of one partition of one CTA, which has no other to race with. */
static bool is_alone(const GlobalCheck *run) {
    const GridLaunch *first = &run->launch_sequence.launches[0];
    const int64_t *grid = first->launch->grid;
    return run->launch_sequence.count == 1 && grid[0] == 1 && grid[1] == 1 && grid[2] == 1 &&
           first->program->ctas == 1 && first->program->agents_per_cta == 1;
}

/* Where data that is not known was chosen, it was chosen in one way for all CTAs. Of a launch that Weir chose, others
 * may come to what this one leaves out. */
static void report_unreached(const GlobalCheck *run) {
    for (size_t i = 0; i < run->count && run->havocked && !run->options->replay; i++)
        if (!run->kernels[i].launch->chosen)
            unreached_report(run->programs[i], run->reached + run->first_site[i],
                             is_alone(run) ? MEETS_OTHERS : MEETS_ANY, run->decided ? NULL : run->kernels[i].launch,
                             run->kernels[i].verdict);
}

GlobalCheck *global_check_new(Arena *arena) {
    GlobalCheck *run = ARENA_NEW(arena, GlobalCheck);
    run->arena = arena;
    arena_init(&run->scratch, access_budget);
    return run;
}

void global_check_run(GlobalCheck *run, const GlobalKernel *kernels, size_t count, const GlobalOptions *options) {
    run->kernels = kernels;
    run->count = count;
    run->options = options;
    if (!count || !set_up(run))
        return;
    bool partly = run->partly, decided = representatives_decide(run);
    run->partly &= !decided;
    run_schedules(run);
    if (decided && !representatives_confirmed(run)) { /* the whole grid shall tell */
        run->only = NULL;
        run->launches[0].cluster_thread_sets = NULL;
        run->partly = partly;
        run_schedules(run);
    } else if (decided) {
        representatives_report(run);
    }
    flags_run(run);
    unknown_report(run);
    inside_report(run);
    if (!options->order_log)
        report_early(run);
    report_unreached(run);
    report_part(run);
    if (options->steps)
        global_steps_write(run, run->end);
}

void global_check_free(GlobalCheck *run) {
    if (!run)
        return;
    global_watch_end(run);
    arena_free(&run->scratch);
    if (run->grid)
        grid_free(run->grid);
}

bool global_check_reached_all(const GlobalCheck *run) {
    return run->reached && run->count == 1 && !unreached_access(run->programs[0], run->reached, MEETS_ANY);
}

bool global_check_hangs(const GlobalCheck *run) {
    return run && run->hangs;
}

bool global_check_diverged(const GlobalCheck *run) {
    return run && run->end == RUN_DIVERGED;
}

const LoadLog *global_check_loads(const GlobalCheck *run, size_t kernel, uint64_t cluster) {
    for (uint32_t i = 0; run && run->has_loads && i < run->launch_sequence.count; i++)
        if (run->launch_sequence.inputs[i] == kernel)
            return cluster == 0 && run->first_loads ? run->first_loads[i] : grid_loads(run->grid, i, cluster);
    return NULL;
}
