/* How many instructions an op becomes on an AMD target, as far as its layouts tell. */
#include "model/target/amd.h"

#include "ir/op.h"
#include "model/effect/effect.h"
#include "model/layout/distributed.h"
#include "model/layout/encoding.h"
#include "model/layout/layout.h"

static const AmdCount one = {1, 1}, any = {0, AMD_MANY};

/* ---- Copies between memory and LDS ---------------------------------------------------------------- */

/* An access to global memory that goes on while the wave does, and its other side in shared memory. */
typedef struct AmdCountMoving {
    Effect global;
    const Value *local;
} AmdCountMoving;

static bool moving_of(Module *module, const Op *op, AmdCountMoving *moving) {
    Effect effects[EFFECTS_MOST];
    unsigned count = effects_of(module, op, effects);
    *moving = (AmdCountMoving){0};
    for (unsigned i = 0; i < count; i++) {
        const Effect *effect = &effects[i];
        if ((effect->verb != EFFECT_READ && effect->verb != EFFECT_WRITE) || effect->done == DONE_NOW ||
            effect->proxy == PROXY_TENSORMAP)
            continue;
        const Type *type = effect->on->type ? type_canonical(module, effect->on->type) : NULL;
        if (effect->space == SPACE_GLOBAL)
            moving->global = *effect;
        else if (type && memdesc_space(type) == SPACE_SHARED)
            moving->local = effect->on;
    }
    return moving->global.on && moving->local;
}

/* By the tensor data mover, or what becomes one of its instructions. */
static bool is_moved(const Effect *global) {
    return global->on_descriptor || global->group == GROUP_TMA_STORE;
}

bool amd_copy_of(Module *module, const Op *op, AmdCopy *copy) {
    AmdCountMoving moving;
    if (!moving_of(module, op, &moving) || is_moved(&moving.global))
        return false;
    const Effect *global = &moving.global;
    *copy = (AmdCopy){global->offsets.count ? global->offsets.items[0] : global->on, moving.local,
                      global->verb == EFFECT_WRITE};
    return true;
}

/* Both sides of a copy, where they are understood. */
typedef struct AmdCountSides {
    Distributed threads; /* without registers that hold copies */
    const Layout *local;
} AmdCountSides;

static bool sides_of(Module *module, const AmdCopy *copy, AmdCountSides *sides) {
    const Distributed *threads = copy->global->type ? distributed_of(module, copy->global->type) : NULL;
    sides->local = copy->local->type ? layout_of(module, copy->local->type) : NULL;
    if (!threads || !threads->known || !sides->local || !sides->local->known || sides->local->rank != threads->rank)
        return false;
    sides->threads = *threads;
    distributed_drop_copies(&sides->threads);
    return true;
}

static uint32_t place_of_basis(const AmdCountSides *sides, Holder holder, unsigned index) {
    int64_t coordinates[LAYOUT_RANK] = {0};
    for (unsigned d = 0; d < sides->threads.rank; d++)
        coordinates[d] = sides->threads.bases[holder][index][d];
    return layout_place(sides->local, coordinates);
}

/* Elements of one lane that lie side by side in LDS; its registers hold them side by side in memory. */
static int64_t neighbors_of(const AmdCountSides *sides) {
    unsigned bits = 0;
    while (bits < sides->threads.count[HOLD_REGISTER] && bits < 16 &&
           place_of_basis(sides, HOLD_REGISTER, bits) == UINT32_C(1) << bits)
        bits++;
    int64_t most = INT64_C(1) << bits;
    for (unsigned i = 0; i < sides->local->padding_count; i++)
        if (sides->local->paddings[i].interval < most)
            most = sides->local->paddings[i].interval;
    return most;
}

/* Whether the target has an instruction that moves that many bytes a lane. */
static bool has_width(const Target *target, int64_t bytes, bool store) {
    switch (bytes) {
    case 1:
        return store && target->async_counter;
    case 4:
        return true;
    case 8:
        return target->async_counter;
    case 16:
        return target->async_counter || target->shared_bytes > 64 << 10; /* not the first that copies to LDS */
    default:
        return false;
    }
}

static bool is_swizzled(const Layout *layout) {
    for (unsigned d = 0; d < layout->rank; d++)
        for (unsigned b = 0; b < layout->bits[d]; b++)
            if (layout->place[d][b] & (layout->place[d][b] - 1))
                return true;
    return false;
}

/* Without scattering, a wave writes from a uniform base on: lane k at k times the width. Where the layout is swizzled
 * the lanes may come in another order: they then read from each other's addresses. */
static bool is_scattered(const AmdCountSides *sides, uint32_t elements) {
    const Layout *local = sides->local;
    unsigned lanes = sides->threads.count[HOLD_LANE];
    uint64_t span = (uint64_t)elements << lanes;
    bool swizzled = is_swizzled(local);
    for (unsigned i = 0; i < lanes; i++) {
        uint32_t place = place_of_basis(sides, HOLD_LANE, i);
        if (swizzled ? place >= span : place != (uint64_t)elements << i)
            return true;
    }
    for (unsigned i = 0; i < local->padding_count; i++)
        if ((uint64_t)local->paddings[i].interval < span)
            return true;
    return local->replica_count;
}

AmdWidth amd_width_of(Module *module, const Op *op, const Target *target) {
    AmdCopy copy;
    AmdCountSides sides;
    AmdWidth width = {.known = amd_copy_of(module, op, &copy) && sides_of(module, &copy, &sides)};
    if (!width.known)
        return width;
    const Attr *hint = op_attr(op, "contiguity");
    bool said = hint && hint->kind == ATTR_INTEGER && hint->integer > 1;
    width.element = sides.local->element_bits / 8;
    width.neighbors = neighbors_of(&sides);
    int64_t fits = said && hint->integer < width.neighbors ? hint->integer : width.neighbors;
    /* A store may split an element; a load may not, which would overwrite its neighbor. */
    for (int64_t bytes = copy.store ? 1 : width.element; bytes && bytes <= 16 && bytes <= fits * width.element;
         bytes *= 2)
        if (has_width(target, bytes, copy.store)) {
            width.least = width.least && !said ? width.least : bytes;
            width.most = bytes;
        }
    if (width.most && !target->async_counter)
        width.scattered = is_scattered(&sides, (uint32_t)(width.most / width.element));
    return width;
}

static AmdCount count_of(int64_t low, int64_t high) {
    return (AmdCount){(uint16_t)(low > AMD_MANY ? AMD_MANY : low), (uint16_t)(high > AMD_MANY ? AMD_MANY : high)};
}

/* Where waves are wider than the kernel's warps, the same tile is held by more lanes, each of which has less. */
static AmdCount count_copy(Module *module, const Op *op, const AmdCopy *copy, const Target *target) {
    AmdCountSides sides;
    AmdWidth width = amd_width_of(module, op, target);
    if (!width.known || !width.most || !sides_of(module, copy, &sides))
        return any;
    int64_t registers = INT64_C(1) << sides.threads.count[HOLD_REGISTER];
    registers = registers * module_warp_threads(op, target->warp_threads) / target->warp_threads;
    int64_t low = registers * width.element / width.most, high = registers * width.element / width.least;
    if (width.least < width.most && high < registers) /* as narrow as the compiler may count it */
        high = registers;
    for (unsigned i = 0; i < sides.threads.count[HOLD_WARP]; i++) {
        const uint32_t *basis = sides.threads.bases[HOLD_WARP][i];
        bool copies = true;
        for (unsigned d = 0; d < sides.threads.rank && copies; d++)
            copies = !basis[d];
        if (copies) /* some waves have nothing to do */
            return count_of(0, high > 1 ? high : 1);
    }
    return count_of(low > 1 ? low : 1, high > 1 ? high : 1);
}

/* ---- The tensor data mover ------------------------------------------------------------------------ */

/* 8 rows an instruction where their numbers have 32 bits, 16 where they have 16; of one lane, side by side. */
static AmdCount count_rows(Module *module, const Value *rows) {
    const Distributed *known = rows && rows->type ? distributed_of(module, rows->type) : NULL;
    if (!known || !known->known || known->rank != 1)
        return (AmdCount){1, AMD_MANY};
    Distributed threads = *known;
    const Type *type = type_canonical(module, rows->type);
    distributed_drop_copies(&threads);
    unsigned side_by_side = 0;
    while (side_by_side < threads.count[HOLD_REGISTER] &&
           threads.bases[HOLD_REGISTER][side_by_side][0] == UINT32_C(1) << side_by_side)
        side_by_side++;
    int64_t most = type && type->element && type->element->width == 16 ? 16 : 8;
    int64_t each = INT64_C(1) << side_by_side < most ? INT64_C(1) << side_by_side : most;
    int64_t count = ((INT64_C(1) << threads.count[HOLD_REGISTER]) + each - 1) / each;
    return count_of(count, count);
}

static bool is_partitioned(Module *module, const Value *local) {
    const Layout *layout = local && local->type ? layout_of(module, local->type) : NULL;
    return layout && layout->pieces > 1;
}

static AmdCount count_move(Module *module, const AmdCountMoving *moving) {
    const Effect *global = &moving->global;
    if (global->rows && global->group == GROUP_AMD_TENSOR)
        return count_rows(module, global->rows);
    return global->rows || is_partitioned(module, moving->local) ? (AmdCount){1, AMD_MANY} : one;
}

/* ---- Everything ----------------------------------------------------------------------------------- */

/* What loads and stores of registers count is up to the compiler, which parts and joins them. */
static bool touches_global(Module *module, const Op *op, const Target *target) {
    Effect effects[EFFECTS_MOST];
    unsigned count = effects_of(module, op, effects);
    for (unsigned i = 0; i < count; i++) {
        bool writes = effects[i].verb == EFFECT_WRITE && target->store_counter;
        if (effects[i].space == SPACE_GLOBAL && effect_is_access(&effects[i]) && !writes)
            return true;
    }
    return false;
}

void amd_issues(Module *module, const Op *op, const Target *target, AmdCount counts[QUEUE_COUNT]) {
    AmdCopy copy;
    AmdCountMoving moving;
    memset(counts, 0, QUEUE_COUNT * sizeof *counts);
    if (!op->row || op_is_control(op, CONTROL_CALL) || op_has_effect(module, op, EFFECT_ANYTHING, GROUP_NONE)) {
        for (AmdQueue queue = 0; queue < QUEUE_COUNT; queue++)
            counts[queue] = any;
    } else if (amd_copy_of(module, op, &copy)) {
        counts[amd_copy_queue(target)] = count_copy(module, op, &copy, target);
    } else if (moving_of(module, op, &moving)) {
        counts[QUEUE_TENSOR] = count_move(module, &moving);
        counts[QUEUE_MOVES] = one;
    } else if (op_has_effect(module, op, EFFECT_COMMIT, GROUP_CP_ASYNC)) {
        counts[QUEUE_GROUPS] = one;
    } else if (touches_global(module, op, target)) {
        counts[QUEUE_LOAD] = any;
    }
}
