/* Which unknown ops each access surely comes after, and which surely come after it. */
#include "check/tile/run/doubts.h"

#include "base/bisect.h"

/* The unknown ops of one agent, in its order. */
typedef struct Unknowns {
    Stamp *stamps;
    const Op **ops;
    uint32_t count, capacity, op_capacity;
} Unknowns;

typedef struct Note {
    uint32_t pc, past;
    Stamp stamp;
} Note;

struct Doubts {
    Arena *arena;
    Machine *machine;
    Clocks *clocks; /* NULL: there are more agents than it has room for, and nothing is surely before anything */
    uint32_t agents;
    Unknowns *unknowns; /* of each agent */
    Note *notes;        /* of accesses */
    uint32_t note_count, note_capacity;
    /* Pasts: of each agent, how many of its unknown ops surely came before. The first is that of no agent; many
     * accesses have one in common. */
    uint32_t **pasts, past_count, past_capacity, past_room; /* past_room: pasts that there is memory for */
    uint32_t *last;                                         /* of each agent, its latest one */
    uint32_t *now;                                          /* scratch: a past */
};

Doubts *doubts_create(Arena *arena, Machine *machine) {
    const char *problem;
    if (!machine->program->unknowns)
        return NULL;
    Doubts *doubts = ARENA_NEW(arena, Doubts);
    *doubts = (Doubts){.arena = arena,
                       .machine = machine,
                       .clocks = clocks_create(arena, machine, &problem),
                       .agents = machine->agent_count};
    doubts->unknowns = ARENA_ARRAY(arena, Unknowns, doubts->agents);
    doubts->last = ARENA_ARRAY(arena, uint32_t, doubts->agents);
    doubts->now = ARENA_ARRAY(arena, uint32_t, doubts->agents);
    return doubts;
}

/* Keeps a past; its number. What runs before have left is used again. */
static uint32_t keep_past(Doubts *doubts, const uint32_t *past) {
    if (doubts->past_count == doubts->past_room) {
        uint32_t count = doubts->past_count;
        *ARENA_PUSH(doubts->arena, doubts->pasts, count, doubts->past_capacity) =
            ARENA_ARRAY(doubts->arena, uint32_t, doubts->agents);
        doubts->past_room++;
    }
    memcpy(doubts->pasts[doubts->past_count], past, doubts->agents * sizeof *past);
    return doubts->past_count++;
}

void doubts_start(Doubts *doubts) {
    if (doubts->clocks)
        clocks_start(doubts->clocks);
    for (uint32_t i = 0; i < doubts->agents; i++)
        doubts->unknowns[i].count = 0;
    memset(doubts->last, 0, doubts->agents * sizeof *doubts->last);
    memset(doubts->now, 0, doubts->agents * sizeof *doubts->now);
    doubts->note_count = doubts->past_count = 0;
    (void)keep_past(doubts, doubts->now);
}

void doubts_observe(Doubts *doubts, const Event *event) {
    if (doubts->clocks)
        clocks_observe(doubts->clocks, event);
    if (event->kind != EVENT_UNKNOWN)
        return;
    Unknowns *unknowns = &doubts->unknowns[event->agent];
    Stamp stamp = doubts->clocks ? clocks_now(doubts->clocks, event->agent) : (Stamp){NO_COMPONENT, 0};
    uint32_t count = unknowns->count;
    *ARENA_PUSH(doubts->arena, unknowns->ops, count, unknowns->op_capacity) = event->op;
    *ARENA_PUSH(doubts->arena, unknowns->stamps, unknowns->count, unknowns->capacity) = stamp;
}

static bool knows(const Doubts *doubts, uint32_t agent, Stamp stamp) {
    return doubts->clocks && !clocks_overflowed(doubts->clocks) && clocks_know(doubts->clocks, agent, stamp);
}

/* How many of the unknown ops of `other` the agent knows to be over: the first ones. */
static uint32_t known_of(const Doubts *doubts, uint32_t agent, uint32_t other) {
    const Unknowns *unknowns = &doubts->unknowns[other];
    uint32_t low;
    BISECT(low, 0, unknowns->count, knows(doubts, agent, unknowns->stamps[low]));
    return low;
}

static uint32_t past_of(Doubts *doubts, uint32_t agent) {
    uint32_t *last = &doubts->last[agent];
    for (uint32_t i = 0; i < doubts->agents; i++)
        doubts->now[i] = known_of(doubts, agent, i);
    if (memcmp(doubts->pasts[*last], doubts->now, doubts->agents * sizeof *doubts->now) != 0)
        *last = keep_past(doubts, doubts->now);
    return *last;
}

static Note note_of(Doubts *doubts, const Event *event) {
    Note note = {.pc = event->pc, .stamp = {NO_COMPONENT, 0}};
    if (doubts->clocks && event->kind == EVENT_ACCESS)
        note.stamp = clocks_stamp(doubts->clocks, event);
    else if (doubts->clocks)
        note.stamp = clocks_now(doubts->clocks, event->agent);
    note.past = past_of(doubts, event->agent);
    return note;
}

uint32_t doubts_note(Doubts *doubts, const Event *event) {
    Note note = note_of(doubts, event);
    *ARENA_PUSH(doubts->arena, doubts->notes, doubts->note_count, doubts->note_capacity) = note;
    return doubts->note_count - 1;
}

uint32_t doubts_pc(const Doubts *doubts, uint32_t note) {
    return doubts->notes[note].pc;
}

Doubt doubts_about(Doubts *doubts, uint32_t note, const Event *event) {
    Note now = note_of(doubts, event);
    static const Note nothing = {.stamp = {NO_COMPONENT, 0}};
    const Note *then = note < doubts->note_count ? &doubts->notes[note] : &nothing;
    Doubt doubt = {.earlier = then->stamp, .later = now.stamp};
    const uint32_t *before = doubts->pasts[then->past], *after = doubts->pasts[now.past];
    for (uint32_t i = 0; i < doubts->agents; i++) {
        uint32_t both = before[i] < after[i] ? before[i] : after[i];
        if (both == doubts->unknowns[i].count) {
            agents_add(&doubt.open, i);
        } else if (!doubt.op) {
            doubt.op = doubts->unknowns[i].ops[both];
            doubt.agent = i;
        }
    }
    return doubt;
}

void doubts_settle(const Doubts *doubts, const Event *event, Doubt *doubt) {
    if (!agents_have(&doubt->open, event->agent))
        return;
    agents_remove(&doubt->open, event->agent);
    if (doubt->op || (knows(doubts, event->agent, doubt->earlier) && knows(doubts, event->agent, doubt->later)))
        return;
    doubt->op = event->op;
    doubt->agent = event->agent;
}
