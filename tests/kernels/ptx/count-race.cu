// Counts the values above a limit, in shared memory.
extern "C" __global__ void count(int *out, const int *in, int limit) {
    __shared__ int total;
    if (threadIdx.x == 0)
        total = 0;
    __syncthreads();
    if (in[threadIdx.x] > limit)
        total += 1;
    __syncthreads();
    if (threadIdx.x == 0)
        out[0] = total;
}
