// Kernels that do not end on hardware, each in a way of its own; and two that take long, and end.
#include <cooperative_groups.h>
#include <stdint.h>

// A warp has left, and a barrier that is told its number of threads waits for it.
extern "C" __global__ void barrier_counted(int *out) {
    if (threadIdx.x >= 96)
        return;
    asm volatile("barrier.sync 1, 128;" ::: "memory");
    out[threadIdx.x] = 1;
}

// Two halves wait at two barriers for each other.
extern "C" __global__ void barrier_crossed(int *out) {
    int half = threadIdx.x / 64;
    asm volatile("barrier.sync %0, 128;" ::"r"(1 + half) : "memory");
    out[threadIdx.x] = half;
}

// The second CTA of a cluster waits at the cluster's barrier in a loop that has one turn more.
extern "C" __global__ void __cluster_dims__(2, 1, 1) cluster_turns(int *out, int turns) {
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    for (int i = 0; i < turns + (int)rank; i++)
        asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
    while (rank == 0 && *(volatile int *)out == 0) {
    }
    out[blockIdx.x + 1] = rank;
}

// A flag that nobody sets, looked at by a volatile load.
extern "C" __global__ void flag_volatile(volatile int *flag, int *out) {
    while (flag[0] == 0) {
    }
    out[threadIdx.x] = 1;
}

// The lanes of a warp take a lock one after the other, and none of them gives it back.
extern "C" __global__ void lock_kept(int *lock, int *out) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    out[0] += 1;
}

// A grid barrier by hand, with one CTA more than there are; a nap between two looks.
extern "C" __global__ void grid_naps(unsigned *count, int *out) {
    if (threadIdx.x == 0) {
        atomicAdd(count, 1);
        unsigned seen;
        do {
            __nanosleep(200);
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(count) : "memory");
        } while (seen < gridDim.x + 1);
    }
    __syncthreads();
    out[blockIdx.x] = 1;
}

__device__ unsigned address_of(const void *at) {
    return (unsigned)__cvta_generic_to_shared(at);
}

// test_wait, which does not sleep, in a loop; of the two arrivals that the mbarrier counts one comes.
extern "C" __global__ void tested(int *out) {
    __shared__ uint64_t full;
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 2;" ::"r"(address_of(&full)) : "memory");
    __syncthreads();
    if (threadIdx.x == 0)
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address_of(&full)) : "memory");
    unsigned done;
    do {
        asm volatile("{\n\t.reg .pred p;\n\tmbarrier.test_wait.parity.shared::cta.b64 p, [%1], 0;\n\tselp.u32 %0, 1, 0, p;\n\t}"
                     : "=r"(done)
                     : "r"(address_of(&full))
                     : "memory");
    } while (!done);
    out[threadIdx.x] = 1;
}

// A producer of 24 registers and consumers of 240; the producer never fills the second slot.
extern "C" __global__ void __maxnreg__(128) partitions(int *out, int turns) {
    __shared__ uint64_t full[2];
    if (threadIdx.x == 0)
        for (int i = 0; i < 2; i++)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address_of(&full[i])) : "memory");
    __syncthreads();
    if (threadIdx.x >= 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
        if (threadIdx.x == 128)
            for (int i = 0; i < turns; i += 2)
                asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address_of(&full[i % 2])) : "memory");
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
        for (int i = 0; i < turns; i++)
            asm volatile("{\n\t.reg .pred p;\n\tAGAIN:\n\tmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n\t@!p bra AGAIN;\n\t}" ::"r"(
                             address_of(&full[i % 2])),
                         "r"(i / 2 % 2)
                         : "memory");
        out[threadIdx.x] = 1;
    }
}

// Ends: it computes for longer than a wait may take, with nothing to be recorded meanwhile.
extern "C" __global__ void computes(float *out, long long turns) {
    float x = threadIdx.x;
    for (long long i = 0; i < turns; i++)
        x = x * 0.5f + 1.0f;
    out[threadIdx.x] = x;
}

// Ends: three warps stand at a barrier while the first computes.
extern "C" __global__ void computes_apart(float *out, long long turns) {
    float x = threadIdx.x;
    if (threadIdx.x < 32)
        for (long long i = 0; i < turns; i++)
            x = x * 0.5f + 1.0f;
    __syncthreads();
    out[threadIdx.x] = x;
}
