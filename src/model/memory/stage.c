/* The stage of the compiler, from marks that its passes leave.
 *
 * Up to Triton 3.8 thread barriers are inserted while the IR is lowered: no dump has them, though its memory is placed.
 * From 3.9 on a pass does it, and one that comes later leaves ttg.profile_scratch_memory_size. */
#include "model/memory/stage.h"

#include "ir/location.h"
#include "ir/op.h"
#include "model/effect/effect.h"
#include "model/layout/encoding.h"
#include "model/memory/placement.h"
#include "model/target/target.h"

/* ---- Thread barriers ------------------------------------------------------------------------------------------- */

static bool is_of_mbarriers(const Effect *effect) {
    return effect->verb == EFFECT_INIT;
}

static bool is_of_tensor_memory(const Effect *effect) {
    return effect->space == SPACE_TENSOR;
}

/* The nearest op in its block that does something to memory, before it or after it. */
static const Op *beside(Module *module, const Op *op, bool before) {
    Effect effects[EFFECTS_MOST];
    for (op = before ? op->prev : op->next; op; op = before ? op->prev : op->next)
        for (unsigned i = 0, count = effects_of(module, op, effects); i < count; i++)
            if (effects[i].verb != EFFECT_VIEW && effects[i].verb != EFFECT_ALLOCATE)
                return op;
    return NULL;
}

/* A barrier for shared memory alone, as that pass writes them. Earlier ones write some, too, after mbarriers are set up
 * and for tensor memory. */
static bool is_of_the_pass(Module *module, const Op *op) {
    Effect effects[EFFECTS_MOST];
    const uint8_t shared = 1 << SPACE_SHARED;
    if (effects_of(module, op, effects) != 1 || effects[0].verb != EFFECT_CTA_BARRIER || effects[0].spaces != shared)
        return false;
    const Op *before = beside(module, op, true), *after = beside(module, op, false);
    return !(before && op_any_effect(module, before, is_of_mbarriers)) &&
           !(after && op_any_effect(module, after, is_of_tensor_memory));
}

Past stage_barriers(Module *module, const Op *function) {
    if (!memory_is_placed(function))
        return PAST_NOT;
    if (module->dumped.synced || op_attr_around(function, "ttg.profile_scratch_memory_size"))
        return PAST_YES;
    if (module->dumped.pass.size)
        return PAST_NOT;
    for (const Op *op = module_first_op(module); op; op = op_next_in_walk(op, NULL))
        if (is_of_the_pass(module, op))
            return PAST_YES;
    return PAST_UNKNOWN;
}

/* ---- Products -------------------------------------------------------------------------------------------------- */

static bool is_commit(const Effect *effect) {
    return effect->verb == EFFECT_ARRIVE && effect->done == DONE_COMMIT && effect->helper == HELPER_TENSOR;
}

/* In files the compiler is done with that; logs have modules from before it. */
Past stage_mmas(Module *module, const Op *function) {
    if (!module->dumped.pass.size || memory_is_placed(function))
        return PAST_YES;
    for (const Op *op = function; op; op = op_next_in_walk(op, function))
        if (op_any_effect(module, op, is_commit))
            return PAST_YES;
    return PAST_NOT;
}

/* ---- Releases -------------------------------------------------------------------------------------------------- */

static bool has_located_function(Module *module) {
    for (const Op *op = module_first_op(module); op; op = op_next_in_walk(op, NULL))
        if (op_is_control(op, CONTROL_FUNCTION) && kernel_location(module, op->location))
            return true;
    return false;
}

/* Up to 3.7 columns are counted from 0, and that of every function is; passes are written in logs with their names in
 * parentheses. A function without a location is none that Triton wrote: then nothing tells. */
static bool is_up_to_37(const Module *module) {
    return module->column_zero || (module->dumped.pass.size && !module->dumped.named);
}

static bool is_from_38(Module *module) {
    return !is_up_to_37(module) && (module->dumped.pass.size || has_located_function(module));
}

bool stage_is_from_39(const Op *function) {
    return op_attr_around(function, "ttng.two-ctas") &&
           (!op_attr_around(function, "ttg.shared") || op_attr_around(function, "ttg.profile_scratch_memory_size"));
}

Past stage_atomics(const Module *module, const Op *function, ReleaseSet releases) {
    ReleaseSet meeting = releases_from(RELEASE_3_9);
    if (releases)
        return !(releases & meeting) ? PAST_NOT : releases & ~meeting ? PAST_UNKNOWN : PAST_YES;
    if (stage_is_from_39(function))
        return PAST_YES;
    return is_up_to_37(module) && !stage_is_fork(function) ? PAST_NOT : PAST_UNKNOWN;
}

bool stage_columns_from_one(Module *module) {
    return is_from_38(module);
}

/* ---- Clusters -------------------------------------------------------------------------------------------------- */

static bool has_meeting(Module *module, const Op *function) {
    for (const Op *op = function; op; op = op_next_in_walk(op, function))
        if (op_has_effect(module, op, EFFECT_CLUSTER_ARRIVE, GROUP_NONE))
            return true;
    return false;
}

Past stage_meetings(Module *module, const Op *function) {
    if (module->dumped.synced || op_attr_around(function, "ttg.profile_scratch_memory_size") || is_up_to_37(module))
        return PAST_YES;
    if (stage_is_from_39(function) || is_from_38(module))
        return PAST_NOT;
    return has_meeting(module, function) ? PAST_YES : PAST_UNKNOWN;
}

static bool is_said(const Op *function, const char *name) {
    const Attr *attr = op_attr_around(function, name);
    return attr && attr->kind == ATTR_BOOL && attr->integer;
}

bool stage_is_fork(const Op *function) {
    return op_attr_around(function, "tlx.has_tlx_ops") || op_attr_around(function, "ttg.min_reg_auto_ws");
}

/* What is not its own has all of its meetings. */
Past stage_fork_meetings(const Op *function, const char *made) {
    return !stage_is_fork(function) || is_said(function, made) ? PAST_YES : PAST_NOT;
}

static bool is_plain_copy(const Effect *effect) {
    return effect->verb == EFFECT_WRITE && effect->done == DONE_TX && effect->helper == HELPER_TMA && effect->through &&
           !effect->pair && !effect->multicast && !effect->rank;
}

bool stage_own_barriers(Module *module, const Op *function) {
    Effect effects[EFFECTS_MOST];
    uint32_t ctas = module_ctas(function);
    bool found = false;
    if (ctas < 2 || !is_up_to_37(module))
        return false;
    for (const Op *op = function; op; op = op_next_in_walk(op, function))
        for (unsigned i = 0, count = effects_of(module, op, effects); i < count; i++) {
            if (effects[i].verb == EFFECT_CLUSTER_ARRIVE) /* in 3.6 no op of a kernel is one */
                return false;
            found |= is_plain_copy(&effects[i]) && encoding_sharers(module, effects[i].through->type, ctas) > 1;
        }
    return found;
}
