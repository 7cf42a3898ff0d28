/* What the files of scouts share. */
#ifndef MACHINE_SIMT_LAUNCH_SCOUT_INTERNAL_H
#define MACHINE_SIMT_LAUNCH_SCOUT_INTERNAL_H

#include "machine/simt/core/scout.h"
#include "machine/simt/launch/launch_internal.h"

/* What a comparison of integers was for the lanes of a run: the difference of its operands that was nearest to 0. */
typedef struct ScoutComparison {
    uint32_t seen; /* lanes */
    int64_t distance[PTX_LANES];
} ScoutComparison;

struct PtxScout {
    Arena *arena;
    const PtxProgram *program;
    PtxMachine *machine;
    PtxFlow flow;
    uint32_t count; /* numbers of a candidate */
    uint32_t lanes; /* candidates of a run, at most */
    uint64_t left;  /* instructions that may still be run */
    bool *open;     /* of each number: it may be changed, and something depends on it */
    int64_t *least, *most;
    uint32_t *loads;               /* of each code: the number of the parameter that it loads; PTX_NONE */
    bool *runs;                    /* of each code: it computes, or decides where to go on */
    ScoutComparison **comparisons; /* of each code; NULL: it is none */
    Lanes **places;   /* of each code that stores to shared memory: where, in the last run; NULL: it does not */
    uint32_t *placed; /* ... and for which lanes that is known */
    uint32_t *went;   /* of each code, by way (2 * code + way): lanes, in the last run */
    int64_t **known;  /* the same: a candidate that goes that way; NULL */
    bool *tried;      /* the same: it was sought */
    int64_t *candidates[PTX_LANES]; /* of the run */
    uint32_t sent;                  /* of them */
    uint64_t random;
};

/* Makes a candidate one that can be launched; false: it cannot be. */
bool scout_fits(const PtxScout *scout, int64_t *candidate);
/* Runs the candidates; what they come to is kept. */
void scout_run(PtxScout *scout, unsigned havoc_choice);
static inline const ScoutComparison *scout_comparison(const PtxScout *scout, uint32_t code) {
    return scout->comparisons[code];
}

#endif
