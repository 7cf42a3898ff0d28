/* Which arguments and grids make a kernel do what is wanted, solved backward from conditions and bounds.
 *
 * A setting gives every parameter a number, the grid its size, and says which program is meant and in which turn its
 * loops are. Under it, the scalars that control flow depends on have values: the op table evaluates them. To move a
 * value into a range, its op is turned around (what must be added to, divided, compared for the result to be that),
 * down to parameters and program ids, which are set. Nothing is run. What cannot be solved so (data from memory,
 * tensors, what a loop carries in other ways than by counting) is left alone, and the answer is no. */
#ifndef MACHINE_TILE_LAUNCH_SOLVE_H
#define MACHINE_TILE_LAUNCH_SOLVE_H

#include "explore/launch/launch.h"
#include "machine/tile/compile/program.h"

enum { SETTING_MOST_NUMBERS = 128, SETTING_MOST_TURNS = 64 };

typedef struct Setting {
    int64_t numbers[SETTING_MOST_NUMBERS]; /* of the parameters, in their order; of pointers nothing */
    int64_t grid[3], program[3];           /* how many programs, and which one is meant */
    int64_t rank;                          /* of the CTA that is meant, in its cluster */
    int64_t turns[SETTING_MOST_TURNS];     /* in which its loops are, from 0 */
} Setting;

typedef struct Solver Solver;

/* Memory: the arena. */
Solver *solver_create(Arena *arena, const Program *program);
/* The setting; it can be changed. */
Setting *solver_setting(Solver *solver);
/* To be called when it was. */
void solver_changed(Solver *solver);
/* What a launch says of a parameter: a number, or a part of a descriptor; false: nothing. */
bool launch_number(const Program *program, const Launch *launch, uint32_t index, int64_t *number);
/* The setting of a launch: its numbers and its grid, of the first program, in the first turns. */
void solver_launch(Solver *solver, const Launch *launch);
/* Numbers and sizes of the grid that stay as they are. */
void solver_fix_number(Solver *solver, uint32_t parameter);
void solver_fix_grid(Solver *solver);
/* The first 64 parameters that are not changed for now, as a mask. */
void solver_hold(Solver *solver, uint64_t parameters);
/* Which of the numbers in a range a parameter gets: the roundest, a multiple of `unit` if there is one; or, `uneven`,
 * one that is as little of a multiple as its divisibility allows. */
void solver_prefer(Solver *solver, int64_t unit, bool uneven);

/* Where data decides which of two values one is, how that goes from now on; at first it is not known. */
typedef enum Supposed { SUPPOSED_NOTHING, SUPPOSED_YES, SUPPOSED_NO } Supposed;
void solver_suppose(Solver *solver, Supposed supposed);

/* What a scalar is under the setting; false: that is not known. */
bool solver_value(Solver *solver, const Value *value, int64_t *number);
/* How often a loop that counts runs. */
bool solver_trips(Solver *solver, const Op *loop, int64_t *trips);

/* What is wanted: each changes the setting so that it holds, and the op is come to; false: it does not know how, and
 * the setting is as it was. Assumptions of the kernel are kept. */
bool solve_comes_to(Solver *solver, const Op *op);
/* Of a while, `least` times at least. */
bool solve_trips(Solver *solver, const Op *loop, int64_t least, int64_t most);
/* The calls of the kernel and of the functions that it calls, callers first, by their number; NULL: there are fewer. */
const Op *solver_call(const Solver *solver, uint32_t number);
/* Whether the op is in the kernel, or in a function that it calls. */
bool solver_is_called(const Solver *solver, const Op *op);
/* From now on a function is come to by its call number `call`, from 0, callers first, without those that it makes
 * itself or that functions make which it calls; false: there are fewer. */
bool solver_come_by(Solver *solver, const Op *function, uint32_t call);
/* In which turn the loop is; NULL: there are too many loops. */
int64_t *solver_turn(Solver *solver, const Op *loop);
/* A value is in a range where `at` is run, or less than another by more than `by`. */
bool solve_value(Solver *solver, const Op *at, const Value *value, int64_t least, int64_t most);
/* A value is `number` in each of the first `turns` turns of the loop, which `at` is in and which runs so often. */
bool solve_throughout(Solver *solver, const Op *loop, int64_t turns, const Op *at, const Value *value, int64_t number);
bool solve_less(Solver *solver, const Op *at, const Value *value, const Value *than, int64_t by);
/* Two at once, each where an op of its own is run. */
bool solve_both(Solver *solver, const Op *const at[2], const Value *const values[2], const int64_t numbers[2]);
/* The op's predicates hold. */
bool solve_happens(Solver *solver, const Op *op);

/* By which constant an op takes a remainder, as a mask does, too; 0: it takes none. */
int64_t remainder_by(const Op *op);
/* The value that it is another name of, whatever way is taken; itself, if there is none. */
const Value *value_behind(const Value *value);
/* Whether it is the same at every launch: no argument, no program id and no data decides it; of a loop that counts, how
 * often it runs. */
bool solver_closed(Solver *solver, const Value *value);
bool solver_same_trips(Solver *solver, const Op *loop);
/* Whether an op's result follows from its operands; the ranks of the CTAs of a cluster are all run. */
bool op_is_closed(const Program *program, const Op *op);
/* The same where a condition is known to hold. */
bool solver_closed_where(Solver *solver, const Value *value, const Value *holds);
/* The parameters that the number depends on, as far as it can be followed; as a mask of the first 64. */
uint64_t solver_depends(Solver *solver, const Value *value);
/* Whether more decides it than these: a program id, a rank, data, or a parameter behind them. */
bool solver_by_place(Solver *solver, const Value *value);
/* Whether it depends on what CLC answers, which no launch says, and on nothing else that is not the same at every
 * launch. */
bool solver_asked(Solver *solver, const Value *value);
/* Whether it depends on how often a loop has iterated. */
bool solver_counted(Solver *solver, const Value *value);
/* ... and on nothing else that is not the same at every launch. */
bool solver_turned(Solver *solver, const Value *value);
/* ... and only compares counters with constants, as where a ring starts over, for which launches are sought. */
bool solver_counts_up(Solver *solver, const Value *value);
/* Whether a loop counts it and something else shifts it, that is not the same at every launch: by more than multiples
 * of what a remainder is taken by, and not by a condition, which is wanted both ways by itself. */
bool solver_shifted(Solver *solver, const Value *value);

#endif
