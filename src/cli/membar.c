/* weir membar: the thread barriers that kernels need, those they have, and the IR with them inserted. */
#include "cli/cli.h"

static void check_options(const Options *options) {
    size_t files = options->inputs.count;
    if (options->prune && !options->emit)
        wrong_usage(options, "--prune requires --emit");
    if (options->emit && (options->format || options->membar.compare || options->membar.line))
        wrong_usage(options, "--emit prints IR, and cannot be combined with --format json, --compare or --why");
    if (options->membar.line && files > 1)
        wrong_usage(options, "--why explains a line of one FILE, and there are %zu", files);
}

typedef struct CliMembar {
    Session session;
    const Options *options;
    size_t answers; /* to a question about a line */
} CliMembar;

static void look_at_module(void *context, const char *path, weir_module *module, const weir_run_options *options) {
    CliMembar *membar = context;
    Session *session = &membar->session;
    (void)options; /* nothing is run */
    weir_result *result = weir_membar(module, &membar->options->membar);
    for (size_t i = 0; result && i < weir_result_kernels(result); i++)
        membar->answers += weir_kernel_at(result, i).answers;
    if (!result || !membar->options->emit) {
        session_report(session, path, result);
        return;
    }
    if (session_emit(session, result, membar->options->prune ? WEIR_PRUNE : 0) != 0)
        session->reporter.verdict = WEIR_VERDICT_ERROR;
    weir_result_free(result);
}

int command_membar(Options *options) {
    CliMembar membar = {.options = options};
    Session *session = &membar.session;
    check_options(options);
    options->no_launch = true;
    options->membar.function = options->run.kernel; /* of a pass log, the compilations that have it */
    options->membar.timeout = options->run.timeout;
    options->membar.triton = options->run.triton;
    if (!session_open(session, options, "checked"))
        return STATUS_ERROR;
    bool good = session_write(session, WEIR_BARRIERS);
    if (good)
        session_inputs(session, look_at_module);
    if (options->membar.line && !membar.answers && session->reporter.verdict != WEIR_VERDICT_ERROR) {
        complain("%s: no op of a function starts on line %u", options->inputs.items[0], options->membar.line);
        good = false;
    }
    return session_close(session, good, !options->emit || session->reporter.verdict != WEIR_VERDICT_ERROR);
}
