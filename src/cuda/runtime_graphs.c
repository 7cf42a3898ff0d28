/* The CUDA runtime: graphs that are built, changed, and launched. */
#include "cuda/graphs.h"

#include <stdlib.h>
#include <string.h>

/* ---- Graphs ---- */

Error do_cudaGraphCreate(void **graph, unsigned flags) {
    if (!graph || flags)
        return CUDA_INVALID_VALUE;
    *graph = graph_new();
    return *graph ? 0 : CUDA_NO_MEMORY;
}

Error do_cudaGraphDestroy(void *handle) {
    Graph *graph = graph_of(handle, false);
    if (!graph || graph->part)
        return CUDA_INVALID_VALUE;
    graph_destroy(graph);
    return 0;
}

Error do_cudaGraphClone(void **to, void *handle) {
    const Graph *graph = graph_of(handle, false);
    if (!to || !graph)
        return CUDA_INVALID_VALUE;
    *to = graph_copy_of(graph);
    return *to ? 0 : CUDA_NO_MEMORY;
}

Error do_cudaGraphNodeFindInClone(void **to, void *node, void *handle) {
    const Graph *graph = graph_of(handle, false);
    if (!to || !graph || !node_of(node))
        return CUDA_INVALID_VALUE;
    *to = node_in(graph, node);
    return *to ? 0 : CUDA_INVALID_VALUE;
}

/* ---- Nodes ---- */

/* A node of the graph behind others; NULL, with an error. */
static Node *add(void **to, void *handle, NodeKind kind, void *const *from, size_t count, Error *error) {
    Graph *graph = graph_of(handle, false);
    *error = CUDA_INVALID_VALUE;
    if (!to || !graph || (count && !from))
        return NULL;
    for (size_t i = 0; i < count; i++) {
        const Node *node = node_of(from[i]);
        if (!node || node->graph != graph)
            return NULL;
    }
    Node *node = node_new(graph, kind, (Node *const *)from, count);
    *error = node ? 0 : CUDA_NO_MEMORY;
    *to = node;
    return node;
}

/* What could not be given what it needs is no node. */
static Error keep(Node *node, Error error) {
    if (error)
        node_destroy(node);
    return error;
}

static Node *node_as(void *handle, NodeKind kind) {
    Node *node = node_of(handle);
    return node && node->kind == kind ? node : NULL;
}

/* The node of an executable graph that stands for one of the graph that it was made of. */
static Node *node_of_exec(void *exec, void *handle, NodeKind kind) {
    const Graph *graph = graph_of(exec, true);
    Node *node = graph && handle ? node_in(graph, handle) : NULL;
    return node && node->kind == kind ? node : NULL;
}

Error do_cudaGraphAddEmptyNode(void **to, void *graph, void *const *from, size_t count) {
    Error error;
    add(to, graph, NODE_EMPTY, from, count, &error);
    return error;
}

Error do_cudaGraphAddKernelNode(void **to, void *graph, void *const *from, size_t count, const KernelNode *given) {
    Error error;
    if (!given)
        return CUDA_INVALID_VALUE;
    Node *node = add(to, graph, NODE_KERNEL, from, count, &error);
    return node ? keep(node, node_set_kernel(node, given)) : error;
}

Error do_cudaGraphKernelNodeGetParams(void *handle, KernelNode *to) {
    const Node *node = node_as(handle, NODE_KERNEL);
    if (!node || !to)
        return CUDA_INVALID_VALUE;
    *to = node->as_given;
    return 0;
}

Error do_cudaGraphKernelNodeSetParams(void *handle, const KernelNode *given) {
    Node *node = node_as(handle, NODE_KERNEL);
    return node && given ? node_set_kernel(node, given) : CUDA_INVALID_VALUE;
}

Error do_cudaGraphExecKernelNodeSetParams(void *exec, void *handle, const KernelNode *given) {
    Node *node = node_of_exec(exec, handle, NODE_KERNEL);
    return node && given ? node_set_kernel(node, given) : CUDA_INVALID_VALUE;
}

static Error set_copy(Node *node, void *to, const void *from, size_t bytes, int kind) {
    if (!to || !from || kind < 0 || kind > COPY_BY_ADDRESS)
        return CUDA_INVALID_VALUE;
    node->copy = (Copy){.name = "cudaMemcpyNode",
                        .to = {.at = to},
                        .from = {.at = (char *)(uintptr_t)from},
                        .extent = {bytes, 1, 1},
                        .kind = kind};
    return 0;
}

static Error set_volume(Node *node, const Copy3D *given) {
    Copy copy = {.name = "cudaMemcpyNode"};
    Error error = given ? volume_of(given, &copy) : CUDA_INVALID_VALUE;
    if (!error)
        node->copy = copy;
    return error;
}

Error graph_add_copy(void **to, void *graph, void *const *from, size_t count, const Copy *copy) {
    Error error;
    Node *node = add(to, graph, NODE_COPY, from, count, &error);
    if (node)
        node->copy = *copy;
    return error;
}

Error graph_set_copy(void *exec, void *handle, const Copy *copy) {
    Node *node = exec ? node_of_exec(exec, handle, NODE_COPY) : node_as(handle, NODE_COPY);
    if (node)
        node->copy = *copy;
    return node ? 0 : CUDA_INVALID_VALUE;
}

Error do_cudaGraphAddMemcpyNode(void **to, void *graph, void *const *from, size_t count, const Copy3D *given) {
    Copy copy = {.name = "cudaMemcpyNode"};
    Error error = given ? volume_of(given, &copy) : CUDA_INVALID_VALUE;
    return error ? error : graph_add_copy(to, graph, from, count, &copy);
}

Error do_cudaGraphMemcpyNodeSetParams(void *handle, const Copy3D *given) {
    Node *node = node_as(handle, NODE_COPY);
    return node ? set_volume(node, given) : CUDA_INVALID_VALUE;
}

Error do_cudaGraphExecMemcpyNodeSetParams(void *exec, void *handle, const Copy3D *given) {
    Node *node = node_of_exec(exec, handle, NODE_COPY);
    return node ? set_volume(node, given) : CUDA_INVALID_VALUE;
}

Error do_cudaGraphAddMemcpyNode1D(void **to, void *graph, void *const *from, size_t count, void *at, const void *source,
                                  size_t bytes, int kind) {
    Error error;
    Node *node = add(to, graph, NODE_COPY, from, count, &error);
    return node ? keep(node, set_copy(node, at, source, bytes, kind)) : error;
}

Error do_cudaGraphMemcpyNodeSetParams1D(void *handle, void *to, const void *from, size_t bytes, int kind) {
    Node *node = node_as(handle, NODE_COPY);
    return node ? set_copy(node, to, from, bytes, kind) : CUDA_INVALID_VALUE;
}

Error do_cudaGraphExecMemcpyNodeSetParams1D(void *exec, void *handle, void *to, const void *from, size_t bytes,
                                            int kind) {
    Node *node = node_of_exec(exec, handle, NODE_COPY);
    return node ? set_copy(node, to, from, bytes, kind) : CUDA_INVALID_VALUE;
}

static Error symbol_part(const void *symbol, size_t bytes, size_t offset, char **at) {
    weir_device_variable variable;
    Error error = registered_variable(symbol, &variable);
    if (!error && (offset > variable.size || bytes > variable.size - offset))
        error = CUDA_INVALID_VALUE;
    if (!error)
        *at = (char *)variable.bytes + offset;
    return error;
}

Error do_cudaGraphAddMemcpyNodeToSymbol(void **to, void *graph, void *const *from, size_t count, const void *symbol,
                                        const void *source, size_t bytes, size_t offset, int kind) {
    char *at;
    (void)kind;
    Error error = symbol_part(symbol, bytes, offset, &at);
    Node *node = error ? NULL : add(to, graph, NODE_COPY, from, count, &error);
    return node ? keep(node, set_copy(node, at, source, bytes, COPY_BY_ADDRESS)) : error;
}

Error do_cudaGraphAddMemcpyNodeFromSymbol(void **to, void *graph, void *const *from, size_t count, void *target,
                                          const void *symbol, size_t bytes, size_t offset, int kind) {
    char *at;
    (void)kind;
    Error error = symbol_part(symbol, bytes, offset, &at);
    Node *node = error ? NULL : add(to, graph, NODE_COPY, from, count, &error);
    return node ? keep(node, set_copy(node, target, at, bytes, COPY_BY_ADDRESS)) : error;
}

static Error set_fill(Node *node, const FillNode *given) {
    if (!given || !given->to || (given->element != 1 && given->element != 2 && given->element != 4))
        return CUDA_INVALID_VALUE;
    node->fill = *given;
    return 0;
}

Error do_cudaGraphAddMemsetNode(void **to, void *graph, void *const *from, size_t count, const FillNode *given) {
    Error error;
    Node *node = add(to, graph, NODE_FILL, from, count, &error);
    return node ? keep(node, set_fill(node, given)) : error;
}

Error do_cudaGraphMemsetNodeGetParams(void *handle, FillNode *to) {
    const Node *node = node_as(handle, NODE_FILL);
    if (!node || !to)
        return CUDA_INVALID_VALUE;
    *to = node->fill;
    return 0;
}

Error do_cudaGraphMemsetNodeSetParams(void *handle, const FillNode *given) {
    Node *node = node_as(handle, NODE_FILL);
    return node ? set_fill(node, given) : CUDA_INVALID_VALUE;
}

Error do_cudaGraphExecMemsetNodeSetParams(void *exec, void *handle, const FillNode *given) {
    Node *node = node_of_exec(exec, handle, NODE_FILL);
    return node ? set_fill(node, given) : CUDA_INVALID_VALUE;
}

static Error set_host(Node *node, const HostNode *given) {
    if (!given || !given->function)
        return CUDA_INVALID_VALUE;
    node->host = *given;
    return 0;
}

Error do_cudaGraphAddHostNode(void **to, void *graph, void *const *from, size_t count, const HostNode *given) {
    Error error;
    Node *node = add(to, graph, NODE_HOST, from, count, &error);
    return node ? keep(node, set_host(node, given)) : error;
}

Error do_cudaGraphHostNodeGetParams(void *handle, HostNode *to) {
    const Node *node = node_as(handle, NODE_HOST);
    if (!node || !to)
        return CUDA_INVALID_VALUE;
    *to = node->host;
    return 0;
}

Error do_cudaGraphHostNodeSetParams(void *handle, const HostNode *given) {
    Node *node = node_as(handle, NODE_HOST);
    return node ? set_host(node, given) : CUDA_INVALID_VALUE;
}

Error do_cudaGraphExecHostNodeSetParams(void *exec, void *handle, const HostNode *given) {
    Node *node = node_of_exec(exec, handle, NODE_HOST);
    return node ? set_host(node, given) : CUDA_INVALID_VALUE;
}

static Error set_child(Node *node, const Graph *of) {
    Graph *child = of ? graph_copy_of(of) : NULL;
    if (!child)
        return of ? CUDA_NO_MEMORY : CUDA_INVALID_VALUE;
    child->part = true;
    if (node->child)
        graph_destroy(node->child);
    node->child = child;
    return 0;
}

Error do_cudaGraphAddChildGraphNode(void **to, void *graph, void *const *from, size_t count, void *child) {
    Error error;
    const Graph *of = graph_of(child, false);
    Node *node = of && child != graph ? add(to, graph, NODE_GRAPH, from, count, &error) : NULL;
    return node ? keep(node, set_child(node, of)) : of && child != graph ? error : CUDA_INVALID_VALUE;
}

Error do_cudaGraphChildGraphNodeGetGraph(void *handle, void **to) {
    const Node *node = node_as(handle, NODE_GRAPH);
    if (!node || !to)
        return CUDA_INVALID_VALUE;
    *to = node->child;
    return 0;
}

Error do_cudaGraphExecChildGraphNodeSetParams(void *exec, void *handle, void *child) {
    Node *node = node_of_exec(exec, handle, NODE_GRAPH);
    return node ? set_child(node, graph_of(child, false)) : CUDA_INVALID_VALUE;
}

static Error add_event(void **to, void *graph, void *const *from, size_t count, void *event, NodeKind kind) {
    Error error;
    Event *of = event_of(event);
    Node *node = of ? add(to, graph, kind, from, count, &error) : NULL;
    if (node)
        node->event = of;
    return of ? error : CUDA_INVALID_VALUE;
}

Error do_cudaGraphAddEventRecordNode(void **to, void *graph, void *const *from, size_t count, void *event) {
    return add_event(to, graph, from, count, event, NODE_RECORD);
}

Error do_cudaGraphAddEventWaitNode(void **to, void *graph, void *const *from, size_t count, void *event) {
    return add_event(to, graph, from, count, event, NODE_WAIT);
}

/* cudaMemAllocNodeParams, of which the pool's properties are not looked at. */
typedef struct AllocateNode {
    char pool[88];
    const void *access;
    size_t access_count, bytes;
    void *memory;
} AllocateNode;

Error do_cudaGraphAddMemAllocNode(void **to, void *graph, void *const *from, size_t count, void *parameters) {
    AllocateNode *given = parameters;
    Error error;
    Node *node = given && given->bytes ? add(to, graph, NODE_ALLOCATE, from, count, &error) : NULL;
    if (!node)
        return given && given->bytes ? error : CUDA_INVALID_VALUE;
    node->bytes = given->bytes;
    given->memory = node->memory = memory_allocate(MEMORY_DEVICE, given->bytes, true);
    return keep(node, node->memory ? 0 : CUDA_NO_MEMORY);
}

Error do_cudaGraphAddMemFreeNode(void **to, void *graph, void *const *from, size_t count, void *memory) {
    Error error;
    Node *node = memory_was(memory) ? add(to, graph, NODE_FREE, from, count, &error) : NULL;
    if (node)
        node->memory = memory;
    return memory_was(memory) ? error : CUDA_INVALID_VALUE;
}

/* ---- Nodes of any kind ---- */

/* cudaGraphNodeParams; CUmemcpyNodeParams begins with flags. */
typedef struct NodeParameters {
    int kind, reserved[3];
    union {
        long long room[29];
        KernelNode kernel;
        struct {
            int flags, reserved[3];
            Copy3D volume;
        } copy;
        FillNode fill;
        HostNode host;
        void *handle; /* a graph, an event, memory to be freed */
        AllocateNode memory;
    };
    long long rest;
} NodeParameters;

static Error set_node(Node *node, NodeParameters *given) {
    switch (given->kind) {
    case NODE_KERNEL:
        return node_set_kernel(node, &given->kernel);
    case NODE_COPY:
        return set_volume(node, &given->copy.volume);
    case NODE_FILL:
        return set_fill(node, &given->fill);
    case NODE_HOST:
        return set_host(node, &given->host);
    case NODE_GRAPH:
        return set_child(node, graph_of(given->handle, false));
    case NODE_WAIT:
    case NODE_RECORD:
        node->event = event_of(given->handle);
        return node->event ? 0 : CUDA_INVALID_VALUE;
    case NODE_EMPTY:
        return 0;
    case NODE_FREE:
        node->memory = given->handle;
        return memory_was(given->handle) ? 0 : CUDA_INVALID_VALUE;
    default:
        return cuda_not_modeled("a change of a node that allocates memory of a graph");
    }
}

Error do_cudaGraphAddNode_v2(void **to, void *graph, void *const *from, const void *edges, size_t count,
                             void *parameters) {
    NodeParameters *given = parameters;
    Error error;
    if (!given || edges)
        return given ? cuda_not_modeled("cudaGraphAddNode with data of edges") : CUDA_INVALID_VALUE;
    if (given->kind == NODE_ALLOCATE)
        return do_cudaGraphAddMemAllocNode(to, graph, from, count, &given->memory);
    bool known = given->kind >= NODE_KERNEL && given->kind <= NODE_FREE && given->kind != 8 && given->kind != 9;
    if (!known)
        cuda_note("a node of kind %d of a graph is not there without a GPU: what it would have done is not checked",
                  given->kind);
    Node *node = known ? add(to, graph, (NodeKind)given->kind, from, count, &error) : NULL;
    return node ? keep(node, set_node(node, given)) : known ? error : CUDA_NOT_SUPPORTED;
}

Error do_cudaGraphAddNode(void **to, void *graph, void *const *from, const void *edges, size_t count,
                          void *parameters) {
    return do_cudaGraphAddNode_v2(to, graph, from, edges, count, parameters);
}

Error do12_cudaGraphAddNode(void **to, void *graph, void *const *from, size_t count, void *parameters) {
    return do_cudaGraphAddNode_v2(to, graph, from, NULL, count, parameters);
}

Error do_cudaGraphNodeSetParams(void *handle, void *parameters) {
    Node *node = node_of(handle);
    NodeParameters *given = parameters;
    return node && given && given->kind == (int)node->kind ? set_node(node, given) : CUDA_INVALID_VALUE;
}

Error do_cudaGraphExecNodeSetParams(void *exec, void *handle, void *parameters) {
    NodeParameters *given = parameters;
    Node *node = given ? node_of_exec(exec, handle, (NodeKind)given->kind) : NULL;
    return node ? set_node(node, given) : CUDA_INVALID_VALUE;
}

Error do_cudaGraphDestroyNode(void *handle) {
    Node *node = node_of(handle);
    if (!node || node->graph->executable)
        return CUDA_INVALID_VALUE;
    node_destroy(node);
    return 0;
}

Error do_cudaGraphNodeGetType(void *handle, int *kind) {
    const Node *node = node_of(handle);
    if (!node || !kind)
        return CUDA_INVALID_VALUE;
    *kind = (int)node->kind;
    return 0;
}

Error do_cudaGraphNodeSetEnabled(void *exec, void *handle, unsigned on) {
    const Graph *graph = graph_of(exec, true);
    Node *node = graph ? node_in(graph, handle) : NULL;
    if (!node || node->kind > NODE_FILL)
        return CUDA_INVALID_VALUE;
    node->off = !on;
    return 0;
}

Error do_cudaGraphNodeGetEnabled(void *exec, void *handle, unsigned *on) {
    const Graph *graph = graph_of(exec, true);
    const Node *node = graph ? node_in(graph, handle) : NULL;
    if (!node || !on || node->kind > NODE_FILL)
        return CUDA_INVALID_VALUE;
    *on = !node->off;
    return 0;
}

/* ---- What is in a graph ---- */

static Error list(const Graph *graph, void **to, size_t *count, bool roots) {
    size_t found = 0, room = to && count ? *count : 0;
    if (!graph || !count)
        return CUDA_INVALID_VALUE;
    for (Node *node = graph->nodes; node; node = node->next) {
        if (roots && node->from_count)
            continue;
        if (found < room)
            to[found] = node;
        found++;
    }
    for (size_t i = found; i < room; i++)
        to[i] = NULL;
    *count = to && found > room ? room : found;
    return 0;
}

Error do_cudaGraphGetNodes(void *graph, void **to, size_t *count) {
    return list(graph_of(graph, false), to, count, false);
}

Error do_cudaGraphGetRootNodes(void *graph, void **to, size_t *count) {
    return list(graph_of(graph, false), to, count, true);
}

Error do_cudaGraphGetEdges_v2(void *handle, void **from, void **to, void *edges, size_t *count) {
    const Graph *graph = graph_of(handle, false);
    size_t found = 0, room = from && to && count ? *count : 0;
    if (!graph || !count || !from != !to || edges)
        return CUDA_INVALID_VALUE;
    for (Node *node = graph->nodes; node; node = node->next)
        for (size_t i = 0; i < node->from_count; i++, found++)
            if (found < room) {
                from[found] = node->from[i];
                to[found] = node;
            }
    *count = from && found > room ? room : found;
    return 0;
}

Error do_cudaGraphGetEdges(void *graph, void **from, void **to, void *edges, size_t *count) {
    return do_cudaGraphGetEdges_v2(graph, from, to, edges, count);
}

Error do12_cudaGraphGetEdges(void *graph, void **from, void **to, size_t *count) {
    return do_cudaGraphGetEdges_v2(graph, from, to, NULL, count);
}

Error do_cudaGraphNodeGetDependencies_v2(void *handle, void **to, void *edges, size_t *count) {
    const Node *node = node_of(handle);
    size_t room = to && count ? *count : 0;
    if (!node || !count || edges)
        return CUDA_INVALID_VALUE;
    for (size_t i = 0; i < room; i++)
        to[i] = i < node->from_count ? node->from[i] : NULL;
    *count = to && node->from_count > room ? room : node->from_count;
    return 0;
}

Error do_cudaGraphNodeGetDependencies(void *node, void **to, void *edges, size_t *count) {
    return do_cudaGraphNodeGetDependencies_v2(node, to, edges, count);
}

Error do12_cudaGraphNodeGetDependencies(void *node, void **to, size_t *count) {
    return do_cudaGraphNodeGetDependencies_v2(node, to, NULL, count);
}

Error do_cudaGraphNodeGetDependentNodes_v2(void *handle, void **to, void *edges, size_t *count) {
    const Node *node = node_of(handle);
    size_t found = 0, room = to && count ? *count : 0;
    if (!node || !count || edges)
        return CUDA_INVALID_VALUE;
    for (Node *other = node->graph->nodes; other; other = other->next)
        for (size_t i = 0; i < other->from_count; i++)
            if (other->from[i] == node) {
                if (found < room)
                    to[found] = other;
                found++;
            }
    *count = to && found > room ? room : found;
    return 0;
}

Error do_cudaGraphNodeGetDependentNodes(void *node, void **to, void *edges, size_t *count) {
    return do_cudaGraphNodeGetDependentNodes_v2(node, to, edges, count);
}

Error do12_cudaGraphNodeGetDependentNodes(void *node, void **to, size_t *count) {
    return do_cudaGraphNodeGetDependentNodes_v2(node, to, NULL, count);
}

Error do_cudaGraphAddDependencies_v2(void *handle, void *const *from, void *const *to, const void *edges,
                                     size_t count) {
    const Graph *graph = graph_of(handle, false);
    if (!graph || (count && (!from || !to)))
        return CUDA_INVALID_VALUE;
    if (edges)
        return cuda_not_modeled("cudaGraphAddDependencies with data of edges");
    for (size_t i = 0; i < count; i++) {
        Node *before = node_of(from[i]), *node = node_of(to[i]);
        if (!before || !node || before->graph != graph || node->graph != graph || before == node)
            return CUDA_INVALID_VALUE;
        if (!node_depends(node, &before, 1))
            return CUDA_NO_MEMORY;
    }
    return 0;
}

Error do_cudaGraphAddDependencies(void *graph, void *const *from, void *const *to, const void *edges, size_t count) {
    return do_cudaGraphAddDependencies_v2(graph, from, to, edges, count);
}

Error do12_cudaGraphAddDependencies(void *graph, void *const *from, void *const *to, size_t count) {
    return do_cudaGraphAddDependencies_v2(graph, from, to, NULL, count);
}

Error do_cudaGraphRemoveDependencies_v2(void *handle, void *const *from, void *const *to, const void *edges,
                                        size_t count) {
    const Graph *graph = graph_of(handle, false);
    if (!graph || edges || (count && (!from || !to)))
        return CUDA_INVALID_VALUE;
    for (size_t i = 0; i < count; i++) {
        Node *node = node_of(to[i]);
        for (size_t k = 0; node && node->graph == graph && k < node->from_count; k++)
            if (node->from[k] == from[i])
                node->from[k--] = node->from[--node->from_count];
    }
    return 0;
}

Error do_cudaGraphRemoveDependencies(void *graph, void *const *from, void *const *to, const void *edges, size_t count) {
    return do_cudaGraphRemoveDependencies_v2(graph, from, to, edges, count);
}

Error do12_cudaGraphRemoveDependencies(void *graph, void *const *from, void *const *to, size_t count) {
    return do_cudaGraphRemoveDependencies_v2(graph, from, to, NULL, count);
}

/* ---- Graphs that can be launched ---- */

Error do_cudaGraphInstantiateWithFlags(void **exec, void *handle, unsigned long long flags) {
    const Graph *graph = graph_of(handle, false);
    Graph *made = exec && graph ? graph_copy_of(graph) : NULL;
    if (!made)
        return exec && graph ? CUDA_NO_MEMORY : CUDA_INVALID_VALUE;
    made->executable = true;
    made->flags = flags;
    *exec = made;
    return 0;
}

Error do_cudaGraphInstantiate(void **exec, void *graph, unsigned long long flags) {
    return do_cudaGraphInstantiateWithFlags(exec, graph, flags);
}

typedef struct InstantiateParameters {
    unsigned long long flags;
    void *stream, *node;
    int result;
} InstantiateParameters;

Error do_cudaGraphInstantiateWithParams(void **exec, void *graph, void *parameters) {
    InstantiateParameters *given = parameters;
    if (!given)
        return CUDA_INVALID_VALUE;
    Error error = do_cudaGraphInstantiateWithFlags(exec, graph, given->flags);
    given->node = NULL;
    given->result = error ? 1 : 0;
    return error;
}

Error do_cudaGraphExecGetFlags(void *handle, unsigned long long *flags) {
    const Graph *graph = graph_of(handle, true);
    if (!graph || !flags)
        return CUDA_INVALID_VALUE;
    *flags = graph->flags;
    return 0;
}

Error do_cudaGraphExecDestroy(void *handle) {
    Graph *graph = graph_of(handle, true);
    if (!graph)
        return CUDA_INVALID_VALUE;
    graph_destroy(graph);
    return 0;
}

Error do_cudaGraphUpload(void *graph, void *stream) {
    return graph_of(graph, true) && stream_of(stream) ? 0 : CUDA_INVALID_VALUE;
}

Error do_cudaGraphLaunch(void *handle, void *stream_handle) {
    Graph *graph = graph_of(handle, true);
    Stream *stream = stream_of(stream_handle);
    if (!graph || !stream)
        return CUDA_INVALID_VALUE;
    if (stream->capture)
        return cuda_not_modeled("cudaGraphLaunch in a stream that is captured");
    return graph_run(graph, stream);
}

static bool comes_behind(const Node *node, size_t place) {
    for (size_t i = 0; i < node->from_count; i++)
        if (node->from[i]->place == place)
            return true;
    return false;
}

/* Whether both have the same nodes and edges, one by one. */
static bool is_alike(const Graph *a, const Graph *b) {
    const Node *x = a->nodes, *y = b->nodes;
    for (; x && y; x = x->next, y = y->next) {
        if (x->kind != y->kind || x->from_count != y->from_count)
            return false;
        for (size_t i = 0; i < x->from_count; i++)
            if (!comes_behind(y, x->from[i]->place))
                return false;
    }
    return !x && !y;
}

static void number_nodes(const Graph *graph) {
    size_t count = 0;
    for (Node *node = graph->nodes; node; node = node->next)
        node->place = count++;
}

static Error take_kernel(Node *node, const Node *from) {
    node->launch.cooperative = from->launch.cooperative;
    node->launch.dependent = from->launch.dependent;
    memcpy(node->launch.cluster, from->launch.cluster, sizeof node->launch.cluster);
    return node_set_kernel(node, &from->as_given);
}

/* What its nodes do is that of the other graph's from now on. */
Error do_cudaGraphExecUpdate(void *handle, void *other, void *result) {
    enum { TOPOLOGY_CHANGED = 2 };
    Graph *graph = graph_of(handle, true);
    const Graph *from = graph_of(other, false);
    UpdateResult *to = result;
    if (!graph || !from)
        return CUDA_INVALID_VALUE;
    if (to)
        *to = (UpdateResult){0};
    number_nodes(graph);
    number_nodes(from);
    if (!is_alike(graph, from)) {
        if (to)
            to->result = TOPOLOGY_CHANGED;
        return CUDA_UPDATE_FAILED;
    }
    Node *x = graph->nodes;
    Error error = 0;
    for (const Node *y = from->nodes; !error && y; y = y->next, x = x->next) {
        if (y->kind == NODE_KERNEL)
            error = take_kernel(x, y);
        else if (y->kind == NODE_GRAPH)
            error = set_child(x, y->child);
        x->copy = y->copy;
        x->fill = y->fill;
        x->host = y->host;
        x->event = y->event;
        x->origin = y;
    }
    return error;
}
