/* cp.async: waits that wait for nothing, and copies narrower than the instruction. */
#include "check/facts/contiguity.h"
#include "check/lint/tile/group.h"
#include "model/layout/distributed.h"
#include "model/layout/layout.h"

/* ---- How many groups may be pending -------------------------------------------------------------- */

enum {
    MANY = 1 << 20,   /* more than any wait leaves */
    MOST_VISITS = 64, /* of one piece whose number still grows: then it is taken to grow forever */
};

static void report_wait(Lint *lint, const Op *op, int32_t groups, int64_t left) {
    if (groups == 0) {
        lint_explain(lint_find(lint, RULE_COPY_WAIT_NEEDLESS, op, "no group of copies can be pending here"), "shared",
                     "On every path to this wait, all groups were already waited for, or none was committed.",
                     "Remove the wait, or commit the copies that it is meant for before it.");
        return;
    }
    lint_explain(lint_find(lint, RULE_COPY_WAIT_NOTHING, op,
                           "the wait leaves %lld group%s pending, and at most %d can be: it waits for nothing",
                           (long long)left, left == 1 ? "" : "s", groups),
                 "shared", "cp.async.wait_group returns as soon as at most that many groups are pending.",
                 verdict_text(lint->verdict, "Wait with num = %d%s, or remove the wait.", groups - 1,
                              groups > 1 ? " or less" : ""));
}

static void pass(TilePaths *paths, const FlowOp *at, void *state) {
    Effects effects = lint_effects(paths->lint, at->op);
    int32_t *groups = state;
    for (const Effect *effect = effects.items; effect < effects.end; effect++) {
        if (effect->group != GROUP_CP_ASYNC)
            continue;
        if (effect->verb == EFFECT_COMMIT)
            *groups += *groups < MANY;
        if (effect->verb != EFFECT_AWAIT || effect->count < 0 || effect->count >= MANY)
            continue;
        if (*groups > effect->count)
            *groups = (int32_t)effect->count;
        else if (paths->reporting)
            report_wait(paths->lint, at->op, *groups, effect->count);
    }
    if (op_is_control(at->op, CONTROL_CALL) || lint_effect(paths->lint, at->op, EFFECT_ANYTHING))
        *groups = MANY;
}

/* The most that may be pending on any path. */
static bool join(TilePaths *paths, uint32_t piece, void *to, const void *from) {
    uint8_t *visits = paths->context;
    int32_t *groups = to;
    if (*(const int32_t *)from <= *groups)
        return false;
    bool grows = visits[piece] >= MOST_VISITS;
    *groups = grows ? MANY : *(const int32_t *)from;
    visits[piece] += !grows;
    return true;
}

static void check_waits(Lint *lint) {
    Flow flow = flow_of(lint->function, &lint->module->arena);
    TilePaths paths = {.lint = lint,
                       .flow = &flow,
                       .context = ARENA_ARRAY(&lint->module->arena, uint8_t, flow.piece_count + 1),
                       .size = sizeof(int32_t),
                       .afresh = true,
                       .pass = pass,
                       .join = join};
    if (!paths_follow(&paths))
        verdict_incomplete(lint->verdict, "", 0, "the kernel is too large to track its copy groups");
}

/* ---- How wide a copy is --------------------------------------------------------------------------- */

/* How many elements that one thread holds lie beside each other in the buffer; 0: not known. */
static int64_t elements_together(Lint *lint, const Type *pointers, const Type *buffer) {
    const Distributed *held = distributed_of(lint->module, pointers);
    const Layout *layout = layout_of(lint->module, buffer);
    if (!held || !held->known || !layout || !layout->known || layout->rank != held->rank)
        return 0;
    int64_t together = 1;
    for (bool found = true; found && together < RUNS_MOST;) {
        found = false;
        for (unsigned i = 0; i < held->count[HOLD_REGISTER] && !found; i++) {
            int64_t at[LAYOUT_RANK] = {0};
            for (unsigned d = 0; d < held->rank; d++)
                at[d] = held->bases[HOLD_REGISTER][i][d];
            found = layout_place(layout, at) == (uint32_t)together;
        }
        together <<= found;
    }
    return together;
}

/* The dimension along which the buffer's neighbors lie. */
static unsigned fastest_dim(Lint *lint, const Type *buffer) {
    const Layout *layout = layout_of(lint->module, buffer);
    for (unsigned d = 0; d < layout->rank; d++)
        if (layout->bits[d] && layout->place[d][0] == 1)
            return d;
    return layout->rank - 1u;
}

/* How many elements beside each other the pointers, and the mask, are sure to allow. */
static int64_t elements_sure(Contiguity *contiguity, const Op *copy, const Effect *read, unsigned dim, int64_t bytes) {
    ContiguityRuns pointers = runs_of(contiguity, read->on, dim);
    int64_t given, aligned = pointers.divisor / bytes;
    int64_t sure = pointers.contiguous < aligned ? pointers.contiguous : aligned;
    if (op_integer(copy, "contiguity", &given) && given > sure)
        sure = given;
    int64_t same = read->mask ? runs_of(contiguity, read->mask, dim).constant : sure;
    return same < sure ? same : sure;
}

static void check_width(Lint *lint, Contiguity *contiguity, const Op *copy) {
    const Effect *read = lint_effect(lint, copy, EFFECT_READ), *write = lint_effect(lint, copy, EFFECT_WRITE);
    const Type *type = lint_type(lint, read->on);
    const Type *memory = lint_type(lint, write->on);
    const Type *element = memory ? type_element(lint->module, memory) : NULL;
    int64_t bits = element ? element->width : 0;
    if (!type || type->kind != TYPE_TENSOR || bits < 8 || bits >= 32)
        return;
    int64_t together = elements_together(lint, type, memory);
    if (!together)
        return;
    if (together * bits < 32) {
        lint_explain(lint_find(lint, RULE_COPY_WIDTH, copy,
                               "each thread copies %lld contiguous element%s of %lld bits, which is less than 4 bytes",
                               (long long)together, together == 1 ? "" : "s", (long long)bits),
                     "shared", "cp.async moves 4, 8 or 16 bytes at a time.",
                     "Give each thread more elements along the contiguous dimension, or load to registers and store.");
        return;
    }
    int64_t sure = elements_sure(contiguity, copy, read, fastest_dim(lint, memory), bits / 8);
    if (sure * bits < 32)
        lint_explain(
            lint_find(lint, RULE_COPY_WIDTH_UNKNOWN, copy,
                      "review: only %lld element%s of %lld bits %s known to be contiguous, and cp.async moves at "
                      "least 4 bytes",
                      (long long)sure, sure == 1 ? "" : "s", (long long)bits, sure == 1 ? "is" : "are"),
            "shared", "cp.async moves 4, 8 or 16 bytes at a time, aligned to their size, under one mask.",
            "Declare the divisibility of the pointer and its strides, or set contiguity on the copy.");
}

static bool is_copy(Lint *lint, const Op *op) {
    const Effect *write = lint_effect(lint, op, EFFECT_WRITE);
    return write && write->group == GROUP_CP_ASYNC && lint_effect(lint, op, EFFECT_READ);
}

void lint_copies(Lint *lint) {
    Contiguity *contiguity = NULL;
    bool waits = false;
    for (const Op *op = lint->function; op; op = op_next_in_walk(op, lint->function)) {
        const Effect *wait = lint_effect(lint, op, EFFECT_AWAIT);
        waits |= wait && wait->group == GROUP_CP_ASYNC;
        if (!is_copy(lint, op))
            continue;
        if (!contiguity)
            contiguity = contiguity_create(&lint->module->arena, lint->module, lint->facts);
        check_width(lint, contiguity, op);
    }
    if (waits)
        check_waits(lint);
}
