/* Remembers, of every barrier, who came into its phases and who passed. */
#include "machine/tile/schedule/history.h"

History *history_create(Arena *arena, const Machine *machine) {
    History *history = ARENA_NEW(arena, History);
    history->machine = machine;
    history->barriers = ARENA_ARRAY(arena, BarrierHistory, machine->slot_count);
    history->passes = ARENA_ARRAY(arena, LastPass, (size_t)machine->slot_count * machine->agent_count);
    history->named = ARENA_ARRAY(arena, BarrierAct, machine->program->ctas * NAMED_BARRIERS);
    history->named_any = ARENA_ARRAY(arena, bool, machine->program->ctas *NAMED_BARRIERS);
    return history;
}

const LastPass *history_pass(const History *history, uint32_t barrier, uint32_t agent) {
    return &history->passes[(size_t)barrier * history->machine->agent_count + agent];
}

static bool is_alone(const History *history, const State *state) {
    for (uint32_t i = 0; i < history->machine->agent_count; i++)
        if (i % history->machine->program->agents_per_cta && state->agents[i].status != AGENT_IDLE)
            return false;
    return true;
}

static void remember(const History *history, BarrierHistory *barrier, const Event *event, BarrierActKind kind) {
    BarrierAct barrier_act = {.kind = kind,
                              .agent = event->agent,
                              .pc = event->pc,
                              .helper = event->outstanding ? (Helper)event->outstanding->helper : HELPER_BASE,
                              .amount = event->amount,
                              .alone = is_alone(history, event->state)};
    barrier->barrier_acts++;
    barrier->latest = barrier_act;
    if (barrier->phase_count < MOST_REMEMBERED)
        barrier->phase[barrier->phase_count] = barrier_act;
    barrier->phase_count++;
    barrier->expected += kind == BARRIER_ACT_EXPECT ? event->amount : 0;
    barrier->delivered += kind == BARRIER_ACT_DELIVER ? event->amount : 0;
}

/* All of them, if they are of the agent itself. */
static uint32_t unknowns_before(const History *history, uint32_t agent) {
    return history->unknown_agent_count == 1 && agents_have(&history->unknown_agents, agent) ? history->unknowns : 0;
}

/* Whether the barrier is as it is whatever the unknown ops have done. */
static bool is_certain(const History *history, uint32_t barrier) {
    return history->barriers[barrier].unknowns == history->unknowns;
}

const Op *history_doubt(const History *history, bool faulted) {
    const Machine *machine = history->machine;
    const State *state = machine->state;
    bool certain =
        !faulted || machine->fault.barrier >= machine->slot_count || is_certain(history, machine->fault.barrier);
    for (uint32_t i = 0; !faulted && i < machine->agent_count; i++) {
        const Agent *agent = &state->agents[i];
        certain &= agent->status != AGENT_NAMED && agent->status != AGENT_CLUSTER;
        certain &= agent->status != AGENT_WAITS || is_certain(history, agent->barrier);
    }
    for (uint32_t i = 0; !faulted && i < machine->slot_count; i++)
        certain &= !state->barriers[i].bytes || is_certain(history, i);
    return history->unknowns && !certain ? history->unknown : NULL;
}

void history_observe(void *observer, const Event *event) {
    History *history = observer;
    BarrierHistory *barrier = &history->barriers[event->barrier < history->machine->slot_count ? event->barrier : 0];
    switch (event->kind) {
    case EVENT_INIT:
        *barrier = (BarrierHistory){.initialized = true,
                                    .init_agent = event->agent,
                                    .init_pc = event->pc,
                                    .unknowns = unknowns_before(history, event->agent)};
        for (uint32_t i = 0; i < history->machine->agent_count; i++)
            history->passes[(size_t)event->barrier * history->machine->agent_count + i] = (LastPass){0};
        break;
    case EVENT_INVALIDATE:
        barrier->ended = true;
        barrier->end_agent = event->agent;
        barrier->end_pc = event->pc;
        break;
    case EVENT_ARRIVE:
        remember(history, barrier, event, BARRIER_ACT_ARRIVE);
        break;
    case EVENT_EXPECT:
        remember(history, barrier, event, BARRIER_ACT_EXPECT);
        break;
    case EVENT_DELIVER:
        remember(history, barrier, event, BARRIER_ACT_DELIVER);
        break;
    case EVENT_SIGNAL:
        remember(history, barrier, event, BARRIER_ACT_SIGNAL);
        break;
    case EVENT_FLIP:
        if (event->state->barriers[event->barrier].generation > event->state->barriers[event->barrier].born + 1 &&
            barrier->observed + 1 < event->state->barriers[event->barrier].generation && !barrier->unobserved++)
            barrier->overrun = barrier->latest;
        barrier->last[1] = barrier->last[0];
        barrier->last[0] = barrier->latest;
        barrier->last_count += barrier->last_count < 2;
        barrier->phase_count = 0;
        barrier->expected = barrier->delivered = 0;
        break;
    case EVENT_WAIT: {
        LastPass *pass = &history->passes[(size_t)event->barrier * history->machine->agent_count + event->agent];
        uint32_t generation = event->state->barriers[event->barrier].generation;
        uint32_t before = pass->any ? pass->generation : event->state->barriers[event->barrier].born;
        uint32_t skipped = generation > before + 1 ? generation - before - 1 : 0;
        bool again =
            pass->any && pass->parity == event->parity && pass->generation == generation && pass->pc == event->pc;
        barrier->waits++;
        barrier->observed = generation;
        *pass = (LastPass){.any = true,
                           .count = pass->count + 1,
                           .again = again ? pass->again + 1 : 0,
                           .skipped = pass->skipped + skipped,
                           .parity = event->parity,
                           .generation = generation,
                           .pc = event->pc};
        break;
    }
    case EVENT_UNKNOWN:
        history->unknown = event->op;
        history->unknowns++;
        history->unknown_agent_count += !agents_have(&history->unknown_agents, event->agent);
        agents_add(&history->unknown_agents, event->agent);
        break;
    case EVENT_NAMED_ARRIVE:
        history->named[event->barrier] =
            (BarrierAct){.kind = BARRIER_ACT_ARRIVE, .agent = event->agent, .pc = event->pc, .amount = event->amount};
        history->named_any[event->barrier] = true;
        break;
    default:
        break;
    }
}
