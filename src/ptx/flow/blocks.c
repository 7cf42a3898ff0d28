/* Instructions, blocks and edges. */
#include "ptx/flow/internal.h"

/* ---- Where an instruction goes ----------------------------------------------------------------------------- */

/* What a call calls, or the prototype of it; NULL: it is not known. */
static const PtxFunction *callee_of(const PtxModule *module, const PtxStatement *statement) {
    for (uint32_t i = 0; i < statement->count; i++) {
        const PtxOperand *operand = &module->operands[statement->first + i];
        if (operand->kind == PTX_CALLEE)
            return &module->functions[operand->a];
        if (operand->kind == PTX_LIST)
            i += operand->a;
        if (operand->kind != PTX_TARGET || operand->a + 1 >= module->statements_count)
            continue;
        const PtxStatement *behind = &module->statements[operand->a + 1];
        if (behind->kind == PTX_PROTOTYPE)
            return &module->functions[behind->what];
    }
    return NULL;
}

/* A call ends its block if what it calls does not return. */
static Going going_of_call(const PtxModule *module, const PtxStatement *statement) {
    const PtxFunction *callee = callee_of(module, statement);
    if (!callee || !callee->noreturn)
        return (Going){.next = true};
    bool stops = !callee->body && ptx_callee(ptx_name(module, callee->name)) == PTX_EVALUATE_STOP;
    return (Going){.ends = true, .next = (statement->flags & PTX_GUARDED) != 0, .over = true, .stops = stops};
}

static bool names_labels(const PtxModule *module, const PtxStatement *statement) {
    for (uint32_t i = 0; i < statement->count; i++)
        if (module->operands[statement->first + i].kind == PTX_TARGET)
            return true;
    return false;
}

Going going_of(const PtxModule *module, const PtxStatement *statement) {
    const PtxForm *form = &module->forms[statement->what];
    bool guarded = (statement->flags & PTX_GUARDED) != 0;
    switch (form->row ? (int)form->evaluator : -1) {
    case PTX_EVALUATE_JUMP:
    case PTX_EVALUATE_TABLE:
        return (Going){.ends = true, .next = guarded, .labelled = true};
    case PTX_EVALUATE_RETURN:
    case PTX_EVALUATE_EXIT:
        return (Going){.ends = true, .next = guarded, .over = true};
    case PTX_EVALUATE_STOP:
        return (Going){.ends = true, .next = guarded, .over = true, .stops = true};
    case PTX_EVALUATE_CALL:
        return going_of_call(module, statement);
    case -1:
        if (names_labels(module, statement))
            return (Going){.ends = true, .next = true, .labelled = true};
        return (Going){.next = true};
    default:
        return (Going){.next = true};
    }
}

/* The statement that lists labels behind the label of such a list; NULL if there is none. */
static const PtxStatement *label_list(const PtxModule *module, uint32_t label) {
    if (label + 1 >= module->statements_count)
        return NULL;
    const PtxStatement *behind = &module->statements[label + 1];
    bool lists = behind->kind == PTX_DIRECTIVE && behind->count && module->operands[behind->first].kind == PTX_TARGET;
    return lists ? behind : NULL;
}

/* Whether it goes on at labels that are not to be found. */
static bool lacks_labels(const PtxModule *module, const PtxStatement *statement) {
    bool table = module->forms[statement->what].evaluator == PTX_EVALUATE_TABLE;
    for (uint32_t i = 0; i < statement->count; i++) {
        const PtxOperand *operand = &module->operands[statement->first + i];
        if (operand->kind == PTX_TARGET)
            return table && !label_list(module, operand->a);
    }
    return true;
}

typedef void AtTarget(FlowMaker *m, uint32_t instruction, void *to);

static void each_label_of(FlowMaker *m, const PtxStatement *statement, AtTarget *at_target, void *to) {
    for (uint32_t i = 0; i < statement->count; i++) {
        const PtxOperand *operand = &m->module->operands[statement->first + i];
        if (operand->kind == PTX_TARGET)
            at_target(m, m->places[operand->a - m->statements], to);
    }
}

/* The instructions behind all labels that an instruction names, itself or by a list. */
static void each_target(FlowMaker *m, const PtxStatement *statement, AtTarget *at_target, void *to) {
    for (uint32_t i = 0; i < statement->count; i++) {
        const PtxOperand *operand = &m->module->operands[statement->first + i];
        const PtxStatement *list = operand->kind == PTX_TARGET ? label_list(m->module, operand->a) : NULL;
        if (list)
            each_label_of(m, list, at_target, to);
        else if (operand->kind == PTX_TARGET)
            at_target(m, m->places[operand->a - m->statements], to);
    }
}

/* ---- Instructions ------------------------------------------------------------------------------------------- */

static void list_instructions(FlowMaker *m) {
    PtxFlow *flow = m->flow;
    const PtxFunction *function = &m->module->functions[flow->function];
    const PtxStatement *statements = m->module->statements;
    m->statements = function->begin;
    m->places = arena_alloc(&m->scratch, sizeof(uint32_t) * (size_t)(function->end - function->begin + 1));
    flow->instructions = arena_alloc(&flow->arena, sizeof(uint32_t) * (size_t)(function->end - function->begin));
    for (uint32_t i = function->begin; i < function->end; i++) {
        m->places[i - m->statements] = flow->instruction_count;
        if (statements[i].kind == PTX_INSTRUCTION)
            flow->instructions[flow->instruction_count++] = i;
    }
}

static void note_unknown(PtxFlow *flow, uint32_t instruction) {
    if (!flow->unknown_count++)
        flow->first_unknown = instruction;
}

/* Where blocks begin: 1, and 2 of those that a jump leads to. */
enum { BEGINS = 1, LED_TO = 2 };

static void mark_target(FlowMaker *m, uint32_t instruction, void *to) {
    (void)m;
    ((uint8_t *)to)[instruction] |= LED_TO;
}

static uint8_t *mark_begins(FlowMaker *m) {
    PtxFlow *flow = m->flow;
    uint32_t count = flow->instruction_count;
    uint8_t *begins = ARENA_ARRAY(&m->scratch, uint8_t, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        const PtxStatement *statement = &m->module->statements[flow->instructions[i]];
        const PtxForm *form = &m->module->forms[statement->what];
        if (form->row && form->evaluator < PTX_EVALUATE_JUMP)
            continue; /* what nearly all do */
        Going going = going_of(m->module, statement);
        if (!form->row || (going.labelled && lacks_labels(m->module, statement)))
            note_unknown(flow, i);
        if (going.labelled)
            each_target(m, statement, mark_target, begins);
        if (going.ends && (i + 1 < count || going.next))
            begins[i + 1] |= BEGINS;
    }
    return begins;
}

/* ---- Blocks -------------------------------------------------------------------------------------------------- */

static void make_block_list(FlowMaker *m, const uint8_t *begins) {
    PtxFlow *flow = m->flow;
    uint32_t count = flow->instruction_count, blocks = 1 + (count && (begins[0] & LED_TO)) + (count && begins[count]);
    for (uint32_t i = 1; i < count; i++)
        blocks += begins[i] != 0;
    flow->blocks = ARENA_ARRAY(&flow->arena, FlowBlock, blocks);
    flow->block_of = arena_alloc(&flow->arena, sizeof(uint32_t) * ((size_t)count + 1));
    uint32_t at = 0;
    for (uint32_t i = 0; i <= count; i++) {
        if (i ? begins[i] != 0 : count && (begins[i] & LED_TO)) {
            flow->blocks[at].end = i;
            flow->blocks[++at].begin = i;
        }
        flow->block_of[i] = at;
    }
    flow->blocks[at].end = count;
    flow->block_count = at + 1;
}

typedef struct Edges {
    uint32_t *to, count, capacity;
} Edges;

static void add_edge(FlowMaker *m, uint32_t instruction, void *to) {
    Edges *edges = to;
    *ARENA_PUSH(&m->scratch, edges->to, edges->count, edges->capacity) = m->flow->block_of[instruction];
}

static void add_edges_of(FlowMaker *m, uint32_t index, Edges *edges) {
    PtxFlow *flow = m->flow;
    FlowBlock *block = &flow->blocks[index];
    Going going = {.next = true};
    const PtxStatement *statement = NULL;
    if (block->end > block->begin) {
        statement = &m->module->statements[flow->instructions[block->end - 1]];
        going = going_of(m->module, statement);
    }
    bool last = index + 1 == flow->block_count;
    block->successors = edges->count;
    if (going.labelled)
        each_target(m, statement, add_edge, edges);
    uint32_t labels = edges->count - block->successors;
    if (going.next && !last)
        *ARENA_PUSH(&m->scratch, edges->to, edges->count, edges->capacity) = index + 1;
    block->successor_count = edges->count - block->successors;
    if (!going.ends)
        block->ends = last ? FLOW_OVER : FLOW_NEXT;
    else if (!going.labelled)
        block->ends = going.next ? FLOW_BRANCH : FLOW_OVER;
    else if (m->module->forms[statement->what].evaluator == PTX_EVALUATE_JUMP && labels == 1)
        block->ends = going.next ? FLOW_BRANCH : FLOW_JUMP;
    else
        block->ends = FLOW_TABLE;
}

/* Edges of the flow: those to successors, and behind them those to predecessors. */
static void make_edges(FlowMaker *m) {
    PtxFlow *flow = m->flow;
    Edges edges = {0};
    Graph *graph = &m->graph;
    graph->count = flow->block_count;
    graph->next_at = arena_alloc(&m->scratch, sizeof(uint32_t) * ((size_t)flow->block_count + 1));
    for (uint32_t i = 0; i < flow->block_count; i++) {
        graph->next_at[i] = edges.count;
        add_edges_of(m, i, &edges);
    }
    graph->next_at[flow->block_count] = edges.count;
    graph->next = edges.to;
    m->walk = graph_walk(&m->scratch, graph, 0);
    graph_turn(&m->scratch, graph, &m->walk);
    uint32_t back = graph->back_at[flow->block_count];
    flow->edges = arena_alloc(&flow->arena, sizeof(uint32_t) * ((size_t)edges.count + back));
    if (edges.count)
        memcpy(flow->edges, edges.to, sizeof(uint32_t) * (size_t)edges.count);
    if (back)
        memcpy(flow->edges + edges.count, graph->back, sizeof(uint32_t) * (size_t)back);
    for (uint32_t i = 0; i < flow->block_count; i++) {
        flow->blocks[i].predecessors = edges.count + graph->back_at[i];
        flow->blocks[i].predecessor_count = graph->back_at[i + 1] - graph->back_at[i];
        flow->blocks[i].reached = m->walk.number[i] != PTX_NONE;
    }
}

void make_blocks(FlowMaker *m) {
    PtxFlow *flow = m->flow;
    list_instructions(m);
    make_block_list(m, mark_begins(m));
    make_edges(m);
    flow->order_count = m->walk.count;
    flow->order = arena_alloc(&flow->arena, sizeof(uint32_t) * (size_t)flow->order_count);
    for (uint32_t i = 0; i < flow->order_count; i++)
        flow->order[i] = m->walk.last[flow->order_count - 1 - i];
}
