/* How many elements a second the global race engine takes, by itself, on the trace of global_trace.h; and how much
 * memory its clocks need.
 *
 * Prints `speed MODE GRANULE PIECE ELEMENTS SECONDS` of processor time, the best of some rounds; `shadow BYTES REAL` of
 * the sampled mode; and `clocks DEVICES THREADS RING BYTES`, of an engine that was really made. */
#include "engine/hb/gsan.h"
#include "global_trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 5, COUNTER = 0x40000000, BASE = 0x10000000 };

typedef struct Play {
    Gsan *gsan;
    uint32_t threads[GLOBAL_CTAS];
} Play;

static void must_be_clean(void *context, const GsanRace *race) {
    (void)context;
    fprintf(stderr, "the trace has a race at %#llx\n", (unsigned long long)race->begin);
    exit(1);
}

static Gsan *create(GsanOptions options) {
    const char *problem = NULL;
    Gsan *gsan = gsan_create(&options, must_be_clean, NULL, &problem);
    if (!gsan) {
        fprintf(stderr, "%s\n", problem);
        exit(1);
    }
    return gsan;
}

static void access_piece(void *context, uint32_t cta, int is_write, uint32_t begin, uint32_t count) {
    Play *play = context;
    gsan_access(play->gsan, play->threads[cta], is_write, is_write ? KIND_WRITE : KIND_READ, ORDER_WEAK, SCOPE_NONE,
                GSAN_NO_TICKET, BASE + 4 * (uint64_t)begin, BASE + 4 * (uint64_t)(begin + count));
}

static void meet(Play *play) {
    for (uint32_t i = 0; i < GLOBAL_CTAS; i++)
        gsan_access(play->gsan, play->threads[i], 2, KIND_UPDATE, ORDER_ACQ_REL, SCOPE_GPU, GSAN_NO_TICKET, COUNTER,
                    COUNTER + 4);
    for (uint32_t i = 0; i < GLOBAL_CTAS; i++)
        gsan_access(play->gsan, play->threads[i], 3, KIND_READ, ORDER_ACQUIRE, SCOPE_GPU, GSAN_NO_TICKET, COUNTER,
                    COUNTER + 4);
}

static void play_round(Play *play, uint32_t piece) {
    for (uint32_t i = 0; i < GLOBAL_CTAS; i++)
        global_first_half(i, piece, access_piece, play);
    meet(play);
    for (uint32_t i = 0; i < GLOBAL_CTAS; i++)
        global_second_half(i, piece, access_piece, play);
    meet(play);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void measure(GsanMode mode, uint32_t granule, uint32_t piece, uint32_t again) {
    Play play = {.gsan = create((GsanOptions){.mode = mode, .granule = granule, .ring = 64})};
    uint32_t launch = gsan_launch(play.gsan, &(GsanLaunch){.ctas = GLOBAL_CTAS, .cluster = 1});
    for (uint32_t i = 0; i < GLOBAL_CTAS; i++)
        play.threads[i] = gsan_begin(play.gsan, launch, i);
    double best = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double start = now();
        for (uint32_t i = 0; i < again; i++)
            play_round(&play, piece);
        double seconds = now() - start;
        if (!round || seconds < best)
            best = seconds;
    }
    uint32_t thread, site;
    if (gsan_trouble(play.gsan, &thread, &site) != GSAN_FINE)
        exit(1);
    printf("speed %s %u %u %llu %.6f\n", mode == GSAN_EXACT ? "exact" : "sampled", granule, piece,
           (unsigned long long)again * GLOBAL_ROUND, best);
    if (mode == GSAN_SAMPLED && piece == GLOBAL_PART) {
        GsanStats stats = gsan_stats(play.gsan);
        printf("shadow %llu %llu\n", (unsigned long long)stats.shadow_bytes, (unsigned long long)stats.real_bytes);
    }
    gsan_free(play.gsan);
}

static void measure_clocks(uint32_t devices, uint32_t threads, uint32_t ring) {
    Gsan *gsan =
        create((GsanOptions){.mode = GSAN_SAMPLED, .devices = devices, .threads_per_device = threads, .ring = ring});
    printf("clocks %u %u %u %llu\n", devices, threads, ring, (unsigned long long)gsan_stats(gsan).clock_bytes);
    gsan_free(gsan);
}

int main(void) {
    static const uint32_t pieces[] = {GLOBAL_PART, 32, 1};
    for (int i = 0; i < 3; i++) {
        uint32_t again = i == 2 ? 10 : 100;
        measure(GSAN_EXACT, 1, pieces[i], again);
        measure(GSAN_EXACT, 4, pieces[i], again);
        measure(GSAN_SAMPLED, 4, pieces[i], again);
    }
    measure_clocks(1, 152, 1024);
    measure_clocks(2, 152, 1024);
    measure_clocks(4, 76, 1024);
    measure_clocks(4, 152, 1024);
    return 0;
}
