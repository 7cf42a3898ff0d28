// Two warps go round through a barrier for ever, as in late-ok, but the flag is never set; a third waits for one that has left.
extern "C" __global__ void late(int *out) {
    __shared__ unsigned flag;
    unsigned at = (unsigned)__cvta_generic_to_shared(&flag), seen = 0;
    if (threadIdx.x == 0)
        flag = 0;
    __syncthreads();
    if (threadIdx.x >= 96)
        return;
    if (threadIdx.x >= 64) {
        asm volatile("barrier.sync 2, 64;" ::: "memory");
    } else {
        do {
            asm volatile("barrier.sync 1, 64;" ::: "memory");
            asm volatile("ld.relaxed.cta.shared.u32 %0, [%1];" : "=r"(seen) : "r"(at) : "memory");
        } while (seen == 0);
    }
    out[threadIdx.x] = 1;
}
