// Captures and graphs, for tests/gpu/graphs.sh: each case prints the status of every call and the results, so that a run under weir exec can be held against one without.
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>
#include <chrono>

#define SAY(call) said(#call, call)
static cudaError_t said(const char *call, cudaError_t result) {
    printf("%s: %s\n", call, cudaGetErrorName(result));
    cudaGetLastError();
    return result;
}

enum { N = 1024, BLOCK = 128 };
__global__ void add(int *to, int by) { to[blockIdx.x * blockDim.x + threadIdx.x] += by; }
__global__ void other(int *to, int by) { to[blockIdx.x * blockDim.x + threadIdx.x] += by; }
// Turns a tile around in shared memory; without the barrier it is a race.
template <bool Barrier> __global__ void turn(int *to) {
    __shared__ int tile[BLOCK];
    int at = blockIdx.x * BLOCK + threadIdx.x;
    tile[threadIdx.x] = to[at];
    if (Barrier) __syncthreads();
    to[at] = tile[BLOCK - 1 - threadIdx.x];
}
__global__ void dependent(int *to, int by) {
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
    cudaGridDependencySynchronize();
#endif
    to[blockIdx.x * blockDim.x + threadIdx.x] += by;
}
__global__ void together(int *to) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    to[at] += 1;
    cooperative_groups::this_grid().sync();
    if (at < N - 1) atomicAdd(&to[at + 1], 0);
}
__global__ void decide(cudaGraphConditionalHandle handle, int *count) { cudaGraphSetConditional(handle, --*count > 0); }

static int *a, *b, *far1, *far2, host[N];

static void show(const char *what, const int *from) {
    SAY(cudaDeviceSynchronize());
    SAY(cudaMemcpy(host, from, sizeof host, cudaMemcpyDeviceToHost));
    printf("%s: %d %d %d\n", what, host[0], host[N / 2], host[N - 1]);
}
static void put(int *to, int by, cudaStream_t stream) {
    add<<<N / BLOCK, BLOCK, 0, stream>>>(to, by);
    SAY(cudaGetLastError());
}
static void CUDART_CB called(void *with) { ++*(int *)with; }

static cudaStream_t stream_of(const char *kind) {
    cudaStream_t stream = cudaStreamPerThread;
    if (strcmp(kind, "blocking") == 0) SAY(cudaStreamCreate(&stream));
    if (strcmp(kind, "free") == 0) SAY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    return stream;
}

static void capture(const char *mode_name, const char *kind, bool warm) {
    cudaStreamCaptureMode mode = strcmp(mode_name, "global") == 0 ? cudaStreamCaptureModeGlobal : strcmp(mode_name, "thread") == 0 ? cudaStreamCaptureModeThreadLocal : cudaStreamCaptureModeRelaxed;
    cudaStream_t s = stream_of(kind), fork = stream_of("free"), beside = stream_of("free"), beside2 = stream_of("free");
    cudaEvent_t forks, joins, event;
    cudaGraph_t graph = nullptr, child = nullptr;
    cudaGraphExec_t exec, child_exec;
    cudaStreamCaptureStatus status;
    int calls = 0, *pinned;
    size_t nodes = 0;
    SAY(cudaMallocHost(&pinned, sizeof host));
    memset(pinned, 0, sizeof host);
    SAY(cudaEventCreate(&forks)); SAY(cudaEventCreateWithFlags(&joins, cudaEventDisableTiming)); SAY(cudaEventCreate(&event));
    SAY(cudaStreamBeginCapture(beside2, cudaStreamCaptureModeRelaxed));
    put(a, 1, beside2);
    SAY(cudaStreamEndCapture(beside2, &child));
    SAY(cudaGraphInstantiate(&child_exec, child, 0));
    for (int i = 0; warm && i < 3; i++) put(a, 0, s);
    SAY(cudaStreamBeginCapture(s, mode));
    SAY(cudaEventRecord(forks, s));
    SAY(cudaStreamWaitEvent(fork, forks, 0));
    put(a, 1, s);
    other<<<N / BLOCK, BLOCK, 0, fork>>>(b, 10);
    SAY(cudaGetLastError());
    turn<true><<<N / BLOCK, BLOCK, 0, s>>>(a);
    SAY(cudaMemsetAsync(far1, 0, 64, s));
    SAY(cudaMemset2DAsync(far1, 64, 1, 4, 2, s));
    SAY(cudaMemcpyAsync(far1, pinned, 64, cudaMemcpyHostToDevice, s));
    SAY(cudaMemcpyAsync(far1 + 64, far1, 64, cudaMemcpyDeviceToDevice, s));
    SAY(cudaMemcpyAsync(pinned, far1, 64, cudaMemcpyDeviceToHost, s));
    SAY(cudaMemcpy2DAsync(far1 + 128, 64, far1, 64, 4, 2, cudaMemcpyDeviceToDevice, s));
    SAY(cudaLaunchHostFunc(s, called, &calls));
    SAY(cudaGraphLaunch(child_exec, s));
    std::thread([&] { // legal in every mode: a launch and an event in a stream that is not captured
        other<<<N / BLOCK, BLOCK, 0, beside>>>(far2, 1);
        SAY(cudaGetLastError());
        SAY(cudaEventRecord(event, beside));
    }).join();
    put(far2 + N, 1, beside2);
    SAY(cudaEventRecord(joins, fork));
    SAY(cudaStreamWaitEvent(s, joins, 0));
    SAY(cudaStreamIsCapturing(s, &status));
    printf("status %d\n", (int)status);
    SAY(cudaStreamEndCapture(s, &graph));
    if (!graph) return;
    SAY(cudaGraphGetNodes(graph, nullptr, &nodes));
    printf("nodes %zu\n", nodes);
    SAY(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 5; i++) SAY(cudaGraphLaunch(exec, s));
    SAY(cudaStreamSynchronize(s));
    show("a", a); show("b", b); show("far2", far2);
    printf("calls %d\n", calls);
}

static void wrong(const char *what) {
    cudaStream_t s = stream_of("blocking");
    cudaEvent_t event;
    cudaGraph_t graph = nullptr;
    int *memory = nullptr;
    SAY(cudaEventCreate(&event));
    put(a, 1, 0);
    SAY(cudaDeviceSynchronize());
    SAY(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    put(a, 1, s);
    SAY(cudaEventRecord(event, s));
    if (strcmp(what, "wrong-query") == 0) SAY(cudaStreamQuery(s));
    if (strcmp(what, "wrong-event") == 0) SAY(cudaEventQuery(event));
    if (strcmp(what, "wrong-all") == 0) SAY(cudaDeviceSynchronize());
    if (strcmp(what, "wrong-allocation") == 0) SAY(cudaMalloc(&memory, 64));
    if (strcmp(what, "wrong-default") == 0) put(b, 1, 0);
    put(a, 1, s);
    SAY(cudaStreamEndCapture(s, &graph));
    put(a, 5, s);
    show("a", a);
}

static cudaGraphNode_t kernel_node(cudaGraph_t graph, void *function, int *to, int by, std::vector<cudaGraphNode_t> before = {}) {
    void *parameters[] = {&to, &by};
    cudaKernelNodeParams node = {};
    node.func = function; node.gridDim = dim3(N / BLOCK); node.blockDim = dim3(BLOCK); node.sharedMemBytes = 0; node.kernelParams = parameters; node.extra = nullptr;
    cudaGraphNode_t made;
    SAY(cudaGraphAddKernelNode(&made, graph, before.data(), before.size(), &node));
    return made;
}
static cudaGraphExec_t executable(cudaGraph_t graph, unsigned long long flags = 0) {
    cudaGraphExec_t exec = nullptr;
    SAY(cudaGraphInstantiate(&exec, graph, flags));
    return exec;
}
static void runs(cudaGraphExec_t exec, int times, cudaStream_t s) {
    for (int i = 0; i < times; i++)
        if (cudaGraphLaunch(exec, s)) printf("launch %d failed\n", i);
    SAY(cudaStreamSynchronize(s));
    show("a", a); show("b", b);
}
static void set_kernel(cudaGraphExec_t exec, cudaGraphNode_t node, int *to, int by) {
    void *parameters[] = {&to, &by};
    cudaKernelNodeParams with = {};
    with.func = (void *)add; with.gridDim = dim3(N / BLOCK); with.blockDim = dim3(BLOCK); with.kernelParams = parameters;
    SAY(cudaGraphExecKernelNodeSetParams(exec, node, &with));
}

static int filled[N];
static void CUDART_CB fill(void *with) { for (int i = 0; i < N; i++) filled[i] = ++*(int *)with; }

static int graphs(const std::string &what) {
    cudaGraph_t graph, within;
    cudaGraphNode_t node, second;
    cudaGraphExec_t exec;
    cudaStream_t s = stream_of("free"), s2 = stream_of("free");
    SAY(cudaGraphCreate(&graph, 0));
    if (what == "line" || what == "many") {
        cudaMemsetParams set = {};
        set.dst = b; set.elementSize = 4; set.width = N; set.height = 1;
        SAY(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &set));
        node = kernel_node(graph, (void *)add, a, 1, {node});
        kernel_node(graph, (void *)other, b, 2, {node});
        exec = executable(graph);
        auto begin = std::chrono::steady_clock::now();
        runs(exec, what == "many" ? 1000 : 1, s);
        begin = std::chrono::steady_clock::now();
        for (int i = 0; i < 1000 && what == "many"; i++) cudaGraphLaunch(exec, s);
        auto put = std::chrono::steady_clock::now();
        cudaStreamSynchronize(s);
        auto end = std::chrono::steady_clock::now();
        if (what == "many") fprintf(stderr, "TIME 1000 more launches: %.1f us each at the call, %.1f us each in all\n", std::chrono::duration<double>(put - begin).count() * 1e3, std::chrono::duration<double>(end - begin).count() * 1e3);
    } else if (what == "branches" || what == "racing" || what == "wide") {
        node = kernel_node(graph, (void *)add, a, 1);
        std::vector<cudaGraphNode_t> ends;
        for (int i = 0; i < (what == "wide" ? 12 : 2); i++) ends.push_back(kernel_node(graph, (void *)other, what == "racing" ? a : i ? b + i * N : a, 2, {node}));
        if (what == "wide") ends.resize(4);
        kernel_node(graph, (void *)add, far2, 8, ends);
        runs(executable(graph), 5, what == "wide" ? 0 : s);
    } else if (what == "race-within") {
        SAY(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
        turn<false><<<N / BLOCK, BLOCK, 0, s>>>(a);
        SAY(cudaStreamEndCapture(s, &within));
        runs(executable(within), 5, s);
    } else if (what == "child") {
        SAY(cudaGraphCreate(&within, 0));
        kernel_node(within, (void *)add, a, 1);
        SAY(cudaGraphAddChildGraphNode(&node, graph, nullptr, 0, within));
        kernel_node(graph, (void *)add, a, 10, {node});
        runs(executable(graph), 5, s);
    } else if (what == "set") {
        node = kernel_node(graph, (void *)add, a, 1);
        exec = executable(graph);
        for (int i = 0; i < 8; i++) { runs(exec, 1, s); set_kernel(exec, node, i < 4 ? a : b, i < 2 ? 7 : 1); }
    } else if (what == "updated") {
        kernel_node(graph, (void *)add, a, 1);
        exec = executable(graph);
        runs(exec, 5, s);
        for (int i = 0; i < 20; i++) { // captured anew for each launch, as llama.cpp does
            cudaGraphExecUpdateResultInfo info;
            SAY(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
            put(b, i % 3, s);
            SAY(cudaStreamEndCapture(s, &within));
            SAY(cudaGraphExecUpdate(exec, within, &info));
            SAY(cudaGraphDestroy(within));
            runs(exec, 1, s);
        }
    } else if (what == "disabled") {
        node = kernel_node(graph, (void *)add, a, 1);
        kernel_node(graph, (void *)other, b, 1);
        exec = executable(graph);
        runs(exec, 1, s);
        SAY(cudaGraphNodeSetEnabled(exec, node, 0));
        runs(exec, 1, s);
    } else if (what == "conditional") {
        cudaGraphConditionalHandle handle;
        int three = 3;
        SAY(cudaMemcpy(far1, &three, 4, cudaMemcpyHostToDevice)); SAY(cudaDeviceSynchronize()); // from pageable memory: it may arrive later
        SAY(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
        cudaGraphNodeParams loop = {cudaGraphNodeTypeConditional};
        loop.conditional.handle = handle; loop.conditional.type = cudaGraphCondTypeWhile; loop.conditional.size = 1;
        SAY(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &loop));
        cudaGraph_t body = loop.conditional.phGraph_out[0];
        SAY(cudaStreamBeginCaptureToGraph(s, body, nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed));
        put(a, 1, s);
        decide<<<1, 1, 0, s>>>(handle, far1);
        SAY(cudaStreamEndCapture(s, nullptr));
        runs(executable(graph), 1, s);
    } else if (what == "chooses") { // if and else, by what a kernel before it decides: the first in two launches, then the other
        cudaGraphConditionalHandle handle;
        int three = 3;
        SAY(cudaMemcpy(far1, &three, 4, cudaMemcpyHostToDevice)); SAY(cudaDeviceSynchronize()); // from pageable memory: it may arrive later
        SAY(cudaGraphConditionalHandleCreate(&handle, graph));
        SAY(cudaStreamBeginCaptureToGraph(s, graph, nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed));
        decide<<<1, 1, 0, s>>>(handle, far1);
        SAY(cudaStreamEndCapture(s, nullptr));
        size_t count = 1;
        SAY(cudaGraphGetNodes(graph, &node, &count));
        cudaGraphNodeParams choice = {cudaGraphNodeTypeConditional};
        choice.conditional.handle = handle; choice.conditional.type = cudaGraphCondTypeIf; choice.conditional.size = 2;
        cudaGraphNode_t before = node;
        SAY(cudaGraphAddNode(&node, graph, &before, nullptr, 1, &choice));
        for (int i = 0; i < 2; i++) {
            SAY(cudaStreamBeginCaptureToGraph(s, choice.conditional.phGraph_out[i], nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed));
            put(a, i ? 100 : 1, s);
            SAY(cudaStreamEndCapture(s, nullptr));
        }
        cudaGraphExec_t made = executable(graph);
        SAY(cudaGraphDestroy(graph));
        runs(made, 4, s);
        SAY(cudaGraphExecDestroy(made));
    } else if (what == "allocates" || what == "allocates-race") { // memory of its own; or written by two branches
        int *memory;
        SAY(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
        SAY(cudaMallocAsync(&memory, N * 4, s));
        SAY(cudaMemsetAsync(memory, 0, N * 4, s));
        put(memory, 3, s);
        SAY(cudaMemcpyAsync(a, memory, N * 4, cudaMemcpyDeviceToDevice, s));
        if (what == "allocates-race") {
            cudaEvent_t fork, join;
            SAY(cudaEventCreate(&fork)); SAY(cudaEventCreate(&join));
            SAY(cudaEventRecord(fork, s));
            SAY(cudaStreamWaitEvent(s2, fork));
            put(memory, 5, s2);
            put(memory, 6, s);
            SAY(cudaEventRecord(join, s2));
            SAY(cudaStreamWaitEvent(s, join));
        }
        SAY(cudaFreeAsync(memory, s));
        SAY(cudaStreamEndCapture(s, &within));
        cudaGraphExec_t made = executable(within);
        SAY(cudaGraphDestroy(within)); // its nodes are needed all the same
        runs(made, 5, s);
        SAY(cudaGraphExecDestroy(made));
    } else if (what == "host") { // pageable memory that a host node fills before it is copied
        static int count = 0;
        SAY(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
        SAY(cudaLaunchHostFunc(s, fill, &count));
        SAY(cudaMemcpyAsync(b, filled, sizeof filled, cudaMemcpyHostToDevice, s));
        put(b, 1000000, s);
        SAY(cudaStreamEndCapture(s, &within));
        runs(executable(within), 5, s);
    } else if (what == "dependent") { // programmatic edges
        cudaLaunchAttribute attribute[1];
        attribute[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attribute[0].val.programmaticStreamSerializationAllowed = 1;
        cudaLaunchConfig_t config = {dim3(N / BLOCK), dim3(BLOCK), 0, s, attribute, 1};
        SAY(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
        put(a, 1, s);
        SAY(cudaLaunchKernelEx(&config, dependent, a, 2));
        SAY(cudaLaunchKernelEx(&config, dependent, a, 4));
        SAY(cudaStreamEndCapture(s, &within));
        runs(executable(within), 5, s);
    } else if (what == "cooperative") {
        void *parameters[] = {&a};
        SAY(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
        SAY(cudaLaunchCooperativeKernel((void *)together, dim3(N / BLOCK), dim3(BLOCK), parameters, 0, s));
        SAY(cudaStreamEndCapture(s, &within));
        runs(executable(within), 5, s);
    } else if (what == "cluster") {
        cudaLaunchAttribute attribute[1];
        attribute[0].id = cudaLaunchAttributeClusterDimension;
        attribute[0].val.clusterDim.x = 2; attribute[0].val.clusterDim.y = attribute[0].val.clusterDim.z = 1;
        cudaLaunchConfig_t config = {dim3(N / BLOCK), dim3(BLOCK), 0, s, attribute, 1};
        SAY(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
        SAY(cudaLaunchKernelEx(&config, add, a, 2));
        SAY(cudaStreamEndCapture(s, &within));
        runs(executable(within), 5, s);
    } else if (what == "events") { // a node that records an event, for another stream
        cudaEvent_t event;
        SAY(cudaEventCreate(&event));
        node = kernel_node(graph, (void *)add, a, 1);
        SAY(cudaGraphAddEventRecordNode(&second, graph, &node, 1, event));
        exec = executable(graph);
        for (int i = 0; i < 6; i++) {
            SAY(cudaGraphLaunch(exec, s));
            SAY(cudaStreamWaitEvent(s2, event, 0));
            put(a, 10, s2);
            SAY(cudaStreamSynchronize(s2));
        }
        show("a", a);
    } else if (what == "streams") {
        kernel_node(graph, (void *)add, a, 1);
        exec = executable(graph);
        for (int i = 0; i < 20; i++) SAY(cudaGraphLaunch(exec, i % 2 ? s2 : s));
        SAY(cudaDeviceSynchronize());
        SAY(cudaGraphExecDestroy(exec));
        show("a", a);
    } else if (what == "beside") {
        kernel_node(graph, (void *)add, a, 1);
        exec = executable(graph);
        SAY(cudaGraphLaunch(exec, s));
        put(a, 1, s2);
        SAY(cudaDeviceSynchronize());
    } else if (what == "late") { // the same, after launches of the graph alone that were recorded
        kernel_node(graph, (void *)add, a, 1);
        exec = executable(graph);
        runs(exec, 5, s);
        for (int i = 0; i < 12; i++) {
            SAY(cudaGraphLaunch(exec, s));
            put(a, 1, s2);
            SAY(cudaDeviceSynchronize());
        }
    } else if (what == "anew") { // an executable graph for each launch
        for (int i = 0; i < 50; i++) {
            SAY(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
            put(a, 1, s);
            SAY(cudaStreamEndCapture(s, &within));
            exec = executable(within);
            SAY(cudaGraphLaunch(exec, s));
            SAY(cudaGraphExecDestroy(exec));
            SAY(cudaGraphDestroy(within));
        }
        show("a", a);
    } else {
        return 2;
    }
    return 0;
}

int main(int count, char **words) {
    std::string what = count > 1 ? words[1] : "line";
    SAY(cudaMalloc(&a, sizeof host)); SAY(cudaMalloc(&b, 16 * sizeof host)); SAY(cudaMalloc(&far1, sizeof host)); SAY(cudaMalloc(&far2, 2 * sizeof host));
    SAY(cudaMemset(a, 0, sizeof host)); SAY(cudaMemset(b, 0, 16 * sizeof host)); SAY(cudaMemset(far1, 0, sizeof host)); SAY(cudaMemset(far2, 0, 2 * sizeof host));
    SAY(cudaDeviceSynchronize());
    if (what == "capture" && count > 3) return capture(words[2], words[3], count > 4), 0;
    if (what.rfind("wrong", 0) == 0) return wrong(what.c_str()), 0;
    return graphs(what);
}
