/* A PTX module: a list of statements in the order of the text, and what they are made of.
 *
 * Everything is a number into one of the module's arrays: 24 bytes a statement, 16 an operand. Names are resolved: an
 * operand says which register, variable, function or label it is, and not how that is spelled. The text is kept beside
 * it: statement i has the characters from where the one before it ends to its own end, so that comments and blanks
 * belong to the statement behind them.
 *
 * Operands are trees, written down parent first: an address, a vector or a list says how many members it has, and how
 * many operands those take up altogether, so that it can be stepped over. */
#ifndef IR_PTX_MODULE_H
#define IR_PTX_MODULE_H

#include "base/arena.h"
#include "base/source.h"
#include "ir/ptx_rows.h"

typedef enum PtxKind {
    PTX_INSTRUCTION, /* `what` is its form; a guard is its first operand */
    PTX_LABEL,       /* `what` is its name */
    PTX_OPEN,        /* '{', of a function, a block or a section; `what` is its scope */
    PTX_CLOSE,
    PTX_END,       /* the ';' of a function that has no body */
    PTX_FUNCTION,  /* `what` is the function: up to the ')' of its parameters */
    PTX_PROTOTYPE, /* .callprototype; the same */
    PTX_VARIABLES, /* .reg, .global, ...: `what` is the first of `variables` of them */
    PTX_DIRECTIVE, /* `what` is its name: .version, .target, .reqntid, .pragma, .branchtargets, ... */
    PTX_LOC,       /* .loc: a line has no end but its last number */
    PTX_SECTION,   /* .section NAME; PTX_OPEN follows. Its labels and data are statements */
    PTX_DATA,      /* .b8, .b16, .b32 or .b64 in a section: `what` is that name */
    PTX_UNREAD,    /* of inline assembly, what cannot be read: `what` is its form, or PTX_NONE */
} PtxKind;

enum {
    PTX_GUARDED = 1, /* operand 0 is the guard */
    PTX_NEGATED = 2, /* `!` of the guard */
    PTX_HEADER = 4,  /* a directive between a function's parameters and its body: no ';' */
};

typedef struct PtxStatement {
    uint32_t begin, end; /* in the source, without blanks before; an inserted one has none, and both are 0 */
    uint32_t what;
    uint32_t first, count; /* operands, those of trees included; PTX_VARIABLES: `count` variables */
    uint8_t kind, flags;
} PtxStatement;

typedef enum PtxOperandKind {
    PTX_REGISTER, /* `a` is the variable, `value` which of its range */
    PTX_SPECIAL,  /* `a` is the row of the special register, `value` its number where it has one: %envreg3 */
    PTX_INTEGER,  /* `value` */
    PTX_SINGLE,   /* the bits of an f32, written as 0f... */
    PTX_DOUBLE,   /* the bits of an f64 */
    PTX_VARIABLE, /* `a` + `value` bytes */
    PTX_CALLEE,   /* function `a` */
    PTX_TARGET,   /* label: statement `a` */
    PTX_NAME,     /* name `a` + `value`: of a section's label, a tool's word or a number of bytes in debug sections */
    PTX_WORD,     /* name `a`, which is a word of the language: .managed, function_name, sm_90a */
    PTX_STRING,   /* name `a`, quotes included */
    PTX_SINK,     /* _ */
    PTX_EMPTY,    /* [] */
    /* with members */
    PTX_ADDRESS,    /* [base + value, members]; */
    PTX_VECTOR,     /* {a, b}; of an initializer, too */
    PTX_PAIR,       /* a|b */
    PTX_LIST,       /* (a, b) of a call */
    PTX_GENERIC,    /* generic(a) + value */
    PTX_MASKED,     /* 0xff00(a): `value` is the mask */
    PTX_DIFFERENCE, /* a - b of labels */
} PtxOperandKind;

/* Which part of a register: %tid.x, and the bytes and halves of video instructions. ORDER with ptx_part_names. */
typedef enum PtxPart {
    PTX_WHOLE,
    PTX_X,
    PTX_Y,
    PTX_Z,
    PTX_W,
    PTX_B0,
    PTX_B1,
    PTX_B2,
    PTX_B3,
    PTX_H0,
    PTX_H1,
    PTX_PARTS,
} PtxPart;
extern const char *const ptx_part_names[PTX_PARTS];

typedef struct PtxOperand {
    uint8_t kind;
    uint8_t part;           /* PtxPart; of registers */
    uint8_t negated : 1;    /* !%p */
    uint8_t not_signed : 1; /* PTX_INTEGER: it is an unsigned constant */
    /* PTX_ADDRESS: "+0" stands there, which is not the same to ptxas when it does not optimize; PTX_VARIABLE: the value
     * is written as an index, a[4] */
    uint8_t written : 1;
    uint8_t unified : 1; /* PTX_ADDRESS: ".unified" stands behind its brackets */
    uint32_t a;          /* with members: operands that they take up; see the kinds */
    union {
        int64_t value;
        uint64_t bits;
    };
} PtxOperand;
_Static_assert(sizeof(PtxOperand) == 16, "operands are small");

/* An opcode with its modifiers, once a module: "ld.global.b32". */
typedef struct PtxForm {
    Str text;               /* without blanks */
    const PtxRow *row;      /* NULL: the table does not have it */
    uint32_t used;          /* instructions */
    uint32_t writes;        /* operands that the row says are written: bit i is operand i, the guard not counted */
    uint32_t updates;       /* ... and those of them that are read before */
    PtxEvaluator evaluator; /* the row's */
    const struct PtxEffect *effects; /* the row's, of this form: ptx/effects.h has those of an instruction */
    unsigned effect_count;
} PtxForm;

typedef struct PtxVariable {
    Str shown;              /* a kernel's parameter: its name in the source (ptx_name_parameters); empty: not known */
    uint32_t name;          /* of a range, what stands before its numbers; PTX_NONE: a parameter without a name */
    uint32_t linkage;       /* name of .extern, .visible, .weak or .common; PTX_NONE */
    uint32_t space, type;   /* names: .reg, .u32; a type may be left out only with PTX_NONE */
    uint32_t vector;        /* name of .v2, .v4, .v8; PTX_NONE */
    uint32_t range;         /* registers of a range; 0: it is none */
    uint32_t align;         /* 0: not said */
    uint32_t pointer_space; /* .ptr .global: its name, or PTX_NONE; `pointer` says whether there is a .ptr */
    uint32_t pointer_align;
    uint32_t dimensions, dimension_count; /* operands */
    uint32_t initial, initial_count;      /* operands, all of them; 0 of them: not initialized */
    uint32_t attributes, attribute_count; /* operands of .attribute(...) */
    uint32_t scope;
    bool pointer, ranged;
    bool named;                                                /* `shown` is what its source says */
    enum { PTX_NOT_FORMAL, PTX_PARAMETER, PTX_RESULT } formal; /* of a function, or of a prototype */
    bool returned;                                             /* some call above has it as its result */
} PtxVariable;

typedef struct PtxFunction {
    uint32_t name;                                               /* PTX_NONE of a prototype */
    uint32_t linkage;                                            /* as of a variable */
    bool entry, body, listed;                                    /* listed: it has parentheses, if only empty ones */
    bool noreturn;                                               /* .noreturn */
    bool alias;                                                  /* .alias says which other function it is */
    uint32_t returns, return_count, parameters, parameter_count; /* variables */
    uint64_t parameter_bytes;                                    /* one behind the other */
    uint32_t begin, end;                                         /* statements: its header, and behind its last one */
    uint32_t instructions;                                       /* in it */
} PtxFunction;

typedef struct PtxScope {
    uint32_t parent; /* PTX_NONE: the module */
    uint32_t open;   /* statement */
} PtxScope;

/* What a name stands for while the text is read, and its text. */
typedef struct PtxName {
    Str text;
    uint32_t hash;
    uint32_t bound; /* variable or function, as bound_kind says (BindingKind of ptx/internal.h) */
    uint8_t bound_kind;
    bool label;       /* some label has it, in whatever scope */
    uint32_t stem;    /* the name without its number, + 1; 0: it was not looked for */
    uint32_t singles; /* of a prefix of registers: names with it and a number that are declared by themselves */
    uint32_t range;   /* the variable that is the range with this prefix, + 1 */
} PtxName;

enum { PTX_NONE = UINT32_MAX };

typedef struct PtxModule {
    Arena arena;
    Source *source;
    unsigned version;    /* 87 of 8.7 */
    uint32_t target;     /* name: sm_90a; PTX_NONE */
    unsigned capability; /* 90 of sm_90a */
    char variant;        /* 'a', 'f', or 0 */
    unsigned address_size;
    uint32_t instructions, without_row;
#define PTX_ARRAYS(ARRAY)           \
    ARRAY(PtxStatement, statements) \
    ARRAY(PtxOperand, operands)     \
    ARRAY(PtxForm, forms)           \
    ARRAY(PtxName, names)           \
    ARRAY(PtxVariable, variables)   \
    ARRAY(PtxFunction, functions)   \
    ARRAY(PtxScope, scopes)
#define PTX_ARRAY(T, name) \
    T *name;               \
    uint32_t name##_count, name##_capacity;
    PTX_ARRAYS(PTX_ARRAY)
#undef PTX_ARRAY
    bool named;  /* its parameters are (ptx_name_parameters) */
    size_t held; /* bytes of the arrays */
    /* Where all of its variables in global memory lie, one behind the other, in so many bytes; 0: not said. */
    uint64_t globals_at, globals_bytes;
} PtxModule;

/* ---- Looking at it ---- */

/* The operands without the guard. */
static inline const PtxOperand *ptx_operands(const PtxModule *module, const PtxStatement *statement, uint32_t *count) {
    uint32_t guard = statement->flags & PTX_GUARDED ? 1 : 0;
    *count = statement->count - guard;
    return module->operands + statement->first + guard;
}
/* How many operands a tree takes up, itself included; which is where the next one stands. */
static inline uint32_t ptx_extent(const PtxOperand *operand) {
    return operand->kind >= PTX_ADDRESS ? 1 + operand->a : 1;
}
/* How many operands an instruction has, the guard and the members of others not counted. */
static inline unsigned ptx_operand_count(const PtxModule *module, const PtxStatement *statement) {
    uint32_t count, all = 0;
    const PtxOperand *operands = ptx_operands(module, statement, &count);
    for (uint32_t i = 0; i < count; i += ptx_extent(&operands[i]))
        all++;
    return all;
}
/* The one at a place; NULL: there are not so many. */
static inline const PtxOperand *ptx_operand_at(const PtxModule *module, const PtxStatement *statement, unsigned place) {
    uint32_t count, i = 0;
    const PtxOperand *operands = ptx_operands(module, statement, &count);
    while (i < count && place--)
        i += ptx_extent(&operands[i]);
    return i < count ? &operands[i] : NULL;
}
/* Of a name, PTX_NONE being none. */
static inline Str ptx_name(const PtxModule *module, uint32_t name) {
    return name == PTX_NONE ? (Str){"", 0} : module->names[name].text;
}

#endif
