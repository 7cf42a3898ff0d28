/* What the files that make a flow share: the flow while it is made. */
#ifndef PTX_FLOW_INTERNAL_H
#define PTX_FLOW_INTERNAL_H

#include "base/graph.h"
#include "ptx/flow/flow.h"

typedef struct FlowMaker {
    PtxFlow *flow;
    const PtxModule *module;
    Arena scratch;
    uint32_t statements; /* the function's first one */
    uint32_t *places;    /* of each statement: the instruction at or behind it */
    Graph graph;
    GraphWalk walk;
    uint32_t register_count;
    uint32_t first_variable, variable_count;
    uint32_t *bases;        /* of each variable: its first register's number */
    uint32_t *first_writes; /* of each block: how many operands are written before it in the text */
    uint32_t write_count;
} FlowMaker;

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
