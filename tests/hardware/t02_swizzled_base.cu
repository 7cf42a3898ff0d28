/* T2: must the tensor of a swizzled map start at a multiple of 128 bytes in global memory?
 *
 * The programming guide says so, the driver only asks for 16. The variants move the tensor's start; one keeps the start
 * and gives the rows a pitch that is no multiple of 128. */
#include "box.cuh"

struct Variant {
    const char *name;
    uint32_t base;
    CUtensorMapSwizzle swizzle;
    uint32_t pitch = 256;
};

static const Variant variants[] = {
    {.name = "no swizzle, tensor at +8", .base = 8, .swizzle = CU_TENSOR_MAP_SWIZZLE_NONE},
    {.name = "no swizzle, tensor at +16", .base = 16, .swizzle = CU_TENSOR_MAP_SWIZZLE_NONE},
    {.name = "swizzle 128B, tensor at +0", .base = 0, .swizzle = CU_TENSOR_MAP_SWIZZLE_128B},
    {.name = "swizzle 128B, tensor at +8", .base = 8, .swizzle = CU_TENSOR_MAP_SWIZZLE_128B},
    {.name = "swizzle 128B, tensor at +16", .base = 16, .swizzle = CU_TENSOR_MAP_SWIZZLE_128B},
    {.name = "swizzle 128B, tensor at +32", .base = 32, .swizzle = CU_TENSOR_MAP_SWIZZLE_128B},
    {.name = "swizzle 128B, tensor at +64", .base = 64, .swizzle = CU_TENSOR_MAP_SWIZZLE_128B},
    {.name = "swizzle 128B, tensor at +128", .base = 128, .swizzle = CU_TENSOR_MAP_SWIZZLE_128B},
    {.name = "swizzle 64B, tensor at +16", .base = 16, .swizzle = CU_TENSOR_MAP_SWIZZLE_64B},
    {.name = "swizzle 32B, tensor at +16", .base = 16, .swizzle = CU_TENSOR_MAP_SWIZZLE_32B},
    {.name = "swizzle 128B, tensor at +0, rows 272 bytes apart",
     .base = 0,
     .swizzle = CU_TENSOR_MAP_SWIZZLE_128B,
     .pitch = 272},
};

constexpr uint32_t rows = 64;

static void run(const Variant &variant) {
    uint32_t pitch_words = variant.pitch / 4, width = box_columns(variant.swizzle);
    std::vector<uint32_t> memory_words(variant.base / 4 + pitch_words * rows), box;
    for (uint32_t i = 0; i < memory_words.size(); i++)
        memory_words[i] = 1 + i;
    for (uint32_t i = 0; i < box_bytes / 4; i++)
        box.push_back(memory_words[variant.base / 4 + i / width * pitch_words + i % width]);
    uint32_t *memory = device_array<uint32_t>(memory_words.size());
    to_device(memory, memory_words);
    CUtensorMap map = encode_map(memory + variant.base / 4, {.columns = 64,
                                                             .rows = rows,
                                                             .pitch = variant.pitch,
                                                             .box_columns = width,
                                                             .box_rows = box_bytes / 4 / width,
                                                             .swizzle = variant.swizzle});
    LoadResult seen =
        load_box_from(map, {.column = 0, .row = 0, .box_offset = 0, .barrier_offset = 0, .expected_bytes = box_bytes});
    report_landing(seen, box, 0, variant.swizzle);
}

int main() {
    return run_each("T2", "must the tensor of a swizzled map start at a multiple of 128 bytes?", variants, run);
}
