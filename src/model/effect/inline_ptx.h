/* What inline assembly does to memory and to time, as far as it is PTX that Weir knows.
 *
 * Communication between CTAs is often written so: ld.acquire, st.release, red, atom, fence, membar, griddepcontrol,
 * cp.async.bulk.wait_group. The front end has read the text (ptx/reader.h: ptx_read_assembly); an instruction that is
 * not known, and may touch memory or synchronize, makes the whole text unknown. An instruction under a predicate is
 * known if one of the op's operands decides, or if it picks one thread; a branch, if it repeats one access until that
 * has found what it waits for. */
#ifndef MODEL_EFFECT_INLINE_PTX_H
#define MODEL_EFFECT_INLINE_PTX_H

#include "model/effect/effect.h"

/* Whether `op` is inline assembly (tt.elementwise_inline_asm, llvm.inline_asm). */
bool is_inline_ptx(const Op *op);
/* Its effects in order, on the operands of `op`. False if it is not known what it does: *what is the instruction, as it
 * stands in the file. */
bool inline_ptx_effects(Module *module, const Op *op, Effect *effects, unsigned most, unsigned *count, Str *what);
/* The same with what the op says of the text: one that is said to be pure is taken at its word, unless it is seen to do
 * more than to read. */
bool inline_ptx_judged(Module *module, const Op *op, Effect *effects, unsigned most, unsigned *count, Str *what);
/* Whether the text is said to do nothing but compute: the compiler may leave it out, or run it twice. */
bool inline_ptx_is_pure(const Op *op);
/* If it does nothing but load one value into its only result: that effect's number, else -1. */
int inline_ptx_load(Module *module, const Op *op);

/* Special registers that a text may do nothing but hand on. */
typedef enum InlineRegister {
    REGISTER_OTHER,
    REGISTER_CTA, /* %ctaid.x; y and z follow */
    REGISTER_CTAS = REGISTER_CTA + 3,
    REGISTER_RANK = REGISTER_CTAS + 3, /* in the cluster */
    REGISTER_RANKS,
} InlineRegister;

/* The register that the text moves to its only result, a number; REGISTER_OTHER: it does something else. */
InlineRegister inline_ptx_register(Module *module, const Op *op);
/* Whether the text names registers that no operand gives it, other than a thread's place in its CTA; `in_program`: or
 * in its cluster. */
bool inline_ptx_names_registers(Module *module, const Op *op, bool in_program);

/* A number that an instruction is given: that of an operand of the op, or one that stands in the text. */
typedef struct InlineNumber {
    bool known;
    const Value *value; /* NULL: `number` */
    int64_t number;
} InlineNumber;

/* In the order of their words in inline_ptx.c. */
typedef enum InlineAction {
    INLINE_LOAD,
    INLINE_STORE,
    INLINE_ADD,
    INLINE_AND,
    INLINE_OR,
    INLINE_XOR,
    INLINE_EXCHANGE,
    INLINE_COMPARE, /* and swap: if `compare` is there, `operand` is stored */
    INLINE_MINIMUM,
    INLINE_MAXIMUM,
    INLINE_INCREMENT, /* until it is `operand`, then 0 */
    INLINE_DECREMENT, /* 0, or more than `operand`: `operand` */
} InlineAction;

typedef enum InlineRelation {
    RELATION_EQUAL,
    RELATION_UNEQUAL,
    RELATION_LESS,
    RELATION_AT_LEAST,
    RELATION_LESS_EQUAL,
    RELATION_GREATER,
} InlineRelation;

/* What an access does with values, for code that keeps memory. An instruction is carried out by every thread that holds
 * the element, unless it is `once`. */
typedef struct InlineAccess {
    InlineAction action;
    char type;               /* 'b', 'u', 's' or 'f' */
    unsigned bits, elements; /* elements: of a vector; 1 if it is none */
    InlineNumber operand, compare;
    const Value *result; /* gets what was there; NULL: nothing does, or more happens to it on the way */
    bool once;           /* by one thread of the CTA */
    /* Effect.repeats: what was found for it to end. */
    InlineRelation until;
    bool until_signed;
    InlineNumber until_number;
} InlineAccess;

/* About the access that is effect number `effect` of the text; false if it is none. */
bool inline_ptx_access(Module *module, const Op *op, unsigned effect, InlineAccess *access);

#endif
