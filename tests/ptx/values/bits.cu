// Integers of all kinds: bit fields, funnel shifts, permutations, wide products, divisions, saturation, narrow types.
extern "C" __global__ void fields(unsigned *to, const unsigned *from, unsigned by) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = from[i], t = threadIdx.x;
    to[i] = ((t & 0x1c) << 3 | (t & 3)) ^ ((t >> 1) * 5);
    to[i + 1] = __funnelshift_l(x, t, by) + __byte_perm(x, t, 0x3210 + by) + __brev(t) + __clz(t) + __popc(x);
    to[i + 2] = (t >> 2 & 7) * 16 + (t & 3) * 4 + (t >> 5 & 1) * 512;
    to[i + 3] = (t ^ t >> 3) & 31;
    to[i + 4] = (t | 32) + (t & ~3u) + (t << 28) + (unsigned)((int)(t << 28) >> 28);
}

extern "C" __global__ void numbers(long long *to, int a, int b, unsigned c, long long d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = (long long)a * i + b;
    to[i + 1] = (long long)(a * i + b) + (unsigned)(i * c);
    to[i + 2] = i / (b | 1) + i % 7 + i / 8 + (unsigned)i / 12;
    to[i + 3] = __mulhi(i, a) + __umulhi(i, c) + __mul24(i, b) + min(i, b) + max(i, -a) + abs(i - b);
    to[i + 4] = (d + i) * d + (signed char)i + (short)(i * 300) + (unsigned char)(i + 250);
    to[i + 5] = __sad(i, b, c) + __dp4a(i, a, b) + (i > b ? d : -d) + __fns(c, 0, (i & 7) + 1);
}

extern "C" __global__ void carries(ulonglong2 *to, ulonglong2 a, unsigned __int128 b) {
    unsigned __int128 x = ((unsigned __int128)a.y << 64 | a.x) * (threadIdx.x + 1) + b - threadIdx.x;
    to[threadIdx.x] = make_ulonglong2((unsigned long long)x, (unsigned long long)(x >> 64));
}
