/* What the two halves of model/flow share: flow.c has pieces and edges, loops.c has loops. */
#ifndef MODEL_FLOW_INTERNAL_H
#define MODEL_FLOW_INTERNAL_H

#include "model/flow/flow.h"

/* The pieces of a block: `first` is where branches to it go, `last` the one at its end. */
typedef struct BlockPieces {
    uint32_t first, last;
} BlockPieces;

typedef struct FlowBuilder {
    Arena *arena;
    const Op *function;
    Flow flow;
    uint32_t *piece_of; /* by number */
    Pointers blocks;    /* to index of `block_pieces` */
    BlockPieces *block_pieces;
    uint32_t block_count;
    Pointers after; /* an op that branches into regions: the piece behind it */
    uint32_t edge_capacity, loop_capacity;
} FlowBuilder;

/* NULL: the block has no code. */
BlockPieces *flow_pieces_of(FlowBuilder *builder, const Block *block);
void flow_add_loop(FlowBuilder *builder, FlowLoop loop);
/* Everything about loops, once there are pieces and edges. */
void flow_find_loops(FlowBuilder *builder);

/* A successor of a block; NULL past the last one. */
static inline const Block *flow_successor(const Block *block, uint32_t index) {
    const Block *to =
        block->last && index < op_successor_count(block->last) ? block->last->extra->successors[index] : NULL;
    return to && to->region == block->region ? to : NULL;
}

#endif
