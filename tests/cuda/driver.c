/* A program of the CUDA driver, without cuda.h: driver CASE [ARGUMENT]. What it expects is what an H200 does, but in
 * the cases `handles` and `bounds`. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Of cuda.h ---- */

typedef int CUresult;
typedef uint64_t CUdeviceptr;
typedef void *CUcontext, *CUmodule, *CUfunction, *CUstream, *CUevent, *CUgraph, *CUgraphNode, *CUgraphExec,
    *CUlinkState;
typedef struct Launch { /* CUlaunchConfig */
    unsigned grid[3], block[3], shared;
    CUstream stream;
    const void *attributes;
    unsigned attribute_count;
} Launch;
typedef struct Attribute { /* CUlaunchAttribute */
    int id;
    char pad[4];
    union {
        char bytes[64];
        unsigned cluster[3];
        int number;
    } value;
} Attribute;
typedef struct Rows { /* CUDA_MEMCPY2D */
    size_t from_x, from_y;
    int from_kind;
    const void *from_host;
    CUdeviceptr from_device;
    void *from_array;
    size_t from_pitch, to_x, to_y;
    int to_kind;
    void *to_host;
    CUdeviceptr to_device;
    void *to_array;
    size_t to_pitch, width, height;
} Rows;
typedef struct Slices { /* CUDA_MEMCPY3D */
    size_t from_x, from_y, from_z, from_level;
    int from_kind;
    const void *from_host;
    CUdeviceptr from_device;
    void *from_array, *from_rest;
    size_t from_pitch, from_height, to_x, to_y, to_z, to_level;
    int to_kind;
    void *to_host;
    CUdeviceptr to_device;
    void *to_array, *to_rest;
    size_t to_pitch, to_height, width, height, depth;
} Slices;
typedef struct KernelNode { /* CUDA_KERNEL_NODE_PARAMS_v2 */
    CUfunction function;
    unsigned grid[3], block[3], shared;
    void **parameters, **extra;
    void *kernel;
    CUcontext context;
} KernelNode;
typedef struct FillNode { /* CUDA_MEMSET_NODE_PARAMS */
    CUdeviceptr to;
    size_t pitch;
    unsigned value, element;
    size_t width, height;
} FillNode;
enum { HOST = 1, DEVICE = 2 };

CUresult cuInit(unsigned flags), cuDriverGetVersion(int *version), cuDeviceGet(int *device, int number);
CUresult cuDeviceGetCount(int *count), cuDeviceGetName(char *name, int size, int device);
CUresult cuDeviceGetAttribute(int *value, int attribute, int device), cuDeviceTotalMem_v2(size_t *bytes, int device);
CUresult cuDevicePrimaryCtxRetain(CUcontext *to, int device), cuDevicePrimaryCtxRelease_v2(int device);
CUresult cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active);
CUresult cuCtxCreate_v2(CUcontext *to, unsigned flags, int device), cuCtxDestroy_v2(CUcontext context);
CUresult cuCtxPushCurrent_v2(CUcontext context), cuCtxPopCurrent_v2(CUcontext *to), cuCtxSetCurrent(CUcontext context);
CUresult cuCtxGetCurrent(CUcontext *to), cuCtxSynchronize(void), cuCtxGetDevice(int *device);
CUresult cuModuleLoad(CUmodule *to, const char *path), cuModuleLoadData(CUmodule *to, const void *image);
CUresult cuModuleLoadDataEx(CUmodule *to, const void *image, unsigned count, int *options, void **values);
CUresult cuModuleUnload(CUmodule module), cuModuleGetFunction(CUfunction *to, CUmodule module, const char *name);
CUresult cuModuleGetGlobal_v2(CUdeviceptr *to, size_t *bytes, CUmodule module, const char *name);
CUresult cuLibraryLoadData(void **to, const void *image, int *options, void **values, unsigned count, int *others,
                           void **other_values, unsigned other_count);
CUresult cuLibraryGetKernel(void **to, void *library, const char *name), cuLibraryUnload(void *library);
CUresult cuLibraryGetKernelCount(unsigned *count, void *library), cuKernelGetFunction(CUfunction *to, void *kernel);
CUresult cuLinkCreate_v2(unsigned count, int *options, void **values, CUlinkState *to);
CUresult cuLinkAddData_v2(CUlinkState state, int type, void *data, size_t size, const char *name, unsigned count,
                          int *options, void **values);
CUresult cuLinkComplete(CUlinkState state, void **image, size_t *size), cuLinkDestroy(CUlinkState state);
CUresult cuMemAlloc_v2(CUdeviceptr *to, size_t bytes), cuMemFree_v2(CUdeviceptr memory);
CUresult cuMemAllocPitch_v2(CUdeviceptr *to, size_t *pitch, size_t width, size_t height, unsigned element);
CUresult cuMemHostAlloc(void **to, size_t bytes, unsigned flags), cuMemFreeHost(void *memory);
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *to, void *memory, unsigned flags);
CUresult cuMemAllocManaged(CUdeviceptr *to, size_t bytes, unsigned flags);
CUresult cuMemAllocAsync(CUdeviceptr *to, size_t bytes, CUstream stream),
    cuMemFreeAsync(CUdeviceptr at, CUstream stream);
CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr memory);
CUresult cuPointerGetAttribute(void *data, int attribute, CUdeviceptr memory);
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes);
CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes);
CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes);
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream);
CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream);
CUresult cuMemcpyDtoH_v2_ptds(void *to, CUdeviceptr from, size_t bytes);
CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes);
CUresult cuMemcpy2D_v2(const Rows *rows), cuMemcpy3D_v2(const Slices *slices);
CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count);
CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count);
CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t count);
CUresult cuMemsetD2D32_v2(CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height);
CUresult cuStreamCreate(CUstream *to, unsigned flags), cuStreamDestroy_v2(CUstream stream);
CUresult cuStreamSynchronize(CUstream stream), cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags);
CUresult cuStreamGetCtx(CUstream stream, CUcontext *to);
CUresult cuStreamBeginCapture_v2(CUstream stream, int mode), cuStreamEndCapture(CUstream stream, CUgraph *to);
CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr at, uint32_t value, unsigned flags);
CUresult cuEventCreate(CUevent *to, unsigned flags), cuEventRecord(CUevent event, CUstream stream);
CUresult cuEventElapsedTime(float *milliseconds, CUevent begin, CUevent end), cuEventDestroy_v2(CUevent event);
CUresult cuLaunchKernel(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                        unsigned bz, unsigned shared, CUstream stream, void **parameters, void **extra);
CUresult cuLaunchKernel_ptsz(CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                             unsigned bz, unsigned shared, CUstream stream, void **parameters, void **extra);
CUresult cuLaunchKernelEx(const Launch *launch, CUfunction function, void **parameters, void **extra);
CUresult cuLaunchHostFunc(CUstream stream, void (*function)(void *), void *data);
CUresult cuFuncGetAttribute(int *value, int attribute, CUfunction function);
CUresult cuFuncSetAttribute(CUfunction function, int attribute, int value);
CUresult cuFuncGetName(const char **name, CUfunction function);
CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *size);
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *count, CUfunction function, int threads, size_t shared);
CUresult cuOccupancyMaxPotentialBlockSize(int *ctas, int *threads, CUfunction function, size_t (*shared_of)(int),
                                          size_t shared, int most);
CUresult cuGraphCreate(CUgraph *to, unsigned flags), cuGraphDestroy(CUgraph graph),
    cuGraphExecDestroy(CUgraphExec exec);
CUresult cuGraphAddKernelNode_v2(CUgraphNode *to, CUgraph graph, const CUgraphNode *from, size_t count,
                                 const KernelNode *node);
CUresult cuGraphAddMemcpyNode(CUgraphNode *to, CUgraph graph, const CUgraphNode *from, size_t count,
                              const Slices *slices, CUcontext context);
CUresult cuGraphAddMemsetNode(CUgraphNode *to, CUgraph graph, const CUgraphNode *from, size_t count,
                              const FillNode *node, CUcontext context);
CUresult cuGraphInstantiateWithFlags(CUgraphExec *to, CUgraph graph, unsigned long long flags);
CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream);
CUresult cuTensorMapEncodeTiled(void *map, int type, unsigned rank, void *address, const uint64_t *sizes,
                                const uint64_t *strides, const uint32_t *box, const uint32_t *steps, int interleave,
                                int swizzle, int promotion, int fill);
CUresult cuGetProcAddress_v2(const char *name, void **to, int version, uint64_t flags, int *status);
CUresult cuGetErrorName(CUresult error, const char **name), cuGetErrorString(CUresult error, const char **text);

/* ---- Kernels ---- */

/* clang-format off */
#define ELEMENT() "\tmov.u32 %r1, %tid.x;\n\tmov.u32 %r2, %ctaid.x;\n\tmov.u32 %r3, %ntid.x;\n" \
    "\tmad.lo.s32 %r4, %r2, %r3, %r1;\n\tmul.wide.s32 %rd1, %r4, 4;\n"
#define MIRROR(name, barrier) \
    ".visible .entry " name "(.param .u64 b, .param .u64 a)\n{\n\t.reg .b32 %r<12>;\n\t.reg .b64 %rd<8>;\n" \
    "\t.shared .align 4 .b8 tile[256];\n" ELEMENT() \
    "\tld.param.u64 %rd2, [a];\n\tadd.s64 %rd3, %rd2, %rd1;\n\tld.global.u32 %r5, [%rd3];\n" \
    "\tmov.u32 %r6, tile;\n\tshl.b32 %r7, %r1, 2;\n\tadd.s32 %r8, %r6, %r7;\n" \
    "\t.loc 1 11 5\n\tst.shared.u32 [%r8], %r5;\n" barrier "\tsub.s32 %r9, 252, %r7;\n\tadd.s32 %r9, %r6, %r9;\n" \
    "\t.loc 1 13 9\n\tld.shared.u32 %r10, [%r9];\n" \
    "\tld.param.u64 %rd4, [b];\n\tadd.s64 %rd5, %rd4, %rd1;\n\tst.global.u32 [%rd5], %r10;\n\tret;\n}\n"

static const char ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".global .align 4 .u32 bias = 5;\n.const .align 4 .b8 scale[8];\n"
    /* a[i] += b[i] + bias, for i < n */
    ".visible .entry add(.param .u64 a, .param .u64 b, .param .u32 n)\n{\n\t.reg .pred %p<2>;\n\t.reg .b32 %r<12>;\n"
    "\t.reg .b64 %rd<8>;\n" ELEMENT() "\tld.param.u32 %r5, [n];\n\tsetp.ge.s32 %p1, %r4, %r5;\n\t@%p1 bra done;\n"
    "\tld.param.u64 %rd2, [a];\n\tld.param.u64 %rd3, [b];\n\tadd.s64 %rd4, %rd2, %rd1;\n\tadd.s64 %rd5, %rd3, %rd1;\n"
    "\tld.global.u32 %r6, [%rd4];\n\tld.global.u32 %r7, [%rd5];\n\tadd.s32 %r8, %r6, %r7;\n"
    "\tld.global.u32 %r9, [bias];\n\tadd.s32 %r8, %r8, %r9;\n\tst.global.u32 [%rd4], %r8;\ndone:\n\tret;\n}\n"
    MIRROR("mirror", "\tbar.sync 0;\n") MIRROR("mirror_without", "")
    /* a[i] = the number of CTAs of the cluster */
    ".file 1 \"mirror.cu\"\n";

static const char ptx_90[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry clusters(.param .u64 a)\n{\n\t.reg .b32 %r<12>;\n\t.reg .b64 %rd<8>;\n" ELEMENT()
    "\tld.param.u64 %rd2, [a];\n\tadd.s64 %rd3, %rd2, %rd1;\n\tmov.u32 %r5, %cluster_nctaid.x;\n"
    "\tst.global.u32 [%rd3], %r5;\n\tret;\n}\n"
    /* a[i] of the box of 8 x 16 elements at column 8, row 4 */
    ".visible .entry box(.param .align 64 .b8 map[128], .param .u64 a)\n{\n\t.reg .pred %p<3>;\n\t.reg .b32 %r<16>;\n"
    "\t.reg .b64 %rd<8>;\n\t.shared .align 128 .b8 tile[512];\n\t.shared .align 8 .b8 full[8];\n" ELEMENT()
    "\tmov.u32 %r6, tile;\n\tmov.u32 %r7, full;\n\tsetp.ne.s32 %p1, %r1, 0;\n\t@%p1 bra ready;\n"
    "\tmbarrier.init.shared.b64 [%r7], 1;\n\tfence.proxy.async.shared::cta;\n"
    "\tmbarrier.arrive.expect_tx.shared::cta.b64 %rd4, [%r7], 512;\n\tmov.b64 %rd5, map;\n\tcvta.param.u64 %rd5, %rd5;\n"
    "\tmov.b32 %r8, 8;\n\tmov.b32 %r9, 4;\n"
    "\tcp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r6], [%rd5, {%r8, %r9}], [%r7];\n"
    "ready:\n\tbar.sync 0;\nagain:\n\tmbarrier.try_wait.parity.shared::cta.b64 %p2, [%r7], 0;\n\t@!%p2 bra again;\n"
    "\tshl.b32 %r10, %r1, 2;\n\tadd.s32 %r11, %r6, %r10;\n\tld.shared.u32 %r12, [%r11];\n"
    "\tld.param.u64 %rd2, [a];\n\tadd.s64 %rd3, %rd2, %rd1;\n\tst.global.u32 [%rd3], %r12;\n\tret;\n}\n";
/* clang-format on */

/* ---- Cases ---- */

enum { COUNT = 1000, BYTES = 4 * COUNT };
static int failed;
static CUcontext context;
static CUmodule module;

#define EXPECT(condition)                                            \
    do {                                                             \
        if (!(condition)) {                                          \
            printf("line %d: %s is not so\n", __LINE__, #condition); \
            failed = 1;                                              \
        }                                                            \
    } while (0)
#define GIVES(wanted, call)                                                                   \
    do {                                                                                      \
        int result = (call);                                                                  \
        if (result != (wanted)) {                                                             \
            printf("line %d: %s gives %d, not %d\n", __LINE__, #call, result, (int)(wanted)); \
            failed = 1;                                                                       \
        }                                                                                     \
    } while (0)

static void begin(void) {
    int device;
    GIVES(0, cuInit(0));
    GIVES(0, cuDeviceGet(&device, 0));
    GIVES(0, cuCtxCreate_v2(&context, 0, device));
    GIVES(0, cuModuleLoadData(&module, ptx));
}

static CUfunction function(const char *name) {
    CUfunction found = NULL;
    GIVES(0, cuModuleGetFunction(&found, module, name));
    return found;
}

static CUdeviceptr numbers(void) {
    int host[COUNT];
    CUdeviceptr at = 0;
    for (int i = 0; i < COUNT; i++)
        host[i] = i;
    GIVES(0, cuMemAlloc_v2(&at, BYTES));
    GIVES(0, cuMemcpyHtoD_v2(at, host, BYTES));
    GIVES(0, cuCtxSynchronize());
    return at;
}

static CUresult add(CUdeviceptr a, CUdeviceptr b, CUstream stream) {
    int count = COUNT;
    void *parameters[] = {&a, &b, &count};
    return cuLaunchKernel(function("add"), 8, 1, 1, 128, 1, 1, 0, stream, parameters, NULL);
}

static int element(CUdeviceptr a, int index) {
    int value = -1;
    GIVES(0, cuMemcpyDtoH_v2(&value, a + 4 * (unsigned)index, 4));
    return value;
}

/* From a file; parameters as pointers, and as one block. */
static void run_add(const char *path) {
    CUdeviceptr a, b, bias;
    size_t size = 0;
    int ten = 10;
    begin();
    FILE *file = fopen(path, "w");
    EXPECT(file && fwrite(ptx, 1, sizeof ptx - 1, file) == sizeof ptx - 1 && fclose(file) == 0);
    GIVES(0, cuModuleUnload(module));
    GIVES(0, cuModuleLoad(&module, path));
    a = numbers(), b = numbers();
    GIVES(0, add(a, b, NULL));
    EXPECT(element(a, 7) == 19 && element(a, 999) == 2003);
    GIVES(0, cuModuleGetGlobal_v2(&bias, &size, module, "bias"));
    EXPECT(size == 4);
    GIVES(0, cuMemcpyHtoD_v2(bias, &ten, 4));
    struct {
        CUdeviceptr a, b;
        int count;
    } block = {a, b, COUNT};
    size_t bytes = 20;
    void *extra[] = {(void *)1, &block, (void *)2, &bytes, NULL};
    GIVES(0, cuLaunchKernel(function("add"), 8, 1, 1, 128, 1, 1, 0, NULL, NULL, extra));
    EXPECT(element(a, 7) == 36);
    GIVES(0, cuMemFree_v2(a));
    GIVES(0, cuMemFree_v2(b));
    GIVES(0, cuModuleUnload(module));
    GIVES(0, cuCtxDestroy_v2(context));
}

static void run_mirror(const char *name) {
    begin();
    CUdeviceptr a = numbers(), b = numbers();
    void *parameters[] = {&b, &a};
    GIVES(0, cuLaunchKernel(function(name), 15, 1, 1, 64, 1, 1, 0, NULL, parameters, NULL));
    GIVES(0, cuCtxSynchronize());
}

static void run_streams(int ordered) {
    CUstream streams[2];
    CUevent event, end;
    float milliseconds = -1;
    begin();
    CUdeviceptr a = numbers(), b = numbers();
    for (int i = 0; i < 2; i++)
        GIVES(0, cuStreamCreate(&streams[i], 1));
    GIVES(0, cuEventCreate(&event, 0));
    GIVES(0, cuEventCreate(&end, 0));
    GIVES(0, add(a, b, streams[0]));
    GIVES(0, cuEventRecord(event, streams[0]));
    if (ordered)
        GIVES(0, cuStreamWaitEvent(streams[1], event, 0));
    GIVES(0, add(a, b, streams[1]));
    GIVES(0, cuEventRecord(end, streams[1]));
    GIVES(0, cuCtxSynchronize());
    GIVES(0, cuEventElapsedTime(&milliseconds, event, end));
    GIVES(0, cuStreamDestroy_v2(streams[0]));
}

/* Default streams of two contexts do not wait for each other. */
static void run_contexts(int ordered) {
    CUcontext other, seen = NULL;
    CUmodule first;
    begin();
    CUdeviceptr pinned_a, b = numbers();
    void *host;
    GIVES(0, cuMemHostAlloc(&host, BYTES, 1 | 2)); /* for all contexts, mapped */
    memset(host, 0, BYTES);
    GIVES(0, cuMemHostGetDevicePointer_v2(&pinned_a, host, 0));
    GIVES(0, add(pinned_a, b, NULL));
    if (ordered)
        GIVES(0, cuCtxSynchronize());
    first = module;
    GIVES(0, cuCtxCreate_v2(&other, 0, 0));
    GIVES(0, cuModuleLoadData(&module, ptx));
    CUdeviceptr c = numbers();
    GIVES(0, add(pinned_a, c, NULL));
    GIVES(0, cuCtxSynchronize());
    GIVES(0, cuCtxPopCurrent_v2(&seen));
    EXPECT(seen == other);
    GIVES(0, cuCtxGetCurrent(&seen));
    EXPECT(seen == context);
    GIVES(0, cuCtxSynchronize());
    EXPECT(((int *)host)[3] == 16);
    GIVES(0, cuCtxDestroy_v2(other));
    GIVES(709, cuCtxDestroy_v2(other));
    GIVES(0, cuModuleUnload(first));
    GIVES(0, cuCtxDestroy_v2(context));
    GIVES(201, cuCtxSynchronize());
}

static void *work(void *data) {
    CUcontext own = NULL;
    CUstream stream;
    CUdeviceptr a, b;
    int host[COUNT] = {0}, before = -1;
    (void)data;
    before = cuCtxGetDevice(&before);
    EXPECT(before == 201);
    GIVES(0, cuCtxPushCurrent_v2(context));
    GIVES(0, cuStreamCreate(&stream, 1));
    GIVES(0, cuStreamGetCtx(stream, &own));
    EXPECT(own == context);
    GIVES(0, cuMemAllocAsync(&a, BYTES, stream));
    GIVES(0, cuMemAllocAsync(&b, BYTES, stream));
    for (int i = 0; i < 20; i++) {
        GIVES(0, cuMemcpyHtoDAsync_v2(a, host, BYTES, stream));
        GIVES(0, cuMemcpyHtoDAsync_v2(b, host, BYTES, stream));
        GIVES(0, add(a, b, stream));
    }
    GIVES(0, cuMemcpyDtoHAsync_v2(host, a, BYTES, stream));
    GIVES(0, cuStreamSynchronize(stream));
    EXPECT(host[9] == 5);
    GIVES(0, cuMemFreeAsync(a, stream));
    GIVES(0, cuCtxPopCurrent_v2(&own));
    return NULL;
}

static void run_threads(void) {
    pthread_t threads[4];
    begin();
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

static void count_calls(void *data) {
    ++*(int *)data;
}

static void run_graph(void) {
    CUgraph graph, captured;
    CUgraphNode nodes[3];
    CUgraphExec exec;
    CUstream stream;
    CUmodule other;
    int host[COUNT] = {0}, calls = 0, count = COUNT;
    begin();
    CUdeviceptr a = numbers(), b = numbers();
    void *parameters[] = {&a, &b, &count};
    KernelNode kernel = {
        .function = function("add"), .grid = {8, 1, 1}, .block = {128, 1, 1}, .parameters = parameters};
    FillNode fill = {.to = a, .value = 3, .element = 4, .width = COUNT, .height = 1};
    Slices slices = {.from_kind = DEVICE,
                     .from_device = a,
                     .to_kind = HOST,
                     .to_host = host,
                     .width = BYTES,
                     .height = 1,
                     .depth = 1};
    GIVES(0, cuGraphCreate(&graph, 0));
    GIVES(0, cuGraphAddMemsetNode(&nodes[0], graph, NULL, 0, &fill, context));
    GIVES(0, cuGraphAddKernelNode_v2(&nodes[1], graph, &nodes[0], 1, &kernel));
    GIVES(0, cuGraphAddMemcpyNode(&nodes[2], graph, &nodes[1], 1, &slices, context));
    GIVES(0, cuGraphInstantiateWithFlags(&exec, graph, 0));
    GIVES(0, cuStreamCreate(&stream, 0));
    GIVES(0, cuGraphLaunch(exec, stream));
    GIVES(0, cuStreamSynchronize(stream));
    EXPECT(host[10] == 3 + 10 + 5);
    GIVES(0, cuGraphExecDestroy(exec));
    GIVES(0, cuGraphDestroy(graph));
    GIVES(0, cuModuleLoadData(&other, ptx));
    GIVES(0, cuStreamBeginCapture_v2(stream, 0));
    GIVES(0, add(a, b, stream));
    GIVES(0, cuLaunchHostFunc(stream, count_calls, &calls));
    GIVES(0, cuStreamEndCapture(stream, &captured));
    GIVES(0, cuGraphInstantiateWithFlags(&exec, captured, 0));
    GIVES(0, cuGraphLaunch(exec, stream));
    GIVES(0, cuStreamSynchronize(stream));
    EXPECT(calls == 1 && element(a, 10) == 18 + 10 + 5);
    GIVES(0, cuModuleUnload(other));
}

static size_t no_shared(int threads) {
    return (size_t)threads * 0;
}

/* Memory of all kinds, what is known of it, and copies. */
static void run_memory(void) {
    CUdeviceptr a, base, managed;
    size_t pitch = 0, bytes = 0;
    int host[64], back[64] = {0}, kind = 0;
    void *pinned;
    begin();
    for (int i = 0; i < 64; i++)
        host[i] = i;
    GIVES(0, cuMemAllocPitch_v2(&a, &pitch, 32, 8, 4));
    EXPECT(pitch % 512 == 0);
    Rows to = {.from_kind = HOST,
               .from_host = host,
               .from_pitch = 32,
               .to_kind = DEVICE,
               .to_device = a,
               .to_pitch = pitch,
               .width = 32,
               .height = 8};
    GIVES(0, cuMemcpy2D_v2(&to));
    Rows from = {.from_x = 4,
                 .from_y = 1,
                 .from_kind = DEVICE,
                 .from_device = a,
                 .from_pitch = pitch,
                 .to_kind = HOST,
                 .to_host = back,
                 .to_pitch = 28,
                 .width = 28,
                 .height = 7};
    GIVES(0, cuMemcpy2D_v2(&from));
    EXPECT(back[0] == 9 && back[7] == 17 && back[48] == 63);
    from.to_pitch = 4;
    GIVES(1, cuMemcpy2D_v2(&from));
    GIVES(0, cuMemsetD2D32_v2(a, pitch, 77, 8, 8));
    GIVES(0, cuMemsetD16_v2(a, 0x1234, 2));
    GIVES(0, cuMemsetD8_v2(a, 1, 1));
    EXPECT(element(a, 0) == 0x12341201 && element(a + pitch, 7) == 77);
    GIVES(1, cuMemsetD32_v2(a + 2, 1, 1));
    GIVES(0, cuMemGetAddressRange_v2(&base, &bytes, a + 100));
    EXPECT(base == a && bytes == pitch * 8);
    GIVES(0, cuPointerGetAttribute(&kind, 2, a));
    EXPECT(kind == 2);
    GIVES(0, cuMemHostAlloc(&pinned, 64, 2));
    GIVES(0, cuPointerGetAttribute(&kind, 2, (uintptr_t)pinned));
    EXPECT(kind == 1);
    GIVES(1, cuPointerGetAttribute(&kind, 2, (uintptr_t)host));
    GIVES(0, cuMemAllocManaged(&managed, 64, 1));
    GIVES(0, cuMemcpy(managed, a, 4));
    GIVES(0, cuCtxSynchronize());
    EXPECT(*(int *)managed == 0x12341201);
    GIVES(0, cuMemFree_v2(managed));
    GIVES(0, cuMemFreeHost(pinned));
    GIVES(1, cuMemFreeHost(pinned));
    GIVES(0, cuMemFree_v2(a));
    GIVES(1, cuMemFree_v2(a));
    GIVES(0, cuMemFree_v2(0));
    GIVES(0, cuMemFreeHost(NULL));
}

/* What kernels are, and launches with attributes. */
static void run_kernels(void) {
    CUfunction clusters, same;
    void *library, *kernel;
    int value, ctas, threads;
    unsigned count;
    size_t offset, size;
    const char *name;
    CUlinkState state;
    void *image;
    begin();
    GIVES(0, cuFuncGetAttribute(&value, 0, function("add")));
    EXPECT(value == 1024);
    GIVES(0, cuFuncGetAttribute(&value, 1, function("mirror")));
    EXPECT(value == 256);
    GIVES(0, cuFuncSetAttribute(function("mirror"), 8, 1 << 16));
    GIVES(0, cuFuncGetAttribute(&value, 8, function("mirror")));
    EXPECT(value == 1 << 16);
    GIVES(1, cuFuncSetAttribute(function("mirror"), 8, 1 << 20));
    GIVES(1, cuFuncGetAttribute(&value, 99, function("mirror")));
    GIVES(0, cuFuncGetName(&name, function("add")));
    EXPECT(strcmp(name, "add") == 0);
    GIVES(0, cuFuncGetParamInfo(function("add"), 2, &offset, &size));
    EXPECT(offset == 16 && size == 4);
    GIVES(1, cuFuncGetParamInfo(function("add"), 3, &offset, &size));
    GIVES(0, cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, function("add"), 256, 0));
    EXPECT(value == 8);
    GIVES(0, cuOccupancyMaxPotentialBlockSize(&ctas, &threads, function("add"), no_shared, 0, 0));
    EXPECT(threads == 1024 && ctas == 2 * 132);
    GIVES(0, cuLibraryLoadData(&library, ptx_90, NULL, NULL, 0, NULL, NULL, 0));
    GIVES(0, cuLibraryGetKernelCount(&count, library));
    EXPECT(count == 2);
    GIVES(0, cuLibraryGetKernel(&kernel, library, "clusters"));
    GIVES(0, cuKernelGetFunction(&clusters, kernel));
    CUdeviceptr a = numbers();
    void *parameters[] = {&a};
    Attribute attribute = {.id = 4, .value = {.cluster = {4, 1, 1}}};
    Launch launch = {{8, 1, 1}, {32, 1, 1}, 0, NULL, &attribute, 1};
    GIVES(0, cuLaunchKernelEx(&launch, clusters, parameters, NULL));
    EXPECT(element(a, 3) == 4);
    GIVES(0, cuLibraryUnload(library));
    GIVES(0, cuLinkCreate_v2(0, NULL, NULL, &state));
    GIVES(0, cuLinkAddData_v2(state, 1, (void *)(uintptr_t)ptx, sizeof ptx, "ptx", 0, NULL, NULL));
    GIVES(0, cuLinkComplete(state, &image, &size));
    GIVES(0, cuModuleLoadData(&module, image));
    GIVES(0, cuLinkDestroy(state));
    GIVES(0, cuModuleGetFunction(&same, module, "mirror"));
}

/* A box of 8 columns and 16 rows of a matrix of 32 columns and 24 rows. */
static void run_tensor(void) {
    _Alignas(64) unsigned char map[128];
    enum { FLOAT32 = 7, COLUMNS = 32, ROWS = 24 };
    uint64_t sizes[] = {COLUMNS, ROWS}, strides[] = {4 * COLUMNS};
    uint32_t box[] = {8, 16}, steps[] = {1, 1};
    int host[COLUMNS * ROWS], back[128];
    begin();
    for (int i = 0; i < COLUMNS * ROWS; i++)
        host[i] = i;
    CUdeviceptr a, out = numbers();
    GIVES(0, cuMemAlloc_v2(&a, sizeof host));
    GIVES(0, cuMemcpyHtoD_v2(a, host, sizeof host));
    void *at = (void *)a;
    GIVES(0, cuTensorMapEncodeTiled(map, FLOAT32, 2, at, sizes, strides, box, steps, 0, 0, 0, 0));
    GIVES(0, cuModuleLoadData(&module, ptx_90));
    void *parameters[] = {map, &out};
    GIVES(0, cuLaunchKernel(function("box"), 1, 1, 1, 128, 1, 1, 0, NULL, parameters, NULL));
    GIVES(0, cuMemcpyDtoH_v2(back, out, sizeof back));
    for (int i = 0; i < 128; i++)
        EXPECT(back[i] == (4 + i / 8) * COLUMNS + 8 + i % 8);
    strides[0] = 4 * COLUMNS + 4;
    GIVES(1, cuTensorMapEncodeTiled(map, FLOAT32, 2, at, sizes, strides, box, steps, 0, 0, 0, 0));
    strides[0] = 4 * COLUMNS;
    box[0] = 3;
    GIVES(1, cuTensorMapEncodeTiled(map, FLOAT32, 2, at, sizes, strides, box, steps, 0, 0, 0, 0));
    box[0] = 16;
    GIVES(1, cuTensorMapEncodeTiled(map, FLOAT32, 2, at, sizes, strides, box, steps, 0, 1, 0, 0));
    GIVES(1, cuTensorMapEncodeTiled(map, FLOAT32, 6, at, sizes, strides, box, steps, 0, 0, 0, 0));
    GIVES(1, cuTensorMapEncodeTiled(map, FLOAT32, 2, (char *)at + 4, sizes, strides, box, steps, 0, 0, 0, 0));
}

static void run_errors(void) {
    CUfunction found = NULL;
    CUmodule made;
    CUdeviceptr a;
    const char *text = NULL;
    int value, count = COUNT;
    unsigned flags;
    GIVES(3, cuDeviceGet(&value, 0));
    GIVES(3, cuMemAlloc_v2(&a, 4));
    GIVES(1, cuInit(1));
    GIVES(0, cuInit(0));
    GIVES(201, cuMemAlloc_v2(&a, 4));
    GIVES(201, cuCtxSynchronize());
    GIVES(101, cuDeviceGet(&value, 1));
    GIVES(101, cuCtxCreate_v2(&context, 0, 7));
    GIVES(0, cuDevicePrimaryCtxGetState(0, &flags, &value));
    EXPECT(value == 0);
    begin();
    GIVES(200, cuModuleLoadData(&made, "no module"));
    GIVES(301, cuModuleLoad(&made, "/nowhere/at.all"));
    EXPECT(cuModuleLoad(&made, "/proc/self/exe") != 0);
    GIVES(500, cuModuleGetFunction(&found, module, "nothing"));
    GIVES(500, cuModuleGetGlobal_v2(&a, NULL, module, "nothing"));
    GIVES(1, cuModuleGetFunction(NULL, module, "add"));
    GIVES(1, cuMemAlloc_v2(&a, 0));
    GIVES(2, cuMemAlloc_v2(&a, (size_t)1 << 50));
    GIVES(1, cuMemAlloc_v2(NULL, 4));
    CUdeviceptr b = numbers();
    void *parameters[] = {&b, &b, &count};
    GIVES(1, cuLaunchKernel(function("add"), 0, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    GIVES(1, cuLaunchKernel(function("add"), 1, 1, 1, 1025, 1, 1, 0, NULL, parameters, NULL));
    GIVES(1, cuLaunchKernel(function("add"), 1, 1, 1, 1, 1, 1, 1 << 20, NULL, parameters, NULL));
    GIVES(400, cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    GIVES(1, cuMemcpyHtoD_v2(b, parameters, BYTES + 4));
    GIVES(0, cuGetErrorName(209, &text));
    EXPECT(strcmp(text, "CUDA_ERROR_NO_BINARY_FOR_GPU") == 0);
    GIVES(0, cuGetErrorString(700, &text));
    EXPECT(strcmp(text, "an illegal memory access was encountered") == 0);
    GIVES(1, cuGetErrorName(12345, &text));
    EXPECT(!text);
}

/* Handles that are of nothing: a GPU's driver takes some of them. */
static void run_handles(void) {
    int number;
    begin();
    CUgraph graph;
    CUgraphExec exec;
    CUstream stream;
    CUdeviceptr a = numbers(), b = numbers();
    CUfunction before = function("add");
    void *parameters[] = {&a, &b, &number};
    GIVES(400, cuLaunchKernel(&number, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    GIVES(400, cuModuleUnload(&number));
    GIVES(400, cuStreamSynchronize(&number));
    GIVES(201, cuCtxSetCurrent(&number));
    GIVES(0, cuStreamCreate(&stream, 0));
    GIVES(0, cuStreamBeginCapture_v2(stream, 0));
    GIVES(0, add(a, b, stream));
    GIVES(0, cuStreamEndCapture(stream, &graph));
    GIVES(0, cuGraphInstantiateWithFlags(&exec, graph, 0));
    GIVES(0, cuModuleUnload(module));
    GIVES(400, cuModuleUnload(module));
    GIVES(400, cuGraphLaunch(exec, stream));
    GIVES(400, cuLaunchKernel(before, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    GIVES(0, cuStreamDestroy_v2(stream));
    GIVES(400, cuStreamDestroy_v2(stream));
    GIVES(801, cuStreamWaitValue32_v2(NULL, a, 1, 0));
}

/* Beyond the end of memory: what follows fails, until the context is gone. */
static void run_bounds(void) {
    CUdeviceptr a, b;
    begin();
    b = numbers();
    GIVES(0, cuMemAlloc_v2(&a, BYTES - 4));
    GIVES(0, cuMemsetD8_v2(a, 0, BYTES - 4));
    GIVES(0, add(a, b, NULL));
    GIVES(700, cuCtxSynchronize());
    GIVES(700, cuMemFree_v2(a));
    GIVES(0, cuCtxDestroy_v2(context));
    begin();
    a = numbers(), b = numbers();
    GIVES(0, add(a, b, NULL));
    GIVES(0, cuCtxSynchronize());
}

typedef int Malloc(void **to, size_t bytes);
typedef int Launches(const void *function, unsigned long long gxy, unsigned gz, unsigned long long bxy, unsigned bz,
                     void **arguments, size_t shared, void *stream);
typedef int EntryPoint(const char *name, void **to, unsigned long long flags, int *status);
typedef int Synchronize(void);

/* Both interfaces at once: memory and contexts are the same. */
static void run_mixed(void) {
    void *runtime = dlopen("libcudart.so.13", RTLD_NOW), *a, *b, *found = NULL;
    int device, status = -1, host[COUNT];
    unsigned flags;
    CUcontext primary, seen = NULL;
    EXPECT(runtime);
    if (!runtime)
        return;
    Malloc *allocate = (Malloc *)dlsym(runtime, "cudaMalloc");
    EntryPoint *entry = (EntryPoint *)dlsym(runtime, "cudaGetDriverEntryPoint");
    Synchronize *synchronize = (Synchronize *)dlsym(runtime, "cudaDeviceSynchronize"),
                *error = (Synchronize *)dlsym(runtime, "cudaGetLastError");
    GIVES(0, allocate(&a, BYTES));
    GIVES(0, allocate(&b, BYTES));
    GIVES(0, cuCtxGetCurrent(&seen));
    GIVES(0, cuDevicePrimaryCtxRetain(&primary, 0));
    EXPECT(seen == primary);
    GIVES(0, cuDevicePrimaryCtxGetState(0, &flags, &device));
    EXPECT(device == 1);
    GIVES(0, cuModuleLoadData(&module, ptx));
    for (int i = 0; i < COUNT; i++)
        host[i] = i;
    GIVES(0, cuMemcpyHtoD_v2((uintptr_t)a, host, BYTES));
    GIVES(0, cuMemcpyHtoD_v2((uintptr_t)b, host, BYTES));
    GIVES(0, add((uintptr_t)a, (uintptr_t)b, NULL));
    GIVES(0, synchronize());
    EXPECT(element((uintptr_t)a, 5) == 15);
    GIVES(0, entry("cuMemFree", &found, 0, &status));
    EXPECT(found && status == 0 && found == dlsym(RTLD_DEFAULT, "cuMemFree_v2"));
    GIVES(0, (*(CUresult(**)(CUdeviceptr)) & found)((uintptr_t)a));
    GIVES(1, cuMemFree_v2((uintptr_t)a));
    GIVES(0, error());
    GIVES(0, cuDevicePrimaryCtxRelease_v2(0));
    GIVES(0, synchronize());
}

/* By name and release. */
static void run_names(void) {
    static const struct {
        const char *name;
        int version, flags;
        const char *form;
        int status;
    } forms[] = {{"cuMemAlloc", 13000, 0, "cuMemAlloc_v2", 0},
                 {"cuInit", 13000, 0, "cuInit", 0},
                 {"cuCtxCreate", 12000, 0, "cuCtxCreate_v3", 0},
                 {"cuCtxCreate", 11000, 0, "cuCtxCreate_v2", 0},
                 {"cuCtxCreate", 13000, 0, "cuCtxCreate_v4", 0},
                 {"cuGraphInstantiate", 12000, 0, "cuGraphInstantiate_v2", 0},
                 {"cuGraphInstantiateWithFlags", 11030, 0, NULL, 2},
                 {"cuMemAlloc_v2", 13000, 0, NULL, 1},
                 {"cuGraphInstantiate", 11080, 0, "cuGraphInstantiate_v2", 0},
                 {"cuStreamGetCaptureInfo", 12000, 0, "cuStreamGetCaptureInfo_v2", 0},
                 {"cuStreamGetCaptureInfo", 12030, 2, "cuStreamGetCaptureInfo_v3_ptsz", 0},
                 {"cuLaunchKernel", 13000, 0, "cuLaunchKernel", 0},
                 {"cuLaunchKernel", 13000, 2, "cuLaunchKernel_ptsz", 0},
                 {"cuMemcpyDtoH", 13000, 2, "cuMemcpyDtoH_v2_ptds", 0},
                 {"cuGraphAddKernelNode", 11080, 0, "cuGraphAddKernelNode", 0},
                 {"cuGraphAddKernelNode", 12000, 0, "cuGraphAddKernelNode_v2", 0},
                 {"cuNothing", 13000, 0, NULL, 1}};
    void *self = dlopen("libcuda.so.1", RTLD_NOW);
    GIVES(0, cuInit(0));
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        void *found = NULL, *wanted = forms[i].form ? dlsym(self, forms[i].form) : NULL;
        int status = -1;
        GIVES(0, cuGetProcAddress_v2(forms[i].name, &found, forms[i].version, (uint64_t)forms[i].flags, &status));
        if (found != wanted || status != forms[i].status) {
            printf("%s of %d is not %s: status %d\n", forms[i].name, forms[i].version, forms[i].form, status);
            failed = 1;
        }
    }
    void *found;
    GIVES(0, cuGetProcAddress_v2("cuNothing", &found, 13000, 0, NULL));
    EXPECT(!found);
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "";
    if (strcmp(name, "add") == 0 && argc > 2)
        run_add(argv[2]);
    else if (strncmp(name, "mirror", 6) == 0)
        run_mirror(name);
    else if (strcmp(name, "streams") == 0)
        run_streams(1);
    else if (strcmp(name, "no-event") == 0)
        run_streams(0);
    else if (strcmp(name, "contexts") == 0)
        run_contexts(1);
    else if (strcmp(name, "no-wait") == 0)
        run_contexts(0);
    else if (strcmp(name, "threads") == 0)
        run_threads();
    else if (strcmp(name, "graph") == 0)
        run_graph();
    else if (strcmp(name, "memory") == 0)
        run_memory();
    else if (strcmp(name, "kernels") == 0)
        run_kernels();
    else if (strcmp(name, "tensor") == 0)
        run_tensor();
    else if (strcmp(name, "errors") == 0)
        run_errors();
    else if (strcmp(name, "handles") == 0)
        run_handles();
    else if (strcmp(name, "bounds") == 0)
        run_bounds();
    else if (strcmp(name, "mixed") == 0)
        run_mixed();
    else if (strcmp(name, "names") == 0)
        run_names();
    else
        failed = 1;
    puts(failed ? "FAIL" : "PASS");
    return failed;
}
