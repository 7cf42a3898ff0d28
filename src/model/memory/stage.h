/* How far the compiler has come with a module, and which release it may be of: what the module says itself, and the
 * pass log that it stood in. docs/checking.md has the table. */
#ifndef MODEL_MEMORY_STAGE_H
#define MODEL_MEMORY_STAGE_H

#include "ir/ir.h"

/* Whether the compiler is past a pass. */
typedef enum Past { PAST_NOT, PAST_YES, PAST_UNKNOWN } Past;

/* ... that which puts in thread barriers. */
Past stage_barriers(Module *module, const Op *function);

#endif
