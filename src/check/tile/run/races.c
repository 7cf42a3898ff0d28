/* From events to the engine's rules. */
#include "check/tile/run/races_internal.h"

#include "model/memory/views.h"

static void *take(void *context, size_t size) {
    return arena_zalloc(context, size);
}

Races *races_create(Arena *arena, Machine *machine, bool by_waits, const char **problem) {
    Races *races = ARENA_NEW(arena, Races);
    races->machine = machine;
    races->arena = arena;
    races->by_waits = by_waits;
    for (uint32_t i = 0; i < machine->program->effect_count; i++) {
        const Effect *effect = &machine->program->effects[i].effect;
        races->commits |=
            effect->verb == EFFECT_ARRIVE && effect->done == DONE_COMMIT && effect->helper == HELPER_TENSOR;
    }
    races->named = machine->slot_count;
    races->cluster_first = races->named + machine->program->ctas * NAMED_BARRIERS;
    races->fenced_first = races->cluster_first + machine->cluster_barriers;
    races->late_first = races->fenced_first + (machine->program->ctas > 1 ? machine->agent_count : 0);
    races->late_count = machine->outstanding_capacity ? MOST_LATE * machine->program->ctas : 0;
    ConsanSize size = {.agents = machine->agent_count,
                       .homes = machine->program->ctas,
                       .spans = SPANS,
                       .barriers = races->late_first + races->late_count / CONSAN_PHASES};
    if (!consan_create(&races->engine, &size, take, arena)) {
        *problem = "races are not checked: a cluster has more agents or barriers than the race engine keeps";
        return NULL;
    }
    races->late = ARENA_ARRAY(arena, uint32_t, races->late_count);
    races->guards = arena_zalloc(arena, machine->agent_count * sizeof *races->guards);
    races->pasts = ARENA_ARRAY(arena, BarrierPast, machine->slot_count);
    races->spans = spans_create(arena, machine->program->module, &races->engine);
    races->may_order = may_order_create(arena, machine);
    races_prepare_over(races);
    return races;
}

void races_start(Races *races, uint64_t cluster, unsigned havoc_choice, bool again) {
    spans_reset(races->spans);
    memset(races->guards, 0, races->machine->agent_count * sizeof *races->guards);
    memset(races->late, 0, races->late_count * sizeof *races->late);
    memset(races->pasts, 0, races->machine->slot_count * sizeof *races->pasts);
    races->late_arrivals = false;
    races->flow.count = 0;
    races->cluster = cluster;
    races->havoc_choice = havoc_choice;
    races->again = again;
    if (races->may_order)
        may_order_start(races->may_order);
    for (uint32_t i = 0; i < races->count; i++) /* what the runs before have shown is settled */
        races->found[i].doubt.open = (AgentSet){0};
}

/* Whether the work in flight under memory of others lacks a wait that another race is told for. */
static bool is_implied(const Races *races, const Race *race) {
    for (uint32_t i = 0; race->over && i < races->count; i++) {
        const Race *other = &races->found[i];
        if (!other->over && !race_is_exit(other) && !other->havoc_dependent && !other->doubt.op &&
            (other->other_pc == race->other_pc || other->pc == race->other_pc))
            return true;
    }
    return false;
}

bool race_is_open(const Races *races, const Race *race) {
    return race->doubt.op || race->may_lie || is_implied(races, race);
}

uint32_t races_forget_may_order(Races *races) {
    uint32_t kept = 0;
    bool open[MOST_RACES];
    for (uint32_t i = 0; i < races->count; i++)
        open[i] = race_is_open(races, &races->found[i]);
    for (uint32_t i = 0; i < races->count; i++)
        if (!open[i])
            races->found[kept++] = races->found[i];
    return races->count = kept;
}

void races_take_back(Races *races, uint32_t index) {
    races->found[index].havoc_dependent = true;
}

void races_clear(Races *races) {
    races->count = 0;
}

static bool same_places(uint32_t pc, uint32_t other_pc, const Race *race) {
    return (pc == race->pc && other_pc == race->other_pc) || (pc == race->other_pc && other_pc == race->pc);
}

bool races_show(const Races *races, const Race *race) {
    for (uint32_t i = 0; i < races->count; i++) {
        const Race *other = &races->found[i];
        if (same_places(other->pc, other->other_pc, race))
            return true;
        for (uint32_t k = 0; k < other->more_count; k++)
            if (same_places(other->more[k].pc, other->more[k].other_pc, race))
                return true;
    }
    return false;
}

const Race *races_found(const Races *races, uint32_t *count) {
    *count = races->count;
    return races->found;
}

const char *races_problem(const Races *races, const Op **op) {
    *op = races->problem_op;
    return races->problem;
}

void races_visit(const Races *races, const StateVisit *visit) {
    consan_visit(&races->engine, visit->number, visit->context);
}

/* By what the engine names an access: where something is not known, by a note of it. */
static uint32_t place_of(Races *races, const Event *event) {
    return races->may_order ? may_order_note(races->may_order, event) : event->pc;
}

/* The instruction of the earlier access. One that is not in memory has no note. */
static uint32_t place_pc(const Races *races, const ConsanConflict *conflict) {
    bool noted = races->may_order && conflict->span != UINT32_MAX;
    return noted ? may_order_pc(races->may_order, conflict->place) : conflict->place;
}

/* An arrival that its agent does not make itself, and that comes when earlier work is done. */
static bool is_late(const Effect *effect) {
    return effect->verb == EFFECT_ARRIVE && (effect->done == DONE_COMMIT || effect->done == DONE_COPIES);
}

/* Whether what was done there is an arrival that is made some time: by a commit, or when copies are done. */
static bool arrives_late(const Races *races, uint32_t pc) {
    const Program *program = races->machine->program;
    const Instruction *instruction = &program->code[pc];
    for (uint32_t i = 0; instruction->code == CODE_EFFECTS && i < instruction->a; i++) {
        const Effect *effect = &program->effects[instruction->aux + i].effect;
        if (is_late(effect))
            return true;
    }
    return false;
}

bool race_is_arrival(const Races *races, const ConsanConflict *conflict) {
    return conflict->kind == CONSAN_OUTSTANDING_WRITE && spans_space(races->spans, conflict->span) == SPACE_SHARED &&
           arrives_late(races, place_pc(races, conflict));
}

/* ---- Objections ----------------------------------------------------------------------------------- */

/* Whether the known race lacks the wait for the barrier on which the other one is reported. */
static bool lacks(const Races *races, const Race *known, const Race *race) {
    uint64_t ring = race_ring(races, race->barrier);
    return race->barrier != UINT32_MAX &&
           (race_ring(races, known->barrier) == ring || (known->unseen && race_ring(races, known->guard) == ring));
}

/* Whether what goes on at the end lacks a wait that is told of already: it was in flight when it was needed, or what
 * the arrival reports is told of. */
static bool is_reported(const Races *races, const Race *known, const Race *race, bool with_edge) {
    bool earlier = known->kind != RACE_EXIT;
    if (race->kind != RACE_EXIT || known->kind == RACE_APART || (!earlier && known->arrives == race->arrives))
        return false;
    return (earlier && (known->other_pc == race->other_pc || known->pc == race->other_pc)) ||
           (with_edge && lacks(races, known, race));
}

/* Whether two pairs of actors are the same, but for the CTAs that they are in. */
static bool same_actors(const Races *races, const Race *known, const Race *race) {
    const Machine *machine = races->machine;
    uint32_t each = machine->program->agents_per_cta;
    uint32_t a = consan_agent(known->thread), a_other = consan_agent(known->other_thread);
    uint32_t b = consan_agent(race->thread), b_other = consan_agent(race->other_thread);
    return a % each == b % each && a_other % each == b_other % each &&
           (a / each == a_other / each) == (b / each == b_other / each) &&
           consan_kind(known->thread) == consan_kind(race->thread) &&
           consan_kind(known->other_thread) == consan_kind(race->other_thread);
}

/* One fault, one finding: the same two ops again, or other ops of the same two agents that lack the same edge, belong
 * to a race that is known. So does a write after a write where the read in between is known to be unordered: what
 * orders that orders both. `with_edge`: which one it lacks was found out. */
static bool joins(const Races *races, Race *known, const Race *race, bool with_edge) {
    bool same_ops = known->pc == race->pc && known->other_pc == race->other_pc && known->kind == race->kind;
    bool same_barrier = race_ring(races, known->barrier) == race_ring(races, race->barrier) ||
                        (races->again && known->unseen && race->unseen &&
                         race_ring(races, known->guard) == race_ring(races, race->guard));
    bool same_edge = with_edge && same_actors(races, known, race) && known->kind == race->kind &&
                     known->group == race->group &&
                     (same_barrier || (race->kind == RACE_EXIT && race->arrives && known->arrives));
    /* In another run the other one of the two came first. */
    bool turned = races->again && known->pc == race->other_pc && known->other_pc == race->pc &&
                  known->thread == race->other_thread && known->other_thread == race->thread &&
                  known->kind != RACE_INFLIGHT && race->kind != RACE_INFLIGHT;
    bool implied =
        known->pc == race->pc && known->thread == race->thread && known->kind == RACE_WAR && race->kind == RACE_WAW;
    if (!known->havoc_dependent && is_reported(races, known, race, with_edge))
        return true;
    if (!same_ops && !turned && (known->havoc_dependent || (!same_edge && !implied)))
        return false;
    if ((known->doubt.op && !race->doubt.op) || (known->may_lie && !race->may_lie)) { /* a surer one takes its place */
        uint64_t times = known->times;
        *known = *race;
        known->times = times + 1;
        return true;
    }
    known->times++;
    known->by_order &= race->by_order;
    bool listed = same_ops || implied || turned;
    for (uint32_t i = 0; i < known->more_count && !listed; i++)
        listed = known->more[i].pc == race->pc && known->more[i].other_pc == race->other_pc;
    if (!listed && known->more_count < MOST_MORE)
        known->more[known->more_count++] = (struct RacePair){race->pc, race->other_pc};
    return true;
}

static bool is_known(Races *races, const Race *race, bool with_edge) {
    for (uint32_t i = 0; i < races->count; i++)
        if (joins(races, &races->found[i], race, with_edge))
            return true;
    return false;
}

void race_object(Races *races, const Event *event, uint32_t thread, bool writes, const ConsanConflict *conflict,
                 bool by_order) {
    static const GroupKind groups[] = {GROUP_CP_ASYNC, GROUP_WGMMA, GROUP_TMA_STORE};
    Race race = {.thread = thread,
                 .frees = event->kind == EVENT_FREE,
                 .over = races->over,
                 .may_lie = races->over && races->how == OVER_OPEN,
                 .pc = event->pc,
                 .other_thread = conflict->actor,
                 .other_pc = place_pc(races, conflict),
                 .span = conflict->span,
                 .by_order = by_order,
                 .writes = writes,
                 .times = 1,
                 .cluster = races->cluster,
                 .havoc_choice = races->havoc_choice,
                 .barrier = UINT32_MAX};
    if (races->may_order)
        race.doubt =
            may_order_about(races->may_order, conflict->span != UINT32_MAX ? conflict->place : UINT32_MAX, event);
    if (conflict->kind == CONSAN_PENDING_GROUP) {
        race.kind = RACE_INFLIGHT;
        race.group = groups[conflict->group];
    } else {
        race.kind = conflict->kind == CONSAN_OUTSTANDING_READ ? RACE_WAR : writes ? RACE_WAW : RACE_RAW;
    }
    if (event->kind == EVENT_END) {
        race.kind = race.group == GROUP_TMA_STORE ? RACE_EXIT_STORE : RACE_EXIT;
        race.earlier_writes = conflict->kind == CONSAN_OUTSTANDING_WRITE || race.group == GROUP_CP_ASYNC;
    }
    race.arrives = race_is_arrival(races, conflict);
    bool in_place = event->kind == EVENT_ACCESS && !race.over; /* the same buffer: it has a barrier, or lacks one */
    if (race.group == GROUP_NONE && !in_place && !race_is_exit(&race) && !race.frees && !race.arrives &&
        conflict->span != UINT32_MAX && consan_kind(conflict->actor) != CONSAN_BASE) {
        race.kind = RACE_INFLIGHT;
        race.earlier_writes = conflict->kind == CONSAN_OUTSTANDING_WRITE;
    }
    if (race.over && races->how == OVER_APART)
        race.kind = RACE_APART;
    if (is_known(races, &race, false))
        return;
    if (race.kind == RACE_EXIT && race.group == GROUP_NONE)
        (void)race_find_report(races, &race, conflict, event->state->agents[consan_agent(race.other_thread)].strand);
    else if (race.group == GROUP_NONE)
        race_find_edge(races, &race, conflict, event->state);
    if (is_known(races, &race, true))
        return;
    if (races->count == MOST_RACES)
        return;
    if (!race.arrives)
        race.way = flow_since(&races->flow, consan_agent(race.other_thread), race.other_pc, races->spans, race.span,
                              races->arena);
    races->found[races->count++] = race;
}

static ConsanConflict verify(const Races *races, uint32_t thread, bool writes, uint32_t element, const SpanSet *set) {
    if (element)
        return consan_verify_update(&races->engine, thread, set->spans, set->count, element);
    return writes ? consan_verify_write(&races->engine, thread, set->spans, set->count)
                  : consan_verify_read(&races->engine, thread, set->spans, set->count);
}

/* `element`: bytes of one, of an atomic update; else 0. */
static void check_access(Races *races, const Event *event, uint32_t thread, bool writes, uint32_t element,
                         const SpanSet *set) {
    ConsanConflict conflict = verify(races, thread, writes, element, set);
    if (conflict.kind != CONSAN_CLEAN) {
        race_object(races, event, thread, writes, &conflict, false);
        return;
    }
    /* Two operations of one helper are ordered only as far as their issuer knows: always for the TMA unit and for
     * launch control, and for the tensor core where its work is ordered by waits alone. */
    uint32_t helper = race_helper(thread);
    bool copies = helper == HELPER_TMA || helper == HELPER_CLC, tensor = helper == HELPER_TENSOR;
    if (!copies && !(tensor && races->by_waits))
        return;
    conflict = verify(races, consan_base(consan_agent(thread)), writes, element, set);
    /* Products into one accumulator follow each other. */
    bool same_op = tensor && conflict.kind == CONSAN_OUTSTANDING_WRITE && writes;
    if (conflict.kind != CONSAN_CLEAN && !same_op)
        race_object(races, event, thread, writes, &conflict, tensor);
}

/* ---- Events --------------------------------------------------------------------------------------- */

/* A write that meets the bytes of a barrier that is in use. */
static void check_barriers(Races *races, const Event *event, uint32_t thread, const SpanSet *set) {
    const Machine *machine = races->machine;
    for (uint32_t k = 0; k < machine->slots_used; k++) {
        uint32_t slot = set->view.cta * machine->slots_per_cta + k;
        int64_t byte = (int32_t)(uint32_t)machine->slot_places[k];
        Run own = {byte, byte + 8};
        if (machine->slot_places[k] >> 32 != set->view.meta || event->state->barriers[slot].life != BARRIER_LIVE ||
            !bytes_overlap(&set->bytes, &(Bytes){&own, 1}))
            continue;
        for (uint32_t i = 0; i < races->count; i++)
            if (races->found[i].kind == RACE_OVERWRITTEN && races->found[i].pc == event->pc) {
                races->found[i].times++;
                return;
            }
        if (races->count < MOST_RACES)
            races->found[races->count++] =
                (Race){.kind = RACE_OVERWRITTEN,
                       .thread = thread,
                       .pc = event->pc,
                       .other_thread = thread,
                       .other_pc = event->pc,
                       .span = set->spans[0],
                       .barrier = slot,
                       .writes = true,
                       .doubt = races->may_order ? may_order_about(races->may_order, UINT32_MAX, event) : (Doubt){0},
                       .times = 1,
                       .cluster = races->cluster,
                       .havoc_choice = races->havoc_choice};
        return;
    }
}

static const char outside[] = "the memory that it touches is not known, or outside of its buffer";

static void say_problem(Races *races, const Event *event, const char *problem) {
    if (races->problem)
        return;
    races->problem = problem;
    races->problem_op = event->op;
}

static const SpanSet *spans_at(Races *races, const Event *event, Word view, const Type *type, const ViewPart *part) {
    const char *problem = outside;
    const SpanSet *set =
        word_is(view, WORD_VIEW) && type ? spans_of_part(races->spans, view, type, part, &problem) : NULL;
    if (!set || races->machine->outside == ((uint64_t)view.meta << 32 | (uint32_t)view.bits) + 1)
        say_problem(races, event, problem);
    return set;
}

static ConsanGroup group_of(GroupKind kind, bool writes) {
    if (kind == GROUP_WGMMA)
        return CONSAN_WGMMA;
    return writes || kind == GROUP_CP_ASYNC || kind == GROUP_AMD_ASYNC ? CONSAN_COPY : CONSAN_STORE;
}

/* Bytes of the elements that an atomic update of shared memory has at once; 0: it is none. One whose scope does not
 * reach from its own CTA to that of the memory is as good as a write. */
static uint32_t update_element(const Races *races, const Event *event, const SpanSet *set) {
    const Effect *effect = &event->effect->effect;
    if (effect->verb != EFFECT_UPDATE || effect->order == ORDER_WEAK || effect->done != DONE_NOW ||
        (effect->scope < SCOPE_CLUSTER && set->view.cta != agent_cta(races->machine, event->agent)))
        return 0;
    if (effect->element_bytes)
        return (uint32_t)effect->element_bytes;
    const Type *type = type_resolve(races->machine->program->module, event->effect->type);
    const Type *element = type && type->element ? type_resolve(races->machine->program->module, type->element) : NULL;
    return element ? (element->width + 7) / 8 : 0;
}

static void access_event(Races *races, const Event *event) {
    const Effect *effect = &event->effect->effect;
    if (effect->space != SPACE_SHARED && effect->space != SPACE_TENSOR)
        return;
    const SpanSet *set = spans_at(races, event, event->view, event->effect->type, event->part);
    if (!set)
        return;
    bool writes = effect->verb != EFFECT_READ;
    /* What is done at once is the agent's own, no matter what does it: before it is lowered, a product or a copy may be
     * written so. But where commits are written out, products are asynchronous, said or not. */
    bool own = effect->done == DONE_NOW && !(effect->helper == HELPER_TENSOR && races->commits);
    uint32_t thread = race_actor(event->agent, own ? HELPER_BASE : effect->helper);
    if (writes && effect->space == SPACE_SHARED)
        check_barriers(races, event, thread, set);
    races_check_over(races, event, thread, writes, set);
    if (effect->done == DONE_GROUP) {
        ConsanGroup group = group_of(effect->group, writes);
        uint32_t base = consan_base(event->agent);
        check_access(races, event, group == CONSAN_STORE ? thread : base, writes, 0, set);
        consan_stage(&races->engine, group, base, set->spans, set->count, place_of(races, event));
        return;
    }
    uint32_t element = update_element(races, event, set);
    check_access(races, event, thread, writes, element, set);
    if (element)
        consan_set_update(&races->engine, thread, set->spans, set->count, element, place_of(races, event));
    else if (writes)
        consan_set_write(&races->engine, thread, set->spans, set->count, place_of(races, event));
    else
        consan_set_read(&races->engine, thread, set->spans, set->count, place_of(races, event));
}

/* An arrival that is not made by the agent itself reports what was done when it was issued, and itself. */
static void track_arrival(Races *races, const Event *event, uint32_t barrier, uint32_t parity) {
    const Outstanding *outstanding = event->outstanding;
    const SpanSet *own = races->outstanding_ops[outstanding->sequence % WINDOW];
    if (event->effect->effect.done == DONE_COPIES) {
        consan_track_copies(&races->engine, consan_base(outstanding->agent), barrier, parity);
        if (own)
            consan_track_writes(&races->engine, own->spans, own->count, barrier, parity);
        return;
    }
    consan_track_frontier(&races->engine, race_actor(outstanding->agent, (Helper)outstanding->helper), barrier, parity);
}

/* Where what an outstanding operation will publish is kept, or, for 0, a free place; late_count: nowhere. */
static uint32_t late_place(const Races *races, uint32_t sequence) {
    uint32_t place = 0;
    while (place < races->late_count && races->late[place] != sequence)
        place++;
    return place;
}

static void signal_event(Races *races, const Event *event) {
    const Outstanding *outstanding = event->outstanding;
    uint32_t parity = event->state->barriers[event->barrier].phase;
    if (event->kind == EVENT_DELIVER) {
        const SpanSet *set = races->outstanding_ops[outstanding->sequence % WINDOW];
        const SpanSet *source = races->sources[outstanding->sequence % WINDOW];
        if (set)
            consan_track_writes(&races->engine, set->spans, set->count, event->barrier, parity);
        if (source)
            consan_track_reads(&races->engine, race_actor(outstanding->agent, (Helper)outstanding->helper),
                               source->spans, source->count, event->barrier, parity);
        return;
    }
    uint32_t place = races->machine->immediate ? races->late_count : late_place(races, outstanding->sequence);
    if (place == races->late_count) {
        track_arrival(races, event, event->barrier, parity);
        return;
    }
    races->late[place] = 0;
    consan_hand_on(&races->engine, races->late_first + place / CONSAN_PHASES, place % CONSAN_PHASES, event->barrier,
                   parity);
}

/* A barrier is made, or ends: that writes its bytes, and nothing may work on them. An arrival that is still on its way
 * would come to the barrier that is made; to one that has ended it does no harm. */
static void check_life(Races *races, const Event *event) {
    const CompiledEffect *effect = event->effect;
    const Word *words = &event->state->words[(size_t)event->agent * races->machine->program->most_registers];
    const char *problem;
    if (effect->on == NO_REGISTER || !word_is(words[effect->on], WORD_VIEW) || !effect->type ||
        effect->effect.side != SIDE_NONE)
        return;
    Word view = words[effect->on];
    bool touched = spans_next(races->spans, view.meta, view.cta, &(uint32_t){0}, &(Run){0}) != UINT32_MAX;
    if (!touched && !races->laid_over[view.meta])
        return;
    const SpanSet *set = spans_of(races->spans, view, effect->type, &problem);
    ConsanConflict conflict = {.kind = CONSAN_CLEAN};
    if (!set)
        return;
    conflict = verify(races, consan_base(event->agent), true, 0, set);
    bool harmless = event->kind != EVENT_INIT && conflict.kind == CONSAN_OUTSTANDING_WRITE &&
                    arrives_late(races, place_pc(races, &conflict));
    if (conflict.kind != CONSAN_CLEAN && !harmless)
        race_object(races, event, consan_base(event->agent), true, &conflict, false);
    races_check_over(races, event, consan_base(event->agent), true, set);
}

/* The arrival comes some time: it writes the barrier, no matter to what those bytes belong by then, unless something
 * has waited for the phase that it comes in. Returns the bytes of the barrier, if they are known. */
static const SpanSet *late_event(Races *races, const Event *event, Word view) {
    const CompiledEffect *effect = event->effect;
    const char *problem;
    const SpanSet *set = word_is(view, WORD_VIEW) && effect->type && effect->effect.side == SIDE_NONE
                             ? spans_of(races->spans, view, effect->type, &problem)
                             : NULL;
    /* Nothing sees the arrival of copies, their issuer neither: as if its TMA unit made it. */
    Helper helper = effect->effect.done == DONE_COPIES ? HELPER_TMA : effect->effect.helper;
    races->late_arrivals = true;
    if (set)
        consan_set_write(&races->engine, race_actor(event->agent, helper), set->spans, set->count,
                         place_of(races, event));
    return set;
}

/* The same place in another CTA: so far from there, by XOR, and without the bits of its rank that make no difference.
 */
static Word moved_to(Word view, uint32_t toward, uint32_t without) {
    if (word_is(view, WORD_VIEW))
        view.cta = (uint16_t)((view.cta ^ toward) & ~without);
    return view;
}

/* What a copy from shared memory reads there, until its bytes have come; NULL: it is none. */
static const SpanSet *source_of(Races *races, const Event *event, const Word *words) {
    const Program *program = races->machine->program;
    const Instruction *instruction = &program->code[event->pc];
    for (uint32_t i = 0; i < instruction->a; i++) {
        const CompiledEffect *effect = &program->effects[instruction->aux + i];
        if (effect->effect.verb == EFFECT_READ && effect->effect.done == DONE_TX &&
            effect->effect.space == SPACE_SHARED && effect->on != NO_REGISTER)
            return spans_at(races, event, words[effect->on], effect->type,
                            effect_part(races->machine, event->agent, effect, 0));
    }
    return NULL;
}

/* What a copy brings is what it was told to write, whether it counts its bytes by its destination or by a number. */
static void issue_event(Races *races, const Event *event) {
    const CompiledEffect *effect = event->effect;
    const Word *words = &event->state->words[(size_t)event->agent * races->machine->program->most_registers];
    uint32_t toward = event->outstanding->toward;
    const SpanSet **place = &races->outstanding_ops[event->outstanding->sequence % WINDOW];
    *place = NULL;
    races->sources[event->outstanding->sequence % WINDOW] = NULL;
    if (event->outstanding->kind == OUTSTANDING_ARRIVAL && is_late(&effect->effect) && effect->on != NO_REGISTER)
        *place = late_event(races, event, moved_to(words[effect->on], toward, effect->shared_bits));
    if (event->outstanding->kind == OUTSTANDING_ARRIVAL && !races->machine->immediate) {
        uint32_t late = late_place(races, 0);
        if (late ==
            races->late_count) /* what it reports is settled when it comes, then: too much rather than too little */
            return;
        races->late[late] = event->outstanding->sequence;
        track_arrival(races, event, races->late_first + late / CONSAN_PHASES, late % CONSAN_PHASES);
    }
    if (event->outstanding->kind != OUTSTANDING_BYTES)
        return;
    races->sources[event->outstanding->sequence % WINDOW] = source_of(races, event, words);
    Word view = effect->lands != NO_REGISTER ? words[effect->lands] : word_unknown(0);
    const Landing *landing = effect_landing(races->machine, event->agent, effect);
    if (word_is(view, WORD_VIEW))
        *place = spans_at(races, event, moved_to(view, toward ^ (landing ? landing->aside : 0), 0), effect->landing,
                          landing ? landing->part : effect_part(races->machine, event->agent, effect, toward));
}

/* The groups of effects that are waited for by count. */
static void await_group(Races *races, const Event *event, ConsanGroup group) {
    if (event->kind == EVENT_COMMIT)
        consan_commit(&races->engine, group, consan_base(event->agent));
    else
        consan_clear(&races->engine, group, consan_base(event->agent), (uint32_t)event->amount);
}

static void await_event(Races *races, const Event *event) {
    GroupKind kind = event->effect->effect.group;
    await_group(races, event, group_of(kind, false));
    if (kind == GROUP_AMD_TENSOR) /* loads, too */
        await_group(races, event, CONSAN_COPY);
}

/* Memory that is given back goes to the next that asks for it: nothing may work on it any more, as if it were written.
 * Only an arrival may come late: it harms the next user of the bytes, and nothing if no agent does. */
static void free_event(Races *races, const Event *event) {
    const SpanSet *set = spans_at(races, event, event->view, event->effect->type, event->part);
    ConsanConflict conflict = {.kind = CONSAN_CLEAN};
    if (set)
        conflict = verify(races, consan_base(event->agent), true, 0, set);
    if (set && !(conflict.kind == CONSAN_OUTSTANDING_WRITE && arrives_late(races, place_pc(races, &conflict))))
        check_access(races, event, consan_base(event->agent), true, 0, set);
}

/* At a named barrier, or that of the cluster. */
static void barrier_instance_event(Races *races, const Event *event, uint32_t barrier,
                                   const Rendezvous *barrier_instance) {
    Consan *engine = &races->engine;
    if (event->kind == EVENT_NAMED_COMPLETE || event->kind == EVENT_CLUSTER_COMPLETE)
        consan_begin_phase(engine, barrier, barrier_instance->generation & 1);
    else if (event->kind == EVENT_NAMED_SYNC || event->kind == EVENT_CLUSTER_WAIT)
        consan_transfer(engine, consan_base(event->agent), barrier, event->state->agents[event->agent].generation & 1);
    else if (!event->effect->effect.relaxed)
        consan_track_frontier(engine, consan_base(event->agent), barrier, barrier_instance->generation & 1);
    else if (races->machine->program->ctas > 1) /* what a fence before it has released */
        consan_hand_on(engine, races->fenced_first + event->agent, 0, barrier, barrier_instance->generation & 1);
}

static void fence_event(Races *races, const Event *event) {
    if (races->machine->program->ctas < 2 || !effect_releases_to_cluster(&event->effect->effect))
        return;
    consan_begin_phase(&races->engine, races->fenced_first + event->agent, 0);
    consan_track_frontier(&races->engine, consan_base(event->agent), races->fenced_first + event->agent, 0);
}

static void init_event(Races *races, const Event *event) {
    uint64_t place = races->machine->slot_places[event->barrier % races->machine->slots_per_cta];
    if (races->machine->outside == place + 1)
        say_problem(races, event, outside);
    check_life(races, event);
    races->pasts[event->barrier] = (BarrierPast){0};
    consan_begin_phase(&races->engine, event->barrier, 0);
    consan_begin_phase(&races->engine, event->barrier, 1);
}

static void unknown_event(Races *races, const Event *event) {
    for (uint32_t i = 0; races->may_order && i < races->count; i++)
        may_order_settle(races->may_order, event, &races->found[i].doubt);
}

/* The result of a product is used, and the product may not be done. */
static void unfinished_event(Races *races, const Event *event) {
    ConsanConflict conflict = {.kind = CONSAN_PENDING_GROUP,
                               .span = UINT32_MAX,
                               .actor = consan_base(event->agent),
                               .place = (uint32_t)event->amount,
                               .group = CONSAN_WGMMA};
    race_object(races, event, consan_base(event->agent), false, &conflict, false);
}

static void remember_arrival(Races *races, const Event *event) {
    PhaseArrivals *now = &races->pasts[event->barrier].now;
    if (now->count < MOST_ARRIVERS)
        now->by[now->count++] = (struct RaceArriver){event->agent, event->pc};
}

static void remember_wait(Races *races, const Event *event) {
    Guard *guards = races->guards[event->agent];
    memmove(guards + 1, guards, (MOST_GUARDS - 1) * sizeof *guards);
    guards[0] = (Guard){true, event->barrier, event->pc, races->pasts[event->barrier].done};
}

void races_observe(void *observer, const Event *event) {
    Races *races = observer;
    Consan *engine = &races->engine;
    const Program *program = races->machine->program;
    uint32_t agent = event->agent, actor = consan_base(agent), first = agent - agent % program->agents_per_cta + 1;
    flow_observe(&races->flow, event);
    if (races->may_order)
        may_order_observe(races->may_order, event);
    switch (event->kind) {
    case EVENT_UNKNOWN:
        unknown_event(races, event);
        break;
    case EVENT_ACCESS:
        access_event(races, event);
        break;
    case EVENT_FREE:
        free_event(races, event);
        break;
    case EVENT_ISSUE:
        issue_event(races, event);
        break;
    case EVENT_DELIVER:
    case EVENT_SIGNAL:
        remember_arrival(races, event);
        if (event->outstanding)
            signal_event(races, event);
        else
            consan_track_frontier(engine, actor, event->barrier, event->state->barriers[event->barrier].phase);
        break;
    case EVENT_EXPECT:
    case EVENT_ARRIVE:
        remember_arrival(races, event);
        consan_track_frontier(engine, actor, event->barrier, event->state->barriers[event->barrier].phase);
        /* Who leaves a token or an aref says that the copies that it issued are done, too. */
        if (event->effect->effect.side != SIDE_NONE)
            consan_track_frontier(engine, CONSAN_TMA + actor, event->barrier,
                                  event->state->barriers[event->barrier].phase);
        break;
    case EVENT_FLIP:
        races->pasts[event->barrier].done = races->pasts[event->barrier].now;
        races->pasts[event->barrier].now.count = 0;
        consan_begin_phase(engine, event->barrier, event->state->barriers[event->barrier].phase);
        break;
    case EVENT_INIT:
        init_event(races, event);
        break;
    case EVENT_INVALIDATE:
        check_life(races, event);
        break;
    case EVENT_DISTURB:
        if (event->effect->effect.verb == EFFECT_SCRATCH)
            races_check_scratch(races, event);
        else
            check_life(races, event);
        break;
    case EVENT_WAIT:
        remember_wait(races, event);
        consan_transfer(engine, actor, event->barrier, event->parity);
        break;
    case EVENT_COMMIT:
    case EVENT_AWAIT:
        await_event(races, event);
        break;
    case EVENT_NAMED_ARRIVE:
    case EVENT_NAMED_COMPLETE:
    case EVENT_NAMED_SYNC:
        barrier_instance_event(races, event, races->named + event->barrier, &event->state->named[event->barrier]);
        break;
    case EVENT_CLUSTER_ARRIVE:
    case EVENT_CLUSTER_COMPLETE:
    case EVENT_CLUSTER_WAIT:
        barrier_instance_event(races, event, races->cluster_first + event->barrier,
                               &event->state->cluster[event->barrier]);
        break;
    case EVENT_FENCE:
        fence_event(races, event);
        break;
    case EVENT_END:
        races_end(races, event);
        break;
    case EVENT_UNFINISHED:
        unfinished_event(races, event);
        break;
    case EVENT_FORK:
        for (uint32_t k = 0; k < event->amount; k++)
            consan_fork(engine, actor, consan_base(first + k));
        break;
    case EVENT_JOIN:
        for (uint32_t k = 0; k + 1 < program->agents_per_cta; k++)
            consan_join(engine, actor, consan_base(first + k));
        break;
    default:
        break;
    }
}
