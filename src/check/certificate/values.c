/* Values of the IR as numbers, evaluated straight from what the op table says of each op. */
#include "check/certificate/internal.h"

#include "ir/op.h"
#include "model/flow/forwarded.h"
#include "model/number/tensor.h"

typedef struct NotedKey {
    const Value *value;
    uint32_t lanes;
} NotedKey;
typedef TABLE_OF(Noted) NotedTable;
TABLE(noted, NotedTable, Noted, NotedKey, 256, item->value, ((NotedKey){item->value, item->lanes}),
      table_hash((uintptr_t)key.value >> 3 ^ (uint64_t)key.lanes << 40),
      item->value == key.value && item->lanes == key.lanes)

enum { DEEPEST = 400, NARROW = 32 };

static const Number *zero(CertificateChecker *checker) {
    return number_constant(checker->numbers, 0);
}
static const Number *one(CertificateChecker *checker) {
    return number_constant(checker->numbers, 1);
}

/* ---- ElementLanes ---------------------------------------------------------------------------------------- */

uint32_t lanes_number(CertificateChecker *checker, const ElementLanes *lanes) {
    for (uint32_t i = 0; i < checker->lanes_count; i++) {
        const ElementLanes *other = &checker->lanes[i];
        bool same = other->rank == lanes->rank;
        for (uint32_t k = 0; same && k < lanes->rank; k++)
            same = number_same(other->at[k], lanes->at[k]);
        if (same)
            return i;
    }
    *ARENA_PUSH(checker->arena, checker->lanes, checker->lanes_count, checker->lanes_capacity) = *lanes;
    return checker->lanes_count - 1;
}

static const Type *tensor_of(CertificateChecker *checker, const Value *value) {
    const Type *type = value ? type_resolve(checker->module, value->type) : NULL;
    return type && type->kind == TYPE_TENSOR ? type : NULL;
}

uint32_t lanes_of_type(CertificateChecker *checker, const Type *type) {
    ElementLanes lanes = {
        .rank = type && type->kind == TYPE_TENSOR && type->dim_count <= TENSOR_MOST_DIMS ? type->dim_count : 0};
    for (uint32_t i = 0; i < lanes.rank; i++)
        lanes.at[i] =
            type->dims[i] > 1
                ? number_atom(checker->numbers, (NumberAtom){.kind = NUMBER_LANE, .axis = i, .extent = type->dims[i]})
                : zero(checker);
    return lanes_number(checker, &lanes);
}

/* ---- Words ---------------------------------------------------------------------------------------- */

static unsigned word_width(CertificateChecker *checker, const Value *value) {
    const Type *tensor = tensor_of(checker, value);
    return number_width(checker->module, type_resolve(checker->module, tensor ? tensor->element : value->type));
}

const Number *value_data(CertificateChecker *checker, const Value *value, uint32_t lanes) {
    return number_atom(
        checker->numbers,
        (NumberAtom){.kind = NUMBER_DATA, .key = value, .extent = lanes, .width = word_width(checker, value)});
}

/* The number is used as one: it is that of its word, and, unless `negative`, not negative. */
static const Number *used(CertificateChecker *checker, const Value *value, const Number *number, bool negative) {
    unsigned width = word_width(checker, value);
    int64_t most = width && width < 62 ? (INT64_C(1) << (width - 1)) - 1 : NUMBER_BEYOND - 1;
    if (!number_has_data(checker->numbers, number))
        number_need(checker->numbers, number, negative ? -most - 1 : 0, most);
    return number;
}

static const Number *operand(CertificateChecker *checker, const Op *op, uint32_t index, uint32_t lanes) {
    return value_at(checker, op->operands[index], lanes);
}
static const Number *used_operand(CertificateChecker *checker, const Op *op, uint32_t index, uint32_t lanes,
                                  bool negative) {
    return used(checker, op->operands[index], operand(checker, op, index, lanes), negative);
}

const Number *value_number(CertificateChecker *checker, const Value *value) {
    const Type *type = value ? type_resolve(checker->module, value->type) : NULL;
    const Number *number = value_at(checker, value, NO_LANES);
    bool integer = type && (type->kind == TYPE_INTEGER || type->kind == TYPE_INDEX);
    return integer && number ? used(checker, value, number, true) : number;
}

/* ---- Loops ---------------------------------------------------------------------------------------- */

static const Number *bound_of(CertificateChecker *checker, const Value *value) {
    return used(checker, value, value_at(checker, value, NO_LANES), true);
}

/* min(a, b) + c is min(a + c, b + c). */
static const Number *inside_minimum(CertificateChecker *checker, const Number *number) {
    NumberTable *numbers = checker->numbers;
    for (uint32_t i = 0; number && i < number->count; i++) {
        const NumberTerm *term = &number->terms[i];
        if (term->count != 1 || term->factor != 1 || numbers->atoms[term->atoms[0]].kind != NUMBER_MINIMUM)
            continue;
        const NumberAtom least = numbers->atoms[term->atoms[0]];
        const Number *rest = number_add(numbers, number, number_atom(numbers, least), -1);
        return number_of_two(numbers, NUMBER_MINIMUM, number_add(numbers, least.a, rest, 1),
                             number_add(numbers, least.b, rest, 1));
    }
    return number;
}

bool loop_counts(CertificateChecker *checker, const Op *loop, const Number **from, const Number **span,
                 const Number **step) {
    Bounds bounds;
    if (!op_is_control(loop, CONTROL_LOOP) || !loop_bounds(loop, &bounds))
        return false;
    *from = bound_of(checker, bounds.from);
    *step = bound_of(checker, bounds.step);
    *span = inside_minimum(checker, number_add(checker->numbers, bound_of(checker, bounds.to), *from, -1));
    number_need(checker->numbers, *step, 1, NUMBER_BEYOND - 1);
    return *span && *step;
}

const Number *loop_trip(CertificateChecker *checker, const Op *loop) {
    const Number *from, *span, *step;
    if (!loop_counts(checker, loop, &from, &span, &step))
        return NULL;
    return number_atom(checker->numbers, (NumberAtom){.kind = NUMBER_TRIP, .key = loop, .a = span, .b = step});
}

const Number *loop_trips(CertificateChecker *checker, const Op *loop) {
    const Number *from, *span, *step;
    NumberTable *numbers = checker->numbers;
    if (!loop_counts(checker, loop, &from, &span, &step))
        return NULL;
    const Number *most = number_of_two(numbers, NUMBER_MAXIMUM, span, zero(checker));
    most = number_add(numbers, number_add(numbers, most, step, 1), one(checker), -1);
    return number_of_two(numbers, NUMBER_DIVIDE, most, step);
}

/* The counter of a loop, which is less than the loop's end. */
static const Number *counter(CertificateChecker *checker, const Op *loop) {
    const Number *from, *span, *step, *trip = loop_trip(checker, loop);
    NumberTable *numbers = checker->numbers;
    Bounds bounds;
    if (!trip || !loop_counts(checker, loop, &from, &span, &step) || !loop_bounds(loop, &bounds))
        return NULL;
    const Number *count = number_add(numbers, from, number_multiply(numbers, trip, step), 1);
    number_know_most(numbers, count, number_add(numbers, bound_of(checker, bounds.to), one(checker), -1));
    return count;
}

static const Claim *claim_of(CertificateChecker *checker, const Value *argument, uint32_t lanes) {
    for (uint32_t i = 0; i < checker->claim_count; i++)
        if (checker->claims[i].argument == argument && checker->claims[i].lanes == lanes)
            return &checker->claims[i];
    return NULL;
}

static const Number *carried_out(CertificateChecker *checker, const Carried *carried, uint32_t lanes) {
    const Number *inside = value_at(checker, carried->argument, lanes), *trip = loop_trip(checker, carried->loop);
    uint32_t atom;
    if (number_has_data(checker->numbers, inside) || !number_is_atom(trip, &atom))
        return NULL;
    return number_replace(checker->numbers, inside, atom, loop_trips(checker, carried->loop));
}

const char *claim_fails(CertificateChecker *checker, const Claim *claim) {
    NumberTable *numbers = checker->numbers;
    Carried carried;
    uint32_t atom;
    if (!carried_of(claim->argument, &carried) || carried.argument != claim->argument ||
        !number_is_atom(loop_trip(checker, carried.loop), &atom))
        return "no loop that counts carries the value";
    const Number *first = value_at(checker, carried.first, claim->lanes);
    const Number *next = value_at(checker, carried.next, claim->lanes);
    const Number *trip = loop_trip(checker, carried.loop);
    if (number_has_data(numbers, number_add(numbers, claim->number, first, -1)))
        return "it grows by data";
    if (!number_same(number_replace(numbers, claim->number, atom, zero(checker)), first))
        return "it is something else before the first turn";
    if (!number_same(number_replace(numbers, claim->number, atom, number_add(numbers, trip, one(checker), 1)), next))
        return "it is something else after a turn";
    return NULL;
}

/* ---- Ops ------------------------------------------------------------------------------------------ */

/* An element under another name: the coordinates that it has in the operand. */
static const Number *moved(CertificateChecker *checker, const Op *op, const Evaluation *how, const ElementLanes *to) {
    NumberTable *numbers = checker->numbers;
    const Type *from = tensor_of(checker, op->operands[0]);
    ElementLanes inner = {.rank = from ? from->dim_count : 0};
    const Number *place = zero(checker);
    if (!from)
        return how->code == EVALUATE_SPLAT ? operand(checker, op, 0, NO_LANES) : NULL;
    if (inner.rank > TENSOR_MOST_DIMS || (how->code == EVALUATE_RESHAPE && op_attr(op, "allow_reorder")))
        return NULL;
    for (uint32_t i = 0; how->code == EVALUATE_RESHAPE && i < to->rank; i++)
        place =
            number_add(numbers, number_multiply(numbers, place, number_constant(numbers, how->dims[i])), to->at[i], 1);
    for (uint32_t i = inner.rank; i-- > 0;) {
        const Number *size = number_constant(numbers, from->dims[i]);
        if (how->code == EVALUATE_RESHAPE) {
            inner.at[i] = i ? number_of_two(numbers, NUMBER_REMAINDER, place, size) : place;
            place = number_of_two(numbers, NUMBER_DIVIDE, place, size);
        } else if (how->code == EVALUATE_TRANSPOSE) {
            for (uint32_t k = 0; k < to->rank; k++)
                if (how->order[k] == (int8_t)i)
                    inner.at[i] = to->at[k];
        } else if (from->dims[i] == 1) {
            inner.at[i] = zero(checker);
        } else if (how->code == EVALUATE_EXPAND && i + 1 < to->rank + (i < how->a)) {
            inner.at[i] = to->at[i < how->a ? i : i + 1];
        } else if (how->code != EVALUATE_EXPAND && i < to->rank) {
            inner.at[i] = to->at[i];
        }
        if (!inner.at[i])
            return NULL;
    }
    return operand(checker, op, 0, lanes_number(checker, &inner));
}

static const Number *constant_at(CertificateChecker *checker, const Evaluation *how, const ElementLanes *at) {
    NumberTable *numbers = checker->numbers;
    int64_t value;
    if (word_is(how->constant, WORD_INTEGER))
        return number_constant(numbers, how->constant.bits);
    if (!word_is(how->constant, WORD_TENSOR))
        return NULL;
    if (tensor_uniform(how->constant.tensor, &value))
        return number_constant(numbers, value);
    const Number *sum = how->constant.tensor->even ? number_constant(numbers, how->constant.tensor->base) : NULL;
    for (uint32_t i = 0; i < at->rank && i < how->constant.tensor->rank; i++)
        sum = number_add(numbers, sum, at->at[i], how->constant.tensor->steps[i]);
    return sum;
}

static const Number *quotient_of(CertificateChecker *checker, const Op *op, Evaluator code, uint32_t lanes) {
    NumberTable *numbers = checker->numbers;
    bool rest = code == EVALUATE_REMAINDER_SIGNED || code == EVALUATE_REMAINDER_UNSIGNED;
    bool up = code == EVALUATE_DIVIDE_CEIL_SIGNED || code == EVALUATE_DIVIDE_CEIL_UNSIGNED;
    const Number *a = used_operand(checker, op, 0, lanes, code == EVALUATE_DIVIDE_CEIL_SIGNED);
    const Number *b = used_operand(checker, op, 1, lanes, true);
    if (number_has_data(numbers, a) || number_has_data(numbers, b))
        return NULL;
    if (up)
        a = number_add(numbers, number_add(numbers, a, b, 1), one(checker), -1);
    return number_of_two(numbers, rest ? NUMBER_REMAINDER : NUMBER_DIVIDE, a, b);
}

/* By a power of two: shifts, and masks of low bits. */
static const Number *by_power(CertificateChecker *checker, const Op *op, Evaluator code, uint32_t lanes) {
    NumberTable *numbers = checker->numbers;
    int64_t second;
    if (!number_is_constant(operand(checker, op, 1, lanes), &second))
        return NULL;
    if (code == EVALUATE_AND ? second <= 0 || (second & (second + 1)) : second < 0 || second >= 40)
        return NULL;
    const Number *power = number_constant(numbers, code == EVALUATE_AND ? second + 1 : INT64_C(1) << second);
    if (code == EVALUATE_SHIFT_LEFT)
        return number_multiply(numbers, operand(checker, op, 0, lanes), power);
    const Number *a = used_operand(checker, op, 0, lanes, false);
    if (number_has_data(numbers, a))
        return NULL;
    return number_of_two(numbers, code == EVALUATE_AND ? NUMBER_REMAINDER : NUMBER_DIVIDE, a, power);
}

static const Number *computed(CertificateChecker *checker, const Op *op, const Evaluation *how, uint32_t lanes) {
    NumberTable *numbers = checker->numbers;
    const ElementLanes at = checker->lanes[lanes];
    bool truth = how->width == 1;
    switch (how->code) {
    case EVALUATE_ADD:
    case EVALUATE_SUBTRACT:
        return truth ? NULL
                     : number_add(numbers, operand(checker, op, 0, lanes), operand(checker, op, 1, lanes),
                                  how->code == EVALUATE_ADD ? 1 : -1);
    case EVALUATE_MULTIPLY:
        return truth ? NULL : number_multiply(numbers, operand(checker, op, 0, lanes), operand(checker, op, 1, lanes));
    case EVALUATE_ADD_POINTER:
        return number_add(numbers, operand(checker, op, 0, lanes), used_operand(checker, op, 1, lanes, true), how->a);
    case EVALUATE_DIVIDE_SIGNED:
    case EVALUATE_DIVIDE_UNSIGNED:
    case EVALUATE_DIVIDE_FLOOR_SIGNED:
    case EVALUATE_DIVIDE_CEIL_SIGNED:
    case EVALUATE_DIVIDE_CEIL_UNSIGNED:
    case EVALUATE_REMAINDER_SIGNED:
    case EVALUATE_REMAINDER_UNSIGNED:
        return quotient_of(checker, op, how->code, lanes);
    case EVALUATE_MINIMUM_SIGNED:
    case EVALUATE_MINIMUM_UNSIGNED:
    case EVALUATE_MAXIMUM_SIGNED:
    case EVALUATE_MAXIMUM_UNSIGNED: {
        bool least = how->code == EVALUATE_MINIMUM_SIGNED || how->code == EVALUATE_MINIMUM_UNSIGNED;
        bool negative = how->code == EVALUATE_MINIMUM_SIGNED || how->code == EVALUATE_MAXIMUM_SIGNED;
        const Number *a = used_operand(checker, op, 0, lanes, negative);
        return number_of_two(numbers, least ? NUMBER_MINIMUM : NUMBER_MAXIMUM, a,
                             used_operand(checker, op, 1, lanes, negative));
    }
    case EVALUATE_SHIFT_LEFT:
    case EVALUATE_SHIFT_RIGHT_SIGNED:
    case EVALUATE_SHIFT_RIGHT_UNSIGNED:
        return by_power(checker, op, how->code, lanes);
    case EVALUATE_AND:
        return truth ? NULL : by_power(checker, op, how->code, lanes);
    case EVALUATE_SIGN_EXTEND:
    case EVALUATE_ZERO_EXTEND:
        return how->operand_width == 1 ? NULL : used_operand(checker, op, 0, lanes, how->code == EVALUATE_SIGN_EXTEND);
    case EVALUATE_WRAP:
        return truth ? NULL : operand(checker, op, 0, lanes);
    case EVALUATE_CONSTANT:
    case EVALUATE_ZERO:
    case EVALUATE_RANGE:
        return constant_at(checker, how, &at);
    case EVALUATE_SAME:
        return tensor_of(checker, op->operands[0]) || !how->tensor ? operand(checker, op, 0, lanes) : NULL;
    case EVALUATE_SPLAT:
    case EVALUATE_UNSPLAT:
    case EVALUATE_BROADCAST:
    case EVALUATE_EXPAND:
    case EVALUATE_RESHAPE:
    case EVALUATE_TRANSPOSE:
        return moved(checker, op, how, &at);
    default:
        return NULL;
    }
}

static const Number *of_op(CertificateChecker *checker, const Op *op, const Value *value, uint32_t lanes) {
    Evaluation how = evaluation_of(checker->module, op, value->index);
    Evaluator machine = op_evaluator_at(op, value->index);
    int64_t axis;
    if (machine == EVALUATE_PROGRAM_ID || machine == EVALUATE_PROGRAM_COUNT) {
        NumberAtomKind kind = machine == EVALUATE_PROGRAM_ID ? NUMBER_PROGRAM : NUMBER_PROGRAMS;
        return op_number(op, "axis", &axis) && axis >= 0 && axis < 3
                   ? number_atom(checker->numbers, (NumberAtom){.kind = kind, .axis = (unsigned)axis})
                   : NULL;
    }
    bool wraps = how.width && how.width < NARROW;
    return how.code == EVALUATE_NONE || wraps ? NULL : computed(checker, op, &how, lanes);
}

static const Number *parameter(CertificateChecker *checker, const Value *value) {
    const Parameter *of = value->index < checker->parameter_count ? &checker->parameters[value->index] : NULL;
    unsigned width =
        tensor_of(checker, value) ? 0 : word_width(checker, value); /* of a tensor each element is another */
    if (!of || of->descriptor < 0)
        return width ? number_atom(checker->numbers,
                                   (NumberAtom){.kind = NUMBER_ARGUMENT, .of = value->index, .width = width})
                     : NULL;
    /* A dimension, or behind these a stride, of the descriptor before it. */
    uint32_t parts = 0, whole = (uint32_t)of->descriptor;
    while (whole + 1 + parts < checker->parameter_count &&
           checker->parameters[whole + 1 + parts].descriptor == of->descriptor)
        parts++;
    if (!parts || parts % 2)
        return NULL;
    return number_atom(checker->numbers, (NumberAtom){.kind = of->part >= parts / 2 ? NUMBER_STRIDE : NUMBER_SHAPE,
                                                      .of = whole,
                                                      .axis = of->part % (parts / 2)});
}

static const Number *found(CertificateChecker *checker, const Value *value, uint32_t lanes) {
    const Op *op = value_op(value), *loop;
    const Value *same = value_always(value);
    Carried carried;
    Choice choice;
    if (!op && value_holder(value) == checker->function)
        return parameter(checker, value);
    if (!op && (loop = counted_by(value)))
        return counter(checker, loop);
    if (carried_of(value, &carried) && op_is_control(carried.loop, CONTROL_LOOP)) {
        const Claim *claim = op ? NULL : claim_of(checker, value, lanes);
        return op ? carried_out(checker, &carried, lanes) : claim ? claim->number : NULL;
    }
    if (same && type_agree(checker->module, same->type, value->type) == AGREE)
        return value_at(checker, same, lanes);
    if (choice_of(value, &choice)) {
        const Number *yes = value_at(checker, choice.yes, lanes), *no = value_at(checker, choice.no, lanes);
        return number_same(yes, no) ? yes : NULL;
    }
    return op ? of_op(checker, op, value, lanes) : NULL;
}

const Number *value_at(CertificateChecker *checker, const Value *value, uint32_t lanes) {
    const Type *type = tensor_of(checker, value);
    if (!value || checker->depth > DEEPEST)
        return NULL;
    lanes = type ? lanes : NO_LANES;
    if (type && checker->lanes[lanes].rank != type->dim_count)
        return value_data(checker, value, lanes);
    NotedTable table = {checker->noted.items, checker->noted.count, checker->noted.capacity};
    const Noted *known = noted_find(&table, (NotedKey){value, lanes});
    if (known)
        return known->number;
    checker->depth++;
    const Number *number = found(checker, value, lanes);
    checker->depth--;
    number = number ? number : value_data(checker, value, lanes);
    table = (NotedTable){checker->noted.items, checker->noted.count, checker->noted.capacity};
    *noted_put(checker->arena, &table, (NotedKey){value, lanes}) = (Noted){value, lanes, number};
    checker->noted.items = table.items;
    checker->noted.count = table.count;
    checker->noted.capacity = table.capacity;
    return number;
}

/* ---- Conditions ----------------------------------------------------------------------------------- */

/* x - y + add <= 0 */
static void hold(CertificateChecker *checker, const Number *x, const Number *y, int64_t add, Held *held) {
    const Number *left = number_add(checker->numbers, number_add(checker->numbers, x, y, -1), one(checker), add);
    if (left && !number_has_data(checker->numbers, left) && held->count < MOST_HELD)
        held->all[held->count++] = left;
}

static void hold_comparison(CertificateChecker *checker, const Op *op, uint32_t lanes, bool wanted, Held *held) {
    int64_t predicate;
    if (!op_number(op, "predicate", &predicate) || predicate < 0 || predicate > COMPARE_UGE)
        return;
    Comparison how = wanted ? (Comparison)predicate : comparison_negated((Comparison)predicate);
    const Number *x = used_operand(checker, op, 0, lanes, how < COMPARE_ULT);
    const Number *y = used_operand(checker, op, 1, lanes, how < COMPARE_ULT);
    if (how == COMPARE_EQ || how == COMPARE_SLE || how == COMPARE_ULE)
        hold(checker, x, y, 0, held);
    if (how == COMPARE_EQ || how == COMPARE_SGE || how == COMPARE_UGE)
        hold(checker, y, x, 0, held);
    if (how == COMPARE_SLT || how == COMPARE_ULT)
        hold(checker, x, y, 1, held);
    if (how == COMPARE_SGT || how == COMPARE_UGT)
        hold(checker, y, x, 1, held);
}

static void held_at(CertificateChecker *checker, const Value *condition, uint32_t lanes, bool wanted, Held *held,
                    unsigned depth) {
    const Op *op = value_op(condition);
    const Value *same = value_always(condition);
    const Type *type = tensor_of(checker, condition);
    lanes = type ? lanes : NO_LANES;
    if (depth > 24 || (type && checker->lanes[lanes].rank != type->dim_count))
        return;
    if (same && type_agree(checker->module, same->type, condition->type) == AGREE) {
        held_at(checker, same, lanes, wanted, held, depth + 1);
        return;
    }
    if (!op)
        return;
    Evaluation how = evaluation_of(checker->module, op, condition->index);
    const ElementLanes to = checker->lanes[lanes];
    const Type *from = op->operand_count ? tensor_of(checker, op->operands[0]) : NULL;
    ElementLanes inner = {.rank = from ? from->dim_count : 0};
    switch (how.code) {
    case EVALUATE_COMPARE:
        hold_comparison(checker, op, lanes, wanted, held);
        break;
    case EVALUATE_AND:
    case EVALUATE_OR: /* all parts hold, or none does */
        for (uint32_t i = 0; i < 2 && how.width == 1 && wanted == (how.code == EVALUATE_AND); i++)
            held_at(checker, op->operands[i], lanes, wanted, held, depth + 1);
        break;
    case EVALUATE_SAME:
        held_at(checker, op->operands[0], lanes, wanted, held, depth + 1);
        break;
    case EVALUATE_SPLAT:
    case EVALUATE_BROADCAST:
    case EVALUATE_EXPAND:
        for (uint32_t i = 0; i < inner.rank; i++) {
            uint32_t at = how.code == EVALUATE_EXPAND && i >= how.a ? i + 1 : i;
            if (inner.rank > TENSOR_MOST_DIMS || at >= to.rank)
                return;
            inner.at[i] = from->dims[i] == 1 ? zero(checker) : to.at[at];
        }
        held_at(checker, op->operands[0], lanes_number(checker, &inner), wanted, held, depth + 1);
        break;
    default:
        break;
    }
}

void held_where(CertificateChecker *checker, const Value *condition, bool wanted, Held *held) {
    const Type *type = tensor_of(checker, condition);
    if (condition && (!type || type->dim_count <= TENSOR_MOST_DIMS))
        held_at(checker, condition, type ? lanes_of_type(checker, type) : NO_LANES, wanted, held, 0);
}
