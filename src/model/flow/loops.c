/* Loops: those of branches are found here, and how all of them lie in each other. */
#include "model/flow/internal.h"

#include "base/graph.h"

void flow_add_loop(FlowBuilder *builder, FlowLoop loop) {
    Flow *flow = &builder->flow;
    loop.parent = FLOW_NONE;
    pointers_set(&flow->loop_at, loop.first_block ? (const void *)loop.first_block : loop.op, flow->loop_count);
    *ARENA_PUSH(builder->arena, flow->loops, flow->loop_count, builder->loop_capacity) = loop;
}

/* ---- The blocks of a region ------------------------------------------------------------------------------------ */

/* Those that can be reached, known by their places in reverse postorder, from `start` to `end`. */
typedef struct LoopGraph {
    FlowBuilder *builder;
    const Block **blocks; /* by place; NULL: none is there */
    uint32_t *order;      /* by Block.order: the place */
    uint32_t start, end;
    Graph edges; /* by place */
    GraphWalk walk;
} LoopGraph;

static void find_edges(LoopGraph *graph) {
    uint32_t count = 0, end = graph->end;
    Graph edges = {.count = end, .next_at = graph_numbers(graph->builder->arena, end + 1)};
    for (uint32_t i = 0; i < end; i++) {
        edges.next_at[i] = count;
        while (graph->blocks[i] && flow_successor(graph->blocks[i], count - edges.next_at[i]))
            count++;
    }
    edges.next_at[end] = count;
    edges.next = graph_numbers(graph->builder->arena, count + 1);
    for (uint32_t i = 0; i < end; i++)
        for (uint32_t k = edges.next_at[i]; k < edges.next_at[i + 1]; k++)
            edges.next[k] = graph->order[flow_successor(graph->blocks[i], k - edges.next_at[i])->order];
    graph->edges = edges;
}

static void order_blocks(LoopGraph *graph, const Region *region) {
    Arena *arena = graph->builder->arena;
    const Block **text = graph->blocks = ARENA_ARRAY(arena, const Block *, graph->end);
    graph->order = graph_numbers(arena, graph->end);
    uint32_t place = 0;
    for (const Block *block = region->first; block; block = block->next) {
        text[place] = block;
        graph->order[block->order] = place++;
    }
    find_edges(graph);
    GraphWalk walk = graph_walk(arena, &graph->edges, 0);
    graph->blocks = ARENA_ARRAY(arena, const Block *, graph->end);
    for (uint32_t i = 0; i < walk.count; i++) {
        place = graph->end - 1 - i;
        graph->blocks[place] = text[walk.last[i]];
        graph->order[graph->blocks[place]->order] = place;
    }
    graph->start = graph->end - walk.count;
    find_edges(graph);
    graph->walk = graph_walk(arena, &graph->edges, graph->start);
    graph_turn(arena, &graph->edges, &graph->walk);
}

/* ---- Whether every loop has one entry -------------------------------------------------------------------------- */

static bool is_reducible(const LoopGraph *graph) {
    Arena *arena = graph->builder->arena;
    const Graph *edges = &graph->edges;
    const uint32_t *dominators = graph_dominators(arena, edges, &graph->walk);
    GraphTree tree = graph_tree(arena, edges, &graph->walk, dominators);
    for (uint32_t from = graph->start; from < graph->end; from++)
        for (uint32_t k = edges->next_at[from]; k < edges->next_at[from + 1]; k++)
            if (edges->next[k] <= from && !graph_dominates(&tree, edges->next[k], from))
                return false;
    return true;
}

/* ---- Loops of branches ----------------------------------------------------------------------------------------- */

/* Edges to a block that comes no later in reverse postorder: control that computes a value again has gone over one. */
static void mark_back_edges(const LoopGraph *graph) {
    FlowBuilder *builder = graph->builder;
    for (uint32_t from = graph->start; from < graph->end; from++) {
        const BlockPieces *pieces = flow_pieces_of(builder, graph->blocks[from]);
        if (!pieces)
            continue;
        FlowEdge *edge = &builder->flow.edges[builder->flow.pieces[pieces->last].first_edge];
        for (uint32_t k = graph->edges.next_at[from]; k < graph->edges.next_at[from + 1]; k++) {
            uint32_t to = graph->edges.next[k];
            if (!flow_pieces_of(builder, graph->blocks[to])) /* it has no code, and so no edge */
                continue;
            uint32_t loop = pointers_get(&builder->flow.loop_at, graph->blocks[to]);
            if (to <= from) {
                edge->back = edge->round = true;
                edge->loop = loop;
            } else {
                edge->enters = loop;
            }
            edge++;
        }
    }
}

/* Adds those who branch to a block of the loop, or to its end, and are not in it yet. `in`: each loop's blocks are one
 * with its first. */
static uint32_t add_froms(const LoopGraph *graph, uint32_t *in, uint32_t block, uint32_t first, uint32_t *list,
                          uint32_t count, bool *listed) {
    for (uint32_t i = graph->edges.back_at[block]; i < graph->edges.back_at[block + 1]; i++) {
        uint32_t from = forest_root(in, graph->edges.back[i]);
        if (from <= first || listed[from])
            continue;
        listed[from] = true;
        list[count++] = from;
    }
    return count;
}

/* The op that the loop is known by: some branch back to its first block. */
static FlowLoop loop_at(const LoopGraph *graph, uint32_t first) {
    for (uint32_t i = graph->edges.back_at[first]; i < graph->edges.back_at[first + 1]; i++) {
        uint32_t from = graph->edges.back[i];
        const BlockPieces *pieces = from >= first ? flow_pieces_of(graph->builder, graph->blocks[from]) : NULL;
        if (!pieces)
            continue;
        const FlowPiece *piece = &graph->builder->flow.pieces[pieces->last];
        FlowOp branch = graph->builder->flow.ops[piece->first + piece->count - 1];
        return (FlowLoop){.op = branch.op, .number = branch.number, .first_block = graph->blocks[first]};
    }
    return (FlowLoop){0};
}

/* The blocks of each loop, inner loops first: backwards from the branches that go back, as far as the first block. */
static void find_branch_loops(const LoopGraph *graph) {
    FlowBuilder *builder = graph->builder;
    uint32_t *in = ARENA_ARRAY(builder->arena, uint32_t, graph->end);
    uint32_t *list = ARENA_ARRAY(builder->arena, uint32_t, graph->end + 1);
    bool *listed = ARENA_ARRAY(builder->arena, bool, graph->end);
    for (uint32_t i = 0; i < graph->end; i++)
        in[i] = i;
    for (uint32_t first = graph->end; first-- > graph->start;) {
        FlowLoop loop = loop_at(graph, first);
        if (!loop.op)
            continue;
        uint32_t index = builder->flow.loop_count;
        flow_add_loop(builder, loop);
        if (pointers_get(&builder->flow.loop_in, graph->blocks[first]) == NO_NUMBER)
            pointers_set(&builder->flow.loop_in, graph->blocks[first], index);
        uint32_t count = add_froms(graph, in, first, first, list, 0, listed);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t block = list[i], inner = pointers_get(&builder->flow.loop_at, graph->blocks[block]);
            if (inner != NO_NUMBER)
                builder->flow.loops[inner].parent = index;
            else
                pointers_set(&builder->flow.loop_in, graph->blocks[block], index);
            count = add_froms(graph, in, block, first, list, count, listed);
        }
        for (uint32_t i = 0; i < count; i++) {
            in[list[i]] = first;
            listed[list[i]] = false;
        }
    }
}

static void look_at_region(FlowBuilder *builder, const Region *region) {
    if (region->block_count < 2)
        return;
    LoopGraph graph = {.builder = builder, .end = region->block_count};
    order_blocks(&graph, region);
    if (is_reducible(&graph))
        find_branch_loops(&graph);
    else
        builder->flow.irreducible = true;
    mark_back_edges(&graph);
}

/* ---- Loops in loops -------------------------------------------------------------------------------------------- */

/* An op around the place where a walk is, and the loop that what it holds is in. */
typedef struct LoopHolder {
    const Op *op;
    uint32_t loop;
} LoopHolder;

/* Which loop each op is in. */
static void nest(FlowBuilder *builder) {
    Flow *flow = &builder->flow;
    LoopHolder *holders = ARENA_ARRAY(builder->arena, LoopHolder, flow->op_count + 1);
    uint32_t depth = 0, number = 0;
    for (const Op *op = op_next_in_walk(builder->function, builder->function); op;
         op = op_next_in_walk(op, builder->function), number++) {
        const Op *parent = op_parent(op);
        while (depth && holders[depth - 1].op != parent)
            depth--;
        uint32_t around = depth ? holders[depth - 1].loop : FLOW_NONE;
        uint32_t of_branches = pointers_get(&builder->flow.loop_in, op->block);
        uint32_t begins = op->prev ? NO_NUMBER : pointers_get(&builder->flow.loop_at, op->block);
        if (begins != NO_NUMBER && flow->loops[begins].parent == FLOW_NONE)
            flow->loops[begins].parent = around;
        flow->loop_of[number] = of_branches != NO_NUMBER ? of_branches : around;
        if (!op->region_count)
            continue;
        uint32_t own = pointers_get(&builder->flow.loop_at, op);
        if (own != NO_NUMBER)
            flow->loops[own].parent = flow->loop_of[number];
        holders[depth++] = (LoopHolder){op, own != NO_NUMBER ? own : flow->loop_of[number]};
    }
}

/* Numbers the loops so that those inside one are beside each other. */
static void number_loops(FlowBuilder *builder) {
    Flow *flow = &builder->flow;
    uint32_t *child =
        ARENA_ARRAY(builder->arena, uint32_t, flow->loop_count + 1); /* newest of each, plus 1; last: top */
    uint32_t *sibling = ARENA_ARRAY(builder->arena, uint32_t, flow->loop_count + 1);
    for (uint32_t i = 0; i < flow->loop_count; i++) {
        uint32_t parent = flow->loops[i].parent == FLOW_NONE ? flow->loop_count : flow->loops[i].parent;
        sibling[i] = child[parent];
        child[parent] = i + 1;
    }
    uint32_t count = 0, at = child[flow->loop_count];
    while (at) {
        FlowLoop *loop = &flow->loops[at - 1];
        loop->first = count++;
        if (child[at - 1]) {
            at = child[at - 1];
            continue;
        }
        for (; at && !sibling[at - 1]; at = flow->loops[at - 1].parent + 1) /* FLOW_NONE + 1 is 0 */
            flow->loops[at - 1].last = count - 1;
        if (!at)
            break;
        flow->loops[at - 1].last = count - 1;
        at = sibling[at - 1];
    }
}

void flow_find_loops(FlowBuilder *builder) {
    for (const Op *op = builder->function; op; op = op_next_in_walk(op, builder->function))
        for (uint32_t r = 0; r < op->region_count; r++)
            look_at_region(builder, &op->regions[r]);
    nest(builder);
    number_loops(builder);
}

/* ---- Asking ---------------------------------------------------------------------------------------------------- */

static const FlowLoop *loop_of_number(const Flow *flow, uint32_t number) {
    return number == NO_NUMBER ? NULL : &flow->loops[number];
}

const FlowLoop *flow_loop_around(const Flow *flow, const Block *block) {
    const FlowLoop *loop = NULL;
    while (block && !(loop = loop_of_number(flow, pointers_get(&flow->loop_in, block)))) {
        const Op *op = block->region->op;
        if (!op || (loop = loop_of_number(flow, pointers_get(&flow->loop_at, op))))
            break;
        block = op->block;
    }
    return loop;
}

const FlowLoop *flow_loop_of(const Flow *flow, const Op *op) {
    const FlowLoop *found = loop_of_number(flow, pointers_get(&flow->loop_at, op));
    const FlowLoop *around = found || !op->block ? NULL : flow_loop_around(flow, op->block);
    for (uint32_t s = 0; around && s < op_successor_count(op); s++) {
        const FlowLoop *loop = loop_of_number(flow, pointers_get(&flow->loop_at, op->extra->successors[s]));
        if (!loop || !flow_loop_has(flow, (uint32_t)(loop - flow->loops), (uint32_t)(around - flow->loops)))
            continue;
        if (found && found != loop)
            return NULL;
        found = loop;
    }
    return found;
}
