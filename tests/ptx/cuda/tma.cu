// cuda::ptx: tensor and bulk copies both ways, multicast, reductions, mbarriers with transactions, tensor maps that are
// changed, proxy fences, clusters, launches that depend on one another.
#include <cuda.h>
#include <cuda/ptx>

namespace ptx = cuda::ptx;

// The same place in the shared memory of another CTA of the cluster.
template <class T> __device__ T *of_rank(T *mine, unsigned rank) {
    return reinterpret_cast<T *>(__cluster_map_shared_rank(mine, rank));
}

extern "C" __global__ void __launch_bounds__(128) tensors(const __grid_constant__ CUtensorMap in,
                                                          const __grid_constant__ CUtensorMap out, int n) {
    __shared__ alignas(128) float tile[2][64 * 32];
    __shared__ alignas(8) uint64_t full[2];
    if (threadIdx.x == 0) {
        for (auto &bar : full)
            ptx::mbarrier_init(&bar, 1);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
        ptx::fence_proxy_async(ptx::space_shared);
    }
    __syncthreads();
    for (int i = 0; i < n; i++) {
        int slot = i & 1;
        if (threadIdx.x == 0) {
            int32_t at[2] = {32 * i, 64 * (int)blockIdx.x};
            ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile[slot], &in, at, &full[slot]);
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[slot], sizeof tile[0]);
        }
        while (!ptx::mbarrier_try_wait_parity(&full[slot], (i >> 1) & 1)) {
        }
        for (int k = threadIdx.x; k < 64 * 32; k += 128)
            tile[slot][k] *= 2;
        ptx::fence_proxy_async(ptx::space_shared);
        __syncthreads();
        if (threadIdx.x == 0) {
            int32_t at[2] = {32 * i, 64 * (int)blockIdx.x};
            ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &out, at, tile[slot]);
            ptx::cp_reduce_async_bulk_tensor(ptx::space_global, ptx::space_shared, ptx::op_add, &out, at, tile[slot]);
            ptx::cp_async_bulk_commit_group();
            ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
        }
        __syncthreads();
    }
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) bulks(int *out, const int *in, const __grid_constant__ CUtensorMap map) {
    __shared__ alignas(128) int tile[1024];
    __shared__ alignas(8) uint64_t bar;
    asm volatile("griddepcontrol.wait;" ::: "memory");
    if (threadIdx.x == 0) {
        ptx::mbarrier_init(&bar, 2);
        ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
    ptx::barrier_cluster_arrive(ptx::sem_release);
    ptx::barrier_cluster_wait(ptx::sem_acquire);
    if (threadIdx.x == 0) {
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile, in, 2048u, &bar);
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, tile + 512, in + 512, 1024u, &bar, (uint16_t)3);
        const int32_t at[3] = {0, 8, 16};
        ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, &map, at, &bar, (uint16_t)3);
        uint64_t state = ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cluster, ptx::space_shared, &bar, 3072u);
        ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster, of_rank(&bar, 1));
        while (!ptx::mbarrier_test_wait(&bar, state)) {
        }
        ptx::cp_async_bulk(ptx::space_cluster, ptx::space_shared, of_rank(tile, 1), tile, 512u,
                           of_rank(&bar, 1));
        ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_max, out, tile, 256u);
        ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out + 64, tile, 256u);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
    }
    ptx::st_async(of_rank(tile, 1), 7, of_rank(&bar, 1));
    ptx::red_async(ptx::op_add, of_rank(tile + 1, 1), 7, of_rank(&bar, 1));
    asm volatile("griddepcontrol.launch_dependents;");
    out[threadIdx.x] = tile[threadIdx.x] + (int)__cluster_query_shared_rank(tile);
}

extern "C" __global__ void maps(CUtensorMap *map, void *address) {
    __shared__ alignas(128) CUtensorMap copy;
    if (threadIdx.x < 32) {
        if (threadIdx.x == 0) {
            copy = *map;
            ptx::tensormap_replace_global_address(ptx::space_shared, &copy, address);
            ptx::tensormap_replace_rank(ptx::space_shared, &copy, 1u);
            ptx::tensormap_replace_elemtype(ptx::space_shared, &copy, ptx::n32_t<7>());
        }
        __syncwarp();
        ptx::tensormap_cp_fenceproxy(ptx::sem_release, ptx::scope_gpu, map, &copy, ptx::n32_t<128>());
        ptx::fence_proxy_tensormap_generic(ptx::sem_acquire, ptx::scope_gpu, map, ptx::n32_t<128>());
    }
}
