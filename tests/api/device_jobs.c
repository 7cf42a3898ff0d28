/* The public API: a launch has the same results, whatever the number of threads that run its CTAs. Every kernel works
 * for a while first, so that threads help with its later CTAs. */
#include <weir/device.h>

#include "../unit/random_text.h"
#include "expect.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CTAS = 96, BLOCK = 32, WORDS = 2 * CTAS * BLOCK, PRINTED = 1 << 13 };
#ifdef __SANITIZE_THREAD__
enum { WORK = 100, ROUNDS = 12 }; /* each takes many times as long */
#else
enum { WORK = 300, ROUNDS = 60 };
#endif

/* Parameters: words that are read, words that are written, how long threads work. %r1: thread, %r2: CTA, %r3: thread of
 * the grid; %rd1: in, %rd2: out, %rd3, %rd4: this thread's words of them. */
#define HEAD                                                                                                   \
    ".version 8.5\n.target sm_90a\n.address_size 64\n"                                                         \
    ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"                                   \
    ".extern .func (.param .b64 r) malloc(.param .b64 a);\n"                                                   \
    ".global .align 4 .u32 shared_by_all;\n.global .align 1 .b8 format[4] = {37, 117, 10};\n"                  \
    ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n) {\n"                                    \
    "  .reg .pred %p<8>; .reg .b32 %r<40>; .reg .b64 %rd<20>; .reg .f32 %f<8>; .reg .b16 %rs<4>;\n"            \
    "  .local .align 8 .b8 list[64]; .shared .align 16 .b8 tile[1024]; .shared .align 8 .b64 bar;\n"           \
    "  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; ld.param.u32 %r39, [n];\n"                           \
    "  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 32, %r1; mul.wide.u32 %rd5, %r3, 4;\n" \
    "  add.s64 %rd3, %rd1, %rd5; add.s64 %rd4, %rd2, %rd5; mov.u32 %r38, %r3;\n"                               \
    "WORK:\n  mad.lo.u32 %r38, %r38, 1664525, 1013904223; sub.u32 %r39, %r39, 1; setp.ne.u32 %p7, %r39, 0;\n"  \
    "  @%p7 bra WORK;\n"
#define TAIL "DONE:\n  ret;\n}\n"

typedef struct Case {
    const char *name, *body;
    uint32_t ctas; /* 0: CTAS */
    weir_device_end end;
} Case;

static const Case cases[] = {
    {"each its own", "ld.global.u32 %r4, [%rd3]; add.u32 %r5, %r4, %r38; st.global.u32 [%rd4], %r5;\n", 0, 0},
    {"in place", "ld.global.u32 %r4, [%rd4]; add.u32 %r5, %r4, %r38; st.global.u32 [%rd4], %r5;\n", 0, 0},
    {"bytes", "add.s64 %rd6, %rd2, %rd1; cvt.u64.u32 %rd6, %r3; add.s64 %rd7, %rd2, %rd6; st.global.u8 [%rd7], %r38;\n",
     0, 0},
    {"columns",
     "mad.lo.u32 %r4, %r1, 96, %r2; mul.wide.u32 %rd6, %r4, 4; add.s64 %rd7, %rd2, %rd6; st.global.u32 [%rd7], %r38;\n",
     0, 0},
    {"atomics of its own", "atom.global.add.u32 %r4, [%rd4], %r38; red.global.max.u32 [%rd4], %r4;\n", 0, 0},
    {"copies",
     "setp.ne.u32 %p1, %r1, 0; @%p1 bra DONE; mov.u32 %r4, tile; mov.u32 %r5, bar; mul.wide.u32 %rd6, %r2, 128;\n"
     "add.s64 %rd7, %rd1, %rd6; add.s64 %rd8, %rd2, %rd6; mbarrier.init.shared.b64 [%r5], 1;\n"
     "mbarrier.arrive.expect_tx.shared.b64 %rd9, [%r5], 128;\n"
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%rd7], 128, [%r5];\n"
     "WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%r5], 0; @!%p2 bra WAIT;\n"
     "cp.async.bulk.global.shared::cta.bulk_group [%rd8], [%r4], 128; cp.async.bulk.commit_group;\n"
     "cp.async.bulk.wait_group 0;\n",
     0, 0},
    {"one after the other",
     "setp.eq.u32 %p1, %r2, 0; @%p1 bra FIRST; ld.global.u32 %r4, [%rd4+-128];\n"
     "FIRST: add.u32 %r5, %r4, %r38; st.global.u32 [%rd4], %r5;\n",
     0, 0},
    {"copies of copies",
     "setp.ne.u32 %p1, %r1, 0; @%p1 bra DONE; mov.u32 %r4, tile; mov.u32 %r5, bar; mul.wide.u32 %rd6, %r2, 128;\n"
     "add.s64 %rd8, %rd2, %rd6; mbarrier.init.shared.b64 [%r5], 1;\n"
     "mbarrier.arrive.expect_tx.shared.b64 %rd9, [%r5], 128;\n"
     "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%rd8], 128, [%r5];\n"
     "WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%r5], 0; @!%p2 bra WAIT;\n"
     "cp.async.bulk.global.shared::cta.bulk_group [%rd8+128], [%r4], 128; cp.async.bulk.commit_group;\n"
     "cp.async.bulk.wait_group 0;\n",
     0, 0},
    {"tickets", "atom.global.add.u32 %r4, [%rd2], 1; st.global.u32 [%rd4+128], %r4;\n", 0, 0},
    {"float sums", "cvt.rn.f32.u32 %f1, %r38; red.global.add.f32 [%rd2], %f1;\n", 0, 0},
    {"counts", "red.global.add.u32 [%rd2], %r38;\n", 0, 0},
    {"the last one wins", "st.global.u32 [%rd2], %r3;\n", 0, 0},
    {"spin lock",
     "setp.ne.u32 %p1, %r1, 0; @%p1 bra DONE;\n"
     "LOCK: atom.global.acquire.gpu.cas.b32 %r4, [%rd2], 0, 1; setp.ne.u32 %p2, %r4, 0; @%p2 bra LOCK;\n"
     "ld.global.u32 %r5, [%rd2+4]; mad.lo.u32 %r5, %r5, 31, %r2; st.global.u32 [%rd2+4], %r5;\n"
     "atom.global.release.gpu.exch.b32 %r6, [%rd2], 0;\n",
     0, 0},
    {"waits for the one before",
     "setp.eq.u32 %p1, %r2, 0; @%p1 bra FIRST;\n"
     "WAIT: ld.acquire.gpu.global.u32 %r4, [%rd4+-128]; setp.eq.u32 %p2, %r4, 0; @%p2 bra WAIT;\n"
     "FIRST: add.u32 %r5, %r4, 3; st.release.gpu.global.u32 [%rd4], %r5;\n",
     0, 0},
    {"waits for the one behind",
     "setp.eq.u32 %p1, %r2, 95; @%p1 bra LAST;\n"
     "WAIT: ld.acquire.gpu.global.u32 %r4, [%rd4+128]; setp.eq.u32 %p2, %r4, 0; @%p2 bra WAIT;\n"
     "LAST: add.u32 %r5, %r4, 3; st.release.gpu.global.u32 [%rd4], %r5;\n",
     0, 0},
    {"grid barrier",
     "setp.ne.u32 %p1, %r1, 0; @%p1 bra DONE; st.global.u32 [%rd4+128], %r38; red.release.gpu.global.add.u32 [%rd2], "
     "1;\n"
     "WAIT: ld.acquire.gpu.global.u32 %r4, [%rd2]; setp.ne.u32 %p2, %r4, 96; @%p2 bra WAIT;\n"
     "ld.global.u32 %r5, [%rd2+128]; ld.global.u32 %r6, [%rd2+12288]; add.u32 %r7, %r5, %r6; "
     "st.global.u32 [%rd4+132], %r7;\n",
     0, 0},
    {"clock", "mov.u32 %r4, %clock; st.global.u32 [%rd4], %r4;\n", 0, 0},
    {"a register that is not written",
     "and.b32 %r4, %r2, 3; setp.ne.u32 %p1, %r4, 0; @%p1 bra NOT; mov.u32 %r30, %r38;\n"
     "NOT: st.global.u32 [%rd4], %r30;\n",
     0, 0},
    {"local memory that is not written",
     "and.b32 %r4, %r2, 3; setp.ne.u32 %p1, %r4, 0; @%p1 bra NOT; st.local.u32 [list], %r38;\n"
     "NOT: ld.local.u32 %r5, [list]; st.global.u32 [%rd4], %r5;\n",
     0, 0},
    {"malloc",
     "{ .param .b64 a; .param .b64 b; st.param.b64 [a], 64; call (b), malloc, (a); ld.param.b64 %rd6, [b]; }\n"
     "st.global.u32 [%rd6], %r38; cvt.u32.u64 %r4, %rd6; st.global.u32 [%rd4], %r4;\n",
     0, 0},
    {"a variable of the module",
     "mov.u64 %rd6, shared_by_all; atom.global.add.u32 %r4, [%rd6], 1; st.global.u32 [%rd4], %r4;\n", 0, 0},
    {"prints",
     "setp.ne.u32 %p1, %r1, 0; @%p1 bra DONE; st.local.u32 [list], %r2; mov.u64 %rd6, list;\n"
     "cvta.local.u64 %rd7, %rd6; mov.u64 %rd8, format; cvta.global.u64 %rd9, %rd8;\n"
     "{ .param .b64 a; .param .b64 b; .param .b32 c; st.param.b64 [a], %rd9; st.param.b64 [b], %rd7;\n"
     "call (c), vprintf, (a, b); } st.global.u32 [%rd4], %r38;\n",
     0, 0},
    {"a fault and a trap",
     "st.global.u32 [%rd4], %r38; setp.eq.u32 %p1, %r2, 91; @%p1 trap; setp.ne.u32 %p2, %r2, 70; @%p2 bra DONE;\n"
     "st.global.u32 [%rd4+1000000], %r38;\n",
     0, WEIR_DEVICE_ADDRESS},
    {"a hang", "WAIT: ld.volatile.global.u32 %r4, [%rd2]; setp.ne.u32 %p2, %r4, 12345; @%p2 bra WAIT;\n", 0,
     WEIR_DEVICE_HANG},
};

/* ---- Runs ---- */

/* What a launch left. */
typedef struct Left {
    weir_device_end end;
    char error[512];
    uint32_t in[WORDS], out[WORDS];
    uint8_t known[WORDS]; /* of each word of out: which bytes */
    char printed[PRINTED];
    size_t printed_size;
} Left;

static int print(void *to, const char *data, size_t size) {
    Left *left = to;
    for (size_t i = 0; i < size && left->printed_size < PRINTED; i++)
        left->printed[left->printed_size++] = data[i];
    return 0;
}

/* All launches have their words in the same place. */
static uint32_t in[WORDS], out[WORDS];

static void launch(weir_device *device, weir_module *module, uint32_t ctas, unsigned jobs, Left *left) {
    uint64_t pointers[2] = {(uintptr_t)in, (uintptr_t)out};
    uint32_t n = WORK;
    void *parameters[] = {&pointers[0], &pointers[1], &n};
    memset(left, 0, sizeof *left);
    weir_device_launch asked = {.grid = {ctas, 1, 1},
                                .block = {BLOCK, 1, 1},
                                .parameters = parameters,
                                .parameter_count = 3,
                                .print = print,
                                .print_to = left};
    for (uint32_t i = 0; i < WORDS; i++) {
        in[i] = i * 2654435761u;
        out[i] = 0;
    }
    CHECK(weir_device_memory(device, in, sizeof in, "in", 1) == 0);
    CHECK(weir_device_memory(device, out, sizeof out, "out", 0) == 0);
    weir_device_jobs(device, jobs);
    left->end = weir_device_run(device, module, &asked);
    if (left->end != WEIR_DEVICE_DONE)
        snprintf(left->error, sizeof left->error, "%s", weir_device_error(device));
    memcpy(left->in, in, sizeof in);
    memcpy(left->out, out, sizeof out);
    for (uint32_t i = 0; i < sizeof out; i++)
        left->known[i / 4] |= (uint8_t)(weir_device_known(device, (uint8_t *)out + i, 1) << i % 4);
}

/* With one thread, and with several; more than once, as the order of threads is not the same each time. */
static void compare(const char *name, const char *text, uint32_t ctas, int end) {
    static const unsigned jobs[] = {1, 2, 8, 8, 2};
    static Left first, other;
    weir_context *context = weir_create();
    weir_file *file = weir_open_buffer(context, "test.ptx", text, strlen(text));
    weir_module *module = weir_parse(file, 0, 0);
    for (size_t i = 0; module && i < sizeof jobs / sizeof *jobs; i++) {
        weir_device *device = weir_device_create();
        launch(device, module, ctas, jobs[i], i ? &other : &first);
        weir_device_destroy(device);
        if (i && memcmp(&first, &other, sizeof first) != 0) {
            fprintf(stderr, "%s: other results with %u threads (end %d, %d: %s)\n%s", name, jobs[i], (int)first.end,
                    (int)other.end, other.error, text);
            failures++;
        }
    }
    if (end >= 0 && first.end != (weir_device_end)end)
        fprintf(stderr, "%s: %d: %s\n", name, (int)first.end, first.error);
    CHECK(module && (end < 0 || first.end == (weir_device_end)end));
    weir_module_free(module);
    weir_close(file);
    weir_destroy(context);
}

/* ---- Kernels at random ---- */

/* Where an access goes, into %rd8: words of this thread, of a thread of a neighbor, of a column, of few for all. */
static void put_place(char *text, bool likely) {
    put(text, "mov.u64 %%rd8, %s;\n", roll(0, 3) ? "%rd2" : "%rd1");
    switch (likely ? 0 : roll(0, 9)) {
    case 0:
        put(text, "and.b32 %%r9, %%r38, %d;\n", roll(1, 64) - 1);
        break;
    case 1:
        put(text, "add.u32 %%r9, %%r3, %d;\n", roll(1, 64));
        break;
    case 2:
        put(text, "mad.lo.u32 %%r9, %%r1, 96, %%r2;\n");
        break;
    default:
        put(text, "mov.u32 %%r9, %%r3;\n");
    }
    put(text, "mad.wide.u32 %%rd8, %%r9, 4, %%rd8;\n");
}

static void put_kernel(char *text) {
    static const char *const actions[] = {
        "ld.global.u32 %r10, [%rd8]; xor.b32 %r38, %r38, %r10;\n",
        "ld.volatile.global.u32 %r10, [%rd8]; add.u32 %r38, %r38, %r10;\n",
        "ld.global.u8 %r10, [%rd8+1]; add.u32 %r38, %r38, %r10;\n",
        "st.global.u32 [%rd8], %r38;\n",
        "st.global.u8 [%rd8+2], %r38;\n",
        "st.global.u16 [%rd8+2], %r38;\n",
        "st.relaxed.gpu.global.u32 [%rd8], %r38;\n",
        "atom.global.add.u32 %r10, [%rd8], %r38; xor.b32 %r38, %r38, %r10;\n",
        "red.global.add.u32 [%rd8], %r38;\n",
        "atom.global.cas.b32 %r10, [%rd8], 0, %r38; add.u32 %r38, %r38, %r10;\n",
        "cvt.rn.f32.u32 %f1, %r38; red.global.add.f32 [%rd8], %f1;\n",
        "st.global.u32 [%rd8], %r31;\n",
    };
    snprintf(text, TEXT, "%s", HEAD);
    bool meets = roll(0, 1);
    for (int i = roll(2, 9); i > 0; i--) {
        bool guarded = !roll(0, 3);
        put_place(text, meets && !roll(0, 5));
        if (guarded)
            put(text, "and.b32 %%r11, %%r2, %d; setp.ne.u32 %%p3, %%r11, 0; @%%p3 bra OVER%d;\n", roll(1, 31), i);
        put(text, "%s", actions[roll(0, sizeof actions / sizeof *actions - 1)]);
        if (guarded)
            put(text, "OVER%d:\n", i);
    }
    put(text, "%s", TAIL);
}

int main(void) {
    static char text[TEXT];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text, "%s%s%s", HEAD, cases[i].body, TAIL);
        compare(cases[i].name, text, cases[i].ctas ? cases[i].ctas : CTAS, (int)cases[i].end);
    }
    for (unsigned i = 0; i < ROUNDS; i++) {
        put_kernel(text);
        compare("at random", text, CTAS, -1);
    }
    return failures != 0;
}
