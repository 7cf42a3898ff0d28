/* What the grid's own files share: clusters and launches of a run, and one turn of a cluster. */
#ifndef MACHINE_TILE_GRID_GRID_INTERNAL_H
#define MACHINE_TILE_GRID_GRID_INTERNAL_H

#include "base/table.h"
#include "machine/tile/grid/grid.h"
#include "machine/tile/step/machine_internal.h"

/* An agent that may be going round in circles. It is if it comes back to the same place with the same registers while
 * neither memory nor its cluster has changed; Brent's way of finding a circle keeps one earlier visit, and doubles how
 * long it is kept. */
typedef struct Spin {
    uint64_t version, changes; /* of memory and of the cluster, all the while */
    uint64_t visit;            /* a hash of the visit that is kept */
    uint32_t steps, power;     /* since that visit; how many until another one is kept */
    bool active, asleep;
    bool many; /* more than one place was looked at since that visit */
    unsigned width;
    int64_t address; /* the place; 0: none yet */
    Word value;      /* asleep: what was there */
} Spin;

/* A cluster that has begun. */
typedef struct Cluster {
    struct Grid *grid;
    uint32_t launch;
    uint64_t index;
    Machine *machine;
    Arena tensors;        /* the machine's arena */
    size_t held;          /* of it, as the grid has counted */
    Spin *spins;          /* one an agent */
    uint32_t next;        /* the agent that is asked first */
    uint32_t row;         /* turns in a row */
    uint64_t taken;       /* clusters whose work it took over */
    uint64_t counted;     /* of the machine's instructions */
    struct Cluster *idle; /* of the same launch, waiting to be used again */
} Cluster;

/* A launch in a run. */
typedef struct Course {
    const GridLaunch *launch;
    uint64_t all, most, clusters, begun, ended; /* all of the launch; of these at most; those of this run */
    Cluster *idle;
} Course;

typedef struct GridList {
    Cluster **items;
    uint32_t count, capacity;
} GridList;

/* What is kept of a cluster beyond its end, if a run is repeated or its loads are kept. */
typedef struct GridRecord {
    uint32_t launch; /* + 1; 0: free */
    uint64_t index;
    Cluster *cluster; /* NULL: it has ended */
    LoadLog *loads;
} GridRecord;
typedef TABLE_OF(GridRecord) GridRecords;

struct Grid {
    GlobalMemory *memory;
    Course *courses;
    uint32_t count, first; /* all launches before `first` have begun altogether */
    uint32_t *live;        /* clusters of each device */
    uint32_t devices;
    GridOptions options;
    Arena pool; /* machines, and what else is used again by the next run */
    Arena kept; /* of this run */
    jmp_buf *exhausted;
    GridList ready, asleep; /* asleep: nothing in it can go on, or could when it was last looked at */
    uint32_t at;            /* GRID_ROUND_ROBIN */
    uint64_t random, woken; /* woken: memory's version when the sleepers were last looked at */
    size_t held;            /* by tensors */
    uint64_t loads_left;
    GridRecords records;
    const Cluster *ended_by;
    GridStats stats;
};

typedef enum TurnEnd {
    TURN_OVER,    /* there is more to do */
    TURN_BLOCKED, /* nothing can be done without others */
    TURN_ENDED,
    TURN_FAILED, /* *result says how */
} TurnEnd;

/* ---- grid.c ---- */
/* The record of a cluster; made if `make`. NULL if there is none, or none are kept. */
GridRecord *grid_record(Grid *grid, uint32_t launch, uint64_t index, bool make);
void list_push(GridList *list, Cluster *cluster);
/* The next cluster of the launch does not begin, as another does its work: its index; -1: there is none for it. */
int64_t grid_cancel(Grid *grid, Cluster *cluster);

/* ---- grid_turn.c ---- */
/* A cluster begins, and goes up to its first access that others can tell apart. It is the last of those that are ready
 * then. */
TurnEnd turn_begin(Grid *grid, uint32_t launch, uint64_t index, StepResult *result);
/* One turn. */
TurnEnd turn_take(Grid *grid, Cluster *cluster, StepResult *result);
/* Whether the cluster can go on, as memory is now. */
bool turn_can_go(const Grid *grid, Cluster *cluster);
/* Lets time run out for a poll of the cluster. False if there is none that would give up. */
bool turn_give_up(Cluster *cluster);
/* It has ended, or is stopped: its machine can be used again. */
void turn_release(Grid *grid, Cluster *cluster);
/* Tells that it has ended. */
void turn_report_end(const Cluster *cluster);
/* Whether some launch that this one awaits is still running. */
bool turn_awaits(const Grid *grid, uint32_t launch);

#endif
