/* The arithmetic of shadow memory: where the cell of an address lies, and what a range can hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/shadow/shadow.h"

static const uint64_t TERA = UINT64_C(1) << 40;

/* 2^40 addresses, 24 bytes for each word. */
static ShadowRange one_region(void) {
    return (ShadowRange){.base = 7 * TERA, .size = TERA, .regions = {{4, 24}}, .region_count = 1};
}

static void a_range_manages_its_addresses_and_no_others(void **state) {
    (void)state;
    ShadowRange range = one_region();
    assert_true(shadow_manages(&range, range.base));
    assert_true(shadow_manages(&range, range.base + TERA - 1));
    assert_false(shadow_manages(&range, range.base - 1));
    assert_false(shadow_manages(&range, range.base + TERA));
    assert_false(shadow_manages(&range, 0));
}

static void the_upper_half_is_real(void **state) {
    (void)state;
    ShadowRange range = one_region();
    assert_false(shadow_is_real(&range, range.base));
    assert_false(shadow_is_real(&range, range.base + TERA / 2 - 1));
    assert_true(shadow_is_real(&range, range.base + TERA / 2));
    assert_true(shadow_is_real(&range, range.base + TERA - 1));
    assert_false(shadow_is_real(&range, range.base + TERA));
    assert_true(shadow_real_begin(&range, SHADOW_FINE) == range.base + TERA / 2);
}

static void a_word_has_a_cell(void **state) {
    (void)state;
    ShadowRange range = one_region();
    uint64_t real = range.base + TERA / 2;
    assert_true(shadow_cell(&range, real) == range.base);
    assert_true(shadow_cell(&range, real + 3) == range.base);
    assert_true(shadow_cell(&range, real + 4) == range.base + 24);
    assert_true(shadow_cell(&range, real + 4001) == range.base + 24 * 1000);
}

/* A cell is six times its word: a sixth of the real half can be used. */
static void the_shadow_half_limits_the_real_one(void **state) {
    (void)state;
    ShadowRange range = one_region();
    uint64_t bytes = shadow_real_bytes(&range, SHADOW_FINE);
    assert_true(bytes == 4 * (TERA / 2 / 24));
    uint64_t last = shadow_real_begin(&range, SHADOW_FINE) + bytes - 1;
    assert_true(shadow_cell(&range, last) + 24 <= range.base + TERA / 2);
    range.regions[0] = (ShadowRegion){16, 8};
    assert_true(shadow_real_bytes(&range, SHADOW_FINE) == TERA / 2);
}

static void a_bit_tells_the_regions_apart(void **state) {
    (void)state;
    ShadowRange range = one_region();
    range.regions[SHADOW_COARSE] = (ShadowRegion){128, 24};
    range.region_count = 2;
    uint64_t fine = shadow_real_begin(&range, SHADOW_FINE), coarse = shadow_real_begin(&range, SHADOW_COARSE);
    assert_true(fine == range.base + TERA / 2);
    assert_true(coarse == fine + TERA / 4);
    assert_int_equal(shadow_region(&range, coarse - 1), SHADOW_FINE);
    assert_int_equal(shadow_region(&range, coarse), SHADOW_COARSE);
    assert_true(shadow_cell(&range, fine + 8) == range.base + 48);
    assert_true(shadow_cell(&range, coarse) == range.base + TERA / 4);
    assert_true(shadow_cell(&range, coarse + 127) == range.base + TERA / 4);
    assert_true(shadow_cell(&range, coarse + 128) == range.base + TERA / 4 + 24);
    assert_true(shadow_real_bytes(&range, SHADOW_FINE) == 4 * (TERA / 4 / 24));
    assert_true(shadow_real_bytes(&range, SHADOW_COARSE) == TERA / 4);
}

static void what_makes_no_sense_is_refused(void **state) {
    (void)state;
    ShadowRange range = one_region();
    assert_null(shadow_problem(&range));
    range.base += 4096;
    assert_string_equal(shadow_problem(&range), "the range is not aligned to its size");
    range = one_region();
    range.size -= 1;
    assert_non_null(shadow_problem(&range));
    range = one_region();
    range.region_count = 2;
    assert_string_equal(shadow_problem(&range), "a granule is not a power of two, or a cell is empty");
    range.region_count = 3;
    assert_string_equal(shadow_problem(&range), "a range has one or two regions");
    range = one_region();
    range.regions[0].granule = 12;
    assert_string_equal(shadow_problem(&range), "a granule is not a power of two, or a cell is empty");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_range_manages_its_addresses_and_no_others),
        cmocka_unit_test(the_upper_half_is_real),
        cmocka_unit_test(a_word_has_a_cell),
        cmocka_unit_test(the_shadow_half_limits_the_real_one),
        cmocka_unit_test(a_bit_tells_the_regions_apart),
        cmocka_unit_test(what_makes_no_sense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
