/* model/flow/origin, the first: from a memory descriptor, token or aref back to the op that allocates it. */
#include "running.h"

#include "model/flow/origin.h"

/* The allocation of what "my.use" number `index` uses, by its name; NULL if there is none. */
static const char *root_name(Reading *reading, unsigned index) {
    const Op *use = find_op(reading, "my.use", index);
    assert_non_null(use);
    const Op *root = origin_of(&reading->module, use->operands[0]);
    return root ? arena_copy(&reading->module.arena, root->results[0].name->text.data, root->results[0].name->text.size)
                : NULL;
}

static void assert_root(const char *text, const char *expected) {
    Reading *reading = read_text(text);
    assert_true(reading->ok);
    const char *found = root_name(reading, 0);
    if (expected && found)
        assert_string_equal(found, expected);
    assert_int_equal(expected == NULL, found == NULL);
    done(reading);
}

#define USE(value) "    \"my.use\"(%" #value ") : (!barrier) -> ()\n"
#define TWO                                       \
    "    %x = ttg.local_alloc : () -> !barrier\n" \
    "    %y = ttg.local_alloc : () -> !barrier\n"
#define IN_RING                                   \
    "    %ring = ttg.local_alloc : () -> !ring\n" \
    "    %slot = ttg.memdesc_index %ring[%c1] : !ring -> !barrier\n"

static void an_allocation_is_its_own_root(void **state) {
    (void)state;
    assert_root(KERNEL("", TWO USE(y)), "y");
}

static void views_lead_to_what_they_look_at(void **state) {
    (void)state;
    assert_root(KERNEL("", TWO IN_RING USE(slot)), "ring");
}

static void captures_lead_out_of_a_partition(void **state) {
    (void)state;
    assert_root(KERNEL("", TWO IN_RING "    ttg.warp_specialize(%x, %slot, %y)\n"
                                       "    default {\n      ttg.warp_yield\n    }\n"
                                       "    partition0(%a: !barrier, %b: !barrier, %c: !barrier) num_warps(1) {\n" USE(
                                           b) "      ttg.warp_return\n"
                                              "    } : (!barrier, !barrier, !barrier) -> ()\n"),
                "ring");
}

static void what_a_loop_carries_comes_from_its_start(void **state) {
    (void)state;
    assert_root(
        KERNEL("", TWO "    %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %x) -> (!barrier) : i32 {\n" USE(
                       a) "      scf.yield %y : !barrier\n    }\n"),
        "x");
    assert_root(KERNEL("", TWO "    %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %x) -> (!barrier) : i32 {\n"
                               "      scf.yield %a : !barrier\n    }\n" USE(r)),
                "x");
    assert_root(KERNEL("", TWO "    %r = scf.while (%a = %y) : (!barrier) -> !barrier {\n"
                               "      scf.condition(%true) %a : !barrier\n"
                               "    } do {\n    ^bb0(%b: !barrier):\n" USE(b) "      scf.yield %b : !barrier\n    }\n"),
                "y");
}

static void of_several_the_first_is_taken(void **state) {
    (void)state;
    assert_root(KERNEL("%c: i1", TWO "    %r = scf.if %c -> (!barrier) {\n      scf.yield %y : !barrier\n    } else {\n"
                                     "      scf.yield %x : !barrier\n    }\n" USE(r)),
                "y");
    assert_root(KERNEL("%c: i1", TWO "    %r = arith.select %c, %x, %y : !barrier\n" USE(r)), "x");
    assert_root(KERNEL("%c: i1", TWO "    cf.cond_br %c, ^one(%y : !barrier), ^two(%x : !barrier)\n"
                                     "  ^one(%a: !barrier):\n    cf.br ^two(%a : !barrier)\n"
                                     "  ^two(%b: !barrier):\n" USE(b)),
                "x");
}

static void what_a_default_region_gives_comes_from_its_end(void **state) {
    (void)state;
    assert_root(KERNEL("",
                       TWO "    %r = ttg.warp_specialize()\n"
                           "    default {\n      ttg.warp_yield %y : !barrier\n    }\n"
                           "    partition0() num_warps(1) {\n      ttg.warp_return\n    } : () -> !barrier\n" USE(r)),
                "y");
}

static void tokens_are_roots_too(void **state) {
    (void)state;
    assert_root(KERNEL("",
                       "    %t = nvws.create_token {loadType = 3 : i32, numBuffers = 2 : i32} : tensor<2x!nvws.token>\n"
                       "    \"my.use\"(%t) : (tensor<2x!nvws.token>) -> ()\n"),
                "t");
}

static void what_cannot_be_seen_has_no_root(void **state) {
    (void)state;
    assert_root(KERNEL("%a: !barrier", USE(a)), NULL);
    assert_root(KERNEL("", "    %a = \"my.alloc\"() : () -> !barrier\n" USE(a)), NULL);
    assert_root(KERNEL("%c: i1", "    %a = \"scf.if\"(%c) : (i1) -> !barrier\n" USE(a)), NULL);
    assert_root(KERNEL("%c: i1", "    %a = \"scf.while\"() ({\n    }, {\n    }) : () -> !barrier\n" USE(a)), NULL);
    assert_root(
        KERNEL("", "    %a = \"ttg.warp_specialize\"() <{partitionNumWarps = array<i32>}> : () -> !barrier\n" USE(a)),
        NULL);
}

static void a_circle_of_blocks_comes_to_an_end(void **state) {
    (void)state;
    assert_root(KERNEL("", "    cf.br ^end\n"
                           "  ^one(%a: !barrier):\n" USE(a) "    cf.br ^two(%a : !barrier)\n"
                                                            "  ^two(%b: !barrier):\n    cf.br ^one(%b : !barrier)\n"
                                                            "  ^end:\n"),
                NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_allocation_is_its_own_root),
        cmocka_unit_test(views_lead_to_what_they_look_at),
        cmocka_unit_test(captures_lead_out_of_a_partition),
        cmocka_unit_test(what_a_loop_carries_comes_from_its_start),
        cmocka_unit_test(of_several_the_first_is_taken),
        cmocka_unit_test(what_a_default_region_gives_comes_from_its_end),
        cmocka_unit_test(tokens_are_roots_too),
        cmocka_unit_test(what_cannot_be_seen_has_no_root),
        cmocka_unit_test(a_circle_of_blocks_comes_to_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
