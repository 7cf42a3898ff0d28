/* A CUDA program without CUDA, for mode record: kernels that are right, and some that are not, launched in the ways
 * there are; on the stand-in that runs them (gpu.c). Its one argument says which. Ends with 0 if the results are right.
 */
#include "fatbin.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int Result;
typedef void *Handle;
Result cuInit(unsigned);
Result cuMemAlloc_v2(uint64_t *, size_t);
Result cuMemcpyHtoD_v2(uint64_t, const void *, size_t);
Result cuMemcpyDtoH_v2(void *, uint64_t, size_t);
Result cuMemcpyDtoHAsync_v2(void *, uint64_t, size_t, Handle);
Result cuMemFree_v2(uint64_t);
Result cuEventRecord(Handle, Handle);
Result cuStreamCreate(Handle *, unsigned);
Result cuStreamSynchronize(Handle);
void standin_waits(void);
int standin_runs(void);
Result cuMemMap(uint64_t, size_t, size_t, unsigned long long, unsigned long long);
Result cuMemUnmap(uint64_t, size_t);
Result cuMemAddressReserve(uint64_t *, size_t, size_t, uint64_t, unsigned long long);
Result cuMemGetInfo_v2(size_t *, size_t *);
Result cuMemRelease(unsigned long long);
Result cuDevicePrimaryCtxRetain(Handle *, int);
Result cuCtxSetCurrent(Handle);
Result cuCtxSynchronize(void);
Result cuCtxEnablePeerAccess(Handle, unsigned);
Result cuModuleLoadData(Handle *, const void *);
Result cuModuleUnload(Handle);
Result cuLinkCreate_v2(unsigned, int *, void **, Handle *);
Result cuLinkAddData_v2(Handle, int, void *, size_t, const char *, unsigned, int *, void **);
Result cuLinkComplete(Handle, void **, size_t *);
Result cuModuleGetFunction(Handle *, Handle, const char *);
Result cuLibraryLoadData(Handle *, const void *, int *, void **, unsigned, int *, void **, unsigned);
Result cuLibraryGetKernel(Handle *, Handle, const char *);
Result cuModuleGetGlobal_v2(uint64_t *, size_t *, Handle, const char *);
Result cuFuncGetParamInfo(Handle, size_t, size_t *, size_t *);
Result cuFuncGetAttribute(int *, int, Handle);
Result cuFuncSetAttribute(Handle, int, int);
Result cuFuncSetCacheConfig(Handle, int);
Result cuFuncSetSharedMemConfig(Handle, int);
Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *, Handle, int, size_t);
Result cuLaunchKernel(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Handle, void **,
                      void **);
Result cuMemcpyHtoA_v2(Handle, size_t, const void *, size_t);
Result cuMemcpyHtoAAsync_v2(Handle, size_t, const void *, size_t, Handle);
Result cuTexObjectCreate(uint64_t *, const int *, const void *, const void *);
Result cuSurfObjectCreate(uint64_t *, const int *);
int standin_launches(void);
int standin_ours(void);
int standin_plain(void);
int standin_loaded(void);
int standin_preferences(void);

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"

/* to[i] = a[i] + b[i]; then each block turns around its part of it in shared memory. */
static const char right[] =
    HEAD ".visible .entry turned(.param .u64 to, .param .u64 a, .param .u32 by) {\n"
         "  .shared .align 4 .b8 tile[512];\n"
         "  .reg .b64 %rd<8>; .reg .b32 %r<16>;\n"
         "  ld.param.u64 %rd1, [to]; ld.param.u64 %rd2, [a]; ld.param.u32 %r9, [by];\n"
         "  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;\n"
         "  mad.lo.s32 %r4, %r2, %r3, %r1;\n"
         "  mul.wide.s32 %rd3, %r4, 4; add.s64 %rd4, %rd2, %rd3;\n"
         "  ld.global.u32 %r5, [%rd4]; add.s32 %r5, %r5, %r9;\n"
         "  shl.b32 %r6, %r1, 2; mov.u32 %r7, tile; add.s32 %r8, %r7, %r6;\n"
         "  st.shared.u32 [%r8], %r5;\n"
         "  bar.sync 0;\n"
         "  sub.s32 %r10, %r3, %r1; add.s32 %r10, %r10, -1; shl.b32 %r10, %r10, 2; add.s32 %r11, %r7, %r10;\n"
         "  ld.shared.u32 %r12, [%r11];\n"
         "  add.s64 %rd5, %rd1, %rd3; st.global.u32 [%rd5], %r12;\n"
         "  ret;\n"
         "}\n"
         ".visible .entry nothing() { ret; }\n";

/* A warp polls memory that nothing writes, and the other waits for it at a barrier. */
#define POLLS(name)                                                               \
    ".visible .entry " name "(.param .u64 to) {\n"                                \
    "  .reg .b64 %rd1; .reg .b32 %r<4>; .reg .pred %p<3>;\n"                      \
    "  ld.param.u64 %rd1, [to]; mov.u32 %r1, %tid.x; setp.ge.u32 %p1, %r1, 32;\n" \
    "  @%p1 bra BEHIND;\n"                                                        \
    "AGAIN:\n"                                                                    \
    "  ld.acquire.gpu.global.u32 %r2, [%rd1]; setp.eq.u32 %p2, %r2, 0;\n"         \
    "  @%p2 bra AGAIN;\n"                                                         \
    "BEHIND:\n"                                                                   \
    "  bar.sync 1, 64;\n"                                                         \
    "  ret;\n"                                                                    \
    "}\n"

/* Kernels that do not end: all threads wait for an mbarrier on which one of two arrivals is made; a warp polls, and the
 * other waits for it at a barrier; they wait at two barriers for each other. */
static const char endless[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry arrivals(.param .u64 to) {\n"
    "  .shared .align 8 .b64 full;\n"
    "  .reg .b32 %r<4>; .reg .b64 %state; .reg .pred %p<3>;\n"
    "  mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0;\n"
    "  @%p1 mbarrier.init.shared::cta.b64 [full], 2;\n"
    "  bar.sync 0;\n"
    "  @%p1 mbarrier.arrive.shared::cta.b64 %state, [full];\n"
    "AGAIN:\n"
    "  mbarrier.try_wait.parity.shared::cta.b64 %p2, [full], 0;\n"
    "  @!%p2 bra AGAIN;\n"
    "  ret;\n"
    "}\n" POLLS("polls") POLLS("obstinate") ".visible .entry held(.param .u64 to) {\n"
                                            "  .reg .b32 %r<2>;\n"
                                            "  mov.u32 %r1, %tid.x; shr.u32 %r1, %r1, 5; add.u32 %r1, %r1, 1;\n"
                                            "  barrier.sync %r1, 64;\n"
                                            "  ret;\n"
                                            "}\n";

/* What the driver of this machine does not take when something is put into it. */
static const char refused[] = HEAD "// not for this driver\n.visible .entry alone(.param .u64 to) { ret; }\n";

static int values[256], results[256];
static uint64_t from, to;

static Handle module; /* the last one */
static Handle function_of(const void *text, const char *name) {
    Handle function;
    if (cuModuleLoadData(&module, text) || cuModuleGetFunction(&function, module, name))
        exit(2);
    return function;
}

/* The text with a line taken out. */
static char *without(const char *text, const char *line) {
    char *copy = strdup(text), *at = strstr(copy, line);
    memmove(at, at + strlen(line), strlen(at + strlen(line)) + 1);
    return copy;
}

static int is_turned(int by) {
    cuMemcpyDtoH_v2(results, to, sizeof results);
    for (int i = 0; i < 256; i++)
        if (results[i] != values[i / 64 * 64 + 63 - i % 64] + by)
            return 0;
    return 1;
}

static void launch(Handle function, int by, Handle stream) {
    void *parameters[] = {&to, &from, &by};
    cuLaunchKernel(function, 4, 1, 1, 64, 1, 1, 0, stream, parameters, NULL);
}

/* A kernel without parameters. */
static Result launch_plain(Handle function, unsigned ctas, unsigned threads) {
    return cuLaunchKernel(function, ctas, 1, 1, threads, 1, 1, 0, NULL, NULL, NULL);
}

/* Ten launches of a thread, each with another number, to memory of its own. */
static void *launch_ten(void *function) {
    static int threads;
    int first = 10 * __atomic_fetch_add(&threads, 1, __ATOMIC_RELAXED), found[256];
    uint64_t mine;
    if (cuMemAlloc_v2(&mine, sizeof found))
        return NULL;
    for (int by = first; by < first + 10; by++) {
        void *parameters[] = {&mine, &from, &by};
        if (cuLaunchKernel(function, 4, 1, 1, 64, 1, 1, 0, NULL, parameters, NULL))
            return NULL;
    }
    cuMemcpyDtoH_v2(found, mine, sizeof found);
    return found[0] == values[63] + first + 9 ? function : NULL;
}

static int launch_from_threads(Handle function, const char *what) {
    (void)what;
    pthread_t threads[4];
    int good = 1;
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, launch_ten, function);
    for (int i = 0; i < 4; i++) {
        void *result;
        pthread_join(threads[i], &result);
        good &= result != NULL;
    }
    return good;
}

/* The same kernel on two devices at the same time, both of which write memory of the first. */
static int launch_on_peers(Handle function, const char *what) {
    (void)what;
    Handle first, second;
    if (cuDevicePrimaryCtxRetain(&first, 0) || cuDevicePrimaryCtxRetain(&second, 1) || cuCtxSetCurrent(first))
        return 0;
    launch(function, 3, NULL);
    if (cuCtxSetCurrent(second) || cuCtxEnablePeerAccess(first, 0))
        return 0;
    launch(function_of(right, "turned"), 3, NULL);
    return is_turned(3);
}

/* The same kernel on two devices: right on the first; on the second, whose memory `to` is not, without its barrier. */
static int launch_on_two(Handle function, const char *what) {
    (void)what;
    Handle first, second;
    if (cuDevicePrimaryCtxRetain(&first, 0) || cuDevicePrimaryCtxRetain(&second, 1) || cuCtxSetCurrent(first))
        return 0;
    launch(function, 3, NULL);
    int good = is_turned(3);
    if (cuCtxSetCurrent(second) || cuCtxEnablePeerAccess(first, 0))
        return 0;
    launch(function_of(without(right, "  bar.sync 0;\n"), "turned"), 4, NULL);
    return good;
}

/* Memory of a handle at one address or two; the first is no more in use, or its handle is. */
static int launch_mapped(Handle function, const char *what) {
    enum { PAGE = 1 << 16 };
    uint64_t ranges;
    if (cuMemAddressReserve(&ranges, 2 * PAGE, PAGE, 0, 0) || cuMemMap(ranges, PAGE, 0, 1, 0))
        return 0;
    if (strcmp(what, "moved") == 0)
        cuMemUnmap(ranges, PAGE);
    else if (strcmp(what, "released") == 0)
        cuMemRelease(1);
    if (cuMemMap(ranges + PAGE, PAGE, strcmp(what, "halves") == 0 ? PAGE : 0, 1, 0))
        return 0;
    to = ranges + PAGE;
    launch(function, 3, NULL);
    return is_turned(3);
}

/* ---- What can be asked for: `function` is that of `right`, `what` the word that asks. ---- */

/* With a buffer of parameters, then with a list of them; and the program sees nothing of the one that was added. */
static int runs_right(Handle function, const char *what) {
    (void)what;
    struct {
        uint64_t to, from;
        int by;
    } block = {to, from, 7};
    size_t size = 20, offset, bytes;
    void *extra[] = {(void *)1, &block, (void *)2, &size, (void *)0};
    cuLaunchKernel(function, 4, 1, 1, 64, 1, 1, 0, NULL, NULL, extra);
    int good = is_turned(7);
    for (int i = 0; i < 5; i++)
        launch(function, 3, NULL);
    launch_plain(function_of(right, "nothing"), 1, 32);
    return good && is_turned(3) && cuFuncGetParamInfo(function, 3, &offset, &bytes) != 0 && standin_launches() == 7;
}

/* With a buffer of parameters that is said to end within the second of them. */
static int is_short(Handle function, const char *what) {
    (void)what;
    struct {
        uint64_t to, from;
        int by;
    } block = {to, from, 7};
    size_t size = 12;
    void *extra[] = {(void *)1, &block, (void *)2, &size, (void *)0};
    return cuLaunchKernel(function, 4, 1, 1, 64, 1, 1, 0, NULL, NULL, extra) == 0;
}

/* The last one writes what it reads, one number further on. */
static int overlaps(Handle function, const char *what) {
    (void)what;
    if (cuMemAlloc_v2(&from, 2 * sizeof values))
        return 0;
    to = from + sizeof values;
    for (int i = 0; i < 4; i++)
        launch(function, 3, NULL);
    to = from + sizeof *values;
    launch(function, 3, NULL);
    return 1;
}

/* No barrier between the tile's writes and its reads. */
static int is_wrong(Handle function, const char *what) {
    function = function_of(without(right, "  bar.sync 0;\n"), "turned");
    for (int i = 0; i < (strcmp(what, "wrong-often") == 0 ? 5 : 1); i++)
        launch(function, 3 + i, NULL);
    return 1;
}

static int is_wrong_in_fatbin(Handle function, const char *what) {
    (void)function, (void)what;
    launch(function_of(fatbin_of(without(right, "  bar.sync 0;\n"), 1), "turned"), 3, NULL);
    return 1;
}

static int is_machine_code(Handle function, const char *what) {
    (void)function, (void)what;
    Handle machine = function_of(fatbin_of(right, 2), "turned");
    launch(machine, 3, NULL);
    launch(machine, 4, NULL);
    return is_turned(4);
}

static int is_large(Handle function, const char *what) {
    (void)what;
    launch_plain(function_of(right, "nothing"), 98304, 32);
    launch(function, 3, NULL);
    return is_turned(3);
}

/* A kernel that makes so many turns. */
static const char turning[] =
    HEAD ".visible .entry turns(.param .u64 to, .param .u32 count) {\n"
         "  .reg .b64 %rd<4>; .reg .b32 %r<8>; .reg .pred %p1;\n"
         "  ld.param.u64 %rd1, [to]; ld.param.u32 %r1, [count];\n"
         "  mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mad.lo.u32 %r5, %r3, %r4, %r2;\n"
         "  mul.wide.u32 %rd2, %r5, 4; add.s64 %rd3, %rd1, %rd2;\n"
         "AGAIN:\n"
         "  st.global.u32 [%rd3], %r1; sub.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0;\n"
         "  @%p1 bra AGAIN;\n"
         "  ret;\n"
         "}\n";

/* A launch of few turns, and then one of many, which has much more to say. */
static int turns_more(Handle function, const char *what) {
    (void)what;
    enum { CTAS = 4, THREADS = 256, FEW = 400, MANY = 3000 };
    uint64_t to;
    if (cuMemAlloc_v2(&to, CTAS * THREADS * 4))
        return 0;
    function = function_of(turning, "turns");
    for (int i = 0; i < 2; i++) {
        uint32_t count = i ? MANY : FEW;
        void *parameters[] = {&to, &count};
        if (cuLaunchKernel(function, CTAS, 1, 1, THREADS, 1, 1, 0, NULL, parameters, NULL) || cuCtxSynchronize())
            return 0;
        usleep(200000); /* until its records are on the host */
    }
    return 1;
}

/* Memory of which the device has not enough beside what was taken for records. */
static int fills(Handle function, const char *what) {
    (void)what;
    uint64_t memory;
    size_t before = 0, unused = 0, all = 0;
    cuMemGetInfo_v2(&before, &all);
    launch(function, 3, NULL);
    int good = is_turned(3);
    cuMemGetInfo_v2(&unused, &all);
    good &= unused == before && cuMemAlloc_v2(&memory, 12 << 20) == 0;
    launch(function, 4, NULL);
    return good && is_turned(4);
}

/* Many launches of few CTAs, all of which differ, and which are not waited for. */
static int turns_often(Handle function, const char *what) {
    (void)what;
    enum { CTAS = 2, THREADS = 64, TURNS = 3200, LAUNCHES = 40 };
    uint64_t to;
    if (cuMemAlloc_v2(&to, CTAS * THREADS * 4))
        return 0;
    function = function_of(turning, "turns");
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        uint32_t count = TURNS + i;
        void *parameters[] = {&to, &count};
        if (cuLaunchKernel(function, CTAS, 1, 1, THREADS, 1, 1, 0, NULL, parameters, NULL))
            return 0;
    }
    return cuCtxSynchronize() == 0;
}

static int is_wide(Handle function, const char *what) {
    (void)function, (void)what;
    launch_plain(function_of(right, "nothing"), 1000, 32);
    return 1;
}

/* Once there is a place for it, records are packed by what the launch itself has queued behind it; those of the last
 * launch do not fit there. */
static int packs_behind(Handle function, const char *what) {
    (void)what;
    for (int by = 0; by < 90 && !standin_ours(); by++) {
        launch(function, by, NULL);
        usleep(10000);
    }
    launch_plain(function_of(right, "nothing"), 1000, 32);
    return standin_ours() > 0;
}

/* As many as a block can have: with what records it, it must not need more registers. */
static int has_most_threads(Handle function, const char *what) {
    (void)function, (void)what;
    return launch_plain(function_of(HEAD ".visible .entry many() { ret; }\n", "many"), 1, 1024) == 0;
}

/* All CTAs write the same memory. */
static int writes_the_same(Handle function, const char *what) {
    (void)function, (void)what;
    char *text = strdup(right), *at = strstr(text, "%ctaid.x");
    memcpy(at, "%ctaid.y", strlen("%ctaid.y"));
    launch(function_of(text, "turned"), 3, NULL);
    return 1;
}

static int is_mangled(Handle function, const char *what) {
    (void)function, (void)what;
    return launch_plain(function_of(HEAD ".visible .entry _ZN5tools3addEPi() { ret; }\n", "_ZN5tools3addEPi"), 1, 32) ==
           0;
}

static int is_crowded(Handle function, const char *what) {
    (void)function, (void)what;
    return launch_plain(function_of(HEAD ".visible .entry crowded() { ret; }\n", "crowded"), 1, 32) == 0 &&
           standin_launches() == 1;
}

/* A barrier of the grid: for the CTAs of a device that has room for eight, or for four with what records them. */
static const char gathering[] = HEAD ".visible .entry gathers(.param .u64 at, .param .u32 all) {\n"
                                     "  .reg .b64 %rd1; .reg .b32 %r<3>; .reg .pred %p1;\n"
                                     "  ld.param.u64 %rd1, [at]; ld.param.u32 %r1, [all];\n"
                                     "  red.release.gpu.global.add.u32 [%rd1], 1;\n"
                                     "AGAIN:\n"
                                     "  ld.acquire.gpu.global.u32 %r2, [%rd1]; setp.lt.u32 %p1, %r2, %r1;\n"
                                     "  @%p1 bra AGAIN;\n"
                                     "  ret;\n"
                                     "}\n";

/* Wide: of so many threads of which the first does it that a limit on registers makes room. What the program asks is
 * answered for the kernel as it has it. */
static int gathers(Handle function, const char *what) {
    bool wide = strcmp(what, "gathers-wide") == 0;
    uint32_t all = strcmp(what, "gathers-few") == 0 ? 4 : 8, zero = 0;
    void *parameters[] = {&to, &all};
    const char *others = "  mov.u32 %r2, %tid.x; setp.ne.u32 %p1, %r2, 0;\n  @%p1 ret;\n",
               *start = strstr(gathering, "  red");
    char text[2048];
    int blocks = 0;
    snprintf(text, sizeof text, "%.*s%s%s", (int)(start - gathering), gathering, others, start);
    function = function_of(text, "gathers");
    return cuMemcpyHtoD_v2(to, &zero, sizeof zero) == 0 &&
           cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 1, 0) == 0 && blocks == 2 &&
           cuLaunchKernel(function, all, 1, 1, wide ? 512 : 1, 1, 1, 0, NULL, parameters, NULL) == 0;
}

/* ---- Two images of a module ---- */

static const char variables[] = HEAD ".visible .global .align 4 .u32 counter = 5;\n"
                                     ".const .align 4 .u32 factor[2] = {3, 4};\n"
                                     ".global .align 8 .u64 where = generic(counter);\n"
                                     ".visible .entry adds() {\n"
                                     "  .reg .b64 %rd<4>; .reg .b32 %r<6>;\n"
                                     "  mov.u64 %rd1, factor; ld.const.u32 %r1, [%rd1+4]; ld.const.u32 %r2, [factor];\n"
                                     "  ld.global.u64 %rd2, [where]; ld.u32 %r3, [%rd2]; add.u32 %r3, %r3, %r1;\n"
                                     "  sub.u32 %r3, %r3, %r2; st.global.u32 [counter], %r3;\n"
                                     "  ret;\n"
                                     "}\n"
                                     ".visible .entry others() { ret; }\n";

static uint64_t variable_of(Handle of, const char *name) {
    uint64_t at = 0;
    size_t bytes;
    return cuModuleGetGlobal_v2(&at, &bytes, of, name) ? 0 : at;
}

static uint32_t counter_of(Handle of) {
    uint32_t value = 0;
    cuMemcpyDtoH_v2(&value, variable_of(of, "counter"), sizeof value);
    return value;
}

/* Launches of which three are recorded add to a variable by a constant that the host changes meanwhile; the same image
 * is loaded once more, with variables of its own. */
static int shares_variables(Handle function, const char *what) {
    (void)what;
    uint32_t more = 10;
    function = function_of(variables, "adds");
    Handle first = module;
    int good = launch_plain(function, 1, 1) == 0 && counter_of(first) == 6;
    good &= cuMemcpyHtoD_v2(variable_of(first, "factor") + 4, &more, sizeof more) == 0;
    for (int i = 0; i < 4; i++)
        good &= launch_plain(function, 1, 1) == 0 && counter_of(first) == 6 + 7 * (uint32_t)(i + 1);
    good &= standin_plain() == 2;
    function = function_of(variables, "adds");
    good &= launch_plain(function, 1, 1) == 0 && counter_of(module) == 6 && counter_of(first) == 34;
    cuModuleUnload(first);
    function = function_of(variables, "adds");
    return good && launch_plain(function, 1, 1) == 0 && counter_of(module) == 6 && standin_plain() == 4;
}

/* What was set of a function holds for a launch that is recorded; what is asked is answered for the program's own. */
static int has_attributes(Handle function, const char *what) {
    (void)what;
    enum { THREADS = 0, REGISTERS = 4, DYNAMIC = 8, CARVEOUT = 9, BYTES = 100000 };
    int threads = 0, registers = 0;
    size_t offset, bytes;
    function = function_of(HEAD ".visible .entry big() { ret; }\n", "big");
    int good = cuFuncSetAttribute(function, DYNAMIC, BYTES) == 0 && cuFuncSetAttribute(function, CARVEOUT, 50) == 0 &&
               cuFuncSetCacheConfig(function, 2) == 0 && cuFuncSetSharedMemConfig(function, 1) == 0 &&
               cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, BYTES, NULL, NULL, NULL) == 0;
    return good && standin_preferences() == 2 + 16 && standin_plain() == 0 &&
           cuFuncGetAttribute(&threads, THREADS, function) == 0 && threads == 1024 &&
           cuFuncGetAttribute(&registers, REGISTERS, function) == 0 && registers == 40 &&
           cuFuncGetParamInfo(function, 0, &offset, &bytes) != 0;
}

/* Of a library's kernels nothing is made before they are launched. */
static int is_lazy(Handle function, const char *what) {
    (void)what;
    Handle library;
    if (cuLibraryLoadData(&library, variables, NULL, NULL, 0, NULL, NULL, 0) ||
        cuLibraryGetKernel(&function, library, "adds"))
        return 0;
    usleep(100000);
    int before = standin_loaded();
    if (launch_plain(function, 1, 1))
        return 0;
    return before == 2 && standin_loaded() > before; /* those of the program, and a twin */
}

/* A kernel that names a texture, or calls by an address, is not run with what records it. */
static int is_of_one_image(Handle function, const char *what) {
    static const char textured[] = HEAD ".global .texref picture;\n"
                                        ".visible .entry samples(.param .u64 to) {\n"
                                        "  .reg .b32 %r1; .reg .f32 %f<6>; .reg .pred %p1;\n"
                                        "  mov.u32 %r1, %tid.x; setp.gt.u32 %p1, %r1, 2000;\n"
                                        "  @%p1 tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [picture, {%f5, %f5}];\n"
                                        "  ret;\n"
                                        "}\n";
    static const char called[] =
        HEAD ".func one() { ret; }\n"
             ".visible .entry calls(.param .u64 to) {\n"
             "  .reg .b64 %rd1;\n"
             "  mov.u64 %rd1, one; { prototype: .callprototype _ (); call %rd1, (), prototype; }\n"
             "  ret;\n"
             "}\n";
    void *parameters[] = {&to};
    bool is_textured = strcmp(what, "textures") == 0;
    function = function_of(is_textured ? textured : called, is_textured ? "samples" : "calls");
    return cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL) == 0 && standin_plain() == 1;
}

static int fails(Handle function, const char *what) {
    to = 16;
    launch(function, 3, NULL);
    if (strcmp(what, "fails-waits") == 0)
        return cuCtxSynchronize() != 0;
    return 1;
}

/* The kernel of that name does not end by itself. */
static int hangs(Handle function, const char *what) {
    void *parameters[] = {&to};
    cuLaunchKernel(function_of(endless, what), 1, 1, 1, 64, 1, 1, 0, NULL, parameters, NULL);
    printf("the program goes on\n");
    launch(function, 3, NULL);
    printf("the next kernel is %s\n", is_turned(3) ? "right" : "wrong");
    return 1;
}

/* It runs when the program is in the driver again, in a call that locks others out (STANDIN_LATER). */
static int is_stuck(Handle function, const char *what) {
    void *parameters[] = {&to}, *event = NULL;
    uint64_t spare;
    int first;
    cuMemAlloc_v2(&spare, 4096);
    cuLaunchKernel(function_of(endless, "arrivals"), 1, 1, 1, 64, 1, 1, 0, NULL, parameters, NULL);
    if (strcmp(what, "stuck-free") == 0)
        cuMemFree_v2(spare);
    else if (strcmp(what, "stuck-copy") == 0)
        cuMemcpyDtoH_v2(&first, to, sizeof first);
    else if (strcmp(what, "stuck-later-copy") == 0)
        cuMemcpyDtoHAsync_v2(&first, to, sizeof first, NULL);
    else if (strcmp(what, "stuck-load") == 0)
        function_of(refused, "alone");
    else if (strcmp(what, "stuck-locked") == 0)
        standin_waits();
    for (int i = 0; i < 2000 && strcmp(what, "stuck-many") == 0; i++)
        cuEventRecord(event, NULL);
    cuStreamSynchronize(NULL);
    printf("the program goes on\n");
    launch(function, 3, NULL);
    printf("the next kernel is %s\n", is_turned(3) ? "right" : "wrong");
    return 1;
}

/* A kernel that was used before, and needs nothing that is not there, or one on another device: it is launched while
 * the one before it runs, and might be what that one waits for. */
static const char used[] = HEAD ".visible .entry deep(.param .u64 to) { ret; }\n"
                                ".visible .entry flat(.param .u64 to) { ret; }\n";

static int is_loose(Handle function, const char *what) {
    void *parameters[] = {&to};
    Handle hung = function_of(endless, "arrivals"), library = NULL, first, second, beside;
    bool lazy = strcmp(what, "loose-library") == 0, far = strcmp(what, "loose-device") == 0;
    function = function_of(used, strcmp(what, "loose-local") == 0 ? "deep" : "flat");
    if (lazy && (cuLibraryLoadData(&library, used, NULL, NULL, 0, NULL, NULL, 0) ||
                 cuLibraryGetKernel(&function, library, "flat")))
        return 0;
    if (cuDevicePrimaryCtxRetain(&first, 0) || cuDevicePrimaryCtxRetain(&second, 1) || cuCtxSetCurrent(first))
        return 0;
    if (far && cuCtxSetCurrent(second)) /* what is made there once is made by then */
        return 0;
    if (strcmp(what, "loose-first") != 0) {
        cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, parameters, NULL);
        usleep(200000); /* until its records are on the host */
    }
    if (far && cuCtxSetCurrent(first))
        return 0;
    cuLaunchKernel(hung, 1, 1, 1, 64, 1, 1, 0, NULL, parameters, NULL);
    if (far && (cuCtxSetCurrent(second) || !(function = function_of(used, "flat"))))
        return 0;
    if (strcmp(what, "loose-known") == 0 && cuModuleGetFunction(&function, module, "flat"))
        return 0;
    if (lazy && cuLibraryGetKernel(&function, library, "flat"))
        return 0;
    cuStreamCreate(&beside, 1);
    cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, beside, parameters, NULL);
    printf("the launch was %s\n", standin_runs() ? "made at once" : "held back");
    cuStreamSynchronize(NULL);
    return 1;
}

/* A child of the process, in which nothing runs. */
static int is_forked(Handle function, const char *what) {
    (void)what, (void)function;
    void *parameters[] = {&to};
    cuLaunchKernel(function_of(endless, "arrivals"), 1, 1, 1, 64, 1, 1, 0, NULL, parameters, NULL);
    pid_t child = fork();
    for (int i = 0; i < 300 && !child; i++)
        cuEventRecord(NULL, NULL);
    if (!child)
        _exit(0);
    int status = 0;
    return waitpid(child, &status, 0) == child && status == 0;
}

static int is_killed(Handle function, const char *what) {
    struct rlimit none = {0};
    setrlimit(RLIMIT_CORE, &none);
    launch(function, 3, NULL);
    if (strcmp(what, "crashes") == 0)
        return *(volatile int *)8;
    if (strcmp(what, "aborts") == 0)
        abort();
    return raise(SIGKILL);
}

/* A kernel that the driver does not take when it is instrumented has to run, looked at or not. */
static int is_refused(Handle function, const char *what) {
    (void)what;
    void *parameters[] = {&to};
    cuLaunchKernel(function_of(refused, "alone"), 1, 1, 1, 32, 1, 1, 0, NULL, parameters, NULL);
    launch(function, 3, NULL);
    return is_turned(3);
}

/* to[i] = what a texture has at i. */
static const char textured[] = HEAD ".visible .entry textured(.param .u64 to, .param .u64 texture) {\n"
                                    "  .reg .b64 %rd<5>; .reg .b32 %r<2>; .reg .f32 %f<5>;\n"
                                    "  ld.param.u64 %rd1, [to]; ld.param.u64 %rd2, [texture]; mov.u32 %r1, %tid.x;\n"
                                    "  tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd2, {%r1}];\n"
                                    "  mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3;\n"
                                    "  st.global.f32 [%rd4], %f1;\n  ret;\n}\n";

/* Of an array that is copied to before, or beside it; of memory with addresses; with a surface of it. */
static int reads_texture(Handle function, const char *what) {
    static char array[16];
    int resource[40] = {strcmp(what, "texture-linear") == 0 ? 2 : 0};
    uint64_t texture = 0, surface;
    void *parameters[] = {&to, &texture};
    Handle stream;
    (void)function;
    if (cuStreamCreate(&stream, 1) || cuMemcpyHtoA_v2(array, 0, values, 64) || cuCtxSynchronize() ||
        cuTexObjectCreate(&texture, resource, NULL, NULL) ||
        (strcmp(what, "texture-surface") == 0 && cuSurfObjectCreate(&surface, resource)))
        return 0;
    cuLaunchKernel(function_of(textured, "textured"), 1, 1, 1, 32, 1, 1, 0, stream, parameters, NULL);
    if (strcmp(what, "texture-copied") == 0)
        cuMemcpyHtoAAsync_v2(array, 0, values, 64, NULL);
    return 1;
}

static int writes(const char *path, const void *bytes, size_t count) {
    FILE *file = fopen(path, "wb");
    int good = file && fwrite(bytes, 1, count, file) == count;
    return file && fclose(file) == 0 && good;
}

/* Machine code as Triton has it in its cache, where its text lies beside it; or does not. */
static int is_cached(Handle function, const char *what) {
    const char *cache = getenv("TRITON_CACHE_DIR");
    char *text = without(right, "  bar.sync 0;\n"), path[4096];
    void *image;
    size_t bytes;
    Handle link;
    if (strcmp(what, "cached-unfused") == 0)
        text = strcat(strcpy(malloc(strlen(text) + 100), text), "// -fmad false\n");
    if (cuLinkCreate_v2(0, NULL, NULL, &link) || cuLinkAddData_v2(link, 1, text, strlen(text) + 1, "", 0, NULL, NULL) ||
        cuLinkComplete(link, &image, &bytes))
        return 0;
    snprintf(path, sizeof path, "%s/other/turned.cubin", cache);
    if (!writes(path, text, strlen(text)))
        return 0;
    snprintf(path, sizeof path, "%s/entry/turned.cubin", cache);
    if (!writes(path, image, bytes))
        return 0;
    snprintf(path, sizeof path, "%s/entry/turned.ptx", cache);
    if (strcmp(what, "cached-alone") != 0 && !writes(path, text, strlen(text)))
        return 0;
    function = function_of(image, "turned");
    launch(function, 3, NULL);
    return cuCtxSynchronize() == 0;
}

static const struct {
    const char *what;
    int (*run)(Handle function, const char *what);
} runs[] = {
    {"texture", reads_texture},
    {"texture-linear", reads_texture},
    {"texture-surface", reads_texture},
    {"texture-copied", reads_texture},
    {"right", runs_right},
    {"overlaps", overlaps},
    {"wrong", is_wrong},
    {"wrong-often", is_wrong},
    {"fatbin", is_wrong_in_fatbin},
    {"machine", is_machine_code},
    {"short", is_short},
    {"large", is_large},
    {"turns", turns_more},
    {"often", turns_often},
    {"fills", fills},
    {"wide", is_wide},
    {"behind", packs_behind},
    {"threads", has_most_threads},
    {"same", writes_the_same},
    {"mangled", is_mangled},
    {"crowded", is_crowded},
    {"gathers", gathers},
    {"gathers-few", gathers},
    {"gathers-wide", gathers},
    {"variables", shares_variables},
    {"attributes", has_attributes},
    {"lazy", is_lazy},
    {"textures", is_of_one_image},
    {"addresses", is_of_one_image},
    {"devices", launch_on_two},
    {"peers", launch_on_peers},
    {"twice", launch_mapped},
    {"moved", launch_mapped},
    {"released", launch_mapped},
    {"halves", launch_mapped},
    {"parallel", launch_from_threads},
    {"fails", fails},
    {"fails-waits", fails},
    {"arrivals", hangs},
    {"polls", hangs},
    {"held", hangs},
    {"obstinate", hangs},
    {"stuck-free", is_stuck},
    {"stuck-copy", is_stuck},
    {"stuck-later-copy", is_stuck},
    {"stuck-load", is_stuck},
    {"stuck-many", is_stuck},
    {"stuck-locked", is_stuck},
    {"stuck-blocking", is_stuck},
    {"loose-library", is_loose},
    {"loose-local", is_loose},
    {"loose-device", is_loose},
    {"loose-known", is_loose},
    {"loose-first", is_loose},
    {"forked", is_forked},
    {"killed", is_killed},
    {"crashes", is_killed},
    {"aborts", is_killed},
    {"refused", is_refused},
    {"cached", is_cached},
    {"cached-alone", is_cached},
    {"cached-unfused", is_cached},
};

int main(int count, char **words) {
    for (int i = 0; i < 256; i++)
        values[i] = i * i;
    if (cuInit(0) || cuMemAlloc_v2(&from, sizeof values) || cuMemAlloc_v2(&to, sizeof results) ||
        cuMemcpyHtoD_v2(from, values, sizeof values))
        return 2;
    const char *what = count > 1 ? words[1] : "right";
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        if (strcmp(runs[i].what, what) == 0)
            return runs[i].run(function_of(right, "turned"), what) ? 0 : 1;
    fprintf(stderr, "kernels: nothing is called %s\n", what);
    return 2;
}
