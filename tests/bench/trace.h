/* A trace to measure race checkers with: a warp-specialized MMA, as its events.
 *
 * Three partitions: a producer that copies tiles of A and B into a ring of three slots, a consumer that multiplies them
 * into an accumulator, and an epilogue that takes every finished accumulator out. Eight barriers: full and empty for
 * each slot, done and free for the accumulator. The whole trace can be played again and again: every phase bit is at
 * its end what it was at its beginning. */
#ifndef TESTS_BENCH_TRACE_H
#define TESTS_BENCH_TRACE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    EPILOGUE, /* ORDER of the threads that take part */
    PRODUCER,
    CONSUMER,
    TRACE_AGENTS,
    TRACE_SLOTS = 3,
    TRACE_STEPS = 8, /* of one product */
    TRACE_PRODUCTS = 6,
    TRACE_FULL = 0,
    TRACE_EMPTY = TRACE_FULL + TRACE_SLOTS,
    TRACE_DONE = TRACE_EMPTY + TRACE_SLOTS,
    TRACE_FREE,
    TRACE_BARRIERS,
    /* Buffers, each of as many pieces as is asked for. */
    TRACE_A = 0,
    TRACE_B = TRACE_A + TRACE_SLOTS,
    TRACE_ACCUMULATOR = TRACE_B + TRACE_SLOTS,
    TRACE_RESULT,
    TRACE_BUFFERS,
    TRACE_MOST = 20 * TRACE_STEPS * TRACE_PRODUCTS,
};

typedef enum TraceKind {
    TRACE_READ,
    TRACE_WRITE,
    TRACE_COPY_IN,   /* a write by the TMA unit */
    TRACE_MMA_READ,  /* by the tensor core */
    TRACE_MMA_WRITE, /* by the tensor core */
    TRACE_COPY_OUT,  /* a read by the TMA unit, waited for as a group */
    TRACE_GROUP,     /* the group is closed */
    TRACE_GROUP_WAIT,
    TRACE_ARRIVE,
    TRACE_COMMIT,  /* the tensor core arrives when it is done */
    TRACE_DELIVER, /* a copy has brought its bytes */
    TRACE_FLIP,    /* the arrival before was the last one */
    TRACE_WAIT,
} TraceKind;

typedef struct TraceEvent {
    uint8_t kind, agent, barrier, parity, buffer;
} TraceEvent;

typedef struct Trace {
    TraceEvent events[TRACE_MOST];
    uint32_t count;
} Trace;

static void trace_add(Trace *to, TraceKind kind, uint32_t agent, uint32_t barrier, uint32_t parity, uint32_t buffer) {
    to->events[to->count++] =
        (TraceEvent){(uint8_t)kind, (uint8_t)agent, (uint8_t)barrier, (uint8_t)(parity & 1), (uint8_t)buffer};
}

static void trace_produce(Trace *to, uint32_t step) {
    uint32_t slot = step % TRACE_SLOTS, turn = step / TRACE_SLOTS;
    trace_add(to, TRACE_WAIT, PRODUCER, TRACE_EMPTY + slot, turn + 1, 0);
    trace_add(to, TRACE_ARRIVE, PRODUCER, TRACE_FULL + slot, turn, 0);
    trace_add(to, TRACE_COPY_IN, PRODUCER, 0, 0, TRACE_A + slot);
    trace_add(to, TRACE_DELIVER, PRODUCER, TRACE_FULL + slot, turn, TRACE_A + slot);
    trace_add(to, TRACE_COPY_IN, PRODUCER, 0, 0, TRACE_B + slot);
    trace_add(to, TRACE_DELIVER, PRODUCER, TRACE_FULL + slot, turn, TRACE_B + slot);
    trace_add(to, TRACE_FLIP, PRODUCER, TRACE_FULL + slot, turn, 0);
}

static void trace_consume(Trace *to, uint32_t step) {
    uint32_t slot = step % TRACE_SLOTS, turn = step / TRACE_SLOTS, product = step / TRACE_STEPS;
    if (step % TRACE_STEPS == 0)
        trace_add(to, TRACE_WAIT, CONSUMER, TRACE_FREE, product + 1, 0);
    trace_add(to, TRACE_WAIT, CONSUMER, TRACE_FULL + slot, turn, 0);
    trace_add(to, TRACE_MMA_READ, CONSUMER, 0, 0, TRACE_A + slot);
    trace_add(to, TRACE_MMA_READ, CONSUMER, 0, 0, TRACE_B + slot);
    trace_add(to, TRACE_MMA_WRITE, CONSUMER, 0, 0, TRACE_ACCUMULATOR);
    trace_add(to, TRACE_COMMIT, CONSUMER, TRACE_EMPTY + slot, turn, 0);
    trace_add(to, TRACE_FLIP, CONSUMER, TRACE_EMPTY + slot, turn, 0);
    if (step % TRACE_STEPS == TRACE_STEPS - 1) {
        trace_add(to, TRACE_COMMIT, CONSUMER, TRACE_DONE, product, 0);
        trace_add(to, TRACE_FLIP, CONSUMER, TRACE_DONE, product, 0);
    }
}

static void trace_finish(Trace *to, uint32_t product) {
    trace_add(to, TRACE_WAIT, EPILOGUE, TRACE_DONE, product, 0);
    trace_add(to, TRACE_READ, EPILOGUE, 0, 0, TRACE_ACCUMULATOR);
    trace_add(to, TRACE_ARRIVE, EPILOGUE, TRACE_FREE, product, 0);
    trace_add(to, TRACE_FLIP, EPILOGUE, TRACE_FREE, product, 0);
    trace_add(to, TRACE_GROUP_WAIT, EPILOGUE, 0, 0, 0);
    trace_add(to, TRACE_WRITE, EPILOGUE, 0, 0, TRACE_RESULT);
    trace_add(to, TRACE_COPY_OUT, EPILOGUE, 0, 0, TRACE_RESULT);
    trace_add(to, TRACE_GROUP, EPILOGUE, 0, 0, 0);
}

/* What one partition does. */
static void trace_of(Trace *to, uint32_t agent) {
    to->count = 0;
    for (uint32_t product = 0; product < TRACE_PRODUCTS; product++) {
        for (uint32_t step = product * TRACE_STEPS; step < (product + 1) * TRACE_STEPS; step++) {
            if (agent == PRODUCER)
                trace_produce(to, step);
            else if (agent == CONSUMER)
                trace_consume(to, step);
        }
        if (agent == EPILOGUE)
            trace_finish(to, product);
    }
}

#endif
