/* Which allocation a memory descriptor, token or aref comes from, found in the IR alone: through views, captures of
 * partitions, values carried by loops and arguments of blocks. Where several come together, the first is taken. */
#ifndef MODEL_ROOT_H
#define MODEL_ROOT_H

#include "ir/ir.h"

/* The op that allocates it; NULL if that cannot be seen. */
const Op *root_of(Module *module, const Value *value);

#endif
