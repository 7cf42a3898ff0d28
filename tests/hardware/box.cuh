/* One box of a tensor between global memory and a known place in shared memory: shared by the tests of alignment and of
 * boxes that leave the tensor.
 *
 * A load fills an area of shared memory with a sentinel, loads the box somewhere into it, and gives back the whole
 * area, so that the host can look for the box wherever it landed. A store takes the box from an area whose words count
 * up, so that each word in global memory tells where it was read. */
#pragma once

#include "common.cuh"

constexpr uint32_t area_bytes = 4096;
constexpr uint32_t area_words = area_bytes / 4;
constexpr uint32_t sentinel = 0xabababab;
constexpr uint32_t first_word = 0x50000;
constexpr uint32_t box_bytes = 1024;
constexpr int box_threads = 128;

struct LoadRequest {
    int column, row;
    uint32_t box_offset;     /* from a multiple of 1024, bytes */
    uint32_t barrier_offset; /* from a multiple of 8, bytes */
    uint32_t expected_bytes;
};

struct LoadResult {
    uint32_t completed;
    uint32_t clocks;
    uint32_t misplaced_area; /* the compiler did not align the area: the offsets mean nothing */
    uint32_t area[area_words];
};

static __global__ void load_box(const __grid_constant__ CUtensorMap map, LoadRequest request, LoadResult *result) {
    __shared__ alignas(1024) uint32_t area[area_words];
    __shared__ alignas(16) uint64_t barriers[2];
    uint32_t barrier = shared_address(barriers) + request.barrier_offset;
    for (uint32_t i = threadIdx.x; i < area_words; i += box_threads)
        area[i] = sentinel;
    if (threadIdx.x == 0)
        barrier_init(barrier, 1);
    fence_async();
    barriers_ready();
    long long start = clock64();
    if (threadIdx.x == 0) {
        barrier_arrive_expecting(barrier, request.expected_bytes);
        tensor_load(shared_address(area) + request.box_offset, &map, request.column, request.row, barrier);
    }
    bool completed = barrier_wait(barrier, 0);
    uint32_t clocks = static_cast<uint32_t>(clock64() - start);
    spin(1'000'000); /* a copy that is still under way ends before the area is read and the block leaves */
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < area_words; i += box_threads)
        result->area[i] = area[i];
    if (threadIdx.x == 0) {
        result->completed = completed;
        result->clocks = clocks;
        result->misplaced_area = shared_address(area) % 1024 != 0;
    }
}

inline LoadResult load_box_from(const CUtensorMap &map, const LoadRequest &request) {
    LoadResult *result = device_array<LoadResult>(1);
    load_box<<<1, box_threads>>>(map, request, result);
    finish_kernel();
    LoadResult seen = from_device(result, 1)[0];
    if (seen.misplaced_area)
        saw("not run: the area in shared memory is not aligned to 1024 bytes");
    return seen;
}

struct StoreRequest {
    int column, row;
    uint32_t box_offset; /* from a multiple of 1024, bytes */
    bool add;            /* a reduction instead of a store */
};

static __global__ void store_box(const __grid_constant__ CUtensorMap map, StoreRequest request) {
    __shared__ alignas(1024) uint32_t area[area_words];
    for (uint32_t i = threadIdx.x; i < area_words; i += box_threads)
        area[i] = first_word + i;
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        uint32_t from = shared_address(area) + request.box_offset;
        if (request.add)
            tensor_add(&map, request.column, request.row, from);
        else
            tensor_store(&map, request.column, request.row, from);
        bulk_commit();
        bulk_wait();
    }
    __syncthreads();
}

/* ---- where the words of a box lie ---- */

/* A row of the box is as wide as the swizzle allows. */
inline uint32_t box_columns(CUtensorMapSwizzle swizzle) {
    return swizzle == CU_TENSOR_MAP_SWIZZLE_32B ? 8 : swizzle == CU_TENSOR_MAP_SWIZZLE_64B ? 16 : 32;
}

/* The swizzle moves 16-byte pieces inside a row of 32, 64 or 128 bytes by the number of the 128-byte line. */
inline uint32_t swizzled(uint32_t byte, CUtensorMapSwizzle swizzle) {
    uint32_t mask = swizzle == CU_TENSOR_MAP_SWIZZLE_128B  ? 7
                    : swizzle == CU_TENSOR_MAP_SWIZZLE_64B ? 3
                    : swizzle == CU_TENSOR_MAP_SWIZZLE_32B ? 1
                                                           : 0;
    return byte ^ (((byte >> 7) & mask) << 4);
}

/* The hardware may count lines by address, or from the start of the box. */
inline uint32_t word_place(uint32_t landing, uint32_t byte, CUtensorMapSwizzle swizzle, bool by_address) {
    return (by_address ? swizzled(landing + byte, swizzle) : landing + swizzled(byte, swizzle)) / 4;
}

/* How many words of the box are found when it landed there. */
inline unsigned words_found(const LoadResult &seen, const std::vector<uint32_t> &box, uint32_t landing,
                            CUtensorMapSwizzle swizzle, bool by_address) {
    unsigned found = 0;
    for (uint32_t i = 0; i < box.size(); i++) {
        uint32_t place = word_place(landing, 4 * i, swizzle, by_address);
        found += place < area_words && seen.area[place] == box[i];
    }
    return found;
}

/* Reports where a box that was asked for at an offset is, and ends the variant. */
[[noreturn]] inline void report_landing(const LoadResult &seen, const std::vector<uint32_t> &box, uint32_t offset,
                                        CUtensorMapSwizzle swizzle) {
    unsigned total = static_cast<unsigned>(box.size());
    unsigned by_address = words_found(seen, box, offset, swizzle, true);
    unsigned from_box = words_found(seen, box, offset, swizzle, false);
    if (!seen.completed)
        saw("HANG: the wait does not end; %u of %u words are at +%u", max(by_address, from_box), total, offset);
    if (by_address == total && from_box == total)
        saw("fine: all %u words are at +%u", total, offset);
    if (by_address == total)
        saw("by address: all %u words are at +%u with the swizzle of their addresses", total, offset);
    if (from_box == total)
        saw("from the box: all %u words are at +%u with a swizzle that starts there", total, offset);
    uint32_t best_landing = 0;
    unsigned best = 0;
    for (uint32_t landing = 0; landing + 4 * total <= area_bytes; landing += 4) {
        for (bool addressed : {true, false}) {
            unsigned found = words_found(seen, box, landing, swizzle, addressed);
            if (found > best) {
                best = found;
                best_landing = landing;
            }
        }
    }
    saw("WRONG: %u of %u words are at +%u; the best fit is +%u with %u", max(by_address, from_box), total, offset,
        best_landing, best);
}
