/* One CTA of each class: see classes.h. */
#include "check/simt/classes.h"

#include "explore/footprint.h"

enum {
    LEAST_CTAS = 8, /* fewer are run whole */
    LARGE_GRID = 2048,
    FEW_CLASSES = 48,          /* of a grid that is not large */
    SPLIT_AFTER = 32,          /* classes after which it is tried whether CTAs go by remainders of their number */
    MOST_LARGE_CLASSES = 2048, /* of a large grid */
    MOST_PAIRS = 64,           /* of CTAs that are run together until one races */
    MOST_BYTES = 1 << 30,
};

typedef struct ClassGrid {
    PtxMachine *machine;
    const PtxSchedule *schedule;
    const ClassesAudience *audience; /* NULL: it is only tried how far a run speaks */
    ClassesRun *run;
    Arena arena;
    PtxSymmetry *symmetry;
    Footprints footprints;
    int64_t sizes[AXES];
    bool large, narrows, failed, ended; /* ended: a run ended badly, or shows races */
} ClassGrid;

bool classes_apply(const PtxMachine *machine) {
    return machine->cta_count >= LEAST_CTAS && machine->cluster_size == 1;
}

bool classes_large(const PtxMachine *machine) {
    return machine->cta_count > LARGE_GRID;
}

/* Whether all is well with the run. */
static bool run_ctas(ClassGrid *grid, const uint32_t *ctas, uint32_t count) {
    PtxSchedule schedule = *grid->schedule;
    ClassesRun *run = grid->run;
    schedule.only = ctas;
    schedule.only_count = count;
    if (grid->audience)
        grid->audience->begin(grid->audience->to);
    run->end = ptx_schedule_run(grid->machine, &schedule);
    memcpy(run->ctas, ctas, count * sizeof *ctas);
    run->cta_count = count;
    bool well = !grid->audience || grid->audience->end(grid->audience->to, ctas, count);
    return well && run->end == PTX_END_COMPLETE;
}

/* ---- Classes ---- */

static bool run_class(void *context, Symmetry *symmetry, uint64_t number) {
    ClassGrid *grid = context;
    uint32_t cta = (uint32_t)number;
    footprints_begin(&grid->footprints);
    ptx_symmetry_start(grid->symmetry, symmetry, &grid->footprints, grid->narrows);
    grid->machine->symmetry = grid->symmetry;
    grid->ended |= !run_ctas(grid, &cta, 1);
    grid->machine->symmetry = NULL;
    if (!grid->ended)
        footprints_keep_apart(&grid->footprints, symmetry);
    grid->failed |= grid->footprints.failed;
    return !grid->ended;
}

/* Whether the rest of the grid is worth a look, after one class of it. */
static bool goes_on(const ClassGrid *grid, const CtaClasses *classes) {
    if (grid->failed)
        return false;
    return grid->narrows ? !classes_too_many(classes, MOST_LARGE_CLASSES)
                         : !ptx_symmetry_alone(grid->symmetry) || grid->machine->cta_count <= FEW_CLASSES;
}

/* More classes, until there are `most`; false: it ended, or is not worth it. */
static bool run_classes(ClassGrid *grid, CtaClasses *classes, uint64_t most) {
    uint64_t cta;
    while (classes_count(classes) < most && classes_next(classes, &cta)) {
        if (grid->ended)
            return false;
        CtaBox class = classes_last(classes);
        footprints_end(&grid->footprints, &class);
        grid->run->count++;
        if (!goes_on(grid, classes))
            return false;
    }
    return true;
}

/* CTAs that go by remainders of their number are few classes of a box. */
static CtaClasses *split(ClassGrid *grid, CtaClasses *classes, int64_t period) {
    const ClassesAudience *audience = grid->audience;
    PtxObserve *observe = grid->machine->observe;
    grid->audience = NULL;
    grid->machine->observe = NULL;
    bool splits = classes_split(classes, period);
    grid->machine->observe = observe;
    grid->audience = audience;
    return splits && !grid->ended ? classes : NULL;
}

/* The classes that there are so far are none, or they are all; false: it goes on with others. */
static bool is_over(const ClassGrid *grid, const CtaClasses *classes, ClassesEnd *end) {
    bool done = !grid->failed && classes_covered(classes) == grid->machine->cta_count;
    *end = grid->ended ? CLASSES_ENDED : done ? CLASSES_DONE : CLASSES_NONE;
    return *end != CLASSES_NONE || !grid->large || grid->failed;
}

/* From the first CTA again; those that were run so far were no classes. */
static CtaClasses *start_over(ClassGrid *grid) {
    const uint32_t *size = grid->machine->launch->grid;
    for (unsigned axis = 0; axis < AXES; axis++)
        grid->sizes[axis] = size[axis];
    grid->footprints = (Footprints){.arena = &grid->arena};
    grid->run->discarded += grid->run->count;
    grid->run->count = 0;
    return classes_new(&grid->arena, grid->sizes, CLASSES_LOWEST, false, run_class, grid);
}

/* As it is; then such that quotients have forms; then with the grid of one dimension as a box; and then, if that is not
 * it, with more classes. */
static ClassesEnd run_all_classes(ClassGrid *grid) {
    ClassesEnd end;
    CtaClasses *classes = start_over(grid);
    run_classes(grid, classes, FEW_CLASSES);
    if (is_over(grid, classes, &end))
        return end;
    grid->narrows = true;
    classes = start_over(grid);
    bool going = run_classes(grid, classes, SPLIT_AFTER);
    if (is_over(grid, classes, &end))
        return end;
    ClassGrid before = *grid;
    ClassesRun run = *grid->run;
    CtaClasses *boxes = split(grid, start_over(grid), classes_period(classes));
    if (boxes && !grid->failed) {
        classes_sizes(boxes, grid->sizes);
        run_classes(grid, boxes, MOST_LARGE_CLASSES);
        if (is_over(grid, boxes, &end) && end != CLASSES_NONE)
            return end;
    }
    run.discarded += grid->run->count;
    *grid = before;
    *grid->run = run;
    if (going)
        run_classes(grid, classes, MOST_LARGE_CLASSES);
    (void)is_over(grid, classes, &end);
    return end;
}

/* ---- CTAs that meet ---- */

/* Of classes that access the same bytes, two CTAs that do. Of a large grid, others too, until two of them race: what
 * they write may be the same. */
static ClassesEnd run_pairs(ClassGrid *grid) {
    Footprints *all = &grid->footprints;
    uint32_t pairs = 0, last[2] = {0};
    for (uint32_t i = 0; i < all->count; i++)
        for (uint32_t k = i; k < all->count; k++) {
            int64_t at[AXES], other[AXES];
            Overlap overlap = footprints_conflict(&all->all[i], &all->all[k])
                                  ? footprints_overlap(all, &all->all[i], &all->all[k], at, other)
                                  : OVERLAP_NEVER;
            if (overlap == OVERLAP_UNDECIDED)
                return CLASSES_NONE;
            if (overlap == OVERLAP_NEVER)
                continue;
            uint32_t x = (uint32_t)classes_number(grid->sizes, at), y = (uint32_t)classes_number(grid->sizes, other);
            uint32_t ctas[2] = {x < y ? x : y, x < y ? y : x};
            if (pairs && !memcmp(ctas, last, sizeof ctas))
                continue;
            memcpy(last, ctas, sizeof ctas);
            if (!run_ctas(grid, ctas, 2) || !grid->large || ++pairs == MOST_PAIRS)
                return CLASSES_OVERLAP;
        }
    return pairs ? CLASSES_OVERLAP : CLASSES_DONE;
}

static ClassesEnd run_grid(ClassGrid *grid) {
    grid->large |= classes_large(grid->machine);
    grid->symmetry = ptx_symmetry_new(&grid->arena, grid->machine, grid->large);
    ClassesEnd end = grid->symmetry ? run_all_classes(grid) : CLASSES_NONE;
    return end == CLASSES_DONE ? run_pairs(grid) : end;
}

ClassesEnd classes_run(PtxMachine *machine, const PtxSchedule *schedule, const ClassesAudience *audience, bool large,
                       ClassesRun *run) {
    ClassGrid grid = {.machine = machine, .schedule = schedule, .audience = audience, .run = run, .large = large};
    PtxObserve *observe = machine->observe;
    jmp_buf exhausted;
    volatile ClassesEnd result = CLASSES_NONE;
    *run = (ClassesRun){.end = PTX_END_COMPLETE};
    arena_init(&grid.arena, MOST_BYTES);
    grid.arena.exhausted = &exhausted;
    if (!setjmp(exhausted))
        result = run_grid(&grid);
    machine->symmetry = NULL;
    machine->observe = observe;
    arena_free(&grid.arena);
    return result;
}
