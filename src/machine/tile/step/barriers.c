/* What effects do: mbarriers, named and cluster barriers. */
#include "explore/mbarrier.h"
#include "machine/tile/step/machine_internal.h"
#include "model/effect/inline_ptx.h"

/* ---- Barriers ------------------------------------------------------------------------------------- */

/* After a change of the barrier: its phase may be complete. */
static void settle(Machine *machine, uint32_t slot, uint32_t agent, uint32_t pc, const CompiledEffect *effect) {
    Barrier *barrier = &machine->state->barriers[slot];
    MbarrierTally tally = {barrier->count, barrier->pending, barrier->bytes};
    if (!mbarrier_completes(&tally))
        return;
    barrier->phase ^= 1;
    barrier->pending = tally.pending;
    barrier->generation++;
    machine->flips++;
    machine_emit(machine, &(Event){.kind = EVENT_FLIP, .agent = agent, .pc = pc, .effect = effect, .barrier = slot});
}

/* A phase is complete, or a meeting, that is not: the event says whose wait it is for. */
void machine_let_on(Machine *machine, uint32_t index) {
    const Agent *agent = &machine->state->agents[index];
    const CompiledEffect *effect = machine_next_effect(machine, agent);
    if (agent->status == AGENT_WAITS) {
        Barrier *barrier = &machine->state->barriers[agent->barrier];
        barrier->pending = 0;
        barrier->bytes = 0;
        settle(machine, agent->barrier, index, agent->pc, effect);
    } else if (agent->status == AGENT_NAMED) {
        Rendezvous *named = &machine->state->named[agent->barrier];
        named->generation++;
        named->arrived = named->expected = 0;
        machine_emit(machine, &(Event){.kind = EVENT_NAMED_COMPLETE,
                                       .agent = index,
                                       .pc = agent->pc,
                                       .effect = effect,
                                       .barrier = agent->barrier});
    } else if (agent->status == AGENT_CLUSTER) {
        machine_cluster_meets(machine, index, agent->pc, effect, agent->barrier);
    }
}

static RuleId misuse(const Barrier *barrier) {
    return barrier->life == BARRIER_NEVER ? RULE_BARRIER_UNINITIALIZED : RULE_BARRIER_INVALIDATED;
}

StepResult barrier_bring(Machine *machine, uint32_t slot, uint32_t agent, uint32_t pc, uint32_t effect_index,
                         int64_t arrivals, int64_t bytes, Event *event) {
    Barrier *barrier = &machine->state->barriers[slot];
    const CompiledEffect *effect = &machine->program->effects[effect_index];
    bool in_flight = event->outstanding != NULL;
    /* An arrival that comes late to a barrier that is no more does no harm, as long as its bytes are not something else
     * by then; a copy has not been waited for at all. */
    if (in_flight && barrier->life == BARRIER_INVALID && event->outstanding->kind == OUTSTANDING_ARRIVAL)
        return STEP_DONE;
    if (barrier->life != BARRIER_LIVE)
        return machine_fault(machine, misuse(barrier), agent, pc, effect_index, slot, 0, in_flight);
    MbarrierTally tally = {barrier->count, barrier->pending, barrier->bytes};
    int64_t wrong;
    MbarrierOutcome outcome = mbarrier_bring(&tally, &(MbarrierChange){.arrivals = arrivals, .bytes = bytes}, &wrong);
    if (outcome != MBARRIER_GOES_ON)
        return machine_fault(machine, outcome == MBARRIER_UNDERFLOW ? RULE_BARRIER_UNDERFLOW : RULE_BARRIER_BYTES,
                             agent, pc, effect_index, slot, wrong, in_flight);
    barrier->pending = tally.pending;
    barrier->bytes = tally.bytes;
    event->agent = agent;
    event->pc = pc;
    event->effect = effect;
    event->barrier = slot;
    machine_emit(machine, event);
    settle(machine, slot, agent, pc, effect);
    return STEP_DONE;
}

/* ---- Effects -------------------------------------------------------------------------------------- */

bool effect_is_visible(const Effect *effect) {
    switch (effect->verb) {
    case EFFECT_INIT:
    case EFFECT_INVALIDATE:
    case EFFECT_EXPECT:
    case EFFECT_WAIT:
    case EFFECT_NAMED_ARRIVE:
    case EFFECT_NAMED_SYNC:
    case EFFECT_CLUSTER_ARRIVE:
    case EFFECT_CLUSTER_WAIT:
        return true;
    case EFFECT_ARRIVE: /* asynchronous ones are seen when they are made */
        return effect->done == DONE_NOW || (effect->done == DONE_COPIES && !effect->no_increment);
    case EFFECT_COMPLETE:
        return effect->done == DONE_NOW && effect->helper == HELPER_BASE;
    default:
        return false;
    }
}

/* Threads of the agent's strand. */
static uint32_t machine_threads(const Machine *machine, uint32_t agent) {
    return machine->program->strands[machine->state->agents[agent].strand].warps * machine->program->warp_threads;
}

/* How often an arrive of the agent's strand arrives. */
static int64_t arrivals_of(const Machine *machine, uint32_t agent, const Effect *effect) {
    uint32_t threads = machine_threads(machine, agent);
    return effect->count * (effect->per_thread ? threads
                            : effect->per_warp ? threads / machine->program->warp_threads
                                               : 1);
}

static bool predicate_holds(Machine *machine, uint32_t agent, uint32_t predicate, uint32_t pc) {
    Word word = machine_words(machine, agent)[predicate];
    return word_is(word, WORD_INTEGER) ? word.bits != 0
                                       : machine_choose(machine, (uint64_t)word.bits, machine->program->ops[pc]);
}

/* Whether the effect happens: its predicate, and of barriers that a cluster shares that this is the CTA that owns it.
 */
bool effect_is_present(Machine *machine, uint32_t agent, const CompiledEffect *effect, uint32_t pc) {
    if (effect->predicate != NO_REGISTER && !predicate_holds(machine, agent, effect->predicate, pc))
        return false;
    if (effect->second_predicate != NO_REGISTER && !predicate_holds(machine, agent, effect->second_predicate, pc))
        return false;
    if (!(effect->shared_bits | effect->leads))
        return true;
    EffectVerb verb = effect->effect.verb;
    if ((effect->shared_bits & agent_cta(machine, agent)) &&
        (verb == EFFECT_INIT || verb == EFFECT_INVALIDATE || verb == EFFECT_WAIT))
        return false;
    return !(effect->leads & agent_cta(machine, agent));
}

/* How far from the issuer's CTA (XOR) the effect is that names a CTA; false if that is not known. */
static bool find_rank(const Machine *machine, uint32_t agent, const CompiledEffect *effect, uint32_t *away) {
    *away = 0;
    if (!effect->effect.rank || machine->program->ctas < 2)
        return true;
    Word rank = effect->rank == NO_REGISTER ? word_unknown(0) : machine_words(machine, agent)[effect->rank];
    if (!word_is(rank, WORD_INTEGER) || rank.bits < 0 || rank.bits >= machine->program->ctas)
        return false;
    *away = (uint32_t)rank.bits ^ agent_cta(machine, agent);
    return true;
}

static const char which_cta[] = "which CTA of the cluster it means is not known";

/* The CTAs that the effect is in, each by XOR with the issuer's: the first of those that are left. */
static uint32_t next_toward(uint32_t *left) {
    uint32_t toward = (uint32_t)__builtin_ctz(*left);
    *left &= *left - 1;
    return toward;
}

/* The slot that the effect is on, so far from the issuer's CTA; false if it is not known. */
static bool find_slot(Machine *machine, uint32_t agent, const CompiledEffect *effect, uint32_t which, uint32_t toward,
                      uint32_t *slot) {
    const Word *words = machine_words(machine, agent);
    Word view = effect->on == NO_REGISTER ? word_unknown(0) : words[effect->on];
    if (!word_is(view, WORD_VIEW))
        return false;
    int64_t byte = view_byte(view);
    if (effect->effect.side != SIDE_NONE) {
        uint32_t ring = machine->storage_sizes[view.meta] / 16;
        byte += 8 * (int64_t)(effect->effect.side == SIDE_EMPTY ? ring + which : which);
    }
    uint32_t cta = (view.cta ^ toward) & ~effect->shared_bits;
    *slot = machine_slot(machine, cta, view.meta, byte);
    return *slot != UINT32_MAX;
}

/* Tokens and arefs: which slot of the ring; arefs that do not say it yet count their uses, per agent. */
static bool ring_place(Machine *machine, uint32_t agent, const CompiledEffect *effect, uint32_t *which,
                       int64_t *parity) {
    const Word *words = machine_words(machine, agent);
    *which = 0;
    if (effect->effect.side == SIDE_NONE)
        return true;
    if (effect->slot != NO_REGISTER) {
        if (!word_is(words[effect->slot], WORD_INTEGER))
            return false;
        *which = (uint32_t)words[effect->slot].bits;
        return true;
    }
    if (effect->on == NO_REGISTER || !word_is(words[effect->on], WORD_VIEW))
        return false;
    Word view = words[effect->on];
    uint32_t ring = machine->storage_sizes[view.meta] / 16;
    bool enters = effect->effect.verb == EFFECT_WAIT;
    /* A producer waits for empty slots and fills them; a consumer the other way round. */
    bool producer = enters == (effect->effect.side == SIDE_EMPTY);
    Cell *uses = machine_cell(machine, identity_mix(view_key(view), agent * 2u + producer) | 1, true);
    if (!uses || !ring)
        return false;
    int64_t count = uses->word.bits;
    if (!enters)
        count--; /* it leaves the slot that it entered */
    *which = (uint32_t)((count < 0 ? 0 : count) % ring);
    *parity = (count / ring & 1) ^ producer;
    return true;
}

static void ring_entered(Machine *machine, uint32_t agent, const CompiledEffect *effect) {
    if (effect->effect.side == SIDE_NONE || effect->slot != NO_REGISTER)
        return;
    Word view = machine_words(machine, agent)[effect->on];
    Cell *uses =
        machine_cell(machine, identity_mix(view_key(view), agent * 2u + (effect->effect.side == SIDE_EMPTY)) | 1, true);
    if (uses)
        uses->word.bits++;
}

static void arrive_at(Rendezvous *rendezvous, uint32_t arrivals, uint32_t expected) {
    if (!rendezvous->arrived)
        rendezvous->expected = expected;
    rendezvous->arrived += arrivals;
    if (rendezvous->arrived >= rendezvous->expected) {
        rendezvous->generation++;
        rendezvous->arrived = rendezvous->expected = 0;
    }
}

/* Agents that take part in the hardware's cluster barrier: all whose warps are there. Those of a partition that has
 * ended are, until the partitions are joined; they just never arrive. */
uint32_t machine_live_agents(const Machine *machine) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < machine->agent_count; i++) {
        uint8_t status = machine->state->agents[i].status;
        count += status != AGENT_IDLE && (status != AGENT_ENDED || i % machine->program->agents_per_cta);
    }
    return count;
}

/* Whether the partitions of the agent's CTA have been sent off, and not been joined yet. */
static bool partitions_run(const Machine *machine, uint32_t agent) {
    uint32_t each = machine->program->agents_per_cta, first = agent - agent % each;
    for (uint32_t i = first + 1; i < first + each; i++)
        if (machine->state->agents[i].status != AGENT_IDLE)
            return true;
    return false;
}

/* The hardware's barrier counts every thread of the cluster that has not ended, and assembly means no other; beside
 * partitions and in them, an op that is an arrive together with its wait is one between the same parts of the CTAs: the
 * compiler makes it of mbarriers. */
static uint32_t cluster_barrier_of(const Machine *machine, uint32_t agent, uint32_t pc) {
    const Instruction *instruction = &machine->program->code[pc];
    const CompiledEffect *effects = &machine->program->effects[instruction->aux];
    uint32_t strand = machine->program->strands[machine->state->agents[agent].strand].index;
    bool both = instruction->a > 1 && effects[0].effect.verb == EFFECT_CLUSTER_ARRIVE &&
                effects[instruction->a - 1].effect.verb == EFFECT_CLUSTER_WAIT &&
                !is_inline_ptx(machine->program->ops[pc]);
    return both && (strand || partitions_run(machine, agent)) ? 1 + strand : 0;
}

static StepResult wait_step(Machine *machine, uint32_t index, uint32_t pc, const CompiledEffect *effect) {
    Agent *agent = &machine->state->agents[index];
    const Barrier *barrier = &machine->state->barriers[agent->barrier];
    uint32_t effect_index = (uint32_t)(effect - machine->program->effects);
    if (barrier->life != BARRIER_LIVE)
        return machine_fault(machine, misuse(barrier), index, pc, effect_index, agent->barrier, 0, false);
    machine_emit(machine, &(Event){.kind = EVENT_WAIT,
                                   .agent = index,
                                   .pc = pc,
                                   .effect = effect,
                                   .barrier = agent->barrier,
                                   .parity = agent->parity});
    ring_entered(machine, index, effect);
    agent->status = AGENT_READY;
    agent->forced = 0;
    return STEP_DONE;
}

/* Several slots of a ring at once: making and freeing tokens. */
static StepResult life_step(Machine *machine, uint32_t index, uint32_t pc, const CompiledEffect *effect) {
    const Effect *what = &effect->effect;
    uint32_t effect_index = (uint32_t)(effect - machine->program->effects);
    Word view = effect->on == NO_REGISTER ? word_unknown(0) : machine_words(machine, index)[effect->on];
    if (!word_is(view, WORD_VIEW))
        return machine_stop(machine, pc, "which barrier it uses is not known");
    uint32_t count = what->side == SIDE_NONE ? 1 : machine->storage_sizes[view.meta] / 16;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t slot;
        if (!find_slot(machine, index, effect, i, 0, &slot))
            return machine_stop(machine, pc, "there are more barriers than the emulator has room for");
        Barrier *barrier = &machine->state->barriers[slot];
        if (effect->idle) {
            machine_emit(machine,
                         &(Event){.kind = EVENT_DISTURB, .agent = index, .pc = pc, .effect = effect, .barrier = slot});
            continue;
        }
        if (what->verb == EFFECT_INIT) {
            if (barrier->life == BARRIER_LIVE)
                return machine_fault(machine, RULE_BARRIER_REINITIALIZED, index, pc, effect_index, slot, 0, false);
            *barrier = (Barrier){.count = (uint32_t)what->count,
                                 .pending = (uint32_t)what->count,
                                 .life = BARRIER_LIVE,
                                 .generation = barrier->generation,
                                 .born = barrier->generation};
        } else {
            if (barrier->life != BARRIER_LIVE)
                return machine_fault(machine, misuse(barrier), index, pc, effect_index, slot, 0, false);
            for (uint32_t k = 0; k < machine->agent_count; k++)
                if (machine->state->agents[k].status == AGENT_WAITS && machine->state->agents[k].barrier == slot &&
                    k != index && machine->state->agents[k].parity == barrier->phase)
                    return machine_fault(machine, RULE_BARRIER_INVALIDATED, index, pc, effect_index, slot, k + 1,
                                         false);
            barrier->life = BARRIER_INVALID;
        }
        machine_emit(machine, &(Event){.kind = what->verb == EFFECT_INIT ? EVENT_INIT : EVENT_INVALIDATE,
                                       .agent = index,
                                       .pc = pc,
                                       .effect = effect,
                                       .barrier = slot,
                                       .amount = what->count});
    }
    return STEP_DONE;
}

static StepResult named_step(Machine *machine, uint32_t index, uint32_t pc, const CompiledEffect *effect) {
    Agent *agent = &machine->state->agents[index];
    const Word *words = machine_words(machine, index);
    Word id = effect->on == NO_REGISTER ? word_integer(effect->effect.number) : words[effect->on];
    Word threads = effect->amount != NO_REGISTER ? words[effect->amount]
                   : effect->effect.count        ? word_integer(effect->effect.count)
                                                 : word_unknown(0);
    if (!word_is(id, WORD_INTEGER) || !word_is(threads, WORD_INTEGER))
        return machine_stop(machine, pc, "the id or thread count of its named barrier is not known");
    if (id.bits < 0 || id.bits >= NAMED_BARRIERS || threads.bits <= 0)
        return machine_stop(machine, pc, "the hardware has named barriers 0 to 15, for at least one thread");
    uint32_t at = agent_cta(machine, index) * NAMED_BARRIERS + (uint32_t)id.bits;
    Rendezvous *named = &machine->state->named[at];
    bool sync = effect->effect.verb == EFFECT_NAMED_SYNC;
    uint32_t before = named->generation, all = named->arrived + machine_threads(machine, index);
    uint32_t needed = named->arrived ? named->expected : (uint32_t)threads.bits;
    machine_emit(machine, &(Event){.kind = EVENT_NAMED_ARRIVE,
                                   .agent = index,
                                   .pc = pc,
                                   .effect = effect,
                                   .barrier = at,
                                   .amount = threads.bits});
    arrive_at(named, machine_threads(machine, index), (uint32_t)threads.bits);
    if (named->generation != before)
        machine_emit(machine, &(Event){.kind = EVENT_NAMED_COMPLETE,
                                       .agent = index,
                                       .pc = pc,
                                       .effect = effect,
                                       .barrier = at,
                                       .amount = all - needed});
    if (sync) {
        agent->status = AGENT_NAMED;
        agent->barrier = at;
        agent->generation = before;
    }
    return STEP_DONE;
}

void machine_cluster_meets(Machine *machine, uint32_t index, uint32_t pc, const CompiledEffect *effect, uint32_t at) {
    machine->state->cluster[at].generation++;
    machine->state->cluster[at].arrived = 0;
    machine_emit(machine,
                 &(Event){.kind = EVENT_CLUSTER_COMPLETE, .agent = index, .pc = pc, .effect = effect, .barrier = at});
}

static StepResult cluster_step(Machine *machine, uint32_t index, uint32_t pc, const CompiledEffect *effect) {
    Agent *agent = &machine->state->agents[index];
    uint32_t at = cluster_barrier_of(machine, index, pc);
    Rendezvous *cluster = &machine->state->cluster[at];
    if (effect->effect.verb == EFFECT_CLUSTER_ARRIVE) {
        agent->generation = cluster->generation;
        machine_emit(machine,
                     &(Event){.kind = EVENT_CLUSTER_ARRIVE, .agent = index, .pc = pc, .effect = effect, .barrier = at});
        cluster->arrived++;
        if (cluster->arrived >= (at ? machine->program->ctas : machine_live_agents(machine)))
            machine_cluster_meets(machine, index, pc, effect, at);
        return STEP_DONE;
    }
    agent->status = AGENT_CLUSTER;
    agent->barrier = at;
    return STEP_DONE;
}

static const char not_counted[] = "its arrival count is not known, or exceeds what the hardware counts (1048575)";

/* Whether the effect's count is one that the hardware has: of an init, or of an arrive. */
static bool is_counted(const Effect *effect) {
    return mbarrier_counts(effect->count);
}

/* Arrivals and bytes that the agent itself brings to a barrier, or says that they will come. */
static StepResult signal_step(Machine *machine, uint32_t index, uint32_t pc, const CompiledEffect *effect,
                              uint32_t slot) {
    const Effect *what = &effect->effect;
    uint32_t effect_index = (uint32_t)(effect - machine->program->effects);
    if (what->verb == EFFECT_EXPECT)
        return barrier_bring(machine, slot, index, pc, effect_index, 1, what->count,
                             &(Event){.kind = EVENT_EXPECT, .amount = what->count});
    if (what->verb == EFFECT_COMPLETE)
        return barrier_bring(machine, slot, index, pc, effect_index, 0, -effect->bytes,
                             &(Event){.kind = EVENT_DELIVER, .amount = effect->bytes});
    if (!is_counted(what))
        return machine_stop(machine, pc, not_counted);
    int64_t arrivals = arrivals_of(machine, index, what);
    if (what->done == DONE_COPIES) { /* announced now, made when the copies are done */
        Barrier *barrier = &machine->state->barriers[slot];
        if (barrier->life != BARRIER_LIVE)
            return machine_fault(machine, misuse(barrier), index, pc, effect_index, slot, 0, false);
        barrier->pending += (uint32_t)arrivals;
        return outstanding_submit(machine, index, pc, effect_index, OUTSTANDING_ARRIVAL, slot, arrivals);
    }
    return barrier_bring(machine, slot, index, pc, effect_index, arrivals, 0,
                         &(Event){.kind = EVENT_ARRIVE, .amount = arrivals});
}

/* A visible effect, with its predicate true. */
StepResult effect_perform(Machine *machine, uint32_t index, uint32_t pc, const CompiledEffect *effect) {
    const Effect *what = &effect->effect;
    uint32_t slot, which, away, left = effect->reach;
    int64_t parity = 0;
    StepResult result = STEP_DONE;
    switch (what->verb) {
    case EFFECT_WAIT:
        return wait_step(machine, index, pc, effect);
    case EFFECT_INIT:
        if (!is_counted(what))
            return machine_stop(machine, pc, not_counted);
        return life_step(machine, index, pc, effect);
    case EFFECT_INVALIDATE:
        return life_step(machine, index, pc, effect);
    case EFFECT_NAMED_ARRIVE:
    case EFFECT_NAMED_SYNC:
        return named_step(machine, index, pc, effect);
    case EFFECT_CLUSTER_ARRIVE:
    case EFFECT_CLUSTER_WAIT:
        return cluster_step(machine, index, pc, effect);
    default:
        break;
    }
    if (!find_rank(machine, index, effect, &away))
        return machine_stop(machine, pc, which_cta);
    if (!ring_place(machine, index, effect, &which, &parity))
        return machine_stop(machine, pc, "which barrier it uses is not known");
    while (left && result == STEP_DONE) {
        if (!find_slot(machine, index, effect, which, away ^ next_toward(&left), &slot))
            return machine_stop(machine, pc, "which barrier it uses is not known");
        result = signal_step(machine, index, pc, effect, slot);
    }
    return result;
}

/* A copy has written there: shared memory does not hold what was last stored from registers. */
static void forget_cell(Machine *machine, Word view) {
    Cell *cell = word_is(view, WORD_VIEW) ? machine_cell(machine, view_key(view), false) : NULL;
    if (cell)
        cell->word = word_unknown(identity_mix(machine->serial, machine->used));
}

/* An access to global memory that is kept: told as memory is before it, then carried out. */
static StepResult access_memory(Machine *machine, Event event) {
    event.op = machine->program->ops[event.pc];
    event.stored = transfer_stores(machine, event.agent, event.effect);
    event.silent = transfer_is_silent(machine, &event);
    machine_emit(machine, &event);
    transfer_perform(machine, &event);
    return STEP_DONE;
}

/* The CTAs in whose memory it touches something, by XOR with the issuer's. */
static uint32_t part_reach(const Machine *machine, uint32_t agent, const CompiledEffect *effect) {
    uint32_t reach = 0;
    for (uint32_t toward = 0; toward < machine->program->ctas; toward++)
        reach |= (uint32_t)(effect_part(machine, agent, effect, toward) != NULL) << toward;
    return reach;
}

/* What a copy brings with that. */
static int64_t part_bytes(const Machine *machine, const CompiledEffect *effect, const ViewPart *part) {
    const Layout *layout = layout_of(machine->program->module, effect->landing);
    return layout ? part->elements * layout->element_bits / 8 : -1;
}

/* Bytes or arrivals that come some time. */
static StepResult launch_outstanding(Machine *machine, uint32_t index, uint32_t pc, const CompiledEffect *effect) {
    const Effect *what = &effect->effect;
    uint32_t effect_index = (uint32_t)(effect - machine->program->effects), slot, which, away, left = effect->reach;
    int64_t parity = 0;
    if (!find_rank(machine, index, effect, &away))
        return machine_stop(machine, pc, which_cta);
    if (!ring_place(machine, index, effect, &which, &parity))
        return machine_stop(machine, pc, "which barrier it uses is not known");
    bool bytes = what->verb == EFFECT_COMPLETE;
    OutstandingKind kind = bytes ? OUTSTANDING_BYTES : OUTSTANDING_ARRIVAL;
    if (!bytes && !is_counted(what))
        return machine_stop(machine, pc, not_counted);
    int64_t amount = bytes ? memory_bytes_delivered(machine, effect, machine_words(machine, index))
                           : arrivals_of(machine, index, what);
    if (bytes && amount < 0)
        return machine_stop(machine, pc, "the number of bytes it copies is not known");
    StepResult result = STEP_DONE;
    if (effect->parts)
        left = part_reach(machine, index, effect);
    uint32_t member = 0, refused = machine->state->agents[index].refused;
    Request request = {0}; /* for another cluster: one answer, which comes to all CTAs that it reaches */
    for (; left && result == STEP_DONE; member++) {
        Toward where = {away ^ next_toward(&left), member};
        if (!find_slot(machine, index, effect, which, where.toward, &slot))
            return machine_stop(machine, pc, "which barrier it uses is not known");
        if (!member && bytes && what->helper == HELPER_CLC) {
            if (refused)
                return machine_fault(machine, RULE_CLC_ASKS_AGAIN, index, pc, effect_index, slot, refused, false);
            request = cancel_request(machine, pc);
        }
        const ViewPart *part = effect_part(machine, index, effect, where.toward);
        result = outstanding_issue(machine, index, pc, effect_index, kind, slot,
                                   part ? part_bytes(machine, effect, part) : amount, where, request);
    }
    return result == STEP_DONE ? outstanding_complete(machine, member) : result;
}

/* An access to shared or tensor memory, or one to global memory that is not kept: in each CTA that it reaches. */
static StepResult pass_access(Machine *machine, Event *event) {
    const CompiledEffect *effect = event->effect;
    const Effect *what = &effect->effect;
    uint32_t away = 0, left = effect->reach;
    const Landing *landing = effect_landing(machine, event->agent, effect);
    Word view = landing ? view_toward(event->view, landing->aside) : event->view;
    if (what->rank && !find_rank(machine, event->agent, effect, &away))
        return machine_stop(machine, event->pc, which_cta);
    if (effect->parts)
        left = part_reach(machine, event->agent, effect);
    if (effect->rows != NO_REGISTER && what->space == SPACE_SHARED)
        return gather_access(machine, event);
    while (left) {
        event->toward = away ^ next_toward(&left);
        event->view = view_toward(view, event->toward);
        event->part = landing ? landing->part : effect_part(machine, event->agent, effect, event->toward);
        if (machine->memory && what->verb != EFFECT_READ && what->done != DONE_NOW)
            forget_cell(machine, event->view);
        if (what->verb == EFFECT_READ && machine->state->unread)
            cancel_read(machine, event->view);
        machine_emit(machine, event);
    }
    if (what->done == DONE_COMMIT && what->helper == HELPER_TENSOR && what->verb != EFFECT_READ)
        return outstanding_submit(machine, event->agent, event->pc, (uint32_t)(effect - machine->program->effects),
                                  OUTSTANDING_WORK, 0, 0);
    return STEP_DONE;
}

/* An effect that nothing sees at once. */
StepResult effect_pass_by(Machine *machine, uint32_t index, uint32_t pc, const CompiledEffect *effect) {
    const Effect *what = &effect->effect;
    const Word *words = machine_words(machine, index);
    Agent *agent = &machine->state->agents[index];
    Event event = {.agent = index, .pc = pc, .effect = effect};
    switch (what->verb) {
    case EFFECT_READ:
    case EFFECT_WRITE:
    case EFFECT_UPDATE:
        event.kind = EVENT_ACCESS;
        event.view = effect->on == NO_REGISTER ? word_unknown(0) : words[effect->on];
        event.stored = what->verb != EFFECT_READ;
        if (machine->memory && what->space == SPACE_GLOBAL)
            return access_memory(machine, event);
        return pass_access(machine, &event);
    case EFFECT_ARRIVE:
    case EFFECT_COMPLETE:
        return launch_outstanding(machine, index, pc, effect);
    case EFFECT_COMMIT:
        agent->groups[what->group]++;
        agent->mmas += what->group == GROUP_WGMMA;
        event.kind = EVENT_COMMIT;
        machine_emit(machine, &event);
        return STEP_DONE;
    case EFFECT_AWAIT: {
        int64_t left = what->count > 0 ? what->count : 0;
        if (what->group == GROUP_WGMMA && agent->mmas - agent->finished > left)
            agent->finished = agent->mmas - (uint32_t)left;
        if (agent->groups[what->group] > left)
            agent->groups[what->group] = (uint32_t)left;
        event.kind = EVENT_AWAIT;
        event.amount = what->count;
        machine_emit(machine, &event);
        return STEP_DONE;
    }
    case EFFECT_AWAIT_LAUNCHES:
        event.kind = EVENT_AWAIT_LAUNCHES;
        machine_emit(machine, &event);
        return STEP_DONE;
    case EFFECT_CTA_BARRIER:
        event.kind = EVENT_CTA_BARRIER;
        machine_emit(machine, &event);
        return STEP_DONE;
    case EFFECT_FREE:
        event.kind = EVENT_FREE;
        event.view = effect->on == NO_REGISTER ? word_unknown(0) : words[effect->on];
        machine_emit(machine, &event);
        return STEP_DONE;
    case EFFECT_SCRATCH:
        event.kind = EVENT_DISTURB;
        machine_emit(machine, &event);
        return STEP_DONE;
    case EFFECT_ANYTHING:
        event.kind = EVENT_UNKNOWN;
        machine_emit(machine, &event);
        return STEP_DONE;
    case EFFECT_FENCE_PROXY:
    case EFFECT_FENCE_ORDER:
        event.kind = EVENT_FENCE;
        machine_emit(machine, &event);
        return STEP_DONE;
    default:
        return STEP_DONE;
    }
}

/* The slot of an aref that the agent has entered, where the IR does not say. */
int64_t machine_entered_slot(Machine *machine, uint32_t agent, Word aref) {
    uint32_t ring = machine->storage_sizes[aref.meta] / 16;
    for (uint32_t producer = 0; producer < 2 && ring; producer++) {
        const Cell *uses = machine_cell(machine, identity_mix(view_key(aref), agent * 2u + producer) | 1, false);
        if (uses && uses->word.bits > 0)
            return (uses->word.bits - 1) % ring;
    }
    return 0;
}

/* The agent comes to a wait: what for is settled now. */
StepResult effect_come_to_wait(Machine *machine, uint32_t index, uint32_t pc, const CompiledEffect *effect) {
    Agent *agent = &machine->state->agents[index];
    uint32_t which;
    int64_t parity = 0;
    if (!ring_place(machine, index, effect, &which, &parity) ||
        !find_slot(machine, index, effect, which, 0, &agent->barrier))
        return machine_stop(machine, pc, "which barrier it waits for is not known");
    if (effect->amount != NO_REGISTER) {
        Word word = machine_words(machine, index)[effect->amount];
        if (!word_is(word, WORD_INTEGER))
            return machine_stop(machine, pc, "the parity that it waits for is not known");
        parity = (word.bits & 1) ^ effect->effect.inverted;
    }
    agent->parity = (uint8_t)parity;
    agent->status = AGENT_WAITS;
    const Barrier *barrier = &machine->state->barriers[agent->barrier];
    if (machine->observe && barrier->life == BARRIER_LIVE && barrier->phase == agent->parity)
        machine_emit(machine, &(Event){.kind = EVENT_BLOCK,
                                       .agent = index,
                                       .pc = pc,
                                       .effect = effect,
                                       .barrier = agent->barrier,
                                       .parity = agent->parity});
    return STEP_DONE;
}
