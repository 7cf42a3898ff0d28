/* One function of a PTX module as a graph: blocks of instructions, the SSA values that registers have in them, who
 * dominates whom, loops, and where threads that went apart come together again.
 *
 * The module stays as it is; this is numbers beside it. A value belongs to each operand that is a register, read or
 * written (flow_value), and to nothing else: memory is not in SSA form. A guarded instruction writes a register only
 * where its guard holds, so the value that it defines is a choice between its result and the value before it
 * (`before`); that is how predicates become selects. A branch that is guarded ends its block.
 *
 * What an instruction does to control, and which operands it writes, is what its row says. One without a row may do
 * anything to its operands: it reads and writes every register that it names, and may go on at every label; such ones
 * are counted (`unknown_count`).
 *
 * Not here: the registers that a function returns (.func (.reg .b32 r)), which a ret reads; the carry of add.cc;
 * registers that are declared outside of all functions, which are no registers of this one.
 *
 * All of it is linear in the function and in the SSA form itself, but for dominance and loops, which are nearly so. */
#ifndef PTX_FLOW_FLOW_H
#define PTX_FLOW_FLOW_H

#include "ptx/ptx.h"

typedef enum FlowEnd {
    FLOW_NEXT,   /* goes on with the next block; a call does, too */
    FLOW_JUMP,   /* successor 0 */
    FLOW_BRANCH, /* guarded: successor 0 where the guard holds, 1 is the next block. An unlikely exit, too: then 0 is
                    missing, and successor_count is 1 */
    FLOW_TABLE,  /* brx.idx: a successor for each label of the list; if it is guarded, the next block behind them.
                    One without a row that names labels is taken for such a one, too */
    FLOW_OVER,   /* returns, exits, traps, calls what does not return, or is the last of the function */
} FlowEnd;

typedef struct FlowBlock {
    /* Instructions of the flow. None are in a block before a loop that starts with the function, so that nothing
     * precedes the first block; nor behind a label that the function ends with. */
    uint32_t begin, end;
    FlowEnd ends;
    uint32_t successors, successor_count; /* in flow->edges */
    /* In flow->edges; only blocks that are reached, and one that comes here in two ways is there twice. */
    uint32_t predecessors, predecessor_count;
    uint32_t phis, phi_count;      /* values */
    uint32_t dominator;            /* its immediate one; PTX_NONE: the first block, or never reached */
    uint32_t tree_begin, tree_end; /* what it dominates: those whose tree_begin lies between */
    /* Its immediate post-dominator, where threads that part at its end meet again; PTX_NONE: only at the end of the
     * function, or never. Ways that end in a trap or a failed assertion do not count, since with it all threads are
     * over; of loops without a way out it is taken that they can be left at their header. */
    uint32_t meets;
    uint32_t loop; /* the innermost that it is in; PTX_NONE */
    bool reached;
} FlowBlock;

typedef struct PtxFlowLoop {
    uint32_t header;  /* block; of an irreducible one that of its entries which a depth-first walk comes to first */
    uint32_t outer;   /* a loop before it in flow->loops, or PTX_NONE */
    bool irreducible; /* it can be entered elsewhere, too */
} PtxFlowLoop;

typedef enum ValueKind {
    VALUE_UNDEFINED, /* nothing was written on the way here */
    VALUE_ARGUMENT,  /* a .reg parameter of a function */
    VALUE_RESULT,    /* written by an instruction */
    VALUE_PHI,       /* what came along the edges: `inputs` has one value for each predecessor of its block */
} ValueKind;

typedef struct FlowValue {
    ValueKind kind;
    uint32_t variable, index; /* the register */
    uint32_t block;
    uint32_t instruction; /* VALUE_RESULT: of the flow */
    uint32_t operand;     /* VALUE_RESULT: of the module, that which writes it */
    /* VALUE_RESULT: what the register had before, where something of it may stay: where the guard does not hold; other
     * parts, if only one is written (%v.x); what it is added to (the accumulator of a wgmma); all of it, if the
     * instruction has no row. Else PTX_NONE. */
    uint32_t before;
    uint32_t inputs; /* VALUE_PHI: in flow->inputs */
} FlowValue;

typedef struct PtxFlow {
    const PtxModule *module;
    uint32_t function;
    Arena arena;
    uint32_t *instructions; /* statements, in the order of the text */
    uint32_t instruction_count;
    uint32_t *block_of; /* of each instruction */
    FlowBlock *blocks;
    uint32_t block_count;
    uint32_t *order; /* blocks that are reached, in reverse postorder */
    uint32_t order_count;
    uint32_t *edges;
    PtxFlowLoop *loops;
    uint32_t loop_count;
    FlowValue *values;
    uint32_t value_count;
    uint32_t *inputs;
    /* Instructions that have no row, or a list of labels that is not there: the first of them, and how many. */
    uint32_t first_unknown, unknown_count;
    uint32_t first_operand, operand_count; /* of the module, in this function */
    uint32_t *operand_values;
} PtxFlow;

/* The graph of a function that has a body. False, with one sentence, if it would take more than `budget` bytes. */
bool ptx_flow(PtxFlow *flow, const PtxModule *module, uint32_t function, size_t budget, const char **problem);
/* Bytes that are enough for any function of a module that people or compilers write. */
size_t ptx_flow_budget(const PtxModule *module);
void ptx_flow_free(PtxFlow *flow);

/* The value that an operand of the module reads or writes; PTX_NONE if it is no register of this function. */
static inline uint32_t flow_value(const PtxFlow *flow, uint32_t operand) {
    uint32_t at = operand - flow->first_operand;
    return at < flow->operand_count ? flow->operand_values[at] : PTX_NONE;
}
/* Whether all ways to `below` lead through `above`; a block that is never reached is neither. */
static inline bool flow_dominates(const PtxFlow *flow, uint32_t above, uint32_t below) {
    const FlowBlock *a = &flow->blocks[above], *b = &flow->blocks[below];
    return a->reached && b->reached && b->tree_begin >= a->tree_begin && b->tree_begin < a->tree_end;
}

/* For people: blocks, phis, values (`weir parse --print flow K.ptx`). */
void ptx_flow_print(const PtxFlow *flow, Text *to);

#endif
