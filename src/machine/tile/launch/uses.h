/* What the numbers that a kernel takes are for, read off the IR: sizes, strides, modes, how often loops go. */
#ifndef MACHINE_TILE_LAUNCH_USES_H
#define MACHINE_TILE_LAUNCH_USES_H

#include "machine/tile/compile/program.h"

typedef enum NumberUse {
    USED_AS_STRIDE = 1,
    USED_AS_SIZE = 2,
    USED_AS_CASE = 4,  /* compared for equality: a mode, a flag */
    USED_AS_COUNT = 8, /* others are divided by it, or loops go so often: heads, batches */
} NumberUse;

/* By parameter. */
typedef struct NumberUses {
    uint8_t *uses;     /* NumberUse, together */
    uint64_t *affects; /* those whose memory is addressed with multiples of it */
    bool *inner;       /* loops go by it, and no store lies or is masked by it */
    int64_t unit;      /* how long tiles are: the largest power of two that numbers are divided or counted by */
} NumberUses;

/* Memory: the arena. */
NumberUses number_uses(const Program *program, Arena *arena);

#endif
