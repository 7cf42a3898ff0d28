/* What the parts of the solver share: values under a setting (solve.c), ops turned around (solve_reach.c), and what a
 * value depends on at any setting (solve_depends.c). */
#ifndef MACHINE_TILE_LAUNCH_SOLVE_INTERNAL_H
#define MACHINE_TILE_LAUNCH_SOLVE_INTERNAL_H

#include "base/pointers.h"
#include "machine/tile/compile/block_loops.h"
#include "machine/tile/launch/solve.h"
#include "model/flow/forwarded.h"

enum { MOST_DEPTH = 400, MOST_STEPS = 2000, MOST_FOLLOWED_VALUES = 4096 };

struct Memo;

struct Solver {
    Arena *arena;
    const Program *program;
    Module *module;
    Setting now;
    bool fixed[SETTING_MOST_NUMBERS];
    uint64_t held;
    bool grid_fixed, uneven, same_program;
    Supposed supposed;
    bool other_first; /* of two ways to reach something, the second is tried first */
    int64_t unit;
    const Op *pinned;  /* the loop whose turn stays */
    bool stepped_back; /* a loop is looked at in the turn before the one that is meant */
    Pointers loops;    /* to their places in `turns` */
    uint32_t loop_count;
    Pointers callers; /* from functions to the call that they are come to by */
    const Op **calls;
    uint32_t call_count, call_capacity;
    Pointers closed;           /* arguments of functions: 1 if they are the same at every launch, by every call */
    const Value **assumptions; /* that hold at every launch */
    uint32_t assumption_count, assumption_capacity;
    /* What values are, as long as the setting is the same. */
    Pointers memo;
    struct Memo *memos;
    uint32_t memo_count, memo_capacity;
    uint64_t epoch;
    unsigned depth, steps;
};

/* Whether it is a parameter of the kernel, and which. */
bool solver_parameter(const Solver *solver, const Value *value, uint32_t *index);
/* What the call that it is come to by passes for an argument of a function; NULL if it is none. */
const Value *solver_passed(Solver *solver, const Value *value);
/* Whether what the loop carries grows by the same in every turn. */
bool solver_counts(Solver *solver, const Carried *carried, int64_t *by);
/* To the turn before, for what that hands over; false: there is none, or it was stepped back already, which is done
 * once: each further turn would be looked at again for each value. Then back on. */
bool solver_step_back(Solver *solver, const Op *loop);
void solver_step_on(Solver *solver, const Op *loop);

/* Which way a choice goes, or is supposed to. */
bool solver_goes(Solver *solver, const Value *condition, int64_t *goes);

/* Changes the setting so that the value, or how often the loop runs, is in the range. False: the setting may have
 * changed, too. */
bool reach(Solver *solver, const Value *value, int64_t least, int64_t most);
bool reach_trips(Solver *solver, const Op *loop, int64_t least, int64_t most);

#endif
