/* The barrier report on one screen of a terminal: partitions, the edges between them as a picture, what is wrong, what
 * is overwritten and whether that is ordered. What there is too much of is counted, with the section that has it all.
 */
#include "render/report/report_say.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    WIDE = 100,           /* columns, where none are said */
    MOST_PARTITIONS = 12, /* lines of each part */
    MOST_EDGES = 20,
    MOST_HAZARDS = 6,
    MOST_ISSUES = 3,
    MOST_STORAGES = 10,
    MOST_LABEL_LINES = 2,
    MOST_LIFELINES = 16,
    LEAST_LABEL = 22, /* columns for what an arrow is */
    LEAST_PITCH = 6,  /* between two partitions of the picture */
};

typedef struct ReportSummary {
    const Report *report;
    Style style;
    Text *to;
    Text text; /* that is being put together */
} ReportSummary;

static Str taken(ReportSummary *summary) {
    Str text = {summary->text.size ? summary->text.data : "", summary->text.size};
    summary->to->failed |= summary->text.failed;
    summary->text.size = 0;
    return text;
}

static void add_title(ReportSummary *summary, const char *title) {
    text_char(summary->to, '\n');
    text_toned(summary->to, summary->style, TONE_HEAD, str_of(title));
    if (summary->text.size) {
        text_addf(summary->to, ": ");
        text_wrapped(summary->to, summary->style, TONE_PLAIN, taken(summary), strlen(title) + 2, "  ");
    } else {
        text_char(summary->to, '\n');
    }
}

/* A word and what is put together, in a column beside it. */
static void add_entry(ReportSummary *summary, const char *key, Tone tone) {
    enum { KEY = 12 };
    text_addf(summary->to, "  ");
    text_toned(summary->to, summary->style, tone, str_of(key));
    text_addf(summary->to, "%*s", strlen(key) < KEY ? (int)(KEY - strlen(key)) : 1, "");
    text_wrapped(summary->to, summary->style, TONE_PLAIN, taken(summary), 2 + KEY, "              ");
}

/* "and 12 more: --section phases" */
static void add_rest(ReportSummary *summary, size_t count, SectionId id) {
    size_t sections;
    if (count)
        text_addf(summary->to, "  and %zu more: --section %s\n", count, report_section_list(&sections)[id].id);
}

/* ---- Partitions -------------------------------------------------------------------------------- */

static void add_partitions(ReportSummary *summary) {
    static const TableColumn columns[] = {{"partition", IS_WORDS, false},
                                          {"role", IS_WORDS, true},
                                          {"warps", IS_NUMBER, true},
                                          {"registers", IS_NUMBER, true},
                                          {"IR line", IS_LINE, true}};
    const Report *report = summary->report;
    size_t count = report->partition_count;
    if (!count)
        return;
    add_title(summary, "Partitions");
    Table table = table_begin(columns, LENGTH(columns));
    for (size_t i = 0; i < count && i < MOST_PARTITIONS; i++) {
        const ReportPartition *partition = &report->partitions[i];
        text_addf(table_cell(&table, TONE_HEAD), "%s", partition->name);
        TEXT_CELLS(&table, partition->role);
        NUMBER_CELLS(&table, partition->warps, partition->registers,
                     partition->ir_line ? (int64_t)partition->ir_line : -1);
    }
    table_print(&table, summary->style, 2, summary->to);
    summary->to->failed |= table.text.failed;
    table_free(&table);
    add_rest(summary, count > MOST_PARTITIONS ? count - MOST_PARTITIONS : 0, SECTION_PARTITIONS);
}

/* ---- The edges as a picture -------------------------------------------------------------------- */

/* A line down for each partition, and an arrow for the edges from one to another. */
typedef struct ReportSummaryPicture {
    size_t count;              /* lines down; 0: there is no room for them, and edges are listed */
    size_t at[MOST_LIFELINES]; /* their columns */
    size_t label;              /* the column that labels start in */
    bool brief;                /* "p0" for "partition0" */
} ReportSummaryPicture;

static void add_brief(Text *to, const char *name, bool brief) {
    bool partition = brief && str_starts(str_of(name), STR("partition"));
    if (partition)
        text_char(to, 'p');
    text_add_plain(to, str_of(partition ? name + strlen("partition") : name));
}

static size_t name_width(ReportSummary *summary, size_t partition, bool brief) {
    add_brief(&summary->text, summary->report->partitions[partition].name, brief);
    return text_width(taken(summary));
}

/* What an edge is called: its barrier; of a value that crosses partitions, what it is. */
static const char *edge_name(const ReportEdge *edge) {
    return *edge->barrier ? edge->barrier : edge->mechanism;
}

static const char missing_words[] = "MISSING: ";

/* Columns that a label needs: those of the longest name, which is not broken. */
static size_t widest_label(const Report *report) {
    size_t widest = LEAST_LABEL;
    for (size_t i = 0; i < report->edge_count; i++) {
        size_t width = text_width(str_of(edge_name(&report->edges[i]))) + 1;
        widest = width > widest ? width : widest;
    }
    for (size_t i = 0; i < report->coverage_count; i++)
        for (size_t k = 0; k < report->coverage[i].row_count; k++) {
            bool missing = report->coverage[i].rows[k].order == COVERAGE_MISSING;
            size_t width =
                missing ? strlen(missing_words) + text_width(str_of(report->coverage[i].rows[k].name)) + 1 : 0;
            widest = width > widest ? width : widest;
        }
    return widest;
}

/* Names stand side by side, the lines under their middles. False if labels would have no room. */
static bool lay_out(ReportSummary *summary, ReportSummaryPicture *picture, bool brief) {
    const Report *report = summary->report;
    size_t column = 4;
    *picture = (ReportSummaryPicture){.count = report->partition_count, .brief = brief};
    for (size_t i = 0; i < report->partition_count; i++) {
        size_t width = name_width(summary, i, brief);
        picture->at[i] = column + width / 2;
        if (i && picture->at[i] < picture->at[i - 1] + LEAST_PITCH)
            picture->at[i] = picture->at[i - 1] + LEAST_PITCH;
        column = picture->at[i] - width / 2 + width + 2;
    }
    picture->label = column + 1;
    return picture->label + widest_label(report) <= summary->style.width;
}

static void add_spaces(Text *to, size_t *column, size_t until) {
    for (; *column < until; ++*column)
        text_char(to, ' ');
}

static void add_names(ReportSummary *summary, const ReportSummaryPicture *picture) {
    size_t column = 0;
    for (size_t i = 0; i < picture->count; i++) {
        size_t width = name_width(summary, i, picture->brief);
        add_spaces(summary->to, &column, picture->at[i] - width / 2);
        add_brief(summary->to, summary->report->partitions[i].name, picture->brief);
        column += width;
    }
    text_char(summary->to, '\n');
}

/* What an arrow is drawn with. */
typedef struct Arrow {
    size_t from, to; /* partitions; both the number of all: no arrow */
    char line;
    Tone tone;
} Arrow;

static char picture_at(const ReportSummaryPicture *picture, const Arrow *arrow, size_t column) {
    size_t low = arrow->from < arrow->to ? arrow->from : arrow->to, high = arrow->from + arrow->to - low;
    bool drawn = high < picture->count;
    for (size_t i = 0; i < picture->count; i++)
        if (picture->at[i] == column) {
            if (drawn && i == arrow->from)
                return arrow->to == i ? '@' : 'o';
            return drawn && i > low && i < high ? '+' : '|';
        }
    if (!drawn || column < picture->at[low] || column > picture->at[high])
        return ' ';
    if (arrow->to == high && column + 1 == picture->at[high])
        return '>';
    return arrow->to == low && column == picture->at[low] + 1 ? '<' : arrow->line;
}

/* One line of the picture, without its label. */
static void draw(ReportSummary *summary, const ReportSummaryPicture *picture, const Arrow *arrow) {
    Text *to = &summary->text;
    for (size_t column = 0; column < picture->label; column++)
        text_char(to, picture_at(picture, arrow, column));
    text_toned(summary->to, summary->style, arrow->tone, taken(summary));
}

/* What an arrow stands for: names, of which a few are kept. */
typedef struct ReportSummaryLabel {
    Text names; /* each ends in a zero */
    size_t kept, count;
} ReportSummaryLabel;

enum { MOST_KEPT = 32 };

static void label_add(ReportSummaryLabel *label, const char *before, const char *name) {
    if (label->count++ == label->kept && label->kept < MOST_KEPT) {
        text_addf(&label->names, "%s%s", before, name);
        text_char(&label->names, 0);
        label->kept++;
    }
}

/* Names as far as they fit in what is left of a line after `used` columns, and how many more there are, if this is the
 * last line; what is left is taken off. */
static void add_fitting(ReportSummary *summary, ReportSummaryLabel *label, const char **at, size_t room, bool last) {
    enum { LEFT = 16 }; /* columns of "and 1234 more" */
    size_t used = 0;
    while (label->kept) {
        Str name = str_of(*at);
        size_t width = text_width(name) + (label->count > 1);
        bool fits = used + (used > 0) + width + (last && label->count > 1 ? LEFT : 0) <= room;
        if (!fits && (used || last))
            break;
        text_addf(summary->to, "%s", used ? " " : "");
        text_add_plain(summary->to, name);
        label->kept--;
        label->count--;
        text_addf(summary->to, "%s", label->count && (label->kept || !last) ? "," : "");
        used += width + 1;
        *at += name.size + 1;
    }
    if (label->count && (last || !label->kept)) {
        text_addf(summary->to, "%s%zu more", used ? " and " : "", label->count);
        label->kept = label->count = 0;
    }
}

/* The label beside it, on as many lines as it takes, up to a few. */
static void draw_labeled(ReportSummary *summary, const ReportSummaryPicture *picture, Arrow arrow,
                         ReportSummaryLabel *label) {
    const char *at = label->names.data;
    for (unsigned line = 0; label->count; line++) {
        draw(summary, picture, &arrow);
        add_fitting(summary, label, &at, summary->style.width - picture->label, line + 1 == MOST_LABEL_LINES);
        text_char(summary->to, '\n');
        arrow = (Arrow){picture->count, picture->count, ' ', TONE_PLAIN};
    }
}

/* In a line of its own: from, to, and the names. */
static void list_labeled(ReportSummary *summary, const char *from, const char *to, const Arrow *arrow,
                         const ReportSummaryLabel *label) {
    enum { MOST_LISTED = 8 };
    const char *at = label->names.data;
    size_t reported = 0;
    text_addf(&summary->text, "%s %c%c> %s: ", from, arrow->line, arrow->line, to);
    for (; reported < label->kept && reported < MOST_LISTED; reported++, at += strlen(at) + 1)
        text_addf(&summary->text, "%s%s", reported ? ", " : "", at);
    if (reported < label->count)
        text_addf(&summary->text, " and %zu more", label->count - reported);
    text_addf(summary->to, "  ");
    text_wrapped(summary->to, summary->style, arrow->tone, taken(summary), 2, "      ");
}

/* Frees the label. */
static void add_arrow(ReportSummary *summary, const ReportSummaryPicture *picture, const char *from, const char *to,
                      char line, Tone tone, ReportSummaryLabel *label) {
    const Report *report = summary->report;
    Arrow arrow = {report_partition(report, from), report_partition(report, to), line, tone};
    summary->to->failed |= label->names.failed;
    if (!label->names.failed && picture->count && arrow.from < picture->count && arrow.to < picture->count)
        draw_labeled(summary, picture, arrow, label);
    else if (!label->names.failed)
        list_labeled(summary, from, to, &arrow, label);
    text_free(&label->names);
}

static void name_edges(const EdgeGroup *group, ReportSummaryLabel *label) {
    for (size_t i = 0; i < group->count; i++)
        label_add(label, "", edge_name(group->edges[i]));
}

/* Those of one direction; how many were left out. */
static size_t add_edges(ReportSummary *summary, const ReportSummaryPicture *picture, bool backward, size_t *room) {
    const Report *report = summary->report;
    const ReportEdge **edges = calloc(report->edge_count + 1, sizeof *edges);
    EdgeGroup *groups = calloc(report->edge_count + 1, sizeof *groups);
    size_t count = 0, group_count = 0, left = 0;
    for (size_t i = 0; edges && i < report->edge_count; i++)
        if (!report_is_token(&report->edges[i]) && report_is_backward(&report->edges[i]) == backward)
            edges[count++] = &report->edges[i];
    summary->to->failed |= !edges || !groups || !report_group_edges(edges, count, groups, &group_count);
    for (size_t i = 0; i < group_count; i++) {
        if (!*room) {
            left += groups[i].count;
            continue;
        }
        --*room;
        ReportSummaryLabel label = {0};
        name_edges(&groups[i], &label);
        add_arrow(summary, picture, groups[i].edges[0]->from, groups[i].edges[0]->to, backward ? '.' : '-', TONE_PLAIN,
                  &label);
    }
    free((void *)edges);
    free(groups);
    return left;
}

/* From who reads to who must wait for that, and does not: a line for each reader of what one op overwrites. */
static size_t add_missing(ReportSummary *summary, const ReportSummaryPicture *picture, size_t *room) {
    const Report *report = summary->report;
    size_t left = 0;
    for (size_t i = 0; i < report->coverage_count; i++)
        for (size_t k = 0, next; k < report->coverage[i].row_count; k = next) {
            const ReportRow *row = &report->coverage[i].rows[k];
            ReportSummaryLabel label = {0};
            next = k + 1;
            if (row->order != COVERAGE_MISSING)
                continue;
            label_add(&label, missing_words, row->name);
            for (; next < report->coverage[i].row_count && row[next - k].order == COVERAGE_MISSING &&
                   strcmp(row[next - k].consumer, row->consumer) == 0;
                 next++)
                label_add(&label, "", row[next - k].name);
            if (*room)
                add_arrow(summary, picture, row->consumer, report->coverage[i].writer.partition, 'x', TONE_BAD, &label);
            else
                text_free(&label.names);
            left += !*room;
            *room -= *room > 0;
        }
    return left;
}

static void add_graph(ReportSummary *summary) {
    const Report *report = summary->report;
    ReportSummaryPicture picture = {0};
    size_t tokens = 0, room = MOST_EDGES;
    for (size_t i = 0; i < report->edge_count; i++)
        tokens += report_is_token(&report->edges[i]);
    if (!report->edge_count || tokens == report->edge_count)
        return;
    if (report->partition_count < 2 || report->partition_count > MOST_LIFELINES ||
        (!lay_out(summary, &picture, false) && !lay_out(summary, &picture, true)))
        picture.count = 0;
    text_addf(&summary->text, "%s data is ready, %s memory may be used again%s", picture.count ? "--->" : "-->",
              picture.count ? "...>" : "..>", report_missing(report) ? ", xxx> order is missing" : "");
    add_title(summary, "Edges");
    if (picture.count)
        add_names(summary, &picture);
    size_t left = add_edges(summary, &picture, false, &room);
    left += add_edges(summary, &picture, true, &room);
    left += add_missing(summary, &picture, &room);
    add_rest(summary, left, SECTION_DEPENDENCIES);
}

/* ---- What is wrong ----------------------------------------------------------------------------- */

/* Errors and warnings first, notes only by their number. */
static void add_findings(ReportSummary *summary) {
    const Verdict *verdict = summary->report->verdict;
    size_t reported = 0, notes = 0, left = 0;
    for (size_t i = 0; i < verdict->finding_count; i++) {
        const Finding *finding = &verdict->findings[i];
        bool note = finding_severity(finding) == SEVERITY_NOTE;
        notes += note;
        if (note || finding->suppressed)
            continue;
        if (reported++ >= MOST_HAZARDS) {
            left++;
            continue;
        }
        Tone tone;
        const char *word = report_severity(finding, &tone);
        report_finding(summary->report, finding, &summary->text);
        add_entry(summary, word, tone);
        const char *const *files = summary->report->witness_files;
        if (files && files[i]) {
            text_addf(&summary->text, "%s", files[i]);
            add_entry(summary, "witness", TONE_PLAIN);
        }
    }
    if (left)
        text_addf(summary->to, "  and %zu more: --full\n", left);
    if (notes) {
        text_count(&summary->text, notes, "note");
        text_addf(&summary->text, ": --full");
        add_entry(summary, "notes", TONE_PLAIN);
    }
}

static void add_incomplete(ReportSummary *summary) {
    const Verdict *verdict = summary->report->verdict;
    for (size_t i = 0; i < verdict->incomplete_count && i < MOST_ISSUES; i++) {
        text_addf(&summary->text, "%s", verdict->incomplete[i].reason);
        report_incomplete_place(summary->report, &verdict->incomplete[i], &summary->text);
        add_entry(summary, "incomplete", TONE_WARNING);
    }
    if (verdict->incomplete_count > MOST_ISSUES)
        text_addf(summary->to, "  and %zu more: --full\n", verdict->incomplete_count - MOST_ISSUES);
}

/* A remark and the barriers that it is about; how many of them are told. */
static void add_remark(ReportSummary *summary, size_t barrier, const char *remark) {
    enum { MOST_NAMES = 4 };
    const Report *report = summary->report;
    size_t named = 0;
    text_addf(&summary->text, "%s: ", remark);
    for (size_t i = barrier; i < report->barrier_count; i++)
        for (size_t k = 0; k < report->barriers[i].issue_count; k++)
            if (strcmp(report->barriers[i].issues[k], remark) == 0 && named++ < MOST_NAMES)
                text_addf(&summary->text, "%s%s", named > 1 ? ", " : "", report->barriers[i].name);
    if (named > MOST_NAMES)
        text_addf(&summary->text, " and %zu more", named - MOST_NAMES);
    add_entry(summary, "remark", TONE_WARNING);
}

/* Remarks on barriers that are no findings, each once. */
static void add_issues(ReportSummary *summary) {
    const Report *report = summary->report;
    const char *reported[MOST_ISSUES];
    size_t count = 0, left = 0;
    for (size_t i = 0; i < report->barrier_count; i++)
        for (size_t k = 0; k < report->barriers[i].issue_count; k++) {
            const char *remark = report->barriers[i].issues[k];
            size_t known = 0;
            while (known < count && strcmp(reported[known], remark) != 0)
                known++;
            if (known < count)
                continue;
            left += count == MOST_ISSUES;
            if (count == MOST_ISSUES)
                continue;
            reported[count++] = remark;
            add_remark(summary, i, remark);
        }
    add_rest(summary, left, SECTION_PHASES);
}

static void add_hazards(ReportSummary *summary) {
    const Report *report = summary->report;
    bool none = strcmp(report->deadlock_verdict, "none") == 0, found = strcmp(report->deadlock_verdict, "found") == 0;
    add_title(summary, "Hazards");
    add_findings(summary);
    add_incomplete(summary);
    text_addf(&summary->text, "%s", none ? "none" : found ? "found: --section deadlocks" : "not known");
    const char *reason = report->deadlock_reason, *end = strstr(reason, ". "); /* its first sentence */
    if (!found && *reason)
        text_addf(&summary->text, ": %.*s", (int)(end ? end - reason + 1 : (ptrdiff_t)strlen(reason)), reason);
    add_entry(summary, "deadlocks", none ? TONE_PLAIN : found ? TONE_BAD : TONE_WARNING);
    add_issues(summary);
}

/* ---- What is overwritten ----------------------------------------------------------------------- */

static const char *const marks[] = {"\xe2\x9c\x93", "\xe2\x9c\x97", "?", "-"}; /* ORDER ReportOrder */

/* Whether a row says what an earlier one of its memory has said. */
static bool is_repeated(const Report *report, size_t first, size_t at, const ReportRow *row) {
    for (size_t i = first; i <= at; i++)
        for (size_t k = 0; k < report->coverage[i].row_count; k++) {
            const ReportRow *other = &report->coverage[i].rows[k];
            if (other == row)
                return false;
            if (other->order == row->order && strcmp(other->name, row->name) == 0 &&
                strcmp(report->coverage[i].storage, report->coverage[at].storage) == 0)
                return true;
        }
    return false;
}

static size_t first_of_storage(const Report *report, size_t at) {
    size_t first = 0;
    while (strcmp(report->coverage[first].storage, report->coverage[at].storage) != 0)
        first++;
    return first;
}

/* "scores: ✓ p ✓ qk ✗ m" */
static void add_storage(ReportSummary *summary, size_t first) {
    const Report *report = summary->report;
    Tone tone = TONE_PLAIN;
    for (size_t i = first; i < report->coverage_count; i++) {
        const ReportCoverage *coverage = &report->coverage[i];
        if (strcmp(coverage->storage, report->coverage[first].storage) != 0)
            continue;
        for (size_t k = 0; k < coverage->row_count; k++) {
            const ReportRow *row = &coverage->rows[k];
            if (row->order == COVERAGE_MISSING)
                tone = TONE_BAD;
            if (!is_repeated(report, first, i, row))
                report_add_part(&summary->text, 0, "  ", "%s %s", marks[row->order], row->name);
        }
    }
    Text line = summary->text;
    summary->text = (Text){0};
    text_addf(summary->to, "  ");
    text_toned(summary->to, summary->style, tone, str_of(report->coverage[first].storage));
    text_addf(summary->to, ": ");
    text_wrapped(summary->to, summary->style, tone, (Str){line.size ? line.data : "", line.size},
                 text_width(str_of(report->coverage[first].storage)) + 4, "      ");
    text_free(&line);
}

/* "ordered" and so on, as far as there are any. */
static void add_counts(ReportSummary *summary) {
    static const char *const words[] = {"ordered", "MISSING", "to be ordered", "not seen"}; /* ORDER ReportOrder */
    const Report *report = summary->report;
    size_t counts[LENGTH(words)] = {0};
    for (size_t i = 0; i < report->coverage_count; i++)
        for (size_t k = 0; k < report->coverage[i].row_count; k++)
            counts[report->coverage[i].rows[k].order]++;
    for (size_t i = 0; i < LENGTH(words); i++)
        if (counts[i])
            report_add_part(&summary->text, 0, ", ", "%s %zu %s", marks[i], counts[i], words[i]);
    if (!summary->text.size)
        text_addf(&summary->text, "%s",
                  *report->coverage_note ? report->coverage_note : "nothing is overwritten after it is read");
}

static void add_coverage(ReportSummary *summary) {
    enum { MOST_COMPARED = 4000 }; /* tables of memory, which are compared with each other */
    const Report *report = summary->report;
    size_t reported = 0, left = 0;
    add_counts(summary);
    add_title(summary, "Overwrites after a read");
    for (size_t i = 0; i < report->coverage_count && i < MOST_COMPARED; i++) {
        if (first_of_storage(report, i) != i)
            continue;
        left += reported == MOST_STORAGES;
        if (reported == MOST_STORAGES)
            continue;
        add_storage(summary, i);
        reported++;
    }
    add_rest(summary, left, SECTION_COVERAGE);
}

/* ---- What was run, and what it takes ------------------------------------------------------------ */

static void add_basis(ReportSummary *summary) {
    const Report *report = summary->report;
    text_char(summary->to, '\n');
    coverage_print(&report->verdict->coverage, &summary->text);
    if (!report_ran(report)) {
        summary->text.size = 0;
        text_addf(&summary->text, "nothing");
    }
    if (summary->text.size)
        add_entry(summary, "ran", report_ran(report) ? TONE_HEAD : TONE_WARNING);
    for (size_t i = 0; i < report->limit_count; i++) {
        const ReportLimit *limit = &report->limits[i];
        if (limit->used < 0)
            continue;
        report_add_part(&summary->text, 0, ", ", "%s %" PRId64, limit->name, limit->used);
        if (limit->most >= 0)
            text_addf(&summary->text, " of %" PRId64, limit->most);
        if (*limit->unit)
            text_addf(&summary->text, " %s", limit->unit);
    }
    if (summary->text.size)
        add_entry(summary, "takes", TONE_HEAD);
}

void report_summary(const Report *report, Style style, Text *to) {
    size_t count;
    const ReportSection *sections = report_section_list(&count);
    style.width = style.width ? style.width : WIDE;
    ReportSummary summary = {.report = report, .style = style, .to = to};
    if (report->verdict->program) /* the findings say it all */
        return;
    add_partitions(&summary);
    add_graph(&summary);
    add_hazards(&summary);
    add_coverage(&summary);
    add_basis(&summary);
    for (size_t i = 0; i < count; i++)
        report_add_part(&summary.text, 0, i + 1 < count ? ", " : " or ", "%s", sections[i].id);
    text_addf(&summary.text, "; --full prints all of it, --format html a page with the run");
    add_entry(&summary, "--section", TONE_HEAD);
    to->failed |= summary.text.failed;
    text_free(&summary.text);
}
