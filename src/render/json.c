/* Verdicts as JSON, written by hand so that they go out as they come. */
#include "render/json.h"

#include <inttypes.h>

/* ---- Strings --------------------------------------------------------------------------------- */

/* The size of the UTF-8 character at `at`, which a zero byte follows somewhere, or 0 if there is none. Exact, since
 * parsers are: no overlong forms, no surrogates, nothing past U+10FFFF. */
static size_t character_size(const unsigned char *at) {
    if (at[0] < 0x80)
        return 1;
    size_t size = at[0] >= 0xc2 && at[0] < 0xe0   ? 2
                  : at[0] >= 0xe0 && at[0] < 0xf0 ? 3
                  : at[0] >= 0xf0 && at[0] < 0xf5 ? 4
                                                  : 0;
    for (size_t i = 1; i < size; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] >= 0xa0) || (at[0] == 0xf0 && at[1] < 0x90) ||
        (at[0] == 0xf4 && at[1] >= 0x90))
        return 0;
    return size;
}

void render_json_string(Text *to, const char *text) {
    static const char replacement[] = "\xef\xbf\xbd";
    text_char(to, '"');
    for (const char *at = text ? text : ""; *at;) {
        size_t size = character_size((const unsigned char *)at);
        if (size == 0)
            text_add(to, replacement, sizeof replacement - 1);
        else if (*at == '"' || *at == '\\')
            text_addf(to, "\\%c", *at);
        else if (*at == '\n')
            text_add(to, "\\n", 2);
        else if ((unsigned char)*at < 0x20 || *at == 0x7f)
            text_addf(to, "\\u%04x", (unsigned)*at);
        else
            text_add(to, at, size);
        at += size ? size : 1;
    }
    text_char(to, '"');
}

/* ---- Members -------------------------------------------------------------------------------  */

void render_json_text(Text *to, const char *before, const char *key, const char *text) {
    text_addf(to, "%s\"%s\": ", before, key);
    render_json_string(to, text);
}

void render_json_number(Text *to, const char *key, uint64_t number) {
    text_addf(to, ", \"%s\": %" PRIu64, key, number);
}

void render_json_separate(Text *to, size_t index, int indent) {
    text_addf(to, "%s\n%*s", index ? "," : "", indent, "");
}

/* ---- An input -------------------------------------------------------------------------------- */

static void add_launches(Text *to, const Verdict *verdict) {
    text_addf(to, ",\n   \"launches\": [");
    for (size_t i = 0; i < verdict->launch_count; i++) {
        const LaunchRun *launch = &verdict->launches[i];
        render_json_separate(to, i, 4);
        render_json_text(to, "{", "text", launch->text);
        text_addf(to, ", \"chosen\": %s", launch->chosen ? "true" : "false");
        render_json_number(to, "ctas", launch->ctas);
        render_json_number(to, "schedules", launch->schedules);
        render_json_number(to, "events", launch->events);
        text_addf(to, "}");
    }
    text_addf(to, "]");
}

static void add_place(Text *to, const FindingPlace *place) {
    render_json_text(to, "{", "role", place->role);
    render_json_text(to, ", ", "agent", place->agent);
    render_json_text(to, ", ", "op", place->op);
    render_json_text(to, ", ", "note", place->note);
    render_json_text(to, ", ", "file", place->file);
    render_json_number(to, "line", place->line);
    render_json_number(to, "column", place->column);
    render_json_number(to, "ir_line", place->ir_line);
    render_json_number(to, "ir_column", place->ir_column);
    if (place->ir_file)
        render_json_text(to, ", ", "ir_file", place->ir_file);
    text_addf(to, "}");
}

static void add_finding(Text *to, const Finding *finding, const char *witness_file) {
    static const char *const severities[] = {"error", "warning", "note"}; /* ORDER Severity */
    static const char next[] = ",\n     ";
    const Rule *rule = rule_of(finding->rule);
    render_json_text(to, "{", "rule", rule->id);
    render_json_text(to, ", ", "severity", severities[rule->severity]);
    render_json_text(to, ", ", "space", finding->space);
    render_json_number(to, "times", finding->times);
    render_json_text(to, next, "message", finding->message);
    render_json_text(to, next, "why", finding->why);
    render_json_text(to, next, "fix", finding->fix);
    render_json_text(to, next, "schedule", finding->schedule);
    render_json_text(to, next, "launch", finding->launch);
    text_addf(to, "%s\"places\": [", next);
    for (size_t i = 0; i < finding->place_count; i++) {
        render_json_separate(to, i, 6);
        add_place(to, &finding->places[i]);
    }
    text_addf(to, "]");
    render_json_text(to, next, "witness", witness_file ? witness_file : finding->witness);
    text_addf(to, "}");
}

static void add_incomplete(Text *to, const Verdict *verdict) {
    text_addf(to, ",\n   \"incomplete\": [");
    for (size_t i = 0; i < verdict->incomplete_count; i++) {
        const Incomplete *incomplete = &verdict->incomplete[i];
        render_json_separate(to, i, 4);
        render_json_text(to, "{", "reason", incomplete->reason);
        render_json_text(to, ", ", "op", incomplete->op);
        render_json_number(to, "ir_line", incomplete->ir_line);
        text_addf(to, "}");
    }
    text_addf(to, "],\n   \"notes\": [");
    for (size_t i = 0; i < verdict->note_count; i++) {
        render_json_separate(to, i, 4);
        render_json_string(to, verdict->notes[i]);
    }
    text_addf(to, "]");
}

JsonReport render_json_begin(Text *to, const char *version) {
    render_json_text(to, "{", "tool", "weir");
    render_json_text(to, ", ", "version", version);
    text_addf(to, ",\n \"inputs\": [");
    return (JsonReport){.to = to, .verdict = VERDICT_CLEAN};
}

void render_json_verdict(Text *to, const char *before, const char *file, const Verdict *verdict,
                         const char *const *witnesses) {
    render_json_text(to, before, "file", file);
    render_json_text(to, ", ", "kernel", verdict->kernel);
    render_json_text(to, ", ", "verdict", verdict_kind_name(verdict->kind));
    add_launches(to, verdict);
    text_addf(to, ",\n   \"findings\": [");
    for (size_t i = 0; i < verdict->finding_count; i++) {
        render_json_separate(to, i, 4);
        add_finding(to, &verdict->findings[i], witnesses ? witnesses[i] : NULL);
    }
    text_addf(to, "]");
    add_incomplete(to, verdict);
}

void render_json_input(JsonReport *report, const char *file, const Verdict *verdict, const char *const *witnesses) {
    report->verdict = verdict_worse(report->verdict, verdict->kind);
    render_json_separate(report->to, report->count++, 2);
    render_json_verdict(report->to, "{", file, verdict, witnesses);
    text_addf(report->to, "}");
}

void render_json_join(JsonReport *report, const JsonReport *part) {
    if (report->count && part->count)
        text_char(report->to, ',');
    text_add(report->to, part->to->data ? part->to->data : "", part->to->size);
    report->count += part->count;
    report->verdict = verdict_worse(report->verdict, part->verdict);
}

void render_json_end(JsonReport *report) {
    text_addf(report->to, "],\n");
    render_json_text(report->to, " ", "verdict", verdict_kind_name(report->verdict));
    text_addf(report->to, "}\n");
}
