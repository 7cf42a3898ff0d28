/* The barriers of a kernel: what the IR says of each, and what a run showed of the ops that use it. */
#include "analyze/report/internal.h"

#include "ir/optable.h"
#include "model/number/expression.h"

#include <stdlib.h>

/* ---- Which barriers there are --------------------------------------------------------------------- */

static bool is_barrier_verb(EffectVerb verb) {
    return verb == EFFECT_INIT || verb == EFFECT_INVALIDATE || verb == EFFECT_EXPECT || verb == EFFECT_ARRIVE ||
           verb == EFFECT_COMPLETE || verb == EFFECT_WAIT;
}

static bool is_named_verb(EffectVerb verb) {
    return verb == EFFECT_NAMED_ARRIVE || verb == EFFECT_NAMED_SYNC;
}

static bool is_type(Builder *builder, const Op *root, Str name) {
    return root->result_count && type_is(type_resolve(builder->module, root->results[0].type), name);
}

/* A constant, through what hands it on unchanged; -1 if it is none. */
static int64_t constant_of(const Value *value) {
    enum { MOST_STEPS = 16 };
    for (int step = 0; value && value->is_result && step < MOST_STEPS; step++) {
        const Op *op = value->owner;
        const Attr *number = op->row && op->row->id == OP_arith_constant ? op_attr(op, "value") : NULL;
        if (number)
            return number->kind == ATTR_INTEGER ? number->integer : -1;
        value = op->operand_count == 1 ? op->operands[0] : NULL;
    }
    return -1;
}

static size_t add_barrier(Builder *builder, Thing thing) {
    size_t known = builder_find_barrier(builder, thing);
    if (known != SIZE_MAX)
        return known;
    Verdict *verdict = builder->verdict;
    ReportBarrier *barrier = builder_barrier(builder, thing);
    if (!thing.root) {
        bool named = thing.id >= 0;
        barrier->name = named ? verdict_text(verdict, "named barrier %lld", (long long)thing.id)
                              : verdict_text(verdict, "barrier at byte %lld", (long long)(-1 - thing.id));
        barrier->kind = named ? "named" : "mbarrier";
        barrier->depth = 1;
        return builder->barrier_count - 1;
    }
    const char *name = name_of(builder->names, thing.root);
    barrier->kind = is_type(builder, thing.root, STR("nvws.aref")) ? "aref"
                    : thing.side != SIDE_NONE                      ? "token"
                                                                   : "mbarrier";
    barrier->name = thing.side == SIDE_NONE
                        ? name
                        : verdict_text(verdict, "%s.%s", name, thing.side == SIDE_FULL ? "full" : "empty");
    barrier->value = thing.root->result_count ? value_text(builder->arena, &thing.root->results[0]) : "";
    const Allocation *allocation = allocation_find(&builder->allocations, thing.root);
    if (allocation)
        barrier->depth = allocation->size / (thing.side == SIDE_NONE ? 8 : 16);
    return builder->barrier_count - 1;
}

/* The barrier that an effect is on; false if it is none, or not known. */
static bool thing_of(Builder *builder, const Effect *effect, Thing *thing) {
    *thing = (Thing){.side = effect->side};
    if (is_named_verb(effect->verb)) {
        thing->id = constant_of(effect->on);
        return thing->id >= 0;
    }
    if (!is_barrier_verb(effect->verb))
        return false;
    thing->root = origin_of(builder->module, effect->on);
    return thing->root;
}

static void find_barriers(Builder *builder) {
    Effect effects[EFFECTS_MOST];
    for (const Op *op = builder->function; op; op = op_next_in_walk(op, builder->function)) {
        unsigned count = effects_of(builder->module, op, effects);
        for (unsigned i = 0; i < count; i++) {
            Thing thing;
            if (!thing_of(builder, &effects[i], &thing))
                continue;
            if (thing.side != SIDE_NONE) /* the two come in pairs */
                add_barrier(builder, (Thing){.root = thing.root, .side = SIDE_FULL});
            add_barrier(builder, thing.side == SIDE_NONE ? thing : (Thing){.root = thing.root, .side = SIDE_EMPTY});
            ReportBarrier *barrier = &builder->barriers[builder_find_barrier(builder, thing)];
            if (effects[i].verb == EFFECT_INIT && effects[i].count > 0)
                barrier->count = effects[i].count;
        }
    }
}

/* Rings that were seen and that the IR does not name by itself (ids that are computed). */
static void find_rings(Builder *builder) {
    const Sights *sights = builder->sights;
    builder->ring_barriers = ARENA_ARRAY(builder->arena, size_t, sights->ring_count + 1);
    for (size_t i = 0; i < sights->ring_count; i++) {
        const Ring *ring = &sights->rings[i];
        size_t index = add_barrier(builder, (Thing){.root = ring->root, .side = ring->side, .id = ring->id});
        ReportBarrier *barrier = &builder->barriers[index];
        builder->ring_barriers[i] = index;
        barrier->flips = ring->flips;
        if (ring->count > 0)
            barrier->count = ring->count;
    }
}

/* ---- Ops that use them ---------------------------------------------------------------------------- */

ReportMechanism effect_mechanism(Module *module, const Op *op, const Effect *effect) {
    Effect effects[EFFECTS_MOST];
    if (is_named_verb(effect->verb))
        return MECHANISM_NAMED;
    if (effect->side != SIDE_NONE && effect->on)
        return type_is(type_resolve(module, effect->on->type), STR("nvws.aref")) ? MECHANISM_AREF : MECHANISM_TOKEN;
    if (effect->verb == EFFECT_EXPECT)
        return MECHANISM_TMA;
    if (effect->verb == EFFECT_COMPLETE)
        return effect->helper == HELPER_CLC    ? MECHANISM_CLC
               : effect->helper == HELPER_BASE ? MECHANISM_REMOTE
                                               : MECHANISM_TMA;
    if (effect->done == DONE_COPIES)
        return MECHANISM_CP_ASYNC;
    if (effect->done != DONE_COMMIT)
        return MECHANISM_ARRIVE;
    unsigned count = effects_of(module, op, effects);
    for (unsigned i = 0; i < count; i++)
        if (effects[i].verb == EFFECT_UPDATE || effects[i].verb == EFFECT_WRITE)
            return MECHANISM_MMA;
    return MECHANISM_COMMIT;
}

/* Which partition an agent of a CTA is, as a bit of Partitions.mask. Tasks are agents in the order of their numbers,
 * whatever those are; for all else agent k is partition k. */
static unsigned partition_of_agent(const Builder *builder, uint32_t within) {
    const Program *program = builder->machine->program;
    static const char prefix[] = "task";
    for (uint32_t i = 0; builder->form == PARTITION_TASKS && i < program->strand_count; i++) {
        const Strand *strand = &program->strands[i];
        if (strand->index == within && strncmp(strand->name, prefix, strlen(prefix)) == 0)
            return (unsigned)atoi(strand->name + strlen(prefix));
    }
    return within;
}

const char *builder_agent(Builder *builder, uint32_t agent) {
    const Machine *machine = builder->machine;
    uint32_t cta = agent_cta(machine, agent);
    unsigned partition = partition_of_agent(builder, agent % machine->program->agents_per_cta);
    Text text = {0};
    if (cta)
        text_addf(&text, "cta%u.", cta);
    if (builder->form == PARTITION_NONE || machine->program->planned || partition >= MOST_PARTITIONS)
        text_addf(&text, "kernel");
    else
        partition_print((Partitions){builder->form, UINT64_C(1) << partition}, &text);
    return verdict_keep(builder->verdict, &text);
}

/* Where the tasks of the IR are run by one agent, in the order of the text, the op says who it will be. */
const char *builder_runner(Builder *builder, uint32_t agent, const Op *op) {
    if (!builder->machine->program->planned)
        return builder_agent(builder, agent);
    const char *name = builder_partition(builder, op);
    return *name ? name : OUTSIDE;
}

static uint32_t line_of(const Builder *builder, const Op *op) {
    return source_place(builder->module->source, op->offset).line;
}

/* What the count at an op is called: "accumCnt(loop@41)". */
static const char *counter_of(Builder *builder, const Op *op) {
    const Op *loop = enclosing_loop(op);
    return loop ? verdict_text(builder->verdict, "accumCnt(loop@%u)", line_of(builder, loop)) : "accumCnt";
}

/* The value that says which slot of a ring an effect means; NULL if none does. */
static const Value *slot_value(const Effect *effect) {
    if (effect->slot)
        return effect->slot;
    const Value *value = effect->on;
    for (int step = 0; value && value->is_result && step < 16; step++) {
        const Op *op = value->owner;
        if (op->row && op->row->id == OP_ttg_memdesc_index)
            return op->operand_count > 1 ? op->operands[1] : NULL;
        value = op->operand_count ? op->operands[0] : NULL;
    }
    return NULL;
}

static const char *written(Builder *builder, const Value *value, bool inverted) {
    Text text = {0};
    if (!value)
        return "";
    text_addf(&text, "%s", inverted ? "NOT (" : "");
    expression_print(builder->module, value, &text);
    text_addf(&text, "%s", inverted ? ")" : "");
    return verdict_keep(builder->verdict, &text);
}

static ReportSite new_site(Builder *builder, const Op *op, const Effect *effect) {
    bool waits = effect->verb == EFFECT_WAIT;
    ReportPlace place = builder_place(builder, op);
    if (!*place.partition)
        place.partition = OUTSIDE;
    return (ReportSite){.place = place,
                        .mechanism = report_mechanism(effect_mechanism(builder->module, op, effect)),
                        .index = "",
                        .phase = "",
                        .index_as_written = written(builder, slot_value(effect), false),
                        .phase_as_written = waits ? written(builder, effect->amount, effect->inverted) : "",
                        .first_parity = -1,
                        .amount = is_named_verb(effect->verb)   ? constant_of(effect->amount)
                                  : effect->count > 0 && !waits ? effect->count
                                                                : -1};
}

static const char *fitted(Builder *builder, const Fit *fit, const Sighting *seen, size_t count, bool phase,
                          const char *counter) {
    Text text = {0};
    if (fit->found && phase)
        fit_print_phase(fit, counter, &text);
    else if (fit->found)
        fit_print_index(fit, counter, &text);
    else {
        fit_print_seen(seen, count, phase, &text);
        text_addf(&text, " (follows no count)");
    }
    return verdict_keep(builder->verdict, &text);
}

static void describe(Builder *builder, const Seen *seen, ReportSite *site) {
    const Ring *ring = &builder->sights->rings[seen->ring];
    bool named = !ring->root, waits = seen->kind == SIGHT_WAIT;
    site->place.partition = builder_runner(builder, seen->agent, seen->op);
    site->place.times = seen->times;
    if (seen->kind != SIGHT_WAIT || named)
        site->amount = seen->amount;
    site->place.detail =
        seen->kind == SIGHT_EXPECT && !seen->amount ? site->place.detail /* of an aref: what it waits for, ops say */
        : seen->kind == SIGHT_EXPECT  ? verdict_text(builder->verdict, "expects %lld bytes", (long long)seen->amount)
        : seen->kind == SIGHT_DELIVER ? verdict_text(builder->verdict, "delivers %lld bytes", (long long)seen->amount)
        : named                       ? verdict_text(builder->verdict, "%lld threads", (long long)seen->amount)
        : seen_primes(seen)           ? "lets the first wait pass"
                                      : site->place.detail;
    if (seen->varies && seen->kind != SIGHT_WAIT)
        site->place.detail = verdict_text(builder->verdict, "%s, not the same each time", site->place.detail);
    if (named || !seen->count)
        return;
    const char *counter = counter_of(builder, seen->op);
    Fit fit = fit_sequence(seen->sightings, seen->count, (uint32_t)ring->depth, waits);
    site->index = fitted(builder, &fit, seen->sightings, seen->count, false, counter);
    if (fit.found && !fit.constant && fit.stride % fit.depth) {
        site->stagger = fit.start;
        site->stride = fit.stride;
    }
    if (!waits)
        return;
    site->phase = fitted(builder, &fit, seen->sightings, seen->count, true, counter);
    site->first_parity = seen->sightings[0].parity;
    site->passes_at_once = seen->at_once > 0;
}

/* A site, and which barrier it is of. */
typedef struct Entry {
    size_t barrier;
    bool waits;
    bool repeats; /* it is in a loop */
    ReportSite site;
    uint32_t order; /* by which those of one line are sorted */
} Entry;

typedef struct Entries {
    Entry *items;
    size_t count, capacity;
} Entries;

static void add_entry(Builder *builder, Entries *entries, Entry entry) {
    if (entries->count == entries->capacity) {
        entries->capacity = entries->capacity ? 2 * entries->capacity : 64;
        Entry *larger = ARENA_ARRAY(builder->arena, Entry, entries->capacity);
        if (entries->count)
            memcpy(larger, entries->items, entries->count * sizeof *larger);
        entries->items = larger;
    }
    entry.order = (uint32_t)entries->count;
    entries->items[entries->count++] = entry;
}

static int compare_entries(const void *left, const void *right) {
    const Entry *a = left, *b = right;
    if (a->site.place.ir_line != b->site.place.ir_line)
        return a->site.place.ir_line < b->site.place.ir_line ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static bool was_seen(const Builder *builder, const Op *op, const Effect *effect) {
    for (size_t i = 0; builder->sights && i < builder->sights->seen_count; i++) {
        const Seen *seen = &builder->sights->seen[i];
        if (seen->op == op && seen->effect->effect.verb == effect->verb && seen->effect->effect.on == effect->on &&
            seen->effect->effect.side == effect->side)
            return true;
    }
    return false;
}

static void collect_seen(Builder *builder, Entries *entries) {
    for (size_t i = 0; i < builder->sights->seen_count; i++) {
        const Seen *seen = &builder->sights->seen[i];
        if (agent_cta(builder->machine, seen->agent))
            continue; /* the other CTAs do the same */
        Entry entry = {.barrier = builder->ring_barriers[seen->ring],
                       .waits = seen->kind == SIGHT_WAIT,
                       .site = new_site(builder, seen->op, &seen->effect->effect)};
        describe(builder, seen, &entry.site);
        add_entry(builder, entries, entry);
    }
}

/* Ops that did nothing in the run, or that were not run at all. */
static void collect_unseen(Builder *builder, Entries *entries) {
    Effect effects[EFFECTS_MOST];
    for (const Op *op = builder->function; op; op = op_next_in_walk(op, builder->function)) {
        unsigned count = effects_of(builder->module, op, effects);
        for (unsigned i = 0; i < count; i++) {
            Thing thing;
            EffectVerb verb = effects[i].verb;
            if (verb == EFFECT_INIT || verb == EFFECT_INVALIDATE || !thing_of(builder, &effects[i], &thing) ||
                was_seen(builder, op, &effects[i]))
                continue;
            Entry entry = {.barrier = builder_find_barrier(builder, thing),
                           .waits = verb == EFFECT_WAIT || verb == EFFECT_NAMED_SYNC,
                           .repeats = enclosing_loop(op) != NULL,
                           .site = new_site(builder, op, &effects[i])};
            if (builder->sights)
                entry.site.place.detail = "did nothing in this run";
            add_entry(builder, entries, entry);
        }
    }
}

static void join_text(Text *text, const char *word) {
    Str have = {text->data, text->size};
    if (have.size && memmem(have.data, have.size, word, strlen(word)))
        return;
    text_addf(text, "%s%s", have.size ? ", " : "", word);
}

static void distribute(Builder *builder, const Entries *entries) {
    for (size_t i = 0; i < builder->barrier_count; i++) {
        ReportBarrier *barrier = &builder->barriers[i];
        for (int waits = 0; waits < 2; waits++) {
            size_t count = 0;
            for (size_t k = 0; k < entries->count; k++)
                count += entries->items[k].barrier == i && entries->items[k].waits == waits;
            ReportSite *sites = ARENA_ARRAY(builder->arena, ReportSite, count + 1);
            Text mechanisms = {0};
            count = 0;
            for (size_t k = 0; k < entries->count; k++)
                if (entries->items[k].barrier == i && entries->items[k].waits == waits) {
                    join_text(&mechanisms, entries->items[k].site.mechanism);
                    sites[count++] = entries->items[k].site;
                }
            if (waits) {
                barrier->waits = sites;
                barrier->wait_count = count;
                text_free(&mechanisms);
            } else {
                barrier->arrives = sites;
                barrier->arrive_count = count;
                barrier->mechanism = verdict_keep(builder->verdict, &mechanisms);
            }
        }
        if (!*barrier->mechanism && strcmp(barrier->kind, "named") == 0)
            barrier->mechanism = report_mechanism(MECHANISM_NAMED);
    }
}

static void issue(Builder *builder, ReportBarrier *barrier, const char *text) {
    builder_add_text(builder, &barrier->issues, &barrier->issue_count, text);
}

/* ---- A ring as a whole ---------------------------------------------------------------------------- */

typedef struct Moment {
    uint32_t when;
    Sighting sighting;
} Moment;

static int compare_moments(const void *left, const void *right) {
    const Moment *a = left, *b = right;
    return a->when < b->when ? -1 : a->when > b->when;
}

/* What one agent did at a ring, in the order in which it did it. */
static size_t merge(Builder *builder, uint32_t ring, uint32_t agent, bool waits, Sighting **merged) {
    const Sights *sights = builder->sights;
    size_t count = 0;
    for (size_t i = 0; i < sights->seen_count; i++) {
        const Seen *seen = &sights->seen[i];
        if (seen->ring == ring && seen->agent == agent && (seen->kind == SIGHT_WAIT) == waits &&
            seen->kind != SIGHT_DELIVER)
            count += seen->count;
    }
    Moment *moments = ARENA_ARRAY(builder->arena, Moment, count + 1);
    *merged = ARENA_ARRAY(builder->arena, Sighting, count + 1);
    count = 0;
    for (size_t i = 0; i < sights->seen_count; i++) {
        const Seen *seen = &sights->seen[i];
        bool mine = seen->ring == ring && seen->agent == agent && (seen->kind == SIGHT_WAIT) == waits &&
                    seen->kind != SIGHT_DELIVER;
        for (size_t k = 0; mine && k < seen->count; k++)
            moments[count++] = (Moment){seen->moments[k], seen->sightings[k]};
    }
    qsort(moments, count, sizeof *moments, compare_moments);
    for (size_t i = 0; i < count; i++)
        (*merged)[i] = moments[i].sighting;
    return count;
}

/* What was seen once follows any count: there the IR says more, if it is written as a function of one. */
static void take_written(Builder *builder, uint32_t index, uint32_t agent, bool waits, ReportBarrier *barrier) {
    for (size_t i = 0; i < builder->sights->seen_count; i++) {
        const Seen *seen = &builder->sights->seen[i];
        if (seen->ring != index || seen->agent != agent || (seen->kind == SIGHT_WAIT) != waits ||
            seen->kind == SIGHT_DELIVER)
            continue;
        ReportSite site = new_site(builder, seen->op, &seen->effect->effect);
        if (strchr(site.index_as_written, ' '))
            barrier->index = site.index_as_written;
        if (strchr(site.phase_as_written, ' '))
            barrier->phase = site.phase_as_written;
        return;
    }
}

/* A text behind others, unless it is the one before. */
static void add_other(Text *to, const char **before, const char *text) {
    if (*before && strcmp(*before, text) == 0)
        return;
    text_addf(to, "%s%s", *before ? "; " : "", text);
    *before = text;
}

/* Of ops that take turns at a ring without following one count, each by itself: "NOT (accumCnt & 1); accumCnt & 1".
 * Nothing if one of them follows none either. */
static void fit_alone(Builder *builder, uint32_t index, uint32_t agent, ReportBarrier *barrier) {
    const Sights *sights = builder->sights;
    Text indices = {0}, phases = {0};
    const char *slot = NULL, *phase = NULL;
    bool found = true, inverted = false;
    for (size_t i = 0; i < sights->seen_count && found; i++) {
        const Seen *seen = &sights->seen[i];
        if (seen->ring != index || seen->agent != agent || seen->kind != SIGHT_WAIT || !seen->count)
            continue;
        Fit fit = fit_sequence(seen->sightings, seen->count, (uint32_t)sights->rings[index].depth, true);
        found = fit.found;
        inverted = slot ? inverted : fit.inverted;
        add_other(&indices, &slot, fitted(builder, &fit, seen->sightings, seen->count, false, "accumCnt"));
        add_other(&phases, &phase, fitted(builder, &fit, seen->sightings, seen->count, true, "accumCnt"));
    }
    if (found && slot) {
        barrier->index = verdict_keep(builder->verdict, &indices);
        barrier->phase = verdict_keep(builder->verdict, &phases);
        barrier->inverted = inverted;
    }
    text_free(&indices);
    text_free(&phases);
}

/* Slots and phases of the ring: of the agent that waits for it most often, else of the one that arrives. */
static void fit_ring(Builder *builder, uint32_t index, ReportBarrier *barrier) {
    const Ring *ring = &builder->sights->rings[index];
    size_t best_count = 0;
    uint32_t best_agent = 0;
    Sighting *best = NULL;
    bool waits = ring->waits > 0;
    for (int only_fitting = 1; only_fitting >= 0 && !best; only_fitting--)
        for (uint32_t agent = 0; agent < builder->machine->program->agents_per_cta; agent++) {
            Sighting *merged;
            size_t count = merge(builder, index, agent, waits, &merged);
            if (count > best_count &&
                (!only_fitting || fit_sequence(merged, count, (uint32_t)ring->depth, waits).found)) {
                best = merged;
                best_count = count;
                best_agent = agent;
            }
        }
    if (!best || !ring->root)
        return;
    Fit fit = fit_sequence(best, best_count, (uint32_t)ring->depth, waits);
    barrier->index = fitted(builder, &fit, best, best_count, false, "accumCnt");
    barrier->phase = waits ? fitted(builder, &fit, best, best_count, true, "accumCnt") : "";
    barrier->inverted = waits && fit.found && fit.inverted && best_count > 0;
    barrier->iterations = best_count;
    if (best_count == 1)
        take_written(builder, index, best_agent, waits, barrier);
    if (waits && !fit.found)
        fit_alone(builder, index, best_agent, barrier);
}

/* What an op of a ring starts with: which partition, where, and how far from slot 0. */
typedef struct Start {
    uint32_t agent, line;
    int64_t start, stride;
    const char *data; /* what is copied by way of it; "" if nothing is */
} Start;

enum { MOST_STARTS = 32 };

static const char *copied_at(Builder *builder, const Seen *expect) {
    const Sights *sights = builder->sights;
    for (size_t i = 0; i < sights->seen_count; i++) {
        const Seen *seen = &sights->seen[i];
        if (seen->kind == SIGHT_DELIVER && seen->ring == expect->ring && seen->agent == expect->agent &&
            seen->effect->effect.on == expect->effect->effect.on && seen->effect->effect.amount)
            return operand_name(builder->names, seen->effect->effect.amount);
    }
    return "";
}

static size_t find_starts(Builder *builder, uint32_t index, Start *starts) {
    const Sights *sights = builder->sights;
    size_t count = 0;
    for (size_t i = 0; i < sights->seen_count && count < MOST_STARTS; i++) {
        const Seen *seen = &sights->seen[i];
        if (seen->ring != index || seen->kind == SIGHT_DELIVER || seen->count < 2 ||
            agent_cta(builder->machine, seen->agent))
            continue;
        Fit fit =
            fit_sequence(seen->sightings, seen->count, (uint32_t)sights->rings[index].depth, seen->kind == SIGHT_WAIT);
        if (fit.found && !fit.constant && fit.stride > 1 && fit.stride % fit.depth)
            starts[count++] = (Start){.agent = seen->agent,
                                      .line = line_of(builder, seen->op),
                                      .start = fit.start,
                                      .stride = fit.stride,
                                      .data = copied_at(builder, seen)};
    }
    return count;
}

static bool starts_there(const Start *starts, size_t count, uint32_t agent, int64_t start) {
    for (size_t i = 0; i < count; i++)
        if (starts[i].agent == agent && starts[i].start == start)
            return true;
    return false;
}

/* Whether every agent starts at the same places. */
static bool starts_agree(const Start *starts, size_t count) {
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++)
            if (!starts_there(starts, count, starts[k].agent, starts[i].start))
                return false;
    return true;
}

/* "k +0, v +1, each going on by 2": where ops of a ring start at different counts. By the names of what is copied, as
 * far as that is known, and for each partition by itself if they do not agree. */
static void find_stagger(Builder *builder, uint32_t index, ReportBarrier *barrier) {
    Start starts[MOST_STARTS];
    size_t count = find_starts(builder, index, starts);
    Text text = {0};
    bool any = false, agree = starts_agree(starts, count), named = false;
    for (size_t i = 0; i < count; i++) {
        any |= starts[i].start > 0;
        named |= *starts[i].data != 0;
    }
    for (size_t i = 0; any && i < count; i++) {
        const Start *start = &starts[i];
        bool again = agree && starts_there(starts, i, start->agent, start->start);
        if (again || (agree && (named ? !*start->data : start->agent != starts[0].agent)))
            continue;
        text_addf(&text, "%s", text.size ? ", " : "");
        if (!agree)
            text_addf(&text, "%s at IR line %u ", builder_agent(builder, start->agent), start->line);
        if (*start->data)
            text_addf(&text, "%s ", start->data);
        text_addf(&text, "+%lld", (long long)start->start);
    }
    if (text.size)
        text_addf(&text, ", each going on by %lld", (long long)starts[0].stride);
    barrier->offset = verdict_keep(builder->verdict, &text);
}

static const char *shape_text(Builder *builder, const Type *type) {
    type = type_resolve(builder->module, type);
    Text text = {0};
    for (uint16_t i = 0; i < type->dim_count; i++)
        text_addf(&text, "%lldx", (long long)type->dims[i]);
    const Type *element = type_element(builder->module, type);
    if (element)
        text_str(&text, element->text);
    return verdict_keep(builder->verdict, &text);
}

static void count_bytes(Builder *builder, const Ring *ring, ReportBarrier *barrier) {
    if (ring->expected < 0)
        return;
    ReportBytes *bytes = ARENA_ARRAY(builder->arena, ReportBytes, ring->delivery_count + 1);
    barrier->expect_bytes = ring->expected;
    barrier->data_bytes = 0;
    for (uint32_t i = 0; i < ring->delivery_count; i++) {
        const Delivery *delivery = &ring->deliveries[i];
        const Value *into = delivery->effect->effect.amount;
        const Op *root = into ? origin_of(builder->module, into) : NULL;
        bytes[i] = (ReportBytes){.name = root ? name_of(builder->names, root) : "",
                                 .text = into && into->type ? shape_text(builder, into->type) : "",
                                 .bytes = delivery->bytes,
                                 .ir_line = line_of(builder, delivery->op)};
        barrier->data_bytes += delivery->bytes;
    }
    barrier->bytes = bytes;
    barrier->byte_count = ring->delivery_count;
}

/* How often the ring is used: the wait that passed most often, and its loop. */
static void find_cadence(Builder *builder, uint32_t index, ReportBarrier *barrier) {
    const Seen *most = NULL;
    for (size_t i = 0; i < builder->sights->seen_count; i++) {
        const Seen *seen = &builder->sights->seen[i];
        if (seen->ring == index && seen->kind != SIGHT_DELIVER && seen->times &&
            (!most || (seen->kind == SIGHT_WAIT && most->kind != SIGHT_WAIT) ||
             (seen->kind == most->kind && seen->times > most->times)))
            most = seen;
    }
    const Op *loop = most ? enclosing_loop(most->op) : NULL;
    if (loop)
        barrier->cadence =
            verdict_text(builder->verdict, "the %s of IR line %u, in the loop of line %u, %s %llu time%s",
                         most->kind == SIGHT_WAIT ? "wait" : "arrive", line_of(builder, most->op),
                         line_of(builder, loop), most->kind == SIGHT_WAIT ? "passes" : "comes",
                         (unsigned long long)most->times, most->times == 1 ? "" : "s");
}

/* ---- What is worth a remark ----------------------------------------------------------------------- */

static const char depth_one[] = "depth 1: no pipelining, whoever fills it and whoever uses it take turns";

/* Whether the IR computes a slot or a phase from something that changes; false too if that cannot be seen. */
static bool is_computed(Builder *builder, const Value *value) {
    const char *text = written(builder, value, false);
    return text[strspn(text, "0123456789")];
}

static void find_site_issues(Builder *builder, uint32_t index, ReportBarrier *barrier) {
    for (size_t i = 0; i < builder->sights->seen_count; i++) {
        const Seen *seen = &builder->sights->seen[i];
        const Ring *ring = &builder->sights->rings[seen->ring];
        if (seen->ring != index || !ring->root || seen->count < 2 || agent_cta(builder->machine, seen->agent))
            continue;
        Fit fit = fit_sequence(seen->sightings, seen->count, (uint32_t)ring->depth, seen->kind == SIGHT_WAIT);
        uint32_t line = line_of(builder, seen->op);
        uint64_t fresh = ring->inits > (uint64_t)ring->depth ? ring->inits : (uint64_t)ring->depth;
        if (!fit.found)
            continue;
        if (seen->kind == SIGHT_WAIT && fit.constant && ring->flips > fresh &&
            !is_computed(builder, seen->effect->effect.amount))
            issue(
                builder, barrier,
                verdict_text(builder->verdict,
                             "missing phase tracking: the wait of IR line %u polls parity %u all of %llu times, while "
                             "phases go on",
                             line, fit.parity, (unsigned long long)seen->times));
    }
}

/* Slots of which phases completed. */
static int64_t slots_used(const Ring *ring) {
    int64_t used = 0;
    for (int64_t i = 0; ring->slot_flips && i < ring->depth; i++)
        used += ring->slot_flips[i] > 0;
    return used;
}

static void find_issues(Builder *builder, uint32_t index, ReportBarrier *barrier) {
    const Ring *ring = &builder->sights->rings[index];
    Verdict *verdict = builder->verdict;
    bool any = ring->waits || ring->arrivals || ring->flips;
    bool blocked = builder->sights->end == RUN_STUCK;
    if (ring->depth == 1 && ring->root && ring->waits > 2)
        issue(builder, barrier, depth_one);
    if (ring->flips > 2 * (uint64_t)ring->depth && slots_used(ring) && slots_used(ring) < ring->depth && !blocked)
        issue(builder, barrier,
              verdict_text(verdict, "only %lld of its %lld slots are used", (long long)slots_used(ring),
                           (long long)ring->depth));
    if (ring->counts_vary)
        issue(builder, barrier, "its slots are initialised with different counts");
    if (barrier->expect_bytes >= 0 && barrier->expect_bytes != barrier->data_bytes)
        issue(builder, barrier,
              verdict_text(verdict, "%lld bytes are expected, and the copies deliver %lld",
                           (long long)barrier->expect_bytes, (long long)barrier->data_bytes));
    if (ring->bytes_vary)
        issue(builder, barrier, "not every phase expects the same number of bytes");
    if (!any && !barrier->arrive_count && !barrier->wait_count)
        issue(builder, barrier, "no op arrives on it or waits for it");
    else if (!any && !blocked)
        issue(builder, barrier, "not used in this run");
    else if (!ring->waits && ring->arrivals && !blocked)
        issue(builder, barrier, "its arrivals are never waited for");
    else if (ring->waits && !ring->arrivals && ring->root)
        issue(builder, barrier, "nothing arrives on it: its waits pass on the fresh barrier");
    if (ring->unseen && ring->waits)
        issue(builder, barrier,
              verdict_text(verdict, "%llu of its phases completed while nobody had waited for the one before",
                           (unsigned long long)ring->unseen));
    find_site_issues(builder, index, barrier);
}

/* What can be said without a run. */
static void find_written_issues(Builder *builder, const Entries *entries) {
    bool *repeats = ARENA_ARRAY(builder->arena, bool, builder->barrier_count + 1);
    for (size_t i = 0; i < entries->count; i++)
        repeats[entries->items[i].barrier] |= entries->items[i].waits && entries->items[i].repeats;
    for (size_t i = 0; i < builder->barrier_count; i++) {
        ReportBarrier *barrier = &builder->barriers[i];
        bool unassigned = strcmp(barrier->kind, "aref") == 0 && barrier->wait_count;
        for (size_t k = 0; k < barrier->wait_count; k++)
            unassigned = unassigned && !*barrier->waits[k].index_as_written && !*barrier->waits[k].phase_as_written;
        if (barrier->depth == 1 && repeats[i])
            issue(builder, barrier, depth_one);
        if (unassigned)
            issue(builder, barrier, "no phase tracking yet: its stages and phases are not assigned");
    }
}

void report_barriers(Builder *builder) {
    Entries entries = {0};
    find_barriers(builder);
    if (builder->sights) {
        find_rings(builder);
        collect_seen(builder, &entries);
    }
    collect_unseen(builder, &entries);
    if (entries.count)
        qsort(entries.items, entries.count, sizeof *entries.items, compare_entries);
    distribute(builder, &entries);
    if (!builder->sights)
        find_written_issues(builder, &entries);
    for (size_t i = 0; builder->sights && i < builder->sights->ring_count; i++) {
        ReportBarrier *barrier = &builder->barriers[builder->ring_barriers[i]];
        fit_ring(builder, (uint32_t)i, barrier);
        find_stagger(builder, (uint32_t)i, barrier);
        count_bytes(builder, &builder->sights->rings[i], barrier);
        find_cadence(builder, (uint32_t)i, barrier);
        find_issues(builder, (uint32_t)i, barrier);
    }
    report_named(builder);
}
