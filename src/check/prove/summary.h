/* A proof as plain data, which outlives the module, and as lines. */
#ifndef CHECK_PROVE_SUMMARY_H
#define CHECK_PROVE_SUMMARY_H

#include "check/prove/promise.h"

#define PROMISED_IN_VAIN "no launch was found that fulfills what is promised: nothing follows from it"

/* What callers of a kernel promise. */
typedef struct Promises {
    const Requirement *all;
    size_t count;
} Promises;

/* `launch`: one that was given, or NULL. */
ProofSummary *proof_summary(Module *module, const Proof *proof, Promises promises, const Launch *launch, Arena *arena);
/* All of it. */
void proof_print(Module *module, const Proof *proof, const char *kernel, Promises promises, const Launch *launch,
                 Arena *arena, Text *to);

#endif
