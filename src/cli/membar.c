/* weir membar: the thread barriers that kernels need, those they have, and the IR with them put in. */
#include "cli/cli.h"

enum { OPTION_WHY = 256 };

typedef struct Options {
    RunOptions shared;
    weir_membar_options membar;
    bool emit, prune;
} Options;

static const struct argp_option option_table[] = {
    {NULL, 0, NULL, 0, "What is looked at:", 1},
    {"function", SETS(TEXT, Options, membar.function), "NAME", 0, "only this function of a module", 1},
    {"kernel", SETS(TEXT, Options, membar.function), "NAME", OPTION_ALIAS, NULL, 1},
    {"module", SETS(TEXT, Options, shared.module), "N|PASS", 0,
     "only module N, counted from 1, or those dumped by a pass; of a pass log else of each compilation the last with a "
     "kernel",
     1},
    {NULL, 0, NULL, 0, "How:", 2},
    {"model", SETS(WORD, Options, membar.model), "MODEL", 0,
     "async: what is in flight is known; near: a copy in flight is no write that came before; sync: every write is "
     "visible at once, as Triton has it (async)",
     2},
    {"assume", SETS(WORD, Options, membar.stage), "STAGE", 0,
     "inserted: the IR claims to have its barriers; before: they are put in later (what the IR says)", 2},
    {"timeout", SETS(UNSIGNED, Options, membar.timeout), "SECONDS", 0,
     "stop looking at a function after so long, which makes it incomplete (60; 0: never)", 2},
    {NULL, 0, NULL, 0, "What is told:", 3},
    {"compare", SETS(WORD, Options, membar.compare), "MODEL", 0, "where another model wants other barriers, and why",
     3},
    {"why", OPTION_WHY, "LINE", 0, "explain a line of the IR: what is pending there, and what needs a barrier", 3},
    {"emit", SETS(FLAG, Options, emit), NULL, 0, "print the IR with the barriers that it needs", 3},
    {"prune", SETS(FLAG, Options, prune), NULL, 0, "with --emit: and without those that are needless", 3},
    {"format", SETS(CHOICE, Options, shared.format), "FORMAT", 0, "text, or json for programs", 3},
    {0},
};

/* ---- Options --------------------------------------------------------------------------------- */

static void check_options(const Options *options, struct argp_state *state) {
    size_t files = options->shared.inputs.count;
    if (options->prune && !options->emit)
        argp_error(state, "--prune goes with --emit");
    if (options->emit && (options->shared.format || options->membar.compare || options->membar.line))
        argp_error(state, "--emit prints IR, and goes with neither --format json nor --compare nor --why");
    if (options->membar.line && files > 1)
        argp_error(state, "--why explains a line of one FILE, and there are %zu", files);
}

static error_t parse_option(int key, char *argument, struct argp_state *state) {
    static const char *const stages[] = {"inserted", "before", NULL}, *const formats[] = {"text", "json", NULL};
    static const char *const models[] = {"sync", "near", "async", NULL};
    static const char no_model[] = "there is no model '%s'; there are sync, near and async";
    static const OptionField fields[] = {{.sets = SETS(WORD, Options, membar.model), no_model, .words = models},
                                         {.sets = SETS(WORD, Options, membar.compare), no_model, .words = models},
                                         {.sets = SETS(UNSIGNED, Options, membar.timeout), "timeout", MOST_SECONDS},
                                         {.sets = SETS(WORD, Options, membar.stage),
                                          "barriers are 'inserted', or it is 'before' that, not '%s'",
                                          .words = stages},
                                         {.sets = SETS(CHOICE, Options, shared.format),
                                          "barriers can be printed as text or as json, not as '%s'",
                                          .words = formats},
                                         {0}};
    Options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        options->membar.timeout = USUAL_SECONDS;
        return option_set(fields, key, argument, state);
    case OPTION_WHY:
        options->membar.line = (uint32_t)option_number(state, "why", argument, 0, UINT32_MAX);
        if (!options->membar.line)
            argp_error(state, "lines are counted from 1");
        return 0;
    case ARGP_KEY_END:
        check_options(options, state);
        return 0;
    default:
        return option_set(fields, key, argument, state);
    }
}

/* ---- Files ----------------------------------------------------------------------------------- */

typedef struct Membar {
    Session session;
    const Options *options;
    size_t answers; /* to a question about a line */
} Membar;

static void look_at_module(void *context, const char *path, weir_module *module, const weir_run_options *options) {
    Membar *membar = context;
    Session *session = &membar->session;
    (void)options; /* nothing is run */
    weir_result *result = weir_membar(module, &membar->options->membar);
    for (size_t i = 0; result && i < weir_result_kernels(result); i++)
        membar->answers += weir_kernel_at(result, i).answers;
    if (!result || !membar->options->emit) {
        session_tell(session, path, result);
        return;
    }
    if (session_emit(session, result, membar->options->prune ? WEIR_PRUNE : 0) != 0)
        session->teller.verdict = WEIR_VERDICT_ERROR;
    weir_result_free(result);
}

static int look_at_all(Options *options) {
    RunOptions *shared = &options->shared;
    Membar membar = {.options = options};
    Session *session = &membar.session;
    shared->no_launch = true;
    shared->run.kernel = options->membar.function; /* of a pass log, the compilations that have it */
    if (!session_open(session, shared, "looked at"))
        return STATUS_ERROR;
    bool good = options->emit || session_write(session, WEIR_BARRIERS);
    if (good)
        session_inputs(session, look_at_module);
    if (options->membar.line && !membar.answers && session->teller.verdict != WEIR_VERDICT_ERROR) {
        complain("%s: no op of a function starts on line %u", shared->inputs.items[0], options->membar.line);
        good = false;
    }
    return session_close(session, good, !options->emit || session->teller.verdict != WEIR_VERDICT_ERROR);
}

/* ---- The command ----------------------------------------------------------------------------- */

int command_membar(int count, char **arguments) {
    static const struct argp argp = {
        .options = option_table,
        .parser = parse_option,
        .args_doc = "FILE|DIR|-...",
        .doc = "Tells which thread barriers the functions in Triton GPU IR need: where, for which two accesses, "
               "and over which path; which of those that are there are needless; and which are missing.\v" HELP_FILES
                   HELP_BELOW "looked at" HELP_INPUT
               " A compiler puts barriers in when it has placed shared memory: before that one is only needed, "
               "after that it is missing.\n"
               "Exit status: 0 if no barrier is missing, 1 if one is, 3 if none is but not everything could be "
               "looked at, 2 if the input or the command line is wrong.",
        .children = output_options};
    Options options = {0};
    command_parse_options("membar", &argp, count, arguments, &options);
    return look_at_all(&options);
}
