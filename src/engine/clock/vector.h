/* Dense vector clocks: of a few components each its epoch, side by side. For those that know how many there are, and
 * for devices; clock.h is for any number of CTAs. */
#ifndef ENGINE_CLOCK_VECTOR_H
#define ENGINE_CLOCK_VECTOR_H

#include <stdbool.h>
#include <stdint.h>

/* NAME_join: `to` knows what `from` knows, too. NAME_includes: whether it does. Components are gone through in pieces,
 * for the compiler to use vectors. */
enum { VECTOR_PIECE = 4 };
#define VECTOR_CLOCK(NAME, T)                                                                \
    static inline void NAME##_join(T *restrict to, const T *restrict from, uint32_t count) { \
        uint32_t i = 0;                                                                      \
        for (; i + VECTOR_PIECE <= count; i += VECTOR_PIECE)                                 \
            for (uint32_t k = i; k < i + VECTOR_PIECE; k++)                                  \
                to[k] = to[k] > from[k] ? to[k] : from[k];                                   \
        for (; i < count; i++)                                                               \
            to[i] = to[i] > from[i] ? to[i] : from[i];                                       \
    }                                                                                        \
    static inline bool NAME##_includes(const T *of, const T *other, uint32_t count) {        \
        for (uint32_t i = 0; i < count; i++)                                                 \
            if (of[i] < other[i])                                                            \
                return false;                                                                \
        return true;                                                                         \
    }
VECTOR_CLOCK(vector16, uint16_t)
VECTOR_CLOCK(vector32, uint32_t)
VECTOR_CLOCK(vector64, uint64_t)

#endif
