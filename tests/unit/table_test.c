/* base/table: items by keys of any kind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/order.h"
#include "base/table.h"

#include <stdlib.h>

typedef struct Counted {
    uint64_t number; /* + 1; 0: free */
    uint32_t times;
} Counted;
typedef struct CountedTable {
    Counted *items;
    uint32_t count, capacity;
    unsigned shift; /* the hash loses so many bits: keys collide */
} CountedTable;

TABLE(counted, CountedTable, Counted, uint64_t, 2, item->number, item->number - 1, key >> table->shift,
      item->number == key + 1)

static void check_numbers(unsigned shift) {
    enum { NUMBERS = 500 };
    Arena arena;
    arena_init(&arena, 1 << 20);
    CountedTable table = {.shift = shift};
    assert_null(counted_find(&table, 0));
    for (uint64_t i = 0; i < 3 * NUMBERS; i++) {
        uint64_t number = i * i % NUMBERS;
        Counted *item = counted_put(&arena, &table, number);
        assert_true(!item->number || item->number == number + 1);
        item->number = number + 1;
        item->times++;
    }
    uint32_t found = 0, times = 0;
    for (uint64_t i = 0; i < 2 * NUMBERS; i++) {
        const Counted *item = counted_find(&table, i);
        assert_true(!item || item->number == i + 1);
        found += item != NULL;
        times += item ? item->times : 0;
    }
    assert_int_equal(found, table.count);
    assert_int_equal(times, 3 * NUMBERS);
    assert_true(2 * table.count <= table.capacity + 2 && !(table.capacity & (table.capacity - 1)));
    arena_free(&arena);
}

/* What is dropped is gone, and all others are found, whatever the order. */
static void check_drops(unsigned shift) {
    enum { NUMBERS = 60 };
    Arena arena;
    arena_init(&arena, 1 << 20);
    CountedTable table = {.shift = shift};
    for (uint64_t i = 0; i < NUMBERS; i++)
        *counted_put(&arena, &table, i * 7) = (Counted){i * 7 + 1, (uint32_t)i};
    for (uint64_t i = 0; i < NUMBERS; i++) {
        uint64_t gone = i * 37 % NUMBERS;
        Counted *dropped = counted_remove(&table, gone * 7);
        assert_int_equal(dropped->times, gone);
        dropped->number = 0;
        assert_int_equal(table.count, NUMBERS - 1 - i);
        for (uint64_t k = 0; k < NUMBERS; k++) {
            uint64_t other = k * 37 % NUMBERS;
            const Counted *found = counted_find(&table, other * 7);
            assert_true(k <= i ? !found : found && found->times == other);
        }
    }
    arena_free(&arena);
}

static void what_is_dropped_is_gone_alone(void **state) {
    (void)state;
    check_drops(0);
    check_drops(3);
    check_drops(63);
}

static void every_item_is_found_again(void **state) {
    (void)state;
    check_numbers(0);
}

static void keys_that_collide_stay_apart(void **state) {
    (void)state;
    check_numbers(4);
    check_numbers(63);
}

/* Memory that ran out leaves the table as it was. */
static void *take(size_t *left, size_t size) {
    if (*left < size)
        return NULL;
    *left -= size;
    return calloc(1, size);
}
static void give(size_t *left, void *items, size_t size) {
    *left += size;
    free(items);
}
TABLE_IN(limited, CountedTable, Counted, uint64_t, size_t, take, give, 2, item->number, item->number - 1, key,
         item->number == key + 1)

static void a_table_that_cannot_grow_is_kept(void **state) {
    (void)state;
    size_t left = 12 * sizeof(Counted); /* 2, then 4, then 8 at the same time as 4 */
    CountedTable table = {0};
    uint64_t number = 0;
    for (Counted *item; (item = limited_put(&left, &table, number)); number++)
        item->number = number + 1;
    assert_int_equal(table.capacity, 8);
    assert_int_equal(table.count, 4);
    for (uint64_t i = 0; i < number; i++)
        assert_int_equal(limited_find(&table, i)->number, i + 1);
    assert_null(limited_find(&table, number));
    free(table.items);
}

typedef struct Listed {
    int group;
    const char *name;
    unsigned size;
} Listed;
ORDER(by_all, Listed, BY(group) BY_MOST(size) BY_TEXT(name))
ORDER_POINTERS(by_name, Listed, BY_TEXT(name) BY_PLACE)
ORDER_NUMBERS(by_number, int64_t)

static void orders_go_by_the_first_key_that_differs(void **state) {
    (void)state;
    Listed items[] = {{2, "b", 1}, {1, "z", 3}, {2, "a", 1}, {2, "c", 5}, {-1, "z", 0}};
    const Listed *pointers[] = {&items[4], &items[1], &items[0], &items[3], &items[2]};
    int64_t numbers[] = {3, INT64_MAX, INT64_MIN, 0};
    qsort(items, 5, sizeof *items, by_all);
    assert_int_equal(items[0].group, -1);
    assert_int_equal(items[1].group, 1);
    assert_string_equal(items[2].name, "c");
    assert_string_equal(items[3].name, "a");
    assert_string_equal(items[4].name, "b");
    qsort(pointers, 5, sizeof *pointers, by_name);
    assert_ptr_equal(pointers[0], &items[3]);
    assert_ptr_equal(pointers[3], &items[0]);
    assert_ptr_equal(pointers[4], &items[1]);
    qsort(numbers, 4, sizeof *numbers, by_number);
    assert_true(numbers[0] == INT64_MIN && numbers[1] == 0 && numbers[3] == INT64_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_item_is_found_again),
        cmocka_unit_test(what_is_dropped_is_gone_alone),
        cmocka_unit_test(keys_that_collide_stay_apart),
        cmocka_unit_test(a_table_that_cannot_grow_is_kept),
        cmocka_unit_test(orders_go_by_the_first_key_that_differs),
    };
    return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
