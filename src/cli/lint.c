/* weir lint: what the hardware does not allow, in every kernel of the input. */
#include "cli/cli.h"

#include <stdlib.h>

static void check_options(const Options *options) {
    if (options->emit && options->port)
        wrong_usage(options, "--emit and --port print different things");
    if (options->port && options->format > WEIR_JSON)
        wrong_usage(options, "--port prints only text or json");
    if (options->emit && options->format)
        wrong_usage(options, "--emit prints IR, and cannot be combined with --format");
}

static void lint_module(void *context, const char *path, weir_module *module, const weir_run_options *options) {
    session_report(context, path, weir_run(module, options));
}

static void emit_module(void *context, const char *path, weir_module *module, const weir_run_options *options) {
    Session *session = context;
    if (weir_ptx_of(module).functions) {
        report_failure(&session->reporter, path, "fences are put into Triton GPU IR, not into PTX");
        return;
    }
    weir_result *result = weir_run(module, options);
    int status = result ? session_emit(session, result, 0) : 0;
    if (!result)
        report_failure(&session->reporter, path, "there is not enough memory");
    else if (status)
        report_failure(&session->reporter, path,
                       status > 0 ? "a fence could not be placed" : "it could not be written");
    weir_result_free(result);
}

static int lint(Options *options) {
    Session session = {0};
    Reporter *reporter = &session.reporter;
    if (!session_open(&session, options, "checked") || !reporter_count(reporter))
        return STATUS_ERROR;
    bool several = options->inputs.count > 1;
    reporter->how.flags |= options->verbose || !several ? 0 : WEIR_SKIP_CLEAN;
    reporter->how.flags |= options->verbose ? WEIR_SUPPRESSED : 0;
    options->run.lint = WEIR_LINT_ONLY;
    bool good = session_write(&session, WEIR_VERDICTS);
    if (good)
        session_inputs(&session, options->emit ? emit_module : lint_module);
    if (!options->emit && several)
        session_summary(&session);
    return session_close(&session, good, true);
}

int command_lint(Options *options) {
    shard_inputs(options);
    check_options(options);
    return options->port ? port_kernels(options) : lint(options);
}
