/* T9: do the words that a load fills in outside the tensor count as delivered bytes?
 *
 * Boxes lie partly or wholly outside. The barrier expects the whole box, or only the bytes inside; the first must
 * complete if filled words count, the second if they do not. */
#include "box.cuh"

struct Variant {
    const char *name;
    int column, row;
    bool expects_inside = false; /* only the bytes inside the tensor */
    bool fills_nan = false;
    int columns = 64;
};

static const Variant variants[] = {
    {.name = "load at (0, 0)", .column = 0, .row = 0},
    {.name = "load at (48, 0), expects the whole box", .column = 48, .row = 0},
    {.name = "load at (48, 0), expects the bytes inside", .column = 48, .row = 0, .expects_inside = true},
    {.name = "load at (0, 60), expects the whole box", .column = 0, .row = 60},
    {.name = "load at (0, 60), expects the bytes inside", .column = 0, .row = 60, .expects_inside = true},
    {.name = "load at (32, 0) of 61 columns, expects the whole box", .column = 32, .row = 0, .columns = 61},
    {.name = "load at (-16, -4), expects the whole box", .column = -16, .row = -4},
    {.name = "load at (64, 0), wholly outside, expects the whole box", .column = 64, .row = 0},
    {.name = "load at (64, 0), wholly outside, expects nothing", .column = 64, .row = 0, .expects_inside = true},
    {.name = "load at (1000000, 1000000), expects the whole box", .column = 1000000, .row = 1000000},
    {.name = "load at (48, 0), NaN fill, expects the whole box", .column = 48, .row = 0, .fills_nan = true},
};

constexpr int pitch_words = 64, rows = 64;
constexpr int wide = 32, high = 8; /* the box */

static bool is_inside(const Variant &variant, int i) {
    int column = variant.column + i % wide, row = variant.row + i / wide;
    return column >= 0 && column < variant.columns && row >= 0 && row < rows;
}

static uint32_t word_at(const Variant &variant, int i) {
    return 1 + (variant.row + i / wide) * pitch_words + variant.column + i % wide;
}

static bool is_fill(const Variant &variant, uint32_t word) {
    return variant.fills_nan ? (word & 0x7f800000) == 0x7f800000 && (word & 0x007fffff) != 0 : word == 0;
}

static void report_words(const Variant &variant, const LoadResult &seen, unsigned inside) {
    unsigned right = 0, filled = 0;
    for (int i = 0; i < wide * high; i++) {
        if (is_inside(variant, i))
            right += seen.area[i] == word_at(variant, i);
        else
            filled += is_fill(variant, seen.area[i]);
    }
    saw("%s after %u clocks: %u of %u words inside are right, %u of %u outside are filled with %s",
        seen.completed ? "completes" : "HANGS", seen.clocks, right, inside, filled, wide * high - inside,
        variant.fills_nan ? "NaN" : "zero");
}

static void run(const Variant &variant) {
    std::vector<uint32_t> tensor(pitch_words * rows);
    for (uint32_t i = 0; i < tensor.size(); i++)
        tensor[i] = 1 + i;
    uint32_t *memory = device_array<uint32_t>(tensor.size());
    to_device(memory, tensor);
    CUtensorMap map = encode_map(
        memory, {.columns = static_cast<uint64_t>(variant.columns),
                 .rows = rows,
                 .pitch = pitch_words * 4,
                 .box_columns = wide,
                 .box_rows = high,
                 .type = variant.fills_nan ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32 : CU_TENSOR_MAP_DATA_TYPE_UINT32,
                 .fill = variant.fills_nan ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
                                           : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE});
    unsigned inside = 0;
    for (int i = 0; i < wide * high; i++)
        inside += is_inside(variant, i);
    LoadResult seen = load_box_from(map, {.column = variant.column,
                                          .row = variant.row,
                                          .box_offset = 0,
                                          .barrier_offset = 0,
                                          .expected_bytes = variant.expects_inside ? inside * 4 : box_bytes});
    report_words(variant, seen, inside);
}

int main() {
    return run_each("T9", "do words that are filled in outside the tensor count as delivered bytes?", variants, run);
}
