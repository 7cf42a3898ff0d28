/* Bits of a number of which some are known: arithmetic that keeps what can be kept. */
#ifndef PTX_VALUE_BITS_H
#define PTX_VALUE_BITS_H

#include <stdint.h>

typedef struct Bits {
    uint64_t zeros, ones;
} Bits;

static inline Bits bits_of(uint64_t value, uint64_t mask) {
    return (Bits){~value & mask, value & mask};
}
/* a + b + carry, in the bits of the mask (which are the lowest ones). */
Bits bits_add(Bits a, Bits b, unsigned carry, uint64_t mask);
static inline Bits bits_not(Bits a) {
    return (Bits){a.ones, a.zeros};
}
Bits bits_multiply(Bits a, Bits b, uint64_t mask);
static inline Bits bits_common(Bits a, Bits b) {
    return (Bits){a.zeros & b.zeros, a.ones & b.ones};
}

#endif
