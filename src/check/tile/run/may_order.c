/* Which unknown ops each access surely comes after, and which surely come after it. */
#include "check/tile/run/may_order.h"

#include "base/bisect.h"

/* The unknown ops of one agent, in its order. */
typedef struct Unknowns {
    Epoch *stamps;
    const Op **ops;
    uint32_t count, capacity, op_capacity;
} Unknowns;

typedef struct MayOrderNote {
    uint32_t pc, past;
    Epoch stamp;
} MayOrderNote;

struct MayOrder {
    Arena *arena;
    Machine *machine;
    Clocks *clocks; /* NULL: there are more agents than it has room for, and nothing is surely before anything */
    uint32_t agents;
    Unknowns *unknowns;  /* of each agent */
    MayOrderNote *notes; /* of accesses */
    uint32_t note_count, note_capacity;
    /* Pasts: of each agent, how many of its unknown ops surely came before. The first is that of no agent; many
     * accesses have one in common. */
    uint32_t **pasts, past_count, past_capacity, past_room; /* past_room: pasts that there is memory for */
    uint32_t *last;                                         /* of each agent, its latest one */
    uint32_t *now;                                          /* scratch: a past */
};

MayOrder *may_order_create(Arena *arena, Machine *machine) {
    const char *problem;
    if (!machine->program->unknowns)
        return NULL;
    MayOrder *may_order = ARENA_NEW(arena, MayOrder);
    *may_order = (MayOrder){.arena = arena,
                            .machine = machine,
                            .clocks = clocks_create(arena, machine, &problem),
                            .agents = machine->agent_count};
    may_order->unknowns = ARENA_ARRAY(arena, Unknowns, may_order->agents);
    may_order->last = ARENA_ARRAY(arena, uint32_t, may_order->agents);
    may_order->now = ARENA_ARRAY(arena, uint32_t, may_order->agents);
    return may_order;
}

/* Keeps a past; its number. What runs before have left is used again. */
static uint32_t keep_past(MayOrder *may_order, const uint32_t *past) {
    if (may_order->past_count == may_order->past_room) {
        uint32_t count = may_order->past_count;
        *ARENA_PUSH(may_order->arena, may_order->pasts, count, may_order->past_capacity) =
            ARENA_ARRAY(may_order->arena, uint32_t, may_order->agents);
        may_order->past_room++;
    }
    memcpy(may_order->pasts[may_order->past_count], past, may_order->agents * sizeof *past);
    return may_order->past_count++;
}

void may_order_start(MayOrder *may_order) {
    if (may_order->clocks)
        clocks_start(may_order->clocks);
    for (uint32_t i = 0; i < may_order->agents; i++)
        may_order->unknowns[i].count = 0;
    memset(may_order->last, 0, may_order->agents * sizeof *may_order->last);
    memset(may_order->now, 0, may_order->agents * sizeof *may_order->now);
    may_order->note_count = may_order->past_count = 0;
    (void)keep_past(may_order, may_order->now);
}

void may_order_observe(MayOrder *may_order, const Event *event) {
    if (may_order->clocks)
        clocks_observe(may_order->clocks, event);
    if (event->kind != EVENT_UNKNOWN)
        return;
    Unknowns *unknowns = &may_order->unknowns[event->agent];
    Epoch stamp = may_order->clocks ? clocks_now(may_order->clocks, event->agent) : (Epoch){NO_COMPONENT, 0};
    uint32_t count = unknowns->count;
    *ARENA_PUSH(may_order->arena, unknowns->ops, count, unknowns->op_capacity) = event->op;
    *ARENA_PUSH(may_order->arena, unknowns->stamps, unknowns->count, unknowns->capacity) = stamp;
}

static bool knows(const MayOrder *may_order, uint32_t agent, Epoch stamp) {
    return may_order->clocks && !clocks_overflowed(may_order->clocks) && clocks_know(may_order->clocks, agent, stamp);
}

/* How many of the unknown ops of `other` the agent knows to be over: the first ones. */
static uint32_t known_of(const MayOrder *may_order, uint32_t agent, uint32_t other) {
    const Unknowns *unknowns = &may_order->unknowns[other];
    uint32_t low;
    BISECT(low, 0, unknowns->count, knows(may_order, agent, unknowns->stamps[low]));
    return low;
}

static uint32_t past_of(MayOrder *may_order, uint32_t agent) {
    uint32_t *last = &may_order->last[agent];
    for (uint32_t i = 0; i < may_order->agents; i++)
        may_order->now[i] = known_of(may_order, agent, i);
    if (memcmp(may_order->pasts[*last], may_order->now, may_order->agents * sizeof *may_order->now) != 0)
        *last = keep_past(may_order, may_order->now);
    return *last;
}

static MayOrderNote note_of(MayOrder *may_order, const Event *event) {
    MayOrderNote note = {.pc = event->pc, .stamp = {NO_COMPONENT, 0}};
    if (may_order->clocks && event->kind == EVENT_ACCESS)
        note.stamp = clocks_epoch(may_order->clocks, event);
    else if (may_order->clocks)
        note.stamp = clocks_now(may_order->clocks, event->agent);
    note.past = past_of(may_order, event->agent);
    return note;
}

uint32_t may_order_note(MayOrder *may_order, const Event *event) {
    MayOrderNote note = note_of(may_order, event);
    *ARENA_PUSH(may_order->arena, may_order->notes, may_order->note_count, may_order->note_capacity) = note;
    return may_order->note_count - 1;
}

uint32_t may_order_pc(const MayOrder *may_order, uint32_t note) {
    return may_order->notes[note].pc;
}

Doubt may_order_about(MayOrder *may_order, uint32_t note, const Event *event) {
    MayOrderNote now = note_of(may_order, event);
    static const MayOrderNote nothing = {.stamp = {NO_COMPONENT, 0}};
    const MayOrderNote *then = note < may_order->note_count ? &may_order->notes[note] : &nothing;
    Doubt doubt = {.earlier = then->stamp, .later = now.stamp};
    const uint32_t *before = may_order->pasts[then->past], *after = may_order->pasts[now.past];
    for (uint32_t i = 0; i < may_order->agents; i++) {
        uint32_t both = before[i] < after[i] ? before[i] : after[i];
        if (both == may_order->unknowns[i].count) {
            agents_add(&doubt.open, i);
        } else if (!doubt.op) {
            doubt.op = may_order->unknowns[i].ops[both];
            doubt.agent = i;
        }
    }
    return doubt;
}

void may_order_settle(const MayOrder *may_order, const Event *event, Doubt *doubt) {
    if (!agents_have(&doubt->open, event->agent))
        return;
    agents_remove(&doubt->open, event->agent);
    if (doubt->op || (knows(may_order, event->agent, doubt->earlier) && knows(may_order, event->agent, doubt->later)))
        return;
    doubt->op = event->op;
    doubt->agent = event->agent;
}
