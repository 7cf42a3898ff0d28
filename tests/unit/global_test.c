/* machine/tile/step/global_memory: what memory holds, who wrote it, what is outside, and what places are called. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "machine/tile/step/global_memory.h"

typedef struct Fixture {
    Arena arena;
    GlobalMemory *memory;
} Fixture;

static int setup(void **state) {
    Fixture *fixture = calloc(1, sizeof *fixture);
    arena_init(&fixture->arena, (size_t)1 << 30);
    fixture->memory = global_create(&fixture->arena);
    *state = fixture;
    return 0;
}

static int teardown(void **state) {
    Fixture *fixture = *state;
    arena_free(&fixture->arena);
    free(fixture);
    return 0;
}

static GlobalMemory *memory_of(void **state) {
    return ((Fixture *)*state)->memory;
}

/* A dense one of `rows` x `columns`. */
static Area matrix(const char *name, int64_t rows, int64_t columns, uint16_t bits) {
    return (Area){.name = name,
                  .rank = 2,
                  .element_bits = bits,
                  .shape = {rows, columns},
                  .strides = {columns, 1},
                  .bytes = rows * columns * bits / 8,
                  .written = true};
}

static int64_t add(GlobalMemory *memory, Area area) {
    return global_address(global_add(memory, &area, NULL, 0));
}

static int64_t known(GlobalMemory *memory, int64_t address, unsigned width) {
    Word word = global_read(memory, address, width);
    assert_true(word_is(word, WORD_INTEGER));
    return word.bits;
}

static uint64_t unknown(GlobalMemory *memory, int64_t address, unsigned width) {
    Word word = global_read(memory, address, width);
    assert_true(word_is(word, WORD_UNKNOWN));
    return (uint64_t)word.bits;
}

/* ---- Data --------------------------------------------------------------------------------------- */

static void integers_of_all_widths(void **state) {
    GlobalMemory *memory = memory_of(state);
    int64_t base = add(memory, matrix("a", 64, 64, 32));
    for (unsigned width = 8; width <= 64; width *= 2)
        for (int64_t at = 0; at < 16; at++) { /* at all places, and over the end of a page */
            int64_t address = base + 4096 - 8 + at, value = integer_wrap(INT64_C(-0x0123456789abcdef) + at, width);
            global_write(memory, address, width, word_integer(value));
            assert_int_equal(known(memory, address, width), value);
            assert_int_equal(known(memory, address, 8), integer_wrap(value, 8));
        }
}

static void what_the_launch_gave(void **state) {
    GlobalMemory *memory = memory_of(state);
    int64_t *data = calloc(5000, sizeof *data);
    for (int64_t i = 0; i < 5000; i++)
        data[i] = i - 7;
    Area area = matrix("a", 2, 4096, 16);
    int64_t base = global_address(global_add(memory, &area, data, 5000));
    assert_int_equal(known(memory, base, 16), -7);
    assert_int_equal(known(memory, base + 2 * 4999, 16), 4992);
    assert_int_equal(known(memory, base + 4096 - 2, 32), (int64_t)(2048 - 7) << 16 | (2047 - 7)); /* on two pages */
    unknown(memory, base + 2 * 5000, 16);
    unknown(memory, base + 2 * 4999, 32);
    unknown(memory, base - 2, 16);
    global_write(memory, base + 2, 16, word_integer(99));
    assert_int_equal(known(memory, base, 32), (int64_t)99 << 16 | 0xfff9);
    free(data);
}

static void memory_of_zeros(void **state) {
    GlobalMemory *memory = memory_of(state);
    Area area = matrix("flags", 1024, 1024, 32);
    area.zero = true;
    int64_t base = add(memory, area);
    assert_int_equal(known(memory, base + 4096 - 4, 64), 0);
    assert_int_equal(known(memory, base + 4096 - 2, 32), 0);
    global_write(memory, base + 4092, 32, word_integer(-1));
    assert_int_equal(known(memory, base + 4096 - 4, 64), 0xffffffff);
    assert_int_equal(known(memory, base, 32), 0);
}

static void places_that_nothing_wrote_agree_with_themselves_alone(void **state) {
    GlobalMemory *memory = memory_of(state);
    int64_t base = add(memory, matrix("a", 64, 64, 32));
    uint64_t before = unknown(memory, base, 32), other = unknown(memory, base + 4, 32);
    assert_int_equal(unknown(memory, base, 32), before);
    assert_int_not_equal(other, before);
    assert_int_not_equal(unknown(memory, base, 16), before);
    /* Also when the page comes to be, and its slots. */
    global_write(memory, base + 64, 32, word_integer(1));
    assert_int_equal(unknown(memory, base, 32), before);
    global_write(memory, base + 68, 8, word_unknown(1));
    assert_int_equal(unknown(memory, base, 32), before);
    assert_int_equal(unknown(memory, base + 4, 32), other);
}

static void what_is_unknown_keeps_its_identity(void **state) {
    GlobalMemory *memory = memory_of(state);
    int64_t base = add(memory, matrix("a", 64, 64, 32));
    global_write(memory, base + 8, 64, word_unknown(77));
    assert_int_equal(unknown(memory, base + 8, 64), 77);
    uint64_t half = unknown(memory, base + 12, 32), odd = unknown(memory, base + 9, 32);
    assert_int_not_equal(half, odd);
    /* How finely a page is kept does not show. */
    for (unsigned width = 32; width >= 8; width /= 2) {
        global_write(memory, base + 32, width, word_unknown(78));
        assert_int_equal(unknown(memory, base + 32, width), 78);
        assert_int_equal(unknown(memory, base + 8, 64), 77);
        assert_int_equal(unknown(memory, base + 12, 32), half);
        assert_int_equal(unknown(memory, base + 9, 32), odd);
    }
    /* Over the end of a page. */
    global_write(memory, base + 4096 - 3, 64, word_unknown(79));
    assert_int_equal(unknown(memory, base + 4096 - 3, 64), 79);
    assert_int_not_equal(unknown(memory, base + 4096 - 3, 32), 79);
}

static void a_byte_in_the_middle_changes_an_identity(void **state) {
    GlobalMemory *memory = memory_of(state);
    int64_t base = add(memory, matrix("a", 64, 64, 32));
    global_write(memory, base, 32, word_unknown(5));
    global_write(memory, base + 1, 8, word_integer(0));
    uint64_t zero = unknown(memory, base, 32);
    assert_int_not_equal(zero, 5);
    assert_int_equal(known(memory, base + 1, 8), 0);
    global_write(memory, base + 1, 8, word_integer(1));
    assert_int_not_equal(unknown(memory, base, 32), zero);
    global_write(memory, base + 1, 8, word_unknown(6));
    assert_int_equal(unknown(memory, base + 1, 8), 6);
    assert_int_not_equal(unknown(memory, base, 32), 5);
    global_write(memory, base, 32, word_unknown(5));
    assert_int_equal(unknown(memory, base, 32), 5);
    global_write(memory, base, 32, word_integer(12));
    assert_int_equal(known(memory, base, 32), 12);
}

/* Random writes around the end of a page, to a memory of bytes, and to one whose slots are as narrow as they get from
 * the start. */
/* Also where it begins in the middle of an element, and others are written that are smaller. */
static void bytes_that_nothing_changes_keep_their_identity(void **state) {
    GlobalMemory *memory = memory_of(state);
    int64_t base = add(memory, matrix("a", 8, 8, 32));
    global_write(memory, base, 64, word_unknown(77));
    global_write(memory, base + 8, 64, word_unknown(78));
    uint64_t half = global_identity(memory, base + 4, base + 8), more = global_identity(memory, base + 4, base + 16);
    for (unsigned width = 32; width >= 8; width /= 2)
        global_write(memory, base + 32, width, word_unknown(79));
    assert_int_equal(global_identity(memory, base + 4, base + 8), half);
    assert_int_equal(global_identity(memory, base + 4, base + 16), more);
    global_write(memory, base + 7, 8, word_unknown(79));
    assert_int_not_equal(global_identity(memory, base + 4, base + 8), half);
    assert_int_not_equal(global_identity(memory, base + 4, base + 16), more);
}

static void against_a_memory_of_bytes(void **state) {
    enum { ROUNDS = 20000, BEGIN = 4096 - 64, PLACES = 128 };
    GlobalMemory *memory = memory_of(state);
    int64_t wide = add(memory, matrix("a", 2, 1024, 32)), narrow = add(memory, matrix("b", 2, 1024, 32));
    struct {
        bool known, written;
        uint8_t value;
    } bytes[PLACES + 8] = {{0}};
    global_write(memory, narrow, 8, word_unknown(1));
    global_write(memory, narrow + 2 * 4096 - 1, 8, word_unknown(1));
    uint64_t random = 1;
    for (uint64_t round = 0; round < ROUNDS; round++) {
        random = identity_mix(random, round);
        unsigned width = 8u << random % 4, size = width / 8, at = random >> 8 & (PLACES - 1);
        at = random >> 20 & 1 ? at / size * size : at;
        bool known = random >> 24 & 1;
        Word word = known ? word_integer((int64_t)random) : word_unknown(random);
        global_write(memory, wide + BEGIN + at, width, word);
        global_write(memory, narrow + BEGIN + at, width, word);
        for (unsigned k = 0; k < size; k++) {
            bytes[at + k].known = known;
            bytes[at + k].written = true;
            bytes[at + k].value = (uint8_t)(random >> 8 * k);
        }
        unsigned from = random >> 32 & (PLACES - 1);
        Word read = global_read(memory, wide + BEGIN + from, 32), same = global_read(memory, narrow + BEGIN + from, 32);
        bool all_known = true, all_written = true;
        uint32_t expected = 0;
        for (unsigned k = 0; k < 4; k++) {
            all_known &= bytes[from + k].known;
            all_written &= bytes[from + k].written;
            expected |= (uint32_t)bytes[from + k].value << 8 * k;
        }
        assert_int_equal(word_is(read, WORD_INTEGER), all_known);
        assert_int_equal(word_is(same, WORD_INTEGER), all_known);
        if (all_known)
            assert_int_equal(read.bits, (int32_t)expected);
        if (all_written) /* else the address counts, too */
            assert_int_equal(read.bits, same.bits);
    }
}

static void bulk_data_that_nothing_follows(void **state) {
    GlobalMemory *memory = memory_of(state);
    Area area = matrix("a", 64, 64, 32);
    area.zero = true;
    int64_t base = add(memory, area);
    global_write_unknown(memory, base + 3, base + 5000, 9);
    assert_int_equal(known(memory, base + 2, 8), 0);
    assert_int_equal(known(memory, base + 5000, 8), 0);
    uint64_t first = unknown(memory, base + 3, 8), last = unknown(memory, base + 4998, 16);
    assert_int_not_equal(first, last);
    global_write_unknown(memory, base + 3, base + 5000, 10);
    assert_int_not_equal(unknown(memory, base + 3, 8), first);
    assert_int_not_equal(unknown(memory, base + 4998, 16), last);
}

static void versions_count_known_values(void **state) {
    GlobalMemory *memory = memory_of(state);
    int64_t base = add(memory, matrix("a", 64, 64, 32));
    uint64_t version = global_version(memory);
    global_write(memory, base, 32, word_unknown(1));
    assert_int_equal(global_version(memory), version);
    global_write(memory, base, 32, word_integer(1));
    assert_true(global_version(memory) > version);
    version = global_version(memory);
    global_write(memory, base, 32, word_integer(1));
    assert_int_equal(global_version(memory), version);
    global_write(memory, base, 32, word_integer(2));
    assert_true(global_version(memory) > version);
    version = global_version(memory);
    global_write(memory, base, 32, word_unknown(1));
    assert_true(global_version(memory) > version);
}

static void a_reset_gives_the_first_memory_back(void **state) {
    GlobalMemory *memory = memory_of(state);
    static const int64_t data[] = {3, 4};
    Area area = matrix("a", 2, 2, 32), flags = matrix("f", 2, 2, 32), output = matrix("o", 2, 2, 32);
    flags.zero = true;
    output.written = false;
    int64_t a = global_address(global_add(memory, &area, data, 2)), f = add(memory, flags), o = add(memory, output);
    uint64_t before = unknown(memory, a + 8, 32), from_output = unknown(memory, o, 32);
    for (int round = 0; round < 2; round++) {
        global_write(memory, a, 32, word_integer(5));
        global_write(memory, a + 4, 32, word_unknown(5));
        global_write(memory, a + 8, 16, word_unknown(6));
        global_write(memory, f, 32, word_integer(7));
        global_write(memory, o, 32, word_unknown(8));
        int64_t from, to;
        global_reset(memory);
        assert_true(global_unwritten(memory, o, o + 4, &from, &to));
        assert_int_equal(known(memory, a, 32), 3);
        assert_int_equal(known(memory, a + 4, 32), 4);
        assert_int_equal(unknown(memory, a + 8, 32), before);
        assert_int_equal(known(memory, f, 32), 0);
        assert_int_equal(unknown(memory, o, 32), from_output);
        assert_int_equal(global_version(memory), 0);
    }
}

static void nothing_is_kept_outside_of_all_areas(void **state) {
    GlobalMemory *memory = memory_of(state);
    int64_t base = add(memory, matrix("a", 2, 2, 32));
    const int64_t wild[] = {0, 8, -8, INT64_MIN, INT64_MAX, INT64_MAX - 3, base - AREA_HALF - 4, base + AREA_HALF};
    for (size_t i = 0; i < sizeof wild / sizeof *wild; i++) {
        int64_t from, to;
        global_write(memory, wild[i], 64, word_integer(1));
        unknown(memory, wild[i], 64);
        unknown(memory, wild[i], 32);
        assert_null(global_area(memory, wild[i], &from));
        assert_false(global_unwritten(memory, wild[i], wild[i], &from, &to));
        global_mark_written(memory, wild[i], wild[i]);
    }
}

/* ---- Written ------------------------------------------------------------------------------------ */

static void who_wrote_an_output(void **state) {
    GlobalMemory *memory = memory_of(state);
    Area area = matrix("o", 1024, 1024, 32);
    area.written = false;
    int64_t base = add(memory, area), from, to;
    assert_true(global_unwritten(memory, base + 8, base + (1 << 22), &from, &to));
    assert_int_equal(from, base + 8);
    assert_int_equal(to, base + (1 << 22));
    global_write(memory, base + 8, 32, word_unknown(1));
    global_write(memory, base + 12, 32, word_integer(1));
    assert_false(global_unwritten(memory, base + 8, base + 16, &from, &to));
    assert_true(global_unwritten(memory, base, base + 16, &from, &to));
    assert_int_equal(from, base);
    assert_int_equal(to, base + 8);
    global_mark_written(memory, base + 100, base + 70000);
    assert_false(global_unwritten(memory, base + 100, base + 70000, &from, &to));
    assert_true(global_unwritten(memory, base + 8, base + 80000, &from, &to));
    assert_int_equal(from, base + 16);
    assert_int_equal(to, base + 100);
    assert_true(global_unwritten(memory, base + 100, base + (1 << 22), &from, &to));
    assert_int_equal(from, base + 70000);
    assert_int_equal(to, base + (1 << 22));
}

static void an_input_was_written_before(void **state) {
    GlobalMemory *memory = memory_of(state);
    int64_t base = add(memory, matrix("a", 64, 64, 32)), from, to;
    assert_false(global_unwritten(memory, base, base + 4096, &from, &to));
}

/* Ranges as large as addresses allow take no time. */
static void a_huge_range_is_skipped(void **state) {
    GlobalMemory *memory = memory_of(state);
    Area area = {.name = "o", .bytes = -1};
    int64_t base = add(memory, area), from, to;
    global_write(memory, base + AREA_HALF - 8, 64, word_integer(0));
    assert_true(global_unwritten(memory, base - AREA_HALF, INT64_MAX, &from, &to));
    assert_int_equal(from, base - AREA_HALF);
    assert_int_equal(to, base + AREA_HALF - 8);
}

/* ---- Outside ------------------------------------------------------------------------------------ */

static void bytes_outside_of_a_tensor(void **state) {
    GlobalMemory *memory = memory_of(state);
    int64_t base = add(memory, matrix("a", 4, 8, 16)), from;
    assert_false(global_outside(memory, base, base + 64, &from));
    assert_true(global_outside(memory, base, base + 65, &from));
    assert_int_equal(from, base + 64);
    assert_true(global_outside(memory, base - 1, base + 2, &from));
    assert_int_equal(from, base - 1);
    assert_true(global_outside(memory, base + 70, base + 72, &from));
    assert_int_equal(from, base + 70);
    assert_true(global_outside(memory, 16, 20, &from));
    int64_t any = add(memory, (Area){.name = "x", .bytes = -1});
    assert_false(global_outside(memory, any + 1000000, any + 1000004, &from));
}

static void gaps_are_outside(void **state) {
    GlobalMemory *memory = memory_of(state);
    /* Two planes of three rows of four elements; a row of six, a plane of eighteen and two more. */
    Area area = {.name = "a",
                 .rank = 4,
                 .element_bits = 32,
                 .shape = {4, 1, 3, 2},
                 .strides = {1, 99, 6, 20},
                 .bytes = 4 * (20 + 12 + 4),
                 .sparse = true,
                 .written = true};
    int64_t base = add(memory, area), from;
    for (int64_t element = 0; element < 36; element++) {
        bool inside = element % 20 < 18 && element % 20 % 6 < 4;
        assert_int_equal(global_outside(memory, base + 4 * element, base + 4 * element + 4, &from), !inside);
    }
    assert_true(global_outside(memory, base + 4 * 21, base + 4 * 36, &from));
    assert_int_equal(from, base + 4 * 24);
}

/* ---- Names -------------------------------------------------------------------------------------- */

static void assert_name(const GlobalMemory *memory, int64_t address, const char *expected) {
    Text text = {0};
    global_name(memory, address, &text);
    text_char(&text, 0);
    assert_string_equal(text.data, expected);
    text_free(&text);
}

static void names_of_places(void **state) {
    GlobalMemory *memory = memory_of(state);
    int64_t c = add(memory, matrix("c_ptr", 4, 32, 16)), n = add(memory, (Area){.name = "n", .bytes = -1});
    int64_t one = add(memory, (Area){.name = "one", .element_bits = 32, .bytes = 4});
    assert_name(memory, c, "c_ptr[0, 0]");
    assert_name(memory, c + 2 * (3 * 32 + 17), "c_ptr[3, 17]");
    assert_name(memory, c + 3, "c_ptr[0, 1] + 1 byte");
    assert_name(memory, c + 256, "c_ptr, just past the end");
    assert_name(memory, c + 262, "c_ptr + 6 bytes past the end");
    assert_name(memory, c - 1, "1 byte before c_ptr");
    assert_name(memory, n, "n");
    assert_name(memory, n + 6, "n + 6 bytes");
    assert_name(memory, one, "one");
    assert_name(memory, 0x10, "address 0x10");
    Area transposed = {
        .name = "t\x1b", .rank = 2, .element_bits = 8, .shape = {3, 4}, .strides = {1, 5}, .bytes = 18, .device = 1};
    int64_t t = add(memory, transposed);
    assert_name(memory, t + 2 * 5 + 1, "t?@1[1, 2]");
    assert_name(memory, t + 3, "t?@1 + 3 bytes");
    assert_name(memory, c, "c_ptr@0[0, 0]");
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(integers_of_all_widths),
        TEST(what_the_launch_gave),
        TEST(memory_of_zeros),
        TEST(places_that_nothing_wrote_agree_with_themselves_alone),
        TEST(what_is_unknown_keeps_its_identity),
        TEST(a_byte_in_the_middle_changes_an_identity),
        TEST(bytes_that_nothing_changes_keep_their_identity),
        TEST(against_a_memory_of_bytes),
        TEST(bulk_data_that_nothing_follows),
        TEST(versions_count_known_values),
        TEST(a_reset_gives_the_first_memory_back),
        TEST(nothing_is_kept_outside_of_all_areas),
        TEST(who_wrote_an_output),
        TEST(an_input_was_written_before),
        TEST(a_huge_range_is_skipped),
        TEST(bytes_outside_of_a_tensor),
        TEST(gaps_are_outside),
        TEST(names_of_places),
#undef TEST
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
