/* For people: what each op of a module does, and who runs it; and the control flow of a function. */
#ifndef MODEL_FLOW_PRINT_H
#define MODEL_FLOW_PRINT_H

#include "ir/ir.h"

/* Of each op that does something a line `LINE: OP [PARTITION]`, and below it a line for each effect. */
void effects_print(Module *module, Text *to);

/* Of each piece its number, its ops and where it leads; then the loops. Memory: `arena`. */
void flow_print(const Module *module, const Op *function, Arena *arena, Text *to);

#endif
