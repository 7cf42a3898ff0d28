/* What the files of the PTX reader share. */
#ifndef PTX_INTERNAL_H
#define PTX_INTERNAL_H

#include "base/map.h"
#include "ptx/reader.h"

/* Words that directives start with, in the order of their names, which are the first of each module's. The second
 * column is the function that reads on behind the word; those without one start nothing. */
#define PTX_WORDS(WORD)                                               \
    WORD(loc, ".loc", read_loc)                                       \
    WORD(b8, ".b8", read_data)                                        \
    WORD(b16, ".b16", read_data)                                      \
    WORD(b32, ".b32", read_data)                                      \
    WORD(b64, ".b64", read_data)                                      \
    WORD(reg, ".reg", read_variables)                                 \
    WORD(param, ".param", read_variables)                             \
    WORD(global, ".global", read_variables)                           \
    WORD(shared, ".shared", read_variables)                           \
    WORD(const, ".const", read_variables)                             \
    WORD(local, ".local", read_variables)                             \
    WORD(tex, ".tex", read_variables)                                 \
    WORD(extern, ".extern", read_linkage)                             \
    WORD(visible, ".visible", read_linkage)                           \
    WORD(weak, ".weak", read_linkage)                                 \
    WORD(common, ".common", read_linkage)                             \
    WORD(entry, ".entry", read_defined)                               \
    WORD(func, ".func", read_defined)                                 \
    WORD(version, ".version", read_version)                           \
    WORD(target, ".target", read_target)                              \
    WORD(address_size, ".address_size", read_address_size)            \
    WORD(file, ".file", read_file)                                    \
    WORD(section, ".section", read_section)                           \
    WORD(pragma, ".pragma", read_pragma)                              \
    WORD(alias, ".alias", read_alias)                                 \
    WORD(callprototype, ".callprototype", read_prototype)             \
    WORD(branchtargets, ".branchtargets", read_targets)               \
    WORD(calltargets, ".calltargets", read_targets)                   \
    WORD(reqntid, ".reqntid", read_numbers)                           \
    WORD(maxntid, ".maxntid", read_numbers)                           \
    WORD(maxnctapersm, ".maxnctapersm", read_numbers)                 \
    WORD(minnctapersm, ".minnctapersm", read_numbers)                 \
    WORD(maxnreg, ".maxnreg", read_numbers)                           \
    WORD(maxclusterrank, ".maxclusterrank", read_numbers)             \
    WORD(reqnctapercluster, ".reqnctapercluster", read_numbers)       \
    WORD(explicitcluster, ".explicitcluster", read_numbers)           \
    WORD(blocksareclusters, ".blocksareclusters", read_numbers)       \
    WORD(noreturn, ".noreturn", read_numbers)                         \
    WORD(abi_preserve, ".abi_preserve", read_numbers)                 \
    WORD(abi_preserve_control, ".abi_preserve_control", read_numbers) \
    WORD(align, ".align", NULL)                                       \
    WORD(ptr, ".ptr", NULL)                                           \
    WORD(attribute, ".attribute", NULL)                               \
    WORD(warp_size, "WARP_SZ", NULL)                                  \
    WORD(generic, "generic", NULL)                                    \
    WORD(function_name, "function_name", NULL)                        \
    WORD(inlined_at, "inlined_at", NULL)

/* Types of registers and variables: names, behind the words. Those that only instructions have are none of them. */
#define PTX_TYPES(TYPE) \
    TYPE(pred)          \
    TYPE(b8)            \
    TYPE(b16)           \
    TYPE(b32)           \
    TYPE(b64)           \
    TYPE(b128)          \
    TYPE(u8)            \
    TYPE(u16)           \
    TYPE(u32)           \
    TYPE(u64)           \
    TYPE(s8)            \
    TYPE(s16) TYPE(s32) TYPE(s64) TYPE(f16) TYPE(f16x2) TYPE(f32) TYPE(f64) TYPE(texref) TYPE(samplerref) TYPE(surfref)

typedef enum WordName {
#define WORD(id, text, read) WORD_##id,
    PTX_WORDS(WORD)
#undef WORD
        WORD_COUNT,
} WordName;

enum {
#define TYPE(name) +1
    TYPE_COUNT = PTX_TYPES(TYPE)
#undef TYPE
};

typedef enum BindingKind { BOUND_NOTHING, BOUND_VARIABLE, BOUND_FUNCTION, BOUND_FILE } BindingKind;

/* How to take back a declaration when its scope ends. */
typedef enum UndoKind { UNDO_BINDING, UNDO_RANGE, UNDO_SINGLE } UndoKind;
typedef struct Undo {
    uint32_t name, bound;
    uint8_t kind, bound_kind;
} Undo;

/* A name that was not declared when it was used: a label further down, or a mistake. */
typedef struct Fixup {
    uint32_t operand, scope, at;
    enum { WANTED_ANY, WANTED_LABEL, WANTED_TABLE, WANTED_NONE } wanted; /* the label of which statement may be meant */
} Fixup;

typedef struct LabelSlot {
    uint32_t name, scope, statement; /* name: + 1; 0 is a free slot */
} LabelSlot;
typedef TABLE_OF(LabelSlot) LabelTable;

/* Names or forms of the module by their texts: their numbers, + 1. */
typedef struct NumberTable {
    uint32_t *items;
    uint32_t count, capacity;
    const PtxModule *module;
} NumberTable;

/* A prefix of registers, "%rd", up to eight characters of it as one number. */
enum { PREFIXES = 64, MOST_DEPTH = 200 };
typedef struct Prefix {
    uint64_t key;
    uint32_t name;
} Prefix;

/* What is to be looked at in one operand of a form. */
typedef struct OperandFacts {
    bool typed;    /* the row says its type */
    bool written;  /* it is a destination */
    bool sink;     /* and '_' will do */
    bool optional; /* it may be missing */
    bool address;
    bool label;
    bool special;   /* special registers will do */
    bool symbol;    /* and so will the address of a variable */
    bool number;    /* nothing but a number will do */
    bool no_number; /* a number will not do */
    bool predicate; /* a predicate will do */
    bool pair, lone;
    bool loose;       /* wider registers will do, as for a store */
    bool vector;      /* it may be one */
    bool braces;      /* it has to be one */
    uint16_t members; /* of the vector; ANY_MEMBERS; of an address, that of the vector in it, 0: none */
    bool integers;    /* whole numbers will do, all of them */
    char type;        /* which literals that type takes; 0: all */
    char letter;      /* of that type; 0: registers are not held against it */
    uint8_t bits;
    uint32_t registers; /* of which types single ones will do, with nothing else to be looked at: a set */
    Str name;           /* of the type */
    Str values;         /* numbers that it can be; empty: all */
} OperandFacts;
enum { OPERANDS_LOOKED_AT = 12, ANY_MEMBERS = UINT16_MAX };

/* A type of registers and variables. */
typedef struct TypeFacts {
    Str name;    /* without its dot */
    char letter; /* as ptx_type_letter has it */
    uint8_t bits;
    bool opaque;  /* of a texture, a sampler or a surface */
    uint32_t bit; /* its own, in a set of types */
} TypeFacts;

/* What is to be looked at in the addresses of a form. */
typedef struct AddressFacts {
    uint8_t count, spaces[2]; /* the spaces that it names, in their order: words */
    uint8_t coordinates;      /* which address has some behind its base; UINT8_MAX: none */
    bool plain;               /* without a space it is about all but .param */
    bool loads, stores;
    bool symbols, converts; /* variables and functions are values; they have to be of the space that is named */
    const char *handle;     /* the type of a variable that stands for a texture or surface; NULL: it is about memory */
} AddressFacts;

/* What is to be looked at in the operands of a form. */
typedef struct FormFacts {
    uint16_t least, most;
    uint8_t count; /* of the operands that the row names */
    OperandFacts operands[OPERANDS_LOOKED_AT];
    AddressFacts addresses;
    const PtxRow *early;     /* what the module's version or target does not have yet; NULL: it has all of it */
    bool wrong;              /* no row takes these modifiers */
    bool wide;               /* an address has 64 bits */
    bool calls;              /* parentheses are lists */
    bool tables;             /* a list of labels is an operand: brx.idx */
    struct FormFacts *other; /* the same words with other operands; NULL: there is no such */
} FormFacts;

typedef struct Reader {
    PtxModule *module;
    uint32_t names_of_types;                  /* behind the last of them; .b8 to .b64 are words, too */
    TypeFacts types[WORD_COUNT + TYPE_COUNT]; /* by the numbers of their names; of words that are no types, empty */
    Source *source;
    Diagnostics *diagnostics;
    const char *p, *end, *base; /* *end is zero */
    uint32_t statement_at;      /* offset of the statement at hand */
    uint32_t scope;             /* PTX_NONE: the module's */
    uint32_t function;          /* PTX_NONE: outside of all */
    uint32_t declared;          /* what the name of that function stood for before; PTX_NONE: nothing */
    bool header;                /* between a function's parameters and its body */
    bool debug, debug_section;  /* .target says debug; there is what it needs */
    bool samplers;              /* .target says texmode_independent: there are samplers */
    uint32_t head;              /* word of the last directive */
    uint32_t header_words;      /* the directives that stood there, a bit each */
    bool in_section, calls, strict;
    bool assembly; /* it is inline assembly: nothing is checked, and what cannot be read is kept as PTX_UNREAD */
    uint32_t form; /* of the statement at hand; PTX_NONE: none so far */
    unsigned depth, brackets; /* of expressions, and of operands in each other */
    size_t looked_in_vain;    /* bytes, for the brace that closes another */
    unsigned scopes_open;
    size_t budget;
    jmp_buf exhausted;
    Arena stacks;
    Undo *undos;
    uint32_t undo_count, undo_capacity;
    uint32_t *marks; /* how many undos there were when a scope was opened */
    uint32_t mark_count, mark_capacity;
    Fixup *fixups;
    uint32_t fixup_count, fixup_capacity;
    FormFacts *facts; /* of each form */
    uint32_t fact_count, fact_capacity;
    NumberTable names, forms;
    LabelTable labels;
    Prefix prefixes[PREFIXES];
} Reader;

/* ---- reader.c ---- */
/* All of a source. `assembly`: it is inline assembly, and what the module holds is in this arena; NULL: it is not. */
bool read_module(PtxModule *module, Source *source, Arena *assembly, bool strict, Diagnostics *diagnostics);
/* Reports an error; always false. */
bool ptx_fail(Reader *r, const char *at, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* `expected` would have had to stand here; always false. */
bool fail_expected(Reader *r, const char *expected);
void *grown(Reader *r, void *items, uint32_t count, uint32_t *capacity, size_t size);
#define PUSH(r, array)                                                                                    \
    ((r)->module->array##_count == (r)->module->array##_capacity                                          \
         ? (void)((r)->module->array = grown((r), (r)->module->array, (r)->module->array##_count,         \
                                             &(r)->module->array##_capacity, sizeof *(r)->module->array)) \
         : (void)0,                                                                                       \
     &(r)->module->array[(r)->module->array##_count++])

static inline uint32_t offset_of(const Reader *r, const char *at) {
    return (uint32_t)(at - r->base);
}
/* The statement at hand, which ends here. */
PtxStatement *add_statement(Reader *r, PtxKind kind, uint32_t what, uint32_t first_operand);
static inline PtxOperand *add_operand(Reader *r, PtxOperandKind kind, uint32_t a, int64_t value) {
    PtxOperand *operand = PUSH(r, operands);
    *operand = (PtxOperand){.kind = (uint8_t)kind, .a = a, .value = value};
    return operand;
}

/* ---- scan.c: characters and words ---- */
enum { CLASS_SPACE = 1, CLASS_DIGIT = 2, CLASS_LETTER = 4, CLASS_IDENTIFIER = 8, CLASS_FORM = 16 };
extern const uint8_t ptx_class[256];
static inline bool is_class(char c, int class) {
    return (ptx_class[(unsigned char)c] & class) != 0;
}
/* Steps over a comment; false if there is none at the '/'. */
bool ptx_skip_comment(Reader *r);
/* Steps over blanks and comments; the character behind. */
static inline char next_char(Reader *r) {
    for (;;) {
        while (is_class(*r->p, CLASS_SPACE))
            r->p++;
        if (*r->p != '/' || !ptx_skip_comment(r))
            return *r->p;
    }
}
static inline bool take(Reader *r, char c) {
    if (*r->p != c && next_char(r) != c)
        return false;
    r->p++;
    return true;
}
/* The same for a statement that may end here: if it does, the blanks behind it are not its own. */
static inline bool take_more(Reader *r, char c) {
    const char *before = r->p;
    if (take(r, c))
        return true;
    r->p = before;
    return false;
}
/* As take, or an error. */
bool want(Reader *r, char c);
/* An identifier; empty if none stands here. */
Str take_identifier(Reader *r);
/* ".word", with its dot; empty if none stands here. */
Str take_dotted(Reader *r);
/* A string with its quotes; empty, with an error, if there is none. */
Str take_string(Reader *r);
/* Text that no PTX has: zero bytes, and what is no ASCII. False, with an error, if there is some. */
bool check_characters(Reader *r);

/* ---- names.c: names, scopes, labels ---- */
uint32_t intern(Reader *r, Str text);
void open_scope(Reader *r);
void close_scope(Reader *r);
/* Whether a name can be declared: no sink, no word of the language. False, with an error, if not. */
bool check_name(Reader *r, Str name, const char *at);
/* Binds the name of a variable or function in the scope at hand; false, with an error, if it is bound there. */
bool declare_variable(Reader *r, uint32_t variable, const char *at);
bool declare_function(Reader *r, uint32_t function, const char *at);
/* The body of the function at hand begins; false, with an error, if it had one. */
bool define_function(Reader *r, const char *at);
bool declare_label(Reader *r, uint32_t name, uint32_t statement, const char *at);
/* The label of that name that is seen from a scope; PTX_NONE: there is none. */
uint32_t find_label(const Reader *r, uint32_t name, uint32_t scope);
/* A name as an operand: a register, a variable, a function, or what may be a label. */
void add_name(Reader *r, Str text, const char *at);
/* The operand at `head` has to be a label: one that shadows what the name stands for in the module, it may be. */
bool as_label(Reader *r, uint32_t head, const char *at);
/* Looks up what was not declared when it was used. */
void settle_fixups(Reader *r);

/* ---- constants.c ---- */
/* A constant expression as an operand. */
bool read_constant(Reader *r, PtxOperand *to);
/* The same if it is a whole number. */
bool read_integer(Reader *r, int64_t *value);
bool read_count(Reader *r, uint32_t *value);
/* A whole number alone, without a sign. */
bool read_whole(Reader *r, int64_t *value);

/* ---- operands.c ---- */
bool read_operand(Reader *r);
/* At '%': the register as an operand. */
bool read_register(Reader *r);
/* Of an initializer. */
bool read_initial(Reader *r);

/* ---- addresses.c ---- */
AddressFacts address_facts(Str form);
/* An address operand, the `place`th of its instruction, from 0 on; false, with an error, if it is none. */
bool check_base(Reader *r, const AddressFacts *facts, uint32_t head, unsigned place, const char *at);
/* Whether ".unified" may stand behind it, which is operand `index` of its instruction. What ptxas 13.0 takes: the
 * second operand, whatever it is, if the first space that the form names is .global, or it names none. */
bool check_unified(Reader *r, const AddressFacts *facts, uint32_t head, unsigned index, const char *at);
/* A variable or a function without brackets. */
bool check_symbol(Reader *r, const AddressFacts *facts, const PtxOperand *symbol, const char *at);

/* ---- types.c ---- */
/* Gives the types their names. */
void start_types(Reader *r);
/* That of a variable; empty if it has none. */
static inline const TypeFacts *type_of(const Reader *r, const PtxVariable *variable) {
    return &r->types[variable->type < r->names_of_types ? variable->type : 0];
}

/* ---- calls.c ---- */
/* Whether a call, whose operands are the last from `first` on, fits what it calls. */
bool check_call(Reader *r, uint32_t first, const char *at);
/* Bits of a variable's type, a vector's together; bytes of all of it. */
unsigned variable_bits(const Reader *r, const PtxVariable *variable);
uint64_t variable_size(const Reader *r, const PtxVariable *variable);

/* ---- words.c ---- */
/* The newest ISA of which all words are known. */
enum { PTX_WORDS_OF = 90 };
/* The first word of a form that is in no list; empty: all are. */
Str unknown_word(Str form);

/* ---- forms.c ---- */
/* The row of a form that is new to the module, and what is to be looked at in its operands. */
void describe_form(Reader *r, PtxForm *form, FormFacts *facts);
/* Whether a register of a type fits the type of the instruction. */
bool type_fits(const OperandFacts *facts, const TypeFacts *type);

/* ---- instructions.c ---- */
/* An instruction, with its guard if there is one, or a label. */
bool read_instruction(Reader *r);

/* ---- variables.c, functions.c, directives.c: what stands behind the word of a directive ---- */
typedef bool ReadDirective(Reader *r, uint32_t word);
ReadDirective read_loc, read_data, read_variables, read_linkage, read_defined, read_version, read_target, read_numbers,
    read_address_size, read_file, read_section, read_pragma, read_alias, read_prototype, read_targets;
/* A function's header is over: whether what stood in it goes together. */
bool end_header(Reader *r, const char *at);
/* Whether a label stands right before a directive that needs one; false, with an error, if not. */
bool is_labeled(Reader *r, uint32_t word);
bool read_linked_function(Reader *r, uint32_t word, uint32_t linkage);
bool read_linked_variables(Reader *r, uint32_t space, uint32_t linkage);
/* Whether two functions have the same parameters and results; false, with an error, if not. */
bool same_prototype(Reader *r, uint32_t one, uint32_t other, const char *at);
/* A parameter of a function, as the next variable; nameless ones are "_". */
bool read_parameter(Reader *r, bool named, bool entry, bool result);
/* Functions that are neither defined nor said to be elsewhere. */
void check_defined(Reader *r);
/* The body of a function is over. */
void end_function(Reader *r);

#endif
