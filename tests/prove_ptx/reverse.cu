__global__ void reverse(int *data, int n) {
    __shared__ int kept[256];
    int thread = threadIdx.x;
    if (thread < n)
        kept[thread] = data[thread];
    __syncthreads();
    if (thread < n)
        data[thread] = kept[n - 1 - thread];
}
