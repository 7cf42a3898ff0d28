// The sum of a CTA, of neighbors first.
__global__ void reduce_doubling(const int *in, int *out) {
    extern __shared__ int sums[];
    unsigned thread = threadIdx.x;
    sums[thread] = in[blockIdx.x * blockDim.x + thread];
    __syncthreads();
    for (unsigned step = 1; step < blockDim.x; step *= 2) {
        unsigned at = 2 * step * thread;
        if (at < blockDim.x)
            sums[at] += sums[at + step];
        __syncthreads();
    }
    if (thread == 0)
        out[blockIdx.x] = sums[0];
}
