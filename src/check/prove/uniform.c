/* Writes that are the same in every program. One that comes to an element after another program has changes nothing:
 * such a race is a note (race.same-value), and no fault of a launch.
 *
 * A value is uniform if it is made of constants, arguments, the size of the grid and memory that the kernel does not
 * write, at places that do not depend on data, by ops whose results follow from their operands. Nothing else is: what
 * loops count and carry, what branches give, shared and tensor memory, atomics, assembly and libraries may differ from
 * program to program; unless all programs go the same way (model/memory/alike.h). A run of a launch follows no more
 * values than these either. */
#include "check/prove/access.h"

#include "ir/op.h"
#include "model/flow/forwarded.h"
#include "model/memory/alike.h"

static Control control_of(const Op *op) {
    return op->row ? op->row->control.kind : CONTROL_UNKNOWN;
}

/* Whether nothing decides the op's results but its operands, and its regions. */
static bool is_function(Prover *prover, const Op *op) {
    Effect effects[EFFECTS_MOST];
    if (!op->row || effects_of(prover->module, op, effects))
        return false;
    for (uint32_t i = 0; i < op->result_count; i++) {
        Evaluator how = op_evaluator_at(op, i);
        if (how == EVALUATE_POISON || (how >= EVALUATE_PROGRAM_ID && how != EVALUATE_PROGRAM_COUNT) ||
            (how == EVALUATE_NONE && (!op->operand_count || *op->row->effects)))
            return false;
    }
    return true;
}

/* Whether the op puts elements together, as its region says by such ops. */
static bool combines(Prover *prover, const Op *op, ValueWalk *walk) {
    Evaluator how = op_evaluator_at(op, 0);
    if (control_of(op) != CONTROL_COMBINE || (how != EVALUATE_REDUCE && how != EVALUATE_SCAN) ||
        !is_function(prover, op))
        return false;
    for (const Op *inner = op_next_in_walk(op, op); inner; inner = op_next_in_walk(inner, op)) {
        bool end = control_of(inner) == CONTROL_YIELD;
        if (inner->region_count || (!end && (control_of(inner) != CONTROL_NONE || !is_function(prover, inner))))
            return false;
        for (uint32_t i = 0; i < inner->operand_count; i++) {
            const Op *made = value_op(inner->operands[i]);
            if ((made ? op_parent(made) : value_holder(inner->operands[i])) != op)
                value_walk_to(walk, inner->operands[i]);
        }
    }
    return true;
}

/* Whether the op reads no memory but what the kernel does not write, and says what each element is. */
static bool reads_unwritten(Prover *prover, const Op *op) {
    const Proof *proof = prover->proof;
    Effect effects[EFFECTS_MOST];
    unsigned count = effects_of(prover->module, op, effects), found = 0;
    if (control_of(op) != CONTROL_NONE || count != 1 || effects[0].verb != EFFECT_READ ||
        effects[0].space != SPACE_GLOBAL || effects[0].on_descriptor || (effects[0].mask && !effects[0].otherwise) ||
        op_attr(op, "boundaryCheck"))
        return false;
    for (uint32_t i = 0; i < proof->access_count; i++) {
        const ProofAccess *access = &proof->accesses[i];
        if (access->writes && access->root == ROOT_UNKNOWN)
            return false;
        if (access->op != op)
            continue;
        found++;
        if (access->problem || access->async || access->root < 0 || (uint32_t)access->root >= proof->name_count ||
            proof->writes[access->root])
            return false;
    }
    return found == 1;
}

/* Whether the value is uniform if those are that it goes on with. */
static bool look_at(Prover *prover, const Value *value, ValueWalk *walk) {
    const Op *op = value_op(value);
    const Type *type = type_resolve(prover->module, value->type);
    if (!op && value_holder(value) == prover->function)
        return true;
    if (!op || !type || (type->kind == TYPE_TENSOR && type->dim_count > TENSOR_MOST_DIMS) ||
        !(op->region_count
              ? combines(prover, op, walk)
              : (control_of(op) == CONTROL_NONE && is_function(prover, op)) || reads_unwritten(prover, op)))
        return false;
    for (uint32_t i = 0; i < op->operand_count; i++)
        value_walk_to(walk, op->operands[i]);
    return true;
}

enum { MOST_UNIFORM = 256 }; /* values that a write is made of: a run follows as many */

/* Whether each program reads no global memory but what none writes, and writes the same with this access. */
static bool is_alike(Prover *prover, const ProofAccess *write) {
    const Proof *proof = prover->proof;
    for (uint32_t i = 0; i < proof->access_count; i++) {
        const ProofAccess *access = &proof->accesses[i];
        if (access->root < 0 || (uint32_t)access->root >= proof->name_count ||
            (!access->writes && proof->writes[access->root]))
            return false;
    }
    return op_is_alike(prover->module, prover->function, write->op);
}

/* Tests of compilers have kernels with whole tensors as arguments, which no launch can give, and no run knows. */
static bool has_tensor_argument(Prover *prover) {
    const Block *entry = prover->function->regions[0].first;
    for (uint32_t i = 0; i < entry->arg_count; i++) {
        const Type *type = type_resolve(prover->module, entry->args[i].type);
        if (!type || type->kind == TYPE_TENSOR)
            return true;
    }
    return false;
}

bool access_is_uniform(Prover *prover, const ProofAccess *access) {
    const Proof *proof = prover->proof;
    ValueWalk walk = {.seen = {.arena = prover->arena}};
    bool uniform = access->effect.verb == EFFECT_WRITE && !access->async && !access->effect.on_descriptor &&
                   !has_tensor_argument(prover);
    if (uniform && is_alike(prover, access))
        return true;
    for (uint32_t i = 0; i < proof->access_count; i++) /* programs that talk to each other mean some order */
        uniform &= proof->accesses[i].effect.verb != EFFECT_UPDATE &&
                   proof->accesses[i].effect.verb != EFFECT_ANYTHING && proof->accesses[i].effect.order == ORDER_WEAK;
    for (uint32_t i = 0; i < access->op->operand_count; i++)
        value_walk_to(&walk, access->op->operands[i]);
    for (uint32_t i = 0; i < walk.count && uniform; i++)
        uniform = walk.count <= MOST_UNIFORM && look_at(prover, walk.items[i], &walk);
    return uniform;
}
