/* Observation order, for the exact mode.
 *
 * An access comes after a strong write also if it comes after a thread that has read what that wrote: a strong read or
 * an update, morally strong with the write, or through a chain of updates each of which is with the one before it. That
 * orders the write itself, not what its thread did before. So every strong write has a number, and the number of the
 * first write of its chain; an observation names its thread and the writes of one chain that it has observed. A store
 * begins a chain, and so does an update that is not morally strong with what it reads; a weak write ends one. An
 * asynchronous operation observes nothing, since nothing gets what it has read.
 *
 * Here lists are made shorter: nothing that a later access could need is lost. */
#include "engine/hb/gsan_exact.h"

/* ---- Observations ---- */

/* Numbers of writes, newest first, while observations are gone through from the oldest on. */
typedef struct GsanObservedNumbers {
    uint64_t *items;
    uint32_t count, left;
    uint64_t latest; /* the newest one that the observations have come to; 0: none */
} GsanObservedNumbers;

static GsanObservedNumbers numbers_of(Gsan *gsan, const Node *writes) {
    GsanObservedNumbers numbers = {.count = writes ? writes->length : 0};
    numbers.items = gsan_pool_take(&gsan->pool, numbers.count * sizeof *numbers.items);
    for (; writes; writes = writes->next)
        numbers.items[numbers.left++] = writes->record.number;
    return numbers;
}

/* What comes after it comes after an earlier observation of the same thread, too. So it is needed only for what that
 * one has not seen, if a write of that is still there. */
static bool sees_news(GsanObservedNumbers *numbers, const GsanExactRecord *record, const GsanExactRecord *earlier) {
    while (numbers->left && numbers->items[numbers->left - 1] <= record->number)
        numbers->latest = numbers->items[--numbers->left];
    uint64_t from = record->since;
    if (earlier && earlier->number >= from)
        from = earlier->number + 1;
    return numbers->latest >= from;
}

/* Takes the number of those that are not needed, oldest first. */
static void sift(Gsan *gsan, GsanObservedNumbers *numbers, GsanExactRecord *records, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *mark = &gsan->marks[records[i].thread->number].kept;
        GsanExactRecord *earlier = *mark ? &records[*mark - 1] : NULL;
        if (!sees_news(numbers, &records[i], earlier)) {
            records[i].number = 0;
            continue;
        }
        if (earlier && earlier->since == records[i].since && gsan_is_same_time(earlier, &records[i]))
            earlier->number = 0;
        *mark = i + 1;
    }
}

Node *gsan_compact_observations(Gsan *gsan, const GsanExactState *state) {
    const Node *list = state->lists[OBSERVATIONS];
    GsanObservedNumbers numbers = numbers_of(gsan, state->lists[STRONG_WRITES]);
    uint32_t length = list->length;
    GsanExactRecord *records = gsan_pool_take(&gsan->pool, length * sizeof *records);
    for (uint32_t i = length; list; list = list->next)
        records[--i] = list->record;
    gsan_make_marks(gsan);
    sift(gsan, &numbers, records, length);
    Node *result = NULL;
    for (uint32_t i = 0; i < length; i++) {
        gsan->marks[records[i].thread->number].kept = 0;
        if (records[i].number)
            result = gsan_list_put(gsan, &records[i], result);
    }
    if (result)
        result->limit = gsan_list_limit(result->length);
    gsan_pool_give(&gsan->pool, numbers.items, numbers.count * sizeof *numbers.items);
    gsan_pool_give(&gsan->pool, records, length * sizeof *records);
    return result;
}

/* ---- Strong writes ---- */

/* Writes are gone through newest first, and with them the chains that they are of. */
typedef struct Chains {
    Gsan *gsan;
    const Node *observations;
    const Node *next;   /* the observations of the chain at hand, and of older ones, begin there or later */
    uint64_t growing;   /* the chain that may be observed further; 0: there is none */
    uint64_t at, stamp; /* the chain at hand; threads that have seen all of it are marked */
    uint64_t newer;     /* the last other chain that was compared with it */
    bool is_covered;    /* what came out */
    uint64_t steps;     /* that may still be made: to keep a record is right, too */
} Chains;

static void begin_chain(Chains *chains, const GsanExactRecord *last) {
    chains->at = last->since;
    chains->stamp = ++chains->gsan->stamp;
    chains->newer = 0;
    for (; chains->next && chains->next->record.since >= chains->at; chains->next = chains->next->next)
        if (chains->next->record.since == chains->at && chains->next->record.number >= last->number)
            chains->gsan->marks[chains->next->record.thread->number].stamp = chains->stamp;
}

static bool visit(void *context, const GsanExactRecord *write) {
    Chains *chains = context;
    if (write->since != chains->at)
        begin_chain(chains, write);
    return false;
}

/* Whether all threads that have observed something of a newer chain had seen all of the one at hand before. */
static bool covers(Chains *chains, uint64_t newer) {
    for (const Node *at = chains->observations; at && at->record.since >= newer; at = at->next) {
        if (!chains->steps)
            return false;
        chains->steps--;
        if (at->record.since == newer && chains->gsan->marks[at->record.thread->number].stamp != chains->stamp)
            return false;
    }
    return true;
}

/* The newer one must not be observed by a thread that has not observed the older one. */
static bool write_stands_for(void *context, const GsanExactRecord *newer, const GsanExactRecord *older) {
    Chains *chains = context;
    if (!gsan_strong_stands_for(NULL, newer, older))
        return false;
    if (newer->since == older->since)
        return true;
    if (newer->since == chains->growing)
        return false;
    if (newer->since != chains->newer) {
        chains->newer = newer->since;
        chains->is_covered = covers(chains, newer->since);
    }
    return chains->is_covered;
}

Node *gsan_compact_writes(Gsan *gsan, const GsanExactState *state, bool goes_on) {
    const Node *writes = state->lists[STRONG_WRITES], *observations = state->lists[OBSERVATIONS];
    Chains chains = {.gsan = gsan,
                     .observations = observations,
                     .next = observations,
                     .growing = goes_on ? writes->record.since : 0,
                     .steps = 8 * ((uint64_t)writes->length + (observations ? observations->length : 0))};
    gsan_make_marks(gsan);
    return gsan_list_compact(gsan, writes, visit, write_stands_for, &chains);
}
