// CUDA C++ kernels of the usual kinds, timed one launch at a time: cuda LAUNCHES. A line for each: its name, and the
// milliseconds of each launch, by events around it. What they compute is checked at the end (scripts/gpu/bench cuda).
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <unistd.h>
#include <vector>

constexpr int SIDE = 1024, COUNT = 1 << 24, RADIUS = 4;
__constant__ float weights[2 * RADIUS + 1];

template <int T> __global__ void product(const float *a, const float *b, float *c, int n) {
    __shared__ float tile_a[T][T], tile_b[T][T + 1];
    int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * T + x, row = blockIdx.y * T + y;
    float sum = 0;
    for (int k = 0; k < n; k += T) {
        tile_a[y][x] = a[row * n + k + x];
        tile_b[y][x] = b[(k + y) * n + column];
        __syncthreads();
        for (int i = 0; i < T; i++)
            sum += tile_a[y][i] * tile_b[i][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

// 8 x 8 results a thread.
__global__ void product_registers(const float *a, const float *b, float *c, int n) {
    constexpr int TILE = 128, DEPTH = 8;
    __shared__ float tile_a[DEPTH][TILE], tile_b[DEPTH][TILE];
    int t = threadIdx.x, row = blockIdx.y * TILE, column = blockIdx.x * TILE;
    float sums[8][8] = {};
    for (int k = 0; k < n; k += DEPTH) {
        for (int i = t; i < TILE * DEPTH; i += 256) {
            tile_a[i % DEPTH][i / DEPTH] = a[(row + i / DEPTH) * n + k + i % DEPTH];
            tile_b[i / TILE][i % TILE] = b[(k + i / TILE) * n + column + i % TILE];
        }
        __syncthreads();
        for (int d = 0; d < DEPTH; d++)
            for (int i = 0; i < 8; i++)
                for (int j = 0; j < 8; j++)
                    sums[i][j] += tile_a[d][t / 16 * 8 + i] * tile_b[d][t % 16 * 8 + j];
        __syncthreads();
    }
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++)
            c[(row + t / 16 * 8 + i) * n + column + t % 16 * 8 + j] = sums[i][j];
}

__global__ void scaled(const float *x, float *y, float by, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = by * x[i] + 1;
}

__global__ void total(const float *x, float *out, int n) {
    __shared__ float sums[256];
    float sum = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
        sum += x[i];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 128; half; half >>= 1) {
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (!threadIdx.x)
        atomicAdd(out, sums[0]);
}

__global__ void total_shuffled(const float *x, float *out, int n) {
    __shared__ float sums[32];
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += x[i];
    for (int by = 16; by; by >>= 1)
        sum += __shfl_down_sync(~0u, sum, by);
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? sums[threadIdx.x] : 0;
        for (int by = 16; by; by >>= 1)
            sum += __shfl_down_sync(~0u, sum, by);
        if (!threadIdx.x)
            atomicAdd(out, sum);
    }
}

__global__ void histogram(const unsigned *x, unsigned *out, int n) {
    __shared__ unsigned bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
        atomicAdd(&bins[x[i] >> 8 & 255], 1);
    __syncthreads();
    atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

__global__ void stencil(const float *x, float *y, int n) {
    __shared__ float near[256 + 2 * RADIUS];
    int i = blockIdx.x * 256 + threadIdx.x;
    near[threadIdx.x + RADIUS] = x[i];
    if (threadIdx.x < RADIUS) {
        near[threadIdx.x] = i >= RADIUS ? x[i - RADIUS] : 0;
        near[threadIdx.x + 256 + RADIUS] = i + 256 < n ? x[i + 256] : 0;
    }
    __syncthreads();
    float sum = 0;
    for (int k = 0; k <= 2 * RADIUS; k++)
        sum += weights[k] * near[threadIdx.x + k];
    y[i] = sum;
}

// Of each block; twice as many elements as threads.
__global__ void scan(const float *x, float *y) {
    __shared__ float row[512];
    int t = threadIdx.x, first = blockIdx.x * 512;
    row[2 * t] = x[first + 2 * t];
    row[2 * t + 1] = x[first + 2 * t + 1];
    int step = 1;
    for (int d = 256; d; d >>= 1, step *= 2) {
        __syncthreads();
        if (t < d)
            row[step * (2 * t + 2) - 1] += row[step * (2 * t + 1) - 1];
    }
    if (!t)
        row[511] = 0;
    for (int d = 1; d < 512; d *= 2) {
        step >>= 1;
        __syncthreads();
        if (t < d) {
            float left = row[step * (2 * t + 1) - 1];
            row[step * (2 * t + 1) - 1] = row[step * (2 * t + 2) - 1];
            row[step * (2 * t + 2) - 1] += left;
        }
    }
    __syncthreads();
    y[first + 2 * t] = row[2 * t];
    y[first + 2 * t + 1] = row[2 * t + 1];
}

__global__ void transposed(const float *x, float *y, int n) {
    __shared__ float tile[32][33];
    int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        tile[threadIdx.y + i][threadIdx.x] = x[(row + i) * n + column];
    __syncthreads();
    column = blockIdx.y * 32 + threadIdx.x, row = blockIdx.x * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        y[(row + i) * n + column] = tile[threadIdx.x][threadIdx.y + i];
}

__global__ void sorted(unsigned *x) {
    __shared__ unsigned keys[512];
    int t = threadIdx.x;
    unsigned *own = x + blockIdx.x * 512;
    keys[t] = own[t];
    keys[t + 256] = own[t + 256];
    for (int size = 2; size <= 512; size *= 2)
        for (int by = size / 2; by; by /= 2) {
            __syncthreads();
            int at = 2 * t - (t & (by - 1));
            bool up = (at & size) == 0;
            unsigned low = keys[at], high = keys[at + by];
            if ((low > high) == up) {
                keys[at] = high;
                keys[at + by] = low;
            }
        }
    __syncthreads();
    own[t] = keys[t];
    own[t + 256] = keys[t + 256];
}

static int launches;

// Holds the stream until the host has put everything behind it: else what lies between two events is the host's time between its calls, too.
__global__ void hold(unsigned long long nanoseconds) {
    unsigned long long begin, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - begin < nanoseconds);
}

static void timed(const char *name, const std::function<void()> &launch) {
    cudaEvent_t begin, end;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    printf("%s", name);
    for (int i = 0; i < launches; i++) {
        float milliseconds;
        hold<<<1, 1>>>(200000);
        cudaEventRecord(begin);
        launch();
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        cudaEventElapsedTime(&milliseconds, begin, end);
        usleep(20000); // what takes records off the device is done by then
        printf(" %.5f", milliseconds);
    }
    printf("\n");
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
}

int main(int count, char **arguments) {
    launches = count > 1 ? atoi(arguments[1]) : 40;
    float *x, *y, *z, host[2 * RADIUS + 1];
    unsigned *numbers;
    std::vector<unsigned> random(COUNT);
    for (int i = 0; i < COUNT; i++)
        random[i] = (unsigned)i * 2654435761u >> 3;
    for (int i = 0; i <= 2 * RADIUS; i++)
        host[i] = 1.f / (i + 1);
    cudaMalloc(&x, COUNT * sizeof *x);
    cudaMalloc(&y, COUNT * sizeof *y);
    cudaMalloc(&z, COUNT * sizeof *z);
    cudaMalloc(&numbers, COUNT * sizeof *numbers);
    cudaMemset(x, 0, COUNT * sizeof *x);
    cudaMemset(y, 0, COUNT * sizeof *y);
    cudaMemcpy(numbers, random.data(), COUNT * sizeof *numbers, cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(weights, host, sizeof host);
    timed("product of 16 x 16", [=] { product<16><<<dim3(SIDE / 16, SIDE / 16), dim3(16, 16)>>>(x, x + SIDE * SIDE, y, SIDE); });
    timed("product of 32 x 32", [=] { product<32><<<dim3(SIDE / 32, SIDE / 32), dim3(32, 32)>>>(x, x + SIDE * SIDE, y, SIDE); });
    timed("product registers", [=] { product_registers<<<dim3(SIDE / 128, SIDE / 128), 256>>>(x, x + SIDE * SIDE, y, SIDE); });
    timed("scaled", [=] { scaled<<<COUNT / 256, 256>>>(x, y, 2, COUNT); });
    timed("total", [=] { total<<<528, 256>>>(y, z, COUNT); });
    timed("total shuffled", [=] { total_shuffled<<<264, 1024>>>(y, z, COUNT); });
    timed("histogram", [=] { histogram<<<528, 256>>>(numbers, (unsigned *)z + 1024, COUNT); });
    timed("stencil", [=] { stencil<<<COUNT / 256, 256>>>(y, z, COUNT); });
    timed("scan", [=] { scan<<<COUNT / 512, 256>>>(y, z); });
    timed("transposed", [=] { transposed<<<dim3(4096 / 32, 4096 / 32), dim3(32, 8)>>>(y, z, 4096); });
    timed("sorted", [=] { sorted<<<4096, 256>>>(numbers); });
    std::vector<unsigned> result(COUNT);
    cudaMemcpy(result.data(), numbers, COUNT * sizeof *numbers, cudaMemcpyDeviceToHost);
    unsigned sum = 0;
    for (int i = 0; i < COUNT; i++)
        sum = sum * 31 + result[i];
    cudaMemcpy(result.data(), z, COUNT * sizeof *z, cudaMemcpyDeviceToHost);
    for (int i = 0; i < COUNT; i++)
        sum = sum * 31 + result[i];
    printf("sum %u %s\n", sum, cudaGetErrorString(cudaDeviceSynchronize()));
}
