/* The IR: one module's operations, values, types, attributes and locations, in one arena.
 *
 * What is kept is what was written. Types and attributes are interned by their text, so that printing
 * one is copying its text, and two with the same handle are the same. A type may be written in several
 * ways (through an alias, or without its `!dialect.name`); `type_canonical` gives the one handle that
 * all of them share, and that is what comparisons of meaning use.
 *
 * Ops keep, besides their meaning, how they were spelled: which format of their row, which optional
 * parts (`choices`), which types at each place (`spelled`). An op made by Weir has none of that and is
 * printed in the first format of its row. */
#ifndef IR_IR_H
#define IR_IR_H

#include "base/arena.h"
#include "base/map.h"
#include "base/source.h"
#include "base/text.h"

typedef struct Attr Attr;
typedef struct Block Block;
typedef struct Module Module;
typedef struct Op Op;
typedef struct OpRow OpRow;
typedef struct Region Region;
typedef struct Type Type;
typedef struct Value Value;

/* ---- Types ---------------------------------------------------------------------------------- */

typedef enum TypeKind {
    TYPE_INTEGER, /* i32, si8, ui16: width, signedness */
    TYPE_FLOAT,   /* f32, bf16, f8E4M3FN: width */
    TYPE_INDEX,
    TYPE_NONE,
    TYPE_TENSOR,   /* dims, element, encoding */
    TYPE_VECTOR,   /* dims, element */
    TYPE_MEMREF,   /* dims, element */
    TYPE_COMPLEX,  /* element */
    TYPE_TUPLE,    /* parts */
    TYPE_FUNCTION, /* parts: first the inputs, then the results */
    TYPE_DIALECT,  /* !name<params>; a shaped one (memdesc, tensordesc, ptr) has dims and element too */
    TYPE_ALIAS,    /* !name, defined somewhere in the file */
} TypeKind;

enum { DIM_DYNAMIC = -1 };

struct Type {
    Str text;
    TypeKind kind;
    bool sugar;    /* mentions an alias, or is bare: the canonical type is another one */
    bool bare;     /* a dialect type written from its `<` on; the op knows its name */
    bool unranked; /* tensor<*x..> */
    char sign;     /* integers: 0, 's' or 'u' */
    uint16_t width;
    uint16_t dim_count, param_count, part_count, input_count;
    Str name; /* dialect types: "ttg.memdesc"; aliases: without the '!' */
    const int64_t *dims;
    const Type *element;  /* of a pointer: what it points to */
    const Attr *encoding; /* tensors; NULL if none */
    const Str *params;    /* dialect types: the texts between the commas of <...> */
    const Type *const *parts;
    /* Filled in when first asked for. */
    const Type *canonical, *bare_form, *as_i1, *as_i32, *pointee;
};

/* ---- Attributes ------------------------------------------------------------------------------ */

typedef enum AttrKind {
    ATTR_INTEGER, /* 4 : i32 */
    ATTR_FLOAT,   /* 1.0 : f32 */
    ATTR_BOOL,    /* true */
    ATTR_STRING,
    ATTR_UNIT,
    ATTR_SYMBOL,   /* @name or @a::@b */
    ATTR_TYPE,     /* a type as a value */
    ATTR_ARRAY,    /* [a, b]: items */
    ATTR_DICT,     /* {k = v}: entries */
    ATTR_INTS,     /* array<i32: 0, 1>, or [0, 1] in a format: ints */
    ATTR_DENSE,    /* dense<...> : T and its relatives */
    ATTR_DIALECT,  /* #name<body> */
    ATTR_ALIAS,    /* #name */
    ATTR_KEYWORD,  /* an enumeration's word in a format */
    ATTR_LOCATION, /* loc(...) */
    ATTR_OTHER,    /* affine_map<...> and the like: balanced text */
} AttrKind;

typedef struct NamedAttr {
    Str name;          /* without quotes */
    const Attr *value; /* a unit attribute written as a bare name has kind ATTR_UNIT and empty text */
} NamedAttr;

typedef enum LocationKind { LOC_UNKNOWN, LOC_FILE, LOC_NAME, LOC_CALLSITE, LOC_FUSED, LOC_ALIAS } LocationKind;

struct Attr {
    Str text;
    AttrKind kind;
    bool sugar; /* mentions an alias */
    bool exact; /* integers: the value fits `integer`; ints: every one does */
    LocationKind location;
    uint32_t count;   /* of items, entries or ints */
    const Type *type; /* as written after ':', or as the kind implies; NULL if none */
    Str name;         /* dialect and alias attributes; the file or name of a location */
    Str body;         /* dialect attributes: between < and > */
    union {
        int64_t integer; /* integers and booleans */
        const Attr *const *items;
        const NamedAttr *entries;
        const int64_t *ints;
        struct {
            uint32_t line, column;      /* LOC_FILE */
            const Attr *inner, *caller; /* LOC_NAME: inner; callsite: both; fused: inner, the first */
        };
    };
};

/* ---- Values, blocks, regions ----------------------------------------------------------------- */

/* A name as it stands in the file, `%` or `^` aside. One per distinct name of a module. */
typedef struct Name {
    Str text;
    /* What it means at the reader's current place. */
    void *bound; /* the first of `bound_count` values, or a block; NULL if nothing */
    uint32_t bound_count;
    uint32_t scope;
    bool reported; /* an error has been said about it already */
} Name;

struct Value {
    const Type *type; /* NULL: not known (the result of an op that the table does not know) */
    const Name *name; /* NULL: never named */
    void *owner;      /* Op if is_result, else Block */
    uint32_t index;   /* among its owner's results or arguments */
    uint16_t pack;    /* results: how many share the name, at the first one (`%a:3`), else 0; 1 if alone */
    bool is_result;
    bool counted; /* a single result written with its count: `%a:1` */
};

struct Block {
    Region *region;
    Block *next;
    Op *first, *last;
    Value *args;
    const Attr **arg_locations; /* NULL, or one (maybe NULL) per argument */
    const Name *label;          /* NULL: written without one */
    uint32_t arg_count;
    uint32_t offset; /* where its label stands in the source */
    uint32_t order;  /* its place in the region, from 0 */
};

struct Region {
    Op *op;
    Block *first, *last;
    uint32_t block_count;
};

/* ---- Operations ------------------------------------------------------------------------------ */

typedef enum OpForm {
    FORM_PRETTY,  /* a format of its row */
    FORM_GENERIC, /* "name"(...) */
    FORM_OPAQUE,  /* no row or no format fits: `text` is what was written */
} OpForm;

/* The written signature of a function op. */
typedef struct Function {
    uint32_t arg_count, result_count;
    const Type **arg_types, **result_types;
    const Attr **arg_attrs, **result_attrs; /* dictionaries or NULL; each array may be NULL */
    Str visibility;                         /* words before the name, as written */
    Block *declared_args;                   /* a declaration whose arguments have names; else NULL */
    bool named_args, arrow, result_parens, variadic;
} Function;

/* What few ops have. */
typedef struct OpExtra {
    const Type **spelled; /* types in the order in which they were written, where that is not what they are */
    uint32_t spelled_count;
    uint32_t successor_count;
    Block **successors;
    uint16_t *successor_sizes; /* pretty form: how many operands each successor is handed */
    Function *function;        /* functions only */
    Str text;                  /* opaque form */
    bool *odd_refs;            /* operands written `%a` for `%a#0`, or the other way round; NULL if none */
} OpExtra;

struct Op {
    const OpRow *row; /* NULL: not in the table */
    Str name;         /* as written, without quotes */
    Block *block;     /* NULL for an op at the top of the file */
    Op *prev, *next;
    Value **operands;
    Value *results;
    Region *regions;
    const Attr *dict;       /* {...}, or NULL */
    const Attr *properties; /* <{...}>, or NULL */
    const Attr **attrs;     /* pretty form: the row's attributes that the format wrote, by their index */
    const Attr *location;   /* loc(...), or NULL */
    uint16_t *segments;     /* operands per entry of the row's operand column; NULL: one an entry, or not known */
    OpExtra *extra;         /* NULL if it has nothing of that */
    uint64_t choices;       /* answers to the format's questions, first in bit 0 */
    uint32_t operand_count, result_count, region_count;
    uint32_t offset;       /* of its first character in the source */
    uint16_t result_slots; /* which entries of the row's result column are there */
    uint8_t format;        /* which format of the row */
    uint8_t choice_count;  /* 255: too many to keep; the printer decides by content */
    OpForm form : 8;
    bool result_names; /* the results were named */
    bool implicit;     /* stands in the IR but not in the text */
    bool shorthand;    /* written without its dialect (`module`) */
};

/* ---- The module ------------------------------------------------------------------------------ */

typedef enum ItemKind { ITEM_OP, ITEM_TYPE_ALIAS, ITEM_ATTR_ALIAS, ITEM_METADATA } ItemKind;

/* What stands at the top of a file, in order. */
typedef struct Item {
    struct Item *next;
    ItemKind kind;
    uint32_t offset;
    Str name; /* of an alias, with its '#' or '!' */
    union {
        Op *op;
        const Type *type;
        const Attr *attr;
        Str text; /* file metadata {-# ... #-} */
    };
} Item;

/* What a pass log says of a module's place in it. */
typedef struct Dumped {
    Str pass;    /* the command-line name of the pass before or after which it was written; empty: it is of no log */
    bool named;  /* the log writes passes as Triton does from 3.8 on */
    bool synced; /* a pass that inserts thread barriers has been there */
} Dumped;

struct Module {
    Arena arena;
    Source *source; /* not owned; must outlive the module */
    Item *first, *last;
    Op *last_op;                    /* of those at the top, which are linked like those of a block */
    Map types, attrs;               /* text as written -> Type, Attr */
    Map words;                      /* the same for attributes where a format names them: keywords, plain numbers */
    Map values, labels;             /* text -> Name */
    Map aliases;                    /* "#name" or "!name" -> Item */
    size_t op_count, unknown_count; /* unknown: opaque ops */
    Dumped dumped;
    bool column_zero;  /* some location has column 0: columns are counted from there */
    bool completed;    /* meetings of a cluster that a pass still has to insert were inserted */
    bool own_barriers; /* each CTA has its own of every mbarrier, also where a layout says that they share it */
    struct KernelProof *proofs; /* of its kernels, as far as they were asked for (check/prove); in the arena */
};

void module_init(Module *module, Source *source, size_t budget);
void module_free(Module *module);
/* Bytes that the module holds. */
size_t module_memory(const Module *module);

/* A type or attribute by its text, if it was seen. */
const Type *type_find(const Module *module, Str text);
const Attr *attr_find(const Module *module, Str text);
/* Enter a type or attribute built by the caller under `text` (and its own text, if that differs). */
const Type *type_enter(Module *module, Str text, Type *type);
const Attr *attr_enter(Module *module, Str text, Attr *attr);

/* The one handle for all spellings of a type; NULL while an alias in it is not defined. */
const Type *type_canonical(Module *module, const Type *type);
/* The type without its `!name`, as some formats write it. */
const Type *type_bare(Module *module, const Type *type);

/* How the generic form names a type that is not known; it agrees with all. */
#define UNKNOWN_TYPE "weir.unknown"

typedef enum Agreement { AGREE, DIFFER, LATER /* an alias is not defined yet */ } Agreement;
/* Whether two types mean the same. A type that is not known (NULL) agrees with all. */
Agreement type_agree(Module *module, const Type *a, const Type *b);
/* What an alias stands for, through aliases of aliases; the argument if it is none. */
const Type *type_resolve(Module *module, const Type *type);
const Attr *attr_resolve(Module *module, const Attr *attr);

/* Types made from others. NULL when there is no such type (the pointee of an i32). */
const Type *type_named(Module *module, const char *text); /* i1, i32, index, !ttg.async.token ... */
const Type *type_with_element(Module *module, const Type *shaped, const Type *element);
const Type *type_i1_like(Module *module, const Type *type);
const Type *type_i32_like(Module *module, const Type *type);
const Type *type_pointee(Module *module, const Type *type);
const Type *type_element(Module *module, const Type *type);
/* True for the dialect type of that name, under its old names too. */
bool type_is(const Type *type, Str name);
/* A descriptor of a tensor in memory, also one that im2col copies go by. */
bool type_is_descriptor(const Type *type);

/* The op's rarer parts, made if they are not there. */
OpExtra *op_extra(Module *module, Op *op);
static inline uint32_t op_successor_count(const Op *op) {
    return op->extra ? op->extra->successor_count : 0;
}
static inline const Function *op_function(const Op *op) {
    return op->extra ? op->extra->function : NULL;
}

/* An op's attribute by name, wherever it was written; NULL if absent. */
const Attr *op_attr(const Op *op, const char *name);
const Attr *dict_get(const Attr *dict, Str name);

/* The name of a function or another symbol, without its '@' and quotes; empty if it has none. */
Str op_symbol(const Op *op);

/* The first op of the text; NULL if there is none. */
Op *module_first_op(const Module *module);
/* Walk every op below `op`, outer before inner, in the order of the text. */
Op *op_next_in_walk(const Op *op, const Op *root);
/* The op whose region holds `op`; NULL at the top. */
Op *op_parent(const Op *op);

/* The operands of an entry of the row's operand column. */
Value **op_operands_at(const Op *op, unsigned slot, uint32_t *count);

Name *name_intern(Module *module, Map *map, Str text);
/* A place in one of the module's maps; out of memory is out of budget. */
void **module_put(Module *module, Map *map, Str key);

#endif
