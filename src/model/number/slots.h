/* Whether two slots of a ring are provably different.
 *
 * A slot is named by the index of a ttg.memdesc_index. Two indices are compared as expressions over counters:
 * constants, sums, remainders, selects that wrap, values that loops carry. Two strengths: SLOTS_PLAIN is what Triton's
 * own pass proves (one SSA base, a constant offset, a modulus); SLOTS_STRONG also uses invariants of loops, such as
 * that two counters that both go on by one keep their distance, and knows what a value of the iteration before is.
 *
 * What is found out about values and loops is kept in a Slots, made once per function, so that asking often is cheap.
 *
 * A loop is named by an op: itself, or, where loops are made of branches, any branch that goes back to the loop's first
 * block. */
#ifndef MODEL_NUMBER_SLOTS_H
#define MODEL_NUMBER_SLOTS_H

#include "model/flow/flow.h"

typedef enum SlotStrength { SLOTS_PLAIN, SLOTS_STRONG } SlotStrength;

typedef struct Slots Slots;
/* In the module's arena, which must be able to jump. The function is not changed while it is in use, and its flow stays
 * where it is. */
Slots *slots_of(Module *module, const Op *function, const Flow *flow);

/* The index by which a view picks its slot: of the nearest memdesc_index on the way from the view to its allocation,
 * through views that keep the slot and captures of partitions; NULL if it picks none. */
const Value *slot_index(const Value *view);
/* What that index picks a slot of, captures seen through. Indices of two views say something about bytes only if both
 * pick slots of the same; SLOTS_PLAIN, as Triton, does not ask. NULL if the view picks none. */
const Value *slot_ring(const Value *view);

/* True if the two are never equal: `first` when the first access is made, `second` when the second is.
 *
 * `around` says what lies between them: the outermost of the loops that hold the first access and whose back edge lies
 * on the way to the second, once or more often. NULL: there is none, so that both are of the same iteration of every
 * loop that holds both. (Loops that hold only the second do not matter; what holds the first and was left matters only
 * where branches let its values be used after it.) SLOTS_PLAIN gives nothing across a back edge of branches, and does
 * not see those of scf: as Triton, whose input has none.
 *
 * With `proof`, a sentence that says why is added: "%p + 2 and %p are 2 apart, and 2 is no multiple of 3". */
bool slots_differ(Slots *slots, const Value *first, const Value *second, const Op *around, SlotStrength strength,
                  Text *proof);

/* The same (with SLOTS_STRONG) where the way goes around the back edge of `around` exactly that often: 1 is the next
 * iteration; with 0, `around` is not looked at. For rings this is what can be proved: slot i % 3 is another one in the
 * next iteration, and in the one after that, but not forever. */
bool slots_differ_after(Slots *slots, const Value *first, const Value *second, const Op *around, int64_t iterations,
                        Text *proof);

/* A loop that was entered after the first access, from outside, and how often it has gone around since then: it is
 * still going on, or was left and not entered again. To be left, an scf.for that runs once goes around once. */
typedef struct SlotsEntered {
    const Op *loop;
    int64_t trips;
} SlotsEntered;

/* All that can be known of the way between two accesses. So the values that a loop carries are told in its first
 * iterations, and after it, where a slot that was used before the loop meets them. */
enum { SLOTS_ENTERED = 2, SLOTS_EVERY = -1 };
typedef struct SlotsWay {
    const Op *around;                    /* as above; NULL: none */
    int64_t iterations;                  /* of `around`; SLOTS_EVERY: any number from one on */
    SlotsEntered entered[SLOTS_ENTERED]; /* the latest first; without a loop: none */
} SlotsWay;
bool slots_differ_on(Slots *slots, const Value *first, const Value *second, const SlotsWay *way, Text *proof);

#endif
