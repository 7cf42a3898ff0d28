/* weir report: the barrier report of kernels, and the difference of two. */
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    OPTION_MODULE = 256,
    OPTION_BUFFER_ID,
    OPTION_DIFF,
    OPTION_FORMAT,
    OPTION_WIDTH,
    OPTION_WIDE,
    OPTION_GLOSSARY,
};

enum { MOST_WIDTH = 100000 };

static const char *const format_names[] = {"text", "markdown", "json", "dot", "html"}; /* ORDER weir_report_format */

typedef struct Options {
    RunOptions shared;
    size_t arguments; /* files and folders that were named */
    bool diff, glossary, wide, one_buffer;
    int64_t buffer;
    weir_report_options report;
} Options;

static const struct argp_option option_table[] = {
    {NULL, 0, NULL, 0, "What is reported on:", 1},
    {"module", OPTION_MODULE, "N|PASS", 0,
     "only module N, counted from 1, or those dumped by a pass; of a pass log else the one with most to report", 1},
    {"buffer-id", OPTION_BUFFER_ID, "N", 0, "only the buffers with buffer.id N, and what is about them", 1},
    {"diff", OPTION_DIFF, NULL, 0, "compare the kernels of two files, OLD and NEW", 1},
    {NULL, 0, NULL, 0, "How:", 2},
    {NULL, 0, NULL, 0, "What is told:", 3},
    {"format", OPTION_FORMAT, "FORMAT", 0, "text, markdown, json, dot (a graph) or html (a page)", 3},
    {"width", OPTION_WIDTH, "N", 0, "columns that text may take (those of the terminal, or 80)", 3},
    {"wide", OPTION_WIDE, NULL, 0, "text may take any number of columns", 3},
    {"glossary", OPTION_GLOSSARY, NULL, 0, "explain the words that reports use", 3},
    {0},
};

static bool is_page(const Options *options) {
    return options->report.format == WEIR_REPORT_DOT || options->report.format == WEIR_REPORT_HTML;
}

static const char *format_name(const Options *options) {
    return format_names[options->report.format];
}

static void set_format(Options *options, const char *name, struct argp_state *state) {
    size_t count = sizeof format_names / sizeof *format_names, format = 0;
    while (format < count && strcmp(format_names[format], name) != 0)
        format++;
    if (format == count)
        argp_error(state, "a report can be printed as text, markdown, json, dot or html, not as '%s'", name);
    options->report.format = (weir_report_format)format;
}

static void check_options(const Options *options, struct argp_state *state) {
    size_t files = options->shared.inputs.count;
    if (options->glossary && options->arguments)
        argp_error(state, "--glossary explains words, and takes no FILE");
    if (options->diff && (options->arguments != 2 || files != 2))
        argp_error(state, "--diff compares two files, OLD and NEW");
    if (!options->diff && options->arguments > 1)
        argp_error(state, "a report is about one FILE or DIR, and there are %zu; --diff compares two files",
                   options->arguments);
    if (options->diff && is_page(options))
        argp_error(state, "a difference can be printed as text, markdown or json, not as %s", format_name(options));
    if (options->diff && options->one_buffer)
        argp_error(state, "--diff compares whole kernels, and not only a buffer");
    if (!options->diff && is_page(options) && files > 1)
        argp_error(state, "%s shows one kernel, and there are %zu input files", format_name(options), files);
}

static error_t parse_option(int key, char *argument, struct argp_state *state) {
    Options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &options->shared;
        return 0;
    case OPTION_MODULE:
        options->shared.module = argument;
        return 0;
    case OPTION_BUFFER_ID:
        options->one_buffer = true;
        options->buffer = (int64_t)option_number(state, "buffer-id", argument, INT64_MAX);
        return 0;
    case OPTION_DIFF:
        options->diff = true;
        return 0;
    case OPTION_FORMAT:
        set_format(options, argument, state);
        return 0;
    case OPTION_WIDTH:
        options->wide = false;
        options->report.width = (unsigned)option_number(state, "width", argument, MOST_WIDTH);
        if (options->report.width < LEAST_WIDTH)
            argp_error(state, "text takes %d columns at least; --wide lets it take all", LEAST_WIDTH);
        return 0;
    case OPTION_WIDE:
        options->wide = true;
        return 0;
    case OPTION_GLOSSARY:
        options->glossary = options->shared.no_input = true;
        return 0;
    case ARGP_KEY_ARG:
        options->arguments++;
        return ARGP_ERR_UNKNOWN; /* the shared options take it */
    case ARGP_KEY_END:
        check_options(options, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- Reports --------------------------------------------------------------------------------- */

typedef struct Session {
    const Options *options;
    Output *output;
    Teller teller;
    Progress progress;
    size_t reports; /* that there are */
    size_t told;    /* modules */
} Session;

/* The report of a module, to be freed; NULL, with a message, if there is none. */
static weir_barrier_report *make_report(Session *session, const char *path, weir_module *module,
                                        const weir_run_options *options) {
    weir_barrier_report *report = weir_barrier_report_make(module, options);
    progress_clear(&session->progress);
    if (!report) {
        tell_failure(&session->teller, path, "there is not enough memory");
        return NULL;
    }
    if (session->teller.why)
        weir_barrier_report_explain(report, session->teller.why);
    if (session->options->one_buffer)
        weir_barrier_report_keep_buffer(report, session->options->buffer);
    tell_verdict(&session->teller, weir_barrier_report_outcome(report));
    return report;
}

static void report_module(void *context, const char *path, weir_module *module, const weir_run_options *options) {
    Session *session = context;
    size_t kernels = options->kernel ? 1 : weir_kernel_count(module);
    session->reports += kernels ? kernels : 1; /* which says that there is none */
    if (is_page(session->options) && kernels > 1)
        return;
    weir_barrier_report *report = make_report(session, path, module, options);
    if (report && session->teller.reports)
        weir_reports_add(session->teller.reports, report);
    if (report && weir_barrier_report_count(report))
        session->told++;
    weir_barrier_report_free(report);
}

/* Whether everything could be said. */
static bool report_all(Session *session, weir_context *weir) {
    const Options *options = session->options;
    Teller *teller = &session->teller;
    if (!options->shared.quiet &&
        !(teller->reports = weir_reports_begin(&options->report, output_write, session->output)))
        return false;
    for (; session->progress.file < session->progress.files; session->progress.file++)
        tell_modules(teller, weir, options->shared.inputs.items[session->progress.file], report_module, session);
    bool good = !teller->reports || weir_reports_end(teller->reports) == 0;
    if (is_page(options) && session->reports > 1) {
        complain("%s: %s shows one kernel, and there are %zu kernels or modules; --kernel or --module picks one",
                 options->shared.inputs.items[0], format_name(options), session->reports);
        good = false;
    }
    return good;
}

/* ---- Differences ----------------------------------------------------------------------------- */

/* Two reports that are alive at the same time, since the new file is opened while the old module is. */
typedef struct Comparison {
    Session *session;
    weir_context *weir;
    weir_barrier_report *old;
    bool seen[2]; /* a module of old, of new */
    bool told;    /* that there is not one kernel */
    char *text;   /* what is to be said; NULL: nothing can be */
    size_t size;
    bool same;
} Comparison;

/* The report of the one kernel of a file; NULL, with a message, if there is none, or there are others. */
static weir_barrier_report *only_report(Comparison *comparison, size_t side, const char *path, weir_module *module,
                                        const weir_run_options *options) {
    Session *session = comparison->session;
    size_t kernels = options->kernel ? 1 : weir_kernel_count(module);
    bool again = comparison->seen[side];
    comparison->seen[side] = true;
    if (again || (weir_module_ok(module) && kernels != 1)) {
        if (!comparison->told)
            tell_failure(&session->teller, path,
                         again || kernels
                             ? "--diff compares one kernel, and there are several; --kernel or --module picks one"
                             : "--diff compares kernels, and there is none in it");
        comparison->told = true;
        return NULL;
    }
    weir_barrier_report *report = make_report(session, path, module, options);
    if (report && weir_barrier_report_count(report))
        return report;
    weir_barrier_report_free(report);
    return NULL;
}

static void compare_new(void *context, const char *path, weir_module *module, const weir_run_options *options) {
    Comparison *comparison = context;
    weir_barrier_report *new = only_report(comparison, 1, path, module, options);
    weir_difference *difference = new ? weir_difference_make(comparison->old, 0, new, 0) : NULL;
    FILE *stream = difference ? open_memstream(&comparison->text, &comparison->size) : NULL;
    bool good =
        stream && weir_difference_write(difference, &comparison->session->options->report, stream_write, stream) == 0;
    if ((stream && fclose(stream) != 0) || (new && !good))
        tell_failure(&comparison->session->teller, path, "there is not enough memory");
    comparison->same = difference && weir_difference_count(difference) == 0;
    weir_difference_free(difference);
    weir_barrier_report_free(new);
}

static void compare_old(void *context, const char *path, weir_module *module, const weir_run_options *options) {
    Comparison *comparison = context;
    Session *session = comparison->session;
    weir_barrier_report *old = only_report(comparison, 0, path, module, options);
    if (!old)
        return;
    comparison->old = old;
    session->progress.file = 1;
    tell_modules(&session->teller, comparison->weir, session->options->shared.inputs.items[1], compare_new, comparison);
    weir_barrier_report_free(old);
}

/* The exit status. */
static int compare(Session *session, weir_context *weir) {
    Comparison comparison = {.session = session, .weir = weir};
    Teller *teller = &session->teller;
    tell_modules(teller, weir, session->options->shared.inputs.items[0], compare_old, &comparison);
    bool good = teller->counts[WEIR_VERDICT_ERROR] == 0 && comparison.text;
    if (good && !session->options->shared.quiet)
        good = output_write(session->output, comparison.text, comparison.size) == 0;
    free(comparison.text);
    good &= output_close(session->output, good);
    return !good ? STATUS_ERROR : comparison.same ? STATUS_OK : weir_verdict_status(WEIR_VERDICT_FINDINGS);
}

/* ---- The command ----------------------------------------------------------------------------- */

static int show_glossary(Session *session) {
    bool good = weir_glossary(session->options->report.width, output_write, session->output) == 0;
    return output_close(session->output, good) && good ? STATUS_OK : STATUS_ERROR;
}

static int report(Options *options) {
    RunOptions *shared = &options->shared;
    weir_context *weir = weir_create();
    Session session = {.options = options, .output = output_open(shared->output), .progress = progress_start()};
    if (!weir || !session.output)
        return STATUS_ERROR;
    Teller *teller = &session.teller;
    *teller = teller_start(shared, output_write, session.output, progress_write_error, &session.progress);
    teller->pick = weir_barrier_report_module;
    teller->doing = "reported on";
    session.progress.files = shared->inputs.count;
    shared->run.progress = progress_show;
    shared->run.progress_context = &session.progress;
    options->report.flags = teller->flags & WEIR_COLOUR;
    int status;
    if (options->glossary) {
        status = show_glossary(&session);
    } else if (options->diff) {
        status = compare(&session, weir);
    } else {
        bool good = report_all(&session, weir);
        good &= output_close(session.output, good && (session.told || options->report.format == WEIR_REPORT_JSON));
        status = weir_verdict_status(good ? teller->verdict : WEIR_VERDICT_ERROR);
    }
    weir_destroy(weir);
    return status;
}

int command_report(int count, char **arguments) {
    static const struct argp_child children[] = {{&launch_options_argp, 0, NULL, 0}, {0}};
    static const struct argp argp = {
        option_table,
        parse_option,
        "FILE|DIR|-\n--diff OLD NEW\n--glossary",
        "Tells how the kernels in Triton GPU IR synchronise: what their partitions do, who signals whom, slots and "
        "phases of every barrier, the data they protect, whether anybody waits for ever, and whether all that is "
        "overwritten was waited for.\v"
        "FILE is a .ttgir or .mlir file or a log of compiler passes (MLIR_ENABLE_DUMP); of a DIR, every .ttgir and "
        ".mlir below it is reported on; - is standard input. Without a launch file and arguments, launches are "
        "chosen. --diff matches partitions by what they do, not by their number.\n"
        "Exit status: 0 if all is clean, 1 if something is wrong with a kernel, 3 if nothing wrong was found but not "
        "everything could be looked at, 2 if the input or the command line is wrong. With --diff: 0 if there is no "
        "difference, 1 if there is one, 2 if the input or the command line is wrong.",
        children,
        NULL,
        NULL};
    Options options = {0};
    if (!command_parse_options("report", &argp, count, arguments, &options))
        return STATUS_ERROR;
    if (options.wide)
        options.report.width = 0;
    else if (!options.report.width)
        options.report.width = output_width(options.shared.output);
    int status = report(&options);
    run_options_free(&options.shared);
    return status;
}
