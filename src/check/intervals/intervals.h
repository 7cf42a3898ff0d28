/* Whether a PTX kernel is clean at every launch: a proof with preconditions, or what is open.
 *
 * 1. Barriers: all threads of a CTA come to the same ones, in the same turns of loops (control.c).
 * 2. Intervals: which accesses two threads can make between the same two barriers, loops' ends included (visit.c).
 * 3. Addresses and what holds there, in the normal form of check/prove (number.c, context.c).
 * 4. Of each two accesses in an interval, and of two CTAs, one of which writes: they are not to the same bytes
 *    (pair.c), since the conditions under which they would be exclude each other (linear.c).
 *
 * What was not looked at is open. */
#ifndef CHECK_INTERVALS_INTERVALS_H
#define CHECK_INTERVALS_INTERVALS_H

#include "check/prove/prove.h"
#include "ptx/ptx.h"

/* Proves what it can of a kernel in so many seconds. The proof is in the arena, which must be able to jump. */
Proof *prove_threads(PtxModule *module, uint32_t entry, Arena *arena, double seconds);

/* As plain data for verdicts, with places in the kernel's own source; and as lines for people. */
ProofSummary *threads_summary(PtxModule *module, const Proof *proof, Arena *arena);
void threads_proof_print(PtxModule *module, const Proof *proof, const char *kernel, const Launch *launch, Arena *arena,
                         Text *to);

#endif
