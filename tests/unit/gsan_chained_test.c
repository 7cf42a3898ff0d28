/* Launches whose CTAs take the numbers in clocks of those before them in their stream, beside the same launches with
 * numbers of their own: random streams of two devices, events between them, signals. The same races are found. */
#include "gsan_runs.h"

#include "base/array.h"
#include "share.h"

#include <stdlib.h>
#include <string.h>

enum { PROGRAMS = 1000, STREAMS = 5, LAUNCHES = 40, CTAS = 3, TURNS = 12, CELLS = 6, CELL = 4 };

typedef struct Found {
    GsanRace *races;
    uint32_t count, capacity;
} Found;

static void keep(void *context, const GsanRace *race) {
    Found *all = context;
    assert_true(ARRAY_ROOM(all->races, all->count, all->capacity, 64));
    all->races[all->count++] = *race;
}

typedef struct Issued {
    uint32_t number, ctas;
    uint32_t threads[CTAS];
    bool runs;
} Issued;

typedef struct Streams {
    Gsan *engines[2]; /* the second one has chained launches */
    Found found[2];
    Issued launches[LAUNCHES];
    uint32_t count, last[STREAMS]; /* last: of each stream its last launch, + 1 */
} Streams;

static uint32_t any(uint32_t count) {
    return (uint32_t)rand() % count;
}

static void finish(Streams *streams, Issued *launch) {
    for (uint32_t i = 0; launch->runs && i < launch->ctas; i++)
        for (int k = 0; k < 2; k++)
            gsan_end(streams->engines[k], launch->threads[i]);
    launch->runs = false;
}

/* Behind the last one of its stream, unless what is there has forgotten it, and behind events of others. */
static void issue(Streams *streams) {
    uint32_t stream = any(STREAMS), after[STREAMS + 1], count = 0, last = streams->last[stream];
    Issued *made = &streams->launches[streams->count];
    bool goes_on = last && any(10);
    if (goes_on)
        after[count++] = last - 1;
    for (uint32_t i = any(4); i && streams->count && count < STREAMS; i--)
        after[count++] = any(streams->count);
    for (uint32_t i = 0; i < count; i++)
        finish(streams, &streams->launches[after[i]]);
    *made = (Issued){.number = streams->count, .ctas = 1 + any(CTAS), .runs = true};
    for (uint32_t k = 0; k < 2; k++) {
        GsanLaunch launch = {.device = stream % 2,
                             .ctas = made->ctas,
                             .cluster = 1,
                             .after = after,
                             .after_count = count,
                             .chained = k == 1,
                             .behind = goes_on ? last - 1 : GSAN_NO_LAUNCH};
        assert_int_equal(gsan_launch(streams->engines[k], &launch), made->number);
        for (uint32_t i = 0; i < made->ctas; i++)
            made->threads[i] = gsan_begin(streams->engines[k], made->number, i);
    }
    streams->last[stream] = ++streams->count;
}

static void take_turn(Streams *streams) {
    Issued *launch = &streams->launches[any(streams->count)];
    uint32_t thread = launch->threads[any(launch->ctas)], site = any(1000);
    uint64_t begin = DATA + CELL * any(CELLS);
    Order order = (Order)any(ORDER_ACQ_REL + 1);
    Scope scope = (Scope)(SCOPE_CLUSTER + any(3));
    AccessKind kind = (AccessKind)any(3);
    bool fences = !any(6) && order != ORDER_WEAK && order != ORDER_RELAXED;
    for (int k = 0; k < 2 && launch->runs; k++)
        if (fences)
            gsan_fence(streams->engines[k], thread, site, order, scope);
        else
            gsan_access(streams->engines[k], thread, site, kind, order, order == ORDER_WEAK ? SCOPE_NONE : scope,
                        GSAN_NO_TICKET, begin, begin + CELL);
}

static void is_same(const GsanRace *one, const GsanRace *other) {
    assert_int_equal(one->begin, other->begin);
    assert_int_equal(one->end, other->end);
    assert_int_equal(one->earlier.launch, other->earlier.launch);
    assert_int_equal(one->earlier.cta, other->earlier.cta);
    assert_int_equal(one->earlier.site, other->earlier.site);
    assert_int_equal(one->later.launch, other->later.launch);
    assert_int_equal(one->later.site, other->later.site);
    assert_int_equal(one->reason, other->reason);
    assert_int_equal(one->missing, other->missing);
    assert_int_equal(one->released_site, other->released_site);
    assert_int_equal(one->acquired_site, other->acquired_site);
}

/* Returns how many races there are. */
static uint32_t run(unsigned seed) {
    Streams streams = {0};
    GsanOptions options = {.mode = GSAN_EXACT, .devices = 2};
    const char *problem = NULL;
    uint32_t thread, site;
    srand(seed);
    for (int k = 0; k < 2; k++)
        assert_non_null(streams.engines[k] = gsan_create(&options, keep, &streams.found[k], &problem));
    while (streams.count < LAUNCHES) {
        issue(&streams);
        for (uint32_t i = any(TURNS); i; i--)
            take_turn(&streams);
    }
    assert_int_equal(streams.found[0].count, streams.found[1].count);
    for (uint32_t i = 0; i < streams.found[0].count; i++)
        is_same(&streams.found[0].races[i], &streams.found[1].races[i]);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(gsan_trouble(streams.engines[k], &thread, &site), GSAN_FINE);
        gsan_free(streams.engines[k]);
        free(streams.found[k].races);
    }
    return streams.found[0].count;
}

static void chained_launches_race_as_others_do(void **state) {
    (void)state;
    uint64_t races = 0;
    for (unsigned i = 0; i < share_of(PROGRAMS); i++)
        races += run(i);
    assert_true(races > 10 * share_of(PROGRAMS)); /* there is something to be compared */
}

/* Two streams that wait for each other: what clocks take is so much for each launch. */
static size_t clock_bytes(uint32_t launches) {
    Found all = {0};
    GsanOptions options = {.mode = GSAN_EXACT, .devices = 2};
    const char *problem = NULL;
    Gsan *gsan = gsan_create(&options, keep, &all, &problem);
    assert_non_null(gsan);
    for (uint32_t i = 0; i < launches; i++) {
        const uint32_t after[] = {i - 1, i - 2};
        GsanLaunch launch = {.device = i % 2,
                             .after = after,
                             .after_count = i < 2 ? i : 2,
                             .chained = true,
                             .behind = i < 2 ? GSAN_NO_LAUNCH : i - 2};
        uint32_t thread = gsan_begin(gsan, gsan_launch(gsan, &launch), 0);
        gsan_access(gsan, thread, i % 2, KIND_WRITE, ORDER_WEAK, SCOPE_NONE, GSAN_NO_TICKET, DATA, DATA + 64);
        gsan_end(gsan, thread);
    }
    assert_int_equal(all.count, 0);
    size_t bytes = gsan_stats(gsan).clock_bytes;
    gsan_free(gsan);
    return bytes;
}

static void clocks_of_chained_launches_do_not_grow(void **state) {
    (void)state;
    assert_in_range(clock_bytes(8000), 1, 9 * clock_bytes(1000));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(chained_launches_race_as_others_do),
                                       cmocka_unit_test(clocks_of_chained_launches_do_not_grow)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
