/* What a register of the emulator holds: an integer, a tensor of integers, a view of memory, or something unknown.
 *
 * Integers of all widths are kept sign-extended to 64 bits, except i1, which is 0 or 1. Pointers are integers (virtual
 * addresses). Floating-point values are not computed: they, and what is loaded from memory that is not described, are
 * unknown; an unknown value still has an identity, a hash of how it came about, so that two agents that compute the
 * same thing agree on it. */
#ifndef MODEL_NUMBER_VALUE_H
#define MODEL_NUMBER_VALUE_H

#include "base/arena.h"
#include "ir/ir.h"

typedef enum WordKind {
    WORD_INTEGER,    /* bits */
    WORD_UNKNOWN,    /* bits: its identity */
    WORD_TENSOR,     /* tensor */
    WORD_VIEW,       /* of shared or tensor memory: bits, meta, cta (machine.h) */
    WORD_DESCRIPTOR, /* a tensor descriptor: meta (machine.h) */
    WORD_NOTHING,    /* never written, or of no interest */
} WordKind;

typedef struct Tensor Tensor;

/* 16 bytes */
typedef struct Word {
    union {
        int64_t bits;
        const Tensor *tensor;
    };
    uint32_t meta;
    uint16_t cta;
    uint16_t kind;
} Word;

enum { TENSOR_MOST_DIMS = 12 };

/* Immutable. A stride of 0 repeats the same element (splat, broadcast), so that a splat has one element of data. Where
 * each element is `base` and a step for each coordinate, as most addresses are, that says all, and there may be no
 * data: tensor_whole makes it. */
struct Tensor {
    bool known;          /* else only `identity` says anything */
    bool even;           /* base and steps are good */
    uint8_t rank, width; /* width: bits of an element; 64 for pointers and index */
    uint64_t identity;
    int64_t dims[TENSOR_MOST_DIMS], strides[TENSOR_MOST_DIMS];
    int64_t base, steps[TENSOR_MOST_DIMS];
    const int64_t *data; /* NULL: not made, of an even one */
};

static inline Word word_integer(int64_t value) {
    return (Word){.bits = value, .kind = WORD_INTEGER};
}
static inline Word word_unknown(uint64_t identity) {
    return (Word){.bits = (int64_t)identity, .kind = WORD_UNKNOWN};
}
static inline bool word_is(Word word, WordKind kind) {
    return word.kind == (uint16_t)kind;
}
/* Mixes `b` into `a`. */
static inline uint64_t identity_mix(uint64_t a, uint64_t b) {
    a ^= b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2);
    a *= 0xff51afd7ed558ccdu;
    return a ^ a >> 32;
}

/* `value` as an integer of `width` bits is kept. */
static inline int64_t integer_wrap(int64_t value, unsigned width) {
    if (width == 1)
        return value & 1;
    if (width >= 64)
        return value;
    return (int64_t)((uint64_t)value << (64 - width)) >> (64 - width);
}
/* The same bits as an unsigned number. */
static inline uint64_t integer_unsigned(int64_t value, unsigned width) {
    return width >= 64 ? (uint64_t)value : (uint64_t)value & ((UINT64_C(1) << width) - 1);
}

#endif
