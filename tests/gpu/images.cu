// What a program sees of its own kernels, and what launches cost: the output is the same plain and under `weir exec`, but for the lines that begin with "time".
// (scripts/gpu/images compares them.)
#include <algorithm>
#include <chrono>
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t error = (call);                                                                \
        if (error)                                                                                 \
            printf("line %d: %s\n", __LINE__, cudaGetErrorName(error));                            \
    } while (0)

// ---- Variables of the module ----

__device__ int counter = 5;
static __device__ int table[4] = {1, 2, 3, 4};
static __constant__ float factors[4] = {1, 2, 3, 4};
__managed__ int shared_with_host = 7;
__device__ int *where;

__global__ void uses_variables(float *out, int i) {
    counter += table[i & 3];
    atomicAdd(&table[1], 1);
    shared_with_host += 2;
    const float *from = i & 1 ? factors : out + 8; // a generic address of constant memory
    out[0] = factors[i & 3] + factors[1];
    out[1] = from[i & 3];
    out[2] = (float)counter;
    where = &table[2];
}

__global__ void by_address(float *out) {
    *where += 10;
    out[3] = (float)*where;
}

static void variables() {
    float *out, host[4];
    CHECK(cudaMalloc(&out, 64 * sizeof *out));
    CHECK(cudaMemset(out, 0, 64 * sizeof *out));
    for (int i = 0; i < 8; i++) {
        float more = (float)(10 * i);
        CHECK(cudaMemcpyToSymbol(factors, &more, sizeof more, sizeof more));
        uses_variables<<<1, 1>>>(out, 3);
        by_address<<<1, 1>>>(out);
        CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
        int now, tables[4];
        CHECK(cudaMemcpyFromSymbol(&now, counter, sizeof now));
        CHECK(cudaMemcpyFromSymbol(tables, table, sizeof tables));
        printf("variables %d: %g %g %g %g, counter %d, table %d %d %d %d, managed %d\n", i, host[0], host[1], host[2], host[3], now,
               tables[0], tables[1], tables[2], tables[3], shared_with_host);
    }
}

// ---- Textures and surfaces ----

__global__ void samples(cudaTextureObject_t texture, cudaSurfaceObject_t surface, float *out) {
    int x = threadIdx.x, y = threadIdx.y;
    float value = tex2D<float>(texture, x + 0.5f, y + 0.5f);
    surf2Dwrite(value * 2, surface, x * (int)sizeof(float), y);
    out[y * 8 + x] = value;
}

static void textures() {
    std::vector<float> data(64), back(64);
    for (int i = 0; i < 64; i++)
        data[i] = (float)i;
    cudaArray_t array, written;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    CHECK(cudaMallocArray(&array, &format, 8, 8));
    CHECK(cudaMallocArray(&written, &format, 8, 8, cudaArraySurfaceLoadStore));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, data.data(), 32, 32, 8, cudaMemcpyHostToDevice));
    cudaResourceDesc resource = {}, target = {};
    resource.resType = target.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    target.res.array.array = written;
    cudaTextureDesc about = {};
    cudaTextureObject_t texture;
    cudaSurfaceObject_t surface;
    CHECK(cudaCreateTextureObject(&texture, &resource, &about, nullptr));
    CHECK(cudaCreateSurfaceObject(&surface, &target));
    float *out, sum = 0, sums = 0;
    CHECK(cudaMalloc(&out, 64 * sizeof *out));
    for (int i = 0; i < 5; i++)
        samples<<<1, dim3(8, 8)>>>(texture, surface, out);
    CHECK(cudaMemcpy(data.data(), out, 256, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy2DFromArray(back.data(), 32, written, 0, 0, 32, 8, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++)
        sum += data[i], sums += back[i];
    printf("textures: %g %g\n", sum, sums);
}

// ---- What is asked, and what is set ----

__global__ void heavy(float *out, int n) { // many registers: with what records it, fewer threads fit
    float v[96];
#pragma unroll
    for (int i = 0; i < 96; i++)
        v[i] = out[(threadIdx.x * 7 + i * n) & 1023];
    for (int k = 0; k < n; k++)
#pragma unroll
        for (int i = 0; i < 96; i++)
            v[i] = v[i] * v[(i + 1) % 96] + v[(i + 31) % 96];
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 96; i++)
        sum += v[i];
    out[1024 + blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void wants_shared(int *out, int words) {
    extern __shared__ int memory[];
    for (int i = threadIdx.x; i < words; i += blockDim.x)
        memory[i] = i;
    __syncthreads();
    if (!threadIdx.x)
        out[blockIdx.x] = memory[words - 1];
}

static __device__ unsigned arrived;
__global__ void meets(unsigned *out) {
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    if (!threadIdx.x)
        atomicAdd(&arrived, 1);
    grid.sync();
    if (!grid.thread_rank())
        *out = arrived;
}

template <class F> static void tell(const char *name, F *kernel, int block) {
    cudaFuncAttributes about;
    int blocks = 0, grid = 0, size = 0;
    CHECK(cudaFuncGetAttributes(&about, kernel));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, block, 0));
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &size, kernel));
    printf("%s: registers %d, shared %zu, local %zu, constant %zu, threads %d, dynamic %d, carveout %d, occupancy %d, potential %d x %d\n", name,
           about.numRegs, about.sharedSizeBytes, about.localSizeBytes, about.constSizeBytes, about.maxThreadsPerBlock,
           about.maxDynamicSharedSizeBytes, about.preferredShmemCarveout, blocks, grid, size);
}

static void attributes() {
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    float *out;
    int *words, word = 0;
    CHECK(cudaMalloc(&out, 1 << 22));
    CHECK(cudaMemset(out, 0, 1 << 22));
    CHECK(cudaMalloc(&words, 4096));
    CHECK(cudaFuncSetCacheConfig(heavy, cudaFuncCachePreferL1));
    for (int i = 0; i < 5; i++) {
        cudaFuncAttributes about;
        CHECK(cudaFuncGetAttributes(&about, heavy));
        heavy<<<4, about.maxThreadsPerBlock>>>(out, 3);
        CHECK(cudaGetLastError());
        tell("heavy", heavy, 256);
    }
    CHECK(cudaFuncSetAttribute(wants_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10));
    CHECK(cudaFuncSetAttribute(wants_shared, cudaFuncAttributePreferredSharedMemoryCarveout, 100));
    for (int i = 0; i < 5; i++) {
        wants_shared<<<8, 256, 200 << 10>>>(words, (200 << 10) / 4);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(&word, words + 7, sizeof word, cudaMemcpyDeviceToHost));
        printf("dynamic shared memory: %d\n", word);
    }
    tell("wants_shared", wants_shared, 256);
    for (int i = 0; i < 5; i++) { // as large a grid as there can be
        unsigned *count, host = 0, zero = 0;
        int blocks = 0;
        CHECK(cudaMalloc(&count, 4));
        CHECK(cudaMemcpyToSymbol(arrived, &zero, sizeof zero));
        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, meets, 256, 0));
        void *parameters[] = {&count};
        CHECK(cudaLaunchCooperativeKernel((void *)meets, dim3(blocks * device.multiProcessorCount), dim3(256), parameters));
        CHECK(cudaMemcpy(&host, count, 4, cudaMemcpyDeviceToHost));
        printf("cooperative: %d of %d\n", (int)host, blocks * device.multiProcessorCount);
    }
    CHECK(cudaDeviceSynchronize());
}

// ---- Kernels that wait for each other, calls by address, printf ----

__global__ void waits(volatile int *flag, int *met) {
    long long begin = clock64();
    while (!*flag && clock64() - begin < 6000000000ll)
        ;
    *met = *flag;
}
__global__ void sets(volatile int *flag) {
    *flag = 1;
}

struct Shape {
    __device__ virtual int area(int x) = 0;
};
struct Square : Shape {
    __device__ int area(int x) override { return x * x; }
};
__device__ Shape *shape;
__global__ void makes() {
    shape = new Square;
}
__global__ void calls(int *out) {
    *out = shape->area(7);
}
__global__ void prints(int i) {
    if (!threadIdx.x)
        printf("kernel %d prints\n", i);
}

static void others() {
    cudaFuncAttributes about; // both are loaded before either runs
    CHECK(cudaFuncGetAttributes(&about, waits));
    CHECK(cudaFuncGetAttributes(&about, sets));
    int *flag, host = 0;
    cudaStream_t one, two;
    CHECK(cudaMalloc(&flag, 8));
    CHECK(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    for (int i = 0; i < 5; i++) {
        CHECK(cudaMemset(flag, 0, 8));
        CHECK(cudaDeviceSynchronize());
        waits<<<1, 1, 0, one>>>(flag, flag + 1);
        sets<<<1, 1, 0, two>>>(flag);
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaMemcpy(&host, flag + 1, 4, cudaMemcpyDeviceToHost));
        printf("kernels that wait for each other: %s\n", host ? "met" : "did not meet");
    }
    makes<<<1, 1>>>();
    for (int i = 0; i < 5; i++) {
        calls<<<1, 1>>>(flag);
        CHECK(cudaMemcpy(&host, flag, 4, cudaMemcpyDeviceToHost));
        printf("called by address: %d\n", host);
        prints<<<1, 32>>>(i);
        CHECK(cudaDeviceSynchronize());
    }
}

// ---- Time ----

__global__ void nothing(float *a, float *b, int n) {
}
template <int T> __global__ void tiled(const float *A, const float *B, float *C, int n) {
    __shared__ float a[T][T], b[T][T];
    int x = threadIdx.x, y = threadIdx.y, col = blockIdx.x * T + x, row = blockIdx.y * T + y;
    float s = 0;
    for (int k = 0; k < n; k += T) {
        a[y][x] = A[row * n + k + x];
        b[y][x] = B[(k + y) * n + col];
        __syncthreads();
        for (int i = 0; i < T; i++)
            s += a[y][i] * b[i][x];
        __syncthreads();
    }
    C[row * n + col] = s;
}
__global__ void stencil(const float *x, float *y, int n) { // with constants
    __shared__ float s[258];
    int i = blockIdx.x * 256 + threadIdx.x;
    s[threadIdx.x + 1] = x[i];
    if (threadIdx.x < 2)
        s[threadIdx.x * 257] = x[threadIdx.x ? min(i + 255, n - 1) : max(i - 1, 0)];
    __syncthreads();
    y[i] = factors[0] * s[threadIdx.x] + factors[2] * s[threadIdx.x + 1] + factors[3] * s[threadIdx.x + 2];
}
__global__ void reduce(const float *x, float *out, int n) {
    __shared__ float s[256];
    float v = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
        v += x[i];
    s[threadIdx.x] = v;
    __syncthreads();
    for (int d = 128; d; d >>= 1) {
        if (threadIdx.x < d)
            s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    if (!threadIdx.x)
        atomicAdd(out, s[0]);
}

// Holds the stream until the host has put everything behind it: else what lies between two events is the host's time between its calls, too.
__global__ void hold(unsigned long long nanoseconds) {
    unsigned long long begin, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - begin < nanoseconds);
}

template <class F> static void time_of(const char *name, F launch) {
    cudaEvent_t begin, end;
    std::vector<float> times;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    for (int i = 0; i < 60; i++) {
        float ms;
        hold<<<1, 1>>>(200000);
        CHECK(cudaEventRecord(begin));
        launch();
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        CHECK(cudaEventElapsedTime(&ms, begin, end));
        times.push_back(ms * 1000);
    }
    printf("time first %s %.2f\n", name, times[0]);
    printf("time recorded %s %.2f\n", name, times[2]);
    std::sort(times.begin() + 10, times.end());
    printf("time kernel %s %.2f\n", name, times[35]);
}

static void times() {
    float *d;
    int n = 1024, m = 1 << 24;
    CHECK(cudaMalloc(&d, (size_t)m * 8));
    CHECK(cudaMemset(d, 0, (size_t)m * 8));
    time_of("tiled16", [=] { tiled<16><<<dim3(n / 16, n / 16), dim3(16, 16)>>>(d, d + n * n, d + 2 * n * n, n); });
    time_of("stencil", [=] { stencil<<<m / 256, 256>>>(d, d + m, m); });
    time_of("reduce", [=] { reduce<<<528, 256>>>(d, d + m, m); });
    std::vector<double> calls;
    for (int i = 0; i < 200; i++) {
        auto begin = std::chrono::steady_clock::now();
        for (int k = 0; k < 100; k++)
            nothing<<<1, 32>>>(d, d + 1, n);
        calls.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() / 100);
        CHECK(cudaDeviceSynchronize());
    }
    std::sort(calls.begin(), calls.end());
    printf("time call nothing %.3f\n", calls[100]);
}

int main(int count, char **words) {
    if (count > 1 && !freopen(words[1], "w", stdout))
        return 2;
    variables();
    textures();
    attributes();
    others();
    times();
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
