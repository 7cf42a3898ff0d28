/* Ifs without loops and waits as straight code: instead of a branch around instructions, these have a guard.
 *
 * Where a branch may part a warp, what is behind it is recorded by whichever lanes come, each leader in a chunk of its
 * own. What all lanes come to, and some take part in by a guard, lane 0 records in one place, with the lanes that take
 * part, which a ballot tells; and of what is known by a thread's number nothing but these. */
#include "instrument/emit/straight.h"
#include "instrument/internal.h"

#include "ptx/value/value.h"

/* Instructions of one way: those for whom the guard does not hold take the time of it, too. */
enum { MOST_INSTRUCTIONS = 128, MOST_DEPTH = 6 };

typedef struct Straight {
    PtxEdits *edits;
    const PtxModule *module;
    const PtxFlow *flow;
    const PtxValues *values;
    bool *leaves; /* of each value: it is used in another block than its own */
    unsigned round;
} Straight;

static const PtxStatement *statement_at(const Straight *s, uint32_t instruction) {
    return &s->module->statements[s->flow->instructions[instruction]];
}

/* ---- What can have a guard --------------------------------------------------------------------------------- */

bool straight_effect(const PtxEffect *effect) {
    const Effect *of = &effect->effect;
    return of->verb == EFFECT_FENCE_ORDER ||
           (effect_is_access(of) && of->done == DONE_NOW && of->helper == HELPER_BASE && of->proxy == PROXY_GENERIC);
}

static bool names_register(const Straight *s, uint32_t value, const PtxOperand *guard) {
    const FlowValue *of = &s->flow->values[value];
    return of->variable == guard->a && of->index == (uint32_t)guard->value;
}

/* Whether an instruction does the same with one more guard, which it does not write; NULL: whichever. */
static bool takes_guard(const Straight *s, uint32_t instruction, const PtxOperand *guard) {
    const PtxStatement *statement = statement_at(s, instruction);
    const PtxForm *form = &s->module->forms[statement->what];
    PtxEffect effects[PTX_EFFECTS_MOST];
    if (!form->row || form->row->control || form->evaluator >= PTX_EVALUATE_JUMP ||
        form->evaluator == PTX_EVALUATE_ACTIVEMASK)
        return false;
    unsigned count = form->effect_count ? ptx_effects_of(s->module, statement, effects) : 0;
    for (unsigned i = 0; i < count; i++)
        if (!straight_effect(&effects[i]))
            return false;
    for (uint32_t i = 0; guard && i < statement->count; i++) {
        uint32_t value = flow_value(s->flow, statement->first + i);
        if (value != PTX_NONE && s->flow->values[value].operand == statement->first + i &&
            names_register(s, value, guard))
            return false;
    }
    return true;
}

/* The instructions of a block can all have a guard, but for a jump at its end, and some are of interest. */
static bool is_way(const Straight *s, uint32_t block, const PtxOperand *guard) {
    const FlowBlock *of = &s->flow->blocks[block];
    uint32_t end = of->ends == FLOW_JUMP ? of->end - 1 : of->end;
    if (!of->reached || of->predecessor_count != 1 || of->end - of->begin > MOST_INSTRUCTIONS ||
        (of->ends != FLOW_NEXT && of->ends != FLOW_JUMP) || of->successor_count != 1)
        return false;
    for (uint32_t i = of->begin; i < end; i++)
        if (!takes_guard(s, i, guard))
            return false;
    return true;
}

static bool acts(const Straight *s, uint32_t block) {
    const FlowBlock *of = &s->flow->blocks[block];
    for (uint32_t i = of->begin; i < of->end; i++)
        if (s->module->forms[statement_at(s, i)->what].effect_count)
            return true;
    return false;
}

/* Whether all lanes of a warp come to a block, or will when the ifs around it are straight code. Where they do not, an
 * instruction with a guard of its own is worse than a branch: who is there is found again for each. */
static bool comes_together(const Straight *s, uint32_t block) {
    const PtxFlow *flow = s->flow;
    uint32_t top = block;
    while (top != PTX_NONE && s->values->divergent[top])
        top = flow->blocks[top].dominator;
    if (top == block || top == PTX_NONE)
        return top == block;
    const FlowBlock *head = &flow->blocks[top];
    uint32_t meets = head->meets, begin = head->end, end = meets == PTX_NONE ? 0 : flow->blocks[meets].begin;
    if (!s->values->parts[top] || end <= begin || end - begin > MOST_INSTRUCTIONS)
        return false;
    for (uint32_t i = begin; i < end; i++)
        if (flow->blocks[flow->block_of[i]].loop != head->loop ||
            (s->module->forms[statement_at(s, i)->what].evaluator != PTX_EVALUATE_JUMP && !takes_guard(s, i, NULL)))
            return false;
    return true;
}

/* ---- What needs none --------------------------------------------------------------------------------------- */

static bool computes(const PtxForm *form) {
    PtxEvaluator by = form->evaluator;
    return !form->effect_count && by != PTX_EVALUATE_NONE && by < PTX_EVALUATE_JUMP && by != PTX_EVALUATE_CARRY &&
           by != PTX_EVALUATE_BORROW && by != PTX_EVALUATE_LOAD;
}

/* Whether nothing is taken away from a value of 32 bits: then it is not likely to be less than 0 in a lane that is out.
 */
static bool only_grows(const Straight *s, uint32_t operand, unsigned depth) {
    const PtxOperand *of = &s->module->operands[operand];
    uint32_t value = flow_value(s->flow, operand);
    if (of->kind == PTX_INTEGER)
        return of->value >= 0 && of->value < INT32_MAX;
    if (of->kind == PTX_SPECIAL)
        return true;
    if (value == PTX_NONE || s->flow->values[value].kind != VALUE_RESULT || depth == MOST_DEPTH)
        return false;
    const PtxStatement *by = statement_at(s, s->flow->values[value].instruction);
    const PtxForm *form = &s->module->forms[by->what];
    if (form->evaluator == PTX_EVALUATE_LOAD)
        return !form->effect_count; /* a parameter */
    if (by->flags & PTX_GUARDED || (form->evaluator != PTX_EVALUATE_ADD && form->evaluator != PTX_EVALUATE_MUL &&
                                    form->evaluator != PTX_EVALUATE_MAD && form->evaluator != PTX_EVALUATE_SHL &&
                                    form->evaluator != PTX_EVALUATE_SHR && form->evaluator != PTX_EVALUATE_MOV &&
                                    form->evaluator != PTX_EVALUATE_AND && form->evaluator != PTX_EVALUATE_OR))
        return false;
    for (uint32_t i = 1; i < by->count; i++)
        if (!only_grows(s, by->first + i, depth + 1))
            return false;
    return true;
}

/* An index that would wrap in lanes that are out, where it is taken that none does, would be held against the launch
 * (wraps.c). */
static bool may_wrap(const Straight *s, uint32_t instruction) {
    const PtxStatement *statement = statement_at(s, instruction);
    if (!s->values->assumed[instruction] || ptx_form_has(s->module->forms[statement->what].text, STR("s32")))
        return false;
    for (uint32_t i = statement->flags & PTX_GUARDED ? 2 : 1; i < statement->count; i++)
        if (ptx_operand_form(s->values, statement->first + i).width == 32 && !only_grows(s, statement->first + i, 0))
            return true;
    return false;
}

/* Whether lanes that are out may run it, too: it computes what nothing outside of its block sees. */
static bool harmless(const Straight *s, uint32_t instruction) {
    const PtxStatement *statement = statement_at(s, instruction);
    if (!computes(&s->module->forms[statement->what]) || may_wrap(s, instruction))
        return false;
    for (uint32_t i = 0; i < statement->count; i++) {
        uint32_t value = flow_value(s->flow, statement->first + i);
        if (value != PTX_NONE && s->flow->values[value].operand == statement->first + i && s->leaves[value])
            return false;
    }
    return true;
}

/* What is left where the guard of a value that leaves does not hold leaves, too. */
static void pass_back(Straight *s) {
    bool more = true;
    while (more) {
        more = false;
        for (uint32_t v = s->flow->value_count; v-- > 0;) {
            uint32_t before = s->flow->values[v].kind == VALUE_RESULT ? s->flow->values[v].before : PTX_NONE;
            if (s->leaves[v] && before != PTX_NONE && !s->leaves[before])
                more = s->leaves[before] = true;
        }
    }
}

static void find_leaving(Straight *s) {
    const PtxFlow *flow = s->flow;
    for (uint32_t i = 0; i < flow->instruction_count; i++) {
        const PtxStatement *statement = statement_at(s, i);
        for (uint32_t k = 0; k < statement->count; k++) {
            uint32_t value = flow_value(flow, statement->first + k);
            if (value != PTX_NONE && flow->values[value].block != flow->block_of[i])
                s->leaves[value] = true;
        }
    }
    for (uint32_t v = 0; v < flow->value_count; v++) {
        const FlowValue *value = &flow->values[v];
        uint32_t before = value->kind == VALUE_RESULT ? value->before : PTX_NONE;
        if (before != PTX_NONE && flow->values[before].block != value->block)
            s->leaves[before] = true;
        for (uint32_t k = 0; value->kind == VALUE_PHI && k < flow->blocks[value->block].predecessor_count; k++)
            if (flow->inputs[value->inputs + k] != PTX_NONE)
                s->leaves[flow->inputs[value->inputs + k]] = true;
    }
    pass_back(s);
}

/* ---- Changing them ----------------------------------------------------------------------------------------- */

static Str text_of(const Straight *s, const PtxStatement *statement) {
    return (Str){s->module->source->data + statement->begin, statement->end - statement->begin};
}

Str straight_guard(Str text) {
    size_t begin = 1, end;
    while (begin < text.size && (text.data[begin] == '!' || text.data[begin] == ' ' || text.data[begin] == '\t'))
        begin++;
    for (end = begin; end < text.size && text.data[end] != ' ' && text.data[end] != '\t' && text.data[end] != '\n';)
        end++;
    return (Str){text.data + begin, end - begin};
}

/* Both guards as one, in a register of its own. */
static void say_both(const Straight *s, const PtxStatement *statement, Str guard, bool negated, Text *to) {
    Str text = text_of(s, statement), own = straight_guard(text);
    bool own_negated = statement->flags & PTX_NEGATED;
    text_addf(to, "{ .reg .pred %%weir_in%u, %%weir_own%u, %%weir_if%u; ", s->round, s->round, s->round);
    text_addf(to, "%s.pred %%weir_in%u, %.*s; ", negated ? "not" : "mov", s->round, (int)guard.size, guard.data);
    text_addf(to, "%s.pred %%weir_own%u, %.*s; ", own_negated ? "not" : "mov", s->round, (int)own.size, own.data);
    text_addf(to, "and.pred %%weir_if%u, %%weir_in%u, %%weir_own%u; ", s->round, s->round, s->round);
    size_t behind = (size_t)(own.data + own.size - text.data);
    text_addf(to, "@%%weir_if%u%.*s }", s->round, (int)(text.size - behind), text.data + behind);
}

static void guard_way(const Straight *s, uint32_t block, const PtxStatement *branch, bool negated) {
    const FlowBlock *of = &s->flow->blocks[block];
    Str guard = straight_guard(text_of(s, branch));
    uint32_t end = of->ends == FLOW_JUMP ? of->end - 1 : of->end;
    for (uint32_t i = of->begin; i < end; i++) {
        const PtxStatement *statement = statement_at(s, i);
        Text to = {0};
        if (harmless(s, i))
            continue;
        if (statement->flags & PTX_GUARDED) {
            say_both(s, statement, guard, negated, &to);
        } else {
            Str text = text_of(s, statement);
            text_addf(&to, "@%s%.*s %.*s", negated ? "!" : "", (int)guard.size, guard.data, (int)text.size, text.data);
        }
        ptx_edit_replace(s->edits, s->flow->instructions[i], (Str){to.data, to.size});
        text_free(&to);
    }
    if (of->ends == FLOW_JUMP)
        ptx_edit_take_out(s->edits, s->flow->instructions[of->end - 1]);
}

/* The if that a block ends with: one way, up to where the branch leads; or two, up to where both meet. */
static bool straighten(const Straight *s, uint32_t block) {
    const FlowBlock *head = &s->flow->blocks[block];
    if (!head->reached || head->ends != FLOW_BRANCH || head->successor_count != 2 || !s->values->parts[block] ||
        !comes_together(s, block))
        return false;
    const PtxStatement *branch = statement_at(s, head->end - 1);
    const PtxOperand *guard = &s->module->operands[branch->first];
    uint32_t led = s->flow->edges[head->successors], next = s->flow->edges[head->successors + 1];
    const FlowBlock *first = &s->flow->blocks[next], *other = &s->flow->blocks[led];
    if (s->module->forms[branch->what].evaluator != PTX_EVALUATE_JUMP || guard->kind != PTX_REGISTER || next == led ||
        first->begin != head->end || !is_way(s, next, guard))
        return false;
    uint32_t meets = s->flow->edges[first->successors];
    bool both = meets != led;
    if (both && (first->ends != FLOW_JUMP || other->begin != first->end || other->ends != FLOW_NEXT ||
                 !is_way(s, led, guard) || s->flow->edges[other->successors] != meets))
        return false;
    if (s->flow->blocks[meets].begin != (both ? other : first)->end || (!acts(s, next) && !(both && acts(s, led))))
        return false;
    bool negated = branch->flags & PTX_NEGATED;
    ptx_edit_take_out(s->edits, s->flow->instructions[head->end - 1]);
    guard_way(s, next, branch, !negated);
    if (both)
        guard_way(s, led, branch, negated);
    return true;
}

bool straighten_function(PtxEdits *edits, const PtxModule *module, uint32_t function, const uint32_t block[3],
                         unsigned round) {
    PtxFlow flow;
    PtxValues values;
    const char *problem;
    bool any = false;
    PtxBlockShape shape = {.x = block[0], .y = block[1], .z = block[2]};
    if (!ptx_flow_values(&flow, &values, module, function, &shape, 0, &problem))
        return false;
    Straight s = {.edits = edits,
                  .module = module,
                  .flow = &flow,
                  .values = &values,
                  .leaves = ARENA_ARRAY(&flow.arena, bool, flow.value_count + 1),
                  .round = round};
    find_leaving(&s);
    for (uint32_t i = 0; !flow.unknown_count && i < flow.block_count; i++)
        any |= straighten(&s, i);
    ptx_flow_values_free(&flow, &values);
    return any;
}
