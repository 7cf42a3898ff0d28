/* Bits of a number of which some are known: arithmetic that keeps what can be kept. */
#ifndef PTX_VALUE_KNOWN_H
#define PTX_VALUE_KNOWN_H

#include <stdint.h>

typedef struct Known {
    uint64_t zeros, ones;
} Known;

static inline Known known_constant(uint64_t value, uint64_t mask) {
    return (Known){~value & mask, value & mask};
}
/* a + b + carry, in the bits of the mask (which are the lowest ones). */
Known known_add(Known a, Known b, unsigned carry, uint64_t mask);
static inline Known known_not(Known a) {
    return (Known){a.ones, a.zeros};
}
Known known_multiply(Known a, Known b, uint64_t mask);
static inline Known known_either(Known a, Known b) {
    return (Known){a.zeros & b.zeros, a.ones & b.ones};
}

#endif
