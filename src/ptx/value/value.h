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

/* What is known of the launch. */
typedef struct PtxBlockShape {
    /* Threads of the CTA in x, y, z; 0: not known. Where x is not known it is taken to be a multiple of 32, so that a
     * warp is part of one row; `.reqntid` of the function is used when nothing is given. */
    uint32_t x, y, z;
} PtxBlockShape;

/* State spaces of addresses. */
typedef enum PtxSpace {
    SPACE_UNKNOWN, /* a generic address from elsewhere */
    SPACE_GLOBAL,
    SPACE_SHARED,  /* of the own CTA */
    SPACE_CLUSTER, /* shared memory of any CTA of the cluster */
    SPACE_LOCAL,
    SPACE_CONST,
    SPACE_PARAM,
    SPACE_TENSOR,
    PTX_SPACES
} PtxSpace;

/* Where an address comes from: the variable or parameter that it is so many bytes into. */
typedef struct PtxOrigin {
    PtxSpace space;
    uint32_t variable; /* PTX_NONE: not known */
} PtxOrigin;

typedef struct PtxValues {
    const PtxFlow *flow;
    PtxBlockShape shape;
    FormTables *tables;
    Form *forms;        /* of each value of the flow */
    PtxOrigin *origins; /* of each value of the flow */
    bool *assumed;      /* of each instruction: it extends an index, which is assumed not to wrap in a warp */
    bool *parts;        /* of each block: its end may part the threads of a warp */
    bool *divergent;    /* of each block: it may be run by a part of a warp's threads */
    Arena arena;
} PtxValues;

bool ptx_values(PtxValues *values, const PtxFlow *flow, const PtxBlockShape *shape, size_t budget,
                const char **problem);
void ptx_values_free(PtxValues *values);

/* The form of any operand that has a value: a register, a constant, a special register, the address of a variable. */
Form ptx_operand_form(const PtxValues *values, uint32_t operand);
/* The address of an access ([a + 4]), and the space that it is in: the form's own (ld.shared), or where the value comes
 * from. */
Form ptx_address_form(const PtxValues *values, uint32_t statement, uint32_t operand, PtxOrigin *origin);
/* Whether it is one constant in all threads. */
bool form_constant(const Form *form, uint64_t *value);
/* The offset of a lane, and the stride where there is one (FORM_TABLE with a single one). */
uint64_t form_offset(const PtxValues *values, const Form *form, unsigned lane);
bool form_stride(const PtxValues *values, const Form *form, uint64_t *stride);

#endif
