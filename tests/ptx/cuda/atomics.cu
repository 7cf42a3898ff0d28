// Atomics: cuda::atomic with every order and scope, those of CUDA by type, 128 bits, floats and vectors, fences, counters.
#include <cuda/atomic>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <cuda::thread_scope SCOPE> __device__ unsigned orders(unsigned *at) {
    cuda::atomic_ref<unsigned, SCOPE> word(*at);
    unsigned got = word.load(cuda::memory_order_relaxed) + word.load(cuda::memory_order_acquire) + word.load();
    word.store(1, cuda::memory_order_relaxed);
    word.store(2, cuda::memory_order_release);
    word.store(3);
    got += word.fetch_add(1, cuda::memory_order_relaxed) + word.fetch_sub(1, cuda::memory_order_acquire) +
           word.fetch_and(7, cuda::memory_order_release) + word.fetch_or(1, cuda::memory_order_acq_rel) + word.fetch_xor(3) +
           word.fetch_min(9) + word.fetch_max(4) + word.exchange(5);
    unsigned expected = got;
    while (!word.compare_exchange_weak(expected, expected + 1, cuda::memory_order_acq_rel, cuda::memory_order_relaxed)) {
    }
    word.compare_exchange_strong(expected, 0);
    cuda::atomic_thread_fence(cuda::memory_order_release, SCOPE);
    cuda::atomic_thread_fence(cuda::memory_order_acquire, SCOPE);
    cuda::atomic_thread_fence(cuda::memory_order_seq_cst, SCOPE);
    return got;
}

struct alignas(16) Wide {
    unsigned long long low, high;
};

extern "C" __global__ void scopes(unsigned *words, unsigned char *bytes, unsigned short *shorts, Wide *wide, float *floats) {
    __shared__ unsigned mine;
    unsigned got = orders<cuda::thread_scope_block>(&mine) + orders<cuda::thread_scope_device>(words) +
                   orders<cuda::thread_scope_system>(words + 1) + orders<cuda::thread_scope_thread>(words + 2);
    cuda::atomic_ref<unsigned char, cuda::thread_scope_device> byte(*bytes);
    cuda::atomic_ref<unsigned short, cuda::thread_scope_device> narrow(*shorts);
    cuda::atomic_ref<float, cuda::thread_scope_device> real(*floats);
    got += byte.fetch_add(1) + narrow.exchange(2) + (unsigned)real.fetch_add(1.5f) + (unsigned)real.fetch_max(2.0f);
    Wide old = {got, got}, next = {1, 2};
    unsigned long long low, high;
    asm volatile("{ .reg .b128 e, n, o; mov.b128 e, {%3, %4}; mov.b128 n, {%5, %6}; atom.acq_rel.gpu.global.cas.b128 o, [%2], e, n; "
                 "mov.b128 {%0, %1}, o; }"
                 : "=l"(low), "=l"(high)
                 : "l"(wide), "l"(old.low), "l"(old.high), "l"(next.low), "l"(next.high)
                 : "memory");
    words[3 + threadIdx.x] = got + (unsigned)low;
}

extern "C" __global__ void plain(int *a, unsigned long long *b, float *c, double *d, __half2 *e, __nv_bfloat16 *f, float4 *g) {
    __shared__ int mine[32];
    mine[threadIdx.x & 31] = 0;
    __syncthreads();
    atomicAdd(&mine[threadIdx.x & 31], 1);
    atomicInc((unsigned *)&mine[1], 31u);
    atomicDec((unsigned *)a, 7u);
    atomicSub(a + 1, 3);
    atomicAnd_block(a + 2, 3);
    atomicOr_system(a + 3, 4);
    atomicXor(a + 4, atomicExch(a + 5, 6));
    atomicMin((long long *)b, -4ll);
    atomicMax(b + 1, 4ull);
    atomicCAS((unsigned short *)(b + 2), (unsigned short)1, (unsigned short)2);
    atomicAdd(c, 1.0f);
    atomicAdd(d, 1.0);
    atomicAdd(e, __float2half2_rn(1.0f));
    atomicAdd(f, __float2bfloat16(1.0f));
    atomicAdd(g, make_float4(1, 2, 3, 4));
    __threadfence_block();
    __threadfence();
    __threadfence_system();
    asm volatile("red.relaxed.gpu.global.add.u32 [%0], 1;" ::"l"(a) : "memory");
    asm volatile("multimem.red.relaxed.sys.global.add.f32 [%0], 0f3F800000;" ::"l"(c) : "memory");
    asm volatile("fence.proxy.alias; membar.gl; fence.sc.cluster;" ::: "memory");
    __nv_bfloat16 last = __ldcg(f);
    f[threadIdx.x] = last;
    a[6 + threadIdx.x] = __ldcv(a) + __ldca(a + 1) + __ldlu(a + 2);
    __stwt(a + 7, mine[threadIdx.x & 31]);
}
