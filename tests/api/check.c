/* Two threads check kernels at the same time, each with a context of its own: what they say is what one alone says, and
 * the JSON that they make in parts is that of the whole. To be run under the thread sanitizer, too. */
#include <weir/weir.h>

#include "expect.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 2, ROUNDS = 10, KERNELS = 3 };

#define HEAD                                                                                                       \
    "#bars = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n"                           \
    "#tile = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>\n"            \
    "#smem = #ttg.shared_memory\n"                                                                                 \
    "#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, " \
    "0]}>\n"                                                                                                       \
    "!bar = !ttg.memdesc<1xi64, #bars, #smem, mutable>\n"                                                          \
    "!buffer = !ttg.memdesc<64x64xf16, #tile, #smem, mutable>\n"                                                   \
    "module attributes {\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 4 : i32, \"ttg.threads-per-warp\" = 32 : " \
    "i32} {\n"

/* A copy that is waited for, or not; or with an op that is not known. */
#define LOAD(NAME, WAIT)                                                                 \
    HEAD "  tt.func public @" NAME "(%a: !tt.tensordesc<tensor<64x64xf16, #tile>>) {\n"  \
         "    %true = arith.constant true\n"                                             \
         "    %zero = arith.constant 0 : i32\n"                                          \
         "    %bar = ttg.local_alloc : () -> !bar\n"                                     \
         "    %buf = ttg.local_alloc : () -> !buffer\n"                                  \
         "    ttng.init_barrier %bar, 1 : !bar\n"                                        \
         "    ttng.barrier_expect %bar, 8192, %true : !bar\n"                            \
         "    ttng.async_tma_copy_global_to_local %a[%zero, %zero] %buf, %bar, %true : " \
         "!tt.tensordesc<tensor<64x64xf16, #tile>>, !bar -> !buffer\n" WAIT              \
         "    %v = ttg.local_load %buf : !buffer -> tensor<64x64xf16, #blocked>\n"       \
         "    tt.return\n"                                                               \
         "  }\n"                                                                         \
         "}\n"

static const struct {
    const char *text;
    weir_verdict verdict;
    const char *rule, *reason;
} kernels[KERNELS] = {
    {LOAD("waits", "    ttng.wait_barrier %bar, %zero : !bar\n"), WEIR_VERDICT_CLEAN, "", ""},
    {LOAD("races", ""), WEIR_VERDICT_FINDINGS, "race.raw", ""},
    {LOAD("unknown", "    ttng.wait_barrier %bar, %zero : !bar\n    \"my.op\"(%buf) : (!buffer) -> ()\n"),
     WEIR_VERDICT_INCOMPLETE, "", "the op is not known"},
};

static const weir_write_options as_json = {.format = WEIR_JSON};
typedef struct Buffer {
    char data[1 << 20];
    size_t size;
} Buffer;

static int append(void *to, const char *data, size_t size) {
    Buffer *buffer = to;
    if (size >= sizeof buffer->data - buffer->size)
        return -1;
    memcpy(buffer->data + buffer->size, data, size);
    buffer->size += size;
    buffer->data[buffer->size] = 0;
    return 0;
}

/* Checks one kernel, and adds what comes out to the JSON. */
static void check(weir_context *weir, size_t index, weir_writer *json) {
    weir_file *file = weir_open_buffer(weir, "kernel.ttgir", kernels[index].text, strlen(kernels[index].text));
    weir_module *module = file ? weir_parse(file, 0, 0) : NULL;
    weir_result *result = module ? weir_run(module, NULL) : NULL;
    if (!result)
        abort();
    weir_writer_add(json, result);
    CHECK(weir_result_verdict(result) == kernels[index].verdict);
    CHECK(strcmp(weir_item_at(result, WEIR_ITEM_FINDING, 0).name, kernels[index].rule) == 0);
    CHECK(!weir_item_at(result, WEIR_ITEM_FINDING, 1).name[0]);
    CHECK(strcmp(weir_item_at(result, WEIR_ITEM_INCOMPLETE, 0).text, kernels[index].reason) == 0);
    CHECK(weir_item_count(result, WEIR_ITEM_INCOMPLETE) == (kernels[index].reason[0] != 0));
    weir_result_free(result);
    weir_module_free(module);
    weir_close(file);
}

static void *work(void *argument) {
    weir_writer **parts = argument;
    weir_context *weir = weir_create();
    if (!weir)
        abort();
    for (int round = 0; round < ROUNDS; round++) {
        if (!(parts[round] = weir_writer_part(&as_json)))
            abort();
        for (size_t i = 0; i < KERNELS; i++)
            check(weir, i, parts[round]);
    }
    weir_destroy(weir);
    return NULL;
}

static void check_in_threads(void) {
    static weir_writer *parts[THREADS][ROUNDS];
    static Buffer joined, alone;
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, parts[i]) != 0)
            abort();
    weir_writer *json = weir_writer_begin(&as_json, append, &joined);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        for (int round = 0; round < ROUNDS; round++)
            weir_writer_join(json, parts[i][round]);
    }
    CHECK(weir_writer_end(json) == 0);

    weir_context *weir = weir_create();
    json = weir_writer_begin(&as_json, append, &alone);
    for (int round = 0; round < THREADS * ROUNDS; round++)
        for (size_t i = 0; i < KERNELS; i++)
            check(weir, i, json);
    CHECK(weir_writer_end(json) == 0);
    weir_destroy(weir);
    CHECK(joined.size == alone.size && memcmp(joined.data, alone.data, alone.size) == 0);
    CHECK(strstr(alone.data, "\"verdict\": \"findings\", \"scope\": null}\n"));
}

/* ---- Rules ------------------------------------------------------------------------------------- */

static void pick_rules(void) {
    static const struct {
        const char *rules;
        weir_verdict verdict;
    } cases[] = {
        {"race", WEIR_VERDICT_FINDINGS},
        {"race.raw", WEIR_VERDICT_FINDINGS},
        {"deadlock,race.raw", WEIR_VERDICT_FINDINGS},
        {"race.war,deadlock", WEIR_VERDICT_CLEAN},
        {"race.ra", WEIR_VERDICT_ERROR},
        {"race,", WEIR_VERDICT_ERROR},
    };
    weir_context *weir = weir_create();
    weir_file *file = weir_open_buffer(weir, "kernel.ttgir", kernels[1].text, strlen(kernels[1].text));
    weir_module *module = weir_parse(file, 0, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        weir_run_options options = {.rules = cases[i].rules};
        weir_result *result = weir_run(module, &options);
        CHECK(weir_result_verdict(result) == cases[i].verdict);
        CHECK((weir_rules_unknown(cases[i].rules).data != NULL) == (cases[i].verdict == WEIR_VERDICT_ERROR));
        weir_result_free(result);
    }
    CHECK(!weir_rules_unknown(NULL).data);
    CHECK(!weir_rule_near((weir_string){"zzzzzzzz", 8}).data && weir_rule_near((weir_string){"race.wra", 8}).size == 8);
    weir_module_free(module);
    weir_close(file);
    weir_destroy(weir);
}

/* ---- Text and state ---------------------------------------------------------------------------- */

static void look_at_it(void) {
    static Buffer text;
    weir_context *weir = weir_create();
    weir_file *file = weir_open_buffer(weir, "kernel.ttgir", kernels[0].text, strlen(kernels[0].text));
    weir_module *module = weir_parse(file, 0, 0);
    weir_result *result = weir_run(module, NULL);
    CHECK(weir_result_write(result, &(weir_write_options){.flags = WEIR_SKIP_CLEAN}, append, &text) == 0 &&
          text.size == 0);
    CHECK(weir_state(result, UINT64_MAX, append, &text) == 0);
    CHECK(strstr(text.data, "\nspan 0: bytes 0-8191 of %buf\n"));
    text.size = 0;
    CHECK(weir_state(result, 0, append, &text) == 0);
    CHECK(strstr(text.data, "\nafter step 0: "));
    CHECK(!weir_item_at(result, WEIR_ITEM_INCOMPLETE, 0).text[0]);
    weir_result_free(result);
    weir_module_free(module);
    weir_close(file);
    weir_destroy(weir);
}

int main(void) {
    check_in_threads();
    pick_rules();
    look_at_it();
    return failures ? 1 : 0;
}
