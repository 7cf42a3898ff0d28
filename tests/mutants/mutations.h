/* Single faults in the synchronization of a kernel: which ones it can have, and its text with one of them.
 *
 * A mutation is a few cuts in the kernel's text. What an op is for is taken from its effects, so that every spelling of
 * an op, and every op that waits or arrives, is mutated alike. The new text has the same lines as the old one up to
 * the mutated op, and parses. */
#ifndef TESTS_MUTANTS_MUTATIONS_H
#define TESTS_MUTANTS_MUTATIONS_H

#include "ir/ir.h"

typedef enum MutationKind {
    NO_INIT,
    NO_EXPECT,
    NO_ARRIVE,
    NO_COMMIT, /* to a barrier, of the tensor core's work */
    NO_PRODUCT_BARRIER,
    NO_WAIT,
    NO_GROUP_COMMIT,
    NO_GROUP_WAIT,
    OTHER_PHASE,
    PHASE_ZERO, /* always: some turn of the ring shows it */
    PHASE_ONE,
    OTHER_BARRIER_SLOT,
    OTHER_BUFFER_SLOT,
    COUNT_MORE,
    COUNT_LESS,
    ARRIVE_TWICE,
    BYTES_MORE,
    BYTES_HALF,
    BYTES_TWICE,
    PENDING_MORE,
    ARRIVE_EARLY,
    WAIT_LATE,
    NO_FENCE, /* between proxies */
    FENCE_LATE,
    TURN_MORE, /* of a loop */
    TURN_LESS,
    MUTATION_KINDS
} MutationKind;

/* "no wait", "other phase" */
const char *mutation_kind_name(MutationKind kind);

/* Bytes of the source that are replaced. */
typedef struct Cut {
    size_t begin, end;
    Str text;
} Cut;

enum { MOST_CUTS = 16 };

typedef struct Mutation {
    MutationKind kind;
    const Op *op;
    const Value *operand; /* that it is about; NULL: the op as a whole */
    Str about;            /* the operand, or the op that changes places with it; may be empty */
    Cut cuts[MOST_CUTS];
    uint32_t cut_count;
} Mutation;

typedef struct Mutations {
    Mutation *items;
    size_t count, capacity;
} Mutations;

/* All of a module, in the order of the text. Memory: the module's arena. */
void mutations_find(Module *module, Mutations *mutations);
/* The text of the unit that the module was read from, with that fault. */
void mutation_apply(const Mutation *mutation, const Source *source, Text *to);

#endif
