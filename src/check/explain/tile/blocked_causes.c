/* Why agents wait in a circle: every correct ring is one, so which of its waits is the wrong one has to be asked for.
 *
 * A slot that was taken and not given back; a wait in a loop whose arrival stands outside of one; a producer that waits
 * for room where nothing was put yet; ops that do not agree on the threads of a named barrier. */
#include "check/explain/tile/blocked_internal.h"

#include "model/flow/origin.h"

/* ---- Circles -------------------------------------------------------------------------------------- */

const Blocked *diagnosis_releaser(const Diagnosis *diagnosis, const Blocked *blocked) {
    for (uint32_t i = 0; blocked->released && i < diagnosis->count; i++)
        if (diagnosis->blocked[i].agent == blocked->releaser.agent)
            return &diagnosis->blocked[i];
    return NULL;
}

bool diagnosis_in_circle(const Diagnosis *diagnosis, const Blocked *blocked) {
    const Blocked *next = diagnosis_releaser(diagnosis, blocked);
    for (uint32_t i = 0; next && next != blocked && i < diagnosis->count; i++)
        next = diagnosis_releaser(diagnosis, next);
    return next == blocked;
}

/* ---- Taken and not given back --------------------------------------------------------------------- */

/* Whether `barrier` is the other side of what the agent waits for: as many slots, the same one; the agent completes its
 * phases, and has completed one more than it got back; and the agent that should give it back has seen them all. */
static bool is_taken(const Diagnosis *diagnosis, const Blocked *blocked, uint32_t barrier) {
    const Machine *machine = diagnosis->machine;
    const BarrierHistory *past = &diagnosis->history->barriers[barrier];
    const LastPass *pass = history_pass(diagnosis->history, barrier, blocked->releaser.agent);
    BarrierPlace here = barrier_place(machine, blocked->barrier), there = barrier_place(machine, barrier);
    const Barrier *other = &diagnosis->before[barrier];
    return barrier != blocked->barrier && past->last_count && past->last[0].agent == blocked->agent && pass->any &&
           pass->generation == other->generation && here.slot == there.slot && here.depth == there.depth &&
           other->generation - other->born == blocked->state.generation - blocked->state.born + 1;
}

void find_unreleased(const Diagnosis *diagnosis, Blocked *blocked) {
    const Blocked *taker = diagnosis_releaser(diagnosis, blocked);
    blocked->taken = NO_BARRIER;
    if (blocked->status != AGENT_WAITS || !taker || taker == blocked || taker->status != AGENT_WAITS ||
        blocked->repeats_more)
        return;
    for (uint32_t i = 0; i < diagnosis->machine->slot_count && blocked->taken == NO_BARRIER; i++)
        if (is_taken(diagnosis, blocked, i))
            blocked->taken = i;
}

/* ---- In a loop, or not ---------------------------------------------------------------------------- */

static uint32_t loops_around(const Op *op) {
    uint32_t count = 0;
    for (op = op_parent(op); op; op = op_parent(op))
        count += op_is_loop(op);
    return count;
}

const Op *diagnosis_loop(const Op *op) {
    for (op = op_parent(op); op && !op_is_loop(op);)
        op = op_parent(op);
    return op;
}

void find_cadence(const Diagnosis *diagnosis, Blocked *blocked) {
    const Program *program = diagnosis->machine->program;
    blocked->repeats_more = blocked->status == AGENT_WAITS && blocked->released &&
                            blocked->releaser.agent != blocked->agent &&
                            loops_around(program->ops[blocked->pc]) > loops_around(program->ops[blocked->releaser.pc]);
}

/* ---- Room where nothing is ------------------------------------------------------------------------ */

enum { MOST_TOUCHED = 32 };

/* The allocations that a strand writes, or reads. */
typedef struct BlockedCauseTouched {
    const Op *items[MOST_TOUCHED];
    uint32_t count;
} BlockedCauseTouched;

static bool touches(const BlockedCauseTouched *touched, const Op *root) {
    for (uint32_t i = 0; i < touched->count; i++)
        if (touched->items[i] == root)
            return true;
    return false;
}

static bool meet(const BlockedCauseTouched *one, const BlockedCauseTouched *other) {
    for (uint32_t i = 0; i < one->count; i++)
        if (touches(other, one->items[i]))
            return true;
    return false;
}

static void add_touched(Module *module, const Op *op, bool writes, BlockedCauseTouched *touched) {
    Effect effects[EFFECTS_MOST];
    unsigned count = effects_of(module, op, effects);
    for (unsigned i = 0; i < count; i++) {
        EffectVerb verb = effects[i].verb;
        bool wanted = verb == EFFECT_UPDATE || verb == (writes ? EFFECT_WRITE : EFFECT_READ);
        if (!wanted || !effects[i].on || effects[i].space == SPACE_GLOBAL)
            continue;
        const Op *root = origin_of(module, effects[i].on);
        if (root && !touches(touched, root) && touched->count < MOST_TOUCHED)
            touched->items[touched->count++] = root;
    }
}

/* From its wait on. */
static BlockedCauseTouched touched_by(const Diagnosis *diagnosis, const Blocked *blocked, bool writes) {
    const Program *program = diagnosis->machine->program;
    uint32_t end = strand_end(program, diagnosis->strands[blocked->agent]);
    BlockedCauseTouched touched = {0};
    for (uint32_t pc = blocked->pc; pc < end; pc++)
        if (pc == blocked->pc || program->ops[pc] != program->ops[pc - 1])
            add_touched(program->module, program->ops[pc], writes, &touched);
    return touched;
}

/* Whether the agent has arrived anywhere that the other one waits: then it has begun. */
static bool has_sent(const Diagnosis *diagnosis, const Blocked *blocked, const Blocked *other) {
    for (uint32_t i = 0; i < diagnosis->machine->slot_count; i++) {
        const BarrierHistory *past = &diagnosis->history->barriers[i];
        if (past->barrier_acts && past->latest.agent == blocked->agent &&
            strand_waits(diagnosis->machine, diagnosis->strands[other->agent], i) != NO_PC)
            return true;
    }
    return false;
}

RoomKind find_room(const Diagnosis *diagnosis, const Blocked *blocked) {
    const Blocked *other = diagnosis_releaser(diagnosis, blocked);
    bool first = blocked->status == AGENT_WAITS && !blocked->parity &&
                 blocked->state.generation == blocked->state.born &&
                 !history_pass(diagnosis->history, blocked->barrier, blocked->agent)->any;
    if (!first || !other || other == blocked || !other->released || other->releaser.agent != blocked->agent ||
        other->releaser.pc < blocked->pc || blocked->releaser.pc < other->pc || has_sent(diagnosis, blocked, other))
        return ROOM_NOT;
    BlockedCauseTouched made = touched_by(diagnosis, blocked, true), used = touched_by(diagnosis, other, false);
    if (!meet(&made, &used))
        return ROOM_NOT;
    BlockedCauseTouched returned = touched_by(diagnosis, other, true), needed = touched_by(diagnosis, blocked, false);
    return meet(&returned, &needed) ? ROOM_OF_DATA : ROOM_EMPTY;
}

/* ---- Threads of a named barrier ------------------------------------------------------------------- */

void find_clash(const Diagnosis *diagnosis, Blocked *blocked) {
    const Program *program = diagnosis->machine->program;
    bool any = false;
    blocked->clash_pcs[1] = NO_PC;
    for (uint32_t pc = 0; blocked->status == AGENT_NAMED && pc < program->code_count; pc++)
        for (uint32_t i = 0; program->code[pc].code == CODE_EFFECTS && i < program->code[pc].a; i++) {
            const Effect *effect = &program->effects[program->code[pc].aux + i].effect;
            int64_t id, threads;
            if (!effect_is_named(effect) || !effect_named_id(effect, &id) || !effect_named_threads(effect, &threads) ||
                id != blocked->barrier % NAMED_BARRIERS || (any && threads == blocked->clash_threads[0]))
                continue;
            blocked->clash_pcs[any] = pc;
            blocked->clash_threads[any] = threads;
            if (any)
                return;
            any = true;
        }
}
