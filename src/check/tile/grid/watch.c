/* From the events of a grid to the engine: threads, accesses, what completes what is asynchronous, what orders. */
#include "check/tile/grid/internal.h"

#include "base/bisect.h"
#include "model/target/target.h"

#include <stdlib.h>

/* ---- Clusters ------------------------------------------------------------------------------------- */

static inline GridClusterThreads **cluster_threads_slot(const GlobalCheck *run, const GridEvent *event) {
    if (!run->only)
        return &run->launches[event->launch].cluster_thread_sets[event->cluster];
    uint64_t low;
    BISECT(low, 0, run->only_count, run->only[low] < event->cluster);
    return &run->launches[event->launch].cluster_thread_sets[low];
}

static GridClusterThreads *cluster_threads_of(const GlobalCheck *run, const GridEvent *event) {
    return *cluster_threads_slot(run, event);
}

static uint32_t most_ctas(const GlobalCheck *run) {
    uint32_t most = 1;
    for (uint32_t i = 0; i < run->launch_sequence.count; i++)
        most = run->launches[i].ctas > most ? run->launches[i].ctas : most;
    return most;
}

static GridClusterThreads *cluster_threads_begin(GlobalCheck *run, const GridEvent *event) {
    LaunchState *launch = &run->launches[event->launch];
    GridClusterThreads *cluster_threads = run->unused;
    if (cluster_threads) {
        run->unused = cluster_threads->next;
    } else {
        uint32_t most = most_ctas(run);
        cluster_threads = ARENA_NEW(run->arena, GridClusterThreads);
        cluster_threads->threads = ARENA_ARRAY(run->arena, uint32_t, most);
        cluster_threads->waited = ARENA_ARRAY(run->arena, bool, most);
    }
    cluster_threads->count = 0;
    for (uint32_t i = 0; i < launch->ctas; i++)
        cluster_threads->threads[i] = GSAN_NO_THREAD;
    return *cluster_threads_slot(run, event) = cluster_threads;
}

static void begin(GlobalCheck *run, const GridEvent *event) {
    GridClusterThreads *cluster_threads = cluster_threads_of(run, event);
    if (!cluster_threads)
        cluster_threads = cluster_threads_begin(run, event);
    uint32_t rank = event->cta % run->launches[event->launch].ctas;
    cluster_threads->threads[rank] = gsan_begin(run->gsan, event->launch, event->cta);
    cluster_threads->waited[rank] = !run->launches[event->launch].dependent;
    grid_may_order_begin(run, cluster_threads, rank, most_ctas(run));
    inside_begin(run, event, cluster_threads, rank, most_ctas(run));
}

/* One asynchronous access is over for a thread. */
static void complete_one(GlobalCheck *run, const GridPending *pending, uint32_t thread) {
    run->access = pending->access;
    run->completing = true;
    gsan_complete(run->gsan, pending->ticket, thread);
    run->completing = false;
}

static void end(GlobalCheck *run, const GridEvent *event) {
    LaunchState *launch = &run->launches[event->launch];
    GridClusterThreads *cluster_threads = cluster_threads_of(run, event);
    uint32_t rank = event->cta % launch->ctas;
    if (!cluster_threads ||
        cluster_threads->threads[rank] == GSAN_NO_THREAD) /* it never began: the grid ends within the cluster */
        return;
    launch->forgot_wait |= !cluster_threads->waited[rank];
    for (uint32_t i = 0; i < cluster_threads->count; i++)
        if (cluster_threads->pending[i].cta == rank)
            complete_one(run, &cluster_threads->pending[i], cluster_threads->threads[rank]);
    gsan_end(run->gsan, cluster_threads->threads[rank]);
    cluster_threads->threads[rank] = GSAN_NO_THREAD;
    for (uint32_t i = 0; i < launch->ctas; i++)
        if (cluster_threads->threads[i] != GSAN_NO_THREAD)
            return;
    *cluster_threads_slot(run, event) = NULL;
    cluster_threads->next = run->unused;
    run->unused = cluster_threads;
}

/* ---- Accesses ------------------------------------------------------------------------------------- */

static void find_access(GlobalCheck *run, const GridEvent *event, FoundAccess found) {
    step_is_wrong(run, found.rule);
    found.site = site_of(run, event);
    found.launch = event->launch;
    found.cta = event->cta;
    for (uint32_t i = 0; i < run->found.access_count; i++)
        if (run->found.accesses[i].site == found.site && run->found.accesses[i].rule == found.rule)
            return;
    if (run->found.access_count < MOST_FOUND)
        run->found.accesses[run->found.access_count++] = found;
}

/* Whether the bytes are inside of their tensor and something has written them. */
static void check_bytes(GlobalCheck *run, const GridEvent *event, AccessKind kind, int64_t begin, int64_t end) {
    const GlobalMemory *memory = run->launch_sequence.memory;
    FoundAccess found = {.begin = begin, .end = end, .kind = kind};
    if (global_outside(memory, begin, end, &found.from)) {
        found.rule = RULE_GLOBAL_OUT_OF_RANGE;
        found.to = end;
        find_access(run, event, found);
    } else if (kind != KIND_WRITE && global_unwritten(memory, begin, end, &found.from, &found.to)) {
        found.rule = RULE_GLOBAL_UNINITIALIZED;
        find_access(run, event, found);
    }
}

/* Copies to global memory are of one kind of group, whether an op or a line of assembly commits or waits for it. */
static uint8_t group_kind(GroupKind kind) {
    return (uint8_t)(kind == GROUP_BULK ? GROUP_TMA_STORE : kind);
}

static void fly(GlobalCheck *run, const GridEvent *event, GridClusterThreads *cluster_threads, uint32_t ticket) {
    const Effect *effect = &event->event->effect->effect;
    *ARENA_PUSH(run->arena, cluster_threads->pending, cluster_threads->count, cluster_threads->capacity) =
        (GridPending){
            .access = run->access,
            .ticket = ticket,
            .agent = event->event->agent,
            .pc = event->event->pc,
            .barrier = UINT32_MAX,
            .cta = (uint16_t)agent_cta(event->machine, event->event->agent),
            .group = effect->done == DONE_GROUP ? group_kind(effect->group) : (uint8_t)GROUP_NONE,
            .writes = effect->verb != EFFECT_READ,
        };
}

/* Notes what is done to the area, and says whether the engine must see it. */
static bool matters(GlobalCheck *run, const Effect *effect, AccessKind kind, int64_t address) {
    uint32_t area = area_number(run, address);
    run->touched[area] |= kind == KIND_READ ? AREA_READ : AREA_WRITTEN;
    return kind != KIND_READ || effect->order != ORDER_WEAK || run->written[area];
}

/* A plain read inside of a tensor that was there before the run, and that nothing writes, needs no engine: most of a
 * MMA is such reads. */
static bool is_harmless(GlobalCheck *run, const GridEvent *event, GridClusterThreads *cluster_threads) {
    const Effect *effect = &event->event->effect->effect;
    const GlobalMemory *memory = run->launch_sequence.memory;
    Run hull;
    int64_t from;
    if (run->options->steps || effect->verb != EFFECT_READ || effect->order != ORDER_WEAK ||
        !access_hull(event->machine, event->event, &run->scratch, &hull) || hull.begin >= hull.end)
        return false;
    const Area *area = global_area(memory, hull.begin, &from);
    uint32_t number = global_area_number(hull.begin);
    if (!area || !area->written || area->sparse || run->written[number] || number != global_area_number(hull.end - 1) ||
        global_outside(memory, hull.begin, hull.end, &from))
        return false;
    run->touched[number] |= AREA_READ;
    unknown_use(run, event, number); /* a write whose bytes are not known may be there */
    if (run->inside_matters)
        inside_read(run, event, cluster_threads, event->cta % run->launches[event->launch].ctas, number);
    proxies_read(run, effect, number);
    return true;
}

static void note_changed(Run *changed, const Bytes *bytes) {
    for (uint32_t i = 0; i < bytes->count; i++) {
        const Run *run = &bytes->runs[i];
        bool none = changed->begin >= changed->end;
        changed->begin = none || run->begin < changed->begin ? run->begin : changed->begin;
        changed->end = none || run->end > changed->end ? run->end : changed->end;
    }
}

/* An access of threads of which only the mask is not known: the engine is shown all that it can touch. What orders
 * others must be certain, so that this is for plain accesses alone. */
static bool masked_access(GlobalCheck *run, const GridEvent *event, GridClusterThreads *cluster_threads,
                          uint32_t thread) {
    const Effect *effect = &event->event->effect->effect;
    Bytes bytes;
    const char *reason;
    if (effect->verb == EFFECT_UPDATE || effect->order != ORDER_WEAK || effect->done != DONE_NOW ||
        !access_most(event->machine, event->event, &run->scratch, &bytes) || !own_bytes(run, event, &bytes, &reason))
        return false;
    for (uint32_t i = 0; i < bytes.count; i++)
        if (area_number(run, bytes.runs[i].begin) == NO_AREA)
            return false;
    AccessKind kind = (AccessKind)effect->verb;
    uint32_t site = site_of(run, event);
    UnknownAccess *unknown = unknown_keep_mask(run, event);
    if (unknown && run->inside_matters)
        inside_masked(run, event, cluster_threads, event->cta % run->launches[event->launch].ctas, unknown, &bytes);
    if (kind != KIND_READ)
        note_changed(&run->loud[(size_t)event->launch * run->site_count + site], &bytes);
    for (uint32_t i = 0; i < bytes.count; i++) {
        unknown_use(run, event, area_number(run, bytes.runs[i].begin));
        if (matters(run, effect, kind, bytes.runs[i].begin))
            gsan_access(run->gsan, thread, engine_site(sampled_site(run, site), false), kind, ORDER_WEAK, SCOPE_NONE,
                        GSAN_NO_TICKET, (uint64_t)bytes.runs[i].begin, (uint64_t)bytes.runs[i].end);
    }
    proxies_access(run, event, thread, &bytes);
    arena_reset(&run->scratch);
    return true;
}

static void keep_loose(GlobalCheck *run, const GridEvent *event, GridClusterThreads *cluster_threads,
                       const char *reason) {
    UnknownAccess *unknown = unknown_keep(run, event, reason);
    if (unknown && run->inside_matters)
        inside_loose(run, event, cluster_threads, event->cta % run->launches[event->launch].ctas, unknown);
}

static void access_event(GlobalCheck *run, const GridEvent *event, GridClusterThreads *cluster_threads,
                         uint32_t thread) {
    const Event *what = event->event;
    const Effect *effect = &what->effect->effect;
    if (effect->space != SPACE_GLOBAL || (effect->proxy == PROXY_TENSORMAP && !effect->on_descriptor))
        return;
    Bytes bytes;
    const char *reason;
    uint32_t site = site_of(run, event);
    run->scratch.exhausted = run->arena->exhausted;
    run->reached[site] = true;
    LaunchState *launch = &run->launches[event->launch];
    if (launch->alone && !launch->early && !cluster_threads->waited[event->cta % launch->ctas])
        launch->early = site + 1;
    if (is_harmless(run, event, cluster_threads)) {
        step_access(run, event, &(Bytes){0});
        arena_reset(&run->scratch);
        return;
    }
    if (!access_ranges(event->machine, what, &run->scratch, &bytes, &reason)) {
        if (!masked_access(run, event, cluster_threads, thread))
            keep_loose(run, event, cluster_threads, reason);
        return;
    }
    if (!own_bytes(run, event, &bytes, &reason)) {
        keep_loose(run, event, cluster_threads, reason);
        return;
    }
    AccessKind kind = effect->verb == EFFECT_UPDATE && !what->stored ? KIND_READ : (AccessKind)effect->verb;
    bool asynchronous = effect->done != DONE_NOW && bytes.count;
    if (kind != KIND_READ && !what->silent)
        note_changed(&run->loud[(size_t)event->launch * run->site_count + site], &bytes);
    uint32_t ticket = asynchronous ? gsan_issue(run->gsan, thread) : GSAN_NO_TICKET;
    bool strong = kind == KIND_UPDATE || effect->order != ORDER_WEAK;
    uint32_t element = strong ? access_element(event->machine, what) : 0;
    step_access(run, event, &bytes);
    for (uint32_t i = 0; i < bytes.count; i++) {
        if (area_number(run, bytes.runs[i].begin) == NO_AREA) {
            keep_loose(run, event, cluster_threads, "its address is an integer, not that of an argument");
            continue;
        }
        unknown_use(run, event, area_number(run, bytes.runs[i].begin));
        if (!address_is_scratch(bytes.runs[i].begin))
            check_bytes(run, event, kind, bytes.runs[i].begin, bytes.runs[i].end);
        if (matters(run, effect, kind, bytes.runs[i].begin))
            gsan_elements(run->gsan, thread, engine_site(sampled_site(run, site), what->silent), kind, effect->order,
                          effect->scope, ticket, (uint64_t)bytes.runs[i].begin, (uint64_t)bytes.runs[i].end, element);
    }
    proxies_access(run, event, thread, &bytes);
    if (run->inside_matters)
        inside_access(run, event, cluster_threads, event->cta % run->launches[event->launch].ctas, &bytes, kind);
    if (asynchronous)
        fly(run, event, cluster_threads, ticket);
    arena_reset(&run->scratch);
}

/* ---- Completion ----------------------------------------------------------------------------------- */

typedef bool Covers(const GridPending *pending, const GridEvent *event);

/* What the event completes, for the thread that waited. */
static void complete(GlobalCheck *run, const GridEvent *event, GridClusterThreads *cluster_threads, uint32_t thread,
                     Covers *covers) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < cluster_threads->count; i++) {
        GridPending pending = cluster_threads->pending[i];
        if (!covers(&pending, event)) {
            cluster_threads->pending[kept++] = pending;
            continue;
        }
        step_order(run, event, STEP_COMPLETES, pending.access);
        complete_one(run, &pending, thread);
    }
    cluster_threads->count = kept;
}

/* The wait has seen the phase end to which the copy's bytes, or its arrival, belong: that of another phase, which was
 * over before, says nothing of it. */
static bool by_barrier(const GridPending *pending, const GridEvent *event) {
    const Event *what = event->event;
    return pending->delivered && pending->barrier == what->barrier &&
           pending->phase < what->state->barriers[what->barrier].generation;
}

/* All but the youngest groups; a wait for the sources alone says nothing of what is written. */
static bool by_group(const GridPending *pending, const GridEvent *event) {
    const Effect *effect = &event->event->effect->effect;
    return pending->group == group_kind(effect->group) && pending->agent == event->event->agent &&
           pending->age > (uint64_t)event->event->amount && !(effect->sources && pending->writes);
}

static void commit(const GridEvent *event, GridClusterThreads *cluster_threads) {
    for (uint32_t i = 0; i < cluster_threads->count; i++) {
        GridPending *pending = &cluster_threads->pending[i];
        if (pending->agent == event->event->agent && pending->group == group_kind(event->event->effect->effect.group))
            pending->age++;
    }
}

/* A copy that reports on a barrier says on which when its bytes, or its arrival, are on their way. */
static void issue(const GridEvent *event, GridClusterThreads *cluster_threads) {
    const Event *what = event->event;
    bool copies = what->effect->effect.done == DONE_COPIES;
    for (uint32_t i = 0; i < cluster_threads->count; i++) {
        GridPending *pending = &cluster_threads->pending[i];
        if (pending->agent != what->agent || pending->barrier != UINT32_MAX)
            continue;
        if (copies ? pending->group == GROUP_CP_ASYNC
                   : pending->group == GROUP_NONE && pending->pc == what->pc &&
                         what->outstanding->kind == OUTSTANDING_BYTES) {
            pending->barrier = what->barrier;
            pending->outstanding = what->outstanding->sequence;
        }
    }
}

static void deliver(const GridEvent *event, GridClusterThreads *cluster_threads) {
    for (uint32_t i = 0; i < cluster_threads->count; i++) {
        GridPending *pending = &cluster_threads->pending[i];
        if (pending->barrier != event->event->barrier || pending->agent != event->event->agent || pending->delivered ||
            !event->event->outstanding || pending->outstanding != event->event->outstanding->sequence)
            continue;
        pending->delivered = true;
        pending->phase = event->event->state->barriers[pending->barrier].generation;
    }
}

/* ---- Order inside a cluster ----------------------------------------------------------------------- */

enum { OBJECT_MBARRIER, OBJECT_CLUSTER };

/* A name for one phase of one barrier of one cluster. */
static uint64_t object_of(const GridEvent *event, unsigned kind, uint32_t barrier, uint64_t phase) {
    uint64_t name = identity_mix(event->launch, event->cluster);
    return identity_mix(identity_mix(name, (uint64_t)barrier << 1 | kind), phase);
}

static void wait_event(GlobalCheck *run, const GridEvent *event, GridClusterThreads *cluster_threads, uint32_t thread) {
    uint32_t barrier = event->event->barrier, generation = event->event->state->barriers[barrier].generation;
    complete(run, event, cluster_threads, thread, by_barrier);
    if (event->machine->program->ctas > 1 && generation)
        gsan_acquire(run->gsan, thread, object_of(event, OBJECT_MBARRIER, barrier, generation - 1));
}

static void arrive_event(GlobalCheck *run, const GridEvent *event, uint32_t thread) {
    uint32_t barrier = event->event->barrier;
    if (event->machine->program->ctas > 1)
        gsan_publish(run->gsan, thread,
                     object_of(event, OBJECT_MBARRIER, barrier, event->event->state->barriers[barrier].generation),
                     GSAN_CLOSED);
}

/* What completed two phases ago is what nothing can wait for any more. */
static void flip_event(GlobalCheck *run, const GridEvent *event) {
    uint32_t barrier = event->event->barrier, generation = event->event->state->barriers[barrier].generation;
    if (event->machine->program->ctas > 1 && generation > 2)
        gsan_retire(run->gsan, object_of(event, OBJECT_MBARRIER, barrier, generation - 3));
}

static void cluster_event(GlobalCheck *run, const GridEvent *event, uint32_t thread) {
    const Event *what = event->event;
    uint64_t object = object_of(event, OBJECT_CLUSTER, what->barrier, what->state->agents[what->agent].generation);
    if (what->kind == EVENT_CLUSTER_WAIT)
        gsan_acquire(run->gsan, thread, object);
    else
        gsan_publish(run->gsan, thread, object, what->effect->effect.relaxed ? GSAN_FENCED : GSAN_WHOLE);
}

/* ---- Events --------------------------------------------------------------------------------------- */

void global_watch_observe(void *observer, const GridEvent *event) {
    GlobalCheck *run = observer;
    if (event->kind != GRID_EVENT) {
        (event->kind == GRID_BEGIN ? begin : end)(run, event);
        return;
    }
    const Event *what = event->event;
    GridClusterThreads *cluster_threads = cluster_threads_of(run, event);
    uint32_t rank = event->cta % run->launches[event->launch].ctas;
    uint32_t thread = cluster_threads ? cluster_threads->threads[rank] : GSAN_NO_THREAD;
    if (thread == GSAN_NO_THREAD)
        return; /* it has ended */
    grid_may_order_note(run, event, cluster_threads, rank);
    if (run->inside_matters)
        inside_before(run, event, cluster_threads, rank);
    switch (what->kind) {
    case EVENT_ACCESS:
        access_event(run, event, cluster_threads, thread);
        break;
    case EVENT_ISSUE:
        issue(event, cluster_threads);
        break;
    case EVENT_DELIVER:
    case EVENT_SIGNAL:
        deliver(event, cluster_threads);
        break;
    case EVENT_WAIT:
        wait_event(run, event, cluster_threads, thread);
        break;
    case EVENT_EXPECT:
    case EVENT_ARRIVE:
        arrive_event(run, event, thread);
        break;
    case EVENT_FLIP:
        flip_event(run, event);
        break;
    case EVENT_COMMIT:
        commit(event, cluster_threads);
        break;
    case EVENT_AWAIT:
        complete(run, event, cluster_threads, thread, by_group);
        break;
    case EVENT_CLUSTER_ARRIVE:
    case EVENT_CLUSTER_WAIT:
        cluster_event(run, event, thread);
        break;
    case EVENT_FENCE:
        proxies_fence(run, event, thread);
        if (what->effect->effect.verb != EFFECT_FENCE_ORDER ||
            (what->effect->effect.spaces && !(what->effect->effect.spaces & 1u << SPACE_GLOBAL)))
            break;
        step_order(run, event, STEP_FENCE, 0);
        gsan_fence(run->gsan, thread, engine_site(site_of(run, event), false), what->effect->effect.order,
                   what->effect->effect.scope);
        break;
    case EVENT_AWAIT_LAUNCHES:
        cluster_threads->waited[rank] = true;
        step_order(run, event, STEP_LAUNCHES, 0);
        gsan_await_launches(run->gsan, thread);
        break;
    default:
        break;
    }
    if (run->inside_matters)
        inside_after(run, event, cluster_threads, rank);
}

/* ---- A run ---------------------------------------------------------------------------------------- */

void global_keep_race(GlobalCheck *run, const FoundRace *now) {
    const GsanRace *found = &now->race;
    step_races(run, found);
    for (uint32_t i = 0; i < run->found.race_count; i++) {
        FoundRace *other = &run->found.races[i];
        if (other->race.earlier.site == found->earlier.site && other->race.later.site == found->later.site &&
            other->race.earlier.kind == found->earlier.kind && other->race.later.kind == found->later.kind &&
            other->silent == now->silent && !other->earlier == !now->earlier) {
            other->times++;
            other->unsure &= now->unsure || other->reported;
            return;
        }
    }
    if (run->found.race_count < MOST_FOUND)
        run->found.races[run->found.race_count++] = *now;
}

static void found_race(void *context, const GsanRace *race) {
    GlobalCheck *run = context;
    if (run->probing)
        return;
    if (run->options->engine.mode == GSAN_SAMPLED && !run->confirming) {
        sampled_keep(run, race);
        return;
    }
    if (run->confirming && !sampled_confirms(run, race))
        return;
    FoundRace now = {.race = *race, .times = 1, .silent = race->later.kind != KIND_READ && (race->later.site & 1)};
    GsanRace *found = &now.race;
    found->earlier.site = own_site(run, race->earlier.site);
    found->later.site = own_site(run, race->later.site);
    found->released_site = own_site(run, race->released_site);
    found->acquired_site = own_site(run, race->acquired_site);
    if (unknown_meets(run, found))
        return;
    global_keep_race(run, &now);
}

bool global_watch_start(GlobalCheck *run, const char **problem) {
    GsanOptions options = run->confirming ? gsan_exact(&run->options->engine) : run->options->engine;
    const Target *target =
        run->launch_sequence.count ? target_of(run->launch_sequence.launches[0].program->function) : NULL;
    options.devices = run->options->devices;
    if (target && !options.threads_per_device)
        options.threads_per_device = target->processors;
    run->moments = run->step_count = run->write_count = 0;
    run->gsan = gsan_create(&options, found_race, run, problem);
    if (!run->gsan)
        return false;
    run->unused = NULL;
    uint64_t first = 0;
    for (uint32_t i = 0; i < run->launch_sequence.count; i++) {
        const GridLaunch *launch = &run->launch_sequence.launches[i];
        const Program *program = launch->program;
        uint64_t clusters = program_clusters(program, launch->launch->grid);
        uint64_t cluster_thread_sets = run->only                                 ? run->only_count
                                       : launch->most && launch->most < clusters ? launch->most
                                                                                 : clusters;
        gsan_launch(run->gsan, &(GsanLaunch){.device = launch->device,
                                             .ctas = (uint32_t)(clusters * program->ctas),
                                             .cluster = program->ctas,
                                             .after = launch->after,
                                             .after_count = launch->after_count,
                                             .awaited = launch->awaited,
                                             .awaited_count = launch->awaited_count});
        LaunchState *state = &run->launches[i];
        bool forgot = state->forgot_wait, alone = launch->launch->dependent && !launch->awaited_count;
        uint32_t early = state->early;
        *state = (LaunchState){.cluster_thread_sets =
                                   state->cluster_thread_sets
                                       ? state->cluster_thread_sets
                                       : ARENA_ARRAY(run->arena, GridClusterThreads *, cluster_thread_sets + 1),
                               .first = first,
                               .ctas = program->ctas,
                               .dependent = launch->awaited_count > 0 || alone,
                               .alone = alone,
                               .forgot_wait = forgot,
                               .early = early};
        first += clusters;
        memset(state->cluster_thread_sets, 0, cluster_thread_sets * sizeof *state->cluster_thread_sets);
    }
    return true;
}

void global_watch_end(GlobalCheck *run) {
    if (run->gsan)
        gsan_free(run->gsan);
    run->gsan = NULL;
}
