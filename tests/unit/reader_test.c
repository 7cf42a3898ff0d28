/* mlir/reader: the top of a file, regions and their terminators, and what is said of wrong texts. */
#include "reading.h"

/* ---- The top of a file ------------------------------------------------------------------------- */

static void items_are_kept_in_order(void **state) {
    (void)state;
    Reading *reading = read_good("#a = 1 : i32\n"
                                 "!t = tensor<4xi32>\n"
                                 "module {\n"
                                 "}\n"
                                 "#b = loc(\"x\")\n"
                                 "\"op\"() : () -> ()\n"
                                 "{-# dialect_resources: {} #-}\n");
    static const ItemKind kinds[] = {ITEM_ATTR_ALIAS, ITEM_TYPE_ALIAS, ITEM_OP,
                                     ITEM_ATTR_ALIAS, ITEM_OP,         ITEM_METADATA};
    const Item *item = reading->module.first;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++, item = item->next) {
        assert_non_null(item);
        assert_int_equal(item->kind, kinds[i]);
    }
    assert_null(item);
    assert_str_equal(reading->module.first->name, "#a");
    assert_str_equal(reading->module.first->attr->text, "1 : i32");
    assert_str_equal(reading->module.first->next->name, "!t");
    assert_int_equal(reading->module.op_count, 2);
    done(reading);
}

static void empty_texts_are_good(void **state) {
    (void)state;
    static const char *const texts[] = {"", "\n", "  \t\r\n", "// nothing", "// nothing\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        Reading *reading = read_good(texts[i]);
        assert_null(reading->module.first);
        done(reading);
    }
}

static void comments_may_stand_anywhere(void **state) {
    (void)state;
    assert_prints("// a\n"
                  "module // b\n"
                  "{ // c\n"
                  "  tt.func // d\n"
                  "  @f(%x: i32, // (e\n"
                  "     %y: i32) -> // f\n"
                  "     i32 {\n"
                  "    %0 = arith.addi %x, // g\n"
                  "      %y // \"h\n"
                  "      : i32\n"
                  "    tt.return %0 : i32 // i }\n"
                  "  }\n"
                  "} // j",
                  PRINT_AS_WRITTEN,
                  "module {\n"
                  "  tt.func @f(%x: i32, %y: i32) -> i32 {\n"
                  "    %0 = arith.addi %x, %y : i32\n"
                  "    tt.return %0 : i32\n"
                  "  }\n"
                  "}\n");
}

/* ---- Regions ----------------------------------------------------------------------------------- */

/* Where the dialect lets the text leave the yield out, it is in the IR all the same. */
static void terminators_may_be_implied(void **state) {
    (void)state;
    Reading *reading = read_good("tt.func @f(%c: i1, %n: index) {\n"
                                 "  scf.if %c {\n"
                                 "  } else {\n"
                                 "    gpu.barrier\n"
                                 "  }\n"
                                 "  scf.for %i = %n to %n step %n {\n"
                                 "    scf.yield {written}\n"
                                 "  }\n"
                                 "  tt.return\n"
                                 "}\n");
    static const bool implicit[] = {true, true, false};
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(find_op(reading, "scf.yield", i)->implicit, implicit[i]);
    assert_null(find_op(reading, "scf.yield", 3));
    assert_int_equal(reading->module.op_count, 6); /* those of the text */
    assert_ptr_equal(find_op(reading, "gpu.barrier", 0)->next, find_op(reading, "scf.yield", 1));
    done(reading);
}

/* The partitions of a warp-specialized op stand in an op of their own, as in the dialect. */
static void partitions_have_a_holder(void **state) {
    (void)state;
    Reading *reading = read_good("tt.func @f(%x: i32) {\n"
                                 "  ttg.warp_specialize(%x)\n"
                                 "  default {\n"
                                 "    ttg.warp_yield\n"
                                 "  }\n"
                                 "  partition0(%a: i32) num_warps(4) {\n"
                                 "    ttg.warp_return\n"
                                 "  }\n"
                                 "  partition1(%b: i32) num_warps(2) {\n"
                                 "    ttg.warp_return\n"
                                 "  } : (i32) -> ()\n"
                                 "  tt.return\n"
                                 "}\n");
    const Op *op = find_op(reading, "ttg.warp_specialize", 0);
    assert_int_equal(op->region_count, 2);
    const Op *holder = op->regions[1].first->first;
    assert_str_equal(holder->name, "ttg.warp_specialize.partitions");
    assert_true(holder->implicit);
    assert_int_equal(holder->region_count, 2);
    assert_str_equal(holder->regions[1].first->args[0].name->text, "b");
    const Attr *warps = op_attr(op, "partitionNumWarps");
    assert_int_equal(warps->count, 2);
    assert_int_equal(warps->ints[0], 4);
    assert_int_equal(warps->ints[1], 2);
    done(reading);
}

/* Results whose types are written nowhere have those of what their region hands over. */
static void yielded_types_are_found(void **state) {
    (void)state;
    Reading *reading = read_good("tt.func @f(%x: i32, %y: f32) {\n"
                                 "  %0:2 = nvws.warp_group\n"
                                 "  partition0 num_warps(4) {\n"
                                 "    nvws.warp_group.yield %x, %y : i32, f32\n"
                                 "  }\n"
                                 "  tt.return\n"
                                 "}\n");
    const Op *op = find_op(reading, "nvws.warp_group", 0);
    assert_str_equal(op->results[0].type->text, "i32");
    assert_str_equal(op->results[1].type->text, "f32");
    done(reading);
}

/* What the format does not write, the row tells. */
static void types_follow_from_the_table(void **state) {
    (void)state;
    static const struct {
        const char *op, *type;
    } cases[] = {
        {"tt.load %p : !tt.ptr<f32>", "f32"},
        {"tt.load %q : tensor<4x!tt.ptr<f16>, #ttg.e>", "tensor<4xf16, #ttg.e>"},
        {"arith.cmpi slt, %i, %i : i32", "i1"},
        {"arith.cmpf oeq, %t, %t : tensor<4xf32>", "tensor<4xi1>"},
        {"arith.constant 1.5 : f16", "f16"},
        {"arith.constant true", "i1"},
        {"arith.constant dense<0> : tensor<4xi8>", "tensor<4xi8>"},
        {"ttg.async_wait {num = 0 : i32}", "!ttg.async.token"},
        {"gpu.thread_id x", "index"},
        {"tt.unsplat %t : tensor<4xf32>", "f32"},
        {"nvg.tensor_memory_base", "!llvm.ptr<6>"},
        {"tt.addptr %p, %i : !tt.ptr<f32>, i32", "!tt.ptr<f32>"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Text text = {0};
        text_addf(&text,
                  "tt.func @f(%%p: !tt.ptr<f32>, %%q: tensor<4x!tt.ptr<f16>, #ttg.e>, %%i: i32, "
                  "%%t: tensor<4xf32>) {\n  %%0 = %s\n  tt.return\n}\n",
                  cases[i].op);
        text_char(&text, 0);
        Reading *reading = read_good(text.data);
        assert_str_equal(first_op(reading)->regions[0].first->first->results[0].type->text, cases[i].type);
        text_free(&text);
        done(reading);
    }
}

/* ---- What is wrong ----------------------------------------------------------------------------- */

static void wrong_texts_are_reported(void **state) {
    (void)state;
    static const WrongText cases[] = {
        {"nothing", 1, 1, "'nothing' is no operation"},
        {"}", 1, 1, "this '}' closes nothing"},
        {"module {\n", 1, 8, "this region is never closed"},
        {"%0 arith.constant 1 : i32", 1, 4, "expected '=' after the results' names"},
        {"% = arith.constant 1 : i32", 1, 1, "expected a name after '%'"},
        {"\"op\"(", 1, 6, "expected an operand"},
        {"\"op\"()", 1, 7, "expected ':' and the op's type"},
        {"\"op\"() : ()", 1, 12, "expected '->' and the results' types"},
        {"\"op\"() : () -> nothing", 1, 16, "expected a type"},
        {"%0 = \"op\"() : () -> i32\n\"op\"(%0) : () -> ()", 2, 13, "fewer types than operands: there is 1"},
        {"\"op\"() {a = 1, a = 2} : () -> ()", 1, 16, "attribute 'a' is given twice"},
        {"\"op\"() {a = } : () -> ()", 1, 13, "expected a value for attribute 'a'"},
        {"\"op\"() {a = [1, 2} : () -> ()", 1, 18, "expected ',' or ']' in a list of attributes"},
        {"\"op\"() : () -> tensor<4xf32", 1, 22, "this '<' is never closed"},
        {"\"op\"() : () -> tensor<99999999999999999999xf32>", 1, 23, "this dimension does not fit 64 bits"},
        {"\"op\"() : () -> tensor<4>", 1, 24, "expected 'x' after a dimension"},
        {"\"op\"() {a = \"open} : () -> ()", 1, 13, "this string is not closed on its line"},
        {"\"op\"() : () -> () loc(1)", 1, 23,
         "expected a location: \"file\":LINE:COLUMN, \"name\", callsite, fused, unknown or an alias"},
        {"\"op\"() ({\n^bb0(%a: i32 loc):\n}) : () -> ()", 2, 14, "expected ',' or ')' after an argument"},
        {"{-# never closed", 1, 1, "this file metadata is never closed"},
        {"#a 1", 1, 4, "expected '=' after an alias's name"},
        {"tt.func @f(%x: i32, i32)", 1, 21, "either all arguments have names or none has"},
        {"tt.func @f(i32) {\n  tt.return\n}", 1, 17, "a function with a body needs a name for every argument"},
        {"tt.func @f() {\n}", 2, 1, "this block of tt.func ends without a terminator"},
        {"tt.func @f() {\n  tt.return\n  tt.return\n}", 2, 3, "tt.return must be the last op of its block"},
        {"tt.func @f() {\n^a\n  tt.return\n}", 2, 3, "expected ':' after a block's label"},
        {"%0 = tt.get_program_id x : f32", 1, 1, "result 'result' of tt.get_program_id must have type i32, not f32"},
        {"tt.func @f(%x: i32) {\n  ttg.warp_specialize(%x)\n  default {\n    ttg.warp_yield\n  }\n"
         "  partition0() num_warps(1) {\n    ttg.warp_return\n  } : (i32) -> ()\n  tt.return\n}",
         6, 3, "partition 0 has 0 arguments for 1 captured value"},
    };
    assert_errors(cases);
}

/* One error does not hide the next, and a result that could not be read is no further error. */
static void reading_goes_on_after_an_error(void **state) {
    (void)state;
    Reading *reading = read_text("module {\n"
                                 "  tt.func @f(%x: i32) {\n"
                                 "    %0 = arith.addi %x, %undefined : i32\n"
                                 "    %1 = arith.addi %0, %x : i32\n"
                                 "    %2 = tt.splat %1 : f32 -> tensor<4xf32>\n"
                                 "    tt.return\n"
                                 "  }\n"
                                 "  tt.func @g() {\n"
                                 "    %0 = \"op\"() : ()\n"
                                 "    \"use\"(%0) : (i32) -> ()\n"
                                 "    tt.return\n"
                                 "  }\n"
                                 "}\n");
    assert_false(reading->ok);
    static const struct {
        uint32_t line;
        const char *message;
    } errors[] = {
        {5, "'%1' is used as f32 but has type i32"},
        {3, "'%undefined' is not defined"}, /* known only at the end of its region */
        {9, "expected '->' and the results' types"},
    };
    assert_int_equal(reading->diagnostics.count, 3);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(reading->diagnostics.items[i].place.line, errors[i].line);
        assert_string_equal(reading->diagnostics.items[i].message, errors[i].message);
    }
    done(reading);
}

static void gives_up_after_many_errors(void **state) {
    (void)state;
    Text text = {0};
    for (int i = 0; i < 1000; i++)
        text_addf(&text, "}\n");
    text_char(&text, 0);
    Reading *reading = read_text(text.data);
    assert_false(reading->ok);
    assert_int_equal(reading->diagnostics.count, DIAGNOSTICS_KEPT);
    assert_in_range(reading->diagnostics.errors, DIAGNOSTICS_KEPT + 1, 999);
    text_free(&text);
    done(reading);
}

/* ---- Limits ------------------------------------------------------------------------------------ */

/* `before` so many times, `middle`, `after` so many times. */
static char *nest(unsigned depth, const char *before, const char *middle, const char *after) {
    Text text = {0};
    for (unsigned i = 0; i < depth; i++)
        text_addf(&text, "%s", before);
    text_addf(&text, "%s", middle);
    for (unsigned i = 0; i < depth; i++)
        text_addf(&text, "%s", after);
    text_char(&text, 0);
    return text.data;
}

static void nesting_has_limits(void **state) {
    (void)state;
    static const struct {
        const char *before, *middle, *after;
        unsigned good, bad;
        const char *message;
    } cases[] = {
        {"module {\n", "", "}\n", 250, 300, "regions nested more than 256 deep"},
        {"\"op\"() ({\n", "", "}) : () -> ()\n", 250, 300, "regions nested more than 256 deep"},
        {"my.op { gpu.barrier\n", "", "}\n", 100, 300, "regions nested more than 256 deep"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = nest(cases[i].good, cases[i].before, cases[i].middle, cases[i].after);
        Reading *reading = read_text(text);
        assert_true(reading->ok);
        done(reading);
        free(text);
        text = nest(cases[i].bad, cases[i].before, cases[i].middle, cases[i].after);
        reading = read_text(text);
        assert_false(reading->ok);
        assert_string_equal(reading->diagnostics.items[reading->diagnostics.count - 1].message, cases[i].message);
        done(reading);
        free(text);
    }
    /* Whatever is nested a thousand deep, reading it ends, with an error. */
    static const struct {
        const char *before, *middle, *after;
    } deep[] = {
        {"[", "1", "]"},     {"{a = ", "1", "}"},       {"tuple<", "i32", ">"},          {"(", "i32", ") -> ()"},
        {"#x.y<", "1", ">"}, {"tensor<4x", "f32", ">"}, {"loc(\"a\"(", "unknown", "))"},
    };
    for (size_t i = 0; i < sizeof deep / sizeof *deep; i++) {
        char *value = nest(1000, deep[i].before, deep[i].middle, deep[i].after);
        Text text = {0};
        text_addf(&text, "\"op\"() {a = %s} : () -> ()\n", value);
        text_char(&text, 0);
        Reading *reading = read_text(text.data);
        assert_false(reading->ok);
        done(reading);
        text_free(&text);
        free(value);
    }
}

/* Aliases of aliases that double at each step would be a text of gigabytes. */
static void aliases_cannot_explode(void **state) {
    (void)state;
    Text text = {0};
    text_addf(&text, "#a0 = #x.y<1>\n");
    for (int i = 1; i < 31; i++)
        text_addf(&text, "#a%d = #x.y<#a%d, #a%d>\n", i, i - 1, i - 1);
    text_addf(&text, "tt.func @f(%%x: tensor<4xi32, #a30>, %%y: tensor<4xi32, #a29>) {\n"
                     "  %%0 = arith.addi %%x, %%y : tensor<4xi32, #a30>\n"
                     "  tt.return\n"
                     "}\n");
    text_char(&text, 0);
    Reading *reading = read_text(text.data);
    assert_in_range(module_memory(&reading->module), 0, 64 << 20);
    done(reading);
    text_free(&text);
}

/* A module may take no more memory than it was given; that too is an error at a place. */
static void the_budget_is_kept(void **state) {
    (void)state;
    Text text = {0};
    for (int i = 0; i < 20000; i++)
        text_addf(&text, "%%x%d = arith.constant %d : i32\n", i, i);
    text_char(&text, 0);
    Reading *reading = read_text_with(text.data, (ReadOptions){.budget = 1 << 20});
    assert_false(reading->ok);
    assert_int_equal(reading->diagnostics.count, 1);
    assert_string_equal(reading->diagnostics.items[0].message,
                        "this module needs more than the 1 MiB that it may take");
    assert_in_range(reading->module.arena.held, 0, 1 << 20);
    done(reading);
    reading = read_text(text.data); /* the default is ample */
    assert_true(reading->ok);
    assert_int_equal(reading->module.op_count, 20000);
    done(reading);
    text_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_are_kept_in_order),
        cmocka_unit_test(empty_texts_are_good),
        cmocka_unit_test(comments_may_stand_anywhere),
        cmocka_unit_test(terminators_may_be_implied),
        cmocka_unit_test(partitions_have_a_holder),
        cmocka_unit_test(yielded_types_are_found),
        cmocka_unit_test(types_follow_from_the_table),
        cmocka_unit_test(wrong_texts_are_reported),
        cmocka_unit_test(reading_goes_on_after_an_error),
        cmocka_unit_test(gives_up_after_many_errors),
        cmocka_unit_test(nesting_has_limits),
        cmocka_unit_test(aliases_cannot_explode),
        cmocka_unit_test(the_budget_is_kept),
    };
    return cmocka_run_group_tests_name("reader", tests, NULL, NULL);
}
