/* What an instruction of PTX does, from the effects of its row (ir/ops/ptx.def) and its modifiers. */
#ifndef MODEL_EFFECT_PTX_COLUMN_H
#define MODEL_EFFECT_PTX_COLUMN_H

#include "ir/ptx_rows.h"
#include "model/effect/effect.h"

/* An effect before it is known what the operands are: those are names of the row's operands, or empty. */
typedef struct PtxEffect {
    Effect effect;
    Str on;      /* what it is about */
    Str count;   /* groups, arrivals, bytes or threads */
    Str through; /* the mbarrier on which its bytes count */
    bool memory; /* the text does not say which memory it is: the address has to */
} PtxEffect;

/* The effects in order; false if there are more than `most`, or if the column is not well-formed, which is our own
 * mistake: *problem is then the word that is wrong. */
bool ptx_effects(const PtxRow *row, Str form, PtxEffect *effects, unsigned most, unsigned *count, Str *problem);

#endif
