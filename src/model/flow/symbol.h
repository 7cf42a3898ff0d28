/* Names of functions, and which function a call means. */
#ifndef MODEL_FLOW_SYMBOL_H
#define MODEL_FLOW_SYMBOL_H

#include "ir/ir.h"

/* The name without its `@` or its quotes. */
Str symbol_name(const Attr *symbol);
/* The function with a body that a call names, the first of that name; NULL if there is none. */
const Op *call_target(Module *module, const Op *call);

#endif
