// More threads add to one place than an exploration of all orders keeps.
extern "C" __global__ void tally(int *out) {
    __shared__ int sum;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    int mine = atomicAdd(&sum, 1);
    __syncthreads();
    if (mine == 0)
        out[blockIdx.x] = sum;
}
