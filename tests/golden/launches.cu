// What a source says of its launches, and what it leaves open.
#define TILE 32
constexpr unsigned long N = 4096ul;

namespace sums {
template <typename T, int B> __global__ void scale(T *to, const float *__restrict__ from, T factor, int n, int m) {
    extern __shared__ float part[];
    part[threadIdx.x] = from[threadIdx.x];
    __syncthreads();
    to[blockIdx.x * B + threadIdx.x] = factor * part[threadIdx.x ^ 1] * n * m;
}
} // namespace sums

__global__ void fill(int *to, int value) {
    if (value)
        to[threadIdx.x] = value;
}

void run(float *x, float *y, int m) {
    int block = 64; // it may change
    dim3 threads(TILE, 8);
    const int count = N / TILE; /* 128 */
    sums::scale<float, 64><<<dim3(count, 2), threads, (TILE + 1) * 4>>>(x, y, 2.0f, count, m);
    fill<<<1, 64>>>((int *)x, 3);
    fill<<<2, block>>>((int *)x, 3);
}
