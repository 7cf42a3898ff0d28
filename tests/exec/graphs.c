/* A CUDA program without CUDA that captures streams and launches graphs, on the stand-in that runs them (gpu.c). Its
 * first argument says which; every call's result is printed, so that a run under weir exec can be held against one
 * without. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int Result;
typedef void *Handle;
Result cuInit(unsigned);
Result cuMemAlloc_v2(uint64_t *, size_t);
Result cuMemFree_v2(uint64_t);
Result cuMemcpyHtoD_v2(uint64_t, const void *, size_t);
Result cuMemcpyDtoH_v2(void *, uint64_t, size_t);
Result cuMemcpyHtoDAsync_v2(uint64_t, const void *, size_t, Handle);
Result cuMemcpyDtoHAsync_v2(void *, uint64_t, size_t, Handle);
Result cuMemcpyDtoDAsync_v2(uint64_t, uint64_t, size_t, Handle);
Result cuMemsetD8Async(uint64_t, unsigned char, size_t, Handle);
Result cuMemsetD8Async_ptsz(uint64_t, unsigned char, size_t, Handle);
Result cuMemsetD2D32Async(uint64_t, size_t, unsigned, size_t, size_t, Handle);
Result cuModuleLoadData(Handle *, const void *);
Result cuModuleGetFunction(Handle *, Handle, const char *);
Result cuLibraryLoadData(Handle *, const void *, int *, void **, unsigned, int *, void **, unsigned);
Result cuLibraryGetKernel(Handle *, Handle, const char *);
typedef Result Launch(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void **,
                      void **);
Launch cuLaunchKernel, cuLaunchKernel_ptsz;
Result cuLaunchKernelEx(const void *, Handle, void **, void **);
Result cuStreamCreate(Handle *, unsigned);
Result cuStreamSynchronize(Handle);
Result cuStreamQuery(Handle);
Result cuStreamWaitEvent(Handle, Handle, unsigned);
Result cuStreamIsCapturing(Handle, int *);
Result cuStreamBeginCapture_v2(Handle, int);
Result cuStreamBeginCapture_v2_ptsz(Handle, int);
Result cuStreamBeginCaptureToGraph(Handle, Handle, const Handle *, const void *, size_t, int);
Result cuStreamEndCapture(Handle, Handle *);
Result cuStreamEndCapture_ptsz(Handle, Handle *);
Result cuLaunchHostFunc(Handle, void (*)(void *), void *);
Result cuEventCreate(Handle *, unsigned);
Result cuEventRecord(Handle, Handle);
Result cuEventRecord_ptsz(Handle, Handle);
Result cuEventQuery(Handle);
Result cuCtxSynchronize(void);
Result cuGraphCreate(Handle *, unsigned);
Result cuGraphDestroy(Handle);
Result cuGraphAddKernelNode_v2(Handle *, Handle, const Handle *, size_t, const void *);
Result cuGraphAddMemsetNode(Handle *, Handle, const Handle *, size_t, const void *, Handle);
Result cuGraphAddChildGraphNode(Handle *, Handle, const Handle *, size_t, Handle);
Result cuGraphAddEventRecordNode(Handle *, Handle, const Handle *, size_t, Handle);
Result cuGraphAddMemAllocNode(Handle *, Handle, const Handle *, size_t, void *);
Result cuGraphAddMemFreeNode(Handle *, Handle, const Handle *, size_t, uint64_t);
Result cuGraphConditionalHandleCreate(uint64_t *, Handle, Handle, unsigned, unsigned);
Result cuGraphKernelNodeSetParams_v2(Handle, const void *);
void standin_condition(uint64_t, unsigned);
Result cuGraphAddNode_v2(Handle *, Handle, const Handle *, const void *, size_t, void *);
Result cuGraphGetNodes(Handle, Handle *, size_t *);
Result cuGraphInstantiateWithFlags(Handle *, Handle, unsigned long long);
Result cuGraphExecUpdate_v2(Handle, Handle, void *);
Result cuGraphExecKernelNodeSetParams_v2(Handle, Handle, const void *);
Result cuGraphNodeSetEnabled(Handle, Handle, unsigned);
Result cuGraphExecDestroy(Handle);
Result cuGraphLaunch(Handle, Handle);
Result cuGraphLaunch_ptsz(Handle, Handle);
int standin_invalidated(void);
int standin_graphs(void);

/* to[i] += by, of 64 threads in each of two blocks; and the same by another name. */
#define ADDS(name)                                                                                         \
    ".visible .entry " name "(.param .u64 to, .param .u32 by) {\n"                                         \
    "  .reg .b64 %rd<4>; .reg .b32 %r<8>;\n"                                                               \
    "  ld.param.u64 %rd1, [to]; ld.param.u32 %r1, [by];\n"                                                 \
    "  mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mad.lo.s32 %r5, %r3, %r4, %r2;\n" \
    "  mul.wide.s32 %rd2, %r5, 4; add.s64 %rd3, %rd1, %rd2;\n"                                             \
    "  ld.global.u32 %r6, [%rd3]; add.s32 %r6, %r6, %r1; st.global.u32 [%rd3], %r6;\n"                     \
    "  ret;\n"                                                                                             \
    "}\n"
/* Each thread goes from where it is as far as what is there says, 600 times: more than fits into one chunk. */
#define WALKS                                                                                                   \
    ".visible .entry walks(.param .u64 to, .param .u32 by) {\n"                                                 \
    "  .reg .b64 %rd<4>; .reg .b32 %r<8>; .reg .pred %p<2>;\n"                                                  \
    "  ld.param.u64 %rd1, [to]; mov.u32 %r2, %tid.x; mul.wide.s32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2;\n"    \
    "  mov.u32 %r3, 0;\n"                                                                                       \
    "L: ld.global.u32 %r4, [%rd3]; mul.wide.u32 %rd2, %r4, 4; add.s64 %rd3, %rd3, %rd2; add.s32 %r3, %r3, 1;\n" \
    "  setp.lt.u32 %p1, %r3, 600; @%p1 bra L;\n"                                                                \
    "  ret;\n"                                                                                                  \
    "}\n"
static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n" ADDS("adds") ADDS("others") WALKS;
enum { THREADS = 64, BLOCKS = 2, BYTES = THREADS * BLOCKS * 4 };

typedef struct KernelNode {
    Handle function;
    unsigned grid[3], block[3], shared;
    void **parameters, **extra;
    Handle kernel, context;
} KernelNode;

static uint64_t a, b, apart, far[2];
static Handle adds, others, walks;
static int numbers[THREADS * BLOCKS];

static Result said(const char *call, Result result) {
    printf("%s: %d\n", call, result);
    return result;
}
#define SAY(call) said(#call, call)

/* ---- Streams of each kind ------------------------------------------------------------------------ */

typedef struct Way {
    Handle stream;
    int per_thread;
} Way;

static Result launch(Handle function, uint64_t to, unsigned by, Way way) {
    void *parameters[] = {&to, &by};
    Launch *call = way.per_thread ? cuLaunchKernel_ptsz : cuLaunchKernel;
    return call(function, BLOCKS, 1, 1, THREADS, 1, 1, 0, way.stream, parameters, NULL);
}

static Result begin(Way way, int mode) {
    return way.per_thread ? cuStreamBeginCapture_v2_ptsz(way.stream, mode) : cuStreamBeginCapture_v2(way.stream, mode);
}

static Result end(Way way, Handle *graph) {
    return way.per_thread ? cuStreamEndCapture_ptsz(way.stream, graph) : cuStreamEndCapture(way.stream, graph);
}

static Result record(Handle event, Way way) {
    return way.per_thread ? cuEventRecord_ptsz(event, way.stream) : cuEventRecord(event, way.stream);
}

static Handle handle_of(Way way) {
    return way.per_thread ? (Handle)2 : way.stream;
}

static Result launch_graph(Handle exec, Way way) {
    return way.per_thread ? cuGraphLaunch_ptsz(exec, way.stream) : cuGraphLaunch(exec, way.stream);
}

static void show(uint64_t from) {
    cuCtxSynchronize();
    cuMemcpyDtoH_v2(numbers, from, BYTES);
    printf("%d and %d\n", numbers[0], numbers[THREADS * BLOCKS - 1]);
}

static void called(void *with) {
    ++*(int *)with;
}

/* Another thread launches meanwhile, in a stream that is not captured, and asks about it. */
static Handle beside;
static void *launch_beside(void *unused) {
    Handle event;
    cuEventCreate(&event, 0);
    SAY(launch(others, far[0], 1, (Way){.stream = beside}));
    SAY(cuEventRecord(event, beside));
    return unused;
}

/* All that can be put into a stream, in one that is captured. */
static void put_all(Way way, Handle child, int *calls) {
    struct {
        unsigned grid[3], block[3], shared;
        Handle stream;
        const void *attributes;
        unsigned count;
    } config = {{BLOCKS, 1, 1}, {THREADS, 1, 1}, 0, handle_of(way), NULL, 0};
    unsigned by = 1000;
    void *parameters[] = {&a, &by};
    SAY(launch(adds, a, 100, way));
    SAY(cuLaunchKernelEx(&config, adds, parameters, NULL));
    SAY(way.per_thread ? cuMemsetD8Async_ptsz(apart, 0, BYTES, way.stream)
                       : cuMemsetD8Async(apart, 0, BYTES, way.stream));
    SAY(cuMemsetD2D32Async(apart, 64, 7, 4, 2, handle_of(way)));
    SAY(cuMemcpyHtoDAsync_v2(apart, numbers, 64, handle_of(way)));
    SAY(cuMemcpyDtoDAsync_v2(apart + 64, apart, 64, handle_of(way)));
    SAY(cuMemcpyDtoHAsync_v2(numbers + 64, apart, 64, handle_of(way)));
    SAY(cuLaunchHostFunc(handle_of(way), called, calls));
    SAY(launch_graph(child, way));
}

static Handle captured_line(Way way, int mode) {
    Handle graph = NULL, exec = NULL;
    begin(way, mode);
    launch(adds, a, 1, way);
    end(way, &graph);
    cuGraphInstantiateWithFlags(&exec, graph, 0);
    return exec;
}

/* `modes`: global, thread, relaxed. `kind`: blocking, free, per-thread. A fork by an event, all streams used for the
 * first time. */
static int capture(const char *modes, const char *kind, int warm) {
    int mode = strcmp(modes, "global") == 0 ? 0 : strcmp(modes, "thread") == 0 ? 1 : 2, status = -1, calls = 0;
    int is_free = strcmp(kind, "free") == 0;
    Way way = {0}, fork = {0}, plain = {0};
    Handle forks, joins, graph = NULL, exec = NULL;
    size_t count = 0;
    pthread_t thread;
    if (strcmp(kind, "per-thread") == 0)
        way.per_thread = 1;
    else
        cuStreamCreate(&way.stream, is_free);
    cuStreamCreate(&fork.stream, is_free);
    cuStreamCreate(&plain.stream, 1);
    cuStreamCreate(&beside, 1);
    cuEventCreate(&forks, 0);
    cuEventCreate(&joins, 0);
    Handle child = captured_line(plain, 2);
    for (int i = 0; i < 3 * warm; i++)
        SAY(launch(adds, a, 0, way));
    SAY(begin(way, mode));
    SAY(record(forks, way));
    SAY(cuStreamWaitEvent(fork.stream, forks, 0));
    SAY(launch(adds, a, 1, way));
    SAY(launch(others, b, 10, fork));
    put_all(way, child, &calls);
    pthread_create(&thread, NULL, launch_beside, NULL);
    pthread_join(thread, NULL);
    SAY(launch(others, far[1], 1, plain)); /* by this thread, beside the capture */
    SAY(record(joins, fork));
    SAY(cuStreamWaitEvent(handle_of(way), joins, 0));
    SAY(cuStreamIsCapturing(handle_of(way), &status));
    SAY(end(way, &graph));
    printf("invalidated: %d, status %d\n", standin_invalidated(), status);
    if (!graph)
        return 1;
    cuGraphGetNodes(graph, NULL, &count);
    printf("nodes: %zu\n", count);
    SAY(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < 3; i++)
        SAY(launch_graph(exec, way));
    SAY(cuStreamSynchronize(handle_of(way)));
    show(a);
    show(b);
    printf("calls: %d\n", calls);
    return 0;
}

/* What the program does wrong in a capture fails as it does without us, and nothing else does. */
static int is_wrong(const char *what) {
    Way way = {0};
    Handle event, graph = NULL;
    uint64_t memory = 0;
    cuStreamCreate(&way.stream, 0);
    cuEventCreate(&event, 0);
    SAY(begin(way, 0));
    SAY(launch(adds, a, 1, way));
    SAY(cuEventRecord(event, way.stream));
    if (strcmp(what, "wrong-query") == 0)
        SAY(cuStreamQuery(way.stream));
    else if (strcmp(what, "wrong-event") == 0)
        SAY(cuEventQuery(event));
    else if (strcmp(what, "wrong-all") == 0)
        SAY(cuCtxSynchronize());
    else if (strcmp(what, "wrong-allocation") == 0)
        SAY(cuMemAlloc_v2(&memory, 64));
    else
        SAY(launch(adds, b, 1, (Way){0})); /* the default stream would wait for one that is captured */
    SAY(launch(adds, a, 1, way));
    SAY(end(way, &graph));
    SAY(launch(adds, a, 5, way));
    show(a);
    return 0;
}

/* ---- Graphs -------------------------------------------------------------------------------------- */

static Handle add_kernel(Handle graph, Handle function, uint64_t to, unsigned by, Handle before) {
    void *parameters[] = {&to, &by};
    KernelNode kernel = {function, {BLOCKS, 1, 1}, {THREADS, 1, 1}, 0, parameters, NULL, NULL, NULL};
    Handle node = NULL;
    SAY(cuGraphAddKernelNode_v2(&node, graph, &before, before != NULL, &kernel));
    return node;
}

static Handle add_set(Handle graph, uint64_t to, Handle before) {
    struct {
        uint64_t to;
        size_t pitch;
        unsigned value, element;
        size_t width, height;
    } set = {to, 0, 0, 1, BYTES, 1};
    Handle node = NULL;
    SAY(cuGraphAddMemsetNode(&node, graph, &before, before != NULL, &set, NULL));
    return node;
}

static Handle executable(Handle graph, unsigned long long flags) {
    Handle exec = NULL;
    SAY(cuGraphInstantiateWithFlags(&exec, graph, flags));
    return exec;
}

static int runs(Handle exec, int times, Handle stream) {
    for (int i = 0; i < times; i++)
        if (cuGraphLaunch(exec, stream))
            return said("cuGraphLaunch", 1);
    SAY(cuStreamSynchronize(stream));
    show(a);
    show(b);
    return 0;
}

static int set_kernel(Handle exec, Handle node, uint64_t to, unsigned by) {
    void *parameters[] = {&to, &by};
    KernelNode kernel = {adds, {BLOCKS, 1, 1}, {THREADS, 1, 1}, 0, parameters, NULL, NULL, NULL};
    return SAY(cuGraphExecKernelNodeSetParams_v2(exec, node, &kernel));
}

/* Two kernels and a memset between them that the second does, or does not, depend on. */
static Handle branches(int joined) {
    Handle graph, node, end[2];
    cuGraphCreate(&graph, 0);
    node = add_kernel(graph, adds, a, 1, NULL);
    end[0] = add_kernel(graph, others, joined ? b : a, 2, node);
    end[1] = add_kernel(graph, adds, a, 4, node);
    KernelNode kernel = {others, {BLOCKS, 1, 1}, {THREADS, 1, 1}, 0, (void *[]){&b, &(unsigned){8}}, NULL, NULL, NULL};
    SAY(cuGraphAddKernelNode_v2(&node, graph, end, 2, &kernel));
    return graph;
}

enum { IF, WHILE, SWITCH };
static const Handle *conditional(Handle graph, Handle before, int kind, unsigned count, uint64_t *handle) {
    struct {
        int type, reserved[3];
        uint64_t handle;
        int kind;
        unsigned count;
        Handle *graphs;
        long long rest[28];
    } any = {.type = 13, .kind = kind, .count = count};
    Handle node = NULL;
    SAY(cuGraphConditionalHandleCreate(handle, graph, NULL, 0, 0));
    any.handle = *handle;
    SAY(cuGraphAddNode_v2(&node, graph, &before, NULL, before != NULL, &any));
    return any.graphs;
}

static Handle add_memory(Handle graph, uint64_t *to, Handle before) {
    struct {
        char pool[88];
        const void *access;
        size_t access_count, bytes;
        uint64_t at;
    } with = {.bytes = BYTES};
    Handle node = NULL;
    SAY(cuGraphAddMemAllocNode(&node, graph, &before, before != NULL, &with));
    *to = with.at;
    return node;
}

static int graphs(const char *what) {
    Handle graph, node, exec, stream, other, event;
    cuGraphCreate(&graph, 0);
    cuStreamCreate(&stream, 1);
    cuStreamCreate(&other, 1);
    cuEventCreate(&event, 0);
    if (strcmp(what, "line") == 0 || strcmp(what, "many") == 0) {
        node = add_kernel(graph, adds, a, 1, add_set(graph, b, NULL));
        add_kernel(graph, others, b, 2, node);
        return runs(executable(graph, 0), strcmp(what, "many") == 0 ? 100 : 1, stream);
    }
    if (strcmp(what, "branches") == 0 || strcmp(what, "racing") == 0)
        return runs(executable(branches(strcmp(what, "branches") == 0), 0), 5, stream);
    if (strcmp(what, "default") == 0)
        return runs(executable(branches(1), 0), 5, NULL);
    if (strcmp(what, "child") == 0) {
        Handle within;
        cuGraphCreate(&within, 0);
        add_kernel(within, adds, a, 1, NULL);
        SAY(cuGraphAddChildGraphNode(&node, graph, NULL, 0, within));
        add_kernel(graph, adds, a, 10, node);
        return runs(executable(graph, 0), 5, stream);
    }
    if (strcmp(what, "set") == 0) { /* each launch has other numbers, and the first again */
        node = add_kernel(graph, adds, a, 1, NULL);
        exec = executable(graph, 0);
        for (unsigned i = 0; i < 8; i++)
            if (runs(exec, 1, stream) || set_kernel(exec, node, i < 4 ? a : b, i < 2 ? 7 : 1))
                return 1;
        return 0;
    }
    if (strcmp(what, "updated") == 0) {
        Handle with;
        add_kernel(graph, adds, a, 1, NULL);
        exec = executable(graph, 0);
        runs(exec, 5, stream);
        cuGraphCreate(&with, 0);
        add_kernel(with, others, b, 3, NULL);
        SAY(cuGraphExecUpdate_v2(exec, with, NULL));
        SAY(cuGraphDestroy(with));
        return runs(exec, 5, stream);
    }
    if (strcmp(what, "disabled") == 0) {
        node = add_kernel(graph, adds, a, 1, NULL);
        add_kernel(graph, others, b, 1, NULL);
        exec = executable(graph, 0);
        runs(exec, 1, stream);
        SAY(cuGraphNodeSetEnabled(exec, node, 0));
        return runs(exec, 1, stream);
    }
    uint64_t condition = 0, memory;
    if (strncmp(what, "conditional", 11) == 0) { /* of two bodies one is run; it is the other one from some launch on */
        int races = strcmp(what, "conditional-race") == 0, beside = strcmp(what, "conditional-beside") == 0;
        node = add_kernel(graph, others, b, 2, NULL);
        const Handle *bodies = conditional(graph, races || beside ? NULL : node,
                                           strcmp(what, "conditional-switch") == 0 ? SWITCH : IF, 2, &condition);
        add_kernel(bodies[0], adds, races ? b : a, 1, NULL);
        add_kernel(bodies[1], adds, a, 2, NULL);
        exec = executable(graph, 0);
        SAY(cuGraphDestroy(graph));
        for (int i = 0; i < 6; i++) {
            standin_condition(condition, i < 5);
            SAY(cuGraphLaunch(exec, stream));
        }
        SAY(cuGraphExecDestroy(exec));
        show(a);
        show(b);
        return 0;
    }
    if (strcmp(what, "loop") == 0) { /* a body that is run three times */
        node = add_kernel(graph, others, b, 2, NULL);
        Handle body = conditional(graph, node, WHILE, 1, &condition)[0];
        add_kernel(body, walks, far[0], 1, add_kernel(body, adds, a, 1, NULL));
        exec = executable(graph, 0);
        standin_condition(condition, 3);
        SAY(cuGraphLaunch(exec, stream));
        show(a);
        return 0;
    }
    if (strncmp(what, "allocates", 9) == 0) { /* its own memory, which it frees; nothing orders the last two, or it is
                                                 launched with nothing freed, or a node of it is changed later */
        node = add_kernel(graph, adds, a, 1, add_memory(graph, &memory, NULL));
        Handle changed = node;
        node = add_kernel(graph, others, memory, 2, node);
        add_kernel(graph, adds, strcmp(what, "allocates-race") == 0 ? memory : a, 3, changed);
        if (strcmp(what, "allocates-only") != 0)
            SAY(cuGraphAddMemFreeNode(&node, graph, &node, 1, memory));
        exec = executable(graph, 0);
        if (strcmp(what, "allocates-changed") == 0) {
            KernelNode kernel = {adds, {BLOCKS, 1, 1}, {THREADS, 1, 1}, 0, (void *[]){&b, &(unsigned){8}}, NULL, NULL,
                                 NULL};
            SAY(cuGraphKernelNodeSetParams_v2(changed, &kernel));
        }
        SAY(cuGraphDestroy(graph));
        for (int i = 0; i < 2; i++)
            SAY(cuGraphLaunch(exec, stream));
        SAY(cuGraphLaunch(exec, stream));
        SAY(cuGraphExecDestroy(exec));
        show(a);
        show(b);
        return 0;
    }
    if (strcmp(what, "to-graph") == 0) { /* captured into a graph that is there */
        Way way = {.stream = stream};
        SAY(cuStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0, 0));
        SAY(launch(adds, a, 1, way));
        SAY(end(way, &graph));
        return runs(executable(graph, 0), 5, stream);
    }
    if (strncmp(what, "wide", 4) == 0) { /* more branches than are recorded */
        for (int i = 0; i < 20; i++)
            if (strcmp(what, "wide") == 0)
                add_kernel(graph, adds, i ? b : a, 0, NULL);
            else
                add_set(graph, b, NULL);
        return runs(executable(graph, 0), 1, stream);
    }
    if (strcmp(what, "joins") == 0) { /* branches that are joined, again and again */
        node = NULL;
        for (int i = 0; i < 10; i++) {
            Handle ends[2] = {add_kernel(graph, adds, a, 1, node), add_kernel(graph, others, b, 1, node)};
            node = add_kernel(graph, adds, far[0], 1, ends[0]);
            KernelNode kernel = {
                adds, {BLOCKS, 1, 1}, {THREADS, 1, 1}, 0, (void *[]){&far[0], &(unsigned){1}}, NULL, NULL, NULL};
            ends[0] = node;
            SAY(cuGraphAddKernelNode_v2(&node, graph, ends, 2, &kernel));
        }
        return runs(executable(graph, 0), 1, stream);
    }
    if (strcmp(what, "extra") == 0) { /* parameters as one block */
        struct {
            uint64_t to;
            unsigned by;
        } block = {a, 3};
        size_t size = 12;
        void *extra[] = {(void *)1, &block, (void *)2, &size, NULL};
        KernelNode kernel = {adds, {BLOCKS, 1, 1}, {THREADS, 1, 1}, 0, NULL, extra, NULL, NULL};
        SAY(cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &kernel));
        return runs(executable(graph, 0), 5, stream);
    }
    if (strcmp(what, "library") == 0) { /* a kernel that the driver knows by another handle in a node */
        Handle library, kernel;
        Way way = {.stream = stream};
        SAY(cuLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
        SAY(cuLibraryGetKernel(&kernel, library, "adds"));
        SAY(begin(way, 0));
        SAY(launch(kernel, a, 1, way));
        SAY(end(way, &graph));
        return runs(executable(graph, 0), 5, stream);
    }
    if (strcmp(what, "dependent") == 0) { /* launches that may begin before the ones before them have ended */
        struct {
            int id, pad, value, rest[15];
        } attribute = {.id = 6, .value = 1};
        struct {
            unsigned grid[3], block[3], shared;
            Handle stream;
            const void *attributes;
            unsigned count;
        } config = {{BLOCKS, 1, 1}, {THREADS, 1, 1}, 0, stream, &attribute, 1};
        unsigned by = 1000;
        void *parameters[] = {&a, &by};
        Way way = {.stream = stream};
        SAY(begin(way, 0));
        SAY(launch(adds, a, 1, way));
        SAY(cuLaunchKernelEx(&config, others, parameters, NULL));
        SAY(end(way, &graph));
        return runs(executable(graph, 0), 5, stream);
    }
    if (strncmp(what, "port-", 5) == 0) { /* edges that do not wait for the end of the kernel before */
        struct {
            int type, reserved[3];
            KernelNode kernel;
            long long rest[30];
        } any = {
            .kernel = {others, {BLOCKS, 1, 1}, {THREADS, 1, 1}, 0, (void *[]){&a, &(unsigned){8}}, NULL, NULL, NULL}};
        const unsigned char edge[8] = {strcmp(what, "port-programmatic") == 0 ? 1 : 2, 0, 1};
        node = add_kernel(graph, adds, a, 1, NULL);
        SAY(cuGraphAddNode_v2(&node, graph, &node, edge, 1, &any));
        return runs(executable(graph, 0), 1, stream);
    }
    if (strncmp(what, "sets", 4) == 0) { /* two memsets, and an edge between them, or none */
        node = add_set(graph, a, add_kernel(graph, adds, b, 1, NULL));
        add_set(graph, a, strcmp(what, "sets") == 0 ? node : NULL);
        return runs(executable(graph, 0), 5, stream);
    }
    if (strcmp(what, "set-racing") == 0) { /* a memset and a kernel without an edge */
        add_set(graph, a, NULL);
        add_kernel(graph, adds, a, 1, NULL);
        return runs(executable(graph, 0), 5, stream);
    }
    if (strcmp(what, "device") == 0) {
        add_kernel(graph, adds, a, 1, NULL);
        return runs(executable(graph, 4), 1, stream);
    }
    if (strcmp(what, "streams") == 0) { /* in two of them, in turns */
        node = add_kernel(graph, adds, a, 1, NULL);
        SAY(cuGraphAddEventRecordNode(&node, graph, &node, 1, event));
        exec = executable(graph, 0);
        for (int i = 0; i < 10; i++)
            SAY(cuGraphLaunch(exec, i % 2 ? other : stream));
        SAY(cuGraphExecDestroy(exec));
        show(a);
        return 0;
    }
    if (strcmp(what, "beside") == 0) { /* a graph and a launch in another stream that writes the same */
        add_kernel(graph, adds, a, 1, NULL);
        exec = executable(graph, 0);
        SAY(cuGraphLaunch(exec, stream));
        SAY(launch(others, a, 1, (Way){.stream = other}));
        return 0;
    }
    if (strncmp(what, "late", 4) == 0) { /* the same, with launches of the graph alone before; or of other memory */
        uint64_t to = strcmp(what, "late") == 0 ? a : b;
        if (strcmp(what, "late-set") == 0)
            add_set(graph, b, NULL);
        else
            add_kernel(graph, adds, a, 1, NULL);
        exec = executable(graph, 0);
        runs(exec, 5, stream);
        for (int i = 0; i < 12; i++) {
            SAY(cuGraphLaunch(exec, stream));
            SAY(launch(others, to, 1, (Way){.stream = other}));
            cuCtxSynchronize();
        }
        return 0;
    }
    if (strcmp(what, "set-beside") == 0) { /* a memset of a graph and a launch */
        add_set(graph, a, NULL);
        exec = executable(graph, 0);
        SAY(cuGraphLaunch(exec, stream));
        SAY(launch(others, a, 1, (Way){.stream = other}));
        return 0;
    }
    if (strcmp(what, "fails") == 0) {
        add_kernel(graph, adds, 16, 1, NULL);
        SAY(cuGraphLaunch(executable(graph, 0), stream));
        SAY(cuStreamSynchronize(stream));
        return 0;
    }
    return 2;
}

int main(int count, char **words) {
    const char *what = count > 1 ? words[1] : "line";
    Handle module;
    if (cuInit(0) || cuModuleLoadData(&module, text) || cuModuleGetFunction(&adds, module, "adds") ||
        cuModuleGetFunction(&others, module, "others") || cuModuleGetFunction(&walks, module, "walks") ||
        cuMemAlloc_v2(&a, BYTES) || cuMemAlloc_v2(&apart, BYTES) || cuMemAlloc_v2(&b, BYTES) ||
        cuMemAlloc_v2(&far[0], BYTES) || cuMemAlloc_v2(&far[1], BYTES) || cuMemcpyHtoD_v2(a, numbers, BYTES) ||
        cuMemcpyHtoD_v2(b, numbers, BYTES) || cuCtxSynchronize())
        return 2;
    if (strcmp(what, "capture") == 0 && count > 3)
        return capture(words[2], words[3], count > 4);
    if (strncmp(what, "wrong", 5) == 0)
        return is_wrong(what);
    return graphs(what);
}
