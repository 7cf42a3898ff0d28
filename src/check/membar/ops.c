/* What an op is to the membar analysis: where it is a barrier itself, and which pairs of ops need none between them.
 *
 * All of it is in the effects and classes of the op's row. */
#include "check/membar/internal.h"

#include "model/flow/forwarded.h"

/* ---- Barriers -------------------------------------------------------------------------------------------------- */

/* A kernel of a cluster ends with a barrier of the cluster. */
static bool ends_cluster(const Membar *membar, const Op *op) {
    return membar->clusters && membar->public && op_is_control(op, CONTROL_RETURN);
}

/* A barrier over all threads, written as such. */
static void find_barriers(const Membar *membar, const Effect *effects, unsigned count, OpFacts *facts) {
    const uint8_t shared = 1 << SPACE_SHARED, tensor = 1 << SPACE_TENSOR;
    const Effect *barrier = effects_find(effects, count, EFFECT_CTA_BARRIER);
    if (barrier && !barrier->predicate && (barrier->spaces & shared)) {
        facts->present = count == 1;
        facts->removable = facts->present && !(barrier->spaces & ~(shared | tensor));
        if (!facts->present && membar->model == MEMBAR_ASYNC)
            facts->stages |= STAGE_AFTER;
    }
    const Effect *arrive = effects_find(effects, count, EFFECT_CLUSTER_ARRIVE);
    if (arrive && effects_find(effects, count, EFFECT_CLUSTER_WAIT)) {
        facts->cluster = true;
        if (!arrive->relaxed || membar->model != MEMBAR_ASYNC) /* a relaxed one orders no memory */
            facts->stages |= STAGE_BEFORE;
    }
}

/* Whether it is one of the ops behind which Triton always puts a barrier. */
static bool waits_for_copies(const Op *op, const Effect *effects, unsigned count) {
    const Effect *await = effects_find(effects, count, EFFECT_AWAIT);
    return await && await->group != GROUP_WGMMA && op->row->waits[0].counter != WAITS_LOAD;
}

static bool is_free(const Op *op, const Effect *effects, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        if (effects[i].verb != EFFECT_VIEW)
            return false;
    return !flow_branches(op) && !op_is(op, CLASS_FIXED) && !op_is_control(op, CONTROL_CALL);
}

OpFacts membar_facts(Membar *membar, const Op *op, const Effect *effects, unsigned count, Scratch scratch) {
    OpFacts facts = {.waits = waits_for_copies(op, effects, count), .free = is_free(op, effects, count)};
    find_barriers(membar, effects, count, &facts);
    facts.cluster |= scratch.crosses_ctas;
    facts.stages |= thread_stages(op, effects, count, scratch, membar->releases);
    if (ends_cluster(membar, op))
        facts.stages |= STAGE_BEFORE;
    if (op_is(op, CLASS_ATOMIC) || op_is(op, CLASS_POLL))
        facts.atomic = atomic_stages(op, effects, count, false, membar->releases) != 0;
    return facts;
}

Later membar_later(const Op *next, const OpFacts *facts) {
    if (facts->present || facts->waits || (facts->stages & STAGE_BEFORE))
        return LATER_YES;
    if (facts->stages & STAGE_BETWEEN)
        return LATER_NO;
    if (facts->stages & STAGE_AFTER)
        return LATER_YES;
    return facts->free && !flow_branches(next) ? LATER_LOOK_ON : LATER_NO;
}

/* ---- Exemptions ------------------------------------------------------------------------------------------------ */

static bool is_mbarrier(const Effect *effect) {
    return effect_is_barrier(effect) && effect->side == SIDE_NONE;
}

/* What an effect makes of its op on NVIDIA: one elected thread sets a barrier up, and TMA brings what a wait is for. */
static uint8_t nvidia_role(const Effect *effect) {
    bool sets_up = effect->verb == EFFECT_INIT || effect->verb == EFFECT_INVALIDATE || effect->verb == EFFECT_EXPECT;
    if (is_mbarrier(effect) && sets_up)
        return ROLE_ONE_THREAD;
    if (is_mbarrier(effect) && effect->verb == EFFECT_WAIT)
        return ROLE_WAIT;
    return effect->verb == EFFECT_WRITE && effect->proxy == PROXY_ASYNC && effect->done == DONE_TX &&
                   effect->helper == HELPER_TMA && !effect->rank
               ? ROLE_TMA_LOAD
               : 0;
}

/* The same on AMD; the data mover, which arrives by itself, has none. */
static uint8_t amd_role(const Effect *effect) {
    if (is_mbarrier(effect) && effect->helper == HELPER_BASE)
        return ROLE_AMD_BARRIER;
    bool copies = effect->verb == EFFECT_WRITE && effect->space == SPACE_SHARED && effect->group == GROUP_CP_ASYNC;
    return copies ? ROLE_ASYNC_LOAD : 0;
}

/* Kinds of atomics whose order among each other does not matter. */
static bool commutes(AtomicKind kind) {
    return kind == ATOMIC_ADD || (kind >= ATOMIC_AND && kind <= ATOMIC_MINIMUM_UNSIGNED);
}

static bool is_integer_atomic(Membar *membar, const Op *op, const Effect *update, const Pointers *used) {
    const Type *memory = op_is(op, CLASS_LOCAL_ATOMIC) && update && update->on->type
                             ? type_canonical(membar->module, update->on->type)
                             : NULL;
    return memory && memory->element && memory->element->kind == TYPE_INTEGER && commutes(update->atomic) &&
           op->result_count && pointers_get(used, op) == NO_NUMBER;
}

/* ---- Tokens ---- */

/* One step toward where the token comes from; false if that is no wait. */
static bool walk_back(ValueWalk *walk, Membar *membar, const Value *value) {
    const Op *op = value_op(value);
    Effect effects[EFFECTS_MOST];
    return value_walk_sources(walk, value) ||
           (op && waits_for_copies(op, effects, effects_of(membar->module, op, effects)));
}

/* Whether every way to the op's token starts at a wait, or the op says so itself. */
static bool token_is_waited(Membar *membar, const Op *op) {
    enum { MOST = 256 };
    const Value *token = op_operand_named(op, "token");
    if (attr_is_true(op_attr(op, "ttg.amdg.syncedViaAsyncWait")))
        return true;
    if (!token)
        return false;
    ValueWalk walk = {.seen.arena = membar->arena};
    value_walk_to(&walk, token);
    for (uint32_t i = 0; i < walk.count; i++)
        if (walk.count > MOST || !walk_back(&walk, membar, walk.items[i]))
            return false;
    return true;
}

uint8_t membar_roles(Membar *membar, const Op *op, const Pointers *used) {
    Effect effects[EFFECTS_MOST];
    unsigned count = effects_of(membar->module, op, effects);
    uint8_t roles = 0;
    for (unsigned i = 0; i < count; i++)
        roles |= membar->amd ? amd_role(&effects[i]) : nvidia_role(&effects[i]);
    if (!membar->amd && is_integer_atomic(membar, op, effects_find(effects, count, EFFECT_UPDATE), used))
        roles |= ROLE_ATOMIC;
    if (membar->amd && count && effects[0].verb == EFFECT_READ && token_is_waited(membar, op))
        roles |= ROLE_WAITED_LOAD;
    return roles;
}

static bool same_atomic(const Membar *membar, const Access *first, const Access *second) {
    const Type *x = first->type, *y = second->type;
    return first->atomic == second->atomic && x && y && x->element && y->element &&
           type_agree(membar->module, x->element, y->element) == AGREE;
}

/* Signals and waits are made for each other: the hardware orders them, and they may come in any order, but for one: a
 * signal after a wait may complete the next phase before a slow thread has seen that this one is over, and that thread
 * then waits forever. Bytes that come complete no phase without an arrival; but the arrival may have come before the
 * wait, or from another partition, and phases are not counted here. Triton takes all of them for plain accesses. */
static bool mbarrier_orders(const Access *first, const Access *second) {
    if (first->mbarrier == MBARRIER_SIGNAL)
        return second->mbarrier == MBARRIER_SIGNAL || second->mbarrier == MBARRIER_WAIT;
    return first->mbarrier == MBARRIER_WAIT && second->mbarrier == MBARRIER_WAIT;
}

/* AMD: behind a copy needs no barrier what is no reader of it: another copy, and a load that a wait has brought its own
 * data. Triton may take that for granted where every wait has a barrier behind it; else a load after the wait needs
 * that barrier from here. A copy behind a load does need one: the token says that what is loaded has come, not that
 * every thread has read it. */
static bool follows_copy(const Membar *membar, const Access *first, const Access *second) {
    return membar->model != MEMBAR_ASYNC && (first->roles & ROLE_ASYNC_LOAD) &&
           (second->roles & (ROLE_ASYNC_LOAD | ROLE_WAITED_LOAD));
}

bool membar_exempt(const Membar *membar, const Access *first, const Access *second) {
    uint8_t both = first->roles & second->roles;
    if (both & (ROLE_ONE_THREAD | ROLE_AMD_BARRIER))
        return true;
    if (membar->model == MEMBAR_ASYNC && mbarrier_orders(first, second))
        return true;
    if ((first->roles & ROLE_TMA_LOAD) && (second->roles & ROLE_WAIT))
        return true;
    if ((both & ROLE_ATOMIC) && same_atomic(membar, first, second))
        return true;
    return follows_copy(membar, first, second);
}

/* ---- Clusters -------------------------------------------------------------------------------------------------- */

bool membar_distributed(const Membar *membar, const Op *op, const Effect *effects, unsigned count) {
    bool copies_to_tensor = membar->two_ctas && !op_is(op, CLASS_PRODUCT);
    for (unsigned i = 0; i < count; i++) {
        const Effect *effect = &effects[i];
        bool far = effect->helper == HELPER_CLC || (effect->rank && effect->verb == EFFECT_WRITE) ||
                   effect->multicast || effect->pair || effect->to_ctas;
        if (far || (copies_to_tensor && effect->helper == HELPER_TENSOR && effect->verb == EFFECT_WRITE))
            return true;
    }
    return false;
}
