/* Runs, op by op, as each is asked for. What a loop carries is first taken to be as what it starts with; when a round
 * shows that it is less, that is kept and everything else is computed again, so that the end is what holds in every
 * round. */
#include "check/facts/contiguity.h"

#include "base/pointers.h"
#include "model/flow/forwarded.h"

enum {
    MOST_DEPTH = 200, /* ops from a value to where it comes from; past that nothing is known */
    MOST_STEPS = 1 << 20,
    DIMS = 8,
};

typedef struct ContiguityEntry {
    ContiguityRuns runs[DIMS];
    uint32_t made[DIMS]; /* in which round; 0: never */
    bool visiting[DIMS], assumed[DIMS];
} ContiguityEntry;

struct Contiguity {
    Arena *arena;
    Module *module;
    Facts *facts;
    Pointers values;
    ContiguityEntry *entries;
    uint32_t count, capacity, round, depth, steps;
    bool changed;
};

static const ContiguityRuns nothing = {1, 1, 1};

Contiguity *contiguity_create(Arena *arena, Module *module, Facts *facts) {
    Contiguity *contiguity = ARENA_NEW(arena, Contiguity);
    *contiguity = (Contiguity){.arena = arena, .module = module, .facts = facts, .values = {.arena = arena}};
    return contiguity;
}

static int64_t lesser(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t greater(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* The largest power of two that divides n. */
static int64_t power_in(int64_t n) {
    return n == 0 ? RUNS_MOST : lesser(n & -n, RUNS_MOST);
}

static int64_t product(int64_t a, int64_t b) {
    return a > RUNS_MOST / b ? RUNS_MOST : a * b;
}

/* What divides the first element of each run of `length`; `unit` is how far one element is from the next. */
static int64_t divisor_at(ContiguityRuns runs, int64_t length, int64_t unit) {
    return length >= runs.contiguous ? runs.divisor : lesser(runs.divisor, product(length, unit));
}

static ContiguityRuns visit(Contiguity *contiguity, const Value *value, unsigned dim);

static const Type *type_of(Contiguity *contiguity, const Value *value) {
    return value->type ? type_canonical(contiguity->module, value->type) : NULL;
}

/* ---- Ops ------------------------------------------------------------------------------------------ */

/* a + b; elements of `a` are `unit` apart, and b's numbers count `unit` each. */
static ContiguityRuns sum(ContiguityRuns a, ContiguityRuns b, int64_t unit, bool minus) {
    int64_t contiguous = lesser(a.contiguous, b.constant);
    if (!minus)
        contiguous = greater(contiguous, lesser(a.constant, b.contiguous));
    int64_t from_b = product(divisor_at(b, contiguous, 1), unit);
    return (ContiguityRuns){contiguous, lesser(a.constant, b.constant),
                            lesser(divisor_at(a, contiguous, unit), from_b)};
}

static ContiguityRuns multiplied(ContiguityRuns a, ContiguityRuns b) {
    return (ContiguityRuns){1, lesser(a.constant, b.constant), product(divisor_at(a, 1, 1), divisor_at(b, 1, 1))};
}

/* a % b: within a run that is aligned to what divides b nothing wraps. */
static ContiguityRuns remainder_of(ContiguityRuns a, ContiguityRuns b) {
    int64_t length = lesser(lesser(a.contiguous, a.divisor), lesser(divisor_at(b, 1, 1), b.constant));
    return (ContiguityRuns){length, lesser(a.constant, b.constant),
                            lesser(divisor_at(a, length, 1), divisor_at(b, 1, 1))};
}

/* a < b or a >= b, where b is the same along the run: the same answer for a run that is aligned and divides b. */
static int64_t same_answers(ContiguityRuns a, ContiguityRuns b) {
    return lesser(lesser(a.contiguous, a.divisor), lesser(b.constant, divisor_at(b, 1, 1)));
}

static ContiguityRuns compared(const Op *op, ContiguityRuns a, ContiguityRuns b) {
    int64_t comparison, constant = lesser(a.constant, b.constant);
    switch (op_number(op, "predicate", &comparison) ? comparison : COMPARE_EQ) {
    case COMPARE_SLT:
    case COMPARE_ULT:
    case COMPARE_SGE:
    case COMPARE_UGE:
        constant = greater(constant, same_answers(a, b));
        break;
    case COMPARE_SGT:
    case COMPARE_UGT:
    case COMPARE_SLE:
    case COMPARE_ULE:
        constant = greater(constant, same_answers(b, a));
        break;
    default:
        break;
    }
    return (ContiguityRuns){1, constant, 1};
}

/* What holds of both. */
static ContiguityRuns met(ContiguityRuns a, ContiguityRuns b) {
    int64_t contiguous = lesser(a.contiguous, b.contiguous);
    return (ContiguityRuns){contiguous, lesser(a.constant, b.constant),
                            lesser(divisor_at(a, contiguous, 1), divisor_at(b, contiguous, 1))};
}

static ContiguityRuns shortened(ContiguityRuns runs, int64_t contiguous, int64_t constant) {
    contiguous = lesser(contiguous, runs.contiguous);
    return (ContiguityRuns){contiguous, lesser(constant, runs.constant), divisor_at(runs, contiguous, 1)};
}

static ContiguityRuns scalar(Contiguity *contiguity, const Value *value) {
    int64_t divisor = known_of(contiguity->facts, value).divisor;
    return (ContiguityRuns){1, RUNS_MOST, divisor == INT64_MAX ? RUNS_MOST : power_in(divisor)};
}

static ContiguityRuns range(const Op *op) {
    int64_t start, end;
    if (!op_integer(op, "start", &start) || !op_integer(op, "end", &end) || end <= start || start < INT32_MIN ||
        end > INT32_MAX)
        return nothing;
    return (ContiguityRuns){power_in(end - start), 1, power_in(start)};
}

/* One number for all, or one truth. */
static ContiguityRuns constant(const Op *op) {
    const Attr *value = op_attr(op, "value");
    int64_t number;
    if (value && attr_numbers(value, &number, 1) == 1)
        return (ContiguityRuns){1, RUNS_MOST, power_in(number)};
    bool same = value && value->kind == ATTR_DENSE && (str_is(value->body, "true") || str_is(value->body, "false"));
    return same ? (ContiguityRuns){1, RUNS_MOST, 1} : nothing;
}

static ContiguityRuns expanded(Contiguity *contiguity, const Op *op, unsigned dim) {
    int64_t axis;
    if (!op_integer(op, "axis", &axis))
        return nothing;
    if ((int64_t)dim != axis)
        return visit(contiguity, op->operands[0], dim - ((int64_t)dim > axis));
    return (ContiguityRuns){1, RUNS_MOST, divisor_at(visit(contiguity, op->operands[0], 0), 1, 1)};
}

static ContiguityRuns broadcasted(Contiguity *contiguity, const Op *op, unsigned dim) {
    const Type *from = type_of(contiguity, op->operands[0]);
    ContiguityRuns runs = visit(contiguity, op->operands[0], dim);
    if (!from || dim >= from->dim_count || from->dims[dim] != 1)
        return runs;
    return (ContiguityRuns){1, RUNS_MOST, divisor_at(runs, 1, 1)};
}

static int64_t pointed_bytes(Contiguity *contiguity, const Value *pointers) {
    const Type *type = type_of(contiguity, pointers);
    const Type *to = type ? type_pointee(contiguity->module, type) : NULL;
    to = to && to->kind == TYPE_TENSOR ? to->element : to;
    return to && to->width >= 8 ? to->width / 8 : 1;
}

static ContiguityRuns chosen(Contiguity *contiguity, const Op *op, unsigned dim) {
    const Type *condition = type_of(contiguity, op->operands[0]);
    ContiguityRuns both = met(visit(contiguity, op->operands[1], dim), visit(contiguity, op->operands[2], dim));
    if (!condition || condition->kind != TYPE_TENSOR)
        return both;
    int64_t same = visit(contiguity, op->operands[0], dim).constant;
    return shortened(both, same, same);
}

/* In another width: of pointers, what they point to might be another one. */
static ContiguityRuns cast(Contiguity *contiguity, const Op *op, unsigned dim) {
    const Type *from = type_of(contiguity, op->operands[0]), *to = type_of(contiguity, &op->results[0]);
    bool pointers = (from && type_pointee(contiguity->module, from)) || (to && type_pointee(contiguity->module, to));
    return pointers ? nothing : visit(contiguity, op->operands[0], dim);
}

static ContiguityRuns combined(Contiguity *contiguity, const Op *op, Evaluator how, unsigned dim) {
    ContiguityRuns a = visit(contiguity, op->operands[0], dim), b = visit(contiguity, op->operands[1], dim);
    switch (how) {
    case EVALUATE_ADD:
    case EVALUATE_SUBTRACT:
        return sum(a, b, 1, how == EVALUATE_SUBTRACT);
    case EVALUATE_ADD_POINTER:
        return sum(a, b, pointed_bytes(contiguity, op->operands[0]), false);
    case EVALUATE_MULTIPLY:
        return multiplied(a, b);
    case EVALUATE_REMAINDER_SIGNED:
    case EVALUATE_REMAINDER_UNSIGNED:
        return remainder_of(a, b);
    case EVALUATE_COMPARE:
        return compared(op, a, b);
    default: /* elementwise: the same from the same */
        return evaluators[how].kind == NUMBERS ? (ContiguityRuns){1, lesser(a.constant, b.constant), 1} : nothing;
    }
}

static ContiguityRuns result_runs(Contiguity *contiguity, const Op *op, unsigned dim) {
    Evaluator how = op->result_count == 1 ? op_evaluator(op) : EVALUATE_NONE;
    if (how == EVALUATE_NONE || (evaluators[how].operands != ANY && evaluators[how].operands != (int)op->operand_count))
        return nothing;
    switch (how) {
    case EVALUATE_RANGE:
        return range(op);
    case EVALUATE_CONSTANT:
        return constant(op);
    case EVALUATE_SPLAT:
        return scalar(contiguity, op->operands[0]);
    case EVALUATE_EXPAND:
        return expanded(contiguity, op, dim);
    case EVALUATE_BROADCAST:
        return broadcasted(contiguity, op, dim);
    case EVALUATE_SAME:
        return visit(contiguity, op->operands[0], dim);
    case EVALUATE_SIGN_EXTEND:
    case EVALUATE_ZERO_EXTEND:
    case EVALUATE_WRAP:
        return cast(contiguity, op, dim);
    case EVALUATE_SELECT:
        return chosen(contiguity, op, dim);
    default:
        return op->operand_count == 2 ? combined(contiguity, op, how, dim) : nothing;
    }
}

/* ---- Loops ---------------------------------------------------------------------------------------- */

static ContiguityEntry *entry_of(Contiguity *contiguity, const Value *value, uint32_t *index) {
    *index = pointers_get(&contiguity->values, value);
    if (*index == NO_NUMBER) {
        *index = contiguity->count;
        ARENA_PUSH(contiguity->arena, contiguity->entries, contiguity->count, contiguity->capacity);
        pointers_set(&contiguity->values, value, *index);
    }
    return &contiguity->entries[*index];
}

/* What a loop carries: as it starts, and as each round leaves it. */
static ContiguityRuns carried(Contiguity *contiguity, const Carried *value, uint32_t index, unsigned dim) {
    if (!contiguity->entries[index].assumed[dim]) {
        ContiguityRuns start = visit(contiguity, value->first, dim);
        contiguity->entries[index].runs[dim] = start;
        contiguity->entries[index].assumed[dim] = true;
    }
    ContiguityRuns before = contiguity->entries[index].runs[dim];
    ContiguityRuns after = met(before, visit(contiguity, value->next, dim));
    contiguity->changed |=
        after.contiguous != before.contiguous || after.constant != before.constant || after.divisor != before.divisor;
    return after;
}

/* What tt.contiguity on an op, or on a parameter, promises of a dimension: 16, dense<16>, dense<[1, 16]>. */
static int64_t promised(const Value *value, unsigned dim) {
    const Op *op = value_op(value), *function = value_holder(value);
    const Function *signature = function ? op_function(function) : NULL;
    const Attr *attr = op ? op_attr(op, "tt.contiguity") : NULL;
    int64_t numbers[DIMS];
    if (signature && signature->arg_attrs && value->index < signature->arg_count)
        attr = dict_get(signature->arg_attrs[value->index], STR("tt.contiguity"));
    uint32_t count = attr ? attr_numbers(attr, numbers, DIMS) : 0, at = count == 1 ? 0 : dim;
    return at < count && numbers[at] > 0 ? power_in(numbers[at]) : 1;
}

static ContiguityRuns value_runs(Contiguity *contiguity, const Value *value, uint32_t index, unsigned dim) {
    Carried circulating;
    if (carried_of(value, &circulating))
        return value->is_result ? visit(contiguity, circulating.argument, dim)
                                : carried(contiguity, &circulating, index, dim);
    const Value *same = value_always(value);
    ContiguityRuns runs = same               ? visit(contiguity, same, dim)
                          : value->is_result ? result_runs(contiguity, value->owner, dim)
                                             : nothing;
    runs.contiguous = greater(runs.contiguous, promised(value, dim));
    return runs;
}

static ContiguityRuns visit(Contiguity *contiguity, const Value *value, unsigned dim) {
    const Type *type = type_of(contiguity, value);
    uint32_t index;
    if (type && type->kind != TYPE_TENSOR)
        return scalar(contiguity, value);
    if (!type || dim >= DIMS || contiguity->depth >= MOST_DEPTH || contiguity->steps >= MOST_STEPS)
        return nothing;
    ContiguityEntry *entry = entry_of(contiguity, value, &index);
    if (entry->visiting[dim])
        return entry->assumed[dim] ? entry->runs[dim] : nothing;
    if (entry->made[dim] == contiguity->round)
        return entry->runs[dim];
    entry->visiting[dim] = !value->is_result; /* every way round goes through what a loop carries */
    contiguity->depth++;
    contiguity->steps++;
    ContiguityRuns runs = value_runs(contiguity, value, index, dim);
    contiguity->depth--;
    entry = &contiguity->entries[index]; /* the table may have grown */
    entry->visiting[dim] = false;
    entry->runs[dim] = runs;
    entry->made[dim] = contiguity->round;
    return runs;
}

ContiguityRuns runs_of(Contiguity *contiguity, const Value *value, unsigned dim) {
    ContiguityRuns runs;
    do {
        contiguity->round++;
        contiguity->changed = false;
        runs = visit(contiguity, value, dim);
    } while (contiguity->changed && contiguity->steps < MOST_STEPS);
    return contiguity->steps < MOST_STEPS ? runs : nothing;
}
