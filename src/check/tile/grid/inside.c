/* Races in global memory inside one CTA: between its partitions, and between the threads of one.
 *
 * Which thread touches an element is what the layout of its tensor says. Threads of one partition are ordered by
 * barriers that all of them take part in: an access is of the epoch that such barriers count. Two accesses of one epoch
 * by different threads are in no order. Accesses of two partitions are ordered as mbarriers and the like order the
 * partitions (machine/tile/schedule/clocks.h).
 *
 * A run looks only at whether the bytes of two accesses of an epoch meet, or several partitions are in an area. Where
 * they do, it is made again, with the accesses of each thread in shadow memory of their own. Barriers that the compiler
 * inserts later for shared memory count then, too, as the membar analysis places them; one that may be there, or may
 * not, leaves it open. What copy engines do is over for all threads once it was waited for: behind such a wait there is
 * a barrier; what is not waited for the engine tells. */
#include "check/tile/grid/internal.h"

#include "base/table.h"
#include "check/membar/membar.h"
#include "check/membar/report.h"
#include "ir/op.h"
#include "machine/tile/compile/slice.h"
#include "model/effect/inline_ptx.h"
#include "model/memory/stage.h"
#include "model/memory/thread_barriers.h"
#include "model/target/target.h"

enum {
    MOST_TOUCHES = 64,   /* of one epoch; if there are more, threads are followed */
    MOST_SEGMENTS = 512, /* of one CTA; if there are more, partitions meet in areas */
    LARGEST_GRANULE = 1 << 12,
    NEEDED_BEFORE = 8, /* beside STAGE_*: inserted later, */
    NEEDED_AFTER = 16,
    MAY_OVERLAP = 32, /* or there, or not */
};
static const uint64_t most_work = (uint64_t)1 << 28; /* pieces that threads touch, in all runs */

/* One access, of the epoch that is. */
typedef struct InsideTouch {
    Bytes bytes;
    uint64_t mapping; /* access_mapping */
    bool writes, atomic;
    UnknownAccess *masked; /* its mask is not known; NULL: it is */
} InsideTouch;

/* What one thread, and what several, do to an area in an epoch: by accesses that are known, and by others. */
typedef struct ThreadUses {
    uint32_t epoch;
    uint8_t known[2], loose[2]; /* USE_* */
    UnknownAccess *unknown;     /* one of the others */
} ThreadUses;

/* One partition of a CTA. */
typedef struct InsideAgent {
    uint32_t epoch, maybe; /* barriers that are certainly there, and all that may be */
    uint32_t released, acquired;
    InsideTouch *touches;
    uint32_t count, capacity;
    Run *runs; /* of the touches */
    uint32_t run_count, run_capacity;
    ThreadUses *uses; /* by area */
} InsideAgent;

/* Partitions that touch an area, a bit each. */
typedef struct AreaAgents {
    uint32_t read, write, update;
} AreaAgents;

/* From the first byte to the last that an access of a partition touches. */
typedef struct InsideSegment {
    Run run;
    uint32_t agent;
    bool writes, atomic;
} InsideSegment;

/* An access by threads that are followed. */
typedef struct InsideMade {
    uint32_t agent, site, epoch, maybe, released;
    AccessKind kind;
    Order order;
    bool copies; /* several threads read it */
    bool silent;
    Epoch stamp; /* when it is over, for other partitions */
} InsideMade;

/* Of a granule: the accesses since its last write, and that write. 0: none; else the number of the access, from 1 on.
 */
typedef struct InsideVisit {
    uint32_t made, thread, next;
} InsideVisit;
typedef struct InsideLocation {
    int64_t address;
    uint32_t round;
    uint32_t reads; /* of `visits` */
    InsideVisit write;
} InsideLocation;

typedef struct InsideLocations {
    InsideLocation *items;
    uint32_t count, capacity;
    uint32_t round; /* those of others are gone */
} InsideLocations;

TABLE(locations, InsideLocations, InsideLocation, int64_t, 1024, item->round == table->round, item->address,
      identity_mix(0, (uint64_t)key) >> 32, item->address == key)

typedef struct Inside {
    InsideAgent *agents;
    AreaAgents *areas;
    InsideSegment *segments; /* the first MOST_SEGMENTS */
    uint32_t segment_count, segment_capacity;
    InsideMade *made;
    uint32_t made_count, made_capacity;
    InsideVisit *visits;
    uint32_t visit_count, visit_capacity;
    InsideLocations locations;
} Inside;

/* ---- Barriers ------------------------------------------------------------------------------------- */

/* On AMD a barrier for shared memory does not wait for global memory. */
static bool orders_global(const Op *op, const Effect *barrier) {
    Vendor vendor;
    unsigned number;
    bool amd = target_said(op, &vendor, &number) && vendor == VENDOR_AMD;
    return !amd || !barrier->spaces || barrier->spaces & 1u << SPACE_GLOBAL;
}

/* `atomics`: whether threads meet at those that release or acquire. */
static uint8_t stages_at(const Program *program, uint32_t pc, Past atomics) {
    Effect effects[EFFECTS_MOST];
    const Op *op = program->ops[pc];
    if (!op || program->code[pc].code != CODE_EFFECTS)
        return 0;
    unsigned count = effects_of(program->module, op, effects);
    uint8_t stages = count ? thread_stages(op, effects, count, scratch_of(program->module, op), 0) : 0;
    if (!op_is(op, CLASS_ATOMIC) || atomics == PAST_YES)
        return stages;
    uint8_t may = !(stages & ~STAGE_BETWEEN) || atomics == PAST_NOT ? 0 : MAY_OVERLAP;
    return (uint8_t)((stages & STAGE_BETWEEN) | may | (may && stages & STAGE_BEFORE ? NEEDED_BEFORE : 0) |
                     (may && stages & STAGE_AFTER ? NEEDED_AFTER : 0));
}

/* Of Triton that lower a kernel; 0: not named. */
static ReleaseSet releases_of(const GlobalCheck *run, size_t kernel) {
    const Launch *launch = run->kernels[kernel].launch;
    return run->options->releases || !launch ? run->options->releases : releases_named(launch->triton);
}

void inside_set_up(GlobalCheck *run) {
    uint32_t areas = area_count(run);
    for (size_t i = 0; i < run->count; i++)
        run->inside_matters |= accesses_may_overlap(run->programs[i]);
    run->stages = ARENA_ARRAY(run->arena, uint8_t, run->site_count + 1);
    run->inside_areas = ARENA_ARRAY(run->arena, bool, areas + 1);
    run->inside_wanted = ARENA_ARRAY(run->arena, bool, areas + 1);
    run->granules = ARENA_ARRAY(run->arena, uint32_t, areas + 1);
    for (uint32_t i = 0; i <= areas; i++)
        run->granules[i] = LARGEST_GRANULE;
    for (size_t i = 0; i < run->count; i++) {
        const Program *program = run->programs[i];
        Past atomics = stage_atomics(run->kernels[i].module, run->kernels[i].function, releases_of(run, i));
        for (uint32_t pc = 0; pc < program->code_count; pc++)
            run->stages[run->first_site[i] + pc] = stages_at(program, pc, atomics);
    }
}

/* Barriers that the compiler inserts for shared memory, at the ops of a program that it inserts them at. */
static void add_needs(GlobalCheck *run, size_t kernel, const MembarResult *result) {
    const Program *program = run->programs[kernel];
    uint8_t *stages = run->stages + run->first_site[kernel];
    for (uint32_t pc = 0; pc < program->code_count; pc++) {
        if (program->code[pc].code != CODE_EFFECTS)
            continue;
        if (result->problem)
            stages[pc] |= MAY_OVERLAP;
        for (size_t i = 0; i < result->need_count && result->inserted != PAST_YES; i++)
            if (result->needs[i].op == program->ops[pc])
                stages[pc] |= (result->needs[i].after ? NEEDED_AFTER : NEEDED_BEFORE) |
                              (result->inserted == PAST_UNKNOWN ? MAY_OVERLAP : 0);
    }
}

static void find_needs(GlobalCheck *run) {
    for (size_t i = 0; i < run->count; i++) {
        Module *module = run->kernels[i].module;
        size_t count = membar_functions(module, NULL, 0);
        const Op **functions = ARENA_ARRAY(run->arena, const Op *, count + 1);
        membar_functions(module, functions, count);
        for (size_t k = 0; k < count; k++)
            add_needs(run, i, membar_analyze(module, functions[k], MEMBAR_SYNC, releases_of(run, i)));
    }
}

bool inside_left_out(GlobalCheck *run) {
    bool any = run->needs_wanted && !run->needs_found;
    for (uint32_t i = 0; i < area_count(run); i++) {
        any |= run->inside_wanted[i];
        run->inside_areas[i] |= run->inside_wanted[i];
        run->inside_wanted[i] = false;
    }
    if (any && !run->needs_found)
        find_needs(run);
    run->needs_found |= any;
    return any;
}

/* All threads of the partition meet; `certain`: or it may be that they do. */
static void meet(InsideAgent *agent, bool certain) {
    agent->maybe++;
    if (!certain)
        return;
    agent->epoch++;
    agent->count = agent->run_count = 0;
}

/* ---- CTAs ----------------------------------------------------------------------------------------- */

static const Program *program_of(const GlobalCheck *run, const GridEvent *event) {
    return run->programs[run->launch_sequence.inputs[event->launch]];
}

static uint32_t most_agents(const GlobalCheck *run) {
    uint32_t most = 1;
    for (size_t i = 0; i < run->count; i++)
        most = run->programs[i]->agents_per_cta > most ? run->programs[i]->agents_per_cta : most;
    return most;
}

static bool is_followed(const GlobalCheck *run) {
    for (uint32_t i = 0; i < area_count(run); i++)
        if (run->inside_areas[i])
            return true;
    return false;
}

/* Clocks are of one machine, and a set of the cluster's threads may get another one. */
static void begin_clocks(GlobalCheck *run, const GridEvent *event, GridClusterThreads *cluster_threads) {
    const char *problem;
    if (program_of(run, event)->agents_per_cta < 2 || !is_followed(run)) {
        cluster_threads->clocks = NULL;
        return;
    }
    if (!cluster_threads->clocks || cluster_threads->machine != event->machine)
        cluster_threads->clocks = clocks_create(run->arena, (Machine *)event->machine, &problem);
    cluster_threads->machine = event->machine;
    if (cluster_threads->clocks)
        clocks_start(cluster_threads->clocks);
}

void inside_begin(GlobalCheck *run, const GridEvent *event, GridClusterThreads *cluster_threads, uint32_t rank,
                  uint32_t most) {
    uint32_t agents = most_agents(run), areas = area_count(run);
    if (!cluster_threads->inside)
        cluster_threads->inside = ARENA_ARRAY(run->arena, Inside, most);
    Inside *inside = &cluster_threads->inside[rank];
    if (!inside->agents) {
        inside->agents = ARENA_ARRAY(run->arena, InsideAgent, agents);
        inside->areas = ARENA_ARRAY(run->arena, AreaAgents, areas + 1);
    }
    for (uint32_t i = 0; i < agents; i++) {
        InsideAgent *agent = &inside->agents[i];
        if (agent->uses)
            memset(agent->uses, 0, area_slots(run) * sizeof *agent->uses);
        agent->epoch = agent->maybe = agent->released = agent->acquired = agent->count = agent->run_count = 0;
    }
    memset(inside->areas, 0, (areas + 1) * sizeof *inside->areas);
    inside->made_count = inside->visit_count = inside->locations.count = inside->segment_count = 0;
    inside->locations.round++;
    bool first = true;
    for (uint32_t i = 0; i < run->launches[event->launch].ctas && cluster_threads->threads; i++)
        first &= i == rank || cluster_threads->threads[i] == GSAN_NO_THREAD;
    if (first)
        begin_clocks(run, event, cluster_threads);
}

static InsideAgent *agent_of(const GridEvent *event, const GridClusterThreads *cluster_threads, uint32_t rank) {
    return &cluster_threads->inside[rank].agents[event->event->agent % event->machine->program->agents_per_cta];
}

/* ---- What orders ---------------------------------------------------------------------------------- */

/* Whether the agent itself is at that op when the event is emitted: not at the end of an asynchronous operation. */
static bool is_own_step(const Event *event) {
    switch (event->kind) {
    case EVENT_DELIVER:
    case EVENT_SIGNAL:
    case EVENT_FINISH:
    case EVENT_FLIP:
    case EVENT_BLOCK:
    case EVENT_ISSUE:
    case EVENT_NAMED_COMPLETE:
    case EVENT_CLUSTER_COMPLETE:
        return false;
    default:
        return true;
    }
}

static void note_order(InsideAgent *agent, const Event *event) {
    bool fence = event->kind == EVENT_FENCE && event->effect->effect.verb == EFFECT_FENCE_ORDER;
    bool strong = event->kind == EVENT_ACCESS && event->effect->effect.order != ORDER_WEAK;
    if (!fence && !strong && event->kind != EVENT_UNKNOWN)
        return;
    agent->released++;
    agent->acquired++;
}

/* Events that may order by what they are, and not by where they are. Most are none of these. */
static bool may_order(const Event *event) {
    static const uint64_t kinds = UINT64_C(1) << EVENT_ACCESS | UINT64_C(1) << EVENT_FENCE |
                                  UINT64_C(1) << EVENT_UNKNOWN | UINT64_C(1) << EVENT_CTA_BARRIER |
                                  UINT64_C(1) << EVENT_NAMED_SYNC | UINT64_C(1) << EVENT_FORK |
                                  UINT64_C(1) << EVENT_JOIN | UINT64_C(1) << EVENT_CLUSTER_WAIT;
    return kinds >> event->kind & 1;
}

void inside_before(GlobalCheck *run, const GridEvent *event, GridClusterThreads *cluster_threads, uint32_t rank) {
    const Event *what = event->event;
    uint8_t stages = run->stages[site_of(run, event)];
    if (cluster_threads->clocks)
        clocks_observe(cluster_threads->clocks, what);
    if (!stages && !may_order(what))
        return;
    InsideAgent *agent = agent_of(event, cluster_threads, rank);
    note_order(agent, what);
    if (!is_own_step(what))
        return;
    if (stages & (STAGE_BEFORE | NEEDED_BEFORE))
        meet(agent, stages & STAGE_BEFORE || !(stages & MAY_OVERLAP));
    else if (stages & MAY_OVERLAP)
        meet(agent, false);
}

void inside_after(GlobalCheck *run, const GridEvent *event, GridClusterThreads *cluster_threads, uint32_t rank) {
    const Event *what = event->event;
    uint8_t stages = run->stages[site_of(run, event)];
    if ((!stages && !may_order(what)) || !is_own_step(what))
        return;
    InsideAgent *agent = agent_of(event, cluster_threads, rank);
    if (stages & (STAGE_BETWEEN | STAGE_AFTER | NEEDED_AFTER))
        meet(agent, stages & (STAGE_BETWEEN | STAGE_AFTER) || !(stages & MAY_OVERLAP));
    switch (what->kind) {
    case EVENT_CTA_BARRIER: {
        const Effect *barrier = &what->effect->effect;
        meet(agent, !barrier->relaxed && orders_global(what->op, barrier));
        break;
    }
    case EVENT_NAMED_SYNC:
    case EVENT_FORK:
    case EVENT_JOIN:
        meet(agent, true);
        break;
    case EVENT_CLUSTER_WAIT:
    case EVENT_UNKNOWN:
        meet(agent, what->kind == EVENT_CLUSTER_WAIT && !what->effect->effect.relaxed);
        break;
    default:
        break;
    }
}

/* ---- Whether threads may meet at all -------------------------------------------------------------- */

/* An access that is not known may meet others: barriers that the compiler inserts are looked for, then it is open. */
static void leave_open(GlobalCheck *run, UnknownAccess *unknown) {
    unknown->threads |= run->needs_found;
    run->needs_wanted = true;
}

/* Whether an access that was not kept, for lack of room, may meet it: not a read where nothing known writes. */
static bool may_overlap_more(const GlobalCheck *run, const InsideAgent *agent, const InsideTouch *now) {
    uint32_t areas = area_count(run);
    bool any = now->writes;
    for (uint32_t i = 0; i < now->bytes.count && !any; i++) {
        uint32_t area = area_number(run, now->bytes.runs[i].begin);
        any = area >= areas || run->written[area];
    }
    return any && agent->count == MOST_TOUCHES;
}

static bool may_overlap(GlobalCheck *run, const InsideAgent *agent, const InsideTouch *now) {
    bool met = may_overlap_more(run, agent, now);
    for (uint32_t i = 0; i < agent->count; i++) {
        const InsideTouch *old = &agent->touches[i];
        bool same = old->mapping && old->mapping == now->mapping;
        if (!(old->writes || now->writes) || (old->atomic && now->atomic) || same ||
            !bytes_overlap(&old->bytes, &now->bytes))
            continue;
        if (old->masked)
            leave_open(run, old->masked);
        met |= !old->masked;
    }
    return met;
}

static void keep_touch(GlobalCheck *run, InsideAgent *agent, InsideTouch now) {
    uint32_t first = agent->run_count;
    if (!now.bytes.count)
        return;
    for (uint32_t i = 0; i < now.bytes.count; i++)
        *ARENA_PUSH(run->arena, agent->runs, agent->run_count, agent->run_capacity) = now.bytes.runs[i];
    const Run *before = agent->count ? agent->touches[0].bytes.runs : agent->runs;
    for (uint32_t i = 0; i < agent->count && before != agent->runs; i++) /* they have moved */
        agent->touches[i].bytes.runs = agent->runs + (agent->touches[i].bytes.runs - before);
    now.bytes.runs = agent->runs + first;
    *ARENA_PUSH(run->arena, agent->touches, agent->count, agent->capacity) = now;
}

/* Whether another partition has been in the area, and one of the two writes; not so where all are atomic. */
static bool partitions_meet(AreaAgents *area, uint32_t agent, bool writes, bool atomic) {
    uint32_t others = ~(UINT32_C(1) << agent % 32);
    bool meet = area->write & others || (writes && area->read & others) || (!atomic && area->update & others);
    meet |= writes && !atomic && area->update & others;
    *(atomic ? &area->update : writes ? &area->write : &area->read) |= UINT32_C(1) << agent % 32;
    return meet;
}

/* The same of the bytes between the first and the last that it touches there. */
static bool segments_overlap(GlobalCheck *run, Inside *inside, InsideSegment now) {
    bool meet = inside->segment_count == MOST_SEGMENTS;
    for (uint32_t i = 0; i < inside->segment_count && !meet; i++) {
        const InsideSegment *old = &inside->segments[i];
        meet = old->agent != now.agent && (old->writes || now.writes) && !(old->atomic && now.atomic) &&
               old->run.begin < now.run.end && now.run.begin < old->run.end;
    }
    if (inside->segment_count < MOST_SEGMENTS)
        *ARENA_PUSH(run->arena, inside->segments, inside->segment_count, inside->segment_capacity) = now;
    return meet;
}

/* ---- Accesses that are not known ------------------------------------------------------------------- */

/* Whether one thread makes the access, the first: of one element, or what the others read is not looked at. Every
 * thread runs assembly. */
static bool is_by_one_thread(GlobalCheck *run, const GridEvent *event) {
    const Effect *effect = &event->event->effect->effect;
    const Type *type = effect->on ? type_resolve(event->machine->program->module, effect->on->type) : NULL;
    int64_t elements = 1;
    for (uint32_t i = 0; type && type->kind == TYPE_TENSOR && i < type->dim_count; i++)
        elements *= type->dims[i];
    return elements == 1 && !is_inline_ptx(event->event->op) &&
           (effect->verb != EFFECT_READ || !copies_matter(run, site_of(run, event)));
}

static bool can_race(uint8_t before, uint8_t now) {
    return before && uses_can_race(before | now);
}

/* What is done to an area: `unknown`, by an access whose bytes are not known. */
typedef struct AreaTouch {
    const GridEvent *event;
    InsideAgent *agent;
    UnknownAccess *unknown;
    bool several; /* threads */
} AreaTouch;

static void touch_area(GlobalCheck *run, uint32_t area, void *context) {
    const AreaTouch *touch = context;
    uint8_t how = use_kind(touch->event->event);
    if (how & USE_ASYNC) /* no thread's */
        return;
    if (!touch->agent->uses)
        touch->agent->uses = ARENA_ARRAY(run->arena, ThreadUses, area_slots(run));
    ThreadUses *uses = &touch->agent->uses[area];
    if (uses->epoch != touch->agent->epoch)
        *uses = (ThreadUses){.epoch = touch->agent->epoch};
    for (int several = !touch->several; several < 2; several++) { /* one thread does not race with itself */
        if (uses->unknown && can_race(uses->loose[several], how))
            leave_open(run, uses->unknown);
        if (touch->unknown && (can_race(uses->known[several], how) || can_race(uses->loose[several], how)))
            leave_open(run, touch->unknown);
    }
    if (touch->unknown)
        uses->unknown = touch->unknown;
    (touch->unknown ? uses->loose : uses->known)[touch->several] |= how;
}

void inside_read(GlobalCheck *run, const GridEvent *event, GridClusterThreads *cluster_threads, uint32_t rank,
                 uint32_t area) {
    AreaTouch touch = {event, agent_of(event, cluster_threads, rank), NULL, !is_by_one_thread(run, event)};
    touch_area(run, area, &touch);
}

void inside_loose(GlobalCheck *run, const GridEvent *event, GridClusterThreads *cluster_threads, uint32_t rank,
                  UnknownAccess *unknown) {
    AreaTouch touch = {event, agent_of(event, cluster_threads, rank), unknown, !is_by_one_thread(run, event)};
    visit_areas(run, unknown, touch_area, &touch);
    for (uint32_t area = 0; unknown->roots.elsewhere && area < area_count(run); area++)
        touch_area(run, area, &touch);
}

/* ---- Threads -------------------------------------------------------------------------------------- */

static InsideLocation *location_at(GlobalCheck *run, InsideLocations *table, int64_t address) {
    InsideLocation *location = locations_put(run->arena, table, address);
    if (location->round != table->round)
        *location = (InsideLocation){.address = address, .round = table->round};
    return location;
}

/* What is being judged. */
typedef struct InsideAttempt {
    GlobalCheck *run;
    const GridEvent *event;
    const GridClusterThreads *cluster_threads;
    Inside *inside;
    uint32_t made; /* its number */
} InsideAttempt;

static const InsideMade *made_of(const InsideAttempt *attempt, uint32_t number) {
    return &attempt->inside->made[number - 1];
}

/* Whether nothing orders the two; *sure: nor does anything that is not known. */
static bool is_unordered(const InsideAttempt *attempt, const InsideVisit *visit, uint32_t thread, bool *sure) {
    const InsideMade *old = made_of(attempt, visit->made), *now = made_of(attempt, attempt->made);
    const InsideAgent *agents = attempt->inside->agents;
    *sure = true;
    if (old->order != ORDER_WEAK && now->order != ORDER_WEAK)
        return false;
    if (old->agent != now->agent) {
        *sure = attempt->cluster_threads->clocks && agents[old->agent].released == old->released;
        return !attempt->cluster_threads->clocks ||
               !clocks_follow(attempt->cluster_threads->clocks, attempt->event->event, old->stamp);
    }
    if (old->epoch != now->epoch || visit->thread == THREAD_ENGINE)
        return false;
    *sure = old->maybe == now->maybe && visit->thread != THREAD_UNKNOWN && thread != THREAD_UNKNOWN;
    if (visit->thread != thread || thread == THREAD_UNKNOWN)
        return true;
    /* The thread itself, but others that have a copy read it, too. */
    const InsideMade *read = old->copies ? old : now->copies ? now : NULL;
    return read && copies_matter(attempt->run, read->site);
}

static const char *thread_name(const InsideAttempt *attempt, uint32_t agent, uint32_t thread, bool partitions) {
    const Machine *machine = attempt->event->machine;
    Text text = {0};
    if (!partitions && thread == THREAD_ENGINE)
        text_addf(&text, "a copy");
    else if (!partitions && thread == THREAD_UNKNOWN)
        text_addf(&text, "a thread");
    else if (!partitions)
        text_addf(&text, "thread %u", thread);
    if (machine->program->agents_per_cta > 1) {
        text_addf(&text, "%s", partitions ? "" : " of ");
        const Strand *strand = NULL;
        for (uint32_t i = 0; i < machine->program->strand_count && !strand; i++)
            if (machine->program->strands[i].index == agent)
                strand = &machine->program->strands[i];
        text_addf(&text, "%s", strand && agent ? strand->name : "default");
    }
    return text_keep(&text, attempt->run->arena);
}

static GsanActor actor_of(const InsideAttempt *attempt, const InsideMade *made) {
    return (GsanActor){.thread = attempt->cluster_threads->threads[0],
                       .launch = attempt->event->launch,
                       .cta = attempt->event->cta,
                       .site = made->site,
                       .kind = made->kind,
                       .order = made->order};
}

static void report_race(const InsideAttempt *attempt, const InsideVisit *visit, uint32_t thread, int64_t address,
                        bool sure) {
    GlobalCheck *run = attempt->run;
    const InsideMade *old = made_of(attempt, visit->made), *now = made_of(attempt, attempt->made);
    bool partitions = old->agent != now->agent;
    uint32_t other = visit->thread;
    if (!partitions && other == thread && thread != THREAD_UNKNOWN) /* its copies */
        *(old->copies ? &other : &thread) = thread + 1;
    global_keep_race(run, &(FoundRace){.race = {.begin = (uint64_t)address,
                                                .end = (uint64_t)address + run->granules[area_number(run, address)],
                                                .earlier = actor_of(attempt, old),
                                                .later = actor_of(attempt, now),
                                                .released_site = UINT32_MAX,
                                                .acquired_site = UINT32_MAX},
                                       .times = 1,
                                       .silent = now->silent,
                                       .earlier = thread_name(attempt, old->agent, other, partitions),
                                       .later = thread_name(attempt, now->agent, thread, partitions),
                                       .partitions = partitions,
                                       .unsure = !sure});
}

static void judge(const InsideAttempt *attempt, const InsideVisit *visit, uint32_t thread, int64_t address) {
    bool sure;
    if (visit->made && visit->made != attempt->made && is_unordered(attempt, visit, thread, &sure))
        report_race(attempt, visit, thread, address, sure);
}

/* Of each partition the reads of its last epoch, by two threads: any other thread that writes meets one of them. */
static void keep_read(const InsideAttempt *attempt, InsideLocation *location, uint32_t thread) {
    Inside *inside = attempt->inside;
    const InsideMade *now = made_of(attempt, attempt->made);
    unsigned same = 0;
    for (uint32_t *at = &location->reads; *at;) {
        InsideVisit *visit = &inside->visits[*at - 1];
        const InsideMade *old = made_of(attempt, visit->made);
        if (old->agent == now->agent && (old->epoch != now->epoch || (visit->thread == thread && !old->copies))) {
            *at = visit->next;
            continue;
        }
        same += old->agent == now->agent;
        at = &visit->next;
    }
    if (same >= 2)
        return;
    *ARENA_PUSH(attempt->run->arena, inside->visits, inside->visit_count, inside->visit_capacity) =
        (InsideVisit){.made = attempt->made, .thread = thread, .next = location->reads};
    location->reads = inside->visit_count;
}

static void touch_location(const InsideAttempt *attempt, int64_t address, uint32_t thread) {
    InsideLocation *location = location_at(attempt->run, &attempt->inside->locations, address);
    const InsideMade *now = made_of(attempt, attempt->made);
    judge(attempt, &location->write, thread, address);
    if (now->kind == KIND_READ) {
        keep_read(attempt, location, thread);
        return;
    }
    for (uint32_t at = location->reads; at; at = attempt->inside->visits[at - 1].next)
        judge(attempt, &attempt->inside->visits[at - 1], thread, address);
    location->reads = 0;
    location->write = (InsideVisit){.made = attempt->made, .thread = thread};
}

static void follow(GlobalCheck *run, const GridEvent *event, GridClusterThreads *cluster_threads, uint32_t rank,
                   AccessKind kind) {
    Inside *inside = &cluster_threads->inside[rank];
    const Event *what = event->event;
    const Effect *effect = &what->effect->effect;
    const InsideAgent *agent = agent_of(event, cluster_threads, rank);
    ThreadPieces pieces;
    if (run->inside_cut || !access_threads(event->machine, what, &run->scratch, &pieces))
        return;
    *ARENA_PUSH(run->arena, inside->made, inside->made_count, inside->made_capacity) = (InsideMade){
        .agent = (uint32_t)(agent - inside->agents),
        .site = site_of(run, event),
        .epoch = agent->epoch,
        .maybe = agent->maybe,
        .released = agent->released,
        .kind = kind,
        .order = effect->order,
        .copies = pieces.copies && kind == KIND_READ,
        .silent = what->silent && kind != KIND_READ,
        .stamp = cluster_threads->clocks ? clocks_epoch(cluster_threads->clocks, what) : (Epoch){NO_COMPONENT, 0}};
    InsideAttempt attempt = {
        .run = run, .event = event, .cluster_threads = cluster_threads, .inside = inside, .made = inside->made_count};
    for (uint32_t i = 0; i < pieces.count; i++) {
        ThreadPiece *piece = &pieces.items[i];
        uint32_t area = area_number(run, piece->begin);
        if (area == NO_AREA || !run->inside_areas[area] || !own_address(run, event, &piece->begin))
            continue;
        int64_t granule = run->granules[area];
        run->inside_work += (piece->bytes + (uint64_t)granule - 1) / (uint64_t)granule;
        for (int64_t at = piece->begin / granule * granule; at < piece->begin + piece->bytes; at += granule)
            touch_location(&attempt, at, piece->thread);
    }
    run->inside_cut |= run->inside_work > most_work;
}

/* Elements distinguish threads; the first and last bytes of rows distinguish copies. Where that gets smaller, the run
 * that is made is not to be relied on. */
static void fit_granule(GlobalCheck *run, const GridEvent *event, uint32_t area, const Run *bytes) {
    const CompiledEffect *effect = event->event->effect;
    bool copy = effect->effect.proxy == PROXY_ASYNC || effect->effect.on_descriptor;
    uint64_t unit = copy ? 0 : access_element(event->machine, event->event);
    if (!unit)
        unit = (uint64_t)bytes->begin | (uint64_t)bytes->end;
    while (unit && unit % run->granules[area]) {
        run->granules[area] /= 2;
        run->inside_wanted[area] |= run->inside_areas[area];
    }
}

void inside_access(GlobalCheck *run, const GridEvent *event, GridClusterThreads *cluster_threads, uint32_t rank,
                   const Bytes *bytes, AccessKind kind) {
    InsideAgent *agent = agent_of(event, cluster_threads, rank);
    const Effect *effect = &event->event->effect->effect;
    uint32_t agents = event->machine->program->agents_per_cta, areas = area_count(run);
    bool followed = false, outside = false, meet = false, atomic = effect->order != ORDER_WEAK;
    InsideTouch now = {.bytes = *bytes, .writes = kind != KIND_READ, .atomic = atomic};
    AreaTouch touch = {event, agent, NULL, !is_by_one_thread(run, event)};
    for (uint32_t i = 0, last = UINT32_MAX; i < bytes->count; i++) {
        uint32_t area = area_number(run, bytes->runs[i].begin);
        if (area >= areas || (area == last && effect->proxy != PROXY_ASYNC && !effect->on_descriptor))
            continue;
        fit_granule(run, event, area, &bytes->runs[i]);
        followed |= run->inside_areas[area];
        outside |= !run->inside_areas[area];
        if (area != last)
            touch_area(run, area, &touch);
        if (area != last && agents > 1)
            meet |= partitions_meet(&cluster_threads->inside[rank].areas[area], event->event->agent % agents,
                                    now.writes, atomic);
        last = area;
    }
    if (agents > 1 && bytes->count)
        meet &= segments_overlap(run, &cluster_threads->inside[rank],
                                 (InsideSegment){{bytes->runs[0].begin, bytes->runs[bytes->count - 1].end},
                                                 event->event->agent % agents,
                                                 now.writes,
                                                 atomic});
    now.mapping = access_mapping(event->machine, event->event);
    bool wanted = (may_overlap(run, agent, &now) || meet) && outside;
    for (uint32_t i = 0; i < bytes->count && wanted; i++) {
        uint32_t area = area_number(run, bytes->runs[i].begin);
        if (area < areas)
            run->inside_wanted[area] |= !run->inside_areas[area];
    }
    if (agent->count < MOST_TOUCHES && effect->proxy != PROXY_ASYNC)
        keep_touch(run, agent, now);
    if (followed)
        follow(run, event, cluster_threads, rank, kind);
}

void inside_masked(GlobalCheck *run, const GridEvent *event, GridClusterThreads *cluster_threads, uint32_t rank,
                   UnknownAccess *unknown, const Bytes *bytes) {
    InsideAgent *agent = agent_of(event, cluster_threads, rank);
    InsideTouch now = {.bytes = *bytes,
                       .mapping = access_mapping(event->machine, event->event),
                       .writes = event->event->effect->effect.verb != EFFECT_READ,
                       .masked = unknown};
    if (may_overlap(run, agent, &now))
        leave_open(run, unknown);
    if (agent->count < MOST_TOUCHES)
        keep_touch(run, agent, now);
}

void inside_report(const GlobalCheck *run) {
    for (size_t i = 0; i < run->count && run->inside_cut; i++)
        verdict_incomplete(run->kernels[i].verdict, "", 0,
                           "races between the threads of a CTA in global memory were checked only in part: there "
                           "are too many accesses to the same memory (use a smaller --grid or less data)");
}
