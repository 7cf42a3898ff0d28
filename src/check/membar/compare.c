/* Two models held against each other: the places where only one of them wants a barrier, and why.
 *
 * A model wants the barriers that it says are needed and those of the IR that it does not find needless. */
#include "base/bisect.h"
#include "base/order.h"
#include "check/membar/reporting.h"
#include "ir/op.h"

#include <stdlib.h>

/* A barrier that a model wants. */
typedef struct Want {
    const Op *op;
    bool after, present, automatic;
    const MembarHazard *hazards;
    size_t hazard_count; /* that are kept */
} Want;

/* Two ops, and what a model has to do with them. */
typedef struct ComparePair {
    const Op *first, *second;
    const Want *want;  /* parts them; or */
    const char *proof; /* says why they need not be separated */
    size_t order;      /* in which it came */
} ComparePair;

/* One side of the comparison. Pairs are sorted by their ops' addresses, which is for finding them only. */
typedef struct CompareStanding {
    const MembarResult *result;
    Want *wants;  /* in the order of the text: the needed ones, then those that are there */
    Want **found; /* sorted, too */
    size_t want_count, need_count;
    const Want **automatic; /* the last automatic one among the first N needed ones; NULL: none is */
    const Want **instead;   /* of each needed one, if it is automatic: what the other model has in its place; or NULL */
    ComparePair *pairs;
    size_t pair_count;
} CompareStanding;

static int by_address(const void *a, const void *b) {
    return ((uintptr_t)a > (uintptr_t)b) - ((uintptr_t)a < (uintptr_t)b);
}

static int by_pair(const void *a, const void *b) {
    const ComparePair *x = a, *y = b;
    int order = by_address(x->first, y->first);
    return order ? order : by_address(x->second, y->second);
}

/* The same ops stay in the order in which they came, whatever the sort does. */
static int by_pair_and_order(const void *a, const void *b) {
    const ComparePair *x = a, *y = b;
    int order = by_pair(x, y);
    return order ? order : (x->order > y->order) - (x->order < y->order);
}

static void add_pair(CompareStanding *standing, ComparePair pair) {
    pair.order = standing->pair_count;
    standing->pairs[standing->pair_count++] = pair;
}

ORDER_POINTERS(by_place, Want, BY(op) BY(after))

static CompareStanding standing_of(Arena *arena, const MembarResult *result) {
    CompareStanding standing = {.result = result};
    size_t most = result->need_count + result->present_count;
    standing.wants = ARENA_ARRAY(arena, Want, most + 1);
    standing.found = ARENA_ARRAY(arena, Want *, most + 1);
    standing.pairs = ARENA_ARRAY(arena, ComparePair, most * MEMBAR_MOST_HAZARDS + result->proof_count + 1);
    standing.automatic = ARENA_ARRAY(arena, const Want *, result->need_count + 1);
    standing.instead = ARENA_ARRAY(arena, const Want *, result->need_count + 1);
    standing.need_count = result->need_count;
    for (size_t i = 0; i < result->need_count; i++) {
        const MembarNeed *need = &result->needs[i];
        standing.wants[standing.want_count++] = (Want){.op = need->op,
                                                       .after = need->after,
                                                       .automatic = need->automatic,
                                                       .hazards = need->hazards,
                                                       .hazard_count = membar_kept(need->hazard_count)};
        standing.automatic[i + 1] = need->automatic ? &standing.wants[i] : standing.automatic[i];
    }
    for (size_t i = 0; i < result->present_count; i++) {
        const MembarPresent *there = &result->present[i];
        if (!there->needless)
            standing.wants[standing.want_count++] = (Want){.op = there->op,
                                                           .present = true,
                                                           .hazards = there->hazards,
                                                           .hazard_count = membar_kept(there->hazard_count)};
    }
    for (size_t i = 0; i < standing.want_count; i++) {
        const Want *want = standing.found[i] = &standing.wants[i];
        for (size_t k = 0; k < want->hazard_count; k++)
            add_pair(&standing,
                     (ComparePair){.first = want->hazards[k].first, .second = want->hazards[k].second, .want = want});
    }
    for (size_t i = 0; i < result->proof_count; i++) {
        const MembarProof *proof = &result->proofs[i];
        add_pair(&standing, (ComparePair){.first = proof->first, .second = proof->second, .proof = proof->text});
    }
    qsort(standing.found, standing.want_count, sizeof(Want *), by_place);
    qsort(standing.pairs, standing.pair_count, sizeof(ComparePair), by_pair_and_order);
    return standing;
}

static bool is_wanted(const CompareStanding *standing, const Want *want) {
    return bsearch(&want, standing->found, standing->want_count, sizeof(Want *), by_place) != NULL;
}

/* What a side says of two ops: that it parts them (`separated`), or that they never meet. */
static const ComparePair *find_pair(const CompareStanding *standing, const Op *first, const Op *second,
                                    bool separated) {
    ComparePair key = {.first = first, .second = second};
    const ComparePair *found = bsearch(&key, standing->pairs, standing->pair_count, sizeof(ComparePair), by_pair);
    if (!found)
        return NULL;
    while (found > standing->pairs && by_pair(found - 1, &key) == 0)
        found--;
    for (; found < standing->pairs + standing->pair_count && by_pair(found, &key) == 0; found++)
        if (separated ? found->want != NULL : found->proof != NULL)
            return found;
    return NULL;
}

/* Whether what an op writes is there only after a wait. */
static bool is_in_flight(Module *module, const Op *op) {
    Effect effects[EFFECTS_MOST];
    unsigned count = effects_of(module, op, effects);
    for (unsigned i = 0; i < count; i++)
        if (effects[i].verb == EFFECT_WRITE && effects[i].space == SPACE_SHARED && effects[i].done != DONE_NOW)
            return true;
    return false;
}

/* The last automatic barrier of a side before an op, in the order of the text. */
static const Want *automatic_before(const CompareStanding *standing, const Op *op) {
    size_t low;
    BISECT(low, 0, standing->need_count, standing->wants[low].op->offset < op->offset);
    return standing->automatic[low];
}

/* Where a barrier is, for a sentence: "after line 12". */
static const char *where(MembarReporter *reporter, const Want *want) {
    return verdict_text(&reporter->words, "%s line %u",
                        want->present ? "at"
                        : want->after ? "after"
                                      : "before",
                        op_line(reporter->module, want->op));
}

/* One hazard that `lacking` has no barrier for at this place; false if the reason is not in it. */
static bool explain_hazard(MembarReporter *reporter, const MembarHazard *hazard, const CompareStanding *lacking,
                           MembarDifference *difference) {
    const char *model = membar_model_name(lacking->result->model);
    const ComparePair *separated = find_pair(lacking, hazard->first, hazard->second, true);
    const ComparePair *apart = find_pair(lacking, hazard->first, hazard->second, false);
    if (!apart)
        apart = find_pair(lacking, hazard->second, hazard->first, false);
    if (separated) {
        difference->cause = MEMBAR_CAUSE_ELSEWHERE;
        difference->why = verdict_text(&reporter->words, "%s separates the same accesses by a barrier %s", model,
                                       where(reporter, separated->want));
    } else if (lacking->result->model != MEMBAR_SYNC && is_in_flight(reporter->module, hazard->first)) {
        difference->cause = MEMBAR_CAUSE_IN_FLIGHT;
        difference->why = verdict_text(
            &reporter->words, "the copy at line %u is in flight: no barrier makes it visible, only a wait does",
            op_line(reporter->module, hazard->first));
    } else if (apart) {
        difference->cause = MEMBAR_CAUSE_SLOTS;
        difference->why = verdict_text(&reporter->words, "the slots are never the same: %s", apart->proof);
    } else {
        return false;
    }
    return true;
}

/* Why only `wanting` has an automatic barrier there. */
static void explain_automatic(MembarReporter *reporter, const Want *want, const CompareStanding *wanting,
                              const CompareStanding *lacking, MembarDifference *difference) {
    const Want *instead = wanting->instead[want - wanting->wants];
    if (instead) {
        difference->cause = MEMBAR_CAUSE_ELSEWHERE;
        difference->why = verdict_text(&reporter->words, "%s has one %s, where a conflict requires it",
                                       membar_model_name(lacking->result->model), where(reporter, instead));
        return;
    }
    difference->cause = MEMBAR_CAUSE_AUTOMATIC;
    difference->why = verdict_text(&reporter->words,
                                   "%s inserts a barrier after every wait for copies; no conflict requires one here",
                                   membar_model_name(wanting->result->model));
}

/* The same for one that parts accesses. */
static void explain(MembarReporter *reporter, const Want *want, const CompareStanding *lacking,
                    MembarDifference *difference) {
    const char *lacks = membar_model_name(lacking->result->model);
    for (size_t i = 0; i < want->hazard_count; i++)
        if (explain_hazard(reporter, &want->hazards[i], lacking, difference))
            return;
    const Want *automatic = automatic_before(lacking, want->op);
    difference->cause = automatic ? MEMBAR_CAUSE_ELSEWHERE : MEMBAR_CAUSE_OTHER;
    if (automatic) {
        lacking->instead[automatic - lacking->wants] = want;
        difference->why =
            verdict_text(&reporter->words, "%s has its automatic one %s", lacks, where(reporter, automatic));
    } else {
        difference->why = verdict_text(&reporter->words, "%s finds these accesses separated without it", lacks);
    }
}

/* Of the barriers that only `wanting` has, those that are automatic, or those that are not. */
static size_t add_differences(MembarReporter *reporter, const CompareStanding *wanting, const CompareStanding *lacking,
                              bool automatic, bool saved, MembarDifference *differences) {
    size_t count = 0;
    for (size_t i = 0; i < wanting->want_count; i++) {
        const Want *want = &wanting->wants[i];
        if (want->automatic != automatic || is_wanted(lacking, want))
            continue;
        MembarDifference *difference = &differences[count++];
        *difference = (MembarDifference){
            .at = membar_place(reporter, want->op), .after = want->after, .present = want->present, .saved = saved};
        if (automatic)
            explain_automatic(reporter, want, wanting, lacking, difference);
        else
            explain(reporter, want, lacking, difference);
    }
    return count;
}

static int by_text(const void *a, const void *b) {
    const MembarDifference *x = a, *y = b;
    if (x->at.ir_line != y->at.ir_line)
        return x->at.ir_line < y->at.ir_line ? -1 : 1;
    if (x->at.ir_column != y->at.ir_column)
        return x->at.ir_column < y->at.ir_column ? -1 : 1;
    int order = x->after != y->after ? x->after - y->after : y->saved - x->saved;
    return order ? order : strcmp(x->why, y->why);
}

void membar_compare(MembarReporter *reporter, const MembarResult *chosen, const MembarResult *other,
                    MembarComparison *comparison) {
    Arena *arena = reporter->words.arena;
    CompareStanding ours = standing_of(arena, chosen), theirs = standing_of(arena, other);
    MembarDifference *differences = ARENA_ARRAY(arena, MembarDifference, ours.want_count + theirs.want_count + 1);
    size_t count = 0;
    for (int automatic = 0; automatic < 2; automatic++) { /* those come last, which others may stand for */
        count += add_differences(reporter, &theirs, &ours, automatic, true, differences + count);
        count += add_differences(reporter, &ours, &theirs, automatic, false, differences + count);
    }
    qsort(differences, count, sizeof *differences, by_text);
    *comparison = (MembarComparison){.model = membar_model_name(other->model),
                                     .count = ours.want_count,
                                     .other = theirs.want_count,
                                     .differences = differences,
                                     .difference_count = count};
}
