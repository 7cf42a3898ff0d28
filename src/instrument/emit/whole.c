/* Code of its own for warps of which all lanes stay, where a branch around loops or waits may part others.
 *
 *     if (row < rows && column < columns)
 *         for (...)
 *
 * In most warps all lanes go in, but that is known only when the kernel runs, and what a part of a warp may come to is
 * recorded at a multiple of the cost (divergent.c). So what the branch leads around stands there twice: a vote says
 * whether any lane goes around it, and warps of which none does run the copy, to which all of a warp come. */
#include "instrument/emit/straight.h"

#include "ptx/effects.h"
#include "ptx/value/value.h"

#include <stdlib.h>

enum { MOST_COPIED = 600, FULL = 32 };
#define WHOLE_VOTE "%weir_leaves"

typedef struct Whole {
    PtxEdits *edits;
    const PtxModule *module;
    const PtxFlow *flow;
    const PtxValues *values;
    unsigned round;
    uint32_t from, to; /* statements that are copied: between the branch and its label */
} Whole;

static const PtxStatement *branch_of(const Whole *w, const FlowBlock *head) {
    return &w->module->statements[w->flow->instructions[head->end - 1]];
}

/* Whether there are warps all of whose lanes stay, as far as that is known from threads' numbers. */
static bool any_whole(const Whole *w, const PtxStatement *branch) {
    const PtxBlockShape *shape = &w->values->shape;
    uint32_t threads = shape->x * shape->y * shape->z, stay = 0;
    Form guard = ptx_operand_form(w->values, branch->first);
    if (!threads || threads > FORM_MOST_THREADS || threads % FULL)
        return false;
    if (guard.assumes || !form_based_on_constant(&guard))
        return true;
    for (uint32_t i = 0; i < threads; i++) {
        bool goes = ((guard.ones + form_offset(w->values, &guard, i)) & 1) != ((branch->flags & PTX_NEGATED) != 0);
        stay = goes ? 0 : i % FULL ? stay + (stay == i % FULL) : 1;
        if (stay == FULL)
            return true;
    }
    return false;
}

/* Whether it has a copy already. */
static bool was_copied(const Whole *w, const PtxStatement *branch) {
    Str line = source_line(w->module->source, source_place(w->module->source, branch->begin).line);
    return memmem(line.data, line.size, WHOLE_VOTE, strlen(WHOLE_VOTE)) != NULL;
}

/* ---- Which can be copied ----------------------------------------------------------------------------------- */

static bool is_in(const FlowBlock *head, const FlowBlock *meets, const FlowBlock *block) {
    return block->begin >= head->end && block->end <= meets->begin && block != head && block != meets;
}

/* Nothing comes to a block of the range but from the head and from the range, and it leads to where the branch leads
 * alone. */
static bool is_closed(const Whole *w, uint32_t head, uint32_t meets, uint32_t index) {
    const PtxFlow *flow = w->flow;
    const FlowBlock *block = &flow->blocks[index], *begin = &flow->blocks[head], *end = &flow->blocks[meets];
    if (block->ends == FLOW_TABLE)
        return false;
    for (uint32_t i = 0; i < block->predecessor_count; i++) {
        uint32_t from = flow->edges[block->predecessors + i];
        if (from != head && !is_in(begin, end, &flow->blocks[from]))
            return false;
    }
    for (uint32_t i = 0; i < block->successor_count; i++) {
        uint32_t to = flow->edges[block->successors + i];
        if (to != meets && !is_in(begin, end, &flow->blocks[to]))
            return false;
    }
    return true;
}

/* The block that a loop goes on at from, if it is left there alone, goes on behind it, and is all of the text between;
 * PTX_NONE. Nothing else leads into it but from one block. */
static uint32_t latch_of(const Whole *w, uint32_t loop, uint32_t *before) {
    const PtxFlow *flow = w->flow;
    uint32_t header = flow->loops[loop].header, latch = PTX_NONE;
    const FlowBlock *first = &flow->blocks[header];
    *before = PTX_NONE;
    if (flow->loops[loop].irreducible || first->predecessor_count != 2)
        return PTX_NONE;
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t from = flow->edges[first->predecessors + i];
        *(flow->blocks[from].begin >= first->begin ? &latch : before) = from;
    }
    if (latch == PTX_NONE || *before == PTX_NONE)
        return PTX_NONE;
    const FlowBlock *last = &flow->blocks[latch];
    if (last->ends != FLOW_BRANCH || last->successor_count != 2 || flow->edges[last->successors] != header ||
        flow->blocks[flow->edges[last->successors + 1]].begin != last->end || last->end - first->begin > MOST_COPIED)
        return PTX_NONE;
    for (uint32_t b = 0; b < flow->block_count; b++) {
        const FlowBlock *block = &flow->blocks[b];
        bool in = block->begin >= first->begin && block->end <= last->end && block->begin < block->end;
        if (!block->reached || !in)
            continue;
        if (block->ends == FLOW_TABLE || block->ends == FLOW_OVER)
            return PTX_NONE;
        for (uint32_t i = 0; i < block->successor_count && b != latch; i++) {
            const FlowBlock *to = &flow->blocks[flow->edges[block->successors + i]];
            if (to->begin < first->begin || to->end > last->end)
                return PTX_NONE;
        }
        for (uint32_t i = 0; i < block->predecessor_count && b != header; i++) {
            const FlowBlock *from = &flow->blocks[flow->edges[block->predecessors + i]];
            if (from->begin < first->begin || from->end > last->end)
                return PTX_NONE;
        }
    }
    return latch;
}

/* Whether lanes that come to a block of the range together make the same turns of the loops around it, up to those of
 * the head, or most of them do (make_loop): else it is of no use that they come together. */
static bool turns_together(const Whole *w, uint32_t head, uint32_t index) {
    uint32_t loop = w->flow->blocks[index].loop, outer = w->flow->blocks[head].loop, before;
    for (; loop != PTX_NONE && loop != outer; loop = w->flow->loops[loop].outer)
        if (w->values->turns[loop] == SPAN_NONE && latch_of(w, loop, &before) == PTX_NONE)
            return false;
    return true;
}

static bool is_range(const Whole *w, uint32_t head, uint32_t meets) {
    const PtxFlow *flow = w->flow;
    const FlowBlock *begin = &flow->blocks[head], *end = &flow->blocks[meets];
    bool acts = false;
    if (end->begin <= begin->end || end->begin - begin->end > MOST_COPIED)
        return false;
    for (uint32_t i = begin->end; i < end->begin; i++)
        acts |= w->module->forms[w->module->statements[flow->instructions[i]].what].effect_count > 0 &&
                turns_together(w, head, flow->block_of[i]);
    for (uint32_t b = 0; acts && b < flow->block_count; b++) {
        const FlowBlock *block = &flow->blocks[b];
        bool begins = block->begin >= begin->end && block->begin < end->begin && block->begin < block->end;
        if (block->reached && begins && (!is_in(begin, end, block) || !is_closed(w, head, meets, b)))
            return false;
    }
    return acts;
}

static bool can_be_twice(const PtxModule *module, const PtxStatement *statement) {
    switch (statement->kind) {
    case PTX_INSTRUCTION:
    case PTX_LABEL:
    case PTX_OPEN:
    case PTX_CLOSE:
    case PTX_VARIABLES:
    case PTX_LOC:
        return true;
    case PTX_DIRECTIVE:
        return str_is(ptx_name(module, statement->what), ".pragma");
    default:
        return false;
    }
}

/* Scopes as a whole, and in none but that of the function: the copy stands at its end. */
static bool is_text(const Whole *w) {
    int depth = -1;
    for (uint32_t i = w->module->functions[w->flow->function].begin; i < w->from; i++)
        depth += w->module->statements[i].kind == PTX_OPEN ? 1 : w->module->statements[i].kind == PTX_CLOSE ? -1 : 0;
    if (depth)
        return false;
    for (uint32_t i = w->from; i < w->to; i++) {
        const PtxStatement *statement = &w->module->statements[i];
        depth += statement->kind == PTX_OPEN ? 1 : statement->kind == PTX_CLOSE ? -1 : 0;
        if (depth < 0 || !can_be_twice(w->module, statement))
            return false;
    }
    return !depth;
}

/* ---- The copy ---------------------------------------------------------------------------------------------- */

static bool is_part_of_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
           c == '%';
}

/* A statement, in which labels of the range have names of their own. */
static void say_statement(const Whole *w, const PtxStatement *statement, Text *to) {
    const char *text = w->module->source->data + statement->begin;
    size_t size = statement->end - statement->begin;
    for (size_t at = 0; at < size;) {
        size_t end = at;
        while (end < size && is_part_of_name(text[end]))
            end++;
        Str word = {text + at, end - at};
        text_add(to, text + at, end > at ? end - at : 1);
        for (uint32_t i = w->from; word.size && i < w->to; i++)
            if (w->module->statements[i].kind == PTX_LABEL &&
                str_equal(ptx_name(w->module, w->module->statements[i].what), word)) {
                text_addf(to, "_weir%u", w->round);
                break;
            }
        at = end > at ? end : at + 1;
    }
}

static void say_copies(const Whole *w, Text *to) {
    text_addf(to, "ret;\n$weir_whole%u:", w->round);
    for (uint32_t i = w->from; i < w->to; i++) {
        const PtxStatement *statement = &w->module->statements[i];
        Place place = source_place(w->module->source, statement->begin);
        Str line = source_line(w->module->source, place.line);
        const char *copied = line.size ? memmem(line.data, line.size, WHOLE_LINE, strlen(WHOLE_LINE)) : NULL;
        text_str(to, STR("\n\t"));
        say_statement(w, statement, to);
        text_addf(to, "\t" WHOLE_LINE "%lu",
                  copied ? strtoul(copied + strlen(WHOLE_LINE), NULL, 10) : (unsigned long)place.line);
    }
}

static void copy(const Whole *w, const PtxStatement *branch, uint32_t statement, uint32_t label) {
    const PtxFunction *function = &w->module->functions[w->flow->function];
    Str text = {w->module->source->data + branch->begin, branch->end - branch->begin}, guard = straight_guard(text);
    Text head = {0}, end = {0};
    text_addf(&head, "{ .reg .pred %" WHOLE_VOTE "%u; ", w->round);
    text_addf(&head, "vote.sync.any.pred %" WHOLE_VOTE "%u, %s%.*s, 0xffffffff; ", w->round,
              branch->flags & PTX_NEGATED ? "!" : "", (int)guard.size, guard.data);
    text_addf(&head, "@!%" WHOLE_VOTE "%u bra $weir_whole%u; } ", w->round, w->round);
    text_str(&head, text);
    ptx_edit_replace(w->edits, statement, (Str){head.data, head.size});
    Str meets = ptx_name(w->module, w->module->statements[label].what);
    say_copies(w, &end);
    text_addf(&end, "\n\tbra %.*s;", (int)meets.size, meets.data);
    ptx_edit_before(w->edits, function->end - 1, (Str){end.data, end.size});
    text_free(&head);
    text_free(&end);
}

static bool make_whole(Whole *w, uint32_t block) {
    const FlowBlock *head = &w->flow->blocks[block];
    if (!head->reached || head->ends != FLOW_BRANCH || head->successor_count != 2 || !w->values->parts[block] ||
        w->values->divergent[block])
        return false;
    const PtxStatement *branch = branch_of(w, head);
    if (was_copied(w, branch))
        return false;
    uint32_t meets = w->flow->edges[head->successors], next = w->flow->edges[head->successors + 1];
    const PtxOperand *target = &w->module->operands[branch->first + branch->count - 1];
    if (target->kind != PTX_TARGET || w->module->operands[branch->first].kind != PTX_REGISTER || meets == next ||
        w->flow->blocks[next].begin != head->end || !is_range(w, block, meets) || !any_whole(w, branch))
        return false;
    w->from = w->flow->instructions[head->end - 1] + 1;
    w->to = target->a;
    if (w->to <= w->from || w->flow->instructions[w->flow->blocks[meets].begin - 1] >= w->to || !is_text(w))
        return false;
    copy(w, branch, w->from - 1, target->a);
    return true;
}

/* ---- Loops that lanes leave in different turns -------------------------------------------------------------- */

/* A copy of a loop, for as long as all lanes of a warp go on: those of a warp that are left when some have ended go on
 * in the loop itself. */
static void copy_loop(const Whole *w, const PtxStatement *branch, uint32_t statement, uint32_t label) {
    const PtxFunction *function = &w->module->functions[w->flow->function];
    Str text = {w->module->source->data + branch->begin, branch->end - branch->begin}, guard = straight_guard(text);
    Str name = ptx_name(w->module, w->module->statements[label].what);
    const char *not = branch->flags & PTX_NEGATED ? "!" : "";
    Text head = {0}, latch = {0}, end = {0};
    text_addf(&head, "bra $weir_whole%u; %.*s:", w->round, (int)name.size, name.data);
    ptx_edit_replace(w->edits, label, (Str){head.data, head.size});
    text_addf(&latch, "%.*s $weir_behind%u:", (int)text.size, text.data, w->round);
    ptx_edit_replace(w->edits, statement, (Str){latch.data, latch.size});
    say_copies(w, &end);
    text_addf(&end, "\n\t{ .reg .pred %" WHOLE_VOTE "%u; ", w->round);
    text_addf(&end, "vote.sync.all.pred %" WHOLE_VOTE "%u, %s%.*s, 0xffffffff; ", w->round, not, (int)guard.size,
              guard.data);
    text_addf(&end, "@%" WHOLE_VOTE "%u bra $weir_whole%u; }", w->round, w->round);
    text_addf(&end, "\n\t@%s%.*s bra %.*s;\n\tbra $weir_behind%u;", not, (int)guard.size, guard.data, (int)name.size,
              name.data, w->round);
    ptx_edit_before(w->edits, function->end - 1, (Str){end.data, end.size});
    text_free(&head);
    text_free(&latch);
    text_free(&end);
}

/* Whether what memory held decides a value: a loop that it ends may wait for others. */
static bool comes_from_memory(const Whole *w, uint32_t value, bool *seen) {
    const PtxFlow *flow = w->flow;
    if (value == PTX_NONE || seen[value])
        return false;
    seen[value] = true;
    const FlowValue *of = &flow->values[value];
    for (uint32_t i = 0; of->kind == VALUE_PHI && i < flow->blocks[of->block].predecessor_count; i++)
        if (comes_from_memory(w, flow->inputs[of->inputs + i], seen))
            return true;
    if (of->kind != VALUE_RESULT)
        return false;
    const PtxStatement *by = &w->module->statements[flow->instructions[of->instruction]];
    if (w->module->forms[by->what].effect_count || comes_from_memory(w, of->before, seen))
        return true;
    for (uint32_t i = 0; i < by->count; i++) {
        uint32_t read = flow_value(flow, by->first + i);
        if (read != value && comes_from_memory(w, read, seen))
            return true;
    }
    return false;
}

/* Whether all that a loop does, turn by turn, is to access memory: nothing in it waits, and no loop is in it. */
static bool goes_through(const Whole *w, uint32_t loop, uint32_t begin, uint32_t end) {
    PtxEffect effects[PTX_EFFECTS_MOST];
    bool acts = false;
    for (uint32_t i = begin; i < end; i++) {
        const PtxStatement *statement = &w->module->statements[w->flow->instructions[i]];
        unsigned count =
            w->module->forms[statement->what].effect_count ? ptx_effects_of(w->module, statement, effects) : 0;
        if (w->flow->blocks[w->flow->block_of[i]].loop != loop)
            return false;
        for (unsigned k = 0; k < count; k++)
            if (!straight_effect(&effects[k]))
                return false;
        acts |= count > 0;
    }
    return acts;
}

static bool make_loop(Whole *w, uint32_t loop) {
    const PtxFlow *flow = w->flow;
    const PtxBlockShape *shape = &w->values->shape;
    uint32_t before, latch = latch_of(w, loop, &before), header = flow->loops[loop].header;
    uint32_t threads = shape->x * shape->y * shape->z;
    if (latch == PTX_NONE || !w->values->parts[latch] || w->values->divergent[before] || !threads || threads % FULL ||
        flow->blocks[before].end != flow->blocks[header].begin)
        return false;
    const FlowBlock *from = &flow->blocks[before];
    const PtxStatement *branch = branch_of(w, &flow->blocks[latch]);
    const PtxOperand *target = &w->module->operands[branch->first + branch->count - 1];
    bool falls = from->ends == FLOW_NEXT ||
                 (from->ends == FLOW_BRANCH && from->successor_count == 2 && flow->edges[from->successors] != header);
    if (!falls || target->kind != PTX_TARGET || w->module->operands[branch->first].kind != PTX_REGISTER)
        return false;
    bool *seen = calloc(flow->value_count + 1, sizeof *seen);
    bool waits = !seen || comes_from_memory(w, flow_value(flow, branch->first), seen);
    free(seen);
    w->from = target->a + 1;
    w->to = flow->instructions[flow->blocks[latch].end - 1];
    if (waits || !goes_through(w, loop, flow->blocks[header].begin, flow->blocks[latch].end - 1) || w->to <= w->from ||
        !is_text(w))
        return false;
    copy_loop(w, branch, w->to, target->a);
    return true;
}

/* Whether a part of a warp may wait, for others of it, too: then these must not be made to wait for it at a vote. */
static bool waits_for_some(const Whole *w) {
    PtxEffect effects[PTX_EFFECTS_MOST];
    for (uint32_t i = 0; i < w->flow->instruction_count; i++) {
        const PtxStatement *statement = &w->module->statements[w->flow->instructions[i]];
        const PtxForm *form = &w->module->forms[statement->what];
        bool some = w->values->divergent[w->flow->block_of[i]] || statement->flags & PTX_GUARDED;
        unsigned count = form->effect_count && some ? ptx_effects_of(w->module, statement, effects) : 0;
        for (unsigned k = 0; k < count; k++)
            if (effects[k].effect.verb == EFFECT_WARP_SYNC || effects[k].effect.verb == EFFECT_WAIT ||
                effects[k].effect.verb == EFFECT_CLUSTER_WAIT || effect_is_named(&effects[k].effect) ||
                effects[k].effect.verb == EFFECT_CTA_BARRIER)
                return true;
        if (form->evaluator == PTX_EVALUATE_CALL)
            return true;
    }
    return false;
}

bool whole_function(PtxEdits *edits, const PtxModule *module, uint32_t function, const uint32_t block[3],
                    unsigned round) {
    PtxFlow flow;
    PtxValues values;
    const char *problem;
    bool made = false;
    PtxBlockShape shape = {.x = block[0], .y = block[1], .z = block[2]};
    if (!ptx_flow_values(&flow, &values, module, function, &shape, 0, &problem))
        return false;
    Whole w = {.edits = edits, .module = module, .flow = &flow, .values = &values, .round = round};
    bool can = !flow.unknown_count && !waits_for_some(&w);
    for (uint32_t i = 0; can && !made && i < flow.block_count; i++)
        made = make_whole(&w, i);
    for (uint32_t i = 0; can && !made && i < flow.loop_count; i++)
        made = make_loop(&w, i);
    ptx_flow_values_free(&flow, &values);
    return made;
}
