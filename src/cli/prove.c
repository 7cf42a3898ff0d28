/* weir prove: why kernels are clean at every launch, under which preconditions, and what is open; and certificates of
 * that, written and checked. */
#include "cli/cli.h"

#include <stdlib.h>

static void prove_module(void *context, const char *path, weir_module *module, const weir_run_options *options) {
    Session *session = context;
    progress_clear(&session->progress);
    output_printf(session->output, "%s\n", path);
    int status = weir_prove(module, options, output_write, session->output);
    if (status >= 0 && session->certificate) {
        int certified = weir_certify(module, options, output_write, session->certificate);
        if (status == 0 && certified == 1)
            complain("%s: of a kernel that is proved there is no certificate: the checker does not follow the proof",
                     path);
        status = certified;
    }
    if (status < 0) {
        complain("%s: something is wrong with its launch file, or with what was asked for", path);
        session->reporter.verdict = WEIR_VERDICT_ERROR;
    } else if (status > 0 && session->reporter.verdict == WEIR_VERDICT_CLEAN) {
        session->reporter.verdict = WEIR_VERDICT_INCOMPLETE;
    }
}

static int keep_text(void *to, const char *data, size_t size) {
    return fwrite(data, 1, size, to) == size ? 0 : -1;
}

static void verify_module(void *context, const char *path, weir_module *module, const weir_run_options *options) {
    Session *session = context;
    char *text = NULL;
    size_t size = 0;
    FILE *kept = open_memstream(&text, &size);
    int status = kept ? weir_verify(module, options, session->options->verify, keep_text, kept) : -1;
    progress_clear(&session->progress);
    if (kept)
        fclose(kept);
    if (status < 0 && !size)
        complain("%s: something is wrong with its launch file, or with what was asked for", path);
    else if (status < 0 || status == 2)
        complain("%.*s", (int)size - 1, text);
    else
        output_printf(session->output, "%s\n%s", path, text);
    if (status)
        session->reporter.verdict = status == 1 ? WEIR_VERDICT_FINDINGS : WEIR_VERDICT_ERROR;
    free(text);
}

int command_prove(Options *options) {
    Session session = {0};
    if (options->certificate && options->verify)
        wrong_usage(options, "--certificate writes a certificate and --verify reads one: not both");
    if ((options->certificate || options->verify) && options->inputs.count > 1)
        wrong_usage(options, "a certificate is about one FILE, and there are %zu", options->inputs.count);
    if (!session_open(&session, options, options->verify ? "verified" : "proved"))
        return STATUS_ERROR;
    if (options->certificate && !(session.certificate = output_open(options->certificate)))
        return session_close(&session, false, false);
    session_inputs(&session, options->verify ? verify_module : prove_module);
    bool good =
        !session.certificate || output_close(session.certificate, session.reporter.verdict != WEIR_VERDICT_ERROR);
    return session_close(&session, good, true);
}
