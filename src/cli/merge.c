/* weir merge: what several processes found, as one verdict. */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

static void say_counts(const weir_merged *merged, size_t files) {
    size_t kernels = 0;
    for (weir_verdict i = WEIR_VERDICT_CLEAN; i < WEIR_VERDICT_ERROR; i++)
        kernels += merged->kernels[i];
    char scopes[SCOPES_SIZE];
    scopes_describe(merged->scopes, scopes, sizeof scopes);
    fprintf(stderr, "weir: %zu file%s, %zu kernel%s: %zu clean%s, %zu with findings, %zu incomplete; ", files,
            files == 1 ? "" : "s", kernels, kernels == 1 ? "" : "s", merged->kernels[WEIR_VERDICT_CLEAN], scopes,
            merged->kernels[WEIR_VERDICT_FINDINGS], merged->kernels[WEIR_VERDICT_INCOMPLETE]);
    size_t unread = merged->kernels[WEIR_VERDICT_ERROR];
    fprintf(stderr, "%zu input%s not read; %zu finding%s", unread, unread == 1 ? "" : "s", merged->findings,
            merged->findings == 1 ? "" : "s");
    if (merged->notes)
        fprintf(stderr, ", %zu note%s", merged->notes, merged->notes == 1 ? "" : "s");
    if (merged->suppressed)
        fprintf(stderr, ", %zu suppressed", merged->suppressed);
    fputc('\n', stderr);
}

/* Nothing is printed. */
static int write_nowhere(void *to, const char *data, size_t size) {
    (void)to, (void)data, (void)size;
    return 0;
}

/* ---- Order logs -------------------------------------------------------------------------------- */

static bool is_log(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot && strcmp(dot, ORDER_LOGS_END) == 0;
}

bool merge_logs(const Paths *files, const char *to) {
    weir_context *weir = weir_create();
    Output *output = output_open(to);
    bool good = weir && output &&
                weir_merge_logs(weir, (const char *const *)files->items, files->count, output_write, output) == 0;
    if (weir && *weir_error(weir))
        complain("%s", weir_error(weir));
    good = output && output_close(output, good) && good;
    weir_destroy(weir);
    return good;
}

/* ---- The command --------------------------------------------------------------------------------- */

int command_merge(Options *options) {
    const Paths *files = &options->operands;
    size_t logs = 0;
    if (!files->count)
        wrong_usage(options, "no file to merge");
    for (size_t i = 0; i < files->count; i++)
        logs += is_log(files->items[i]);
    if (logs && logs < files->count)
        wrong_usage(options, "order logs are merged with order logs alone");
    if (logs)
        return merge_logs(files, options->output) ? STATUS_OK : STATUS_ERROR;
    weir_context *weir = weir_create();
    Output *output = output_open(options->output);
    weir_merged merged = {.verdict = WEIR_VERDICT_ERROR};
    bool good = false;
    if (weir && output) {
        good = weir_merge(weir, (const char *const *)files->items, files->count, options->run.require,
                          options->quiet ? write_nowhere : output_write, output, &merged) == 0;
        if (*weir_error(weir))
            complain("%s", weir_error(weir));
        good &= output_close(output, good && !options->quiet);
    }
    if (good && !options->quiet)
        say_counts(&merged, files->count);
    weir_destroy(weir);
    return good ? weir_verdict_status(merged.verdict) : STATUS_ERROR;
}
