/* Proxy fences at every launch: none is missing that was not missing at the launches that were tried.
 *
 * `weir check` judges fences by runs of chosen launches, as the kernel is and with the fences that each release of the
 * compiler still inserts (check/lint/tile). What it says is a matter of which pairs of ops lack a fence, in each of
 * these ways. So it says the same of every launch if no launch has a pair that the chosen ones do not have. Fences
 * between copies and threads in global memory go by addresses: where both come to one tensor they are open. */
#include "check/prove/sync_internal.h"

#include "check/fences/insertion.h"
#include "check/prove/access.h"
#include "ir/op.h"
#include "machine/tile/compile/roots.h"

/* ---- Global memory -------------------------------------------------------------------------------- */

bool sync_makes_descriptors(const Prover *prover) {
    const Op *root = proxies_scope(prover->function);
    Effect effects[EFFECTS_MOST];
    for (const Op *op = root; op; op = op_next_in_walk(op, root)) {
        unsigned count = op->row ? effects_of(prover->module, op, effects) : 0;
        for (unsigned i = 0; i < count; i++)
            if (effects[i].verb == EFFECT_FENCE_PROXY && effects[i].proxy == PROXY_TENSORMAP)
                return true;
    }
    return false;
}

/* Memory that one proxy writes or reads. */
typedef struct FenceRoots {
    Roots of;
    bool any;
    const Op *op;
} FenceRoots;

static void add_roots(FenceRoots *to, Roots roots, const Op *op) {
    to->of.parameters |= roots.parameters;
    to->of.elsewhere |= roots.elsewhere;
    to->op = to->any ? to->op : op;
    to->any = true;
}

static bool meet(const FenceRoots *a, const FenceRoots *b) {
    return a->any && b->any && ((a->of.parameters & b->of.parameters) || a->of.elsewhere || b->of.elsewhere);
}

/* Where a descriptor that the kernel makes points is in no register: there the normal form of the address says it.
 * Memory of the program's own is one root, too. */
static Roots roots_of(const SyncProof *sync, const ProofAccesses *accesses, const Op *op, const Effect *effect) {
    Roots roots = address_roots(sync->program, effect->on);
    for (uint32_t i = 0; roots.elsewhere && i < accesses->count; i++) {
        const ProofAccess *access = &accesses->all[i];
        if (access->op != op || access->effect.verb != effect->verb || access->effect.on != effect->on)
            continue;
        if (access->root == ROOT_OWN || (access->root >= 0 && access->root < MOST_ROOTS))
            return (Roots){.parameters = UINT64_C(1) << (access->root == ROOT_OWN ? MOST_ROOTS - 1 : access->root)};
    }
    return roots;
}

/* The first op whose fences in global memory hang on addresses; NULL: there is none. */
static const Op *global_fence(const SyncProof *sync) {
    const Op *root = proxies_scope(sync->prover->function);
    Module *module = sync->prover->module;
    FenceRoots reads[2] = {{.any = false}}, writes[2] = {{.any = false}}, flags = {.any = false}; /* [asynchronous] */
    ProofAccesses accesses = proof_accesses(sync->prover);
    Effect effects[EFFECTS_MOST];
    for (const Op *op = root; op; op = op_next_in_walk(op, root)) {
        unsigned count = op->row ? effects_of(module, op, effects) : 0;
        for (unsigned i = 0; i < count; i++) {
            const Effect *effect = &effects[i];
            bool async = effect->proxy == PROXY_ASYNC;
            if (effect->space != SPACE_GLOBAL || !effect_is_access(effect) || effect->proxy == PROXY_TENSORMAP)
                continue;
            Roots roots = roots_of(sync, &accesses, op, effect);
            if (effect->verb != EFFECT_WRITE)
                add_roots(&reads[async], roots, op);
            if (effect->verb != EFFECT_READ)
                add_roots(&writes[async], roots, op);
            if (effect->verb == EFFECT_UPDATE && !async && order_releases(effect->order))
                add_roots(&flags, roots, op);
        }
    }
    if (meet(&writes[0], &reads[1]))
        return reads[1].op;
    return meet(&writes[1], &reads[0]) || (writes[1].any && flags.any) ? writes[1].op : NULL;
}

/* ---- Shared memory -------------------------------------------------------------------------------- */

/* With which fences that are not in the IR; the first: with none. */
enum { FENCE_WAYS = 1 + INSERTIONS };

typedef struct FenceWay {
    const FencePoint *points;
    size_t point_count;
    Breach *found; /* of all launches */
    uint32_t count;
} FenceWay;

typedef struct FencesTried {
    SyncProof *sync;
    FenceWay ways[FENCE_WAYS];
    const Op *lacks; /* an op that lacks a fence at some launch, but not at those that are tried */
} FencesTried;

static void keep_found(SyncProof *sync, FenceWay *way) {
    const Breach *found = proxies_found(sync->proxies, &way->count);
    way->found = ARENA_ARRAY(&sync->work, Breach, way->count + 1);
    memcpy(way->found, found, way->count * sizeof *found);
}

static const Op *op_of(const Program *program, uint32_t pc) {
    return pc == NO_PC ? NULL : program->ops[pc];
}

static bool same_breach(const Program *program, const Breach *a, const Program *other, const Breach *b) {
    return a->kind == b->kind && a->reads == b->reads && a->writes == b->writes && a->wide == b->wide &&
           a->own == b->own && a->early == b->early && a->delayed == b->delayed &&
           op_of(program, a->pc) == op_of(other, b->pc) && op_of(program, a->other_pc) == op_of(other, b->other_pc) &&
           op_of(program, a->fence_pc) == op_of(other, b->fence_pc);
}

static void look(FenceRuns *runs, Proxies *proxies, void *context) {
    FencesTried *tried = context;
    const Program *program = fence_runs_machine(runs)->program;
    for (unsigned i = 0; i < FENCE_WAYS && !tried->lacks; i++) {
        const FenceWay *way = &tried->ways[i];
        uint32_t count;
        if (i && !way->point_count)
            continue;
        proxies_edit(proxies, way->points, way->point_count, NULL, 0);
        fence_runs_again(runs);
        const Breach *found = proxies_found(proxies, &count);
        for (uint32_t k = 0; k < way->count && !tried->lacks; k++) {
            bool known = false;
            for (uint32_t j = 0; j < count && !known; j++)
                known = same_breach(tried->sync->program, &way->found[k], program, &found[j]);
            if (!known)
                tried->lacks = op_of(tried->sync->program, way->found[k].pc);
        }
    }
}

void sync_fences(SyncProof *sync) {
    Prover *prover = sync->prover;
    FencesTried *tried = ARENA_NEW(&sync->work, FencesTried);
    Verdict ignored = {.arena = prover->arena, .kernel = ""};
    const Op *global = global_fence(sync);
    if (global) {
        sync_open(sync, global, "fence",
                  "threads and copies come to the same tensor, and fences for that go by addresses");
        return;
    }
    tried->sync = sync;
    keep_found(sync, &tried->ways[0]);
    if (!tried->ways[0].count)
        return; /* with more fences there is none missing, either */
    if (sync->program->agents_per_cta > 1 || tried->ways[0].count == MOST_BREACHES) {
        sync_open(sync, op_of(sync->program, tried->ways[0].found[0].pc), "fence",
                  "a proxy fence is missing before it that a compiler may insert");
        return;
    }
    for (unsigned kind = 0; kind < INSERTIONS && !sync->open; kind++) {
        FenceWay *way = &tried->ways[1 + kind];
        Insertion insertion = insertion_of(prover->module, prover->function, (InsertionKind)kind);
        way->points = insertion.points;
        way->point_count = insertion.count;
        if (!insertion.count)
            continue;
        proxies_edit(sync->proxies, insertion.points, insertion.count, NULL, 0);
        if (sync_cover_all(sync))
            keep_found(sync, way);
    }
    if (sync->open)
        return;
    fence_runs(prover->module, prover->function, (FenceLaunch){0}, &ignored, look, tried);
    if (tried->lacks)
        sync_open(sync, tried->lacks, "fence",
                  "at some launch it lacks a proxy fence, but not at those that are tried");
}
