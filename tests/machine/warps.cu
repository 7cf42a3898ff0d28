// What the lanes of a warp tell each other: shuffles, votes, matches, reductions.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cstdint>

namespace cg = cooperative_groups;

static __device__ unsigned me() {
    return blockIdx.x * blockDim.x + threadIdx.x;
}

extern "C" __global__ void sum_by_shuffles(const int32_t *a, int32_t *out, unsigned n) {
    unsigned i = me();
    int32_t x = i < n ? a[i] : 0;
    for (int by = 16; by; by /= 2)
        x += __shfl_xor_sync(~0u, x, by);
    out[i] = x;
}

extern "C" __global__ void scan_by_shuffles(const uint32_t *a, uint32_t *out) {
    unsigned i = me(), lane = threadIdx.x & 31;
    uint32_t x = a[i], up = a[i], down = a[i];
    for (unsigned by = 1; by < 32; by *= 2) {
        uint32_t other = __shfl_up_sync(~0u, x, by);
        if (lane >= by)
            x += other;
    }
    for (unsigned by = 1; by < 8; by *= 2) {
        uint32_t left = __shfl_up_sync(~0u, up, by, 8), right = __shfl_down_sync(~0u, down, by, 8);
        up = lane % 8 >= by ? max(up, left) : up;
        down = lane % 8 + by < 8 ? min(down, right) : down;
    }
    out[3 * i] = x, out[3 * i + 1] = up, out[3 * i + 2] = down;
}

extern "C" __global__ void shuffles_by_index(const uint64_t *a, uint64_t *out) {
    unsigned i = me();
    uint64_t x = a[i], y = 0;
    for (int k = 0; k < 4; k++)
        y = y * 3 + __shfl_sync(~0u, x, (int)(x >> 8 * k) & 63, k % 2 ? 16 : 32);
    out[i] = y;
}

// Every lane of a warp gets one row of a matrix of 32 by 32 as a column.
extern "C" __global__ void transpose(const uint32_t *a, uint32_t *out) {
    unsigned lane = threadIdx.x & 31, base = me() / 32 * 1024;
    uint32_t row[32];
    for (unsigned k = 0; k < 32; k++)
        row[k] = a[base + k * 32 + lane];
#pragma unroll
    for (unsigned half = 16; half; half /= 2) {
#pragma unroll
        for (unsigned k = 0; k < 32; k++)
            if (!(k & half)) {
                uint32_t give = lane & half ? row[k] : row[k | half], got = __shfl_xor_sync(~0u, give, half);
                if (lane & half)
                    row[k] = got;
                else
                    row[k | half] = got;
            }
    }
    for (unsigned k = 0; k < 32; k++)
        out[base + k * 32 + lane] = row[k];
}

extern "C" __global__ void bitonic_sort(const int32_t *a, int32_t *out) {
    unsigned i = me(), lane = threadIdx.x & 31;
    int32_t x = a[i];
    for (unsigned size = 2; size <= 32; size *= 2)
        for (unsigned by = size / 2; by; by /= 2) {
            int32_t other = __shfl_xor_sync(~0u, x, by);
            bool rising = !(lane & size), lower = !(lane & by);
            x = rising == lower ? min(x, other) : max(x, other);
        }
    out[i] = x;
}

extern "C" __global__ void votes(const int32_t *a, uint32_t *out) {
    unsigned i = me();
    int32_t x = a[i];
    uint32_t odd = __ballot_sync(~0u, x & 1), all = __all_sync(~0u, x > -900), any = __any_sync(~0u, x > 990);
    out[2 * i] = odd, out[2 * i + 1] = all + 2 * any + 4 * __popc(odd & ((1u << (threadIdx.x & 31)) - 1));
}

// Numbers over 0 go to the front, in order, one warp at a time.
extern "C" __global__ void compact(const int32_t *a, int32_t *out) {
    unsigned i = me(), lane = threadIdx.x & 31;
    int32_t x = a[i];
    uint32_t keep = __ballot_sync(~0u, x > 0);
    out[i] = 0;
    __syncwarp();
    if (x > 0)
        out[i - lane + __popc(keep & ((1u << lane) - 1))] = x;
}

extern "C" __global__ void matches(const int32_t *a, const int64_t *b, uint32_t *out) {
    unsigned i = me();
    int all, same;
    uint32_t any = __match_any_sync(~0u, a[i] & 7), wide = __match_any_sync(~0u, b[i] & 15);
    uint32_t everyone = __match_all_sync(~0u, a[i] & 0x40000000, &all), warp = __match_all_sync(~0u, (long long)(i / 32), &same);
    out[4 * i] = any, out[4 * i + 1] = wide, out[4 * i + 2] = everyone + (uint32_t)all, out[4 * i + 3] = warp ^ (uint32_t)same;
}

extern "C" __global__ void reductions(const uint32_t *a, uint32_t *out) {
    unsigned i = me();
    uint32_t x = a[i], *to = out + 8 * i;
    to[0] = __reduce_add_sync(~0u, x), to[1] = (uint32_t)__reduce_add_sync(~0u, (int)x), to[2] = __reduce_min_sync(~0u, x);
    to[3] = (uint32_t)__reduce_min_sync(~0u, (int)x), to[4] = (uint32_t)__reduce_max_sync(~0u, (int)x), to[5] = __reduce_and_sync(~0u, x | 0xf0);
    to[6] = __reduce_or_sync(~0u, x & 0x101), to[7] = __reduce_xor_sync(~0u, x) + __reduce_max_sync(~0u, x);
}

// The two halves of a warp go their own ways, each with its own mask, and the odd lanes among themselves.
extern "C" __global__ void parted_lanes(const int32_t *a, int32_t *out) {
    unsigned i = me(), lane = threadIdx.x & 31;
    int32_t x = a[i];
    if (lane < 16) {
        for (int by = 8; by; by /= 2)
            x += __shfl_xor_sync(0x0000ffffu, x, by);
    } else {
        x = __reduce_max_sync(0xffff0000u, x) - __shfl_sync(0xffff0000u, x, 20);
    }
    if (lane & 1)
        x = x * 10 + (int)__popc(__ballot_sync(0xaaaaaaaau, x > 0));
    out[i] = x;
}

extern "C" __global__ void loops_of_lanes(const uint32_t *a, uint32_t *out) {
    unsigned i = me(), lane = threadIdx.x & 31;
    uint32_t left = a[i] % 7, sum = 0;
    while (uint32_t still = __ballot_sync(~0u, left > 0)) {
        sum += __popc(still) * (lane + 1);
        left -= left > 0;
    }
    out[i] = sum;
}

// Lanes with the same key work as a group of their own.
extern "C" __global__ void labeled(const uint32_t *a, uint32_t *out) {
    unsigned i = me();
    uint32_t key = a[i] & 3, mask = __match_any_sync(~0u, key);
    uint32_t rank = __popc(mask & ((1u << (threadIdx.x & 31)) - 1)), first = __ffs((int)mask) - 1;
    uint32_t total = __reduce_add_sync(mask, a[i] >> 8), leader = __shfl_sync(mask, a[i], (int)first);
    out[2 * i] = total + rank, out[2 * i + 1] = leader;
}

extern "C" __global__ void tiles(const int32_t *a, int32_t *out) {
    unsigned i = me();
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int32_t sum = cg::reduce(tile, a[i], cg::plus<int>()), most = cg::reduce(tile, a[i], cg::greater<int>());
    out[3 * i] = sum, out[3 * i + 1] = most, out[3 * i + 2] = tile.shfl(a[i], (int)tile.meta_group_rank() % 8);
}

// The last warp has 13 lanes.
extern "C" __global__ void part_of_a_warp(const int32_t *a, int32_t *out, unsigned n) {
    unsigned i = me();
    if (i >= n)
        return;
    uint32_t here = __activemask();
    int32_t x = __reduce_add_sync(here, a[i]);
    out[i] = x + __shfl_down_sync(here, a[i], 1) * (__popc(here >> ((threadIdx.x & 31) + 1)) > 0) + (int)__popc(here);
}
