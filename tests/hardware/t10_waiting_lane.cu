/* T10: is a wait for bulk groups worth anything in a thread that issued no copy?
 *
 * One thread copies a buffer to global memory and commits; the same thread, another lane of its warp, or a lane of
 * another warp waits. After a wait for the reads, the block overwrites the buffer: a word of the overwriting value in
 * global memory was read too late. After a full wait, the block reads the result: a word of the round before was not
 * written yet. The last variant asks which lane elect.sync picks, since pairing a wait with its copy rests on picking
 * the same one. */
#include "common.cuh"

enum class Wait { reads, writes, elects };

struct Variant {
    const char *name;
    Wait wait;
    uint32_t waiter; /* a thread; thread 0 issues */
};

static const Variant variants[] = {
    {"wait_group.read by the issuer, then overwrite", Wait::reads, 0},
    {"wait_group.read by another lane, then overwrite", Wait::reads, 1},
    {"wait_group.read by another warp, then overwrite", Wait::reads, 32},
    {"wait_group by the issuer, then read the result", Wait::writes, 0},
    {"wait_group by another lane, then read the result", Wait::writes, 1},
    {"wait_group by another warp, then read the result", Wait::writes, 32},
    {"which lanes elect.sync picks", Wait::elects, 0},
};

constexpr uint32_t blocks = 132;
constexpr uint32_t rounds = 500;
constexpr uint32_t threads = 256;
constexpr uint32_t buffer_bytes = 32768;
constexpr uint32_t pieces = buffer_bytes / 16;

struct Result {
    unsigned long long wrong;
    unsigned long long clocks; /* that the waiter spent in its waits */
    uint32_t lanes[3];         /* a bit per lane that was ever elected, per mask */
};

__device__ static void fill(uint32_t buffer, uint32_t value) {
    for (uint32_t i = threadIdx.x; i < pieces; i += threads)
        store_shared_16(buffer + 16 * i, value);
    fence_async();
    __syncthreads();
}

/* Past the L1 cache, which knows nothing of what copies write. */
__device__ static unsigned words_other_than(uint32_t value, const uint32_t *out) {
    unsigned other = 0;
    for (uint32_t i = threadIdx.x; i < buffer_bytes / 4; i += threads) {
        uint32_t word;
        asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];"
                     : "=r"(word)
                     : "l"(__cvta_generic_to_global(out + i))
                     : "memory");
        other += word != value;
    }
    return other;
}

template <Wait wait> __device__ static long long timed_wait() {
    long long start = clock64();
    if constexpr (wait == Wait::reads)
        bulk_wait_read();
    else
        bulk_wait();
    return clock64() - start;
}

template <Wait wait> __global__ static void copy_rounds(uint32_t waiter, uint32_t *memory, Result *result) {
    __shared__ alignas(128) uint8_t bytes[buffer_bytes];
    uint32_t buffer = shared_address(bytes);
    uint32_t *out = memory + blockIdx.x * (buffer_bytes / 4);
    unsigned long long wrong = 0;
    long long clocks = 0;
    for (uint32_t round = 0; round < rounds; round++) {
        uint32_t value = 1 + round;
        fill(buffer, value);
        if (threadIdx.x == 0) {
            bulk_store(out, buffer, buffer_bytes);
            bulk_commit();
        }
        __syncthreads();
        if (threadIdx.x == waiter)
            clocks += timed_wait<wait>();
        __syncthreads();
        if constexpr (wait == Wait::reads)
            fill(buffer, ~value);
        else
            wrong += words_other_than(value, out);
        if (threadIdx.x == 0)
            bulk_wait();
        __syncthreads();
        if constexpr (wait == Wait::reads)
            wrong += words_other_than(value, out);
        __syncthreads();
    }
    atomicAdd(&result->wrong, wrong);
    atomicAdd(&result->clocks, static_cast<unsigned long long>(clocks));
}

/* ---- elect.sync ---- */

__device__ static void elect(uint32_t mask, uint32_t *lanes) {
    uint32_t elected;
    asm volatile("{\n"
                 ".reg .pred elected;\n"
                 "elect.sync _|elected, %1;\n"
                 "selp.u32 %0, 1, 0, elected;\n"
                 "}"
                 : "=r"(elected)
                 : "r"(mask)
                 : "memory");
    if (elected)
        atomicOr(lanes, 1u << (threadIdx.x % 32));
}

__global__ static void elect_rounds(Result *result) {
    constexpr uint32_t upper_half = 0xffff0000, odd_lanes = 0xaaaaaaaa;
    uint32_t lane_bit = 1u << (threadIdx.x % 32);
    for (uint32_t round = 0; round < rounds; round++) {
        elect(0xffffffff, &result->lanes[0]);
        if (lane_bit & upper_half)
            elect(upper_half, &result->lanes[1]);
        __syncwarp();
        if (lane_bit & odd_lanes)
            elect(odd_lanes, &result->lanes[2]);
        __syncwarp();
    }
}

static void run(const Variant &variant) {
    uint32_t *memory = device_array<uint32_t>(blocks * (buffer_bytes / 4));
    Result *result = device_array<Result>(1);
    if (variant.wait == Wait::reads)
        copy_rounds<Wait::reads><<<blocks, threads>>>(variant.waiter, memory, result);
    else if (variant.wait == Wait::writes)
        copy_rounds<Wait::writes><<<blocks, threads>>>(variant.waiter, memory, result);
    else
        elect_rounds<<<blocks, threads>>>(result);
    finish_kernel();
    Result seen = from_device(result, 1)[0];
    if (variant.wait == Wait::elects)
        saw("as bits: all lanes %08x, upper half %08x, odd lanes %08x", seen.lanes[0], seen.lanes[1], seen.lanes[2]);
    unsigned long long words = static_cast<unsigned long long>(blocks) * rounds * (buffer_bytes / 4);
    saw("%s: %llu of %llu words; the wait takes %llu clocks on average", seen.wrong ? "WRONG" : "none seen", seen.wrong,
        words, seen.clocks / (blocks * rounds));
}

int main() {
    return run_each("T10", "is a wait for bulk groups worth anything in a thread that issued no copy?", variants, run);
}
