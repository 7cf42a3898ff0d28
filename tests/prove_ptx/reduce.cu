// The sum of a CTA, by halves.
__global__ void reduce(const float *in, float *out, int n) {
    __shared__ float sums[1024];
    int thread = threadIdx.x, at = blockIdx.x * blockDim.x + thread;
    sums[thread] = at < n ? in[at] : 0.f;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half >>= 1) {
        if (thread < half)
            sums[thread] += sums[thread + half];
        __syncthreads();
    }
    if (thread == 0)
        out[blockIdx.x] = sums[0];
}
