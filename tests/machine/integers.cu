// Whole numbers: arithmetic of all widths, division, bits, and what C++ makes of 128 bits.
#include <cstdint>

static __device__ unsigned me() {
    return blockIdx.x * blockDim.x + threadIdx.x;
}

// Four-function arithmetic of 8 to 64 bits, signed and not, each with its own wrap-around.
extern "C" __global__ void arithmetic_8_to_64(const uint64_t *a, const uint64_t *b, uint64_t *out, unsigned n) {
    unsigned i = me();
    if (i >= n)
        return;
    uint64_t x = a[i], y = b[i], sum = 0;
    sum += (uint8_t)((uint8_t)x * (uint8_t)y - 3);
    sum = sum * 31 + (uint16_t)((int16_t)x - (int16_t)y);
    sum = sum * 31 + (uint32_t)((int32_t)x * (int32_t)y + (int32_t)(x >> 32));
    sum = sum * 31 + (uint64_t)((int64_t)x - (int64_t)y * 7);
    sum = sum * 31 + (uint64_t)(int64_t)((int8_t)x - (int8_t)(y >> 8));
    out[i] = sum;
}

extern "C" __global__ void division(const int32_t *a, const int32_t *b, int32_t *out, unsigned n) {
    unsigned i = me();
    if (i >= n)
        return;
    int32_t x = a[i], y = b[i] == 0 || b[i] == -1 ? 3 : b[i];
    uint32_t ux = (uint32_t)x, uy = (uint32_t)y;
    out[4 * i] = x / y;
    out[4 * i + 1] = x % y;
    out[4 * i + 2] = (int32_t)(ux / uy);
    out[4 * i + 3] = (int32_t)(ux % uy) + x / 7 + x % 10 + (int32_t)(ux / 1000u);
}

extern "C" __global__ void division_64(const int64_t *a, const int64_t *b, int64_t *out, unsigned n) {
    unsigned i = me();
    if (i >= n)
        return;
    int64_t x = a[i], y = b[i] >> (i % 60);
    y = y == 0 || y == -1 ? 3 : y;
    uint64_t ux = (uint64_t)x, uy = (uint64_t)y;
    out[4 * i] = x / y;
    out[4 * i + 1] = x % y;
    out[4 * i + 2] = (int64_t)(ux / uy);
    out[4 * i + 3] = (int64_t)(ux % uy);
}

extern "C" __global__ void high_halves(const uint64_t *a, const uint64_t *b, uint64_t *out, unsigned n) {
    unsigned i = me();
    if (i >= n)
        return;
    uint64_t x = a[i], y = b[i];
    out[3 * i] = __umul64hi(x, y);
    out[3 * i + 1] = (uint64_t)__mul64hi((int64_t)x, (int64_t)y);
    out[3 * i + 2] = (uint64_t)__umulhi((unsigned)x, (unsigned)y) << 32 | (unsigned)__mulhi((int)x, (int)y);
}

// 128 bits: carries go from word to word.
extern "C" __global__ void wide_128(const uint64_t *a, const uint64_t *b, uint64_t *out, unsigned n) {
    unsigned i = me();
    if (i >= n)
        return;
    unsigned __int128 x = (unsigned __int128)a[i] << 64 | b[i], y = (unsigned __int128)b[i] << 64 | a[(i + 1) % n];
    unsigned __int128 sum = x + y, difference = x - y, both = x * y, moved = x << (i & 127) | y >> (i & 63);
    out[8 * i] = (uint64_t)sum, out[8 * i + 1] = (uint64_t)(sum >> 64);
    out[8 * i + 2] = (uint64_t)difference, out[8 * i + 3] = (uint64_t)(difference >> 64);
    out[8 * i + 4] = (uint64_t)both, out[8 * i + 5] = (uint64_t)(both >> 64);
    out[8 * i + 6] = (uint64_t)moved, out[8 * i + 7] = (uint64_t)(moved >> 64) + ((__int128)x < (__int128)y);
}

extern "C" __global__ void counting_bits(const uint64_t *a, int32_t *out, unsigned n) {
    unsigned i = me();
    if (i >= n)
        return;
    uint64_t x = a[i] >> (i % 64);
    out[6 * i] = __popc((unsigned)x) * 100 + __popcll(x);
    out[6 * i + 1] = __clz((int)x) * 100 + __clzll((long long)x);
    out[6 * i + 2] = __ffs((int)x) * 100 + __ffsll((long long)x);
    out[6 * i + 3] = (int)__brev((unsigned)x);
    out[6 * i + 4] = (int)(__brevll(x) >> 32) ^ (int)__brevll(x);
    out[6 * i + 5] = (int)__fns((unsigned)x, i % 32, (int)(i % 5) - 2);
}

extern "C" __global__ void shifts_and_fields(const uint32_t *a, const uint32_t *b, uint32_t *out, unsigned n) {
    unsigned i = me();
    if (i >= n)
        return;
    uint32_t x = a[i], y = b[i], by = b[(i + 3) % n];
    out[6 * i] = __funnelshift_l(x, y, by) ^ __funnelshift_lc(x, y, by);
    out[6 * i + 1] = __funnelshift_r(x, y, by) + __funnelshift_rc(x, y, by);
    out[6 * i + 2] = __byte_perm(x, y, by);
    out[6 * i + 3] = (x >> (by & 31)) + (uint32_t)((int32_t)x >> (by & 31)) + (x << (by & 31));
    out[6 * i + 4] = (x & y) ^ (~x | by) ^ (x & by & ~y);
    out[6 * i + 5] = (x >> 5 & 0x3f) << 20 | (y >> 11 & 0x1ff) << 3 | ((int32_t)(by << 7) >> 25 & 7);
}

extern "C" __global__ void dot_of_bytes(const int32_t *a, const int32_t *b, int32_t *out, unsigned n) {
    unsigned i = me();
    if (i >= n)
        return;
    int32_t x = a[i], y = b[i], c = a[(i + 1) % n];
    out[4 * i] = __dp4a(x, y, c);
    out[4 * i + 1] = (int32_t)__dp4a((unsigned)x, (unsigned)y, (unsigned)c);
    out[4 * i + 2] = __dp2a_lo(x, y, c) ^ __dp2a_hi(x, y, c);
    out[4 * i + 3] = __sad(x, y, (unsigned)c) + (int)__usad((unsigned)x, (unsigned)y, 1) + __hadd(x, y) + __rhadd(x, y) + __mul24(x, y);
}

// CRC-32 bit by bit: a loop whose value goes from turn to turn.
extern "C" __global__ void crc32_of_words(const uint32_t *a, uint32_t *out, unsigned n) {
    unsigned i = me();
    if (i >= n)
        return;
    uint32_t crc = ~0u;
    for (unsigned k = 0; k < 4; k++) {
        crc ^= a[(i + k) % n];
        for (unsigned bit = 0; bit < 32; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
    }
    out[i] = ~crc;
}

// Every lane makes another number of turns.
extern "C" __global__ void collatz_and_gcd(const uint32_t *a, const uint32_t *b, uint32_t *out, unsigned n) {
    unsigned i = me();
    if (i >= n)
        return;
    uint64_t x = a[i] % 100000 + 1;
    uint32_t steps = 0, p = a[i] | 1, q = b[i] | 1;
    for (; x != 1 && steps < 1000; steps++)
        x = x & 1 ? 3 * x + 1 : x / 2;
    while (q) {
        uint32_t rest = p % q;
        p = q, q = rest;
    }
    out[2 * i] = steps;
    out[2 * i + 1] = p;
}

extern "C" __global__ void power_modulo(const uint64_t *a, uint64_t *out, unsigned n) {
    unsigned i = me();
    if (i >= n)
        return;
    const uint64_t modulus = 0xFFFFFFFFFFFFFFC5ull;
    uint64_t base = a[i] % modulus, result = 1;
    for (uint64_t exponent = a[(i + 1) % n] >> 48; exponent; exponent >>= 1) {
        if (exponent & 1)
            result = (uint64_t)((unsigned __int128)result * base % modulus);
        base = (uint64_t)((unsigned __int128)base * base % modulus);
    }
    out[i] = result;
}

// One block of SHA-256.
__constant__ uint32_t rounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be,
    0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa,
    0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3,
    0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f,
    0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static __device__ uint32_t turned(uint32_t x, unsigned by) {
    return x >> by | x << (32 - by);
}

extern "C" __global__ void sha256(const uint32_t *a, uint32_t *out, unsigned n) {
    unsigned i = me();
    if (i >= n)
        return;
    uint32_t w[16], s[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}, t[8];
    for (unsigned k = 0; k < 16; k++)
        w[k] = a[(i + k) % n];
    for (unsigned k = 0; k < 8; k++)
        t[k] = s[k];
#pragma unroll 16
    for (unsigned k = 0; k < 64; k++) {
        if (k >= 16) {
            uint32_t early = w[(k + 1) & 15], late = w[(k + 14) & 15];
            w[k & 15] += (turned(early, 7) ^ turned(early, 18) ^ early >> 3) + w[(k + 9) & 15] + (turned(late, 17) ^ turned(late, 19) ^ late >> 10);
        }
        uint32_t one = t[7] + (turned(t[4], 6) ^ turned(t[4], 11) ^ turned(t[4], 25)) + ((t[4] & t[5]) ^ (~t[4] & t[6])) + rounds[k] + w[k & 15];
        uint32_t two = (turned(t[0], 2) ^ turned(t[0], 13) ^ turned(t[0], 22)) + ((t[0] & t[1]) ^ (t[0] & t[2]) ^ (t[1] & t[2]));
        for (unsigned j = 7; j; j--)
            t[j] = t[j - 1];
        t[4] += one, t[0] = one + two;
    }
    for (unsigned k = 0; k < 8; k++)
        out[8 * i + k] = s[k] + t[k];
}

extern "C" __global__ void matrix_of_integers(const int32_t *a, const int32_t *b, int32_t *out, unsigned n) {
    unsigned column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= n || column >= n)
        return;
    int32_t sum = 0;
    for (unsigned k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + column];
    out[row * n + column] = sum;
}
