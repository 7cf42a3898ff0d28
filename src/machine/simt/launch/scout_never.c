/* Conditions that depend on a thread's place in its block alone: there are so few of these that all can be tried. */
#include "machine/simt/launch/scout_internal.h"

/* ---- What a condition depends on ------------------------------------------------------------------ */

typedef struct Depends {
    const PtxScout *scout;
    bool *seen; /* of each value */
    uint32_t *work, count;
    bool thread[3], block[3];
    bool other; /* on something else */
} Depends;

static void depend(Depends *d, uint32_t value) {
    if (value == PTX_NONE || d->seen[value])
        return;
    d->seen[value] = true;
    d->work[d->count++] = value;
}

static void depend_on_special(Depends *d, const PtxOperand *operand) {
    const char *name = ptx_special_at(operand->a)->name;
    bool axis = operand->part >= PTX_X && operand->part <= PTX_Z;
    if (axis && strcmp(name, "%tid") == 0)
        d->thread[operand->part - PTX_X] = true;
    else if (axis && strcmp(name, "%ntid") == 0)
        d->block[operand->part - PTX_X] = true;
    else
        d->other = true;
}

/* All that a statement reads; what it writes is what is asked for. */
static void depend_on_statement(Depends *d, uint32_t instruction, uint32_t value) {
    const PtxFlow *flow = &d->scout->flow;
    const PtxStatement *statement = &flow->module->statements[flow->instructions[instruction]];
    uint32_t code = d->scout->program->routines[d->scout->program->entry].begin + instruction;
    d->other |= !d->scout->runs[code] || d->scout->program->code[code].form->evaluator == PTX_EVALUATE_LOAD ||
                d->scout->program->code[code].form->evaluator == PTX_EVALUATE_NONE;
    for (uint32_t i = statement->first; i < statement->first + statement->count; i++) {
        uint32_t read = flow_value(flow, i);
        if (read != value)
            depend(d, read);
        if (flow->module->operands[i].kind == PTX_SPECIAL)
            depend_on_special(d, &flow->module->operands[i]);
    }
}

static bool is_in_loop(const PtxFlow *flow, uint32_t block, uint32_t header) {
    for (uint32_t loop = flow->blocks[block].loop; loop != PTX_NONE; loop = flow->loops[loop].outer)
        if (flow->loops[loop].header == header)
            return true;
    return false;
}

/* Whether the way from the end of a block decides how often the loop iterates. */
static bool leaves(const PtxFlow *flow, uint32_t block, uint32_t header) {
    const FlowBlock *at = &flow->blocks[block];
    for (uint32_t i = 0; i < at->successor_count; i++)
        if (!is_in_loop(flow, flow->edges[at->successors + i], header))
            return true;
    return at->successor_count < 2;
}

/* Whether the way from the end of a block decides what comes to another, where several ways meet. */
static bool decides_way(const PtxFlow *flow, uint32_t block, uint32_t to) {
    const FlowBlock *at = &flow->blocks[to];
    uint32_t entries = 0;
    if (is_in_loop(flow, block, to))
        return leaves(flow, block, to);
    for (uint32_t i = 0; i < at->predecessor_count; i++)
        entries += !flow_dominates(flow, to, flow->edges[at->predecessors + i]);
    return entries > 1 && !flow_dominates(flow, to, block) &&
           (at->dominator == PTX_NONE || flow_dominates(flow, at->dominator, block));
}

/* What comes from two sides depends on the branches that lead here, and on those that leave its loop. */
static void depend_on_ways(Depends *d, uint32_t to) {
    const PtxFlow *flow = &d->scout->flow;
    for (uint32_t i = 0; i < flow->block_count; i++) {
        const FlowBlock *at = &flow->blocks[i];
        if (!at->reached || at->begin == at->end || (at->ends != FLOW_BRANCH && at->ends != FLOW_TABLE) ||
            !decides_way(flow, i, to))
            continue;
        const PtxStatement *last = &flow->module->statements[flow->instructions[at->end - 1]];
        d->other |= at->ends != FLOW_BRANCH;
        if (at->ends == FLOW_BRANCH)
            depend(d, flow_value(flow, last->first));
    }
}

static Depends depends_of(const PtxScout *scout, uint32_t operand) {
    const PtxFlow *flow = &scout->flow;
    Depends d = {.scout = scout,
                 .seen = ARENA_ARRAY(scout->arena, bool, flow->value_count + 1),
                 .work = ARENA_ARRAY(scout->arena, uint32_t, flow->value_count + 1)};
    depend(&d, flow_value(flow, operand));
    while (d.count && !d.other) {
        uint32_t value = d.work[--d.count];
        const FlowValue *at = &flow->values[value];
        if (at->kind == VALUE_RESULT) {
            depend(&d, at->before);
            depend_on_statement(&d, at->instruction, value);
        } else if (at->kind == VALUE_PHI) {
            for (uint32_t i = 0; i < flow->blocks[at->block].predecessor_count; i++)
                depend(&d, flow->inputs[at->inputs + i]);
            depend_on_ways(&d, at->block);
        } else {
            d.other = true;
        }
    }
    return d;
}

/* ---- All of them ---------------------------------------------------------------------------------- */

static bool is_usual_block(int64_t threads) {
    return threads % PTX_LANES == 0 || (threads & (threads - 1)) == 0;
}

/* The numbers that an axis takes: 1 alone if nothing depends on it. */
static int64_t most_of(bool depends, int64_t most) {
    return depends ? most : 1;
}

typedef struct Sweep {
    PtxScout *scout;
    uint32_t wanted;
    int64_t *from;
    bool whole; /* all were tried */
} Sweep;

static void send(Sweep *sweep, bool last) {
    PtxScout *scout = sweep->scout;
    if (!scout->sent || (!last && scout->sent < scout->lanes))
        return;
    sweep->whole &= scout->left > 0;
    if (sweep->whole)
        scout_run(scout, 0);
    sweep->whole &= scout->machine->used < scout->machine->budget;
    scout->sent = 0;
}

static void add_thread(Sweep *sweep, int64_t block, int64_t x, int64_t y) {
    PtxScout *scout = sweep->scout;
    int64_t *to = scout->candidates[scout->sent];
    memcpy(to, sweep->from, scout->count * sizeof *to);
    to[SCOUT_BLOCK] = block > x ? block : x + 1;
    to[SCOUT_BLOCK + 1] = y + 1;
    to[SCOUT_BLOCK + 2] = 1;
    to[SCOUT_THREAD] = x;
    to[SCOUT_THREAD + 1] = y;
    to[SCOUT_THREAD + 2] = 0;
    scout->sent++;
    send(sweep, false);
}

bool ptx_scout_never(PtxScout *scout, uint32_t code, bool way) {
    const PtxLaunch *like = scout->machine->launch;
    const PtxRoutine *routine = &scout->program->routines[scout->program->entry];
    uint32_t wanted = 2 * code + way, most[3];
    if (code < routine->begin || code - routine->begin >= scout->flow.instruction_count || !scout->known[wanted ^ 1])
        return false;
    const PtxStatement *statement = &scout->flow.module->statements[scout->flow.instructions[code - routine->begin]];
    bool choice = scout->program->code[code].form->evaluator == PTX_EVALUATE_SELP;
    Depends d = depends_of(scout, choice ? statement->first + statement->count - 1 : statement->first);
    if (d.other || d.thread[2] || d.block[1] || d.block[2] || (d.block[0] && d.thread[1]))
        return false;
    bool fixed = scout->program->required[0] || !like->chosen_block;
    int64_t limit = FORM_MOST_THREADS;
    if (ptx_header_numbers(scout->program->module, scout->program->entry, ".maxntid", most))
        limit = (int64_t)most[0] * most[1] * most[2];
    Sweep sweep = {scout, wanted, scout->known[wanted ^ 1], true};
    scout->sent = 0;
    for (int64_t block = 1; block <= most_of(d.block[0] && !fixed, limit) && sweep.whole; block++) {
        int64_t size = fixed ? like->block[0] : d.block[0] ? block : limit;
        if (d.block[0] && d.thread[0] && !fixed && !is_usual_block(size))
            continue;
        for (int64_t x = 0; x < most_of(d.thread[0], size) && sweep.whole; x++)
            for (int64_t y = 0; y < most_of(d.thread[1], fixed ? like->block[1] : limit / (x + 1)) && sweep.whole; y++)
                add_thread(&sweep, d.block[0] || fixed ? size : 1, x, y);
    }
    send(&sweep, true);
    return sweep.whole && !scout->known[wanted];
}
