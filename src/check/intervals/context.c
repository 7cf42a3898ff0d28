/* What holds where: conditions around a block, turns of loops, and what loops keep. */
#include "check/intervals/internal.h"

bool is_in_loop(const PtxFlow *flow, uint32_t loop, uint32_t block) {
    if (loop == PTX_NONE)
        return false;
    uint32_t inner = flow->blocks[block].loop;
    while (inner != PTX_NONE && inner != loop)
        inner = flow->loops[inner].outer;
    return inner == loop;
}

/* ---- PairFacts ----------------------------------------------------------------------------------------- */

void add_fact(Intervals *k, PairFacts *facts, Quantity left, PairFactKind kind) {
    if (left == QUANTITY_NONE)
        return;
    for (uint32_t i = 0; i < facts->count; i++)
        if (facts->all[i].left == left && facts->all[i].kind == kind)
            return;
    *ARENA_PUSH(k->arena, facts->all, facts->count, facts->capacity) = (PairFact){left, kind};
}

/* One that is not 0, of which one sign is excluded by others. */
static void settle_sign(Intervals *k, PairFacts *facts, Quantity left) {
    Quantities *quantities = quantities_in(k);
    Quantity minus = quantity_add(quantities, QUANTITY_ZERO, left, -1);
    if (left == QUANTITY_NONE || minus == QUANTITY_NONE)
        return;
    if (facts_exclude(k, facts, left, FACT_AT_MOST) ||
        facts_exclude(k, facts, quantity_add(quantities, left, QUANTITY_ONE, 1), FACT_AT_MOST))
        add_fact(k, facts, quantity_add(quantities, minus, QUANTITY_ONE, 1), FACT_AT_MOST); /* left >= 1 */
    else if (facts_exclude(k, facts, quantity_add(quantities, minus, QUANTITY_ONE, 1), FACT_AT_MOST))
        add_fact(k, facts, quantity_add(quantities, left, QUANTITY_ONE, 1), FACT_AT_MOST);
    else
        add_fact(k, facts, left, FACT_NOT_ZERO);
}

/* a is less than b (or no more than it, with `most`) as numbers without a sign, of registers: if b has no highest bit,
 * neither has a. */
static void add_unsigned(Intervals *k, PairFacts *facts, Quantity a, Quantity b, unsigned width, int64_t more) {
    Quantities *quantities = quantities_in(k);
    Quantity high = number_in_range(k, facts, b, width, false), low;
    if (high == QUANTITY_NONE)
        return;
    bool quiet = k->quiet;
    k->quiet = true;
    low = number_in_range(k, facts, a, width, false);
    if (low == QUANTITY_NONE && width == 32 && is_in_range(k, facts, high, 0, INT32_MAX))
        low = number_in_range(k, facts, a, width, true);
    k->quiet = quiet;
    if (low == QUANTITY_NONE)
        low = number_in_range(k, facts, a, width, false);
    if (low == QUANTITY_NONE)
        return;
    add_fact(k, facts, quantity_add(quantities, QUANTITY_ZERO, low, -1), FACT_AT_MOST);
    add_fact(k, facts,
             quantity_add(quantities, quantity_add(quantities, low, high, -1), quantity_constant(quantities, more), 1),
             FACT_AT_MOST);
}

static void add_signed(Intervals *k, PairFacts *facts, Quantity a, Quantity b, unsigned width, int64_t more) {
    Quantities *quantities = quantities_in(k);
    a = number_in_range(k, facts, a, width, true);
    b = number_in_range(k, facts, b, width, true);
    if (a == QUANTITY_NONE || b == QUANTITY_NONE)
        return;
    add_fact(k, facts,
             quantity_add(quantities, quantity_add(quantities, a, b, -1), quantity_constant(quantities, more), 1),
             FACT_AT_MOST);
}

static void add_equality(Intervals *k, PairFacts *facts, Quantity a, Quantity b, const Operation *op, bool equal) {
    Quantities *quantities = quantities_in(k);
    Quantity difference = QUANTITY_NONE;
    for (unsigned sign = 0; sign < 2 && difference == QUANTITY_NONE; sign++) {
        bool is_signed = (sign == 0) == op->is_signed;
        Quantity left = number_in_range(k, facts, a, op->width, is_signed);
        Quantity right = left == QUANTITY_NONE ? left : number_in_range(k, facts, b, op->width, is_signed);
        if (right != QUANTITY_NONE)
            difference = quantity_add(quantities, left, right, -1);
    }
    if (equal)
        add_fact(k, facts, difference, FACT_ZERO);
    else
        settle_sign(k, facts, difference);
}

static void add_comparison(Intervals *k, Context *context, const PtxStatement *statement, const Operation *op,
                           bool is_true, PairFacts *facts) {
    static const Compare opposite[] = {COMPARE_NE, COMPARE_EQ, COMPARE_GE, COMPARE_GT, COMPARE_LE, COMPARE_LT};
    Quantity a = number_of_operand(k, context, ptx_operand_at(k->module, statement, 1), op->width);
    Quantity b = number_of_operand(k, context, ptx_operand_at(k->module, statement, 2), op->width);
    Compare compare = is_true ? (Compare)op->compare : opposite[op->compare];
    bool less = compare == COMPARE_LT || compare == COMPARE_LE;
    int64_t more = compare == COMPARE_LT || compare == COMPARE_GT;
    if (a == QUANTITY_NONE || b == QUANTITY_NONE || op->width < 16)
        return;
    if (compare == COMPARE_EQ || compare == COMPARE_NE)
        add_equality(k, facts, a, b, op, compare == COMPARE_EQ);
    else if (op->is_signed)
        add_signed(k, facts, less ? a : b, less ? b : a, op->width, more);
    else
        add_unsigned(k, facts, less ? a : b, less ? b : a, op->width, more);
}

void add_condition(Intervals *k, Context *context, const PtxOperand *predicate, bool is_true, PairFacts *facts) {
    if (!predicate || predicate->kind != PTX_REGISTER)
        return;
    uint32_t value = flow_value(&k->flow, (uint32_t)(predicate - k->module->operands));
    if (value == PTX_NONE || k->flow.values[value].kind != VALUE_RESULT || k->flow.values[value].before != PTX_NONE)
        return;
    if (predicate->negated)
        is_true = !is_true;
    const PtxStatement *statement = statement_at(k, k->flow.values[value].instruction);
    if (statement->kind != PTX_INSTRUCTION || !k->module->forms[statement->what].row)
        return;
    const PtxForm *form = &k->module->forms[statement->what];
    const PtxOperand *first = ptx_operand_at(k->module, statement, 0);
    Operation op = operation_of(form->row, form->text);
    if (!op.numbers || !first || first->kind != PTX_REGISTER)
        return;
    switch (op.evaluator) {
    case PTX_EVALUATE_SETP:
        if (op.combine == COMBINE_NOTHING || (op.combine == COMBINE_AND && is_true) ||
            (op.combine == COMBINE_OR && !is_true))
            add_comparison(k, context, statement, &op, is_true, facts);
        if ((op.combine == COMBINE_AND && is_true) || (op.combine == COMBINE_OR && !is_true))
            add_condition(k, context, ptx_operand_at(k->module, statement, 3), is_true, facts);
        break;
    case PTX_EVALUATE_AND:
    case PTX_EVALUATE_OR:
        if (op.width != 1 || (op.evaluator == PTX_EVALUATE_AND) != is_true)
            break;
        add_condition(k, context, ptx_operand_at(k->module, statement, 1), is_true, facts);
        add_condition(k, context, ptx_operand_at(k->module, statement, 2), is_true, facts);
        break;
    case PTX_EVALUATE_NOT:
        if (op.width == 1)
            add_condition(k, context, ptx_operand_at(k->module, statement, 1), !is_true, facts);
        break;
    case PTX_EVALUATE_MOV:
        if (op.width == 1)
            add_condition(k, context, ptx_operand_at(k->module, statement, 1), is_true, facts);
        break;
    default:
        break;
    }
}

void add_guard(Intervals *k, Context *context, const PtxStatement *statement, bool holds, PairFacts *facts) {
    if (statement->flags & PTX_GUARDED)
        add_condition(k, context, &k->module->operands[statement->first],
                      holds != ((statement->flags & PTX_NEGATED) != 0), facts);
}

/* ---- Contexts ---------------------------------------------------------------------------------------- */

/* Whether a thread that is in `below`, which the end of `above` leads to, has come along that edge: since then `below`
 * was left by no other way than around a loop that it heads. */
static bool is_only_way(const PtxFlow *flow, uint32_t above, uint32_t below) {
    const FlowBlock *block = &flow->blocks[below];
    unsigned ways = 0;
    for (uint32_t i = 0; i < block->predecessor_count; i++) {
        uint32_t from = flow->edges[block->predecessors + i];
        if (from == above)
            ways++;
        else if (!flow_dominates(flow, below, from))
            return false;
    }
    return ways == 1;
}

/* What the end of a block says of those that go on at `to`. */
void add_edge(Intervals *k, Context *context, uint32_t from, uint32_t to, PairFacts *facts) {
    const PtxFlow *flow = &k->flow;
    const FlowBlock *block = &flow->blocks[from];
    if (block->ends != FLOW_BRANCH || block->end == block->begin)
        return;
    const uint32_t *successors = &flow->edges[block->successors];
    if (block->successor_count == 1) { /* where the guard holds threads end */
        add_guard(k, context, statement_at(k, block->end - 1), false, facts);
        return;
    }
    if (successors[0] == successors[1] || (to != successors[0] && to != successors[1]))
        return;
    add_guard(k, context, statement_at(k, block->end - 1), to == successors[0], facts);
}

static void find_facts(Intervals *k, Context *context) {
    enum { DEEPEST = 256 };
    const PtxFlow *flow = &k->flow;
    uint32_t way[DEEPEST], depth = 0;
    for (uint32_t block = context->block; block != PTX_NONE && depth < DEEPEST; block = flow->blocks[block].dominator)
        way[depth++] = block;
    for (uint32_t i = 0; i < context->stage->facts.count; i++)
        add_fact(k, &context->facts, context->stage->facts.all[i].left, context->stage->facts.all[i].kind);
    for (uint32_t i = 0; i < k->launch.count; i++)
        add_fact(k, &context->facts, k->launch.all[i].left, k->launch.all[i].kind);
    for (uint32_t i = depth; i-- > 1;)
        if (is_only_way(flow, way[i], way[i - 1]))
            add_edge(k, context, way[i], way[i - 1], &context->facts);
    memset(context->memo, 0, flow->value_count * sizeof *context->memo); /* now more is known */
}

Context *context_at(Intervals *k, const LoopStage *stage, uint32_t block) {
    Context *context = stage->contexts[block];
    if (context)
        return context;
    context = ARENA_NEW(k->arena, Context);
    context->stage = stage;
    context->block = block;
    context->memo = ARENA_SPARSE(k->arena, Quantity, k->flow.value_count + 1);
    stage->contexts[block] = context;
    find_facts(k, context);
    return context;
}

/* ---- Stages ---------------------------------------------------------------------------------------- */

static LoopStage *stage_new(Intervals *k, const LoopStage *before) {
    LoopStage *stage = ARENA_NEW(k->arena, LoopStage);
    stage->id = k->stage_count;
    stage->before = before;
    stage->loop = PTX_NONE;
    stage->contexts = ARENA_ARRAY(k->arena, Context *, k->flow.block_count + 1);
    *ARENA_PUSH(k->arena, k->stages, k->stage_count, k->stage_capacity) = stage;
    return stage;
}

const LoopStage *first_stage(Intervals *k) {
    return k->stage_count ? k->stages[0] : stage_new(k, NULL);
}

/* Whether an edge leaves a loop that has barriers. */
static bool leaves_loop_by(const Intervals *k, uint32_t from, uint32_t to) {
    for (uint32_t loop = k->flow.blocks[from].loop; loop != PTX_NONE; loop = k->flow.loops[loop].outer)
        if (k->syncs[loop] && !is_in_loop(&k->flow, loop, to))
            return true;
    return false;
}

/* Whether a loop that has barriers is left for a block. */
static bool leaves_loop(const Intervals *k, uint32_t to) {
    const FlowBlock *block = &k->flow.blocks[to];
    for (uint32_t i = 0; i < block->predecessor_count; i++)
        if (leaves_loop_by(k, k->flow.edges[block->predecessors + i], to))
            return true;
    return false;
}
/* What the values that come together in `to` are behind the edge. */
static void add_values(Intervals *k, Context *context, uint32_t from, uint32_t to, LoopStage *next) {
    const PtxFlow *flow = &k->flow;
    const FlowBlock *block = &flow->blocks[to];
    uint32_t way = 0;
    while (flow->edges[block->predecessors + way] != from)
        way++;
    next->values = ARENA_ARRAY(k->arena, StageValue, block->phi_count + 1);
    for (uint32_t i = 0; i < block->phi_count; i++) {
        uint32_t value = block->phis + i;
        Quantity number = number_of_register(k, context, flow->inputs[flow->values[value].inputs + way]);
        next->values[next->value_count++] = (StageValue){value, number};
    }
}

static void add_way(Intervals *k, Context *context, uint32_t from, uint32_t to, LoopStage *next) {
    next->from = from;
    next->to = to;
    for (uint32_t i = 0; i < context->facts.count; i++)
        add_fact(k, &next->facts, context->facts.all[i].left, context->facts.all[i].kind);
    add_edge(k, context, from, to, &next->facts);
}

const LoopStage *next_stage(Intervals *k, const LoopStage *stage, uint32_t from, uint32_t to) {
    const PtxFlow *flow = &k->flow;
    uint32_t loop = flow->blocks[to].loop;
    bool turns = loop != PTX_NONE && flow->loops[loop].header == to && k->syncs[loop];
    if (!turns && !leaves_loop(k, to))
        return stage;
    for (uint32_t i = 0; i < k->stage_count; i++)
        if (k->stages[i]->before == stage && k->stages[i]->from == from && k->stages[i]->to == to)
            return k->stages[i];
    Quantities *quantities = quantities_in(k);
    Context *context = context_at(k, stage, from);
    if (!turns) { /* all is as it was, and it is known that the loop is over, and where */
        LoopStage *left = stage_new(k, stage);
        if (loop == PTX_NONE || flow->loops[loop].header != to)
            add_values(k, context, from, to, left);
        add_way(k, context, from, to, left);
        return left;
    }
    bool again = is_in_loop(flow, loop, from);
    Quantity turn = again ? quantity_add(quantities, turn_of(k, stage, loop), QUANTITY_ONE, 1) : QUANTITY_ZERO;
    LoopStage *next = stage_new(k, stage);
    add_values(k, context, from, to, next);
    next->loop = loop;
    next->turn = turn;
    add_way(k, context, from, to, next);
    return next;
}

/* ---- Control --------------------------------------------------------------------------------------- */

/* Whether a predicate is the same for all threads of a CTA that compute it in the same turns. */
static bool is_common(Intervals *k, Context *context, const PtxOperand *predicate, unsigned depth) {
    enum { DEEPEST = 16 };
    if (!predicate || predicate->kind != PTX_REGISTER || depth > DEEPEST)
        return false;
    uint32_t value = flow_value(&k->flow, (uint32_t)(predicate - k->module->operands));
    if (value == PTX_NONE || k->flow.values[value].kind != VALUE_RESULT || k->flow.values[value].before != PTX_NONE)
        return false;
    const PtxStatement *statement = statement_at(k, k->flow.values[value].instruction);
    if (statement->kind != PTX_INSTRUCTION || !k->module->forms[statement->what].row)
        return false;
    const PtxForm *form = &k->module->forms[statement->what];
    Operation op = operation_of(form->row, form->text);
    if (!op.numbers)
        return false;
    bool logic = op.width == 1 && (op.evaluator == PTX_EVALUATE_AND || op.evaluator == PTX_EVALUATE_OR ||
                                   op.evaluator == PTX_EVALUATE_XOR || op.evaluator == PTX_EVALUATE_NOT ||
                                   op.evaluator == PTX_EVALUATE_MOV);
    if (op.evaluator != PTX_EVALUATE_SETP && !logic)
        return false;
    for (unsigned i = 1; i < 4; i++) {
        const PtxOperand *operand = ptx_operand_at(k->module, statement, i);
        if (!operand)
            continue;
        bool same = logic || i == 3 ? is_common(k, context, operand, depth + 1)
                                    : same_in_cta(k, number_of_operand(k, context, operand, op.width));
        if (!same)
            return false;
    }
    return true;
}

bool goes_one_way(Intervals *k, uint32_t block) {
    const FlowBlock *at = &k->flow.blocks[block];
    if (at->successor_count < 2 && at->ends != FLOW_BRANCH)
        return true;
    if (k->steady && at->end > at->begin && k->values.ends[block] <= SPAN_CTA)
        return true;
    const PtxStatement *last = at->end > at->begin ? statement_at(k, at->end - 1) : NULL;
    if (at->ends != FLOW_BRANCH || !last || !(last->flags & PTX_GUARDED))
        return false;
    return is_common(k, context_at(k, first_stage(k), block), &k->module->operands[last->first], 0);
}
