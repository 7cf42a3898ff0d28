/* Layouts, against formulas for the address of an element that are written here a second time, from the encodings'
 * own descriptions. */
#include "reading.h"

#include "model/layout/layout.h"

/* A function with one allocation of each type, after the aliases. */
static Reading *read_allocations(const char *aliases, const char *const *types, unsigned count) {
    Text text = {0};
    text_addf(&text, "%s\n#smem = #ttg.shared_memory\ntt.func @f() {\n", aliases);
    for (unsigned i = 0; i < count; i++) {
        bool tensor = strstr(types[i], "ttng.tensor_memory") != NULL;
        text_addf(&text, "  %%%u = %s : () -> !ttg.memdesc<%s>\n", i, tensor ? "ttng.tmem_alloc" : "ttg.local_alloc",
                  types[i]);
    }
    text_addf(&text, "  tt.return\n}\n");
    text_char(&text, 0);
    Reading *reading = read_good(text.data);
    text_free(&text);
    return reading;
}

static Reading *read_allocation(const char *aliases, const char *type) {
    return read_allocations(aliases, &type, 1);
}

static Layout *layout_at(Reading *reading, unsigned index) {
    Op *op = first_op(reading)->regions[0].first->first;
    while (index--)
        op = op->next;
    Layout *layout = layout_of(&reading->module, op->results[0].type);
    assert_non_null(layout);
    return layout;
}

typedef uint32_t PlaceOf(int64_t row, int64_t column);

static void assert_places(const char *encoding, const char *type, PlaceOf *expected) {
    Reading *reading = read_allocation(encoding, type);
    const Layout *layout = layout_at(reading, 0);
    assert_true(layout->known);
    assert_int_equal(layout->rank, 2);
    for (int64_t row = 0; row < layout->shape[0]; row++)
        for (int64_t column = 0; column < layout->shape[1]; column++)
            assert_int_equal(layout_place(layout, (int64_t[]){row, column}), expected(row, column));
    done(reading);
}

/* ---- Swizzled ---------------------------------------------------------------------------------- */

static uint32_t swizzled_8_2_4(int64_t row, int64_t column) { /* 64 columns */
    return (uint32_t)(row * 64 + (column ^ 8 * (row / 2 % 4)));
}

static uint32_t swizzled_columns_first(int64_t row, int64_t column) { /* 32 rows; rows are the fast dimension */
    return (uint32_t)(column * 32 + (row ^ 4 * (column / 1 % 8) % 32));
}

static uint32_t rotating_2_2_4(int64_t row, int64_t column) {
    int64_t phase = row / 2 % 4 ^ row / 2 / 4 % 4;
    return (uint32_t)(row * 64 + (column ^ 2 * phase));
}

static void swizzled_rows_are_xored_with_their_phase(void **state) {
    (void)state;
    assert_places("#e = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>",
                  "32x64xf16, #e, #smem, mutable", swizzled_8_2_4);
    assert_places("#e = #ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 8, order = [0, 1]}>",
                  "32x16xf32, #e, #smem, mutable", swizzled_columns_first);
    assert_places("#e = #ttg.amd_rotating_shared<{vec = 2, perPhase = 2, maxPhase = 4, order = [1, 0]}>",
                  "64x64xf16, #e, #smem, mutable", rotating_2_2_4);
    /* as release 3.2 wrote it, with the keys for CTAs that it had */
    assert_places("#e = #triton_gpu.shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0], CTAsPerCGA = [1, 1], "
                  "CTASplitNum = [1, 1], CTAOrder = [1, 0], hasLeadingOffset = false}>",
                  "32x64xf16, #e, #smem, mutable", swizzled_8_2_4);
    /* written in place, and with no spaces where they can be left out */
    assert_places("", "32x64xf16, #ttg.swizzled_shared<{vec=8, perPhase=2, maxPhase=4, order=[1,0]}>, #smem, mutable",
                  swizzled_8_2_4);
}

static void swizzled_with_three_dimensions_swizzles_the_first_two_of_its_order(void **state) {
    (void)state;
    Reading *reading =
        read_allocation("#e = #ttg.swizzled_shared<{vec = 2, perPhase = 2, maxPhase = 4, order = [2, 0, 1]}>",
                        "8x4x16xf16, #e, #smem, mutable");
    const Layout *layout = layout_at(reading, 0);
    for (int64_t i = 0; i < 8; i++)
        for (int64_t j = 0; j < 4; j++)
            for (int64_t k = 0; k < 16; k++)
                assert_int_equal(layout_place(layout, (int64_t[]){i, j, k}),
                                 j * 8 * 16 + i * 16 + (k ^ 2 * (i / 2 % 4)));
    done(reading);
}

/* ---- nvmma ------------------------------------------------------------------------------------- */

/* Element (row, column) of a panel of `width` bytes and elements of `element` bytes: its 16-byte pieces are XORed with
 * the number of the 128-byte line, as the TMA unit does it on byte addresses. */
static uint32_t panel(int64_t row, int64_t column, int64_t width, int64_t element) {
    int64_t byte = row * width + column * element;
    int64_t line = byte / 128 % 8;
    int64_t mask = width / 16 - 1;
    return (uint32_t)((byte ^ (line & mask) << 4) / element);
}

static uint32_t nvmma_128_f16(int64_t row, int64_t column) { /* 128 rows: the next 64 columns are 16384 bytes on */
    return (uint32_t)(column / 64 * (16384 / 2)) + panel(row, column % 64, 128, 2);
}

static uint32_t nvmma_128_transposed(int64_t row, int64_t column) { /* 128 columns take the rows' part */
    return (uint32_t)(row / 64 * (128 * 64)) + panel(column, row % 64, 128, 2);
}

static uint32_t nvmma_64_f8(int64_t row, int64_t column) {
    return (uint32_t)(column / 64 * (32 * 64)) + panel(row, column % 64, 64, 1);
}

static uint32_t nvmma_32_f32(int64_t row, int64_t column) {
    return (uint32_t)(column / 8 * (64 * 8)) + panel(row, column % 8, 32, 4);
}

/* 512 rows are two boxes of 256; the lower box of a column of panels stands before the next column. */
static uint32_t nvmma_512_rows(int64_t row, int64_t column) {
    return (uint32_t)(row / 256 * (256 * 64) + column / 64 * (512 * 64)) + panel(row % 256, column % 64, 128, 2);
}

static uint32_t plain(int64_t row, int64_t column) { /* 64 columns */
    return (uint32_t)(row * 64 + column);
}

static uint32_t plain_boxes(int64_t row, int64_t column) { /* 8 rows of 512 columns: boxes of 256 */
    return (uint32_t)(column / 256 * (8 * 256) + row * 256 + column % 256);
}

/* Eight elements, then eight bytes that hold none; the 128 bytes of a line are 64 elements. */
static uint32_t nvmma_fp4(int64_t row, int64_t column) {
    int64_t padded = column % 64 / 8 * 16 + column % 8;
    return (uint32_t)(column / 64 * (32 * 128)) + panel(row, padded, 128, 1);
}

static void nvmma_is_made_of_panels(void **state) {
    (void)state;
    assert_places("#e = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>",
                  "128x128xf16, #e, #smem, mutable", nvmma_128_f16);
    assert_places("#e = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>",
                  "128x128xf16, #e, #smem, mutable", nvmma_128_transposed);
    assert_places("#e = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 8}>",
                  "32x256xf8E4M3FN, #e, #smem, mutable", nvmma_64_f8);
    assert_places("#e = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 32}>",
                  "64x32xf32, #e, #smem, mutable", nvmma_32_f32);
    assert_places("#e = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>",
                  "512x128xf16, #e, #smem, mutable", nvmma_512_rows);
    assert_places("#e = #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 16}>",
                  "32x64xf16, #e, #smem, mutable", plain);
    assert_places("#e = #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 8}>",
                  "8x512xi8, #e, #smem, mutable", plain_boxes);
    assert_places("#e = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8, "
                  "fp4Padded = true}>",
                  "32x128xi8, #e, #smem, mutable", nvmma_fp4);
    /* as release 3.2 wrote it */
    assert_places("#e = #triton_gpu.shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0], hasLeadingOffset = "
                  "true}>",
                  "128x128xf16, #e, #smem, mutable", nvmma_128_f16);
}

static void nvmma_collapses_the_outer_dimensions(void **state) {
    (void)state;
    Reading *reading = read_allocation("#e = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, "
                                       "elementBitWidth = 16, rank = 3}>",
                                       "4x8x64xf16, #e, #smem, mutable");
    const Layout *layout = layout_at(reading, 0);
    assert_true(layout->known);
    for (int64_t i = 0; i < 4; i++)
        for (int64_t j = 0; j < 8; j++)
            for (int64_t k = 0; k < 64; k++)
                assert_int_equal(layout_place(layout, (int64_t[]){i, j, k}), panel(i * 8 + j, k, 128, 2));
    done(reading);
}

/* ---- Linear and padded ------------------------------------------------------------------------- */

static uint32_t linear_place(int64_t row, int64_t column) {
    /* offset bits: column 0, row 1 with column 1, column 1, row 0; so row 1 alone takes bits 1 and 2 */
    uint32_t place = 0;
    place ^= column & 1 ? 1 : 0;
    place ^= column & 2 ? 4 : 0;
    place ^= row & 1 ? 8 : 0;
    place ^= row & 2 ? 2 ^ 4 : 0;
    return place;
}

static void shared_linear_is_inverted(void **state) {
    (void)state;
    assert_places("#e = #ttg.shared_linear<{offset = [[0, 1], [2, 2], [0, 2], [1, 0]]}, alignment = 16>",
                  "4x4xf32, #e, #smem, mutable", linear_place);
}

static void padding_is_added_to_the_place(void **state) {
    (void)state;
    Reading *reading = read_allocation("#e = #ttg.padded_shared<[32:+4, 128:+8] {order = [1, 0], shape = [16, 32]}>",
                                       "2x16x32xf16, #e, #smem, mutable");
    const Layout *layout = layout_at(reading, 0);
    assert_true(layout->known);
    assert_int_equal(layout->stages, 2);
    for (int64_t byte = 0; byte < 1024; byte += 2) {
        int64_t element = byte / 2;
        assert_int_equal(layout_pad(layout, byte), 2 * (element + element / 32 * 4 + element / 128 * 8));
    }
    assert_int_equal(layout_stage_stride(layout), 2 * (512 + 16 * 4 + 4 * 8));
    done(reading);
}

static void padding_that_does_not_divide_a_stage_has_no_stride(void **state) {
    (void)state;
    Reading *reading = read_allocation("#e = #ttg.padded_shared<[256:+8] {order = [1, 0], shape = [4, 32]}>",
                                       "3x4x32xf16, #e, #smem, mutable");
    assert_int_equal(layout_stage_stride(layout_at(reading, 0)), -1);
    done(reading);
}

/* ---- Between CTAs ------------------------------------------------------------------------------ */

static void a_dimension_is_cut_between_ctas(void **state) {
    (void)state;
    static const char *const types[] = {"256x64xf16, #new, #smem, mutable", "256x64xf16, #old, #smem, mutable",
                                        "256x64xf16, #both, #smem, mutable"};
    Reading *reading = read_allocations(
        "#new = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0], CGALayout = [[1, 0]]}>\n"
        "#old = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0], CTAsPerCGA = [2, 1], "
        "CTASplitNum = [2, 1], CTAOrder = [1, 0]}>\n"
        "#both = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0], CGALayout = [[0, 0]]}>",
        types, 3);
    for (unsigned i = 0; i < 2; i++) {
        const Layout *layout = layout_at(reading, i);
        assert_int_equal(layout->stage_elements, 128 * 64);
        for (int64_t row = 0; row < 256; row++)
            assert_int_equal(layout_place(layout, (int64_t[]){row, 5}), swizzled_8_2_4(row % 128, 5));
    }
    assert_int_equal(layout_at(reading, 2)->stage_elements, 256 * 64); /* each CTA has a copy */
    done(reading);
}

/* ---- Tensor memory ----------------------------------------------------------------------------- */

static uint32_t rows_and_columns(int64_t row, int64_t column) {
    return (uint32_t)(row << 16 | column);
}

static uint32_t spread_columns(int64_t row, int64_t column) {
    return (uint32_t)(row << 16 | column * 2);
}

static uint32_t second_block_right(int64_t row, int64_t column) { /* 256 rows, 64 columns */
    return (uint32_t)(row % 128 << 16 | (row / 128 * 64 + column));
}

static int64_t sixteen_of_each_quarter(int64_t row) {
    return row / 16 * 32 + row % 16;
}

static uint32_t half_rows(int64_t row, int64_t column) {
    return (uint32_t)(sixteen_of_each_quarter(row) << 16 | column);
}

static uint32_t half_rows_more_columns(int64_t row, int64_t column) { /* blocks of 32 columns */
    int64_t block = column / 32;
    return (uint32_t)((sixteen_of_each_quarter(row) + block % 2 * 16) << 16 | (block / 2 * 32 + column % 32));
}

static uint32_t half_rows_more_rows(int64_t row, int64_t column) { /* 128 rows */
    return (uint32_t)((sixteen_of_each_quarter(row % 64) + row / 64 * 16) << 16 | column);
}

static uint32_t pair_of_ctas(int64_t row, int64_t column) { /* blocks of 64 columns, the upper half below the lower */
    return (uint32_t)((row + column / 32 * 64) << 16 | column % 32);
}

static uint32_t scales(int64_t row, int64_t column) { /* 256 rows, 8 along K */
    return (uint32_t)(row % 32 << 16 | (column / 4 * 32 + row / 32 * 4 + column % 4));
}

static uint32_t scales_k_first(int64_t row, int64_t column) {
    return (uint32_t)(row % 32 << 16 | (row / 128 * 32 + column / 4 * 16 + row / 32 % 4 * 4 + column % 4));
}

static void tensor_memory_has_rows_and_columns(void **state) {
    (void)state;
    assert_places("#e = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>",
                  "128x128xf32, #e, #ttng.tensor_memory, mutable", rows_and_columns);
    assert_places("#e = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 2>",
                  "128x64xf16, #e, #ttng.tensor_memory, mutable", spread_columns);
    assert_places("#e = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, unpacked = true>",
                  "128x64xf16, #e, #ttng.tensor_memory, mutable", spread_columns);
    assert_places("#e = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1, fp4Padded = true>",
                  "128x64xi8, #e, #ttng.tensor_memory, mutable", spread_columns);
    assert_places("#e = #ttng.tensor_memory_encoding<blockM = 128, blockN = 64, colStride = 1>",
                  "256x64xf32, #e, #ttng.tensor_memory, mutable", second_block_right);
}

static void tiles_of_64_rows_leave_room_for_another(void **state) {
    (void)state;
    assert_places("#e = #ttng.tensor_memory_encoding<blockM = 64, blockN = 64, colStride = 1>",
                  "64x64xf32, #e, #ttng.tensor_memory, mutable", half_rows);
    assert_places("#e = #ttng.tensor_memory_encoding<blockM = 64, blockN = 32, colStride = 1>",
                  "64x128xf32, #e, #ttng.tensor_memory, mutable", half_rows_more_columns);
    assert_places("#e = #ttng.tensor_memory_encoding<blockM = 64, blockN = 64, colStride = 1>",
                  "128x64xf32, #e, #ttng.tensor_memory, mutable", half_rows_more_rows);
    assert_places("#e = #ttng.tensor_memory_encoding<blockM = 64, blockN = 64, colStride = 1, twoCTAs = true>",
                  "64x64xf32, #e, #ttng.tensor_memory, mutable", pair_of_ctas);
}

static void scales_are_packed_four_to_a_word(void **state) {
    (void)state;
    assert_places("#e = #ttng.tensor_memory_scales_encoding<>", "256x8xi8, #e, #ttng.tensor_memory, mutable", scales);
    assert_places("#e = #ttng.tensor_memory_scales_encoding<blockRepOrder = kThenMn>",
                  "256x8xi8, #e, #ttng.tensor_memory, mutable", scales_k_first);
    Reading *reading =
        read_allocation("#e = #ttng.tensor_memory_scales_encoding<>", "256x8xi8, #e, #ttng.tensor_memory, mutable");
    assert_int_equal(layout_at(reading, 0)->rows, 128); /* the same in each quarter */
    assert_int_equal(layout_at(reading, 0)->stage_elements, 16);
    done(reading);
}

/* ---- What is not understood -------------------------------------------------------------------- */

static void an_encoding_that_is_not_understood_still_has_a_size(void **state) {
    (void)state;
    static const char *const types[] = {
        "64x32xf16, #parted, #smem, mutable",     /* its parts have an offset each */
        "64x32xf16, #wrong, #smem, mutable",      /* a phase that is not linear */
        "64x32xf16, #narrow, #smem, mutable",     /* rows shorter than the swizzle */
        "64x32xf16, #missing, #smem, mutable",    /* of no known dialect */
        "64x32xf16, #open, #smem, mutable",       /* bases that do not reach every element */
        "16x32xf16, #shape, #smem, mutable",      /* padded for another shape */
        "64x32xf16, #bare, #smem, mutable",       /* no fields at all */
        "128x64xf32, #bare, #ttng.tensor_memory", /* a shared encoding for tensor memory */
    };
    Reading *reading = read_allocations(
        "#inner = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>\n"
        "#parted = #ttg.partitioned_shared<{numPartitions = 2, numGroups = 2, partitionDim = 0, partitionLayout = "
        "#inner}>\n"
        "#wrong = #ttg.swizzled_shared<{vec = 3, perPhase = 1, maxPhase = 4, order = [1, 0]}>\n"
        "#narrow = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>\n"
        "#missing = #dialect.encoding\n"
        "#open = #ttg.shared_linear<{offset = [[0, 1], [1, 0]]}, alignment = 16>\n"
        "#shape = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [64, 32]}>\n"
        "#bare = #ttg.swizzled_shared",
        types, sizeof types / sizeof *types);
    for (unsigned i = 0; i < sizeof types / sizeof *types; i++) {
        const Layout *layout = layout_at(reading, i);
        assert_false(layout->known);
        assert_true(layout->sized);
        assert_int_equal(layout->stage_elements, i == 5 ? 512 : i == 7 ? 64 : 2048);
    }
    done(reading);
}

static void a_layout_is_made_once(void **state) {
    (void)state;
    static const char *const types[] = {
        "32x64xf16, #e, #smem, mutable",
        "32x64xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, #smem, mutable",
        "64x64xf16, #e, #smem, mutable"};
    Reading *reading =
        read_allocations("#e = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>", types, 3);
    assert_ptr_equal(layout_at(reading, 0), layout_at(reading, 0));
    assert_ptr_equal(layout_at(reading, 0), layout_at(reading, 1));
    assert_ptr_not_equal(layout_at(reading, 0), layout_at(reading, 2));
    assert_null(layout_of(&reading->module, type_named(&reading->module, "i32")));
    assert_null(layout_of(&reading->module, NULL));
    done(reading);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(swizzled_rows_are_xored_with_their_phase),
        cmocka_unit_test(swizzled_with_three_dimensions_swizzles_the_first_two_of_its_order),
        cmocka_unit_test(nvmma_is_made_of_panels),
        cmocka_unit_test(nvmma_collapses_the_outer_dimensions),
        cmocka_unit_test(shared_linear_is_inverted),
        cmocka_unit_test(padding_is_added_to_the_place),
        cmocka_unit_test(padding_that_does_not_divide_a_stage_has_no_stride),
        cmocka_unit_test(a_dimension_is_cut_between_ctas),
        cmocka_unit_test(tensor_memory_has_rows_and_columns),
        cmocka_unit_test(tiles_of_64_rows_leave_room_for_another),
        cmocka_unit_test(scales_are_packed_four_to_a_word),
        cmocka_unit_test(an_encoding_that_is_not_understood_still_has_a_size),
        cmocka_unit_test(a_layout_is_made_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
