// What goes wrong in some CTAs of a grid alone, in ways that the others do not show.
__device__ __forceinline__ void reverse(int *out, bool wrong) {
    __shared__ int tile[64];
    tile[threadIdx.x] = threadIdx.x;
    if (!wrong)
        __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = tile[63 - threadIdx.x];
}

// An unsigned index of 64 bits that has wrapped in CTAs 0 to 4.
extern "C" __global__ void wraps(int *out, int *other) {
    reverse(out, (unsigned long long)blockIdx.x - 5 < 10);
}

// A carry, which is in no register.
extern "C" __global__ void carries(int *out, int *other) {
    unsigned low, high;
    asm("add.cc.u32 %0, %2, %3; addc.u32 %1, 0, 0;"
        : "=r"(low), "=r"(high)
        : "r"(blockIdx.x << 28), "r"(0x80000000u));
    reverse(out, high);
}

// The lane that is read changes from CTA to CTA, what lanes have does not.
extern "C" __global__ void shuffles(int *out, int *other) {
    reverse(out, __shfl_sync(~0u, threadIdx.x % 32, blockIdx.x) == 9);
}

// Aligned in even CTAs.
extern "C" __global__ void misaligned(char *out, int *other) {
    *(int *)(out + blockIdx.x * 258 + threadIdx.x * 4) = 1;
}

// Two places that each move on from CTA to CTA, and meet in CTA 3.
extern "C" __global__ void crosses(int *out, int *other) {
    int i = threadIdx.x, cta = blockIdx.x;
    out[8192 + cta * 64 + i] = 1;
    other[cta * 64 + i] = out[5312 + cta * 1024 + (i + 40) % 64];
}
