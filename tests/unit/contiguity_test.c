/* check/facts/contiguity: how many elements of a tensor go up by one, stay the same, and what divides the first of
 * them. */
#include "reading.h"

#include "check/facts/contiguity.h"

#define FUNCTION(body)                                                                               \
    "tt.func @f(%c: i1, %n: i32, %p: tensor<64x32x!tt.ptr<f16>>, %one: tensor<64x!tt.ptr<f16>>) {\n" \
    "    %range = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>\n" body "    tt.return\n}\n"
#define USE(value, type) "    \"my.use\"(%" #value ") : (" #type ") -> ()\n"

/* Of the operand of the first "my.use", as "contiguous constant divisor"; at most 2^20 each, which is written "all". */
static void assert_runs(const char *text, unsigned dim, const char *expected) {
    Reading *reading = read_text(text);
    assert_true(reading->ok);
    Module *module = &reading->module;
    const Op *function = find_op(reading, "tt.func", 0);
    Facts *facts = facts_create(&module->arena, module, function, NULL);
    Contiguity *contiguity = contiguity_create(&module->arena, module, facts);
    ContiguityRuns runs = runs_of(contiguity, find_op(reading, "my.use", 0)->operands[0], dim);
    const int64_t numbers[] = {runs.contiguous, runs.constant, runs.divisor};
    Text found = {0};
    for (unsigned i = 0; i < 3; i++)
        if (numbers[i] == RUNS_MOST)
            text_addf(&found, "%sall", i ? " " : "");
        else
            text_addf(&found, "%s%lld", i ? " " : "", (long long)numbers[i]);
    text_char(&found, 0);
    assert_string_equal(found.data, expected);
    text_free(&found);
    done(reading);
}

static void a_range_goes_up(void **state) {
    (void)state;
    assert_runs(FUNCTION(USE(range, tensor<64xi32>)), 0, "64 1 all");
    assert_runs(
        FUNCTION("    %r = tt.make_range {end = 40 : i32, start = 8 : i32} : tensor<32xi32>\n" USE(r, tensor<32xi32>)),
        0, "32 1 8");
}

static void a_constant_stays(void **state) {
    (void)state;
    assert_runs(FUNCTION("    %k = arith.constant dense<48> : tensor<64xi32>\n" USE(k, tensor<64xi32>)), 0, "1 all 16");
    assert_runs(FUNCTION("    %k = arith.constant dense<[1, 2]> : tensor<2xi32>\n" USE(k, tensor<2xi32>)), 0, "1 1 1");
}

static void a_sum_with_a_constant_goes_up(void **state) {
    (void)state;
    assert_runs(FUNCTION("    %k = arith.constant dense<48> : tensor<64xi32>\n"
                         "    %s = arith.addi %range, %k : tensor<64xi32>\n" USE(s, tensor<64xi32>)),
                0, "64 1 16");
    assert_runs(FUNCTION("    %k = arith.constant dense<48> : tensor<64xi32>\n"
                         "    %s = arith.subi %k, %range : tensor<64xi32>\n" USE(s, tensor<64xi32>)),
                0, "1 1 1");
    assert_runs(FUNCTION("    %s = arith.addi %range, %range : tensor<64xi32>\n" USE(s, tensor<64xi32>)), 0, "1 1 1");
}

static void what_is_promised_goes_up(void **state) {
    (void)state;
    assert_runs(FUNCTION("    %s = arith.addi %range, %range {tt.contiguity = 16 : i32} : tensor<64xi32>\n" USE(
                    s, tensor<64xi32>)),
                0, "16 1 1");
    static const char *const promised =
        "tt.func @f(%p: tensor<64x32x!tt.ptr<f16>> {tt.contiguity = dense<[1, 8]> : tensor<2xi32>}) {\n" USE(
            p, tensor<64x32x !tt.ptr<f16>>) "    tt.return\n}\n";
    assert_runs(promised, 0, "1 1 1");
    assert_runs(promised, 1, "8 1 1");
}

static void a_product_is_apart(void **state) {
    (void)state;
    assert_runs(FUNCTION("    %k = arith.constant dense<48> : tensor<64xi32>\n"
                         "    %s = arith.muli %range, %k : tensor<64xi32>\n" USE(s, tensor<64xi32>)),
                0, "1 1 16");
}

static void a_remainder_wraps(void **state) {
    (void)state;
    assert_runs(FUNCTION("    %k = arith.constant dense<24> : tensor<64xi32>\n"
                         "    %s = arith.remsi %range, %k : tensor<64xi32>\n" USE(s, tensor<64xi32>)),
                0, "8 1 8");
}

static void a_mask_is_the_same_up_to_what_divides_its_bound(void **state) {
    (void)state;
    assert_runs(FUNCTION("    %k = arith.constant dense<24> : tensor<64xi32>\n"
                         "    %m = arith.cmpi slt, %range, %k : tensor<64xi32>\n" USE(m, tensor<64xi1>)),
                0, "1 8 1");
    assert_runs(FUNCTION("    %k = arith.constant dense<24> : tensor<64xi32>\n"
                         "    %m = arith.cmpi sgt, %range, %k : tensor<64xi32>\n" USE(m, tensor<64xi1>)),
                0, "1 1 1");
}

static void a_tile_goes_up_along_its_rows(void **state) {
    (void)state;
    const char *text =
        FUNCTION("    %columns = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>\n"
                 "    %pitch = arith.constant dense<32> : tensor<64x1xi32>\n"
                 "    %r = tt.expand_dims %range {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>\n"
                 "    %rp = arith.muli %r, %pitch : tensor<64x1xi32>\n"
                 "    %k = tt.expand_dims %columns {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>\n"
                 "    %rb = tt.broadcast %rp : tensor<64x1xi32> -> tensor<64x32xi32>\n"
                 "    %kb = tt.broadcast %k : tensor<1x32xi32> -> tensor<64x32xi32>\n"
                 "    %o = arith.addi %rb, %kb : tensor<64x32xi32>\n" USE(o, tensor<64x32xi32>));
    assert_runs(text, 1, "32 1 32");
    assert_runs(text, 0, "1 1 1");
}

static void a_loop_keeps_what_each_round_keeps(void **state) {
    (void)state;
#define LOOP(step)                                                                                                 \
    FUNCTION("    %zero = arith.constant 0 : i32\n    %k = arith.constant dense<8> : tensor<64xi32>\n"             \
             "    %s = scf.for %i = %zero to %n step %n iter_args(%x = %range) -> (tensor<64xi32>) : i32 {\n" step \
             "        scf.yield %y : tensor<64xi32>\n    }\n" USE(s, tensor<64xi32>))
    assert_runs(LOOP("        %y = arith.addi %x, %k : tensor<64xi32>\n"), 0, "64 1 8");
    assert_runs(LOOP("        %y = arith.addi %x, %x : tensor<64xi32>\n"), 0, "1 1 1");
}

static void a_value_inside_a_loop_is_found_from_inside(void **state) {
    (void)state;
    assert_runs(
        FUNCTION("    %zero = arith.constant 0 : i32\n    %k = arith.constant dense<8> : tensor<64xi32>\n"
                 "    %s = scf.for %i = %zero to %n step %n iter_args(%x = %range) -> (tensor<64xi32>) : i32 {\n"
                 "        %y = arith.addi %x, %k : tensor<64xi32>\n" USE(y, tensor<64xi32>) //
                 "        scf.yield %y : tensor<64xi32>\n    }\n"),
        0, "64 1 8");
}

static void a_choice_is_as_its_condition_allows(void **state) {
    (void)state;
    assert_runs(
        FUNCTION("    %k = arith.constant dense<24> : tensor<64xi32>\n"
                 "    %m = arith.cmpi slt, %range, %k : tensor<64xi32>\n"
                 "    %o = arith.addi %range, %k : tensor<64xi32>\n"
                 "    %s = arith.select %m, %range, %o : tensor<64xi1>, tensor<64xi32>\n" USE(s, tensor<64xi32>)),
        0, "8 1 8");
    assert_runs(FUNCTION("    %k = arith.constant dense<24> : tensor<64xi32>\n"
                         "    %o = arith.addi %range, %k : tensor<64xi32>\n"
                         "    %s = arith.select %c, %range, %o : tensor<64xi32>\n" USE(s, tensor<64xi32>)),
                0, "64 1 8");
}

static void what_is_not_known_is_nothing(void **state) {
    (void)state;
    assert_runs(FUNCTION(USE(one, tensor<64x !tt.ptr<f16>>)), 0, "1 1 1");
    assert_runs(FUNCTION("    %x = \"my.op\"() : () -> tensor<64xi32>\n" USE(x, tensor<64xi32>)), 0, "1 1 1");
    assert_runs(FUNCTION(USE(range, tensor<64xi32>)), 9, "1 1 1");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_range_goes_up),
        cmocka_unit_test(a_constant_stays),
        cmocka_unit_test(a_sum_with_a_constant_goes_up),
        cmocka_unit_test(what_is_promised_goes_up),
        cmocka_unit_test(a_product_is_apart),
        cmocka_unit_test(a_remainder_wraps),
        cmocka_unit_test(a_mask_is_the_same_up_to_what_divides_its_bound),
        cmocka_unit_test(a_tile_goes_up_along_its_rows),
        cmocka_unit_test(a_loop_keeps_what_each_round_keeps),
        cmocka_unit_test(a_value_inside_a_loop_is_found_from_inside),
        cmocka_unit_test(a_choice_is_as_its_condition_allows),
        cmocka_unit_test(what_is_not_known_is_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
