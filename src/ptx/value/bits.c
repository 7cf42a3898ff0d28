/* Sums and multiples of numbers of which some bits are known. */
#include "ptx/value/bits.h"

#include "base/number.h"

/* The carries are those of the least and of the greatest sum, where both agree. */
Bits bits_add(Bits a, Bits b, unsigned carry, uint64_t mask) {
    uint64_t most = ~a.zeros + ~b.zeros + carry, least = a.ones + b.ones + carry;
    uint64_t carry_zeros = ~(most ^ a.zeros ^ b.zeros), carry_ones = least ^ a.ones ^ b.ones;
    uint64_t known = (a.zeros | a.ones) & (b.zeros | b.ones) & (carry_zeros | carry_ones) & mask;
    return (Bits){~most & known, least & known};
}

static unsigned low_known(Bits a) {
    uint64_t unknown = ~(a.zeros | a.ones);
    return unknown ? (unsigned)__builtin_ctzll(unknown) : 64;
}

static unsigned low_zeros(Bits a) {
    return ~a.zeros ? (unsigned)__builtin_ctzll(~a.zeros) : 64;
}

Bits bits_multiply(Bits a, Bits b, uint64_t mask) {
    Bits result = {0, 0};
    /* n known bits of each decide n bits; each zero at the end of one gives one more of the other. */
    unsigned zeros_a = low_zeros(a), zeros_b = low_zeros(b), known_a = low_known(a), known_b = low_known(b);
    unsigned from_a = known_a + zeros_b, from_b = known_b + zeros_a, low = from_a < from_b ? from_a : from_b;
    uint64_t bits = a.ones * b.ones, decided = low_ones(low > 64 ? 64 : low);
    result.zeros = ~bits & decided;
    result.ones = bits & decided;
    uint64_t most_a = ~a.zeros & mask, most_b = ~b.zeros & mask;
    __uint128_t most = (__uint128_t)most_a * most_b;
    if (most <= mask) {
        uint64_t top = (uint64_t)most;
        unsigned length = top ? 64 - (unsigned)__builtin_clzll(top) : 0;
        result.zeros |= ~low_ones(length);
    }
    return (Bits){result.zeros & mask, result.ones & mask};
}
