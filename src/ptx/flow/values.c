/* Values of registers: each block is gone through with the values that its dominator left, and what is left of a
 * register at its end goes into the phis behind it. Phis that nothing reads are dropped at the end.
 *
 * Results are numbered in the order of the text; behind them come arguments, phis in the order of their blocks, and
 * what stands for registers that were never written. While values are found, the latter two are all there, needed or
 * not. */
#include "ptx/flow/internal.h"

typedef struct ValueChange {
    uint32_t number, value; /* a register, and what it had before */
} ValueChange;

typedef struct Naming {
    FlowMaker *m;
    PtxFlow *flow;
    Phis phis;
    uint32_t first_argument, first_phi, first_undefined, end; /* values, while they are found */
    uint32_t *befores;                                        /* of each result */
    uint32_t *inputs_at;                                      /* of each phi: its first input */
    uint32_t *inputs;                                         /* of phis */
    uint32_t *now;                                            /* of each register: its value; PTX_NONE: it has none */
    uint32_t next_result;
    bool *read;        /* of each phi, and each that is undefined */
    uint32_t *numbers; /* ... its number at the end */
    uint32_t *phi_blocks;
    ValueChange *changes;
    uint32_t change_count, change_capacity;
} Naming;

static uint32_t value_now(const Naming *n, uint32_t number) {
    return n->now[number] == PTX_NONE ? n->first_undefined + number : n->now[number];
}

/* The same, and it is read. */
static uint32_t read_value(Naming *n, uint32_t number) {
    uint32_t value = value_now(n, number);
    if (value >= n->first_phi)
        n->read[value - n->first_phi] = true;
    return value;
}

static void set_value(Naming *n, uint32_t number, uint32_t value) {
    *ARENA_PUSH(&n->m->scratch, n->changes, n->change_count, n->change_capacity) =
        (ValueChange){number, n->now[number]};
    n->now[number] = value;
}

static void take_back(Naming *n, uint32_t changes) {
    while (n->change_count > changes) {
        const ValueChange *change = &n->changes[--n->change_count];
        n->now[change->number] = change->value;
    }
}

/* ---- Instructions and blocks ------------------------------------------------------------------------------------- */

/* All is read before anything is written. Until the end a written operand keeps the mark that it is one. */
static void name_instruction(Naming *n, const PtxStatement *statement) {
    uint32_t *values = n->flow->operand_values + (statement->first - n->flow->first_operand), writes = 0;
    for (uint32_t i = 0; i < statement->count; i++) {
        if (values[i] == PTX_NONE)
            continue;
        if (values[i] & REGISTER_WRITTEN)
            writes++;
        else
            values[i] = read_value(n, values[i]);
    }
    for (uint32_t i = 0; writes; i++) {
        if (values[i] == PTX_NONE || !(values[i] & REGISTER_WRITTEN))
            continue;
        uint32_t number = values[i] & REGISTER_NUMBER, result = n->next_result++;
        n->befores[result] = values[i] & REGISTER_KEPT ? read_value(n, number) : PTX_NONE;
        values[i] = result | REGISTER_WRITTEN;
        set_value(n, number, result);
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
        set_value(n, n->phis.registers[i], n->first_phi + i);
    n->next_result = n->m->first_writes[index];
    for (uint32_t i = block->begin; i < block->end; i++)
        name_instruction(n, &n->m->module->statements[n->flow->instructions[i]]);
    for (uint32_t k = 0; block->reached && k < block->successor_count; k++)
        hand_on(n, block->successors + k);
}

/* Down the tree of dominators; what a block changed is taken back behind all that it dominates. */
static void name_blocks(Naming *n) {
    PtxFlow *flow = n->flow;
    uint32_t count = flow->order_count, *tree = graph_numbers(&n->m->scratch, count), depth = 0;
    uint32_t *open = graph_numbers(&n->m->scratch, count), *marks = graph_numbers(&n->m->scratch, count);
    for (uint32_t i = 0; i < count; i++)
        tree[flow->blocks[flow->order[i]].tree_begin] = flow->order[i];
    for (uint32_t i = 0; i < count; i++) {
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

static void start_phis(Naming *n) {
    uint64_t inputs = 0;
    n->inputs_at = graph_numbers(&n->m->scratch, n->phis.count);
    n->phi_blocks = graph_numbers(&n->m->scratch, n->phis.count);
    for (uint32_t block = 0; block < n->flow->block_count; block++) {
        for (uint32_t i = n->phis.at[block]; i < n->phis.at[block + 1]; i++) {
            n->phi_blocks[i] = block;
            n->inputs_at[i] = (uint32_t)inputs;
            inputs += n->flow->blocks[block].predecessor_count;
        }
        if (inputs >= UINT32_MAX)
            longjmp(*n->m->scratch.exhausted, 1);
    }
    n->inputs = graph_numbers(&n->m->scratch, (uint32_t)inputs);
}

static void start_names(Naming *n) {
    const PtxFunction *function = &n->m->module->functions[n->flow->function];
    Arena *scratch = &n->m->scratch;
    uint32_t registers = n->m->register_count, results = n->m->write_count, arguments = 0;
    n->now = graph_nones(scratch, registers);
    n->befores = graph_numbers(scratch, results);
    for (uint32_t i = 0; i < function->parameter_count; i++)
        if (parameter_register(n->m, i) != PTX_NONE)
            n->now[parameter_register(n->m, i)] = results + arguments++;
    if ((uint64_t)results + arguments + n->phis.count + registers >= REGISTER_NUMBER)
        longjmp(*scratch->exhausted, 1);
    n->first_argument = results;
    n->first_phi = results + arguments;
    n->first_undefined = n->first_phi + n->phis.count;
    n->end = n->first_undefined + registers;
    n->read = ARENA_ARRAY(scratch, bool, n->end - n->first_phi);
    start_phis(n);
}

/* ---- What is read
 * ---------------------------------------------------------------------------------------------------- */

/* What goes into a phi that is read is read, too. */
static void spread_reads(Naming *n) {
    uint32_t *work = graph_numbers(&n->m->scratch, n->phis.count), count = 0;
    for (uint32_t i = 0; i < n->phis.count; i++)
        if (n->read[i])
            work[count++] = i;
    while (count) {
        uint32_t phi = work[--count], inputs = n->flow->blocks[n->phi_blocks[phi]].predecessor_count;
        for (uint32_t k = 0; k < inputs; k++) {
            uint32_t value = n->inputs[n->inputs_at[phi] + k];
            if (value < n->first_phi || n->read[value - n->first_phi])
                continue;
            n->read[value - n->first_phi] = true;
            if (value < n->first_undefined)
                work[count++] = value - n->first_phi;
        }
    }
}

/* ---- Values at the end
 * ----------------------------------------------------------------------------------------------- */

static uint32_t final_number(const Naming *n, uint32_t value) {
    return value >= n->first_phi && value != PTX_NONE ? n->numbers[value - n->first_phi] : value;
}

static void keep_results(Naming *n, uint32_t index) {
    PtxFlow *flow = n->flow;
    const FlowBlock *block = &flow->blocks[index];
    for (uint32_t i = block->begin; i < block->end; i++) {
        const PtxStatement *statement = &n->m->module->statements[flow->instructions[i]];
        uint32_t *values = flow->operand_values + (statement->first - flow->first_operand);
        for (uint32_t k = 0; k < statement->count; k++) {
            if (values[k] == PTX_NONE)
                continue;
            if (!(values[k] & REGISTER_WRITTEN)) {
                values[k] = final_number(n, values[k]);
                continue;
            }
            values[k] &= REGISTER_NUMBER;
            const PtxOperand *operand = &n->m->module->operands[statement->first + k];
            flow->values[values[k]] = (FlowValue){.kind = VALUE_RESULT,
                                                  .variable = operand->a,
                                                  .index = (uint32_t)operand->value,
                                                  .block = index,
                                                  .instruction = i,
                                                  .operand = statement->first + k,
                                                  .before = final_number(n, n->befores[values[k]]),
                                                  .inputs = PTX_NONE};
        }
    }
}

/* One that no instruction writes. */
static void keep_other(Naming *n, ValueKind kind, uint32_t variable, uint32_t index, uint32_t block) {
    n->flow->values[n->flow->value_count++] = (FlowValue){.kind = kind,
                                                          .variable = n->m->first_variable + variable,
                                                          .index = index,
                                                          .block = block,
                                                          .instruction = PTX_NONE,
                                                          .operand = PTX_NONE,
                                                          .before = PTX_NONE,
                                                          .inputs = PTX_NONE};
}

/* The variable of each register, from the function's first one on. */
static uint32_t *register_variables(FlowMaker *m) {
    uint32_t *variables = graph_numbers(&m->scratch, m->register_count);
    for (uint32_t i = 0; i < m->variable_count; i++) {
        uint32_t end = i + 1 < m->variable_count ? m->bases[i + 1] : m->register_count;
        for (uint32_t k = m->bases[i]; k < end; k++)
            variables[k] = i;
    }
    return variables;
}

static void keep_others(Naming *n) {
    const PtxFunction *function = &n->m->module->functions[n->flow->function];
    const uint32_t *variables = register_variables(n->m), *bases = n->m->bases;
    for (uint32_t i = 0; i < function->parameter_count; i++)
        if (parameter_register(n->m, i) != PTX_NONE)
            keep_other(n, VALUE_ARGUMENT, function->parameters + i - n->m->first_variable, 0, 0);
    for (uint32_t i = 0; i < n->end - n->first_phi; i++) {
        bool phi = i < n->phis.count;
        uint32_t number = phi ? n->phis.registers[i] : i - n->phis.count;
        n->numbers[i] = n->flow->value_count;
        if (n->read[i])
            keep_other(n, phi ? VALUE_PHI : VALUE_UNDEFINED, variables[number], number - bases[variables[number]],
                       phi ? n->phi_blocks[i] : 0);
    }
}

static void keep_inputs(Naming *n) {
    PtxFlow *flow = n->flow;
    uint32_t total = 0, at = 0;
    for (uint32_t i = 0; i < n->phis.count; i++)
        total += n->read[i] ? flow->blocks[n->phi_blocks[i]].predecessor_count : 0;
    flow->inputs = graph_numbers(&flow->arena, total);
    for (uint32_t i = 0; i < n->phis.count; i++) {
        if (!n->read[i])
            continue;
        FlowBlock *block = &flow->blocks[n->phi_blocks[i]];
        flow->values[n->numbers[i]].inputs = at;
        block->phi_count++;
        for (uint32_t k = 0; k < block->predecessor_count; k++)
            flow->inputs[at++] = final_number(n, n->inputs[n->inputs_at[i] + k]);
    }
}

static void keep_values(Naming *n) {
    PtxFlow *flow = n->flow;
    uint32_t count = n->first_phi;
    for (uint32_t i = 0; i < n->end - n->first_phi; i++)
        count += n->read[i];
    flow->values = arena_alloc(&flow->arena, sizeof *flow->values * (size_t)count);
    flow->value_count = n->first_argument;
    n->numbers = graph_numbers(&n->m->scratch, n->end - n->first_phi);
    keep_others(n);
    keep_inputs(n);
    for (uint32_t i = 0; i < flow->block_count; i++) {
        uint32_t first = n->phis.at[i];
        flow->blocks[i].phis = first < n->phis.count ? n->numbers[first] : flow->value_count;
        keep_results(n, i);
    }
}

void make_values(FlowMaker *m) {
    make_registers(m);
    Naming n = {.m = m, .flow = m->flow, .phis = place_phis(m)};
    start_names(&n);
    name_blocks(&n);
    spread_reads(&n);
    keep_values(&n);
}
