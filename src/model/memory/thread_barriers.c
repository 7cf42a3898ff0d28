/* Barriers of threads that are part of an op. All of it is in the effects and classes of the op's row. */
#include "model/memory/thread_barriers.h"

#include "ir/op.h"
#include "ir/optable.h"
#include "model/flow/partition.h"

enum { WARPGROUP = 4 /* warps */ };

/* An arrival that each thread makes for itself gathers no other thread, nor does a product without an arrival. Of an
 * arrival that announces bytes, Triton up to 3.7.1 has one thread make it, and no barrier before. */
static bool gathers(const Op *op, const Effect *effects, unsigned count, ReleaseSet releases) {
    if (effects_find(effects, count, EFFECT_EXPECT) && releases && !(releases & releases_from(RELEASE_3_8)))
        return false;
    const Effect *arrive = effects_find(effects, count, EFFECT_ARRIVE);
    return op_is(op, CLASS_GATHERS) && (arrive ? !arrive->per_thread : !op_is(op, CLASS_PRODUCT));
}

/* A wait for wgmma of several warpgroups ends with a barrier, unless it says that it is for its own group alone. */
static bool joins_groups(const Op *op) {
    return op_is(op, CLASS_WGMMA_WAIT) && !op_attr(op, "warpGroupLocal") && partition_warps(op) > WARPGROUP;
}

uint8_t atomic_stages(const Op *op, const Effect *effects, unsigned count, bool scratch, ReleaseSet releases) {
    const Effect *update = effects_find(effects, count, EFFECT_UPDATE);
    bool meets = !releases || releases & releases_from(RELEASE_3_9);
    Order order = !meets ? ORDER_RELAXED : update ? update->order : ORDER_ACQ_REL;
    uint8_t stages = 0;
    if (op_is(op, CLASS_POLL))
        return scratch ? STAGE_BETWEEN : STAGE_AFTER;
    if (order_releases(order))
        stages |= STAGE_BEFORE;
    if (scratch)
        stages |= STAGE_BETWEEN;
    else if (order_acquires(order))
        stages |= STAGE_AFTER;
    return stages;
}

uint8_t thread_stages(const Op *op, const Effect *effects, unsigned count, Scratch scratch, ReleaseSet releases) {
    uint8_t stages = gathers(op, effects, count, releases) || joins_groups(op) ? STAGE_BEFORE : 0;
    if (op_is(op, CLASS_ATOMIC) || op_is(op, CLASS_POLL))
        stages |= atomic_stages(op, effects, count, scratch.bytes > 0, releases);
    else if (scratch.bytes > 0 && !scratch.warp_synchronous)
        stages |= STAGE_BETWEEN;
    return stages;
}
