/* A second opinion on barriers: random small programs, and all that can become of them, found by trying every
 * interleaving. Slow, simple, and without a line of code in common with Weir's own emulator, so that `compare` can hold
 * the two against each other.
 *
 * A program is one CTA: a default agent of 4 warps and up to 3 partitions; up to 4 mbarriers in arrays; 2 named
 * barriers. The default agent runs `before`, starts the partitions, runs its own body beside theirs, waits until all of
 * them have returned, and runs `after`. What is meant by it:
 *
 *   mbarrier   (phase bit, pending arrivals, bytes to come). init(count) makes it (0, count, 0). An arrival takes n
 * from pending; an expect adds bytes and is one arrival; the end of a copy takes its bytes away and is none. Right
 * after each of these, if pending and bytes are both 0, the phase bit flips and pending is count again. Bytes may be
 * delivered before they are expected: they are then negative for a while. wait       of parity p goes on as soon as the
 * phase bit is not p. It consumes nothing. A waiter that was not looking while the bit flipped twice has missed it.
 *   copy       delivers its bytes at any time after it was issued, whatever its issuer does; copies finish in any
 * order. commit,    arrive once, at any time after they were issued; those of one agent in the order in which it issued
 * them. MMA named      collects threads, 32 for each warp of an agent that arrives or syncs. The first that comes says
 * how many make it complete; when so many or more are there, it lets the agents go that stand at a sync, and starts
 *              again.
 *   CTA        a barrier among the warps of one agent: nothing between agents.
 *   predicate  an operation whose predicate is false does nothing at all.
 *
 * A run stops with an error at the operation that
 *   underflow      arrives more often than is pending,
 *   uninitialized  uses or invalidates a barrier that is not initialized or was invalidated,
 *   reinitialized  initializes a barrier that is initialized.
 * A copy, a commit or an MMA touches its barrier when it finishes, not when it is issued: that is when it can go wrong.
 * An arrival that comes after its barrier was invalidated (and not initialized again) does nothing. Otherwise a run
 * ends when no agent can go on and nothing is in flight any more. */
#ifndef TESTS_REFERENCE_REFERENCE_H
#define TESTS_REFERENCE_REFERENCE_H

#include "base/text.h"

enum {
    REFERENCE_AGENTS = 4,     /* the default agent and the partitions */
    REFERENCE_BARRIERS = 4,   /* and as many arrays at most */
    REFERENCE_NAMED = 2,      /* named barriers; number k has the id k + 1 */
    REFERENCE_OPERATIONS = 6, /* of one sequence */
    REFERENCE_TRIPS = 3,
    REFERENCE_WARPS = 4,         /* of the default agent */
    REFERENCE_TILE_BYTES = 8192, /* what one copy delivers */
    REFERENCE_STATES = 50000,    /* the largest search */
};

typedef enum ReferenceKind {
    REFERENCE_INIT, /* amount: count */
    REFERENCE_INVALIDATE,
    REFERENCE_WAIT,
    REFERENCE_ARRIVE, /* amount: arrivals */
    REFERENCE_EXPECT, /* amount: bytes */
    REFERENCE_COPY,
    REFERENCE_COMMIT,
    REFERENCE_MMA,
    REFERENCE_NAMED_ARRIVE, /* amount: threads */
    REFERENCE_NAMED_SYNC,
    REFERENCE_CTA_BARRIER,
} ReferenceKind;

typedef enum ReferenceParity {
    REFERENCE_PARITY_ZERO,
    REFERENCE_PARITY_ITERATION, /* iteration & 1 */
    REFERENCE_PARITY_ROUND,     /* (iteration / depth of the array) & 1 */
} ReferenceParity;

typedef enum ReferencePredicate {
    REFERENCE_PREDICATE_NONE,
    REFERENCE_PREDICATE_TRUE,
    REFERENCE_PREDICATE_FALSE
} ReferencePredicate;

typedef struct ReferenceOperation {
    ReferenceKind kind;
    unsigned array, slot; /* the mbarrier */
    bool rotating;        /* the slot is iteration % depth of the array instead */
    ReferenceParity parity;
    bool flipped; /* the parity is the other one */
    ReferencePredicate predicate;
    unsigned named;
    unsigned amount;
    unsigned line; /* in the printed text */
} ReferenceOperation;

/* Operations one after the other; with `trips`, in a loop. */
typedef struct ReferenceSequence {
    unsigned count, trips;
    ReferenceOperation operations[REFERENCE_OPERATIONS];
} ReferenceSequence;

typedef struct ReferenceProgram {
    unsigned array_count, depths[REFERENCE_BARRIERS];
    unsigned agent_count, warps[REFERENCE_AGENTS];
    bool specialized; /* there is a ttg.warp_specialize; always so with partitions */
    unsigned specialize_line;
    ReferenceSequence before, after, bodies[REFERENCE_AGENTS];
} ReferenceProgram;

/* The program number `seed`. */
void reference_generate(uint64_t seed, ReferenceProgram *program);

/* As Triton GPU IR; sets the lines of the program. */
void reference_print(ReferenceProgram *program, Text *to);

/* How the program, which has been printed, can end: lines, sorted, no two the same. False if it is too large to tell.
 *
 *     default=@31 partition0=done | 0:1:0 1:2:-8192 dead
 *     error underflow @40
 *
 * An agent is done or stands at an operation, here on line 31 (ttg.warp_specialize: waits for the partitions); then
 * come the mbarriers in the order of allocation, phase:pending:bytes or dead. An error is at the operation that made
 * it; of what was in flight, where it was issued. */
bool reference_explore(const ReferenceProgram *program, Text *to, size_t *state_count);

#endif
