/* Memory that operations have freed: who gets some of it later comes behind them. */
#ifndef ENGINE_ORDER_FREED_H
#define ENGINE_ORDER_FREED_H

#include "engine/order/order.h"

enum { MOST_FREED = 1024 };

typedef struct FreedPiece {
    uint64_t address, bytes;
    OrderClock *clock; /* NULL: there was no memory for it */
} FreedPiece;

/* All zero at first. */
typedef struct OrderFreed {
    FreedPiece pieces[MOST_FREED];
    uint32_t count;
    bool full;       /* some are not in `pieces` any more, */
    OrderClock rest; /* ... but this is their clocks */
} OrderFreed;

/* What the clock has is over when the memory is given out again. */
void freed_keep(OrderFreed *freed, const ProgramOrder *order, uint64_t address, uint64_t bytes,
                const OrderClock *clock);
/* The memory is given out: the clock gets what was over by then. `each` is called with the address of each piece. */
void freed_take(OrderFreed *freed, const ProgramOrder *order, uint64_t address, uint64_t bytes, OrderClock *clock,
                void (*each)(uint64_t address, const void *of), const void *of);

#endif
