/* weir run: run the kernels of the input on the emulator, and say whether all agents come to their end. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

enum { OPTION_GLOBAL = 256, OPTION_STATE };

typedef struct Options {
    RunOptions shared;
    bool steps, state;
    uint64_t state_step;
    const char *trace;
} Options;

static const struct argp_option option_table[] = {
    {NULL, 0, NULL, 0, "What is run:", 1},
    {"replay", SETS(TEXT, Options, shared.run.replay), "TRAIL", 0,
     "run what a witness says, step for step, and nothing else", 1},
    {NULL, 0, NULL, 0, "In which order:", 2},
    {"schedule", SETS(TEXT, Options, shared.run.schedule), "NAME", 0,
     "directed (the usual one: decides for all), eager, lazy, round-robin, random, or all", 2},
    {"seed", SETS(LONG, Options, shared.run.seed), "N", 0, "the first of the random schedules (0)", 2},
    {"schedules", SETS(UNSIGNED, Options, shared.run.schedules), "N", 0, "how many random schedules (8)", 2},
    {"slots", SETS(UNSIGNED, Options, shared.run.slots), "N", 0,
     "with --gsan sampled: how many readers of a granule are kept (4)", 2},
    {"ring", SETS(UNSIGNED, Options, shared.run.ring), "N", 0,
     "with --gsan sampled: how many clocks a CTA keeps for its releases (1024)", 2},
    {"granule", SETS(UNSIGNED, Options, shared.run.granule), "N", 0,
     "bytes of global memory that are told apart: 1, 2, 4 or 16 (1; sampled: 4)", 2},
    {NULL, 0, NULL, 0, "What is told:", 3},
    {"steps", SETS(FLAG, Options, steps), NULL, 0,
     "print a run step by step: that of the first finding, if there is one", 3},
    {"global", OPTION_GLOBAL, NULL, 0, "with --steps: accesses to global memory, too, byte for byte", 3},
    {"state", OPTION_STATE, "N", OPTION_ARG_OPTIONAL,
     "print what the race engine knows at the end of that run, or after its step N", 3},
    {"trace", SETS(TEXT, Options, trace), "FILE", 0, "draw that run, for ui.perfetto.dev; - is standard output", 3},
    {"verbose", 'v', NULL, 0, "list the launches that were run", 3},
    {0},
};

static void check_options(const Options *options, struct argp_state *state) {
    const RunOptions *shared = &options->shared;
    bool several = shared->inputs.count > 1;
    if (options->trace && several)
        argp_error(state, "--trace draws one run, and there are %zu input files", shared->inputs.count);
    if (shared->format && (options->steps || options->state))
        argp_error(state, "--%s for people; --trace is for programs", options->steps ? "steps are" : "state is");
    if (shared->run.global && !options->steps)
        argp_error(state, "--global adds to --steps");
    if (shared->run.replay && (shared->run.launch || shared->run.argument_count || shared->run.grid))
        argp_error(state, "--replay takes grid and arguments from the trail");
}

static error_t parse_option(int key, char *argument, struct argp_state *state) {
    static const OptionField fields[] = {
        {.sets = SETS(LONG, Options, shared.run.seed), "seed", UINT64_MAX},
        {.sets = SETS(UNSIGNED, Options, shared.run.schedules), "schedules", 1000000},
        {.sets = SETS(UNSIGNED, Options, shared.run.slots), "slots", UINT16_MAX},
        {.sets = SETS(UNSIGNED, Options, shared.run.ring), "ring", UINT16_MAX},
        {.sets = SETS(UNSIGNED, Options, shared.run.granule), "granule", 16},
        {.letter = 'v', SETS(FLAG, Options, shared.verbose)},
        {0},
    };
    Options *options = state->input;
    switch (key) {
    case OPTION_GLOBAL:
        options->shared.run.global = true;
        return 0;
    case OPTION_STATE:
        options->state = true;
        options->state_step = argument ? option_number(state, "state", argument, 0, UINT64_MAX - 1) : UINT64_MAX;
        return 0;
    case ARGP_KEY_END:
        check_options(options, state);
        return 0;
    default:
        return option_set(fields, key, argument, state);
    }
}

typedef struct Run {
    Session session;
    const Options *options;
    /* Files in a row: of those that are open, their modules and how they are launched. */
    weir_module **modules;
    weir_run_options *launches;
    size_t open;
    bool steps_told; /* of all of them together */
} Run;

/* ---- One module ------------------------------------------------------------------------------ */

static bool draw(const char *path, weir_result *result) {
    Output *file = output_open(strcmp(path, "-") == 0 ? NULL : path);
    if (!file)
        return false;
    bool good = weir_trace(result, output_write, file) == 0;
    if (!good)
        complain("there is no run to draw");
    return output_close(file, good) && good;
}

/* One run, in the ways that were asked for. */
static bool show(Run *run, weir_result *result) {
    const Options *options = run->options;
    Output *output = run->session.output;
    bool good = !options->trace || draw(options->trace, result);
    if (options->steps && !run->steps_told && weir_steps(result, output_write, output) != 0) {
        complain("there is no run to tell of");
        good = false;
    }
    if (options->state && weir_state(result, options->state_step, output_write, output) != 0) {
        complain("the race engine has watched no such run: it watches those of at most 16 agents");
        good = false;
    }
    return good;
}

static void tell_run(Run *run, const char *path, weir_result *result) {
    bool good = !result || weir_result_verdict(result) == WEIR_VERDICT_ERROR || show(run, result);
    session_tell(&run->session, path, result);
    if (!good)
        run->session.teller.verdict = WEIR_VERDICT_ERROR;
}

static void run_module(void *context, const char *path, weir_module *module, const weir_run_options *options) {
    Run *run = context;
    weir_result *result = weir_run(module, options);
    progress_clear(&run->session.progress);
    tell_run(run, path, result);
}

/* ---- Files in a row -------------------------------------------------------------------------- */

/* Whether launches share memory, so that one file after the other would tell less. */
static bool is_row(const Options *options) {
    const RunOptions *shared = &options->shared;
    bool found = shared->run.replay != NULL;
    for (size_t i = 0; i < shared->inputs.count && !found && !shared->no_launch && !shared->run.launch; i++) {
        char *launch = launch_beside(shared->inputs.items[i]);
        found = launch && weir_launch_shares(launch);
        free(launch);
    }
    return found && shared->inputs.count > 1;
}

static void run_row(Run *run) {
    const Paths *inputs = &run->options->shared.inputs;
    weir_result **results = calloc(run->open, sizeof *results);
    bool good = results && weir_run_row(run->modules, run->launches, run->open, results) == 0;
    progress_clear(&run->session.progress);
    run->steps_told =
        run->options->steps && good && weir_row_steps(results, run->open, output_write, run->session.output) == 0;
    for (size_t i = 0; i < run->open; i++)
        tell_run(run, inputs->items[i], results ? results[i] : NULL);
    free(results);
}

/* Keeps the module, and opens the next file while it is there; with the last one all are run. */
static void keep_module(void *context, const char *path, weir_module *module, const weir_run_options *options) {
    Run *run = context;
    const Paths *inputs = &run->options->shared.inputs;
    (void)path;
    run->modules[run->open] = module;
    run->launches[run->open++] = *options;
    if (run->open == inputs->count)
        run_row(run);
    else
        tell_modules(&run->session.teller, run->session.weir, inputs->items[run->open], keep_module, run);
    run->open--;
}

static void run_in_a_row(Run *run) {
    const Paths *inputs = &run->options->shared.inputs;
    run->modules = calloc(inputs->count, sizeof(weir_module *));
    run->launches = calloc(inputs->count, sizeof *run->launches);
    if (run->modules && run->launches)
        tell_modules(&run->session.teller, run->session.weir, inputs->items[0], keep_module, run);
    else
        tell_failure(&run->session.teller, inputs->items[0], "there is not enough memory");
    free(run->modules);
    free(run->launches);
}

/* ---- The command ----------------------------------------------------------------------------- */

static void summarise(const Run *run) {
    const Teller *teller = &run->session.teller;
    const size_t *counts = teller->counts;
    output_printf(run->session.output,
                  "%zu files, %zu kernel%s: %zu clean, %zu with findings, %zu incomplete, %zu error%s\n",
                  run->options->shared.inputs.count, teller->kernels, teller->kernels == 1 ? "" : "s",
                  counts[WEIR_VERDICT_CLEAN], counts[WEIR_VERDICT_FINDINGS], counts[WEIR_VERDICT_INCOMPLETE],
                  counts[WEIR_VERDICT_ERROR], counts[WEIR_VERDICT_ERROR] == 1 ? "" : "s");
}

static int run_all(Options *options) {
    RunOptions *shared = &options->shared;
    Run run = {.options = options};
    if (!session_open(&run.session, shared, "run"))
        return STATUS_ERROR;
    run.session.teller.how.flags |= shared->verbose ? WEIR_LAUNCHES : 0;
    bool good = session_write(&run.session, WEIR_VERDICTS);
    if (good && is_row(options))
        run_in_a_row(&run);
    else if (good)
        session_inputs(&run.session, run_module);
    if (!shared->format && !shared->quiet && shared->inputs.count > 1)
        summarise(&run);
    return session_close(&run.session, good, true);
}

int command_run(int count, char **arguments) {
    static const struct argp argp = {
        .options = option_table,
        .parser = parse_option,
        .args_doc = "FILE|DIR|-...",
        .doc = "Runs the kernels in Triton GPU IR on an emulator, and says whether all agents come to their "
               "end, and whether what they do to memory is ordered.\v" HELP_FILES HELP_BELOW "run" HELP_INPUT
               " Without a launch file and arguments, launches are chosen." HELP_STATUS,
        .children = run_options};
    Options options = {.shared.only_launch = true}; /* the run that is asked for */
    command_parse_options("run", &argp, count, arguments, &options);
    return run_all(&options);
}
