/* BLAKE2b, block by block: RFC 7693, section 3, without a key. */
#include "base/digest.h"

enum { ROUNDS = 12 };

static const uint64_t initial[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
                                    0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};

static const uint8_t order[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

static inline uint64_t rotated(uint64_t word, unsigned by) {
    return word >> by | word << (64 - by);
}

static inline void mix(uint64_t v[16], unsigned a, unsigned b, unsigned c, unsigned d, uint64_t x, uint64_t y) {
    v[a] += v[b] + x;
    v[d] = rotated(v[d] ^ v[a], 32);
    v[c] += v[d];
    v[b] = rotated(v[b] ^ v[c], 24);
    v[a] += v[b] + y;
    v[d] = rotated(v[d] ^ v[a], 16);
    v[c] += v[d];
    v[b] = rotated(v[b] ^ v[c], 63);
}

static void compress(Digesting *digesting, const uint8_t block[128], bool last) {
    uint64_t v[16], m[16];
    for (unsigned i = 0; i < 16; i++) { /* words are little-endian, whatever the machine is */
        m[i] = 0;
        for (unsigned k = 0; k < 8; k++)
            m[i] |= (uint64_t)block[8 * i + k] << 8 * k;
    }
    memcpy(v, digesting->state, sizeof digesting->state);
    memcpy(v + 8, initial, sizeof initial);
    v[12] ^= digesting->size;
    if (last)
        v[14] = ~v[14];
    for (unsigned round = 0; round < ROUNDS; round++) {
        const uint8_t *s = order[round % 10];
        mix(v, 0, 4, 8, 12, m[s[0]], m[s[1]]);
        mix(v, 1, 5, 9, 13, m[s[2]], m[s[3]]);
        mix(v, 2, 6, 10, 14, m[s[4]], m[s[5]]);
        mix(v, 3, 7, 11, 15, m[s[6]], m[s[7]]);
        mix(v, 0, 5, 10, 15, m[s[8]], m[s[9]]);
        mix(v, 1, 6, 11, 12, m[s[10]], m[s[11]]);
        mix(v, 2, 7, 8, 13, m[s[12]], m[s[13]]);
        mix(v, 3, 4, 9, 14, m[s[14]], m[s[15]]);
    }
    for (unsigned i = 0; i < 8; i++)
        digesting->state[i] ^= v[i] ^ v[i + 8];
}

void digest_start(Digesting *digesting) {
    *digesting = (Digesting){.size = 0};
    memcpy(digesting->state, initial, sizeof initial);
    digesting->state[0] ^= 0x01010000 ^ sizeof(Digest);
}

/* The last block is compressed with its mark, so it is held until more comes. */
void digest_add(Digesting *digesting, const void *data, size_t size) {
    const uint8_t *from = data;
    while (size) {
        if (digesting->held == sizeof digesting->block) {
            digesting->size += digesting->held;
            compress(digesting, digesting->block, false);
            digesting->held = 0;
        }
        size_t room = sizeof digesting->block - digesting->held, part = size < room ? size : room;
        memcpy(digesting->block + digesting->held, from, part);
        digesting->held += part;
        from += part;
        size -= part;
    }
}

void digest_add_text(Digesting *digesting, const char *text) {
    uint64_t size = text ? strlen(text) : UINT64_MAX;
    digest_add(digesting, &size, sizeof size);
    if (text)
        digest_add(digesting, text, size);
}

Digest digest_end(Digesting *digesting) {
    Digest digest;
    memset(digesting->block + digesting->held, 0, sizeof digesting->block - digesting->held);
    digesting->size += digesting->held;
    compress(digesting, digesting->block, true);
    for (unsigned i = 0; i < sizeof digest.bytes; i++)
        digest.bytes[i] = (uint8_t)(digesting->state[i / 8] >> i % 8 * 8);
    return digest;
}

Digest digest_of(const void *data, size_t size) {
    Digesting digesting;
    digest_start(&digesting);
    digest_add(&digesting, data, size);
    return digest_end(&digesting);
}
