/* What addresses of global memory are made of, and which a small grid does not show: choices by arguments and program
 * ids, and remainders of program ids. Launches are solved for at which these come out otherwise than at one that was
 * run. */
#include "check/tile/grid/internal.h"

#include "machine/tile/compile/slice.h"
#include "machine/tile/launch/solve.h"
#include "machine/tile/launch/steering.h"
#include "model/flow/forwarded.h"

enum { MOST_PROGRAMS = 64, LARGEST_GRID = 1 << 14, NEIGHBORS = 2 };

typedef struct Ways {
    Arena *arena;
    const Program *program;
    const Launch *run;
    Solver *solver;
    Setting base;
    GlobalWay *items;
    size_t count, most;
    const Op *open; /* a choice of which nothing was found that leads to its other outcome */
} Ways;

static void add_places(Slice *slice, const Program *program) {
    for (uint32_t i = 0; i < program->effect_count; i++)
        slice_add_place(slice, &program->effects[i].effect, true);
    slice_close(slice);
}

/* Whether the value is in the range for some program of the launch that was run. */
static bool was_so(const Ways *ways, const Value *value, int64_t least, int64_t most) {
    Setting *setting = solver_setting(ways->solver);
    const int64_t *grid = ways->base.grid;
    int64_t seen = 0, number;
    for (int64_t z = 0; z < grid[2] && seen < MOST_PROGRAMS; z++)
        for (int64_t y = 0; y < grid[1] && seen < MOST_PROGRAMS; y++)
            for (int64_t x = 0; x < grid[0] && seen < MOST_PROGRAMS; x++, seen++) {
                *setting = ways->base;
                setting->program[0] = x, setting->program[1] = y, setting->program[2] = z;
                solver_changed(ways->solver);
                if (!solver_value(ways->solver, value, &number) || (number >= least && number <= most))
                    return true; /* or is not known: data, which is told elsewhere */
            }
    return false;
}

static void add_way(Ways *ways, const Setting *setting) {
    const Program *program = ways->program;
    GlobalWay *way = &ways->items[ways->count++];
    *way = (GlobalWay){.other_grid = memcmp(setting->grid, ways->base.grid, sizeof setting->grid) != 0};
    memcpy(way->grid, setting->grid, sizeof way->grid);
    way->numbers.arguments = ARENA_ARRAY(ways->arena, Argument, program->parameter_count + 1);
    for (uint32_t i = 0; i < program->parameter_count && i < SETTING_MOST_NUMBERS; i++)
        if (program->parameters[i].descriptor < 0 && setting->numbers[i] != ways->base.numbers[i])
            way->numbers.arguments[way->numbers.count++] = (Argument){
                .name = str_of(program->parameters[i].name), .kind = ARGUMENT_INTEGER, .integer = setting->numbers[i]};
}

static bool is_small(const int64_t grid[3]) {
    return grid[0] <= LARGEST_GRID && grid[1] <= LARGEST_GRID && grid[2] <= LARGEST_GRID &&
           grid[0] * grid[1] <= LARGEST_GRID && grid[0] * grid[1] * grid[2] <= LARGEST_GRID;
}

/* Gives the program for which the value is in the range programs beyond it, if it is still so: what it does may meet what
 * they do. */
static void add_neighbors(Ways *ways, const Value *value, int64_t least, int64_t most) {
    Setting *setting = solver_setting(ways->solver), solved = *setting;
    int64_t number;
    for (int axis = 0; axis < 3; axis++)
        if (setting->grid[axis] != ways->base.grid[axis] && setting->program[axis] == setting->grid[axis] - 1)
            setting->grid[axis] += NEIGHBORS;
    solver_changed(ways->solver);
    if (!is_small(setting->grid) || !solver_value(ways->solver, value, &number) || number < least || number > most) {
        *setting = solved;
        solver_changed(ways->solver);
    }
}

/* That a value is in a range; false: it was not, and no launch that can be run was found at which it is. */
static bool want(Ways *ways, const Op *op, const Value *value, int64_t least, int64_t most) {
    Setting *setting = solver_setting(ways->solver);
    if (was_so(ways, value, least, most))
        return true;
    *setting = ways->base;
    solver_changed(ways->solver);
    bool solved = ways->count < ways->most && solve_value(ways->solver, op, value, least, most);
    if (!solved || !is_small(setting->grid))
        return false;
    add_neighbors(ways, value, least, most);
    add_way(ways, setting);
    return true;
}

static void want_either(Ways *ways, const Op *op, const Value *condition) {
    bool both = want(ways, op, condition, 0, 0);
    both &= want(ways, op, condition, 1, 1);
    if (!both && !ways->open && !solver_counted(ways->solver, condition))
        ways->open = op;
}

static bool gives(const Slice *slice, const Op *op) {
    for (uint32_t i = 0; i < op->result_count; i++)
        if (slice_has(slice, &op->results[i]))
            return true;
    return false;
}

/* Whether it is one number, of a program id. */
static bool is_place(const Ways *ways, const Value *value) {
    return number_width(ways->program->module, type_resolve(ways->program->module, value->type)) &&
           solver_by_place(ways->solver, value);
}

/* The least number of its first operand from which an op is not to small numbers what it is to large ones; 0: none is
 * known. */
static int64_t otherwise_from(Module *module, const Op *op) {
    int64_t number = 0;
    if (op->operand_count == 2 && (!value_constant(op->operands[1], &number) || number < 1))
        return 0;
    switch (op_evaluator(op)) {
    case EVALUATE_AND: /* a mask takes a remainder */
        return remainder_by(op) ? remainder_by(op) : number & -number;
    case EVALUATE_OR:
        return number & -number;
    case EVALUATE_SHIFT_RIGHT_SIGNED:
    case EVALUATE_SHIFT_RIGHT_UNSIGNED:
        return number < 62 ? INT64_C(1) << number : 0;
    case EVALUATE_REMAINDER_SIGNED:
    case EVALUATE_REMAINDER_UNSIGNED:
    case EVALUATE_DIVIDE_SIGNED:
    case EVALUATE_DIVIDE_UNSIGNED:
    case EVALUATE_MINIMUM_UNSIGNED:
        return number;
    case EVALUATE_MINIMUM_SIGNED:
        return number + 1;
    case EVALUATE_WRAP: {
        unsigned width = number_width(module, type_resolve(module, op->results[0].type));
        return width < 62 ? INT64_C(1) << width : 0;
    }
    default:
        return 0;
    }
}

static void want_ways_of(Ways *ways, const Slice *slice, const Op *op) {
    Choice choice;
    bool chooses = chooses_whole(op) || (op_is_control(op, CONTROL_BRANCH) && op->region_count);
    const Value *condition = chooses && choice_of(&op->results[0], &choice)
                                 ? choice.condition
                                 : extended_condition(ways->program->module, slice, op);
    if (condition && !solver_closed(ways->solver, condition))
        want_either(ways, op, condition);
    int64_t number = otherwise_from(ways->program->module, op);
    if (number > 1 && is_place(ways, op->operands[0]))
        (void)want(ways, op, op->operands[0], number, INT64_MAX);
}

size_t global_ways(Arena *arena, const Program *program, const Launch *run, const Launch *given, GlobalWay *items,
                   size_t most, const Op **open) {
    Ways ways = {.arena = arena,
                 .program = program,
                 .run = run,
                 .solver = solver_create(arena, program),
                 .items = items,
                 .most = most};
    Slice slice;
    int64_t number;
    solver_launch(ways.solver, run);
    ways.base = *solver_setting(ways.solver);
    for (uint32_t i = 0; i < program->parameter_count && i < SETTING_MOST_NUMBERS; i++)
        if (launch_number(program, given, i, &number))
            solver_fix_number(ways.solver, i);
    if (given->grid[0])
        solver_fix_grid(ways.solver);
    slice_init(&slice, program->module);
    add_places(&slice, program);
    for (const Op *op = module_first_op(program->module); op; op = op_next_in_walk(op, NULL))
        if (op->result_count && solver_is_called(ways.solver, op) && gives(&slice, op))
            want_ways_of(&ways, &slice, op);
    *open = ways.open;
    return ways.count;
}
