/* T11: which machine instructions do the scopes, orders and fences become?
 *
 * A kernel per statement; nothing is run. run.sh disassembles the file and prints the instructions of each kernel that
 * move data, order memory or touch a barrier. Two statements with the same code cannot differ on this target. */
#include <cstdint>

/* The statement stands between a store and a load, which it may have to keep in order. */
#define STATEMENT(name, text)                                                            \
    extern "C" __global__ void name(uint32_t barrier, uint32_t data, uint32_t *global) { \
        uint32_t value;                                                                  \
        asm volatile("st.shared.u32 [%1], %1;\n"                                         \
                     "st.global.u32 [%2], %1;\n"                                         \
                     "{\n"                                                               \
                     ".reg .pred done;\n" text "\n"                                      \
                     "}\n"                                                               \
                     "ld.global.u32 %0, [%2+8];"                                         \
                     : "=r"(value)                                                       \
                     : "r"(data), "l"(__cvta_generic_to_global(global)), "r"(barrier)    \
                     : "memory");                                                        \
        global[1] = value;                                                               \
    }

STATEMENT(a01_arrive_local_unnamed, "mbarrier.arrive.shared::cta.b64 _, [%3];")
STATEMENT(a02_arrive_local_release_cta, "mbarrier.arrive.release.cta.shared::cta.b64 _, [%3];")
STATEMENT(a03_arrive_local_release_cluster, "mbarrier.arrive.release.cluster.shared::cta.b64 _, [%3];")
STATEMENT(a04_arrive_remote_unnamed, "mbarrier.arrive.shared::cluster.b64 _, [%3];")
STATEMENT(a05_arrive_remote_release_cta, "mbarrier.arrive.release.cta.shared::cluster.b64 _, [%3];")
STATEMENT(a06_arrive_remote_release_cluster, "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%3];")
STATEMENT(a07_arrive_remote_relaxed_cluster, "mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%3];")
STATEMENT(b01_try_wait_unnamed, "mbarrier.try_wait.parity.shared::cta.b64 done, [%3], 0;")
STATEMENT(b02_try_wait_acquire_cta, "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 done, [%3], 0;")
STATEMENT(b03_try_wait_acquire_cluster, "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%3], 0;")
STATEMENT(b04_try_wait_relaxed_cluster, "mbarrier.try_wait.parity.relaxed.cluster.shared::cta.b64 done, [%3], 0;")
STATEMENT(c01_fence_async, "fence.proxy.async;")
STATEMENT(c02_fence_async_global, "fence.proxy.async.global;")
STATEMENT(c03_fence_async_shared_cta, "fence.proxy.async.shared::cta;")
STATEMENT(c04_fence_async_shared_cluster, "fence.proxy.async.shared::cluster;")
STATEMENT(c05_fence_mbarrier_init, "fence.mbarrier_init.release.cluster;")
STATEMENT(d01_fence_acq_rel_cta, "fence.acq_rel.cta;")
STATEMENT(d02_fence_acq_rel_cluster, "fence.acq_rel.cluster;")
STATEMENT(d03_fence_acq_rel_gpu, "fence.acq_rel.gpu;")
STATEMENT(d04_cluster_arrive_release, "barrier.cluster.arrive.release;\n barrier.cluster.wait;")
STATEMENT(d05_cluster_arrive_relaxed, "barrier.cluster.arrive.relaxed;\n barrier.cluster.wait;")
STATEMENT(e01_bulk_wait, "cp.async.bulk.wait_group 0;")
STATEMENT(e02_bulk_wait_read, "cp.async.bulk.wait_group.read 0;")
