// Lanes of a warp that wait for each other by a mask, some of which never come.
#include <stdint.h>

static const unsigned whole = 0xffffffffu;

// A ballot that some lanes come to, the others being at the barrier behind it.
extern "C" __global__ void lanes_vote(unsigned *out) {
    if (threadIdx.x % 32 < 10)
        out[threadIdx.x] = __ballot_sync(whole, threadIdx.x & 1);
    __syncthreads();
    out[threadIdx.x] += 1;
}

// Lane 0 is among those that go on.
extern "C" __global__ void lanes_upper(unsigned *out) {
    unsigned value = threadIdx.x;
    if (threadIdx.x % 32 >= 20)
        value = __shfl_up_sync(whole, value, 2);
    out[threadIdx.x] = value;
    __syncwarp();
    out[threadIdx.x ^ 1] += 1;
}

// Each lane makes as many turns as it has data, and all of them shuffle in each.
extern "C" __global__ void lanes_turns(const unsigned *counts, unsigned *out) {
    unsigned value = threadIdx.x;
    for (unsigned i = 0; i < counts[threadIdx.x]; i++)
        value += __shfl_xor_sync(whole, value, 1);
    __syncwarp();
    out[threadIdx.x] = value;
}

// A mask of lanes, of which a branch takes another part.
extern "C" __global__ void lanes_mask(unsigned *out) {
    unsigned mask = __ballot_sync(whole, threadIdx.x % 3 == 0), value = threadIdx.x;
    if (threadIdx.x % 6 == 0)
        value = __reduce_add_sync(mask, value);
    __syncwarp();
    out[threadIdx.x] = value;
}

// Some wait at a shuffle, the others at a match.
extern "C" __global__ void lanes_crossed(unsigned *out) {
    unsigned value = threadIdx.x;
    if (threadIdx.x & 1)
        value = __match_any_sync(whole, value / 4);
    else
        value = __shfl_sync(whole, value, 0);
    out[threadIdx.x] = value;
}

// A guard instead of a branch.
extern "C" __global__ void lanes_guarded(unsigned *out) {
    unsigned value = threadIdx.x;
    asm volatile("{\n\t.reg .pred p;\n\tsetp.lt.u32 p, %1, 7;\n\t@p shfl.sync.down.b32 %0, %0, 1, 31, -1;\n\t}"
                 : "+r"(value)
                 : "r"(threadIdx.x));
    __syncwarp();
    out[threadIdx.x] = value;
}

// One of a few is to be elected, and all are asked.
extern "C" __global__ void lanes_elect(unsigned *out) {
    unsigned leader = 0;
    if (threadIdx.x >= 4)
        asm volatile("{\n\t.reg .pred p;\n\telect.sync %0|p, -1;\n\t}" : "+r"(leader));
    __syncwarp();
    out[threadIdx.x] = leader;
}

// __syncwarp() itself, in rows of 8 threads.
extern "C" __global__ void lanes_rows(unsigned *out) {
    unsigned at = threadIdx.y * blockDim.x + threadIdx.x;
    if (threadIdx.y == 1)
        __syncwarp();
    __syncthreads();
    out[at] = at;
}

__device__ __noinline__ unsigned sum_of(unsigned value) {
    for (int i = 16; i; i /= 2)
        value += __shfl_xor_sync(whole, value, i);
    return value;
}

// In a function that is called.
extern "C" __global__ void lanes_called(unsigned *out) {
    unsigned value = threadIdx.x;
    if (threadIdx.x < 16)
        value = sum_of(value);
    __syncwarp();
    out[threadIdx.x] = value;
}
