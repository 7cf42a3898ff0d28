/* Asynchronous products in registers (wgmma): until the group of one is waited for, its accumulator must not be touched
 * by anything but the next product. Which product a value comes from is a number that travels with it; a use checks
 * that it was waited for. */
#include "emulate/program_internal.h"

#include "model/flow/handed.h"

static bool is_asynchronous(const Op *op) {
    const Attr *attr = op_has_id(op, OP_ttng_warp_group_dot) ? op_attr(op, "isAsync") : NULL;
    return attr && ((attr->kind == ATTR_BOOL && attr->integer) || attr->kind == ATTR_UNIT);
}

/* The ops that hand values on without looking at them. */
static bool hands_on(const Op *op, uint32_t operand) {
    if (!op->row)
        return false;
    switch (op->row->id) {
    case OP_ttng_warp_group_dot:
        return operand == 2;
    case OP_ttng_warp_group_dot_wait:
    case OP_scf_for:
    case OP_scf_while:
    case OP_scf_yield:
    case OP_scf_condition:
    case OP_cf_br:
    case OP_cf_cond_br:
    case OP_ttg_warp_yield:
    case OP_ttg_warp_specialize:
    case OP_tt_return:
    case OP_tt_call:
        return true;
    default:
        return false;
    }
}

static bool mark(Slice *set, const Value *value) {
    if (slice_has(set, value))
        return false;
    slice_add(set, value);
    return true;
}

static bool mark_yielded(Slice *set, const Op *op, Value *to, uint32_t count, uint32_t skip) {
    bool changed = false;
    for (uint32_t r = 0; r < op->region_count; r++) {
        const Op *end = region_end(op, r);
        for (uint32_t i = 0; end && i < count && i + skip < end->operand_count; i++)
            if (slice_has(set, end->operands[i + skip]))
                changed |= mark(set, &to[i]);
    }
    return changed;
}

/* One op's step of the fixed point. */
static bool spread(Slice *set, const Op *op) {
    bool changed = false;
    if (is_asynchronous(op) && op->result_count)
        return mark(set, &op->results[0]);
    switch (op->row ? op->row->id : OP_COUNT) {
    case OP_ttng_warp_group_dot_wait:
        for (uint32_t i = 0; i < op->operand_count && i < op->result_count; i++)
            if (slice_has(set, op->operands[i]))
                changed |= mark(set, &op->results[i]);
        break;
    case OP_scf_for: {
        const Block *body = op->region_count ? op->regions[0].first : NULL;
        for (uint32_t i = 1; body && i < body->arg_count && i + 2 < op->operand_count; i++)
            if (slice_has(set, op->operands[i + 2]) || (i <= op->result_count && slice_has(set, &op->results[i - 1])))
                changed |= mark(set, &body->args[i]);
        changed |= mark_yielded(set, op, op->results, op->result_count, 0);
        for (uint32_t i = 1; body && i < body->arg_count && i <= op->result_count; i++)
            if (slice_has(set, &body->args[i]))
                changed |= mark(set, &op->results[i - 1]);
        break;
    }
    case OP_scf_if:
        changed |= mark_yielded(set, op, op->results, op->result_count, 0);
        break;
    default:
        break;
    }
    return changed;
}

void products_find(Compiler *compiler) {
    Slice *set = &compiler->products;
    const Op *root = compiler->program->function;
    slice_init(set, compiler->module);
    for (bool changed = true; changed;) {
        changed = false;
        for (const Op *op = root; op; op = op_next_in_walk(op, root))
            changed |= spread(set, op);
    }
    for (const Op *op = set->count ? root : NULL; op; op = op_next_in_walk(op, root))
        for (uint32_t i = 0; i < op->operand_count; i++)
            if (slice_has(set, op->operands[i]) && !hands_on(op, i))
                slice_add(&compiler->slice, op->operands[i]);
}

void products_check(Compiler *compiler, const Op *op) {
    if (!compiler->products.count)
        return;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        if (!slice_has(&compiler->products, op->operands[i]) || hands_on(op, i))
            continue;
        uint32_t number = value_register(compiler, op->operands[i]);
        if (number != NO_REGISTER)
            emit_code(compiler, CODE_FINISHED, op)->a = number;
    }
}
