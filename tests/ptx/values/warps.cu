// Lanes that see each other: shuffles, votes, matches, elections; scans; warp numbers made uniform.
extern "C" __global__ void scan(int *to, const int *from) {
    __shared__ int totals[32];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, x = from[blockIdx.x * blockDim.x + threadIdx.x];
    for (int by = 1; by < 32; by *= 2) {
        int before = __shfl_up_sync(~0u, x, by);
        if (lane >= by)
            x += before;
    }
    if (lane == 31)
        totals[warp] = x;
    __syncthreads();
    if (warp == 0 && lane < blockDim.x / 32) {
        int total = totals[lane];
        for (int i = 0; i < lane; i++)
            total += totals[i];
        totals[lane] = total;
    }
    __syncthreads();
    to[blockIdx.x * blockDim.x + threadIdx.x] = x + (warp ? totals[warp - 1] : 0);
}

extern "C" __global__ void compact(int *to, int *count, const int *from) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    unsigned kept = __ballot_sync(~0u, from[i] > 3);
    int base = 0;
    if (lane == __ffs(kept) - 1)
        base = atomicAdd(count, __popc(kept));
    base = __shfl_sync(~0u, base, kept ? __ffs(kept) - 1 : 0);
    if (from[i] > 3)
        to[(base + __popc(kept & ((1u << lane) - 1))) & 1023] = i;
}

extern "C" __global__ void roles(int *to, const int *from, int n) {
    int warp = __shfl_sync(~0u, threadIdx.x / 32, 0);
    __shared__ int buffer[256];
    if (warp == 0) {
        for (int i = 0; i < (n & 15); i++)
            buffer[(i * 32 + (threadIdx.x & 31)) & 255] = from[i * 32 + (threadIdx.x & 31)];
        asm volatile("bar.arrive 1, %0;" ::"r"(blockDim.x) : "memory");
    } else {
        asm volatile("bar.sync 1, %0;" ::"r"(blockDim.x) : "memory");
        to[warp * 32 + (threadIdx.x & 31)] = buffer[(warp * 8 + n) & 255];
    }
}

extern "C" __global__ void groups(unsigned *to, const int *keys) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned same = __match_any_sync(~0u, keys[i] & 3), all = __activemask();
    unsigned sum = __reduce_add_sync(~0u, threadIdx.x), least = __reduce_min_sync(~0u, keys[i]);
    int agree;
    __match_all_sync(~0u, blockIdx.x, &agree);
    to[i] = same + all + sum + least + agree;
}
