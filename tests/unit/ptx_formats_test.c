/* Rounding in software, held against the host's arithmetic in its four rounding modes, and one way of rounding against
 * another. */
#include "machine/simt/arith/formats.h"

#include <fenv.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { TRIES = 60000 };

static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD}; /* ORDER with Round */

static uint64_t state_of_random = 1;

static uint64_t next_random(void) {
    uint64_t z = state_of_random += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* All bits, numbers about 1, subnormal ones, few bits; and c that all but cancels a * b. */
static void pick(unsigned try, uint64_t x[3]) {
    for (unsigned i = 0; i < 3; i++)
        x[i] = next_random();
    if (try % 5 == 1 || try % 5 == 2) {
        x[0] = (x[0] & UINT64_C(0x803fffffffffffff)) + UINT64_C(0x3fe0000000000000);
        x[1] = (x[1] & UINT64_C(0x801fffffffffffff)) + UINT64_C(0x3fe0000000000000);
        x[2] = (x[2] & UINT64_C(0x83ffffffffffffff)) + UINT64_C(0x3d00000000000000);
    } else if (try % 5 == 3) {
        x[0] &= UINT64_C(0x80ffffffffffffff);
        x[1] = (x[1] & UINT64_C(0x801fffffffffffff)) + UINT64_C(0x3fe0000000000000);
    } else if (try % 5 == 4) {
        x[0] &= UINT64_C(0xfff0000000000000) | next_random() % 4;
        x[1] &= ~UINT64_C(0xffffffffff);
        x[2] = bits_of_double(-(as_double(x[0]) * as_double(x[1]))) ^ (next_random() & 1);
    }
}

static void same(const char *what, unsigned mode, double host, uint64_t ours) {
    if (isnan(host) ? !isnan(as_double(ours)) : bits_of_double(host) != ours)
        fail_msg("%s, mode %u: %a, and ours is %a", what, mode, host, as_double(ours));
}

/* Compilers inserted what is right to nearest alone. */
static double (*volatile host_rint)(double) = rint;

static void doubles(void **state) {
    (void)state;
    for (unsigned try = 0; try < TRIES; try++) {
        uint64_t x[3];
        pick(try, x);
        volatile double a = as_double(x[0]), b = as_double(x[1]), c = as_double(x[2]), size = fabs(a);
        for (unsigned mode = 0; mode < 4; mode++) {
            fesetround(modes[mode]);
            volatile double sum = a + b, both = a * b, quotient = a / b, root = sqrt(size), all = fma(a, b, c);
            volatile double whole = host_rint(a);
            volatile float single = (float)a;
            fesetround(FE_TONEAREST);
            same("sum", mode, sum, double_add(x[0], x[1], (Round)mode));
            same("product", mode, both, double_multiply(x[0], x[1], (Round)mode));
            same("quotient", mode, quotient, double_divide(x[0], x[1], (Round)mode));
            same("root", mode, root, double_root(bits_of_double(size), (Round)mode));
            same("fma", mode, all, double_fma(x[0], x[1], x[2], (Round)mode));
            same("whole", mode, whole, bits_of_double(double_whole(a, (Round)mode)));
            if (!isnan(single)) {
                assert_int_equal(single_narrow(a, (Round)mode), bits_of_single(single));
                assert_int_equal(format_narrow(FORMAT_F32, a, (Round)mode, false), bits_of_single(single));
            }
        }
    }
}

/* f32 by doubles that were rounded to odd. */
static void singles(void **state) {
    (void)state;
    for (unsigned try = 0; try < TRIES; try++) {
        uint32_t x = (uint32_t)next_random(), y = (uint32_t)next_random(), z = (uint32_t)next_random();
        if (try % 2) {
            x = (x & 0x81ffffff) + 0x3f000000;
            y = (y & 0x80ffffff) + 0x3f000000;
            z = (z & 0x83ffffff) + 0x3e000000;
        }
        volatile float a = as_single(x), b = as_single(y), c = as_single(z);
        double wide_a = (double)a, wide_b = (double)b, wide_c = (double)c;
        for (unsigned mode = 0; mode < 4; mode++) {
            fesetround(modes[mode]);
            volatile float sum = a + b, both = a * b, quotient = a / b, all = fmaf(a, b, c);
            fesetround(FE_TONEAREST);
            double ours[] = {zero_sum(add_odd(wide_a, wide_b), wide_a, wide_b, (Round)mode), wide_a * wide_b,
                             wide_a / wide_b,
                             zero_sum(add_odd(wide_a * wide_b, wide_c), wide_a * wide_b, wide_c, (Round)mode)};
            float theirs[] = {sum, both, quotient, all};
            for (unsigned i = 0; i < 4; i++)
                assert_int_equal(single_narrow(ours[i], (Round)mode), single_result(theirs[i]));
        }
    }
}

/* Every number of a format becomes itself, and what lies between two of them the nearer one. */
static void narrow_formats(void **state) {
    (void)state;
    static const FormatId ids[] = {FORMAT_F16,  FORMAT_BF16, FORMAT_E4M3, FORMAT_E5M2,
                                   FORMAT_E2M3, FORMAT_E3M2, FORMAT_E2M1};
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        const RealFormat *format = &formats[ids[i]];
        for (uint32_t bits = 0; bits <= format->most; bits++) {
            double value = format_widen(ids[i], bits), next = format_widen(ids[i], bits + 1);
            assert_int_equal(format_nearest(format, value, false), bits);
            for (unsigned mode = 0; mode < 5; mode++)
                assert_int_equal(format_narrow(ids[i], value, (Round)mode, false), bits);
            if (bits == format->most)
                continue;
            double middle = (value + next) / 2, above = middle + (next - value) / 1024;
            assert_int_equal(format_nearest(format, middle, false), bits + (bits & 1));
            assert_int_equal(format_nearest(format, above, false), bits + 1);
            assert_int_equal(format_narrow(ids[i], above, ROUND_ZERO, false), bits);
            assert_int_equal(format_narrow(ids[i], middle, ROUND_AWAY, false), bits + 1);
            assert_int_equal(format_narrow(ids[i], middle, ROUND_UP, false), bits + 1);
            assert_int_equal(format_narrow(ids[i], -middle, ROUND_UP, false) & ~(1u << (format->bits - 1)), bits);
        }
    }
}

static void halves_are_widened_alike(void **state) {
    (void)state;
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        double half = half_widen(bits), brain = brain_widen(bits);
        assert_true(isnan(half) ? isnan(format_widen(FORMAT_F16, bits)) : half == format_widen(FORMAT_F16, bits));
        assert_true(isnan(brain) ? isnan(format_widen(FORMAT_BF16, bits)) : brain == format_widen(FORMAT_BF16, bits));
        assert_int_equal(signbit(half) != 0, bits >> 15);
    }
}

static void nearest_is_one_way_of_rounding(void **state) {
    (void)state;
    static const FormatId ids[] = {FORMAT_F16,  FORMAT_BF16, FORMAT_E4M3, FORMAT_E5M2,
                                   FORMAT_E2M3, FORMAT_E3M2, FORMAT_E2M1};
    for (unsigned try = 0; try < TRIES; try++) {
        uint64_t bits = next_random();
        if (try % 2)
            bits = (bits & UINT64_C(0x81ffffffffffffff)) + UINT64_C(0x3e00000000000000);
        for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
            for (unsigned finite = 0; finite < 2; finite++)
                assert_int_equal(format_nearest(&formats[ids[i]], as_double(bits), finite),
                                 format_narrow(ids[i], as_double(bits), ROUND_NEAREST, finite));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doubles),
        cmocka_unit_test(singles),
        cmocka_unit_test(narrow_formats),
        cmocka_unit_test(halves_are_widened_alike),
        cmocka_unit_test(nearest_is_one_way_of_rounding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
