/* check/report/build/edges and what it rests on: which barrier protects what, which two belong together, who hands what
 * to whom; and how the barriers of a run are reported. */
#include "running.h"

#include "check/report/build/report.h"
#include "finding/report.h"

typedef struct Reported {
    Reading *reading;
    Arena arena;
    Verdict verdict;
    const Report *report;
} Reported;

static Reported *report(const char *text) {
    Reported *reported = calloc(1, sizeof *reported);
    assert_non_null(reported);
    reported->reading = read_good(text);
    arena_init(&reported->arena, (size_t)1 << 28);
    reported->verdict = (Verdict){.arena = &reported->arena, .kernel = "kernel"};
    Trace trace;
    CheckOptions options = {0};
    Module *module = &reported->reading->module;
    reported->report =
        report_build(module, find_op(reported->reading, "tt.func", 0), &options, &reported->verdict, &trace);
    return reported;
}

static void end(Reported *reported) {
    arena_free(&reported->arena);
    done(reported->reading);
    free(reported);
}

static const ReportBarrier *barrier(const Reported *reported, const char *name) {
    for (size_t i = 0; i < reported->report->barrier_count; i++)
        if (strcmp(reported->report->barriers[i].name, name) == 0)
            return &reported->report->barriers[i];
    fail_msg("there is no barrier %s", name);
    return NULL;
}

static const ReportEdge *edge(const Reported *reported, const char *from, const char *to, const char *name) {
    for (size_t i = 0; i < reported->report->edge_count; i++) {
        const ReportEdge *found = &reported->report->edges[i];
        if (strcmp(found->from, from) == 0 && strcmp(found->to, to) == 0 && strcmp(found->barrier, name) == 0)
            return found;
    }
    return NULL;
}

#define WRITE(to) "    ttg.local_store %data, %" #to " : tensor<64xf16, #blocked> -> !tile\n"
#define READ(of)  "    %got_" #of " = ttg.local_load %" #of " : !tile -> tensor<64xf16, #blocked>\n"
#define DATA      "    %data = arith.constant dense<0.0> : tensor<64xf16, #blocked>\n"
#define MAKE(bar) "    %" #bar " = ttg.local_alloc : () -> !barrier\n" INIT(bar, 1)

/* partition0 fills %x, %full says so, the default agent reads it, and %empty says so. */
#define RING(before, default_body, partition_body)                                                                    \
    KERNEL(                                                                                                           \
        "", "    %x = ttg.local_alloc : () -> !tile\n" MAKE(full) MAKE(empty) before                                  \
        "    ttg.warp_specialize(%x, %full, %empty)\n    default {\n" default_body "      ttg.warp_yield\n    }\n"    \
        "    partition0(%x: !tile, %full: !barrier, %empty: !barrier) num_warps(4) {\n" CONSTANTS DATA partition_body \
        "      ttg.warp_return\n"                                                                                     \
        "    } : (!tile, !barrier, !barrier) -> ()\n")

static void an_arrival_in_advance_hands_over_nothing(void **state) {
    (void)state;
    Reported *reported =
        report(RING(ARRIVE(empty), WAIT(full, 0) READ(x) ARRIVE(empty), WAIT(empty, 0) WRITE(x) ARRIVE(full)));
    assert_string_equal(barrier(reported, "empty")->direction, "backward");
    assert_string_equal(barrier(reported, "empty")->pair, "full");
    assert_string_equal(barrier(reported, "full")->pair, "empty");
    assert_string_equal(barrier(reported, "full")->protects[0], "x");
    const ReportEdge *priming = edge(reported, "default", "partition0", "empty");
    assert_non_null(priming);
    assert_string_equal(priming->direction, "backward");
    assert_string_equal(priming->carries, "");
    assert_non_null(strstr(priming->note, "first wait"));
    assert_string_equal(edge(reported, "partition0", "default", "full")->carries, "x (64xf16)");
    assert_string_equal(reported->report->candidates[0].verdict, "primed");
    end(reported);
}

/* Once an agent waits again, it is the release that counts. */
static void a_release_hands_memory_back(void **state) {
    (void)state;
    Reported *reported = report(RING(ARRIVE(empty), WAIT(full, 0) READ(x) ARRIVE(empty),
                                     WAIT(empty, 0) WRITE(x) ARRIVE(full) WAIT(empty, 1) WRITE(x)));
    const ReportEdge *release = edge(reported, "default", "partition0", "empty");
    assert_string_equal(release->direction, "backward");
    assert_string_equal(release->carries, "x (64xf16)");
    assert_string_equal(release->note, "");
    end(reported);
}

/* A wait that asks for parity 1 of a fresh barrier needs no arrival; an arrival that comes too late for this run is
 * still in the IR. */
static void what_did_not_happen_is_read_off_the_ir(void **state) {
    (void)state;
    Reported *reported = report(RING("", WAIT(full, 0) READ(x) ARRIVE(empty), WAIT(empty, 1) WRITE(x) ARRIVE(full)));
    assert_true(barrier(reported, "empty")->inverted);
    assert_string_equal(barrier(reported, "empty")->direction, "backward");
    const ReportEdge *release = edge(reported, "default", "partition0", "empty");
    assert_non_null(release);
    assert_non_null(strstr(release->note, "read from the IR"));
    end(reported);
}

#define CAPTURED "(%x: !tile, %direct: !barrier, %free: !barrier, %first: !barrier, %second: !barrier) num_warps(4) {\n"

/* partition1 passes on to the default agent, through %second, what partition0 tells it through %first. */
#define PASSED_ON(default_body, partition_body)                                                                        \
    KERNEL("",                                                                                                         \
           "    %x = ttg.local_alloc : () -> !tile\n" MAKE(direct) MAKE(free) MAKE(first)                              \
               MAKE(second) "    ttg.warp_specialize(%x, %direct, %free, %first, %second)\n"                           \
                            "    default {\n" default_body "      ttg.warp_yield\n    }\n"                             \
                            "    partition0" CAPTURED CONSTANTS DATA partition_body "      ttg.warp_return\n    }\n"   \
                            "    partition1" CAPTURED CONSTANTS WAIT(first, 0)                                         \
                                ARRIVE(second) "      ttg.warp_return\n    } : (!tile, !barrier, !barrier, !barrier, " \
                                               "!barrier) -> ()\n")

static void who_did_it_is_believed_before_others(void **state) {
    (void)state;
    Reported *reported =
        report(PASSED_ON(WAIT(second, 0) WAIT(direct, 0) READ(x), WRITE(x) ARRIVE(first) ARRIVE(direct)));
    assert_string_equal(barrier(reported, "direct")->protects[0], "x");
    assert_string_equal(edge(reported, "partition0", "default", "direct")->carries, "x (64xf16)");
    assert_int_equal(barrier(reported, "second")->protect_count, 0);
    assert_string_equal(edge(reported, "partition1", "default", "second")->carries, "");
    end(reported);
}

/* What was said before the last write says nothing of it. */
static void what_others_pass_on_counts_if_nothing_else_does(void **state) {
    (void)state;
    Reported *reported =
        report(PASSED_ON(WAIT(direct, 0) READ(x) ARRIVE(free)
                             WAIT(second, 0) "    %again = ttg.local_load %x : !tile -> tensor<64xf16, #blocked>\n",
                         WRITE(x) ARRIVE(direct) WAIT(free, 0) WRITE(x) ARRIVE(first)));
    assert_string_equal(barrier(reported, "direct")->protects[0], "x");
    assert_string_equal(edge(reported, "default", "partition0", "free")->direction, "backward");
    assert_string_equal(edge(reported, "partition1", "default", "second")->carries, "x (64xf16)");
    end(reported);
}

static void a_barrier_that_nothing_uses_has_no_direction(void **state) {
    (void)state;
    Reported *reported = report(KERNEL("", MAKE(bar)));
    assert_string_equal(barrier(reported, "bar")->direction, "");
    assert_int_equal(barrier(reported, "bar")->issue_count, 1);
    end(reported);
}

/* Each of the waits of a loop asks for the same parity because it says so, or because it comes out so. */
#define POLLS(parity, next)                                                                                            \
    KERNEL("", MAKE(bar) "    %last = scf.for %i = %c0 to %c2 step %c1 iter_args(%p = %c0) -> (i32) : i32 {\n" ARRIVE( \
                   bar) "    ttng.wait_barrier %bar, %" parity                                                         \
                        " : !barrier\n" ARRIVE(bar) "      %q = arith.xori %p, %" next                                 \
                                                    " : i32\n      scf.yield %q : i32\n    }\n")

static void phases_are_tracked_where_they_are_computed(void **state) {
    (void)state;
    Reported *reported = report(POLLS("c0", "c0"));
    bool missing = false;
    for (size_t i = 0; i < barrier(reported, "bar")->issue_count; i++)
        missing |= strstr(barrier(reported, "bar")->issues[i], "missing phase tracking") != NULL;
    assert_true(missing);
    end(reported);
    reported = report(POLLS("p", "c0"));
    for (size_t i = 0; i < barrier(reported, "bar")->issue_count; i++)
        assert_null(strstr(barrier(reported, "bar")->issues[i], "missing phase tracking"));
    end(reported);
}

/* What was seen once is told as it is written. */
static void one_use_is_told_as_it_is_written(void **state) {
    (void)state;
    Reported *reported = report(KERNEL(
        "", "    %bars = ttg.local_alloc : () -> !ring\n    %s0 = ttg.memdesc_index %bars[%c0] : !ring -> !barrier\n"
            "    %s1 = ttg.memdesc_index %bars[%c1] : !ring -> !barrier\n" INIT(s0, 1)
                INIT(s1, 1) "    scf.for %i = %c0 to %c1 step %c1 : i32 {\n      %slot = arith.remsi %i, %c2 : i32\n"
                            "      %turn = arith.divsi %i, %c2 : i32\n      %phase = arith.andi %turn, %c1 : i32\n"
                            "      %bar = ttg.memdesc_index %bars[%slot] : !ring -> !barrier\n" ARRIVE(
                                bar) "      ttng.wait_barrier %bar, %phase : !barrier\n    }\n"));
    const ReportBarrier *bars = barrier(reported, "bars");
    assert_int_equal(bars->iterations, 1);
    assert_non_null(strstr(bars->index, "% 2"));
    assert_non_null(strstr(bars->phase, "/ 2) & 1"));
    assert_non_null(strstr(bars->cadence, "passes 1 time"));
    end(reported);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_arrival_in_advance_hands_over_nothing),
        cmocka_unit_test(a_release_hands_memory_back),
        cmocka_unit_test(what_did_not_happen_is_read_off_the_ir),
        cmocka_unit_test(who_did_it_is_believed_before_others),
        cmocka_unit_test(what_others_pass_on_counts_if_nothing_else_does),
        cmocka_unit_test(a_barrier_that_nothing_uses_has_no_direction),
        cmocka_unit_test(phases_are_tracked_where_they_are_computed),
        cmocka_unit_test(one_use_is_told_as_it_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
