/* Clocks over one run. */
#include "machine/tile/schedule/causes.h"

enum { WINDOW = 2 * MOST_FLIGHTS, FEWEST_CONTRIBUTORS = 16, MOST_RECEIVERS = 32, NO_STREAM = UINT32_MAX };
/* Clocks of phases are packed where all of them, as they are, would take more memory than this. */
static const size_t most_plain = (size_t)1 << 20;
/* Clocks are gone through in pieces of this many components, for the compiler to use vectors. */
enum { LANES = 4 };

typedef struct Contributor {
    uint32_t agent, tick, pc;
    bool flight;
} Contributor;

typedef struct Pass {
    uint32_t generation; /* phases complete when it passed; + 1, 0: never */
    uint32_t tick, pc;
} Pass;

/* A clock that is kept: its runs of equal components, length and number in turn. Of thousands of barriers each knows of
 * all others, and most of what they know is the same. */
typedef struct Packed {
    uint32_t *runs;
    uint32_t count, capacity;
} Packed;

/* Of one mbarrier. */
typedef struct Past {
    uint32_t *phase; /* clock: all that has come into this phase; NULL: nothing has */
    uint32_t *plain; /* of the last completed one; NULL: there is none, or it is packed */
    Packed done;     /* the same */
    Contributor *now, *before;
    uint32_t now_count, before_count;
    uint16_t *passers;                 /* agents that have gone past it since it last flipped, in their order */
    uint32_t passer_count, passers_of; /* of which generation, + 1 */
    bool now_flights, before_flights;  /* something asynchronous is among them */
    bool now_bytes, before_bytes;      /* a copy is */
    uint32_t stream, stream_before;    /* if all came from one ordered stream: which */
    uint32_t init_agent, init_tick, init_pc;
    uint32_t observed; /* phases complete when a wait last passed */
    bool waited, overrun;
    bool late; /* invalidated while something might still come */
} Past;

/* Of one named or cluster barrier. */
typedef struct Meeting {
    uint32_t *coming; /* clock: of all who have come */
    Contributor *now, *before;
    uint32_t now_count, before_count;
} Meeting;

/* What came to barriers of several CTAs at once, and which of them it completed. */
typedef struct Multicast {
    uint64_t moment;
    uint32_t flipped[MOST_RECEIVERS], count;
} Multicast;

struct Causes {
    Machine *machine;
    uint32_t agents, size; /* of a clock */
    uint32_t contributors; /* to a phase, or to a meeting, that are remembered: of each agent one at least */
    bool packs;            /* clocks of phases that are over */
    uint32_t *components;  /* of barriers: where in a clock. Those in use come first, of all CTAs */
    uint32_t *clocks;      /* of agents */
    uint32_t *flights;     /* of flights: WINDOW clocks, by sequence number */
    Meeting *meetings;     /* named barriers, then cluster barriers */
    uint32_t *met;         /* of agents: the clock of the meeting that they wait for or have come to */
    uint32_t meeting_count;
    Arena *arena;
    uint32_t **spare; /* clocks of phases that are over */
    uint32_t spare_count, spare_capacity;
    Past *pasts;
    Pass *passes; /* [barrier][agent] */
    Multicast multicast;
    Risk risks[MOST_RISKS];
    uint32_t risk_count;
    bool overflowed;
};

Causes *causes_create(Arena *arena, Machine *machine) {
    Causes *causes = ARENA_NEW(arena, Causes);
    causes->machine = machine;
    causes->arena = arena;
    causes->agents = machine->agent_count;
    causes->size = (machine->agent_count + machine->slot_count + LANES - 1) / LANES * LANES;
    causes->components = ARENA_ARRAY(arena, uint32_t, machine->slot_count);
    causes->clocks = ARENA_ARRAY(arena, uint32_t, (size_t)causes->agents * causes->size);
    if (machine->flight_capacity)
        causes->flights = ARENA_ARRAY(arena, uint32_t, (size_t)WINDOW * causes->size);
    causes->meeting_count = machine->program->ctas * NAMED_BARRIERS + machine->cluster_barriers;
    causes->meetings = ARENA_ARRAY(arena, Meeting, causes->meeting_count);
    causes->met = ARENA_ARRAY(arena, uint32_t, (size_t)causes->agents * causes->size);
    causes->contributors = causes->agents > FEWEST_CONTRIBUTORS ? causes->agents : FEWEST_CONTRIBUTORS;
    causes->packs = (size_t)machine->slot_count * causes->size * sizeof(uint32_t) > most_plain;
    for (uint32_t i = 0; i < causes->meeting_count; i++) {
        causes->meetings[i].coming = ARENA_ARRAY(arena, uint32_t, causes->size);
        causes->meetings[i].now = ARENA_ARRAY(arena, Contributor, causes->contributors);
        causes->meetings[i].before = ARENA_ARRAY(arena, Contributor, causes->contributors);
    }
    causes->pasts = ARENA_ARRAY(arena, Past, machine->slot_count);
    causes->passes = ARENA_ARRAY(arena, Pass, (size_t)machine->slot_count * causes->agents);
    for (uint32_t i = 0; i < machine->slot_count; i++) {
        causes->components[i] =
            causes->agents + i % machine->slots_per_cta * machine->program->ctas + barrier_cta(machine, i);
        causes->pasts[i].now = ARENA_ARRAY(arena, Contributor, causes->contributors);
        causes->pasts[i].before = ARENA_ARRAY(arena, Contributor, causes->contributors);
        causes->pasts[i].passers = ARENA_ARRAY(arena, uint16_t, causes->agents);
    }
    return causes;
}

/* How much of a clock can be other than zero: barriers get their slots when they are first used, and keep them. */
static uint32_t length(const Causes *causes) {
    uint32_t used = causes->agents + causes->machine->slots_used * causes->machine->program->ctas;
    return (used + LANES - 1) / LANES * LANES;
}

static void clear(const Causes *causes, uint32_t *clock) {
    memset(clock, 0, length(causes) * sizeof *clock);
}

static void copy(const Causes *causes, uint32_t *restrict to, const uint32_t *restrict from) {
    memcpy(to, from, length(causes) * sizeof *to);
}

static void join(const Causes *causes, uint32_t *restrict to, const uint32_t *restrict from) {
    for (uint32_t i = length(causes); i > 0; i -= LANES, to += LANES, from += LANES)
        for (uint32_t k = 0; k < LANES; k++)
            to[k] = to[k] > from[k] ? to[k] : from[k];
}

static bool at_most(const Causes *causes, const uint32_t *a, const uint32_t *b) {
    for (uint32_t i = length(causes); i > 0; i -= LANES, a += LANES, b += LANES) {
        bool more = false;
        for (uint32_t k = 0; k < LANES; k++)
            more |= a[k] > b[k];
        if (more)
            return false;
    }
    return true;
}

/* A clock; what is in it means nothing. */
static uint32_t *spare_clock(Causes *causes) {
    return causes->spare_count ? causes->spare[--causes->spare_count]
                               : ARENA_ARRAY(causes->arena, uint32_t, causes->size);
}

/* What the clock knows comes into the phase. */
static void come_into(Causes *causes, Past *past, const uint32_t *clock) {
    if (past->phase) {
        join(causes, past->phase, clock);
        return;
    }
    past->phase = spare_clock(causes);
    copy(causes, past->phase, clock);
}

static uint32_t *phase_of(Causes *causes, Past *past) {
    if (!past->phase) {
        past->phase = spare_clock(causes);
        clear(causes, past->phase);
    }
    return past->phase;
}

/* A clock is not needed any more. */
static void give_back(Causes *causes, uint32_t **clock) {
    if (!*clock)
        return;
    *ARENA_PUSH(causes->arena, causes->spare, causes->spare_count, causes->spare_capacity) = *clock;
    *clock = NULL;
}

static void forget_phases(Causes *causes, Past *past) {
    give_back(causes, &past->phase);
    give_back(causes, &past->plain);
    past->done.count = 0;
}

static void pack(Causes *causes, const uint32_t *clock, Packed *to) {
    to->count = 0;
    for (uint32_t i = 0, end = length(causes), from = 0; i < end; i++) {
        if (i + 1 < end && clock[i + 1] == clock[i])
            continue;
        *ARENA_PUSH(causes->arena, to->runs, to->count, to->capacity) = i + 1 - from;
        *ARENA_PUSH(causes->arena, to->runs, to->count, to->capacity) = clock[i];
        from = i + 1;
    }
}

static void join_packed(uint32_t *to, const Packed *from) {
    for (uint32_t i = 0; i < from->count; i += 2)
        for (uint32_t k = from->runs[i], number = from->runs[i + 1]; k > 0; k--, to++)
            *to = *to > number ? *to : number;
}

/* The phase is complete: its clock is that of the last one now. */
static void keep_phase(Causes *causes, Past *past) {
    if (causes->packs) {
        pack(causes, past->phase, &past->done);
        give_back(causes, &past->phase);
        return;
    }
    give_back(causes, &past->plain);
    past->plain = past->phase;
    past->phase = NULL;
}

static uint32_t *clock_of(Causes *causes, uint32_t agent) {
    return causes->clocks + (size_t)agent * causes->size;
}

static uint32_t *flight_clock(Causes *causes, const Flight *flight) {
    return causes->flights + (size_t)(flight->sequence % WINDOW) * causes->size;
}

static Pass *pass_of(Causes *causes, uint32_t barrier, uint32_t agent) {
    return &causes->passes[(size_t)barrier * causes->agents + agent];
}

void causes_start(Causes *causes) {
    causes->risk_count = 0;
    causes->overflowed = false;
    causes->multicast = (Multicast){0};
    for (uint32_t i = 0; i < causes->agents; i++)
        clear(causes, clock_of(causes, i));
    for (uint32_t i = 0; i < causes->meeting_count; i++) {
        clear(causes, causes->meetings[i].coming);
        causes->meetings[i].now_count = causes->meetings[i].before_count = 0;
    }
    for (uint32_t i = 0; i < causes->machine->slots_used; i++)
        for (uint32_t cta = 0; cta < causes->machine->program->ctas; cta++) {
            uint32_t barrier = cta * causes->machine->slots_per_cta + i;
            Past *past = &causes->pasts[barrier];
            forget_phases(causes, past);
            *past = (Past){.done = past->done,
                           .now = past->now,
                           .before = past->before,
                           .passers = past->passers,
                           .stream = NO_STREAM,
                           .stream_before = NO_STREAM};
            memset(pass_of(causes, barrier, 0), 0, causes->agents * sizeof(Pass));
        }
}

const Risk *causes_risks(const Causes *causes, uint32_t *count) {
    *count = causes->risk_count;
    return causes->risks;
}

bool causes_overrun(const Causes *causes, uint32_t *barrier) {
    for (uint32_t i = 0; i < causes->machine->slot_count; i++)
        if (causes->pasts[i].overrun && causes->pasts[i].waited) {
            *barrier = i;
            return true;
        }
    return false;
}

bool causes_overflowed(const Causes *causes) {
    return causes->overflowed;
}

static void note(Causes *causes, Risk risk) {
    for (uint32_t i = 0; i < causes->risk_count; i++) {
        const Risk *known = &causes->risks[i];
        if (known->kind == risk.kind && known->flights == risk.flights &&
            (risk.flights || (known->agent == risk.agent && known->pc == risk.pc && known->tick == risk.tick &&
                              known->flight == risk.flight)))
            return;
    }
    causes->overflowed |= causes->risk_count == MOST_RISKS;
    causes->risks[causes->risk_count < MOST_RISKS ? causes->risk_count++ : MOST_RISKS - 1] = risk;
}

/* An agent might be slower. */
static void risk(Causes *causes, RiskKind kind, uint32_t agent, uint32_t pc, uint32_t tick, uint32_t barrier) {
    note(causes, (Risk){.kind = kind, .agent = agent, .pc = pc, .tick = tick, .barrier = barrier});
}

/* What is in flight might be. */
static void risk_flights(Causes *causes, RiskKind kind, const Event *event) {
    note(causes,
         (Risk){.kind = kind, .agent = event->agent, .pc = event->pc, .flights = true, .barrier = event->barrier});
}

/* An agent that uses a barrier knows that it was initialized. */
static void check_init(Causes *causes, uint32_t barrier, const uint32_t *clock) {
    const Past *past = &causes->pasts[barrier];
    if (clock[past->init_agent] < past->init_tick)
        risk(causes, RISK_BEFORE_INIT, past->init_agent, past->init_pc, past->init_tick - 1, barrier);
}

/* What comes here does not know that the phase before is complete, and might come into it: instead of any that did and
 * that is not known here. */
static void come_early(Causes *causes, const Event *event, const uint32_t *clock) {
    const Past *past = &causes->pasts[event->barrier];
    bool found = false;
    for (uint32_t i = 0; i < past->before_count; i++) {
        const Contributor *other = &past->before[i];
        if (other->flight)
            note(causes, (Risk){.kind = RISK_EARLY,
                                .agent = other->agent,
                                .pc = other->pc,
                                .flight = true,
                                .tick = other->tick,
                                .barrier = event->barrier});
        else if (clock[other->agent] < other->tick)
            risk(causes, RISK_EARLY, other->agent, other->pc, other->tick - 1, event->barrier);
        found |= other->flight || clock[other->agent] < other->tick;
    }
    if (!found)
        risk_flights(causes, RISK_EARLY, event);
}

/* ---- Multicasts ----------------------------------------------------------------------------------- */

static uint64_t moment_of(const Event *event) {
    if (event->flight)
        return UINT64_C(1) << 63 | (event->flight->sequence - event->flight->member);
    return (uint64_t)(event->agent + 1) << 32 | event->state->agents[event->agent].ticks;
}

static bool includes(const Causes *causes, const Past *past, const Past *other) {
    bool all = other->before_count < causes->contributors;
    for (uint32_t i = 0; i < other->before_count && all; i++) {
        const Contributor *one = &other->before[i];
        all = false;
        for (uint32_t k = 0; k < past->before_count && !all; k++)
            all = past->before[k].agent == one->agent && past->before[k].tick == one->tick &&
                  past->before[k].pc == one->pc && past->before[k].flight == one->flight;
    }
    return all;
}

/* An agent that knows that a phase is complete knows it of the other barrier, if all that came there came here, too:
 * what is multicast comes everywhere at once. */
static void tell_completion(Causes *causes, const Event *event, uint32_t barrier, uint32_t other) {
    Past *past = &causes->pasts[barrier];
    if (!includes(causes, past, &causes->pasts[other]))
        return;
    uint32_t generation = event->state->barriers[other].generation;
    if (past->plain) {
        past->plain[causes->components[other]] = generation;
        return;
    }
    uint32_t *clock = spare_clock(causes);
    clear(causes, clock);
    join_packed(clock, &past->done);
    clock[causes->components[other]] = generation;
    pack(causes, clock, &past->done);
    give_back(causes, &clock);
}

static void flip_together(Causes *causes, const Event *event) {
    Multicast *multicast = &causes->multicast;
    for (uint32_t i = 0; i < multicast->count; i++) {
        tell_completion(causes, event, event->barrier, multicast->flipped[i]);
        tell_completion(causes, event, multicast->flipped[i], event->barrier);
    }
    if (multicast->count < MOST_RECEIVERS)
        multicast->flipped[multicast->count++] = event->barrier;
}

/* Something comes into the barrier's current phase. `stream`: of ordered completions, or NO_STREAM. */
static void contribute(Causes *causes, const Event *event, const uint32_t *clock, uint32_t stream) {
    uint32_t barrier = event->barrier;
    Past *past = &causes->pasts[barrier];
    const Barrier *state = &event->state->barriers[barrier];
    check_init(causes, barrier, clock);
    uint64_t moment = moment_of(event);
    if (causes->multicast.moment != moment) {
        causes->multicast.moment = moment;
        causes->multicast.count = 0;
    }
    bool in_order = stream != NO_STREAM && stream == past->stream_before;
    if (state->generation > state->born && clock[causes->components[barrier]] < state->generation && !in_order)
        come_early(causes, event, clock);
    if (past->now_count < causes->contributors)
        past->now[past->now_count++] =
            (Contributor){event->agent, event->flight ? event->flight->tick : event->state->agents[event->agent].ticks,
                          event->pc, event->flight != NULL};
    if (!past->now_flights && past->now_count == 1)
        past->stream = stream;
    else if (past->stream != stream)
        past->stream = NO_STREAM;
    past->now_flights |= event->flight != NULL;
    past->now_bytes |= event->flight && event->flight->kind == FLIGHT_BYTES;
    come_into(causes, past, clock);
}

static void flip(Causes *causes, const Event *event) {
    uint32_t barrier = event->barrier;
    Past *past = &causes->pasts[barrier];
    const Barrier *state = &event->state->barriers[barrier];
    uint32_t *phase = phase_of(causes, past);
    for (uint32_t i = 0; past->passers_of == state->generation && i < past->passer_count; i++) {
        uint32_t agent = past->passers[i]; /* It passed in the phase that is over now. */
        const Pass *pass = pass_of(causes, barrier, agent);
        if (phase[agent] < pass->tick)
            risk(causes, RISK_LAPPED, agent, pass->pc, pass->tick - 1, barrier);
    }
    past->overrun |= state->generation > state->born + 1 && past->observed + 1 < state->generation;
    uint32_t *clock = clock_of(causes, event->agent);
    bool alone = past->now_count == 1 && past->now[0].agent == event->agent; /* its clock, as it was then */
    if (!past->now_flights && (alone || at_most(causes, phase, clock)))
        clock[causes->components[barrier]] = state->generation;
    phase[causes->components[barrier]] = state->generation;
    keep_phase(causes, past);
    memcpy(past->before, past->now, past->now_count * sizeof *past->now);
    past->before_count = past->now_count;
    past->before_flights = past->now_flights;
    past->before_bytes = past->now_bytes;
    past->stream_before = past->stream;
    past->now_count = 0;
    past->now_flights = past->now_bytes = false;
    past->stream = NO_STREAM;
    if (causes->machine->program->ctas > 1)
        flip_together(causes, event);
}

/* `last`: when it passed before; `now`: when it does. */
static void remember_passer(Past *past, uint32_t agent, uint32_t last, uint32_t now) {
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

static void passed(Causes *causes, const Event *event) {
    uint32_t *clock = clock_of(causes, event->agent);
    Past *past = &causes->pasts[event->barrier];
    const Barrier *state = &event->state->barriers[event->barrier];
    past->waited = true;
    past->observed = state->generation;
    check_init(causes, event->barrier, clock);
    if (state->generation > state->born + 1 && clock[causes->components[event->barrier]] + 1 < state->generation)
        risk_flights(causes, RISK_OLDER, event);
    if (past->plain)
        join(causes, clock, past->plain);
    else
        join_packed(clock, &past->done);
    Pass *pass = pass_of(causes, event->barrier, event->agent);
    remember_passer(past, event->agent, pass->generation, state->generation + 1);
    *pass = (Pass){state->generation + 1, event->state->agents[event->agent].ticks, event->pc};
}

static void invalidated(Causes *causes, const Event *event) {
    const uint32_t *clock = clock_of(causes, event->agent);
    Past *past = &causes->pasts[event->barrier];
    const Barrier *state = &event->state->barriers[event->barrier];
    for (uint32_t i = 0; i < causes->agents; i++) {
        const Pass *pass = pass_of(causes, event->barrier, i);
        if (pass->generation > state->born && clock[i] < pass->tick)
            risk(causes, RISK_AFTER_END, i, pass->pc, pass->tick - 1, event->barrier);
    }
    bool unseen = state->generation > state->born && clock[causes->components[event->barrier]] < state->generation;
    for (uint32_t i = 0; unseen && i < past->before_count; i++)
        if (!past->before[i].flight && clock[past->before[i].agent] < past->before[i].tick)
            risk(causes, RISK_AFTER_END, past->before[i].agent, past->before[i].pc, past->before[i].tick - 1,
                 event->barrier);
    past->late = (unseen && past->before_flights) || past->now_flights;
    if ((unseen && past->before_bytes) || past->now_bytes) /* the copy could still be on its way */
        risk_flights(causes, RISK_AFTER_END, event);
}

static Meeting *meeting_of(Causes *causes, const Event *event) {
    bool cluster =
        event->kind == EVENT_CLUSTER_ARRIVE || event->kind == EVENT_CLUSTER_MEET || event->kind == EVENT_CLUSTER_WAIT;
    return &causes
                ->meetings[cluster ? causes->machine->program->ctas * NAMED_BARRIERS + event->barrier : event->barrier];
}

/* Those of `others` whose coming is not known here might come later. */
static void hold_unknown(Causes *causes, const Contributor *others, uint32_t count, const uint32_t *clock,
                         uint32_t barrier) {
    for (uint32_t i = 0; i < count; i++)
        if (clock[others[i].agent] < others[i].tick)
            risk(causes, RISK_EARLY, others[i].agent, others[i].pc, others[i].tick - 1, barrier);
}

/* Someone comes to a named or cluster barrier. It must know that all who met there the last time have come; and where
 * counts differ, the first that comes says how many are needed. */
static void come(Causes *causes, const Event *event, const uint32_t *clock) {
    Meeting *meeting = meeting_of(causes, event);
    hold_unknown(causes, meeting->before, meeting->before_count, clock, event->barrier);
    if (event->kind == EVENT_NAMED_ARRIVE) {
        const Rendezvous *named = &event->state->named[event->barrier];
        if (named->arrived && named->expected != event->amount)
            hold_unknown(causes, meeting->now, meeting->now_count, clock, event->barrier);
    }
    if (meeting->now_count < causes->contributors)
        meeting->now[meeting->now_count++] =
            (Contributor){event->agent, event->state->agents[event->agent].ticks, event->pc, false};
    join(causes, meeting->coming, clock);
}

/* All have come. If more came than were needed, or one came twice, others could have met here. */
static void meet(Causes *causes, const Event *event) {
    Meeting *meeting = meeting_of(causes, event);
    bool loose = event->amount > 0;
    for (uint32_t i = 0; i < meeting->now_count; i++)
        for (uint32_t k = 0; k < i; k++)
            loose |= meeting->now[i].agent == meeting->now[k].agent;
    for (uint32_t i = 0; loose && i < meeting->now_count; i++)
        risk(causes, RISK_EARLY, meeting->now[i].agent, meeting->now[i].pc, meeting->now[i].tick - 1, event->barrier);
    for (uint32_t i = 0; i < causes->agents; i++) {
        bool came = i == event->agent;
        for (uint32_t k = 0; k < meeting->now_count; k++)
            came |= meeting->now[k].agent == i;
        if (came)
            copy(causes, causes->met + (size_t)i * causes->size, meeting->coming);
    }
    clear(causes, meeting->coming);
    memcpy(meeting->before, meeting->now, meeting->now_count * sizeof *meeting->now);
    meeting->before_count = meeting->now_count;
    meeting->now_count = 0;
}

void causes_observe(void *observer, const Event *event) {
    Causes *causes = observer;
    uint32_t agent = event->agent;
    uint32_t *clock = clock_of(causes, agent);
    clock[agent] = event->state->agents[agent].ticks;
    switch (event->kind) {
    case EVENT_INIT: {
        Past *past = &causes->pasts[event->barrier];
        if (past->late) /* it would come to the new barrier */
            risk_flights(causes, RISK_AFTER_END, event);
        past->late = false;
        past->init_agent = agent;
        past->init_tick = clock[agent];
        past->init_pc = event->pc;
        past->now_count = past->before_count = 0;
        past->now_flights = past->before_flights = past->now_bytes = past->before_bytes = false;
        past->stream = past->stream_before = NO_STREAM;
        forget_phases(causes, past);
        break;
    }
    case EVENT_INVALIDATE:
        invalidated(causes, event);
        break;
    case EVENT_EXPECT:
    case EVENT_ARRIVE:
        contribute(causes, event, clock, NO_STREAM);
        break;
    case EVENT_ISSUE:
        copy(causes, flight_clock(causes, event->flight), clock);
        break;
    case EVENT_DELIVER:
    case EVENT_SIGNAL:
        if (!event->flight)
            contribute(causes, event, clock, NO_STREAM);
        else
            contribute(causes, event, flight_clock(causes, event->flight),
                       event->flight->covers ? agent * HELPER_KINDS + event->flight->helper : NO_STREAM);
        break;
    case EVENT_FLIP:
        flip(causes, event);
        break;
    case EVENT_WAIT:
        passed(causes, event);
        break;
    case EVENT_FORK: {
        uint32_t first = agent - agent % causes->machine->program->agents_per_cta + 1;
        for (uint32_t k = 0; k < event->amount; k++)
            copy(causes, clock_of(causes, first + k), clock);
        break;
    }
    case EVENT_JOIN: {
        uint32_t first = agent - agent % causes->machine->program->agents_per_cta + 1;
        for (uint32_t k = 0; k + 1 < causes->machine->program->agents_per_cta; k++)
            join(causes, clock, clock_of(causes, first + k));
        break;
    }
    case EVENT_NAMED_ARRIVE:
    case EVENT_CLUSTER_ARRIVE:
        come(causes, event, clock);
        break;
    case EVENT_NAMED_MEET:
    case EVENT_CLUSTER_MEET:
        meet(causes, event);
        break;
    case EVENT_NAMED_SYNC:
    case EVENT_CLUSTER_WAIT:
        join(causes, clock, causes->met + (size_t)agent * causes->size);
        break;
    default:
        break;
    }
}
