/* Whether a kernel is clean at every launch: a proof with preconditions that a launch can be asked, or what is open.
 *
 * A proof has two halves, each of which adds what it cannot show (proof_open) and what it needs of a launch
 * (proof_require) to one Proof: global memory between the programs of a grid and inside each of them (global.c), and
 * all else that a run can show: deadlocks, barriers, shared and tensor memory (prove_sync). Nothing is proved unless
 * neither half leaves anything open. What was not looked at is open.
 *
 * The time is bounded: what there is no time for is open. */
#ifndef CHECK_PROVE_PROVE_H
#define CHECK_PROVE_PROVE_H

#include "check/prove/condition.h"
#include "finding/finding.h"

/* What could not be shown: where, and why in one sentence. */
typedef struct ProofOpen {
    const Op *op;       /* NULL: of the whole kernel */
    const char *reason; /* "the address depends on data": a few words, the same for all of a kind */
    const char *text;   /* "store at matmul.py:88 against itself in another program: the address depends on data" */
    uint32_t statement; /* of PTX, in place of `op`; 0: of the whole kernel */
} ProofOpen;

/* A step of the half about global memory, for the certificate (certificate.h). */
typedef enum ProofStepKind {
    PROOF_PAIR,   /* of the accesses number a and b, from here on: equation 0 is that their offsets are equal */
    PROOF_NEST,   /* equation a is a sum over levels that nest: an equation more for each level */
    PROOF_APART,  /* equation a never holds */
    PROOF_JOIN,   /* from a quotient (atom a) and a remainder (b): what was divided is equal, one more equation */
    PROOF_KNOWN,  /* axis a: the program id is known to be equal */
    PROOF_PINNED, /* conditions leave one */
    PROOF_ONE,    /* there is one program */
    PROOF_ALIKE,  /* every program writes the same */
    PROOF_SAME,   /* both are of one program from here on */
    PROOF_ORDERED,
} ProofStepKind;
typedef struct ProofStep {
    ProofStepKind kind;
    uint32_t a, b;
    Condition condition; /* NEST, ONE */
} ProofStep;

/* A value that a loop carries, at the start of each turn, of a tensor its element at the coordinates `at`. */
typedef struct ProofCarried {
    const Value *argument;
    uint32_t map;
    Quantity number;
} ProofCarried;

/* A run of the half about everything else, and for which others it speaks: with the trip counts T + n * period if
 * `speaks`, and with up to `reach` more. */
enum { PROOF_COUNTS = 2 };
typedef struct ProofRun {
    int64_t trips[PROOF_COUNTS], reach[PROOF_COUNTS];
    bool down[PROOF_COUNTS], speaks[PROOF_COUNTS]; /* down: for all that are less, too */
    uint32_t conditions;                           /* those that hold, a bit each */
} ProofRun;

/* A number on which trip counts depend: the loop counts up to factor * number + more by step. */
typedef struct ProofCount {
    const Op *loop;
    int64_t factor, more, step, from, period, least;
    bool counts;
    Quantity trips;         /* of the loop */
    int64_t fastest, limit; /* trips * fastest is not to be more than limit; 0: nothing grows */
} ProofCount;

typedef struct Proof {
    Quantities quantities;
    const char *const *names; /* of the parameters */
    uint32_t name_count;
    bool *writes;     /* by parameter: memory behind it is written; NULL: that of any may be */
    bool *pointers;   /* of PTX, the same: it is accessed, so that it has to be known which memory that is; NULL */
    bool structured;  /* of PTX: memory is accessed by a pointer in a structure */
    Condition *where; /* a launch that fulfills all of them, and the bounds of the quantities, is covered */
    ProofOpen *open;
    const char **assumes; /* what is taken for granted, in words */
    uint32_t where_count, open_count, assume_count;
    uint32_t where_capacity, open_capacity, assume_capacity;
    const char **steps; /* what was shown, a line each, for `weir prove` */
    uint32_t step_count, step_capacity;
    const struct ProofAccess *accesses; /* to global memory (access.h) */
    uint32_t access_count;
    ProofStep *taken;
    uint32_t taken_count, taken_capacity;
    ProofCarried *carried;
    uint32_t carried_count, carried_capacity;
    const struct ProverMemo *memo;
    ProofRun *runs;
    uint32_t run_count, run_capacity;
    ProofCount counts[PROOF_COUNTS];
    uint32_t count_count, condition_count;
    const char *withdrawn; /* it was found to be wrong, and why; NULL: it was not */
    bool proved;           /* nothing is open */
    bool alike;            /* with several programs, some write the same to one place, which a run notes */
    bool narrow;           /* but only one grid, or one value of an argument, fulfills `where` */
    double seconds;
} Proof;

/* What both halves work with. */
typedef struct Prover {
    Module *module;
    const Op *function;
    Arena *arena;                       /* the module's */
    const struct Parameter *parameters; /* machine/tile/compile/program.h */
    Proof *proof;
    uint64_t end; /* deadline_now by which it has to be done */
    bool late;
    struct ProverMemo *memo; /* value.c */
} Prover;

/* Proves what it can in so many seconds. Memory: the module's arena, which must be able to jump. */
Proof *prove_kernel(Module *module, const Op *function, double seconds);

/* The same, once for each kernel of the module: later calls get the proof that the first one made. */
const Proof *proof_of_kernel(Module *module, const Op *function, double seconds);
/* The proof that there is; NULL: none was asked for. */
const Proof *proof_made(const Module *module, const Op *function);

/* Something disagrees with the proof that there is: it proves nothing any more. */
void proof_withdraw(Module *module, const Op *function, const char *why);

/* Nothing disagrees: so many of some launches that it covers were run to their end. */
void proof_confirm(Module *module, const Op *function, unsigned run, unsigned launches);

/* The same of global memory alone: no proof of the kernel. For tests. */
Proof *prove_global_half(Module *module, const Op *function, double seconds);
/* The same of everything but global memory. */
Proof *prove_sync_half(Module *module, const Op *function, double seconds);

/* Whether the proof covers a launch: all preconditions and bounds hold, and pointers that are written do not share
 * memory with others. `lacks` (or NULL) gets the text of the first that does not. */
bool proof_covers(const Proof *proof, const Launch *launch, const char **lacks);
/* The same of numbers alone, without a look at pointers. Takes no memory. */
bool proof_covers_numbers(const Proof *proof, const LaunchNumbers *launch, const char **lacks);

/* A launch that the proof covers, or does not, with several programs along each axis that allows it, and no number
 * above `most`; `room` has space for the arguments. False: none was found. */
bool proof_example(const Proof *proof, uint64_t *seed, int64_t most, bool covered, LaunchNumber *room,
                   LaunchNumbers *launch);
/* One that may be covered. */
void proof_some_launch(const Proof *proof, uint64_t *seed, int64_t most, LaunchNumber *room, LaunchNumbers *launch);

/* The same with arguments for the kernel's parameters: memory that is large enough, of which nothing is known. */
bool proof_example_launch(Module *module, const Op *function, const Proof *proof, uint64_t *seed, Launch *launch,
                          Arena *arena);
/* ---- For provers ---------------------------------------------------------------------------------- */

/* Makes the proof, in which nothing is open yet; and ends it: what is asked of launches is known from then on. */
void proof_begin(Prover *prover, Arena *arena, double seconds);
void proof_end(Prover *prover);

/* ---- For the halves ------------------------------------------------------------------------------- */

/* Something is open; the text is made of the place of `op` (NULL: none) and the sentence: "loop at attn.py:40 (IR line
 * 12): ...". `reason` is kept as it is. */
void proof_open(Prover *prover, const Op *op, const char *reason, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The same of a text that has its place, which is freed. */
void proof_open_text(Prover *prover, const Op *op, const char *reason, Text *text);
/* "store at matmul.py:88 (IR line 23)" */
void proof_place(Prover *prover, const Op *op, const char *word, Text *to);
/* A precondition, unless it holds at every launch, or is there already. `subject`: of CONDITION_NEST, whose strides. */
void proof_require(Prover *prover, const Condition *condition, const char *subject);
void proof_assume(Prover *prover, const char *text);
void proof_step(Prover *prover, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A step for the certificate; `condition`: NULL, or one that it needs. */
void proof_take(Prover *prover, ProofStepKind kind, uint32_t a, uint32_t b, const Condition *condition);
/* Whether time is up; that becomes open, once. */
bool prover_is_late(Prover *prover);

/* A scalar integer in normal form, with the bounds that keep its ops from wrapping around; with data in it
 * (quantity_has_data) where it depends on memory. Copies that partitions capture, values that loops carry by even
 * steps, and induction variables (ATOM_TRIP of the loop) are seen through. QUANTITY_NONE: too long. */
Quantity prover_quantity(Prover *prover, const Value *value);
/* The coordinates of a map, which ATOM_DATA and ProofCarried have; how many there are. */
uint32_t prover_coordinates(const Proof *proof, uint32_t map, const Quantity **at);
/* How often a loop that counts runs; QUANTITY_NONE: it does not count. */
Quantity prover_trips(Prover *prover, const Op *loop);

/* The half about global memory (global.c). */
void prove_global(Prover *prover);
/* The half about everything else. */
void prove_sync(Prover *prover);

#endif
