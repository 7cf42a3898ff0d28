// Spaces: generic pointers, constants, local arrays, structures as parameters, atomics, clusters, calls.
#include <cooperative_groups.h>
struct Work {
    int *to;
    const int *from;
    int n, stride[3];
    short small[5];
};
__constant__ int table[64];
__device__ int counter;
__device__ int *elsewhere;

__device__ __noinline__ int picked(const int *from, int i) {
    return i & 1 ? from[i] : i * 2;
}

extern "C" __global__ void by_value(Work work) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < work.n)
        work.to[i * work.stride[1]] = picked(work.from, i) + work.small[i % 5] + table[threadIdx.x & 63] + table[work.n & 63];
}

extern "C" __global__ void generic(int *to, int which) {
    __shared__ int shared[128];
    int local[16];
    for (int i = 0; i < 16; i++)
        local[i] = i * which;
    shared[threadIdx.x & 127] = which;
    __syncthreads();
    const int *from = which == 0 ? to : which == 1 ? shared : which == 2 ? elsewhere : local;
    to[threadIdx.x] = from[threadIdx.x & 15] + picked(shared, threadIdx.x & 127) + local[which & 15];
}

extern "C" __global__ void tickets(int *to) {
    __shared__ int mine;
    if (threadIdx.x == 0)
        mine = atomicAdd(&counter, 1);
    __syncthreads();
    to[mine & 255] = atomicMax(&to[threadIdx.x & 7], mine) + atomicCAS(&to[300], 5, (int)threadIdx.x);
}

extern "C" __global__ __cluster_dims__(2) void neighbors(int *to) {
    __shared__ int row[64];
    auto cluster = cooperative_groups::this_cluster();
    row[threadIdx.x & 63] = cluster.block_rank() * 100 + threadIdx.x;
    cluster.sync();
    int *other = cluster.map_shared_rank(row, cluster.block_rank() ^ 1);
    to[blockIdx.x * blockDim.x + threadIdx.x] = other[63 - (threadIdx.x & 63)];
    cluster.sync();
}

__device__ int doubled(int x) { return 2 * x; }
__device__ int squared(int x) { return x * x; }
__device__ int (*const functions[2])(int) = {doubled, squared};
extern "C" __global__ void chosen(int *to, const int *which) {
    int i = threadIdx.x;
    to[i] = functions[which[i] & 1](i) + functions[which[0] & 1](blockIdx.x);
}

__device__ __noinline__ int depth(int n) {
    return n <= 0 ? 0 : 1 + depth(n - 1 - (n & 1));
}
extern "C" __global__ void recursive(int *to, int n) {
    to[threadIdx.x] = depth((threadIdx.x + n) & 15);
}
