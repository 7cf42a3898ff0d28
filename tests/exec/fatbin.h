/* Images of programs without CUDA. */
#ifndef TESTS_EXEC_FATBIN_H
#define TESTS_EXEC_FATBIN_H

#include <stdint.h>
#include <string.h>

/* A fatbin with one image, as nvcc makes them: PTX, or what is machine code to the stand-in. In a wrapper. */
static const void *fatbin_of(const char *text, int kind) {
    enum { HEADER = 16, ENTRY = 64 };
    static char fatbin[1 << 14];
    static struct {
        uint32_t magic, version;
        const void *data, *rest;
    } wrapper = {0x466243B1, 1, fatbin, NULL};
    uint64_t bytes = (strlen(text) + 7) / 8 * 8, all = ENTRY + bytes;
    uint32_t words[] = {0xBA55ED50, 1 | HEADER << 16, (uint32_t)all, 0},
             entry[ENTRY / 4] = {(uint32_t)kind | 0x101u << 16, ENTRY, (uint32_t)bytes, [7] = 90};
    memset(fatbin, 0, sizeof fatbin);
    memcpy(fatbin, words, HEADER);
    memcpy(fatbin + HEADER, entry, ENTRY);
    for (size_t i = 0; i < bytes; i++)
        fatbin[HEADER + ENTRY + i] = (char)((i < strlen(text) ? text[i] : '\n') ^ (kind == 1 ? 0 : 0xff));
    return &wrapper;
}

#endif
