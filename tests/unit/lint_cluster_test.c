/* check/lint/tile: paths to and from what reaches into another CTA, and conditions that threads disagree on. */
#include "reading.h"

#include "check/lint/tile/lint.h"
#include "finding/finding.h"
#include "model/layout/encoding.h"

#define MODULE(attributes) "module attributes {\"ttg.num-warps\" = 4 : i32, ttg.target = \"cuda:90\"" attributes "} {\n"
#define TYPES                                                                                                  \
    "#per_cta = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1]]}>\n" \
    "!bar = !ttg.memdesc<2xi64, #per_cta, #ttg.shared_memory, mutable>\n"
#define KERNEL(body)                                                                                                   \
    TYPES MODULE(", \"ttg.num-ctas\" = 2 : i32, ttg.shared = 64 : i32") "  tt.func @f(%n: i32, %if: i1) {\n"           \
                                                                        "    %c0 = arith.constant 0 : i32\n    %c1 = " \
                                                                        "arith.constant 1 : i32\n" body                \
                                                                        "    tt.return\n  }\n}\n"
#define INIT   "    %b = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !bar\n    ttng.init_barrier %b, 2 : !bar\n"
#define FENCE  "    ttng.fence_mbarrier_init_release_cluster\n"
#define MEET   "    ttng.cluster_barrier {relaxed = true}\n"
#define SIGNAL "    ttng.arrive_barrier %b, 1 {multicastCTA = 1 : i32} : !bar\n"
#define WAIT   "    ttng.wait_barrier %b, %c0 : !bar\n"

/* The rules that are broken, in the order in which they are found; scopes of arrivals are left out. */
static void assert_rules(const char *text, const char *expected) {
    Reading *reading = read_good(text);
    jmp_buf out_of_memory;
    Arena arena;
    Text rules = {0};
    arena_init(&arena, 1 << 24);
    arena.exhausted = reading->module.arena.exhausted = &out_of_memory;
    if (setjmp(out_of_memory))
        fail_msg("out of memory");
    Verdict verdict = {.arena = &arena, .kernel = "f"};
    const Op *function = first_op(reading);
    while (function && !op_function(function))
        function = op_next_in_walk(function, first_op(reading));
    assert_non_null(function);
    lint_check(&reading->module, function, &(LintOptions){0}, &verdict);
    for (size_t i = 0; i < verdict.finding_count; i++)
        if (verdict.findings[i].rule != RULE_MBARRIER_SCOPE)
            text_addf(&rules, "%s%s", rules.size ? " " : "", rule_of(verdict.findings[i].rule)->id);
    text_addf(&rules, "%s", "");
    assert_string_equal(rules.data ? rules.data : "", expected);
    text_free(&rules);
    arena_free(&arena);
    done(reading);
}

static void a_barrier_is_published_before_it_is_signaled(void **state) {
    (void)state;
    assert_rules(KERNEL(INIT FENCE MEET SIGNAL WAIT MEET), "");
    assert_rules(KERNEL(INIT MEET SIGNAL WAIT MEET), "mbarrier.cluster-init");
    assert_rules(KERNEL(INIT FENCE SIGNAL WAIT MEET), "mbarrier.cluster-init");
    assert_rules(KERNEL(INIT MEET FENCE SIGNAL WAIT MEET), "mbarrier.cluster-init");
}

/* The fence belongs before the arrival at the cluster barrier, not before the wait. */
static void an_arrival_and_a_wait_are_a_barrier(void **state) {
    (void)state;
#define ARRIVE "    ttng.cluster_arrive {relaxed = true}\n"
#define LEAVE  "    ttng.cluster_wait\n"
    assert_rules(KERNEL(INIT FENCE ARRIVE LEAVE SIGNAL WAIT MEET), "");
    assert_rules(KERNEL(INIT ARRIVE FENCE LEAVE SIGNAL WAIT MEET), "mbarrier.cluster-init");
    assert_rules(KERNEL(INIT FENCE ARRIVE SIGNAL LEAVE WAIT MEET), "mbarrier.cluster-init");
}

static void a_full_barrier_without_the_fence_is_looked_at(void **state) {
    (void)state;
#define FULL "    ttng.cluster_barrier\n"
    assert_rules(KERNEL(INIT FULL SIGNAL WAIT MEET), "mbarrier.cluster-init-fence");
    assert_rules(KERNEL(INIT FULL FENCE SIGNAL WAIT MEET), "");
}

static void every_path_counts(void **state) {
    (void)state;
    assert_rules(KERNEL(INIT FENCE "    scf.if %if {\n" MEET "    }\n" SIGNAL WAIT MEET), "mbarrier.cluster-init");
    assert_rules(KERNEL(INIT FENCE MEET "    scf.for %i = %c0 to %n step %c1 : i32 {\n" SIGNAL WAIT "    }\n" MEET),
                 "");
    assert_rules(KERNEL(INIT FENCE MEET "    scf.for %i = %c0 to %n step %c1 : i32 {\n" SIGNAL WAIT "    }\n"),
                 "cluster.exit-unknown");
    assert_rules(KERNEL(INIT FENCE MEET SIGNAL MEET WAIT), "");
    assert_rules(KERNEL(INIT FENCE MEET SIGNAL), "mbarrier.arrivals-unseen cluster.exit");
}

static void what_partitions_do_is_done_at_their_end(void **state) {
    (void)state;
#define SPECIALIZE(before, after)                                                                     \
    KERNEL(INIT FENCE before                                                                          \
           "    ttg.warp_specialize(%b)\n    default {\n" WAIT "      ttg.warp_yield\n    }\n"        \
           "    partition0(%p: !bar) num_warps(4) {\n"                                                \
           "      ttng.arrive_barrier %p, 1 {multicastCTA = 1 : i32} : !bar\n      ttg.warp_return\n" \
           "    } : (!bar) -> ()\n" after)
    assert_rules(SPECIALIZE(MEET, MEET), "");
    assert_rules(SPECIALIZE("", MEET), "mbarrier.cluster-init");
    assert_rules(SPECIALIZE(MEET, ""), "cluster.exit-unknown");
}

/* More than are followed at once. */
static void many_barriers_are_followed(void **state) {
    (void)state;
    Text body = {0};
    text_addf(&body, "%s",
              TYPES MODULE(", \"ttg.num-ctas\" = 2 : i32, ttg.shared = 8192 : i32") "  tt.func @f() {\n    %c0 = "
                                                                                    "arith.constant 0 : i32\n");
    for (unsigned i = 0; i < 130; i++)
        text_addf(&body, "    %%b%u = ttg.local_alloc {allocation.offset = %u : i32} : () -> !bar\n", i, 16 * i);
    for (unsigned i = 0; i < 130; i++)
        text_addf(&body, "%s    ttng.init_barrier %%b%u, 2 : !bar\n", i == 129 ? FENCE MEET : "", i);
    for (unsigned i = 0; i < 130; i++)
        text_addf(&body,
                  "    ttng.arrive_barrier %%b%u, 1 {multicastCTA = 1 : i32} : !bar\n"
                  "    ttng.wait_barrier %%b%u, %%c0 : !bar\n",
                  i, i);
    text_addf(&body, "%s", MEET "    tt.return\n  }\n}\n");
    assert_rules(body.data, "mbarrier.cluster-init");
    text_free(&body);
}

/* ---- Conditions ----------------------------------------------------------------------------------- */

#define ALONE(body)                                                                                          \
    MODULE("")                                                                                               \
    "  tt.func @f(%n: i32, %if: i1) {\n"                                                                     \
    "    %c0 = arith.constant 0 : i32\n    %c1 = arith.constant 1 : i32\n    %c4 = arith.constant 4 : i32\n" \
    "    %w = ttg.warp_id\n" body "    tt.return\n  }\n}\n"
#define UNDER(condition) "    scf.if " condition " {\n      ttg.barrier local\n    }\n"

static void conditions_are_computed_for_every_warp(void **state) {
    (void)state;
    assert_rules(ALONE("    %c = arith.cmpi slt, %w, %c4 : i32\n" UNDER("%c")), "");
    assert_rules(ALONE("    %c = arith.cmpi slt, %w, %c1 : i32\n" UNDER("%c")), "threads.divergent-barrier");
    assert_rules(ALONE("    %h = arith.divui %w, %c4 : i32\n    %c = arith.cmpi eq, %h, %c0 : i32\n" UNDER("%c")), "");
    assert_rules(ALONE("    %s = arith.addi %w, %n : i32\n    %c = arith.cmpi eq, %s, %c0 : i32\n" UNDER("%c")),
                 "threads.divergent-barrier-unknown");
    assert_rules(ALONE(UNDER("%if")), "");
}

static void loops_are_conditions(void **state) {
    (void)state;
    assert_rules(ALONE("    scf.for %i = %c0 to %w step %c1 : i32 {\n      ttg.barrier local\n    }\n"),
                 "threads.divergent-barrier");
    assert_rules(ALONE("    scf.for %i = %c0 to %n step %c1 : i32 {\n      ttg.barrier local\n    }\n"), "");
}

/* ---- Who shares a barrier ------------------------------------------------------------------------- */

static void bits_that_do_not_move_it_share_it(void **state) {
    (void)state;
    static const struct {
        const char *bases;
        uint32_t ctas, sharers;
    } cases[] = {{"[[1]]", 2, 1}, {"[[0]]", 2, 2}, {"[[0], [1]]", 4, 2}, {"[[0], [0]]", 4, 4}, {"[[0]]", 1, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Text text = {0};
        text_addf(&text,
                  "#e = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = %s}>\n"
                  "%%b = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #e, #ttg.shared_memory, mutable>\n",
                  cases[i].bases);
        Reading *reading = read_good(text.data);
        assert_int_equal(encoding_sharers(&reading->module, first_op(reading)->results[0].type, cases[i].ctas),
                         cases[i].sharers);
        text_free(&text);
        done(reading);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_barrier_is_published_before_it_is_signaled),
        cmocka_unit_test(an_arrival_and_a_wait_are_a_barrier),
        cmocka_unit_test(a_full_barrier_without_the_fence_is_looked_at),
        cmocka_unit_test(every_path_counts),
        cmocka_unit_test(what_partitions_do_is_done_at_their_end),
        cmocka_unit_test(many_barriers_are_followed),
        cmocka_unit_test(conditions_are_computed_for_every_warp),
        cmocka_unit_test(loops_are_conditions),
        cmocka_unit_test(bits_that_do_not_move_it_share_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
