/* Accesses of a kernel to global memory, with their addresses in normal form.
 *
 * An address is the memory that it lies in (its root: a parameter, or memory of the program's own), an offset in
 * elements, and what holds for the offset wherever the access is made: masks, conditions around it, bounds of a
 * descriptor. */
#ifndef CHECK_PROVE_ACCESS_H
#define CHECK_PROVE_ACCESS_H

#include "check/prove/value.h"
#include "model/effect/effect.h"

enum { ROOT_UNKNOWN = -1, ROOT_OWN = -2 /* each program has its own */ };

typedef struct ProofAccess {
    const Op *op;
    Effect effect;
    int32_t root;        /* a parameter, or ROOT_ */
    bool writes;         /* or updates */
    bool strong;         /* an atomic that all programs of the device agree on */
    bool async;          /* when it is over is another question than when it begins */
    int64_t bytes;       /* of an element */
    Quantity offset;     /* from the root, in elements; QUANTITY_NONE: not understood, since: */
    const char *problem; /* "the address depends on data" */
    ProofGuards guards;
    const Type *mapping; /* the tensor of which each thread has its elements; NULL: it is none, or not understood */
    bool copies;         /* several threads have the same element */
    uint32_t lanes;      /* a bit for each coordinate of an element that there are several of */
} ProofAccess;

typedef struct ProofAccesses {
    ProofAccess *all;
    uint32_t count, capacity;
} ProofAccesses;

/* All of the kernel; what may access memory in a way that is not understood is one of an unknown root. */
ProofAccesses proof_accesses(Prover *prover);

/* Whether each element that the access writes gets the same in every program (uniform.c). The proof has all accesses.
 */
bool access_is_uniform(Prover *prover, const ProofAccess *access);

#endif
