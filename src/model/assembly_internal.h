/* PTX, taken apart: what assembly_text.c hands to assembly.c. */
#ifndef MODEL_ASSEMBLY_INTERNAL_H
#define MODEL_ASSEMBLY_INTERNAL_H

#include "model/assembly.h"

/* A register, a number, or the op's operand $3. */
typedef enum TermKind { TERM_OTHER, TERM_NAME, TERM_NUMBER, TERM_OPERAND } TermKind;
typedef struct Term {
    TermKind kind;
    Str name;       /* with its '%' or '$' */
    int64_t number; /* of the number, or of the operand */
} Term;

enum { MOST_OPERANDS = 8, MOST_TERMS = 8 };

/* a, [a + 8], {a, b} or a|b */
typedef struct Operand {
    bool memory;
    unsigned count;
    Term terms[MOST_TERMS];
    int64_t offset; /* memory */
} Operand;

typedef enum StatementKind { STATEMENT_INSTRUCTION, STATEMENT_LABEL, STATEMENT_SCOPE } StatementKind;
typedef struct Statement {
    StatementKind kind;
    Str text;   /* all of it */
    Str opcode; /* "ld.global.u32"; of a label, its name */
    Term guard; /* @p */
    bool guarded, negated;
    bool garbled; /* its operands are not understood */
    unsigned count;
    Operand operands[MOST_OPERANDS];
} Statement;

/* The next statement from *at on, which moves behind it. False at the end of the text. */
bool assembly_next(const char **at, const char *end, Statement *statement);

typedef enum OpcodeKind {
    OPCODE_UNKNOWN,
    OPCODE_EFFECTS, /* those of `effects`, and nothing of its operands matters but what is said there; may be none */
    OPCODE_ACCESS,  /* effects[0], on its address */
    OPCODE_SYNC,    /* a barrier of the block, by its number */
    OPCODE_BRANCH,
} OpcodeKind;

typedef struct Opcode {
    OpcodeKind kind;
    unsigned count;
    Effect effects[2];
    bool counted;   /* its operand is the count of the last effect */
    bool addressed; /* its first operand is the address that the effect is about */
    /* OPCODE_ACCESS */
    bool has_result;       /* its first operand */
    bool needs_global;     /* the text does not say which memory it is: the pointer has to */
    AssemblyAccess access; /* action, type, bits, elements */
} Opcode;

/* What an instruction does, by its name alone. */
Opcode assembly_opcode(Str name);
/* The place of `word` in a list of words with a blank between each two, or -1. */
int word_place(Str word, const char *list);
/* The next of the parts of a name, which dots separate; empty at the end. */
Str next_part(Str *name);

#endif
