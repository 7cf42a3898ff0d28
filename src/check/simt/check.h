/* `weir check K.ptx`: runs a kernel at its launches in the orders that can matter, and makes findings of what is wrong.
 */
#ifndef CHECK_SIMT_CHECK_H
#define CHECK_SIMT_CHECK_H

#include "check/simt/trail.h"
#include "explore/launch/launch.h"
#include "finding/finding.h"
#include "machine/simt/core/machine.h"

/* Which orders are run. */
typedef enum ThreadsOrders {
    ORDERS_DIRECTED, /* eager; others where the order can matter */
    ORDERS_EAGER,
    ORDERS_LAZY,
    ORDERS_ROUND_ROBIN,
    ORDERS_RANDOM,
    ORDERS_ALL, /* all of these */
} ThreadsOrders;

/* Whether one CTA of each class is run (classes.h). */
typedef enum ThreadsClasses {
    THREADS_CLASSES_USUAL,
    THREADS_CLASSES_NEVER, /* every CTA is */
    THREADS_CLASSES_LARGE, /* as of a large grid, whatever its size is */
} ThreadsClasses;

/* Whether a recording was looked at together with those of launches that may have run at the same time. */
typedef enum TogetherKind {
    TOGETHER_NOT,
    TOGETHER_COMPARED, /* none of them has memory in common with it that one of the two writes */
    TOGETHER_PLAYED,
} TogetherKind;

typedef struct ThreadsOptions {
    const Launch *launch;    /* NULL: they are chosen */
    const PtxLaunch *placed; /* instead of it: with memory that is there; NULL */
    PtxProgram *prepared;    /* by threads_program, to compute all: the kernel; NULL: it is prepared for this check */
    const Launch *fixed;  /* what all chosen ones have; NULL: nothing */
    bool only_launch;
    bool volatile_races;
    PtxComputes computes;
    /* Instructions of groups for each run; records of a recording that are played in other orders. 0: the default. */
    uint64_t budget;
    uint64_t seed;
    ThreadsOrders orders;
    ThreadsClasses classes;
    uint32_t random;           /* how many random ones; 0: the default */
    const ThreadsTrail *trail; /* that run, and nothing else; NULL */
    uint8_t together;          /* TogetherKind: of a recording */
    /* Whether there is a core that has nothing to do, which is taken (take 1) until it is given back (0); NULL: none.
     */
    int (*core)(void *context, int take);
    void *core_context;
    double core_after; /* seconds of a check before it is asked */
    /* Called before each run; may be NULL. */
    void (*progress)(void *context, const char *launch, uint64_t run, uint64_t runs);
    void *context;
} ThreadsOptions;

/* The kernel, taken apart, with all that checks need to know of it; NULL, with a sentence. Checks do not change it. */
PtxProgram *threads_program(Arena *arena, const PtxModule *module, uint32_t entry, PtxComputes computes,
                            const char **problem);
void threads_check(PtxModule *module, uint32_t entry, const ThreadsOptions *options, Verdict *verdict);
/* Whether the launch that is given, or what all chosen ones have, fits the kernel; else a sentence in the verdict's
 * arena. */
const char *threads_launch_problem(PtxModule *module, uint32_t entry, const ThreadsOptions *options, Arena *arena);

/* What one run is shown as. */
typedef struct ThreadsShow {
    bool steps;         /* each event a line */
    bool global;        /* steps have accesses to global memory, too */
    const char *memory; /* what that buffer or variable holds at the end; NULL: nothing */
    bool trace;         /* a trace of the run */
    Text *to;
} ThreadsShow;
/* One run: that of the trail, that of the first finding which has a witness, or the first launch in the eager order.
 * False: there is none, and *problem says why in one sentence. */
bool threads_show(PtxModule *module, uint32_t entry, const ThreadsOptions *options, const Verdict *verdict,
                  const ThreadsShow *show, Arena *arena, const char **problem);

#endif
