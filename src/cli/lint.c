/* weir lint: what the hardware does not allow, in every kernel of the input. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

typedef struct Options {
    RunOptions shared;
    bool emit;
    const char *port; /* what the kernels become on this target; NULL: not asked */
} Options;

enum { OPTION_TARGET = 256, OPTION_RULE, OPTION_EMIT, OPTION_PORT };

static const struct argp_option option_table[] = {
    {NULL, 0, NULL, 0, "What is looked at:", 1},
    {"rule", OPTION_RULE, "RULE,...", 0, "only findings of these rules, or families of rules, count and are shown", 1},
    {"target", OPTION_TARGET, "TARGET", 0, "judge by what this target allows: sm_90a, gfx950, ... (the module's own)",
     1},
    {"port", OPTION_PORT, "TARGET", 0,
     "tell instead what becomes of each op and of each wait on gfx942, gfx950 or gfx1250", 1},
    {NULL, 0, NULL, 0, "How:", 2},
    {NULL, 0, NULL, 0, "What is told:", 3},
    {"emit", OPTION_EMIT, NULL, 0, "print the IR with the fewest proxy fences that suffice, and nothing else", 3},
    {"verbose", 'v', NULL, 0, "a line for each clean kernel, too, its notes, and the time taken", 3},
    {0},
};

static error_t parse_option(int key, char *argument, struct argp_state *state) {
    Options *all = state->input;
    RunOptions *options = &all->shared;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = options;
        return 0;
    case OPTION_EMIT:
        all->emit = true;
        return 0;
    case OPTION_PORT:
        all->port = argument;
        return 0;
    case ARGP_KEY_SUCCESS:
        if (all->emit && all->port)
            argp_error(state, "--emit and --port print different things");
        if (all->emit && options->json)
            argp_error(state, "--emit prints IR, and does not go with --format json");
        return 0;
    case OPTION_RULE: {
        weir_string unknown = weir_rules_unknown(argument);
        if (unknown.data)
            argp_error(state, "there is no rule '%.*s'; 'weir rules' lists them", (int)unknown.size, unknown.data);
        options->run.rules = argument;
        return 0;
    }
    case OPTION_TARGET:
        options->run.target = argument;
        return 0;
    case 'v':
        options->verbose = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

typedef struct Session {
    const Options *options;
    Output *output;
    Teller teller;
    size_t emitted; /* modules */
} Session;

static void emit(Session *session, const char *path, weir_outcome *outcome) {
    Teller *teller = &session->teller;
    if (!tell_verdict(teller, outcome))
        teller->verdict = WEIR_VERDICT_ERROR;
    if (weir_outcome_verdict(outcome) == WEIR_VERDICT_ERROR || session->options->shared.quiet)
        return;
    if (session->emitted++)
        output_printf(session->output, "\n// -----\n\n");
    int status = weir_fences_emit(outcome, output_write, session->output);
    if (status)
        tell_failure(teller, path, status > 0 ? "no place was found for some fence" : "it could not be written");
}

static void lint_module(void *context, const char *path, weir_module *module, const weir_run_options *options) {
    Session *session = context;
    weir_outcome *outcome = weir_run(module, options);
    if (!outcome)
        tell_failure(&session->teller, path, "there is not enough memory");
    else if (session->options->emit)
        emit(session, path, outcome);
    else
        tell_outcome(&session->teller, outcome);
    weir_outcome_free(outcome);
}

static int lint(Options *all) {
    RunOptions *options = &all->shared;
    weir_context *weir = weir_create();
    Output *output = output_open(options->output);
    size_t *rules = calloc(weir_rule_count(), sizeof *rules);
    if (!weir || !output || !rules)
        return STATUS_ERROR;
    Progress progress = progress_start();
    Session session = {
        .options = all, .output = output, .teller = teller_start(options, output_write, output, stream_write, stderr)};
    Teller *teller = &session.teller;
    teller->doing = "looked at";
    teller->rules = rules;
    teller->flags |= options->verbose || options->inputs.count == 1 ? 0 : WEIR_SKIP_CLEAN;
    options->run.lint = WEIR_LINT_ONLY;
    bool json = options->json && !options->quiet;
    if (json && !(teller->json = weir_json_begin(output_write, output)))
        return STATUS_ERROR;
    for (size_t i = 0; i < options->inputs.count; i++)
        tell_modules(teller, weir, options->inputs.items[i], lint_module, &session);
    bool good = !json || weir_json_end(teller->json) == 0;
    if (!options->json && !options->quiet && !all->emit && options->inputs.count > 1)
        tell_summary(output, teller, options->inputs.count, &progress);
    good &= output_close(output, true);
    weir_verdict verdict = good ? teller->verdict : WEIR_VERDICT_ERROR;
    teller_free(teller);
    weir_destroy(weir);
    return weir_verdict_status(verdict);
}

int command_lint(int count, char **arguments) {
    static const struct argp_child children[] = {{&run_options_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        option_table,
        parse_option,
        "FILE|DIR|-...",
        "Says what of a kernel in Triton GPU IR the hardware does not allow: sizes, alignments, counts, fences.\v"
        "FILE is a .ttgir or .mlir file or a log of compiler passes (MLIR_ENABLE_DUMP); of a "
        "DIR, every .ttgir and .mlir below it; - is standard input. `weir rules` lists what is looked for.\n"
        "Exit status: 0 if nothing is wrong, 1 if something is, 3 if nothing wrong was found but not everything could "
        "be looked at, 2 if the input or the command line is wrong.",
        children,
        NULL,
        NULL};
    Options options = {0};
    if (!command_parse_options("lint", &argp, count, arguments, &options))
        return STATUS_ERROR;
    int status = options.port ? port_kernels(&options.shared, options.port) : lint(&options);
    run_options_free(&options.shared);
    return status;
}
