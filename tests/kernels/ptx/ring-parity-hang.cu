// A producer warp fills a buffer, a consumer warp reads it; an mbarrier is between them.
__device__ void init(unsigned bar, unsigned count) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(bar), "r"(count) : "memory");
}
__device__ void arrive(unsigned bar) {
    asm volatile("{ .reg .b64 t; mbarrier.arrive.shared.b64 t, [%0]; }" ::"r"(bar) : "memory");
}
__device__ void wait(unsigned bar, unsigned parity) {
    asm volatile("{ .reg .pred p;\n"
                 "again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n"
                 "@!p bra again; }" ::"r"(bar), "r"(parity) : "memory");
}
extern "C" __global__ void ring(int *out, int turns) {
    __shared__ int tile[32];
    __shared__ alignas(8) unsigned long long bars[2];
    unsigned full = __cvta_generic_to_shared(&bars[0]), empty = __cvta_generic_to_shared(&bars[1]);
    if (threadIdx.x == 0) {
        init(full, 32);
        init(empty, 32);
    }
    __syncthreads();
    int lane = threadIdx.x % 32;
    for (int i = 0; i < turns; i++) {
        if (threadIdx.x < 32) {
            wait(empty, (i & 1) ^ 1);
            tile[lane] = i + lane;
            arrive(full);
        } else {
            wait(full, 0);
            out[i * 32 + lane] = tile[31 - lane];
            arrive(empty);
        }
    }
}
