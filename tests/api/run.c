/* Running kernels through the public header: what an outcome says, a witness that runs again, and what is said of
 * options that make no sense. Exit status 0 if all is as it should be, else 1 and what is not. */
#include <weir/weir.h>

#include "expect.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Buffer {
    char data[1 << 16];
    size_t size;
} Buffer;

static int append(void *to, const char *data, size_t size) {
    Buffer *buffer = to;
    if (sizeof buffer->data - buffer->size <= size)
        return 1;
    memcpy(buffer->data + buffer->size, data, size);
    buffer->size += size;
    buffer->data[buffer->size] = 0;
    return 0;
}

static int refuse(void *to, const char *data, size_t size) {
    (void)to, (void)data, (void)size;
    return 1;
}

/* ---- Kernels ----------------------------------------------------------------------------------- */

#define LAYOUTS                                                                            \
    "#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n" \
    "#smem = #ttg.shared_memory\n"                                                         \
    "!barrier = !ttg.memdesc<1xi64, #shared, #smem, mutable>\n"

/* One that ends for every n, and one that waits for an arrival that never comes, if n is not 0. */
static const char two_kernels[] =
    LAYOUTS "module attributes {\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 4 : i32} {\n"
            "  tt.func public @ends(%n: i32) {\n"
            "    %c0 = arith.constant 0 : i32\n"
            "    %c1 = arith.constant 1 : i32\n"
            "    %bar = ttg.local_alloc : () -> !barrier\n"
            "    ttng.init_barrier %bar, 1 : !barrier\n"
            "    scf.for %i = %c0 to %n step %c1 : i32 {\n"
            "      %phase = arith.andi %i, %c1 : i32\n"
            "      ttng.arrive_barrier %bar, 1 : !barrier\n"
            "      ttng.wait_barrier %bar, %phase : !barrier\n"
            "    }\n"
            "    tt.return\n"
            "  }\n"
            "  tt.func public @hangs(%n: i32) {\n"
            "    %c0 = arith.constant 0 : i32\n"
            "    %c1 = arith.constant 1 : i32\n"
            "    %bar = ttg.local_alloc : () -> !barrier\n"
            "    ttng.init_barrier %bar, 1 : !barrier\n"
            "    scf.for %i = %c0 to %n step %c1 : i32 {\n"
            "      ttng.wait_barrier %bar, %c0 : !barrier\n"
            "    }\n"
            "    tt.return\n"
            "  }\n"
            "}\n";

typedef struct Input {
    weir_file *file;
    weir_module *module;
} Input;

static Input open_text(weir_context *weir, const char *text) {
    Input input = {weir_open_buffer(weir, "two.ttgir", text, strlen(text)), NULL};
    input.module = input.file ? weir_parse(input.file, 0, 0) : NULL;
    if (!input.module)
        abort();
    return input;
}

static void close_input(Input *input) {
    weir_module_free(input->module);
    weir_close(input->file);
}

/* ---- Results ----------------------------------------------------------------------------------- */

static void run_all_kernels(weir_context *weir) {
    Input input = open_text(weir, two_kernels);
    CHECK(weir_kernel_count(input.module) == 2);
    CHECK(weir_kernel_name(input.module, 1).size > 0 && !weir_kernel_name(input.module, 2).data);
    weir_result *result = weir_run(input.module, NULL);
    CHECK(result);
    CHECK(weir_result_verdict(result) == WEIR_VERDICT_FINDINGS);
    CHECK(weir_result_kernels(result) == 2);
    CHECK(strcmp(weir_kernel_at(result, 0).name, "ends") == 0);
    CHECK(weir_kernel_at(result, 0).verdict == WEIR_VERDICT_CLEAN);
    CHECK(weir_kernel_at(result, 0).scope == WEIR_SCOPE_EVERY_LAUNCH);
    CHECK(weir_kernel_at(result, 1).verdict == WEIR_VERDICT_FINDINGS);
    CHECK(weir_kernel_at(result, 1).scope == WEIR_SCOPE_NONE && weir_result_scope(result) == WEIR_SCOPE_NONE);
    CHECK(weir_item_count(result, WEIR_ITEM_LAUNCH) > 2);
    CHECK(strcmp(weir_item_at(result, WEIR_ITEM_LAUNCH, 0).kernel, "ends") == 0);
    CHECK(strcmp(weir_item_at(result, WEIR_ITEM_LAUNCH, 0).text, "grid 1x1x1, n = 1") == 0);
    CHECK(!weir_item_count(result, WEIR_ITEM_BARRIER) && !weir_item_count(result, WEIR_ITEM_DIFFERENCE));
    CHECK(weir_item_count(result, WEIR_ITEM_FINDING) == 1);
    weir_item finding = weir_item_at(result, WEIR_ITEM_FINDING, 0);
    CHECK(strcmp(finding.kernel, "hangs") == 0);
    CHECK(strcmp(finding.name, "deadlock.no-producer") == 0);
    CHECK(finding.severity == WEIR_ERROR);
    CHECK(finding.ir_line == 23);
    CHECK(strncmp(finding.witness, "weir trail 1\nkernel hangs\n", 26) == 0);
    CHECK(*finding.text && *finding.why && *finding.fix && !*finding.file);
    CHECK(!*weir_item_at(result, WEIR_ITEM_FINDING, 1).name);

    static Buffer text;
    text.size = 0;
    CHECK(weir_result_write(result, NULL, append, &text) == 0);
    CHECK(strstr(text.data, "two.ttgir: @ends: clean ("));
    CHECK(strstr(text.data, "two.ttgir:23:7: error: "));
    CHECK(strstr(text.data, "rerun with --witness DIR"));
    weir_keep_witness(result, 0, "here.trail");
    text.size = 0;
    CHECK(weir_result_write(result, &(weir_write_options){.flags = WEIR_LAUNCHES}, append, &text) == 0);
    CHECK(strstr(text.data, "witness: here.trail"));
    CHECK(strstr(text.data, "launch, chosen: grid 1x1x1, n = 0"));
    CHECK(weir_result_write(result, NULL, refuse, NULL) == -1);

    text.size = 0;
    CHECK(weir_steps(result, append, &text) == 0);
    CHECK(strncmp(text.data, "@hangs, grid 1x1x1, n = ", 24) == 0);
    CHECK(strstr(text.data, "waits forever for %bar[0], parity 0\n"));
    text.size = 0;
    CHECK(weir_trace(result, append, &text) == 0);
    CHECK(strstr(text.data, "\"cat\": \"blocked\""));
    CHECK(weir_trace(result, refuse, NULL) == -1);
    weir_result_free(result);
    weir_result_free(NULL);
    close_input(&input);
}

static void run_one_kernel(weir_context *weir) {
    Input input = open_text(weir, two_kernels);
    const char *const none[] = {"n=0"};
    weir_run_options options = {.kernel = "hangs", .arguments = none, .argument_count = 1, .only_launch = 1};
    weir_result *result = weir_run(input.module, &options);
    CHECK(weir_result_kernels(result) == 1);
    CHECK(weir_result_verdict(result) == WEIR_VERDICT_CLEAN);
    CHECK(weir_kernel_at(result, 0).only_launch);
    CHECK(weir_kernel_at(result, 0).scope == WEIR_SCOPE_GIVEN_LAUNCH);
    static Buffer text;
    text.size = 0;
    CHECK(weir_steps(result, append, &text) == 0);
    CHECK(strstr(text.data, "every agent has finished\n"));
    weir_result_free(result);

    options.budget = 10;
    const char *const many[] = {"n=1000"};
    options.kernel = "ends";
    options.arguments = many;
    result = weir_run(input.module, &options);
    CHECK(weir_result_verdict(result) == WEIR_VERDICT_INCOMPLETE);
    weir_result_free(result);
    close_input(&input);
}

/* ---- Witnesses --------------------------------------------------------------------------------- */

static void replay_a_witness(weir_context *weir) {
    Input input = open_text(weir, two_kernels);
    weir_result *result = weir_run(input.module, NULL);
    char path[] = "/tmp/weir-run-XXXXXX";
    int descriptor = mkstemp(path);
    FILE *out = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    CHECK(out && weir_item_count(result, WEIR_ITEM_FINDING) == 1);
    if (!out)
        return;
    fputs(weir_item_at(result, WEIR_ITEM_FINDING, 0).witness, out);
    fclose(out);
    weir_result_free(result);

    weir_run_options options = {.replay = path};
    result = weir_run(input.module, &options);
    CHECK(weir_result_kernels(result) == 1);
    CHECK(weir_result_verdict(result) == WEIR_VERDICT_FINDINGS);
    CHECK(strcmp(weir_item_at(result, WEIR_ITEM_FINDING, 0).name, "deadlock.no-producer") == 0);
    weir_result_free(result);
    remove(path);
    close_input(&input);
}

/* ---- What makes no sense ----------------------------------------------------------------------- */

static void explain_errors(weir_context *weir) {
    static const char *const unknown[] = {"m=1"}, *const nothing[] = {"n"};
    static const struct {
        weir_run_options options;
        const char *said;
    } cases[] = {
        {{.schedule = "wild"}, "two.ttgir: error: there is no schedule 'wild'; "},
        {{.mma_order = "wild"}, "two.ttgir: error: tensor-core work is ordered by 'issue' or by 'waits', not 'wild'"},
        {{.kernel = "wild"}, "two.ttgir: error: there is no kernel 'wild'; there is @ends, @hangs\n"},
        {{.grid = "wild"}, "two.ttgir: error: 'wild': a grid must be "},
        {{.arguments = unknown, .argument_count = 1},
         "two.ttgir: error: there is no argument 'm'; @ends, @hangs has n"},
        {{.arguments = nothing, .argument_count = 1}, "two.ttgir: error: 'n': an argument must be NAME=VALUE\n"},
        {{.launch = "/nonexistent/k.json"}, "two.ttgir: error: /nonexistent/k.json cannot be read: No such file"},
        {{.replay = "/nonexistent/k.trail"}, "two.ttgir: error: /nonexistent/k.trail cannot be read: No such file"},
    };
    static Buffer text;
    Input input = open_text(weir, two_kernels);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        weir_result *result = weir_run(input.module, &cases[i].options);
        CHECK(weir_result_verdict(result) == WEIR_VERDICT_ERROR);
        CHECK(weir_result_kernels(result) == 0);
        text.size = 0;
        CHECK(weir_result_errors(result, 0, append, &text) == 0);
        if (strncmp(text.data, cases[i].said, strlen(cases[i].said)) != 0) {
            fprintf(stderr, "said: %sexpected: %s\n", text.data, cases[i].said);
            failures++;
        }
        CHECK(weir_steps(result, append, &text) == -1);
        weir_result_free(result);
    }
    close_input(&input);

    input = open_text(weir, "tt.func private @declared()\n");
    weir_result *result = weir_run(input.module, NULL);
    CHECK(weir_result_verdict(result) == WEIR_VERDICT_ERROR);
    text.size = 0;
    CHECK(weir_result_errors(result, 0, append, &text) == 0);
    CHECK(strcmp(text.data, "two.ttgir: error: there is no kernel in it: no tt.func with a body\n") == 0);
    weir_result_free(result);
    close_input(&input);

    input = open_text(weir, "tt.func @broken() {\n  \"use\"(%x) : (i32) -> ()\n  tt.return\n}\n");
    result = weir_run(input.module, NULL);
    CHECK(weir_result_verdict(result) == WEIR_VERDICT_ERROR);
    text.size = 0;
    CHECK(weir_result_errors(result, 0, append, &text) == 0);
    CHECK(strncmp(text.data, "two.ttgir:2:9: error: '%x' is not defined\n", 42) == 0);

    text.size = 0;
    weir_writer *json = weir_writer_begin(&(weir_write_options){.format = WEIR_JSON}, append, &text);
    CHECK(json);
    weir_writer_add(json, result);
    weir_writer_error(json, "gone.ttgir", "it is gone");
    CHECK(weir_writer_end(json) == 0);
    CHECK(strstr(text.data, "{\"reason\": \"two.ttgir:2:9: '%x' is not defined\""));
    CHECK(strstr(text.data, "{\"reason\": \"it is gone\""));
    CHECK(strstr(text.data, "\"verdict\": \"error\", \"scope\": null}\n"));
    weir_result_free(result);
    close_input(&input);
}

static int stop_at_once(void *context) {
    ++*(unsigned *)context;
    return 1;
}

/* What is not looked at is said, and the other kernel is not looked at either. */
static void stop_a_run(weir_context *weir) {
    unsigned asked = 0;
    Input input = open_text(weir, two_kernels);
    weir_result *result =
        weir_run(input.module, &(weir_run_options){.stop = stop_at_once, .stop_context = &asked, .timeout = 100});
    CHECK(asked);
    CHECK(weir_result_verdict(result) == WEIR_VERDICT_INCOMPLETE);
    CHECK(weir_kernel_at(result, 0).verdict == WEIR_VERDICT_INCOMPLETE);
    CHECK(weir_kernel_at(result, 1).verdict == WEIR_VERDICT_INCOMPLETE);
    CHECK(strstr(weir_item_at(result, WEIR_ITEM_INCOMPLETE, 0).text, "the time for checks ran out"));
    weir_result_free(result);
    close_input(&input);
}

/* Options of programs that were compiled with another header. */
static void take_options_of_other_headers(weir_context *weir) {
    struct {
        weir_run_options known;
        const char *later[2];
    } newer[2] = {{.known = {.size = sizeof newer[0], .kernel = "ends", .lint = WEIR_LINT_ONLY}},
                  {.known = {.size = sizeof newer[0], .kernel = "hangs", .lint = WEIR_LINT_ONLY}}};
    weir_run_options older = {.size = offsetof(weir_run_options, kernel), .kernel = "there is none"};
    Input input = open_text(weir, two_kernels);
    weir_module *modules[] = {input.module, input.module};
    weir_result *results[2], *result = weir_run(input.module, &older);
    CHECK(weir_result_kernels(result) == 2); /* the field is not of that header */
    weir_result_free(result);
    CHECK(weir_run_row(modules, &newer[0].known, 2, results) == 0);
    for (int i = 0; i < 2; i++) {
        CHECK(strcmp(weir_kernel_at(results[i], 0).name, newer[i].known.kernel) == 0);
        weir_result_free(results[i]);
    }
    newer[0].later[1] = "something that this library does not know";
    Buffer said = {.size = 0};
    result = weir_run(input.module, &newer[0].known);
    CHECK(weir_result_verdict(result) == WEIR_VERDICT_ERROR);
    CHECK(weir_result_errors(result, 0, append, &said) == 0);
    CHECK(strstr(said.data, "the options are those of a newer Weir than this, " WEIR_VERSION));
    weir_result_free(result);
    CHECK(weir_prove(input.module, &newer[0].known, append, &said) == -1);
    struct {
        weir_write_options known;
        size_t later;
    } how = {.known = {.size = sizeof how}, .later = 1};
    CHECK(!weir_writer_begin(&how.known, append, &said));
    struct {
        weir_membar_options known;
        size_t later;
    } barriers = {.known = {.size = sizeof barriers}, .later = 1};
    result = weir_membar(input.module, &barriers.known);
    CHECK(weir_result_verdict(result) == WEIR_VERDICT_ERROR);
    weir_result_free(result);
    barriers.known.size = (size_t)-2;
    result = weir_membar(input.module, &barriers.known);
    CHECK(weir_result_verdict(result) == WEIR_VERDICT_ERROR);
    weir_result_free(result);
    close_input(&input);
}

static void know_verdicts(void) {
    CHECK(strcmp(weir_verdict_name(WEIR_VERDICT_INCOMPLETE), "incomplete") == 0);
    CHECK(weir_verdict_status(WEIR_VERDICT_CLEAN) == 0);
    CHECK(weir_verdict_status(WEIR_VERDICT_FINDINGS) == 1);
    CHECK(weir_verdict_status(WEIR_VERDICT_ERROR) == 2);
    CHECK(weir_verdict_status(WEIR_VERDICT_INCOMPLETE) == 3);
    CHECK(weir_verdict_worse(WEIR_VERDICT_INCOMPLETE, WEIR_VERDICT_FINDINGS) == WEIR_VERDICT_FINDINGS);
    CHECK(weir_verdict_worse(WEIR_VERDICT_ERROR, WEIR_VERDICT_FINDINGS) == WEIR_VERDICT_ERROR);
}

int main(void) {
    weir_context *weir = weir_create();
    if (!weir)
        return 1;
    run_all_kernels(weir);
    run_one_kernel(weir);
    replay_a_witness(weir);
    explain_errors(weir);
    stop_a_run(weir);
    take_options_of_other_headers(weir);
    know_verdicts();
    weir_destroy(weir);
    return failures ? 1 : 0;
}
