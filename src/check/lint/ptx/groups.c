/* Groups of asynchronous work: never committed, never waited for, waits that wait for nothing. */
#include "check/lint/ptx/internal.h"

#include <inttypes.h>

/* What a kind of group is called, and whether its work has to be committed. */
typedef struct GroupsKind {
    GroupKind group;
    const char *what, *commit, *await;
    bool counted; /* waits for it leave some pending */
} GroupsKind;

static const GroupsKind kinds[] = {
    {GROUP_CP_ASYNC, "the asynchronous copy", "`cp.async.commit_group`", "`cp.async.wait_group`", true},
    {GROUP_TMA_STORE, "the bulk copy", "`cp.async.bulk.commit_group`", "`cp.async.bulk.wait_group`", true},
    {GROUP_WGMMA, "the asynchronous MMA", "`wgmma.commit_group`", "`wgmma.wait_group`", false},
    {GROUP_TENSOR_STORE, "the store to tensor memory", NULL, "`tcgen05.wait::st`", false},
};

static bool works(const Act *act, GroupKind group) {
    const Effect *effect = &act->effect->effect;
    return effect_is_access(effect) && effect->done == DONE_GROUP && effect->group == group;
}

static bool awaits(const Act *act, GroupKind group) {
    return act->effect->effect.verb == EFFECT_AWAIT && act->effect->effect.group == group;
}

/* ---- At all --------------------------------------------------------------------------------------- */

static const Act *first_work(const PtxLint *lint, GroupKind group) {
    for (uint32_t i = 0; i < lint->act_count; i++)
        if (works(&lint->acts[i], group))
            return &lint->acts[i];
    return NULL;
}

static bool look_at_commits(PtxLint *lint, const GroupsKind *kind) {
    const Act *work = first_work(lint, kind->group);
    if (!work || !kind->commit || lint->reach.commits >> kind->group & 1 || !(lint->reach.awaits >> kind->group & 1))
        return false;
    Finding *finding =
        ptx_find(lint, RULE_GROUP_NEVER_COMMITTED, work->statement,
                 "%s is in no group: the kernel never commits one, so that its waits wait for nothing", kind->what);
    ptx_say(finding, NULL, verdict_text(lint->verdict, "Put %s behind the work that a wait is for.", kind->commit));
    return true;
}

/* Of each block, whether from its begin a wait for the kind can be come to. */
static bool *blocks_to_waits(const PtxLint *lint, GroupKind group) {
    const PtxFlow *flow = &lint->flow;
    bool *leads = ARENA_ARRAY(lint->arena, bool, flow->block_count + 1);
    uint32_t *open = ARENA_ARRAY(lint->arena, uint32_t, flow->block_count + 1), count = 0;
    for (uint32_t i = 0; i < lint->act_count; i++) {
        uint32_t block = flow->block_of[lint->acts[i].instruction];
        if (!awaits(&lint->acts[i], group) || leads[block])
            continue;
        leads[block] = true;
        open[count++] = block;
    }
    while (count) {
        const FlowBlock *block = &flow->blocks[open[--count]];
        for (uint32_t i = 0; i < block->predecessor_count; i++) {
            uint32_t next = flow->edges[block->predecessors + i];
            if (leads[next])
                continue;
            leads[next] = true;
            open[count++] = next;
        }
    }
    return leads;
}

static bool wait_follows(const PtxLint *lint, const Act *work, GroupKind group, const bool *leads) {
    const FlowBlock *block = &lint->flow.blocks[lint->flow.block_of[work->instruction]];
    for (uint32_t i = lint->first_acts[work->instruction]; i < lint->first_acts[block->end]; i++)
        if (awaits(&lint->acts[i], group))
            return true;
    for (uint32_t i = 0; i < block->successor_count; i++)
        if (leads[lint->flow.edges[block->successors + i]])
            return true;
    return false;
}

static void look_at_waits(PtxLint *lint, const GroupsKind *kind) {
    if (kind->group == GROUP_CP_ASYNC && lint->reach.arrives_for_copies)
        return;
    const bool *leads = NULL;
    for (uint32_t i = 0; i < lint->act_count; i++) {
        const Act *act = &lint->acts[i];
        if (!works(act, kind->group))
            continue;
        leads = leads ? leads : blocks_to_waits(lint, kind->group);
        if (wait_follows(lint, act, kind->group, leads))
            continue;
        Finding *finding = ptx_find(lint, RULE_GROUP_NEVER_WAITED, act->statement,
                                    "%s is never waited for: no path from here leads to a wait", kind->what);
        ptx_say(finding, NULL,
                verdict_text(lint->verdict, "Wait with %s before the kernel ends, and before what it writes is used.",
                             kind->await));
        return; /* the first stands for all */
    }
}

/* ---- How many are pending ------------------------------------------------------------------------- */

enum { MANY = 64 };

static unsigned step(const PtxLint *lint, const Act *act, GroupKind group, unsigned pending) {
    const Effect *effect = &act->effect->effect;
    int64_t left;
    if (effect->verb == EFFECT_COMMIT && effect->group == group)
        return pending < MANY ? pending + 1 : MANY;
    if (!awaits(act, group) || is_guarded(lint, act->statement))
        return pending;
    if (!act->effect->count.size)
        return 0;
    return number_of(lint, act->count, &left) && left >= 0 && left < pending ? (unsigned)left : pending;
}

static unsigned at_end(const PtxLint *lint, const FlowBlock *block, GroupKind group, unsigned pending) {
    for (uint32_t i = lint->first_acts[block->begin]; i < lint->first_acts[block->end]; i++)
        pending = step(lint, &lint->acts[i], group, pending);
    return pending;
}

/* The most groups that may be pending at the begin of each block. */
static uint8_t *pending_groups(const PtxLint *lint, GroupKind group) {
    const PtxFlow *flow = &lint->flow;
    uint8_t *pending = ARENA_ARRAY(lint->arena, uint8_t, flow->block_count + 1);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t n = 0; n < flow->order_count; n++) {
            const FlowBlock *block = &flow->blocks[flow->order[n]];
            unsigned most = at_end(lint, block, group, pending[flow->order[n]]);
            for (uint32_t i = 0; i < block->successor_count; i++) {
                uint8_t *next = &pending[flow->edges[block->successors + i]];
                if (*next >= most)
                    continue;
                *next = (uint8_t)most;
                changed = true;
            }
        }
    }
    return pending;
}

/* Waits that leave so many groups pending, and those of them that never wait. */
typedef struct Waits {
    const Act *idle;
    unsigned pending; /* the most that can be there */
    bool busy;        /* one of them may wait: then the others are steps of a pipeline that is not full yet */
} Waits;

static void look_at_wait(const PtxLint *lint, const Act *act, unsigned most, Waits waits[MANY]) {
    int64_t left;
    if (!number_of(lint, act->count, &left) || left < 0 || left >= MANY)
        return;
    if (most > left) {
        waits[left].busy = true;
    } else if (most && !waits[left].idle) {
        waits[left].idle = act;
        waits[left].pending = most;
    }
}

static void look_at_counts(PtxLint *lint, const GroupsKind *kind) {
    const PtxFlow *flow = &lint->flow;
    Waits waits[MANY] = {0};
    if (!kind->counted || !first_work(lint, kind->group) || !(lint->reach.awaits >> kind->group & 1))
        return;
    const uint8_t *pending = pending_groups(lint, kind->group);
    for (uint32_t n = 0; n < flow->order_count; n++) {
        const FlowBlock *block = &flow->blocks[flow->order[n]];
        unsigned most = pending[flow->order[n]];
        for (uint32_t i = lint->first_acts[block->begin]; i < lint->first_acts[block->end]; i++) {
            if (awaits(&lint->acts[i], kind->group))
                look_at_wait(lint, &lint->acts[i], most, waits);
            most = step(lint, &lint->acts[i], kind->group, most);
        }
    }
    for (unsigned left = 0; left < MANY; left++)
        if (waits[left].idle && !waits[left].busy)
            ptx_say(ptx_find(lint, RULE_COPY_WAIT_NOTHING, waits[left].idle->statement,
                             "waits until at most %u group%s pending, and no more than %u can be", left,
                             left == 1 ? " is" : "s are", waits[left].pending),
                    "A wait that leaves N groups pending returns at once where no more than N can have been "
                    "committed: the copies it seems to wait for are still in flight.",
                    "Make the number smaller: the groups that may still be in flight when the data is read.");
}

void ptx_groups(PtxLint *lint) {
    if (lint->reach.unknown != PTX_NONE || lint->reach.calls)
        return;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (look_at_commits(lint, &kinds[i]))
            continue;
        look_at_waits(lint, &kinds[i]);
        look_at_counts(lint, &kinds[i]);
    }
}
