/* A project that several threads run kernels with: rules, severities, comments, the baseline, and what is said at the
 * end. To be run under the thread sanitizer, too. */
#include <weir/weir.h>

#include "expect.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 5 };

/* A copy that nothing waits for is read: race.raw, at line 3 of k.py. */
static const char kernel[] =
    "#bars = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n"
    "#tile = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>\n"
    "#smem = #ttg.shared_memory\n"
    "#blocked = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>\n"
    "!bar = !ttg.memdesc<1xi64, #bars, #smem, mutable>\n"
    "!buffer = !ttg.memdesc<64x64xf16, #tile, #smem, mutable>\n"
    "module attributes {\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 4 : i32, \"ttg.threads-per-warp\" = 32 : i32} "
    "{\n"
    "  tt.func public @races(%a: !tt.tensordesc<tensor<64x64xf16, #tile>>) {\n"
    "    %true = arith.constant true\n"
    "    %zero = arith.constant 0 : i32\n"
    "    %bar = ttg.local_alloc : () -> !bar\n"
    "    %buf = ttg.local_alloc : () -> !buffer\n"
    "    ttng.init_barrier %bar, 1 : !bar\n"
    "    ttng.barrier_expect %bar, 8192, %true : !bar loc(\"k.py\":2:3)\n"
    "    ttng.async_tma_copy_global_to_local %a[%zero, %zero] %buf, %bar, %true : "
    "!tt.tensordesc<tensor<64x64xf16, #tile>>, !bar -> !buffer loc(\"k.py\":2:3)\n"
    "    %v = ttg.local_load %buf : !buffer -> tensor<64x64xf16, #blocked> loc(\"k.py\":3:3)\n"
    "    tt.return\n"
    "  }\n"
    "}\n";

typedef struct Expected {
    weir_project *project;
    weir_verdict verdict;
    const char *suppressed;
    weir_severity severity;
} Expected;

static void *run(void *argument) {
    const Expected *expected = argument;
    weir_context *weir = weir_create();
    for (int round = 0; round < ROUNDS; round++) {
        weir_run_options options = {
            .lint = WEIR_LINT_ALSO, .membar = WEIR_MEMBAR_FINDINGS, .rules = "race", .timeout = 100};
        weir_project_options(expected->project, &options);
        weir_file *file = weir_open_buffer(weir, "k.ttgir", kernel, sizeof kernel - 1);
        weir_module *module = weir_parse(file, 0, 0);
        weir_result *result = weir_run(module, &options);
        CHECK(weir_result_verdict(result) == expected->verdict);
        bool found = false;
        for (size_t i = 0; i < weir_item_count(result, WEIR_ITEM_FINDING); i++) {
            weir_item item = weir_item_at(result, WEIR_ITEM_FINDING, i);
            if (strcmp(item.name, "race.raw") != 0)
                continue;
            found = true;
            CHECK(strcmp(item.suppressed, expected->suppressed) == 0);
            CHECK((*item.suppressed != 0) == (*item.reason != 0));
            CHECK(item.severity == expected->severity);
        }
        CHECK(found);
        weir_result_free(result);
        weir_module_free(module);
        weir_close(file);
    }
    weir_destroy(weir);
    return NULL;
}

/* With a project that is set up so; `remarks` is how much there is to say at the end. */
static void check(const char *const (*settings)[2], int baseline, Expected expected, size_t remarks) {
    pthread_t threads[THREADS];
    expected.project = weir_project_create();
    for (; (*settings)[0]; settings++)
        CHECK(weir_project_set(expected.project, (*settings)[0], (*settings)[1]) == 0);
    CHECK(weir_project_baseline(expected.project, baseline) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, run, &expected) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK(weir_project_remarks(expected.project) == remarks);
    if (remarks)
        CHECK(weir_project_remark_at(expected.project, 0).line == 1);
    if (baseline)
        CHECK(weir_project_write_baseline(expected.project) == 0);
    weir_project_free(expected.project);
}

static void write_source(const char *comment) {
    FILE *file = fopen("k.py", "w");
    CHECK(file && fprintf(file, "def k():\n  copy()\n  load()%s\n", comment) > 0 && fclose(file) == 0);
}

int main(void) {
    char folder[] = "/tmp/weir-project-XXXXXX";
    CHECK(mkdtemp(folder) && chdir(folder) == 0);
    const char *const nothing[][2] = {{NULL}}, *const ignored[][2] = {{"ignore", "race"}, {NULL}},
                      *const noted[][2] = {{"severity", "race=warning"}, {"severity", "race.raw=note"}, {NULL}},
                      *const baseline[][2] = {{"baseline", "b.json"}, {NULL}};
    Expected wrong = {.verdict = WEIR_VERDICT_FINDINGS, .suppressed = "", .severity = WEIR_ERROR};
    Expected clean = {.verdict = WEIR_VERDICT_CLEAN, .severity = WEIR_ERROR};
    check(nothing, 0, wrong, 0);
    clean.suppressed = "config";
    check(ignored, 0, clean, 0);
    clean.suppressed = "";
    clean.severity = WEIR_NOTE;
    check(noted, 0, clean, 0);
    clean.suppressed = "baseline";
    clean.severity = WEIR_ERROR;
    check(baseline, 1, clean, 0);
    check(baseline, 0, clean, 0);
    write_source("  # weir: ignore[race.raw] known");
    clean.suppressed = "inSource";
    check(nothing, 0, clean, 0);
    write_source("  # weir: ignore[race.raw]");
    weir_project *project = weir_project_create();
    CHECK(weir_project_set(project, "ignore", "rase") == -1 && weir_project_set(project, "what", "ever") == -1);
    CHECK(weir_project_read(project, "none.toml") == -1);
    weir_project_free(project);
    CHECK(unlink("k.py") == 0 && unlink("b.json") == 0 && chdir("/") == 0 && rmdir(folder) == 0);
    return failures != 0;
}
