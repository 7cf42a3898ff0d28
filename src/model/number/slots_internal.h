/* What the files of slots share: what loops carry, ranges of values, and linear forms.
 *
 * slots_flow.c knows what loops carry, those that are ops and those of branches alike; slots_range.c between which
 * bounds a value is; slots_form.c writes a value as a sum of symbols; slots.c compares two values.
 *
 * Assumed throughout, as by every kernel that counts: sums, differences and products of index arithmetic do not
 * overflow their type, and a count that is never negative and is cut to 32 bits or more fits. What cutting, unsigned
 * remainders and extensions do to numbers that may be negative is not assumed away. */
#ifndef MODEL_NUMBER_SLOTS_INTERNAL_H
#define MODEL_NUMBER_SLOTS_INTERNAL_H

#include "base/table.h"
#include "model/flow/forwarded.h"
#include "model/number/parts.h"
#include "model/number/slots.h"

/* ---- slots_flow.c: loops ------------------------------------------------------------------------------------------
 */

/* What a table of a Slots is asked for. */
typedef enum SlotsKey { KEY_INCOMING, KEY_RANGE, KEY_FORM, KEY_SYMBOL /* + SymbolKind */ } SlotsKey;

typedef struct SlotsEntry {
    uint32_t kind; /* a SlotsKey */
    const void *a, *b;
    void *value; /* NULL: the entry is free */
} SlotsEntry;
typedef TABLE_OF(SlotsEntry) SlotsTable;

struct Slots {
    Module *module;
    const Flow *flow;
    bool irreducible; /* there are loops with two entries, or branches that are not understood: nothing is proved */
    SlotsTable entries;
    uint32_t symbol_count;
    unsigned depth; /* of the recursion that is going on */
};

void *slots_get(const Slots *slots, uint32_t kind, const void *a, const void *b);
void slots_put(Slots *slots, uint32_t kind, const void *a, const void *b, void *value);

/* True if `inner` is `outer` or inside it. NULL is inside nothing. */
static inline bool loop_holds(const FlowLoop *outer, const FlowLoop *inner) {
    return inner && outer->first <= inner->first && inner->first <= outer->last;
}
/* The innermost loop around the place where a value is made. */
const FlowLoop *loop_around(const Slots *slots, const Value *value);

enum { MOST_WAYS = 8 };

/* A value that a loop carries from one iteration to the next: what it is at first, and what it becomes, for each way
 * into the loop and each way back. */
typedef struct Circulating {
    const FlowLoop *loop;
    const Value *first[MOST_WAYS], *next[MOST_WAYS];
    unsigned first_count, next_count;
} Circulating;
bool circulating_of(const Slots *slots, const Value *argument, Circulating *carried);
/* Those that come together in the argument of a block that is no loop's; their count, or 0. */
unsigned merged_of(const Slots *slots, const Value *argument, const Value *values[MOST_WAYS]);
/* The value that this one is a copy of: through captures, results of regions that run once; NULL if of none. */
const Value *copied_from(const Slots *slots, const Value *value);

static inline unsigned width_of(const Slots *slots, const Value *value) {
    return number_width(slots->module, value->type);
}

/* ---- slots_range.c ------------------------------------------------------------------------------------------------
 */

typedef struct Range {
    int64_t low, high; /* low > high: there is no such value */
} Range;
Range range_of(Slots *slots, const Value *value);
/* What left - right is when the relation holds (or, if not `holds`, does not), given what both are. */
Range difference_if(const Relation *relation, bool holds, Range left, Range right);

/* ---- slots_form.c -------------------------------------------------------------------------------------------------
 */

/* A number that is not looked into. */
typedef enum SymbolKind {
    SYMBOL_VALUE,  /* the value itself */
    SYMBOL_HIDDEN, /* some number that goes with the value: a quotient, a carry */
    SYMBOL_COUNT,  /* how often the loop has gone around */
    SYMBOL_SUM,    /* of the symbol `of`, over all iterations of the loop before this one */
    SYMBOL_LAST,   /* the symbol `of` in the iteration before; 0 in the first */
    SYMBOL_EXIT,   /* the symbol `of` when the loop was left */
    SYMBOL_WAY, /* 1 if the iteration ends by way `way` of the loop, or control comes that way to the block; else 0 */
} SymbolKind;

typedef struct Symbol Symbol;
enum { FORM_TERMS = 12 };
typedef struct SlotTerm {
    const Symbol *symbol;
    int64_t factor; /* not 0 */
} SlotTerm;
/* constant + factor * symbol + ...; terms by the id of their symbols. */
typedef struct SlotForm {
    int64_t constant;
    uint32_t count;
    SlotTerm terms[FORM_TERMS];
} SlotForm;

struct Symbol {
    SymbolKind kind;
    uint32_t id;
    const Value *value;   /* VALUE, HIDDEN */
    const FlowLoop *loop; /* COUNT, SUM, LAST, EXIT */
    const Symbol *of;     /* SUM, LAST, EXIT */
    const FlowLoop *home; /* the innermost loop in which it is not the same all the time; NULL: it is a constant */
    const SlotForm
        *carried; /* what a value that a loop carries is, in terms of the count of the loop; NULL: not known */
    enum { NOT_TRIED, BEING_TRIED, TRIED } state;
};

/* What the value is, in terms of values that loops carry and others that are not looked into. */
const SlotForm *form_of(Slots *slots, const Value *value);
/* *to += factor * other; false if that cannot be written, *to is then worth nothing. */
bool form_add(SlotForm *to, const SlotForm *other, int64_t factor);
/* Puts what is known about loops in place of the values that they carry: of those not the same all the time in `loop`,
 * or, with NULL, of all. False if it gets too long. */
bool form_expand(Slots *slots, SlotForm *form, const FlowLoop *loop);
/* True if the symbol is not the same in all iterations of the loop. */
static inline bool symbol_varies(const Symbol *symbol, const FlowLoop *loop) {
    return loop_holds(loop, symbol->home);
}
/* The step by which a carried value goes on each time, if that is a constant. */
bool carried_step(Slots *slots, const Value *argument, int64_t *step);
int64_t greatest_divisor(int64_t a, int64_t b);

#endif
