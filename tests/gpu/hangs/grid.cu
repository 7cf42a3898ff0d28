// Grids whose CTAs wait for others that do not come: at a barrier of cooperative groups, and at one by hand.
// nvcc -arch sm_90 -lineinfo -ptx grid.cu
#include <cooperative_groups.h>

extern "C" __global__ void returns_early(int *data, int early) {
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    data[at] = at;
    grid.sync();
    if (blockIdx.x == early)
        return;
    data[at] += 1;
    grid.sync(); // the others wait here
    data[at] += 1;
}

__device__ void meet(unsigned *count, unsigned all) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(count, 1);
        while (atomicAdd(count, 0) < all) { // the others wait here
        }
    }
    __syncthreads();
}

extern "C" __global__ void skips_some(unsigned *count, int *data) {
    data[blockIdx.x * blockDim.x + threadIdx.x] = 1;
    if (blockIdx.x != 1 && blockIdx.x != 2)
        meet(count, gridDim.x);
    data[blockIdx.x * blockDim.x + threadIdx.x] = 2;
}
