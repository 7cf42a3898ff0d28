/* One run of one cluster by itself: to be looked at, drawn, or repeated from a trail. */
#ifndef CHECK_TILE_RUN_RERUN_H
#define CHECK_TILE_RUN_RERUN_H

#include "machine/tile/schedule/history.h"
#include "machine/tile/schedule/schedule.h"

/* Steps of a run, unless something else is said. */
enum { RERUN_BUDGET = 4 * 1000 * 1000 };

/* What a load of an agent found in memory that other CTAs write, too. */
typedef struct GivenLoad {
    uint32_t agent, ir_line;
    int64_t value;
} GivenLoad;

/* One run, to be looked at or repeated: this launch, this cluster, this schedule. */
typedef struct Rerun {
    const Launch *launch;
    uint64_t cluster;
    unsigned havoc_choice; /* how unknown values were chosen */
    bool out_of_order;
    bool global; /* accesses to global memory are told, too */
    Schedule schedule;
    uint64_t budget;        /* 0: 4 million */
    const GivenLoad *loads; /* in the order of each agent */
    size_t load_count;
    Text *state;         /* where the race engine's tables go, if it watches the run; NULL: nowhere */
    uint64_t state_step; /* after which step; UINT64_MAX: at the end */
} Rerun;

/* Compiles and runs it; `attach` (may be NULL) is called with the machine before the run, to set an observer. Returns
 * how it ended; *machine is the machine in its last state (NULL: the kernel could not be compiled). Explaining how it
 * ended is the caller's, since that uses up the state. */
RunEnd check_rerun(Module *module, const Op *function, const Rerun *rerun,
                   void (*attach)(void *context, Machine *machine), void *context, Verdict *verdict, Machine **machine);

/* Runs what a trail says, whose name is `name`, and explains how that ended. Returns a sentence if the trail does not
 * fit the kernel, else NULL. */
const char *check_replay(Module *module, const Op *function, const Rerun *rerun, const char *name, Verdict *verdict);

/* The finding of how a run ended (blocked.h); NULL: there is nothing to tell, or an op that is not known may be why,
 * and the verdict is incomplete for it. */
Finding *end_explain(Machine *machine, const History *history, RunEnd end, Verdict *verdict);
/* The machine stopped at something that it does not know, which is said to be not looked at. */
void unknown_explain(const Machine *machine, Verdict *verdict);

#endif
