/* Which barriers an event is about stands in its words: "%full[1], parity 0", "; %empty[0], phase 2; %done[0], phase
 * 0", "named barrier 9"; of a flip, "phase 0 of %full[1]". */
#include "render/swimlanes.h"

#include "render/html_sections.h"

#include <inttypes.h>

typedef struct Lanes {
    Html *html;
    const Trace *trace;
    size_t events; /* that are written */
    Map texts;     /* each: 1 + its index */
    uint32_t text_count;
    Map barriers; /* by value, and those that the report does not have: 1 + the index */
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

static Str trim(Str text) {
    while (text.size && *text.data == ' ')
        text = str_between(text.data + 1, text.data + text.size);
    return text;
}

/* The barrier in one part of an event's words, without its slot; empty if none is named there. */
static Str barrier_in(Str part) {
    part = trim(part);
    const char *end = part.size ? memchr(part.data, ',', part.size) : NULL;
    Str name = end ? str_between(part.data, end) : part;
    const char *slot = name.size ? memchr(name.data, '[', name.size) : NULL;
    name = slot ? str_between(name.data, slot) : name;
    bool is = name.size > 1 && (*name.data == '%' || str_starts(name, STR("named barrier ")) ||
                                str_starts(name, STR("the cluster barrier")));
    return is ? name : STR("");
}

static uint32_t barrier_number(Lanes *lanes, Str name) {
    size_t known = numbered(lanes, &lanes->barriers, name);
    if (known)
        return (uint32_t)known - 1;
    long of_report = html_barrier(lanes->html, name);
    uint32_t index = of_report >= 0 ? (uint32_t)of_report : lanes->barrier_count++;
    number(lanes, &lanes->barriers, name, index + 1);
    if (of_report < 0) {
        Text shown = {0};
        text_str(&shown, name);
        text_char(&shown, 0);
        text_str(&lanes->more_barriers, STR(",\n["));
        html_json(&lanes->more_barriers, shown.failed ? "" : shown.data);
        text_str(&lanes->more_barriers, STR(",0]"));
        text_free(&shown);
    }
    return index;
}

/* Calls `found` for the barriers of an event, as many as are worth showing. */
static void each_barrier(Lanes *lanes, const TraceEvent *event, void found(Lanes *, uint32_t)) {
    enum { MOST = 8 };
    const char *of = event->kind == TRACE_FLIP ? strstr(event->name, " of ") : NULL;
    Str left = of ? str_of(of + 4) : str_of(event->detail);
    for (int count = 0; left.size && count < MOST;) {
        const char *end = memchr(left.data, ';', left.size);
        Str name = barrier_in(end ? str_between(left.data, end) : left);
        if (name.size) {
            found(lanes, barrier_number(lanes, name));
            count++;
        }
        left = end ? str_between(end + 1, left.data + left.size) : STR("");
    }
}

static void only_number(Lanes *lanes, uint32_t barrier) {
    (void)lanes, (void)barrier;
}

static void write_number(Lanes *lanes, uint32_t barrier) {
    text_addf(lanes->html->to, ",%u", barrier);
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
    for (size_t i = 0; i < report->barrier_count; i++) {
        Str value = str_of(report->barriers[i].value ? report->barriers[i].value : "");
        if (value.size && !numbered(lanes, &lanes->barriers, value))
            number(lanes, &lanes->barriers, value, i + 1);
    }
    for (size_t i = 0; i < lanes->events; i++)
        each_barrier(lanes, &lanes->trace->events[i], only_number);
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
        each_barrier(lanes, event, write_number);
        text_char(to, ']');
    }
    text_str(to, STR("]}"));
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

static void add_key(Html *html) {
    text_str(
        html->to,
        STR("<ul class=\"lanes-key\"><li><i class=\"key-step\"></i>step</li><li><i class=\"key-wait\"></i>waits, as "
            "long as it is blocked</li><li><i class=\"key-blocked\"></i>blocked for ever</li><li><i "
            "class=\"key-flip\"></i>a phase completes</li><li><i class=\"key-arrow\"></i>releases</li></ul>\n"));
}

void swimlanes_section(Html *html, const Trace *trace) {
    html_section(html, "timeline", "Timeline", 0, "",
                 "One run, step by step. Each agent has a lane; arrows lead from an arrival to the wait that it "
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
    add_key(html);
    text_str(html->to, STR("<div class=\"lanes-chosen\" aria-live=\"polite\"></div>\n</div>\n"));
    html_section_end(html);
}
