/* check/fences/proxies and check/fences: ordinary and asynchronous accesses, with the fence where it belongs,
 * elsewhere, and nowhere; and the fences that are inserted and taken out. */
#include "running.h"

#include "check/fences/fences.h"

/* ---- Kernels -------------------------------------------------------------------------------------- */

#define HEAD                                                                                                  \
    "#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n"                    \
    "#smem = #ttg.shared_memory\n"                                                                            \
    "#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>\n" \
    "!barrier = !ttg.memdesc<1xi64, #shared, #smem, mutable>\n"                                               \
    "!tile = !ttg.memdesc<64xf16, #shared, #smem, mutable>\n"                                                 \
    "!desc = !tt.tensordesc<tensor<64xf16, #shared>>\n"                                                       \
    "module attributes {\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 4 : i32, ttg.target = \"cuda:90\", "  \
    "\"ttg.threads-per-warp\" = 32 : i32} {\n"                                                                \
    "  tt.func public @kernel(%desc: !desc, %from: tensor<64x!tt.ptr<f16>, #blocked>) {\n" CONSTANTS          \
    "    %data = arith.constant dense<0.0> : tensor<64xf16, #blocked>\n"                                      \
    "    %tile = ttg.local_alloc : () -> !tile\n"                                                             \
    "    %a = ttg.local_alloc : () -> !barrier\n" INIT(a, 1) "    %b = ttg.local_alloc : () -> !barrier\n" INIT(b, 1)
#define TAIL        "    tt.return\n  }\n}\n"
#define ALONE(body) HEAD body TAIL
/* Two partitions beside the default agent, all with %tile, %a, %b and %desc. */
#define PARTITION(name, body)                                                                         \
    "    " name "(%desc: !desc, %tile: !tile, %a: !barrier, %b: !barrier) num_warps(4) {\n" CONSTANTS \
    "    %data = arith.constant dense<0.0> : tensor<64xf16, #blocked>\n" body "    ttg.warp_return\n    }"
#define THREE(before, default_body, first, second, after)                                     \
    HEAD before "    ttg.warp_specialize(%desc, %tile, %a, %b)\n    default {\n" default_body \
                "    ttg.warp_yield\n    }\n" PARTITION("partition0", first) "\n" PARTITION(  \
                    "partition1", second) " : (!desc, !tile, !barrier, !barrier) -> ()\n" after TAIL
#define TWO(default_body, first) THREE("", default_body, first, "", "")

#define STORE    "    ttg.local_store %data, %tile : tensor<64xf16, #blocked> -> !tile\n"
#define READ     "    %x = ttg.local_load %tile : !tile -> tensor<64xf16, #blocked>\n"
#define FENCE    "    ttng.fence_async_shared {bCluster = false}\n"
#define COPY_OUT "    ttng.async_tma_copy_local_to_global %desc[%c0] %tile : !desc, !tile\n"
#define DRAIN    "    ttng.async_tma_store_wait {pendings = 0 : i32}\n"
#define COPY_IN  EXPECT(b, 128) COPY(b)
#define CP_ASYNC                                                                                             \
    "    %copy = ttg.async_copy_global_to_local %from, %tile : tensor<64x!tt.ptr<f16>, #blocked> -> !tile\n" \
    "    %group = ttg.async_commit_group tokens %copy\n"
#define CP_WAIT "    %done = ttg.async_wait %group {num = 0 : i32}\n"

/* ---- Looking -------------------------------------------------------------------------------------- */

typedef struct Looking {
    Running *running;
    Proxies *proxies;
    const Breach *found;
    uint32_t count;
} Looking;

static void run_it(Looking *looking) {
    Machine *machine = looking->running->machine;
    proxies_start(looking->proxies, 0, false);
    machine->observe = proxies_observe;
    machine->observer = looking->proxies;
    assert_int_equal(schedule_run(machine, 0, &(Schedule){.kind = SCHEDULE_EAGER}), RUN_COMPLETE);
    machine->observe = NULL;
    looking->found = proxies_found(looking->proxies, &looking->count);
}

static Looking look_at(const char *text) {
    const char *problem = NULL;
    const Op *op;
    Looking looking = {.running = compile_whole(text)};
    machine_launch(looking.running->machine, &looking.running->launch);
    looking.proxies = proxies_create(&looking.running->reading->module.arena, looking.running->machine, &problem);
    assert_non_null(looking.proxies);
    run_it(&looking);
    assert_null(proxies_problem(looking.proxies, &op));
    return looking;
}

static void expect_none(const char *text) {
    Looking looking = look_at(text);
    assert_int_equal(looking.count, 0);
    end_kernel(looking.running);
}

/* Exactly one; what it is. */
static Breach expect_one(const char *text) {
    Looking looking = look_at(text);
    assert_int_equal(looking.count, 1);
    Breach breach = looking.found[0];
    end_kernel(looking.running);
    return breach;
}

/* ---- Where the fence stands ----------------------------------------------------------------------- */

static void a_fence_between_write_and_copy_is_enough(void **state) {
    (void)state;
    expect_none(ALONE(STORE FENCE COPY_OUT DRAIN));
    Breach breach = expect_one(ALONE(STORE COPY_OUT DRAIN));
    assert_int_equal(breach.kind, BREACH_MISSING);
    assert_true(breach.own);
    assert_int_equal(expect_one(ALONE(FENCE STORE COPY_OUT DRAIN)).kind, BREACH_MISSING);
}

static void across_partitions_it_comes_before_the_arrive(void **state) {
    (void)state;
    expect_none(TWO(STORE FENCE ARRIVE(a), WAIT(a, 0) COPY_OUT DRAIN));
    Breach breach = expect_one(TWO(STORE ARRIVE(a), WAIT(a, 0) COPY_OUT DRAIN));
    assert_int_equal(breach.kind, BREACH_MISSING);
    assert_false(breach.own);
    assert_int_not_equal(breach.arrive_pc, NO_PC);
    breach = expect_one(TWO(STORE ARRIVE(a) FENCE, WAIT(a, 0) COPY_OUT DRAIN));
    assert_int_equal(breach.kind, BREACH_MISSING);
    assert_int_not_equal(breach.fence_pc, NO_PC);
}

static void a_fence_of_the_issuer_is_late(void **state) {
    (void)state;
    Breach breach = expect_one(TWO(STORE ARRIVE(a), WAIT(a, 0) FENCE COPY_OUT DRAIN));
    assert_int_equal(breach.kind, BREACH_LATE);
    assert_int_not_equal(breach.fence_pc, NO_PC);
}

static void knowledge_of_a_fence_is_handed_on(void **state) {
    (void)state;
    expect_none(THREE("", STORE FENCE ARRIVE(a), WAIT(a, 0) ARRIVE(b), WAIT(b, 0) COPY_OUT DRAIN, ""));
    assert_int_equal(expect_one(THREE("", STORE ARRIVE(a), WAIT(a, 0) ARRIVE(b), WAIT(b, 0) COPY_OUT DRAIN, "")).kind,
                     BREACH_MISSING);
}

static void starts_and_ends_of_partitions_count_as_the_own(void **state) {
    (void)state;
    expect_none(THREE(STORE FENCE, "", COPY_OUT DRAIN, "", ""));
    assert_true(expect_one(THREE(STORE, "", COPY_OUT DRAIN, "", "")).own);
    expect_none(THREE("", "", STORE FENCE, "", COPY_OUT DRAIN));
    assert_true(expect_one(THREE("", "", STORE, "", COPY_OUT DRAIN)).own);
}

static void copies_of_threads_are_fenced_after_their_wait(void **state) {
    (void)state;
    expect_none(ALONE(CP_ASYNC CP_WAIT FENCE COPY_OUT DRAIN));
    Breach breach = expect_one(ALONE(CP_ASYNC FENCE CP_WAIT COPY_OUT DRAIN));
    assert_int_equal(breach.kind, BREACH_MISSING);
    assert_true(breach.early);
}

/* ---- Which accesses ------------------------------------------------------------------------------- */

static void writes_are_fenced_from_writes_too(void **state) {
    (void)state;
    expect_none(ALONE(STORE FENCE COPY_IN WAIT(b, 0)));
    Breach breach = expect_one(ALONE(STORE COPY_IN WAIT(b, 0)));
    assert_true(breach.writes);
    assert_false(breach.reads);
}

static void what_a_copy_wrote_needs_no_fence(void **state) {
    (void)state;
    expect_none(ALONE(COPY_IN WAIT(b, 0) READ COPY_OUT DRAIN));
    /* of the two only the overwrite lacks one: what is stored is what was loaded */
    assert_true(expect_one(ALONE(STORE COPY_IN WAIT(b, 0) COPY_OUT DRAIN)).writes);
}

static void reads_before_a_copy_are_told_apart(void **state) {
    (void)state;
    assert_true(expect_one(ALONE(READ COPY_IN WAIT(b, 0))).reads);
    expect_none(ALONE(READ FENCE COPY_IN WAIT(b, 0)));
}

#define OVER(fence)                                                                                                   \
    ALONE("    %old = ttg.local_alloc {allocation.offset = 1024 : i32} : () -> !barrier\n" INIT(old, 1) ARRIVE(old)   \
              WAIT(old, 0)                                                                                            \
                  INVALIDATE(old) "    %new = ttg.local_alloc {allocation.offset = 1024 : i32} : () -> !tile\n" fence \
                      EXPECT(b, 128) "    ttng.async_tma_copy_global_to_local %desc[%c0] %new, %b, %true : !desc, "   \
                                     "!barrier -> !tile\n" WAIT(b, 0))

static void barriers_are_bytes_that_data_may_come_over(void **state) {
    (void)state;
    expect_none(OVER(FENCE));
    assert_true(expect_one(OVER("")).writes);
}

static void what_is_not_ordered_is_not_judged(void **state) {
    (void)state;
    Looking looking = look_at(TWO(STORE, COPY_OUT DRAIN));
    assert_int_equal(looking.count, 0);
    assert_false(proxies_saw_all(looking.proxies));
    end_kernel(looking.running);
}

/* ---- Other fences --------------------------------------------------------------------------------- */

static const Op *nth(const Looking *looking, const char *name, unsigned index) {
    const Op *op = find_op(looking->running->reading, name, index);
    assert_non_null(op);
    return op;
}

static void as_if_a_fence_were_there_or_were_not(void **state) {
    (void)state;
    Looking looking = look_at(TWO(STORE ARRIVE(a) ARRIVE(b), WAIT(a, 0) COPY_OUT DRAIN WAIT(b, 0)));
    const Op *first = nth(&looking, "ttng.arrive_barrier", 0), *second = nth(&looking, "ttng.arrive_barrier", 1);
    FencePoint before = {first, false, false}, too_late = {second, false, false};
    FencePoint behind = {nth(&looking, "ttg.local_store", 0), true, false};
    proxies_edit(looking.proxies, &before, 1, NULL, 0);
    run_it(&looking);
    assert_int_equal(looking.count, 0);
    proxies_edit(looking.proxies, &too_late, 1, NULL, 0);
    run_it(&looking);
    assert_int_equal(looking.count, 1);
    proxies_edit(looking.proxies, &behind, 1, NULL, 0);
    run_it(&looking);
    assert_int_equal(looking.count, 0);
    end_kernel(looking.running);

    looking = look_at(ALONE(STORE FENCE COPY_OUT DRAIN));
    const Op *fence = nth(&looking, "ttng.fence_async_shared", 0);
    proxies_edit(looking.proxies, NULL, 0, &fence, 1);
    run_it(&looking);
    assert_int_equal(looking.count, 1);
    end_kernel(looking.running);
}

/* ---- Plans ---------------------------------------------------------------------------------------- */

static FencePlan plan_of(Running *running) {
    FencePlan plan = fences_plan(&running->reading->module, running->function, NULL, &running->verdict);
    assert_true(plan.settled);
    return plan;
}

static unsigned fences_in(const Reading *reading) {
    unsigned count = 0;
    while (find_op(reading, "ttng.fence_async_shared", count))
        count++;
    return count;
}

/* The IR with the fences of its plan has `fences` of them, lacks none, and not one of them can be left out. */
static void expect_plan(const char *text, unsigned fences) {
    Running *running = compile_whole(text);
    FencePlan plan = plan_of(running);
    Text emitted = {0};
    fences_emit(&running->reading->module, &plan, 1, &emitted);
    text_char(&emitted, 0);
    assert_false(emitted.failed);
    assert_int_equal(fences_in(running->reading) + plan.point_count - plan.without_count, fences);
    Looking looking = look_at(emitted.data);
    assert_int_equal(looking.count, 0);
    assert_int_equal(fences_in(looking.running->reading), fences);
    for (unsigned i = 0; i < fences; i++) {
        const Op *fence = nth(&looking, "ttng.fence_async_shared", i);
        proxies_edit(looking.proxies, NULL, 0, &fence, 1);
        run_it(&looking);
        assert_int_not_equal(looking.count, 0);
    }
    end_kernel(looking.running);
    end_kernel(running);
    text_free(&emitted);
}

static void plans_insert_and_take_out(void **state) {
    (void)state;
    expect_plan(ALONE(COPY_IN WAIT(b, 0) COPY_OUT DRAIN), 0);
    expect_plan(ALONE(COPY_IN WAIT(b, 0) FENCE COPY_OUT DRAIN), 0);
    expect_plan(ALONE(STORE COPY_OUT DRAIN), 1);
    expect_plan(ALONE(STORE FENCE FENCE COPY_OUT DRAIN), 1);
    expect_plan(ALONE(STORE STORE COPY_OUT DRAIN STORE COPY_OUT DRAIN), 2);
    expect_plan(TWO(STORE ARRIVE(a), WAIT(a, 0) COPY_OUT DRAIN), 1);
    expect_plan(TWO(STORE ARRIVE(a), WAIT(a, 0) FENCE COPY_OUT DRAIN), 1);
    expect_plan(TWO(STORE ARRIVE(a) FENCE, WAIT(a, 0) COPY_OUT DRAIN), 1);
    expect_plan(THREE("", STORE ARRIVE(a), WAIT(a, 0) ARRIVE(b), WAIT(b, 0) COPY_OUT DRAIN, STORE COPY_OUT DRAIN), 2);
    expect_plan(THREE(STORE, "", COPY_OUT DRAIN, "", ""), 1);
    expect_plan(THREE("", "", STORE, "", COPY_OUT DRAIN), 1);
    expect_plan(ALONE(CP_ASYNC CP_WAIT COPY_OUT DRAIN), 1);
}

#define LOOP(body) "    scf.for %i = %c0 to %c2 step %c1 : i32 {\n" body "    }\n"

static void plans_keep_fences_out_of_loops(void **state) {
    (void)state;
    Running *running = compile_whole(ALONE(STORE LOOP(COPY_OUT DRAIN)));
    FencePlan plan = plan_of(running);
    assert_int_equal(plan.point_count, 1);
    assert_true(plan.points[0].after);
    assert_ptr_equal(plan.points[0].op, find_op(running->reading, "ttg.local_store", 0));
    end_kernel(running);
    expect_plan(ALONE(STORE LOOP(COPY_OUT DRAIN)), 1);
    expect_plan(ALONE(LOOP(STORE COPY_OUT DRAIN)), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fence_between_write_and_copy_is_enough),
        cmocka_unit_test(across_partitions_it_comes_before_the_arrive),
        cmocka_unit_test(a_fence_of_the_issuer_is_late),
        cmocka_unit_test(knowledge_of_a_fence_is_handed_on),
        cmocka_unit_test(starts_and_ends_of_partitions_count_as_the_own),
        cmocka_unit_test(copies_of_threads_are_fenced_after_their_wait),
        cmocka_unit_test(writes_are_fenced_from_writes_too),
        cmocka_unit_test(what_a_copy_wrote_needs_no_fence),
        cmocka_unit_test(reads_before_a_copy_are_told_apart),
        cmocka_unit_test(barriers_are_bytes_that_data_may_come_over),
        cmocka_unit_test(what_is_not_ordered_is_not_judged),
        cmocka_unit_test(as_if_a_fence_were_there_or_were_not),
        cmocka_unit_test(plans_insert_and_take_out),
        cmocka_unit_test(plans_keep_fences_out_of_loops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
