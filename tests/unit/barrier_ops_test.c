/* machine/tile/schedule/barrier_ops: which ops may be on which barriers: any slot of a ring that is picked at run time,
 * one alone of an array whose slots constants pick; and who waits and arrives there. */
#include "running.h"

#include "machine/tile/schedule/barrier_ops.h"

#define SLOT(name, of, index) "    %" name " = ttg.memdesc_index %" of "[%" index "] : !ring -> !barrier\n"
#define ARRAY \
    "    %bars = ttg.local_alloc : () -> !ring\n" SLOT("x", "bars", "c0") SLOT("y", "bars", "c1") INIT(x, 1) INIT(y, 1)

/* Two barriers by constants: the default agent arrives on the first and waits for the second. */
static const char *const array_kernel =
    KERNEL("", ARRAY "    ttg.warp_specialize(%bars)\n"
                     "    default {\n" ARRIVE(x)
                         WAIT(y, 0) "      ttg.warp_yield\n    }\n"
                                    "    partition0(%bars: !ring) num_warps(1) {\n" CONSTANTS SLOT("x", "bars", "c0")
                                        SLOT("y", "bars", "c1") WAIT(x, 0)
                                            ARRIVE(y) "      ttg.warp_return\n    } : (!ring) -> ()\n");

/* A ring: the slot is the number of the turn. */
static const char *const ring_kernel = KERNEL(
    "", ARRAY "    scf.for %i = %c0 to %c2 step %c1 : i32 {\n" SLOT("z", "bars", "i") ARRIVE(z) WAIT(z, 0) "    }\n");

static void assert_name(const Running *running, uint32_t barrier, const char *expected) {
    Text text = {0};
    channel_name(running->machine, barrier, &text);
    text_char(&text, 0);
    assert_string_equal(text.data, expected);
    text_free(&text);
}

static uint32_t line_of(const Running *running, uint32_t pc) {
    assert_true(pc != NO_PC);
    return source_place(running->reading->module.source, running->program->ops[pc]->offset).line;
}

static Running *ran_to_its_end(const char *kernel) {
    Running *running = compile_whole(kernel);
    assert_int_equal(run_eagerly(running), RUN_COMPLETE);
    return running;
}

static void constants_pick_one(void **state) {
    (void)state;
    Running *running = ran_to_its_end(array_kernel);
    const Machine *machine = running->machine;
    uint32_t x = slot_named(running, "%bars[0]"), y = slot_named(running, "%bars[1]");
    BarrierRange channel = barrier_channel(machine, x);
    assert_true(range_has(machine, &channel, x));
    assert_false(range_has(machine, &channel, y));
    assert_name(running, x, "%bars[0]");
    assert_name(running, y, "%bars[1]");
    /* Strand 0 is the kernel and its default region. */
    assert_int_equal(strand_waits(machine, 0, x), NO_PC);
    assert_true(strand_waits(machine, 0, y) != NO_PC);
    assert_true(strand_arrives(machine, 0, x, 0) != NO_PC);
    assert_int_equal(strand_arrives(machine, 0, y, 0), NO_PC);
    assert_int_equal(line_of(running, strand_waits(machine, ANY_STRAND, x)),
                     line_of(running, strand_waits(machine, 1, x)));
    end_kernel(running);
}

static void what_is_picked_at_run_time_is_any_of_the_ring(void **state) {
    (void)state;
    Running *running = ran_to_its_end(ring_kernel);
    const Machine *machine = running->machine;
    uint32_t x = slot_named(running, "%bars[0]"), y = slot_named(running, "%bars[1]");
    BarrierRange channel = barrier_channel(machine, x);
    assert_true(range_has(machine, &channel, y));
    assert_int_equal(range_first(machine, &channel), x);
    assert_name(running, y, "%bars");
    assert_int_equal(strand_waits(machine, 0, x), strand_waits(machine, 0, y));
    end_kernel(running);
}

/* From a place on; and from the start, if none comes after it. */
static void arrivals_are_looked_for_from_a_place_on(void **state) {
    (void)state;
    Running *running = compile_whole(ON_BARRIER("", INIT(bar, 1) ARRIVE(bar) WAIT(bar, 0) ARRIVE(bar) WAIT(bar, 1)));
    assert_int_equal(run_eagerly(running), RUN_COMPLETE);
    const Machine *machine = running->machine;
    uint32_t bar = slot_named(running, "%bar[0]"), first = strand_arrives(machine, 0, bar, 0);
    uint32_t second = strand_arrives(machine, 0, bar, first + 1);
    assert_true(second != NO_PC && second > first);
    assert_int_equal(strand_arrives(machine, 0, bar, second + 1), first);
    assert_name(running, bar, "%bar");
    end_kernel(running);
}

static void an_effect_on_no_barrier_has_none(void **state) {
    (void)state;
    Running *running = compile_whole(ON_BARRIER("", INIT(bar, 1)));
    BarrierRange range = effect_barriers(running->program, &(Effect){.verb = EFFECT_ARRIVE});
    assert_false(range.any);
    assert_int_equal(range_first(running->machine, &range), NO_BARRIER);
    assert_false(ranges_overlap(&range, &range));
    end_kernel(running);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_pick_one),
        cmocka_unit_test(what_is_picked_at_run_time_is_any_of_the_ring),
        cmocka_unit_test(arrivals_are_looked_for_from_a_place_on),
        cmocka_unit_test(an_effect_on_no_barrier_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
