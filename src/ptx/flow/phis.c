/* Where phis are needed: at the dominance frontiers of what writes a register, if a block reads it that did not write
 * it before. A register that is written once, above all that reads it, needs none; nearly all are such. */
#include "ptx/flow/internal.h"

/* A block in one of the lists. */
typedef struct PhiLink {
    uint32_t block, next;
} PhiLink;

typedef struct PhiPlacing {
    FlowMaker *m;
    PhiLink *links;
    uint32_t link_count, link_capacity;
    /* By register. */
    uint32_t *writers;   /* blocks that write it */
    uint32_t *count;     /* of those */
    bool *shared;        /* a block reads what another has written */
    bool *loose;         /* ... and when it was read, no single writer dominated that block */
    uint32_t *frontiers; /* by block */
    PhiLink *phis;       /* of each: its block, and its register as `next` */
    uint32_t phi_count, phi_capacity;
} PhiPlacing;

static void add_link(PhiPlacing *p, uint32_t *list, uint32_t block) {
    PhiLink *link = ARENA_PUSH(&p->m->scratch, p->links, p->link_count, p->link_capacity);
    *link = (PhiLink){block, *list};
    *list = p->link_count - 1;
}

/* ---- Reads and writes ------------------------------------------------------------------------------------------ */

/* The last writer is the newest of the list; blocks come in reverse postorder, so what dominates one was before it. */
static void note_read(PhiPlacing *p, uint32_t number, uint32_t block) {
    uint32_t newest = p->writers[number];
    if (newest != PTX_NONE && p->links[newest].block == block)
        return;
    p->shared[number] = true;
    if (newest == PTX_NONE || p->links[newest].next != PTX_NONE ||
        !flow_dominates(p->m->flow, p->links[newest].block, block))
        p->loose[number] = true;
}

static void note_write(PhiPlacing *p, uint32_t number, uint32_t block) {
    uint32_t newest = p->writers[number];
    if (newest != PTX_NONE && p->links[newest].block == block)
        return;
    add_link(p, &p->writers[number], block);
    p->count[number]++;
}

static void note_instruction(PhiPlacing *p, const PtxStatement *statement, uint32_t block) {
    const uint32_t *values = p->m->flow->operand_values + (statement->first - p->m->flow->first_operand);
    bool any = false;
    for (uint32_t i = 0; i < statement->count; i++) {
        if (values[i] == PTX_NONE)
            continue;
        if (!(values[i] & REGISTER_WRITTEN) || (values[i] & REGISTER_KEPT))
            note_read(p, values[i] & REGISTER_NUMBER, block);
        any |= (values[i] & REGISTER_WRITTEN) != 0;
    }
    for (uint32_t i = 0; any && i < statement->count; i++)
        if (values[i] != PTX_NONE && (values[i] & REGISTER_WRITTEN))
            note_write(p, values[i] & REGISTER_NUMBER, block);
}

static void note_all(PhiPlacing *p) {
    const PtxFlow *flow = p->m->flow;
    const PtxFunction *function = &p->m->module->functions[flow->function];
    for (uint32_t i = 0; i < function->parameter_count; i++)
        if (parameter_register(p->m, i) != PTX_NONE)
            note_write(p, parameter_register(p->m, i), 0);
    for (uint32_t i = 0; i < flow->order_count; i++) {
        const FlowBlock *block = &flow->blocks[flow->order[i]];
        for (uint32_t k = block->begin; k < block->end; k++)
            note_instruction(p, &p->m->module->statements[flow->instructions[k]], flow->order[i]);
    }
}

/* ---- Frontiers ----------------------------------------------------------------------------------------------------
 */

static void find_frontiers(PhiPlacing *p) {
    const PtxFlow *flow = p->m->flow;
    p->frontiers = graph_nones(&p->m->scratch, flow->block_count);
    for (uint32_t i = 0; i < flow->order_count; i++) {
        uint32_t index = flow->order[i];
        const FlowBlock *block = &flow->blocks[index];
        for (uint32_t k = 0; block->predecessor_count > 1 && k < block->predecessor_count; k++) {
            uint32_t at = flow->edges[block->predecessors + k];
            for (; at != block->dominator; at = flow->blocks[at].dominator) {
                if (p->frontiers[at] != PTX_NONE && p->links[p->frontiers[at]].block == index)
                    break;
                add_link(p, &p->frontiers[at], index);
            }
        }
    }
}

/* ---- Phis -----------------------------------------------------------------------------------------------------------
 */

typedef struct PhiSpreading {
    uint32_t *work, *queued, *placed; /* blocks; for which register, + 1, they were queued, and have a phi */
} PhiSpreading;

static void spread_phis(PhiPlacing *p, PhiSpreading *s, uint32_t number) {
    uint32_t count = 0;
    for (uint32_t i = p->writers[number]; i != PTX_NONE; i = p->links[i].next) {
        s->work[count++] = p->links[i].block;
        s->queued[p->links[i].block] = number + 1;
    }
    while (count) {
        uint32_t block = s->work[--count];
        for (uint32_t i = p->frontiers[block]; i != PTX_NONE; i = p->links[i].next) {
            uint32_t at = p->links[i].block;
            if (s->placed[at] == number + 1)
                continue;
            s->placed[at] = number + 1;
            *ARENA_PUSH(&p->m->scratch, p->phis, p->phi_count, p->phi_capacity) = (PhiLink){at, number};
            if (s->queued[at] != number + 1)
                s->work[count++] = at;
            s->queued[at] = number + 1;
        }
    }
}

/* In the order of the blocks. */
static Phis sort_phis(PhiPlacing *p) {
    uint32_t blocks = p->m->flow->block_count, *at = ARENA_ARRAY(&p->m->scratch, uint32_t, blocks + 2);
    for (uint32_t i = 0; i < p->phi_count; i++)
        at[p->phis[i].block + 2]++;
    for (uint32_t i = 0; i < blocks; i++)
        at[i + 2] += at[i + 1];
    Phis phis = {p->phi_count, graph_numbers(&p->m->scratch, p->phi_count), at};
    for (uint32_t i = 0; i < p->phi_count; i++)
        phis.registers[at[p->phis[i].block + 1]++] = p->phis[i].next;
    return phis;
}

Phis place_phis(FlowMaker *m) {
    uint32_t registers = m->register_count, blocks = m->flow->block_count;
    PhiPlacing p = {.m = m,
                    .writers = graph_nones(&m->scratch, registers),
                    .count = ARENA_ARRAY(&m->scratch, uint32_t, registers),
                    .shared = ARENA_ARRAY(&m->scratch, bool, registers),
                    .loose = ARENA_ARRAY(&m->scratch, bool, registers)};
    PhiSpreading s = {graph_numbers(&m->scratch, blocks), ARENA_ARRAY(&m->scratch, uint32_t, blocks),
                      ARENA_ARRAY(&m->scratch, uint32_t, blocks)};
    note_all(&p);
    find_frontiers(&p);
    for (uint32_t i = 0; i < registers; i++)
        if (p.loose[i] || (p.shared[i] && p.count[i] > 1))
            spread_phis(&p, &s, i);
    return sort_phis(&p);
}
