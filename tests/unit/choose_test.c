/* machine/tile/launch/choose: launches for a kernel that came without one: how often they make its loops run, and that
 * they keep to what the kernel says of its arguments. */
#include "running.h"

#include "machine/tile/launch/choose.h"

typedef struct Choosing {
    Running *running;
    Launch launches[MOST_CHOSEN];
    size_t count;
} Choosing;

static Choosing choose_for(const char *text) {
    Choosing choosing = {.running = compile_whole(text)};
    choosing.count = choose_launches(choosing.running->machine->program, &choosing.running->reading->module.arena, NULL,
                                     NULL, NULL, choosing.launches);
    assert_in_range(choosing.count, 1, MOST_CHOSEN);
    for (size_t i = 0; i < choosing.count; i++)
        assert_true(choosing.launches[i].chosen);
    return choosing;
}

/* How often loop `loop` runs at most with each of them: "0 1 2 3". */
static char *trips_of(Choosing *choosing, uint32_t loop) {
    Machine *machine = choosing->running->machine;
    Text text = {0};
    for (size_t i = 0; i < choosing->count; i++) {
        machine_launch(machine, &choosing->launches[i]);
        assert_int_equal(schedule_run(machine, 0, &(Schedule){.kind = SCHEDULE_EAGER}), RUN_COMPLETE);
        text_addf(&text, "%s%lld", i ? " " : "", (long long)machine->trips[loop].most);
    }
    text_char(&text, 0);
    return text.data;
}

static void assert_trips(const char *text, uint32_t loop, const char *expected) {
    Choosing choosing = choose_for(text);
    char *trips = trips_of(&choosing, loop);
    assert_string_equal(trips, expected);
    free(trips);
    end_kernel(choosing.running);
}

static int64_t argument(const Launch *launch, const char *name) {
    const Argument *found = launch_find(launch, str_of(name));
    assert_non_null(found);
    return found->integer;
}

/* ---- Trip counts ------------------------------------------------------------------------------------ */

#define RING(depth) "    %ring = ttg.local_alloc : () -> !ttg.memdesc<" #depth "x1xi64, #shared, #smem, mutable>\n"
#define LOOP        "    scf.for %i = %c0 to %n step %c1 : i32 {\n    }\n"

static void loops_run_0_1_2_and_about_as_often_as_the_ring_is_deep(void **state) {
    (void)state;
    assert_trips(KERNEL("%n: i32", RING(3) LOOP), 0, "1 2 3 4 7 0");
    assert_trips(KERNEL("%n: i32", RING(6) LOOP), 0, "1 2 6 7 13 0");
    assert_trips(KERNEL("%n: i32", RING(2) LOOP), 0, "1 2 3 5 0");
    assert_trips(KERNEL("%n: i32", LOOP), 0, "1 2 3 0");
}

static void sizes_are_counted_in_tiles(void **state) {
    (void)state;
    static const char text[] = KERNEL("%K: i32", RING(2) "    %block = arith.constant 64 : i32\n"
                                                         "    %n = arith.ceildivsi %K, %block : i32\n" LOOP);
    assert_trips(text, 0, "1 2 3 5 2 0");
    Choosing choosing = choose_for(text);
    for (size_t i = 0; i < choosing.count; i++) /* and once they are not */
        assert_int_equal(argument(&choosing.launches[i], "K") % 64, choosing.launches[i].doubt == DOUBT_UNEVEN);
    assert_int_equal(choosing.launches[4].doubt, DOUBT_UNEVEN);
    assert_int_equal(choosing.launches[5].doubt, DOUBT_EMPTY);
    end_kernel(choosing.running);
}

static void a_loop_that_runs_as_often_as_it_pleases_has_one_launch(void **state) {
    (void)state;
    Choosing choosing = choose_for(KERNEL("%f: f32", "    scf.for %i = %c0 to %c2 step %c1 : i32 {\n    }\n"));
    assert_int_equal(choosing.count, 1);
    assert_int_equal(choosing.launches[0].count, 0);
    assert_int_equal(choosing.launches[0].grid[0], 1);
    end_kernel(choosing.running);
}

static void loops_around_the_innermost_go_around_too(void **state) {
    (void)state;
    static const char text[] =
        KERNEL("%m: i32, %n: i32", RING(2) "    scf.for %k = %c0 to %m step %c2 : i32 {\n" LOOP "    }\n");
    Choosing choosing = choose_for(text);
    char *outer = trips_of(&choosing, 0), *inner = trips_of(&choosing, 1);
    assert_string_equal(inner, "1 2 3 5 1 1 0");
    assert_string_equal(outer, "1 1 1 1 2 3 1");
    free(outer);
    free(inner);
    end_kernel(choosing.running);
}

/* Of a persistent kernel: whether there is another tile is decided at the end of a turn, and carried to the next. */
#define TILES(carried, went_on)                                                                        \
    "    %first = arith.cmpi " carried ", %c0, %n : i32\n"                                             \
    "    %r = scf.while (%more = %first, %tile = %c0) : (i1, i32) -> i32 {\n" went_on " %tile : i32\n" \
    "    } do {\n    ^bb0(%t: i32):\n"                                                                 \
    "      %next = arith.addi %t, %c2 : i32\n"                                                         \
    "      %again = arith.cmpi " carried ", %next, %n : i32\n"                                         \
    "      scf.yield %again, %next : i1, i32\n    }\n"

/* How often it goes around at most: tiles are two apart. */
static int64_t most_trips(const char *text) {
    Choosing choosing = choose_for(text);
    int64_t most = 0;
    for (size_t i = 0; i < choosing.count; i++) {
        machine_launch(choosing.running->machine, &choosing.launches[i]);
        assert_int_equal(schedule_run(choosing.running->machine, 0, &(Schedule){.kind = SCHEDULE_EAGER}), RUN_COMPLETE);
        int64_t number = (argument(&choosing.launches[i], "n") + 1) / 2;
        most = number > most ? number : most;
    }
    end_kernel(choosing.running);
    return most;
}

static void a_while_goes_around_for_what_a_turn_hands_to_the_next(void **state) {
    (void)state;
    assert_int_equal(most_trips(KERNEL("%n: i32", RING(2) TILES("slt", "      scf.condition(%more)"))), 5);
    assert_int_equal(most_trips(KERNEL("%n: i32", RING(6) TILES("slt", "      scf.condition(%more)"))), 13);
    assert_int_equal(most_trips(KERNEL("%n: i32", RING(2) TILES("sge", "      %go = arith.xori %more, %true : i1\n"
                                                                       "      scf.condition(%go)"))),
                     5);
}

/* What two turns before was decided is not followed, and nothing is made of it. */
static void a_while_that_looks_further_back_is_left_alone(void **state) {
    (void)state;
    static const char text[] = KERNEL(
        "%n: i32", RING(2) "    %first = arith.cmpi slt, %c0, %n : i32\n"
                           "    %r:2 = scf.while (%more = %first, %soon = %first, %tile = %c0) : (i1, i1, i32) -> "
                           "(i1, i32) {\n"
                           "      scf.condition(%more) %soon, %tile : i1, i32\n"
                           "    } do {\n    ^bb0(%s: i1, %t: i32):\n"
                           "      %next = arith.addi %t, %c2 : i32\n"
                           "      %again = arith.cmpi slt, %next, %n : i32\n"
                           "      scf.yield %s, %again, %next : i1, i1, i32\n    }\n");
    assert_in_range(most_trips(text), 1, 3);
}

/* ---- Grids ----------------------------------------------------------------------------------------- */

/* Program n divides by the size of a group that is not there. */
#define GROUPED(before, after)                                                                \
    "    %pid = tt.get_program_id x : i32\n" before "    %size = arith.subi %n, %pid : i32\n" \
    "    %one = arith.minsi %size, %c1 : i32\n"                                               \
    "    %row = arith.divsi %pid, %one : i32\n"                                               \
    "    scf.for %i = %c0 to %row step %c1 : i32 {\n    }\n" after

static void a_grid_ends_before_a_program_that_divides_by_zero(void **state) {
    (void)state;
    Choosing choosing = choose_for(KERNEL("%n: i32", GROUPED("", "")));
    for (size_t i = 0; i < choosing.count; i++)
        if (argument(&choosing.launches[i], "n") > 0)
            assert_in_range(choosing.launches[i].grid[0], 1, argument(&choosing.launches[i], "n"));
    end_kernel(choosing.running);
}

/* Programs without work are run where they leave before the division. */
static void a_grid_goes_on_where_such_a_program_does_not_divide(void **state) {
    (void)state;
    Choosing choosing = choose_for(
        KERNEL("%n: i32", GROUPED("    %has = arith.cmpi slt, %pid, %n : i32\n    scf.if %has {\n", "    }\n")));
    bool idle = false;
    for (size_t i = 0; i < choosing.count; i++)
        idle |= choosing.launches[i].grid[0] > argument(&choosing.launches[i], "n");
    assert_true(idle);
    end_kernel(choosing.running);
}

/* ---- What the kernel says of its arguments ------------------------------------------------------------ */

static void divisibility_is_kept_to(void **state) {
    (void)state;
    assert_trips(KERNEL("%n: i32 {tt.divisibility = 16 : i32}", RING(2) LOOP), 0, "16 0");
}

static void assumptions_are_kept_to(void **state) {
    (void)state;
    assert_trips(KERNEL("%n: i32", RING(3) "    %yes = arith.cmpi sgt, %n, %c1 : i32\n"
                                           "    llvm.intr.assume %yes : i1\n" LOOP),
                 0, "2 3 4 7");
}

static void a_flag_is_true_or_false(void **state) {
    (void)state;
    Choosing choosing = choose_for(KERNEL("%n: i32, %yes: i1", "    scf.if %yes {\n    }\n" LOOP));
    for (size_t i = 0; i < choosing.count; i++)
        assert_in_range(argument(&choosing.launches[i], "yes"), 0, 1);
    end_kernel(choosing.running);
}

static void assert_described(const char *text) {
    Choosing choosing = choose_for(text);
    char *trips = trips_of(&choosing, 0);
    assert_string_equal(trips, "1 2 3 0");
    free(trips);
    const Argument *descriptor = launch_find(&choosing.launches[2], STR("d"));
    assert_non_null(descriptor);
    assert_int_equal(descriptor->kind, ARGUMENT_DESCRIPTOR);
    assert_int_equal(descriptor->rank, 1);
    assert_int_equal(descriptor->shape[0], 3);
    assert_int_equal(descriptor->strides[0], 1);
    end_kernel(choosing.running);
}

static void sizes_of_a_descriptor_are_chosen_as_such(void **state) {
    (void)state;
    assert_described(KERNEL("%d: !desc, %d_0: i64, %d_1: i64", "    %n = arith.trunci %d_0 : i64 to i32\n" LOOP));
    assert_described(
        KERNEL("%d: !desc, %d.shape.0: i32, %d.stride.0: i64", "    %n = arith.addi %d.shape.0, %c0 : i32\n" LOOP));
}

static void a_kernel_that_asks_for_its_place_has_several(void **state) {
    (void)state;
    Choosing choosing = choose_for(KERNEL("", "    %n = tt.get_program_id x : i32\n" LOOP));
    assert_int_equal(choosing.count, 1);
    assert_int_equal(choosing.launches[0].grid[0], 4);
    end_kernel(choosing.running);
}

/* Along each axis two clusters, if programs ask for it, and else one. */
static void a_kernel_of_clusters_has_whole_ones(void **state) {
    (void)state;
    Choosing choosing = choose_for(CLUSTERS(1, 2, "", "    %n = tt.get_program_id x : i32\n" LOOP));
    assert_int_equal(choosing.launches[0].grid[0], 2);
    assert_int_equal(choosing.launches[0].grid[1], 2);
    assert_int_equal(choosing.launches[0].grid[2], 1);
    end_kernel(choosing.running);
    choosing = choose_for(CLUSTERS(2, 1, "", "    %n = tt.get_program_id x : i32\n" LOOP));
    assert_int_equal(choosing.launches[0].grid[0], 4);
    assert_int_equal(choosing.launches[0].grid[1], 1);
    end_kernel(choosing.running);
}

static void what_steers_nothing_is_left_open(void **state) {
    (void)state;
    Choosing choosing = choose_for(KERNEL("%p: !tt.ptr<f32>, %f: f32, %m: i32, %n: i32", LOOP));
    for (size_t i = 0; i < choosing.count; i++) {
        assert_int_equal(choosing.launches[i].count, 1);
        (void)argument(&choosing.launches[i], "n");
    }
    end_kernel(choosing.running);
}

/* ---- Solving ---------------------------------------------------------------------------------------- */

#define IF(condition) "    scf.if " condition " {\n      ttng.arrive_barrier %bar, 1 : !barrier\n    }\n"

/* Whether some launch has that argument. */
static bool some_launch_has(const Choosing *choosing, const char *name, int64_t number) {
    for (size_t i = 0; i < choosing->count; i++)
        if (argument(&choosing->launches[i], name) == number)
            return true;
    return false;
}

static void a_branch_that_one_value_takes_is_taken(void **state) {
    (void)state;
    Choosing choosing = choose_for(ON_BARRIER("%mode: i32", "    %want = arith.constant 7331 : i32\n"
                                                            "    %is = arith.cmpi eq, %mode, %want : i32\n" IF("%is")));
    assert_true(some_launch_has(&choosing, "mode", 7331));
    assert_in_range(choosing.count, 2, 3);
    end_kernel(choosing.running);
}

static void conditions_are_turned_around(void **state) {
    (void)state;
    /* (3 * n - 5) / 4 == 10 and n even */
    Choosing choosing = choose_for(ON_BARRIER(
        "%n: i32 {tt.divisibility = 2 : i32}",
        "    %c3 = arith.constant 3 : i32\n    %c5 = arith.constant 5 : i32\n    %c4 = arith.constant 4 : i32\n"
        "    %c10 = arith.constant 10 : i32\n    %a = arith.muli %n, %c3 : i32\n    %b = arith.subi %a, %c5 : i32\n"
        "    %q = arith.divsi %b, %c4 : i32\n    %is = arith.cmpi eq, %q, %c10 : i32\n" IF("%is")));
    assert_true(some_launch_has(&choosing, "n", 16));
    end_kernel(choosing.running);
}

/* Whether some launch has both arguments. */
static bool some_launch_has_both(const Choosing *choosing, int64_t n, int64_t m) {
    for (size_t i = 0; i < choosing->count; i++)
        if (argument(&choosing->launches[i], "n") == n && argument(&choosing->launches[i], "m") == m)
            return true;
    return false;
}

#define FIVE_AND_SEVEN                                                     \
    "    %c5 = arith.constant 5 : i32\n    %c7 = arith.constant 7 : i32\n" \
    "    %a = arith.cmpi eq, %n, %c5 : i32\n    %b = arith.cmpi eq, %m, %c7 : i32\n"

static void two_conditions_go_through_every_combination(void **state) {
    (void)state;
    Choosing choosing = choose_for(ON_BARRIER("%n: i32, %m: i32", INIT(bar, 4) FIVE_AND_SEVEN IF("%a") IF("%b")));
    assert_true(some_launch_has_both(&choosing, 5, 7));
    assert_true(some_launch_has_both(&choosing, 1, 7));
    assert_true(some_launch_has_both(&choosing, 5, 1));
    end_kernel(choosing.running);
    /* neither holds: n is 5, and so the second does not hold for m alone */
    choosing = choose_for(ON_BARRIER("%n: i32, %m: i32", INIT(bar, 4) FIVE_AND_SEVEN
                                     "    %not = arith.xori %a, %true : i1\n"
                                     "    %other = arith.xori %b, %true : i1\n"
                                     "    %both = arith.andi %a, %other : i1\n" IF("%not") IF("%both")));
    assert_true(some_launch_has_both(&choosing, 5, 7));
    end_kernel(choosing.running);
}

static void bits_are_set_and_cleared(void **state) {
    (void)state;
    Choosing choosing = choose_for(ON_BARRIER("%n: i32", "    %c64 = arith.constant 64 : i32\n"
                                                         "    %bit = arith.andi %n, %c64 : i32\n"
                                                         "    %is = arith.cmpi ne, %bit, %c0 : i32\n" IF("%is")));
    assert_true(some_launch_has(&choosing, "n", 64));
    end_kernel(choosing.running);
}

/* n / m, and the same rounded up: as often wherever m divides n. */
static void loops_whose_bounds_are_computed_differently_run_apart(void **state) {
    (void)state;
    Choosing choosing = choose_for(KERNEL("%n: i32, %m: i32", "    %down = arith.divsi %n, %m : i32\n"
                                                              "    %up = arith.ceildivsi %n, %m : i32\n"
                                                              "    scf.for %i = %c0 to %down step %c1 : i32 {\n    }\n"
                                                              "    scf.for %i = %c0 to %up step %c1 : i32 {\n    }\n"));
    const Launch *apart = NULL;
    for (size_t i = 0; i < choosing.count; i++)
        if (argument(&choosing.launches[i], "n") % argument(&choosing.launches[i], "m"))
            apart = &choosing.launches[i];
    assert_non_null(apart);
    assert_int_equal(apart->doubt, DOUBT_APART);
    end_kernel(choosing.running);
}

/* Rounded up where one element is missing: apart for n = 63, but not for n = 65, nor for small ones. */
static void loops_run_apart_right_below_a_tile(void **state) {
    (void)state;
    Choosing choosing = choose_for(KERNEL("%n: i32", "    %c63 = arith.constant 63 : i32\n"
                                                     "    %c64 = arith.constant 64 : i32\n"
                                                     "    %down = arith.divsi %n, %c64 : i32\n"
                                                     "    %rest = arith.andi %n, %c63 : i32\n"
                                                     "    %one = arith.divsi %rest, %c63 : i32\n"
                                                     "    %up = arith.addi %down, %one : i32\n"
                                                     "    scf.for %i = %c0 to %down step %c1 : i32 {\n    }\n"
                                                     "    scf.for %i = %c0 to %up step %c1 : i32 {\n    }\n"));
    bool apart = false;
    for (size_t i = 0; i < choosing.count; i++)
        apart |= argument(&choosing.launches[i], "n") % 64 == 63;
    assert_true(apart);
    end_kernel(choosing.running);
}

/* Loops of two agents that go by different numbers, beside one of `turns` turns. */
#define BESIDE(turns)                                                                                            \
    KERNEL("%n: i32, %m: i32", "    %many = arith.constant " #turns " : i32\n    ttg.warp_specialize(%m)\n"      \
                               "    default {\n" LOOP "    scf.for %i = %c0 to %many step %c1 : i32 {\n    }\n"  \
                               "      ttg.warp_yield\n    }\n    partition0(%k: i32) num_warps(1) {\n" CONSTANTS \
                               "    scf.for %i = %c0 to %k step %c1 : i32 {\n    }\n      ttg.warp_return\n"     \
                               "    } : (i32) -> ()\n")

static bool runs_apart(const char *text) {
    Choosing choosing = choose_for(text);
    bool apart = false;
    for (size_t i = 0; i < choosing.count; i++)
        apart |= choosing.launches[i].doubt == DOUBT_APART;
    end_kernel(choosing.running);
    return apart;
}

/* 8192 turns together are few enough: two, three, and those of the long one. */
static void loops_of_two_agents_run_apart_if_runs_are_short(void **state) {
    (void)state;
    assert_true(runs_apart(BESIDE(8187)));
    assert_false(runs_apart(BESIDE(8188)));
}

/* (i * n) & 1 is always 0 if n is even. */
static void slots_that_an_argument_shifts_are_others(void **state) {
    (void)state;
    Choosing choosing = choose_for(KERNEL("%n: i32, %m: i32", "    %ring = ttg.local_alloc : () -> !ring\n"
                                                              "    scf.for %i = %c0 to %m step %c1 : i32 {\n"
                                                              "      %far = arith.muli %i, %n : i32\n"
                                                              "      %slot = arith.andi %far, %c1 : i32\n"
                                                              "      %bar = ttg.memdesc_index %ring[%slot] : !ring -> "
                                                              "!barrier\n" INIT(bar, 1) INVALIDATE(bar) "    }\n"));
    assert_true(some_launch_has(&choosing, "n", 1));
    assert_true(some_launch_has(&choosing, "n", 2));
    end_kernel(choosing.running);
}

static void a_branch_in_a_late_turn_is_taken(void **state) {
    (void)state;
    assert_trips(ON_BARRIER("%n: i32", INIT(bar, 1) "    %late = arith.constant 40 : i32\n"
                                                    "    scf.for %i = %c0 to %n step %c1 : i32 {\n"
                                                    "    %is = arith.cmpi eq, %i, %late : i32\n" IF("%is") "    }\n"),
                 0, "1 2 3 42 0");
}

/* What follows a number that is cut off or wraps is run too, past where it is, and once more round the ring. */
static void loops_run_past_what_bends_a_number(void **state) {
    (void)state;
    assert_trips(KERNEL("%n: i32", RING(2) "    %most = arith.constant 20 : i32\n"
                                           "    %m = arith.minsi %n, %most : i32\n"
                                           "    scf.for %i = %c0 to %m step %c1 : i32 {\n    }\n" LOOP),
                 1, "1 2 3 5 25 0");
    assert_trips(ON_BARRIER("%n: i32", INIT(bar, 1) "    %mask = arith.constant 15 : i32\n"
                                                    "    scf.for %i = %c0 to %n step %c1 : i32 {\n"
                                                    "    %low = arith.andi %i, %mask : i32\n"
                                                    "    %is = arith.cmpi eq, %low, %mask : i32\n" IF("%is") "    }\n"),
                 0, "1 2 3 17 20 0");
}

static void a_phase_goes_both_ways(void **state) {
    (void)state;
    Choosing choosing = choose_for(ON_BARRIER(
        "%n: i32", INIT(bar, 1) "    %one = arith.constant 77 : i32\n    %is = arith.cmpi eq, %n, %one : i32\n"
                                "    %phase = arith.extui %is : i1 to i32\n" ARRIVE(
                                    bar) "    ttng.wait_barrier %bar, %phase : !barrier\n"));
    assert_int_equal(choosing.count, 2);
    assert_int_equal(argument(&choosing.launches[0], "n"), 1);
    assert_int_equal(argument(&choosing.launches[1], "n"), 77);
    end_kernel(choosing.running);
}

static void every_axis_that_is_asked_for_has_several_programs(void **state) {
    (void)state;
    Choosing choosing = choose_for(KERNEL("", "    %y = tt.get_program_id y : i32\n    %z = tt.get_program_id z : i32\n"
                                              "    %n = arith.addi %y, %z : i32\n" LOOP));
    assert_int_equal(choosing.launches[0].grid[0], 1);
    assert_int_equal(choosing.launches[0].grid[1], 2);
    assert_int_equal(choosing.launches[0].grid[2], 2);
    end_kernel(choosing.running);
}

static void a_program_far_out_is_launched(void **state) {
    (void)state;
    Choosing choosing = choose_for(ON_BARRIER("", "    %far = arith.constant 100 : i32\n"
                                                  "    %id = tt.get_program_id x : i32\n"
                                                  "    %is = arith.cmpi sge, %id, %far : i32\n" IF("%is")));
    assert_int_equal(choosing.launches[choosing.count - 1].grid[0], 101);
    end_kernel(choosing.running);
}

static void what_is_given_stays(void **state) {
    (void)state;
    Running *running = compile_whole(KERNEL("%m: i32, %n: i32", RING(2) LOOP));
    Launch launches[MOST_CHOSEN], fixed = {0};
    Arena *arena = &running->reading->module.arena;
    assert_null(launch_set(arena, &fixed, "n=5"));
    size_t count = choose_launches(running->machine->program, arena, NULL, &fixed, NULL, launches);
    assert_int_equal(count, 1);
    assert_int_equal(argument(&launches[0], "n"), 5);
    assert_false(launches[0].chosen);
    end_kernel(running);
}

static void beside_a_launch_the_rest_is_as_there(void **state) {
    (void)state;
    Running *running = compile_whole(KERNEL("%m: i32, %n: i32", RING(2) LOOP));
    Launch launches[MOST_CHOSEN], like = {.grid = {1, 1, 1}};
    Arena *arena = &running->reading->module.arena;
    assert_null(launch_set(arena, &like, "n=5"));
    assert_null(launch_set(arena, &like, "m=77"));
    size_t count = choose_launches(running->machine->program, arena, &like, NULL, NULL, launches);
    assert_int_equal(count, 5);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(argument(&launches[i], "m"), 77);
    end_kernel(running);
}

/* A shape that is another has none of the data. */
static void beside_a_launch_other_shapes_have_no_data(void **state) {
    (void)state;
    static const int64_t data[] = {7, 8, 9};
    Running *running =
        compile_whole(KERNEL("%d: !desc, %d_0: i64, %d_1: i64", "    %n = arith.trunci %d_0 : i64 to i32\n" LOOP));
    Argument given = {.name = STR("d"),
                      .kind = ARGUMENT_DESCRIPTOR,
                      .rank = 1,
                      .shape = {3},
                      .strides = {1},
                      .data = data,
                      .data_count = 3};
    Launch launches[MOST_CHOSEN], like = {.grid = {1, 1, 1}, .arguments = &given, .count = 1};
    size_t count =
        choose_launches(running->machine->program, &running->reading->module.arena, &like, NULL, NULL, launches);
    unsigned others = 0;
    for (size_t i = 0; i < count; i++) {
        const Argument *argument = launch_find(&launches[i], STR("d"));
        bool same = argument->shape[0] == 3;
        assert_ptr_equal(argument->data, same ? data : NULL);
        assert_int_equal(argument->data_count, same ? 3 : 0);
        others += !same;
    }
    assert_true(others > 0);
    end_kernel(running);
}

static void launches_are_chosen_once_for_each_question(void **state) {
    (void)state;
    Running *running = compile_whole(KERNEL("%m: i32, %n: i32", RING(2) LOOP));
    Launch launches[MOST_CHOSEN], again[MOST_CHOSEN], like = {.grid = {1, 1, 1}};
    Arena *arena = &running->reading->module.arena;
    const Program *program = running->machine->program;
    ChosenLaunches *before = NULL;
    assert_null(launch_set(arena, &like, "n=5"));
    assert_null(launch_set(arena, &like, "m=77"));
    size_t count = choose_launches(program, arena, &like, NULL, &before, launches);
    const ChosenLaunches *first = before;
    assert_int_equal(choose_launches(program, arena, &like, NULL, &before, again), count);
    assert_ptr_equal(before, first);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(argument(&again[i], "m"), 77);
    (void)choose_launches(program, arena, NULL, NULL, &before, again);
    assert_ptr_equal(before->older, first);
    end_kernel(running);
}

static void a_narrow_counter_comes_round(void **state) {
    (void)state;
    assert_trips(KERNEL("%n: i32",
                        RING(2) "    %z = arith.constant 0 : i8\n    %one = arith.constant 1 : i8\n"
                                "    %r = scf.for %i = %c0 to %n step %c1 iter_args(%k = %z) -> (i8) : i32 {\n"
                                "      %l = arith.addi %k, %one : i8\n      scf.yield %l : i8\n    }\n"),
                 0, "1 2 3 5 259 0");
}

/* ---- Kernels that are hard to choose for -------------------------------------------------------------- */

static void loops_that_do_not_end_are_not_run(void **state) {
    (void)state;
    Choosing choosing = choose_for(
        KERNEL("%n: i32", "    cf.br ^again\n  ^again:\n" LOOP "    cf.cond_br %true, ^again, ^end\n  ^end:\n"));
    assert_int_equal(choosing.count, 4); /* nothing is run to find them */
    end_kernel(choosing.running);
}

static void a_descriptor_has_no_more_dimensions_than_there_can_be(void **state) {
    (void)state;
    Choosing choosing = choose_for(KERNEL(
        "%d: !desc, %d_0: i64, %d_1: i64, %d_2: i64, %d_3: i64, %d_4: i64, %d_5: i64, %d_6: i64, %d_7: i64, %d_8: i64, "
        "%d_9: i64, %d_10: i64, %d_11: i64, %d_12: i64, %d_13: i64, %d_14: i64, %d_15: i64, %d_16: i64, %d_17: i64, "
        "%d_18: i64, %d_19: i64",
        "    %n = arith.trunci %d_0 : i64 to i32\n" LOOP));
    assert_int_equal(launch_find(&choosing.launches[0], STR("d"))->rank, ARGUMENT_MOST_DIMS);
    end_kernel(choosing.running);
}

static void choosing_is_deterministic(void **state) {
    (void)state;
    static const char text[] =
        KERNEL("%m: i32, %n: i32", RING(2) "    scf.for %k = %c0 to %m step %c2 : i32 {\n" LOOP "    }\n");
    Choosing first = choose_for(text), second = choose_for(text);
    assert_int_equal(first.count, second.count);
    for (size_t i = 0; i < first.count; i++) {
        Text a = {0}, b = {0};
        launch_write(&first.launches[i], &a);
        launch_write(&second.launches[i], &b);
        text_char(&a, 0);
        text_char(&b, 0);
        assert_string_equal(a.data, b.data);
        text_free(&a);
        text_free(&b);
    }
    end_kernel(first.running);
    end_kernel(second.running);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_run_0_1_2_and_about_as_often_as_the_ring_is_deep),
        cmocka_unit_test(sizes_are_counted_in_tiles),
        cmocka_unit_test(a_loop_that_runs_as_often_as_it_pleases_has_one_launch),
        cmocka_unit_test(loops_around_the_innermost_go_around_too),
        cmocka_unit_test(divisibility_is_kept_to),
        cmocka_unit_test(assumptions_are_kept_to),
        cmocka_unit_test(a_flag_is_true_or_false),
        cmocka_unit_test(a_branch_that_one_value_takes_is_taken),
        cmocka_unit_test(conditions_are_turned_around),
        cmocka_unit_test(two_conditions_go_through_every_combination),
        cmocka_unit_test(bits_are_set_and_cleared),
        cmocka_unit_test(loops_whose_bounds_are_computed_differently_run_apart),
        cmocka_unit_test(loops_run_apart_right_below_a_tile),
        cmocka_unit_test(loops_of_two_agents_run_apart_if_runs_are_short),
        cmocka_unit_test(slots_that_an_argument_shifts_are_others),
        cmocka_unit_test(a_branch_in_a_late_turn_is_taken),
        cmocka_unit_test(loops_run_past_what_bends_a_number),
        cmocka_unit_test(a_phase_goes_both_ways),
        cmocka_unit_test(every_axis_that_is_asked_for_has_several_programs),
        cmocka_unit_test(a_program_far_out_is_launched),
        cmocka_unit_test(what_is_given_stays),
        cmocka_unit_test(beside_a_launch_the_rest_is_as_there),
        cmocka_unit_test(beside_a_launch_other_shapes_have_no_data),
        cmocka_unit_test(launches_are_chosen_once_for_each_question),
        cmocka_unit_test(a_narrow_counter_comes_round),
        cmocka_unit_test(sizes_of_a_descriptor_are_chosen_as_such),
        cmocka_unit_test(a_while_goes_around_for_what_a_turn_hands_to_the_next),
        cmocka_unit_test(a_while_that_looks_further_back_is_left_alone),
        cmocka_unit_test(a_grid_ends_before_a_program_that_divides_by_zero),
        cmocka_unit_test(a_grid_goes_on_where_such_a_program_does_not_divide),
        cmocka_unit_test(a_kernel_that_asks_for_its_place_has_several),
        cmocka_unit_test(a_kernel_of_clusters_has_whole_ones),
        cmocka_unit_test(what_steers_nothing_is_left_open),
        cmocka_unit_test(loops_that_do_not_end_are_not_run),
        cmocka_unit_test(a_descriptor_has_no_more_dimensions_than_there_can_be),
        cmocka_unit_test(choosing_is_deterministic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
