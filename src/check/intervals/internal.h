/* What the files of the prover for PTX share.
 *
 * Numbers are quantities (check/prove/quantity.h): polynomials over parameters, sizes of the CTA and the grid, places
 * in them, turns of loops, and registers of which no more is known. A quantity stands for a register of w bits modulo
 * 2^w; what is made of the number itself (a comparison, a quotient, an extension, an address) needs it in range, which
 * is shown from what holds there, or asked of a launch.
 *
 * Loops that have barriers are gone through by all threads of a CTA together: an interval begins in some turn, and may
 * end in the next one. A LoopStage says in which turn of each of them a thread is, as seen from where the interval
 * began.
 */
#ifndef CHECK_INTERVALS_INTERNAL_H
#define CHECK_INTERVALS_INTERNAL_H

#include "check/intervals/intervals.h"
#include "check/intervals/linear.h"
#include "model/effect/effect.h"
#include "ptx/effects.h"
#include "ptx/value/operation.h"
#include "ptx/value/value.h"

/* Over which threads an atom is the same. ORDER: from many to few. */
typedef enum AtomScope { SAME_IN_LAUNCH, SAME_IN_CTA, SAME_IN_THREAD } AtomScope;

typedef enum PairFactKind { FACT_AT_MOST, FACT_ZERO, FACT_NOT_ZERO } PairFactKind;
/* left <= 0, == 0 or != 0. */
typedef struct PairFact {
    Quantity left;
    PairFactKind kind;
} PairFact;

typedef struct PairFacts {
    PairFact *all;
    uint32_t count, capacity;
} PairFacts;

/* What is known of an atom beside its kind. */
typedef struct AtomNote {
    AtomScope scope;
    bool loaded;    /* it depends on what memory has, or on other threads */
    uint32_t block; /* ATOM_DATA: where it is computed; of a loop: its header */
    bool bounded;   /* least and most hold */
    int64_t least, most;
    PairFacts facts; /* hold wherever it has a value */
    bool parameter;  /* of the kernel, or a part of one */
} AtomNote;

/* What a value that a loop carries is in a stage. */
typedef struct StageValue {
    uint32_t value;
    Quantity number;
} StageValue;

typedef struct LoopStage {
    uint32_t id;
    const struct LoopStage *before; /* NULL: where an interval begins */
    uint32_t from, to;              /* blocks: the edge behind which it begins */
    StageValue *values;             /* in place of those of `before` */
    uint32_t value_count;
    uint32_t loop;             /* whose turn has changed */
    Quantity turn;             /* of that loop */
    PairFacts facts;           /* that hold from then on */
    struct Context **contexts; /* of each block */
} LoopStage;

/* A block in a stage: what holds there, and what registers are. */
typedef struct Context {
    const LoopStage *stage;
    uint32_t block;
    PairFacts facts;
    Quantity *memo; /* of each value, + 1 */
    bool busy;      /* its facts are being found */
} Context;

typedef struct ThreadAccess {
    uint32_t statement, instruction, block;
    EffectVerb verb;
    bool writes, atomic; /* atomic: all that agree on the device */
    bool read_only;      /* nothing may write it while the kernel runs, whatever the order */
    PtxSpace space;      /* PTX_SPACE_UNKNOWN: generic */
    int64_t bytes;
    const PtxOperand *address;
} ThreadAccess;

/* An access as it is made in a context. */
typedef struct Visit {
    uint32_t access;
    const Context *context;
    Quantity root; /* the address of a variable or a parameter; QUANTITY_NONE: not known */
    Quantity offset;
    const char *problem;
    bool loaded; /* the offset depends on data: the root is known */
} Visit;

typedef struct Visits {
    Visit *all;
    uint32_t count, capacity;
} Visits;

/* A pair that was looked at. */
typedef struct SeenPair {
    const Visit *visits[2];
} SeenPair;

typedef struct Intervals {
    Prover prover;
    PtxModule *module;
    uint32_t function;
    Arena *arena;              /* of the proof */
    Arena pair, ranges, solve; /* for a pair of accesses, a range, and one refutation */
    PtxFlow flow;
    PtxValues values, whole; /* with CTAs of any shape; with those whose rows are warps */
    AtomNote notes[MOST_ATOMS];
    bool *syncs;        /* of each loop: there is a barrier in it */
    bool *diverged;     /* of each block: threads of a CTA may part before it, and have not met again */
    uint32_t *barriers; /* instructions */
    uint32_t barrier_count;
    ThreadAccess *accesses;
    uint32_t access_count, access_capacity;
    SeenPair *seen;
    uint32_t seen_count, seen_capacity;
    LoopStage **stages;
    uint32_t stage_count, stage_capacity;
    struct {            /* loops' values that count */
        uint8_t *state; /* of each value: 0 not looked at, 1 it counts, 2 it does not, 3 being looked at */
        Quantity *step;
    } counts;
    bool *pointer;             /* of each parameter: it is made an address of global memory */
    PairFacts launch;          /* preconditions, as facts */
    PairFacts asked;           /* ranges that are asked of launches, as facts: they tell of ranges alone */
    int64_t pinned[2][3];      /* sizes of the CTA and of the grid that are asked for; 0: any */
    uint32_t fixed[3];         /* what the kernel says itself of its CTAs; 0: nothing */
    uint32_t most_threads;     /* the same: of all axes together */
    bool steady, whole_steady; /* the values take nothing else for granted */
    bool quiet;                /* nothing is asked of launches meanwhile */
    bool trusting;             /* numbers are taken to be in range meanwhile: what is found out so is a guess */
} Intervals;

static inline Quantities *quantities_in(Intervals *k) {
    return &k->prover.proof->quantities;
}

/* ---- intervals.c ---- */
/* Something is open at a statement; PTX_NONE: in the whole kernel. */
void leave_open(Intervals *k, uint32_t statement, const char *reason, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* A precondition that a statement needs. It is a fact, or a pinned size, from then on. */
void require(Intervals *k, const Condition *condition, uint32_t statement);
uint32_t line_of(const Intervals *k, uint32_t statement);

/* ---- range.c ---- */
/* Makes an atom and says what it is; the first time alone. */
Quantity noted(Intervals *k, const QuantityAtom *atom, const AtomNote *note);
/* A register of which no more is known than its width. */
Quantity opaque(Intervals *k, const LoopStage *stage, uint32_t value, bool loaded);
unsigned register_bits(const Intervals *k, uint32_t value);
/* Whether a register, or the turn of a loop, is in a number. */
bool has_register(Intervals *k, Quantity number);

/* ---- number.c: what registers are ---- */
Quantity number_of_operand(Intervals *k, Context *context, const PtxOperand *operand, unsigned width);
/* The same of [a + 4]. */
Quantity number_of_address(Intervals *k, Context *context, const PtxOperand *address);
/* The number itself, as one with so many bits: QUANTITY_NONE if it may be out of range. */
Quantity number_in_range(Intervals *k, const PairFacts *facts, Quantity number, unsigned width, bool is_signed);
/* Whether it is from least to most, by what holds there; or is asked of a launch, where that is possible. */
bool is_in_range(Intervals *k, const PairFacts *facts, Quantity number, int64_t least, int64_t most);
/* Whether a number is the same for all threads of a CTA. */
bool same_in_cta(Intervals *k, Quantity number);
bool depends_on_data(Intervals *k, Quantity number);
/* The turn of a loop in a stage. */
Quantity turn_of(Intervals *k, const LoopStage *stage, uint32_t loop);
const PtxStatement *statement_at(const Intervals *k, uint32_t instruction);
Quantity number_of_register(Intervals *k, Context *context, uint32_t value);
/* The loop that a block is the header of; PTX_NONE. Whether a value that it carries becomes more by the same number in
 * each turn; and the atom that it is made of: the turn, or itself; UINT32_MAX: there are too many. */
uint32_t loop_headed_by(const Intervals *k, uint32_t block);
bool is_counting(Intervals *k, uint32_t value, uint32_t loop);
uint32_t atom_carried(Intervals *k, uint32_t value, uint32_t loop, Quantity *number);

/* ---- context.c: stages, contexts, and what holds in them ---- */
Context *context_at(Intervals *k, const LoopStage *stage, uint32_t block);
/* The first stage, in which intervals begin. */
const LoopStage *first_stage(Intervals *k);
/* The one behind an edge that begins or goes on with a loop that has barriers. */
const LoopStage *next_stage(Intervals *k, const LoopStage *stage, uint32_t from, uint32_t to);
/* Adds what holds where a predicate is true, or false. */
void add_condition(Intervals *k, Context *context, const PtxOperand *predicate, bool is_true, PairFacts *facts);
/* The guard of a statement, the same. */
void add_guard(Intervals *k, Context *context, const PtxStatement *statement, bool holds, PairFacts *facts);
/* Whether all threads of a CTA that come to the end of a block together go the same way. */
bool goes_one_way(Intervals *k, uint32_t block);
bool is_in_loop(const PtxFlow *flow, uint32_t loop, uint32_t block);
void add_fact(Intervals *k, PairFacts *facts, Quantity left, PairFactKind kind);
/* Adds what the end of a block says of those that go on at `to`. */
void add_edge(Intervals *k, Context *context, uint32_t from, uint32_t to, PairFacts *facts);

/* ---- invariant.c ---- */
/* PairFacts of values that loops carry, by induction. */
void find_invariants(Intervals *k);
/* Whether a loop ends, since a value that it carries becomes more (or less) in each turn, and does not wrap around. */
bool loop_ends(Intervals *k, uint32_t loop);

/* ---- system.c: facts as rows ---- */
typedef struct PairSystem PairSystem;
/* For facts of one thread; of two threads of one CTA, or of two CTAs. */
PairSystem *system_new(Intervals *k, Arena *arena, bool one_cta);
PairSystem *system_copy(const PairSystem *system);
/* Adds `times` * a number of a thread (0 or 1) to a sum that is begun by system_begin. */
void system_begin(PairSystem *system);
void system_term(PairSystem *system, Quantity number, unsigned side, int64_t times);
/* The same times the product of the atoms in a monomial that both threads agree in. */
void system_term_by(PairSystem *system, Quantity number, unsigned side, int64_t times, const Monomial *by);
/* The sum + constant is at most 0, or 0. */
void system_row(PairSystem *system, int64_t constant, bool equal);
/* Products that come in from now on are those of rows that follow from others. */
void system_follow(PairSystem *system, bool follows);
void system_facts(PairSystem *system, const PairFacts *facts, unsigned side);
/* What is known of the atoms that are in it. */
void system_close(PairSystem *system);
bool system_refuted(PairSystem *system);
/* Whether an atom is the same for both threads. */
bool system_shares(const PairSystem *system, uint32_t atom);
/* Whether a product of atoms is known not to be negative. */
bool system_is_positive(PairSystem *system, const Monomial *product);
void system_set_positive(PairSystem *system, uint32_t atom);
/* Whether facts exclude that left <= 0, or left == 0, holds. */
bool facts_exclude(Intervals *k, const PairFacts *facts, Quantity left, PairFactKind kind);

/* ---- visit.c: which accesses lie between two barriers ---- */
/* All that a thread may access from behind a barrier (instruction), or from the beginning (PTX_NONE), up to the next.
 */
Visits visits_from(Intervals *k, uint32_t barrier);
/* Each access where it is made, whatever the turn. */
Visits visits_anywhere(Intervals *k);

/* ---- pair.c ---- */
void prove_interval(Intervals *k, const Visits *visits);
void prove_ctas(Intervals *k, const Visits *visits);
void prove_places(Intervals *k, const Visits *visits);

/* ---- control.c ---- */
/* Whether the kernel has only what is understood: its instructions, barriers and loops. What it has not is open. */
bool look_at_control(Intervals *k);

#endif
