/* Graphs whose nodes are numbers: depth-first walks, dominators, and the tree of these. */
#ifndef BASE_GRAPH_H
#define BASE_GRAPH_H

#include "base/arena.h"

enum { GRAPH_NONE = UINT32_MAX };

/* Edges of node i: next[next_at[i]] up to next[next_at[i + 1]]. `back` has the same edges the other way, of nodes that
 * are reached alone. */
typedef struct Graph {
    uint32_t count;
    uint32_t *next_at, *next;
    uint32_t *back_at, *back;
    uint32_t *turned; /* of each edge in `next`: its place in `back`, if the node that it leaves is reached */
} Graph;

/* A depth-first walk from one node. */
typedef struct GraphWalk {
    uint32_t count;   /* of nodes that it reaches */
    uint32_t *nodes;  /* in the order in which it comes to them */
    uint32_t *number; /* of each node its place in `nodes`; GRAPH_NONE: it is not reached */
    uint32_t *parent; /* by place: the place of the node that it came from; GRAPH_NONE: the root */
    uint32_t *last;   /* nodes in the order in which it leaves them */
    /* Of each edge to a node that it had left already: the place of the nearest common ancestor of both ends; of
     * others GRAPH_NONE. */
    uint32_t *common;
} GraphWalk;

/* So many numbers, which are not set, or all GRAPH_NONE. */
uint32_t *graph_numbers(Arena *arena, uint32_t count);
uint32_t *graph_nones(Arena *arena, uint32_t count);
/* The root of a forest in which a root is above itself, with all ways to it made short. */
uint32_t forest_root(uint32_t *above, uint32_t at);
/* From `root`, with graph->next alone. */
GraphWalk graph_walk(Arena *arena, const Graph *graph, uint32_t root);
/* Fills in graph->back. */
void graph_turn(Arena *arena, Graph *graph, const GraphWalk *walk);
/* The immediate dominator of each node; GRAPH_NONE of the root, and where the walk did not come. */
uint32_t *graph_dominators(Arena *arena, const Graph *graph, const GraphWalk *walk);

/* The tree of dominators: what a node dominates are those whose `begin` lies from its own up to its `end`. */
typedef struct GraphTree {
    uint32_t *begin, *end;
} GraphTree;
GraphTree graph_tree(Arena *arena, const Graph *graph, const GraphWalk *walk, const uint32_t *dominators);

static inline bool graph_dominates(const GraphTree *tree, uint32_t above, uint32_t below) {
    return tree->begin[below] >= tree->begin[above] && tree->begin[below] < tree->end[above];
}

#endif
