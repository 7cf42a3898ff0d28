/* Follows a value back to its allocation. */
#include "model/root.h"

#include "ir/optable.h"
#include "model/effect.h"

enum { MOST_STEPS = 256 };

/* Operand `index` of the end of the op's first region; NULL if there is none. */
static const Value *handed_over(const Op *op, uint32_t index) {
    const Op *end = op->region_count && op->regions[0].first ? op->regions[0].first->last : NULL;
    return end && index < end->operand_count ? end->operands[index] : NULL;
}

static const Value *before_argument(const Value *value) {
    const Block *block = value->owner;
    const Op *op = block->region->op;
    if (!op || !op->row)
        return NULL;
    if (block != block->region->first) { /* what the first branch to the block hands over */
        for (const Block *from = block->region->first; from; from = from->next) {
            const Op *end = from->last;
            uint32_t first = end && end->row && end->row->id == OP_cf_cond_br ? 1 : 0;
            for (uint32_t s = 0; end && s < op_successor_count(end); s++) {
                if (end->extra->successors[s] == block && first + value->index < end->operand_count)
                    return end->operands[first + value->index];
                first += end->extra->successors[s]->arg_count;
            }
        }
        return NULL;
    }
    switch (op->row->id) {
    case OP_scf_for:
        return value->index && value->index + 2 < op->operand_count ? op->operands[value->index + 2] : NULL;
    case OP_scf_while:
        if (block->region == &op->regions[0])
            return value->index < op->operand_count ? op->operands[value->index] : NULL;
        return handed_over(op, value->index + 1);
    case OP_ttg_warp_specialize_partitions: {
        const Op *holder = op->operand_count ? op : op_parent(op);
        return holder && value->index < holder->operand_count ? holder->operands[value->index] : NULL;
    }
    default:
        return NULL;
    }
}

static const Value *before_result(Module *module, const Value *value, bool *found) {
    const Op *op = value->owner;
    if (!op->row)
        return NULL;
    if (op->row->id == OP_scf_for)
        return value->index + 3 < op->operand_count ? op->operands[value->index + 3] : NULL;
    if (op->row->id == OP_arith_select)
        return op->operands[1];
    if (op->row->id == OP_scf_if || op->row->id == OP_ttg_warp_specialize)
        return handed_over(op, value->index);
    Effect effects[EFFECTS_MOST];
    unsigned count = effects_of(module, op, effects);
    for (unsigned i = 0; i < count; i++)
        if (effects[i].verb == EFFECT_ALLOCATE && effects[i].on == value) {
            *found = true;
            return value;
        }
    for (unsigned i = 0; i < count; i++)
        if (effects[i].verb == EFFECT_VIEW && effects[i].on == value)
            return effects[i].amount;
    return NULL;
}

const Op *root_of(Module *module, const Value *value) {
    bool found = false;
    for (int step = 0; value && step < MOST_STEPS; step++) {
        value = value->is_result ? before_result(module, value, &found) : before_argument(value);
        if (found)
            return value->owner;
    }
    return NULL;
}
