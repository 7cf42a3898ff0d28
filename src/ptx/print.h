/* PTX modules as text. */
#ifndef PTX_PRINT_H
#define PTX_PRINT_H

#include "ptx/ptx.h"

/* Printed from what was understood: one statement a line, nothing of the text is copied but names and strings. */
void ptx_print(const PtxModule *module, Text *to);
/* The same of some statements, those that are `kept` (ptx/pick.h); NULL: all. */
void ptx_print_kept(const PtxModule *module, const bool *kept, Text *to);
/* One statement so, without indentation and line end. */
void ptx_print_statement(const PtxModule *module, const PtxStatement *statement, Text *to);
/* One operand so, with all of its members. */
void ptx_print_operand(const PtxModule *module, const PtxOperand *operand, Text *to);

#endif
