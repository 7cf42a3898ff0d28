/* Which recordings are of launches that may have run at the same time. */
#include "check/replay/concurrent.h"
#include "check/replay/reached.h"
#include "check/replay/together.h"
#include "trace/copies.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MOST = 8 };
static Recording recordings[MOST];
static RecordingOrder orders[MOST];
static RecordingKnown clocks[MOST][2];

/* A launch of that number on stream 0 or 1, when those before `zero` and `one` of these are over. */
static const Recording *launched(uint64_t number, uint32_t stream, uint64_t zero, uint64_t one) {
    orders[number] = (RecordingOrder){.process = 7, .stream = stream, .known_count = 2};
    clocks[number][0] = (RecordingKnown){.stream = 0, .begun = zero, .waited = zero, .maybe = zero};
    clocks[number][1] = (RecordingKnown){.stream = 1, .begun = one, .waited = one, .maybe = one};
    recordings[number] = (Recording){.launch.number = number, .order = &orders[number], .known = clocks[number]};
    return &recordings[number];
}

static void test_two(void **state) {
    (void)state;
    const Recording *a = launched(0, 0, 0, 0), *b = launched(1, 1, 0, 0), *c = launched(2, 1, 1, 2);
    assert_int_equal(recordings_concurrent(a, b), BESIDE_BOTH);
    assert_int_equal(recordings_concurrent(a, c), BESIDE_BEFORE);
    assert_int_equal(recordings_concurrent(b, c), BESIDE_BEFORE);
    clocks[2][0] = (RecordingKnown){.stream = 0, .begun = 0, .waited = 1, .maybe = 1};
    recordings[2].launch.flags = RECORDING_DEPENDENT;
    assert_int_equal(recordings_concurrent(a, c), BESIDE_WAITED);
    clocks[2][0].waited = 0;
    assert_int_equal(recordings_concurrent(a, c), BESIDE_MAYBE);
    orders[0].flags = RECORDING_ORDER_OPEN;
    assert_int_equal(recordings_concurrent(a, b), BESIDE_MAYBE);
    orders[0].flags = 0;
    orders[1].process = 8;
    assert_int_equal(recordings_concurrent(a, b), BESIDE_APART);
    orders[1].process = 7;
    orders[1].device = 1;
    assert_int_equal(recordings_concurrent(a, b), BESIDE_BOTH);
    recordings[1].order = NULL;
    assert_int_equal(recordings_concurrent(a, b), BESIDE_APART);
}

static void test_depends(void **state) {
    (void)state;
    const Recording *a = launched(3, 0, 3, 0);
    assert_int_equal(recording_depends_on(a), 0);
    recordings[3].launch.flags = RECORDING_DEPENDENT; /* but it waits for all before it */
    assert_int_equal(recording_depends_on(a), 0);
    clocks[3][0].begun = 2;
    assert_int_equal(recording_depends_on(a), 3);
}

static void test_groups(void **state) {
    (void)state;
    size_t groups[MOST];
    Arena arena;
    jmp_buf here;
    const Recording none = {.kernel = "k"};
    /* One after the other; and 3 beside 2 and 4, which are on one stream, given in any order. */
    const Recording *all[] = {launched(4, 0, 3, 0), launched(0, 0, 0, 0), launched(3, 1, 2, 0),
                              launched(1, 0, 1, 0), launched(2, 0, 2, 0), &none};
    arena_init(&arena, 1 << 20);
    recordings_group(all, 6, groups, &arena);
    assert_int_equal(groups[0], 0);
    assert_int_equal(groups[1], 1);
    assert_int_equal(groups[2], 0);
    assert_int_equal(groups[3], 3);
    assert_int_equal(groups[4], 0);
    assert_int_equal(groups[5], 5);
    recordings_group(all, 0, groups, &arena);
    arena_free(&arena);
    /* Without memory nothing takes them for apart. */
    arena_init(&arena, 1);
    arena.exhausted = &here;
    if (!setjmp(here)) {
        recordings_group(all, 6, groups, &arena);
        fail();
    }
    arena_free(&arena);
}

static void test_copies(void **state) {
    (void)state;
    const Recording *launch = launched(2, 0, 0, 0);
    RecordingKnown known[] = {{.stream = 1, .begun = 5}, {.stream = 0, .begun = 2}};
    RecordingCopy copy = {.number = 4, .stream = 1, .known_count = 2};
    assert_int_equal(recording_beside_copy(launch, &copy, known), BESIDE_BOTH);
    known[1].begun = 3; /* it comes behind the launch */
    assert_int_equal(recording_beside_copy(launch, &copy, known), BESIDE_BEFORE);
    known[1].begun = 2;
    clocks[2][1].copies = 5; /* the launch comes behind it */
    assert_int_equal(recording_beside_copy(launch, &copy, known), BESIDE_BEFORE);
    clocks[2][1].copies = 4;
    copy.flags = RECORDING_ORDER_CALLED;
    assert_int_equal(recording_beside_copy(launch, &copy, known), BESIDE_MAYBE);
}

/* Pages of a launch that nothing allocated, wherever they are in the table. */
static void test_pages_outside(void **state) {
    (void)state;
    enum { PAGE = 4096 };
    static const RecordingMemory memory[] = {{.base = 16 * PAGE, .bytes = PAGE}};
    const Recording recording = {.memory = memory, .memory_count = 1};
    for (uint32_t at = 0; at < 4; at++) {
        ReachedPage pages[4] = {0};
        Reached reached = {.pages = {.items = pages, .count = 1, .capacity = 4}};
        pages[at] = (ReachedPage){16 + 1, REACH_WRITES};
        reached_outside(&reached, &recording);
        assert_int_equal(reached.outside, 0);
        pages[at].page = 17 + 1;
        reached_outside(&reached, &recording);
        assert_int_equal(reached.outside, REACH_WRITES);
    }
}

/* A file of copies may end anywhere; what is no such file is none. */
static void test_file_of_copies(void **state) {
    (void)state;
    char *bytes, name[64];
    size_t size;
    Arena arena;
    RecordingCopies copies;
    RecordingKnown known[] = {{.stream = 1, .begun = 5}, {.stream = 0, .begun = 2}};
    RecordingCopy copy = {.writes = recording_area(0x1000, 64), .known_count = 2, .name = "cuMemcpyHtoDAsync_v2"};
    FILE *file = open_memstream(&bytes, &size);
    for (; copy.number < 3; copy.number++)
        assert_true(recording_copy_write(file, &copy, known));
    fclose(file);
    arena_init(&arena, 1 << 24);
    for (size_t cut = 1; cut <= size; cut++) {
        file = fmemopen(bytes, cut, "rb");
        bool good = recording_copies_read(&copies, file, &arena);
        fclose(file);
        assert_int_equal(good, cut >= 8);
        assert_int_equal(copies.count, good ? (cut - 8) / ((size - 8) / 3) : 0);
    }
    assert_int_equal(copies.items[2].number, 2);
    assert_int_equal(copies.known[2][1].begun, 2);
    assert_string_equal(copies.items[1].name, "cuMemcpyHtoDAsync_v2");
    assert_false(copies.broken);
    RecordingCopy *second = (RecordingCopy *)(bytes + 8 + (size - 8) / 3);
    second->writes.pitch = 63; /* rows that overlap */
    file = fmemopen(bytes, size, "rb");
    assert_true(recording_copies_read(&copies, file, &arena));
    fclose(file);
    assert_true(copies.count == 1 && copies.broken);
    bytes[0] = 'x';
    file = fmemopen(bytes, size, "rb");
    assert_false(recording_copies_read(&copies, file, &arena));
    fclose(file);
    free(bytes);
    arena_free(&arena);
    recording_copies_name(name, sizeof name, "here/x", 4, 255);
    assert_string_equal(name, "here/copies-00000000000000ff.weircopies");
}

/* Rows and slices: every access against every byte, one by one. */
static void test_areas(void **state) {
    (void)state;
    const RecordingArea areas[] = {
        recording_area(10, 7),
        {.base = 3, .bytes = 2, .pitch = 5, .slice = 15, .rows = 3, .slices = 1},
        {.base = 8, .bytes = 4, .pitch = 4, .slice = 8, .rows = 2, .slices = 2},
        {.base = 1, .bytes = 1, .pitch = 3, .slice = 11, .rows = 3, .slices = 4},
        {0},
    };
    for (size_t i = 0; i < sizeof areas / sizeof *areas; i++) {
        const RecordingArea *area = &areas[i];
        bool of_it[64] = {0};
        for (uint64_t s = 0; s < area->slices; s++)
            for (uint64_t r = 0; r < area->rows; r++)
                for (uint64_t b = 0; b < area->bytes; b++)
                    of_it[area->base + s * area->slice + r * area->pitch + b] = true;
        for (uint64_t begin = 0; begin < 60; begin++)
            for (uint64_t end = begin + 1; end <= 60; end++) {
                uint64_t first = begin, last;
                RecordingMemory bytes;
                while (first < end && !of_it[first])
                    first++;
                bool meets = recording_area_meets(area, begin, end, &bytes);
                assert_int_equal(meets, first < end);
                for (last = first; meets && last < end && last < bytes.base + bytes.bytes; last++)
                    assert_true(of_it[last]);
                assert_true(!meets || (bytes.base == first && last == bytes.base + bytes.bytes));
            }
    }
    assert_int_equal(recording_area_end(&areas[3]), 1 + 3 * 11 + 2 * 3 + 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_two),          cmocka_unit_test(test_areas),
                                       cmocka_unit_test(test_depends),      cmocka_unit_test(test_groups),
                                       cmocka_unit_test(test_copies),       cmocka_unit_test(test_file_of_copies),
                                       cmocka_unit_test(test_pages_outside)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
