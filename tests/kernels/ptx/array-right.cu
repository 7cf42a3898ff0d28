// Pointers that leave an array, and come back before they are used; and arrays side by side in one variable.
struct Both {
    float first[20], second[44];
};

extern "C" __global__ void members(const float *in, float *out, int n) {
    __shared__ Both both;
    both.first[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = both.first[63 - threadIdx.x];
}

extern "C" __global__ void either(const float *in, float *out, int n) {
    __shared__ float first[64];
    __shared__ float second[64];
    float *p = n & 1 ? first - n : second - n;
    p[threadIdx.x + n] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = p[63 - threadIdx.x + n];
}

extern "C" __global__ void parts(const float *in, float *out, int n) {
    extern __shared__ float rest[];
    __shared__ float head[64];
    float *more = rest + 64;
    unsigned t = threadIdx.x;
    head[t] = rest[t] = more[t] = in[t];
    __syncthreads();
    out[t] = head[t] + more[t] + rest[63 - t];
}
