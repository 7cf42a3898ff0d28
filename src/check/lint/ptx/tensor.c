/* Tensor memory: allocations that are never freed or come too late, and CTA groups that do not go together. */
#include "check/lint/ptx/internal.h"

static const Act *first_act(const PtxLint *lint, EffectVerb verb) {
    for (uint32_t i = 0; i < lint->act_count; i++)
        if (lint->acts[i].effect->effect.verb == verb && lint->acts[i].effect->effect.space == SPACE_TENSOR)
            return &lint->acts[i];
    return NULL;
}

static void look_at_life(PtxLint *lint) {
    const Act *allocation = first_act(lint, EFFECT_ALLOCATE);
    if (allocation && never_does(lint, EFFECT_FREE))
        ptx_find(lint, RULE_TMEM_NEVER_FREED, allocation->statement,
                 "tensor memory is allocated, and the kernel never frees any");
}

static void look_at_relinquish(PtxLint *lint) {
    for (uint32_t i = 0; i < lint->act_count; i++) {
        const Act *act = &lint->acts[i];
        if (act->effect->effect.verb != EFFECT_RELINQUISH)
            continue;
        for (uint32_t k = 0; k < lint->act_count; k++) {
            const Act *later = &lint->acts[k];
            if (later->effect->effect.verb != EFFECT_ALLOCATE ||
                !comes_before(lint, act->instruction, later->instruction) || is_guarded(lint, act->statement))
                continue;
            Finding *finding = ptx_find(lint, RULE_TMEM_AFTER_RELINQUISH, later->statement,
                                        "tensor memory is allocated after the CTA gave up the right to");
            ptx_other(lint, finding, "gives it up", act->statement);
        }
    }
}

/* Whether an instruction says how many CTAs take part in it. */
static bool has_group(const Act *act) {
    const Effect *effect = &act->effect->effect;
    return effect->verb == EFFECT_ALLOCATE || effect->verb == EFFECT_FREE || effect->verb == EFFECT_RELINQUISH ||
           (effect_is_access(effect) && effect->helper == HELPER_TENSOR);
}

static void look_at_groups(PtxLint *lint) {
    const Act *one = NULL, *two = NULL;
    for (uint32_t i = 0; i < lint->act_count; i++) {
        const Act *act = &lint->acts[i];
        if (!has_group(act))
            continue;
        const Act **kept = act->effect->effect.pair ? &two : &one;
        *kept = *kept ? *kept : act;
    }
    if (!one || !two)
        return;
    Finding *finding = ptx_find(lint, RULE_TMEM_CTA_GROUP, two->statement,
                                "works for two CTAs, and other instructions of the kernel for one");
    ptx_other(lint, finding, "for one CTA", one->statement);
    ptx_say(finding, "Every tcgen05 instruction of a kernel has the same `.cta_group`.",
            "Use `.cta_group::1` or `.cta_group::2` throughout.");
}

void ptx_tensor(PtxLint *lint) {
    look_at_life(lint);
    look_at_relinquish(lint);
    look_at_groups(lint);
}
