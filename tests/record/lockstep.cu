// Lanes of a warp that pass values through volatile shared memory, as if they ran in lockstep; and the same with what makes it right.
// nvcc -arch sm_90 -lineinfo -ptx lockstep.cu
__device__ __forceinline__ void sum(volatile int *s, int t) {
    s[t] += s[t + 32];
    s[t] += s[t + 16];
    s[t] += s[t + 8];
}

extern "C" __global__ void reduced(int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    if (t < 32)
        sum(s, t);
    if (t == 0)
        out[0] = s[0];
}

extern "C" __global__ void reduced_right(int *out) {
    __shared__ volatile int s[64];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    for (int distance = 32; distance > 4; distance /= 2) {
        int other = t < distance ? s[t + distance] : 0;
        __syncthreads();
        s[t] += other;
        __syncthreads();
    }
    if (t == 0)
        out[0] = s[0];
}

// Lanes on two ways, and a fence behind each step.
extern "C" __global__ void scattered(const int *in, int *out) {
    __shared__ volatile int s[64];
    int t = threadIdx.x, at = t + 32;
    s[t] = 0;
    s[at] = in[t] & 1;
    __threadfence_block();
    if (in[t] & 2) {
        s[at] += s[at - 1];
        __threadfence_block();
        s[at] += s[at - 2];
        __threadfence_block();
    } else {
        s[at] += s[at - 2];
        __threadfence_block();
        s[at] += s[at - 1];
        __threadfence_block();
    }
    if (in[t] & 4) {
        s[at] += s[at - 4];
        __threadfence_block();
        s[at] += s[at - 8];
        __threadfence_block();
    } else {
        s[at] += s[at - 8];
        __threadfence_block();
        s[at] += s[at - 4];
        __threadfence_block();
    }
    out[t] = s[at];
}

// A lane waits for another one: a loop that polls is no such thing.
extern "C" __global__ void polled(int *out) {
    __shared__ volatile int flag;
    int t = threadIdx.x;
    if (t == 0)
        flag = 0;
    __syncthreads();
    if (t == 32)
        flag = 7;
    if (t == 0) {
        while (flag == 0) {
        }
        out[0] = 1;
    }
}
