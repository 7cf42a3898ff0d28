/* Where barriers go, and which of those that are there could go.
 *
 * A run puts each barrier right before the op that needs it; in straight-line code that is the fewest there can be,
 * since a barrier as late as possible parts the most. With loops and branches, some turn out to be redundant once
 * others are there: those that part nothing alone are taken away, but of two with no other between them only one at a
 * time, so that what both part stays separated. */
#include "check/membar/internal.h"

enum { MOST_ROUNDS = 24, WORK_A_NODE = 200 };
static const uint64_t work_to_improve = 4 * 1000 * 1000;

/* ---- Barriers that part nothing alone ---------------------------------------------------------------------------- */

/* For each barrier, those that come next to it on some way. */
typedef struct Adjacency {
    uint32_t *first; /* by barrier, and one more */
    uint32_t *others;
} Adjacency;

static Adjacency adjacency_of(Membar *membar, const Notes *notes) {
    uint32_t count = 2 * membar->node_count;
    Adjacency adjacency = {.first = ARENA_ARRAY(membar->run, uint32_t, count + 2),
                           .others = ARENA_ARRAY(membar->run, uint32_t, 2 * (size_t)notes->pair_count + 1)};
    uint32_t *first = adjacency.first + 1; /* filling moves each start to where the next one is */
    for (uint32_t i = 0; i < notes->pair_count; i++) {
        first[notes->pairs[i].from + 1 < count ? notes->pairs[i].from + 1 : count]++;
        first[notes->pairs[i].to + 1 < count ? notes->pairs[i].to + 1 : count]++;
    }
    for (uint32_t i = 1; i <= count; i++)
        first[i] += first[i - 1];
    for (uint32_t i = 0; i < notes->pair_count; i++) {
        NextPair pair = notes->pairs[i];
        adjacency.others[first[pair.from]++] = pair.to;
        adjacency.others[first[pair.to]++] = pair.from;
    }
    return adjacency;
}

/* Barriers that were put there, or that the IR has. */
static bool is_candidate(const Membar *membar, uint32_t barrier, bool present) {
    const MembarNode *node = &membar->nodes[barrier / 2];
    if (present)
        return barrier % 2 == 0 && node->is.removable && !node->removed &&
               (membar->model == MEMBAR_ASYNC || !node->serves);
    return (barrier % 2 ? node->placing.after : node->placing.before) & PASS_THREADS;
}

/* Chooses barriers that can go together; gives back how many. */
static uint32_t choose(Membar *membar, const Notes *notes, bool present, uint32_t *chosen) {
    Adjacency adjacency = adjacency_of(membar, notes);
    bool *blocked = ARENA_ARRAY(membar->run, bool, 2 * (size_t)membar->node_count + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < 2 * membar->node_count; i++) {
        if (blocked[i] || notes->barriers[i].alone || notes->barriers[i].pinned ||
            (present && notes->barriers[i].for_callers) || !is_candidate(membar, i, present))
            continue;
        chosen[count++] = i;
        for (uint32_t k = adjacency.first[i]; k < adjacency.first[i + 1]; k++)
            blocked[adjacency.others[k]] = true;
    }
    return count;
}

static void take_away(MembarNode *node, bool after) {
    if (after)
        node->placing.after = 0;
    else
        node->placing.before &= (uint8_t)~PASS_THREADS;
}

static void drop_redundant(Membar *membar) {
    uint32_t *chosen = ARENA_ARRAY(membar->arena, uint32_t, 2 * (size_t)membar->node_count + 1);
    for (int round = 0; round < MOST_ROUNDS && !membar->problem; round++) {
        Notes notes;
        membar_run(membar, PASS_THREADS, RUN_NOTE, &notes);
        if (membar->gave_up)
            return;
        uint32_t count = notes.open ? 0 : choose(membar, &notes, false, chosen);
        for (uint32_t i = 0; i < count; i++)
            take_away(&membar->nodes[chosen[i] / 2], chosen[i] % 2);
        if (!count)
            return;
    }
}

/* ---- Placing --------------------------------------------------------------------------------------------------- */

/* Moves barriers whose hazards all start before a loop to before that loop. */
static bool hoist(Membar *membar) {
    Notes notes;
    bool moved = false;
    membar_run(membar, PASS_THREADS, RUN_NOTE, &notes);
    if (membar->gave_up)
        return false;
    for (uint32_t i = 0; i < membar->node_count; i++) {
        MembarNode *node = &membar->nodes[i];
        const MembarBarrier *barrier = &notes.barriers[2 * i];
        if (!(node->placing.before & PASS_THREADS) || !barrier->alone || barrier->pinned || barrier->hoist == FLOW_NONE)
            continue;
        MembarNode *loop = &membar->nodes[membar->loop_nodes[barrier->hoist]];
        node->placing.before &= (uint8_t)~PASS_THREADS;
        if (!loop->placing.before)
            loop->placing.reason = node->placing.reason;
        loop->placing.before |= PASS_THREADS;
        moved = true;
    }
    return moved;
}

/* Makes fewer of barriers that stand right before those who need them. */
static void improve(Membar *membar) {
    if (membar->flow.loop_count && hoist(membar))
        membar_run(membar, PASS_THREADS, RUN_INSERT, NULL);
    drop_redundant(membar);
}

/* ---- Several ways ---------------------------------------------------------------------------------------------- */

/* Where barriers are, so that they can be put back. */
static Placing *save(const Membar *membar) {
    Placing *placing = ARENA_ARRAY(membar->arena, Placing, membar->node_count + 1);
    for (uint32_t i = 0; i < membar->node_count; i++)
        placing[i] = membar->nodes[i].placing;
    return placing;
}

static void restore(Membar *membar, const Placing *placing) {
    for (uint32_t i = 0; i < membar->node_count; i++)
        membar->nodes[i].placing = placing[i];
}

static void clear(Membar *membar) {
    for (uint32_t i = 0; i < membar->node_count; i++) {
        take_away(&membar->nodes[i], false);
        take_away(&membar->nodes[i], true);
    }
}

static unsigned barriers_at(const Placing *placing) {
    return ((placing->before & PASS_THREADS) != 0) + (placing->after != 0);
}

/* How often barriers are met, if each loop runs eight times. */
static uint64_t cost(const Membar *membar) {
    enum { DEEPEST = 8 };
    uint64_t sum = 0;
    for (uint32_t i = 0; i < membar->node_count; i++) {
        const MembarNode *node = &membar->nodes[i];
        unsigned depth = 0, count = barriers_at(&node->placing);
        for (uint32_t loop = membar->flow.loop_of[node->number]; count && loop != FLOW_NONE && depth < DEEPEST;
             loop = membar->flow.loops[loop].parent)
            depth++;
        sum += (uint64_t)count << 3 * depth;
    }
    return sum;
}

static uint32_t barrier_count(const Membar *membar) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < membar->node_count; i++)
        count += barriers_at(&membar->nodes[i].placing);
    return count;
}

/* As Triton places them, which parts more than has to be. */
static void place_as_triton(Membar *membar) {
    MembarModel model = membar->model;
    membar->model = MEMBAR_SYNC;
    membar->slot_answers = NULL;
    membar_run(membar, PASS_TENSOR, RUN_INSERT, NULL);
    membar_run(membar, PASS_SHARED, RUN_INSERT, NULL);
    membar->model = model;
    membar->slot_answers = NULL;
}

/* How many barriers more than `other` the nodes of a piece have. */
static int64_t more_in_piece(const Membar *membar, const Placing *other, uint32_t piece) {
    int64_t more = 0;
    for (uint32_t i = membar->piece_nodes[piece]; i < membar->piece_nodes[piece + 1]; i++)
        more += (int64_t)barriers_at(&membar->nodes[i].placing) - barriers_at(&other[i]);
    return more;
}

/* Whether an edge leads past a loop that does not run once. */
static bool passes_by(const Flow *flow, const FlowEdge *edge) {
    return edge->enters != FLOW_NONE && !flow->loops[edge->enters].first_block &&
           !flow_loop_holds(flow, edge->enters, flow->ops[flow->pieces[edge->to].first].number);
}

/* Whether on no way through the function more barriers are met than with `other`. A loop that does not run once is not
 * looked at: what was moved out of it is met there, and less often everywhere else. The longest way is looked for, and
 * what gets longer with each round is too long. */
static bool meets_no_more(Membar *membar, const Placing *other) {
    enum { ROUNDS = 8 };
    const Flow *flow = &membar->flow;
    const int64_t never = INT64_MIN / 2;
    int64_t *longest = ARENA_ARRAY(membar->arena, int64_t, flow->piece_count + 1);
    for (uint32_t i = 0; i < flow->piece_count; i++)
        longest[i] = flow->pieces[i].entry ? 0 : never;
    bool changed = true;
    for (int round = 0; changed && round < ROUNDS; round++) {
        changed = false;
        for (uint32_t i = 0; i < flow->piece_count; i++) {
            if (longest[i] == never)
                continue;
            const FlowPiece *piece = &flow->pieces[i];
            int64_t end = longest[i] + more_in_piece(membar, other, i);
            if (!piece->edge_count && end > 0)
                return false;
            for (uint32_t e = piece->first_edge; e < piece->first_edge + piece->edge_count; e++) {
                const FlowEdge *edge = &flow->edges[e];
                if (longest[edge->to] >= end || passes_by(flow, edge))
                    continue;
                longest[edge->to] = end;
                changed = true;
            }
        }
    }
    return !changed;
}

/* Latest places are not the best where one earlier place serves several of them. Triton's places, with what is not
 * needed taken away, are the second try; so there are never more barriers than Triton has. If some way still meets
 * more of them than with Triton's, of those only what is not needed is taken away, and nothing is moved. */
static void find_better(Membar *membar) {
    improve(membar);
    if (membar->gave_up)
        return;
    const Placing *late = save(membar);
    uint64_t late_cost = cost(membar);
    uint32_t late_count = barrier_count(membar);
    clear(membar);
    place_as_triton(membar);
    const Placing *triton = save(membar);
    membar_run(membar, PASS_THREADS, RUN_INSERT, NULL);
    improve(membar);
    if (membar->gave_up || (late_count <= barrier_count(membar) && late_cost <= cost(membar)))
        restore(membar, late);
    if (membar->gave_up || meets_no_more(membar, triton)) {
        membar->gave_up = false;
        return;
    }
    const Placing *better = save(membar);
    restore(membar, triton);
    membar_run(membar, PASS_THREADS, RUN_INSERT, NULL);
    drop_redundant(membar);
    if (membar->gave_up || !meets_no_more(membar, triton))
        restore(membar, better);
    membar->gave_up = false;
}

/* What comes now only makes fewer of what is enough, and may be given up; returns the work so far, for the end of it.
 */
static uint64_t begin_improving(Membar *membar) {
    membar->improving = true;
    membar->work_limit = membar->work + work_to_improve + WORK_A_NODE * (uint64_t)membar->node_count;
    return membar->work;
}

static void end_improving(Membar *membar, uint64_t before) {
    membar->improving = membar->gave_up = false;
    membar->work_limit = 0;
    membar->work = before;
}

static void place_best(Membar *membar) {
    membar_run(membar, PASS_THREADS, RUN_INSERT, NULL);
    if (membar->problem || membar->flow.piece_count < 2 || !barrier_count(membar))
        return;
    const Placing *enough = save(membar);
    uint64_t before = begin_improving(membar);
    find_better(membar);
    if (membar->gave_up)
        restore(membar, enough);
    end_improving(membar, before);
}

static bool meets_cluster(Membar *membar, const Op *op) {
    return op && op_has_effect(membar->module, op, EFFECT_CLUSTER_ARRIVE, GROUP_NONE) &&
           op_has_effect(membar->module, op, EFFECT_CLUSTER_WAIT, GROUP_NONE);
}

/* A barrier of the cluster that is placed anyway may do for the mbarriers that are set up. Triton takes the one that
 * comes with them for one of the threads as well; but it is relaxed, and orders no memory. */
static void place_handshake(Membar *membar) {
    Pointers planned = {.arena = membar->arena};
    for (uint32_t i = 0; i < membar->node_count; i++)
        if (membar->nodes[i].placing.before & PASS_CLUSTER)
            pointers_set(&planned, membar->nodes[i].op, 0);
    membar->handshake = handshake_of(membar->module, membar->function, &planned, membar->arena);
    for (uint32_t i = 0; i < membar->node_count && membar->handshake.barrier && membar->model != MEMBAR_ASYNC; i++)
        if (membar->nodes[i].op == membar->handshake.at)
            membar->nodes[i].is.stages |= STAGE_BEFORE;
}

static void place_clusters(Membar *membar) {
    membar_run(membar, PASS_CLUSTER, RUN_INSERT, NULL);
    for (uint32_t i = 0; i < membar->node_count; i++) {
        MembarNode *node = &membar->nodes[i];
        if (node->returns && membar->public && !meets_cluster(membar, node->op->prev))
            node->placing.before |= PASS_CLUSTER;
    }
    place_handshake(membar);
}

void membar_place_barriers(Membar *membar) {
    if (membar->clusters)
        place_clusters(membar);
    if (membar->model == MEMBAR_ASYNC) {
        place_best(membar);
        return;
    }
    membar_run(membar, PASS_TENSOR, RUN_INSERT, NULL);
    membar_run(membar, PASS_SHARED, RUN_INSERT, NULL);
}

/* ---- Needless ones --------------------------------------------------------------------------------------------- */

static Needless explain(const Membar *membar, const MembarBarrier *barrier) {
    if (barrier->untagged)
        return (Needless){NULL, "no access before it conflicts with one after it, up to the next barrier"};
    if (!barrier->before)
        return (Needless){NULL, "no access is pending when it is reached"};
    return (Needless){membar->nodes[(barrier->before - 1) / 2].op,
                      "nothing is accessed between the barrier before it and this one"};
}

Needless *membar_find_needless(Membar *membar) {
    Needless *found = ARENA_ARRAY(membar->arena, Needless, membar->node_count + 1);
    uint32_t *chosen = ARENA_ARRAY(membar->arena, uint32_t, 2 * (size_t)membar->node_count + 1);
    bool any = false;
    for (uint32_t i = 0; i < membar->node_count; i++)
        any |= membar->nodes[i].is.removable;
    uint64_t before = begin_improving(membar);
    for (int round = 0; any && round < MOST_ROUNDS && !membar->problem; round++) {
        Notes notes;
        membar_run(membar, PASS_THREADS, RUN_NOTE, &notes);
        if (membar->gave_up)
            break;
        uint32_t count = notes.open ? 0 : choose(membar, &notes, true, chosen);
        for (uint32_t i = 0; i < count; i++) {
            membar->nodes[chosen[i] / 2].removed = true;
            found[chosen[i] / 2] = explain(membar, &notes.barriers[chosen[i]]);
        }
        any = count > 0;
    }
    end_improving(membar, before);
    return found;
}
