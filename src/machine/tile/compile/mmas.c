/* Asynchronous products in registers (wgmma): until the group of one is waited for, its accumulator must not be touched
 * by anything but the next product. Which product a value comes from is a number that travels with it; a use checks
 * that it was waited for. */
#include "machine/tile/compile/program_internal.h"

#include "model/flow/forwarded.h"

/* Whether the op hands the operand on without looking at it. */
static bool hands_on(const Op *op, uint32_t operand) {
    switch (op_control(op)) {
    case CONTROL_LOOP:
    case CONTROL_WHILE:
    case CONTROL_FORK:
    case CONTROL_JUMP:
    case CONTROL_CALL:
    case CONTROL_YIELD:
    case CONTROL_CONDITION:
    case CONTROL_RETURN:
        return true;
    default:
        return op_is(op, CLASS_WGMMA_WAIT) || chooses_whole(op) ||
               (op_is(op, CLASS_WGMMA) && op->operands[operand] == op_operand_named(op, "c"));
    }
}

/* One step of the fixed point. */
typedef struct MmaSpreading {
    Slice *set;
    bool changed;
} MmaSpreading;

static void mark(MmaSpreading *spreading, const Value *value) {
    spreading->changed |= !slice_has(spreading->set, value);
    slice_add(spreading->set, value);
}

static void hand_on(void *context, Forwarded how, const Value *from, const Value *to) {
    MmaSpreading *spreading = context;
    bool looked_at =
        (how == FORWARDED_CHOICE && !chooses_whole(value_op(to))) || how == FORWARDED_CAPTURE; /* a check finds it */
    if (!looked_at && slice_has(spreading->set, from))
        mark(spreading, to);
}

static void spread(MmaSpreading *spreading, const Op *op) {
    if (op_is(op, CLASS_WGMMA) && op_flag(op, "isAsync") && op->result_count)
        mark(spreading, &op->results[0]);
    for (uint32_t i = 0; op_is(op, CLASS_WGMMA_WAIT) && i < op->operand_count && i < op->result_count; i++)
        hand_on(spreading, FORWARDED_OVER, op->operands[i], &op->results[i]);
    op_hands_on(op, hand_on, spreading);
}

void mmas_find(Compiler *compiler) {
    Slice *set = &compiler->mmas;
    const Op *root = compiler->program->function;
    slice_init(set, compiler->module);
    for (MmaSpreading spreading = {set, true}; spreading.changed;) {
        spreading.changed = false;
        for (const Op *op = root; op; op = op_next_in_walk(op, root))
            spread(&spreading, op);
    }
    for (const Op *op = set->walk.seen.count ? root : NULL; op; op = op_next_in_walk(op, root))
        for (uint32_t i = 0; i < op->operand_count; i++)
            if (slice_has(set, op->operands[i]) && !hands_on(op, i))
                slice_add(&compiler->slice, op->operands[i]);
}

void mmas_check(Compiler *compiler, const Op *op) {
    if (!compiler->mmas.walk.seen.count)
        return;
    for (uint32_t i = 0; i < op->operand_count; i++) {
        if (!slice_has(&compiler->mmas, op->operands[i]) || hands_on(op, i))
            continue;
        uint32_t number = value_register(compiler, op->operands[i]);
        if (number != NO_REGISTER)
            emit_code(compiler, CODE_FINISHED, op)->a = number;
    }
}
