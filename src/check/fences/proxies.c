/* Ordinary and asynchronous accesses to shared memory, and the fences between them. */
#include "check/fences/internal.h"

#include "model/effect/unknown.h"

enum { SPANS = 1024, BUCKETS = 1 << 10, MOST_ORDINARY = 1 << 12 };
static const uint64_t most_work = UINT64_C(1) << 30;
static const char *const too_many = "there are more accesses than are kept";

static void *take(void *context, size_t size) {
    return arena_zalloc(context, size);
}

/* ---- Life ----------------------------------------------------------------------------------------- */

/* mbarriers, then named barriers, then cluster barriers. */
static uint32_t barrier_count(const Machine *machine) {
    return machine->slot_count + machine->program->ctas * NAMED_BARRIERS + machine->cluster_barriers;
}

Proxies *proxies_create(Arena *arena, Machine *machine, const char **problem) {
    const Program *program = machine->program;
    Clocks *clocks = clocks_create(arena, machine, problem);
    if (!clocks)
        return NULL;
    Proxies *proxies = ARENA_NEW(arena, Proxies);
    proxies->arena = arena;
    proxies->machine = machine;
    proxies->clocks = clocks;
    ConsanSize size = {.agents = 1, .homes = program->ctas, .spans = SPANS, .barriers = 1};
    (void)consan_create(&proxies->engine, &size, take, arena);
    proxies->spans = spans_create(arena, program->module, &proxies->engine);
    proxies->marks = ARENA_ARRAY(arena, uint64_t, (size_t)proxies->engine.word_capacity * CONSAN_LANES);
    proxies->buckets = ARENA_ARRAY(arena, Ordinary *, BUCKETS);
    if (program->unknowns)
        proxies->unknowns_at = ARENA_ARRAY(arena, uint32_t, program->code_count);
    proxies->arrivals = ARENA_ARRAY(arena, uint32_t, (size_t)barrier_count(machine) * machine->agent_count);
    proxies->last_fences = ARENA_ARRAY(arena, uint32_t, machine->agent_count);
    proxies->seen = ARENA_ARRAY(arena, bool, program->effect_count + 1);
    proxies->empty_befores = ARENA_ARRAY(arena, uint32_t, program->code_count + 1);
    for (uint32_t i = 0; i < program->effect_count; i++)
        proxies->pairs |= program->effects[i].effect.pair;
    proxies_edit(proxies, NULL, 0, NULL, 0);
    return proxies;
}

void proxies_edit(Proxies *proxies, const FencePoint *points, size_t point_count, const Op *const *without,
                  size_t without_count) {
    uint32_t code = proxies->machine->program->code_count;
    proxies->points = points;
    proxies->point_count = point_count;
    proxies->without = without;
    proxies->without_count = without_count;
    proxies->count = 0;
    proxies->uses = ARENA_ARRAY(proxies->arena, uint8_t, code + point_count + 1);
    memset(proxies->empty_befores, 0xff, code * sizeof *proxies->empty_befores);
}

void proxies_start(Proxies *proxies, uint64_t cluster, bool same_launch) {
    const Machine *machine = proxies->machine;
    clocks_start(proxies->clocks);
    for (uint32_t i = 0; i < proxies->ordinary_count; i++)
        proxies->ordinary[i]->live = false;
    for (uint32_t i = 0; i < proxies->asynchronous_count; i++)
        proxies->asynchronous[i].live = false;
    memset(proxies->arrivals, 0xff, (size_t)barrier_count(machine) * machine->agent_count * sizeof *proxies->arrivals);
    memset(proxies->last_fences, 0xff, machine->agent_count * sizeof *proxies->last_fences);
    proxies->cluster = cluster;
    proxies_global_start(proxies, same_launch);
}

void proxies_give_up(Proxies *proxies, const char *why, const Op *op) {
    if (proxies->problem)
        return;
    proxies->problem = why;
    proxies->problem_op = op;
}

/* ---- What is found -------------------------------------------------------------------------------- */

Breach breach_at(BreachKind kind, const Event *event, uint32_t other_pc, uint32_t other_agent) {
    return (Breach){.kind = kind,
                    .pc = event->pc,
                    .agent = event->agent,
                    .other_pc = other_pc,
                    .other_agent = other_agent,
                    .arrive_pc = NO_PC,
                    .fence_pc = NO_PC};
}

/* Whether an op that is not known, and that was run since the earlier access, may be the fence. */
static bool is_in_doubt(Proxies *proxies, const Breach *breach) {
    if (!proxies->unknowns_at || proxies->unknowns_at[breach->other_pc] == proxies->unknowns)
        return false;
    proxies_give_up(proxies,
                    "its effects are not known; it may be the proxy fence that is missing between a generic access "
                    "and an asynchronous one",
                    proxies->unknown);
    return true;
}

static void note_unknowns(Proxies *proxies, const Event *event) {
    if (!proxies->unknowns_at)
        return;
    /* Who is signaled may not be worked out of a copy, but a fence it is not. */
    if (event->kind == EVENT_UNKNOWN && op_is_unknown(proxies->machine->program->module, event->op)) {
        proxies->unknown = event->op;
        proxies->unknowns++;
    }
    proxies->unknowns_at[event->pc] = proxies->unknowns;
}

void proxies_breach(Proxies *proxies, Breach breach) {
    if (is_in_doubt(proxies, &breach))
        return;
    const Op **ops = proxies->machine->program->ops;
    for (uint32_t i = 0; i < proxies->count; i++) {
        Breach *known = &proxies->found[i];
        if (known->kind == breach.kind && known->reads == breach.reads && ops[known->pc] == ops[breach.pc] &&
            ops[known->other_pc] == ops[breach.other_pc]) {
            known->times++;
            return;
        }
    }
    breach.times = 1;
    if (proxies->count < MOST_BREACHES)
        proxies->found[proxies->count++] = breach;
}

uint32_t proxies_reported_by(const Proxies *proxies, uint32_t agent, Epoch stamp, bool *own) {
    const Machine *machine = proxies->machine;
    const Raise *raise = clocks_raise(proxies->clocks, agent, stamp);
    uint32_t barrier;
    *own = raise && (raise->kind == RAISE_FORK || raise->kind == RAISE_JOIN);
    if (!raise)
        return NO_PC;
    switch (raise->kind) {
    case RAISE_FORK:
        return raise->pc;
    case RAISE_WAIT:
        barrier = raise->barrier;
        break;
    case RAISE_NAMED:
        barrier = machine->slot_count + raise->barrier;
        break;
    case RAISE_CLUSTER:
        barrier = machine->slot_count + machine->program->ctas * NAMED_BARRIERS + raise->barrier;
        break;
    default:
        return NO_PC;
    }
    uint32_t reporter = clocks_agent(proxies->clocks, stamp.component);
    return reporter < machine->agent_count ? proxies->arrivals[(size_t)barrier * machine->agent_count + reporter]
                                           : NO_PC;
}

/* ---- Fences --------------------------------------------------------------------------------------- */

/* One that is executed at `now`; `pc` may be that of a point. */
static void fence(Proxies *proxies, uint32_t agent, FencesReach reach, Epoch now, uint32_t pc) {
    bool covers = false;
    for (uint32_t i = 0; i < proxies->ordinary_count; i++) {
        Ordinary *access = proxies->ordinary[i];
        if (!access->live)
            continue;
        if (!clocks_know(proxies->clocks, agent, access->stamp)) {
            access->early = access->agent == agent ? pc : access->early;
            continue;
        }
        for (unsigned k = 0; k <= reach; k++) {
            Bridge *bridge = &access->bridges[agent * REACHES + k];
            if (bridge->there)
                continue;
            *bridge = (Bridge){true, now, pc};
            covers = true;
        }
    }
    proxies->work += proxies->ordinary_count;
    uint8_t *use = &proxies->uses[pc];
    uint8_t now_used = covers ? FENCE_UNUSED : FENCE_EMPTY;
    *use = now_used > *use ? now_used : *use;
    if (!covers && pc < proxies->machine->program->code_count)
        proxies->empty_befores[pc] = proxies->last_fences[agent];
    proxies->last_fences[agent] = pc;
}

/* Those that are not in the IR. An agent that is to know of such a fence has to know of what its agent does next: there
 * is no event of its own. */
static void points_at(Proxies *proxies, const Event *event, bool after) {
    Epoch next = clocks_now(proxies->clocks, event->agent);
    next.value++;
    for (size_t i = 0; i < proxies->point_count; i++) {
        const FencePoint *point = &proxies->points[i];
        if (point->op == event->op && point->after == after)
            fence(proxies, event->agent, point->wide ? REACH_CLUSTER : REACH_CTA, next,
                  proxies->machine->program->code_count + (uint32_t)i);
    }
}

static bool is_taken_out(const Proxies *proxies, const Op *op) {
    for (size_t i = 0; i < proxies->without_count; i++)
        if (proxies->without[i] == op)
            return true;
    return false;
}

static void fence_event(Proxies *proxies, const Event *event) {
    const Effect *effect = &event->effect->effect;
    if (effect->verb != EFFECT_FENCE_PROXY || is_taken_out(proxies, event->op))
        return;
    if (effect->proxy == PROXY_ASYNC && (effect->space == SPACE_SHARED || effect->space == SPACE_NONE))
        /* without a scope it is for every kind of memory, and has no limit */
        fence(proxies, event->agent, effect->scope == SCOPE_CTA ? REACH_CTA : REACH_CLUSTER,
              clocks_now(proxies->clocks, event->agent), event->pc);
    proxies_global_fence(proxies, event);
}

/* ---- Ordinary accesses ---------------------------------------------------------------------------- */

static const SpanSet *spans_at(Proxies *proxies, const Event *event, Word view, const ViewPart *part) {
    const char *problem = "the memory that it touches is not known, or outside of its buffer";
    const Type *type = event->effect->type;
    const SpanSet *set =
        word_is(view, WORD_VIEW) && type ? spans_of_part(proxies->spans, view, type, part, &problem) : NULL;
    if (!set)
        proxies_give_up(proxies, problem, event->op);
    return set;
}

static Ordinary *ordinary_of(Proxies *proxies, const Event *event, const SpanSet *set, bool writes) {
    uint64_t key = ((uint64_t)(uintptr_t)set >> 4 ^ (uint64_t)event->pc << 20 ^ (uint64_t)event->agent << 50 ^ writes) *
                   0x9e3779b97f4a7c15u;
    Ordinary **bucket = &proxies->buckets[key >> 40 & (BUCKETS - 1)];
    for (Ordinary *known = *bucket; known; known = known->next)
        if (known->set == set && known->pc == event->pc && known->agent == event->agent && known->writes == writes)
            return known;
    if (proxies->ordinary_count == MOST_ORDINARY) {
        proxies_give_up(proxies, too_many, NULL);
        return NULL;
    }
    Ordinary *access = ARENA_NEW(proxies->arena, Ordinary);
    *access = (Ordinary){.next = *bucket, .set = set, .agent = event->agent, .pc = event->pc, .writes = writes};
    access->bridges = ARENA_ARRAY(proxies->arena, Bridge, (size_t)proxies->machine->agent_count * REACHES);
    *bucket = access;
    *ARENA_PUSH(proxies->arena, proxies->ordinary, proxies->ordinary_count, proxies->ordinary_capacity) = access;
    return access;
}

/* Marks the spans of an access; whether another touches one of them, or only them. */
static void mark(Proxies *proxies, const SpanSet *set) {
    proxies->mark++;
    for (uint32_t i = 0; i < set->count; i++)
        proxies->marks[set->spans[i]] = proxies->mark;
}

static uint32_t marked(Proxies *proxies, const SpanSet *set, uint32_t *span) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < set->count; i++)
        if (proxies->marks[set->spans[i]] == proxies->mark && !count++ && span)
            *span = set->spans[i];
    proxies->work += set->count;
    return count;
}

/* What is overwritten by an agent that comes after it is done with: an agent that sees the new bytes need not see the
 * old. */
static void cover(Proxies *proxies, uint32_t agent, const SpanSet *set, const Ordinary *but) {
    mark(proxies, set);
    for (uint32_t i = 0; i < proxies->ordinary_count; i++) {
        Ordinary *access = proxies->ordinary[i];
        if (access->live && access != but && clocks_know(proxies->clocks, agent, access->stamp) &&
            marked(proxies, access->set, NULL) == access->set->count)
            access->live = false;
    }
}

static void ordinary_event(Proxies *proxies, const Event *event, const SpanSet *set) {
    const Effect *effect = &event->effect->effect;
    bool writes = effect->verb != EFFECT_READ;
    Ordinary *access = ordinary_of(proxies, event, set, writes);
    if (!access)
        return;
    access->live = true;
    access->stamp = clocks_epoch(proxies->clocks, event);
    access->forwarded = effect->done == DONE_TX;
    access->delayed = !clocks_immediate(proxies->clocks, event->effect);
    access->early = NO_PC;
    access->remote = set->view.cta != agent_cta(proxies->machine, event->agent);
    memset(access->bridges, 0, (size_t)proxies->machine->agent_count * REACHES * sizeof *access->bridges);
    proxies->last_fences[event->agent] = NO_PC;
    mark(proxies, set);
    for (uint32_t i = 0; i < proxies->asynchronous_count && !proxies->unordered; i++) {
        const Asynchronous *other = &proxies->asynchronous[i];
        proxies->unordered = other->live && (writes || other->writes) && marked(proxies, other->set, NULL) &&
                             !clocks_know(proxies->clocks, event->agent, other->stamp);
    }
    if (writes)
        cover(proxies, event->agent, set, access);
}

/* ---- Asynchronous accesses ------------------------------------------------------------------------ */

/* Whether a fence of that agent after the access is known to the agent that makes the asynchronous one. */
static bool is_bridged(Proxies *proxies, const Ordinary *access, uint32_t by, FencesReach reach, uint32_t agent) {
    const Bridge *bridge = &access->bridges[by * REACHES + reach];
    if (!bridge->there || !clocks_know(proxies->clocks, agent, bridge->stamp))
        return false;
    proxies->uses[bridge->pc] = FENCE_USED;
    return true;
}

/* Of a point nothing is said. */
static uint32_t in_the_ir(const Proxies *proxies, uint32_t pc) {
    return pc < proxies->machine->program->code_count ? pc : NO_PC;
}

/* Judges one pair of which it is known that the ordinary access came first. */
static void judge(Proxies *proxies, const Event *event, const Ordinary *access, FencesReach reach, uint32_t span) {
    uint32_t writer = access->agent, agents = proxies->machine->agent_count;
    if (is_bridged(proxies, access, writer, reach, event->agent))
        return;
    Breach breach = breach_at(BREACH_MISSING, event, access->pc, writer);
    breach.reads = !access->writes;
    breach.writes = event->effect->effect.verb != EFFECT_READ;
    breach.wide = reach == REACH_CLUSTER;
    breach.delayed = access->delayed;
    breach.span = span;
    if (reach == REACH_CLUSTER && is_bridged(proxies, access, writer, REACH_CTA, event->agent)) {
        breach.kind = BREACH_NARROW;
        breach.fence_pc = in_the_ir(proxies, access->bridges[writer * REACHES].pc);
    }
    for (uint32_t by = 0; by < agents && breach.kind == BREACH_MISSING; by++) {
        if (by == writer || !is_bridged(proxies, access, by, reach, event->agent))
            continue;
        if (access->forwarded)
            return;
        breach.kind = BREACH_LATE;
        breach.fence_pc = in_the_ir(proxies, access->bridges[by * REACHES + reach].pc);
    }
    if (breach.kind == BREACH_MISSING && access->bridges[writer * REACHES + reach].there)
        breach.fence_pc = in_the_ir(proxies, access->bridges[writer * REACHES + reach].pc);
    else if (breach.kind == BREACH_MISSING && access->early != NO_PC) {
        breach.fence_pc = in_the_ir(proxies, access->early);
        breach.early = true;
    }
    if (writer != event->agent)
        breach.arrive_pc = proxies_reported_by(proxies, event->agent, access->stamp, &breach.own);
    uint32_t each = proxies->machine->program->agents_per_cta;
    breach.own |= writer % each == event->agent % each; /* in every CTA the same code */
    proxies_breach(proxies, breach);
}

/* What other CTAs have a part in: copies into several, products of two, their copies into tensor memory, launch
 * requests that answer to all. */
static bool is_wide(const Proxies *proxies, const Event *event) {
    const Effect *effect = &event->effect->effect;
    if (proxies->machine->program->ctas == 1)
        return false;
    return effect->multicast || effect->pair || effect->helper == HELPER_CLC || effect->rank ||
           (proxies->pairs && effect->helper == HELPER_TENSOR);
}

static void keep_asynchronous(Proxies *proxies, const Event *event, const SpanSet *set) {
    uint32_t at = 0;
    while (at < proxies->asynchronous_count &&
           (proxies->asynchronous[at].set != set || proxies->asynchronous[at].pc != event->pc ||
            proxies->asynchronous[at].agent != event->agent))
        at++;
    proxies->work += at;
    if (at == MOST_ORDINARY) {
        proxies_give_up(proxies, too_many, NULL);
        return;
    }
    if (at == proxies->asynchronous_count)
        (void)ARENA_PUSH(proxies->arena, proxies->asynchronous, proxies->asynchronous_count,
                         proxies->asynchronous_capacity);
    proxies->asynchronous[at] = (Asynchronous){.set = set,
                                               .agent = event->agent,
                                               .pc = event->pc,
                                               .stamp = clocks_epoch(proxies->clocks, event),
                                               .live = true,
                                               .writes = event->effect->effect.verb != EFFECT_READ};
}

static void async_access(Proxies *proxies, const Event *event, const SpanSet *set) {
    bool writes = event->effect->effect.verb != EFFECT_READ, wide = is_wide(proxies, event);
    mark(proxies, set);
    for (uint32_t i = 0; i < proxies->ordinary_count; i++) {
        Ordinary *access = proxies->ordinary[i];
        uint32_t span = 0, common;
        if (!access->live || (!writes && !access->writes) || !(common = marked(proxies, access->set, &span)))
            continue;
        bool ordered = clocks_know(proxies->clocks, event->agent, access->stamp);
        proxies->unordered |= !ordered;
        if (ordered) /* of others the race engine tells */
            judge(proxies, event, access, wide || access->remote ? REACH_CLUSTER : REACH_CTA, span);
        if (writes && common == access->set->count)
            access->live = false;
    }
    keep_asynchronous(proxies, event, set);
}

/* ---- Events --------------------------------------------------------------------------------------- */

static void note_arrival(Proxies *proxies, uint32_t first, const Event *event) {
    const Machine *machine = proxies->machine;
    proxies->arrivals[((size_t)first + event->barrier) * machine->agent_count + event->agent] = event->pc;
}

static void access_event(Proxies *proxies, const Event *event) {
    const Effect *effect = &event->effect->effect;
    if (effect->space == SPACE_GLOBAL)
        proxies_global_access(proxies, event);
    if (effect->space != SPACE_SHARED)
        return;
    proxies->seen[event->effect - proxies->machine->program->effects] = true;
    const SpanSet *set = spans_at(proxies, event, event->view, event->part);
    if (!set)
        return;
    if (effect->proxy == PROXY_ASYNC)
        async_access(proxies, event, set);
    else
        ordinary_event(proxies, event, set);
}

/* Making an mbarrier and doing away with it writes its bytes, which may be data at another time. */
static void barrier_event(Proxies *proxies, const Event *event) {
    const CompiledEffect *effect = event->effect;
    size_t first = (size_t)event->agent * proxies->machine->program->most_registers;
    if (effect->on == NO_REGISTER || effect->effect.side != SIDE_NONE)
        return;
    const SpanSet *set = spans_at(proxies, event, event->state->words[first + effect->on], NULL);
    if (set)
        ordinary_event(proxies, event, set);
}

void proxies_observe(void *observer, const Event *event) {
    Proxies *proxies = observer;
    const Machine *machine = proxies->machine;
    if (proxies->work > most_work) {
        proxies_give_up(proxies, "there are more accesses than are compared", NULL);
        return;
    }
    points_at(proxies, event, false);
    clocks_observe(proxies->clocks, event);
    switch (event->kind) {
    case EVENT_ACCESS:
        access_event(proxies, event);
        break;
    case EVENT_INIT:
    case EVENT_INVALIDATE:
        barrier_event(proxies, event);
        break;
    case EVENT_FENCE:
        fence_event(proxies, event);
        break;
    case EVENT_EXPECT:
    case EVENT_ARRIVE:
    case EVENT_SIGNAL:
        note_arrival(proxies, 0, event);
        break;
    case EVENT_NAMED_ARRIVE:
        note_arrival(proxies, machine->slot_count, event);
        break;
    case EVENT_CLUSTER_ARRIVE:
        note_arrival(proxies, machine->slot_count + machine->program->ctas * NAMED_BARRIERS, event);
        break;
    default:
        break;
    }
    points_at(proxies, event, true);
    note_unknowns(proxies, event);
}

/* ---- Looking at it -------------------------------------------------------------------------------- */

const Breach *proxies_found(const Proxies *proxies, uint32_t *count) {
    *count = proxies->count;
    return proxies->found;
}

FenceUse proxies_fence_use(const Proxies *proxies, uint32_t pc, uint32_t *before) {
    uint32_t last = proxies->empty_befores[pc];
    *before = last < proxies->machine->program->code_count ? last : NO_PC;
    return (FenceUse)proxies->uses[pc];
}

const Op *proxies_unseen(const Proxies *proxies) {
    const Program *program = proxies->machine->program;
    for (uint32_t pc = 0; pc < program->code_count; pc++)
        for (uint32_t i = 0; program->code[pc].code == CODE_EFFECTS && i < program->code[pc].a; i++) {
            const Effect *effect = &program->effects[program->code[pc].aux + i].effect;
            if (effect_is_access(effect) && effect->space == SPACE_SHARED && !proxies->seen[program->code[pc].aux + i])
                return program->ops[pc];
        }
    return NULL;
}

bool proxies_saw_all(const Proxies *proxies) {
    return !proxies->unordered && !proxies_unseen(proxies);
}

void proxies_describe(const Proxies *proxies, uint32_t span, Text *to) {
    spans_describe(proxies->spans, proxies->machine, span, to);
}

const char *proxies_problem(const Proxies *proxies, const Op **op) {
    *op = proxies->problem_op;
    return clocks_overflowed(proxies->clocks) ? "a run is longer than clocks can count" : proxies->problem;
}

/* ---- The state ------------------------------------------------------------------------------------ */

void proxies_visit_stamp(const StateVisit *visit, Epoch stamp) {
    visit_number(visit, stamp.component);
    if (stamp.component != NO_COMPONENT)
        visit_epoch(visit, stamp.component, stamp.value);
}

void proxies_visit(const Proxies *proxies, const StateVisit *visit) {
    uint32_t bridges = proxies->machine->agent_count * REACHES;
    clocks_visit(proxies->clocks, visit);
    visit_number(visit, proxies->engine.spans);
    for (uint32_t i = 0; i < proxies->ordinary_count; i++) {
        const Ordinary *access = proxies->ordinary[i];
        visit_number(visit, access->live);
        if (!access->live)
            continue;
        visit_number(visit, i);
        visit_number(visit, (uint64_t)access->forwarded << 2 | (uint64_t)access->remote << 1 | access->delayed);
        proxies_visit_stamp(visit, access->stamp);
        for (uint32_t k = 0; k < bridges; k++) {
            visit_number(visit, access->bridges[k].there);
            if (access->bridges[k].there)
                proxies_visit_stamp(visit, access->bridges[k].stamp);
        }
    }
    proxies_global_visit(proxies, visit);
}
