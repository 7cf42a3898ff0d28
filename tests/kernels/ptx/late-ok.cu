// A warp goes round through a barrier with nothing of its own changing, until the other, which counts its turns, sets a flag.
extern "C" __global__ void late(int *out, int turns) {
    __shared__ unsigned flag;
    unsigned at = (unsigned)__cvta_generic_to_shared(&flag), seen = 0;
    if (threadIdx.x == 0)
        flag = 0;
    __syncthreads();
    if (threadIdx.x < 32) {
        do {
            asm volatile("barrier.sync 1, 64;" ::: "memory");
            asm volatile("ld.relaxed.cta.shared.u32 %0, [%1];" : "=r"(seen) : "r"(at) : "memory");
            asm volatile("barrier.sync 1, 64;" ::: "memory");
        } while (seen == 0);
    } else {
        for (int i = 0; i < 2 * turns; i++)
            asm volatile("barrier.sync 1, 64;" ::: "memory");
        if (threadIdx.x == 32)
            asm volatile("st.relaxed.cta.shared.u32 [%0], %1;" ::"r"(at), "r"(1) : "memory");
        __syncwarp();
        asm volatile("barrier.sync 1, 64;" ::: "memory");
        asm volatile("barrier.sync 1, 64;" ::: "memory");
    }
    out[threadIdx.x] = 1;
}
