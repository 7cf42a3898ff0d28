/* The certificate of a proof: a text that says what was proved and how, for a checker that shares no code with the
 * search (check/certificate). docs/proofs.md has its lines. */
#ifndef CHECK_PROVE_CERTIFICATE_H
#define CHECK_PROVE_CERTIFICATE_H

#include "check/prove/prove.h"

/* The part about a kernel that is proved. Memory: the module's arena. */
void proof_certificate(Module *module, const Op *function, const Proof *proof, Text *to);

/* Whether the runs of a proof, or of its half about all but global memory, are those of the certificate. */
bool proof_has_runs(Module *module, const Op *function, const Proof *proof, Str certificate);

#endif
