// Kernels about barriers: named ones with counts, arrivals, reductions and threads that ended; mbarriers by token and by
// parity; cuda::barrier, cuda::pipeline; warp-specialized rings; registers handed on; dependent launches.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cstdint>

#define KERNEL extern "C" __global__ void
namespace cg = cooperative_groups;

static __device__ uint32_t at(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
static __device__ void named_sync(int id, int threads) { asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory"); }
static __device__ void named_arrive(int id, int threads) { asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory"); }
static __device__ void init(uint64_t *bar, int count) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(bar)), "r"(count) : "memory"); }
static __device__ void arrive(uint64_t *bar) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(bar)) : "memory"); }
static __device__ void wait(uint64_t *bar, int parity) {
    asm volatile("{\n.reg .pred p;\nW: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra W;\n}" ::"r"(at(bar)), "r"(parity) : "memory");
}

// Each pair of warps has a barrier of its own.
KERNEL pairs(const int *in, int *out) {
    __shared__ int x[256];
    int t = threadIdx.x, pair = t / 64;
    x[t] = in[t];
    named_sync(1 + pair, 64);
    out[t] = x[t ^ 63] + x[pair * 64 + (t + 7) % 64];
}

// Warp 0 makes what the others take, twice around a ring of two barriers each way.
KERNEL producer(const int *in, int *out, int rounds) {
    __shared__ int slot[2][32];
    int t = threadIdx.x, warp = t / 32, lane = t % 32, sum = 0;
    for (int i = 0; i < rounds; i++) {
        int s = i & 1;
        if (warp == 0) {
            if (i > 1)
                named_sync(3 + s, 128);
            slot[s][lane] = in[i * 32 + lane] * 3;
            __threadfence_block();
            named_arrive(1 + s, 128);
        } else {
            named_sync(1 + s, 128);
            sum = sum * 7 + slot[s][(lane + warp) % 32];
            if (i + 2 < rounds)
                named_arrive(3 + s, 128);
        }
    }
    out[t] = sum;
}

KERNEL reductions(const int *in, int *out) {
    int t = threadIdx.x, v = in[t];
    int count = __syncthreads_count(v & 1), all = __syncthreads_and(v > -1000), any = __syncthreads_or(v == in[77] && t != 77);
    out[t] = count * 100 + all * 10 + any;
}

// bar.red with a count, and the barrier without .aligned from two places.
KERNEL reduction_of_pairs(const int *in, int *out) {
    int t = threadIdx.x, v = in[t], n;
    asm volatile("{\n.reg .pred p;\nsetp.ne.s32 p, %1, 0;\nbarrier.red.popc.u32 %0, %2, 64, p;\n}" : "=r"(n) : "r"(v & 4), "r"(t / 64 + 2) : "memory");
    out[t] = n;
}

KERNEL two_places(const int *in, int *out) {
    __shared__ int x[128];
    int t = threadIdx.x;
    x[t] = in[t];
    if (in[t] & 1) {
        asm volatile("barrier.sync 1;" ::: "memory");
        out[t] = x[(t + 1) % 128];
    } else {
        asm volatile("barrier.sync 1;" ::: "memory");
        out[t] = -x[(t + 64) % 128];
    }
}

KERNEL early_exit(const int *in, int *out, int n) {
    __shared__ int x[256];
    int t = threadIdx.x;
    x[t] = 5;
    if (t >= n)
        return;
    x[t] = in[t];
    __syncthreads();
    out[t] = x[(t + 3) % n] * 2;
    __syncthreads();
    x[t] = out[t];
    __syncthreads();
    out[t] += x[n - 1 - t];
}

// Everybody arrives with a token, and waits for its phase.
KERNEL tokens(const int *in, int *out, int rounds) {
    __shared__ uint64_t bar;
    __shared__ int x[2][128];
    int t = threadIdx.x, v = in[t];
    if (t == 0)
        init(&bar, 128);
    __syncthreads();
    for (int i = 0; i < rounds; i++) {
        uint64_t token;
        x[i & 1][t] = v;
        asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(token) : "r"(at(&bar)) : "memory");
        asm volatile("{\n.reg .pred p;\nT: mbarrier.try_wait.shared::cta.b64 p, [%0], %1;\n@!p bra T;\n}" ::"r"(at(&bar)), "l"(token) : "memory");
        v = x[i & 1][(t + 1) % 128] + x[i & 1][t ^ 1];
    }
    out[t] = v;
}

KERNEL pending(int *out) {
    __shared__ uint64_t bar;
    uint64_t token;
    uint32_t n;
    int t = threadIdx.x;
    if (t == 0)
        init(&bar, 8);
    __syncthreads();
    if (t < 3)
        for (int i = 0; i < 3; i++) // one thread after the other
            if (t == i) {
                asm volatile("mbarrier.arrive.noComplete.shared::cta.b64 %0, [%1], 2;" : "=l"(token) : "r"(at(&bar)) : "memory");
                asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(n) : "l"(token));
                out[t] = n % 2;
            }
    __syncthreads();
    if (t == 0) {
        asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1], 2;" : "=l"(token) : "r"(at(&bar)) : "memory");
        asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(n) : "l"(token));
        out[3] = n;
        asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1], 1;" : "=l"(token) : "r"(at(&bar)) : "memory");
        asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(n) : "l"(token));
        out[4] = n;
    }
}

// Threads leave one after the other: each drops out of the phases to come.
KERNEL dropped(const int *in, int *out) {
    __shared__ uint64_t bar;
    __shared__ int total;
    int t = threadIdx.x, warp = t / 32;
    if (t == 0) {
        init(&bar, 128);
        total = 0;
    }
    __syncthreads();
    for (int i = 0; i < 4; i++) {
        atomicAdd(&total, in[t]);
        if (warp == i) {
            asm volatile("mbarrier.arrive_drop.shared::cta.b64 _, [%0];" ::"r"(at(&bar)) : "memory");
            out[t] = i;
            break;
        }
        arrive(&bar);
        wait(&bar, i & 1);
    }
    __syncthreads();
    if (t == 0)
        out[128] = total;
}

// A thread that says which bytes have come, without any copy.
KERNEL counted_bytes(const int *in, int *out) {
    __shared__ uint64_t bar;
    __shared__ int x[64];
    int t = threadIdx.x;
    if (t == 0) {
        init(&bar, 1);
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;" ::"r"(at(&bar)) : "memory");
    }
    __syncthreads();
    x[t] = in[t];
    __syncthreads();
    asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 4;" ::"r"(at(&bar)) : "memory");
    wait(&bar, 0);
    out[t] = x[63 - t];
}

KERNEL test_wait(const int *in, int *out) {
    __shared__ uint64_t bar;
    __shared__ int x[64];
    int t = threadIdx.x, done;
    if (t == 0)
        init(&bar, 64);
    __syncthreads();
    x[t] = in[t] ^ 0x55;
    arrive(&bar);
    do
        asm volatile("{\n.reg .pred p;\nmbarrier.test_wait.parity.shared::cta.b64 p, [%1], 0;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(done) : "r"(at(&bar)) : "memory");
    while (!done);
    out[t] = x[t ^ 33];
}

// A ring of mbarriers between one warp that fills and three that take.
template <int SLOTS> static __device__ void ring(const int *in, int *out, int rounds) {
    __shared__ uint64_t full[SLOTS], empty[SLOTS];
    __shared__ int data[SLOTS][32];
    int t = threadIdx.x, warp = t / 32, lane = t % 32, sum = 0;
    if (t == 0)
        for (int i = 0; i < SLOTS; i++) {
            init(&full[i], 32);
            init(&empty[i], 96);
        }
    __syncthreads();
    for (int i = 0; i < rounds; i++) {
        int s = i % SLOTS, phase = i / SLOTS & 1;
        if (warp == 0) {
            wait(&empty[s], phase ^ 1);
            data[s][lane] = in[(i * 32 + lane) % 512];
            arrive(&full[s]);
        } else {
            wait(&full[s], phase);
            sum = sum * 3 + data[s][lane ^ warp];
            arrive(&empty[s]);
        }
    }
    out[t] = sum;
}
KERNEL ring_of_2(const int *in, int *out, int rounds) { ring<2>(in, out, rounds); }
KERNEL ring_of_3(const int *in, int *out, int rounds) { ring<3>(in, out, rounds); }

// libcu++.
KERNEL cpp_barrier(const int *in, int *out, int rounds) {
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ int x[128];
    int t = threadIdx.x, v = in[t];
    if (t == 0)
        init(&bar, 128);
    __syncthreads();
    for (int i = 0; i < rounds; i++) {
        x[t] = v;
        bar.arrive_and_wait();
        v += x[(t * 5 + i) % 128];
        auto token = bar.arrive();
        bar.wait(static_cast<decltype(token) &&>(token));
    }
    out[t] = v;
}

KERNEL cpp_barrier_drop(const int *in, int *out) {
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ int x[64];
    int t = threadIdx.x;
    if (t == 0)
        init(&bar, 64);
    __syncthreads();
    x[t] = in[t];
    if (t % 2) {
        bar.arrive_and_drop();
        return;
    }
    bar.arrive_and_wait();
    int v = x[t + 1];
    bar.arrive_and_wait();
    out[t] = v + x[(t + 2) % 64];
}

KERNEL cpp_barrier_copy(const int *in, int *out, int n) {
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ alignas(16) int x[512];
    int t = threadIdx.x;
    if (t == 0)
        init(&bar, 128);
    __syncthreads();
    cuda::memcpy_async(cg::this_thread_block(), x, in, sizeof(int) * n, bar);
    bar.arrive_and_wait();
    for (int i = t; i < n; i += 128)
        out[i] = x[n - 1 - i];
}

KERNEL cpp_pipeline(const int *in, int *out, int rounds) {
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    __shared__ alignas(16) int x[2][128];
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    int t = threadIdx.x, sum = 0;
    for (int i = 0, issued = 0; i < rounds; i++) {
        for (; issued < rounds && issued < i + 2; issued++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, x[issued & 1], in + issued * 128, sizeof x[0], pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum = sum * 5 + x[i & 1][t ^ 1];
        pipe.consumer_release();
    }
    out[t] = sum;
}

KERNEL cpp_thread_pipeline(const int *in, int *out, int rounds) {
    __shared__ int x[4][64];
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    int t = threadIdx.x, sum = 0;
    for (int i = 0, issued = 0; i < rounds; i++) {
        for (; issued < rounds && issued < i + 4; issued++) {
            pipe.producer_acquire();
            cuda::memcpy_async(&x[issued & 3][t], in + issued * 64 + t, sizeof(int), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum = sum * 9 + x[i & 3][t];
        pipe.consumer_release();
    }
    out[t] = sum;
}

// Producers and consumers with roles.
KERNEL cpp_pipeline_roles(const int *in, int *out, int rounds) {
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    __shared__ int x[2][64];
    auto block = cg::this_thread_block();
    int t = threadIdx.x, sum = 0;
    auto pipe = cuda::make_pipeline(block, &state, t < 64 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    for (int i = 0; i < rounds; i++)
        if (t < 64) {
            pipe.producer_acquire();
            x[i & 1][t] = in[i * 64 + t] + i;
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            sum = sum * 11 + x[i & 1][127 - t];
            pipe.consumer_release();
        }
    out[t] = sum;
}

KERNEL group_barriers(const int *in, int *out) {
    __shared__ int x[128];
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    auto quad = cg::tiled_partition<4>(block);
    int t = threadIdx.x;
    x[t] = in[t];
    warp.sync();
    int v = x[t ^ 20];
    warp.sync();
    x[t] = v + 1;
    quad.sync();
    out[t] = x[t ^ 3] + x[t ^ 1];
}

// Registers that one warpgroup gives up, and another takes.
KERNEL __launch_bounds__(384, 1) registers(const int *in, int *out) {
    int t = threadIdx.x;
    if (t < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        out[t] = in[t] + 1;
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        out[t] = in[t] * 2;
    }
}

KERNEL dependent(const int *in, int *out) {
    asm volatile("griddepcontrol.wait;" ::: "memory");
    out[threadIdx.x] = in[threadIdx.x] - 3;
    asm volatile("griddepcontrol.launch_dependents;");
}

KERNEL fences(const int *in, int *out, int *flag) {
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        out[t] = in[t] * 2;
        __syncthreads();
        if (t == 0) {
            __threadfence();
            atomicExch(flag, 1);
        }
    } else {
        if (t == 0) {
            while (atomicAdd(flag, 0) == 0)
                ;
            asm volatile("fence.acq_rel.gpu;" ::: "memory");
        }
        __syncthreads();
        out[64 + t] = ((volatile int *)out)[63 - t];
    }
}
