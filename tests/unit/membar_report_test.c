/* check/membar/report, membar_compare, membar_emit and render/membar: from what an analysis found, made up here, to
 * what is said of it. */
#include "reading.h"

#include <jansson.h>

#include "check/membar/report.h"
#include "render/membar.h"

static const char kernel[] =
    "#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n"
    "#smem = #ttg.shared_memory\n"
    "#line = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>\n"
    "!tile = !ttg.memdesc<128xf32, #shared, #smem, mutable>\n"
    "!row = tensor<128xf32, #line>\n"
    "!pointers = tensor<128x!tt.ptr<f32>, #line>\n"
    "module {\n"
    "  tt.func public @kernel(%in: !row, %from: !pointers, %count: i32) {\n"
    "    %c0 = arith.constant 0 : i32\n"
    "    %c1 = arith.constant 1 : i32\n"
    "    %tile = ttg.local_alloc : () -> !tile\n"
    "    %copy = ttg.async_copy_global_to_local %from, %tile : !pointers -> !tile loc(\"dir/kernel.py\":7:4)\n"
    "    %done = ttg.async_wait %copy {num = 0 : i32}\n"
    "    scf.for %i = %c0 to %count step %c1 : i32 {\n"
    "      %read = ttg.local_load %tile : !tile -> !row loc(\"kernel.py\":9:4)\n"
    "      ttg.local_store %in, %tile : !row -> !tile\n"
    "      ttg.barrier local\n"
    "      ttg.barrier local loc(\"kernel.py\":12:4)\n"
    "    } loc(\"kernel.py\":8:4)\n"
    "    tt.return\n"
    "  }\n"
    "}\n";

/* A module, and results about it that a test fills in. */
typedef struct Made {
    Reading *reading;
    Arena arena;
    jmp_buf exhausted;
    const Op *alloc, *copy, *wait, *loop, *load, *store, *kept, *extra;
    MembarResult result, other;
    MembarHazard hazard;
    MembarNeed need, automatic;
    MembarPresent present[2];
    MembarProof proof;
} Made;

static const Op *op_named(const Made *made, const char *name, unsigned index) {
    const Op *op = find_op(made->reading, name, index);
    assert_non_null(op);
    return op;
}

static Made *make(void) {
    Made *made = calloc(1, sizeof *made);
    assert_non_null(made);
    made->reading = read_good(kernel);
    arena_init(&made->arena, SIZE_MAX);
    made->arena.exhausted = made->reading->module.arena.exhausted = &made->exhausted;
    assert_int_equal(setjmp(made->exhausted), 0);
    made->alloc = op_named(made, "ttg.local_alloc", 0);
    made->copy = op_named(made, "ttg.async_copy_global_to_local", 0);
    made->wait = op_named(made, "ttg.async_wait", 0);
    made->loop = op_named(made, "scf.for", 0);
    made->load = op_named(made, "ttg.local_load", 0);
    made->store = op_named(made, "ttg.local_store", 0);
    made->kept = op_named(made, "ttg.barrier", 0);
    made->extra = op_named(made, "ttg.barrier", 1);
    made->result = made->other =
        (MembarResult){.function = op_named(made, "tt.func", 0), .model = MEMBAR_ASYNC, .problem = NULL};
    made->hazard = (MembarHazard){.kind = MEMBAR_WAR,
                                  .first = made->load,
                                  .second = made->store,
                                  .space = SPACE_SHARED,
                                  .first_buffer = made->alloc,
                                  .second_buffer = made->alloc,
                                  .begin = 0,
                                  .end = 512};
    made->need = (MembarNeed){.op = made->store, .hazards = &made->hazard, .hazard_count = 1};
    made->automatic = (MembarNeed){.op = made->wait, .after = true, .automatic = true};
    made->present[0] = (MembarPresent){.op = made->kept};
    made->present[1] = (MembarPresent){
        .op = made->extra, .needless = true, .covered_by = made->kept, .why = "another barrier comes just before it"};
    return made;
}

static void drop(Made *made) {
    arena_free(&made->arena);
    done(made->reading);
    free(made);
}

static void add_need(MembarResult *result, MembarNeed *need) {
    result->needs = need;
    result->need_count = 1;
}

static MembarReport reported(Made *made, MembarQuestion question) {
    return membar_report(&made->arena, &made->reading->module, &made->result, question);
}

static char *as_text(const MembarReport *report) {
    Text text = {0};
    render_membar_text(report, NULL, false, &text);
    assert_false(text.failed);
    text_char(&text, 0);
    return text.data;
}

static void assert_text(Made *made, MembarQuestion question, const char *expected) {
    MembarReport report = reported(made, question);
    char *text = as_text(&report);
    assert_string_equal(text, expected);
    free(text);
}

/* ---- Text -------------------------------------------------------------------------------------- */

static void a_function_without_needs_is_one_line(void **state) {
    (void)state;
    Made *made = make();
    assert_text(made, (MembarQuestion){0},
                "test.mlir: @kernel: before barriers are inserted; model async: no barrier is needed\n");
    made->result.inserted = true;
    made->result.present = made->present;
    made->result.present_count = 1;
    assert_text(made, (MembarQuestion){0},
                "test.mlir: @kernel: memory is allocated: barriers are in; model async: no further barrier is "
                "needed; 1 there\n");
    drop(made);
}

static void a_need_tells_its_accesses_bytes_and_path(void **state) {
    (void)state;
    Made *made = make();
    add_need(&made->result, &made->need);
    assert_text(made, (MembarQuestion){0},
                "test.mlir: @kernel: before barriers are inserted; model async\n"
                "test.mlir:16:7: needed: a barrier before ttg.local_store\n"
                "  WAR on tile, bytes 0 to 511: ttg.local_load at line 15 (kernel.py:9) reads, ttg.local_store at line "
                "16 writes; straight\n"
                "1 barrier needed\n");
    made->hazard.kind = MEMBAR_RAW;
    made->hazard.first = made->store;
    made->hazard.second = made->load;
    made->hazard.begin = made->hazard.end = 0;
    made->hazard.loop = made->loop;
    made->hazard.second_buffer = made->loop; /* anything that allocates nothing has scratch memory */
    made->need.op = made->load;
    assert_text(made, (MembarQuestion){.stage = MEMBAR_STAGE_INSERTED},
                "test.mlir: @kernel: memory is allocated: barriers are in (assumed); model async\ntest.mlir:15:7: "
                "error: a barrier is missing before ttg.local_load (kernel.py:9) [membar.missing]\n  RAW on tile and "
                "scratch of scf.for at line 14: ttg.local_store at line 16 writes, ttg.local_load at line 15 "
                "(kernel.py:9) reads; around the back edge of the loop at line 14 (kernel.py:8)\n1 barrier missing\n");
    drop(made);
}

static void hazards_that_are_not_kept_are_counted(void **state) {
    (void)state;
    Made *made = make();
    MembarHazard many[MEMBAR_MOST_HAZARDS];
    for (size_t i = 0; i < MEMBAR_MOST_HAZARDS; i++)
        many[i] = made->hazard;
    made->need.hazards = many;
    made->need.hazard_count = MEMBAR_MOST_HAZARDS + 3;
    add_need(&made->result, &made->need);
    MembarReport report = reported(made, (MembarQuestion){0});
    assert_int_equal(report.needed[0].conflict_count, MEMBAR_MOST_HAZARDS);
    char *text = as_text(&report);
    assert_non_null(strstr(text, "\n  and 3 more\n"));
    free(text);
    drop(made);
}

static void needless_barriers_proofs_and_problems_are_told(void **state) {
    (void)state;
    Made *made = make();
    made->result.present = made->present;
    made->result.present_count = 2;
    made->proof = (MembarProof){made->copy, made->load, "i % 3 and (i + 1) % 3 differ"};
    made->result.proofs = &made->proof;
    made->result.proof_count = 1;
    made->result.problem = "a call goes to a function that is not there";
    made->result.problem_op = made->wait;
    MembarReport report = reported(made, (MembarQuestion){0});
    assert_int_equal(report.verdict, VERDICT_INCOMPLETE);
    assert_text(made, (MembarQuestion){0},
                "test.mlir: @kernel: before barriers are inserted; model async\n"
                "test.mlir:18:7: note: ttg.barrier (kernel.py:12) is needless: another barrier comes just before it "
                "[membar.needless]\n"
                "  covered by ttg.barrier at line 17\n"
                "test.mlir:15:7: proof: ttg.local_load (kernel.py:9) and ttg.async_copy_global_to_local at line 12 "
                "(kernel.py:7) are never at the same slot: i % 3 and (i + 1) % 3 differ\n"
                "test.mlir:13:5: incomplete: a call goes to a function that is not there (ttg.async_wait)\n"
                "no further barrier is needed; 2 there, 1 needless; 1 proof; incomplete\n");
    drop(made);
}

/* What the model alone asks for is no error, even where the IR claims to have its barriers. */
static void an_automatic_barrier_is_never_missing(void **state) {
    (void)state;
    Made *made = make();
    made->result.model = MEMBAR_SYNC;
    made->result.inserted = true;
    add_need(&made->result, &made->automatic);
    MembarReport report = reported(made, (MembarQuestion){0});
    assert_int_equal(report.verdict, VERDICT_CLEAN);
    assert_text(made, (MembarQuestion){0},
                "test.mlir: @kernel: memory is allocated: barriers are in; model sync\ntest.mlir:13:5: needed: a "
                "barrier after ttg.async_wait: the model inserts one after every wait for copies; no conflict "
                "requires it\n0 barriers missing, 1 automatic\n");
    drop(made);
}

/* ---- Two models -------------------------------------------------------------------------------- */

static MembarComparison compared(Made *made) {
    made->other.model = MEMBAR_SYNC;
    return reported(made, (MembarQuestion){.other = &made->other}).comparison;
}

static void a_copy_in_flight_explains_a_difference(void **state) {
    (void)state;
    Made *made = make();
    made->hazard.kind = MEMBAR_RAW;
    made->hazard.first = made->copy;
    made->hazard.second = made->load;
    made->need.op = made->load;
    add_need(&made->other, &made->need);
    MembarComparison comparison = compared(made);
    assert_int_equal(comparison.count, 0);
    assert_int_equal(comparison.other, 1);
    assert_int_equal(comparison.difference_count, 1);
    assert_true(comparison.differences[0].saved);
    assert_int_equal(comparison.differences[0].cause, MEMBAR_CAUSE_IN_FLIGHT);
    assert_string_equal(comparison.differences[0].why,
                        "the copy at line 12 is in flight: no barrier makes it visible, only a wait does");
    drop(made);
}

static void a_proof_explains_a_difference(void **state) {
    (void)state;
    Made *made = make();
    add_need(&made->other, &made->need);
    made->proof = (MembarProof){made->store, made->load, "1 and 2 differ"}; /* in either order */
    made->result.proofs = &made->proof;
    made->result.proof_count = 1;
    MembarComparison comparison = compared(made);
    assert_int_equal(comparison.differences[0].cause, MEMBAR_CAUSE_SLOTS);
    assert_string_equal(comparison.differences[0].why, "the slots are never the same: 1 and 2 differ");
    drop(made);
}

/* The automatic barrier of one model and the barrier of another that stands for it are told as such. */
static void a_barrier_that_moved_is_no_saving(void **state) {
    (void)state;
    Made *made = make();
    add_need(&made->result, &made->need);
    add_need(&made->other, &made->automatic);
    MembarComparison comparison = compared(made);
    assert_int_equal(comparison.difference_count, 2);
    assert_int_equal(comparison.differences[0].cause, MEMBAR_CAUSE_ELSEWHERE);
    assert_string_equal(comparison.differences[0].why, "async has one before line 16, where a conflict requires it");
    assert_int_equal(comparison.differences[1].cause, MEMBAR_CAUSE_ELSEWHERE);
    assert_string_equal(comparison.differences[1].why, "sync has its automatic one after line 13");
    made->result.need_count = 0;
    comparison = compared(made);
    assert_int_equal(comparison.differences[0].cause, MEMBAR_CAUSE_AUTOMATIC);
    drop(made);
}

/* In IR that has its barriers the models differ in which of those they want. */
static void barriers_that_are_there_are_compared(void **state) {
    (void)state;
    Made *made = make();
    MembarPresent wanted[2] = {made->present[0], made->present[0]};
    wanted[1].op = made->extra;
    wanted[1].hazards = &made->hazard;
    wanted[1].hazard_count = 1;
    made->result.present = made->present;
    made->other.present = wanted;
    made->result.present_count = made->other.present_count = 2;
    add_need(&made->result, &made->need);
    MembarComparison comparison = compared(made);
    assert_int_equal(comparison.count, 2);
    assert_int_equal(comparison.other, 2);
    assert_int_equal(comparison.difference_count, 2);
    assert_false(comparison.differences[0].saved);
    assert_string_equal(comparison.differences[0].why, "sync separates the same accesses by a barrier at line 18");
    assert_true(comparison.differences[1].present);
    assert_string_equal(comparison.differences[1].why, "async separates the same accesses by a barrier before line 16");
    drop(made);
}

/* ---- JSON -------------------------------------------------------------------------------------- */

static json_t *as_json(const MembarReport *reports, size_t count) {
    Text text = {0};
    MembarTotals totals = {0};
    JsonSeries json = render_json_begin(&text, "1.2", "functions", true);
    for (size_t i = 0; i < count; i++) {
        render_membar_json(&json, &reports[i]);
        membar_total(&totals, &reports[i]);
    }
    render_membar_json_end(&json, &totals);
    assert_false(text.failed);
    json_error_t error;
    json_t *read = json_loadb(text.data, text.size, 0, &error);
    if (!read)
        print_error("%s\n%.*s\n", error.text, (int)text.size, text.data);
    assert_non_null(read);
    text_free(&text);
    return read;
}

static long long number(const json_t *object, const char *key) {
    assert_true(json_is_integer(json_object_get(object, key)));
    return json_integer_value(json_object_get(object, key));
}

static void json_has_every_key(void **state) {
    (void)state;
    Made *made = make();
    add_need(&made->result, &made->need);
    made->result.present = made->present;
    made->result.present_count = 2;
    made->result.inserted = true;
    made->hazard.loop = made->loop;
    MembarReport report = reported(made, (MembarQuestion){.other = &made->other});
    json_t *json = as_json(&report, 1);
    assert_string_equal(json_string_value(json_object_get(json, "function")), "kernel");
    assert_string_equal(json_string_value(json_object_get(json, "verdict")), "findings");
    assert_true(json_is_true(json_object_get(json, "inserted")));
    const json_t *needed = json_array_get(json_object_get(json, "needed"), 0);
    assert_int_equal(number(needed, "ir_line"), 16);
    assert_true(json_is_true(json_object_get(needed, "missing")));
    const json_t *hazard = json_array_get(json_object_get(needed, "hazards"), 0);
    assert_string_equal(json_string_value(json_object_get(hazard, "kind")), "WAR");
    assert_string_equal(json_string_value(json_object_get(hazard, "buffer")), "tile");
    assert_int_equal(json_integer_value(json_array_get(json_object_get(hazard, "bytes"), 1)), 512);
    assert_int_equal(number(hazard, "loop_line"), 14);
    assert_int_equal(number(json_object_get(hazard, "first"), "line"), 9);
    const json_t *there = json_array_get(json_object_get(json, "present"), 1);
    assert_true(json_is_true(json_object_get(there, "needless")));
    assert_int_equal(number(there, "covered_by_line"), 17);
    assert_string_equal(json_string_value(json_object_get(json_object_get(json, "compare"), "model")), "async");
    json_decref(json);
    drop(made);
}

static void json_of_several_functions_is_a_list_with_totals(void **state) {
    (void)state;
    Made *made = make();
    add_need(&made->result, &made->need);
    MembarReport reports[2] = {reported(made, (MembarQuestion){0}), membar_report_blank("a.mlir", "")};
    json_t *json = as_json(reports, 2), *none = as_json(reports, 0);
    assert_int_equal(json_array_size(json_object_get(json, "functions")), 2);
    assert_int_equal(number(json_object_get(json, "totals"), "needed"), 1);
    assert_int_equal(json_array_size(json_object_get(none, "functions")), 0);
    json_decref(json);
    json_decref(none);
    drop(made);
}

/* ---- IR ---------------------------------------------------------------------------------------- */

static char *emitted(Made *made, bool prune) {
    const MembarResult *results[] = {&made->result};
    Text text = {0};
    membar_emit(&made->reading->module, results, 1, prune, &text);
    assert_false(text.failed);
    text_char(&text, 0);
    return text.data;
}

static void barriers_are_put_into_the_text_and_the_module_stays(void **state) {
    (void)state;
    Made *made = make();
    MembarNeed needs[] = {made->automatic, made->need, {.op = made->store, .kind = MEMBAR_CLUSTER}};
    made->result.needs = needs;
    made->result.need_count = 3;
    made->result.present = made->present;
    made->result.present_count = 2;
    char *before = printed(made->reading, PRINT_AS_WRITTEN), *with = emitted(made, false),
         *pruned = emitted(made, true);
    assert_non_null(strstr(with, "    %done = ttg.async_wait %copy {num = 0 : i32}\n"
                                 "    ttg.barrier local\n"
                                 "    scf.for"));
    assert_non_null(strstr(with, "loc(\"kernel.py\":9:4)\n"
                                 "      ttg.barrier local\n"
                                 "      ttng.cluster_barrier\n"
                                 "      ttg.local_store %in, %tile : !row -> !tile\n"
                                 "      ttg.barrier local\n"
                                 "      ttg.barrier local loc(\"kernel.py\":12:4)\n"
                                 "    }"));
    assert_non_null(strstr(pruned, "      ttg.local_store %in, %tile : !row -> !tile\n"
                                   "      ttg.barrier local\n"
                                   "    }"));
    char *after = printed(made->reading, PRINT_AS_WRITTEN);
    assert_string_equal(before, after);
    Reading *again = read_good(with);
    char *same = printed(again, PRINT_AS_WRITTEN);
    assert_string_equal(same, with);
    done(again);
    free(before);
    free(with);
    free(pruned);
    free(after);
    free(same);
    drop(made);
}

static void a_barrier_for_an_op_with_a_location_has_it_too(void **state) {
    (void)state;
    Made *made = make();
    made->need.op = made->load;
    add_need(&made->result, &made->need);
    char *with = emitted(made, false);
    assert_non_null(strstr(with, "{\n      ttg.barrier local loc(\"kernel.py\":9:4)\n      %read = ttg.local_load"));
    free(with);
    drop(made);
}

static void models_have_names(void **state) {
    (void)state;
    MembarModel model;
    assert_true(membar_model_find("near", &model));
    assert_int_equal(model, MEMBAR_NEAR);
    assert_string_equal(membar_model_name(MEMBAR_SYNC), "sync");
    assert_false(membar_model_find("", &model));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_function_without_needs_is_one_line),
        cmocka_unit_test(a_need_tells_its_accesses_bytes_and_path),
        cmocka_unit_test(hazards_that_are_not_kept_are_counted),
        cmocka_unit_test(needless_barriers_proofs_and_problems_are_told),
        cmocka_unit_test(an_automatic_barrier_is_never_missing),
        cmocka_unit_test(a_copy_in_flight_explains_a_difference),
        cmocka_unit_test(a_proof_explains_a_difference),
        cmocka_unit_test(a_barrier_that_moved_is_no_saving),
        cmocka_unit_test(barriers_that_are_there_are_compared),
        cmocka_unit_test(json_has_every_key),
        cmocka_unit_test(json_of_several_functions_is_a_list_with_totals),
        cmocka_unit_test(barriers_are_put_into_the_text_and_the_module_stays),
        cmocka_unit_test(a_barrier_for_an_op_with_a_location_has_it_too),
        cmocka_unit_test(models_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
