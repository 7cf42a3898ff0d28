/* machine/tile/schedule/clocks: what follows what in a run, for every way in which an access can be over and be waited
 * for. */
#include "running.h"

#include "machine/tile/schedule/clocks.h"

enum { MOST_SEEN = 16 };

/* Accesses to shared and tensor memory are numbered as they come; text says of each two whether the later one begins
 * after the earlier one is over ("1>0") or not ("1|0"). */
typedef struct Watch {
    Running *running;
    Clocks *clocks;
    Epoch stamps[MOST_SEEN];
    uint32_t agents[MOST_SEEN], count;
    Text text;
} Watch;

static void observe(void *observer, const Event *event) {
    Watch *watch = observer;
    clocks_observe(watch->clocks, event);
    if (event->kind != EVENT_ACCESS)
        return;
    assert_true(watch->count < MOST_SEEN);
    for (uint32_t i = 0; i < watch->count; i++)
        text_addf(&watch->text, "%s%u%c%u", watch->text.size ? " " : "", watch->count,
                  clocks_follow(watch->clocks, event, watch->stamps[i]) ? '>' : '|', i);
    watch->stamps[watch->count] = clocks_epoch(watch->clocks, event);
    watch->agents[watch->count++] = event->agent;
}

static Watch *watch_with(const char *text, bool out_of_order) {
    const char *problem = NULL;
    Watch *watch = calloc(1, sizeof *watch);
    assert_non_null(watch);
    watch->running = compile_whole(text);
    Machine *machine = watch->running->machine;
    machine->out_of_order = out_of_order;
    watch->clocks = clocks_create(&watch->running->reading->module.arena, machine, &problem);
    assert_non_null(watch->clocks);
    machine->observe = observe;
    machine->observer = watch;
    clocks_start(watch->clocks);
    assert_int_equal(run_eagerly(watch->running), RUN_COMPLETE);
    machine->observe = NULL;
    assert_false(clocks_overflowed(watch->clocks));
    text_char(&watch->text, 0);
    return watch;
}

static Watch *watch_text(const char *text) {
    return watch_with(text, false);
}

static void end_watch(Watch *watch) {
    text_free(&watch->text);
    end_kernel(watch->running);
    free(watch);
}

static void assert_order_with(const char *text, bool out_of_order, const char *expected) {
    Watch *watch = watch_with(text, out_of_order);
    assert_string_equal(watch->text.data, expected);
    end_watch(watch);
}

#define assert_order(text, expected) assert_order_with(text, false, expected)

/* ---- Kernels ---------------------------------------------------------------------------------------- */

/* Two agents that see %tile and two barriers, and a descriptor. */
#define SHARED(default_body, partition_body)                                                                        \
    KERNEL("%desc: !desc", "    %tile = ttg.local_alloc : () -> !tile\n"                                            \
                           "    %a = ttg.local_alloc : () -> !barrier\n"                                            \
                           "    %b = ttg.local_alloc : () -> !barrier\n" INIT(a, 1)                                 \
                               INIT(b, 1) "    ttg.warp_specialize(%tile, %a, %b, %desc)\n"                         \
                                          "    default {\n" default_body "      ttg.warp_yield\n    }\n"            \
                                          "    partition0(%tile: !tile, %a: !barrier, %b: !barrier, %desc: !desc) " \
                                          "num_warps(4) {\n" CONSTANTS partition_body "      ttg.warp_return\n"     \
                                          "    } : (!tile, !barrier, !barrier, !desc) -> ()\n")
#define LOAD               "    %x = ttg.local_load %tile : !tile -> tensor<64xf16, #blocked>\n"
#define AGAIN              "    %y = ttg.local_load %tile : !tile -> tensor<64xf16, #blocked>\n"
#define STORE              "    ttng.async_tma_copy_local_to_global %desc[%c0] %tile : !desc, !tile\n"
#define STORES_LEFT(count) "    ttng.async_tma_store_wait {pendings = " #count " : i32}\n"

/* ---- Agents ----------------------------------------------------------------------------------------- */

static void an_agent_follows_itself_and_what_it_waited_for(void **state) {
    (void)state;
    assert_order(SHARED(LOAD ARRIVE(a), WAIT(a, 0) LOAD AGAIN), "1>0 2>0 2>1");
    assert_order(SHARED(LOAD ARRIVE(a), LOAD), "1|0");
    assert_order(SHARED(ARRIVE(a) LOAD, WAIT(a, 0) LOAD), "1|0"); /* it arrived before */
    assert_order(SHARED(LOAD ARRIVE(a), WAIT(b, 1) LOAD), "1|0"); /* on another one */
}

static void partitions_follow_what_started_them_and_their_end_is_followed(void **state) {
    (void)state;
    assert_order(KERNEL("", "    %tile = ttg.local_alloc : () -> !tile\n" LOAD "    ttg.warp_specialize(%tile)\n"
                            "    default {\n      ttg.warp_yield\n    }\n"
                            "    partition0(%tile: !tile) num_warps(4) {\n" LOAD "      ttg.warp_return\n"
                            "    } : (!tile) -> ()\n" AGAIN),
                 "1>0 2>0 2>1");
}

/* ---- Phases ----------------------------------------------------------------------------------------- */

/* Two phases are complete when the partition waits: it may have gone on with the first. */
static void a_wait_knows_the_first_phase_that_it_may_have_gone_on_with(void **state) {
    (void)state;
    assert_order(SHARED(LOAD ARRIVE(a) ARRIVE(a) AGAIN ARRIVE(a), WAIT(a, 0) LOAD), "1>0 2>0 2|1");
    assert_order(SHARED(LOAD ARRIVE(a) WAIT(b, 0) AGAIN ARRIVE(a), WAIT(a, 0) ARRIVE(b) WAIT(a, 1) LOAD),
                 "1>0 2>0 2>1");
}

static void a_wait_that_needs_no_arrival_knows_nothing(void **state) {
    (void)state;
    assert_order(SHARED(LOAD, WAIT(a, 1) LOAD), "1|0");
}

/* What counts bytes is over with the phase that it counts in, and that says nothing else. */
static void a_copy_is_over_with_its_phase(void **state) {
    (void)state;
    assert_order(SHARED(EXPECT(a, 128) COPY(a), WAIT(a, 0) LOAD), "1>0");
    assert_order(SHARED(EXPECT(a, 128) COPY(a), LOAD), "1|0");
    assert_order(SHARED(EXPECT(a, 128) COPY(a) LOAD, ""), "1|0"); /* nor by program order */
    assert_order(SHARED(EXPECT(a, 128) LOAD COPY(a), WAIT(a, 0) LOAD), "1>0 2|0 2>1");
}

/* ---- Groups ----------------------------------------------------------------------------------------- */

static void stores_are_over_when_few_enough_are_left(void **state) {
    (void)state;
    assert_order(SHARED(STORE STORE STORES_LEFT(1) LOAD, ""), "1|0 2>0 2|1");
    assert_order(SHARED(STORE STORE STORES_LEFT(0) LOAD, ""), "1|0 2>0 2>1");
    assert_order(SHARED(STORE LOAD, ""), "1|0");
    assert_order(SHARED(STORE STORES_LEFT(0) ARRIVE(a), WAIT(a, 0) LOAD), "1>0");
    assert_order(SHARED(STORE ARRIVE(a), WAIT(a, 0) LOAD), "1|0"); /* the arrive waits for nothing */
}

#define POINTERS "    %ptr = tt.splat %p : !tt.ptr<f16> -> tensor<64x!tt.ptr<f16>, #blocked>\n"
#define COPY_IN  "    %t = ttg.async_copy_global_to_local %ptr, %tile : tensor<64x!tt.ptr<f16>, #blocked> -> !tile\n"
#define COPIES(body)                                                         \
    KERNEL("%p: !tt.ptr<f16>", "    %tile = ttg.local_alloc : () -> !tile\n" \
                               "    %bar = ttg.local_alloc : () -> !barrier\n" INIT(bar, 128) POINTERS body)

static void copies_are_over_with_their_group_or_with_the_barrier_they_arrive_on(void **state) {
    (void)state;
    assert_order(COPIES(COPY_IN "    ttg.async_commit_group\n    ttg.async_wait {num = 0 : i32}\n" LOAD), "1>0");
    assert_order(COPIES(COPY_IN "    ttg.async_commit_group\n    ttg.async_wait {num = 1 : i32}\n" LOAD), "1|0");
    assert_order(COPIES(COPY_IN "    ttg.async_wait {num = 0 : i32}\n" LOAD), "1|0"); /* not committed */
    assert_order(
        COPIES(COPY_IN "    ttng.async_copy_mbarrier_arrive %bar {noIncrement} : !barrier\n" WAIT(bar, 0) LOAD), "1>0");
    assert_order(
        COPIES(LOAD "    ttng.async_copy_mbarrier_arrive %bar {noIncrement} : !barrier\n" COPY_IN WAIT(bar, 0) AGAIN),
        "1>0 2>0 2|1"); /* the copy came after it */
}

/* ---- The tensor core -------------------------------------------------------------------------------- */

#define OPERANDS                                                                                               \
    "    %acc = ttng.tmem_alloc : () -> !ttg.memdesc<128x128xf32, #ttng.tensor_memory_encoding<blockM = 128, " \
    "blockN = 128, colStride = 1>, #ttng.tensor_memory, mutable>\n"                                            \
    "    %a = ttg.local_alloc : () -> !ttg.memdesc<128x128xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 128, " \
    "transposed = false, elementBitWidth = 16}>, #smem, mutable>\n"                                            \
    "    %bar = ttg.local_alloc : () -> !barrier\n" INIT(bar, 1)
#define PRODUCT_TYPES                                                                                     \
    "!ttg.memdesc<128x128xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, "         \
    "elementBitWidth = 16}>, #smem, mutable>, !ttg.memdesc<128x128xf16, #ttg.nvmma_shared<{"              \
    "swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>, #smem, mutable>, "             \
    "!ttg.memdesc<128x128xf32, #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>, " \
    "#ttng.tensor_memory, mutable>"
#define PRODUCT  "    ttng.tc_gen5_mma %a, %a, %acc, %false, %true {is_async} : " PRODUCT_TYPES "\n"
#define SAID_NOT "    ttng.tc_gen5_mma %a, %a, %acc, %false, %true : " PRODUCT_TYPES "\n"
#define COMMIT   "    ttng.tc_gen5_commit %bar : !barrier\n"
#define LOAD_A   LOAD_TO("%x")
#define LOAD_TO(result)                                                                                            \
    "    " result " = ttg.local_load %a : !ttg.memdesc<128x128xf16, #ttg.nvmma_shared<{swizzlingByteWidth = 128, " \
    "transposed = false, elementBitWidth = 16}>, #smem, mutable> -> tensor<128x128xf16>\n"

/* A product is three accesses: it reads, reads, writes. */
static void products_are_over_with_a_commit_that_was_waited_for(void **state) {
    (void)state;
    assert_order(KERNEL("", OPERANDS PRODUCT COMMIT WAIT(bar, 0) LOAD_A), "1>0 2>0 2>1 3>0 3>1 3>2");
    assert_order(KERNEL("", OPERANDS PRODUCT COMMIT LOAD_A), "1>0 2>0 2>1 3|0 3|1 3|2");
    assert_order(KERNEL("", OPERANDS COMMIT PRODUCT WAIT(bar, 0) LOAD_A), "1>0 2>0 2>1 3|0 3|1 3|2");
    assert_order_with(KERNEL("", OPERANDS PRODUCT COMMIT WAIT(bar, 0) LOAD_A), true, "1|0 2|0 2|1 3>0 3>1 3>2");
}

static void where_commits_are_written_out_products_alone_are_asynchronous(void **state) {
    (void)state;
    assert_order(KERNEL("", OPERANDS SAID_NOT COMMIT LOAD_A), "1>0 2>0 2>1 3|0 3|1 3|2");
    assert_order(KERNEL("", OPERANDS LOAD_A COMMIT LOAD_TO("%y")), "1>0");
}

/* ---- Barriers of threads ---------------------------------------------------------------------------- */

#define NUMBERED(default_body, partition_body)                                                         \
    SHARED("    %id = arith.constant 9 : i32\n    %threads = arith.constant 256 : i32\n" default_body, \
           "    %id = arith.constant 9 : i32\n    %threads = arith.constant 256 : i32\n" partition_body)
#define NAMED_ARRIVE "    ttng.arrive_barrier_named %id, %threads : i32, i32\n"
#define NAMED_WAIT   "    ttng.wait_barrier_named %id, %threads : i32, i32\n"

static void what_meets_at_a_named_barrier_follows_who_came(void **state) {
    (void)state;
    assert_order(NUMBERED(LOAD NAMED_ARRIVE, NAMED_WAIT LOAD), "1>0");
    assert_order(NUMBERED(NAMED_ARRIVE LOAD, NAMED_WAIT LOAD), "1|0");
    assert_order(NUMBERED(NAMED_WAIT LOAD, LOAD NAMED_WAIT AGAIN), "1>0 2>0 2|1");
}

#define FENCED(fence, relaxed)                                                         \
    MODULE_OF(2, FUNCTION("", "    %tile = ttg.local_alloc : () -> !tile\n" LOAD fence \
                              "    ttng.cluster_arrive {relaxed = " #relaxed "}\n    ttng.cluster_wait\n" AGAIN))

/* Both load, both meet, both load. */
static void a_cluster_barrier_orders_unless_it_is_relaxed(void **state) {
    (void)state;
    assert_order(FENCED("", false), "1|0 2>0 2>1 3>0 3>1 3|2");
    assert_order(FENCED("", true), "1|0 2|0 2>1 3>0 3|1 3|2");
}

static void a_fence_before_a_relaxed_cluster_barrier_releases(void **state) {
    (void)state;
    assert_order(FENCED("    ttng.fence_mbarrier_init_release_cluster\n", true), "1|0 2>0 2>1 3>0 3>1 3|2");
    assert_order(FENCED("    llvm.fence syncscope(\"cluster\") release\n", true), "1|0 2>0 2>1 3>0 3>1 3|2");
    assert_order(FENCED("    llvm.fence syncscope(\"block\") release\n", true), "1|0 2|0 2>1 3>0 3|1 3|2");
}

/* ---- Who told ---------------------------------------------------------------------------------------- */

static void the_wait_that_was_enough_is_known_and_who_arrived(void **state) {
    (void)state;
    Watch *watch = watch_text(SHARED(LOAD ARRIVE(a) ARRIVE(b), WAIT(a, 0) WAIT(b, 0) LOAD));
    const Machine *machine = watch->running->machine;
    const Raise *raise = clocks_raise(watch->clocks, 1, watch->stamps[0]);
    assert_non_null(raise);
    assert_int_equal(raise->kind, RAISE_WAIT);
    assert_int_equal(raise->via, 0);
    assert_int_equal(raise->barrier, slot_named(watch->running, "%a[0]"));
    assert_string_equal(machine->program->strands[machine->state->agents[0].strand].name, "default");
    assert_int_equal(clocks_agent(watch->clocks, watch->stamps[0].component), 0);
    assert_null(clocks_raise(watch->clocks, 0, watch->stamps[0])); /* its own */
    assert_true(clocks_know(watch->clocks, 0, watch->stamps[0]));
    assert_false(clocks_know(watch->clocks, 0, (Epoch){NO_COMPONENT, 0}));
    end_watch(watch);
}

static void a_second_run_knows_nothing_of_the_first(void **state) {
    (void)state;
    Watch *watch = watch_text(SHARED(LOAD ARRIVE(a), WAIT(a, 0) LOAD));
    clocks_start(watch->clocks);
    assert_false(clocks_know(watch->clocks, 1, watch->stamps[0]));
    assert_null(clocks_raise(watch->clocks, 1, watch->stamps[0]));
    end_watch(watch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_agent_follows_itself_and_what_it_waited_for),
        cmocka_unit_test(partitions_follow_what_started_them_and_their_end_is_followed),
        cmocka_unit_test(a_wait_knows_the_first_phase_that_it_may_have_gone_on_with),
        cmocka_unit_test(a_wait_that_needs_no_arrival_knows_nothing),
        cmocka_unit_test(a_copy_is_over_with_its_phase),
        cmocka_unit_test(stores_are_over_when_few_enough_are_left),
        cmocka_unit_test(copies_are_over_with_their_group_or_with_the_barrier_they_arrive_on),
        cmocka_unit_test(products_are_over_with_a_commit_that_was_waited_for),
        cmocka_unit_test(where_commits_are_written_out_products_alone_are_asynchronous),
        cmocka_unit_test(what_meets_at_a_named_barrier_follows_who_came),
        cmocka_unit_test(a_cluster_barrier_orders_unless_it_is_relaxed),
        cmocka_unit_test(a_fence_before_a_relaxed_cluster_barrier_releases),
        cmocka_unit_test(the_wait_that_was_enough_is_known_and_who_arrived),
        cmocka_unit_test(a_second_run_knows_nothing_of_the_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
