/* weir run: run the kernels of the input on the emulator, and say whether all agents come to their end. */
#include "cli/cli.h"
#include "weir/weir.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    OPTION_LAUNCH = 256,
    OPTION_NO_LAUNCH,
    OPTION_ARG,
    OPTION_GRID,
    OPTION_KERNEL,
    OPTION_MODULE,
    OPTION_SCHEDULE,
    OPTION_SEED,
    OPTION_SCHEDULES,
    OPTION_BUDGET,
    OPTION_MMA_ORDER,
    OPTION_FORMAT,
    OPTION_WITNESS,
    OPTION_REPLAY,
    OPTION_TRACE,
    OPTION_STEPS,
};

typedef struct Options {
    Paths inputs;
    weir_run_options run;
    const char **arguments;
    size_t capacity;
    bool no_launch, json, steps, quiet, verbose;
    const char *module, *witness, *trace, *output;
} Options;

static const struct argp_option option_table[] = {
    {NULL, 0, NULL, 0, "What is run:", 1},
    {"launch", OPTION_LAUNCH, "FILE", 0, "take grid and arguments from FILE, not from K.launch.json beside K.ttgir", 0},
    {"no-launch", OPTION_NO_LAUNCH, NULL, 0, "look for no launch file", 0},
    {"arg", OPTION_ARG, "NAME=VALUE", 0, "give an argument of the kernel; as often as there are arguments", 0},
    {"grid", OPTION_GRID, "X,Y,Z", 0, "how many programs are launched", 0},
    {"kernel", OPTION_KERNEL, "NAME", 0, "run only this kernel of a module", 0},
    {"module", OPTION_MODULE, "N|PASS", 0,
     "only module N, counted from 1, or those dumped by a pass; of a pass log else the last with a kernel", 0},
    {"replay", OPTION_REPLAY, "TRAIL", 0, "run what a witness says, step for step, and nothing else", 0},
    {NULL, 0, NULL, 0, "In which order:", 2},
    {"schedule", OPTION_SCHEDULE, "NAME", 0,
     "directed (the usual one: decides for all), eager, lazy, round-robin, random, or all", 0},
    {"seed", OPTION_SEED, "N", 0, "the first of the random schedules (0)", 0},
    {"schedules", OPTION_SCHEDULES, "N", 0, "how many random schedules (8)", 0},
    {"budget", OPTION_BUDGET, "N", 0, "stop a run after N steps (20000000); with all: after N states (200000)", 0},
    {"mma-order", OPTION_MMA_ORDER, "ORDER", 0,
     "tensor-core work completes in the order of its issue (issue), or as waits alone say (waits)", 0},
    {NULL, 0, NULL, 0, "What is told:", 3},
    {"format", OPTION_FORMAT, "FORMAT", 0, "text, or json for programs", 0},
    {"witness", OPTION_WITNESS, "DIR", 0, "write the run that shows a finding to DIR/KERNEL-N.trail, for --replay", 0},
    {"steps", OPTION_STEPS, NULL, 0, "print a run step by step: that of the first finding, if there is one", 0},
    {"trace", OPTION_TRACE, "FILE", 0, "draw that run, for ui.perfetto.dev; - is standard output", 0},
    {"verbose", 'v', NULL, 0, "list the launches that were run", 0},
    {"quiet", 'q', NULL, 0, "print nothing: the exit status tells", 0},
    {"output", 'o', "FILE", 0, "write to FILE instead of standard output", 0},
    {0},
};

static uint64_t number_of(struct argp_state *state, const char *option, const char *text, uint64_t most) {
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (errno || *end || *text < '0' || *text > '9' || number > most)
        argp_error(state, "--%s takes a number, not '%s'", option, text);
    return number;
}

static void add_argument(Options *options, const char *argument) {
    weir_run_options *run = &options->run;
    if (run->argument_count == options->capacity) {
        options->capacity = options->capacity ? options->capacity * 2 : 8;
        options->arguments = realloc(options->arguments, options->capacity * sizeof *options->arguments);
        if (!options->arguments) {
            complain("there is not enough memory");
            exit(STATUS_ERROR);
        }
        run->arguments = options->arguments;
    }
    options->arguments[run->argument_count++] = argument;
}

static void check_options(const Options *options, struct argp_state *state) {
    bool several = options->inputs.count > 1;
    if (!options->inputs.count)
        argp_error(state, "no input file");
    if (options->trace && several)
        argp_error(state, "--trace draws one run, and there are %zu input files", options->inputs.count);
    if (options->run.replay && several)
        argp_error(state, "--replay runs one kernel, and there are %zu input files", options->inputs.count);
    if (options->json && options->steps)
        argp_error(state, "--steps are for people; --trace is for programs");
    if (options->run.replay && (options->run.launch || options->run.argument_count || options->run.grid))
        argp_error(state, "--replay takes grid and arguments from the trail");
}

static error_t parse_option(int key, char *argument, struct argp_state *state) {
    Options *options = state->input;
    switch (key) {
    case OPTION_LAUNCH:
        options->run.launch = argument;
        return 0;
    case OPTION_NO_LAUNCH:
        options->no_launch = true;
        return 0;
    case OPTION_ARG:
        add_argument(options, argument);
        return 0;
    case OPTION_GRID:
        options->run.grid = argument;
        return 0;
    case OPTION_KERNEL:
        options->run.kernel = argument;
        return 0;
    case OPTION_MODULE:
        options->module = argument;
        return 0;
    case OPTION_SCHEDULE:
        options->run.schedule = argument;
        return 0;
    case OPTION_SEED:
        options->run.seed = number_of(state, "seed", argument, UINT64_MAX);
        return 0;
    case OPTION_SCHEDULES:
        options->run.schedules = (unsigned)number_of(state, "schedules", argument, 1000000);
        return 0;
    case OPTION_BUDGET:
        options->run.budget = number_of(state, "budget", argument, UINT64_MAX / 2);
        return 0;
    case OPTION_MMA_ORDER:
        options->run.mma_order = argument;
        return 0;
    case OPTION_FORMAT:
        options->json = strcmp(argument, "json") == 0;
        if (!options->json && strcmp(argument, "text") != 0)
            argp_error(state, "a verdict can be printed as text or as json, not as '%s'", argument);
        return 0;
    case OPTION_WITNESS:
        options->witness = argument;
        return 0;
    case OPTION_REPLAY:
        options->run.replay = argument;
        return 0;
    case OPTION_TRACE:
        options->trace = argument;
        return 0;
    case OPTION_STEPS:
        options->steps = true;
        return 0;
    case 'v':
        options->verbose = true;
        return 0;
    case 'q':
        options->quiet = true;
        return 0;
    case 'o':
        options->output = argument;
        return 0;
    case ARGP_KEY_ARG:
        if (!paths_add(&options->inputs, argument))
            exit(STATUS_ERROR);
        return 0;
    case ARGP_KEY_END:
        check_options(options, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- Progress -------------------------------------------------------------------------------- */

typedef struct Session {
    const Options *options;
    weir_context *weir;
    Output *output;
    weir_json *json; /* NULL: text */
    weir_verdict verdict;
    size_t file;           /* which of the inputs */
    size_t files, kernels; /* that were run */
    size_t counts[4];      /* kernels by verdict; of errors: inputs */
    size_t witnesses;      /* written */
    double started, shown;
    bool showing;
} Session;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* For whoever watches a terminal; overwritten by the next, and cleared before anything is printed. */
static void show_progress(void *context, const char *kernel, const char *launch, uint64_t cluster, uint64_t clusters) {
    Session *session = context;
    if (!isatty(STDERR_FILENO) || now() - session->started < 1 || now() - session->shown < 0.1)
        return;
    session->shown = now();
    session->showing = true;
    fputs("\r\033[K", stderr);
    if (session->options->inputs.count > 1)
        fprintf(stderr, "file %zu of %zu, ", session->file + 1, session->options->inputs.count);
    fprintf(stderr, "@%.60s, %.80s, cluster %llu of %llu", kernel, launch, (unsigned long long)cluster + 1,
            (unsigned long long)clusters);
}

static void clear_progress(Session *session) {
    if (session->showing)
        fputs("\r\033[K", stderr);
    session->showing = false;
}

/* ---- One module ------------------------------------------------------------------------------ */

static int write_error(void *to, const char *data, size_t size) {
    return fwrite(data, 1, size, to) == size ? 0 : -1;
}

static void count_error(Session *session) {
    session->verdict = WEIR_VERDICT_ERROR;
    session->counts[WEIR_VERDICT_ERROR]++;
}

static void fail_input(Session *session, const char *path, const char *sentence) {
    clear_progress(session);
    complain("%s: %s", path, sentence);
    if (session->json)
        weir_json_error(session->json, path, sentence);
    count_error(session);
}

/* A kernel's name as the name of a file. */
static void add_file_name(char *to, size_t size, const char *kernel) {
    size_t at = 0;
    for (; kernel[at] && at + 1 < size; at++) {
        char c = kernel[at];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
        to[at] = plain ? c : '_';
    }
    to[at] = 0;
}

/* False, with a message, if one cannot be written. Numbers run through all inputs, whose kernels may have one name. */
static bool write_witnesses(Session *session, weir_outcome *outcome) {
    const char *folder = session->options->witness;
    if (!folder)
        return true;
    for (size_t i = 0; i < weir_finding_count(outcome); i++) {
        weir_finding finding = weir_finding_at(outcome, i);
        char name[128], *path = NULL;
        if (!*finding.witness)
            continue;
        if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
            complain("%s: %s", folder, strerror(errno));
            return false;
        }
        add_file_name(name, sizeof name, finding.kernel);
        if (asprintf(&path, "%s/%s-%zu.trail", folder, name, ++session->witnesses) < 0)
            return false;
        Output *file = output_open(path);
        bool good = file && output_write(file, finding.witness, strlen(finding.witness)) == 0;
        good = file && output_close(file, good) && good;
        if (good)
            weir_finding_keep_witness(outcome, i, path);
        free(path);
        if (!good)
            return false;
    }
    return true;
}

static bool draw(Session *session, weir_outcome *outcome) {
    const char *path = session->options->trace;
    Output *file = output_open(strcmp(path, "-") == 0 ? NULL : path);
    if (!file)
        return false;
    bool good = weir_trace(outcome, output_write, file) == 0;
    if (!good)
        complain("there is no run to draw");
    return output_close(file, good) && good;
}

static bool show(Session *session, weir_outcome *outcome) {
    const Options *options = session->options;
    unsigned colour = isatty(STDOUT_FILENO) && !options->output ? WEIR_COLOUR : 0;
    bool good = write_witnesses(session, outcome);
    if (options->trace)
        good &= draw(session, outcome);
    if (options->steps && weir_steps(outcome, output_write, session->output) != 0) {
        complain("there is no run to tell of");
        good = false;
    }
    if (session->json)
        weir_json_add(session->json, outcome);
    else if (!options->quiet)
        good &= weir_outcome_text(outcome, colour | (options->verbose ? WEIR_LAUNCHES : 0), output_write,
                                  session->output) == 0;
    return good;
}

static void run_module(Session *session, weir_module *module, const char *path, const weir_run_options *options) {
    weir_outcome *outcome = weir_run(module, options);
    clear_progress(session);
    if (!outcome) {
        fail_input(session, path, "there is not enough memory");
        return;
    }
    weir_verdict verdict = weir_outcome_verdict(outcome);
    if (verdict == WEIR_VERDICT_ERROR) {
        weir_outcome_errors(outcome, isatty(STDERR_FILENO) ? WEIR_COLOUR : 0, write_error, stderr);
        if (session->json)
            weir_json_add(session->json, outcome);
        count_error(session);
    } else {
        session->kernels += weir_outcome_kernels(outcome);
        for (weir_verdict i = WEIR_VERDICT_CLEAN; i < WEIR_VERDICT_ERROR; i++)
            session->counts[i] += weir_outcome_count(outcome, i);
        session->verdict = weir_verdict_worse(session->verdict, verdict);
        if (!show(session, outcome))
            session->verdict = WEIR_VERDICT_ERROR;
    }
    weir_outcome_free(outcome);
}

/* ---- One file -------------------------------------------------------------------------------- */

/* K.launch.json beside K.ttgir; NULL if there is none. To be freed. */
static char *launch_beside(const char *path) {
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    int stem = dot && (!slash || dot > slash) ? (int)(dot - path) : (int)strlen(path);
    char *launch = NULL;
    if (strcmp(path, "-") == 0 || asprintf(&launch, "%.*s.launch.json", stem, path) < 0)
        return NULL;
    if (access(launch, F_OK) == 0)
        return launch;
    free(launch);
    return NULL;
}

/* Of a pass log, the last module that has a kernel: later ones may be in another dialect. */
static size_t last_with_kernel(weir_file *file) {
    for (size_t i = weir_module_count(file); i-- > 0;) {
        weir_module *module = weir_parse(file, i, 0);
        bool found = module && weir_kernel_count(module) > 0;
        weir_module_free(module);
        if (found)
            return i;
    }
    return weir_module_count(file) - 1;
}

static void run_modules(Session *session, weir_file *file, const char *path, const weir_run_options *options) {
    const char *wanted = session->options->module;
    bool last = weir_file_is_pass_log(file) && !wanted, any = false;
    size_t only = last ? last_with_kernel(file) : 0;
    if (last && !session->options->quiet)
        complain("%s: of this pass log's %zu modules, number %zu is run, the last with a kernel", path,
                 weir_module_count(file), only + 1);
    for (size_t i = 0; i < weir_module_count(file); i++) {
        if (last ? i != only : !module_picked(file, i, wanted))
            continue;
        any = true;
        weir_module *module = weir_parse(file, i, 0);
        if (module)
            run_module(session, module, path, options);
        else
            fail_input(session, path, "there is not enough memory");
        weir_module_free(module);
    }
    if (!any) {
        char sentence[256];
        snprintf(sentence, sizeof sentence, "there is no module '%s'; 'weir parse --list' shows those there are",
                 wanted ? wanted : "");
        fail_input(session, path, sentence);
    }
}

static void run_file(Session *session, const char *path) {
    weir_run_options options = session->options->run;
    weir_file *file = weir_open(session->weir, path);
    session->files++;
    if (!file) {
        char sentence[300];
        snprintf(sentence, sizeof sentence, "cannot be read: %s", weir_error(session->weir));
        fail_input(session, path, sentence);
        return;
    }
    char *beside = NULL;
    if (!options.launch && !options.replay && !session->options->no_launch)
        options.launch = beside = launch_beside(path);
    options.progress = show_progress;
    options.progress_context = session;
    run_modules(session, file, path, &options);
    free(beside);
    weir_close(file);
}

/* ---- The command ----------------------------------------------------------------------------- */

static void summarise(const Session *session) {
    output_printf(
        session->output, "%zu files, %zu kernel%s: %zu clean, %zu with findings, %zu incomplete, %zu error%s\n",
        session->files, session->kernels, session->kernels == 1 ? "" : "s", session->counts[WEIR_VERDICT_CLEAN],
        session->counts[WEIR_VERDICT_FINDINGS], session->counts[WEIR_VERDICT_INCOMPLETE],
        session->counts[WEIR_VERDICT_ERROR], session->counts[WEIR_VERDICT_ERROR] == 1 ? "" : "s");
}

static int run(const Options *options) {
    Session session = {.options = options, .weir = weir_create(), .output = output_open(options->output)};
    if (!session.weir || !session.output)
        return STATUS_ERROR;
    session.started = now();
    if (options->json && !options->quiet && !(session.json = weir_json_begin(output_write, session.output)))
        return STATUS_ERROR;
    for (; session.file < options->inputs.count; session.file++)
        run_file(&session, options->inputs.items[session.file]);
    if (session.json && weir_json_end(session.json) != 0)
        session.verdict = WEIR_VERDICT_ERROR;
    if (!options->json && !options->quiet && options->inputs.count > 1)
        summarise(&session);
    if (!output_close(session.output, true))
        session.verdict = WEIR_VERDICT_ERROR;
    weir_destroy(session.weir);
    return weir_verdict_status(session.verdict);
}

int command_run(int count, char **arguments) {
    Options options = {0};
    const struct argp argp = {option_table,
                              parse_option,
                              "FILE|DIR|-...",
                              "Runs the kernels in Triton GPU IR on an emulator, and says whether all agents come to "
                              "their end.\v"
                              "FILE is a .ttgir or .mlir file or a log of compiler passes (MLIR_ENABLE_DUMP); of a "
                              "DIR, every .ttgir and .mlir below it is run; - is standard input. Without a launch "
                              "file and arguments, launches are chosen.\n"
                              "Exit status: 0 if all is clean, 1 if something is wrong with a kernel, 3 if nothing "
                              "wrong was found but not everything could be looked at, 2 if the input or the command "
                              "line is wrong.",
                              NULL,
                              NULL,
                              NULL};
    argp_err_exit_status = STATUS_ERROR;
    argp_program_version = "weir " WEIR_VERSION;
    char program[] = "weir run";
    arguments[0] = program;
    if (argp_parse(&argp, count, arguments, 0, NULL, &options) != 0)
        return STATUS_ERROR;
    int status = run(&options);
    paths_free(&options.inputs);
    free(options.arguments);
    return status;
}
