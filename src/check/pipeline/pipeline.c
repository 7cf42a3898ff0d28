/* What is done to each kernel, in order: the page to read first. */
#include "check/pipeline/internal.h"

#include "base/deadline.h"
#include "base/hash.h"

#include <stdio.h>

/* What `weir check` does to a kernel once its grid has run as a whole (result_check), in order. Each step adds what it
 * finds, and what it could not look at, to the kernel's verdict. */
static void check_kernel(void *context) {
    const Look *look = context;
    PipelineResult *result = look->result;
    const Question *question = &result->question;
    if (deadline_look()) /* of all that is checked at once: there is none left for this one */
        return;
    if (result->program) {
        step_program(result, look->at); /* the operations of a program, and what orders them; or its launches */
        return;
    }
    if (question->lint)
        step_lint(result, look->at); /* what the hardware does not allow, read off the IR */
    if (question->lint_only)
        return;
    if (result->ptx) {
        step_threads(result, look->at); /* every launch, thread by thread */
        return;
    }
    if (result->trail)
        step_trail(result, look->at); /* that run alone */
    else if (look->covered)
        step_covered(result, look->at); /* there is nothing to be run for */
    else
        step_runs(result, look->at); /* every launch: compiled, each cluster run; deadlocks, races, the report */
    if (!question->global && !result->trail)
        step_left_out(result, look->at); /* what --gsan off leaves open */
    if (question->membar)
        step_barriers(result, look->at); /* thread barriers, over all paths */
}

static void say_no_memory(void *context) {
    const Look *look = context;
    verdict_incomplete(&look->result->verdicts[look->at], "", 0, "the run needs more memory than the limit%s",
                       look->result->question.memory ? " (raise --memory-limit)" : "");
}

static void say_stopped(void *context) {
    const Look *look = context;
    verdict_incomplete(&look->result->verdicts[look->at], "", 0,
                       "the time for checks ran out before it was fully checked (raise --check-time)");
}

static void say_too_late(void *context) {
    const Look *look = context;
    verdict_incomplete(&look->result->verdicts[look->at], "", 0,
                       "timed out after %u s of processor time (%.0f s by the clock) before it was fully checked "
                       "(raise --timeout)",
                       look->result->question.timeout, deadline_seconds());
}

void result_starts(const PipelineResult *result) {
    const Question *question = &result->question;
    deadline_start(question->timeout, question->stop, question->stop_context);
    arena_limit((size_t)question->memory);
}

bool result_ends(void) {
    arena_limit(0);
    return deadline_end();
}

void result_is_late(PipelineResult *result, size_t kernel, bool stopped) {
    Look look = {.result = result, .at = kernel};
    result->arena.budget += LAST_WORDS;
    result_attempt(result, stopped ? say_stopped : say_too_late, &look);
    result->verdicts[kernel].kind = VERDICT_INCOMPLETE; /* even if there was no memory to say it */
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

/* Whether the launch is the one that was checked, and the IR the one it was. */
static bool is_as_checked(const PipelineResult *result, const Launch *launch) {
    char hash[20];
    const Source *source = result->module->source;
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)hash_bytes(HASH_START, source->data, source->size));
    return str_is(launch->checked, hash) && !result->question.argument_count && !result->question.grid;
}

/* Of a launch that ran on Weir's device, which has all data and checks the PTX, but lets no launch begin before the one
 * before it has ended. */
static void take_checked(void *context) {
    const Look *look = context;
    Verdict *verdict = &look->result->verdicts[look->at];
    const Launch *given = look->result->ptx ? NULL : result_given_launch(look->result, look->at);
    if (!given || !given->checked.size || given->dependent || look->result->trail || look->result->question.lint_only ||
        !is_as_checked(look->result, given))
        return;
    if (!verdict->launch_count)
        *verdict_launch(verdict) = (LaunchRun){.text = launch_text(given, &look->result->arena)};
    verdict_decided(verdict, "decided by its PTX, which ran with its data");
}

/* Whether a run has nothing to decide: its PTX, which ran with its data, was checked, and a proof covers it. */
static bool need_not_run(PipelineResult *result, size_t kernel) {
    const Launch *given = result->ptx ? NULL : result_given_launch(result, kernel);
    return given && given->checked.size && is_as_checked(result, given) && !result->question.report &&
           !result->rows[kernel] && is_covered(result, kernel);
}

/* First the whole grid on one memory, if it is not one of a row; then the kernel by itself; then its verdict. */
static void check_and_close(PipelineResult *result, size_t kernel) {
    Question *question = &result->question;
    Verdict *verdict = &result->verdicts[kernel];
    Look look = {.result = result, .at = kernel, .request = verdict->kernel};
    Row grid = {0};
    look.covered = need_not_run(result, kernel);
    bool alone = question->global && !result->rows[kernel] && !question->lint_only && !result->ptx && !look.covered;
    double started = clock_seconds();
    set_progress(question, &look);
    result_starts(result);
    if (alone && !result->trail && !result_given_launch(result, kernel))
        row_run_chosen(&grid, result, kernel);
    else if (alone)
        row_run(&grid, &result, 1, kernel, 1);
    /* Other launches may come to accesses that the given one does not make. */
    if (alone && grid.check && grid.count == 1 && !result->trail && !question->only_launch && !verdict->finding_count)
        row_run_chosen(&grid, result, kernel);
    bool complete = result_attempt(result, check_kernel, &look);
    bool stopped = deadline.stopped;
    if (result_ends()) {
        result_is_late(result, kernel, stopped);
    } else if (!complete) {
        result->arena.budget += LAST_WORDS;
        result_attempt(result, say_no_memory, &look);
        verdict->kind = VERDICT_INCOMPLETE; /* even if there was no memory to say it */
    }
    if (alone)
        row_free(&grid);
    set_progress(question, NULL);
    if (!result->program)
        verdict->kernel = look.request;
    if (complete) {
        result_cross_check(result, kernel);
        result_attempt(result, result->recording ? step_recorded_proof : step_proof, &look);
        result_attempt(result, step_promises, &look);
    }
    verdict_drop_halves(verdict);
    step_rules(result, kernel);
    result_attempt(result, step_lines, &look);
    step_fingerprints(result, kernel);
    step_project(result, kernel);
    verdict->seconds = clock_seconds() - started;
    verdict->replayed = result->trail || result->threads_trail;
    result_attempt(result, take_checked, &look);
    verdict_close(verdict);
    result_attempt(result, step_scope, &look);
    if (result->question.report && complete) {
        result_attempt(result, step_head, &look);
        result_attempt(result, step_code, &look);
    }
    result->kind = verdict_worse(result->kind, verdict->kind);
}

void result_check(PipelineResult *result) {
    for (size_t i = 0; i < result->count; i++)
        check_and_close(result, i);
    if (result->question.buffer && result->report_count && !*result->problem)
        result_attempt(result, step_buffer, result);
    result_close(result);
}
