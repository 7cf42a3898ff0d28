/* The blocked state as a table: who waits for which slot and phase, who could flip it, and why it never does. */
#include "analyze/run/blocked_internal.h"

#include "analyze/telling/place.h"

static ReportPlace place_at(const Inquiry *inquiry, uint32_t agent, Helper helper, uint32_t pc, const char *detail) {
    FindingPlace at = {.agent = "", .op = "", .file = ""};
    place_set(inquiry->machine, &at, "", inquiry_agent(inquiry, agent, helper), pc, inquiry->verdict);
    return (ReportPlace){.partition = at.agent,
                         .op = at.op,
                         .detail = detail,
                         .file = at.file,
                         .line = at.line,
                         .column = at.column,
                         .ir_line = at.ir_line};
}

static const Blocked *blocked_agent(const Inquiry *inquiry, uint32_t agent) {
    for (uint32_t i = 0; i < inquiry->count; i++)
        if (inquiry->blocked[i].agent == agent)
            return &inquiry->blocked[i];
    return NULL;
}

/* The slot of the same ring on which that instruction of the agent arrived last; UINT32_MAX: on none, or on this one.
 */
static uint32_t other_slot(const Inquiry *inquiry, const Blocked *blocked, uint32_t agent, uint32_t pc) {
    const Machine *machine = inquiry->machine;
    if (blocked->status != AGENT_WAITS || inquiry->history->barriers[blocked->barrier].deeds)
        return UINT32_MAX;
    const uint64_t *places = machine->slot_places;
    uint64_t ring = places[blocked->barrier % machine->slots_per_cta] >> 32;
    for (uint32_t i = 0; i < machine->slot_count; i++) {
        const BarrierHistory *past = &inquiry->history->barriers[i];
        if (past->deeds && past->latest.agent == agent && past->latest.pc == pc &&
            places[i % machine->slots_per_cta] >> 32 == ring)
            return i;
    }
    return UINT32_MAX;
}

/* Why what an agent does at that instruction does not complete the phase that is waited for. */
static const char *why_not(const Inquiry *inquiry, const Blocked *blocked, uint32_t agent, uint32_t pc) {
    const Blocked *itself = blocked_agent(inquiry, agent);
    bool would = blocked->released && blocked->releaser.agent == agent && blocked->releaser.pc == pc;
    if (blocked->status == AGENT_WAITS && inquiry_contributed(&inquiry->history->barriers[blocked->barrier], agent, pc))
        return "is in this phase already";
    uint32_t other = other_slot(inquiry, blocked, agent, pc);
    if (other != UINT32_MAX)
        return verdict_text(inquiry->verdict, "arrived on %s", inquiry_barrier(inquiry, other));
    if (inquiry_ended(inquiry, agent))
        return would ? "would, but its partition has ended" : "its partition has ended";
    if (itself && itself == blocked)
        return would ? "would, but comes after this very wait" : "comes after this very wait, if at all";
    if (itself)
        return verdict_text(inquiry->verdict, would ? "would, but waits itself at IR line %u" : "waits at IR line %u",
                            line_at(inquiry->machine, itself->pc));
    return "does not come here again";
}

static bool adds_to(const Effect *effect) {
    return effect->verb == EFFECT_ARRIVE || effect->verb == EFFECT_EXPECT || effect->verb == EFFECT_COMPLETE;
}

/* Whether an effect could help to complete what is waited for: it arrives on a barrier of that storage, delivers bytes
 * to one, or comes to that named barrier. */
static bool could_complete(const Inquiry *inquiry, const Blocked *blocked, const BarrierPlace *barrier,
                           const Effect *effect) {
    const Program *program = inquiry->machine->program;
    int64_t id;
    if (blocked->status == AGENT_NAMED)
        return effect_is_named(effect) && effect_named_id(effect, &id) && id == blocked->barrier % NAMED_BARRIERS;
    const Allocation *allocation =
        adds_to(effect) ? allocation_of(&program->allocations, program->module, effect->on) : NULL;
    return allocation && allocation == barrier->allocation && effect->side == barrier->side;
}

/* `arrives`: bytes alone do not count. */
static void find_arrivers(const Inquiry *inquiry, const Blocked *blocked, bool arrives, ReportBlocked *row) {
    enum { MOST_ROWS = 24 };
    const Machine *machine = inquiry->machine;
    const Program *program = machine->program;
    bool named = blocked->status == AGENT_NAMED;
    BarrierPlace barrier = named ? (BarrierPlace){0} : barrier_place(machine, blocked->barrier);
    uint32_t first_agent = agent_cta(machine, blocked->agent) * program->agents_per_cta;
    ReportPlace *places = ARENA_ARRAY(inquiry->verdict->arena, ReportPlace, MOST_ROWS);
    for (uint32_t s = 0; s < program->strand_count; s++) {
        uint32_t end = s + 1 < program->strand_count ? program->strands[s + 1].entry : program->code_count;
        uint32_t agent = first_agent + program->strands[s].index;
        for (uint32_t pc = program->strands[s].entry; pc < end && row->could_count < MOST_ROWS; pc++) {
            const Instruction *instruction = &program->code[pc];
            for (uint32_t i = 0; instruction->code == CODE_EFFECTS && i < instruction->a; i++) {
                const Effect *effect = &program->effects[instruction->aux + i].effect;
                bool itself = agent == blocked->agent && pc == blocked->pc;
                if ((named && itself) || (arrives && effect->verb == EFFECT_COMPLETE) ||
                    !could_complete(inquiry, blocked, &barrier, effect))
                    continue;
                places[row->could_count++] =
                    place_at(inquiry, agent, effect->helper, pc, why_not(inquiry, blocked, agent, pc));
                break;
            }
        }
    }
    row->could = places;
}

bool blocked_arriver(const Inquiry *inquiry, const Blocked *blocked, ReportPlace *place) {
    ReportBlocked row = {0};
    find_arrivers(inquiry, blocked, true, &row);
    if (row.could_count)
        *place = row.could[0];
    return row.could_count > 0;
}

static void fill_mbarrier(const Inquiry *inquiry, const Blocked *blocked, ReportBlocked *row) {
    Verdict *verdict = inquiry->verdict;
    const Barrier *barrier = &blocked->state;
    uint32_t phases = barrier->generation - barrier->born;
    row->waits_for = inquiry_barrier(inquiry, blocked->barrier);
    row->parity = blocked->parity;
    row->phase = barrier->phase;
    row->pending = barrier->pending;
    row->bytes = barrier->bytes;
    row->flips = phases;
    find_arrivers(inquiry, blocked, false, row);
    if (blocked->bytes)
        row->why = verdict_text(verdict, "%s, but the transaction bytes of phase %u are not zero then",
                                barrier->pending ? "the arrivals would come" : "all arrivals are there", phases);
    else if (blocked->released)
        row->why = verdict_text(verdict, "phase %u would be completed at IR line %u, which is never reached", phases,
                                line_at(inquiry->machine, blocked->releaser.pc));
    else if (!row->could_count)
        row->why =
            verdict_text(verdict, "no operation of the kernel arrives on it, so phase %u never completes", phases);
    else
        row->why = verdict_text(verdict, "phase %u takes %u arrival%s, %u came, and no other comes", phases,
                                barrier->count, plural(barrier->count), barrier->count - barrier->pending);
}

void blocked_table(const Inquiry *inquiry, Finding *finding) {
    ReportBlocked *rows = ARENA_ARRAY(inquiry->verdict->arena, ReportBlocked, inquiry->count);
    size_t count = 0;
    for (uint32_t i = 0; i < inquiry->count; i++) {
        const Blocked *blocked = &inquiry->blocked[i];
        ReportBlocked *row = &rows[count++];
        *row = (ReportBlocked){.place = place_at(inquiry, blocked->agent, HELPER_BASE, blocked->pc, ""),
                               .parity = -1,
                               .phase = -1,
                               .pending = -1,
                               .flips = -1};
        if (blocked->status == AGENT_WAITS) {
            fill_mbarrier(inquiry, blocked, row);
            continue;
        }
        bool joins = blocked->status == AGENT_JOINS, named = blocked->status == AGENT_NAMED;
        row->waits_for = inquiry_awaited(inquiry, blocked);
        if (named)
            find_arrivers(inquiry, blocked, false, row);
        if (!joins)
            row->pending = (int64_t)blocked->meeting.expected - blocked->meeting.arrived;
        row->why = joins ? "it goes on when all partitions have ended, and some never do"
                         : verdict_text(inquiry->verdict, "%u of %u %s have come", blocked->meeting.arrived,
                                        blocked->meeting.expected, named ? "threads" : "agents");
    }
    finding->blocked = rows;
    finding->blocked_count = count;
}
