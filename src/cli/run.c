/* weir run: run the kernels of the input on the emulator, and say whether all agents come to their end. */
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    OPTION_SCHEDULE = 256,
    OPTION_SEED,
    OPTION_SCHEDULES,
    OPTION_REPLAY,
    OPTION_TRACE,
    OPTION_STEPS,
    OPTION_GLOBAL,
    OPTION_STATE,
    OPTION_SLOTS,
    OPTION_RING,
    OPTION_GRANULE,
};

typedef struct Options {
    RunOptions shared;
    bool steps, state;
    uint64_t state_step;
    const char *trace;
} Options;

static const struct argp_option option_table[] = {
    {NULL, 0, NULL, 0, "What is run:", 1},
    {"replay", OPTION_REPLAY, "TRAIL", 0, "run what a witness says, step for step, and nothing else", 1},
    {NULL, 0, NULL, 0, "In which order:", 2},
    {"schedule", OPTION_SCHEDULE, "NAME", 0,
     "directed (the usual one: decides for all), eager, lazy, round-robin, random, or all", 2},
    {"seed", OPTION_SEED, "N", 0, "the first of the random schedules (0)", 2},
    {"schedules", OPTION_SCHEDULES, "N", 0, "how many random schedules (8)", 2},
    {"slots", OPTION_SLOTS, "N", 0, "with --gsan sampled: how many readers of a granule are kept (4)", 2},
    {"ring", OPTION_RING, "N", 0, "with --gsan sampled: how many clocks a CTA keeps for its releases (1024)", 2},
    {"granule", OPTION_GRANULE, "N", 0, "bytes of global memory that are told apart: 1, 2, 4 or 16 (1; sampled: 4)", 2},
    {NULL, 0, NULL, 0, "What is told:", 3},
    {"steps", OPTION_STEPS, NULL, 0, "print a run step by step: that of the first finding, if there is one", 3},
    {"global", OPTION_GLOBAL, NULL, 0, "with --steps: accesses to global memory, too, byte for byte", 3},
    {"state", OPTION_STATE, "N", OPTION_ARG_OPTIONAL,
     "print what the race engine knows at the end of that run, or after its step N", 3},
    {"trace", OPTION_TRACE, "FILE", 0, "draw that run, for ui.perfetto.dev; - is standard output", 3},
    {"verbose", 'v', NULL, 0, "list the launches that were run", 3},
    {0},
};

static void check_options(const Options *options, struct argp_state *state) {
    const RunOptions *shared = &options->shared;
    bool several = shared->inputs.count > 1;
    if (options->trace && several)
        argp_error(state, "--trace draws one run, and there are %zu input files", shared->inputs.count);
    if (shared->json && (options->steps || options->state))
        argp_error(state, "--%s for people; --trace is for programs", options->steps ? "steps are" : "state is");
    if (shared->run.global && !options->steps)
        argp_error(state, "--global adds to --steps");
    if (shared->run.replay && (shared->run.launch || shared->run.argument_count || shared->run.grid))
        argp_error(state, "--replay takes grid and arguments from the trail");
}

static error_t parse_option(int key, char *argument, struct argp_state *state) {
    Options *options = state->input;
    weir_run_options *run = &options->shared.run;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &options->shared;
        return 0;
    case OPTION_SCHEDULE:
        run->schedule = argument;
        return 0;
    case OPTION_SEED:
        run->seed = option_number(state, "seed", argument, UINT64_MAX);
        return 0;
    case OPTION_SCHEDULES:
        run->schedules = (unsigned)option_number(state, "schedules", argument, 1000000);
        return 0;
    case OPTION_REPLAY:
        run->replay = argument;
        return 0;
    case OPTION_TRACE:
        options->trace = argument;
        return 0;
    case OPTION_STEPS:
        options->steps = true;
        return 0;
    case OPTION_GLOBAL:
        run->global = true;
        return 0;
    case OPTION_STATE:
        options->state = true;
        options->state_step = argument ? option_number(state, "state", argument, UINT64_MAX - 1) : UINT64_MAX;
        return 0;
    case OPTION_SLOTS:
        run->slots = (unsigned)option_number(state, "slots", argument, UINT16_MAX);
        return 0;
    case OPTION_RING:
        run->ring = (unsigned)option_number(state, "ring", argument, UINT16_MAX);
        return 0;
    case OPTION_GRANULE:
        run->granule = (unsigned)option_number(state, "granule", argument, 16);
        return 0;
    case 'v':
        options->shared.verbose = true;
        return 0;
    case ARGP_KEY_END:
        check_options(options, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

typedef struct Session {
    const Options *options;
    Output *output;
    Teller teller;
    Progress progress;
    /* Files in a row: of those that are open, their modules and how they are launched. */
    weir_context *weir;
    weir_module **modules;
    weir_run_options *launches;
    size_t open;
    bool steps_told; /* of all of them together */
} Session;

/* ---- One module ------------------------------------------------------------------------------ */

static bool draw(Session *session, weir_outcome *outcome) {
    const char *path = session->options->trace;
    Output *file = output_open(strcmp(path, "-") == 0 ? NULL : path);
    if (!file)
        return false;
    bool good = weir_trace(outcome, output_write, file) == 0;
    if (!good)
        complain("there is no run to draw");
    return output_close(file, good) && good;
}

/* One run, in the ways that were asked for. */
static bool show(Session *session, weir_outcome *outcome) {
    const Options *options = session->options;
    bool good = !options->trace || draw(session, outcome);
    if (options->steps && !session->steps_told && weir_steps(outcome, output_write, session->output) != 0) {
        complain("there is no run to tell of");
        good = false;
    }
    if (options->state && weir_state(outcome, options->state_step, output_write, session->output) != 0) {
        complain("the race engine has watched no such run: it watches those in which copies complete at once, of at "
                 "most 16 agents");
        good = false;
    }
    return good;
}

static void tell_run(Session *session, const char *path, weir_outcome *outcome) {
    if (!outcome) {
        tell_failure(&session->teller, path, "there is not enough memory");
        return;
    }
    bool good = weir_outcome_verdict(outcome) == WEIR_VERDICT_ERROR || show(session, outcome);
    tell_outcome(&session->teller, outcome);
    if (!good)
        session->teller.verdict = WEIR_VERDICT_ERROR;
    weir_outcome_free(outcome);
}

static void run_module(void *context, const char *path, weir_module *module, const weir_run_options *options) {
    Session *session = context;
    weir_outcome *outcome = weir_run(module, options);
    progress_clear(&session->progress);
    tell_run(session, path, outcome);
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

static bool all_ran(weir_outcome *const *outcomes, size_t count) {
    for (size_t i = 0; outcomes && i < count; i++)
        if (!outcomes[i] || weir_outcome_verdict(outcomes[i]) == WEIR_VERDICT_ERROR)
            return false;
    return outcomes != NULL;
}

static void run_row(Session *session) {
    const Paths *inputs = &session->options->shared.inputs;
    weir_outcome **outcomes = calloc(session->open, sizeof *outcomes);
    if (outcomes)
        (void)weir_run_row(session->modules, session->launches, session->open, outcomes);
    progress_clear(&session->progress);
    session->steps_told = session->options->steps && all_ran(outcomes, session->open) &&
                          weir_row_steps(outcomes, session->open, output_write, session->output) == 0;
    for (size_t i = 0; i < session->open; i++)
        tell_run(session, inputs->items[i], outcomes ? outcomes[i] : NULL);
    free(outcomes);
}

/* Keeps the module, and opens the next file while it is there; with the last one all are run. */
static void keep_module(void *context, const char *path, weir_module *module, const weir_run_options *options) {
    Session *session = context;
    const Paths *inputs = &session->options->shared.inputs;
    (void)path;
    session->modules[session->open] = module;
    session->launches[session->open++] = *options;
    if (session->open == inputs->count)
        run_row(session);
    else
        tell_modules(&session->teller, session->weir, inputs->items[session->open], keep_module, session);
    session->open--;
}

static void run_in_a_row(Session *session) {
    const Paths *inputs = &session->options->shared.inputs;
    session->modules = calloc(inputs->count, sizeof(weir_module *));
    session->launches = calloc(inputs->count, sizeof *session->launches);
    if (session->modules && session->launches)
        tell_modules(&session->teller, session->weir, inputs->items[0], keep_module, session);
    else
        tell_failure(&session->teller, inputs->items[0], "there is not enough memory");
    free(session->modules);
    free(session->launches);
}

/* ---- The command ----------------------------------------------------------------------------- */

static void summarise(const Session *session) {
    const Teller *teller = &session->teller;
    output_printf(session->output,
                  "%zu files, %zu kernel%s: %zu clean, %zu with findings, %zu incomplete, %zu error%s\n",
                  session->options->shared.inputs.count, teller->kernels, teller->kernels == 1 ? "" : "s",
                  teller->counts[WEIR_VERDICT_CLEAN], teller->counts[WEIR_VERDICT_FINDINGS],
                  teller->counts[WEIR_VERDICT_INCOMPLETE], teller->counts[WEIR_VERDICT_ERROR],
                  teller->counts[WEIR_VERDICT_ERROR] == 1 ? "" : "s");
}

static int run(Options *options) {
    RunOptions *shared = &options->shared;
    weir_context *weir = weir_create();
    Session session = {.options = options, .output = output_open(shared->output), .progress = progress_start()};
    if (!weir || !session.output)
        return STATUS_ERROR;
    Progress *progress = &session.progress;
    progress->files = shared->inputs.count;
    session.teller = teller_start(shared, output_write, session.output, progress_write_error, progress);
    session.teller.flags |= shared->verbose ? WEIR_LAUNCHES : 0;
    shared->run.progress = progress_show;
    shared->run.progress_context = progress;
    bool json = shared->json && !shared->quiet;
    if (json && !(session.teller.json = weir_json_begin(output_write, session.output)))
        return STATUS_ERROR;
    session.weir = weir;
    if (is_row(options))
        run_in_a_row(&session);
    else
        for (; progress->file < progress->files; progress->file++)
            tell_modules(&session.teller, weir, shared->inputs.items[progress->file], run_module, &session);
    bool good = !json || weir_json_end(session.teller.json) == 0;
    if (!shared->json && !shared->quiet && shared->inputs.count > 1)
        summarise(&session);
    good &= output_close(session.output, true);
    weir_destroy(weir);
    return weir_verdict_status(good ? session.teller.verdict : WEIR_VERDICT_ERROR);
}

int command_run(int count, char **arguments) {
    static const struct argp_child children[] = {{&run_options_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        option_table,
        parse_option,
        "FILE|DIR|-...",
        "Runs the kernels in Triton GPU IR on an emulator, and says whether all agents come to "
        "their end, and whether what they do to memory is ordered.\v"
        "FILE is a .ttgir or .mlir file or a log of compiler passes (MLIR_ENABLE_DUMP); of a "
        "DIR, every .ttgir and .mlir below it is run; - is standard input. Without a launch "
        "file and arguments, launches are chosen.\n"
        "Exit status: 0 if all is clean, 1 if something is wrong with a kernel, 3 if nothing "
        "wrong was found but not everything could be looked at, 2 if the input or the command "
        "line is wrong.",
        children,
        NULL,
        NULL};
    Options options = {0};
    if (!command_parse_options("run", &argp, count, arguments, &options))
        return STATUS_ERROR;
    int status = run(&options);
    run_options_free(&options.shared);
    return status;
}
