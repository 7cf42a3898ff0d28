// Uses dynamic shared memory.
extern __shared__ int tile[];
extern "C" __global__ void dynamic(int *out) {
    tile[threadIdx.x * 1] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = tile[(threadIdx.x ^ 1) * 1];
}
