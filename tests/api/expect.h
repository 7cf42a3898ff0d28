/* For the tests of the library: what does not hold is told and counted, in any thread; `failures` is how often. */
#ifndef TESTS_API_EXPECT_H
#define TESTS_API_EXPECT_H

#include <stdio.h>

static unsigned failures;

#define CHECK(condition)                                                            \
    do {                                                                            \
        if (!(condition)) {                                                         \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            __atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED);                     \
        }                                                                           \
    } while (0)

#endif
