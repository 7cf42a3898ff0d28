// Two warps meet at a named barrier, or wait at two different ones.
extern "C" __global__ void halves(int *out) {
    __shared__ int tile[64];
    tile[threadIdx.x] = threadIdx.x;
    int barrier = 1 + threadIdx.x / 32;
    asm volatile("barrier.sync %0, 64;" ::"r"(barrier) : "memory");
    out[threadIdx.x] = tile[threadIdx.x ^ 32];
}
