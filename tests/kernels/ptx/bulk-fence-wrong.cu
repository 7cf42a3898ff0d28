// Threads fill shared memory, and a bulk copy stores it.
extern "C" __global__ void store(int *out) {
    __shared__ alignas(128) int tile[64];
    tile[threadIdx.x] = threadIdx.x * 3;
    // no proxy fence
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned from = __cvta_generic_to_shared(tile);
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;" ::"l"(out), "r"(from) : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
}
