/* Runs, op by op, as each is asked for. What a loop carries is first taken to be as what it starts with; when a round
 * shows that it is less, that is kept and everything else is worked out anew, so that the end is what holds in every
 * round. */
#include "analyze/facts/contiguity.h"

#include "base/pointers.h"
#include "ir/optable.h"

enum {
    MOST_DEPTH = 200, /* ops from a value to where it comes from; past that nothing is known */
    MOST_STEPS = 1 << 20,
    DIMS = 8,
};

typedef struct Entry {
    Runs runs[DIMS];
    uint32_t made[DIMS]; /* in which round; 0: never */
    bool visiting[DIMS], assumed[DIMS];
} Entry;

struct Contiguity {
    Arena *arena;
    Module *module;
    Facts *facts;
    Pointers values;
    Entry *entries;
    uint32_t count, capacity, round, depth, steps;
    bool changed;
};

static const Runs nothing = {1, 1, 1};

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
static int64_t divisor_at(Runs runs, int64_t length, int64_t unit) {
    return length >= runs.contiguous ? runs.divisor : lesser(runs.divisor, product(length, unit));
}

static Runs visit(Contiguity *contiguity, const Value *value, unsigned dim);

static const Type *type_of(Contiguity *contiguity, const Value *value) {
    return value->type ? type_canonical(contiguity->module, value->type) : NULL;
}

/* ---- Ops ------------------------------------------------------------------------------------------ */

/* a + b; elements of `a` are `unit` apart, and b's numbers count `unit` each. */
static Runs sum(Runs a, Runs b, int64_t unit, bool minus) {
    int64_t contiguous = lesser(a.contiguous, b.constant);
    if (!minus)
        contiguous = greater(contiguous, lesser(a.constant, b.contiguous));
    int64_t from_b = product(divisor_at(b, contiguous, 1), unit);
    return (Runs){contiguous, lesser(a.constant, b.constant), lesser(divisor_at(a, contiguous, unit), from_b)};
}

static Runs multiplied(Runs a, Runs b) {
    return (Runs){1, lesser(a.constant, b.constant), product(divisor_at(a, 1, 1), divisor_at(b, 1, 1))};
}

/* a % b: within a run that is aligned to what divides b nothing wraps. */
static Runs remainder_of(Runs a, Runs b) {
    int64_t length = lesser(lesser(a.contiguous, a.divisor), lesser(divisor_at(b, 1, 1), b.constant));
    return (Runs){length, lesser(a.constant, b.constant), lesser(divisor_at(a, length, 1), divisor_at(b, 1, 1))};
}

/* a < b or a >= b, where b is the same along the run: the same answer for a run that is aligned and divides b. */
static int64_t same_answers(Runs a, Runs b) {
    return lesser(lesser(a.contiguous, a.divisor), lesser(b.constant, divisor_at(b, 1, 1)));
}

static Runs compared(const Op *op, Runs a, Runs b) {
    const Attr *predicate = op_attr(op, "predicate");
    Str word = predicate ? predicate->text : STR("");
    int64_t constant = lesser(a.constant, b.constant);
    if (str_equal(word, STR("slt")) || str_equal(word, STR("ult")) || str_equal(word, STR("sge")) ||
        str_equal(word, STR("uge")))
        constant = greater(constant, same_answers(a, b));
    if (str_equal(word, STR("sgt")) || str_equal(word, STR("ugt")) || str_equal(word, STR("sle")) ||
        str_equal(word, STR("ule")))
        constant = greater(constant, same_answers(b, a));
    return (Runs){1, constant, 1};
}

/* What holds of both. */
static Runs met(Runs a, Runs b) {
    int64_t contiguous = lesser(a.contiguous, b.contiguous);
    return (Runs){contiguous, lesser(a.constant, b.constant),
                  lesser(divisor_at(a, contiguous, 1), divisor_at(b, contiguous, 1))};
}

static Runs shortened(Runs runs, int64_t contiguous, int64_t constant) {
    contiguous = lesser(contiguous, runs.contiguous);
    return (Runs){contiguous, lesser(constant, runs.constant), divisor_at(runs, contiguous, 1)};
}

static Runs scalar(Contiguity *contiguity, const Value *value) {
    int64_t divisor = known_of(contiguity->facts, value).divisor;
    return (Runs){1, RUNS_MOST, divisor == INT64_MAX ? RUNS_MOST : power_in(divisor)};
}

static Runs range(const Op *op) {
    const Attr *start = op_attr(op, "start"), *end = op_attr(op, "end");
    if (!start || !end || start->kind != ATTR_INTEGER || end->kind != ATTR_INTEGER || end->integer <= start->integer ||
        start->integer < INT32_MIN || end->integer > INT32_MAX)
        return nothing;
    return (Runs){power_in(end->integer - start->integer), 1, power_in(start->integer)};
}

/* dense<64>: one number for all. */
static Runs constant(const Op *op) {
    const Attr *value = op_attr(op, "value");
    int64_t number;
    if (!value || value->kind != ATTR_DENSE || !str_starts(value->text, STR("dense<")))
        return nothing;
    const char *from = value->text.data + 6, *end = value->text.data + value->text.size, *to = from;
    while (to < end && *to != '>')
        to++;
    Str text = str_between(from, to);
    if (str_to_int(text, &number))
        return (Runs){1, RUNS_MOST, power_in(number)};
    bool same = str_equal(text, STR("true")) || str_equal(text, STR("false"));
    return same ? (Runs){1, RUNS_MOST, 1} : nothing;
}

static Runs expanded(Contiguity *contiguity, const Op *op, unsigned dim) {
    const Attr *axis = op_attr(op, "axis");
    if (!axis || axis->kind != ATTR_INTEGER)
        return nothing;
    if ((int64_t)dim != axis->integer)
        return visit(contiguity, op->operands[0], dim - ((int64_t)dim > axis->integer));
    return (Runs){1, RUNS_MOST, divisor_at(visit(contiguity, op->operands[0], 0), 1, 1)};
}

static Runs broadcasted(Contiguity *contiguity, const Op *op, unsigned dim) {
    const Type *from = type_of(contiguity, op->operands[0]);
    Runs runs = visit(contiguity, op->operands[0], dim);
    if (!from || dim >= from->dim_count || from->dims[dim] != 1)
        return runs;
    return (Runs){1, RUNS_MOST, divisor_at(runs, 1, 1)};
}

static int64_t pointed_bytes(Contiguity *contiguity, const Value *pointers) {
    const Type *type = type_of(contiguity, pointers);
    const Type *to = type ? type_pointee(contiguity->module, type) : NULL;
    to = to && to->kind == TYPE_TENSOR ? to->element : to;
    return to && to->width >= 8 ? to->width / 8 : 1;
}

static Runs chosen(Contiguity *contiguity, const Op *op, unsigned dim) {
    const Type *condition = type_of(contiguity, op->operands[0]);
    Runs both = met(visit(contiguity, op->operands[1], dim), visit(contiguity, op->operands[2], dim));
    if (!condition || condition->kind != TYPE_TENSOR)
        return both;
    int64_t same = visit(contiguity, op->operands[0], dim).constant;
    return shortened(both, same, same);
}

static Runs result_runs(Contiguity *contiguity, const Op *op, unsigned dim) {
    OpId id = op->row && op->result_count == 1 ? op->row->id : OP_COUNT;
    switch (id) {
    case OP_tt_make_range:
        return range(op);
    case OP_arith_constant:
        return constant(op);
    case OP_tt_splat:
        return scalar(contiguity, op->operands[0]);
    case OP_tt_expand_dims:
        return expanded(contiguity, op, dim);
    case OP_tt_broadcast:
        return broadcasted(contiguity, op, dim);
    case OP_ttg_convert_layout:
    case OP_arith_extsi:
    case OP_arith_extui:
    case OP_arith_trunci:
    case OP_arith_index_cast:
    case OP_arith_index_castui:
        return visit(contiguity, op->operands[0], dim);
    case OP_arith_select:
        return op->operand_count == 3 ? chosen(contiguity, op, dim) : nothing;
    default:
        break;
    }
    if (op->operand_count != 2)
        return nothing;
    Runs a = visit(contiguity, op->operands[0], dim), b = visit(contiguity, op->operands[1], dim);
    switch (id) {
    case OP_arith_addi:
    case OP_arith_subi:
        return sum(a, b, 1, id == OP_arith_subi);
    case OP_tt_addptr:
        return sum(a, b, pointed_bytes(contiguity, op->operands[0]), false);
    case OP_arith_muli:
        return multiplied(a, b);
    case OP_arith_remsi:
    case OP_arith_remui:
        return remainder_of(a, b);
    case OP_arith_cmpi:
        return compared(op, a, b);
    default: /* elementwise: the same from the same */
        return id != OP_COUNT && *op->row->evaluate ? (Runs){1, lesser(a.constant, b.constant), 1} : nothing;
    }
}

/* ---- Loops ---------------------------------------------------------------------------------------- */

static Entry *entry_of(Contiguity *contiguity, const Value *value, uint32_t *index) {
    *index = pointers_get(&contiguity->values, value);
    if (*index == NO_NUMBER) {
        contiguity->entries = arena_grown(contiguity->arena, contiguity->entries, contiguity->count,
                                          &contiguity->capacity, sizeof *contiguity->entries);
        *index = contiguity->count++;
        pointers_set(&contiguity->values, value, *index);
    }
    return &contiguity->entries[*index];
}

/* What an scf.for carries: as it starts, and as each round leaves it. */
static Runs carried(Contiguity *contiguity, const Op *loop, uint32_t argument, uint32_t index, unsigned dim) {
    const Op *end = loop->regions[0].first->last;
    if (argument + 2 >= loop->operand_count || argument < 1 || !end || argument - 1 >= end->operand_count)
        return nothing;
    if (!contiguity->entries[index].assumed[dim]) {
        Runs start = visit(contiguity, loop->operands[argument + 2], dim);
        contiguity->entries[index].runs[dim] = start;
        contiguity->entries[index].assumed[dim] = true;
    }
    Runs before = contiguity->entries[index].runs[dim];
    Runs after = met(before, visit(contiguity, end->operands[argument - 1], dim));
    contiguity->changed |=
        after.contiguous != before.contiguous || after.constant != before.constant || after.divisor != before.divisor;
    return after;
}

static Runs value_runs(Contiguity *contiguity, const Value *value, uint32_t index, unsigned dim) {
    if (!value->is_result) {
        const Block *block = value->owner;
        const Op *op = block->region->op;
        bool loop = op && op->row && op->row->id == OP_scf_for && block == op->regions[0].first;
        return loop ? carried(contiguity, op, value->index, index, dim) : nothing;
    }
    const Op *op = value->owner;
    const Block *body = op->row && op->row->id == OP_scf_for ? op->regions[0].first : NULL;
    if (body && value->index + 1 < body->arg_count)
        return visit(contiguity, &body->args[value->index + 1], dim);
    return result_runs(contiguity, op, dim);
}

static Runs visit(Contiguity *contiguity, const Value *value, unsigned dim) {
    const Type *type = type_of(contiguity, value);
    uint32_t index;
    if (type && type->kind != TYPE_TENSOR)
        return scalar(contiguity, value);
    if (!type || dim >= DIMS || contiguity->depth >= MOST_DEPTH || contiguity->steps >= MOST_STEPS)
        return nothing;
    Entry *entry = entry_of(contiguity, value, &index);
    if (entry->visiting[dim])
        return entry->assumed[dim] ? entry->runs[dim] : nothing;
    if (entry->made[dim] == contiguity->round)
        return entry->runs[dim];
    entry->visiting[dim] = !value->is_result; /* every way round goes through what a loop carries */
    contiguity->depth++;
    contiguity->steps++;
    Runs runs = value_runs(contiguity, value, index, dim);
    contiguity->depth--;
    entry = &contiguity->entries[index]; /* the table may have grown */
    entry->visiting[dim] = false;
    entry->runs[dim] = runs;
    entry->made[dim] = contiguity->round;
    return runs;
}

Runs runs_of(Contiguity *contiguity, const Value *value, unsigned dim) {
    Runs runs;
    do {
        contiguity->round++;
        contiguity->changed = false;
        runs = visit(contiguity, value, dim);
    } while (contiguity->changed && contiguity->steps < MOST_STEPS);
    return contiguity->steps < MOST_STEPS ? runs : nothing;
}
