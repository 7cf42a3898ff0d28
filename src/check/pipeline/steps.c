/* The steps of a check: each looks at one kernel in its way, and adds to its verdict. */
#include "check/pipeline/internal.h"

#include "base/deadline.h"
#include "base/order.h"
#include "check/explain/source_lines.h"
#include "check/launches/launches.h"
#include "check/lint/ptx/lint.h"
#include "check/lint/tile/lint.h"
#include "check/program/check.h"
#include "check/report/build/head.h"
#include "check/report/build/one_buffer.h"
#include "check/report/build/report.h"
#include "check/report/trace/report.h"
#include "check/simt/check.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- The IR and the launches ---------------------------------------------------------------------- */

/* What is known of the launch: a file's, or only what the command line says, which leaves the rest open. */
static const Launch *lint_launch(PipelineResult *result, size_t kernel) {
    const Launch *given = result_given_launch(result, kernel);
    return given ? given : result_fixed(result);
}

/* The releases of Triton that lower the IR, by the user's or the launch's word; 0: not named. */
static ReleaseSet named_releases(PipelineResult *result, size_t kernel) {
    const Launch *launch = lint_launch(result, kernel);
    return result->question.releases || !launch ? result->question.releases : releases_named(launch->triton);
}

/* What a cluster found in memory when the whole grid ran. */
static const LoadLog *find_loads(void *context, uint64_t cluster) {
    const Look *look = context;
    return global_check_loads(look->result->rows[look->at]->check, look->result->places[look->at], cluster);
}

void step_lint(PipelineResult *result, size_t kernel) {
    if (result->ptx) {
        ptx_lint(result->ptx, result->entries[kernel], kernel == 0, result->question.target, &result->verdicts[kernel]);
        return;
    }
    LintOptions options = {.target = result->question.target,
                           .launch = lint_launch(result, kernel),
                           .releases = named_releases(result, kernel),
                           .alone = result->question.lint_only,
                           .chosen = &result->chosen};
    Look look = {.result = result, .at = kernel};
    if (result->rows[kernel] && result_given_launch(result, kernel)) {
        options.loads = find_loads;
        options.loads_context = &look;
    }
    lint_check(result->module, result->functions[kernel], &options, &result->verdicts[kernel]);
}

/* Runs every cluster of the launches, and makes the report, if one is wanted. */
static void run_clusters(PipelineResult *result, size_t kernel, const CheckOptions *options) {
    Verdict *verdict = &result->verdicts[kernel];
    if (!result->question.report) {
        check_runs(result->module, result->functions[kernel], options, verdict);
        report_check_plan(result->module, result->functions[kernel], verdict);
        return;
    }
    Report *report = &result->reports[kernel];
    *report = *report_build(result->module, result->functions[kernel], options, verdict, &result->traces[kernel]);
    report->module = result->question.module;
}

void step_runs(PipelineResult *result, size_t kernel) {
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
        verdict_unreached(&result->verdicts[kernel], "", 0,
                          "the grid hangs at this launch: Weir did not check its CTAs one by one, and ran no other "
                          "launch");
        return;
    }
    options.settle = result->question.project || result->question.rules ? settle_findings : NULL;
    options.settle_context = &look;
    options.fixed = result_fixed(result);
    options.only_launch = result->question.only_launch;
    options.chosen = &result->chosen;
    run_clusters(result, kernel, &options);
}

void step_covered(PipelineResult *result, size_t kernel) {
    *verdict_launch(&result->verdicts[kernel]) =
        (LaunchRun){.text = launch_text(result_given_launch(result, kernel), &result->arena), .covered = true};
}

/* ---- PTX ------------------------------------------------------------------------------------------ */

ThreadsOptions result_threads(PipelineResult *result, size_t kernel) {
    static const ThreadsOrders orders[] = {
        [SCHEDULES_DIRECTED] = ORDERS_DIRECTED, [SCHEDULES_EAGER] = ORDERS_EAGER,
        [SCHEDULES_LAZY] = ORDERS_LAZY,         [SCHEDULES_ROUND_ROBIN] = ORDERS_ROUND_ROBIN,
        [SCHEDULES_RANDOM] = ORDERS_RANDOM,     [SCHEDULES_ALL] = ORDERS_ALL,
    };
    const Question *question = &result->question;
    return (ThreadsOptions){.launch = result_given_launch(result, kernel),
                            .placed = question->placed,
                            .prepared = question->prepared,
                            .fixed = result_fixed(result),
                            .only_launch = question->only_launch,
                            .volatile_races = question->volatile_races ||
                                              (result->threads_trail && result->threads_trail->volatile_races),
                            .computes = question->computes,
                            .budget = question->runs.budget,
                            .seed = question->runs.seed,
                            .orders = orders[question->runs.choice],
                            .random = question->runs.schedules,
                            .trail = result->threads_trail,
                            .together = result->together,
                            .core = question->core,
                            .core_context = question->core_context,
                            .core_after = question->core_after,
                            .progress = question->runs.progress,
                            .context = question->runs.context};
}

RecordedLaunch result_recorded(PipelineResult *result, ThreadsOptions *options) {
    *options = result_threads(result, 0);
    return (RecordedLaunch){.module = result->ptx,
                            .entry = result->entries[0],
                            .recording = result->recording,
                            .file = result->module->source->name,
                            .options = options,
                            .verdict = &result->verdicts[0]};
}

bool result_open(PipelineResult *result, size_t kernel) {
    const char *problem = "there is not enough memory to open the recording's chunks";
    Arena *arena = result->recorded;
    volatile bool good = false;
    jmp_buf here;
    arena->exhausted = &here;
    if (!setjmp(here))
        good = recording_open(result->recording, arena, &problem);
    arena->exhausted = NULL;
    if (!good && !deadline.missed) /* that is reported */
        verdict_incomplete(&result->verdicts[kernel], "", 0, "%s", problem);
    return good;
}

void step_threads(PipelineResult *result, size_t kernel) {
    ThreadsOptions options = result_threads(result, kernel);
    if (result->recording && !result_open(result, kernel))
        return;
    if (result->recording && options.trail && options.trail->beside && !result->together)
        verdict_incomplete(&result->verdicts[kernel], "", 0,
                           "the trail is of launches that were played together: give the recordings of all of them");
    if (result->recording && result->question.report)
        recording_report(result->ptx, result->entries[kernel], result->recording, &options, &result->verdicts[kernel],
                         &result->reports[kernel], &result->traces[kernel]);
    else if (result->recording)
        recording_check(result->ptx, result->entries[kernel], result->recording, &options, &result->verdicts[kernel]);
    else if (result->question.report)
        trace_report_report(result->ptx, result->entries[kernel], &options, &result->verdicts[kernel],
                            &result->reports[kernel], &result->traces[kernel]);
    else
        threads_check(result->ptx, result->entries[kernel], &options, &result->verdicts[kernel]);
}

/* The engine's, of the machine's. */
static Touch touch_of(const TouchedBytes *bytes) {
    static const uint8_t ways[] = {[TOUCHED_READ] = TOUCH_READ,
                                   [TOUCHED_WRITE] = TOUCH_WRITE,
                                   [TOUCHED_STRONG_READ] = TOUCH_STRONG_READ,
                                   [TOUCHED_STRONG_WRITE] = TOUCH_STRONG_WRITE};
    return (Touch){.begin = bytes->address,
                   .bytes = bytes->bytes,
                   .stride = bytes->count > 1 ? bytes->stride : 0,
                   .count = bytes->count,
                   .how = ways[bytes->way],
                   .early = bytes->early};
}

bool result_touches(PipelineResult *result, ProgramRecording *recording, Arena *arena) {
    ThreadsOptions options = result_threads(result, 0);
    RecordingTouches touches;
    if (result->recording->shadow.size)
        return result_shadow_touches(result, recording, arena);
    if (!result->recording->ptx.size || !result_open(result, 0) ||
        !recording_touches(result->ptx, result->entries[0], result->recording, &options, &result->arena, &touches))
        return false;
    recording->touches = ARENA_ARRAY(arena, Touch, touches.count + 1);
    for (uint32_t i = 0; i < touches.count; i++)
        recording->touches[i] = touch_of(&touches.items[i]);
    recording->touch_count = touches.count;
    recording->dependent = touches.dependent;
    recording->waits = touches.waits;
    free(touches.items);
    return true;
}

/* Once more where a recording tells what would be left open. */
void step_program(PipelineResult *result, size_t kernel) {
    enum { MOST_TIMES = 8 };
    bool report = result->question.report, launches = launches_in(result->program), again = !launches;
    Verdict *verdict = &result->verdicts[kernel], fresh = *verdict;
    ProgramRecordings recordings = {0};
    if (launches)
        launches_verdict(result->program, verdict);
    for (int times = 0; again && times < MOST_TIMES; times++) {
        *verdict = fresh;
        if (report)
            result->traces[kernel] = (Trace){0};
        program_check(result->program, &recordings, verdict, report ? &result->traces[kernel] : NULL,
                      &result->diagnostics);
        again = result->find_recordings && !result->diagnostics.errors && result->find_recordings(result, &recordings);
    }
    if (report)
        result->reports[kernel] = report_blank(result->program->name, verdict);
    if (report && result->verdicts[kernel].launch_count)
        result->reports[kernel].launch = result->verdicts[kernel].launches[0].text;
}

/* ---- Global memory that was not asked for --------------------------------------------- */

static bool writes_global(Module *module, const Op *op) {
    Effect effects[EFFECTS_MOST];
    unsigned count = effects_of(module, op, effects);
    for (unsigned i = 0; i < count; i++)
        if (effects[i].space == SPACE_GLOBAL && effect_is_access(&effects[i]) && effects[i].verb != EFFECT_READ)
            return true;
    return false;
}

void step_left_out(PipelineResult *result, size_t kernel) {
    for (const Op *op = module_first_op(result->module); op; op = op_next_in_walk(op, NULL)) {
        if (!writes_global(result->module, op))
            continue;
        verdict_incomplete(&result->verdicts[kernel], "", 0, "races in global memory were not checked (--gsan off)");
        return;
    }
}

/* ---- A trail -------------------------------------------------------------------------------------- */

static void replay(PipelineResult *result, size_t kernel) {
    const char *problem = check_replay(result->module, result->functions[kernel], &result->trail->rerun,
                                       result->source->name, &result->verdicts[kernel]);
    if (problem)
        result_fail(result, "%s", problem);
}

/* That of a whole grid has been run before; this says whether it could be. */
static void judge_grid(PipelineResult *result, size_t kernel) {
    const Row *row = result->rows[kernel];
    if (!row || row->count != result->trail->grid.count)
        result_fail(result, "the trail does not fit: it is for other kernels, or for several in a row");
    else if (global_check_diverged(row->check))
        result_fail(result, "the trail does not fit this kernel: it cannot be run in that order");
}

void step_trail(PipelineResult *result, size_t kernel) {
    if (result->trail->whole)
        judge_grid(result, kernel);
    else
        replay(result, kernel);
}

/* ---- Thread barriers ------------------------------------------------------------------------------ */

void step_barriers(PipelineResult *result, size_t kernel) {
    Module *module = result->module;
    Verdict *verdict = &result->verdicts[kernel];
    bool summary = result->question.membar_summary;
    ReleaseSet releases = named_releases(result, kernel);
    membar_findings(module, result->functions[kernel], releases, summary, verdict);
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
            membar_findings(module, functions[i], releases, summary, verdict);
}

/* ---- One buffer ----------------------------------------------------------------------------------- */

enum { MOST_IDS = 1024 };

ORDER_NUMBERS(by_id, int64_t)

/* "; there is 0, 1, 8", or nothing if there is none. */
static const char *list_ids(PipelineResult *result) {
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

void step_buffer(void *context) {
    PipelineResult *result = context;
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

/* ---- What was asked for --------------------------------------------------------------------------- */

void step_rules(PipelineResult *result, size_t kernel) {
    const char *rules = result->question.rules;
    Verdict *verdict = &result->verdicts[kernel];
    for (size_t i = 0; rules && i < verdict->finding_count; i++) {
        Finding *finding = &verdict->findings[i];
        if (!rule_listed(rules, rule_of(finding->rule)->id)) {
            finding->suppressed = SUPPRESSED_CONFIG;
            finding->reason = "its rule is not selected";
        }
    }
}

void step_scope(void *context) {
    const Look *look = context;
    PipelineResult *result = look->result;
    Verdict *verdict = &result->verdicts[look->at];
    if (!result->question.lint_only && !result->program) /* of a program there is the run that was made, and no other */
        verdict_require(verdict, result->question.required);
}

void step_head(void *context) {
    const Look *look = context;
    report_lead(&look->result->reports[look->at], &look->result->verdicts[look->at]);
}

/* Of what was not looked at, the lines of the kernel's own source. */
static void place_incomplete(PipelineResult *result, Verdict *verdict) {
    PtxPlace places[PTX_MOST_PLACES];
    for (size_t i = 0; i < verdict->incomplete_count; i++) {
        Incomplete *incomplete = &verdict->incomplete[i];
        uint32_t statement = incomplete->ir_line ? ptx_statement_on(result->ptx, incomplete->ir_line) : PTX_NONE;
        uint32_t count = statement == PTX_NONE ? 0 : ptx_places(result->ptx, statement, places, PTX_MOST_PLACES);
        if (!count)
            continue;
        const PtxPlace *own = &places[ptx_own_place(places, count)];
        incomplete->file = arena_copy(verdict->arena, own->file.data, own->file.size);
        incomplete->line = own->line;
        incomplete->column = own->column;
    }
}

void step_lines(void *context) {
    const Look *look = context;
    Verdict *verdict = &look->result->verdicts[look->at];
    if (look->result->ptx) /* texts about PTX name lines of PTX alone: places have both */
        place_incomplete(look->result, verdict);
    else
        verdict_name_source(verdict, look->result->module);
}
