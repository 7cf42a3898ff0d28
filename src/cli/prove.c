/* weir prove: why kernels are clean at every launch, under which preconditions, and what is open. */
#include "cli/cli.h"

static void prove_module(void *context, const char *path, weir_module *module, const weir_run_options *options) {
    Session *session = context;
    progress_clear(&session->progress);
    output_printf(session->output, "%s\n", path);
    int status = weir_prove(module, options, output_write, session->output);
    if (status < 0) {
        complain("%s: something is wrong with its launch file, or with what was asked for", path);
        session->reporter.verdict = WEIR_VERDICT_ERROR;
    } else if (status > 0 && session->reporter.verdict == WEIR_VERDICT_CLEAN) {
        session->reporter.verdict = WEIR_VERDICT_INCOMPLETE;
    }
}

int command_prove(Options *options) {
    Session session = {0};
    if (!session_open(&session, options, "proved"))
        return STATUS_ERROR;
    session_inputs(&session, prove_module);
    return session_close(&session, true, true);
}
