// Threads write what is there already, whatever the data is: one value that they hold in common.
extern "C" __global__ void replicas(const float *in, float *out, int n) {
    __shared__ float tile[32];
    unsigned e = threadIdx.x & 31;
    tile[e] = e < n ? 2.f * in[e] : 0.f;
    __syncthreads();
    out[64 * blockIdx.x + threadIdx.x] = tile[e];
}

extern "C" __global__ void sums(const float *in, float *out, int n) {
    __shared__ float warps[2];
    float value = in[threadIdx.x];
    for (int k = 16; k; k >>= 1)
        value += __shfl_xor_sync(~0u, value, k);
    warps[threadIdx.x / 32] = value;
    __syncthreads();
    out[64 * blockIdx.x + threadIdx.x] = warps[0] + warps[1];
}

extern "C" __global__ void same_work(const float *in, float *out, int n) {
    out[threadIdx.x] = 3.f * in[threadIdx.x];
}
