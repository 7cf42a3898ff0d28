/* What a slot or phase is in the first two turns of its loop is compared between launches. */
#include "machine/tile/launch/shifts.h"

#include "machine/tile/launch/rings.h"
#include "model/flow/forwarded.h"
#include "model/memory/views.h"

enum { MOST_SHIFTS = 64, MOST_PROGRAMS = 16, TURNS = 2 };

typedef struct ShiftSeen {
    int64_t first[TURNS];
    bool any, differs;
    bool varies; /* with some other numbers it is another, as far as they were tried */
} ShiftSeen;

struct Shifts {
    Shift items[MOST_SHIFTS];
    ShiftSeen seen[MOST_SHIFTS];
    uint32_t count;
};

static const Op *loop_around(const Op *op) {
    for (op = op_parent(op); op && !op_is_loop(op); op = op_parent(op))
        if (op_is_control(op, CONTROL_FUNCTION))
            return NULL;
    return op;
}

/* In each of the first turns of the loop; false: it is not known. */
static bool numbers_of(Solver *solver, const Shift *shift, int64_t *numbers) {
    int64_t *turn = shift->loop ? solver_turn(solver, shift->loop) : NULL;
    bool known = true;
    for (int64_t i = 0; i < TURNS && known; i++) {
        if (turn)
            *turn = i;
        solver_changed(solver);
        known = solver_value(solver, shift->value, &numbers[i]);
    }
    if (turn)
        *turn = 0;
    solver_changed(solver);
    return known;
}

/* Whether it is another in the same turns, with other numbers of what it depends on, or in another program. What is not
 * (n - left, where left counts down from n; tile * blocks in the first tile) need not be seen otherwise. */
static bool is_another(Solver *solver, const Program *program, const Shift *shift) {
    static const int64_t others[] = {2, 3, 4, 5, 37, 111, 1001};
    Setting *setting = solver_setting(solver), before = *setting;
    uint64_t depends = solver_depends(solver, shift->value);
    int64_t first[TURNS], now[TURNS];
    bool another = false, known = numbers_of(solver, shift, first);
    for (uint32_t i = 0; i < program->parameter_count && i < 64 && known && !another; i++)
        for (unsigned k = 0; depends >> i & 1 && k < sizeof others / sizeof *others && !another; k++) {
            setting->numbers[i] = others[k] * program->parameters[i].divisibility;
            another = numbers_of(solver, shift, now) && memcmp(first, now, sizeof now) != 0;
            *setting = before;
        }
    for (int axis = 0; axis < 3 && known && !another; axis++) {
        setting->program[axis] = 1;
        another = numbers_of(solver, shift, now) && memcmp(first, now, sizeof now) != 0;
        *setting = before;
    }
    solver_changed(solver);
    return another;
}

/* More than the turns of loops must decide it, and nothing that no launch says. */
static void add_shift(Shifts *shifts, Solver *solver, const Program *program, const Op *op, const Value *value,
                      int64_t numbers) {
    int64_t now;
    if (!value || numbers < 2 || shifts->count == MOST_SHIFTS || !solver_shifted(solver, value) ||
        !solver_value(solver, value, &now))
        return;
    for (uint32_t i = 0; i < shifts->count; i++)
        if (shifts->items[i].value == value)
            return;
    Shift *shift = &shifts->items[shifts->count];
    *shift = (Shift){op, loop_around(op), value, numbers};
    shifts->seen[shifts->count++].varies = is_another(solver, program, shift);
}

Shifts *shifts_create(Arena *arena, Solver *solver, const Program *program) {
    Shifts *shifts = ARENA_NEW(arena, Shifts);
    Module *module = program->module;
    Effect effects[EFFECTS_MOST];
    for (const Op *op = module_first_op(module); op; op = op_next_in_walk(op, NULL)) {
        unsigned count =
            op->row && *op->row->effects && solver_is_called(solver, op) ? effects_of(module, op, effects) : 0;
        for (unsigned i = 0; i < count; i++) {
            uint32_t slots = effects[i].verb == EFFECT_VIEW ? slots_viewed(module, op, &effects[i]) : 0;
            if (slots)
                add_shift(shifts, solver, program, op, view_step_of_result(module, op, effects[i].on->index).index,
                          slots);
            if (effects[i].verb == EFFECT_WAIT)
                add_shift(shifts, solver, program, op, effects[i].amount, 2);
        }
    }
    return shifts;
}

static void see_program(Shifts *shifts, Solver *solver) {
    for (uint32_t i = 0; i < shifts->count; i++) {
        ShiftSeen *seen = &shifts->seen[i];
        int64_t numbers[TURNS], trips;
        const Op *loop = shifts->items[i].loop;
        bool ends = loop && solver_trips(solver, loop, &trips) && trips < TURNS;
        if (seen->differs || ends || !numbers_of(solver, &shifts->items[i], numbers))
            continue;
        seen->differs = seen->any && memcmp(seen->first, numbers, sizeof numbers) != 0;
        if (!seen->any)
            memcpy(seen->first, numbers, sizeof numbers);
        seen->any = true;
    }
}

void shifts_see(Shifts *shifts, Solver *solver) {
    Setting *setting = solver_setting(solver);
    const int64_t *grid = setting->grid;
    int64_t seen = 0;
    for (int64_t z = 0; z < grid[2] && shifts->count && seen < MOST_PROGRAMS; z++)
        for (int64_t y = 0; y < grid[1] && seen < MOST_PROGRAMS; y++)
            for (int64_t x = 0; x < grid[0] && seen < MOST_PROGRAMS; x++, seen++) {
                setting->program[0] = x, setting->program[1] = y, setting->program[2] = z;
                solver_changed(solver);
                see_program(shifts, solver);
            }
}

const Shift *shifts_item(const Shifts *shifts, uint32_t index) {
    return index < shifts->count ? &shifts->items[index] : NULL;
}

const Shift *shifts_missing(const Shifts *shifts) {
    for (uint32_t i = 0; i < shifts->count; i++)
        if (shifts->seen[i].any && !shifts->seen[i].differs && shifts->seen[i].varies)
            return &shifts->items[i];
    return NULL;
}
