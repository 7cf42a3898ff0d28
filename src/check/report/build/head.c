/* Which finding explains the others, and what is said of it first. */
#include "check/report/build/head.h"

#include "check/explain/source_lines.h"

#include <inttypes.h>

/* ---- Names ---------------------------------------------------------------------------------------- */

/* What the report calls a value of the IR that a text has at `at`: its size there, and the name. */
typedef struct HeadNamed {
    size_t size;
    Str name;
} HeadNamed;

static bool is_part_of_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
           c == '#';
}

/* Takes the longest value that stands there. */
static void take(HeadNamed *best, const char *at, const char *value, Str name) {
    size_t size = strlen(value);
    if (size > best->size && strncmp(at, value, size) == 0 && !is_part_of_name(at[size]))
        *best = (HeadNamed){size, name};
}

/* The two sides of a token or an aref are barriers of one value, whose name the text goes on from. */
static Str name_of_value(const ReportBarrier *barrier) {
    Str name = str_of(barrier->name);
    const char *dot = strrchr(barrier->name, '.');
    bool sided = strcmp(barrier->kind, "token") == 0 || strcmp(barrier->kind, "aref") == 0;
    return sided && dot ? str_between(barrier->name, dot) : name;
}

static HeadNamed named_at(const Report *report, const char *at) {
    HeadNamed best = {0};
    for (size_t i = 0; i < report->barrier_count; i++)
        take(&best, at, report->barriers[i].value, name_of_value(&report->barriers[i]));
    for (size_t i = 0; i < report->buffer_count; i++)
        take(&best, at, report->buffers[i].value, str_of(report->buffers[i].name));
    return best;
}

/* A text of a finding with the report's names in place of values. */
static const char *with_names(const void *context, Verdict *verdict, const char *text) {
    const Report *report = context;
    if (!text || !strchr(text, '%'))
        return text ? text : "";
    Text to = {0};
    for (const char *at = text; *at;) {
        const char *next = strchrnul(at, '%');
        text_str(&to, str_between(at, next));
        HeadNamed named = *next ? named_at(report, next) : (HeadNamed){0};
        if (named.size)
            text_str(&to, named.name);
        else if (*next)
            text_char(&to, '%');
        at = *next ? next + (named.size ? named.size : 1) : next;
    }
    return verdict_keep(verdict, &to);
}

/* ---- Which finding -------------------------------------------------------------------------------- */

static bool is_of(const Finding *finding, const char *family) {
    size_t size = strlen(family);
    const char *id = rule_of(finding->rule)->id;
    return strncmp(id, family, size) == 0 && id[size] == '.';
}

static bool counts(const Finding *finding) {
    return finding->suppressed == SUPPRESSED_NOT && finding_severity(finding) != SEVERITY_NOTE;
}

/* Whether it takes a schedule of its own. */
static bool is_rare(const Finding *finding) {
    return strncmp(finding->schedule, "if ", 3) == 0;
}

/* Of what fails in every run, the rest is often only what follows; what was only read off the IR comes after what was
 * seen. Of one rank, the order of the verdict is that in which it was found. */
static int rank(const Finding *finding) {
    bool misused = is_of(finding, "barrier"), hangs = is_of(finding, "deadlock");
    bool races = is_of(finding, "race") || is_of(finding, "coverage");
    if (finding_severity(finding) != SEVERITY_ERROR)
        return 4;
    if (finding->rule == RULE_BARRIER_OVERRUN)
        return 2;
    return misused || (hangs && !is_rare(finding)) ? 0 : hangs || races ? 1 : 3;
}

/* Of memory with two names, the table of its readers says more than the first two accesses that race there. */
static const Finding *named_lead(const Verdict *verdict, const Finding *lead) {
    for (size_t i = 0; lead && is_of(lead, "race") && i < verdict->finding_count; i++) {
        const Finding *finding = &verdict->findings[i];
        if (counts(finding) && is_of(finding, "coverage") && finding->place_count && lead->place_count &&
            finding->places[0].ir_line == lead->places[0].ir_line)
            return finding;
    }
    return lead;
}

static const Finding *lead_of(const Verdict *verdict) {
    const Finding *lead = NULL;
    for (size_t i = 0; i < verdict->finding_count; i++) {
        const Finding *finding = &verdict->findings[i];
        if (counts(finding) && (!lead || rank(finding) < rank(lead)))
            lead = finding;
    }
    return named_lead(verdict, lead);
}

/* ---- What is said of it --------------------------------------------------------------------------- */

/* "hangs", "can hang and races" */
static const char *outcome(Verdict *verdict) {
    bool hangs = false, can_hang = false, races = false, misuses = false, unfenced = false;
    for (size_t i = 0; i < verdict->finding_count; i++) {
        const Finding *finding = &verdict->findings[i];
        if (!counts(finding))
            continue;
        hangs |= is_of(finding, "deadlock") && !is_rare(finding);
        can_hang |= is_of(finding, "deadlock") && is_rare(finding);
        races |= is_of(finding, "race") || is_of(finding, "coverage");
        misuses |= is_of(finding, "barrier");
        unfenced |= is_of(finding, "fence");
    }
    const char *const words[] = {hangs      ? "hangs"
                                 : can_hang ? "can hang"
                                            : "",
                                 races ? "races" : "", misuses ? "misuses a barrier" : "",
                                 unfenced ? "lacks a fence" : ""};
    Text text = {0};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (*words[i])
            text_addf(&text, "%s%s", text.size ? " and " : "", words[i]);
    if (!text.size)
        text_addf(&text, "is wrong");
    return verdict_keep(verdict, &text);
}

/* "kernel.py:20 (IR line 50), ttng.wait_barrier of partition0" */
static void add_place(Text *to, const FindingPlace *place, const char *text) {
    const char *slash = strrchr(place->file, '/');
    bool source = *place->file && place->line;
    size_t start = to->size;
    if (source)
        text_addf(to, "%s:%" PRIu32, slash ? slash + 1 : place->file, place->line);
    if (place->ir_line)
        text_addf(to, source ? " (%s line %" PRIu32 ")" : "%s line %" PRIu32, text, place->ir_line);
    if (*place->op)
        text_addf(to, "%s%s", to->size > start ? ", " : "", place->op);
    if (*place->agent)
        text_addf(to, " of %s", place->agent);
}

/* Where it is told, and, of two accesses, where the other one is. */
static const char *where(const Report *report, Verdict *verdict, const Finding *finding) {
    Text text = {0};
    const char *of = report->ptx ? "PTX" : "IR";
    if (finding->place_count)
        add_place(&text, &finding->places[0], of);
    if (finding->place_count > 1 && !is_of(finding, "deadlock") && !is_of(finding, "barrier")) {
        text_addf(&text, "; ");
        add_place(&text, &finding->places[1], of);
    }
    return verdict_keep(verdict, &text);
}

static ReportHead head_of_finding(const Report *report, Verdict *verdict, const Finding *finding) {
    return (ReportHead){.verdict = outcome(verdict),
                        .rule = rule_of(finding->rule)->id,
                        .what = with_names(report, verdict, finding->message),
                        .where = where(report, verdict, finding),
                        .why = with_names(report, verdict, finding->why),
                        .fix = with_names(report, verdict, finding->fix),
                        .finding = finding};
}

/* ---- Where nothing is wrong ----------------------------------------------------------------------- */

/* "10 launches, 12 CTAs, 34 schedules, 5,678 events" */
static const char *what_ran(Verdict *verdict) {
    static const char *const nouns[] = {"launch", "CTA", "schedule", "event"};
    uint64_t numbers[] = {verdict->launch_count, 0, 0, 0};
    Text text = {0};
    for (size_t i = 0; i < verdict->launch_count; i++) {
        numbers[1] += verdict->launches[i].ctas;
        numbers[2] += verdict->launches[i].schedules;
        numbers[3] += verdict->launches[i].events;
    }
    if (!numbers[0])
        return "nothing was run";
    for (size_t i = 0; i < sizeof nouns / sizeof *nouns; i++) {
        text_addf(&text, "%s", i ? ", " : "");
        text_number_of(&text, numbers[i], nouns[i]);
    }
    return verdict_keep(verdict, &text);
}

/* How many of the rows that say whether readers are done are ordered. */
static const char *rows_text(const Report *report, Verdict *verdict) {
    size_t ordered = 0, rows = 0;
    for (size_t i = 0; i < report->coverage_count; i++)
        for (size_t k = 0; k < report->coverage[i].row_count; k++) {
            rows++;
            ordered += report->coverage[i].rows[k].order == COVERAGE_ORDERED;
        }
    return rows ? verdict_text(verdict, " %zu of %zu overwrites wait for their readers.", ordered, rows) : "";
}

/* What a recording shows: what was run, it does not say. */
static const char *seen_text(const Report *report, Verdict *verdict) {
    static const char *const nouns[] = {"partition", "barrier", "buffer"};
    const uint64_t numbers[] = {report->partition_count, report->barrier_count, report->buffer_count};
    Text text = {0};
    for (size_t i = 0; i < sizeof nouns / sizeof *nouns; i++) {
        text_addf(&text, "%s", i ? ", " : "");
        text_number_of(&text, numbers[i], nouns[i]);
    }
    return verdict_keep(verdict, &text);
}

static ReportHead head_of_clean(const Report *report, Verdict *verdict) {
    Text ran = {0}, outcome = {0};
    coverage_print(&verdict->coverage, &ran);
    verdict_print(verdict, &outcome);
    const char *over = verdict_keep(verdict, &ran);
    bool complete = verdict->kind == VERDICT_CLEAN;
    const Incomplete *first = verdict->incomplete_count ? &verdict->incomplete[0] : NULL;
    return (ReportHead){
        .verdict = verdict_keep(verdict, &outcome),
        .rule = "",
        .what = what_ran(verdict),
        .where = *over         ? over
                 : report->ptx ? seen_text(report, verdict)
                               : "no op that synchronizes or touches shared memory",
        .why = complete || !first ? verdict_text(verdict, "%s%s",
                                                 verdict->launch_count ? "Every wait passed and every agent finished."
                                                                       : report->deadlock_reason,
                                                 rows_text(report, verdict))
               : first->ir_line   ? verdict_text(verdict, "not checked: %s (%s line %" PRIu32 ")", first->reason,
                                               report->ptx ? "PTX" : "IR", first->ir_line)
                                  : verdict_text(verdict, "not checked: %s", first->reason),
        .fix = complete ? "Nothing to change."
                        : "Nothing wrong was found in the rest; the lines `incomplete` say what to give or to change."};
}

/* ---- All of it ------------------------------------------------------------------------------------ */

/* Deadlocks are findings, in the same order; their texts name the kernel's source by now. */
static void report_deadlocks(Report *report, Verdict *verdict) {
    ReportDeadlock *deadlocks = ARENA_ARRAY(verdict->arena, ReportDeadlock, report->deadlock_count + 1);
    size_t count = 0;
    for (size_t i = 0; i < verdict->finding_count && count < report->deadlock_count; i++) {
        const Finding *finding = &verdict->findings[i];
        if (!is_of(finding, "deadlock"))
            continue;
        ReportDeadlock *deadlock = &deadlocks[count];
        *deadlock = report->deadlocks[count++];
        deadlock->message = with_names(report, verdict, finding->message);
        deadlock->why = with_names(report, verdict, finding->why);
        deadlock->fix = with_names(report, verdict, finding->fix);
        deadlock->schedule = finding->schedule;
        deadlock->blocked = blocked_retold(verdict, finding, with_names, report);
    }
    if (!count)
        return;
    report->deadlocks = deadlocks;
    report->deadlock_reason = deadlocks[0].message;
}

static void report_findings(Report *report, Verdict *verdict) {
    const char **messages = ARENA_ARRAY(verdict->arena, const char *, verdict->finding_count + 1);
    for (size_t i = 0; i < verdict->finding_count; i++)
        messages[i] = with_names(report, verdict, verdict->findings[i].message);
    report->messages = messages;
}

void report_lead(Report *report, Verdict *verdict) {
    const Finding *lead = lead_of(verdict);
    report_findings(report, verdict);
    report_deadlocks(report, verdict);
    report->head = lead ? head_of_finding(report, verdict, lead) : head_of_clean(report, verdict);
}
