/* How the barrier report says where something is, and what an edge is. */
#include "render/report/report_sections.h"

#include <inttypes.h>

void report_part_by(Text *to, size_t start, const char *between) {
    if (to->size > start)
        text_addf(to, "%s", between);
}

void report_add_part(Text *to, size_t start, const char *between, const char *format, ...) {
    va_list arguments;
    report_part_by(to, start, between);
    va_start(arguments, format);
    text_vaddf(to, format, arguments);
    va_end(arguments);
}

const char *report_text_name(const Report *report) {
    return report->ptx ? "PTX" : "IR";
}

void report_incomplete_place(const Report *report, const Incomplete *incomplete, Text *to) {
    if (!incomplete->ir_line)
        return;
    text_addf(to, " (");
    if (incomplete->file)
        text_plainf(to, "%s:%u, ", incomplete->file, incomplete->line);
    text_addf(to, "%s line %" PRIu32 ")", report_text_name(report), incomplete->ir_line);
}

void report_outcome(const Report *report, Text *to) {
    const Verdict *verdict = report->verdict;
    if (*report->nothing) {
        text_addf(to, "%s", report->nothing);
        for (size_t i = 0; i < verdict->incomplete_count; i++)
            text_addf(to,
                      verdict->incomplete[i].ir_line ? " Not checked: %s (%s, %s line %" PRIu32 ")."
                                                     : " Not checked: %s%s.",
                      verdict->incomplete[i].reason, verdict->incomplete[i].op, report_text_name(report),
                      verdict->incomplete[i].ir_line);
        return;
    }
    if (*report->head.rule)
        text_addf(to, "%s; ", report->head.verdict);
    if (verdict->kind == VERDICT_FINDINGS)
        text_count(to, verdict_faults(verdict, NULL), "finding");
    else
        verdict_print(verdict, to);
    if (*report->form)
        text_addf(to, "; %s", report->form);
    text_addf(to, "; %s", *report->launch ? report->launch : "not run");
}

void report_plain_sentence(const char *sentence, Text *to) {
    while (*sentence) {
        const char *open = strchrnul(sentence, '['), *close = strchrnul(open, ']');
        text_str(to, str_between(sentence, open));
        if (*open)
            text_add(to, open + 1, strcspn(open + 1, "|]"));
        sentence = *close ? close + 1 : close;
    }
}

/* ---- Places ------------------------------------------------------------------------------------ */

static bool has_source(const ReportPlace *place) {
    return *place->file && place->line;
}

/* The source stands in between what is `before` and `after` it if there is a line of the IR. */
static void add_lines(const ReportPlace *place, const char *before, const char *after, Text *to) {
    if (place->ir_line)
        text_addf(to, "%s line %" PRIu32, place->ptx ? "PTX" : "IR", place->ir_line);
    if (!has_source(place))
        return;
    const char *slash = strrchr(place->file, '/');
    text_addf(to, "%s%s:%" PRIu32 "%s", place->ir_line ? before : "", slash ? slash + 1 : place->file, place->line,
              place->ir_line ? after : "");
}

void report_place(const ReportPlace *place, Text *to) {
    add_lines(place, " (", ")", to);
}

/* What is done there, after a text that starts at `start`. */
static void add_op(const ReportPlace *place, size_t start, Text *to) {
    if (*place->op)
        report_add_part(to, start, ": ", "%s", place->op);
    if (*place->detail)
        report_add_part(to, start, *place->op ? ", " : ": ", "%s", place->detail);
}

static void add_times(const ReportPlace *place, size_t start, Text *to) {
    if (!place->times)
        return;
    report_part_by(to, start, ", ");
    text_count(to, place->times, "time");
}

void report_full_place(const ReportPlace *place, Text *to) {
    size_t start = to->size;
    text_addf(to, "%s", place->partition);
    if (place->ir_line || has_source(place)) {
        report_part_by(to, start, ", ");
        report_place(place, to);
    }
    add_times(place, start, to);
    add_op(place, start, to);
}

void report_cell_place(const ReportPlace *place, bool roomy, Text *to) {
    size_t start = to->size;
    add_lines(place, ", ", "", to);
    if (!roomy)
        return;
    add_times(place, start, to);
    add_op(place, start, to);
}

const char *report_severity(const Finding *finding, Tone *tone) {
    static const struct {
        const char *word;
        Tone tone;
    } severities[] = {{"error", TONE_BAD}, {"warning", TONE_WARNING}, {"note", TONE_HEAD}}; /* ORDER Severity */
    Severity severity = finding_severity(finding);
    *tone = severities[severity].tone;
    return severities[severity].word;
}

const char *report_message(const Report *report, const Finding *finding) {
    return report->messages ? report->messages[finding - report->verdict->findings] : finding->message;
}

void report_finding(const Report *report, const Finding *finding, Text *to) {
    text_addf(to, "%s", report_message(report, finding));
    if (finding->place_count && finding->places[0].ir_line)
        text_addf(to, " (%s line %" PRIu32 ")", report_text_name(report), finding->places[0].ir_line);
    text_addf(to, " [%s]", rule_of(finding->rule)->id);
}

void report_mention(About *about, const Finding *finding, Text *to) {
    if (!about_report(about, finding)) {
        report_finding(about->report, finding, to);
        return;
    }
    text_addf(to, "%s", rule_of(finding->rule)->id);
    if (finding->place_count && finding->places[0].ir_line)
        text_addf(to, " at %s line %" PRIu32, report_text_name(about->report), finding->places[0].ir_line);
    text_addf(to, ", see above");
}

bool report_belongs(const char *agent, const char *partition) {
    size_t size = strlen(partition);
    const char *dot = strncmp(agent, "cta", 3) == 0 ? strchr(agent, '.') : NULL;
    const char *name = dot ? dot + 1 : agent;
    return strncmp(name, partition, size) == 0 && (name[size] == 0 || name[size] == '.');
}

size_t report_partition(const Report *report, const char *name) {
    size_t size = strlen(name), dot = strcspn(name, ".");
    for (size_t cut = size;; cut = dot) {
        for (size_t i = 0; i < report->partition_count; i++)
            if (str_equal(str_of(report->partitions[i].name), (Str){name, cut}))
                return i;
        if (cut == dot)
            return report->partition_count;
    }
}

const char *report_role(const Report *report, const char *name) {
    for (size_t i = 0; i < report->partition_count; i++)
        if (strcmp(report->partitions[i].name, name) == 0)
            return report->partitions[i].role;
    return "";
}

/* ---- Edges and orders -------------------------------------------------------------------------- */

bool report_is_token(const ReportEdge *edge) {
    return strcmp(edge->mechanism, report_mechanism(MECHANISM_TMEM_TOKEN)) == 0;
}

bool report_is_backward(const ReportEdge *edge) {
    return strcmp(edge->direction, "backward") == 0;
}

void report_edge_text(const ReportEdge *edge, Text *to) {
    size_t start = to->size;
    bool named = strncmp(edge->barrier, edge->mechanism, strlen(edge->mechanism)) == 0; /* "named barrier 9" */
    text_addf(to, "%s", named ? "" : edge->mechanism);
    if (report_is_token(edge) && report_is_backward(edge))
        text_addf(to, " (backward)");
    if (*edge->barrier)
        report_add_part(to, start, ": ", "%s", edge->barrier);
    if (*edge->carries)
        report_add_part(to, start, *edge->barrier ? ", " : ": ", "%s%s", *edge->barrier ? "carries " : "",
                        edge->carries);
}

void report_edge_places(const ReportEdge *edge, Text *to) {
    size_t start = to->size;
    report_place(&edge->out, to);
    size_t middle = to->size;
    report_part_by(to, start, " -> ");
    size_t rest = to->size;
    report_place(&edge->in, to);
    if (to->size == rest)
        to->size = middle;
}

bool report_ran(const Report *report) {
    return *report->launch && report->verdict->launch_count;
}

size_t report_missing(const Report *report) {
    size_t missing = 0;
    for (size_t i = 0; i < report->coverage_count; i++)
        for (size_t k = 0; k < report->coverage[i].row_count; k++)
            missing += report->coverage[i].rows[k].order == COVERAGE_MISSING;
    return missing;
}
