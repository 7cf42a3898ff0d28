// Reverses a block of values through shared memory.
extern "C" __global__ void reverse(int *out, const int *in) {
    __shared__ int tile[64];
    int i = threadIdx.x;
    tile[i] = in[i];
    __syncthreads();
    out[i] = tile[63 - i];
}
