/* Shared memory that an op takes for itself while it runs: to exchange values between warps. */
#ifndef MODEL_MEMORY_SCRATCH_H
#define MODEL_MEMORY_SCRATCH_H

#include "ir/ir.h"

typedef struct Scratch {
    int64_t bytes; /* in one CTA; 0: none; -1: not known, and then there may be some */
    int64_t alignment;
    bool warp_synchronous; /* no value crosses warps: it needs no barrier inside */
    bool crosses_ctas;     /* other CTAs of the cluster touch it */
} Scratch;

/* From the op, its types and their layouts; an `allocation.size` that a compiler wrote on it goes before. */
Scratch scratch_of(Module *module, const Op *op);

#endif
