/* Whether a write is the same in every program: what it is made of does not say which program it is. */
#include "check/certificate/internal.h"

#include "ir/op.h"
#include "model/flow/forwarded.h"

typedef struct Alike {
    CertificateChecker *checker;
    ValueWalk walk;
} Alike;

/* Ops without effects, each of whose results the operands alone decide. */
static bool follows_from_operands(Alike *alike, const Op *op) {
    Effect effects[EFFECTS_MOST];
    bool plain = op->row && effects_of(alike->checker->module, op, effects) == 0;
    for (uint32_t i = 0; plain && i < op->result_count; i++) {
        Evaluator how = op_evaluator_at(op, i);
        if (how == EVALUATE_NONE) /* no assembly, no function of a library, nothing that asks the machine */
            plain = op->operand_count && !op->row->effects[0];
        else
            plain = how == EVALUATE_PROGRAM_COUNT || (how < EVALUATE_PROGRAM_ID && how != EVALUATE_POISON);
    }
    return plain;
}

/* Memory that the kernel only reads, and no element of which is left out without a number in its place. */
static bool is_read_only(Alike *alike, const Op *op) {
    const CertificateChecker *checker = alike->checker;
    const GlobalTouch *touch = NULL;
    for (uint32_t i = 0; i < checker->touch_count; i++)
        if (checker->touches[i].op == op) {
            if (touch)
                return false;
            touch = &checker->touches[i];
        }
    Effect effects[EFFECTS_MOST];
    if (!touch || touch->writes || touch->async || touch->root < 0 || touch->effect.verb != EFFECT_READ ||
        touch->effect.on_descriptor || op->row->control.kind != CONTROL_NONE ||
        effects_of(checker->module, op, effects) != 1)
        return false;
    for (uint32_t i = 0; i < checker->touch_count; i++)
        if (checker->touches[i].writes &&
            (checker->touches[i].root == ANY_ROOT || checker->touches[i].root == touch->root))
            return false;
    return !op_attr(op, "boundaryCheck") && (!touch->effect.mask || touch->effect.otherwise);
}

/* A reduction or scan with such ops alone. */
static bool is_reduction(Alike *alike, const Op *op) {
    Evaluator how = op_evaluator_at(op, 0);
    if (!op->row || op->row->control.kind != CONTROL_COMBINE || !follows_from_operands(alike, op) ||
        (how != EVALUATE_REDUCE && how != EVALUATE_SCAN))
        return false;
    for (const Op *part = op_next_in_walk(op, op); part; part = op_next_in_walk(part, op)) {
        Control control = part->row ? part->row->control.kind : CONTROL_UNKNOWN;
        if (part->region_count ||
            (control != CONTROL_YIELD && (control != CONTROL_NONE || !follows_from_operands(alike, part))))
            return false;
        for (uint32_t i = 0; i < part->operand_count; i++) {
            const Op *maker = value_op(part->operands[i]);
            const Op *around = maker ? op_parent(maker) : value_holder(part->operands[i]);
            if (around != op)
                value_walk_to(&alike->walk, part->operands[i]);
        }
    }
    return true;
}

static bool goes_on(Alike *alike, const Value *value) {
    const Op *op = value_op(value);
    if (!op)
        return value_holder(value) == alike->checker->function;
    bool good = op->region_count
                    ? is_reduction(alike, op)
                    : (op->row && op->row->control.kind == CONTROL_NONE && follows_from_operands(alike, op)) ||
                          is_read_only(alike, op);
    for (uint32_t i = 0; good && i < op->operand_count; i++)
        value_walk_to(&alike->walk, op->operands[i]);
    return good;
}

/* Around the op is no loop, by regions or by blocks. */
static bool is_made_once(const CertificateChecker *checker, const Op *op) {
    bool once = op->block && op->block->region->block_count == 1;
    for (const Op *around = op_parent(op); once && around && around != checker->function; around = op_parent(around))
        once = !op_is_loop(around) && around->block && around->block->region->block_count == 1;
    return once;
}

const char *write_differs(CertificateChecker *checker, const GlobalTouch *touch) {
    if (touch->effect.verb == EFFECT_WRITE && !touch->async && !touch->effect.on_descriptor &&
        is_made_once(checker, touch->op) && !programs_differ(checker, touch->op))
        return NULL;
    Alike alike = {.checker = checker, .walk = {.seen = {.arena = checker->arena}}};
    if (touch->effect.verb != EFFECT_WRITE || touch->async || touch->effect.on_descriptor)
        return "it is no write of threads";
    for (uint32_t i = 0; i < checker->touch_count; i++)
        if (!effect_is_access(&checker->touches[i].effect) || checker->touches[i].effect.verb == EFFECT_UPDATE ||
            checker->touches[i].effect.order != ORDER_WEAK)
            return "programs may talk to each other";
    for (uint32_t i = 0; i < touch->op->operand_count; i++)
        value_walk_to(&alike.walk, touch->op->operands[i]);
    for (uint32_t i = 0; i < alike.walk.count; i++)
        if (!goes_on(&alike, alike.walk.items[i]))
            return "what is written may differ from program to program";
    return NULL;
}
