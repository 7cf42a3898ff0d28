/* BLAKE2b (RFC 7693) of 16 bytes: two texts that a person could make have the same digest only if they are the same. */
#ifndef BASE_DIGEST_H
#define BASE_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct Digest {
    uint8_t bytes[16];
} Digest;

typedef struct Digesting {
    uint64_t state[8], size; /* bytes that the state has taken in */
    uint8_t block[128];
    size_t held; /* of the block */
} Digesting;

void digest_start(Digesting *digesting);
void digest_add(Digesting *digesting, const void *data, size_t size);
/* A text with its end: "a", "bc" is not "ab", "c". NULL is not "". */
void digest_add_text(Digesting *digesting, const char *text);
Digest digest_end(Digesting *digesting);

Digest digest_of(const void *data, size_t size);

static inline bool digest_equal(Digest a, Digest b) {
    return memcmp(a.bytes, b.bytes, sizeof a.bytes) == 0;
}

#endif
