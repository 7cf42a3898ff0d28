/* Who dominates whom, and where ways meet again. */
#include "ptx/flow/internal.h"

void make_dominance(FlowMaker *m) {
    PtxFlow *flow = m->flow;
    uint32_t *dominators = graph_dominators(&m->scratch, &m->graph, &m->walk);
    GraphTree tree = graph_tree(&m->scratch, &m->graph, &m->walk, dominators);
    for (uint32_t i = 0; i < flow->block_count; i++) {
        flow->blocks[i].dominator = dominators[i];
        flow->blocks[i].tree_begin = tree.begin[i];
        flow->blocks[i].tree_end = tree.end[i];
    }
}

/* ---- Where ways meet again ---------------------------------------------------------------------------------- */

/* Whether a thread may end with a block, and others go on: a trap does not count. */
static bool may_end(FlowMaker *m, uint32_t index) {
    const FlowBlock *block = &m->flow->blocks[index];
    if (block->end == block->begin)
        return block->ends == FLOW_OVER;
    const PtxStatement *statement = &m->module->statements[m->flow->instructions[block->end - 1]];
    Going going = going_of(m->module, statement);
    bool falls = going.next && index + 1 == m->flow->block_count; /* off the end of the function */
    return falls || (going.over && !going.stops);
}

typedef struct DominanceEnding {
    bool *ends;     /* of each block: an edge leads from it to the end of all */
    bool *can;      /* ... and whether it can come there */
    uint32_t *work; /* blocks to look behind */
} DominanceEnding;

static void reach_back(FlowMaker *m, DominanceEnding *e, uint32_t block) {
    uint32_t count = 0;
    if (!e->can[block])
        e->work[count++] = block;
    e->can[block] = true;
    while (count) {
        uint32_t at = e->work[--count];
        for (uint32_t k = m->graph.back_at[at]; k < m->graph.back_at[at + 1]; k++) {
            uint32_t from = m->graph.back[k];
            if (!e->can[from])
                e->work[count++] = from;
            e->can[from] = true;
        }
    }
}

/* Outermost loops from which the end cannot be reached are ended at their header; the last of them first, since those
 * before may lead to it. */
static DominanceEnding find_ends(FlowMaker *m) {
    PtxFlow *flow = m->flow;
    DominanceEnding e = {ARENA_ARRAY(&m->scratch, bool, flow->block_count),
                         ARENA_ARRAY(&m->scratch, bool, flow->block_count),
                         graph_numbers(&m->scratch, flow->block_count)};
    for (uint32_t i = 0; i < flow->order_count; i++)
        if ((e.ends[flow->order[i]] = may_end(m, flow->order[i])))
            reach_back(m, &e, flow->order[i]);
    for (uint32_t i = flow->order_count; i-- > 0;) {
        uint32_t block = flow->order[i], loop = flow->blocks[block].loop;
        if (e.can[block] || loop == PTX_NONE || flow->loops[loop].header != block ||
            flow->loops[loop].outer != PTX_NONE)
            continue;
        e.ends[block] = true;
        reach_back(m, &e, block);
    }
    return e;
}

/* The graph with all edges turned, and a node behind the blocks that leads to all those that end. */
static Graph turned_graph(FlowMaker *m, const bool *ends) {
    const Graph *graph = &m->graph;
    uint32_t count = graph->count, edges = graph->back_at[count];
    Graph turned = {.count = count + 1,
                    .next_at = graph_numbers(&m->scratch, count + 2),
                    .next = graph_numbers(&m->scratch, edges + count)};
    memcpy(turned.next_at, graph->back_at, sizeof(uint32_t) * ((size_t)count + 1));
    if (edges)
        memcpy(turned.next, graph->back, sizeof(uint32_t) * (size_t)edges);
    for (uint32_t i = 0; i < count; i++)
        if (ends[i])
            turned.next[edges++] = i;
    turned.next_at[count + 1] = edges;
    return turned;
}

void make_meetings(FlowMaker *m) {
    PtxFlow *flow = m->flow;
    DominanceEnding e = find_ends(m);
    Graph turned = turned_graph(m, e.ends);
    GraphWalk walk = graph_walk(&m->scratch, &turned, flow->block_count);
    graph_turn(&m->scratch, &turned, &walk);
    uint32_t *meets = graph_dominators(&m->scratch, &turned, &walk);
    for (uint32_t i = 0; i < flow->block_count; i++)
        flow->blocks[i].meets = meets[i] == flow->block_count ? PTX_NONE : meets[i];
}
