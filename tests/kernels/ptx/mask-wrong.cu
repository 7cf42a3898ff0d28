// The sums of four warps are added by the first one, all lanes of which run a shuffle that names only four.
extern "C" __global__ void mask(const int *in, int *out) {
    __shared__ int sums[4];
    int sum = __reduce_add_sync(0xffffffff, in[threadIdx.x]);
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = sums[threadIdx.x % 4];
        sum += __shfl_xor_sync(0xf, sum, 1);
        sum += __shfl_xor_sync(0xf, sum, 2);
        if (threadIdx.x == 0)
            *out = sum;
    }
}
