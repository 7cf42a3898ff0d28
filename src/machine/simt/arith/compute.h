/* How instructions that compute are run: each has one function over all lanes of its operands, picked when the program
 * is taken apart, by its evaluator, its types and its modifiers. Lanes that do not run are computed, too, and dropped:
 * no function may fail, whatever the operands.
 *
 * Results are the hardware's, bit for bit, but for approximations, whose last bits are our own, within the error that
 * the ISA documents. What is not specified (x / 0) is marked as not known. */
#ifndef MACHINE_SIMT_ARITH_COMPUTE_H
#define MACHINE_SIMT_ARITH_COMPUTE_H

#include "machine/simt/arith/formats.h"
#include "machine/simt/core/machine.h"
#include "machine/simt/decode/prepare.h"

typedef enum PtxTypeClass {
    CLASS_NONE,
    CLASS_PREDICATE,
    CLASS_UNSIGNED /* bits, too */,
    CLASS_SIGNED,
    CLASS_REAL
} PtxTypeClass;

typedef struct PtxType {
    uint8_t class;  /* PtxTypeClass */
    uint8_t bits;   /* of one of its numbers */
    uint8_t count;  /* numbers in a register: 2 of f16x2 */
    uint8_t format; /* FormatId */
} PtxType;

/* Outcomes of a comparison; one that holds for several is a sum. */
enum { IS_LESS = 1, IS_EQUAL = 2, IS_GREATER = 4, IS_UNORDERED = 8 };
typedef enum ComputeCombine { COMBINE_NONE, COMBINE_AND, COMBINE_OR, COMBINE_XOR } ComputeCombine;

typedef struct Compute Compute;
/* `out` may be one of the operands. */
typedef void ComputeRow(Lanes *out, const Lanes *const in[], const Compute *how);
typedef uint32_t ComputeMask(const Lanes *const in[], const Compute *how);
/* Which lanes of the result are not known, by those of each operand. */
typedef uint32_t ComputeUnknown(const Lanes *const in[], const uint32_t unknown[], const Compute *how);

enum { COMPUTE_OPERANDS = 4, COMPUTE_TYPES = 3 };

struct Compute {
    ComputeRow *row;
    ComputeRow *each;        /* of packed numbers: what is done with each */
    ComputeMask *mask;       /* what gives predicates */
    ComputeUnknown *unknown; /* NULL: all that depends on one that is not known */
    PtxArgument to, second;  /* second: of a pair */
    PtxArgument from[COMPUTE_OPERANDS];
    PtxArgument chooser; /* a predicate that is read */
    bool chosen;         /* there is one */
    uint8_t count;       /* of `from` */
    PtxEvaluator evaluator;
    PtxType types[COMPUTE_TYPES];      /* of the form, in order */
    PtxType type;                      /* of what is compared or computed with: the last */
    uint8_t formats[COMPUTE_OPERANDS]; /* of real operands */
    uint8_t round;                     /* Round */
    bool rounded;                      /* a mode is said */
    bool whole;                        /* .rni and its like: to a whole number */
    bool ftz, saturates, finite /* .satfinite */, relu, nan /* .NaN */, xorsign, absolute, oob;
    bool high, wide, left, wraps, shift_amount, approximate, full;
    bool carry_in, carry_out;
    bool same;       /* both operands are one register */
    uint8_t accepts; /* outcomes of the comparison that hold */
    uint8_t combine; /* Combine */
    uint8_t mode;    /* of prmt, testp, video instructions: their own */
    uint8_t table;   /* of lop3 */
};

/* What families of functions there are: the row for a form, or NULL. They may set `unknown`, `each` and `mode`. */
ComputeRow *integer_row(Compute *how);        /* integers.c */
ComputeRow *bits_row(Compute *how, Str form); /* compute_bits.c */
ComputeRow *real_row(Compute *how);           /* reals.c */
ComputeRow *halves_row(const Compute *how);   /* the same: two of two f32, to nearest */
ComputeRow *half_row(const Compute *how);     /* reals_half.c: f16 and bf16, to nearest, without modifiers */
ComputeRow *host_fma_row(const Compute *how); /* reals_fma.c: f32 and f64, to nearest; NULL: the host has none */
ComputeRow *approximate_row(Compute *how);    /* approximate.c */
ComputeRow *convert_row(Compute *how);        /* convert.c */
ComputeRow *packed_row(Compute *how, ComputeRow *each); /* packed.c */
ComputeRow *video_row(Compute *how, Str form);          /* video.c */
ComputeMask *compare_mask(const Compute *how);          /* compute_compare.c */
ComputeMask *test_mask(Compute *how, Str form);         /* compute_compare.c */

/* Forms that are more than a row; true: they are theirs. */
bool choose_prepare(const PtxPrepare *about, PtxCode *code, Compute *how); /* compute_choose.c */
bool carry_prepare(const PtxPrepare *about, PtxCode *code, Compute *how);  /* compute_carry.c */
bool move_prepare(const PtxPrepare *about, PtxCode *code);                 /* compute_move.c */

/* The types of a form in order, as far as there are any. */
void compute_types(Str form, PtxType types[COMPUTE_TYPES]);
/* Values of operand `index`. */
static inline const Lanes *compute_fetch(PtxMachine *machine, PtxGroup *group, const PtxArgument *argument,
                                         Lanes *scratch, uint32_t *unknown) {
    if (argument->kind == ARGUMENT_ROW) {
        *unknown = group->frame->row_unknown[argument->slot];
        return &group->frame->rows[argument->slot];
    }
    *unknown = 0;
    return ptx_fetch(machine, group, argument, 0, scratch, unknown);
}

/* Turns of loops over lanes do not depend on one another, whatever the pointers: where `out` is an operand, it is the
 * same lane. (clang looks at the pointers at run time.) */
#ifdef __clang__
#define EACH_LANE for (unsigned i = 0; i < PTX_LANES; i++)
#else
#define EACH_LANE _Pragma("GCC ivdep") for (unsigned i = 0; i < PTX_LANES; i++)
#endif

/* Rows of one, two and three operands: each lane is read as a `load`, taken as a `work`, and the value cut to `result`.
 */
#define ROW1(name, load, work, result, value)                                   \
    static void name(Lanes *out, const Lanes *const in[], const Compute *how) { \
        const uint64_t *x = in[0]->at;                                          \
        uint64_t *to = out->at;                                                 \
        (void)how;                                                              \
        EACH_LANE {                                                             \
            work a = (work)(load)x[i];                                          \
            to[i] = (result)(value);                                            \
        }                                                                       \
    }
#define ROW2(name, load, work, result, value)                                   \
    static void name(Lanes *out, const Lanes *const in[], const Compute *how) { \
        const uint64_t *x = in[0]->at, *y = in[1]->at;                          \
        uint64_t *to = out->at;                                                 \
        (void)how;                                                              \
        EACH_LANE {                                                             \
            work a = (work)(load)x[i], b = (work)(load)y[i];                    \
            to[i] = (result)(value);                                            \
        }                                                                       \
    }
#define ROW3(name, load, work, result, value)                                   \
    static void name(Lanes *out, const Lanes *const in[], const Compute *how) { \
        const uint64_t *x = in[0]->at, *y = in[1]->at, *z = in[2]->at;          \
        uint64_t *to = out->at;                                                 \
        (void)how;                                                              \
        EACH_LANE {                                                             \
            work a = (work)(load)x[i], b = (work)(load)y[i];                    \
            uint64_t c = z[i];                                                  \
            to[i] = (result)(value);                                            \
        }                                                                       \
    }

#endif
