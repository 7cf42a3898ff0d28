/* First what ops do with each number, then what addresses are sums of, then which loops no store depends on. */
#include "machine/tile/launch/uses.h"

#include "base/pointers.h"
#include "machine/tile/compile/roots.h"
#include "machine/tile/compile/slice.h"
#include "model/flow/forwarded.h"

enum { MOST_CHAIN = 64, MOST_DEPTH = 8, SMALLEST_UNIT = 16, LARGEST_UNIT = 1024 };

typedef struct UseReading {
    const Program *program;
    Arena *arena;
    NumberUses numbers;
} UseReading;

/* ---- What a parameter is for ---------------------------------------------------------------------- */

/* Whether the op gives the same numbers in another width or shape. */
static bool keeps_numbers(const Op *op) {
    switch (op_evaluator(op)) {
    case EVALUATE_SAME:
    case EVALUATE_SPLAT:
    case EVALUATE_UNSPLAT:
    case EVALUATE_BROADCAST:
    case EVALUATE_EXPAND:
    case EVALUATE_RESHAPE:
    case EVALUATE_TRANSPOSE:
    case EVALUATE_SIGN_EXTEND:
    case EVALUATE_ZERO_EXTEND:
    case EVALUATE_WRAP:
        return true;
    default:
        return false;
    }
}

/* The other operand of a sum with a constant, as a size is rounded up with; NULL if it is none. */
static const Value *beside_constant(const Op *op) {
    int64_t number;
    if (op_evaluator(op) != EVALUATE_ADD && op_evaluator(op) != EVALUATE_SUBTRACT)
        return NULL;
    return value_constant(op->operands[1], &number)   ? op->operands[0]
           : value_constant(op->operands[0], &number) ? op->operands[1]
                                                      : NULL;
}

/* The parameter of the kernel that the value is, in another width or shape, or rounded up; -1 if it is none. */
static int64_t parameter_of(const Program *program, const Value *value) {
    for (unsigned steps = 0; value && steps < MOST_CHAIN; steps++) {
        const Op *op = value_op(value);
        if (!op && value_holder(value) == program->function)
            return value->index;
        if (keeps_numbers(op))
            value = op->operands[0];
        else
            value = op && beside_constant(op) ? beside_constant(op) : value_always(value);
    }
    return -1;
}

static void use(UseReading *reading, const Value *value, unsigned how) {
    int64_t parameter = parameter_of(reading->program, value);
    if (parameter >= 0)
        reading->numbers.uses[parameter] |= (uint8_t)how;
}

static void use_all(UseReading *reading, const Op *op, SlotRef entry, unsigned how) {
    uint32_t count;
    Value **values = op_operands_of(op, entry, &count);
    for (uint32_t i = 0; i < count; i++)
        use(reading, values[i], how);
}

/* Constants that sizes are divided by, loops go by and places of tiles are multiplied with; and how long tiles are. */
static void take_number(UseReading *reading, int64_t number) {
    if (number > reading->numbers.unit && number >= SMALLEST_UNIT && number <= LARGEST_UNIT && !(number & (number - 1)))
        reading->numbers.unit = number;
}

static void take_unit(UseReading *reading, const Value *value) {
    int64_t number;
    if (value && value_constant(value, &number))
        take_number(reading, number);
}

/* Whether the value is a place among elements, and not among tiles or heads: a multiple of a tile's length, or that
 * plus a place in the tile. */
static bool is_of_elements(const Value *value, unsigned depth) {
    const Op *op = value_op(value);
    int64_t number;
    if (!op || !depth)
        return false;
    switch (op_evaluator(op)) {
    case EVALUATE_RANGE:
        return op_number(op, "end", &number) && number >= SMALLEST_UNIT;
    case EVALUATE_MULTIPLY:
        return (value_constant(op->operands[0], &number) || value_constant(op->operands[1], &number)) &&
               number >= SMALLEST_UNIT;
    case EVALUATE_ADD:
        return is_of_elements(op->operands[0], depth - 1) || is_of_elements(op->operands[1], depth - 1);
    default:
        return keeps_numbers(op) && is_of_elements(op->operands[0], depth - 1);
    }
}

static unsigned use_in(const Op *op, uint32_t operand) {
    int64_t predicate;
    switch (op_evaluator(op)) {
    case EVALUATE_MULTIPLY:
    case EVALUATE_ADD_POINTER:
        return USED_AS_STRIDE;
    case EVALUATE_COMPARE:
        return op_number(op, "predicate", &predicate) && predicate <= COMPARE_NE ? USED_AS_CASE : USED_AS_SIZE;
    case EVALUATE_DIVIDE_SIGNED:
    case EVALUATE_DIVIDE_UNSIGNED:
    case EVALUATE_DIVIDE_CEIL_SIGNED:
    case EVALUATE_DIVIDE_CEIL_UNSIGNED:
    case EVALUATE_DIVIDE_FLOOR_SIGNED:
        return operand ? USED_AS_COUNT : USED_AS_SIZE;
    case EVALUATE_REMAINDER_SIGNED:
    case EVALUATE_REMAINDER_UNSIGNED:
        return operand && !is_of_elements(op->operands[0], MOST_DEPTH) ? USED_AS_COUNT : USED_AS_SIZE;
    case EVALUATE_MINIMUM_SIGNED:
    case EVALUATE_MINIMUM_UNSIGNED:
    case EVALUATE_MAXIMUM_SIGNED:
    case EVALUATE_MAXIMUM_UNSIGNED:
        return USED_AS_SIZE;
    default:
        return 0;
    }
}

static void look_at(UseReading *reading, const Op *op) {
    Bounds bounds;
    int64_t step;
    for (uint32_t i = 0; i < op->operand_count && use_in(op, i); i++) {
        use(reading, op->operands[i], use_in(op, i));
        if (use_in(op, i) != USED_AS_CASE)
            take_unit(reading, op->operands[i]);
    }
    if (op_evaluator(op) == EVALUATE_RANGE && op_number(op, "end", &step))
        take_number(reading, step);
    if (loop_bounds(op, &bounds)) {
        bool tiles = value_constant(bounds.step, &step) && step >= SMALLEST_UNIT;
        use(reading, bounds.from, USED_AS_COUNT);
        use(reading, bounds.to, tiles ? USED_AS_SIZE : USED_AS_COUNT);
        take_unit(reading, bounds.step);
    }
    if (op_describes(op) != DESCRIBE_NONE) {
        use_all(reading, op, op->row->describes.strides, USED_AS_STRIDE);
        use_all(reading, op, op->row->describes.shape, USED_AS_SIZE);
        use_all(reading, op, op->row->describes.bounds, USED_AS_SIZE);
    }
}

static void find_uses(UseReading *reading) {
    const Op *function = reading->program->function;
    reading->numbers.unit = 1;
    for (const Op *op = function; op; op = op_next_in_walk(op, function))
        look_at(reading, op);
}

/* ---- What addresses are made of ------------------------------------------------------------------- */

static bool is_sum(const Op *op) {
    switch (op_evaluator(op)) {
    case EVALUATE_ADD:
    case EVALUATE_SUBTRACT:
    case EVALUATE_MULTIPLY:
    case EVALUATE_ADD_POINTER:
        return true;
    default:
        return keeps_numbers(op) || op_describes(op) != DESCRIBE_NONE;
    }
}

/* To the values that an address is a sum of multiples of. */
static void sum_close(ValueWalk *sum) {
    while (sum->count) {
        const Value *value = sum->items[--sum->count];
        const Op *op = value_op(value);
        Bounds bounds;
        if (value_walk_sources(sum, value))
            continue;
        if (loop_bounds(counted_by(value), &bounds)) {
            value_walk_to(sum, bounds.from);
            value_walk_to(sum, bounds.step);
        }
        for (uint32_t i = 0; op && is_sum(op) && i < op->operand_count; i++)
            value_walk_to(sum, op->operands[i]);
    }
}

/* The memory of `address` is addressed with whatever that, and the values, are sums of. */
static void add_affected(const UseReading *reading, const Value *address, ValueList with) {
    const Program *program = reading->program;
    const Block *entry = program->function->regions[0].first;
    Roots roots = address_roots(program, address);
    ValueWalk sum = {.seen.arena = reading->arena};
    value_walk_to(&sum, address);
    for (uint32_t i = 0; i < with.count; i++)
        value_walk_to(&sum, with.items[i]);
    sum_close(&sum);
    for (uint32_t i = 0; i < entry->arg_count; i++)
        if (value_walk_has(&sum, &entry->args[i]))
            reading->numbers.affects[i] |= roots.elsewhere ? UINT64_MAX : roots.parameters;
}

/* Whose memory is addressed with each parameter: by accesses, and by descriptors. */
static void find_affected(const UseReading *reading) {
    const Program *program = reading->program;
    for (uint32_t i = 0; i < program->effect_count; i++) {
        const Effect *effect = &program->effects[i].effect;
        bool again = effect->space != SPACE_GLOBAL || !effect_is_access(effect);
        for (uint32_t k = 0; k < i && !again; k++)
            again = program->effects[k].effect.on == effect->on && !effect->offsets.count;
        if (!again)
            add_affected(reading, effect->on, effect->offsets);
    }
    for (uint32_t i = 0; i < program->maker_count; i++) {
        const Op *op = program->makers[i].op;
        const Value *base = op_operand_of(op, op->row->describes.base);
        ValueList strides;
        strides.items = op_operands_of(op, op->row->describes.strides, &strides.count);
        if (base)
            add_affected(reading, base, strides);
    }
}

/* ---- Loops whose length matters to no store ------------------------------------------------------- */

static void add_stores(Slice *slice, const Program *program) {
    for (uint32_t i = 0; i < program->effect_count; i++) {
        const Effect *effect = &program->effects[i].effect;
        if (effect->space != SPACE_GLOBAL || effect->verb == EFFECT_READ || !effect_is_access(effect))
            continue;
        slice_add(slice, effect->on);
        slice_add(slice, effect->mask);
        slice_add(slice, effect->rows);
        slice_add_list(slice, effect->at);
        slice_add_list(slice, effect->offsets);
    }
    for (uint32_t i = 0; i < program->maker_count; i++) {
        const Op *op = program->makers[i].op;
        slice_add_list(slice, (ValueList){op->operands, op->operand_count});
    }
}

static void find_inner(UseReading *reading) {
    const Program *program = reading->program;
    const Block *entry = program->function->regions[0].first;
    Slice loops, stores;
    slice_init(&loops, program->module);
    slice_init(&stores, program->module);
    for (uint32_t i = 0; i < program->loop_count; i++) {
        Bounds bounds;
        if (loop_bounds(program->loops[i].op, &bounds))
            slice_add(&loops, bounds.to);
    }
    add_stores(&stores, program);
    slice_close(&loops);
    slice_close(&stores);
    for (uint32_t i = 0; i < entry->arg_count && i < program->parameter_count; i++)
        reading->numbers.inner[i] = slice_has(&loops, &entry->args[i]) && !slice_has(&stores, &entry->args[i]);
}

NumberUses number_uses(const Program *program, Arena *arena) {
    uint32_t count = program->parameter_count;
    UseReading reading = {.program = program,
                          .arena = arena,
                          .numbers = {.uses = ARENA_ARRAY(arena, uint8_t, count + 1),
                                      .affects = ARENA_ARRAY(arena, uint64_t, count + 1),
                                      .inner = ARENA_ARRAY(arena, bool, count + 1)}};
    find_uses(&reading);
    find_affected(&reading);
    find_inner(&reading);
    return reading.numbers;
}
