/* Rules about grids: kernels that start before the one before has ended, and clusters that are asked for one by one. */
#include "check/lint/tile/paths.h"
#include "check/lint/tile/signals.h"

#include "model/flow/partition.h"
#include "model/memory/placement.h"

enum { RESPONSE_BYTES = 16 };

/* ---- Kernels that overlap ------------------------------------------------------------------------- */

/* The op that waits for the kernel before this one, or the one that lets the next go. */
static const Op *first_of(Lint *lint, bool waits) {
    for (const Op *op = lint->function; op; op = op_next_in_walk(op, lint->function))
        if (op_is(op, CLASS_OVERLAP) && waits == (lint_effect(lint, op, EFFECT_AWAIT_LAUNCHES) != NULL))
            return op;
    return NULL;
}

static bool touches_global(Lint *lint, const Op *op) {
    Effects effects = lint_effects(lint, op);
    for (const Effect *effect = effects.items; effect < effects.end; effect++) {
        if (effect_is_access(effect) && effect->space == SPACE_GLOBAL && effect->proxy != PROXY_TENSORMAP)
            return true;
    }
    return false;
}

typedef struct GridEarly {
    const Op *op; /* the first in the text; NULL: none */
    uint32_t number;
} GridEarly;

/* The state says whether some path to the op has no wait. */
static void pass(TilePaths *paths, const FlowOp *at, void *state) {
    bool *early = state;
    GridEarly *first = paths->context;
    *early &= !lint_effect(paths->lint, at->op, EFFECT_AWAIT_LAUNCHES);
    if (paths->reporting && *early && at->number < first->number && touches_global(paths->lint, at->op))
        *first = (GridEarly){at->op, at->number};
}

/* The first op in the text that touches global memory on a path from the start without a wait. */
static const Op *early_access(Lint *lint) {
    static const bool start = true;
    Flow flow = flow_of(lint->function, &lint->module->arena);
    GridEarly first = {.number = FLOW_NONE};
    TilePaths paths = {
        .lint = lint, .flow = &flow, .context = &first, .size = sizeof start, .start = &start, .pass = pass};
    if (!paths_follow(&paths))
        verdict_incomplete(lint->verdict, "", 0, "the kernel is too large to look for accesses before its wait");
    return first.op;
}

static void check_dependencies(Lint *lint) {
    const Op *wait = first_of(lint, true), *launch = first_of(lint, false);
    if (!wait && launch)
        lint_find(lint, RULE_GRID_NO_WAIT, launch,
                  "review: the next kernel is launched early, and this one never waits for the preceding one");
    const Op *early = wait ? early_access(lint) : NULL;
    if (early)
        lint_other_place(lint,
                         lint_find(lint, RULE_GRID_EARLY_ACCESS, early,
                                   "review: global memory is accessed before the wait for the preceding kernel"),
                         "waits", wait);
}

/* ---- Asking for the next cluster ------------------------------------------------------------------ */

/* How the response is written or read; NULL: the op is about something else. */
static const Effect *response_of(Lint *lint, const Op *op) {
    Evaluator how = op_evaluator(op);
    bool asks = op_is(op, CLASS_CLUSTER_REQUEST), reads = how == EVALUATE_CANCEL_ANSWER || how == EVALUATE_CANCEL_QUERY;
    return asks || reads ? lint_effect(lint, op, asks ? EFFECT_WRITE : EFFECT_READ) : NULL;
}

static bool is_request(Lint *lint, const Op *op) {
    return op_is(op, CLASS_CLUSTER_REQUEST) && response_of(lint, op);
}

static void check_response(Lint *lint, const Op *op, const Value *response) {
    int64_t bytes = response->type ? memdesc_bytes(lint->module, response->type) : -1;
    KnownPlace place = place_of(lint->facts, response);
    Tribool aligned = place.allocation ? is_aligned(lint, response, RESPONSE_BYTES) : TRIBOOL_TRUE;
    if (bytes >= 0 && bytes < RESPONSE_BYTES)
        lint_find(lint, RULE_CLC_RESPONSE, op, "the response has %lld bytes", (long long)bytes);
    else if (aligned == TRIBOOL_FALSE)
        lint_find(lint, RULE_CLC_RESPONSE, op, "the response starts at byte %lld of %s", (long long)place.byte.least,
                  place.placed ? "shared memory" : "its allocation");
    else if (aligned == TRIBOOL_UNKNOWN)
        lint_find(lint, RULE_CLC_RESPONSE_UNKNOWN, op,
                  "review: it is not known whether the response starts at a multiple of 16 bytes");
}

static bool is_repeated(const Lint *lint, const Op *op) {
    for (op = op_parent(op); op && op != lint->function; op = op_parent(op))
        if (op_is_loop(op))
            return true;
    return false;
}

/* Whether the partition of an op has a fence between its own accesses and those of the hardware. */
static bool is_fenced(Lint *lint, const Op *near) {
    Partitions own = partitions_of(near);
    for (const Op *op = lint->function; op; op = op_next_in_walk(op, lint->function)) {
        Effects effects = lint_effects(lint, op);
        for (const Effect *effect = effects.items; effect < effects.end; effect++)
            if (effect->verb == EFFECT_FENCE_PROXY && effect->proxy == PROXY_ASYNC &&
                partitions_of(op).mask == own.mask)
                return true;
    }
    return false;
}

/* The first request in a loop, and the first op of each partition that reads a response. */
static void check_reuse(Lint *lint) {
    const Op *request = NULL;
    uint64_t judged = 0; /* partitions */
    bool placed = memory_is_placed(lint->function);
    for (const Op *op = lint->function; op && !request; op = op_next_in_walk(op, lint->function))
        if (is_request(lint, op) && is_repeated(lint, op))
            request = op;
    for (const Op *op = lint->function; op && request; op = op_next_in_walk(op, lint->function)) {
        if (is_request(lint, op) || !response_of(lint, op))
            continue;
        Partitions own = partitions_of(op);
        bool inserted_later = own.mask == partitions_of(request).mask && !placed;
        if (inserted_later || (own.mask & judged) || (!own.mask && judged))
            continue;
        judged |= own.mask ? own.mask : UINT64_MAX;
        if (!is_fenced(lint, op))
            lint_other_place(lint,
                             lint_find(lint, RULE_CLC_REUSE, op,
                                       "review: the response is read and later overwritten, with no fence in between"),
                             "writes", request);
    }
}

/* ---- Stores into other CTAs ----------------------------------------------------------------------- */

/* A store of registers whose bytes count on a barrier. */
static void check_store(Lint *lint, const Op *op, uint32_t ctas) {
    const Effect *store = lint_effect(lint, op, EFFECT_WRITE);
    if (!store || store->space != SPACE_SHARED || store->done != DONE_TX || store->proxy != PROXY_GENERIC)
        return;
    if (ctas < 2)
        lint_find(lint, RULE_CLUSTER_STORE_ALONE, op, "the cluster has one CTA");
    else if (place_of(lint->facts, store->on).remote != place_of(lint->facts, store->through).remote)
        lint_find(lint, RULE_CLUSTER_STORE_BARRIER, op, "the data goes to a different CTA than the barrier's");
}

void lint_grid(Lint *lint) {
    uint32_t ctas = lint_ctas(lint);
    bool asks = false;
    check_dependencies(lint);
    for (const Op *op = lint->function; op; op = op_next_in_walk(op, lint->function)) {
        const Effect *response = response_of(lint, op);
        asks |= is_request(lint, op);
        if (response)
            check_response(lint, op, response->on);
        check_store(lint, op, ctas);
    }
    if (asks)
        check_reuse(lint);
}
