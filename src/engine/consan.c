/* The tables of ConSan and their rules. Every rule goes over words of 64 spans, and over the actors that matter. */
#include "engine/consan.h"

enum { WORD = 64 };

static uint64_t bit(uint32_t index) {
    return UINT64_C(1) << index;
}

/* The lowest of a set, which it leaves. */
static uint32_t take_lowest(uint64_t *set) {
    uint32_t lowest = (uint32_t)__builtin_ctzll(*set);
    *set &= *set - 1;
    return lowest;
}

static uint32_t base_of(uint32_t actor) {
    return actor % CONSAN_BASE_ACTORS;
}

static uint32_t words_in_use(const Consan *consan) {
    return (consan->spans + WORD - 1) / WORD;
}

/* ---- Where things lie ----------------------------------------------------------------------------- */

static uint32_t phase_of(uint32_t barrier, uint32_t parity) {
    return barrier * CONSAN_PHASES + (parity & 1);
}

static size_t phases_of(const Consan *consan) {
    return (size_t)consan->barriers * CONSAN_PHASES;
}

/* By who sees it. */
static uint64_t *write_visibility(const Consan *consan, uint32_t word) {
    return consan->write_visibility + (size_t)word * CONSAN_ACTORS;
}

/* By who has read. */
static uint64_t *read_by(const Consan *consan, uint32_t word) {
    return consan->read + (size_t)word * CONSAN_ACTORS;
}

/* By who sees what `reader` has read. */
static uint64_t *read_visibility(const Consan *consan, uint32_t word, uint32_t reader) {
    return consan->read_visibility + ((size_t)word * CONSAN_ACTORS + reader) * CONSAN_ACTORS;
}

/* By phase, both. */
static uint64_t *write_tracking(const Consan *consan, uint32_t word) {
    return consan->write_tracking + word * phases_of(consan);
}

static uint64_t *read_tracking(const Consan *consan, uint32_t word, uint32_t reader) {
    return consan->read_tracking + ((size_t)word * CONSAN_ACTORS + reader) * phases_of(consan);
}

static size_t group_row(ConsanGroup group, uint32_t base) {
    return (size_t)group * CONSAN_BASE_ACTORS + base;
}

static uint64_t *open_spans(const Consan *consan, ConsanGroup group, uint32_t base) {
    return consan->open + group_row(group, base) * consan->words;
}

/* Spans of which the actor sees the latest write. */
static uint64_t sees_write(const Consan *consan, uint32_t actor, uint32_t word) {
    const uint64_t *row = write_visibility(consan, word);
    return row[actor] | row[base_of(actor)];
}

/* Spans of which it sees what `reader` has read. */
static uint64_t sees_read(const Consan *consan, uint32_t actor, uint32_t word, uint32_t reader) {
    const uint64_t *row = read_visibility(consan, word, reader);
    return row[actor] | row[base_of(actor)];
}

/* ---- Life ----------------------------------------------------------------------------------------- */

bool consan_create(Consan *consan, uint32_t spans, uint32_t barriers, ConsanAllocate *allocate, void *context) {
    size_t words = ((size_t)spans + WORD - 1) / WORD, groups = (size_t)CONSAN_GROUPS * CONSAN_BASE_ACTORS;
    size_t phases = (size_t)barriers * CONSAN_PHASES, actors = CONSAN_ACTORS, word = sizeof(uint64_t);
    *consan = (Consan){.span_capacity = spans, .barriers = barriers, .words = (uint32_t)words};
    consan->written = allocate(context, words * word);
    consan->write_visibility = allocate(context, words * actors * word);
    consan->read = allocate(context, words * actors * word);
    consan->read_visibility = allocate(context, actors * words * actors * word);
    consan->write_tracking = allocate(context, words * phases * word);
    consan->read_tracking = allocate(context, phases * words * actors * word);
    consan->open = allocate(context, groups * words * word);
    consan->commits = allocate(context, groups * spans);
    consan->active = allocate(context, (phases + 1) * sizeof(uint32_t));
    consan->active_place = allocate(context, (phases + 1) * sizeof(uint32_t));
    consan->writer = allocate(context, spans);
    consan->write_place = allocate(context, spans * sizeof(uint32_t));
    consan->read_place = allocate(context, actors * spans * sizeof(uint32_t));
    consan->stage_place = allocate(context, groups * spans * sizeof(uint32_t));
    consan->handed = allocate(context, (size_t)consan->words * barriers * sizeof(uint64_t));
    return consan->written && consan->write_visibility && consan->read && consan->read_visibility &&
           consan->write_tracking && consan->read_tracking && consan->open && consan->commits && consan->active &&
           consan->active_place && consan->writer && consan->write_place && consan->read_place && consan->stage_place &&
           consan->handed;
}

static void clear_phase(Consan *consan, uint32_t phase) {
    for (uint32_t word = 0, end = words_in_use(consan); word < end; word++) {
        write_tracking(consan, word)[phase] = 0;
        for (uint64_t left = consan->readers; left;)
            read_tracking(consan, word, take_lowest(&left))[phase] = 0;
    }
}

void consan_reset(Consan *consan) {
    uint32_t words = words_in_use(consan);
    for (uint32_t i = 0; i < consan->active_count; i++) {
        clear_phase(consan, consan->active[i]);
        consan->active_place[consan->active[i]] = 0;
    }
    consan->active_count = 0;
    for (uint32_t word = 0; word < words; word++) {
        consan->written[word] = 0;
        for (uint64_t left = consan->readers; left;)
            read_by(consan, word)[take_lowest(&left)] = 0;
        for (uint64_t watchers = consan->watchers; watchers;) {
            uint32_t actor = take_lowest(&watchers);
            write_visibility(consan, word)[actor] = 0;
            for (uint64_t left = consan->readers; left;)
                read_visibility(consan, word, take_lowest(&left))[actor] = 0;
        }
    }
    for (uint32_t group = 0; group < CONSAN_GROUPS; group++) {
        for (uint64_t left = consan->staged[group]; left;) {
            uint32_t base = take_lowest(&left);
            int8_t *entries = consan->commits + group_row((ConsanGroup)group, base) * consan->span_capacity;
            for (uint32_t word = 0; word < words; word++)
                open_spans(consan, (ConsanGroup)group, base)[word] = 0;
            for (uint32_t span = 0; span < consan->spans; span++)
                entries[span] = 0;
        }
        consan->staged[group] = 0;
    }
    consan->watchers = consan->readers = 0;
    for (size_t i = 0; i < (size_t)words * consan->barriers; i++)
        consan->handed[i] = 0;
}

uint32_t consan_span(Consan *consan) {
    return consan->spans < consan->span_capacity ? consan->spans++ : UINT32_MAX;
}

/* One bit, from a row of words to another place in it; the words lie `stride` apart. */
static void copy_bit(uint64_t *row, size_t stride, uint32_t from, uint32_t to) {
    uint64_t value = row[from / WORD * stride] >> from % WORD & 1;
    row[to / WORD * stride] |= value << to % WORD;
}

uint32_t consan_split(Consan *consan, uint32_t from) {
    uint32_t to = consan_span(consan);
    if (to == UINT32_MAX)
        return to;
    copy_bit(consan->written, 1, from, to);
    consan->writer[to] = consan->writer[from];
    consan->write_place[to] = consan->write_place[from];
    for (uint64_t watchers = consan->watchers; watchers;) {
        uint32_t actor = take_lowest(&watchers);
        copy_bit(consan->write_visibility + actor, CONSAN_ACTORS, from, to);
        for (uint64_t left = consan->readers; left;)
            copy_bit(read_visibility(consan, 0, take_lowest(&left)) + actor, (size_t)CONSAN_ACTORS * CONSAN_ACTORS,
                     from, to);
    }
    for (uint64_t left = consan->readers; left;) {
        uint32_t actor = take_lowest(&left);
        uint32_t *places = consan->read_place + (size_t)actor * consan->span_capacity;
        copy_bit(consan->read + actor, CONSAN_ACTORS, from, to);
        places[to] = places[from];
    }
    for (uint32_t i = 0; i < consan->active_count; i++) {
        uint32_t phase = consan->active[i];
        copy_bit(write_tracking(consan, 0) + phase, phases_of(consan), from, to);
        for (uint64_t left = consan->readers; left;)
            copy_bit(read_tracking(consan, 0, take_lowest(&left)) + phase, CONSAN_ACTORS * phases_of(consan), from, to);
    }
    for (uint32_t barrier = 0; barrier < consan->barriers; barrier++)
        copy_bit(consan->handed + barrier, consan->barriers, from, to);
    for (uint32_t group = 0; group < CONSAN_GROUPS; group++)
        for (uint64_t left = consan->staged[group]; left;) {
            uint32_t base = take_lowest(&left);
            size_t row = group_row((ConsanGroup)group, base) * consan->span_capacity;
            copy_bit(open_spans(consan, (ConsanGroup)group, base), 1, from, to);
            consan->commits[row + to] = consan->commits[row + from];
            consan->stage_place[row + to] = consan->stage_place[row + from];
        }
    return to;
}

/* ---- Lists of spans ------------------------------------------------------------------------------- */

/* Neighbors in a list that lie in one word. */
typedef struct Piece {
    uint32_t word;
    uint64_t mask;
} Piece;

static Piece next_piece(const uint32_t *spans, uint32_t count, uint32_t *at) {
    Piece piece = {spans[*at] / WORD, 0};
    do
        piece.mask |= bit(spans[*at] % WORD);
    while (++*at < count && spans[*at] / WORD == piece.word);
    return piece;
}

/* ---- verify --------------------------------------------------------------------------------------- */

/* Spans that an open group of the kind touches, anybody's. */
static uint64_t pending(const Consan *consan, ConsanGroup group, uint32_t word) {
    uint64_t spans = 0;
    for (uint64_t left = consan->staged[group]; left;)
        spans |= open_spans(consan, group, take_lowest(&left))[word];
    return spans;
}

/* Spans that the actor may not read, or write. */
static uint64_t forbidden(const Consan *consan, uint32_t actor, Piece piece, bool writes) {
    uint64_t spans = consan->written[piece.word] & ~sees_write(consan, actor, piece.word);
    if (consan->staged[CONSAN_COPY])
        spans |= pending(consan, CONSAN_COPY, piece.word);
    if (!writes)
        return spans & piece.mask;
    const uint64_t *read = read_by(consan, piece.word);
    for (uint64_t left = consan->readers; left;) {
        uint32_t reader = take_lowest(&left);
        if (read[reader] & piece.mask)
            spans |= read[reader] & ~sees_read(consan, actor, piece.word, reader);
    }
    if (consan->staged[CONSAN_WGMMA])
        spans |= pending(consan, CONSAN_WGMMA, piece.word);
    if (consan->staged[CONSAN_STORE])
        spans |= pending(consan, CONSAN_STORE, piece.word);
    return spans & piece.mask;
}

static bool find_group(const Consan *consan, ConsanGroup group, uint32_t span, ConsanConflict *conflict) {
    for (uint64_t left = consan->staged[group]; left;) {
        uint32_t base = take_lowest(&left);
        size_t at = group_row(group, base) * consan->span_capacity + span;
        if (!consan->commits[at])
            continue;
        *conflict = (ConsanConflict){CONSAN_PENDING_GROUP, span, base, consan->stage_place[at], group};
        return true;
    }
    return false;
}

/* Why the actor may not touch the span; a forbidden one. */
static ConsanConflict explain(const Consan *consan, uint32_t actor, uint32_t span) {
    ConsanConflict conflict = {.span = span};
    uint32_t word = span / WORD;
    uint64_t mask = bit(span % WORD);
    if (consan->written[word] & ~sees_write(consan, actor, word) & mask) {
        conflict.kind = CONSAN_OUTSTANDING_WRITE;
        conflict.actor = consan->writer[span];
        conflict.place = consan->write_place[span];
        return conflict;
    }
    if (find_group(consan, CONSAN_COPY, span, &conflict))
        return conflict;
    for (uint64_t left = consan->readers; left;) {
        uint32_t reader = take_lowest(&left);
        if (!(read_by(consan, word)[reader] & ~sees_read(consan, actor, word, reader) & mask))
            continue;
        conflict.kind = CONSAN_OUTSTANDING_READ;
        conflict.actor = reader;
        conflict.place = consan->read_place[(size_t)reader * consan->span_capacity + span];
        return conflict;
    }
    if (!find_group(consan, CONSAN_WGMMA, span, &conflict))
        (void)find_group(consan, CONSAN_STORE, span, &conflict);
    return conflict;
}

static ConsanConflict verify(const Consan *consan, uint32_t actor, const uint32_t *spans, uint32_t count, bool writes) {
    for (uint32_t at = 0; at < count;) {
        uint32_t first = at;
        Piece piece = next_piece(spans, count, &at);
        uint64_t bad = forbidden(consan, actor, piece, writes);
        if (!bad)
            continue;
        while (!(bad >> spans[first] % WORD & 1))
            first++;
        return explain(consan, actor, spans[first]);
    }
    return (ConsanConflict){.kind = CONSAN_CLEAN};
}

ConsanConflict consan_verify_read(const Consan *consan, uint32_t actor, const uint32_t *spans, uint32_t count) {
    return verify(consan, actor, spans, count, false);
}

ConsanConflict consan_verify_write(const Consan *consan, uint32_t actor, const uint32_t *spans, uint32_t count) {
    return verify(consan, actor, spans, count, true);
}

/* ---- set ------------------------------------------------------------------------------------------ */

/* Nobody sees, and no barrier publishes, what the reader has read of the spans. */
static void revoke(Consan *consan, uint32_t reader, Piece piece) {
    uint64_t *seen = read_visibility(consan, piece.word, reader);
    uint64_t *tracked = read_tracking(consan, piece.word, reader);
    for (uint64_t watchers = consan->watchers; watchers;)
        seen[take_lowest(&watchers)] &= ~piece.mask;
    for (uint32_t i = 0; i < consan->active_count; i++)
        tracked[consan->active[i]] &= ~piece.mask;
}

static void read_piece(Consan *consan, uint32_t actor, Piece piece) {
    uint64_t *read = &read_by(consan, piece.word)[actor];
    if (*read & piece.mask) /* One bit a reader: that an older read is over says nothing of this one. */
        revoke(consan, actor, piece);
    *read |= piece.mask;
    read_visibility(consan, piece.word, actor)[actor] |= piece.mask;
    consan->readers |= bit(actor);
    consan->watchers |= bit(actor);
}

static void write_piece(Consan *consan, uint32_t actor, Piece piece) {
    uint64_t *seen = write_visibility(consan, piece.word), *tracked = write_tracking(consan, piece.word);
    uint64_t *read = read_by(consan, piece.word);
    for (uint64_t left = consan->readers; left;) {
        uint32_t reader = take_lowest(&left);
        if (read[reader] & piece.mask) {
            revoke(consan, reader, piece);
            read[reader] &= ~piece.mask;
        }
    }
    for (uint64_t watchers = consan->watchers; watchers;)
        seen[take_lowest(&watchers)] &= ~piece.mask;
    for (uint32_t i = 0; i < consan->active_count; i++)
        tracked[consan->active[i]] &= ~piece.mask;
    seen[actor] |= piece.mask;
    consan->written[piece.word] |= piece.mask;
    consan->watchers |= bit(actor);
}

void consan_set_read(Consan *consan, uint32_t actor, const uint32_t *spans, uint32_t count, uint32_t place) {
    uint32_t *places = consan->read_place + (size_t)actor * consan->span_capacity;
    for (uint32_t at = 0; at < count;)
        read_piece(consan, actor, next_piece(spans, count, &at));
    for (uint32_t i = 0; i < count; i++)
        places[spans[i]] = place;
}

void consan_set_write(Consan *consan, uint32_t actor, const uint32_t *spans, uint32_t count, uint32_t place) {
    for (uint32_t at = 0; at < count;)
        write_piece(consan, actor, next_piece(spans, count, &at));
    for (uint32_t i = 0; i < count; i++) {
        consan->writer[spans[i]] = (uint8_t)actor;
        consan->write_place[spans[i]] = place;
    }
}

/* ---- track and transfer --------------------------------------------------------------------------- */

/* A phase that something is going to be tracked in. */
static uint32_t use_phase(Consan *consan, uint32_t barrier, uint32_t parity) {
    uint32_t phase = phase_of(barrier, parity);
    if (!consan->active_place[phase]) {
        consan->active[consan->active_count++] = phase;
        consan->active_place[phase] = consan->active_count;
    }
    return phase;
}

void consan_track_frontier(Consan *consan, uint32_t actor, uint32_t barrier, uint32_t parity) {
    uint32_t phase = use_phase(consan, barrier, parity);
    for (uint32_t word = 0, end = words_in_use(consan); word < end; word++) {
        write_tracking(consan, word)[phase] |= sees_write(consan, actor, word);
        for (uint64_t left = consan->readers; left;) {
            uint32_t reader = take_lowest(&left);
            read_tracking(consan, word, reader)[phase] |= sees_read(consan, actor, word, reader);
        }
    }
}

void consan_track_writes(Consan *consan, const uint32_t *spans, uint32_t count, uint32_t barrier, uint32_t parity) {
    uint32_t phase = use_phase(consan, barrier, parity);
    for (uint32_t at = 0; at < count;) {
        Piece piece = next_piece(spans, count, &at);
        write_tracking(consan, piece.word)[phase] |= piece.mask;
    }
}

void consan_begin_phase(Consan *consan, uint32_t barrier, uint32_t parity) {
    uint32_t phase = phase_of(barrier, parity), place = consan->active_place[phase];
    if (!place)
        return;
    clear_phase(consan, phase);
    uint32_t last = consan->active[--consan->active_count];
    consan->active[place - 1] = last;
    consan->active_place[last] = place;
    consan->active_place[phase] = 0;
}

void consan_hand_on(Consan *consan, uint32_t barrier, uint32_t parity, uint32_t to_barrier, uint32_t to_parity) {
    uint32_t phase = phase_of(barrier, parity);
    if (!consan->active_place[phase])
        return;
    uint32_t to = use_phase(consan, to_barrier, to_parity);
    for (uint32_t word = 0, end = words_in_use(consan); word < end; word++) {
        write_tracking(consan, word)[to] |= write_tracking(consan, word)[phase];
        for (uint64_t left = consan->readers; left;) {
            uint32_t reader = take_lowest(&left);
            read_tracking(consan, word, reader)[to] |= read_tracking(consan, word, reader)[phase];
        }
    }
    consan_begin_phase(consan, barrier, parity);
}

void consan_transfer(Consan *consan, uint32_t actor, uint32_t barrier, uint32_t parity) {
    uint32_t phase = phase_of(barrier, parity);
    if (!consan->active_place[phase])
        return;
    consan->watchers |= bit(actor);
    for (uint32_t word = 0, end = words_in_use(consan); word < end; word++) {
        uint64_t *seen = &write_visibility(consan, word)[actor], shown = write_tracking(consan, word)[phase];
        uint64_t fresh = shown & ~*seen;
        *seen |= shown;
        for (uint64_t left = consan->readers; left;) {
            uint32_t reader = take_lowest(&left);
            seen = &read_visibility(consan, word, reader)[actor];
            shown = read_tracking(consan, word, reader)[phase];
            fresh |= shown & ~*seen;
            *seen |= shown;
        }
        consan->handed[(size_t)word * consan->barriers + barrier] |= fresh;
    }
}

/* ---- groups --------------------------------------------------------------------------------------- */

void consan_stage(Consan *consan, ConsanGroup group, uint32_t base, const uint32_t *spans, uint32_t count,
                  uint32_t place) {
    size_t row = group_row(group, base) * consan->span_capacity;
    if (count)
        consan->staged[group] |= UINT32_C(1) << base;
    for (uint32_t i = 0; i < count; i++) {
        open_spans(consan, group, base)[spans[i] / WORD] |= bit(spans[i] % WORD);
        consan->commits[row + spans[i]] = -1;
        consan->stage_place[row + spans[i]] = place;
    }
}

void consan_commit(Consan *consan, ConsanGroup group, uint32_t base) {
    int8_t *entries = consan->commits + group_row(group, base) * consan->span_capacity;
    if (!(consan->staged[group] >> base & 1))
        return;
    for (uint32_t word = 0, end = words_in_use(consan); word < end; word++)
        for (uint64_t left = open_spans(consan, group, base)[word]; left;) {
            int8_t *entry = &entries[word * WORD + take_lowest(&left)];
            if (*entry < 0)
                *entry = 1;
            else if (*entry < INT8_MAX)
                ++*entry;
        }
}

/* The spans' accesses are over: they are now those of `actor`, made where they were staged. */
static void settle(Consan *consan, ConsanGroup group, uint32_t base, uint32_t actor, Piece piece) {
    size_t row = group_row(group, base) * consan->span_capacity;
    open_spans(consan, group, base)[piece.word] &= ~piece.mask;
    if (group == CONSAN_COPY)
        write_piece(consan, actor, piece);
    else
        read_piece(consan, actor, piece);
    for (uint64_t left = piece.mask; left;) {
        uint32_t span = piece.word * WORD + take_lowest(&left);
        uint32_t place = consan->stage_place[row + span];
        consan->commits[row + span] = 0;
        if (group == CONSAN_COPY) {
            consan->writer[span] = (uint8_t)base;
            consan->write_place[span] = place;
        } else {
            consan->read_place[(size_t)actor * consan->span_capacity + span] = place;
        }
    }
}

void consan_clear(Consan *consan, ConsanGroup group, uint32_t base, uint32_t pending_groups) {
    const int8_t *entries = consan->commits + group_row(group, base) * consan->span_capacity;
    if (!(consan->staged[group] >> base & 1))
        return;
    uint64_t any = 0;
    for (uint32_t word = 0, end = words_in_use(consan); word < end; word++) {
        Piece over = {word, 0};
        for (uint64_t left = open_spans(consan, group, base)[word]; left;) {
            uint32_t index = take_lowest(&left);
            int8_t entry = entries[word * WORD + index];
            if (entry > 0 && (uint32_t)entry > pending_groups)
                over.mask |= bit(index);
        }
        if (over.mask)
            settle(consan, group, base, base, over);
        any |= open_spans(consan, group, base)[word];
    }
    if (!any)
        consan->staged[group] &= ~(UINT32_C(1) << base);
}

void consan_track_copies(Consan *consan, uint32_t base, uint32_t barrier, uint32_t parity) {
    if (!(consan->staged[CONSAN_COPY] >> base & 1))
        return;
    uint32_t phase = use_phase(consan, barrier, parity);
    for (uint32_t word = 0, end = words_in_use(consan); word < end; word++) {
        Piece piece = {word, open_spans(consan, CONSAN_COPY, base)[word]};
        if (!piece.mask)
            continue;
        /* Its issuer has not waited: only a helper sees it, which no actor that waits for nothing is. */
        settle(consan, CONSAN_COPY, base, CONSAN_TMA + base, piece);
        write_tracking(consan, word)[phase] |= piece.mask;
    }
    consan->staged[CONSAN_COPY] &= ~(UINT32_C(1) << base);
}

/* ---- partitions ----------------------------------------------------------------------------------- */

void consan_fork(Consan *consan, uint32_t parent, uint32_t child) {
    consan->watchers |= bit(child);
    for (uint32_t word = 0, end = words_in_use(consan); word < end; word++) {
        write_visibility(consan, word)[child] = sees_write(consan, parent, word);
        for (uint64_t left = consan->readers; left;) {
            uint32_t reader = take_lowest(&left);
            read_visibility(consan, word, reader)[child] = sees_read(consan, parent, word, reader);
        }
    }
}

void consan_join(Consan *consan, uint32_t parent, uint32_t child) {
    consan->watchers |= bit(parent);
    for (uint32_t word = 0, end = words_in_use(consan); word < end; word++) {
        write_visibility(consan, word)[parent] |= sees_write(consan, child, word);
        for (uint64_t left = consan->readers; left;) {
            uint32_t reader = take_lowest(&left);
            read_visibility(consan, word, reader)[parent] |= sees_read(consan, child, word, reader);
        }
    }
}

/* ---- looking in ----------------------------------------------------------------------------------- */

uint64_t consan_peers(uint32_t actor) {
    if (actor >= CONSAN_BASE_ACTORS)
        return bit(actor);
    return bit(actor) | bit(CONSAN_TMA + actor) | bit(CONSAN_TENSOR + actor) | bit(CONSAN_CLC + actor);
}

uint64_t consan_write_visibility(const Consan *consan, uint32_t span) {
    uint64_t actors = 0;
    for (uint32_t actor = 0; actor < CONSAN_ACTORS; actor++)
        actors |= (sees_write(consan, actor, span / WORD) >> span % WORD & 1) << actor;
    return actors;
}

uint64_t consan_read_visibility(const Consan *consan, uint32_t actor, uint32_t span) {
    uint64_t actors = 0;
    for (uint64_t left = consan->readers; left;) {
        uint32_t reader = take_lowest(&left);
        actors |= (sees_read(consan, actor, span / WORD, reader) >> span % WORD & 1) << reader;
    }
    return actors;
}

bool consan_written(const Consan *consan, uint32_t span) {
    return consan->written[span / WORD] >> span % WORD & 1;
}

bool consan_handed(const Consan *consan, uint32_t barrier, uint32_t span) {
    return consan->handed[(size_t)(span / WORD) * consan->barriers + barrier] >> span % WORD & 1;
}

bool consan_write_tracking(const Consan *consan, uint32_t barrier, uint32_t parity, uint32_t span) {
    return write_tracking(consan, span / WORD)[phase_of(barrier, parity)] >> span % WORD & 1;
}

uint64_t consan_read_tracking(const Consan *consan, uint32_t barrier, uint32_t parity, uint32_t span) {
    uint32_t phase = phase_of(barrier, parity);
    uint64_t actors = 0;
    for (uint64_t left = consan->readers; left;) {
        uint32_t reader = take_lowest(&left);
        actors |= (read_tracking(consan, span / WORD, reader)[phase] >> span % WORD & 1) << reader;
    }
    return actors;
}

int consan_outstanding_commits(const Consan *consan, ConsanGroup group, uint32_t base, uint32_t span) {
    return consan->commits[group_row(group, base) * consan->span_capacity + span];
}

uint32_t consan_stage_place(const Consan *consan, ConsanGroup group, uint32_t base, uint32_t span) {
    return consan->stage_place[group_row(group, base) * consan->span_capacity + span];
}
