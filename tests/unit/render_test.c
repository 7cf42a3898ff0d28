/* render: one made-up verdict as text and as JSON, and one made-up run as a trace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "render/json.h"
#include "render/text.h"
#include "render/trace.h"
#include "rendering.h"

/* ---- What is rendered ------------------------------------------------------------------------ */

static const char ir[] = "module {\n"
                         "  tt.func @lap(%full: i32) {\n"
                         "    ttng.arrive_barrier %full, 1\n"
                         "    ttng.wait_barrier %full, %phase\n"
                         "  }\n"
                         "}\n";

static void add_lapped(Verdict *verdict) {
    Finding *finding = verdict_finding(verdict);
    finding->rule = RULE_DEADLOCK_LAPPED;
    finding->space = "barrier";
    finding->message = "partition1 waits forever for slot 1 of %full";
    finding->why = "phases 2 and 3 of slot 1 completed before partition1 looked";
    finding->fix = "let default wait for an arrival that partition1 makes after line 4";
    finding->schedule = "if partition1 is slow at line 4";
    finding->launch = "grid 32x1x1, N = 1024";
    finding->witness = "weir trail 1\n";
    finding->times = 1200;
    FindingPlace *places = finding_places(verdict, finding, 2);
    places[0] = (FindingPlace){.role = "waits",
                               .agent = "partition1",
                               .op = "ttng.wait_barrier",
                               .note = "parity 0, phase 4",
                               .file = "lap.py",
                               .line = 2,
                               .column = 5,
                               .ir_line = 4,
                               .ir_column = 5};
    places[1] = (FindingPlace){.role = "arrives",
                               .agent = "default",
                               .op = "ttng.arrive_barrier",
                               .note = "",
                               .file = "",
                               .ir_line = 3,
                               .ir_column = 5};
}

static int start(void **state) {
    return start_rendering(state, "lap", "lap.ttgir", ir);
}

/* ---- Text ------------------------------------------------------------------------------------ */

static const char *as_text(Fixture *fixture, TextOptions options) {
    verdict_close(&fixture->verdict);
    fixture->text.size = 0;
    render_text(&fixture->verdict, fixture->source, options, &fixture->text);
    text_char(&fixture->text, 0);
    assert_false(fixture->text.failed);
    return fixture->text.data;
}

static void add_launches(Verdict *verdict) {
    *verdict_launch(verdict) =
        (LaunchRun){.text = "grid 32x1x1, N = 1024", .chosen = true, .ctas = 32, .schedules = 4, .events = 12000};
    *verdict_launch(verdict) =
        (LaunchRun){.text = "grid 64x1x1, N = 2048", .chosen = true, .ctas = 64, .schedules = 1, .events = 345};
}

static void a_finding_names_places_reasons_and_remedy(void **state) {
    Fixture *fixture = *state;
    add_lapped(&fixture->verdict);
    add_launches(&fixture->verdict);
    const char *const witnesses[] = {"lap.witness"};
    assert_string_equal(as_text(fixture, (TextOptions){.witnesses = witnesses, .witness_hint = "ask for one"}),
                        "lap.ttgir: @lap: findings\n"
                        "lap.py:2:5: error: partition1 waits forever for slot 1 of %full [deadlock.lapped]\n"
                        "lap.ttgir:4:5: note: partition1 waits (ttng.wait_barrier): parity 0, phase 4\n"
                        "        ttng.wait_barrier %full, %phase\n"
                        "        ^\n"
                        "lap.ttgir:3:5: note: partition 'default' arrives (ttng.arrive_barrier)\n"
                        "        ttng.arrive_barrier %full, 1\n"
                        "        ^\n"
                        "  why: phases 2 and 3 of slot 1 completed before partition1 looked\n"
                        "  fix: let default wait for an arrival that partition1 makes after line 4\n"
                        "  schedule: if partition1 is slow at line 4\n"
                        "  launch: grid 32x1x1, N = 1024\n"
                        "  seen: 1,200 times\n"
                        "  witness: lap.witness\n"
                        "1 error; 2 launches (chosen), 96 CTAs, 12,345 events\n");
}

/* Without the kernel's own location the IR's is the place; a place without texts is but a place. */
static void a_finding_may_know_little(void **state) {
    Fixture *fixture = *state;
    Finding *finding = verdict_finding(&fixture->verdict);
    finding->rule = RULE_BARRIER_OVERRUN;
    finding->message = "it is overrun";
    finding->witness = "weir trail 1\n";
    finding_places(&fixture->verdict, finding, 1)[0].ir_line = 3;
    verdict_finding(&fixture->verdict)->message = "nobody knows where";
    assert_string_equal(as_text(fixture, (TextOptions){.witness_hint = "weir run writes one"}),
                        "lap.ttgir: @lap: findings\n"
                        "lap.ttgir:3: error: it is overrun [barrier.overrun]\n"
                        "        ttng.arrive_barrier %full, 1\n"
                        "    ^\n"
                        "  witness: weir run writes one\n"
                        "lap.ttgir: error: nobody knows where [deadlock.no-producer]\n"
                        "2 errors\n");
}

static void a_clean_verdict_is_one_line(void **state) {
    Fixture *fixture = *state;
    add_launches(&fixture->verdict);
    fixture->verdict.launches[0].chosen = false;
    verdict_close(&fixture->verdict);
    assert_string_equal(as_text(fixture, (TextOptions){0}),
                        "lap.ttgir: @lap: clean (this launch): 2 launches (1 chosen), 96 CTAs, 12,345 events\n");
    fixture->verdict.launch_count = 1;
    fixture->verdict.launches[0] =
        (LaunchRun){.text = "grid 1x1x1", .chosen = false, .ctas = 1, .schedules = 1, .events = 1};
    verdict_close(&fixture->verdict);
    assert_string_equal(as_text(fixture, (TextOptions){0}),
                        "lap.ttgir: @lap: clean (this launch): 1 launch, 1 CTA, 1 event\n");
    fixture->verdict.launch_count = 0;
    verdict_close(&fixture->verdict);
    assert_string_equal(as_text(fixture, (TextOptions){0}), "lap.ttgir: @lap: clean\n");
}

static void reasons_notes_and_launches_are_listed(void **state) {
    Fixture *fixture = *state;
    add_launches(&fixture->verdict);
    verdict_incomplete(&fixture->verdict, "ttg.odd", 3, "its effects are not known");
    verdict_incomplete(&fixture->verdict, "", 0, "time ran out");
    verdict_note(&fixture->verdict, "loads at line 3 were given 2 values each");
    assert_string_equal(as_text(fixture, (TextOptions){.launches = true}),
                        "lap.ttgir: @lap: incomplete\n"
                        "lap.ttgir:3: incomplete: its effects are not known (ttg.odd)\n"
                        "lap.ttgir: incomplete: time ran out\n"
                        "  note: loads at line 3 were given 2 values each\n"
                        "  launch, chosen: grid 32x1x1, N = 1024: 32 CTAs, 4 schedules, 12,000 events\n"
                        "  launch, chosen: grid 64x1x1, N = 2048: 64 CTAs, 1 schedule, 345 events\n"
                        "incomplete: 2 reasons; 2 launches (chosen), 96 CTAs, 12,345 events\n");
    verdict_finding(&fixture->verdict)->message = "it hangs";
    fixture->verdict.launch_count = fixture->verdict.note_count = 0;
    assert_string_equal(as_text(fixture, (TextOptions){0}),
                        "lap.ttgir: @lap: findings\n"
                        "lap.ttgir: error: it hangs [deadlock.no-producer]\n"
                        "lap.ttgir:3: incomplete: its effects are not known (ttg.odd)\n"
                        "lap.ttgir: incomplete: time ran out\n"
                        "1 error; incomplete: 2 reasons\n");
}

/* By the severity that each finding has, and not by how many there are. */
static void findings_are_counted_by_severity(void **state) {
    Fixture *fixture = *state;
    Verdict *verdict = &fixture->verdict;
    for (int i = 0; i < 3; i++)
        verdict_finding(verdict)->message = "it hangs";
    verdict->findings[1].elsewhere = true;
    verdict->kind = VERDICT_FINDINGS;
    assert_non_null(strstr(as_text(fixture, (TextOptions){0}), "\n2 errors, 1 warning\n"));
    verdict->findings[0].rule = verdict->findings[2].rule = RULE_RACE_SAME_VALUE;
    assert_non_null(strstr(as_text(fixture, (TextOptions){0}), "\n1 warning, 2 notes\n"));
    verdict->findings[1].rule = RULE_RACE_SAME_VALUE;
    verdict->kind = VERDICT_CLEAN;
    assert_non_null(strstr(as_text(fixture, (TextOptions){0}), "\nclean; 3 notes\n"));
    verdict->finding_count = 1;
    verdict->kind = VERDICT_INCOMPLETE;
    verdict_incomplete(verdict, "", 0, "time ran out");
    assert_non_null(strstr(as_text(fixture, (TextOptions){0}), "\nincomplete: 1 reason; 1 note\n"));
}

/* A name from the IR cannot drive the terminal, with colors or without. */
static void text_from_the_ir_is_plain(void **state) {
    Fixture *fixture = *state;
    fixture->verdict.kernel = "a\x1b[2Jb\nc";
    Finding *finding = verdict_finding(&fixture->verdict);
    finding->message = "\x1b]0;x\a";
    finding->why = "\xff\x01";
    FindingPlace *place = finding_places(&fixture->verdict, finding, 1);
    *place = (FindingPlace){"\x1b", "\x1b", "\x1b", "\x1b", "\x1b.py", 1, 1, 2, 3, "\x1b.ttgir"};
    verdict_incomplete(&fixture->verdict, "\x1b", 0, "\x1b");
    verdict_note(&fixture->verdict, "\x1b");
    assert_null(strchr(as_text(fixture, (TextOptions){0}), '\x1b'));
    assert_string_equal(fixture->text.data, "lap.ttgir: @a?[2Jb?c: findings\n"
                                            "?.py:1:1: error: ?]0;x? [deadlock.no-producer]\n"
                                            "?.ttgir:2:3: note: ? ? (?): ?\n"
                                            "  why: ??\n"
                                            "lap.ttgir: incomplete: ? (?)\n"
                                            "  note: ?\n"
                                            "1 error; incomplete: 1 reason\n");
}

static void color_is_for_who_asks(void **state) {
    Fixture *fixture = *state;
    Finding *finding = verdict_finding(&fixture->verdict);
    finding->message = "it hangs";
    finding->fix = "mend it";
    assert_string_equal(as_text(fixture, (TextOptions){.color = true}),
                        "\033[1mlap.ttgir:\033[0m @lap: findings\n"
                        "\033[1mlap.ttgir:\033[0m \033[1;31merror:\033[0m it hangs [deadlock.no-producer]\n"
                        "  \033[1mfix:\033[0m mend it\n"
                        "\033[1;31m1 error\033[0m\n");
    fixture->verdict.finding_count = 0;
    assert_string_equal(as_text(fixture, (TextOptions){.color = true}),
                        "\033[1mlap.ttgir:\033[0m @lap: \033[1;32mclean\033[0m\n");
}

/* ---- The kernel's own source ------------------------------------------------------------------- */

static char folder[] = "/tmp/weir-render-XXXXXX";

static int make_folder(void **state) {
    assert_non_null(mkdtemp(folder));
    return start(state);
}

static int remove_folder(void **state) {
    rmdir(folder);
    memcpy(folder + strlen(folder) - 6, "XXXXXX", 6);
    return stop_rendering(state);
}

static const char *in_folder(const char *name) {
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const char *text) {
    FILE *file = fopen(in_folder(name), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* The verdict with one place at `file`:2:5, of an IR file in the folder. */
static const char *with_kernel_at(Fixture *fixture, const char *file) {
    source_free(fixture->source);
    fixture->source = source_copy(in_folder("lap.ttgir"), "", 0);
    fixture->verdict.finding_count = 0;
    Finding *finding = verdict_finding(&fixture->verdict);
    FindingPlace *place = finding_places(&fixture->verdict, finding, 1);
    place->file = file;
    place->line = 2;
    place->column = 5;
    return as_text(fixture, (TextOptions){0});
}

static void the_kernels_own_line_is_shown(void **state) {
    static const char *const recorded[] = {"lap.py", "/nowhere/build/lap.py", "kernels/lap.py"};
    Fixture *fixture = *state;
    write_file("lap.py", "def lap(full):\n    full.wait()\n");
    for (size_t i = 0; i < sizeof recorded / sizeof *recorded; i++)
        assert_non_null(strstr(with_kernel_at(fixture, recorded[i]), "\n        full.wait()\n        ^\n"));
    unlink(in_folder("lap.py"));
}

/* In a folder beside the IR, and at the place that was recorded, though the IR lies elsewhere. */
static void the_kernels_own_line_is_found_in_folders(void **state) {
    Fixture *fixture = *state;
    assert_int_equal(mkdir(in_folder("kernels"), 0700), 0);
    write_file("kernels/lap.py", "def lap(full):\n    full.wait()\n");
    char *recorded = strdup(in_folder("kernels/lap.py"));
    assert_non_null(strstr(with_kernel_at(fixture, "kernels/lap.py"), "full.wait()"));
    assert_non_null(strstr(with_kernel_at(fixture, recorded), "full.wait()"));
    assert_null(strstr(with_kernel_at(fixture, "lap.py"), "full.wait()"));
    free(recorded);
    unlink(in_folder("kernels/lap.py"));
    rmdir(in_folder("kernels"));
}

/* A line that the file does not have, a file that is not there, no source code, or no regular file. */
static void what_cannot_be_shown_is_left_out(void **state) {
    Fixture *fixture = *state;
    write_file("short.py", "def lap():");
    write_file("secret.txt", "one\ntwo\n");
    assert_int_equal(mkfifo(in_folder("pipe.py"), 0600), 0);
    assert_int_equal(mkdir(in_folder("folder.py"), 0700), 0);
    static const char *const names[] = {"short.py", "missing.py", "secret.txt", "pipe.py", "folder.py", "/dev/zero"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_null(strchr(with_kernel_at(fixture, names[i]), '^'));
    rmdir(in_folder("folder.py"));
    unlink(in_folder("pipe.py"));
    unlink(in_folder("secret.txt"));
    unlink(in_folder("short.py"));
}

static void a_very_large_file_is_not_read(void **state) {
    Fixture *fixture = *state;
    write_file("large.py", "one\ntwo\n");
    assert_non_null(strchr(with_kernel_at(fixture, "large.py"), '^'));
    assert_int_equal(truncate(in_folder("large.py"), 10 << 20), 0);
    assert_null(strchr(with_kernel_at(fixture, "large.py"), '^'));
    unlink(in_folder("large.py"));
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void check_keys(json_t *object, const char *keys) {
    char *copy = strdup(keys);
    size_t count = 0;
    for (char *key = strtok(copy, " "); key; key = strtok(NULL, " "), count++)
        if (!json_object_get(object, key))
            fail_msg("there is no \"%s\"", key);
    assert_int_equal(json_object_size(object), count);
    free(copy);
}

static void check_text(json_t *object, const char *key, const char *text) {
    assert_true(json_is_string(json_object_get(object, key)));
    assert_string_equal(json_string_value(json_object_get(object, key)), text);
}

static void check_number(json_t *object, const char *key, json_int_t number) {
    assert_true(json_is_integer(json_object_get(object, key)));
    assert_int_equal(json_integer_value(json_object_get(object, key)), number);
}

static json_t *parsed(const Text *text) {
    json_error_t error;
    json_t *json = json_loadb(text->data, text->size, JSON_REJECT_DUPLICATES, &error);
    if (!json)
        fail_msg("line %d: %s", error.line, error.text);
    return json;
}

static void json_has_the_keys_that_programs_know(void **state) {
    Fixture *fixture = *state;
    Verdict *verdict = &fixture->verdict;
    add_lapped(verdict);
    add_launches(verdict);
    verdict_incomplete(verdict, "ttg.odd", 3, "its effects are not known");
    verdict_note(verdict, "noted");
    verdict_close(verdict);
    Verdict clean = {.arena = &fixture->arena, .kernel = "other"};
    JsonSeries report = render_json_begin(&fixture->text, "0.1.0", "inputs", false);
    render_json_input(&report, "lap.ttgir", verdict, NULL);
    render_json_input(&report, "other.ttgir", &clean, NULL);
    render_json_end(&report, NULL, NULL);

    json_t *root = parsed(&fixture->text);
    check_keys(root, "tool version inputs verdict");
    check_text(root, "tool", "weir");
    check_text(root, "version", "0.1.0");
    check_text(root, "verdict", "findings");
    json_t *inputs = json_object_get(root, "inputs");
    assert_int_equal(json_array_size(inputs), 2);

    json_t *input = json_array_get(inputs, 0);
    check_keys(input, "file kernel verdict scope only_launch launches run_coverage findings incomplete notes");
    check_keys(json_object_get(input, "run_coverage"), "barrier_ops barrier_ops_run accesses accesses_run branches "
                                                       "branches_taken rings rings_turned unreachable");
    check_text(input, "file", "lap.ttgir");
    check_text(input, "kernel", "lap");
    check_text(input, "verdict", "findings");

    json_t *launch = json_array_get(json_object_get(input, "launches"), 0);
    check_keys(launch, "text chosen ctas classes schedules events");
    check_text(launch, "text", "grid 32x1x1, N = 1024");
    assert_true(json_is_true(json_object_get(launch, "chosen")));
    check_number(launch, "ctas", 32);
    check_number(launch, "schedules", 4);
    check_number(launch, "events", 12000);

    json_t *finding = json_array_get(json_object_get(input, "findings"), 0);
    check_keys(
        finding,
        "rule severity at_other_launches fingerprint space message why fix schedule launch times places witness");
    check_text(finding, "rule", "deadlock.lapped");
    check_text(finding, "severity", "error");
    check_text(finding, "space", "barrier");
    check_text(finding, "message", "partition1 waits forever for slot 1 of %full");
    check_text(finding, "why", "phases 2 and 3 of slot 1 completed before partition1 looked");
    check_text(finding, "fix", "let default wait for an arrival that partition1 makes after line 4");
    check_text(finding, "schedule", "if partition1 is slow at line 4");
    check_text(finding, "launch", "grid 32x1x1, N = 1024");
    check_text(finding, "witness", "weir trail 1\n");
    check_number(finding, "times", 1200);

    json_t *places = json_object_get(finding, "places"), *place = json_array_get(places, 0);
    assert_int_equal(json_array_size(places), 2);
    check_keys(place, "role agent op note file line column ir_line ir_column");
    check_text(place, "role", "waits");
    check_text(place, "agent", "partition1");
    check_text(place, "op", "ttng.wait_barrier");
    check_text(place, "note", "parity 0, phase 4");
    check_text(place, "file", "lap.py");
    check_number(place, "line", 2);
    check_number(place, "column", 5);
    check_number(place, "ir_line", 4);
    check_number(place, "ir_column", 5);
    check_text(json_array_get(places, 1), "file", "");
    check_number(json_array_get(places, 1), "line", 0);

    json_t *incomplete = json_array_get(json_object_get(input, "incomplete"), 0);
    check_keys(incomplete, "reason op ir_line");
    check_text(incomplete, "reason", "its effects are not known");
    check_text(incomplete, "op", "ttg.odd");
    check_number(incomplete, "ir_line", 3);
    assert_string_equal(json_string_value(json_array_get(json_object_get(input, "notes"), 0)), "noted");

    input = json_array_get(inputs, 1);
    check_keys(input, "file kernel verdict scope only_launch launches run_coverage findings incomplete notes");
    check_text(input, "verdict", "clean");
    assert_int_equal(json_array_size(json_object_get(input, "findings")), 0);
    json_decref(root);
}

static void json_names_the_witness_file(void **state) {
    Fixture *fixture = *state;
    add_lapped(&fixture->verdict);
    const char *const witnesses[] = {"lap.witness"};
    JsonSeries report = render_json_begin(&fixture->text, "0.1.0", "inputs", false);
    render_json_input(&report, "lap.ttgir", &fixture->verdict, witnesses);
    render_json_end(&report, NULL, NULL);
    json_t *root = parsed(&fixture->text), *input = json_array_get(json_object_get(root, "inputs"), 0);
    check_text(json_array_get(json_object_get(input, "findings"), 0), "witness", "lap.witness");
    json_decref(root);
}

static void json_of_nothing_is_clean(void **state) {
    Fixture *fixture = *state;
    JsonSeries report = render_json_begin(&fixture->text, "0.1.0", "inputs", false);
    render_json_end(&report, NULL, NULL);
    json_t *root = parsed(&fixture->text);
    check_text(root, "verdict", "clean");
    assert_int_equal(json_array_size(json_object_get(root, "inputs")), 0);
    json_decref(root);
}

static void strings_are_always_valid(void **state) {
    static const struct {
        const char *text, *back;
    } cases[] = {
        {"", ""},
        {"plain", "plain"},
        {"\"\\/\b\f\n\r\t\x01\x1f\x7f", "\"\\/\b\f\n\r\t\x01\x1f\x7f"},
        {"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x99\x82", "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x99\x82"},
        /* A byte that starts nothing, one alone, and a character that is cut off. */
        {"a\xff"
         "b\x80"
         "c\xe2\x82",
         "a\xef\xbf\xbd"
         "b\xef\xbf\xbd"
         "c\xef\xbf\xbd\xef\xbf\xbd"},
        /* Overlong, a surrogate, past the last character. */
        {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xe0\x80\xaf", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
    };
    Fixture *fixture = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture->text.size = 0;
        Json json = {.to = &fixture->text};
        json_begin_list(&json, NULL);
        json_text(&json, NULL, cases[i].text);
        json_end_list(&json);
        json_t *list = parsed(&fixture->text);
        assert_string_equal(json_string_value(json_array_get(list, 0)), cases[i].back);
        json_decref(list);
    }
    fixture->text.size = 0;
    json_text(&(Json){.to = &fixture->text}, NULL, NULL);
    assert_memory_equal(fixture->text.data, "\"\"", 2);
}

/* ---- Trace ----------------------------------------------------------------------------------- */

static const TraceTrack tracks[] = {
    {0, "cta 0 (0,0,0)", "default"}, {0, "cta 0 (0,0,0)", "partition0.tma"}, {1, "cta 1 (1,0,0)", "default"}};
static const TraceBarrier trace_barriers[] = {{"%full", 0}, {"named barrier 9", -1}};
static const TraceEvent events[] = {
    {.kind = TRACE_STEP,
     .track = 1,
     .time = 2,
     .name = "ttng.arrive_barrier",
     .detail = "%full[0]",
     .ir_line = 3,
     .barriers = trace_barriers,
     .barrier_count = 2},
    {.kind = TRACE_FLIP, .track = 1, .time = 2, .name = "%full[0] phase 1", .detail = ""},
    {.kind = TRACE_WAIT,
     .track = 0,
     .time = 1,
     .duration = 2,
     .name = "ttng.wait_barrier",
     .ir_line = 4,
     .flow_from = 1},
    {.kind = TRACE_BLOCKED, .track = 2, .time = 0, .duration = 9, .name = "a \"name\"", .detail = "\x1b", .ir_line = 4},
};

/* The event of `phase` with that name; there is one. */
static json_t *event_of(json_t *list, const char *phase, const char *name, unsigned track) {
    size_t index;
    json_t *event, *found = NULL;
    json_array_foreach(list, index, event) {
        if (strcmp(json_string_value(json_object_get(event, "ph")), phase) == 0 &&
            strcmp(json_string_value(json_object_get(event, "name")), name) == 0 &&
            json_integer_value(json_object_get(event, "tid")) == track + 1) {
            assert_null(found);
            found = event;
        }
    }
    if (!found)
        fail_msg("there is no \"%s\" of phase %s", name, phase);
    check_number(found, "pid", tracks[track].cta + 1);
    return found;
}

static bool add_to(void *to, const char *data, size_t size) {
    text_add(to, data, size);
    return true;
}

static void a_trace_has_tracks_slices_instants_and_arrows(void **state) {
    Fixture *fixture = *state;
    Text through = {.sink = add_to, .to = &fixture->text};
    render_trace(&(Trace){.file = "lap.ttgir",
                          .kernel = "lap",
                          .launch = "grid 2x1x1",
                          .tracks = tracks,
                          .track_count = 3,
                          .events = events,
                          .event_count = 4},
                 &through);
    assert_true(text_flush(&through));
    text_free(&through);
    json_t *root = parsed(&fixture->text), *list = json_object_get(root, "traceEvents");
    check_text(json_object_get(root, "otherData"), "kernel", "lap");
    check_text(json_object_get(root, "otherData"), "launch", "grid 2x1x1");
    assert_int_equal(json_array_size(list), 2 * 2 + 3 * 2 + 4 + 2);

    check_text(json_object_get(event_of(list, "M", "process_name", 0), "args"), "name", "cta 0 (0,0,0)");
    check_text(json_object_get(event_of(list, "M", "process_name", 2), "args"), "name", "cta 1 (1,0,0)");
    check_text(json_object_get(event_of(list, "M", "thread_name", 1), "args"), "name", "partition0.tma");
    check_number(json_object_get(event_of(list, "M", "thread_sort_index", 1), "args"), "sort_index", 1);

    json_t *arrive = event_of(list, "X", "ttng.arrive_barrier", 1);
    check_number(arrive, "ts", 20);
    check_number(arrive, "dur", 10);
    check_text(arrive, "cat", "step");
    check_text(json_object_get(arrive, "args"), "detail", "%full[0]");
    check_text(json_object_get(arrive, "args"), "barrier", "%full[0], named barrier 9");
    check_number(json_object_get(arrive, "args"), "ir_line", 3);

    json_t *flip = event_of(list, "i", "%full[0] phase 1", 1);
    check_number(flip, "ts", 20);
    check_text(flip, "s", "t");
    assert_null(json_object_get(flip, "dur"));
    assert_null(json_object_get(json_object_get(flip, "args"), "barrier"));

    json_t *wait = event_of(list, "X", "ttng.wait_barrier", 0);
    check_number(wait, "ts", 10);
    check_number(wait, "dur", 20);
    check_text(wait, "cat", "wait");

    json_t *blocked = event_of(list, "X", "a \"name\"", 2);
    check_number(blocked, "dur", 90);
    check_text(blocked, "cat", "blocked");
    check_text(json_object_get(blocked, "args"), "detail", "\x1b");

    /* From inside the arrival to inside the wait. */
    json_t *from = event_of(list, "s", "releases", 1), *to = event_of(list, "f", "releases", 0);
    check_number(from, "ts", 25);
    check_number(to, "ts", 29);
    check_number(from, "id", 3);
    check_number(to, "id", 3);
    check_text(to, "bp", "e");
    json_decref(root);
}

static void a_trace_may_be_empty(void **state) {
    Fixture *fixture = *state;
    render_trace(&(Trace){.file = "lap.ttgir"}, &fixture->text);
    json_t *root = parsed(&fixture->text);
    assert_int_equal(json_array_size(json_object_get(root, "traceEvents")), 0);
    json_decref(root);
}

#define TEST(name)           cmocka_unit_test_setup_teardown(name, start, stop_rendering)
#define TEST_IN_FOLDER(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_finding_names_places_reasons_and_remedy),
        TEST(a_finding_may_know_little),
        TEST(a_clean_verdict_is_one_line),
        TEST(reasons_notes_and_launches_are_listed),
        TEST(findings_are_counted_by_severity),
        TEST(text_from_the_ir_is_plain),
        TEST(color_is_for_who_asks),
        TEST_IN_FOLDER(the_kernels_own_line_is_shown),
        TEST_IN_FOLDER(the_kernels_own_line_is_found_in_folders),
        TEST_IN_FOLDER(what_cannot_be_shown_is_left_out),
        TEST_IN_FOLDER(a_very_large_file_is_not_read),
        TEST(json_has_the_keys_that_programs_know),
        TEST(json_names_the_witness_file),
        TEST(json_of_nothing_is_clean),
        TEST(strings_are_always_valid),
        TEST(a_trace_has_tracks_slices_instants_and_arrows),
        TEST(a_trace_may_be_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
