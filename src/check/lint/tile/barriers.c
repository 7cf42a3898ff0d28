/* Rules of lint_barrier.def that one op decides: what an mbarrier is, its counts and bytes, where it lies, and who may
 * do what with it on which target. */
#include "check/lint/tile/signals.h"

#include "model/layout/encoding.h"

enum { LARGEST_COUNT = (1 << 20) - 1 };

/* ---- Shared with the other passes ----------------------------------------------------------------- */

uint32_t lint_ctas(const Lint *lint) {
    unsigned ctas = module_ctas(lint->function);
    return ctas == 1 ? module_cluster(lint->function) : ctas;
}

bool is_signal(Module *module, const Effect *effect) {
    if (!effect_is_barrier(effect) || effect->side != SIDE_NONE || !effect->on)
        return false;
    const Type *type = effect->on->type ? type_canonical(module, effect->on->type) : NULL;
    return type && type_is(type, STR("ttg.memdesc"));
}

bool effect_is_remote(const Lint *lint, uint32_t ctas, const Effect *effect) {
    bool signals = effect->verb == EFFECT_EXPECT || effect->verb == EFFECT_ARRIVE || effect->verb == EFFECT_COMPLETE;
    bool touches = effect_is_access(effect) && effect->space == SPACE_SHARED;
    if (ctas < 2 || !(signals || touches))
        return false;
    if (effect->rank || effect->to_ctas || effect->from_some || effect->multicast || effect->pair ||
        effect->helper == HELPER_CLC)
        return true;
    if (!effect->on || !effect->on->type)
        return false;
    if (signals && encoding_sharers(lint->module, effect->on->type, ctas) > 1)
        return true;
    return place_of(lint->facts, effect->on).remote;
}

Tribool is_aligned(const Lint *lint, const Value *memdesc, int64_t alignment) {
    KnownPlace place = place_of(lint->facts, memdesc);
    int64_t asked;
    if (!place.allocation)
        return TRIBOOL_UNKNOWN;
    Tribool tribool = known_is_multiple(&place.byte, alignment);
    bool asked_less = !place.placed && op_integer(place.allocation, "alignment", &asked) && asked % alignment != 0;
    return asked_less && tribool == TRIBOOL_TRUE ? TRIBOOL_UNKNOWN : tribool;
}

/* ---- What a barrier is ---------------------------------------------------------------------------- */

static void check_object(Lint *lint, const Op *op, const Effect *effect, uint32_t ctas) {
    const Type *type = type_canonical(lint->module, effect->on->type);
    const Type *element = type->element ? type_canonical(lint->module, type->element) : NULL;
    if (memdesc_space(type) != SPACE_SHARED)
        lint_find(lint, RULE_MBARRIER_OBJECT, op, "the barrier is not in shared memory");
    else if (element && (element->kind != TYPE_INTEGER || element->width != 64))
        lint_find(lint, RULE_MBARRIER_OBJECT, op, "the barrier's elements are %.*s, not i64", STR_ARG(element->text));
    else if (type->dim_count == 1 && type->dims[0] > ctas)
        lint_find(lint, RULE_MBARRIER_OBJECT, op, "it takes %lld barriers, and the cluster has %u CTA%s",
                  (long long)type->dims[0], ctas, ctas == 1 ? "" : "s");
}

static void check_alignment(Lint *lint, const Op *op, const Effect *effect) {
    KnownPlace place = place_of(lint->facts, effect->on);
    Tribool aligned = place.allocation ? is_aligned(lint, effect->on, 8) : TRIBOOL_TRUE;
    Finding *finding = NULL;
    if (aligned == TRIBOOL_FALSE && place.byte.exact)
        finding = lint_find(lint, RULE_MBARRIER_ALIGNMENT, op, "the barrier starts at byte %lld of %s",
                            (long long)place.byte.least, place.placed ? "shared memory" : "its allocation");
    else if (aligned == TRIBOOL_FALSE)
        finding =
            lint_find(lint, RULE_MBARRIER_ALIGNMENT, op, "no slot of the barrier starts at a multiple of 8 bytes");
    else if (aligned == TRIBOOL_UNKNOWN)
        finding = lint_find(lint, RULE_MBARRIER_ALIGNMENT_OPEN, op,
                            "review: it is not known whether the barrier starts at a multiple of 8 bytes");
    if (place.allocation)
        lint_other_place(lint, finding, "allocates", place.allocation);
}

/* ---- Counts and bytes ----------------------------------------------------------------------------- */

static void check_count(Lint *lint, const Op *op, const Effect *effect, uint32_t ctas) {
    bool init = effect->verb == EFFECT_INIT;
    int64_t factor = init ? encoding_sharers(lint->module, effect->on->type, ctas) : 1, count;
    const char *what = init ? "initialized with" : "arrived on with";
    if (effect->count == -1 && effect->amount) /* not a constant, or a negative one */
        return;
    if (__builtin_mul_overflow(effect->count, factor, &count))
        count = INT64_MAX;
    if (count >= 1 && count <= LARGEST_COUNT)
        return;
    if (factor > 1)
        lint_find(lint, RULE_MBARRIER_COUNT, op,
                  "the barrier is %s a count of %lld for each of %lld CTAs that share it: %lld", what,
                  (long long)effect->count, (long long)factor, (long long)count);
    else
        lint_find(lint, RULE_MBARRIER_COUNT, op, "the barrier is %s a count of %lld", what, (long long)count);
}

static void check_bytes(Lint *lint, const Op *op, const Effect *effect, uint32_t ctas) {
    int64_t factor = effect->from_some ? 1 : encoding_sharers(lint->module, effect->on->type, ctas), bytes;
    if (effect->count == -1 && effect->amount)
        return;
    if (__builtin_mul_overflow(effect->count, factor, &bytes))
        bytes = INT64_MAX;
    if (bytes >= 0 && bytes <= LARGEST_COUNT)
        return;
    if (factor > 1)
        lint_find(lint, RULE_MBARRIER_BYTES, op,
                  "%lld bytes are expected by each of %lld CTAs that share the barrier: %lld", (long long)effect->count,
                  (long long)factor, (long long)bytes);
    else
        lint_find(lint, RULE_MBARRIER_BYTES, op, "%lld bytes are expected for one phase", (long long)bytes);
}

/* ---- Who may do it -------------------------------------------------------------------------------- */

/* Of another CTA's barrier only arrivals, announcements and deliveries are possible. */
static void check_remote(Lint *lint, const Op *op, const Effect *effect) {
    bool copies = effect->verb == EFFECT_ARRIVE && effect->done == DONE_COPIES;
    if (effect->verb != EFFECT_INIT && effect->verb != EFFECT_INVALIDATE && effect->verb != EFFECT_WAIT && !copies)
        return;
    if (!place_of(lint->facts, effect->on).remote && !effect->rank)
        return;
    lint_find(lint, RULE_MBARRIER_REMOTE, op, "the barrier is in another CTA of the cluster");
}

static void check_scope(Lint *lint, const Op *op, const Effect *effect, uint32_t ctas) {
    if (effect->verb != EFFECT_ARRIVE || effect->done != DONE_NOW || !effect_is_remote(lint, ctas, effect))
        return;
    lint_find(lint, RULE_MBARRIER_SCOPE, op, "review: it arrives on a barrier of another CTA with CTA scope only");
}

static void check_target(Lint *lint, const Op *op, const Effect *effect, uint32_t ctas) {
    const Target *target = lint->target;
    if (!target || target->vendor != VENDOR_NVIDIA || target->bulk)
        return;
    if (effect->verb == EFFECT_EXPECT)
        lint_find(lint, RULE_MBARRIER_TARGET, op, "%s has no mbarriers that count bytes", target->name);
    else if (effect->verb == EFFECT_ARRIVE && effect->done == DONE_NOW && effect->count > 1)
        lint_find(lint, RULE_MBARRIER_TARGET, op, "on %s an arrive cannot have a count of %lld", target->name,
                  (long long)effect->count);
    else if (effect_is_remote(lint, ctas, effect))
        lint_find(lint, RULE_MBARRIER_TARGET, op, "%s has no remote mbarriers", target->name);
}

/* ---- All of it ------------------------------------------------------------------------------------ */

static void check_signal(Lint *lint, const Op *op, const Effect *effect, uint32_t ctas) {
    check_object(lint, op, effect, ctas);
    check_alignment(lint, op, effect);
    check_remote(lint, op, effect);
    check_scope(lint, op, effect, ctas);
    check_target(lint, op, effect, ctas);
    if (effect->verb == EFFECT_INIT || effect->verb == EFFECT_ARRIVE)
        check_count(lint, op, effect, ctas);
    if (effect->verb == EFFECT_EXPECT)
        check_bytes(lint, op, effect, ctas);
}

void lint_barriers(Lint *lint) {
    uint32_t ctas = lint_ctas(lint);
    if (lint_is_amd(lint)) /* its barriers are others: lint_amd */
        return;
    for (const Op *op = lint->function; op; op = op_next_in_walk(op, lint->function)) {
        Effects effects = lint_effects(lint, op);
        for (const Effect *effect = effects.items; effect < effects.end; effect++)
            if (is_signal(lint->module, effect))
                check_signal(lint, op, effect, ctas);
    }
    lint_pairs(lint);
}
