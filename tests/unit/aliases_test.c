/* check/report/build/aliases: section 5 of the barrier report. An alias is written "level value: how; partition",
 * without the lines, which change with the text. */
#include "reporting.h"

#include <stdio.h>

static const char *written(Reporting *reporting, const ReportAlias *aliases, size_t count) {
    Text text = {0};
    for (size_t i = 0; i < count; i++) {
        Str how = str_of(aliases[i].how);
        const char *line = memmem(how.data, how.size, " at line ", 9);
        text_addf(&text, "%u %s: %.*s; %s\n", aliases[i].level, aliases[i].value,
                  (int)(line ? (size_t)(line - how.data) : how.size), how.data, aliases[i].partition);
    }
    return verdict_keep(&reporting->verdict, &text);
}

/* The report of a kernel whose barrier, or both sides of whose token, is that value. */
static Reporting *report_of(const char *text, const char *value, Side side) {
    Reporting *reporting = start_report(text);
    report_partitions(&reporting->builder);
    const Op *root = op_named(reporting, value);
    builder_barrier(&reporting->builder, (Thing){.root = root, .side = side, .id = 0});
    if (side != SIDE_NONE)
        builder_barrier(&reporting->builder, (Thing){.root = root, .side = SIDE_EMPTY, .id = 0});
    builder_buffer(&reporting->builder, root, NULL, "", SPACE_SHARED);
    report_aliases(&reporting->builder);
    return reporting;
}

static void assert_aliases(const char *text, const char *value, const char *expected) {
    Reporting *reporting = report_of(text, value, SIDE_NONE);
    const ReportBarrier *barrier = &reporting->builder.barriers[0];
    assert_string_equal(written(reporting, barrier->aliases, barrier->alias_count), expected);
    for (size_t i = 0; i < barrier->alias_count; i++)
        assert_true(barrier->aliases[i].ir_line > 0);
    end_report(reporting);
}

#define TWO                                       \
    "    %x = ttg.local_alloc : () -> !barrier\n" \
    "    %y = ttg.local_alloc : () -> !barrier\n"
#define RING "    %ring = ttg.local_alloc : () -> !ring\n"

static void views(void **state) {
    (void)state;
    assert_aliases(KERNEL("%i: i32", RING "    %s = ttg.memdesc_index %ring[%i] : !ring -> !barrier\n"
                                          "    %r = ttg.memdesc_reinterpret %s : !barrier -> !barrier\n"
                                          "    %u = ttg.memdesc_subslice %ring[1, 0] : !ring -> !ring\n"),
                   "ring",
                   "0 %ring: allocation; kernel\n1 %s: view [%i]; kernel\n2 %r: view (memdesc_reinterpret); kernel\n1 "
                   "%u: view [1, 0]; kernel"
                   "\n");
}

static void captures(void **state) {
    (void)state;
    assert_aliases(AGENTS("", "", "    %s = ttg.memdesc_reinterpret %b : !barrier -> !barrier\n"), "b",
                   "0 %b: allocation; default\n1 %b: argument of partition0; partition0\n"
                   "2 %s: view (memdesc_reinterpret); partition0\n");
}

static void loops(void **state) {
    (void)state;
    const char *loop =
        KERNEL("", TWO "    %r:2 = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %x, %b = %y) -> (!barrier, "
                       "!barrier) : i32 {\n      scf.yield %b, %a : !barrier, !barrier\n    }\n");
    assert_aliases(loop, "x",
                   "0 %x: allocation; kernel\n2 %r#0: result of the loop; kernel\n3 %r#1: result of the loop; kernel\n"
                   "1 %a: iter_arg of the loop; kernel\n2 %b: iter_arg of the loop; kernel\n");
    assert_aliases(loop, "y",
                   "0 %y: allocation; kernel\n3 %r#0: result of the loop; kernel\n2 %r#1: result of the loop; kernel\n"
                   "2 %a: iter_arg of the loop; kernel\n1 %b: iter_arg of the loop; kernel\n");
    assert_aliases(KERNEL("", TWO "    %r = scf.while (%a = %x) : (!barrier) -> (!barrier) {\n"
                                  "      scf.condition(%true) %a : !barrier\n    } do {\n    ^bb0(%b: !barrier):\n"
                                  "      scf.yield %b : !barrier\n    }\n"),
                   "x",
                   "0 %x: allocation; kernel\n2 %r: result of the loop; kernel\n1 %a: argument of the loop; kernel\n"
                   "2 %b: argument of the body of the loop; kernel\n");
}

static void choices(void **state) {
    (void)state;
    assert_aliases(KERNEL("%g: i1", TWO "    %s = arith.select %g, %x, %y : !barrier\n"
                                        "    %r = scf.if %g -> (!barrier) {\n      scf.yield %x : !barrier\n"
                                        "    } else {\n      scf.yield %s : !barrier\n    }\n"),
                   "y",
                   "0 %y: allocation; kernel\n1 %s: result of arith.select; kernel\n2 %r: result of scf.if; kernel\n");
}

static void branches(void **state) {
    (void)state;
    assert_aliases(
        KERNEL("%g: i1", TWO "    cf.cond_br %g, ^bb1(%x : !barrier), ^bb1(%y : !barrier)\n"
                             "  ^bb1(%a: !barrier):\n    cf.br ^bb2(%c0, %a : i32, !barrier)\n"
                             "  ^bb2(%n: i32, %b: !barrier):\n"),
        "y", "0 %y: allocation; kernel\n1 %a: argument of block ^bb1; kernel\n2 %b: argument of block ^bb2; kernel\n");
}

static void subtiles(void **state) {
    (void)state;
    const char *text =
        KERNEL("", TWO "    ttng.subtiled_region per_tile(%x, %y : !barrier, !barrier) shared(%x : !barrier) {numTiles "
                       "= 2 : i32} tile {\n    ^bb0(%a: !barrier, %b: !barrier, %t: i32):\n"
                       "      ttng.subtiled_region_yield\n    }\n");
    assert_aliases(text, "y", "0 %y: allocation; kernel\n1 %a: argument of the subtiled region; kernel\n");
    assert_aliases(
        text, "x",
        "0 %x: allocation; kernel\n1 %a: argument of the subtiled region; kernel\n1 %b: argument of the subtiled "
        "region; kernel\n");
}

static const char *others(Reporting *reporting, size_t barrier) {
    const ReportBarrier *of = &reporting->builder.barriers[barrier];
    Text text = {0};
    for (size_t i = 0; i < of->other_count; i++) {
        Str detail = str_of(of->others[i].detail);
        const char *lines = memmem(detail.data, detail.size, ", IR lines", 10);
        text_addf(&text, "%s: %.*s\n", of->others[i].op, (int)(lines ? (size_t)(lines - detail.data) : detail.size),
                  detail.data);
    }
    return verdict_keep(&reporting->verdict, &text);
}

static void who_makes_and_ends_it(void **state) {
    (void)state;
    Reporting *reporting = report_of(AGENTS(INIT(a, 2) INIT(b, 1), "", INVALIDATE(a)), "a", SIDE_NONE);
    assert_string_equal(others(reporting, 0), "ttng.init_barrier: count 2\nttng.inval_barrier: \n");
    assert_string_equal(reporting->builder.barriers[0].others[1].partition, "partition0");
    assert_int_equal(reporting->builder.buffers[0].alias_count, reporting->builder.barriers[0].alias_count);
    end_report(reporting);
}

/* How the detail of a place ends: "IR lines 7-9". */
static void assert_lines(const Reporting *reporting, const ReportPlace *place, const char *enter, int enter_at,
                         const char *leave, int leave_at) {
    char expected[64];
    uint32_t from = source_place(reporting->reading->source, find_op(reporting->reading, enter, enter_at)->offset).line;
    uint32_t to = source_place(reporting->reading->source, find_op(reporting->reading, leave, leave_at)->offset).line;
    snprintf(expected, sizeof expected, ", IR lines %u-%u", from, to);
    assert_non_null(strstr(place->detail, expected));
}

#define SLOTS "!ttg.memdesc<1x64xf16, #shared, #smem, mutable>"
#define AREF  "<[" SLOTS ", " SLOTS "]>"

/* What is entered before a loop, or at the end of its body, ends where the loop takes the token. */
static void an_aref_is_left_in_a_loop(void **state) {
    (void)state;
    const char *text =
        KERNEL("", "    %p = ttg.local_alloc : () -> " SLOTS "\n    %aref = nvws.aref.create %p : <[" SLOTS "]>\n"
                   "    %b, %t = nvws.aref.put.enter %aref : <[" SLOTS "]> -> !tile, !ttg.async.token\n"
                   "    %last = scf.for %i = %c0 to %c1 step %c1 iter_args(%held = %t) -> (!ttg.async.token) : i32 {\n"
                   "      nvws.aref.put.exit %aref, %held [#nvws.async_op<none>] : <[" SLOTS "]>, !ttg.async.token\n"
                   "      %b2, %t2 = nvws.aref.put.enter %aref : <[" SLOTS "]> -> !tile, !ttg.async.token\n"
                   "      scf.yield %t2 : !ttg.async.token\n    }\n"
                   "    nvws.aref.put.exit %aref, %last [#nvws.async_op<none>] : <[" SLOTS "]>, !ttg.async.token\n");
    Reporting *reporting = report_of(text, "aref", SIDE_FULL);
    const ReportBarrier *full = &reporting->builder.barriers[0];
    assert_int_equal(full->other_count, 3);
    assert_lines(reporting, &full->others[1], "nvws.aref.put.enter", 0, "nvws.aref.put.exit", 0);
    assert_lines(reporting, &full->others[2], "nvws.aref.put.enter", 1, "nvws.aref.put.exit", 0);
    end_report(reporting);
}

/* A buffer of an aref is what is handed out at its place; the aref itself is all of it. */
static void arefs(void **state) {
    (void)state;
    const char *text = KERNEL(
        "", "    %p = ttg.local_alloc : () -> " SLOTS "\n    %q = ttg.local_alloc : () -> " SLOTS "\n"
            "    %aref = nvws.aref.create %p, %q : " AREF "\n"
            "    %bufs:2, %token = nvws.aref.put.enter %aref[%c0, %c0] : " AREF " -> !tile, !tile, !ttg.async.token\n"
            "    nvws.aref.put.exit %aref[%c0], %token [#nvws.async_op<none>] : " AREF ", !ttg.async.token\n"
            "    %got:2, %token2 = nvws.aref.get.enter %aref[%c0, %c0] : " AREF " -> !tile, !tile, !ttg.async.token\n");
    Reporting *reporting = report_of(text, "aref", SIDE_FULL);
    const ReportBarrier *barriers = reporting->builder.barriers;
    assert_string_equal(
        written(reporting, barriers[0].aliases, barriers[0].alias_count),
        "0 %aref: allocation; kernel\n1 %bufs#0: returned by put.enter; kernel\n1 %bufs#1: returned by put.enter; "
        "kernel\n1 %got#0: returned by get.enter; kernel\n1 %got#1: returned by get.enter; kernel\n");
    assert_int_equal(barriers[1].alias_count, barriers[0].alias_count);
    assert_string_equal(others(reporting, 0), "nvws.aref.create: \nnvws.aref.put.enter: put.enter ... put.exit\n"
                                              "nvws.aref.get.enter: get.enter, without an exit\n");
    assert_string_equal(others(reporting, 1), others(reporting, 0));
    end_report(reporting);
    assert_aliases(text, "q",
                   "0 %q: allocation; kernel\n1 %aref: aref of it; kernel\n1 %bufs#1: returned by put.enter; "
                   "kernel\n1 %got#1: returned by get.enter; kernel\n");
}

static void tokens_have_two_sides(void **state) {
    (void)state;
    Reporting *reporting = report_of(
        KERNEL("", "    %t = nvws.create_token {loadType = 1 : i32, numBuffers = 2 : i32} : tensor<2x!nvws.token>\n"),
        "t", SIDE_FULL);
    assert_string_equal(others(reporting, 0), "nvws.create_token: count 1\n");
    assert_string_equal(others(reporting, 1), "nvws.create_token: count 1\n");
    end_report(reporting);
}

static void named_barriers_are_constants(void **state) {
    (void)state;
    Reporting *reporting = start_report(KERNEL(
        "", "    %c9 = arith.constant 9 : i32\n    %n = arith.constant 256 : i32\n"
            "    %other = arith.constant 9 : i32\n"
            "    ttng.arrive_barrier_named %c9, %n : i32, i32\n    ttng.wait_barrier_named %c9, %n : i32, i32\n"));
    builder_barrier(&reporting->builder, (Thing){.root = NULL, .side = SIDE_NONE, .id = 9});
    report_aliases(&reporting->builder);
    const ReportBarrier *barrier = &reporting->builder.barriers[0];
    assert_string_equal(written(reporting, barrier->aliases, barrier->alias_count), "0 %c9: constant 9; kernel\n");
    end_report(reporting);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views),
        cmocka_unit_test(captures),
        cmocka_unit_test(loops),
        cmocka_unit_test(choices),
        cmocka_unit_test(branches),
        cmocka_unit_test(subtiles),
        cmocka_unit_test(who_makes_and_ends_it),
        cmocka_unit_test(arefs),
        cmocka_unit_test(an_aref_is_left_in_a_loop),
        cmocka_unit_test(tokens_have_two_sides),
        cmocka_unit_test(named_barriers_are_constants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
