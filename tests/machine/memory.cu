// Kernels about memory: spaces, generic addresses, sizes, vectors, local arrays, constants, atomics, shared tiles.
#include <cstdint>

#define KERNEL extern "C" __global__ void
#define TID (blockIdx.x * blockDim.x + threadIdx.x)

__constant__ int table[64] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4};
__device__ int variable[4] = {10, 20, 30, 40};

KERNEL constants(const unsigned *in, int *out) { out[TID] = table[in[TID] % 64] + variable[in[TID] % 4]; }

KERNEL local_array(const unsigned *in, unsigned *out) {
    unsigned a[32];
    for (int i = 0; i < 32; i++)
        a[i] = in[TID] * (i + 1);
    for (int i = 0; i < 100; i++) {
        unsigned j = a[i % 32] % 32, k = (j * 7 + i) % 32, t = a[j];
        a[j] = a[k] + 1;
        a[k] = t;
    }
    unsigned total = 0;
    for (int i = 0; i < 32; i++)
        total = total * 5 + a[i];
    out[TID] = total;
}

__device__ __noinline__ void add_to(int *where, int what) { *where += what; }
KERNEL generic(const int *in, int *out) {
    __shared__ int here[128];
    int own[2] = {in[TID], 5};
    here[threadIdx.x] = 100;
    out[TID] = 1000;
    add_to(&here[threadIdx.x], in[TID]);
    add_to(&own[in[TID] & 1], 7);
    add_to(&out[TID], own[0] + own[1]);
    out[TID] += here[threadIdx.x] + (__isShared(&here[0]) ? 1 : 0) + (__isGlobal(out) ? 2 : 0) + (__isLocal(own) ? 4 : 0) +
                (__isGlobal(own) ? 8 : 0);
}

KERNEL bytes(const uint8_t *in, uint8_t *out8, int16_t *out16, uint64_t *out64) {
    out8[TID] = in[TID] + 200;
    out16[TID] = (int16_t)((int8_t)in[TID] * 3);
    out64[TID] = in[TID] * 0x0101010101010101ull;
}

KERNEL vectors(const int4 *in, int4 *out, const double2 *din, double2 *dout, const uchar4 *cin, ushort2 *sout) {
    int4 v = in[TID];
    out[TID] = make_int4(v.w, v.z + 1, v.y ^ v.x, v.x);
    double2 d = din[TID];
    dout[TID] = make_double2(d.y + 1.0, d.x * 2.0);
    uchar4 c = cin[TID];
    sout[TID] = make_ushort2(c.x * c.y, c.z + 256 * c.w);
}

KERNEL transposed(const int *in, int *out) {
    __shared__ int tile[32][33];
    for (int j = threadIdx.y; j < 32; j += 8)
        tile[j][threadIdx.x] = in[(blockIdx.y * 32 + j) * 64 + blockIdx.x * 32 + threadIdx.x];
    __syncthreads();
    for (int j = threadIdx.y; j < 32; j += 8)
        out[(blockIdx.x * 32 + j) * 64 + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][j];
}

KERNEL tiled_matmul(const int *a, const int *b, int *c, int n) {
    __shared__ int as[16][16], bs[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x, total = 0;
    for (int k = 0; k < n; k += 16) {
        as[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
        bs[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
        __syncthreads();
        for (int i = 0; i < 16; i++)
            total += as[threadIdx.y][i] * bs[i][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = total;
}

KERNEL dynamic_shared(const int *in, int *out) {
    extern __shared__ int dynamic[];
    dynamic[threadIdx.x] = in[TID];
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s; s /= 2) {
        if (threadIdx.x < s)
            dynamic[threadIdx.x] += dynamic[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = dynamic[0];
}

KERNEL scanned(const int *in, int *out) {
    __shared__ int buffer[2][128];
    int from = 0;
    buffer[0][threadIdx.x] = in[TID];
    __syncthreads();
    for (unsigned d = 1; d < 128; d *= 2) {
        int x = buffer[from][threadIdx.x];
        if (threadIdx.x >= d)
            x += buffer[from][threadIdx.x - d];
        from ^= 1;
        buffer[from][threadIdx.x] = x;
        __syncthreads();
    }
    out[TID] = buffer[from][threadIdx.x];
}

KERNEL atomics(int *cells, unsigned *counters, const int *in) {
    int x = in[TID];
    atomicAdd(&cells[0], x);
    atomicMax(&cells[1], x);
    atomicMin(&cells[2], x);
    atomicAnd(&cells[3], x | 0xFFFF);
    atomicOr(&cells[4], x & 0xF0F0);
    atomicXor(&cells[5], x);
    atomicSub(&cells[6], 3);
    atomicInc(&counters[0], 50);
    atomicDec(&counters[1], 70);
    atomicMax(&counters[2], (unsigned)x);
    atomicMin(&counters[3], (unsigned)x);
}

KERNEL atomics_wide(unsigned long long *cells, const unsigned long long *in) {
    unsigned long long x = in[TID];
    atomicAdd(&cells[0], x);
    atomicMax(&cells[1], x);
    atomicMin(&cells[2], x);
    atomicXor(&cells[3], x);
    unsigned long long old = cells[4], seen;
    do {
        seen = old;
        old = atomicCAS(&cells[4], seen, seen + (x & 255));
    } while (old != seen);
    atomicMin((long long *)&cells[5], (long long)x);
}

KERNEL atomics_shared(const unsigned *in, unsigned *out) {
    __shared__ unsigned bins[32];
    if (threadIdx.x < 32)
        bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[in[TID] % 32], 1);
    atomicAdd_block(&bins[in[TID] / 32 % 32], 2);
    __syncthreads();
    if (threadIdx.x < 32)
        out[blockIdx.x * 32 + threadIdx.x] = bins[threadIdx.x];
}

KERNEL atomics_real(float *sum, double *wide, const float *in) {
    atomicAdd(&sum[TID % 4], in[TID]);
    atomicAdd(&wide[TID % 4], (double)in[TID]);
}

KERNEL strings(const char *text, int *out, int n) {
    int count = 0;
    for (int i = 0; i < n; i++)
        count += text[i] == 'a' + (int)(TID % 26);
    out[TID] = count;
}

struct Node {
    int value;
    int next;
};
KERNEL list_walk(const Node *nodes, int *out, int steps) {
    int at = TID, total = 0;
    for (int i = 0; i < steps; i++) {
        total += nodes[at].value;
        at = nodes[at].next;
    }
    out[TID] = total * 64 + at;
}

KERNEL stencil(const int *in, int *out, int n) {
    __shared__ int row[128 + 2];
    int i = TID;
    row[threadIdx.x + 1] = in[i];
    if (threadIdx.x == 0)
        row[0] = i ? in[i - 1] : 0;
    if (threadIdx.x == blockDim.x - 1)
        row[blockDim.x + 1] = i + 1 < n ? in[i + 1] : 0;
    __syncthreads();
    out[i] = row[threadIdx.x] - 2 * row[threadIdx.x + 1] + row[threadIdx.x + 2];
}

KERNEL last_block(const int *in, volatile int *parts, unsigned *counter, int *out) {
    __shared__ int sum;
    __shared__ bool last;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    atomicAdd(&sum, in[TID]);
    __syncthreads();
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = sum;
        __threadfence();
        last = atomicAdd(counter, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int total = 0;
        for (unsigned i = 0; i < gridDim.x; i++)
            total += parts[i];
        *out = total;
    }
}
