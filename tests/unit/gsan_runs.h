/* Runs of the global race engine for its tests: CTAs that access memory, and the races that were told. */
#ifndef TESTS_UNIT_GSAN_RUNS_H
#define TESTS_UNIT_GSAN_RUNS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/hb/gsan.h"

enum { DATA = 0x10000, FLAG = 0x20000, WRITER = 0, READER = 1 };

typedef struct Run {
    Gsan *gsan;
    unsigned reported;
    GsanRace races[64];
    uint32_t threads[64];
} Run;

static inline void found(void *context, const GsanRace *race) {
    Run *run = context;
    assert_true(run->reported < 64);
    run->races[run->reported++] = *race;
}

/* A macro, since what is found comes to where the run lies. */
#define RUN(run, options)                                           \
    Run run = {.reported = 0};                                      \
    do {                                                            \
        GsanOptions chosen = options;                               \
        const char *problem = NULL;                                 \
        (run).gsan = gsan_create(&chosen, found, &(run), &problem); \
        assert_non_null((run).gsan);                                \
    } while (0)

static inline GsanOptions in_mode(GsanMode mode) {
    return (GsanOptions){.mode = mode, .devices = 2, .threads_per_device = 8, .ring = 16, .seed = 1};
}

static inline uint32_t launch(Run *run, uint32_t device, uint32_t ctas, uint32_t cluster) {
    return gsan_launch(run->gsan, &(GsanLaunch){.device = device, .ctas = ctas, .cluster = cluster});
}

/* CTAs of one launch, each a cluster: run->threads. */
static inline void start(Run *run, uint32_t ctas) {
    uint32_t number = launch(run, 0, ctas, 1);
    for (uint32_t i = 0; i < ctas; i++)
        run->threads[i] = gsan_begin(run->gsan, number, i);
}

static inline unsigned weak(Run *run, uint32_t cta, AccessKind kind, uint64_t begin, uint64_t size) {
    return gsan_access(run->gsan, run->threads[cta], 10 * cta + kind, kind, ORDER_WEAK, SCOPE_NONE, GSAN_NO_TICKET,
                       begin, begin + size);
}

static inline unsigned strong(Run *run, uint32_t cta, AccessKind kind, Order order, Scope scope) {
    return gsan_access(run->gsan, run->threads[cta], 100 + 10 * cta + kind, kind, order, scope, GSAN_NO_TICKET, FLAG,
                       FLAG + 4);
}

static inline void fence(Run *run, uint32_t cta, Order order, Scope scope) {
    gsan_fence(run->gsan, run->threads[cta], 200 + cta, order, scope);
}

static inline void is_fine(Run *run) {
    uint32_t thread, site;
    assert_int_equal(gsan_trouble(run->gsan, &thread, &site), GSAN_FINE);
    gsan_free(run->gsan);
}

#define IN_BOTH_MODES(mode) for (GsanMode mode = GSAN_EXACT; mode <= GSAN_SAMPLED; mode++)

#endif
