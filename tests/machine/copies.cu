// Kernels about asynchronous copies: cp.async of all sizes, with zeros, groups and mbarriers; bulk copies and reductions in
// all directions; shared memory of clusters, st.async, red.async, multicast.
#include <cooperative_groups.h>
#include <cstdint>

#define KERNEL extern "C" __global__ void
#define CLUSTER(n) __cluster_dims__(n, 1, 1)
namespace cg = cooperative_groups;

static __device__ uint32_t at(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
static __device__ void init(uint64_t *bar, int count) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(bar)), "r"(count) : "memory"); }
static __device__ void expect(uint64_t *bar, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(bar)), "r"(bytes) : "memory");
}
static __device__ void wait(uint64_t *bar, int parity) {
    asm volatile("{\n.reg .pred p;\nW: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra W;\n}" ::"r"(at(bar)), "r"(parity) : "memory");
}
static __device__ void wait_cluster(uint64_t *bar, int parity) {
    asm volatile("{\n.reg .pred p;\nW: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;\n@!p bra W;\n}" ::"r"(at(bar)), "r"(parity) : "memory");
}
static __device__ void async_fence() { asm volatile("fence.proxy.async;" ::: "memory"); }
static __device__ uint32_t there(uint32_t address, int rank) {
    uint32_t result;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(result) : "r"(address), "r"(rank));
    return result;
}
static __device__ void bulk_wait() { asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory"); }
static __device__ void load(void *to, const void *from, int bytes, uint64_t *bar) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(at(to)), "l"(from), "r"(bytes), "r"(at(bar)) : "memory");
}

template <int N> static __device__ void copy(const char *in, char *out) {
    __shared__ alignas(16) char x[128 * N];
    int t = threadIdx.x;
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;\ncp.async.commit_group;\ncp.async.wait_group 0;" ::"r"(at(x + t * N)), "l"(in + t * N), "n"(N) : "memory");
    __syncthreads();
    for (int i = t; i < 128 * N; i += 128)
        out[i] = x[128 * N - 1 - i];
}
KERNEL copy_4(const char *in, char *out) { copy<4>(in, out); }
KERNEL copy_8(const char *in, char *out) { copy<8>(in, out); }
KERNEL copy_16(const char *in, char *out) { copy<16>(in, out); }

KERNEL zero_filled(const char *in, char *out) {
    __shared__ alignas(16) char x[64 * 16];
    int t = threadIdx.x, size = t % 17;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\ncp.async.wait_all;" ::"r"(at(x + t * 16)), "l"(in + t * 16), "r"(size) : "memory");
    __syncthreads();
    for (int i = t; i < 64 * 16; i += 64)
        out[i] = x[i];
}

KERNEL ignored(const char *in, char *out) {
    __shared__ alignas(16) char x[64 * 8];
    int t = threadIdx.x;
    asm volatile("{\n.reg .pred p;\nsetp.ne.s32 p, %2, 0;\ncp.async.ca.shared.global [%0], [%1], 8, p;\n}\ncp.async.wait_all;" ::"r"(at(x + t * 8)), "l"(in + t * 8), "r"(t % 3) : "memory");
    __syncthreads();
    for (int i = t; i < 64 * 8; i += 64)
        out[i] = x[i];
}

// Four stages in flight.
KERNEL stages(const int *in, int *out, int rounds) {
    __shared__ int x[4][64];
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < 3; i++)
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;\ncp.async.commit_group;" ::"r"(at(&x[i][t])), "l"(in + i * 64 + t) : "memory");
    for (int i = 0; i < rounds; i++) {
        asm volatile("cp.async.wait_group 2;" ::: "memory");
        __syncthreads();
        sum = sum * 3 + x[i & 3][t ^ 5];
        if (i + 3 < rounds)
            asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at(&x[(i + 3) & 3][t])), "l"(in + (i + 3) * 64 + t) : "memory");
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    out[t] = sum;
}

KERNEL tracked(const int *in, int *out) {
    __shared__ uint64_t bar[2];
    __shared__ alignas(16) int x[2][64];
    int t = threadIdx.x;
    if (t == 0) {
        init(&bar[0], 64);
        init(&bar[1], 64);
    }
    __syncthreads();
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;\ncp.async.mbarrier.arrive.noinc.shared::cta.b64 [%2];" ::"r"(at(&x[0][t])), "l"(in + t), "r"(at(&bar[0])) : "memory");
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;\ncp.async.mbarrier.arrive.shared::cta.b64 [%2];" ::"r"(at(&x[1][t])), "l"(in + 64 + t), "r"(at(&bar[1])) : "memory");
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(&bar[1])) : "memory");
    wait(&bar[0], 0);
    wait(&bar[1], 0);
    out[t] = x[0][63 - t] - x[1][t ^ 32];
}

KERNEL bulk_load(const int *in, int *out, int bytes) {
    __shared__ uint64_t bar;
    __shared__ alignas(128) int x[512];
    int t = threadIdx.x;
    if (t == 0)
        init(&bar, 1);
    __syncthreads();
    for (int i = 0; i < 2; i++) {
        if (t == 0) {
            expect(&bar, bytes);
            load(x, in + i * 256, bytes / 2, &bar);
            load((char *)x + bytes / 2, in + 4 + i * 256, bytes / 2, &bar);
        }
        wait(&bar, i);
        for (int k = t; k < bytes / 4; k += 64)
            out[i * 512 + k] = x[k];
        __syncthreads();
        async_fence();
    }
}

KERNEL bulk_store(const int *in, int *out) {
    __shared__ alignas(128) int x[2][256];
    int t = threadIdx.x;
    for (int i = 0; i < 4; i++) {
        if (t == 0)
            asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
        __syncthreads();
        x[i & 1][t] = in[i * 256 + t] * (i + 1);
        async_fence();
        __syncthreads();
        if (t == 0)
            asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024;\ncp.async.bulk.commit_group;" ::"l"(out + i * 256), "r"(at(x[i & 1])) : "memory");
    }
    if (t == 0)
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

#define REDUCES(name, op, type, c)                                                                                             \
    KERNEL name(const c *in, c *out) {                                                                                         \
        __shared__ alignas(128) c x[64];                                                                                       \
        int t = threadIdx.x;                                                                                                   \
        x[t] = in[t];                                                                                                          \
        async_fence();                                                                                                         \
        __syncthreads();                                                                                                       \
        if (t == 0) {                                                                                                          \
            asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." op "." type " [%0], [%1], %2;" ::"l"(out),      \
                         "r"(at(x)), "n"(64 * sizeof(c))                                                                       \
                         : "memory");                                                                                          \
            bulk_wait();                                                                                                       \
        }                                                                                                                      \
    }
REDUCES(reduce_add_u32, "add", "u32", uint32_t)
REDUCES(reduce_add_u64, "add", "u64", uint64_t)
REDUCES(reduce_min_s32, "min", "s32", int32_t)
REDUCES(reduce_max_u32, "max", "u32", uint32_t)
REDUCES(reduce_max_s64, "max", "s64", int64_t)
REDUCES(reduce_min_u64, "min", "u64", uint64_t)
REDUCES(reduce_inc, "inc", "u32", uint32_t)
REDUCES(reduce_dec, "dec", "u32", uint32_t)
REDUCES(reduce_and, "and", "b32", uint32_t)
REDUCES(reduce_or, "or", "b64", uint64_t)
REDUCES(reduce_xor, "xor", "b32", uint32_t)
REDUCES(reduce_add_f32, "add", "f32", float)
REDUCES(reduce_add_f64, "add", "f64", double)
REDUCES(reduce_add_f16, "add.noftz", "f16", uint16_t)
REDUCES(reduce_add_bf16, "add.noftz", "bf16", uint16_t)
REDUCES(reduce_min_f16, "min", "f16", uint16_t)
REDUCES(reduce_max_bf16, "max", "bf16", uint16_t)

// Clusters.
KERNEL CLUSTER(4) remote_reads(const int *in, int *out) {
    __shared__ int x[64];
    auto cluster = cg::this_cluster();
    int t = threadIdx.x, rank = cluster.block_rank();
    x[t] = in[blockIdx.x * 64 + t] * (rank + 1);
    cluster.sync();
    int v = 0;
    for (int i = 0; i < 4; i++)
        v = v * 3 + cluster.map_shared_rank(x, (rank + i) % 4)[(t + i) % 64];
    cluster.sync();
    out[blockIdx.x * 64 + t] = v;
}

KERNEL CLUSTER(2) remote_atomics(const int *in, int *out) {
    __shared__ int total[8];
    auto cluster = cg::this_cluster();
    int t = threadIdx.x, rank = cluster.block_rank();
    if (t < 8)
        total[t] = t;
    cluster.sync();
    atomicAdd(cluster.map_shared_rank(total, rank ^ 1) + t % 8, in[blockIdx.x * 64 + t]);
    cluster.sync();
    if (t < 8)
        out[blockIdx.x * 8 + t] = total[t];
}

// Arrivals and waits of the cluster barrier that are apart.
KERNEL CLUSTER(2) split_barrier(const int *in, int *out) {
    __shared__ int x[64];
    int t = threadIdx.x, rank = cg::this_cluster().block_rank();
    x[t] = in[blockIdx.x * 64 + t];
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    int own = in[t] * 2;
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    int v;
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(there(at(&x[63 - t]), rank ^ 1)) : "memory");
    asm volatile("barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    out[blockIdx.x * 64 + t] = v + own;
}

KERNEL CLUSTER(2) remote_arrivals(const int *in, int *out) {
    __shared__ uint64_t bar;
    __shared__ int x[64];
    auto cluster = cg::this_cluster();
    int t = threadIdx.x, rank = cluster.block_rank();
    if (t == 0)
        init(&bar, 64);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    cluster.sync();
    cluster.map_shared_rank(x, rank ^ 1)[t] = in[blockIdx.x * 64 + t] + 5;
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(there(at(&bar), rank ^ 1)) : "memory");
    wait_cluster(&bar, 0);
    out[blockIdx.x * 64 + t] = x[t ^ 7];
    cluster.sync();
}

KERNEL CLUSTER(2) remote_stores(const int *in, int *out) {
    __shared__ uint64_t bar;
    __shared__ alignas(16) int x[64 * 4];
    auto cluster = cg::this_cluster();
    int t = threadIdx.x, rank = cluster.block_rank();
    if (t == 0) {
        init(&bar, 1);
        expect(&bar, 64 * 16);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    cluster.sync();
    int4 v = ((const int4 *)in)[blockIdx.x * 64 + t];
    uint32_t to = there(at(&x[t * 4]), rank ^ 1), bar_there = there(at(&bar), rank ^ 1);
    if (t % 2)
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.s32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(to), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w), "r"(bar_there) : "memory");
    else {
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::"r"(to), "l"((uint64_t)(uint32_t)v.x << 32 | (uint32_t)v.y), "r"(bar_there) : "memory");
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.u32 [%0], {%1, %2}, [%3];" ::"r"(to + 8), "r"(v.z), "r"(v.w), "r"(bar_there) : "memory");
    }
    wait_cluster(&bar, 0);
    for (int i = 0; i < 4; i++)
        out[(blockIdx.x * 64 + t) * 4 + i] = x[t * 4 + i];
    cluster.sync();
}

#define REMOTE_REDUCES(name, op, type)                                                                                      \
    KERNEL CLUSTER(2) name(const int *in, int *out) {                                                                       \
        __shared__ uint64_t bar;                                                                                            \
        __shared__ int x[32];                                                                                               \
        auto cluster = cg::this_cluster();                                                                                  \
        int t = threadIdx.x, rank = cluster.block_rank();                                                                   \
        if (t < 32)                                                                                                         \
            x[t] = in[128 + t];                                                                                             \
        if (t == 0) {                                                                                                       \
            init(&bar, 1);                                                                                                  \
            expect(&bar, 64 * 4);                                                                                           \
        }                                                                                                                   \
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");                                                  \
        cluster.sync();                                                                                                     \
        asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes." op "." type                  \
                     " [%0], %1, [%2];" ::"r"(there(at(&x[t % 32]), rank ^ 1)),                                             \
                     "r"(in[blockIdx.x * 64 + t]), "r"(there(at(&bar), rank ^ 1))                                           \
                     : "memory");                                                                                           \
        wait_cluster(&bar, 0);                                                                                              \
        if (t < 32)                                                                                                         \
            out[blockIdx.x * 32 + t] = x[t];                                                                                \
        cluster.sync();                                                                                                     \
    }
REMOTE_REDUCES(remote_add, "add", "s32")
REMOTE_REDUCES(remote_min, "min", "u32")
REMOTE_REDUCES(remote_max, "max", "s32")
REMOTE_REDUCES(remote_and, "and", "b32")
REMOTE_REDUCES(remote_xor, "xor", "b32")

KERNEL CLUSTER(2) bulk_to_peer(const int *in, int *out) {
    __shared__ uint64_t bar;
    __shared__ alignas(128) int x[128], y[128];
    auto cluster = cg::this_cluster();
    int t = threadIdx.x, rank = cluster.block_rank();
    x[t] = in[blockIdx.x * 128 + t];
    y[t] = t;
    if (t == 0) {
        init(&bar, 1);
        expect(&bar, 512);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    async_fence();
    cluster.sync();
    if (t == 0) {
        uint32_t to = there(at(y), rank ^ 1), bar_there = there(at(&bar), rank ^ 1);
        asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];" ::"r"(to), "r"(at(x)), "r"(bar_there) : "memory");
        asm volatile("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.s32 [%0], [%1], 256, [%2];" ::"r"(to + 256), "r"(at(x) + 256), "r"(bar_there) : "memory");
    }
    wait_cluster(&bar, 0);
    out[blockIdx.x * 128 + t] = y[t];
    cluster.sync();
}

// One load for four CTAs, each of which loads a quarter of the whole for all.
KERNEL CLUSTER(4) multicast(const int *in, int *out) {
    __shared__ uint64_t bar;
    __shared__ alignas(128) int x[256];
    auto cluster = cg::this_cluster();
    int t = threadIdx.x, rank = cluster.block_rank();
    if (t == 0) {
        init(&bar, 1);
        expect(&bar, 1024);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    cluster.sync();
    if (t == 0)
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], 256, [%2], %3;" ::"r"(at(x) + rank * 256), "l"(in + rank * 64), "r"(at(&bar)), "h"((uint16_t)15) : "memory");
    wait_cluster(&bar, 0);
    for (int i = t; i < 256; i += 64)
        out[blockIdx.x * 256 + i] = x[i] + rank;
    cluster.sync();
}

KERNEL prefetched(const int *in, int *out) {
    int t = threadIdx.x;
    if (t == 0)
        asm volatile("cp.async.bulk.prefetch.L2.global [%0], 256;" ::"l"(in) : "memory");
    out[t] = in[t] / 3;
}
