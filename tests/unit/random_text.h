/* Kernels at random: numbers from a seed, and a text that grows. */
#ifndef UNIT_RANDOM_TEXT_H
#define UNIT_RANDOM_TEXT_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { TEXT = 1 << 14 };

static uint64_t seed = 1;

static int roll(int from, int to) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return from + (int)((seed >> 33) % (uint64_t)(to - from + 1));
}

/* Adds to a text of at most TEXT bytes. */
__attribute__((format(printf, 2, 3))) static void put(char *text, const char *format, ...) {
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, TEXT - used, format, arguments);
    va_end(arguments);
}

#endif
