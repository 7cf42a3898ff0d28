/* Large launches: what millions of CTAs do to global memory, decided from one CTA of each class.
 *
 * One CTA of a class is run, and where the accesses of the others lie follows from it: so much further for each
 * coordinate (machine/tile/step/symmetry.h). Whether two CTAs meet, and whether one leaves its tensor, is then
 * arithmetic (explore/footprint.h), and neither time nor memory grows with the grid or its tensors. It holds for CTAs
 * that do not talk to each other: nothing orders them, and two that touch the same bytes race. The engine then runs one
 * CTA of each class, and those that meet or leave their tensor: what it says of them is what is reported. Anything that
 * cannot be decided so is left to a run of the whole grid. */
#include "check/tile/grid/internal.h"

#include "base/order.h"
#include "explore/footprint.h"
#include "machine/tile/schedule/classes.h"
#include "machine/tile/step/symmetry.h"

#include <stdlib.h>

enum { MOST_PLACE_CLASSES = 2048, FEW_PLACE_CLASSES = 32 };
static const uint64_t large_grid = (uint64_t)1 << 11;
static const int64_t large_memory = (int64_t)1 << 28;

typedef struct Classing {
    GlobalCheck *run;
    Footprints footprints;
    int64_t sizes[AXES];   /* of the grid */
    bool failed;           /* it cannot be decided so */
    bool overlaps, leaves; /* CTAs meet, or leave a tensor */
    uint64_t *only;
    uint32_t only_count, only_capacity;
} Classing;

/* ---- Whether to try ------------------------------------------------------------------------------- */

/* From its first to its last element: what lies around a view makes it no larger. */
static int64_t span_of(const Area *area) {
    int64_t elements = 1, far;
    for (unsigned i = 0; area->storage && i < area->rank; i++)
        if (area->shape[i] < 1 || __builtin_mul_overflow(area->shape[i] - 1, area->strides[i], &far) ||
            __builtin_add_overflow(elements, far, &elements))
            return area->bytes;
    int64_t span = elements < area->bytes ? elements * area->element_bits / 8 : area->bytes;
    return area->storage && span < area->bytes ? span : area->bytes;
}

bool representatives_is_large(const GlobalCheck *run) {
    const int64_t *grid = run->launch_sequence.launches[0].launch->grid;
    uint64_t programs = (uint64_t)grid[0] * (uint64_t)grid[1] * (uint64_t)grid[2];
    int64_t bytes = 0;
    for (uint32_t i = 0; i < global_area_count(run->launch_sequence.memory); i++) {
        int64_t offset;
        const Area *area = global_area(run->launch_sequence.memory, global_address(i), &offset);
        bytes += area && area->bytes > 0 ? span_of(area) : 0;
    }
    return programs > large_grid || bytes > large_memory;
}

static bool is_for_classes(const GlobalCheck *run) {
    const GlobalOptions *options = run->options;
    return run->count == 1 && run->launch_sequence.count == 1 && run->launch_sequence.launches[0].program->ctas == 1 &&
           options->engine.mode == GSAN_EXACT && options->engine.granule <= 1 && !options->replay && !options->steps &&
           !run->has_unknowns && options->classes != CLASSES_NEVER &&
           (options->classes == CLASSES_ALWAYS || representatives_is_large(run));
}

/* ---- One class ------------------------------------------------------------------------------------ */

static void keep_access(Classing *classing, const GridEvent *event, const Bytes *bytes, const AffineForm *form) {
    GlobalCheck *run = classing->run;
    uint32_t area = global_area_number(bytes->runs[0].begin), count;
    int64_t offset;
    if (address_is_scratch(bytes->runs[0].begin)) { /* which is that of one CTA: all do the same to theirs */
        for (unsigned axis = 0; axis < AXES; axis++)
            classing->failed |= form->by[axis] != 0;
        return;
    }
    if (!global_area(run->launch_sequence.memory, bytes->runs[0].begin, &offset) ||
        global_area_number(bytes->runs[bytes->count - 1].end - 1) != area) {
        classing->failed = true;
        return;
    }
    Piece *pieces = overlap_pieces(&run->scratch, bytes, &count);
    const Effect *effect = &event->event->effect->effect;
    footprints_add(&classing->footprints,
                   &(Footprint){.site = site_of(run, event),
                                .area = area,
                                .writes = effect->verb != EFFECT_READ,
                                .async = effect->done != DONE_NOW,
                                .form = *form},
                   pieces, count);
    classing->failed |= classing->footprints.failed;
}

static void hear(void *observer, const GridEvent *event) {
    Classing *classing = observer;
    GlobalCheck *run = classing->run;
    const Event *what = event->event;
    if (event->kind != GRID_EVENT || classing->failed)
        return;
    classing->failed |= what->kind == EVENT_UNKNOWN;
    if (what->kind != EVENT_ACCESS)
        return;
    const Effect *effect = &what->effect->effect;
    Bytes bytes;
    const char *reason;
    if (effect->space != SPACE_GLOBAL || (effect->proxy == PROXY_TENSORMAP && !effect->on_descriptor))
        return;
    run->scratch.exhausted = run->arena->exhausted;
    AffineForm form = access_form(event->machine, what);
    if (what->effect->stops || effect->order != ORDER_WEAK || effect->verb == EFFECT_UPDATE ||
        !access_ranges(event->machine, what, &run->scratch, &bytes, &reason))
        classing->failed = true;
    else if (bytes.count)
        keep_access(classing, event, &bytes, &form);
    arena_reset(&run->scratch);
}

static bool run_class(void *context, TileSymmetry *symmetry, uint64_t cluster) {
    Classing *classing = context;
    Grid *grid = classing->run->grid;
    GridOptions options = {.kind = GRID_FORWARD,
                           .budget = classing->run->options->budget,
                           .observe = hear,
                           .observer = classing,
                           .only = &cluster,
                           .only_count = 1,
                           .symmetry = symmetry};
    footprints_begin(&classing->footprints);
    RunEnd end = grid_run(grid, &options);
    GridStats stats = grid_stats(grid);
    classing->failed |= end != RUN_COMPLETE || stats.chosen || stats.communicates;
    if (!classing->failed)
        footprints_keep_apart(&classing->footprints, &symmetry->box);
    classing->failed |= classing->footprints.failed;
    return !classing->failed;
}

/* Runs one CTA of each class; false if there are more than `most`, or too many. */
static bool run_classes(Classing *classing, Machine *machine, bool split, uint64_t most) {
    GlobalCheck *run = classing->run;
    uint64_t cluster;
    *classing = (Classing){.run = run, .footprints = {.arena = run->arena}};
    CtaClasses *classes = classes_of_places(run->arena, machine, run_class, classing);
    if (split && !classes_split(classes, 0))
        return false;
    classes_sizes(classes, classing->sizes);
    while (!classing->failed && classes_count(classes) < most && classes_next(classes, &cluster)) {
        CtaBox class = classes_last(classes);
        footprints_end(&classing->footprints, &class);
        if (classes_too_many(classes, MOST_PLACE_CLASSES))
            return false;
    }
    return classes_covered(classes) == machine_clusters(machine);
}

/* Programs that are numbered in tiles of a grid are of few classes only where the number is taken apart as they do. */
static void find_classes(Classing *classing) {
    GlobalCheck *run = classing->run;
    const char *problem;
    const GridLaunch *launch = &run->launch_sequence.launches[0];
    Machine *machine = machine_create(run->arena, launch->program, &problem);
    if (machine)
        machine_launch(machine, launch->launch);
    bool found = machine && (run_classes(classing, machine, false, FEW_PLACE_CLASSES) ||
                             (!classing->failed && run_classes(classing, machine, true, MOST_PLACE_CLASSES)) ||
                             (!classing->failed && run_classes(classing, machine, false, UINT64_MAX)));
    classing->failed |= !found;
}

/* ---- What is decided ------------------------------------------------------------------------------ */

static void add_cta(Classing *classing, const int64_t at[AXES]) {
    *ARENA_PUSH(classing->run->arena, classing->only, classing->only_count, classing->only_capacity) =
        classes_number(classing->sizes, at);
}

/* A step of bytes as steps along the dimensions of a tensor; false: it is none. */
static bool step_in(const Area *area, int64_t bytes, int64_t steps[ARGUMENT_MOST_DIMS]) {
    int64_t element = area->element_bits / 8, left;
    bool done[ARGUMENT_MOST_DIMS] = {false};
    memset(steps, 0, ARGUMENT_MOST_DIMS * sizeof *steps);
    if (!element || area->element_bits % 8 || bytes % element)
        return false;
    left = bytes / element;
    for (unsigned round = 0; round < area->rank && left; round++) {
        unsigned widest = ARGUMENT_MOST_DIMS;
        for (unsigned i = 0; i < area->rank; i++)
            if (!done[i] && area->shape[i] > 1 && area->strides[i] > 0 &&
                (widest == ARGUMENT_MOST_DIMS || area->strides[i] > area->strides[widest]))
                widest = i;
        if (widest == ARGUMENT_MOST_DIMS)
            break;
        done[widest] = true;
        steps[widest] = left / area->strides[widest];
        left %= area->strides[widest];
    }
    return !left;
}

typedef struct Corners {
    __int128 low[ARGUMENT_MOST_DIMS], high[ARGUMENT_MOST_DIMS];
} Corners;

static bool widen(const Area *area, int64_t bytes, int64_t times, Corners *corners) {
    int64_t steps[ARGUMENT_MOST_DIMS];
    if (!step_in(area, bytes, steps))
        return times == 0;
    for (unsigned i = 0; i < area->rank; i++)
        *(steps[i] < 0 ? &corners->low[i] : &corners->high[i]) += (__int128)steps[i] * times;
    return true;
}

/* Whether all of a piece, in all CTAs of its class, are elements of a tensor that leaves gaps. */
static bool is_inside_sparse(const Area *area, const CtaBox *class, const AffineForm *form, const Piece *piece,
                             int64_t offset) {
    int64_t first[ARGUMENT_MOST_DIMS], element = area->element_bits / 8;
    Corners corners = {.low = {0}};
    if (offset < 0 || !step_in(area, offset, first) || piece->bytes % (element ? element : 1))
        return false;
    for (unsigned i = 0; i < area->rank; i++)
        corners.low[i] = corners.high[i] = first[i];
    bool inside = widen(area, element, piece->bytes / element - 1, &corners);
    for (unsigned i = 0; i < piece->levels; i++)
        inside &= widen(area, piece->strides[i], piece->counts[i] - 1, &corners);
    for (unsigned axis = 0; axis < AXES; axis++)
        inside &= widen(area, form->by[axis], class->high[axis] - class->low[axis], &corners);
    for (unsigned i = 0; i < area->rank; i++)
        inside &= corners.low[i] >= 0 && corners.high[i] < area->shape[i];
    return inside;
}

/* The CTA of the class in which the access lies lowest, or highest. */
static void add_extreme(Classing *classing, const CtaBox *class, const AffineForm *form, bool highest) {
    int64_t at[AXES];
    for (unsigned axis = 0; axis < AXES; axis++)
        at[axis] = (form->by[axis] > 0) == highest ? class->high[axis] : class->low[axis];
    add_cta(classing, at);
}

static void look_at_bounds(Classing *classing, const Footprint *access) {
    int64_t offset;
    const CtaBox *class = &classing->footprints.classes[access->class];
    const Area *area =
        global_area(classing->run->launch_sequence.memory, global_address((uint32_t)access->area), &offset);
    int64_t begin = access->hull.begin - global_address((uint32_t)access->area);
    int64_t end = access->hull.end - global_address((uint32_t)access->area);
    if ((!access->writes && !area->written) || begin < -AREA_HALF || end > AREA_HALF) {
        classing->failed = true; /* whether something has written it before is not followed */
        return;
    }
    if (area->bytes < 0)
        return;
    classing->leaves |= begin < -area->before || end > area->bytes;
    if (begin < -area->before)
        add_extreme(classing, class, &access->form, false);
    if (end > area->bytes)
        add_extreme(classing, class, &access->form, true);
    for (uint32_t i = 0; i < access->count && area->sparse; i++)
        classing->failed |= !is_inside_sparse(area, class, &access->form, &access->pieces[i],
                                              access->pieces[i].begin - global_address((uint32_t)access->area));
}

/* Whether CTAs meet at these two; the first two that do are run. Within a CTA the engine tells what is in order, in the
 * one that it runs. */
static void look_at_pair(Classing *classing, const Footprint *left, const Footprint *right) {
    int64_t at[AXES], other[AXES];
    Overlap overlap = footprints_overlap(&classing->footprints, left, right, at, other);
    classing->failed |= overlap == OVERLAP_UNDECIDED;
    if (overlap != OVERLAP_FOUND)
        return;
    add_cta(classing, at);
    add_cta(classing, other);
    classing->overlaps = true;
}

static void decide(Classing *classing) {
    const Footprints *footprints = &classing->footprints;
    for (uint32_t i = 0; i < footprints->class_count; i++)
        add_cta(classing, footprints->classes[i].low);
    for (uint32_t i = 0; i < footprints->count && !classing->failed; i++) {
        look_at_bounds(classing, &footprints->all[i]);
        for (uint32_t k = i; k < footprints->count && !classing->failed; k++)
            if (footprints_conflict(&footprints->all[i], &footprints->all[k]))
                look_at_pair(classing, &footprints->all[i], &footprints->all[k]);
    }
}

/* ---- The check ------------------------------------------------------------------------------------ */

ORDER_NUMBERS(by_number, uint64_t)

/* Those are the clusters of the next runs. */
static void give_only(GlobalCheck *run, uint64_t *only, uint64_t count) {
    uint64_t kept = 0;
    qsort(only, count, sizeof *only, by_number);
    for (uint64_t i = 0; i < count; i++)
        if (!kept || only[i] != only[kept - 1])
            only[kept++] = only[i];
    run->only = only;
    run->only_count = kept;
}

bool representatives_decide(GlobalCheck *run) {
    Classing classing = {.run = run};
    if (!is_for_classes(run))
        return false;
    find_classes(&classing);
    if (!classing.failed)
        decide(&classing);
    if (classing.failed)
        return false;
    give_only(run, classing.only, classing.only_count);
    run->class_count = classing.footprints.class_count;
    run->foreseen = (classing.overlaps ? FORESEEN_RACE : 0) | (classing.leaves ? FORESEEN_OUTSIDE : 0);
    return true;
}

bool representatives_confirmed(const GlobalCheck *run) {
    bool outside = false, races = false;
    for (uint32_t i = 0; i < run->found.access_count; i++)
        outside |= run->found.accesses[i].rule == RULE_GLOBAL_OUT_OF_RANGE;
    for (uint32_t i = 0; i < run->found.race_count; i++) /* where two write the same value, two others may not */
        races |= run->found.races[i].reported && !run->found.races[i].harmless;
    return (races || !(run->foreseen & FORESEEN_RACE)) && (outside || !(run->foreseen & FORESEEN_OUTSIDE));
}

void representatives_replay(GlobalCheck *run) {
    const Turns *turns = &run->options->replay->turns;
    if (run->launch_sequence.count != 1 || !turns->count || !representatives_is_large(run))
        return;
    uint64_t *only = ARENA_ARRAY(run->arena, uint64_t, turns->count);
    for (size_t i = 0; i < turns->count; i++)
        only[i] = turns->turns[i].cluster;
    give_only(run, only, turns->count);
}

void representatives_report(const GlobalCheck *run) {
    const int64_t *grid = run->kernels[0].launch->grid;
    Text text = {0};
    text_addf(&text, "global memory: ");
    text_number_of(&text, (uint64_t)grid[0] * (uint64_t)grid[1] * (uint64_t)grid[2], "CTA");
    text_addf(&text, " in ");
    text_number(&text, run->class_count);
    text_addf(&text, " %s; ", run->class_count == 1 ? "class" : "classes");
    text_number_of(&text, run->only_count, "CTA");
    text_addf(&text, " %s run, and where the others read and write follows from their class",
              run->only_count == 1 ? "was" : "were");
    verdict_note(run->kernels[0].verdict, "%s", verdict_keep(run->kernels[0].verdict, &text));
}
