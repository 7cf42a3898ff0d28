/* PTX instructions, by their names: which touch memory, which order it, which do neither. */
#include "model/effect/inline_ptx_internal.h"

#include "model/effect/internal.h"

#include <ctype.h>

/* By their first part: registers alone, the lanes of a warp, caches. A trap is an assertion. */
static const char harmless[] =
    "mov add sub mul mad fma div rem abs neg min max and or xor not cnot shl shr shf cvt cvta setp selp set slct prmt "
    "lop3 bfe bfi bfind popc clz brev fns sqrt rsqrt rcp sin cos lg2 ex2 tanh copysign testp sad dp2a dp4a szext bmsk "
    "addc subc madc mul24 mad24 vadd vsub vabsdiff vmin vmax vshl vshr vmad vset isspacep mapa getctarank activemask "
    "shfl vote match redux elect mma nanosleep prefetch prefetchu applypriority createpolicy setmaxnreg pmevent trap "
    "brkpt";

#define NO_EFFECT EFFECT_ANYTHING /* a row that says: known, and nothing */

/* By their whole name, without ".aligned". An instruction with two rows has both effects. */
static const struct {
    const char *name;
    Effect effect;
    bool counted;
} rows[] = {
    {.name = "griddepcontrol.wait", .effect = {.verb = EFFECT_AWAIT_LAUNCHES}},
    {.name = "griddepcontrol.launch_dependents", .effect = {.verb = NO_EFFECT}},
    {.name = "cp.async.commit_group", .effect = {.verb = EFFECT_COMMIT, .group = GROUP_CP_ASYNC}},
    {.name = "cp.async.wait_group", .effect = {.verb = EFFECT_AWAIT, .group = GROUP_CP_ASYNC}, .counted = true},
    {.name = "cp.async.wait_all", .effect = {.verb = EFFECT_COMMIT, .group = GROUP_CP_ASYNC}},
    {.name = "cp.async.wait_all", .effect = {.verb = EFFECT_AWAIT, .group = GROUP_CP_ASYNC}},
    {.name = "cp.async.bulk.commit_group", .effect = {.verb = EFFECT_COMMIT, .group = GROUP_TMA_STORE}},
    {.name = "cp.async.bulk.wait_group", .effect = {.verb = EFFECT_AWAIT, .group = GROUP_TMA_STORE}, .counted = true},
    {.name = "cp.async.bulk.wait_group.read",
     .effect = {.verb = EFFECT_AWAIT, .group = GROUP_TMA_STORE, .sources = true},
     .counted = true},
    {.name = "cp.async.bulk.prefetch.L2.global", .effect = {.verb = NO_EFFECT}},
    {.name = "wgmma.fence.sync", .effect = {.verb = NO_EFFECT}},
    {.name = "wgmma.commit_group.sync", .effect = {.verb = EFFECT_COMMIT, .group = GROUP_WGMMA}},
    {.name = "wgmma.wait_group.sync", .effect = {.verb = EFFECT_AWAIT, .group = GROUP_WGMMA}, .counted = true},
    {.name = "tcgen05.wait::ld.sync", .effect = {.verb = NO_EFFECT}},
    {.name = "tcgen05.wait::st.sync", .effect = {.verb = NO_EFFECT}},
    {.name = "tcgen05.fence::before_thread_sync", .effect = {.verb = NO_EFFECT}},
    {.name = "tcgen05.fence::after_thread_sync", .effect = {.verb = NO_EFFECT}},
    {.name = "bar.warp.sync", .effect = {.verb = NO_EFFECT}},
    {.name = "barrier.cluster.arrive", .effect = {.verb = EFFECT_CLUSTER_ARRIVE}},
    {.name = "barrier.cluster.arrive.release", .effect = {.verb = EFFECT_CLUSTER_ARRIVE}},
    {.name = "barrier.cluster.arrive.relaxed", .effect = {.verb = EFFECT_CLUSTER_ARRIVE, .relaxed = true}},
    {.name = "barrier.cluster.wait", .effect = {.verb = EFFECT_CLUSTER_WAIT}},
    {.name = "barrier.cluster.wait.acquire", .effect = {.verb = EFFECT_CLUSTER_WAIT}},
    {.name = "membar.cta", .effect = {.verb = EFFECT_FENCE_ORDER, .order = ORDER_ACQ_REL, .scope = SCOPE_CTA}},
    {.name = "membar.gl", .effect = {.verb = EFFECT_FENCE_ORDER, .order = ORDER_ACQ_REL, .scope = SCOPE_GPU}},
    {.name = "membar.sys", .effect = {.verb = EFFECT_FENCE_ORDER, .order = ORDER_ACQ_REL, .scope = SCOPE_SYS}},
    {.name = "fence.mbarrier_init.release.cluster",
     .effect =
         {.verb = EFFECT_FENCE_ORDER, .order = ORDER_RELEASE, .scope = SCOPE_CLUSTER, .spaces = 1u << SPACE_SHARED}},
    {.name = "fence.proxy.alias", .effect = {.verb = NO_EFFECT}},
    {.name = "fence.proxy.async", .effect = {.verb = EFFECT_FENCE_PROXY, .proxy = PROXY_ASYNC}},
    {.name = "fence.proxy.async.global",
     .effect = {.verb = EFFECT_FENCE_PROXY, .proxy = PROXY_ASYNC, .space = SPACE_GLOBAL}},
    {.name = "fence.proxy.async.shared::cta",
     .effect = {.verb = EFFECT_FENCE_PROXY, .proxy = PROXY_ASYNC, .space = SPACE_SHARED, .scope = SCOPE_CTA}},
    {.name = "fence.proxy.async.shared::cluster",
     .effect = {.verb = EFFECT_FENCE_PROXY, .proxy = PROXY_ASYNC, .space = SPACE_SHARED, .scope = SCOPE_CLUSTER}},
};

/* The words of PTX for an Order, a Scope and an InlineAction, in the order of these. */
static const char orders[] = "weak relaxed acquire release acq_rel", scopes[] = "cta cluster gpu sys",
                  actions[] = "ld st add and or xor exch cas min max inc dec";

static Str without_aligned(Str name) {
    return str_ends(name, STR(".aligned")) ? (Str){name.data, name.size - strlen(".aligned")} : name;
}

static bool find_row(Str name, Opcode *opcode) {
    bool found = false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!str_is(name, rows[i].name))
            continue;
        found = true;
        opcode->counted = rows[i].counted;
        if (rows[i].effect.verb != NO_EFFECT)
            opcode->effects[opcode->count++] = rows[i].effect;
    }
    return found;
}

/* fence{.sem}.scope, fence.proxy.tensormap::generic.{acquire,release}.scope */
static bool find_fence(Str name, Opcode *opcode) {
    Effect effect = {.verb = EFFECT_FENCE_ORDER, .order = ORDER_ACQ_REL};
    Str part = next_part(&name);
    if (!str_is(part, "fence"))
        return false;
    if (str_starts(name, STR("proxy.tensormap::generic."))) {
        next_part(&name);
        next_part(&name);
        effect = (Effect){.verb = EFFECT_FENCE_PROXY, .proxy = PROXY_TENSORMAP, .space = SPACE_GLOBAL};
    }
    part = next_part(&name);
    int order = str_is(part, "sc") ? (int)ORDER_ACQ_REL : word_place(part, orders);
    if (order >= (int)ORDER_ACQUIRE) {
        effect.order = (Order)order;
        part = next_part(&name);
    }
    int scope = word_place(part, scopes);
    if (scope < 0 || name.size || effect.order == ORDER_WEAK)
        return false;
    effect.scope = (Scope)(scope + SCOPE_CTA);
    opcode->addressed = effect.verb == EFFECT_FENCE_PROXY && effect.order == ORDER_ACQUIRE;
    opcode->effects[opcode->count++] = effect;
    return true;
}

/* "u32", "f16x2", "bf16", "b128": its bits, and the letter that says how they are meant. */
static bool find_type(Str part, InlineAccess *access) {
    bool brain = str_starts(part, STR("bf"));
    size_t start = brain ? 2 : 1, digits = start;
    while (digits < part.size && isdigit((unsigned char)part.data[digits]))
        digits++;
    bool twice = str_is((Str){part.data + digits, part.size - digits}, "x2");
    int64_t bits;
    if (!memchr("busf", part.data[0], 4) || !str_to_int((Str){part.data + start, digits - start}, &bits) ||
        word_place((Str){part.data + start, digits - start}, "8 16 32 64 128") < 0 || (digits < part.size && !twice))
        return false;
    access->type = brain ? 'f' : part.data[0];
    access->bits = (unsigned)bits * (twice ? 2 : 1);
    return true;
}

typedef struct Parts {
    int order, scope; /* -1: not said */
    int action;
    bool global, is_private, is_volatile;
} Parts;

/* One part of the name of an access; false if it is none that is known. */
static bool find_part(Str part, Parts *parts, InlineAccess *access) {
    int place;
    if ((place = word_place(part, orders)) >= 0) {
        parts->order = place;
    } else if ((place = word_place(part, scopes)) >= 0) {
        parts->scope = place + SCOPE_CTA;
    } else if ((place = word_place(part, actions)) > INLINE_STORE) {
        parts->action = place;
    } else if ((place = word_place(part, "v2 v4 v8")) >= 0) {
        access->elements = 2u << place;
    } else if (str_is(part, "volatile")) {
        parts->is_volatile = true;
    } else if (str_is(part, "global")) {
        parts->global = true;
    } else if (word_place(part, "local const param param::entry param::func") >= 0) {
        parts->is_private = true;
    } else if (word_place(part, "ca cg cs lu cv wb wt nc unified noftz mmio") < 0 && !str_starts(part, STR("L1::")) &&
               !str_starts(part, STR("L2::")) && !str_starts(part, STR("level::"))) {
        return part.size && find_type(part, access);
    }
    return true;
}

/* Which orders an access can have, and which it has if nothing is said. */
static bool find_order(const Parts *parts, bool atomic, Effect *effect) {
    int order = parts->order, scope = parts->scope;
    if (parts->is_volatile) {
        effect->order = ORDER_RELAXED;
        effect->scope = SCOPE_SYS;
        return order < 0 && scope < 0 && !atomic;
    }
    if (atomic) {
        effect->order = order < 0 ? ORDER_RELAXED : (Order)order;
        effect->scope = scope < 0 ? SCOPE_GPU : (Scope)scope;
        return effect->order != ORDER_WEAK;
    }
    effect->order = order < 0 ? ORDER_WEAK : (Order)order;
    effect->scope = scope < 0 ? SCOPE_NONE : (Scope)scope;
    Order strongest = effect->verb == EFFECT_READ ? ORDER_ACQUIRE : ORDER_RELEASE;
    return (effect->order != ORDER_WEAK) == (scope >= 0) &&
           (effect->order <= ORDER_RELAXED || effect->order == strongest);
}

/* ld, st, atom, red. Those of shared memory are in a place that nobody knows. */
static bool find_access(Str name, Opcode *opcode) {
    Str base = next_part(&name);
    int kind = word_place(base, "ld ldu st atom red");
    if (kind < 0)
        return false;
    bool atomic = kind > 2;
    InlineAccess *access = &opcode->access;
    Effect *effect = &opcode->effects[0];
    Parts parts = {.order = -1, .scope = -1, .action = -1};
    access->elements = 1;
    while (name.size)
        if (!find_part(next_part(&name), &parts, access))
            return false;
    if (parts.is_private) { /* a thread's own, or what nobody writes */
        opcode->kind = OPCODE_EFFECTS;
        return !atomic;
    }
    *effect = (Effect){.verb = atomic ? EFFECT_UPDATE : kind == 2 ? EFFECT_WRITE : EFFECT_READ, .space = SPACE_GLOBAL};
    if (!access->bits || atomic != (parts.action >= 0) || !find_order(&parts, atomic, effect))
        return false;
    access->action = atomic ? (InlineAction)parts.action : kind == 2 ? INLINE_STORE : INLINE_LOAD;
    opcode->has_result = kind != 2 && kind != 4;
    opcode->needs_global = !parts.global;
    opcode->count = 1;
    opcode->kind = OPCODE_ACCESS;
    return true;
}

/* bar.red.popc.u32, barrier.cta.red.and.pred */
static bool is_reducing(Str name) {
    Str first = next_part(&name), second = next_part(&name);
    if (str_is(second, "cta"))
        second = next_part(&name);
    return word_place(first, "bar barrier") >= 0 && str_is(second, "red");
}

bool inline_ptx_touches(Str name) {
    return word_place(next_part(&name),
                      "ld ldu st atom red bar barrier mbarrier cp fence membar wgmma tcgen05 multimem griddepcontrol "
                      "clusterlaunchcontrol tensormap discard suld sust sured ldmatrix stmatrix call") >= 0;
}

Opcode inline_ptx_opcode(Str name) {
    Opcode opcode = {.kind = OPCODE_EFFECTS};
    Str left = name, base = next_part(&left);
    if (word_place(base, harmless) >= 0 || word_place(name, ".reg .pragma") >= 0)
        return opcode;
    if (str_starts(name, STR("v_")) || word_place(name, "s_nop s_sleep s_setprio") >= 0) {
        opcode.exact = true;
        return opcode;
    }
    name = without_aligned(name);
    if (find_row(name, &opcode) || find_fence(name, &opcode) || find_access(name, &opcode))
        return opcode;
    if (is_reducing(name))
        return (Opcode){.kind = OPCODE_SYNC, .count = 1, .effects[0].verb = EFFECT_NAMED_SYNC, .has_result = true};
    if (word_place(name, "bar.sync bar.cta.sync barrier.sync barrier.cta.sync bar.arrive bar.cta.arrive barrier.arrive "
                         "barrier.cta.arrive") >= 0)
        return (Opcode){.kind = OPCODE_SYNC,
                        .count = 1,
                        .effects[0].verb = str_ends(name, STR("arrive")) ? EFFECT_NAMED_ARRIVE : EFFECT_NAMED_SYNC};
    if (word_place(name, "bra bra.uni") >= 0)
        return (Opcode){.kind = OPCODE_BRANCH};
    return (Opcode){.kind = OPCODE_UNKNOWN};
}
