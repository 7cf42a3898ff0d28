/* Places and names that those who tell of a run have in common. */
#ifndef CHECK_EXPLAIN_PLACE_H
#define CHECK_EXPLAIN_PLACE_H

#include "ir/location.h"
#include "ir/op.h"
#include "machine/tile/step/machine.h"

/* A place of a finding: what `agent` does at that instruction. */
void place_set(const Machine *machine, FindingPlace *place, const char *role, const char *agent, uint32_t pc,
               Verdict *verdict);

/* Where an op stands, in the IR and in the kernel's own source; role and agent are left "". */
void op_place_set(Module *module, const Op *op, FindingPlace *place, Verdict *verdict);

/* The verdict is incomplete because of an op. */
void op_incomplete(Module *module, const Op *op, const char *reason, Verdict *verdict);
/* ... since it is not known what it does, and it may prevent what was found, which is no finding then. */
void op_may_prevent(Module *module, const Op *op, const Finding *finding, Verdict *verdict);

/* ... since what was found comes of data that Weir made up for what the op loads, and is no finding then. */
void op_havoc_dependent(const Program *program, const Op *op, const Finding *finding, Verdict *verdict);

/* What an allocation is called in a message (model/names). */
const char *name_text(Module *module, const Op *allocation, Verdict *verdict);
/* The line of the op of an instruction. */
uint32_t line_at(const Machine *machine, uint32_t pc);
/* The same in words: "IR line 41". */
const char *ir_line_text(const Machine *machine, uint32_t pc, Verdict *verdict);
/* "ttng.wait_barrier @24 (kernel.py:19)" */
void op_place(const Machine *machine, const Op *op, Text *to);
/* What a blocked agent waits for: "%full[1], parity 0", "named barrier 9", "the partitions". */
void wait_name(const Machine *machine, const Agent *agent, Text *to);
/* Of the allocations that share the storage, the one that starts last before the place; NULL if none does. */
const Allocation *allocation_at(const Allocations *allocations, uint32_t storage, int64_t place);
/* "%ring at byte 16384"; "global memory" for what is no view. */
void access_name(const Machine *machine, const CompiledEffect *effect, Word view, Text *to);

/* Who does it: an access is reported as that of the agent that makes it; all else happens in the agent's own time, or
 * when it completes.
 */
Helper event_helper(const Event *event);

/* Steps of the schedule, counted from what an observer sees: those of agents are their ticks, those of asynchronous
 * operations the events that end them, unless they complete at once and so belong to the step that issues them. */
typedef struct StepCount {
    uint64_t completions;
} StepCount;
/* The number of the step that the event belongs to, from 1; 0 before the first. To be asked once an event. */
uint64_t step_of(StepCount *count, const Machine *machine, const Event *event);

#endif
