/* machine/tile/schedule/explore: every schedule of a small kernel: all its ends, within a budget, and none lost by
 * leaving out orders that cannot differ. */
#include "ends.h"
#include "running.h"

static void assert_ends(const char *text, const char *expected) {
    Reading *reading = read_good(text);
    Text ends = {0};
    assert_true(explore_ends(&reading->module, 100000, &ends));
    text_char(&ends, 0);
    assert_string_equal(ends.data, expected);
    text_free(&ends);
    done(reading);
}

/* Mbarriers as phase:pending:bytes, first %a, then %b. */
static void all_ends_are_found(void **state) {
    (void)state;
    assert_ends(AGENTS(INIT(a, 1) INIT(b, 1), ARRIVE(a), WAIT(a, 0)), "default=done partition0=done | 1:1:0 0:1:0\n");
    /* it is lapped in some orders */
    assert_ends(AGENTS(INIT(a, 1) INIT(b, 1), ARRIVE(a) ARRIVE(a), WAIT(a, 0)),
                "default=@19 partition0=@31 | 0:1:0 0:1:0\n"
                "default=done partition0=done | 0:1:0 0:1:0\n");
    /* too early in some */
    assert_ends(AGENTS(INIT(b, 1), INIT(a, 1), ARRIVE(a)), "default=done partition0=done | 1:1:0 0:1:0\n"
                                                           "error uninitialized @29\n");
    assert_ends(AGENTS(INIT(a, 1) INIT(b, 1), ARRIVE_COUNT(a, 2), ""), "error underflow @21\n");
}

static void what_is_in_flight_ends_in_any_order(void **state) {
    (void)state;
    assert_ends(
        KERNEL("%desc: !desc", "    %tile = ttg.local_alloc : () -> !tile\n" SPECIALIZED(
                                   INIT(a, 1) INIT(b, 1), COPY(a) EXPECT(a, 128), WAIT(a, 0) EXPECT(a, 128), COPY(b))),
        "default=done partition0=done | 1:0:128 0:1:-128\n");
}

/* ---- Budgets ---------------------------------------------------------------------------------------- */

/* Two agents with `steps` barriers each of their own, or all together on one. */
static Running *beside_each_other(bool together, unsigned steps) {
    Text text = {0};
    text_addf(&text, "#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n"
                     "#smem = #ttg.shared_memory\n"
                     "!barrier = !ttg.memdesc<1xi64, #shared, #smem, mutable>\n"
                     "module attributes {\"ttg.num-warps\" = 4 : i32} {\n"
                     "  tt.func public @kernel() {\n"
                     "    %%a = ttg.local_alloc : () -> !barrier\n"
                     "    %%b = ttg.local_alloc : () -> !barrier\n"
                     "    ttng.init_barrier %%a, 1 : !barrier\n"
                     "    ttng.init_barrier %%b, 1 : !barrier\n"
                     "    ttg.warp_specialize(%%a, %%b)\n"
                     "    default {\n");
    for (unsigned i = 0; i < steps; i++)
        text_addf(&text, "      ttng.arrive_barrier %%a, 1 : !barrier\n");
    text_addf(&text, "      ttg.warp_yield\n    }\n    partition0(%%a: !barrier, %%b: !barrier) num_warps(1) {\n");
    for (unsigned i = 0; i < steps; i++)
        text_addf(&text, "      ttng.arrive_barrier %%%s, 1 : !barrier\n", together ? "a" : "b");
    text_addf(&text, "      ttg.warp_return\n    } : (!barrier, !barrier) -> ()\n    tt.return\n  }\n}\n");
    text_char(&text, 0);
    Running *running = compile_whole(text.data);
    machine_launch(running->machine, &running->launch);
    text_free(&text);
    return running;
}

static void a_budget_that_is_hit_is_told(void **state) {
    (void)state;
    Running *running = beside_each_other(true, 8);
    Exploration all = explore(running->machine, 0, 100000, (size_t)1 << 26, NULL, NULL);
    assert_true(all.complete);
    assert_int_equal(all.clean, 1);
    assert_true(all.states > 9 * 9);
    Exploration some = explore(running->machine, 0, 20, (size_t)1 << 26, NULL, NULL);
    assert_false(some.complete);
    assert_true(some.states <= 20);
    end_kernel(running);
}

static void memory_that_runs_out_is_told(void **state) {
    (void)state;
    Running *running = beside_each_other(true, 8);
    assert_false(explore(running->machine, 0, 100000, 64 << 10, NULL, NULL).complete);
    end_kernel(running);
}

static void what_is_not_known_is_not_complete(void **state) {
    (void)state;
    Running *running = compile_whole(ON_BARRIER("%n: i32", INIT(bar, 1) "    scf.for %i = %c0 to %n step %c1 : i32 {\n"
                                                                        "    }\n"));
    machine_launch(running->machine, &running->launch);
    assert_false(explore(running->machine, 0, 1000, (size_t)1 << 26, NULL, NULL).complete);
    end_kernel(running);
}

/* ---- Leaving orders out ----------------------------------------------------------------------------- */

static void steps_that_nothing_else_can_see_are_taken_in_one_order(void **state) {
    (void)state;
    Running *apart = beside_each_other(false, 8), *together = beside_each_other(true, 8);
    Exploration few = explore(apart->machine, 0, 100000, (size_t)1 << 26, NULL, NULL);
    Exploration many = explore(together->machine, 0, 100000, (size_t)1 << 26, NULL, NULL);
    assert_true(few.complete && few.reduced && many.complete && many.reduced);
    assert_int_equal(few.clean, 1);
    assert_true(few.states <= 2 * 8 + 4); /* one path */
    assert_true(many.states > 3 * few.states);
    end_kernel(apart);
    end_kernel(together);
}

static void an_end_behind_a_step_of_ones_own_is_not_lost(void **state) {
    (void)state;
    /* %b is the partition's own, but what it does after it is not */
    assert_ends(AGENTS(INIT(a, 1) INIT(b, 1), ARRIVE(a) ARRIVE(a), ARRIVE(b) WAIT(b, 0) WAIT(a, 0)),
                "default=@19 partition0=@33 | 0:1:0 1:1:0\n"
                "default=done partition0=done | 0:1:0 1:1:0\n");
    /* nor one in which its own step goes wrong */
    assert_ends(AGENTS(INIT(a, 1) INIT(b, 1), ARRIVE(a), WAIT(a, 0) ARRIVE_COUNT(b, 2)), "error underflow @31\n");
}

/* ---- Requests for the work of other clusters -------------------------------------------------------- */

#define ANSWER "!ttg.memdesc<2xi64, #shared, #smem, mutable>"

/* Two agents ask, each with an answer of its own, once they have arrived somewhere; that of the partition is reported
 * on barrier `bar`. It waits forever if it is given program 2, as only the second one who asks is. */
#define ASKING(expects, bar)                                                                                          \
    MODULE_OF(1, "  tt.func public @kernel() {\n" CONSTANTS "    %x = ttg.local_alloc : () -> " ANSWER "\n"           \
                 "    %y = ttg.local_alloc : () -> " ANSWER "\n"                                                      \
                 "    %a = ttg.local_alloc : () -> !barrier\n"                                                        \
                 "    %b = ttg.local_alloc : () -> !barrier\n"                                                        \
                 "    %c = ttg.local_alloc : () -> !barrier\n"                                                        \
                 "    %never = ttg.local_alloc : () -> !barrier\n" INIT(a, 1) INIT(b, 1) INIT(c, 2) INIT(never, 1)    \
                     expects                                                                                          \
              "    ttg.warp_specialize(%y, %a, %b, %c, %never)\n"                                                     \
              "    default {\n" ARRIVE(c) "      ttng.clc_try_cancel %x, %a : " ANSWER ", !barrier\n" WAIT(           \
                  a, 0) "      %got = ttng.clc_load_result %x : " ANSWER " -> i128\n"                                 \
                        "      ttg.warp_yield\n    }\n"                                                               \
                        "    partition0(%y: " ANSWER ", %a: !barrier, %b: !barrier, %c: !barrier, %never: !barrier) " \
                        "num_warps(1) {\n" CONSTANTS ARRIVE(                                                          \
                            c) "      ttng.clc_try_cancel %y, %" #bar " : " ANSWER                                    \
                               ", !barrier\n" WAIT(                                                                   \
                                   bar, 0) "      %got = ttng.clc_load_result %y : " ANSWER " -> i128\n"              \
                                           "      %program = ttng.clc_get_program_id %got, x : i128 -> i32\n"         \
                                           "      %second = arith.cmpi eq, %program, %c2 : i32\n"                     \
                                           "      scf.if %second {\n" WAIT(                                           \
                                               never, 0) "      }\n"                                                  \
                                                         "      ttg.warp_return\n"                                    \
                                                         "    } : (" ANSWER                                           \
                                                         ", !barrier, !barrier, !barrier, !barrier) -> ()\n"          \
                                                         "    tt.return\n  }\n")

static void assert_both_answers(const char *text) {
    Running *running = compile_whole(text);
    running->launch.grid[0] = 4;
    machine_launch(running->machine, &running->launch);
    Exploration all = explore(running->machine, 0, 100000, (size_t)1 << 26, NULL, NULL);
    assert_true(all.complete);
    assert_true(all.clean > 0);
    assert_true(all.stuck > 0);
    end_kernel(running);
}

static void who_asks_first_gets_another_answer(void **state) {
    (void)state;
    assert_both_answers(ASKING(EXPECT(a, 32), a)); /* nothing but the answers in flight differs */
    assert_both_answers(ASKING(EXPECT(a, 16) EXPECT(b, 16), b));
}

/* ---- What is found ---------------------------------------------------------------------------------- */

typedef struct Found {
    Running *running;
    Trail trail;
    RunEnd end;
    unsigned count;
} Found;

static bool keep_first(void *context, RunEnd end, const Trail *trail) {
    Found *found = context;
    found->count++;
    if (end == RUN_COMPLETE)
        return false;
    found->end = end;
    found->trail = *trail;
    found->trail.steps = ARENA_ARRAY(&found->running->reading->module.arena, uint32_t, trail->count);
    memcpy(found->trail.steps, trail->steps, trail->count * sizeof *trail->steps);
    return true;
}

static void an_end_comes_with_the_steps_that_lead_there(void **state) {
    (void)state;
    Found found = {.running = compile_whole(AGENTS(INIT(a, 1), ARRIVE(a) ARRIVE(a), WAIT(a, 0)))};
    machine_launch(found.running->machine, &found.running->launch);
    explore(found.running->machine, 0, 10000, (size_t)1 << 26, keep_first, &found);
    assert_int_equal(found.end, RUN_STUCK);
    assert_int_equal(run_schedule(found.running, (Schedule){.kind = SCHEDULE_REPLAY, .replay = &found.trail}),
                     RUN_STUCK);
    end_kernel(found.running);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_ends_are_found),
        cmocka_unit_test(what_is_in_flight_ends_in_any_order),
        cmocka_unit_test(a_budget_that_is_hit_is_told),
        cmocka_unit_test(memory_that_runs_out_is_told),
        cmocka_unit_test(what_is_not_known_is_not_complete),
        cmocka_unit_test(steps_that_nothing_else_can_see_are_taken_in_one_order),
        cmocka_unit_test(an_end_behind_a_step_of_ones_own_is_not_lost),
        cmocka_unit_test(who_asks_first_gets_another_answer),
        cmocka_unit_test(an_end_comes_with_the_steps_that_lead_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
