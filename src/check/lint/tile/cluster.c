/* Rules about clusters: when a CTA may reach into another one.
 *
 * Once shared memory is placed the compiler has inserted the barriers and fences of a cluster. Then every path is
 * followed: from the start to the first operation that reaches into another CTA (have all started, are their barriers
 * initialized?), and from the last such operation to the end (is the other one still there?). */
#include "base/order.h"
#include "check/lint/tile/paths.h"
#include "check/lint/tile/signals.h"

#include "model/memory/placement.h"

#include <stdlib.h>

enum { BATCH = 64 /* barriers that are followed at once: the bits of a mask */ };

/* What may be true at some point: of each barrier of the batch, and of the CTA. */
typedef struct ClusterStanding {
    uint64_t fresh;    /* initialized, and no fence or cluster barrier since */
    uint64_t fenced;   /* and the fence, but no arrival at a cluster barrier */
    uint64_t leaving;  /* and the arrival, but no wait */
    uint64_t meeting;  /* an arrival that is not relaxed without the fence, and no wait yet */
    uint64_t met;      /* and the wait */
    bool alone;        /* no cluster barrier since the start */
    uint32_t touched;  /* the first op that reached into another CTA since the last cluster barrier; FLOW_NONE: none */
    uint32_t answered; /* the same of ops whose barrier is waited for */
} ClusterStanding;

/* An op that matters here. */
typedef struct ClusterStep {
    const Op *op;
    uint64_t inits;  /* barriers of the batch */
    uint64_t remote; /* barriers of the batch that it signals and that may be those of another CTA */
    bool reaches;    /* it touches another CTA's memory or barriers */
    bool signals;    /* barriers, of whatever batch */
    bool waited;     /* every such barrier is waited for in this kernel */
    bool fence, arrives, relaxed, waits;
    uint32_t touched, answered; /* in the partitions of the op */
} ClusterStep;

/* That an op initializes, or signals in another CTA, a barrier: its number among those that are followed. */
typedef struct ClusterTouch {
    uint32_t barrier, op;
    bool init;
} ClusterTouch;

typedef struct TileCluster {
    Lint *lint;
    uint32_t ctas;
    Origins origins;
    Flow flow;
    ClusterStep *steps; /* by the flow's number */
    bool *waited;       /* by origin */
    uint32_t *tracked;  /* by origin: its number among the barriers that others signal; FLOW_NONE: it is none */
    uint32_t tracked_count;
    ClusterTouch *touches; /* by barrier */
    uint32_t touch_count, touch_capacity;
    uint32_t batch;
} TileCluster;

/* ---- What each op does ---------------------------------------------------------------------------- */

static void note_touch(TileCluster *cluster, const Value *barrier, uint32_t op, bool init) {
    OriginSet set = origins_find(&cluster->origins, barrier);
    for (uint32_t i = 0; i < set.count; i++) {
        if (cluster->tracked[set.items[i]] == FLOW_NONE)
            continue;
        *ARENA_PUSH(&cluster->lint->module->arena, cluster->touches, cluster->touch_count, cluster->touch_capacity) =
            (ClusterTouch){cluster->tracked[set.items[i]], op, init};
    }
}

ORDER(by_barrier, ClusterTouch, BY(barrier))

static bool all_waited(const TileCluster *cluster, const Value *barrier) {
    OriginSet set = origins_find(&cluster->origins, barrier);
    bool waited = set.count && !set.anything;
    for (uint32_t i = 0; i < set.count; i++)
        waited &= cluster->waited[set.items[i]];
    return waited;
}

static ClusterStep step_of(TileCluster *cluster, const Op *op, uint32_t number) {
    Effects effects = lint_effects(cluster->lint, op);
    ClusterStep step = {.op = op, .waited = true, .touched = FLOW_NONE, .answered = FLOW_NONE};
    for (const Effect *effect = effects.items; effect < effects.end; effect++) {
        bool remote = effect_is_remote(cluster->lint, cluster->ctas, effect);
        bool signals = is_signal(cluster->lint->module, effect);
        if (signals && (remote || effect->verb == EFFECT_INIT))
            note_touch(cluster, effect->on, number, effect->verb == EFFECT_INIT);
        if (remote)
            step.waited &= signals           ? all_waited(cluster, effect->on)
                           : effect->through ? all_waited(cluster, effect->through)
                                             : effect->verb == EFFECT_READ;
        step.reaches |= remote;
        step.signals |= remote && signals;
        step.fence |=
            effect->verb == EFFECT_FENCE_ORDER && effect->scope >= SCOPE_CLUSTER && order_releases(effect->order);
        step.arrives |= effect->verb == EFFECT_CLUSTER_ARRIVE;
        step.relaxed |= effect->verb == EFFECT_CLUSTER_ARRIVE && effect->relaxed;
        step.waits |= effect->verb == EFFECT_CLUSTER_WAIT;
    }
    return step;
}

/* The op that starts the partition an op is in; NULL: it is in none that ends by itself. */
static const Op *specializes(const Op *op) {
    for (op = op_parent(op); op; op = op_parent(op))
        if (op_is_control(op, CONTROL_PARTITIONS) || op_is_control(op, CONTROL_GROUPS))
            return op_is_control(op, CONTROL_GROUPS) ? op : op_parent(op);
    return NULL;
}

static void set_steps(TileCluster *cluster) {
    Pointers numbers = {.arena = &cluster->lint->module->arena};
    const Flow *flow = &cluster->flow;
    for (uint32_t i = 0; i < flow->op_count; i++) {
        cluster->steps[flow->ops[i].number] = step_of(cluster, flow->ops[i].op, flow->ops[i].number);
        pointers_set(&numbers, flow->ops[i].op, flow->ops[i].number);
    }
    for (uint32_t n = 0; n < flow->op_count; n++) { /* nothing flows out of a partition: its op has done it all */
        const ClusterStep *step = &cluster->steps[n];
        const Op *around = step->reaches ? specializes(step->op) : NULL;
        uint32_t at = around ? pointers_get(&numbers, around) : NO_NUMBER;
        if (at == NO_NUMBER)
            continue;
        uint32_t *first = step->waited ? &cluster->steps[at].answered : &cluster->steps[at].touched;
        *first = *first < n ? *first : n;
    }
}

/* ---- Findings ------------------------------------------------------------------------------------- */

static void judge_step(TileCluster *cluster, const ClusterStep *step, const ClusterStanding *state) {
    Lint *lint = cluster->lint;
    if (step->remote & (state->fresh | state->fenced | state->leaving | state->meeting))
        lint_find(lint, RULE_MBARRIER_CLUSTER_INIT, step->op, "%s",
                  step->remote & (state->fresh | state->meeting)
                      ? "it signals a remote mbarrier whose initialization is not published to the cluster"
                      : "it signals a remote mbarrier, and no cluster barrier follows its initialization");
    else if (step->remote & state->met)
        lint_find(lint, RULE_MBARRIER_CLUSTER_INIT_FENCE, step->op,
                  "review: it signals a remote mbarrier whose initialization is published by a cluster barrier alone");
    else if (step->reaches && state->alone && (step->signals ? step->remote != 0 : cluster->batch == 0))
        lint_find(lint, RULE_CLUSTER_START, step->op,
                  "it accesses another CTA of the cluster, which may not have started");
}

static void judge_end(TileCluster *cluster, const ClusterStanding *state, const Op *end) {
    if (state->touched != FLOW_NONE)
        lint_other_place(cluster->lint,
                         lint_find(cluster->lint, RULE_CLUSTER_EXIT, cluster->steps[state->touched].op,
                                   "it accesses another CTA of the cluster, which may have exited"),
                         "ends", end);
    else if (state->answered != FLOW_NONE)
        lint_other_place(
            cluster->lint,
            lint_find(
                cluster->lint, RULE_CLUSTER_EXIT_UNKNOWN, cluster->steps[state->answered].op,
                "review: it signals a remote mbarrier, and that CTA may have exited unless it waits for this signal"),
            "ends", end);
}

/* ---- Following the paths -------------------------------------------------------------------------- */

static void meet(ClusterStanding *state, const ClusterStep *step) {
    if (step->arrives) {
        state->leaving |= state->fenced;
        state->fenced = 0;
        if (!step->relaxed) {
            state->meeting |= state->fresh;
            state->fresh = 0;
        }
    }
    if (step->waits) {
        state->met |= state->meeting;
        state->leaving = state->meeting = 0;
        state->alone = false;
        state->touched = state->answered = FLOW_NONE;
    }
}

static uint32_t earlier(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

static void pass(TilePaths *paths, const FlowOp *at, void *data) {
    TileCluster *cluster = paths->context;
    const ClusterStep *step = &cluster->steps[at->number];
    ClusterStanding *state = data;
    if (paths->reporting)
        judge_step(cluster, step, state);
    if (step->reaches && step->waited)
        state->answered = earlier(state->answered, at->number);
    else if (step->reaches)
        state->touched = earlier(state->touched, at->number);
    state->touched = earlier(state->touched, step->touched);
    state->answered = earlier(state->answered, step->answered);
    state->fresh |= step->inits;
    if (step->fence) {
        state->fenced |= state->fresh;
        state->leaving |= state->meeting;
        state->fresh = state->meeting = state->met = 0;
    }
    meet(state, step);
    if (paths->reporting && !cluster->batch && op_is_control(at->op, CONTROL_RETURN))
        judge_end(cluster, state, at->op);
}

static bool join(TilePaths *paths, uint32_t piece, void *to, const void *from) {
    (void)paths, (void)piece;
    ClusterStanding *all = to;
    const ClusterStanding *more = from;
    uint64_t gained = (more->fresh & ~all->fresh) | (more->fenced & ~all->fenced) | (more->leaving & ~all->leaving) |
                      (more->meeting & ~all->meeting) | (more->met & ~all->met);
    if (!gained && more->alone <= all->alone && more->touched >= all->touched && more->answered >= all->answered)
        return false;
    *all = (ClusterStanding){.fresh = all->fresh | more->fresh,
                             .fenced = all->fenced | more->fenced,
                             .leaving = all->leaving | more->leaving,
                             .meeting = all->meeting | more->meeting,
                             .met = all->met | more->met,
                             .alone = all->alone || more->alone,
                             .touched = earlier(all->touched, more->touched),
                             .answered = earlier(all->answered, more->answered)};
    return true;
}

/* Barriers that an agent signals in another CTA, and those that an agent waits for. */
static void find_barriers(TileCluster *cluster) {
    const Op *function = cluster->lint->function;
    for (uint32_t i = 0; i < cluster->origins.count; i++)
        cluster->tracked[i] = FLOW_NONE;
    for (const Op *op = function; op; op = op_next_in_walk(op, function)) {
        Effects effects = lint_effects(cluster->lint, op);
        for (const Effect *effect = effects.items; effect < effects.end; effect++) {
            if (!is_signal(cluster->lint->module, effect))
                continue;
            OriginSet set = origins_find(&cluster->origins, effect->on);
            bool remote = effect_is_remote(cluster->lint, cluster->ctas, effect);
            for (uint32_t k = 0; k < set.count; k++) {
                cluster->waited[set.items[k]] |= effect->verb == EFFECT_WAIT;
                if (remote && cluster->tracked[set.items[k]] == FLOW_NONE)
                    cluster->tracked[set.items[k]] = cluster->tracked_count++;
            }
        }
    }
}

/* Follows the barriers of one batch, whose touches begin at `touch`; returns where those of the next do. */
static uint32_t follow_batch(TileCluster *cluster, TilePaths *paths, uint32_t touch) {
    uint32_t first = touch;
    for (; touch < cluster->touch_count && cluster->touches[touch].barrier / BATCH == cluster->batch; touch++) {
        ClusterStep *step = &cluster->steps[cluster->touches[touch].op];
        uint64_t bit = UINT64_C(1) << cluster->touches[touch].barrier % BATCH;
        *(cluster->touches[touch].init ? &step->inits : &step->remote) |= bit;
    }
    if (!paths_follow(paths))
        verdict_incomplete(cluster->lint->verdict, "", 0,
                           "the kernel is too large to track what its CTAs do to each other");
    for (uint32_t i = first; i < touch; i++) {
        ClusterStep *step = &cluster->steps[cluster->touches[i].op];
        step->inits = step->remote = 0;
    }
    return touch;
}

void lint_cluster(Lint *lint) {
    Arena *arena = &lint->module->arena;
    TileCluster cluster = {.lint = lint, .ctas = lint_ctas(lint)};
    if (cluster.ctas < 2 || !memory_is_placed(lint->function))
        return;
    cluster.origins = origins_of(lint->module, lint->function, arena);
    cluster.waited = ARENA_ARRAY(arena, bool, cluster.origins.count + 1);
    cluster.tracked = ARENA_ARRAY(arena, uint32_t, cluster.origins.count + 1);
    find_barriers(&cluster);
    cluster.flow = flow_of(lint->function, arena);
    cluster.steps = ARENA_ARRAY(arena, ClusterStep, cluster.flow.op_count + 1);
    set_steps(&cluster);
    if (cluster.touch_count)
        qsort(cluster.touches, cluster.touch_count, sizeof *cluster.touches, by_barrier);
    ClusterStanding start = {.alone = true, .touched = FLOW_NONE, .answered = FLOW_NONE};
    TilePaths paths = {.lint = lint,
                       .flow = &cluster.flow,
                       .context = &cluster,
                       .size = sizeof start,
                       .start = &start,
                       .pass = pass,
                       .join = join};
    uint32_t touch = 0;
    for (; cluster.batch == 0 || cluster.batch * BATCH < cluster.tracked_count; cluster.batch++)
        touch = follow_batch(&cluster, &paths, touch);
}
