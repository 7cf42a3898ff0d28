/* T1: where may a box start in shared memory?
 *
 * The programming guide asks for 128 bytes, the instruction set's text for 16. Loads and stores put the box at offsets
 * that break one or both. With a swizzle the box should start at a multiple of 256, 512 or 1024 bytes; the loads at
 * other multiples of 128 show whether the pattern then follows the address or the box. The last variant breaks the
 * alignment of the barrier instead. */
#include "box.cuh"

struct Variant {
    const char *name;
    uint32_t offset;
    CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
    uint32_t barrier_offset = 0;
    bool store = false;
};

static const Variant variants[] = {
    {.name = "load, no swizzle, box at +0", .offset = 0},
    {.name = "load, no swizzle, box at +4", .offset = 4},
    {.name = "load, no swizzle, box at +8", .offset = 8},
    {.name = "load, no swizzle, box at +16", .offset = 16},
    {.name = "load, no swizzle, box at +32", .offset = 32},
    {.name = "load, no swizzle, box at +64", .offset = 64},
    {.name = "load, no swizzle, box at +112", .offset = 112},
    {.name = "load, no swizzle, box at +128", .offset = 128},
    {.name = "store, no swizzle, box at +8", .offset = 8, .store = true},
    {.name = "store, no swizzle, box at +16", .offset = 16, .store = true},
    {.name = "store, no swizzle, box at +64", .offset = 64, .store = true},
    {.name = "store, no swizzle, box at +128", .offset = 128, .store = true},
    {.name = "load, swizzle 128B, box at +0", .offset = 0, .swizzle = CU_TENSOR_MAP_SWIZZLE_128B},
    {.name = "load, swizzle 128B, box at +16", .offset = 16, .swizzle = CU_TENSOR_MAP_SWIZZLE_128B},
    {.name = "load, swizzle 128B, box at +64", .offset = 64, .swizzle = CU_TENSOR_MAP_SWIZZLE_128B},
    {.name = "load, swizzle 128B, box at +128", .offset = 128, .swizzle = CU_TENSOR_MAP_SWIZZLE_128B},
    {.name = "load, swizzle 128B, box at +512", .offset = 512, .swizzle = CU_TENSOR_MAP_SWIZZLE_128B},
    {.name = "load, swizzle 64B, box at +16", .offset = 16, .swizzle = CU_TENSOR_MAP_SWIZZLE_64B},
    {.name = "load, swizzle 64B, box at +128", .offset = 128, .swizzle = CU_TENSOR_MAP_SWIZZLE_64B},
    {.name = "load, swizzle 32B, box at +16", .offset = 16, .swizzle = CU_TENSOR_MAP_SWIZZLE_32B},
    {.name = "load, swizzle 32B, box at +128", .offset = 128, .swizzle = CU_TENSOR_MAP_SWIZZLE_32B},
    {.name = "load, no swizzle, box at +0, barrier at +4", .offset = 0, .barrier_offset = 4},
};

constexpr uint32_t columns = 64, rows = 64;

static MapShape shape_of(const Variant &variant) {
    uint32_t width = box_columns(variant.swizzle);
    return {.columns = columns,
            .rows = rows,
            .pitch = columns * 4,
            .box_columns = width,
            .box_rows = box_bytes / 4 / width,
            .swizzle = variant.swizzle};
}

static void run_load(const Variant &variant) {
    std::vector<uint32_t> tensor(columns * rows), box;
    for (uint32_t i = 0; i < tensor.size(); i++)
        tensor[i] = 1 + i;
    MapShape shape = shape_of(variant);
    for (uint32_t i = 0; i < box_bytes / 4; i++)
        box.push_back(tensor[i / shape.box_columns * columns + i % shape.box_columns]);
    uint32_t *memory = device_array<uint32_t>(tensor.size());
    to_device(memory, tensor);
    LoadResult seen = load_box_from(encode_map(memory, shape), {.column = 0,
                                                                .row = 0,
                                                                .box_offset = variant.offset,
                                                                .barrier_offset = variant.barrier_offset,
                                                                .expected_bytes = box_bytes});
    report_landing(seen, box, variant.offset, variant.swizzle);
}

static void run_store(const Variant &variant) {
    uint32_t *memory = device_array<uint32_t>(columns * rows);
    MapShape shape = shape_of(variant);
    store_box<<<1, box_threads>>>(encode_map(memory, shape),
                                  {.column = 0, .row = 0, .box_offset = variant.offset, .add = false});
    finish_kernel();
    std::vector<uint32_t> tensor = from_device(memory, columns * rows);
    if (tensor[0] == 0)
        saw("WRONG: nothing was written");
    uint32_t from = (tensor[0] - first_word) * 4;
    unsigned in_step = 0;
    for (uint32_t i = 0; i < box_bytes / 4; i++)
        in_step += tensor[i / shape.box_columns * columns + i % shape.box_columns] == tensor[0] + i;
    if (in_step == box_bytes / 4)
        saw("%s: all %u words were read from +%u", from == variant.offset ? "fine" : "WRONG", in_step, from);
    saw("WRONG: the first word was read from +%u, %u of %u words follow it", from, in_step, box_bytes / 4);
}

static void run(const Variant &variant) {
    if (variant.store)
        run_store(variant);
    else
        run_load(variant);
}

int main() {
    return run_each("T1", "where may a box start in shared memory?", variants, run);
}
