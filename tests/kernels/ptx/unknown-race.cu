// What is stored is not known: that says nothing of it being what was there, or what others store.
extern "C" __global__ void shift(float *out, const float *in) {
    __shared__ float tile[64];
    int i = threadIdx.x;
    tile[i] = in[i];
    __syncthreads();
    tile[i] = tile[(i + 1) % 64];
    __syncthreads();
    out[i] = tile[i];
}

extern "C" __global__ void last(float *out, const float *in) {
    __shared__ float one;
    one = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = one;
}
