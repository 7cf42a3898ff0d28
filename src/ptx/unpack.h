/* Compressed bytes to those that they stand for. */
#ifndef PTX_UNPACK_H
#define PTX_UNPACK_H

#include <stdbool.h>
#include <stddef.h>

/* All of `from` to exactly `size` bytes; false if it is anything else. */
bool unpack_lz4(const unsigned char *from, size_t from_size, unsigned char *to, size_t size);
/* The same for zstd; false in a build without it, too. */
bool unpack_zstd(const unsigned char *from, size_t from_size, unsigned char *to, size_t size);
extern const bool has_zstd;

#endif
