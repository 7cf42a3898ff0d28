/* What the parts of the exploration share: what a step touches (explore_touch.c), what was written (explore_values.c).
 */
#ifndef EMULATE_PTX_EXPLORE_INTERNAL_H
#define EMULATE_PTX_EXPLORE_INTERNAL_H

#include "emulate/ptx/explore.h"

/* ---- What a step touches ---- */

enum { TOUCHED_MOST = 12 };

/* Bytes of memory, or something else that threads share, which has no block. */
typedef struct Touched {
    const PtxBlock *block;
    uint64_t at, bytes;
    bool writes;
} Touched;

typedef struct Touch {
    Touched pieces[TOUCHED_MOST];
    uint32_t count;
    bool all; /* more than that */
} Touch;

void touch_event(Touch *touch, const PtxEvent *event);
/* Whether two steps could come in either order and nobody would notice. */
bool touch_apart(const Touch *one, const Touch *other);

/* ---- What was written ---- */

/* What stood somewhere behind a write. */
typedef struct Written {
    uint32_t first, last; /* numbers of the writes: from behind `first` to `last`; 0 and 0: before the run */
    PtxBlock *block;
    uint64_t at;
    uint32_t size;
    uint8_t *bytes, *states;
} Written;

/* What a thread read last in an instruction, at a place. */
typedef struct LastRead {
    uint32_t thread, write;
    const PtxCode *code;
    const PtxBlock *block;
    uint64_t at;
} LastRead;

typedef struct Values {
    PtxMachine *machine;
    Arena arena; /* of a run */
    Written *written;
    uint32_t count, capacity;
    uint32_t kept; /* of these, those whose bytes have been read off */
    LastRead *reads;
    uint32_t read_count, read_capacity;
    /* memory that holds what a read is to give, and what it held */
    bool patched;
    Written held;
} Values;

void values_start(Values *values, PtxMachine *machine);
/* A write is about to be done: what it writes is read off when the step is over. */
void values_write(Values *values, const PtxEvent *event, uint32_t first, uint32_t last);
/* Memory gives what write number `write` left, until the step is over. False: it is not known. */
bool values_give(Values *values, PtxSpot spot, uint32_t size, uint32_t write);
void values_step_over(Values *values);
/* What the thread read there last; NULL: nothing yet. */
LastRead *values_last_read(Values *values, uint32_t thread, const PtxCode *code, PtxSpot spot);

#endif
