// C = A * B, by tiles of 16 x 16.
__global__ void matmul(const float *a, const float *b, float *c, int n) {
    __shared__ float left[16][16], right[16][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    float sum = 0;
    for (int tile = 0; tile < (n + 15) / 16; tile++) {
        left[y][x] = row < n && tile * 16 + x < n ? a[row * n + tile * 16 + x] : 0.f;
        right[y][x] = column < n && tile * 16 + y < n ? b[(tile * 16 + y) * n + column] : 0.f;
        __syncthreads();
        for (int k = 0; k < 16; k++)
            sum += left[y][k] * right[k][x];
        __syncthreads();
    }
    if (row < n && column < n)
        c[row * n + column] = sum;
}
