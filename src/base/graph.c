/* Depth-first walks and dominators, of any graph. */
#include "base/graph.h"

#include <string.h>

/* ---- Walks ------------------------------------------------------------------------------------------------ */

uint32_t *graph_numbers(Arena *arena, uint32_t count) {
    return arena_alloc(arena, sizeof(uint32_t) * (size_t)count);
}

uint32_t *graph_nones(Arena *arena, uint32_t count) {
    return memset(graph_numbers(arena, count), 0xff, sizeof(uint32_t) * (size_t)count);
}

uint32_t forest_root(uint32_t *above, uint32_t at) {
    uint32_t root = at;
    while (above[root] != root)
        root = above[root];
    while (above[at] != root) {
        uint32_t next = above[at];
        above[at] = root;
        at = next;
    }
    return root;
}

typedef struct GraphWalking {
    const Graph *graph;
    GraphWalk *walk;
    uint32_t *stack, *edge; /* places of nodes that are not left yet; of each its next edge */
    uint32_t *up;           /* of a place that is left: its parent; else itself */
    uint32_t depth;
} GraphWalking;

static void enter_node(GraphWalking *w, uint32_t node, uint32_t parent) {
    uint32_t place = w->walk->count++;
    w->walk->nodes[place] = node;
    w->walk->number[node] = place;
    w->walk->parent[place] = parent;
    w->up[place] = place;
    w->edge[w->depth] = w->graph->next_at[node];
    w->stack[w->depth++] = place;
}

static void walk_on(GraphWalking *w) {
    for (uint32_t left = 0; w->depth;) {
        uint32_t place = w->stack[w->depth - 1], node = w->walk->nodes[place];
        if (w->edge[w->depth - 1] == w->graph->next_at[node + 1]) {
            if (w->walk->parent[place] != GRAPH_NONE)
                w->up[place] = w->walk->parent[place];
            w->walk->last[left++] = node;
            w->depth--;
            continue;
        }
        uint32_t edge = w->edge[w->depth - 1]++, to = w->graph->next[edge];
        if (w->walk->number[to] == GRAPH_NONE)
            enter_node(w, to, place);
        else if (w->up[w->walk->number[to]] != w->walk->number[to])
            w->walk->common[edge] = forest_root(w->up, w->walk->number[to]);
    }
}

GraphWalk graph_walk(Arena *arena, const Graph *graph, uint32_t root) {
    uint32_t count = graph->count;
    GraphWalk walk = {.nodes = graph_numbers(arena, count),
                      .number = graph_nones(arena, count),
                      .parent = graph_numbers(arena, count),
                      .last = graph_numbers(arena, count),
                      .common = graph_nones(arena, graph->next_at[count])};
    GraphWalking walking = {.graph = graph,
                            .walk = &walk,
                            .stack = graph_numbers(arena, count),
                            .edge = graph_numbers(arena, count),
                            .up = graph_numbers(arena, count)};
    enter_node(&walking, root, GRAPH_NONE);
    walk_on(&walking);
    return walk;
}

void graph_turn(Arena *arena, Graph *graph, const GraphWalk *walk) {
    uint32_t count = graph->count, *at = ARENA_ARRAY(arena, uint32_t, count + 2);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = graph->next_at[i]; walk->number[i] != GRAPH_NONE && k < graph->next_at[i + 1]; k++)
            at[graph->next[k] + 2]++;
    for (uint32_t i = 0; i < count; i++)
        at[i + 2] += at[i + 1];
    graph->back = graph_numbers(arena, at[count + 1]);
    graph->turned = graph_numbers(arena, graph->next_at[count]);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = graph->next_at[i]; walk->number[i] != GRAPH_NONE && k < graph->next_at[i + 1]; k++) {
            graph->turned[k] = at[graph->next[k] + 1]++;
            graph->back[graph->turned[k]] = i;
        }
    graph->back_at = at;
}

/* ---- Dominators: Lengauer and Tarjan ----------------------------------------------------------------------- */

typedef struct Dominating {
    const Graph *graph;
    const GraphWalk *walk;
    /* By place in the walk. */
    uint32_t *above; /* in the forest that is linked up to now; GRAPH_NONE: a root of it */
    uint32_t *semi;  /* its semi-dominator */
    uint32_t *best;  /* on the way up the forest that with the least semi-dominator */
    uint32_t *bucket, *bucket_next;
    uint32_t *dominator, *stack;
} Dominating;

/* Shortens the way up from a place, and keeps what is best on it. */
static uint32_t best_above(Dominating *d, uint32_t place) {
    if (d->above[place] == GRAPH_NONE)
        return place;
    uint32_t depth = 0;
    for (uint32_t at = place; d->above[d->above[at]] != GRAPH_NONE; at = d->above[at])
        d->stack[depth++] = at;
    while (depth) {
        uint32_t at = d->stack[--depth], above = d->above[at];
        if (d->semi[d->best[above]] < d->semi[d->best[at]])
            d->best[at] = d->best[above];
        d->above[at] = d->above[above];
    }
    return d->best[place];
}

static void dominate_place(Dominating *d, uint32_t place) {
    uint32_t node = d->walk->nodes[place], parent = d->walk->parent[place];
    for (uint32_t k = d->graph->back_at[node]; k < d->graph->back_at[node + 1]; k++) {
        uint32_t best = best_above(d, d->walk->number[d->graph->back[k]]);
        if (d->semi[best] < d->semi[place])
            d->semi[place] = d->semi[best];
    }
    d->bucket_next[place] = d->bucket[d->semi[place]];
    d->bucket[d->semi[place]] = place;
    d->above[place] = parent;
    for (uint32_t at = d->bucket[parent]; at != GRAPH_NONE; at = d->bucket_next[at]) {
        uint32_t best = best_above(d, at);
        d->dominator[at] = d->semi[best] < d->semi[at] ? best : parent;
    }
    d->bucket[parent] = GRAPH_NONE;
}

uint32_t *graph_dominators(Arena *arena, const Graph *graph, const GraphWalk *walk) {
    uint32_t count = walk->count, *dominators = graph_nones(arena, graph->count);
    Dominating d = {.graph = graph,
                    .walk = walk,
                    .above = graph_nones(arena, count),
                    .semi = graph_numbers(arena, count),
                    .best = graph_numbers(arena, count),
                    .bucket = graph_nones(arena, count),
                    .bucket_next = graph_numbers(arena, count),
                    .dominator = graph_numbers(arena, count),
                    .stack = graph_numbers(arena, count)};
    for (uint32_t i = 0; i < count; i++)
        d.semi[i] = d.best[i] = i;
    for (uint32_t i = count; i-- > 1;)
        dominate_place(&d, i);
    for (uint32_t i = 1; i < count; i++) {
        if (d.dominator[i] != d.semi[i])
            d.dominator[i] = d.dominator[d.dominator[i]];
        dominators[walk->nodes[i]] = walk->nodes[d.dominator[i]];
    }
    return dominators;
}

GraphTree graph_tree(Arena *arena, const Graph *graph, const GraphWalk *walk, const uint32_t *dominators) {
    uint32_t *sizes = ARENA_ARRAY(arena, uint32_t, graph->count);
    GraphTree tree = {ARENA_ARRAY(arena, uint32_t, graph->count), ARENA_ARRAY(arena, uint32_t, graph->count)};
    for (uint32_t i = 0; i + 1 < walk->count; i++) { /* what is left first is dominated by what is left later */
        uint32_t node = walk->last[i];
        sizes[dominators[node]] += ++sizes[node];
    }
    for (uint32_t i = walk->count; i--;) { /* `end` is where the next in it will be, up to its true end */
        uint32_t node = walk->last[i], above = dominators[node];
        if (above != GRAPH_NONE) {
            tree.begin[node] = tree.end[above];
            tree.end[above] += sizes[node];
        }
        tree.end[node] = tree.begin[node] + 1;
    }
    return tree;
}
