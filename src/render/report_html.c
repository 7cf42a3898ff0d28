/* The barrier report as one HTML page: the verdict first, then the run as a picture, then the seven sections. It needs
 * no other file and no network, and without scripts everything but the picture is there. */
#include "render/report.h"

#include "render/html_sections.h"
#include "render/page.h"
#include "render/swimlanes.h"

static void add(Html *html, const char *markup) {
    text_str(html->to, str_of(markup));
}

/* ---- The frame --------------------------------------------------------------------------------- */

static void add_head(Html *html) {
    add(html, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
              "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
              "script-src 'unsafe-inline'; img-src data:\">\n"
              "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
              "<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n");
    html_addf(html, "<title>%s: barrier report</title>\n<style>\n", html->report->kernel);
    text_str(html->to, page_style());
    add(html, "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#verdict\">To the verdict</a>\n");
}

static bool hangs(const Report *report) {
    return strcmp(report->deadlock_verdict, "found") == 0;
}

/* A section that something wrong stands in has a mark. */
static void add_bar_link(Html *html, const char *id, const char *text) {
    bool wrong = (strcmp(id, "deadlocks") == 0 && hangs(html->report)) ||
                 (strcmp(id, "coverage") == 0 && html_missing(html->report));
    html_addf(html, "<a href=\"#%s\">%s", id, text);
    add(html, wrong ? " <span class=\"flag\">\xe2\x9c\x97</span></a>" : "</a>");
}

static void add_bar(Html *html, bool sections) {
    static const char *const links[][2] = {
        {"verdict", "Verdict"},   {"timeline", "Timeline"},  {"partitions", "Partitions"}, {"dependencies", "Graph"},
        {"phases", "Phases"},     {"shared", "Shared data"}, {"aliases", "Aliases"},       {"deadlocks", "Deadlocks"},
        {"coverage", "Coverage"}, {"limits", "Limits"},      {"glossary", "Glossary"},
    };
    html_addf(html, "<header class=\"bar\"><strong class=\"kernel\" title=\"%s\">%s</strong>", html->report->kernel,
              html->report->kernel);
    if (sections) {
        add(html, "<nav aria-label=\"Sections\">");
        for (size_t i = 0; i < sizeof links / sizeof *links; i++)
            if (html->report->limit_count || strcmp(links[i][0], "limits") != 0)
                add_bar_link(html, links[i][0], links[i][1]);
        add(html, "</nav>");
    }
    add(html, "<span class=\"tools\" hidden>");
    if (sections)
        add(html, "<button type=\"button\" class=\"fold-all\">Fold all</button>");
    add(html,
        "<button type=\"button\" class=\"theme\" aria-label=\"Switch between light and dark\">Dark</button></span>"
        "</header>\n<main>\n");
}

static void add_end(Html *html) {
    add(html, "</main>\n<footer>Made by Weir from <code>");
    html_addf(html, "%s</code>.</footer>\n<script>\n", html->report->file);
    text_str(html->to, page_script());
    add(html, "</script>\n</body>\n</html>\n");
}

/* ---- The verdict ------------------------------------------------------------------------------- */

static void add_basis(Html *html, const Verdict *verdict) {
    uint64_t ctas = 0, schedules = 0, events = 0;
    for (size_t i = 0; i < verdict->launch_count; i++) {
        ctas += verdict->launches[i].ctas;
        schedules += verdict->launches[i].schedules;
        events += verdict->launches[i].events;
    }
    if (!verdict->launch_count)
        return;
    add(html, "<div><dt>Founded on</dt><dd>");
    text_number_of(html->to, verdict->launch_count, "launch");
    add(html, ", ");
    text_number_of(html->to, ctas, "CTA");
    add(html, ", ");
    text_number_of(html->to, schedules, "schedule");
    add(html, ", ");
    text_number_of(html->to, events, "event");
    add(html, "</dd></div>\n");
}

static void add_sizes(Html *html) {
    const Report *report = html->report;
    add(html, "<div><dt>Contents</dt><dd>");
    text_number_of(html->to, report->partition_count, "partition");
    add(html, ", ");
    text_number_of(html->to, report->barrier_count, "barrier");
    add(html, ", ");
    text_number_of(html->to, report->edge_count, "edge");
    add(html, ", ");
    text_number_of(html->to, report->buffer_count, "buffer");
    add(html, "</dd></div>\n");
}

static void add_facts(Html *html) {
    const Report *report = html->report;
    add(html, "<dl class=\"facts\">\n");
    html_fact(html, "File", report->file);
    html_fact(html, "Module", report->module);
    html_fact(html, "Target", report->target);
    if (html_said(report->form)) {
        html_addf(html, "<div><dt>Form</dt><dd>%s", report->form);
        add(html, html_said(report->form_text) ? ": " : "");
        html_prose(html, report->form_text);
        add(html, "</dd></div>\n");
    }
    html_fact(html, "Launch", report->launch);
    if (report->cluster > 1) {
        add(html, "<div><dt>Cluster</dt><dd>");
        text_number_of(html->to, report->cluster, "CTA");
        add(html, "</dd></div>\n");
    }
    add_sizes(html);
    if (report->verdict)
        add_basis(html, report->verdict);
    add(html, "</dl>\n");
}

/* "1 deadlock, 2 races" */
static void add_families(Html *html, const Verdict *verdict) {
    static const char *const families[][2] = {
        {"deadlock", "deadlock"}, {"race", "race"}, {"coverage", "missing order"}, {"barrier", "misused barrier"}};
    const char *before = "";
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        size_t count = 0;
        for (size_t k = 0; k < verdict->finding_count; k++)
            count += rule_listed(families[i][0], rule_of(verdict->findings[k].rule)->id);
        if (!count)
            continue;
        add(html, before);
        text_number_of(html->to, count, families[i][1]);
        before = ", ";
    }
    add(html, ".");
}

/* Where to look first. */
static void add_leads(Html *html, const Trace *trace) {
    const Report *report = html->report;
    bool missing = html_missing(report);
    add(html, "<p class=\"leads\">");
    if (trace && trace->event_count)
        add(html, "<a href=\"#timeline\">See it happen</a> ");
    if (hangs(report))
        add(html, "<a href=\"#deadlocks\">Who waits for whom</a> ");
    if (missing)
        add(html, "<a href=\"#coverage\">What is not ordered</a>");
    add(html, "</p>\n");
}

/* "2 findings", and what they are about. */
static void add_outcome(Html *html, const Verdict *verdict) {
    static const struct {
        const char *mark, *word, *text;
    } kinds[] = {
        /* ORDER VerdictKind */
        {"\xe2\x9c\x93", "Clean", "In all that was run, nothing races and nothing hangs."},
        {"\xe2\x9c\x97", "", "This kernel can go wrong: "},
        {"?", "Incomplete", "Nothing wrong was found, but not everything could be looked at."},
        {"\xe2\x9c\x97", "Error", "The kernel could not be looked at."},
    };
    text_addf(html->to, "<p class=\"outcome\"><span class=\"mark\" aria-hidden=\"true\">%s</span> <strong>%s",
              kinds[verdict->kind].mark, kinds[verdict->kind].word);
    if (verdict->kind == VERDICT_FINDINGS)
        text_number_of(html->to, verdict->finding_count, "finding");
    text_addf(html->to, "</strong><span class=\"meaning\">%s", kinds[verdict->kind].text);
    if (verdict->kind == VERDICT_FINDINGS)
        add_families(html, verdict);
    add(html, "</span></p>\n");
}

static void add_finding_place(Html *html, const FindingPlace *place) {
    add(html, "<tr>");
    html_cell(html, place->role);
    html_cell(html, place->agent);
    html_cell_code(html, place->op);
    html_cell(html, place->note);
    add(html, "<td>");
    if (html_said(place->file)) {
        html_addf(html, "<span class=\"where\">%s", place->file);
        if (place->line)
            text_addf(html->to, ":%u", place->line);
        add(html, "</span>");
    } else {
        html_none(html);
    }
    add(html, "</td>");
    html_cell_line(html, place->ir_line);
    add(html, "</tr>\n");
}

static void add_witness(Html *html, const char *witness) {
    enum { MOST = 64 << 10 };
    Str text = str_of(witness ? witness : "");
    if (!text.size)
        return;
    bool cut = text.size > MOST;
    text.size = cut ? MOST : text.size;
    add(html, "<details class=\"fold\"><summary><h4>Witness</h4><span class=\"count\">a trail that weir run --replay "
              "follows</span></summary><pre class=\"trail\">");
    html_text(html->to, text);
    text_addf(html->to, "</pre>%s</details>\n", cut ? "<p class=\"notice\">The rest is left out here.</p>" : "");
}

static void add_finding(Html *html, const Finding *finding) {
    static const char *const words[] = {"error", "warning", "note"}; /* ORDER Severity */
    static const char *const marks[] = {"\xe2\x9c\x97", "!", "i"};
    const Rule *rule = rule_of(finding->rule);
    const char *word = words[rule->severity];
    html_addf(html, "<article class=\"finding %s\">\n<h3><span class=\"tag tag-%s\">%s %s</span> ", word, word,
              marks[rule->severity], word);
    html_words(html, finding->message);
    html_addf(html, "</h3><p class=\"rule\"><code>%s</code></p>\n<dl class=\"facts\">\n", rule->id);
    html_fact(html, "Why", finding->why);
    html_fact(html, "Fix", finding->fix);
    html_fact(html, "Schedule", finding->schedule);
    html_fact(html, "Launch", finding->launch);
    if (finding->times > 1) {
        add(html, "<div><dt>Seen</dt><dd>");
        text_number_of(html->to, finding->times, "time");
        add(html, "</dd></div>\n");
    }
    add(html, "</dl>\n");
    if (finding->place_count) {
        html_table(html, "Places", "Does|Who|Op|Detail|Source|#IR line");
        for (size_t i = 0; i < finding->place_count; i++)
            add_finding_place(html, &finding->places[i]);
        html_table_end(html);
    }
    add_witness(html, finding->witness);
    add(html, "</article>\n");
}

static void add_incomplete(Html *html, const Verdict *verdict) {
    if (!verdict->incomplete_count)
        return;
    add(html, "<article class=\"finding warning\">\n<h3><span class=\"tag tag-warning\">? incomplete</span> What could "
              "not be looked at</h3>\n<ul class=\"reasons\">\n");
    for (size_t i = 0; i < verdict->incomplete_count; i++) {
        const Incomplete *one = &verdict->incomplete[i];
        add(html, "<li>");
        html_words(html, one->reason);
        add(html, " ");
        if (html_said(one->op))
            html_addf(html, "<code>%s</code> ", one->op);
        html_line(html, one->ir_line);
        add(html, "</li>\n");
    }
    add(html, "</ul></article>\n");
}

static void add_launches(Html *html, const Verdict *verdict) {
    if (!verdict->launch_count)
        return;
    html_addf(html, "<details class=\"fold\"><summary><h3>Launches</h3><span class=\"count\">%zu</span></summary>\n",
              verdict->launch_count);
    html_table(html, "Launches", "Launch|Given or chosen|#CTAs|#Schedules|#Events");
    for (size_t i = 0; i < verdict->launch_count; i++) {
        const LaunchRun *launch = &verdict->launches[i];
        add(html, "<tr>");
        html_cell(html, launch->text);
        html_cell(html, launch->chosen ? "chosen by Weir" : "given");
        html_cell_number(html, (int64_t)launch->ctas);
        html_cell_number(html, (int64_t)launch->schedules);
        html_cell_number(html, (int64_t)launch->events);
        add(html, "</tr>\n");
    }
    html_table_end(html);
    html_section_end(html);
}

static void add_notes(Html *html, const Verdict *verdict) {
    if (!verdict->note_count)
        return;
    html_addf(html,
              "<details class=\"fold\"><summary><h3>Notes</h3><span class=\"count\">%zu</span></summary>\n<ul "
              "class=\"reasons\">\n",
              verdict->note_count);
    for (size_t i = 0; i < verdict->note_count; i++) {
        add(html, "<li>");
        html_words(html, verdict->notes[i]);
        add(html, "</li>\n");
    }
    add(html, "</ul>\n");
    html_section_end(html);
}

static void add_verdict(Html *html, const Trace *trace) {
    const Verdict *verdict = html->report->verdict;
    html_addf(html,
              "<section id=\"verdict\" class=\"verdict %s\">\n<p class=\"kind\">Barrier report</p>\n<h1>%s</h1>\n",
              verdict ? verdict_kind_name(verdict->kind) : "", html->report->kernel);
    if (verdict)
        add_outcome(html, verdict);
    if (verdict && verdict->kind == VERDICT_FINDINGS)
        add_leads(html, trace);
    add_facts(html);
    add(html, "</section>\n");
    if (!verdict)
        return;
    add(html, "<section class=\"found\" aria-label=\"Findings\">\n");
    for (size_t i = 0; i < verdict->finding_count; i++)
        add_finding(html, &verdict->findings[i]);
    add_incomplete(html, verdict);
    add_launches(html, verdict);
    add_notes(html, verdict);
    add(html, "</section>\n");
}

/* ---- The page ---------------------------------------------------------------------------------- */

static void add_nothing(Html *html) {
    add_bar(html, false);
    html_addf(html,
              "<section id=\"verdict\" class=\"verdict nothing\">\n<p class=\"kind\">Barrier report</p>\n<h1>%s</h1>",
              html->report->kernel);
    html_addf(html,
              "\n<p class=\"outcome\"><span class=\"mark\" aria-hidden=\"true\">\xe2\x80\x93</span> "
              "<strong>Nothing to report</strong><span class=\"meaning\">%s</span></p>\n<dl class=\"facts\">\n",
              html->report->nothing);
    html_fact(html, "File", html->report->file);
    html_fact(html, "Module", html->report->module);
    html_fact(html, "Target", html->report->target);
    add(html, "</dl>\n</section>\n");
}

static void add_sections(Html *html, const Trace *trace) {
    add_bar(html, true);
    add_verdict(html, trace);
    swimlanes_section(html, trace);
    html_partitions(html);
    html_dependencies(html);
    html_index_and_phase(html);
    html_shared_data(html);
    html_aliases(html);
    html_deadlocks(html);
    html_coverage(html);
    html_limits(html);
    html_glossary(html);
    swimlanes_data(html, trace); /* before the excerpts, which have its lines, too */
    html_excerpts(html);
}

void render_report_html(const Report *report, const Trace *trace, Source *source, Text *to) {
    Html html;
    html_init(&html, report, source, to);
    add_head(&html);
    if (html_said(report->nothing))
        add_nothing(&html);
    else
        add_sections(&html, trace);
    add_end(&html);
    html_free(&html);
}
