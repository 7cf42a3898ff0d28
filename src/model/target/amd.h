/* What an op becomes on an AMD target: its form there, the wait counters it counts on, and by how much.
 *
 * A wave that issues a memory operation adds to a counter, which goes down again as operations complete; waiting is
 * for "at most N left". Nothing names a single operation, so what a wait covers follows from how many others were
 * issued after it. */
#ifndef MODEL_TARGET_AMD_H
#define MODEL_TARGET_AMD_H

#include "model/target/target.h"

typedef enum AmdClass { AMD_NOTHING /* the op needs no form of its own */, AMD_EXACT, AMD_STAGE, AMD_NONE } AmdClass;

/* From the op table's AMD column; texts point into it. */
typedef struct AmdForm {
    AmdClass class;
    Str form;   /* "s_wait_tensorcnt"; empty if there is none */
    Str remark; /* what else to know, or why there is none */
} AmdForm;

AmdForm amd_form_of(const Op *op, const Target *target);
/* "exact", "stage-level", "none"; "" for AMD_NOTHING. */
const char *amd_class_name(AmdClass class);

/* In which order things complete that were issued one after the other. Operations of one queue complete in that order;
 * those of two queues in any. */
typedef enum AmdQueue {
    QUEUE_LOAD,   /* loads; with stores, and copies to LDS, where there is no counter for those */
    QUEUE_ASYNC,  /* copies between memory and LDS */
    QUEUE_TENSOR, /* instructions of the tensor data mover */
    QUEUE_MOVES,  /* the same, counted in ops of the IR */
    QUEUE_GROUPS, /* ttg.async_commit_group: asyncmark */
    QUEUE_COUNT,
    QUEUE_NONE = QUEUE_COUNT,
} AmdQueue;

/* "vmcnt", "asynccnt" ... of that target. */
const char *amd_counter_name(AmdQueue queue, const Target *target);
/* The largest number to wait for that an instruction can hold; 0: there is no bound. */
unsigned amd_counter_limit(AmdQueue queue, const Target *target);
/* On which queue copies between memory and LDS are. */
AmdQueue amd_copy_queue(const Target *target);

/* At least `low`, at most `high` instructions. */
enum { AMD_MANY = 1000 /* this many, or more */ };
typedef struct AmdCount {
    uint16_t low, high;
} AmdCount;

/* How many instructions one wave issues for the op on each queue. Ops of NVIDIA count as what they become. */
void amd_issues(Module *module, const Op *op, const Target *target, AmdCount counts[QUEUE_COUNT]);

/* A copy between global memory and LDS: the tensor of pointers or offsets on one side, the view on the other. */
typedef struct AmdCopy {
    const Value *global, *local;
    bool store;
} AmdCopy;
bool amd_copy_of(Module *module, const Op *op, AmdCopy *copy);

/* How a copy's lanes move their bytes. The width is between the two: what memory allows is not known unless the op has
 * a `contiguity`. */
typedef struct AmdWidth {
    bool known;          /* the layouts of both sides are understood; else nothing here means anything */
    int64_t least, most; /* bytes that a lane moves at once; 0: the target has no instruction for it */
    int64_t neighbors;   /* elements that lie side by side on both sides, as far as the layouts say */
    int64_t element;     /* bytes */
    bool scattered;      /* the lanes of a wave do not write side by side */
} AmdWidth;
AmdWidth amd_width_of(Module *module, const Op *op, const Target *target);

#endif
