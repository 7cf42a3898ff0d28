/* A CUDA program without CUDA whose launches may run at the same time: on streams with and without events, behind each
 * other in the ways that there are, and dependent ones; on the stand-in that runs them one after the other (gpu.c). Its
 * one argument says which. */
#include "fatbin.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int Result;
typedef void *Handle;
Result cuInit(unsigned);
Result cuMemAlloc_v2(uint64_t *, size_t);
Result cuMemFree_v2(uint64_t);
Result cuMemAllocAsync(uint64_t *, size_t, Handle);
Result cuMemFreeAsync(uint64_t, Handle);
Result cuMemcpyHtoD_v2(uint64_t, const void *, size_t);
Result cuMemcpyDtoH_v2(void *, uint64_t, size_t);
Result cuMemcpyDtoD_v2(uint64_t, uint64_t, size_t);
Result cuMemcpyBatchAsync_v2(uint64_t *, uint64_t *, size_t *, size_t, void *, size_t *, size_t, Handle);
Result cuMemsetD8_v2(uint64_t, unsigned char, size_t);
Result cuPointerSetAttribute(const unsigned *, int, uint64_t);
Result cuMemsetD8Async(uint64_t, unsigned char, size_t, Handle);
Result cuMemcpyDtoHAsync_v2(void *, uint64_t, size_t, Handle);
Result cuMemcpyHtoDAsync_v2(uint64_t, const void *, size_t, Handle);
Result cuMemcpy2DAsync_v2(const void *, Handle);
Result cuMemsetD2D32Async(uint64_t, size_t, unsigned, size_t, size_t, Handle);
Result cuMemHostAlloc(void **, size_t, unsigned);
Result cuModuleLoadData(Handle *, const void *);
Result cuModuleGetFunction(Handle *, Handle, const char *);
Result cuLaunchKernel(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void **,
                      void **);
Result cuLaunchKernelEx(const void *, Handle, void **, void **);
Result cuStreamCreate(Handle *, unsigned);
Result cuStreamDestroy_v2(Handle);
Result cuStreamSynchronize(Handle);
Result cuStreamQuery(Handle);
Result cuStreamWaitEvent(Handle, Handle, unsigned);
Result cuStreamWaitValue32_v2(Handle, uint64_t, uint32_t, unsigned);
Result cuLaunchHostFunc(Handle, void (*)(void *), void *);
Result cuEventCreate(Handle *, unsigned);
Result cuEventRecord(Handle, Handle);
Result cuEventSynchronize(Handle);
Result cuEventQuery(Handle);
Result cuCtxSynchronize(void);
Result cuCtxRecordEvent(Handle, Handle);
Result cuCtxWaitEvent(Handle, Handle);
Result cuMemPoolExportPointer(void *, uint64_t);

/* box[i] = i; then a flag for each CTA. And who reads the box, behind the flag or not; who overwrites it. */
static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                           ".visible .entry produce(.param .u64 box, .param .u64 flags) {\n"
                           "  .reg .b64 %rd<8>; .reg .b32 %r<8>; .reg .pred %p1;\n"
                           "  ld.param.u64 %rd1, [box]; ld.param.u64 %rd2, [flags];\n"
                           "  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;\n"
                           "  mad.lo.s32 %r4, %r2, %r3, %r1; mul.wide.s32 %rd3, %r4, 4; add.s64 %rd4, %rd1, %rd3;\n"
                           "  griddepcontrol.launch_dependents;\n"
                           "  st.global.u32 [%rd4], %r4;\n"
                           "  bar.sync 0;\n"
                           "  mul.wide.s32 %rd5, %r2, 4; add.s64 %rd6, %rd2, %rd5; setp.eq.u32 %p1, %r1, 0;\n"
                           "  @%p1 st.release.gpu.global.u32 [%rd6], 1;\n"
                           "  ret;\n"
                           "}\n"
                           ".visible .entry consume(.param .u64 box, .param .u64 flags, .param .u64 out) {\n"
                           "  .reg .b64 %rd<12>; .reg .b32 %r<8>; .reg .pred %p1;\n"
                           "  ld.param.u64 %rd1, [box]; ld.param.u64 %rd2, [flags]; ld.param.u64 %rd7, [out];\n"
                           "  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;\n"
                           "  mad.lo.s32 %r4, %r2, %r3, %r1; mul.wide.s32 %rd3, %r4, 4; add.s64 %rd4, %rd1, %rd3;\n"
                           "  mul.wide.s32 %rd5, %r2, 4; add.s64 %rd6, %rd2, %rd5;\n"
                           "AGAIN:\n"
                           "  ld.acquire.gpu.global.u32 %r5, [%rd6]; setp.eq.u32 %p1, %r5, 0;\n"
                           "  @%p1 bra AGAIN;\n"
                           "  ld.global.u32 %r6, [%rd4]; add.s64 %rd8, %rd7, %rd3; st.global.u32 [%rd8], %r6;\n"
                           "  ret;\n"
                           "}\n"
                           ".visible .entry copy(.param .u64 box, .param .u64 flags, .param .u64 out) {\n"
                           "  .reg .b64 %rd<12>; .reg .b32 %r<8>;\n"
                           "  ld.param.u64 %rd1, [box]; ld.param.u64 %rd7, [out];\n"
                           "  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;\n"
                           "  mad.lo.s32 %r4, %r2, %r3, %r1; mul.wide.s32 %rd3, %r4, 4; add.s64 %rd4, %rd1, %rd3;\n"
                           "  griddepcontrol.wait;\n"
                           "  ld.global.u32 %r6, [%rd4]; add.s64 %rd8, %rd7, %rd3; st.global.u32 [%rd8], %r6;\n"
                           "  ret;\n"
                           "}\n";

/* Lets the next launch begin, then waits. */
static const char between_text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                                   ".visible .entry idle(.param .u64 box, .param .u64 flags, .param .u64 out) {\n"
                                   "  griddepcontrol.launch_dependents;\n"
                                   "  griddepcontrol.wait;\n"
                                   "  ret;\n"
                                   "}\n";

/* A variable of the module, by its name and by its address. */
static const char variable[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                               ".visible .global .align 4 .u32 counter;\n"
                               ".func set(.param .u32 value) {\n"
                               "  .reg .b32 %r1;\n"
                               "  ld.param.u32 %r1, [value];\n"
                               "  st.global.u32 [counter], %r1;\n"
                               "  ret;\n"
                               "}\n"
                               ".visible .entry by_name(.param .u64 box, .param .u64 flags) {\n"
                               "  .reg .b32 %r1;\n"
                               "  mov.u32 %r1, 7;\n"
                               "  st.global.u32 [counter], %r1;\n"
                               "  ret;\n"
                               "}\n"
                               ".visible .entry by_address(.param .u64 box, .param .u64 flags, .param .u64 out) {\n"
                               "  .reg .b64 %rd<3>; .reg .b32 %r1;\n"
                               "  mov.u64 %rd1, counter; ld.param.u64 %rd2, [out];\n"
                               "  ld.global.u32 %r1, [%rd1];\n"
                               "  st.global.u32 [%rd2], %r1;\n"
                               "  ret;\n"
                               "}\n";

static uint64_t box, flags, out, other, more, apart;
static Handle produce, consume, copy, one, two, event;

static char *replaced(const char *in, const char *what, const char *by) {
    char *made = calloc(1, strlen(in) + strlen(by) + 1);
    const char *at = strstr(in, what);
    if (!made || !at)
        exit(2);
    snprintf(made, strlen(in) + strlen(by) + 1, "%.*s%s%s", (int)(at - in), in, by, at + strlen(what));
    return made;
}

static void load(const char *from) {
    Handle module;
    if (cuModuleLoadData(&module, from) || cuModuleGetFunction(&produce, module, "produce") ||
        cuModuleGetFunction(&consume, module, "consume") || cuModuleGetFunction(&copy, module, "copy"))
        exit(2);
}

static void launch(Handle function, Handle stream, uint64_t to) {
    void *parameters[] = {&box, &flags, &to};
    if (cuLaunchKernel(function, 4, 1, 1, 64, 1, 1, 0, stream, parameters, NULL))
        exit(2);
}

static void launch_with(int attribute_id, Handle function, Handle stream, uint64_t to) {
    struct {
        int id, pad;
        union {
            char bytes[64];
            int number;
        } value;
    } attribute = {.id = attribute_id, .value.number = 1};
    struct {
        unsigned grid[3], block[3], shared;
        Handle stream;
        const void *attributes;
        unsigned count;
    } config = {{4, 1, 1}, {64, 1, 1}, 0, stream, &attribute, 1};
    void *parameters[] = {&box, &flags, &to};
    if (cuLaunchKernelEx(&config, function, parameters, NULL))
        exit(2);
}

static void launch_dependent(Handle function, Handle stream, uint64_t to) {
    launch_with(6, function, stream, to);
}

/* One names the variable, the other has its address; each is one thread. */
static void launch_variable(const char *text) {
    Handle module, function[2];
    void *parameters[] = {&box, &flags, &out};
    if (cuModuleLoadData(&module, text) || cuModuleGetFunction(&function[0], module, "by_name") ||
        cuModuleGetFunction(&function[1], module, "by_address"))
        exit(2);
    for (int i = 0; i < 2; i++)
        if (cuLaunchKernel(function[i], 1, 1, 1, 1, 1, 1, 0, i ? two : one, parameters, NULL))
            exit(2);
}

static void called(void *with) {
    (void)with;
}

static void *idle_thread(void *unused) {
    return unused;
}

static void *wait_in_thread(void *unused) {
    cuStreamSynchronize(one);
    return unused;
}

/* The launch, or the copy, that another thread waits for. */
static void wait_elsewhere(bool joins) {
    pthread_t thread;
    pthread_create(&thread, NULL, wait_in_thread, NULL);
    if (joins)
        pthread_join(thread, NULL);
    else
        usleep(100000);
}

static void *launch_from_thread(void *unused) {
    launch(copy, two, out);
    return unused;
}

/* What stands between the launch that writes and the one that reads. */
static void between(const char *what) {
    if (strcmp(what, "event") == 0) {
        cuEventRecord(event, one);
        cuStreamWaitEvent(two, event, 0);
    } else if (strcmp(what, "event-early") == 0) {
        cuStreamWaitEvent(two, event, 0);
    } else if (strcmp(what, "event-wrong-stream") == 0) {
        cuEventRecord(event, two);
        cuStreamWaitEvent(two, event, 0);
    } else if (strcmp(what, "host-event") == 0) {
        cuEventRecord(event, one);
        cuEventSynchronize(event);
    } else if (strcmp(what, "host-query") == 0) {
        cuEventRecord(event, one);
        while (cuEventQuery(event))
            continue;
    } else if (strcmp(what, "host-stream") == 0) {
        cuStreamSynchronize(one);
    } else if (strcmp(what, "host-other-stream") == 0) {
        cuStreamSynchronize(two);
    } else if (strcmp(what, "host-all") == 0) {
        cuCtxSynchronize();
    } else if (strcmp(what, "default-stream") == 0) {
        cuMemsetD8Async(other, 0, 16, NULL);
    } else if (strcmp(what, "value") == 0) {
        cuStreamWaitValue32_v2(two, flags, 1, 0);
    } else if (strcmp(what, "callback") == 0) {
        cuLaunchHostFunc(one, called, NULL);
    } else if (strcmp(what, "context-event") == 0) {
        cuCtxRecordEvent(NULL, event);
        cuCtxWaitEvent(NULL, event);
    }
}

/* Calls that are not modeled, by each way to them. Returns whether they give what they give without Weir. */
static bool call_unmodeled(const char *how) {
    char handle[64] = {0};
    int status = -1;
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY), *found = NULL, *again = NULL;
    if (strcmp(how, "linked") == 0)
        return !cuMemPoolExportPointer(handle, box) && memcmp(handle, &box, sizeof box) == 0;
    if (strcmp(how, "fails") == 0)
        return cuMemPoolExportPointer(handle, 0) == 1;
    if (strcmp(how, "missing") == 0)
        return !dlsym(driver, "cuMulticastBindMem") && !dlsym(RTLD_DEFAULT, "cuMulticastBindMem") &&
               !dlsym(RTLD_DEFAULT, "cuStreamSynchronize_v2");
    if (strcmp(how, "dlsym") == 0)
        found = dlsym(driver, "cuMemcpy3DBatchAsync_v2");
    void *asked = dlsym(driver, "cuGetProcAddress_v2");
    Result (*ask)(const char *, void **, int, uint64_t, int *) =
        *(Result(**)(const char *, void **, int, uint64_t, int *)) & asked;
    if (ask("cuMemcpy3DBatchAsync", &again, strcmp(how, "old") == 0 ? 10000 : 13000, 0, &status) || status)
        return false;
    if (strcmp(how, "dlsym") == 0 && found != again)
        return false;
    if (strcmp(how, "old") == 0)
        return (*(Result(**)(size_t, void *, size_t *, uint64_t, Handle)) & again)(0, NULL, NULL, 0, one) == 801;
    return !(*(Result(**)(size_t, void *, uint64_t, Handle)) & again)(0, NULL, 0, one);
}

/* CUDA_MEMCPY2D: from device memory, where `y` and `x` are in it, to another place there. */
static void copy_rows(uint64_t to, size_t x, size_t y, size_t pitch, size_t width, size_t height, Handle stream) {
    struct {
        size_t from_x, from_y;
        unsigned from_type;
        uint64_t from_host, from_device, from_array;
        size_t from_pitch, to_x, to_y;
        unsigned to_type;
        uint64_t to_host, to_device, to_array;
        size_t to_pitch, width, height;
    } rows = {.from_x = x,
              .from_y = y,
              .from_type = 2,
              .from_device = box,
              .from_pitch = pitch,
              .to_type = 4,
              .to_device = to,
              .to_pitch = width,
              .width = width,
              .height = height};
    cuMemcpy2DAsync_v2(&rows, stream);
}

/* Memory of a pool: one stream allocates and frees it, the other one uses it, with or without an event between them. */
static int with_pool(const char *what) {
    uint64_t again;
    bool host = strncmp(what, "pool-host", 9) == 0;
    if (cuMemAllocAsync(&box, 1024, one))
        return 2;
    between(strncmp(what, "pool-early", 10) == 0 ? "" : "event");
    if (strcmp(what, "pool-early-copy") == 0)
        cuMemsetD8Async(box, 0, 1024, two);
    else
        launch(produce, two, 0);
    if (!host && strcmp(what, "pool-late") != 0 && (cuEventRecord(event, two) || cuStreamWaitEvent(one, event, 0)))
        return 2;
    if (strcmp(what, "pool-host-waits") == 0)
        cuStreamSynchronize(two);
    if (host ? cuMemFree_v2(box) : cuMemFreeAsync(box, one))
        return 2;
    if (strcmp(what, "pool-behind") == 0)
        launch(produce, one, 0);
    if (strcmp(what, "pool-again") != 0)
        return 0;
    if (cuMemAllocAsync(&again, 1024, two) || again != box) /* the driver has it wait for stream one */
        return 2;
    launch(produce, two, 0);
    return cuMemFreeAsync(again, two);
}

/* Copies beside kernels. Returns 0 if it is none of these. */
static int with_copies(const char *what) {
    static int numbers[256];
    void *pinned = numbers;
    if (cuMemHostAlloc(&pinned, 1024, 0))
        exit(2);
    if (strcmp(what, "copy-in") == 0 || strcmp(what, "copy-in-event") == 0 || strcmp(what, "copy-in-host") == 0) {
        cuMemcpyHtoDAsync_v2(box, pinned, 1024, one);
        between(strcmp(what, "copy-in") == 0 ? "" : strcmp(what, "copy-in-host") == 0 ? "host-stream" : "event");
        launch(copy, two, out);
    } else if (strncmp(what, "sync-", 5) == 0) { /* copies without a stream, and a stream that does not wait for them */
        const unsigned on = 1;
        if (strstr(what, "-memops"))
            cuPointerSetAttribute(&on, 6, box);
        if (strncmp(what, "sync-in", 7) == 0)
            cuMemcpyHtoD_v2(box, strstr(what, "pinned") ? pinned : numbers, 1024);
        else if (strncmp(what, "sync-within", 11) == 0)
            cuMemcpyDtoD_v2(box, other, 1024);
        else if (strncmp(what, "sync-set", 8) == 0)
            cuMemsetD8_v2(box, 0, 1024);
        else
            cuMemcpyDtoH_v2(numbers, box, 1024);
        if (strstr(what, "-waits"))
            cuCtxSynchronize();
        launch(strncmp(what, "sync-out", 8) == 0 ? produce : copy, two, out);
    } else if (strncmp(what, "copies-", 7) == 0) { /* two copies, and what stands between them */
        bool away = strcmp(what, "copies-elsewhere") == 0, out_too = strcmp(what, "copies-out") == 0;
        uint64_t mine = box;
        launch(produce, one, 0);
        cuCtxSynchronize();
        cuMemcpyHtoDAsync_v2(box, pinned, 512, one);
        if (strcmp(what, "copies-event") == 0 || strcmp(what, "copies-host-stream") == 0 ||
            strcmp(what, "copies-value") == 0)
            between(what + 7);
        if (strcmp(what, "copies-thread") == 0)
            wait_elsewhere(false);
        if (strcmp(what, "copies-flags") == 0) { /* of memory of their own */
            box = other;
            launch(produce, one, 0);
            launch(consume, two, out);
            box = mine;
        }
        if (out_too)
            cuMemcpyDtoHAsync_v2((char *)pinned + 512, box + 256, 64, two);
        else
            cuMemsetD2D32Async(box + (away ? 512 : 480), 32, 0, 1, 4, strcmp(what, "copies-same") == 0 ? one : two);
    } else if (strcmp(what, "batch") == 0 || strcmp(what, "batch-same") == 0) {
        uint64_t to[] = {other, box + 512}, from[] = {(uintptr_t)pinned, (uintptr_t)pinned};
        size_t bytes[] = {256, 256};
        cuMemcpyBatchAsync_v2(to, from, bytes, 2, NULL, NULL, 0, one);
        launch(copy, strcmp(what, "batch") == 0 ? two : one, out);
    } else if (strcmp(what, "copy-same") == 0) {
        cuMemcpyHtoDAsync_v2(box, pinned, 1024, one);
        launch(copy, one, out);
    } else if (strcmp(what, "copy-elsewhere") == 0) {
        cuMemcpyHtoDAsync_v2(other, pinned, 1024, one);
        launch(copy, two, out);
    } else if (strcmp(what, "copy-out") == 0) {
        launch(produce, one, 0);
        cuMemcpyDtoHAsync_v2(pinned, box, 512, two);
    } else if (strcmp(what, "copy-out-pageable") == 0) { /* the host waits for it before the next launch */
        cuMemcpyDtoHAsync_v2(numbers, box, 512, two);
        launch(produce, one, 0);
    } else if (strcmp(what, "copy-over") == 0) {
        launch(copy, one, out);
        cuMemsetD8Async(box + 1000, 0, 16, two);
    } else if (strcmp(what, "rows-out") == 0) {
        launch(produce, one, 0);
        copy_rows(other, 8, 1, 128, 4, 2, two);
    } else if (strcmp(what, "rows-elsewhere") == 0) { /* behind what is written */
        launch(produce, one, 0);
        copy_rows(other, 0, 8, 128, 16, 4, two);
        cuMemsetD2D32Async(other, 8, 0, 1, 64, two);
    } else if (strcmp(what, "rows-no-wait") == 0) { /* the host does not wait for it, nor for what is before it */
        launch(produce, one, 0);
        copy_rows(other + 512, 0, 16, 128, 16, 2, one);
        launch(copy, two, out);
    } else if (strcmp(what, "rows-set") == 0) {
        launch(copy, one, out);
        cuMemsetD2D32Async(box + 4, 512, 0, 1, 2, two);
    } else if (strcmp(what, "copy-polled") == 0) {
        memset(pinned, 1, 16);
        cuMemcpyHtoDAsync_v2(flags, pinned, 16, two);
        launch(consume, one, out);
    } else {
        return 0;
    }
    return 1;
}

static int is_copied(void) {
    int found[256];
    cuCtxSynchronize(); /* the default stream does not wait for the others */
    cuMemcpyDtoH_v2(found, out, sizeof found);
    for (int i = 0; i < 256; i++)
        if (found[i] != i)
            return 0;
    return 1;
}

int main(int count, char **words) {
    const char *what = count > 1 ? words[1] : "event", *how = count > 2 ? words[2] : "";
    unsigned non_blocking = strcmp(how, "blocking") != 0;
    if (cuInit(0) || cuMemAlloc_v2(&box, 1024) || cuMemAlloc_v2(&apart, 4096) || cuMemAlloc_v2(&flags, 1024) ||
        cuMemAlloc_v2(&apart, 4096) || cuMemAlloc_v2(&out, 1024) || cuMemAlloc_v2(&other, 1024) ||
        cuMemAlloc_v2(&apart, 4096) || cuMemAlloc_v2(&more, 1024) || cuMemsetD8Async(flags, 0, 64, NULL) ||
        cuStreamCreate(&one, non_blocking) || cuStreamCreate(&two, non_blocking) || cuEventCreate(&event, 2))
        return 2;
    cuCtxSynchronize();
    load(strcmp(what, "no-release") == 0   ? replaced(text, "st.release.gpu", "st.relaxed.gpu")
         : strcmp(what, "no-acquire") == 0 ? replaced(text, "ld.acquire.gpu", "ld.relaxed.gpu")
         : strcmp(what, "cta-scope") == 0  ? replaced(text, "st.release.gpu", "st.release.cta")
         : strcmp(what, "no-wait") == 0    ? replaced(text, "  griddepcontrol.wait;\n", "")
                                           : text);
    if (with_copies(what))
        return 0;
    if (strcmp(what, "same-stream") == 0) {
        launch(produce, one, 0);
        launch(copy, one, out);
    } else if (strcmp(what, "other-memory") == 0) {
        uint64_t mine = box;
        launch(produce, one, 0);
        box = other;
        launch(copy, two, out);
        box = mine;
        return 0;
    } else if (strcmp(what, "variable") == 0) {
        launch_variable(variable);
    } else if (strcmp(what, "variable-untold") == 0) { /* kernels tell of those that they name themselves */
        launch_variable(replaced(variable, "mov.u32 %r1, 7;\n  st.global.u32 [counter], %r1;",
                                 "{ .param .u32 p; st.param.u32 [p], 7; call.uni set, (p); }"));
        return 0;
    } else if (strcmp(what, "plain-flags") == 0) { /* the flags of one are the box of the other */
        launch(produce, one, 0);
        box = flags;
        launch(copy, two, out);
        return 0;
    } else if (strcmp(what, "flags") == 0 || strncmp(what, "no-release", 10) == 0 || strcmp(what, "no-acquire") == 0 ||
               strcmp(what, "cta-scope") == 0) {
        launch(produce, one, 0);
        launch(consume, two, out);
    } else if (strcmp(what, "domains") == 0) { /* flags between launches of two memory synchronization domains */
        launch_with(10, produce, one, 0);
        launch(consume, strcmp(how, "same") == 0 ? one : two, out);
    } else if (strcmp(what, "dependent") == 0 || strcmp(what, "no-wait") == 0) {
        launch(produce, one, 0);
        launch_dependent(copy, one, out);
    } else if (strncmp(what, "chain", 5) == 0) { /* a launch between the two that begins with the first one */
        Handle module, idle;
        bool waits = strcmp(what, "chain-no-wait-b") != 0;
        if (cuModuleLoadData(&module, waits ? between_text : replaced(between_text, "griddepcontrol.wait;", "")) ||
            cuModuleGetFunction(&idle, module, "idle"))
            return 2;
        if (strcmp(what, "chain-no-wait-c") == 0)
            load(replaced(text, "  griddepcontrol.wait;\n", ""));
        launch(produce, one, 0);
        launch_dependent(idle, one, other);
        launch_dependent(copy, one, out);
    } else if (strcmp(what, "dependent-event") == 0) { /* an event between them: it waits for all */
        launch(produce, one, 0);
        cuEventRecord(event, one);
        launch_dependent(copy, one, out);
    } else if (strncmp(what, "pool", 4) == 0) {
        return with_pool(what);
    } else if (strcmp(what, "default-launch") == 0) { /* of the default stream, with others before and behind it */
        launch(produce, one, 0);
        launch(copy, NULL, other);
        launch(produce, two, 0);
        return 0;
    } else if (strcmp(what, "overwrite") == 0) {
        launch(produce, one, 0);
        launch(copy, one, out);
        launch(produce, two, 0);
    } else if (strcmp(what, "unmodeled") == 0) {
        launch(produce, one, 0);
        launch(copy, one, out);
        if (!call_unmodeled(how))
            return 1;
    } else if (strcmp(what, "many") == 0) {
        for (int i = 0; i < 5; i++) {
            launch(produce, one, 0);
            between(how);
            launch(copy, two, out);
        }
    } else if (strncmp(what, "library", 7) == 0) { /* kernels that are machine code, and what stands between */
        Handle module, library;
        if (cuModuleLoadData(&module, fatbin_of(text, 2)) || cuModuleGetFunction(&library, module, "copy"))
            return 2;
        for (int i = 0; i < 2; i++) {
            Handle stream = strcmp(how, "same") == 0 ? one : two;
            launch(strcmp(what, "library") == 0 ? produce : library, one, out);
            between(how);
            launch(strcmp(what, "library") == 0 ? library : produce, stream, out);
            cuCtxSynchronize();
        }
        return 0;
    } else if (strncmp(what, "apart", 5) == 0) { /* of memory of their own */
        uint64_t mine = box;
        for (int i = 0; i < 10; i++) {
            bool moved = strcmp(what, "apart-moved") == 0 ? i >= 5 : strcmp(what, "apart-once") == 0 && i == 9;
            box = mine;
            launch(produce, one, 0);
            box = moved ? more : other;
            launch(copy, two, out);
            if (strcmp(what, "apart") != 0)
                cuCtxSynchronize();
        }
        return 0;
    } else if (strcmp(what, "late") == 0) { /* those on the second stream are equal to the first ones, and come late */
        for (int i = 0; i < 10; i++)
            launch(produce, i < 5 ? one : two, 0);
        return 0;
    } else if (strcmp(what, "forks") == 0) { /* a child makes threads that have nothing to do with the device */
        int status = 1;
        pthread_t thread;
        launch(produce, one, 0);
        launch(copy, one, out);
        pid_t child = fork();
        if (child == 0)
            _exit(pthread_create(&thread, NULL, idle_thread, NULL) || pthread_join(thread, NULL));
        if (waitpid(child, &status, 0) != child || status)
            return 1;
    } else if (strncmp(what, "thread-", 7) == 0) {
        void *pinned;
        if (strcmp(what, "thread-copy") == 0 && !cuMemHostAlloc(&pinned, 1024, 0))
            cuMemcpyHtoDAsync_v2(box, pinned, 1024, one);
        else
            launch(produce, one, 0);
        wait_elsewhere(strcmp(what, "thread-joined") == 0);
        launch(copy, two, out);
        return 0;
    } else if (strcmp(what, "thread") == 0) {
        pthread_t thread;
        launch(produce, one, 0);
        cuStreamSynchronize(one);
        pthread_create(&thread, NULL, launch_from_thread, NULL);
        pthread_join(thread, NULL);
    } else {
        launch(produce, one, 0);
        between(what);
        launch(copy, two, out);
    }
    return is_copied() ? 0 : 1;
}
