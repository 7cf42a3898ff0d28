// Every CTA tells all others, by a flag for each pair of them, that its part is written. The lanes that poll the flags
// leave their loops one after the other, while the rest of the warp is at the barrier.
extern "C" __global__ void ranks(int *parts, unsigned *flags, int *sums) {
    unsigned rank = blockIdx.x, count = gridDim.x, lane = threadIdx.x;
    int sum = 0;
    parts[rank * blockDim.x + lane] = (int)lane;
    __syncthreads();
    if (lane < count) {
        unsigned seen;
        asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flags + lane * count + rank) : "memory");
        do
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flags + rank * count + lane) : "memory");
        while (!seen);
    }
    __syncthreads();
    for (unsigned i = 0; i < count; i++)
        sum += parts[i * blockDim.x + lane];
    sums[rank * blockDim.x + lane] = sum;
}
