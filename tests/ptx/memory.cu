// Memory of every kind: vectors, atomics with scopes, volatile and read-only loads, cache hints, textures, half
// precision, carry chains, shared memory that is declared here and at the launch.
#include <cuda/atomic>
#include <cuda_fp16.h>
#include <cuda_bf16.h>

extern __shared__ float dynamic[];

extern "C" __global__ void accesses(float4 *out, const float4 *__restrict__ in, unsigned *counters, volatile int *flag,
                                    unsigned long long *wide, int n) {
    __shared__ double tile[32][33];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x & 31][threadIdx.x >> 5] = in[i].x;
    dynamic[threadIdx.x] = __ldg(&in[i].y);
    __syncthreads();
    float4 v = in[n - i];
    v.x += (float)tile[threadIdx.x >> 5][threadIdx.x & 31] + dynamic[255 - threadIdx.x];
    __stcs(&out[i], v);
    atomicAdd(&counters[0], 1u);
    atomicMax(&counters[1], (unsigned)i);
    atomicCAS(&counters[2], 0u, (unsigned)i);
    atomicAdd_system(&counters[3], 2u);
    atomicExch_block(&counters[4], 3u);
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> state(counters[5]);
    state.fetch_add(1u, cuda::memory_order_release);
    while (state.load(cuda::memory_order_acquire) < gridDim.x)
        __nanosleep(100);
    __threadfence();
    if (*flag)
        *flag = 0;
    unsigned long long product = wide[0] * wide[1] + __umul64hi(wide[2], wide[3]);
    wide[i] = product / 7 + (unsigned long long)clock64();
}

extern "C" __global__ void halves(__half2 *a, __nv_bfloat162 *b, float *c, cudaTextureObject_t texture) {
    int i = threadIdx.x;
    a[i] = __hfma2(a[i], a[i], __float2half2_rn(c[i]));
    b[i] = __hmul2(b[i], b[i]);
    c[i] = __expf(c[i]) + rsqrtf(c[i]) + tex2D<float>(texture, c[i], 0.5f) + __sinf(c[i]) + fmodf(c[i], 3.0f);
    c[i] = (float)((double)c[i] / 3.0);
}
