/* Loops and how they nest, irreducible ones too: Havlak's algorithm with Ramalingam's change, which makes it nearly
 * linear. Headers are looked at from the innermost outward; the body of a loop that was found is one node with its
 * header from then on. An edge between two branches of the depth-first tree can belong to a loop only if the header is
 * above both, so it is inserted when their nearest common ancestor is looked at. */
#include "ptx/flow/internal.h"

/* An edge in one of the lists. */
typedef struct LoopWay {
    uint32_t from, to, next;
} LoopWay;

/* Arrays are by place in the walk. */
typedef struct Nesting {
    Arena *arena;
    const Graph *graph;
    const GraphWalk *walk;
    uint32_t *into;                /* the header that its loop was made one with; itself: none yet */
    uint32_t *ways, *backs, *late; /* edges to it, those back to it, and those that it is the common ancestor of */
    uint32_t *header;              /* of the innermost loop that it is in, other than its own; PTX_NONE */
    uint32_t *body, body_count;
    LoopWay *list;
    uint32_t list_count, list_capacity;
} Nesting;

static void add_way(Nesting *n, uint32_t *lists, uint32_t at, uint32_t from, uint32_t to) {
    LoopWay *way = ARENA_PUSH(n->arena, n->list, n->list_count, n->list_capacity);
    *way = (LoopWay){from, to, lists[at]};
    lists[at] = n->list_count - 1;
}

static void sort_edges(Nesting *n) {
    for (uint32_t from = 0; from < n->walk->count; from++) {
        uint32_t node = n->walk->nodes[from];
        for (uint32_t k = n->graph->next_at[node]; k < n->graph->next_at[node + 1]; k++) {
            uint32_t to = n->walk->number[n->graph->next[k]], common = n->walk->common[k];
            if (common != PTX_NONE)
                add_way(n, n->late, common, from, to);
            else
                add_way(n, to <= from ? n->backs : n->ways, to, from, to);
        }
    }
}

static void add_to_body(Nesting *n, uint32_t place, uint32_t header) {
    uint32_t whole = forest_root(n->into, place);
    if (whole == header || n->header[whole] == header)
        return;
    n->header[whole] = header;
    n->body[n->body_count++] = whole;
}

/* The loop with the header at a place, if it is one. */
static void find_body(Nesting *n, uint32_t header) {
    for (uint32_t i = n->late[header], next; i != PTX_NONE; i = next) {
        next = n->list[i].next;
        uint32_t to = forest_root(n->into, n->list[i].to);
        n->list[i].next = n->ways[to];
        n->ways[to] = i;
    }
    n->body_count = 0;
    for (uint32_t i = n->backs[header]; i != PTX_NONE; i = n->list[i].next)
        add_to_body(n, n->list[i].from, header);
    for (uint32_t k = 0; k < n->body_count; k++)
        for (uint32_t i = n->ways[n->body[k]]; i != PTX_NONE; i = n->list[i].next)
            add_to_body(n, n->list[i].from, header);
    for (uint32_t k = 0; k < n->body_count; k++)
        n->into[n->body[k]] = header;
}

static Nesting find_nesting(FlowMaker *m) {
    uint32_t count = m->walk.count;
    Nesting n = {.arena = &m->scratch, .graph = &m->graph, .walk = &m->walk};
    n.into = graph_numbers(n.arena, count);
    n.body = graph_numbers(n.arena, count);
    n.ways = graph_nones(n.arena, count);
    n.backs = graph_nones(n.arena, count);
    n.late = graph_nones(n.arena, count);
    n.header = graph_nones(n.arena, count);
    for (uint32_t i = 0; i < count; i++)
        n.into[i] = i;
    sort_edges(&n);
    for (uint32_t i = count; i-- > 0;)
        find_body(&n, i);
    return n;
}

/* ---- Irreducible ones ------------------------------------------------------------------------------------ */

typedef struct LoopEntering {
    PtxFlow *flow;
    uint32_t *begin, *end; /* of each loop: the numbers of those in it, in an order in which they are together */
    uint32_t *up;          /* of a loop that is known to be irreducible: the one around it; else itself */
} LoopEntering;

static bool loop_has(const LoopEntering *e, uint32_t loop, uint32_t inner) {
    return inner != PTX_NONE && e->begin[inner] >= e->begin[loop] && e->begin[inner] < e->end[loop];
}

/* The edge comes into all loops that its target is in and its source is not. The last entry of `up` stands for none. */
static void enter_loops(LoopEntering *e, uint32_t from, uint32_t to) {
    PtxFlow *flow = e->flow;
    uint32_t none = flow->loop_count, at = flow->blocks[to].loop, source = flow->blocks[from].loop;
    if (at != PTX_NONE && flow->loops[at].header == to)
        at = flow->loops[at].outer;
    for (;;) {
        at = forest_root(e->up, at == PTX_NONE ? none : at);
        if (at == none || loop_has(e, at, source))
            return;
        flow->loops[at].irreducible = true;
        e->up[at] = flow->loops[at].outer == PTX_NONE ? none : flow->loops[at].outer;
    }
}

static void mark_irreducible(FlowMaker *m) {
    PtxFlow *flow = m->flow;
    uint32_t count = flow->loop_count, *sizes = graph_numbers(&m->scratch, count), root = 0;
    LoopEntering e = {flow, graph_numbers(&m->scratch, count), graph_numbers(&m->scratch, count),
                      graph_numbers(&m->scratch, count + 1)};
    for (uint32_t i = 0; i < count; i++)
        sizes[i] = 1;
    for (uint32_t i = count; i-- > 0;)
        if (flow->loops[i].outer != PTX_NONE)
            sizes[flow->loops[i].outer] += sizes[i];
    for (uint32_t i = 0; i < count; i++) { /* `end` is where the next loop in it will begin, up to its true end */
        uint32_t *next = flow->loops[i].outer == PTX_NONE ? &root : &e.end[flow->loops[i].outer];
        e.begin[i] = *next;
        *next += sizes[i];
        e.end[i] = e.begin[i] + 1;
    }
    for (uint32_t i = 0; i <= count; i++)
        e.up[i] = i;
    for (uint32_t i = 0; i < flow->order_count; i++) {
        const FlowBlock *block = &flow->blocks[flow->order[i]];
        for (uint32_t k = 0; k < block->successor_count; k++)
            enter_loops(&e, flow->order[i], flow->edges[block->successors + k]);
    }
}

void make_loops(FlowMaker *m) {
    PtxFlow *flow = m->flow;
    Nesting n = find_nesting(m);
    uint32_t *loop_of = graph_nones(&m->scratch, m->walk.count);
    for (uint32_t i = 0; i < m->walk.count; i++)
        flow->loop_count += n.backs[i] != PTX_NONE;
    flow->loops = ARENA_ARRAY(&flow->arena, PtxFlowLoop, flow->loop_count);
    for (uint32_t i = 0; i < flow->block_count; i++)
        flow->blocks[i].loop = PTX_NONE;
    for (uint32_t i = 0, at = 0; i < m->walk.count; i++) {
        uint32_t outer = n.header[i] == PTX_NONE ? PTX_NONE : loop_of[n.header[i]], node = m->walk.nodes[i];
        loop_of[i] = outer;
        if (n.backs[i] != PTX_NONE) {
            flow->loops[at] = (PtxFlowLoop){.header = node, .outer = outer};
            loop_of[i] = at++;
        }
        flow->blocks[node].loop = loop_of[i];
    }
    if (flow->loop_count)
        mark_irreducible(m);
}
