/* What registers are, as numbers: from the instructions that compute them. */
#include "check/intervals/internal.h"

const PtxStatement *statement_at(const Intervals *k, uint32_t instruction) {
    return &k->module->statements[k->flow.instructions[instruction]];
}

/* ---- Operands -------------------------------------------------------------------------------------- */

static Quantity number_of_value(Intervals *k, Context *context, uint32_t value);

static Quantity thread_place(Intervals *k, AtomKind kind, unsigned axis) {
    if (kind == ATOM_THREADS && k->fixed[axis])
        return quantity_constant(quantities_in(k), k->fixed[axis]);
    AtomNote note = {.scope = kind == ATOM_THREAD ? SAME_IN_THREAD : SAME_IN_LAUNCH};
    if (kind == ATOM_PROGRAM)
        note.scope = SAME_IN_CTA;
    return noted(k, &(QuantityAtom){.kind = kind, .axis = (uint8_t)axis}, &note);
}

/* The number of a thread in its CTA. */
static Quantity thread_number(Intervals *k) {
    Quantities *quantities = quantities_in(k);
    Quantity inner = quantity_multiply(quantities, thread_place(k, ATOM_THREAD, 2), thread_place(k, ATOM_THREADS, 1));
    inner = quantity_add(quantities, inner, thread_place(k, ATOM_THREAD, 1), 1);
    inner = quantity_multiply(quantities, inner, thread_place(k, ATOM_THREADS, 0));
    return quantity_add(quantities, inner, thread_place(k, ATOM_THREAD, 0), 1);
}

static Quantity number_of_special(Intervals *k, const PtxOperand *operand) {
    Quantities *quantities = quantities_in(k);
    const PtxSpecial *special = ptx_special_at(operand->a);
    Str varies = str_of(special->varies);
    unsigned axis = operand->part >= PTX_X && operand->part <= PTX_Z ? operand->part - PTX_X : 0;
    if (!special->parts && str_is(varies, "lane")) {
        Quantity thread = thread_number(k), lanes = quantity_constant(quantities, 32);
        return quantity_add(quantities, thread, quantity_divide(quantities, thread, lanes), -32);
    }
    if (special->parts && operand->part >= PTX_X && operand->part <= PTX_Z) {
        if (str_is(varies, "thread"))
            return thread_place(k, ATOM_THREAD, axis);
        if (str_is(varies, "shape"))
            return thread_place(k, ATOM_THREADS, axis);
        if (str_is(str_of(special->name), "%ctaid"))
            return thread_place(k, ATOM_PROGRAM, axis);
        if (str_is(str_of(special->name), "%nctaid"))
            return thread_place(k, ATOM_PROGRAMS, axis);
    }
    return QUANTITY_NONE; /* a clock, for one, has another value each time */
}

Quantity number_of_operand(Intervals *k, Context *context, const PtxOperand *operand, unsigned width) {
    Quantities *quantities = quantities_in(k);
    (void)width;
    if (!operand)
        return QUANTITY_NONE;
    switch (operand->kind) {
    case PTX_REGISTER: {
        uint32_t value = flow_value(&k->flow, (uint32_t)(operand - k->module->operands));
        if (value == PTX_NONE || operand->part != PTX_WHOLE || operand->negated)
            return QUANTITY_NONE;
        return number_of_value(k, context, value);
    }
    case PTX_SPECIAL:
        return number_of_special(k, operand);
    case PTX_INTEGER:
        return quantity_constant(quantities, operand->value);
    case PTX_VARIABLE: {
        AtomNote note = {.scope = SAME_IN_LAUNCH};
        Quantity base = noted(k, &(QuantityAtom){.kind = ATOM_ADDRESS, .of = operand->a}, &note);
        return quantity_add(quantities, base, quantity_constant(quantities, operand->value), 1);
    }
    default:
        return QUANTITY_NONE;
    }
}

Quantity number_of_address(Intervals *k, Context *context, const PtxOperand *address) {
    Quantities *quantities = quantities_in(k);
    if (!address || address->kind != PTX_ADDRESS)
        return QUANTITY_NONE;
    Quantity offset = quantity_constant(quantities, address->value);
    return address->a ? quantity_add(quantities, number_of_operand(k, context, address + 1, 64), offset, 1) : offset;
}

/* ---- Instructions ---------------------------------------------------------------------------------- */

/* One look at one instruction. */
typedef struct NumberLook {
    Intervals *k;
    Context *context;
    const PtxStatement *statement;
    Operation op;
} NumberLook;

static const PtxOperand *source(const NumberLook *look, unsigned index) {
    return ptx_operand_at(look->k->module, look->statement, index + 1);
}

static Quantity read(const NumberLook *look, unsigned index) {
    return number_of_operand(look->k, look->context, source(look, index), look->op.width);
}

static Quantity read_exact(const NumberLook *look, unsigned index, unsigned width, bool is_signed) {
    return number_in_range(look->k, &look->context->facts, read(look, index), width, is_signed);
}

static bool read_constant(const NumberLook *look, unsigned index, int64_t *value) {
    return quantity_is_constant(quantities_in(look->k), read(look, index), value);
}

/* The same, with nothing asked. */
static bool is_shown_in(Intervals *k, const PairFacts *facts, Quantity number, int64_t least, int64_t most) {
    bool quiet = k->quiet, trusting = k->trusting;
    k->quiet = true;
    k->trusting = false;
    bool fits = is_in_range(k, facts, number, least, most);
    k->quiet = quiet;
    k->trusting = trusting;
    return fits;
}

/* a / b, where a is not negative and b is positive by what holds there. */
static Quantity quotient(Intervals *k, const PairFacts *facts, Quantity a, Quantity b) {
    Quantities *quantities = quantities_in(k);
    if (!is_in_range(k, facts, a, 0, BOUND_NONE - 1) || !is_in_range(k, facts, b, 1, BOUND_NONE - 1))
        return QUANTITY_NONE;
    int64_t by;
    if (quantity_is_constant(quantities, b, &by) && is_shown_in(k, facts, a, 0, by - 1))
        return QUANTITY_ZERO;
    const Polynomial *of = &quantities->all[a];
    const QuantityAtom *inner = of->count == 1 && of->terms[0].count == 1 && of->terms[0].factor == 1
                                    ? &quantities->atoms[of->terms[0].atoms[0]]
                                    : NULL;
    if (inner && inner->kind == ATOM_DIVIDE) /* x / c / d is x / (c * d) */
        return quotient(k, facts, inner->a, quantity_multiply(quantities, inner->b, b));
    Interval above = quantity_interval(quantities, quantities->anywhere, a);
    Interval below = quantity_interval(quantities, quantities->anywhere, b);
    if (above.least >= 0 && below.least >= 1)
        return quantity_divide(quantities, a, b);
    return quantity_atom(quantities, &(QuantityAtom){.kind = ATOM_DIVIDE, .a = a, .b = b});
}

/* a % 2^bits: of a register, whatever its number is modulo more than that. */
static Quantity low_bits(const NumberLook *look, Quantity a, unsigned bits) {
    Intervals *k = look->k;
    Quantities *quantities = quantities_in(k);
    if (bits >= look->op.width)
        return number_in_range(k, &look->context->facts, a, look->op.width, false);
    int64_t size = INT64_C(1) << bits;
    Quantity whole = quotient(k, &look->context->facts, a, quantity_constant(quantities, size));
    return whole == QUANTITY_NONE ? QUANTITY_NONE : quantity_add(quantities, a, whole, -size);
}

/* a & a row of ones from bit `low` up to, but not including, bit `high`. */
static Quantity masked(const NumberLook *look, Quantity a, uint64_t mask) {
    Quantities *quantities = quantities_in(look->k);
    uint64_t all = look->op.width >= 64 ? UINT64_MAX : ((uint64_t)1 << look->op.width) - 1;
    mask &= all;
    if (!mask || look->op.width > 32)
        return mask ? QUANTITY_NONE : QUANTITY_ZERO;
    unsigned low = (unsigned)__builtin_ctzll(mask);
    uint64_t ones = mask >> low;
    if (ones & (ones + 1))
        return QUANTITY_NONE;
    unsigned high = low + (unsigned)__builtin_popcountll(ones);
    Quantity below = low ? low_bits(look, a, low) : QUANTITY_ZERO;
    if (below == QUANTITY_NONE)
        return QUANTITY_NONE;
    if (high == look->op.width) /* the same as a number modulo 2^width */
        return quantity_add(quantities, a, below, -1);
    return quantity_add(quantities, low_bits(look, a, high), below, -1);
}

static Quantity number_of_and(const NumberLook *look) {
    int64_t mask;
    if (read_constant(look, 1, &mask))
        return masked(look, read(look, 0), (uint64_t)mask);
    if (read_constant(look, 0, &mask))
        return masked(look, read(look, 1), (uint64_t)mask);
    return QUANTITY_NONE;
}

/* Bits that are 0 in every value of the number, the lowest ones. */
static unsigned zeros_below(Intervals *k, Quantity number) {
    const Polynomial *of = &quantities_in(k)->all[number];
    unsigned least = 63;
    for (uint32_t i = 0; i < of->count; i++) {
        unsigned zeros = (unsigned)__builtin_ctzll((uint64_t)of->terms[i].factor);
        least = zeros < least ? zeros : least;
    }
    return least;
}

/* a | b is a + b where they have no bit in common: b is less than the power of two that divides a. */
static Quantity number_of_or(const NumberLook *look) {
    Intervals *k = look->k;
    Quantity sides[2] = {read(look, 0), read(look, 1)};
    if (sides[0] == QUANTITY_NONE || sides[1] == QUANTITY_NONE || look->op.width < 8)
        return QUANTITY_NONE;
    for (unsigned i = 0; i < 2; i++) {
        unsigned zeros = zeros_below(k, sides[i]);
        bool fits = zeros && is_shown_in(k, &look->context->facts, sides[1 - i], 0,
                                         zeros >= 62 ? BOUND_NONE - 1 : (INT64_C(1) << zeros) - 1);
        if (fits)
            return quantity_add(quantities_in(k), sides[0], sides[1], 1);
    }
    return QUANTITY_NONE;
}

/* a ^ c is c - a where c is a row of ones, and a has no other bits. */
static Quantity number_of_xor(const NumberLook *look) {
    Quantities *quantities = quantities_in(look->k);
    int64_t ones;
    for (unsigned i = 0; i < 2; i++) {
        Quantity a = read(look, 1 - i);
        if (a == QUANTITY_NONE || !read_constant(look, i, &ones) || ones < 1 || look->op.width < 32)
            continue;
        unsigned zeros = (unsigned)__builtin_ctzll((uint64_t)ones);
        int64_t row = ones >> zeros;
        if ((row & (row + 1)) == 0 && zeros_below(look->k, a) >= zeros &&
            is_shown_in(look->k, &look->context->facts, a, 0, ones))
            return quantity_add(quantities, quantity_constant(quantities, ones), a, -1);
    }
    return QUANTITY_NONE;
}

static Quantity number_of_product(const NumberLook *look) {
    const Operation *op = &look->op;
    if (op->high || op->saturates)
        return QUANTITY_NONE;
    if (!op->wide)
        return quantity_multiply(quantities_in(look->k), read(look, 0), read(look, 1));
    Quantity a = read_exact(look, 0, op->width, op->is_signed), b = read_exact(look, 1, op->width, op->is_signed);
    return quantity_multiply(quantities_in(look->k), a, b);
}

static Quantity number_of_product24(const NumberLook *look) {
    if (look->op.high || look->op.saturates)
        return QUANTITY_NONE;
    Quantity a = read_exact(look, 0, 23, false), b = read_exact(look, 1, 23, false);
    return quantity_multiply(quantities_in(look->k), a, b);
}

/* It was shifted to the left before, as far or farther. */
static bool is_multiple(const Quantities *quantities, Quantity number, int64_t of) {
    const Polynomial *terms = number == QUANTITY_NONE ? NULL : &quantities->all[number];
    for (uint32_t i = 0; terms && i < terms->count; i++)
        if (terms->terms[i].factor % of)
            return false;
    return terms != NULL;
}

static Quantity number_of_shift(const NumberLook *look, bool left) {
    Quantities *quantities = quantities_in(look->k);
    bool quiet = look->k->quiet;
    int64_t by;
    if (!read_constant(look, 1, &by) || by < 0 || by >= look->op.width || by > 61)
        return QUANTITY_NONE;
    Quantity power = quantity_constant(quantities, INT64_C(1) << by);
    if (left)
        return quantity_multiply(quantities, read(look, 0), power);
    look->k->quiet |= by > 1 && is_multiple(quantities, read(look, 0), INT64_C(1) << by); /* it is cut off on purpose */
    Quantity a = read_exact(look, 0, look->op.width, look->op.is_signed);
    look->k->quiet = quiet;
    return a == QUANTITY_NONE ? a : quotient(look->k, &look->context->facts, a, power);
}

static Quantity number_of_division(const NumberLook *look, bool rest) {
    Quantities *quantities = quantities_in(look->k);
    Quantity a = read_exact(look, 0, look->op.width, look->op.is_signed);
    Quantity b = read_exact(look, 1, look->op.width, look->op.is_signed);
    if (a == QUANTITY_NONE || b == QUANTITY_NONE)
        return QUANTITY_NONE;
    Quantity whole = quotient(look->k, &look->context->facts, a, b);
    if (!rest || whole == QUANTITY_NONE)
        return whole;
    return quantity_add(quantities, a, quantity_multiply(quantities, whole, b), -1);
}

static Quantity number_of_conversion(const NumberLook *look) {
    const Operation *op = &look->op;
    if (op->saturates)
        return QUANTITY_NONE;
    return op->result <= op->width ? read(look, 0) : read_exact(look, 0, op->width, op->is_signed);
}

static Quantity number_of_field(const NumberLook *look) {
    Quantities *quantities = quantities_in(look->k);
    int64_t from, bits;
    if (look->op.is_signed || look->op.width != 32 || !read_constant(look, 1, &from) ||
        !read_constant(look, 2, &bits) || from < 0 || bits < 1 || from + bits > 32)
        return QUANTITY_NONE;
    Quantity a = read_exact(look, 0, 32, false);
    Quantity shifted = a == QUANTITY_NONE ? a
                                          : quotient(look->k, &look->context->facts, a,
                                                     quantity_constant(quantities, INT64_C(1) << from));
    return shifted == QUANTITY_NONE || from + bits == 32 ? shifted : low_bits(look, shifted, (unsigned)bits);
}

static Quantity number_of_extreme(const NumberLook *look, bool least) {
    if (look->op.to_zero)
        return QUANTITY_NONE;
    Quantity a = read_exact(look, 0, look->op.width, look->op.is_signed);
    Quantity b = read_exact(look, 1, look->op.width, look->op.is_signed);
    if (a == QUANTITY_NONE || b == QUANTITY_NONE || ptx_operand_at(look->k->module, look->statement, 3))
        return QUANTITY_NONE;
    return least ? quantity_minimum(quantities_in(look->k), a, b) : quantity_maximum(quantities_in(look->k), a, b);
}

/* A parameter of the kernel, or a part of it. */
static Quantity number_of_parameter(const NumberLook *look, const PtxOperand *address, unsigned bits) {
    Intervals *k = look->k;
    Proof *proof = k->prover.proof;
    const PtxFunction *function = &k->module->functions[k->function];
    if (address->kind != PTX_ADDRESS || !address->a || address[1].kind != PTX_VARIABLE ||
        address[1].a < function->parameters || address[1].a >= function->parameters + function->parameter_count ||
        (bits != 32 && bits != 64))
        return QUANTITY_NONE;
    uint32_t index = address[1].a - function->parameters;
    int64_t offset = address->value + address[1].value;
    const PtxVariable *parameter = &k->module->variables[address[1].a];
    bool part = offset || parameter->dimension_count;
    AtomNote note = {.scope = SAME_IN_LAUNCH, .parameter = true};
    QuantityAtom atom = {.kind = part ? ATOM_DATA : ATOM_ARGUMENT,
                         .of = part ? proof->name_count : index,
                         .width = (uint8_t)bits,
                         .key = part ? parameter : NULL,
                         .extent = offset};
    if (!part)
        return noted(k, &atom, &note);
    atom.width = 0;
    note.bounded = bits == 32;
    note.most = UINT32_MAX;
    return noted(k, &atom, &note);
}

static Quantity number_of_load(const NumberLook *look) {
    const PtxForm *form = &look->k->module->forms[look->statement->what];
    const PtxOperand *address = source(look, 0);
    if (!address || ptx_space_of_form(form->text, 0) != PTX_SPACE_PARAM)
        return QUANTITY_NONE;
    return number_of_parameter(look, address, ptx_type_bits(ptx_form_modifier(form->row, form->text, STR("t"))));
}

static Quantity number_of_operation(const NumberLook *look) {
    Quantities *quantities = quantities_in(look->k);
    const Operation *op = &look->op;
    switch (op->evaluator) {
    case PTX_EVALUATE_MOV:
    case PTX_EVALUATE_CVTA:
    case PTX_EVALUATE_CVTA_TO:
        return read(look, 0);
    case PTX_EVALUATE_ADD:
    case PTX_EVALUATE_SUB:
        if (op->saturates)
            return QUANTITY_NONE;
        return quantity_add(quantities, read(look, 0), read(look, 1), op->evaluator == PTX_EVALUATE_ADD ? 1 : -1);
    case PTX_EVALUATE_MUL:
        return number_of_product(look);
    case PTX_EVALUATE_MAD:
        return quantity_add(quantities, number_of_product(look), read(look, 2), 1);
    case PTX_EVALUATE_MUL24:
        return number_of_product24(look);
    case PTX_EVALUATE_MAD24:
        return quantity_add(quantities, number_of_product24(look), read(look, 2), 1);
    case PTX_EVALUATE_NEG:
        return quantity_add(quantities, QUANTITY_ZERO, read(look, 0), -1);
    case PTX_EVALUATE_NOT: /* -a - 1 */
        return op->width < 8 ? QUANTITY_NONE
                             : quantity_add(quantities, quantity_constant(quantities, -1), read(look, 0), -1);
    case PTX_EVALUATE_SHL:
        return number_of_shift(look, true);
    case PTX_EVALUATE_SHR:
        return number_of_shift(look, false);
    case PTX_EVALUATE_AND:
        return number_of_and(look);
    case PTX_EVALUATE_OR:
        return number_of_or(look);
    case PTX_EVALUATE_XOR:
        return number_of_xor(look);
    case PTX_EVALUATE_DIV:
        return number_of_division(look, false);
    case PTX_EVALUATE_REM:
        return number_of_division(look, true);
    case PTX_EVALUATE_MIN:
        return number_of_extreme(look, true);
    case PTX_EVALUATE_MAX:
        return number_of_extreme(look, false);
    case PTX_EVALUATE_CVT:
        return number_of_conversion(look);
    case PTX_EVALUATE_BFE:
        return number_of_field(look);
    case PTX_EVALUATE_LOAD:
        return number_of_load(look);
    default:
        return QUANTITY_NONE;
    }
}

/* One of two, by a predicate. */
static Quantity number_of_choice(const NumberLook *look, uint32_t value) {
    Quantity either[2] = {read(look, 0), read(look, 1)};
    if (either[0] == QUANTITY_NONE || either[1] == QUANTITY_NONE)
        return QUANTITY_NONE;
    return either[0] == either[1] ? either[0] : opaque(look->k, look->context->stage, value, false);
}

/* Whether an instruction gives what other threads or memory have, itself or through what it reads. */
static bool is_made_of_data(const NumberLook *look) {
    uint32_t count;
    const PtxOperand *operands = ptx_operands(look->k->module, look->statement, &count);
    PtxEvaluator evaluator = look->op.evaluator;
    if (evaluator == PTX_EVALUATE_LOAD || evaluator == PTX_EVALUATE_NONE || evaluator == PTX_EVALUATE_SHUFFLE ||
        evaluator == PTX_EVALUATE_VOTE || evaluator == PTX_EVALUATE_MATCH || evaluator == PTX_EVALUATE_REDUCE)
        return true;
    for (uint32_t i = 1; i < count; i++)
        if (operands[i].kind == PTX_REGISTER &&
            depends_on_data(look->k, number_of_operand(look->k, look->context, &operands[i], 64)))
            return true;
    return false;
}

static Quantity number_of_result(Intervals *k, Context *context, uint32_t value) {
    const FlowValue *of = &k->flow.values[value];
    NumberLook look = {.k = k, .context = context, .statement = statement_at(k, of->instruction)};
    const PtxForm *form = look.statement->kind == PTX_INSTRUCTION ? &k->module->forms[look.statement->what] : NULL;
    const PtxOperand *first = form ? ptx_operand_at(k->module, look.statement, 0) : NULL;
    if (!form || !form->row || !first || of->before != PTX_NONE ||
        of->operand != (uint32_t)(first - k->module->operands) || first->part != PTX_WHOLE)
        return opaque(k, context->stage, value, true);
    look.op = operation_of(form->row, form->text);
    if (register_bits(k, value) == 1)
        return opaque(k, context->stage, value, false);
    Quantity number = QUANTITY_NONE;
    bool fits = look.op.numbers && look.op.result == register_bits(k, value);
    bool load = look.op.evaluator == PTX_EVALUATE_LOAD;
    fits |= (look.op.evaluator == PTX_EVALUATE_CVTA || look.op.evaluator == PTX_EVALUATE_CVTA_TO) &&
            register_bits(k, value) == 64;
    if (fits && look.op.evaluator == PTX_EVALUATE_SELP)
        number = number_of_choice(&look, value);
    else if (fits || load)
        number = number_of_operation(&look);
    return number != QUANTITY_NONE ? number : opaque(k, context->stage, value, is_made_of_data(&look));
}

/* ---- Phis ------------------------------------------------------------------------------------------ */

/* The loop that a block is the header of; PTX_NONE: of none. */
static uint32_t loop_headed(const PtxFlow *flow, uint32_t block) {
    uint32_t loop = flow->blocks[block].loop;
    return loop != PTX_NONE && flow->loops[loop].header == block && !flow->loops[loop].irreducible ? loop : PTX_NONE;
}

/* The one value that comes in from outside of the loop; PTX_NONE: there are several. */
static uint32_t entering_value(const PtxFlow *flow, uint32_t loop, const FlowValue *phi) {
    const FlowBlock *block = &flow->blocks[phi->block];
    uint32_t entering = PTX_NONE;
    for (uint32_t i = 0; i < block->predecessor_count; i++) {
        uint32_t input = flow->inputs[phi->inputs + i];
        if (is_in_loop(flow, loop, flow->edges[block->predecessors + i]))
            continue;
        if (entering != PTX_NONE && entering != input)
            return PTX_NONE;
        entering = input;
    }
    return entering;
}

/* Whether what a loop adds in each turn is the same in all of them. */
static bool is_steady(Intervals *k, Quantity step) {
    return step != QUANTITY_NONE && !has_register(k, step);
}

/* Finds whether a value that a loop carries counts its turns: it becomes more by the same number in each. */
static void find_count(Intervals *k, uint32_t value, uint32_t loop) {
    const PtxFlow *flow = &k->flow;
    const FlowValue *phi = &flow->values[value];
    const FlowBlock *block = &flow->blocks[phi->block];
    Quantities *quantities = quantities_in(k);
    k->counts.state[value] = 3;
    Quantity self = opaque(k, first_stage(k), value, false), step = QUANTITY_NONE;
    bool good = entering_value(flow, loop, phi) != PTX_NONE, quiet = k->quiet;
    k->quiet = true;
    for (uint32_t i = 0; i < block->predecessor_count && good; i++) {
        if (!is_in_loop(flow, loop, flow->edges[block->predecessors + i]))
            continue;
        Context context = {
            .stage = first_stage(k), .block = phi->block, .memo = ARENA_SPARSE(&k->pair, Quantity, flow->value_count)};
        context.memo[value] = self + 1;
        Quantity next = number_of_value(k, &context, flow->inputs[phi->inputs + i]);
        Quantity more = next == QUANTITY_NONE ? next : quantity_add(quantities, next, self, -1);
        good = is_steady(k, more) && (step == QUANTITY_NONE || step == more);
        step = more;
    }
    k->quiet = quiet;
    good = good && step != QUANTITY_NONE;
    k->counts.state[value] = good ? 1 : 2;
    k->counts.step[value] = step;
}

static bool find_override(Intervals *k, const LoopStage *stage, uint32_t value, Quantity *number) {
    for (; stage->before; stage = stage->before) {
        for (uint32_t i = 0; i < stage->value_count; i++)
            if (stage->values[i].value == value) {
                *number = stage->values[i].number;
                return true;
            }
        if (is_in_loop(&k->flow, stage->loop, k->flow.values[value].block))
            return false;
    }
    return false;
}

static Quantity number_of_carried(Intervals *k, Context *context, uint32_t value, uint32_t loop) {
    Quantities *quantities = quantities_in(k);
    Quantity number;
    if (!k->counts.state[value])
        find_count(k, value, loop);
    if (k->counts.state[value] == 1) {
        Quantity turns = quantity_multiply(quantities, k->counts.step[value], turn_of(k, context->stage, loop));
        number = number_of_value(k, context, entering_value(&k->flow, loop, &k->flow.values[value]));
        number = quantity_add(quantities, number, turns, 1);
        if (number != QUANTITY_NONE)
            return number;
    }
    if (find_override(k, context->stage, value, &number) && number != QUANTITY_NONE)
        return number;
    return opaque(k, context->stage, value, false);
}

static Quantity number_of_phi(Intervals *k, Context *context, uint32_t value) {
    const PtxFlow *flow = &k->flow;
    const FlowValue *phi = &flow->values[value];
    uint32_t loop = loop_headed(flow, phi->block);
    if (loop != PTX_NONE)
        return number_of_carried(k, context, value, loop);
    const FlowBlock *block = &flow->blocks[phi->block];
    Quantity either[2] = {QUANTITY_NONE, QUANTITY_NONE}, known;
    unsigned count = 0;
    if (find_override(k, context->stage, value, &known) && known != QUANTITY_NONE)
        return known;
    for (uint32_t i = 0; i < block->predecessor_count; i++) {
        Quantity input = number_of_value(k, context, flow->inputs[phi->inputs + i]);
        if (input == QUANTITY_NONE)
            count = 3;
        else if (count < 3 && (!count || input != either[0]) && (count < 2 || input != either[1])) {
            if (count < 2)
                either[count] = input;
            count++;
        }
    }
    if (count == 1)
        return either[0];
    bool loaded = (either[0] != QUANTITY_NONE && depends_on_data(k, either[0])) ||
                  (either[1] != QUANTITY_NONE && depends_on_data(k, either[1]));
    return opaque(k, context->stage, value, loaded);
}

static Quantity number_of_value(Intervals *k, Context *context, uint32_t value) {
    Quantity number;
    if (context->memo[value])
        return context->memo[value] - 1;
    switch (k->flow.values[value].kind) {
    case VALUE_RESULT:
        number = number_of_result(k, context, value);
        break;
    case VALUE_PHI:
        number = number_of_phi(k, context, value);
        break;
    default:
        number = opaque(k, context->stage, value, false);
    }
    if (number != QUANTITY_NONE)
        context->memo[value] = number + 1;
    return number;
}

Quantity number_of_register(Intervals *k, Context *context, uint32_t value) {
    return number_of_value(k, context, value);
}

bool is_counting(Intervals *k, uint32_t value, uint32_t loop) {
    if (!k->counts.state[value])
        find_count(k, value, loop);
    return k->counts.state[value] == 1;
}

uint32_t atom_carried(Intervals *k, uint32_t value, uint32_t loop, Quantity *number) {
    bool counts = is_counting(k, value, loop);
    Quantity atom = counts ? turn_of(k, first_stage(k), loop) : opaque(k, first_stage(k), value, false);
    *number = atom;
    return atom == QUANTITY_NONE ? UINT32_MAX : quantities_in(k)->all[atom].terms[0].atoms[0];
}

uint32_t loop_headed_by(const Intervals *k, uint32_t block) {
    return loop_headed(&k->flow, block);
}
