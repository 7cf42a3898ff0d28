/* What the files of the effect model share: the words, and a row's EFFECTS column taken apart. */
#ifndef MODEL_EFFECT_INTERNAL_H
#define MODEL_EFFECT_INTERNAL_H

#include "model/effect/effect.h"

/* The words of each enumeration, in its order; NULL for one that is never written. A row's column and a printed effect
 * use the same. */
extern const char *const effect_verb_words[];
extern const char *const effect_space_words[];
extern const char *const effect_proxy_words[];
extern const char *const effect_order_words[];
extern const char *const effect_scope_words[];
extern const char *const effect_group_words[];
extern const char *const effect_done_words[];
extern const char *const effect_helper_words[];
extern const char *const effect_side_words[];
extern const char *const effect_atomic_words[];

/* The place of a word among `words`, or -1. */
int effect_word(const char *const *words, size_t count, Str word);
/* The member of Effect that a word stands for which nothing follows, a bool; -1 if it is no such word. */
long effect_flag(Str word);
/* An Order or Scope by its name, LLVM's names and AMD's included; -1 if it is none. */
int effect_find_order(Str word);
int effect_find_scope(Str word);
/* An AtomicKind by its name; ATOMIC_OTHER if it is none. */
AtomicKind effect_find_atomic(Str word);

typedef enum Field {
    FIELD_SPACE,
    FIELD_MEMORY, /* the space that the type of `on` names */
    FIELD_PROXY,
    FIELD_ORDER,
    FIELD_SCOPE,
    FIELD_DONE,
    FIELD_GROUP,
    FIELD_HELPER,
    FIELD_SIDE,
    FIELD_COUNT,
    FIELD_PREDICATE,
    FIELD_COMPARE,
    FIELD_ACTION,
    FIELD_ORDERS,
    FIELD_LIKE,
    /* `number` is the member of Effect */
    FIELD_FLAG,
    FIELD_VALUE,
    FIELD_LIST,
    FIELD_MASK, /* of ranks */
} Field;

typedef struct Test {
    SlotRef of;
    Str value; /* empty: it is there, and not false */
    bool negated;
    bool alternative; /* "or": this one or those before it */
} Test;

/* Tests stand beside each other in the column's own array. */
typedef struct Tests {
    uint16_t first, count;
} Tests;

typedef struct EffectSetting {
    Field field;
    SlotRef from;   /* REF_NONE: `number` */
    int64_t number; /* or a value of the field's enumeration, or the offset of a member of Effect */
    Tests tests;
} EffectSetting;

typedef struct Clause {
    EffectVerb verb;
    bool assembly; /* what the text of inline assembly says, and `verb` if that is not known */
    bool external; /* a function of a library: nothing if it is certainly pure, else `verb` */
    SlotRef on;
    uint16_t first, count; /* settings */
    Tests tests;
} Clause;

typedef struct Column {
    Clause *clauses;
    EffectSetting *settings;
    Test *tests;
    uint16_t clause_count, setting_count, test_count;
} Column;

/* The column of a row, taken apart when it is first asked for. */
const Column *effect_column_of(const OpRow *row);

static inline bool effect_ref_is_value(SlotRef ref) {
    return ref.column == REF_OPERAND || ref.column == REF_RESULT;
}

#endif
