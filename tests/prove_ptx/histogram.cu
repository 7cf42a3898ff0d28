// 256 counts, of each CTA first.
__global__ void histogram(const unsigned char *in, unsigned *out, int n) {
    __shared__ unsigned counts[256];
    counts[threadIdx.x] = 0;
    __syncthreads();
    for (int at = blockIdx.x * blockDim.x + threadIdx.x; at < n; at += blockDim.x * gridDim.x)
        atomicAdd(&counts[in[at]], 1);
    __syncthreads();
    atomicAdd(&out[threadIdx.x], counts[threadIdx.x]);
}
