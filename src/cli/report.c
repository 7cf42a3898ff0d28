/* weir report: the barrier report of kernels, and the difference of two. */
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const format_names[] = {"text", "json", "markdown", "dot", "html", NULL}; /* ORDER weir_format */

static bool is_page(const Options *options) {
    return options->format == WEIR_DOT || options->format == WEIR_HTML;
}

static const char *format_name(const Options *options) {
    return format_names[options->format];
}

static void check_options(const Options *options) {
    size_t files = options->inputs.count, operands = options->operands.count;
    if (options->glossary && operands)
        wrong_usage(options, "--glossary explains words, and takes no FILE");
    if (options->diff && (operands != 2 || files != 2))
        wrong_usage(options, "--diff compares two files, OLD and NEW");
    if (!options->diff && operands > 1)
        wrong_usage(options, "a report is about one FILE or DIR, and there are %zu; --diff compares two files",
                    operands);
    if (options->diff && is_page(options))
        wrong_usage(options, "a difference can be printed as text, markdown or json, not as %s", format_name(options));
    if (options->sections && options->format != WEIR_TEXT)
        wrong_usage(options, "--section picks sections of text; %s has all of them", format_name(options));
    if (options->sections && options->full)
        wrong_usage(options, "--section picks sections, and --full prints all: give one of them");
    if (options->diff && (options->sections || options->full))
        wrong_usage(options, "--diff compares whole kernels, and prints no sections");
    if (options->diff && options->one_buffer)
        wrong_usage(options, "--diff compares whole kernels, and not only a buffer");
    if (!options->diff && is_page(options) && files > 1)
        wrong_usage(options, "%s shows one kernel, and there are %zu input files", format_name(options), files);
}

/* ---- Reports --------------------------------------------------------------------------------- */

typedef struct CliReporting {
    Session session;
    const Options *options;
    size_t reports;  /* that there are */
    size_t reported; /* modules */
} CliReporting;

static void report_module(void *context, const char *path, weir_module *module, const weir_run_options *options) {
    CliReporting *reporting = context;
    size_t kernels = options->kernel ? 1 : weir_kernel_count(module);
    reporting->reports += kernels ? kernels : 1; /* which says that there is none */
    if (is_page(reporting->options) && kernels > 1)
        return;
    weir_result *result = weir_run(module, options);
    reporting->reported += result && weir_report_count(result);
    session_report(&reporting->session, path, result);
}

static int report_all(CliReporting *reporting) {
    const Options *options = reporting->options;
    bool good = session_write(&reporting->session, WEIR_REPORTS);
    if (good)
        session_inputs(&reporting->session, report_module);
    if (is_page(options) && reporting->reports > 1) {
        complain("%s: %s shows one kernel, and there are %zu kernels or modules; --kernel or --module picks one",
                 options->inputs.items[0], format_name(options), reporting->reports);
        good = false;
    }
    return session_close(&reporting->session, good, reporting->reported || options->format == WEIR_JSON);
}

/* ---- Differences ----------------------------------------------------------------------------- */

/* Two results that are alive at the same time, since the new file is opened while the old module is. */
typedef struct ReportComparison {
    Session *session;
    weir_result *old;
    bool seen[2];  /* a module of old, of new */
    bool reported; /* that there is not one kernel */
    char *text;    /* what is to be said; NULL: nothing can be */
    size_t size;
    bool same;
} ReportComparison;

/* The report of the one kernel of a file; NULL, with a message, if there is none, or there are others. */
static weir_result *only_report(ReportComparison *comparison, size_t side, const char *path, weir_module *module,
                                const weir_run_options *options) {
    Session *session = comparison->session;
    size_t kernels = options->kernel ? 1 : weir_kernel_count(module);
    bool again = comparison->seen[side];
    comparison->seen[side] = true;
    if (again || (weir_module_ok(module) && kernels != 1)) {
        if (!comparison->reported)
            report_failure(&session->reporter, path,
                           again || kernels
                               ? "--diff compares one kernel, and there are several; --kernel or --module picks one"
                               : "--diff compares kernels, and there is none in it");
        comparison->reported = true;
        return NULL;
    }
    weir_result *result = weir_run(module, options);
    progress_clear(&session->progress);
    if (result)
        report_verdict(&session->reporter, result);
    else
        report_failure(&session->reporter, path, "there is not enough memory");
    if (result && weir_report_count(result))
        return result;
    weir_result_free(result);
    return NULL;
}

static void compare_new(void *context, const char *path, weir_module *module, const weir_run_options *options) {
    ReportComparison *comparison = context;
    Reporter *reporter = &comparison->session->reporter;
    weir_result *new = only_report(comparison, 1, path, module, options);
    weir_result *difference = new ? weir_compare(comparison->old, 0, new, 0) : NULL;
    FILE *stream = difference ? open_memstream(&comparison->text, &comparison->size) : NULL;
    bool good = stream && weir_result_write(difference, &reporter->how, stream_write, stream) == 0;
    if ((stream && fclose(stream) != 0) || (new && !good))
        report_failure(reporter, path, "there is not enough memory");
    comparison->same = difference && weir_result_verdict(difference) == WEIR_VERDICT_CLEAN;
    weir_result_free(difference);
    weir_result_free(new);
}

static void compare_old(void *context, const char *path, weir_module *module, const weir_run_options *options) {
    ReportComparison *comparison = context;
    Session *session = comparison->session;
    comparison->old = only_report(comparison, 0, path, module, options);
    if (!comparison->old)
        return;
    session->progress.file = 1;
    report_modules(&session->reporter, session->weir, session->options->inputs.items[1], compare_new, comparison);
    weir_result_free(comparison->old);
}

static int compare(Session *session) {
    ReportComparison comparison = {.session = session};
    Reporter *reporter = &session->reporter;
    reporter->how.subject = WEIR_DIFFERENCES;
    reporter->how.format = session->options->format;
    report_modules(reporter, session->weir, session->options->inputs.items[0], compare_old, &comparison);
    bool good = reporter->counts[WEIR_VERDICT_ERROR] == 0 && comparison.text;
    if (good && !session->options->quiet)
        good = output_write(session->output, comparison.text, comparison.size) == 0;
    free(comparison.text);
    reporter->verdict = comparison.same ? WEIR_VERDICT_CLEAN : WEIR_VERDICT_FINDINGS; /* on the two together */
    return session_close(session, good, good);
}

/* ---- The command ----------------------------------------------------------------------------- */

int command_report(Options *options) {
    CliReporting reporting = {.options = options};
    Session *session = &reporting.session;
    int64_t buffer = (int64_t)options->buffer;
    unsigned width = options->width == ANY_WIDTH ? 0 : options->width ? options->width : output_width(options->output);
    check_options(options);
    if (!session_open(session, options, "reported on"))
        return STATUS_ERROR;
    session->reporter.pick = weir_pick_module_of;
    session->reporter.how.width = width;
    session->reporter.how.sections = options->sections;
    session->reporter.how.flags |= options->sections || options->full ? 0 : WEIR_SUMMARY;
    options->run.report = true;
    options->run.lint = WEIR_LINT_ALSO; /* the verdict is that of weir check */
    options->run.membar = WEIR_MEMBAR_FINDINGS;
    options->run.buffer = options->one_buffer ? &buffer : NULL;
    if (options->glossary)
        return session_close(session, weir_glossary(width, output_write, session->output) == 0, true);
    return options->diff ? compare(session) : report_all(&reporting);
}
