// A window of 3, from a tile with its edges.
__global__ void stencil_shared(const int *in, int *out, int n) {
    __shared__ int tile[258];
    int at = blockIdx.x * blockDim.x + threadIdx.x, here = threadIdx.x + 1;
    tile[here] = at < n ? in[at] : 0;
    if (threadIdx.x == 0) {
        tile[0] = at > 0 ? in[at - 1] : 0;
        tile[blockDim.x + 1] = at + blockDim.x < n ? in[at + blockDim.x] : 0;
    }
    __syncthreads();
    if (at < n)
        out[at] = tile[here - 1] + tile[here] + tile[here + 1];
}
