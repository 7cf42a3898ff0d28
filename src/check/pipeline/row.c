/* Launches in a row: all of them run side by side on one global memory, before each cluster of each kernel is run by
 * itself; and such a run step by step. */
#include "base/deadline.h"
#include "check/pipeline/internal.h"

#include <stdlib.h>

/* Of what a run of a grid keeps: its memory, its clusters, what their loads gave. */
static const size_t row_budget = (size_t)4 << 30;

/* The kernels that a row is made of, or that a run of one shows. */
typedef struct RowWork {
    Row *row;
    PipelineResult *const *results;
    size_t count;
    size_t first, most; /* kernels of each */
    Text *to;           /* where it is shown */
    bool shown;
} RowWork;

/* ---- Which kernels -------------------------------------------------------------------------------- */

/* How kernel `kernel` of the result is launched as number `place` of the row, by a trail if there is one; NULL: none
 * said. */
static const Launch *launch_of(const PipelineResult *result, const TrailFile *trail, size_t kernel, size_t place) {
    if (!trail)
        return result_given_launch(result, kernel);
    bool fits = trail->whole && place < trail->grid.count &&
                str_equal(op_symbol(result->functions[kernel]), trail->grid.kernels[place]);
    return fits ? &trail->grid.launches[place] : NULL;
}

static void make_room(const RowWork *work) {
    size_t kernels = 0;
    for (size_t i = 0; i < work->count; i++)
        kernels += work->results[i]->count;
    work->row->kernels = ARENA_ARRAY(&work->row->arena, GlobalKernel, kernels + 1);
}

static void add_kernel(Row *row, const PipelineResult *result, size_t kernel, const Launch *launch, Verdict *verdict) {
    row->kernels[row->count++] = (GlobalKernel){
        .module = result->module, .function = result->functions[kernel], .launch = launch, .verdict = verdict};
}

/* ---- Running -------------------------------------------------------------------------------------- */

static void run(Row *row, const GridTrail *trail) {
    GlobalOptions *options = &row->options;
    if (trail) {
        options->replay = trail;
        options->devices = trail->devices;
        options->resident = trail->resident;
        if (trail->granule)
            options->engine.granule = trail->granule;
    }
    row->check = global_check_new(&row->arena);
    global_check_run(row->check, row->kernels, row->count, options);
}

static void run_row(void *context) {
    const RowWork *work = context;
    Row *row = work->row;
    make_room(work);
    for (size_t i = 0; i < work->count; i++) {
        PipelineResult *result = work->results[i];
        for (size_t k = work->first; k < result->count && k - work->first < work->most; k++) {
            const Launch *launch = launch_of(result, result->trail, k, row->count);
            if (!launch || launch->chosen)
                continue;
            result->places[k] = row->count;
            result->rows[k] = row;
            add_kernel(row, result, k, launch, &result->verdicts[k]);
        }
    }
    const PipelineResult *first = work->results[0];
    row->options = first->question.global_options;
    run(row, first->trail ? &first->trail->grid : NULL);
}

static void say_no_memory(void *context) {
    const Row *row = ((const RowWork *)context)->row;
    for (size_t i = 0; i < row->count && !deadline.missed; i++)
        verdict_incomplete(row->kernels[i].verdict, "", 0,
                           "global memory was not checked: that needs more memory than the limit");
}

void row_run(Row *row, PipelineResult *const *results, size_t count, size_t first, size_t most) {
    RowWork work = {.row = row, .results = results, .count = count, .first = first, .most = most};
    arena_init(&row->arena, row_budget);
    if (results_attempt(results, count, &row->arena, run_row, &work))
        return;
    global_check_free(row->check);
    row->check = NULL;
    for (size_t i = 0; i < count; i++)
        results[i]->arena.budget += LAST_WORDS;
    results_attempt(results, count, &row->arena, say_no_memory, &work);
}

/* ---- Kernels without a launch ------------------------------------------------------------------ */

static void run_chosen(void *context) {
    const RowWork *work = context;
    PipelineResult *result = work->results[0];
    Row *row = work->row;
    size_t count;
    Launch given = {.grid = {0, 0, 0}};
    if (row->check && global_check_reached_all(row->check))
        return;
    const Launch *bases = result_choose(result, work->first, &count);
    if (!row->check) {
        make_room(work);
        add_kernel(row, result, work->first, NULL, &result->verdicts[work->first]);
    }
    if (count && result_set_arguments(result, &given))
        global_check_chosen(&row->arena, &row->kernels[0], bases, count, &given, &result->question.global_options,
                            row->check, row->chosen);
}

void row_run_chosen(Row *row, PipelineResult *result, size_t kernel) {
    RowWork work = {.row = row, .results = &result, .count = 1, .first = kernel, .most = 1};
    if (!row->check)
        arena_init(&row->arena, row_budget);
    if (results_attempt(&result, 1, &row->arena, run_chosen, &work))
        return;
    result->arena.budget += LAST_WORDS;
    results_attempt(&result, 1, &row->arena, say_no_memory, &work);
}

void row_free(Row *row) {
    global_check_free(row->check);
    for (unsigned i = 0; i < CHOSEN_CHECKS; i++)
        global_check_free(row->chosen[i]);
    arena_free(&row->arena);
}

/* ---- Recordings ----------------------------------------------------------------------------------- */

/* Each is of one kernel. */
static bool are_recordings(PipelineResult *const *results, size_t count) {
    bool all = count > 1;
    for (size_t i = 0; i < count; i++)
        all &= results[i]->recording && results[i]->count == 1 && !*results[i]->problem;
    return all;
}

static void report_closed(const RowWork *work) {
    for (size_t i = 0; i < work->count; i++)
        verdict_incomplete(&work->results[i]->verdicts[0], "", 0,
                           "races with launches that may have run at the same time were not checked: the recording "
                           "of one of them cannot be opened");
}

static void check_recordings(void *context) {
    RowWork *work = context;
    RecordedLaunch *launches = ARENA_ARRAY(&work->row->arena, RecordedLaunch, work->count);
    ThreadsOptions *options = ARENA_ARRAY(&work->row->arena, ThreadsOptions, work->count);
    for (size_t i = 0; i < work->count; i++) {
        PipelineResult *result = work->results[i];
        if (!result_open(result, 0)) {
            report_closed(work); /* each is looked at alone, as far as it can be */
            return;
        }
        launches[i] = result_recorded(result, &options[i]);
    }
    recordings_check(launches, work->count, &work->row->arena);
    for (size_t i = 0; i < work->count; i++)
        work->results[i]->together = launches[i].together;
}

static void run_recordings(Row *row, PipelineResult *const *results, size_t count) {
    RowWork work = {.row = row, .results = results, .count = count};
    arena_init(&row->arena, row_budget);
    if (results_attempt(results, count, &row->arena, check_recordings, &work))
        return;
    for (size_t i = 0; i < count; i++) {
        results[i]->arena.budget += LAST_WORDS;
        results[i]->verdicts[0].kind = VERDICT_INCOMPLETE;
    }
}

static void check_in_order(PipelineResult *const *results, size_t count) {
    Row row = {0};
    bool ready = count > 0;
    if (are_recordings(results, count)) {
        result_starts(results[0]);
        run_recordings(&row, results, count);
        bool stopped = deadline.stopped;
        if (result_ends())
            for (size_t i = 0; i < count; i++)
                result_is_late(results[i], 0, stopped);
    }
    for (size_t i = 0; i < count; i++)
        ready &= results[i]->question.global && !*results[i]->problem && !results[i]->ptx; /* that is run by itself */
    if (ready) {
        result_starts(results[0]);
        row_run(&row, results, count, 0, SIZE_MAX);
        bool stopped = deadline.stopped;
        if (result_ends())
            for (size_t i = 0; i < count; i++)
                for (size_t k = 0; k < results[i]->count; k++)
                    result_is_late(results[i], k, stopped);
    }
    for (size_t i = 0; i < count; i++)
        result_check(results[i]);
    row_free(&row);
}

/* ---- The order of inputs --------------------------------------------------------------------------- */

static bool has_kernel(const PipelineResult *result, Str name) {
    bool found = false;
    for (size_t i = 0; !result->ptx && !found && i < result->count; i++) {
        const Launch *launch = result_given_launch(result, i);
        found = str_equal(op_symbol(result->functions[i]), name) || (launch && str_equal(launch->kernel, name));
    }
    return found;
}

/* Whether a kernel that the launches of `result` come after is in an input of the rest, and in none before. */
static bool has_to_wait(PipelineResult *const *results, size_t place, size_t at, size_t count) {
    const PipelineResult *result = results[at];
    for (size_t k = 0; !result->ptx && k < result->count; k++) {
        const Launch *launch = result_given_launch(result, k);
        for (size_t n = 0; launch && n < launch->after_count; n++) {
            bool before = false, later = false;
            for (size_t i = 0; i < count; i++) {
                bool has = i != at && has_kernel(results[i], launch->after[n]);
                before |= has && i < place;
                later |= has && i >= place;
            }
            if (later && !before)
                return true;
        }
    }
    return false;
}

/* The input that comes next: as they are given, but for those whose launches are after those of another one; of a
 * trail, the one that it has there. */
static size_t next_input(PipelineResult *const *results, size_t place, size_t count) {
    const TrailFile *trail = results[0]->trail;
    for (size_t i = place; i < count; i++) {
        bool fits = trail && trail->whole && place < trail->grid.count;
        if (fits ? has_kernel(results[i], trail->grid.kernels[place]) : !has_to_wait(results, place, i, count))
            return i;
    }
    return place; /* they wait for each other: that is reported */
}

static void sort_inputs(PipelineResult **results, size_t count) {
    for (size_t place = 0; place < count; place++) {
        size_t next = next_input(results, place, count);
        PipelineResult *moved = results[next];
        memmove(&results[place + 1], &results[place], (next - place) * sizeof *results);
        results[place] = moved;
    }
}

void results_check(PipelineResult *const *given, size_t count) {
    PipelineResult **results = calloc(count + 1, sizeof *results);
    for (size_t i = 0; results && i < count; i++)
        results[i] = given[i];
    if (!results) {
        for (size_t i = 0; i < count; i++) {
            result_fail(given[i], "there is not enough memory");
            result_close(given[i]);
        }
        return;
    }
    sort_inputs(results, count);
    check_in_order(results, count);
    free(results);
}

/* ---- Step by step --------------------------------------------------------------------------------- */

/* A run of the whole grid that is to be told, and what its schedule is called. */
typedef struct RowShown {
    const TrailFile *trail;
    const char *schedule;
} RowShown;

/* That of the trail, or of the first finding that has a witness; no trail: that is one of a single cluster. */
static RowShown find_shown(const RowWork *work) {
    const TrailFile *given = work->results[0]->trail;
    TrailFile *trail = ARENA_NEW(&work->row->arena, TrailFile);
    if (given)
        return (RowShown){given->whole ? given : NULL, "the schedule of the trail"};
    for (size_t i = 0; i < work->count; i++)
        for (size_t k = 0; !work->results[i]->ptx && k < work->results[i]->count; k++) {
            const Verdict *verdict = &work->results[i]->verdicts[k];
            for (size_t n = 0; n < verdict->finding_count; n++) {
                const Finding *finding = &verdict->findings[n];
                if (grid_trail_read_text(&work->row->arena, finding->witness, trail))
                    return (RowShown){trail, finding->schedule};
                if (*finding->witness)
                    return (RowShown){NULL, ""};
            }
        }
    return (RowShown){NULL, ""};
}

/* The kernels of the trail, each with a verdict that is not read; false if they are others. */
static bool add_shown(const RowWork *work, const TrailFile *trail) {
    Row *row = work->row;
    Verdict *ignored = ARENA_NEW(&row->arena, Verdict);
    ignored->arena = &row->arena;
    make_room(work);
    for (size_t i = 0; i < work->count; i++)
        for (size_t k = 0; k < work->results[i]->count; k++) {
            const Launch *launch = launch_of(work->results[i], trail, k, row->count);
            if (launch)
                add_kernel(row, work->results[i], k, launch, ignored);
        }
    return row->count == trail->grid.count;
}

static void show_row(void *context) {
    RowWork *work = context;
    Row *row = work->row;
    RowShown what = find_shown(work);
    if (!what.trail || !add_shown(work, what.trail))
        return;
    row->options = work->results[0]->question.global_options;
    row->options.engine = gsan_exact(&row->options.engine);
    row->options.steps = work->to;
    row->options.schedule = what.schedule;
    run(row, &what.trail->grid);
    work->shown = true;
}

bool results_show_row(PipelineResult *const *results, size_t count, Text *to) {
    Row row = {0};
    RowWork work = {.row = &row, .results = results, .count = count, .to = to};
    arena_init(&row.arena, row_budget);
    results_attempt(results, count, &row.arena, show_row, &work);
    row_free(&row);
    return work.shown;
}
