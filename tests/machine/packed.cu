// Two halves, or four bytes, of a register at once.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cstdint>

static __device__ unsigned me() {
    return blockIdx.x * blockDim.x + threadIdx.x;
}

static __device__ uint32_t bits(__half2 x) {
    return *(uint32_t *)&x;
}
static __device__ uint32_t bits(__nv_bfloat162 x) {
    return *(uint32_t *)&x;
}
template <typename T> static __device__ T as(uint32_t x) {
    return *(T *)&x;
}

extern "C" __global__ void two_halves(const uint32_t *a, const uint32_t *b, uint32_t *out, unsigned n) {
    unsigned i = me();
    if (i >= n)
        return;
    __half2 x = as<__half2>(a[i]), y = as<__half2>(b[i]), z = as<__half2>(a[(i + 1) % n]);
    uint32_t *to = out + 10 * i;
    to[0] = bits(__hadd2_rn(x, y)), to[1] = bits(__hsub2_rn(x, y)), to[2] = bits(__hmul2_rn(x, y)), to[3] = bits(__hfma2(x, y, z));
    to[4] = bits(__hadd2_sat(x, y)), to[5] = bits(__hfma2_relu(x, y, z)), to[6] = bits(__hmin2(x, y)), to[7] = bits(__hmax2_nan(x, y));
    to[8] = bits(__hlt2(x, y)) ^ bits(__habs2(z)), to[9] = bits(__hneg2(x)) + (__hbeq2(x, y) ? 1 : 0);
}

extern "C" __global__ void two_brains(const uint32_t *a, const uint32_t *b, uint32_t *out, unsigned n) {
    unsigned i = me();
    if (i >= n)
        return;
    __nv_bfloat162 x = as<__nv_bfloat162>(a[i]), y = as<__nv_bfloat162>(b[i]), z = as<__nv_bfloat162>(a[(i + 1) % n]);
    uint32_t *to = out + 9 * i;
    to[0] = bits(__hadd2_rn(x, y)), to[1] = bits(__hsub2_rn(x, y)), to[2] = bits(__hmul2_rn(x, y)), to[3] = bits(__hfma2(x, y, z));
    to[4] = bits(__hfma2_relu(x, y, z)), to[5] = bits(__hmin2(x, y)), to[6] = bits(__hmax2_nan(x, y));
    to[7] = bits(__hlt2(x, y)) ^ bits(__habs2(z)), to[8] = bits(__hneg2(x));
}

extern "C" __global__ void single_halves(const uint16_t *a, const uint16_t *b, uint16_t *out, unsigned n) {
    unsigned i = me();
    if (i >= n)
        return;
    __half x = __ushort_as_half(a[i]), y = __ushort_as_half(b[i]);
    __nv_bfloat16 u = __ushort_as_bfloat16(a[i]), v = __ushort_as_bfloat16(b[i]);
    out[6 * i] = __half_as_ushort(__hadd_rn(x, y)), out[6 * i + 1] = __half_as_ushort(__hfma(x, y, x)), out[6 * i + 2] = __half_as_ushort(__hmax(x, y));
    out[6 * i + 3] = __bfloat16_as_ushort(__hmul_rn(u, v)), out[6 * i + 4] = __bfloat16_as_ushort(__hfma(u, v, v));
    out[6 * i + 5] = (uint16_t)((__hlt(x, y) ? 1 : 0) + (__hge(u, v) ? 2 : 0) + (__hisnan(x) ? 4 : 0) + (__hneu(u, v) ? 8 : 0));
}

extern "C" __global__ void bytes_of_words(const uint32_t *a, const uint32_t *b, uint32_t *out, unsigned n) {
    unsigned i = me();
    if (i >= n)
        return;
    uint32_t x = a[i], y = b[i], *to = out + 8 * i;
    to[0] = __vadd4(x, y), to[1] = __vsubss4(x, y), to[2] = __vavgu4(x, y), to[3] = __vabsdiffu4(x, y);
    to[4] = __vmaxs4(x, y), to[5] = __vcmpgtu4(x, y), to[6] = __vaddus4(x, y), to[7] = __vsads4(x, y);
}

extern "C" __global__ void halves_of_words(const uint32_t *a, const uint32_t *b, uint32_t *out, unsigned n) {
    unsigned i = me();
    if (i >= n)
        return;
    uint32_t x = a[i], y = b[i], z = a[(i + 1) % n], *to = out + 8 * i;
    to[0] = __vadd2(x, y), to[1] = __vsub2(x, y), to[2] = __vmaxs2(x, y), to[3] = __vminu2(x, y);
    to[4] = __viaddmax_s16x2(x, y, z), to[5] = __vimax3_s16x2(x, y, z), to[6] = __vimin_s16x2_relu(x, y), to[7] = __vabs2(x);
}

// The dot of two vectors of halves, summed in f32.
extern "C" __global__ void dot_of_halves(const __half2 *a, const __half2 *b, float *out, unsigned n) {
    unsigned i = me();
    if (i >= n)
        return;
    float sum = 0;
    for (unsigned k = 0; k < 32; k++) {
        float2 x = __half22float2(a[(i + k) % n]), y = __half22float2(b[(i + 5 * k) % n]);
        sum = fmaf(x.x, y.x, sum), sum = fmaf(x.y, y.y, sum);
    }
    out[i] = sum;
}
