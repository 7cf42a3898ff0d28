/* check/facts: what is known of integers and of where views begin, without running the kernel. */
#include "running.h"

#include "check/facts/facts.h"

typedef struct Asking {
    Reading *reading;
    Facts *facts;
} Asking;

static Asking ask_with(const char *text, const Launch *launch) {
    Asking asking = {.reading = read_text(text)};
    assert_true(asking.reading->ok);
    Module *module = &asking.reading->module;
    asking.facts = facts_create(&module->arena, module, find_op(asking.reading, "tt.func", 0), launch);
    return asking;
}

static Asking ask(const char *text) {
    return ask_with(text, NULL);
}

/* The operand of "my.use" number `index`. */
static const Value *used(const Asking *asking, unsigned index) {
    const Op *use = find_op(asking->reading, "my.use", index);
    assert_non_null(use);
    return use->operands[0];
}

static IntDomain known_used(const Asking *asking, unsigned index) {
    return known_of(asking->facts, used(asking, index));
}

#define assert_range(known, low, high)      \
    do {                                    \
        IntDomain known_ = (known);         \
        assert_true(known_.least == (low)); \
        assert_true(known_.most == (high)); \
    } while (0)

#define USE(value, type) "    \"my.use\"(%" #value ") : (" #type ") -> ()\n"
#define ANY_LEAST        INT64_MIN
#define ANY_MOST         INT64_MAX

static void constants_and_arithmetic_are_exact(void **state) {
    (void)state;
    Asking asking = ask(KERNEL("", "    %c48 = arith.constant 48 : i32\n"
                                   "    %x = arith.muli %c48, %c2 : i32\n"
                                   "    %y = arith.addi %x, %c1 : i32\n"
                                   "    %z = arith.extsi %y : i32 to i64\n"
                                   "    %w = arith.index_cast %y : i32 to index\n"
                                   "    %t = arith.extsi %true : i1 to i32\n" USE(z, i64) USE(w, index) USE(t, i32)));
    assert_range(known_used(&asking, 0), 97, 97);
    assert_range(known_used(&asking, 1), 97, 97);
    assert_range(known_used(&asking, 2), -1, -1);
    done(asking.reading);
}

static void arguments_have_the_divisor_that_they_promise(void **state) {
    (void)state;
    Asking asking = ask(KERNEL("%n: i32 {tt.divisibility = 16 : i32}, %p: !tt.ptr<f16> {tt.divisibility = 16 : i32}, "
                               "%m: i32",
                               "    %c3 = arith.constant 3 : i32\n"
                               "    %c8 = arith.constant 8 : i32\n"
                               "    %x = arith.muli %n, %c3 : i32\n"
                               "    %q = tt.addptr %p, %c8 : !tt.ptr<f16>, i32\n"
                               "    %r = tt.addptr %p, %c3 : !tt.ptr<f16>, i32\n"
                               "    %s = tt.addptr %p, %m : !tt.ptr<f16>, i32\n" USE(x, i32) USE(q, !tt.ptr<f16>)
                                   USE(r, !tt.ptr<f16>) USE(s, !tt.ptr<f16>) USE(m, i32)));
    assert_int_equal(known_used(&asking, 0).divisor, 16);
    assert_int_equal(known_used(&asking, 1).divisor, 16);
    IntDomain odd = known_used(&asking, 2), open = known_used(&asking, 3);
    assert_int_equal(known_is_multiple(&odd, 16), TRIBOOL_FALSE);
    assert_int_equal(known_is_multiple(&open, 16), TRIBOOL_UNKNOWN);
    assert_int_equal(open.divisor, 2);
    assert_int_equal(known_used(&asking, 4).divisor, 1);
    done(asking.reading);
}

static void an_op_may_promise_a_divisor(void **state) {
    (void)state;
    Asking asking = ask(KERNEL("%n: i32, %m: i32", "    %x = arith.addi %n, %m {tt.divisibility = dense<64> : "
                                                   "tensor<1xi32>} : i32\n" USE(x, i32)));
    assert_int_equal(known_used(&asking, 0).divisor, 64);
    done(asking.reading);
}

static void program_ids_are_below_the_grid(void **state) {
    (void)state;
    const char *text =
        KERNEL("%n: i32", "    %p = tt.get_program_id x : i32\n"
                          "    %q = tt.get_program_id y : i32\n"
                          "    %k = tt.get_num_programs x : i32\n" USE(p, i32) USE(q, i32) USE(k, i32) USE(n, i32));
    Asking asking = ask(text);
    assert_range(known_used(&asking, 0), 0, INT32_MAX - 1);
    assert_range(known_used(&asking, 1), 0, UINT16_MAX - 1);
    assert_range(known_used(&asking, 2), 1, INT32_MAX);
    done(asking.reading);
    Argument argument = {.name = STR("n"), .kind = ARGUMENT_INTEGER, .integer = 768};
    Launch launch = {.grid = {32, 4, 1}, .arguments = &argument, .count = 1};
    asking = ask_with(text, &launch);
    assert_range(known_used(&asking, 0), 0, 31);
    assert_range(known_used(&asking, 1), 0, 3);
    assert_range(known_used(&asking, 2), 32, 32);
    assert_range(known_used(&asking, 3), 768, 768);
    done(asking.reading);
}

static void a_descriptors_sizes_come_from_the_launch(void **state) {
    (void)state;
    const char *text = KERNEL("%d: !desc, %d_0: i32, %d_1: i64", USE(d_0, i32) USE(d_1, i64) USE(d, !desc));
    Argument argument = {.name = STR("d"), .kind = ARGUMENT_DESCRIPTOR, .rank = 1, .shape = {4096}, .strides = {1}};
    Launch launch = {.grid = {1, 1, 1}, .arguments = &argument, .count = 1};
    Asking asking = ask_with(text, &launch);
    assert_range(known_used(&asking, 0), 4096, 4096);
    assert_range(known_used(&asking, 1), 1, 1);
    const Parameter *parameter = parameter_of(asking.facts, used(&asking, 2));
    assert_non_null(parameter);
    assert_ptr_equal(argument_of(asking.facts, parameter), &argument);
    done(asking.reading);
}

static void a_loop_counts_between_its_bounds(void **state) {
    (void)state;
    Asking asking =
        ask(KERNEL("%n: i32", "    %c7 = arith.constant 7 : i32\n"
                              "    %c64 = arith.constant 64 : i32\n"
                              "    scf.for %i = %c1 to %c64 step %c7 : i32 {\n" USE(
                                  i, i32) "    }\n"
                                          "    scf.for %j = %c0 to %n step %c64 : i32 {\n" USE(j, i32) "    }\n"));
    IntDomain counter = known_used(&asking, 0);
    assert_range(counter, 1, 57);
    assert_int_equal(counter.modulus, 7);
    assert_int_equal(counter.remainder, 1);
    counter = known_used(&asking, 1);
    assert_range(counter, 0, INT32_MAX - 1);
    assert_int_equal(counter.divisor, 64);
    done(asking.reading);
}

static void a_ring_index_stays_in_its_ring(void **state) {
    (void)state;
    Asking asking = ask(KERNEL(
        "%n: i32",
        "    %c3 = arith.constant 3 : i32\n"
        "    %c64 = arith.constant 64 : i32\n"
        "    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c0, %k = %c0) -> (i32, i32) : i32 {\n" USE(s, i32)
            USE(k, i32) "      %t = arith.addi %s, %c1 : i32\n"
                        "      %end = arith.cmpi sge, %t, %c3 : i32\n"
                        "      %u = arith.select %end, %c0, %t : i32\n"
                        "      %l = arith.addi %k, %c64 : i32\n"
                        "      scf.yield %u, %l : i32, i32\n    }\n"));
    assert_range(known_used(&asking, 0), 0, 2);
    assert_int_equal(known_used(&asking, 1).divisor, 64);
    done(asking.reading);
}

static void branches_and_captures_hand_on_what_is_known(void **state) {
    (void)state;
    Asking asking =
        ask(KERNEL("%n: i32 {tt.divisibility = 8 : i32}, %b: i1",
                   "    %c24 = arith.constant 24 : i32\n"
                   "    %r = scf.if %b -> (i32) {\n      scf.yield %n : i32\n    } else {\n"
                   "      scf.yield %c24 : i32\n    }\n" USE(r, i32) "    ttg.warp_specialize(%r)\n"
                                                                     "    default {\n      ttg.warp_yield\n    }\n"
                                                                     "    partition0(%x: i32) num_warps(1) {\n" USE(
                                                                         x, i32) "      ttg.warp_return\n"
                                                                                 "    } : (i32) -> ()\n"));
    assert_int_equal(known_used(&asking, 0).divisor, 8);
    assert_int_equal(known_used(&asking, 1).divisor, 8);
    done(asking.reading);
}

static void what_an_unknown_op_makes_is_not_known(void **state) {
    (void)state;
    Asking asking = ask(KERNEL("", "    %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%k = %c0) -> (i32) : i32 {\n"
                                   "      %x = \"my.make\"() : () -> i32\n"
                                   "      scf.yield %x : i32\n    }\n" USE(r, i32)));
    assert_range(known_used(&asking, 0), ANY_LEAST, ANY_MOST);
    assert_int_equal(known_used(&asking, 0).divisor, 1);
    done(asking.reading);
}

#define TILES                                                                                         \
    "#nv = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>\n" \
    "!tiles = !ttg.memdesc<3x64x64xf16, #nv, #smem, mutable>\n"                                       \
    "!one = !ttg.memdesc<64x64xf16, #nv, #smem, mutable>\n"                                           \
    "!half = !ttg.memdesc<32x64xf16, #nv, #smem, mutable, 64x64>\n"

static void a_view_begins_where_its_ring_and_slice_say(void **state) {
    (void)state;
    Asking asking =
        ask(TILES KERNEL("%i: i32", "    %x = ttg.local_alloc {allocation.offset = 2048 : i32} : () -> !tiles\n"
                                    "    %y = ttg.memdesc_index %x[%i] : !tiles -> !one\n"
                                    "    %z = ttg.memdesc_subslice %y[32, 0] : !one -> !half\n"
                                    "    %w = ttg.memdesc_index %x[%c2] : !tiles -> !one\n"
                                    "    %a = ttg.local_alloc : () -> !tiles\n"
                                    "    %b = ttg.memdesc_index %a[%c1] : !tiles -> !one\n"
                                    "    %c = ttg.local_alloc {alignment = 64 : i32} : () -> !one\n" USE(y, !one)
                                        USE(z, !half) USE(w, !one) USE(b, !one) USE(c, !one)));
    KnownPlace place = place_of(asking.facts, used(&asking, 0));
    assert_true(place.placed);
    assert_int_equal(place.byte.modulus, 8192);
    assert_int_equal(place.byte.remainder, 2048);
    place = place_of(asking.facts, used(&asking, 1));
    assert_int_equal(place.byte.divisor, 2048);
    assert_int_equal(place.byte.remainder, 2048 + 4096);
    assert_range(place_of(asking.facts, used(&asking, 2)).byte, 2048 + 16384, 2048 + 16384);
    place = place_of(asking.facts, used(&asking, 3));
    assert_false(place.placed);
    assert_range(place.byte, 8192, 8192);
    assert_int_equal(place.alignment, 1024);
    assert_int_equal(place_of(asking.facts, used(&asking, 4)).alignment, 64);
    done(asking.reading);
}

static void of_two_allocations_none_is_said(void **state) {
    (void)state;
    Asking asking = ask(TILES KERNEL("%b: i1", "    %x = ttg.local_alloc : () -> !one\n"
                                               "    %y = ttg.local_alloc : () -> !one\n"
                                               "    %z = arith.select %b, %x, %y : !one\n"
                                               "    %w = arith.select %b, %x, %x : !one\n" USE(z, !one) USE(w, !one)));
    assert_null(place_of(asking.facts, used(&asking, 0)).allocation);
    assert_non_null(place_of(asking.facts, used(&asking, 1)).allocation);
    done(asking.reading);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_and_arithmetic_are_exact),
        cmocka_unit_test(arguments_have_the_divisor_that_they_promise),
        cmocka_unit_test(an_op_may_promise_a_divisor),
        cmocka_unit_test(program_ids_are_below_the_grid),
        cmocka_unit_test(a_descriptors_sizes_come_from_the_launch),
        cmocka_unit_test(a_loop_counts_between_its_bounds),
        cmocka_unit_test(a_ring_index_stays_in_its_ring),
        cmocka_unit_test(branches_and_captures_hand_on_what_is_known),
        cmocka_unit_test(what_an_unknown_op_makes_is_not_known),
        cmocka_unit_test(a_view_begins_where_its_ring_and_slice_say),
        cmocka_unit_test(of_two_allocations_none_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
