/* weir_run: from options to launches, and every kernel of a module under its own verdict. */
#include "api/internal.h"

#include "analyze/report/report.h"
#include "analyze/run/blocked.h"
#include "emulate/choose.h"

#include <stdlib.h>

/* Of what is said about runs. */
static const size_t outcome_budget = (size_t)1 << 30;

/* ---- Failing -------------------------------------------------------------------------------------- */

bool outcome_fail(weir_outcome *outcome, const char *format, ...) {
    Text text = {0};
    va_list arguments;
    va_start(arguments, format);
    text_vaddf(&text, format, arguments);
    va_end(arguments);
    outcome->problem = arena_copy(&outcome->arena, text.data ? text.data : "", text.size);
    text_free(&text);
    return false;
}

typedef struct OutcomeWork {
    weir_outcome *outcome;
    Work *work;
    void *context;
} OutcomeWork;

static void work_on(void *context) {
    const OutcomeWork *work = context;
    work->work(work->outcome, work->context);
}

bool outcome_attempt(weir_outcome *outcome, Work *work, void *context) {
    return attempt(outcome->module, &outcome->arena, work_on, &(OutcomeWork){outcome, work, context});
}

/* ---- Kernels -------------------------------------------------------------------------------------- */

size_t weir_kernel_count(weir_module *module) {
    return module->ok ? program_kernels(&module->module, NULL, 0) : 0;
}

static const char *kernel_names(weir_outcome *outcome) {
    Text text = {0};
    list_functions(outcome->kernels, outcome->kernel_count, &text);
    const char *names = arena_copy(&outcome->arena, text.data ? text.data : "", text.size);
    text_free(&text);
    return names;
}

static bool keep_kernel(weir_outcome *outcome, Str name) {
    for (size_t i = 0; i < outcome->kernel_count; i++)
        if (str_equal(op_symbol(outcome->kernels[i]), name)) {
            outcome->kernels[0] = outcome->kernels[i];
            outcome->kernel_count = 1;
            return true;
        }
    return false;
}

static bool find_kernels(weir_outcome *outcome, const char *only) {
    Module *module = &outcome->module->module;
    size_t count = program_kernels(module, NULL, 0);
    if (!count && outcome->reporting && !only)
        return true; /* which is what its report says */
    if (!count)
        return outcome_fail(outcome, "there is no kernel in it: no tt.func with a body");
    outcome->kernels = ARENA_ARRAY(&outcome->arena, const Op *, count);
    outcome->kernel_count = program_kernels(module, outcome->kernels, count);
    if (only && !keep_kernel(outcome, str_of(only + (only[0] == '@'))))
        return outcome_fail(outcome, "there is no kernel '%s'; there is %s", only, kernel_names(outcome));
    return true;
}

/* ---- Options -------------------------------------------------------------------------------------- */

static bool set_schedule(weir_outcome *outcome, const weir_run_options *options) {
    static const char *const names[] = {"directed", "eager", "lazy", "round-robin", "random", "all"};
    const char *name = options->schedule ? options->schedule : names[SCHEDULES_DIRECTED]; /* ORDER ScheduleChoice */
    size_t choice = 0;
    while (choice < sizeof names / sizeof *names && strcmp(names[choice], name) != 0)
        choice++;
    if (choice == sizeof names / sizeof *names)
        return outcome_fail(
            outcome, "there is no schedule '%s'; there are directed, eager, lazy, round-robin, random and all", name);
    const char *order = options->mma_order ? options->mma_order : "issue";
    bool waits = strcmp(order, "waits") == 0;
    if (!waits && strcmp(order, "issue") != 0)
        return outcome_fail(outcome, "tensor-core work is ordered by 'issue' or by 'waits', not by '%s'", order);
    bool all = choice == SCHEDULES_ALL;
    outcome->options = (DeadlockOptions){.choice = (ScheduleChoice)choice,
                                         .seed = options->seed,
                                         .schedules = options->schedules,
                                         .budget = all ? 0 : options->budget,
                                         .states = all ? options->budget : 0,
                                         .out_of_order = waits};
    return true;
}

/* How races in global memory are looked for. */
static bool set_global(weir_outcome *outcome, const weir_run_options *options) {
    const char *mode = options->gsan ? options->gsan : "exact";
    bool sampled = strcmp(mode, "sampled") == 0, off = strcmp(mode, "off") == 0;
    if (!sampled && !off && strcmp(mode, "exact") != 0)
        return outcome_fail(outcome, "races in global memory are looked for 'exact' or 'sampled', or 'off', not '%s'",
                            mode);
    outcome->looks_at_global = !off;
    outcome->global_options = (GlobalOptions){.devices = options->devices ? options->devices : 1,
                                              .engine = {.mode = sampled ? GSAN_SAMPLED : GSAN_EXACT,
                                                         .seed = options->seed,
                                                         .granule = options->granule,
                                                         .slots = options->slots,
                                                         .ring = options->ring},
                                              .resident = options->resident,
                                              .schedules = options->schedules,
                                              .seed = options->seed,
                                              .budget = options->budget};
    GsanOptions engine = outcome->global_options.engine;
    engine.devices = outcome->global_options.devices;
    const char *problem = off ? NULL : gsan_options_problem(&engine);
    return !problem || outcome_fail(outcome, "%s", problem);
}

static bool set_target(weir_outcome *outcome, const char *name) {
    outcome->target = name ? target_named(str_of(name)) : NULL;
    if (!name || outcome->target)
        return true;
    Text names = {0};
    targets_list(&names);
    const char *kept = arena_copy(&outcome->arena, names.data ? names.data : "", names.size);
    text_free(&names);
    return outcome_fail(outcome, "there is no target '%s'; there are %s", name, kept);
}

static bool set_rules(weir_outcome *outcome, const char *rules) {
    Str unknown = rule_list_unknown(rules);
    if (unknown.data)
        return outcome_fail(outcome, "there is no rule '%.*s'", STR_ARG(unknown));
    outcome->rules = rules ? arena_copy(&outcome->arena, rules, strlen(rules)) : NULL;
    return true;
}

/* Sets what the command line says over a launch. */
static bool set_arguments(weir_outcome *outcome, Launch *launch) {
    for (size_t i = 0; i < outcome->argument_count; i++) {
        const char *problem = launch_set(&outcome->arena, launch, outcome->arguments[i]);
        if (problem)
            return outcome_fail(outcome, "'%s': %s", outcome->arguments[i], problem);
    }
    const char *problem = outcome->grid ? launch_set_grid(launch, outcome->grid) : NULL;
    return !problem || outcome_fail(outcome, "'%s': %s", outcome->grid, problem);
}

/* A name that no kernel has is a slip of the finger, and silence about it would make a clean verdict one about another
 * launch. */
static bool check_names(weir_outcome *outcome, const Launch *given) {
    Verdict nobody = {.arena = &outcome->arena};
    size_t found = 0;
    Text names = {0};
    bool *known = ARENA_ARRAY(&outcome->arena, bool, given->count + 1);
    for (size_t i = 0; i < outcome->kernel_count; i++) {
        const Program *program = program_compile(&outcome->module->module, outcome->kernels[i], 0, &nobody);
        for (uint32_t k = 0; program && k < program->parameter_count; k++) {
            text_addf(&names, "%s%s", names.size ? ", " : "", program->parameters[k].name);
            const Argument *argument = launch_find(given, str_of(program->parameters[k].name));
            if (argument)
                known[argument - given->arguments] = true;
        }
    }
    while (found < given->count && known[found])
        found++;
    const char *kept = arena_copy(&outcome->arena, names.data ? names.data : "", names.size);
    text_free(&names);
    if (found == given->count)
        return true;
    Str name = given->arguments[found].name;
    if (!*kept)
        return outcome_fail(outcome, "there is no argument '%.*s': %s has none", STR_ARG(name), kernel_names(outcome));
    return outcome_fail(outcome, "there is no argument '%.*s'; %s has %s", STR_ARG(name), kernel_names(outcome), kept);
}

static Source *read_beside(weir_outcome *outcome, const char *path) {
    const char *problem = NULL;
    outcome->source = source_read(path, &problem);
    if (!outcome->source)
        outcome_fail(outcome, "%s cannot be read: %s", path, problem);
    return outcome->source;
}

static bool read_launch(weir_outcome *outcome, const weir_run_options *options) {
    const char **arguments = ARENA_ARRAY(&outcome->arena, const char *, options->argument_count + 1);
    for (size_t i = 0; i < options->argument_count; i++)
        arguments[i] = arena_copy(&outcome->arena, options->arguments[i], strlen(options->arguments[i]));
    outcome->arguments = arguments;
    outcome->argument_count = options->argument_count;
    outcome->grid = options->grid ? arena_copy(&outcome->arena, options->grid, strlen(options->grid)) : NULL;
    Launch given = {.grid = {1, 1, 1}};
    if (!set_arguments(outcome, &given) || (given.count && !check_names(outcome, &given)))
        return false;
    if (!options->launch)
        return true;
    Launch *launch = ARENA_NEW(&outcome->arena, Launch);
    if (!read_beside(outcome, options->launch) ||
        !launch_read(&outcome->arena, outcome->source, launch, &outcome->diagnostics))
        return false;
    outcome->launch = launch;
    bool named = outcome->kernel_count == 1 || !launch->kernel.size;
    for (size_t i = 0; i < outcome->kernel_count && !named; i++)
        named = str_equal(op_symbol(outcome->kernels[i]), launch->kernel);
    if (!named)
        return outcome_fail(outcome, "%s is a launch of '%.*s'; there is %s", options->launch, STR_ARG(launch->kernel),
                            kernel_names(outcome));
    return set_arguments(outcome, launch);
}

static bool read_trail(weir_outcome *outcome, const char *path) {
    TrailFile *trail = ARENA_NEW(&outcome->arena, TrailFile);
    if (!read_beside(outcome, path) || !trail_read(&outcome->arena, outcome->source, trail, &outcome->diagnostics))
        return false;
    if (trail->whole && trail->grid.count == 1)
        trail->kernel = trail->grid.kernels[0];
    if (outcome->kernel_count > 1 && trail->kernel.size && !keep_kernel(outcome, trail->kernel))
        return outcome_fail(outcome, "%s is a trail of '%.*s'; there is %s", path, STR_ARG(trail->kernel),
                            kernel_names(outcome));
    trail->rerun.budget = outcome->options.budget;
    outcome->trail = trail;
    return true;
}

/* Every kernel has a report, even if it cannot be made. */
static void prepare_reports(weir_outcome *outcome) {
    const weir_module *module = outcome->module;
    Text which = {0};
    if (module->number)
        text_addf(&which, "%zu", module->number);
    if (module->pass.size) {
        text_addf(&which, "%s%s ", which.size ? ": " : "", str_is(module->when, "Before") ? "before" : "after");
        text_add_plain(&which, module->pass);
    }
    const char *text = arena_copy(&outcome->arena, which.data ? which.data : "", which.size);
    text_free(&which);
    outcome->report_count = outcome->kernel_count ? outcome->kernel_count : 1;
    outcome->reports = ARENA_ARRAY(&outcome->arena, Report, outcome->report_count);
    outcome->traces = ARENA_ARRAY(&outcome->arena, Trace, outcome->report_count);
    for (size_t i = 0; i < outcome->report_count; i++) {
        outcome->reports[i] = report_blank(&outcome->verdicts[i]);
        outcome->reports[i].file = module->module.source->name;
        outcome->reports[i].module = text;
        outcome->reports[i].nothing = outcome->kernel_count
                                          ? "The report could not be made; what was not looked at says why."
                                          : "There is no kernel in it: no tt.func with a body.";
        outcome->traces[i] = (Trace){.file = "", .kernel = "", .launch = ""};
    }
}

static void prepare(weir_outcome *outcome, void *context) {
    const weir_run_options *options = context;
    if (!outcome->module->ok) {
        outcome_fail(outcome, "it has errors");
        return;
    }
    if (outcome->reporting && options->replay) {
        outcome_fail(outcome, "a barrier report is about launches, not about a trail");
        return;
    }
    bool good = set_schedule(outcome, options) && set_rules(outcome, options->rules) && set_global(outcome, options) &&
                set_target(outcome, options->target) && find_kernels(outcome, options->kernel) &&
                (options->replay ? read_trail(outcome, options->replay) : read_launch(outcome, options));
    if (!good)
        outcome->kernel_count = 0;
    outcome->verdicts = ARENA_ARRAY(&outcome->arena, Verdict, outcome->kernel_count + 1);
    for (size_t i = 0; i < outcome->kernel_count; i++) {
        Str name = op_symbol(outcome->kernels[i]);
        outcome->verdicts[i] =
            (Verdict){.arena = &outcome->arena, .kernel = arena_copy(&outcome->arena, name.data, name.size)};
    }
    outcome->verdicts[outcome->kernel_count] = (Verdict){.arena = &outcome->arena, .kernel = ""};
    outcome->rows = ARENA_ARRAY(&outcome->arena, Row *, outcome->kernel_count + 1);
    outcome->places = ARENA_ARRAY(&outcome->arena, size_t, outcome->kernel_count + 1);
    if (good && outcome->reporting)
        prepare_reports(outcome);
}

/* ---- Launches ------------------------------------------------------------------------------------- */

typedef struct Chosen {
    Launch launches[MOST_CHOSEN];
    size_t count;
} Chosen;

static bool same_launch(const Launch *a, const Launch *b) {
    Text x = {0}, y = {0};
    launch_write(a, &x);
    launch_write(b, &y);
    bool same = x.size == y.size && (!x.size || memcmp(x.data, y.data, x.size) == 0);
    text_free(&x);
    text_free(&y);
    return same;
}

/* Whether the command line left nothing of it to chance. */
static bool is_given(const weir_outcome *outcome, const Launch *launch) {
    for (size_t i = 0; i < launch->count; i++) {
        Str name = launch->arguments[i].name;
        bool given = false;
        for (size_t k = 0; k < outcome->argument_count && !given; k++) {
            const char *equals = strchr(outcome->arguments[k], '=');
            given = equals && str_equal(str_between(outcome->arguments[k], equals), name);
        }
        if (!given)
            return false;
    }
    return true;
}

/* Launches for arguments that were not given: chosen ones, and over each what the command line says. */
static Chosen *choose(weir_outcome *outcome, size_t kernel) {
    Module *module = &outcome->module->module;
    Chosen *chosen = ARENA_NEW(&outcome->arena, Chosen);
    Verdict nobody = {.arena = &outcome->arena};
    const char *problem;
    const Program *program = program_compile(module, outcome->kernels[kernel], 0, &nobody);
    Machine *machine = program ? machine_create(&module->arena, program, &problem) : NULL;
    if (!machine)
        return chosen;
    size_t count = choose_launches(machine, &module->arena, chosen->launches);
    for (size_t i = 0; i < count; i++) {
        Launch launch = chosen->launches[i];
        launch.chosen = !is_given(outcome, &launch);
        set_arguments(outcome, &launch);
        bool again = false;
        for (size_t k = 0; k < chosen->count && !again; k++)
            again = same_launch(&chosen->launches[k], &launch);
        if (!again)
            chosen->launches[chosen->count++] = launch;
    }
    return chosen;
}

const Launch *outcome_given_launch(const weir_outcome *outcome, size_t kernel) {
    const Launch *launch = outcome->launch;
    bool other = launch && outcome->kernel_count > 1 && launch->kernel.size &&
                 !str_equal(op_symbol(outcome->kernels[kernel]), launch->kernel);
    return other ? NULL : launch;
}

const Launch *outcome_launch(weir_outcome *outcome, size_t kernel) {
    const Launch *given = outcome_given_launch(outcome, kernel);
    if (given)
        return given;
    Chosen *chosen = choose(outcome, kernel);
    return chosen->count ? &chosen->launches[chosen->count / 2] : NULL; /* neither the shortest nor the longest */
}

/* ---- Running -------------------------------------------------------------------------------------- */

typedef struct Watch {
    Arena *arena;
    History *history;
} Watch;

static void watch(void *context, Machine *machine) {
    Watch *watch = context;
    watch->history = history_create(watch->arena, machine);
    machine->observe = history_observe;
    machine->observer = watch->history;
}

/* What to make of the end of a replayed run. */
static void judge(weir_outcome *outcome, Machine *machine, const History *history, RunEnd end, Verdict *verdict) {
    Finding *finding = NULL;
    switch (end) {
    case RUN_COMPLETE:
        finding = leftover_explain(machine, history, verdict);
        break;
    case RUN_STUCK:
        finding = blocked_explain(machine, history, verdict);
        break;
    case RUN_FAULT:
        finding = fault_explain(machine, history, verdict);
        break;
    case RUN_UNKNOWN: {
        const Op *op = machine->unknown_op;
        verdict_incomplete(verdict, verdict_text(verdict, "%.*s", STR_ARG(op->name)),
                           source_place(outcome->module->module.source, op->offset).line, "%s", machine->unknown);
        break;
    }
    default:
        verdict_incomplete(verdict, "", 0,
                           end == RUN_BUDGET ? "the run was stopped: its budget is used up (--budget allows more)"
                                             : "the launch breaks an assumption of the kernel");
        break;
    }
    if (finding)
        finding->launch = verdict->launch_count ? verdict->launches[0].text : "";
    for (size_t i = 0; i < verdict->finding_count; i++)
        verdict->findings[i].schedule = verdict_text(verdict, "that of %s", outcome->source->name);
}

static void replay(weir_outcome *outcome, size_t kernel) {
    Verdict *verdict = &outcome->verdicts[kernel];
    Rerun rerun = outcome->trail->rerun;
    Trail made = {.arena = &outcome->arena};
    Watch watching = {.arena = &outcome->arena};
    Machine *machine;
    rerun.schedule.record = &made;
    RunEnd end =
        deadlock_rerun(&outcome->module->module, outcome->kernels[kernel], &rerun, watch, &watching, verdict, &machine);
    if (end == RUN_DIVERGED && made.count < outcome->trail->trail.count)
        outcome_fail(outcome, "the trail does not fit this kernel: its step %u is not possible", made.count + 1);
    else if (end == RUN_DIVERGED)
        outcome_fail(outcome, "the trail does not fit this kernel: after its last step some agent can still go on");
    else if (machine)
        judge(outcome, machine, watching.history, end, verdict);
}

/* Runs a kernel as the options say; `last`: and makes the report of it, if one is wanted. */
static void check_launch(weir_outcome *outcome, size_t kernel, const DeadlockOptions *options, bool last) {
    Module *module = &outcome->module->module;
    Verdict *verdict = &outcome->verdicts[kernel];
    if (!outcome->reporting || !last) {
        deadlock_check(module, outcome->kernels[kernel], options, verdict);
        return;
    }
    Report *report = &outcome->reports[kernel];
    const char *which = report->module;
    *report = *report_build(module, outcome->kernels[kernel], options, verdict, &outcome->traces[kernel]);
    report->module = which;
    report->verdict = verdict;
}

static void note_launch(Verdict *verdict, const Launch *launch) {
    Text text = {0};
    launch_describe(launch, &text);
    *verdict_launch(verdict) = (LaunchRun){.text = verdict_keep(verdict, &text),
                                           .ctas = (size_t)(launch->grid[0] * launch->grid[1] * launch->grid[2]),
                                           .schedules = 1};
}

/* What a cluster found in memory when the whole grid ran. */
typedef struct Loads {
    const GlobalCheck *check;
    size_t place;
} Loads;

static const LoadLog *find_loads(void *context, uint64_t cluster) {
    const Loads *loads = context;
    return global_check_loads(loads->check, loads->place, cluster);
}

/* What is known of the launch: a file's, or only what the command line says, which leaves the rest open. */
static const Launch *lint_launch(weir_outcome *outcome, size_t kernel) {
    const Launch *given = outcome_given_launch(outcome, kernel);
    if (given || (!outcome->argument_count && !outcome->grid))
        return given;
    Launch *made = ARENA_NEW(&outcome->arena, Launch);
    return set_arguments(outcome, made) ? made : NULL;
}

static void lint_kernel(weir_outcome *outcome, size_t kernel) {
    LintOptions options = {
        .target = outcome->target, .launch = lint_launch(outcome, kernel), .alone = outcome->lint == WEIR_LINT_ONLY};
    lint_check(&outcome->module->module, outcome->kernels[kernel], &options, &outcome->verdicts[kernel]);
}

static void check_kernel(weir_outcome *outcome, void *context) {
    Verdict *verdict = context;
    size_t kernel = (size_t)(verdict - outcome->verdicts);
    if (outcome->lint)
        lint_kernel(outcome, kernel);
    if (outcome->lint == WEIR_LINT_ONLY)
        return;
    const Row *row = outcome->rows[kernel];
    Loads loads = {row ? row->check : NULL, outcome->places[kernel]};
    DeadlockOptions options = outcome->options;
    options.launch = outcome_given_launch(outcome, kernel);
    if (global_check_has_loads(loads.check)) {
        options.loads = find_loads;
        options.loads_context = &loads;
    }
    if (outcome->trail && outcome->trail->whole) {
        if (!row || row->kernel_count != outcome->trail->grid.count)
            outcome_fail(outcome, "the trail does not fit: it is one of other kernels, or of several in a row");
        else if (global_check_diverged(row->check))
            outcome_fail(outcome, "the trail does not fit this kernel: it cannot be run in that order");
    } else if (outcome->trail) {
        replay(outcome, kernel);
    } else if (global_check_hangs(loads.check)) {
        note_launch(verdict, options.launch); /* no cluster says more by itself */
    } else if (options.launch || (!outcome->argument_count && !outcome->grid)) {
        check_launch(outcome, kernel, &options, true);
    } else {
        Chosen *chosen = choose(outcome, kernel);
        for (size_t i = 0; i < chosen->count; i++) {
            options.launch = &chosen->launches[i];
            check_launch(outcome, kernel, &options, i + 1 == chosen->count);
        }
        if (!chosen->count) /* it cannot be run at all, and this says why */
            check_launch(outcome, kernel, &options, true);
    }
    if (outcome->membar)
        outcome_membar(outcome, kernel, outcome->membar == WEIR_MEMBAR_SUMMARY);
}

static void say_no_memory(weir_outcome *outcome, void *context) {
    (void)outcome;
    verdict_incomplete(context, "", 0, "the run takes more memory than it may");
}

typedef struct Progress {
    const weir_run_options *options;
    const char *kernel;
} Progress;

static void pass_progress(void *context, const char *launch, uint64_t cluster, uint64_t clusters) {
    const Progress *progress = context;
    progress->options->progress(progress->options->progress_context, progress->kernel, launch, cluster, clusters);
}

/* Keeps the findings that were asked for. */
static void pick_findings(weir_outcome *outcome, void *context) {
    Verdict *verdict = context;
    size_t kept = 0, count = verdict->finding_count;
    for (size_t i = 0; i < count; i++)
        if (rule_listed(outcome->rules, rule_of(verdict->findings[i].rule)->id))
            verdict->findings[kept++] = verdict->findings[i];
    verdict->finding_count = kept;
    if (kept < count)
        verdict_note(verdict,
                     count - kept == 1 ? "%zu finding of other rules is left out"
                                       : "%zu findings of other rules are left out",
                     count - kept);
}

static void run_kernel(weir_outcome *outcome, const weir_run_options *options, Verdict *verdict) {
    const char *name = verdict->kernel;
    Progress progress = {options, name};
    if (options->progress) {
        outcome->options.progress = pass_progress;
        outcome->options.context = &progress;
    }
    size_t kernel = (size_t)(verdict - outcome->verdicts);
    Row own = {0};
    bool alone = outcome->looks_at_global && !outcome->rows[kernel] && outcome->lint != WEIR_LINT_ONLY;
    if (alone) {
        outcome->global_options.progress = outcome->options.progress;
        outcome->global_options.context = outcome->options.context;
        row_run(&own, &outcome, 1, kernel, 1);
    }
    if (!outcome_attempt(outcome, check_kernel, verdict)) {
        outcome->arena.budget += LAST_WORDS;
        outcome_attempt(outcome, say_no_memory, verdict);
        verdict->kind = VERDICT_INCOMPLETE; /* even if there was no memory to say it */
    }
    if (alone)
        row_free(&own);
    verdict->kernel = name;
    if (outcome->rules)
        outcome_attempt(outcome, pick_findings, verdict);
    verdict_close(verdict);
    outcome->options.progress = NULL;
    outcome->global_options.progress = NULL;
}

static void count_witnesses(weir_outcome *outcome, void *context) {
    (void)context;
    outcome->witness_files = ARENA_ARRAY(&outcome->arena, const char *, weir_finding_count(outcome) + 1);
}

/* Options, kernels and launches: ready to be run. */
static weir_outcome *outcome_begin(weir_module *module, const weir_run_options *options, bool reporting) {
    weir_outcome *outcome = calloc(1, sizeof *outcome);
    if (!outcome)
        return NULL;
    outcome->module = module;
    outcome->problem = "";
    outcome->global = options->global;
    outcome->membar = options->replay ? 0 : options->membar;
    outcome->lint = options->replay ? 0 : options->lint;
    outcome->reporting = reporting;
    arena_init(&outcome->arena, outcome_budget);
    if (!outcome_attempt(outcome, prepare, (void *)options)) {
        outcome->problem = "there is not enough memory";
        outcome->kernel_count = 0;
    }
    return outcome;
}

/* NULL, with the outcome freed, if there is no memory. */
static weir_outcome *outcome_finish(weir_outcome *outcome, const weir_run_options *options) {
    for (size_t i = 0; i < outcome->kernel_count; i++) {
        run_kernel(outcome, options, &outcome->verdicts[i]);
        outcome->kind = verdict_worse(outcome->kind, outcome->verdicts[i].kind);
    }
    if (*outcome->problem || outcome->diagnostics.errors) {
        outcome->kind = VERDICT_ERROR;
        outcome->kernel_count = outcome->report_count = 0;
    }
    if (!outcome_attempt(outcome, count_witnesses, NULL)) {
        weir_outcome_free(outcome);
        return NULL;
    }
    return outcome;
}

weir_outcome *outcome_make(weir_module *module, const weir_run_options *options, bool reporting) {
    static const weir_run_options usual;
    options = options ? options : &usual;
    weir_outcome *outcome = outcome_begin(module, options, reporting);
    return outcome ? outcome_finish(outcome, options) : NULL;
}

weir_outcome *weir_run(weir_module *module, const weir_run_options *options) {
    return outcome_make(module, options, false);
}

int weir_run_row(weir_module *const *modules, const weir_run_options *options, size_t count, weir_outcome **outcomes) {
    Row row = {0};
    bool ready = count > 0;
    for (size_t i = 0; i < count; i++) {
        outcomes[i] = outcome_begin(modules[i], &options[i], false);
        ready &= outcomes[i] && outcomes[i]->looks_at_global && !*outcomes[i]->problem;
    }
    if (ready)
        row_run(&row, outcomes, count, 0, SIZE_MAX);
    bool good = true;
    for (size_t i = 0; i < count; i++) {
        if (outcomes[i])
            outcomes[i] = outcome_finish(outcomes[i], &options[i]);
        good &= outcomes[i] != NULL;
    }
    row_free(&row);
    return good ? 0 : -1;
}

void weir_outcome_free(weir_outcome *outcome) {
    if (!outcome)
        return;
    arena_free(&outcome->arena);
    diagnostics_free(&outcome->diagnostics);
    source_free(outcome->source);
    free(outcome);
}
