/* weir report: the barrier report of kernels, and the difference of two. */
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_BUFFER_ID = 256, OPTION_WIDTH, OPTION_GLOSSARY };

enum { MOST_WIDTH = 100000 };

static const char *const format_names[] = {"text", "json", "markdown", "dot", "html", NULL}; /* ORDER weir_format */

typedef struct Options {
    RunOptions shared;
    size_t arguments; /* files and folders that were named */
    bool diff, glossary, wide, one_buffer;
    int64_t buffer;
    unsigned width;
} Options;

static const struct argp_option option_table[] = {
    {NULL, 0, NULL, 0, "What is reported on:", 1},
    {"module", SETS(TEXT, Options, shared.module), "N|PASS", 0,
     "only module N, counted from 1, or those dumped by a pass; of a pass log else the one with most to report", 1},
    {"buffer-id", OPTION_BUFFER_ID, "N", 0, "only the buffers with buffer.id N, and what is about them", 1},
    {"diff", SETS(FLAG, Options, diff), NULL, 0, "compare the kernels of two files, OLD and NEW", 1},
    {NULL, 0, NULL, 0, "How:", 2},
    {NULL, 0, NULL, 0, "What is told:", 3},
    {"format", SETS(CHOICE, Options, shared.format), "FORMAT", 0,
     "text, markdown, json, dot (a graph) or html (a page)", 3},
    {"width", OPTION_WIDTH, "N", 0, "columns that text may take (those of the terminal, or 80)", 3},
    {"wide", SETS(FLAG, Options, wide), NULL, 0, "text may take any number of columns", 3},
    {"glossary", OPTION_GLOSSARY, NULL, 0, "explain the words that reports use", 3},
    {0},
};

static bool is_page(const Options *options) {
    return options->shared.format == WEIR_DOT || options->shared.format == WEIR_HTML;
}

static const char *format_name(const Options *options) {
    return format_names[options->shared.format];
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
    static const OptionField fields[] = {{.sets = SETS(CHOICE, Options, shared.format),
                                          "a report can be printed as text, markdown, json, dot or html, not as '%s'",
                                          .words = format_names},
                                         {0}};
    Options *options = state->input;
    switch (key) {
    case OPTION_BUFFER_ID:
        options->one_buffer = true;
        options->buffer = (int64_t)option_number(state, "buffer-id", argument, 0, INT64_MAX);
        return 0;
    case OPTION_WIDTH:
        options->wide = false;
        options->width = (unsigned)option_number(state, "width", argument, 0, MOST_WIDTH);
        if (options->width < LEAST_WIDTH)
            argp_error(state, "text takes %d columns at least; --wide lets it take all", LEAST_WIDTH);
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
        return option_set(fields, key, argument, state);
    }
}

/* ---- Reports --------------------------------------------------------------------------------- */

typedef struct Reporting {
    Session session;
    const Options *options;
    size_t reports; /* that there are */
    size_t told;    /* modules */
} Reporting;

static void report_module(void *context, const char *path, weir_module *module, const weir_run_options *options) {
    Reporting *reporting = context;
    size_t kernels = options->kernel ? 1 : weir_kernel_count(module);
    reporting->reports += kernels ? kernels : 1; /* which says that there is none */
    if (is_page(reporting->options) && kernels > 1)
        return;
    weir_result *result = weir_run(module, options);
    reporting->told += result && weir_report_count(result);
    session_tell(&reporting->session, path, result);
}

static int report_all(Reporting *reporting) {
    const Options *options = reporting->options;
    bool good = session_write(&reporting->session, WEIR_REPORTS);
    if (good)
        session_inputs(&reporting->session, report_module);
    if (is_page(options) && reporting->reports > 1) {
        complain("%s: %s shows one kernel, and there are %zu kernels or modules; --kernel or --module picks one",
                 options->shared.inputs.items[0], format_name(options), reporting->reports);
        good = false;
    }
    return session_close(&reporting->session, good, reporting->told || options->shared.format == WEIR_JSON);
}

/* ---- Differences ----------------------------------------------------------------------------- */

/* Two results that are alive at the same time, since the new file is opened while the old module is. */
typedef struct Comparison {
    Session *session;
    weir_result *old;
    bool seen[2]; /* a module of old, of new */
    bool told;    /* that there is not one kernel */
    char *text;   /* what is to be said; NULL: nothing can be */
    size_t size;
    bool same;
} Comparison;

/* The report of the one kernel of a file; NULL, with a message, if there is none, or there are others. */
static weir_result *only_report(Comparison *comparison, size_t side, const char *path, weir_module *module,
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
    weir_result *result = weir_run(module, options);
    progress_clear(&session->progress);
    if (result)
        tell_verdict(&session->teller, result);
    else
        tell_failure(&session->teller, path, "there is not enough memory");
    if (result && weir_report_count(result))
        return result;
    weir_result_free(result);
    return NULL;
}

static void compare_new(void *context, const char *path, weir_module *module, const weir_run_options *options) {
    Comparison *comparison = context;
    Teller *teller = &comparison->session->teller;
    weir_result *new = only_report(comparison, 1, path, module, options);
    weir_result *difference = new ? weir_compare(comparison->old, 0, new, 0) : NULL;
    FILE *stream = difference ? open_memstream(&comparison->text, &comparison->size) : NULL;
    bool good = stream && weir_result_write(difference, &teller->how, stream_write, stream) == 0;
    if ((stream && fclose(stream) != 0) || (new && !good))
        tell_failure(teller, path, "there is not enough memory");
    comparison->same = difference && weir_result_verdict(difference) == WEIR_VERDICT_CLEAN;
    weir_result_free(difference);
    weir_result_free(new);
}

static void compare_old(void *context, const char *path, weir_module *module, const weir_run_options *options) {
    Comparison *comparison = context;
    Session *session = comparison->session;
    comparison->old = only_report(comparison, 0, path, module, options);
    if (!comparison->old)
        return;
    session->progress.file = 1;
    tell_modules(&session->teller, session->weir, session->options->inputs.items[1], compare_new, comparison);
    weir_result_free(comparison->old);
}

static int compare(Session *session) {
    Comparison comparison = {.session = session};
    Teller *teller = &session->teller;
    teller->how.subject = WEIR_DIFFERENCES;
    teller->how.format = session->options->format;
    tell_modules(teller, session->weir, session->options->inputs.items[0], compare_old, &comparison);
    bool good = teller->counts[WEIR_VERDICT_ERROR] == 0 && comparison.text;
    if (good && !session->options->quiet)
        good = output_write(session->output, comparison.text, comparison.size) == 0;
    free(comparison.text);
    teller->verdict = comparison.same ? WEIR_VERDICT_CLEAN : WEIR_VERDICT_FINDINGS; /* on the two together */
    return session_close(session, good, good);
}

/* ---- The command ----------------------------------------------------------------------------- */

static int report(Options *options) {
    RunOptions *shared = &options->shared;
    Reporting reporting = {.options = options};
    Session *session = &reporting.session;
    if (!session_open(session, shared, "reported on"))
        return STATUS_ERROR;
    session->teller.pick = weir_pick_module_of;
    session->teller.how.width = options->width;
    shared->run.report = true;
    shared->run.buffer = options->one_buffer ? &options->buffer : NULL;
    if (options->glossary)
        return session_close(session, weir_glossary(options->width, output_write, session->output) == 0, true);
    return options->diff ? compare(session) : report_all(&reporting);
}

int command_report(int count, char **arguments) {
    static const struct argp argp = {
        .options = option_table,
        .parser = parse_option,
        .args_doc = "FILE|DIR|-\n--diff OLD NEW\n--glossary",
        .doc = "Tells how the kernels in Triton GPU IR synchronise: what their partitions do, who signals whom, "
               "slots and phases of every barrier, the data they protect, whether anybody waits for ever, and "
               "whether all that is overwritten was waited for.\v" HELP_FILES HELP_BELOW "reported on" HELP_INPUT
               " Launches are chosen, also beside one that is given. --diff matches partitions by what "
               "they do, not by their number." HELP_STATUS
               " With --diff: 0 if there is no difference, 1 if there is one, 2 if the input or the command "
               "line is wrong.",
        .children = launch_options};
    Options options = {0};
    command_parse_options("report", &argp, count, arguments, &options);
    if (options.wide)
        options.width = 0;
    else if (!options.width)
        options.width = output_width(options.shared.output);
    return report(&options);
}
