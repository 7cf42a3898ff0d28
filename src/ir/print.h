/* Printing a module: as it was written, or in MLIR's generic form.
 *
 * As written means token for token: the same names, aliases, forms and order, with line breaks and indentation
 * as MLIR prints them. Comments are not kept. */
#ifndef IR_PRINT_H
#define IR_PRINT_H

#include "ir/ir.h"

typedef enum PrintForm { PRINT_AS_WRITTEN, PRINT_GENERIC } PrintForm;

void print_module(Module *module, PrintForm form, Text *out);
/* "%a", or "%a#1" for one of several results. */
void print_value_name(const Value *value, Text *to);

#endif
