/* What an instruction of PTX does, from the effects of its row (ir/ops/ptx.def) and its modifiers. */
#ifndef MODEL_EFFECT_PTX_COLUMN_H
#define MODEL_EFFECT_PTX_COLUMN_H

#include "ir/ptx_rows.h"
#include "model/effect/effect.h"

/* Who has to run an instruction together. */
typedef enum PtxTogether { PTX_APART, PTX_WARP, PTX_WARPGROUP } PtxTogether;

/* An effect before it is known what the operands are: those are names of the row's operands, or empty. ".." is each
 * address among the operands that have no name. What only PTX has is here and not in Effect; docs/effects.md has the
 * words. */
typedef struct PtxEffect {
    /* `count`: bytes, arrivals, columns or registers, where the text says the number and `count` below is empty; of an
     * access 0 if its bytes are not known without the operands */
    Effect effect;
    Str on;      /* what it is about */
    Str count;   /* groups, arrivals, bytes or threads; an operand that is missing: 1 arrival, all threads */
    Str through; /* the mbarrier on which its bytes count */
    bool memory; /* the text does not say which memory it is: the address has to */
    Str value, compare, gives;
    Str phase;            /* wait: the parity, or with `by_state` the token of the phase */
    Str limit;            /* the number of bytes, if this operand is there */
    Str ctas;             /* multicast: mask of CTAs of the cluster */
    Str stride;           /* `matrix`: elements between its rows or columns */
    Str boxes;            /* complete: the bytes are a box of this tensor map */
    PtxTogether together; /* EFFECT_CONVERGED */
    uint8_t lanes;        /* lanes of the warp that give an address, the first ones; 0: all */
    bool matrix;          /* a matrix, as the modifiers say, by the warp together */
    bool any_cta;         /* in shared memory of any CTA of the cluster: the address says which */
    bool by_state;        /* wait */
    bool blocks;          /* wait: for some time before it gives up */
    bool drops;           /* arrive, expect: it is expected in this phase for the last time */
    bool no_complete;     /* arrive: it must not be the last one of the phase */
    bool read_only;       /* nothing may write it while the kernel runs */
    bool replicas;        /* in all memories behind a multimem address */
    bool inits;           /* a fence: of mbarrier initializations alone */
    bool sequential;      /* a fence: in one order with all others that are so */
    bool callee;          /* EFFECT_ANYTHING: that which the called function does */
} PtxEffect;

enum { PTX_EFFECTS_MOST = 8 };

/* The effects in order; false if there are more than `most`, or if the column is not well-formed, which is our own
 * mistake: *problem is then the word that is wrong. */
bool ptx_effects(const PtxRow *row, Str form, PtxEffect *effects, unsigned most, unsigned *count, Str *problem);

/* Whether it has nothing that only PTX has, but for what can be left out: who gives and gets values, and that a fence
 * is sequential, that of initializations, or that memory is read-only. */
bool ptx_effect_is_common(const PtxEffect *effect);

/* How the operands of one instruction are written. */
typedef struct PtxNames {
    /* `before` and the operand of that name; false, and nothing is written, if the instruction has it not. */
    bool (*print)(const void *context, Str name, const char *before, Text *to);
    const void *context;
} PtxNames;
/* As text, for people: "read [%rd1] global acquire gpu 4 bytes gives %r1". */
void ptx_effect_print(const PtxEffect *effect, const PtxNames *names, Text *to);

#endif
