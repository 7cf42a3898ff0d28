/* T8: what does a tensor store do with a negative start coordinate?
 *
 * The instruction set allows them for loads only. The map covers the middle third of an allocation, so that words which
 * leave the tensor show up beside it. Boxes that leave the tensor at its far end are allowed and stand for comparison.
 */
#include "box.cuh"

struct Variant {
    const char *name;
    int column, row;
    bool add = false;
};

static const Variant variants[] = {
    {.name = "store at (0, 0)", .column = 0, .row = 0},
    {.name = "store at (-1, 0)", .column = -1, .row = 0},
    {.name = "store at (-4, 0)", .column = -4, .row = 0},
    {.name = "store at (-16, 0)", .column = -16, .row = 0},
    {.name = "store at (0, -4)", .column = 0, .row = -4},
    {.name = "store at (-16, -4)", .column = -16, .row = -4},
    {.name = "store at (-32, 0), wholly outside", .column = -32, .row = 0},
    {.name = "store at (48, 0), far end", .column = 48, .row = 0},
    {.name = "store at (0, 60), far end", .column = 0, .row = 60},
    {.name = "store at (64, 0), wholly outside", .column = 64, .row = 0},
    {.name = "add at (-16, -4)", .column = -16, .row = -4, .add = true},
};

constexpr int columns = 64, rows = 64;
constexpr int wide = 32, high = 8; /* the box */
constexpr int tensor_words = columns * rows;

/* What belongs at a place of the tensor when words outside it are dropped. */
static uint32_t wanted(const Variant &variant, int column, int row) {
    int box_column = column - variant.column, box_row = row - variant.row;
    bool in_box = box_column >= 0 && box_column < wide && box_row >= 0 && box_row < high;
    return in_box ? first_word + box_row * wide + box_column : 0;
}

static void report_words(const Variant &variant, const std::vector<uint32_t> &words) {
    unsigned right = 0, inside = 0, other = 0, beside = 0;
    for (int i = 0; i < 3 * tensor_words; i++) {
        int place = i - tensor_words;
        bool in_tensor = place >= 0 && place < tensor_words;
        uint32_t want = in_tensor ? wanted(variant, place % columns, place / columns) : 0;
        inside += want != 0;
        right += want != 0 && words[i] == want;
        other += in_tensor && want == 0 && words[i] != 0;
        beside += !in_tensor && words[i] != 0;
    }
    bool clipped = right == inside && other == 0 && beside == 0;
    saw("%s: %u of %u words inside are right, %u other words of the tensor and %u beside it changed",
        clipped ? "clipped" : "WRONG", right, inside, other, beside);
}

static void run(const Variant &variant) {
    uint32_t *memory = device_array<uint32_t>(3 * tensor_words);
    CUtensorMap map =
        encode_map(memory + tensor_words,
                   {.columns = columns, .rows = rows, .pitch = columns * 4, .box_columns = wide, .box_rows = high});
    store_box<<<1, box_threads>>>(map,
                                  {.column = variant.column, .row = variant.row, .box_offset = 0, .add = variant.add});
    finish_kernel();
    report_words(variant, from_device(memory, 3 * tensor_words));
}

int main() {
    return run_each("T8", "what does a tensor store do with a negative start coordinate?", variants, run);
}
