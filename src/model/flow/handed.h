/* Which values an op of control flow hands on under other names: what loops carry, branches pass, regions yield,
 * partitions capture, and a select chooses. */
#ifndef MODEL_FLOW_HANDED_H
#define MODEL_FLOW_HANDED_H

#include "ir/ir.h"

typedef void HandOn(void *context, const Value *from, const Value *to);

/* Calls `hand_on` for each value that the op hands on, and the name that it then has; false if it is no such op. */
bool op_hands_on(const Op *op, HandOn *hand_on, void *context);

#endif
