/* What the parts of the exploration share: what a step touches (explore_touch.c), what was written (explore_values.c).
 */
#ifndef MACHINE_SIMT_SCHEDULE_EXPLORE_INTERNAL_H
#define MACHINE_SIMT_SCHEDULE_EXPLORE_INTERNAL_H

#include "base/table.h"
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
typedef struct ExploreTouched {
    uint64_t memory; /* its space and CTA; 0: it is none */
    uint64_t at, bytes;
    TouchKind kind;
    uint32_t first,
        last; /* writes: their numbers are behind `first`, up to `last`; TOUCH_CHOSEN: `last` is the write's */
} ExploreTouched;

typedef struct ExploreTouch {
    ExploreTouched pieces[TOUCHED_MOST];
    uint32_t count;
    bool all; /* more than that */
} ExploreTouch;

/* `chosen`: a read whose write was chosen, number `last`; of writes, their numbers. */
void touch_event(ExploreTouch *touch, const PtxEvent *event, bool chosen, uint32_t first, uint32_t last);

typedef enum TouchOrder {
    TOUCH_APART,   /* they could come in either order, and nothing would notice */
    TOUCH_BEHIND,  /* the second is behind the first, and cannot come before it, or need not */
    TOUCH_EXCHANGE /* the other way round it could come to something else */
} TouchOrder;
TouchOrder touch_order(const ExploreTouch *first, const ExploreTouch *second);

/* ---- The steps of a run (explore_steps.c) ---- */

enum { CHAINS_MOST = 64 };

/* A step that was made: who made it, what it touched, and which steps are before it whatever the order is. */
typedef struct ExploreStep {
    uint32_t who;           /* as in a trail */
    uint32_t point;         /* of the choice that it was; PTX_NONE: it was none */
    uint32_t chain, number; /* steps of one thread or outstanding operation; this one's number in it, from 1 on */
    ExploreTouch touch;
    uint16_t known[CHAINS_MOST]; /* of each chain: so many of its steps are before it, or it */
} ExploreStep;

/* The step that put an outstanding operation in flight. */
typedef struct Issued {
    uint32_t sequence, step;
} Issued;

typedef struct ExploreSteps {
    Arena *arena; /* of the run */
    ExploreStep *all;
    uint32_t count, capacity;
    uint32_t *last; /* of each thread: its last step + 1; 0: none */
    uint32_t chains[CHAINS_MOST], lengths[CHAINS_MOST];
    uint32_t chain_count;
    bool wide; /* more chains than are told apart */
    Issued *issued;
    uint32_t issued_count, issued_capacity;
} ExploreSteps;

/* A pair of steps that could come the other way round: the second before the first, which was a choice. */
typedef void StepsExchange(void *context, const ExploreSteps *steps, uint32_t first, uint32_t second);
/* A step is over: threads [thread of the lanes] made it, or a flight. Calls `exchange` for what could be otherwise. */
void steps_add(ExploreSteps *steps, uint32_t who, uint32_t first_thread, uint32_t lanes, uint32_t point,
               const ExploreTouch *touch, StepsExchange *exchange, void *context);
/* An outstanding operation was issued by the step that is made. */
void steps_issue(ExploreSteps *steps, uint32_t sequence);
/* Whether a step is before another one whatever the order is. */
bool steps_before(const ExploreSteps *steps, uint32_t first, uint32_t second);

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

/* Bytes of memory. */
typedef struct ValuesPlace {
    const PtxBlock *block;
    uint64_t at;
    uint32_t size;
} ValuesPlace;

typedef TABLE_OF(LastRead) LastReads;
typedef TABLE_OF(ValuesPlace) ValuesPlaces;

typedef struct Values {
    PtxMachine *machine;
    Arena arena; /* of a run */
    Written *written;
    uint32_t count, capacity;
    uint32_t kept;       /* of these, those whose bytes have been read off */
    ValuesPlaces before; /* those of which `written` has what stood there before the run */
    LastReads reads;
    /* memory that holds what a read is to give, and what it held */
    bool patched;
    Written held;
} Values;

void values_start(Values *values, PtxMachine *machine);
/* A write is about to be done: what it writes is read off when the step is over. */
void values_write(Values *values, const PtxEvent *event, uint32_t first, uint32_t last);
/* Memory gives what write number `write` left, until the step is over. False: it is not known. */
bool values_give(Values *values, PtxLocation location, uint32_t size, uint32_t write);
void values_step_over(Values *values);
/* What the thread read there last; NULL: nothing yet. */
const LastRead *values_last_read(const Values *values, uint32_t thread, const PtxCode *code, PtxLocation location);
void values_read(Values *values, const LastRead *read);

#endif
