// f32 and f64 by IEEE 754: every operation is rounded once, so that results are the same to the last bit.
#include <cstdint>

static __device__ unsigned me() {
    return blockIdx.x * blockDim.x + threadIdx.x;
}

extern "C" __global__ void saxpy(const float *x, const float *y, float *out, float a, unsigned n) {
    unsigned i = me();
    if (i < n)
        out[i] = a * x[i] + y[i];
}

extern "C" __global__ void rounding_modes(const float *a, const float *b, float *out, unsigned n) {
    unsigned i = me();
    if (i >= n)
        return;
    float x = a[i], y = b[i], z = a[(i + 1) % n], *to = out + 16 * i;
    to[0] = __fadd_rn(x, y), to[1] = __fadd_rz(x, y), to[2] = __fadd_rd(x, y), to[3] = __fadd_ru(x, y);
    to[4] = __fmul_rn(x, y), to[5] = __fmul_rz(x, y), to[6] = __fmul_rd(x, y), to[7] = __fmul_ru(x, y);
    to[8] = __fmaf_rn(x, y, z), to[9] = __fmaf_rz(x, y, z), to[10] = __fmaf_rd(x, y, z), to[11] = __fmaf_ru(x, y, z);
    to[12] = __fdiv_rn(x, y), to[13] = __fdiv_rz(x, y), to[14] = __fdiv_rd(x, y), to[15] = __fdiv_ru(x, y);
}

extern "C" __global__ void roots_and_reciprocals(const float *a, float *out, unsigned n) {
    unsigned i = me();
    if (i >= n)
        return;
    float x = fabsf(a[i]), *to = out + 8 * i;
    to[0] = __fsqrt_rn(x), to[1] = __fsqrt_rz(x), to[2] = __fsqrt_rd(x), to[3] = __fsqrt_ru(x);
    to[4] = __frcp_rn(x), to[5] = __frcp_rz(x), to[6] = __frcp_rd(x), to[7] = __frcp_ru(x);
}

extern "C" __global__ void rounding_modes_f64(const double *a, const double *b, double *out, unsigned n) {
    unsigned i = me();
    if (i >= n)
        return;
    double x = a[i], y = b[i], z = a[(i + 1) % n], *to = out + 24 * i;
    to[0] = __dadd_rn(x, y), to[1] = __dadd_rz(x, y), to[2] = __dadd_rd(x, y), to[3] = __dadd_ru(x, y);
    to[4] = __dmul_rn(x, y), to[5] = __dmul_rz(x, y), to[6] = __dmul_rd(x, y), to[7] = __dmul_ru(x, y);
    to[8] = __fma_rn(x, y, z), to[9] = __fma_rz(x, y, z), to[10] = __fma_rd(x, y, z), to[11] = __fma_ru(x, y, z);
    to[12] = __ddiv_rn(x, y), to[13] = __ddiv_rz(x, y), to[14] = __ddiv_rd(x, y), to[15] = __ddiv_ru(x, y);
    x = fabs(x);
    to[16] = __dsqrt_rn(x), to[17] = __dsqrt_rz(x), to[18] = __dsqrt_rd(x), to[19] = __dsqrt_ru(x);
    to[20] = __drcp_rn(x), to[21] = __drcp_rz(x), to[22] = __drcp_rd(x), to[23] = __drcp_ru(x);
}

// The sum with its error carried along.
extern "C" __global__ void kahan(const float *a, float *out, unsigned n) {
    unsigned i = me();
    if (i >= n)
        return;
    float sum = 0, lost = 0;
    for (unsigned k = 0; k < 64; k++) {
        float each = __fsub_rn(a[(i * 7 + k * 13) % n], lost), next = __fadd_rn(sum, each);
        lost = __fsub_rn(__fsub_rn(next, sum), each);
        sum = next;
    }
    out[2 * i] = sum, out[2 * i + 1] = lost;
}

// Two doubles as one number of twice the bits.
extern "C" __global__ void double_double(const double *a, const double *b, double *out, unsigned n) {
    unsigned i = me();
    if (i >= n)
        return;
    double high = 0, low = 0;
    for (unsigned k = 0; k < 16; k++) {
        double x = a[(i + k) % n], y = b[(i + 3 * k) % n], p = __dmul_rn(x, y), e = __fma_rn(x, y, -p);
        double s = __dadd_rn(high, p), v = __dsub_rn(s, high), t = __dadd_rn(__dsub_rn(high, __dsub_rn(s, v)), __dsub_rn(p, v));
        low = __dadd_rn(low, __dadd_rn(t, e));
        high = s;
    }
    out[2 * i] = high, out[2 * i + 1] = low;
}

extern "C" __global__ void mandelbrot(int32_t *out, unsigned width, unsigned height) {
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float re = -2.0f + 2.5f * (float)x / (float)width, im = -1.25f + 2.5f * (float)y / (float)height, a = 0, b = 0;
    int turns = 0;
    for (; turns < 100 && a * a + b * b < 4; turns++) {
        float next = a * a - b * b + re;
        b = 2 * a * b + im;
        a = next;
    }
    out[y * width + x] = turns;
}

extern "C" __global__ void matrix_f32(const float *a, const float *b, float *out, unsigned n) {
    unsigned column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    if (row >= n || column >= n)
        return;
    for (unsigned k = 0; k < n; k++)
        sum = fmaf(a[row * n + k], b[k * n + column], sum);
    out[row * n + column] = sum;
}

extern "C" __global__ void bodies(const float4 *at, float4 *out, unsigned n) {
    unsigned i = me();
    if (i >= n)
        return;
    float4 own = at[i];
    float x = 0, y = 0, z = 0;
    for (unsigned k = 0; k < n; k++) {
        float4 other = at[k];
        float dx = other.x - own.x, dy = other.y - own.y, dz = other.z - own.z, d = dx * dx + dy * dy + dz * dz + 0.01f;
        float f = other.w / (d * __fsqrt_rn(d));
        x += f * dx, y += f * dy, z += f * dz;
    }
    out[i] = make_float4(x, y, z, own.w);
}

extern "C" __global__ void horner_f64(const double *a, double *out, unsigned n) {
    unsigned i = me();
    if (i >= n)
        return;
    double x = a[i], sum = 1;
    for (int k = 15; k > 0; k--)
        sum = sum * x / k + 1;
    out[i] = sum;
}

// Smallest and greatest, absolute values and signs, with what is no number among them.
extern "C" __global__ void extremes(const float *a, const float *b, float *out, unsigned n) {
    unsigned i = me();
    if (i >= n)
        return;
    float x = a[i], y = b[i];
    out[6 * i] = fminf(x, y), out[6 * i + 1] = fmaxf(x, y), out[6 * i + 2] = copysignf(x, y), out[6 * i + 3] = fabsf(x);
    out[6 * i + 4] = __saturatef(x) + fminf(fmaxf(y, -1.0f), 1.0f);
    out[6 * i + 5] = (float)((x < y) + 2 * (x <= y) + 4 * (x == y) + 8 * (x != y) + 16 * !(x < y) + 32 * isnan(x) + 64 * isinf(y) + 128 * signbit(x));
}

extern "C" __global__ void extremes_f64(const double *a, const double *b, double *out, unsigned n) {
    unsigned i = me();
    if (i >= n)
        return;
    double x = a[i], y = b[i];
    out[4 * i] = fmin(x, y), out[4 * i + 1] = fmax(x, y), out[4 * i + 2] = copysign(x, y);
    out[4 * i + 3] = (double)((x < y) + 2 * (x <= y) + 4 * (x == y) + 8 * (x != y) + 32 * isnan(x) + 64 * isinf(y));
}
