/* Graphs of the stand-in for the CUDA driver (gpu.c): nodes in the order in which they were added, which is one in
 * which they can be run. */
#include "gpu.h"

#include <stdlib.h>
#include <string.h>

struct Node {
    int type;
    Graph *graph;
    const Node *from; /* that it was cloned from */
    Node **before;
    size_t before_count, behind_count;
    bool off;
    unsigned char port; /* of those before it: 1 programmatic, 2 launch order */
    union {
        KernelNode kernel;
        SlicesNode slices;
        SetNode set;
        HostNode host;
        Handle event;
        struct Allocation *memory; /* that it allocates or frees */
        struct {
            struct Condition *condition;
            int kind; /* 0: if, 1: while, 2: switch */
        };
    };
    unsigned attributes[16][16]; /* of a kernel, 64 bytes each */
    Graph *graphs[4];            /* within it */
    size_t graph_count;
};

/* Of a graph: its address stays, and it is there from the launch that allocates it to that which frees it. */
typedef struct Allocation {
    struct Allocation *next;
    Address at;
    bool there;
} Allocation;
static Allocation *allocations;

/* What a kernel would set. */
typedef struct Condition {
    unsigned value;
} Condition;

struct Graph {
    Node **nodes;
    size_t count;
    const Graph *from;
    bool destroyed;
};

static int graph_launches;

/* How many graphs were launched as such. */
EXPORTED int standin_graphs(void) {
    return graph_launches;
}

Graph *graph_new(void) {
    return calloc(1, sizeof(Graph));
}

void node_dependent(Node *node) {
    node->port = 1;
}

bool node_has_behind(const Node *node) {
    return node->behind_count > 0;
}

/* ---- What nodes do ------------------------------------------------------------------------------- */

static void *copy_of(const void *what, size_t bytes) {
    void *copy = malloc(bytes + 1);
    memcpy(copy, what, bytes);
    return copy;
}

/* Parameters belong to the node. */
static void take_kernel(Node *node, const KernelNode *kernel) {
    size_t offset, bytes, count = 0;
    Handle function = kernel->function ? kernel->function : kernel->kernel;
    node->kernel = *kernel;
    node->kernel.function = kernel_function(function);
    if (!kernel->parameters) {
        void **extra = kernel->extra;
        size_t size = 0;
        void *block = NULL;
        for (; extra && *extra; extra += 2)
            *(*extra == (void *)1 ? &block : (void **)&size) = *extra == (void *)1 ? extra[1] : *(void **)extra[1];
        if (!block)
            return;
        void **made = calloc(5, sizeof *made);
        made[0] = (void *)1;
        made[1] = copy_of(block, size);
        made[2] = (void *)2;
        made[3] = copy_of(&size, sizeof size);
        node->kernel.extra = made;
        return;
    }
    while (function_parameter_info(function, count, &offset, &bytes) == SUCCESS)
        count++;
    node->kernel.parameters = calloc(count + 1, sizeof(void *));
    for (size_t i = 0; i < count; i++) {
        function_parameter_info(function, i, &offset, &bytes);
        node->kernel.parameters[i] = copy_of(kernel->parameters[i], bytes);
    }
}

static void take(Node *node, const void *what) {
    if (node->type == NODE_KERNEL)
        take_kernel(node, what);
    else if (node->type == NODE_COPY)
        node->slices = *(const SlicesNode *)what;
    else if (node->type == NODE_SET)
        node->set = *(const SetNode *)what;
    else if (node->type == NODE_HOST)
        node->host = *(const HostNode *)what;
    else if (node->type == NODE_WAIT || node->type == NODE_RECORD || node->type == NODE_ALLOCATE ||
             node->type == NODE_FREE)
        node->event = *(const Handle *)what;
}

static Graph *clone_of(const Graph *from);

Node *graph_add(Graph *graph, int type, const void *what, Node *const *before, size_t count) {
    Node *node = calloc(1, sizeof *node);
    *node = (Node){.type = type, .graph = graph, .before_count = count};
    node->before = copy_of(before ? (const void *)before : "", count * sizeof *before);
    for (size_t i = 0; i < count; i++)
        before[i]->behind_count++;
    if (type == NODE_CHILD)
        node->graphs[node->graph_count++] = clone_of(what);
    else
        take(node, what);
    graph->nodes = realloc(graph->nodes, (graph->count + 1) * sizeof *graph->nodes);
    return graph->nodes[graph->count++] = node;
}

static Node *duplicate(const Graph *clone, const Node *of) {
    Node *found = NULL;
    for (size_t i = 0; i < clone->count && !found; i++) {
        found = clone->nodes[i]->from == of ? clone->nodes[i] : NULL;
        for (size_t k = 0; k < clone->nodes[i]->graph_count && !found; k++)
            found = duplicate(clone->nodes[i]->graphs[k], of);
    }
    return found;
}

static Graph *clone_of(const Graph *from) {
    Graph *clone = graph_new();
    clone->from = from;
    for (size_t i = 0; i < from->count; i++) {
        const Node *node = from->nodes[i];
        Node **before = calloc(node->before_count + 1, sizeof *before);
        for (size_t k = 0; k < node->before_count; k++)
            before[k] = duplicate(clone, node->before[k]);
        Node *made = graph_add(clone, node->type == NODE_CHILD ? NODE_EMPTY : node->type, &node->kernel, before,
                               node->before_count);
        made->type = node->type;
        made->from = node;
        made->port = node->port;
        if (node->type == NODE_CONDITIONAL) {
            made->condition = node->condition;
            made->kind = node->kind;
        }
        memcpy(made->attributes, node->attributes, sizeof made->attributes);
        for (; made->graph_count < node->graph_count; made->graph_count++)
            made->graphs[made->graph_count] = clone_of(node->graphs[made->graph_count]);
        free(before);
    }
    return clone;
}

/* ---- Making them --------------------------------------------------------------------------------- */

EXPORTED Result cuGraphCreate(Handle *graph, unsigned flags) {
    *graph = graph_new();
    return flags ? INVALID : SUCCESS;
}

/* Its nodes are gone. */
EXPORTED Result cuGraphDestroy(Handle of) {
    Graph *graph = of;
    if (!graph || graph->destroyed)
        return INVALID;
    graph->destroyed = true;
    for (size_t i = 0; i < graph->count; i++)
        for (size_t k = 0; k < graph->nodes[i]->graph_count; k++)
            graph->nodes[i]->graphs[k]->destroyed = true;
    return SUCCESS;
}

typedef struct AllocateNode { /* CUDA_MEM_ALLOC_NODE_PARAMS */
    char pool[88];
    const void *access;
    size_t access_count, bytes;
    Address at;
} AllocateNode;

EXPORTED Result cuGraphAddMemAllocNode(Handle *node, Handle graph, const Handle *before, size_t count,
                                       AllocateNode *with) {
    Allocation *memory = calloc(1, sizeof *memory);
    Result result = cuMemAlloc_v2(&memory->at, with->bytes);
    if (result)
        return result;
    with->at = memory->at;
    memory->next = allocations;
    allocations = memory;
    *node = graph_add(graph, NODE_ALLOCATE, &memory, (Node *const *)before, count);
    return SUCCESS;
}

EXPORTED Result cuGraphAddMemFreeNode(Handle *node, Handle graph, const Handle *before, size_t count, Address at) {
    Allocation *memory = allocations;
    while (memory && memory->at != at)
        memory = memory->next;
    if (!memory)
        return INVALID;
    *node = graph_add(graph, NODE_FREE, &memory, (Node *const *)before, count);
    return SUCCESS;
}

EXPORTED Result cuGraphConditionalHandleCreate(uint64_t *handle, Handle graph, Handle context, unsigned value,
                                               unsigned flags) {
    Condition *condition = calloc(1, sizeof *condition);
    (void)graph, (void)context, (void)flags;
    condition->value = value;
    *handle = (uintptr_t)condition;
    return SUCCESS;
}

/* In place of cudaGraphSetConditional in a kernel. */
EXPORTED void standin_condition(uint64_t handle, unsigned value) {
    ((Condition *)(uintptr_t)handle)->value = value;
}

#define ADD(name, type, types, what)                                                              \
    EXPORTED Result name(Handle *node, Handle graph, const Handle *before, size_t count, types) { \
        *node = graph_add(graph, type, what, (Node *const *)before, count);                       \
        return SUCCESS;                                                                           \
    }
#define WITH_CONTEXT const void *with, Handle context __attribute__((unused))
ADD(cuGraphAddKernelNode_v2, NODE_KERNEL, const void *with, with)
ADD(cuGraphAddMemcpyNode, NODE_COPY, WITH_CONTEXT, with)
ADD(cuGraphAddMemsetNode, NODE_SET, WITH_CONTEXT, with)
ADD(cuGraphAddHostNode, NODE_HOST, const void *with, with)
ADD(cuGraphAddChildGraphNode, NODE_CHILD, const void *with, with)
ADD(cuGraphAddEventRecordNode, NODE_RECORD, Handle with, &with)
ADD(cuGraphAddEventWaitNode, NODE_WAIT, Handle with, &with)

EXPORTED Result cuGraphAddEmptyNode(Handle *node, Handle graph, const Handle *before, size_t count) {
    *node = graph_add(graph, NODE_EMPTY, NULL, (Node *const *)before, count);
    return SUCCESS;
}

typedef struct AnyNode { /* CUgraphNodeParams */
    int type, reserved[3];
    union {
        KernelNode kernel;
        struct {
            uint64_t handle;
            int type;
            unsigned count;
            Graph **graphs;
        } conditional;
        long long bytes[29];
    };
    long long rest;
} AnyNode;

EXPORTED Result cuGraphAddNode_v2(Handle *to, Handle graph, const Handle *before, const void *edges, size_t count,
                                  AnyNode *any) {
    if (any->type != NODE_KERNEL && any->type != NODE_CONDITIONAL)
        return NOT_SUPPORTED;
    Node *node = graph_add(graph, any->type, &any->kernel, (Node *const *)before, count);
    *to = node;
    if (edges && count)
        node->port = *(const unsigned char *)edges;
    if (any->type == NODE_CONDITIONAL) {
        node->condition = (Condition *)(uintptr_t)any->conditional.handle;
        node->kind = any->conditional.type;
        node->graph_count = any->conditional.count;
        for (size_t i = 0; i < node->graph_count; i++)
            node->graphs[i] = graph_new();
        any->conditional.graphs = node->graphs;
    }
    return SUCCESS;
}

/* ---- Asking and changing them -------------------------------------------------------------------- */

EXPORTED Result cuGraphGetNodes(Handle of, Handle *nodes, size_t *count) {
    const Graph *graph = of;
    if (getenv("STANDIN_UNTOLD"))
        return NOT_SUPPORTED;
    for (size_t i = 0; nodes && i < graph->count && i < *count; i++)
        nodes[i] = graph->nodes[i];
    *count = graph->count;
    return SUCCESS;
}

EXPORTED Result cuGraphGetEdges_v2(Handle of, Handle *from, Handle *to, void *data, size_t *count) {
    const Graph *graph = of;
    size_t edges = 0;
    for (size_t i = 0; i < graph->count; i++)
        for (size_t k = 0; k < graph->nodes[i]->before_count; k++, edges++)
            if (from && edges < *count) {
                from[edges] = graph->nodes[i]->before[k];
                to[edges] = graph->nodes[i];
                memset((char *)data + 8 * edges, 0, 8);
                if (graph->nodes[i]->port) { /* and that it is programmatic */
                    ((unsigned char *)data)[8 * edges] = graph->nodes[i]->port;
                    ((unsigned char *)data)[8 * edges + 2] = 1;
                }
            }
    *count = edges;
    return SUCCESS;
}

EXPORTED Result cuGraphNodeGetType(Handle node, int *type) {
    *type = ((Node *)node)->type;
    return SUCCESS;
}

EXPORTED Result cuGraphChildGraphNodeGetGraph(Handle node, Handle *graph) {
    *graph = ((Node *)node)->graphs[0];
    return SUCCESS;
}

static bool can_be_cloned(const Graph *graph) {
    for (size_t i = 0; i < graph->count; i++)
        if (graph->nodes[i]->type == NODE_CONDITIONAL || graph->nodes[i]->type == NODE_ALLOCATE ||
            graph->nodes[i]->type == NODE_FREE)
            return false;
    return true;
}

EXPORTED Result cuGraphClone(Handle *clone, Handle graph) {
    if (!can_be_cloned(graph))
        return NOT_SUPPORTED;
    *clone = clone_of(graph);
    return SUCCESS;
}

EXPORTED Result cuGraphNodeFindInClone(Handle *node, Handle of, Handle clone) {
    *node = duplicate(clone, of);
    return *node ? SUCCESS : INVALID;
}

#define FIELD_OF(get, set, kind, field)                  \
    EXPORTED Result get(Handle node, kind *to) {         \
        *to = ((Node *)node)->field;                     \
        return SUCCESS;                                  \
    }                                                    \
    EXPORTED Result set(Handle node, const kind *from) { \
        take(node, from);                                \
        return SUCCESS;                                  \
    }
FIELD_OF(cuGraphKernelNodeGetParams_v2, cuGraphKernelNodeSetParams_v2, KernelNode, kernel)
FIELD_OF(cuGraphMemcpyNodeGetParams, cuGraphMemcpyNodeSetParams, SlicesNode, slices)
FIELD_OF(cuGraphMemsetNodeGetParams, cuGraphMemsetNodeSetParams, SetNode, set)
FIELD_OF(cuGraphHostNodeGetParams, cuGraphHostNodeSetParams, HostNode, host)

EXPORTED Result cuGraphEventRecordNodeGetEvent(Handle node, Handle *event) {
    *event = ((Node *)node)->event;
    return SUCCESS;
}

EXPORTED Result cuGraphEventWaitNodeGetEvent(Handle node, Handle *event) {
    *event = ((Node *)node)->event;
    return SUCCESS;
}

EXPORTED Result cuGraphKernelNodeGetAttribute(Handle node, int id, void *value) {
    if (id < 0 || id >= 16)
        return INVALID;
    memcpy(value, ((Node *)node)->attributes[id], 64);
    return SUCCESS;
}

EXPORTED Result cuGraphKernelNodeSetAttribute(Handle node, int id, const void *value) {
    if (id < 0 || id >= 16)
        return INVALID;
    memcpy(((Node *)node)->attributes[id], value, 64);
    return SUCCESS;
}

/* ---- Executable graphs --------------------------------------------------------------------------- */

typedef struct Exec {
    Graph *graph;
} Exec;

static Result instantiate(Handle *to, Handle graph) {
    Exec *exec = calloc(1, sizeof *exec);
    exec->graph = clone_of(graph);
    *to = exec;
    return SUCCESS;
}

EXPORTED Result cuGraphInstantiateWithFlags(Handle *to, Handle graph, unsigned long long flags) {
    return flags & ~15ull ? INVALID : instantiate(to, graph);
}

EXPORTED Result cuGraphInstantiate_v2(Handle *to, Handle graph, Handle *wrong, char *log, size_t bytes) {
    (void)wrong, (void)log, (void)bytes;
    return instantiate(to, graph);
}

EXPORTED Result cuGraphInstantiateWithParams(Handle *to, Handle graph, uint64_t *with) {
    return *with & ~15ull ? INVALID : instantiate(to, graph);
}

EXPORTED Result cuGraphExecDestroy(Handle exec) {
    free(exec);
    return SUCCESS;
}

EXPORTED Result cuGraphExecUpdate_v2(Handle of, Handle graph, void *why) {
    Exec *exec = of;
    (void)why;
    if (exec->graph->count != ((Graph *)graph)->count)
        return 910; /* CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE */
    const Graph *before = exec->graph;
    exec->graph = clone_of(graph);
    for (size_t i = 0; i < before->count; i++) /* nodes go by the names of the first graph */
        exec->graph->nodes[i]->from = before->nodes[i]->from;
    return SUCCESS;
}

static Result change(Handle exec, Handle node, const void *with) {
    Node *in = ((Node *)node)->graph->destroyed ? NULL : duplicate(((Exec *)exec)->graph, node);
    if (in)
        take(in, with);
    return in ? SUCCESS : INVALID;
}

EXPORTED Result cuGraphExecKernelNodeSetParams_v2(Handle exec, Handle node, const void *with) {
    return change(exec, node, with);
}

EXPORTED Result cuGraphExecMemcpyNodeSetParams(Handle exec, Handle node, const void *with, Handle context) {
    (void)context;
    return change(exec, node, with);
}

EXPORTED Result cuGraphNodeSetEnabled(Handle exec, Handle node, unsigned on) {
    Node *in = duplicate(((Exec *)exec)->graph, node);
    if (in)
        in->off = !on;
    return in ? SUCCESS : INVALID;
}

static Result run_graph(const Graph *graph);

static Result run_condition(const Node *node) {
    unsigned *value = &node->condition->value;
    size_t which = node->kind == 2 ? *value : !*value;
    Result result = SUCCESS;
    if (node->kind == 1)
        for (; *value && !result; --*value)
            result = run_graph(node->graphs[0]);
    else if (which < node->graph_count)
        result = run_graph(node->graphs[which]);
    return result;
}

static Result run_memory(const Node *node) {
    if (node->memory->there == (node->type == NODE_ALLOCATE))
        return INVALID;
    node->memory->there = !node->memory->there;
    return SUCCESS;
}

static Result run_graph(const Graph *graph) {
    Result result = SUCCESS;
    for (size_t i = 0; i < graph->count && !result; i++) {
        const Node *node = graph->nodes[i];
        if (node->off)
            continue;
        if (node->type == NODE_KERNEL)
            result = kernel_run(&node->kernel);
        else if (node->type == NODE_COPY)
            result = slices_run(&node->slices);
        else if (node->type == NODE_SET)
            result = set_run(&node->set);
        else if (node->type == NODE_HOST)
            node->host.call(node->host.with);
        else if (node->type == NODE_ALLOCATE || node->type == NODE_FREE)
            result = run_memory(node);
        else if (node->type == NODE_CONDITIONAL)
            result = run_condition(node);
        for (size_t k = 0; node->type == NODE_CHILD && k < node->graph_count && !result; k++)
            result = run_graph(node->graphs[k]);
    }
    return result;
}

static Result launch(Handle exec, Handle stream) {
    Capture *capture;
    Result result = stream_enter(stream, &capture);
    if (result)
        return result;
    if (capture)
        return capture_add(capture, stream, NODE_CHILD, ((Exec *)exec)->graph);
    graph_launches++;
    return run_graph(((Exec *)exec)->graph);
}

EXPORTED Result cuGraphLaunch(Handle exec, Handle stream) {
    return launch(exec, stream);
}

EXPORTED Result cuGraphLaunch_ptsz(Handle exec, Handle stream) {
    return launch(exec, stream ? stream : (Handle)2);
}
