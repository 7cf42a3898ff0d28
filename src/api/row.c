/* Launches in a row: all of them run side by side on one global memory, before each cluster of each kernel is run by
 * itself. */
#include "api/internal.h"

/* Of what a run of a grid keeps: its memory, its clusters, what their loads gave; and of a module, beside what it has
 * already. */
static const size_t row_budget = (size_t)4 << 30, module_budget = (size_t)2 << 30;

/* ---- Which kernels -------------------------------------------------------------------------------- */

/* How kernel `kernel` of the outcome is launched as number `place` of the row, by a trail if there is one; NULL: nobody
 * said. */
static const Launch *launch_of(const weir_outcome *outcome, const TrailFile *trail, size_t kernel, size_t place) {
    if (!trail)
        return outcome_given_launch(outcome, kernel);
    bool fits = trail->whole && place < trail->grid.count &&
                str_equal(op_symbol(outcome->kernels[kernel]), trail->grid.kernels[place]);
    return fits ? &trail->grid.launches[place] : NULL;
}

static void add_kernel(Row *row, weir_outcome *outcome, size_t kernel) {
    const Launch *launch = launch_of(outcome, outcome->trail, kernel, row->kernel_count);
    if (!launch || launch->chosen)
        return;
    outcome->places[kernel] = row->kernel_count;
    outcome->rows[kernel] = row;
    row->kernels[row->kernel_count++] = (GlobalKernel){.module = &outcome->module->module,
                                                       .function = outcome->kernels[kernel],
                                                       .launch = launch,
                                                       .verdict = &outcome->verdicts[kernel]};
}

/* ---- Memory with a bound -------------------------------------------------------------------------- */

static void set_exhausted(Row *row, weir_outcome *const *outcomes, size_t count, jmp_buf *exhausted) {
    row->arena.exhausted = exhausted;
    for (size_t i = 0; i < count; i++) {
        Arena *of_module = &outcomes[i]->module->module.arena;
        of_module->budget = of_module->held + module_budget;
        of_module->exhausted = outcomes[i]->arena.exhausted = exhausted;
    }
}

static void say_no_memory(const Row *row) {
    for (size_t i = 0; i < row->kernel_count; i++)
        verdict_incomplete(row->kernels[i].verdict, "", 0,
                           "global memory was not looked at: that takes more memory than it may");
}

static void make_room(Row *row, weir_outcome *const *outcomes, size_t count) {
    size_t kernels = 0;
    for (size_t i = 0; i < count; i++)
        kernels += outcomes[i]->kernel_count;
    row->kernels = ARENA_ARRAY(&row->arena, GlobalKernel, kernels + 1);
}

static void set_replay(GlobalOptions *options, const GridTrail *trail) {
    options->replay = trail;
    options->devices = trail->devices;
    options->resident = trail->resident;
    if (trail->granule)
        options->engine.granule = trail->granule;
}

/* ---- Running -------------------------------------------------------------------------------------- */

void row_run(Row *row, weir_outcome *const *outcomes, size_t count, size_t first, size_t most) {
    jmp_buf exhausted;
    arena_init(&row->arena, row_budget);
    set_exhausted(row, outcomes, count, &exhausted);
    if (setjmp(exhausted) == 0) {
        make_room(row, outcomes, count);
        for (size_t i = 0; i < count; i++)
            for (size_t k = first; k < outcomes[i]->kernel_count && k - first < most; k++)
                add_kernel(row, outcomes[i], k);
        row->options = outcomes[0]->global_options;
        if (outcomes[0]->trail)
            set_replay(&row->options, &outcomes[0]->trail->grid);
        row->check = global_check_new(&row->arena);
        global_check_run(row->check, row->kernels, row->kernel_count, &row->options);
    } else {
        global_check_free(row->check);
        row->check = NULL;
        for (size_t i = 0; i < count; i++)
            outcomes[i]->arena.budget += LAST_WORDS;
        if (setjmp(exhausted) == 0)
            say_no_memory(row);
    }
    set_exhausted(row, outcomes, count, NULL);
}

void row_free(Row *row) {
    global_check_free(row->check);
    arena_free(&row->arena);
}

/* ---- Step by step --------------------------------------------------------------------------------- */

/* A run of the whole grid that is to be told, and what its schedule is called. */
typedef struct Shown {
    const TrailFile *trail;
    const char *schedule;
} Shown;

/* That of the trail, or of the first finding that has a witness; no trail: that is one of a single cluster. */
static Shown find_shown(Row *row, weir_outcome *const *outcomes, size_t count) {
    const TrailFile *given = outcomes[0]->trail;
    TrailFile *trail = ARENA_NEW(&row->arena, TrailFile);
    if (given)
        return (Shown){given->whole ? given : NULL, "that of the trail"};
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < outcomes[i]->kernel_count; k++)
            for (size_t n = 0; n < outcomes[i]->verdicts[k].finding_count; n++) {
                const Finding *finding = &outcomes[i]->verdicts[k].findings[n];
                if (grid_trail_read_text(&row->arena, finding->witness, trail))
                    return (Shown){trail, finding->schedule};
                if (*finding->witness)
                    return (Shown){NULL, ""};
            }
    return (Shown){NULL, ""};
}

/* The kernels of the trail, each with a verdict that nobody reads; false if they are others. */
static bool add_shown(Row *row, weir_outcome *const *outcomes, size_t count, const TrailFile *trail) {
    Verdict *nobody = ARENA_NEW(&row->arena, Verdict);
    nobody->arena = &row->arena;
    make_room(row, outcomes, count);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < outcomes[i]->kernel_count; k++) {
            const Launch *launch = launch_of(outcomes[i], trail, k, row->kernel_count);
            if (launch)
                row->kernels[row->kernel_count++] = (GlobalKernel){.module = &outcomes[i]->module->module,
                                                                   .function = outcomes[i]->kernels[k],
                                                                   .launch = launch,
                                                                   .verdict = nobody};
        }
    return row->kernel_count == trail->grid.count;
}

bool row_show(weir_outcome *const *outcomes, size_t count, Text *to) {
    jmp_buf exhausted;
    Row row = {0};
    volatile bool shown = false;
    arena_init(&row.arena, row_budget);
    set_exhausted(&row, outcomes, count, &exhausted);
    if (setjmp(exhausted) == 0) {
        Shown what = find_shown(&row, outcomes, count);
        if (what.trail && add_shown(&row, outcomes, count, what.trail)) {
            row.options = outcomes[0]->global_options;
            row.options.engine = gsan_exact(&row.options.engine);
            row.options.steps = to;
            row.options.schedule = what.schedule;
            set_replay(&row.options, &what.trail->grid);
            row.check = global_check_new(&row.arena);
            global_check_run(row.check, row.kernels, row.kernel_count, &row.options);
            shown = true;
        }
    }
    set_exhausted(&row, outcomes, count, NULL);
    row_free(&row);
    return shown;
}

int weir_row_steps(weir_outcome *const *outcomes, size_t count, weir_write *write, void *to) {
    Sink sink = {write, to};
    Text out = {.sink = sink_pass, .to = &sink};
    bool shown = row_show(outcomes, count, &out);
    int status = sink_finish(&out);
    return shown ? status : -1;
}

/* ---- Launch files --------------------------------------------------------------------------------- */

int weir_launch_shares(const char *path) {
    const char *problem;
    Source *source = source_read(path, &problem);
    Diagnostics diagnostics = {0};
    Arena arena;
    Launch launch = {0};
    jmp_buf exhausted;
    volatile bool shares = false;
    if (!source)
        return 0;
    arena_init(&arena, module_budget);
    arena.exhausted = &exhausted;
    if (setjmp(exhausted) == 0 && launch_read(&arena, source, &launch, &diagnostics))
        for (size_t i = 0; i < launch.count; i++)
            shares |= launch.arguments[i].buffer.size > 0;
    arena_free(&arena);
    diagnostics_free(&diagnostics);
    source_free(source);
    return shares;
}
