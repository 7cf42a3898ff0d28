/* A ring of barriers as a whole: which slots and phases its ops go through in a run, and what is worth a remark. */
#include "base/order.h"
#include "check/report/build/internal.h"

#include <stdlib.h>

/* ---- Sequences ------------------------------------------------------------------------------------ */

const char *builder_fitted(Builder *builder, const Fit *fit, const Sighting *seen, size_t count, bool phase,
                           const char *counter) {
    Text text = {0};
    bool follows = fit->found || fit->left;
    if (follows && phase)
        fit_print_phase(fit, counter, &text);
    else if (follows)
        fit_print_index(fit, counter, &text);
    else {
        fit_print_seen(seen, count, phase, &text);
        text_addf(&text, " (follows no counter)");
    }
    if (follows && fit->restarts)
        text_addf(&text, ", from the start with each initialization");
    if (follows && fit->repeats && phase)
        text_addf(&text, ", %u time%s for the phase before again", fit->repeats, plural(fit->repeats));
    if (fit->left)
        text_addf(&text, ", but the last %u", fit->left);
    return verdict_keep(builder->verdict, &text);
}

/* A ring that is initialized in a loop is counted again each time, where it is not one count anyway. */
static Fit fit_ring_uses(const Builder *builder, const Ring *ring, const Sighting *seen, size_t count, bool parities) {
    Fit fit = fit_sequence(seen, count, (uint32_t)ring->depth, parities);
    uint64_t slots = (uint64_t)ring->depth * builder->machine->program->ctas;
    uint64_t rounds = slots ? ring->inits / slots : 0;
    return fit.found || rounds < 2 ? fit : fit_restarting(seen, count, (uint32_t)ring->depth, parities, rounds - 1);
}

Fit builder_fit(const Builder *builder, const Seen *seen) {
    const Ring *ring = &builder->sights->rings[seen->ring];
    return fit_ring_uses(builder, ring, seen->sightings, seen->count, seen->kind == SIGHT_WAIT);
}

/* Whether it is what an agent does: its waits, or all else but what copies deliver. */
static bool is_of(const Seen *seen, uint32_t agent, bool waits) {
    return seen->agent == agent && (seen->kind == SIGHT_WAIT) == waits && seen->kind != SIGHT_DELIVER;
}

typedef struct Moment {
    uint32_t when;
    Sighting sighting;
} Moment;

ORDER(compare_moments, Moment, BY(when))

/* What one agent did at a ring, in the order in which it did it. */
static size_t merge(Builder *builder, uint32_t ring, uint32_t agent, bool waits, Sighting **merged) {
    const Sights *sights = builder->sights;
    Moment *moments = NULL;
    uint32_t count = 0, capacity = 0;
    for (const Seen *seen = seen_first(sights, ring); seen; seen = seen_next(sights, seen)) {
        for (size_t k = 0; is_of(seen, agent, waits) && k < seen->count; k++)
            *ARENA_PUSH(builder->arena, moments, count, capacity) = (Moment){seen->moments[k], seen->sightings[k]};
    }
    if (count)
        qsort(moments, count, sizeof *moments, compare_moments);
    *merged = ARENA_ARRAY(builder->arena, Sighting, count + 1);
    for (size_t i = 0; i < count; i++)
        (*merged)[i] = moments[i].sighting;
    return count;
}

Fit builder_fit_together(Builder *builder, const Seen *seen) {
    const Ring *ring = &builder->sights->rings[seen->ring];
    Sighting *merged;
    bool waits = seen->kind == SIGHT_WAIT;
    size_t count = seen->kind == SIGHT_DELIVER ? 0 : merge(builder, seen->ring, seen->agent, waits, &merged);
    return count ? fit_ring_uses(builder, ring, merged, count, waits) : (Fit){0};
}

/* ---- Peeled loops --------------------------------------------------------------------------------- */

static bool stands_in(const Op *op, const Op *loop) {
    while (op && op != loop)
        op = op_parent(op);
    return op;
}

/* The loop that an op stands beside, in the same iteration of whatever is around both; NULL: `other` is in none such.
 */
static const Op *loop_beside(const Op *op, const Op *other) {
    for (const Op *loop = enclosing_loop(other); loop; loop = enclosing_loop(loop))
        if (!stands_in(op, loop) && enclosing_loop(loop) == enclosing_loop(op))
            return loop;
    return NULL;
}

const char *builder_loop_part(const Builder *builder, const Seen *seen) {
    const Sights *sights = builder->sights;
    const char *part = "";
    for (const Seen *other = seen_first(sights, seen->ring); other; other = seen_next(sights, other)) {
        if (other == seen || other->agent != seen->agent || other->kind != seen->kind)
            continue;
        const Op *loop = loop_beside(seen->op, other->op);
        if (loop)
            return seen->op->offset < loop->offset ? "prologue" : "epilogue";
        if (loop_beside(other->op, seen->op))
            part = "loop";
    }
    return part;
}

/* What was seen once follows any count: there the IR says more, if it is written as a function of one. */
static void take_written(Builder *builder, uint32_t index, uint32_t agent, bool waits, ReportBarrier *barrier) {
    const Sights *sights = builder->sights;
    for (const Seen *seen = seen_first(sights, index); seen; seen = seen_next(sights, seen)) {
        if (!is_of(seen, agent, waits))
            continue;
        ReportSite site = builder_site(builder, seen->op, &seen->effect->effect);
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
    for (const Seen *seen = seen_first(sights, index); seen && found; seen = seen_next(sights, seen)) {
        if (!is_of(seen, agent, true) || !seen->count)
            continue;
        Fit fit = builder_fit(builder, seen);
        found = fit.found && !fit.repeats;
        inverted = slot ? inverted : fit.inverted;
        add_other(&indices, &slot, builder_fitted(builder, &fit, seen->sightings, seen->count, false, "accumCnt"));
        add_other(&phases, &phase, builder_fitted(builder, &fit, seen->sightings, seen->count, true, "accumCnt"));
    }
    if (found && slot) {
        barrier->index = verdict_keep(builder->verdict, &indices);
        barrier->phase = verdict_keep(builder->verdict, &phases);
        barrier->inverted = inverted;
    }
    text_free(&indices);
    text_free(&phases);
}

/* How well a count says what an agent did: by itself, with waits that look again, or not. */
enum { FITS_NOT, FITS, FITS_PLAINLY };

static int fit_grade(const Builder *builder, const Ring *ring, const Sighting *seen, size_t count, bool waits) {
    Fit fit = fit_ring_uses(builder, ring, seen, count, waits);
    return !fit.found ? FITS_NOT : fit.repeats ? FITS : FITS_PLAINLY;
}

/* Slots and phases of the ring: of the agent that waits for it most often, else of the one that arrives. */
static void fit_ring(Builder *builder, uint32_t index, ReportBarrier *barrier) {
    const Ring *ring = &builder->sights->rings[index];
    size_t best_count = 0;
    uint32_t best_agent = 0;
    Sighting *best = NULL;
    bool waits = ring->waits > 0;
    for (int wanted = FITS_PLAINLY; wanted >= FITS_NOT && !best; wanted--)
        for (uint32_t agent = 0; agent < builder->machine->program->agents_per_cta; agent++) {
            Sighting *merged;
            size_t count = merge(builder, index, agent, waits, &merged);
            if (count > best_count && fit_grade(builder, ring, merged, count, waits) >= wanted) {
                best = merged;
                best_count = count;
                best_agent = agent;
            }
        }
    if (!best || !ring->root)
        return;
    Fit fit = fit_ring_uses(builder, ring, best, best_count, waits);
    barrier->index = builder_fitted(builder, &fit, best, best_count, false, "accumCnt");
    barrier->phase = waits ? builder_fitted(builder, &fit, best, best_count, true, "accumCnt") : "";
    barrier->inverted = waits && fit.found && fit.inverted && best_count > 0;
    barrier->iterations = best_count;
    if (best_count == 1)
        take_written(builder, index, best_agent, waits, barrier);
    if (waits && (!fit.found || fit.repeats))
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
    for (const Seen *seen = seen_first(sights, expect->ring); seen; seen = seen_next(sights, seen)) {
        if (seen->kind == SIGHT_DELIVER && seen->agent == expect->agent &&
            seen->effect->effect.on == expect->effect->effect.on && seen->effect->effect.amount)
            return operand_name(builder->names, seen->effect->effect.amount);
    }
    return "";
}

static size_t find_starts(Builder *builder, uint32_t index, Start *starts) {
    const Sights *sights = builder->sights;
    size_t count = 0;
    for (const Seen *seen = seen_first(sights, index); seen && count < MOST_STARTS; seen = seen_next(sights, seen)) {
        if (seen->kind == SIGHT_DELIVER || seen->count < 2 || agent_cta(builder->machine, seen->agent))
            continue;
        Fit fit = builder_fit(builder, seen);
        if (fit.found && !fit.constant && fit.stride > 1 && fit.stride % fit.depth)
            starts[count++] = (Start){.agent = seen->agent,
                                      .line = op_line(builder->module, seen->op),
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
        text_addf(&text, ", each advancing by %lld", (long long)starts[0].stride);
    barrier->offset = verdict_keep(builder->verdict, &text);
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
                                 .text = into ? builder_shape(builder, into->type, UINT32_MAX) : "",
                                 .bytes = delivery->bytes,
                                 .ir_line = op_line(builder->module, delivery->op)};
        barrier->data_bytes += delivery->bytes;
    }
    barrier->bytes = bytes;
    barrier->byte_count = ring->delivery_count;
}

/* How often the ring is used: the wait that passed most often, and its loop. */
static void find_cadence(Builder *builder, uint32_t index, ReportBarrier *barrier) {
    const Seen *most = NULL;
    const Sights *sights = builder->sights;
    for (const Seen *seen = seen_first(sights, index); seen; seen = seen_next(sights, seen)) {
        if (seen->kind != SIGHT_DELIVER && seen->times &&
            (!most || (seen->kind == SIGHT_WAIT && most->kind != SIGHT_WAIT) ||
             (seen->kind == most->kind && seen->times > most->times)))
            most = seen;
    }
    const Op *loop = most ? enclosing_loop(most->op) : NULL;
    if (loop)
        barrier->cadence =
            verdict_text(builder->verdict, "the %s at IR line %u, in the loop at line %u, %s %llu time%s",
                         most->kind == SIGHT_WAIT ? "wait" : "arrive", op_line(builder->module, most->op),
                         op_line(builder->module, loop), most->kind == SIGHT_WAIT ? "passes" : "comes",
                         (unsigned long long)most->times, plural((int64_t)most->times));
}

/* ---- What is worth a remark ----------------------------------------------------------------------- */

const char depth_one[] = "depth 1: no pipelining, producer and consumer alternate";

/* Whether the IR computes a slot or a phase from something that changes; false too if that cannot be seen. */
static bool is_computed(Builder *builder, const Value *value) {
    const char *text = builder_written(builder, value, false);
    return text[strspn(text, "0123456789")];
}

static void find_site_issues(Builder *builder, uint32_t index, ReportBarrier *barrier) {
    const Sights *sights = builder->sights;
    const Ring *ring = &sights->rings[index];
    for (const Seen *seen = seen_first(sights, index); seen; seen = seen_next(sights, seen)) {
        if (!ring->root || seen->count < 2 || agent_cta(builder->machine, seen->agent))
            continue;
        Fit fit = builder_fit(builder, seen);
        uint32_t line = op_line(builder->module, seen->op);
        uint64_t fresh = ring->inits > (uint64_t)ring->depth ? ring->inits : (uint64_t)ring->depth;
        if (!fit.found)
            continue;
        if (seen->kind == SIGHT_WAIT && fit.constant && ring->flips > fresh &&
            !is_computed(builder, seen->effect->effect.amount))
            builder_issue(
                builder, barrier,
                verdict_text(builder->verdict,
                             "missing phase tracking: the wait at IR line %u polls parity %u all %llu times, while "
                             "phases advance",
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
    bool let_on = ring->flips > 0; /* with no arrival: by the code that let a wait pass that hangs */
    if (ring->depth == 1 && ring->root && ring->waits > 2)
        builder_issue(builder, barrier, depth_one);
    if (ring->flips > 2 * (uint64_t)ring->depth && slots_used(ring) && slots_used(ring) < ring->depth && !blocked)
        builder_issue(builder, barrier,
                      verdict_text(verdict, "only %lld of its %lld slots are used", (long long)slots_used(ring),
                                   (long long)ring->depth));
    if (ring->counts_vary)
        builder_issue(builder, barrier, "its slots are initialized with different counts");
    if (barrier->expect_bytes >= 0 && barrier->expect_bytes != barrier->data_bytes)
        builder_issue(builder, barrier,
                      verdict_text(verdict, "%lld bytes are expected, and the copies deliver %lld",
                                   (long long)barrier->expect_bytes, (long long)barrier->data_bytes));
    if (ring->bytes_vary)
        builder_issue(builder, barrier, "not every phase expects the same number of bytes");
    if (!any && !barrier->arrive_count && !barrier->wait_count)
        builder_issue(builder, barrier, "no op arrives on it or waits for it");
    else if (!any && !blocked)
        builder_issue(builder, barrier, "not used in this run");
    else if (!ring->waits && ring->arrivals && !blocked)
        builder_issue(builder, barrier, "its arrivals are never waited for");
    else if (ring->waits && !ring->arrivals && ring->root)
        builder_issue(builder, barrier,
                      let_on && barrier->arrive_count ? "no arrival comes on it in this run, and a wait for it hangs"
                      : let_on                        ? "nothing arrives on it, and a wait for it hangs"
                      : barrier->arrive_count ? "no arrival comes in this run: its waits pass on the fresh barrier"
                                              : "nothing arrives on it: its waits pass on the fresh barrier");
    if (ring->unseen && ring->waits)
        builder_issue(builder, barrier,
                      verdict_text(verdict,
                                   "%llu of its phases completed before anything had waited for the "
                                   "previous one",
                                   (unsigned long long)ring->unseen));
    find_site_issues(builder, index, barrier);
}

void report_ring(Builder *builder, uint32_t index, ReportBarrier *barrier) {
    fit_ring(builder, index, barrier);
    find_stagger(builder, index, barrier);
    count_bytes(builder, &builder->sights->rings[index], barrier);
    find_cadence(builder, index, barrier);
    find_issues(builder, index, barrier);
}
