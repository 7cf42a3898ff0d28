/* The text of an encoding, taken apart: `#ttg.blocked<{sizePerThread = [1, 4], ...}>` and its relatives. Code that
 * knows what an encoding means asks here for its fields by their keys. */
#ifndef MODEL_LAYOUT_ENCODING_H
#define MODEL_LAYOUT_ENCODING_H

#include "ir/ir.h"

/* Numbers beyond these are nonsense in an encoding, and products of those below fit 64 bits. */
enum { ENCODING_LARGEST = 1 << 12, ENCODING_LARGEST_LISTED = 1 << 24, ENCODING_NUMBERS = 256 };

typedef struct Encoding {
    Str name, body; /* empty if it is no encoding */
} Encoding;

/* From `#dialect.name<body>`, or an alias of it. */
Encoding encoding_read(Module *module, Str text);
/* By its name without the dialect. */
bool encoding_is(const Encoding *encoding, const char *name);
/* The text of `key`'s value, empty if the encoding does not have it. */
Str encoding_field(const Encoding *encoding, const char *key);
/* -1 if it is there and is no number that makes sense. */
int64_t encoding_int(const Encoding *encoding, const char *key, int64_t otherwise);
bool encoding_true(const Encoding *encoding, const char *key);

/* The numbers of `[1, 0]` or `[[1, 0], [2, 0]]`, in order; `inner` is how many the first inner list has. */
typedef struct Numbers {
    int64_t items[ENCODING_NUMBERS];
    uint32_t count, inner;
} Numbers;

/* False if it is no such list. */
bool encoding_list(const Encoding *encoding, const char *key, Numbers *numbers);
/* The same, and it has that many. */
bool encoding_list_of(const Encoding *encoding, const char *key, unsigned count, Numbers *numbers);
/* A list of the dimensions, each once. */
bool encoding_order(const Encoding *encoding, const char *key, unsigned rank, unsigned *order);
/* A list of bases of `rank` coordinates each; absent is empty. */
bool encoding_bases(const Encoding *encoding, const char *key, unsigned rank, Numbers *numbers);

enum { CTAS_RANK = 12, CTAS_BITS = 12 };

/* How the CTAs of a cluster share a tensor out: one basis for each bit of a CTA's rank, in units of the part that one
 * CTA has. A basis that is zero is a copy. */
typedef struct Ctas {
    unsigned count;
    uint32_t bases[CTAS_BITS][CTAS_RANK];
} Ctas;

/* As it is written now (CGALayout), or as three lists before; an encoding with neither is of one CTA. */
bool encoding_ctas(const Encoding *encoding, unsigned rank, Ctas *ctas);

/* CTAs of a cluster of that size share one object of a memory descriptor's type if their ranks differ only in bits that
 * do not move it, as its layout says: which bits those are. 0: each has its own. */
uint32_t encoding_shared_bits(Module *module, const Type *memdesc, uint32_t ctas);
/* How many CTAs share one. */
uint32_t encoding_sharers(Module *module, const Type *memdesc, uint32_t ctas);

Str str_trimmed(Str s);

static inline bool is_power(int64_t n) {
    return n > 0 && (n & (n - 1)) == 0;
}

/* Bits that count up to n - 1. */
static inline unsigned bits_for(int64_t n) {
    unsigned bits = 0;
    while (bits < 62 && (int64_t)1 << bits < n)
        bits++;
    return bits;
}

#endif
