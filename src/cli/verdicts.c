/* What commands say of a file: each of its modules, what was asked of it, its witnesses, and the count of it
 * all. */
#include "cli/cli.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char no_memory[] = "there is not enough memory";

int stream_write(void *stream, const char *data, size_t size) {
    return fwrite(data, 1, size, stream) == size ? 0 : -1;
}

__attribute__((format(printf, 2, 3))) static void say(Reporter *reporter, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char *text = message_text(format, arguments);
    va_end(arguments);
    if (text)
        reporter->write_error(reporter->error_to, text, strlen(text));
    free(text);
}

Reporter reporter_start(const Options *options, weir_write *write_error, void *error_to) {
    return (Reporter){.options = options,
                      .how = {.flags = (color_wanted(options, STDOUT_FILENO, options->output) ? WEIR_COLOR : 0) |
                                       (options->brief ? WEIR_BRIEF : 0) | (options->verbose ? WEIR_OPEN : 0),
                              .findings = options->max_findings},
                      .write_error = write_error,
                      .error_to = error_to,
                      .doing = "run",
                      .witness_prefix = ""};
}

bool reporter_count(Reporter *reporter) {
    reporter->rules = calloc(weir_rule_count(), sizeof *reporter->rules);
    return reporter->rules;
}

void reporter_free(Reporter *reporter) {
    tally_free(&reporter->reasons);
    tally_free(&reporter->unseen);
    free(reporter->rules);
}

/* ---- Counting -------------------------------------------------------------------------------- */

static void count_error(Reporter *reporter) {
    reporter->verdict = WEIR_VERDICT_ERROR;
    reporter->counts[WEIR_VERDICT_ERROR]++;
}

static void count_finding(Reporter *reporter, const weir_item *finding) {
    bool note = finding->severity == WEIR_NOTE;
    if (*finding->suppressed) {
        size_t *counts[] = {&reporter->ignored, &reporter->suppressed, &reporter->baselined};
        static const char *const kinds[] = {"config", "inSource", "baseline"};
        for (size_t i = 0; !note && i < sizeof kinds / sizeof *kinds; i++)
            *counts[i] += strcmp(finding->suppressed, kinds[i]) == 0;
        return;
    }
    reporter->severities[finding->severity]++;
    for (size_t rule = 0; rule < weir_rule_count(); rule++)
        reporter->rules[rule] += strcmp(weir_rule_at(rule).id, finding->name) == 0;
}

/* Kernels without PTX that are all that a result is about: whether they need not count, if others were looked at. */
static bool is_aside(Reporter *reporter, const weir_result *result) {
    for (size_t i = 0; reporter->rules && i < weir_item_count(result, WEIR_ITEM_UNSEEN); i++) {
        weir_item kernel = weir_item_at(result, WEIR_ITEM_UNSEEN, i);
        tally_add(&reporter->unseen, (weir_string){kernel.text, strlen(kernel.text)}, kernel.times);
    }
    return reporter->rules && !(reporter->how.flags & WEIR_REQUIRE_ALL) && weir_result_kernels(result) == 1 &&
           weir_kernel_at(result, 0).aside;
}

static void tally(Reporter *reporter, const weir_result *result) {
    if (is_aside(reporter, result)) {
        reporter->aside++;
        return;
    }
    for (size_t i = 0; i < weir_result_kernels(result); i++) {
        weir_kernel kernel = weir_kernel_at(result, i);
        if (kernel.program) {
            reporter->programs[kernel.verdict]++;
            continue;
        }
        reporter->kernels++;
        reporter->counts[kernel.verdict]++;
        reporter->scopes[kernel.scope] += kernel.verdict == WEIR_VERDICT_CLEAN;
        coverage_add(&reporter->coverage, &kernel.coverage);
    }
    reporter->verdict = weir_verdict_worse(reporter->verdict, weir_result_verdict(result));
    if (!reporter->rules)
        return;
    for (size_t i = 0; i < weir_item_count(result, WEIR_ITEM_FINDING); i++) {
        weir_item finding = weir_item_at(result, WEIR_ITEM_FINDING, i);
        count_finding(reporter, &finding);
    }
    for (size_t i = 0; i < weir_item_count(result, WEIR_ITEM_INCOMPLETE); i++) {
        const char *reason = weir_item_at(result, WEIR_ITEM_INCOMPLETE, i).text;
        tally_add(&reporter->reasons, (weir_string){reason, strlen(reason)}, 1);
    }
}

/* ---- A result -------------------------------------------------------------------------------- */

/* A kernel's name as the name of a file. */
static void add_file_name(char *to, size_t size, const char *kernel) {
    snprintf(to, size, "%s", kernel);
    for (; *to; to++)
        if (!isalnum((unsigned char)*to) && *to != '_' && *to != '-')
            *to = '_';
}

/* The file's name, to be freed; NULL, with a message, if it cannot be written. */
static char *write_witness(Reporter *reporter, const weir_item *finding) {
    const char *folder = reporter->options->witness;
    char name[128], *path = NULL;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        complain("%s: %s", folder, strerror(errno));
        return NULL;
    }
    add_file_name(name, sizeof name, finding->kernel);
    if (asprintf(&path, "%s/%s%s-%zu.trail", folder, reporter->witness_prefix, name, ++reporter->witnesses) < 0)
        return NULL;
    Output *file = output_open(path);
    bool good = file && output_write(file, finding->witness, strlen(finding->witness)) == 0;
    if (file && output_close(file, good) && good)
        return path;
    free(path);
    return NULL;
}

/* Findings that one run shows share its file. False if one cannot be written. */
static bool write_witnesses(Reporter *reporter, weir_result *result) {
    char *path = NULL;
    const char *written = NULL;
    for (size_t i = 0; i < weir_item_count(result, WEIR_ITEM_FINDING); i++) {
        weir_item finding = weir_item_at(result, WEIR_ITEM_FINDING, i);
        if (!*finding.witness || *finding.suppressed)
            continue;
        if (finding.witness != written) {
            free(path);
            path = write_witness(reporter, &finding);
            written = finding.witness;
        }
        if (!path)
            return false;
        weir_keep_witness(result, i, path);
    }
    free(path);
    return true;
}

void report_failure(Reporter *reporter, const char *path, const char *sentence) {
    say(reporter, "weir: %s: %s\n", path, sentence);
    if (reporter->writer)
        weir_writer_error(reporter->writer, path, sentence);
    if (reporter->also)
        weir_writer_error(reporter->also, path, sentence);
    count_error(reporter);
}

void report_unread(Reporter *reporter) {
    const Failures *unread = &reporter->options->unread;
    for (size_t i = 0; i < unread->paths.count; i++)
        report_failure(reporter, unread->paths.items[i], unread->reasons.items[i]);
}

void report_passed_over(Reporter *reporter) {
    const char *kernel = reporter->options->run.kernel;
    if (!kernel || reporter->options->inputs.count < 2 || reporter->kernel_found ||
        reporter->counts[WEIR_VERDICT_ERROR])
        return;
    char sentence[300];
    snprintf(sentence, sizeof sentence, "there is no kernel '%s', and in no other input", kernel);
    report_failure(reporter, reporter->options->inputs.items[0], sentence);
}

bool report_verdict(Reporter *reporter, weir_result *result) {
    if (weir_result_verdict(result) == WEIR_VERDICT_ERROR) {
        unsigned color = color_wanted(reporter->options, STDERR_FILENO, NULL) ? WEIR_COLOR : 0;
        weir_result_errors(result, color, reporter->write_error, reporter->error_to);
        count_error(reporter);
        return true;
    }
    tally(reporter, result);
    return !reporter->options->witness || write_witnesses(reporter, result);
}

/* Keeps what one launch of a module shows until the others are done. False: it is to be told by itself. */
static bool hold(Reporter *reporter, const char *path, weir_result *result) {
    if (!reporter->all_launches || weir_result_verdict(result) == WEIR_VERDICT_ERROR)
        return false;
    if (!reporter->held) {
        reporter->held = result;
    } else if (weir_result_join(reporter->held, result) != 0) {
        weir_result_free(reporter->held);
        reporter->held = NULL;
        report_failure(reporter, path, no_memory);
    }
    return true;
}

static void report_now(Reporter *reporter, weir_result *result) {
    if (!report_verdict(reporter, result))
        reporter->verdict = WEIR_VERDICT_ERROR;
    if (reporter->writer)
        weir_writer_add(reporter->writer, result);
    if (reporter->also)
        weir_writer_add(reporter->also, result);
    weir_result_free(result);
}

void report_result(Reporter *reporter, const char *path, weir_result *result) {
    if (!result)
        report_failure(reporter, path, no_memory);
    else if (!hold(reporter, path, result))
        report_now(reporter, result);
}

/* ---- A file ---------------------------------------------------------------------------------- */

char *launch_beside(const char *path, unsigned number) {
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    int stem = dot && (!slash || dot > slash) ? (int)(dot - path) : (int)strlen(path);
    char *launch = NULL, which[16] = "";
    if (number > 1)
        snprintf(which, sizeof which, ".%u", number);
    if (strcmp(path, "-") == 0 || asprintf(&launch, "%.*s.launch%s.json", stem, path, which) < 0)
        return NULL;
    if (access(launch, F_OK) == 0)
        return launch;
    free(launch);
    return NULL;
}

/* The last module that has a kernel: later ones may be in another dialect. */
static size_t last_with_kernel(weir_file *file, size_t first, size_t end, const char **why) {
    *why = "the last with a kernel";
    for (size_t i = end; i-- > first;) {
        weir_module *module = weir_parse(file, i, 0);
        bool found = module && weir_kernel_count(module) > 0;
        weir_module_free(module);
        if (found)
            return i;
    }
    return end - 1;
}

static bool ptx_has(weir_module *module, const char *name) {
    bool found = false;
    for (size_t i = 0; i < weir_ptx_of(module).functions && !found; i++) {
        weir_ptx_function function = weir_ptx_function_at(module, i);
        found = weir_name_meant(function.name, name);
    }
    return found;
}

static bool module_has(weir_module *module, const char *name) {
    bool found = module && ptx_has(module, name);
    for (const weir_op *op = module ? weir_first_op(module) : NULL; op && !found; op = weir_next_op(op)) {
        weir_string symbol = weir_op_attribute(op, "sym_name");
        if (symbol.size && (symbol.data[0] == '@' || symbol.data[0] == '"')) {
            symbol.size -= symbol.data[0] == '"' ? 2 : 1;
            symbol.data++;
        }
        found = symbol.size == strlen(name) && memcmp(symbol.data, name, symbol.size) == 0;
    }
    return found;
}

static bool has_function(weir_file *file, size_t index, const char *name) {
    weir_module *module = weir_parse(file, index, 0);
    bool found = module_has(module, name);
    weir_module_free(module);
    return found;
}

/* A module that was picked, and why. */
typedef struct Picked {
    size_t index;
    const char *why;
} Picked;

/* Of a pass log, one module of each compilation; where a kernel was asked for, of those that have it, if any has. */
static size_t pick_modules(const Reporter *reporter, weir_file *file, Picked *picked) {
    PickModule *pick = reporter->pick ? reporter->pick : last_with_kernel;
    const char *kernel = reporter->options->run.kernel;
    size_t count = 0, kept = 0, modules = weir_module_count(file);
    for (size_t first = 0, end; first < modules; first = end) {
        size_t compilation = weir_module_info_of(file, first).compilation;
        for (end = first + 1; end < modules && weir_module_info_of(file, end).compilation == compilation;)
            end++;
        picked[count].index = pick(file, first, end, &picked[count].why);
        count++;
    }
    for (size_t i = 0; kernel && count > 1 && i < count; i++)
        if (has_function(file, picked[i].index, kernel))
            picked[kept++] = picked[i];
    return kept ? kept : count;
}

static void say_picked(Reporter *reporter, const char *path, weir_file *file, const Picked *picked, size_t count) {
    enum { MOST = 8 };
    say(reporter, "weir: %s: of this pass log's %zu modules, number%s", path, weir_module_count(file),
        count == 1 ? "" : "s");
    for (size_t i = 0; i < count && i < MOST; i++)
        say(reporter, "%s %zu", i ? "," : "", picked[i].index + 1);
    if (count > MOST)
        say(reporter, " and %zu more", count - MOST);
    say(reporter, " %s %s, %s%s\n", count == 1 ? "is" : "are", reporter->doing, picked[0].why,
        count == 1 ? "" : " of each compilation");
}

/* Whether the one kernel that was asked for is not here, but may be in another input. */
static bool is_passed_over(Reporter *reporter, weir_module *module) {
    const char *kernel = reporter->options->run.kernel;
    if (!kernel || reporter->options->inputs.count < 2 || !weir_module_ok(module))
        return false;
    bool found = module_has(module, kernel);
    reporter->kernel_found |= found;
    return !found;
}

static bool shows_error(const weir_result *result) {
    bool found = false;
    for (size_t i = 0; result && !found && i < weir_item_count(result, WEIR_ITEM_FINDING); i++) {
        weir_item finding = weir_item_at(result, WEIR_ITEM_FINDING, i);
        found = finding.severity == WEIR_ERROR && !*finding.suppressed;
    }
    return found;
}

/* Whether no further launch of a file is looked at, and says so: what is wrong has been seen, or the time that a kernel
 * has is up, and it is incomplete. */
static bool leave_launches(Reporter *reporter, const char *path, unsigned next, double started) {
    unsigned left = 0, timeout = reporter->options->run.timeout;
    bool incomplete = reporter->held && weir_result_verdict(reporter->held) == WEIR_VERDICT_INCOMPLETE;
    bool late = timeout && seconds_worked() - started >= timeout && incomplete;
    if (!late && !shows_error(reporter->held))
        return false;
    for (char *beside; (beside = launch_beside(path, next + left)); free(beside))
        left++;
    if (left && !reporter->options->quiet)
        say(reporter, "weir: %s: %u more launch%s not checked: %s\n", path, left, left == 1 ? " is" : "es are",
            late ? "the kernel timed out" : "the previous one has errors");
    return true;
}

/* With the launch that was given; else with each that lies beside it, if more than one is asked for. All of them have
 * the time that one kernel has, and other launches are chosen beside the first alone. */
static void do_launches(Reporter *reporter, const char *path, weir_module *module, weir_run_options *options,
                        ModuleWork *work, void *context) {
    bool looks = !options->launch && !options->replay && !reporter->options->no_launch;
    weir_run_options one = *options;
    double started = seconds_worked();
    unsigned number = 1;
    do {
        char *beside = looks ? launch_beside(path, number) : NULL;
        if (number > 1 && (!beside || leave_launches(reporter, path, number, started))) {
            free(beside);
            break;
        }
        if (looks)
            one.launch = beside;
        double spent = seconds_worked() - started;
        if (number > 1 && options->timeout)
            one.timeout = spent + 1 < options->timeout ? options->timeout - (unsigned)spent : 1;
        one.only_launch |= number > 1;
        work(context, path, module, &one);
        free(beside);
        number++;
    } while (looks && one.launch && reporter->all_launches && weir_module_ok(module));
    if (reporter->held)
        report_now(reporter, reporter->held);
    reporter->held = NULL;
}

static void do_module(Reporter *reporter, weir_file *file, size_t index, const char *path, weir_run_options *options,
                      ModuleWork *work, void *context) {
    weir_module *module = weir_parse(file, index, WEIR_LOG_LATER);
    if (!module)
        report_failure(reporter, path, no_memory);
    else if (!is_passed_over(reporter, module))
        do_launches(reporter, path, module, options, work, context);
    weir_module_free(module);
}

static void each_picked(Reporter *reporter, weir_file *file, const char *path, weir_run_options *options,
                        ModuleWork *work, void *context) {
    Picked *picked = calloc(weir_module_count(file) + 1, sizeof *picked);
    if (!picked) {
        report_failure(reporter, path, no_memory);
        return;
    }
    size_t count = pick_modules(reporter, file, picked);
    if (count && !reporter->options->quiet)
        say_picked(reporter, path, file, picked, count);
    for (size_t i = 0; i < count; i++) {
        options->why = picked[i].why;
        do_module(reporter, file, picked[i].index, path, options, work, context);
    }
    free(picked);
}

static void each_module(Reporter *reporter, weir_file *file, const char *path, weir_run_options *options,
                        ModuleWork *work, void *context) {
    const char *wanted = reporter->options->module, *kernel = reporter->options->run.kernel;
    size_t count = weir_module_count(file);
    bool any = false,
         here =
             false; /* here: one of several modules has the kernel that was asked for, and the others do not matter */
    if (weir_file_is_pass_log(file) && !wanted) {
        each_picked(reporter, file, path, options, work, context);
        return;
    }
    for (size_t i = 0; kernel && count > 1 && i < count && !here; i++)
        here = module_picked(file, i, wanted) && has_function(file, i, kernel);
    for (size_t i = 0; i < count; i++) {
        if (!module_picked(file, i, wanted) || (here && !has_function(file, i, kernel)))
            continue;
        any = true;
        do_module(reporter, file, i, path, options, work, context);
    }
    if (!any) {
        char sentence[256];
        snprintf(sentence, sizeof sentence, "there is no module '%s'; 'weir parse --list' shows those there are",
                 wanted ? wanted : "");
        report_failure(reporter, path, sentence);
    }
}

void report_modules(Reporter *reporter, weir_context *weir, const char *path, ModuleWork *work, void *context) {
    weir_run_options options = reporter->options->run;
    char *said, *why;
    weir_file *file = input_open(weir, reporter->options, path, &said, &why);
    if (said)
        reporter->write_error(reporter->error_to, said, strlen(said));
    if (why)
        report_failure(reporter, path, why);
    free(said);
    free(why);
    if (!file)
        return;
    options.only_launch = reporter->options->only_launch;
    if (reporter->options->project && !options.launch && !options.replay && !reporter->options->no_launch)
        options.launch = weir_project_launch(reporter->options->project, path);
    each_module(reporter, file, path, &options, work, context);
    weir_close(file);
}
