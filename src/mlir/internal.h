/* What the files of the reader share. */
#ifndef MLIR_INTERNAL_H
#define MLIR_INTERNAL_H

#include "ir/op.h"
#include "mlir/reader.h"

/* What is being put together: stacks that live as long as the Reader, and survive a jump out of it. */
#define READER_STACKS(STACK)                                                      \
    STACK(OperandRef, operands)                                                   \
    STACK(TypeNote, notes)                                                        \
    STACK(const Type *, spelled)                                                  \
    STACK(PendingArg, pending)                                                    \
    STACK(ResultName, names)                                                      \
    STACK(MlirUndo, undo)                                                         \
    STACK(MlirFixup, fixups)                                                      \
    STACK(LateCheck, late)                                                        \
    STACK(const Attr *, attrs)                                                    \
    STACK(NamedAttr, entries)                                                     \
    STACK(int64_t, ints)                                                          \
    STACK(const Type *, types)                                                    \
    STACK(Str, alias_keys) /* the keys of alias_uses, in the order of the text */ \
    STACK(Str, slices)                                                            \
    STACK(Successor, successors)                                                  \
    STACK(const Attr *, numbered_locations) /* loc(#locN) by N; NULL where not seen */

/* `%name` or `%name#2` in operand position, not yet looked up. */
typedef struct OperandRef {
    Name *name;
    uint32_t number; /* after '#' */
    uint32_t at;
    uint8_t slot;  /* of the row's operand column */
    bool numbered; /* written with '#' */
} OperandRef;

/* A type that the text gives to an operand or a result. */
typedef struct TypeNote {
    const Type *type;
    uint32_t at;
    SlotRef slot;   /* column REF_NONE with `flat`: counted over all of the column */
    uint32_t index; /* within the slot */
    bool flat, of_result;
} TypeNote;

/* An argument of the region that comes next. */
typedef struct PendingArg {
    Name *name;
    const Type *type;
    const Attr *location;
    uint32_t at;
    bool of_operand; /* its type is that of operand `index` of entry `slot` */
    uint8_t slot;
    uint32_t index;
} PendingArg;

/* `%a`, `%b:2` before an op's '='. */
typedef struct ResultName {
    Name *name;
    uint32_t count;
    uint32_t at;
    bool counted;
} ResultName;

/* How to take back a binding when its region ends. */
typedef struct MlirUndo {
    Name *name;
    void *bound;
    uint32_t bound_count, scope;
} MlirUndo;

/* An operand that was not defined yet when it was used. */
typedef struct MlirFixup {
    Op *op;
    uint32_t operand;
    OperandRef ref;
    const Type *type; /* what the use says; NULL if nothing */
} MlirFixup;

/* Two types to compare when all aliases are known. */
typedef struct LateCheck {
    const Type *wanted, *found;
    const Name *name;
    uint32_t at;
} LateCheck;

/* A block that an op may go to. */
typedef struct Successor {
    Block *block;
    uint16_t operands; /* how many it is handed */
} Successor;

enum {
    READ_AHEAD = 8, /* bytes behind the text that may be looked at */
    ROW_CACHE = 256,
};
typedef struct RowCache {
    Str name;
    const OpRow *row;
} RowCache;

typedef struct MlirReader {
    Module *module;
    Source *source;
    Diagnostics *diagnostics;
    ReadOptions options;
    const char *p, *end;          /* *end is zero, so that no scan needs to ask for the end at each step */
    const char *base;             /* the text that stands at ... */
    size_t base_offset;           /* ... this offset of the source */
    const char *op_start;         /* where the op at hand starts */
    bool failed;                  /* the op at hand has been reported; only a retry at the next op helps */
    const char *far;              /* how far a format got before it did not fit, */
    const char *expected;         /* and what would have had to stand there */
    unsigned depth;               /* of regions */
    uint32_t scope, last_scope;   /* values are visible within one scope: an isolated region */
    uint32_t labels, last_labels; /* blocks are visible within one region */
    Map alias_uses;               /* "#name" -> place of its first use, as an offset + 1 */
    Arena stacks;
#define STACK(T, name)            \
    struct {                      \
        T *items;                 \
        uint32_t count, capacity; \
    } name;
    READER_STACKS(STACK)
#undef STACK
    Name *recent_names[1 << 10];
    RowCache rows[ROW_CACHE];
    const Type *fixed[MAX_FIXED_TYPES]; /* by Slot.fixed; NULL until asked for */
    const Attr *dict_guess[OP_MOST];    /* the dictionary that the last op of the kind had */
    const Type *result_guess[OP_MOST];  /* the type that the last op of the kind had as its result */
    bool quiet;                         /* trying something: report nothing */
    const char *too_deep;               /* balanced_end: where there were more brackets than may be; else NULL */
    bool brackets_broken;               /* a bracket was reported: where regions end cannot be told any more */
    bool odd_types; /* make_operands: some type was written otherwise than where its value is defined */
} MlirReader;

#define PUSH(r, stack) (*ARENA_PUSH(&(r)->stacks, (stack).items, (stack).count, (stack).capacity))
/* What was pushed since the mark goes into the module, where it is returned. */
#define KEEP(r, stack, mark) keep_items((r), (stack).items + (mark), sizeof *(stack).items, &(stack).count, (mark))

static inline uint32_t offset_of(const MlirReader *r, const char *at) {
    return (uint32_t)((size_t)(at - r->base) + r->base_offset);
}

static inline const char *text_at(const MlirReader *r, uint32_t offset) {
    return r->base + (offset - r->base_offset);
}

/* The place of an attribute of the op's row. */
static inline const Attr **attr_place(MlirReader *r, Op *op, unsigned index) {
    if (!op->attrs)
        op->attrs = ARENA_ARRAY(&r->module->arena, const Attr *, op->row->attr_count);
    return &op->attrs[index];
}

/* ---- reader.c ---- */
/* Report an error; always false. */
bool fail(MlirReader *r, const char *at, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The same for a zero byte in the text, which ends it there. */
bool fail_at_zero(MlirReader *r, const char *at);
void note(MlirReader *r, const char *at, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Remember that `expected` would have had to stand here; always false. */
bool mismatch(MlirReader *r, const char *expected);
void *keep_items(MlirReader *r, const void *items, size_t size, uint32_t *count, uint32_t mark);
/* One more in the file, at its end. */
Item *add_item(MlirReader *r, ItemKind kind, uint32_t at);
/* Make place for one more region of an op. */
Region *add_region(MlirReader *r, Op *op);

/* ---- scan.c: words and brackets ---- */
enum { CLASS_DIGIT = 1, CLASS_LETTER = 2, CLASS_ID = 4, CLASS_SUFFIX = 8, CLASS_SPACE = 16 };
extern const uint8_t char_class[256];
static inline bool is_class(char c, int class) {
    return (char_class[(unsigned char)c] & class) != 0;
}
void skip_comment(MlirReader *r);
static inline void skip_space(MlirReader *r) {
    for (;;) {
        while (is_class(*r->p, CLASS_SPACE))
            r->p++;
        if (*r->p != '/' || r->p[1] != '/')
            return;
        skip_comment(r);
    }
}
/* Skip spaces; then whether this character, or this word or punctuation, comes next. */
static inline bool next_is(MlirReader *r, char c) {
    skip_space(r);
    return *r->p == c;
}
static inline bool next_is_text(MlirReader *r, Str text) {
    skip_space(r);
    if (*r->p != *text.data || (size_t)(r->end - r->p) < text.size || memcmp(r->p, text.data, text.size) != 0)
        return false;
    return !is_class(text.data[text.size - 1], CLASS_ID) || !is_class(r->p[text.size], CLASS_ID);
}
/* As above, and step over it. */
static inline bool take(MlirReader *r, char c) {
    if (*r->p != c && !next_is(r, c))
        return false;
    r->p++;
    return true;
}
static inline bool take_text(MlirReader *r, Str text) {
    if (!next_is_text(r, text))
        return false;
    r->p += text.size;
    return true;
}
/* Whether the next character, to which spaces have been skipped, is the first of its line. */
static inline bool first_on_line(const MlirReader *r) {
    const char *at = r->p;
    while (at > r->base && (at[-1] == ' ' || at[-1] == '\t'))
        at--;
    return at == r->base || at[-1] == '\n';
}
/* `loc(` */
static inline bool location_follows(MlirReader *r) {
    skip_space(r);
    return r->p[0] == 'l' && r->p[1] == 'o' && r->p[2] == 'c' && r->p[3] == '(';
}
/* A bare identifier, or empty. */
static inline Str take_id(MlirReader *r) {
    skip_space(r);
    const char *start = r->p;
    if (is_class(*r->p, CLASS_LETTER))
        while (is_class(*r->p, CLASS_ID))
            r->p++;
    return str_between(start, r->p);
}
/* What follows %, ^, # or !: a number or a name that does not start with a digit; else empty. */
static inline Str take_suffix(MlirReader *r) {
    const char *start = r->p;
    bool number = is_class(*start, CLASS_DIGIT);
    int class = number ? CLASS_DIGIT : CLASS_SUFFIX;
    while (is_class(*r->p, class))
        r->p++;
    if (number && is_class(*r->p, CLASS_LETTER))
        r->p = start;
    return str_between(start, r->p);
}
bool take_number(MlirReader *r, int64_t *value);
/* The end of the string, or of the bracketed text, that starts at `at`. NULL, with an error, if it has none. */
const char *string_end(MlirReader *r, const char *at);
const char *balanced_end(MlirReader *r, const char *at);
/* A slice as it is kept: without line ends and comments. */
Str tidy(MlirReader *r, Str text);
/* Remember uses of aliases in a slice; true if there are any. */
bool note_aliases(MlirReader *r, Str text);

/* ---- types.c ---- */
/* NULL if no type stands here (mismatch) or it is malformed (error). */
const Type *read_type(MlirReader *r);
/* The same, or a bare `<...>` of dialect type `name`. */
const Type *read_type_of(MlirReader *r, Str name);
/* The same when the type is likely to be `guess`: it is then known by a glance at the text. */
const Type *read_type_like(MlirReader *r, const Type *guess);
/* The type of what a reference stands for now; NULL if that is not known. */
const Type *type_of_ref(const MlirReader *r, const OperandRef *ref);

/* ---- attributes.c ---- */
const Attr *read_attr(MlirReader *r, bool typed);
const Attr *read_dict(MlirReader *r); /* at '{' */
/* The same when it is likely to be that which the last op of the kind had. */
const Attr *read_dict_of(MlirReader *r, const Op *op);
const Attr *read_attr_for(MlirReader *r, const Slot *slot);
bool attr_may_start(MlirReader *r, const Slot *slot);
const Attr *make_ints(MlirReader *r, const char *type, const int64_t *ints, uint32_t count);
/* An attribute of its own text, which is freed, that stands for these numbers. */
const Attr *make_int_list(MlirReader *r, Text *text, const int64_t *ints, uint32_t count);
const Attr *make_attr(MlirReader *r, AttrKind kind, Str text);
Attr *new_attr(MlirReader *r, AttrKind kind);
/* Under its text, from `start` to where the reader is. */
const Attr *enter_attr(MlirReader *r, const char *start, Attr *attr);

/* ---- locations.c ---- */
const Attr *read_location(MlirReader *r); /* at `loc(` */

/* ---- scope.c: names and what they mean ---- */
bool bind_values(MlirReader *r, Name *name, Value *first, uint32_t count, uint32_t at);
bool read_operand_ref(MlirReader *r, OperandRef *ref);
/* The value, or NULL with a fixup made for operand `operand` of `op`. False: an error. */
bool resolve(MlirReader *r, OperandRef ref, Op *op, uint32_t operand, const Type *type);
/* An operand's type against what the text or the table says. */
bool check_type(MlirReader *r, const Type *wanted, const Type *found, const Name *name, uint32_t at);
bool settle_late_checks(MlirReader *r);
/* A region's names: everything bound since the mark goes. `closed`: nothing outside can be meant. */
bool leave_region(MlirReader *r, const Region *region, uint32_t undo_mark, uint32_t fixup_mark, bool closed);
Block *block_named(MlirReader *r, Region *region, Name *label, uint32_t at);

/* ---- regions.c ---- */
/* `{ ... }` with the arguments pending since the mark; `closed` hides outside names. */
bool read_region(MlirReader *r, Op *op, Region *region, uint32_t pending_mark, bool closed);
bool read_block_args(MlirReader *r); /* `(%a: T, ...)` onto the pending stack */

/* ---- operation.c ---- */
/* Reads one op and appends it to the block, or to the top if that is NULL. */
bool read_op(MlirReader *r, Block *block);
void append_op(MlirReader *r, Block *block, Op *op);
/* The op's operands, from the refs pushed since the mark, in the order of the row's column; with the
 * types that the text gives them (notes since the other mark). */
bool make_operands(MlirReader *r, Op *op, uint32_t operand_mark, uint32_t note_mark);
/* Its results, bound to the names pushed since the mark. */
bool make_results(MlirReader *r, Op *op, uint32_t name_mark, const Type *const *types, uint32_t count);
void keep_successors(MlirReader *r, Op *op, uint32_t successor_mark);
/* Keeps the types as they were spelled, if that is not what the operands have (`odd_types`, as make_operands found);
 * and compares those that were written after the operands were made (notes from `checked` on). */
bool settle_notes(MlirReader *r, Op *op, bool odd_types, uint32_t checked, uint32_t spelled_mark);

/* ---- pretty.c: an op in a format of its row ---- */
typedef struct Draft {
    Op *op;
    const OpRow *row;
    const Format *format;
    uint32_t operand_mark, note_mark, spelled_mark, pending_mark, name_mark, successor_mark;
    uint32_t checked; /* notes up to here have been compared with the operands */
    uint64_t present; /* optional results that the text says are there */
    bool committed;   /* operands are made: what comes now must fit */
    bool odd_types;
} Draft;
bool read_pretty(MlirReader *r, Op *op, const Format *format, uint32_t name_mark);
void add_choice(Draft *draft, unsigned value, unsigned bits);
bool commit(MlirReader *r, Draft *draft);
bool read_next_region(MlirReader *r, Draft *draft, bool closed);

/* ---- structure.c: the directives that read regions in words of their own ---- */
bool read_function(MlirReader *r, Draft *draft);
bool read_partitions(MlirReader *r, Draft *draft, bool specialized);
bool read_cases(MlirReader *r, Draft *draft, unsigned slot);

/* ---- generic.c, opaque.c: the other two forms ---- */
bool read_generic(MlirReader *r, Op *op, uint32_t name_mark);
bool read_opaque(MlirReader *r, Op *op, const char *start, uint32_t name_mark);
/* Where the op that starts at `at` ends, by brackets and lines alone. */
const char *op_extent(MlirReader *r, const char *at);
/* The same by indentation, where the brackets do not match: as far as the lines go that stand further right, and
 * with the brace that closes its region, if one stands right below it. */
const char *extent_by_indent(const MlirReader *r, const char *start);
/* Whether what follows could start an op, or end the region. */
bool at_op_boundary(MlirReader *r);
/* `%a, %b:2 =`: the start of another op, not an operand. */
bool looks_like_results(const char *at);

/* ---- check.c: what the table says of types and counts ---- */
/* `operand_mark`: where the op's operands stand on the stack of references. */
bool check_op(MlirReader *r, Op *op, uint32_t operand_mark);
/* What the op's regions hand over at their ends, against its results. */
bool check_yields(MlirReader *r, Op *op);
/* What a branch hands over, against the arguments of the blocks it goes to, which must be there. */
bool check_branches(MlirReader *r, const Op *op);
/* The type a result has by its rule; NULL if the rule tells none. */
const Type *type_by_rule(MlirReader *r, const Op *op, const Slot *slot, uint32_t index);

#endif
