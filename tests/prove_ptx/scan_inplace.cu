// The same in one buffer, with two barriers.
__global__ void scan_inplace(int *data) {
    __shared__ int sums[256];
    int thread = threadIdx.x;
    sums[thread] = data[blockIdx.x * blockDim.x + thread];
    __syncthreads();
    for (int step = 1; step < blockDim.x; step <<= 1) {
        int before = thread >= step ? sums[thread - step] : 0;
        __syncthreads();
        sums[thread] += before;
        __syncthreads();
    }
    data[blockIdx.x * blockDim.x + thread] = sums[thread];
}
