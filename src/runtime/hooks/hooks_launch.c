/* Entry points of the driver that launch kernels or make nodes of graphs. In mode capture a launch is written before it
 * is made, since a kernel that hangs is one to look at; in mode record it is made with one parameter more. */
#include "runtime/hooks.h"
#include "runtime/record/gpu.h"

#include <string.h>

static Result make(const SeenLaunch *launch) {
    if (gpu_on())
        return gpu_launch(launch);
    GUARDED(launch_seen(launch));
    return launch->go(launch, launch->parameters, launch->extra);
}

/* ---- Launches ------------------------------------------------------------------------------------ */

#define LAUNCH(name, of_thread)                                                                                        \
    static Result go_##name(const SeenLaunch *launch, void **parameters, void **extra) {                               \
        const uint32_t *grid = launch->grid, *block = launch->block;                                                   \
        return NEXT(                                                                                                   \
            name,                                                                                                      \
            (Handle, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, Handle, void **, void **),  \
            launch->function, grid[0], grid[1], grid[2], block[0], block[1], block[2], launch->shared, launch->stream, \
            parameters, extra);                                                                                        \
    }                                                                                                                  \
    EXPORTED Result name(Handle function, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by,             \
                         uint32_t bz, uint32_t shared, Handle stream, void **parameters, void **extra) {               \
        return make(&(SeenLaunch){.function = function,                                                                \
                                  .stream = stream,                                                                    \
                                  .grid = {gx, gy, gz},                                                                \
                                  .block = {bx, by, bz},                                                               \
                                  .shared = shared,                                                                    \
                                  .per_thread = of_thread,                                                             \
                                  .parameters = parameters,                                                            \
                                  .extra = extra,                                                                      \
                                  .go = go_##name});                                                                   \
    }
LAUNCH(cuLaunchKernel, false)
LAUNCH(cuLaunchKernel_ptsz, true)

#define LAUNCH_COOPERATIVE(name, of_thread)                                                                          \
    static Result go_##name(const SeenLaunch *launch, void **parameters, void **extra) {                             \
        const uint32_t *grid = launch->grid, *block = launch->block;                                                 \
        (void)extra;                                                                                                 \
        return NEXT(name,                                                                                            \
                    (Handle, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, Handle, void **), \
                    launch->function, grid[0], grid[1], grid[2], block[0], block[1], block[2], launch->shared,       \
                    launch->stream, parameters);                                                                     \
    }                                                                                                                \
    EXPORTED Result name(Handle function, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by,           \
                         uint32_t bz, uint32_t shared, Handle stream, void **parameters) {                           \
        return make(&(SeenLaunch){.function = function,                                                              \
                                  .stream = stream,                                                                  \
                                  .grid = {gx, gy, gz},                                                              \
                                  .block = {bx, by, bz},                                                             \
                                  .shared = shared,                                                                  \
                                  .per_thread = of_thread,                                                           \
                                  .cooperative = true,                                                               \
                                  .parameters = parameters,                                                          \
                                  .go = go_##name});                                                                 \
    }
LAUNCH_COOPERATIVE(cuLaunchCooperativeKernel, false)
LAUNCH_COOPERATIVE(cuLaunchCooperativeKernel_ptsz, true)

static Result launch_with(const LaunchConfig *config, SeenLaunch launch) {
    launch.stream = config->stream;
    launch.shared = config->shared;
    launch.call = config;
    memcpy(launch.grid, config->grid, sizeof launch.grid);
    memcpy(launch.block, config->block, sizeof launch.block);
    for (unsigned i = 0; config->attributes && i < config->attribute_count; i++) {
        const LaunchAttribute *attribute = &config->attributes[i];
        if (attribute->id == ATTRIBUTE_CLUSTER)
            memcpy(launch.cluster, attribute->value.cluster, sizeof launch.cluster);
        else if (attribute->id == ATTRIBUTE_COOPERATIVE)
            launch.cooperative = attribute->value.number != 0;
        else if (attribute->id == ATTRIBUTE_PROGRAMMATIC)
            launch.dependent = attribute->value.number != 0;
        else if (attribute->id == ATTRIBUTE_PROGRAMMATIC_EVENT)
            launch.triggered[0] = attribute->value.event;
        else if (attribute->id == ATTRIBUTE_DOMAIN)
            launch.remote = attribute->value.number != 0;
        else if (attribute->id == ATTRIBUTE_LAUNCHED_EVENT)
            launch.triggered[1] = attribute->value.event;
    }
    return make(&launch);
}

#define LAUNCH_EX(name, of_thread)                                                                          \
    static Result go_##name(const SeenLaunch *launch, void **parameters, void **extra) {                    \
        return NEXT(name, (const LaunchConfig *, Handle, void **, void **), launch->call, launch->function, \
                    parameters, extra);                                                                     \
    }                                                                                                       \
    EXPORTED Result name(const LaunchConfig *config, Handle function, void **parameters, void **extra) {    \
        return launch_with(config, (SeenLaunch){.function = function,                                       \
                                                .per_thread = of_thread,                                    \
                                                .parameters = parameters,                                   \
                                                .extra = extra,                                             \
                                                .go = go_##name});                                          \
    }
LAUNCH_EX(cuLaunchKernelEx, false)
LAUNCH_EX(cuLaunchKernelEx_ptsz, true)

/* ---- Nodes of graphs ----------------------------------------------------------------------------- */

/* The call that a node's parameters go to: either form of them, whichever is not NULL. */
typedef struct NodeCall {
    Handle *node;
    Handle graph, of;
    const Handle *before;
    const void *edges;
    size_t count;
    const KernelNode *kernel;
    const GraphNode *any;
    Result (*with)(const struct NodeCall *call, const KernelNode *kernel, GraphNode *any);
    bool first_form; /* its parameters end before `kernel` and `context` */
} NodeCall;

/* It may be another one than the program's. */
static void node_function(KernelNode *node, Handle function) {
    if (node->function)
        node->function = function;
    else if (node->kernel != function)
        node->function = function;
}

static Result go_node(const SeenLaunch *launch, void **parameters, void **extra) {
    const NodeCall *call = launch->call;
    if (call->any) {
        GraphNode node = *call->any;
        node_function(&node.kernel, launch->function);
        node.kernel.parameters = parameters;
        node.kernel.extra = extra;
        return call->with(call, NULL, &node);
    }
    KernelNode node = {0};
    memcpy(&node, call->kernel, call->first_form ? offsetof(KernelNode, kernel) : sizeof node);
    node_function(&node, launch->function);
    node.parameters = parameters;
    node.extra = extra;
    return call->with(call, &node, NULL);
}

static Result make_node(const NodeCall *call) {
    const KernelNode *kernel = call->any ? &call->any->kernel : call->kernel;
    SeenLaunch launch = {.function = kernel->function,
                         .shared = kernel->shared,
                         .later = true,
                         .parameters = kernel->parameters,
                         .extra = kernel->extra,
                         .go = go_node,
                         .call = call};
    memcpy(launch.grid, kernel->grid, sizeof launch.grid);
    memcpy(launch.block, kernel->block, sizeof launch.block);
    if (!launch.function && !call->first_form)
        launch.function = kernel->kernel;
    return make(&launch);
}

#define ADD_KERNEL(name, first)                                                                                      \
    static Result with_##name(const NodeCall *call, const KernelNode *kernel, GraphNode *any) {                      \
        (void)any;                                                                                                   \
        return NEXT(name, (Handle *, Handle, const Handle *, size_t, const KernelNode *), call->node, call->graph,   \
                    call->before, call->count, kernel);                                                              \
    }                                                                                                                \
    EXPORTED Result name(Handle *node, Handle graph, const Handle *before, size_t count, const KernelNode *kernel) { \
        return make_node(&(NodeCall){.node = node,                                                                   \
                                     .graph = graph,                                                                 \
                                     .before = before,                                                               \
                                     .count = count,                                                                 \
                                     .kernel = kernel,                                                               \
                                     .with = with_##name,                                                            \
                                     .first_form = first});                                                          \
    }
ADD_KERNEL(cuGraphAddKernelNode, true)
ADD_KERNEL(cuGraphAddKernelNode_v2, false)

#define SET_KERNEL(name, first)                                                                                \
    static Result with_##name(const NodeCall *call, const KernelNode *kernel, GraphNode *any) {                \
        (void)any;                                                                                             \
        graph_node_changed(call->of);                                                                          \
        return NEXT(name, (Handle, const KernelNode *), call->of, kernel);                                     \
    }                                                                                                          \
    EXPORTED Result name(Handle node, const KernelNode *kernel) {                                              \
        return make_node(&(NodeCall){.of = node, .kernel = kernel, .with = with_##name, .first_form = first}); \
    }
SET_KERNEL(cuGraphKernelNodeSetParams, true)
SET_KERNEL(cuGraphKernelNodeSetParams_v2, false)

#define SET_KERNEL_IN(name, first)                                                                                \
    static Result with_##name(const NodeCall *call, const KernelNode *kernel, GraphNode *any) {                   \
        (void)any;                                                                                                \
        return graph_follow(NEXT(name, (Handle, Handle, const KernelNode *), call->graph, call->of, kernel),      \
                            call->graph, call->of, "cuGraphKernelNodeSetParams_v2", kernel);                      \
    }                                                                                                             \
    EXPORTED Result name(Handle graph, Handle node, const KernelNode *kernel) {                                   \
        return make_node(                                                                                         \
            &(NodeCall){.graph = graph, .of = node, .kernel = kernel, .with = with_##name, .first_form = first}); \
    }
SET_KERNEL_IN(cuGraphExecKernelNodeSetParams, true)
SET_KERNEL_IN(cuGraphExecKernelNodeSetParams_v2, false)

static Result with_add(const NodeCall *call, const KernelNode *kernel, GraphNode *any) {
    (void)kernel;
    return NEXT(cuGraphAddNode, (Handle *, Handle, const Handle *, size_t, GraphNode *), call->node, call->graph,
                call->before, call->count, any);
}

static Result with_add_v2(const NodeCall *call, const KernelNode *kernel, GraphNode *any) {
    (void)kernel;
    return NEXT(cuGraphAddNode_v2, (Handle *, Handle, const Handle *, const void *, size_t, GraphNode *), call->node,
                call->graph, call->before, call->edges, call->count, any);
}

static Result with_set(const NodeCall *call, const KernelNode *kernel, GraphNode *any) {
    (void)kernel;
    graph_node_changed(call->of);
    return NEXT(cuGraphNodeSetParams, (Handle, GraphNode *), call->of, any);
}

static Result with_set_in(const NodeCall *call, const KernelNode *kernel, GraphNode *any) {
    (void)kernel;
    return graph_follow(NEXT(cuGraphExecNodeSetParams, (Handle, Handle, GraphNode *), call->graph, call->of, any),
                        call->graph, call->of, "cuGraphNodeSetParams", any);
}

/* What is no kernel is handed on as it is: other nodes give something back in their parameters. */
static Result make_any(const NodeCall *call, GraphNode *node) {
    if (node->type == NODE_KERNEL)
        return make_node(call);
    Result result = call->with(call, NULL, node);
    if (!result && call->node && node->type == NODE_CONDITIONAL && node->conditional.graphs)
        graph_bodies(*call->node, node->conditional.graphs, node->conditional.count,
                     node->conditional.type == CONDITION_WHILE);
    if (!result && call->node && node->type == NODE_ALLOCATE)
        GUARDED(memory_add(node->memory.to, node->memory.bytes, false));
    return result;
}

/* Its address stays as long as the graph does. */
EXPORTED Result cuGraphAddMemAllocNode(Handle *node, Handle graph, const Handle *before, size_t count,
                                       AllocateNode *memory) {
    Result result = NEXT(cuGraphAddMemAllocNode, (Handle *, Handle, const Handle *, size_t, AllocateNode *), node,
                         graph, before, count, memory);
    if (!result)
        GUARDED(memory_add(memory->to, memory->bytes, false));
    return result;
}

EXPORTED Result cuGraphAddNode(Handle *node, Handle graph, const Handle *before, size_t count, GraphNode *any) {
    return make_any(
        &(NodeCall){.node = node, .graph = graph, .before = before, .count = count, .any = any, .with = with_add}, any);
}

EXPORTED Result cuGraphAddNode_v2(Handle *node, Handle graph, const Handle *before, const void *edges, size_t count,
                                  GraphNode *any) {
    return make_any(&(NodeCall){.node = node,
                                .graph = graph,
                                .before = before,
                                .edges = edges,
                                .count = count,
                                .any = any,
                                .with = with_add_v2},
                    any);
}

EXPORTED Result cuGraphNodeSetParams(Handle node, GraphNode *any) {
    return make_any(&(NodeCall){.of = node, .any = any, .with = with_set}, any);
}

EXPORTED Result cuGraphExecNodeSetParams(Handle graph, Handle node, GraphNode *any) {
    return make_any(&(NodeCall){.graph = graph, .of = node, .any = any, .with = with_set_in}, any);
}
