/* Comparing two barrier reports. Each becomes a list of facts, in words that do not depend on numbers and lines
 * (check/report/difference/match.h); facts that both have cancel out, and the rest are the rows. */
#include "check/report/difference/compare.h"

#include "base/order.h"
#include "check/report/difference/match.h"
#include "check/report/difference/protocol.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- Facts ----------------------------------------------------------------------------------- */

typedef struct CompareFact {
    DifferenceLevel level;
    const char *what, *thing, *aspect; /* as in a row */
    const char *value;                 /* what is compared */
    const char *shown;                 /* what is printed of it; never "" */
    size_t order;
} CompareFact;

/* One report while its facts are listed. */
typedef struct CompareReporter {
    Match *match;
    const MatchSide *side;
    CompareFact *facts;
    uint32_t count, capacity;
    DifferenceLevel level; /* of those that are listed now */
    const char *thing, *aspect;
} CompareReporter;

/* What the facts that follow are about. */
static void about(CompareReporter *reporter, const char *thing, const char *aspect) {
    reporter->thing = thing;
    reporter->aspect = aspect;
}

static void add_fact(CompareReporter *reporter, const char *what, const char *value, const char *shown) {
    CompareFact fact = {reporter->level,          what,           reporter->thing, reporter->aspect, value,
                        *shown ? shown : "there", reporter->count};
    *ARENA_PUSH(reporter->match->texts.arena, reporter->facts, reporter->count, reporter->capacity) = fact;
}

/* About a part of something: "barrier full: depth". */
static const char *part(CompareReporter *reporter, const char *kind, const char *label, const char *what) {
    about(reporter, label, what);
    return verdict_text(&reporter->match->texts, "%s%s: %s", kind, label, what);
}

/* A text that is part of something; one that is "" on both sides is no difference. */
static void add_text(CompareReporter *reporter, const char *what, const char *text) {
    add_fact(reporter, what, match_plain(reporter->match, reporter->side, text), *text ? text : "not said");
}

static void add_number(CompareReporter *reporter, const char *what, int64_t number) {
    const char *text = number == -1 ? "not known" : verdict_text(&reporter->match->texts, "%" PRId64, number);
    add_fact(reporter, what, text, text);
}

/* ---- Partitions ------------------------------------------------------------------------------ */

static void report_form(CompareReporter *reporter) {
    reporter->level = LEVEL_FORM;
    about(reporter, "", "form");
    add_text(reporter, "form", reporter->side->report->form);
    add_text(reporter, "target", reporter->side->report->target);
}

static const char *describe_partition(CompareReporter *reporter, const ReportPartition *partition) {
    Text text = {0};
    text_addf(&text, "%s", partition->name);
    for (size_t i = 0; i < partition->key_op_count; i++)
        text_addf(&text, "%s%s x%" PRIu64, i ? ", " : ": ", partition->key_ops[i].name, partition->key_ops[i].count);
    if (partition->warps != -1)
        text_addf(&text, "; %d warp%s", partition->warps, plural(partition->warps));
    return verdict_keep(&reporter->match->texts, &text);
}

static void report_partitions(CompareReporter *reporter) {
    const Report *report = reporter->side->report;
    reporter->level = LEVEL_PARTITIONS;
    for (size_t i = 0; i < report->partition_count; i++) {
        const ReportPartition *partition = &report->partitions[i];
        const char *label = reporter->side->partitions.texts[i];
        if (!reporter->side->partitions.both[i]) {
            about(reporter, label, "");
            add_fact(reporter, verdict_text(&reporter->match->texts, "partition %s", label), "",
                     describe_partition(reporter, partition));
            continue;
        }
        add_text(reporter, part(reporter, "", label, "role"), partition->role);
        add_text(reporter, part(reporter, "", label, "type"), partition->type);
        add_number(reporter, part(reporter, "", label, "stage"), partition->stage);
    }
}

static void report_ops(CompareReporter *reporter) {
    const Report *report = reporter->side->report;
    reporter->level = LEVEL_OPS;
    for (size_t i = 0; i < report->partition_count; i++)
        for (size_t k = 0; k < report->partitions[i].key_op_count && reporter->side->partitions.both[i]; k++) {
            const ReportCount *op = &report->partitions[i].key_ops[k];
            add_number(reporter, part(reporter, "", reporter->side->partitions.texts[i], op->name), (int64_t)op->count);
        }
}

static bool is_of_warps(const ReportLimit *limit) {
    return strcmp(limit->name, "warps") == 0 || strcmp(limit->name, "registers") == 0;
}

/* What is used of what there is: that of threads, or that of memory. */
static void report_limits(CompareReporter *reporter, bool warps) {
    const Report *report = reporter->side->report;
    for (size_t i = 0; i < report->limit_count; i++) {
        const ReportLimit *limit = &report->limits[i];
        if (is_of_warps(limit) != warps)
            continue;
        const char *text = verdict_text(&reporter->match->texts, "%" PRId64 " of %" PRId64 "%s%s", limit->used,
                                        limit->most, *limit->unit ? " " : "", limit->unit);
        about(reporter, limit->name, "use");
        add_fact(reporter, verdict_text(&reporter->match->texts, "%s in all", limit->name), text, text);
    }
}

static void report_warps(CompareReporter *reporter) {
    const Report *report = reporter->side->report;
    reporter->level = LEVEL_WARPS;
    for (size_t i = 0; i < report->partition_count; i++) {
        if (!reporter->side->partitions.both[i])
            continue;
        add_number(reporter, part(reporter, "", reporter->side->partitions.texts[i], "warps"),
                   report->partitions[i].warps);
        add_number(reporter, part(reporter, "", reporter->side->partitions.texts[i], "registers"),
                   report->partitions[i].registers);
    }
    report_limits(reporter, true);
}

ORDER_NUMBERS(by_count, int64_t)

static void report_counts(CompareReporter *reporter) {
    const Report *report = reporter->side->report;
    int64_t *counts = ARENA_ARRAY(reporter->match->texts.arena, int64_t, report->barrier_count + 1);
    size_t known = 0;
    reporter->level = LEVEL_COUNTS;
    for (size_t i = 0; i < report->barrier_count; i++)
        if (report->barriers[i].count >= 0)
            counts[known++] = report->barriers[i].count;
    qsort(counts, known, sizeof *counts, by_count);
    for (size_t i = 0, next; i < known; i = next) {
        for (next = i + 1; next < known && counts[next] == counts[i];)
            next++;
        about(reporter, "", "counts");
        add_number(reporter,
                   verdict_text(&reporter->match->texts, "barriers that take %" PRId64 " arrival%s", counts[i],
                                plural(counts[i])),
                   (int64_t)(next - i));
    }
}

/* ---- Channels -------------------------------------------------------------------------------- */

static void report_edges(CompareReporter *reporter) {
    const Report *report = reporter->side->report;
    for (size_t i = 0; i < report->edge_count; i++) {
        const ReportEdge *edge = &report->edges[i];
        const char *what =
            verdict_text(&reporter->match->texts, "%s%sedge %s -> %s, %s", edge->direction, *edge->direction ? " " : "",
                         match_plain(reporter->match, reporter->side, edge->from),
                         match_plain(reporter->match, reporter->side, edge->to), edge->mechanism);
        about(reporter, edge->barrier, *edge->barrier ? "edges" : "values that cross partitions");
        add_fact(reporter, what, match_plain(reporter->match, reporter->side, edge->carries), edge->carries);
    }
}

static const char *describe_barrier(CompareReporter *reporter, const ReportBarrier *barrier) {
    Match *match = reporter->match;
    const char *data = match_buffers(match, reporter->side, barrier->protects, barrier->protect_count);
    return verdict_text(
        &match->texts, "%s%s%s, arrivals of %s, waits of %s%s%s", barrier->direction, *barrier->direction ? " " : "",
        barrier->kind,
        barrier->arrive_count ? match_sites(match, reporter->side, barrier->arrives, barrier->arrive_count) : "none",
        barrier->wait_count ? match_sites(match, reporter->side, barrier->waits, barrier->wait_count) : "none",
        *data ? ", for " : "", data);
}

/* " (IR line 12)" */
static void add_ir_line(Text *to, uint32_t line) {
    if (line)
        text_addf(to, " (IR line %u)", line);
}

static void report_site(CompareReporter *reporter, const char *label, const char *verb, const ReportSite *site) {
    Text text = {0}, shown = {0};
    text_addf(&text, "slot %s", *site->index ? site->index : "not seen");
    if (*site->phase)
        text_addf(&text, ", phase %s", site->phase);
    if (site->stagger)
        text_addf(&text, ", %" PRId64 " behind", site->stagger);
    if (site->amount > 1)
        text_addf(&text, ", %" PRId64 " each time", site->amount);
    if (site->passes_at_once)
        text_addf(&text, ", the first passes at once");
    text_addf(&shown, "%.*s", (int)text.size, text.data ? text.data : "");
    add_ir_line(&shown, site->place.ir_line);
    const char *kept = verdict_keep(&reporter->match->texts, &text);
    const char *what = verdict_text(&reporter->match->texts, "barrier %s: %s of %s%s%s", label, verb,
                                    match_plain(reporter->match, reporter->side, site->place.partition),
                                    *site->mechanism ? ", " : "", site->mechanism);
    about(reporter, label, "slots and phases");
    add_fact(reporter, what, match_plain(reporter->match, reporter->side, kept),
             verdict_keep(&reporter->match->texts, &shown));
}

static void report_barrier(CompareReporter *reporter, const ReportBarrier *barrier, const char *label) {
    static const char kind[] = "barrier ";
    add_text(reporter, part(reporter, kind, label, "kind"), barrier->kind);
    add_text(reporter, part(reporter, kind, label, "direction"), barrier->direction);
    add_number(reporter, part(reporter, kind, label, "depth"), barrier->depth);
    add_number(reporter, part(reporter, kind, label, "arrivals a phase takes"), barrier->count);
    add_text(reporter, part(reporter, kind, label, "slot index"), barrier->index);
    add_text(reporter, part(reporter, kind, label, "phase"), barrier->phase);
    add_text(reporter, part(reporter, kind, label, "stagger"), barrier->offset);
    add_text(reporter, part(reporter, kind, label, "first waits pass at once"), barrier->inverted ? "yes" : "no");
    add_number(reporter, part(reporter, kind, label, "bytes announced"), barrier->expect_bytes);
    add_number(reporter, part(reporter, kind, label, "bytes delivered"), barrier->data_bytes);
    add_text(reporter, part(reporter, kind, label, "protects"),
             match_buffers(reporter->match, reporter->side, barrier->protects, barrier->protect_count));
    for (size_t i = 0; i < barrier->arrive_count; i++)
        report_site(reporter, label, "arrival", &barrier->arrives[i]);
    for (size_t i = 0; i < barrier->wait_count; i++)
        report_site(reporter, label, "wait", &barrier->waits[i]);
}

static void report_channels(CompareReporter *reporter) {
    const Report *report = reporter->side->report;
    reporter->level = LEVEL_CHANNELS;
    report_edges(reporter);
    for (size_t i = 0; i < report->barrier_count; i++) {
        const char *label = reporter->side->barriers.texts[i];
        about(reporter, label, "");
        if (reporter->side->barriers.both[i])
            report_barrier(reporter, &report->barriers[i], label);
        else
            add_fact(reporter, verdict_text(&reporter->match->texts, "barrier %s", label), "",
                     describe_barrier(reporter, &report->barriers[i]));
    }
}

/* ---- Shared data ----------------------------------------------------------------------------- */

static void report_buffer(CompareReporter *reporter, const ReportBuffer *buffer, const char *label) {
    static const char kind[] = "buffer ";
    Match *match = reporter->match;
    add_number(reporter, part(reporter, kind, label, "depth"), buffer->depth);
    add_number(reporter, part(reporter, kind, label, "size"), buffer->size);
    add_number(reporter, part(reporter, kind, label, "buffer.id"), buffer->id);
    add_number(reporter, part(reporter, kind, label, "buffer.offset"), buffer->offset);
    add_text(reporter, part(reporter, kind, label, "space"), buffer->space);
    add_text(reporter, part(reporter, kind, label, "storage"), buffer->storage);
    add_text(reporter, part(reporter, kind, label, "written by"),
             match_places(match, reporter->side, buffer->writers, buffer->writer_count));
    add_text(reporter, part(reporter, kind, label, "read by"),
             match_places(match, reporter->side, buffer->readers, buffer->reader_count));
}

static void report_buffers(CompareReporter *reporter) {
    const Report *report = reporter->side->report;
    reporter->level = LEVEL_BUFFERS;
    for (size_t i = 0; i < report->buffer_count; i++) {
        const ReportBuffer *buffer = &report->buffers[i];
        const char *label = reporter->side->buffers.texts[i];
        about(reporter, label, "");
        if (reporter->side->buffers.both[i])
            report_buffer(reporter, buffer, label);
        else
            add_fact(reporter, verdict_text(&reporter->match->texts, "buffer %s", label), "",
                     verdict_text(&reporter->match->texts, "%s%s%s", buffer->space, *buffer->space ? ", " : "",
                                  buffer->storage));
    }
    report_limits(reporter, false);
}

/* ---- Coverage and verdict -------------------------------------------------------------------- */

static void report_row(CompareReporter *reporter, const ReportCoverage *coverage, const ReportRow *row) {
    static const char *const states[] = {"ordered", "MISSING", "planned", "not seen"}; /* ORDER ReportOrder */
    Match *match = reporter->match;
    const char *what = verdict_text(&match->texts, "%s overwritten by %s: %s, read by %s, %s", coverage->owner,
                                    match_plain(match, reporter->side, coverage->writer.partition), row->name,
                                    match_plain(match, reporter->side, row->consumer),
                                    match_plain(match, reporter->side, row->cadence));
    const char *value = verdict_text(&match->texts, "%s, %s", states[row->order], row->extent);
    about(reporter, row->name, "order");
    add_fact(reporter, what, value, verdict_text(&match->texts, "%s%s%s", value, *row->by ? ": " : "", row->by));
}

static void report_coverage(CompareReporter *reporter) {
    const Report *report = reporter->side->report;
    reporter->level = LEVEL_COVERAGE;
    for (size_t i = 0; i < report->coverage_count; i++)
        for (size_t k = 0; k < report->coverage[i].row_count; k++)
            report_row(reporter, &report->coverage[i], &report->coverage[i].rows[k]);
}

static void report_verdict(CompareReporter *reporter) {
    const Report *report = reporter->side->report;
    const Verdict *verdict = report->verdict;
    reporter->level = LEVEL_VERDICT;
    about(reporter, "", "verdict");
    add_text(reporter, "verdict", verdict_kind_name(verdict->kind));
    about(reporter, "", "deadlock");
    add_text(reporter, "deadlock", report->deadlock_verdict);
    for (size_t i = 0; i < verdict->finding_count; i++) {
        const Finding *finding = &verdict->findings[i];
        about(reporter, finding_severity(finding) == SEVERITY_NOTE ? "" : rule_of(finding->rule)->id, "");
        add_fact(reporter, verdict_text(&reporter->match->texts, "finding %s", rule_of(finding->rule)->id),
                 match_plain(reporter->match, reporter->side, finding->message), finding->message);
    }
    about(reporter, "", "not checked");
    for (size_t i = 0; i < verdict->incomplete_count; i++)
        add_text(reporter, "not checked", verdict->incomplete[i].reason);
}

static void report_all(CompareReporter *reporter) {
    report_form(reporter);
    report_partitions(reporter);
    report_ops(reporter);
    report_warps(reporter);
    report_counts(reporter);
    report_channels(reporter);
    report_buffers(reporter);
    report_coverage(reporter);
    report_verdict(reporter);
}

/* ---- Comparing ------------------------------------------------------------------------------- */

/* A row before it has its place: in the order of the facts it is made of, those of the new report alone at the end. */
typedef struct CompareFound {
    DifferenceRow row;
    bool only_new;
    size_t order;
} CompareFound;

static int compare_what(const CompareFact *a, const CompareFact *b) {
    return a->level != b->level ? (a->level < b->level ? -1 : 1) : strcmp(a->what, b->what);
}

static int by_fact(const void *a, const void *b) {
    const CompareFact *x = a, *y = b;
    int order = compare_what(x, y);
    order = order ? order : strcmp(x->value, y->value);
    return order ? order : (x->order > y->order) - (x->order < y->order);
}

static int by_order(const void *a, const void *b) {
    const CompareFact *x = a, *y = b;
    int order = compare_what(x, y);
    return order ? order : (x->order > y->order) - (x->order < y->order);
}

ORDER(by_place, CompareFound, BY(row.level) BY(only_new) BY(order))

/* Takes away from both what both have. */
static void cancel(CompareReporter *old, CompareReporter *new) {
    size_t i = 0, k = 0, old_kept = 0, new_kept = 0;
    qsort(old->facts, old->count, sizeof(CompareFact), by_fact);
    qsort(new->facts, new->count, sizeof(CompareFact), by_fact);
    while (i < old->count || k < new->count) {
        int order = i == old->count ? 1 : k == new->count ? -1 : compare_what(&old->facts[i], &new->facts[k]);
        if (i < old->count && k < new->count &&order == 0)
            order = strcmp(old->facts[i].value, new->facts[k].value);
        if (order < 0)
            old->facts[old_kept++] = old->facts[i];
        if (order > 0)
            new->facts[new_kept++] = new->facts[k];
        i += order <= 0;
        k += order >= 0;
    }
    old->count = old_kept;
    new->count = new_kept;
}

/* What is left of the two, about the same things side by side. */
static CompareFound *pair_up(CompareReporter *old, CompareReporter *new, size_t *count) {
    CompareFound *found = ARENA_ARRAY(old->match->texts.arena, CompareFound, old->count + new->count + 1);
    size_t i = 0, k = 0;
    qsort(old->facts, old->count, sizeof(CompareFact), by_order);
    qsort(new->facts, new->count, sizeof(CompareFact), by_order);
    for (*count = 0; i < old->count || k < new->count; (*count)++) {
        int order = i == old->count ? 1 : k == new->count ? -1 : compare_what(&old->facts[i], &new->facts[k]);
        const CompareFact *a = order <= 0 ? &old->facts[i++] : NULL, *b = order >= 0 ? &new->facts[k++] : NULL;
        const CompareFact *either = a ? a : b;
        found[*count] = (CompareFound){
            {either->level, either->what, either->thing, either->aspect, a ? a->shown : "", b ? b->shown : ""},
            !a,
            either->order};
    }
    qsort(found, *count, sizeof *found, by_place);
    return found;
}

static void add_pairs(const Match *match, Difference *difference) {
    const Report *old = match->old.report, *new = match->new.report;
    DifferencePair *pairs =
        ARENA_ARRAY(match->texts.arena, DifferencePair, old->partition_count + new->partition_count + 1);
    size_t count = 0;
    for (size_t i = 0; i < old->partition_count; i++) {
        size_t pair = match->partition_pairs[i];
        pairs[count++] = (DifferencePair){match->old.partitions.texts[i], old->partitions[i].name,
                                          pair == SIZE_MAX ? "" : new->partitions[pair].name};
    }
    for (size_t k = 0; k < new->partition_count; k++)
        if (!match->new.partitions.both[k])
            pairs[count++] = (DifferencePair){match->new.partitions.texts[k], "", new->partitions[k].name};
    difference->pairs = pairs;
    difference->pair_count = count;
}

const Difference *difference_find(Arena *arena, const Report *old, const Report *new) {
    Match *match = match_reports(arena, old, new);
    CompareReporter tellers[] = {{.match = match, .side = &match->old}, {.match = match, .side = &match->new}};
    report_all(&tellers[0]);
    report_all(&tellers[1]);
    cancel(&tellers[0], &tellers[1]);
    Difference *difference = ARENA_NEW(arena, Difference);
    *difference = (Difference){
        .old_file = old->file, .old_kernel = old->kernel, .new_file = new->file, .new_kernel = new->kernel};
    CompareFound *found = pair_up(&tellers[0], &tellers[1], &difference->row_count);
    DifferenceRow *rows = ARENA_ARRAY(arena, DifferenceRow, difference->row_count + 1);
    for (size_t i = 0; i < difference->row_count; i++)
        rows[i] = found[i].row;
    difference->rows = rows;
    difference->protocol = protocol_line(&match->texts, difference);
    add_pairs(match, difference);
    return difference;
}
