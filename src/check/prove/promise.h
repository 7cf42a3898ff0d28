/* What callers of a kernel promise (base/requirement.h): which preconditions of its proof follow from that, and which
 * promise a launch breaks.
 *
 * Promises decide nothing in a proof. A precondition that follows from them is promised: by bounds and remainders of
 * numbers, by a promise that says at least as much, or, of strides that nest, by the same words. Of promises that no
 * launch is found to fulfill, nothing follows. */
#ifndef CHECK_PROVE_PROMISE_H
#define CHECK_PROVE_PROMISE_H

#include "base/requirement.h"
#include "check/prove/prove.h"

/* Sets of each precondition whether it is promised. False: no launch is found that fulfills the promises and is
 * covered, and none is. Memory: the arena. */
bool proof_promised(const Proof *proof, const Requirement *promises, size_t count, Arena *arena, bool *promised);

typedef enum PromiseAnswer { PROMISE_KEPT, PROMISE_BROKEN, PROMISE_UNKNOWN } PromiseAnswer;

/* Whether a launch keeps a promise; `proof`: that of its kernel, or NULL. UNKNOWN: the launch does not say. */
PromiseAnswer promise_kept(const Requirement *promise, const Proof *proof, const Launch *launch);
/* "K is 100, grid.x is 4": what the promise is about, at the launch. */
void promise_values(const Requirement *promise, const Launch *launch, Text *to);

#endif
