/* weir run: run the kernels of the input on the emulator, and say whether all agents finish. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

static void check_options(const Options *options) {
    const weir_run_options *run = &options->run;
    bool several = options->inputs.count > 1;
    if (options->trace && several)
        wrong_usage(options, "--trace draws one run, and there are %zu input files", options->inputs.count);
    if (options->format && (options->steps || options->state))
        wrong_usage(options, "--%s is for people; --trace is for programs", options->steps ? "steps are" : "state is");
    if (run->global && !options->steps)
        wrong_usage(options, "--global adds to --steps");
    if (run->replay && (run->launch || run->argument_count || run->grid || run->block || run->cluster || run->shared))
        wrong_usage(options, "--replay takes grid and arguments from the trail");
}

typedef struct CliRun {
    Session session;
    const Options *options;
    /* Files in a row: of those that are open, their modules and how they are launched. */
    weir_module **modules;
    weir_run_options *launches;
    size_t open;
    bool steps_reported; /* of all of them together */
} CliRun;

/* ---- One module ------------------------------------------------------------------------------ */

static bool draw(const char *path, weir_result *result) {
    Output *file = output_open(strcmp(path, "-") == 0 ? NULL : path);
    if (!file)
        return false;
    bool good = weir_trace(result, output_write, file) == 0;
    if (!good)
        complain("there is no run to draw");
    return output_close(file, good) && good;
}

/* One run, in the ways that were asked for. */
static bool show(CliRun *run, weir_result *result) {
    const Options *options = run->options;
    Output *output = run->session.output;
    bool good = !options->trace || draw(options->trace, result);
    if (options->steps && !run->steps_reported && weir_steps(result, output_write, output) != 0) {
        complain("there is no run to print");
        good = false;
    }
    if (options->memory && weir_memory(result, options->memory, output_write, output) != 0) {
        complain("there is no memory '%s' to print", options->memory);
        good = false;
    }
    if (options->state && weir_state(result, options->state_step, output_write, output) != 0) {
        complain("the race engine has watched no such run");
        good = false;
    }
    return good;
}

static void report_run(CliRun *run, const char *path, weir_result *result) {
    bool good = !result || weir_result_verdict(result) == WEIR_VERDICT_ERROR || show(run, result);
    session_report(&run->session, path, result);
    if (!good)
        run->session.reporter.verdict = WEIR_VERDICT_ERROR;
}

static void run_module(void *context, const char *path, weir_module *module, const weir_run_options *options) {
    CliRun *run = context;
    weir_result *result = weir_run(module, options);
    progress_clear(&run->session.progress);
    report_run(run, path, result);
}

/* ---- Files in a row -------------------------------------------------------------------------- */

/* Whether launches share memory, so that one file after the other would tell less. */
static bool is_row(const Options *options) {
    bool found = options->run.replay != NULL;
    for (size_t i = 0; i < options->inputs.count && !found && !options->no_launch && !options->run.launch; i++) {
        char *launch = launch_beside(options->inputs.items[i], 1);
        found = launch && weir_launch_shares(launch);
        free(launch);
    }
    size_t *groups = calloc(options->inputs.count + 1, sizeof *groups);
    /* Without memory to tell, they are taken for one: that looks at more. */
    found = found || !groups ||
            weir_group_recordings((const char *const *)options->inputs.items, options->inputs.count, groups) != 0;
    for (size_t i = 0; i < options->inputs.count && !found; i++)
        found = groups[i] != i;
    free(groups);
    return found && options->inputs.count > 1;
}

static void run_row(CliRun *run) {
    const Paths *inputs = &run->options->inputs;
    weir_result **results = calloc(run->open, sizeof *results);
    bool good = results && weir_run_row(run->modules, run->launches, run->open, results) == 0;
    progress_clear(&run->session.progress);
    run->steps_reported =
        run->options->steps && good && weir_row_steps(results, run->open, output_write, run->session.output) == 0;
    for (size_t i = 0; i < run->open; i++)
        report_run(run, inputs->items[i], results ? results[i] : NULL);
    free(results);
}

/* Keeps the module, and opens the next file while it is there; with the last one all are run. */
static void keep_module(void *context, const char *path, weir_module *module, const weir_run_options *options) {
    CliRun *run = context;
    const Paths *inputs = &run->options->inputs;
    (void)path;
    run->modules[run->open] = module;
    run->launches[run->open++] = *options;
    if (run->open == inputs->count)
        run_row(run);
    else
        report_modules(&run->session.reporter, run->session.weir, inputs->items[run->open], keep_module, run);
    run->open--;
}

static void run_in_a_row(CliRun *run) {
    const Paths *inputs = &run->options->inputs;
    run->modules = calloc(inputs->count, sizeof(weir_module *));
    run->launches = calloc(inputs->count, sizeof *run->launches);
    if (run->modules && run->launches)
        report_modules(&run->session.reporter, run->session.weir, inputs->items[0], keep_module, run);
    else
        report_failure(&run->session.reporter, inputs->items[0], "there is not enough memory");
    free(run->modules);
    free(run->launches);
}

/* ---- The command ----------------------------------------------------------------------------- */

static void summarize(const CliRun *run) {
    const Reporter *reporter = &run->session.reporter;
    const size_t *counts = reporter->counts;
    char scopes[SCOPES_SIZE];
    scopes_describe(reporter->scopes, scopes, sizeof scopes);
    output_printf(run->session.output,
                  "%zu files, %zu kernel%s: %zu clean%s, %zu with findings, %zu incomplete; %zu input%s failed\n",
                  run->options->inputs.count, reporter->kernels, reporter->kernels == 1 ? "" : "s",
                  counts[WEIR_VERDICT_CLEAN], scopes, counts[WEIR_VERDICT_FINDINGS], counts[WEIR_VERDICT_INCOMPLETE],
                  counts[WEIR_VERDICT_ERROR], counts[WEIR_VERDICT_ERROR] == 1 ? "" : "s");
}

int command_run(Options *options) {
    CliRun run = {.options = options};
    check_options(options);
    options->only_launch = true; /* the run that is asked for */
    if (!session_open(&run.session, options, "run"))
        return STATUS_ERROR;
    run.session.reporter.how.flags |= options->verbose ? WEIR_LAUNCHES | WEIR_SUPPRESSED : 0;
    bool good = session_write(&run.session, WEIR_VERDICTS);
    if (good && is_row(options))
        run_in_a_row(&run);
    else if (good)
        session_inputs(&run.session, run_module);
    if (!options->format && !options->quiet && options->inputs.count > 1)
        summarize(&run);
    return session_close(&run.session, good, true);
}
