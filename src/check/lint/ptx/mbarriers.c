/* mbarriers: initialized twice, written over, never waited for, other bytes than are expected. */
#include "check/lint/ptx/internal.h"

#include <inttypes.h>

enum { OBJECT = 8, MOST_INITS = 256 };

static bool is_invalidation(const PtxLint *lint, const Act *act, const void *nothing) {
    (void)lint, (void)nothing;
    return act->effect->effect.verb == EFFECT_INVALIDATE;
}

static bool is_live(const PtxLint *lint, const Act *init, const Act *later) {
    return both_run(lint, init, later) &&
           !such_between(lint, init->instruction, later->instruction, is_invalidation, NULL);
}

/* ---- Life ----------------------------------------------------------------------------------------- */

typedef struct Inits {
    const Act *acts[MOST_INITS];
    Point points[MOST_INITS];
    unsigned count;
} Inits;

static void look_at_init(PtxLint *lint, const Inits *inits, const Act *act, Point point) {
    for (unsigned i = 0; i < inits->count; i++) {
        if (!points_overlap(inits->points[i], OBJECT, point, OBJECT) || !is_live(lint, inits->acts[i], act))
            continue;
        Finding *finding = ptx_find(lint, RULE_BARRIER_REINITIALIZED, act->statement,
                                    "the mbarrier is initialized again, and was not invalidated");
        ptx_say(finding, "Initializing a location that holds a valid mbarrier is undefined behavior.",
                "Initialize it once, or invalidate it with `mbarrier.inval` before.");
        ptx_other(lint, finding, "initializes", inits->acts[i]->statement);
        return;
    }
}

static void look_at_write(PtxLint *lint, const Inits *inits, const Act *act) {
    int64_t bytes;
    if (!inits->count || act->effect->effect.on_descriptor || act->effect->effect.space != SPACE_SHARED ||
        !bytes_of(lint, act, &bytes))
        return;
    Point point = point_of(lint, act->on);
    for (unsigned i = 0; i < inits->count; i++) {
        if (!points_overlap(inits->points[i], OBJECT, point, bytes) || !is_live(lint, inits->acts[i], act))
            continue;
        Finding *finding = ptx_find(lint, RULE_BARRIER_OVERWRITTEN, act->statement,
                                    "the write goes to the bytes of an mbarrier that is in use");
        ptx_say(finding,
                "An mbarrier is 8 bytes that only mbarrier operations may touch, from its initialization until it "
                "is invalidated.",
                "Invalidate the mbarrier before its memory is used for something else.");
        ptx_other(lint, finding, "initializes", inits->acts[i]->statement);
        return;
    }
}

static void look_at_life(PtxLint *lint) {
    Inits *inits = ARENA_NEW(lint->arena, Inits);
    for (uint32_t i = 0; i < lint->act_count; i++) {
        const Act *act = &lint->acts[i];
        EffectVerb verb = act->effect->effect.verb;
        if (verb == EFFECT_WRITE || verb == EFFECT_UPDATE)
            look_at_write(lint, inits, act);
        if (verb != EFFECT_INIT)
            continue;
        Point point = point_of(lint, act->on);
        look_at_init(lint, inits, act, point);
        if (inits->count < MOST_INITS) {
            inits->acts[inits->count] = act;
            inits->points[inits->count++] = point;
        }
    }
}

/* ---- Who waits, who expects ----------------------------------------------------------------------- */

static void look_at_waits(PtxLint *lint) {
    bool never = never_does(lint, EFFECT_WAIT);
    for (uint32_t i = 0; i < lint->act_count && never; i++) {
        const Act *act = &lint->acts[i];
        const Effect *effect = &act->effect->effect;
        bool counts = (effect_is_access(effect) && effect->done == DONE_TX) ||
                      (effect->verb == EFFECT_ARRIVE && effect->done != DONE_NOW);
        if (!counts)
            continue;
        ptx_say(ptx_find(lint, RULE_MBARRIER_NEVER_WAITED, act->statement,
                         "its completion counts on an mbarrier, and the kernel never waits on one"),
                "What asynchronous work writes may be used only after a wait for its completion, and a CTA may not "
                "exit before.",
                "Wait on the mbarrier with `mbarrier.try_wait` before the data is used, and before the kernel ends.");
        return;
    }
}

static void look_at_expects(PtxLint *lint) {
    if (!never_does(lint, EFFECT_EXPECT) || !never_does(lint, EFFECT_EXPECT_BYTES))
        return;
    for (uint32_t i = 0; i < lint->act_count; i++) {
        const Act *act = &lint->acts[i];
        if (act->effect->effect.verb != EFFECT_COMPLETE || act->effect->effect.helper == HELPER_BASE)
            continue;
        ptx_find(lint, RULE_MBARRIER_NEVER_EXPECTED, act->statement,
                 "its bytes count on an mbarrier, and the kernel never expects any");
        return;
    }
}

/* ---- Waits whose result is not used ----------------------------------------------------------- */

/* Values that are read: by an instruction, by a phi, or as what a register had before. */
static bool *used_values(const PtxLint *lint) {
    const PtxFlow *flow = &lint->flow;
    bool *used = ARENA_ARRAY(lint->arena, bool, flow->value_count + 1);
    for (uint32_t i = 0; i < flow->operand_count; i++) {
        uint32_t value = flow->operand_values[i];
        if (value != PTX_NONE &&
            (flow->values[value].kind != VALUE_RESULT || flow->values[value].operand != flow->first_operand + i))
            used[value] = true;
    }
    for (uint32_t i = 0; i < flow->value_count; i++) {
        const FlowValue *value = &flow->values[i];
        if (value->kind == VALUE_PHI)
            for (uint32_t k = 0; k < flow->blocks[value->block].predecessor_count; k++)
                used[flow->inputs[value->inputs + k]] = true;
        else if (value->kind == VALUE_RESULT && value->before != PTX_NONE)
            used[value->before] = true;
    }
    return used;
}

static void look_at_results(PtxLint *lint) {
    const bool *used = NULL;
    for (uint32_t i = 0; i < lint->act_count; i++) {
        const Act *act = &lint->acts[i];
        if (act->effect->effect.verb != EFFECT_WAIT)
            continue;
        used = used ? used : used_values(lint);
        const PtxStatement *at = &lint->module->statements[act->statement];
        uint32_t operand = operand_named(lint->module, at, act->effect->gives);
        if (operand == PTX_NONE)
            continue;
        uint32_t value = flow_value(&lint->flow, operand);
        bool sink = lint->module->operands[operand].kind == PTX_SINK;
        if (sink || (value != PTX_NONE && !used[value]))
            ptx_find(lint, RULE_MBARRIER_WAIT_IGNORED, act->statement,
                     "the wait may give up before the phase is complete, and its result is not used");
    }
}

/* ---- Bytes ---------------------------------------------------------------------------------------- */

/* All expects and completions of a function, if they are in one block and their numbers are known. */
typedef struct MbarrierSum {
    uint32_t expect; /* statement */
    int64_t offset, expected, delivered;
    unsigned expects;
} MbarrierSum;

enum { MOST_SUMS = 64 };

static MbarrierSum *sum_of(MbarrierSum *sums, unsigned *count, int64_t offset) {
    for (unsigned i = 0; i < *count; i++)
        if (sums[i].offset == offset)
            return &sums[i];
    if (*count == MOST_SUMS)
        return NULL;
    sums[*count] = (MbarrierSum){.offset = offset};
    return &sums[(*count)++];
}

static bool counts_bytes(const Act *act) {
    EffectVerb verb = act->effect->effect.verb;
    return verb == EFFECT_EXPECT || verb == EFFECT_EXPECT_BYTES || verb == EFFECT_COMPLETE;
}

/* False: something about it is not known. */
static bool add_bytes(const PtxLint *lint, const Act *act, const Act *first, MbarrierSum *sums, unsigned *count) {
    int64_t bytes;
    Point point = point_of(lint, act->on), of_first = point_of(lint, first->on);
    bool together = lint->flow.block_of[act->instruction] == lint->flow.block_of[first->instruction] &&
                    same_guard(lint, act->instruction, first->instruction);
    if (!together || !points_alike(point, of_first) || act->effect->effect.multicast || act->effect->boxes.size ||
        !bytes_of(lint, act, &bytes))
        return false;
    MbarrierSum *sum = sum_of(sums, count, point.offset);
    if (!sum)
        return false;
    if (act->effect->effect.verb == EFFECT_COMPLETE) {
        sum->delivered += bytes;
    } else {
        sum->expected += bytes;
        sum->expect = act->statement;
        sum->expects++;
    }
    return true;
}

static void look_at_sums(PtxLint *lint) {
    MbarrierSum sums[MOST_SUMS];
    unsigned count = 0;
    const Act *first = NULL;
    if (lint->reach.unknown != PTX_NONE || lint->reach.calls)
        return;
    for (uint32_t i = 0; i < lint->act_count; i++) {
        if (!counts_bytes(&lint->acts[i]))
            continue;
        first = first ? first : &lint->acts[i];
        if (!add_bytes(lint, &lint->acts[i], first, sums, &count))
            return;
    }
    for (unsigned i = 0; i < count; i++)
        if (sums[i].expects == 1 && sums[i].delivered && sums[i].delivered != sums[i].expected)
            ptx_find(lint, RULE_MBARRIER_EXPECTED_BYTES, sums[i].expect,
                     "expects %" PRId64 " bytes, and the copies on this mbarrier deliver %" PRId64, sums[i].expected,
                     sums[i].delivered);
}

void ptx_mbarriers(PtxLint *lint) {
    look_at_life(lint);
    look_at_waits(lint);
    look_at_expects(lint);
    look_at_results(lint);
    look_at_sums(lint);
}
