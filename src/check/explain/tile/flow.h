/* What led to a finding: the last events of the run that shows it, as the finding's steps. */
#ifndef CHECK_EXPLAIN_TILE_FLOW_H
#define CHECK_EXPLAIN_TILE_FLOW_H

#include "check/explain/tile/spans.h"
#include "machine/tile/step/machine.h"

/* How many events are kept; and told of a run that ended badly. */
enum { FLOW_MOST = 128, FLOW_END = 32 };

/* Of an event, what is needed to tell of it later. */
typedef struct FlowEvent {
    EventKind kind;
    uint32_t agent, pc, barrier;
    Helper helper;
    const CompiledEffect *effect;
    Word view;
} FlowEvent;

/* The last events of a run. An observer. */
typedef struct TileFlow {
    FlowEvent last[FLOW_MOST];
    uint64_t count; /* of all so far */
} TileFlow;

/* Some of them, the oldest first. */
typedef struct FlowPart {
    const FlowEvent *events;
    uint32_t count;
} FlowPart;

void flow_observe(void *flow, const Event *event);
/* From the last access of that agent at that instruction to that span (UINT32_MAX: to any) up to now; nothing if it is
 * not among those that are kept. */
FlowPart flow_since(const TileFlow *flow, uint32_t agent, uint32_t pc, Spans *spans, uint32_t span, Arena *arena);
/* Makes them the finding's steps. */
void flow_report(const Machine *machine, FlowPart part, Verdict *verdict, Finding *finding);
/* The same of a run that ended badly: the last step is where the finding is reported, where it never went on, say. */
void flow_report_end(const Machine *machine, const TileFlow *flow, Verdict *verdict, Finding *finding);

#endif
