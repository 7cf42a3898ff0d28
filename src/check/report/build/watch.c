/* Collects what happens to barriers in a run. */
#include "check/report/build/watch.h"

enum { NO_AGENT = UINT32_MAX, LIKELY = 1024 };

/* Of one mbarrier or named barrier, while it runs. */
typedef struct WatchLocation {
    uint32_t ring;                                            /* NO_AGENT: not met yet */
    uint32_t index;                                           /* in its ring */
    uint32_t now[MOST_TOGETHER], before[MOST_TOGETHER];       /* who came into this phase and into the last: Seen */
    uint64_t now_at[MOST_TOGETHER], before_at[MOST_TOGETHER]; /* and when */
    uint32_t now_count, before_count;
    uint32_t cluster_threads; /* of the last phase */
    bool observed;            /* someone has passed since the last phase completed */
    bool fresh;               /* no phase is complete since it was made, by `maker`, who had done `work` by then */
    uint32_t maker;
    uint64_t work;
    uint64_t flips; /* in all its lives */
    bool reported;  /* what came in the phase began with an expect */
    bool sample;    /* the last phase is the one that its ring keeps the bytes of, and was told so */
    int64_t expected, delivered;
    Delivery deliveries[MOST_DELIVERIES];
    uint32_t delivery_count;
} WatchLocation;

enum { MOST_REPORTED = 256 }; /* agents, of which it is known which synchronized with which */

/* The last time that one agent's arrival let another go on. */
typedef struct WatchReported {
    uint64_t arrived;
    uint32_t ring, cluster_threads;
    const Op *wait; /* NULL: never */
} WatchReported;

struct Watch {
    Arena *arena;
    Machine *machine;
    Sights sights[2]; /* the run that is going on, and the one that is kept */
    unsigned current;
    bool kept;
    uint64_t runs;
    WatchLocation *locations; /* of mbarriers, then of named barriers */
    uint32_t location_count;
    uint32_t *passed;        /* [slot][agent]: 1 + phases complete when it last passed; 0: never */
    uint32_t *let_go;        /* [slot][agent]: the set of the cluster's threads of the phase on which it last passed */
    uint64_t *work;          /* of each agent: accesses to memory, and waits */
    WatchReported *reported; /* [agent that waits][agent that arrives][when its asynchronous work is done]; or NULL */
    uint32_t *indices;       /* [effect][agent]: 1 + index of Seen */
    uint32_t likely[LIKELY]; /* where a handing was found the last time, by a hash of it */
};

Watch *watch_create(Arena *arena, Machine *machine) {
    Watch *watch = ARENA_NEW(arena, Watch);
    watch->arena = arena;
    watch->machine = machine;
    watch->location_count = machine->slot_count + machine->program->ctas * NAMED_BARRIERS;
    watch->locations = ARENA_ARRAY(arena, WatchLocation, watch->location_count);
    watch->passed = ARENA_ARRAY(arena, uint32_t, (size_t)watch->location_count * machine->agent_count);
    watch->let_go = ARENA_ARRAY(arena, uint32_t, (size_t)watch->location_count * machine->agent_count);
    watch->work = ARENA_ARRAY(arena, uint64_t, machine->agent_count);
    if (machine->agent_count <= MOST_REPORTED)
        watch->reported = ARENA_ARRAY(arena, WatchReported, (size_t)machine->agent_count * machine->agent_count * 2);
    watch->indices = ARENA_ARRAY(arena, uint32_t, (size_t)machine->program->effect_count * machine->agent_count);
    return watch;
}

static Sights *running(Watch *watch) {
    return &watch->sights[watch->current];
}

void watch_start(Watch *watch, const Rerun *rerun) {
    Sights *sights = running(watch);
    sights->rerun = *rerun;
    sights->launch = *rerun->launch;
    sights->events = 0;
    sights->seen_count = sights->ring_count = sights->handing_count = sights->protection_count = 0;
    sights->cluster_threads_count = 0;
    for (uint32_t i = 0; i < watch->location_count; i++)
        watch->locations[i] =
            (WatchLocation){.ring = NO_AGENT, .observed = true, .cluster_threads = NO_CLUSTER_THREADS};
    memset(watch->passed, 0, (size_t)watch->location_count * watch->machine->agent_count * sizeof *watch->passed);
    memset(watch->let_go, 0xff, (size_t)watch->location_count * watch->machine->agent_count * sizeof *watch->let_go);
    memset(watch->work, 0, watch->machine->agent_count * sizeof *watch->work);
    if (watch->reported)
        memset(watch->reported, 0,
               (size_t)watch->machine->agent_count * watch->machine->agent_count * 2 * sizeof *watch->reported);
    memset(watch->indices, 0,
           (size_t)watch->machine->program->effect_count * watch->machine->agent_count * sizeof *watch->indices);
}

/* ---- Rings ---------------------------------------------------------------------------------------- */

static uint32_t find_ring(Watch *watch, const Op *root, Side side, int64_t id, int64_t depth) {
    Sights *sights = running(watch);
    for (size_t i = 0; i < sights->ring_count; i++) {
        const Ring *ring = &sights->rings[i];
        if (ring->root == root && ring->side == side && (root || ring->id == id))
            return (uint32_t)i;
    }
    *ARENA_PUSH(watch->arena, sights->rings, sights->ring_count, sights->ring_capacity) =
        (Ring){.root = root, .side = side, .id = id, .depth = depth, .count = -1, .expected = -1};
    return sights->ring_count - 1;
}

static bool is_named(const Event *event) {
    return event->kind == EVENT_NAMED_ARRIVE || event->kind == EVENT_NAMED_SYNC || event->kind == EVENT_NAMED_COMPLETE;
}

static WatchLocation *location_of(Watch *watch, const Event *event) {
    const Machine *machine = watch->machine;
    WatchLocation *location =
        &watch->locations[is_named(event) ? machine->slot_count + event->barrier : event->barrier];
    if (location->ring != NO_AGENT)
        return location;
    if (is_named(event)) {
        location->ring = find_ring(watch, NULL, SIDE_NONE, event->barrier % NAMED_BARRIERS, 1);
        return location;
    }
    BarrierPlace place = barrier_place(machine, event->barrier);
    const Op *root = place.allocation ? place.allocation->op : NULL;
    location->ring = find_ring(watch, root, place.side, root ? 0 : -1 - place.slot, root ? place.depth : 1);
    location->index = root ? (uint32_t)place.slot : 0;
    return location;
}

static Ring *ring_of(Watch *watch, const WatchLocation *location) {
    return &running(watch)->rings[location->ring];
}

/* ---- Ops ------------------------------------------------------------------------------------------ */

static void make_room(Arena *arena, Seen *seen) {
    uint32_t moments = seen->room;
    seen->sightings = arena_grown(arena, seen->sightings, seen->count, &seen->room, sizeof *seen->sightings);
    seen->moments = arena_grown(arena, seen->moments, seen->count, &moments, sizeof *seen->moments);
}

static uint32_t see(Watch *watch, const Event *event, SightKind kind, const WatchLocation *location) {
    Sights *sights = running(watch);
    const Program *program = watch->machine->program;
    size_t effect = (size_t)(event->effect - program->effects);
    uint32_t *index = &watch->indices[effect * watch->machine->agent_count + event->agent];
    if (!*index) {
        Seen *fresh = ARENA_PUSH(watch->arena, sights->seen, sights->seen_count, sights->seen_capacity);
        *index = sights->seen_count;
        *fresh = (Seen){.kind = kind,
                        .op = program->ops[event->pc],
                        .effect = event->effect,
                        .agent = event->agent,
                        .pc = event->pc,
                        .ring = location->ring,
                        .helper = event->outstanding ? (Helper)event->outstanding->helper : HELPER_BASE,
                        .amount = event->amount,
                        .sightings = fresh->sightings, /* of an earlier run */
                        .moments = fresh->moments,
                        .room = fresh->room};
    }
    Seen *seen = &sights->seen[*index - 1];
    if (event->outstanding && event->outstanding->member)
        return *index - 1; /* it comes to several CTAs, and was counted with the first */
    seen->times++;
    seen->strays |= seen->ring != location->ring;
    seen->varies |= seen->amount != event->amount;
    if (seen->count < MOST_SIGHTINGS && seen->ring == location->ring) {
        if (seen->count == seen->room)
            make_room(watch->arena, seen);
        seen->sightings[seen->count] = (Sighting){location->index, event->parity};
        seen->moments[seen->count++] = (uint32_t)sights->events;
    }
    return *index - 1;
}

static void come(WatchLocation *location, uint32_t who, uint64_t moment) {
    uint32_t i = 0;
    while (i < location->now_count && location->now[i] != who)
        i++;
    if (i == MOST_TOGETHER)
        return;
    location->now[i] = who;
    location->now_at[i] = moment;
    location->now_count += i == location->now_count;
}

static WatchReported *reported(const Watch *watch, uint32_t to, uint32_t from, bool asynchronous) {
    size_t agents = watch->machine->agent_count;
    return watch->reported ? &watch->reported[(to * agents + from) * 2 + asynchronous] : NULL;
}

/* The agent that completed the phase has released to the agent what it did before. */
static void hear(Watch *watch, const WatchLocation *location, uint32_t agent, const Op *wait) {
    for (uint32_t i = 0; i < location->before_count; i++) {
        const Seen *from = &running(watch)->seen[location->before[i]];
        bool asynchronous = from->kind == SIGHT_DELIVER || from->effect->effect.done != DONE_NOW;
        WatchReported *last = reported(watch, agent, from->agent, asynchronous);
        if (last)
            *last = (WatchReported){location->before_at[i], location->ring, location->cluster_threads, wait};
    }
}

static void hand_over(Watch *watch, uint32_t from, uint32_t to) {
    Sights *sights = running(watch);
    uint32_t *likely = &watch->likely[(from * 31 + to) % LIKELY];
    size_t i = *likely;
    if (i >= sights->handing_count || sights->handings[i].from != from || sights->handings[i].to != to)
        for (i = 0; i < sights->handing_count; i++)
            if (sights->handings[i].from == from && sights->handings[i].to == to)
                break;
    *likely = (uint32_t)i;
    if (i < sights->handing_count) {
        sights->handings[i].times++;
        return;
    }
    *ARENA_PUSH(watch->arena, sights->handings, sights->handing_count, sights->handing_capacity) =
        (Handing){from, to, 1};
}

/* ---- Events --------------------------------------------------------------------------------------- */

static void add_delivery(Delivery *deliveries, uint32_t *count, const Watch *watch, const Event *event) {
    const Op *op = watch->machine->program->ops[event->pc];
    for (uint32_t i = 0; i < *count; i++)
        if (deliveries[i].op == op) {
            deliveries[i].bytes += event->amount;
            return;
        }
    if (*count < MOST_DELIVERIES)
        deliveries[(*count)++] = (Delivery){op, event->effect, event->amount};
}

/* Bytes that come after a phase was complete and before the next expect are more than that phase had expected. */
static void deliver(Watch *watch, WatchLocation *location, const Event *event) {
    Ring *ring = ring_of(watch, location);
    location->delivered += event->amount;
    add_delivery(location->deliveries, &location->delivery_count, watch, event);
    if (location->sample)
        add_delivery(ring->deliveries, &ring->delivery_count, watch, event);
}

static bool is_cluster_threads(const ClusterThreads *cluster_threads, const WatchLocation *location) {
    if (cluster_threads->ring != location->ring || cluster_threads->count != location->now_count)
        return false;
    for (uint32_t i = 0; i < cluster_threads->count; i++) {
        bool here = false;
        for (uint32_t k = 0; k < location->now_count && !here; k++)
            here = cluster_threads->members[i] == location->now[k];
        if (!here)
            return false;
    }
    return true;
}

/* Who completes the phase; it is mostly those who completed the last one, or one not long ago. */
static uint32_t cluster_threads_of(Watch *watch, const WatchLocation *location) {
    Sights *sights = running(watch);
    if (location->cluster_threads != NO_CLUSTER_THREADS &&
        is_cluster_threads(&sights->cluster_thread_sets[location->cluster_threads], location))
        return location->cluster_threads;
    for (size_t i = sights->cluster_threads_count; i-- > 0;)
        if (is_cluster_threads(&sights->cluster_thread_sets[i], location))
            return (uint32_t)i;
    if (sights->cluster_threads_count == MOST_CLUSTER_THREAD_SETS)
        return NO_CLUSTER_THREADS;
    ClusterThreads *cluster_threads = ARENA_PUSH(watch->arena, sights->cluster_thread_sets,
                                                 sights->cluster_threads_count, sights->cluster_threads_capacity);
    *cluster_threads = (ClusterThreads){.ring = location->ring, .count = location->now_count};
    memcpy(cluster_threads->members, location->now, location->now_count * sizeof *location->now);
    return sights->cluster_threads_count - 1;
}

static void flip(Watch *watch, WatchLocation *location) {
    Ring *ring = ring_of(watch, location);
    location->cluster_threads = cluster_threads_of(watch, location);
    location->fresh = false;
    ring->flips++;
    location->flips++;
    ring->unseen += !location->observed;
    location->observed = false;
    memcpy(location->before, location->now, location->now_count * sizeof *location->now);
    memcpy(location->before_at, location->now_at, location->now_count * sizeof *location->now_at);
    location->before_count = location->now_count;
    location->now_count = 0;
    location->sample = false;
    if (location->expected || location->delivered) {
        if (ring->expected < 0) {
            location->sample = location->reported;
            ring->expected = location->expected;
            memcpy(ring->deliveries, location->deliveries, location->delivery_count * sizeof *location->deliveries);
            ring->delivery_count = location->delivery_count;
        }
        ring->bytes_vary |= ring->expected != location->expected;
    }
    location->expected = location->delivered = 0;
    location->delivery_count = 0;
    location->reported = false;
}

static void pass(Watch *watch, WatchLocation *location, const Event *event) {
    const Barrier *barrier = &event->state->barriers[event->barrier];
    uint32_t who = see(watch, event, SIGHT_WAIT, location);
    Seen *seen = &running(watch)->seen[who];
    size_t place = (size_t)(location - watch->locations) * watch->machine->agent_count + event->agent;
    uint32_t *passed = &watch->passed[place];
    watch->let_go[place] = barrier->generation == barrier->born ? NO_CLUSTER_THREADS : location->cluster_threads;
    watch->work[event->agent]++;
    ring_of(watch, location)->waits++;
    location->observed = true;
    if (barrier->generation == barrier->born) {
        seen->at_once++;
    } else {
        seen->again += *passed == barrier->generation + 1;
        bool own = location->before_count > 0;
        for (uint32_t i = 0; i < location->before_count; i++) {
            own &= running(watch)->seen[location->before[i]].agent == event->agent;
            hand_over(watch, location->before[i], who);
        }
        running(watch)->seen[who].own += own;
        hear(watch, location, event->agent, running(watch)->seen[who].op);
    }
    *passed = barrier->generation + 1;
}

/* Whether an arrival says no more than that there is nothing to wait for yet: the agent that made the barrier arrives,
 * and has neither touched memory nor waited in between. Tokens and arefs start with their empty side free. */
static bool is_priming(Watch *watch, const WatchLocation *location, const Event *event) {
    return location->fresh && ring_of(watch, location)->side == SIDE_NONE && location->maker == event->agent &&
           watch->work[event->agent] == location->work && event->effect->effect.done == DONE_NOW;
}

static void see_init(Watch *watch, WatchLocation *location, const Event *event) {
    Ring *ring = ring_of(watch, location);
    ring->counts_vary |= ring->count >= 0 && ring->count != event->amount;
    ring->count = ring->count < 0 ? event->amount : ring->count;
    ring->inits++;
    *location = (WatchLocation){.ring = location->ring,
                                .index = location->index,
                                .cluster_threads = NO_CLUSTER_THREADS,
                                .observed = true,
                                .fresh = true,
                                .maker = event->agent,
                                .work = watch->work[event->agent],
                                .flips = location->flips};
    memset(&watch->passed[(size_t)(location - watch->locations) * watch->machine->agent_count], 0,
           watch->machine->agent_count * sizeof *watch->passed);
}

static void see_arrival(Watch *watch, WatchLocation *location, const Event *event) {
    Sights *sights = running(watch);
    bool expects = event->kind == EVENT_EXPECT;
    uint32_t who = see(watch, event, expects ? SIGHT_EXPECT : SIGHT_ARRIVE, location);
    come(location, who, sights->events);
    ring_of(watch, location)->arrivals++;
    if (event->kind == EVENT_ARRIVE && is_priming(watch, location, event)) {
        sights->seen[who].primes++;
        ring_of(watch, location)->primed = true;
    }
    if (expects) {
        location->sample = false;
        location->reported |= !location->delivered;
        location->expected += event->amount;
    }
}

static void see_named(Watch *watch, WatchLocation *location, const Event *event) {
    bool waits = event->effect->effect.verb == EFFECT_NAMED_SYNC;
    Ring *ring = ring_of(watch, location);
    ring->count = event->amount;
    ring->arrivals++;
    come(location, see(watch, event, waits ? SIGHT_WAIT : SIGHT_ARRIVE, location), running(watch)->events);
}

/* An agent that goes on after a named barrier. */
static void see_sync(Watch *watch, WatchLocation *location, const Event *event) {
    size_t effect = (size_t)(event->effect - watch->machine->program->effects);
    uint32_t who = watch->indices[effect * watch->machine->agent_count + event->agent];
    ring_of(watch, location)->waits++;
    location->observed = true;
    watch->let_go[(size_t)(location - watch->locations) * watch->machine->agent_count + event->agent] =
        location->cluster_threads;
    watch->work[event->agent]++;
    hear(watch, location, event->agent, watch->machine->program->ops[event->pc]);
    for (uint32_t i = 0; who && i < location->before_count; i++)
        if (running(watch)->seen[location->before[i]].agent != event->agent)
            hand_over(watch, location->before[i], who - 1);
}

void watch_observe(Watch *watch, const Event *event) {
    Sights *sights = running(watch);
    sights->events++;
    switch (event->kind) {
    case EVENT_INIT:
        see_init(watch, location_of(watch, event), event);
        break;
    case EVENT_ARRIVE:
    case EVENT_SIGNAL:
    case EVENT_EXPECT:
        see_arrival(watch, location_of(watch, event), event);
        break;
    case EVENT_DELIVER: {
        WatchLocation *location = location_of(watch, event);
        come(location, see(watch, event, SIGHT_DELIVER, location), sights->events);
        deliver(watch, location, event);
        break;
    }
    case EVENT_FLIP:
    case EVENT_NAMED_COMPLETE:
        flip(watch, location_of(watch, event));
        break;
    case EVENT_WAIT:
        pass(watch, location_of(watch, event), event);
        break;
    case EVENT_NAMED_ARRIVE:
        see_named(watch, location_of(watch, event), event);
        break;
    case EVENT_NAMED_SYNC:
        see_sync(watch, location_of(watch, event), event);
        break;
    case EVENT_ACCESS:
        watch->work[event->agent]++;
        break;
    default:
        break;
    }
}

uint64_t watch_moment(const Watch *watch) {
    return watch->sights[watch->current].events;
}

bool cluster_threads_has(const Sights *sights, uint32_t cluster_threads, uint32_t agent) {
    for (uint32_t i = 0;
         cluster_threads != NO_CLUSTER_THREADS && i < sights->cluster_thread_sets[cluster_threads].count; i++)
        if (sights->seen[sights->cluster_thread_sets[cluster_threads].members[i]].agent == agent)
            return true;
    return false;
}

/* Who was told by others looks for what he was told by the agent itself. */
static void prefer_direct(const Watch *watch, Protection *protection, uint64_t since, bool by_helper) {
    const Sights *sights = &watch->sights[watch->current];
    for (int asynchronous = by_helper;
         asynchronous < 2 && !cluster_threads_has(sights, protection->cluster_threads, protection->from);
         asynchronous++) {
        const WatchReported *last = reported(watch, protection->to, protection->from, asynchronous);
        if (!last || !last->wait || last->arrived <= since)
            continue;
        protection->ring = last->ring;
        protection->cluster_threads = last->cluster_threads;
        protection->wait = last->wait;
    }
}

void watch_protects(Watch *watch, uint32_t barrier, bool named, Protection protection, uint64_t since, bool by_helper) {
    Sights *sights = running(watch);
    uint32_t location = named ? watch->machine->slot_count + barrier : barrier;
    protection.ring = watch->locations[location].ring;
    if (protection.ring == NO_AGENT)
        return;
    protection.cluster_threads = watch->let_go[(size_t)location * watch->machine->agent_count + protection.to];
    prefer_direct(watch, &protection, since, by_helper);
    for (size_t i = 0; i < sights->protection_count; i++) {
        Protection *known = &sights->protections[i];
        if (known->ring == protection.ring && known->buffer == protection.buffer && known->from == protection.from &&
            known->to == protection.to && known->wait == protection.wait && known->backward == protection.backward &&
            known->cluster_threads == protection.cluster_threads) {
            known->times++;
            return;
        }
    }
    protection.times = 1;
    *ARENA_PUSH(watch->arena, sights->protections, sights->protection_count, sights->protection_capacity) = protection;
}

/* Agents that were waiting when it ended were seen there too. */
static void see_blocked(Watch *watch) {
    const Machine *machine = watch->machine;
    for (uint32_t i = 0; i < machine->agent_count; i++) {
        const Agent *agent = &machine->state->agents[i];
        if (agent->status != AGENT_WAITS)
            continue;
        const Instruction *instruction = &machine->program->code[agent->pc];
        if (instruction->code != CODE_EFFECTS || agent->effect >= instruction->a)
            continue;
        const CompiledEffect *effect = &machine->program->effects[instruction->aux + agent->effect];
        if (effect->effect.verb != EFFECT_WAIT)
            continue;
        Event event = {.kind = EVENT_BLOCK,
                       .agent = i,
                       .pc = agent->pc,
                       .effect = effect,
                       .barrier = agent->barrier,
                       .parity = agent->parity};
        uint32_t who = see(watch, &event, SIGHT_WAIT, location_of(watch, &event));
        running(watch)->seen[who].times--; /* it did not pass */
    }
}

/* How often each slot of a ring flipped, in the first CTA. */
static void count_slots(Watch *watch) {
    enum { MOST_SLOTS = 256 };
    Sights *sights = running(watch);
    for (size_t i = 0; i < sights->ring_count; i++) {
        Ring *ring = &sights->rings[i];
        if (ring->depth > 0 && ring->depth <= MOST_SLOTS)
            ring->slot_flips = ARENA_ARRAY(watch->arena, uint64_t, (size_t)ring->depth);
    }
    for (uint32_t i = 0; i < watch->machine->slot_count && !barrier_cta(watch->machine, i); i++) {
        const WatchLocation *location = &watch->locations[i];
        Ring *ring = location->ring == NO_AGENT ? NULL : &sights->rings[location->ring];
        if (ring && ring->slot_flips && location->index < ring->depth)
            ring->slot_flips[location->index] += location->flips;
    }
}

/* From the last to the first, so that each comes before those that are linked already. */
static void link_seen(Sights *sights) {
    for (size_t i = 0; i < sights->ring_count; i++)
        sights->rings[i].first = 0;
    for (size_t i = sights->seen_count; i-- > 0;) {
        Ring *ring = &sights->rings[sights->seen[i].ring];
        sights->seen[i].next = ring->first;
        ring->first = (uint32_t)i + 1;
    }
}

void watch_end(Watch *watch, RunEnd end) {
    Sights *sights = running(watch), *kept = &watch->sights[!watch->current];
    if (end == RUN_STUCK)
        see_blocked(watch);
    for (size_t i = 0; i < sights->seen_count; i++) {
        Ring *ring = &sights->rings[sights->seen[i].ring];
        ring->primed = ring->primed && ring->waits; /* there is nothing to let pass */
        sights->seen[i].primes = ring->primed ? sights->seen[i].primes : 0;
    }
    sights->end = end;
    watch->runs++;
    bool better = !watch->kept || sights->seen_count > kept->seen_count ||
                  (sights->seen_count == kept->seen_count && sights->events > kept->events);
    if (!better)
        return;
    count_slots(watch);
    link_seen(sights);
    watch->kept = true;
    watch->current = !watch->current;
}

const Sights *watch_kept(const Watch *watch) {
    return watch && watch->kept ? &watch->sights[!watch->current] : NULL;
}

uint64_t watch_runs(const Watch *watch) {
    return watch ? watch->runs : 0;
}
