/* config: project files read, and what becomes of findings by them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "config/apply.h"
#include "config/baseline.h"

static Project open_text(const char *text, bool good) {
    Project project;
    assert_true(project_init(&project));
    if (project_read_text(&project, source_copy("weir.toml", text, strlen(text))) != good)
        fail_msg("%s\n%s", text, project.diagnostics.count ? project.diagnostics.items[0].message : "is right");
    return project;
}

static void reads_every_key(void **state) {
    (void)state;
    Project project = open_text("timeout = 0\nbudget = 100\ntriton = '3.6'\ntarget = 'sm_90a'\ngsan = 'off'\n"
                                "mma-order = 'waits'\nbaseline = 'b.json'\nsource-root = '/'\n"
                                "[rules]\nselect = ['race', 'deadlock.lapped']\nignore = ['race.war']\n"
                                "[severity]\nrace.waw = 'note'\n'deadlock' = 'warning'\n"
                                "[paths]\ninclude = ['*.ttgir']\nexclude = ['old/']\n"
                                "[[launch]]\npath = 'a*'\nfile = 'l.json'\n[[launch]]\npath = '*'\nfile = '/m.json'\n",
                                true);
    assert_int_equal(project.timeout, 0);
    assert_int_equal(project.budget, 100);
    assert_string_equal(project.triton.text, "3.6");
    assert_string_equal(project.target.text, "sm_90a");
    assert_string_equal(project.gsan.text, "off");
    assert_string_equal(project.mma_order.text, "waits");
    assert_string_equal(project.baseline_file, "b.json");
    assert_string_equal(project.source_root, "/");
    assert_string_equal(project.layers[LAYER_FILE].select, "race,deadlock.lapped");
    assert_string_equal(project.layers[LAYER_FILE].ignore, "race.war");
    assert_int_equal(project.layers[LAYER_FILE].change_count, 2);
    assert_true(project_means(&project, "nowhere/k.ttgir"));
    assert_false(project_means(&project, "nowhere/k.mlir"));
    assert_false(project_means(&project, "old/k.ttgir"));
    assert_string_equal(project_launch(&project, "nowhere/ab.ttgir"), "l.json");
    assert_string_equal(project_launch(&project, "nowhere/b.ttgir"), "/m.json");
    project_free(&project);
}

static void says_what_is_wrong(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"tiemout = 1", "there is no key 'tiemout' here; did you mean 'timeout'?"},
        {"[rules]\nwhatever = 1", "there is no key 'whatever' here; there is: select, ignore"},
        {"timeout = -1", "'timeout' must be from 0 to 1000000"},
        {"timeout = true", "'timeout' is an integer, not true or false"},
        {"rules = 1", "'rules' is a table, not an integer"},
        {"rules.select = 'race'", "'select' is an array, not a string"},
        {"rules.select = [1]", "'select' must be a list of rules in quotes"},
        {"rules.select = ['race,deadlock']", "there is no rule 'race,deadlock'; 'weir rules' lists them"},
        {"rules.select = ['']", "there is no rule ''; 'weir rules' lists them"},
        {"severity = []", "'severity' is a table, not an array"},
        {"severity.rase = 'note'", "there is no rule 'rase'; did you mean 'race'?"},
        {"severity.race = 1", "a severity must be \"error\", \"warning\" or \"note\""},
        {"paths.include = [1]", "'include' must be a list of path patterns in quotes"},
        {"paths.include = ['']", "a pattern must not be empty"},
        {"launch = [1]", "launches are tables, [[launch]]"},
        {"[[launch]]\nfile = 'x'", "a launch needs a 'path', a pattern of inputs, and a 'file'"},
        {"baseline = ''", "'baseline' must be a non-empty path"},
        {"source-root = 'nowhere/at/all'", "there is no such folder: nowhere/at/all"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Project project = open_text(cases[i].text, false);
        assert_int_equal(project.diagnostics.errors, 1);
        assert_string_equal(project.diagnostics.items[0].message, cases[i].message);
        project_free(&project);
    }
}

/* What becomes of one finding: "race.war error counts". */
static void decide(Project *project, RuleId rule, bool elsewhere, Text *to) {
    static const char *const severities[] = {"error", "warning", "note"};
    Arena arena;
    arena_init(&arena, 1 << 20);
    Verdict verdict = {.arena = &arena, .kernel = "k"};
    Finding *finding = verdict_finding(&verdict);
    finding->rule = rule;
    finding->elsewhere = elsewhere;
    project_apply(project, &verdict, "k.ttgir");
    verdict_close(&verdict);
    to->size = 0;
    text_addf(to, "%s %s", severities[finding_severity(finding)], verdict_kind_name(verdict.kind));
    if (finding->suppressed)
        text_addf(to, " (%s)", finding->reason);
    text_char(to, 0);
    arena_free(&arena);
}

static void check(const char *file, const char *key, const char *value, RuleId rule, const char *expected) {
    Project project = open_text(file, true);
    Text is = {0};
    if (key)
        assert_true(project_set(&project, key, value));
    decide(&project, rule, false, &is);
    if (strcmp(is.data, expected) != 0)
        fail_msg("%s and %s %s: %s", file, key ? key : "", key ? value : "", is.data);
    text_free(&is);
    project_free(&project);
}

static void selects_and_ignores(void **state) {
    (void)state;
    static const char off[] = "error clean (the project file ignores its rule)";
    static const char other[] = "error clean (the project file does not select its rule)";
    check("", NULL, NULL, RULE_RACE_WAR, "error findings");
    check("rules.ignore = ['race']", NULL, NULL, RULE_RACE_WAR, off);
    check("rules.ignore = ['race.war']", NULL, NULL, RULE_RACE_WAR, off);
    check("rules.ignore = ['race.raw']", NULL, NULL, RULE_RACE_WAR, "error findings");
    check("rules.select = ['race']", NULL, NULL, RULE_RACE_WAR, "error findings");
    check("rules.select = ['deadlock']", NULL, NULL, RULE_RACE_WAR, other);
    check("rules.select = []", NULL, NULL, RULE_RACE_WAR, other);
    check("rules.select = ['race.war']\nrules.ignore = ['race']", NULL, NULL, RULE_RACE_WAR, "error findings");
    check("rules.select = ['race.war']\nrules.ignore = ['race']", NULL, NULL, RULE_RACE_WAW, off);
    check("rules.select = ['race']\nrules.ignore = ['race']", NULL, NULL, RULE_RACE_WAR, off);
    /* The command line decides first; what it does not name, the file does. */
    check("rules.ignore = ['race']", "select", "race", RULE_RACE_WAR, "error findings");
    check("rules.ignore = ['race']", "ignore", "deadlock", RULE_RACE_WAR, off);
    check("", "ignore", "deadlock,race", RULE_RACE_WAR, "error clean (its rule is ignored)");
    check("rules.select = ['race']", "select", "deadlock", RULE_RACE_WAR, "error clean (its rule is not selected)");
}

static void changes_severities(void **state) {
    (void)state;
    check("severity.race = 'note'", NULL, NULL, RULE_RACE_WAR, "note clean");
    check("severity.race = 'warning'", NULL, NULL, RULE_RACE_WAR, "warning findings");
    check("severity.'race.war' = 'warning'\nseverity.race = 'note'", NULL, NULL, RULE_RACE_WAR, "warning findings");
    check("severity.race = 'note'", "severity", "race=error", RULE_RACE_WAR, "error findings");
    check("severity.'race.war' = 'note'", "severity", "race=error", RULE_RACE_WAR, "error findings");
    Project project = open_text("", true);
    Text is = {0};
    assert_true(project_set(&project, "severity", "race.war=note") && project_set(&project, "severity", "race=error"));
    decide(&project, RULE_RACE_WAR, false, &is);
    assert_string_equal(is.data, "note clean");
    decide(&project, RULE_RACE_WAW, true, &is); /* about another launch than the one that was given */
    assert_string_equal(is.data, "warning findings");
    text_free(&is);
    project_free(&project);
}

static void says_what_options_are_wrong(void **state) {
    (void)state;
    static const char *const cases[][3] = {
        {"select", "race,rase", "there is no rule 'rase'; did you mean 'race'?"},
        {"ignore", "", "there is no rule ''; 'weir rules' lists them"},
        {"severity", "race", "--severity takes RULE=error, RULE=warning or RULE=note, not 'race'"},
        {"severity", "=note", "--severity takes RULE=error, RULE=warning or RULE=note, not '=note'"},
        {"severity", "race=bad", "a severity must be error, warning or note, not 'bad'"},
        {"source-root", "nowhere/at/all", "nowhere/at/all: no such source folder"},
        {"sauce", "x", "a project has no option 'sauce'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Project project = open_text("", true);
        assert_false(project_set(&project, cases[i][0], cases[i][1]));
        assert_string_equal(project.problem, cases[i][2]);
        project_free(&project);
    }
}

/* An incomplete kernel stays incomplete, whatever does not count; also one that had no memory to say why. */
static void leaves_incomplete_alone(void **state) {
    (void)state;
    for (int said = 0; said < 2; said++) {
        Project project = open_text("rules.ignore = ['race']", true);
        Arena arena;
        arena_init(&arena, 1 << 20);
        Verdict verdict = {.arena = &arena, .kernel = "k"};
        verdict_finding(&verdict)->rule = RULE_RACE_WAR;
        if (said)
            verdict_unreached(&verdict, "", 0, "nothing comes after a hang");
        else
            verdict.kind = VERDICT_INCOMPLETE;
        project_apply(&project, &verdict, "k.ttgir");
        verdict_close(&verdict);
        assert_int_equal(verdict.kind, VERDICT_INCOMPLETE);
        assert_int_equal(verdict.incomplete_count, said);
        assert_true(verdict_excepts(&verdict));
        arena_free(&arena);
        project_free(&project);
    }
}

/* A baseline is written sorted, whatever the order of the findings, and read again. */
static void writes_a_baseline(void **state) {
    (void)state;
    char file[] = "/tmp/weir-baseline-XXXXXX";
    static const char *const prints[] = {"00000000000000b2", "00000000000000a1", "00000000000000b2"};
    assert_true(close(mkstemp(file)) == 0 && unlink(file) == 0);
    for (int again = 0; again < 2; again++) {
        Project project = open_text("", true);
        Arena arena;
        arena_init(&arena, 1 << 20);
        assert_true(project_set(&project, "baseline", file) && project_read_baseline(&project, !again));
        Verdict verdict = {.arena = &arena, .kernel = "k"};
        for (size_t i = 0; i < 3; i++) {
            Finding *finding = verdict_finding(&verdict);
            finding->rule = RULE_RACE_WAR;
            finding->fingerprint = prints[i];
            finding->message = "a \"race\"\n";
        }
        project_apply(&project, &verdict, "k.ttgir");
        assert_int_equal(verdict_suppressed(&verdict, SUPPRESSED_BASELINE), 3);
        assert_int_equal(project.baseline->count, 2);
        if (!again)
            assert_true(project_write_baseline(&project));
        arena_free(&arena);
        project_free(&project);
    }
    const char *problem;
    Source *source = source_read(file, &problem);
    assert_string_equal(source->data,
                        "{\"weir-baseline\": 1, \"findings\": [\n"
                        "{\"file\": \"k.ttgir\", \"kernel\": \"k\", \"rule\": \"race.war\", \"fingerprint\": "
                        "\"00000000000000a1\", \"text\": \"a \\\"race\\\"\\n\"},\n"
                        "{\"file\": \"k.ttgir\", \"kernel\": \"k\", \"rule\": \"race.war\", \"fingerprint\": "
                        "\"00000000000000b2\", \"text\": \"a \\\"race\\\"\\n\"}\n]}\n");
    source_free(source);
    unlink(file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_key),
        cmocka_unit_test(says_what_is_wrong),
        cmocka_unit_test(selects_and_ignores),
        cmocka_unit_test(changes_severities),
        cmocka_unit_test(says_what_options_are_wrong),
        cmocka_unit_test(leaves_incomplete_alone),
        cmocka_unit_test(writes_a_baseline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
