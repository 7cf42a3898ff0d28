/* What launches from files and from command lines share. */
#ifndef EXPLORE_LAUNCH_LAUNCH_INTERNAL_H
#define EXPLORE_LAUNCH_LAUNCH_INTERNAL_H

#include "explore/launch/launch.h"

enum { LAUNCH_MOST_ARGUMENTS = 4096 };

/* Of an argument's elements: 256 TiB even of bytes, the addresses that a GPU has. Sums and products of a few such
 * numbers with an element's size stay within 64 bits. */
static const int64_t LAUNCH_MOST_ELEMENTS = (int64_t)1 << 48;

/* A number above the signed ones, as the signed one with the same bits. */
bool parse_large_unsigned(Str s, int64_t *same_bits);

/* Whether a number can be an element's bits, with a sign or without. */
static inline bool element_fits(int64_t value, uint16_t bits) {
    return bits == 0 || bits >= 63 || (value >= -((int64_t)1 << (bits - 1)) && value <= ((int64_t)1 << bits) - 1);
}

#endif
