/* What releases bring to those who acquire: clocks, each with the scope and the CTA of who released it. */
#include "base/bisect.h"
#include "engine/hb/threads_internal.h"

#include <string.h>

static size_t size_of(uint32_t capacity) {
    return sizeof(Releases) + capacity * sizeof(Release);
}

Releases *threads_releases_share(Releases *releases) {
    if (releases)
        releases->references++;
    return releases;
}

static size_t row_size(uint32_t capacity) {
    return sizeof(ReleaseRow) + capacity * sizeof(Release);
}

static void row_drop(Threads *threads, ReleaseRow *row) {
    if (!row || --row->references > 0)
        return;
    for (uint32_t i = 0; i < row->count; i++)
        threads_clock_drop(threads, row->items[i].clock);
    gsan_pool_give(&threads->pool, row, row_size(row->capacity));
}

void threads_releases_drop(Threads *threads, Releases *releases) {
    if (!releases || --releases->references > 0)
        return;
    for (uint32_t i = 0; !releases->row && i < releases->count; i++)
        threads_clock_drop(threads, releases->items[i].clock);
    row_drop(threads, releases->row);
    threads_clock_drop(threads, releases->all);
    gsan_pool_give(&threads->pool, releases, size_of(releases->capacity));
}

/* A copy of its own, with room for one more if they are in it. */
static void own(Threads *threads, Releases **releases) {
    Releases *old = *releases;
    if (old && old->references == 1 && (old->row || old->count < old->capacity))
        return;
    uint32_t count = old ? old->count : 0;
    uint32_t capacity = old && old->row ? 0 : count < 2 ? 2 : count + count / 2;
    Releases *made = gsan_pool_take(&threads->pool, size_of(capacity));
    *made = (Releases){.references = 1, .capacity = capacity, .one_cta = UINT32_MAX, .min_level = LEVEL_GPU};
    if (old) {
        made->count = count;
        made->all = threads_clock_share(old->all);
        made->one_cta = old->one_cta;
        made->min_level = old->min_level;
        made->row = old->row;
        if (made->row)
            made->row->references++;
        for (uint32_t i = 0; !made->row && i < count; i++)
            made->items[i] =
                (Release){old->items[i].cta, old->items[i].level, threads_clock_share(old->items[i].clock)};
        threads_releases_drop(threads, old);
    }
    *releases = made;
}

/* ---- A few: sorted ---- */

static void put_sorted(Threads *threads, Release *items, uint32_t *count, Release item) {
    uint32_t low;
    BISECT(low, 0, *count, items[low].cta < item.cta || (items[low].cta == item.cta && items[low].level < item.level));
    if (low < *count && items[low].cta == item.cta && items[low].level == item.level) {
        threads_clock_join(threads, &items[low].clock, item.cta, item.clock);
        threads_clock_drop(threads, item.clock);
        return;
    }
    memmove(&items[low + 1], &items[low], (*count - low) * sizeof(Release));
    items[low] = item;
    ++*count;
}

/* ---- Many: one behind the other ---- */

static bool is_of(const Release *release, const Release *other) {
    return release->cta == other->cta && release->level == other->level;
}

/* They become one of each CTA and level. How many those are. */
static uint32_t join_alike(Threads *threads, Release *items, uint32_t count) {
    uint32_t seats = 2U << (31 - __builtin_clz(count)), kept = 0;
    uint32_t *first = gsan_pool_take(&threads->pool, seats * sizeof *first); /* + 1 */
    for (uint32_t i = 0; i < count; i++) {
        uint32_t seat = (uint32_t)hashed((uint64_t)items[i].cta << 2 | items[i].level) & (seats - 1);
        while (first[seat] && !is_of(&items[first[seat] - 1], &items[i]))
            seat = (seat + 1) & (seats - 1);
        if (first[seat]) {
            Release *there = &items[first[seat] - 1];
            threads_clock_join(threads, &there->clock, there->cta, items[i].clock);
            threads_clock_drop(threads, items[i].clock);
        } else {
            items[kept++] = items[i];
            first[seat] = kept;
        }
    }
    gsan_pool_give(&threads->pool, first, seats * sizeof *first);
    return kept;
}

/* A row of its own, in which each CTA and level is once, with room for as many more. */
static void row_make(Threads *threads, Releases *releases) {
    ReleaseRow *old = releases->row;
    uint32_t before = releases->count;
    Release *items = gsan_pool_take(&threads->pool, before * sizeof *items);
    memcpy(items, releases_items(releases), before * sizeof *items);
    for (uint32_t i = 0; old && i < before; i++)
        threads_clock_share(items[i].clock);
    uint32_t count = join_alike(threads, items, before);
    ReleaseRow *made = gsan_pool_take(&threads->pool, row_size(2 * count));
    made->references = 1;
    made->capacity = 2 * count;
    made->count = count;
    memcpy(made->items, items, count * sizeof *items);
    gsan_pool_give(&threads->pool, items, before * sizeof *items);
    row_drop(threads, old);
    releases->row = made;
    releases->count = count;
}

/* Nothing else has put something behind them, and there is room. */
static void put_behind(Threads *threads, Releases *releases, Release item) {
    if (!releases->row || releases->row->count != releases->count || releases->count == releases->row->capacity)
        row_make(threads, releases);
    releases->row->items[releases->row->count++] = item;
    releases->count++;
}

void threads_releases_add(Threads *threads, Releases **releases, uint32_t cta, uint32_t level, ThreadsClock *clock) {
    enum { FEW = 8 };
    own(threads, releases);
    Releases *to = *releases;
    if (to->all && to->one_cta != cta && to->all->home != NO_HOME) {
        ThreadsClock *all = NULL;
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
    if (to->row || to->count >= FEW)
        put_behind(threads, to, (Release){cta, level, clock});
    else
        put_sorted(threads, to->items, &to->count, (Release){cta, level, clock});
}

void threads_releases_join(Threads *threads, Releases **releases, const Releases *more) {
    for (uint32_t i = 0; more && i < more->count; i++)
        threads_releases_add(threads, releases, releases_items(more)[i].cta, releases_items(more)[i].level,
                             threads_clock_share(releases_items(more)[i].clock));
}

void threads_releases_acquire(Threads *threads, Releases *releases, ThreadsClock **clock, uint32_t cta,
                              uint32_t level) {
    if (!releases || releases->count == 0)
        return;
    if (releases->one_cta == cta || (level >= LEVEL_GPU && releases->min_level >= LEVEL_GPU)) {
        threads_clock_join(threads, clock, cta, releases->all);
        return;
    }
    for (uint32_t i = 0; i < releases->count; i++) {
        const Release *item = &releases_items(releases)[i];
        if (level_has(threads, level, cta, item->cta) && level_has(threads, item->level, item->cta, cta))
            threads_clock_join(threads, clock, cta, item->clock);
        else
            threads_bridge_join(threads, clock, cta, KEY_LOOSE, item->clock);
    }
}
