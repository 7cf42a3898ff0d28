/* Which operations of a program are over when another one begins: a clock for each stream, each host thread and each
 * event.
 *
 * A lane is a stream: its operations run one after the other. Operations have numbers that go up with time, over all
 * lanes. A clock has a number for each lane: the operations of that lane with smaller numbers are over.
 *
 * What one host thread has waited for is known to that thread. Threads may tell each other in ways that are not seen:
 * where only what another thread knows would order two operations, their order is open (clock_may_have). */
#ifndef ENGINE_ORDER_ORDER_H
#define ENGINE_ORDER_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ORDER_LANES = 256 };

typedef struct OrderClock {
    uint64_t over[ORDER_LANES];
    uint32_t copies[ORDER_LANES]; /* the same of copies, where they have numbers of their own (lane_copy) */
    bool open;                    /* something may be over that the clock does not have */
} OrderClock;

typedef struct OrderLane {
    uint32_t index;        /* in a clock */
    uint32_t process;      /* whose it is */
    uint64_t context;      /* legacy and blocking streams wait for each other within one context */
    bool legacy, blocking; /* legacy: the stream that blocking streams wait for, and that waits for them */
    bool host;             /* it is a thread of the host */
    bool gone;             /* destroyed: no operation comes */
    bool launched;         /* the last operation is a launch */
    uint64_t last;         /* the last operation's number, + 1; 0: there was none */
    uint32_t last_copy;    /* the last copy's, + 1 */
    OrderClock now;        /* what is over when the next operation begins */
    OrderClock begun;      /* what was over when the last launch began */
} OrderLane;

typedef struct OrderThread {
    uint64_t id;
    uint32_t process; /* whose it is */
    OrderClock knows;
} OrderThread;

/* Of all processes of a program. All zero at first. */
typedef struct ProgramOrder {
    OrderLane *lanes[ORDER_LANES];
    uint32_t lane_count;
    OrderThread **threads;
    uint32_t thread_count, thread_capacity;
    OrderClock hosts; /* what any thread knows */
    uint32_t process; /* that new lanes and threads are of */
} ProgramOrder;

void order_free_all(ProgramOrder *order);

/* A new stream; NULL: there are too many, or there is no memory. The lane of a stream that is gone is used again once
 * every thread knows that its operations are over; or some thread, where there is no other: its clock is open then. */
OrderLane *order_lane(ProgramOrder *order, uint64_t context, bool legacy, bool blocking);
/* Of that id in the process; it is made at its first use, and knows nothing then. NULL: there is no memory. */
OrderThread *order_thread(ProgramOrder *order, uint64_t id);
/* It puts nothing into streams any more. */
void order_thread_ends(ProgramOrder *order, OrderThread *thread);
/* Whether each thread knows that the operation of that number is over: so it is for all that comes. */
bool threads_know(const ProgramOrder *order, uint32_t lane, uint64_t number);

OrderClock *clock_copy(const OrderClock *clock); /* for free(); NULL: there is no memory */
void lanes_join(const ProgramOrder *order, OrderClock *clock, const OrderClock *other);
void lanes_set(const ProgramOrder *order, OrderClock *clock, const OrderClock *other);

/* The thread puts something into the stream: it begins after what streams wait for by themselves, and after what the
 * thread has waited for. lane->now is then what is over when it begins. */
void lane_issue(ProgramOrder *order, OrderLane *lane, const OrderThread *thread);
/* That is an operation with this number: what comes next in the lane begins after it. */
void lane_operation(OrderLane *lane, uint64_t number);
void lane_copy(OrderLane *lane, uint32_t number);
/* The same of a launch. A dependent launch may begin while the launch before it runs, unless something else stands
 * between them: lane->begun is what is over when it begins, lane->now what is over once it has waited. Returns whether
 * it may. */
bool lane_launch(ProgramOrder *order, OrderLane *lane, const OrderThread *thread, bool dependent);
/* The stream waits for what the clock has. */
void lane_waits(ProgramOrder *order, OrderLane *lane, const OrderThread *thread, const OrderClock *clock);
/* The thread does; and for all streams of a context of its process (all: of every one). */
void thread_waits(ProgramOrder *order, OrderThread *thread, const OrderClock *clock);
void thread_waits_for_all(ProgramOrder *order, OrderThread *thread, bool all, uint64_t context);

static inline bool clock_has(const OrderClock *clock, uint32_t lane, uint64_t number) {
    return number < clock->over[lane];
}
/* Whether it may be over by what cannot be seen: another thread knows, or the clock is open. */
static inline bool clock_may_have(const ProgramOrder *order, const OrderClock *clock, uint32_t lane, uint64_t number) {
    return clock->open || number < order->hosts.over[lane];
}

#endif
