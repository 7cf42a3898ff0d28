/* All CTAs of one or several launches, side by side, on one global memory.
 *
 * Each cluster is a machine of its own; a grid decides whose turn it is. A turn goes to the next access that others can
 * tell apart (atomics, volatile loads, and loads whose value decides something), or to where the cluster can do nothing
 * without the others. A cluster that goes around a loop and finds memory as it was the last time sleeps until memory
 * changes; if all that are left sleep, the grid hangs.
 *
 * Every schedule is deterministic, and a run can be repeated turn by turn. A turn begins with such an access and goes
 * up to the next; the first turn of a cluster is its begin, up to its first. */
#ifndef MACHINE_TILE_GRID_GRID_H
#define MACHINE_TILE_GRID_GRID_H

#include "machine/tile/schedule/schedule.h"
#include "machine/tile/step/global_memory.h"

typedef struct GridLaunch {
    const Program *program; /* compiled with COMPILE_GLOBAL | COMPILE_DATA */
    const Launch *launch;   /* its pointers have addresses (Argument.address) */
    uint32_t device;
    uint64_t most; /* clusters that are run, the first ones; 0: all */
    /* Launches (by index) that must have ended before it begins; those it may overtake but can wait for. */
    const uint32_t *after, *awaited;
    uint32_t after_count, awaited_count;
} GridLaunch;

typedef enum GridScheduleKind {
    GRID_FORWARD,     /* the first cluster that can go on, as far as it can */
    GRID_BACKWARD,    /* the last one */
    GRID_ROUND_ROBIN, /* one turn each */
    GRID_RANDOM,      /* by `seed`, turn by turn */
    GRID_REPLAY,      /* `replay` */
} GridScheduleKind;

/* `count` turns of one cluster of one launch. */
typedef struct Turn {
    uint32_t launch, count;
    uint64_t cluster;
} Turn;
typedef struct Turns {
    Turn *turns;
    size_t count, capacity;
    Arena *arena;
} Turns;

/* What happens in a grid. GRID_BEGIN and GRID_END are told once for each CTA, GRID_EVENT for every event of a machine,
 * while its registers still hold what it was made with. */
typedef enum GridEventKind { GRID_BEGIN, GRID_EVENT, GRID_END } GridEventKind;
typedef struct GridEvent {
    GridEventKind kind;
    uint32_t launch;
    uint64_t cluster;
    uint32_t cta;           /* of the launch: cluster * ctas + rank; of the agent that did it */
    const Machine *machine; /* its cluster's */
    const Event *event;     /* GRID_EVENT */
} GridEvent;
typedef void GridObserve(void *observer, const GridEvent *event);

typedef struct GridOptions {
    GridScheduleKind kind;
    uint64_t seed;
    uint32_t resident; /* the most clusters of a device that are there at once; 0: all of them */
    uint64_t budget;   /* instructions of the whole run; 0: 400 million */
    size_t memory;     /* the most that it may take; 0: 4 GiB */
    const Turns *replay;
    Turns *record; /* NULL: turns are not kept */
    GridObserve *observe;
    void *observer;
    bool keep_loads; /* for grid_loads */
    /* Of the one launch there is, these clusters and no others, in that order; NULL: all. */
    const uint64_t *only;
    uint64_t only_count;
    const uint64_t *order; /* GRID_FORWARD of one launch: all its clusters, in that order; NULL: as they are numbered */
    TileSymmetry *symmetry; /* of a run of one cluster: what it follows; NULL: nothing */
    unsigned havoc_choice;  /* which data is made up for what is not known (machine.h) */
    uint8_t *ran;           /* of the one launch there is: what its instructions did (machine.h); NULL: not wanted */
    bool cancels;           /* requests for clusters that have not begun are granted, now and then; else none is */
    /* Called now and then; may be NULL. */
    void (*progress)(void *context, uint32_t launch, uint64_t clusters_ended, uint64_t clusters);
    void *context;
} GridOptions;

typedef struct Grid Grid;

/* Memory: `arena`, which must be able to jump. NULL if it cannot be run: *problem says why. */
Grid *grid_create(Arena *arena, GlobalMemory *memory, const GridLaunch *launches, uint32_t count, const char **problem);
void grid_free(Grid *grid); /* what is not in the arena */
/* From the start (memory is reset) to the end. RUN_STUCK: grid_sleepers. Anything but RUN_COMPLETE and RUN_STUCK:
 * grid_ended_by. */
RunEnd grid_run(Grid *grid, const GridOptions *options);

/* What can never go on: a cluster whose agents wait for memory, or for a barrier of their own (op is the wait). */
typedef struct Sleeper {
    uint32_t launch, cta, agent, pc;
    uint64_t cluster;
    const Machine *machine;
    const Op *op;    /* the access, or the wait */
    int64_t address; /* of the memory that it waits for; 0: it waits for a barrier */
    Word value;      /* what it finds there */
} Sleeper;
size_t grid_sleepers(const Grid *grid, Sleeper *sleepers, size_t most);
/* Clusters that never began because `resident` others were there. */
uint64_t grid_never_begun(const Grid *grid);
/* The machine that ended the run, and what it was at: fault, unknown value, budget. NULL if the run as a whole used up
 * its budget or its memory. */
const Machine *grid_ended_by(const Grid *grid, uint32_t *launch, uint64_t *cluster);

typedef struct GridStats {
    uint64_t instructions, turns, clusters, strong; /* strong: atomic and volatile accesses */
    uint64_t most_live;                             /* clusters that were there at once, having begun */
    bool communicates; /* a strong access was made, or a load that control depends on: the order of turns may matter */
    bool asks;         /* a cluster has asked for the work of another */
    const Op *chosen;  /* the first whose value was not known and was chosen; NULL: there was none */
} GridStats;
GridStats grid_stats(const Grid *grid);

/* What the loads of one cluster gave in the run, agent by agent in program order: a machine that has it
 * (machine_give_loads) runs that cluster alone and finds in memory what it found there. NULL: not kept. */
typedef struct LoadLog LoadLog;
const LoadLog *grid_loads(const Grid *grid, uint32_t launch, uint64_t cluster);

#endif
