/* What inline_ptx_ops.c tells inline_ptx.c about an instruction. */
#ifndef MODEL_EFFECT_INLINE_PTX_INTERNAL_H
#define MODEL_EFFECT_INLINE_PTX_INTERNAL_H

#include "ir/ptx_module.h"
#include "model/effect/inline_ptx.h"

typedef enum OpcodeKind {
    OPCODE_UNKNOWN,
    OPCODE_EFFECTS, /* those of `effects`, and nothing of its operands matters but what is said there; may be none */
    OPCODE_ACCESS,  /* effects[0], on its address */
    OPCODE_SYNC,    /* a barrier of the block, by its number */
    OPCODE_BRANCH,
} OpcodeKind;

typedef struct Opcode {
    OpcodeKind kind;
    unsigned count;
    Effect effects[2];
    bool counted;   /* its operand is the count of the last effect */
    bool exact;     /* its operands have to be understood: where statements end is not said otherwise (AMD) */
    bool addressed; /* its first operand is the address that the effect is about */
    /* OPCODE_ACCESS */
    bool has_result;     /* its first operand */
    bool needs_global;   /* the text does not say which memory it is: the pointer has to */
    InlineAccess access; /* action, type, bits, elements */
} Opcode;

/* What an instruction does, by its form alone. */
Opcode inline_ptx_opcode(const PtxForm *form);
/* Whether instructions whose name begins so touch memory, wait for others, stop or go elsewhere, known or not. */
bool inline_ptx_touches(Str name);
#endif
