/* Cells of lines, natively: what the short way does with one is what is done with any cell, and how often a reader may
 * take another one's place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define CELLS_COMPACT 1
#include "device/lines.h"

static uint32_t drawn(uint32_t *seed, uint32_t below) {
    *seed = *seed * 1664525 + 1013904223;
    return (*seed >> 8) % below;
}

enum { SITES = 4, EPOCHS = 6, RANK = 2 };

static View some_view(const Here *here, uint32_t *seed, bool flat) {
    if (flat)
        return view_flat(here, drawn(seed, 12), 0);
    uint32_t begun = drawn(seed, 3), epoch = begun + drawn(seed, 3);
    View view = {.here = here, .site_bits = SITES, .epoch_bits = EPOCHS, .words = {epoch | (uint64_t)begun << 32, 0}};
    view_settle(&view, drawn(seed, 12));
    return view;
}

/* Of this CTA, of an earlier one of its slot, or of another one. */
static uint32_t some_access(uint32_t *seed, bool flat) {
    uint32_t actor = 1 + drawn(seed, 4), epoch = 1 + drawn(seed, 5);
    return (flat ? actor : actor << EPOCHS | epoch) << SITES | drawn(seed, 12);
}

static void a_read_changes_a_line_as_any_cell(void **state) {
    (void)state;
    uint32_t seed = 1, changed = 0;
    for (uint32_t i = 0; i < 200000; i++) {
        bool flat = i & 1;
        Here here = {.who = 2, .form = shadow_form(1, SITES, flat ? 0 : EPOCHS) | RANK << 24};
        View view = some_view(&here, &seed, flat);
        uint32_t written = drawn(&seed, 2), readers = drawn(&seed, 3), key = drawn(&seed, 1000);
        Compact cell = {written ? some_access(&seed, flat) : 0,
                        {readers ? some_access(&seed, flat) : 0, readers > 1 ? some_access(&seed, flat) : 0},
                        (written ? COMPACT_ALL : 0) | (readers ? (uint32_t)COMPACT_ALL << 16 : 0)};
        Compact line = cell;
        bool changes = compact_record_read(&cell, &view, COMPACT_ALL, key);
        assert_int_equal(line_record_read(&line, &view, key), changes);
        assert_memory_equal(&line, &cell, sizeof cell);
        changed += changes;
    }
    assert_in_range(changed, 20000, 180000);
}

static void a_write_changes_a_line_as_any_cell(void **state) {
    (void)state;
    uint32_t seed = 1;
    for (uint32_t i = 0; i < 1000; i++) {
        Here here = {.who = 2, .form = shadow_form(1, SITES, EPOCHS)};
        View view = some_view(&here, &seed, false);
        Compact cell = {some_access(&seed, false), {some_access(&seed, false), 0}, COMPACT_ALL * 0x10001u}, line = cell;
        compact_record_write(&cell, &view, COMPACT_ALL);
        line_record_write(&line, &view);
        assert_memory_equal(&line, &cell, sizeof cell);
    }
}

/* Of 4,096 CTAs that read a line 8 to 16 may take a place in its cell, whether they have slots or not. */
static void few_of_all_ctas_take_a_place(void **state) {
    (void)state;
    assert_int_equal(shadow_split(1, 4097, 4096, 9, false) >> 24, 9);
    assert_int_equal(shadow_split(1, 132, 4096, 9, true) >> 24, 9);
    assert_int_equal(shadow_split(1, 132, 132, 9, true) >> 24, 4);
    assert_int_equal(shadow_split(1, 8, 8, 9, true) >> 24, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_read_changes_a_line_as_any_cell),
        cmocka_unit_test(a_write_changes_a_line_as_any_cell),
        cmocka_unit_test(few_of_all_ctas_take_a_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
