/* Several launches in one engine: what one of them did is before what comes behind its end. */
#include "engine/hb/threads_internal.h"

/* The clock that knows of the end of a launch: one for all who learn of it. */
typedef struct EndedLaunch {
    struct EndedLaunch *next;
    uint32_t first_cta, ctas;
    ThreadsClock *clock;
} EndedLaunch;

static const ThreadsClock *clock_of(Threads *threads, uint32_t first_cta, uint32_t ctas) {
    EndedLaunch *ended = threads->ended;
    while (ended && (ended->first_cta != first_cta || ended->ctas != ctas))
        ended = ended->next;
    if (!ended) {
        ended = POOL_NEW(&threads->pool, EndedLaunch);
        ended->first_cta = first_cta;
        ended->ctas = ctas;
        ended->clock = threads_clock_of_ended(threads, first_cta, ctas);
        ended->next = threads->ended;
        threads->ended = ended;
    }
    return ended->clock;
}

static void learn(Threads *threads, uint32_t number, ThreadsView *view, uint32_t lanes, void *context) {
    (void)lanes;
    threads_clock_join(threads, &view->clock, number / threads->cta_warps, context);
    view_tick(view);
}

void threads_ended(Threads *threads, uint32_t warp, uint32_t lanes, uint32_t first_cta, uint32_t ctas) {
    ENTER(threads);
    if (!ctas)
        return;
    threads_views(threads, warp, lanes, true, learn, (void *)clock_of(threads, first_cta, ctas));
    threads_views_merge(threads, threads_warp(threads, warp));
}
