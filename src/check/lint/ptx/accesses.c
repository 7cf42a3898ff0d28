/* Pairs of accesses to the same address: of different proxies, of different sizes, and of memory that is read only. */
#include "base/order.h"
#include "check/lint/ptx/internal.h"

#include <stdlib.h>

/* An access whose address is known as a place. */
typedef struct AccessTouch {
    const Act *act;
    Point point;
    int64_t bytes;
} AccessTouch;

typedef struct Touches {
    AccessTouch *items;
    uint32_t count, capacity;
} Touches;

enum { LEAST_BOX = 16, /* bytes that the copy of a box touches at least */ MAP_BYTES = 128 };

ORDER(by_point, AccessTouch, BY(point.kind) BY(point.id) BY(act))

/* All accesses that may matter, those of one place beside each other. */
static Touches touches_of(const PtxLint *lint) {
    Touches touches = {0};
    for (uint32_t i = 0; i < lint->act_count; i++) {
        const Act *act = &lint->acts[i];
        const Effect *effect = &act->effect->effect;
        if (!effect_is_access(effect) || effect->on_descriptor || act->effect->matrix || act->on == PTX_NONE ||
            effect->space == SPACE_TENSOR)
            continue;
        AccessTouch touch = {act, point_of(lint, act->on), 0};
        if (!bytes_of(lint, act, &touch.bytes))
            touch.bytes = effect->proxy == PROXY_TENSORMAP ? MAP_BYTES : effect->helper == HELPER_TMA ? LEAST_BOX : 0;
        if (touch.point.kind && touch.bytes)
            *ARENA_PUSH(lint->arena, touches.items, touches.count, touches.capacity) = touch;
    }
    if (touches.count)
        qsort(touches.items, touches.count, sizeof *touches.items, by_point);
    return touches;
}

static bool writes(const AccessTouch *touch) {
    return touch->act->effect->effect.verb != EFFECT_READ;
}

/* ---- Proxies -------------------------------------------------------------------------------------- */

static bool is_async(const AccessTouch *touch) {
    const Effect *effect = &touch->act->effect->effect;
    return effect->proxy == PROXY_ASYNC && effect->space == SPACE_SHARED;
}

static bool is_fence(const PtxLint *lint, const Act *act, const void *nothing) {
    (void)lint, (void)nothing;
    return act->effect->effect.verb == EFFECT_FENCE_PROXY && act->effect->effect.proxy == PROXY_ASYNC;
}

static void look_at_proxies(PtxLint *lint, const AccessTouch *generic, const AccessTouch *async) {
    if (!writes(generic) || is_async(generic) || generic->act->effect->effect.space != SPACE_SHARED ||
        generic->act->effect->effect.done != DONE_NOW || !is_async(async) ||
        !both_run(lint, generic->act, async->act) || lint->reach.calls || lint->reach.unknown != PTX_NONE ||
        such_between(lint, generic->act->instruction, async->act->instruction, is_fence, NULL))
        return;
    bool reads = !writes(async);
    Finding *finding = ptx_find(lint, RULE_FENCE_MISSING, async->act->statement,
                                "%s shared memory through the async proxy that the thread wrote before, and no proxy "
                                "fence is between them",
                                reads ? "reads" : "overwrites");
    ptx_other(lint, finding, "writes", generic->act->statement);
    ptx_say(finding, NULL, "Put `fence.proxy.async.shared::cta` behind the write, before threads synchronize.");
}

/* ---- Tensor maps ---------------------------------------------------------------------------------- */

static bool is_map_acquire(const PtxLint *lint, const Act *act, const void *nothing) {
    (void)lint, (void)nothing;
    const Effect *effect = &act->effect->effect;
    return effect->verb == EFFECT_FENCE_PROXY && effect->proxy == PROXY_TENSORMAP && effect->order == ORDER_ACQUIRE;
}

static void look_at_maps(PtxLint *lint, const AccessTouch *change, const AccessTouch *copy) {
    if (!writes(change) || change->act->effect->effect.proxy != PROXY_GENERIC ||
        copy->act->effect->effect.proxy != PROXY_TENSORMAP || !both_run(lint, change->act, copy->act) ||
        lint->reach.calls || lint->reach.unknown != PTX_NONE ||
        such_between(lint, change->act->instruction, copy->act->instruction, is_map_acquire, NULL))
        return;
    Finding *finding = ptx_find(lint, RULE_FENCE_TENSORMAP, copy->act->statement,
                                "uses a tensor map that the thread changed before, and no fence of the tensormap proxy "
                                "is between them");
    ptx_other(lint, finding, "changes it", change->act->statement);
    ptx_say(
        finding, NULL,
        "Put `fence.proxy.tensormap::generic.release` behind the change and `fence.proxy.tensormap::generic.acquire` "
        "on the map before the copy.");
}

/* ---- Memory that is read only --------------------------------------------------------------------- */

static void look_at_read_only(PtxLint *lint, const AccessTouch *load, const AccessTouch *store) {
    if (!load->act->effect->read_only || !writes(store) ||
        (!both_run(lint, load->act, store->act) && !both_run(lint, store->act, load->act)))
        return;
    Finding *finding = ptx_find(lint, RULE_ACCESS_READ_ONLY, load->act->statement,
                                "reads through the non-coherent cache what the same thread writes");
    ptx_other(lint, finding, "writes it", store->act->statement);
    if (finding)
        finding->space = "global";
}

/* ---- Sizes ---------------------------------------------------------------------------------------- */

/* The bytes of an element of a strong access; 0: it is none. */
static unsigned strong_bytes(const PtxLint *lint, const AccessTouch *touch) {
    const PtxForm *form = ptx_form(lint, touch->act->statement);
    Str type = ptx_form_modifier(form->row, form->text, STR("t"));
    if (touch->act->effect->effect.order == ORDER_WEAK || touch->act->effect->effect.done != DONE_NOW)
        return 0;
    return digits_in(type) / 8 * (str_ends(type, STR("x2")) ? 2 : 1);
}

static void look_at_sizes(PtxLint *lint, const AccessTouch *one, const AccessTouch *other) {
    unsigned a = strong_bytes(lint, one), b = strong_bytes(lint, other);
    bool atomic = one->act->effect->effect.verb == EFFECT_UPDATE || other->act->effect->effect.verb == EFFECT_UPDATE;
    if (!a || !b || a == b || !atomic)
        return;
    Finding *finding = ptx_find(lint, RULE_ATOMIC_WIDTH, other->act->statement,
                                "is %u bytes wide, and another strong access to the same address %u", b, a);
    ptx_other(lint, finding, "is the other one", one->act->statement);
    ptx_say(finding,
            "Strong accesses of different sizes to overlapping bytes are not atomic with respect to each other, and "
            "the memory model gives no guarantee for such a race.",
            NULL);
}

/* ---- All of them ---------------------------------------------------------------------------------- */

enum { MOST_OF_ONE = 512 }; /* accesses of one place that are compared with one */

void ptx_accesses(PtxLint *lint) {
    Touches touches = touches_of(lint);
    for (uint32_t i = 0; i < touches.count; i++)
        for (uint32_t k = i + 1; k < touches.count && k - i < MOST_OF_ONE; k++) {
            const AccessTouch *one = &touches.items[i], *other = &touches.items[k];
            if (!points_alike(one->point, other->point))
                break;
            if (!points_overlap(one->point, one->bytes, other->point, other->bytes))
                continue;
            look_at_proxies(lint, one, other);
            look_at_proxies(lint, other, one);
            look_at_maps(lint, one, other);
            look_at_maps(lint, other, one);
            look_at_read_only(lint, one, other);
            look_at_read_only(lint, other, one);
            look_at_sizes(lint, one, other);
        }
}
