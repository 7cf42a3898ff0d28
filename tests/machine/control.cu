// Kernels about control: threads that part and meet, loops, calls, tables, threads that wait for one another.
#include <cstdint>

#define KERNEL extern "C" __global__ void
#define TID (blockIdx.x * blockDim.x + threadIdx.x)

KERNEL collatz(const uint32_t *in, uint32_t *out) {
    uint32_t n = in[TID] % 1000 + 1, steps = 0;
    while (n != 1) {
        n = n & 1 ? 3 * n + 1 : n / 2;
        steps++;
    }
    out[TID] = steps;
}

KERNEL nested(const int *in, int *out) {
    int total = 0;
    for (int i = 0; i < in[TID] % 7; i++) {
        for (int j = i; j < 9; j++) {
            if ((i * j + TID) % 5 == 0)
                continue;
            if ((i + j + TID) % 11 == 0)
                break;
            total += i * 100 + j;
        }
    }
    out[TID] = total;
}

KERNEL switched(const int *in, int *out) {
    int x = in[TID], r;
    switch (x & 15) {
    case 0: r = x * 3; break;
    case 1: r = x ^ 0x55; break;
    case 2: r = x + 17; break;
    case 3: r = -x; // falls through
    case 4: r = x * x; break;
    case 5: r = x / 3; break;
    case 7: r = __popc(x); break;
    case 8: r = x << 3; break;
    case 9: r = x >> 2; break;
    case 11: r = 77; break;
    case 13: r = x % 13; break;
    default: r = 0x1234;
    }
    out[TID] = r;
}

__device__ __noinline__ int ackermann(int m, int n) {
    if (m == 0)
        return n + 1;
    if (n == 0)
        return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}
KERNEL recursive(const int *in, int *out) { out[TID] = ackermann(in[TID] % 3, in[TID] / 3 % 4); }

__device__ __noinline__ int twice(int x) { return 2 * x; }
__device__ __noinline__ int square(int x) { return x * x; }
__device__ __noinline__ int negative(int x) { return -x; }
typedef int Function(int);
__device__ Function *const functions[3] = {twice, square, negative};
KERNEL pointers(const int *in, int *out) { out[TID] = functions[(unsigned)in[TID] % 3](in[TID] % 1000); }

struct Wide {
    int a[6];
    double b;
};
__device__ __noinline__ Wide by_value(Wide w, int x) {
    for (int i = 0; i < 6; i++)
        w.a[i] += x * i;
    w.b += x;
    return w;
}
KERNEL structures(const int *in, int *out, Wide first) {
    Wide w = by_value(first, in[TID] % 100);
    w = by_value(w, in[TID] % 7);
    int total = (int)w.b;
    for (int i = 0; i < 6; i++)
        total = total * 31 + w.a[i];
    out[TID] = total;
}

KERNEL early_exit(const int *in, int *out) {
    if (in[TID] % 3 == 0)
        return;
    __syncthreads();
    out[TID] = in[TID] + __syncthreads_count(in[TID] % 3 == 1);
}

KERNEL warp_lock(int *lock, int *total, const int *in) {
    // Threads of one warp wait for one another: each is scheduled by itself.
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            *(volatile int *)total += in[TID];
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

KERNEL lane_chain(volatile int *flags, volatile int *out) {
    // Lane i waits for what lane i - 1 stores.
    int lane = threadIdx.x;
    if (lane == 0) {
        out[0] = 1;
        __threadfence();
        flags[0] = 1;
    } else {
        while (!flags[lane - 1])
            ;
        __threadfence();
        out[lane] = out[lane - 1] * 3 + lane;
        __threadfence();
        flags[lane] = 1;
    }
}

KERNEL grid_barrier(unsigned *arrived, const int *in, int *middle, int *out) {
    middle[TID] = in[TID] * 3;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(arrived, 1);
        while (*(volatile unsigned *)arrived < gridDim.x)
            ;
    }
    __syncthreads();
    __threadfence();
    unsigned n = gridDim.x * blockDim.x;
    out[TID] = middle[(TID + blockDim.x) % n] - middle[(TID + 1) % n];
}

KERNEL divergent_sum(const int *in, int *out) {
    __shared__ int parts[4];
    int x = in[TID];
    if (threadIdx.x & 1)
        x = x * 2;
    else
        x = x - 5;
    for (int o = 16; o; o /= 2)
        x += __shfl_down_sync(~0u, x, o);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = x;
    __syncthreads();
    if (threadIdx.x == 0) {
        int total = 0;
        for (unsigned i = 0; i < blockDim.x / 32; i++)
            total += parts[i];
        out[blockIdx.x] = total;
    }
}

KERNEL partial_masks(const int *in, int *out) {
    int x = in[TID], r = 0;
    if (x & 1) {
        unsigned mask = __activemask();
        r = __popc(mask & 0) + __reduce_add_sync(__ballot_sync(mask, true), 1) * 0 + x * 2;
    } else {
        r = x / 2;
    }
    out[TID] = r;
}

KERNEL shape3(int *out) {
    unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    unsigned b = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    out[b * blockDim.x * blockDim.y * blockDim.z + t] =
        threadIdx.x + 10 * threadIdx.y + 100 * threadIdx.z + 1000 * blockIdx.x + 10000 * blockIdx.y + 100000 * blockIdx.z;
}

KERNEL lanes(unsigned *out) {
    unsigned lane, le, lt, ge, gt, eq;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    asm("mov.u32 %0, %%lanemask_le;" : "=r"(le));
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lt));
    asm("mov.u32 %0, %%lanemask_ge;" : "=r"(ge));
    asm("mov.u32 %0, %%lanemask_gt;" : "=r"(gt));
    asm("mov.u32 %0, %%lanemask_eq;" : "=r"(eq));
    out[TID] = lane * 7 + (le ^ 3 * lt ^ 5 * ge ^ 7 * gt ^ 11 * eq);
}

KERNEL loop_carried(const unsigned long long *in, unsigned long long *out) {
    unsigned long long a = in[TID], b = a ^ 0x9E3779B97F4A7C15ull;
    for (int i = 0; i < (int)(a % 40); i++) {
        unsigned long long c = a * 6364136223846793005ull + b;
        b = a >> 7 | a << 57;
        a = c;
        if (a % 17 == 3)
            break;
    }
    out[TID] = a ^ b;
}
