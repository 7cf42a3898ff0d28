// Kernels about TMA: tiles of one to five dimensions to shared memory and back, with edges, swizzles, fills and element
// strides; reductions, multicast, im2col, rings of tiles, tensor maps that the kernel changes.
#include <cooperative_groups.h>
#include <cstdint>

#define KERNEL extern "C" __global__ void
#define CLUSTER(n) __cluster_dims__(n, 1, 1)
namespace cg = cooperative_groups;

struct alignas(64) Map {
    uint64_t opaque[16];
};
#define MAP const __grid_constant__ Map

static __device__ uint32_t at(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
static __device__ void init(uint64_t *bar, int count) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(bar)), "r"(count) : "memory"); }
static __device__ void expect(uint64_t *bar, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(bar)), "r"(bytes) : "memory");
}
static __device__ void wait(uint64_t *bar, int parity) {
    asm volatile("{\n.reg .pred p;\nW: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra W;\n}" ::"r"(at(bar)), "r"(parity) : "memory");
}
static __device__ void async_fence() { asm volatile("fence.proxy.async;" ::: "memory"); }
static __device__ void bulk_wait() { asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory"); }

#define LOAD(rank, mode, coordinates) "cp.async.bulk.tensor." rank ".shared::cluster.global." mode ".mbarrier::complete_tx::bytes [%0], [%1, {" coordinates "}], [%2]"

struct At {
    int c[5];
};

template <int RANK> static __device__ void load(void *to, const Map *map, At c, uint64_t *bar) {
    if (RANK == 1)
        asm volatile(LOAD("1d", "tile", "%3") ";" ::"r"(at(to)), "l"(map), "r"(at(bar)), "r"(c.c[0]) : "memory");
    if (RANK == 2)
        asm volatile(LOAD("2d", "tile", "%3, %4") ";" ::"r"(at(to)), "l"(map), "r"(at(bar)), "r"(c.c[0]), "r"(c.c[1]) : "memory");
    if (RANK == 3)
        asm volatile(LOAD("3d", "tile", "%3, %4, %5") ";" ::"r"(at(to)), "l"(map), "r"(at(bar)), "r"(c.c[0]), "r"(c.c[1]), "r"(c.c[2]) : "memory");
    if (RANK == 4)
        asm volatile(LOAD("4d", "tile", "%3, %4, %5, %6") ";" ::"r"(at(to)), "l"(map), "r"(at(bar)), "r"(c.c[0]), "r"(c.c[1]), "r"(c.c[2]), "r"(c.c[3]) : "memory");
    if (RANK == 5)
        asm volatile(LOAD("5d", "tile", "%3, %4, %5, %6, %7") ";" ::"r"(at(to)), "l"(map), "r"(at(bar)), "r"(c.c[0]), "r"(c.c[1]), "r"(c.c[2]), "r"(c.c[3]), "r"(c.c[4]) : "memory");
}

// A box, and all of shared memory around it.
template <int RANK> static __device__ void load_and_give(const Map *map, int *out, int words, int bytes, At c) {
    __shared__ alignas(1024) int x[2048];
    __shared__ uint64_t bar;
    int t = threadIdx.x;
    for (int i = t; i < words; i += 128)
        x[i] = 0x5a5a0000 + i;
    if (t == 0)
        init(&bar, 1);
    async_fence();
    __syncthreads();
    if (t == 0) {
        expect(&bar, bytes);
        load<RANK>(x, map, c, &bar);
    }
    wait(&bar, 0);
    for (int i = t; i < words; i += 128)
        out[i] = x[i];
}
KERNEL load_1d(MAP map, int *out, int words, int bytes, At c) { load_and_give<1>(&map, out, words, bytes, c); }
KERNEL load_2d(MAP map, int *out, int words, int bytes, At c) { load_and_give<2>(&map, out, words, bytes, c); }
KERNEL load_3d(MAP map, int *out, int words, int bytes, At c) { load_and_give<3>(&map, out, words, bytes, c); }
KERNEL load_4d(MAP map, int *out, int words, int bytes, At c) { load_and_give<4>(&map, out, words, bytes, c); }
KERNEL load_5d(MAP map, int *out, int words, int bytes, At c) { load_and_give<5>(&map, out, words, bytes, c); }

// im2col: the offsets are packed, 8 bits each.
template <int RANK> static __device__ void columns(const Map *map, int *out, int words, int bytes, At c, int offsets) {
    __shared__ alignas(1024) int x[2048];
    __shared__ uint64_t bar;
    int t = threadIdx.x;
    for (int i = t; i < words; i += 128)
        x[i] = 0x5a5a0000 + i;
    if (t == 0)
        init(&bar, 1);
    async_fence();
    __syncthreads();
    uint16_t o0 = offsets & 255, o1 = offsets >> 8 & 255, o2 = offsets >> 16 & 255;
    if (t == 0) {
        expect(&bar, bytes);
        if (RANK == 3)
            asm volatile(LOAD("3d", "im2col", "%3, %4, %5") ", {%6};" ::"r"(at(x)), "l"(map), "r"(at(&bar)), "r"(c.c[0]), "r"(c.c[1]), "r"(c.c[2]), "h"(o0) : "memory");
        if (RANK == 4)
            asm volatile(LOAD("4d", "im2col", "%3, %4, %5, %6") ", {%7, %8};" ::"r"(at(x)), "l"(map), "r"(at(&bar)), "r"(c.c[0]), "r"(c.c[1]), "r"(c.c[2]), "r"(c.c[3]), "h"(o0), "h"(o1) : "memory");
        if (RANK == 5)
            asm volatile(LOAD("5d", "im2col", "%3, %4, %5, %6, %7") ", {%8, %9, %10};" ::"r"(at(x)), "l"(map), "r"(at(&bar)), "r"(c.c[0]), "r"(c.c[1]), "r"(c.c[2]), "r"(c.c[3]), "r"(c.c[4]), "h"(o0), "h"(o1), "h"(o2) : "memory");
    }
    wait(&bar, 0);
    for (int i = t; i < words; i += 128)
        out[i] = x[i];
}
KERNEL columns_3d(MAP map, int *out, int words, int bytes, At c, int offsets) { columns<3>(&map, out, words, bytes, c, offsets); }
KERNEL columns_4d(MAP map, int *out, int words, int bytes, At c, int offsets) { columns<4>(&map, out, words, bytes, c, offsets); }
KERNEL columns_5d(MAP map, int *out, int words, int bytes, At c, int offsets) { columns<5>(&map, out, words, bytes, c, offsets); }

// Stores and reductions of a box.
static __device__ void fill(int *x, const int *in, int words) {
    for (int i = threadIdx.x; i < words; i += 128)
        x[i] = in[i];
    async_fence();
    __syncthreads();
}
#define STORES(name, op, rank, coordinates, ...)                                                                                       \
    KERNEL name(MAP map, const int *in, int words, At c) {                                                                             \
        __shared__ alignas(1024) int x[2048];                                                                                          \
        fill(x, in, words);                                                                                                            \
        if (threadIdx.x == 0) {                                                                                                        \
            asm volatile(op " [%0, {" coordinates "}], [%1];" ::"l"(&map), "r"(at(x)), __VA_ARGS__ : "memory");                        \
            bulk_wait();                                                                                                               \
        }                                                                                                                              \
    }
#define STORE(rank)      "cp.async.bulk.tensor." rank ".global.shared::cta.tile.bulk_group"
#define REDUCE(rank, op) "cp.reduce.async.bulk.tensor." rank ".global.shared::cta." op ".tile.bulk_group"
STORES(store_1d, STORE("1d"), 1, "%2", "r"(c.c[0]))
STORES(store_2d, STORE("2d"), 2, "%2, %3", "r"(c.c[0]), "r"(c.c[1]))
STORES(store_3d, STORE("3d"), 3, "%2, %3, %4", "r"(c.c[0]), "r"(c.c[1]), "r"(c.c[2]))
STORES(store_4d, STORE("4d"), 4, "%2, %3, %4, %5", "r"(c.c[0]), "r"(c.c[1]), "r"(c.c[2]), "r"(c.c[3]))
STORES(store_5d, STORE("5d"), 5, "%2, %3, %4, %5, %6", "r"(c.c[0]), "r"(c.c[1]), "r"(c.c[2]), "r"(c.c[3]), "r"(c.c[4]))
STORES(tile_add, REDUCE("2d", "add"), 2, "%2, %3", "r"(c.c[0]), "r"(c.c[1]))
STORES(tile_min, REDUCE("2d", "min"), 2, "%2, %3", "r"(c.c[0]), "r"(c.c[1]))
STORES(tile_max, REDUCE("2d", "max"), 2, "%2, %3", "r"(c.c[0]), "r"(c.c[1]))
STORES(tile_and, REDUCE("2d", "and"), 2, "%2, %3", "r"(c.c[0]), "r"(c.c[1]))
STORES(tile_or, REDUCE("2d", "or"), 2, "%2, %3", "r"(c.c[0]), "r"(c.c[1]))
STORES(tile_xor, REDUCE("2d", "xor"), 2, "%2, %3", "r"(c.c[0]), "r"(c.c[1]))
STORES(tile_inc, REDUCE("2d", "inc"), 2, "%2, %3", "r"(c.c[0]), "r"(c.c[1]))

// Through a ring of two boxes: every tile of a matrix is loaded, changed and stored again.
KERNEL through(MAP from, MAP to, int tiles) {
    __shared__ alignas(1024) int x[2][256], y[256];
    __shared__ uint64_t bar[2];
    int t = threadIdx.x;
    if (t == 0) {
        init(&bar[0], 1);
        init(&bar[1], 1);
    }
    __syncthreads();
    for (int i = 0; i < tiles + 1; i++) {
        if (t == 0 && i < tiles) {
            expect(&bar[i & 1], 1024);
            load<2>(x[i & 1], &from, At{{i % 2 * 16, i / 2 * 16}}, &bar[i & 1]);
        }
        if (i == 0)
            continue;
        int k = i - 1;
        wait(&bar[k & 1], k / 2 & 1);
        if (t == 0)
            asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
        __syncthreads();
        y[t] = x[k & 1][t] * 2 + k;
        y[t + 128] = x[k & 1][t + 128] * 2 - k;
        async_fence();
        __syncthreads();
        if (t == 0)
            asm volatile(STORE("2d") " [%0, {%2, %3}], [%1];\ncp.async.bulk.commit_group;" ::"l"(&to), "r"(at(y)), "r"(k % 2 * 16), "r"(k / 2 * 16) : "memory");
    }
    if (t == 0)
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// One tile for both CTAs of a cluster, each half of which one of them loads.
KERNEL CLUSTER(2) tile_multicast(MAP map, int *out) {
    __shared__ alignas(1024) int x[512];
    __shared__ uint64_t bar;
    auto cluster = cg::this_cluster();
    int t = threadIdx.x, rank = cluster.block_rank();
    if (t == 0) {
        init(&bar, 1);
        expect(&bar, 2048);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    cluster.sync();
    if (t == 0)
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(at(x) + rank * 1024), "l"(&map), "r"(at(&bar)), "r"(4), "r"(blockIdx.x / 2 * 16 + rank * 8), "h"((uint16_t)3) : "memory");
    wait(&bar, 0);
    for (int i = t; i < 512; i += 128)
        out[blockIdx.x * 512 + i] = x[i] - rank;
    cluster.sync();
}

// A tensor map in global memory, made of another one.
KERNEL changed_map(MAP map, int *in, int *out, Map *place, int stride, int rows) {
    __shared__ alignas(128) Map made;
    __shared__ alignas(1024) int x[256];
    __shared__ uint64_t bar;
    int t = threadIdx.x;
    if (t < 16)
        made.opaque[t] = map.opaque[t];
    if (t == 0)
        init(&bar, 1);
    __syncthreads();
    if (t == 0) {
        asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(at(&made)), "l"(in + 16) : "memory");
        asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 1, %1;" ::"r"(at(&made)), "r"(rows) : "memory");
        asm volatile("tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%0], 0, %1;" ::"r"(at(&made)), "l"((int64_t)stride) : "memory");
    }
    __syncwarp();
    if (t < 32)
        asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::"l"(place), "r"(at(&made)) : "memory");
    __syncthreads();
    if (t == 0) {
        asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(place) : "memory");
        expect(&bar, 1024);
        load<2>(x, place, At{{4, 1}}, &bar);
    }
    wait(&bar, 0);
    out[t] = x[t];
    out[t + 128] = x[t + 128];
}

// A tensor map out of nothing.
KERNEL made_map(int *in, int *out, Map *place) {
    __shared__ alignas(128) Map made;
    __shared__ alignas(1024) int x[256];
    __shared__ uint64_t bar;
    int t = threadIdx.x;
    if (t < 16)
        made.opaque[t] = 0;
    if (t == 0)
        init(&bar, 1);
    __syncthreads();
#define REPLACE(field, bits, ...) asm volatile("tensormap.replace.tile." field ".shared::cta.b1024." bits " [%0], " __VA_ARGS__ : "memory")
    if (t == 0) {
        uint32_t m = at(&made);
        REPLACE("global_address", "b64", "%1;" ::"r"(m), "l"(in));
        REPLACE("rank", "b32", "%1;" ::"r"(m), "r"(1));
        REPLACE("box_dim", "b32", "0, %1;" ::"r"(m), "r"(8));
        REPLACE("box_dim", "b32", "1, %1;" ::"r"(m), "r"(32));
        REPLACE("global_dim", "b32", "0, %1;" ::"r"(m), "r"(20));
        REPLACE("global_dim", "b32", "1, %1;" ::"r"(m), "r"(30));
        REPLACE("global_stride", "b64", "0, %1;" ::"r"(m), "l"((int64_t)80));
        REPLACE("element_stride", "b32", "0, %1;" ::"r"(m), "r"(1));
        REPLACE("element_stride", "b32", "1, %1;" ::"r"(m), "r"(1));
        REPLACE("elemtype", "b32", "3;" ::"r"(m));
        REPLACE("interleave_layout", "b32", "0;" ::"r"(m));
        REPLACE("swizzle_mode", "b32", "1;" ::"r"(m));
        REPLACE("fill_mode", "b32", "0;" ::"r"(m));
    }
    __syncwarp();
    if (t < 32)
        asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::"l"(place), "r"(at(&made)) : "memory");
    __syncthreads();
    if (t == 0) {
        asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(place) : "memory");
        expect(&bar, 1024);
        load<2>(x, place, At{{-4, 3}}, &bar);
    }
    wait(&bar, 0);
    out[t] = x[t];
    out[t + 128] = x[t + 128];
}

KERNEL tile_prefetched(MAP map, int *out) {
    __shared__ alignas(1024) int x[256];
    __shared__ uint64_t bar;
    int t = threadIdx.x;
    if (t == 0) {
        asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
        asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {0, 0}];" ::"l"(&map) : "memory");
        init(&bar, 1);
        expect(&bar, 1024);
        uint64_t policy;
        asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1, {0, 0}], [%2], %3;" ::"r"(at(x)), "l"(&map), "r"(at(&bar)), "l"(policy) : "memory");
    }
    __syncthreads();
    wait(&bar, 0);
    out[t] = x[t] + x[t + 128];
}
