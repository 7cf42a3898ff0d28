/* Clocks over one run. */
#include "machine/tile/schedule/happens_before.h"

#include "engine/clock/vector.h"

enum { WINDOW = 2 * MOST_OUTSTANDING_OPS, FEWEST_CONTRIBUTORS = 16, MOST_RECEIVERS = 32, NO_STREAM = UINT32_MAX };
/* Clocks of phases are packed where all of them, as they are, would take more memory than this. */
static const size_t most_plain = (size_t)1 << 20;

typedef struct Contributor {
    uint32_t agent, tick, pc;
    bool outstanding;
} Contributor;

typedef struct HappensBeforePass {
    uint32_t generation; /* phases complete when it passed; + 1, 0: never */
    uint32_t tick, pc;
} HappensBeforePass;

/* A clock that is kept: its runs of equal components, length and number in turn. Of thousands of barriers each knows of
 * all others, and most of what they know is the same. */
typedef struct Packed {
    uint32_t *runs;
    uint32_t count, capacity;
} Packed;

/* Of one mbarrier. */
typedef struct HappensBeforePast {
    uint32_t *phase; /* clock: all that has come into this phase; NULL: nothing has */
    uint32_t *plain; /* of the last completed one; NULL: there is none, or it is packed */
    Packed done;     /* the same */
    Contributor *now, *before;
    uint32_t now_count, before_count;
    uint16_t *passers;                 /* agents that have gone past it since it last flipped, in their order */
    uint32_t passer_count, passers_of; /* of which generation, + 1 */
    bool now_outstanding_ops, before_outstanding_ops; /* something asynchronous is among them */
    bool now_bytes, before_bytes;                     /* a copy is */
    uint32_t stream, stream_before;                   /* if all came from one ordered stream: which */
    uint32_t init_agent, init_tick, init_pc;
    uint32_t observed; /* phases complete when a wait last passed */
    bool waited, overrun;
    bool late; /* invalidated while something might still come */
} HappensBeforePast;

/* Of one named or cluster barrier. */
typedef struct HappensBeforeBarrierInstance {
    uint32_t *coming; /* clock: of all who have come */
    Contributor *now, *before;
    uint32_t now_count, before_count;
} HappensBeforeBarrierInstance;

/* What came to barriers of several CTAs at once, and which of them it completed. */
typedef struct Multicast {
    uint64_t moment;
    uint32_t flipped[MOST_RECEIVERS], count;
} Multicast;

struct HappensBefore {
    Machine *machine;
    uint32_t agents, size;     /* of a clock */
    uint32_t contributors;     /* to a phase, or to a meeting, that are remembered: of each agent one at least */
    bool packs;                /* clocks of phases that are over */
    uint32_t *components;      /* of barriers: where in a clock. Those in use come first, of all CTAs */
    uint32_t *clocks;          /* of agents */
    uint32_t *outstanding_ops; /* of outstanding operations: WINDOW clocks, by sequence number */
    HappensBeforeBarrierInstance *barrier_instances; /* named barriers, then cluster barriers */
    uint32_t *met; /* of agents: the clock of the meeting that they wait for or have come to */
    uint32_t barrier_instance_count;
    Arena *arena;
    uint32_t **spare; /* clocks of phases that are over */
    uint32_t spare_count, spare_capacity;
    HappensBeforePast *pasts;
    HappensBeforePass *passes; /* [barrier][agent] */
    Multicast multicast;
    SensitivePoint sensitive_points[MOST_SENSITIVE_POINTS];
    uint32_t sensitive_point_count;
    bool overflowed;
};

HappensBefore *happens_before_create(Arena *arena, Machine *machine) {
    HappensBefore *happens_before = ARENA_NEW(arena, HappensBefore);
    happens_before->machine = machine;
    happens_before->arena = arena;
    happens_before->agents = machine->agent_count;
    happens_before->size =
        (machine->agent_count + machine->slot_count + VECTOR_PIECE - 1) / VECTOR_PIECE * VECTOR_PIECE;
    happens_before->components = ARENA_ARRAY(arena, uint32_t, machine->slot_count);
    happens_before->clocks = ARENA_ARRAY(arena, uint32_t, (size_t)happens_before->agents * happens_before->size);
    if (machine->outstanding_capacity)
        happens_before->outstanding_ops = ARENA_ARRAY(arena, uint32_t, (size_t)WINDOW * happens_before->size);
    happens_before->barrier_instance_count = machine->program->ctas * NAMED_BARRIERS + machine->cluster_barriers;
    happens_before->barrier_instances =
        ARENA_ARRAY(arena, HappensBeforeBarrierInstance, happens_before->barrier_instance_count);
    happens_before->met = ARENA_ARRAY(arena, uint32_t, (size_t)happens_before->agents * happens_before->size);
    happens_before->contributors =
        happens_before->agents > FEWEST_CONTRIBUTORS ? happens_before->agents : FEWEST_CONTRIBUTORS;
    happens_before->packs = (size_t)machine->slot_count * happens_before->size * sizeof(uint32_t) > most_plain;
    for (uint32_t i = 0; i < happens_before->barrier_instance_count; i++) {
        happens_before->barrier_instances[i].coming = ARENA_ARRAY(arena, uint32_t, happens_before->size);
        happens_before->barrier_instances[i].now = ARENA_ARRAY(arena, Contributor, happens_before->contributors);
        happens_before->barrier_instances[i].before = ARENA_ARRAY(arena, Contributor, happens_before->contributors);
    }
    happens_before->pasts = ARENA_ARRAY(arena, HappensBeforePast, machine->slot_count);
    happens_before->passes =
        ARENA_ARRAY(arena, HappensBeforePass, (size_t)machine->slot_count * happens_before->agents);
    for (uint32_t i = 0; i < machine->slot_count; i++) {
        happens_before->components[i] =
            happens_before->agents + i % machine->slots_per_cta * machine->program->ctas + barrier_cta(machine, i);
        happens_before->pasts[i].now = ARENA_ARRAY(arena, Contributor, happens_before->contributors);
        happens_before->pasts[i].before = ARENA_ARRAY(arena, Contributor, happens_before->contributors);
        happens_before->pasts[i].passers = ARENA_ARRAY(arena, uint16_t, happens_before->agents);
    }
    return happens_before;
}

/* How much of a clock can be other than zero: barriers get their slots when they are first used, and keep them. */
static uint32_t length(const HappensBefore *happens_before) {
    uint32_t used =
        happens_before->agents + happens_before->machine->slots_used * happens_before->machine->program->ctas;
    return (used + VECTOR_PIECE - 1) / VECTOR_PIECE * VECTOR_PIECE;
}

static void clear(const HappensBefore *happens_before, uint32_t *clock) {
    memset(clock, 0, length(happens_before) * sizeof *clock);
}

static void copy(const HappensBefore *happens_before, uint32_t *restrict to, const uint32_t *restrict from) {
    memcpy(to, from, length(happens_before) * sizeof *to);
}

static void join(const HappensBefore *happens_before, uint32_t *to, const uint32_t *from) {
    vector32_join(to, from, length(happens_before));
}

/* A clock; what is in it means nothing. */
static uint32_t *spare_clock(HappensBefore *happens_before) {
    return happens_before->spare_count ? happens_before->spare[--happens_before->spare_count]
                                       : ARENA_ARRAY(happens_before->arena, uint32_t, happens_before->size);
}

/* What the clock knows comes into the phase. */
static void come_into(HappensBefore *happens_before, HappensBeforePast *past, const uint32_t *clock) {
    if (past->phase) {
        join(happens_before, past->phase, clock);
        return;
    }
    past->phase = spare_clock(happens_before);
    copy(happens_before, past->phase, clock);
}

static uint32_t *phase_of(HappensBefore *happens_before, HappensBeforePast *past) {
    if (!past->phase) {
        past->phase = spare_clock(happens_before);
        clear(happens_before, past->phase);
    }
    return past->phase;
}

/* A clock is not needed any more. */
static void give_back(HappensBefore *happens_before, uint32_t **clock) {
    if (!*clock)
        return;
    *ARENA_PUSH(happens_before->arena, happens_before->spare, happens_before->spare_count,
                happens_before->spare_capacity) = *clock;
    *clock = NULL;
}

static void forget_phases(HappensBefore *happens_before, HappensBeforePast *past) {
    give_back(happens_before, &past->phase);
    give_back(happens_before, &past->plain);
    past->done.count = 0;
}

static void pack(HappensBefore *happens_before, const uint32_t *clock, Packed *to) {
    to->count = 0;
    for (uint32_t i = 0, end = length(happens_before), from = 0; i < end; i++) {
        if (i + 1 < end && clock[i + 1] == clock[i])
            continue;
        *ARENA_PUSH(happens_before->arena, to->runs, to->count, to->capacity) = i + 1 - from;
        *ARENA_PUSH(happens_before->arena, to->runs, to->count, to->capacity) = clock[i];
        from = i + 1;
    }
}

static void join_packed(uint32_t *to, const Packed *from) {
    for (uint32_t i = 0; i < from->count; i += 2)
        for (uint32_t k = from->runs[i], number = from->runs[i + 1]; k > 0; k--, to++)
            *to = *to > number ? *to : number;
}

/* The phase is complete: its clock is that of the last one now. */
static void keep_phase(HappensBefore *happens_before, HappensBeforePast *past) {
    if (happens_before->packs) {
        pack(happens_before, past->phase, &past->done);
        give_back(happens_before, &past->phase);
        return;
    }
    give_back(happens_before, &past->plain);
    past->plain = past->phase;
    past->phase = NULL;
}

static uint32_t *clock_of(HappensBefore *happens_before, uint32_t agent) {
    return happens_before->clocks + (size_t)agent * happens_before->size;
}

static uint32_t *outstanding_clock(HappensBefore *happens_before, const Outstanding *outstanding) {
    return happens_before->outstanding_ops + (size_t)(outstanding->sequence % WINDOW) * happens_before->size;
}

static HappensBeforePass *pass_of(HappensBefore *happens_before, uint32_t barrier, uint32_t agent) {
    return &happens_before->passes[(size_t)barrier * happens_before->agents + agent];
}

void happens_before_start(HappensBefore *happens_before) {
    happens_before->sensitive_point_count = 0;
    happens_before->overflowed = false;
    happens_before->multicast = (Multicast){0};
    for (uint32_t i = 0; i < happens_before->agents; i++)
        clear(happens_before, clock_of(happens_before, i));
    for (uint32_t i = 0; i < happens_before->barrier_instance_count; i++) {
        clear(happens_before, happens_before->barrier_instances[i].coming);
        happens_before->barrier_instances[i].now_count = happens_before->barrier_instances[i].before_count = 0;
    }
    for (uint32_t i = 0; i < happens_before->machine->slots_used; i++)
        for (uint32_t cta = 0; cta < happens_before->machine->program->ctas; cta++) {
            uint32_t barrier = cta * happens_before->machine->slots_per_cta + i;
            HappensBeforePast *past = &happens_before->pasts[barrier];
            forget_phases(happens_before, past);
            *past = (HappensBeforePast){.done = past->done,
                                        .now = past->now,
                                        .before = past->before,
                                        .passers = past->passers,
                                        .stream = NO_STREAM,
                                        .stream_before = NO_STREAM};
            memset(pass_of(happens_before, barrier, 0), 0, happens_before->agents * sizeof(HappensBeforePass));
        }
}

const SensitivePoint *happens_before_sensitive(const HappensBefore *happens_before, uint32_t *count) {
    *count = happens_before->sensitive_point_count;
    return happens_before->sensitive_points;
}

bool happens_before_overrun(const HappensBefore *happens_before, uint32_t *barrier) {
    for (uint32_t i = 0; i < happens_before->machine->slot_count; i++)
        if (happens_before->pasts[i].overrun && happens_before->pasts[i].waited) {
            *barrier = i;
            return true;
        }
    return false;
}

bool happens_before_overflowed(const HappensBefore *happens_before) {
    return happens_before->overflowed;
}

static void note(HappensBefore *happens_before, SensitivePoint sensitive_point) {
    for (uint32_t i = 0; i < happens_before->sensitive_point_count; i++) {
        const SensitivePoint *known = &happens_before->sensitive_points[i];
        if (known->kind == sensitive_point.kind && known->outstanding_ops == sensitive_point.outstanding_ops &&
            (sensitive_point.outstanding_ops ||
             (known->agent == sensitive_point.agent && known->pc == sensitive_point.pc &&
              known->tick == sensitive_point.tick && known->outstanding == sensitive_point.outstanding)))
            return;
    }
    happens_before->overflowed |= happens_before->sensitive_point_count == MOST_SENSITIVE_POINTS;
    happens_before->sensitive_points[happens_before->sensitive_point_count < MOST_SENSITIVE_POINTS
                                         ? happens_before->sensitive_point_count++
                                         : MOST_SENSITIVE_POINTS - 1] = sensitive_point;
}

/* An agent might be slower. */
static void sensitive_point(HappensBefore *happens_before, SensitivePointKind kind, uint32_t agent, uint32_t pc,
                            uint32_t tick, uint32_t barrier) {
    note(happens_before, (SensitivePoint){.kind = kind, .agent = agent, .pc = pc, .tick = tick, .barrier = barrier});
}

/* What is in flight might be. */
static void sensitive_outstanding(HappensBefore *happens_before, SensitivePointKind kind, const Event *event) {
    note(happens_before,
         (SensitivePoint){
             .kind = kind, .agent = event->agent, .pc = event->pc, .outstanding_ops = true, .barrier = event->barrier});
}

/* An agent that uses a barrier knows that it was initialized. */
static void check_init(HappensBefore *happens_before, uint32_t barrier, const uint32_t *clock) {
    const HappensBeforePast *past = &happens_before->pasts[barrier];
    if (clock[past->init_agent] < past->init_tick)
        sensitive_point(happens_before, SENSITIVE_POINT_BEFORE_INIT, past->init_agent, past->init_pc,
                        past->init_tick - 1, barrier);
}

/* What comes here does not know that the phase before is complete, and might come into it: instead of any that did and
 * that is not known here. */
static void come_early(HappensBefore *happens_before, const Event *event, const uint32_t *clock) {
    const HappensBeforePast *past = &happens_before->pasts[event->barrier];
    bool found = false;
    for (uint32_t i = 0; i < past->before_count; i++) {
        const Contributor *other = &past->before[i];
        if (other->outstanding)
            note(happens_before, (SensitivePoint){.kind = SENSITIVE_POINT_EARLY,
                                                  .agent = other->agent,
                                                  .pc = other->pc,
                                                  .outstanding = true,
                                                  .tick = other->tick,
                                                  .barrier = event->barrier});
        else if (clock[other->agent] < other->tick)
            sensitive_point(happens_before, SENSITIVE_POINT_EARLY, other->agent, other->pc, other->tick - 1,
                            event->barrier);
        found |= other->outstanding || clock[other->agent] < other->tick;
    }
    if (!found)
        sensitive_outstanding(happens_before, SENSITIVE_POINT_EARLY, event);
}

/* ---- Multicasts ----------------------------------------------------------------------------------- */

static uint64_t moment_of(const Event *event) {
    if (event->outstanding)
        return UINT64_C(1) << 63 | (event->outstanding->sequence - event->outstanding->member);
    return (uint64_t)(event->agent + 1) << 32 | event->state->agents[event->agent].ticks;
}

static bool includes(const HappensBefore *happens_before, const HappensBeforePast *past,
                     const HappensBeforePast *other) {
    bool all = other->before_count < happens_before->contributors;
    for (uint32_t i = 0; i < other->before_count && all; i++) {
        const Contributor *one = &other->before[i];
        all = false;
        for (uint32_t k = 0; k < past->before_count && !all; k++)
            all = past->before[k].agent == one->agent && past->before[k].tick == one->tick &&
                  past->before[k].pc == one->pc && past->before[k].outstanding == one->outstanding;
    }
    return all;
}

/* An agent that knows that a phase is complete knows it of the other barrier, if all that came there came here, too:
 * what is multicast comes everywhere at once. */
static void report_completion(HappensBefore *happens_before, const Event *event, uint32_t barrier, uint32_t other) {
    HappensBeforePast *past = &happens_before->pasts[barrier];
    if (!includes(happens_before, past, &happens_before->pasts[other]))
        return;
    uint32_t generation = event->state->barriers[other].generation;
    if (past->plain) {
        past->plain[happens_before->components[other]] = generation;
        return;
    }
    uint32_t *clock = spare_clock(happens_before);
    clear(happens_before, clock);
    join_packed(clock, &past->done);
    clock[happens_before->components[other]] = generation;
    pack(happens_before, clock, &past->done);
    give_back(happens_before, &clock);
}

static void flip_together(HappensBefore *happens_before, const Event *event) {
    Multicast *multicast = &happens_before->multicast;
    for (uint32_t i = 0; i < multicast->count; i++) {
        report_completion(happens_before, event, event->barrier, multicast->flipped[i]);
        report_completion(happens_before, event, multicast->flipped[i], event->barrier);
    }
    if (multicast->count < MOST_RECEIVERS)
        multicast->flipped[multicast->count++] = event->barrier;
}

/* Something comes into the barrier's current phase. `stream`: of ordered completions, or NO_STREAM. */
static void contribute(HappensBefore *happens_before, const Event *event, const uint32_t *clock, uint32_t stream) {
    uint32_t barrier = event->barrier;
    HappensBeforePast *past = &happens_before->pasts[barrier];
    const Barrier *state = &event->state->barriers[barrier];
    check_init(happens_before, barrier, clock);
    uint64_t moment = moment_of(event);
    if (happens_before->multicast.moment != moment) {
        happens_before->multicast.moment = moment;
        happens_before->multicast.count = 0;
    }
    bool in_order = stream != NO_STREAM && stream == past->stream_before;
    if (state->generation > state->born && clock[happens_before->components[barrier]] < state->generation && !in_order)
        come_early(happens_before, event, clock);
    if (past->now_count < happens_before->contributors)
        past->now[past->now_count++] = (Contributor){
            event->agent, event->outstanding ? event->outstanding->tick : event->state->agents[event->agent].ticks,
            event->pc, event->outstanding != NULL};
    if (!past->now_outstanding_ops && past->now_count == 1)
        past->stream = stream;
    else if (past->stream != stream)
        past->stream = NO_STREAM;
    past->now_outstanding_ops |= event->outstanding != NULL;
    past->now_bytes |= event->outstanding && event->outstanding->kind == OUTSTANDING_BYTES;
    come_into(happens_before, past, clock);
}

static void flip(HappensBefore *happens_before, const Event *event) {
    uint32_t barrier = event->barrier;
    HappensBeforePast *past = &happens_before->pasts[barrier];
    const Barrier *state = &event->state->barriers[barrier];
    uint32_t *phase = phase_of(happens_before, past);
    for (uint32_t i = 0; past->passers_of == state->generation && i < past->passer_count; i++) {
        uint32_t agent = past->passers[i]; /* It passed in the phase that is over now. */
        const HappensBeforePass *pass = pass_of(happens_before, barrier, agent);
        if (phase[agent] < pass->tick)
            sensitive_point(happens_before, SENSITIVE_POINT_LAPPED, agent, pass->pc, pass->tick - 1, barrier);
    }
    past->overrun |= state->generation > state->born + 1 && past->observed + 1 < state->generation;
    uint32_t *clock = clock_of(happens_before, event->agent);
    bool alone = past->now_count == 1 && past->now[0].agent == event->agent; /* its clock, as it was then */
    if (!past->now_outstanding_ops && (alone || vector32_includes(clock, phase, length(happens_before))))
        clock[happens_before->components[barrier]] = state->generation;
    phase[happens_before->components[barrier]] = state->generation;
    keep_phase(happens_before, past);
    memcpy(past->before, past->now, past->now_count * sizeof *past->now);
    past->before_count = past->now_count;
    past->before_outstanding_ops = past->now_outstanding_ops;
    past->before_bytes = past->now_bytes;
    past->stream_before = past->stream;
    past->now_count = 0;
    past->now_outstanding_ops = past->now_bytes = false;
    past->stream = NO_STREAM;
    if (happens_before->machine->program->ctas > 1)
        flip_together(happens_before, event);
}

/* `last`: when it passed before; `now`: when it does. */
static void remember_passer(HappensBeforePast *past, uint32_t agent, uint32_t last, uint32_t now) {
    if (past->passers_of != now)
        past->passer_count = 0;
    else if (last == now)
        return;
    past->passers_of = now;
    uint32_t at = past->passer_count++;
    for (; at > 0 && past->passers[at - 1] > agent; at--)
        past->passers[at] = past->passers[at - 1];
    past->passers[at] = (uint16_t)agent;
}

static void passed(HappensBefore *happens_before, const Event *event) {
    uint32_t *clock = clock_of(happens_before, event->agent);
    HappensBeforePast *past = &happens_before->pasts[event->barrier];
    const Barrier *state = &event->state->barriers[event->barrier];
    past->waited = true;
    past->observed = state->generation;
    check_init(happens_before, event->barrier, clock);
    if (state->generation > state->born + 1 &&
        clock[happens_before->components[event->barrier]] + 1 < state->generation)
        sensitive_outstanding(happens_before, SENSITIVE_POINT_OLDER, event);
    if (past->plain)
        join(happens_before, clock, past->plain);
    else
        join_packed(clock, &past->done);
    HappensBeforePass *pass = pass_of(happens_before, event->barrier, event->agent);
    remember_passer(past, event->agent, pass->generation, state->generation + 1);
    *pass = (HappensBeforePass){state->generation + 1, event->state->agents[event->agent].ticks, event->pc};
}

static void invalidated(HappensBefore *happens_before, const Event *event) {
    const uint32_t *clock = clock_of(happens_before, event->agent);
    HappensBeforePast *past = &happens_before->pasts[event->barrier];
    const Barrier *state = &event->state->barriers[event->barrier];
    for (uint32_t i = 0; i < happens_before->agents; i++) {
        const HappensBeforePass *pass = pass_of(happens_before, event->barrier, i);
        if (pass->generation > state->born && clock[i] < pass->tick)
            sensitive_point(happens_before, SENSITIVE_POINT_AFTER_END, i, pass->pc, pass->tick - 1, event->barrier);
    }
    bool unseen =
        state->generation > state->born && clock[happens_before->components[event->barrier]] < state->generation;
    for (uint32_t i = 0; unseen && i < past->before_count; i++)
        if (!past->before[i].outstanding && clock[past->before[i].agent] < past->before[i].tick)
            sensitive_point(happens_before, SENSITIVE_POINT_AFTER_END, past->before[i].agent, past->before[i].pc,
                            past->before[i].tick - 1, event->barrier);
    past->late = (unseen && past->before_outstanding_ops) || past->now_outstanding_ops;
    if ((unseen && past->before_bytes) || past->now_bytes) /* the copy could still be on its way */
        sensitive_outstanding(happens_before, SENSITIVE_POINT_AFTER_END, event);
}

static HappensBeforeBarrierInstance *barrier_instance_of(HappensBefore *happens_before, const Event *event) {
    bool cluster = event->kind == EVENT_CLUSTER_ARRIVE || event->kind == EVENT_CLUSTER_COMPLETE ||
                   event->kind == EVENT_CLUSTER_WAIT;
    return &happens_before
                ->barrier_instances[cluster ? happens_before->machine->program->ctas * NAMED_BARRIERS + event->barrier
                                            : event->barrier];
}

/* Those of `others` whose coming is not known here might come later. */
static void hold_unknown(HappensBefore *happens_before, const Contributor *others, uint32_t count,
                         const uint32_t *clock, uint32_t barrier) {
    for (uint32_t i = 0; i < count; i++)
        if (clock[others[i].agent] < others[i].tick)
            sensitive_point(happens_before, SENSITIVE_POINT_EARLY, others[i].agent, others[i].pc, others[i].tick - 1,
                            barrier);
}

/* Someone comes to a named or cluster barrier. It must know that all who met there the last time have come; and where
 * counts differ, the first that comes says how many are needed. */
static void come(HappensBefore *happens_before, const Event *event, const uint32_t *clock) {
    HappensBeforeBarrierInstance *barrier_instance = barrier_instance_of(happens_before, event);
    hold_unknown(happens_before, barrier_instance->before, barrier_instance->before_count, clock, event->barrier);
    if (event->kind == EVENT_NAMED_ARRIVE) {
        const Rendezvous *named = &event->state->named[event->barrier];
        if (named->arrived && named->expected != event->amount)
            hold_unknown(happens_before, barrier_instance->now, barrier_instance->now_count, clock, event->barrier);
    }
    if (barrier_instance->now_count < happens_before->contributors)
        barrier_instance->now[barrier_instance->now_count++] =
            (Contributor){event->agent, event->state->agents[event->agent].ticks, event->pc, false};
    join(happens_before, barrier_instance->coming, clock);
}

/* All have come. If more came than were needed, or one came twice, others could have met here. */
static void meet(HappensBefore *happens_before, const Event *event) {
    HappensBeforeBarrierInstance *barrier_instance = barrier_instance_of(happens_before, event);
    bool loose = event->amount > 0;
    for (uint32_t i = 0; i < barrier_instance->now_count; i++)
        for (uint32_t k = 0; k < i; k++)
            loose |= barrier_instance->now[i].agent == barrier_instance->now[k].agent;
    for (uint32_t i = 0; loose && i < barrier_instance->now_count; i++)
        sensitive_point(happens_before, SENSITIVE_POINT_EARLY, barrier_instance->now[i].agent,
                        barrier_instance->now[i].pc, barrier_instance->now[i].tick - 1, event->barrier);
    for (uint32_t i = 0; i < happens_before->agents; i++) {
        bool came = i == event->agent;
        for (uint32_t k = 0; k < barrier_instance->now_count; k++)
            came |= barrier_instance->now[k].agent == i;
        if (came)
            copy(happens_before, happens_before->met + (size_t)i * happens_before->size, barrier_instance->coming);
    }
    clear(happens_before, barrier_instance->coming);
    memcpy(barrier_instance->before, barrier_instance->now,
           barrier_instance->now_count * sizeof *barrier_instance->now);
    barrier_instance->before_count = barrier_instance->now_count;
    barrier_instance->now_count = 0;
}

void happens_before_observe(void *observer, const Event *event) {
    HappensBefore *happens_before = observer;
    uint32_t agent = event->agent;
    uint32_t *clock = clock_of(happens_before, agent);
    clock[agent] = event->state->agents[agent].ticks;
    switch (event->kind) {
    case EVENT_INIT: {
        HappensBeforePast *past = &happens_before->pasts[event->barrier];
        if (past->late) /* it would come to the new barrier */
            sensitive_outstanding(happens_before, SENSITIVE_POINT_AFTER_END, event);
        past->late = false;
        past->init_agent = agent;
        past->init_tick = clock[agent];
        past->init_pc = event->pc;
        past->now_count = past->before_count = 0;
        past->now_outstanding_ops = past->before_outstanding_ops = past->now_bytes = past->before_bytes = false;
        past->stream = past->stream_before = NO_STREAM;
        forget_phases(happens_before, past);
        break;
    }
    case EVENT_INVALIDATE:
        invalidated(happens_before, event);
        break;
    case EVENT_EXPECT:
    case EVENT_ARRIVE:
        contribute(happens_before, event, clock, NO_STREAM);
        break;
    case EVENT_ISSUE:
        copy(happens_before, outstanding_clock(happens_before, event->outstanding), clock);
        break;
    case EVENT_DELIVER:
    case EVENT_SIGNAL:
        if (!event->outstanding)
            contribute(happens_before, event, clock, NO_STREAM);
        else
            contribute(happens_before, event, outstanding_clock(happens_before, event->outstanding),
                       event->outstanding->covers ? agent * HELPER_KINDS + event->outstanding->helper : NO_STREAM);
        break;
    case EVENT_FLIP:
        flip(happens_before, event);
        break;
    case EVENT_WAIT:
        passed(happens_before, event);
        break;
    case EVENT_FORK: {
        uint32_t first = agent - agent % happens_before->machine->program->agents_per_cta + 1;
        for (uint32_t k = 0; k < event->amount; k++)
            copy(happens_before, clock_of(happens_before, first + k), clock);
        break;
    }
    case EVENT_JOIN: {
        uint32_t first = agent - agent % happens_before->machine->program->agents_per_cta + 1;
        for (uint32_t k = 0; k + 1 < happens_before->machine->program->agents_per_cta; k++)
            join(happens_before, clock, clock_of(happens_before, first + k));
        break;
    }
    case EVENT_NAMED_ARRIVE:
    case EVENT_CLUSTER_ARRIVE:
        come(happens_before, event, clock);
        break;
    case EVENT_NAMED_COMPLETE:
    case EVENT_CLUSTER_COMPLETE:
        meet(happens_before, event);
        break;
    case EVENT_NAMED_SYNC:
    case EVENT_CLUSTER_WAIT:
        join(happens_before, clock, happens_before->met + (size_t)agent * happens_before->size);
        break;
    default:
        break;
    }
}

/* ---- The state ------------------------------------------------------------------------------------ */

/* A clock that knows nothing is behind every other, however far that is. */
static void visit_clock(const HappensBefore *happens_before, const uint32_t *clock, const StateVisit *visit) {
    bool knows = false;
    for (uint32_t i = 0, end = clock ? length(happens_before) : 0; i < end && !knows; i++)
        knows = clock[i] != 0;
    visit_number(visit, knows);
    for (uint32_t i = 0, end = knows ? length(happens_before) : 0; i < end; i++)
        visit_epoch(visit, i, clock[i]);
}

static void visit_packed(const Packed *packed, const StateVisit *visit) {
    uint32_t at = 0;
    visit_number(visit, packed->count != 0);
    for (uint32_t i = 0; i < packed->count; i += 2)
        for (uint32_t k = packed->runs[i]; k > 0; k--, at++)
            visit_epoch(visit, at, packed->runs[i + 1]);
}

static void visit_contributors(const Contributor *items, uint32_t count, const StateVisit *visit) {
    visit_number(visit, count);
    for (uint32_t i = 0; i < count; i++) {
        visit_number(visit, (uint64_t)items[i].agent << 33 | (uint64_t)items[i].pc << 1 | items[i].outstanding);
        visit_epoch(visit, items[i].agent, items[i].tick);
    }
}

static void visit_past(const HappensBefore *happens_before, uint32_t barrier, const StateVisit *visit) {
    const HappensBeforePast *past = &happens_before->pasts[barrier];
    const Barrier *state = &happens_before->machine->state->barriers[barrier];
    const HappensBeforePass *passes = &happens_before->passes[(size_t)barrier * happens_before->agents];
    uint32_t component = happens_before->components[barrier];
    const uint32_t generations[] = {state->generation, past->passers_of, past->observed};
    uint32_t age = state->generation - state->born; /* it is only asked whether it is 0, 1 or more */
    const bool flags[] = {past->phase,
                          past->plain,
                          past->now_outstanding_ops,
                          past->before_outstanding_ops,
                          past->now_bytes,
                          past->before_bytes,
                          past->waited,
                          past->overrun,
                          past->late};
    uint64_t all = 0;
    for (unsigned i = 0; i < sizeof flags / sizeof *flags; i++)
        all = all << 1 | flags[i];
    visit_number(visit, all);
    visit_number(visit, (uint64_t)past->stream << 32 | past->stream_before);
    visit_number(visit, age < 2 ? age : 2);
    for (unsigned i = 0; i < sizeof generations / sizeof *generations; i++)
        visit_epoch(visit, component, generations[i]);
    visit_clock(happens_before, past->phase, visit);
    visit_clock(happens_before, past->plain, visit);
    visit_packed(&past->done, visit);
    visit_contributors(past->now, past->now_count, visit);
    visit_contributors(past->before, past->before_count, visit);
    visit_number(visit, past->passer_count);
    for (uint32_t i = 0; i < past->passer_count; i++)
        visit_number(visit, past->passers[i]);
    for (uint32_t i = 0; i < happens_before->agents; i++) {
        visit_number(visit, passes[i].generation > state->born);
        visit_epoch(visit, component, passes[i].generation);
        visit_epoch(visit, i, passes[i].tick);
    }
    visit_number(visit, past->init_agent);
    visit_epoch(visit, past->init_agent, past->init_tick);
}

/* Which barriers one multicast has completed (`multicast`) is not asked any more when another event comes. */
void happens_before_visit(const HappensBefore *happens_before, const StateVisit *visit) {
    const Machine *machine = happens_before->machine;
    for (uint32_t i = 0; i < happens_before->agents; i++) {
        visit_epoch(visit, i, machine->state->agents[i].ticks);
        visit_clock(happens_before, happens_before->clocks + (size_t)i * happens_before->size, visit);
        visit_clock(happens_before, happens_before->met + (size_t)i * happens_before->size, visit);
    }
    for (uint32_t i = 0; i < happens_before->barrier_instance_count; i++) {
        const HappensBeforeBarrierInstance *instance = &happens_before->barrier_instances[i];
        if (!instance->now_count && !instance->before_count)
            continue; /* it was not used */
        visit_number(visit, i);
        visit_clock(happens_before, instance->coming, visit);
        visit_contributors(instance->now, instance->now_count, visit);
        visit_contributors(instance->before, instance->before_count, visit);
    }
    for (uint32_t cta = 0; cta < machine->program->ctas; cta++)
        for (uint32_t i = 0; i < machine->slots_used; i++)
            visit_past(happens_before, cta * machine->slots_per_cta + i, visit);
}
