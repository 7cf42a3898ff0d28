/* Which side of a handover lacks its fence. A thread that writes, makes a fence and then an atomic releases what it
 * wrote; a thread that finds that by an atomic, and makes a fence behind it, acquires it. With one of the two fences
 * alone nothing is handed over, and the race says which is missing.
 *
 * By the text: the fence lies between the access and the nearest strong access to global memory behind the write, or
 * before the read. */
#include "check/simt/internal.h"

static bool is_wide(const Effect *effect) {
    return effect->scope >= SCOPE_GPU;
}

/* Whether it is a fence that orders memory between CTAs. */
static bool is_fence(const PtxCode *code) {
    for (unsigned i = 0; i < code->form->effect_count; i++)
        if (code->form->effects[i].effect.verb == EFFECT_FENCE_ORDER && is_wide(&code->form->effects[i].effect))
            return true;
    return false;
}

/* Whether it is a strong access through which CTAs hand on; `order`: that of it. */
static bool is_handover(const ThreadsCheck *check, const PtxCode *code, EffectVerb verb, Order *order) {
    PtxEffect effect;
    if (!code->visible ||
        (!code_effect(check, code, EFFECT_UPDATE, &effect) && !code_effect(check, code, verb, &effect)) ||
        effect.effect.space == SPACE_SHARED || effect.effect.order == ORDER_WEAK || !is_wide(&effect.effect))
        return false;
    *order = effect.effect.order;
    return true;
}

/* The side of one access: where it hands on, and by what fence. */
typedef struct HandoverSide {
    const PtxCode *handover, *fence;
    bool orders; /* the handover itself is a release, or an acquire */
} HandoverSide;

static HandoverSide side_of(const ThreadsCheck *check, const PtxCode *access, bool writes) {
    const PtxCode *begin = check->program->code, *end = begin + check->program->code_count;
    HandoverSide side = {0};
    for (const PtxCode *code = access; writes ? ++code < end : code-- > begin;) {
        Order order = ORDER_WEAK;
        if (is_fence(code)) {
            side.fence = side.fence ? side.fence : code;
        } else if (is_handover(check, code, writes ? EFFECT_WRITE : EFFECT_READ, &order)) {
            side.handover = code;
            side.orders = writes ? order_releases(order) : order_acquires(order);
            break;
        }
    }
    return side;
}

bool threads_side_missing(const ThreadsCheck *check, const PtxRace *race, const char **why, const char **fix) {
    if (race->reason != REASON_UNORDERED || race->first.cta == race->second.cta || race->first.asynchronous ||
        race->second.asynchronous || race->first.access.kind == KIND_READ || race->second.access.kind != KIND_READ)
        return false;
    HandoverSide release = side_of(check, race->first.code, true), acquire = side_of(check, race->second.code, false);
    bool releases = release.fence || release.orders, acquires = acquire.fence || acquire.orders;
    if (!release.handover || !acquire.handover || releases == acquires)
        return false;
    const HandoverSide *there = releases ? &release : &acquire, *missing = releases ? &acquire : &release;
    const char *at = code_words(check, there->fence ? there->fence : there->handover);
    *why = verdict_text(
        check->verdict,
        "The two are in different CTAs. The side that %s has its fence (%s, at %s); the side that %s has "
        "none between %s and the atomic or strong access at %s.",
        releases ? "writes" : "reads", releases ? "a release" : "an acquire", at, releases ? "reads" : "writes",
        releases ? "the read" : "the write", code_words(check, missing->handover));
    *fix = releases
               ? "Put __threadfence() (fence.acq_rel.gpu) between the atomic and the read, in the thread that makes "
                 "the atomic; or make the atomic an acquire (cuda::atomic_ref)."
               : "Put __threadfence() (fence.acq_rel.gpu) between the write and the atomic; or make the atomic a "
                 "release (cuda::atomic_ref).";
    return true;
}
