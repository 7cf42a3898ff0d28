/* One CTA of each class: see classes.h. */
#include "check/simt/classes.h"

#include "base/order.h"

#include <stdlib.h>

enum {
    LEAST_CTAS = 8, /* fewer are run whole */
    MOST_CLASSES = 48,
    MOST_PIECES = 24 << 20, /* of memory, of all CTAs together */
    MOST_BYTES = 1 << 30,
};

/* Bytes that a CTA touches. */
typedef struct ClassPiece {
    uint64_t begin, end;
    uint32_t cta;
    bool writes;
} ClassPiece;

typedef struct ClassGrid {
    PtxMachine *machine;
    const PtxSchedule *schedule;
    Arena arena;
    PtxSymmetry *symmetry;
    uint8_t *covered; /* of each CTA */
    ClassPiece *pieces;
    uint32_t piece_count, piece_capacity;
} ClassGrid;

bool classes_apply(const PtxMachine *machine) {
    return machine->cta_count >= LEAST_CTAS && machine->cluster_size == 1;
}

static void place_of(const PtxMachine *machine, uint32_t cta, uint32_t at[3]) {
    const uint32_t *grid = machine->launch->grid;
    at[0] = cta % grid[0];
    at[1] = cta / grid[0] % grid[1];
    at[2] = cta / grid[0] / grid[1];
}

static PtxEnd run_ctas(const ClassGrid *grid, const uint32_t *ctas, uint32_t count) {
    PtxSchedule schedule = *grid->schedule;
    schedule.only = ctas;
    schedule.only_count = count;
    return ptx_schedule_run(grid->machine, &schedule);
}

/* What the class touches in each of its CTAs. False: it is too much. */
static bool add_pieces(ClassGrid *grid, uint32_t representative) {
    uint32_t count, from[3], at[3];
    const PtxSymmetryTouch *touches = ptx_symmetry_touches(grid->symmetry, &count);
    place_of(grid->machine, representative, from);
    for (uint32_t cta = 0; cta < grid->machine->cta_count; cta++) {
        place_of(grid->machine, cta, at);
        if (grid->covered[cta] || !ptx_symmetry_speaks(grid->symmetry, at))
            continue;
        grid->covered[cta] = 1;
        if (grid->piece_count + count > MOST_PIECES)
            return false;
        for (uint32_t i = 0; i < count; i++) {
            int64_t moved = 0;
            for (unsigned k = 0; k < 3; k++)
                moved += touches[i].by[k] * ((int64_t)at[k] - (int64_t)from[k]);
            ClassPiece *piece = ARENA_PUSH(&grid->arena, grid->pieces, grid->piece_count, grid->piece_capacity);
            *piece = (ClassPiece){.begin = touches[i].begin + (uint64_t)moved,
                                  .end = touches[i].end + (uint64_t)moved,
                                  .cta = cta,
                                  .writes = touches[i].writes};
        }
    }
    return true;
}

ORDER(by_begin, ClassPiece, BY(begin))

/* The piece that reaches furthest of those seen so far, of one CTA and of any other: the next one can overlap no
 * others. */
typedef struct ClassReach {
    uint64_t end[2];
    uint32_t cta[2];
} ClassReach;

static void reach_on(ClassReach *reach, const ClassPiece *piece) {
    if (reach->cta[0] == piece->cta || reach->cta[0] == UINT32_MAX) {
        reach->cta[0] = piece->cta;
        reach->end[0] = piece->end > reach->end[0] ? piece->end : reach->end[0];
    } else if (piece->end > reach->end[0]) {
        reach->end[1] = reach->end[0];
        reach->cta[1] = reach->cta[0];
        reach->end[0] = piece->end;
        reach->cta[0] = piece->cta;
    } else if (piece->end > reach->end[1] || reach->cta[1] == piece->cta) {
        reach->cta[1] = piece->cta;
        reach->end[1] = piece->end > reach->end[1] ? piece->end : reach->end[1];
    }
}

/* Another CTA whose bytes reach over the begin of the piece; UINT32_MAX: none. */
static uint32_t reaches(const ClassReach *reach, const ClassPiece *piece) {
    for (unsigned i = 0; i < 2; i++)
        if (reach->cta[i] != UINT32_MAX && reach->cta[i] != piece->cta && reach->end[i] > piece->begin)
            return reach->cta[i];
    return UINT32_MAX;
}

/* Two CTAs, one of which writes what the other touches. */
static bool find_meeting(ClassGrid *grid, uint32_t ctas[2]) {
    ClassReach written = {.cta = {UINT32_MAX, UINT32_MAX}}, touched = written;
    if (grid->piece_count)
        qsort(grid->pieces, grid->piece_count, sizeof *grid->pieces, by_begin);
    for (uint32_t i = 0; i < grid->piece_count; i++) {
        const ClassPiece *piece = &grid->pieces[i];
        uint32_t other = reaches(piece->writes ? &touched : &written, piece);
        if (other != UINT32_MAX) {
            ctas[0] = other < piece->cta ? other : piece->cta;
            ctas[1] = other < piece->cta ? piece->cta : other;
            return true;
        }
        reach_on(&touched, piece);
        if (piece->writes)
            reach_on(&written, piece);
    }
    return false;
}

/* One CTA of each class; CLASSES_DONE if all ended well. */
static ClassesEnd run_classes(ClassGrid *grid, void (*begin)(void *to),
                              bool (*end)(void *to, const uint32_t *ctas, uint32_t count), void *to,
                              CtaClasses *classes) {
    for (uint32_t cta = 0; cta < grid->machine->cta_count; cta++) {
        uint32_t at[3];
        if (grid->covered[cta])
            continue;
        if (classes->count == MOST_CLASSES)
            return CLASSES_NONE;
        place_of(grid->machine, cta, at);
        ptx_symmetry_start(grid->symmetry, at);
        begin(to);
        classes->end = run_ctas(grid, &cta, 1);
        classes->ctas[0] = cta;
        classes->cta_count = 1;
        if (!end(to, &cta, 1) || classes->end != PTX_END_COMPLETE)
            return CLASSES_ENDED;
        classes->count++;
        ptx_symmetry_end(grid->symmetry);
        const PtxCode *alone = ptx_symmetry_alone(grid->symmetry, &classes->why);
        classes->alone = classes->alone ? classes->alone : alone;
        if (alone && grid->machine->cta_count > MOST_CLASSES)
            return CLASSES_NONE;
        if (!add_pieces(grid, cta))
            return CLASSES_NONE;
    }
    return CLASSES_DONE;
}

/* All of it, in the memory that it may take. */
static ClassesEnd run_grid(ClassGrid *grid, void (*begin)(void *to),
                           bool (*end)(void *to, const uint32_t *ctas, uint32_t count), void *to, CtaClasses *classes) {
    grid->symmetry = ptx_symmetry_new(&grid->arena, grid->machine);
    if (!grid->symmetry)
        return CLASSES_NONE;
    grid->covered = ARENA_ARRAY(&grid->arena, uint8_t, grid->machine->cta_count);
    grid->machine->symmetry = grid->symmetry;
    ClassesEnd result = run_classes(grid, begin, end, to, classes);
    grid->machine->symmetry = NULL;
    if (result != CLASSES_DONE || !find_meeting(grid, classes->ctas))
        return result;
    classes->cta_count = 2;
    begin(to);
    classes->end = run_ctas(grid, classes->ctas, 2);
    (void)end(to, classes->ctas, 2);
    return CLASSES_OVERLAP;
}

ClassesEnd classes_run(PtxMachine *machine, const PtxSchedule *schedule, void (*begin)(void *to),
                       bool (*end)(void *to, const uint32_t *ctas, uint32_t count), void *to, CtaClasses *classes) {
    ClassGrid grid = {.machine = machine, .schedule = schedule};
    jmp_buf exhausted;
    volatile ClassesEnd result = CLASSES_NONE;
    *classes = (CtaClasses){.end = PTX_END_COMPLETE};
    arena_init(&grid.arena, MOST_BYTES);
    grid.arena.exhausted = &exhausted;
    if (!setjmp(exhausted))
        result = run_grid(&grid, begin, end, to, classes);
    machine->symmetry = NULL;
    arena_free(&grid.arena);
    return result;
}
