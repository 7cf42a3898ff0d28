/* The blocked state as a table: who waits for which slot and phase, who could flip it, and why it never does. */
#include "check/explain/tile/blocked_internal.h"

#include "check/explain/place.h"

static ReportPlace place_at(const Diagnosis *diagnosis, uint32_t agent, Helper helper, uint32_t pc,
                            const char *detail) {
    FindingPlace at = {.agent = "", .op = "", .file = ""};
    place_set(diagnosis->machine, &at, "", diagnosis_agent(diagnosis, agent, helper), pc, diagnosis->verdict);
    return (ReportPlace){.partition = at.agent,
                         .op = at.op,
                         .detail = detail,
                         .file = at.file,
                         .line = at.line,
                         .column = at.column,
                         .ir_line = at.ir_line};
}

static const Blocked *blocked_agent(const Diagnosis *diagnosis, uint32_t agent) {
    for (uint32_t i = 0; i < diagnosis->count; i++)
        if (diagnosis->blocked[i].agent == agent)
            return &diagnosis->blocked[i];
    return NULL;
}

/* The slot of the same ring on which that instruction of the agent arrived last; UINT32_MAX: on none, or on this one.
 */
static uint32_t other_slot(const Diagnosis *diagnosis, const Blocked *blocked, uint32_t agent, uint32_t pc) {
    const Machine *machine = diagnosis->machine;
    if (blocked->status != AGENT_WAITS || diagnosis->history->barriers[blocked->barrier].barrier_acts)
        return UINT32_MAX;
    BarrierPlace ring = barrier_place(machine, blocked->barrier);
    for (uint32_t i = 0; i < machine->slot_count; i++) {
        const BarrierHistory *past = &diagnosis->history->barriers[i];
        if (!past->barrier_acts || past->latest.agent != agent || past->latest.pc != pc)
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
static const char *why_not_itself(const Diagnosis *diagnosis, const Blocked *blocked, uint32_t pc, bool would) {
    const Program *program = diagnosis->machine->program;
    const BarrierHistory *past =
        blocked->status == AGENT_WAITS ? &diagnosis->history->barriers[blocked->barrier] : NULL;
    for (uint32_t i = 0; past && i < past->last_count; i++)
        if (past->last[i].agent == blocked->agent && past->last[i].pc == pc)
            return verdict_text(diagnosis->verdict, "completed phase %u",
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
    return blocked->state.generation == blocked->state.born ? "which comes before this wait, but was skipped"
                                                            : "is before this wait";
}

/* Why what an agent does at that instruction does not complete the phase that is waited for. */
static const char *why_not(const Diagnosis *diagnosis, const Blocked *blocked, uint32_t agent, uint32_t pc) {
    const Blocked *itself = blocked_agent(diagnosis, agent);
    bool would = blocked->released && blocked->releaser.agent == agent && blocked->releaser.pc == pc;
    if (blocked->status == AGENT_WAITS &&
        diagnosis_contributed(&diagnosis->history->barriers[blocked->barrier], agent, pc))
        return "already counted in this phase";
    uint32_t other = other_slot(diagnosis, blocked, agent, pc);
    if (other != UINT32_MAX)
        return verdict_text(diagnosis->verdict, "arrived on %s", diagnosis_barrier(diagnosis, other));
    if (diagnosis_ended(diagnosis, agent))
        return would ? "would, but its partition has exited" : "its partition has exited";
    if (itself && itself == blocked)
        return why_not_itself(diagnosis, blocked, pc, would);
    if (itself)
        return verdict_text(diagnosis->verdict,
                            would ? "would, but is blocked at IR line %u"
                                  : "is blocked at IR "
                                    "line %u",
                            line_at(diagnosis->machine, itself->pc));
    return "does not reach this again";
}

/* Whether an effect could help to complete what is waited for: it arrives on that barrier, or on one of its ring,
 * delivers bytes to it, or comes to that named barrier. One that has arrived on another of the same array instead may
 * have been meant for it. */
static bool could_complete(const Diagnosis *diagnosis, const Blocked *blocked, const Effect *effect, uint32_t agent,
                           uint32_t pc) {
    const Machine *machine = diagnosis->machine;
    int64_t id;
    if (blocked->status == AGENT_NAMED)
        return effect_is_named(effect) && effect_named_id(effect, &id) && id == blocked->barrier % NAMED_BARRIERS;
    if (!effect_signals(effect))
        return false;
    BarrierRange range = effect_barriers(machine->program, effect);
    uint32_t other =
        range_has(machine, &range, blocked->barrier) ? blocked->barrier : other_slot(diagnosis, blocked, agent, pc);
    return other == blocked->barrier || (other != UINT32_MAX && range_has(machine, &range, other));
}

/* `arrives`: bytes alone do not count. */
static void find_arrivers(const Diagnosis *diagnosis, const Blocked *blocked, bool arrives, ReportBlocked *row) {
    enum { MOST_ROWS = 24 };
    const Machine *machine = diagnosis->machine;
    const Program *program = machine->program;
    bool named = blocked->status == AGENT_NAMED;
    uint32_t first_agent = agent_cta(machine, blocked->agent) * program->agents_per_cta;
    ReportPlace *places = ARENA_ARRAY(diagnosis->verdict->arena, ReportPlace, MOST_ROWS);
    for (uint32_t s = 0; s < program->strand_count; s++) {
        uint32_t end = strand_end(program, s);
        uint32_t agent = first_agent + program->strands[s].index;
        for (uint32_t pc = program->strands[s].entry; pc < end && row->could_count < MOST_ROWS; pc++) {
            const Instruction *instruction = &program->code[pc];
            for (uint32_t i = 0; instruction->code == CODE_EFFECTS && i < instruction->a; i++) {
                const Effect *effect = &program->effects[instruction->aux + i].effect;
                bool itself = agent == blocked->agent && pc == blocked->pc;
                if ((named && itself) || (arrives && effect->verb == EFFECT_COMPLETE) ||
                    !could_complete(diagnosis, blocked, effect, agent, pc))
                    continue;
                places[row->could_count++] =
                    place_at(diagnosis, agent, effect->helper, pc, why_not(diagnosis, blocked, agent, pc));
                break;
            }
        }
    }
    row->could = places;
}

bool blocked_arriver(const Diagnosis *diagnosis, const Blocked *blocked, bool bytes, ReportPlace *place) {
    ReportBlocked row = {0};
    find_arrivers(diagnosis, blocked, !bytes, &row);
    if (row.could_count)
        *place = row.could[0];
    return row.could_count > 0;
}

static void fill_mbarrier(const Diagnosis *diagnosis, const Blocked *blocked, ReportBlocked *row) {
    Verdict *verdict = diagnosis->verdict;
    const Barrier *barrier = &blocked->state;
    uint32_t phases = barrier->generation - barrier->born;
    row->waits_for = diagnosis_barrier(diagnosis, blocked->barrier);
    row->parity = blocked->parity;
    row->phase = barrier->phase;
    row->pending = barrier->pending;
    row->bytes = barrier->bytes;
    row->flips = phases;
    find_arrivers(diagnosis, blocked, false, row);
    if (blocked->bytes)
        row->why = verdict_text(verdict, "%s, but then the transaction bytes of phase %u are not zero",
                                barrier->pending ? "the arrivals would be made" : "all arrivals are in", phases);
    else if (blocked->released)
        row->why = verdict_text(verdict, "phase %u would be completed at IR line %u, which is never reached", phases,
                                line_at(diagnosis->machine, blocked->releaser.pc));
    else if (!row->could_count)
        row->why =
            verdict_text(verdict, "no operation in the kernel arrives on it, so phase %u never completes", phases);
    else
        row->why = verdict_text(verdict, "phase %u needs %u arrival%s; %u came, and no more will", phases,
                                barrier->count, plural(barrier->count), barrier->count - barrier->pending);
}

void blocked_table(const Diagnosis *diagnosis, Finding *finding) {
    ReportBlocked *rows = ARENA_ARRAY(diagnosis->verdict->arena, ReportBlocked, diagnosis->count);
    size_t count = 0;
    for (uint32_t i = 0; i < diagnosis->count; i++) {
        const Blocked *blocked = &diagnosis->blocked[i];
        ReportBlocked *row = &rows[count++];
        *row = (ReportBlocked){.place = place_at(diagnosis, blocked->agent, HELPER_BASE, blocked->pc, ""),
                               .held_by = "",
                               .parity = -1,
                               .phase = -1,
                               .pending = -1,
                               .flips = -1};
        const Blocked *holder = diagnosis_releaser(diagnosis, blocked);
        if (holder && holder != blocked)
            row->held_by = diagnosis_agent(diagnosis, holder->agent, HELPER_BASE);
        if (blocked->status == AGENT_WAITS) {
            fill_mbarrier(diagnosis, blocked, row);
            continue;
        }
        bool joins = blocked->status == AGENT_JOINS, named = blocked->status == AGENT_NAMED;
        row->waits_for = diagnosis_awaited(diagnosis, blocked);
        if (named)
            find_arrivers(diagnosis, blocked, false, row);
        if (!joins)
            row->pending = (int64_t)blocked->meeting.expected - blocked->meeting.arrived;
        row->why = joins ? "it continues when all partitions have exited, and some never do"
                         : verdict_text(diagnosis->verdict, "%u of %u %s have arrived", blocked->meeting.arrived,
                                        blocked->meeting.expected, named ? "threads" : "agents");
    }
    finding->blocked = rows;
    finding->blocked_count = count;
}
