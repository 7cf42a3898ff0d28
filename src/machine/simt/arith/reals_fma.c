/* fma by the host's own instruction, where it has one: it rounds as ours, which takes several times as long. */
#include "machine/simt/arith/compute.h"
#include "machine/simt/core/processor.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define HOST_FMA __attribute__((target("fma")))
static bool host_has_fma(void) {
    return processor_has(PROCESSOR_FMA);
}
#elif defined(__aarch64__)
#define HOST_FMA
static bool host_has_fma(void) {
    return true;
}
#endif

#ifdef HOST_FMA
/* The bits of a NaN are the GPU's. */
HOST_FMA static void fma_f64(Lanes *out, const Lanes *const in[], const Compute *how) {
    (void)how;
    for (unsigned i = 0; i < PTX_LANES; i++) {
        uint64_t a = in[0]->at[i], b = in[1]->at[i], c = in[2]->at[i];
        double result = __builtin_fma(as_double(a), as_double(b), as_double(c));
        out->at[i] = result == result ? bits_of_double(result) : double_fma(a, b, c, ROUND_NEAREST);
    }
}

HOST_FMA static void fma_f32(Lanes *out, const Lanes *const in[], const Compute *how) {
    const uint64_t *a = in[0]->at, *b = in[1]->at, *c = in[2]->at;
    (void)how;
    EACH_LANE out->at[i] = single_result(__builtin_fmaf(as_single(a[i]), as_single(b[i]), as_single(c[i])));
}

static float flushed(float value) {
    return value < 0x1p-126f && value > -0x1p-126f ? as_single(bits_of_single(value) & UINT32_C(0x80000000)) : value;
}

/* About the least normal number. */
static float small(float a, float b, float c) {
    double exact = add_odd((double)a * (double)b, (double)c);
    if (format_is_tiny(FORMAT_F32, exact, ROUND_NEAREST))
        return bits_of_double(exact) >> 63 ? -0.0f : 0.0f;
    return (float)exact;
}

HOST_FMA static void fma_ftz(Lanes *out, const Lanes *const in[], const Compute *how) {
    (void)how;
    for (unsigned i = 0; i < PTX_LANES; i++) {
        float a = flushed(as_single(in[0]->at[i])), b = flushed(as_single(in[1]->at[i]));
        float c = flushed(as_single(in[2]->at[i])), result = __builtin_fmaf(a, b, c);
        out->at[i] = single_result(result <= 0x1p-126f && result >= -0x1p-126f ? small(a, b, c) : result);
    }
}

ComputeRow *host_fma_row(const Compute *how) {
    if (!host_has_fma())
        return NULL;
    return how->type.format == FORMAT_F64 ? fma_f64 : how->ftz ? fma_ftz : fma_f32;
}
#else
ComputeRow *host_fma_row(const Compute *how) {
    (void)how;
    return NULL;
}
#endif
