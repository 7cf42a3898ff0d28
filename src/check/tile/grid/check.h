/* Races in global memory between CTAs, and grids that hang: launches run side by side (machine/tile/grid/grid.h), what
 * they do to global memory goes to the engine (engine/hb/gsan.h), and what that objects to becomes findings.
 *
 * A run finds whatever is unordered in it, in whichever order it came. Only where CTAs talk to each other (locks,
 * flags, counters) does the order decide what they do: then several orders are tried. */
#ifndef CHECK_TILE_GRID_CHECK_H
#define CHECK_TILE_GRID_CHECK_H

#include "check/tile/run/trail.h"
#include "engine/hb/gsan.h"
#include "machine/tile/grid/launch_sequence.h"
#include "model/target/release.h"

/* One kernel, launched once on every device (or on the one that its launch says). */
typedef struct GlobalKernel {
    Module *module;
    const Op *function;
    const Launch *launch;
    Verdict *verdict; /* gets what is found at places of this kernel */
} GlobalKernel;

/* When one CTA of each class is run instead of all: in large launches. The others are for tests. */
typedef enum ClassesMode { CLASSES_LARGE, CLASSES_NEVER, CLASSES_ALWAYS } ClassesMode;

typedef struct GlobalOptions {
    uint32_t devices;   /* 0: 1 */
    GsanOptions engine; /* without `devices` */
    bool order_log;     /* what launches before it do is looked at elsewhere */
    uint32_t resident;  /* clusters of a device that are there at once; 0: all */
    uint32_t schedules; /* how many are tried where CTAs talk to each other; 0: 6 */
    uint64_t seed;
    ClassesMode classes;
    ReleaseSet releases;     /* of Triton that lower the IR; 0: those that launches name, or the IR shows */
    bool uniform;            /* programs that write to one place write the same (program_is_uniform) */
    uint64_t budget;         /* instructions of one run; 0: 400 million */
    const GridTrail *replay; /* this run and no other; NULL: none */
    Text *steps;             /* gets every access to global memory of the (first) run, one a line; NULL: not wanted */
    const char *schedule;    /* what that run is called there */
    /* Called now and then with what is going on; may be NULL. */
    void (*progress)(void *context, const char *launch, uint64_t ended, uint64_t clusters);
    void *context;
} GlobalOptions;

typedef struct GlobalCheck GlobalCheck;

/* One that has looked at nothing yet. Memory: `arena`, which must be able to jump. */
GlobalCheck *global_check_new(Arena *arena);
/* Frees what is not in the arena, however far it came. NULL is nothing. */
void global_check_free(GlobalCheck *check);
/* Runs the kernels in a row. The arenas of the modules must be able to jump, too. */
void global_check_run(GlobalCheck *check, const GlobalKernel *kernels, size_t count, const GlobalOptions *options);
enum { CHOSEN_CHECKS = 3 };
/* A kernel whose launch is not given, or not whole (its `launch` is NULL): memory is chosen for it (choose_memory.h),
 * and what goes wrong is a finding only if it does so however numbers are chosen; else the kernel is incomplete for it.
 * `bases`: launches that make it run (choose.h). `given`: what of them was given; its grid is 0 where none was.
 * `checks` has those that are not freed if memory runs out. `beside`: the check of a launch that was given; then only
 * accesses count that it has not made. NULL: there is none. */
void global_check_chosen(Arena *arena, const GlobalKernel *kernel, const Launch *bases, size_t count,
                         const Launch *given, const GlobalOptions *options, const GlobalCheck *beside,
                         GlobalCheck *checks[CHOSEN_CHECKS]);
/* Whether it has run one kernel, and come to all its accesses that could race. */
bool global_check_reached_all(const GlobalCheck *run);
/* Whether it hangs because of what is in global memory: then no cluster says more by itself. */
bool global_check_hangs(const GlobalCheck *run);
/* Whether it could not be run as the trail says. */
bool global_check_diverged(const GlobalCheck *run);
/* What the loads of one cluster of a kernel gave, on the first device that it was launched on; NULL: not known. */
const LoadLog *global_check_loads(const GlobalCheck *run, size_t kernel, uint64_t cluster);

#endif
