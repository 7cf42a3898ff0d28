/* mlir/scope: what a name means where it stands. */
#include "reading.h"

/* ---- What may be used -------------------------------------------------------------------------- */

/* Each text reads without errors; its comment says why. */
static void names_reach(void **state) {
    (void)state;
    static const char *const texts[] = {
        /* into regions of an op, at any depth */
        "tt.func @f(%c: i1, %x: i32) {\n"
        "  scf.if %c {\n"
        "    scf.if %c {\n"
        "      %0 = arith.addi %x, %x : i32\n"
        "    }\n"
        "  }\n"
        "  tt.return\n"
        "}\n",
        /* not beyond them: a sibling region may use the same names */
        "tt.func @f(%c: i1, %x: i32) {\n"
        "  scf.if %c {\n"
        "    %0 = arith.addi %x, %x : i32\n"
        "  } else {\n"
        "    %0 = arith.subi %x, %x : i32\n"
        "  }\n"
        "  %0 = arith.muli %x, %x : i32\n"
        "  tt.return\n"
        "}\n",
        /* not into an isolated region, which may use them again */
        "module {\n"
        "  tt.func @f(%x: i32) {\n"
        "    tt.return\n"
        "  }\n"
        "  tt.func @g(%x: f32) {\n"
        "    %0 = arith.addf %x, %x : f32\n"
        "    tt.return\n"
        "  }\n"
        "}\n",
        "%x = \"make\"() : () -> i32\n"
        "tt.func @f(%x: f32) {\n"
        "  %0 = arith.addf %x, %x : f32\n"
        "  tt.return\n"
        "}\n"
        "\"use\"(%x) : (i32) -> ()\n",
        /* the partitions of a warp-specialized op are isolated too; its default region is not */
        "tt.func @f(%x: i32) {\n"
        "  ttg.warp_specialize(%x)\n"
        "  default {\n"
        "    %0 = arith.addi %x, %x : i32\n"
        "    ttg.warp_yield\n"
        "  }\n"
        "  partition0(%x: i32) num_warps(4) {\n"
        "    %0 = arith.addi %x, %x : i32\n"
        "    ttg.warp_return\n"
        "  } : (i32) -> ()\n"
        "  tt.return\n"
        "}\n",
        /* a value may be defined in a block that is written later */
        "tt.func @f() {\n"
        "  cf.br ^second\n"
        "^first:\n"
        "  \"use\"(%x) : (i32) -> ()\n"
        "  tt.return\n"
        "^second:\n"
        "  %x = \"make\"() : () -> i32\n"
        "  cf.br ^first\n"
        "}\n",
        /* also from within a region of that earlier block */
        "tt.func @f(%c: i1) {\n"
        "  cf.br ^second\n"
        "^first:\n"
        "  scf.if %c {\n"
        "    \"use\"(%x#1) : (f32) -> ()\n"
        "  }\n"
        "  tt.return\n"
        "^second:\n"
        "  %x:2 = \"make\"() : () -> (i32, f32)\n"
        "  cf.br ^first\n"
        "}\n",
        /* in a graph region, and at the top, the order does not matter */
        "module {\n"
        "  \"use\"(%x) : (i32) -> ()\n"
        "  %x = \"make\"() : () -> i32\n"
        "}\n",
        "\"use\"(%x) : (i32) -> ()\n"
        "%x = \"make\"() : () -> i32\n",
        /* a loop's variable and its carried values, in the body only */
        "tt.func @f(%n: index, %x: i32) {\n"
        "  %r = scf.for %i = %n to %n step %n iter_args(%a = %x) -> (i32) {\n"
        "    \"use\"(%i, %a) : (index, i32) -> ()\n"
        "    scf.yield %a : i32\n"
        "  }\n"
        "  %i = arith.addi %r, %r : i32\n"
        "  tt.return\n"
        "}\n",
        /* labels are a region's own */
        "tt.func @f(%c: i1) {\n"
        "  cf.br ^a\n"
        "^a:\n"
        "  scf.execute_region {\n"
        "    cf.br ^a\n"
        "  ^a:\n"
        "    scf.yield\n"
        "  }\n"
        "  tt.return\n"
        "}\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        done(read_good(texts[i]));
}

/* ---- What may not ------------------------------------------------------------------------------ */

static void wrong_names_are_reported(void **state) {
    (void)state;
    static const WrongText cases[] = {
        {"tt.func @f() {\n"
         "  %0 = arith.addi %x, %x : i32\n"
         "  tt.return\n"
         "}\n",
         2, 19, "'%x' is not defined"},
        /* beyond its region */
        {"tt.func @f(%c: i1, %x: i32) {\n"
         "  scf.if %c {\n"
         "    %0 = arith.addi %x, %x : i32\n"
         "  }\n"
         "  %1 = arith.addi %0, %x : i32\n"
         "  tt.return\n"
         "}\n",
         5, 19, "'%0' is not defined"},
        /* into an isolated region */
        {"%x = \"make\"() : () -> i32\n"
         "tt.func @f() {\n"
         "  \"use\"(%x) : (i32) -> ()\n"
         "  tt.return\n"
         "}\n",
         3, 9, "'%x' is defined at line 1, and is out of scope here"},
        {"tt.func @f(%x: i32) {\n"
         "  ttg.warp_specialize()\n"
         "  default {\n"
         "    ttg.warp_yield\n"
         "  }\n"
         "  partition0() num_warps(4) {\n"
         "    %0 = arith.addi %x, %x : i32\n"
         "    ttg.warp_return\n"
         "  } : () -> ()\n"
         "  tt.return\n"
         "}\n",
         7, 21, "'%x' is defined at line 1, and is out of scope here"},
        /* later in the same block, or below it */
        {"tt.func @f() {\n"
         "  \"use\"(%x) : (i32) -> ()\n"
         "  %x = \"make\"() : () -> i32\n"
         "  tt.return\n"
         "}\n",
         2, 9, "'%x' is used before it is defined at line 3"},
        {"tt.func @f(%c: i1) {\n"
         "  scf.if %c {\n"
         "    \"use\"(%x) : (i32) -> ()\n"
         "  }\n"
         "  %x = \"make\"() : () -> i32\n"
         "  tt.return\n"
         "}\n",
         3, 11, "'%x' is used before it is defined at line 5"},
        {"tt.func @f(%x: i32) {\n"
         "  %y = arith.addi %y, %x : i32\n"
         "  tt.return\n"
         "}\n",
         2, 19, "'%y' is used before it is defined at line 2"},
        /* twice */
        {"tt.func @f(%x: i32) {\n"
         "  %x = arith.constant 1 : i32\n"
         "  tt.return\n"
         "}\n",
         2, 3, "'%x' is already defined at line 1"},
        {"tt.func @f(%x: i32, %x: i32) {\n"
         "  tt.return\n"
         "}\n",
         1, 21, "'%x' is already defined at line 1"},
        {"%a, %a = \"make\"() : () -> (i32, i32)\n", 1, 5, "'%a' is already defined at line 1"},
        /* a name of an outer region, which MLIR does not let a region define again */
        {"tt.func @f(%c: i1, %x: i32) {\n"
         "  scf.if %c {\n"
         "    %x = arith.constant 1 : i32\n"
         "  }\n"
         "  tt.return\n"
         "}\n",
         3, 5, "'%x' is already defined at line 1"},
        /* blocks */
        {"tt.func @f() {\n"
         "  cf.br ^nowhere\n"
         "}\n",
         2, 9, "block '^nowhere' is not defined in this region"},
        {"tt.func @f() {\n"
         "  cf.br ^a\n"
         "^a:\n"
         "  cf.br ^a\n"
         "^a:\n"
         "  tt.return\n"
         "}\n",
         5, 1, "block '^a' is already defined at line 3"},
        /* symbols and aliases */
        {"module {\n"
         "  tt.func private @f()\n"
         "  tt.func private @f()\n"
         "}\n",
         3, 3, "'@f' is already defined at line 2"},
        {"#a = 1 : i32\n#a = 2 : i32\n", 2, 1, "alias '#a' is already defined at line 1"},
        {"\"op\"() {k = #nowhere} : () -> ()\n", 1, 13, "alias '#nowhere' is not defined"},
        {"\"op\"() : () -> !nowhere\n", 1, 16, "alias '!nowhere' is not defined"},
    };
    assert_errors(cases);
}

/* ---- Packs ------------------------------------------------------------------------------------- */

/* `%a:3` names three results at once; `%a#2` is the last of them, and `%a` the first. */
static void numbers_pick_from_a_pack(void **state) {
    (void)state;
    Reading *reading = read_good("%a:3, %b = \"make\"() : () -> (i1, i2, i3, i4)\n"
                                 "\"use\"(%a, %a#0, %a#2, %b, %b#0) : (i1, i1, i3, i4, i4) -> ()\n");
    const Op *make = find_op(reading, "make", 0), *use = find_op(reading, "use", 0);
    static const unsigned results[] = {0, 0, 2, 3, 3};
    for (unsigned i = 0; i < 5; i++)
        assert_ptr_equal(use->operands[i], &make->results[results[i]]);
    assert_int_equal(make->results[0].pack, 3);
    assert_int_equal(make->results[1].pack, 0);
    assert_int_equal(make->results[3].pack, 1);
    assert_str_equal(make->results[2].name->text, "a");
    done(reading);
}

static void wrong_packs_are_reported(void **state) {
    (void)state;
    assert_error("%a:2 = \"make\"() : () -> (i1, i2)\n\"use\"(%a#2) : (i1) -> ()\n", 2, 7,
                 "'%a' has 2 results, so there is no #2");
    assert_error("%a = \"make\"() : () -> i1\n\"use\"(%a#1) : (i1) -> ()\n", 2, 7,
                 "'%a' is 1 value, so there is no #1");
    assert_error("%a:2 = \"make\"() : () -> (i1, i2, i3)\n", 1, 1, "make has 3 results, but 2 are named");
    assert_error("%a = \"make\"() : () -> ()\n", 1, 1, "make has 0 results, but 1 is named");
    assert_error("%a:0 = \"make\"() : () -> ()\n", 1, 4, "expected a number of results from 1 to 65535");
}

/* ---- Types of operands ------------------------------------------------------------------------- */

static void a_use_must_have_the_type_of_the_definition(void **state) {
    (void)state;
    assert_error("tt.func @f(%x: i32) {\n"
                 "  \"use\"(%x) : (f32) -> ()\n"
                 "  tt.return\n"
                 "}\n",
                 2, 9, "'%x' is used as f32 but has type i32");
    /* however far below the definition stands */
    assert_error("module {\n"
                 "  \"use\"(%x) : (f32) -> ()\n"
                 "  %x = \"make\"() : () -> i32\n"
                 "}\n",
                 2, 9, "'%x' is used as f32 but has type i32");
    /* and where the text does not write a type, as the table says */
    assert_error("tt.func @f(%x: i32, %y: i64) {\n"
                 "  %0 = arith.addi %x, %y : i32\n"
                 "  tt.return\n"
                 "}\n",
                 2, 23, "operand 'rhs' of arith.addi must have type i32, not i64");
    assert_error("tt.func @f(%p: tensor<4x!tt.ptr<f32>>, %m: i1) {\n"
                 "  %0 = tt.load %p, %m : tensor<4x!tt.ptr<f32>>\n"
                 "  tt.return\n"
                 "}\n",
                 2, 20, "operand 'mask' of tt.load must have type tensor<4xi1>, not i1");
    assert_error("tt.func @f(%m: i32) {\n"
                 "  ttg.local_dealloc %m : i32\n"
                 "  tt.return\n"
                 "}\n",
                 2, 21, "operand 'src' of ttg.local_dealloc must be a ttg.memdesc, not i32");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_reach),
        cmocka_unit_test(wrong_names_are_reported),
        cmocka_unit_test(numbers_pick_from_a_pack),
        cmocka_unit_test(wrong_packs_are_reported),
        cmocka_unit_test(a_use_must_have_the_type_of_the_definition),
    };
    return cmocka_run_group_tests_name("scope", tests, NULL, NULL);
}
