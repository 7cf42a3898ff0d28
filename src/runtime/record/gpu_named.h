/* Operations that the program's own language names: PyTorch's operators and the launches of Triton, which python/weir
 * writes into the order log with what they access (gpu_log.h). What is launched or copied while a thread is in such an
 * operation belongs to it, and need not be known by itself. What is captured is kept with its graph, and is written at
 * each launch of that. */
#ifndef RUNTIME_RECORD_GPU_NAMED_H
#define RUNTIME_RECORD_GPU_NAMED_H

#include "runtime/record/gpu_order.h"

typedef struct NamedGraph NamedGraph;

/* Whether operations are named in this process, and whether some was; and whether this thread is in one. */
bool named_on(void);
bool named_said(void);
/* Whether the check of the order log may look at recordings: they stay when they were checked. */
bool named_keeps(void);
bool named_here(void);
/* Until `leaves`, what this thread does belongs to an operation that is named. */
void named_enter(void);
void named_leave(void);

/* What this thread launches now, and that it is recorded. */
void named_launch(void);
void named_recorded(const GpuOrder *order, uint64_t number);

/* A capture begins in the stream; it ends, with that graph (NULL: it failed). */
void named_capture_begins(Handle stream);
void named_capture_ends(Handle stream, Handle graph);
/* In a capture: a kernel, copy or call of the host becomes a node; an event is recorded, or waited for. */
void named_node(void);
void named_event(Handle event, Handle stream, bool waits);
void named_outside(void); /* ... an event of others, at each launch */
/* The program destroys a graph: its handle may be another one's. */
void named_graph_gone(Handle graph);

/* What was captured into the graph, for an executable graph that is made of it; NULL: nothing is known of it. */
NamedGraph *named_graph(Handle graph);
void named_drop(NamedGraph *graph);
/* Whether all of its nodes are named: there are `nodes` of them. */
bool named_whole(const NamedGraph *graph, uint64_t nodes);
/* The graph was launched in the stream. `whole`: as above. */
void named_launched(NamedGraph *graph, OrderStream stream, bool whole);

#endif
