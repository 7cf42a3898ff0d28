/* What the parts of the exploration share: what a step touches (explore_touch.c), what was written (explore_values.c).
 */
#ifndef MACHINE_SIMT_SCHEDULE_EXPLORE_INTERNAL_H
#define MACHINE_SIMT_SCHEDULE_EXPLORE_INTERNAL_H

#include "machine/simt/schedule/explore.h"

/* ---- What a step touches ---- */

enum { TOUCHED_MOST = 12 };

typedef enum TouchKind {
    TOUCH_READ,
    TOUCH_CHOSEN, /* a read of a write that was chosen: as if it had come before newer ones */
    TOUCH_WRITE,
    TOUCH_ARRIVE, /* adds to a barrier: in any order to the same, until it is complete */
    TOUCH_EXPECT, /* a phase needs more bytes from now on, and might have been complete without them */
    TOUCH_BYTES,  /* bytes have come */
    TOUCH_PASS,   /* goes on because a barrier is complete */
} TouchKind;

/* Bytes of memory, or something else that threads share. The same in every run, so nothing here points into one. */
typedef struct Touched {
    uint64_t memory; /* its space and CTA; 0: it is none */
    uint64_t at, bytes;
    TouchKind kind;
    uint32_t first,
        last; /* writes: their numbers are behind `first`, up to `last`; TOUCH_CHOSEN: `last` is the write's */
} Touched;

typedef struct Touch {
    Touched pieces[TOUCHED_MOST];
    uint32_t count;
    bool all; /* more than that */
} Touch;

/* `chosen`: a read whose write was chosen, number `last`; of writes, their numbers. */
void touch_event(Touch *touch, const PtxEvent *event, bool chosen, uint32_t first, uint32_t last);

typedef enum TouchOrder {
    TOUCH_APART,   /* they could come in either order, and nothing would notice */
    TOUCH_BEHIND,  /* the second is behind the first, and cannot come before it, or need not */
    TOUCH_EXCHANGE /* the other way round it could come to something else */
} TouchOrder;
TouchOrder touch_order(const Touch *first, const Touch *second);

/* ---- The steps of a run (explore_steps.c) ---- */

enum { CHAINS_MOST = 64 };

/* A step that was made: who made it, what it touched, and which steps are before it whatever the order is. */
typedef struct Step {
    uint32_t who;           /* as in a trail */
    uint32_t point;         /* of the choice that it was; PTX_NONE: it was none */
    uint32_t chain, number; /* steps of one thread or flight; this one's number in it, from 1 on */
    Touch touch;
    uint16_t known[CHAINS_MOST]; /* of each chain: so many of its steps are before it, or it */
} Step;

/* The step that put a flight in flight. */
typedef struct Issued {
    uint32_t sequence, step;
} Issued;

typedef struct Steps {
    Arena *arena; /* of the run */
    Step *all;
    uint32_t count, capacity;
    uint32_t *last; /* of each thread: its last step + 1; 0: none */
    uint32_t chains[CHAINS_MOST], lengths[CHAINS_MOST];
    uint32_t chain_count;
    bool wide; /* more chains than are told apart */
    Issued *issued;
    uint32_t issued_count, issued_capacity;
} Steps;

/* A pair of steps that could come the other way round: the second before the first, which was a choice. */
typedef void StepsExchange(void *context, const Steps *steps, uint32_t first, uint32_t second);
/* A step is over: threads [thread of the lanes] made it, or a flight. Calls `exchange` for what could be otherwise. */
void steps_add(Steps *steps, uint32_t who, uint32_t first_thread, uint32_t lanes, uint32_t point, const Touch *touch,
               StepsExchange *exchange, void *context);
/* A flight was issued by the step that is made. */
void steps_issue(Steps *steps, uint32_t sequence);
/* Whether a step is before another one whatever the order is. */
bool steps_before(const Steps *steps, uint32_t first, uint32_t second);

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
