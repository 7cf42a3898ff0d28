// Arithmetic beyond plus and times: SIMD in a word, dot products of bytes, bit fields, carries, 128 bits, rounding modes,
// saturation, half, bfloat16, FP8 and FP4 conversions, special functions.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

extern "C" __global__ void integers(unsigned *a, int *b, unsigned long long *c, __int128 *d) {
    unsigned x = a[threadIdx.x], y = a[threadIdx.x + 32];
    unsigned sum = __vadd2(x, y) + __vabsdiffu4(x, y) + __vmaxs4(x, y) + __vcmpgtu2(x, y) + __vavgu4(x, y) + __vsubss4(x, y) +
                   __vimax3_s32((int)x, (int)y, 3) + __byte_perm(x, y, 0x3715) + __funnelshift_l(x, y, 7) + __umulhi(x, y) +
                   __dp4a(x, y, 3u) + __sad((int)x, (int)y, 9u) + __usad(x, y, 1u) + __ffs((int)x) + __clz((int)y) +
                   __umul24(x, y) + __uhadd(x, y) + __urhadd(x, y) + __dp2a_lo(x, y, 2u);
    b[threadIdx.x] = __mulhi((int)x, (int)y) / ((int)y | 1) + (int)x % 7 + __dp4a((int)x, (int)y, -1) + (x > y ? -(int)x : (int)~y);
    c[threadIdx.x] = __brevll(c[0]) + __umul64hi(c[1], c[2]) + (unsigned long long)__popcll(c[3]) + (c[4] << (x & 63)) / 1000003;
    d[threadIdx.x] = d[0] * d[1] + (d[2] >> 5);
    unsigned field, inserted;
    asm("bfe.u32 %0, %1, 3, 7;" : "=r"(field) : "r"(x));
    asm("bfi.b32 %0, %1, %2, 4, 9;" : "=r"(inserted) : "r"(x), "r"(y));
    unsigned low, high;
    asm("add.cc.u32 %0, %2, %3; addc.u32 %1, %2, 0;" : "=r"(low), "=r"(high) : "r"(x), "r"(y));
    asm("mad.lo.cc.u32 %0, %2, %3, %0; madc.hi.u32 %1, %2, %3, %1;" : "+r"(low), "+r"(high) : "r"(x), "r"(y));
    asm("{ .reg .u32 t; vadd.u32.u32.u32.sat t, %1, %2; lop3.b32 %0, t, %1, %2, 0x96; szext.wrap.u32 t, %0, 5; bmsk.clamp.b32 t, t, 3; "
        "fns.b32 t, t, 0, 1; xor.b32 %0, %0, t; }"
        : "=r"(inserted)
        : "r"(x), "r"(y));
    a[threadIdx.x] = sum + field + inserted + low + high;
}

extern "C" __global__ void reals(float *f, double *d, __half2 *h, __nv_bfloat162 *b, unsigned short *q) {
    float x = f[threadIdx.x], y = f[threadIdx.x + 32];
    float s, c;
    sincosf(x, &s, &c);
    f[threadIdx.x] = __fmaf_rd(x, y, s) + __fadd_rz(x, c) + __fdividef(x, y) + __frcp_ru(x) + __fsqrt_rn(y) + __saturatef(x) +
                     __powf(x, y) + __log2f(x) + tanhf(x) + erff(y) + fmaxf(x, y) + copysignf(x, y) + rintf(x) + truncf(y) +
                     (float)__float2int_rd(x) + (float)__float2ull_rz(y) + (isnan(x) ? 1.0f : 0.0f) + normcdff(x) + cbrtf(x) +
                     ldexpf(x, 3) + __half2float(__ushort_as_half(q[0]));
    double z = d[threadIdx.x];
    d[threadIdx.x] = __dmul_ru(z, z) + __ddiv_rd(z, 3.0) + rsqrt(z) + exp(z) + fma(z, z, 1.0) + (double)__double2ll_ru(z) +
                     __hiloint2double(3, 4) + floor(z) + fmod(z, 2.0) + pow(z, 0.3);
    __half2 two = h[threadIdx.x];
    h[threadIdx.x] = __hmax2(h2exp2(two), __hfma2_relu(two, two, h2rcp(two)));
    h[threadIdx.x] = __hadd2_sat(h[threadIdx.x], h2tanh(__hneg2(two)));
    __nv_bfloat162 brain = b[threadIdx.x];
    b[threadIdx.x] = __hmin2_nan(__hmul2(brain, brain), __floats2bfloat162_rn(x, y));
    q[threadIdx.x] = __nv_cvt_float2_to_fp8x2(make_float2(x, y), __NV_SATFINITE, __NV_E4M3);
    __half2_raw back = __nv_cvt_fp8x2_to_halfraw2(q[threadIdx.x + 1], __NV_E5M2);
    q[threadIdx.x + 2] = back.x + __half_as_ushort(__float2half_rz(x)) + (__hlt(__low2half(two), __high2half(two)) ? 1 : 0);
    unsigned packed;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(packed) : "f"(x));
    asm("{ .reg .pred p, r; setp.lt.and.f32 p|r, %0, %1, p; testp.finite.f32 p, %0; @p bra OUT; ex2.approx.ftz.f32 %0, %1; OUT: }"
        : "+f"(x)
        : "f"(y));
    f[threadIdx.x + 64] = x + (float)packed;
}
