/* model: which partition an op belongs to, in every form that says so. */
#include "reading.h"

#include "model/flow/partition.h"

static void assert_partition_at(const Op *op, const char *expected, unsigned warps, int line) {
    Text text = {0};
    partition_print(partitions_of(op), &text);
    text_char(&text, 0);
    if (strcmp(text.data, expected) != 0 || partition_warps(op) != warps) {
        print_error("found '%s', %u warps\n", text.data, partition_warps(op));
        _fail(__FILE__, line);
    }
    text_free(&text);
}
#define assert_partition(op, expected, warps) assert_partition_at((op), (expected), (warps), __LINE__)

static void regions_of_a_specialized_op(void **state) {
    (void)state;
    Reading *reading = read_good("module attributes {\"ttg.num-warps\" = 8 : i32} {\n"
                                 "tt.func @k(%x: i32) {\n"
                                 "  ttg.clock64\n"
                                 "  ttg.warp_specialize(%x) attributes {async_task_id = array<i32: 7>}\n"
                                 "  default {\n"
                                 "    ttg.clock64 {async_task_id = array<i32: 3>}\n"
                                 "    ttg.warp_yield\n"
                                 "  }\n"
                                 "  partition0(%a: i32) num_warps(4) {\n"
                                 "    ttg.clock64\n"
                                 "    ttg.warp_return\n"
                                 "  }\n"
                                 "  partition1(%b: i32) num_warps(1) {\n"
                                 "    scf.for %i = %b to %b step %b : i32 {\n"
                                 "      ttg.clock64\n"
                                 "    }\n"
                                 "    ttg.warp_return\n"
                                 "  } : (i32) -> ()\n"
                                 "  tt.return\n"
                                 "}\n"
                                 "}\n");
    assert_partition(find_op(reading, "ttg.clock64", 0), "", 8);
    assert_partition(find_op(reading, "ttg.clock64", 1), "default", 8); /* the region, not what is written on it */
    assert_partition(find_op(reading, "ttg.clock64", 2), "partition0", 4);
    assert_partition(find_op(reading, "ttg.clock64", 3), "partition1", 1);
    assert_int_equal(partitions_of(find_op(reading, "ttg.clock64", 3)).mask, 4);
    assert_int_equal(partitions_of(find_op(reading, "ttg.clock64", 3)).form, PARTITION_REGIONS);
    done(reading);
}

static void groups_of_warps(void **state) {
    (void)state;
    Reading *reading = read_good("tt.func @k() {\n"
                                 "  nvws.warp_group\n"
                                 "  partition0 num_warps(8) {\n"
                                 "    ttg.clock64\n"
                                 "    nvws.warp_group.return\n"
                                 "  }\n"
                                 "  partition1 num_warps(2) {\n"
                                 "    ttg.clock64\n"
                                 "    nvws.warp_group.return\n"
                                 "  }\n"
                                 "  tt.return\n"
                                 "}\n");
    assert_partition(find_op(reading, "ttg.clock64", 0), "group 0", 8);
    assert_partition(find_op(reading, "ttg.clock64", 1), "group 1", 2);
    assert_partition(find_op(reading, "tt.return", 0), "", 4); /* nothing says: four */
    done(reading);
}

/* On the op itself, else on the nearest op around it; as arrays, and as releases up to 3.2 wrote them. */
static void attributes(void **state) {
    (void)state;
    Reading *reading = read_good("tt.func @k(%x: i32) {\n"
                                 "  ttg.clock64 {async_task_id = array<i32: 1>}\n"
                                 "  ttg.clock64 {async_task_id = dense<[0, 2]> : vector<2xi32>}\n"
                                 "  scf.for %i = %x to %x step %x : i32 {\n"
                                 "    ttg.clock64\n"
                                 "    ttg.clock64 {ttg.partition = array<i32: 2>}\n"
                                 "  } {ttg.partition = array<i32: 0, 1>}\n"
                                 "  ttg.clock64 {async_task_id = array<i32: 99>}\n"
                                 "  tt.return\n"
                                 "}\n");
    assert_partition(find_op(reading, "ttg.clock64", 0), "task 1", 4);
    assert_partition(find_op(reading, "ttg.clock64", 1), "task 0, 2", 4);
    assert_partition(find_op(reading, "ttg.clock64", 2), "partition 0, 1", 4);
    assert_partition(find_op(reading, "ttg.clock64", 3), "partition 2", 4);
    assert_partition(find_op(reading, "ttg.clock64", 4), "", 4); /* there are no more than 64 */
    assert_int_equal(partitions_of(find_op(reading, "ttg.clock64", 1)).form, PARTITION_TASKS);
    assert_int_equal(partitions_of(find_op(reading, "ttg.clock64", 2)).form, PARTITION_SCHEDULED);
    done(reading);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regions_of_a_specialized_op),
        cmocka_unit_test(groups_of_warps),
        cmocka_unit_test(attributes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
