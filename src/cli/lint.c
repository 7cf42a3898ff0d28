/* weir lint: what the hardware does not allow, in every kernel of the input. */
#include "cli/cli.h"

#include <stdlib.h>

typedef struct Options {
    RunOptions shared;
    bool emit;
    const char *port; /* what the kernels become on this target; NULL: not asked */
} Options;

static const struct argp_option option_table[] = {
    {NULL, 0, NULL, 0, "What is looked at:", 1},
    {"rule", SETS(RULES, Options, shared.run.rules), "RULE,...", 0,
     "only findings of these rules, or families of rules, count and are shown", 1},
    {"target", SETS(TEXT, Options, shared.run.target), "TARGET", 0,
     "judge by what this target allows: sm_90a, gfx950, ... (the module's own)", 1},
    {"triton", SETS(TEXT, Options, shared.run.triton), "RELEASE", 0,
     "the release of Triton that compiles the IR: 3.6, 3.7.1, ... (as far as the IR shows it)", 1},
    {"port", SETS(TEXT, Options, port), "TARGET", 0,
     "tell instead what becomes of each op and of each wait on gfx942, gfx950 or gfx1250", 1},
    {NULL, 0, NULL, 0, "How:", 2},
    {NULL, 0, NULL, 0, "What is told:", 3},
    {"emit", SETS(FLAG, Options, emit), NULL, 0,
     "print the IR with the fewest proxy fences that suffice, and nothing else", 3},
    {"verbose", 'v', NULL, 0, "a line for each clean kernel, too, its notes, and the time taken", 3},
    {0},
};

static error_t parse_option(int key, char *argument, struct argp_state *state) {
    static const OptionField fields[] = {{.letter = 'v', SETS(FLAG, Options, shared.verbose)}, {0}};
    const Options *options = state->input;
    if (key != ARGP_KEY_SUCCESS)
        return option_set(fields, key, argument, state);
    if (options->emit && options->port)
        argp_error(state, "--emit and --port print different things");
    if (options->emit && options->shared.format)
        argp_error(state, "--emit prints IR, and does not go with --format json");
    return 0;
}

static void lint_module(void *context, const char *path, weir_module *module, const weir_run_options *options) {
    session_tell(context, path, weir_run(module, options));
}

static void emit_module(void *context, const char *path, weir_module *module, const weir_run_options *options) {
    Session *session = context;
    weir_result *result = weir_run(module, options);
    int status = result ? session_emit(session, result, 0) : 0;
    if (!result)
        tell_failure(&session->teller, path, "there is not enough memory");
    else if (status)
        tell_failure(&session->teller, path,
                     status > 0 ? "no place was found for some fence" : "it could not be written");
    weir_result_free(result);
}

static int lint(Options *all) {
    RunOptions *options = &all->shared;
    Session session = {0};
    Teller *teller = &session.teller;
    if (!session_open(&session, options, "looked at") || !(teller->rules = calloc(weir_rule_count(), sizeof(size_t))))
        return STATUS_ERROR;
    bool several = options->inputs.count > 1;
    teller->how.flags |= options->verbose || !several ? 0 : WEIR_SKIP_CLEAN;
    options->run.lint = WEIR_LINT_ONLY;
    bool good = all->emit || session_write(&session, WEIR_VERDICTS);
    if (good)
        session_inputs(&session, all->emit ? emit_module : lint_module);
    if (!options->format && !options->quiet && !all->emit && several)
        session_summary(&session);
    return session_close(&session, good, true);
}

int command_lint(int count, char **arguments) {
    static const struct argp argp = {
        .options = option_table,
        .parser = parse_option,
        .args_doc = "FILE|DIR|-...",
        .doc = "Says what of a kernel in Triton GPU IR the hardware does not allow: sizes, alignments, counts, "
               "fences.\v"
               "FILE is a .ttgir or .mlir file or a log of compiler passes (MLIR_ENABLE_DUMP); of a DIR, every "
               ".ttgir and .mlir below it; - is standard input. `weir rules` lists what is looked for.\n"
               "Exit status: 0 if nothing is wrong, 1 if something is, 3 if nothing wrong was found but not "
               "everything could be looked at, 2 if the input or the command line is wrong.",
        .children = run_options};
    Options options = {0};
    command_parse_options("lint", &argp, count, arguments, &options);
    return options.port ? port_kernels(&options.shared, options.port) : lint(&options);
}
