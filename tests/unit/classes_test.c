/* machine/tile/schedule/classes, machine/tile/step/alike: which clusters of a grid do the same. Beside examples,
 * kernels that are made up at random: every cluster of a small grid is run, and must do what the one does that speaks
 * for it. */
#include "running.h"

#include "machine/tile/schedule/classes.h"

/* ---- What a cluster does ---------------------------------------------------------------------------- */

static void add_event(void *observer, const Event *event) {
    uint64_t *trace = observer;
    *trace = identity_mix(*trace, (uint64_t)event->kind << 32 | event->agent);
    *trace = identity_mix(*trace, (uint64_t)event->pc << 32 | event->barrier);
    *trace = identity_mix(*trace, (uint64_t)event->amount << 1 | event->parity);
}

static uint64_t trace_of(Machine *machine, uint64_t cluster) {
    uint64_t trace = 0;
    machine->observe = add_event;
    machine->observer = &trace;
    RunEnd end = schedule_run(machine, cluster, &(Schedule){.kind = SCHEDULE_EAGER});
    machine->observe = NULL;
    return identity_mix(trace, end);
}

static Running *launched(const char *text, int64_t x, int64_t y, int64_t z) {
    Running *running = compile_kernel(text);
    assert_non_null(running->machine);
    running->launch = (Launch){.grid = {x, y, z}};
    machine_launch(running->machine, &running->launch);
    return running;
}

/* Whether all clusters of the last class do what its first does. */
static void assert_symmetry(const CtaClasses *classes, Machine *machine, uint64_t first, const char *text) {
    CtaBox box = classes_last(classes);
    const int64_t *low = box.low, *high = box.high;
    uint64_t trace = trace_of(machine, first);
    for (int64_t z = low[2]; z <= high[2]; z++)
        for (int64_t y = low[1]; y <= high[1]; y++)
            for (int64_t x = low[0]; x <= high[0]; x++) {
                uint64_t cluster = (uint64_t)(x + machine->programs[0] * (y + machine->programs[1] * z));
                if (trace_of(machine, cluster) != trace)
                    fail_msg("cluster %llu does not do what cluster %llu does:\n%s", (unsigned long long)cluster,
                             (unsigned long long)first, text);
            }
}

/* How many classes there are; all clusters of each are run if the grid is small. */
static uint64_t count_classes(const char *text, int64_t x, int64_t y, int64_t z) {
    Running *running = launched(text, x, y, z);
    Machine *machine = running->machine;
    CtaClasses *classes = classes_create(&running->reading->module.arena, machine, false);
    uint64_t cluster, all = machine_clusters(machine);
    while (classes_next(classes, &cluster))
        if (all <= 1 << 12)
            assert_symmetry(classes, machine, cluster, text);
    uint64_t count = classes_count(classes);
    if (count < MOST_CLASSES)
        assert_int_equal(classes_covered(classes), all);
    end_kernel(running);
    return count;
}

/* ---- Examples ---------------------------------------------------------------------------------------- */

#define PROGRAM_IDS "    %x = tt.get_program_id x : i32\n    %y = tt.get_program_id y : i32\n"
#define HUGE_GRID   INT64_C(2147483647)
/* Arrives where %c is true, and waits. */
#define MAY_HANG INIT(bar, 1) "    scf.if %c {\n" ARRIVE(bar) "    }\n" WAIT(bar, 0)

/* The same without the wait: a run that hangs speaks for no other. */
#define MAY_ARRIVE INIT(bar, 2) "    scf.if %c {\n" ARRIVE(bar) "    }\n"

static void programs_that_read_no_id_are_one_class(void **state) {
    (void)state;
    assert_int_equal(count_classes(ON_BARRIER("", INIT(bar, 1) ARRIVE(bar) WAIT(bar, 0)), HUGE_GRID, 1, 1), 1);
    assert_int_equal(count_classes(ON_BARRIER("", PROGRAM_IDS INIT(bar, 1) ARRIVE(bar) WAIT(bar, 0)), 7, 5, 3), 1);
}

static void the_last_program_of_a_huge_grid_is_a_class_of_its_own(void **state) {
    (void)state;
    static const char text[] = ON_BARRIER("", PROGRAM_IDS "    %last = arith.constant 2147483646 : i32\n"
                                                          "    %c = arith.cmpi slt, %x, %last : i32\n" MAY_HANG);
    assert_int_equal(count_classes(text, HUGE_GRID, 1, 1), 2);
    assert_int_equal(count_classes(text, HUGE_GRID - 1, 1, 1), 1);
}

static void one_program_in_the_middle_is_found(void **state) {
    (void)state;
    static const char text[] = ON_BARRIER("", PROGRAM_IDS "    %m = arith.constant 1234567 : i32\n"
                                                          "    %c = arith.cmpi ne, %x, %m : i32\n" MAY_HANG);
    assert_int_equal(count_classes(text, HUGE_GRID, 1, 1), 3);
    assert_int_equal(count_classes(text, 1234567, 1, 1), 1);
}

static void a_tile_beyond_the_end_is_told_from_whole_ones(void **state) {
    (void)state;
    static const char text[] = ON_BARRIER(
        "", PROGRAM_IDS "    %n = arith.constant 1000 : i32\n    %block = arith.constant 64 : i32\n"
                        "    %begin = arith.muli %x, %block : i32\n"
                        "    %left = arith.subi %n, %begin : i32\n"
                        "    %size = arith.minsi %left, %block : i32\n" INIT(
                            bar, 1) "    scf.for %i = %c0 to %size step %c1 : i32 {\n" ARRIVE(bar) "    }\n");
    assert_int_equal(count_classes(text, 16, 1, 1), 2);
}

static void classes_follow_the_trips_of_a_persistent_loop(void **state) {
    (void)state;
    static const char text[] =
        ON_BARRIER("", PROGRAM_IDS "    %n = arith.constant 300 : i32\n    %step = arith.constant 132 : i32\n" INIT(
                           bar, 1) "    scf.for %i = %x to %n step %step : i32 {\n" ARRIVE(bar) "    }\n");
    assert_int_equal(count_classes(text, 132, 1, 1), 2);
}

static void groups_of_programs_are_told_apart_by_their_quotient(void **state) {
    (void)state;
    static const char text[] =
        ON_BARRIER("", PROGRAM_IDS "    %c8 = arith.constant 8 : i32\n    %c3 = arith.constant 3 : i32\n"
                                   "    %group = arith.divsi %x, %c8 : i32\n"
                                   "    %c = arith.cmpi ne, %group, %c3 : i32\n" MAY_ARRIVE);
    assert_int_equal(count_classes(text, 64, 4, 1), 8);
}

/* A shift is a quotient, too, whether the number has a sign or not. */
static void groups_of_programs_are_told_apart_by_a_shift(void **state) {
    (void)state;
    static const char text[] =
        ON_BARRIER("", PROGRAM_IDS "    %s3 = arith.constant 3 : i32\n    %group = arith.shrui %x, %s3 : i32\n"
                                   "    %c = arith.cmpi ne, %group, %s3 : i32\n" MAY_ARRIVE);
    assert_int_equal(count_classes(text, 64, 4, 1), 8);
    static const char below[] =
        ON_BARRIER("", PROGRAM_IDS "    %s3 = arith.constant 3 : i32\n    %c24 = arith.constant 24 : i32\n"
                                   "    %left = arith.subi %x, %c24 : i32\n    %group = arith.shrsi %left, %s3 : i32\n"
                                   "    %c = arith.cmpi ne, %group, %c0 : i32\n" MAY_ARRIVE);
    assert_int_equal(count_classes(below, 64, 4, 1), 8);
}

/* Of unsigned numbers those below 0 are the greatest ones. */
static void numbers_without_a_sign(void **state) {
    (void)state;
    static const char *const ops[] = {"minui", "maxui", "minsi", "maxsi"};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        for (int turned = 0; turned < 2; turned++) {
            Text text = {0};
            text_addf(&text, "%s", MODULE_OF(1, "  tt.func public @kernel() {\n"));
            text.size -= strlen("}\n"); /* of the module, which goes on */
            text_str(&text, STR(CONSTANTS "    %bar = ttg.local_alloc : () -> !barrier\n" PROGRAM_IDS));
            text_addf(&text,
                      "    %%m3 = arith.constant 3 : i32\n    %%m9 = arith.constant 9 : i32\n"
                      "    %%left = arith.subi %%x, %%m3 : i32\n    %%some = arith.%s %%%s, %%%s : i32\n"
                      "    %%c = arith.cmpi sgt, %%some, %%c1 : i32\n",
                      ops[i], turned ? "m9" : "left", turned ? "left" : "m9");
            text_str(&text, STR(MAY_ARRIVE "    tt.return\n  }\n}\n"));
            text_char(&text, 0);
            count_classes(text.data, 16, 1, 1);
            text_free(&text);
        }
}

static void ids_of_two_axes_may_decide_together(void **state) {
    (void)state;
    static const char text[] =
        ON_BARRIER("", PROGRAM_IDS "    %c9 = arith.constant 9 : i32\n    %sum = arith.addi %x, %y : i32\n"
                                   "    %c = arith.cmpi slt, %sum, %c9 : i32\n" MAY_ARRIVE);
    assert_in_range(count_classes(text, 12, 7, 2), 2, 30);
}

static void numbers_that_wrap_are_not_followed(void **state) {
    (void)state;
    static const char text[] = ON_BARRIER("", PROGRAM_IDS "    %big = arith.constant 1000000000 : i32\n"
                                                          "    %far = arith.muli %x, %big : i32\n"
                                                          "    %c = arith.cmpi sge, %far, %c0 : i32\n" MAY_HANG);
    assert_in_range(count_classes(text, 40, 1, 1), 2, 40);
}

/* Of more classes than are looked at, the rest is not claimed. */
static void too_many_classes_are_not_covered(void **state) {
    (void)state;
    static const char text[] = ON_BARRIER("", PROGRAM_IDS "    %square = arith.muli %x, %x : i32\n"
                                                          "    %low = arith.andi %square, %c2 : i32\n"
                                                          "    %c = arith.cmpi eq, %low, %c0 : i32\n" MAY_HANG);
    Running *running = launched(text, HUGE_GRID, 1, 1);
    CtaClasses *classes = classes_create(&running->reading->module.arena, running->machine, false);
    uint64_t cluster;
    while (classes_next(classes, &cluster))
        ;
    assert_int_equal(classes_count(classes), MOST_CLASSES);
    assert_true(classes_covered(classes) < (uint64_t)HUGE_GRID);
    end_kernel(running);
}

static void loads_that_differ_make_every_cluster_its_own_class(void **state) {
    (void)state;
    static const char text[] = ON_BARRIER(
        "%p: !tt.ptr<i32>", INIT(bar, 1) "    %n = tt.load %p : !tt.ptr<i32>\n"
                                         "    scf.for %i = %c0 to %n step %c1 : i32 {\n" ARRIVE(bar) "    }\n");
    Running *running = launched(text, 9, 1, 1);
    CtaClasses *classes = classes_create(&running->reading->module.arena, running->machine, true);
    uint64_t cluster;
    while (classes_next(classes, &cluster))
        ;
    assert_int_equal(classes_count(classes), 9);
    end_kernel(running);
}

/* ---- At random --------------------------------------------------------------------------------------- */

static uint32_t next(uint32_t *random, uint32_t below) {
    *random = *random * 1664525u + 1013904223u;
    return (*random >> 8) % below;
}

/* Values %v0, %v1, ... of i32, each made of two before it; the first are the ids and some constants. */
static unsigned add_values(Text *text, uint32_t *random) {
    static const char *const ops[] = {"addi",  "subi",      "muli",       "divsi",     "remsi", "divui",
                                      "remui", "minsi",     "maxsi",      "minui",     "maxui", "shrsi",
                                      "shrui", "shli",      "andi",       "ori",       "addi",  "subi",
                                      "muli",  "ceildivsi", "floordivsi", "ceildivui", "xori"};
    static const char *const predicates[] = {"eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"};
    unsigned count = 2, constants = 4;
    text_addf(text, "    %%v0 = tt.get_program_id x : i32\n    %%v1 = tt.get_program_id y : i32\n");
    for (; count < 2 + constants; count++)
        text_addf(text, "    %%v%u = arith.constant %u : i32\n", count, 1 + next(random, count % 2 ? 9 : 70));
    for (unsigned steps = 3 + next(random, 8); steps > 0; steps--, count++) {
        unsigned a = next(random, count), b = next(random, 3) ? 2 + next(random, constants) : next(random, count);
        if (next(random, 4)) {
            text_addf(text, "    %%v%u = arith.%s %%v%u, %%v%u : i32\n", count,
                      ops[next(random, sizeof ops / sizeof *ops)], a, b);
            continue;
        }
        text_addf(text, "    %%q%u = arith.cmpi %s, %%v%u, %%v%u : i32\n", count, predicates[next(random, 10)], a, b);
        text_addf(text, "    %%v%u = arith.select %%q%u, %%v%u, %%v%u : i32\n", count, count, next(random, count), b);
    }
    return count;
}

static char *random_kernel(uint32_t seed) {
    Text text = {0};
    uint32_t random = seed * 2654435761u + 1;
    text_addf(&text, "%s", MODULE_OF(1, "  tt.func public @kernel() {\n"));
    text.size -= strlen("}\n"); /* of the module, which goes on */
    text_str(&text, STR(CONSTANTS "    %bar = ttg.local_alloc : () -> !barrier\n" INIT(bar, 64)));
    unsigned count = add_values(&text, &random);
    text_addf(&text, "    %%few = arith.constant 5 : i32\n    %%trips = arith.remui %%v%u, %%few : i32\n", count - 1);
    text_str(&text, STR("    scf.for %i = %c0 to %trips step %c1 : i32 {\n" ARRIVE(bar) "    }\n"));
    text_addf(&text, "    %%c = arith.cmpi slt, %%v%u, %%v%u : i32\n", count - 2, 2 + next(&random, 4));
    text_str(&text, STR("    scf.if %c {\n" ARRIVE(bar) "    }\n    tt.return\n  }\n}\n"));
    text_char(&text, 0);
    return text.data;
}

static void every_cluster_does_what_speaks_for_it(void **state) {
    (void)state;
    for (uint32_t seed = 0; seed < 400; seed++) {
        char *text = random_kernel(seed);
        count_classes(text, 1 + seed % 29, 1 + seed % 7, 1);
        free(text);
    }
}

/* ---- A grid of one dimension that is a box ------------------------------------------------------------ */

/* CTAs that go by their number modulo 8. */
static bool run_rest(void *context, Symmetry *symmetry, uint64_t cta) {
    AffineForm number = symmetry_coordinate(symmetry, 0, 1), rest;
    (void)context;
    symmetry_quotient(symmetry, &number, 8, (int64_t)(cta % 8), (int64_t)(cta % 8), &rest);
    symmetry_pin(symmetry, &rest);
    return true;
}

static void a_grid_that_is_split_has_each_cta_once(void **state) {
    static const int64_t sizes[AXES] = {100, 1, 1};
    (void)state;
    Arena arena;
    arena_init(&arena, SIZE_MAX);
    CtaClasses *classes = classes_new(&arena, sizes, CLASSES_LOWEST, false, run_rest, NULL);
    unsigned seen[100] = {0};
    uint64_t cta;
    int64_t box[AXES], at[AXES];
    assert_true(classes_split(classes, 0));
    classes_sizes(classes, box);
    assert_int_equal(box[0], 8);
    while (classes_next(classes, &cta)) {
        CtaBox last = classes_last(classes);
        for (at[2] = last.low[2]; at[2] <= last.high[2]; at[2]++)
            for (at[1] = last.low[1]; at[1] <= last.high[1]; at[1]++)
                for (at[0] = last.low[0]; at[0] <= last.high[0]; at[0]++) {
                    uint64_t other = classes_number(box, at);
                    assert_in_range(other, 0, 99);
                    assert_int_equal(other % 8, cta % 8);
                    seen[other]++;
                }
    }
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(seen[i], 1);
    assert_int_equal(classes_covered(classes), 100);
    assert_in_range(classes_count(classes), 8, 16);
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_that_read_no_id_are_one_class),
        cmocka_unit_test(the_last_program_of_a_huge_grid_is_a_class_of_its_own),
        cmocka_unit_test(one_program_in_the_middle_is_found),
        cmocka_unit_test(a_tile_beyond_the_end_is_told_from_whole_ones),
        cmocka_unit_test(classes_follow_the_trips_of_a_persistent_loop),
        cmocka_unit_test(groups_of_programs_are_told_apart_by_their_quotient),
        cmocka_unit_test(groups_of_programs_are_told_apart_by_a_shift),
        cmocka_unit_test(numbers_without_a_sign),
        cmocka_unit_test(ids_of_two_axes_may_decide_together),
        cmocka_unit_test(numbers_that_wrap_are_not_followed),
        cmocka_unit_test(too_many_classes_are_not_covered),
        cmocka_unit_test(loads_that_differ_make_every_cluster_its_own_class),
        cmocka_unit_test(every_cluster_does_what_speaks_for_it),
        cmocka_unit_test(a_grid_that_is_split_has_each_cta_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
