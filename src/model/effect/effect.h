/* What an op does to memory and to time, in one vocabulary.
 *
 * A row of the op table says it in words (its EFFECTS column, read by effect_column); `effects_of` turns the words into
 * effects on the values of one op. Code that asks what an op does (the emulator, an analysis, a printer) knows effects
 * and nothing of op names. docs/effects.md explains the words. */
#ifndef MODEL_EFFECT_EFFECT_H
#define MODEL_EFFECT_EFFECT_H

#include "base/consistency.h"
#include "ir/ir.h"
#include "ir/optable.h"

/* verbs.def has what each is for. */
typedef enum EffectVerb {
#define VERB(id, word, columns, known_by) EFFECT_##id,
#include "model/effect/verbs.def"
#undef VERB
    EFFECT_VERBS
} EffectVerb;
#define EFFECT_OP_VERBS (EFFECT_AWAIT_LAUNCHES + 1) /* those that the rows of ops have */
_Static_assert((int)EFFECT_READ == (int)KIND_READ && (int)EFFECT_WRITE == (int)KIND_WRITE &&
                   (int)EFFECT_UPDATE == (int)KIND_UPDATE,
               "the verb of an access is its kind");

/* The columns of verbs.def. */
enum { VERB_ACCESS = 1, VERB_BARRIER = 2, VERB_SYNCS = 4, VERB_LIFE = 8, VERB_QUIET = 16 };
extern const uint8_t effect_verb_columns[EFFECT_VERBS];
/* Whether one of those columns has it. */
static inline bool verb_is(EffectVerb verb, unsigned columns) {
    return effect_verb_columns[verb] & columns;
}

typedef enum Space { SPACE_NONE, SPACE_SHARED, SPACE_TENSOR, SPACE_GLOBAL } Space;

/* When an access is over, or an arrival made. */
typedef enum Completion {
    DONE_NOW,
    DONE_TX,     /* the bytes count on the mbarrier `through` */
    DONE_GROUP,  /* a later wait for `group` */
    DONE_COMMIT, /* a later tcgen05 commit of the issuer; the arrival of such a commit: when all its earlier work is
                    done */
    DONE_COPIES, /* an arrival when the issuer's earlier cp.async are done */
    DONE_TOKEN,  /* the agent that waits for the op's token result */
    DONE_END,    /* nothing can wait for it: at the end of the CTA. PTX alone */
} Completion;

typedef enum GroupKind {
    GROUP_NONE,
    GROUP_CP_ASYNC,
    GROUP_BULK,
    GROUP_WGMMA,
    GROUP_TMA_STORE,
    GROUP_AMD_ASYNC,
    GROUP_AMD_TENSOR,
    GROUP_TENSOR_LOAD, /* tcgen05.ld and .st: each by itself, without a commit. PTX alone */
    GROUP_TENSOR_STORE,
    GROUP_KINDS
} GroupKind;
#define GROUP_OP_KINDS (GROUP_AMD_TENSOR + 1) /* those that ops have */

/* Who performs it: the thread itself, or one of its helpers. */
typedef enum Helper { HELPER_BASE, HELPER_TMA, HELPER_TENSOR, HELPER_CLC, HELPER_KINDS } Helper;

/* A token and an aref are two rings of mbarriers each. */
typedef enum Side { SIDE_NONE, SIDE_FULL, SIDE_EMPTY } Side;

/* Operands that stand beside each other. */
typedef struct ValueList {
    Value *const *items;
    uint32_t count;
} ValueList;

/* What an update makes of what is there. Those from ATOMIC_AND on are emulated only where memory is kept. */
typedef enum AtomicKind {
    ATOMIC_NONE,
    ATOMIC_ADD,
    ATOMIC_EXCHANGE,
    ATOMIC_CAS, /* `value`, if `compare` is there */
    ATOMIC_AND,
    ATOMIC_OR,
    ATOMIC_XOR,
    ATOMIC_MAXIMUM,
    ATOMIC_MINIMUM,
    ATOMIC_MAXIMUM_UNSIGNED,
    ATOMIC_MINIMUM_UNSIGNED,
    ATOMIC_INCREMENT, /* until it is the operand, then 0 */
    ATOMIC_DECREMENT, /* 0, or more than the operand: the operand */
    ATOMIC_OTHER,     /* not said, or of floats: the result is not known */
} AtomicKind;

enum { EFFECT_MOST_LIKE = 4 };

typedef struct Effect {
    EffectVerb verb;
    Space space;
    Proxy proxy;
    Order order;
    Scope scope;
    Completion done;
    GroupKind group;
    Helper helper;
    Side side;
    bool inverted;     /* wait: for the opposite of `amount` */
    bool per_thread;   /* arrive: `count` for each thread of the partition */
    bool no_increment; /* arrive when copies are done: not announced beforehand */
    bool relaxed;
    bool sources;       /* await: the sources may be reused, the destinations are not there yet */
    bool on_descriptor; /* the access goes through the tensor descriptor `on`: its tile at the coordinates `at` */
    const Value *on;
    const Value *amount;
    const Value *through;
    const Value *predicate; /* NULL: always */
    const Value *slot;      /* tokens and arefs: which of the ring; NULL: none was said */
    int64_t count;          /* -1: what `amount` says, and that is not a constant */
    int64_t number;         /* of a named barrier that assembly names with a number */
    /* What fewer effects have. */
    const Value *second_predicate; /* both must hold; NULL: there is one at most */
    const Value *mask;             /* of the elements of an access that are touched at all; NULL: every one */
    const Value *rank;             /* the CTA of the cluster whose memory it is; NULL: the issuer's own */
    int64_t from_ctas, to_ctas;    /* masks of the bits of a CTA's rank: who does it, who gets it; 0: each its own */
    uint8_t spaces;                /* bit (1 << Space) for each space whose accesses it orders; of a fence, 0: all */
    bool per_warp;                 /* arrive: `count` for each warp of the partition */
    bool multicast;                /* in several CTAs of the cluster: those that have the same part of `like` */
    bool pair;                     /* by two CTAs together */
    bool from_some;                /* `from_ctas` was said: 0 is then the first CTA of the cluster alone */
    bool repeats;                  /* an access of inline assembly, again and again: see InlineAccess.until */
    const Value *like[EFFECT_MOST_LIKE]; /* multicast: memory whose layout says who; none: that is said otherwise */
    uint8_t like_count;                  /* more than there is room for: EFFECT_MOST_LIKE + 1 */
    int64_t offset;                      /* of an access: bytes from where `on` points to where it begins */
    int64_t element_bytes;               /* at each place that `on` points to; 0: what the type of `on` says */
    /* The place of an access: lists of the op's operands, and of a gather or scatter its rows. */
    ValueList at;      /* coordinates of a tile */
    ValueList offsets; /* elements from `on` on; of a tile, those of im2col */
    const Value *rows;
    const Value *end;   /* the memory of the CTA that is at the other end of a copy */
    const Value *boxes; /* complete: the bytes come in whole boxes of this descriptor */
    /* The data of an access in registers; NULL: it has none, or that goes elsewhere. */
    const Value *value;     /* what is written, or what an update is made with */
    const Value *compare;   /* update: what has to be there */
    const Value *otherwise; /* what is given where `mask` is false */
    const Value *expected;  /* read: again and again, until it finds this */
    const Value *gives;     /* the result that is what was there; with `expected`, whether that came */
    AtomicKind atomic;      /* update */
    bool gives_up;          /* with `expected`: after a while */
} Effect;

/* Whether it touches memory; that of a CTA: shared or tensor memory. */
static inline bool effect_is_access(const Effect *effect) {
    return effect->verb <= EFFECT_UPDATE; /* the kinds of accesses come first */
}
static inline bool effect_is_local(const Effect *effect) {
    return effect_is_access(effect) && effect->on && (effect->space == SPACE_SHARED || effect->space == SPACE_TENSOR);
}
/* Whether it is about an mbarrier, or one side of a token or an aref. */
static inline bool effect_is_barrier(const Effect *effect) {
    return verb_is(effect->verb, VERB_BARRIER);
}
/* Whether it is a fence by which a relaxed arrival after it releases to the cluster what was done before it. */
static inline bool effect_releases_to_cluster(const Effect *effect) {
    return effect->verb == EFFECT_FENCE_ORDER && effect->scope >= SCOPE_CLUSTER && order_releases(effect->order);
}
/* Whether it is about a barrier of the hardware that has a number. */
static inline bool effect_is_named(const Effect *effect) {
    return effect->verb == EFFECT_NAMED_ARRIVE || effect->verb == EFFECT_NAMED_SYNC;
}

/* Of such a barrier: its number, and for how many threads it is (0: all of the CTA), if a constant or the text says so.
 */
bool effect_named_id(const Effect *effect, int64_t *id);
bool effect_named_threads(const Effect *effect, int64_t *threads);

enum { EFFECTS_MOST = 48 };

/* The effects of `op`, in the order in which they happen; at most EFFECTS_MOST. An op without effects has none; an op
 * that is not in the table, or is of opaque form, has the one effect EFFECT_ANYTHING, unless it is certainly harmless
 * (unknown.h). `module` resolves aliases. */
unsigned effects_of(Module *module, const Op *op, Effect *effects);
/* Whether one of the effects of the op (NULL: none) is such. */
bool op_any_effect(Module *module, const Op *op, bool (*is)(const Effect *effect));

/* The first of them with that verb; NULL if there is none. */
const Effect *effects_find(const Effect *effects, unsigned count, EffectVerb verb);
/* Whether the op has an effect of that verb, and of that kind of group. */
bool op_has_effect(Module *module, const Op *op, EffectVerb verb, GroupKind group);

/* As text, for people: "write %a shared async, completes on %bar". */
void effect_print(const Effect *effect, Text *to);
const char *effect_verb_name(EffectVerb verb);
/* "acq_rel", "gpu"; "no" for none. */
const char *effect_order_name(Order order);
/* Of an AccessKind, or the verb of an access: "reads", "read". */
const char *effect_access_verb(unsigned kind);
const char *effect_access_noun(unsigned kind);
const char *effect_scope_name(Scope scope);
/* NULL if the EFFECTS column of every row is well-formed, else a sentence about the first that is not. For tests. */
const char *effect_table_problem(void);
/* The same for one text that a row might have: "" if it is well-formed. For tests. */
enum { EFFECT_PROBLEM_SIZE = 256 };
void effect_column_check(const OpRow *row, const char *column, char found[EFFECT_PROBLEM_SIZE]);

#endif
