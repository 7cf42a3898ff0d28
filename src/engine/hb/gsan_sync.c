/* Releases and acquires of the exact mode.
 *
 * What a strong read can acquire is kept beside the cell that it reads: the clocks of all releases whose values the
 * read may stand for. An update passes on what it has read (a release sequence) and adds its own; a store ends that,
 * except for what its own thread has released there. A release reaches a read if each link between them is morally
 * strong: the two that meet at the cell, and the release and the acquire themselves. So clocks are kept apart by the
 * scope and the thread of their release; from some number on, by the scope and the device. */
#include "engine/hb/gsan_internal.h"

#include <string.h>

enum { MOST_GROUPS = 32 };

/* Releases with one scope of one thread, or of several threads of one device. */
typedef struct GsanSyncGroup {
    Scope scope;
    uint32_t device;
    const Thread *thread; /* NULL: several */
    uint32_t epoch;       /* of `thread`, the last one that is released; else it is in the clock */
    Clock *clock;
} GsanSyncGroup;

struct GsanRelease {
    uint32_t references, count;
    const Thread *writer; /* of the last strong write */
    Scope scope;          /* of that write */
    uint64_t place;
    uint32_t bytes;
    uint32_t site, epoch; /* of the last release, by `releaser` */
    const Thread *releaser;
    GsanSyncGroup groups[];
};

static size_t release_size(uint32_t count) {
    return sizeof(GsanRelease) + count * sizeof(GsanSyncGroup);
}

GsanRelease *gsan_release_share(GsanRelease *release) {
    if (release)
        release->references++;
    return release;
}

void gsan_release_drop(Gsan *gsan, GsanRelease *release) {
    if (!release || --release->references)
        return;
    for (uint32_t i = 0; i < release->count; i++)
        clock_drop(&gsan->clocks, release->groups[i].clock);
    gsan_pool_give(&gsan->pool, release, release_size(release->count));
}

static void raise_epoch(Gsan *gsan, Clock **clock, const Thread *thread, uint32_t epoch) {
    if (thread && epoch)
        clock_raise(&gsan->clocks, clock, thread->of_clocks, epoch);
}

/* ---- Hints ---- */

static Hints *hints_of(Gsan *gsan, Thread *thread) {
    if (!thread->hints)
        thread->hints = POOL_NEW(&gsan->pool, Hints);
    return thread->hints;
}

static void add_missed(Gsan *gsan, Thread *thread, Missed missed) {
    Hints *hints = hints_of(gsan, thread);
    const Missed *last = &hints->missed[(hints->missed_count - 1) % HINTS];
    if (hints->missed_count && last->other == missed.other && last->released_site == missed.released_site &&
        last->acquired_site == missed.acquired_site)
        hints->missed_count--;
    hints->missed[hints->missed_count++ % HINTS] = missed;
}

static void add_release(Gsan *gsan, Thread *thread, uint32_t site, uint32_t epoch) {
    Hints *hints = hints_of(gsan, thread);
    uint32_t at = hints->release_count++ % HINTS;
    hints->releases[at].site = site;
    hints->releases[at].epoch = epoch;
}

void gsan_sync_missed(Gsan *gsan, GsanAccess *access, const Thread *writer, uint32_t epoch, uint32_t site) {
    if (writer == access->thread)
        return;
    GsanMissing missing = gsan_acquires(access) ? GSAN_NO_RELEASE : GSAN_NO_RELEASE_NO_ACQUIRE;
    add_missed(gsan, access->thread, (Missed){writer, epoch, site, access->site, missing});
}

void gsan_sync_hint(const Thread *later, const Thread *earlier, uint32_t epoch, GsanRace *race) {
    race->released_site = race->acquired_site = NO_SITE;
    const Hints *hints = later->hints;
    for (uint32_t i = 0; hints && i < hints->missed_count && i < HINTS; i++) {
        const Missed *missed = &hints->missed[(hints->missed_count - 1 - i) % HINTS];
        if (missed->other != earlier || missed->epoch < epoch)
            continue;
        race->released_site = missed->released_site;
        race->acquired_site = missed->acquired_site;
        race->missing = missed->missing;
        return;
    }
    hints = earlier->hints;
    for (uint32_t i = 0; hints && i < hints->release_count && i < HINTS; i++)
        if (hints->releases[i].epoch >= epoch) {
            race->released_site = hints->releases[i].site;
            race->missing = GSAN_NO_ACQUIRE;
            return;
        }
}

/* ---- Reading a release ---- */

/* The narrowest scope that has a thread and all of a group. */
static Scope needed_for(const GsanSyncGroup *group, const Thread *thread) {
    if (group->thread)
        return gsan_needed(group->thread, thread);
    return group->device == thread->device ? SCOPE_GPU : SCOPE_SYS;
}

/* Whether the last strong write and the access are morally strong. */
static bool links(const GsanRelease *release, const GsanAccess *access) {
    Scope needed = gsan_needed(release->writer, access->thread);
    bool is_same =
        !release->bytes || !access->bytes || (release->place == access->place && release->bytes == access->bytes);
    return is_same && release->scope >= needed && access->scope >= needed;
}

static void add_missed_release(Gsan *gsan, GsanAccess *access, const GsanRelease *release, GsanMissing missing) {
    if (release->releaser != access->thread)
        add_missed(gsan, access->thread,
                   (Missed){release->releaser, release->epoch, release->site, access->site, missing});
}

static void acquire_group(Gsan *gsan, Clock **into, const GsanSyncGroup *group) {
    clock_join(&gsan->clocks, into, group->clock);
    raise_epoch(gsan, into, group->thread, group->epoch);
}

void gsan_sync_read(Gsan *gsan, GsanAccess *access, GsanRelease *release) {
    Thread *thread = access->thread;
    bool acquires = gsan_acquires(access), is_linked = links(release, access), is_reached = is_linked;
    if (!acquires && thread->latest == release && thread->latest_scope == access->scope)
        return;
    for (uint32_t i = 0; is_linked && i < release->count; i++) {
        const GsanSyncGroup *group = &release->groups[i];
        Scope needed = needed_for(group, thread);
        bool is_covered = group->thread == thread || gsan_narrower(group->scope, access->scope) >= needed;
        is_reached &= is_covered;
        if (is_covered && group->thread != thread)
            acquire_group(gsan, acquires ? &thread->clock : &thread->observed[needed], group);
    }
    if (!acquires || !is_reached)
        add_missed_release(gsan, access, release, is_reached ? GSAN_NO_ACQUIRE : GSAN_TOO_NARROW);
    if (!acquires && is_linked) {
        gsan_release_drop(gsan, thread->latest);
        thread->latest = gsan_release_share(release);
        thread->latest_scope = access->scope;
    }
}

/* ---- Writing one ---- */

typedef struct GsanSyncGroups {
    GsanSyncGroup *items;
    uint32_t count, capacity;
} GsanSyncGroups;

static void merge(Gsan *gsan, GsanSyncGroup *into, const GsanSyncGroup *from) {
    clock_join(&gsan->clocks, &into->clock, from->clock);
    if (!into->thread)
        raise_epoch(gsan, &into->clock, from->thread, from->epoch);
    else if (into->epoch < from->epoch)
        into->epoch = from->epoch;
}

/* The clock of `group` is shared. */
static void add_group(Gsan *gsan, GsanSyncGroups *groups, const GsanSyncGroup *group) {
    for (uint32_t i = 0; i < groups->count; i++) {
        GsanSyncGroup *there = &groups->items[i];
        if (there->scope == group->scope && there->device == group->device &&
            (!there->thread || there->thread == group->thread)) {
            merge(gsan, there, group);
            return;
        }
    }
    groups->items = gsan_grown(gsan, groups->items, groups->count, &groups->capacity, sizeof(GsanSyncGroup));
    groups->items[groups->count] = *group;
    clock_share(groups->items[groups->count++].clock);
}

/* Groups of one scope and one device become one. */
static void coarsen(Gsan *gsan, GsanSyncGroups *groups) {
    uint32_t count = groups->count;
    GsanSyncGroups merged = {.items = NULL};
    for (uint32_t i = 0; i < count; i++) {
        GsanSyncGroup group = groups->items[i];
        raise_epoch(gsan, &group.clock, group.thread, group.epoch);
        group.thread = NULL;
        group.epoch = 0;
        add_group(gsan, &merged, &group);
        clock_drop(&gsan->clocks, group.clock);
    }
    gsan_pool_give(&gsan->pool, groups->items, groups->capacity * sizeof(GsanSyncGroup));
    *groups = merged;
}

static void add_own(Gsan *gsan, GsanSyncGroups *groups, const Thread *thread, Scope scope, Clock *clock,
                    uint32_t epoch) {
    GsanSyncGroup group = {.scope = scope, .device = thread->device, .thread = thread, .epoch = epoch, .clock = clock};
    add_group(gsan, groups, &group);
}

/* What is passed on from what was there. */
static void inherit(Gsan *gsan, GsanSyncGroups *groups, const GsanAccess *access, const GsanRelease *before) {
    bool is_update = access->kind == KIND_UPDATE;
    if (!before || (is_update && !links(before, access)))
        return;
    for (uint32_t i = 0; i < before->count; i++) {
        GsanSyncGroup group = before->groups[i];
        if (!is_update && group.thread != access->thread)
            continue;
        group.scope = is_update ? group.scope : gsan_narrower(group.scope, access->scope);
        add_group(gsan, groups, &group);
    }
}

/* Of its own: as a release, or after a fence that was one. False: nothing. */
static bool add_released(Gsan *gsan, GsanSyncGroups *groups, const GsanAccess *access, uint32_t *epoch) {
    Thread *thread = access->thread;
    bool is_any = false;
    *epoch = access->epoch;
    if (gsan_releases(access)) {
        add_own(gsan, groups, thread, access->scope, thread->clock, *epoch);
        return true;
    }
    for (uint32_t scope = SCOPE_CTA; scope < SCOPES; scope++)
        if (thread->has_fence[scope]) {
            *epoch = is_any && *epoch > thread->fence_epochs[scope] ? *epoch : thread->fence_epochs[scope];
            is_any = true;
            add_own(gsan, groups, thread, gsan_narrower((Scope)scope, access->scope), thread->fences[scope],
                    thread->fence_epochs[scope]);
        }
    return is_any;
}

GsanRelease *gsan_sync_write(Gsan *gsan, GsanAccess *access, const GsanRelease *before) {
    GsanSyncGroups groups = {.items = NULL};
    uint32_t epoch;
    inherit(gsan, &groups, access, before);
    bool is_own = add_released(gsan, &groups, access, &epoch);
    if (gsan_releases(access))
        add_release(gsan, access->thread, access->site, epoch);
    if (!groups.count)
        return NULL;
    if (groups.count > MOST_GROUPS)
        coarsen(gsan, &groups);
    GsanRelease *release = gsan_pool_take(&gsan->pool, release_size(groups.count));
    *release = (GsanRelease){.references = 1,
                             .count = groups.count,
                             .writer = access->thread,
                             .scope = access->scope,
                             .place = access->place,
                             .bytes = access->bytes,
                             .site = is_own ? access->site : before->site,
                             .epoch = is_own ? epoch : before->epoch,
                             .releaser = is_own ? access->thread : before->releaser};
    memcpy(release->groups, groups.items, groups.count * sizeof(GsanSyncGroup));
    gsan_pool_give(&gsan->pool, groups.items, groups.capacity * sizeof(GsanSyncGroup));
    return release;
}

/* ---- Fences and barriers ---- */

void gsan_sync_acquire_fence(Gsan *gsan, Thread *thread, Scope scope) {
    for (uint32_t i = SCOPE_CTA; i <= (uint32_t)scope; i++) {
        clock_join(&gsan->clocks, &thread->clock, thread->observed[i]);
        clock_drop(&gsan->clocks, thread->observed[i]);
        thread->observed[i] = NULL;
    }
    gsan_release_drop(gsan, thread->latest);
    thread->latest = NULL;
}

/* A wider fence has what narrower ones before it had. */
void gsan_sync_release_fence(Gsan *gsan, Thread *thread, Scope scope) {
    uint32_t epoch = gsan_close(gsan, thread);
    for (uint32_t i = SCOPE_CTA; i <= (uint32_t)scope; i++) {
        clock_drop(&gsan->clocks, thread->fences[i]);
        thread->fences[i] = NULL;
        thread->has_fence[i] = false;
    }
    thread->fences[scope] = clock_share(thread->clock);
    thread->fence_epochs[scope] = epoch;
    thread->has_fence[scope] = true;
    add_release(gsan, thread, gsan->site, epoch);
}

static void publish_fences(Gsan *gsan, Thread *thread, Shared *shared) {
    for (uint32_t scope = SCOPE_CLUSTER; scope < SCOPES; scope++)
        if (thread->has_fence[scope]) {
            clock_join(&gsan->clocks, &shared->clock, thread->fences[scope]);
            raise_epoch(gsan, &shared->clock, thread, thread->fence_epochs[scope]);
        }
}

void gsan_sync_publish(Gsan *gsan, Thread *thread, Shared *shared, GsanExtent extent) {
    if (extent == GSAN_FENCED) {
        publish_fences(gsan, thread, shared);
        return;
    }
    clock_join(&gsan->clocks, &shared->clock, thread->clock);
    raise_epoch(gsan, &shared->clock, thread, thread->published);
}

void gsan_sync_acquire(Gsan *gsan, Thread *thread, const Shared *shared) {
    clock_join(&gsan->clocks, &thread->clock, shared->clock);
}

void gsan_sync_retire(Gsan *gsan, Shared *shared) {
    clock_drop(&gsan->clocks, shared->clock);
    shared->clock = NULL;
}
