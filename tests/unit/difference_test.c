/* difference: two made-up reports that differ in one thing each time, what is matched with what, and how it is told.
 * Also what is left of a report when it is about one buffer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <jansson.h>

#include "check/report/build/one_buffer.h"
#include "check/report/difference/compare.h"
#include "finding/difference.h"
#include "made_report.h"
#include "render/report/difference.h"

typedef struct Fixture {
    Arena arena;
    Made old, new;
} Fixture;

static int start(void **state) {
    Fixture *fixture = calloc(1, sizeof *fixture);
    arena_init(&fixture->arena, 16 << 20);
    make_report(&fixture->old);
    make_report(&fixture->new);
    *state = fixture;
    return 0;
}

static int stop(void **state) {
    Fixture *fixture = *state;
    arena_free(&fixture->arena);
    free(fixture);
    return 0;
}

static const Difference *compare(Fixture *fixture) {
    jmp_buf exhausted;
    if (setjmp(exhausted))
        fail_msg("out of memory");
    fixture->arena.exhausted = &exhausted;
    const Difference *difference = difference_find(&fixture->arena, &fixture->old.report, &fixture->new.report);
    fixture->arena.exhausted = NULL;
    return difference;
}

/* The one difference there is. */
static void check_only(Fixture *fixture, DifferenceLevel level, const char *what, const char *old, const char *new) {
    const Difference *difference = compare(fixture);
    for (size_t i = 0; i < difference->row_count && difference->row_count != 1; i++)
        print_error("%s: %s | %s\n", difference->rows[i].what, difference->rows[i].old, difference->rows[i].new);
    assert_int_equal(difference->row_count, 1);
    assert_int_equal(difference->rows[0].level, level);
    assert_string_equal(difference->rows[0].what, what);
    assert_string_equal(difference->rows[0].old, old);
    assert_string_equal(difference->rows[0].new, new);
}

static const DifferenceRow *find_row(const Difference *difference, const char *what) {
    for (size_t i = 0; i < difference->row_count; i++)
        if (strcmp(difference->rows[i].what, what) == 0)
            return &difference->rows[i];
    for (size_t i = 0; i < difference->row_count; i++)
        print_error("there is: %s\n", difference->rows[i].what);
    fail_msg("there is no row '%s'", what);
    return NULL;
}

/* ---- What is the same ------------------------------------------------------------------------ */

static void nothing_differs_from_itself(void **state) {
    Fixture *fixture = *state;
    assert_int_equal(compare(fixture)->row_count, 0);
    fixture->new.report = (Report){
        .file = "", .kernel = "", .form = "", .target = "", .deadlock_verdict = "", .verdict = &fixture->new.verdict};
    fixture->old.report = fixture->new.report;
    assert_int_equal(compare(fixture)->row_count, 0);
}

/* Other lines, numbers of values, names of numbered barriers, and order of partitions. */
static void numbers_do_not_count(void **state) {
    Fixture *fixture = *state;
    Made *new = &fixture->new;
    ReportPartition mma = new->partitions[1];
    new->partitions[1] = new->partitions[2];
    new->partitions[1].name = "partition0";
    new->partitions[2] = mma;
    new->partitions[2].name = "partition1";
    new->full_arrives[0].place.partition = new->writers[0].partition = "partition0.tma";
    new->coverage[0].writer = new->writers[0];
    new->full_waits[0].place.partition = new->empty_arrives[0].place.partition = "partition1";
    new->empty_waits[0].place.partition = "partition0";
    new->readers[0].partition = new->rows[0].consumer = "partition1";
    new->edges[0].from = new->edges[1].to = "partition0";
    new->edges[0].to = new->edges[1].from = "partition1";
    new->full_waits[0].phase = new->barriers[0].phase = "(accumCnt(loop@57) / 3) & 1";
    new->empty_waits[0].phase = "NOT ((accumCnt(loop@57) / 3) & 1)";
    new->full_waits[0].index = new->full_arrives[0].index = new->barriers[0].index = "accumCnt(loop@57) % 3";
    new->empty_waits[0].index = new->empty_arrives[0].index = new->barriers[1].index = "accumCnt(loop@57) % 3";
    new->rows[0].cadence = "each iteration of the loop at line 57";
    new->finding.message = "default waits forever for %33[0], line 99";
    new->full_waits[0].place.ir_line = 99;
    new->full_waits[0].place.times = 5;
    const Difference *difference = compare(fixture);
    for (size_t i = 0; i < difference->row_count; i++)
        print_error("%s: %s | %s\n", difference->rows[i].what, difference->rows[i].old, difference->rows[i].new);
    assert_int_equal(difference->row_count, 0);
    assert_int_equal(difference->pair_count, 3);
    assert_string_equal(difference->pairs[1].role, "MMA");
    assert_string_equal(difference->pairs[1].old, "partition0");
    assert_string_equal(difference->pairs[1].new, "partition1");
}

/* ---- One thing differs ----------------------------------------------------------------------- */

static void forms_differ(void **state) {
    Fixture *fixture = *state;
    fixture->new.report.form = "planned";
    check_only(fixture, LEVEL_FORM, "form", "lowered", "planned");
}

static void key_ops_differ(void **state) {
    Fixture *fixture = *state;
    fixture->new.mma_ops[0].count = 3;
    check_only(fixture, LEVEL_OPS, "MMA: tc_gen5_mma", "2", "3");
}

static void warps_differ(void **state) {
    Fixture *fixture = *state;
    fixture->new.partitions[1].registers = -1;
    check_only(fixture, LEVEL_WARPS, "MMA: registers", "24", "not known");
    fixture->new.partitions[1].registers = 24;
    fixture->new.limits[1].used = 8;
    check_only(fixture, LEVEL_WARPS, "warps in all", "6 of 16", "8 of 16");
}

static void a_phase_became_constant(void **state) {
    Fixture *fixture = *state;
    fixture->new.full_waits[0].phase = "1";
    check_only(fixture, LEVEL_CHANNELS, "barrier full: wait of MMA, explicit mbarrier",
               "slot accumCnt(loop@41) % 3, phase (accumCnt(loop@41) / 3) & 1 (IR line 42)",
               "slot accumCnt(loop@41) % 3, phase 1 (IR line 42)");
}

static void another_counter_is_used(void **state) {
    Fixture *fixture = *state;
    fixture->old.barriers[1].index = "accumCnt(loop@30) % 3";
    fixture->new.barriers[1].index = "accumCnt(loop@41) % 3";
    fixture->new.barriers[1].phase = fixture->old.barriers[1].phase = "accumCnt(loop@30)";
    check_only(fixture, LEVEL_CHANNELS, "barrier empty: slot index", "accumCnt(loop@30) % 3", "accumCnt(loop@41) % 3");
}

static void barriers_differ(void **state) {
    Fixture *fixture = *state;
    fixture->new.barriers[0].depth = 2;
    check_only(fixture, LEVEL_CHANNELS, "barrier full: depth", "3", "2");
    assert_string_equal(compare(fixture)->protocol, "protocol: full: depth");
    fixture->new.barriers[0].depth = 3;
    fixture->new.barriers[0].expect_bytes = 16384;
    check_only(fixture, LEVEL_CHANNELS, "barrier full: bytes announced", "32768", "16384");
    fixture->new.barriers[0].expect_bytes = 32768;
    fixture->new.barriers[0].name = "%17"; /* the same by its ends */
    assert_int_equal(compare(fixture)->row_count, 0);
    fixture->new.barriers[0].count = 2;
    const Difference *difference = compare(fixture);
    assert_string_equal(find_row(difference, "barriers that take 1 arrival")->new, "1");
    assert_string_equal(find_row(difference, "barriers that take 2 arrivals")->old, "");
    assert_string_equal(find_row(difference, "barrier full (now %17): arrivals a phase takes")->new, "2");
    assert_int_equal(difference->rows[0].level, LEVEL_COUNTS);
    assert_int_equal(difference->row_count, 3);
}

static void an_edge_is_gone(void **state) {
    Fixture *fixture = *state;
    fixture->new.report.edge_count = 1;
    check_only(fixture, LEVEL_CHANNELS, "backward edge MMA -> TMA load (a, b), explicit mbarrier", "a, b", "");
    assert_string_equal(compare(fixture)->protocol, "protocol: empty: edges");
    fixture->new.report.edge_count = 2;
    fixture->new.edges[1].carries = "a";
    check_only(fixture, LEVEL_CHANNELS, "backward edge MMA -> TMA load (a, b), explicit mbarrier", "a, b", "a");
}

static void a_barrier_is_gone(void **state) {
    Fixture *fixture = *state;
    fixture->new.report.barrier_count = 1;
    const Difference *difference = compare(fixture);
    const DifferenceRow *row = find_row(difference, "barrier empty");
    assert_string_equal(row->old, "backward mbarrier, arrivals of MMA, waits of TMA load (a, b), for a, b");
    assert_string_equal(row->new, "");
    assert_int_equal(difference->row_count, 2); /* and the number of those that take one arrival */
    assert_string_equal(difference->protocol, "protocol: barrier empty removed");
}

static void a_partition_is_new(void **state) {
    Fixture *fixture = *state;
    fixture->old.report.partition_count = 2;
    const Difference *difference = compare(fixture);
    assert_int_equal(difference->rows[0].level, LEVEL_PARTITIONS);
    assert_string_equal(difference->rows[0].what, "partition TMA load (a, b)");
    assert_non_null(strstr(difference->protocol, "protocol: partition TMA load (a, b) added"));
    assert_string_equal(difference->rows[0].old, "");
    assert_string_equal(difference->rows[0].new, "partition1: async_tma_copy_global_to_local x2; 1 warp");
    assert_string_equal(difference->pairs[2].old, "");
    assert_string_equal(difference->pairs[2].new, "partition1");
}

/* Another role, but much the same ops; and what is left over, by its order. */
static void partitions_match_by_ops_then_by_order(void **state) {
    Fixture *fixture = *state;
    fixture->new.partitions[0].role = "store";
    fixture->new.partitions[1].role = "two MMAs";
    const Difference *difference = compare(fixture);
    assert_int_equal(difference->row_count, 2);
    assert_string_equal(find_row(difference, "epilogue: role")->new, "store");
    assert_string_equal(find_row(difference, "MMA: role")->new, "two MMAs");
}

static void buffers_differ(void **state) {
    Fixture *fixture = *state;
    fixture->new.buffers[0].depth = 2;
    check_only(fixture, LEVEL_BUFFERS, "buffer a: depth", "3", "2");
    fixture->new.buffers[0].depth = 3;
    fixture->new.limits[0].used = 65536;
    check_only(fixture, LEVEL_BUFFERS, "shared memory in all", "98304 of 232448 bytes", "65536 of 232448 bytes");
}

static void coverage_differs(void **state) {
    Fixture *fixture = *state;
    fixture->new.rows[0].order = COVERAGE_MISSING;
    fixture->new.rows[0].by = "an edge";
    check_only(fixture, LEVEL_COVERAGE,
               "a overwritten by TMA load (a, b).tma: a, read by MMA, each iteration of the loop 1",
               "ordered, bytes 0-16383: partition1 waits for empty, IR line 62", "MISSING, bytes 0-16383: an edge");
}

static void verdicts_differ(void **state) {
    Fixture *fixture = *state;
    fixture->new.verdict.finding_count = 0;
    check_only(fixture, LEVEL_VERDICT, "finding deadlock.cycle", "default waits forever for %12[0], line 70", "");
    fixture->new.verdict.kind = VERDICT_INCOMPLETE;
    fixture->new.report.deadlock_verdict = "none";
    const Difference *difference = compare(fixture);
    assert_string_equal(difference->rows[0].what, "verdict");
    assert_string_equal(difference->rows[0].new, "incomplete");
    assert_string_equal(difference->rows[1].what, "deadlock");
    assert_int_equal(difference->row_count, 3);
}

/* ---- How it is told -------------------------------------------------------------------------- */

static void check_text(Text *text, const char *expected) {
    text_char(text, 0);
    assert_string_equal(text->data, expected);
    text_free(text);
}

static void as_text(void **state) {
    Fixture *fixture = *state;
    Text text = {0};
    render_difference_text(compare(fixture), false, 80, &text);
    check_text(&text, "k.ttgir @MMA and k.ttgir @MMA: no difference\n");
    fixture->new.report.partition_count = 2;
    fixture->new.report.partitions = &fixture->new.partitions[1];
    fixture->new.partitions[1].name = "partition2";
    fixture->old.report.barrier_count = fixture->new.report.barrier_count = 0;
    fixture->old.report.edge_count = fixture->new.report.edge_count = 0;
    fixture->old.report.buffer_count = fixture->new.report.buffer_count = 0;
    fixture->old.report.coverage_count = fixture->new.report.coverage_count = 0;
    fixture->old.finding.message = "a message\033 that is so long that it takes more than one line of text to say it";
    fixture->new.verdict.finding_count = 0;
    render_difference_text(compare(fixture), false, 60, &text);
    check_text(&text, "protocol: partition epilogue removed; gone: deadlock.cycle\n"
                      "k.ttgir @MMA and k.ttgir @MMA: 2 differences, the first in partitions\nPartitions, by "
                      "role:\n  epilogue: default, only in the old one\n  MMA: partition0, now partition2\n  TMA "
                      "load (a, b): partition1\n\npartitions: partitions and their roles\n  partition epilogue\n    "
                      "old: default; 4 warps\n    new: not there\n\nverdict: deadlocks and findings\n  finding "
                      "deadlock.cycle\n    old: a message? that is so long that it takes more than\n         one "
                      "line of text to say it\n    new: not there\n");
    render_difference_text(compare(fixture), true, 0, &text);
    text_char(&text, 0);
    assert_non_null(strstr(text.data, "old: \033[31ma message? that is so long that it takes more than one line of "
                                      "text to say it\033[0m\n"));
    text_free(&text);
}

static void as_markdown(void **state) {
    Fixture *fixture = *state;
    Text text = {0};
    fixture->new.buffers[0].storage = "!ttg.memdesc<2x128|64xf16>";
    render_difference_markdown(compare(fixture), &text);
    check_text(&text,
               "# Difference: 1 difference, in buffers\n\nprotocol: unchanged; buffers differ\n\n|  | old | new "
               "|\n|---|---|---|\n| file | k.ttgir | "
               "k.ttgir |\n| kernel | MMA | MMA |\n\n## Partitions, by role\n\n| role | old | new "
               "|\n|---|---|---|\n| epilogue | default | default |\n| MMA | partition0 | partition0 |\n| TMA load "
               "(a, b) | partition1 | partition1 |\n\n## buffers: shared data and memory used\n\n| what | old | new "
               "|\n|---|---|---|\n| buffer a: storage | !ttg.memdesc&lt;3x128x64xf16&gt; | "
               "!ttg.memdesc&lt;2x128\\|64xf16&gt; |\n");
}

static void as_json(void **state) {
    Fixture *fixture = *state;
    Text text = {0};
    fixture->new.barriers[0].depth = 2;
    render_difference_json(compare(fixture), "1.2", &text);
    json_t *json = json_loadb(text.data, text.size, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(json);
    assert_true(json_is_false(json_object_get(json, "same")));
    assert_string_equal(json_string_value(json_object_get(json, "first")), "channels");
    assert_non_null(strstr(json_string_value(json_object_get(json, "protocol")), "protocol: "));
    assert_int_equal(json_array_size(json_object_get(json, "partitions")), 3);
    json_t *row = json_array_get(json_object_get(json, "differences"), 0);
    assert_string_equal(json_string_value(json_object_get(row, "level")), "channels");
    assert_string_equal(json_string_value(json_object_get(row, "what")), "barrier full: depth");
    assert_string_equal(json_string_value(json_object_get(row, "old")), "3");
    assert_string_equal(json_string_value(json_object_get(row, "new")), "2");
    json_decref(json);
    text_free(&text);
    fixture->new.barriers[0].depth = 3;
    render_difference_json(compare(fixture), "1.2", &text);
    json = json_loadb(text.data, text.size, 0, NULL);
    assert_true(json_is_true(json_object_get(json, "same")));
    assert_string_equal(json_string_value(json_object_get(json, "first")), "");
    assert_string_equal(json_string_value(json_object_get(json, "protocol")), "");
    json_decref(json);
    text_free(&text);
}

/* ---- One buffer ------------------------------------------------------------------------------ */

static void one_buffer_is_left(void **state) {
    Fixture *fixture = *state;
    jmp_buf exhausted;
    if (setjmp(exhausted))
        fail_msg("out of memory");
    fixture->arena.exhausted = &exhausted;
    const char *const only_b[] = {"b"};
    Made *made = &fixture->old;
    assert_false(report_keep_buffer(&fixture->arena, &made->report, 7));
    assert_int_equal(made->report.buffer_count, 2);

    made->barriers[1].protects = only_b; /* but it is the pair of one that protects a */
    made->barriers[1].protect_count = 1;
    made->edges[1].barrier = "";
    assert_true(report_keep_buffer(&fixture->arena, &made->report, 8));
    assert_int_equal(made->report.buffer_count, 1);
    assert_string_equal(made->report.buffers[0].name, "a");
    assert_int_equal(made->report.barrier_count, 2);
    assert_int_equal(made->report.edge_count, 2); /* one by its barrier, one by what it carries */
    assert_int_equal(made->report.candidate_count, 1);
    assert_int_equal(made->report.coverage_count, 1);
    assert_int_equal(made->report.coverage[0].row_count, 2);
    assert_int_equal(made->report.partition_count, 3);

    make_report(made);
    made->buffers[0].id = -1;
    made->buffers[1].id = 9;
    made->buffers[1].name = "c";
    assert_true(report_keep_buffer(&fixture->arena, &made->report, 9));
    assert_int_equal(made->report.buffer_count, 1);
    assert_int_equal(made->report.barrier_count + made->report.edge_count, 0);
    assert_int_equal(made->report.candidate_count + made->report.coverage_count, 0);
    fixture->arena.exhausted = NULL;
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(nothing_differs_from_itself),
        TEST(numbers_do_not_count),
        TEST(forms_differ),
        TEST(key_ops_differ),
        TEST(warps_differ),
        TEST(a_phase_became_constant),
        TEST(another_counter_is_used),
        TEST(barriers_differ),
        TEST(an_edge_is_gone),
        TEST(a_barrier_is_gone),
        TEST(a_partition_is_new),
        TEST(partitions_match_by_ops_then_by_order),
        TEST(buffers_differ),
        TEST(coverage_differs),
        TEST(verdicts_differ),
        TEST(as_text),
        TEST(as_markdown),
        TEST(as_json),
        TEST(one_buffer_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
