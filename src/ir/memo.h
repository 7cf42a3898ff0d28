/* What was found out once about a thing of a module, kept by the module for the next who asks. */
#ifndef IR_MEMO_H
#define IR_MEMO_H

#include "ir/ir.h"

/* The memory that is kept for `about` under the name `what` (at most 7 letters; one name, one size), all zero when
 * *fresh is set. It has the life of the module. */
void *module_memo(Module *module, const char *what, const void *about, size_t size, bool *fresh);

#endif
