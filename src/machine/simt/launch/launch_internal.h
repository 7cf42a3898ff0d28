/* What the files of launches share: a kernel's parameters. */
#ifndef MACHINE_SIMT_LAUNCH_LAUNCH_INTERNAL_H
#define MACHINE_SIMT_LAUNCH_LAUNCH_INTERNAL_H

#include "machine/simt/core/launch.h"
#include "ptx/flow/flow.h"

/* A parameter of a kernel, by what its declaration says. */
typedef struct PtxParameter {
    Str name, exact;   /* as its source has it, if that is known, and as PTX */
    uint32_t variable; /* of the module */
    char letter;       /* of its type: 'u', 's', 'f', 'b' */
    uint32_t bits;     /* of an element */
    uint64_t bytes;    /* altogether */
    bool scalar;       /* one element, and no vector */
    bool pointer;      /* it says that it is one */
} PtxParameter;

PtxParameter ptx_parameter(const PtxModule *module, uint32_t entry, uint32_t index);
/* Whether it can be a tensor map: by value, or as an address. */
bool ptx_parameter_is_map(const PtxParameter *parameter);

/* Whether the kernel's module has shared memory whose size the launch says. */
bool ptx_has_dynamic(const PtxModule *module);

/* ---- launch_rows.c ---- */

/* Whether %tid.y and %tid.z are read for nothing but the thread's number in its CTA. */
bool ptx_launch_one_row(Arena *arena, const PtxFlow *flow);

/* ---- launch_choose.c ---- */

/* What the text shows of how parameters are used. */
typedef struct PtxUses {
    bool *pointers;       /* an address is made of it */
    unsigned axes;        /* of %ctaid that are read: bit 0 is x */
    unsigned thread_axes; /* of %tid, the same */
    bool roles;           /* its warps may do different things: it has mbarriers, or barriers for a part of the CTA */
    bool pairs;           /* it has operations of two CTAs of a cluster */
    int64_t least;        /* threads that a barrier is for, at most; 0: none says it */
} PtxUses;
/* Which argument of a launch is for that parameter; PTX_NONE: none. */
uint32_t ptx_launch_argument(const Launch *launch, const PtxParameter *parameter, uint32_t index);
PtxUses ptx_launch_uses(Arena *arena, const PtxProgram *program);
/* Adds what `launch` does not say: every parameter gets an argument. `numbers`: of each parameter, what it is if it is
 * an integer that was not given; NULL: a usual number. */
void ptx_launch_fill(Arena *arena, const PtxProgram *program, const PtxUses *uses, const int64_t *numbers,
                     Launch *launch, bool *chosen);

#endif
