/* T5: how often does a copy or a matrix product read old data when the proxy fence is left out?
 *
 * Ordinary stores write a tile, and the copy engine or wgmma reads it. The fence stands where it belongs (each writer,
 * before the synchronization), or only at the issuing thread after the synchronization, or nowhere; it is for all
 * memory, or for one space. The tile gets new values each round, so an old word is a word of an earlier round. In
 * shared memory the tile is written and read by one thread, by a warp, or by the whole block; in global memory by the
 * whole block. */
#include <cuda_fp16.h>

#include "common.cuh"

enum class Fence { writers, writers_shared, writers_global, issuer, none };
enum class Reader { thread_store, warp_store, block_store, block_load, product };

struct Variant {
    const char *name;
    Reader reader;
    Fence fence;
};

static const Variant variants[] = {
    {"shared, thread writes and copies, fence", Reader::thread_store, Fence::writers},
    {"shared, thread writes and copies, NO fence", Reader::thread_store, Fence::none},
    {"shared, warp writes, a lane copies, fence", Reader::warp_store, Fence::writers},
    {"shared, warp writes, a lane copies, fence by that lane", Reader::warp_store, Fence::issuer},
    {"shared, warp writes, a lane copies, NO fence", Reader::warp_store, Fence::none},
    {"shared, block writes, a thread copies, fence", Reader::block_store, Fence::writers},
    {"shared, block writes, a thread copies, fence .shared::cta", Reader::block_store, Fence::writers_shared},
    {"shared, block writes, a thread copies, fence .global", Reader::block_store, Fence::writers_global},
    {"shared, block writes, a thread copies, fence by it", Reader::block_store, Fence::issuer},
    {"shared, block writes, a thread copies, NO fence", Reader::block_store, Fence::none},
    {"global, block writes, a thread copies, fence", Reader::block_load, Fence::writers},
    {"global, block writes, a thread copies, fence .global", Reader::block_load, Fence::writers_global},
    {"global, block writes, a thread copies, fence .shared::cta", Reader::block_load, Fence::writers_shared},
    {"global, block writes, a thread copies, fence by it", Reader::block_load, Fence::issuer},
    {"global, block writes, a thread copies, NO fence", Reader::block_load, Fence::none},
    {"shared, block writes, wgmma reads, fence", Reader::product, Fence::writers},
    {"shared, block writes, wgmma reads, fence .shared::cta", Reader::product, Fence::writers_shared},
    {"shared, block writes, wgmma reads, NO fence", Reader::product, Fence::none},
};

constexpr uint32_t blocks = 132;
constexpr uint32_t rounds = 2000;
constexpr uint32_t threads = 256;
constexpr uint32_t tile_bytes = threads * 16;
constexpr uint32_t tile_words = tile_bytes / 4;

__device__ static uint32_t value_of(uint32_t block, uint32_t round) {
    return 1 + block * rounds + round;
}

template <Fence fence> __device__ static void fence_of_writer() {
    if constexpr (fence == Fence::writers)
        fence_async();
    if constexpr (fence == Fence::writers_shared)
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    if constexpr (fence == Fence::writers_global)
        asm volatile("fence.proxy.async.global;" ::: "memory");
}

/* ---- shared memory, read by a copy to global memory ---- */

/* unit: how many threads write what one thread then copies. */
template <uint32_t unit> __device__ static void synchronize() {
    if constexpr (unit == 32)
        __syncwarp();
    if constexpr (unit == threads)
        __syncthreads();
}

template <uint32_t unit, Fence fence> __global__ static void store_rounds(uint32_t *out) {
    __shared__ alignas(128) uint32_t tile[tile_words];
    uint32_t mine = shared_address(tile) + threadIdx.x * 16;
    for (uint32_t round = 0; round < rounds; round++) {
        store_shared_16(mine, value_of(blockIdx.x, round));
        fence_of_writer<fence>();
        synchronize<unit>();
        if (threadIdx.x % unit == 0) {
            if constexpr (fence == Fence::issuer)
                fence_async();
            size_t place = (size_t{blockIdx.x} * rounds + round) * tile_words + threadIdx.x * 4;
            bulk_store(out + place, mine, unit * 16);
            bulk_commit();
            bulk_wait_read();
        }
        synchronize<unit>();
    }
    bulk_wait();
}

__global__ static void count_old_words(const uint32_t *out, unsigned long long *old) {
    unsigned long long found = 0;
    for (uint32_t round = 0; round < rounds; round++) {
        const uint32_t *tile = out + (size_t{blockIdx.x} * rounds + round) * tile_words;
        for (uint32_t i = threadIdx.x; i < tile_words; i += threads)
            found += tile[i] != value_of(blockIdx.x, round);
    }
    atomicAdd(old, found);
}

/* ---- global memory, read by a copy to shared memory ---- */

template <Fence fence> __global__ static void load_rounds(uint32_t *scratch, unsigned long long *old, uint32_t *hung) {
    __shared__ alignas(128) uint32_t tile[tile_words];
    __shared__ uint64_t barriers[1];
    uint32_t barrier = shared_address(barriers), to = shared_address(tile);
    uint32_t *from = scratch + blockIdx.x * tile_words;
    unsigned long long found = 0;
    if (threadIdx.x == 0)
        barrier_init(barrier, 1);
    barriers_ready();
    for (uint32_t round = 0; round < rounds; round++) {
        uint32_t value = value_of(blockIdx.x, round);
        reinterpret_cast<uint4 *>(from)[threadIdx.x] = make_uint4(value, value, value, value);
        fence_of_writer<fence>();
        __syncthreads();
        if (threadIdx.x == 0) {
            if constexpr (fence == Fence::issuer)
                fence_async();
            barrier_arrive_expecting(barrier, tile_bytes);
            bulk_load(to, from, tile_bytes, barrier);
        }
        bool completed = barrier_wait(barrier, round & 1);
        found += differing(load_shared_16(to + threadIdx.x * 16), value);
        fence_async(); /* this read before the next round's copy: not what is tested */
        if (!__syncthreads_and(completed)) {
            *hung = 1;
            break;
        }
    }
    atomicAdd(old, found);
}

/* ---- shared memory, read by wgmma ---- */

constexpr uint32_t group_threads = 128;
constexpr uint32_t left_bytes = 64 * 16 * 2;
constexpr uint32_t right_bytes = 512; /* more than 16 by 8 elements: the strides may be read either way */

/* The bits of two equal elements. */
__device__ static uint32_t twice(float value) {
    return __half_as_ushort(__float2half(value)) * 0x10001u;
}

/* Pieces of 8 rows by 16 bytes: 128 bytes apart along k, 256 along the rows. All elements of an operand are equal, so
 * only its size matters. */
__device__ static uint64_t operand(uint32_t address) {
    return static_cast<uint64_t>(address >> 4) | uint64_t{128 >> 4} << 16 | uint64_t{256 >> 4} << 32;
}

__device__ static void multiply(float (&sums)[4], uint64_t left, uint64_t right) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("{\n"
                 ".reg .pred accumulate;\n"
                 "setp.ne.b32 accumulate, 0, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, accumulate, 1, 1, 0, 0;\n"
                 "}"
                 : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
                 : "l"(left), "l"(right)
                 : "memory");
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;"
                 : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])::"memory");
}

template <Fence fence> __global__ static void product_rounds(unsigned long long *old) {
    __shared__ alignas(128) uint4 left[left_bytes / 16];
    __shared__ alignas(128) uint4 right[right_bytes / 16];
    unsigned long long found = 0;
    if (threadIdx.x < right_bytes / 16)
        store_shared_16(shared_address(right) + threadIdx.x * 16, twice(1));
    uint32_t mine = shared_address(left) + threadIdx.x * 16;
    fence_async();
    __syncthreads();
    for (uint32_t round = 0; round < rounds; round++) {
        float value = 1 + round % 61;
        store_shared_16(mine, twice(value));
        fence_of_writer<fence>();
        __syncthreads();
        float sums[4] = {};
        multiply(sums, operand(shared_address(left)), operand(shared_address(right)));
        for (float sum : sums)
            found += sum != 16 * value;
        __syncthreads();
    }
    atomicAdd(old, found);
}

/* ---- choosing the kernel ---- */

template <Fence fence> static void launch(Reader reader, uint32_t *memory, unsigned long long *old, uint32_t *hung) {
    switch (reader) {
    case Reader::thread_store:
        store_rounds<1, fence><<<blocks, threads>>>(memory);
        break;
    case Reader::warp_store:
        store_rounds<32, fence><<<blocks, threads>>>(memory);
        break;
    case Reader::block_store:
        store_rounds<threads, fence><<<blocks, threads>>>(memory);
        break;
    case Reader::block_load:
        load_rounds<fence><<<blocks, threads>>>(memory, old, hung);
        break;
    case Reader::product:
        product_rounds<fence><<<blocks, group_threads>>>(old);
        break;
    }
    finish_kernel();
}

static bool is_store(Reader reader) {
    return reader == Reader::thread_store || reader == Reader::warp_store || reader == Reader::block_store;
}

static void run(const Variant &variant) {
    uint32_t *memory = device_array<uint32_t>(size_t{blocks} * rounds * tile_words);
    unsigned long long *old = device_array<unsigned long long>(1);
    uint32_t *hung = device_array<uint32_t>(1);
    if (variant.fence == Fence::writers)
        launch<Fence::writers>(variant.reader, memory, old, hung);
    else if (variant.fence == Fence::writers_shared)
        launch<Fence::writers_shared>(variant.reader, memory, old, hung);
    else if (variant.fence == Fence::writers_global)
        launch<Fence::writers_global>(variant.reader, memory, old, hung);
    else if (variant.fence == Fence::issuer)
        launch<Fence::issuer>(variant.reader, memory, old, hung);
    else
        launch<Fence::none>(variant.reader, memory, old, hung);
    if (is_store(variant.reader)) {
        count_old_words<<<blocks, threads>>>(memory, old);
        finish_kernel();
    }
    unsigned long long words =
        size_t{blocks} * rounds * (variant.reader == Reader::product ? group_threads * 4 : tile_words);
    unsigned long long found = from_device(old, 1)[0];
    if (from_device(hung, 1)[0])
        saw("HANG: a copy did not complete");
    saw("%s: %llu of %llu words are old", found ? "STALE" : "none seen", found, words);
}

int main() {
    return run_each("T5", "how often is old data read when the proxy fence is left out?", variants, run);
}
