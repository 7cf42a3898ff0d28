/* A module as it would be with some ops more and some fewer: they are inserted and taken out, it is printed, and all is
 * put back as it was. */
#ifndef IR_EDIT_H
#define IR_EDIT_H

#include "ir/ir.h"

typedef struct Edit {
    Op *op;       /* to be inserted, or taken out */
    const Op *at; /* inserted: beside this one; NULL: it is taken out */
    bool after;   /* inserted: behind it, else before */
} Edit;

/* An op of that row, in its first format, without operands and results, at the place in the kernel's source of the op
 * that it goes with. In the module's arena. */
Op *edit_new_op(Module *module, unsigned row, const Op *at);
/* Inserts an op permanently; it is no part of the text. */
void edit_insert(Op *op, const Op *before);
/* Takes an op from where it is to another place of its block, permanently. */
void edit_move(Op *op, const Op *before);
/* Prints the module with all edits made, in their order. */
void edits_print(Module *module, const Edit *edits, size_t count, Text *to);

#endif
