/* The rows of a difference, gathered by what they are about. */
#include "check/report/difference/protocol.h"

#include <stdlib.h>

enum { MOST_NAMES = 4, MOST_CHANGED = 64 /* things whose aspects are gathered; others are counted */ };

/* Names, of which a few are told. */
typedef struct ProtocolNames {
    Text text;
    size_t count;
} ProtocolNames;

static void add_name(ProtocolNames *names, const char *name) {
    if (names->count++ < MOST_NAMES)
        text_addf(&names->text, "%s%s", names->count > 1 ? ", " : "", name);
}

/* "; barrier spare, tail and 3 more added" */
static void report_names(Text *to, const char *before, ProtocolNames *names, const char *after) {
    if (names->count) {
        text_addf(to, "%s%s%.*s", to->size ? "; " : "", before, (int)names->text.size, names->text.data);
        if (names->count > MOST_NAMES)
            text_addf(to, " and %zu more", names->count - MOST_NAMES);
        text_addf(to, "%s", after);
    }
    to->failed |= names->text.failed;
    text_free(&names->text);
    *names = (ProtocolNames){0};
}

static bool is_whole(const DifferenceRow *row, DifferenceLevel level) {
    return row->level == level && *row->thing && !*row->aspect;
}

/* Things of a level that came or went. */
static void report_whole(const Difference *difference, DifferenceLevel level, const char *kind, Text *to) {
    for (unsigned added = 0; added < 2; added++) {
        ProtocolNames names = {0};
        for (size_t i = 0; i < difference->row_count; i++) {
            const DifferenceRow *row = &difference->rows[i];
            if (is_whole(row, level) && !*(added ? row->old : row->new))
                add_name(&names, row->thing);
        }
        report_names(to, kind, &names, added ? " added" : " removed");
    }
}

/* ---- What is different about those that stayed ---------------------------------------------------- */

typedef struct Changed {
    const char *thing;
    Text aspects; /* "depth, slots and phases" */
} Changed;

/* What another aspect stands for, too. */
static const char *aspect_reported(const char *aspect) {
    static const char *const same[] = {"slot index", "phase", "first waits pass at once"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        if (strcmp(aspect, same[i]) == 0)
            return "slots and phases";
    return aspect;
}

static void add_aspect(Changed *changed, const char *aspect) {
    Str said = {changed->aspects.size ? changed->aspects.data : "", changed->aspects.size};
    aspect = aspect_reported(aspect);
    if (!memmem(said.data, said.size, aspect, strlen(aspect)))
        text_addf(&changed->aspects, "%s%s", said.size ? ", " : "", aspect);
}

/* Of a barrier that came or went, its edges did, too. */
static bool came_or_went(const Difference *difference, const char *thing) {
    for (size_t i = 0; i < difference->row_count; i++)
        if (is_whole(&difference->rows[i], LEVEL_CHANNELS) && strcmp(difference->rows[i].thing, thing) == 0)
            return true;
    return false;
}

static size_t gather(const Difference *difference, Changed *changed) {
    size_t count = 0;
    for (size_t i = 0; i < difference->row_count; i++) {
        const DifferenceRow *row = &difference->rows[i];
        size_t at = 0;
        if (row->level != LEVEL_CHANNELS || !*row->aspect || came_or_went(difference, row->thing))
            continue;
        while (at < count && strcmp(changed[at].thing, row->thing) != 0)
            at++;
        if (at == MOST_CHANGED)
            continue;
        count += at == count;
        changed[at].thing = row->thing;
        add_aspect(&changed[at], row->aspect);
    }
    return count;
}

static bool same_aspects(const Changed *a, const Changed *b) {
    return a->aspects.size == b->aspects.size && memcmp(a->aspects.data, b->aspects.data, a->aspects.size) == 0;
}

/* "full, empty: slots and phases" */
static void report_changed(const Difference *difference, Text *to) {
    Changed *changed = calloc(MOST_CHANGED, sizeof *changed);
    size_t count = changed ? gather(difference, changed) : 0;
    to->failed |= !changed;
    for (size_t i = 0; i < count; i++) {
        ProtocolNames names = {0};
        if (!changed[i].thing)
            continue;
        for (size_t k = i; k < count; k++)
            if (changed[k].thing && same_aspects(&changed[i], &changed[k])) {
                add_name(&names, changed[k].thing);
                changed[k].thing = NULL;
            }
        bool named = names.text.size;
        report_names(to, "", &names, named ? ": " : "");
        text_addf(to, "%.*s", (int)changed[i].aspects.size, changed[i].aspects.data);
    }
    for (size_t i = 0; i < count; i++)
        text_free(&changed[i].aspects);
    free(changed);
}

/* ---- Orders and verdicts -------------------------------------------------------------------------- */

static bool is_missing(const char *order) {
    return strncmp(order, "MISSING", strlen("MISSING")) == 0;
}

static void report_orders(const Difference *difference, Text *to) {
    ProtocolNames lost = {0}, won = {0};
    for (size_t i = 0; i < difference->row_count; i++) {
        const DifferenceRow *row = &difference->rows[i];
        if (row->level != LEVEL_COVERAGE)
            continue;
        if (is_missing(row->new) && !is_missing(row->old))
            add_name(&lost, row->thing);
        if (is_missing(row->old) && !is_missing(row->new))
            add_name(&won, row->thing);
    }
    report_names(to, "order lost: ", &lost, "");
    report_names(to, "order won: ", &won, "");
}

static void report_verdict(const Difference *difference, Text *to) {
    ProtocolNames gone = {0}, new = {0};
    for (size_t i = 0; i < difference->row_count; i++) {
        const DifferenceRow *row = &difference->rows[i];
        if (row->level != LEVEL_VERDICT)
            continue;
        if (strcmp(row->aspect, "deadlock") == 0)
            text_addf(to, "%sdeadlocks %s -> %s", to->size ? "; " : "", row->old, row->new);
        else if (*row->thing && !*row->old)
            add_name(&new, row->thing);
        else if (*row->thing && !*row->new)
            add_name(&gone, row->thing);
    }
    report_names(to, "new: ", &new, "");
    report_names(to, "gone: ", &gone, "");
}

/* Levels that differ, where none of them is about how partitions synchronize. */
static void report_unchanged(const Difference *difference, Text *to) {
    text_addf(to, "unchanged; ");
    for (size_t i = 0; i < difference->row_count; i++)
        if (!i || difference->rows[i].level != difference->rows[i - 1].level)
            text_addf(to, "%s%s", i ? ", " : "", difference_level_name(difference->rows[i].level));
    text_addf(to, " differ");
}

const char *protocol_line(Verdict *texts, const Difference *difference) {
    Text line = {0}, all = {0};
    if (!difference->row_count)
        return "";
    report_whole(difference, LEVEL_PARTITIONS, "partition ", &line);
    report_whole(difference, LEVEL_CHANNELS, "barrier ", &line);
    report_changed(difference, &line);
    report_whole(difference, LEVEL_BUFFERS, "buffer ", &line);
    report_orders(difference, &line);
    report_verdict(difference, &line);
    if (!line.size)
        report_unchanged(difference, &line);
    text_addf(&all, "protocol: %.*s", (int)line.size, line.size ? line.data : "");
    all.failed |= line.failed;
    text_free(&line);
    return verdict_keep(texts, &all);
}
