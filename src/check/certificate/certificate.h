/* Certificates of proofs for every launch, checked by other means than those that found the proof.
 *
 * A certificate is a text (docs/proofs.md has its lines): numbers of the kernel, accesses to global memory with their
 * addresses, what is asked of a launch, and for each pair of accesses the steps that show that no two programs come to
 * the same element. The checker takes nothing of it on trust but names: it evaluates the kernel's addresses itself,
 * finds the accesses and pairs itself, and takes each step only if it follows. It shares no code with check/prove. */
#ifndef CHECK_CERTIFICATE_CERTIFICATE_H
#define CHECK_CERTIFICATE_CERTIFICATE_H

#include "base/text.h"
#include "ir/ir.h"

typedef enum CertificateAnswer {
    CERTIFICATE_HOLDS,   /* it proves the kernel */
    CERTIFICATE_FAILS,   /* it is a certificate, and does not prove it */
    CERTIFICATE_IS_NONE, /* it is not written as one */
} CertificateAnswer;

typedef struct CertificateVerdict {
    CertificateAnswer answer;
    uint32_t line;   /* of the text; 0: all of it */
    const char *why; /* a sentence; in the arena */
    /* How many there are, all of which were checked: */
    uint32_t accesses, steps, preconditions, bounds, runs;
} CertificateVerdict;

/* With which every certificate begins. */
extern const char certificate_first_line[];

/* Checks the part of a certificate that is about the kernel. `whole`: the half about global memory alone is not enough.
 * Memory: that arena, and for types the module's; both must be able to jump. */
CertificateVerdict certificate_check(Module *module, const Op *function, Str text, bool whole, Arena *arena);

#endif
