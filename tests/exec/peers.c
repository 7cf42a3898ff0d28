/* A CUDA program without CUDA of two processes that have the same memory: by physical memory that one exports and the
 * other maps, or by an allocation that the other opens. The first produces, the second consumes; the words say how the
 * memory is shared, and what stands between the two. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int Result;
typedef void *Handle;
typedef struct IpcHandle {
    char bytes[64];
} IpcHandle;
Result cuInit(unsigned);
Result cuMemAlloc_v2(uint64_t *, size_t);
Result cuMemCreate(unsigned long long *, size_t, const void *, unsigned long long);
Result cuMemRelease(unsigned long long);
Result cuMemAddressReserve(uint64_t *, size_t, size_t, uint64_t, unsigned long long);
Result cuMemMap(uint64_t, size_t, size_t, unsigned long long, unsigned long long);
Result cuMemUnmap(uint64_t, size_t);
Result cuMemSetAccess(uint64_t, size_t, const void *, size_t);
Result cuMemExportToShareableHandle(void *, unsigned long long, int, unsigned long long);
Result cuMemImportFromShareableHandle(unsigned long long *, void *, int);
Result cuIpcGetMemHandle(IpcHandle *, uint64_t);
Result cuIpcOpenMemHandle_v2(uint64_t *, IpcHandle, unsigned);
Result cuIpcCloseMemHandle(uint64_t);
Result cuIpcGetEventHandle(IpcHandle *, Handle);
Result cuIpcOpenEventHandle(Handle *, IpcHandle);
Result cuMemsetD8Async(uint64_t, unsigned char, size_t, Handle);
Result cuMemcpyDtoH_v2(void *, uint64_t, size_t);
Result cuModuleLoadData(Handle *, const void *);
Result cuModuleGetFunction(Handle *, Handle, const char *);
Result cuLaunchKernel(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void **,
                      void **);
Result cuStreamCreate(Handle *, unsigned);
Result cuStreamSynchronize(Handle);
Result cuStreamWaitEvent(Handle, Handle, unsigned);
Result cuEventCreate(Handle *, unsigned);
Result cuEventRecord(Handle, Handle);
Result cuCtxSynchronize(void);

enum { PAGE = 1 << 16, FLAG = 4096, COUNT = 32, NON_BLOCKING = 1, INTERPROCESS = 6 };

/* box[i] = i, then the flag; who waits for the flag and reads the box; who reads it at once; two CTAs, of which the
 * first waits for the flag and sets one that the second waits for, which reads the box. */
static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                           ".visible .entry produce(.param .u64 box) {\n"
                           "  .reg .b64 %rd<4>; .reg .b32 %r<2>; .reg .pred %p1;\n"
                           "  ld.param.u64 %rd1, [box]; mov.u32 %r1, %tid.x;\n"
                           "  mul.wide.s32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;\n"
                           "  st.global.u32 [%rd3], %r1;\n"
                           "  bar.sync 0; setp.eq.u32 %p1, %r1, 0;\n"
                           "  @%p1 st.release.sys.global.u32 [%rd1+4096], 1;\n"
                           "  ret;\n"
                           "}\n"
                           ".visible .entry consume(.param .u64 box, .param .u64 out) {\n"
                           "  .reg .b64 %rd<6>; .reg .b32 %r<4>; .reg .pred %p1;\n"
                           "  ld.param.u64 %rd1, [box]; ld.param.u64 %rd4, [out]; mov.u32 %r1, %tid.x;\n"
                           "  mul.wide.s32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;\n"
                           "AGAIN:\n"
                           "  ld.acquire.sys.global.u32 %r2, [%rd1+4096]; setp.eq.u32 %p1, %r2, 0;\n"
                           "  @%p1 bra AGAIN;\n"
                           "  ld.global.u32 %r3, [%rd3]; add.s64 %rd5, %rd4, %rd2; st.global.u32 [%rd5], %r3;\n"
                           "  ret;\n"
                           "}\n"
                           ".visible .entry copy(.param .u64 box, .param .u64 out) {\n"
                           "  .reg .b64 %rd<6>; .reg .b32 %r<4>;\n"
                           "  ld.param.u64 %rd1, [box]; ld.param.u64 %rd4, [out]; mov.u32 %r1, %tid.x;\n"
                           "  mul.wide.s32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;\n"
                           "  ld.global.u32 %r3, [%rd3]; add.s64 %rd5, %rd4, %rd2; st.global.u32 [%rd5], %r3;\n"
                           "  ret;\n"
                           "}\n"
                           ".visible .entry chained(.param .u64 box, .param .u64 out) {\n"
                           "  .reg .b64 %rd<6>; .reg .b32 %r<4>; .reg .pred %p<3>;\n"
                           "  ld.param.u64 %rd1, [box]; ld.param.u64 %rd4, [out]; mov.u32 %r1, %tid.x;\n"
                           "  mul.wide.s32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;\n"
                           "  mov.u32 %r2, %ctaid.x; setp.eq.u32 %p1, %r2, 0; @%p1 bra FIRST;\n"
                           "SECOND:\n"
                           "  ld.acquire.gpu.global.u32 %r2, [%rd4+4096]; setp.eq.u32 %p1, %r2, 0;\n"
                           "  @%p1 bra SECOND;\n"
                           "  ld.global.u32 %r3, [%rd3]; add.s64 %rd5, %rd4, %rd2; st.global.u32 [%rd5], %r3;\n"
                           "  ret;\n"
                           "FIRST:\n"
                           "  ld.acquire.sys.global.u32 %r2, [%rd1+4096]; setp.eq.u32 %p1, %r2, 0;\n"
                           "  @%p1 bra FIRST;\n"
                           "  bar.sync 0; setp.eq.u32 %p2, %r1, 0;\n"
                           "  @%p2 st.release.gpu.global.u32 [%rd4+4096], 1;\n"
                           "  ret;\n"
                           "}\n";

static const char *way, *what;
static int other; /* a socket to the other process */
static Handle module, stream, event;
static uint64_t box;

static void check(bool good, int line) {
    if (good)
        return;
    fprintf(stderr, "peers: line %d\n", line);
    _exit(2);
}
#define CHECK(good) check(good, __LINE__)

static char *replaced(const char *in, const char *from, const char *to) {
    size_t size = strlen(in) + strlen(to) + 1;
    char *made = calloc(1, size);
    const char *at = strstr(in, from);
    CHECK(made && at);
    snprintf(made, size, "%.*s%s%s", (int)(at - in), in, to, at + strlen(from));
    return made;
}

/* One word, and what is other with it: up to two places. */
typedef struct Other {
    const char *word, *changes[2][2];
} Other;
static const Other others[] = {
    {"flags", {{NULL}}},
    {"chain", {{NULL}}},
    {"chain-relaxed", {{"st.release.gpu", "st.relaxed.gpu"}}},
    {"relaxed", {{"st.release.sys", "st.relaxed.sys"}}},
    {"cta", {{"st.release.sys", "st.release.cta"}}},
    {"fences",
     {{"@%p1 st.release.sys", "fence.acq_rel.sys; @%p1 st.relaxed.sys"},
      {"ld.acquire.sys.global.u32 %r2, [%rd1+4096]; setp.eq.u32 %p1, %r2, 0;\n  @%p1 bra AGAIN;",
       "ld.relaxed.sys.global.u32 %r2, [%rd1+4096]; setp.eq.u32 %p1, %r2, 0;\n  @%p1 bra AGAIN; fence.acq_rel.sys;"}}},
    {"fence-missing",
     {{"@%p1 st.release.sys", "fence.acq_rel.sys; @%p1 st.relaxed.sys"}, {"ld.acquire.sys", "ld.relaxed.sys"}}},
    {"reads-early",
     {{"AGAIN:", "ld.global.u32 %r3, [%rd3];\nAGAIN:"}, {"ld.global.u32 %r3, [%rd3]; add", "add"}}},
    {"writes-late",
     {{"st.global.u32 [%rd3], %r1;", ""}, {"4096], 1;", "4096], 1; st.global.u32 [%rd3], %r1;"}}},
};

static const Other *other_way(void) {
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(what, others[i].word) == 0)
            return &others[i];
    return NULL;
}

static void begin(void) {
    const Other *way = other_way();
    const char *used = text;
    for (unsigned i = 0; way && i < 2 && way->changes[i][0]; i++)
        used = replaced(used, way->changes[i][0], way->changes[i][1]);
    CHECK(!cuInit(0) && !cuStreamCreate(&stream, NON_BLOCKING) && !cuModuleLoadData(&module, used));
}

static void launch(const char *name, unsigned ctas, uint64_t to, uint64_t out) {
    Handle function;
    void *parameters[] = {&to, &out};
    CHECK(!cuModuleGetFunction(&function, module, name));
    CHECK(!cuLaunchKernel(function, ctas, 1, 1, COUNT, 1, 1, 0, stream, parameters, NULL));
}

/* ---- What goes from one to the other --------------------------------------------------------------- */

static void give(const void *bytes, size_t size, int file) {
    char control[CMSG_SPACE(sizeof file)] = {0};
    struct iovec piece = {(void *)(uintptr_t)bytes, size};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
    if (file >= 0) {
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        *CMSG_FIRSTHDR(&message) = (struct cmsghdr){CMSG_LEN(sizeof file), SOL_SOCKET, SCM_RIGHTS};
        memcpy(CMSG_DATA(CMSG_FIRSTHDR(&message)), &file, sizeof file);
    }
    CHECK(sendmsg(other, &message, 0) == (ssize_t)size);
}

static int take(void *bytes, size_t size) {
    int file = -1;
    char control[CMSG_SPACE(sizeof file)] = {0};
    struct iovec piece = {bytes, size};
    struct msghdr message = {
        .msg_iov = &piece, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    CHECK(recvmsg(other, &message, 0) == (ssize_t)size);
    if (CMSG_FIRSTHDR(&message))
        memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof file);
    return file;
}

static uint64_t map(unsigned long long handle) {
    uint64_t at;
    CHECK(!cuMemAddressReserve(&at, PAGE, PAGE, 0, 0) && !cuMemMap(at, PAGE, 0, handle, 0) &&
          !cuMemSetAccess(at, PAGE, NULL, 0));
    return at;
}

/* Memory of the first process, and an event. */
static void share(void) {
    unsigned long long handle;
    const int how[8] = {1, 1, 1, 0};
    IpcHandle ipc = {{0}};
    int file = -1;
    if (strcmp(way, "ipc") == 0) {
        CHECK(!cuMemAlloc_v2(&box, PAGE) && !cuIpcGetMemHandle(&ipc, box));
    } else {
        CHECK(!cuMemCreate(&handle, PAGE, how, 0));
        box = map(handle);
        CHECK(!cuMemExportToShareableHandle(&file, handle, 1, 0));
    }
    give(&ipc, sizeof ipc, file);
    CHECK(!cuEventCreate(&event, INTERPROCESS) && !cuIpcGetEventHandle(&ipc, event));
    give(&ipc, sizeof ipc, -1);
    if (file >= 0) {
        close(file);
        CHECK(!cuMemRelease(handle));
    }
}

/* ... in the second one; where it is mapped twice, at the second address. */
static void open_shared(void) {
    unsigned long long handle;
    IpcHandle ipc;
    int file = take(&ipc, sizeof ipc);
    if (strcmp(way, "ipc") == 0) {
        CHECK(!cuIpcOpenMemHandle_v2(&box, ipc, 1));
    } else {
        CHECK(file >= 0 && !cuMemImportFromShareableHandle(&handle, (void *)(uintptr_t)file, 1));
        close(file);
        box = map(handle);
        if (strcmp(way, "twice") == 0)
            box = map(handle);
    }
    take(&ipc, sizeof ipc);
    CHECK(!cuIpcOpenEventHandle(&event, ipc));
}

/* ---- The two --------------------------------------------------------------------------------------- */

static int produce(void) {
    char turn = 0;
    begin();
    share();
    CHECK(!cuMemsetD8Async(box, 0, PAGE, stream) && !cuStreamSynchronize(stream));
    give(&turn, 1, -1);
    take(&turn, 1);
    launch("produce", 1, box, 0);
    if (strcmp(what, "event") == 0 || strcmp(what, "event-early") == 0)
        CHECK(!cuEventRecord(event, stream));
    if (strcmp(what, "host") == 0)
        CHECK(!cuStreamSynchronize(stream));
    give(&turn, 1, -1);
    take(&turn, 1);
    return 0;
}

static int consume(void) {
    char turn = 0;
    uint64_t out;
    int found[COUNT];
    begin();
    open_shared();
    bool chain = strncmp(what, "chain", 5) == 0;
    CHECK(!cuMemAlloc_v2(&out, PAGE));
    if (chain)
        CHECK(!cuMemsetD8Async(out, 0, PAGE, stream));
    take(&turn, 1);
    if (strcmp(what, "event-early") == 0)
        CHECK(!cuStreamWaitEvent(stream, event, 0));
    give(&turn, 1, -1);
    take(&turn, 1);
    if (strcmp(what, "event") == 0)
        CHECK(!cuStreamWaitEvent(stream, event, 0));
    launch(chain ? "chained" : other_way() ? "consume" : "copy", 1 + chain, strcmp(what, "elsewhere") == 0 ? box + 2 * FLAG : box, out);
    CHECK(!cuStreamSynchronize(stream) && !cuMemcpyDtoH_v2(found, out, sizeof found));
    for (int i = 0; i < COUNT; i++)
        CHECK(found[i] == (strcmp(what, "elsewhere") == 0 ? 0 : i));
    if (strcmp(way, "ipc") == 0)
        CHECK(!cuIpcCloseMemHandle(box));
    else
        CHECK(!cuMemUnmap(box, PAGE));
    give(&turn, 1, -1);
    return 0;
}

int main(int count, char **words) {
    int ends[2], status;
    way = count > 1 ? words[1] : "mapped";
    what = count > 2 ? words[2] : "none";
    setenv("STANDIN_PEERS", "1", 1);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        return 2;
    pid_t child = fork();
    other = ends[child == 0];
    if (child == 0)
        _exit(consume());
    status = produce();
    if (waitpid(child, &status, 0) != child || status)
        return 2;
    return 0;
}
