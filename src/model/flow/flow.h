/* Control flow of a function, whatever writes it: branches between blocks, regions of scf, partitions, groups of warps.
 *
 * A block is cut after each op that branches into its own regions, so that every piece is straight-line code: it starts
 * at the start of a block or behind such an op, and ends with such an op or with the block's terminator. Pieces are
 * numbered in the order of the text. Code of an op that is no control flow (the combiner of a tt.reduce) is a piece
 * of its own that nothing leads to. */
#ifndef MODEL_FLOW_FLOW_H
#define MODEL_FLOW_FLOW_H

#include "base/pointers.h"
#include "ir/ir.h"

enum { FLOW_NONE = UINT32_MAX };

typedef struct FlowOp {
    const Op *op;
    uint32_t number; /* in the order of the text, an op before those in its regions */
} FlowOp;

typedef struct FlowEdge {
    uint32_t to;
    bool back;     /* to an earlier place: values that are computed there are other values the next time */
    bool all_meet; /* every thread has come before anyone goes on: the start of a partition, also of the default one */
    bool round;    /* an iteration of `loop` is over: on a back edge, and on the way out of a loop that counts */
    uint32_t loop; /* back or round: of this loop; FLOW_NONE: not known of which */
    uint32_t enters; /* the loop that starts here, also if it does not run once; FLOW_NONE: none */
} FlowEdge;

typedef struct FlowPiece {
    uint32_t first, count; /* of its ops */
    uint32_t first_edge, edge_count;
    bool entry;   /* it may start with nothing before it */
    bool returns; /* the function ends there */
} FlowPiece;

/* A loop that is an op, or one of branches, which is known by one of those that go back to its first block. */
typedef struct FlowLoop {
    const Op *op;
    const Block *first_block; /* of branches: the block by which it is entered; else NULL */
    uint32_t number;          /* of that op */
    uint32_t parent;          /* the loop around it; FLOW_NONE: none */
    uint32_t first, last;     /* what its own `first` and those of the loops inside are between */
} FlowLoop;

typedef struct Flow {
    FlowOp *ops; /* those of one piece beside each other, in their order */
    FlowPiece *pieces;
    FlowEdge *edges;
    FlowLoop *loops; /* those that are ops first, in the order of the text */
    uint32_t op_count, piece_count, edge_count, loop_count;
    uint32_t *loop_of; /* by number: the innermost loop around the op; FLOW_NONE: none */
    Pointers loop_at;  /* an op, or the first block of a loop of branches, to the loop */
    Pointers loop_in;  /* a block to the innermost loop of branches that holds it */
    bool irreducible;  /* some loop of branches is entered in two places, or it would take too long to tell */
} Flow;

/* Of a function with a body. */
Flow flow_of(const Op *function, Arena *arena);

/* Whether the op of that number is in the loop. */
static inline bool flow_loop_holds(const Flow *flow, uint32_t loop, uint32_t number) {
    uint32_t inner = flow->loop_of[number];
    return inner != FLOW_NONE && flow->loops[loop].first <= flow->loops[inner].first &&
           flow->loops[inner].first <= flow->loops[loop].last;
}
/* Whether a loop is another one or in it. */
static inline bool flow_loop_has(const Flow *flow, uint32_t loop, uint32_t inner) {
    return flow->loops[loop].first <= flow->loops[inner].first && flow->loops[inner].first <= flow->loops[loop].last;
}

/* The innermost loop that holds a block of the function; NULL if none does. */
const FlowLoop *flow_loop_around(const Flow *flow, const Block *block);
/* The loop that is the op, or the one that the branch goes around; NULL if it is neither, or goes around two. */
const FlowLoop *flow_loop_of(const Flow *flow, const Op *op);

/* Whether control flow goes from the op into its regions. */
bool flow_branches(const Op *op);

#endif
