/* What the files of symmetry.h share: changes from CTA to CTA, bounds, and one step. */
#ifndef MACHINE_SIMT_CORE_SYMMETRY_INTERNAL_H
#define MACHINE_SIMT_CORE_SYMMETRY_INTERNAL_H

#include "machine/simt/core/symmetry.h"

/* How a register's value changes. */
typedef struct Change {
    int64_t by[3];
    bool kept; /* false: in a way that is not kept */
} Change;

/* What an instruction is, for this: found once. */
typedef struct SymmetryAbout {
    uint8_t evaluator; /* PtxEvaluator */
    uint8_t bits;      /* of what is compared or computed; 0: no whole number */
    uint8_t from_bits; /* cvt, wide: of the sources */
    bool is_signed, from_signed;
    bool pure;            /* no effects */
    bool accesses;        /* memory */
    bool reported;        /* barriers, counts, sizes: all that it reads decides */
    uint8_t compare;      /* Compare */
    bool carries;         /* it sets the carry, which is in no register */
    uint32_t reported_by; /* operands that decide beside addresses, as bits */
    bool synchronizes;    /* a strong access, a fence of CTAs: others may see it */
} SymmetryAbout;

typedef enum SymmetryCompare {
    COMPARE_NO,
    COMPARE_EQ,
    COMPARE_NE,
    COMPARE_LT,
    COMPARE_LE,
    COMPARE_GT,
    COMPARE_GE
} SymmetryCompare;

struct PtxSymmetry {
    Arena *arena;
    const PtxProgram *program;
    SymmetryAbout *abouts;
    uint32_t warps, rows, masks, ctaid;
    Change *changes;    /* of each row of each warp */
    bool *mask_differs; /* of each mask of each warp */
    uint32_t cta[3];
    PtxSymmetryBound *bounds;
    uint32_t bound_count, bound_capacity;
    PtxSymmetryTouch *touches;
    uint32_t touch_count, touch_capacity;
    const PtxCode *alone;
    const char *why;
    Change address; /* of the access that the machine is about to tell */
};

static inline bool change_is_same(const Change *change) {
    return change->kept && !change->by[0] && !change->by[1] && !change->by[2];
}
static inline bool changes_equal(const Change *a, const Change *b) {
    return a->kept && b->kept && !memcmp(a->by, b->by, sizeof a->by);
}

/* What an instruction reads, fetched. */
typedef struct Read {
    Change change;
    const Lanes *values;
    Lanes scratch;
} Read;

typedef struct SymmetryStep {
    PtxSymmetry *symmetry;
    PtxMachine *machine;
    PtxGroup *group;
    const PtxCode *code;
    const SymmetryAbout *about;
    uint32_t lanes;
    Read in[3];
} SymmetryStep;

/* ---- symmetry_change.c ---- */
extern const Change change_same, change_differs;
/* The change times d stays from `least` to `most`. */
void change_bind(PtxSymmetry *symmetry, const Change *change, int64_t least, int64_t most);
/* Whether an address that is a multiple of the access's size is none in other CTAs. */
bool change_breaks(const Change *change, uint32_t bytes);
/* Whether lanes have one value. */
bool lanes_uniform(const Lanes *values, uint32_t lanes, uint64_t *value);
/* a + sign * b. What an instruction gives of its operands, s->in. */
Change change_sum(Change a, Change b, int64_t sign);
Change change_multiplied(SymmetryStep *s);
Change change_merged(const SymmetryStep *s);
Change change_masked(const SymmetryStep *s);
Change change_shifted_right(SymmetryStep *s);
Change change_divided(SymmetryStep *s, bool remainder);
Change change_converted(SymmetryStep *s);
/* Whether a comparison has the same outcome in all CTAs for which the bounds hold. */
bool change_compared(SymmetryStep *s);

#endif
