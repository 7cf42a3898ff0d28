/* The trace of global_trace.h as a program: a thread for each CTA, and memory that they really touch, element by
 * element. Built with -fsanitize=thread it shows what a checker of real threads makes of the same accesses;
 * gsan_bench.c is the other side. Prints `threads ELEMENTS SECONDS` of processor time outside the kernel, the best of
 * some rounds. */
#include "global_trace.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { ROUNDS = 3, AGAIN = 20 };

static volatile uint32_t memory[GLOBAL_ELEMENTS];
static pthread_barrier_t barrier;

static void access_piece(void *context, uint32_t cta, int is_write, uint32_t begin, uint32_t count) {
    (void)context;
    for (uint32_t i = begin; i < begin + count; i++)
        if (is_write)
            memory[i] = cta;
        else
            (void)memory[i];
}

static void *work(void *number) {
    uint32_t cta = (uint32_t)(uintptr_t)number;
    for (int i = 0; i < AGAIN; i++) {
        global_first_half(cta, GLOBAL_PART, access_piece, NULL);
        pthread_barrier_wait(&barrier);
        global_second_half(cta, GLOBAL_PART, access_piece, NULL);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

static double now(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6;
}

static double run(void) {
    pthread_t threads[GLOBAL_CTAS];
    double start = now();
    for (uintptr_t i = 0; i < GLOBAL_CTAS; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)i))
            exit(1);
    for (uint32_t i = 0; i < GLOBAL_CTAS; i++)
        pthread_join(threads[i], NULL);
    return now() - start;
}

int main(void) {
    pthread_barrier_init(&barrier, NULL, GLOBAL_CTAS);
    double best = run();
    for (int round = 1; round < ROUNDS; round++) {
        double seconds = run();
        best = seconds < best ? seconds : best;
    }
    printf("threads %u %.6f\n", AGAIN * GLOBAL_ROUND, best);
    return 0;
}
