/* ir/print: MLIR's generic form: the properties, segment sizes and regions that the dialect has, worked out from the
 * op's row, as mlir-opt and triton-opt print them with -mlir-print-op-generic (but for defaults, which are left out).
 */
#include "reading.h"

/* ---- Attributes -------------------------------------------------------------------------------- */

/* Ops over these values, alone in their module. */
static const char values[] = "%i = \"v\"() : () -> i32\n"
                             "%f = \"v\"() : () -> f32\n"
                             "%c = \"v\"() : () -> i1\n"
                             "%p = \"v\"() : () -> !tt.ptr<f32>\n"
                             "%t = \"v\"() : () -> tensor<4xf32>\n"
                             "%m = \"v\"() : () -> !ttg.memdesc<1xi64, #ttg.s, #ttg.m>\n"
                             "%k = \"v\"() : () -> !ttg.async.token\n"
                             "%d = \"v\"() : () -> !tt.tensordesc<4x4xf32>\n";

/* `op` after the values above has this generic form. */
static void check_op_prints(const char *op, const char *generic) {
    Text text = {0}, expected = {0};
    text_addf(&text, "%s%s\n", values, op);
    text_addf(&expected, "%s%s\n", values, generic);
    text_char(&text, 0);
    text_char(&expected, 0);
    assert_prints(text.data, PRINT_GENERIC, expected.data);
    text_free(&text);
    text_free(&expected);
}

static void each_kind_of_attribute(void **state) {
    (void)state;
    static const struct {
        const char *op, *generic;
    } cases[] = {
        /* an integer takes the type that the row says */
        {"ttng.init_barrier %m, 1 : !ttg.memdesc<1xi64, #ttg.s, #ttg.m>",
         "\"ttng.init_barrier\"(%m) <{count = 1 : i32}> : (!ttg.memdesc<1xi64, #ttg.s, #ttg.m>) -> ()"},
        {"rocdl.s.setprio 2", "\"rocdl.s.setprio\"() <{priority = 2 : i16}> : () -> ()"},
        /* a boolean, a string, a symbol, a symbol's own name */
        {"%0 = amdg.tdm_prefetch %d[%i, %i], %c, speculative = true : !tt.tensordesc<4x4xf32> -> tensor<4xi64>",
         "%0 = \"amdg.tdm_prefetch\"(%d, %i, %i, %c) <{speculative = true}> : (!tt.tensordesc<4x4xf32>, i32, i32, i1) "
         "-> tensor<4xi64>"},
        {"tt.assert %c, \"a \\22b\\22\" : i1", "\"tt.assert\"(%c) <{message = \"a \\22b\\22\"}> : (i1) -> ()"},
        {"%0 = tt.call @f(%i) : (i32) -> f32", "%0 = \"tt.call\"(%i) <{callee = @f}> : (i32) -> f32"},
        {"module @name {\n}", "\"builtin.module\"() <{sym_name = \"name\"}> ({\n^bb0:\n}) : () -> ()"},
        {"module @\"a b\" {\n}", "\"builtin.module\"() <{sym_name = \"a b\"}> ({\n^bb0:\n}) : () -> ()"},
        /* a unit is its name alone */
        {"%0 = tt.reshape %t allow_reorder : tensor<4xf32> -> tensor<2x2xf32>",
         "%0 = \"tt.reshape\"(%t) <{allow_reorder}> : (tensor<4xf32>) -> tensor<2x2xf32>"},
        /* integers in brackets are a dense array of the row's type */
        {"%0 = ttg.memdesc_subslice %m[0, 8]  : !ttg.memdesc<1xi64, #ttg.s, #ttg.m> -> !ttg.memdesc<1xi64, #ttg.s, "
         "#ttg.m>",
         "%0 = \"ttg.memdesc_subslice\"(%m) <{offsets = array<i32: 0, 8>}> : (!ttg.memdesc<1xi64, #ttg.s, #ttg.m>) -> "
         "!ttg.memdesc<1xi64, #ttg.s, #ttg.m>"},
        {"%0 = amdg.extract_slice %t [0] : tensor<4xf32> to tensor<2xf32>",
         "%0 = \"amdg.extract_slice\"(%t) <{static_offsets = array<i64: 0>}> : (tensor<4xf32>) -> tensor<2xf32>"},
        /* any attribute */
        {"%0 = arith.constant dense<1.0> : tensor<4xf32>",
         "%0 = \"arith.constant\"() <{value = dense<1.0> : tensor<4xf32>}> : () -> tensor<4xf32>"},
        {"%0 = arith.constant true", "%0 = \"arith.constant\"() <{value = true}> : () -> i1"},
        /* a word of an enumeration is its number, or an attribute of the dialect */
        {"%0 = tt.get_program_id y : i32", "%0 = \"tt.get_program_id\"() <{axis = 1 : i32}> : () -> i32"},
        {"%0 = arith.cmpi sgt, %i, %i : i32", "%0 = \"arith.cmpi\"(%i, %i) <{predicate = 4 : i64}> : (i32, i32) -> i1"},
        {"%0 = gpu.thread_id z", "%0 = \"gpu.thread_id\"() <{dimension = #gpu<dim z>}> : () -> index"},
        {"%0 = llvm.icmp \"ult\" %i, %i : i32",
         "%0 = \"llvm.icmp\"(%i, %i) <{predicate = 6 : i64}> : (i32, i32) -> i1"},
        /* several words are the sum of their numbers, or stand together */
        {"ttg.barrier local|global_read", "\"ttg.barrier\"() <{addrSpace = 3 : i32}> : () -> ()"},
        {"%0 = arith.addf %f, %f fastmath<nnan,contract> : f32",
         "%0 = \"arith.addf\"(%f, %f) <{fastmath = #arith.fastmath<nnan,contract>}> : (f32, f32) -> f32"},
        {"%0 = arith.addi %i, %i overflow<nsw, nuw> : i32",
         "%0 = \"arith.addi\"(%i, %i) <{overflowFlags = #arith.overflow<nsw, nuw>}> : (i32, i32) -> i32"},
        /* of a dictionary, what belongs to the op goes to the properties; they are sorted, as MLIR sorts them */
        {"%0 = tt.make_range {start = 0 : i32, tag = 1 : i8, end = 4 : i32, \"a-b\"} : tensor<4xi32>",
         "%0 = \"tt.make_range\"() <{end = 4 : i32, start = 0 : i32}> {\"a-b\", tag = 1 : i8} : () -> tensor<4xi32>"},
        {"ttg.local_barrier {x}", "\"ttg.local_barrier\"() {x} : () -> ()"},
        {"ttg.local_barrier {}", "\"ttg.local_barrier\"() : () -> ()"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_op_prints(cases[i].op, cases[i].generic);
}

/* ---- Operands and results ---------------------------------------------------------------------- */

static void each_kind_of_segment(void **state) {
    (void)state;
    static const struct {
        const char *op, *generic;
    } cases[] = {
        /* one that varies needs no sizes */
        {"%0 = ttg.async_wait %k, %k {num = 0 : i32}", "%0 = \"ttg.async_wait\"(%k, %k) <{num = 0 : i32}> : "
                                                       "(!ttg.async.token, !ttg.async.token) -> !ttg.async.token"},
        /* two that vary do */
        {"%0 = tt.load %p : !tt.ptr<f32>",
         "%0 = \"tt.load\"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (!tt.ptr<f32>) -> f32"},
        {"%0 = tt.load %p, %c, %f : !tt.ptr<f32>",
         "%0 = \"tt.load\"(%p, %c, %f) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (!tt.ptr<f32>, i1, f32) -> f32"},
        {"ttng.wait_barrier %m, %i deps %m, %m : !ttg.memdesc<1xi64, #ttg.s, #ttg.m>, "
         "!ttg.memdesc<1xi64, #ttg.s, #ttg.m>, !ttg.memdesc<1xi64, #ttg.s, #ttg.m>",
         "\"ttng.wait_barrier\"(%m, %i, %m, %m) <{operandSegmentSizes = array<i32: 1, 1, 0, 2>}> : "
         "(!ttg.memdesc<1xi64, #ttg.s, #ttg.m>, i32, !ttg.memdesc<1xi64, #ttg.s, #ttg.m>, "
         "!ttg.memdesc<1xi64, #ttg.s, #ttg.m>) -> ()"},
        /* an entry that only some releases have counts where it is used */
        {"%0 = tt.make_tensor_descriptor %p, [%i], [%l] : !tt.ptr<f32>, !tt.tensordesc<4xf32>\n"
         "%l = \"v\"() : () -> i64",
         "%0 = \"tt.make_tensor_descriptor\"(%p, %i, %l) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : "
         "(!tt.ptr<f32>, i32, i64) -> !tt.tensordesc<4xf32>\n"
         "%l = \"v\"() : () -> i64"},
        {"%0 = tt.make_tensor_descriptor %p, [%i], [%l], descPtr = %p : !tt.ptr<f32> : !tt.ptr<f32>, "
         "!tt.tensordesc<4xf32>\n"
         "%l = \"v\"() : () -> i64",
         "%0 = \"tt.make_tensor_descriptor\"(%p, %i, %l, %p) <{operandSegmentSizes = array<i32: 1, 1, 1, 1>}> : "
         "(!tt.ptr<f32>, i32, i64, !tt.ptr<f32>) -> !tt.tensordesc<4xf32>\n"
         "%l = \"v\"() : () -> i64"},
        /* operands stand in the order of the dialect, not of the text */
        {"tt.descriptor_store %d[%i, %i], %t : !tt.tensordesc<4x4xf32>, tensor<4xf32>",
         "\"tt.descriptor_store\"(%d, %t, %i, %i) : (!tt.tensordesc<4x4xf32>, tensor<4xf32>, i32, i32) -> ()"},
        /* results */
        {"%0, %1 = ttng.tmem_alloc : () -> (!ttg.memdesc<4xf32, #ttng.t, #ttng.m>, !ttg.async.token)",
         "%0, %1 = \"ttng.tmem_alloc\"() : () -> (!ttg.memdesc<4xf32, #ttng.t, #ttng.m>, !ttg.async.token)"},
        {"%0:2 = ttng.warp_group_dot_wait %t, %t {pendings = 0 : i32} : tensor<4xf32>, tensor<4xf32>",
         "%0:2 = \"ttng.warp_group_dot_wait\"(%t, %t) <{pendings = 0 : i32}> : (tensor<4xf32>, tensor<4xf32>) -> "
         "(tensor<4xf32>, tensor<4xf32>)"},
        {"%0 = \"f\"() : () -> (() -> i32)", "%0 = \"f\"() : () -> (() -> i32)"},
        /* types that the text left out or wrote without their name are there */
        {"ttg.local_dealloc %m : <1xi64, #ttg.s, #ttg.m>",
         "\"ttg.local_dealloc\"(%m) : (!ttg.memdesc<1xi64, #ttg.s, #ttg.m>) -> ()"},
        /* what was in the generic form stays as it is */
        {"%0 = \"tt.load\"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>}> {x} : (!tt.ptr<f32>) -> (f32)",
         "%0 = \"tt.load\"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>}> {x} : (!tt.ptr<f32>) -> (f32)"},
        /* older names stay */
        {"%0 = triton_gpu.async_wait {num = 0 : i32}",
         "%0 = \"triton_gpu.async_wait\"() <{num = 0 : i32}> : () -> !ttg.async.token"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_op_prints(cases[i].op, cases[i].generic);
}

/* ---- Regions ----------------------------------------------------------------------------------- */

static void each_kind_of_region(void **state) {
    (void)state;
    static const struct {
        const char *text, *generic;
    } cases[] = {
        /* A function: its type, its arguments' attributes, its visibility. */
        {"tt.func public @f(%x: i32 {a.b = 1 : i32}, %y: f32) -> (i32 {c.d}) attributes {noinline = false} {\n"
         "  tt.return %x : i32\n"
         "}\n",
         "\"tt.func\"() <{arg_attrs = [{a.b = 1 : i32}, {}], function_type = (i32, f32) -> i32, res_attrs = [{c.d}], "
         "sym_name = \"f\", sym_visibility = \"public\"}> ({\n"
         "^bb0(%x: i32, %y: f32):\n"
         "  \"tt.return\"(%x) : (i32) -> ()\n"
         "}) {noinline = false} : () -> ()\n"},
        {"tt.func private @f(i32) -> (i32, f32)\n", "\"tt.func\"() <{function_type = (i32) -> (i32, f32), sym_name = "
                                                    "\"f\", sym_visibility = \"private\"}> ({}) : () "
                                                    "-> ()\n"},
        /* Blocks: an entry block has a label only if it needs one. */
        {"tt.func @f(%c: i1) {\n"
         "  cf.cond_br %c, ^bb1(%c : i1), ^bb2\n"
         "^bb1(%d: i1):\n"
         "  cf.br ^bb2\n"
         "^bb2:\n"
         "  tt.return\n"
         "}\n",
         "\"tt.func\"() <{function_type = (i1) -> (), sym_name = \"f\"}> ({\n"
         "^bb0(%c: i1):\n"
         "  \"cf.cond_br\"(%c, %c)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (i1, i1) -> ()\n"
         "^bb1(%d: i1):\n"
         "  \"cf.br\"()[^bb2] : () -> ()\n"
         "^bb2:\n"
         "  \"tt.return\"() : () -> ()\n"
         "}) : () -> ()\n"},
        /* A loop: its variable and what it carries are arguments; the yield that was left out is there. */
        {"tt.func @f(%n: i32, %x: f32) {\n"
         "  %r = scf.for %i = %n to %n step %n iter_args(%a = %x) -> (f32)  : i32 {\n"
         "    scf.yield %a : f32\n"
         "  } {tag}\n"
         "  scf.for %i = %n to %n step %n  : i32 {\n"
         "  }\n"
         "  tt.return\n"
         "}\n",
         "\"tt.func\"() <{function_type = (i32, f32) -> (), sym_name = \"f\"}> ({\n"
         "^bb0(%n: i32, %x: f32):\n"
         "  %r = \"scf.for\"(%n, %n, %n, %x) ({\n"
         "  ^bb0(%i: i32, %a: f32):\n"
         "    \"scf.yield\"(%a) : (f32) -> ()\n"
         "  }) {tag} : (i32, i32, i32, f32) -> f32\n"
         "  \"scf.for\"(%n, %n, %n) ({\n"
         "  ^bb0(%i: i32):\n"
         "    \"scf.yield\"() : () -> ()\n"
         "  }) : (i32, i32, i32) -> ()\n"
         "  \"tt.return\"() : () -> ()\n"
         "}) : () -> ()\n"},
        /* A branch that was not written is an empty region. */
        {"scf.if %c {\n"
         "}\n"
         "%c = \"c\"() : () -> i1\n",
         "\"scf.if\"(%c) ({\n"
         "  \"scf.yield\"() : () -> ()\n"
         "}, {}) : (i1) -> ()\n"
         "%c = \"c\"() : () -> i1\n"},
        /* The default region of a switch comes first. */
        {"scf.index_switch %n\n"
         "case 2 {\n"
         "  scf.yield\n"
         "}\n"
         "case -5 {\n"
         "  scf.yield {tag}\n"
         "}\n"
         "default {\n"
         "  gpu.barrier\n"
         "}\n"
         "%n = \"n\"() : () -> index\n",
         "\"scf.index_switch\"(%n) <{cases = array<i64: 2, -5>}> ({\n"
         "  \"gpu.barrier\"() : () -> ()\n"
         "  \"scf.yield\"() : () -> ()\n"
         "}, {\n"
         "  \"scf.yield\"() : () -> ()\n"
         "}, {\n"
         "  \"scf.yield\"() {tag} : () -> ()\n"
         "}) : (index) -> ()\n"
         "%n = \"n\"() : () -> index\n"},
        /* The partitions are in an op of their own. */
        {"ttg.warp_specialize(%x) attributes {requestedRegisters = array<i32: 24>}\n"
         "default {\n"
         "  ttg.warp_yield\n"
         "}\n"
         "partition0(%a: i32) num_warps(4) {\n"
         "  ttg.warp_return\n"
         "} : (i32) -> ()\n"
         "%x = \"x\"() : () -> i32\n",
         "\"ttg.warp_specialize\"(%x) <{partitionNumWarps = array<i32: 4>, requestedRegisters = array<i32: 24>}> ({\n"
         "  \"ttg.warp_yield\"() : () -> ()\n"
         "}, {\n"
         "  \"ttg.warp_specialize.partitions\"() ({\n"
         "  ^bb0(%a: i32):\n"
         "    \"ttg.warp_return\"() : () -> ()\n"
         "  }) : () -> ()\n"
         "}) : (i32) -> ()\n"
         "%x = \"x\"() : () -> i32\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_prints(cases[i].text, PRINT_GENERIC, cases[i].generic);
}

/* A reader that does not know which ops are isolated sees one scope: a name that hides another gets a new one. */
static void hidden_names_are_renamed(void **state) {
    (void)state;
    assert_prints("tt.func @f(%x: i32) {\n"
                  "  ttg.warp_specialize(%x)\n"
                  "  default {\n"
                  "    ttg.warp_yield\n"
                  "  }\n"
                  "  partition0(%x: i32) num_warps(4) {\n"
                  "    %0:2 = \"use\"(%x) : (i32) -> (i32, i32)\n"
                  "    \"use\"(%0#1) : (i32) -> ()\n"
                  "    ttg.warp_return\n"
                  "  } : (i32) -> ()\n"
                  "  %0 = arith.addi %x, %x : i32\n"
                  "  tt.return\n"
                  "}\n",
                  PRINT_GENERIC,
                  "\"tt.func\"() <{function_type = (i32) -> (), sym_name = \"f\"}> ({\n"
                  "^bb0(%x: i32):\n"
                  "  \"ttg.warp_specialize\"(%x) <{partitionNumWarps = array<i32: 4>}> ({\n"
                  "    \"ttg.warp_yield\"() : () -> ()\n"
                  "  }, {\n"
                  "    \"ttg.warp_specialize.partitions\"() ({\n"
                  "    ^bb0(%wx_0: i32):\n"
                  "      %w0_1:2 = \"use\"(%wx_0) : (i32) -> (i32, i32)\n"
                  "      \"use\"(%w0_1#1) : (i32) -> ()\n"
                  "      \"ttg.warp_return\"() : () -> ()\n"
                  "    }) : () -> ()\n"
                  "  }) : (i32) -> ()\n"
                  "  %0 = \"arith.addi\"(%x, %x) : (i32, i32) -> i32\n"
                  "  \"tt.return\"() : () -> ()\n"
                  "}) : () -> ()\n");
}

/* The label that an entry block gets is one that no other block of its region has. */
static void entry_labels_are_new(void **state) {
    (void)state;
    Reading *reading = read_good("tt.func @f(%x: i32) {\n"
                                 "  cf.br ^bb0\n"
                                 "^bb0:\n"
                                 "  cf.br ^bb_entry\n"
                                 "^bb_entry:\n"
                                 "  tt.return\n"
                                 "}\n");
    char *generic = printed(reading, PRINT_GENERIC);
    done(reading);
    done(read_good(generic));
    free(generic);
}

/* The generic form, read again, is printed the same. */
static void reads_its_own_output(void **state) {
    (void)state;
    Reading *reading = read_good("#e = #ttg.e\n"
                                 "module attributes {\"ttg.num-warps\" = 4 : i32} {\n"
                                 "  tt.func public @f(%p: tensor<4x!tt.ptr<f32>, #e>, %c: i1, %n: index) {\n"
                                 "    %0 = tt.load %p evictionPolicy = evict_last : tensor<4x!tt.ptr<f32>, #e>\n"
                                 "    %1 = scf.for %i = %n to %n step %n iter_args(%a = %0) -> (tensor<4xf32, #e>) {\n"
                                 "      %2 = arith.addf %a, %0 fastmath<fast> : tensor<4xf32, #e>\n"
                                 "      scf.yield %2 : tensor<4xf32, #e>\n"
                                 "    }\n"
                                 "    scf.if %c {\n"
                                 "      tt.store %p, %1 : tensor<4x!tt.ptr<f32>, #e>\n"
                                 "    }\n"
                                 "    tt.return\n"
                                 "  }\n"
                                 "}\n");
    char *once = printed(reading, PRINT_GENERIC);
    done(reading);
    reading = read_good(once);
    char *as_written = printed(reading, PRINT_AS_WRITTEN), *again = printed(reading, PRINT_GENERIC);
    assert_string_equal(as_written, once);
    assert_string_equal(again, once);
    free(once);
    free(as_written);
    free(again);
    done(reading);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_of_attribute), cmocka_unit_test(each_kind_of_segment),
        cmocka_unit_test(each_kind_of_region),    cmocka_unit_test(hidden_names_are_renamed),
        cmocka_unit_test(entry_labels_are_new),   cmocka_unit_test(reads_its_own_output),
    };
    return cmocka_run_group_tests_name("generic", tests, NULL, NULL);
}
