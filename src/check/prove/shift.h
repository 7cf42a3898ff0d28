/* How the numbers of a run differ from those of other runs: for whole families of runs, in which trip counts are other
 * numbers, and all else is the same.
 *
 * A lane is such a family: its runs have the numbers n = 0, 1, 2, ..., and the run that is made is number 0. What a
 * register holds there is what it holds here plus its shift, which is n times `by`. As long as no decision of the run
 * depends on n, it speaks for all of them; `limits` has the largest n for which that holds. */
#ifndef CHECK_PROVE_SHIFT_H
#define CHECK_PROVE_SHIFT_H

#include "model/number/evaluate.h"

enum { MOST_TRIP_COUNTS = 2, MOST_LANES = 2 * MOST_TRIP_COUNTS };
#define SHIFT_NO_LIMIT INT64_MAX

typedef enum ShiftKind {
    SHIFT_EXACT,    /* n * by */
    SHIFT_MULTIPLE, /* some multiple of `by`, not negative */
    SHIFT_LOOSE,    /* what it holds there is not known */
} ShiftKind;

typedef struct Shift {
    int64_t by;
    int64_t ends; /* it is so for n below that alone; 0: for all */
    ShiftKind kind;
} Shift;

typedef struct Shifts {
    Shift lanes[MOST_LANES];
} Shifts;

typedef struct ShiftLanes {
    uint32_t count;
    int64_t limits[MOST_LANES];
} ShiftLanes;

/* Whether it is 0, as long as it is known. */
static inline bool shift_is_zero(Shift shift) {
    return shift.kind == SHIFT_EXACT && shift.by == 0;
}

static inline bool shift_is_none(Shift shift) {
    return shift_is_zero(shift) && !shift.ends;
}

bool shifts_are_none(const ShiftLanes *lanes, const Shifts *shifts);
/* The same, as long as they are known. */
bool shifts_are_zero(const ShiftLanes *lanes, const Shifts *shifts);
/* What is the same in no two runs, as far as is known. */
Shifts shifts_loose(const ShiftLanes *lanes);
/* A decision depends on a number: the lanes in which it has a shift end here. `parity`: on its lowest bit alone. */
void shifts_decide(ShiftLanes *lanes, const Shifts *shifts, bool parity);
/* A decision depends on how y compares with x. */
void shifts_compare(ShiftLanes *lanes, Comparison how, int64_t x, const Shifts *of_x, int64_t y, const Shifts *of_y);
/* The shift of what the evaluator makes of integers. */
Shifts shifts_evaluate(const ShiftLanes *lanes, Evaluator code, unsigned width, int64_t attribute,
                       const int64_t values[3], const Shifts *const of[3], unsigned count);
Shift shift_add(Shift a, Shift b);
/* As long as both are known. */
int64_t shift_ends(int64_t a, int64_t b);
/* The greatest number that divides both; 0 is divided by all. */
int64_t shift_divisor(int64_t a, int64_t b);

#endif
