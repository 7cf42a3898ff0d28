/* What the parts of the check of the value analysis share: launches made up for a kernel (launches.c), random kernels
 * (generate.c), claims held against what the interpreter sees (claims.c), and the program (values.c). */
#ifndef TESTS_REFERENCE_PTX_VALUES_H
#define TESTS_REFERENCE_PTX_VALUES_H

#include "interpreter.h"
#include "ptx/value/value.h"

/* ---- Launches ---- */

typedef struct HavocDependent {
    Launch launch;
    PtxBlockShape given; /* what the analysis is told of the shape; x is 0: nothing */
    uint8_t *parameters;
} HavocDependent;

/* Launch number `index` of a kernel; with `shaped` the analysis is told the shape of the CTAs, which then may be one
 * whose rows are no multiples of 32 threads. False if the kernel says its shape itself, so that there is nothing to
 * tell, or one that no device takes. */
bool make_up_launch(Machine *machine, const PtxModule *module, uint32_t function, bool shaped,
                    const PtxBlockShape *given, uint64_t seed, HavocDependent *made);

/* A random kernel, by generate.c: the same of the same seed. */
void generate_kernel(uint64_t seed, Text *text);

/* ---- Claims ---- */

/* What is said. */
typedef enum ClaimKind {
    CLAIM_CONSTANT,
    CLAIM_UNIFORM,
    CLAIM_TABLE,
    CLAIM_AFFINE, /* by a stride that is not known */
    CLAIM_BITS,
    CLAIM_SOME_BITS, /* no more than some bits, or which lanes have the same */
    CLAIM_SPACE,
    CLAIM_BLOCK, /* who runs it, and whether they part at its end */
    CLAIM_KINDS
} ClaimKind;

typedef struct Tally {
    uint64_t kernels, launches, steps;
    uint64_t kinds[CLAIM_KINDS], wrong[CLAIM_KINDS];
    uint64_t checks;     /* claims held against the lanes of a group */
    uint64_t lanes;      /* values in them */
    uint64_t spans;      /* of the checks: those that compare a warp with another one */
    uint64_t unclaimed;  /* operands of which nothing is said */
    uint64_t undefined;  /* ... that have no value in any lane */
    uint64_t broken;     /* times that an index wrapped which was assumed not to */
    uint64_t excused;    /* claims behind such a one, which assume it, that were passed over */
    uint64_t behind;     /* claims behind such a one, which do not say that they assume it, that did not hold */
    uint64_t violations; /* claims that did not hold */
    uint64_t ends[4];    /* launches, by EndKind */
    uint64_t forced;
} Tally;

typedef struct Claims Claims;

/* The claims about the functions of a module for CTAs of a shape, as they come up. With `mislead` some are made wrong.
 */
Claims *claims_new(const PtxModule *module, const char *file, const PtxBlockShape *given, Tally *tally, unsigned show,
                   bool mislead);
void claims_free(Claims *claims);
/* A launch is over; what was seen in it is no longer compared. */
void claims_next(Claims *claims);
Watcher claims_watcher(Claims *claims);
/* Instructions at which some claim did not hold. */
uint32_t claims_wrong(const Claims *claims);

#endif
