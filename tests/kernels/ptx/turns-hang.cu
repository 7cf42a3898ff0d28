// A CTA polls together: its first thread looks, and tells the others in shared memory. Nobody sets the flag.
extern "C" __global__ void turns(unsigned *flag, int *out) {
    __shared__ unsigned told;
    unsigned seen;
    do {
        __syncthreads();
        if (threadIdx.x == 0) {
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
            told = seen;
        }
        __syncthreads();
        seen = told;
    } while (seen == 0);
    out[blockIdx.x * blockDim.x + threadIdx.x] = seen;
}
