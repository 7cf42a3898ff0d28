/* The barriers of a kernel: what the IR says of each, and what a run showed of the ops that use it. */
#include "check/report/build/internal.h"

#include "base/order.h"
#include "base/pointers.h"
#include "model/number/expression.h"

#include <stdlib.h>

/* ---- Which barriers there are --------------------------------------------------------------------- */

static bool is_type(Builder *builder, const Op *root, Str name) {
    return root->result_count && type_is(type_resolve(builder->module, root->results[0].type), name);
}

/* A constant, through what hands it on unchanged; -1 if it is none. */
static int64_t constant_of(const Value *value) {
    enum { MOST_STEPS = 16 };
    int64_t number;
    for (int step = 0; value_op(value) && step < MOST_STEPS; step++) {
        const Op *op = value->owner;
        if (value_constant(value, &number))
            return number;
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
    if (effect_is_named(effect)) {
        thing->id = effect->on ? constant_of(effect->on) : effect->number;
        return thing->id >= 0;
    }
    if (!effect_is_barrier(effect))
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

/* What a ring of one run is in another; NULL: it was not met there. */
static const Ring *same_ring(const Sights *sights, const Ring *ring) {
    for (size_t i = 0; i < sights->ring_count; i++) {
        const Ring *other = &sights->rings[i];
        if (other->root == ring->root && other->side == ring->side && other->id == ring->id)
            return other;
    }
    return NULL;
}

/* Phases of the CTA that is described. */
static uint64_t flips_of(const Ring *ring) {
    uint64_t flips = 0;
    for (int64_t i = 0; ring->slot_flips && i < ring->depth; i++)
        flips += ring->slot_flips[i];
    return ring->slot_flips ? flips : ring->flips;
}

/* Rings that were seen and that the IR does not name by itself (ids that are computed). */
static void find_rings(Builder *builder) {
    const Sights *sights = builder->sights;
    builder->ring_barriers = ARENA_ARRAY(builder->arena, size_t, sights->ring_count + 1);
    for (size_t i = 0; i < sights->ring_count; i++) {
        const Ring *ring = &sights->rings[i];
        size_t index = add_barrier(builder, (Thing){.root = ring->root, .side = ring->side, .id = ring->id});
        ReportBarrier *barrier = &builder->barriers[index];
        const Ring *hung = builder->hung ? same_ring(builder->hung, ring) : NULL;
        builder->ring_barriers[i] = index;
        barrier->flips = !builder->hung ? flips_of(ring) : hung ? flips_of(hung) : 0;
        barrier->intended = builder->hung ? flips_of(ring) : 0;
        if (ring->count > 0)
            barrier->count = ring->count;
    }
    builder->barrier_rings = ARENA_ARRAY(builder->arena, uint32_t, builder->barrier_count + 1);
    builder->ring_next = ARENA_ARRAY(builder->arena, uint32_t, sights->ring_count + 1);
    for (size_t i = sights->ring_count; i-- > 0;) {
        uint32_t *last = &builder->barrier_rings[builder->ring_barriers[i]];
        builder->ring_next[i] = *last;
        *last = (uint32_t)i + 1;
    }
}

/* ---- Ops that use them ---------------------------------------------------------------------------- */

static bool is_write(const Effect *effect) {
    return effect->verb == EFFECT_UPDATE || effect->verb == EFFECT_WRITE;
}

ReportMechanism effect_mechanism(Module *module, const Op *op, const Effect *effect) {
    if (effect_is_named(effect))
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
    return op_any_effect(module, op, is_write) ? MECHANISM_MMA : MECHANISM_COMMIT;
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

/* What the count at an op is called: "accumCnt(loop@41)". */
static const char *counter_of(Builder *builder, const Op *op) {
    const Op *loop = enclosing_loop(op);
    return loop ? verdict_text(builder->verdict, "accumCnt(loop@%u)", op_line(builder->module, loop)) : "accumCnt";
}

const char *builder_written(Builder *builder, const Value *value, bool inverted) {
    Text text = {0};
    if (!value)
        return "";
    text_addf(&text, "%s", inverted ? "NOT (" : "");
    expression_print(builder->module, value, &text);
    text_addf(&text, "%s", inverted ? ")" : "");
    return verdict_keep(builder->verdict, &text);
}

/* Threads of a named barrier, as far as the op says; -1: it does not. */
static int64_t named_amount(const Effect *effect) {
    return effect->amount ? constant_of(effect->amount) : effect->count ? effect->count : -1;
}

ReportSite builder_site(Builder *builder, const Op *op, const Effect *effect) {
    bool waits = effect->verb == EFFECT_WAIT;
    ReportPlace place = builder_place(builder, op);
    if (!*place.partition)
        place.partition = OUTSIDE;
    return (ReportSite){.place = place,
                        .mechanism = report_mechanism(effect_mechanism(builder->module, op, effect)),
                        .index = "",
                        .phase = "",
                        .part = "",
                        .index_as_written =
                            builder_written(builder, effect->slot ? effect->slot : value_slot(effect->on), false),
                        .phase_as_written = waits ? builder_written(builder, effect->amount, effect->inverted) : "",
                        .first_parity = -1,
                        .amount = effect_is_named(effect)       ? named_amount(effect)
                                  : effect->count > 0 && !waits ? effect->count
                                                                : -1};
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
        site->place.detail = verdict_text(builder->verdict, "%s, varies", site->place.detail);
    if (named || !seen->count)
        return;
    const char *counter = counter_of(builder, seen->op);
    Fit fit = builder_fit(builder, seen);
    site->part = builder_loop_part(builder, seen);
    if (!fit.found && *site->part) { /* it is one count with the other parts of its loop */
        Fit together = builder_fit_together(builder, seen);
        if (together.found || together.left) {
            fit = together;
            counter = "accumCnt";
        }
    }
    site->index = builder_fitted(builder, &fit, seen->sightings, seen->count, false, counter);
    if (fit.found && !fit.constant && fit.stride % fit.depth) {
        site->stagger = fit.start;
        site->stride = fit.stride;
    }
    if (!waits)
        return;
    site->phase = builder_fitted(builder, &fit, seen->sightings, seen->count, true, counter);
    site->first_parity = seen->sightings[0].parity;
    site->passes_at_once = seen->at_once > 0;
}

/* A site, and which barrier it is of. */
typedef struct BarrierEntry {
    size_t barrier;
    bool waits;
    bool repeats; /* it is in a loop */
    ReportSite site;
    uint32_t order; /* by which those of one line are sorted */
} BarrierEntry;

typedef struct BarrierEntries {
    BarrierEntry *items;
    uint32_t count, capacity;
} BarrierEntries;

static void add_entry(Builder *builder, BarrierEntries *entries, BarrierEntry entry) {
    entry.order = entries->count;
    *ARENA_PUSH(builder->arena, entries->items, entries->count, entries->capacity) = entry;
}

ORDER(compare_entries, BarrierEntry, BY(site.place.ir_line) BY(order))

/* What was seen, by its op: of each the last, + 1; `next` goes on. */
typedef struct SeenOps {
    Pointers last;
    uint32_t *next;
} SeenOps;

static SeenOps seen_ops(Builder *builder, const Sights *sights) {
    size_t count = sights ? sights->seen_count : 0;
    SeenOps ops = {.last = {.arena = builder->arena}, .next = ARENA_ARRAY(builder->arena, uint32_t, count + 1)};
    for (size_t i = 0; i < count; i++) {
        const Op *op = sights->seen[i].op;
        uint32_t before = pointers_get(&ops.last, op);
        ops.next[i] = before == NO_NUMBER ? 0 : before;
        pointers_set(&ops.last, op, (uint32_t)i + 1);
    }
    return ops;
}

/* What an effect of an op did, by one agent or (ANY_AGENT) by any; NULL: nothing. */
enum { ANY_AGENT = UINT32_MAX };
static const Seen *find_seen(const Sights *sights, const SeenOps *ops, const Op *op, const Effect *effect,
                             uint32_t agent) {
    uint32_t at = pointers_get(&ops->last, op);
    for (at = at == NO_NUMBER ? 0 : at; at; at = ops->next[at - 1]) {
        const Seen *seen = &sights->seen[at - 1];
        if (seen->effect->effect.verb == effect->verb && seen->effect->effect.on == effect->on &&
            seen->effect->effect.side == effect->side && (agent == ANY_AGENT || agent == seen->agent))
            return seen;
    }
    return NULL;
}

static void collect_seen(Builder *builder, BarrierEntries *entries) {
    SeenOps before = seen_ops(builder, builder->hung);
    for (size_t i = 0; i < builder->sights->seen_count; i++) {
        const Seen *seen = &builder->sights->seen[i];
        if (agent_cta(builder->machine, seen->agent))
            continue; /* the other CTAs do the same */
        BarrierEntry entry = {.barrier = builder->ring_barriers[seen->ring],
                              .waits = seen->kind == SIGHT_WAIT,
                              .site = builder_site(builder, seen->op, &seen->effect->effect)};
        describe(builder, seen, &entry.site);
        if (builder->hung) {
            const Seen *hung = find_seen(builder->hung, &before, seen->op, &seen->effect->effect, seen->agent);
            entry.site.intended = seen->times;
            entry.site.place.times = hung ? hung->times : 0;
        }
        add_entry(builder, entries, entry);
    }
}

/* Ops that did nothing in the run, or that were not run at all. */
static void collect_unseen(Builder *builder, BarrierEntries *entries) {
    Effect effects[EFFECTS_MOST];
    SeenOps ops = seen_ops(builder, builder->sights);
    for (const Op *op = builder->function; op; op = op_next_in_walk(op, builder->function)) {
        unsigned count = effects_of(builder->module, op, effects);
        for (unsigned i = 0; i < count; i++) {
            Thing thing;
            EffectVerb verb = effects[i].verb;
            if (verb == EFFECT_INIT || verb == EFFECT_INVALIDATE || !thing_of(builder, &effects[i], &thing) ||
                find_seen(builder->sights, &ops, op, &effects[i], ANY_AGENT))
                continue;
            BarrierEntry entry = {.barrier = builder_find_barrier(builder, thing),
                                  .waits = verb == EFFECT_WAIT || verb == EFFECT_NAMED_SYNC,
                                  .repeats = enclosing_loop(op) != NULL,
                                  .site = builder_site(builder, op, &effects[i])};
            if (builder->sights)
                entry.site.place.detail =
                    builder->hung ? "does nothing, not even past the waits that block" : "did nothing in this run";
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

static void distribute(Builder *builder, const BarrierEntries *entries) {
    uint32_t *first = ARENA_ARRAY(builder->arena, uint32_t, builder->barrier_count + 1);
    uint32_t *next = ARENA_ARRAY(builder->arena, uint32_t, entries->count + 1);
    for (size_t k = entries->count; k-- > 0;) {
        next[k] = first[entries->items[k].barrier];
        first[entries->items[k].barrier] = (uint32_t)k + 1;
    }
    for (size_t i = 0; i < builder->barrier_count; i++) {
        ReportBarrier *barrier = &builder->barriers[i];
        BuildSites arrives = {0}, waits = {0};
        Text mechanisms = {0};
        for (uint32_t k = first[i]; k; k = next[k - 1]) {
            const BarrierEntry *entry = &entries->items[k - 1];
            BuildSites *sites = entry->waits ? &waits : &arrives;
            *ARENA_PUSH(builder->arena, sites->items, sites->count, sites->capacity) = entry->site;
            if (!entry->waits)
                join_text(&mechanisms, entry->site.mechanism);
        }
        builder_sites(barrier, &arrives, &waits);
        barrier->mechanism = verdict_keep(builder->verdict, &mechanisms);
        if (!*barrier->mechanism && strcmp(barrier->kind, "named") == 0)
            barrier->mechanism = report_mechanism(MECHANISM_NAMED);
    }
}

/* What can be said without a run. */
static void find_written_issues(Builder *builder, const BarrierEntries *entries) {
    bool *repeats = ARENA_ARRAY(builder->arena, bool, builder->barrier_count + 1);
    for (size_t i = 0; i < entries->count; i++)
        repeats[entries->items[i].barrier] |= entries->items[i].waits && entries->items[i].repeats;
    for (size_t i = 0; i < builder->barrier_count; i++) {
        ReportBarrier *barrier = &builder->barriers[i];
        bool unassigned = strcmp(barrier->kind, "aref") == 0 && barrier->wait_count;
        for (size_t k = 0; k < barrier->wait_count; k++)
            unassigned = unassigned && !*barrier->waits[k].index_as_written && !*barrier->waits[k].phase_as_written;
        if (barrier->depth == 1 && repeats[i])
            builder_issue(builder, barrier, depth_one);
        if (unassigned)
            builder_issue(builder, barrier, "no phase tracking yet: its stages and phases are not assigned");
    }
}

void report_barriers(Builder *builder) {
    BarrierEntries entries = {0};
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
    for (uint32_t i = 0; builder->sights && i < builder->sights->ring_count; i++)
        report_ring(builder, i, &builder->barriers[builder->ring_barriers[i]]);
    report_named(builder);
}
