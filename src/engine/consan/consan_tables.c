/* ConSan's tables: their life, their words, and looking into them. */
#include "engine/consan/consan_internal.h"

static uint32_t most(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}

static void *take(Consan *consan, size_t count, size_t size) {
    void *memory = consan->exhausted ? NULL : consan->allocate(consan->context, (count ? count : 1) * size);
    consan->exhausted |= !memory;
    return memory;
}

/* ---- Life ----------------------------------------------------------------------------------------- */

static void make_words(Consan *consan, ConsanWords *words, uint32_t holders) {
    words->lists = take(consan, (size_t)holders * consan->word_capacity, sizeof *words->lists);
    words->counts = take(consan, holders, sizeof *words->counts);
}

bool consan_create(Consan *consan, const ConsanSize *size, ConsanAllocate *allocate, void *context) {
    uint32_t homes = most(size->homes, 1), each = (size->spans + CONSAN_LANES - 1) / CONSAN_LANES;
    uint32_t sets = most((size->agents + CONSAN_SET - 1) / CONSAN_SET, 1);
    if (size->agents > CONSAN_MOST_AGENTS || size->barriers > INT16_MAX || homes > CONSAN_MOST_WORDS ||
        each > CONSAN_MOST_WORDS / homes)
        return false;
    *consan = (Consan){.span_capacity = homes * size->spans,
                       .homes = homes,
                       .agents = sets * CONSAN_SET,
                       .actors = sets * CONSAN_SET_ACTORS,
                       .barriers = size->barriers,
                       .phases = size->barriers * CONSAN_PHASES,
                       .word_capacity = homes * each,
                       .allocate = allocate,
                       .context = context};
    consan->words = take(consan, consan->word_capacity, sizeof *consan->words);
    consan->home_word = take(consan, homes, sizeof *consan->home_word);
    make_words(consan, &consan->watched, consan->actors);
    make_words(consan, &consan->tracking, consan->phases);
    for (uint32_t group = 0; group < CONSAN_KINDS; group++)
        make_words(consan, &consan->staging[group], consan->agents);
    return !consan->exhausted;
}

static void make_holders(Consan *consan, ConsanHolders *holders, uint32_t most_holders) {
    holders->list = take(consan, most_holders, sizeof *holders->list);
    holders->place = take(consan, most_holders, sizeof *holders->place);
    holders->back = take(consan, most_holders, sizeof *holders->back);
}

/* One more word, for spans of the home; false if there is no room. */
static bool open_word(Consan *consan, uint32_t home) {
    if (consan->word_count == consan->word_capacity)
        return false;
    ConsanWord *word = &consan->words[consan->word_count];
    *word = (ConsanWord){.index = consan->word_count, .home = home};
    word->seen = take(consan, consan->actors, sizeof *word->seen);
    word->tracked = take(consan, consan->phases, sizeof *word->tracked);
    word->readers = take(consan, 2 * consan->actors, sizeof *word->readers);
    word->reader_of = take(consan, 2 * consan->actors, sizeof *word->reader_of);
    word->forwarded = take(consan, consan->barriers, sizeof *word->forwarded);
    make_holders(consan, &word->watchers, consan->actors);
    make_holders(consan, &word->phases, consan->phases);
    for (uint32_t group = 0; group < CONSAN_KINDS; group++) {
        make_holders(consan, &word->stagers[group], consan->agents);
        word->staged[group] = take(consan, consan->agents, sizeof *word->staged[group]);
    }
    if (consan->exhausted)
        return false;
    consan->home_word[home] = ++consan->word_count;
    return true;
}

ConsanReader *consan_reader(Consan *consan, ConsanWord *word, uint32_t actor, bool updates) {
    ConsanReader **place = &word->reader_of[updates ? consan->actors + actor : actor], *reader = *place;
    if (reader)
        return reader;
    reader = take(consan, 1, sizeof *reader);
    uint64_t *seen = take(consan, consan->actors, sizeof *seen);
    uint64_t *tracked = take(consan, consan->phases, sizeof *tracked);
    if (!reader || !seen || !tracked)
        return NULL;
    *reader = (ConsanReader){.actor = actor, .updates = updates, .seen = seen, .tracked = tracked};
    word->readers[word->reader_count++] = *place = reader;
    return reader;
}

ConsanStaged *consan_stager(Consan *consan, ConsanWord *word, ConsanGroup group, uint32_t agent) {
    ConsanStaged **staged = &word->staged[group][agent];
    if (!*staged)
        *staged = take(consan, 1, sizeof **staged);
    return *staged;
}

static void reset_staged(ConsanWord *word, uint32_t group) {
    ConsanHolders *stagers = &word->stagers[group];
    for (uint32_t i = 0; i < stagers->count; i++) {
        ConsanStaged *staged = word->staged[group][stagers->list[i]];
        for (uint64_t left = staged->open; left;)
            staged->commits[consan_take_lowest(&left)] = 0;
        staged->open = 0;
        stagers->place[stagers->list[i]] = 0;
    }
    stagers->count = 0;
}

static void reset_word(const Consan *consan, ConsanWord *word) {
    ConsanHolders *watchers = &word->watchers, *phases = &word->phases;
    word->written = 0;
    for (uint32_t k = 0; k < word->reader_count; k++) {
        ConsanReader *reader = word->readers[k];
        reader->spans = 0;
        for (uint32_t i = 0; i < watchers->count; i++)
            reader->seen[watchers->list[i]] = 0;
        for (uint32_t i = 0; i < phases->count; i++)
            reader->tracked[phases->list[i]] = 0;
    }
    for (uint32_t i = 0; i < watchers->count; i++)
        word->seen[watchers->list[i]] = watchers->place[watchers->list[i]] = 0;
    for (uint32_t i = 0; i < phases->count; i++)
        word->tracked[phases->list[i]] = phases->place[phases->list[i]] = 0;
    watchers->count = phases->count = 0;
    for (uint32_t group = 0; group < CONSAN_KINDS; group++)
        reset_staged(word, group);
    for (uint32_t i = 0; i < consan->barriers; i++)
        word->forwarded[i] = 0;
}

void consan_reset(Consan *consan) {
    for (uint32_t i = 0; i < consan->word_count; i++)
        reset_word(consan, &consan->words[i]);
    for (uint32_t i = 0; i < consan->actors; i++)
        consan->watched.counts[i] = 0;
    for (uint32_t i = 0; i < consan->phases; i++)
        consan->tracking.counts[i] = 0;
    for (uint32_t group = 0; group < CONSAN_KINDS; group++)
        for (uint32_t i = 0; i < consan->agents; i++)
            consan->staging[group].counts[i] = 0;
}

/* ---- Spans ---------------------------------------------------------------------------------------- */

uint32_t consan_span(Consan *consan, uint32_t home) {
    if (home >= consan->homes || consan->spans == consan->span_capacity)
        return UINT32_MAX;
    uint32_t last = consan->home_word[home];
    if ((!last || consan->words[last - 1].used == CONSAN_LANES) && !open_word(consan, home))
        return UINT32_MAX;
    last = consan->home_word[home] - 1;
    consan->spans++;
    return last * CONSAN_LANES + consan->words[last].used++;
}

uint32_t consan_next_span(const Consan *consan, uint32_t home, uint32_t from) {
    for (uint32_t word = from / CONSAN_LANES, lane = from % CONSAN_LANES; word < consan->word_count; word++, lane = 0)
        if ((home == UINT32_MAX || consan->words[word].home == home) && lane < consan->words[word].used)
            return word * CONSAN_LANES + lane;
    return UINT32_MAX;
}

static bool has(uint64_t lanes, uint32_t span) {
    return lanes >> span % CONSAN_LANES & 1;
}

static void split_seen(Consan *consan, uint32_t from, uint32_t to) {
    const ConsanWord *old = consan_word(consan, from);
    ConsanWord *word = consan_word(consan, to);
    uint64_t lane = consan_bit(to % CONSAN_LANES);
    for (uint32_t i = 0, end = old->watchers.count; i < end; i++) {
        uint32_t actor = old->watchers.list[i];
        word->seen[actor] |= has(old->seen[actor], from) ? lane : 0;
        consan_link(consan, &consan->watched, &word->watchers, to / CONSAN_LANES, actor);
    }
    for (uint32_t i = 0, end = old->phases.count; i < end; i++) {
        uint32_t phase = old->phases.list[i];
        word->tracked[phase] |= has(old->tracked[phase], from) ? lane : 0;
        consan_link(consan, &consan->tracking, &word->phases, to / CONSAN_LANES, phase);
    }
}

/* The holders of the old word are those of the new one by now. */
static void split_reads(Consan *consan, uint32_t from, uint32_t to) {
    const ConsanWord *old = consan_word(consan, from);
    ConsanWord *word = consan_word(consan, to);
    uint64_t lane = consan_bit(to % CONSAN_LANES);
    for (uint32_t k = 0, end = old->reader_count; k < end; k++) {
        const ConsanReader *past = old->readers[k];
        if (!has(past->spans, from))
            continue;
        ConsanReader *reader = consan_reader(consan, word, past->actor, past->updates);
        if (!reader)
            return;
        reader->spans |= lane;
        reader->places[to % CONSAN_LANES] = past->places[from % CONSAN_LANES];
        reader->elements[to % CONSAN_LANES] = past->elements[from % CONSAN_LANES];
        for (uint32_t i = 0; i < old->watchers.count; i++)
            reader->seen[old->watchers.list[i]] |= has(past->seen[old->watchers.list[i]], from) ? lane : 0;
        for (uint32_t i = 0; i < old->phases.count; i++)
            reader->tracked[old->phases.list[i]] |= has(past->tracked[old->phases.list[i]], from) ? lane : 0;
    }
}

static void split_staged(Consan *consan, ConsanGroup group, uint32_t from, uint32_t to) {
    const ConsanWord *old = consan_word(consan, from);
    ConsanWord *word = consan_word(consan, to);
    for (uint32_t i = 0, end = old->stagers[group].count; i < end; i++) {
        uint32_t agent = old->stagers[group].list[i], lane = to % CONSAN_LANES;
        const ConsanStaged *past = old->staged[group][agent];
        ConsanStaged *staged = has(past->open, from) ? consan_stager(consan, word, group, agent) : NULL;
        if (!staged)
            continue;
        staged->open |= consan_bit(lane);
        staged->commits[lane] = past->commits[from % CONSAN_LANES];
        staged->places[lane] = past->places[from % CONSAN_LANES];
        consan_link(consan, &consan->staging[group], &word->stagers[group], to / CONSAN_LANES, agent);
    }
}

uint32_t consan_split(Consan *consan, uint32_t from) {
    uint32_t to = consan_span(consan, consan_word(consan, from)->home);
    if (to == UINT32_MAX)
        return to;
    const ConsanWord *old = consan_word(consan, from);
    ConsanWord *word = consan_word(consan, to);
    uint64_t lane = consan_bit(to % CONSAN_LANES);
    word->written |= has(old->written, from) ? lane : 0;
    word->writer[to % CONSAN_LANES] = old->writer[from % CONSAN_LANES];
    word->write_place[to % CONSAN_LANES] = old->write_place[from % CONSAN_LANES];
    split_seen(consan, from, to);
    split_reads(consan, from, to);
    for (uint32_t i = 0; i < consan->barriers; i++)
        word->forwarded[i] |= has(old->forwarded[i], from) ? lane : 0;
    for (uint32_t group = 0; group < CONSAN_KINDS; group++)
        split_staged(consan, (ConsanGroup)group, from, to);
    return to;
}

/* ---- Holders -------------------------------------------------------------------------------------- */

/* Takes the holder out of the word's list; where the word was in the holder's own. */
static uint32_t leave(ConsanHolders *holders, uint32_t holder) {
    uint16_t place = holders->place[holder], last = holders->list[--holders->count];
    holders->list[place - 1] = last;
    holders->place[last] = place;
    holders->place[holder] = 0;
    return holders->back[holder];
}

/* The last word of the holder's list takes the place of one that it has left; which one that is. */
static uint32_t close_gap(const Consan *consan, const ConsanWords *words, uint32_t holder, uint32_t at) {
    uint16_t *list = consan_list(consan, words, holder);
    return list[at] = list[--words->counts[holder]];
}

void consan_unlink_watcher(Consan *consan, uint32_t word, uint32_t actor) {
    uint32_t at = leave(&consan->words[word].watchers, actor);
    uint32_t moved = close_gap(consan, &consan->watched, actor, at);
    consan->words[moved].watchers.back[actor] = (uint16_t)at;
}

void consan_unlink_phase(Consan *consan, uint32_t word, uint32_t phase) {
    uint32_t at = leave(&consan->words[word].phases, phase);
    uint32_t moved = close_gap(consan, &consan->tracking, phase, at);
    consan->words[moved].phases.back[phase] = (uint16_t)at;
}

void consan_unlink_stager(Consan *consan, uint32_t word, ConsanGroup group, uint32_t agent) {
    uint32_t at = leave(&consan->words[word].stagers[group], agent);
    uint32_t moved = close_gap(consan, &consan->staging[group], agent, at);
    consan->words[moved].stagers[group].back[agent] = (uint16_t)at;
}

/* ---- Looking in ----------------------------------------------------------------------------------- */

uint32_t consan_sets(const Consan *consan) {
    return consan->actors / CONSAN_SET_ACTORS;
}

uint64_t consan_peers(uint32_t actor) {
    uint32_t own = actor % CONSAN_SET_ACTORS;
    if (own >= CONSAN_SET)
        return consan_bit(own);
    return consan_bit(own) | consan_bit(CONSAN_TMA + own) | consan_bit(CONSAN_TENSOR + own) |
           consan_bit(CONSAN_CLC + own);
}

uint64_t consan_write_visibility(const Consan *consan, uint32_t span, uint32_t set) {
    uint64_t actors = 0;
    for (uint32_t i = 0; i < CONSAN_SET_ACTORS; i++)
        if (has(consan_sees_write(consan_word(consan, span), set * CONSAN_SET_ACTORS + i), span))
            actors |= consan_bit(i);
    return actors;
}

uint64_t consan_read_visibility(const Consan *consan, uint32_t actor, uint32_t span, uint32_t set) {
    const ConsanWord *word = consan_word(consan, span);
    uint64_t actors = 0;
    for (uint32_t i = 0; i < word->reader_count; i++)
        if (word->readers[i]->actor / CONSAN_SET_ACTORS == set && has(consan_sees_read(word->readers[i], actor), span))
            actors |= consan_bit(word->readers[i]->actor % CONSAN_SET_ACTORS);
    return actors;
}

bool consan_written(const Consan *consan, uint32_t span) {
    return has(consan_word(consan, span)->written, span);
}

bool consan_forwarded(const Consan *consan, uint32_t barrier, uint32_t span) {
    return has(consan_word(consan, span)->forwarded[barrier], span);
}

bool consan_write_tracking(const Consan *consan, uint32_t barrier, uint32_t parity, uint32_t span) {
    return has(consan_word(consan, span)->tracked[consan_phase(barrier, parity)], span);
}

uint64_t consan_read_tracking(const Consan *consan, uint32_t barrier, uint32_t parity, uint32_t span, uint32_t set) {
    const ConsanWord *word = consan_word(consan, span);
    uint64_t actors = 0;
    for (uint32_t i = 0; i < word->reader_count; i++) {
        const ConsanReader *reader = word->readers[i];
        if (reader->actor / CONSAN_SET_ACTORS == set && has(reader->tracked[consan_phase(barrier, parity)], span))
            actors |= consan_bit(reader->actor % CONSAN_SET_ACTORS);
    }
    return actors;
}

int consan_outstanding_commits(const Consan *consan, ConsanGroup group, uint32_t base, uint32_t span) {
    const ConsanStaged *staged = consan_staged(consan_word(consan, span), group, consan_agent(base));
    return staged ? staged->commits[span % CONSAN_LANES] : 0;
}

uint32_t consan_next_staged(const Consan *consan, ConsanGroup group, uint32_t base, uint32_t from) {
    uint32_t agent = consan_agent(base), next = UINT32_MAX;
    const uint16_t *list = consan_list(consan, &consan->staging[group], agent);
    for (uint32_t i = 0; i < consan->staging[group].counts[agent]; i++) {
        uint32_t first = list[i] * CONSAN_LANES, skipped = from > first ? from - first : 0;
        uint64_t open = consan->words[list[i]].staged[group][agent]->open;
        open &= skipped < CONSAN_LANES ? UINT64_MAX << skipped : 0;
        if (open && first + (uint32_t)__builtin_ctzll(open) < next)
            next = first + (uint32_t)__builtin_ctzll(open);
    }
    return next;
}

uint32_t consan_stage_place(const Consan *consan, ConsanGroup group, uint32_t base, uint32_t span) {
    const ConsanStaged *staged = consan_staged(consan_word(consan, span), group, consan_agent(base));
    return staged ? staged->places[span % CONSAN_LANES] : 0;
}

/* ---- The state ------------------------------------------------------------------------------------ */

typedef struct ConsanVisit {
    void (*number)(void *context, uint64_t number);
    void *context;
} ConsanVisit;

/* Entries that are not zero, with their index. */
static void visit_rows(const ConsanVisit *visit, const uint64_t *rows, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (rows[i]) {
            visit->number(visit->context, i);
            visit->number(visit->context, rows[i]);
        }
    visit->number(visit->context, UINT64_MAX);
}

static void visit_reader(const Consan *consan, const ConsanVisit *visit, const ConsanReader *reader) {
    if (!reader->spans)
        return; /* it has read nothing that was not overwritten since: rows of such spans are not looked at */
    visit->number(visit->context, (uint64_t)reader->actor << 1 | reader->updates);
    visit->number(visit->context, reader->spans);
    visit_rows(visit, reader->seen, consan->actors);
    visit_rows(visit, reader->tracked, consan->phases);
    for (uint64_t left = reader->spans; left;) {
        uint32_t lane = consan_take_lowest(&left);
        visit->number(visit->context, (uint64_t)reader->places[lane] << 8 | reader->elements[lane]);
    }
}

static void visit_staged(const Consan *consan, const ConsanVisit *visit, const ConsanWord *word, uint32_t group) {
    for (uint32_t agent = 0; agent < consan->agents; agent++) {
        const ConsanStaged *staged = consan_staged(word, (ConsanGroup)group, agent);
        if (!staged || !staged->open)
            continue;
        visit->number(visit->context, (uint64_t)agent << 8 | group);
        visit->number(visit->context, staged->open);
        for (uint64_t left = staged->open; left;) {
            uint32_t lane = consan_take_lowest(&left);
            visit->number(visit->context, (uint64_t)staged->places[lane] << 8 | (uint8_t)staged->commits[lane]);
        }
    }
}

void consan_visit(const Consan *consan, void (*number)(void *context, uint64_t number), void *context) {
    const ConsanVisit visit = {number, context};
    number(context, consan->spans);
    for (uint32_t i = 0; i < consan->word_count; i++) {
        const ConsanWord *word = &consan->words[i];
        number(context, word->written);
        visit_rows(&visit, word->seen, consan->actors);
        visit_rows(&visit, word->tracked, consan->phases);
        for (uint64_t left = word->written; left;) {
            uint32_t lane = consan_take_lowest(&left);
            number(context, (uint64_t)word->write_place[lane] << 16 | word->writer[lane]);
        }
        for (uint32_t actor = 0; actor < 2 * consan->actors; actor++)
            if (word->reader_of[actor])
                visit_reader(consan, &visit, word->reader_of[actor]);
        for (uint32_t group = 0; group < CONSAN_KINDS; group++)
            visit_staged(consan, &visit, word, group);
    }
}
