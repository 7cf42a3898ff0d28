/* base/map: text to pointer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/map.h"

static void empty_map_has_nothing(void **state) {
    (void)state;
    Map map = {0};
    assert_null(map_get(&map, STR("a")));
    assert_null(map_get(&map, STR("")));
    map_free(&map);
}

static void put_makes_a_place_once(void **state) {
    (void)state;
    Map map = {0};
    int one;
    void **place = map_put(&map, STR("key"));
    assert_non_null(place);
    assert_null(*place);
    *place = &one;
    assert_ptr_equal(map_get(&map, STR("key")), &one);
    assert_ptr_equal(*map_put(&map, STR("key")), &one);
    assert_int_equal(map.count, 1);
    map_free(&map);
    assert_null(map_get(&map, STR("key")));
}

/* Keys are bytes with a length: zeros, a shared beginning and emptiness are nothing special. */
static void reports_keys_apart(void **state) {
    (void)state;
    static const Str keys[] = {
        {"", 0},   {"a", 1},    {"ab", 2},       {"abc", 3},       {"a\0b", 3},       {"a\0c", 3},
        {"\0", 1}, {"\0\0", 2}, {"12345678", 8}, {"123456789", 9}, {"12345678\0", 9},
    };
    enum { COUNT = sizeof keys / sizeof *keys };
    Map map = {0};
    for (size_t i = 0; i < COUNT; i++)
        *map_put(&map, keys[i]) = (void *)(i + 1);
    assert_int_equal(map.count, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal((uintptr_t)map_get(&map, keys[i]), i + 1);
    assert_null(map_get(&map, STR("abcd")));
    map_free(&map);
}

/* The same text at another address is the same key, and hashes alike. */
static void compares_bytes_not_addresses(void **state) {
    (void)state;
    char first[] = "%name", second[] = "%name";
    Map map = {0};
    *map_put(&map, str_of(first)) = first;
    assert_ptr_equal(map_get(&map, str_of(second)), first);
    assert_int_equal(map_hash(str_of(first)), map_hash(str_of(second)));
    map_free(&map);
}

static void keeps_all_of_many(void **state) {
    (void)state;
    enum { COUNT = 20000 };
    static char keys[COUNT][8];
    Map map = {0};
    for (size_t i = 0; i < COUNT; i++) {
        snprintf(keys[i], sizeof keys[i], "%zu", i);
        *map_put(&map, str_of(keys[i])) = keys[i];
    }
    assert_int_equal(map.count, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        assert_ptr_equal(map_get(&map, str_of(keys[i])), keys[i]);
    assert_null(map_get(&map, STR("20000")));
    map_free(&map);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_map_has_nothing), cmocka_unit_test(put_makes_a_place_once),
        cmocka_unit_test(reports_keys_apart),    cmocka_unit_test(compares_bytes_not_addresses),
        cmocka_unit_test(keeps_all_of_many),
    };
    return cmocka_run_group_tests_name("map", tests, NULL, NULL);
}
