// Threads with each other: barriers with numbers and counts, votes, shuffles, clusters, mbarriers, asynchronous copies, and
// assembly that waits in a loop of its own.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/barrier>

namespace cg = cooperative_groups;

extern "C" __global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(256, 1) together(int *out, const int *in) {
    __shared__ int tile[256];
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    auto cluster = cg::this_cluster();
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    if (threadIdx.x == 0)
        init(&barrier, blockDim.x);
    __syncthreads();
    cuda::memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], sizeof(int), barrier);
    barrier.arrive_and_wait();
    int value = tile[threadIdx.x ^ 1];
    value += __shfl_xor_sync(~0u, value, 4) + __ballot_sync(~0u, value > 3) + __reduce_add_sync(~0u, (unsigned)value);
    value += cg::reduce(warp, value, cg::plus<int>());
    if (__syncthreads_or(value > 100))
        value += *cluster.map_shared_rank(&tile[threadIdx.x], 1);
    cluster.sync();
    value += __match_any_sync(__activemask(), value & 7);
    out[threadIdx.x] = value;
}

extern "C" __global__ void waits(int *out, unsigned phase) {
    __shared__ alignas(8) unsigned long long barrier;
    unsigned address = (unsigned)__cvta_generic_to_shared(&barrier);
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address), "r"(blockDim.x));
    __syncthreads();
    asm volatile("{ .reg .b64 state; mbarrier.arrive.shared::cta.b64 state, [%0]; }" ::"r"(address) : "memory");
    asm volatile("{\n\t.reg .pred P1;\n\tLAB_WAIT: // 1.\n\t"
                 "mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n\t@P1 bra DONE;\n\tbra LAB_WAIT;\n\tDONE:\n\t}" ::"r"(
                     address),
                 "r"(phase)
                 : "memory");
    asm volatile("bar.sync %0, %1;" ::"r"(1 + (int)(threadIdx.x >> 7)), "r"(128) : "memory");
    asm volatile("fence.proxy.async.shared::cta; fence.acq_rel.gpu;" ::: "memory");
    out[threadIdx.x] = 1;
}
