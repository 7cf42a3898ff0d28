/* Small arithmetic: the lowest bits, signs, multiples, and reals as the bits that they are. */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include <stdint.h>
#include <string.h>

/* A number with so many ones in its lowest bits. */
static inline uint64_t low_ones(unsigned bits) {
    return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}

/* The lowest `width` bits as a signed number. */
static inline int64_t sign_extended(uint64_t value, unsigned width) {
    return width >= 64 ? (int64_t)value : (int64_t)(value << (64 - width)) >> (64 - width);
}

/* The next multiple. */
static inline int64_t rounded_up(int64_t number, int64_t unit) {
    return (number + unit - 1) / unit * unit;
}

static inline uint64_t magnitude(int64_t number) {
    return number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
}

static inline double as_double(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static inline uint64_t bits_of_double(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
/* Of the lower half. */
static inline float as_single(uint64_t bits) {
    uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return value;
}
static inline uint32_t bits_of_single(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

#endif
