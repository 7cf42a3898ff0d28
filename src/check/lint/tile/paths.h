/* What holds at each place of a kernel, over all paths that lead there.
 *
 * A state goes through the ops of a piece of the flow; where paths meet, states are joined; that goes on until nothing
 * changes. Then every op that a path leads to is passed once more, with what holds before it: the time to tell. */
#ifndef CHECK_LINT_TILE_PATHS_H
#define CHECK_LINT_TILE_PATHS_H

#include "check/lint/tile/internal.h"
#include "model/flow/flow.h"

/* Steps that a pass may take where a hostile file could make it quadratic; past that it says that it gave up. */
enum { LINT_STEPS = 20 * 1000 * 1000 };

typedef struct TilePaths {
    Lint *lint;
    const Flow *flow;
    void *context;
    size_t size;       /* of a state: plain bytes */
    const void *start; /* the state where the function starts; NULL: all zero */
    bool afresh;       /* threads of a partition start as the function does, not with what was before them */
    void (*pass)(struct TilePaths *paths, const FlowOp *at, void *state);
    /* Adds what comes to the start of a piece from elsewhere; false if that is nothing new. NULL: the larger of each
     * two bytes. */
    bool (*join)(struct TilePaths *paths, uint32_t piece, void *to, const void *from);
    bool reporting;
    /* Its own */
    uint8_t *states, *now; /* by piece; of the piece that is passed */
    bool *reached, *queued;
    uint32_t *queue, queue_first, queue_count; /* a ring of pieces, each in it once */
} TilePaths;

/* False if it would take too long: nothing was told. May be asked again, for another start or context. */
bool paths_follow(TilePaths *paths);

/* Whether an edge starts other threads than those that come to it: into a partition that is not the default one. */
bool flow_starts_threads(const Flow *flow, const FlowPiece *from, const FlowEdge *edge);

#endif
