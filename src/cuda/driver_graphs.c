/* The CUDA driver: nodes of graphs, where its structures are not the runtime's. */
#include "cuda/driver.h"

#include <string.h>

/* A kernel is there as a function, or as a kernel. */
static bool kernel_of(const DriverKernelNode *given, KernelNode *to) {
    if (!given)
        return false;
    *to = given->node;
    to->function = to->function ? to->function : given->kernel;
    return kernel_is(to->function);
}

Error do_cuGraphAddKernelNode(void **to, void *graph, void *const *from, size_t count, const DriverKernelNode *given) {
    KernelNode node;
    return kernel_of(given, &node) ? do_cudaGraphAddKernelNode(to, graph, from, count, &node) : CUDA_INVALID_VALUE;
}

Error do_cuGraphKernelNodeGetParams(void *node, DriverKernelNode *to) {
    Error error = to ? do_cudaGraphKernelNodeGetParams(node, &to->node) : CUDA_INVALID_VALUE;
    if (!error)
        to->kernel = to->context = NULL;
    return error;
}

Error do_cuGraphKernelNodeSetParams(void *exec, void *handle, const DriverKernelNode *given) {
    KernelNode node;
    if (!kernel_of(given, &node))
        return CUDA_INVALID_VALUE;
    return exec ? do_cudaGraphExecKernelNodeSetParams(exec, handle, &node)
                : do_cudaGraphKernelNodeSetParams(handle, &node);
}

Error do_cuGraphAddMemcpyNode(void **to, void *graph, void *const *from, size_t count, const Slices *given) {
    Copy copy = {.name = "cuMemcpyNode"};
    Error error = slices_of(given, &copy);
    return error ? error : graph_add_copy(to, graph, from, count, &copy);
}

Error do_cuGraphMemcpyNodeSetParams(void *exec, void *node, const Slices *given) {
    Copy copy = {.name = "cuMemcpyNode"};
    Error error = slices_of(given, &copy);
    return error ? error : graph_set_copy(exec, node, &copy);
}

/* As it was before CUDA 12: the node that cannot be, and a text on it. */
Error do_cuGraphInstantiate(void **exec, void *graph, void **node, char *text, size_t size) {
    if (node)
        *node = NULL;
    if (text && size)
        *text = 0;
    return do_cudaGraphInstantiateWithFlags(exec, graph, 0);
}

Error do_cuGraphExecUpdate(void *exec, void *graph, void **node, int *result) {
    UpdateResult to = {0};
    Error error = node && result ? do_cudaGraphExecUpdate(exec, graph, &to) : CUDA_INVALID_VALUE;
    if (node && result) {
        *node = to.node;
        *result = to.result;
    }
    return error;
}

/* ---- Nodes of any kind ---- */

typedef struct AnyNode { /* CUgraphNodeParams */
    int kind, reserved[3];
    union {
        long long room[29];
        DriverKernelNode kernel;
        struct {
            int flags, reserved;
            void *context;
            Slices slices;
        } copy;
    };
    long long rest;
} AnyNode;

/* The function of a kernel stands where the runtime looks for it. */
static bool take_kernel(AnyNode *given) {
    KernelNode node;
    if (!kernel_of(&given->kernel, &node))
        return false;
    given->kernel.node.function = node.function;
    return true;
}

Error do_cuGraphAddNode(void **to, void *graph, void *const *from, const void *edges, size_t count, void *parameters) {
    AnyNode *given = parameters;
    if (!given || (given->kind == NODE_KERNEL && !take_kernel(given)))
        return CUDA_INVALID_VALUE;
    if (given->kind == NODE_COPY)
        return edges ? cuda_not_modeled("cuGraphAddNode with data of edges")
                     : do_cuGraphAddMemcpyNode(to, graph, from, count, &given->copy.slices);
    return do_cudaGraphAddNode_v2(to, graph, from, edges, count, parameters);
}

Error do_cuGraphNodeSetParams(void *exec, void *node, void *parameters) {
    AnyNode *given = parameters;
    if (!given || (given->kind == NODE_KERNEL && !take_kernel(given)))
        return CUDA_INVALID_VALUE;
    if (given->kind == NODE_COPY)
        return do_cuGraphMemcpyNodeSetParams(exec, node, &given->copy.slices);
    return exec ? do_cudaGraphExecNodeSetParams(exec, node, parameters) : do_cudaGraphNodeSetParams(node, parameters);
}
