/* What lanes get from other lanes: shuffles, votes, matches, reductions, elections. */
#include "ptx/value/internal.h"

/* Which lane each lane reads, and whether there is one. */
static void sources(Shuffle shuffle, uint64_t b, uint64_t c, uint8_t from[FORM_LANES], uint64_t there[FORM_LANES]) {
    unsigned by = b & 31, most = c & 31, segment = c >> 8 & 31;
    for (unsigned lane = 0; lane < FORM_LANES; lane++) {
        unsigned last = (lane & segment) | (most & ~segment & 31), first = lane & segment;
        int source = shuffle == SHUFFLE_UP       ? (int)lane - (int)by
                     : shuffle == SHUFFLE_DOWN   ? (int)(lane + by)
                     : shuffle == SHUFFLE_ACROSS ? (int)(lane ^ by)
                                                 : (int)(first | (by & ~segment));
        bool good = shuffle == SHUFFLE_UP ? source >= (int)last : source <= (int)last;
        from[lane] = (uint8_t)(good ? source : (int)lane);
        there[lane] = good;
    }
}

static Form moved_lanes(FormTables *tables, const Form *a, const uint8_t from[FORM_LANES]) {
    if (a->kind != FORM_TABLE || !a->table)
        return a->kind == FORM_TABLE ? *a : form_narrowed(tables, a, SPAN_NONE);
    const uint64_t *of_a = form_offsets(tables, a->table);
    uint64_t offsets[FORM_MOST_THREADS];
    for (unsigned i = 0; i < form_threads(tables); i++)
        offsets[i] = of_a[i / FORM_LANES * FORM_LANES + from[i % FORM_LANES]];
    return form_based(tables, a, offsets);
}

/* A predicate of each lane. */
static Form lanes_predicate(FormTables *tables, const uint64_t holds[FORM_LANES]) {
    uint64_t offsets[FORM_MOST_THREADS];
    Form zero = form_number(1, 0);
    for (unsigned i = 0; i < form_threads(tables); i++)
        offsets[i] = holds[i % FORM_LANES];
    return form_based(tables, &zero, offsets);
}

/* All read the same lane, if which one is the same for all, and every lane can be read. */
static bool reads_one_lane(const FormTables *tables, const Operation *op, const Form *b, const Form *c) {
    uint64_t clamp;
    return op->shuffle == SHUFFLE_INDEX && form_is_uniform(tables, b) && form_constant(c, &clamp) &&
           (clamp & 0x1f1f) == 31;
}

static void shuffle_results(ValueSolver *s, const Operation *op, const Form *arguments, Form results[2]) {
    const Form *a = &arguments[0], *b = &arguments[1], *c = &arguments[2];
    uint64_t by, clamp, there[FORM_LANES];
    uint8_t from[FORM_LANES];
    results[0] = form_any(32);
    results[1] = form_any(1);
    if (form_constant(b, &by) && form_constant(c, &clamp)) {
        sources((Shuffle)op->shuffle, by, clamp, from, there);
        results[0] = moved_lanes(s->tables, a, from);
        results[1] = lanes_predicate(s->tables, there);
    } else if (reads_one_lane(s->tables, op, b, c)) {
        uint64_t zeros, ones;
        form_known(s->tables, a, &zeros, &ones);
        results[0] = form_uniform(32, SPAN_WARP, zeros, ones);
        results[1] = form_number(1, 1);
    } else if (form_is_uniform(s->tables, a)) {
        results[0] = *a;
    }
    if (reads_one_lane(s->tables, op, b, c) &&
        !form_is_uniform(s->tables, &results[0])) { /* of a lane that is known, of which little is */
        uint64_t zeros, ones;
        form_known(s->tables, a, &zeros, &ones);
        results[0] = form_uniform(32, SPAN_WARP, zeros, ones);
    }
    results[0].assumes = a->assumes | b->assumes | c->assumes;
}

void lanes_results(ValueSolver *s, const Meaning *meaning, const Form *arguments, unsigned count, Form results[2]) {
    const Operation *op = &meaning->operation;
    const Form *mask = count ? &arguments[count - 1] : NULL;
    results[0] = form_any(128);
    results[1] = form_any(1);
    for (unsigned i = 0; i < count; i++)
        if (arguments[i].kind == FORM_NEVER) {
            results[0].kind = results[1].kind = FORM_NEVER;
            return;
        }
    if (op->evaluator == PTX_EVALUATE_SHUFFLE && count >= 3) {
        shuffle_results(s, op, arguments, results);
        return;
    }
    /* Lanes that run it together name the same lanes: then they are all of one vote. */
    bool together = mask && count >= (op->evaluator == PTX_EVALUATE_ELECT ? 1 : 2) && form_is_uniform(s->tables, mask);
    if (!together || op->evaluator == PTX_EVALUATE_ACTIVEMASK || (op->evaluator == PTX_EVALUATE_MATCH && !meaning->all))
        return;
    results[0] = form_uniform(128, SPAN_WARP, 0, 0);
    if (op->evaluator != PTX_EVALUATE_ELECT)
        results[1] = form_uniform(1, SPAN_WARP, 0, 0);
    results[0].assumes = results[1].assumes = mask->assumes;
}
