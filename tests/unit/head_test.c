/* check/report/build/head, check/report/build/beyond, check/explain/tile/blocked_causes: what a report begins with,
 * what a kernel that hangs is shown to be meant for, and which wait of a circle is called the wrong one. */
#include "running.h"

#include "check/report/build/head.h"
#include "check/report/build/report.h"

typedef struct Reported {
    Reading *reading;
    Arena arena;
    Verdict verdict;
    Report report;
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
        *report_build(module, find_op(reported->reading, "tt.func", 0), &options, &reported->verdict, &trace);
    verdict_close(&reported->verdict);
    report_lead(&reported->report, &reported->verdict);
    return reported;
}

static void end(Reported *reported) {
    arena_free(&reported->arena);
    done(reported->reading);
    free(reported);
}

static const ReportBarrier *barrier(const Reported *reported, const char *name) {
    for (size_t i = 0; i < reported->report.barrier_count; i++)
        if (strcmp(reported->report.barriers[i].name, name) == 0)
            return &reported->report.barriers[i];
    fail_msg("there is no barrier %s", name);
    return NULL;
}

static const ReportEdge *edge(const Reported *reported, const char *from, const char *to, const char *name) {
    for (size_t i = 0; i < reported->report.edge_count; i++) {
        const ReportEdge *found = &reported->report.edges[i];
        if (strcmp(found->from, from) == 0 && strcmp(found->to, to) == 0 && strcmp(found->barrier, name) == 0)
            return found;
    }
    fail_msg("there is no edge from %s to %s", from, to);
    return NULL;
}

static bool has_issue(const ReportBarrier *barrier, const char *text) {
    for (size_t i = 0; i < barrier->issue_count; i++)
        if (strcmp(barrier->issues[i], text) == 0)
            return true;
    return false;
}

static void assert_leads(const char *text, const char *verdict, const char *rule, const char *what) {
    Reported *reported = report(text);
    assert_string_equal(reported->report.head.verdict, verdict);
    assert_string_equal(reported->report.head.rule, rule);
    assert_string_equal(reported->report.head.what, what);
    assert_true(*reported->report.head.where && *reported->report.head.why && *reported->report.head.fix);
    end(reported);
}

#define WRITE(to) "    ttg.local_store %data, %" #to " : tensor<64xf16, #blocked> -> !tile\n"
#define READ(of)  "    %got_" #of " = ttg.local_load %" #of " : !tile -> tensor<64xf16, #blocked>\n"
#define AGAIN(of) "    %again_" #of " = ttg.local_load %" #of " : !tile -> tensor<64xf16, #blocked>\n"
#define DATA      "    %data = arith.constant dense<0.0> : tensor<64xf16, #blocked>\n"
#define MAKE(bar) "    %" #bar " = ttg.local_alloc : () -> !barrier\n" INIT(bar, 1)

/* partition0 fills %x, %full says so, the default agent reads it, and %empty says so. */
#define RING(default_body, partition_body)                                                                           \
    KERNEL("",                                                                                                       \
           "    %x = ttg.local_alloc : () -> !tile\n" MAKE(full) MAKE(                                               \
               empty) "    ttg.warp_specialize(%x, %full, %empty)\n    default {\n" default_body                     \
                      "      ttg.warp_yield\n    }\n"                                                                \
                      "    partition0(%x: !tile, %full: !barrier, %empty: !barrier) num_warps(4) {\n" CONSTANTS DATA \
                          partition_body "      ttg.warp_return\n"                                                   \
                      "    } : (!tile, !barrier, !barrier) -> ()\n")

/* The tile is filled twice; RELEASE says what the reader does after the first time. */
#define TWICE(release)                                         \
    RING(WAIT(full, 0) READ(x) release WAIT(full, 1) AGAIN(x), \
         WAIT(empty, 1) WRITE(x) ARRIVE(full) WAIT(empty, 0) WRITE(x) ARRIVE(full))

/* ---- Past the hang ------------------------------------------------------------------------------------ */

static void what_is_meant_is_seen_past_the_hang(void **state) {
    (void)state;
    Reported *reported = report(TWICE(""));
    const ReportBarrier *full = barrier(reported, "full"), *empty = barrier(reported, "empty");
    assert_true(reported->report.hung);
    assert_int_equal(full->flips, 1);
    assert_int_equal(full->intended, 2);
    assert_int_equal(full->arrives[1].place.times, 0);
    assert_int_equal(full->arrives[1].intended, 1);
    assert_int_equal(full->waits[0].place.times, 1);
    assert_int_equal(empty->waits[1].place.times, 0);
    assert_int_equal(empty->waits[1].intended, 1);
    assert_string_equal(empty->direction, "backward");
    assert_true(has_issue(empty, "nothing arrives on it, and a wait for it hangs"));
    assert_string_equal(edge(reported, "partition0", "default", "full")->direction, "forward");
    assert_string_equal(edge(reported, "partition0", "default", "full")->carries, "x (64xf16)");
    end(reported);
}

static void a_run_that_ends_has_nothing_past_it(void **state) {
    (void)state;
    Reported *reported = report(TWICE(ARRIVE(empty)));
    assert_false(reported->report.hung);
    assert_int_equal(barrier(reported, "full")->flips, 2);
    assert_int_equal(barrier(reported, "full")->intended, 0);
    assert_int_equal(barrier(reported, "full")->arrives[0].intended, 0);
    assert_string_equal(reported->report.head.verdict, "clean (every launch)");
    assert_string_equal(reported->report.head.rule, "");
    assert_non_null(strstr(reported->report.head.what, "1 launch"));
    end(reported);
}

/* Bytes that are wrong do not end the run that goes on either: the phase is completed for it. */
static void bytes_that_are_wrong_are_passed(void **state) {
    (void)state;
    Reported *reported = report(KERNEL(
        "%desc: !desc", "    %tile = ttg.local_alloc : () -> !tile\n" SPECIALIZED(
                            INIT(a, 1) INIT(b, 1), EXPECT(a, 256) COPY(a) WAIT(b, 0), WAIT(a, 0) ARRIVE(b), "")));
    assert_true(reported->report.hung);
    assert_string_equal(reported->report.head.rule, "deadlock.bytes");
    assert_int_equal(barrier(reported, "b")->flips, 0);
    assert_int_equal(barrier(reported, "b")->intended, 1);
    end(reported);
}

/* ---- Which wait is wrong ------------------------------------------------------------------------------ */

static void a_first_wait_for_room_must_pass(void **state) {
    (void)state;
    assert_leads(
        RING(WAIT(full, 0) READ(x) ARRIVE(empty), WAIT(empty, 0) WRITE(x) ARRIVE(full)), "hangs", "deadlock.cycle",
        "partition0 waits forever on empty[0]: its first wait is for parity 0, which means the release of data that "
        "it has not written yet");
    Reported *reported = report(RING(WAIT(full, 0) READ(x) ARRIVE(empty), WAIT(empty, 1) WRITE(x) ARRIVE(full)));
    assert_string_equal(reported->report.head.verdict, "clean (every launch)");
    end(reported);
}

/* One that has sent its data before does not wait for room for the first time. */
static void a_slot_that_was_taken_is_not_released(void **state) {
    (void)state;
    assert_leads(
        RING(WAIT(full, 0) READ(x) WAIT(full, 1) ARRIVE(empty),
             WAIT(empty, 1) WRITE(x) ARRIVE(full) WAIT(empty, 0) WRITE(x) ARRIVE(full)),
        "hangs", "deadlock.cycle",
        "partition0 waits forever on empty[0]: partition 'default' acquired the slot with its wait on full[0] at IR "
        "line 22, and has not released it since");
}

static void a_wait_in_a_loop_needs_arrivals_in_one(void **state) {
    (void)state;
    Reported *reported =
        report(RING("    scf.for %i = %c0 to %c2 step %c1 : i32 {\n" WAIT(full, 0) "    }\n" ARRIVE(empty),
                    "    scf.for %i = %c0 to %c2 step %c1 : i32 {\n" WAIT(empty, 0) WRITE(x) ARRIVE(full) "    }\n"));
    assert_string_equal(reported->report.head.rule, "deadlock.cycle");
    assert_non_null(strstr(reported->report.head.what, "it waits in every iteration of the loop at IR line "));
    end(reported);
}

#define NAMED(kind, threads)                                                                              \
    "    %id_" #threads " = arith.constant 3 : i32\n    %threads_" #threads " = arith.constant " #threads \
    " : i32\n    ttng." #kind "_barrier_named %id_" #threads ", %threads_" #threads " : i32, i32\n"

static void ops_agree_on_the_threads_of_a_named_barrier(void **state) {
    (void)state;
    assert_leads(AGENTS(INIT(a, 1), NAMED(arrive, 256), NAMED(wait, 384)), "hangs", "deadlock.no-producer",
                 "partition0 waits forever at named barrier 3: its ops give different thread counts, 256 and 384");
    assert_leads(AGENTS(INIT(a, 1), "", NAMED(wait, 256)), "hangs", "deadlock.no-producer",
                 "partition0 waits forever at named barrier 3: 32 of 256 threads reach it");
}

/* ---- Which finding ------------------------------------------------------------------------------------ */

static void what_ends_every_run_leads(void **state) {
    (void)state;
    Reported *reported = report(RING(WAIT(full, 0) READ(x), WRITE(x) ARRIVE(full) WRITE(x) WAIT(empty, 0)));
    assert_string_equal(reported->report.head.verdict, "hangs and races");
    assert_string_equal(reported->report.head.rule, "deadlock.no-producer");
    assert_string_equal(reported->report.head.what, "partition0 waits forever on empty[0]: nothing arrives on it");
    assert_non_null(strstr(reported->report.head.where, "ttng.wait_barrier of partition0"));
    assert_string_equal(reported->report.deadlocks[0].message, reported->report.head.what);
    assert_string_equal(reported->report.deadlocks[0].blocked[0].waits_for, "empty[0]");
    end(reported);
}

static void both_accesses_of_a_race_are_named(void **state) {
    (void)state;
    Reported *reported = report(RING(READ(x), WRITE(x)));
    assert_string_equal(reported->report.head.verdict, "races");
    assert_non_null(strstr(reported->report.head.where, "ttg.local_load of default"));
    assert_non_null(strstr(reported->report.head.where, "ttg.local_store of partition0"));
    end(reported);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_meant_is_seen_past_the_hang),
        cmocka_unit_test(a_run_that_ends_has_nothing_past_it),
        cmocka_unit_test(bytes_that_are_wrong_are_passed),
        cmocka_unit_test(a_first_wait_for_room_must_pass),
        cmocka_unit_test(a_slot_that_was_taken_is_not_released),
        cmocka_unit_test(a_wait_in_a_loop_needs_arrivals_in_one),
        cmocka_unit_test(ops_agree_on_the_threads_of_a_named_barrier),
        cmocka_unit_test(what_ends_every_run_leads),
        cmocka_unit_test(both_accesses_of_a_race_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
