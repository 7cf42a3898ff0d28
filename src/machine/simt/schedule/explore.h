/* Every order in which a small kernel can run, and everything that its reads may give.
 *
 * Depth first: a run goes on until there is a choice (who makes the next visible step, which operation in flight
 * lands, which write a read reads), takes the first, and is run again from its start for each other one. Orders that
 * differ only in steps that have nothing to do with one another are one (sleep sets). What a read may give is the
 * observer's to say: the machine itself always reads what was written last.
 *
 * Covered is every execution in which no read sees a write that comes after it in program order and reads-from: a read
 * gives what some step before it has written. Loops: a thread that reads the same place again in the same instruction
 * reads nothing older than before, and one that would only see the same again waits until something changes. */
#ifndef MACHINE_SIMT_SCHEDULE_EXPLORE_H
#define MACHINE_SIMT_SCHEDULE_EXPLORE_H

#include "machine/simt/schedule/schedule.h"

/* In a trail: the read that comes next reads this write. */
#define TRAIL_READ UINT32_C(0x40000000)

/* What reads may give. */
typedef struct PtxReads {
    void *context;
    /* Writes, by their numbers in the run from 1 on (0: what was there before), that a read of that lane may give: the
     * newest first, at most `most`. NULL: reads give what was written last. */
    uint32_t (*sources)(void *context, const PtxEvent *event, uint32_t lane, uint32_t *writes, uint32_t most);
    void (*choose)(void *context, uint32_t write); /* the event that comes next reads that one */
    uint32_t (*writes)(void *context);             /* how many writes there were so far */
} PtxReads;

/* The observer of the runs. */
typedef struct PtxExplorer {
    void *context;
    void (*start)(void *context); /* a run begins */
    PtxObserve *observe;          /* its events; the observer is `context` */
    PtxReads reads;
    /* A run has ended; the trail of it can be replayed. True: that is enough. */
    bool (*end)(void *context, PtxEnd end, const Trail *trail);
    bool every; /* orders that come to the same, too: to test that nothing else is left out */
} PtxExplorer;

typedef struct PtxExplored {
    uint64_t runs;    /* to their end */
    uint64_t pruned;  /* that were left because another one was the same */
    bool complete;    /* there is no other order */
    const char *left; /* why not, in a clause: "more than 100000 runs" */
} PtxExplored;

/* At most so many runs, those that were left among them. */
void ptx_explore(PtxMachine *machine, const PtxExplorer *explorer, uint64_t most, PtxExplored *explored);
/* One run along a trail of it; behind its end first choices. */
PtxEnd ptx_explore_replay(PtxMachine *machine, const PtxExplorer *explorer, const Trail *trail);

#endif
