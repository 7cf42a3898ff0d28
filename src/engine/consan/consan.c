/* The rules of ConSan. Every rule goes over words of 64 spans, and over the actors and phases that have something in
 * them. */
#include "engine/consan/consan_internal.h"

/* ---- Lists of spans ------------------------------------------------------------------------------- */

/* Neighbors in a list that lie in one word. */
typedef struct ConsanPiece {
    ConsanWord *word;
    uint64_t mask;
} ConsanPiece;

static ConsanPiece next_piece(const Consan *consan, const uint32_t *spans, uint32_t count, uint32_t *at) {
    uint32_t i = *at, index = spans[i] / CONSAN_LANES, first = index * CONSAN_LANES;
    uint64_t mask = 0;
    do
        mask |= consan_bit((spans[i] - first) % CONSAN_LANES);
    while (++i < count && spans[i] - first < CONSAN_LANES);
    *at = i;
    return (ConsanPiece){&consan->words[index], mask};
}

/* ---- verify --------------------------------------------------------------------------------------- */

/* Spans that an open group of the kind touches, of any agent. */
static uint64_t pending(const ConsanWord *word, ConsanGroup group) {
    uint64_t spans = 0;
    for (uint32_t i = 0; i < word->stagers[group].count; i++)
        spans |= word->staged[group][word->stagers[group].list[i]]->open;
    return spans;
}

/* An access that is to be made. */
typedef struct ConsanAttempt {
    uint32_t actor, element; /* element: of an update */
    enum { READS, WRITES, UPDATES } kind;
} ConsanAttempt;

/* Spans whose last access of the reader must be seen before. */
static uint64_t unseen_reads(const ConsanAttempt *attempt, const ConsanReader *reader) {
    uint64_t spans = reader->spans & ~consan_sees_read(reader, attempt->actor);
    if (attempt->kind == READS)
        return reader->updates ? spans : 0;
    for (uint64_t left = attempt->kind == UPDATES && reader->updates ? spans : 0; left;) {
        uint32_t lane = consan_take_lowest(&left);
        if (attempt->element && reader->elements[lane] == attempt->element)
            spans &= ~consan_bit(lane);
    }
    return spans;
}

/* Spans on which the attempt is not legal. */
static uint64_t forbidden(const ConsanAttempt *attempt, ConsanPiece piece) {
    const ConsanWord *word = piece.word;
    uint64_t spans = (word->written & ~consan_sees_write(word, attempt->actor)) | pending(word, CONSAN_COPY);
    for (uint32_t i = 0; i < word->reader_count; i++)
        if (word->readers[i]->spans & piece.mask)
            spans |= unseen_reads(attempt, word->readers[i]);
    if (attempt->kind != READS)
        spans |= pending(word, CONSAN_WGMMA) | pending(word, CONSAN_STORE);
    return spans & piece.mask;
}

/* Of several the one with the lowest number. */
static bool find_group(const ConsanWord *word, ConsanGroup group, uint32_t span, ConsanConflict *conflict) {
    uint32_t lane = span % CONSAN_LANES, lowest = UINT32_MAX;
    for (uint32_t i = 0; i < word->stagers[group].count; i++) {
        uint32_t agent = word->stagers[group].list[i];
        if (word->staged[group][agent]->commits[lane] && agent < lowest)
            lowest = agent;
    }
    if (lowest == UINT32_MAX)
        return false;
    uint32_t place = word->staged[group][lowest]->places[lane];
    *conflict = (ConsanConflict){CONSAN_PENDING_GROUP, span, consan_base(lowest), place, group};
    return true;
}

static bool find_reader(const ConsanWord *word, const ConsanAttempt *attempt, uint32_t span, ConsanConflict *conflict) {
    const ConsanReader *lowest = NULL;
    for (uint32_t i = 0; i < word->reader_count; i++) {
        const ConsanReader *reader = word->readers[i];
        uint64_t unseen = unseen_reads(attempt, reader);
        if (unseen >> span % CONSAN_LANES & 1 && (!lowest || reader->actor < lowest->actor))
            lowest = reader;
    }
    if (!lowest)
        return false;
    *conflict = (ConsanConflict){.kind = lowest->updates ? CONSAN_OUTSTANDING_WRITE : CONSAN_OUTSTANDING_READ,
                                 .span = span,
                                 .actor = lowest->actor,
                                 .place = lowest->places[span % CONSAN_LANES]};
    return true;
}

/* Why the actor may not touch the span; a forbidden one. */
static ConsanConflict explain(const ConsanWord *word, const ConsanAttempt *attempt, uint32_t span) {
    ConsanConflict conflict = {.span = span};
    uint32_t lane = span % CONSAN_LANES;
    if ((word->written & ~consan_sees_write(word, attempt->actor)) >> lane & 1) {
        conflict.kind = CONSAN_OUTSTANDING_WRITE;
        conflict.actor = word->writer[lane];
        conflict.place = word->write_place[lane];
        return conflict;
    }
    if (!find_group(word, CONSAN_COPY, span, &conflict) && !find_reader(word, attempt, span, &conflict) &&
        !find_group(word, CONSAN_WGMMA, span, &conflict))
        (void)find_group(word, CONSAN_STORE, span, &conflict);
    return conflict;
}

static ConsanConflict verify(const Consan *consan, ConsanAttempt attempt, const uint32_t *spans, uint32_t count) {
    for (uint32_t at = 0; at < count;) {
        uint32_t first = at;
        ConsanPiece piece = next_piece(consan, spans, count, &at);
        uint64_t bad = forbidden(&attempt, piece);
        if (!bad)
            continue;
        while (!(bad >> spans[first] % CONSAN_LANES & 1))
            first++;
        return explain(piece.word, &attempt, spans[first]);
    }
    return (ConsanConflict){.kind = CONSAN_CLEAN};
}

ConsanConflict consan_verify_read(const Consan *consan, uint32_t actor, const uint32_t *spans, uint32_t count) {
    return verify(consan, (ConsanAttempt){.actor = actor, .kind = READS}, spans, count);
}

ConsanConflict consan_verify_write(const Consan *consan, uint32_t actor, const uint32_t *spans, uint32_t count) {
    return verify(consan, (ConsanAttempt){.actor = actor, .kind = WRITES}, spans, count);
}

ConsanConflict consan_verify_update(const Consan *consan, uint32_t actor, const uint32_t *spans, uint32_t count,
                                    uint32_t element) {
    return verify(consan, (ConsanAttempt){.actor = actor, .element = element, .kind = UPDATES}, spans, count);
}

/* ---- set ------------------------------------------------------------------------------------------ */

static void watch(const Consan *consan, ConsanPiece piece, uint32_t actor) {
    consan_link(consan, &consan->watched, &piece.word->watchers, piece.word->index, actor);
}

/* Nothing sees, and no barrier publishes, what these rows say of the spans. */
static void revoke(const ConsanWord *word, uint64_t *seen, uint64_t *tracked, uint64_t mask) {
    for (uint32_t i = 0; i < word->watchers.count; i++)
        seen[word->watchers.list[i]] &= ~mask;
    for (uint32_t i = 0; i < word->phases.count; i++)
        tracked[word->phases.list[i]] &= ~mask;
}

/* NULL if there is no memory. */
static ConsanReader *read_piece(Consan *consan, uint32_t actor, ConsanPiece piece, bool updates) {
    ConsanReader *reader = consan_reader(consan, piece.word, actor, updates);
    if (!reader)
        return NULL;
    if (reader->spans & piece.mask) /* One bit a reader: that an older read is over says nothing of this one. */
        revoke(piece.word, reader->seen, reader->tracked, piece.mask);
    reader->spans |= piece.mask;
    reader->seen[actor] |= piece.mask;
    watch(consan, piece, actor);
    return reader;
}

static void write_piece(Consan *consan, uint32_t actor, ConsanPiece piece) {
    ConsanWord *word = piece.word;
    for (uint32_t i = 0; i < word->stagers[CONSAN_REPORTED].count; i++)
        word->staged[CONSAN_REPORTED][word->stagers[CONSAN_REPORTED].list[i]]->open &= ~piece.mask;
    for (uint32_t i = 0; i < word->reader_count; i++) {
        ConsanReader *reader = word->readers[i];
        if (!(reader->spans & piece.mask))
            continue;
        revoke(word, reader->seen, reader->tracked, piece.mask);
        reader->spans &= ~piece.mask;
    }
    revoke(word, word->seen, word->tracked, piece.mask);
    word->seen[actor] |= piece.mask;
    word->written |= piece.mask;
    watch(consan, piece, actor);
}

void consan_set_read(Consan *consan, uint32_t actor, const uint32_t *spans, uint32_t count, uint32_t place) {
    for (uint32_t at = 0; at < count;) {
        uint32_t first = at;
        ConsanReader *reader = read_piece(consan, actor, next_piece(consan, spans, count, &at), false);
        for (; reader && first < at; first++)
            reader->places[spans[first] % CONSAN_LANES] = place;
    }
}

void consan_set_update(Consan *consan, uint32_t actor, const uint32_t *spans, uint32_t count, uint32_t element,
                       uint32_t place) {
    for (uint32_t at = 0; at < count;) {
        uint32_t first = at;
        ConsanPiece piece = next_piece(consan, spans, count, &at);
        const ConsanReader *before = piece.word->reader_of[consan->actors + actor];
        uint64_t older = before ? before->spans : 0;
        ConsanReader *reader = read_piece(consan, actor, piece, true);
        for (; reader && first < at; first++) {
            uint32_t lane = spans[first] % CONSAN_LANES;
            bool differs = older >> lane & 1 && reader->elements[lane] != element;
            reader->places[lane] = place;
            reader->elements[lane] = differs || element > UINT8_MAX ? 0 : (uint8_t)element;
        }
    }
}

void consan_set_write(Consan *consan, uint32_t actor, const uint32_t *spans, uint32_t count, uint32_t place) {
    for (uint32_t at = 0; at < count;) {
        uint32_t first = at;
        ConsanPiece piece = next_piece(consan, spans, count, &at);
        write_piece(consan, actor, piece);
        for (; first < at; first++) {
            piece.word->writer[spans[first] % CONSAN_LANES] = (uint16_t)actor;
            piece.word->write_place[spans[first] % CONSAN_LANES] = place;
        }
    }
}

/* ---- track and transfer --------------------------------------------------------------------------- */

static void track_in(const Consan *consan, ConsanPiece piece, uint32_t phase) {
    consan_link(consan, &consan->tracking, &piece.word->phases, piece.word->index, phase);
}

/* What the actor sees in one word, the phase publishes; false if that is nothing. */
static bool track_word(const Consan *consan, uint32_t actor, ConsanPiece piece, uint32_t phase) {
    ConsanWord *word = piece.word;
    uint64_t some = consan_sees_write(word, actor);
    word->tracked[phase] |= some;
    for (uint32_t i = 0; i < word->reader_count; i++) {
        ConsanReader *reader = word->readers[i];
        uint64_t seen = consan_sees_read(reader, actor);
        reader->tracked[phase] |= seen;
        some |= seen;
    }
    if (some)
        track_in(consan, piece, phase);
    return some;
}

/* In all words of one of the actor's two rows, but for those of `besides`. A word in which nothing is left to see is
 * left. */
static void track_words(Consan *consan, uint32_t actor, uint32_t row, uint32_t besides, uint32_t phase) {
    const uint16_t *list = consan_list(consan, &consan->watched, row);
    for (uint32_t i = consan->watched.counts[row]; i-- > 0;) {
        ConsanPiece piece = {&consan->words[list[i]], 0};
        if (besides != row && piece.word->watchers.place[besides])
            continue;
        if (!track_word(consan, actor, piece, phase))
            consan_unlink_watcher(consan, piece.word->index, row);
    }
}

void consan_track_frontier(Consan *consan, uint32_t actor, uint32_t barrier, uint32_t parity) {
    uint32_t phase = consan_phase(barrier, parity), base = consan_base_of(actor);
    track_words(consan, actor, base, base, phase);
    if (actor != base)
        track_words(consan, actor, actor, base, phase);
}

void consan_track_writes(Consan *consan, const uint32_t *spans, uint32_t count, uint32_t barrier, uint32_t parity) {
    uint32_t phase = consan_phase(barrier, parity);
    for (uint32_t at = 0; at < count;) {
        ConsanPiece piece = next_piece(consan, spans, count, &at);
        piece.word->tracked[phase] |= piece.mask;
        track_in(consan, piece, phase);
    }
}

void consan_track_reads(Consan *consan, uint32_t actor, const uint32_t *spans, uint32_t count, uint32_t barrier,
                        uint32_t parity) {
    uint32_t phase = consan_phase(barrier, parity);
    for (uint32_t at = 0; at < count;) {
        ConsanPiece piece = next_piece(consan, spans, count, &at);
        for (uint32_t i = 0; i < piece.word->reader_count; i++)
            if (piece.word->readers[i]->actor == actor && !piece.word->readers[i]->updates) {
                piece.word->readers[i]->tracked[phase] |= piece.word->readers[i]->spans & piece.mask;
                track_in(consan, piece, phase);
            }
    }
}

void consan_begin_phase(Consan *consan, uint32_t barrier, uint32_t parity) {
    uint32_t phase = consan_phase(barrier, parity);
    const uint16_t *list = consan_list(consan, &consan->tracking, phase);
    for (uint32_t i = consan->tracking.counts[phase]; i-- > 0;) {
        uint32_t index = list[i];
        ConsanWord *word = &consan->words[index];
        word->tracked[phase] = 0;
        for (uint32_t k = 0; k < word->reader_count; k++)
            word->readers[k]->tracked[phase] = 0;
        consan_unlink_phase(consan, index, phase);
    }
}

void consan_hand_on(Consan *consan, uint32_t barrier, uint32_t parity, uint32_t to_barrier, uint32_t to_parity) {
    uint32_t phase = consan_phase(barrier, parity), to = consan_phase(to_barrier, to_parity);
    const uint16_t *list = consan_list(consan, &consan->tracking, phase);
    for (uint32_t i = 0; i < consan->tracking.counts[phase]; i++) {
        ConsanPiece piece = {&consan->words[list[i]], 0};
        piece.word->tracked[to] |= piece.word->tracked[phase];
        for (uint32_t k = 0; k < piece.word->reader_count; k++)
            piece.word->readers[k]->tracked[to] |= piece.word->readers[k]->tracked[phase];
        track_in(consan, piece, to);
    }
    consan_begin_phase(consan, barrier, parity);
}

void consan_transfer(Consan *consan, uint32_t actor, uint32_t barrier, uint32_t parity) {
    uint32_t phase = consan_phase(barrier, parity);
    const uint16_t *list = consan_list(consan, &consan->tracking, phase);
    for (uint32_t i = 0; i < consan->tracking.counts[phase]; i++) {
        ConsanPiece piece = {&consan->words[list[i]], 0};
        ConsanWord *word = piece.word;
        uint64_t shown = word->tracked[phase], fresh = shown & ~word->seen[actor];
        word->seen[actor] |= shown;
        for (uint32_t k = 0; k < word->reader_count; k++) {
            ConsanReader *reader = word->readers[k];
            shown = reader->tracked[phase];
            fresh |= shown & ~reader->seen[actor];
            reader->seen[actor] |= shown;
        }
        if (!fresh)
            continue;
        word->forwarded[barrier] |= fresh;
        watch(consan, piece, actor);
    }
}

/* ---- groups --------------------------------------------------------------------------------------- */

void consan_stage(Consan *consan, ConsanGroup group, uint32_t base, const uint32_t *spans, uint32_t count,
                  uint32_t place) {
    uint32_t agent = consan_agent(base);
    for (uint32_t i = 0; i < count; i++) {
        ConsanWord *word = consan_word(consan, spans[i]);
        uint32_t lane = spans[i] % CONSAN_LANES;
        ConsanStaged *staged = consan_stager(consan, word, group, agent);
        if (!staged)
            return;
        staged->open |= consan_bit(lane);
        staged->commits[lane] = -1;
        staged->places[lane] = place;
        consan_link(consan, &consan->staging[group], &word->stagers[group], spans[i] / CONSAN_LANES, agent);
    }
}

static void commit_kind(Consan *consan, ConsanGroup kind, uint32_t agent) {
    const uint16_t *list = consan_list(consan, &consan->staging[kind], agent);
    for (uint32_t i = 0; i < consan->staging[kind].counts[agent]; i++) {
        ConsanStaged *staged = consan->words[list[i]].staged[kind][agent];
        for (uint64_t left = staged->open; left;) {
            int8_t *entry = &staged->commits[consan_take_lowest(&left)];
            if (*entry < 0)
                *entry = 1;
            else if (*entry < INT8_MAX)
                ++*entry;
        }
    }
}

void consan_commit(Consan *consan, ConsanGroup group, uint32_t base) {
    commit_kind(consan, group, consan_agent(base));
    if (group == CONSAN_COPY)
        commit_kind(consan, CONSAN_REPORTED, consan_agent(base));
}

/* The spans' accesses are over: they are now those of `actor`, made where they were staged. */
static void settle(Consan *consan, ConsanGroup group, uint32_t base, uint32_t actor, ConsanPiece piece) {
    uint32_t agent = consan_agent(base);
    ConsanStaged *staged = piece.word->staged[group][agent];
    ConsanReader *reader = NULL;
    if (group == CONSAN_COPY)
        write_piece(consan, actor, piece);
    else
        reader = read_piece(consan, actor, piece, false);
    staged->open &= ~piece.mask;
    for (uint64_t left = piece.mask; left;) {
        uint32_t lane = consan_take_lowest(&left);
        staged->commits[lane] = 0;
        if (group == CONSAN_COPY) {
            piece.word->writer[lane] = (uint16_t)base;
            piece.word->write_place[lane] = staged->places[lane];
        } else if (reader) {
            reader->places[lane] = staged->places[lane];
        }
    }
    if (!staged->open)
        consan_unlink_stager(consan, piece.word->index, group, agent);
}

/* Spans whose entries are older than the `pending_groups` youngest groups. */
static uint64_t over_spans(const ConsanStaged *staged, uint32_t pending_groups) {
    uint64_t over = 0;
    for (uint64_t left = staged->open; left;) {
        uint32_t lane = consan_take_lowest(&left);
        if (staged->commits[lane] > 0 && (uint32_t)staged->commits[lane] > pending_groups)
            over |= consan_bit(lane);
    }
    return over;
}

/* Reported copies have written already; now their issuer sees that, too. */
static void clear_reported(Consan *consan, uint32_t base, uint32_t pending_groups) {
    uint32_t agent = consan_agent(base);
    const uint16_t *list = consan_list(consan, &consan->staging[CONSAN_REPORTED], agent);
    for (uint32_t i = consan->staging[CONSAN_REPORTED].counts[agent]; i-- > 0;) {
        ConsanPiece over = {&consan->words[list[i]], 0};
        ConsanStaged *staged = over.word->staged[CONSAN_REPORTED][agent];
        over.mask = over_spans(staged, pending_groups);
        if (over.mask) {
            staged->open &= ~over.mask;
            over.word->seen[base] |= over.mask;
            watch(consan, over, base);
        }
        if (!staged->open) /* by this, or by a later write */
            consan_unlink_stager(consan, over.word->index, CONSAN_REPORTED, agent);
    }
}

void consan_clear(Consan *consan, ConsanGroup group, uint32_t base, uint32_t pending_groups) {
    uint32_t agent = consan_agent(base);
    const uint16_t *list = consan_list(consan, &consan->staging[group], agent);
    for (uint32_t i = consan->staging[group].counts[agent]; i-- > 0;) {
        ConsanPiece over = {&consan->words[list[i]], 0};
        over.mask = over_spans(over.word->staged[group][agent], pending_groups);
        if (over.mask)
            settle(consan, group, base, base, over);
    }
    if (group == CONSAN_COPY)
        clear_reported(consan, base, pending_groups);
}

/* The copies of a word, which report to a barrier now: their issuer has not waited, so that only a helper sees them,
 * which no actor that waits for nothing is. Their group goes on counting them. */
static void report(Consan *consan, uint32_t base, ConsanWord *word) {
    uint32_t agent = consan_agent(base);
    const ConsanStaged *staged = word->staged[CONSAN_COPY][agent];
    ConsanStaged *reported = consan_stager(consan, word, CONSAN_REPORTED, agent);
    ConsanPiece piece = {word, staged->open};
    if (!reported)
        return;
    for (uint64_t left = piece.mask; left;) {
        uint32_t lane = consan_take_lowest(&left);
        reported->commits[lane] = staged->commits[lane];
    }
    settle(consan, CONSAN_COPY, base, CONSAN_TMA + base, piece);
    reported->open |= piece.mask;
    consan_link(consan, &consan->staging[CONSAN_REPORTED], &word->stagers[CONSAN_REPORTED], word->index, agent);
}

void consan_track_copies(Consan *consan, uint32_t base, uint32_t barrier, uint32_t parity) {
    uint32_t agent = consan_agent(base), phase = consan_phase(barrier, parity);
    const uint16_t *staging = consan_list(consan, &consan->staging[CONSAN_COPY], agent);
    const uint16_t *reported = consan_list(consan, &consan->staging[CONSAN_REPORTED], agent);
    for (uint32_t i = consan->staging[CONSAN_COPY].counts[agent]; i-- > 0;)
        report(consan, base, &consan->words[staging[i]]);
    for (uint32_t i = 0; i < consan->staging[CONSAN_REPORTED].counts[agent]; i++) {
        ConsanPiece piece = {&consan->words[reported[i]], 0};
        piece.mask = piece.word->staged[CONSAN_REPORTED][agent]->open;
        piece.word->tracked[phase] |= piece.mask;
        if (piece.mask)
            track_in(consan, piece, phase);
    }
}

/* ---- partitions ----------------------------------------------------------------------------------- */

/* The actor sees nothing, of itself. */
static void blind(Consan *consan, uint32_t actor) {
    const uint16_t *list = consan_list(consan, &consan->watched, actor);
    for (uint32_t i = consan->watched.counts[actor]; i-- > 0;) {
        uint32_t index = list[i];
        ConsanWord *word = &consan->words[index];
        word->seen[actor] = 0;
        for (uint32_t k = 0; k < word->reader_count; k++)
            word->readers[k]->seen[actor] = 0;
        consan_unlink_watcher(consan, index, actor);
    }
}

/* All that one base actor sees, another does, too. */
static void show(const Consan *consan, uint32_t from, uint32_t to) {
    const uint16_t *list = consan_list(consan, &consan->watched, from);
    for (uint32_t i = 0; i < consan->watched.counts[from]; i++) {
        ConsanPiece piece = {&consan->words[list[i]], 0};
        piece.word->seen[to] |= piece.word->seen[from];
        for (uint32_t k = 0; k < piece.word->reader_count; k++)
            piece.word->readers[k]->seen[to] |= piece.word->readers[k]->seen[from];
        watch(consan, piece, to);
    }
}

void consan_fork(Consan *consan, uint32_t parent, uint32_t child) {
    blind(consan, child);
    show(consan, parent, child);
}

void consan_join(Consan *consan, uint32_t parent, uint32_t child) {
    show(consan, child, parent);
}
