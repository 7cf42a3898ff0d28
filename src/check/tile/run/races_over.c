/* Memory over memory: what is written to an allocation, or to scratch memory, while work that is still in flight uses
 * another one that has, or may have, the same bytes. Before memory is placed each allocation has spans of its own, so
 * that the engine does not see it. */
#include "check/tile/run/races_internal.h"

#include "ir/op.h"

typedef struct OverPair {
    uint32_t upper, lower; /* items */
    const Allocation *own, *under;
    Over how;
} OverPair;

/* The storage of an allocation, and how far its bytes are from those of the kernel's frame. */
static const Allocation *allocation_at_item(const Races *races, uint32_t item) {
    const Overlaid *overlaid = &races->overlays->items[item];
    return overlaid->scratch ? NULL : allocation_find(&races->machine->program->allocations, overlaid->op);
}

static void add_pair(Races *races, uint32_t upper, uint32_t lower) {
    const Allocation *under = allocation_at_item(races, lower), *own = allocation_at_item(races, upper);
    Over how = under && (!own || own->storage != under->storage)
                   ? overlay(&races->overlays->items[upper], &races->overlays->items[lower])
                   : OVER_NEVER;
    if (how != OVER_NEVER)
        *ARENA_PUSH(races->arena, races->pairs, races->pair_count, races->pair_capacity) =
            (OverPair){upper, lower, own, under, how};
}

void races_prepare_over(Races *races) {
    const Program *program = races->machine->program;
    races->overlays = overlays_of(program->module, program->function);
    races->laid_over = ARENA_ARRAY(races->arena, bool, program->allocations.storage_count + 1);
    for (uint32_t i = 0; i < races->overlays->count; i++) {
        const Allocation *allocation = allocation_at_item(races, i);
        if (allocation && races->overlays->items[i].over)
            races->laid_over[allocation->storage] = true;
        for (uint32_t k = 0; races->overlays->items[i].over && k < races->overlays->count; k++)
            add_pair(races, i, k);
    }
    if (races->overlays->cut)
        races->problem = "it has more memory than Weir compares with all other memory of the kernel";
    races->problem_op = program->function;
}

static bool is_among(Run run, int64_t shift, const Bytes *bytes, int64_t bytes_shift) {
    for (uint32_t i = 0; i < bytes->count; i++)
        if (run.begin + shift < bytes->runs[i].end + bytes_shift &&
            bytes->runs[i].begin + bytes_shift < run.end + shift)
            return true;
    return false;
}

/* Whether what is in the way is still going on by itself. What agents do themselves is over when the memory is, and
 * tensor cores work in order. */
static bool goes_on(const Races *races, const ConsanConflict *conflict, uint32_t thread) {
    bool in_order = race_helper(thread) == HELPER_TENSOR && conflict->actor == thread && !races->by_waits;
    return conflict->kind == CONSAN_PENDING_GROUP ||
           (conflict->kind != CONSAN_CLEAN && consan_kind(conflict->actor) != CONSAN_BASE && !in_order);
}

/* One item over another. */
static void check_pair(Races *races, const Event *event, uint32_t thread, bool writes, const Bytes *bytes, uint32_t cta,
                       const OverPair *pair) {
    const Overlaid *over = &races->overlays->items[pair->upper], *under = &races->overlays->items[pair->lower];
    const Allocation *allocation = pair->under, *own = pair->own;
    Over how = pair->how;
    uint32_t at = 0, span;
    Run piece;
    while ((span = spans_next(races->spans, allocation->storage, cta, &at, &piece)) != UINT32_MAX) {
        int64_t base = allocation->offset.base;
        bool shared = allocation->space == SPACE_SHARED;
        if (shared && (piece.end <= base || piece.begin >= base + allocation->size))
            continue; /* of another allocation of this storage */
        if (how == OVER_IS && !is_among(piece, under->begin - base, bytes, over->begin - (own ? own->offset.base : 0)))
            continue;
        uint32_t base_actor = consan_base(consan_agent(thread));
        ConsanConflict conflict = writes ? consan_verify_write(&races->engine, base_actor, &span, 1)
                                         : consan_verify_read(&races->engine, base_actor, &span, 1);
        bool arrival = race_is_arrival(races, &conflict); /* of a barrier that is no more: it harms only who is there */
        if (!goes_on(races, &conflict, thread) || (arrival && how != OVER_IS))
            continue;
        races->over = over->op;
        races->how = how;
        race_object(races, event, thread, writes, &conflict, false);
        races->over = NULL;
    }
}

void races_check_over(Races *races, const Event *event, uint32_t thread, bool writes, const SpanSet *set) {
    if (!races->laid_over[set->view.meta])
        return;
    for (uint32_t i = 0; i < races->pair_count; i++)
        if (races->pairs[i].own && races->pairs[i].own->storage == set->view.meta)
            check_pair(races, event, thread, writes, &set->bytes, set->view.cta, &races->pairs[i]);
}

void races_check_scratch(Races *races, const Event *event) {
    for (uint32_t i = 0; i < races->pair_count; i++) {
        const Overlaid *scratch = &races->overlays->items[races->pairs[i].upper];
        Run run = {0, scratch->end - scratch->begin};
        if (scratch->scratch && scratch->op == event->op)
            check_pair(races, event, consan_base(event->agent), true, &(Bytes){&run, 1},
                       agent_cta(races->machine, event->agent), &races->pairs[i]);
    }
}
