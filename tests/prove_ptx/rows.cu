// The sum of each row, a CTA a row.
__global__ void rows(const float *in, float *out, int width) {
    __shared__ float sums[256];
    float sum = 0;
    for (int at = threadIdx.x; at < width; at += blockDim.x)
        sum += in[blockIdx.x * width + at];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    for (int at = threadIdx.x; at < width; at += blockDim.x)
        out[blockIdx.x * width + at] = in[blockIdx.x * width + at] / sums[0];
}
