// The same for sizes that tiles divide, as a CTA of 16 x 16 threads.
__global__ void __launch_bounds__(256) matmul_fixed(const float *a, const float *b, float *c, int n) {
    __shared__ float left[256], right[256];
    int x = threadIdx.x, y = threadIdx.y;
    float sum = 0;
    for (int tile = 0; tile < n; tile += 16) {
        left[y * 16 + x] = a[(blockIdx.y * 16 + y) * n + tile + x];
        right[y * 16 + x] = b[(tile + y) * n + blockIdx.x * 16 + x];
        __syncthreads();
        for (int k = 0; k < 16; k++)
            sum += left[y * 16 + k] * right[k * 16 + x];
        __syncthreads();
    }
    c[(blockIdx.y * 16 + y) * n + blockIdx.x * 16 + x] = sum;
}
