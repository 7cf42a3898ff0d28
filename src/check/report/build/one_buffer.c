/* Leaving out of a report what does not concern a buffer. */
#include "check/report/build/one_buffer.h"

#include <stdlib.h>

/* A set of names, sorted. */
typedef struct NameSet {
    const char **items;
    size_t count;
} NameSet;

static int by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool has(const NameSet *set, const char *name) {
    return set->count && bsearch(&name, set->items, set->count, sizeof *set->items, by_name);
}

static bool has_any(const NameSet *set, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (has(set, names[i]))
            return true;
    return false;
}

/* Whether one of the names stands in a list such as "a, b (2 x 128x64xf16)". */
static bool is_carried(Arena *arena, const NameSet *set, const char *carries) {
    for (const char *at = carries; *at;) {
        at += strspn(at, ", ");
        size_t size = strcspn(at, ",(");
        size_t length = size;
        while (length && at[length - 1] == ' ')
            length--;
        if (length && has(set, arena_copy(arena, at, length)))
            return true;
        at += size;
        if (*at == '(')
            at += strcspn(at, ")");
        at += *at == ')';
    }
    return false;
}

static void keep_buffers(Arena *arena, Report *report, int64_t id, NameSet *names) {
    ReportBuffer *kept = ARENA_ARRAY(arena, ReportBuffer, report->buffer_count + 1);
    names->items = ARENA_ARRAY(arena, const char *, report->buffer_count + 1);
    for (size_t i = 0; i < report->buffer_count; i++)
        if (report->buffers[i].id == id) {
            kept[names->count] = report->buffers[i];
            names->items[names->count++] = report->buffers[i].name;
        }
    if (!names->count)
        return;
    qsort(names->items, names->count, sizeof *names->items, by_name);
    report->buffers = kept;
    report->buffer_count = names->count;
}

static void keep_barriers(Arena *arena, Report *report, const NameSet *buffers, NameSet *names) {
    ReportBarrier *kept = ARENA_ARRAY(arena, ReportBarrier, report->barrier_count + 1);
    size_t count = 0;
    names->items = ARENA_ARRAY(arena, const char *, 2 * report->barrier_count + 1);
    for (size_t i = 0; i < report->barrier_count; i++) {
        const ReportBarrier *barrier = &report->barriers[i];
        if (!has_any(buffers, barrier->protects, barrier->protect_count))
            continue;
        names->items[names->count++] = barrier->name;
        if (*barrier->pair)
            names->items[names->count++] = barrier->pair;
    }
    qsort(names->items, names->count, sizeof *names->items, by_name);
    for (size_t i = 0; i < report->barrier_count; i++)
        if (has(names, report->barriers[i].name))
            kept[count++] = report->barriers[i];
    report->barriers = kept;
    report->barrier_count = count;
}

static void keep_edges(Arena *arena, Report *report, const NameSet *buffers, const NameSet *barriers) {
    ReportEdge *kept = ARENA_ARRAY(arena, ReportEdge, report->edge_count + 1);
    size_t count = 0;
    for (size_t i = 0; i < report->edge_count; i++) {
        const ReportEdge *edge = &report->edges[i];
        if (has(barriers, edge->barrier) || is_carried(arena, buffers, edge->carries))
            kept[count++] = *edge;
    }
    report->edges = kept;
    report->edge_count = count;
}

static void keep_candidates(Arena *arena, Report *report, const NameSet *barriers) {
    ReportCandidate *kept = ARENA_ARRAY(arena, ReportCandidate, report->candidate_count + 1);
    size_t count = 0;
    for (size_t i = 0; i < report->candidate_count; i++)
        if (has(barriers, report->candidates[i].barrier))
            kept[count++] = report->candidates[i];
    report->candidates = kept;
    report->candidate_count = count;
}

/* A table is kept whole: what else the write touches is what one wants to see. */
static void keep_coverage(Arena *arena, Report *report, const NameSet *buffers) {
    ReportCoverage *kept = ARENA_ARRAY(arena, ReportCoverage, report->coverage_count + 1);
    size_t count = 0;
    for (size_t i = 0; i < report->coverage_count; i++) {
        const ReportCoverage *coverage = &report->coverage[i];
        bool concerned = has(buffers, coverage->owner);
        for (size_t k = 0; k < coverage->row_count && !concerned; k++)
            concerned = has(buffers, coverage->rows[k].name);
        if (concerned)
            kept[count++] = *coverage;
    }
    report->coverage = kept;
    report->coverage_count = count;
}

bool report_keep_buffer(Arena *arena, Report *report, int64_t id) {
    NameSet buffers = {0}, barriers = {0};
    keep_buffers(arena, report, id, &buffers);
    if (!buffers.count)
        return false;
    keep_barriers(arena, report, &buffers, &barriers);
    keep_edges(arena, report, &buffers, &barriers);
    keep_candidates(arena, report, &barriers);
    keep_coverage(arena, report, &buffers);
    return true;
}
