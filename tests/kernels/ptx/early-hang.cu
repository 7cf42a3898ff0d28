// Threads that leave before a barrier.
extern "C" __global__ void early(int *out, int n) {
    __shared__ int tile[64];
    int i = threadIdx.x;
    if (i >= n)
        return;
    tile[i] = i;
    asm volatile("barrier.sync 1, 64;" ::: "memory");
    
    out[i] = tile[(i + 1) % n];
}
