// A row of shared memory for each warp.
__global__ void warps(const int *in, int *out) {
    __shared__ int rows[32][33];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    rows[warp][lane] = in[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = rows[warp][31 - lane];
}
