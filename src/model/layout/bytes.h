/* Sets of bytes of a memory: where a view lies. */
#ifndef MODEL_LAYOUT_BYTES_H
#define MODEL_LAYOUT_BYTES_H

#include <stdbool.h>
#include <stdint.h>

/* A set of bytes [begin, end), sorted, not touching each other. Tensor memory: one run per row, begin = row << 16 |
 * column. */
typedef struct Run {
    int64_t begin, end;
} Run;
typedef struct Bytes {
    Run *runs;
    uint32_t count;
} Bytes;

bool bytes_overlap(const Bytes *a, const Bytes *b);
bool bytes_contain(const Bytes *outer, const Bytes *inner);
int64_t bytes_size(const Bytes *bytes);

#endif
