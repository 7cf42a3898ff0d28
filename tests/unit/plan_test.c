/* What a kernel without barriers will need: barriers, edges, buffers, coverage. */
#include "planning.h"

static void a_merged_barrier_counts_the_bytes_of_both(void **state) {
    (void)state;
    Planned *planned = plan_file("plan-merged.mlir");
    report_plan(&planned->builder);
    assert_int_equal(planned->builder.barrier_count, 4);
    const ReportBarrier *full = barrier_of(planned, "full(a, b)"), *empty = barrier_of(planned, "empty(a, b)");
    assert_string_equal(full->kind, "planned");
    assert_string_equal(full->mechanism, "TMA mbarrier");
    assert_string_equal(full->direction, "forward");
    assert_int_equal(full->depth, 3);
    assert_int_equal(full->expect_bytes, 32768);
    assert_int_equal(full->data_bytes, 32768);
    assert_int_equal(full->byte_count, 2);
    assert_string_equal(full->bytes[0].text, "128x64xf16");
    assert_int_equal(full->bytes[1].bytes, 16384);
    assert_int_equal(full->bytes[1].ir_line, 25);
    assert_string_equal(full->index, "accumCnt % 3");
    assert_string_equal(full->phase, "(accumCnt / 3) & 1");
    assert_string_equal(full->offset, "");
    assert_string_equal(full->pair, "empty(a, b)");
    assert_int_equal(full->iterations, 0);
    assert_int_equal(full->arrive_count, 2);
    assert_int_equal(full->arrives[0].amount, 16384);
    assert_int_equal(full->wait_count, 1);
    assert_string_equal(full->waits[0].place.op, "ttng.tc_gen5_mma");
    assert_string_equal(full->waits[0].place.partition, "task 1");
    assert_string_equal(full->waits[0].index, "accumCnt(loop@21) % 3");
    assert_false(full->inverted);
    assert_true(empty->inverted);
    assert_string_equal(empty->phase, "NOT ((accumCnt / 3) & 1)");
    assert_string_equal(empty->mechanism, "MMA barrier operand");
    assert_int_equal(empty->expect_bytes, -1);
    assert_true(empty->waits[0].passes_at_once);
    assert_int_equal(full->issue_count, 0);
    const ReportBuffer *a = buffer_of(planned, "a");
    assert_true(has_text(a->notes, a->note_count, "merged with b: one barrier, 32768 bytes"));
    assert_string_equal(a->barrier, "full(a, b), empty(a, b)");
    assert_int_equal(a->depth, 3);
    assert_int_equal(a->id, 0);
    planned_done(planned);
}

static void a_result_is_committed_after_its_loop(void **state) {
    (void)state;
    Planned *planned = plan_file("plan-merged.mlir");
    report_plan(&planned->builder);
    const ReportBarrier *full = barrier_of(planned, "full(acc)"), *empty = barrier_of(planned, "empty(acc)");
    assert_string_equal(full->mechanism, "tcgen05 commit");
    assert_string_equal(full->arrives[0].place.detail, "will commit, after the loop at line 21");
    assert_string_equal(full->waits[0].place.detail, "will wait");
    assert_string_equal(full->waits[0].phase, "accumCnt(loop@20) & 1");
    assert_string_equal(full->cadence, "it flips once in each iteration of the loop at line 20");
    assert_true(has_text(full->issues, full->issue_count, "depth 1"));
    assert_string_equal(empty->mechanism, "producer/consumer token");
    assert_string_equal(empty->waits[0].place.detail, "will wait before it writes, before the loop at line 21");
    const ReportEdge *forward = edge_of(planned, "task 1", "task 2", 0);
    assert_non_null(forward);
    assert_string_equal(forward->barrier, "full(acc)");
    assert_string_equal(forward->carries, "acc (128x128xf32)");
    const ReportEdge *backward = edge_of(planned, "task 2", "task 1", 0);
    assert_non_null(backward);
    assert_string_equal(backward->direction, "backward");
    assert_string_equal(edge_of(planned, "task 0", "task 1", 0)->carries, "a (128x64xf16), b (64x128xf16)");
    planned_done(planned);
}

static void buffers_of_one_ring_take_turns(void **state) {
    (void)state;
    Planned *planned = plan_file("plan-staggered.mlir");
    report_plan(&planned->builder);
    assert_int_equal(planned->builder.barrier_count, 2);
    const ReportBarrier *full = barrier_of(planned, "full(b, a1, a0)");
    assert_string_equal(full->offset, "a1 +2, a0 +1");
    assert_int_equal(full->expect_bytes, 16384);
    assert_int_equal(full->byte_count, 3);
    assert_int_equal(full->arrive_count, 3);
    static const char *const expected[] = {"accumCnt(loop@22) % 3", "(accumCnt(loop@22) + 2) % 3",
                                           "(accumCnt(loop@22) + 1) % 3"};
    for (int i = 0; i < 3; i++) {
        assert_string_equal(full->arrives[i].index, expected[i]);
        assert_int_equal(full->arrives[i].stride, 3);
    }
    assert_int_equal(full->arrives[1].stagger, 2);
    assert_string_equal(full->waits[1].phase, "((accumCnt(loop@22) + 2) / 3) & 1");
    assert_string_equal(full->cadence, "each slot flips once in each iteration of the loop at line 22");
    const ReportBarrier *empty = barrier_of(planned, "empty(b, a1, a0)");
    /* b is given back by the last of the two that read it */
    assert_int_equal(empty->arrive_count, 3);
    assert_int_equal(empty->arrives[0].place.ir_line, 31);
    assert_string_equal(edge_of(planned, "task 0", "task 1", 0)->carries, "b, a1, a0 (3 x 128x64xf16)");
    planned_done(planned);
}

static const ReportRow *row_of(const ReportCoverage *table, const char *name) {
    for (size_t i = 0; i < table->row_count; i++)
        if (strcmp(table->rows[i].name, name) == 0)
            return &table->rows[i];
    fail_msg("the table has no row of %s", name);
    return NULL;
}

static void a_write_over_packed_memory_has_a_row_for_each_buffer(void **state) {
    (void)state;
    Planned *planned = plan_file("plan-packed.mlir");
    report_plan(&planned->builder);
    const ReportCoverage *table = planned->report.coverage;
    while (table < planned->report.coverage + planned->report.coverage_count && strcmp(table->owner, "qk") != 0)
        table++; /* every buffer has one */
    assert_true(table < planned->report.coverage + planned->report.coverage_count);
    assert_string_equal(table->storage, "buffer.id 8 (tensor, 128 columns)");
    assert_string_equal(table->owner, "qk");
    assert_string_equal(table->writer.op, "ttng.tc_gen5_mma");
    assert_string_equal(table->writer.partition, "task 1");
    assert_string_equal(table->extent, "columns 0-127");
    assert_true(table->whole);
    assert_int_equal(table->row_count, 5);
    const ReportRow *alpha = row_of(table, "alpha"), *m = row_of(table, "m");
    assert_int_equal(alpha->order, COVERAGE_MISSING);
    assert_string_equal(alpha->extent, "column 64");
    assert_string_equal(alpha->by, "no channel of the plan does: task 1 must wait for empty(alpha), before the write");
    assert_string_equal(m->consumer, "task 0");
    assert_string_equal(m->cadence, "each iteration of the loop at line 29");
    assert_string_equal(m->by,
                        "no channel of the plan does: task 1 must wait for empty(m), before the loop at line 32, "
                        "with the phase of the loop at line 29");
    assert_string_equal(row_of(table, "l")->extent, "column 66");
    assert_string_equal(row_of(table, "p")->by, "order of issue on the tensor core");
    assert_string_equal(row_of(table, "qk")->consumer, "task 3");
    assert_non_null(strstr(planned->report.coverage_note, "There are no barriers yet"));
    const ReportBuffer *p = buffer_of(planned, "p");
    assert_true(has_text(p->notes, p->note_count, "shares its memory with qk (columns 0-63)"));
    assert_false(has_text(p->notes, p->note_count, "both in use"));
    planned_done(planned);
}

static void a_value_that_crosses_is_a_buffer(void **state) {
    (void)state;
    Planned *planned = plan_file("plan-scheduled.mlir");
    report_plan(&planned->builder);
    const ReportBuffer *doubled = NULL;
    for (size_t i = 0; i < planned->builder.buffer_count; i++)
        if (strcmp(planned->builder.buffers[i].space, "register") == 0)
            doubled = &planned->builder.buffers[i];
    assert_non_null(doubled);
    assert_string_equal(doubled->value, "%doubled");
    const ReportEdge *edge = edge_of(planned, "partition 0", "partition 2", 0);
    assert_non_null(edge);
    assert_string_equal(edge->mechanism, "aref");
    assert_non_null(strstr(edge->note, "SSA value"));
    const ReportBarrier *full = barrier_of(planned, "full(a)");
    assert_string_equal(full->mechanism, "aref");
    assert_int_equal(full->expect_bytes, 16384);
    assert_true(has_text(full->issues, full->issue_count, "not planned yet"));
    planned_done(planned);
}

/* Task 0 puts tiles, task 1 takes them. */
#define TWO_TASKS(allocations, body)                                                                         \
    "#layout = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>\n" \
    "#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n"                   \
    "#smem = #ttg.shared_memory\n"                                                                           \
    "!tile = !ttg.memdesc<128xf32, #shared, #smem, mutable>\n"                                               \
    "tt.func @kernel(%n: i32, %x: tensor<128xf32, #layout>, %out: tensor<128x!tt.ptr<f32>, #layout>) {\n"    \
    "  %c0 = arith.constant 0 : i32\n"                                                                       \
    "  %c1 = arith.constant 1 : i32\n" allocations "  scf.for %i = %c0 to %n step %c1 : i32 {\n" body        \
    "  } {async_task_id = array<i32: 0, 1>}\n"                                                               \
    "  tt.return\n}\n"
#define PUT(buffer, stage)                                                                    \
    "  ttg.local_store %x, %" #buffer " {async_task_id = array<i32: 0>, loop.stage = " #stage \
    " : i32} : tensor<128xf32, #layout> -> !tile\n"
#define TAKE(value, buffer, stage)                                                                     \
    "  %" #value " = ttg.local_load %" #buffer " {async_task_id = array<i32: 1>, loop.stage = " #stage \
    " : i32} : !tile -> tensor<128xf32, #layout>\n"                                                    \
    "  tt.store %out, %" #value " {async_task_id = array<i32: 1>} : tensor<128x!tt.ptr<f32>, #layout>\n"
#define TILE(name, id, copies) \
    "  %" #name " = ttg.local_alloc {buffer.copy = " #copies " : i32, buffer.id = " #id " : i32} : () -> !tile\n"

static void a_buffer_that_spans_more_stages_than_it_has_slots_is_an_issue(void **state) {
    (void)state;
    Planned *planned = plan_text(TWO_TASKS(TILE(a, 0, 1), PUT(a, 0) TAKE(x0, a, 0) TAKE(x1, a, 1)));
    report_plan(&planned->builder);
    const ReportBarrier *full = barrier_of(planned, "full(a)");
    assert_true(has_text(full->issues, full->issue_count, "task 1 uses a in 2 stages"));
    assert_string_equal(full->mechanism, "producer/consumer token");
    planned_done(planned);
    planned = plan_text(TWO_TASKS(TILE(a, 0, 2), PUT(a, 0) TAKE(x0, a, 0) TAKE(x1, a, 1)));
    report_plan(&planned->builder);
    full = barrier_of(planned, "full(a)");
    assert_int_equal(full->issue_count, 0);
    /* one wait before the first read, given back after the last */
    assert_int_equal(full->wait_count, 1);
    const ReportBarrier *empty = barrier_of(planned, "empty(a)");
    assert_int_equal(empty->arrive_count, 1);
    assert_true(empty->arrives[0].place.ir_line > full->waits[0].place.ir_line);
    planned_done(planned);
}

/* The reader comes first in each iteration: he finds what is there, and the writer waits for him. */
static void what_is_read_an_iteration_later_starts_free_for_the_reader(void **state) {
    (void)state;
    Planned *planned = plan_text(TWO_TASKS(TILE(a, 0, 1), TAKE(x0, a, 0) PUT(a, 0)));
    report_plan(&planned->builder);
    const ReportBarrier *full = barrier_of(planned, "full(a)"), *empty = barrier_of(planned, "empty(a)");
    assert_true(full->inverted);
    assert_true(full->waits[0].passes_at_once);
    assert_int_equal(full->waits[0].first_parity, 1);
    assert_false(empty->inverted);
    assert_int_equal(empty->waits[0].first_parity, 0);
    assert_non_null(strstr(edge_of(planned, "task 0", "task 1", 0)->note, "previous iteration"));
    planned_done(planned);
}

/* The size of a buffer is that of all its slots, those that are only planned too. */
static void planned_slots_take_memory(void **state) {
    (void)state;
    Planned *planned = plan_text(TWO_TASKS(TILE(a, 0, 3), PUT(a, 0) TAKE(x0, a, 0)));
    report_plan(&planned->builder);
    assert_int_equal(buffer_of(planned, "a")->size, 3 * 512);
    planned_done(planned);
}

static void buffers_that_are_one_memory_and_in_use_together_are_noted(void **state) {
    (void)state;
    Planned *planned =
        plan_text(TWO_TASKS(TILE(a, 0, 1) TILE(b, 0, 1), PUT(a, 0) PUT(b, 0) TAKE(x0, a, 0) TAKE(x1, b, 0)));
    report_plan(&planned->builder);
    const ReportBuffer *a = buffer_of(planned, "a");
    assert_true(has_text(a->notes, a->note_count, "a and b are the same memory (bytes 0-511) and both live"));
    planned_done(planned);
    planned = plan_text(TWO_TASKS(TILE(a, 0, 1) TILE(b, 0, 1), PUT(a, 0) TAKE(x0, a, 0) PUT(b, 0) TAKE(x1, b, 0)));
    report_plan(&planned->builder);
    a = buffer_of(planned, "a");
    assert_false(has_text(a->notes, a->note_count, "both in use"));
    assert_true(has_text(a->notes, a->note_count, "shares its memory with b"));
    planned_done(planned);
}

static void more_buffers_than_slots_are_an_issue(void **state) {
    (void)state;
    Planned *planned = plan_text(TWO_TASKS(TILE(a, 0, 2) TILE(b, 0, 2) TILE(c, 0, 2),
                                           PUT(a, 0) PUT(b, 0) PUT(c, 0) TAKE(x0, a, 0) TAKE(x1, b, 0) TAKE(x2, c, 0)));
    report_plan(&planned->builder);
    const ReportBarrier *full = barrier_of(planned, "full(a, b, c)");
    assert_true(has_text(full->issues, full->issue_count, "3 buffers share 2 slots"));
    assert_string_equal(full->offset, "b +1, c +2");
    planned_done(planned);
}

static void what_stays_in_one_task_needs_nothing(void **state) {
    (void)state;
    Planned *planned =
        plan_text(TWO_TASKS(TILE(a, 0, 1), PUT(a, 0) "  %y = ttg.local_load %a {async_task_id = array<i32: 0>} : !tile "
                                                     "-> tensor<128xf32, #layout>\n"));
    report_plan(&planned->builder);
    assert_int_equal(planned->builder.barrier_count, 0);
    assert_int_equal(planned->builder.edge_count, 0);
    assert_string_equal(buffer_of(planned, "a")->barrier, "");
    planned_done(planned);
}

static void an_aref_is_one_ring_for_all_its_consumers(void **state) {
    (void)state;
    Planned *planned = plan_text(
        "#layout = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>\n"
        "#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n"
        "#smem = #ttg.shared_memory\n"
        "!ring = !ttg.memdesc<3x128xf32, #shared, #smem, mutable>\n"
        "!tile = !ttg.memdesc<128xf32, #shared, #smem, mutable>\n"
        "tt.func @kernel(%n: i32, %x: tensor<128xf32, #layout>) {\n"
        "  %c0 = arith.constant 0 : i32\n"
        "  %c1 = arith.constant 1 : i32\n"
        "  %ring = ttg.local_alloc : () -> !ring\n"
        "  %aref = nvws.aref.create %ring : <[!ring]>\n"
        "  scf.for %i = %c0 to %n step %c1 : i32 {\n"
        "    %w, %t0 = nvws.aref.put.enter %aref {ttg.partition = array<i32: 0>} : <[!ring]> -> !tile, "
        "!ttg.async.token\n"
        "    ttg.local_store %x, %w {ttg.partition = array<i32: 0>} : tensor<128xf32, #layout> -> !tile\n"
        "    nvws.aref.put.exit %aref, %t0 [#nvws.async_op<none>] {ttg.partition = array<i32: 0>} : <[!ring]>, "
        "!ttg.async.token\n"
        "    %r, %t1 = nvws.aref.get.enter %aref {ttg.partition = array<i32: 1>} : <[!ring]> -> !tile, "
        "!ttg.async.token\n"
        "    nvws.aref.get.exit %aref, %t1 [#nvws.async_op<none>] {ttg.partition = array<i32: 1>} : <[!ring]>, "
        "!ttg.async.token\n"
        "    %s, %t2 = nvws.aref.get.enter %aref {ttg.partition = array<i32: 2>} : <[!ring]> -> !tile, "
        "!ttg.async.token\n"
        "    nvws.aref.get.exit %aref, %t2 [#nvws.async_op<none>] {ttg.partition = array<i32: 2>} : <[!ring]>, "
        "!ttg.async.token\n"
        "  } {ttg.partition = array<i32: 0, 1, 2>}\n"
        "  tt.return\n}\n");
    report_plan(&planned->builder);
    assert_int_equal(planned->builder.barrier_count, 2);
    const ReportBarrier *full = &planned->builder.barriers[0], *empty = &planned->builder.barriers[1];
    assert_int_equal(full->depth, 3);
    assert_int_equal(full->wait_count, 2);
    assert_int_equal(empty->count, 2);
    assert_string_equal(full->mechanism, "aref");
    assert_int_equal(planned->builder.edge_count, 4);
    /* the store in the slot is its writer too */
    assert_int_equal(buffer_of(planned, "ring")->writer_count, 2);
    planned_done(planned);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_merged_barrier_counts_the_bytes_of_both),
        cmocka_unit_test(a_result_is_committed_after_its_loop),
        cmocka_unit_test(buffers_of_one_ring_take_turns),
        cmocka_unit_test(a_write_over_packed_memory_has_a_row_for_each_buffer),
        cmocka_unit_test(a_value_that_crosses_is_a_buffer),
        cmocka_unit_test(a_buffer_that_spans_more_stages_than_it_has_slots_is_an_issue),
        cmocka_unit_test(what_is_read_an_iteration_later_starts_free_for_the_reader),
        cmocka_unit_test(planned_slots_take_memory),
        cmocka_unit_test(buffers_that_are_one_memory_and_in_use_together_are_noted),
        cmocka_unit_test(more_buffers_than_slots_are_an_issue),
        cmocka_unit_test(what_stays_in_one_task_needs_nothing),
        cmocka_unit_test(an_aref_is_one_ring_for_all_its_consumers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
