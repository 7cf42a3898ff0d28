/* A program as something outside this tree would write it: the public header, the shared library, nothing else. It goes
 * once through everything that weir/weir.h offers. Exit status 0 if all is as it should be, else 1 and what is not. */
#include <weir/ptx.h>
#include <weir/weir.h>

#include "expect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int same(weir_string string, const char *expected) {
    return string.size == strlen(expected) && memcmp(string.data, expected, string.size) == 0;
}

/* ---- Printing into a buffer -------------------------------------------------------------------- */

typedef struct Buffer {
    char data[8192];
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

/* ---- A kernel ---------------------------------------------------------------------------------- */

static const char kernel[] = "#blocked = #ttg.blocked<{sizePerThread = [1], order = [0]}>\n"
                             "module attributes {\"ttg.num-warps\" = 4 : i32} {\n"
                             "  tt.func public @kernel(%p: tensor<4x!tt.ptr<f32>, #blocked>, %c: i1) {\n"
                             "    %0 = tt.load %p evictionPolicy = evict_last : tensor<4x!tt.ptr<f32>, #blocked>\n"
                             "    scf.if %c {\n"
                             "      tt.store %p, %0 : tensor<4x!tt.ptr<f32>, #blocked>\n"
                             "    }\n"
                             "    my.op %0\n"
                             "    tt.return\n"
                             "  }\n"
                             "}\n";

static const char kernel_generic[] =
    "#blocked = #ttg.blocked<{sizePerThread = [1], order = [0]}>\n"
    "\"builtin.module\"() ({\n"
    "  \"tt.func\"() <{function_type = (tensor<4x!tt.ptr<f32>, #blocked>, i1) -> (), sym_name = \"kernel\", "
    "sym_visibility = \"public\"}> ({\n"
    "  ^bb0(%p: tensor<4x!tt.ptr<f32>, #blocked>, %c: i1):\n"
    "    %0 = \"tt.load\"(%p) <{evict = 3 : i32, operandSegmentSizes = array<i32: 1, 0, 0>}> : "
    "(tensor<4x!tt.ptr<f32>, #blocked>) -> tensor<4xf32, #blocked>\n"
    "    \"scf.if\"(%c) ({\n"
    "      \"tt.store\"(%p, %0) : (tensor<4x!tt.ptr<f32>, #blocked>, tensor<4xf32, #blocked>) -> ()\n"
    "      \"scf.yield\"() : () -> ()\n"
    "    }, {}) : (i1) -> ()\n"
    "    \"my.op\"(%0) : (tensor<4xf32, #blocked>) -> ()\n"
    "    \"tt.return\"() : () -> ()\n"
    "  }) : () -> ()\n"
    "}) {\"ttg.num-warps\" = 4 : i32} : () -> ()\n";

static void look_at_ops(weir_module *module) {
    static const struct {
        const char *name, *parent;
        uint32_t line;
        int known, implicit;
    } expected[] = {
        {"builtin.module", NULL, 2, 1, 0}, {"tt.func", "builtin.module", 3, 1, 0}, {"tt.load", "tt.func", 4, 1, 0},
        {"scf.if", "tt.func", 5, 1, 0},    {"tt.store", "scf.if", 6, 1, 0},        {"scf.yield", "scf.if", 7, 1, 1},
        {"my.op", "tt.func", 8, 0, 0},     {"tt.return", "tt.func", 9, 1, 0},
    };
    const weir_op *load = NULL, *store = NULL, *op = weir_first_op(module);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        CHECK(op);
        if (!op)
            return;
        CHECK(same(weir_op_name(op), expected[i].name));
        CHECK(weir_op_line(module, op) == expected[i].line);
        CHECK(!weir_op_known(op) == !expected[i].known);
        CHECK(!weir_op_implicit(op) == !expected[i].implicit);
        const weir_op *parent = weir_op_parent(op);
        CHECK(!parent == !expected[i].parent);
        CHECK(!parent || same(weir_op_name(parent), expected[i].parent));
        load = same(weir_op_name(op), "tt.load") ? op : load;
        store = same(weir_op_name(op), "tt.store") ? op : store;
        op = weir_next_op(op);
    }
    CHECK(!op);

    CHECK(weir_op_operand_count(load) == 1);
    CHECK(weir_op_result_count(load) == 1);
    CHECK(weir_op_region_count(load) == 0);
    CHECK(weir_op_region_count(weir_op_parent(store)) == 2);
    CHECK(same(weir_value_name(weir_op_operand(load, 0)), "p"));
    CHECK(!weir_value_definition(weir_op_operand(load, 0)));
    CHECK(!weir_op_operand(load, 1));
    CHECK(!weir_op_result(load, 1));
    CHECK(same(weir_value_name(weir_op_result(load, 0)), "0"));
    CHECK(same(weir_value_type(weir_op_result(load, 0)), "tensor<4xf32, #blocked>"));
    CHECK(weir_op_operand(store, 1) == weir_op_result(load, 0));
    CHECK(weir_value_definition(weir_op_operand(store, 1)) == load);
    CHECK(same(weir_op_attribute(load, "evict"), "evict_last"));
    CHECK(!weir_op_attribute(load, "cache").data);
    CHECK(same(weir_op_attribute(weir_first_op(module), "ttg.num-warps"), "4 : i32"));
}

static void read_a_kernel(weir_context *weir) {
    weir_file *file = weir_open_buffer(weir, "kernel.ttgir", kernel, sizeof kernel - 1);
    CHECK(file);
    if (!file)
        return;
    CHECK(strcmp(weir_file_name(file), "kernel.ttgir") == 0);
    CHECK(weir_file_size(file) == sizeof kernel - 1);
    CHECK(!weir_file_is_pass_log(file));
    CHECK(weir_module_count(file) == 1);

    weir_module *module = weir_parse(file, 0, 0);
    CHECK(module);
    CHECK(weir_module_ok(module));
    CHECK(weir_module_ops(module) == 7); /* those of the text */
    CHECK(weir_module_unknown_ops(module) == 1);
    CHECK(weir_module_memory(module) > 0);
    CHECK(weir_error_count(module) == 0);
    CHECK(weir_note_count(module) == 1);
    CHECK(weir_diagnostic_count(module) == 1);
    weir_diagnostic note = weir_diagnostic_at(module, 0);
    CHECK(note.severity == WEIR_NOTE);
    CHECK(note.line == 8 && note.column == 5);
    CHECK(strcmp(note.message, "my.op is not in the op table; it is kept as it is written") == 0);
    CHECK(strcmp(note.excerpt, "        my.op %0\n        ^\n") == 0);

    look_at_ops(module);

    Buffer buffer = {.size = 0};
    CHECK(weir_print(module, WEIR_AS_WRITTEN, append, &buffer) == 0);
    CHECK(strcmp(buffer.data, kernel) == 0);
    buffer.size = 0;
    CHECK(weir_print(module, WEIR_GENERIC, append, &buffer) == 0);
    CHECK(strcmp(buffer.data, kernel_generic) == 0);
    CHECK(weir_print(module, WEIR_GENERIC, refuse, NULL) == -1);
    static const char *const said[] = {"my.op\n    anything\n", "  piece 0, entry\n", ", of tt.func\n", "  default: "};
    for (int stage = WEIR_EFFECTS; stage <= WEIR_PROGRAM; stage++) {
        buffer.size = 0;
        CHECK(weir_print(module, (weir_form)stage, append, &buffer) == 0);
        CHECK(strstr(buffer.data, said[stage - WEIR_EFFECTS]));
        CHECK(weir_print(module, (weir_form)stage, refuse, NULL) == -1);
    }
    weir_module_free(module);

    /* The same text again, with the unknown op as an error. */
    module = weir_parse(file, 0, WEIR_STRICT);
    CHECK(module);
    CHECK(!weir_module_ok(module));
    CHECK(weir_error_count(module) == 1);
    CHECK(strcmp(weir_diagnostic_at(module, 0).message, "my.op is not in the op table") == 0);
    weir_module_free(module);

    CHECK(!weir_parse(file, 1, 0));
    CHECK(strcmp(weir_error(weir), "there is no such module") == 0);
    weir_close(file);
}

/* ---- What is wrong with a text ----------------------------------------------------------------- */

static void read_a_broken_text(weir_context *weir) {
    static const char text[] = "module {\n"
                               "  tt.func @f(%x: i32) {\n"
                               "    %0 = tt.splat %x : f32 -> tensor<4xf32>\n"
                               "    my.op\n"
                               "    \"use\"(%y) : (i32) -> ()\n"
                               "    tt.return\n"
                               "  }\n"
                               "}\n";
    weir_file *file = weir_open_buffer(weir, "broken.mlir", text, sizeof text - 1);
    weir_module *module = file ? weir_parse(file, 0, 0) : NULL;
    CHECK(module);
    if (!module)
        return;
    static const weir_diagnostic expected[] = {
        {WEIR_ERROR, 3, 19, "'%x' is used as f32 but has type i32",
         "        %0 = tt.splat %x : f32 -> tensor<4xf32>\n"
         "                      ^\n"},
        {WEIR_NOTE, 4, 5, "my.op is not in the op table; it is kept as it is written",
         "        my.op\n"
         "        ^\n"},
        {WEIR_ERROR, 5, 11, "'%y' is not defined",
         "        \"use\"(%y) : (i32) -> ()\n"
         "              ^\n"},
    };
    enum { COUNT = sizeof expected / sizeof *expected };
    CHECK(!weir_module_ok(module));
    CHECK(weir_error_count(module) == 2);
    CHECK(weir_note_count(module) == 1);
    CHECK(weir_diagnostic_count(module) == COUNT);
    for (size_t i = 0; i < COUNT && i < weir_diagnostic_count(module); i++) {
        weir_diagnostic found = weir_diagnostic_at(module, i);
        CHECK(found.severity == expected[i].severity);
        CHECK(found.line == expected[i].line);
        CHECK(found.column == expected[i].column);
        CHECK(strcmp(found.message, expected[i].message) == 0);
        CHECK(strcmp(found.excerpt, expected[i].excerpt) == 0);
    }
    /* What could be read can be looked at. */
    size_t count = 0;
    for (const weir_op *op = weir_first_op(module); op; op = weir_next_op(op))
        count++;
    CHECK(count > 0);
    weir_module_free(module);
    weir_close(file);
}

/* ---- Several modules --------------------------------------------------------------------------- */

static void read_several_modules(weir_context *weir) {
    static const char split[] = "tt.func private @first()\n"
                                "// -----\n"
                                "tt.func private @second()\n"
                                "tt.func private @third()\n";
    weir_file *file = weir_open_buffer(weir, "split.mlir", split, sizeof split - 1);
    CHECK(file);
    CHECK(!weir_file_is_pass_log(file));
    CHECK(weir_module_count(file) == 2);
    /* Modules are their own: in any order, at the same time. */
    weir_module *second = weir_parse(file, 1, 0), *first = weir_parse(file, 0, 0);
    CHECK(first && second);
    CHECK(weir_module_ops(first) == 1);
    CHECK(weir_module_ops(second) == 2);
    CHECK(weir_module_info_of(file, 1).line == 3);
    CHECK(weir_module_info_of(file, 1).size == strlen(split) - strlen("tt.func private @first()\n// -----\n"));
    weir_module_free(first);
    const weir_op *op = weir_next_op(weir_first_op(second));
    CHECK(op && same(weir_op_attribute(op, "sym_name"), "@third"));
    CHECK(!weir_next_op(op));
    weir_module_free(second);
    weir_close(file);

    static const char log[] =
        "// -----// IR Dump Before TritonGPUPipeline (tritongpu-pipeline) ('builtin.module' operation) //----- //\n"
        "module {\n"
        "}\n"
        "some noise\n"
        "// -----// IR Dump After TritonGPUPipeline (tritongpu-pipeline) ('builtin.module' operation) //----- //\n"
        "module {\n"
        "}\n";
    file = weir_open_buffer(weir, "passes.log", log, sizeof log - 1);
    CHECK(file);
    CHECK(weir_file_is_pass_log(file));
    CHECK(weir_module_count(file) == 2);
    for (size_t i = 0; i < 2; i++) {
        weir_module_info info = weir_module_info_of(file, i);
        CHECK(same(info.when, i ? "After" : "Before"));
        CHECK(same(info.pass, "TritonGPUPipeline"));
        CHECK(same(info.argument, "tritongpu-pipeline"));
        CHECK(info.header.size > 0);
        CHECK(info.line == (i ? 6 : 2));
        weir_module *module = weir_parse(file, i, 0);
        CHECK(module && weir_module_ok(module));
        weir_module_free(module);
    }
    weir_close(file);
}

/* ---- Files ------------------------------------------------------------------------------------- */

static void write_file(char *path, const char *text) {
    int descriptor = mkstemp(path);
    FILE *out = descriptor < 0 ? NULL : fdopen(descriptor, "w");
    CHECK(out);
    if (!out)
        return;
    fputs(text, out);
    fclose(out);
}

static void open_files(weir_context *weir) {
    CHECK(!weir_open(weir, "/nonexistent/kernel.ttgir"));
    CHECK(strcmp(weir_error(weir), "No such file or directory") == 0);

    char path[] = "/tmp/weir-plain-XXXXXX";
    write_file(path, kernel);
    weir_file *file = weir_open(weir, path);
    remove(path);
    CHECK(file);
    CHECK(weir_file_size(file) == sizeof kernel - 1);
    weir_module *module = weir_parse(file, 0, 0);
    CHECK(module && weir_module_ok(module));
    weir_module_free(module);
    weir_close(file);

    file = weir_open_buffer(weir, "empty", "", 0);
    CHECK(file);
    CHECK(weir_module_count(file) == 1);
    module = weir_parse(file, 0, 0);
    CHECK(module && weir_module_ok(module));
    CHECK(!weir_first_op(module));
    weir_module_free(module);
    weir_close(file);

    weir_close(NULL);
    weir_module_free(NULL);
}

/* ---- Launches in a row ------------------------------------------------------------------------- */

/* Two kernels, of which the second reads what the first has written; the launch of the second is `launch`. */
static void run_a_row(weir_context *weir, const char *launch, weir_verdict verdict) {
    static const char writer[] = "module attributes {\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 4 : i32} {\n"
                                 "  tt.func public @writer(%x: !tt.ptr<i32>) {\n"
                                 "    %one = arith.constant 1 : i32\n"
                                 "    tt.store %x, %one : !tt.ptr<i32>\n"
                                 "    tt.return\n"
                                 "  }\n"
                                 "}\n";
    static const char reader[] = "module attributes {\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 4 : i32} {\n"
                                 "  tt.func public @reader(%x: !tt.ptr<i32>) {\n"
                                 "    %0 = tt.load %x : !tt.ptr<i32>\n"
                                 "    tt.return\n"
                                 "  }\n"
                                 "}\n";
    char first_path[] = "/tmp/weir-plain-XXXXXX", second_path[] = "/tmp/weir-plain-XXXXXX";
    write_file(first_path, "{\"args\": {\"x\": {\"tensor\": {\"shape\": [1], \"buffer\": \"b\"}}}}");
    write_file(second_path, launch);
    CHECK(weir_launch_shares(first_path));
    CHECK(!weir_launch_shares("/nonexistent/kernel.launch.json"));
    weir_file *files[] = {weir_open_buffer(weir, "writer.ttgir", writer, sizeof writer - 1),
                          weir_open_buffer(weir, "reader.ttgir", reader, sizeof reader - 1)};
    weir_module *modules[] = {weir_parse(files[0], 0, 0), weir_parse(files[1], 0, 0)};
    weir_run_options options[] = {{.launch = first_path}, {.launch = second_path}};
    weir_result *results[2];
    CHECK(weir_run_row(modules, options, 2, results) == 0);
    CHECK(weir_result_verdict(results[0]) == WEIR_VERDICT_CLEAN);
    CHECK(weir_result_verdict(results[1]) == verdict);
    CHECK(weir_item_count(results[1], WEIR_ITEM_FINDING) == (verdict == WEIR_VERDICT_FINDINGS));
    if (weir_item_count(results[1], WEIR_ITEM_FINDING)) {
        weir_item finding = weir_item_at(results[1], WEIR_ITEM_FINDING, 0);
        CHECK(strcmp(finding.name, "race.raw") == 0);
        CHECK(strcmp(finding.kernel, "reader") == 0);
        CHECK(finding.ir_line == 3);
    }
    for (size_t i = 0; i < 2; i++)
        weir_result_free(results[i]);
    for (size_t i = 0; i < 2; i++) {
        weir_module_free(modules[i]);
        weir_close(files[i]);
    }
    remove(first_path);
    remove(second_path);
}

static void run_rows(weir_context *weir) {
    run_a_row(weir, "{\"args\": {\"x\": {\"tensor\": {\"shape\": [1], \"buffer\": \"b\"}}}}", WEIR_VERDICT_CLEAN);
    run_a_row(weir, "{\"stream\": 1, \"args\": {\"x\": {\"tensor\": {\"shape\": [1], \"buffer\": \"b\"}}}}",
              WEIR_VERDICT_FINDINGS);
}

static void make_a_template(weir_context *weir) {
    static const char text[] = "module attributes {\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 4 : i32} {\n"
                               "  tt.func public @one(%n: i32 {tt.divisibility = 16 : i32}) {\n    tt.return\n  }\n"
                               "  tt.func public @two() {\n    tt.return\n  }\n}\n";
    Buffer said = {0};
    weir_file *file = weir_open_buffer(weir, "k.ttgir", text, sizeof text - 1);
    weir_module *module = weir_parse(file, 0, 0);
    CHECK(weir_launch_template(module, NULL, append, &said) == 1); /* which of the two? */
    CHECK(weir_launch_template(module, "three", append, &said) == 1);
    CHECK(!said.size);
    CHECK(weir_launch_template(module, "one", refuse, NULL) == -1);
    CHECK(weir_launch_template(module, "one", append, &said) == 0);
    CHECK(strstr(said.data, "\"kernel\": \"one\"") && strstr(said.data, "\"n\": null"));
    CHECK(strstr(said.data, "\"n\": \"i32, a multiple of 16\""));
    weir_module_free(module);
    weir_close(file);
}

/* A proof asks launches: of one program along y, whatever x is; of all that a launch says. */
static void ask_a_proof(weir_context *weir) {
    static const char good[] = "{\"grid\": [7, 1, 1], \"args\": {}}", two[] = "{\"grid\": [7, 2, 1], \"args\": {}}";
    static const char broken[] = "{\"grid\": [7, 2";
    static const char text[] = "module attributes {\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 4 : i32} {\n"
                               "  tt.func public @one(%x: !tt.ptr<i32>) {\n"
                               "    %id = tt.get_program_id x : i32\n"
                               "    %at = tt.addptr %x, %id : !tt.ptr<i32>, i32\n"
                               "    tt.store %at, %id : !tt.ptr<i32>\n    tt.return\n  }\n"
                               "  tt.func public @two(%x: !tt.ptr<!tt.ptr<i32>>) {\n"
                               "    %at = tt.load %x : !tt.ptr<!tt.ptr<i32>>\n    %v = arith.constant 1 : i32\n"
                               "    tt.store %at, %v : !tt.ptr<i32>\n    tt.return\n  }\n}\n";
    const char *lacks = NULL;
    weir_file *file = weir_open_buffer(weir, "k.ttgir", text, sizeof text - 1);
    weir_module *module = weir_parse(file, 0, 0);
    weir_proof *proof = weir_proof_make(module, "one", 0), *again = weir_proof_make(module, "one", 0);
    CHECK(weir_proof_scope(proof) == 2 && weir_proof_scope(again) == 2);
    CHECK(weir_proof_covers(proof, good, sizeof good - 1, &lacks) == 1 && !lacks);
    CHECK(weir_proof_covers(proof, two, sizeof two - 1, &lacks) == 0 && strcmp(lacks, "grid.y == 1") == 0);
    CHECK(weir_proof_covers(proof, broken, sizeof broken - 1, &lacks) == -1);
    CHECK(weir_proof_covers(again, good, sizeof good - 1, NULL) == 1);
    weir_proof_free(again);
    weir_proof_free(proof);
    static const char *const others[] = {"two", "three", NULL}; /* open; not there; which? */
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        proof = weir_proof_make(module, others[i], 0);
        CHECK(weir_proof_scope(proof) == 0 && weir_proof_covers(proof, good, sizeof good - 1, &lacks) == 0);
        weir_proof_free(proof);
    }
    weir_module_free(module);
    weir_close(file);
}

/* ---- The op table ------------------------------------------------------------------------------ */

static void look_at_the_table(void) {
    CHECK(weir_table_size() > 500);
    for (size_t i = 0; i < weir_table_size(); i++) {
        weir_table_row row = weir_table_at(i);
        CHECK(row.name && row.operands && row.attributes && row.results && row.formats && row.formats[0]);
        if (strcmp(row.name, "arith.cmpi") == 0) {
            CHECK(strcmp(row.operands, "lhs rhs:same(lhs)") == 0);
            CHECK(strcmp(row.attributes, "predicate=enum.CmpIPredicate") == 0);
            CHECK(strcmp(row.results, "result:i1(lhs)") == 0);
            CHECK(strcmp(row.formats[0], "$predicate , $lhs , $rhs attr-dict : type($lhs)") == 0);
            CHECK(!row.formats[1]);
        }
    }
}

/* ---- PTX ---------------------------------------------------------------------------------------- */

/* It is read, printed and run; what is about Triton GPU IR alone says so. */
static void read_ptx(weir_context *weir) {
    static const char text[] = "// comment\n.version 8.7\n.target sm_90a\n// -----\n.entry k()\n{\n\tret;\n}\n";
    weir_file *file = weir_open_buffer(weir, "k", text, sizeof text - 1);
    CHECK(file && weir_file_is_ptx(file));
    CHECK(weir_module_count(file) == 1);
    weir_module *module = weir_parse(file, 0, 0);
    CHECK(module && weir_module_ok(module));
    CHECK(weir_module_ops(module) == 1 && weir_module_unknown_ops(module) == 0);
    CHECK(!weir_first_op(module) && weir_kernel_count(module) == 1);
    weir_ptx ptx = weir_ptx_of(module);
    CHECK(ptx.version == 87 && ptx.functions == 1 && ptx.forms == 1 && same(ptx.target, "sm_90a"));
    weir_ptx_function function = weir_ptx_function_at(module, 0);
    CHECK(same(function.name, "k") && function.entry && function.body && function.line == 5);
    CHECK(weir_ptx_form_at(module, 0).known && same(weir_ptx_form_at(module, 0).text, "ret"));
    CHECK(!weir_ptx_form_at(module, 1).text.size && !weir_ptx_function_at(module, 1).name.size);
    CHECK(weir_ptx_pick(module, "f") == 0 && weir_ptx_pick(module, "k") == 1);
    weir_result *results[] = {weir_run(module, NULL), weir_membar(module, NULL), weir_port(module, "gfx950", NULL)};
    for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
        CHECK(results[i] && weir_result_verdict(results[i]) == (i ? WEIR_VERDICT_ERROR : WEIR_VERDICT_CLEAN));
        CHECK(weir_memory(results[i], "missing", refuse, NULL) == -1);
        weir_result_free(results[i]);
    }
    weir_module_free(module);
    weir_close(file);
}

int main(void) {
    CHECK(strcmp(weir_version(), WEIR_VERSION) == 0);
    weir_context *weir = weir_create();
    CHECK(weir);
    if (!weir)
        return 1;
    read_a_kernel(weir);
    read_a_broken_text(weir);
    read_several_modules(weir);
    open_files(weir);
    read_ptx(weir);
    run_rows(weir);
    make_a_template(weir);
    ask_a_proof(weir);
    look_at_the_table();
    weir_destroy(weir);
    return failures ? 1 : 0;
}
