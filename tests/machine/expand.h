/* Launches of tests/machine as launch files have them: random data is written out. README.md has what they say. */
#ifndef TESTS_MACHINE_EXPAND_H
#define TESTS_MACHINE_EXPAND_H

#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static uint64_t mixed(uint64_t seed, uint64_t index) {
    uint64_t z = (seed << 32) + (index + 1) * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static unsigned dtype_bytes(const char *dtype) {
    return (unsigned)strtoul(dtype + strcspn(dtype, "0123456789"), NULL, 10) / 8;
}

/* A number of few bits as the bits of a dtype: exact in all of them. */
static uint64_t encoded(const char *dtype, double value) {
    unsigned bytes = dtype_bytes(dtype);
    float single = (float)value;
    uint32_t bits;
    uint64_t wide;
    memcpy(&bits, &single, 4);
    memcpy(&wide, &value, 8);
    if (!strcmp(dtype, "f32"))
        return bits;
    if (!strcmp(dtype, "f64"))
        return wide;
    if (!strcmp(dtype, "bf16"))
        return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
    if (!strcmp(dtype, "f16")) {
        int exponent;
        double fraction = frexp(fabs(value), &exponent); /* between 1/2 and 1 */
        uint64_t sign = signbit(value) ? 0x8000 : 0;
        if (value == 0)
            return sign;
        if (exponent < -13) /* subnormal */
            return sign | (uint64_t)nearbyint(ldexp(fabs(value), 24));
        return sign | (((uint64_t)(exponent + 13) << 10) + (uint64_t)nearbyint(ldexp(fraction, 11)));
    }
    return (uint64_t)(int64_t)value & (bytes == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * bytes) - 1);
}

static uint64_t random_element(const char *dtype, json_t *random, uint64_t index) {
    const char *kind = json_string_value(json_array_get(random, 0));
    uint64_t x = mixed((uint64_t)json_integer_value(json_array_get(random, 1)), index);
    int64_t low = json_integer_value(json_array_get(random, 2)), high = json_integer_value(json_array_get(random, 3));
    if (!strcmp(kind, "bits"))
        return x;
    if (!strcmp(kind, "range"))
        return encoded(dtype, (double)(low + (int64_t)(x % (uint64_t)(high - low + 1))));
    return encoded(dtype, (double)(x >> 43) / 1048576.0 - 1.0);
}

/* Replaces "random" by "data" in all tensors below a value, and drops what launch files do not have. */
static void expand(json_t *value) {
    static const char digits[] = "0123456789abcdef";
    const char *key;
    json_t *member;
    size_t index;
    json_array_foreach(value, index, member) expand(member);
    json_t *random = json_object_get(value, "random");
    if (random) {
        const char *dtype = json_string_value(json_object_get(value, "dtype"));
        unsigned bytes = dtype_bytes(dtype);
        size_t count = 1;
        json_array_foreach(json_object_get(value, "shape"), index, member) count *= (size_t)json_integer_value(member);
        char *text = malloc(count * bytes * 2 + 1);
        for (size_t i = 0; i < count * bytes; i++) {
            uint64_t byte = random_element(dtype, random, i / bytes) >> 8 * (i % bytes) & 0xFF;
            text[2 * i] = digits[byte >> 4];
            text[2 * i + 1] = digits[byte & 15];
        }
        json_object_set_new(value, "data", json_stringn(text, count * bytes * 2));
        json_object_del(value, "random");
        free(text);
    }
    json_object_del(value, "check");
    json_object_foreach(value, key, member) expand(member);
}

#endif
