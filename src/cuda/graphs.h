/* Graphs of operations: captured from streams, or built node by node; one that can be launched is a copy of its own. */
#ifndef CUDA_GRAPHS_H
#define CUDA_GRAPHS_H

#include "cuda/runtime.h"

typedef enum NodeKind { /* cudaGraphNodeType */
                        NODE_KERNEL = 0,
                        NODE_COPY = 1,
                        NODE_FILL = 2,
                        NODE_HOST = 3,
                        NODE_GRAPH = 4,
                        NODE_EMPTY = 5,
                        NODE_WAIT = 6,
                        NODE_RECORD = 7,
                        NODE_ALLOCATE = 10,
                        NODE_FREE = 11,
} NodeKind;

typedef struct Graph Graph;
typedef struct Node Node;
typedef struct HostNode { /* cudaHostNodeParams */
    void *function, *data;
} HostNode;
typedef struct FillNode { /* cudaMemsetParams */
    void *to;
    size_t pitch;
    unsigned value, element;
    size_t width, height; /* width: elements */
} FillNode;
typedef struct KernelNode { /* cudaKernelNodeParams */
    void *function;
    Dim3 grid, block;
    unsigned shared;
    void **parameters, **extra;
} KernelNode;

typedef struct UpdateResult { /* cudaGraphExecUpdateResultInfo */
    int result;
    void *node, *from;
} UpdateResult;

struct Node {
    Node *next;
    Graph *graph;
    NodeKind kind;
    const Node *origin; /* of a copy: the node that it is of */
    Node **from;        /* nodes that it comes behind */
    size_t from_count;
    bool off;           /* it does nothing */
    const void *caller; /* where the program made it */
    /* By its kind: */
    CudaLaunch launch; /* its parameters are the node's */
    KernelNode as_given;
    Copy copy;
    FillNode fill;
    HostNode host;
    Graph *child;
    Event *event;
    void *memory;
    size_t bytes;
    size_t place; /* among the nodes of its graph, while that is held against another */
    /* While it is launched: */
    unsigned mark;
    uint64_t lane, event_number;
};

struct Graph {
    Graph *next;
    bool executable; /* it is a copy that can be launched */
    bool part;       /* it is that of a node */
    Node *nodes, **end;
    size_t count;
    unsigned long long flags;
    uint64_t *lanes; /* numbers of streams in the log */
    size_t lane_count;
};

Graph *graph_new(void);
Graph *graph_of(const void *handle, bool executable); /* NULL: there is none such */
void graph_destroy(Graph *graph);
Graph *graph_copy_of(const Graph *graph);
Node *node_of(const void *handle); /* of any graph that lives */
Node *node_new(Graph *graph, NodeKind kind, Node *const *from, size_t count);
void node_destroy(Node *node);
bool node_depends(Node *node, Node *const *from, size_t count); /* false: there is not enough memory */
Error node_set_kernel(Node *node, const KernelNode *given);
/* The node of a copy that is of that one; NULL: there is none. */
Node *node_in(const Graph *copy, const Node *of);
Error graph_run(Graph *graph, Stream *stream);

#endif
