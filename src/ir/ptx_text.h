/* PTX as text, taken apart into statements: labels, braces, and instructions with their operands. Inline assembly is
 * read with it. */
#ifndef IR_PTX_TEXT_H
#define IR_PTX_TEXT_H

#include "ir/ptx_rows.h"

/* A register, a number, or the op's operand $3. */
typedef enum TermKind { TERM_OTHER, TERM_NAME, TERM_NUMBER, TERM_OPERAND } TermKind;
typedef struct PtxTextTerm {
    TermKind kind;
    Str name;       /* with its '%' or '$' */
    int64_t number; /* of the number, or of the operand */
} PtxTextTerm;

enum { MOST_OPERANDS = 8, MOST_TERMS = 8 };

/* a, [a + 8], {a, b} or a|b */
typedef struct Operand {
    bool memory;
    unsigned count;
    PtxTextTerm terms[MOST_TERMS];
    int64_t offset; /* memory */
} Operand;

typedef enum StatementKind { STATEMENT_INSTRUCTION, STATEMENT_LABEL, STATEMENT_SCOPE } StatementKind;
typedef struct Statement {
    StatementKind kind;
    Str text;          /* all of it */
    Str opcode;        /* "ld.global.u32"; of a label, its name */
    PtxTextTerm guard; /* @p */
    bool guarded, negated;
    bool garbled; /* its operands are not understood */
    unsigned count;
    Operand operands[MOST_OPERANDS];
} Statement;

/* The next statement from *at on, which moves behind it. False at the end of the text. */
bool ptx_next_statement(const char **at, const char *end, Statement *statement);

#endif
