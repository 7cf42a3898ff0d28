/* Every allocation and every piece of scratch memory, with its place in the kernel's frame. */
#include "model/memory/overlay.h"

#include "ir/memo.h"
#include "model/flow/symbol.h"

enum { MOST = 2048, MOST_CALLS = 10000 }; /* so that looking at all pairs stays cheap, and a hostile file is read */

typedef struct Overlayer {
    Module *module;
    Overlays *to;
    const Placed *path[OVERLAY_DEEPEST];
    const Op *functions[OVERLAY_DEEPEST]; /* the kernel, and those called */
    uint32_t calls;
} Overlayer;

static bool is_open(const Overlayer *o, const Op *function, uint32_t depth) {
    for (uint32_t i = 0; i <= depth; i++)
        if (o->functions[i] == function)
            return true;
    return false;
}

static void add(Overlayer *o, Overlaid item, uint32_t depth, const Placed *own) {
    o->to->cut |= o->to->count == MOST;
    if (o->to->cut)
        return;
    memcpy(item.path, o->path, depth * sizeof *item.path);
    item.path[depth] = own;
    item.depth = depth + 1;
    *ARENA_PUSH(&o->module->arena, o->to->items, o->to->count, o->to->capacity) = item;
}

/* Tensor memory, which has a frame and an allocator of its own: only how long it lives is known. */
static void add_tensor(Overlayer *o, const Op *function, uint32_t depth) {
    Allocations allocations = allocations_of(o->module, function);
    const Lifetimes *lifetimes = NULL;
    for (uint32_t i = 0; i < allocations.count; i++) {
        const Allocation *allocation = &allocations.items[i];
        if (allocation->space != SPACE_TENSOR || op_attr(allocation->op, "tensor_memory_col_offset") ||
            op_attr(allocation->op, "buffer.id"))
            continue;
        lifetimes = lifetimes ? lifetimes : lifetimes_of(o->module, function);
        Placed *placed = ARENA_NEW(&o->module->arena, Placed);
        *placed = (Placed){
            .op = allocation->op, .end = PLACED_ANYWHERE, .life = lifetime_of(lifetimes, &allocation->op->results[0])};
        const Region *partition = NULL;
        placed->specialize = placement_partition(allocation->op, &partition);
        placed->partition = partition;
        add(o, (Overlaid){.op = allocation->op, .space = SPACE_TENSOR, .end = PLACED_ANYWHERE}, depth, placed);
    }
}

static void add_function(Overlayer *o, const Op *function, int64_t base, uint32_t depth) {
    Placements placements = placements_of(o->module, function);
    add_tensor(o, function, depth);
    for (uint32_t i = 0; i < placements.count && !o->to->cut; i++) {
        const Placed *placed = &placements.items[i];
        bool known = base != PLACED_ANYWHERE && placed->end != PLACED_ANYWHERE;
        int64_t begin = known ? base + placed->begin : 0;
        if (placed->kind != PLACED_CALL) {
            Overlaid item = {.op = placed->op,
                             .space = SPACE_SHARED,
                             .scratch = placed->kind == PLACED_SCRATCH,
                             .begin = begin,
                             .end = known ? base + placed->end : PLACED_ANYWHERE};
            add(o, item, depth, placed);
            continue;
        }
        const Op *target = call_target(o->module, placed->op);
        if (!target || is_open(o, target, depth)) /* a function that calls itself is not run */
            continue;
        o->to->cut |= depth + 1 == OVERLAY_DEEPEST || o->calls++ == MOST_CALLS;
        if (o->to->cut)
            return;
        o->functions[depth + 1] = target;
        o->path[depth] = placed;
        add_function(o, target, known ? begin : PLACED_ANYWHERE, depth + 1);
    }
}

Over overlay(const Overlaid *a, const Overlaid *b) {
    uint32_t level = 0;
    while (level < a->depth && level < b->depth && a->path[level] == b->path[level])
        level++;
    if (a->op == b->op || a->space != b->space || level == a->depth || level == b->depth)
        return OVER_NEVER;
    const Placed *x = a->path[level], *y = b->path[level];
    bool known = a->end != PLACED_ANYWHERE && b->end != PLACED_ANYWHERE;
    bool meet = known && a->begin < b->end && b->begin < a->end;
    if (x->given && y->given && known)
        return meet ? OVER_IS : OVER_NEVER;
    if ((x->given || y->given) && x->end != PLACED_ANYWHERE && y->end != PLACED_ANYWHERE)
        return OVER_NEVER; /* what the IR does not place goes above what it does */
    bool beside = x->specialize && x->specialize == y->specialize && x->partition != y->partition;
    if (lifetimes_overlap(x->life, y->life) || beside)
        return OVER_NEVER;
    return meet ? OVER_IS : known ? OVER_APART : OVER_OPEN;
}

const Overlays *overlays_of(Module *module, const Op *kernel) {
    bool fresh;
    Overlays *overlays = module_memo(module, "overlay", kernel, sizeof *overlays, &fresh);
    if (!fresh)
        return overlays;
    add_function(&(Overlayer){.module = module, .to = overlays, .functions = {kernel}}, kernel, 0, 0);
    for (uint32_t i = 0; i < overlays->count; i++)
        for (uint32_t k = 0; k < overlays->count && !overlays->items[i].over; k++)
            overlays->items[i].over =
                !overlays->items[k].scratch && overlay(&overlays->items[i], &overlays->items[k]) != OVER_NEVER;
    return overlays;
}
