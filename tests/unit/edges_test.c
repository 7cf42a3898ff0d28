/* check/report/build/edges and what it rests on: which barrier protects what, which two belong together, who hands what
 * to whom; and how the barriers of a run are told. */
#include "running.h"

#include "check/report/build/report.h"
#include "finding/report.h"

typedef struct Told {
    Reading *reading;
    Arena arena;
    Verdict verdict;
    const Report *report;
} Told;

static Told *tell(const char *text) {
    Told *told = calloc(1, sizeof *told);
    assert_non_null(told);
    told->reading = read_good(text);
    arena_init(&told->arena, (size_t)1 << 28);
    told->verdict = (Verdict){.arena = &told->arena, .kernel = "kernel"};
    Trace trace;
    CheckOptions options = {0};
    Module *module = &told->reading->module;
    told->report = report_build(module, find_op(told->reading, "tt.func", 0), &options, &told->verdict, &trace);
    return told;
}

static void end(Told *told) {
    arena_free(&told->arena);
    done(told->reading);
    free(told);
}

static const ReportBarrier *barrier(const Told *told, const char *name) {
    for (size_t i = 0; i < told->report->barrier_count; i++)
        if (strcmp(told->report->barriers[i].name, name) == 0)
            return &told->report->barriers[i];
    fail_msg("there is no barrier %s", name);
    return NULL;
}

static const ReportEdge *edge(const Told *told, const char *from, const char *to, const char *name) {
    for (size_t i = 0; i < told->report->edge_count; i++) {
        const ReportEdge *found = &told->report->edges[i];
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
    Told *told = tell(RING(ARRIVE(empty), WAIT(full, 0) READ(x) ARRIVE(empty), WAIT(empty, 0) WRITE(x) ARRIVE(full)));
    assert_string_equal(barrier(told, "empty")->direction, "backward");
    assert_string_equal(barrier(told, "empty")->pair, "full");
    assert_string_equal(barrier(told, "full")->pair, "empty");
    assert_string_equal(barrier(told, "full")->protects[0], "x");
    const ReportEdge *priming = edge(told, "default", "partition0", "empty");
    assert_non_null(priming);
    assert_string_equal(priming->direction, "backward");
    assert_string_equal(priming->carries, "");
    assert_non_null(strstr(priming->note, "first wait"));
    assert_string_equal(edge(told, "partition0", "default", "full")->carries, "x (64xf16)");
    assert_string_equal(told->report->candidates[0].verdict, "primed");
    end(told);
}

/* Once an agent waits again, it is the release that counts. */
static void a_release_hands_memory_back(void **state) {
    (void)state;
    Told *told = tell(RING(ARRIVE(empty), WAIT(full, 0) READ(x) ARRIVE(empty),
                           WAIT(empty, 0) WRITE(x) ARRIVE(full) WAIT(empty, 1) WRITE(x)));
    const ReportEdge *release = edge(told, "default", "partition0", "empty");
    assert_string_equal(release->direction, "backward");
    assert_string_equal(release->carries, "x (64xf16)");
    assert_string_equal(release->note, "");
    end(told);
}

/* A wait that asks for parity 1 of a fresh barrier needs no arrival; an arrival that comes too late for this run is
 * still in the IR. */
static void what_did_not_happen_is_read_off_the_ir(void **state) {
    (void)state;
    Told *told = tell(RING("", WAIT(full, 0) READ(x) ARRIVE(empty), WAIT(empty, 1) WRITE(x) ARRIVE(full)));
    assert_true(barrier(told, "empty")->inverted);
    assert_string_equal(barrier(told, "empty")->direction, "backward");
    const ReportEdge *release = edge(told, "default", "partition0", "empty");
    assert_non_null(release);
    assert_non_null(strstr(release->note, "read from the IR"));
    end(told);
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
    Told *told = tell(PASSED_ON(WAIT(second, 0) WAIT(direct, 0) READ(x), WRITE(x) ARRIVE(first) ARRIVE(direct)));
    assert_string_equal(barrier(told, "direct")->protects[0], "x");
    assert_string_equal(edge(told, "partition0", "default", "direct")->carries, "x (64xf16)");
    assert_int_equal(barrier(told, "second")->protect_count, 0);
    assert_string_equal(edge(told, "partition1", "default", "second")->carries, "");
    end(told);
}

/* What was said before the last write says nothing of it. */
static void what_others_pass_on_counts_if_nothing_else_does(void **state) {
    (void)state;
    Told *told =
        tell(PASSED_ON(WAIT(direct, 0) READ(x) ARRIVE(free)
                           WAIT(second, 0) "    %again = ttg.local_load %x : !tile -> tensor<64xf16, #blocked>\n",
                       WRITE(x) ARRIVE(direct) WAIT(free, 0) WRITE(x) ARRIVE(first)));
    assert_string_equal(barrier(told, "direct")->protects[0], "x");
    assert_string_equal(edge(told, "default", "partition0", "free")->direction, "backward");
    assert_string_equal(edge(told, "partition1", "default", "second")->carries, "x (64xf16)");
    end(told);
}

static void a_barrier_that_nobody_uses_has_no_direction(void **state) {
    (void)state;
    Told *told = tell(KERNEL("", MAKE(bar)));
    assert_string_equal(barrier(told, "bar")->direction, "");
    assert_int_equal(barrier(told, "bar")->issue_count, 1);
    end(told);
}

/* Each of the waits of a loop asks for the same parity because it says so, or because it comes out so. */
#define POLLS(parity, next)                                                                                            \
    KERNEL("", MAKE(bar) "    %last = scf.for %i = %c0 to %c2 step %c1 iter_args(%p = %c0) -> (i32) : i32 {\n" ARRIVE( \
                   bar) "    ttng.wait_barrier %bar, %" parity                                                         \
                        " : !barrier\n" ARRIVE(bar) "      %q = arith.xori %p, %" next                                 \
                                                    " : i32\n      scf.yield %q : i32\n    }\n")

static void phases_are_tracked_where_they_are_computed(void **state) {
    (void)state;
    Told *told = tell(POLLS("c0", "c0"));
    bool missing = false;
    for (size_t i = 0; i < barrier(told, "bar")->issue_count; i++)
        missing |= strstr(barrier(told, "bar")->issues[i], "missing phase tracking") != NULL;
    assert_true(missing);
    end(told);
    told = tell(POLLS("p", "c0"));
    for (size_t i = 0; i < barrier(told, "bar")->issue_count; i++)
        assert_null(strstr(barrier(told, "bar")->issues[i], "missing phase tracking"));
    end(told);
}

/* What was seen once is told as it is written. */
static void one_use_is_told_as_it_is_written(void **state) {
    (void)state;
    Told *told = tell(KERNEL(
        "", "    %bars = ttg.local_alloc : () -> !ring\n    %s0 = ttg.memdesc_index %bars[%c0] : !ring -> !barrier\n"
            "    %s1 = ttg.memdesc_index %bars[%c1] : !ring -> !barrier\n" INIT(s0, 1)
                INIT(s1, 1) "    scf.for %i = %c0 to %c1 step %c1 : i32 {\n      %slot = arith.remsi %i, %c2 : i32\n"
                            "      %turn = arith.divsi %i, %c2 : i32\n      %phase = arith.andi %turn, %c1 : i32\n"
                            "      %bar = ttg.memdesc_index %bars[%slot] : !ring -> !barrier\n" ARRIVE(
                                bar) "      ttng.wait_barrier %bar, %phase : !barrier\n    }\n"));
    const ReportBarrier *bars = barrier(told, "bars");
    assert_int_equal(bars->iterations, 1);
    assert_non_null(strstr(bars->index, "% 2"));
    assert_non_null(strstr(bars->phase, "/ 2) & 1"));
    assert_non_null(strstr(bars->cadence, "passes 1 time"));
    end(told);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_arrival_in_advance_hands_over_nothing),
        cmocka_unit_test(a_release_hands_memory_back),
        cmocka_unit_test(what_did_not_happen_is_read_off_the_ir),
        cmocka_unit_test(who_did_it_is_believed_before_others),
        cmocka_unit_test(what_others_pass_on_counts_if_nothing_else_does),
        cmocka_unit_test(a_barrier_that_nobody_uses_has_no_direction),
        cmocka_unit_test(phases_are_tracked_where_they_are_computed),
        cmocka_unit_test(one_use_is_told_as_it_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
