/* Where threads that went apart at a branch come in by different edges.
 *
 * From a branch, each way out of it is followed with a label of its own, in the order of the blocks; where two labels
 * meet, values from different edges may meet, and a new label begins. It is over when one label alone is left: then all
 * that are still on the way are together. Ways that leave a loop around the branch, while others stay in it, do so in
 * different turns: then each edge that leaves the loop is a way of its own. */
#include "ptx/value/internal.h"

static void push(ValueControl *c, uint32_t place) {
    uint32_t at = c->heap_count++;
    while (at && c->heap[(at - 1) / 2] > place) {
        c->heap[at] = c->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    c->heap[at] = place;
}

static uint32_t pop(ValueControl *c) {
    uint32_t least = c->heap[0], last = c->heap[--c->heap_count], at = 0;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= c->heap_count)
            break;
        if (child + 1 < c->heap_count && c->heap[child + 1] < c->heap[child])
            child++;
        if (c->heap[child] >= last)
            break;
        c->heap[at] = c->heap[child];
        at = child;
    }
    c->heap[at] = last;
    return least;
}

/* ---- One branch -------------------------------------------------------------------------------------------- */

typedef struct Spread {
    ValueSolver *s;
    ValueControl *c;
    FormSpan span;
    uint32_t loop; /* the innermost around the branch that is not left yet; PTX_NONE */
    /* Labels that came to the loop's header or left the loop: the first, and whether there was another. */
    uint32_t gone;
    bool several, left;
} Spread;

static void join_at(Spread *spread, uint32_t block) {
    ValueSolver *s = spread->s;
    if (s->control.joins[block] >= spread->span)
        return;
    s->control.joins[block] = (uint8_t)spread->span;
    const FlowBlock *at = &s->flow->blocks[block];
    for (uint32_t i = 0; i < at->phi_count; i++)
        s->waiting[s->flow->instruction_count + at->phis + i] = true;
    s->any_waiting |= at->phi_count > 0;
}

static void set_label(Spread *spread, uint32_t block, uint32_t label) {
    ValueControl *c = spread->c;
    if (c->labels[block] == PTX_NONE) {
        c->touched[c->touched_count++] = block;
        c->labels[block] = label;
    } else if (c->labels[block] != label) {
        join_at(spread, block);
        c->labels[block] = block;
    }
}

static void note_gone(Spread *spread, uint32_t label) {
    spread->several |= spread->gone != PTX_NONE && spread->gone != label;
    spread->gone = label;
}

static void follow(Spread *spread, uint32_t from, uint32_t to, uint32_t label) {
    ValueControl *c = spread->c;
    const PtxFlow *flow = spread->s->flow;
    if (spread->loop != PTX_NONE && !loop_has(flow, spread->loop, to)) {
        note_gone(spread, label);
        spread->left = true;
        return;
    }
    uint32_t before = c->labels[to];
    set_label(spread, to, label);
    if (spread->loop != PTX_NONE && to == flow->loops[spread->loop].header)
        note_gone(spread, label); /* one more turn */
    else if (before == PTX_NONE || (c->labels[to] != before && c->place[to] <= c->place[from]))
        push(c, c->place[to]); /* again, if it is of a loop that was entered in several places */
}

/* Whether one label alone is on its way. */
static bool one_label(const Spread *spread) {
    const ValueControl *c = spread->c;
    const uint32_t *order = spread->s->flow->order;
    uint32_t label = spread->gone;
    if (spread->several)
        return false;
    if (c->heap_count > 64) /* it will be seen later */
        return false;
    for (uint32_t i = 0; i < c->heap_count; i++) {
        uint32_t own = c->labels[order[c->heap[i]]];
        if (label != PTX_NONE && own != label)
            return false;
        label = own;
    }
    return true;
}

/* Until no thread is on the way within the loop; false if all came together again. */
static bool follow_all(Spread *spread) {
    ValueControl *c = spread->c;
    const PtxFlow *flow = spread->s->flow;
    while (c->heap_count) {
        if (one_label(spread))
            return false;
        uint32_t block = flow->order[pop(c)], label = c->labels[block];
        const FlowBlock *at = &flow->blocks[block];
        for (uint32_t i = 0; i < at->successor_count; i++)
            follow(spread, block, flow->edges[at->successors + i], label);
    }
    return spread->several && spread->left;
}

static void clear(ValueControl *c) {
    while (c->touched_count)
        c->labels[c->touched[--c->touched_count]] = PTX_NONE;
    c->heap_count = 0;
}

/* Values that were made in a loop are less outside of it. */
static void note_turns(ValueSolver *s, uint32_t loop) {
    const PtxFlow *flow = s->flow;
    for (uint32_t b = 0; b < flow->block_count; b++) {
        if (!loop_has(flow, loop, b))
            continue;
        const FlowBlock *block = &flow->blocks[b];
        for (uint32_t i = 0; i < block->phi_count; i++)
            note_users(s, block->phis + i);
        for (uint32_t i = block->begin; i < block->end; i++) {
            const PtxStatement *statement = &s->module->statements[flow->instructions[i]];
            for (uint32_t k = 0; k < statement->count; k++) {
                uint32_t value = flow_value(flow, statement->first + k);
                if (value != PTX_NONE && flow->values[value].operand == statement->first + k)
                    note_users(s, value);
            }
        }
    }
}

/* Threads leave a loop in different turns: every edge out of it is a way of its own. */
static void leave_loop(Spread *spread) {
    ValueSolver *s = spread->s;
    uint32_t loop = spread->loop;
    if (s->values->turns[loop] < spread->span) {
        s->values->turns[loop] = (uint8_t)spread->span;
        note_turns(s, loop);
    }
    spread->loop = s->flow->loops[loop].outer;
    spread->gone = PTX_NONE;
    spread->several = spread->left = false;
    for (uint32_t i = s->control.exits[loop]; i != PTX_NONE; i = s->control.leaving[i].next) {
        const LoopExit *exit = &s->control.leaving[i];
        /* Two edges to one block meet there. */
        if (spread->c->labels[exit->to] != PTX_NONE)
            join_at(spread, exit->to);
        follow(spread, exit->from, exit->to, exit->to);
    }
}

static void spread_from(ValueSolver *s, uint32_t block, FormSpan span) {
    const PtxFlow *flow = s->flow;
    const FlowBlock *at = &flow->blocks[block];
    Spread spread = {.s = s, .c = &s->control, .span = span, .loop = at->loop, .gone = PTX_NONE};
    for (uint32_t i = 0; i < at->successor_count; i++) {
        uint32_t to = flow->edges[at->successors + i];
        /* Both ways may lead to one block. */
        if (spread.c->labels[to] == to)
            join_at(&spread, to);
        follow(&spread, block, to, to);
    }
    while (follow_all(&spread) && spread.loop != PTX_NONE) {
        clear(spread.c);
        leave_loop(&spread);
    }
    clear(spread.c);
}

/* In a loop with several entries turns are not told apart: all that can differ is taken to. */
static void spread_irreducible(ValueSolver *s, FormSpan span) {
    const PtxFlow *flow = s->flow;
    Spread spread = {.s = s, .c = &s->control, .span = span};
    for (uint32_t b = 0; b < flow->block_count; b++)
        if (flow->blocks[b].predecessor_count > 1)
            join_at(&spread, b);
    for (uint32_t l = 0; l < flow->loop_count; l++)
        if (s->values->turns[l] < span) {
            s->values->turns[l] = (uint8_t)span;
            note_turns(s, l);
        }
}

void control_note(ValueSolver *s, uint32_t block, FormSpan span) {
    if (span <= (FormSpan)s->values->ends[block])
        return;
    s->values->ends[block] = (uint8_t)span;
    bool irreducible = false;
    for (uint32_t loop = s->flow->blocks[block].loop; loop != PTX_NONE; loop = s->flow->loops[loop].outer)
        irreducible |= s->flow->loops[loop].irreducible;
    if (irreducible)
        spread_irreducible(s, span);
    spread_from(s, block, span);
}

/* ---- At the start and at the end --------------------------------------------------------------------------------- */

static void find_exits(ValueSolver *s, bool count, uint32_t *total) {
    const PtxFlow *flow = s->flow;
    for (uint32_t k = 0; k < flow->order_count; k++) {
        uint32_t from = flow->order[k];
        const FlowBlock *block = &flow->blocks[from];
        for (uint32_t i = 0; i < block->successor_count; i++) {
            uint32_t to = flow->edges[block->successors + i];
            for (uint32_t loop = block->loop; loop != PTX_NONE && !loop_has(flow, loop, to);
                 loop = flow->loops[loop].outer) {
                if (!count) {
                    s->control.leaving[*total] = (LoopExit){from, to, s->control.exits[loop]};
                    s->control.exits[loop] = *total;
                }
                ++*total;
            }
        }
    }
}

static uint32_t *nones(Arena *arena, uint32_t count) {
    uint32_t *numbers = arena_alloc(arena, sizeof(uint32_t) * ((size_t)count + 1));
    memset(numbers, 0xff, sizeof(uint32_t) * ((size_t)count + 1));
    return numbers;
}

void control_start(ValueSolver *s) {
    const PtxFlow *flow = s->flow;
    ValueControl *c = &s->control;
    c->joins = ARENA_ARRAY(&s->scratch, uint8_t, flow->block_count);
    c->place = nones(&s->scratch, flow->block_count);
    c->labels = nones(&s->scratch, flow->block_count);
    c->heap = nones(&s->scratch, 2 * flow->block_count);
    c->touched = nones(&s->scratch, flow->block_count);
    c->exits = nones(&s->scratch, flow->loop_count);
    for (uint32_t i = 0; i < flow->order_count; i++)
        c->place[flow->order[i]] = i;
    uint32_t count = 0;
    find_exits(s, true, &count);
    c->leaving = ARENA_ARRAY(&s->scratch, LoopExit, count + 1);
    count = 0;
    find_exits(s, false, &count);
}

/* The blocks between a branch and where its ways meet; `marked` leads from those that are marked up to one that is not.
 */
typedef struct Marking {
    const PtxFlow *flow;
    bool *divergent;
    uint32_t *marked, *depth, *work;
    uint32_t count;
} Marking;

static uint32_t unmarked(Marking *m, uint32_t block) {
    uint32_t top = block;
    while (top != PTX_NONE && m->divergent[top])
        top = m->marked[top];
    while (block != top) {
        uint32_t next = m->marked[block];
        m->marked[block] = top;
        block = next;
    }
    return top;
}

static void mark(Marking *m, uint32_t block) {
    m->divergent[block] = true;
    m->marked[block] = m->flow->blocks[block].meets;
    m->work[m->count++] = block;
}

static void mark_ways(Marking *m, uint32_t branch) {
    const FlowBlock *block = &m->flow->blocks[branch];
    uint32_t limit = block->meets == PTX_NONE ? 0 : m->depth[block->meets];
    for (uint32_t i = 0; i < block->successor_count; i++) {
        uint32_t to = m->flow->edges[block->successors + i], at = unmarked(m, to);
        if (limit && to != block->meets && m->flow->blocks[to].meets == PTX_NONE) { /* it ends in a trap */
            if (at == to)
                mark(m, to);
            continue;
        }
        for (; at != PTX_NONE && m->depth[at] > limit; at = unmarked(m, at))
            mark(m, at);
    }
}

/* How many blocks lie between each and the end, in the tree of those where ways meet. */
static void find_depths(Marking *m) {
    for (uint32_t i = 0; i < m->flow->block_count; i++) {
        uint32_t length = 0, at = i;
        for (; at != PTX_NONE && !m->depth[at]; at = m->flow->blocks[at].meets)
            m->work[length++] = at;
        uint32_t depth = at == PTX_NONE ? 0 : m->depth[at];
        while (length)
            m->depth[m->work[--length]] = ++depth;
    }
}

void control_finish(ValueSolver *s) {
    const PtxFlow *flow = s->flow;
    Marking marking = {.flow = flow, .divergent = s->values->divergent}, *m = &marking;
    m->marked = nones(&s->scratch, flow->block_count);
    m->work = nones(&s->scratch, flow->block_count);
    m->depth = ARENA_ARRAY(&s->scratch, uint32_t, flow->block_count);
    find_depths(m);
    for (uint32_t i = 0; i < flow->block_count; i++) {
        s->values->parts[i] = s->values->ends[i] == SPAN_NONE;
        if (s->values->parts[i])
            mark_ways(m, i);
    }
    while (m->count)
        mark_ways(m, m->work[--m->count]);
}
