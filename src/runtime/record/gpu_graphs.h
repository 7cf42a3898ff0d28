/* Graphs of the program (mode record). A graph stays as the program made it, and its kernels are not recorded when it
 * is launched. While launches of it are to be recorded, its nodes are issued in its place: kernels as any launch, the
 * others each as a graph of its own, in streams that depend on each other as the nodes do (gpu_graph_plan.c,
 * gpu_graph_issue.c). Then it is launched as it is, and counts as launches do that are equal to recorded ones.
 *
 * Nodes that allocate memory, that signal or wait for something outside, and conditional nodes can only be run by their
 * graph. It is launched itself then, with the kernels that record in its kernel nodes, which get those of the program
 * back behind that launch: in place. The nodes are those of the program's graph, which is kept for that if the program
 * destroys it.
 *
 * What an executable graph does is known from a clone of the graph that it was made of, in which its nodes are changed
 * as the program changes them. Where that cannot be had, or its nodes cannot be issued, it is launched as it is, and
 * each of its kernels is named as not looked at. */
#ifndef RUNTIME_RECORD_GPU_GRAPHS_H
#define RUNTIME_RECORD_GPU_GRAPHS_H

#include "runtime/driver.h"
#include "runtime/record/gpu_order.h"

/* CUgraphNodeType. Graphs with those behind events are recorded in place. */
enum {
    NODE_COPY = 1,
    NODE_SET = 2,
    NODE_HOST = 3,
    NODE_CHILD = 4,
    NODE_EMPTY = 5,
    NODE_WAIT_EVENT = 6,
    NODE_RECORD_EVENT = 7,
    NODE_SIGNAL_SEMAPHORE = 8,
    NODE_WAIT_SEMAPHORE = 9,
    NODE_ALLOCATE = 10,
    NODE_FREE = 11,
    NODE_MEMORY_CALLS = 12,
    NODE_CONDITIONAL = 13
};

typedef struct GraphEdge { /* CUgraphEdgeData */
    uint8_t from_port, to_port, type, reserved[5];
} GraphEdge;
enum { PORT_PROGRAMMATIC = 1, EDGE_PROGRAMMATIC = 1 };

typedef struct SetNode { /* CUDA_MEMSET_NODE_PARAMS */
    DevicePointer to;
    size_t pitch;
    uint32_t value, element;
    size_t width, height;
} SetNode;

/* Field, exported name, types of the parameters. */
#define GRAPH_DRIVER(X)                                                                                   \
    X(nodes, cuGraphGetNodes, (Handle, Handle *, size_t *))                                               \
    X(edges, cuGraphGetEdges_v2, (Handle, Handle *, Handle *, GraphEdge *, size_t *))                     \
    X(node_type, cuGraphNodeGetType, (Handle, int *))                                                     \
    X(clone, cuGraphClone, (Handle *, Handle))                                                            \
    X(in_clone, cuGraphNodeFindInClone, (Handle *, Handle, Handle))                                       \
    X(create, cuGraphCreate, (Handle *, unsigned))                                                        \
    X(destroy, cuGraphDestroy, (Handle))                                                                  \
    X(instantiate, cuGraphInstantiateWithFlags, (Handle *, Handle, unsigned long long))                   \
    X(destroy_exec, cuGraphExecDestroy, (Handle))                                                         \
    X(launch, cuGraphLaunch, (Handle, Handle))                                                            \
    X(child, cuGraphChildGraphNodeGetGraph, (Handle, Handle *))                                           \
    X(kernel, cuGraphKernelNodeGetParams_v2, (Handle, KernelNode *))                                      \
    X(attribute, cuGraphKernelNodeGetAttribute, (Handle, int, void *))                                    \
    X(copy, cuGraphMemcpyNodeGetParams, (Handle, void *))                                                 \
    X(add_copy, cuGraphAddMemcpyNode, (Handle *, Handle, const Handle *, size_t, const void *, Handle))   \
    X(set, cuGraphMemsetNodeGetParams, (Handle, SetNode *))                                               \
    X(add_set, cuGraphAddMemsetNode, (Handle *, Handle, const Handle *, size_t, const SetNode *, Handle)) \
    X(host, cuGraphHostNodeGetParams, (Handle, void *))                                                   \
    X(add_host, cuGraphAddHostNode, (Handle *, Handle, const Handle *, size_t, const void *))             \
    X(recorded_event, cuGraphEventRecordNodeGetEvent, (Handle, Handle *))                                 \
    X(waited_event, cuGraphEventWaitNodeGetEvent, (Handle, Handle *))                                     \
    X(stream_context, cuStreamGetCtx, (Handle, Handle *))

typedef struct GraphDriver {
#define FIELD(field, exported, types) Result(*field) types;
    GRAPH_DRIVER(FIELD)
#undef FIELD
} GraphDriver;

/* NULL: there is no driver, or it lacks one of them. */
const GraphDriver *graph_driver(void);

/* ---- What is done, and in which order (gpu_graph_plan.c) ----------------------------------------- */

enum { GRAPH_LANES = 16 };

typedef struct GraphStep {
    Handle node;
    int type;
    bool seldom;                /* in the body of a conditional node */
    bool loops;                 /* ... which may be run several times */
    struct GpuKernel *kernel;   /* of a kernel node; NULL: it is not known */
    uint32_t lane;              /* of the streams in which the graph is issued; 0: the program's own */
    uint32_t waits, wait_count; /* in `waits` of the plan: steps of other lanes that it waits for */
    bool dependent;             /* it may begin before the kernel before it has ended */
    bool marked;                /* others wait for it: an event is recorded behind it */
    Handle event;               /* that one */
    Handle alone;               /* an executable graph of this node alone; NULL: not made yet, or it is a call */
    Handle outside;             /* the event that a node records, or waits for */
} GraphStep;

typedef struct GraphPlan {
    GraphStep *steps; /* in an order in which they can be issued, unless there is a `why` */
    uint32_t count, *waits, wait_count, lanes;
    bool in_place;   /* only as the graph itself */
    const char *why; /* it cannot be issued: one sentence about a kernel in it */
} GraphPlan;

/* Of a graph with all that is in it; false: there is no memory, or the driver does not say. */
bool graph_plan(GraphPlan *plan, Handle graph);
void graph_plan_free(GraphPlan *plan);
/* Whether it has nodes that only the graph itself can run. */
bool graph_is_in_place(Handle graph);
/* A conditional node has these graphs; `loops`: it may run them several times. */
void graph_bodies(Handle node, const Handle *graphs, uint32_t count, bool loops);

/* ---- Issuing it (gpu_graph_issue.c) -------------------------------------------------------------- */

/* What issuing takes, kept from one launch to the next. */
typedef struct GraphLanes {
    Handle streams[GRAPH_LANES]; /* the first is not used */
    Handle ends[GRAPH_LANES];    /* events: of the beginning, and of the end of each */
} GraphLanes;

/* What tells launches of it apart from others, and with where its memory is; 0: there is nothing in it that could be
 * looked at. */
uint64_t graph_sign(const GraphPlan *plan, uint64_t *exact);
/* All that it needs is there; else *why says what is not. */
bool graph_prepare(GraphPlan *plan, GraphLanes *lanes, Handle stream, const char **why);
/* `again`: its kernels are recorded though they were before. */
Result graph_issue(const GraphPlan *plan, const GraphLanes *lanes, OrderStream stream, bool again);
/* The same in place; `go` launches the graph in `handle`. */
typedef struct GraphInPlace {
    OrderStream stream;
    Handle exec, handle;
    Result (*go)(Handle exec, Handle stream);
    bool again;
} GraphInPlace;
Result graph_issue_in_place(const GraphPlan *plan, const GraphLanes *lanes, const GraphInPlace *graph);
void graph_lanes_free(GraphLanes *lanes);
/* For gpu_order.c, of what is no kernel and is done in that stream: what it waits for; and what others may wait for. */
void graph_report_waits(const GraphStep *step, OrderStream stream);
void graph_report(const GraphStep *step, OrderStream stream);
/* In a stream of the program or of ours; gpu_order.c notes it as well. */
Result graph_mark(Handle event, OrderStream stream);
Result graph_wait(OrderStream stream, Handle event);

/* ---- Executable graphs (gpu_graphs.c) ------------------------------------------------------------ */

/* One was made of a graph; or is as that graph from now on. */
void graph_instantiated(Handle exec, Handle graph, uint64_t flags);
void graph_updated(Handle exec, Handle graph);
/* The node that stands for one of the program's, in our clone, and is about to be changed; NULL: there is none. */
Handle graph_variant(Handle exec, Handle node);
/* It was changed in a way that is not followed: from here on it is launched as it is. */
void graph_lost(Handle exec);
/* A node of a graph was changed, or is about to be destroyed: executable graphs that have it no more as it was. */
void graph_node_changed(Handle node);
/* It is about to be destroyed; the graph that has to be destroyed behind it, or NULL. */
Handle graph_destroyed(Handle exec);
/* Whether a graph that the program destroys is still needed: it is destroyed with its executable graph. */
bool graph_is_kept(Handle graph);
/* `go` is the driver's own. */
Result graph_launch(Handle exec, OrderStream stream, Result (*go)(Handle exec, Handle stream), Handle handle);
/* Launches of all that were not counted yet. */
void graph_count_all(void);

#endif
