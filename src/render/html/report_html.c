/* The barrier report as one HTML page: the verdict first, then the run as a picture, then the seven sections. It needs
 * no other file and no network, and without scripts everything but the picture is there. */
#include "render/report/report.h"

#include "render/html/html_writer.h"
#include "render/html/page.h"
#include "render/html/swimlanes.h"
#include "render/report/report_say.h"

typedef struct ReportHtmlPage {
    HtmlWriter writer; /* first, so that a writer can be taken for its page */
    const Trace *trace;
    Text *to;  /* all up to the lines of the source, which stand beside the timeline, */
    Text rest; /* and what is behind them */
} ReportHtmlPage;

static void add(Html *html, const char *markup) {
    text_str(html->to, str_of(markup));
}

/* ---- The frame --------------------------------------------------------------------------------- */

static bool is_program(const Html *html) {
    return html->report->verdict->program;
}

static const char *report_signature(const Report *report) {
    const Verdict *verdict = report->verdict;
    return verdict->demangled ? verdict->demangled : verdict->kernel;
}

static void add_head(Html *html) {
    add(html, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
              "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
              "script-src 'unsafe-inline'; img-src data:\">\n"
              "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
              "<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n");
    html_addf(html, "<title>%s: %s</title>\n<style>\n", verdict_name(html->report->verdict),
              is_program(html) ? "order of operations" : "barrier report");
    text_str(html->to, page_style());
    add(html, "</style>\n</head>\n");
    add(html, html->report->ptx  ? "<body data-text=\"PTX\">\n"
              : is_program(html) ? "<body data-text=\"log\">\n"
                                 : "<body>\n");
    add(html, "<a class=\"skip\" href=\"#verdict\">Skip to the verdict</a>\n");
}

static bool hangs(const Report *report) {
    return strcmp(report->deadlock_verdict, "found") == 0;
}

/* A section that something wrong stands in has a mark. */
static void add_bar_link(Html *html, const char *id, const char *text) {
    bool wrong = (strcmp(id, "deadlocks") == 0 && hangs(html->report)) ||
                 (strcmp(id, "coverage") == 0 && report_missing(html->report));
    html_addf(html, "<a href=\"#%s\">%s", id, text);
    add(html, wrong ? " <span class=\"flag\">\xe2\x9c\x97</span></a>" : "</a>");
}

static void add_bar(Html *html, bool with_links) {
    size_t count;
    const ReportSection *sections = report_section_list(&count);
    html_addf(html, "<header class=\"bar\"><strong class=\"kernel\" title=\"%s\">%s</strong>",
              report_signature(html->report), verdict_name(html->report->verdict));
    if (with_links) {
        add(html, "<nav aria-label=\"Sections\">");
        add_bar_link(html, "verdict", "Verdict");
        add_bar_link(html, "timeline", "Timeline");
        for (size_t i = 0; !is_program(html) && i < count; i++)
            if (html->report->limit_count || strcmp(sections[i].id, "limits") != 0)
                add_bar_link(html, sections[i].id, sections[i].title + strspn(sections[i].title, "0123456789. "));
        if (!is_program(html))
            add_bar_link(html, "glossary", "Glossary");
        add(html, "</nav>");
    }
    add(html, "<span class=\"tools\" hidden>");
    if (with_links)
        add(html, "<span class=\"find\"><input type=\"search\" placeholder=\"Find ( / )\" aria-label=\"Find barriers, "
                  "buffers, partitions, lines of the IR, ops of the run\"></span>"
                  "<button type=\"button\" class=\"fold-all\">Fold all</button>");
    add(html,
        "<button type=\"button\" class=\"theme\" aria-label=\"Switch between light and dark\">Dark</button></span>"
        "</header>\n<main>\n");
}

static void add_end(Html *html) {
    add(html, "</main>\n<footer>Made by Weir from <code>");
    html_addf(html, "%s</code>.</footer>\n<script>\n", html->report->file);
    text_str(html->to, page_script());
    text_str(html->to, page_code_script());
    text_str(html->to, page_lanes_script());
    text_str(html->to, page_find_script());
    add(html, "</script>\n</body>\n</html>\n");
}

/* ---- The verdict ------------------------------------------------------------------------------- */

/* "1 deadlock, 2 races" */
static void add_families(Html *html, const Verdict *verdict) {
    static const char *const families[][2] = {{"deadlock", "deadlock"},
                                              {"race", "race"},
                                              {"coverage", "missing order"},
                                              {"barrier", "misused barrier"},
                                              {"program", "unordered operation"}};
    const char *before = "";
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        size_t count = verdict_faults(verdict, families[i][0]);
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
    bool missing = report_missing(report);
    add(html, "<p class=\"leads\">");
    if (trace && trace->event_count)
        add(html, "<a href=\"#timeline\">See it happen</a> ");
    if (hangs(report))
        add(html, "<a href=\"#deadlocks\">What waits for what</a> ");
    if (missing)
        add(html, "<a href=\"#coverage\">What is not ordered</a>");
    add(html, "</p>\n");
}

/* Nothing wrong was found, but nothing was run either. */
static bool is_unrun(const Report *report) {
    return report->verdict->kind == VERDICT_CLEAN && !report_ran(report);
}

/* " (every launch where n <= 128)" */
static void add_scope(Html *html, const Verdict *verdict) {
    Text scope = {0};
    verdict_print_scope(verdict, &scope);
    html_text(html->to, (Str){scope.data, scope.size});
    html->to->failed |= scope.failed;
    text_free(&scope);
}

/* "2 findings", and what they are about. */
static void add_outcome(Html *html, const Verdict *verdict) {
    static const struct {
        const char *mark, *word, *text;
    } kinds[] = {
        /* ORDER VerdictKind; then a clean one without a run */
        {"\xe2\x9c\x93", "Clean", "In all that was run, nothing races and nothing hangs."},
        {"\xe2\x9c\x97", "", "It can fail: "},
        {"?", "Incomplete", "No problem was found, but not everything could be looked at."},
        {"\xe2\x9c\x97", "Error", "The kernel could not be looked at."},
        {"\xe2\x80\x93", "Not run", "Nothing was run, so nothing is known of races and hangs."},
    };
    size_t kind = is_unrun(html->report) ? VERDICT_ERROR + 1 : verdict->kind;
    text_addf(html->to, "<p class=\"outcome\"><span class=\"mark\" aria-hidden=\"true\">%s</span> <strong>%s",
              kinds[kind].mark, kinds[kind].word);
    if (verdict->kind == VERDICT_FINDINGS)
        text_number_of(html->to, verdict_faults(verdict, NULL), "finding");
    if (kind == VERDICT_CLEAN)
        add_scope(html, verdict);
    const char *how = html->report->head.verdict; /* "hangs" */
    if (verdict->kind == VERDICT_FINDINGS && html_said(how))
        html_addf(html, "</strong><span class=\"meaning\">This %s %s: ", is_program(html) ? "program" : "kernel", how);
    else
        text_addf(html->to, "</strong><span class=\"meaning\">%s", kinds[kind].text);
    if (verdict->kind == VERDICT_FINDINGS)
        add_families(html, verdict);
    add(html, "</span></p>\n");
}

/* ---- Findings ---------------------------------------------------------------------------------- */

static void add_places(HtmlWriter *writer, const Finding *finding) {
    const char *line = is_program(&writer->html) ? "log line" : writer->html.report->ptx ? "PTX line" : "IR line";
    const TableColumn columns[] = {{"does", IS_WORDS, true},   {"who", IS_WORDS, true},    {"op", IS_CODE, true},
                                   {"detail", IS_WORDS, true}, {"source", IS_WORDS, true}, {line, IS_LINE, true}};
    Table table = table_begin(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < finding->place_count; i++) {
        const FindingPlace *place = &finding->places[i];
        TEXT_CELLS(&table, place->role, place->agent, place->op, place->note);
        Text *source = table_cell(&table, TONE_PLAIN);
        if (html_said(place->file))
            text_addf(source, place->line ? "%s:%u" : "%s", place->file, place->line);
        NUMBER_CELLS(&table, place->ir_line ? (int64_t)place->ir_line : -1);
    }
    writer->label = "Places";
    html_table(writer, &table);
    table_free(&table);
}

static void add_witness(Html *html, const char *witness) {
    enum { MOST = 64 << 10 };
    Str text = str_of(witness ? witness : "");
    if (!text.size)
        return;
    bool cut = text.size > MOST;
    text.size = cut ? MOST : text.size;
    add(html, "<details class=\"fold\"><summary><h4>Witness<span class=\"count\">a trail that weir run --replay "
              "follows</span></h4></summary><pre class=\"trail\">");
    html_text(html->to, text);
    text_addf(html->to, "</pre>%s</details>\n", cut ? "<p class=\"notice\">The rest is omitted.</p>" : "");
}

static void add_finding(ReportWriter *base, size_t index) {
    static const char *const words[] = {"error", "warning", "note"}; /* ORDER Severity */
    static const char *const marks[] = {"\xe2\x9c\x97", "!", "i"};
    HtmlWriter *writer = (HtmlWriter *)base;
    Html *html = &writer->html;
    const Report *report = html->report;
    const Finding *finding = &report->verdict->findings[index];
    const Rule *rule = rule_of(finding->rule);
    Severity severity = finding_severity(finding);
    const char *word = words[severity];
    bool folds = severity == SEVERITY_NOTE; /* there may be many, and none of them is wrong */
    html_end_facts(writer);
    html_addf(html, "<%s class=\"finding %s\" id=\"finding-%zu\">\n", folds ? "details" : "article", word, index);
    add(html, folds ? "<summary><h3>" : "<h3>");
    html_addf(html, "<span class=\"tag tag-%s\">%s %s</span> ", word, marks[severity], word);
    html_words(html, str_of(report_message(report, finding)));
    add(html, folds ? "</h3></summary>" : "</h3>");
    html_addf(html, "<p class=\"rule\"><code>%s</code></p>\n", rule->id);
    bool leads = finding == report->head.finding; /* its lines have the report's names of barriers and buffers */
    html_fact(writer, "why", leads ? report->head.why : finding->why);
    html_fact(writer, "fix", leads ? report->head.fix : finding->fix);
    html_fact(writer, "schedule", finding->schedule);
    if (!report->launch || !finding->launch || strcmp(finding->launch, report->launch) != 0) /* else it stands below */
        html_fact(writer, "launch", finding->launch);
    if (report->witness_files && report->witness_files[index])
        html_fact(writer, "witness", report->witness_files[index]);
    if (finding->times > 1) {
        text_number_of(&base->text, finding->times, "time");
        say(base, "seen", TONE_PLAIN);
    }
    add_places(writer, finding);
    add_witness(html, finding->witness);
    add(html, folds ? "</details>\n" : "</article>\n");
}

/* Beside what it is about: a link to it. */
static void add_about(ReportWriter *base, const Finding *finding) {
    static const char *const words[] = {"error", "warning", "note"}; /* ORDER Severity */
    HtmlWriter *writer = (HtmlWriter *)base;
    const char *word = words[finding_severity(finding)];
    html_start_fact(writer, "found");
    writer->wrong |= finding_severity(finding) == SEVERITY_ERROR;
    html_addf(&writer->html, "<dd><a class=\"tag tag-%s\" href=\"#finding-%zu\">%s</a> ", word,
              (size_t)(finding - writer->html.report->verdict->findings), word);
    html_words(&writer->html, str_of(report_message(writer->html.report, finding)));
    html_addf(&writer->html, " <code>%s</code></dd>", rule_of(finding->rule)->id);
}

/* ---- What it is founded on --------------------------------------------------------------------- */

static void add_launches(HtmlWriter *writer, const Verdict *verdict) {
    static const TableColumn columns[] = {{"launch", IS_WORDS, false},
                                          {"given or chosen", IS_WORDS, false},
                                          {"CTAs", IS_NUMBER, false},
                                          {"schedules", IS_NUMBER, false},
                                          {"events", IS_NUMBER, false}};
    if (!verdict->launch_count)
        return;
    Table table = table_begin(columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < verdict->launch_count; i++) {
        const LaunchRun *launch = &verdict->launches[i];
        TEXT_CELLS(&table, launch->text,
                   launch->chosen    ? "chosen by Weir"
                   : launch->covered ? "given, covered by a proof"
                                     : "given");
        NUMBER_CELLS(&table, (int64_t)launch->ctas, (int64_t)launch->schedules, (int64_t)launch->events);
    }
    html_addf(&writer->html,
              "<details class=\"fold\"><summary><h3>Launches<span class=\"count\">%zu</span></h3></summary>\n",
              verdict->launch_count);
    writer->label = "Launches";
    html_table(writer, &table);
    html_section_end(&writer->html);
    table_free(&table);
}

static void add_basis(HtmlWriter *writer, const Verdict *verdict) {
    static const char *const nouns[] = {"launch", "CTA", "schedule", "event"};
    uint64_t counts[4] = {verdict->launch_count};
    for (size_t i = 0; i < verdict->launch_count; i++) {
        counts[1] += verdict->launches[i].ctas;
        counts[2] += verdict->launches[i].schedules;
        counts[3] += verdict->launches[i].events;
    }
    if (!counts[0])
        return;
    for (size_t i = 0; i < sizeof nouns / sizeof *nouns; i++) {
        text_addf(&writer->writer.text, "%s", i ? ", " : "");
        text_number_of(&writer->writer.text, counts[i], nouns[i]);
    }
    say(&writer->writer, "founded on", TONE_PLAIN);
}

/* The end of what stands above the sections, and the picture. */
static void end_verdict(HtmlWriter *writer) {
    const Report *report = writer->html.report;
    html_fact(writer, "file", report->file);
    html_fact(writer, "launch", report->launch);
    if (!report->verdict->program && report->head.finding) /* else the first lines say it */
        add_basis(writer, report->verdict);
    html_end_facts(writer);
    if (!report->verdict->program)
        add_launches(writer, report->verdict);
    add(&writer->html, "</section>\n");
    ReportHtmlPage *page = (ReportHtmlPage *)writer;
    swimlanes_section(&writer->html, page->trace);
    page->to = writer->html.to;
    writer->html.to = &page->rest;
    swimlanes_section_end(&writer->html);
}

/* ---- The page ---------------------------------------------------------------------------------- */

static void add_title(Html *html, const char *class) {
    html_addf(html, "<section id=\"verdict\" class=\"verdict %s\">\n<p class=\"kind\">%s</p>\n<h1>%s</h1>\n", class,
              is_program(html) ? "Order of operations" : "Barrier report", verdict_name(html->report->verdict));
}

static void add_nothing(HtmlWriter *writer) {
    Html *html = &writer->html;
    add_bar(html, false);
    add_title(html, "nothing");
    html_addf(html,
              "<p class=\"outcome\"><span class=\"mark\" aria-hidden=\"true\">\xe2\x80\x93</span> "
              "<strong>Nothing to report</strong><span class=\"meaning\">%s</span></p>\n",
              html->report->nothing);
    html_fact(writer, "file", html->report->file);
    html_fact(writer, "module", html->report->module);
    html_fact(writer, "target", html->report->target);
    for (size_t i = 0; i < html->report->verdict->incomplete_count; i++)
        html_fact(writer, "not looked at", html->report->verdict->incomplete[i].reason);
    html_end_facts(writer);
    add(html, "</section>\n");
}

/* The lines of the source are written once it is known which lines of the IR the page quotes. */
static void add_code(ReportHtmlPage *page) {
    Html *html = &page->writer.html;
    html->to = page->to;
    html_code_panel(html);
    text_str(html->to, (Str){page->rest.data, page->rest.size});
    html->to->failed |= page->rest.failed;
    text_free(&page->rest);
}

static void add_sections(ReportHtmlPage *page) {
    Html *html = &page->writer.html;
    const Verdict *verdict = html->report->verdict;
    add_bar(html, true);
    add_title(html, is_unrun(html->report) ? "unrun" : verdict_kind_name(verdict->kind));
    add_outcome(html, verdict);
    if (verdict->kind == VERDICT_FINDINGS)
        add_leads(html, page->trace);
    report_sections(html->report, &page->writer.writer);
    if (is_program(html)) { /* it has no sections, before the first of which this is written */
        end_verdict(&page->writer);
    } else {
        html_end_section(&page->writer);
        html_glossary(html);
    }
    swimlanes_data(html, page->trace); /* before the excerpts, which have its lines, too */
    if (html_code_is_there(&html->code))
        html_excerpts(html);
    add_code(page);
}

void render_report_html(const Report *report, const ReportHtml *what, Text *to) {
    ReportHtmlPage page = {.trace = what->trace};
    html_writer_init(&page.writer, report, what, to);
    page.writer.writer.finding = add_finding;
    page.writer.writer.about_it = add_about;
    page.writer.first = end_verdict;
    add_head(&page.writer.html);
    if (html_said(report->nothing))
        add_nothing(&page.writer);
    else
        add_sections(&page);
    add_end(&page.writer.html);
    html_writer_free(&page.writer);
}
