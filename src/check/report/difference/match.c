/* Matching two reports. Whatever grows with the kernel is sorted, not compared each with each. */
#include "check/report/difference/match.h"

#include "base/bisect.h"
#include "base/order.h"

#include <stdlib.h>

static const size_t unmatched = SIZE_MAX;

/* ---- Texts ----------------------------------------------------------------------------------- */

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
}

static bool ends_in(const char *begin, const char *end, const char *suffix) {
    return str_ends(str_between(begin, end), str_of(suffix));
}

/* Whether a number at `at` is that of a line; of a loop's line if *loop. */
static bool is_line(const char *begin, const char *at, bool *loop) {
    *loop = ends_in(begin, at, "loop@") || ends_in(begin, at, "loop at line ");
    return *loop || ends_in(begin, at, "line ") || ends_in(begin, at, "lines ");
}

static uint32_t line_at(const char *at, const char **end) {
    uint64_t line = 0;
    for (; is_digit(*at); at++)
        line = line < UINT32_MAX ? line * 10 + (uint64_t)(*at - '0') : line;
    *end = at;
    return (uint32_t)line;
}

ORDER_NUMBERS(by_line, uint32_t)

/* The partition whose name stands at `at`, whole; NULL if none does. The longest, where one is the start of another. */
static const char *label_at(const MatchSide *side, const char *at, size_t *size) {
    const char *label = NULL;
    *size = 0;
    for (size_t i = 0; i < side->report->partition_count; i++) {
        const char *name = side->report->partitions[i].name;
        if (*name != *at)
            continue;
        size_t length = strlen(name);
        if (length > *size && strncmp(at, name, length) == 0 && !is_word(at[length])) {
            label = side->partitions.texts[i];
            *size = length;
        }
    }
    return label;
}

/* "loop@41" and "loop at line 41" become "loop 2", or "loop" if loops are not to be told apart. */
static void add_loop(const Match *match, const MatchSide *side, uint32_t line, Text *to) {
    bool known = match->loops && side->loop_count;
    const uint32_t *found = known ? bsearch(&line, side->loops, side->loop_count, sizeof line, by_line) : NULL;
    size_t drop = to->size && to->data[to->size - 1] == '@' ? 1 : strlen(" of line ");
    to->size -= to->size < drop ? to->size : drop;
    if (found)
        text_addf(to, " %zu", (size_t)(found - side->loops) + 1);
}

const char *match_plain(Match *match, const MatchSide *side, const char *text) {
    Text plain = {0};
    for (const char *at = text; *at;) {
        size_t size;
        bool loop, inside = at > text && is_word(at[-1]);
        const char *label = inside ? NULL : label_at(side, at, &size);
        if (label) {
            text_str(&plain, str_of(label));
            at += size;
        } else if (is_digit(*at) && is_line(text, at, &loop)) {
            uint32_t line = line_at(at, &at);
            if (loop)
                add_loop(match, side, line, &plain);
        } else if (*at == '%' && is_digit(at[1])) {
            text_char(&plain, '%');
            line_at(at + 1, &at);
        } else {
            text_char(&plain, *at++);
        }
    }
    return verdict_keep(&match->texts, &plain);
}

/* ---- Loops ----------------------------------------------------------------------------------- */

typedef struct Lines {
    Arena *arena;
    uint32_t *items;
    uint32_t count, capacity;
} Lines;

static void find_loops(const char *text, Lines *lines) {
    for (const char *at = text; *at;) {
        bool loop;
        if (!is_digit(*at) || !is_line(text, at, &loop)) {
            at++;
            continue;
        }
        uint32_t line = line_at(at, &at);
        if (loop)
            *ARENA_PUSH(lines->arena, lines->items, lines->count, lines->capacity) = line;
    }
}

static void find_site_loops(const ReportSite *sites, size_t count, Lines *lines) {
    for (size_t i = 0; i < count; i++) {
        find_loops(sites[i].index, lines);
        find_loops(sites[i].phase, lines);
    }
}

static void find_all_loops(const Report *report, Lines *lines) {
    for (size_t i = 0; i < report->barrier_count; i++) {
        const ReportBarrier *barrier = &report->barriers[i];
        find_loops(barrier->index, lines);
        find_loops(barrier->phase, lines);
        find_site_loops(barrier->arrives, barrier->arrive_count, lines);
        find_site_loops(barrier->waits, barrier->wait_count, lines);
    }
    for (size_t i = 0; i < report->coverage_count; i++)
        for (size_t k = 0; k < report->coverage[i].row_count; k++)
            find_loops(report->coverage[i].rows[k].cadence, lines);
}

static void collect_loops(Arena *arena, MatchSide *side) {
    Lines lines = {.arena = arena};
    find_all_loops(side->report, &lines);
    if (lines.count)
        qsort(lines.items, lines.count, sizeof *lines.items, by_line);
    side->loops = lines.items;
    for (size_t i = 0; i < lines.count; i++)
        if (i == 0 || lines.items[i] != lines.items[i - 1])
            lines.items[side->loop_count++] = lines.items[i];
}

/* ---- Partitions ------------------------------------------------------------------------------ */

/* Similarity of two partitions' key ops, in per mille. */
static unsigned similarity(const ReportPartition *a, const ReportPartition *b) {
    uint64_t common = 0, all = 0;
    for (size_t i = 0; i < a->key_op_count; i++)
        all += a->key_ops[i].count;
    for (size_t k = 0; k < b->key_op_count; k++) {
        all += b->key_ops[k].count;
        for (size_t i = 0; i < a->key_op_count; i++)
            if (strcmp(a->key_ops[i].name, b->key_ops[k].name) == 0)
                common += a->key_ops[i].count < b->key_ops[k].count ? a->key_ops[i].count : b->key_ops[k].count;
    }
    return all ? (unsigned)(2000 * common / all) : 0;
}

typedef struct MatchCandidate {
    size_t old, new;
    unsigned score;
} MatchCandidate;

ORDER(by_score, MatchCandidate, BY_MOST(score) BY(old) BY(new))

enum { MOST_CANDIDATES = 64 * 64, LEAST_SIMILAR = 500 };

static void pair_by_ops(Arena *arena, const Report *old, const Report *new, size_t *pairs, bool *taken) {
    MatchCandidate *candidates = ARENA_ARRAY(arena, MatchCandidate, MOST_CANDIDATES);
    size_t count = 0;
    for (size_t i = 0; i < old->partition_count; i++)
        for (size_t k = 0; k < new->partition_count &&pairs[i] == unmatched &&count < MOST_CANDIDATES; k++) {
            unsigned score = taken[k] ? 0 : similarity(&old->partitions[i], &new->partitions[k]);
            if (score >= LEAST_SIMILAR)
                candidates[count++] = (MatchCandidate){i, k, score};
        }
    qsort(candidates, count, sizeof *candidates, by_score);
    for (size_t i = 0; i < count; i++) {
        MatchCandidate *candidate = &candidates[i];
        if (pairs[candidate->old] != unmatched || taken[candidate->new])
            continue;
        pairs[candidate->old] = candidate->new;
        taken[candidate->new] = true;
    }
}

/* The first new partition that is free; with a role, of that role. */
static size_t first_free(const Report *new, const bool *taken, const char *role) {
    for (size_t k = 0; k < new->partition_count; k++)
        if (!taken[k] && (!role || strcmp(new->partitions[k].role, role) == 0))
            return k;
    return unmatched;
}

static void pair_partitions(Match *match) {
    Arena *arena = match->texts.arena;
    const Report *old = match->old.report, *new = match->new.report;
    size_t *pairs = ARENA_ARRAY(arena, size_t, old->partition_count + 1);
    bool *taken = match->new.partitions.both;
    for (size_t i = 0; i < old->partition_count; i++) {
        const char *role = old->partitions[i].role;
        pairs[i] = *role ? first_free(new, taken, role) : unmatched;
        if (pairs[i] != unmatched)
            taken[pairs[i]] = true;
    }
    pair_by_ops(arena, old, new, pairs, taken);
    for (size_t i = 0; i < old->partition_count; i++) {
        if (pairs[i] == unmatched)
            pairs[i] = first_free(new, taken, NULL);
        if (pairs[i] != unmatched)
            taken[pairs[i]] = true;
    }
    match->partition_pairs = pairs;
}

/* The role if no other partition of its report has it, else with its name. */
static const char *partition_label(Match *match, const Report *report, size_t index) {
    const ReportPartition *partition = &report->partitions[index];
    if (!*partition->role)
        return partition->name;
    for (size_t i = 0; i < report->partition_count; i++)
        if (i != index && strcmp(report->partitions[i].role, partition->role) == 0)
            return verdict_text(&match->texts, "%s (%s)", partition->role, partition->name);
    return partition->role;
}

static void label_partitions(Match *match) {
    MatchSide *old = &match->old, *new = &match->new;
    for (size_t k = 0; k < new->report->partition_count; k++)
        new->partitions.texts[k] = partition_label(match, new->report, k);
    for (size_t i = 0; i < old->report->partition_count; i++) {
        size_t pair = match->partition_pairs[i];
        old->partitions.texts[i] = partition_label(match, old->report, i);
        old->partitions.both[i] = pair != unmatched;
        if (pair != unmatched)
            new->partitions.texts[pair] = old->partitions.texts[i];
    }
}

/* ---- By keys --------------------------------------------------------------------------------- */

ORDER(by_name, NameIndex, BY_TEXT(name) BY(index))

/* By which a thing is known; NULL: it is not known by this. */
typedef const char *MatchKey(Match *match, const MatchSide *side, size_t index);

/* Of those that have no counterpart yet. */
static NameIndex *sorted_keys(Match *match, const MatchSide *side, const Labels *labels, MatchKey *key, size_t *found) {
    NameIndex *keys = ARENA_ARRAY(match->texts.arena, NameIndex, labels->count + 1);
    *found = 0;
    for (size_t i = 0; i < labels->count; i++) {
        const char *text = labels->both[i] ? NULL : key(match, side, i);
        if (text)
            keys[(*found)++] = (NameIndex){text, i};
    }
    qsort(keys, *found, sizeof *keys, by_name);
    return keys;
}

/* Their label is the name, or both names. */
static void pair_labels(Match *match, Labels *old, size_t index, Labels *new, size_t other) {
    old->both[index] = new->both[other] = true;
    if (strcmp(old->texts[index], new->texts[other]) != 0)
        old->texts[index] = verdict_text(&match->texts, "%s (now %s)", old->texts[index], new->texts[other]);
    new->texts[other] = old->texts[index];
}

/* Pairs those that have the same key and no counterpart yet, in their order. */
static void pair_by_key(Match *match, Labels *old, Labels *new, MatchKey *key) {
    size_t old_count, new_count, i = 0, k = 0;
    NameIndex *old_keys = sorted_keys(match, &match->old, old, key, &old_count);
    NameIndex *new_keys = sorted_keys(match, &match->new, new, key, &new_count);
    while (i < old_count && k < new_count) {
        int order = strcmp(old_keys[i].name, new_keys[k].name);
        if (order == 0)
            pair_labels(match, old, old_keys[i].index, new, new_keys[k].index);
        i += order <= 0;
        k += order >= 0;
    }
}

/* NULL for one that is only a number of the IR: that changes with every line that is added before it. */
static const char *real_name(const char *name) {
    for (const char *at = strchr(name, '%'); at; at = strchr(at + 1, '%'))
        if (is_digit(at[1]))
            return NULL;
    return is_digit(*name) ? NULL : name;
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorts the texts and joins them, each once. */
static const char *join(Match *match, const char **texts, size_t count) {
    Text joined = {0};
    qsort(texts, count, sizeof *texts, by_text);
    for (size_t i = 0; i < count; i++)
        if (*texts[i] && (i == 0 || strcmp(texts[i], texts[i - 1]) != 0))
            text_addf(&joined, "%s%s", joined.size ? ", " : "", texts[i]);
    return verdict_keep(&match->texts, &joined);
}

const char *match_places(Match *match, const MatchSide *side, const ReportPlace *places, size_t count) {
    const char **texts = ARENA_ARRAY(match->texts.arena, const char *, count + 1);
    for (size_t i = 0; i < count; i++)
        texts[i] = match_plain(match, side, places[i].partition);
    return join(match, texts, count);
}

const char *match_sites(Match *match, const MatchSide *side, const ReportSite *sites, size_t count) {
    const char **texts = ARENA_ARRAY(match->texts.arena, const char *, count + 1);
    for (size_t i = 0; i < count; i++)
        texts[i] = match_plain(match, side, sites[i].place.partition);
    return join(match, texts, count);
}

const char *match_buffers(Match *match, const MatchSide *side, const char *const *names, size_t count) {
    const char **texts = ARENA_ARRAY(match->texts.arena, const char *, count + 1);
    for (size_t i = 0; i < count; i++) {
        size_t low;
        BISECT(low, 0, side->report->buffer_count, strcmp(side->buffer_names[low].name, names[i]) < 0);
        bool known = low < side->report->buffer_count && strcmp(side->buffer_names[low].name, names[i]) == 0;
        texts[i] = known ? side->buffers.texts[side->buffer_names[low].index] : names[i];
    }
    return join(match, texts, count);
}

/* ---- Buffers --------------------------------------------------------------------------------- */

static const char *buffer_name(Match *match, const MatchSide *side, size_t index) {
    (void)match;
    return side->report->buffers[index].name;
}

static const char *buffer_real_name(Match *match, const MatchSide *side, size_t index) {
    return real_name(buffer_name(match, side, index));
}

static const char *buffer_ends(Match *match, const MatchSide *side, size_t index) {
    const ReportBuffer *buffer = &side->report->buffers[index];
    return verdict_text(&match->texts, "%s: %s > %s", buffer->space,
                        match_places(match, side, buffer->writers, buffer->writer_count),
                        match_places(match, side, buffer->readers, buffer->reader_count));
}

static const char *buffer_id_and_ends(Match *match, const MatchSide *side, size_t index) {
    const ReportBuffer *buffer = &side->report->buffers[index];
    if (buffer->id < 0)
        return NULL;
    return verdict_text(&match->texts, "%lld+%lld %s", (long long)buffer->id, (long long)buffer->offset,
                        buffer_ends(match, side, index));
}

static void match_all_buffers(Match *match) {
    static MatchKey *const keys[] = {buffer_real_name, buffer_id_and_ends, buffer_ends, buffer_name};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        pair_by_key(match, &match->old.buffers, &match->new.buffers, keys[i]);
}

/* ---- Barriers -------------------------------------------------------------------------------- */

static const char *barrier_name(Match *match, const MatchSide *side, size_t index) {
    (void)match;
    return side->report->barriers[index].name;
}

static const char *barrier_real_name(Match *match, const MatchSide *side, size_t index) {
    return real_name(barrier_name(match, side, index));
}

/* NULL for a barrier that nothing uses. */
static const char *barrier_ends(Match *match, const MatchSide *side, size_t index) {
    const ReportBarrier *barrier = &side->report->barriers[index];
    if (!barrier->arrive_count && !barrier->wait_count)
        return NULL;
    return verdict_text(&match->texts, "%s: %s > %s", barrier->direction,
                        match_sites(match, side, barrier->arrives, barrier->arrive_count),
                        match_sites(match, side, barrier->waits, barrier->wait_count));
}

static const char *barrier_ends_and_data(Match *match, const MatchSide *side, size_t index) {
    const ReportBarrier *barrier = &side->report->barriers[index];
    const char *ends = barrier_ends(match, side, index);
    return ends ? verdict_text(&match->texts, "%s: %s", ends,
                               match_buffers(match, side, barrier->protects, barrier->protect_count))
                : NULL;
}

static void match_all_barriers(Match *match) {
    static MatchKey *const keys[] = {barrier_real_name, barrier_ends_and_data, barrier_ends, barrier_name};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        pair_by_key(match, &match->old.barriers, &match->new.barriers, keys[i]);
}

/* ---- All of it ------------------------------------------------------------------------------- */

static Labels start_labels(Arena *arena, size_t count) {
    return (Labels){ARENA_ARRAY(arena, const char *, count + 1), ARENA_ARRAY(arena, bool, count + 1), count};
}

static void start_side(Arena *arena, MatchSide *side, const Report *report) {
    side->report = report;
    side->partitions = start_labels(arena, report->partition_count);
    side->buffers = start_labels(arena, report->buffer_count);
    side->barriers = start_labels(arena, report->barrier_count);
    side->buffer_names = ARENA_ARRAY(arena, NameIndex, report->buffer_count + 1);
    for (size_t i = 0; i < report->barrier_count; i++)
        side->barriers.texts[i] = report->barriers[i].name;
    for (size_t i = 0; i < report->buffer_count; i++) {
        side->buffers.texts[i] = report->buffers[i].name;
        side->buffer_names[i] = (NameIndex){report->buffers[i].name, i};
    }
    qsort(side->buffer_names, report->buffer_count, sizeof *side->buffer_names, by_name);
    collect_loops(arena, side);
}

Match *match_reports(Arena *arena, const Report *old, const Report *new) {
    Match *match = ARENA_NEW(arena, Match);
    match->texts.arena = arena;
    start_side(arena, &match->old, old);
    start_side(arena, &match->new, new);
    match->loops = match->old.loop_count == match->new.loop_count;
    pair_partitions(match);
    label_partitions(match);
    match_all_buffers(match);
    match_all_barriers(match);
    return match;
}
