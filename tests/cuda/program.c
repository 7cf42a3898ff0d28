/* A program of the CUDA runtime as nvcc makes them, without nvcc: a fatbin with PTX is registered before main, and
 * kernels are launched by the addresses of functions that stand for them. program CASE */
#include "../exec/fatbin.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- Of cuda_runtime.h ---- */

typedef int cudaError_t;
typedef struct dim3 {
    unsigned x, y, z;
} dim3;
typedef void *cudaStream_t, *cudaEvent_t, *cudaGraph_t, *cudaGraphExec_t;
enum { HOST_TO_DEVICE = 1, DEVICE_TO_HOST = 2, DEVICE_TO_DEVICE = 3, BY_ADDRESS = 4 };

void **__cudaRegisterFatBinary(const void *fatbin);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaRegisterFunction(void **handle, const char *function, char *device, const char *name, int threads, void *tid,
                            void *bid, void *block, void *grid, int *warp);
void __cudaRegisterVar(void **handle, char *variable, char *device, const char *name, int external, size_t size,
                       int constant, int global);
void __cudaRegisterManagedVar(void **handle, void **variable, char *device, const char *name, int external, size_t size,
                              int constant, int global);
char __cudaInitModule(void **handle);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void *stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);
cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared,
                             cudaStream_t stream);
cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared,
                                        cudaStream_t stream);
cudaError_t cudaMalloc(void **to, size_t bytes), cudaMallocHost(void **to, size_t bytes), cudaFree(void *memory);
cudaError_t cudaMallocManaged(void **to, size_t bytes, unsigned flags), cudaFreeHost(void *memory);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, void (*function)(void *), void *data);
cudaError_t cudaMallocAsync(void **to, size_t bytes, cudaStream_t stream), cudaFreeAsync(void *at, cudaStream_t stream);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, cudaStream_t stream);
cudaError_t cudaMemcpy2D(void *to, size_t pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         int kind);
cudaError_t cudaMallocPitch(void **to, size_t *pitch, size_t width, size_t height);
cudaError_t cudaMemset(void *to, int value, size_t bytes);
cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset, int kind);
cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset, int kind);
cudaError_t cudaGetSymbolAddress(void **to, const void *symbol);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags), cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream), cudaDeviceSynchronize(void), cudaDeviceReset(void);
cudaError_t cudaEventQuery(cudaEvent_t event), cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaEventCreate(cudaEvent_t *event), cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t begin, cudaEvent_t end);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, int mode), cudaStreamEndCapture(cudaStream_t, cudaGraph_t *);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags);
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, void *result);
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags);
typedef struct LaunchAttribute { /* cudaLaunchAttribute */
    int id, pad;
    union {
        char room[64];
        int value;
        cudaEvent_t event;
    };
} LaunchAttribute;
typedef struct LaunchConfig { /* cudaLaunchConfig_t */
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
    const LaunchAttribute *attributes;
    unsigned attribute_count;
} LaunchConfig;
cudaError_t cudaLaunchKernelExC(const LaunchConfig *config, const void *function, void **arguments);
cudaError_t cudaGetDeviceProperties(void *properties, int device), cudaGetDeviceCount(int *count);
cudaError_t cudaDeviceGetAttribute(int *value, int attribute, int device), cudaSetDevice(int device);
cudaError_t cudaCreateTextureObject(unsigned long long *to, const void *a, const void *b, const void *c);
cudaError_t cudaCreateSurfaceObject(unsigned long long *to, const void *a);
cudaError_t cudaDestroyTextureObject(unsigned long long texture), cudaDestroySurfaceObject(unsigned long long surface);
cudaError_t cudaMallocArray(void **to, const void *format, size_t width, size_t height, unsigned flags);
cudaError_t cudaMallocMipmappedArray(void **to, const void *format, ...), cudaFreeArray(void *array);
cudaError_t cudaMemcpy2DToArray(void *to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                size_t height, int kind);
cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, const void *from, size_t x, size_t y, size_t width,
                                  size_t height, int kind);
cudaError_t cudaGetLastError(void), cudaPeekAtLastError(void);
cudaError_t cudaDeviceSetLimit(int limit, size_t value), cudaDeviceGetLimit(size_t *value, int limit);
cudaError_t cudaFuncSetAttribute(const void *function, int attribute, int value);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *count, const void *function, int threads, size_t shared);
const char *cudaGetErrorName(cudaError_t error), *cudaGetErrorString(cudaError_t error);

/* ---- Kernels ---- */

/* clang-format off */
#define ELEMENT() "\tmov.u32 %r1, %tid.x;\n\tmov.u32 %r2, %ctaid.x;\n\tmov.u32 %r3, %ntid.x;\n" \
    "\tmad.lo.s32 %r4, %r2, %r3, %r1;\n\tmul.wide.s32 %rd1, %r4, 4;\n"

static const char ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".const .align 4 .b8 scale[8];\n"
    ".global .align 4 .u32 bias = 5;\n"
    ".global .attribute(.managed) .align 4 .u32 shared_count = 7;\n"
    /* a[i] = a[i] * scale[1] + bias */
    ".visible .entry apply(.param .u64 a, .param .u32 n)\n{\n\t.reg .pred %p<2>;\n\t.reg .b32 %r<12>;\n\t.reg .b64 %rd<6>;\n"
    ELEMENT() "\tld.param.u32 %r5, [n];\n\tsetp.ge.s32 %p1, %r4, %r5;\n\t@%p1 bra done;\n"
    "\tld.param.u64 %rd2, [a];\n\tcvta.to.global.u64 %rd2, %rd2;\n\tadd.s64 %rd3, %rd2, %rd1;\n"
    "\tld.global.u32 %r6, [%rd3];\n\tld.const.u32 %r7, [scale+4];\n\tld.global.u32 %r8, [bias];\n"
    "\tmad.lo.s32 %r9, %r6, %r7, %r8;\n\tst.global.u32 [%rd3], %r9;\ndone:\n\tret;\n}\n"
    /* b[i] = a[mirror of i in the block], by shared memory, with a barrier or without */
    ".visible .entry mirror(.param .u64 b, .param .u64 a)\n{\n\t.reg .b32 %r<12>;\n\t.reg .b64 %rd<8>;\n"
    "\t.shared .align 4 .b8 tile[256];\n" ELEMENT()
    "\tld.param.u64 %rd2, [a];\n\tadd.s64 %rd3, %rd2, %rd1;\n\tld.global.u32 %r5, [%rd3];\n"
    "\tmov.u32 %r6, tile;\n\tshl.b32 %r7, %r1, 2;\n\tadd.s32 %r8, %r6, %r7;\n\tst.shared.u32 [%r8], %r5;\n"
    "\tbar.sync 0;\n\tsub.s32 %r9, 252, %r7;\n\tadd.s32 %r9, %r6, %r9;\n\tld.shared.u32 %r10, [%r9];\n"
    "\tld.param.u64 %rd4, [b];\n\tadd.s64 %rd5, %rd4, %rd1;\n\tst.global.u32 [%rd5], %r10;\n\tret;\n}\n"
    ".visible .entry mirror_without(.param .u64 b, .param .u64 a)\n{\n\t.reg .b32 %r<12>;\n\t.reg .b64 %rd<8>;\n"
    "\t.shared .align 4 .b8 tile[256];\n" ELEMENT()
    "\tld.param.u64 %rd2, [a];\n\tadd.s64 %rd3, %rd2, %rd1;\n\tld.global.u32 %r5, [%rd3];\n"
    "\tmov.u32 %r6, tile;\n\tshl.b32 %r7, %r1, 2;\n\tadd.s32 %r8, %r6, %r7;\n\tst.shared.u32 [%r8], %r5;\n"
    "\tsub.s32 %r9, 252, %r7;\n\tadd.s32 %r9, %r6, %r9;\n\tld.shared.u32 %r10, [%r9];\n"
    "\tld.param.u64 %rd4, [b];\n\tadd.s64 %rd5, %rd4, %rd1;\n\tst.global.u32 [%rd5], %r10;\n\tret;\n}\n"
    /* b[i] = a[i], which is proved */
    ".visible .entry copy(.param .u64 b, .param .u64 a)\n{\n\t.reg .b32 %r<12>;\n\t.reg .b64 %rd<8>;\n" ELEMENT()
    "\tld.param.u64 %rd2, [a];\n\tcvta.to.global.u64 %rd2, %rd2;\n\tadd.s64 %rd3, %rd2, %rd1;\n"
    "\tld.param.u64 %rd4, [b];\n\tcvta.to.global.u64 %rd4, %rd4;\n\tadd.s64 %rd5, %rd4, %rd1;\n"
    "\tld.global.u32 %r5, [%rd3];\n\tst.global.u32 [%rd5], %r5;\n\tret;\n}\n"
    ".visible .entry idle()\n{\n\tret;\n}\n"
    ".visible .entry trapped()\n{\n\ttrap;\n\tret;\n}\n"
    /* *slot = malloc(16), which holds 42; *out = **slot, and that is freed */
    ".extern .func (.param .b64 gives) malloc(.param .b64 bytes);\n.extern .func free(.param .b64 at);\n"
    ".visible .entry take(.param .u64 slot)\n{\n\t.reg .b64 %rd<4>;\n\tmov.b64 %rd1, 16;\n"
    "\t{ .param .b64 gives; .param .b64 bytes; st.param.b64 [bytes], %rd1;\n"
    "\tcall.uni (gives), malloc, (bytes); ld.param.b64 %rd2, [gives]; }\n"
    "\tst.u32 [%rd2], 42;\n\tld.param.u64 %rd3, [slot];\n\tst.global.u64 [%rd3], %rd2;\n\tret;\n}\n"
    ".visible .entry give(.param .u64 slot, .param .u64 out)\n{\n\t.reg .b32 %r<2>;\n\t.reg .b64 %rd<4>;\n"
    "\tld.param.u64 %rd1, [slot];\n\tld.param.u64 %rd2, [out];\n\tld.global.u64 %rd3, [%rd1];\n"
    "\tld.u32 %r1, [%rd3];\n\tst.global.u32 [%rd2], %r1;\n"
    "\t{ .param .b64 at; st.param.b64 [at], %rd3; call.uni free, (at); }\n\tret;\n}\n"
    /* assert(threadIdx.x < 30) */
    ".extern .func __assertfail(.param .b64 m, .param .b64 file, .param .b32 line, .param .b64 where, .param .b64 size);\n"
    ".global .align 1 .b8 condition[6] = {120, 32, 60, 32, 51, 0};\n.global .align 1 .b8 file[5] = {97, 46, 99, 117, 0};\n"
    ".global .align 1 .b8 where[4] = {102, 40, 41, 0};\n"
    ".visible .entry asserts()\n{\n\t.reg .pred %p<2>;\n\t.reg .b32 %r<3>;\n\t.reg .b64 %rd<8>;\n"
    "\tmov.u32 %r1, %tid.x;\n\tsetp.lt.u32 %p1, %r1, 30;\n\t@%p1 bra done;\n"
    "\tmov.u64 %rd1, condition;\n\tcvta.global.u64 %rd2, %rd1;\n\tmov.u64 %rd3, file;\n\tcvta.global.u64 %rd4, %rd3;\n"
    "\tmov.u64 %rd5, where;\n\tcvta.global.u64 %rd6, %rd5;\n\tmov.b64 %rd7, 1;\n\tmov.b32 %r2, 64;\n"
    "\t{ .param .b64 m; .param .b64 file1; .param .b32 line; .param .b64 where1; .param .b64 size;\n"
    "\tst.param.b64 [m], %rd2; st.param.b64 [file1], %rd4; st.param.b32 [line], %r2; st.param.b64 [where1], %rd6;\n"
    "\tst.param.b64 [size], %rd7; call.uni __assertfail, (m, file1, line, where1, size); }\n"
    "done:\n\tret;\n}\n"
    /* all CTAs read and write one word, which is volatile */
    ".visible .entry loose(.param .u64 a)\n{\n\t.reg .b32 %r<4>;\n\t.reg .b64 %rd<2>;\n\tmov.u32 %r1, %ctaid.x;\n"
    "\tld.param.u64 %rd1, [a];\n\tld.volatile.global.u32 %r2, [%rd1];\n\tadd.u32 %r3, %r1, %r2;\n"
    "\tst.volatile.global.u32 [%rd1], %r3;\n\tret;\n}\n"
    /* to[i] = texture at i / 4; all threads of a pair write one texel of a surface */
    ".visible .entry sample(.param .u64 texture, .param .u64 to)\n{\n\t.reg .b32 %r<4>;\n\t.reg .b64 %rd<6>;\n"
    "\t.reg .f32 %f<8>;\n\tmov.u32 %r1, %tid.x;\n\tcvt.rn.f32.u32 %f1, %r1;\n\tmul.f32 %f2, %f1, 0f3E800000;\n"
    "\tld.param.u64 %rd1, [texture];\n\tmov.f32 %f3, 0f3FC00000;\n"
    "\ttex.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%rd1, {%f2, %f3}];\n\tld.param.u64 %rd2, [to];\n"
    "\tmul.wide.u32 %rd3, %r1, 4;\n\tadd.s64 %rd4, %rd2, %rd3;\n\tst.global.f32 [%rd4], %f4;\n\tret;\n}\n"
    ".visible .entry paint(.param .u64 surface, .param .u32 shift)\n{\n\t.reg .b32 %r<6>;\n\t.reg .b64 %rd<2>;\n"
    "\tmov.u32 %r1, %tid.x;\n\tld.param.u32 %r2, [shift];\n\tshr.u32 %r3, %r1, %r2;\n\tshl.b32 %r4, %r3, 2;\n"
    "\tmov.u32 %r5, 2;\n\tld.param.u64 %rd1, [surface];\n\tsust.b.2d.b32.trap [%rd1, {%r4, %r5}], {%r1};\n\tret;\n}\n"
    /* an int at an odd address */
    ".visible .entry odd(.param .u64 a)\n{\n\t.reg .b32 %r<2>;\n\t.reg .b64 %rd<2>;\n"
    "\tld.param.u64 %rd1, [a];\n\tld.global.u32 %r1, [%rd1+1];\n\tst.global.u32 [%rd1], %r1;\n\tret;\n}\n";
/* clang-format on */

/* Addresses that stand for them. */
static char apply, copy, mirror, mirror_without, trapped, take, give, asserts, odd, loose, sample, paint, idle,
    scale[8], bias[4], *count;
static void **handle;

__attribute__((constructor)) static void enter(void) {
    static const struct {
        char *function;
        const char *name;
    } kernels[] = {{&apply, "apply"},     {&mirror, "mirror"}, {&mirror_without, "mirror_without"},
                   {&trapped, "trapped"}, {&take, "take"},     {&give, "give"},
                   {&asserts, "asserts"}, {&odd, "odd"},       {&idle, "idle"},
                   {&loose, "loose"},     {&copy, "copy"},     {&sample, "sample"},
                   {&paint, "paint"}};
    handle = __cudaRegisterFatBinary(fatbin_of(ptx, 1));
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        __cudaRegisterFunction(handle, kernels[i].function, kernels[i].function, kernels[i].name, -1, NULL, NULL, NULL,
                               NULL, NULL);
    __cudaRegisterVar(handle, scale, scale, "scale", 0, sizeof scale, 1, 0);
    __cudaRegisterVar(handle, bias, bias, "bias", 0, sizeof bias, 0, 0);
    __cudaRegisterManagedVar(handle, (void **)&count, "shared_count", "shared_count", 0, 4, 0, 0);
    __cudaRegisterFatBinaryEnd(handle);
}

/* ---- Cases ---- */

enum { COUNT = 1000, BYTES = 4 * 1024 };
static int failed;

#define EXPECT(condition)                                            \
    do {                                                             \
        if (!(condition)) {                                          \
            printf("line %d: %s is not so\n", __LINE__, #condition); \
            failed = 1;                                              \
        }                                                            \
    } while (0)

static cudaError_t launch(const void *function, unsigned ctas, unsigned threads, void *a, void *b,
                          cudaStream_t stream) {
    int number = COUNT;
    void *arguments[2] = {&a, &b};
    if (function == &apply)
        arguments[1] = &number;
    return cudaLaunchKernel(function, (dim3){ctas, 1, 1}, (dim3){threads, 1, 1}, arguments, 0, stream);
}

static int *numbers(void) {
    int *made = malloc(BYTES);
    for (int i = 0; i < BYTES / 4; i++)
        made[i] = i;
    return made;
}

static void set_variables(void) {
    int values[2] = {100, 3}, five = 0;
    EXPECT(cudaMemcpyToSymbol(scale, values, sizeof values, 0, HOST_TO_DEVICE) == 0);
    EXPECT(cudaMemcpyFromSymbol(&five, bias, 4, 0, DEVICE_TO_HOST) == 0 && five == 5);
    EXPECT(cudaMemcpyToSymbol(scale, values, 9, 0, HOST_TO_DEVICE) == 1);
}

static void run_right(void) {
    int *host = numbers(), ten = 10;
    void *a, *b, *address;
    set_variables();
    EXPECT(cudaMalloc(&a, BYTES) == 0 && cudaMalloc(&b, BYTES) == 0);
    EXPECT(cudaMemcpy(a, host, BYTES, HOST_TO_DEVICE) == 0);
    EXPECT(launch(&apply, 8, 128, a, NULL, NULL) == 0);
    EXPECT(cudaGetSymbolAddress(&address, bias) == 0 && cudaMemcpy(address, &ten, 4, HOST_TO_DEVICE) == 0);
    EXPECT(launch(&apply, 8, 128, a, NULL, NULL) == 0);
    EXPECT(launch(&mirror, 16, 64, b, a, NULL) == 0);
    EXPECT(cudaMemcpy(host, b, BYTES, BY_ADDRESS) == 0 && cudaDeviceSynchronize() == 0);
    EXPECT(host[63] == (0 * 3 + 5) * 3 + 10 && host[0] == (63 * 3 + 5) * 3 + 10);
    __cudaInitModule(handle);
    EXPECT(count && *(int *)count == 7);
    EXPECT(cudaFree(a) == 0 && cudaFree(b) == 0 && cudaFree(a) == 1 && cudaGetLastError() == 1);
    free(host);
}

static void run_rows(void) {
    int *host = numbers(), back[64] = {0};
    void *a;
    size_t pitch;
    EXPECT(cudaMallocPitch(&a, &pitch, 32, 8) == 0 && pitch % 512 == 0);
    EXPECT(cudaMemcpy2D(a, pitch, host, 32, 32, 8, HOST_TO_DEVICE) == 0);
    EXPECT(cudaMemcpy2D(back, 32, a, pitch, 32, 8, DEVICE_TO_HOST) == 0 && memcmp(back, host, 256) == 0);
    EXPECT(cudaMemcpy2D(back, 16, a, pitch, 32, 8, DEVICE_TO_HOST) == 12);
    free(host);
}

static void run_barrier(const void *kernel) {
    int *host = numbers();
    void *a, *b;
    EXPECT(cudaMalloc(&a, BYTES) == 0 && cudaMalloc(&b, BYTES) == 0);
    EXPECT(cudaMemcpy(a, host, BYTES, HOST_TO_DEVICE) == 0 && launch(kernel, 16, 64, b, a, NULL) == 0);
    EXPECT(cudaDeviceSynchronize() == 0);
    free(host);
}

/* Two streams on the same memory, with an event between them or without. */
static void run_streams(int ordered) {
    int *host = numbers();
    void *a;
    cudaStream_t streams[2];
    cudaEvent_t event, end;
    float milliseconds = -1;
    set_variables();
    for (int i = 0; i < 2; i++)
        EXPECT(cudaStreamCreateWithFlags(&streams[i], 1) == 0);
    EXPECT(cudaEventCreate(&event) == 0 && cudaEventCreate(&end) == 0 && cudaMalloc(&a, BYTES) == 0);
    EXPECT(cudaMemcpy(a, host, BYTES, HOST_TO_DEVICE) == 0 && cudaDeviceSynchronize() == 0);
    EXPECT(launch(&apply, 8, 128, a, NULL, streams[0]) == 0 && cudaEventRecord(event, streams[0]) == 0);
    if (ordered)
        EXPECT(cudaStreamWaitEvent(streams[1], event, 0) == 0);
    EXPECT(launch(&apply, 8, 128, a, NULL, streams[1]) == 0 && cudaEventRecord(end, streams[1]) == 0);
    EXPECT(cudaDeviceSynchronize() == 0 && cudaEventElapsedTime(&milliseconds, event, end) == 0 && milliseconds > 0);
    EXPECT(cudaStreamDestroy(streams[0]) == 0 && cudaStreamDestroy(streams[1]) == 0 &&
           cudaStreamDestroy(streams[0]) == 400);
    free(host);
}

/* A copy from memory that is not pinned may arrive after the call; the driver waits before it frees memory. */
static void run_staged(int waits) {
    int *host = numbers();
    void *a, *b;
    cudaStream_t stream;
    set_variables();
    EXPECT(cudaStreamCreateWithFlags(&stream, 1) == 0 && cudaMalloc(&a, BYTES) == 0 && cudaMalloc(&b, BYTES) == 0);
    EXPECT(cudaMemcpy(a, host, BYTES, HOST_TO_DEVICE) == 0);
    if (waits)
        EXPECT(cudaFree(b) == 0);
    EXPECT(launch(&apply, 8, 128, a, NULL, stream) == 0 && cudaDeviceSynchronize() == 0 && cudaFree(a) == 0);
    free(host);
}

static void fill_host(void *data) {
    for (int i = 0; i < BYTES / 4; i++)
        ((int *)data)[i] = i;
}

/* A function of the host fills pinned memory that a kernel in another stream accesses. */
static void run_host_function(int waits) {
    void *a;
    cudaStream_t streams[2];
    cudaEvent_t event;
    set_variables();
    for (int i = 0; i < 2; i++)
        EXPECT(cudaStreamCreateWithFlags(&streams[i], 1) == 0);
    EXPECT(cudaEventCreate(&event) == 0 && cudaMallocHost(&a, BYTES) == 0);
    EXPECT(cudaLaunchHostFunc(streams[0], fill_host, a) == 0 && cudaEventRecord(event, streams[0]) == 0);
    if (waits)
        EXPECT(cudaStreamWaitEvent(streams[1], event, 0) == 0);
    EXPECT(launch(&apply, 8, 128, a, NULL, streams[1]) == 0 && cudaDeviceSynchronize() == 0 && cudaFreeHost(a) == 0);
}

/* Memory of a pool is allocated and freed in the order of a stream. */
enum { EARLY = 1, LATE, TWICE };
static void run_pool(int wrong) {
    void *a, *b;
    cudaStream_t streams[2];
    cudaEvent_t event;
    set_variables();
    for (int i = 0; i < 2; i++)
        EXPECT(cudaStreamCreateWithFlags(&streams[i], 1) == 0);
    EXPECT(cudaEventCreate(&event) == 0 && cudaMallocAsync(&a, BYTES, streams[0]) == 0);
    EXPECT(cudaEventRecord(event, streams[0]) == 0);
    if (wrong != EARLY)
        EXPECT(cudaStreamWaitEvent(streams[1], event, 0) == 0);
    EXPECT(launch(&apply, 8, 128, a, NULL, streams[1]) == 0 && cudaEventRecord(event, streams[1]) == 0);
    if (wrong != LATE)
        EXPECT(cudaStreamWaitEvent(streams[0], event, 0) == 0);
    EXPECT(cudaFreeAsync(a, streams[0]) == 0 && cudaMallocAsync(&b, BYTES, streams[1]) == 0);
    EXPECT(launch(&apply, 8, 128, b, NULL, streams[1]) == 0);
    if (wrong != TWICE)
        EXPECT(cudaStreamSynchronize(streams[1]) == 0);
    EXPECT(cudaFree(b) == 0);
}

/* What is not over may be over when it is asked again; who does not look at the answer does not wait. */
static void run_asked(int looks) {
    void *a;
    cudaStream_t stream;
    cudaEvent_t event;
    set_variables();
    EXPECT(cudaStreamCreateWithFlags(&stream, 1) == 0 && cudaEventCreate(&event) == 0 && cudaMalloc(&a, BYTES) == 0);
    EXPECT(cudaStreamQuery(stream) == 0 && cudaEventQuery(event) == 0);
    EXPECT(launch(&apply, 8, 128, a, NULL, NULL) == 0 && cudaEventRecord(event, NULL) == 0);
    EXPECT(cudaEventQuery(event) == 600 && cudaGetLastError() == 600);
    while (looks && cudaEventQuery(event) == 600)
        ;
    EXPECT(launch(&apply, 8, 128, a, NULL, stream) == 0 && cudaStreamQuery(stream) == 600);
    EXPECT(cudaDeviceSynchronize() == 0 && cudaStreamQuery(stream) == 0 && cudaStreamQuery(NULL) == 0);
    EXPECT(cudaEventQuery(event) == 0 && cudaFree(a) == 0);
}

static void run_graph(void) {
    int *host = numbers();
    void *a;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    set_variables();
    EXPECT(cudaMalloc(&a, BYTES) == 0 && cudaMemcpy(a, host, BYTES, HOST_TO_DEVICE) == 0);
    EXPECT(cudaStreamCreateWithFlags(&stream, 0) == 0 && cudaStreamBeginCapture(stream, 0) == 0);
    EXPECT(launch(&apply, 8, 128, a, NULL, stream) == 0 && launch(&apply, 8, 128, a, NULL, stream) == 0);
    EXPECT(cudaStreamEndCapture(stream, &graph) == 0 && cudaGraphInstantiate(&exec, graph, 0) == 0);
    EXPECT(cudaGraphLaunch(exec, stream) == 0 && cudaStreamSynchronize(stream) == 0);
    EXPECT(cudaMemcpy(host, a, BYTES, DEVICE_TO_HOST) == 0 && host[1] == (1 * 3 + 5) * 3 + 5);
    free(host);
}

static void launch_apply(void *a, cudaStream_t stream, LaunchAttribute attribute) {
    unsigned n = BYTES / 4;
    void *arguments[] = {&a, &n};
    LaunchConfig config = {{8, 1, 1}, {128, 1, 1}, 0, stream, &attribute, 1};
    EXPECT(cudaLaunchKernelExC(&config, &apply, arguments) == 0);
}

enum { DEPENDENT = 6, AT_TRIGGER = 7, EXTERNAL = 1 };

/* A dependent launch in a graph may begin while the one before it runs. Nodes that are set again stay as they are. */
static void run_graph_dependent(void) {
    void *a;
    cudaStream_t stream;
    cudaGraph_t plain, graph;
    cudaGraphExec_t exec;
    set_variables();
    EXPECT(cudaMalloc(&a, BYTES) == 0 && cudaMemset(a, 0, BYTES) == 0 && cudaDeviceSynchronize() == 0);
    EXPECT(cudaStreamCreateWithFlags(&stream, 1) == 0 && cudaStreamBeginCapture(stream, 0) == 0);
    EXPECT(launch(&apply, 8, 128, a, NULL, stream) == 0 && launch(&apply, 8, 128, a, NULL, stream) == 0);
    EXPECT(cudaStreamEndCapture(stream, &plain) == 0 && cudaStreamBeginCapture(stream, 0) == 0);
    EXPECT(launch(&apply, 8, 128, a, NULL, stream) == 0);
    launch_apply(a, stream, (LaunchAttribute){.id = DEPENDENT, .value = 1});
    EXPECT(cudaStreamEndCapture(stream, &graph) == 0 && cudaGraphInstantiate(&exec, plain, 0) == 0);
    EXPECT(cudaGraphExecUpdate(exec, graph, NULL) == 0);
    EXPECT(cudaGraphLaunch(exec, stream) == 0 && cudaStreamSynchronize(stream) == 0 && cudaFree(a) == 0);
}

/* A graph records an event whenever it is launched: behind its kernel, or before it. */
static void run_graph_event(int behind) {
    void *a;
    cudaStream_t streams[2];
    cudaEvent_t event;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    set_variables();
    EXPECT(cudaMalloc(&a, BYTES) == 0 && cudaMemset(a, 0, BYTES) == 0 && cudaDeviceSynchronize() == 0);
    for (int i = 0; i < 2; i++)
        EXPECT(cudaStreamCreateWithFlags(&streams[i], 1) == 0);
    EXPECT(cudaEventCreate(&event) == 0 && cudaStreamBeginCapture(streams[0], 0) == 0);
    if (!behind)
        EXPECT(cudaEventRecordWithFlags(event, streams[0], EXTERNAL) == 0);
    EXPECT(launch(&apply, 8, 128, a, NULL, streams[0]) == 0);
    if (behind)
        EXPECT(cudaEventRecordWithFlags(event, streams[0], EXTERNAL) == 0);
    EXPECT(cudaStreamEndCapture(streams[0], &graph) == 0 && cudaGraphInstantiate(&exec, graph, 0) == 0);
    EXPECT(cudaGraphLaunch(exec, streams[0]) == 0 && cudaStreamWaitEvent(streams[1], event, 0) == 0);
    EXPECT(launch(&apply, 8, 128, a, NULL, streams[1]) == 0 && cudaDeviceSynchronize() == 0 && cudaFree(a) == 0);
}

/* The launch may still run when its event is recorded. */
static void run_launch_event(void) {
    void *a;
    cudaStream_t streams[2];
    cudaEvent_t event;
    set_variables();
    EXPECT(cudaMalloc(&a, BYTES) == 0 && cudaMemset(a, 0, BYTES) == 0 && cudaDeviceSynchronize() == 0);
    for (int i = 0; i < 2; i++)
        EXPECT(cudaStreamCreateWithFlags(&streams[i], 1) == 0);
    EXPECT(cudaEventCreate(&event) == 0);
    launch_apply(a, streams[0], (LaunchAttribute){.id = AT_TRIGGER, .event = event});
    EXPECT(cudaStreamWaitEvent(streams[1], event, 0) == 0);
    EXPECT(launch(&apply, 8, 128, a, NULL, streams[1]) == 0 && cudaDeviceSynchronize() == 0 && cudaFree(a) == 0);
}

/* Three nodes with two edges: one after the other, or two behind the first. */
static cudaGraph_t three_nodes(void *const *memory, const cudaStream_t *streams, cudaEvent_t event, int beside) {
    cudaGraph_t graph;
    EXPECT(cudaStreamBeginCapture(streams[0], 0) == 0);
    EXPECT(launch(&apply, 8, 128, memory[0], NULL, streams[0]) == 0 && cudaEventRecord(event, streams[0]) == 0);
    EXPECT(cudaStreamWaitEvent(streams[1], event, 0) == 0);
    EXPECT(launch(&apply, 8, 128, memory[1], NULL, streams[0]) == 0);
    EXPECT(beside || cudaEventRecord(event, streams[0]) == 0);
    EXPECT(beside || cudaStreamWaitEvent(streams[1], event, 0) == 0);
    EXPECT(launch(&apply, 8, 128, memory[2], NULL, streams[1]) == 0 && cudaEventRecord(event, streams[1]) == 0);
    EXPECT(cudaStreamWaitEvent(streams[0], event, 0) == 0 && cudaStreamEndCapture(streams[0], &graph) == 0);
    return graph;
}

/* A graph that can be launched takes what another does only if that has the same edges. */
static void run_graph_update(void) {
    void *memory[3];
    cudaStream_t streams[2];
    cudaEvent_t event;
    cudaGraphExec_t exec;
    set_variables();
    for (int i = 0; i < 3; i++)
        EXPECT(cudaMalloc(&memory[i], BYTES) == 0 && cudaMemset(memory[i], 0, BYTES) == 0);
    for (int i = 0; i < 2; i++)
        EXPECT(cudaStreamCreateWithFlags(&streams[i], 1) == 0);
    EXPECT(cudaEventCreate(&event) == 0 && cudaDeviceSynchronize() == 0);
    cudaGraph_t beside = three_nodes(memory, streams, event, 1), row = three_nodes(memory, streams, event, 0);
    EXPECT(cudaGraphInstantiate(&exec, beside, 0) == 0 && cudaGraphExecUpdate(exec, row, NULL) == 910);
    EXPECT(cudaGetLastError() == 910 && cudaGraphExecUpdate(exec, beside, NULL) == 0);
    EXPECT(cudaGraphLaunch(exec, streams[0]) == 0 && cudaDeviceSynchronize() == 0);
    for (int i = 0; i < 3; i++)
        EXPECT(cudaFree(memory[i]) == 0);
}

/* Beyond the end of memory: the launch seems to be made, and everything after it fails. */
static void run_bounds(void) {
    void *a;
    set_variables();
    EXPECT(cudaMalloc(&a, 3996) == 0 && cudaMemset(a, 0, 3996) == 0);
    EXPECT(launch(&apply, 8, 128, a, NULL, NULL) == 0);
    EXPECT(cudaDeviceSynchronize() == 700 && cudaGetLastError() == 700 && cudaGetLastError() == 700);
    int there = 1;
    EXPECT(cudaMemcpy(&there, a, 4, DEVICE_TO_HOST) == 700 && there == 1);
    EXPECT(strcmp(cudaGetErrorString(700), "an illegal memory access was encountered") == 0);
    EXPECT(cudaMalloc(&a, 4) == 700 && cudaDeviceReset() == 0 && cudaMalloc(&a, 4) == 0);
}

/* Memory that a kernel gets by malloc, in the launches behind it. */
static void run_heap(int times) {
    void *slot, *out, *inside;
    size_t most = 0;
    int value = 0;
    EXPECT(cudaDeviceSetLimit(2, 4096) == 0 && cudaDeviceGetLimit(&most, 2) == 0 && most == 4096);
    EXPECT(cudaMalloc(&slot, 8) == 0 && cudaMalloc(&out, 4) == 0);
    EXPECT(launch(&take, 1, 1, slot, NULL, NULL) == 0 && cudaDeviceSetLimit(2, 8192) == 1);
    EXPECT(cudaMemcpy(&inside, slot, 8, DEVICE_TO_HOST) == 0 && cudaMemcpy(&value, inside, 4, DEVICE_TO_HOST) == 1);
    EXPECT(launch(&give, 1, 1, slot, out, NULL) == 0 && cudaMemcpy(&value, out, 4, DEVICE_TO_HOST) == 0);
    EXPECT(value == 42);
    if (times > 1)
        EXPECT(launch(&give, 1, 1, slot, out, NULL) == 0 && cudaDeviceSynchronize() == 700);
}

/* Launches that the proof of their kernel covers, and such that it does not: two arguments are one memory, one is a
 * variable of the module, there are programs along an axis that is in no address. */
static void run_proofs(void) {
    int one = 1;
    void *a, *b, *variable, *arguments[2] = {&variable, &one};
    EXPECT(cudaMalloc(&a, BYTES) == 0 && cudaMalloc(&b, BYTES) == 0 && cudaMemset(a, 0, BYTES) == 0);
    EXPECT(launch(&copy, 8, 128, b, a, NULL) == 0 && launch(&copy, 8, 128, b, a, NULL) == 0);
    EXPECT(launch(&copy, 4, 64, b, a, NULL) == 0);
    EXPECT(launch(&copy, 4, 64, a, a, NULL) == 0 && launch(&copy, 4, 64, (char *)a + 1024, a, NULL) == 0);
    EXPECT(cudaGetSymbolAddress(&variable, bias) == 0);
    EXPECT(cudaLaunchKernel(&apply, (dim3){1, 1, 1}, (dim3){32, 1, 1}, arguments, 0, NULL) == 0);
    arguments[0] = &b;
    arguments[1] = &a;
    EXPECT(cudaLaunchKernel(&copy, (dim3){1, 1, 2}, (dim3){1, 1, 1}, arguments, 0, NULL) == 0);
    EXPECT(cudaDeviceSynchronize() == 0);
}

/* A variable of the module by its address, for a kernel that does not name it; so many threads write a word each. */
static void run_address(unsigned threads) {
    unsigned nine = 9, *a, *variable, now;
    EXPECT(cudaMalloc((void **)&a, BYTES) == 0 && cudaMemcpy(a, &nine, 4, HOST_TO_DEVICE) == 0);
    EXPECT(cudaGetSymbolAddress((void **)&variable, bias) == 0 && launch(&copy, 1, threads, variable, a, NULL) == 0);
    EXPECT(cudaMemcpyFromSymbol(&now, bias, 4, 0, DEVICE_TO_HOST) == 0 && now == nine);
    EXPECT(cudaMemcpy(&nine, variable, 4, DEVICE_TO_HOST) == 0 && nine == 9 && cudaFree(a) == 0);
}

static void run_assert(void) {
    EXPECT(launch(&asserts, 2, 16, NULL, NULL, NULL) == 0 && cudaDeviceSynchronize() == 0);
    EXPECT(launch(&asserts, 1, 32, NULL, NULL, NULL) == 0 && cudaDeviceSynchronize() == 710);
}

static void run_odd(void) {
    void *a;
    EXPECT(cudaMalloc(&a, 8) == 0 && cudaMemset(a, 0, 8) == 0);
    EXPECT(launch(&odd, 1, 1, a, NULL, NULL) == 0 && cudaDeviceSynchronize() == 716);
}

static void run_trap(void) {
    EXPECT(launch(&trapped, 1, 1, NULL, NULL, NULL) == 0 && cudaDeviceSynchronize() == 719);
}

static void run_errors(void) {
    int value;
    void *a;
    char properties[4096];
    EXPECT(launch(&apply, 0, 1, NULL, NULL, NULL) == 9 && cudaPeekAtLastError() == 9 && cudaGetLastError() == 9);
    EXPECT(cudaGetLastError() == 0);
    EXPECT(launch(&apply, 1, 1025, NULL, NULL, NULL) == 9 && launch(&failed, 1, 1, NULL, NULL, NULL) == 98);
    EXPECT(cudaLaunchKernel(&apply, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0, NULL) == 1);
    EXPECT(cudaLaunchKernel(&mirror, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 49153, NULL) == 1);
    EXPECT(cudaLaunchCooperativeKernel(&trapped, (dim3){1 << 20, 1, 1}, (dim3){64, 1, 1}, NULL, 0, NULL) == 720);
    EXPECT(cudaMalloc(NULL, 4) == 1 && cudaMalloc(&a, (size_t)1 << 50) == 2 && cudaMemset((void *)8, 0, 4) == 1);
    EXPECT(cudaMemcpy(NULL, NULL, 4, 9) == 21 && cudaSetDevice(1) == 101 && cudaStreamSynchronize(&value) == 400);
    EXPECT(cudaMalloc(&a, 64) == 0 && cudaFuncSetAttribute(&mirror, 8, 1 << 20) == 1);
    EXPECT(cudaDeviceGetAttribute(&value, 16, 0) == 0 && value == 132 && cudaGetDeviceCount(&value) == 0 && value == 1);
    EXPECT(cudaGetDeviceProperties(properties, 0) == 0 && strcmp(properties, "NVIDIA H200") == 0);
    EXPECT(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, &mirror, 64, 0) == 0 && value == 32);
    EXPECT(strcmp(cudaGetErrorName(2), "cudaErrorMemoryAllocation") == 0);
    EXPECT(strcmp(cudaGetErrorString(12345), "unrecognized error code") == 0);
    cudaGetLastError();
}

static void *work(void *unused) {
    int *host = numbers();
    void *a;
    cudaStream_t stream;
    (void)unused;
    EXPECT(cudaStreamCreateWithFlags(&stream, 1) == 0 && cudaMallocAsync(&a, BYTES, stream) == 0);
    for (int i = 0; i < 20; i++) {
        EXPECT(cudaMemcpyAsync(a, host, BYTES, HOST_TO_DEVICE, stream) == 0);
        EXPECT(launch(&apply, 8, 128, a, NULL, stream) == 0);
    }
    EXPECT(cudaMemcpyAsync(host, a, BYTES, DEVICE_TO_HOST, stream) == 0 && cudaStreamSynchronize(stream) == 0);
    EXPECT(host[1] == 8 && cudaFreeAsync(a, stream) == 0);
    free(host);
    return NULL;
}

static void run_threads(void) {
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    set_variables();
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static pthread_barrier_t both_launched;
static int meets; /* whether the threads of a pair wait for each other's launch */

static void *apply_to(void *a) {
    cudaStream_t stream;
    EXPECT(cudaStreamCreateWithFlags(&stream, 1) == 0 && launch(&apply, 8, 128, a, NULL, stream) == 0);
    if (meets)
        pthread_barrier_wait(&both_launched);
    EXPECT(cudaStreamSynchronize(stream) == 0 && cudaStreamDestroy(stream) == 0);
    return NULL;
}

/* Two threads launch on the same memory: the second one begins when the first has ended, or beside it. */
static void run_thread_pair(int beside) {
    int *host = numbers();
    void *a;
    pthread_t threads[2];
    set_variables();
    meets = beside && pthread_barrier_init(&both_launched, NULL, 2) == 0;
    EXPECT(cudaMalloc(&a, BYTES) == 0 && cudaMemcpy(a, host, BYTES, HOST_TO_DEVICE) == 0 &&
           cudaDeviceSynchronize() == 0);
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, apply_to, a);
        if (!beside)
            pthread_join(threads[i], NULL);
    }
    for (int i = 0; beside && i < 2; i++)
        pthread_join(threads[i], NULL);
    EXPECT(cudaFree(a) == 0);
    free(host);
}

/* As CUDA has it: a process that was forked cannot use what its parent began, but can begin. */
static void run_fork(void) {
    int status, count;
    void *a;
    pid_t child = fork();
    if (!child)
        _exit(cudaGetDeviceCount(&count) == 0 && cudaMalloc(&a, 64) == 0 ? 0 : 1);
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
    EXPECT(cudaMalloc(&a, 64) == 0);
    child = fork();
    if (!child)
        _exit(cudaMalloc(&a, 64) == 3 ? 0 : 1);
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
}

/* ---- Ways to end ---- */

static void *used; /* memory of the device, of the process that ends */
static atomic_int alarms;

static void *launch_on(void *unused) {
    (void)unused;
    while (launch(&apply, 8, 128, used, NULL, NULL) == 0)
        ;
    return NULL; /* the process ends: cudaErrorCudartUnloading */
}

static void *exit_here(void *unused) {
    (void)unused;
    exit(0);
}

/* 0: what a child of a process that has used CUDA gets. */
static int errors_of_child(void) {
    int status;
    void *a;
    pid_t child = fork();
    if (!child)
        exit(cudaMalloc(&a, 64) == 3 && launch(&apply, 8, 128, used, NULL, NULL) == 3 ? 0 : 1);
    return waitpid(child, &status, 0) == child ? status : 1;
}

static void *fork_here(void *status) {
    for (int i = 0; i < 4 && !*(int *)status; i++)
        *(int *)status = errors_of_child();
    return NULL;
}

static void count_alarm(int number) {
    alarms = number;
}

static void free_used(void) {
    if (cudaFree(used) != 0)
        _exit(1);
}

/* With two threads that launch kernels all the time. */
static void end_by(int way) {
    enum { THREADS = 2 };
    struct itimerval often = {{0, 2000}, {0, 2000}}, never = {0};
    pthread_t threads[THREADS], other;
    int status = 0;
    set_variables();
    if (cudaMalloc(&used, BYTES) != 0)
        _exit(1);
    if (way == 0)
        atexit(free_used);
    for (int i = 0; i < THREADS && way; i++) {
        pthread_create(&threads[i], NULL, launch_on, NULL);
        pthread_detach(threads[i]);
    }
    if (way == 1) {
        pthread_create(&other, NULL, exit_here, NULL);
        pthread_join(other, NULL);
    } else if (way == 2) {
        pthread_create(&other, NULL, fork_here, &status);
        pthread_join(other, NULL);
    } else if (way == 3) {
        _exit(0);
    } else if (way == 4) {
        kill(getpid(), SIGTERM);
        pause();
    } else if (way == 5) {
        signal(SIGALRM, count_alarm);
        setitimer(ITIMER_REAL, &often, NULL);
        work(NULL);
        status = failed || !alarms;
        setitimer(ITIMER_REAL, &never, NULL);
    }
    exit(status ? 1 : 0);
}

static void run_end(void) {
    int status;
    for (int way = 0; way < 6; way++) {
        pid_t child = fork();
        if (!child)
            end_by(way);
        EXPECT(waitpid(child, &status, 0) == child && status == (way == 4 ? SIGTERM : 0));
    }
}

static void run_unset(void) {
    void *a, *b;
    EXPECT(cudaMalloc(&a, BYTES) == 0 && cudaMalloc(&b, BYTES) == 0);
    EXPECT(cudaMemcpy(b, a, BYTES, DEVICE_TO_DEVICE) == 0 && launch(&mirror, 16, 64, a, b, NULL) == 0);
    EXPECT(cudaDeviceSynchronize() == 0);
}

/* Of cuda_runtime.h: cudaResourceDesc of an array; cudaTextureDesc. */
typedef struct Resource {
    int kind;
    void *array;
    char rest[112];
} Resource;
typedef struct Sampling {
    int modes[3], linear, floats, gamma;
    float border[4];
    int normalized, rest[7];
} Sampling;
typedef struct Format {
    int x, y, z, w, kind;
} Format;
enum { TEXELS = 16, ROWS = 4, CLAMP = 1, SURFACES = 2 };

/* Squares in the second row; a third row that a surface writes, by one thread each or two. */
static void run_texture(int shift) {
    const Format format = {32, 0, 0, 0, 2};
    Sampling sampling = {{CLAMP, CLAMP, CLAMP}, 1, 0, 0, {0}, 0, {0}};
    float squares[ROWS * TEXELS] = {0}, got[4 * TEXELS];
    unsigned painted[TEXELS];
    unsigned long long texture, surface;
    Resource resource = {0, NULL, {0}};
    void *to;
    for (int i = 0; i < TEXELS; i++)
        squares[TEXELS + i] = (float)(i * i);
    EXPECT(cudaMallocArray(&resource.array, &format, TEXELS, ROWS, SURFACES) == 0 && cudaMalloc(&to, sizeof got) == 0);
    EXPECT(cudaMemcpy2DToArray(resource.array, 0, 0, squares, 64, 64, ROWS, HOST_TO_DEVICE) == 0);
    EXPECT(cudaMemcpy2DToArray(resource.array, 4, 0, squares, 64, 64, ROWS, HOST_TO_DEVICE) == 1);
    EXPECT(cudaCreateTextureObject(&texture, &resource, &sampling, NULL) == 0);
    EXPECT(cudaCreateSurfaceObject(&surface, &resource) == 0);
    void *arguments[] = {&texture, &to};
    EXPECT(cudaLaunchKernel(&sample, (dim3){1, 1, 1}, (dim3){4 * TEXELS, 1, 1}, arguments, 0, NULL) == 0);
    EXPECT(cudaMemcpy(got, to, sizeof got, DEVICE_TO_HOST) == 0);
    for (int i = 0; i < 4 * TEXELS; i++) {
        int quarters = i < 2 ? 0 : i - 2 > 4 * (TEXELS - 1) ? 4 * (TEXELS - 1) : i - 2, at = quarters / 4;
        float next = at < TEXELS - 1 ? squares[TEXELS + at + 1] : 0;
        EXPECT(got[i] == squares[TEXELS + at] + (next - squares[TEXELS + at]) * (float)(quarters % 4) / 4);
    }
    void *more[] = {&surface, &shift};
    EXPECT(cudaLaunchKernel(&paint, (dim3){1, 1, 1}, (dim3){TEXELS, 1, 1}, more, 0, NULL) == 0);
    EXPECT(cudaMemcpy2DFromArray(painted, 64, resource.array, 0, 2, 64, 1, DEVICE_TO_HOST) == 0);
    EXPECT(painted[1] == (shift ? 3 : 1) && cudaDestroyTextureObject(texture) == 0);
    EXPECT(cudaDestroySurfaceObject(surface) == 0 && cudaFreeArray(resource.array) == 0 && cudaFree(to) == 0);
    EXPECT(cudaCreateTextureObject(&texture, &resource, &sampling, NULL) == 400);
}

static void run_volatile(void) {
    void *a;
    EXPECT(cudaMalloc(&a, BYTES) == 0 && cudaMemset(a, 0, BYTES) == 0);
    EXPECT(launch(&loose, 4, 1, a, NULL, NULL) == 0 && cudaDeviceSynchronize() == 0 && cudaFree(a) == 0);
}

/* What is left at a reset counts, and what is left at the end; what was freed does not. */
static void run_leak(void) {
    void *a[2], *b, *c;
    EXPECT(cudaMalloc(&c, BYTES) == 0 && launch(&idle, 1, 1, NULL, NULL, NULL) == 0 && cudaFree(c) == 0);
    for (int i = 0; i < 2; i++)
        EXPECT(cudaMalloc(&a[i], BYTES) == 0);
    EXPECT(cudaDeviceReset() == 0 && cudaMallocHost(&b, BYTES) == 0);
}

/* What a launch costs: scripts/bench/cuda. */
static void run_launches(int launches) {
    struct timespec begin, end;
    EXPECT(launch(&idle, 1, 1, NULL, NULL, NULL) == 0);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    for (int i = 0; i < launches; i++)
        EXPECT(launch(&idle, 1, 1, NULL, NULL, NULL) == 0);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    double seconds = (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
    printf("%.1f us a launch\n", seconds * 1e6 / launches);
}

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "right";
    if (strcmp(name, "right") == 0)
        run_right();
    else if (strcmp(name, "rows") == 0)
        run_rows();
    else if (strcmp(name, "barrier") == 0)
        run_barrier(&mirror);
    else if (strcmp(name, "no-barrier") == 0)
        run_barrier(&mirror_without);
    else if (strcmp(name, "streams") == 0)
        run_streams(1);
    else if (strcmp(name, "no-event") == 0)
        run_streams(0);
    else if (strcmp(name, "staged") == 0)
        run_staged(1);
    else if (strcmp(name, "staged-race") == 0)
        run_staged(0);
    else if (strcmp(name, "host-function") == 0)
        run_host_function(1);
    else if (strcmp(name, "host-function-race") == 0)
        run_host_function(0);
    else if (strcmp(name, "pool") == 0)
        run_pool(0);
    else if (strcmp(name, "pool-early") == 0)
        run_pool(EARLY);
    else if (strcmp(name, "pool-late") == 0)
        run_pool(LATE);
    else if (strcmp(name, "pool-free") == 0)
        run_pool(TWICE);
    else if (strcmp(name, "asked") == 0)
        run_asked(1);
    else if (strcmp(name, "asked-race") == 0)
        run_asked(0);
    else if (strcmp(name, "graph") == 0)
        run_graph();
    else if (strcmp(name, "graph-dependent") == 0)
        run_graph_dependent();
    else if (strcmp(name, "graph-event") == 0)
        run_graph_event(1);
    else if (strcmp(name, "graph-event-early") == 0)
        run_graph_event(0);
    else if (strcmp(name, "graph-update") == 0)
        run_graph_update();
    else if (strcmp(name, "launch-event") == 0)
        run_launch_event();
    else if (strcmp(name, "bounds") == 0)
        run_bounds();
    else if (strcmp(name, "heap") == 0)
        run_heap(1);
    else if (strcmp(name, "freed") == 0)
        run_heap(2);
    else if (strcmp(name, "proofs") == 0)
        run_proofs();
    else if (strcmp(name, "address") == 0)
        run_address(1);
    else if (strcmp(name, "address-beyond") == 0)
        run_address(2);
    else if (strcmp(name, "assert") == 0)
        run_assert();
    else if (strcmp(name, "odd") == 0)
        run_odd();
    else if (strcmp(name, "trap") == 0)
        run_trap();
    else if (strcmp(name, "errors") == 0)
        run_errors();
    else if (strcmp(name, "threads") == 0)
        run_threads();
    else if (strcmp(name, "joined") == 0)
        run_thread_pair(0);
    else if (strcmp(name, "beside") == 0)
        run_thread_pair(1);
    else if (strcmp(name, "fork") == 0)
        run_fork();
    else if (strcmp(name, "end") == 0)
        run_end();
    else if (strcmp(name, "unset") == 0)
        run_unset();
    else if (strcmp(name, "volatile") == 0)
        run_volatile();
    else if (strcmp(name, "leak") == 0)
        run_leak();
    else if (strcmp(name, "launches") == 0 && argc > 2 && atoi(argv[2]) > 0)
        run_launches(atoi(argv[2]));
    else if (strcmp(name, "texture") == 0)
        run_texture(0);
    else if (strcmp(name, "texture-race") == 0)
        run_texture(1);
    else if (strcmp(name, "mipmaps") == 0)
        EXPECT(cudaMallocMipmappedArray(NULL, NULL) == 801);
    else
        failed = 1;
    puts(failed ? "FAIL" : "PASS");
    return failed;
}
