// Copies asynchronously to shared memory.
#include <cuda_pipeline.h>
extern "C" __global__ void stage(int *out, const int *in) {
    __shared__ int tile[64];
    int i = threadIdx.x;
    __pipeline_memcpy_async(&tile[i], &in[i], 4);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    out[i] = tile[63 - i];
}
