/* machine/tile/launch/solve, shifts: what a value depends on, and settings that put it into a range. */
#include "running.h"

#include "machine/tile/launch/shifts.h"

typedef struct Solving {
    Running *running;
    Solver *solver;
    Setting *setting;
} Solving;

static Solving solve_for(const char *text) {
    Solving solving = {.running = compile_whole(text)};
    solving.solver = solver_create(&solving.running->reading->module.arena, solving.running->program);
    solving.setting = solver_setting(solving.solver);
    for (int axis = 0; axis < 3; axis++)
        solving.setting->grid[axis] = 1;
    solver_changed(solving.solver);
    return solving;
}

/* The result of op number `which` of that name. */
static const Value *result_of(const Solving *solving, const char *name, unsigned which) {
    const Op *op = find_op(solving->running->reading, name, which);
    assert_non_null(op);
    return &op->results[0];
}

static void set_number(const Solving *solving, uint32_t parameter, int64_t number) {
    solving->setting->numbers[parameter] = number;
    solver_changed(solving->solver);
}

/* ---- What a value depends on ------------------------------------------------------------------------ */

#define WHERE(condition) "    scf.if " condition " {\n" ARRIVE(bar) "    }\n"

/* As signed numbers; a counter that begins below 0 is large without a sign. */
static void a_counter_is_less_than_where_its_loop_ends(void **state) {
    (void)state;
    Solving solving = solve_for(ON_BARRIER("%m: i32, %n: i32",
                                           INIT(bar, 1) "    scf.for %i = %m to %n step %c1 : i32 {\n"
                                                        "      %is = arith.cmpi sge, %i, %n : i32\n"
                                                        "      %is_not = arith.cmpi ult, %i, %n : i32\n"
                                                        "      %other = arith.cmpi sge, %i, %m : i32\n" WHERE("%is")
                                                            WHERE("%is_not") WHERE("%other") "    }\n"));
    assert_true(solver_closed(solving.solver, result_of(&solving, "arith.cmpi", 0)));
    assert_false(solver_closed(solving.solver, result_of(&solving, "arith.cmpi", 1)));
    end_kernel(solving.running);
}

/* Where a ring of three starts over, and where a slot does that was set back there; a counter and its square are no
 * such, nor is a slot that they set back. */
static void a_counter_is_compared_with_what_is_plain(void **state) {
    (void)state;
    Solving solving = solve_for(ON_BARRIER(
        "%n: i32", INIT(bar, 1) "    %c3 = arith.constant 3 : i32\n"
                                "    scf.for %i = %c0 to %n step %c1 : i32 {\n"
                                "      %square = arith.muli %i, %i : i32\n"
                                "      %over = arith.cmpi eq, %i, %c3 : i32\n"
                                "      %less = arith.cmpi slt, %i, %square : i32\n"
                                "      %more = arith.cmpi sgt, %square, %i : i32\n"
                                "      %slot = arith.select %over, %c0, %i : i32\n"
                                "      %other = arith.select %less, %c0, %i : i32\n"
                                "      %first = arith.cmpi eq, %slot, %c2 : i32\n"
                                "      %second = arith.cmpi eq, %other, %c2 : i32\n" WHERE("%over") WHERE("%less")
                                    WHERE("%more") WHERE("%first") WHERE("%second") "    }\n"));
    static const bool plain[] = {true, false, false, true, false};
    for (unsigned i = 0; i < 5; i++) {
        assert_true(solver_turned(solving.solver, result_of(&solving, "arith.cmpi", i)));
        assert_int_equal(solver_counts_up(solving.solver, result_of(&solving, "arith.cmpi", i)), plain[i]);
    }
    end_kernel(solving.running);
}

/* ---- Settings --------------------------------------------------------------------------------------- */

/* The number of %n with which the last op of that name is in the range. */
static int64_t solved(const char *text, const char *name, int64_t least, int64_t most) {
    Solving solving = solve_for(text);
    const Reading *reading = solving.running->reading;
    unsigned last = 0;
    while (find_op(reading, name, last + 1))
        last++;
    int64_t number, found = solving.setting->numbers[0];
    assert_true(
        solve_value(solving.solver, find_op(reading, "scf.if", 0), result_of(&solving, name, last), least, most));
    assert_true(solver_value(solving.solver, result_of(&solving, name, last), &number));
    assert_in_range(number - least, 0, most - least);
    found = solving.setting->numbers[0];
    end_kernel(solving.running);
    return found;
}

#define POSITIVE(value) "    %is = arith.cmpi sgt, %" value ", %c0 : i32\n" WHERE("%is")

static void what_is_subtracted_is_solved_for(void **state) {
    (void)state;
    static const char text[] =
        ON_BARRIER("%n: i32", INIT(bar, 1) "    %c100 = arith.constant 100 : i32\n"
                                           "    %left = arith.subi %c100, %n : i32\n" POSITIVE("left"));
    assert_in_range(solved(text, "arith.subi", 10, 20), 80, 90);
}

/* 0 - max(n - 50, 0) is 0 at first, and never more. */
static void a_factor_of_zero_becomes_negative(void **state) {
    (void)state;
    static const char text[] =
        ON_BARRIER("%n: i32", INIT(bar, 1) "    %c50 = arith.constant 50 : i32\n"
                                           "    %past = arith.subi %n, %c50 : i32\n"
                                           "    %over = arith.maxsi %past, %c0 : i32\n"
                                           "    %under = arith.subi %c0, %over : i32\n"
                                           "    %twice = arith.muli %under, %c2 : i32\n" POSITIVE("twice"));
    assert_in_range(solved(text, "arith.muli", -20, -4), 52, 60);
}

/* ---- Slots that are shifted ------------------------------------------------------------------------- */

/* n in the first turn, and 0 in the second, of a ring of two; in a loop of five turns. */
static void a_shift_in_the_first_turn_is_seen(void **state) {
    (void)state;
    static const char text[] =
        KERNEL("%n: i32", "    %ring = ttg.local_alloc : () -> !ring\n"
                          "    %c5 = arith.constant 5 : i32\n"
                          "    scf.for %i = %c0 to %c5 step %c1 : i32 {\n"
                          "      %rest = arith.subi %c1, %i : i32\n"
                          "      %far = arith.muli %rest, %n : i32\n"
                          "      %slot = arith.andi %far, %c1 : i32\n"
                          "      %bar = ttg.memdesc_index %ring[%slot] : !ring -> !barrier\n" INIT(bar, 1)
                              INVALIDATE(bar) "    }\n");
    static const int64_t numbers[] = {2, 4, 1};
    Solving solving = solve_for(text);
    Shifts *shifts = shifts_create(&solving.running->reading->module.arena, solving.solver, solving.running->program);
    assert_ptr_equal(shifts_item(shifts, 0)->value, result_of(&solving, "arith.andi", 0));
    for (unsigned i = 0; i < 3; i++) {
        set_number(&solving, 0, numbers[i]);
        shifts_see(shifts, solving.solver);
        assert_ptr_equal(shifts_missing(shifts), numbers[i] == 1 ? NULL : shifts_item(shifts, 0));
    }
    end_kernel(solving.running);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_counter_is_less_than_where_its_loop_ends),
        cmocka_unit_test(a_counter_is_compared_with_what_is_plain),
        cmocka_unit_test(what_is_subtracted_is_solved_for),
        cmocka_unit_test(a_factor_of_zero_becomes_negative),
        cmocka_unit_test(a_shift_in_the_first_turn_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
