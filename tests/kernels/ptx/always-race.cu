// A barrier is missing, whatever the data is that other conditions go by; and one that is there for some data alone.
extern "C" __global__ void always(const int *in, int *out, const int *data) {
    __shared__ int tile[64];
    unsigned t = threadIdx.x;
    tile[t] = in[t];
    int value = tile[63 - t];
    if (data[0] > 3)
        out[64 + t] = 1;
    if (data[1] > 5)
        out[128 + t] = 2;
    if (data[2])
        __syncthreads();
    out[t] = value;
}

extern "C" __global__ void sometimes(const int *in, int *out, const int *data) {
    __shared__ int tile[64];
    unsigned t = threadIdx.x;
    tile[t] = in[t];
    if (data[0] > 3)
        __syncthreads();
    if (data[1] > 5)
        out[128 + t] = 2;
    out[t] = tile[63 - t];
}
