/* Values under a setting, and what is wanted of a kernel as constraints on them; solve_reach.c turns ops around. */
#include "machine/tile/launch/solve_internal.h"
#include "machine/tile/launch/steering.h"

#include "model/flow/symbol.h"

/* ---- A solver ------------------------------------------------------------------------------------- */

/* Those of one function, in their order. */
static void add_calls(Solver *solver, const Op *function) {
    for (const Op *op = function; op; op = op_next_in_walk(op, function))
        if (op_is_control(op, CONTROL_CALL) && call_target(solver->module, op))
            *ARENA_PUSH(solver->arena, solver->calls, solver->call_count, solver->call_capacity) = op;
}

/* Calls are gathered from the kernel on, callers first. So no function is come to by a call of its own, or by one of a
 * function that it calls; functions that the kernel does not call have none. */
Solver *solver_create(Arena *arena, const Program *program) {
    Solver *solver = ARENA_NEW(arena, Solver);
    solver->arena = arena;
    solver->program = program;
    solver->module = program->module;
    solver->memo.arena = solver->loops.arena = solver->callers.arena = solver->closed.arena = arena;
    solver->epoch = 1;
    solver->unit = 1;
    for (const Op *op = program->function; op; op = op_next_in_walk(op, program->function))
        if (op_is(op, CLASS_ASSUMPTION) && op->operand_count && op_parent(op) == program->function)
            *ARENA_PUSH(arena, solver->assumptions, solver->assumption_count, solver->assumption_capacity) =
                op->operands[0];
    add_calls(solver, program->function);
    for (uint32_t i = 0; i < solver->call_count; i++) {
        const Op *callee = call_target(solver->module, solver->calls[i]);
        if (callee == program->function || pointers_get(&solver->callers, callee) != NO_NUMBER)
            continue;
        pointers_set(&solver->callers, callee, i);
        add_calls(solver, callee);
    }
    return solver;
}

const Op *solver_call(const Solver *solver, uint32_t number) {
    return number < solver->call_count ? solver->calls[number] : NULL;
}

static const Op *function_around(const Op *op) {
    while (op && !op_is_control(op, CONTROL_FUNCTION))
        op = op_parent(op);
    return op;
}

bool solver_is_called(const Solver *solver, const Op *op) {
    const Op *function = function_around(op);
    return function && (function == solver->program->function || pointers_get(&solver->callers, function) != NO_NUMBER);
}

/* Whether the way to the call, by the calls that functions are come to by, leads through the function. */
static bool leads_through(const Solver *solver, const Op *call, const Op *function) {
    for (const Op *at = function_around(call); at; at = function_around(call)) {
        uint32_t caller = pointers_get(&solver->callers, at);
        if (at == function || caller == NO_NUMBER)
            return at == function;
        call = solver->calls[caller];
    }
    return false;
}

bool solver_come_by(Solver *solver, const Op *function, uint32_t call) {
    for (uint32_t i = 0; function && i < solver->call_count; i++)
        if (call_target(solver->module, solver->calls[i]) == function &&
            !leads_through(solver, solver->calls[i], function) && !call--) {
            pointers_set(&solver->callers, function, i);
            solver_changed(solver);
            return true;
        }
    return false;
}

Setting *solver_setting(Solver *solver) {
    return &solver->now;
}

void solver_changed(Solver *solver) {
    solver->epoch++;
}

bool launch_number(const Program *program, const Launch *launch, uint32_t index, int64_t *number) {
    const Parameter *parameter = &program->parameters[index];
    bool part = parameter->descriptor >= 0;
    const char *name = program->parameters[part ? (uint32_t)parameter->descriptor : index].name;
    const Argument *argument = launch ? launch_find(launch, str_of(name)) : NULL;
    if (!argument)
        return false;
    if (!part) {
        *number = argument->integer;
        return argument->kind == ARGUMENT_INTEGER;
    }
    if (argument->kind == ARGUMENT_INTEGER || parameter->part >= 2u * argument->rank)
        return false;
    *number = parameter->part < argument->rank ? argument->shape[parameter->part]
                                               : argument->strides[parameter->part - argument->rank];
    return true;
}

void solver_launch(Solver *solver, const Launch *launch) {
    solver->now = (Setting){0};
    memcpy(solver->now.grid, launch->grid, sizeof solver->now.grid);
    for (uint32_t i = 0; i < solver->program->parameter_count && i < SETTING_MOST_NUMBERS; i++)
        (void)launch_number(solver->program, launch, i, &solver->now.numbers[i]);
    solver_changed(solver);
}

void solver_fix_number(Solver *solver, uint32_t parameter) {
    if (parameter < SETTING_MOST_NUMBERS)
        solver->fixed[parameter] = true;
}

void solver_fix_grid(Solver *solver) {
    solver->grid_fixed = true;
}

void solver_hold(Solver *solver, uint64_t parameters) {
    solver->held = parameters;
}

void solver_prefer(Solver *solver, int64_t unit, bool uneven) {
    solver->unit = unit;
    solver->uneven = uneven;
}

void solver_suppose(Solver *solver, Supposed supposed) {
    solver->supposed = supposed;
    solver_changed(solver);
}

bool solver_goes(Solver *solver, const Value *condition, int64_t *goes) {
    if (solver_value(solver, condition, goes))
        return true;
    *goes = solver->supposed == SUPPOSED_YES;
    return solver->supposed != SUPPOSED_NOTHING;
}

int64_t *solver_turn(Solver *solver, const Op *loop) {
    uint32_t index = pointers_get(&solver->loops, loop);
    if (index == NO_NUMBER) {
        if (solver->loop_count == SETTING_MOST_TURNS)
            return NULL;
        index = solver->loop_count++;
        pointers_set(&solver->loops, loop, index);
    }
    return &solver->now.turns[index];
}

bool solver_parameter(const Solver *solver, const Value *value, uint32_t *index) {
    const Block *entry = solver->program->function->regions[0].first;
    if (value->is_result || value->owner != entry || value->index >= SETTING_MOST_NUMBERS)
        return false;
    *index = value->index;
    return true;
}

const Value *solver_passed(Solver *solver, const Value *value) {
    const Op *function = value_holder(value);
    uint32_t caller = op_is_control(function, CONTROL_FUNCTION) ? pointers_get(&solver->callers, function) : NO_NUMBER;
    const Op *call = caller == NO_NUMBER ? NULL : solver->calls[caller];
    return call && value->index < call->operand_count ? call->operands[value->index] : NULL;
}

/* ---- Values --------------------------------------------------------------------------------------- */

struct Memo {
    uint64_t epoch;
    int64_t number;
    bool known, busy;
};
typedef struct Memo Memo;

static bool counter_value(Solver *solver, const Op *loop, int64_t *number) {
    Bounds bounds;
    int64_t from, step;
    const int64_t *turn = solver_turn(solver, loop);
    if (!turn || !loop_bounds(loop, &bounds) || !solver_value(solver, bounds.from, &from) ||
        !solver_value(solver, bounds.step, &step))
        return false;
    *number = from + *turn * step;
    return true;
}

bool solver_counts(Solver *solver, const Carried *carried, int64_t *by) {
    const Op *add = value_made(carried->next, EVALUATE_ADD), *less = value_made(carried->next, EVALUATE_SUBTRACT);
    if (less && (less->operands[0] == carried->argument ||
                 value_forwarded(less->operands[0], FORWARDED_ACROSS) == carried->argument)) {
        bool known = solver_value(solver, less->operands[1], by);
        *by = known && *by != INT64_MIN ? -*by : 0;
        return known;
    }
    for (int i = 0; add && i < 2; i++) {
        const Value *across = value_forwarded(add->operands[i], FORWARDED_ACROSS);
        if (add->operands[i] == carried->argument || across == carried->argument)
            return solver_value(solver, add->operands[1 - i], by);
    }
    return false;
}

bool solver_step_back(Solver *solver, const Op *loop) {
    int64_t *turn = solver_turn(solver, loop);
    if (solver->stepped_back || !turn || !*turn)
        return false;
    solver->stepped_back = true;
    --*turn;
    solver_changed(solver);
    return true;
}

void solver_step_on(Solver *solver, const Op *loop) {
    ++*solver_turn(solver, loop);
    solver->stepped_back = false;
    solver_changed(solver);
}

/* In the turn that is meant. What does not count is what the turn before has handed over. */
static bool carried_value(Solver *solver, const Carried *carried, int64_t *number) {
    const int64_t *turn = solver_turn(solver, carried->loop);
    int64_t by = 0;
    if (!turn || !solver_value(solver, carried->first, number))
        return false;
    if (*turn && carried->next != carried->argument && !solver_counts(solver, carried, &by)) {
        if (!solver_step_back(solver, carried->loop))
            return false;
        bool known = solver_value(solver, carried->next, number);
        solver_step_on(solver, carried->loop);
        return known;
    }
    *number += *turn * by;
    return true;
}

/* Behind the loop. */
static bool result_value(Solver *solver, const Carried *carried, int64_t *number) {
    int64_t trips, by;
    if (!solver_trips(solver, carried->loop, &trips))
        return false;
    if (!trips)
        return solver_value(solver, carried->first, number);
    if (trips == 1 && solver_turn(solver, carried->loop) && !*solver_turn(solver, carried->loop))
        return solver_value(solver, carried->next, number);
    if (!solver_counts(solver, carried, &by) || !solver_value(solver, carried->first, number))
        return false;
    *number += trips * by;
    return true;
}

static bool argument_value(Solver *solver, const Value *value, int64_t *number) {
    uint32_t parameter;
    Carried carried;
    if (solver_parameter(solver, value, &parameter)) {
        *number = solver->now.numbers[parameter];
        return number_width(solver->module, type_resolve(solver->module, value->type)) &&
               !type_is(type_resolve(solver->module, value->type), STR("tt.ptr"));
    }
    if (counted_by(value))
        return counter_value(solver, counted_by(value), number);
    if (carried_of(value, &carried) || block_carried(value, &carried))
        return carried_value(solver, &carried, number);
    const Value *other = solver_passed(solver, value);
    if (!other)
        other = value_always(value);
    if (!other)
        other = value_forwarded(value, FORWARDED_ACROSS);
    return other && other != value && solver_value(solver, other, number);
}

static bool machine_value(Solver *solver, const Op *op, int64_t *number) {
    uint32_t axis;
    switch (program_asks(solver->program, op, &axis)) {
    case EVALUATE_PROGRAM_ID:
        *number = solver->now.program[axis];
        return true;
    case EVALUATE_PROGRAM_COUNT:
        *number = solver->now.grid[axis];
        return true;
    case EVALUATE_CTA_RANK:
        *number = solver->now.rank;
        return true;
    case EVALUATE_CTA_COUNT:
        *number = solver->program->ctas;
        return true;
    default:
        return false;
    }
}

static bool evaluated_value(Solver *solver, const Op *op, const Value *value, int64_t *number) {
    int64_t operands[3] = {0};
    if (op->operand_count > 3 || op_evaluator(op) == EVALUATE_NONE)
        return false;
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (!solver_value(solver, op->operands[i], &operands[i]))
            return false;
    Evaluation how = evaluation_of(solver->module, op, value->index);
    if (how.tensor)
        return false;
    if (how.code == EVALUATE_SAME) {
        *number = operands[0];
        return true;
    }
    return how.width && how.operand_width &&
           evaluate_integers(how.code, how.width, how.operand_width, how.a, operands[0], operands[1], operands[2],
                             number);
}

static bool find_value(Solver *solver, const Value *value, int64_t *number) {
    const Op *op = value_op(value);
    Choice choice;
    Carried carried;
    int64_t condition;
    if (!op)
        return argument_value(solver, value, number);
    if (value_constant(value, number))
        return true;
    if (choice_of(value, &choice))
        return solver_goes(solver, choice.condition, &condition) &&
               solver_value(solver, condition ? choice.yes : choice.no, number);
    if (op_is_loop(op))
        return carried_of(value, &carried) && result_value(solver, &carried, number);
    if (machine_value(solver, op, number))
        return true;
    const Value *other = value_always(value);
    if (other && other != value)
        return solver_value(solver, other, number);
    return evaluated_value(solver, op, value, number);
}

bool solver_value(Solver *solver, const Value *value, int64_t *number) {
    if (!value)
        return false;
    uint32_t index = pointers_get(&solver->memo, value);
    if (index == NO_NUMBER) {
        index = solver->memo_count;
        *ARENA_PUSH(solver->arena, solver->memos, solver->memo_count, solver->memo_capacity) = (Memo){0};
        pointers_set(&solver->memo, value, index);
    }
    if (solver->memos[index].epoch != solver->epoch) {
        if (solver->memos[index].busy || solver->depth > MOST_DEPTH)
            return false;
        solver->memos[index].busy = true;
        solver->depth++;
        int64_t found = 0;
        bool known = find_value(solver, value, &found);
        solver->depth--;
        solver->memos[index] = (Memo){.epoch = solver->epoch, .number = found, .known = known};
    }
    *number = solver->memos[index].number;
    return solver->memos[index].known;
}

bool solver_trips(Solver *solver, const Op *loop, int64_t *trips) {
    Bounds bounds;
    int64_t from, to, step;
    if (!loop_bounds(loop, &bounds) || !solver_value(solver, bounds.from, &from) ||
        !solver_value(solver, bounds.to, &to) || !solver_value(solver, bounds.step, &step) || step <= 0)
        return false;
    *trips = to > from ? (int64_t)(((uint64_t)to - (uint64_t)from - 1) / (uint64_t)step) + 1 : 0;
    return true;
}

/* ---- What is wanted ------------------------------------------------------------------------------- */

enum { MOST_WANTED = 64, MOST_ROUNDS = 6 };

/* A value in a range, or less than another by more than `least`, or, with a loop, how often that runs. */
typedef struct SolveWanted {
    const Value *value, *less_than;
    const Op *loop;
    int64_t least, most;
} SolveWanted;
typedef struct WantedList {
    SolveWanted items[MOST_WANTED];
    uint32_t count;
} WantedList;

static bool want(WantedList *list, SolveWanted wanted) {
    if (list->count == MOST_WANTED)
        return false;
    list->items[list->count++] = wanted;
    return true;
}

static bool want_value(WantedList *list, const Value *value, int64_t number) {
    return value && want(list, (SolveWanted){.value = value, .least = number, .most = number});
}

/* The case of a switch that runs its region `region`; the first is for numbers that no case has. */
static bool want_case(WantedList *list, const Op *op, uint32_t region) {
    const Attr *cases = op_attr(op, "cases");
    const Value *number = op_operand_of(op, op->row->control.number);
    if (!number || !cases || cases->kind != ATTR_INTS || region > cases->count)
        return true;
    if (region)
        return want_value(list, number, cases->ints[region - 1]);
    int64_t most = 0;
    for (uint32_t i = 0; i < cases->count; i++)
        most = cases->ints[i] > most ? cases->ints[i] : most;
    return want(list, (SolveWanted){.value = number, .least = most < INT64_MAX ? most + 1 : most, .most = INT64_MAX});
}

static bool want_region(WantedList *list, const Op *op, uint32_t region) {
    switch (op_control(op)) {
    case CONTROL_LOOP:
        return want(list, (SolveWanted){.loop = op, .least = 1, .most = INT64_MAX});
    case CONTROL_BRANCH:
    case CONTROL_GUARD:
        return want_value(list, op_operand_of(op, op->row->control.condition), region == 0);
    case CONTROL_WHILE:
        return !region || !condition_of(op) || want_value(list, condition_of(op), 1);
    case CONTROL_SWITCH:
        return want_case(list, op, region);
    default:
        return true;
    }
}

/* That the ops around let it run, the outermost first. */
static bool want_way_to(Solver *solver, WantedList *list, const Op *op) {
    const Op *around = op_parent(op);
    if (!around || around == solver->program->function)
        return true;
    if (op_is_control(around, CONTROL_FUNCTION)) {
        uint32_t caller = pointers_get(&solver->callers, around);
        return caller != NO_NUMBER && want_way_to(solver, list, solver->calls[caller]);
    }
    uint32_t region = (uint32_t)(op->block->region - around->regions);
    return want_way_to(solver, list, around) && want_region(list, around, region);
}

static bool want_assumptions(const Solver *solver, WantedList *list) {
    for (uint32_t i = 0; i < solver->assumption_count; i++)
        if (!want_value(list, solver->assumptions[i], 1))
            return false;
    return true;
}

static bool holds(Solver *solver, const SolveWanted *wanted) {
    int64_t number, other;
    if (wanted->less_than)
        return solver_value(solver, wanted->value, &number) && solver_value(solver, wanted->less_than, &other) &&
               (__int128)other - number > wanted->least;
    bool known =
        wanted->loop ? solver_trips(solver, wanted->loop, &number) : solver_value(solver, wanted->value, &number);
    return known && number >= wanted->least && number <= wanted->most;
}

static bool is_open(Solver *solver, const SolveWanted *wanted) {
    int64_t number;
    return wanted->loop ? !solver_trips(solver, wanted->loop, &number) : !solver_value(solver, wanted->value, &number);
}

static bool reach_wanted(Solver *solver, const SolveWanted *wanted) {
    int64_t number, other;
    if (wanted->loop)
        return reach_trips(solver, wanted->loop, wanted->least, wanted->most);
    if (!wanted->less_than)
        return reach(solver, wanted->value, wanted->least, wanted->most);
    return solver_value(solver, wanted->value, &number) && solver_value(solver, wanted->less_than, &other) &&
           (reach(solver, wanted->less_than, number + wanted->least + 1, INT64_MAX) ||
            reach(solver, wanted->value, INT64_MIN, other - wanted->least - 1));
}

/* Data decides some of it: that is tried in other ways, and here the rest is solved for. */
static void leave_out_data(Solver *solver, WantedList *list) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->count; i++)
        if (!is_open(solver, &list->items[i]))
            list->items[kept++] = list->items[i];
    list->count = kept;
}

/* One after the other, again as long as a later one has undone an earlier one. */
static bool solve_so(Solver *solver, const WantedList *list) {
    Setting before = solver->now;
    for (int round = 0; round < MOST_ROUNDS; round++) {
        bool all = true;
        for (uint32_t i = 0; i < list->count; i++) {
            const SolveWanted *wanted = &list->items[i];
            solver->steps = MOST_STEPS;
            all &= holds(solver, wanted) || reach_wanted(solver, wanted);
        }
        for (uint32_t i = 0; i < list->count; i++)
            all &= holds(solver, &list->items[i]);
        if (all)
            return true;
    }
    solver->now = before;
    solver_changed(solver);
    return false;
}

/* First for the program that is meant, then for any. */
static bool solve(Solver *solver, WantedList *list) {
    leave_out_data(solver, list);
    solver->same_program = true;
    bool solved = solve_so(solver, list);
    solver->same_program = false;
    return solved || solve_so(solver, list);
}

bool solve_comes_to(Solver *solver, const Op *op) {
    WantedList list = {.count = 0};
    return want_assumptions(solver, &list) && want_way_to(solver, &list, op) && solve(solver, &list);
}

/* A while loop iterates once more after turn `turn`, from 0. */
static bool solve_turn(Solver *solver, const Op *loop, int64_t turn) {
    Setting before = solver->now;
    WantedList list = {.count = 0};
    int64_t *at = solver_turn(solver, loop), now;
    const Value *condition = condition_of(loop);
    if (!at)
        return false;
    *at = turn;
    solver->pinned = loop;
    solver_changed(solver);
    bool solved = solver_value(solver, condition, &now) && want_assumptions(solver, &list) &&
                  want_way_to(solver, &list, loop) && want_value(&list, condition, 1) && solve(solver, &list);
    solver->pinned = NULL;
    if (solved)
        return true;
    solver->now = before;
    solver_changed(solver);
    return false;
}

bool solve_trips(Solver *solver, const Op *loop, int64_t least, int64_t most) {
    WantedList list = {.count = 0};
    int64_t trips;
    if (op_is_control(loop, CONTROL_WHILE))
        return least > 0 && solve_turn(solver, loop, least - 1);
    return solver_trips(solver, loop, &trips) && want_assumptions(solver, &list) && want_way_to(solver, &list, loop) &&
           want(&list, (SolveWanted){.loop = loop, .least = least, .most = most}) && solve(solver, &list);
}

bool solve_value(Solver *solver, const Op *at, const Value *value, int64_t least, int64_t most) {
    WantedList list = {.count = 0};
    int64_t now;
    return solver_value(solver, value, &now) && want_assumptions(solver, &list) && want_way_to(solver, &list, at) &&
           want(&list, (SolveWanted){.value = value, .least = least, .most = most}) && solve(solver, &list);
}

bool solve_both(Solver *solver, const Op *const at[2], const Value *const values[2], const int64_t numbers[2]) {
    WantedList list = {.count = 0};
    bool wanted = want_assumptions(solver, &list);
    for (int i = 0; i < 2 && wanted; i++)
        wanted = want_way_to(solver, &list, at[i]) && want_value(&list, values[i], numbers[i]);
    if (wanted && solve(solver, &list))
        return true;
    solver->other_first = true; /* what one wants may have undone what the other does */
    bool solved = wanted && solve(solver, &list);
    solver->other_first = false;
    return solved;
}

bool solve_less(Solver *solver, const Op *at, const Value *value, const Value *than, int64_t by) {
    WantedList list = {.count = 0};
    int64_t now;
    return solver_value(solver, value, &now) && solver_value(solver, than, &now) && want_assumptions(solver, &list) &&
           want_way_to(solver, &list, at) &&
           want(&list, (SolveWanted){.value = value, .less_than = than, .least = by}) && solve(solver, &list);
}

/* The first of its turns in which the value is another; `turns`: there is none. */
static int64_t first_other(Solver *solver, int64_t *turn, int64_t turns, const Value *value, int64_t number) {
    int64_t now;
    for (*turn = 0; *turn < turns; ++*turn) {
        solver_changed(solver);
        if (!solver_value(solver, value, &now) || now != number)
            break;
    }
    return *turn;
}

/* What is solved for one turn may undo another; so it is looked through all of them again. */
bool solve_throughout(Solver *solver, const Op *loop, int64_t turns, const Op *at, const Value *value, int64_t number) {
    Setting before = solver->now;
    int64_t *turn = solver_turn(solver, loop), trips;
    bool solved = turn != NULL;
    for (int64_t left = MOST_ROUNDS * turns; solved && left > 0; left--) {
        if (solver_trips(solver, loop, &trips) && trips < turns && !solve_trips(solver, loop, turns, INT64_MAX))
            break;
        if (first_other(solver, turn, turns, value, number) == turns)
            return true;
        solver->pinned = loop;
        solved = solve_value(solver, at, value, number, number);
        solver->pinned = NULL;
    }
    solver->now = before;
    solver_changed(solver);
    return false;
}

bool solve_happens(Solver *solver, const Op *op) {
    WantedList list = {.count = 0};
    Effect effects[EFFECTS_MOST];
    unsigned count = effects_of(solver->module, op, effects);
    if (!want_assumptions(solver, &list) || !want_way_to(solver, &list, op))
        return false;
    for (unsigned i = 0; i < count; i++)
        if ((effects[i].predicate && !want_value(&list, effects[i].predicate, 1)) ||
            (effects[i].second_predicate && !want_value(&list, effects[i].second_predicate, 1)))
            return false;
    return solve(solver, &list);
}
