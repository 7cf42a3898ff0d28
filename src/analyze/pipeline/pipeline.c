/* What is done to each kernel, in order; and what a result is while that goes on. */
#include "analyze/pipeline/internal.h"

#include "analyze/lint/lint.h"
#include "analyze/report/one_buffer.h"
#include "analyze/report/report.h"

#include <inttypes.h>
#include <stdlib.h>

/* Of what is said; and of one piece of work, beside what the module has already. */
static const size_t result_budget = (size_t)1 << 30, work_budget = (size_t)2 << 30;

/* ---- Steps ---------------------------------------------------------------------------------------- */

/* What is known of the launch: a file's, or only what the command line says, which leaves the rest open. */
static const Launch *lint_launch(Result *result, size_t kernel) {
    const Launch *given = result_given_launch(result, kernel);
    if (given || !result_has_arguments(result))
        return given;
    Launch *made = ARENA_NEW(&result->arena, Launch);
    return result_set_arguments(result, made) ? made : NULL;
}

static void lint_kernel(Result *result, size_t kernel) {
    LintOptions options = {
        .target = result->question.target, .launch = lint_launch(result, kernel), .alone = result->question.lint_only};
    lint_check(result->module, result->functions[kernel], &options, &result->verdicts[kernel]);
}

/* Runs every cluster of a launch; `last`: and makes the report of it, if one is wanted. */
static void run_clusters(Result *result, size_t kernel, const CheckOptions *options, bool last) {
    Verdict *verdict = &result->verdicts[kernel];
    if (!result->question.report || !last) {
        check_runs(result->module, result->functions[kernel], options, verdict);
        return;
    }
    Report *report = &result->reports[kernel];
    *report = *report_build(result->module, result->functions[kernel], options, verdict, &result->traces[kernel]);
    report->module = result->question.module;
}

/* What a cluster found in memory when the whole grid ran. */
static const LoadLog *find_loads(void *context, uint64_t cluster) {
    const Look *look = context;
    return global_check_loads(look->result->rows[look->at]->check, look->result->places[look->at], cluster);
}

/* The launch that was given, or those that are chosen. */
static void run_launches(Result *result, size_t kernel) {
    const GlobalCheck *grid = result->rows[kernel] ? result->rows[kernel]->check : NULL;
    Look look = {.result = result, .at = kernel};
    CheckOptions options = result->question.runs;
    options.launch = result_given_launch(result, kernel);
    options.loads = grid ? find_loads : NULL;
    options.loads_context = &look;
    if (global_check_hangs(grid)) { /* no cluster says more by itself */
        const int64_t *programs = options.launch->grid;
        *verdict_launch(&result->verdicts[kernel]) =
            (LaunchRun){.text = launch_text(options.launch, &result->arena),
                        .ctas = (size_t)(programs[0] * programs[1] * programs[2]),
                        .schedules = 1};
        return;
    }
    size_t count = 0;
    bool choose = !options.launch && result_has_arguments(result);
    const Launch *chosen = choose ? result_choose(result, kernel, &count) : NULL;
    for (size_t i = 0; i < count; i++) {
        options.launch = &chosen[i];
        run_clusters(result, kernel, &options, i + 1 == count);
    }
    if (!count) /* given, or chosen without a say; or it cannot be run at all, and this says why */
        run_clusters(result, kernel, &options, true);
}

/* ---- A trail -------------------------------------------------------------------------------------- */

static void replay(Result *result, size_t kernel) {
    const char *problem = check_replay(result->module, result->functions[kernel], &result->trail->rerun,
                                       result->source->name, &result->verdicts[kernel]);
    if (problem)
        result_fail(result, "%s", problem);
}

/* That of a whole grid has been run before; this says whether it could be. */
static void judge_grid(Result *result, size_t kernel) {
    const Row *row = result->rows[kernel];
    if (!row || row->count != result->trail->grid.count)
        result_fail(result, "the trail does not fit: it is one of other kernels, or of several in a row");
    else if (global_check_diverged(row->check))
        result_fail(result, "the trail does not fit this kernel: it cannot be run in that order");
}

/* ---- Thread barriers ------------------------------------------------------------------------------ */

/* Functions that kernels call are looked at with the first kernel. */
static void look_at_barriers(Result *result, size_t kernel) {
    Module *module = result->module;
    Verdict *verdict = &result->verdicts[kernel];
    bool summary = result->question.membar_summary;
    membar_findings(module, result->functions[kernel], summary, verdict);
    if (kernel != 0)
        return;
    size_t count = membar_functions(module, NULL, 0);
    const Op **functions = ARENA_ARRAY(&result->arena, const Op *, count + 1);
    const Op **kernels = ARENA_ARRAY(&result->arena, const Op *, count + 1);
    membar_functions(module, functions, count);
    size_t launched = program_kernels(module, kernels, count), next = 0;
    for (size_t i = 0; i < count; i++)
        if (next < launched && kernels[next] == functions[i]) /* both in the order of the text */
            next++;
        else
            membar_findings(module, functions[i], summary, verdict);
}

/* ---- One buffer ----------------------------------------------------------------------------------- */

enum { MOST_IDS = 1024 };

static int by_id(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* "; there is 0, 1, 8", or nothing if there is none. */
static const char *list_ids(Result *result) {
    int64_t ids[MOST_IDS];
    size_t count = 0;
    Text text = {0};
    for (size_t i = 0; i < result->report_count; i++)
        for (size_t k = 0; k < result->reports[i].buffer_count && count < MOST_IDS; k++)
            if (result->reports[i].buffers[k].id >= 0)
                ids[count++] = result->reports[i].buffers[k].id;
    qsort(ids, count, sizeof *ids, by_id);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || ids[i] != ids[i - 1])
            text_addf(&text, "%s%" PRId64, i ? ", " : "; there is ", ids[i]);
    return text_keep(&text, &result->arena);
}

/* Leaves what is about the buffers with the buffer.id that was asked for, and no kernel that has none. */
static void keep_buffer(void *context) {
    Result *result = context;
    size_t kept = 0;
    for (size_t i = 0; i < result->report_count; i++)
        if (report_keep_buffer(&result->arena, &result->reports[i], *result->question.buffer)) {
            result->reports[kept] = result->reports[i];
            result->traces[kept++] = result->traces[i];
        }
    if (!kept)
        result_fail(result, "there is no buffer with buffer.id %" PRId64 "%s", *result->question.buffer,
                    list_ids(result));
    result->report_count = kept;
}

/* ---- A verdict ------------------------------------------------------------------------------------ */

/* Keeps the findings that were asked for. */
static void pick_findings(void *context) {
    const Look *look = context;
    Verdict *verdict = &look->result->verdicts[look->at];
    size_t kept = 0, count = verdict->finding_count;
    for (size_t i = 0; i < count; i++)
        if (rule_listed(look->result->question.rules, rule_of(verdict->findings[i].rule)->id))
            verdict->findings[kept++] = verdict->findings[i];
    verdict->finding_count = kept;
    if (kept < count)
        verdict_note(verdict,
                     count - kept == 1 ? "%zu finding of other rules is left out"
                                       : "%zu findings of other rules are left out",
                     count - kept);
}

static void say_no_memory(void *context) {
    const Look *look = context;
    verdict_incomplete(&look->result->verdicts[look->at], "", 0, "the run takes more memory than it may");
}

static void pass_progress(void *context, const char *launch, uint64_t cluster, uint64_t clusters) {
    const Look *look = context;
    const Question *question = &look->result->question;
    question->progress(question->progress_context, look->request, launch, cluster, clusters);
}

static void set_progress(Question *question, Look *look) {
    bool wanted = look && question->progress;
    question->runs.progress = question->global_options.progress = wanted ? pass_progress : NULL;
    question->runs.context = question->global_options.context = look;
}

/* ---- The page ------------------------------------------------------------------------------------- */

/* What `weir check` does to a kernel once its grid has run as a whole (result_check), in order. Each step adds what it
 * finds, and what it could not look at, to the kernel's verdict. */
static void check_kernel(void *context) {
    const Look *look = context;
    Result *result = look->result;
    const Question *question = &result->question;
    if (question->lint) /* what the hardware does not allow, read off the IR */
        lint_kernel(result, look->at);
    if (question->lint_only)
        return;
    if (!result->trail) /* compile, and run every cluster in the schedules that matter: deadlocks, races, the report */
        run_launches(result, look->at);
    else if (result->trail->whole)
        judge_grid(result, look->at);
    else
        replay(result, look->at);
    if (question->membar) /* thread barriers, over all paths */
        look_at_barriers(result, look->at);
}

static void check_and_close(Result *result, size_t kernel) {
    Question *question = &result->question;
    Verdict *verdict = &result->verdicts[kernel];
    Look look = {.result = result, .at = kernel, .request = verdict->kernel};
    Row grid = {0};
    bool alone = question->global && !result->rows[kernel] && !question->lint_only;
    set_progress(question, &look);
    if (alone) /* the whole grid on one memory, where a launch was given: races between CTAs, and what loads find */
        row_run(&grid, &result, 1, kernel, 1);
    if (!result_attempt(result, check_kernel, &look)) {
        result->arena.budget += LAST_WORDS;
        result_attempt(result, say_no_memory, &look);
        verdict->kind = VERDICT_INCOMPLETE; /* even if there was no memory to say it */
    }
    if (alone)
        row_free(&grid);
    set_progress(question, NULL);
    verdict->kernel = look.request;
    if (question->rules)
        result_attempt(result, pick_findings, &look);
    verdict_close(verdict);
    result->kind = verdict_worse(result->kind, verdict->kind);
}

void result_check(Result *result) {
    for (size_t i = 0; i < result->count; i++)
        check_and_close(result, i);
    if (result->question.buffer && result->report_count && !*result->problem)
        result_attempt(result, keep_buffer, result);
    result_close(result);
}

/* ---- Results -------------------------------------------------------------------------------------- */

void result_init(Result *result, Module *module) {
    *result = (Result){.module = module, .problem = ""};
    arena_init(&result->arena, result_budget);
}

void result_free(Result *result) {
    arena_free(&result->arena);
    diagnostics_free(&result->diagnostics);
    source_free(result->source);
}

bool result_fail(Result *result, const char *format, ...) {
    Text text = {0};
    va_list arguments;
    va_start(arguments, format);
    text_vaddf(&text, format, arguments);
    va_end(arguments);
    result->problem = text_keep(&text, &result->arena);
    return false;
}

void result_close(Result *result) {
    if (!*result->problem && !result->diagnostics.errors)
        return;
    result->kind = VERDICT_ERROR;
    result->count = result->report_count = 0;
}

static void set_exhausted(Result *const *results, size_t count, Arena *arena, jmp_buf *exhausted) {
    if (arena)
        arena->exhausted = exhausted;
    for (size_t i = 0; i < count; i++) {
        Arena *of_module = &results[i]->module->arena;
        of_module->budget = of_module->held + work_budget;
        of_module->exhausted = results[i]->arena.exhausted = exhausted;
    }
}

bool results_attempt(Result *const *results, size_t count, Arena *arena, Task *work, void *context) {
    jmp_buf exhausted;
    if (setjmp(exhausted)) {
        set_exhausted(results, count, arena, NULL);
        return false;
    }
    set_exhausted(results, count, arena, &exhausted);
    work(context);
    set_exhausted(results, count, arena, NULL);
    return true;
}

bool result_attempt(Result *result, Task *work, void *context) {
    return results_attempt(&result, 1, NULL, work, context);
}
