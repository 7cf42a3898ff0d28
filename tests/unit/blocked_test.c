/* check/explain/tile/blocked, machine/tile/schedule/history: each rule about barriers, from the smallest kernel that
 * breaks it, and what is said of it; and that a kernel which breaks none is clean. */
#include "running.h"

#include "check/explain/tile/blocked.h"
#include "check/tile/run/check.h"

/* ---- A kernel's verdict ------------------------------------------------------------------------------- */

typedef struct Judged {
    Reading *reading;
    Verdict verdict;
} Judged;

static Judged *judge(const char *text, CheckOptions options) {
    Judged *judged = calloc(1, sizeof *judged);
    jmp_buf exhausted;
    assert_non_null(judged);
    judged->reading = read_text(text);
    assert_true(judged->reading->ok);
    Module *module = &judged->reading->module;
    judged->verdict = (Verdict){.arena = &module->arena};
    module->arena.exhausted = &exhausted;
    if (setjmp(exhausted))
        fail_msg("there was no memory");
    check_runs(module, find_op(judged->reading, "tt.func", 0), &options, &judged->verdict);
    verdict_close(&judged->verdict);
    module->arena.exhausted = NULL;
    return judged;
}

static void done_judging(Judged *judged) {
    done(judged->reading);
    free(judged);
}

static void assert_finding(const char *text, const char *rule, const char *op, const char *message) {
    Judged *judged = judge(text, (CheckOptions){0});
    assert_string_equal(verdict_kind_name(judged->verdict.kind), "findings");
    assert_int_equal(judged->verdict.finding_count, 1);
    const Finding *finding = &judged->verdict.findings[0];
    assert_string_equal(rule_of(finding->rule)->id, rule);
    assert_string_equal(finding->message, message);
    assert_string_equal(finding->places[0].op, op);
    assert_true(finding->places[0].ir_line > 0);
    assert_string_equal(finding->space, "barrier");
    assert_true(*finding->why && *finding->fix && *finding->schedule && *finding->launch && *finding->witness);
    done_judging(judged);
}

static void assert_clean(const char *text) {
    Judged *judged = judge(text, (CheckOptions){0});
    for (size_t i = 0; i < judged->verdict.finding_count; i++)
        print_error("%s\n", judged->verdict.findings[i].message);
    assert_string_equal(verdict_kind_name(judged->verdict.kind), "clean");
    done_judging(judged);
}

/* ---- Deadlocks ---------------------------------------------------------------------------------------- */

static void nothing_arrives(void **state) {
    (void)state;
    assert_finding(AGENTS(INIT(a, 1), "", WAIT(a, 0)), "deadlock.no-producer", "ttng.wait_barrier",
                   "partition0 waits forever on %a[0]: nothing arrives on it");
    assert_finding(AGENTS(INIT(a, 2), ARRIVE(a), WAIT(a, 0)), "deadlock.no-producer", "ttng.wait_barrier",
                   "partition0 waits forever on %a[0]: only 1 of 2 arrivals is made");
    assert_finding(AGENTS(INIT(a, 1) INIT(b, 1), ARRIVE(b), WAIT(a, 0)), "deadlock.no-producer", "ttng.wait_barrier",
                   "partition0 waits forever on %a[0]: nothing arrives on it");
    assert_clean(AGENTS(INIT(a, 2), ARRIVE(a) ARRIVE(a), WAIT(a, 0)));
}

/* Something has arrived on the barrier, or on another slot of its ring: it is not said that nothing does. */
static void what_arrives_is_named(void **state) {
    (void)state;
    assert_finding(AGENTS(INIT(a, 1), ARRIVE(a), WAIT(a, 0) WAIT(a, 1)), "deadlock.no-producer", "ttng.wait_barrier",
                   "partition0 waits forever on %a[0]: phase 1 gets no arrival (partition 'default' at IR line 20: "
                   "its partition has exited)");
}

/* An arrival is missing because of a circle, and bytes are whatever comes. */
static void bytes_come_before_a_circle(void **state) {
    (void)state;
    assert_finding(KERNEL("%desc: !desc", "    %tile = ttg.local_alloc : () -> !tile\n" SPECIALIZED(
                                              INIT(a, 2) INIT(b, 1), EXPECT(a, 256) COPY(a) WAIT(a, 0) ARRIVE(b),
                                              WAIT(b, 0) ARRIVE(a), "")),
                   "deadlock.bytes", "ttng.wait_barrier",
                   "partition 'default' waits forever on %a[0]: even with all other arrivals, 128 bytes never "
                   "arrive");
    assert_finding(KERNEL("%desc: !desc", "    %tile = ttg.local_alloc : () -> !tile\n" SPECIALIZED(
                                              INIT(a, 2) INIT(b, 1), EXPECT(a, 128) COPY(a) WAIT(a, 0) ARRIVE(b),
                                              WAIT(b, 0) ARRIVE(a), "")),
                   "deadlock.cycle", "ttng.wait_barrier",
                   "partition 'default' waits forever on %a[0]: partition0 arrives on it only after its wait for "
                   "%b[0], which is blocked, too");
}

static void the_parity_does_not_go_with_the_phases(void **state) {
    (void)state;
    assert_finding(ON_BARRIER("", INIT(bar, 1) ARRIVE(bar) WAIT(bar, 0) ARRIVE(bar) WAIT(bar, 0)), "deadlock.parity",
                   "ttng.wait_barrier",
                   "partition 'default' waits forever on %bar[0]: the wait is for parity 0, which means the phase "
                   "after the completed one");
    assert_clean(ON_BARRIER("", INIT(bar, 1) ARRIVE(bar) WAIT(bar, 0) ARRIVE(bar) WAIT(bar, 1)));
}

static void each_waits_for_the_other(void **state) {
    (void)state;
    assert_finding(AGENTS(INIT(a, 1) INIT(b, 1), WAIT(a, 0) ARRIVE(b), WAIT(b, 0) ARRIVE(a)), "deadlock.cycle",
                   "ttng.wait_barrier",
                   "partition 'default' waits forever on %a[0]: partition0 arrives on it only after its wait for "
                   "%b[0], which is blocked, too");
    assert_finding(ON_BARRIER("", INIT(bar, 1) WAIT(bar, 0) ARRIVE(bar)), "deadlock.cycle", "ttng.wait_barrier",
                   "partition 'default' waits forever on %bar[0]: it would arrive itself, but only after this wait");
    assert_clean(AGENTS(INIT(a, 1) INIT(b, 1), ARRIVE(b) WAIT(a, 0), WAIT(b, 0) ARRIVE(a)));
}

static void the_next_phase_is_over_before_it_looks(void **state) {
    (void)state;
    assert_finding(AGENTS(INIT(a, 1), ARRIVE(a) ARRIVE(a), WAIT(a, 0)), "deadlock.lapped", "ttng.wait_barrier",
                   "partition0 waits forever on %a[0]: the phase it waits for and the next one both complete before "
                   "the wait runs");
}

/* One agent arrives twice, and knows nothing of the other's wait in between. */
#define UNAWARE(parameters, body) \
    KERNEL(parameters,            \
           body SPECIALIZED(INIT(a, 1) INIT(b, 1), ARRIVE(a) WAIT(b, 0) ARRIVE(a), ARRIVE(b) WAIT(a, 0), ""))

static const Launch once = {.grid = {1, 1, 1}};

static void an_agent_that_can_be_lapped_is_told_of_a_launch_that_was_given(void **state) {
    (void)state;
    Judged *judged = judge(UNAWARE("", ""), (CheckOptions){.launch = &once});
    assert_int_equal(judged->verdict.finding_count, 1);
    assert_string_equal(rule_of(judged->verdict.findings[0].rule)->id, "deadlock.lapped");
    assert_string_equal(judged->verdict.findings[0].schedule, "if partition0 is slow there");
    done_judging(judged);
}

static void and_where_arguments_were_chosen(void **state) {
    (void)state;
    Judged *judged =
        judge(UNAWARE("%n: i32", "    scf.for %i = %c0 to %n step %c1 : i32 {\n    }\n"), (CheckOptions){0});
    assert_int_equal(judged->verdict.finding_count, 1);
    assert_string_equal(rule_of(judged->verdict.findings[0].rule)->id, "deadlock.lapped");
    assert_int_equal(judged->verdict.note_count, 0);
    done_judging(judged);
}

#define COPIED(body) ON_BARRIER("%desc: !desc", "    %tile = ttg.local_alloc : () -> !tile\n" INIT(bar, 1) body)

static void bytes_do_not_come_or_too_many(void **state) {
    (void)state;
    assert_finding(COPIED(EXPECT(bar, 256) COPY(bar) WAIT(bar, 0)), "deadlock.bytes", "ttng.wait_barrier",
                   "partition 'default' waits forever on %bar[0]: all arrivals are in, but 128 bytes never arrive");
    assert_finding(
        COPIED(EXPECT(bar, 64) COPY(bar) WAIT(bar, 0)), "deadlock.bytes", "ttng.wait_barrier",
        "partition 'default' waits forever on %bar[0]: all arrivals are in, but 64 more bytes arrive than are "
        "expected");
    assert_clean(COPIED(EXPECT(bar, 128) COPY(bar) WAIT(bar, 0)));
}

#define TIMES(count, body)                            \
    "      %n = arith.constant " #count " : i32\n"    \
    "      scf.for %i = %c0 to %n step %c1 : i32 {\n" \
    "        %phase = arith.andi %i, %c1 : i32\n"     \
    "        %other = arith.xori %phase, %c1 : i32\n" body "      }\n"
#define CONSUMER "        ttng.wait_barrier %a, %phase : !barrier\n" ARRIVE(b)
#define PRODUCER "        ttng.wait_barrier %b, %other : !barrier\n" ARRIVE(a)

static void who_would_arrive_has_ended(void **state) {
    (void)state;
    assert_finding(AGENTS(INIT(a, 1) INIT(b, 1), TIMES(5, CONSUMER), TIMES(4, PRODUCER)), "deadlock.exited",
                   "ttng.wait_barrier",
                   "partition 'default' waits forever on %a[0]: partition0, which arrives on "
                   "it, has exited");
    assert_clean(AGENTS(INIT(a, 1) INIT(b, 1), TIMES(5, CONSUMER), TIMES(5, PRODUCER)));
}

#define MEET(verb, id, threads)                             \
    "      %id" #id " = arith.constant " #id " : i32\n"     \
    "      %t" #id " = arith.constant " #threads " : i32\n" \
    "      ttng." verb "_barrier_named %id" #id ", %t" #id " : i32, i32\n"

static void too_few_threads_come(void **state) {
    (void)state;
    assert_finding(AGENTS("", MEET("wait", 2, 256), MEET("arrive", 2, 256)), "deadlock.no-producer",
                   "ttng.wait_barrier_named",
                   "partition 'default' waits forever at named barrier 2: 160 of 256 "
                   "threads reach it");
    assert_finding(AGENTS("", MEET("wait", 2, 160) MEET("arrive", 3, 160), MEET("wait", 3, 160) MEET("arrive", 2, 160)),
                   "deadlock.cycle", "ttng.wait_barrier_named",
                   "partition 'default' waits forever at named barrier 2: 128 of 160 threads reach it");
    assert_clean(AGENTS("", MEET("wait", 2, 160), MEET("arrive", 2, 160)));
}

#define CLUSTER "    ttng.cluster_arrive {relaxed = false}\n    ttng.cluster_wait\n"

static void not_all_come_to_the_cluster_barrier(void **state) {
    (void)state;
    assert_finding(MODULE_OF(2, FUNCTION("", SPECIALIZED("", "", CLUSTER, ""))), "deadlock.no-producer",
                   "ttng.cluster_wait",
                   "partition0 of cta0 waits forever at the cluster barrier: not every thread of the cluster "
                   "reaches it");
    assert_clean(MODULE_OF(2, FUNCTION("", CLUSTER)));
}

static void a_circle_of_a_cluster_barrier_and_an_mbarrier_is_mixed(void **state) {
    (void)state;
    Judged *judged = judge(MODULE_OF(2, FUNCTION("", "    %rank = nvg.cluster_id\n"
                                                     "    %first = arith.cmpi eq, %rank, %c0 : i32\n" SPECIALIZED(
                                                         INIT(a, 1), WAIT(a, 0) CLUSTER, CLUSTER ARRIVE(a), ""))),
                           (CheckOptions){0});
    assert_true(judged->verdict.finding_count > 0);
    assert_string_equal(rule_of(judged->verdict.findings[0].rule)->id, "deadlock.mixed");
    done_judging(judged);
}

/* ---- Misused barriers --------------------------------------------------------------------------------- */

static void barriers_are_misused(void **state) {
    (void)state;
    assert_finding(ON_BARRIER("", INIT(bar, 1) ARRIVE_COUNT(bar, 2)), "barrier.underflow", "ttng.arrive_barrier",
                   "partition 'default' makes 2 arrivals on %bar[0], but only 1 of 1 is pending");
    assert_finding(ON_BARRIER("", ARRIVE(bar)), "barrier.uninitialized", "ttng.arrive_barrier",
                   "partition 'default' uses %bar[0] before it is initialized");
    assert_finding(ON_BARRIER("", INIT(bar, 1) INIT(bar, 1)), "barrier.reinitialized", "ttng.init_barrier",
                   "partition 'default' initializes %bar[0], which is in use");
    assert_finding(ON_BARRIER("", INIT(bar, 1) INVALIDATE(bar) ARRIVE(bar)), "barrier.invalidated",
                   "ttng.arrive_barrier", "partition 'default' uses %bar[0] after it was invalidated");
    assert_finding(AGENTS(INIT(a, 1), INVALIDATE(a), WAIT(a, 0)), "barrier.invalidated", "ttng.inval_barrier",
                   "partition 'default' invalidates %a[0] while partition0 waits for it");
    assert_finding(ON_BARRIER("", INIT(bar, 1) ARRIVE(bar) ARRIVE(bar) WAIT(bar, 1)), "barrier.overrun",
                   "ttng.arrive_barrier",
                   "partition 'default' completes a phase of %bar[0] before any wait could see the previous phase "
                   "complete");
    assert_finding(COPIED(EXPECT(bar, 128)), "barrier.bytes", "ttng.barrier_expect",
                   "%bar[0] ends with 128 expected bytes that never arrive");
    assert_finding(ON_BARRIER("", INIT(bar, 1) EXPECT(bar, 1048576)), "barrier.bytes", "ttng.barrier_expect",
                   "partition 'default' changes the transaction count of %bar[0] to 1048576 bytes, which is out of "
                   "range");
}

static void use_before_the_init_is_found_though_the_plain_order_is_right(void **state) {
    (void)state;
    Judged *judged = judge(AGENTS("", INIT(a, 1) ARRIVE(a), WAIT(a, 0)), (CheckOptions){0});
    assert_int_equal(judged->verdict.finding_count, 1);
    assert_string_equal(rule_of(judged->verdict.findings[0].rule)->id, "barrier.uninitialized");
    assert_string_equal(judged->verdict.findings[0].schedule, "if default is slow there");
    done_judging(judged);
}

/* ---- Schedules and budgets ------------------------------------------------------------------------------ */

static void all_schedules_find_what_the_directed_ones_find(void **state) {
    (void)state;
    static const struct {
        ScheduleChoice choice;
        VerdictKind kind;
    } cases[] = {{SCHEDULES_DIRECTED, VERDICT_FINDINGS},
                 {SCHEDULES_ALL, VERDICT_FINDINGS},
                 {SCHEDULES_EAGER, VERDICT_CLEAN},
                 {SCHEDULES_ROUND_ROBIN, VERDICT_CLEAN},
                 {SCHEDULES_RANDOM, VERDICT_FINDINGS}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Judged *judged =
            judge(UNAWARE("", ""), (CheckOptions){.launch = &once, .choice = cases[i].choice, .schedules = 64});
        assert_int_equal(judged->verdict.kind, cases[i].kind);
        done_judging(judged);
    }
}

static void what_was_stopped_is_incomplete(void **state) {
    (void)state;
    static const struct {
        const char *text;
        CheckOptions options;
        const char *reason;
    } cases[] = {
        {AGENTS(INIT(a, 1) INIT(b, 1), TIMES(500, CONSUMER), TIMES(500, PRODUCER)),
         {.budget = 100},
         "a run was stopped after 100 steps (raise --budget)"},
        {AGENTS(INIT(a, 1) INIT(b, 1), TIMES(50, CONSUMER), TIMES(50, PRODUCER)),
         {.choice = SCHEDULES_ALL, .states = 10},
         "not all schedules were tried: the search was stopped after 10 states"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Judged *judged = judge(cases[i].text, cases[i].options);
        assert_string_equal(verdict_kind_name(judged->verdict.kind), "incomplete");
        assert_string_equal(judged->verdict.incomplete[0].reason, cases[i].reason);
        done_judging(judged);
    }
}

static void the_same_place_is_one_finding(void **state) {
    (void)state;
    Judged *judged =
        judge(ON_BARRIER("%n: i32", INIT(bar, 1) "    scf.for %i = %c0 to %n step %c1 : i32 {\n    }\n" WAIT(bar, 0)),
              (CheckOptions){0});
    assert_int_equal(judged->verdict.finding_count, 1);
    assert_int_equal(judged->verdict.findings[0].times, judged->verdict.launch_count);
    assert_true(judged->verdict.launch_count > 1);
    done_judging(judged);
}

/* ---- History ------------------------------------------------------------------------------------------ */

static void history_remembers_who_came_and_who_passed(void **state) {
    (void)state;
    Running *running = compile_whole(AGENTS(INIT(a, 2), ARRIVE(a) ARRIVE(a) ARRIVE(a), WAIT(a, 0) WAIT(a, 0)));
    History *history = history_create(&running->reading->module.arena, running->machine);
    running->machine->observe = history_observe;
    running->machine->observer = history;
    assert_int_equal(run_eagerly(running), RUN_COMPLETE);
    uint32_t slot = slot_named(running, "%a[0]");
    const BarrierHistory *barrier = &history->barriers[slot];
    assert_true(barrier->initialized);
    assert_int_equal(barrier->init_agent, 0);
    assert_int_equal(barrier->barrier_acts, 3);
    assert_int_equal(barrier->phase_count, 1);
    assert_int_equal(barrier->phase[0].kind, BARRIER_ACT_ARRIVE);
    assert_int_equal(barrier->last_count, 1);
    assert_int_equal(barrier->last[0].agent, 0);
    assert_int_equal(barrier->waits, 2);
    assert_int_equal(barrier->observed, 1);
    assert_int_equal(barrier->unobserved, 0);
    const LastPass *pass = history_pass(history, slot, 1);
    assert_true(pass->any);
    assert_int_equal(pass->parity, 0);
    assert_int_equal(pass->generation, 1);
    assert_false(history_pass(history, slot, 0)->any);
    end_kernel(running);
}

static void history_counts_the_bytes_of_a_phase(void **state) {
    (void)state;
    Running *running =
        compile_whole(COPIED(EXPECT(bar, 128) COPY(bar) WAIT(bar, 0) EXPECT(bar, 256) COPY(bar) INVALIDATE(bar)));
    History *history = history_create(&running->reading->module.arena, running->machine);
    running->machine->observe = history_observe;
    running->machine->observer = history;
    assert_int_equal(run_eagerly(running), RUN_COMPLETE);
    const BarrierHistory *barrier = &history->barriers[slot_named(running, "%bar[0]")];
    assert_int_equal(barrier->expected, 256);
    assert_int_equal(barrier->delivered, 128);
    assert_int_equal(barrier->phase_count, 2);
    assert_int_equal(barrier->phase[1].kind, BARRIER_ACT_DELIVER);
    assert_int_equal(barrier->phase[1].helper, HELPER_TMA);
    assert_true(barrier->ended);
    end_kernel(running);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_arrives),
        cmocka_unit_test(what_arrives_is_named),
        cmocka_unit_test(bytes_come_before_a_circle),
        cmocka_unit_test(the_parity_does_not_go_with_the_phases),
        cmocka_unit_test(each_waits_for_the_other),
        cmocka_unit_test(the_next_phase_is_over_before_it_looks),
        cmocka_unit_test(an_agent_that_can_be_lapped_is_told_of_a_launch_that_was_given),
        cmocka_unit_test(and_where_arguments_were_chosen),
        cmocka_unit_test(bytes_do_not_come_or_too_many),
        cmocka_unit_test(who_would_arrive_has_ended),
        cmocka_unit_test(too_few_threads_come),
        cmocka_unit_test(not_all_come_to_the_cluster_barrier),
        cmocka_unit_test(a_circle_of_a_cluster_barrier_and_an_mbarrier_is_mixed),
        cmocka_unit_test(barriers_are_misused),
        cmocka_unit_test(use_before_the_init_is_found_though_the_plain_order_is_right),
        cmocka_unit_test(all_schedules_find_what_the_directed_ones_find),
        cmocka_unit_test(what_was_stopped_is_incomplete),
        cmocka_unit_test(the_same_place_is_one_finding),
        cmocka_unit_test(history_remembers_who_came_and_who_passed),
        cmocka_unit_test(history_counts_the_bytes_of_a_phase),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
