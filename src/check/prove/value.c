/* Values of the IR in normal form, by the evaluators of their ops.
 *
 * Sums, differences and products of words that wrap around are those of numbers, modulo the words' size: it is enough
 * that the number is in the range of its word where it is used otherwise: extended, divided, compared, added to a
 * pointer. There a bound says so. What a quotient, a minimum or a loop is made of is such a use, too. */
#include "check/prove/value.h"

#include "ir/op.h"
#include "machine/tile/compile/program.h"
#include "model/flow/forwarded.h"
#include "model/number/parts.h"
#include "model/number/tensor.h"

/* The coordinates of an element of a tensor, in terms of lanes. */
typedef struct LaneMap {
    uint32_t rank;
    Quantity at[TENSOR_MOST_DIMS];
} LaneMap;

typedef struct KnownValue {
    const Value *value; /* NULL: free */
    uint32_t map;
    Quantity quantity;
} KnownValue;
typedef TABLE_OF(KnownValue) KnownValues;

struct ProverMemo {
    LaneMap *maps;
    uint32_t map_count, map_capacity;
    KnownValues known;
    unsigned depth;
};

typedef struct ValueKey {
    const Value *value;
    uint32_t map;
} ValueKey;
TABLE(known_values, KnownValues, KnownValue, ValueKey, 256, item->value, ((ValueKey){item->value, item->map}),
      table_hash((uintptr_t)key.value >> 3 ^ (uint64_t)key.map << 40), item->value == key.value && item->map == key.map)

enum { NO_MAP = 0, DEEPEST = 400, SMALL_WIDTH = 32 };

static Quantities *quantities_of(Prover *prover) {
    return &prover->proof->quantities;
}

static struct ProverMemo *memo_of(Prover *prover) {
    if (!prover->memo) {
        prover->memo = ARENA_NEW(prover->arena, struct ProverMemo);
        prover->proof->memo = prover->memo;
        ARENA_PUSH(prover->arena, prover->memo->maps, prover->memo->map_count, prover->memo->map_capacity);
    }
    return prover->memo;
}

static uint32_t map_number(Prover *prover, const LaneMap *map) {
    struct ProverMemo *memo = memo_of(prover);
    for (uint32_t i = 0; i < memo->map_count; i++)
        if (memo->maps[i].rank == map->rank && memcmp(memo->maps[i].at, map->at, map->rank * sizeof *map->at) == 0)
            return i;
    *ARENA_PUSH(prover->arena, memo->maps, memo->map_count, memo->map_capacity) = *map;
    return memo->map_count - 1;
}

uint32_t prover_coordinates(const Proof *proof, uint32_t map, const Quantity **at) {
    const LaneMap *of = proof->memo && map < proof->memo->map_count ? &proof->memo->maps[map] : NULL;
    *at = of ? of->at : NULL;
    return of ? of->rank : 0;
}

static Quantity element_at(Prover *prover, const Value *value, uint32_t map);

/* ---- Words ---------------------------------------------------------------------------------------- */

static const Type *tensor_type(Prover *prover, const Value *value) {
    const Type *type = type_resolve(prover->module, value->type);
    return type && type->kind == TYPE_TENSOR ? type : NULL;
}

static unsigned width_of_element(Prover *prover, const Value *value) {
    const Type *type = type_resolve(prover->module, value->type);
    if (type && type->kind == TYPE_TENSOR)
        type = type_resolve(prover->module, type->element);
    return number_width(prover->module, type);
}

/* Of what only its width is known. */
static Quantity data_of(Prover *prover, const Value *value, uint32_t map) {
    const Op *op = value_op(value), *holder = op ? op : value_holder(value);
    return quantity_atom(quantities_of(prover), &(QuantityAtom){.kind = ATOM_DATA,
                                                                .key = value,
                                                                .extent = map,
                                                                .of = holder ? op_line(prover->module, holder) : 0,
                                                                .width = (uint8_t)width_of_element(prover, value)});
}

/* The number is in the range of its word, or, with `least` 0, not negative. */
static Quantity in_range(Prover *prover, const Value *value, Quantity quantity, bool negative) {
    unsigned width = width_of_element(prover, value);
    int64_t most = width && width < 62 ? (INT64_C(1) << (width - 1)) - 1 : BOUND_NONE - 1;
    if (!quantity_has_data(quantities_of(prover), quantity))
        quantity_bound(quantities_of(prover), quantity, negative ? -most - 1 : 0, most);
    return quantity;
}

static Quantity operand_at(Prover *prover, const Op *op, uint32_t index, uint32_t map) {
    return element_at(prover, op->operands[index], map);
}
/* The same where it is used as a number. */
static Quantity number_at(Prover *prover, const Op *op, uint32_t index, uint32_t map, bool negative) {
    return in_range(prover, op->operands[index], operand_at(prover, op, index, map), negative);
}

/* ---- Loops ---------------------------------------------------------------------------------------- */

static Quantity loop_number(Prover *prover, const Value *value) {
    return in_range(prover, value, element_at(prover, value, NO_MAP), true);
}

/* Where the loop starts, and how far and by which step it counts. */
static bool loop_numbers(Prover *prover, const Op *loop, Quantity *from, Quantity *span, Quantity *step) {
    Quantities *quantities = quantities_of(prover);
    Bounds bounds;
    if (!op_is_control(loop, CONTROL_LOOP) || !loop_bounds(loop, &bounds))
        return false;
    *from = loop_number(prover, bounds.from);
    *step = loop_number(prover, bounds.step);
    *span = quantity_add(quantities, loop_number(prover, bounds.to), *from, -1);
    *span = quantity_into_minimum(quantities, *span);
    quantity_bound(quantities, *step, 1, BOUND_NONE - 1);
    return *span != QUANTITY_NONE && *step != QUANTITY_NONE;
}

static Quantity trip_of(Prover *prover, const Op *loop, Quantity span, Quantity step) {
    return quantity_atom(
        quantities_of(prover),
        &(QuantityAtom){.kind = ATOM_TRIP, .key = loop, .a = span, .b = step, .of = op_line(prover->module, loop)});
}

Quantity prover_trips(Prover *prover, const Op *loop) {
    Quantity from, span, step;
    return loop_numbers(prover, loop, &from, &span, &step) ? quantity_trips(quantities_of(prover), span, step)
                                                           : QUANTITY_NONE;
}

/* The counter of a loop: it is less than its end. */
static Quantity induction(Prover *prover, const Op *loop) {
    Quantity from, span, step;
    Quantities *quantities = quantities_of(prover);
    Bounds bounds;
    if (!loop_numbers(prover, loop, &from, &span, &step) || !loop_bounds(loop, &bounds))
        return QUANTITY_NONE;
    Quantity last = quantity_add(quantities, loop_number(prover, bounds.to), QUANTITY_ONE, -1);
    Quantity counter =
        quantity_add(quantities, from, quantity_multiply(quantities, trip_of(prover, loop, span, step), step), 1);
    quantity_set_most(quantities, counter, last);
    return counter;
}

static void remember(Prover *prover, const Value *value, uint32_t map, Quantity quantity) {
    *known_values_put(prover->arena, &memo_of(prover)->known, (ValueKey){value, map}) =
        (KnownValue){value, map, quantity};
}

/* A value that a loop carries and that does not depend on what it was: in each turn it is what `next` was in the turn
 * before, also in the first one, if that fits. */
static Quantity lagging_value(Prover *prover, Quantity first, Quantity next, Quantity trip) {
    Quantities *quantities = quantities_of(prover);
    uint32_t atom = quantities->all[trip].terms[0].atoms[0];
    Quantity before = quantity_add(quantities, QUANTITY_ZERO, QUANTITY_ONE, -1);
    if (quantity_has_data(quantities, next) || quantity_substitute(quantities, next, atom, before) != first)
        return QUANTITY_NONE;
    return quantity_substitute(quantities, next, atom, quantity_add(quantities, trip, QUANTITY_ONE, -1));
}

/* A value that a loop carries, at the start of a turn: what it is at first, and the same step again each turn. */
static Quantity find_carried(Prover *prover, uint32_t map, const Carried *carried) {
    Quantities *quantities = quantities_of(prover);
    Quantity from, span, step, first = element_at(prover, carried->first, map);
    Quantity self = quantity_atom(
        quantities,
        &(QuantityAtom){.kind = ATOM_DATA, .open = true, .axis = 1, .key = carried->argument, .extent = map});
    if (self == QUANTITY_NONE || !loop_numbers(prover, carried->loop, &from, &span, &step))
        return QUANTITY_NONE;
    Quantity trip = trip_of(prover, carried->loop, span, step);
    if (trip == QUANTITY_NONE)
        return QUANTITY_NONE;
    remember(prover, carried->argument, map, self);
    Quantity next = element_at(prover, carried->next, map);
    remember(prover, carried->argument, map, QUANTITY_NONE); /* until it is known */
    if (next == QUANTITY_NONE)
        return QUANTITY_NONE;
    if (!quantity_is_open(quantities, next))
        return lagging_value(prover, first, next, trip);
    Quantity by = quantity_add(quantities, next, self, -1);
    if (by == QUANTITY_NONE || quantity_has_data(quantities, by) ||
        quantity_mentions(quantities, by, quantities->all[trip].terms[0].atoms[0]))
        return QUANTITY_NONE;
    return quantity_add(quantities, first, quantity_multiply(quantities, trip, by), 1);
}

/* The same, held against a turn: so that what is computed on the way is bounded, too. */
static Quantity carried_value(Prover *prover, uint32_t map, const Carried *carried) {
    Quantities *quantities = quantities_of(prover);
    Quantity from, span, step, found = find_carried(prover, map, carried);
    if (found == QUANTITY_NONE || quantity_is_open(quantities, found) ||
        !loop_numbers(prover, carried->loop, &from, &span, &step))
        return found;
    Quantity trip = trip_of(prover, carried->loop, span, step);
    Quantity then = quantity_substitute(quantities, found, quantities->all[trip].terms[0].atoms[0],
                                        quantity_add(quantities, trip, QUANTITY_ONE, 1));
    remember(prover, carried->argument, map, found);
    if (element_at(prover, carried->next, map) != then || then == QUANTITY_NONE)
        proof_open(prover, carried->loop, "recurrence", "what it carries does not grow evenly");
    Proof *proof = prover->proof;
    *ARENA_PUSH(prover->arena, proof->carried, proof->carried_count, proof->carried_capacity) =
        (ProofCarried){carried->argument, map, found};
    return found;
}

/* The same behind the loop: as it would be at the start of one more turn. */
static Quantity carried_out(Prover *prover, uint32_t map, const Carried *carried) {
    Quantities *quantities = quantities_of(prover);
    Quantity from, span, step, inside = element_at(prover, carried->argument, map);
    if (!loop_numbers(prover, carried->loop, &from, &span, &step) || quantity_has_data(quantities, inside))
        return QUANTITY_NONE;
    Quantity trip = trip_of(prover, carried->loop, span, step);
    return trip == QUANTITY_NONE ? trip
                                 : quantity_substitute(quantities, inside, quantities->all[trip].terms[0].atoms[0],
                                                       quantity_trips(quantities, span, step));
}

/* ---- Shapes --------------------------------------------------------------------------------------- */

static Quantity moved(Prover *prover, const Op *op, const Evaluation *how, uint32_t map) {
    Quantities *quantities = quantities_of(prover);
    const Type *from = tensor_type(prover, op->operands[0]);
    const LaneMap to = memo_of(prover)->maps[map];
    LaneMap inner = {.rank = from ? from->dim_count : 0};
    if (how->code == EVALUATE_RESHAPE && op_attr(op, "allow_reorder")) /* in no order that is known */
        return QUANTITY_NONE;
    if (!from || inner.rank > TENSOR_MOST_DIMS)
        return how->code == EVALUATE_SPLAT ? operand_at(prover, op, 0, NO_MAP) : QUANTITY_NONE;
    for (unsigned i = 0; i < inner.rank; i++) {
        if (from->dims[i] == 1)
            inner.at[i] = QUANTITY_ZERO;
        else if (how->code == EVALUATE_EXPAND)
            inner.at[i] = to.at[i < how->a ? i : i + 1];
        else if (how->code != EVALUATE_TRANSPOSE && i < to.rank)
            inner.at[i] = to.at[i];
    }
    for (unsigned i = 0; how->code == EVALUATE_TRANSPOSE && i < to.rank; i++)
        inner.at[how->order[i]] = to.at[i];
    if (how->code == EVALUATE_RESHAPE) {
        Quantity linear = QUANTITY_ZERO;
        for (unsigned i = 0; i < to.rank; i++)
            linear = quantity_add(quantities,
                                  quantity_multiply(quantities, linear, quantity_constant(quantities, how->dims[i])),
                                  to.at[i], 1);
        for (unsigned i = inner.rank; i-- > 0;) {
            Quantity size = quantity_constant(quantities, from->dims[i]);
            inner.at[i] = i ? quantity_remainder(quantities, linear, size) : linear;
            linear = quantity_divide(quantities, linear, size);
        }
    }
    return operand_at(prover, op, 0, map_number(prover, &inner));
}

static Quantity constant_element(Prover *prover, const Evaluation *how, uint32_t map) {
    Quantities *quantities = quantities_of(prover);
    int64_t value;
    if (word_is(how->constant, WORD_INTEGER))
        return quantity_constant(quantities, how->constant.bits);
    if (!word_is(how->constant, WORD_TENSOR))
        return QUANTITY_NONE;
    if (tensor_uniform(how->constant.tensor, &value))
        return quantity_constant(quantities, value);
    if (!how->constant.tensor->even)
        return QUANTITY_NONE;
    const LaneMap at = memo_of(prover)->maps[map];
    Quantity sum = quantity_constant(quantities, how->constant.tensor->base);
    for (unsigned i = 0; i < at.rank && i < how->constant.tensor->rank; i++)
        sum = quantity_add(quantities, sum, at.at[i], how->constant.tensor->steps[i]);
    return sum;
}

/* ---- Ops ------------------------------------------------------------------------------------------ */

/* A power of two by which the op divides or multiplies; 0: none. */
static int64_t power_of(Prover *prover, const Op *op, uint32_t map) {
    int64_t shift;
    bool known = quantity_is_constant(quantities_of(prover), operand_at(prover, op, 1, map), &shift);
    return known && shift >= 0 && shift < 40 ? INT64_C(1) << shift : 0;
}

static Quantity divided(Prover *prover, const Op *op, const Evaluation *how, uint32_t map) {
    Quantities *quantities = quantities_of(prover);
    bool remainder = how->code == EVALUATE_REMAINDER_SIGNED || how->code == EVALUATE_REMAINDER_UNSIGNED;
    bool negative = how->code == EVALUATE_DIVIDE_CEIL_SIGNED;
    bool up = negative || how->code == EVALUATE_DIVIDE_CEIL_UNSIGNED;
    Quantity a = number_at(prover, op, 0, map, negative), b = number_at(prover, op, 1, map, true);
    if (quantity_has_data(quantities, a) || quantity_has_data(quantities, b))
        return QUANTITY_NONE;
    if (up)
        a = quantity_add(quantities, quantity_add(quantities, a, b, 1), QUANTITY_ONE, -1);
    return remainder ? quantity_remainder(quantities, a, b) : quantity_divide(quantities, a, b);
}

static Quantity shifted(Prover *prover, const Op *op, uint32_t map, bool right) {
    Quantities *quantities = quantities_of(prover);
    int64_t power = power_of(prover, op, map);
    if (!power)
        return QUANTITY_NONE;
    if (!right)
        return quantity_multiply(quantities, operand_at(prover, op, 0, map), quantity_constant(quantities, power));
    Quantity a = number_at(prover, op, 0, map, false);
    return quantity_has_data(quantities, a) ? QUANTITY_NONE
                                            : quantity_divide(quantities, a, quantity_constant(quantities, power));
}

/* x & (2^n - 1) */
static Quantity masked(Prover *prover, const Op *op, uint32_t map) {
    Quantities *quantities = quantities_of(prover);
    int64_t mask;
    if (!quantity_is_constant(quantities, operand_at(prover, op, 1, map), &mask) || mask <= 0 || (mask & (mask + 1)))
        return QUANTITY_NONE;
    Quantity a = number_at(prover, op, 0, map, false);
    return quantity_has_data(quantities, a)
               ? QUANTITY_NONE
               : quantity_remainder(quantities, a, quantity_constant(quantities, mask + 1));
}

static Quantity computed(Prover *prover, const Op *op, const Evaluation *how, uint32_t map) {
    Quantities *quantities = quantities_of(prover);
    switch (how->code) {
    case EVALUATE_ADD:
    case EVALUATE_SUBTRACT:
        return how->width == 1 ? QUANTITY_NONE
                               : quantity_add(quantities, operand_at(prover, op, 0, map),
                                              operand_at(prover, op, 1, map), how->code == EVALUATE_ADD ? 1 : -1);
    case EVALUATE_MULTIPLY:
        return how->width == 1
                   ? QUANTITY_NONE
                   : quantity_multiply(quantities, operand_at(prover, op, 0, map), operand_at(prover, op, 1, map));
    case EVALUATE_ADD_POINTER:
        return quantity_add(quantities, operand_at(prover, op, 0, map), number_at(prover, op, 1, map, true), how->a);
    case EVALUATE_DIVIDE_SIGNED:
    case EVALUATE_DIVIDE_UNSIGNED:
    case EVALUATE_DIVIDE_FLOOR_SIGNED:
    case EVALUATE_DIVIDE_CEIL_SIGNED:
    case EVALUATE_DIVIDE_CEIL_UNSIGNED:
    case EVALUATE_REMAINDER_SIGNED:
    case EVALUATE_REMAINDER_UNSIGNED:
        return divided(prover, op, how, map);
    case EVALUATE_MINIMUM_SIGNED:
    case EVALUATE_MINIMUM_UNSIGNED: {
        bool negative = how->code == EVALUATE_MINIMUM_SIGNED;
        return quantity_minimum(quantities, number_at(prover, op, 0, map, negative),
                                number_at(prover, op, 1, map, negative));
    }
    case EVALUATE_MAXIMUM_SIGNED:
    case EVALUATE_MAXIMUM_UNSIGNED: {
        bool negative = how->code == EVALUATE_MAXIMUM_SIGNED;
        return quantity_maximum(quantities, number_at(prover, op, 0, map, negative),
                                number_at(prover, op, 1, map, negative));
    }
    case EVALUATE_SHIFT_LEFT:
        return shifted(prover, op, map, false);
    case EVALUATE_SHIFT_RIGHT_SIGNED:
    case EVALUATE_SHIFT_RIGHT_UNSIGNED:
        return shifted(prover, op, map, true);
    case EVALUATE_AND:
        return how->width == 1 ? QUANTITY_NONE : masked(prover, op, map);
    case EVALUATE_SIGN_EXTEND:
    case EVALUATE_ZERO_EXTEND:
        return how->operand_width == 1 ? QUANTITY_NONE
                                       : number_at(prover, op, 0, map, how->code == EVALUATE_SIGN_EXTEND);
    case EVALUATE_WRAP:
        return how->width == 1 ? QUANTITY_NONE : operand_at(prover, op, 0, map);
    case EVALUATE_CONSTANT:
    case EVALUATE_ZERO:
    case EVALUATE_RANGE:
        return constant_element(prover, how, map);
    case EVALUATE_SAME:
        return tensor_type(prover, op->operands[0]) || !how->tensor ? operand_at(prover, op, 0, map) : QUANTITY_NONE;
    case EVALUATE_SPLAT:
    case EVALUATE_UNSPLAT:
    case EVALUATE_BROADCAST:
    case EVALUATE_EXPAND:
    case EVALUATE_RESHAPE:
    case EVALUATE_TRANSPOSE:
        return moved(prover, op, how, map);
    default:
        return QUANTITY_NONE;
    }
}

/* One of two values that are the same. */
static Quantity chosen(Prover *prover, const Choice *choice, uint32_t map) {
    Quantity yes = element_at(prover, choice->yes, map), no = element_at(prover, choice->no, map);
    return yes == no ? yes : QUANTITY_NONE;
}

static Quantity of_op(Prover *prover, const Op *op, const Value *value, uint32_t map) {
    Evaluation how = evaluation_of(prover->module, op, value->index);
    Evaluator machine = op_evaluator_at(op, value->index);
    int64_t axis;
    if (machine == EVALUATE_PROGRAM_ID || machine == EVALUATE_PROGRAM_COUNT) {
        AtomKind kind = machine == EVALUATE_PROGRAM_ID ? ATOM_PROGRAM : ATOM_PROGRAMS;
        return op_number(op, "axis", &axis) && axis >= 0 && axis < 3
                   ? quantity_atom(quantities_of(prover), &(QuantityAtom){.kind = kind, .axis = (uint8_t)axis})
                   : QUANTITY_NONE;
    }
    bool small = how.width && how.width < SMALL_WIDTH; /* these do wrap around */
    return how.code == EVALUATE_NONE || small ? QUANTITY_NONE : computed(prover, op, &how, map);
}

/* A dimension or a stride of the descriptor that is another parameter: these follow it, shape first. */
static Quantity part_of_descriptor(Prover *prover, uint32_t index) {
    const Parameter *parameter = &prover->parameters[index];
    uint32_t parts = 0, whole = (uint32_t)parameter->descriptor;
    for (uint32_t i = whole + 1; i < prover->proof->name_count && prover->parameters[i].descriptor == (int32_t)whole;
         i++)
        parts++;
    uint32_t rank = parts / 2;
    if (!rank || parts % 2 || rank > LAUNCH_MOST_DIMS)
        return QUANTITY_NONE;
    bool stride = parameter->part >= rank;
    return quantity_atom(quantities_of(prover), &(QuantityAtom){.kind = stride ? ATOM_STRIDE : ATOM_SHAPE,
                                                                .of = whole,
                                                                .axis = (uint8_t)(parameter->part % rank)});
}

static Quantity of_parameter(Prover *prover, const Value *value) {
    /* Of a tensor each element is a number of its own. */
    unsigned width = tensor_type(prover, value) ? 0 : width_of_element(prover, value);
    if (value->index < prover->proof->name_count && prover->parameters[value->index].descriptor >= 0)
        return part_of_descriptor(prover, value->index);
    return width ? quantity_atom(quantities_of(prover),
                                 &(QuantityAtom){.kind = ATOM_ARGUMENT, .of = value->index, .width = (uint8_t)width})
                 : QUANTITY_NONE;
}

static Quantity find_element(Prover *prover, const Value *value, uint32_t map) {
    const Op *op = value_op(value), *loop;
    const Value *same = value_always(value);
    Carried carried;
    Choice choice;
    if (!op && value_holder(value) == prover->function)
        return of_parameter(prover, value);
    if (!op && (loop = counted_by(value)))
        return induction(prover, loop);
    if (carried_of(value, &carried) && op_is_control(carried.loop, CONTROL_LOOP))
        return op ? carried_out(prover, map, &carried) : carried_value(prover, map, &carried);
    if (same && type_agree(prover->module, same->type, value->type) == AGREE)
        return element_at(prover, same, map);
    if (choice_of(value, &choice))
        return chosen(prover, &choice, map);
    return op ? of_op(prover, op, value, map) : QUANTITY_NONE;
}

static Quantity element_at(Prover *prover, const Value *value, uint32_t map) {
    struct ProverMemo *memo = memo_of(prover);
    Quantities *quantities = quantities_of(prover);
    const Type *type = value ? tensor_type(prover, value) : NULL;
    if (!value || memo->depth > DEEPEST || prover_is_late(prover))
        return QUANTITY_NONE;
    map = type ? map : NO_MAP;
    if (type && memo->maps[map].rank != type->dim_count)
        return data_of(prover, value, map);
    const KnownValue *known = known_values_find(&memo->known, (ValueKey){value, map});
    if (known)
        return known->quantity == QUANTITY_NONE ? data_of(prover, value, map) : known->quantity;
    memo->depth++;
    Quantity quantity = find_element(prover, value, map);
    memo->depth--;
    if (quantity == QUANTITY_NONE)
        quantity = data_of(prover, value, map);
    if (!quantity_is_open(quantities, quantity))
        remember(prover, value, map, quantity);
    return quantity;
}

Quantity prover_quantity(Prover *prover, const Value *value) {
    const Type *type = value ? type_resolve(prover->module, value->type) : NULL;
    Quantity quantity = element_at(prover, value, NO_MAP);
    bool number = type && (type->kind == TYPE_INTEGER || type->kind == TYPE_INDEX);
    return number && quantity != QUANTITY_NONE ? in_range(prover, value, quantity, true) : quantity;
}

/* Coordinates of an element of a tensor of that type. */
static uint32_t lanes_of(Prover *prover, const Type *type) {
    LaneMap map = {.rank = type->dim_count};
    for (unsigned i = 0; i < map.rank && i < TENSOR_MOST_DIMS; i++)
        map.at[i] = type->dims[i] > 1
                        ? quantity_atom(quantities_of(prover),
                                        &(QuantityAtom){.kind = ATOM_LANE, .axis = (uint8_t)i, .extent = type->dims[i]})
                        : QUANTITY_ZERO;
    return map_number(prover, &map);
}

Quantity prover_element(Prover *prover, const Value *value) {
    const Type *type = tensor_type(prover, value);
    if (type && type->dim_count > TENSOR_MOST_DIMS)
        return QUANTITY_NONE;
    memo_of(prover);
    return element_at(prover, value, type ? lanes_of(prover, type) : NO_MAP);
}

/* ---- Conditions ----------------------------------------------------------------------------------- */

static void add_guard(Prover *prover, Quantity left, ProofGuards *guards) {
    if (left != QUANTITY_NONE && !quantity_has_data(quantities_of(prover), left) && guards->count < MOST_GUARDS)
        guards->all[guards->count++].left = left;
}

/* x - y + add <= 0 */
static void add_difference(Prover *prover, Quantity x, Quantity y, int64_t add, ProofGuards *guards) {
    Quantities *quantities = quantities_of(prover);
    Quantity left = quantity_add(quantities, x, y, -1);
    add_guard(prover, quantity_add(quantities, left, QUANTITY_ONE, add), guards);
}

static void compared(Prover *prover, const Op *op, uint32_t map, bool wanted, ProofGuards *guards) {
    int64_t predicate;
    if (!op_number(op, "predicate", &predicate) || predicate < 0 || predicate > COMPARE_UGE)
        return;
    Comparison how = wanted ? (Comparison)predicate : comparison_negated((Comparison)predicate);
    bool negative = how < COMPARE_ULT;
    Quantity x = number_at(prover, op, 0, map, negative), y = number_at(prover, op, 1, map, negative);
    if (how == COMPARE_EQ || how == COMPARE_SLE || how == COMPARE_ULE)
        add_difference(prover, x, y, 0, guards);
    if (how == COMPARE_EQ || how == COMPARE_SGE || how == COMPARE_UGE)
        add_difference(prover, y, x, 0, guards);
    if (how == COMPARE_SLT || how == COMPARE_ULT)
        add_difference(prover, x, y, 1, guards);
    if (how == COMPARE_SGT || how == COMPARE_UGT)
        add_difference(prover, y, x, 1, guards);
}

/* What holds for the element where it is `wanted`. */
static void guards_at(Prover *prover, const Value *condition, uint32_t map, bool wanted, ProofGuards *guards,
                      unsigned depth) {
    enum { DEEPEST_GUARD = 24 };
    const Op *op = value_op(condition);
    const Value *same = value_always(condition);
    const Type *type = tensor_type(prover, condition);
    map = type ? map : NO_MAP;
    if (depth > DEEPEST_GUARD || (type && memo_of(prover)->maps[map].rank != type->dim_count))
        return;
    if (same && type_agree(prover->module, same->type, condition->type) == AGREE) {
        guards_at(prover, same, map, wanted, guards, depth + 1);
        return;
    }
    if (!op)
        return;
    Evaluation how = evaluation_of(prover->module, op, condition->index);
    const Type *from = op->operand_count ? tensor_type(prover, op->operands[0]) : NULL;
    LaneMap inner = {.rank = from ? from->dim_count : 0};
    const LaneMap to = memo_of(prover)->maps[map];
    switch (how.code) {
    case EVALUATE_COMPARE:
        compared(prover, op, map, wanted, guards);
        break;
    case EVALUATE_AND:
    case EVALUATE_OR:
        if (how.width == 1 && wanted == (how.code == EVALUATE_AND))
            for (uint32_t i = 0; i < 2; i++)
                guards_at(prover, op->operands[i], map, wanted, guards, depth + 1);
        break;
    case EVALUATE_SAME:
        guards_at(prover, op->operands[0], map, wanted, guards, depth + 1);
        break;
    case EVALUATE_SPLAT:
    case EVALUATE_BROADCAST:
    case EVALUATE_EXPAND:
        for (unsigned i = 0; i < inner.rank && inner.rank <= TENSOR_MOST_DIMS; i++)
            inner.at[i] = from->dims[i] == 1            ? QUANTITY_ZERO
                          : how.code == EVALUATE_EXPAND ? to.at[i < how.a ? i : i + 1]
                                                        : to.at[i];
        guards_at(prover, op->operands[0], map_number(prover, &inner), wanted, guards, depth + 1);
        break;
    default:
        break;
    }
}

void prover_guards(Prover *prover, const Value *condition, bool wanted, ProofGuards *guards) {
    const Type *type = condition ? tensor_type(prover, condition) : NULL;
    memo_of(prover);
    if (condition && (!type || type->dim_count <= TENSOR_MOST_DIMS))
        guards_at(prover, condition, type ? lanes_of(prover, type) : NO_MAP, wanted, guards, 0);
}
