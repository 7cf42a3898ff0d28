/* base/json: JSON as it is written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"

#include <math.h>

static void check(Text *text, const char *expected) {
    text_char(text, 0);
    assert_false(text->failed);
    assert_string_equal(text->data, expected);
    text_free(text);
}

static void members_and_elements(void **state) {
    (void)state;
    Text text = {0}, name = {0};
    Json json = {.to = &text};
    text_addf(&name, "i%d", 8);
    json_begin(&json, NULL);
    json_text(&json, "tool", "weir");
    json_begin_list(&json, "lines");
    json_number(&json, NULL, 12);
    json_signed(&json, NULL, -1);
    json_nothing(&json, NULL);
    json_end_list(&json);
    json_line(&json, 2);
    json_begin(&json, "empty");
    json_end(&json);
    json_key(&json, (Str){"names", 4});
    json_take(&json, NULL, &name);
    json_truth(&json, "true", true);
    json_integers(&json, "few", (int64_t[]){1, 2}, 2);
    json_end(&json);
    check(&text, "{\"tool\": \"weir\", \"lines\": [12, -1, null],\n  \"empty\": {}, \"name\": \"i8\", \"true\": true, "
                 "\"few\": [1, 2]}");
}

/* No text can end the script that it stands in, or look like what it is not. */
static void texts_in_a_page(void **state) {
    (void)state;
    Text text = {0};
    Json json = {.to = &text, .in_page = true};
    json_begin(&json, NULL);
    json_text(&json, "a", "</script>&'\n\"");
    json_text(&json, "b", "\x1b\xe2\x80\xae\xff\xc3\xa9");
    json_end(&json);
    check(&text, "{\"a\":\"\\u003c/script\\u003e\\u0026\\u0027\\u000a\\\"\","
                 "\"b\":\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xc3\xa9\"}");
}

static void floats_are_short_and_exact(void **state) {
    (void)state;
    static const struct {
        double number;
        const char *text;
    } cases[] = {
        {0.1, "0.1"},   {1, "1.0"},         {-2.5, "-2.5"},
        {1e20, "1e20"}, {1.5e-7, "1.5e-7"}, {0.30000000000000004, "0.30000000000000004"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Text text = {0};
        json_add_float(&text, cases[i].number);
        check(&text, cases[i].text);
    }
    Text text = {0};
    json_add_float(&text, NAN);
    assert_true(text.failed);
    text_free(&text);
}

typedef struct Inner {
    uint32_t line;
} Inner;

typedef struct Outer {
    const char *name;
    bool whole;
    int depth;
    int64_t size;
    uint64_t times;
    Inner at, from;
    const Inner *all;
    size_t count;
    const char *const *notes;
    size_t note_count;
} Outer;

static void add_twice(Json *json, const char *key, const void *object) {
    const Outer *outer = object;
    json_number(json, key, outer->times * 2);
}

static const JsonField inner_fields[] = {JSON(Inner, line), {0}};
static const JsonField outer_fields[] = {
    JSON(Outer, name, whole),
    JSON_KNOWN(Outer, depth),
    JSON(Outer, size),
    JSON_NAMED("seen", Outer, times),
    JSON_MEMBERS(Outer, at, inner_fields),
    JSON_WITHIN(1, Outer, from, inner_fields),
    JSON_LIST(1, 2, "all", Outer, all, count, inner_fields),
    JSON_TEXTS(0, 0, Outer, notes, note_count),
    JSON_BY(0, "twice", add_twice),
    {0},
};

static void structures_are_tables(void **state) {
    (void)state;
    static const Inner all[] = {{3}, {4}};
    static const char *const notes[] = {"x", "y"};
    const Outer outer = {"n", true, -1, -1, 5, {1}, {2}, all, 2, notes, 2};
    Text text = {0};
    json_object_of(&(Json){.to = &text}, NULL, outer_fields, &outer);
    check(&text,
          "{\"name\": \"n\", \"whole\": true, \"depth\": null, \"size\": -1, \"seen\": 5, \"line\": 1,\n \"from\": "
          "{\"line\": 2},\n \"all\": [\n  {\"line\": 3},\n  {\"line\": 4}], \"notes\": [\"x\", \"y\"], \"twice\": 10}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_and_elements),
        cmocka_unit_test(texts_in_a_page),
        cmocka_unit_test(floats_are_short_and_exact),
        cmocka_unit_test(structures_are_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
