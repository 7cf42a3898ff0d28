/* machine/tile/compile/block_loops: loops that are made of blocks, in nested and in plain ones. */
#include "reading.h"

#include "machine/tile/compile/block_loops.h"

/* Blocks: 0 entry, 1 ^outer, 2 ^inner, 3 ^work, 4 ^latch, 5 ^end. */
static const char nested[] = "tt.func @f(%n: i32, %c: i1) {\n"
                             "  %zero = arith.constant 0 : i32\n"
                             "  %one = arith.constant 1 : i32\n"
                             "  cf.br ^outer(%zero : i32)\n"
                             "^outer(%i: i32):\n"
                             "  %more = arith.cmpi slt, %i, %n : i32\n"
                             "  cf.cond_br %more, ^inner(%zero, %one : i32, i32), ^end\n"
                             "^inner(%k: i32, %p: i32):\n"
                             "  %less = arith.cmpi slt, %k, %n : i32\n"
                             "  cf.cond_br %less, ^work, ^latch\n"
                             "^work:\n"
                             "  %next = arith.addi %k, %one : i32\n"
                             "  cf.cond_br %c, ^inner(%next, %zero : i32, i32), ^inner(%next, %one : i32, i32)\n"
                             "^latch:\n"
                             "  %then = arith.addi %i, %one : i32\n"
                             "  cf.br ^outer(%then : i32)\n"
                             "^end:\n"
                             "  tt.return\n"
                             "}\n";

static const Block *block_at(const Reading *reading, uint32_t order) {
    const Block *block = find_op(reading, "tt.func", 0)->regions[0].first;
    while (block && block->order != order)
        block = block->next;
    assert_non_null(block);
    return block;
}

static void heads_are_gone_back_to(void **state) {
    (void)state;
    Reading *reading = read_good(nested);
    static const bool heads[] = {false, true, true, false, false, false};
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(block_is_head(block_at(reading, i)), heads[i]);
    done(reading);
}

static void an_inner_loop_is_in_the_outer_one(void **state) {
    (void)state;
    Reading *reading = read_good(nested);
    static const bool outer[] = {false, true, true, true, true, false};
    static const bool inner[] = {false, false, true, true, false, false};
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(block_loop_has(block_at(reading, 1), block_at(reading, i)), outer[i]);
        assert_int_equal(block_loop_has(block_at(reading, 2), block_at(reading, i)), inner[i]);
    }
    assert_ptr_equal(block_loop_around(block_at(reading, 3)->first), block_at(reading, 2));
    assert_ptr_equal(block_loop_around(block_at(reading, 4)->first), block_at(reading, 1));
    assert_null(block_loop_around(block_at(reading, 5)->first));
    done(reading);
}

static void what_goes_around_has_one_value_for_the_next_turn(void **state) {
    (void)state;
    Reading *reading = read_good(nested);
    const Block *outer = block_at(reading, 1), *inner = block_at(reading, 2);
    Carried carried;
    assert_true(block_carried(&outer->args[0], &carried));
    assert_ptr_equal(carried.loop, outer->first);
    assert_ptr_equal(carried.first, &block_at(reading, 0)->first->results[0]);
    assert_ptr_equal(carried.next, &block_at(reading, 4)->first->results[0]);
    assert_true(block_carried(&inner->args[0], &carried));
    assert_false(block_carried(&inner->args[1], &carried)); /* two ways back, with two values */
    assert_false(block_carried(&block_at(reading, 0)->args[0], &carried));
    done(reading);
}

static void a_branch_stays_in_the_loop_one_way(void **state) {
    (void)state;
    Reading *reading = read_good(nested);
    const Block *outer = block_at(reading, 1), *inner = block_at(reading, 2);
    assert_int_equal(block_loop_stays(outer, outer->last), 1);
    assert_int_equal(block_loop_stays(inner, inner->last), 1);
    assert_int_equal(block_loop_stays(inner, block_at(reading, 3)->last), -1); /* both do */
    assert_int_equal(block_loop_stays(outer, block_at(reading, 4)->last), -1); /* it is no choice */
    done(reading);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heads_are_gone_back_to),
        cmocka_unit_test(an_inner_loop_is_in_the_outer_one),
        cmocka_unit_test(what_goes_around_has_one_value_for_the_next_turn),
        cmocka_unit_test(a_branch_stays_in_the_loop_one_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
