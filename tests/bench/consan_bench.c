/* How many events a second the race engine takes, by itself: plays the trace of trace.h, in the order in which a run
 * that completes everything at once has it, with 16, 32 and 64 spans.
 *
 * An event is what the emulator calls one: an access (checked and made), an arrival, a delivery, a phase that ends, a
 * wait. Prints `SPANS EVENTS SECONDS` of processor time, the best of some rounds. */
#include "engine/consan/consan.h"
#include "trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 9, EVENTS_A_ROUND = 4 * 1000 * 1000, MOST_PIECES = 8 };

/* All partitions in turn, each as far as it gets. */
static void merge(Trace *whole) {
    static Trace parts[TRACE_AGENTS];
    uint32_t at[TRACE_AGENTS] = {0};
    uint8_t phases[TRACE_BARRIERS] = {0};
    for (uint32_t i = 0; i < TRACE_AGENTS; i++)
        trace_of(&parts[i], i);
    for (bool moved = true; moved;) {
        moved = false;
        for (uint32_t i = 0; i < TRACE_AGENTS; i++)
            for (; at[i] < parts[i].count; at[i]++, moved = true) {
                const TraceEvent *event = &parts[i].events[at[i]];
                if (event->kind == TRACE_WAIT && phases[event->barrier] == event->parity)
                    break;
                phases[event->barrier] ^= event->kind == TRACE_FLIP;
                whole->events[whole->count++] = *event;
            }
    }
    for (uint32_t i = 0; i < TRACE_AGENTS; i++)
        if (at[i] < parts[i].count) {
            fprintf(stderr, "the trace blocks\n");
            exit(1);
        }
}

static void must_be_clean(ConsanConflict conflict) {
    if (conflict.kind != CONSAN_CLEAN) {
        fprintf(stderr, "the trace has a race: kind %d, span %u, actor %u\n", (int)conflict.kind, conflict.span,
                conflict.actor);
        exit(1);
    }
}

static void play(Consan *engine, const Trace *trace, const uint32_t *spans, uint32_t pieces) {
    for (uint32_t i = 0; i < trace->count; i++) {
        const TraceEvent *event = &trace->events[i];
        const uint32_t *buffer = spans + event->buffer * pieces;
        uint32_t agent = event->agent;
        switch ((TraceKind)event->kind) {
        case TRACE_READ:
            must_be_clean(consan_verify_read(engine, agent, buffer, pieces));
            consan_set_read(engine, agent, buffer, pieces, i);
            break;
        case TRACE_WRITE:
            must_be_clean(consan_verify_write(engine, agent, buffer, pieces));
            consan_set_write(engine, agent, buffer, pieces, i);
            break;
        case TRACE_COPY_IN:
            must_be_clean(consan_verify_write(engine, CONSAN_TMA + agent, buffer, pieces));
            must_be_clean(consan_verify_write(engine, agent, buffer, pieces));
            consan_set_write(engine, CONSAN_TMA + agent, buffer, pieces, i);
            break;
        case TRACE_MMA_READ:
            must_be_clean(consan_verify_read(engine, CONSAN_TENSOR + agent, buffer, pieces));
            consan_set_read(engine, CONSAN_TENSOR + agent, buffer, pieces, i);
            break;
        case TRACE_MMA_WRITE:
            must_be_clean(consan_verify_write(engine, CONSAN_TENSOR + agent, buffer, pieces));
            consan_set_write(engine, CONSAN_TENSOR + agent, buffer, pieces, i);
            break;
        case TRACE_COPY_OUT:
            must_be_clean(consan_verify_read(engine, CONSAN_TMA + agent, buffer, pieces));
            consan_stage(engine, CONSAN_STORE, agent, buffer, pieces, i);
            break;
        case TRACE_GROUP:
            consan_commit(engine, CONSAN_STORE, agent);
            break;
        case TRACE_GROUP_WAIT:
            consan_clear(engine, CONSAN_STORE, agent, 0);
            break;
        case TRACE_ARRIVE:
            consan_track_frontier(engine, agent, event->barrier, event->parity);
            break;
        case TRACE_COMMIT:
            consan_track_frontier(engine, CONSAN_TENSOR + agent, event->barrier, event->parity);
            break;
        case TRACE_DELIVER:
            consan_track_writes(engine, buffer, pieces, event->barrier, event->parity);
            break;
        case TRACE_FLIP: /* its parity is that of the phase that ends */
            consan_begin_phase(engine, event->barrier, !event->parity);
            break;
        case TRACE_WAIT:
            consan_transfer(engine, agent, event->barrier, event->parity);
            break;
        }
    }
}

static void *allocate(void *context, size_t size) {
    (void)context;
    return calloc(1, size);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void measure(const Trace *trace, uint32_t pieces) {
    Consan engine;
    uint32_t spans[TRACE_BUFFERS * MOST_PIECES], count = TRACE_BUFFERS * pieces, again = EVENTS_A_ROUND / trace->count;
    ConsanSize size = {.agents = TRACE_AGENTS, .spans = count, .barriers = TRACE_BARRIERS};
    if (!consan_create(&engine, &size, allocate, NULL))
        exit(1);
    for (uint32_t i = 0; i < count; i++)
        spans[i] = consan_span(&engine, 0);
    for (uint32_t i = 1; i < TRACE_AGENTS; i++)
        consan_fork(&engine, 0, i);
    double best = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double start = now();
        for (uint32_t i = 0; i < again; i++)
            play(&engine, trace, spans, pieces);
        double seconds = now() - start;
        if (!round || seconds < best)
            best = seconds;
    }
    printf("%u %u %.6f\n", count, again * trace->count, best);
}

int main(void) {
    static Trace trace;
    merge(&trace);
    for (uint32_t pieces = 2; pieces <= MOST_PIECES; pieces *= 2)
        measure(&trace, pieces);
    return 0;
}
