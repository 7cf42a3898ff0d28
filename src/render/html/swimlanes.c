/* What the page's script draws: each text once, and barriers by number, those of the report's own rows first. */
#include "render/html/swimlanes.h"

#include "base/json.h"

#include <stdio.h>

typedef struct SwimlaneLanes {
    Html *html;
    Json json;
    const Trace *trace;
    size_t events; /* that are written */
    Map texts;     /* each: 1 + its index */
    uint32_t text_count;
    Map barriers; /* by ring: 1 + the index */
    uint32_t barrier_count;
} SwimlaneLanes;

/* ---- Numbers for texts and barriers ------------------------------------------------------------ */

/* Where the number of a text is kept, 0 if it has none yet. */
static uintptr_t *number_of(SwimlaneLanes *lanes, Map *map, const char *text) {
    static uintptr_t lost;
    void **value = map_put(map, str_of(text));
    lanes->html->to->failed |= !value;
    return value ? (uintptr_t *)value : &lost;
}

/* An element of a list, on a line of its own. */
static void start_line(SwimlaneLanes *lanes) {
    if (lanes->json.more)
        json_line(&lanes->json, 0);
}

static void add_text(SwimlaneLanes *lanes, const char *text) {
    uintptr_t *number = number_of(lanes, &lanes->texts, text);
    if (*number)
        return;
    *number = ++lanes->text_count;
    start_line(lanes);
    json_text(&lanes->json, NULL, text);
}

static uint64_t text_at(SwimlaneLanes *lanes, const char *text) {
    return *number_of(lanes, &lanes->texts, text) - 1;
}

static void add_barrier(SwimlaneLanes *lanes, const char *name, bool has_row) {
    start_line(lanes);
    json_begin_list(&lanes->json, NULL);
    json_text(&lanes->json, NULL, name);
    json_number(&lanes->json, NULL, has_row);
    json_end_list(&lanes->json);
}

/* The number of a barrier. One that the report does not have is added to the list of barriers, which is being written
 * when it is first met. */
static uint64_t barrier_number(SwimlaneLanes *lanes, const char *ring) {
    uintptr_t *number = number_of(lanes, &lanes->barriers, ring);
    if (*number)
        return *number - 1;
    long of_report = html_ring(lanes->html, str_of(ring));
    *number = of_report >= 0 ? (uintptr_t)of_report + 1 : ++lanes->barrier_count;
    if (of_report < 0)
        add_barrier(lanes, ring, false);
    return *number - 1;
}

/* ---- The data ---------------------------------------------------------------------------------- */

static void add_tracks(SwimlaneLanes *lanes) {
    Json *json = &lanes->json;
    json_begin_list(json, "tracks");
    for (size_t i = 0; i < lanes->trace->track_count; i++) {
        const TraceTrack *track = &lanes->trace->tracks[i];
        start_line(lanes);
        json_begin_list(json, NULL);
        json_number(json, NULL, track->cta);
        json_text(json, NULL, track->cta_name);
        json_text(json, NULL, track->agent);
        json_end_list(json);
    }
    json_end_list(json);
}

static void add_barriers(SwimlaneLanes *lanes) {
    const Report *report = lanes->html->report;
    lanes->barrier_count = (uint32_t)report->barrier_count;
    json_line(&lanes->json, 0);
    json_begin_list(&lanes->json, "barriers");
    for (size_t i = 0; i < report->barrier_count; i++)
        add_barrier(lanes, report->barriers[i].name, true);
    for (size_t i = 0; i < lanes->events; i++)
        for (size_t k = 0; k < lanes->trace->events[i].barrier_count; k++)
            barrier_number(lanes, lanes->trace->events[i].barriers[k].ring);
    json_end_list(&lanes->json);
}

/* JSON's numbers are exact up to here. */
static uint64_t safe(uint64_t steps) {
    const uint64_t most = (UINT64_C(1) << 53) - 1;
    return steps < most / 2 ? steps : most / 2;
}

static void add_event(SwimlaneLanes *lanes, const TraceEvent *event) {
    Json *json = &lanes->json;
    const uint64_t numbers[] = {
        event->kind,
        event->track,
        safe(event->time),
        safe(event->duration),
        text_at(lanes, event->name),
        text_at(lanes, event->detail),
        event->ir_line,
        event->flow_from <= lanes->events ? event->flow_from : 0,
    };
    html_quote(lanes->html, event->ir_line);
    start_line(lanes);
    json_begin_list(json, NULL);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        json_number(json, NULL, numbers[i]);
    for (size_t i = 0; i < event->barrier_count; i++) {
        json_number(json, NULL, barrier_number(lanes, event->barriers[i].ring));
        json_signed(json, NULL, event->barriers[i].slot);
    }
    json_end_list(json);
}

static void add_events(SwimlaneLanes *lanes) {
    json_line(&lanes->json, 0);
    json_begin_list(&lanes->json, "texts");
    for (size_t i = 0; i < lanes->events; i++) {
        add_text(lanes, lanes->trace->events[i].name);
        add_text(lanes, lanes->trace->events[i].detail);
    }
    json_end_list(&lanes->json);
    json_line(&lanes->json, 0);
    json_begin_list(&lanes->json, "events");
    for (size_t i = 0; i < lanes->events; i++)
        add_event(lanes, &lanes->trace->events[i]);
    json_end_list(&lanes->json);
}

/* ---- Who waits forever ------------------------------------------------------------------------ */

/* Whether a place's agent, "partition0" or "cta1.partition0", is the track's, or, if they count, a helper of it. */
static bool is_agent(const TraceTrack *track, const char *agent, bool helpers) {
    char cta[16];
    size_t prefix = (size_t)snprintf(cta, sizeof cta, "cta%u.", track->cta), size = strlen(track->agent);
    agent += strncmp(agent, cta, prefix) == 0 ? prefix : 0;
    return strncmp(agent, track->agent, size) == 0 && (!agent[size] || (helpers && agent[size] == '.'));
}

/* The report's row about a slice that is blocked forever; NULL if it has none. */
static const ReportBlocked *blocked_row(const SwimlaneLanes *lanes, const TraceEvent *event) {
    const Report *report = lanes->html->report;
    for (size_t i = 0; i < report->deadlock_count; i++)
        for (size_t k = 0; k < report->deadlocks[i].blocked_count; k++) {
            const ReportBlocked *row = &report->deadlocks[i].blocked[k];
            if (row->place.ir_line == event->ir_line &&
                is_agent(&lanes->trace->tracks[event->track], row->place.partition, false))
                return row;
        }
    return NULL;
}

/* The track of an agent that would release a wait, its own also if a helper of it would; -1 if it would not. */
static long would_release(const SwimlaneLanes *lanes, const ReportPlace *could) {
    if (!str_starts(str_of(could->detail), STR("would")))
        return -1;
    for (size_t i = 0; i < lanes->trace->track_count; i++)
        if (is_agent(&lanes->trace->tracks[i], could->partition, true))
            return (long)i;
    return -1;
}

static void add_row(SwimlaneLanes *lanes, size_t event, const ReportBlocked *row) {
    Json *json = &lanes->json;
    start_line(lanes);
    json_begin_list(json, NULL);
    json_number(json, NULL, event);
    json_text(json, NULL, row->why);
    json_begin_list(json, NULL);
    for (size_t i = 0; i < row->could_count; i++) {
        const ReportPlace *could = &row->could[i];
        html_quote(lanes->html, could->ir_line);
        json_begin_list(json, NULL);
        json_signed(json, NULL, would_release(lanes, could));
        json_number(json, NULL, could->ir_line);
        json_text(json, NULL, could->partition);
        json_text(json, NULL, could->op);
        json_text(json, NULL, could->detail);
        json_end_list(json);
    }
    json_end_list(json);
    json_end_list(json);
}

static void add_blocked(SwimlaneLanes *lanes) {
    json_line(&lanes->json, 0);
    json_begin_list(&lanes->json, "blocked");
    for (size_t i = 0; i < lanes->events; i++) {
        const TraceEvent *event = &lanes->trace->events[i];
        const ReportBlocked *row = event->kind == TRACE_BLOCKED ? blocked_row(lanes, event) : NULL;
        if (row)
            add_row(lanes, i, row);
    }
    json_end_list(&lanes->json);
}

static size_t shown_events(const Trace *trace) {
    return trace->event_count < SWIMLANES_MOST_EVENTS ? trace->event_count : SWIMLANES_MOST_EVENTS;
}

void swimlanes_data(Html *html, const Trace *trace) {
    if (!trace || !trace->event_count)
        return;
    SwimlaneLanes lanes = {
        .html = html, .json = {.to = html->to, .in_page = true}, .trace = trace, .events = shown_events(trace)};
    text_str(html->to, STR("<script type=\"application/json\" id=\"trace\">"));
    json_begin(&lanes.json, NULL);
    add_tracks(&lanes);
    add_barriers(&lanes);
    add_events(&lanes);
    add_blocked(&lanes);
    json_end(&lanes.json);
    text_str(html->to, STR("</script>\n"));
    map_free(&lanes.texts);
    map_free(&lanes.barriers);
}

/* ---- Its place --------------------------------------------------------------------------------- */

static void add_controls(Html *html) {
    static const struct {
        const char *does, *label, *title;
    } buttons[] = {
        {"out", "\xe2\x88\x92", "Zoom out (-)"},
        {"in", "+", "Zoom in (+)"},
        {"left", "\xe2\x86\x90", "Earlier (left arrow)"},
        {"right", "\xe2\x86\x92", "Later (right arrow)"},
        {"fit", "All", "The whole run (0)"},
        {"open", "Back", "As the picture opened (i)"},
        {"previous", "Previous wait", "The wait before this one (p)"},
        {"next", "Next wait", "The wait after this one (n)"},
    };
    text_str(html->to, STR("<div class=\"lanes-bar\" role=\"toolbar\" aria-label=\"The picture\">"));
    for (size_t i = 0; i < sizeof buttons / sizeof *buttons; i++)
        html_addf(html, "<button type=\"button\" data-does=\"%s\" title=\"%s\" aria-label=\"%s\">%s</button>",
                  buttons[i].does, buttons[i].title, buttons[i].title, buttons[i].label);
    text_str(html->to, STR("<span class=\"lanes-range\" aria-live=\"polite\"></span></div>\n"));
}

static bool has(const Trace *trace, TraceKind kind) {
    for (size_t i = 0; i < shown_events(trace); i++)
        if (trace->events[i].kind == kind)
            return true;
    return false;
}

static void add_key(Html *html, const Trace *trace) {
    static const struct {
        const char *class, *text;
        int of; /* the kind that it is only for; -1: always there */
    } keys[] = {
        {"step", "step", -1},
        {"wait", "waits while blocked", -1},
        {"flip", "a phase completes", -1},
        {"arrow", "releases", -1},
        {"blocked", "blocked forever", TRACE_BLOCKED},
        {"never", "would release it, but never happens", TRACE_BLOCKED},
        {"access", "an access in a finding", TRACE_ACCESS},
    };
    text_str(html->to, STR("<ul class=\"lanes-key\">"));
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i].of < 0 || has(trace, (TraceKind)keys[i].of))
            html_addf(html, "<li><i class=\"key-%s\"></i>%s</li>", keys[i].class, keys[i].text);
    text_str(html->to, STR("</ul>\n"));
}

/* The picture is of the first finding's witness, if any has one. */
static bool shows_a_finding(const Report *report) {
    for (size_t i = 0; report->verdict && i < report->verdict->finding_count; i++)
        if (html_said(report->verdict->findings[i].witness))
            return true;
    return false;
}

static void add_picture(Html *html, const Trace *trace) {
    if (!trace || !trace->event_count) {
        text_str(html->to, STR("<p class=\"empty\">Nothing was run, so there is no picture.</p>\n"));
        return;
    }
    if (trace->event_count > SWIMLANES_MOST_EVENTS) {
        text_str(html->to, STR("<p class=\"notice\">The picture ends after "));
        text_number(html->to, SWIMLANES_MOST_EVENTS);
        text_str(html->to, STR(" events of "));
        text_number(html->to, trace->event_count);
        text_str(html->to, STR("; the run went on.</p>\n"));
    }
    text_str(html->to, STR("<noscript><p class=\"notice\">The picture is drawn by a script. All else on this page does "
                           "without.</p></noscript>\n<div class=\"lanes\" hidden>\n"));
    add_controls(html);
    text_str(html->to,
             STR("<div class=\"lanes-body\"><div class=\"lanes-view\" tabindex=\"0\" role=\"application\" "
                 "aria-label=\"Swim lanes. Plus and minus zoom, arrow keys move, n and p go from wait to wait, Enter "
                 "selects, Escape lets go.\"></div>\n<aside class=\"lanes-legend\" aria-label=\"Barriers\"></aside>"
                 "</div>\n"));
    add_key(html, trace);
    text_str(html->to, STR("<div class=\"lanes-chosen\" aria-live=\"polite\"></div>\n</div>\n"));
}

static Str timeline_lead(const Report *report) {
    if (report->verdict->program)
        return STR("What the program put into its streams, each operation as early as what orders it allows: "
                   "operations that stand above each other can run at the same time. Each stream has a lane; "
                   "arrows lead from an operation to one that waits for it. How long each takes is not known.");
    if (shows_a_finding(report))
        return STR("The run that shows what is wrong, step by step. Each agent has a lane; arrows lead from an "
                   "arrival to the wait that it released.");
    return STR("One run, step by step. Each agent has a lane; arrows lead from an arrival to the wait that it "
               "released.");
}

void swimlanes_section(Html *html, const Trace *trace) {
    html_section(html, "timeline", "Timeline", 0, "", timeline_lead(html->report));
    text_str(html->to, STR("<div class=\"beside\">\n<div class=\"picture\">\n"));
    add_picture(html, trace);
    text_str(html->to, STR("</div>\n"));
}

void swimlanes_section_end(Html *html) {
    text_str(html->to, STR("</div>\n"));
    html_section_end(html);
}
