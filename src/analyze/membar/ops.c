/* What an op is to the membar analysis: where it is a barrier itself, and which pairs of ops need none between them.
 *
 * Most of it is in the effects. What is not (that the lowering of an arrive brings all threads together first, that one
 * elected thread does two things) are rows of the tables below. */
#include "analyze/membar/internal.h"

#include "model/flow/partition.h"

enum { WARP_GROUP = 4 /* warps */ };

/* ---- Barriers -------------------------------------------------------------------------------------------------- */

/* Ops whose lowering brings the threads of the partition together before it does anything: the elected thread that
 * arrives speaks for all of them. */
static const OpId gathering_ops[] = {
    OP_ttng_arrive_barrier,  OP_ttng_barrier_expect,   OP_ttng_tc_gen5_commit,   OP_ttg_warp_specialize_partitions,
    OP_ttg_warp_yield,       OP_ttg_warp_return,       OP_nvws_warp_group_yield, OP_nvws_warp_group_return,
    OP_nvws_producer_commit, OP_nvws_consumer_release, OP_ttng_producer_commit,  OP_ttng_consumer_release,
};

/* Atomics that bring threads together on the side that their memory order says. */
static const OpId atomic_ops[] = {
    OP_tt_atomic_rmw,
    OP_tt_atomic_cas,
    OP_amdg_buffer_atomic_rmw,
    OP_amdg_buffer_atomic_cas,
    OP_tti_experimental_gsan_atomic_rmw,
    OP_tti_experimental_gsan_atomic_cas,
};

/* Ops without effects in their row that are nevertheless not free to be moved across. */
static const OpId speaking_ops[] = {
    OP_tt_print,
    OP_tt_assert,
    OP_cf_assert,
    OP_gpu_printf,
    OP_tt_grid_dependency_launch_dependents,
    OP_ttng_reg_alloc,
    OP_ttng_reg_dealloc,
    OP_ttng_prefetch,
    OP_ttg_clock64,
    OP_amdg_instruction_sched_hint,
    OP_amdg_tdm_prefetch,
    OP_tt_call,
    OP_func_call,
};

#define IS_ONE_OF(op, ids) is_one_of((op), (ids), sizeof(ids) / sizeof *(ids))
static bool is_one_of(const Op *op, const OpId *ids, size_t count) {
    for (size_t i = 0; op->row && i < count; i++)
        if (op->row->id == ids[i])
            return true;
    return false;
}

static const Effect *find_effect(const Effect *effects, unsigned count, EffectVerb verb) {
    for (unsigned i = 0; i < count; i++)
        if (effects[i].verb == verb)
            return &effects[i];
    return NULL;
}

/* An arrival that each thread makes for itself gathers nobody. */
static bool gathers(const Op *op, const Effect *effects, unsigned count) {
    const Effect *arrive = find_effect(effects, count, EFFECT_ARRIVE);
    return IS_ONE_OF(op, gathering_ops) && !(arrive && arrive->per_thread);
}

/* A wait for wgmma of several warp groups ends with a barrier, unless it says that it is for its own group alone. */
static bool joins_groups(const Op *op) {
    return membar_is(op, OP_ttng_warp_group_dot_wait) && !op_attr(op, "warpGroupLocal") &&
           partition_warps(op) > WARP_GROUP;
}

static uint8_t atomic_stages(const Op *op, const Effect *effects, unsigned count, bool scratch) {
    const Effect *update = find_effect(effects, count, EFFECT_UPDATE);
    Order order = update ? update->order : ORDER_ACQ_REL;
    uint8_t stages = 0;
    if (membar_is(op, OP_tt_atomic_poll))
        return scratch ? STAGE_BETWEEN : STAGE_AFTER;
    if (order == ORDER_RELEASE || order == ORDER_ACQ_REL)
        stages |= STAGE_BEFORE;
    if (scratch)
        stages |= STAGE_BETWEEN;
    else if (order == ORDER_ACQUIRE || order == ORDER_ACQ_REL)
        stages |= STAGE_AFTER;
    return stages;
}

/* A barrier over all threads, written as such. */
static void find_barriers(const Membar *membar, const Effect *effects, unsigned count, OpFacts *facts) {
    const uint8_t shared = 1 << SPACE_SHARED, tensor = 1 << SPACE_TENSOR;
    const Effect *barrier = find_effect(effects, count, EFFECT_CTA_BARRIER);
    if (barrier && !barrier->predicate && (barrier->spaces & shared)) {
        facts->present = count == 1;
        facts->removable = facts->present && !(barrier->spaces & ~(shared | tensor));
        if (!facts->present && membar->model == MEMBAR_ASYNC)
            facts->stages |= STAGE_AFTER;
    }
    const Effect *arrive = find_effect(effects, count, EFFECT_CLUSTER_ARRIVE);
    if (arrive && find_effect(effects, count, EFFECT_CLUSTER_WAIT)) {
        facts->cluster = true;
        if (!arrive->relaxed || membar->model != MEMBAR_ASYNC) /* a relaxed one orders no memory */
            facts->stages |= STAGE_BEFORE;
    }
}

/* Whether it is one of the ops behind which Triton always puts a barrier. */
static bool waits_for_copies(const Op *op, const Effect *effects, unsigned count) {
    const Effect *await = find_effect(effects, count, EFFECT_AWAIT);
    return await && await->group != GROUP_WGMMA && !membar_is(op, OP_amdg_memory_counter_wait);
}

static bool is_free(const Op *op, const Effect *effects, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        if (effects[i].verb != EFFECT_VIEW)
            return false;
    return !flow_branches(op) && !IS_ONE_OF(op, speaking_ops);
}

OpFacts membar_facts(Membar *membar, const Op *op, const Effect *effects, unsigned count, Scratch scratch) {
    OpFacts facts = {.waits = waits_for_copies(op, effects, count), .free = is_free(op, effects, count)};
    find_barriers(membar, effects, count, &facts);
    if (gathers(op, effects, count) || joins_groups(op))
        facts.stages |= STAGE_BEFORE;
    if (IS_ONE_OF(op, atomic_ops) || membar_is(op, OP_tt_atomic_poll)) {
        facts.atomic = atomic_stages(op, effects, count, false) != 0;
        facts.stages |= atomic_stages(op, effects, count, scratch.bytes > 0);
    } else if (scratch.bytes > 0 && !scratch.warp_synchronous) {
        facts.stages |= STAGE_BETWEEN;
    }
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

typedef struct RoleRow {
    OpId op;
    bool amd;
    uint8_t role;
} RoleRow;

static const RoleRow role_rows[] = {
    {OP_ttng_init_barrier, false, ROLE_ONE_THREAD},
    {OP_ttng_inval_barrier, false, ROLE_ONE_THREAD},
    {OP_ttng_barrier_expect, false, ROLE_ONE_THREAD},
    {OP_ttng_async_tma_copy_global_to_local, false, ROLE_TMA_LOAD},
    {OP_ttng_async_tma_gather, false, ROLE_TMA_LOAD},
    {OP_ttng_wait_barrier, false, ROLE_WAIT},
    {OP_ttg_async_copy_global_to_local, true, ROLE_ASYNC_LOAD},
    {OP_amdg_buffer_load_to_local, true, ROLE_ASYNC_LOAD},
    {OP_amdg_init_barrier, true, ROLE_AMD_BARRIER},
    {OP_amdg_arrive_barrier, true, ROLE_AMD_BARRIER},
    {OP_amdg_async_copy_mbarrier_arrive, true, ROLE_AMD_BARRIER},
    {OP_amdg_wait_barrier, true, ROLE_AMD_BARRIER},
};

/* Kinds of atomics whose order among each other does not matter. */
static bool commutes(const Op *op) {
    static const char *const kinds[] = {"add", "and", "or", "xor", "max", "min", "umax", "umin"};
    const Attr *kind = op_attr(op, "atomic_rmw_op");
    for (size_t i = 0; kind && i < sizeof kinds / sizeof *kinds; i++)
        if (str_is(kind->text, kinds[i]))
            return true;
    return false;
}

static bool is_integer_atomic(Membar *membar, const Op *op, const Pointers *used) {
    const Type *memory = membar_is(op, OP_ttg_local_atomic_scatter_rmw) && op->operand_count && op->operands[0]->type
                             ? type_canonical(membar->module, op->operands[0]->type)
                             : NULL;
    return memory && memory->element && memory->element->kind == TYPE_INTEGER && commutes(op) && op->result_count &&
           pointers_get(used, op) == NO_NUMBER;
}

/* ---- Tokens ---- */

/* Values that a token comes from. */
typedef struct TokenWalk {
    const Value **values;
    uint32_t count, capacity;
    Pointers seen;
} TokenWalk;

static void walk_to(TokenWalk *walk, const Value *value) {
    if (pointers_get(&walk->seen, value) != NO_NUMBER)
        return;
    pointers_set(&walk->seen, value, 0);
    walk->values = arena_grown(walk->seen.arena, walk->values, walk->count, &walk->capacity, sizeof *walk->values);
    walk->values[walk->count++] = value;
}

static bool walk_to_ends(TokenWalk *walk, const Op *op, uint32_t index) {
    for (uint32_t r = 0; r < op->region_count; r++) {
        const Op *end = op->regions[r].first ? op->regions[r].first->last : NULL;
        if (!end || index >= end->operand_count)
            return false;
        walk_to(walk, end->operands[index]);
    }
    return op->region_count > 0;
}

/* One step towards where the token comes from; false if that is no wait. */
static bool walk_back(TokenWalk *walk, Membar *membar, const Value *value) {
    if (!value->is_result) {
        const Block *block = value->owner;
        const Op *loop = block->region->op;
        if (!membar_is(loop, OP_scf_for) || !value->index || value->index + 2 >= loop->operand_count)
            return false;
        walk_to(walk, loop->operands[value->index + 2]);
        return walk_to_ends(walk, loop, value->index - 1);
    }
    const Op *op = value->owner;
    if (membar_is(op, OP_scf_for)) {
        if (value->index + 3 >= op->operand_count)
            return false;
        walk_to(walk, op->operands[value->index + 3]);
        return walk_to_ends(walk, op, value->index);
    }
    if (membar_is(op, OP_scf_if))
        return op->region_count == 2 && walk_to_ends(walk, op, value->index);
    Effect effects[EFFECTS_MOST];
    return waits_for_copies(op, effects, effects_of(membar->module, op, effects));
}

/* Whether every way to the op's token starts at a wait. */
static bool token_is_waited(Membar *membar, const Op *op) {
    enum { MOST = 256 };
    int slot = op->row ? op_slot(op->row->operands, op->row->operand_count, STR("token")) : -1;
    uint32_t count = 0;
    Value **token = slot < 0 ? NULL : op_operands_at(op, (unsigned)slot, &count);
    if (!token || !count)
        return false;
    TokenWalk walk = {.seen = {.arena = membar->arena}};
    walk_to(&walk, token[0]);
    for (uint32_t i = 0; i < walk.count; i++)
        if (walk.count > MOST || !walk_back(&walk, membar, walk.values[i]))
            return false;
    return true;
}

uint8_t membar_roles(Membar *membar, const Op *op, const Pointers *used) {
    uint8_t roles = 0;
    for (size_t i = 0; op->row && i < sizeof role_rows / sizeof *role_rows; i++)
        if (role_rows[i].op == op->row->id && role_rows[i].amd == membar->amd)
            roles |= role_rows[i].role;
    if (!membar->amd && is_integer_atomic(membar, op, used))
        roles |= ROLE_ATOMIC;
    if (membar->amd && membar_is(op, OP_ttg_local_load) && token_is_waited(membar, op))
        roles |= ROLE_WAITED_LOAD;
    return roles;
}

static bool same_atomic(const Membar *membar, const Access *first, const Access *second) {
    const Attr *a = op_attr(first->op, "atomic_rmw_op"), *b = op_attr(second->op, "atomic_rmw_op");
    const Type *x = first->type, *y = second->type;
    return a && b && x && y && str_equal(a->text, b->text) && x->element && y->element &&
           type_agree(membar->module, x->element, y->element) == AGREE;
}

/* Signals and waits are made for each other: the hardware orders them, and they may come in any order, but for one: a
 * signal after a wait may complete the next phase before a slow thread has seen that this one is over, and that thread
 * then waits for ever. Bytes that come complete no phase without an arrival; but the arrival may have come before the
 * wait, or from another partition, and phases are not counted here. Triton takes all of them for plain accesses. */
static bool mbarrier_orders(const Access *first, const Access *second) {
    if (first->mbarrier == MBARRIER_SIGNAL)
        return second->mbarrier == MBARRIER_SIGNAL || second->mbarrier == MBARRIER_WAIT;
    return first->mbarrier == MBARRIER_WAIT && second->mbarrier == MBARRIER_WAIT;
}

/* AMD's exemption of copies and loads trusts the compiler that made the tokens: a load whose token comes from a wait
 * reads another slot than the copies around it write. It may be asked about both orders only where every wait has a
 * barrier behind it; else a load after the wait needs that barrier from here. */
bool membar_exempt(const Membar *membar, const Access *first, const Access *second) {
    uint8_t both = first->roles & second->roles, either = first->roles | second->roles;
    if (both & (ROLE_ONE_THREAD | ROLE_AMD_BARRIER))
        return true;
    if (membar->model == MEMBAR_ASYNC && mbarrier_orders(first, second))
        return true;
    if ((first->roles & ROLE_TMA_LOAD) && (second->roles & ROLE_WAIT))
        return true;
    if ((both & ROLE_ATOMIC) && same_atomic(membar, first, second))
        return true;
    const uint8_t pair = ROLE_ASYNC_LOAD | ROLE_WAITED_LOAD;
    bool load_and_copy = (either & pair) == pair && !(both & pair);
    return load_and_copy && (membar->model != MEMBAR_ASYNC || (first->roles & ROLE_WAITED_LOAD));
}

/* ---- Clusters -------------------------------------------------------------------------------------------------- */

bool membar_distributed(const Membar *membar, const Op *op, const Effect *effects, unsigned count) {
    static const OpId far_ops[] = {
        OP_ttng_clc_try_cancel,    OP_ttng_async_clc_try_cancel,    OP_ttng_async_shared_store,
        OP_ttg_remote_shmem_store, OP_ttg_async_remote_shmem_store, OP_ttg_async_remote_shmem_copy,
    };
    if (IS_ONE_OF(op, far_ops) || (membar->two_ctas && membar_is(op, OP_ttng_tmem_copy)))
        return true;
    for (unsigned i = 0; i < count; i++)
        if (effects[i].multicast || effects[i].pair || effects[i].to_ctas)
            return true;
    return false;
}
