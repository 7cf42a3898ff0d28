/* How far the next place is ahead of the pointer where blocks begin and end: records have places so many units behind
 * the pointer, which goes on only where ways meet that have recorded more or less than each other.
 *
 * All ways out of a block lead to blocks that begin with the same distance, since the pointer goes on in the block. The
 * first way that comes to them says which. Where it is looked whether there is room it is the head of a chunk, so that
 * the pointer to a further one is its address. */
#include "instrument/internal.h"

typedef struct Distances {
    InstrumentPlan *plan;
    uint32_t *like;    /* of each block: one that begins with the same distance, or itself */
    uint32_t *begin;   /* of such a one: units */
    bool *known;       /* ... if so */
    uint32_t *records; /* of each block: units, behind its last check */
    bool *checks;      /* of each block: there is one in it */
} Distances;

static uint32_t chief(const Distances *distances, uint32_t block) {
    while (distances->like[block] != block)
        block = distances->like[block];
    return block;
}

static void begin_alike(Distances *distances, uint32_t one, uint32_t other) {
    distances->like[chief(distances, one)] = chief(distances, other);
}

static void decide(Distances *distances, uint32_t block, uint32_t units) {
    uint32_t at = chief(distances, block);
    distances->begin[at] = distances->known[at] ? distances->begin[at] : units;
    distances->known[at] = true;
}

static void count_records(Distances *distances) {
    for (uint32_t i = 0; i < distances->plan->count; i++) {
        const InstrumentStep *step = &distances->plan->steps[i];
        distances->records[step->block] += step->units;
        /* A check of a run stands behind its last step. */
        if (step->check) {
            distances->records[step->block] = 0;
            distances->checks[step->block] = true;
        }
    }
}

/* Which blocks begin alike; a block in which nothing can be written begins as it ends. */
static void find_alike(Distances *distances) {
    const PtxFlow *flow = &distances->plan->analysis->flow;
    for (uint32_t b = 0; b < flow->block_count; b++)
        distances->like[b] = b;
    for (uint32_t b = 0; b < flow->block_count; b++) {
        const FlowBlock *block = &flow->blocks[b];
        const uint32_t *to = flow->edges + block->successors;
        for (uint32_t k = 1; block->reached && k < block->successor_count; k++)
            begin_alike(distances, to[k], to[0]);
        if (block->reached && block->successor_count && block->begin == block->end)
            begin_alike(distances, b, to[0]);
    }
    for (uint32_t b = 0; b < flow->block_count; b++)
        if (distances->plan->needs[b])
            decide(distances, b, distances->plan->start);
}

void plan_ahead(InstrumentPlan *plan) {
    const PtxFlow *flow = &plan->analysis->flow;
    uint32_t blocks = flow->block_count + 1;
    plan->ahead = ARENA_ARRAY(plan->arena, uint32_t, blocks);
    plan->left = ARENA_ARRAY(plan->arena, uint32_t, blocks);
    if (!plan->together || plan->dynamic || !flow->order_count)
        return;
    Distances distances = {.plan = plan,
                           .like = ARENA_ARRAY(plan->arena, uint32_t, blocks),
                           .begin = ARENA_ARRAY(plan->arena, uint32_t, blocks),
                           .known = ARENA_ARRAY(plan->arena, bool, blocks),
                           .records = ARENA_ARRAY(plan->arena, uint32_t, blocks),
                           .checks = ARENA_ARRAY(plan->arena, bool, blocks)};
    plan->start = 1;
    plan->narrow = plan->lone;
    count_records(&distances);
    find_alike(&distances);
    decide(&distances, flow->order[0], plan->start);
    for (uint32_t i = 0; i < flow->order_count; i++) {
        uint32_t b = flow->order[i];
        const FlowBlock *block = &flow->blocks[b];
        plan->ahead[b] = distances.begin[chief(&distances, b)];
        plan->left[b] = distances.records[b] + (distances.checks[b] ? plan->start : plan->ahead[b]);
        if (!block->successor_count)
            continue;
        uint32_t to = flow->edges[block->successors];
        uint32_t reached = plan->left[b];
        decide(&distances, to, reached);
        plan->left[b] = distances.begin[chief(&distances, to)];
        /* Who goes back may come before the chunk. */
        plan->narrow &= plan->left[b] <= reached;
    }
}
