/* The ids of the rows. A file that includes this knows ops by name, and has a reason: scripts/tests/op-ids lists them.
 * What an op does is asked of its row (ir/op.h) and its effects (model/effect/effect.h). */
#ifndef IR_OP_IDS_H
#define IR_OP_IDS_H

typedef enum OpId {
#define OP(id, ...) OP_##id,
#include "ir/ops/all.def"
#undef OP
    OP_COUNT
} OpId;

#endif
