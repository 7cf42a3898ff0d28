/* States that recur at the head of a loop, and what follows for longer runs. */
#include "check/prove/family_internal.h"

#include "model/number/tensor.h"

enum { MOST_SNAPSHOTS = 192 };

/* ---- Hashes --------------------------------------------------------------------------------------- */

typedef struct RecurrenceEpoch {
    uint64_t value;
    uint32_t component;
} RecurrenceEpoch;

/* The epochs of a component that occur, in order, and their codes. */
typedef struct RecurrenceComponent {
    uint64_t *values;
    uint32_t *codes;
    uint32_t count, capacity, code_count, code_capacity;
} RecurrenceComponent;

struct RecurrenceHash {
    uint64_t a, b;
    Arena *arena;
    RecurrenceEpoch *epochs;
    uint32_t count, capacity;
    RecurrenceComponent *components;
    uint32_t component_count, component_capacity;
};

static void add(void *context, uint64_t number) {
    RecurrenceHash *hash = context;
    hash->a = identity_mix(hash->a, number);
    hash->b = identity_mix(hash->b ^ 0x5bd1e995, number);
}

/* Where the value is among those of the component, or belongs. */
static uint32_t place_of(const RecurrenceComponent *of, uint64_t value) {
    uint32_t from = 0, to = of->count;
    while (from < to) {
        uint32_t middle = (from + to) / 2;
        if (of->values[middle] < value)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static void add_epoch(void *context, uint32_t component, uint64_t value) {
    RecurrenceHash *hash = context;
    while (component >= hash->component_count)
        *ARENA_PUSH(hash->arena, hash->components, hash->component_count, hash->component_capacity) =
            (RecurrenceComponent){0};
    RecurrenceComponent *of = &hash->components[component];
    uint32_t at = place_of(of, value);
    *ARENA_PUSH(hash->arena, hash->epochs, hash->count, hash->capacity) = (RecurrenceEpoch){value, component};
    if (at < of->count && of->values[at] == value)
        return;
    (void)ARENA_PUSH(hash->arena, of->values, of->count, of->capacity);
    memmove(of->values + at + 1, of->values + at, (of->count - 1 - at) * sizeof *of->values);
    of->values[at] = value;
}

/* Of the epochs of a component, the order, and how far each is behind the one before, if it is near. */
static void add_epochs(RecurrenceHash *hash) {
    for (uint32_t i = 0; i < hash->component_count; i++) {
        RecurrenceComponent *of = &hash->components[i];
        of->code_count = 0;
        for (uint32_t k = 0; k < of->count; k++) {
            uint64_t gap = k ? of->values[k] - of->values[k - 1] : 0;
            uint32_t before = k ? of->codes[k - 1] : 0;
            *ARENA_PUSH(hash->arena, of->codes, of->code_count, of->code_capacity) =
                before + (uint32_t)(gap < VISIT_NEAR ? gap : VISIT_NEAR);
        }
    }
    for (uint32_t i = 0; i < hash->count; i++) {
        const RecurrenceEpoch *epoch = &hash->epochs[i];
        const RecurrenceComponent *of = &hash->components[epoch->component];
        add(hash, (uint64_t)epoch->component << 32 | of->codes[place_of(of, epoch->value)]);
    }
}

static void add_shifts(const Family *family, RecurrenceHash *hash, const Shifts *shifts) {
    for (uint32_t i = 0; i < family->lanes.count; i++)
        if (!shift_is_zero(shifts->lanes[i]))
            add(hash, (uint64_t)shifts->lanes[i].by << 8 ^ i << 4 ^ shifts->lanes[i].kind ^ 0x80);
}

static void add_word(RecurrenceHash *hash, Word word, bool counts) {
    add(hash, (uint64_t)word.meta << 32 | (uint64_t)word.cta << 8 | word.kind);
    switch ((WordKind)word.kind) {
    case WORD_INTEGER:
        add(hash, counts ? 0 : (uint64_t)word.bits);
        break;
    case WORD_VIEW:
        add(hash, (uint64_t)word.bits);
        break;
    case WORD_TENSOR:
        add(hash, word.tensor->known ? word_identity(word) : 0);
        break;
    case WORD_UNKNOWN:
    case WORD_DESCRIPTOR:
    case WORD_NOTHING:
        break;
    }
}

/* Registers of the agent's strand, and those of loops that count their trips. */
static uint32_t next_register(const Family *family, uint32_t strand, uint32_t reg) {
    reg++;
    return reg < family->control && reg >= family->program.strands[strand].register_count ? family->control : reg;
}

static uint32_t first_register(const Family *family, uint32_t strand) {
    return family->program.strands[strand].register_count ? 0 : family->control;
}

static bool is_over(const Agent *agent) {
    return agent->status == AGENT_IDLE || agent->status == AGENT_ENDED;
}

static bool counts(const Family *family, uint32_t strand, uint32_t reg) {
    return family->counting[(size_t)strand * family->kept + reg];
}

static void add_agent(const Family *family, RecurrenceHash *hash, uint32_t index) {
    const State *state = family->machine->state;
    const Agent *agent = &state->agents[index];
    add(hash, (uint64_t)agent->status << 32 | agent->strand);
    if (is_over(agent))
        return;
    add(hash, (uint64_t)agent->pc << 32 | agent->effect);
    add(hash,
        (uint64_t)agent->barrier << 32 | (uint64_t)agent->parity << 16 | (uint64_t)agent->forced << 8 | agent->gate);
    add(hash, (uint64_t)agent->fork << 32 | agent->refused);
    add(hash, (uint64_t)agent->atomics << 32 | (agent->mmas - agent->finished));
    for (uint32_t i = 0; i < GROUP_KINDS; i++)
        add(hash, agent->groups[i]);
    if (agent->status == AGENT_NAMED)
        add(hash,
            (uint64_t)(state->named[agent->barrier].generation - agent->generation) << 1 | (agent->generation & 1));
    if (agent->status == AGENT_CLUSTER)
        add(hash,
            (uint64_t)(state->cluster[agent->barrier].generation - agent->generation) << 1 | (agent->generation & 1));
    for (uint32_t reg = first_register(family, agent->strand); reg < family->kept;
         reg = next_register(family, agent->strand, reg)) {
        bool only_counts = counts(family, agent->strand, reg);
        add_word(hash, family_words(family, index)[reg], only_counts);
        if (!only_counts)
            add_shifts(family, hash, &family_shifts(family, index)[reg]);
    }
}

/* The state of the machine where `agent` stands before an instruction, and of all observers. Who runs next is who runs
 * now: the schedule is the eager one. */
static void hash_state(const Family *family, uint32_t agent, uint64_t *a, uint64_t *b) {
    const Machine *machine = family->machine;
    const State *state = machine->state;
    RecurrenceHash *hash = family->hash;
    const StateVisit visit = {hash, add, add_epoch};
    hash->a = 1;
    hash->b = 2;
    hash->count = 0;
    for (uint32_t i = 0; i < hash->component_count; i++)
        hash->components[i].count = 0;
    add(hash, (uint64_t)agent << 32 | machine->slots_used);
    for (uint32_t i = 0; i < machine->agent_count; i++)
        add_agent(family, hash, i);
    for (uint32_t i = 0; i < machine->slot_count; i++) {
        const Barrier *barrier = &state->barriers[i];
        if (!barrier->life)
            continue;
        add(hash, (uint64_t)i << 32 | barrier->pending);
        add(hash, (uint64_t)barrier->bytes << 8 ^ (uint64_t)barrier->life << 1 ^ barrier->phase);
        add(hash, barrier->count);
    }
    for (uint32_t i = 0; i < machine->program->ctas * NAMED_BARRIERS; i++)
        if (state->named[i].generation || state->named[i].arrived) {
            add(hash, (uint64_t)i << 32 | state->named[i].expected);
            add(hash, (uint64_t)state->named[i].arrived << 1 | (state->named[i].generation & 1));
        }
    for (uint32_t i = 0; i < machine->cluster_barriers; i++) {
        add(hash, state->cluster[i].expected);
        add(hash, (uint64_t)state->cluster[i].arrived << 1 | (state->cluster[i].generation & 1));
    }
    for (uint32_t i = 0; i < state->cell_count; i++) {
        add(hash, state->cells[i].key);
        add_word(hash, state->cells[i].word, false);
    }
    add(hash, state->requests);
    add(hash, state->unread);
    family->visit(family->context, &visit);
    add_epochs(hash);
    *a = hash->a;
    *b = hash->b;
}

void family_prepare_hash(Family *family) {
    family->hash = ARENA_NEW(family->arena, RecurrenceHash);
    family->hash->arena = family->arena;
}

/* ---- Registers that count ------------------------------------------------------------------------- */

static void watch(Family *family, uint32_t agent) {
    uint32_t strand = family->machine->state->agents[agent].strand;
    for (uint32_t reg = first_register(family, strand); reg < family->kept; reg = next_register(family, strand, reg)) {
        Word word = family_words(family, agent)[reg];
        FamilyStreak *streak = &family->streaks[(size_t)agent * family->program.most_registers + reg];
        if (!word_is(word, WORD_INTEGER))
            continue;
        if (streak->known && word.bits != streak->last) {
            bool up = word.bits > streak->last;
            streak->up = up ? streak->up + 1 : 0;
            streak->down = up ? 0 : streak->down + 1;
            if (streak->up >= family->run.watches || streak->down >= family->run.watches)
                family->counting[(size_t)strand * family->kept + reg] = true;
        }
        streak->known = true;
        streak->last = word.bits;
    }
}

/* ---- Recurrences ---------------------------------------------------------------------------------- */

/* Room for a copy of all registers, and of their shifts. */
static void new_numbers(const Family *family, Word **words, Shifts **shifts) {
    size_t count = (size_t)family->machine->agent_count * family->program.most_registers;
    *words = ARENA_ARRAY(family->machine->arena, Word, count);
    *shifts = ARENA_ARRAY(family->machine->arena, Shifts, count);
}

static void keep_numbers(const Family *family, Word *words, Shifts *shifts) {
    size_t count = (size_t)family->machine->agent_count * family->program.most_registers;
    memcpy(words, family->machine->state->words, count * sizeof *words);
    memcpy(shifts, family->shifts, count * sizeof *shifts);
}

void family_entered(Family *family, uint32_t agent, uint32_t pc) {
    FamilySnapshot **at = &family->snapshots;
    while (*at) {
        FamilySnapshot *snapshot = *at;
        bool pending = false;
        for (uint32_t i = 0; i < family->count_count; i++)
            pending |= family->pending[i].is && family->pending[i].before == snapshot;
        if (snapshot->agent != agent || snapshot->pc != pc || pending) {
            at = &snapshot->next;
            continue;
        }
        *at = snapshot->next;
        snapshot->next = family->spare;
        family->spare = snapshot;
        family->snapshot_count--;
    }
}

static void keep(Family *family, uint32_t agent, uint32_t pc, uint32_t count, uint64_t a, uint64_t b) {
    Machine *machine = family->machine;
    if (family->snapshot_count >= MOST_SNAPSHOTS)
        return;
    FamilySnapshot *snapshot = family->spare;
    if (snapshot) {
        family->spare = snapshot->next;
    } else {
        snapshot = ARENA_NEW(machine->arena, FamilySnapshot);
        snapshot->mmas = ARENA_ARRAY(machine->arena, uint32_t, machine->agent_count);
        snapshot->finished = ARENA_ARRAY(machine->arena, uint32_t, machine->agent_count);
        new_numbers(family, &snapshot->words, &snapshot->shifts);
    }
    family->snapshot_count++;
    snapshot->next = family->snapshots;
    snapshot->a = a;
    snapshot->b = b;
    snapshot->agent = agent;
    snapshot->pc = pc;
    snapshot->count = count;
    keep_numbers(family, snapshot->words, snapshot->shifts);
    for (uint32_t i = 0; i < machine->agent_count; i++) {
        snapshot->mmas[i] = machine->state->agents[i].mmas;
        snapshot->finished[i] = machine->state->agents[i].finished;
    }
    family->snapshots = snapshot;
}

static Shift loose(void) {
    return (Shift){.kind = SHIFT_LOOSE};
}

/* In a longer run the register has grown by as much again, n times. Where it grows faster in another lane, the two
 * together make no line: only what all of it is a multiple of is known. */
static void shift_on(const Family *family, uint32_t lane, Shifts *shifts, const Shifts *before, int64_t grown,
                     int64_t grain) {
    for (uint32_t i = 0; i < family->lanes.count; i++) {
        Shift now = shifts->lanes[i], then = before->lanes[i];
        int64_t more;
        if (now.kind == then.kind && now.by == then.by)
            continue;
        if (i == lane || i % 2 || now.kind != SHIFT_EXACT || then.kind != SHIFT_EXACT ||
            __builtin_sub_overflow(now.by, then.by, &more) || more < 0 || now.by < 0 || grown < 0) {
            shifts->lanes[i] = loose();
            shifts->lanes[lane] = loose();
            continue;
        }
        shifts->lanes[i] = (Shift){shift_divisor(shift_divisor(now.by, more), grain), now.ends, SHIFT_MULTIPLE};
        shifts->lanes[lane] = shift_add(shifts->lanes[lane], (Shift){shift_divisor(more, grain), 0, SHIFT_MULTIPLE});
    }
    shifts->lanes[lane] = shift_add(shifts->lanes[lane], (Shift){grown, 0, SHIFT_EXACT});
}

static bool same_word(Word x, Word y) {
    if (x.kind != y.kind || x.meta != y.meta || x.cta != y.cta)
        return false;
    return x.bits == y.bits || (word_is(x, WORD_TENSOR) && word_identity(x) == word_identity(y));
}

static bool *uneven(const Family *family, uint32_t agent, uint32_t reg) {
    return &family->uneven[(size_t)family->machine->state->agents[agent].strand * family->kept + reg];
}

static int64_t *grain_of(const Family *family, uint32_t agent, uint32_t reg) {
    return &family->grains[(size_t)family->machine->state->agents[agent].strand * family->kept + reg];
}

static void shift_agent(const Family *family, uint32_t agent, uint32_t lane, const FamilySnapshot *before) {
    const Agent *state = &family->machine->state->agents[agent];
    FamilyAgent *own = &family->agents[agent];
    size_t first = (size_t)agent * family->program.most_registers;
    if (is_over(state))
        return;
    for (uint32_t reg = first_register(family, state->strand); reg < family->kept;
         reg = next_register(family, state->strand, reg)) {
        Word now = family_words(family, agent)[reg], then = before->words[first + reg];
        Shifts *shifts = &family_shifts(family, agent)[reg];
        int64_t grown;
        if (word_is(now, WORD_INTEGER) && word_is(then, WORD_INTEGER) && now.meta == then.meta) {
            if (*uneven(family, agent, reg) || __builtin_sub_overflow(now.bits, then.bits, &grown))
                *shifts = shifts_loose(&family->lanes);
            else
                shift_on(family, lane, shifts, &before->shifts[first + reg], grown, *grain_of(family, agent, reg));
        } else if (!same_word(now, then)) {
            shifts->lanes[lane] = loose();
        }
    }
    own->of_mmas.lanes[lane] =
        shift_add(own->of_mmas.lanes[lane], (Shift){(int64_t)state->mmas - before->mmas[agent], 0, SHIFT_EXACT});
    own->of_finished.lanes[lane] = shift_add(
        own->of_finished.lanes[lane], (Shift){(int64_t)state->finished - before->finished[agent], 0, SHIFT_EXACT});
}

static void spoil(Family *family, uint32_t count) {
    family->lanes.limits[2 * count] = 0;
}

/* Whether a number that has the shift `now` is one of those with the shift `then`. */
static bool is_within(Shift now, Shift then) {
    if (then.kind == SHIFT_LOOSE)
        return true;
    if (now.kind == SHIFT_LOOSE || (now.ends && (!then.ends || now.ends < then.ends)))
        return false;
    if (then.kind == SHIFT_EXACT)
        return now.kind == SHIFT_EXACT && now.by == then.by;
    return now.by >= 0 && shift_divisor(now.by, then.by) == then.by;
}

/* Whether a register grew by as much in the second time through the period as in the first, in longer runs, too. */
static bool grew_evenly(const Family *family, const FamilyPending *pending, uint32_t agent, uint32_t reg) {
    size_t at = (size_t)agent * family->program.most_registers + reg;
    Word now = family->machine->state->words[at], then = pending->words[at], first = pending->before->words[at];
    int64_t one, two;
    for (uint32_t i = 0; i < family->lanes.count; i++)
        if (!is_within(family->shifts[at].lanes[i], pending->shifts[at].lanes[i]))
            return false;
    if (!word_is(now, WORD_INTEGER) || pending->shifts[at].lanes[pending->lane].kind == SHIFT_LOOSE)
        return true;
    return !__builtin_sub_overflow(then.bits, first.bits, &one) && !__builtin_sub_overflow(now.bits, then.bits, &two) &&
           one == two;
}

/* It grew by multiples of less than was taken for granted: then that is taken for granted from now on. False: it did
 * not, or that is nothing. */
static bool learn_grain(const Family *family, const FamilyPending *pending, uint32_t agent, uint32_t reg) {
    size_t at = (size_t)agent * family->program.most_registers + reg;
    int64_t *grain = grain_of(family, agent, reg), before = *grain;
    for (uint32_t i = 0; i < family->lanes.count; i++) {
        Shift now = family->shifts[at].lanes[i], then = pending->shifts[at].lanes[i];
        if (then.kind == SHIFT_MULTIPLE && now.kind != SHIFT_LOOSE && now.by > 0)
            *grain = shift_divisor(*grain, shift_divisor(now.by, then.by));
    }
    return *grain != before && *grain != 1;
}

/* Registers that count are not in the hash of a state. Of one that did not grow evenly, nothing is known in later runs.
 */
static bool all_grew_evenly(Family *family, const FamilyPending *pending) {
    bool all = true;
    for (uint32_t i = 0; i < family->machine->agent_count; i++) {
        const Agent *agent = &family->machine->state->agents[i];
        if (is_over(agent))
            continue;
        for (uint32_t reg = first_register(family, agent->strand); reg < family->kept;
             reg = next_register(family, agent->strand, reg))
            if (!grew_evenly(family, pending, i, reg)) {
                *uneven(family, i, reg) = !learn_grain(family, pending, i, reg);
                family->learned = true;
                all = false;
            }
    }
    return all;
}

/* The second time through the period is over. */
static void settle(Family *family, uint32_t agent, uint32_t pc, uint32_t count, int64_t at) {
    FamilyPending *pending = &family->pending[count];
    uint64_t a, b;
    if (!pending->is || pending->agent != agent || pending->pc != pc || at < pending->at)
        return;
    hash_state(family, agent, &a, &b);
    if (at != pending->at || a != pending->a || b != pending->b || !all_grew_evenly(family, pending))
        spoil(family, count);
    pending->is = false;
}

/* The loop has yet to be made longer, by so much. */
static void look_back(Family *family, uint32_t agent, uint32_t pc, uint32_t count, int64_t longer) {
    const Instruction *instruction = &family->program.code[pc];
    TripCount *trips = &family->counts[count];
    int64_t at = family_words(family, agent)[instruction->dst].bits;
    size_t reg = (size_t)agent * family->program.most_registers + instruction->dst;
    int64_t left = family_words(family, agent)[instruction->b].bits - at;
    uint64_t a, b;
    uint32_t *anchor = &family->anchors[count];
    if (!family->run.measures && left < longer) /* there is no room for the period once more */
        return;
    if (family->machine->state->outstanding_count || family->snapshot_count >= MOST_SNAPSHOTS ||
        (*anchor && *anchor != agent + 1))
        return;
    *anchor = agent + 1;
    hash_state(family, agent, &a, &b);
    for (const FamilySnapshot *before = family->snapshots; before; before = before->next) {
        if (before->a != a || before->b != b || before->agent != agent || before->pc != pc || before->count != count)
            continue;
        int64_t grown = at - before->words[reg].bits;
        if (family->run.measures && !trips->period && grown > 0 && longer > 0 && grown % longer == 0)
            trips->period = grown / longer;
        if (family->run.measures || grown != longer)
            continue;
        if (family->pending[count].is)
            spoil(family, count);
        for (uint32_t i = 0; i < family->machine->agent_count; i++)
            shift_agent(family, i, 2 * count, before);
        family->pending[count] = (FamilyPending){.is = true,
                                                 .agent = agent,
                                                 .pc = pc,
                                                 .lane = 2 * count,
                                                 .at = at + grown,
                                                 .a = a,
                                                 .b = b,
                                                 .before = before};
        new_numbers(family, &family->pending[count].words, &family->pending[count].shifts);
        keep_numbers(family, family->pending[count].words, family->pending[count].shifts);
        *anchor = 0; /* another agent may have yet to come to a loop of this trip count */
        return;
    }
    if (family->run.measures || left >= 2 * longer)
        keep(family, agent, pc, count, a, b);
}

void family_head(Family *family, uint32_t agent, uint32_t pc) {
    const Instruction *instruction = &family->program.code[pc];
    const Word *words = family_words(family, agent);
    const Shifts *shifts = family_shifts(family, agent);
    if (family->run.watches)
        watch(family, agent);
    if (!word_is(words[instruction->dst], WORD_INTEGER) || !word_is(words[instruction->b], WORD_INTEGER))
        return;
    for (uint32_t i = 0; i < family->count_count && !family->run.watches; i++) {
        Shift at = shifts[instruction->dst].lanes[2 * i], end = shifts[instruction->b].lanes[2 * i];
        settle(family, agent, pc, i, words[instruction->dst].bits);
        if (at.kind == SHIFT_EXACT && end.kind == SHIFT_EXACT && at.by != end.by)
            look_back(family, agent, pc, i, end.by - at.by);
    }
}
