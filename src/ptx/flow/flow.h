/* One function of a PTX module as a graph: blocks of instructions, the SSA values that registers have in them, who
 * dominates whom, loops, and where threads that went apart come together again.
 *
 * The module stays as it is; this is numbers beside it. A value belongs to each operand that is a register, read or
 * written (flow_value), and to nothing else: memory is not in SSA form. A guarded instruction writes a register only
 * where its guard holds, so the value that it defines is a choice between its result and the value before it
 * (`before`); that is how predicates become selects. A branch that is guarded ends its block.
 *
 * All of it is linear in the function, but for the sets of dominance, which are nearly so. */
#ifndef PTX_FLOW_FLOW_H
#define PTX_FLOW_FLOW_H

#include "ptx/ptx.h"

typedef enum FlowEnd {
    FLOW_NEXT,   /* goes on with the next block; a call does, too */
    FLOW_JUMP,   /* successor 0 */
    FLOW_BRANCH, /* guarded: successor 0 where the guard holds, 1 is the next block. An unlikely exit, too: then 0 is
                    missing, and successor_count is 1 */
    FLOW_TABLE,  /* brx.idx: a successor for each label of the list */
    FLOW_OVER,   /* returns, exits or traps */
} FlowEnd;

typedef struct FlowBlock {
    uint32_t begin, end; /* instructions of the flow */
    FlowEnd ends;
    uint32_t successors, successor_count;     /* in flow->edges */
    uint32_t predecessors, predecessor_count; /* in flow->edges */
    uint32_t phis, phi_count;                 /* values */
    uint32_t dominator;                       /* its immediate one; PTX_NONE: the first block, or never reached */
    /* Its immediate post-dominator, where threads that part at its end meet again; PTX_NONE: only at the end of the
     * function, or never. */
    uint32_t meets;
    uint32_t loop; /* the innermost that it is in; PTX_NONE */
    bool reached;
} FlowBlock;

typedef struct FlowLoop {
    uint32_t header;  /* block */
    uint32_t outer;   /* PTX_NONE */
    bool irreducible; /* it can be entered elsewhere, too */
} FlowLoop;

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
    uint32_t before; /* VALUE_RESULT of a guarded instruction: the value where the guard does not hold; else PTX_NONE */
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
    FlowLoop *loops;
    uint32_t loop_count;
    FlowValue *values;
    uint32_t value_count;
    uint32_t *inputs;
    uint32_t first_operand, operand_count; /* of the module, in this function */
    uint32_t *operand_values;
} PtxFlow;

/* The graph of a function that has a body. False, with one sentence, if it would take more than `budget` bytes. */
bool ptx_flow(PtxFlow *flow, const PtxModule *module, uint32_t function, size_t budget, const char **problem);
void ptx_flow_free(PtxFlow *flow);

/* The value that an operand of the module reads or writes; PTX_NONE if it is no register of this function. */
static inline uint32_t flow_value(const PtxFlow *flow, uint32_t operand) {
    uint32_t at = operand - flow->first_operand;
    return at < flow->operand_count ? flow->operand_values[at] : PTX_NONE;
}
bool flow_dominates(const PtxFlow *flow, uint32_t above, uint32_t below);

/* For people: blocks, phis, values (`weir parse --print flow K.ptx`). */
void ptx_flow_print(const PtxFlow *flow, Text *to);

#endif
