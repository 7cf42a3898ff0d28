/* The rows of ops/ptx.def: which PTX instructions there are, the modifiers and operands they take, what they do.
 *
 * The reader of PTX (ptx/reader.h) looks instructions up in them. An instruction's form is its opcode with its
 * modifiers, "ld.global.b32"; modifiers are a bag, except where a row says that their order matters. */
#ifndef IR_PTX_ROWS_H
#define IR_PTX_ROWS_H

#include "base/text.h"

/* Which targets a row is for, beside those before its own, which it is not for. */
typedef enum PtxTargets {
    PTX_AND_LATER,
    PTX_WITH_LETTER, /* sm_90a, and later ones with a letter */
    PTX_ONLY_THIS,   /* sm_90a, and no later ones */
} PtxTargets;

/* How what an instruction writes comes from what it reads. */
typedef enum PtxEvaluator {
    PTX_EVALUATE_NONE, /* from elsewhere */
#define PTX_EVALUATOR(id, name, what) PTX_EVALUATE_##id,
#include "ir/ptx_evaluators.def"
#undef PTX_EVALUATOR
    PTX_EVALUATORS
} PtxEvaluator;

typedef struct PtxRow {
    const char *name;      /* "cp.async.bulk": the opcode, and modifiers that have to be there */
    const char *modifiers; /* groups of modifiers; the head of ops/ptx.def says how they are written */
    const char *operands;
    const char *evaluate; /* a name of ptx_evaluators.def, or "" */
    const char *effects;  /* in the words of docs/effects.md; "" if it does nothing but compute */
    uint16_t version;     /* of the ISA that has it, 78 for 7.8 */
    uint16_t capability;  /* and the target, 90 for sm_90; 0: all */
    PtxTargets targets;
    uint16_t below; /* targets before that one; 0: all later ones, too */
    bool control;   /* it decides where a thread goes on */
} PtxRow;

/* The newest ISA that the table is about: what a later one has may be in no row. */
enum { PTX_NEWEST = 92 };

size_t ptx_row_count(void);
const PtxRow *ptx_row_at(size_t index);

/* The row that takes a form; NULL: none does. Then *known says whether all of its words are words of the table, so that
 * it is the way they are put together that is wrong, and not the table that is too old; NULL: it is not asked for. */
const PtxRow *ptx_row_of(Str form, bool *known);
/* Whether some row has the word, as its opcode or as a modifier. */
bool ptx_is_opcode(Str word);
bool ptx_is_modifier(Str word);
/* What says whether a form of the row is legal: the FORM line below the row that takes it, which has the row's name,
 * or the row itself if it has no such lines; NULL: none of them takes it. */
const PtxRow *ptx_row_line(const PtxRow *row, Str form);
/* The next line that takes it, for instructions with other operands; NULL: there is none. */
const PtxRow *ptx_next_line(const PtxRow *line, Str form);
/* A modifier that needs more than its row does, as a row with no more than its version and target; NULL: it needs no
 * more. */
const PtxRow *ptx_word_since(Str modifier);
/* What the rows of an opcode have in common. */
typedef enum PtxActs {
    PTX_NO_ROW,
    PTX_COMPUTES, /* whatever the modifiers, all it does is to compute */
    PTX_STEERS,   /* ... or to decide where a thread goes on */
    PTX_ACTS,     /* some row has effects */
} PtxActs;
PtxActs ptx_opcode_acts(Str opcode);

/* The modifier of a form that is in the group of that name; empty if it has none. The row is that of the form. */
Str ptx_form_modifier(const PtxRow *row, Str form, Str group);
/* Whether a form has a modifier. */
bool ptx_form_has(Str form, Str modifier);

/* Whether a row has an operand of that name. */
bool ptx_row_names(const PtxRow *row, Str operand);
/* What the row says of its results; PTX_EVALUATORS if its word is in no list, which is our own mistake. */
PtxEvaluator ptx_evaluator(const PtxRow *row);
/* Whether a function comes with the driver (ptx_callees.def); and how it goes on, PTX_EVALUATE_NONE: behind the call.
 */
bool ptx_of_driver(Str name);
PtxEvaluator ptx_callee(Str name);

/* Where the operand of that name is among the `count` of an instruction of that form; -1: it is missing. Of those that
 * may be missing, one that a modifier brings is there with it, and others from the left on, as far as they go. */
int ptx_operand_place(const PtxRow *row, Str form, Str operand, unsigned count);

/* What a row says of one of its operands. */
typedef struct PtxOperandRow {
    bool written, address;
    bool updated;  /* written, and read before */
    bool optional; /* it may be missing */
    Str with; /* ... and is there exactly if the form has that modifier, or one of that group; empty: nothing is said */
    Str type; /* a group, a type, "wide" or "label"; of an address, that of the vector in it; empty: nothing is said */
    bool vector; /* it may be one */
    Str members; /* "4", or the group that says of how many, "2x" being twice, "n/2" half of it; empty: any number */
    bool wider, special; /* a wider register will do; a special one, too */
    bool number;         /* it has to be a number */
    bool no_number;      /* it cannot be one */
    bool symbol;         /* it can be the address of a variable or function */
    bool predicate;      /* a predicate will do, too */
    bool pair, lone;     /* it can be a pair, "d|p"; and need not be one */
    Str values;          /* numbers that it can be: "0-15", "4,8,16", "16x" of multiples; empty: all */
} PtxOperandRow;
/* The operands of a row in order, those behind `at`, which is the row's `operands` at first; false at the end. ".." has
 * no name and no type. */
bool ptx_next_operand(const char **at, PtxOperandRow *operand);
/* The one at that place; false if the row has none there, or if one before it may be missing. */
bool ptx_row_operand(const PtxRow *row, unsigned index, PtxOperandRow *operand);
/* How many operands a row takes, whatever the form. */
void ptx_row_operands(const PtxRow *row, unsigned *least, unsigned *most);
/* How many members a vector of a form has, by what the row says of it. */
unsigned ptx_row_members(const PtxRow *row, Str form, Str members);

/* The ISA that has a target first: 80 of sm_90a; 0: it is not in the table. */
unsigned ptx_target_version(Str target);

/* The next of the parts of a name, which dots separate; empty at the end. */
Str next_part(Str *name);
/* The place of `word` in a list of words with a blank between each two, or -1. */
int word_place(Str word, const char *list);

/* ---- Special registers ---- */

typedef struct PtxSpecial {
    const char *name; /* "%tid", or "%envreg", which has numbers */
    uint8_t parts;    /* 4 of %tid.x to .w; 0: it has none */
    uint8_t numbers;  /* %envreg0 to %envreg31: 32; 0: it has none */
    /* Over which threads it is the same: "grid", "cluster", "cta" or "warp"; "thread", "shape": of the CTA's threads;
     * "lane", "lanes-eq", "lanes-le", ...; "": it changes while it is read. */
    const char *varies;
    uint8_t bits; /* that may be other than 0 */
} PtxSpecial;

/* The special register of a name with its '%', or NULL; `number` is which of several. */
const PtxSpecial *ptx_special(Str name, unsigned *number);
const PtxSpecial *ptx_special_at(unsigned index);
unsigned ptx_special_index(const PtxSpecial *special);

#endif
