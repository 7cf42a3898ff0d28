/* The exact mode: judges an access by what is known of the bytes it touches, and records it there.
 *
 * A page has a state for each word; a word that was accessed in parts has one for each byte, and a page that was
 * accessed as a whole one for all. An access works on runs of cells with the same state, and remembers what became of a
 * state, so that its cost is that of looking at the cells. The next access goes on with that if it is the same but for
 * its bytes: the rows of a tile come one by one. */
#include "engine/hb/gsan_exact.h"

enum { WORD = 4, PAGE_WORDS = PAGE_BYTES / WORD, MEMORIES = 16, MOST_RACING = 256 };

/* A word whose bytes differ; a cell that points to one has its lowest bit set. */
typedef struct Split {
    GsanExactState *bytes[WORD];
} Split;

/* An access on its way over memory. */
typedef struct GsanExactWalk GsanExactWalk;
struct GsanExactWalk {
    Gsan *gsan;
    GsanAccess *access; /* NULL: the cells are to be forgotten */
    Clock *clock;
    GsanExactRecord record;
    Node *node;            /* of a list that has nothing but the access; NULL: not needed yet */
    GsanExactState *alone; /* of a cell that has nothing but the access, a weak write */
    struct {
        GsanExactState *before, *after;
        uint64_t number; /* the last access that used it; 0: nothing is remembered */
        uint32_t races;  /* of each access that does */
    } memory[MEMORIES];
    Node *list_before, *list_after; /* the last list that was added to: states that differ may have the same one */
};

/* ---- Is it ordered? ---- */

static bool knows(const GsanExactWalk *walk, const Thread *thread, uint32_t epoch) {
    if (thread == walk->access->thread)
        return epoch <= walk->access->own;
    return clock_knows(walk->clock, thread->of_clocks, epoch);
}

static bool is_ordered(const GsanExactWalk *walk, const GsanExactRecord *record) {
    const Ticket *ticket = record->ticket;
    if (!ticket)
        return knows(walk, record->thread, record->epoch);
    if (ticket == walk->access->ticket)
        return true;
    for (const Completion *at = ticket->done ? &ticket->completion : NULL; at; at = at->next)
        if (knows(walk, at->thread, at->epoch))
            return true;
    return false;
}

static bool is_same_place(const GsanExactRecord *a, const GsanExactRecord *b) {
    return !a->bytes || !b->bytes || (a->place == b->place && a->bytes == b->bytes);
}

static bool is_morally_strong(const GsanExactRecord *a, const GsanExactRecord *b) {
    Scope needed = gsan_needed(a->thread, b->thread);
    return a->order != ORDER_WEAK && b->order != ORDER_WEAK && a->scope >= (int)needed && b->scope >= (int)needed &&
           is_same_place(a, b);
}

/* The same for a whole list, if that can be seen at once: every poll of a flag meets those of all others. */
static bool is_strong_with_all(const GsanExactRecord *record, const Node *list) {
    if (record->order == ORDER_WEAK || !list->is_one_place || !is_same_place(record, &list->record))
        return false;
    if (record->scope == SCOPE_SYS && list->narrowest == SCOPE_SYS)
        return true;
    return record->scope >= SCOPE_GPU && list->narrowest >= SCOPE_GPU && list->device == record->thread->device;
}

/* ---- Races ---- */

static uint32_t epoch_of(const GsanExactRecord *record) {
    const Ticket *ticket = record->ticket;
    return !ticket ? record->epoch : ticket->done ? ticket->completion.epoch : ticket->epoch;
}

static GsanReason reason_of(const GsanExactWalk *walk, const GsanExactRecord *record, GsanMissing missing) {
    const Ticket *ticket = record->ticket;
    if (ticket && (!ticket->done || knows(walk, ticket->thread, ticket->epoch)))
        return GSAN_UNFINISHED;
    bool are_strong = record->order != ORDER_WEAK && walk->record.order != ORDER_WEAK;
    if (are_strong ? is_same_place(record, &walk->record) : missing == GSAN_TOO_NARROW)
        return GSAN_NARROW;
    return GSAN_UNORDERED;
}

static void note(GsanExactWalk *walk, const GsanExactRecord *record, const GsanExactState *state, uint64_t begin,
                 uint64_t end) {
    const Thread *thread = record->thread;
    GsanRace race = {.begin = begin, .end = end, .needed = gsan_needed(thread, walk->access->thread)};
    gsan_sync_hint(walk->access->thread, thread, epoch_of(record), &race);
    race.reason = reason_of(walk, record, race.missing);
    race.earlier = (GsanActor){.thread = thread->number,
                               .launch = thread->launch,
                               .cta = thread->cta,
                               .site = record->site,
                               .kind = (AccessKind)record->kind,
                               .order = (Order)record->order,
                               .scope = (Scope)record->scope,
                               .in_flight = record->ticket && !record->ticket->done};
    gsan_note(walk->gsan, walk->access, &race, (uintptr_t)state);
}

/* Observations up to one, newest first: `since` is the first write that an ordered one of them covers. */
typedef struct GsanExactObserved {
    const Node *next;
    uint64_t since;
} GsanExactObserved;

/* Whether the access comes after a thread that has observed the strong write of that number. Asked newest first; the
 * chains of older observations begin earlier, and one that was gone past reaches up to the write. */
static bool is_observed(const GsanExactWalk *walk, GsanExactObserved *observed, uint64_t number) {
    for (; observed->next && observed->next->record.number >= number; observed->next = observed->next->next)
        if (is_ordered(walk, &observed->next->record))
            observed->since = observed->next->record.since;
    return observed->since <= number;
}

/* How many races there are. */
static uint32_t judge(GsanExactWalk *walk, const GsanExactState *state, uint64_t begin, uint64_t end) {
    uint32_t races = 0;
    GsanExactObserved observed = {state->lists[OBSERVATIONS], UINT64_MAX};
    for (int kind = walk->access->kind == KIND_READ ? WEAK_WRITES : WEAK_READS; kind <= STRONG_WRITES; kind++) {
        const Node *list = state->lists[kind];
        if (list && is_strong_with_all(&walk->record, list))
            continue;
        for (; list; list = list->next) {
            const GsanExactRecord *record = &list->record;
            if (is_ordered(walk, record) || is_morally_strong(&walk->record, record) ||
                (kind == STRONG_WRITES && is_observed(walk, &observed, record->number)))
                continue;
            note(walk, record, state, begin, end);
            races++;
        }
    }
    return races;
}

/* ---- What becomes of a state ---- */

/* Whether whatever the access is before comes after the record, too. An asynchronous access may be over for a thread
 * that knows nothing of who issued it, but for what was before its launch; and what another thread has waited for was
 * not over with its own launch. */
static bool is_needless(void *context, const GsanExactRecord *record) {
    const GsanExactWalk *walk = context;
    if (!walk->access->ticket)
        return is_ordered(walk, record);
    return !record->ticket &&
           gsan_launches_has(walk->gsan->launches[walk->access->thread->launch].before, record->thread->launch);
}

static bool is_never(void *context, const GsanExactRecord *record) {
    (void)context;
    (void)record;
    return false;
}

static bool is_never_pair(void *context, const GsanExactRecord *newer, const GsanExactRecord *older) {
    (void)newer;
    return is_never(context, older);
}

static ListKind list_of(const GsanExactRecord *record) {
    bool is_strong = record->order != ORDER_WEAK;
    if (record->kind == KIND_READ)
        return is_strong ? STRONG_READS : WEAK_READS;
    return is_strong ? STRONG_WRITES : WEAK_WRITES;
}

static Node *node_of(GsanExactWalk *walk) {
    if (!walk->node)
        walk->node = gsan_list_add(walk->gsan, &walk->record, NULL);
    return gsan_list_share(walk->node);
}

static bool is_equal(const GsanExactRecord *a, const GsanExactRecord *b) {
    return a->thread == b->thread && a->ticket == b->ticket && a->place == b->place && a->bytes == b->bytes &&
           a->since == b->since && a->number == b->number && a->epoch == b->epoch && a->site == b->site &&
           a->kind == b->kind && a->order == b->order && a->scope == b->scope;
}

static RecordPairTest *pair_test(ListKind kind) {
    return kind == WEAK_READS || kind == WEAK_WRITES ? gsan_weak_stands_for : gsan_strong_stands_for;
}

/* The list with the access in it. A weak read stands for every one before it; anything else only for those of its own
 * thread, since there are others that a weak access would race with, but not with this one. */
static Node *longer_list(GsanExactWalk *walk, Node *list, ListKind kind) {
    if (is_equal(&list->record, &walk->record))
        return gsan_list_share(list);
    bool replaces = pair_test(kind)(NULL, &walk->record, &list->record);
    if (list->length < list->limit)
        return gsan_list_add(walk->gsan, &walk->record, replaces ? list->next : list);
    Node *shorter =
        gsan_list_compact(walk->gsan, list, kind == WEAK_READS ? is_needless : is_never, pair_test(kind), walk);
    return gsan_list_put(walk->gsan, &walk->record, shorter);
}

static Node *add_to_list(GsanExactWalk *walk, Node *list, ListKind kind) {
    if (!list)
        return node_of(walk);
    if (list != walk->list_before) {
        Node *after = longer_list(walk, list, kind);
        gsan_list_drop(walk->gsan, walk->list_before);
        gsan_list_drop(walk->gsan, walk->list_after);
        walk->list_before = gsan_list_share(list);
        walk->list_after = after;
    }
    return gsan_list_share(walk->list_after);
}

static GsanExactState *state_alone(GsanExactWalk *walk) {
    if (!walk->alone) {
        walk->alone = gsan_state_new(walk->gsan);
        walk->alone->lists[WEAK_WRITES] = node_of(walk);
    }
    gsan_state_take(walk->alone, 1);
    return walk->alone;
}

/* A weak write stands for all that it comes after. If many race at one place, those that were told are let go. */
static GsanExactState *after_weak_write(GsanExactWalk *walk, const GsanExactState *before, uint32_t races) {
    if (!before || (!races && !walk->access->ticket))
        return state_alone(walk);
    Node *lists[LISTS] = {NULL};
    bool is_empty = true;
    for (int kind = 0; kind <= STRONG_WRITES; kind++) {
        const Node *list = before->lists[kind];
        bool is_long = list && races && list->length > MOST_RACING;
        RecordPairTest *stands_for = kind == STRONG_WRITES ? is_never_pair : pair_test((ListKind)kind);
        lists[kind] = is_long ? NULL : gsan_list_compact(walk->gsan, list, is_needless, stands_for, walk);
        is_empty &= !lists[kind];
    }
    if (is_empty)
        return state_alone(walk);
    if (lists[STRONG_WRITES])
        lists[OBSERVATIONS] = gsan_list_share(before->lists[OBSERVATIONS]);
    GsanExactState *after = gsan_state_new(walk->gsan);
    for (int kind = 0; kind < LISTS; kind++)
        after->lists[kind] = lists[kind];
    after->lists[WEAK_WRITES] = gsan_list_put(walk->gsan, &walk->record, lists[WEAK_WRITES]);
    return after;
}

/* ---- Observation ---- */

/* The strong write that the access reads, and observes; NULL: there is none. */
static const GsanExactRecord *observed_by(const GsanExactWalk *walk, const GsanExactState *state) {
    if (walk->record.order == ORDER_WEAK || walk->record.kind == KIND_WRITE || !state->is_last_strong)
        return NULL;
    const GsanExactRecord *last = &state->lists[STRONG_WRITES]->record;
    return is_morally_strong(&walk->record, last) ? last : NULL;
}

/* Who polls sees the same again and again, or more of the same chain. A store that is before the read anyway, as after
 * an acquire, need not be observed. An asynchronous update is a link of its chain, but its thread has read nothing. An
 * update has itself observed, too: that says no more, but so the last one of a chain has observed all of it. */
static Node *with_observation(GsanExactWalk *walk, const GsanExactState *state) {
    Node *list = state->lists[OBSERVATIONS];
    const GsanExactRecord *write = observed_by(walk, state);
    if (!write || walk->access->ticket || (write->since == write->number && is_ordered(walk, write)))
        return gsan_list_share(list);
    GsanExactRecord record = walk->record;
    record.since = write->since;
    record.number = record.kind == KIND_UPDATE ? walk->gsan->accesses : write->number;
    if (!list || list->record.since != record.since || !gsan_is_same_time(&list->record, &record))
        return list && list->length >= list->limit
                   ? gsan_list_put(walk->gsan, &record, gsan_compact_observations(walk->gsan, state))
                   : gsan_list_add(walk->gsan, &record, list);
    return list->record.number == record.number ? gsan_list_share(list)
                                                : gsan_list_add(walk->gsan, &record, list->next);
}

/* An update goes on with the chain that it observes. */
static Node *with_write(GsanExactWalk *walk, const GsanExactState *state) {
    Node *list = state->lists[STRONG_WRITES];
    const GsanExactRecord *observed = observed_by(walk, state);
    GsanExactRecord record = walk->record;
    record.number = walk->gsan->accesses;
    record.since = observed ? observed->since : record.number;
    if (observed && gsan_strong_stands_for(NULL, &record, observed))
        return gsan_list_add(walk->gsan, &record, list->next);
    if (list && list->length >= list->limit)
        return gsan_list_put(walk->gsan, &record, gsan_compact_writes(walk->gsan, state, observed != NULL));
    return gsan_list_add(walk->gsan, &record, list);
}

static GsanExactState *after_other(GsanExactWalk *walk, GsanExactState *before) {
    static const GsanExactState empty;
    const GsanExactState *from = before ? before : &empty;
    ListKind kind = list_of(&walk->record);
    Node *list = kind == STRONG_WRITES ? with_write(walk, from) : add_to_list(walk, from->lists[kind], kind);
    Node *observations = with_observation(walk, from);
    GsanRelease *release = walk->record.kind == KIND_READ ? gsan_release_share(from->release)
                                                          : gsan_sync_write(walk->gsan, walk->access, from->release);
    if (before && list == before->lists[kind] && observations == before->lists[OBSERVATIONS] &&
        release == before->release) {
        gsan_list_drop(walk->gsan, list);
        gsan_list_drop(walk->gsan, observations);
        gsan_release_drop(walk->gsan, release);
        gsan_state_take(before, 1);
        return before;
    }
    GsanExactState *after = gsan_state_new(walk->gsan);
    for (int i = 0; i <= STRONG_WRITES; i++)
        after->lists[i] = i == (int)kind ? list : gsan_list_share(from->lists[i]);
    after->lists[OBSERVATIONS] = observations;
    after->release = release;
    after->is_last_strong = kind == STRONG_WRITES || from->is_last_strong;
    return after;
}

static GsanExactState *judged_state(GsanExactWalk *walk, GsanExactState *before, uint64_t begin, uint64_t end,
                                    uint32_t *races) {
    *races = before ? judge(walk, before, begin, end) : 0;
    if (list_of(&walk->record) == WEAK_WRITES)
        return after_weak_write(walk, before, *races);
    return after_other(walk, before);
}

static void forget_memory(GsanExactWalk *walk, uint32_t at) {
    if (walk->memory[at].number) {
        gsan_state_give(walk->gsan, walk->memory[at].before, 1);
        gsan_state_give(walk->gsan, walk->memory[at].after, 1);
        walk->memory[at].number = 0;
    }
}

/* The state that follows for some bytes; it is the walk's. */
static GsanExactState *next_state(GsanExactWalk *walk, GsanExactState *before, uint64_t begin, uint64_t end) {
    if (!walk->access)
        return NULL;
    uint32_t at = (uint32_t)((uintptr_t)before / 16 % MEMORIES), races;
    uint64_t number = walk->gsan->accesses;
    if (walk->memory[at].number && walk->memory[at].before == before) {
        if (walk->memory[at].number != number)
            walk->gsan->races += walk->memory[at].races;
        if (walk->access->pending_count)
            gsan_extend(walk->access, (uintptr_t)before, begin, end);
        walk->memory[at].number = number;
        return walk->memory[at].after;
    }
    GsanExactState *after = judged_state(walk, before, begin, end, &races);
    forget_memory(walk, at);
    gsan_state_take(before, 1);
    walk->memory[at].before = before;
    walk->memory[at].number = number;
    walk->memory[at].races = races;
    return walk->memory[at].after = after;
}

/* ---- Cells ---- */

static bool is_split(const GsanExactState *cell) {
    return (uintptr_t)cell & 1;
}

static Split *split_of(GsanExactState *cell) {
    return (Split *)((uintptr_t)cell - 1);
}

static GsanExactState **cells_of(GsanExactWalk *walk, Page *page) {
    GsanExactState **cells = page->cells;
    if (cells)
        return cells;
    page->cells = cells = gsan_shadow_take(walk->gsan, PAGE_WORDS * sizeof *cells);
    for (uint32_t i = 0; page->uniform && i < PAGE_WORDS; i++)
        cells[i] = page->uniform;
    gsan_state_take(page->uniform, PAGE_WORDS - 1);
    page->uniform = NULL;
    return cells;
}

/* A page whose words have come to the same state needs no cells. */
static void make_uniform(GsanExactWalk *walk, Page *page) {
    GsanExactState **cells = page->cells;
    for (uint32_t i = 0; i < PAGE_WORDS; i++)
        if (cells[i] != cells[0] || is_split(cells[i]))
            return;
    page->uniform = cells[0];
    page->cells = NULL;
    gsan_state_give(walk->gsan, page->uniform, PAGE_WORDS - 1);
    gsan_shadow_give(walk->gsan, cells, PAGE_WORDS * sizeof *cells);
}

/* Bytes from .. to - 1 of a word. */
static void walk_bytes(GsanExactWalk *walk, GsanExactState **cell, uint64_t address, uint32_t from, uint32_t to) {
    Gsan *gsan = walk->gsan;
    if (!is_split(*cell)) {
        Split *split = gsan_shadow_take(gsan, sizeof *split);
        for (int i = 0; i < WORD; i++)
            split->bytes[i] = *cell;
        gsan_state_take(*cell, WORD - 1);
        *cell = (GsanExactState *)((uintptr_t)split + 1);
    }
    Split *split = split_of(*cell);
    for (uint32_t i = from; i < to; i++) {
        GsanExactState *before = split->bytes[i], *after = next_state(walk, before, address + i, address + i + 1);
        gsan_state_take(after, 1);
        split->bytes[i] = after;
        gsan_state_give(gsan, before, 1);
    }
    for (int i = 1; i < WORD; i++)
        if (split->bytes[i] != split->bytes[0])
            return;
    *cell = split->bytes[0];
    gsan_state_give(gsan, *cell, WORD - 1);
    gsan_shadow_give(gsan, split, sizeof *split);
}

/* A read of cells that are all that have a state: the state itself is changed. */
static bool read_in_place(GsanExactWalk *walk, GsanExactState *state, uint64_t cells, uint64_t begin, uint64_t end) {
    if (!state || state->references != cells || !walk->access || walk->access->kind != KIND_READ)
        return false;
    judge(walk, state, begin, end);
    ListKind kind = list_of(&walk->record);
    Node *list = add_to_list(walk, state->lists[kind], kind), *observations = with_observation(walk, state);
    gsan_list_drop(walk->gsan, state->lists[kind]);
    gsan_list_drop(walk->gsan, state->lists[OBSERVATIONS]);
    state->lists[kind] = list;
    state->lists[OBSERVATIONS] = observations;
    return true;
}

static void walk_words(GsanExactWalk *walk, GsanExactState **cells, uint64_t address, uint32_t count) {
    for (uint32_t i = 0, end; i < count; i = end) {
        GsanExactState *before = cells[i];
        end = i + 1;
        if (is_split(before)) {
            walk_bytes(walk, &cells[i], address + i * WORD, 0, WORD);
            continue;
        }
        while (end < count && cells[end] == before)
            end++;
        if (read_in_place(walk, before, end - i, address + i * WORD, address + end * WORD))
            continue;
        GsanExactState *after = next_state(walk, before, address + i * WORD, address + end * WORD);
        if (after == before)
            continue;
        for (uint32_t j = i; j < end; j++)
            cells[j] = after;
        gsan_state_take(after, end - i);
        gsan_state_give(walk->gsan, before, end - i);
    }
}

static void walk_uniform(GsanExactWalk *walk, Page *page, uint64_t begin, uint64_t end) {
    GsanExactState *before = page->uniform, *after = next_state(walk, before, begin, end);
    gsan_state_take(after, 1);
    page->uniform = after;
    gsan_state_give(walk->gsan, before, 1);
}

/* Bytes begin .. end - 1, which are all on the page. */
static void walk_page(GsanExactWalk *walk, Page *page, uint64_t begin, uint64_t end) {
    bool is_whole = end - begin == PAGE_BYTES;
    if (is_whole && !page->cells) {
        walk_uniform(walk, page, begin, end);
        return;
    }
    GsanExactState **cells = cells_of(walk, page);
    uint64_t base = page->number << PAGE_SHIFT;
    uint32_t from = (uint32_t)(begin - base), to = (uint32_t)(end - base);
    if (from / WORD == (to - 1) / WORD && to - from < WORD) {
        walk_bytes(walk, &cells[from / WORD], base + from / WORD * WORD, from % WORD, from % WORD + (to - from));
        return;
    }
    if (from % WORD) {
        walk_bytes(walk, &cells[from / WORD], base + from / WORD * WORD, from % WORD, WORD);
        from += WORD - from % WORD;
    }
    walk_words(walk, &cells[from / WORD], base + from, to / WORD - from / WORD);
    if (to % WORD)
        walk_bytes(walk, &cells[to / WORD], base + to / WORD * WORD, 0, to % WORD);
    if (is_whole)
        make_uniform(walk, page);
}

static void walk_range(GsanExactWalk *walk, uint64_t begin, uint64_t end) {
    while (begin < end) {
        uint64_t number = begin >> PAGE_SHIFT, left = PAGE_BYTES - (begin & (PAGE_BYTES - 1));
        uint64_t stop = end - begin > left ? begin + left : end;
        Page *page = walk->access ? gsan_page(&walk->gsan->pages, number) : gsan_page_find(&walk->gsan->pages, number);
        if (page)
            walk_page(walk, page, begin, stop);
        begin = stop;
    }
}

/* ---- Acquires come before the judgment: what they bring is before the access itself ---- */

static GsanExactState *state_at(Gsan *gsan, uint64_t address) {
    const Page *page = gsan_page_find(&gsan->pages, address >> PAGE_SHIFT);
    if (!page || !page->cells)
        return page ? page->uniform : NULL;
    GsanExactState *cell = ((GsanExactState **)page->cells)[(address & (PAGE_BYTES - 1)) / WORD];
    return is_split(cell) ? split_of(cell)->bytes[address % WORD] : cell;
}

static void read_release(Gsan *gsan, GsanAccess *access, const GsanExactState *state) {
    if (state->release) {
        gsan_sync_read(gsan, access, state->release);
    } else if (state->lists[STRONG_WRITES]) {
        const GsanExactRecord *write = &state->lists[STRONG_WRITES]->record;
        gsan_sync_missed(gsan, access, write->thread, epoch_of(write), write->site);
    }
}

static void read_releases(Gsan *gsan, GsanAccess *access) {
    const GsanExactState *latest = NULL;
    for (uint64_t at = access->begin; at < access->end; at++) {
        const GsanExactState *state = state_at(gsan, at);
        if (state && state != latest)
            read_release(gsan, access, state);
        latest = state;
    }
}

/* ---- Calls ---- */

static void finish_walk(GsanExactWalk *walk) {
    for (uint32_t i = 0; i < MEMORIES; i++)
        forget_memory(walk, i);
    gsan_state_give(walk->gsan, walk->alone, 1);
    gsan_list_drop(walk->gsan, walk->node);
    gsan_list_drop(walk->gsan, walk->list_before);
    gsan_list_drop(walk->gsan, walk->list_after);
    clock_drop(&walk->gsan->clocks, walk->clock);
    walk->alone = NULL;
    walk->node = walk->list_before = walk->list_after = NULL;
    walk->clock = NULL;
    walk->record.thread = NULL;
}

/* A clock that the walk has a share in does not change, so the same clock has the same in it. */
static void start_walk(GsanExactWalk *walk, GsanAccess *access) {
    GsanExactRecord record = {.thread = access->thread,
                              .ticket = access->ticket,
                              .place = access->place,
                              .bytes = access->bytes,
                              .epoch = access->epoch,
                              .site = access->site,
                              .kind = (uint8_t)access->kind,
                              .order = (uint8_t)access->order,
                              .scope = (uint8_t)access->scope};
    Clock *clock = access->ticket ? access->ticket->clock : access->thread->clock;
    walk->access = access;
    if (access->order == ORDER_WEAK && !access->ticket && walk->clock == clock && is_equal(&record, &walk->record))
        return;
    finish_walk(walk);
    walk->record = record;
    walk->clock = clock_share(clock);
}

static void exact_access(Gsan *gsan, GsanAccess *access) {
    if (gsan_is_strong(access->order) && access->kind != KIND_WRITE && !access->ticket)
        read_releases(gsan, access);
    start_walk(gsan->walk, access);
    walk_range(gsan->walk, access->begin, access->end);
}

/* Where there are fewer pages than the range has, those are gone through. */
static void exact_forget(Gsan *gsan, uint64_t begin, uint64_t end) {
    GsanExactWalk walk = {.gsan = gsan};
    if ((end - begin) >> PAGE_SHIFT <= gsan->pages.table.capacity) {
        walk_range(&walk, begin, end);
        return;
    }
    for (uint32_t i = 0; i < gsan->pages.table.capacity; i++) {
        Page *page = gsan->pages.table.items[i];
        uint64_t from = page ? page->number << PAGE_SHIFT : 0, last = from + PAGE_BYTES - 1;
        if (page && last >= begin && from < end)
            walk_page(&walk, page, from > begin ? from : begin, last < end ? last + 1 : end);
    }
}

static void exact_create(Gsan *gsan) {
    gsan->clocks.pool = &gsan->pool;
    gsan->walk = POOL_NEW(&gsan->pool, GsanExactWalk);
    gsan->walk->gsan = gsan;
}

static void exact_launch(Gsan *gsan, HbGsanLaunch *launch, const GsanLaunch *from) {
    if (gsan->cta_count > UINT32_MAX) {
        gsan_set_trouble(gsan, GSAN_OUT_OF_MEMORY, NULL);
        return;
    }
    clock_space_grow(&gsan->clocks, (uint32_t)gsan->cta_count);
    for (uint32_t i = 0; launch->numbers && i < from->after_count; i++)
        clock_join(&gsan->clocks, &launch->begin, gsan->launches[from->after[i]].end);
    if (launch->numbers)
        launch->end = clock_share(launch->begin);
}

/* What its CTAs have learned from others is before whatever comes after it, too. */
static void join_ends(Gsan *gsan, const LaunchSet *launches, Clock **into) {
    for (uint32_t i = 0; launches && i < gsan->launch_count; i++) {
        HbGsanLaunch *launch = &gsan->launches[i];
        if (!gsan_launches_has(launches, i))
            continue;
        if (!launch->ended)
            launch->ended = clock_of_ended(&gsan->clocks, launch->first_cta, launch->ctas);
        clock_join(&gsan->clocks, into, launch->ended);
        clock_join(&gsan->clocks, into, launch->end);
    }
}

static Thread *exact_thread(Gsan *gsan, const HbGsanLaunch *launch) {
    (void)launch;
    return gsan_new_thread(gsan);
}

static void exact_begin(Gsan *gsan, Thread *thread) {
    HbGsanLaunch *launch = &gsan->launches[thread->launch];
    const CtaClock *known = launch->numbers ? clock_at(launch->begin, thread->of_clocks) : NULL;
    thread->epoch = known ? known->base + 1 : 1;
    if (!launch->begin && !launch->numbers)
        join_ends(gsan, launch->before, &launch->begin);
    thread->clock = clock_share(launch->begin);
}

/* Of an ended thread only what it was called is needed. */
static void exact_end(Gsan *gsan, Thread *thread) {
    HbGsanLaunch *launch = &gsan->launches[thread->launch];
    if (launch->numbers) /* what comes behind it knows all of it */
        clock_raise(&gsan->clocks, &thread->clock, thread->of_clocks, thread->epoch);
    clock_join(&gsan->clocks, &launch->end, thread->clock);
    clock_drop(&gsan->clocks, thread->clock);
    thread->clock = NULL;
    for (unsigned i = 0; i < SCOPES; i++) {
        clock_drop(&gsan->clocks, thread->fences[i]);
        clock_drop(&gsan->clocks, thread->observed[i]);
        thread->fences[i] = thread->observed[i] = NULL;
    }
    gsan_release_drop(gsan, thread->latest);
    thread->latest = NULL;
}

static void exact_await(Gsan *gsan, Thread *thread) {
    join_ends(gsan, gsan->launches[thread->launch].awaited, &thread->clock);
}

static void exact_issue(Gsan *gsan, Ticket *ticket) {
    (void)gsan;
    ticket->clock = clock_share(ticket->thread->clock);
}

static void exact_complete(Gsan *gsan, Ticket *ticket, Thread *thread) {
    for (const Completion *at = ticket->done ? &ticket->completion : NULL; at; at = at->next)
        if (at->thread == thread)
            return;
    finish_walk(gsan->walk);
    gsan_touch(gsan, thread, true);
    Completion completion = {thread, thread->epoch, NULL};
    if (ticket->done) {
        completion.next = ticket->completion.next;
        ticket->completion.next = POOL_NEW(&gsan->pool, Completion);
        *ticket->completion.next = completion;
        return;
    }
    ticket->done = true;
    ticket->completion = completion;
    *ticket->place = ticket->next;
    if (ticket->next)
        ticket->next->place = ticket->place;
    clock_drop(&gsan->clocks, ticket->clock);
    ticket->clock = NULL;
    gsan_ticket_drop(gsan, ticket);
}

const struct GsanModeCalls gsan_exact_mode = {
    .create = exact_create,
    .launch = exact_launch,
    .thread = exact_thread,
    .begin = exact_begin,
    .end = exact_end,
    .await = exact_await,
    .access = exact_access,
    .issue = exact_issue,
    .complete = exact_complete,
    .forget = exact_forget,
    .acquire_fence = gsan_sync_acquire_fence,
    .release_fence = gsan_sync_release_fence,
    .publish = gsan_sync_publish,
    .acquire = gsan_sync_acquire,
    .retire = gsan_sync_retire,
};
