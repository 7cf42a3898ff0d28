// Sums of all before each (Hillis and Steele), with two buffers.
__global__ void scan(const float *in, float *out, int n) {
    __shared__ float sums[2][512];
    int thread = threadIdx.x, to = 0, from = 1;
    sums[to][thread] = thread < n ? in[thread] : 0.f;
    __syncthreads();
    for (int step = 1; step < blockDim.x; step *= 2) {
        to = 1 - to;
        from = 1 - to;
        sums[to][thread] = thread >= step ? sums[from][thread] + sums[from][thread - step] : sums[from][thread];
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + thread] = sums[to][thread];
}
