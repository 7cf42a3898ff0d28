/* What the files of symmetry.h share: forms of values, and one step. */
#ifndef MACHINE_SIMT_CORE_SYMMETRY_INTERNAL_H
#define MACHINE_SIMT_CORE_SYMMETRY_INTERNAL_H

#include "machine/simt/core/symmetry.h"

typedef enum SymmetryCompare {
    COMPARE_NO,
    COMPARE_EQ,
    COMPARE_NE,
    COMPARE_LT,
    COMPARE_LE,
    COMPARE_GT,
    COMPARE_GE
} SymmetryCompare;

/* What an instruction is, for this: found once. */
typedef struct SymmetryAbout {
    uint8_t evaluator; /* PtxEvaluator */
    uint8_t bits;      /* of what is compared or computed; 0: no whole number */
    uint8_t from_bits; /* cvt, wide: of the sources */
    bool is_signed, from_signed;
    bool pure;         /* no effects */
    bool accesses;     /* memory */
    bool reported;     /* barriers, counts: all that it reads decides */
    uint8_t compare;   /* SymmetryCompare */
    bool carries;      /* it sets the carry, which is in no register */
    uint32_t decides;  /* operands that decide beside addresses: descriptors, sizes; as bits */
    uint32_t moves;    /* operands that may be addresses in global memory, as bits */
    bool moves_global; /* they can be no others */
} SymmetryAbout;

/* An operation that will make accesses: the form of its address. */
typedef struct SymmetryIssued {
    uint32_t sequence;
    AffineForm address;
} SymmetryIssued;

/* Of a register of a warp: lanes that have the form; what it is in others is not known. */
typedef struct SymmetryRow {
    AffineForm form;
    uint32_t lanes;
} SymmetryRow;

struct PtxSymmetry {
    Arena *arena;
    const PtxProgram *program;
    SymmetryAbout *abouts;
    uint32_t warps, rows, masks, ctaid;
    SymmetryRow *registers; /* of each warp */
    uint32_t *mask_differs; /* of each mask of each warp: lanes in which it may be another elsewhere */
    Symmetry *box;
    Footprints *footprints;
    const PtxCode *alone;
    bool narrows;
    AffineForm address; /* of the access that the machine is about to tell */
    SymmetryIssued *issued;
    uint32_t issued_count, issued_capacity;
    bool *shared; /* whether each byte of shared memory is the same in all CTAs, as far as is known; NULL: none is */
    uint64_t shared_bytes;
};

/* What an instruction reads, fetched. */
typedef struct Read {
    AffineForm form;
    const Lanes *values;
    Lanes scratch;
} Read;

typedef struct SymmetryStep {
    PtxSymmetry *symmetry;
    Symmetry *box;
    PtxMachine *machine;
    PtxGroup *group;
    const PtxCode *code;
    const SymmetryAbout *about;
    uint32_t lanes;
    Read in[3];
} SymmetryStep;

static inline bool is_same(const SymmetryStep *s, const AffineForm *form) {
    return symmetry_is_fixed(s->box, form);
}

/* ---- symmetry_forms.c ---- */
extern const AffineForm affine_same, affine_loose;
/* Whether lanes have one value. */
bool lanes_uniform(const Lanes *values, uint32_t lanes, uint64_t *value);
/* What an instruction gives of its operands, s->in. */
AffineForm affine_sum(const AffineForm *a, const AffineForm *b, int64_t times);
AffineForm affine_multiplied(SymmetryStep *s);
AffineForm affine_merged(const SymmetryStep *s);
AffineForm affine_masked(SymmetryStep *s);
AffineForm affine_shifted_right(SymmetryStep *s);
AffineForm affine_divided(SymmetryStep *s, bool remainder);
AffineForm affine_converted(SymmetryStep *s);
AffineForm affine_smaller(SymmetryStep *s, bool least);
/* Whether a comparison has the same outcome in the whole box. */
bool affine_compared(SymmetryStep *s);

#endif
