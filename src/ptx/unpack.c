/* LZ4 blocks, by ourselves: a sequence is a token, literals, and a match with what was written before. zstd is a
 * library's, where there was one when Weir was built. */
#include "ptx/unpack.h"

#include <string.h>

#ifdef WEIR_ZSTD
#include <zstd.h>
#endif

/* A length: four bits of the token, and if all are set, bytes that are added, up to one that is not 255. */
static bool take_length(const unsigned char **at, const unsigned char *end, size_t *length) {
    if (*length != 15)
        return true;
    unsigned char more;
    do {
        if (*at == end)
            return false;
        more = *(*at)++;
        *length += more;
    } while (more == 255);
    return true;
}

bool unpack_lz4(const unsigned char *from, size_t from_size, unsigned char *to, size_t size) {
    enum { LEAST_MATCH = 4 };
    const unsigned char *end = from + from_size;
    size_t done = 0;
    while (from < end) {
        unsigned char token = *from++;
        size_t literals = token >> 4, match = token & 15;
        if (!take_length(&from, end, &literals) || literals > (size_t)(end - from) || literals > size - done)
            return false;
        memcpy(to + done, from, literals);
        done += literals;
        from += literals;
        if (from == end)
            break; /* the last sequence has no match */
        if (end - from < 2)
            return false;
        size_t distance = from[0] | (size_t)from[1] << 8;
        from += 2;
        if (!take_length(&from, end, &match))
            return false;
        match += LEAST_MATCH;
        if (distance == 0 || distance > done || match > size - done)
            return false;
        for (; match; match--, done++) /* it may run into what it writes */
            to[done] = to[done - distance];
    }
    return done == size;
}

#ifdef WEIR_ZSTD
const bool has_zstd = true;
bool unpack_zstd(const unsigned char *from, size_t from_size, unsigned char *to, size_t size) {
    return ZSTD_decompress(to, size, from, from_size) == size;
}
#else
const bool has_zstd = false;
bool unpack_zstd(const unsigned char *from, size_t from_size, unsigned char *to, size_t size) {
    (void)from, (void)from_size, (void)to, (void)size;
    return false;
}
#endif
