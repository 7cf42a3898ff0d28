/* Cuts a function into straight-line pieces and finds where each of them leads. */
#include "model/flow/internal.h"

#include "ir/op.h"

/* A loop that is an op. */
static bool is_loop(const Op *op) {
    return op_is_loop(op) || op_is_control(op, CONTROL_TILES);
}

bool flow_branches(const Op *op) {
    Control kind = op_control(op);
    return op->region_count && (kind == CONTROL_UNKNOWN || (kind >= CONTROL_LOOP && kind <= CONTROL_GROUPS));
}

/* ---- Pieces ---------------------------------------------------------------------------------------------------- */

BlockPieces *flow_pieces_of(FlowBuilder *builder, const Block *block) {
    uint32_t index = pointers_get(&builder->blocks, block);
    return index == NO_NUMBER ? NULL : &builder->block_pieces[index];
}

/* Starts a piece at `op`. */
static uint32_t start_piece(FlowBuilder *builder, const Op *op) {
    uint32_t piece = builder->flow.piece_count++;
    BlockPieces *known = flow_pieces_of(builder, op->block);
    if (!known) {
        pointers_set(&builder->blocks, op->block, builder->block_count);
        known = &builder->block_pieces[builder->block_count++];
        known->first = piece;
        const Op *holder = op->block->region->op;
        builder->flow.pieces[piece].entry =
            op->block == op->block->region->first && (holder == builder->function || !flow_branches(holder));
    } else {
        pointers_set(&builder->after, op->prev, piece);
    }
    known->last = piece;
    return piece;
}

static void count_ops(FlowBuilder *builder) {
    for (const Op *op = op_next_in_walk(builder->function, builder->function); op;
         op = op_next_in_walk(op, builder->function))
        builder->flow.op_count++;
    Flow *flow = &builder->flow;
    flow->ops = ARENA_ARRAY(builder->arena, FlowOp, flow->op_count + 1);
    flow->pieces = ARENA_ARRAY(builder->arena, FlowPiece, flow->op_count + 1);
    flow->loop_of = ARENA_ARRAY(builder->arena, uint32_t, flow->op_count + 1);
    builder->piece_of = ARENA_ARRAY(builder->arena, uint32_t, flow->op_count + 1);
    builder->block_pieces = ARENA_ARRAY(builder->arena, BlockPieces, flow->op_count + 1);
}

/* Numbers the ops, cuts blocks into pieces and finds the loops that are ops. */
static void cut(FlowBuilder *builder) {
    uint32_t number = 0;
    for (const Op *op = op_next_in_walk(builder->function, builder->function); op;
         op = op_next_in_walk(op, builder->function), number++) {
        bool starts = !op->prev || flow_branches(op->prev);
        uint32_t piece = starts ? start_piece(builder, op) : flow_pieces_of(builder, op->block)->last;
        builder->piece_of[number] = piece;
        builder->flow.pieces[piece].count++;
        if (is_loop(op))
            flow_add_loop(builder, (FlowLoop){.op = op, .number = number});
    }
}

/* Puts the ops of each piece beside each other. */
static void sort_ops(FlowBuilder *builder) {
    Flow *flow = &builder->flow;
    uint32_t at = 0, number = 0;
    for (uint32_t i = 0; i < flow->piece_count; i++) {
        flow->pieces[i].first = at;
        at += flow->pieces[i].count;
        flow->pieces[i].count = 0;
    }
    for (const Op *op = op_next_in_walk(builder->function, builder->function); op;
         op = op_next_in_walk(op, builder->function), number++) {
        FlowPiece *piece = &flow->pieces[builder->piece_of[number]];
        flow->ops[piece->first + piece->count++] = (FlowOp){op, number};
    }
}

/* ---- Edges ----------------------------------------------------------------------------------------------------- */

static void add_edge(FlowBuilder *builder, FlowEdge edge) {
    Flow *flow = &builder->flow;
    if (edge.to == FLOW_NONE)
        return;
    *ARENA_PUSH(builder->arena, flow->edges, flow->edge_count, builder->edge_capacity) = edge;
}

/* Where a region starts; FLOW_NONE if it has no code. */
static uint32_t start_of(FlowBuilder *builder, const Op *op, uint32_t region) {
    const Block *first = region < op->region_count ? op->regions[region].first : NULL;
    const BlockPieces *pieces = first ? flow_pieces_of(builder, first) : NULL;
    return pieces ? pieces->first : FLOW_NONE;
}

static FlowEdge edge_to(uint32_t piece) {
    return (FlowEdge){.to = piece, .loop = FLOW_NONE, .enters = FLOW_NONE};
}

static void go_into(FlowBuilder *builder, const Op *op, uint32_t region) {
    add_edge(builder, edge_to(start_of(builder, op, region)));
}

static void go_behind(FlowBuilder *builder, const Op *op) {
    add_edge(builder, edge_to(pointers_get(&builder->after, op)));
}

static void go_back(FlowBuilder *builder, const Op *op, uint32_t region) {
    FlowEdge edge = edge_to(start_of(builder, op, region));
    edge.back = edge.round = true;
    edge.loop = pointers_get(&builder->flow.loop_at, op);
    add_edge(builder, edge);
}

/* Out of a loop that tests at its top: what it hands out is what the next iteration would have got. */
static void go_out(FlowBuilder *builder, const Op *op) {
    FlowEdge edge = edge_to(pointers_get(&builder->after, op));
    edge.round = true;
    edge.loop = pointers_get(&builder->flow.loop_at, op);
    add_edge(builder, edge);
}

/* From an op into its regions, or past them. */
static void enter_regions(FlowBuilder *builder, const Op *op) {
    uint32_t before = builder->flow.edge_count;
    switch (op_control(op)) {
    case CONTROL_LOOP:
    case CONTROL_GUARD:
        go_into(builder, op, 0);
        go_behind(builder, op);
        break;
    case CONTROL_WHILE:
    case CONTROL_ONCE:
    case CONTROL_TILES:
        go_into(builder, op, 0);
        break;
    case CONTROL_BRANCH:
        go_into(builder, op, 0);
        if (start_of(builder, op, 1) == FLOW_NONE)
            go_behind(builder, op);
        go_into(builder, op, 1);
        break;
    case CONTROL_FORK: /* the warps of the partitions are sent off by a barrier of all */
    case CONTROL_GROUPS:
        for (uint32_t r = 0; r < op->region_count; r++) {
            FlowEdge edge = edge_to(start_of(builder, op, r));
            edge.all_meet = true;
            add_edge(builder, edge);
        }
        break;
    case CONTROL_UNKNOWN:
        for (uint32_t r = 0; r < op->region_count; r++)
            go_into(builder, op, r);
        go_behind(builder, op);
        break;
    default:
        for (uint32_t r = 0; r < op->region_count; r++)
            go_into(builder, op, r);
        break;
    }
    if (builder->flow.edge_count == before && !op_is_control(op, CONTROL_PARTITIONS))
        go_behind(builder, op); /* no region has code */
    for (uint32_t e = before; e < builder->flow.edge_count; e++)
        builder->flow.edges[e].enters = pointers_get(&builder->flow.loop_at, op);
}

/* From the end of a region of `op`. */
static void leave_region(FlowBuilder *builder, const Op *op, uint32_t region) {
    switch (op_control(op)) {
    case CONTROL_LOOP:
        go_back(builder, op, 0);
        go_out(builder, op);
        break;
    case CONTROL_TILES:
        go_back(builder, op, 0);
        go_behind(builder, op);
        break;
    case CONTROL_WHILE:
        if (region == 0) {
            go_into(builder, op, 1);
            go_behind(builder, op);
        } else {
            go_back(builder, op, 0);
        }
        break;
    case CONTROL_FORK:
    case CONTROL_GROUPS:
        if (region == 0)
            go_behind(builder, op);
        break;
    case CONTROL_PARTITIONS:
        break;
    case CONTROL_UNKNOWN:
        for (uint32_t r = 0; r < op->region_count; r++)
            go_back(builder, op, r);
        go_behind(builder, op);
        break;
    default:
        go_behind(builder, op);
        break;
    }
}

/* From the end of a block: to its successors, or out of its region. */
static void leave_block(FlowBuilder *builder, const Op *end, FlowPiece *piece) {
    const Region *region = end->block->region;
    const Op *holder = region->op;
    for (uint32_t s = 0; flow_successor(end->block, s); s++) {
        const BlockPieces *to = flow_pieces_of(builder, flow_successor(end->block, s));
        if (to)
            add_edge(builder, edge_to(to->first));
    }
    if (op_successor_count(end))
        return;
    if (holder == builder->function)
        piece->returns = true;
    else if (flow_branches(holder))
        leave_region(builder, holder, (uint32_t)(region - holder->regions));
}

static void connect(FlowBuilder *builder) {
    Flow *flow = &builder->flow;
    for (uint32_t i = 0; i < flow->piece_count; i++) {
        FlowPiece *piece = &flow->pieces[i];
        const Op *last = flow->ops[piece->first + piece->count - 1].op;
        piece->first_edge = flow->edge_count;
        if (flow_branches(last))
            enter_regions(builder, last);
        if (!last->next && (op_is_terminator(last) || !flow_branches(last)) && !op_is_control(last, CONTROL_PARTITIONS))
            leave_block(builder, last, piece);
        piece->edge_count = flow->edge_count - piece->first_edge;
    }
}

Flow flow_of(const Op *function, Arena *arena) {
    FlowBuilder builder = {.arena = arena,
                           .function = function,
                           .blocks = {.arena = arena},
                           .after = {.arena = arena},
                           .flow = {.loop_at = {.arena = arena}, .loop_in = {.arena = arena}}};
    count_ops(&builder);
    cut(&builder);
    sort_ops(&builder);
    connect(&builder);
    flow_find_loops(&builder);
    return builder.flow;
}
