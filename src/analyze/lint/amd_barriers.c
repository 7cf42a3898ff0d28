/* Barriers of AMD that must come in pairs: halves of a workgroup, arrivals and waits of a cluster; and LDS barriers,
 * which order no memory.
 *
 * Pairs are counted: how many are open before each op, at least and at most, over all paths. */
#include "analyze/lint/amd.h"

#include "base/pointers.h"
#include "model/flow/flow.h"
#include "model/flow/origin.h"

enum { MOST_OPEN = 4 /* that, or more */, DEEPEST = 16, MOST_ROUNDS = 200 };

typedef struct Open {
    bool reached;
    int least, most;
} Open;

typedef struct Pairs {
    Lint *lint;
    Flow flow;
    Open *pieces;
    /* By how much the op changes what is open. */
    int (*step)(struct Pairs *pairs, const Op *op);
    /* What to say of an op, given what is open before it. */
    void (*tell)(struct Pairs *pairs, const Op *op, Open open);
    /* Conditional barriers: the comparison that all predicates are, or are the opposite of. */
    const Op *comparison;
    bool by_wave;
} Pairs;

static int within(int n) {
    return n > MOST_OPEN ? MOST_OPEN : n < -MOST_OPEN ? -MOST_OPEN : n;
}

static Open go_through(Pairs *pairs, uint32_t number, bool telling) {
    const FlowPiece *piece = &pairs->flow.pieces[number];
    Open open = pairs->pieces[number];
    for (uint32_t i = 0; i < piece->count; i++) {
        const Op *op = pairs->flow.ops[piece->first + i].op;
        if (telling)
            pairs->tell(pairs, op, open);
        int step = pairs->step(pairs, op);
        open.least = within(open.least + step);
        open.most = within(open.most + step);
    }
    return open;
}

static bool join(Open *to, Open from) {
    if (to->reached && to->least <= from.least && to->most >= from.most)
        return false;
    if (to->reached) {
        from.least = from.least < to->least ? from.least : to->least;
        from.most = from.most > to->most ? from.most : to->most;
    }
    *to = from;
    return true;
}

/* Ranges only grow and are bounded, so this ends; after a few rounds, unless branches go back and forth. */
static void run_pairs(Pairs *pairs) {
    pairs->pieces = ARENA_ARRAY(&pairs->lint->module->arena, Open, pairs->flow.piece_count + 1);
    for (uint32_t p = 0; p < pairs->flow.piece_count; p++)
        pairs->pieces[p].reached = pairs->flow.pieces[p].entry;
    unsigned rounds = 0;
    for (bool changed = true; changed; rounds++) {
        if (rounds == MOST_ROUNDS) {
            verdict_incomplete(pairs->lint->verdict, "", 0, "its barriers are too many to be paired");
            return;
        }
        changed = false;
        for (uint32_t p = 0; p < pairs->flow.piece_count; p++) {
            if (!pairs->pieces[p].reached)
                continue;
            Open open = go_through(pairs, p, false);
            const FlowPiece *piece = &pairs->flow.pieces[p];
            for (uint32_t i = 0; i < piece->edge_count; i++)
                changed |= join(&pairs->pieces[pairs->flow.edges[piece->first_edge + i].to], open);
        }
    }
    for (uint32_t p = 0; p < pairs->flow.piece_count; p++)
        if (pairs->pieces[p].reached)
            go_through(pairs, p, true);
}

/* ---- Clusters ------------------------------------------------------------------------------------- */

static int step_cluster(Pairs *pairs, const Op *op) {
    (void)pairs;
    return lint_is(op, OP_amdg_cluster_barrier_arrive) - lint_is(op, OP_amdg_cluster_barrier_wait);
}

static void tell_cluster(Pairs *pairs, const Op *op, Open open) {
    if (lint_is(op, OP_amdg_cluster_barrier_arrive) && open.least > 0)
        lint_find(pairs->lint, RULE_AMD_CLUSTER_BARRIER, op,
                  "it arrives again before it has waited for the last arrival");
    else if (lint_is(op, OP_amdg_cluster_barrier_wait) && open.most <= 0)
        lint_find(pairs->lint, RULE_AMD_CLUSTER_BARRIER, op, "it waits without having arrived");
    else if (lint_is(op, OP_tt_return) && open.least > 0)
        lint_find(pairs->lint, RULE_AMD_CLUSTER_BARRIER, op, "the kernel ends with an arrival that nobody waits for");
}

/* ---- Halves of a workgroup ------------------------------------------------------------------------ */

static const Op *maker(const Value *value) {
    return value && value->is_result ? value->owner : NULL;
}

/* `budget` is how many ops may be looked at. */
static bool depends_on_wave(const Value *value, int depth, int *budget) {
    const Op *op = maker(value);
    if (!op || depth == 0 || --*budget < 0)
        return false;
    switch (op->row ? op->row->id : OP_COUNT) {
    case OP_rocdl_workitem_id_x:
    case OP_gpu_thread_id:
    case OP_ttg_warp_id:
        return true;
    default:
        break;
    }
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (depends_on_wave(op->operands[i], depth - 1, budget))
            return true;
    return false;
}

static Str predicate_of(const Op *comparison) {
    const Attr *attr = op_attr(comparison, "predicate");
    return attr ? attr->text : STR("");
}

static bool is_opposite(Str a, Str b) {
    static const char *const pairs[][2] = {
        {"eq", "ne"}, {"slt", "sge"}, {"sle", "sgt"}, {"ult", "uge"}, {"ule", "ugt"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if ((str_is(a, pairs[i][0]) && str_is(b, pairs[i][1])) || (str_is(a, pairs[i][1]) && str_is(b, pairs[i][0])))
            return true;
    return false;
}

/* 1: the predicate is that comparison; -1: its opposite; 0: neither, as far as can be seen. */
static int side_of(const Op *comparison, const Value *predicate) {
    const Op *op = maker(predicate);
    if (!op || !comparison || !lint_is(op, OP_arith_cmpi) || op->operand_count != 2)
        return 0;
    if (op == comparison)
        return 1;
    if (op->operands[0] != comparison->operands[0] || op->operands[1] != comparison->operands[1])
        return 0;
    return str_equal(predicate_of(op), predicate_of(comparison))     ? 1
           : is_opposite(predicate_of(op), predicate_of(comparison)) ? -1
                                                                     : 0;
}

static int step_halves(Pairs *pairs, const Op *op) {
    return lint_is(op, OP_amdg_cond_barrier) ? side_of(pairs->comparison, lint_operand(op, "pred")) : 0;
}

static void tell_halves(Pairs *pairs, const Op *op, Open open) {
    if (!lint_is(op, OP_tt_return) || (open.least == 0 && open.most == 0))
        return;
    bool always = open.least > 0 || open.most < 0;
    const char *where = always ? "on every path" : "on some path";
    if (always && pairs->by_wave)
        lint_find(pairs->lint, RULE_AMD_COND_BARRIER, op, "%s half of the waves comes to more barriers than the other",
                  where);
    else
        lint_find(pairs->lint, RULE_AMD_COND_BARRIER_UNKNOWN, op,
                  "review: %s the waves with one predicate come to more barriers than those without", where);
}

static void check_halves(Lint *lint, const Op *first) {
    const Op *comparison = maker(lint_operand(first, "pred"));
    int budget = 1000;
    Pairs pairs = {.lint = lint,
                   .step = step_halves,
                   .tell = tell_halves,
                   .by_wave = depends_on_wave(lint_operand(first, "pred"), DEEPEST, &budget),
                   .comparison = comparison && lint_is(comparison, OP_arith_cmpi) && comparison->operand_count == 2
                                     ? comparison
                                     : NULL};
    for (const Op *op = lint->function; op; op = op_next_in_walk(op, lint->function))
        if (lint_is(op, OP_amdg_cond_barrier) && !side_of(pairs.comparison, lint_operand(op, "pred"))) {
            lint_find(lint, RULE_AMD_COND_BARRIER_UNKNOWN, op,
                      "review: which waves meet here cannot be held against the other conditional barriers");
            return;
        }
    pairs.flow = flow_of(lint->function, &lint->module->arena);
    run_pairs(&pairs);
}

/* ---- LDS barriers --------------------------------------------------------------------------------- */

static bool orders_memory(const Op *op) {
    switch (op->row ? op->row->id : OP_COUNT) {
    case OP_ttg_barrier:
    case OP_ttg_local_barrier:
    case OP_gpu_barrier:
    case OP_rocdl_barrier:
    case OP_llvm_fence:
    case OP_ttng_fence:
    case OP_amdg_wait_barrier:
    case OP_amdg_init_barrier:
        return true;
    default:
        return op->region_count;
    }
}

/* Barriers on which the tensor data mover arrives: what it brings needs no fence. */
static Pointers barriers_of_moves(Lint *lint) {
    Pointers roots = {.arena = &lint->module->arena};
    for (const Op *op = lint->function; op; op = op_next_in_walk(op, lint->function)) {
        bool move = op->row && str_starts(op->row->name, STR("amdg.async_tdm_"));
        const Value *barrier = move ? lint_operand(op, "barrier") : NULL;
        const Op *root = barrier ? origin_of(lint->module, barrier) : NULL;
        if (root)
            pointers_set(&roots, root, 0);
    }
    return roots;
}

static void check_fence(Lint *lint, const Pointers *moves, const Op *wait) {
    const Op *root = wait->operand_count ? origin_of(lint->module, wait->operands[0]) : NULL;
    if (root && pointers_get(moves, root) != NO_NUMBER)
        return;
    for (const Op *op = wait->next; op && !orders_memory(op); op = op->next)
        if (lint_is(op, OP_ttg_local_load) || lint_is(op, OP_amdg_local_load_packed_transposed)) {
            Finding *finding = lint_find(lint, RULE_AMD_WAIT_NO_FENCE, op,
                                         "review: it reads LDS after a wait on an LDS barrier, which acquires nothing");
            lint_other_place(lint, finding, "waits", wait);
            return;
        }
}

/* ---- All of them ---------------------------------------------------------------------------------- */

void lint_amd_barriers(Lint *lint) {
    const Op *half = NULL;
    bool clusters = false;
    Pointers moves = barriers_of_moves(lint);
    for (const Op *op = lint->function; op; op = op_next_in_walk(op, lint->function)) {
        half = !half && lint_is(op, OP_amdg_cond_barrier) ? op : half;
        clusters |= lint_is(op, OP_amdg_cluster_barrier_arrive) || lint_is(op, OP_amdg_cluster_barrier_wait);
        if (lint_is(op, OP_amdg_wait_barrier))
            check_fence(lint, &moves, op);
    }
    if (half)
        check_halves(lint, half);
    if (clusters) {
        Pairs pairs = {.lint = lint, .step = step_cluster, .tell = tell_cluster};
        pairs.flow = flow_of(lint->function, &lint->module->arena);
        run_pairs(&pairs);
    }
}
