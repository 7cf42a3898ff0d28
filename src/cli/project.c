/* The project of a command: its file, the options that go over it, and what is said of it at the end. */
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static _Noreturn void fail(const Options *options) {
    weir_project_errors(options->project, isatty(STDERR_FILENO) ? WEIR_COLOR : 0, stream_write, stderr);
    exit(STATUS_ERROR);
}

static void set(const Options *options, const char *key, const char *value) {
    if (value && weir_project_set(options->project, key, value) != 0)
        fail(options);
}

void project_open(Options *options) {
    if (!(1u << options->command & (CHECK | RUN | LINT | PROVE | NVCC)))
        return;
    options->project = weir_project_create();
    if (!options->project) {
        complain("there is not enough memory");
        exit(STATUS_ERROR);
    }
    if (options->config && options->no_config)
        wrong_usage(options, "--config and --no-config cannot be combined");
    if (!options->no_config && weir_project_read(options->project, options->config) != 0)
        fail(options);
    set(options, "select", options->select);
    set(options, "ignore", options->ignore);
    set(options, "source-root", options->run.source_root);
    set(options, "baseline", options->baseline);
    if (options->strict)
        set(options, "severity", "promise.missing=warning");
    for (size_t i = 0; i < options->severities.count; i++)
        set(options, "severity", options->severities.items[i]);
    if (weir_project_baseline(options->project, options->update_baseline) != 0)
        fail(options);
    weir_project_options(options->project, &options->run);
    if (!options->timeout_given)
        weir_project_timeout(options->project, &options->run.timeout);
}

void project_filter(Options *options, size_t first) {
    Paths *inputs = &options->inputs;
    size_t kept = first;
    for (size_t i = first; i < inputs->count; i++)
        if (weir_project_means(options->project, inputs->items[i]))
            inputs->items[kept++] = inputs->items[i];
        else
            free(inputs->items[i]);
    options->left_out += inputs->count - kept;
    inputs->count = kept;
}

bool project_close(const Options *options, bool good) {
    static const char *const words[] = {"error", "warning", "note"}; /* ORDER weir_severity */
    if (good && options->update_baseline && weir_project_write_baseline(options->project) != 0) {
        weir_project_errors(options->project, 0, stream_write, stderr);
        return false;
    }
    size_t count = options->quiet ? 0 : weir_project_remarks(options->project);
    for (size_t i = 0; i < count; i++) {
        weir_remark remark = weir_project_remark_at(options->project, i);
        fprintf(stderr, "%s:%u: %s: %s\n", remark.file, remark.line, words[remark.severity], remark.text);
    }
    return true;
}
