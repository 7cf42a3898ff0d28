/* Clocks with a memory of who told whom. */
#include "machine/tile/schedule/clocks.h"

enum {
    RAISES = 8, /* kept of each agent and component */
    MARKS = 64, /* groups that can be open at a time */
    LATEST = 2, /* meetings of one named barrier that something may still have to leave */
    RECENT = 4, /* complete phases of an mbarrier that something may still wait for */
    MOST_SLOTS = 4096,
    NO_AGENT = UINT16_MAX,
};

/* Kinds of groups that are waited for together. */
typedef enum GroupClass { KIND_COPY, KIND_WGMMA, KIND_STORE, KIND_AMD_TENSOR, CLASSES } GroupClass;

/* Of each agent: what it did, its tensor-core work, and from PART_GROUPS on two for each class of groups. */
enum { PART_OWN, PART_TENSOR, PART_GROUPS };

typedef struct ScheduleClock {
    uint32_t *values;
    uint16_t *via; /* who brought the value; NULL for the clocks of agents */
} ScheduleClock;

/* Of one mbarrier; without values until it is used. */
typedef struct ClockPhase {
    ScheduleClock coming;       /* what has come into the current phase */
    ScheduleClock done[RECENT]; /* what those that are complete say, by generation */
} ClockPhase;

/* A named or cluster barrier. */
typedef struct ClockBarrierInstance {
    ScheduleClock coming, done[LATEST]; /* by generation */
} ClockBarrierInstance;

typedef struct ClockRaises {
    Raise items[RAISES];
    uint32_t count; /* in all; the last RAISES of them are kept */
} ClockRaises;

typedef struct ClockGroup {
    uint32_t operations, commits;
    uint32_t marks[MARKS]; /* by number of the commit: operations until then */
} ClockGroup;

struct Clocks {
    Machine *machine;
    Arena *arena;
    uint32_t agents, parts, own, size; /* own: components of agents; those of barriers come behind */
    uint8_t classes[CLASSES];          /* where the class's two parts are, less PART_GROUPS; only those in use */
    bool used[CLASSES];
    bool commits; /* the kernel commits its products itself */
    bool overflowed;
    ScheduleClock *clocks; /* of agents */
    ScheduleClock *fenced; /* of agents: what each knew at its last fence that releases to the cluster */
    uint32_t *work;        /* of agents: tensor-core operations */
    ClockGroup *groups;    /* [agent][class] */
    ClockPhase *phases;
    ClockBarrierInstance *barrier_instances; /* named barriers, then cluster barriers */
    uint32_t barrier_instance_count;
    ClockRaises *raises; /* [agent][component] */
};

/* ---- Components ----------------------------------------------------------------------------------- */

static GroupClass class_of(GroupKind kind) {
    switch (kind) {
    case GROUP_WGMMA:
        return KIND_WGMMA;
    case GROUP_CP_ASYNC:
    case GROUP_AMD_ASYNC:
        return KIND_COPY;
    case GROUP_AMD_TENSOR:
        return KIND_AMD_TENSOR;
    default:
        return KIND_STORE;
    }
}

static uint32_t part(const Clocks *clocks, uint32_t agent, uint32_t which) {
    return agent * clocks->parts + which;
}

static uint32_t group_part(const Clocks *clocks, uint32_t agent, GroupClass class, bool reads) {
    return part(clocks, agent, PART_GROUPS + clocks->classes[class] + !reads);
}

/* Those in use come first, of all CTAs. */
static uint32_t barrier_part(const Clocks *clocks, uint32_t barrier) {
    const Machine *machine = clocks->machine;
    return clocks->own + barrier % machine->slots_per_cta * machine->program->ctas + barrier_cta(machine, barrier);
}

static ClockGroup *group_of(const Clocks *clocks, uint32_t agent, GroupClass class) {
    return &clocks->groups[(size_t)agent * CLASSES + class];
}

/* How much of a clock can be other than zero. */
static uint32_t length(const Clocks *clocks) {
    return clocks->own + clocks->machine->slots_used * clocks->machine->program->ctas;
}

uint32_t clocks_agent(const Clocks *clocks, uint32_t component) {
    return component < clocks->own ? component / clocks->parts : UINT32_MAX;
}

/* ---- Life ----------------------------------------------------------------------------------------- */

static ScheduleClock new_clock(const Clocks *clocks) {
    return (ScheduleClock){ARENA_ARRAY(clocks->arena, uint32_t, clocks->size),
                           ARENA_ARRAY(clocks->arena, uint16_t, clocks->size)};
}

/* Which kinds of groups the program has, and whether it commits. */
static void look_through(Clocks *clocks) {
    const Program *program = clocks->machine->program;
    for (uint32_t i = 0; i < program->effect_count; i++) {
        const Effect *effect = &program->effects[i].effect;
        if (effect->group != GROUP_NONE)
            clocks->used[class_of(effect->group)] = true;
        clocks->commits |=
            effect->verb == EFFECT_ARRIVE && effect->done == DONE_COMMIT && effect->helper == HELPER_TENSOR;
    }
    clocks->parts = PART_GROUPS;
    for (uint32_t i = 0; i < CLASSES; i++)
        if (clocks->used[i]) {
            clocks->classes[i] = (uint8_t)(clocks->parts - PART_GROUPS);
            clocks->parts += 2;
        }
}

Clocks *clocks_create(Arena *arena, Machine *machine, const char **problem) {
    if (machine->agent_count > MOST_AGENTS || machine->slot_count > MOST_SLOTS) {
        *problem = "the kernel has more agents or barriers than clocks are kept for";
        return NULL;
    }
    Clocks *clocks = ARENA_NEW(arena, Clocks);
    clocks->machine = machine;
    clocks->arena = arena;
    clocks->agents = machine->agent_count;
    look_through(clocks);
    clocks->own = clocks->agents * clocks->parts;
    clocks->size = clocks->own + machine->slot_count;
    clocks->clocks = ARENA_ARRAY(arena, ScheduleClock, clocks->agents);
    clocks->fenced = ARENA_ARRAY(arena, ScheduleClock, clocks->agents);
    clocks->work = ARENA_ARRAY(arena, uint32_t, clocks->agents);
    clocks->groups = ARENA_ARRAY(arena, ClockGroup, (size_t)clocks->agents * CLASSES);
    clocks->raises = ARENA_ARRAY(arena, ClockRaises, (size_t)clocks->agents * clocks->size);
    for (uint32_t i = 0; i < clocks->agents; i++)
        clocks->clocks[i].values = ARENA_ARRAY(arena, uint32_t, clocks->size);
    clocks->phases = ARENA_ARRAY(arena, ClockPhase, machine->slot_count);
    clocks->barrier_instance_count = machine->program->ctas * NAMED_BARRIERS + machine->cluster_barriers;
    clocks->barrier_instances = ARENA_ARRAY(arena, ClockBarrierInstance, clocks->barrier_instance_count);
    return clocks;
}

static void clear(const Clocks *clocks, ScheduleClock clock) {
    if (clock.values)
        memset(clock.values, 0, length(clocks) * sizeof *clock.values);
}

static void clear_phase(const Clocks *clocks, const ClockPhase *phase) {
    clear(clocks, phase->coming);
    for (uint32_t i = 0; i < RECENT; i++)
        clear(clocks, phase->done[i]);
}

void clocks_start(Clocks *clocks) {
    const Machine *machine = clocks->machine;
    for (uint32_t i = 0; i < clocks->agents; i++) {
        clear(clocks, clocks->clocks[i]);
        clear(clocks, clocks->fenced[i]);
        for (uint32_t k = 0, end = length(clocks); k < end; k++)
            clocks->raises[(size_t)i * clocks->size + k].count = 0;
    }
    memset(clocks->work, 0, clocks->agents * sizeof *clocks->work);
    memset(clocks->groups, 0, (size_t)clocks->agents * CLASSES * sizeof *clocks->groups);
    for (uint32_t cta = 0; cta < machine->program->ctas; cta++)
        for (uint32_t i = 0; i < machine->slots_used; i++)
            clear_phase(clocks, &clocks->phases[cta * machine->slots_per_cta + i]);
    for (uint32_t i = 0; i < clocks->barrier_instance_count; i++) {
        clear(clocks, clocks->barrier_instances[i].coming);
        for (uint32_t k = 0; k < LATEST; k++)
            clear(clocks, clocks->barrier_instances[i].done[k]);
    }
}

bool clocks_overflowed(const Clocks *clocks) {
    return clocks->overflowed;
}

/* ---- Telling and learning ------------------------------------------------------------------------- */

static ClockPhase *phase_of(Clocks *clocks, uint32_t barrier) {
    ClockPhase *phase = &clocks->phases[barrier];
    if (!phase->coming.values) {
        phase->coming = new_clock(clocks);
        for (uint32_t i = 0; i < RECENT; i++)
            phase->done[i] = new_clock(clocks);
    }
    return phase;
}

static ClockBarrierInstance *barrier_instance_of(Clocks *clocks, const Event *event) {
    bool cluster = event->kind == EVENT_CLUSTER_ARRIVE || event->kind == EVENT_CLUSTER_COMPLETE ||
                   event->kind == EVENT_CLUSTER_WAIT;
    uint32_t first = cluster ? clocks->machine->program->ctas * NAMED_BARRIERS : 0;
    ClockBarrierInstance *barrier_instance = &clocks->barrier_instances[first + event->barrier];
    if (!barrier_instance->coming.values) {
        barrier_instance->coming = new_clock(clocks);
        for (uint32_t i = 0; i < LATEST; i++)
            barrier_instance->done[i] = new_clock(clocks);
    }
    return barrier_instance;
}

static void report_one(ScheduleClock to, uint32_t component, uint32_t value, uint32_t agent) {
    if (to.values[component] >= value)
        return;
    to.values[component] = value;
    to.via[component] = (uint16_t)agent;
}

static void report_values(const Clocks *clocks, ScheduleClock to, const uint32_t *values, uint32_t agent) {
    for (uint32_t i = 0, end = length(clocks); i < end; i++)
        if (values[i] > to.values[i]) {
            to.values[i] = values[i];
            to.via[i] = (uint16_t)agent;
        }
}

/* The agent leaves all that it knows. */
static void report(const Clocks *clocks, ScheduleClock to, uint32_t agent) {
    report_values(clocks, to, clocks->clocks[agent].values, agent);
}

/* What is over hands on what it gathered, and begins again. */
static void move(const Clocks *clocks, ScheduleClock to, ScheduleClock from) {
    memcpy(to.values, from.values, length(clocks) * sizeof *to.values);
    memcpy(to.via, from.via, length(clocks) * sizeof *to.via);
    clear(clocks, from);
}

static void raise_one(Clocks *clocks, uint32_t agent, uint32_t component, Raise raise) {
    uint32_t *value = &clocks->clocks[agent].values[component];
    if (*value >= raise.value)
        return;
    *value = raise.value;
    ClockRaises *raises = &clocks->raises[(size_t)agent * clocks->size + component];
    raises->items[raises->count++ % RAISES] = raise;
}

/* The agent takes up what was left; where nothing is named, `how` says who did. */
static void learn(Clocks *clocks, uint32_t agent, ScheduleClock from, Raise how) {
    const uint32_t *values = clocks->clocks[agent].values;
    if (!from.values) /* nothing has left anything yet */
        return;
    for (uint32_t i = 0, end = length(clocks); i < end; i++)
        if (from.values[i] > values[i]) {
            how.value = from.values[i];
            how.via = from.via ? from.via[i] : how.via;
            raise_one(clocks, agent, i, how);
        }
}

static Raise raise_by(RaiseKind kind, const Event *event, uint32_t via) {
    return (Raise){.kind = (uint8_t)kind, .pc = event->pc, .barrier = event->barrier, .via = (uint16_t)via};
}

/* ---- Events --------------------------------------------------------------------------------------- */

bool clocks_immediate(const Clocks *clocks, const CompiledEffect *access) {
    const Effect *effect = &access->effect;
    /* Where commits are written out, products are asynchronous, said or not. */
    return (effect->done == DONE_NOW || effect->done == DONE_TOKEN) &&
           !(effect->helper == HELPER_TENSOR && clocks->commits);
}

/* A commit: all tensor-core work of the agent until now. */
static void report_work(const Clocks *clocks, ScheduleClock to, uint32_t agent) {
    report_one(to, part(clocks, agent, PART_TENSOR), clocks->work[agent], agent);
}

static void report_groups(const Clocks *clocks, ScheduleClock to, uint32_t agent, GroupClass class) {
    if (!clocks->used[class])
        return;
    uint32_t operations = group_of(clocks, agent, class)->operations;
    report_one(to, group_part(clocks, agent, class, true), operations, agent);
    report_one(to, group_part(clocks, agent, class, false), operations, agent);
}

/* An asynchronous operation is complete. The bytes of a copy say that it is, and no more. */
static void signaled(Clocks *clocks, const Event *event) {
    const Effect *effect = &event->effect->effect;
    ScheduleClock to = phase_of(clocks, event->barrier)->coming;
    if (event->outstanding && event->outstanding->kind == OUTSTANDING_BYTES)
        return;
    if (effect->done == DONE_COPIES) {
        report_groups(clocks, to, event->agent, KIND_COPY);
        return;
    }
    report(clocks, to, event->agent);
    if (effect->done == DONE_COMMIT)
        report_work(clocks, to, event->agent);
    if (effect->done == DONE_GROUP)
        report_groups(clocks, to, event->agent, class_of(effect->group));
}

static void flipped(Clocks *clocks, const Event *event) {
    ClockPhase *phase = phase_of(clocks, event->barrier);
    uint32_t generation = event->state->barriers[event->barrier].generation;
    ScheduleClock done = phase->done[generation % RECENT];
    move(clocks, done, phase->coming);
    report_one(done, barrier_part(clocks, event->barrier), generation, event->agent);
}

/* A wait by parity may have gone on with any phase of that parity that was not known to be over: in another schedule it
 * is the first of them, whatever it was here. */
static void waited(Clocks *clocks, const Event *event) {
    const Barrier *barrier = &event->state->barriers[event->barrier];
    uint32_t known = clocks->clocks[event->agent].values[barrier_part(clocks, event->barrier)];
    uint32_t least = known > barrier->born ? known : barrier->born;
    uint32_t first = least + ((barrier->generation - least) & 1);
    if (first == barrier->born || barrier->generation - first >= RECENT)
        return;
    learn(clocks, event->agent, phase_of(clocks, event->barrier)->done[first % RECENT],
          raise_by(RAISE_WAIT, event, NO_AGENT));
}

static void accessed(Clocks *clocks, const Event *event) {
    const Effect *effect = &event->effect->effect;
    uint32_t *count = effect->done == DONE_GROUP ? &group_of(clocks, event->agent, class_of(effect->group))->operations
                      : effect->done != DONE_TX && !clocks_immediate(clocks, event->effect)
                          ? &clocks->work[event->agent]
                          : NULL;
    if (count)
        clocks->overflowed |= ++*count == UINT32_MAX;
}

static void committed(Clocks *clocks, const Event *event) {
    ClockGroup *group = group_of(clocks, event->agent, class_of(event->effect->effect.group));
    clocks->overflowed |= ++group->commits == UINT32_MAX;
    group->marks[group->commits % MARKS] = group->operations;
}

/* All but the youngest groups are over. */
static void awaited(Clocks *clocks, const Event *event) {
    const Effect *effect = &event->effect->effect;
    GroupClass class = class_of(effect->group);
    const ClockGroup *group = group_of(clocks, event->agent, class);
    if (event->amount < 0 || event->amount >= MARKS || group->commits <= event->amount)
        return;
    Raise raise = raise_by(RAISE_AWAIT, event, event->agent);
    raise.value = group->marks[(group->commits - (uint32_t)event->amount) % MARKS];
    raise_one(clocks, event->agent, group_part(clocks, event->agent, class, true), raise);
    if (!effect->sources)
        raise_one(clocks, event->agent, group_part(clocks, event->agent, class, false), raise);
}

/* A relaxed arrival at the cluster's barrier tells what was known at the fence before it. */
static void fenced(Clocks *clocks, const Event *event) {
    ScheduleClock *clock = &clocks->fenced[event->agent];
    if (clocks->machine->program->ctas < 2 || !effect_releases_to_cluster(&event->effect->effect))
        return;
    if (!clock->values)
        clock->values = ARENA_ARRAY(clocks->arena, uint32_t, clocks->size);
    memcpy(clock->values, clocks->clocks[event->agent].values, length(clocks) * sizeof *clock->values);
}

static void forked_or_joined(Clocks *clocks, const Event *event) {
    uint32_t agent = event->agent, each = clocks->machine->program->agents_per_cta;
    uint32_t first = agent - agent % each + 1, count = event->kind == EVENT_FORK ? (uint32_t)event->amount : each - 1;
    for (uint32_t k = first; k < first + count; k++)
        if (event->kind == EVENT_FORK)
            learn(clocks, k, clocks->clocks[agent], raise_by(RAISE_FORK, event, agent));
        else
            learn(clocks, agent, clocks->clocks[k], raise_by(RAISE_JOIN, event, k));
}

/* Generations of a barrier instance are distinguished by this, while something still has to leave the one before. */
static uint32_t turn(uint32_t generation) {
    return generation % LATEST;
}

void clocks_observe(Clocks *clocks, const Event *event) {
    uint32_t agent = event->agent;
    uint32_t *own = &clocks->clocks[agent].values[part(clocks, agent, PART_OWN)];
    clocks->overflowed |= ++*own == UINT32_MAX;
    switch (event->kind) {
    case EVENT_ACCESS:
        accessed(clocks, event);
        break;
    case EVENT_INIT:
        clear_phase(clocks, phase_of(clocks, event->barrier));
        break;
    case EVENT_EXPECT:
    case EVENT_ARRIVE:
        report(clocks, phase_of(clocks, event->barrier)->coming, agent);
        break;
    case EVENT_DELIVER:
    case EVENT_SIGNAL:
        signaled(clocks, event);
        break;
    case EVENT_FLIP:
        flipped(clocks, event);
        break;
    case EVENT_WAIT:
        waited(clocks, event);
        break;
    case EVENT_COMMIT:
        committed(clocks, event);
        break;
    case EVENT_AWAIT:
        awaited(clocks, event);
        break;
    case EVENT_FORK:
    case EVENT_JOIN:
        forked_or_joined(clocks, event);
        break;
    case EVENT_CLUSTER_ARRIVE:
        if (!event->effect->effect.relaxed)
            report(clocks, barrier_instance_of(clocks, event)->coming, agent);
        else if (clocks->fenced[agent].values)
            report_values(clocks, barrier_instance_of(clocks, event)->coming, clocks->fenced[agent].values, agent);
        break;
    case EVENT_FENCE:
        fenced(clocks, event);
        break;
    case EVENT_NAMED_ARRIVE:
        report(clocks, barrier_instance_of(clocks, event)->coming, agent);
        break;
    case EVENT_NAMED_COMPLETE:
    case EVENT_CLUSTER_COMPLETE: {
        const Rendezvous *met = event->kind == EVENT_NAMED_COMPLETE ? &event->state->named[event->barrier]
                                                                    : &event->state->cluster[event->barrier];
        ClockBarrierInstance *barrier_instance = barrier_instance_of(clocks, event);
        move(clocks, barrier_instance->done[turn(met->generation - 1)], barrier_instance->coming);
        break;
    }
    case EVENT_NAMED_SYNC:
    case EVENT_CLUSTER_WAIT:
        learn(clocks, agent, barrier_instance_of(clocks, event)->done[turn(event->state->agents[agent].generation)],
              raise_by(event->kind == EVENT_NAMED_SYNC ? RAISE_NAMED : RAISE_CLUSTER, event, NO_AGENT));
        break;
    default:
        break;
    }
}

/* ---- Asking --------------------------------------------------------------------------------------- */

/* In which CTA the barrier is that an op signals when its copy is over, by XOR with the issuer's: that which the signal
 * names, also for what the copy reads in its own. */
static uint32_t toward_signal(const Machine *machine, const Event *access, const Word *words) {
    const Instruction *instruction = &machine->program->code[access->pc];
    for (uint32_t i = 0; i < instruction->a; i++) {
        const CompiledEffect *effect = &machine->program->effects[instruction->aux + i];
        if (effect->effect.verb == EFFECT_COMPLETE && effect->rank != NO_REGISTER && machine->program->ctas > 1 &&
            word_is(words[effect->rank], WORD_INTEGER))
            return (uint32_t)words[effect->rank].bits ^ agent_cta(machine, access->agent);
    }
    return access->toward;
}

/* The barrier on which the bytes of an access count, and the phase that they are part of. */
static Epoch stamp_of_bytes(Clocks *clocks, const Event *access) {
    Machine *machine = clocks->machine;
    const Instruction *instruction = &machine->program->code[access->pc];
    Epoch unknown = {NO_COMPONENT, 0};
    if (access->effect->through == NO_REGISTER)
        return unknown;
    const Word *words = &access->state->words[(size_t)access->agent * machine->program->most_registers];
    Word view = words[access->effect->through];
    if (!word_is(view, WORD_VIEW))
        return unknown;
    uint32_t shared = 0; /* the op's own signal says which CTAs share the barrier */
    for (uint32_t i = 0; i < instruction->a; i++)
        shared |= machine->program->effects[instruction->aux + i].shared_bits;
    int64_t byte = (int32_t)(view.bits & UINT32_MAX) + (int64_t)(int32_t)(view.bits >> 32);
    uint32_t toward = toward_signal(machine, access, words);
    uint32_t slot = machine_slot(machine, (view.cta ^ toward) & ~shared, view.meta, byte);
    if (slot == UINT32_MAX)
        return unknown;
    return (Epoch){barrier_part(clocks, slot), access->state->barriers[slot].generation + 1};
}

Epoch clocks_now(const Clocks *clocks, uint32_t agent) {
    uint32_t component = part(clocks, agent, PART_OWN);
    return (Epoch){component, clocks->clocks[agent].values[component]};
}

Epoch clocks_epoch(Clocks *clocks, const Event *access) {
    const Effect *effect = &access->effect->effect;
    uint32_t agent = access->agent;
    if (clocks_immediate(clocks, access->effect))
        return clocks_now(clocks, agent);
    switch (effect->done) {
    case DONE_TX:
        return stamp_of_bytes(clocks, access);
    case DONE_GROUP: {
        GroupClass class = class_of(effect->group);
        return (Epoch){group_part(clocks, agent, class, effect->verb == EFFECT_READ),
                       group_of(clocks, agent, class)->operations};
    }
    default:
        return (Epoch){part(clocks, agent, PART_TENSOR), clocks->work[agent]};
    }
}

bool clocks_know(const Clocks *clocks, uint32_t agent, Epoch stamp) {
    return stamp.component != NO_COMPONENT && clocks->clocks[agent].values[stamp.component] >= stamp.value;
}

bool clocks_follow(const Clocks *clocks, const Event *access, Epoch stamp) {
    if (clocks_know(clocks, access->agent, stamp))
        return true;
    return access->effect->effect.helper == HELPER_TENSOR && !clocks_immediate(clocks, access->effect) &&
           !clocks->machine->out_of_order && stamp.component == part(clocks, access->agent, PART_TENSOR);
}

const Raise *clocks_raise(const Clocks *clocks, uint32_t agent, Epoch stamp) {
    if (stamp.component == NO_COMPONENT)
        return NULL;
    const ClockRaises *raises = &clocks->raises[(size_t)agent * clocks->size + stamp.component];
    uint32_t first = raises->count > RAISES ? raises->count - RAISES : 0;
    for (uint32_t i = first; i < raises->count; i++)
        if (raises->items[i % RAISES].value >= stamp.value)
            return &raises->items[i % RAISES];
    return NULL;
}

/* ---- The state ------------------------------------------------------------------------------------ */

/* A clock that knows nothing is behind every other, however far that is. */
static void visit_clock(const Clocks *clocks, ScheduleClock clock, const StateVisit *visit) {
    bool knows = false;
    for (uint32_t i = 0, end = clock.values ? length(clocks) : 0; i < end && !knows; i++)
        knows = clock.values[i] != 0;
    visit_number(visit, knows);
    for (uint32_t i = 0, end = knows ? length(clocks) : 0; i < end; i++)
        visit_epoch(visit, i, clock.values[i]);
}

/* Of the groups that are committed: those that a wait can leave pending, by how many came after. */
static void visit_group(const Clocks *clocks, uint32_t agent, GroupClass class, const StateVisit *visit) {
    const ClockGroup *group = group_of(clocks, agent, class);
    uint32_t kept = group->commits < MARKS ? group->commits : MARKS - 1, longest = 0;
    const Program *program = clocks->machine->program;
    for (uint32_t i = 0; i < program->effect_count; i++) {
        const Effect *effect = &program->effects[i].effect;
        if (effect->verb == EFFECT_AWAIT && effect->count > longest)
            longest = effect->count < MARKS ? (uint32_t)effect->count : MARKS;
    }
    for (uint32_t reads = 0; clocks->used[class] && reads < 2; reads++) {
        uint32_t component = group_part(clocks, agent, class, reads);
        visit_epoch(visit, component, group->operations);
        visit_number(visit, group->commits <= longest ? group->commits : longest + 1);
        for (uint32_t k = 0; k < kept && k <= longest; k++)
            visit_epoch(visit, component, group->marks[(group->commits - k) % MARKS]);
    }
}

/* The phase of a barrier that all agents know to be over, or an older one: what it said is in their clocks, and no wait
 * asks for it any more. A partition that is not running takes up the clock of the agent that starts it. */
static uint32_t known_by_all(const Clocks *clocks, uint32_t barrier) {
    const Machine *machine = clocks->machine;
    uint32_t least = machine->state->barriers[barrier].generation;
    for (uint32_t i = 0; i < clocks->agents; i++) {
        AgentStatus status = machine->state->agents[i].status;
        uint32_t known = clocks->clocks[i].values[barrier_part(clocks, barrier)];
        if (status != AGENT_IDLE && status != AGENT_ENDED && known < least)
            least = known;
    }
    uint32_t born = machine->state->barriers[barrier].born;
    return least > born ? least : born;
}

void clocks_visit(const Clocks *clocks, const StateVisit *visit) {
    const Machine *machine = clocks->machine;
    for (uint32_t i = 0; i < clocks->agents; i++) {
        visit_clock(clocks, clocks->clocks[i], visit);
        visit_clock(clocks, clocks->fenced[i], visit);
        visit_epoch(visit, part(clocks, i, PART_TENSOR), clocks->work[i]);
        for (uint32_t k = 0; k < CLASSES; k++)
            visit_group(clocks, i, (GroupClass)k, visit);
    }
    for (uint32_t cta = 0; cta < machine->program->ctas; cta++)
        for (uint32_t i = 0; i < machine->slots_used; i++) {
            uint32_t barrier = cta * machine->slots_per_cta + i;
            const ClockPhase *phase = &clocks->phases[barrier];
            const Barrier *state = &machine->state->barriers[barrier];
            visit_epoch(visit, barrier_part(clocks, barrier), state->generation);
            visit_clock(clocks, phase->coming, visit);
            uint32_t known = known_by_all(clocks, barrier);
            visit_number(visit, known == state->born);
            if (known == state->born)
                visit_epoch(visit, barrier_part(clocks, barrier), state->born);
            for (uint32_t k = 0; k < RECENT && state->generation - known > k; k++)
                visit_clock(clocks, phase->done[(state->generation - k) % RECENT], visit);
        }
    for (uint32_t i = 0; i < clocks->barrier_instance_count; i++) {
        const ClockBarrierInstance *instance = &clocks->barrier_instances[i];
        uint32_t named = machine->program->ctas * NAMED_BARRIERS;
        uint32_t generation =
            i < named ? machine->state->named[i].generation : machine->state->cluster[i - named].generation;
        if (!instance->coming.values)
            continue;
        visit_number(visit, i);
        visit_clock(clocks, instance->coming, visit);
        for (uint32_t k = 0; k < LATEST; k++)
            visit_clock(clocks, instance->done[turn(generation + k)], visit);
    }
}
