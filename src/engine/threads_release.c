/* What releases bring to those who acquire: clocks, each with the scope and the CTA of who released it. */
#include "engine/threads_internal.h"

#include <string.h>

static size_t size_of(uint32_t capacity) {
    return sizeof(Releases) + capacity * sizeof(Release);
}

Releases *threads_releases_share(Releases *releases) {
    if (releases)
        releases->references++;
    return releases;
}

void threads_releases_drop(Threads *threads, Releases *releases) {
    if (!releases || --releases->references > 0)
        return;
    for (uint32_t i = 0; i < releases->count; i++)
        threads_clock_drop(threads, releases->items[i].clock);
    threads_clock_drop(threads, releases->all);
    gsan_pool_give(&threads->pool, releases, size_of(releases->capacity));
}

/* A copy of its own with room for one more. */
static void own(Threads *threads, Releases **releases) {
    Releases *old = *releases;
    if (old && old->references == 1 && old->count < old->capacity)
        return;
    uint32_t count = old ? old->count : 0;
    uint32_t capacity = count < 2 ? 2 : count + count / 2;
    Releases *made = gsan_pool_take(&threads->pool, size_of(capacity));
    *made = (Releases){.references = 1, .capacity = capacity, .one_cta = UINT32_MAX, .min_level = LEVEL_GPU};
    if (old) {
        made->count = count;
        made->all = threads_clock_share(old->all);
        made->one_cta = old->one_cta;
        made->min_level = old->min_level;
        memcpy(made->items, old->items, count * sizeof(Release));
        for (uint32_t i = 0; i < count; i++)
            threads_clock_share(made->items[i].clock);
        threads_releases_drop(threads, old);
    }
    *releases = made;
}

void threads_releases_add(Threads *threads, Releases **releases, uint32_t cta, uint32_t level, Clock *clock) {
    own(threads, releases);
    Releases *to = *releases;
    if (to->all && to->one_cta != cta && to->all->home != NO_HOME) {
        Clock *all = NULL;
        threads_clock_join(threads, &all, NO_HOME, to->all);
        threads_clock_drop(threads, to->all);
        to->all = all;
    }
    if (to->all)
        threads_clock_join(threads, &to->all, to->all->home, clock);
    else
        to->all = threads_clock_share(clock);
    to->one_cta = to->count == 0 || to->one_cta == cta ? cta : UINT32_MAX;
    to->min_level = level < to->min_level ? level : to->min_level;
    uint32_t low = 0, high = to->count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        const Release *item = &to->items[middle];
        if (item->cta < cta || (item->cta == cta && item->level < level))
            low = middle + 1;
        else
            high = middle;
    }
    if (low < to->count && to->items[low].cta == cta && to->items[low].level == level) {
        threads_clock_join(threads, &to->items[low].clock, cta, clock);
        threads_clock_drop(threads, clock);
        return;
    }
    memmove(&to->items[low + 1], &to->items[low], (to->count - low) * sizeof(Release));
    to->items[low] = (Release){cta, level, clock};
    to->count++;
}

void threads_releases_join(Threads *threads, Releases **releases, const Releases *more) {
    for (uint32_t i = 0; more && i < more->count; i++)
        threads_releases_add(threads, releases, more->items[i].cta, more->items[i].level,
                             threads_clock_share(more->items[i].clock));
}

void threads_releases_acquire(Threads *threads, Releases *releases, Clock **clock, uint32_t cta, uint32_t level) {
    if (!releases || releases->count == 0)
        return;
    if (releases->one_cta == cta || (level >= LEVEL_GPU && releases->min_level >= LEVEL_GPU)) {
        threads_clock_join(threads, clock, cta, releases->all);
        return;
    }
    for (uint32_t i = 0; i < releases->count; i++) {
        const Release *item = &releases->items[i];
        if (level_has(threads, level, cta, item->cta) && level_has(threads, item->level, item->cta, cta))
            threads_clock_join(threads, clock, cta, item->clock);
        else
            threads_bridge_join(threads, clock, cta, KEY_LOOSE, item->clock);
    }
}
