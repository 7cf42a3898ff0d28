/* machine/tile/step/machine: what barriers, outstanding operations and agents do, rule by rule, step by step. */
#include "running.h"

/* ---- mbarriers ---------------------------------------------------------------------------------- */

static void init_makes_the_count_pending(void **state) {
    (void)state;
    Running *running = start_kernel(ON_BARRIER("", INIT(bar, 3)));
    take_steps(running, 0, 1);
    assert_barrier(running, "%bar[0]", 0, 3, 0);
    assert_int_equal(barrier_named(running, "%bar[0]")->life, BARRIER_LIVE);
    end_kernel(running);
}

static void an_arrival_takes_from_pending_and_the_last_one_flips_the_phase(void **state) {
    (void)state;
    Running *running = start_kernel(ON_BARRIER("", INIT(bar, 3) ARRIVE(bar) ARRIVE_COUNT(bar, 2) ARRIVE(bar)));
    take_steps(running, 0, 2);
    assert_barrier(running, "%bar[0]", 0, 2, 0);
    take_steps(running, 0, 1);
    assert_barrier(running, "%bar[0]", 1, 3, 0);
    assert_int_equal(barrier_named(running, "%bar[0]")->generation, 1);
    take_steps(running, 0, 1);
    assert_barrier(running, "%bar[0]", 1, 2, 0);
    end_kernel(running);
}

#define WITH_TILE(body) ON_BARRIER("%desc: !desc", "    %tile = ttg.local_alloc : () -> !tile\n" INIT(bar, 1) body)

static void an_expect_is_one_arrival_and_bytes_to_come(void **state) {
    (void)state;
    Running *running = start_kernel(WITH_TILE(EXPECT(bar, 128)));
    take_steps(running, 0, 2);
    assert_barrier(running, "%bar[0]", 0, 0, 128);
    end_kernel(running);
}

static void a_copy_delivers_its_bytes_and_does_not_arrive(void **state) {
    (void)state;
    Running *running = start_kernel(WITH_TILE(EXPECT(bar, 256) COPY(bar) COPY(bar)));
    take_steps(running, 0, 2);
    assert_int_equal(running->machine->state->outstanding_count, 2);
    assert_int_equal(machine_complete(running->machine, 1), STEP_DONE);
    assert_barrier(running, "%bar[0]", 0, 0, 128);
    assert_int_equal(machine_complete(running->machine, 0), STEP_DONE);
    assert_barrier(running, "%bar[0]", 1, 1, 0);
    end_kernel(running);
}

static void bytes_may_come_before_they_are_expected(void **state) {
    (void)state;
    Running *running = start_kernel(WITH_TILE(COPY(bar) EXPECT(bar, 128)));
    take_steps(running, 0, 1);
    assert_int_equal(machine_complete(running->machine, 0), STEP_DONE);
    assert_barrier(running, "%bar[0]", 0, 1, -128);
    take_steps(running, 0, 1);
    assert_barrier(running, "%bar[0]", 1, 1, 0);
    end_kernel(running);
}

static void arrivals_alone_do_not_flip_while_bytes_are_to_come(void **state) {
    (void)state;
    Running *running = start_kernel(WITH_TILE(EXPECT(bar, 128) WAIT(bar, 0) COPY(bar)));
    take_steps(running, 0, 2);
    assert_false(machine_can_step(running->machine, 0));
    end_kernel(running);
}

static void a_wait_for_parity_one_passes_on_a_fresh_barrier_and_for_zero_does_not(void **state) {
    (void)state;
    Running *running = start_kernel(ON_BARRIER("", INIT(bar, 1) WAIT(bar, 1) WAIT(bar, 0)));
    take_steps(running, 0, 2);
    assert_int_equal(agent_at(running, 0)->status, AGENT_WAITS);
    assert_int_equal(agent_at(running, 0)->parity, 0);
    assert_false(machine_can_step(running->machine, 0));
    end_kernel(running);
}

static void a_wait_consumes_nothing_so_that_two_pass_on_one_flip(void **state) {
    (void)state;
    Running *running = start_kernel(ON_BARRIER("", INIT(bar, 1) ARRIVE(bar) WAIT(bar, 0) WAIT(bar, 0) WAIT(bar, 1)));
    take_steps(running, 0, 4);
    assert_barrier(running, "%bar[0]", 1, 1, 0);
    assert_false(machine_can_step(running->machine, 0));
    end_kernel(running);
}

static void more_arrivals_than_are_pending_underflow(void **state) {
    (void)state;
    Running *running = start_kernel(ON_BARRIER("", INIT(bar, 1) ARRIVE_COUNT(bar, 2)));
    take_steps(running, 0, 1);
    assert_step_faults(running, 0, RULE_BARRIER_UNDERFLOW);
    assert_int_equal(running->machine->fault.amount, 2);
    end_kernel(running);

    running = start_kernel(WITH_TILE(EXPECT(bar, 128) EXPECT(bar, 128)));
    take_steps(running, 0, 2);
    assert_step_faults(running, 0, RULE_BARRIER_UNDERFLOW);
    end_kernel(running);
}

static void transaction_bytes_have_a_range(void **state) {
    (void)state;
    Running *running = start_kernel(ON_BARRIER("", INIT(bar, 2) EXPECT(bar, 1048575) EXPECT(bar, 1)));
    take_steps(running, 0, 2);
    assert_step_faults(running, 0, RULE_BARRIER_BYTES);
    assert_int_equal(running->machine->fault.amount, 1048576);
    end_kernel(running);
}

static void a_barrier_that_was_never_initialized_cannot_be_used(void **state) {
    (void)state;
    static const char *const uses[] = {ON_BARRIER("", ARRIVE(bar)), ON_BARRIER("", EXPECT(bar, 128)),
                                       ON_BARRIER("", WAIT(bar, 1)), ON_BARRIER("", INVALIDATE(bar))};
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        Running *running = start_kernel(uses[i]);
        assert_step_faults(running, 0, RULE_BARRIER_UNINITIALIZED);
        end_kernel(running);
    }
}

static void a_barrier_that_was_invalidated_cannot_be_used(void **state) {
    (void)state;
    static const char *const uses[] = {
        ON_BARRIER("", INIT(bar, 1) INVALIDATE(bar) ARRIVE(bar)),
        ON_BARRIER("", INIT(bar, 1) INVALIDATE(bar) EXPECT(bar, 128)),
        ON_BARRIER("", INIT(bar, 1) INVALIDATE(bar) WAIT(bar, 1)),
        ON_BARRIER("", INIT(bar, 1) INVALIDATE(bar) INVALIDATE(bar)),
    };
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++) {
        Running *running = start_kernel(uses[i]);
        take_steps(running, 0, 2);
        assert_step_faults(running, 0, RULE_BARRIER_INVALIDATED);
        end_kernel(running);
    }
}

static void a_live_barrier_cannot_be_initialized_again(void **state) {
    (void)state;
    Running *running = start_kernel(ON_BARRIER("", INIT(bar, 1) INIT(bar, 1)));
    take_steps(running, 0, 1);
    assert_step_faults(running, 0, RULE_BARRIER_REINITIALIZED);
    end_kernel(running);
}

static void an_invalidated_barrier_begins_again_at_phase_zero(void **state) {
    (void)state;
    Running *running = start_kernel(ON_BARRIER("", INIT(bar, 1) ARRIVE(bar) INVALIDATE(bar) INIT(bar, 2) WAIT(bar, 1)));
    take_steps(running, 0, 4);
    assert_barrier(running, "%bar[0]", 0, 2, 0);
    assert_int_equal(barrier_named(running, "%bar[0]")->generation, 1);
    assert_int_equal(barrier_named(running, "%bar[0]")->born, 1);
    take_steps(running, 0, 1);
    end_kernel(running);
}

static void a_barrier_is_not_invalidated_under_a_waiter(void **state) {
    (void)state;
    Running *running = start_kernel(AGENTS(INIT(a, 1), INVALIDATE(a), WAIT(a, 0)));
    take_steps(running, 0, 1);
    assert_false(machine_can_step(running->machine, 1));
    assert_step_faults(running, 0, RULE_BARRIER_INVALIDATED);
    end_kernel(running);
}

static void bytes_that_come_after_the_end_are_a_fault(void **state) {
    (void)state;
    Running *running = start_kernel(WITH_TILE(COPY(bar) INVALIDATE(bar)));
    take_steps(running, 0, 2);
    assert_int_equal(machine_complete(running->machine, 0), STEP_FAULT);
    assert_int_equal(running->machine->fault.rule, RULE_BARRIER_INVALIDATED);
    end_kernel(running);
}

static void bytes_that_come_before_the_init_are_a_fault(void **state) {
    (void)state;
    Running *running =
        start_kernel(ON_BARRIER("%desc: !desc", "    %tile = ttg.local_alloc : () -> !tile\n" COPY(bar) INIT(bar, 1)));
    assert_int_equal(machine_complete(running->machine, 0), STEP_FAULT);
    assert_int_equal(running->machine->fault.rule, RULE_BARRIER_UNINITIALIZED);
    assert_true(running->machine->fault.in_flight);
    end_kernel(running);
}

static void a_per_thread_arrive_is_one_for_each_thread_of_the_partition(void **state) {
    (void)state;
#define EACH_THREAD(bar) "    ttng.arrive_barrier %" #bar ", 1 {perThread} : !barrier\n"
    Running *running = start_kernel(AGENTS(INIT(a, 200), EACH_THREAD(a), EACH_THREAD(a)));
    take_steps(running, 0, 2);
    assert_barrier(running, "%a[0]", 0, 200 - 128, 0);
    take_steps(running, 1, 1);
    assert_barrier(running, "%a[0]", 0, 200 - 128 - 32, 0);
    end_kernel(running);
#undef EACH_THREAD
}

static void nothing_happens_where_a_predicate_is_false(void **state) {
    (void)state;
    Running *running = start_kernel(
        WITH_TILE("    ttng.barrier_expect %bar, 128, %false : !barrier\n"
                  "    ttng.async_tma_copy_global_to_local %desc[%c0] %tile, %bar, %false : !desc, !barrier -> !tile\n"
                  "    ttng.arrive_barrier %bar, 1, %false : !barrier\n"
                  "    ttng.wait_barrier %bar, %c0, %false : !barrier\n"));
    take_steps(running, 0, 1);
    assert_int_equal(agent_at(running, 0)->status, AGENT_ENDED);
    assert_barrier(running, "%bar[0]", 0, 1, 0);
    assert_int_equal(running->machine->state->outstanding_count, 0);
    end_kernel(running);
}

static void a_slot_of_a_ring_is_one_barrier_under_every_name(void **state) {
    (void)state;
    Running *running = start_kernel(KERNEL("", "    %ring = ttg.local_alloc : () -> !ring\n"
                                               "    %x = ttg.memdesc_index %ring[%c1] : !ring -> !barrier\n"
                                               "    %n = arith.subi %c2, %c1 : i32\n"
                                               "    %y = ttg.memdesc_index %ring[%n] : !ring -> !barrier\n"
                                               "    %z = ttg.memdesc_index %ring[%c0] : !ring -> !barrier\n" INIT(x, 2)
                                                   INIT(z, 1) ARRIVE(y)));
    take_steps(running, 0, 3);
    assert_barrier(running, "%ring[1]", 0, 1, 0);
    assert_barrier(running, "%ring[0]", 0, 1, 0);
    assert_int_equal(running->machine->slots_used, 2);
    end_kernel(running);
}

static void a_count_that_no_barrier_has_ends_the_run(void **state) {
    (void)state;
    static const char *const wrong[] = {ON_BARRIER("", INIT(bar, -1)),
                                        ON_BARRIER("", INIT(bar, 1) ARRIVE_COUNT(bar, 1048576))};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        Running *running = compile_whole(wrong[i]);
        assert_int_equal(run_eagerly(running), RUN_UNKNOWN);
        assert_non_null(strstr(running->machine->unknown, "arrival count"));
        end_kernel(running);
    }
}

/* ---- Named and cluster barriers ----------------------------------------------------------------- */

#define NAMED(verb, id, threads) "    ttng." verb "_barrier_named " id ", " threads " : i32, i32\n"
#define NUMBERS                              \
    "    %id = arith.constant 3 : i32\n"     \
    "    %most = arith.constant 160 : i32\n" \
    "    %few = arith.constant 128 : i32\n"

static void a_named_barrier_opens_when_so_many_threads_have_come(void **state) {
    (void)state;
    Running *running =
        start_kernel(AGENTS("", NUMBERS NAMED("wait", "%id", "%most"), NUMBERS NAMED("arrive", "%id", "%most")));
    take_steps(running, 0, 1);
    assert_int_equal(agent_at(running, 0)->status, AGENT_NAMED);
    assert_int_equal(running->machine->state->named[3].arrived, 128);
    assert_false(machine_can_step(running->machine, 0));
    take_steps(running, 1, 1);
    assert_int_equal(agent_at(running, 1)->status, AGENT_ENDED);
    assert_int_equal(running->machine->state->named[3].arrived, 0);
    take_steps(running, 0, 1);
    end_kernel(running);
}

static void what_comes_first_says_how_many_a_named_barrier_needs(void **state) {
    (void)state;
    static const char text[] = AGENTS("", NUMBERS NAMED("wait", "%id", "%few"), NUMBERS NAMED("wait", "%id", "%most"));
    Running *running = start_kernel(text);
    take_steps(running, 0, 2); /* 128 of 128 */
    take_steps(running, 1, 1);
    assert_false(machine_can_step(running->machine, 1));
    end_kernel(running);

    running = start_kernel(text);
    take_steps(running, 1, 1); /* 32 of 160 */
    take_steps(running, 0, 2);
    take_steps(running, 1, 1);
    assert_int_equal(agent_at(running, 1)->status, AGENT_ENDED);
    end_kernel(running);
}

static void there_are_sixteen_named_barriers(void **state) {
    (void)state;
    Running *running = compile_whole(KERNEL("", "    %id = arith.constant 16 : i32\n"
                                                "    %few = arith.constant 128 : i32\n" NAMED("wait", "%id", "%few")));
    assert_int_equal(run_eagerly(running), RUN_UNKNOWN);
    end_kernel(running);
}

#define CLUSTER "    ttng.cluster_arrive {relaxed = false}\n    ttng.cluster_wait\n"

static void the_cluster_barrier_opens_when_all_ctas_have_come(void **state) {
    (void)state;
    Running *running = start_kernel(MODULE_OF(2, FUNCTION("", CLUSTER CLUSTER)));
    assert_int_equal(running->machine->agent_count, 2);
    take_steps(running, 0, 2);
    assert_int_equal(agent_at(running, 0)->status, AGENT_CLUSTER);
    assert_false(machine_can_step(running->machine, 0));
    take_steps(running, 1, 1); /* arrives: all have */
    take_steps(running, 0, 1);
    take_steps(running, 0, 2); /* at the next one, before the other has waited for this one */
    assert_false(machine_can_step(running->machine, 0));
    take_steps(running, 1, 4);
    take_steps(running, 0, 1);
    end_kernel(running);
}

static void the_cluster_barrier_counts_every_agent_that_is_there(void **state) {
    (void)state;
    static const char text[] = MODULE_OF(2, FUNCTION("", SPECIALIZED("", "", CLUSTER, "")));
    Running *running = start_kernel(text);
    assert_int_equal(running->machine->agent_count, 4);
    take_steps(running, 1, 2);
    take_steps(running, 3, 2);
    assert_false(machine_can_step(running->machine, 1)); /* the default agents never come */
    end_kernel(running);
}

static void a_whole_cluster_barrier_in_a_partition_is_among_those_partitions(void **state) {
    (void)state;
    Running *running =
        start_kernel(MODULE_OF(2, FUNCTION("", SPECIALIZED("", "", "      ttng.cluster_barrier\n", ""))));
    take_steps(running, 1, 2);
    assert_false(machine_can_step(running->machine, 1));
    take_steps(running, 3, 3);
    take_steps(running, 1, 1);
    end_kernel(running);
}

/* ---- Fork and join ------------------------------------------------------------------------------ */

static void partitions_start_with_what_they_capture_and_are_waited_for(void **state) {
    (void)state;
    Running *running =
        start_kernel(KERNEL("", SPECIALIZED(INIT(a, 1) INIT(b, 1), "", ARRIVE(b) WAIT(a, 1), ARRIVE(a))));
    assert_int_equal(agent_at(running, 1)->status, AGENT_IDLE);
    take_steps(running, 0, 2);
    assert_int_equal(agent_at(running, 0)->status, AGENT_JOINS);
    assert_int_equal(agent_at(running, 1)->status, AGENT_READY);
    assert_false(machine_can_step(running->machine, 0));
    take_steps(running, 1, 1);
    assert_barrier(running, "%b[0]", 1, 1, 0);
    take_steps(running, 1, 1);
    assert_int_equal(agent_at(running, 1)->status, AGENT_ENDED);
    take_steps(running, 0, 1);
    assert_int_equal(agent_at(running, 1)->status, AGENT_IDLE);
    take_steps(running, 0, 1);
    assert_int_equal(agent_at(running, 0)->status, AGENT_ENDED);
    end_kernel(running);
}

static void agents_and_helpers_have_names(void **state) {
    (void)state;
    Running *running = start_kernel(MODULE_OF(2, FUNCTION("", SPECIALIZED(INIT(a, 1), "", ARRIVE(a), ""))));
    static const struct {
        uint32_t agent;
        Helper helper;
        const char *name;
    } names[] = {
        {0, HELPER_BASE, "cta0.default"}, {1, HELPER_TMA, "cta0.partition0.tma"}, {3, HELPER_BASE, "cta1.partition0"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        Text text = {0};
        agent_name(running->machine, names[i].agent, names[i].helper, &text);
        text_char(&text, 0);
        assert_string_equal(text.data, names[i].name);
        text_free(&text);
    }
    end_kernel(running);
}

/* ---- What is in flight -------------------------------------------------------------------------- */

#define MMA_MODULE(body)                                                                                  \
    "#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>\n" \
    "#plain = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n"                 \
    "#smem = #ttg.shared_memory\n"                                                                        \
    "#tmem = #ttng.tensor_memory_encoding<blockM = 64, blockN = 64, colStride = 1>\n"                     \
    "!barrier = !ttg.memdesc<1xi64, #plain, #smem, mutable>\n"                                            \
    "!tile = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>\n"                                          \
    "!sum = !ttg.memdesc<64x64xf32, #tmem, #ttng.tensor_memory, mutable>\n"                               \
    "module attributes {\"ttg.num-warps\" = 4 : i32} {\n" FUNCTION(                                       \
        "", "    %bar = ttg.local_alloc : () -> !barrier\n"                                               \
            "    %tile = ttg.local_alloc : () -> !tile\n"                                                 \
            "    %sum = ttng.tmem_alloc : () -> !sum\n" INIT(bar, 1) body) "}\n"
#define MMA    "    ttng.tc_gen5_mma %tile, %tile, %sum, %true, %true {is_async} : !tile, !tile, !sum\n"
#define COMMIT "    ttng.tc_gen5_commit %bar : !barrier\n"

static void a_commit_covers_the_work_before_it_and_products_are_done_in_order(void **state) {
    (void)state;
    Running *running = start_kernel(MMA_MODULE(MMA MMA COMMIT MMA));
    Machine *machine = running->machine;
    take_steps(running, 0, 1);
    assert_int_equal(machine->state->outstanding_count, 4);
    for (uint32_t i = 1; i < 4; i++)
        assert_false(machine_can_complete(machine, i));
    assert_int_equal(machine_complete(machine, 0), STEP_DONE);
    assert_int_equal(machine_complete(machine, 0), STEP_DONE);
    assert_barrier(running, "%bar[0]", 0, 1, 0);
    assert_true(machine_can_complete(machine, 0));
    assert_int_equal(machine_complete(machine, 0), STEP_DONE);
    assert_barrier(running, "%bar[0]", 1, 1, 0);
    end_kernel(running);
}

static void products_out_of_order_are_still_covered_by_their_commit(void **state) {
    (void)state;
    Running *running = compile_whole(MMA_MODULE(MMA MMA COMMIT MMA));
    Machine *machine = running->machine;
    machine->out_of_order = true;
    machine_launch(machine, &running->launch);
    assert_int_equal(machine_start(machine, 0), STEP_DONE);
    take_steps(running, 0, 1);
    assert_true(machine_can_complete(machine, 1));
    assert_false(machine_can_complete(machine, 2));
    assert_true(machine_can_complete(machine, 3));
    end_kernel(running);
}

static void a_commit_without_work_signals_all_the_same(void **state) {
    (void)state;
    Running *running = compile_whole(MMA_MODULE(COMMIT WAIT(bar, 0)));
    assert_int_equal(run_eagerly(running), RUN_COMPLETE);
    end_kernel(running);
}

static void an_arrive_of_copies_is_announced_unless_it_says_otherwise(void **state) {
    (void)state;
    Running *running =
        start_kernel(ON_BARRIER("", INIT(bar, 1) "    ttng.async_copy_mbarrier_arrive %bar : !barrier\n"));
    take_steps(running, 0, 2);
    assert_barrier(running, "%bar[0]", 0, 1 + 128, 0);
    assert_int_equal(machine_complete(running->machine, 0), STEP_DONE);
    assert_barrier(running, "%bar[0]", 0, 1, 0);
    end_kernel(running);

    running = start_kernel(
        ON_BARRIER("", INIT(bar, 128) "    ttng.async_copy_mbarrier_arrive %bar {noIncrement} : !barrier\n"));
    take_steps(running, 0, 1);
    assert_barrier(running, "%bar[0]", 0, 128, 0);
    assert_int_equal(machine_complete(running->machine, 0), STEP_DONE);
    assert_barrier(running, "%bar[0]", 1, 128, 0);
    end_kernel(running);
}

static void more_flights_than_are_kept_end_the_run(void **state) {
    (void)state;
    Running *running = compile_whole(WITH_TILE("    %many = arith.constant 513 : i32\n"
                                               "    scf.for %i = %c0 to %many step %c1 : i32 {\n" COPY(bar) "    }\n"));
    assert_int_equal(run_schedule(running, (Schedule){.kind = SCHEDULE_LAZY}), RUN_UNKNOWN);
    assert_non_null(strstr(running->machine->unknown, "512"));
    end_kernel(running);
}

/* ---- Tokens and arefs --------------------------------------------------------------------------- */

#define TOKEN(body) \
    KERNEL("", "    %t = nvws.create_token {loadType = 3 : i32, numBuffers = 2 : i32} : tensor<2x!nvws.token>\n" body)
#define ACQUIRE(slot, phase) "    nvws.producer_acquire %t, %c" #slot ", %" #phase " : tensor<2x!nvws.token>, i32, i1\n"
#define PUBLISH(slot)        "    nvws.producer_commit %t, %c" #slot " : tensor<2x!nvws.token>, i32\n"
#define CONSUME(slot, phase) "    nvws.consumer_wait %t, %c" #slot ", %" #phase " : tensor<2x!nvws.token>, i32, i1\n"
#define RELEASE(slot)        "    nvws.consumer_release %t, %c" #slot " : tensor<2x!nvws.token>, i32\n"

static void a_token_is_a_full_and_an_empty_barrier_for_each_slot(void **state) {
    (void)state;
    Running *running = start_kernel(
        TOKEN(ACQUIRE(1, false) PUBLISH(1) CONSUME(1, false) RELEASE(1) ACQUIRE(1, true) CONSUME(0, false)));
    take_steps(running, 0, 2);
    assert_barrier(running, "%t.full[0]", 0, 1, 0);
    assert_barrier(running, "%t.empty[1]", 0, 1, 0);
    take_steps(running, 0, 2);
    assert_barrier(running, "%t.full[1]", 1, 1, 0);
    take_steps(running, 0, 2);
    assert_barrier(running, "%t.empty[1]", 1, 1, 0);
    take_steps(running, 0, 1);
    assert_false(machine_can_step(running->machine, 0)); /* nothing came to slot 0 */
    end_kernel(running);
}

#define AREF(body)                                                                            \
    "#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>\n" \
    "#smem = #ttg.shared_memory\n"                                                            \
    "!tile = !ttg.memdesc<64x64xf16, #shared, #smem, mutable>\n"                              \
    "!tiles = !ttg.memdesc<2x64x64xf16, #shared, #smem, mutable>\n"                           \
    "module attributes {\"ttg.num-warps\" = 4 : i32} {\n" FUNCTION(                           \
        "", "    %ring = ttg.local_alloc : () -> !tiles\n"                                    \
            "    %aref = nvws.aref.create %ring : <[!tiles]>\n" body) "}\n"
#define PUT(n, place, stage)                                                                        \
    "    %p" #n ":2 = nvws.aref.put.enter %aref" place " : <[!tiles]> -> !tile, !ttg.async.token\n" \
    "    nvws.aref.put.exit %aref" stage ", %p" #n "#1 [#nvws.async_op<none>] : <[!tiles]>, !ttg.async.token\n"
#define GET(n, place, stage)                                                                        \
    "    %g" #n ":2 = nvws.aref.get.enter %aref" place " : <[!tiles]> -> !tile, !ttg.async.token\n" \
    "    nvws.aref.get.exit %aref" stage ", %g" #n "#1 [#nvws.async_op<none>] : <[!tiles]>, !ttg.async.token\n"

static void an_aref_is_a_full_and_an_empty_barrier_for_each_stage(void **state) {
    (void)state;
    Running *running = start_kernel(AREF(PUT(0, "[%c1, %c1]", "[%c1]") GET(0, "[%c1, %c0]", "[%c1]")));
    take_steps(running, 0, 4);
    assert_barrier(running, "%aref.full[1]", 1, 1, 0);
    assert_barrier(running, "%aref.empty[1]", 0, 1, 0);
    take_steps(running, 0, 2);
    assert_barrier(running, "%aref.empty[1]", 1, 1, 0);
    assert_barrier(running, "%aref.full[0]", 0, 1, 0);
    end_kernel(running);
}

/* What stands in the place of stages and phases that are not assigned yet. */
#define ZERO_PUT(n) PUT(n, "[%c0, %c0]", "[%c0]")
#define ZERO_GET(n) GET(n, "[%c0, %c0]", "[%c0]")

static void an_aref_without_stages_counts_the_uses_of_each_side(void **state) {
    (void)state;
    Running *running = compile_whole(AREF(PUT(0, "", "") PUT(1, "", "") GET(0, "", "") PUT(2, "", "") GET(1, "", "")));
    assert_int_equal(run_eagerly(running), RUN_COMPLETE);
    assert_barrier(running, "%aref.full[0]", 0, 1, 0); /* filled twice */
    assert_barrier(running, "%aref.full[1]", 1, 1, 0);
    end_kernel(running);

    running = compile_whole(AREF(ZERO_PUT(0) ZERO_PUT(1) ZERO_GET(0) ZERO_PUT(2) ZERO_GET(1)));
    assert_int_equal(run_eagerly(running), RUN_COMPLETE);
    assert_barrier(running, "%aref.full[1]", 1, 1, 0);
    end_kernel(running);

    running = compile_whole(AREF(PUT(0, "", "") PUT(1, "", "") PUT(2, "", "")));
    assert_int_equal(run_eagerly(running), RUN_STUCK); /* both slots are full */
    end_kernel(running);
}

/* ---- Descriptors -------------------------------------------------------------------------------- */

#define BOXED_IN(ctas, layout, bars, bar_layout, rows)                                                                 \
    "#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16" layout "}>\n"    \
    "#plain = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]" bar_layout "}>\n"                \
    "#smem = #ttg.shared_memory\n"                                                                                     \
    "!barrier = !ttg.memdesc<" bars "xi64, #plain, #smem, mutable>\n"                                                  \
    "!tile = !ttg.memdesc<128x64xf16, #shared, #smem, mutable>\n"                                                      \
    "!desc = !tt.tensordesc<tensor<128x64xf16, #shared>>\n"                                                            \
    "module attributes {\"ttg.num-ctas\" = " #ctas " : i32, \"ttg.num-warps\" = 4 : i32} {\n" FUNCTION(                \
        "%p: !tt.ptr<f16>",                                                                                            \
        "    %columns = arith.constant 64 : i32\n"                                                                     \
        "    %rows = arith.constant " #rows " : i32\n"                                                                 \
        "    %pitch = arith.constant 128 : i64\n"                                                                      \
        "    %raw = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32} : !tt.ptr<i8>\n"              \
        "    ttng.tensormap_create %raw, %p, [%columns, %rows], [%columns, %rows], [%pitch], [%c1, %c1] "              \
        "{elem_type = 6 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 3 : i32} : "           \
        "(!tt.ptr<i8>, !tt.ptr<f16>, i32, i32, i32, i32, i64, i32, i32) -> ()\n"                                       \
        "    %desc = ttng.reinterpret_tensor_descriptor %raw : !tt.ptr<i8> to !desc\n"                                 \
        "    %tile = ttg.local_alloc : () -> !tile\n"                                                                  \
        "    %bar = ttg.local_alloc : () -> !barrier\n" INIT(                                                          \
            bar, 1) "    ttng.async_tma_copy_global_to_local %desc[%c0, %c0] %tile, %bar, %true : !desc, !barrier -> " \
                    "!tile\n") "}\n"

#define BOXED(rows)                    BOXED_IN(1, "", "1", "", rows)
#define BOXED_IN_CLUSTER(layout, rows) BOXED_IN(2, ", CGALayout = " layout, "2", ", CGALayout = [[1]]", rows)

static int64_t delivered(const char *text) {
    Running *running = start_kernel(text);
    take_steps(running, 0, 1);
    assert_int_equal(running->machine->state->outstanding_count, 1);
    int64_t amount = running->machine->state->outstanding_ops[0].amount;
    end_kernel(running);
    return amount;
}

static void a_copy_delivers_as_many_boxes_as_cover_its_tile(void **state) {
    (void)state;
    assert_int_equal(delivered(BOXED(128)), 16384);
    assert_int_equal(delivered(BOXED(64)), 16384);
    assert_int_equal(delivered(BOXED(256)), 32768);
    assert_int_equal(delivered(BOXED(96)), 24576);
}

static void in_a_cluster_the_boxes_cover_a_cta_s_part(void **state) {
    (void)state;
    assert_int_equal(delivered(BOXED_IN_CLUSTER("[[1, 0]]", 64)), 8192); /* 64x64 of 128x64 */
    assert_int_equal(delivered(BOXED_IN_CLUSTER("[[1, 0]]", 32)), 8192);
    assert_int_equal(delivered(BOXED_IN_CLUSTER("[[1, 0]]", 48)), 12288);
    assert_int_equal(delivered(BOXED_IN_CLUSTER("[[0, 0]]", 128)), 16384); /* each has all of it */
}

static void a_box_beyond_all_numbers_ends_the_run(void **state) {
    (void)state;
    Running *running = compile_whole(BOXED(2147483647));
    assert_int_equal(run_eagerly(running), RUN_FAULT);
    assert_int_equal(running->machine->fault.rule, RULE_BARRIER_BYTES);
    end_kernel(running);
}

/* ---- Memory that control depends on ------------------------------------------------------------- */

#define LOADED(type)                                       \
    ON_BARRIER("%p: !tt.ptr<" type ">",                    \
               "    %x = tt.load %p : !tt.ptr<" type ">\n" \
               "    %n = arith.extui %x : " type           \
               " to i32\n" INIT(bar, 9) "    scf.for %i = %c0 to %n step %c1 : i32 {\n" ARRIVE(bar) "    }\n")

static void what_the_launch_says_is_in_memory_is_loaded(void **state) {
    (void)state;
    static const struct {
        const char *text, *argument;
        unsigned pending;
    } cases[] = {{LOADED("i16"), "p=[4]", 5}, {LOADED("i8"), "p=[3, 7]", 6}, {LOADED("i1"), "p=[1]", 8}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Running *running = compile_whole(cases[i].text);
        give(running, cases[i].argument);
        assert_int_equal(run_eagerly(running), RUN_COMPLETE);
        assert_barrier(running, "%bar[0]", 0, cases[i].pending, 0);
        assert_int_equal(running->machine->loads_chosen, 0);
        end_kernel(running);
    }
}

static void what_nothing_knows_is_the_same_for_all_and_differs_from_world_to_world(void **state) {
    (void)state;
    Running *running = compile_whole(LOADED("i16"));
    static const unsigned pending[] = {9 - 1, 9, 9 - 3};
    for (unsigned havoc_choice = 0; havoc_choice < 3; havoc_choice++) {
        running->machine->havoc_choice = havoc_choice;
        assert_int_equal(run_eagerly(running), RUN_COMPLETE);
        assert_barrier(running, "%bar[0]", 0, pending[havoc_choice], 0);
        assert_int_equal(running->machine->loads_chosen, 1);
    }
    end_kernel(running);
}

/* ---- State -------------------------------------------------------------------------------------- */

static void a_state_can_be_kept_compared_and_put_back(void **state) {
    (void)state;
    Running *running = start_kernel(WITH_TILE(COPY(bar) EXPECT(bar, 128) WAIT(bar, 0) ARRIVE(bar)));
    Machine *machine = running->machine;
    Arena *arena = &running->reading->module.arena;
    State *before = state_new(machine, arena), *after = state_new(machine, arena);
    take_steps(running, 0, 1);
    state_save(machine, before);
    assert_true(state_equal(machine, machine->state, before));
    assert_int_equal(machine_complete(machine, 0), STEP_DONE);
    take_steps(running, 0, 2);
    state_save(machine, after);
    assert_false(state_equal(machine, before, after));

    state_restore(machine, before);
    assert_barrier(running, "%bar[0]", 0, 1, 0);
    assert_int_equal(machine->state->outstanding_count, 1);
    take_steps(running, 0, 1); /* in another order, to the same end */
    assert_int_equal(machine_complete(machine, 0), STEP_DONE);
    take_steps(running, 0, 1);
    assert_true(state_equal(machine, machine->state, after));
    end_kernel(running);
}

static void two_starts_give_the_same_state(void **state) {
    (void)state;
    Running *running = start_kernel(AGENTS(INIT(a, 1) INIT(b, 1), WAIT(a, 0), ARRIVE(a)));
    State *first = state_new(running->machine, &running->reading->module.arena);
    state_save(running->machine, first);
    assert_int_equal(run_eagerly(running), RUN_COMPLETE);
    assert_false(state_equal(running->machine, running->machine->state, first));
    assert_int_equal(machine_start(running->machine, 0), STEP_DONE);
    assert_true(state_equal(running->machine, running->machine->state, first));
    end_kernel(running);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(init_makes_the_count_pending),
        cmocka_unit_test(an_arrival_takes_from_pending_and_the_last_one_flips_the_phase),
        cmocka_unit_test(an_expect_is_one_arrival_and_bytes_to_come),
        cmocka_unit_test(a_copy_delivers_its_bytes_and_does_not_arrive),
        cmocka_unit_test(bytes_may_come_before_they_are_expected),
        cmocka_unit_test(arrivals_alone_do_not_flip_while_bytes_are_to_come),
        cmocka_unit_test(a_wait_for_parity_one_passes_on_a_fresh_barrier_and_for_zero_does_not),
        cmocka_unit_test(a_wait_consumes_nothing_so_that_two_pass_on_one_flip),
        cmocka_unit_test(more_arrivals_than_are_pending_underflow),
        cmocka_unit_test(transaction_bytes_have_a_range),
        cmocka_unit_test(a_barrier_that_was_never_initialized_cannot_be_used),
        cmocka_unit_test(a_barrier_that_was_invalidated_cannot_be_used),
        cmocka_unit_test(a_live_barrier_cannot_be_initialized_again),
        cmocka_unit_test(an_invalidated_barrier_begins_again_at_phase_zero),
        cmocka_unit_test(a_barrier_is_not_invalidated_under_a_waiter),
        cmocka_unit_test(bytes_that_come_after_the_end_are_a_fault),
        cmocka_unit_test(bytes_that_come_before_the_init_are_a_fault),
        cmocka_unit_test(a_per_thread_arrive_is_one_for_each_thread_of_the_partition),
        cmocka_unit_test(nothing_happens_where_a_predicate_is_false),
        cmocka_unit_test(a_slot_of_a_ring_is_one_barrier_under_every_name),
        cmocka_unit_test(a_count_that_no_barrier_has_ends_the_run),
        cmocka_unit_test(a_named_barrier_opens_when_so_many_threads_have_come),
        cmocka_unit_test(what_comes_first_says_how_many_a_named_barrier_needs),
        cmocka_unit_test(there_are_sixteen_named_barriers),
        cmocka_unit_test(the_cluster_barrier_opens_when_all_ctas_have_come),
        cmocka_unit_test(the_cluster_barrier_counts_every_agent_that_is_there),
        cmocka_unit_test(a_whole_cluster_barrier_in_a_partition_is_among_those_partitions),
        cmocka_unit_test(partitions_start_with_what_they_capture_and_are_waited_for),
        cmocka_unit_test(agents_and_helpers_have_names),
        cmocka_unit_test(a_commit_covers_the_work_before_it_and_products_are_done_in_order),
        cmocka_unit_test(products_out_of_order_are_still_covered_by_their_commit),
        cmocka_unit_test(a_commit_without_work_signals_all_the_same),
        cmocka_unit_test(an_arrive_of_copies_is_announced_unless_it_says_otherwise),
        cmocka_unit_test(more_flights_than_are_kept_end_the_run),
        cmocka_unit_test(a_token_is_a_full_and_an_empty_barrier_for_each_slot),
        cmocka_unit_test(an_aref_is_a_full_and_an_empty_barrier_for_each_stage),
        cmocka_unit_test(an_aref_without_stages_counts_the_uses_of_each_side),
        cmocka_unit_test(a_copy_delivers_as_many_boxes_as_cover_its_tile),
        cmocka_unit_test(in_a_cluster_the_boxes_cover_a_cta_s_part),
        cmocka_unit_test(a_box_beyond_all_numbers_ends_the_run),
        cmocka_unit_test(what_the_launch_says_is_in_memory_is_loaded),
        cmocka_unit_test(what_nothing_knows_is_the_same_for_all_and_differs_from_world_to_world),
        cmocka_unit_test(a_state_can_be_kept_compared_and_put_back),
        cmocka_unit_test(two_starts_give_the_same_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
