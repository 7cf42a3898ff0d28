/* machine/tile/schedule/coverage: what of a kernel was run over its chosen launches, and what is said of the rest. */
#include "running.h"

#include "machine/tile/launch/choose.h"
#include "machine/tile/schedule/coverage.h"

static Verdict covered(const char *text, Running **running) {
    *running = compile_whole(text);
    Machine *machine = (*running)->machine;
    Arena *arena = &(*running)->reading->module.arena;
    Covered *covered = covered_create(arena, machine);
    Launch launches[MOST_CHOSEN];
    size_t count = choose_launches(machine->program, arena, NULL, NULL, NULL, launches);
    for (size_t i = 0; i < count; i++) {
        machine_launch(machine, &launches[i]);
        covered_launch(covered, &launches[i]);
        for (uint64_t k = 0; k < machine_clusters(machine); k++) {
            (void)schedule_run(machine, k, &(Schedule){.kind = SCHEDULE_EAGER});
            covered_add_run(covered);
        }
    }
    Verdict verdict = {.arena = arena};
    covered_close(covered, true, &verdict);
    return verdict;
}

/* All that can be run was, and so much cannot be. */
static void assert_all_run(const char *text, uint32_t unreachable) {
    Running *running;
    Verdict verdict = covered(text, &running);
    if (verdict.incomplete_count)
        fail_msg("%s", verdict.incomplete[0].reason);
    assert_int_equal(verdict.coverage.barrier_ops_run, verdict.coverage.barrier_ops);
    assert_int_equal(verdict.coverage.rings_turned, verdict.coverage.rings);
    assert_int_equal(verdict.coverage.unreachable, unreachable);
    end_kernel(running);
}

static void assert_said(const char *text, const char *reason) {
    Running *running;
    Verdict verdict = covered(text, &running);
    assert_int_equal(verdict.incomplete_count, 1);
    assert_string_equal(verdict.incomplete[0].reason, reason);
    end_kernel(running);
}

#define ARRIVES(condition) "    scf.if " condition " {\n  " ARRIVE(bar) "    }\n"

static void ways_that_arguments_decide_are_gone(void **state) {
    (void)state;
    assert_all_run(ON_BARRIER("%n: i32, %yes: i1",
                              INIT(bar, 4) "    %is = arith.cmpi sgt, %n, %c2 : i32\n" ARRIVES("%is") ARRIVES("%yes")),
                   0);
}

static void what_no_launch_can_come_to_is_not_wanted(void **state) {
    (void)state;
    assert_all_run(ON_BARRIER("%n: i32", INIT(bar, 4) "    %is = arith.cmpi sgt, %c1, %c2 : i32\n" ARRIVES("%is")), 1);
    assert_all_run(ON_BARRIER("", INIT(bar, 4) "    ttng.barrier_expect %bar, 16, %false : !barrier\n"), 1);
    /* From its program's place to the next: one turn, whichever program it is, so that there is none after it. */
    assert_all_run(
        ON_BARRIER("", INIT(bar, 4) "    %id = tt.get_program_id x : i32\n"
                                    "    %from = arith.muli %id, %c2 : i32\n"
                                    "    %to = arith.addi %from, %c2 : i32\n"
                                    "    scf.for %i = %from to %to step %c2 : i32 {\n"
                                    "      %next = arith.addi %i, %c2 : i32\n"
                                    "      %more = arith.cmpi slt, %next, %to : i32\n" ARRIVES("%more") "    }\n"),
        1);
}

static void what_data_decides_is_said(void **state) {
    (void)state;
    assert_said(ON_BARRIER("%p: !tt.ptr<i32>", INIT(bar, 4) "    %x = tt.load %p : !tt.ptr<i32>\n"
                                                            "    %odd = arith.constant 123456 : i32\n"
                                                            "    %is = arith.cmpi eq, %x, %odd : i32\n" ARRIVES("%is")),
                "it was not run: the branch at line 20 was not taken; give a launch file with the data of p");
}

/* No number is both. */
static void what_cannot_be_solved_is_said(void **state) {
    (void)state;
    assert_said(ON_BARRIER("%n: i32 {tt.divisibility = 16 : i32}",
                           INIT(bar, 4) "    %odd = arith.constant 17 : i32\n"
                                        "    %is = arith.cmpi eq, %n, %odd : i32\n" ARRIVES("%is")),
                "it was not run: the branch at line 19 was not taken; give --arg n=VALUE, or a launch file");
}

static void a_ring_that_cannot_go_around_is_said(void **state) {
    (void)state;
    assert_said(KERNEL("%n: i32", "    %ring = ttg.local_alloc : () -> !ring\n"
                                  "    %less = arith.cmpi slt, %n, %c2 : i32\n"
                                  "    llvm.intr.assume %less : i1\n"
                                  "    scf.for %i = %c0 to %n step %c1 : i32 {\n"
                                  "      %slot = arith.remsi %i, %c2 : i32\n"
                                  "      %bar = ttg.memdesc_index %ring[%slot] : !ring -> !barrier\n" INIT(bar, 1)
                                      ARRIVE(bar) "    }\n"),
                "its ring of 2 slots never wrapped: at most 1 iteration; give --arg n=VALUE, or a launch "
                "file");
}

static void blocks_and_loops_that_ask_are_counted(void **state) {
    (void)state;
    assert_all_run(
        ON_BARRIER("%n: i32",
                   INIT(bar, 64) "    %z = scf.while (%i = %c0) : (i32) -> i32 {\n"
                                 "      %more = arith.cmpi slt, %i, %n : i32\n"
                                 "      scf.condition(%more) %i : i32\n    } do {\n    ^bb0(%k: i32):\n" ARRIVE(
                                     bar) "      %l = arith.addi %k, %c1 : i32\n"
                                          "      scf.yield %l : i32\n    }\n"),
        0);
    assert_all_run(ON_BARRIER("%yes: i1", INIT(bar, 4) "    cf.cond_br %yes, ^a, ^b\n  ^a:\n" ARRIVE(
                                              bar) "    cf.br ^b\n  ^b:\n" ARRIVE(bar)),
                   0);
}

/* A condition that only a few numbers fulfil, which nothing turns around. */
#define RARE(of)                               \
    "    %h = arith.constant 40503 : i32\n"    \
    "    %bits = arith.constant 65535 : i32\n" \
    "    %m = arith.muli " of ", %h : i32\n"   \
    "    %x = arith.xori %m, " of " : i32\n"   \
    "    %low = arith.andi %x, %bits : i32\n"  \
    "    %rare = arith.cmpi eq, %low, %h : i32\n"

#define RING_OF_TWO "    %ring = ttg.local_alloc : () -> !ring\n"

static void a_branch_that_yields_a_slot_goes_both_ways(void **state) {
    (void)state;
    assert_all_run(KERNEL("%n: i32",
                          RING_OF_TWO "    %is = arith.cmpi sgt, %n, %c2 : i32\n"
                                      "    %slot = scf.if %is -> (i32) {\n      scf.yield %c1 : i32\n"
                                      "    } else {\n      scf.yield %c0 : i32\n    }\n"
                                      "    %bar = ttg.memdesc_index %ring[%slot] : !ring -> !barrier\n" INIT(bar, 1)),
                   0);
    assert_said(KERNEL("%n: i32",
                       RING_OF_TWO RARE("%n") "    scf.for %i = %c0 to %n step %c1 : i32 {\n"
                                              "      %a = arith.remsi %i, %c2 : i32\n"
                                              "      %b = arith.subi %c1, %a : i32\n"
                                              "      %slot = scf.if %rare -> (i32) {\n"
                                              "        scf.yield %b : i32\n"
                                              "      } else {\n        scf.yield %a : i32\n      }\n"
                                              "      %bar = ttg.memdesc_index %ring[%slot] : !ring -> !barrier\n" INIT(
                                                  bar, 1) INVALIDATE(bar) "    }\n"),
                "its other outcome was not run: its condition never held; give --arg n=VALUE, or a launch file");
}

static void a_parity_is_settled_by_a_predicate_that_decides_it(void **state) {
    (void)state;
    assert_said(ON_BARRIER("%n: i32", INIT(bar, 1) RARE("%n") "    %parity = arith.extui %rare : i1 to i32\n" ARRIVE(
                                          bar) "    ttng.wait_barrier %bar, %parity, %true : !barrier\n"),
                "its other outcome was not run: its parity was always 0; give --arg n=VALUE, or a launch file");
    /* More than two are more than none: it waits for parity 1 alone. */
    assert_all_run(ON_BARRIER("%n: i32", INIT(bar, 1) "    %some = arith.cmpi sgt, %n, %c0 : i32\n"
                                                      "    %more = arith.cmpi sgt, %n, %c2 : i32\n"
                                                      "    %parity = arith.extui %some : i1 to i32\n"
                                                      "    ttng.wait_barrier %bar, %parity, %more : !barrier\n"),
                   0);
}

/* A slot that a loop counts, and a number that is seldom 1 shifts; one that goes around the ring whole shifts nothing.
 */
#define SHIFTED(by)                                                                                                \
    KERNEL("%n: i32",                                                                                              \
           RING_OF_TWO RARE("%n") "    %one = arith.extui %rare : i1 to i32\n"                                     \
                                  "    %two = arith.muli %n, %c2 : i32\n"                                          \
                                  "    scf.for %i = %c0 to %n step %c1 : i32 {\n"                                  \
                                  "      %far = arith.addi %i, " by " : i32\n"                                     \
                                  "      %slot = arith.remui %far, %c2 : i32\n"                                    \
                                  "      %bar = ttg.memdesc_index %ring[%slot] : !ring -> !barrier\n" INIT(bar, 1) \
                                      INVALIDATE(bar) "    }\n")

static void slots_that_something_shifts_are_seen_shifted(void **state) {
    (void)state;
    assert_said(SHIFTED("%one"),
                "its other outcome was not run: its condition never held; give --arg n=VALUE, or a launch file");
    assert_all_run(SHIFTED("%two"), 0);
    assert_all_run(SHIFTED("%n"), 0);
}

#define ASKS(condition)                                                                                     \
    "    %response = ttg.local_alloc : () -> !ttg.memdesc<2xi64, #shared, #smem, mutable>\n"                \
    "    ttng.barrier_expect %bar, 16, %true : !barrier\n"                                                  \
    "    ttng.clc_try_cancel %response, %bar : !ttg.memdesc<2xi64, #shared, #smem, mutable>, !barrier\n"    \
    "    ttng.wait_barrier %bar, %c0 : !barrier\n"                                                          \
    "    %answer = ttng.clc_load_result %response : !ttg.memdesc<2xi64, #shared, #smem, mutable> -> i128\n" \
    "    %id = ttng.clc_get_program_id %answer, x : i128 -> i32\n" condition ARRIVES("%is")

/* What CLC answers is nothing's to give; what is made of it and of an argument is. */
static void what_only_CLC_decides_is_left_alone(void **state) {
    (void)state;
    assert_said(ON_BARRIER("%n: i32", INIT(bar, 1) ASKS("    %none = arith.muli %id, %c0 : i32\n"
                                                        "    %sum = arith.addi %n, %none : i32\n" RARE(
                                                            "%sum") "    %is = arith.cmpi eq, %rare, %false : i1\n")),
                "its other outcome was not run: its condition always held; give --arg n=VALUE, or a launch file");
    assert_all_run(
        ON_BARRIER("%n: i32", INIT(bar, 1) ASKS(RARE("%id") "    %is = arith.cmpi eq, %rare, %false : i1\n")), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ways_that_arguments_decide_are_gone),
        cmocka_unit_test(what_no_launch_can_come_to_is_not_wanted),
        cmocka_unit_test(what_data_decides_is_said),
        cmocka_unit_test(what_cannot_be_solved_is_said),
        cmocka_unit_test(a_ring_that_cannot_go_around_is_said),
        cmocka_unit_test(blocks_and_loops_that_ask_are_counted),
        cmocka_unit_test(a_branch_that_yields_a_slot_goes_both_ways),
        cmocka_unit_test(a_parity_is_settled_by_a_predicate_that_decides_it),
        cmocka_unit_test(slots_that_something_shifts_are_seen_shifted),
        cmocka_unit_test(what_only_CLC_decides_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
