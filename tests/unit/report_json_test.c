/* report_json: a made-up report as JSON, read back: every key, what is not known, odd texts, none and several. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <jansson.h>

#include "made_report.h"
#include "render/report/report_json.h"

static json_t *read_back(Text *text) {
    json_error_t problem;
    assert_false(text->failed);
    json_t *json = json_loadb(text->data, text->size, JSON_REJECT_DUPLICATES, &problem);
    if (!json)
        fail_msg("%d:%d: %s\n%.*s", problem.line, problem.column, problem.text, (int)text->size, text->data);
    text_free(text);
    return json;
}

static json_t *as_json(const Report *report) {
    Text text = {0};
    JsonSeries reports = render_json_begin(&text, "1.2", "reports", true);
    render_json_report(&reports, report);
    render_json_end(&reports, NULL, NULL);
    return read_back(&text);
}

/* Whether the object has these keys, given as one text, and no others. */
static void check_keys(const json_t *object, const char *keys) {
    size_t count = 0;
    for (const char *at = keys; *at;) {
        size_t size = strcspn(at, " ");
        char key[40];
        assert_true(size < sizeof key);
        memcpy(key, at, size);
        key[size] = 0;
        if (!json_object_get(object, key))
            fail_msg("there is no key %s", key);
        count++;
        at += size + (at[size] == ' ');
    }
    assert_int_equal(json_object_size(object), count);
}

static json_t *list_item(const json_t *object, const char *key, size_t count, size_t index) {
    json_t *list = json_object_get(object, key);
    assert_int_equal(json_array_size(list), count);
    return json_array_get(list, index);
}

static const char *text_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    assert_non_null(text);
    return text;
}

static int64_t number_of(const json_t *object, const char *key) {
    assert_true(json_is_integer(json_object_get(object, key)));
    return json_integer_value(json_object_get(object, key));
}

static void check_null(const json_t *object, const char *key) {
    assert_true(json_is_null(json_object_get(object, key)));
}

#define PLACE "partition op detail file line column ir_line times"

static void every_key_is_there(void **state) {
    (void)state;
    Made made;
    json_t *json = as_json(make_report(&made));
    check_keys(json,
               "tool version file kernel verdict scope only_launch launches run_coverage findings incomplete notes "
               "module form form_text target "
               "nothing head hung launch cluster partitions barriers edges buffers deadlock_verdict deadlock_reason "
               "deadlocks candidates coverage coverage_note limits");
    assert_string_equal(text_of(json, "version"), "1.2");
    assert_string_equal(text_of(json, "verdict"), "findings");
    assert_string_equal(text_of(json, "module"), "3: after Pass");
    assert_string_equal(text_of(list_item(json, "findings", 1, 0), "rule"), "deadlock.cycle");

    json_t *partition = list_item(json, "partitions", 3, 0);
    check_keys(partition, "name role type key_ops warps registers stage ir_line");
    check_null(partition, "registers");
    json_t *op = list_item(list_item(json, "partitions", 3, 1), "key_ops", 2, 0);
    check_keys(op, "name count");
    assert_int_equal(number_of(op, "count"), 2);

    json_t *head = json_object_get(json, "head");
    check_keys(head, "verdict rule what where why fix");
    assert_string_equal(text_of(head, "verdict"), "hangs");

    json_t *barrier = list_item(json, "barriers", 2, 0);
    check_keys(barrier, "name value kind mechanism direction depth count index phase inverted offset expect_bytes "
                        "data_bytes bytes iterations flips cadence arrives waits others protects pair aliases issues "
                        "participants intended");
    check_keys(list_item(barrier, "bytes", 2, 1), "name text bytes ir_line");
    json_t *site = list_item(barrier, "waits", 1, 0);
    check_keys(site, PLACE " mechanism index phase index_as_written phase_as_written stagger stride first_parity "
                           "passes_at_once amount intended part");
    check_null(site, "first_parity");
    check_null(site, "amount");
    assert_int_equal(number_of(site, "stagger"), 0);
    check_keys(list_item(barrier, "others", 1, 0), PLACE);
    check_keys(list_item(barrier, "aliases", 2, 1), "value how partition ir_line level");
    assert_string_equal(json_string_value(list_item(barrier, "protects", 2, 1)), "b");
    check_null(list_item(json, "barriers", 2, 1), "expect_bytes");

    json_t *edge = list_item(json, "edges", 2, 0);
    check_keys(edge, "from to barrier mechanism direction carries note out in");
    check_keys(json_object_get(edge, "out"), PLACE);
    json_t *buffer = list_item(json, "buffers", 2, 1);
    check_keys(buffer, "name value space storage id offset depth size writers readers barrier notes aliases");
    check_null(buffer, "id");
    json_decref(json);
}

static void deadlocks_and_coverage(void **state) {
    (void)state;
    Made made;
    make_report(&made);
    json_t *json = as_json(&made.report);
    json_t *deadlock = list_item(json, "deadlocks", 1, 0);
    check_keys(deadlock, "rule message why fix schedule launch blocked");
    json_t *blocked = list_item(deadlock, "blocked", 1, 0);
    check_keys(blocked, PLACE " waits_for parity phase pending bytes flips why held_by could");
    check_null(blocked, "flips");
    assert_int_equal(number_of(blocked, "parity"), 0);
    check_keys(list_item(json, "candidates", 1, 0), "barrier counts verdict why places");

    json_t *coverage = list_item(json, "coverage", 1, 0);
    check_keys(coverage, "storage owner writer extent whole rows");
    json_t *row = list_item(coverage, "rows", 2, 0);
    check_keys(row, "columns name consumer read cadence state ordered by times");
    assert_true(json_is_true(json_object_get(row, "ordered")));
    row = list_item(coverage, "rows", 2, 1);
    assert_true(json_is_false(json_object_get(row, "ordered")));
    assert_string_equal(text_of(row, "state"), "missing");
    check_keys(list_item(json, "limits", 2, 0), "name unit used most");
    json_decref(json);

    made.rows[0].order = COVERAGE_PLANNED;
    made.rows[1].order = COVERAGE_UNSEEN;
    json = as_json(&made.report);
    coverage = list_item(json, "coverage", 1, 0);
    check_null(list_item(coverage, "rows", 2, 0), "ordered");
    check_null(list_item(coverage, "rows", 2, 1), "ordered");
    assert_string_equal(text_of(list_item(coverage, "rows", 2, 0), "state"), "planned");
    assert_string_equal(text_of(list_item(coverage, "rows", 2, 1), "state"), "unseen");
    json_decref(json);
}

static void odd_texts_are_escaped(void **state) {
    (void)state;
    Made made;
    make_report(&made);
    made.barriers[0].name = "a \"name\"\\ \n\t\033 \xff \xc3\xa9";
    json_t *json = as_json(&made.report);
    assert_string_equal(text_of(list_item(json, "barriers", 2, 0), "name"),
                        "a \"name\"\\ \n\t\033 \xef\xbf\xbd \xc3\xa9");
    json_decref(json);
}

static json_t *several(const Report *report, size_t count) {
    Text text = {0};
    JsonSeries reports = render_json_begin(&text, "1.2", "reports", true);
    for (size_t i = 0; i < count; i++)
        render_json_report(&reports, report);
    render_json_end(&reports, NULL, NULL);
    assert_int_equal(text.data[text.size - 1], '\n');
    return read_back(&text);
}

static void one_is_the_object_itself(void **state) {
    (void)state;
    Made made;
    make_report(&made);
    json_t *one = several(&made.report, 1);
    assert_string_equal(text_of(one, "kernel"), "MMA");
    for (size_t count = 0; count <= 3; count++) {
        if (count == 1)
            continue;
        json_t *all = several(&made.report, count);
        check_keys(all, "tool version reports");
        assert_int_equal(json_array_size(json_object_get(all, "reports")), count);
        for (size_t i = 0; i < count; i++)
            assert_true(json_equal(json_array_get(json_object_get(all, "reports"), i), one));
        json_decref(all);
    }
    json_decref(one);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_is_there),
        cmocka_unit_test(deadlocks_and_coverage),
        cmocka_unit_test(odd_texts_are_escaped),
        cmocka_unit_test(one_is_the_object_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
