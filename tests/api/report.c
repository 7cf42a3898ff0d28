/* Barrier reports through the public header: their formats, what is wrong with what was asked for, modules of a pass
 * log, and differences. Exit status 0 if all is as it should be, else 1 and what is not. */
#include <weir/weir.h>

#include "expect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Buffer {
    char data[1 << 20];
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

static const weir_write_options as_text = {.subject = WEIR_REPORTS}, differing = {.subject = WEIR_DIFFERENCES};
static Buffer text;

static void clear(void) {
    text.size = 0;
    text.data[0] = 0;
}

/* ---- Kernels ----------------------------------------------------------------------------------- */

#define LAYOUTS                                                                            \
    "#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n" \
    "#smem = #ttg.shared_memory\n"                                                         \
    "!barrier = !ttg.memdesc<1xi64, #shared, #smem, mutable>\n"
#define MODULE(functions) \
    "module attributes {\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 4 : i32} {\n" functions "}\n"
#define KERNEL(name, arrive)                                                                               \
    "  tt.func public @" name "(%n: i32) {\n"                                                              \
    "    %c0 = arith.constant 0 : i32\n"                                                                   \
    "    %c1 = arith.constant 1 : i32\n"                                                                   \
    "    %bar = ttg.local_alloc : () -> !barrier\n"                                                        \
    "    ttng.init_barrier %bar, 1 : !barrier\n"                                                           \
    "    scf.for %i = %c0 to %n step %c1 : i32 {\n"                                                        \
    "      %phase = arith.andi %i, %c1 : i32\n" arrive "      ttng.wait_barrier %bar, %phase : !barrier\n" \
    "    }\n"                                                                                              \
    "    tt.return\n"                                                                                      \
    "  }\n"
#define ARRIVE "      ttng.arrive_barrier %bar, 1 : !barrier\n"

static const char ends[] = LAYOUTS MODULE(KERNEL("ends", ARRIVE));
static const char hangs[] = LAYOUTS MODULE(KERNEL("hangs", ""));
static const char both[] = LAYOUTS MODULE(KERNEL("ends", ARRIVE) KERNEL("hangs", ""));
static const char pass_log[] = "// -----// IR Dump After First (first) //----- //\n" LAYOUTS MODULE(
    KERNEL("ends", ARRIVE)) "// -----// IR Dump After Second (second) //----- //\n" MODULE("  tt.func public @f() {\n"
                                                                                           "    tt.return\n"
                                                                                           "  }\n");

typedef struct Input {
    weir_file *file;
    weir_module *module;
    weir_result *report;
} Input;

static Input open_text(weir_context *weir, const char *ir, size_t module, const weir_run_options *options) {
    Input input = {weir_open_buffer(weir, "k.ttgir", ir, strlen(ir)), NULL, NULL};
    input.module = input.file ? weir_parse(input.file, module, 0) : NULL;
    weir_run_options reporting = options ? *options : (weir_run_options){0};
    reporting.report = 1;
    input.report = input.module ? weir_run(input.module, &reporting) : NULL;
    if (!input.report)
        abort();
    return input;
}

static void close_input(Input *input) {
    weir_result_free(input->report);
    weir_module_free(input->module);
    weir_close(input->file);
}

/* ---- Formats ----------------------------------------------------------------------------------- */

static void write_formats(weir_context *weir) {
    Input input = open_text(weir, ends, 0, NULL);
    CHECK(weir_result_verdict(input.report) == WEIR_VERDICT_CLEAN);
    CHECK(weir_report_count(input.report) == 1);
    for (weir_format format = WEIR_TEXT; format <= WEIR_HTML; format++) {
        weir_write_options options = {.subject = WEIR_REPORTS, .format = format, .width = 80};
        clear();
        CHECK(weir_result_write(input.report, &options, append, &text) == 0);
        CHECK(strstr(text.data, "ends"));
        CHECK(weir_result_write(input.report, &options, refuse, NULL) == -1);
    }
    CHECK(weir_result_write(input.report, &as_text, append, &text) == 0);
    close_input(&input);
    weir_result_free(NULL);
    clear();
    CHECK(weir_glossary(80, append, &text) == 0 && text.size);
}

static void write_several(weir_context *weir) {
    Input input = open_text(weir, both, 0, NULL);
    CHECK(weir_report_count(input.report) == 2);
    CHECK(weir_result_verdict(input.report) == WEIR_VERDICT_FINDINGS);
    CHECK(weir_item_count(input.report, WEIR_ITEM_FINDING) == 1);
    clear();
    weir_write_options options = {.subject = WEIR_REPORTS, .format = WEIR_JSON};
    CHECK(weir_result_write(input.report, &options, append, &text) == 0);
    CHECK(strstr(text.data, "\"reports\": ["));
    CHECK(strstr(text.data, "\"kernel\": \"ends\", \"verdict\": \"clean\", \"scope\": \"every-launch\""));
    CHECK(strstr(text.data, "\"kernel\": \"hangs\", \"verdict\": \"findings\""));
    CHECK(strstr(text.data, "\"rule\": \"deadlock.no-producer\""));
    clear();
    options.format = WEIR_HTML;
    CHECK(weir_result_write(input.report, &options, append, &text) == -1);
    CHECK(text.size == 0);
    close_input(&input);

    clear();
    options.format = WEIR_JSON;
    weir_writer *reports = weir_writer_begin(&options, append, &text);
    weir_writer_error(reports, "gone.ttgir", "it is gone");
    CHECK(weir_writer_end(reports) == 0);
    CHECK(strstr(text.data, "\"verdict\": \"error\""));
    CHECK(strstr(text.data, "{\"reason\": \"it is gone\""));
    CHECK(!strstr(text.data, "\"reports\""));
}

/* ---- What makes no sense ----------------------------------------------------------------------- */

static void explain_errors(weir_context *weir) {
    static const weir_run_options no_kernel = {.kernel = "wild"}, trail = {.replay = "k.trail"};
    static const struct {
        const char *ir;
        const weir_run_options *options;
        const char *said;
    } cases[] = {
        {ends, &no_kernel, "k.ttgir: error: there is no kernel 'wild'; there is @ends\n"},
        {ends, &trail, "k.ttgir: error: a barrier report is about launches, not about a trail\n"},
        {"tt.func @f() {\n  \"use\"(%x) : (i32) -> ()\n  tt.return\n}\n", NULL,
         "k.ttgir:2:9: error: '%x' is not defined"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Input input = open_text(weir, cases[i].ir, 0, cases[i].options);
        CHECK(weir_result_verdict(input.report) == WEIR_VERDICT_ERROR);
        CHECK(weir_report_count(input.report) == 0);
        clear();
        CHECK(weir_result_errors(input.report, 0, append, &text) == 0);
        CHECK(strncmp(text.data, cases[i].said, strlen(cases[i].said)) == 0);
        clear();
        CHECK(weir_result_write(input.report, &as_text, append, &text) == 0 && text.size == 0);
        weir_write_options options = {.subject = WEIR_REPORTS, .format = WEIR_JSON};
        CHECK(weir_result_write(input.report, &options, append, &text) == 0);
        CHECK(strstr(text.data, "\"verdict\": \"error\""));
        CHECK(!weir_compare(input.report, 0, input.report, 0));
        close_input(&input);
    }
    int64_t buffer = 12345;
    Input input = open_text(weir, ends, 0, &(weir_run_options){.buffer = &buffer});
    CHECK(weir_result_verdict(input.report) == WEIR_VERDICT_ERROR);
    clear();
    CHECK(weir_result_errors(input.report, 0, append, &text) == 0);
    CHECK(strncmp(text.data, "k.ttgir: error: there is no buffer with buffer.id 12345", 55) == 0);
    close_input(&input);

    input = open_text(weir, "module {\n}\n", 0, NULL);
    CHECK(weir_result_verdict(input.report) == WEIR_VERDICT_CLEAN);
    CHECK(weir_report_count(input.report) == 1);
    weir_write_options options = {.subject = WEIR_REPORTS, .format = WEIR_JSON};
    clear();
    CHECK(weir_result_write(input.report, &options, append, &text) == 0);
    CHECK(strstr(text.data, "\"nothing\": \"There is no kernel in it"));
    close_input(&input);
}

/* ---- Modules ----------------------------------------------------------------------------------- */

static void pick_a_module(weir_context *weir) {
    weir_file *file = weir_open_buffer(weir, "k.log", pass_log, strlen(pass_log));
    const char *why = NULL;
    CHECK(weir_file_is_pass_log(file) && weir_module_count(file) == 2);
    CHECK(weir_pick_module(file, &why) == 0);
    CHECK(strcmp(why, "the latest with barriers") == 0);
    weir_close(file);

    Input input = open_text(weir, pass_log, 0, &(weir_run_options){.why = why});
    weir_write_options options = {.subject = WEIR_REPORTS, .format = WEIR_JSON};
    clear();
    CHECK(weir_result_write(input.report, &options, append, &text) == 0);
    CHECK(strstr(text.data, "\"module\": \"1: after First, the latest with barriers\""));
    close_input(&input);
}

/* ---- Differences ------------------------------------------------------------------------------- */

static void compare_kernels(weir_context *weir) {
    Input old = open_text(weir, ends, 0, NULL), new = open_text(weir, hangs, 0, NULL);
    weir_result *difference = weir_compare(old.report, 0, old.report, 0);
    CHECK(difference && weir_item_count(difference, WEIR_ITEM_DIFFERENCE) == 0);
    CHECK(!*weir_item_at(difference, WEIR_ITEM_DIFFERENCE, 0).text);
    clear();
    CHECK(weir_result_write(difference, &differing, append, &text) == 0);
    CHECK(strcmp(text.data, "k.ttgir @ends and k.ttgir @ends: no difference\n") == 0);
    weir_result_free(difference);

    difference = weir_compare(old.report, 0, new.report, 0);
    CHECK(difference && weir_item_count(difference, WEIR_ITEM_DIFFERENCE) > 0);
    weir_item last =
        weir_item_at(difference, WEIR_ITEM_DIFFERENCE, weir_item_count(difference, WEIR_ITEM_DIFFERENCE) - 1);
    CHECK(strcmp(last.name, "verdict") == 0);
    CHECK(strcmp(last.text, "finding deadlock.no-producer") == 0);
    CHECK(!*last.old_text && *last.new_text);
    for (weir_format format = WEIR_TEXT; format <= WEIR_HTML; format++) {
        weir_write_options options = {.subject = WEIR_DIFFERENCES, .format = format, .width = 80};
        int expected = format <= WEIR_MARKDOWN ? 0 : -1;
        CHECK(weir_result_write(difference, &options, append, &text) == expected);
    }
    CHECK(weir_result_write(difference, &differing, refuse, NULL) == -1);
    CHECK(!weir_compare(old.report, 1, new.report, 0));
    weir_result_free(difference);
    close_input(&old);
    close_input(&new);
}

int main(void) {
    weir_context *weir = weir_create();
    if (!weir)
        return 1;
    write_formats(weir);
    write_several(weir);
    explain_errors(weir);
    pick_a_module(weir);
    compare_kernels(weir);
    weir_destroy(weir);
    return failures ? 1 : 0;
}
