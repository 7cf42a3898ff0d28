// Approximations: near what a GPU gives, by as much as their launches say.
#include <cstdint>

static __device__ unsigned me() {
    return blockIdx.x * blockDim.x + threadIdx.x;
}

extern "C" __global__ void elementary(const float *a, float *out, unsigned n) {
    unsigned i = me();
    if (i >= n)
        return;
    float x = a[i], *to = out + 8 * i;
    to[0] = __sinf(x), to[1] = __cosf(x), to[2] = __expf(x), to[3] = __logf(fabsf(x) + 2.0f);
    to[4] = __powf(fabsf(x) + 0.5f, 1.5f), to[5] = __log2f(fabsf(x) + 3.0f), to[6] = exp2f(x), to[7] = __tanf(x * 0.25f);
}

extern "C" __global__ void quotients(const float *a, const float *b, float *out, unsigned n) {
    unsigned i = me();
    if (i >= n)
        return;
    float x = a[i], y = fabsf(b[i]) + 0.25f;
    out[4 * i] = __fdividef(x, y), out[4 * i + 1] = rsqrtf(y), out[4 * i + 2] = __frsqrt_rn(y);
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(out[4 * i + 3]) : "f"(y));
}

extern "C" __global__ void hyperbolic(const float *a, float *out, unsigned n) {
    unsigned i = me();
    if (i >= n)
        return;
    float t, x = a[i] * 3;
    asm("tanh.approx.f32 %0, %1;" : "=f"(t) : "f"(x));
    out[2 * i] = t, out[2 * i + 1] = 0.5f * x * (1 + t);
}

extern "C" __global__ void softmax_of_warps(const float *a, float *out) {
    unsigned i = me();
    float x = a[i] * 4, most = x;
    for (int by = 16; by; by /= 2)
        most = fmaxf(most, __shfl_xor_sync(~0u, most, by));
    float e = __expf(x - most), sum = e;
    for (int by = 16; by; by /= 2)
        sum += __shfl_xor_sync(~0u, sum, by);
    out[i] = __fdividef(e, sum);
}

extern "C" __global__ void normalized(const float4 *a, float4 *out, unsigned n) {
    unsigned i = me();
    if (i >= n)
        return;
    float4 v = a[i];
    float by = rsqrtf(v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w + 1e-5f);
    out[i] = make_float4(v.x * by, v.y * by, v.z * by, v.w * by);
}

// The functions of the library, which are made of exact operations and tables, and of approximations.
extern "C" __global__ void library(const float *a, float *out, unsigned n) {
    unsigned i = me();
    if (i >= n)
        return;
    float x = a[i], *to = out + 8 * i;
    to[0] = sinf(x * 10), to[1] = cosf(x * 100), to[2] = expf(x), to[3] = logf(fabsf(x) + 0.1f);
    to[4] = powf(fabsf(x) + 0.1f, 2.3f), to[5] = tanhf(x), to[6] = erff(x), to[7] = atan2f(x, 0.3f);
}

extern "C" __global__ void library_f64(const double *a, double *out, unsigned n) {
    unsigned i = me();
    if (i >= n)
        return;
    double x = a[i], *to = out + 6 * i;
    to[0] = sin(x * 10), to[1] = exp(x), to[2] = log(fabs(x) + 0.1), to[3] = pow(fabs(x) + 0.1, 2.3), to[4] = cbrt(x), to[5] = 1 / sqrt(fabs(x) + 0.2);
}

extern "C" __global__ void black_scholes(const float *a, float *out, unsigned n) {
    unsigned i = me();
    if (i >= n)
        return;
    float spot = 20 + 10 * fabsf(a[i]), strike = 25, years = 0.5f + fabsf(a[(i + 1) % n]), rate = 0.02f, volatility = 0.3f;
    float root = sqrtf(years), d1 = (__logf(spot / strike) + (rate + 0.5f * volatility * volatility) * years) / (volatility * root), d2 = d1 - volatility * root;
    float n1 = 0.5f * erfcf(-d1 * 0.70710678f), n2 = 0.5f * erfcf(-d2 * 0.70710678f), less = __expf(-rate * years);
    out[2 * i] = spot * n1 - strike * less * n2, out[2 * i + 1] = strike * less * (1 - n2) - spot * (1 - n1);
}
