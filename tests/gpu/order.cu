/* What orders the operations of a program, on a GPU: tests/gpu/order.sh runs each case with and without Weir. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>
#include <pthread.h>
#include <unistd.h>

enum { WORDS = 1 << 16, BYTES = 4 * WORDS };

__global__ void produce(unsigned *to) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = i;
}
__global__ void consume(const unsigned *from, unsigned *to) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = from[i] + 1;
}

__global__ void produce_early(unsigned *to) {
    cudaTriggerProgrammaticLaunchCompletion();
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = i;
}
__global__ void consume_behind(const unsigned *from, unsigned *to) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    cudaGridDependencySynchronize();
    to[i] = from[i] + 1;
}

static void check(cudaError_t error, int line) {
    if (error) {
        printf("line %d: %s\n", line, cudaGetErrorString(error));
        exit(2);
    }
}
#define CHECK(call) check(call, __LINE__)

static unsigned *box, *other, *out, *pinned, *pageable;
static cudaStream_t one, two;
static cudaEvent_t event;

static void write_in(cudaStream_t stream) {
    produce<<<WORDS / 256, 256, 0, stream>>>(box);
    CHECK(cudaGetLastError());
}
static void read_in(cudaStream_t stream) {
    consume<<<WORDS / 256, 256, 0, stream>>>(box, out);
    CHECK(cudaGetLastError());
}
static void *wait_for_one(void *unused) {
    CHECK(cudaStreamSynchronize(one));
    return unused;
}
static void *read_in_two(void *unused) {
    read_in(two);
    return unused;
}
static bool is(const char *what, const char *name) {
    return strcmp(what, name) == 0;
}

static void threads(const char *what) {
    pthread_t thread;
    write_in(one);
    if (is(what, "thread-made"))
        wait_for_one(NULL);
    if (pthread_create(&thread, NULL, is(what, "thread-made") ? read_in_two : wait_for_one, NULL))
        exit(2);
    if (is(what, "thread-other"))
        usleep(200000);
    else
        pthread_join(thread, NULL);
    if (!is(what, "thread-made"))
        read_in(two);
}

static void graph(bool edge) {
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t node, next;
    cudaMemsetParams set = {};
    set.dst = box;
    set.elementSize = 4;
    set.width = WORDS;
    set.height = 1;
    cudaKernelNodeParams kernel = {};
    void *parameters[] = {&box, &out};
    kernel.func = (void *)consume;
    kernel.gridDim = dim3(WORDS / 256);
    kernel.blockDim = dim3(256);
    kernel.kernelParams = parameters;
    CHECK(cudaGraphCreate(&graph, 0));
    CHECK(cudaGraphAddMemsetNode(&node, graph, NULL, 0, &set));
    CHECK(cudaGraphAddKernelNode(&next, graph, edge ? &node : NULL, edge, &kernel));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 5; i++)
        CHECK(cudaGraphLaunch(exec, one));
}

/* A launch that may begin before the one before it has ended. */
static void dependent(const char *what) {
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(WORDS / 256);
    config.blockDim = dim3(256);
    config.stream = strstr(what, "default") ? 0 : one;
    config.attrs = &attribute;
    config.numAttrs = 1;
    const unsigned *from = strstr(what, "elsewhere") ? other : box;
    if (strstr(what, "early"))
        produce_early<<<WORDS / 256, 256, 0, config.stream>>>(box);
    else
        write_in(config.stream);
    if (strstr(what, "event"))
        CHECK(cudaEventRecord(event, config.stream));
    CHECK(cudaLaunchKernelEx(&config, strstr(what, "waits") ? consume_behind : consume, from, out));
}

static void order(cudaStream_t first, cudaStream_t then) {
    CHECK(cudaEventRecord(event, first));
    CHECK(cudaStreamWaitEvent(then, event, 0));
}

/* Memory of a pool: allocated and freed in stream one, used in stream two; what is between them is left out by name. */
static void pool(const char *what) {
    unsigned *memory, *again;
    cudaMemPool_t made = NULL;
    cudaMemPoolProps props = {};
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    if (strstr(what, "from"))
        CHECK(cudaMemPoolCreate(&made, &props));
    if (strstr(what, "malloc"))
        CHECK(cudaMalloc(&memory, BYTES));
    else if (made)
        CHECK(cudaMallocFromPoolAsync(&memory, BYTES, made, one));
    else
        CHECK(cudaMallocAsync(&memory, BYTES, one));
    if (!strstr(what, "early"))
        order(one, two);
    if (strstr(what, "copy"))
        CHECK(cudaMemsetAsync(memory, 0, BYTES, two));
    else
        produce<<<WORDS / 256, 256, 0, two>>>(memory);
    if (!strstr(what, "late") && !strstr(what, "host"))
        order(two, one);
    if (strstr(what, "wait"))
        CHECK(cudaStreamSynchronize(two));
    if (strstr(what, "host"))
        CHECK(cudaFree(memory));
    else
        CHECK(cudaFreeAsync(memory, one));
    if (strstr(what, "trim")) {
        CHECK(cudaStreamSynchronize(one));
        CHECK(cudaDeviceGetDefaultMemPool(&made, 0));
        CHECK(cudaMemPoolTrimTo(made, 0));
    }
    if (strstr(what, "again")) {
        CHECK(cudaMallocAsync(&again, BYTES, two));
        consume<<<WORDS / 256, 256, 0, two>>>(again, out);
        CHECK(cudaFreeAsync(again, two));
    }
    if (strstr(what, "behind"))
        produce<<<WORDS / 256, 256, 0, one>>>(memory);
}

/* Memory that a graph allocates, and that lives on behind it. */
static void graph_memory(const char *what) {
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    unsigned *memory;
    CHECK(cudaStreamBeginCapture(one, cudaStreamCaptureModeRelaxed));
    CHECK(cudaMallocAsync(&memory, BYTES, one));
    produce<<<WORDS / 256, 256, 0, one>>>(memory);
    if (strstr(what, "inside"))
        CHECK(cudaFreeAsync(memory, one));
    CHECK(cudaStreamEndCapture(one, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, one));
    if (strstr(what, "inside"))
        return;
    if (!strstr(what, "early"))
        order(one, two);
    consume<<<WORDS / 256, 256, 0, two>>>(memory, out);
    if (!strstr(what, "late"))
        order(two, one);
    CHECK(cudaFreeAsync(memory, one));
}

/* It waits for the device. */
static void free_waits(bool waits) {
    write_in(one);
    if (waits)
        CHECK(cudaFree(other));
    read_in(two);
}

static void copies(const char *what) {
    CHECK(cudaMemcpyAsync(box, pinned, BYTES, cudaMemcpyHostToDevice, one));
    if (is(what, "copies-event")) {
        CHECK(cudaEventRecord(event, one));
        CHECK(cudaStreamWaitEvent(two, event, 0));
    }
    CHECK(cudaMemsetAsync(is(what, "copies-elsewhere") ? other : box + 16, 0, 64, two));
}

static void synchronous(const char *what) {
    if (strstr(what, "memops")) {
        unsigned on = 1;
        if (cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, (CUdeviceptr)box))
            exit(2);
    }
    if (strstr(what, "in"))
        CHECK(cudaMemcpy(box, strstr(what, "pinned") ? pinned : pageable, BYTES, cudaMemcpyHostToDevice));
    else if (strstr(what, "device"))
        CHECK(cudaMemcpy(box, other, BYTES, cudaMemcpyDeviceToDevice));
    else
        CHECK(cudaMemset(box, 0, BYTES));
    read_in(strstr(what, "default") ? 0 : two);
}

int main(int count, char **words) {
    const char *what = count > 1 ? words[1] : "event";
    CHECK(cudaMalloc(&box, BYTES));
    CHECK(cudaMalloc(&other, BYTES));
    CHECK(cudaMalloc(&out, BYTES));
    CHECK(cudaMallocHost(&pinned, BYTES));
    pageable = (unsigned *)calloc(WORDS, 4);
    memset(pinned, 0, BYTES);
    CHECK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    CHECK(cudaDeviceSynchronize());
    if (strncmp(what, "thread-", 7) == 0) {
        threads(what);
    } else if (strncmp(what, "graph", 5) == 0) {
        graph(is(what, "graph"));
    } else if (strncmp(what, "copies-", 7) == 0) {
        write_in(one);
        CHECK(cudaDeviceSynchronize());
        copies(what);
    } else if (strncmp(what, "sync-", 5) == 0) {
        synchronous(what + 5);
    } else if (strncmp(what, "dependent-", 10) == 0) {
        dependent(what);
    } else if (strncmp(what, "memory-", 7) == 0) {
        graph_memory(what);
    } else if (strncmp(what, "pool", 4) == 0) {
        pool(what);
    } else if (strncmp(what, "free", 4) == 0) {
        free_waits(is(what, "free"));
    } else if (is(what, "shared")) { /* with no other process */
        cudaIpcMemHandle_t handle;
        write_in(one);
        read_in(one);
        CHECK(cudaIpcGetMemHandle(&handle, box));
    } else {
        write_in(one);
        if (is(what, "event")) {
            CHECK(cudaEventRecord(event, one));
            CHECK(cudaStreamWaitEvent(two, event, 0));
        }
        read_in(two);
    }
    CHECK(cudaDeviceSynchronize());
    puts("done");
    return 0;
}
