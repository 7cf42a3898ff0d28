/* Runs a kernel's launches and says whether all agents finish, and, since the runs are there, whether their
 * accesses to memory are ordered (races.h): the engine of `weir run` and `weir check`.
 *
 * By default one eager run of each cluster decides for all schedules, by the order of causes
 * (machine/tile/schedule/happens_before.h); where something could come otherwise, directed schedules try it, and only
 * what goes wrong in one of them is a finding. Other schedules can be asked for by name, and for small kernels all of
 * them (machine/tile/schedule/explore.h). */
#ifndef CHECK_TILE_RUN_CHECK_H
#define CHECK_TILE_RUN_CHECK_H

#include "check/tile/run/rerun.h"
#include "machine/tile/launch/choose.h"
#include "machine/tile/schedule/explore.h"

typedef enum ScheduleChoice {
    SCHEDULES_DIRECTED,
    SCHEDULES_EAGER,
    SCHEDULES_LAZY,
    SCHEDULES_ROUND_ROBIN,
    SCHEDULES_RANDOM, /* `schedules` of them, from `seed` on */
    SCHEDULES_ALL,    /* exhaustively, up to `states` */
} ScheduleChoice;

/* The schedule of one run of such a choice. */
ScheduleKind schedule_chosen(ScheduleChoice choice);

/* An observer of the plain runs of each cluster, those in which what is asynchronous completes at once; of
 * the launch that was given, if there is one. */
typedef struct Spectator {
    void *context;
    void (*start)(void *context, Machine *machine, const Rerun *rerun);
    Observe *observe; /* with `context` */
    /* The machine is as the run left it. */
    void (*end)(void *context, Machine *machine, RunEnd end);
} Spectator;

typedef struct CheckOptions {
    const Launch *launch;    /* that was given; NULL: none was */
    const Launch *fixed;     /* what chosen launches must have, whatever else they are; NULL: nothing */
    bool only_launch;        /* the given one alone; else chosen ones are run, too */
    ChosenLaunches **chosen; /* those of other steps (machine/tile/launch/choose.h); may be NULL */
    ScheduleChoice choice;
    uint64_t seed;
    unsigned schedules;         /* 0: 8 */
    uint64_t budget;            /* steps and loop iterations of one run of one cluster; 0: 4 million */
    uint64_t states;            /* of an exhaustive search; 0: 200,000 */
    bool out_of_order;          /* tensor-core work is ordered by waits alone */
    bool mirrored;              /* agents have their turns the other way round: the verdict is the same */
    const Spectator *spectator; /* NULL: none */
    /* What the loads of a cluster gave when the whole grid ran (machine/tile/grid/grid.h); NULL: it did not. */
    const struct LoadLog *(*loads)(void *context, uint64_t cluster);
    void *loads_context;
    /* Says of the findings so far which do not count (Finding.suppressed); may be NULL. What else is not looked at once
     * something is wrong is looked at all the same where nothing counts. */
    void (*settle)(void *context, Verdict *verdict);
    void *settle_context;
    /* Called now and then with what is going on; may be NULL. */
    void (*progress)(void *context, const char *launch, uint64_t cluster, uint64_t clusters);
    void *context;
} CheckOptions;

/* Adds what it finds, the launches it ran, and what it could not do to the verdict; verdict_close is the caller's. The
 * module's arena must be able to jump (arena.exhausted set). */
void check_runs(Module *module, const Op *function, const CheckOptions *options, Verdict *verdict);

#endif
