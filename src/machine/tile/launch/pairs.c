/* Outcomes are noted two by two: in one byte for each two conditions, a bit for each combination. */
#include "machine/tile/launch/pairs.h"

#include "machine/tile/launch/steering.h"
#include "model/flow/forwarded.h"

enum { MOST_ASSUMED = 16, MOST_PAIRED = 32, MOST_PROGRAMS = 64 };

typedef struct Paired {
    const Op *op;
    const Value *value;
    uint64_t depends; /* parameters, of what is around it, too */
    bool extended;    /* it is a number, too: nothing notes how it comes out when it is run */
    unsigned seen;    /* how it came out: 1 it did not hold, 2 it did */
    bool by_place;    /* a program id or a rank decides, too, or a parameter that the mask has no bit for */
} Paired;

struct Pairs {
    const Program *program;
    Paired items[MOST_PAIRED];
    uint32_t count;
    uint64_t assumed[MOST_ASSUMED]; /* parameters that an assumption of the kernel binds to each other */
    uint32_t assumed_count;
    bool all;                               /* there were no more conditions */
    uint8_t seen[MOST_PAIRED][MOST_PAIRED]; /* a bit for each combination: 1 << (first + 2 * second) */
};

/* ---- Conditions ----------------------------------------------------------------------------------- */

static bool same_number(const Value *a, const Value *b) {
    int64_t x, y;
    return value_behind(a) == value_behind(b) || (value_constant(a, &x) && value_constant(b, &y) && x == y);
}

/* Whether the two are one condition: partitions compare again what they share. */
static bool same_condition(Module *module, const Value *a, const Value *b) {
    const Op *x = value_made(value_behind(a), EVALUATE_COMPARE), *y = value_made(value_behind(b), EVALUATE_COMPARE);
    return value_behind(a) == value_behind(b) ||
           (x && y && evaluation_of(module, x, 0).a == evaluation_of(module, y, 0).a &&
            same_number(x->operands[0], y->operands[0]) && same_number(x->operands[1], y->operands[1]));
}

static void depend(Paired *paired, Solver *solver, const Value *value) {
    if (!value || solver_closed(solver, value))
        return;
    uint64_t mask = solver_depends(solver, value);
    paired->depends |= mask;
    paired->by_place |= !mask || solver_by_place(solver, value);
}

static void add_condition(Pairs *pairs, Solver *solver, const Op *op, const Value *value, bool extended) {
    int64_t number;
    if (!value || !pairs->all || solver_closed(solver, value) || solver_counted(solver, value) ||
        !solver_value(solver, value, &number))
        return;
    for (uint32_t i = 0; i < pairs->count; i++)
        if (same_condition(pairs->program->module, pairs->items[i].value, value)) {
            pairs->items[i].extended |= extended;
            return;
        }
    if (pairs->count == MOST_PAIRED) {
        pairs->all = false;
        return;
    }
    Paired *paired = &pairs->items[pairs->count++];
    *paired = (Paired){.op = op, .value = value, .extended = extended};
    depend(paired, solver, value);
    for (const Op *around = op_parent(op); around; around = op_parent(around))
        if (!op_is_control(around, CONTROL_FUNCTION) && around->region_count)
            for (uint32_t i = 0; i < around->operand_count; i++)
                if (number_width(pairs->program->module,
                                 type_resolve(pairs->program->module, around->operands[i]->type)) == 1)
                    depend(paired, solver, around->operands[i]);
}

Pairs *pairs_create(Arena *arena, Solver *solver, const Program *program) {
    Pairs *pairs = ARENA_NEW(arena, Pairs);
    Effect effects[EFFECTS_MOST];
    pairs->program = program;
    pairs->all = true;
    for (const Op *op = module_first_op(program->module); op; op = op_next_in_walk(op, NULL)) {
        if (!solver_is_called(solver, op))
            continue;
        if (op_is(op, CLASS_ASSUMPTION) && op->operand_count && pairs->assumed_count < MOST_ASSUMED)
            pairs->assumed[pairs->assumed_count++] = solver_depends(solver, op->operands[0]);
        add_condition(pairs, solver, op, steering_condition(program, op), false);
        add_condition(pairs, solver, op, extended_condition(program->module, program->steering, op), true);
        unsigned count = op->row && *op->row->effects ? effects_of(program->module, op, effects) : 0;
        for (unsigned i = 0; i < count; i++)
            if (effects[i].space != SPACE_GLOBAL)
                add_condition(pairs, solver, op, effects[i].predicate, false);
    }
    return pairs;
}

/* ---- How they come out ---------------------------------------------------------------------------- */

/* Whether branches and loops around the op let it run, as far as the setting tells. */
static bool comes_to(Solver *solver, const Op *op) {
    for (const Op *around = op_parent(op); around; op = around, around = op_parent(around)) {
        bool branch = op_is_control(around, CONTROL_BRANCH) || op_is_control(around, CONTROL_GUARD);
        int64_t number;
        if (branch && solver_value(solver, condition_of(around), &number) &&
            (number != 0) != (op->block->region == around->regions))
            return false;
        if (op_is_control(around, CONTROL_LOOP) && solver_trips(solver, around, &number) && !number)
            return false;
    }
    return true;
}

static void see_program(Pairs *pairs, Solver *solver) {
    int outcomes[MOST_PAIRED];
    int64_t number;
    solver_changed(solver);
    for (uint32_t i = 0; i < pairs->count; i++)
        outcomes[i] = comes_to(solver, pairs->items[i].op) && solver_value(solver, pairs->items[i].value, &number)
                          ? number != 0
                          : -1;
    for (uint32_t i = 0; i < pairs->count; i++)
        pairs->items[i].seen |= outcomes[i] < 0 ? 0 : 1u << outcomes[i];
    for (uint32_t i = 0; i < pairs->count; i++)
        for (uint32_t k = i + 1; k < pairs->count; k++)
            if (outcomes[i] >= 0 && outcomes[k] >= 0)
                pairs->seen[i][k] |= (uint8_t)(1 << (outcomes[i] + 2 * outcomes[k]));
}

void pairs_see(Pairs *pairs, Solver *solver) {
    Setting *setting = solver_setting(solver);
    const int64_t *grid = setting->grid;
    int64_t seen = 0;
    for (int64_t z = 0; z < grid[2] && pairs->count && seen < MOST_PROGRAMS; z++)
        for (int64_t y = 0; y < grid[1] && seen < MOST_PROGRAMS; y++)
            for (int64_t x = 0; x < grid[0] && seen < MOST_PROGRAMS; x++, seen++) {
                setting->program[0] = x, setting->program[1] = y, setting->program[2] = z;
                see_program(pairs, solver);
            }
}

/* ---- What was not seen ---------------------------------------------------------------------------- */

static bool are_nested(const Paired *a, const Paired *b) {
    return is_around(a->op, b->op) || is_around(b->op, a->op);
}

bool pairs_next(const Pairs *pairs, uint32_t *at, Pair *pair) {
    for (; *at < pairs->count * MOST_PAIRED * 4; ++*at) {
        unsigned way = *at % 4, i = *at / 4 / MOST_PAIRED, k = *at / 4 % MOST_PAIRED;
        if (k <= i || k >= pairs->count || pairs->seen[i][k] >> way & 1 ||
            are_nested(&pairs->items[i], &pairs->items[k]))
            continue;
        const Paired *a = &pairs->items[i], *b = &pairs->items[k];
        *pair = (Pair){{a->op, b->op}, {a->value, b->value}, {way & 1, way >> 1}};
        ++*at;
        return true;
    }
    return false;
}

static const Paired *paired_of(const Pairs *pairs, const Value *value) {
    uint32_t i = 0;
    while (pairs->items[i].value != value)
        i++;
    return &pairs->items[i];
}

/* Whether the one can be as it is whatever the other is. */
static bool are_apart(const Pairs *pairs, const Paired *a, const Paired *b) {
    for (uint32_t i = 0; i < pairs->assumed_count; i++)
        if (pairs->assumed[i] & a->depends && pairs->assumed[i] & b->depends)
            return false;
    return !a->by_place && !b->by_place && !(a->depends & b->depends);
}

bool pairs_missing(const Pairs *pairs, Pair *pair) {
    uint32_t at = 0;
    while (pairs_next(pairs, &at, pair)) {
        const Paired *a = paired_of(pairs, pair->values[0]), *b = paired_of(pairs, pair->values[1]);
        if (are_apart(pairs, a, b) && a->seen == 3 && b->seen == 3)
            return true;
    }
    return false;
}

const Op *pairs_one_way(const Pairs *pairs, const Value **value, bool *held) {
    for (uint32_t i = 0; i < pairs->count; i++) {
        const Paired *paired = &pairs->items[i];
        if (!paired->extended || (paired->seen != 1 && paired->seen != 2))
            continue;
        *value = paired->value;
        *held = paired->seen == 2;
        return paired->op;
    }
    return NULL;
}
