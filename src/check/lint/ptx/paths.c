/* What comes before what: dominance, and what lies on some path. */
#include "check/lint/ptx/internal.h"

bool comes_before(const PtxLint *lint, uint32_t earlier, uint32_t later) {
    const PtxFlow *flow = &lint->flow;
    uint32_t above = flow->block_of[earlier], below = flow->block_of[later];
    return above == below ? earlier < later : flow_dominates(flow, above, below);
}

bool same_guard(const PtxLint *lint, uint32_t one, uint32_t other) {
    const PtxStatement *a = &lint->module->statements[lint->flow.instructions[one]];
    const PtxStatement *b = &lint->module->statements[lint->flow.instructions[other]];
    if (!(a->flags & PTX_GUARDED) || !(b->flags & PTX_GUARDED))
        return !(a->flags & PTX_GUARDED) && !(b->flags & PTX_GUARDED);
    uint32_t value = flow_value(&lint->flow, a->first);
    return (a->flags & PTX_NEGATED) == (b->flags & PTX_NEGATED) && value != PTX_NONE &&
           value == flow_value(&lint->flow, b->first);
}

bool both_run(const PtxLint *lint, const Act *first, const Act *second) {
    return comes_before(lint, first->instruction, second->instruction) &&
           (!is_guarded(lint, first->statement) || !is_guarded(lint, second->statement) ||
            same_guard(lint, first->instruction, second->instruction));
}

const Act *act_at(const PtxLint *lint, uint32_t instruction, EffectVerb verb) {
    for (uint32_t i = lint->first_acts[instruction]; i < lint->first_acts[instruction + 1]; i++)
        if (lint->acts[i].effect->effect.verb == verb)
            return &lint->acts[i];
    return NULL;
}

/* ---- Paths ---------------------------------------------------------------------------------------- */

/* Blocks whose begin can be come to from the end of a block; or, backward, whose end leads to the begin of it. */
static bool *blocks_beyond(const PtxLint *lint, uint32_t block, bool backward) {
    const PtxFlow *flow = &lint->flow;
    bool *seen = ARENA_ARRAY(lint->arena, bool, flow->block_count + 1);
    uint32_t *open = ARENA_ARRAY(lint->arena, uint32_t, flow->block_count + 1), count = 0;
    for (uint32_t at = block;; at = open[--count]) {
        const FlowBlock *from = &flow->blocks[at];
        uint32_t first = backward ? from->predecessors : from->successors;
        uint32_t edges = backward ? from->predecessor_count : from->successor_count;
        for (uint32_t i = 0; i < edges; i++) {
            uint32_t next = flow->edges[first + i];
            if (seen[next])
                continue;
            seen[next] = true;
            open[count++] = next;
        }
        if (!count)
            return seen;
    }
}

static const Act *such_on(const PtxLint *lint, uint32_t from, uint32_t to, IsSuch *is, const void *context) {
    const PtxFlow *flow = &lint->flow;
    const bool *after = from == PTX_NONE ? NULL : blocks_beyond(lint, flow->block_of[from], false);
    const bool *before = to == PTX_NONE ? NULL : blocks_beyond(lint, flow->block_of[to], true);
    for (uint32_t i = 0; i < lint->act_count; i++) {
        uint32_t at = lint->acts[i].instruction, block = flow->block_of[at];
        if (!is(lint, &lint->acts[i], context))
            continue;
        bool late = !after || after[block] || (block == flow->block_of[from] && at > from);
        bool early = !before || before[block] || (block == flow->block_of[to] && at < to);
        if (late && early)
            return &lint->acts[i];
    }
    return NULL;
}

const Act *such_between(const PtxLint *lint, uint32_t from, uint32_t to, IsSuch *is, const void *context) {
    /* Of two in one block, in this order, only what lies between them: around a loop the first is run again. */
    if (lint->flow.block_of[from] == lint->flow.block_of[to] && from < to) {
        for (uint32_t i = lint->first_acts[from + 1]; i < lint->first_acts[to]; i++)
            if (is(lint, &lint->acts[i], context))
                return &lint->acts[i];
        return NULL;
    }
    return such_on(lint, from, to, is, context);
}

const Act *such_before(const PtxLint *lint, uint32_t to, IsSuch *is, const void *context) {
    return such_on(lint, PTX_NONE, to, is, context);
}
