// An mbarrier in memory that data shares, or does not.
extern "C" __global__ void apart(int *out, int at) {
    __shared__ alignas(8) int data[36];
    unsigned bar = __cvta_generic_to_shared(&data[32]);
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(bar) : "memory");
    __syncthreads();
    data[(threadIdx.x + at) % 36] = threadIdx.x;
    asm volatile("{ .reg .b64 t; .reg .pred p; mbarrier.arrive.shared.b64 t, [%0];\n"
                 "again: mbarrier.test_wait.shared.b64 p, [%0], t;\n"
                 "@!p bra again; }" ::"r"(bar) : "memory");
    out[threadIdx.x] = data[(31 - threadIdx.x + at) % 36];
}
