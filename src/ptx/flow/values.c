/* Values of registers: each block is gone through with the values that its dominator left, and what is left of a
 * register at its end goes into the phis behind it. Phis that nothing reads are dropped at the end, and the others are
 * numbered with the results, in the order of the text. */
#include "ptx/flow/internal.h"

typedef struct Change {
    uint32_t number, value; /* a register, and what it had before */
} Change;

typedef struct Naming {
    Maker *m;
    PtxFlow *flow;
    Phis phis;
    uint32_t *inputs_at; /* of each phi: its first input */
    uint32_t *inputs;    /* of phis */
    uint32_t *now;       /* of each register: its value; PTX_NONE: it has none */
    uint32_t *undefined; /* of each register: the value that stands for none, if it is needed */
    uint32_t *variables; /* of each register: its variable, from the function's first one on */
    FlowValue *values;   /* phis first, as in `phis` */
    uint32_t count, capacity;
    Change *changes;
    uint32_t change_count, change_capacity;
    uint32_t *numbers; /* of each value: its number at the end; PTX_NONE: not yet, or dropped */
} Naming;

static uint32_t add_value(Naming *n, ValueKind kind, uint32_t number, uint32_t block) {
    FlowValue *value = ARENA_PUSH(&n->m->scratch, n->values, n->count, n->capacity);
    uint32_t variable = n->variables[number];
    *value = (FlowValue){.kind = kind,
                         .variable = n->m->first_variable + variable,
                         .index = number - n->m->bases[variable],
                         .block = block,
                         .instruction = PTX_NONE,
                         .operand = PTX_NONE,
                         .before = PTX_NONE,
                         .inputs = PTX_NONE};
    return n->count - 1;
}

static uint32_t value_now(Naming *n, uint32_t number) {
    if (n->now[number] != PTX_NONE)
        return n->now[number];
    if (n->undefined[number] == PTX_NONE)
        n->undefined[number] = add_value(n, VALUE_UNDEFINED, number, 0);
    return n->undefined[number];
}

static void set_value(Naming *n, uint32_t number, uint32_t value) {
    *ARENA_PUSH(&n->m->scratch, n->changes, n->change_count, n->change_capacity) = (Change){number, n->now[number]};
    n->now[number] = value;
}

static void take_back(Naming *n, uint32_t changes) {
    while (n->change_count > changes) {
        const Change *change = &n->changes[--n->change_count];
        n->now[change->number] = change->value;
    }
}

/* ---- Instructions and blocks ------------------------------------------------------------------------------------- */

/* All is read before anything is written. */
static void name_instruction(Naming *n, uint32_t instruction, uint32_t block) {
    PtxFlow *flow = n->flow;
    const PtxStatement *statement = &n->m->module->statements[flow->instructions[instruction]];
    uint32_t *values = flow->operand_values + (statement->first - flow->first_operand);
    uint32_t writes = 0;
    for (uint32_t i = 0; i < statement->count; i++) {
        if (values[i] == PTX_NONE)
            continue;
        if (values[i] & REGISTER_WRITTEN)
            writes++;
        else
            values[i] = value_now(n, values[i]);
    }
    for (uint32_t i = 0; writes; i++) {
        if (values[i] == PTX_NONE || !(values[i] & REGISTER_WRITTEN))
            continue;
        uint32_t number = values[i] & REGISTER_NUMBER;
        uint32_t before = values[i] & REGISTER_KEPT ? value_now(n, number) : PTX_NONE;
        values[i] = add_value(n, VALUE_RESULT, number, block);
        n->values[values[i]].instruction = instruction;
        n->values[values[i]].operand = statement->first + i;
        n->values[values[i]].before = before;
        set_value(n, number, values[i]);
        writes--;
    }
}

/* What the phis at the end of an edge get. */
static void hand_on(Naming *n, uint32_t edge) {
    uint32_t to = n->flow->edges[edge], place = n->m->graph.turned[edge] - n->m->graph.back_at[to];
    for (uint32_t i = n->phis.at[to]; i < n->phis.at[to + 1]; i++)
        n->inputs[n->inputs_at[i] + place] = value_now(n, n->phis.registers[i]);
}

static void name_block(Naming *n, uint32_t index) {
    const FlowBlock *block = &n->flow->blocks[index];
    for (uint32_t i = n->phis.at[index]; i < n->phis.at[index + 1]; i++)
        set_value(n, n->phis.registers[i], i);
    for (uint32_t i = block->begin; i < block->end; i++)
        name_instruction(n, i, index);
    for (uint32_t k = 0; block->reached && k < block->successor_count; k++)
        hand_on(n, block->successors + k);
}

/* Down the tree of dominators; what a block changed is taken back behind all that it dominates. */
static void name_blocks(Naming *n) {
    PtxFlow *flow = n->flow;
    uint32_t *tree = new_numbers(&n->m->scratch, flow->order_count), depth = 0;
    uint32_t *open = new_numbers(&n->m->scratch, flow->order_count),
             *marks = new_numbers(&n->m->scratch, flow->order_count);
    for (uint32_t i = 0; i < flow->order_count; i++)
        tree[flow->blocks[flow->order[i]].tree_begin] = flow->order[i];
    for (uint32_t i = 0; i < flow->order_count; i++) {
        while (depth && flow->blocks[open[depth - 1]].tree_end <= i)
            take_back(n, marks[--depth]);
        marks[depth] = n->change_count;
        open[depth++] = tree[i];
        name_block(n, tree[i]);
    }
    take_back(n, 0);
    for (uint32_t i = 0; i < flow->block_count; i++) {
        if (flow->blocks[i].reached)
            continue;
        name_block(n, i);
        take_back(n, 0);
    }
}

static void start_names(Naming *n) {
    const PtxFunction *function = &n->m->module->functions[n->flow->function];
    uint32_t registers = n->m->register_count, inputs = 0;
    n->now = new_nones(&n->m->scratch, registers);
    n->undefined = new_nones(&n->m->scratch, registers);
    n->variables = new_numbers(&n->m->scratch, registers);
    for (uint32_t i = 0; i < n->m->variable_count; i++) {
        uint32_t end = i + 1 < n->m->variable_count ? n->m->bases[i + 1] : registers;
        for (uint32_t k = n->m->bases[i]; k < end; k++)
            n->variables[k] = i;
    }
    n->inputs_at = new_numbers(&n->m->scratch, n->phis.count);
    for (uint32_t block = 0; block < n->flow->block_count; block++) {
        for (uint32_t i = n->phis.at[block]; i < n->phis.at[block + 1]; i++) {
            add_value(n, VALUE_PHI, n->phis.registers[i], block);
            n->inputs_at[i] = inputs;
            inputs += n->flow->blocks[block].predecessor_count;
            if (inputs > UINT32_MAX / 4)
                longjmp(*n->m->scratch.exhausted, 1);
        }
    }
    n->inputs = new_nones(&n->m->scratch, inputs);
    for (uint32_t i = 0; i < function->parameter_count; i++) {
        uint32_t number = parameter_register(n->m, i);
        if (number != PTX_NONE)
            n->now[number] = add_value(n, VALUE_ARGUMENT, number, 0);
    }
}

/* ---- What is read
 * ---------------------------------------------------------------------------------------------------- */

typedef struct Reading {
    bool *read; /* of each value */
    uint32_t *work, count;
} Reading;

static void note_read(Naming *n, Reading *r, uint32_t value) {
    if (value == PTX_NONE || r->read[value])
        return;
    r->read[value] = true;
    if (n->values[value].kind == VALUE_PHI)
        r->work[r->count++] = value;
}

static bool *find_read(Naming *n) {
    Reading r = {ARENA_ARRAY(&n->m->scratch, bool, n->count), new_numbers(&n->m->scratch, n->phis.count), 0};
    for (uint32_t i = 0; i < n->flow->operand_count; i++)
        if (n->flow->operand_values[i] != PTX_NONE)
            note_read(n, &r, n->flow->operand_values[i]);
    for (uint32_t i = n->phis.count; i < n->count; i++)
        note_read(n, &r, n->values[i].before);
    while (r.count) {
        uint32_t phi = r.work[--r.count];
        for (uint32_t k = 0; k < n->flow->blocks[n->values[phi].block].predecessor_count; k++)
            note_read(n, &r, n->inputs[n->inputs_at[phi] + k]);
    }
    return r.read;
}

/* ---- Numbers at the end
 * ------------------------------------------------------------------------------------------------ */

static void keep_value(Naming *n, uint32_t value) {
    n->numbers[value] = n->flow->value_count;
    n->flow->values[n->flow->value_count++] = n->values[value];
}

static void keep_block(Naming *n, uint32_t index, const bool *read) {
    PtxFlow *flow = n->flow;
    FlowBlock *block = &flow->blocks[index];
    block->phis = flow->value_count;
    for (uint32_t i = n->phis.at[index]; i < n->phis.at[index + 1]; i++)
        if (read[i])
            keep_value(n, i);
    block->phi_count = flow->value_count - block->phis;
    for (uint32_t i = block->begin; i < block->end; i++) {
        const PtxStatement *statement = &n->m->module->statements[flow->instructions[i]];
        const uint32_t *values = flow->operand_values + (statement->first - flow->first_operand);
        for (uint32_t k = 0; k < statement->count; k++)
            if (values[k] != PTX_NONE && n->values[values[k]].operand == statement->first + k)
                keep_value(n, values[k]);
    }
}

static void keep_inputs(Naming *n, const bool *read) {
    PtxFlow *flow = n->flow;
    uint32_t total = 0, at = 0;
    for (uint32_t i = 0; i < n->phis.count; i++)
        if (read[i])
            total += flow->blocks[n->values[i].block].predecessor_count;
    flow->inputs = arena_alloc(&flow->arena, sizeof(uint32_t) * (size_t)total);
    for (uint32_t i = 0; i < n->phis.count; i++) {
        if (!read[i])
            continue;
        flow->values[n->numbers[i]].inputs = at;
        for (uint32_t k = 0; k < flow->blocks[n->values[i].block].predecessor_count; k++)
            flow->inputs[at++] = n->numbers[n->inputs[n->inputs_at[i] + k]];
    }
}

static void keep_values(Naming *n) {
    PtxFlow *flow = n->flow;
    const bool *read = find_read(n);
    uint32_t count = 0;
    for (uint32_t i = 0; i < n->count; i++)
        count += read[i] || n->values[i].kind == VALUE_RESULT || n->values[i].kind == VALUE_ARGUMENT;
    flow->values = arena_alloc(&flow->arena, sizeof *flow->values * (size_t)count);
    n->numbers = new_nones(&n->m->scratch, n->count);
    for (uint32_t i = n->phis.count; i < n->count; i++)
        if (n->values[i].kind == VALUE_ARGUMENT || (n->values[i].kind == VALUE_UNDEFINED && read[i]))
            keep_value(n, i);
    for (uint32_t i = 0; i < flow->block_count; i++)
        keep_block(n, i, read);
    keep_inputs(n, read);
    for (uint32_t i = 0; i < flow->value_count; i++)
        if (flow->values[i].before != PTX_NONE)
            flow->values[i].before = n->numbers[flow->values[i].before];
    for (uint32_t i = 0; i < flow->operand_count; i++)
        if (flow->operand_values[i] != PTX_NONE)
            flow->operand_values[i] = n->numbers[flow->operand_values[i]];
}

void make_values(Maker *m) {
    make_registers(m);
    Naming n = {.m = m, .flow = m->flow, .phis = place_phis(m)};
    start_names(&n);
    name_blocks(&n);
    keep_values(&n);
}
