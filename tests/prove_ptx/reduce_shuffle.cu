// The sum of a CTA, of each warp first.
__global__ void reduce_shuffle(const float *in, float *out, int n) {
    __shared__ float sums[32];
    float sum = 0;
    for (int at = blockIdx.x * blockDim.x + threadIdx.x; at < n; at += blockDim.x * gridDim.x)
        sum += in[at];
    for (int lane = 16; lane > 0; lane /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, lane);
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? sums[threadIdx.x] : 0.f;
        for (int lane = 16; lane > 0; lane /= 2)
            sum += __shfl_down_sync(0xffffffffu, sum, lane);
        if (threadIdx.x == 0)
            atomicAdd(out, sum);
    }
}
