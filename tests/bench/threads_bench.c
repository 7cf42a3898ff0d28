/* The trace of trace.h as a program: a thread for each partition, memory that they really touch, and barriers made of a
 * mutex and a condition. Built with -fsanitize=thread it shows what a checker of real threads makes of the same events;
 * consan_bench.c is the other side.
 *
 * A span is eight bytes. Arrivals take and release the barrier's mutex; the TMA unit, the tensor core and groups are
 * nothing here but the thread that uses them. Prints `SPANS EVENTS SECONDS` of processor time outside the kernel, the
 * best of some rounds. */
#include "trace.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { ROUNDS = 3, EVENTS_A_ROUND = 1000 * 1000, MOST_PIECES = 8 };

typedef struct Barrier {
    pthread_mutex_t mutex;
    pthread_cond_t flipped;
    uint8_t phase;
} Barrier;

static Barrier barriers[TRACE_BARRIERS];
static volatile uint64_t memory[TRACE_BUFFERS * MOST_PIECES];
static Trace parts[TRACE_AGENTS];
static uint32_t pieces, times;

static void touch(const TraceEvent *event, bool writes) {
    volatile uint64_t *buffer = memory + event->buffer * pieces;
    for (uint32_t i = 0; i < pieces; i++)
        if (writes)
            buffer[i] = i;
        else
            (void)buffer[i];
}

static void play(const TraceEvent *event) {
    Barrier *barrier = &barriers[event->barrier];
    switch ((TraceKind)event->kind) {
    case TRACE_READ:
    case TRACE_MMA_READ:
    case TRACE_COPY_OUT:
        touch(event, false);
        break;
    case TRACE_WRITE:
    case TRACE_MMA_WRITE:
    case TRACE_COPY_IN:
        touch(event, true);
        break;
    case TRACE_GROUP:
    case TRACE_GROUP_WAIT:
        break;
    case TRACE_ARRIVE:
    case TRACE_COMMIT:
    case TRACE_DELIVER:
        pthread_mutex_lock(&barrier->mutex);
        pthread_mutex_unlock(&barrier->mutex);
        break;
    case TRACE_FLIP:
        pthread_mutex_lock(&barrier->mutex);
        barrier->phase ^= 1;
        pthread_cond_broadcast(&barrier->flipped);
        pthread_mutex_unlock(&barrier->mutex);
        break;
    case TRACE_WAIT:
        pthread_mutex_lock(&barrier->mutex);
        while (barrier->phase == event->parity)
            pthread_cond_wait(&barrier->flipped, &barrier->mutex);
        pthread_mutex_unlock(&barrier->mutex);
        break;
    }
}

static void *work(void *part) {
    const Trace *trace = part;
    for (uint32_t k = 0; k < times; k++)
        for (uint32_t i = 0; i < trace->count; i++)
            play(&trace->events[i]);
    return NULL;
}

static double now(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6;
}

static double run(void) {
    pthread_t threads[TRACE_AGENTS];
    double start = now();
    for (uint32_t i = 0; i < TRACE_AGENTS; i++)
        if (pthread_create(&threads[i], NULL, work, &parts[i]))
            exit(1);
    for (uint32_t i = 0; i < TRACE_AGENTS; i++)
        pthread_join(threads[i], NULL);
    return now() - start;
}

int main(void) {
    uint32_t events = 0;
    for (uint32_t i = 0; i < TRACE_BARRIERS; i++) {
        pthread_mutex_init(&barriers[i].mutex, NULL);
        pthread_cond_init(&barriers[i].flipped, NULL);
    }
    for (uint32_t i = 0; i < TRACE_AGENTS; i++) {
        trace_of(&parts[i], i);
        events += parts[i].count;
    }
    times = EVENTS_A_ROUND / events;
    for (pieces = 2; pieces <= MOST_PIECES; pieces *= 2) {
        double best = run();
        for (int round = 1; round < ROUNDS; round++) {
            double seconds = run();
            best = seconds < best ? seconds : best;
        }
        printf("%u %u %.6f\n", TRACE_BUFFERS * pieces, times * events, best);
    }
    return 0;
}
