// The first CTA polls together, as in turns-hang, and the second sets the flag.
extern "C" __global__ void turns(unsigned *flag, int *out) {
    __shared__ unsigned told;
    unsigned seen = 1;
    if (blockIdx.x == 0) {
        do {
            __syncthreads();
            if (threadIdx.x == 0) {
                asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
                told = seen;
            }
            __syncthreads();
            seen = told;
        } while (seen == 0);
    } else if (threadIdx.x == 0) {
        asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(flag), "r"(1) : "memory");
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = seen;
}
