/* Accesses whose place hangs on a condition that is not known, of data or of floating-point numbers: most often one
 * that decides how far a loop counts; and those behind a condition that the first choice does not come to. The grid is
 * run with the other choices, too; what goes wrong in one of them alone
 * is made up (havocked.c).
 *
 * A load that decides nothing but by which of two numbers loops end is no open question then. Both are the same for
 * all CTAs, so one of the runs makes all accesses that a CTA can make, however each of them goes. Where nothing but
 * places keeps CTAs apart, that run has shown all races between them, and each choice was run for what is within one.
 */
#include "check/tile/grid/internal.h"

#include "base/deadline.h"
#include "machine/tile/compile/slice.h"
#include "machine/tile/launch/havocked.h"
#include "machine/tile/launch/solve.h"
#include "machine/tile/launch/steering.h"
#include "model/flow/forwarded.h"

static const uint64_t most_again = 1 << 22; /* instructions of a grid that is run again to come to all accesses */

/* ---- What hangs on a condition --------------------------------------------------------------------- */

static bool has_flag(const Program *program, const Launch *launch) {
    for (uint32_t i = 0; i < program->effect_count; i++) {
        const Effect *effect = &program->effects[i].effect;
        if (effect->space == SPACE_GLOBAL && effect_is_access(effect) &&
            (havocked_flag(program, effect) || havocked_load(program, launch, effect, true)))
            return true;
    }
    return false;
}

/* The choice that a number is, by whatever name; false: it is none of two numbers that all CTAs have in common. */
static bool common_choice(Solver *solver, const Value *value, Choice *choice) {
    return choice_of(value_behind(value), choice) && !solver_by_place(solver, choice->yes) &&
           !solver_by_place(solver, choice->no);
}

/* Whether such data decides more than how far loops count: the place of an access, or whether it is made. */
static bool decides_more(const Program *program, const Launch *launch) {
    for (uint32_t i = 0; i < program->effect_count; i++) {
        const Effect *effect = &program->effects[i].effect;
        if (effect->space == SPACE_GLOBAL && effect_is_access(effect) &&
            (havocked_load(program, launch, effect, false) || havocked_value(program, launch, effect->mask, false) ||
             havocked_value(program, launch, effect->predicate, false) ||
             havocked_value(program, launch, effect->second_predicate, false)))
            return true;
    }
    for (uint32_t pc = 0; pc < program->code_count; pc++) {
        const Op *op = program->ops[pc];
        if (op && (op_is_control(op, CONTROL_SWITCH) || havocked_value(program, launch, condition_of(op), true)))
            return true;
    }
    return false;
}

/* The one condition by which loops end as data decides. NULL: there is none, there are several, or data decides more
 * than that. */
static const Value *deciding(Arena *arena, const Program *program, const Launch *launch) {
    Solver *solver = solver_create(arena, program);
    const Value *condition = NULL;
    Slice places;
    if (decides_more(program, launch))
        return NULL;
    slice_init(&places, program->module);
    for (uint32_t i = 0; i < program->effect_count; i++)
        slice_add_place(&places, &program->effects[i].effect, true);
    slice_close(&places);
    for (uint32_t i = 0; i < program->loop_count; i++) {
        const Loop *loop = &program->loops[i];
        Bounds bounds;
        Choice choice;
        if (loop->closed)
            continue;
        if (loop->head || !loop_bounds(loop->op, &bounds) || havocked_value(program, launch, bounds.from, true) ||
            havocked_value(program, launch, bounds.step, true))
            return NULL;
        if (!havocked_value(program, launch, bounds.to, true))
            continue;
        for (uint32_t k = 0; k < loop->op->result_count; k++) /* which say how far it went */
            if (slice_has(&places, &loop->op->results[k]))
                return NULL;
        if (!common_choice(solver, bounds.to, &choice) || (condition && condition != value_behind(choice.condition)))
            return NULL;
        condition = value_behind(choice.condition);
    }
    return condition;
}

/* ---- Runs ------------------------------------------------------------------------------------------- */

/* Which ways choices by the condition went in the run: RAN_YES and RAN_NO. */
static unsigned ways_of(const Program *program, const uint8_t *ran, const Value *condition) {
    unsigned ways = 0;
    for (uint32_t pc = 0; pc < program->code_count; pc++) {
        const Op *op = program->ops[pc];
        for (uint32_t i = 0; op && ran[pc] & (RAN_YES | RAN_NO) && i < op->operand_count; i++)
            if (value_behind(op->operands[i]) == condition)
                ways |= ran[pc] & (RAN_YES | RAN_NO);
    }
    return ways;
}

void flags_run(GlobalCheck *run) {
    GridStats stats = grid_stats(run->grid);
    bool one = run->count == 1 && run->launch_sequence.count == 1;
    const Program *program = run->programs[0];
    if (!one || run->partly || run->end != RUN_COMPLETE || !stats.chosen || stats.strong || run->options->steps ||
        run->options->replay ||
        !(has_flag(program, run->kernels[0].launch) ||
          (stats.instructions < most_again && unreached_access(program, run->reached, MEETS_ANY))))
        return;
    const Value *condition = deciding(run->arena, program, run->kernels[0].launch);
    bool yes = false, no = false, complete = true, apart = true;
    uint32_t found = run->found.race_count + run->found.access_count;
    uint8_t *ran = ARENA_ARRAY(run->arena, uint8_t, program->code_count + 1);
    run->only = NULL; /* they speak for the others with the first choice only */
    run->launches[0].cluster_thread_sets = NULL;
    for (unsigned havoc_choice = 0; havoc_choice < MACHINE_HAVOC_CHOICES && complete; havoc_choice++) {
        memset(ran, 0, program->code_count);
        complete = global_run_so(run, (GridOptions){.kind = GRID_FORWARD, .havoc_choice = havoc_choice, .ran = ran});
        stats = grid_stats(run->grid);
        apart &= !stats.strong && !stats.asks;
        unsigned ways = condition ? ways_of(program, ran, condition) : 0;
        yes |= ways == RAN_YES;
        no |= ways == RAN_NO;
    }
    run->decided =
        complete && yes && no && found == run->found.race_count + run->found.access_count && apart && !deadline_look();
    run->end = RUN_COMPLETE;
}
