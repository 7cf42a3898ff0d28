/* The IR with the barriers that it needs. */
#include "check/membar/report.h"

#include "ir/edit.h"
#include "ir/op.h"
#include "ir/op_ids.h"
#include "ir/optable.h"
#include "model/memory/handshake.h"
#include "model/memory/scratch.h"
#include "model/memory/stage.h"
#include "model/memory/thread_barriers.h"
#include "model/target/target.h"

static const Attr relaxed_true = {.text = {"true", 4}, .kind = ATTR_BOOL, .exact = true, .integer = 1};
static const NamedAttr relaxed_entry = {{"relaxed", 7}, &relaxed_true};
static const Attr relaxed_dict = {
    .text = {"{relaxed = true}", 16}, .kind = ATTR_DICT, .count = 1, .entries = &relaxed_entry};
static const Attr local_space = {.text = {"local", 5}, .kind = ATTR_KEYWORD};

/* The ops of a barrier, in their order; at most two. */
static size_t make_barrier(Module *module, const MembarNeed *need, Op *ops[2]) {
    size_t count = 0;
    if (need->kind == MEMBAR_INIT || need->kind == MEMBAR_INIT_FENCE)
        ops[count++] = edit_new_op(module, OP_ttng_fence_mbarrier_init_release_cluster, need->op);
    if (need->kind == MEMBAR_INIT || need->kind == MEMBAR_CLUSTER)
        ops[count++] = edit_new_op(module, OP_ttng_cluster_barrier, need->op);
    if (need->kind == MEMBAR_INIT)
        ops[1]->dict = &relaxed_dict;
    if (count)
        return count;
    ops[0] = edit_new_op(module, OP_ttg_barrier, need->op);
    ops[0]->attrs[op_slot(ops[0]->row->attrs, ops[0]->row->attr_count, STR("addrSpace"))] = &local_space;
    return 1;
}

void membar_emit(Module *module, const MembarResult *const *results, size_t count, bool prune, Text *to) {
    size_t most = 0, made = 0;
    for (size_t i = 0; i < count; i++)
        most += 2 * results[i]->need_count + results[i]->present_count;
    Edit *edits = ARENA_ARRAY(&module->arena, Edit, most + 1);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < results[i]->need_count; k++) {
            const MembarNeed *need = &results[i]->needs[k];
            Op *ops[2];
            size_t ops_count = make_barrier(module, need, ops);
            for (size_t j = 0; j < ops_count; j++) /* each right before it: the first one ends up first */
                edits[made++] = (Edit){ops[need->after ? ops_count - 1 - j : j], need->op, need->after};
        }
    for (size_t i = 0; i < count && prune; i++)
        for (size_t k = 0; k < results[i]->present_count; k++)
            if (results[i]->present[k].needless)
                edits[made++] = (Edit){.op = (Op *)results[i]->present[k].op};
    edits_print(module, edits, made, to);
}

/* ---- Meetings that are still to come --------------------------------------------------------------------------- */

static void insert(Module *module, const Op *at, MembarKind kind) {
    Op *ops[2];
    size_t count = make_barrier(module, &(MembarNeed){.op = at, .kind = kind}, ops);
    for (size_t i = 0; i < count; i++)
        edit_insert(ops[i], at);
}

static bool meets(Module *module, const Op *op) {
    return op && op_has_effect(module, op, EFFECT_CLUSTER_ARRIVE, GROUP_NONE);
}

static bool is_pair(const Effect *effect) {
    return effect->pair;
}

/* Each function is walked while ops are inserted before the one that is looked at. */
static bool complete_ends(Module *module, const Op *kernel) {
    bool any = false;
    for (const Block *block = kernel->regions[0].first; block; block = block->next)
        if (block->last && op_is_control(block->last, CONTROL_RETURN) && !meets(module, block->last->prev)) {
            insert(module, block->last, MEMBAR_CLUSTER);
            any = true;
        }
    return any;
}

static bool complete_products(Module *module, const Op *kernel) {
    bool any = false;
    for (const Op *op = kernel; op; op = op_next_in_walk(op, kernel))
        if (op_is(op, CLASS_PRODUCT) && op_any_effect(module, op, is_pair) && !meets(module, op->prev)) {
            insert(module, op, MEMBAR_CLUSTER);
            any = true;
        }
    return any;
}

/* Where threads of one CTA would meet before or after an atomic, those of all CTAs do; where its result goes from one
 * to the others, they meet in it, and nothing is inserted. Of all functions: kernels call them. */
static void complete_atomics(Module *module) {
    Effect effects[EFFECTS_MOST];
    for (const Op *op = module_first_op(module); op; op = op_next_in_walk(op, NULL)) {
        if (!op_is(op, CLASS_ATOMIC) && !op_is(op, CLASS_POLL))
            continue;
        unsigned count = effects_of(module, op, effects);
        uint8_t stages = atomic_stages(op, effects, count, scratch_of(module, op).crosses_ctas, 0);
        if (stages & STAGE_BEFORE && !meets(module, op->prev))
            insert(module, op, MEMBAR_CLUSTER);
        if (stages & STAGE_AFTER && op->next && !meets(module, op->next))
            insert(module, op->next, MEMBAR_CLUSTER);
    }
}

static bool specializes(const Op *kernel) {
    for (const Op *op = kernel; op; op = op_next_in_walk(op, kernel))
        if (op_is_control(op, CONTROL_FORK))
            return true;
    return false;
}

/* Of clusters whose CTAs are programs. At the end those of pairs meet, before they free tensor memory: always, where
 * TLX wrote the MMAs and does not say that the kernel does it; else unless there are partitions. */
static void complete_fork(Module *module, const Op *kernel) {
    const Attr *paired = op_attr_around(kernel, "tlx.enable_paired_cta_mma");
    const Attr *two = op_attr_around(kernel, "ttng.two-ctas"), *own = op_attr_around(kernel, "tlx.user_post_ws_sync");
    Handshake handshake = {0};
    if (stage_fork_meetings(kernel, "tlx.cluster_sync_kernel_init") == PAST_NOT)
        handshake = handshake_of_fork(module, kernel);
    if (handshake.at)
        insert(module, handshake.at, MEMBAR_INIT);
    module->completed |= handshake.at != NULL;
    if (stage_fork_meetings(kernel, "tlx.cluster_sync_kernel_cleanup") == PAST_NOT &&
        (paired && paired->integer ? !(own && own->integer) : two && two->integer && !specializes(kernel)))
        module->completed |= complete_ends(module, kernel);
}

void membar_complete(Module *module, const Op *kernel, ReleaseSet releases) {
    Vendor vendor;
    unsigned number;
    bool nvidia = target_said(kernel, &vendor, &number) && vendor == VENDOR_NVIDIA && number >= 90;
    if (!nvidia || !kernel->region_count || (module_ctas(kernel) < 2 && module_cluster(kernel) < 2))
        return;
    if (module_ctas(kernel) < 2) {
        complete_fork(module, kernel);
    } else if (module->own_barriers || stage_own_barriers(module, kernel)) {
        module->own_barriers = true;
        module->completed |= complete_products(module, kernel);
    } else if (stage_meetings(module, kernel) != PAST_YES) {
        Handshake handshake = handshake_of(module, kernel, NULL, &module->arena);
        if (handshake.at)
            insert(module, handshake.at, handshake.barrier ? MEMBAR_INIT : MEMBAR_INIT_FENCE);
        module->completed |= complete_ends(module, kernel) || handshake.at;
    }
    if (module_ctas(kernel) > 1 && (releases ? releases == 1 << RELEASE_3_9 : stage_is_from_39(kernel)))
        complete_atomics(module);
}
