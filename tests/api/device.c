/* The public API: launches run on the memory of this process. */
#include <weir/device.h>

#include "expect.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 1000, BLOCK = 128 };

#define HEAD ".version 8.5\n.target sm_90a\n.address_size 64\n"

/* out[i] = a[i] + b[i] for i < n, and out[n] is not touched. */
static const char add[] =
    HEAD ".visible .entry add(.param .u64 a, .param .u64 b, .param .u64 out, .param .u32 n) {\n"
         "  .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<10>; .reg .f32 %f<4>;\n"
         "  ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [out]; ld.param.u32 %r1, [n];\n"
         "  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"
         "  mad.lo.s32 %r5, %r2, %r3, %r4;\n"
         "  setp.ge.s32 %p1, %r5, %r1;\n"
         "  @%p1 bra DONE;\n"
         "  mul.wide.s32 %rd4, %r5, 4;\n"
         "  add.s64 %rd5, %rd1, %rd4; add.s64 %rd6, %rd2, %rd4; add.s64 %rd7, %rd3, %rd4;\n"
         "  ld.global.f32 %f1, [%rd5]; ld.global.f32 %f2, [%rd6];\n"
         "  add.f32 %f3, %f1, %f2;\n"
         "  st.global.f32 [%rd7], %f3;\n"
         "DONE:\n  ret;\n}\n";

typedef struct Opened {
    weir_context *context;
    weir_file *file;
    weir_module *module;
    weir_device *device;
} Opened;

static Opened open_text(const char *text) {
    Opened opened = {.context = weir_create(), .device = weir_device_create()};
    opened.file = weir_open_buffer(opened.context, "test.ptx", text, strlen(text));
    opened.module = weir_parse(opened.file, 0, 0);
    CHECK(opened.module);
    return opened;
}

static void close_text(Opened *opened) {
    weir_device_forget(opened->device, opened->module);
    weir_device_destroy(opened->device);
    weir_module_free(opened->module);
    weir_close(opened->file);
    weir_destroy(opened->context);
}

/* Behind each of them is memory that is none of the device's. */
static struct { float a[N], behind_a[BLOCK], b[N], behind_b[BLOCK], out[N + 1], behind_out[BLOCK]; } memory;
static float *const a = memory.a, *const b = memory.b, *const out = memory.out;

/* A launch of the kernel above, and what its parameters are. */
typedef struct Added {
    uint64_t pointers[3];
    uint32_t n;
    void *parameters[4];
    weir_device_launch launch;
} Added;

static void fill(Added *added, uint32_t n) {
    for (int i = 0; i < N; i++) {
        a[i] = (float)i;
        b[i] = (float)(i * i % 37);
    }
    for (int i = 0; i <= N; i++)
        out[i] = -1;
    *added = (Added){.pointers = {(uintptr_t)a, (uintptr_t)b, (uintptr_t)out}, .n = n};
    for (int i = 0; i < 3; i++)
        added->parameters[i] = &added->pointers[i];
    added->parameters[3] = &added->n;
    added->launch = (weir_device_launch){.grid = {(N + BLOCK - 1) / BLOCK, 1, 1},
                                         .block = {BLOCK, 1, 1},
                                         .parameters = added->parameters,
                                         .parameter_count = 4};
}

static void name_memory(const Opened *opened, int out_written) {
    CHECK(weir_device_memory(opened->device, a, sizeof memory.a, "a", 1) == 0);
    CHECK(weir_device_memory(opened->device, b, sizeof memory.b, "b", 1) == 0);
    CHECK(weir_device_memory(opened->device, out, sizeof memory.out, "out", out_written) == 0);
}

static void results_are_in_memory(void) {
    Opened opened = open_text(add);
    Added added;
    fill(&added, N);
    name_memory(&opened, 0);
    CHECK(!weir_device_known(opened.device, out, sizeof memory.out));
    CHECK(weir_device_run(opened.device, opened.module, &added.launch) == WEIR_DEVICE_DONE);
    for (int i = 0; i < N; i++)
        CHECK(out[i] == a[i] + b[i]);
    CHECK(out[N] == -1);
    CHECK(weir_device_known(opened.device, out, N * sizeof *out));
    CHECK(!weir_device_known(opened.device, out, sizeof memory.out));
    weir_device_written(opened.device, out + N, sizeof *out);
    CHECK(weir_device_known(opened.device, out, sizeof memory.out));
    close_text(&opened);
}

static void a_check_leaves_memory_as_it_is(void) {
    Opened opened = open_text(add);
    Added added;
    fill(&added, N);
    name_memory(&opened, 0);
    weir_result *result = weir_device_check(opened.device, opened.module, &added.launch, NULL);
    CHECK(result);
    CHECK(weir_result_verdict(result) == WEIR_VERDICT_CLEAN);
    CHECK(weir_result_scope(result) == WEIR_SCOPE_GIVEN_LAUNCH);
    weir_result_free(result);
    for (int i = 0; i <= N; i++)
        CHECK(out[i] == -1);
    CHECK(!weir_device_known(opened.device, out, 1));
    close_text(&opened);
}

static void a_launch_that_faults_writes_nothing(void) {
    Opened opened = open_text(add);
    Added added;
    fill(&added, N + 8);
    name_memory(&opened, 1);
    added.launch.grid[0] = 1 + (N + 8) / BLOCK;
    CHECK(weir_device_run(opened.device, opened.module, &added.launch) == WEIR_DEVICE_ADDRESS);
    CHECK(strstr(weir_device_error(opened.device), "ld.global.f32"));
    for (int i = 0; i <= N; i++)
        CHECK(out[i] == -1);
    close_text(&opened);
}

static void a_launch_has_to_fit(void) {
    Opened opened = open_text(add);
    Added added;
    fill(&added, N);
    added.launch.parameter_count = 3;
    CHECK(weir_device_run(opened.device, opened.module, &added.launch) == WEIR_DEVICE_INVALID);
    fill(&added, N);
    added.launch.kernel = "sub";
    CHECK(weir_device_run(opened.device, opened.module, &added.launch) == WEIR_DEVICE_INVALID);
    fill(&added, N);
    added.launch.block[0] = 2048;
    CHECK(weir_device_run(opened.device, opened.module, &added.launch) == WEIR_DEVICE_INVALID);
    close_text(&opened);
}

/* All threads of two CTAs add to one counter by load and store. */
static const char count[] = HEAD ".visible .entry count(.param .u64 p) {\n"
                                 "  .reg .b32 %r<3>; .reg .b64 %rd<3>;\n"
                                 "  ld.param.u64 %rd1, [p];\n"
                                 "  ld.global.u32 %r1, [%rd1]; add.u32 %r2, %r1, 1; st.global.u32 [%rd1], %r2;\n"
                                 "  ret;\n}\n";

static void a_race_is_found(void) {
    Opened opened = open_text(count);
    uint32_t counter = 5;
    uint64_t pointer = (uintptr_t)&counter;
    void *parameters[] = {&pointer};
    weir_device_launch launch = {
        .grid = {2, 1, 1}, .block = {32, 1, 1}, .parameters = parameters, .parameter_count = 1};
    weir_device_memory(opened.device, &counter, sizeof counter, "counter", 1);
    weir_result *result = weir_device_check(opened.device, opened.module, &launch, NULL);
    CHECK(weir_result_verdict(result) == WEIR_VERDICT_FINDINGS);
    weir_result_free(result);
    CHECK(counter == 5);
    close_text(&opened);
}

/* Waits for a barrier that no other thread comes to. */
static const char hang[] = HEAD ".visible .entry hang() {\n  .reg .pred %p<2>; .reg .b32 %r<2>;\n"
                                "  mov.u32 %r1, %tid.x; setp.ge.u32 %p1, %r1, 32;\n"
                                "  @%p1 bra DONE;\n  barrier.sync 1, 64;\nDONE:\n  ret;\n}\n";

static void a_hang_ends(void) {
    Opened opened = open_text(hang);
    weir_device_launch launch = {.grid = {1, 1, 1}, .block = {64, 1, 1}};
    CHECK(weir_device_run(opened.device, opened.module, &launch) == WEIR_DEVICE_HANG);
    close_text(&opened);
}

/* Two kernels of a module: one counts in a variable that points to another one, and one gives both. */
static const char variables[] = HEAD
    ".global .align 4 .u32 unused[3] = {1, 2, 3};\n.global .align 4 .u32 counter = 7;\n"
    ".global .align 8 .u64 where = counter;\n"
    ".visible .entry up() {\n"
    "  .reg .b32 %r<3>; .reg .b64 %rd<3>; mov.u64 %rd1, where; ld.global.u64 %rd2, [%rd1];\n"
    "  atom.global.add.u32 %r1, [%rd2], 1; ret;\n}\n"
    ".visible .entry give(.param .u64 p) {\n"
    "  .reg .b32 %r<3>; .reg .b64 %rd<3>; ld.param.u64 %rd1, [p]; mov.u64 %rd2, counter; ld.global.u32 %r1, [%rd2];\n"
    "  mov.u64 %rd2, unused; ld.global.u32 %r2, [%rd2+8]; mad.lo.u32 %r1, %r2, 1000, %r1; st.global.u32 [%rd1], %r1;\n"
    "  ret;\n}\n";

static uint32_t value_of_counter(const Opened *opened) {
    uint32_t given = 0;
    uint64_t pointer = (uintptr_t)&given;
    void *parameters[] = {&pointer};
    weir_device_launch launch = {
        .kernel = "give", .grid = {1, 1, 1}, .block = {1, 1, 1}, .parameters = parameters, .parameter_count = 1};
    weir_device_memory(opened->device, &given, sizeof given, "given", 1);
    CHECK(weir_device_run(opened->device, opened->module, &launch) == WEIR_DEVICE_DONE);
    weir_device_remove(opened->device, &given);
    return given;
}

static void variables_keep_their_values(void) {
    Opened opened = open_text(variables);
    weir_device_launch launch = {.kernel = "up", .grid = {2, 1, 1}, .block = {32, 1, 1}};
    CHECK(weir_device_run(opened.device, opened.module, &launch) == WEIR_DEVICE_DONE);
    CHECK(value_of_counter(&opened) == 3071);
    weir_result_free(weir_device_check(opened.device, opened.module, &launch, NULL));
    CHECK(value_of_counter(&opened) == 3071);
    CHECK(weir_device_run(opened.device, opened.module, &launch) == WEIR_DEVICE_DONE);
    CHECK(value_of_counter(&opened) == 3135);
    weir_device_forget(opened.device, opened.module);
    CHECK(value_of_counter(&opened) == 3007);
    close_text(&opened);
}

/* All threads store to a word that a table points to, if another word there is 5, and n is 9. */
static const char pick[] = HEAD
    ".visible .entry pick(.param .u64 table, .param .u32 n) {\n"
    "  .reg .pred %p<3>; .reg .b32 %r<5>; .reg .b64 %rd<3>;\n"
    "  ld.param.u64 %rd1, [table]; ld.param.u32 %r1, [n]; ld.global.u64 %rd2, [%rd1+8];\n"
    "  ld.global.u32 %r2, [%rd2+8]; setp.ne.u32 %p1, %r2, 5; @%p1 bra DONE; setp.ne.u32 %p2, %r1, 9; @%p2 bra DONE;\n"
    "  mov.u32 %r3, %tid.x; st.global.u32 [%rd2], %r3;\n"
    "DONE:\n  ret;\n}\n";

static void replay(const Opened *opened, const char *witness) {
    char path[] = "/tmp/weir-device-XXXXXX";
    int file = mkstemp(path);
    CHECK(file >= 0 && write(file, witness, strlen(witness)) == (ssize_t)strlen(witness));
    close(file);
    weir_run_options options = {.replay = path};
    weir_result *again = weir_run(opened->module, &options);
    CHECK(weir_result_verdict(again) == WEIR_VERDICT_FINDINGS);
    CHECK(weir_item_count(again, WEIR_ITEM_FINDING) == 1);
    CHECK(!strcmp(weir_item_at(again, WEIR_ITEM_FINDING, 0).name, "race.waw"));
    weir_result_free(again);
    unlink(path);
}

static void a_finding_has_a_witness(void) {
    Opened opened = open_text(pick);
    static uint32_t words[8] = {1, 2, 3, 4, 5};
    uint64_t table[3] = {7, (uintptr_t)&words[2], 0}, begin = (uintptr_t)table;
    uint32_t n = 9;
    void *parameters[] = {&begin, &n};
    weir_device_launch launch = {
        .grid = {2, 1, 1}, .block = {32, 1, 1}, .parameters = parameters, .parameter_count = 2};
    weir_device_memory(opened.device, words, sizeof words, "words", 1);
    weir_device_memory(opened.device, table, sizeof table, "table", 1);
    weir_result *result = weir_device_check(opened.device, opened.module, &launch, NULL);
    CHECK(weir_item_count(result, WEIR_ITEM_FINDING) == 1);
    replay(&opened, weir_item_at(result, WEIR_ITEM_FINDING, 0).witness);
    weir_result_free(result);
    CHECK(words[2] == 3);
    n = 8; /* no thread stores */
    result = weir_device_check(opened.device, opened.module, &launch, NULL);
    CHECK(weir_result_verdict(result) == WEIR_VERDICT_CLEAN);
    weir_result_free(result);
    close_text(&opened);
}

/* A launch file cannot say that only some bytes between others are known. */
static void a_finding_may_have_no_witness(void) {
    Opened opened = open_text(count);
    uint32_t words[4] = {0};
    uint64_t pointer = (uintptr_t)words;
    void *parameters[] = {&pointer};
    weir_device_launch launch = {
        .grid = {2, 1, 1}, .block = {32, 1, 1}, .parameters = parameters, .parameter_count = 1};
    weir_device_memory(opened.device, words, sizeof words, "words", 0);
    weir_device_written(opened.device, &words[2], 4);
    weir_result *result = weir_device_check(opened.device, opened.module, &launch, NULL);
    CHECK(weir_item_count(result, WEIR_ITEM_FINDING) > 0);
    CHECK(!*weir_item_at(result, WEIR_ITEM_FINDING, 0).witness);
    weir_result_free(result);
    close_text(&opened);
}

/* Memory that is there for one launch alone is not what the launch touches: here the driver's workspace. */
static void its_own_memory_is_not_touched(void) {
    Opened opened =
        open_text(HEAD ".visible .entry own(.param .u64 out) {\n"
                       "  .reg .b32 %r<4>; .reg .b64 %rd<4>;\n"
                       "  mov.u32 %r1, %envreg2; mov.u32 %r2, %envreg1; mov.b64 %rd1, {%r1, %r2};\n"
                       "  atom.global.add.u32 %r3, [%rd1], 1; ld.param.u64 %rd2, [out]; st.global.u32 [%rd2], %r3;\n"
                       "  ret;\n}\n");
    uint32_t word = 7;
    uint64_t pointer = (uintptr_t)&word;
    void *parameters[] = {&pointer};
    weir_device_launch launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .parameters = parameters, .parameter_count = 1};
    weir_device_memory(opened.device, &word, sizeof word, "word", 1);
    weir_device_watch(opened.device, 1);
    CHECK(weir_device_run(opened.device, opened.module, &launch) == WEIR_DEVICE_DONE);
    size_t count = 0;
    int waits;
    const weir_device_touch *touches = weir_device_touches(opened.device, &count, &waits);
    CHECK(count == 1 && touches[0].address == pointer && touches[0].bytes == 4 && touches[0].how == WEIR_TOUCH_WRITE);
    close_text(&opened);
}

/* ---- The heap of kernels ---- */

static const char heap[] = HEAD ".extern .func (.param .b64 gives) malloc (.param .b64 bytes);\n"
                                ".extern .func free (.param .b64 at);\n"
                                ".visible .entry take(.param .u64 slot, .param .u64 bytes) {\n"
                                "  .reg .b64 %rd<4>;\n"
                                "  ld.param.u64 %rd1, [slot]; ld.param.u64 %rd2, [bytes];\n"
                                "  { .param .b64 gives; .param .b64 bytes; st.param.b64 [bytes], %rd2;\n"
                                "    call.uni (gives), malloc, (bytes); ld.param.b64 %rd3, [gives]; }\n"
                                "  st.global.u64 [%rd1], %rd3;\n"
                                "  ret;\n}\n"
                                ".visible .entry fill(.param .u64 slot, .param .u64 bytes) {\n"
                                "  .reg .b64 %rd<4>;\n"
                                "  ld.param.u64 %rd1, [slot]; ld.param.u64 %rd2, [bytes]; ld.global.u64 %rd3, [%rd1];\n"
                                "  st.u64 [%rd3], %rd2;\n"
                                "  ret;\n}\n"
                                ".visible .entry give(.param .u64 slot, .param .u64 out) {\n"
                                "  .reg .b64 %rd<5>;\n"
                                "  ld.param.u64 %rd1, [slot]; ld.param.u64 %rd2, [out]; ld.global.u64 %rd3, [%rd1];\n"
                                "  ld.u64 %rd4, [%rd3]; st.global.u64 [%rd2], %rd4;\n"
                                "  { .param .b64 at; st.param.b64 [at], %rd3; call.uni free, (at); }\n"
                                "  ret;\n}\n";

/* Checked, and then run. */
static void heap_launch(Opened *opened, const char *kernel, const uint64_t *slot, uint64_t second, weir_verdict verdict,
                        weir_device_end end) {
    uint64_t first = (uintptr_t)slot;
    void *parameters[] = {&first, &second};
    weir_device_launch launch = {
        .kernel = kernel, .grid = {1, 1, 1}, .block = {1, 1, 1}, .parameters = parameters, .parameter_count = 2};
    weir_result *result = weir_device_check(opened->device, opened->module, &launch, NULL);
    CHECK(weir_result_verdict(result) == verdict);
    weir_result_free(result);
    CHECK(weir_device_run(opened->device, opened->module, &launch) == end);
}

static void what_malloc_gives_stays(void) {
    enum { LIMIT = 4096 };
    Opened opened = open_text(heap);
    uint64_t slots[2] = {0}, out = 0;
    const uint64_t to = (uintptr_t)&out;
    weir_device_memory(opened.device, slots, sizeof slots, "slots", 1);
    weir_device_memory(opened.device, &out, sizeof out, "out", 1);
    CHECK(weir_device_heap(opened.device, LIMIT) == 0);
    heap_launch(&opened, "take", &slots[0], LIMIT - 64, WEIR_VERDICT_CLEAN, WEIR_DEVICE_DONE);
    CHECK(slots[0] >= WEIR_DEVICE_HEAP);
    CHECK(weir_device_heap(opened.device, 2 * LIMIT) != 0);
    heap_launch(&opened, "take", &slots[1], 80, WEIR_VERDICT_CLEAN, WEIR_DEVICE_DONE);
    CHECK(slots[1] == 0); /* there is no room for it */
    heap_launch(&opened, "fill", &slots[0], 42, WEIR_VERDICT_CLEAN, WEIR_DEVICE_DONE);
    heap_launch(&opened, "give", &slots[0], to, WEIR_VERDICT_CLEAN, WEIR_DEVICE_DONE);
    CHECK(out == 42);
    heap_launch(&opened, "fill", &slots[0], 43, WEIR_VERDICT_FINDINGS, WEIR_DEVICE_ADDRESS);
    CHECK(strstr(weir_device_error(opened.device), "memory of malloc that was freed: its byte 0 of 4032"));
    heap_launch(&opened, "give", &slots[0], to, WEIR_VERDICT_FINDINGS, WEIR_DEVICE_ADDRESS);
    heap_launch(&opened, "take", &slots[1], LIMIT, WEIR_VERDICT_CLEAN, WEIR_DEVICE_DONE);
    CHECK(slots[1] > slots[0]);
    uint64_t past = slots[1] + LIMIT;
    slots[0] = past;
    heap_launch(&opened, "fill", &slots[0], 43, WEIR_VERDICT_FINDINGS, WEIR_DEVICE_ADDRESS);
    CHECK(strstr(weir_device_error(opened.device), "8 bytes past the end of memory of malloc, which has 4096 bytes"));
    weir_device_heap_reset(opened.device);
    heap_launch(&opened, "fill", &slots[1], 43, WEIR_VERDICT_FINDINGS, WEIR_DEVICE_ADDRESS);
    CHECK(weir_device_heap(opened.device, 2 * LIMIT) == 0);
    close_text(&opened);
}

/* A launch that does not end well leaves the heap as it was. */
static void a_failed_launch_frees_nothing(void) {
    Opened opened = open_text(heap);
    uint64_t slot = 0, out = 0;
    weir_device_memory(opened.device, &slot, sizeof slot, "slot", 1);
    weir_device_memory(opened.device, &out, sizeof out, "out", 1);
    heap_launch(&opened, "take", &slot, 8, WEIR_VERDICT_CLEAN, WEIR_DEVICE_DONE);
    heap_launch(&opened, "fill", &slot, 42, WEIR_VERDICT_CLEAN, WEIR_DEVICE_DONE);
    heap_launch(&opened, "give", &slot, 8, WEIR_VERDICT_FINDINGS, WEIR_DEVICE_ADDRESS);
    heap_launch(&opened, "give", &slot, (uintptr_t)&out, WEIR_VERDICT_CLEAN, WEIR_DEVICE_DONE);
    CHECK(out == 42);
    close_text(&opened);
}

/* A table of functions that another kernel has left a pointer to. */
static void virtual_functions_of_other_launches(void) {
    Opened opened = open_text(HEAD ".visible .func (.param .b32 gives) seven () {\n"
                                   "  .reg .b32 %r<2>; mov.u32 %r1, 7; st.param.b32 [gives], %r1; ret;\n}\n"
                                   ".global .align 8 .u64 table[1] = {seven};\n"
                                   ".visible .entry make(.param .u64 to) {\n"
                                   "  .reg .b64 %rd<4>;\n"
                                   "  ld.param.u64 %rd1, [to]; mov.u64 %rd2, table; cvta.global.u64 %rd3, %rd2;\n"
                                   "  st.global.u64 [%rd1], %rd3; ret;\n}\n"
                                   ".visible .entry use(.param .u64 to) {\n"
                                   "  .reg .b64 %rd<4>; .reg .b32 %r<2>;\n"
                                   "  ld.param.u64 %rd1, [to]; ld.global.u64 %rd2, [%rd1]; ld.u64 %rd3, [%rd2];\n"
                                   "  { .param .b32 gives;\n"
                                   "    kind: .callprototype (.param .b32 _) _ ();\n"
                                   "    call (gives), %rd3, (), kind; ld.param.b32 %r1, [gives]; }\n"
                                   "  st.global.u32 [%rd1+8], %r1; ret;\n}\n");
    uint64_t words[2] = {0};
    uint64_t pointer = (uintptr_t)words;
    void *parameters[] = {&pointer};
    weir_device_launch launch = {
        .kernel = "make", .grid = {1, 1, 1}, .block = {1, 1, 1}, .parameters = parameters, .parameter_count = 1};
    weir_device_memory(opened.device, words, sizeof words, "words", 1);
    CHECK(weir_device_run(opened.device, opened.module, &launch) == WEIR_DEVICE_DONE);
    launch.kernel = "use";
    CHECK(weir_device_run(opened.device, opened.module, &launch) == WEIR_DEVICE_DONE);
    CHECK(words[1] == 7);
    close_text(&opened);
}

int main(void) {
    what_malloc_gives_stays();
    a_failed_launch_frees_nothing();
    virtual_functions_of_other_launches();
    its_own_memory_is_not_touched();
    results_are_in_memory();
    a_check_leaves_memory_as_it_is();
    a_launch_that_faults_writes_nothing();
    a_launch_has_to_fit();
    a_race_is_found();
    a_hang_ends();
    variables_keep_their_values();
    a_finding_has_a_witness();
    a_finding_may_have_no_witness();
    return failures != 0;
}
