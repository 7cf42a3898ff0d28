/* Findings by the lines of the IR that they are on, so that ten thousand barriers find theirs quickly. */
#include "render/report/report_about.h"

#include "base/bisect.h"
#include "base/order.h"
#include "base/text.h"

#include <stdlib.h>

/* ---- Names ------------------------------------------------------------------------------------- */

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '#';
}

/* A name that is no English word stands for itself; others are names where they are written like one: "%a", "a[0]". */
static bool is_named_at(const char *text, const char *at, size_t size) {
    char before = at > text ? at[-1] : ' ', after = at[size];
    bool whole = !is_word(before) && !is_word(after);
    bool reported = after == '[' || after == '(' || (after == ' ' && at[size + 1] == '('); /* "m (column 65)" */
    return whole && (*at == '%' || before == '%' || reported || memchr(at, '_', size));
}

static bool names(const char *text, const char *name) {
    size_t size = strlen(name);
    for (const char *at = text; text && size && (at = strstr(at, name)); at++)
        if (is_named_at(text, at, size))
            return true;
    return false;
}

static bool finding_names(const Finding *finding, const char *name, const char *value) {
    const char *const texts[] = {finding->message, finding->why};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (names(texts[i], name) || names(texts[i], value))
            return true;
    for (size_t i = 0; i < finding->place_count; i++)
        if (names(finding->places[i].note, name) || names(finding->places[i].note, value))
            return true;
    return false;
}

/* ---- Lines ------------------------------------------------------------------------------------- */

/* What findings may be about: a name, and the lines of its ops. */
typedef struct Subject {
    const char *name, *value;
    const char *space; /* "shared", "tensor"; "barrier" */
    const ReportSite *sites[2];
    size_t site_count[2];
    const ReportPlace *places[2];
    size_t place_count[2];
    uint32_t made; /* its allocation; 0 if it has none */
} Subject;

static uint32_t allocated(const ReportAlias *aliases, size_t count) {
    return count && !aliases[0].level ? aliases[0].ir_line : 0;
}

static Subject barrier_subject(const ReportBarrier *barrier) {
    return (Subject){.name = barrier->name,
                     .value = barrier->value,
                     .space = "barrier",
                     .sites = {barrier->arrives, barrier->waits},
                     .site_count = {barrier->arrive_count, barrier->wait_count},
                     .places = {barrier->others},
                     .place_count = {barrier->other_count},
                     .made = allocated(barrier->aliases, barrier->alias_count)};
}

static Subject buffer_subject(const ReportBuffer *buffer) {
    return (Subject){.name = buffer->name,
                     .value = buffer->value,
                     .space = buffer->space,
                     .places = {buffer->writers, buffer->readers},
                     .place_count = {buffer->writer_count, buffer->reader_count},
                     .made = allocated(buffer->aliases, buffer->alias_count)};
}

ORDER(compare_lines, AboutLine, BY(line) BY(finding))

/* What a walk over the findings of a subject does with each; one may come several times. */
typedef void ReportAboutVisit(void *context, const About *about, const Subject *subject, uint32_t finding);

static void visit_line(const About *about, uint32_t line, const Subject *subject, ReportAboutVisit *visit,
                       void *context) {
    size_t low;
    BISECT(low, 0, about->line_count, about->lines[low].line < line);
    for (; line && low < about->line_count && about->lines[low].line == line; low++)
        visit(context, about, subject, about->lines[low].finding);
}

static void visit_subject(const About *about, const Subject *subject, ReportAboutVisit *visit, void *context) {
    if (!about->line_count)
        return;
    visit_line(about, subject->made, subject, visit, context);
    for (size_t i = 0; i < 2; i++) {
        for (size_t k = 0; k < subject->site_count[i]; k++)
            visit_line(about, subject->sites[i][k].place.ir_line, subject, visit, context);
        for (size_t k = 0; k < subject->place_count[i]; k++)
            visit_line(about, subject->places[i][k].ir_line, subject, visit, context);
    }
}

static void note_names(void *context, const About *about, const Subject *subject, uint32_t finding) {
    bool *named = context;
    if (!named[finding])
        named[finding] = finding_names(&about->report->verdict->findings[finding], subject->name, subject->value);
}

bool about_init(About *about, const Report *report) {
    const Verdict *verdict = report->verdict;
    size_t places = 0;
    for (size_t i = 0; i < verdict->finding_count; i++)
        places += verdict->findings[i].place_count;
    *about = (About){.report = report,
                     .lines = calloc(places + 1, sizeof *about->lines),
                     .names = calloc(verdict->finding_count + 1, sizeof *about->names),
                     .reported = calloc(verdict->finding_count + 1, sizeof *about->reported)};
    if (!about->lines || !about->names || !about->reported)
        return false;
    for (size_t i = 0; i < verdict->finding_count; i++) {
        const Finding *finding = &verdict->findings[i];
        for (size_t k = 0; k < finding->place_count && !finding->suppressed; k++)
            if (finding->places[k].ir_line && !finding->places[k].ir_file)
                about->lines[about->line_count++] = (AboutLine){finding->places[k].ir_line, (uint32_t)i};
    }
    qsort(about->lines, about->line_count, sizeof *about->lines, compare_lines);
    for (size_t i = 0; i < report->barrier_count; i++) {
        Subject subject = barrier_subject(&report->barriers[i]);
        visit_subject(about, &subject, note_names, about->names);
    }
    for (size_t i = 0; i < report->buffer_count; i++) {
        Subject subject = buffer_subject(&report->buffers[i]);
        visit_subject(about, &subject, note_names, about->names);
    }
    return true;
}

void about_free(About *about) {
    free(about->lines);
    free(about->names);
    free(about->reported);
}

bool about_report(About *about, const Finding *finding) {
    size_t index = (size_t)(finding - about->report->verdict->findings);
    bool before = about->reported && about->reported[index];
    if (about->reported)
        about->reported[index] = true;
    return before;
}

/* ---- What is asked ----------------------------------------------------------------------------- */

typedef struct ReportAboutFound {
    const Finding **items;
    size_t count, most;
} ReportAboutFound;

/* Rules about mbarriers are about the barrier, though that lies in shared memory. */
static bool is_of(const Finding *finding, const Subject *subject) {
    static const char *const families[] = {"barrier.", "mbarrier.", "deadlock."};
    const char *space = finding->space;
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (str_starts(str_of(rule_of(finding->rule)->id), str_of(families[i])))
            space = "barrier";
    return space && strcmp(space, subject->space) == 0;
}

/* Once each, in the order of the report. */
static void keep(void *context, const About *about, const Subject *subject, uint32_t index) {
    ReportAboutFound *found = context;
    const Finding *finding = &about->report->verdict->findings[index];
    bool named = finding_names(finding, subject->name, subject->value);
    if (!named && (about->names[index] || !is_of(finding, subject)))
        return;
    size_t at = found->count;
    while (at && found->items[at - 1] >= finding)
        at--;
    if ((at < found->count && found->items[at] == finding) || found->count == found->most)
        return;
    memmove(&found->items[at + 1], &found->items[at], (found->count - at) * sizeof *found->items);
    found->items[at] = finding;
    found->count++;
}

size_t about_barrier(const About *about, const ReportBarrier *barrier, const Finding **found, size_t most) {
    ReportAboutFound all = {.items = found, .most = most};
    Subject subject = barrier_subject(barrier);
    visit_subject(about, &subject, keep, &all);
    return all.count;
}

size_t about_buffer(const About *about, const ReportBuffer *buffer, const Finding **found, size_t most) {
    ReportAboutFound all = {.items = found, .most = most};
    Subject subject = buffer_subject(buffer);
    visit_subject(about, &subject, keep, &all);
    return all.count;
}

size_t about_edge(const About *about, const ReportEdge *edge, const Finding **found, size_t most) {
    ReportAboutFound all = {.items = found, .most = most};
    Subject subject = {.name = edge->barrier,
                       .value = "",
                       .space = "barrier",
                       .places = {&edge->out, &edge->in},
                       .place_count = {1, 1}};
    visit_subject(about, &subject, keep, &all);
    return all.count;
}
