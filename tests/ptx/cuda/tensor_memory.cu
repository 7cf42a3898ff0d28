// for sm_100a
// Tensor memory: allocation, copies, loads and stores, MMA of one and two CTAs with commits to mbarriers, fences.
#include <cuda/ptx>

namespace ptx = cuda::ptx;

extern "C" __global__ void __launch_bounds__(128) one(unsigned *out, uint64_t left, uint64_t right, unsigned description) {
    __shared__ alignas(16) uint32_t base;
    __shared__ alignas(8) uint64_t done;
    if (threadIdx.x < 32) {
        ptx::tcgen05_alloc(ptx::cta_group_1, &base, 256u);
        ptx::tcgen05_relinquish_alloc_permit(ptx::cta_group_1);
    }
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&done, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    ptx::tcgen05_fence_before_thread_sync();
    __syncthreads();
    ptx::tcgen05_fence_after_thread_sync();
    uint32_t tensor = base;
    if (threadIdx.x == 0) {
        ptx::tcgen05_cp_128x256b(ptx::cta_group_1, tensor + 128, left);
        for (int k = 0; k < 4; k++)
            ptx::tcgen05_mma(ptx::kind_f16, ptx::cta_group_1, tensor, left + 2 * k, right + 2 * k, description, k != 0);
        ptx::tcgen05_commit(ptx::cta_group_1, &done);
    }
    while (!ptx::mbarrier_try_wait_parity(&done, 0u)) {
    }
    ptx::tcgen05_fence_after_thread_sync();
    uint32_t values[16];
    ptx::tcgen05_ld_32x32b(values, tensor + ((threadIdx.x / 32) << 21));
    ptx::tcgen05_wait_ld();
    for (auto &value : values)
        value += 1;
    ptx::tcgen05_st_32x32b(tensor + ((threadIdx.x / 32) << 21), values);
    ptx::tcgen05_wait_st();
    for (int i = 0; i < 16; i++)
        out[16 * threadIdx.x + i] = values[i];
    ptx::tcgen05_fence_before_thread_sync();
    __syncthreads();
    if (threadIdx.x < 32)
        ptx::tcgen05_dealloc(ptx::cta_group_1, tensor, 256u);
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) two(uint64_t left, uint64_t right, unsigned description) {
    __shared__ alignas(16) uint32_t base;
    __shared__ alignas(8) uint64_t done;
    if (threadIdx.x < 32)
        ptx::tcgen05_alloc(ptx::cta_group_2, &base, 128u);
    if (threadIdx.x == 0)
        ptx::mbarrier_init(&done, 1);
    ptx::barrier_cluster_arrive();
    ptx::barrier_cluster_wait();
    if (threadIdx.x == 0) {
        ptx::tcgen05_mma(ptx::kind_tf32, ptx::cta_group_2, base, left, right, description, false);
        ptx::tcgen05_mma(ptx::kind_f8f6f4, ptx::cta_group_2, base, base + 64, right, description, true);
        ptx::tcgen05_shift_down(ptx::cta_group_2, base);
        ptx::tcgen05_commit_multicast(ptx::cta_group_2, &done, (uint16_t)3);
    }
    while (!ptx::mbarrier_try_wait_parity(&done, 0u)) {
    }
    asm volatile("{ .reg .b32 a, b; .reg .pred p; tcgen05.ld.sync.aligned.16x64b.x1.b32 {a}, [%0]; tcgen05.wait::ld.sync.aligned; "
                 "elect.sync _|p, -1; @p st.shared.b32 [%1], a; }" ::"r"(base),
                 "r"((unsigned)__cvta_generic_to_shared(&base))
                 : "memory");
    if (threadIdx.x < 32)
        ptx::tcgen05_dealloc(ptx::cta_group_2, base, 128u);
}
