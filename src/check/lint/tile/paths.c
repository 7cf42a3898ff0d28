/* States along all paths, to the fixed point. */
#include "check/lint/tile/paths.h"

bool flow_starts_threads(const Flow *flow, const FlowPiece *from, const FlowEdge *edge) {
    const Op *last = flow->ops[from->first + from->count - 1].op;
    return edge->all_meet || op_is_control(last, CONTROL_PARTITIONS);
}

static void enqueue(TilePaths *paths, uint32_t piece) {
    if (paths->queued[piece])
        return;
    paths->queued[piece] = paths->reached[piece] = true;
    paths->queue[(paths->queue_first + paths->queue_count++) % paths->flow->piece_count] = piece;
}

static void set_start(const TilePaths *paths, uint8_t *state) {
    if (paths->start)
        memcpy(state, paths->start, paths->size);
    else
        memset(state, 0, paths->size);
}

static bool join_bytes(const TilePaths *paths, uint8_t *all, const uint8_t *more) {
    bool changed = false;
    for (size_t i = 0; i < paths->size; i++) {
        changed |= more[i] > all[i];
        all[i] = more[i] > all[i] ? more[i] : all[i];
    }
    return changed;
}

static bool join(TilePaths *paths, uint32_t piece, uint8_t *to, const uint8_t *from) {
    return paths->join ? paths->join(paths, piece, to, from) : join_bytes(paths, to, from);
}

static void reach(TilePaths *paths, const FlowPiece *from, const FlowEdge *edge) {
    uint8_t *to = paths->states + edge->to * paths->size;
    bool first = !paths->reached[edge->to], fresh = paths->afresh && flow_starts_threads(paths->flow, from, edge);
    if (first && fresh)
        set_start(paths, to);
    else if (first)
        memcpy(to, paths->now, paths->size);
    if (first || (!fresh && join(paths, edge->to, to, paths->now)))
        enqueue(paths, edge->to);
}

static void pass_piece(TilePaths *paths, uint32_t piece) {
    const FlowPiece *at = &paths->flow->pieces[piece];
    memcpy(paths->now, paths->states + piece * paths->size, paths->size);
    for (uint32_t i = 0; i < at->count; i++)
        paths->pass(paths, &paths->flow->ops[at->first + i], paths->now);
}

/* Zero bytes of state are no state: the arena gives a pointer all the same. */
static void start_again(TilePaths *paths) {
    Arena *arena = &paths->lint->module->arena;
    size_t pieces = paths->flow->piece_count;
    if (!paths->states) {
        paths->states = arena_alloc(arena, pieces * paths->size + 1);
        paths->now = arena_alloc(arena, paths->size + 1);
        paths->reached = ARENA_ARRAY(arena, bool, pieces + 1);
        paths->queued = ARENA_ARRAY(arena, bool, pieces + 1);
        paths->queue = ARENA_ARRAY(arena, uint32_t, pieces + 1);
    }
    memset(paths->reached, 0, pieces);
    paths->reporting = false;
    for (uint32_t i = 0; i < pieces; i++)
        if (paths->flow->pieces[i].entry) {
            set_start(paths, paths->states + i * paths->size);
            enqueue(paths, i);
        }
}

bool paths_follow(TilePaths *paths) {
    const Flow *flow = paths->flow;
    size_t join_steps = 1 + paths->size / 16; /* bytes are joined many at a time */
    uint64_t steps = 0;
    if (paths->size * flow->piece_count > LINT_STEPS)
        return false;
    start_again(paths);
    while (paths->queue_count && steps <= LINT_STEPS) {
        uint32_t piece = paths->queue[paths->queue_first];
        const FlowPiece *at = &flow->pieces[piece];
        paths->queue_first = (paths->queue_first + 1) % flow->piece_count;
        paths->queue_count--;
        paths->queued[piece] = false;
        pass_piece(paths, piece);
        for (uint32_t e = 0; e < at->edge_count; e++)
            reach(paths, at, &flow->edges[at->first_edge + e]);
        steps += at->count + at->edge_count * join_steps;
    }
    paths->reporting = true;
    for (uint32_t i = 0; steps <= LINT_STEPS && i < flow->piece_count; i++)
        if (paths->reached[i])
            pass_piece(paths, i);
    return steps <= LINT_STEPS;
}
