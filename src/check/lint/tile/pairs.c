/* Rules of lint_barrier.def that two ops decide: an announcement and its copies, a wait and what it is for.
 *
 * Every signal is followed to the allocations that its barrier may be one of; what goes to an op that is not known may
 * be waited for there. */
#include "base/order.h"
#include "check/explain/place.h"
#include "check/lint/tile/signals.h"

#include <stdlib.h>

enum { DEEPEST_EXPRESSION = 8 };

/* What is done with the barriers of one allocation. */
typedef struct PairUse {
    const Op *arrival;    /* the first of its kind in the text; NULL: there is none */
    const Op *completion; /* of copies */
    const Op *commit;     /* of tensor cores, whose later commits complete earlier work too */
    bool waited;          /* by an agent, or it is not known */
    bool by_hand;         /* something signals it that does not say which memory it is about */
} PairUse;

/* An announcement of bytes and the copies after it on the same barrier in the same block. */
typedef struct Expected {
    const Op *expect, *copy;
    const Value *announced, *copied; /* predicates; NULL: always */
    bool mixed;                      /* not all copies have the same */
} Expected;

/* Copies into `data` count on `barrier`: origins. */
typedef struct Filled {
    uint32_t barrier, data;
} Filled;

typedef struct Pairs {
    Lint *lint;
    Arena *arena;
    Origins origins;
    PairUse *uses;      /* by origin */
    bool all_waited;    /* some barrier that is waited for may be any */
    bool commit_waited; /* an agent waits for a commit of the tensor cores */
    Expected *expected;
    uint32_t expected_count, expected_capacity;
    Pointers last_expected; /* barrier -> the last announcement on it */
    Filled *filled;
    uint32_t filled_count, filled_capacity;
} Pairs;

/* ---- Collecting ----------------------------------------------------------------------------------- */

static void note_filled(Pairs *pairs, OriginSet barrier, const Value *data) {
    OriginSet filled = origins_find(&pairs->origins, data);
    for (uint32_t i = 0; i < barrier.count; i++) {
        pairs->uses[barrier.items[i]].by_hand |= filled.anything || !filled.count;
        for (uint32_t k = 0; k < filled.count; k++)
            *ARENA_PUSH(pairs->arena, pairs->filled, pairs->filled_count, pairs->filled_capacity) =
                (Filled){barrier.items[i], filled.items[k]};
    }
}

static void note_use(Pairs *pairs, const Op *op, const Effect *effect) {
    OriginSet set = origins_find(&pairs->origins, effect->on);
    bool waits = effect->verb == EFFECT_WAIT;
    pairs->all_waited |= waits && (set.anything || !set.count);
    for (uint32_t i = 0; i < set.count; i++) {
        PairUse *use = &pairs->uses[set.items[i]];
        use->waited |= waits;
        use->by_hand |= effect->verb == EFFECT_ARRIVE || set.anything;
        bool arrives = effect->verb == EFFECT_ARRIVE;
        const Op **first = effect->verb == EFFECT_COMPLETE || (arrives && effect->done == DONE_COPIES)
                               ? &use->completion
                           : arrives && effect->done == DONE_COMMIT ? &use->commit
                           : arrives                                ? &use->arrival
                                                                    : NULL;
        if (first && !*first)
            *first = op;
    }
    if (effect->verb == EFFECT_COMPLETE && effect->amount && memdesc_space(effect->amount->type) != SPACE_NONE)
        note_filled(pairs, set, effect->amount);
    else if (effect->verb == EFFECT_COMPLETE)
        for (uint32_t i = 0; i < set.count; i++)
            pairs->uses[set.items[i]].by_hand = true;
}

static void note_expected(Pairs *pairs, const Op *op, const Effect *effect) {
    uint32_t last = pointers_get(&pairs->last_expected, effect->on);
    if (effect->verb == EFFECT_EXPECT) {
        pointers_set(&pairs->last_expected, effect->on, pairs->expected_count);
        *ARENA_PUSH(pairs->arena, pairs->expected, pairs->expected_count, pairs->expected_capacity) =
            (Expected){.expect = op, .announced = effect->predicate};
        return;
    }
    if (effect->verb != EFFECT_COMPLETE || last == NO_NUMBER || pairs->expected[last].expect->block != op->block)
        return;
    Expected *expected = &pairs->expected[last];
    expected->mixed |= expected->copy && expected->copied != effect->predicate;
    expected->copy = expected->copy ? expected->copy : op;
    expected->copied = effect->predicate;
}

/* What is handed to an op that is not known, or to another function, may be waited for there. */
static void note_escape(Pairs *pairs, const Op *op) {
    for (uint32_t i = 0; i < op->operand_count; i++) {
        OriginSet set = origins_find(&pairs->origins, op->operands[i]);
        for (uint32_t k = 0; k < set.count; k++)
            pairs->uses[set.items[k]].waited = pairs->uses[set.items[k]].by_hand = true;
    }
}

/* A wait may be switched off for this launch only; it counts as one. */
static bool never_runs(const Lint *lint, const Effect *effect) {
    IntDomain known = effect->predicate ? known_of(lint->facts, effect->predicate) : known_exact(1);
    return known.exact && known.least == 0 && effect->verb != EFFECT_WAIT;
}

static void collect(Pairs *pairs) {
    const Op *function = pairs->lint->function;
    for (const Op *op = function; op; op = op_next_in_walk(op, function)) {
        Effects effects = lint_effects(pairs->lint, op);
        for (const Effect *effect = effects.items; effect < effects.end; effect++) {
            if (!never_runs(pairs->lint, effect) && is_signal(pairs->lint->module, effect)) {
                note_use(pairs, op, effect);
                note_expected(pairs, op, effect);
            }
        }
        if (op_is_control(op, CONTROL_CALL) || lint_effect(pairs->lint, op, EFFECT_ANYTHING))
            note_escape(pairs, op);
    }
}

/* ---- Judging -------------------------------------------------------------------------------------- */

static bool same_value(const Lint *lint, const Value *a, const Value *b, int depth) {
    if (a == b)
        return true;
    IntDomain known_a = a ? known_of(lint->facts, a) : known_exact(1);
    IntDomain known_b = b ? known_of(lint->facts, b) : known_exact(1);
    if (known_a.exact && known_b.exact)
        return known_a.least == known_b.least;
    const Op *x = value_op(a), *y = value_op(b);
    if (depth == 0 || !x || !y || !x->row || x->row != y->row || !*x->row->evaluate || a->index != b->index ||
        x->operand_count != y->operand_count || x->dict != y->dict || x->properties != y->properties)
        return false;
    for (unsigned i = 0; i < x->row->attr_count; i++)
        if ((x->attrs ? x->attrs[i] : NULL) != (y->attrs ? y->attrs[i] : NULL))
            return false;
    for (uint32_t i = 0; i < x->operand_count; i++)
        if (!same_value(lint, x->operands[i], y->operands[i], depth - 1))
            return false;
    return true;
}

static void judge_expected(Pairs *pairs, const Expected *expected) {
    Lint *lint = pairs->lint;
    if (!expected->copy || expected->mixed ||
        same_value(lint, expected->announced, expected->copied, DEEPEST_EXPRESSION))
        return;
    Finding *finding = lint_find(lint, RULE_MBARRIER_PREDICATE, expected->expect,
                                 "the expect has a different predicate than the copy that delivers its bytes");
    lint_other_place(lint, finding, "delivers", expected->copy);
}

static void judge_use(Pairs *pairs, const Origin *origin, const PairUse *use) {
    Lint *lint = pairs->lint;
    Finding *finding = NULL;
    if (use->waited || pairs->all_waited || !origin->op)
        return;
    const Op *async = use->completion ? use->completion : pairs->commit_waited ? NULL : use->commit;
    const Op *arrival = use->arrival ? use->arrival : use->commit;
    if (async)
        finding =
            lint_find(lint, RULE_MBARRIER_NEVER_WAITED, async, "nothing waits on the barrier that this completes on");
    else if (arrival)
        finding = lint_find(lint, RULE_MBARRIER_ARRIVALS_UNSEEN, arrival,
                            "review: nothing waits on the barrier that this arrives on");
    if (finding && origin->op->result_count)
        finding->fix =
            verdict_text(lint->verdict,
                         async ? "Wait on %s before the memory is reused, or complete on a barrier that is waited on."
                               : "Remove %s, or wait on it.",
                         name_text(lint->module, origin->op, lint->verdict));
    lint_other_place(lint, finding, "allocates", origin->op);
}

ORDER(by_barrier, Filled, BY(barrier) BY(data))

/* Whether some copy into memory of `data` counts on a barrier of `barrier`. */
static bool is_filled(const Pairs *pairs, OriginSet barrier, OriginSet data) {
    for (uint32_t i = 0; i < barrier.count; i++)
        for (uint32_t k = 0; k < data.count; k++) {
            Filled wanted = {barrier.items[i], data.items[k]};
            if (bsearch(&wanted, pairs->filled, pairs->filled_count, sizeof wanted, by_barrier))
                return true;
        }
    return false;
}

static void judge_deps(Pairs *pairs, const Op *wait, const Value *on) {
    uint32_t count;
    Value **deps = op_operands_named(wait, "deps", &count);
    OriginSet barrier = origins_find(&pairs->origins, on);
    bool decided = !barrier.anything && barrier.count && count;
    for (uint32_t i = 0; i < barrier.count; i++)
        decided &= pairs->uses[barrier.items[i]].completion && !pairs->uses[barrier.items[i]].by_hand;
    for (uint32_t i = 0; decided && i < count; i++) {
        OriginSet data = origins_find(&pairs->origins, deps[i]);
        decided = !data.anything && data.count && !is_filled(pairs, barrier, data);
    }
    if (!decided)
        return;
    Finding *finding = lint_find(pairs->lint, RULE_MBARRIER_DEPS, wait,
                                 "none of the buffers in the wait's deps is written by the copies on its barrier");
    lint_other_place(pairs->lint, finding, "delivers", pairs->uses[barrier.items[0]].completion);
}

void lint_pairs(Lint *lint) {
    Arena *arena = &lint->module->arena;
    Pairs pairs = {.lint = lint, .arena = arena, .last_expected = {.arena = arena}};
    pairs.origins = origins_of(lint->module, lint->function, arena);
    pairs.uses = ARENA_ARRAY(arena, PairUse, pairs.origins.count + 1);
    collect(&pairs);
    if (pairs.filled_count)
        qsort(pairs.filled, pairs.filled_count, sizeof *pairs.filled, by_barrier);
    for (uint32_t i = 0; i < pairs.expected_count; i++)
        judge_expected(&pairs, &pairs.expected[i]);
    for (uint32_t i = 0; i < pairs.origins.count; i++)
        pairs.commit_waited |= pairs.uses[i].commit && pairs.uses[i].waited;
    for (uint32_t i = 0; i < pairs.origins.count; i++)
        judge_use(&pairs, &pairs.origins.items[i], &pairs.uses[i]);
    for (const Op *op = lint->function; op; op = op_next_in_walk(op, lint->function)) {
        const Effect *wait = lint_effect(lint, op, EFFECT_WAIT);
        if (wait)
            judge_deps(&pairs, op, wait->on);
    }
}
