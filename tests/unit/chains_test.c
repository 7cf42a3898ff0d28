/* Chains of TMEM tokens. */
#include "planning.h"

#define TMEM                                                                                                   \
    "#rows = #ttg.blocked<{sizePerThread = [1, 128], threadsPerWarp = [32, 1], warpsPerCTA = [4, 1], order = " \
    "[0, 1]}>\n"                                                                                               \
    "#tmem = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>\n"                        \
    "#shared = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>\n"      \
    "#smem = #ttg.shared_memory\n"                                                                             \
    "!acc = !ttg.memdesc<128x128xf32, #tmem, #ttng.tensor_memory, mutable>\n"                                  \
    "!tile = !ttg.memdesc<128x128xf16, #shared, #smem, mutable>\n"                                             \
    "!bar = !ttg.memdesc<1xi64, #shared, #smem, mutable>\n"

#define KERNEL(body)                                                                                               \
    TMEM "tt.func @kernel(%n: i32, %x: tensor<128x128xf32, #rows>, %a: !tile, %out: tensor<128x128x!tt.ptr<f32>, " \
         "#rows>) {\n"                                                                                             \
         "  %c0 = arith.constant 0 : i32\n"                                                                        \
         "  %c1 = arith.constant 1 : i32\n"                                                                        \
         "  %true = arith.constant true\n"                                                                         \
         "  %false = arith.constant false\n"                                                                       \
         "  %acc, %made = ttng.tmem_alloc : () -> (!acc, !ttg.async.token)\n" body "  tt.return\n}\n"
#define TASK(k) " {async_task_id = array<i32: " #k ">} "
#define MMA(result, token, use, task)                                                                             \
    "  %" #result " = ttng.tc_gen5_mma %a, %a, %acc[%" #token "], %" #use ", %true" TASK(task) ": !tile, !tile, " \
                                                                                               "!acc\n"
#define LOAD(value, result, token, task)                                                                         \
    "  %" #value ", %" #result " = ttng.tmem_load %acc[%" #token "]" TASK(task) ": !acc -> tensor<128x128xf32, " \
                                                                                "#rows>\n"

static void a_token_that_goes_around_a_loop_is_a_backward_edge(void **state) {
    (void)state;
    Planned *planned = plan_text(KERNEL("  %end = scf.for %i = %c0 to %n step %c1 iter_args(%t = %made) -> "
                                        "(!ttg.async.token) : i32 {\n" MMA(done, t, false, 1)
                                            LOAD(y, read, done, 2) "  scf.yield %read : !ttg.async.token\n"
                                                                   "  } {async_task_id = array<i32: 1, 2>}\n"));
    report_token_chains(&planned->builder);
    assert_int_equal(planned->builder.edge_count, 2);
    const ReportEdge *backward = edge_of(planned, "task 2", "task 1", 0);
    assert_non_null(backward);
    assert_string_equal(backward->direction, "backward");
    assert_string_equal(backward->mechanism, "TMEM token");
    assert_string_equal(backward->carries, "acc");
    assert_string_equal(backward->barrier, "");
    assert_string_equal(backward->note, "");
    assert_string_equal(edge_of(planned, "task 1", "task 2", 0)->direction, "forward");
    planned_done(planned);
}

static void a_token_that_nothing_takes_is_flagged(void **state) {
    (void)state;
    Planned *planned = plan_text(KERNEL("  scf.for %i = %c0 to %n step %c1 : i32 {\n" MMA(done, made, false, 1)
                                            LOAD(y, read, done, 2) "  } {async_task_id = array<i32: 1, 2>}\n"));
    report_token_chains(&planned->builder);
    const ReportEdge *backward = edge_of(planned, "task 2", "task 1", 0);
    assert_non_null(backward);
    assert_string_equal(backward->direction, "backward");
    assert_int_equal(strncmp(backward->note, "unused token: ", 14), 0);
    planned_done(planned);
}

static void an_accumulator_that_is_never_overwritten_is_not_flagged(void **state) {
    (void)state;
    Planned *planned = plan_text(KERNEL("  scf.for %i = %c0 to %n step %c1 : i32 {\n" MMA(done, made, true, 1)
                                            LOAD(y, read, done, 2) "  } {async_task_id = array<i32: 1, 2>}\n"));
    report_token_chains(&planned->builder);
    assert_null(edge_of(planned, "task 2", "task 1", 0));
    planned_done(planned);
}

static void a_write_of_its_own_comes_first(void **state) {
    (void)state;
    Planned *planned = plan_text(KERNEL("  scf.for %i = %c0 to %n step %c1 : i32 {\n"
                                        "  %s = ttng.tmem_store %x, %acc[%made], %true" TASK(
                                            2) ": tensor<128x128xf32, #rows> -> !acc\n" MMA(done, s, true, 1)
                                            LOAD(y, read, done, 2) "  } {async_task_id = array<i32: 1, 2>}\n"));
    report_token_chains(&planned->builder);
    const ReportEdge *own = edge_of(planned, "task 2", "task 2", 0);
    assert_non_null(own);
    assert_non_null(strstr(own->note, "in one partition"));
    assert_non_null(edge_of(planned, "task 2", "task 1", 0));
    planned_done(planned);
}

static void a_kernel_with_barriers_is_not_flagged(void **state) {
    (void)state;
    Planned *planned = plan_text(KERNEL(
        "  %bar = ttg.local_alloc : () -> !bar\n"
        "  ttng.init_barrier %bar, 1 : !bar\n"
        "  scf.for %i = %c0 to %n step %c1 : i32 {\n" MMA(done, made, false, 1)
            LOAD(y, read, done, 2) "  ttng.arrive_barrier %bar, 1" TASK(2) ": !bar\n"
                                                                           "  } {async_task_id = array<i32: 1, 2>}\n"));
    report_token_chains(&planned->builder);
    assert_int_equal(planned->builder.edge_count, 1);
    assert_string_equal(planned->builder.edges[0].direction, "forward");
    planned_done(planned);
}

static void a_read_that_feeds_the_next_overwrite_of_its_own_partition_is_kept(void **state) {
    (void)state;
    Planned *planned = plan_text(
        KERNEL("  %end = scf.for %i = %c0 to %n step %c1 iter_args(%t = %made) -> (!ttg.async.token) : i32 {\n"
               "  %s = ttng.tmem_store %x, %acc[%t], %true" TASK(1) ": tensor<128x128xf32, #rows> -> !acc\n" LOAD(
                   y, read, s, 1) "  scf.yield %read : !ttg.async.token\n"
                                  "  } {async_task_id = array<i32: 1>}\n"));
    report_token_chains(&planned->builder);
    assert_int_equal(planned->builder.edge_count, 1);
    assert_string_equal(planned->builder.edges[0].direction, "backward");
    assert_string_equal(planned->builder.edges[0].out.op, "ttng.tmem_load");
    planned_done(planned);
}

static void tokens_are_followed_through_conditions_and_loop_results(void **state) {
    (void)state;
    Planned *planned = plan_text(
        KERNEL("  %cond = arith.constant true\n"
               "  %end = scf.for %i = %c0 to %n step %c1 iter_args(%t = %made) -> (!ttg.async.token) : i32 {\n"
               "    %either = scf.if %cond -> (!ttg.async.token) {\n" MMA(
                   done, t, false, 1) "      scf.yield %done : !ttg.async.token\n"
                                      "    } else {\n"
                                      "      scf.yield %t : !ttg.async.token\n"
                                      "    }\n"
                                      "    scf.yield %either : !ttg.async.token\n"
                                      "  } {async_task_id = array<i32: 1, 2>}\n" LOAD(y, read, end, 2)));
    report_token_chains(&planned->builder);
    const ReportEdge *edge = edge_of(planned, "task 1", "task 2", 0);
    assert_non_null(edge);
    assert_string_equal(edge->direction, "forward");
    assert_string_equal(edge->in.op, "ttng.tmem_load");
    planned_done(planned);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_token_that_goes_around_a_loop_is_a_backward_edge),
        cmocka_unit_test(a_token_that_nothing_takes_is_flagged),
        cmocka_unit_test(an_accumulator_that_is_never_overwritten_is_not_flagged),
        cmocka_unit_test(a_write_of_its_own_comes_first),
        cmocka_unit_test(a_kernel_with_barriers_is_not_flagged),
        cmocka_unit_test(a_read_that_feeds_the_next_overwrite_of_its_own_partition_is_kept),
        cmocka_unit_test(tokens_are_followed_through_conditions_and_loop_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
