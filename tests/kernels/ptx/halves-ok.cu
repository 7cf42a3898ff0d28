// Halves that meet at a barrier, or do not.
extern "C" __global__ void halves(int *out) {
    __shared__ int tile[64];
    tile[threadIdx.x] = threadIdx.x;
    if (threadIdx.x < 32) {
        tile[threadIdx.x] += 1;
        
    }
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x ^ 32];
}
