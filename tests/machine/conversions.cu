// From one format of numbers to another.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cstdint>

static __device__ unsigned me() {
    return blockIdx.x * blockDim.x + threadIdx.x;
}

extern "C" __global__ void single_to_whole(const float *a, int64_t *out, unsigned n) {
    unsigned i = me();
    if (i >= n)
        return;
    float x = a[i];
    int64_t *to = out + 8 * i;
    to[0] = __float2int_rn(x), to[1] = __float2int_rd(x), to[2] = __float2uint_ru(x), to[3] = __float2uint_rz(x);
    to[4] = __float2ll_rn(x), to[5] = __float2ll_ru(x), to[6] = (int64_t)__float2ull_rd(x), to[7] = (int64_t)__float2ull_rz(x);
}

extern "C" __global__ void double_to_whole(const double *a, int64_t *out, unsigned n) {
    unsigned i = me();
    if (i >= n)
        return;
    double x = a[i];
    int64_t *to = out + 8 * i;
    to[0] = __double2int_rn(x), to[1] = __double2int_rd(x), to[2] = __double2uint_ru(x), to[3] = __double2uint_rz(x);
    to[4] = __double2ll_rn(x), to[5] = __double2ll_ru(x), to[6] = (int64_t)__double2ull_rd(x), to[7] = (int64_t)__double2ull_rz(x);
}

extern "C" __global__ void whole_to_real(const int64_t *a, float *out, double *wide, unsigned n) {
    unsigned i = me();
    if (i >= n)
        return;
    int64_t x = a[i] >> (i % 63);
    out[4 * i] = __ll2float_rn(x), out[4 * i + 1] = __ull2float_rz((unsigned long long)x);
    out[4 * i + 2] = __int2float_rd((int)x), out[4 * i + 3] = __uint2float_ru((unsigned)x);
    wide[2 * i] = __ll2double_rd(x), wide[2 * i + 1] = __ull2double_ru((unsigned long long)x) + (double)(int)x;
}

extern "C" __global__ void round_to_whole(const float *a, const double *b, float *out, double *wide, unsigned n) {
    unsigned i = me();
    if (i >= n)
        return;
    float x = a[i];
    double y = b[i];
    out[4 * i] = rintf(x), out[4 * i + 1] = floorf(x), out[4 * i + 2] = ceilf(x), out[4 * i + 3] = truncf(x);
    wide[4 * i] = rint(y), wide[4 * i + 1] = floor(y), wide[4 * i + 2] = ceil(y), wide[4 * i + 3] = trunc(y);
}

extern "C" __global__ void double_to_single(const double *a, float *out, unsigned n) {
    unsigned i = me();
    if (i >= n)
        return;
    out[4 * i] = __double2float_rn(a[i]), out[4 * i + 1] = __double2float_rz(a[i]);
    out[4 * i + 2] = __double2float_rd(a[i]), out[4 * i + 3] = __double2float_ru(a[i]);
}

extern "C" __global__ void single_to_half(const float *a, uint16_t *out, unsigned n) {
    unsigned i = me();
    if (i >= n)
        return;
    uint16_t *to = out + 8 * i;
    to[0] = __half_as_ushort(__float2half_rn(a[i])), to[1] = __half_as_ushort(__float2half_rz(a[i]));
    to[2] = __half_as_ushort(__float2half_rd(a[i])), to[3] = __half_as_ushort(__float2half_ru(a[i]));
    to[4] = __bfloat16_as_ushort(__float2bfloat16_rn(a[i])), to[5] = __bfloat16_as_ushort(__float2bfloat16_rz(a[i]));
    to[6] = __bfloat16_as_ushort(__float2bfloat16_rd(a[i])), to[7] = __bfloat16_as_ushort(__float2bfloat16_ru(a[i]));
}

extern "C" __global__ void half_to_others(const uint16_t *a, float *out, int32_t *whole, unsigned n) {
    unsigned i = me();
    if (i >= n)
        return;
    __half h = __ushort_as_half(a[i]);
    __nv_bfloat16 b = __ushort_as_bfloat16(a[i]);
    out[2 * i] = __half2float(h), out[2 * i + 1] = __bfloat162float(b);
    whole[4 * i] = __half2int_rn(h), whole[4 * i + 1] = __half2short_rd(h), whole[4 * i + 2] = (int)__half2uint_ru(h), whole[4 * i + 3] = __bfloat162int_rz(b);
}

extern "C" __global__ void eight_bits(const float *a, const float *b, uint16_t *out, uint32_t *back, unsigned n) {
    unsigned i = me();
    if (i >= n)
        return;
    float2 pair = make_float2(a[i], b[i]);
    __nv_fp8x2_storage_t e4 = __nv_cvt_float2_to_fp8x2(pair, __NV_SATFINITE, __NV_E4M3), e5 = __nv_cvt_float2_to_fp8x2(pair, __NV_SATFINITE, __NV_E5M2);
    __half2_raw x = __nv_cvt_fp8x2_to_halfraw2(e4, __NV_E4M3), y = __nv_cvt_fp8x2_to_halfraw2(e5, __NV_E5M2);
    out[2 * i] = e4, out[2 * i + 1] = e5;
    back[2 * i] = x.x | (uint32_t)x.y << 16, back[2 * i + 1] = y.x | (uint32_t)y.y << 16;
}

extern "C" __global__ void narrow_whole_numbers(const int64_t *a, int32_t *out, unsigned n) {
    unsigned i = me();
    if (i >= n)
        return;
    int64_t x = a[i];
    out[6 * i] = (int8_t)x, out[6 * i + 1] = (uint8_t)x, out[6 * i + 2] = (int16_t)x, out[6 * i + 3] = (uint16_t)(x >> 7);
    out[6 * i + 4] = (int32_t)x, out[6 * i + 5] = (int32_t)(((int64_t)(int8_t)(x >> 3) + (int64_t)(uint32_t)x) >> 5);
}
