/* finding: the rules, and a verdict as it is put together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/deadline.h"
#include "finding/finding.h"

static void every_rule_is_found_by_its_id(void **state) {
    (void)state;
    for (int i = 0; i < RULE_COUNT; i++) {
        const char *id = rule_of((RuleId)i)->id;
        for (int k = 0; k < RULE_COUNT; k++)
            assert_int_equal(rule_listed(id, rule_of((RuleId)k)->id), i == k);
    }
    assert_string_equal(rule_of(RULE_DEADLOCK_NO_PRODUCER)->id, "deadlock.no-producer");
    assert_string_equal(rule_of(RULE_BARRIER_BYTES)->id, "barrier.bytes");
}

/* Whether the text has the parts, in that order; what is left out is NULL. */
static bool has_parts(const char *text, const char *const parts[5]) {
    for (size_t i = 0; i < 5 && text && parts[i]; i++) {
        const char *found = strstr(text, parts[i]);
        text = found ? found + strlen(parts[i]) : NULL;
    }
    return text != NULL;
}

/* Ids are family.kind; a summary is one line without its final stop; a text has the same parts in the same order: of
 * what a run shows, in lines that fit a terminal, or of what the hardware does not allow, in paragraphs. */
static void every_rule_is_explained(void **state) {
    (void)state;
    static const char *const of_runs[5] = {"## What happens\n", "\n## How Weir decides\n", "\n## Usual causes\n",
                                           "\n## Fix\n", "\n## Not reported\n"};
    static const char *const of_lint[5] = {"## What is not allowed\n", "\n## How Weir decides\n",
                                           "\n## Fix\n", "\n## References\n"};
    size_t counts[2] = {0, 0};
    for (int i = 0; i < RULE_COUNT; i++) {
        const Rule *rule = rule_of((RuleId)i);
        assert_non_null(strchr(rule->id, '.'));
        assert_int_equal(strspn(rule->id, "abcdefghijklmnopqrstuvwxyz.-"), strlen(rule->id));
        assert_in_range(strlen(rule->summary), 20, 90);
        assert_int_not_equal(rule->summary[strlen(rule->summary) - 1], '.');
        assert_null(strchr(rule->summary, '\n'));
        assert_int_equal(rule->text[strlen(rule->text) - 1], '\n');
        bool lint = has_parts(rule->text, of_lint);
        assert_true(lint || has_parts(rule->text, of_runs));
        counts[lint]++;
        for (const char *line = rule->text; *line && !lint; line = strchr(line, '\n') + 1)
            assert_in_range(strcspn(line, "\n"), 0, strncmp(line, "    ", 4) == 0 ? 140 : 110); /* code is wider */
    }
    assert_int_equal(counts[false], 50);
    assert_true(counts[true] > 100);
}

/* Old names are read, and are the new ones; a family is one, too. */
static void old_names_of_rules_are_read(void **state) {
    (void)state;
    static const struct {
        const char *list, *id;
        bool listed;
    } cases[] = {
        {"barrier.uninitialised", "barrier.uninitialized", true},
        {"race,barrier.reinitialised", "barrier.reinitialized", true},
        {"global.uninitialised", "global.uninitialized", true},
        {"product.swizzle-base", "mma.swizzle-base", true},
        {"product.swizzle-base", "mma.swizzle-base-unknown", false},
        {"product.swizzle-base-unknown", "mma.swizzle-base-unknown", true},
        {"product", "mma.swizzle-base", true},
        {"barrier.uninitialised", "barrier.reinitialized", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_null(rule_list_unknown(cases[i].list).data);
        assert_int_equal(rule_listed(cases[i].list, cases[i].id), cases[i].listed);
    }
    assert_non_null(rule_list_unknown("barrier.uninitialise").data);
    assert_non_null(rule_list_unknown("product.swizzle").data);
}

static Verdict new_verdict(Arena *arena) {
    arena_init(arena, 1 << 20);
    return (Verdict){.arena = arena, .kernel = "k"};
}

static void what_is_added_stays(void **state) {
    (void)state;
    Arena arena;
    Verdict verdict = new_verdict(&arena);
    for (unsigned i = 0; i < 100; i++) {
        verdict_finding(&verdict)->message = verdict_text(&verdict, "finding %u", i);
        verdict_launch(&verdict)->events = i;
        verdict_incomplete(&verdict, "ttg.odd", i, "reason %u", i);
        verdict_note(&verdict, "note %u", i);
    }
    assert_int_equal(verdict.finding_count, 100);
    assert_int_equal(verdict.launch_count, 100);
    assert_string_equal(verdict.findings[7].message, "finding 7");
    assert_string_equal(verdict.findings[99].why, "");
    assert_int_equal(verdict.findings[99].times, 1);
    assert_int_equal(verdict.launches[42].events, 42);
    assert_string_equal(verdict.launches[42].text, "");
    assert_string_equal(verdict.incomplete[99].reason, "reason 99");
    assert_string_equal(verdict.incomplete[99].op, "ttg.odd");
    assert_int_equal(verdict.incomplete[99].ir_line, 99);
    assert_string_equal(verdict.notes[31], "note 31");
    arena_free(&arena);
}

static void the_same_reason_is_kept_once(void **state) {
    (void)state;
    Arena arena;
    Verdict verdict = new_verdict(&arena);
    for (int i = 0; i < 3; i++) {
        verdict_incomplete(&verdict, "ttg.odd", 4, "it is not known");
        verdict_note(&verdict, "noted");
    }
    assert_int_equal(verdict.incomplete_count, 1);
    assert_int_equal(verdict.note_count, 1);
    verdict_incomplete(&verdict, "ttg.odd", 5, "it is not known");
    verdict_incomplete(&verdict, "ttg.other", 5, "it is not known");
    assert_int_equal(verdict.incomplete_count, 3);
    arena_free(&arena);
}

/* The caller's text may go: a verdict outlives the module. */
static void an_op_name_is_copied(void **state) {
    (void)state;
    Arena arena;
    Verdict verdict = new_verdict(&arena);
    char name[] = "ttg.odd";
    verdict_incomplete(&verdict, name, 1, "it is not known");
    memset(name, 'x', sizeof name - 1);
    assert_string_equal(verdict.incomplete[0].op, "ttg.odd");
    arena_free(&arena);
}

/* As much as every finding has when it is told. */
static Finding *report(Verdict *verdict, RuleId rule) {
    Finding *finding = verdict_finding(verdict);
    finding->rule = rule;
    finding->message = "it happens";
    finding_places(verdict, finding, 1)->ir_line = 7;
    return finding;
}

static void a_finding_without_a_text_or_a_place_is_none(void **state) {
    (void)state;
    for (int missing = 0; missing < 3; missing++) {
        Arena arena;
        Verdict verdict = new_verdict(&arena);
        Finding *finding = report(&verdict, RULE_RACE_WAW);
        if (missing == 0)
            finding->message = "";
        else if (missing == 1)
            finding->place_count = 0;
        else
            finding->places[0].ir_line = 0;
        report(&verdict, RULE_RACE_RAW)->message = "the other one";
        verdict_drop_halves(&verdict);
        verdict_close(&verdict);
        assert_int_equal(verdict.finding_count, 1);
        assert_string_equal(verdict.findings[0].message, "the other one");
        verdict.findings[0].message = "";
        verdict_drop_halves(&verdict);
        verdict_close(&verdict);
        assert_int_equal(verdict.finding_count, 0);
        assert_int_equal(verdict.kind, VERDICT_INCOMPLETE);
        arena_free(&arena);
    }
}

/* What another check has decided does not count, and findings do. */
static void what_was_decided_otherwise_is_a_note(void **state) {
    (void)state;
    for (int finds = 0; finds < 2; finds++) {
        Arena arena;
        Verdict verdict = new_verdict(&arena);
        verdict_launch(&verdict)->text = "grid 1x1x1";
        verdict.closed = true;
        verdict_decided(&verdict, "decided by a run");
        assert_false(verdict.only_launch);
        assert_int_equal(verdict.note_count, 0);
        verdict_incomplete(&verdict, "tt.store", 7, "its addresses are not known");
        if (finds)
            report(&verdict, RULE_RACE_WAW);
        verdict_decided(&verdict, "decided by a run");
        verdict_close(&verdict);
        assert_int_equal(verdict.kind, finds ? VERDICT_FINDINGS : VERDICT_CLEAN);
        assert_int_equal(verdict.incomplete_count, 0);
        assert_int_equal(verdict.note_count, 1);
        assert_string_equal(verdict.notes[0], "decided by a run: its addresses are not known");
        assert_true(verdict.only_launch);
        if (!finds)
            assert_int_equal(verdict.scope, COVERS_GIVEN_LAUNCH);
        arena_free(&arena);
    }
}

/* Time is up, and what was found is told all the same: no arena jumps meanwhile. */
static void a_finding_has_time_to_be_told(void **state) {
    (void)state;
    Arena arena;
    Verdict verdict = new_verdict(&arena);
    deadline_start(1, NULL, NULL);
    deadline.end = 1;
    assert_true(deadline_look());
    assert_true(deadline_passed());
    deadline.end = deadline_now();
    report(&verdict, RULE_RACE_WAW);
    assert_false(deadline_look());
    assert_false(deadline_passed());
    deadline.grant = 1;
    assert_true(deadline_look());
    deadline.end = 1; /* long ago: enough was granted */
    report(&verdict, RULE_RACE_WAW);
    assert_true(deadline_look());
    assert_true(deadline_end());
    assert_false(deadline_look());
    arena_free(&arena);
}

static void new_places_are_empty(void **state) {
    (void)state;
    Arena arena;
    Verdict verdict = new_verdict(&arena);
    Finding *finding = verdict_finding(&verdict);
    FindingPlace *places = finding_places(&verdict, finding, 2);
    assert_ptr_equal(places, finding->places);
    assert_int_equal(finding->place_count, 2);
    assert_string_equal(places[1].agent, "");
    assert_string_equal(places[1].file, "");
    assert_int_equal(places[1].ir_line, 0);
    arena_free(&arena);
}

static void a_verdict_is_never_better_than_what_was_looked_at(void **state) {
    (void)state;
    Arena arena;
    Verdict verdict = new_verdict(&arena);
    verdict_close(&verdict);
    assert_int_equal(verdict.kind, VERDICT_CLEAN);
    verdict_note(&verdict, "noted");
    verdict_close(&verdict);
    assert_int_equal(verdict.kind, VERDICT_CLEAN);
    verdict_incomplete(&verdict, "", 0, "something is not known");
    verdict_close(&verdict);
    assert_int_equal(verdict.kind, VERDICT_INCOMPLETE);
    report(&verdict, RULE_DEADLOCK_CYCLE);
    verdict_close(&verdict);
    assert_int_equal(verdict.kind, VERDICT_FINDINGS);
    verdict.kind = VERDICT_ERROR;
    verdict_close(&verdict);
    assert_int_equal(verdict.kind, VERDICT_ERROR);
    arena_free(&arena);
}

static void kinds_have_names_statuses_and_an_order(void **state) {
    (void)state;
    static const struct {
        VerdictKind kind;
        const char *name;
        int status;
    } from_best[] = {{VERDICT_CLEAN, "clean", 0},
                     {VERDICT_INCOMPLETE, "incomplete", 3},
                     {VERDICT_FINDINGS, "findings", 1},
                     {VERDICT_ERROR, "error", 2}};
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(verdict_kind_name(from_best[i].kind), from_best[i].name);
        assert_int_equal(verdict_status(from_best[i].kind), from_best[i].status);
        for (size_t k = 0; k < 4; k++)
            assert_int_equal(verdict_worse(from_best[i].kind, from_best[k].kind), from_best[i > k ? i : k].kind);
    }
}

/* ---- Scopes ---- */

static void run_launch(Verdict *verdict, bool chosen) {
    verdict_launch(verdict)->chosen = chosen;
    verdict_close(verdict);
}

static void assert_outcome(const Verdict *verdict, VerdictScope scope, const char *text) {
    Text said = {0};
    verdict_print(verdict, &said);
    assert_int_equal(verdict->scope, scope);
    assert_int_equal(said.size, strlen(text));
    assert_memory_equal(said.data, text, said.size);
    text_free(&said);
}

static void a_clean_verdict_has_the_scope_of_its_launches(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena, 1 << 20);
    Verdict verdict = {.arena = &arena};
    verdict_close(&verdict);
    assert_outcome(&verdict, COVERS_NONE, "clean"); /* it was read, and not run */
    run_launch(&verdict, true);
    assert_outcome(&verdict, COVERS_TRIED_LAUNCHES, "clean (1 tried launch)");
    run_launch(&verdict, true);
    assert_outcome(&verdict, COVERS_TRIED_LAUNCHES, "clean (2 tried launches)");
    run_launch(&verdict, false);
    assert_outcome(&verdict, COVERS_GIVEN_LAUNCH, "clean (this launch)");
    run_launch(&verdict, false);
    assert_outcome(&verdict, COVERS_GIVEN_LAUNCH, "clean (these 2 launches)");
    verdict.closed = true;
    verdict_close(&verdict);
    assert_outcome(&verdict, COVERS_EVERY_LAUNCH, "clean (every launch)");
    verdict.only_launch = true;
    verdict_close(&verdict);
    assert_outcome(&verdict, COVERS_GIVEN_LAUNCH, "clean (these 2 launches)");
    verdict.replayed = true;
    verdict_close(&verdict);
    assert_outcome(&verdict, COVERS_NONE, "clean");
    arena_free(&arena);
}

static void what_is_not_clean_has_no_scope(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena, 1 << 20);
    Verdict verdict = {.arena = &arena, .closed = true};
    run_launch(&verdict, false);
    verdict_incomplete(&verdict, "", 0, "it was not checked");
    verdict_close(&verdict);
    assert_outcome(&verdict, COVERS_NONE, "incomplete");
    verdict_require(&verdict, COVERS_TRIED_LAUNCHES);
    assert_int_equal(verdict.incomplete_count, 1); /* nothing is said beside that */
    verdict_finding(&verdict)->rule = RULE_BARRIER_BYTES;
    verdict_close(&verdict);
    assert_outcome(&verdict, COVERS_NONE, "findings");
    arena_free(&arena);
}

static void less_than_what_is_required_is_incomplete(void **state) {
    (void)state;
    Arena arena;
    arena_init(&arena, 1 << 20);
    for (VerdictScope has = COVERS_NONE; has < COVERS_COUNT; has++)
        for (VerdictScope required = COVERS_NONE; required < COVERS_COUNT; required++) {
            Verdict verdict = {.arena = &arena, .closed = has == COVERS_EVERY_LAUNCH, .open = "argument n"};
            verdict_close(&verdict);
            if (has)
                run_launch(&verdict, has == COVERS_TRIED_LAUNCHES);
            assert_int_equal(verdict.scope, has);
            verdict_require(&verdict, required);
            assert_int_equal(verdict.kind, has < required ? VERDICT_INCOMPLETE : VERDICT_CLEAN);
            assert_int_equal(verdict.scope, has < required ? COVERS_NONE : has);
            assert_int_equal(verdict.incomplete_count, has < required);
            if (has < required)
                assert_ptr_equal(strstr(verdict.incomplete[0].reason, verdict_scope_name(required)),
                                 verdict.incomplete[0].reason);
        }
    arena_free(&arena);
}

static void scopes_have_names_and_an_order(void **state) {
    (void)state;
    assert_null(verdict_scope_name(COVERS_NONE));
    assert_int_equal(verdict_scope_named(""), COVERS_NONE);
    assert_int_equal(verdict_scope_named("every launch"), COVERS_NONE);
    for (VerdictScope scope = COVERS_NONE + 1; scope < COVERS_COUNT; scope++) {
        assert_int_equal(verdict_scope_named(verdict_scope_name(scope)), scope);
        size_t counts[COVERS_COUNT] = {0};
        assert_int_equal(verdict_scope_weakest(counts), COVERS_NONE);
        for (VerdictScope stronger = scope; stronger < COVERS_COUNT; stronger++)
            counts[stronger] = 1;
        assert_int_equal(verdict_scope_weakest(counts), scope);
    }
}

/* A finding as a launch shows it. */
static void show(Verdict *verdict, const char *fingerprint, const char *launch, bool elsewhere) {
    Finding *finding = report(verdict, RULE_BARRIER_BYTES);
    finding->fingerprint = fingerprint;
    finding->launch = launch;
    finding->elsewhere = elsewhere;
}

static void launches_are_joined(void **state) {
    (void)state;
    static const char *const launches[] = {"n = 1", "n = 2", "n = 3", "n = 4", "n = 5", "n = 6"};
    Arena arena, others;
    Verdict all = new_verdict(&arena);
    arena_init(&others, 1 << 20);
    show(&all, "a", launches[0], false);
    verdict_close(&all);
    for (size_t i = 1; i < 6; i++) {
        Verdict other = {.arena = &others};
        show(&other, "a", launches[i], false);
        if (i == 5)
            show(&other, "b", launches[i], false);
        verdict_close(&other);
        verdict_join(&all, &other);
    }
    assert_int_equal(all.finding_count, 2);
    assert_int_equal(all.findings[0].times, 6);
    assert_string_equal(all.findings[0].launch, "n = 1; also n = 2; also n = 3; also n = 4; and 2 more");
    assert_string_equal(all.findings[1].launch, "n = 6");
    assert_int_equal(all.kind, VERDICT_FINDINGS);
    arena_free(&others);
    arena_free(&arena);
}

/* What one launch was not looked at for makes the whole incomplete; what nothing launched is graver where something
 * did.
 */
static void the_worse_launch_counts(void **state) {
    (void)state;
    Arena arena, others;
    Verdict all = new_verdict(&arena), incomplete = {.arena = &others}, given = {.arena = &others};
    arena_init(&others, 1 << 20);
    verdict_close(&all);
    assert_int_equal(all.kind, VERDICT_CLEAN);
    verdict_incomplete(&incomplete, "", 0, "its time was up");
    verdict_close(&incomplete);
    verdict_join(&all, &incomplete);
    assert_int_equal(all.kind, VERDICT_INCOMPLETE);
    assert_string_equal(all.incomplete[0].reason, "its time was up");
    show(&all, "a", "n = 7", true);
    assert_int_equal(finding_severity(&all.findings[0]), SEVERITY_WARNING);
    show(&given, "a", "n = 8", false);
    verdict_close(&given);
    verdict_join(&all, &given);
    assert_int_equal(all.finding_count, 1);
    assert_int_equal(finding_severity(&all.findings[0]), SEVERITY_ERROR);
    assert_string_equal(all.findings[0].launch, "n = 8; also n = 7");
    arena_free(&others);
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_are_joined),
        cmocka_unit_test(the_worse_launch_counts),
        cmocka_unit_test(every_rule_is_found_by_its_id),
        cmocka_unit_test(every_rule_is_explained),
        cmocka_unit_test(old_names_of_rules_are_read),
        cmocka_unit_test(a_finding_without_a_text_or_a_place_is_none),
        cmocka_unit_test(what_was_decided_otherwise_is_a_note),
        cmocka_unit_test(a_finding_has_time_to_be_told),
        cmocka_unit_test(what_is_added_stays),
        cmocka_unit_test(the_same_reason_is_kept_once),
        cmocka_unit_test(an_op_name_is_copied),
        cmocka_unit_test(new_places_are_empty),
        cmocka_unit_test(a_verdict_is_never_better_than_what_was_looked_at),
        cmocka_unit_test(kinds_have_names_statuses_and_an_order),
        cmocka_unit_test(a_clean_verdict_has_the_scope_of_its_launches),
        cmocka_unit_test(what_is_not_clean_has_no_scope),
        cmocka_unit_test(less_than_what_is_required_is_incomplete),
        cmocka_unit_test(scopes_have_names_and_an_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
