/* What is asked of a module: options as the public header has them made into those of the pipeline. */
#include "api/internal.h"

#include "base/demangle/demangle.h"
#include "check/report/build/rank.h"
#include "check/report/difference/compare.h"
#include "machine/simt/core/launch.h"
#include "machine/tile/launch/launch_template.h"

#include <stdlib.h>
#include <sys/stat.h>

/* ---- Making results ------------------------------------------------------------------------------- */

typedef struct Ask {
    PipelineResult *result;
    const weir_module *module;
    const void *options;
    void *made; /* of them, for the pipeline */
} Ask;

static void read_run(void *context);
static void compare(void *context);

/* NULL if there is no memory; `read` makes of the options what the pipeline takes. */
static weir_result *begin(weir_module *module, Task *read, const void *options, void *made) {
    weir_result *result = calloc(1, sizeof *result);
    if (!result)
        return NULL;
    if (read != read_run)
        log_read_now(module);
    Ask ask = {&result->result, module, options, made};
    result->module = module;
    result_init(&result->result, &module->module);
    result->result.ptx = module->ptx;
    result->result.recording = module->recording.kernel ? &module->recording : NULL;
    result->result.recorded = &module->recorded;
    result->result.program = module->program;
    result->result.find_recordings = module->program ? recordings_find : NULL;
    if (!module->ok) {
        result->result.problem = "it has errors";
    } else if (module->ptx && read != read_run && read != compare) {
        result->result.problem = "this looks at Triton GPU IR, not at PTX; weir check, weir run and weir lint do";
    } else if (!result_attempt(&result->result, read, &ask)) {
        result->result.problem = "there is not enough memory";
        result->result.count = 0;
    }
    return result;
}

/* Whether there is more to be done; a result of which something is wrong is closed. */
static bool goes_on(weir_result *result) {
    bool wrong = result && (*result->result.problem || result->result.diagnostics.errors);
    if (wrong)
        result_close(&result->result);
    return result && !wrong;
}

void weir_result_free(weir_result *result) {
    while (result) {
        weir_result *joined = result->joined;
        result_free(&result->result);
        free(result);
        result = joined;
    }
}

static const char *copied(PipelineResult *result, const char *text) {
    return text ? arena_copy(&result->arena, text, strlen(text)) : NULL;
}

/* The index of a name in a list that NULL ends; that of NULL where there is none such. */
static size_t name_index(const char *const *names, const char *name) {
    size_t index = 0;
    while (names[index] && strcmp(names[index], name) != 0)
        index++;
    return index;
}

/* ---- Running -------------------------------------------------------------------------------------- */

static bool set_schedule(PipelineResult *result, const weir_run_options *options, CheckOptions *runs) {
    static const char *const names[] = {"directed", "eager", "lazy", "round-robin",
                                        "random",   "all",   NULL}; /* ORDER ScheduleChoice */
    const char *name = options->schedule ? options->schedule : names[SCHEDULES_DIRECTED];
    size_t choice = name_index(names, name);
    if (!names[choice])
        return result_fail(
            result, "there is no schedule '%s'; there are directed, eager, lazy, round-robin, random and all", name);
    const char *order = options->mma_order ? options->mma_order : "issue";
    bool waits = strcmp(order, "waits") == 0;
    if (!waits && strcmp(order, "issue") != 0)
        return result_fail(result, "tensor-core work is ordered by 'issue' or by 'waits', not '%s'", order);
    bool all = choice == SCHEDULES_ALL;
    *runs = (CheckOptions){.choice = (ScheduleChoice)choice,
                           .seed = options->seed,
                           .schedules = options->schedules,
                           .budget = all ? 0 : options->budget,
                           .states = all ? options->budget : 0,
                           .out_of_order = waits};
    return true;
}

/* How races in global memory are looked for. */
static bool set_global(PipelineResult *result, const weir_run_options *options, Question *question) {
    const char *mode = options->gsan ? options->gsan : "exact";
    bool sampled = strcmp(mode, "sampled") == 0, off = strcmp(mode, "off") == 0;
    if (!sampled && !off && strcmp(mode, "exact") != 0)
        return result_fail(result, "--gsan takes 'exact', 'sampled' or 'off', not '%s'", mode);
    question->global = !off;
    question->global_options = (GlobalOptions){.devices = options->devices ? options->devices : 1,
                                               .engine = {.mode = sampled ? GSAN_SAMPLED : GSAN_EXACT,
                                                          .seed = options->seed,
                                                          .granule = options->granule,
                                                          .slots = options->slots,
                                                          .ring = options->ring},
                                               .releases = question->releases,
                                               .order_log = options->order_log,
                                               .resident = options->resident,
                                               .schedules = options->schedules,
                                               .seed = options->seed,
                                               .budget = options->budget};
    GsanOptions engine = question->global_options.engine;
    engine.devices = question->global_options.devices;
    const char *problem = off ? NULL : gsan_options_problem(&engine);
    return !problem || result_fail(result, "%s", problem);
}

/* "data" and "slice" are the old words for "all" and "needed". */
static bool set_values(PipelineResult *result, const char *values, Question *question) {
    bool needed = values && (strcmp(values, "needed") == 0 || strcmp(values, "slice") == 0);
    question->computes = needed ? COMPUTES_NEEDED : COMPUTES_ALL;
    return !values || needed || strcmp(values, "all") == 0 || strcmp(values, "data") == 0 ||
           result_fail(result, "--values takes 'all' or 'needed', not '%s'", values);
}

static bool set_target(PipelineResult *result, const char *name, Question *question) {
    question->target = name ? target_named(str_of(name)) : NULL;
    if (!name || question->target)
        return true;
    Text names = {0};
    targets_list(&names);
    return result_fail(result, "there is no target '%s'; there are %s", name, text_keep(&names, &result->arena));
}

static bool set_releases(PipelineResult *result, const char *name, ReleaseSet *releases) {
    *releases = name ? releases_named(str_of(name)) : 0;
    return !name || *releases ||
           result_fail(result, "'%s' is not a Triton release from 3.5 on, such as 3.6 or 3.7.1", name);
}

static bool set_required(PipelineResult *result, const char *name, Question *question) {
    question->required = name ? verdict_scope_named(name) : COVERS_NONE;
    return !name || question->required ||
           result_fail(result, "--require takes 'every-launch', 'given-launch' or 'tried-launches', not '%s'", name);
}

static bool set_rules(PipelineResult *result, const char *rules, Question *question) {
    Str unknown = rule_list_unknown(rules);
    question->rules = copied(result, rules);
    return !unknown.data || result_fail(result, "there is no rule '%.*s'", STR_ARG(unknown));
}

/* Which module it is, in words: "1: after First, the latest with barriers". */
static const char *module_text(const weir_module *module, const char *why, Arena *arena) {
    Text text = {0};
    if (module->number)
        text_addf(&text, "%zu", module->number);
    if (module->pass.size) {
        text_addf(&text, "%s%s ", text.size ? ": " : "", str_is(module->when, "Before") ? "before" : "after");
        text_add_plain(&text, module->pass);
    }
    if (why)
        text_addf(&text, "%s%s", text.size ? ", " : "", why);
    return text_keep(&text, arena);
}

/* Where kernels' own sources are looked for: what was given, else what the project says. */
static const char *source_root(const weir_run_options *options) {
    return options->source_root || !options->project ? options->source_root : options->project->project.source_root;
}

static void read_run(void *context) {
    const Ask *ask = context;
    const weir_run_options *options = ask->options;
    PipelineResult *result = ask->result;
    if (options->size == OPTIONS_UNKNOWN) {
        result_fail(result, OPTIONS_PROBLEM);
        return;
    }
    const char **arguments = ARENA_ARRAY(&result->arena, const char *, options->argument_count + 1);
    for (size_t i = 0; i < options->argument_count; i++)
        arguments[i] = copied(result, options->arguments[i]);
    Question question = {.kernel = options->kernel,
                         .launch = options->launch,
                         .trail = options->replay,
                         .arguments = arguments,
                         .argument_count = options->argument_count,
                         .grid = copied(result, options->grid),
                         .block = copied(result, options->block),
                         .cluster = copied(result, options->cluster),
                         .shared = copied(result, options->shared),
                         .volatile_races = options->volatile_races,
                         .root = copied(result, source_root(options)),
                         .project = options->project ? &options->project->project : NULL,
                         .shows_global = options->global,
                         .lint = options->lint && !options->replay,
                         .lint_only = options->lint == WEIR_LINT_ONLY && !options->replay,
                         .membar = options->membar && !options->replay,
                         .membar_summary = options->membar == WEIR_MEMBAR_SUMMARY,
                         .report = options->report,
                         .only_launch = options->only_launch,
                         .cross_check = options->cross_check,
                         .prove_seconds = options->prove_time > 0   ? options->prove_time
                                          : options->prove_time < 0 ? 0
                                                                    : 2,
                         .timeout = options->timeout,
                         .memory = options->memory,
                         .stop = options->stop,
                         .stop_context = options->stop_context,
                         .core = options->core,
                         .core_context = options->core_context,
                         .core_after = options->core_after,
                         .module = module_text(ask->module, options->why, &result->arena),
                         .buffer = options->buffer,
                         .progress = options->progress,
                         .progress_context = options->progress_context};
    if (set_values(result, options->values, &question) && set_required(result, options->require, &question) &&
        set_schedule(result, options, &question.runs) && set_rules(result, options->rules, &question) &&
        set_releases(result, options->triton, &question.releases) && set_global(result, options, &question) &&
        set_target(result, options->target, &question))
        result_ask(result, &question);
}

weir_result *question_begin(weir_module *module, const weir_run_options *options) {
    weir_run_options own;
    options_take(&own, sizeof own, options);
    return begin(module, read_run, &own, NULL);
}

weir_result *weir_run(weir_module *module, const weir_run_options *options) {
    weir_result *result = question_begin(module, options);
    if (result)
        result_check(&result->result);
    return result;
}

int weir_prove(weir_module *module, const weir_run_options *options, weir_write *write, void *to) {
    Text out = SINK_TEXT(write, to);
    log_read_now(module);
    weir_result *result = question_begin(module, options);
    bool proved = result && result_prove(&result->result, &out);
    bool good = result && result->result.kind != VERDICT_ERROR;
    weir_result_free(result);
    return sink_finish(&out) == 0 && good ? !proved : -1;
}

int weir_certify(weir_module *module, const weir_run_options *options, weir_write *write, void *to) {
    Text out = SINK_TEXT(write, to);
    log_read_now(module);
    weir_result *result = question_begin(module, options);
    bool proved = result && result_certify(&result->result, &out);
    bool good = result && result->result.kind != VERDICT_ERROR;
    weir_result_free(result);
    return sink_finish(&out) == 0 && good ? !proved : -1;
}

int weir_verify(weir_module *module, const weir_run_options *options, const char *certificate, weir_write *write,
                void *to) {
    Text out = SINK_TEXT(write, to);
    const char *problem;
    Source *source = source_read(certificate, &problem);
    log_read_now(module);
    weir_result *result = source ? question_begin(module, options) : NULL;
    int answer = -1;
    if (!source)
        text_plainf(&out, "%s: %s\n", certificate, problem);
    else if (result)
        answer = result_verify(&result->result, certificate, (Str){source->data, source->size}, &out);
    bool good = result && result->result.kind != VERDICT_ERROR;
    weir_result_free(result);
    if (source)
        source_free(source);
    return sink_finish(&out) == 0 && good ? answer : -1;
}

int weir_run_row(weir_module *const *modules, const weir_run_options *options, size_t count, weir_result **results) {
    PipelineResult **begun = calloc(count + 1, sizeof *begun);
    bool good = begun != NULL;
    size_t stride = count && options->size ? options->size : sizeof *options;
    for (size_t i = 0; i < count; i++) {
        log_read_now(modules[i]);
        results[i] = question_begin(modules[i], (const weir_run_options *)((const char *)options + i * stride));
        good &= results[i] != NULL;
    }
    for (size_t i = 0; i < count && good; i++)
        begun[i] = &results[i]->result;
    if (good)
        results_check(begun, count);
    for (size_t i = 0; i < count && !good; i++) {
        weir_result_free(results[i]);
        results[i] = NULL;
    }
    free(begun);
    return good ? 0 : -1;
}

/* By its exact name, or else in any form that C++ has it in. */
static size_t entries_named(const PtxModule *module, const char *name, bool exact, uint32_t *last) {
    size_t count = 0;
    for (uint32_t i = 0; i < module->functions_count; i++) {
        const PtxFunction *function = &module->functions[i];
        Str own = ptx_name(module, function->name);
        if (!function->entry || !function->body ||
            (name && !(exact ? str_is(own, name) : name_meant(own, str_of(name)))))
            continue;
        count++;
        if (last)
            *last = i;
    }
    return count;
}

size_t question_entries(const PtxModule *module, const char *name, uint32_t *last) {
    size_t count = entries_named(module, name, true, last);
    return count || !name ? count : entries_named(module, name, false, last);
}

size_t weir_kernel_count(weir_module *module) {
    if (module->ok && module->ptx)
        return question_entries(module->ptx, NULL, NULL);
    return module->ok ? program_kernels(&module->module, NULL, 0) : 0;
}

int weir_demangle(weir_string name, int whole, weir_write *write, void *to) {
    Text out = SINK_TEXT(write, to);
    Str text = {name.data, name.size};
    if (!whole || !demangle(text, &out))
        name_shown(text, &out);
    return sink_finish(&out);
}

int weir_name_meant(weir_string name, const char *wanted) {
    return name_meant((Str){name.data, name.size}, str_of(wanted));
}

weir_string weir_kernel_name(weir_module *module, size_t index) {
    if (index >= weir_kernel_count(module))
        return (weir_string){0};
    Str name = {0};
    for (uint32_t i = 0; module->ptx && i < module->ptx->functions_count; i++) {
        const PtxFunction *function = &module->ptx->functions[i];
        if (function->entry && function->body && index-- == 0)
            name = ptx_name(module->ptx, function->name);
    }
    if (!module->ptx) {
        const Op **kernels = calloc(index + 1, sizeof *kernels);
        if (kernels && program_kernels(&module->module, kernels, index + 1) > index)
            name = op_symbol(kernels[index]);
        free(kernels);
    }
    return (weir_string){name.data, name.size};
}

size_t weir_pick_module(weir_file *file, const char **why) {
    return weir_pick_module_of(file, 0, file->units.count, why);
}

size_t weir_pick_module_of(weir_file *file, size_t first, size_t end, const char **why) {
    end = end < file->units.count ? end : file->units.count;
    size_t best = end > first ? end - 1 : first;
    unsigned most = 0;
    *why = "none has a kernel";
    for (size_t i = end; i-- > first && most < MODULE_RANK_MOST;) {
        const char *reason;
        weir_module *module = weir_parse(file, i, 0);
        unsigned rank = module && module->ok ? module_rank(&module->module, &reason) : 0;
        weir_module_free(module);
        if (rank > most) {
            most = rank;
            best = i;
            *why = reason;
        }
    }
    return best;
}

typedef struct Shares {
    Arena arena;
    Source *source;
    Diagnostics diagnostics;
    bool any;
} Shares;

static void find_shared(void *context) {
    Shares *shares = context;
    Launch launch = {0};
    if (launch_read(&shares->arena, shares->source, &launch, &shares->diagnostics))
        for (size_t i = 0; i < launch.count; i++)
            shares->any |= launch.arguments[i].buffer.size > 0;
}

typedef struct Grouping {
    const char *const *paths;
    size_t count, *groups;
    Arena arena;
} Grouping;

/* What a file says of its order; of one that is no recording nothing. What can be read but once is left to who checks
 * it. */
static const Recording *order_of(Arena *arena, const char *path) {
    struct stat status;
    Recording *recording = ARENA_NEW(arena, Recording);
    FILE *file = stat(path, &status) == 0 && S_ISREG(status.st_mode) ? fopen(path, "rb") : NULL;
    if (file && !recording_read_order(recording, file, arena))
        *recording = (Recording){0};
    if (file)
        fclose(file);
    return recording;
}

static void group(Grouping *grouping) {
    const Recording **recordings = ARENA_ARRAY(&grouping->arena, const Recording *, grouping->count + 1);
    for (size_t i = 0; i < grouping->count; i++)
        recordings[i] = order_of(&grouping->arena, grouping->paths[i]);
    recordings_group(recordings, grouping->count, grouping->groups, &grouping->arena);
}

int weir_group_recordings(const char *const *paths, size_t count, size_t *groups) {
    static const size_t most = (size_t)1 << 30;
    Grouping grouping = {paths, count, groups, {0}};
    jmp_buf here;
    arena_init(&grouping.arena, most);
    grouping.arena.exhausted = &here;
    if (setjmp(here)) {
        arena_free(&grouping.arena);
        return -1;
    }
    group(&grouping);
    arena_free(&grouping.arena);
    return 0;
}

int weir_launch_shares(const char *path) {
    static const size_t budget = (size_t)2 << 30;
    const char *problem;
    Shares shares = {.source = source_read(path, &problem)};
    if (!shares.source)
        return 0;
    arena_init(&shares.arena, budget);
    results_attempt(NULL, 0, &shares.arena, find_shared, &shares);
    arena_free(&shares.arena);
    diagnostics_free(&shares.diagnostics);
    source_free(shares.source);
    return shares.any;
}

typedef struct Templating {
    weir_module *module;
    const char *kernel;
    Text *out;
    bool found;
} Templating;

static void write_template(void *context) {
    Templating *templating = context;
    const PtxModule *ptx = templating->module->ptx;
    if (ptx) {
        uint32_t entry = 0;
        size_t entries = question_entries(ptx, templating->kernel, &entry);
        templating->found = entries == 1;
        if (templating->found) {
            ptx_name_parameters(templating->module->ptx, NULL);
            PtxSourceLaunch known = ptx_source_launch(templating->module->ptx, entry, NULL);
            ptx_launch_template(ptx, entry, &known, &templating->module->ptx->arena, templating->out);
        }
        return;
    }
    Module *module = &templating->module->module;
    size_t count = program_kernels(module, NULL, 0), wanted = 0, named = 0;
    const Op **kernels = ARENA_ARRAY(&module->arena, const Op *, count + 1);
    program_kernels(module, kernels, count);
    for (size_t i = 0; templating->kernel && i < count; i++)
        if (strcmp(program_name(module, kernels[i]), templating->kernel) == 0) {
            wanted = i;
            named++;
        }
    templating->found = templating->kernel ? named > 0 : count == 1;
    if (templating->found)
        launch_template(module, kernels[wanted], templating->out);
}

int weir_launch_template(weir_module *module, const char *kernel, weir_write *write, void *to) {
    Text out = SINK_TEXT(write, to);
    Templating templating = {.module = module, .kernel = kernel, .out = &out};
    bool enough = !module->ok || results_attempt(NULL, 0, &module->module.arena, write_template, &templating);
    if (sink_finish(&out) != 0 || !enough)
        return -1;
    return templating.found ? 0 : 1;
}

/* ---- Without a run -------------------------------------------------------------------------------- */

static bool set_model(PipelineResult *result, const char *name, MembarModel *model) {
    return !name || membar_model_find(name, model) ||
           result_fail(result, "there is no model '%s'; there are sync, near and async", name);
}

static void read_membar(void *context) {
    static const char *const stages[] = {"", "inserted", "before", NULL}; /* ORDER MembarStage */
    const Ask *ask = context;
    const weir_membar_options *options = ask->options;
    MembarRequest *request = ask->made;
    size_t stage = name_index(stages, options->stage ? options->stage : "");
    *request = (MembarRequest){.model = MEMBAR_ASYNC,
                               .compares = options->compare,
                               .stage = (MembarStage)stage,
                               .line = options->line,
                               .timeout = options->timeout,
                               .function = options->function};
    if (options->size == OPTIONS_UNKNOWN)
        result_fail(ask->result, OPTIONS_PROBLEM);
    else if (set_model(ask->result, options->model, &request->model) &&
             set_model(ask->result, options->compare, &request->other) &&
             set_releases(ask->result, options->triton, &request->releases) && !stages[stage])
        result_fail(ask->result, "--assume takes 'inserted' or 'before', not '%s'", options->stage);
}

weir_result *weir_membar(weir_module *module, const weir_membar_options *options) {
    weir_membar_options own;
    MembarRequest request;
    options_take(&own, sizeof own, options);
    weir_result *result = begin(module, read_membar, &own, &request);
    if (goes_on(result))
        result_membar(&result->result, &request);
    return result;
}

static void read_port(void *context) {
    const Ask *ask = context;
    const Target **target = ask->made;
    *target = target_named(str_of(ask->options));
    if (!*target || (*target)->vendor != VENDOR_AMD)
        result_fail(ask->result, "kernels can be ported to gfx942, gfx950 and gfx1250, not '%s'",
                    (const char *)ask->options);
}

weir_result *weir_port(weir_module *module, const char *target, const char *kernel) {
    const Target *found;
    weir_result *result = begin(module, read_port, target, &found);
    if (goes_on(result))
        result_port(&result->result, found, kernel);
    return result;
}

/* ---- Two results ---------------------------------------------------------------------------------- */

static void compare(void *context) {
    const Ask *ask = context;
    const Report *const *reports = ask->options;
    ask->result->difference = difference_find(&ask->result->arena, reports[0], reports[1]);
    ask->result->kind = ask->result->difference->row_count ? VERDICT_FINDINGS : VERDICT_CLEAN;
}

weir_result *weir_compare(const weir_result *old_result, size_t old_kernel, const weir_result *new_result,
                          size_t new_kernel) {
    if (old_kernel >= old_result->result.report_count || new_kernel >= new_result->result.report_count)
        return NULL;
    const Report *const reports[] = {&old_result->result.reports[old_kernel], &new_result->result.reports[new_kernel]};
    weir_result *result = begin(new_result->module, compare, reports, NULL);
    if (result && result->result.difference)
        return result;
    weir_result_free(result);
    return NULL;
}
