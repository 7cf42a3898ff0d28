/* What the page's script draws: each text once, and barriers by number, those of the report's own rows first. */
#include "render/swimlanes.h"

#include "render/html_sections.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct Lanes {
    Html *html;
    const Trace *trace;
    size_t events; /* that are written */
    Map texts;     /* each: 1 + its index */
    uint32_t text_count;
    Map barriers; /* by ring: 1 + the index */
    uint32_t barrier_count;
    Text more_barriers; /* those that the report does not have, as JSON */
} Lanes;

/* ---- Numbers for texts and barriers ------------------------------------------------------------ */

static size_t numbered(Lanes *lanes, Map *map, Str key) {
    void **value = map_put(map, key);
    if (!value) {
        lanes->html->to->failed = true;
        return 0;
    }
    return (size_t)(uintptr_t)*value;
}

static void number(Lanes *lanes, Map *map, Str key, size_t as) {
    void **value = map_put(map, key);
    if (value)
        *value = (void *)(uintptr_t)as;
    else
        lanes->html->to->failed = true;
}

static uint32_t text_number(Lanes *lanes, const char *text) {
    size_t known = numbered(lanes, &lanes->texts, str_of(text));
    return known ? (uint32_t)known - 1 : 0;
}

static void add_text(Lanes *lanes, const char *text) {
    if (numbered(lanes, &lanes->texts, str_of(text)))
        return;
    text_str(lanes->html->to, lanes->text_count ? STR(",\n") : STR(""));
    html_json(lanes->html->to, text);
    number(lanes, &lanes->texts, str_of(text), ++lanes->text_count);
}

static uint32_t barrier_number(Lanes *lanes, const char *ring) {
    size_t known = numbered(lanes, &lanes->barriers, str_of(ring));
    if (known)
        return (uint32_t)known - 1;
    long of_report = html_ring(lanes->html, str_of(ring));
    uint32_t index = of_report >= 0 ? (uint32_t)of_report : lanes->barrier_count++;
    number(lanes, &lanes->barriers, str_of(ring), index + 1);
    if (of_report < 0) {
        text_str(&lanes->more_barriers, STR(",\n["));
        html_json(&lanes->more_barriers, ring);
        text_str(&lanes->more_barriers, STR(",0]"));
    }
    return index;
}

/* ---- The data ---------------------------------------------------------------------------------- */

static void add_tracks(Lanes *lanes) {
    Text *to = lanes->html->to;
    text_str(to, STR("{\"tracks\":["));
    for (size_t i = 0; i < lanes->trace->track_count; i++) {
        const TraceTrack *track = &lanes->trace->tracks[i];
        text_addf(to, "%s[%u,", i ? ",\n" : "", track->cta);
        html_json(to, track->cta_name);
        text_char(to, ',');
        html_json(to, track->agent);
        text_char(to, ']');
    }
}

static void add_barriers(Lanes *lanes) {
    Html *html = lanes->html;
    const Report *report = html->report;
    lanes->barrier_count = (uint32_t)report->barrier_count;
    for (size_t i = 0; i < lanes->events; i++)
        for (size_t k = 0; k < lanes->trace->events[i].barrier_count; k++)
            barrier_number(lanes, lanes->trace->events[i].barriers[k].ring);
    text_str(html->to, STR("],\n\"barriers\":["));
    for (size_t i = 0; i < report->barrier_count; i++) {
        text_addf(html->to, "%s[", i ? ",\n" : "");
        html_json(html->to, report->barriers[i].name);
        text_str(html->to, STR(",1]"));
    }
    Str more = {lanes->more_barriers.data, lanes->more_barriers.size};
    if (more.size && !report->barrier_count)
        more = str_between(more.data + 1, more.data + more.size); /* without its comma */
    text_str(html->to, more);
}

/* JSON's numbers are exact up to here. */
static uint64_t safe(uint64_t steps) {
    const uint64_t most = (UINT64_C(1) << 53) - 1;
    return steps < most / 2 ? steps : most / 2;
}

static void add_events(Lanes *lanes) {
    Text *to = lanes->html->to;
    text_str(to, STR("],\n\"texts\":["));
    for (size_t i = 0; i < lanes->events; i++) {
        add_text(lanes, lanes->trace->events[i].name);
        add_text(lanes, lanes->trace->events[i].detail);
    }
    text_str(to, STR("],\n\"events\":["));
    for (size_t i = 0; i < lanes->events; i++) {
        const TraceEvent *event = &lanes->trace->events[i];
        html_quote(lanes->html, event->ir_line);
        text_addf(to, "%s[%d,%u,%" PRIu64 ",%" PRIu64 ",%u,%u,%u,%u", i ? ",\n" : "", (int)event->kind, event->track,
                  safe(event->time), safe(event->duration), text_number(lanes, event->name),
                  text_number(lanes, event->detail), event->ir_line,
                  event->flow_from <= lanes->events ? event->flow_from : 0);
        for (size_t k = 0; k < event->barrier_count; k++)
            text_addf(to, ",%u,%" PRId64, barrier_number(lanes, event->barriers[k].ring), event->barriers[k].slot);
        text_char(to, ']');
    }
}

/* ---- Who waits for ever ------------------------------------------------------------------------ */

/* Whether a place's agent, "partition0" or "cta1.partition0", is the track's, or, if they count, a helper of it. */
static bool is_agent(const TraceTrack *track, const char *agent, bool helpers) {
    char cta[16];
    size_t prefix = (size_t)snprintf(cta, sizeof cta, "cta%u.", track->cta), size = strlen(track->agent);
    agent += strncmp(agent, cta, prefix) == 0 ? prefix : 0;
    return strncmp(agent, track->agent, size) == 0 && (!agent[size] || (helpers && agent[size] == '.'));
}

/* The report's row about a slice that is blocked for ever; NULL if it has none. */
static const ReportBlocked *blocked_row(const Lanes *lanes, const TraceEvent *event) {
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
static long would_release(const Lanes *lanes, const ReportPlace *could) {
    if (!str_starts(str_of(could->detail), STR("would")))
        return -1;
    for (size_t i = 0; i < lanes->trace->track_count; i++)
        if (is_agent(&lanes->trace->tracks[i], could->partition, true))
            return (long)i;
    return -1;
}

static void add_row(Lanes *lanes, size_t event, const ReportBlocked *row) {
    Text *to = lanes->html->to;
    text_addf(to, "[%zu,", event);
    html_json(to, row->why);
    text_str(to, STR(",["));
    for (size_t i = 0; i < row->could_count; i++) {
        const ReportPlace *could = &row->could[i];
        html_quote(lanes->html, could->ir_line);
        text_addf(to, "%s[%ld,%u,", i ? "," : "", would_release(lanes, could), could->ir_line);
        html_json(to, could->partition);
        text_char(to, ',');
        html_json(to, could->op);
        text_char(to, ',');
        html_json(to, could->detail);
        text_char(to, ']');
    }
    text_str(to, STR("]]"));
}

static void add_blocked(Lanes *lanes) {
    const char *before = "";
    text_str(lanes->html->to, STR("],\n\"blocked\":["));
    for (size_t i = 0; i < lanes->events; i++) {
        const TraceEvent *event = &lanes->trace->events[i];
        const ReportBlocked *row = event->kind == TRACE_BLOCKED ? blocked_row(lanes, event) : NULL;
        if (!row)
            continue;
        text_addf(lanes->html->to, "%s", before);
        add_row(lanes, i, row);
        before = ",\n";
    }
    text_str(lanes->html->to, STR("]}"));
}

static size_t shown_events(const Trace *trace) {
    return trace->event_count < SWIMLANES_MOST_EVENTS ? trace->event_count : SWIMLANES_MOST_EVENTS;
}

void swimlanes_data(Html *html, const Trace *trace) {
    if (!trace || !trace->event_count)
        return;
    Lanes lanes = {.html = html, .trace = trace, .events = shown_events(trace)};
    text_str(html->to, STR("<script type=\"application/json\" id=\"trace\">"));
    add_tracks(&lanes);
    add_barriers(&lanes);
    add_events(&lanes);
    add_blocked(&lanes);
    text_str(html->to, STR("</script>\n"));
    map_free(&lanes.texts);
    map_free(&lanes.barriers);
    text_free(&lanes.more_barriers);
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
        {"wait", "waits, as long as it is blocked", -1},
        {"flip", "a phase completes", -1},
        {"arrow", "releases", -1},
        {"blocked", "blocked for ever", TRACE_BLOCKED},
        {"never", "would release it, and never comes", TRACE_BLOCKED},
        {"access", "an access that a finding is about", TRACE_ACCESS},
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

void swimlanes_section(Html *html, const Trace *trace) {
    html_section(html, "timeline", "Timeline", 0, "",
                 shows_a_finding(html->report)
                     ? "The run that shows what is wrong, step by step. Each agent has a lane; arrows lead from an "
                       "arrival to the wait that it released."
                     : "One run, step by step. Each agent has a lane; arrows lead from an arrival to the wait that it "
                       "released.");
    if (!trace || !trace->event_count) {
        text_str(html->to, STR("<p class=\"empty\">Nothing was run, so there is no picture.</p>\n"));
        html_section_end(html);
        return;
    }
    if (trace->event_count > SWIMLANES_MOST_EVENTS) {
        text_str(html->to, STR("<p class=\"notice\">The picture ends after "));
        html_number(html->to, SWIMLANES_MOST_EVENTS);
        text_str(html->to, STR(" events of "));
        html_number(html->to, trace->event_count);
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
    html_section_end(html);
}
