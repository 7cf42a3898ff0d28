/* The forms of all values of a function: which are constants, the same for all threads of a warp, affine in the lane,
 * or neither; which state space an address is in; and which branches may part the threads of a warp.
 *
 * Claims are about one execution of one instruction by the threads of a warp that run it together, which is to say with
 * the same numbers of turns of the loops around it. They are checked by an interpreter that shares no code with this
 * (tests/reference/ptx). */
#ifndef PTX_VALUE_VALUE_H
#define PTX_VALUE_VALUE_H

#include "ptx/flow/flow.h"
#include "ptx/value/form.h"

/* What is taken for granted of the rows of a CTA whose shape is not known. */
typedef enum PtxRows {
    ROWS_WHOLE, /* they are multiples of 32 threads long, so that a warp is part of one */
    ROWS_LONE,  /* they are, or there is one alone, which may be any number of threads long */
    ROWS_ANY,   /* nothing: a warp may be parts of several */
} PtxRows;

/* What is known of the launch. */
typedef struct PtxBlockShape {
    /* Threads of the CTA in x, y, z; 0: not known. `.reqntid` of the function is used when nothing is given. */
    uint32_t x, y, z;
    PtxRows rows;  /* where x is not known */
    bool unsteady; /* lanes that load one address may get different values: there is no FORM_STEADY */
} PtxBlockShape;

/* State spaces of addresses. */
typedef enum PtxSpace {
    PTX_SPACE_UNKNOWN, /* a generic address from elsewhere */
    PTX_SPACE_GLOBAL,
    PTX_SPACE_SHARED,  /* of the own CTA */
    PTX_SPACE_CLUSTER, /* shared memory of any CTA of the cluster */
    PTX_SPACE_LOCAL,
    PTX_SPACE_CONST,
    PTX_SPACE_PARAM,
    PTX_SPACE_TENSOR,
    PTX_SPACES
} PtxSpace;

/* Where an address comes from: the variable or parameter that it is so many bytes into. */
typedef struct PtxOrigin {
    PtxSpace space;
    uint32_t variable; /* PTX_NONE: not known */
    bool generic;      /* of a value: it is a generic address, and not one in that space */
    /* It is how far two addresses are apart, or something that is made of an address and is none: with it added, an
     * address may be in another variable and another space. Then nothing else is known. */
    bool distance;
} PtxOrigin;

typedef struct PtxValues {
    const PtxFlow *flow;
    PtxBlockShape shape;
    FormTables *tables;
    Form *forms;              /* of each value of the flow */
    PtxOrigin *origins;       /* of each value of the flow */
    bool *assumed;            /* of each instruction: it extends an index, which is assumed not to wrap in a warp */
    uint8_t *ends;            /* of each block, FormSpan: over which threads all go the same way at its end */
    uint8_t *turns;           /* of each loop, FormSpan: over which threads all make the same number of turns */
    bool *parts;              /* of each block: its end may part the threads of a warp (ends is SPAN_NONE) */
    bool *divergent;          /* of each block: it may be run by a part of a warp's threads */
    struct Meaning *meanings; /* of each form of the module: those that were looked at are known */
    Arena arena;
} PtxValues;

/* What `.reqntid` of a function says; 0: there is none. */
PtxBlockShape ptx_block_shape(const PtxModule *module, uint32_t function);
/* Enough for any function of a module. */
size_t ptx_values_budget(const PtxModule *module);
/* `shape` may be NULL. False, with one sentence, if it would take more than `budget` bytes. */
bool ptx_values(PtxValues *values, const PtxFlow *flow, const PtxBlockShape *shape, size_t budget,
                const char **problem);
void ptx_values_free(PtxValues *values);

/* The flow of a function and its values at once, in `budget` bytes each, or as much as the module needs if that is 0.
 * False: there is neither. */
bool ptx_flow_values(PtxFlow *flow, PtxValues *values, const PtxModule *module, uint32_t function,
                     const PtxBlockShape *shape, size_t budget, const char **problem);
void ptx_flow_values_free(PtxFlow *flow, PtxValues *values);

/* The form of any operand that has a value where it stands: a register, a constant, a special register, the address of
 * a variable. That of a register may be less than that of its value, if lanes left a loop in different turns before. */
Form ptx_operand_form(const PtxValues *values, uint32_t operand);
/* The address of an access ([a + 4]), and the space that it is in: the form's own (ld.shared), or where the value comes
 * from. `origin` may be NULL. */
Form ptx_address_form(const PtxValues *values, uint32_t statement, uint32_t operand, PtxOrigin *origin);
/* The offset of a thread, by its number in the CTA, and the stride of lanes where there is a single one for all warps
 * (FORM_TABLE). */
uint64_t form_offset(const PtxValues *values, const Form *form, unsigned thread);
bool form_stride(const PtxValues *values, const Form *form, uint64_t *stride);

/* ---- How much is known ---- */

/* Accesses of memory by what is known of their addresses. */
typedef enum PtxAccessKind {
    ACCESS_CONSTANT, /* one address, which is known but for where variables lie */
    ACCESS_UNIFORM,  /* the same in all lanes */
    ACCESS_AFFINE,   /* so many bytes a lane; how many may not be known */
    ACCESS_BITS,     /* a sum of so many bytes for each bit of the lane; they may not be known */
    ACCESS_TABLE,    /* 32 known offsets */
    ACCESS_ANY,
    PTX_ACCESS_KINDS
} PtxAccessKind;

typedef struct PtxShares {
    /* [..][1]: of those, how many hold only if what is assumed does. */
    uint64_t count[PTX_SPACES][PTX_ACCESS_KINDS][2];
    uint64_t values, value_kinds[PTX_ACCESS_KINDS]; /* values of registers */
} PtxShares;
/* Adds those of a function. Accesses of parameters do not count. */
void ptx_count_shares(const PtxValues *values, PtxShares *shares);
PtxAccessKind ptx_access_kind(const PtxValues *values, const Form *form, const PtxOrigin *origin);

/* That of a modifier, or of a variable's word with its dot; PTX_SPACE_UNKNOWN: it is none. */
PtxSpace ptx_space_named(Str word);
/* The n-th space that a form names, of its n-th address; PTX_SPACE_UNKNOWN: it names none, or several, but not so many.
 */
PtxSpace ptx_space_of_form(Str form, unsigned index);
/* "shared". */
const char *ptx_space_name(PtxSpace space);
/* For people: each block, and each value with its form (`weir parse --print values K.ptx`). */
void ptx_values_print(const PtxValues *values, Text *to);

#endif
