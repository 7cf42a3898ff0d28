/* The calls of gsan.h: launches, threads and tickets, which both modes have, and what was told. */
#include "engine/hb/gsan_internal.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_THREADS = 4096, MOST_EPOCH_SAMPLED = UINT16_MAX, MOST_SLOTS = 64, ONE_ELEMENT = 16 };

/* ---- Trouble and memory ---- */

const char *gsan_trouble_text(GsanTrouble trouble) {
    switch (trouble) {
    case GSAN_FINE:
        break;
    case GSAN_RING_OVERWRITTEN:
        return "a release was read after its clock had left the ring of its thread: the ring must be larger";
    case GSAN_EPOCH_OVERFLOW:
        return "a thread has more epochs than an access can name";
    case GSAN_TOKEN_OVERFLOW:
        return "a thread has made more releases than an access can name";
    case GSAN_TOO_MANY_THREADS:
        return "more CTAs run at once than there are threads";
    case GSAN_MIXED_SCOPES:
        return "a release was made on top of one with another scope, and nothing orders the two";
    case GSAN_OUT_OF_MEMORY:
        return "the clocks and cells need more memory than the limit";
    }
    return "nothing went wrong";
}

/* After some troubles clocks are no longer right, and every further word could be wrong. */
void gsan_set_trouble(Gsan *gsan, GsanTrouble trouble, const Thread *thread) {
    if (trouble != GSAN_RING_OVERWRITTEN && trouble != GSAN_MIXED_SCOPES)
        gsan->blind = true;
    if (gsan->trouble != GSAN_FINE)
        return;
    gsan->trouble = trouble;
    gsan->trouble_thread = thread ? thread->number : GSAN_NO_THREAD;
    gsan->trouble_site = gsan->site;
}

GsanTrouble gsan_trouble(const Gsan *gsan, uint32_t *thread, uint32_t *site) {
    *thread = gsan->trouble_thread;
    *site = gsan->trouble_site;
    return gsan->trouble;
}

/* Every call begins with this. Memory that runs out ends the call here. */
#define ENTER(gsan, result)                               \
    if ((gsan)->blind)                                    \
        return result;                                    \
    if (setjmp((gsan)->exhausted)) {                      \
        gsan_set_trouble(gsan, GSAN_OUT_OF_MEMORY, NULL); \
        return result;                                    \
    }

void *gsan_grown(Gsan *gsan, void *items, uint32_t count, uint32_t *capacity, size_t item_size) {
    if (count < *capacity)
        return items;
    uint32_t larger = *capacity ? 2 * *capacity : 16;
    void *copy = gsan_pool_take(&gsan->pool, larger * item_size);
    if (count)
        memcpy(copy, items, count * item_size);
    gsan_pool_give(&gsan->pool, items, *capacity * item_size);
    *capacity = larger;
    return copy;
}

static bool is_exact(const Gsan *gsan) {
    return gsan->options.mode == GSAN_EXACT;
}

/* ---- Scopes ---- */

Scope gsan_needed(const Thread *a, const Thread *b) {
    if (a == b)
        return SCOPE_CTA;
    if (a->device != b->device)
        return SCOPE_SYS;
    return a->launch == b->launch && a->cluster == b->cluster ? SCOPE_CLUSTER : SCOPE_GPU;
}

Scope gsan_narrower(Scope a, Scope b) {
    return a < b ? a : b;
}

/* ---- Epochs ---- */

static void next_epoch(Gsan *gsan, Thread *thread) {
    thread->dirty = thread->issued = thread->wrote = false;
    if (thread->epoch == (is_exact(gsan) ? UINT32_MAX - 1 : MOST_EPOCH_SAMPLED))
        gsan_set_trouble(gsan, GSAN_EPOCH_OVERFLOW, thread);
    else
        thread->epoch++;
}

/* Sampled epochs are few, so there they end only where a write is involved. */
void gsan_touch(Gsan *gsan, Thread *thread, bool writes) {
    if (thread->issued && (is_exact(gsan) || writes || thread->wrote))
        next_epoch(gsan, thread);
    thread->dirty = true;
}

uint32_t gsan_close(Gsan *gsan, Thread *thread) {
    if (thread->dirty)
        next_epoch(gsan, thread);
    return thread->epoch - 1;
}

/* ---- Races ---- */

TABLE_IN(pairs, ReportedPairs, ReportedPair, ReportedPair, Pool, gsan_pool_take, gsan_pool_give, 64, item->kinds, *item,
         table_hash(((uint64_t)key.earlier << 32 | key.later) + key.kinds),
         item->earlier == key.earlier && item->later == key.later && item->kinds == key.kinds)

/* Whether it is new. */
static bool remember_pair(Gsan *gsan, ReportedPair pair) {
    ReportedPair *place = pairs_put(&gsan->pool, &gsan->pairs, pair);
    bool fresh = !place->kinds;
    *place = pair;
    return fresh;
}

void gsan_report(Gsan *gsan, GsanAccess *access) {
    for (uint32_t i = 0; i < access->pending_count; i++)
        gsan->found(gsan->context, &access->pending[i].race);
    access->reported += access->pending_count;
    access->pending_count = 0;
}

/* A race with the same thread and site that goes on where it was told to end. */
static void continue_race(GsanAccess *access, const GsanRace *race, uint64_t tag) {
    for (uint32_t i = 0; i < access->pending_count; i++) {
        GsanPending *pending = &access->pending[i];
        const GsanActor *there = &pending->race.earlier, *earlier = &race->earlier;
        if (pending->race.end == race->begin && there->thread == earlier->thread && there->cta == earlier->cta &&
            there->site == earlier->site && there->kind == earlier->kind) {
            pending->race.end = race->end;
            pending->tag = tag;
        }
    }
}

void gsan_note(Gsan *gsan, GsanAccess *access, const GsanRace *race, uint64_t tag) {
    gsan->races++;
    continue_race(access, race, tag);
    ReportedPair pair = {race->earlier.site, access->site, 1 + race->earlier.kind * 3 + access->kind};
    if (!remember_pair(gsan, pair))
        return;
    if (access->pending_count == MOST_PENDING)
        gsan_report(gsan, access);
    const Thread *thread = access->thread;
    GsanPending *pending = &access->pending[access->pending_count++];
    *pending = (GsanPending){*race, tag};
    pending->race.later = (GsanActor){.thread = thread->number,
                                      .launch = thread->launch,
                                      .cta = thread->cta,
                                      .site = access->site,
                                      .kind = access->kind,
                                      .order = access->order,
                                      .scope = access->scope,
                                      .in_flight = access->ticket && !access->ticket->done};
}

void gsan_extend(GsanAccess *access, uint64_t tag, uint64_t begin, uint64_t end) {
    for (uint32_t i = 0; i < access->pending_count; i++)
        if (access->pending[i].tag == tag && access->pending[i].race.end == begin)
            access->pending[i].race.end = end;
}

/* ---- Create and free ---- */

static const char *problem_of(const GsanOptions *options) {
    if (options->granule != 1 && options->granule != 2 && options->granule != 4 && options->granule != 16)
        return "a granule has 1, 2, 4 or 16 bytes";
    if (options->mode == GSAN_EXACT)
        return NULL;
    if (options->slots > MOST_SLOTS)
        return "a cell has at most 64 slots for readers";
    if (options->ring > UINT16_MAX)
        return "a ring has at most 65535 clocks";
    if ((uint64_t)options->devices * options->threads_per_device > MOST_THREADS)
        return "a cell can name at most 4096 threads, of all devices together";
    return NULL;
}

static GsanOptions complete_options(const GsanOptions *options) {
    GsanOptions all = *options;
    all.granule = all.granule ? all.granule : all.mode == GSAN_EXACT ? 1 : 4;
    all.devices = all.devices ? all.devices : 1;
    all.slots = all.slots ? all.slots : 4;
    all.ring = all.ring ? all.ring : 1024;
    all.threads_per_device = all.threads_per_device ? all.threads_per_device : 132;
    all.memory = all.memory ? all.memory : (size_t)8 << 30;
    return all;
}

const char *gsan_options_problem(const GsanOptions *options) {
    GsanOptions all = complete_options(options);
    return problem_of(&all);
}

GsanOptions gsan_exact(const GsanOptions *options) {
    GsanOptions exact = *options;
    exact.granule = complete_options(options).granule;
    exact.mode = GSAN_EXACT;
    return exact;
}

static bool set_up(Gsan *gsan, const char **problem) {
    if (setjmp(gsan->exhausted)) {
        *problem = "the clocks need more memory than the limit";
        return false;
    }
    gsan->mode->create(gsan);
    return true;
}

Gsan *gsan_create(const GsanOptions *options, GsanFound *found, void *context, const char **problem) {
    GsanOptions all = complete_options(options);
    if ((*problem = problem_of(&all)))
        return NULL;
    Gsan *gsan = calloc(1, sizeof *gsan);
    if (!gsan) {
        *problem = "there is no memory";
        return NULL;
    }
    gsan->options = all;
    gsan->mode = all.mode == GSAN_EXACT ? &gsan_exact_mode : &gsan_sampled_mode;
    gsan->found = found;
    gsan->context = context;
    gsan->site = NO_SITE;
    gsan->pages.pool = &gsan->pool;
    arena_init(&gsan->pool.arena, all.memory);
    gsan->pool.arena.exhausted = &gsan->exhausted;
    if (set_up(gsan, problem))
        return gsan;
    gsan_free(gsan);
    return NULL;
}

void gsan_free(Gsan *gsan) {
    if (!gsan)
        return;
    arena_free(&gsan->pool.arena);
    free(gsan);
}

/* ---- Launches and threads ---- */

bool gsan_launches_has(const LaunchSet *set, uint32_t launch) {
    return set && launch / 64 < set->words && set->bits[launch / 64] >> launch % 64 & 1;
}

static void add_launches(LaunchSet *to, const LaunchSet *from) {
    for (uint32_t i = 0; from && i < from->words; i++)
        to->bits[i] |= from->bits[i];
}

/* Those launches, and all that they waited for in one way or the other; NULL: there are none. */
static LaunchSet *with_launches(Gsan *gsan, const uint32_t *launches, uint32_t count) {
    uint32_t words = gsan->launch_count / 64 + 1;
    LaunchSet *set = NULL;
    for (uint32_t i = 0; i < count; i++)
        if (launches[i] < gsan->launch_count) {
            if (!set)
                set = gsan_pool_take(&gsan->pool, sizeof *set + words * sizeof *set->bits);
            set->words = words;
            set->bits[launches[i] / 64] |= UINT64_C(1) << launches[i] % 64;
            add_launches(set, gsan->launches[launches[i]].before);
            add_launches(set, gsan->launches[launches[i]].awaited);
        }
    return set;
}

static uint32_t launch_now(Gsan *gsan, const GsanLaunch *from) {
    gsan->launches = gsan_grown(gsan, gsan->launches, gsan->launch_count, &gsan->launch_capacity, sizeof(HbGsanLaunch));
    HbGsanLaunch *launch = &gsan->launches[gsan->launch_count];
    const HbGsanLaunch *behind = from->behind < gsan->launch_count ? &gsan->launches[from->behind] : NULL;
    bool chained = from->chained && is_exact(gsan);
    *launch = (HbGsanLaunch){.device = from->device,
                             .ctas = from->ctas ? from->ctas : 1,
                             .cluster = from->cluster ? from->cluster : 1,
                             .first_cta = (uint32_t)gsan->cta_count};
    if (chained && behind && behind->numbers >= launch->ctas) {
        launch->first_cta = behind->first_cta;
        launch->numbers = behind->numbers;
    } else {
        launch->numbers = chained ? launch->ctas : 0;
        gsan->cta_count += launch->ctas;
    }
    launch->before = chained ? NULL : with_launches(gsan, from->after, from->after_count);
    launch->awaited = chained ? NULL : with_launches(gsan, from->awaited, from->awaited_count);
    gsan->mode->launch(gsan, launch, from);
    return gsan->launch_count++;
}

uint32_t gsan_launch(Gsan *gsan, const GsanLaunch *launch) {
    ENTER(gsan, UINT32_MAX)
    return launch_now(gsan, launch);
}

Thread *gsan_new_thread(Gsan *gsan) {
    gsan->threads = gsan_grown(gsan, gsan->threads, gsan->thread_count, &gsan->thread_capacity, sizeof(Thread *));
    Thread *thread = gsan->threads[gsan->thread_count] = POOL_NEW(&gsan->pool, Thread);
    thread->number = gsan->thread_count++;
    return thread;
}

static uint32_t begin_now(Gsan *gsan, uint32_t launch, uint32_t cta) {
    const HbGsanLaunch *of = &gsan->launches[launch];
    Thread *thread = gsan->mode->thread(gsan, of);
    if (!thread) {
        gsan_set_trouble(gsan, GSAN_TOO_MANY_THREADS, NULL);
        return GSAN_NO_THREAD;
    }
    thread->launch = launch;
    thread->cta = cta;
    thread->of_clocks = of->first_cta + cta;
    thread->cluster = cta / of->cluster;
    thread->device = of->device;
    thread->alive = true;
    gsan->mode->begin(gsan, thread);
    return thread->number;
}

uint32_t gsan_begin(Gsan *gsan, uint32_t launch, uint32_t cta) {
    if (launch >= gsan->launch_count || cta >= gsan->launches[launch].ctas)
        return GSAN_NO_THREAD;
    ENTER(gsan, GSAN_NO_THREAD)
    return begin_now(gsan, launch, cta);
}

static Thread *live_thread(const Gsan *gsan, uint32_t thread) {
    return thread < gsan->thread_count && gsan->threads[thread]->alive ? gsan->threads[thread] : NULL;
}

static void end_now(Gsan *gsan, Thread *thread) {
    for (Ticket *ticket = thread->tickets, *next; ticket; ticket = next) {
        next = ticket->next;
        if (!ticket->done)
            gsan->mode->complete(gsan, ticket, thread);
    }
    gsan->mode->end(gsan, thread);
    thread->alive = false;
}

void gsan_end(Gsan *gsan, uint32_t thread) {
    ENTER(gsan, )
    if (live_thread(gsan, thread))
        end_now(gsan, live_thread(gsan, thread));
}

void gsan_await_launches(Gsan *gsan, uint32_t thread) {
    ENTER(gsan, )
    if (live_thread(gsan, thread))
        gsan->mode->await(gsan, live_thread(gsan, thread));
}

/* ---- Accesses ---- */

/* An update is strong, whatever it is called: the narrowest thing that an instruction does is relaxed, on its device.
 */
static void make_strong(GsanAccess *access) {
    if (access->kind == KIND_UPDATE && access->order == ORDER_WEAK)
        access->order = ORDER_RELAXED;
    if (gsan_is_strong(access->order) && access->scope == SCOPE_NONE)
        access->scope = SCOPE_GPU;
    if (!gsan_is_strong(access->order))
        access->scope = SCOPE_NONE;
}

static void set_range(const Gsan *gsan, GsanAccess *access, uint64_t begin, uint64_t end, uint32_t element) {
    uint64_t granule = gsan->options.granule, last = (end - 1) / granule * granule;
    access->begin = begin / granule * granule;
    access->end = last > UINT64_MAX - granule ? UINT64_MAX : last + granule;
    access->bytes = gsan_is_strong(access->order) ? element : 0;
    access->place = access->bytes ? begin % access->bytes : 0;
}

static Ticket *ticket_of(const Gsan *gsan, uint32_t number) {
    return number && number <= gsan->ticket_count ? gsan->tickets[number - 1] : NULL;
}

static unsigned access_now(Gsan *gsan, GsanAccess *access, uint64_t begin, uint64_t end, uint32_t element) {
    Thread *thread = access->thread;
    bool writes = access->kind != KIND_READ;
    gsan->site = access->site;
    make_strong(access);
    set_range(gsan, access, begin, end, element);
    if (access->ticket && access->ticket->done)
        access->ticket = NULL;
    if (access->ticket) {
        thread->wrote |= writes;
        access->own = access->ticket->epoch;
    } else {
        gsan_touch(gsan, thread, writes);
        access->own = thread->epoch;
    }
    access->epoch = thread->epoch;
    gsan->accesses++;
    gsan->elements += (access->end - access->begin) / gsan->options.granule;
    gsan->mode->access(gsan, access);
    if (gsan_releases(access)) {
        uint32_t closed = gsan_close(gsan, thread);
        thread->published = access->scope >= SCOPE_CLUSTER ? closed : thread->published;
    }
    gsan_report(gsan, access);
    return access->reported;
}

unsigned gsan_elements(Gsan *gsan, uint32_t thread, uint32_t site, AccessKind kind, Order order, Scope scope,
                       uint32_t ticket, uint64_t begin, uint64_t end, uint32_t element) {
    ENTER(gsan, 0)
    if (begin >= end || !live_thread(gsan, thread))
        return 0;
    GsanAccess access;
    access.thread = gsan->threads[thread];
    access.ticket = ticket ? ticket_of(gsan, ticket) : NULL;
    access.site = site;
    access.kind = kind;
    access.order = order;
    access.scope = scope;
    access.pending_count = access.reported = 0;
    return access_now(gsan, &access, begin, end, element);
}

unsigned gsan_access(Gsan *gsan, uint32_t thread, uint32_t site, AccessKind kind, Order order, Scope scope,
                     uint32_t ticket, uint64_t begin, uint64_t end) {
    uint32_t element = begin < end && end - begin <= ONE_ELEMENT ? (uint32_t)(end - begin) : 0;
    return gsan_elements(gsan, thread, site, kind, order, scope, ticket, begin, end, element);
}

static uint32_t issue_now(Gsan *gsan, Thread *thread) {
    gsan->tickets = gsan_grown(gsan, gsan->tickets, gsan->ticket_count, &gsan->ticket_capacity, sizeof(Ticket *));
    Ticket *ticket = POOL_NEW(&gsan->pool, Ticket);
    gsan->tickets[gsan->ticket_count++] = ticket;
    *ticket = (Ticket){.thread = thread, .number = gsan->ticket_count, .epoch = thread->epoch};
    thread->issued = true;
    ticket->next = thread->tickets;
    ticket->place = &thread->tickets;
    if (ticket->next)
        ticket->next->place = &ticket->next;
    thread->tickets = ticket;
    gsan->mode->issue(gsan, ticket);
    return ticket->number;
}

uint32_t gsan_issue(Gsan *gsan, uint32_t thread) {
    ENTER(gsan, GSAN_NO_TICKET)
    return live_thread(gsan, thread) ? issue_now(gsan, live_thread(gsan, thread)) : GSAN_NO_TICKET;
}

void gsan_complete(Gsan *gsan, uint32_t ticket, uint32_t thread) {
    ENTER(gsan, )
    if (ticket_of(gsan, ticket) && live_thread(gsan, thread))
        gsan->mode->complete(gsan, ticket_of(gsan, ticket), live_thread(gsan, thread));
}

void gsan_forget(Gsan *gsan, uint64_t begin, uint64_t end) {
    ENTER(gsan, )
    if (begin < end)
        gsan->mode->forget(gsan, begin, end);
}

/* ---- Order ---- */

static void fence_now(Gsan *gsan, Thread *thread, uint32_t site, Order order, Scope scope) {
    gsan->site = site;
    scope = scope == SCOPE_NONE ? SCOPE_GPU : scope;
    if (order_acquires(order))
        gsan->mode->acquire_fence(gsan, thread, scope);
    if (!order_releases(order))
        return;
    gsan->mode->release_fence(gsan, thread, scope);
    if (scope >= SCOPE_CLUSTER)
        thread->published = thread->epoch - 1;
}

void gsan_fence(Gsan *gsan, uint32_t thread, uint32_t site, Order order, Scope scope) {
    ENTER(gsan, )
    if (live_thread(gsan, thread))
        fence_now(gsan, live_thread(gsan, thread), site, order, scope);
}

static uint32_t shared_place(const Gsan *gsan, uint64_t object) {
    uint32_t at = (uint32_t)(object * 0x9e3779b97f4a7c15u >> 32);
    for (;; at++) {
        const Shared *there = gsan->shared[at &= gsan->shared_capacity - 1];
        if (!there || there->object == object)
            return at;
    }
}

/* NULL: nothing has published it. */
static Shared *find_shared(const Gsan *gsan, uint64_t object) {
    Shared *shared = gsan->shared_capacity ? gsan->shared[shared_place(gsan, object)] : NULL;
    return shared && shared->used ? shared : NULL;
}

static void grow_shared(Gsan *gsan) {
    Shared **old = gsan->shared;
    uint32_t capacity = gsan->shared_capacity, used = 0;
    for (uint32_t i = 0; i < capacity; i++)
        used += old[i] && old[i]->used;
    gsan->shared_capacity = capacity == 0 ? 64 : used < capacity / 4 ? capacity : 2 * capacity;
    gsan->shared = gsan_pool_take(&gsan->pool, gsan->shared_capacity * sizeof(Shared *));
    gsan->shared_count = used;
    for (uint32_t i = 0; i < capacity; i++)
        if (old[i] && old[i]->used)
            gsan->shared[shared_place(gsan, old[i]->object)] = old[i];
        else if (old[i])
            gsan_pool_give(&gsan->pool, old[i], sizeof **old);
    gsan_pool_give(&gsan->pool, old, capacity * sizeof(Shared *));
}

/* Retired ones stay in the table until it grows. */
static Shared *make_shared(Gsan *gsan, uint64_t object) {
    if (gsan->shared_count >= gsan->shared_capacity / 2)
        grow_shared(gsan);
    Shared **place = &gsan->shared[shared_place(gsan, object)];
    if (!*place) {
        *place = POOL_NEW(&gsan->pool, Shared);
        gsan->shared_count++;
    }
    (*place)->object = object;
    (*place)->used = true;
    return *place;
}

static void publish_now(Gsan *gsan, Thread *thread, uint64_t object, GsanExtent extent) {
    Shared *shared = make_shared(gsan, object);
    if (extent == GSAN_WHOLE)
        thread->published = gsan_close(gsan, thread);
    gsan->mode->publish(gsan, thread, shared, extent);
}

void gsan_publish(Gsan *gsan, uint32_t thread, uint64_t object, GsanExtent extent) {
    ENTER(gsan, )
    if (live_thread(gsan, thread))
        publish_now(gsan, live_thread(gsan, thread), object, extent);
}

void gsan_acquire(Gsan *gsan, uint32_t thread, uint64_t object) {
    ENTER(gsan, )
    if (live_thread(gsan, thread) && find_shared(gsan, object))
        gsan->mode->acquire(gsan, live_thread(gsan, thread), find_shared(gsan, object));
}

void gsan_retire(Gsan *gsan, uint64_t object) {
    ENTER(gsan, )
    Shared *shared = find_shared(gsan, object);
    if (!shared)
        return;
    gsan->mode->retire(gsan, shared);
    shared->used = false;
}

/* ---- Measuring ---- */

GsanStats gsan_stats(const Gsan *gsan) {
    size_t tables = gsan->pool.used < gsan->shadow_bytes ? 0 : gsan->pool.used - gsan->shadow_bytes;
    return (GsanStats){.accesses = gsan->accesses,
                       .elements = gsan->elements,
                       .shadow_bytes = gsan->shadow_bytes,
                       .clock_bytes = tables,
                       .real_bytes = (uint64_t)gsan->pages.table.count * PAGE_BYTES,
                       .races = gsan->races};
}
