/* Barriers of AMD that must come in pairs: halves of a workgroup, arrivals and waits of a cluster; and LDS barriers,
 * which order no memory.
 *
 * Pairs are counted: how many are open before each op, at least and at most, over all paths. */
#include "check/lint/tile/amd.h"
#include "check/lint/tile/paths.h"
#include "model/flow/origin.h"
#include "model/number/evaluate.h"

enum { MOST_OPEN = 4 /* that, or more */, DEEPEST = 16 };

typedef struct Open {
    int least, most;
} Open;

typedef struct AmdBarrierPairs {
    Lint *lint;
    /* By how much the op changes what is open. */
    int (*step)(struct AmdBarrierPairs *pairs, const Op *op);
    /* What to say of an op, given what is open before it. */
    void (*report)(struct AmdBarrierPairs *pairs, const Op *op, Open open);
    /* Conditional barriers: the comparison that all predicates are, or are the opposite of. */
    const Op *comparison;
    bool by_wave;
    /* Clusters: what is open where the body of each loop around begins, and the last arrival. */
    struct AmdBarrierTurn {
        const Block *body;
        Open open;
    } turns[DEEPEST];
    unsigned depth;
    const Op *arrival;
} AmdBarrierPairs;

static int within(int n) {
    return n > MOST_OPEN ? MOST_OPEN : n < -MOST_OPEN ? -MOST_OPEN : n;
}

static void pass(TilePaths *paths, const FlowOp *at, void *state) {
    AmdBarrierPairs *pairs = paths->context;
    Open *open = state;
    if (paths->reporting)
        pairs->report(pairs, at->op, *open);
    int step = pairs->step(pairs, at->op);
    *open = (Open){within(open->least + step), within(open->most + step)};
}

static bool join(TilePaths *paths, uint32_t piece, void *to, const void *from) {
    (void)paths, (void)piece;
    Open *all = to;
    const Open *more = from;
    if (all->least <= more->least && all->most >= more->most)
        return false;
    all->least = more->least < all->least ? more->least : all->least;
    all->most = more->most > all->most ? more->most : all->most;
    return true;
}

static void run_pairs(AmdBarrierPairs *pairs) {
    Flow flow = flow_of(pairs->lint->function, &pairs->lint->module->arena);
    TilePaths paths = {
        .lint = pairs->lint, .flow = &flow, .context = pairs, .size = sizeof(Open), .pass = pass, .join = join};
    if (!paths_follow(&paths))
        verdict_incomplete(pairs->lint->verdict, "", 0, "its barriers are too many to be paired");
}

/* ---- Clusters ------------------------------------------------------------------------------------- */

/* One that does both is closed in itself. */
static int step_cluster(AmdBarrierPairs *pairs, const Op *op) {
    return (lint_effect(pairs->lint, op, EFFECT_CLUSTER_ARRIVE) != NULL) -
           (lint_effect(pairs->lint, op, EFFECT_CLUSTER_WAIT) != NULL);
}

/* Where a turn of a loop ends: with more arrivals open on every path than when it began, the next one arrives again. */
static void report_turn(AmdBarrierPairs *pairs, const Op *op, Open open) {
    bool inside = op->block && op_parent(op) && op_is_loop(op_parent(op));
    if (inside && op == op->block->first && pairs->depth < DEEPEST)
        pairs->turns[pairs->depth++] = (struct AmdBarrierTurn){op->block, open};
    if (!inside || op != op->block->last || !pairs->depth || pairs->turns[pairs->depth - 1].body != op->block)
        return;
    if (open.least > pairs->turns[--pairs->depth].open.least && pairs->arrival)
        lint_find(pairs->lint, RULE_AMD_CLUSTER_BARRIER, pairs->arrival,
                  "it arrives again in the next turn of the loop, before it has waited for this arrival");
}

static void report_cluster(AmdBarrierPairs *pairs, const Op *op, Open open) {
    int step = step_cluster(pairs, op);
    pairs->arrival = step > 0 ? op : pairs->arrival;
    report_turn(pairs, op, open);
    if (step > 0 && open.least > 0)
        lint_find(pairs->lint, RULE_AMD_CLUSTER_BARRIER, op,
                  "it arrives again before it has waited for the last arrival");
    else if (step < 0 && open.most <= 0)
        lint_find(pairs->lint, RULE_AMD_CLUSTER_BARRIER, op, "it waits without having arrived");
    else if (op_is_control(op, CONTROL_RETURN) && open.least > 0)
        lint_find(pairs->lint, RULE_AMD_CLUSTER_BARRIER, op, "the kernel ends with an arrival that nothing waits for");
}

/* ---- Halves of a workgroup ------------------------------------------------------------------------ */

/* `budget` is how many ops may be looked at. */
static bool depends_on_wave(const Value *value, int depth, int *budget) {
    const Op *op = value_op(value);
    if (!op || depth == 0 || --*budget < 0)
        return false;
    if (op_evaluator(op) == EVALUATE_THREAD_ID || op_evaluator(op) == EVALUATE_WARP_ID)
        return true;
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (depends_on_wave(op->operands[i], depth - 1, budget))
            return true;
    return false;
}

static bool is_opposite(int64_t a, int64_t b) {
    return a >= 0 && a <= COMPARE_UGE && comparison_negated((Comparison)a) == b;
}

static const Op *comparison_of(const Value *predicate) {
    const Op *op = value_made(predicate, EVALUATE_COMPARE);
    return op && op->operand_count == 2 ? op : NULL;
}

/* 1: the predicate is that comparison; -1: its opposite; 0: neither, as far as can be seen. */
static int side_of(Lint *lint, const Op *comparison, const Value *predicate) {
    const Op *op = comparison_of(predicate);
    if (!op || !comparison)
        return 0;
    if (op == comparison)
        return 1;
    if (op->operands[0] != comparison->operands[0] || op->operands[1] != comparison->operands[1])
        return 0;
    int64_t one = evaluation_of(lint->module, op, 0).a, other = evaluation_of(lint->module, comparison, 0).a;
    return one == other ? 1 : is_opposite(one, other) ? -1 : 0;
}

/* What a barrier for half of the waves depends on; NULL: it is no such barrier. */
static const Value *half_of(Lint *lint, const Op *op) {
    const Effect *barrier = lint_effect(lint, op, EFFECT_CTA_BARRIER);
    return barrier ? barrier->predicate : NULL;
}

static int step_halves(AmdBarrierPairs *pairs, const Op *op) {
    const Value *half = half_of(pairs->lint, op);
    return half ? side_of(pairs->lint, pairs->comparison, half) : 0;
}

static void report_halves(AmdBarrierPairs *pairs, const Op *op, Open open) {
    if (!op_is_control(op, CONTROL_RETURN) || (open.least == 0 && open.most == 0))
        return;
    bool always = open.least > 0 || open.most < 0;
    const char *where = always ? "on every path" : "on some path";
    if (always && pairs->by_wave)
        lint_find(pairs->lint, RULE_AMD_COND_BARRIER, op,
                  "%s half of the waves reach more barriers than the other "
                  "half",
                  where);
    else
        lint_find(pairs->lint, RULE_AMD_COND_BARRIER_UNKNOWN, op,
                  "review: %s the waves whose predicate holds reach more barriers than the others", where);
}

static void check_halves(Lint *lint, const Value *first) {
    int budget = 1000;
    AmdBarrierPairs pairs = {.lint = lint,
                             .step = step_halves,
                             .report = report_halves,
                             .by_wave = depends_on_wave(first, DEEPEST, &budget),
                             .comparison = comparison_of(first)};
    for (const Op *op = lint->function; op; op = op_next_in_walk(op, lint->function))
        if (half_of(lint, op) && !step_halves(&pairs, op)) {
            lint_find(lint, RULE_AMD_COND_BARRIER_UNKNOWN, op,
                      "review: which waves meet here cannot be compared with the other conditional barriers");
            return;
        }
    run_pairs(&pairs);
}

/* ---- LDS barriers --------------------------------------------------------------------------------- */

/* The next wait is judged by itself. */
static bool orders_memory(Lint *lint, const Op *op) {
    const Effect *barrier = lint_effect(lint, op, EFFECT_CTA_BARRIER);
    return op->region_count || (barrier && barrier->spaces) || lint_effect(lint, op, EFFECT_FENCE_ORDER) ||
           lint_effect(lint, op, EFFECT_WAIT);
}

/* Barriers on which the tensor data mover arrives: what it brings needs no fence. */
static Pointers barriers_of_moves(Lint *lint) {
    Pointers roots = {.arena = &lint->module->arena};
    for (const Op *op = lint->function; op; op = op_next_in_walk(op, lint->function)) {
        const Effect *arrival = lint_effect(lint, op, EFFECT_ARRIVE);
        bool moved = arrival && arrival->group == GROUP_AMD_TENSOR;
        const Op *root = moved ? origin_of(lint->module, arrival->on) : NULL;
        if (root)
            pointers_set(&roots, root, 0);
    }
    return roots;
}

static void check_fence(Lint *lint, const Pointers *moves, const Op *wait, const Value *barrier) {
    const Op *root = origin_of(lint->module, barrier);
    if (root && pointers_get(moves, root) != NO_NUMBER)
        return;
    for (const Op *op = wait->next; op && !orders_memory(lint, op); op = op->next)
        if (lds_read(lint, op)) {
            Finding *finding = lint_find(lint, RULE_AMD_WAIT_NO_FENCE, op,
                                         "review: it reads LDS after a wait on an LDS barrier, which acquires nothing");
            lint_other_place(lint, finding, "waits", wait);
            return;
        }
}

/* ---- All of them ---------------------------------------------------------------------------------- */

void lint_amd_barriers(Lint *lint) {
    const Value *half = NULL;
    bool clusters = false;
    Pointers moves = barriers_of_moves(lint);
    for (const Op *op = lint->function; op; op = op_next_in_walk(op, lint->function)) {
        const Effect *wait = op_is(op, CLASS_LDS_BARRIER) ? lint_effect(lint, op, EFFECT_WAIT) : NULL;
        half = half ? half : half_of(lint, op);
        clusters |= lint_effect(lint, op, EFFECT_CLUSTER_ARRIVE) || lint_effect(lint, op, EFFECT_CLUSTER_WAIT);
        if (wait)
            check_fence(lint, &moves, op, wait->on);
    }
    if (half)
        check_halves(lint, half);
    if (clusters)
        run_pairs(&(AmdBarrierPairs){.lint = lint, .step = step_cluster, .report = report_cluster});
}
