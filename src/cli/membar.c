/* weir membar: the thread barriers that kernels need, those they have, and the IR with them put in. */
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    OPTION_MODEL = 256,
    OPTION_COMPARE,
    OPTION_WHY,
    OPTION_EMIT,
    OPTION_PRUNE,
    OPTION_FUNCTION,
    OPTION_MODULE,
    OPTION_ASSUME,
    OPTION_FORMAT,
};

typedef struct Options {
    RunOptions shared;
    size_t arguments; /* files and folders that were named */
    weir_membar_options membar;
    bool emit, prune;
} Options;

static const struct argp_option option_table[] = {
    {NULL, 0, NULL, 0, "What is looked at:", 1},
    {"function", OPTION_FUNCTION, "NAME", 0, "only this function of a module", 1},
    {"kernel", OPTION_FUNCTION, "NAME", OPTION_ALIAS, NULL, 1},
    {"module", OPTION_MODULE, "N|PASS", 0,
     "only module N, counted from 1, or those dumped by a pass; of a pass log else the last with a kernel", 1},
    {NULL, 0, NULL, 0, "How:", 2},
    {"model", OPTION_MODEL, "MODEL", 0,
     "async: what is in flight is known; near: a copy in flight is no write that came before; sync: every write is "
     "visible at once, as Triton has it (async)",
     2},
    {"assume", OPTION_ASSUME, "STAGE", 0,
     "inserted: the IR claims to have its barriers; before: they are put in later (what the IR says)", 2},
    {NULL, 0, NULL, 0, "What is told:", 3},
    {"compare", OPTION_COMPARE, "MODEL", 0, "where another model wants other barriers, and why", 3},
    {"why", OPTION_WHY, "LINE", 0, "explain a line of the IR: what is pending there, and what needs a barrier", 3},
    {"emit", OPTION_EMIT, NULL, 0, "print the IR with the barriers that it needs", 3},
    {"prune", OPTION_PRUNE, NULL, 0, "with --emit: and without those that are needless", 3},
    {"format", OPTION_FORMAT, "FORMAT", 0, "text, or json for programs", 3},
    {"quiet", 'q', NULL, 0, "print nothing: the exit status tells", 3},
    {"output", 'o', "FILE", 0, "write to FILE instead of standard output", 3},
    {0},
};

/* ---- Options --------------------------------------------------------------------------------- */

static const char *model_option(const char *name, struct argp_state *state) {
    if (strcmp(name, "sync") != 0 && strcmp(name, "near") != 0 && strcmp(name, "async") != 0)
        argp_error(state, "there is no model '%s'; there are sync, near and async", name);
    return name;
}

static void check_options(const Options *options, struct argp_state *state) {
    size_t files = options->shared.inputs.count;
    if (!files)
        argp_error(state, "no input file");
    if (options->prune && !options->emit)
        argp_error(state, "--prune goes with --emit");
    if (options->emit && (options->shared.json || options->membar.compare || options->membar.line))
        argp_error(state, "--emit prints IR, and goes with neither --format json nor --compare nor --why");
    if (options->membar.line && files > 1)
        argp_error(state, "--why explains a line of one FILE, and there are %zu", files);
}

static error_t parse_option(int key, char *argument, struct argp_state *state) {
    Options *options = state->input;
    switch (key) {
    case OPTION_MODEL:
        options->membar.model = model_option(argument, state);
        return 0;
    case OPTION_COMPARE:
        options->membar.compare = model_option(argument, state);
        return 0;
    case OPTION_WHY:
        options->membar.line = (uint32_t)option_number(state, "why", argument, UINT32_MAX);
        if (!options->membar.line)
            argp_error(state, "lines are counted from 1");
        return 0;
    case OPTION_EMIT:
        options->emit = true;
        return 0;
    case OPTION_PRUNE:
        options->prune = true;
        return 0;
    case OPTION_FUNCTION:
        options->membar.function = argument;
        return 0;
    case OPTION_MODULE:
        options->shared.module = argument;
        return 0;
    case OPTION_ASSUME:
        options->membar.stage = argument;
        if (strcmp(argument, "inserted") != 0 && strcmp(argument, "before") != 0)
            argp_error(state, "barriers are 'inserted', or it is 'before' that, not '%s'", argument);
        return 0;
    case OPTION_FORMAT:
        options->shared.json = strcmp(argument, "json") == 0;
        if (!options->shared.json && strcmp(argument, "text") != 0)
            argp_error(state, "barriers can be printed as text or as json, not as '%s'", argument);
        return 0;
    case 'q':
        options->shared.quiet = true;
        return 0;
    case 'o':
        options->shared.output = argument;
        return 0;
    case ARGP_KEY_ARG:
        if (!paths_add(&options->shared.inputs, argument))
            exit(STATUS_ERROR);
        return 0;
    case ARGP_KEY_END:
        check_options(options, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- Files ----------------------------------------------------------------------------------- */

typedef struct Session {
    const Options *options;
    Output *output;
    Teller teller;
    Progress progress;
    size_t emitted; /* modules */
    size_t answers; /* to a question about a line */
} Session;

static bool emit_module(Session *session, const weir_membar *membar) {
    if (session->options->shared.quiet)
        return true;
    if (session->emitted++)
        output_printf(session->output, "\n// -----\n\n");
    return weir_membar_emit(membar, session->options->prune, output_write, session->output) == 0;
}

static void tell_module(Session *session, const weir_membar *membar) {
    Teller *teller = &session->teller;
    weir_verdict verdict = weir_membar_verdict(membar);
    teller->verdict = weir_verdict_worse(teller->verdict, verdict);
    for (size_t i = 0; i < weir_membar_count(membar); i++)
        session->answers += weir_membar_at(membar, i).answers;
    if (verdict == WEIR_VERDICT_ERROR)
        weir_membar_errors(membar, isatty(STDERR_FILENO) ? WEIR_COLOUR : 0, teller->write_error, teller->error_to);
    if (teller->membars)
        weir_membars_add(teller->membars, membar);
    else if (session->options->emit && verdict != WEIR_VERDICT_ERROR && !emit_module(session, membar))
        teller->verdict = WEIR_VERDICT_ERROR;
}

static void look_at_module(void *context, const char *path, weir_module *module, const weir_run_options *options) {
    Session *session = context;
    (void)options; /* nothing is run */
    weir_membar *membar = weir_membar_make(module, &session->options->membar);
    progress_clear(&session->progress);
    if (membar)
        tell_module(session, membar);
    else
        tell_failure(&session->teller, path, "there is not enough memory");
    weir_membar_free(membar);
}

/* Whether everything could be said. */
static bool look_at_all(Session *session, weir_context *weir) {
    const Options *options = session->options;
    const Paths *inputs = &options->shared.inputs;
    Teller *teller = &session->teller;
    if (!options->shared.quiet && !options->emit &&
        !(teller->membars = weir_membars_begin(options->shared.json, teller->flags, output_write, session->output)))
        return false;
    for (size_t i = 0; i < inputs->count; i++) {
        if (progress_due(&session->progress))
            fprintf(stderr, "file %zu of %zu: %.100s", i + 1, inputs->count, inputs->items[i]);
        tell_modules(teller, weir, inputs->items[i], look_at_module, session);
    }
    progress_clear(&session->progress);
    bool good = !teller->membars || weir_membars_end(teller->membars) == 0;
    if (options->membar.line && !session->answers && teller->verdict != WEIR_VERDICT_ERROR) {
        complain("%s: no op of a function starts on line %u", inputs->items[0], options->membar.line);
        good = false;
    }
    return good;
}

/* ---- The command ----------------------------------------------------------------------------- */

static int membar(Options *options) {
    RunOptions *shared = &options->shared;
    weir_context *weir = weir_create();
    Session session = {.options = options, .output = output_open(shared->output), .progress = progress_start()};
    if (!weir || !session.output)
        return STATUS_ERROR;
    shared->no_launch = true;
    Teller *teller = &session.teller;
    *teller = teller_start(shared, output_write, session.output, progress_write_error, &session.progress);
    teller->doing = "looked at";
    bool good = look_at_all(&session, weir);
    bool keep = good && (!options->emit || teller->verdict != WEIR_VERDICT_ERROR);
    good &= output_close(session.output, keep);
    weir_verdict verdict = good ? teller->verdict : WEIR_VERDICT_ERROR;
    teller_free(teller);
    weir_destroy(weir);
    return weir_verdict_status(verdict);
}

int command_membar(int count, char **arguments) {
    static const struct argp argp = {
        option_table,
        parse_option,
        "FILE|DIR|-...",
        "Tells which thread barriers the functions in Triton GPU IR need: where, for which two accesses, and over "
        "which "
        "path; which of those that are there are needless; and which are missing.\v"
        "FILE is a .ttgir or .mlir file or a log of compiler passes (MLIR_ENABLE_DUMP); of a DIR, every .ttgir and "
        ".mlir below it is looked at; - is standard input. A compiler puts barriers in when it has placed shared "
        "memory: before that one is only needed, after that it is missing.\n"
        "Exit status: 0 if no barrier is missing, 1 if one is, 3 if none is but not everything could be looked at, 2 "
        "if "
        "the input or the command line is wrong.",
        NULL,
        NULL,
        NULL};
    Options options = {0};
    if (!command_parse_options("membar", &argp, count, arguments, &options))
        return STATUS_ERROR;
    int status = membar(&options);
    run_options_free(&options.shared);
    return status;
}
