/* The blocked state as a table: who waits for which slot and phase, who could flip it, and why it never does. */
#include "check/explain/tile/blocked_internal.h"

#include "check/explain/place.h"

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
    BarrierPlace ring = barrier_place(machine, blocked->barrier);
    for (uint32_t i = 0; i < machine->slot_count; i++) {
        const BarrierHistory *past = &inquiry->history->barriers[i];
        if (!past->deeds || past->latest.agent != agent || past->latest.pc != pc)
            continue;
        BarrierPlace place = barrier_place(machine, i);
        if (place.allocation == ring.allocation && place.side == ring.side)
            return i;
    }
    return UINT32_MAX;
}

static bool is_inside(const Op *op, const Op *loop) {
    while (op && op != loop)
        op = op_parent(op);
    return op != NULL;
}

/* What an op of the blocked agent itself has to do with its wait. */
static const char *why_not_itself(const Inquiry *inquiry, const Blocked *blocked, uint32_t pc, bool would) {
    const Program *program = inquiry->machine->program;
    const BarrierHistory *past = blocked->status == AGENT_WAITS ? &inquiry->history->barriers[blocked->barrier] : NULL;
    for (uint32_t i = 0; past && i < past->last_count; i++)
        if (past->last[i].agent == blocked->agent && past->last[i].pc == pc)
            return verdict_text(inquiry->verdict, "completed phase %u",
                                blocked->state.generation - blocked->state.born - 1 - i);
    if (would)
        return "would, but only after this wait";
    if (pc > blocked->pc)
        return "only after this wait, if at all";
    const Op *loop = op_parent(program->ops[blocked->pc]);
    while (loop && !(op_is_loop(loop) && is_inside(program->ops[pc], loop)))
        loop = op_parent(loop);
    if (loop)
        return "runs again only after this wait";
    return blocked->state.generation == blocked->state.born ? "is before this wait, but was skipped"
                                                            : "is before this wait";
}

/* Why what an agent does at that instruction does not complete the phase that is waited for. */
static const char *why_not(const Inquiry *inquiry, const Blocked *blocked, uint32_t agent, uint32_t pc) {
    const Blocked *itself = blocked_agent(inquiry, agent);
    bool would = blocked->released && blocked->releaser.agent == agent && blocked->releaser.pc == pc;
    if (blocked->status == AGENT_WAITS && inquiry_contributed(&inquiry->history->barriers[blocked->barrier], agent, pc))
        return "already counted in this phase";
    uint32_t other = other_slot(inquiry, blocked, agent, pc);
    if (other != UINT32_MAX)
        return verdict_text(inquiry->verdict, "arrived on %s", inquiry_barrier(inquiry, other));
    if (inquiry_ended(inquiry, agent))
        return would ? "would, but its partition has exited" : "its partition has exited";
    if (itself && itself == blocked)
        return why_not_itself(inquiry, blocked, pc, would);
    if (itself)
        return verdict_text(inquiry->verdict,
                            would ? "would, but is blocked at IR line %u"
                                  : "is blocked at IR "
                                    "line %u",
                            line_at(inquiry->machine, itself->pc));
    return "does not reach this again";
}

/* Whether an effect could help to complete what is waited for: it arrives on that barrier, or on one of its ring,
 * delivers bytes to it, or comes to that named barrier. One that has arrived on another of the same array instead may
 * have been meant for it. */
static bool could_complete(const Inquiry *inquiry, const Blocked *blocked, const Effect *effect, uint32_t agent,
                           uint32_t pc) {
    const Machine *machine = inquiry->machine;
    int64_t id;
    if (blocked->status == AGENT_NAMED)
        return effect_is_named(effect) && effect_named_id(effect, &id) && id == blocked->barrier % NAMED_BARRIERS;
    if (!effect_signals(effect))
        return false;
    BarrierRange range = effect_barriers(machine->program, effect);
    uint32_t other =
        range_has(machine, &range, blocked->barrier) ? blocked->barrier : other_slot(inquiry, blocked, agent, pc);
    return other == blocked->barrier || (other != UINT32_MAX && range_has(machine, &range, other));
}

/* `arrives`: bytes alone do not count. */
static void find_arrivers(const Inquiry *inquiry, const Blocked *blocked, bool arrives, ReportBlocked *row) {
    enum { MOST_ROWS = 24 };
    const Machine *machine = inquiry->machine;
    const Program *program = machine->program;
    bool named = blocked->status == AGENT_NAMED;
    uint32_t first_agent = agent_cta(machine, blocked->agent) * program->agents_per_cta;
    ReportPlace *places = ARENA_ARRAY(inquiry->verdict->arena, ReportPlace, MOST_ROWS);
    for (uint32_t s = 0; s < program->strand_count; s++) {
        uint32_t end = strand_end(program, s);
        uint32_t agent = first_agent + program->strands[s].index;
        for (uint32_t pc = program->strands[s].entry; pc < end && row->could_count < MOST_ROWS; pc++) {
            const Instruction *instruction = &program->code[pc];
            for (uint32_t i = 0; instruction->code == CODE_EFFECTS && i < instruction->a; i++) {
                const Effect *effect = &program->effects[instruction->aux + i].effect;
                bool itself = agent == blocked->agent && pc == blocked->pc;
                if ((named && itself) || (arrives && effect->verb == EFFECT_COMPLETE) ||
                    !could_complete(inquiry, blocked, effect, agent, pc))
                    continue;
                places[row->could_count++] =
                    place_at(inquiry, agent, effect->helper, pc, why_not(inquiry, blocked, agent, pc));
                break;
            }
        }
    }
    row->could = places;
}

bool blocked_arriver(const Inquiry *inquiry, const Blocked *blocked, bool bytes, ReportPlace *place) {
    ReportBlocked row = {0};
    find_arrivers(inquiry, blocked, !bytes, &row);
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
        row->why = verdict_text(verdict, "%s, but then the transaction bytes of phase %u are not zero",
                                barrier->pending ? "the arrivals would be made" : "all arrivals are in", phases);
    else if (blocked->released)
        row->why = verdict_text(verdict, "phase %u would be completed at IR line %u, which is never reached", phases,
                                line_at(inquiry->machine, blocked->releaser.pc));
    else if (!row->could_count)
        row->why =
            verdict_text(verdict, "no operation in the kernel arrives on it, so phase %u never completes", phases);
    else
        row->why = verdict_text(verdict, "phase %u needs %u arrival%s; %u came, and no more will", phases,
                                barrier->count, plural(barrier->count), barrier->count - barrier->pending);
}

void blocked_table(const Inquiry *inquiry, Finding *finding) {
    ReportBlocked *rows = ARENA_ARRAY(inquiry->verdict->arena, ReportBlocked, inquiry->count);
    size_t count = 0;
    for (uint32_t i = 0; i < inquiry->count; i++) {
        const Blocked *blocked = &inquiry->blocked[i];
        ReportBlocked *row = &rows[count++];
        *row = (ReportBlocked){.place = place_at(inquiry, blocked->agent, HELPER_BASE, blocked->pc, ""),
                               .held_by = "",
                               .parity = -1,
                               .phase = -1,
                               .pending = -1,
                               .flips = -1};
        const Blocked *holder = inquiry_releaser(inquiry, blocked);
        if (holder && holder != blocked)
            row->held_by = inquiry_agent(inquiry, holder->agent, HELPER_BASE);
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
        row->why = joins ? "it continues when all partitions have exited, and some never do"
                         : verdict_text(inquiry->verdict, "%u of %u %s have arrived", blocked->meeting.arrived,
                                        blocked->meeting.expected, named ? "threads" : "agents");
    }
    finding->blocked = rows;
    finding->blocked_count = count;
}
