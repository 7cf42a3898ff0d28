/* Values under other names, op by op of control flow. */
#include "model/flow/handed.h"

#include "ir/optable.h"

typedef struct Hands {
    HandOn *hand_on;
    void *context;
} Hands;

static bool is_op(const Op *op, OpId id) {
    return op && op->row && op->row->id == id;
}

static void hand(const Hands *hands, const Value *from, const Value *to) {
    hands->hand_on(hands->context, from, to);
}

/* From each of `from` to the one of `to` at the same place. */
static void hand_all(const Hands *hands, Value *const *from, uint32_t from_count, Value *to, uint32_t to_count) {
    for (uint32_t i = 0; i < from_count && i < to_count; i++)
        hand(hands, from[i], &to[i]);
}

static const Block *entry_of(const Op *op, uint32_t region) {
    return region < op->region_count ? op->regions[region].first : NULL;
}

static void hand_round(const Hands *hands, const Op *op) {
    const Block *body = entry_of(op, 0);
    if (!body || !body->arg_count || op->operand_count < 3)
        return;
    Value *args = body->args + 1;
    uint32_t count = body->arg_count - 1;
    hand_all(hands, op->operands + 3, op->operand_count - 3, args, count);
    if (body->last)
        hand_all(hands, body->last->operands, body->last->operand_count, args, count);
    for (uint32_t i = 0; i < count && i < op->result_count; i++)
        hand(hands, &args[i], &op->results[i]);
}

static void hand_round_while(const Hands *hands, const Op *op) {
    const Block *before = entry_of(op, 0), *after = entry_of(op, 1);
    if (!before || !after)
        return;
    hand_all(hands, op->operands, op->operand_count, before->args, before->arg_count);
    if (is_op(before->last, OP_scf_condition) && before->last->operand_count) {
        Value **handed = before->last->operands + 1;
        uint32_t count = before->last->operand_count - 1;
        hand_all(hands, handed, count, after->args, after->arg_count);
        hand_all(hands, handed, count, op->results, op->result_count);
    }
    if (after->last)
        hand_all(hands, after->last->operands, after->last->operand_count, before->args, before->arg_count);
}

/* What regions hand over at their ends becomes the op's results. */
static void hand_results(const Hands *hands, const Op *op) {
    for (uint32_t r = 0; r < op->region_count && op->result_count; r++)
        for (const Block *block = op->regions[r].first; block; block = block->next)
            if (block->last && block->last->row && (block->last->row->traits & TERMINATOR) &&
                !op_successor_count(block->last))
                hand_all(hands, block->last->operands, block->last->operand_count, op->results, op->result_count);
}

static void hand_captures(const Hands *hands, const Op *op) {
    const Op *holder = op->operand_count ? op : op_parent(op);
    for (uint32_t r = 0; holder && r < op->region_count; r++) {
        const Block *body = entry_of(op, r);
        if (body)
            hand_all(hands, holder->operands, holder->operand_count, body->args, body->arg_count);
    }
}

static void hand_branches(const Hands *hands, const Op *op) {
    uint32_t first = is_op(op, OP_cf_br) ? 0 : 1;
    for (uint32_t s = 0; s < op_successor_count(op) && first <= op->operand_count; s++) {
        const Block *to = op->extra->successors[s];
        if (first < op->operand_count)
            hand_all(hands, op->operands + first, op->operand_count - first, to->args, to->arg_count);
        first += to->arg_count;
    }
}

/* Argument j of each tile is one of the operands from j * tiles on. */
static void hand_subtiles(const Hands *hands, const Op *op) {
    const Attr *attr = op_attr(op, "numTiles");
    uint32_t per_tile, shared;
    Value **first = op_operands_at(op, 0, &per_tile), **others = op_operands_at(op, 1, &shared);
    const Block *body = entry_of(op, 0);
    if (!body || !attr || attr->kind != ATTR_INTEGER || attr->integer < 1 || attr->integer > per_tile + INT64_C(1))
        return;
    uint32_t tiles = (uint32_t)attr->integer;
    for (uint32_t i = 0; first && i < per_tile && i / tiles < body->arg_count; i++)
        hand(hands, first[i], &body->args[i / tiles]);
    uint32_t from = per_tile / tiles;
    if (others && from < body->arg_count)
        hand_all(hands, others, shared, body->args + from, body->arg_count - from);
}

bool op_hands_on(const Op *op, HandOn *hand_on, void *context) {
    const Hands hands = {hand_on, context};
    switch (op->row ? op->row->id : OP_COUNT) {
    case OP_scf_for:
        hand_round(&hands, op);
        return true;
    case OP_scf_while:
        hand_round_while(&hands, op);
        return true;
    case OP_scf_if:
    case OP_scf_index_switch:
    case OP_scf_execute_region:
    case OP_ttg_mask:
    case OP_ttg_warp_specialize:
    case OP_nvws_warp_group:
        hand_results(&hands, op);
        return true;
    case OP_ttg_warp_specialize_partitions:
        hand_captures(&hands, op);
        return true;
    case OP_cf_br:
    case OP_cf_cond_br:
    case OP_cf_switch:
        hand_branches(&hands, op);
        return true;
    case OP_ttng_subtiled_region:
        hand_subtiles(&hands, op);
        return true;
    case OP_arith_select:
        for (uint32_t i = 1; i < op->operand_count && op->result_count; i++)
            hand(&hands, op->operands[i], &op->results[0]);
        return true;
    default:
        return false;
    }
}
