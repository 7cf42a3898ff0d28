/* Searching by halves, in whatever is in order. */
#ifndef BASE_BISECT_H
#define BASE_BISECT_H

#include <stddef.h>

/* Sets `at`, a variable, to the first place from `first` on, and before `end`, for which `before` is false, or to
 * `end`. `before` is an expression of `at`: true up to some place, and false from there on. */
#define BISECT(at, first, end, before)        \
    do {                                      \
        size_t low_ = (first), high_ = (end); \
        while (low_ < high_) {                \
            (at) = low_ + (high_ - low_) / 2; \
            if (before)                       \
                low_ = (size_t)(at) + 1;      \
            else                              \
                high_ = (at);                 \
        }                                     \
        (at) = low_;                          \
    } while (0)

#endif
