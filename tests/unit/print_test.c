/* ir/print: a module as it was written. */
#include "reading.h"

/* Texts in the layout of MLIR's own printer come out byte for byte. */
static void what_mlir_prints_is_printed_the_same(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",
        "module {\n"
        "}\n",
        "module @name attributes {\"ttg.num-warps\" = 4 : i32, flag, u = unit} {\n"
        "}\n",
        "builtin.module {\n"
        "}\n",
        "#a = #ttg.blocked<{order = [0]}>\n"
        "!t = tensor<4xi32, #a>\n"
        "#map = affine_map<(d0, d1) -> (d0 + d1)>\n"
        "#set = affine_set<(d0) : (d0 >= 0, d0 - 4 <= 0)>\n"
        "#loc = loc(\"x.py\":1:2)\n",
        "{-#\n"
        "  dialect_resources: {\n"
        "    builtin: { blob: \"0x00\" } // kept\n"
        "  }\n"
        "#-}\n",
        /* functions */
        "tt.func public @f(%a: i32 {tt.divisibility = 16 : i32} loc(\"a\"), %b: f32) -> (i32 {x.y}, f32) attributes "
        "{noinline = false} {\n"
        "  tt.return %a, %b : i32, f32\n"
        "} loc(unknown)\n",
        "tt.func private @declared(i32, f32 {x.y}) -> i32\n"
        "tt.func private @named(%x: i32 loc(\"x\"))\n"
        "tt.func private @nothing()\n"
        "tt.func @\"quoted name\"() -> (i32)\n"
        "llvm.func internal @linkage(i32, ...) attributes {passthrough = [\"nounwind\"]}\n",
        "func.func @shorthand(%x: i32) -> i32 {\n"
        "  return %x : i32\n"
        "}\n",
        /* values, packs and unnamed results */
        "%a:2, %b = \"make\"() : () -> (i1, i2, i3)\n"
        "%c:1 = \"make\"() : () -> i4\n"
        "\"make\"() : () -> i5\n"
        "\"use\"(%a, %a#0, %a#1, %b, %b#0, %c, %c#0) : (i1, i1, i2, i3, i3, i4, i4) -> ()\n",
        /* blocks */
        "tt.func @f(%c: i1, %x: i32) {\n"
        "  cf.cond_br %c, ^bb1(%x, %c : i32, i1), ^exit\n"
        "^bb1(%a: i32, %b: i1 loc(\"b\")):\n"
        "  cf.br ^exit\n"
        "^exit:\n"
        "  tt.return\n"
        "}\n",
        /* the generic form, as it was written */
        "%0 = \"outer\"() <{p = 1 : i8, q}> ({\n"
        "^bb0(%x: i32):\n"
        "  \"br\"(%x)[^bb0, ^bb1] : (i32) -> ()\n"
        "^bb1:\n"
        "  \"end\"() : () -> ()\n"
        "}, {\n"
        "  \"end\"() : () -> ()\n"
        "}, {}) {k = {l = [1, \"a\"]}, m} : () -> (i32)\n",
        "\"types\"() : () -> (tensor<4x?xf32>, !x.y<\"a  b\">, (i32) -> f32)\n",
        /* locations */
        "\"a\"() : () -> () loc(callsite(\"f\"(#loc) at fused<{x = 1}>[unknown, \"a.py\":3:4 to 5:6]))\n"
        "#loc = loc(?)\n",
        /* an op that is not known */
        "my.op  with   its own{layout}\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        Reading *reading = read_text(texts[i]);
        assert_true(reading->ok);
        char *found = printed(reading, PRINT_AS_WRITTEN);
        assert_string_equal(found, texts[i]);
        free(found);
        done(reading);
    }
}

/* Other layouts become that layout, token for token; comments go. */
static void other_layouts_become_mlirs(void **state) {
    (void)state;
    assert_prints("module\n"
                  "{tt.func @f (%x : i32 ,%y:tensor < 4xf32 >)->i32\n"
                  "  attributes{a=1:i32}{\n"
                  "     // a comment\n"
                  "     %0=arith.addi %x,\t%x:i32 tt.return %0:i32 } }\r\n",
                  PRINT_AS_WRITTEN,
                  "module {\n"
                  "  tt.func @f(%x: i32, %y: tensor < 4xf32 >) -> i32 attributes {a=1:i32} {\n"
                  "    %0 = arith.addi %x, %x : i32\n"
                  "    tt.return %0 : i32\n"
                  "  }\n"
                  "}\n");
    assert_prints("scf.if %c { gpu.barrier } else { }\n%c = \"c\"() : () -> i1", PRINT_AS_WRITTEN,
                  "scf.if %c {\n"
                  "  gpu.barrier\n"
                  "} else {\n"
                  "}\n"
                  "%c = \"c\"() : () -> i1\n");
}

/* Text inside a type or an attribute keeps its spaces, but not its line ends and comments. */
static void attributes_are_put_on_one_line(void **state) {
    (void)state;
    assert_prints("\"op\"() {a = [1,   2, // two\n"
                  "             3],\n"
                  "        b = \"x  //  y\"} : () -> ()\n",
                  PRINT_AS_WRITTEN, "\"op\"() {a = [1, 2, 3], b = \"x  //  y\"} : () -> ()\n");
}

/* What was left out in the text is left out in print: yields, empty dictionaries, the holder of partitions. */
static void nothing_is_added(void **state) {
    (void)state;
    static const char *const texts[] = {
        "scf.if %c {\n"
        "}\n"
        "%c = \"c\"() : () -> i1\n",
        "scf.if %c {\n"
        "} {}\n"
        "%c = \"c\"() : () -> i1\n",
        "ttg.warp_specialize()\n"
        "default {\n"
        "  ttg.warp_yield\n"
        "}\n"
        "partition0() num_warps(4) {\n"
        "  ttg.warp_return\n"
        "} : () -> ()\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_prints(texts[i], PRINT_AS_WRITTEN, texts[i]);
}

/* Whatever is printed is printed the same when read again. */
static void printing_is_a_fixed_point(void **state) {
    (void)state;
    static const char *const texts[] = {
        "module{tt.func @f(){tt.return}}",
        "tt.func@f(%a:i32){ my.op  { x  =  1 }\n %0 = my.other %a , // c\n  %a\n tt.return }",
        "%a : 2=\"x\"():()->(i32,i32) \"y\"(%a#1,%a):(i32,i32)->()",
        "my.region {\n      %0 = \"a\"() : () -> i32\n\n  // comment\n        \"b\"(%0) : (i32) -> ()\n}\n",
        "#a=1:i32 module attributes{a=#a}{}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        Reading *reading = read_text(texts[i]);
        assert_true(reading->ok);
        char *once = printed(reading, PRINT_AS_WRITTEN);
        done(reading);
        reading = read_text(once);
        assert_true(reading->ok);
        char *twice = printed(reading, PRINT_AS_WRITTEN);
        assert_string_equal(twice, once);
        free(once);
        free(twice);
        done(reading);
    }
}

static bool refuse(void *to, const char *data, size_t size) {
    (void)to, (void)data, (void)size;
    return false;
}

/* A writer that cannot go on is noticed, and stops the printing from growing without end. */
static void a_failing_sink_is_noticed(void **state) {
    (void)state;
    Reading *reading = read_good("module {\n}\n");
    Text text = {.sink = refuse};
    print_module(&reading->module, PRINT_AS_WRITTEN, &text);
    assert_false(text_flush(&text));
    text_free(&text);
    done(reading);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_mlir_prints_is_printed_the_same),
        cmocka_unit_test(other_layouts_become_mlirs),
        cmocka_unit_test(attributes_are_put_on_one_line),
        cmocka_unit_test(nothing_is_added),
        cmocka_unit_test(printing_is_a_fixed_point),
        cmocka_unit_test(a_failing_sink_is_noticed),
    };
    return cmocka_run_group_tests_name("print", tests, NULL, NULL);
}
