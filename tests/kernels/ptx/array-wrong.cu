// Accesses that leave the array they index, into another one or into padding.
extern "C" __global__ void past(const float *in, float *out, int n) {
    __shared__ float tile[66];
    unsigned t = threadIdx.x;
    tile[t + 1] = in[t];
    if (t < 2)
        tile[65 * t] = 0;
    __syncthreads();
    out[t] = tile[t] + tile[t + n];
}

extern "C" __global__ void before(const float *in, float *out, int n) {
    __shared__ float first[64];
    __shared__ float second[64];
    unsigned t = threadIdx.x;
    first[t] = in[t];
    second[t] = in[t];
    __syncthreads();
    out[t] = first[t] + second[t - n];
}

extern "C" __global__ void adds(const int *in, int *out, int n) {
    __shared__ int bins[31];
    if (threadIdx.x < 31)
        bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[threadIdx.x & 31], n);
    __syncthreads();
    out[threadIdx.x] = bins[threadIdx.x % 31];
}

extern "C" __global__ void dynamic(const float *in, float *out, int n) {
    extern __shared__ float rest[];
    __shared__ float head[64];
    unsigned t = threadIdx.x;
    head[t] = rest[t] = in[t];
    __syncthreads();
    out[t] = head[t] + rest[t - n];
}
