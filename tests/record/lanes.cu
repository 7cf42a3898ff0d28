// Lanes of a warp that wait for some others by a mask, and get on: all of these end.
#include <stdint.h>

static const unsigned whole = 0xffffffffu;

// Those who do not come exit, which ends the wait of those who named them. n: lanes that come.
extern "C" __global__ void others_exit(unsigned *out, unsigned n) {
    unsigned value = threadIdx.x, lane = threadIdx.x % 32;
    if (lane < n)
        value += __shfl_down_sync(whole, value, 1, 8);
    if (lane < n)
        out[threadIdx.x] = value;
}

// The same, and all of them store before, where a guard says so.
extern "C" __global__ void others_store(unsigned *out, unsigned n) {
    unsigned value = threadIdx.x, lane = threadIdx.x % 32;
    if (lane < n)
        value += __shfl_down_sync(whole, value, 1, 8);
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %1, 5;\n\t@p st.global.u32 [%0], %1;\n\t}" ::"l"(
                     __cvta_generic_to_global(&out[threadIdx.x])),
                 "r"(value)
                 : "memory");
}

// The same, and before they exit they compute and store, without a barrier.
extern "C" __global__ void others_compute(unsigned *out, unsigned n, unsigned turns) {
    unsigned value = threadIdx.x, lane = threadIdx.x % 32;
    if (lane >= 32 - n)
        value = __ballot_sync(whole, value & 1);
    else
        for (unsigned i = 0; i < turns; i++)
            value = value * 5 + (value >> 3);
    out[threadIdx.x] = value;
}

// Those who come late compute before. Then the two halves of each 16 lanes are apart, with masks of their own.
extern "C" __global__ void late(unsigned *out, unsigned turns) {
    unsigned value = threadIdx.x, lane = threadIdx.x % 32;
    if (lane < 24) {
        if (lane % 3 == 0)
            for (unsigned i = 0; i < turns; i++)
                value = value * 3 + (value >> 5);
        __syncwarp(0xffffff);
        value += __shfl_xor_sync(0xffffff, value, 1);
    }
    if (lane & 8)
        value += __shfl_xor_sync(0xff00ff00u, value, 1);
    else
        value += __reduce_max_sync(0x00ff00ffu, value & 0xff);
    out[threadIdx.x] = value;
}

// Quarters of a warp, each with its mask, as often as they have something to do; all come together again behind it.
extern "C" __global__ void quarters(const unsigned *counts, unsigned *out) {
    __shared__ unsigned sums[64];
    unsigned lane = threadIdx.x % 32, mask = 0xffu << (lane & 24), value = threadIdx.x;
    for (unsigned i = 0; i < counts[threadIdx.x / 8]; i++) {
        value += __shfl_xor_sync(mask, value, 1);
        value ^= __match_any_sync(mask, value & 3);
    }
    sums[threadIdx.x] = value;
    __syncthreads();
    out[threadIdx.x] = sums[threadIdx.x ^ 33] + __shfl_sync(whole, value, 5);
}

// Lanes with the same key are a group, whose lowest adds for all of it.
extern "C" __global__ void keyed(const unsigned *keys, unsigned *out, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned key = keys[i], here = __activemask(), same = __match_any_sync(here, key);
    unsigned sum = __reduce_add_sync(same, i);
    if ((threadIdx.x & 31) == __ffs(same) - 1)
        atomicAdd(&out[key], sum);
}

__device__ __noinline__ unsigned scan(unsigned value, unsigned mask) {
    for (unsigned i = 1; i < 8; i *= 2) {
        unsigned before = __shfl_up_sync(mask, value, i, 8);
        if ((threadIdx.x & 7) >= i)
            value += before;
    }
    return value;
}

// In a function that a part of a warp calls. `barrier`: what they hand on in shared memory is theirs by then.
extern "C" __global__ void called(unsigned *out, unsigned barrier) {
    __shared__ unsigned tile[64];
    unsigned lane = threadIdx.x % 32, value = lane;
    if (lane < 16)
        value = scan(value, 0xffff);
    tile[threadIdx.x] = value;
    if (barrier)
        __syncthreads();
    out[threadIdx.x] = tile[63 - threadIdx.x];
}

// Lanes hand on in shared memory what they store before __syncwarp(mask), and, without `sync`, before a shuffle alone.
extern "C" __global__ void hands_on(unsigned *out, unsigned sync) {
    __shared__ unsigned tile[64];
    unsigned lane = threadIdx.x % 32, value = lane;
    if (lane >= 16) {
        tile[threadIdx.x] = value;
        if (sync)
            __syncwarp(0xffff0000u);
        value = __shfl_xor_sync(0xffff0000u, value, 2);
        value += tile[threadIdx.x ^ 1];
    }
    out[threadIdx.x] = value;
}

// One lane of a warp stores to a place that is known of each of them, and the others do not.
extern "C" __global__ void swizzled(unsigned *out, unsigned which) {
    __shared__ unsigned tile[64];
    unsigned lane = threadIdx.x & 31, at = (threadIdx.x & 32) + ((lane * 7 ^ lane >> 2) & 31);
    tile[threadIdx.x] = 0;
    __syncthreads();
    if (lane == which)
        tile[at] = lane;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x];
}
