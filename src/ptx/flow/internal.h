/* What the files that make a flow share: graphs, walks of them, and the flow while it is made. */
#ifndef PTX_FLOW_INTERNAL_H
#define PTX_FLOW_INTERNAL_H

#include "ptx/flow/flow.h"

/* Edges of node i: next[next_at[i]] up to next[next_at[i + 1]]. `back` has the same edges the other way, of nodes that
 * are reached alone. */
typedef struct Graph {
    uint32_t count;
    uint32_t *next_at, *next;
    uint32_t *back_at, *back;
    uint32_t *turned; /* of each edge in `next`: its place in `back`, if the node that it leaves is reached */
} Graph;

/* A depth-first walk from one node. */
typedef struct Walk {
    uint32_t count;   /* of nodes that it reaches */
    uint32_t *nodes;  /* in the order in which it comes to them */
    uint32_t *number; /* of each node its place in `nodes`; PTX_NONE: it is not reached */
    uint32_t *parent; /* by place: the place of the node that it came from; PTX_NONE: the root */
    uint32_t *last;   /* nodes in the order in which it leaves them */
    /* Of each edge to a node that it had left already: the place of the nearest common ancestor of both ends; of
     * others PTX_NONE. */
    uint32_t *common;
} Walk;

typedef struct FlowMaker {
    PtxFlow *flow;
    const PtxModule *module;
    Arena scratch;
    uint32_t statements; /* the function's first one */
    uint32_t *places;    /* of each statement: the instruction at or behind it */
    Graph graph;
    Walk walk;
    uint32_t register_count;
    uint32_t first_variable, variable_count;
    uint32_t *bases;        /* of each variable: its first register's number */
    uint32_t *first_writes; /* of each block: how many operands are written before it in the text */
    uint32_t write_count;
} FlowMaker;

/* ---- graph.c ---- */
/* So many numbers, which are not set, or all PTX_NONE. */
uint32_t *new_numbers(Arena *arena, uint32_t count);
uint32_t *new_nones(Arena *arena, uint32_t count);
/* The root of a forest in which a root is above itself, with all ways to it made short. */
uint32_t find_root(uint32_t *above, uint32_t at);
/* From `root`, with graph->next alone. */
Walk walk_graph(Arena *arena, const Graph *graph, uint32_t root);
/* Fills in graph->back. */
void turn_graph(Arena *arena, Graph *graph, const Walk *walk);
/* The immediate dominator of each node; PTX_NONE of the root, and where the walk did not come. */
uint32_t *find_dominators(Arena *arena, const Graph *graph, const Walk *walk);

/* ---- blocks.c ---- */
/* What an instruction does at the end of its block. */
typedef struct Going {
    bool ends;     /* it is the last of its block */
    bool next;     /* it may go on behind itself */
    bool over;     /* the thread may be over */
    bool stops;    /* ... and with it all others */
    bool labelled; /* it may go on at its labels */
} Going;
Going going_of(const PtxModule *module, const PtxStatement *statement);
/* Instructions, blocks, edges; the walk, and the order. */
void make_blocks(FlowMaker *m);

/* ---- loops.c ---- */
void make_loops(FlowMaker *m);

/* ---- dominance.c ---- */
void make_dominance(FlowMaker *m);
/* Needs loops. */
void make_meetings(FlowMaker *m);

/* ---- registers.c ---- */
/* What an operand that is a register is taken for, in operand_values, until it has a value: the number of the register,
 * with what happens to it. */
enum { REGISTER_WRITTEN = 1u << 31, REGISTER_KEPT = 1u << 30, REGISTER_NUMBER = REGISTER_KEPT - 1 };
void make_registers(FlowMaker *m);
/* The number of the register that is a function's parameter; PTX_NONE: this one is none. */
uint32_t parameter_register(const FlowMaker *m, uint32_t parameter);

/* ---- phis.c ---- */
/* Blocks that need a phi of a register: pairs, in the order of the blocks. */
typedef struct Phis {
    uint32_t count;
    uint32_t *registers; /* of each phi */
    uint32_t *at;        /* of each block, and one more: its first phi */
} Phis;
Phis place_phis(FlowMaker *m);

/* ---- values.c ---- */
void make_values(FlowMaker *m);

#endif
