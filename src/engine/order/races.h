/* Races between operations of a program: which bytes of which allocation each one touches, and whether it begins after
 * those that touched them before are over.
 *
 * Of each byte the last operations that touched it are known, of each lane and each way to touch it the last one, as
 * FastTrack has it. Memory is an allocation and an offset: what is allocated at an address that was free is new. */
#ifndef ENGINE_ORDER_RACES_H
#define ENGINE_ORDER_RACES_H

#include "engine/order/order.h"

/* How bytes are touched: by plain accesses, or by strong ones (atomics, volatile), which do not race with each other;
 * or in ways that are not seen; or some of them may be, and which is not known: whether that races is open. */
enum {
    TOUCH_READ = 1,
    TOUCH_WRITE = 2,
    TOUCH_STRONG_READ = 4,
    TOUCH_STRONG_WRITE = 8,
    TOUCH_UNSEEN = 16,
    TOUCH_MAY_READ = 32,
    TOUCH_MAY_WRITE = 64,
    TOUCH_MAY = TOUCH_MAY_READ | TOUCH_MAY_WRITE,
    TOUCH_STRONG = TOUCH_STRONG_READ | TOUCH_STRONG_WRITE,
    TOUCH_ANY = 127,
};

/* Bytes that an operation touches: `count` pieces, at least one, each `stride` behind the one before it, which does not
 * reach so far. */
typedef struct Touch {
    uint64_t begin, bytes, stride, count;
    uint8_t how;
    bool early; /* by a dependent launch, before it has waited for the launch before it */
} Touch;

/* An operation that touched bytes. */
typedef struct TouchMark {
    uint64_t number;
    uint32_t lane, site; /* site: the caller's */
    uint8_t how;
    bool freed; /* when the bytes were another allocation's, which was freed */
} TouchMark;

typedef struct RaceMemory RaceMemory;

/* What is reported: an operation touches bytes that another one touched, and nothing orders the two. */
typedef struct OrderRace {
    const RaceMemory *memory;
    uint64_t offset, bytes; /* of the allocation, the first that are touched by both */
    TouchMark earlier;      /* in the order of the calls */
    uint8_t how;            /* the later one touches them */
    bool early;             /* ... before it has waited */
    bool open;              /* what cannot be seen may order the two */
    bool unseen;            /* ... and what one of them does with the bytes */
    bool may;               /* ... and whether both of them do something with them */
    bool communicates;      /* the later one reads with strong reads what the earlier one writes with strong writes */
} OrderRace;

/* An allocation. */
struct RaceMemory {
    uint64_t address, bytes;
    uint32_t site;                 /* the caller's, of where it was allocated */
    OrderLane *lane;               /* that it was allocated for; NULL: memory of the host */
    bool shared;                   /* several processes or devices have it; the caller's */
    uint64_t place;                /* of its own, that no other memory gets; the caller's */
    uint64_t shared_from;          /* ... from that operation on */
    struct TouchSegment *segments; /* sorted */
    uint32_t segment_count, segment_capacity;
    uint32_t used[ORDER_LANES / 32]; /* lanes that its owner was notified of */
};

typedef struct Races {
    ProgramOrder *order;
    RaceMemory **memories; /* sorted by address */
    uint32_t memory_count, memory_capacity;
    struct FreedMemory *freed;
    uint32_t freed_count, freed_capacity;
    struct RecycledMemory *recycled; /* allocations that were freed, the next of that size and lane gets the last */
    uint32_t recycled_count;
    void (*report)(void *context, const OrderRace *race);
    /* Memory was freed while an operation of another lane may still use it, and is given out again. */
    void (*reused)(void *context, const RaceMemory *memory, uint32_t freed_at, const TouchMark *user, bool open);
    /* An allocation is gone, and what touched it is known no more; NULL: the caller need not know. */
    void (*gone)(void *context, const RaceMemory *memory);
    void *context;
    bool failed; /* there was not enough memory: not everything was looked at */
} Races;

void races_release(Races *races);

/* There is memory; `lane`: as above. What was there and overlaps it is gone. */
void races_allocate(Races *races, uint64_t address, uint64_t bytes, OrderLane *lane, const OrderThread *thread,
                    uint32_t site);
/* It is freed for its lane: whatever that lane does next may have it, unless its owner was notified of other lanes that
 * use it. */
void races_free(Races *races, uint64_t address, const OrderThread *thread, uint32_t site);
/* It is memory [from, from + bytes), too, which begins at the offset: what has touched allocations that lie there has
 * touched it, and they are gone. */
void races_adopt(Races *races, RaceMemory *memory, uint64_t from, uint64_t bytes, uint64_t offset);
void races_use(Races *races, uint64_t address, const OrderLane *lane);
RaceMemory *races_memory(const Races *races, uint64_t address);

/* An operation. */
typedef struct OrderedOperation {
    const OrderLane *lane;
    uint64_t number;
    uint32_t site;
    const OrderClock *begun, *waited; /* what is over when it begins, and once it has waited (what it does early not) */
    const Touch *touches;
    uint32_t touch_count;
} OrderedOperation;
/* Looks for its races. What lies in no allocation is left out: returns of how many touches something does. */
uint32_t races_operation(Races *races, const OrderedOperation *operation);

#endif
