/* A proof as plain data, which outlives the module, and as lines. */
#ifndef CHECK_PROVE_SUMMARY_H
#define CHECK_PROVE_SUMMARY_H

#include "check/prove/prove.h"

ProofSummary *proof_summary(Module *module, const Proof *proof, Arena *arena);
/* All of it; `launch`: one to be held against it, or NULL. */
void proof_print(Module *module, const Proof *proof, const char *kernel, const Launch *launch, Arena *arena, Text *to);

#endif
