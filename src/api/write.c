/* Results written out, in every format: one after the other, each as it comes. */
#include "api/internal.h"

#include "api/writer.h"
#include "render/report/difference.h"
#include "render/report/report_json.h"
#include "render/text.h"

#include <stdlib.h>

/* ---- What is wrong -------------------------------------------------------------------------------- */

/* With the input, else with the launch file. */
static const Diagnostics *diagnostics_of(const weir_result *result, const char **file) {
    bool launch = result->module->ok && result->result.source;
    *file = launch ? result->result.source->name : result->module->module.source->name;
    return result->module->ok ? &result->result.diagnostics : &result->module->diagnostics;
}

int weir_result_errors(const weir_result *result, unsigned flags, weir_write *write, void *to) {
    Text out = SINK_TEXT(write, to);
    bool color = flags & WEIR_COLOR;
    const char *file;
    const Diagnostics *diagnostics = diagnostics_of(result, &file);
    if (diagnostics->errors) {
        report_diagnostics(diagnostics, file, color, &out);
    } else if (*result->result.problem) {
        text_add_plain(&out, str_of(result->module->module.source->name));
        text_addf(&out, ": %serror:%s ", color ? "\033[1;31m" : "", color ? "\033[0m" : "");
        text_add_plain(&out, str_of(result->result.problem));
        text_char(&out, '\n');
    }
    return sink_finish(&out);
}

/* The first of the errors stands for all; the others are on standard error. */
static void add_problem(weir_writer *writer, const weir_result *result) {
    const char *file;
    const Diagnostics *diagnostics = diagnostics_of(result, &file);
    Text text = {0};
    size_t first = 0;
    while (first < diagnostics->count && diagnostics->items[first].severity != SEVERITY_ERROR)
        first++;
    if (first < diagnostics->count) {
        const Diagnostic *diagnostic = &diagnostics->items[first];
        text_addf(&text, "%s", file);
        if (diagnostic->place.line)
            text_addf(&text, ":%u:%u", diagnostic->place.line, diagnostic->place.column);
        text_addf(&text, ": %s", diagnostic->message ? diagnostic->message : "");
    } else {
        text_addf(&text, "%s", result->result.problem);
    }
    text_char(&text, 0);
    weir_writer_error(writer, result->module->module.source->name, text.failed ? "" : text.data);
    text_free(&text);
}

/* ---- Beginning and end ---------------------------------------------------------------------------- */

static bool is_page(const weir_writer *writer) {
    return writer->options.format == WEIR_DOT || writer->options.format == WEIR_HTML;
}

static bool is_json(const weir_writer *writer) {
    return writer->options.format == WEIR_JSON;
}

/* NULL: it is none for continuous integration. */
static const CiFormat *ci_format(const weir_writer *writer) {
    static const CiFormat *const formats[] = {[WEIR_SARIF] = &ci_sarif,
                                              [WEIR_GITHUB] = &ci_github,
                                              [WEIR_GITLAB] = &ci_gitlab,
                                              [WEIR_JUNIT] = &ci_junit,
                                              [WEIR_CHECKSTYLE] = &ci_checkstyle};
    return formats[writer->options.format];
}

static CiOptions ci_options(const weir_write_options *options) {
    return (CiOptions){.version = WEIR_VERSION,
                       .root = options->source_root,
                       .shard = options->shard,
                       .shards = options->shards,
                       .inputs = options->inputs,
                       .launches = options->launches,
                       .covered = options->covered};
}

weir_writer *weir_writer_part(const weir_write_options *options) {
    weir_writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return NULL;
    options_take(&writer->options, sizeof writer->options, options);
    if (writer->options.size == OPTIONS_UNKNOWN) {
        free(writer);
        return NULL;
    }
    writer->json = (JsonSeries){.json.to = &writer->out};
    CiOptions ci = ci_options(&writer->options);
    if (ci_format(writer))
        ci_begin_part(&writer->ci, ci_format(writer), &ci, &writer->out);
    return writer;
}

weir_writer *weir_writer_begin(const weir_write_options *options, weir_write *write, void *to) {
    static const struct {
        const char *key;
        bool alone;
    } lists[] = {[WEIR_VERDICTS] = {"inputs", false},
                 [WEIR_REPORTS] = {"reports", true},
                 [WEIR_BARRIERS] = {"functions", true},
                 [WEIR_PORTS] = {"kernels", false},
                 [WEIR_DIFFERENCES] = {NULL, true}};
    weir_writer *writer = weir_writer_part(options);
    if (!writer)
        return NULL;
    Text *out = &writer->out;
    weir_subject subject = writer->options.subject;
    writer->sink = (Sink){write, to};
    if (!is_page(writer))
        *out = (Text){.sink = sink_pass, .to = &writer->sink};
    if (is_json(writer) && lists[subject].key)
        writer->json = render_json_begin(out, WEIR_VERSION, lists[subject].key, lists[subject].alone);
    writer->json.scoped = subject == WEIR_VERDICTS;
    writer->json.shard = (JsonShard){writer->options.shard, writer->options.shards, writer->options.inputs};
    writer->json.launches = (JsonLaunches){writer->options.launches, writer->options.covered};
    CiOptions ci = ci_options(&writer->options);
    writer->failed = ci_format(writer) && subject != WEIR_VERDICTS;
    if (ci_format(writer) && !writer->failed)
        ci_begin(&writer->ci, ci_format(writer), &ci, out);
    return writer;
}

/* Keeps what need not count, of a part. */
static void join_aside(weir_writer *writer, weir_writer *part) {
    if (writer->aside && part)
        weir_writer_join(writer->aside, part);
    else if (part)
        writer->aside = part;
}

void weir_writer_join(weir_writer *writer, weir_writer *part) {
    writer->inputs += part->inputs;
    unseen_join(&writer->unseen, &part->unseen);
    join_aside(writer, part->aside);
    if (is_json(writer))
        render_json_join(&writer->json, &part->json);
    else if (ci_format(writer))
        ci_join(&writer->ci, &part->ci);
    else
        text_add(&writer->out, part->out.data ? part->out.data : "", part->out.size);
    grouped_join(&writer->grouped, &part->grouped);
    writer->failed |= part->failed || part->out.failed;
    text_flush(&writer->out);
    grouped_free(&part->grouped);
    text_free(&part->out);
    free(part);
}

static void drop(weir_writer *part) {
    ci_drop(&part->ci);
    grouped_free(&part->grouped);
    text_free(&part->out);
    unseen_free(&part->unseen);
    free(part);
}

/* What need not count beside others does if there are none. */
static void settle_aside(weir_writer *writer) {
    weir_writer *aside = writer->aside;
    writer->aside = NULL;
    if (aside && writer->inputs)
        drop(aside);
    else if (aside)
        weir_writer_join(writer, aside);
}

void weir_writer_settle(weir_writer *writer) {
    settle_aside(writer);
    writer->grouped.color = writer->options.flags & WEIR_COLOR;
    writer->grouped.most = writer->options.findings;
    grouped_write(&writer->grouped, &writer->out);
    grouped_free(&writer->grouped);
    text_flush(&writer->out);
}

int weir_writer_end(weir_writer *writer) {
    weir_writer_settle(writer);
    unseen_sort(&writer->unseen);
    writer->json.unseen = writer->ci.unseen = &writer->unseen;
    bool barriers = writer->options.subject == WEIR_BARRIERS;
    if (is_json(writer) && barriers)
        render_membar_json_end(&writer->json, &writer->totals);
    else if (writer->json.key)
        render_json_end(&writer->json, NULL, NULL);
    else if (barriers && writer->totals.functions > 1)
        render_membar_totals(&writer->totals, &writer->out);
    else if (ci_format(writer) && !writer->failed)
        ci_end(&writer->ci);
    bool good = !writer->failed && !writer->unseen.failed;
    if (is_page(writer)) {
        good &= writer->count <= 1;
        writer->out.sink = sink_pass;
        writer->out.to = &writer->sink;
        writer->out.size = good ? writer->out.size : 0;
    }
    good &= sink_finish(&writer->out) == 0;
    unseen_free(&writer->unseen);
    free(writer);
    return good ? 0 : -1;
}

int weir_result_write(const weir_result *result, const weir_write_options *options, weir_write *write, void *to) {
    weir_writer *writer = weir_writer_begin(options, write, to);
    if (!writer)
        return -1;
    weir_writer_add(writer, result);
    return weir_writer_end(writer);
}

/* ---- Inputs --------------------------------------------------------------------------------------- */

void weir_writer_error(weir_writer *writer, const char *file, const char *sentence) {
    Incomplete reason = {.reason = sentence, .op = ""};
    Verdict verdict = {.kernel = "", .kind = VERDICT_ERROR, .incomplete = &reason, .incomplete_count = 1};
    if (ci_format(writer) && !writer->failed)
        ci_error(&writer->ci, file, sentence);
    if (!is_json(writer))
        return;
    if (writer->options.subject == WEIR_VERDICTS) {
        render_json_input(&writer->json, file, &verdict, NULL);
    } else if (writer->options.subject == WEIR_REPORTS) {
        Report report = report_blank(file, &verdict);
        render_json_report(&writer->json, &report);
    } else if (writer->options.subject == WEIR_BARRIERS) {
        MembarReport report = membar_report_blank(file, "");
        report.problem = sentence;
        report.verdict = VERDICT_ERROR;
        render_membar_json(&writer->json, &report);
    } else if (writer->options.subject == WEIR_PORTS) {
        PortReport report = {.file = file,
                             .function = "",
                             .target = "",
                             .problem = sentence,
                             .verdict = VERDICT_ERROR,
                             .shared_bytes = -1};
        render_port_json(&writer->json, &report);
    }
}

/* Text about one thing is separated from that about the one before. */
static void part(weir_writer *writer) {
    bool lines = writer->options.format == WEIR_TEXT || writer->options.format == WEIR_MARKDOWN;
    if (writer->count++ && lines)
        text_char(&writer->out, '\n');
}

/* The writer of what need not count; the given one where there is no memory. */
static weir_writer *aside_of(weir_writer *writer) {
    if (!writer->aside)
        writer->aside = weir_writer_part(&writer->options);
    return writer->aside ? writer->aside : writer;
}

static bool is_recording(const PipelineResult *result) {
    return str_ends(str_of(result->module->source->name), STR(".weirrec"));
}

static void add_verdicts(weir_writer *to, const weir_result *result) {
    const PipelineResult *all = &result->result;
    bool aside = all->count == 1 && all->verdicts[0].aside && !(to->options.flags & WEIR_REQUIRE_ALL);
    weir_writer *writer = aside ? aside_of(to) : to;
    const char *const *witnesses = result->witness_files;
    unsigned flags = writer->options.flags;
    for (size_t i = 0; i < all->count; i++) {
        const Verdict *verdict = &all->verdicts[i];
        writer->inputs++;
        to->unseen.recorded |= is_recording(all);
        for (size_t k = 0; k < verdict->unseen_count; k++)
            unseen_add(&to->unseen, &verdict->unseen[k]);
        bool shown = !(flags & WEIR_SKIP_CLEAN) || verdict->kind != VERDICT_CLEAN || verdict_excepts(verdict);
        bool text = !is_json(writer) && !ci_format(writer), part = !writer->sink.write;
        bool grouped = text && part && shown && flags & WEIR_SKIP_CLEAN && is_recording(all);
        size_t begin = writer->out.size;
        if (grouped)
            grouped_begin(&writer->grouped, verdict, all->module->source);
        TextOptions options = {.color = flags & WEIR_COLOR,
                               .launches = flags & WEIR_LAUNCHES,
                               .suppressed = flags & WEIR_SUPPRESSED,
                               .brief = flags & WEIR_SKIP_CLEAN && verdict->kind == VERDICT_CLEAN,
                               .open = flags & WEIR_OPEN,
                               .lines = flags & WEIR_BRIEF,
                               .most = writer->options.findings,
                               .witnesses = witnesses,
                               .root = all->question.root,
                               .witness_hint = "to save a replayable trace, rerun with --witness DIR",
                               .grouped = grouped ? &writer->grouped : NULL};
        CiInput input = {all->module->source->name, all->module->source, verdict, witnesses};
        if (is_json(writer))
            render_json_input(&writer->json, input.file, verdict, witnesses);
        else if (ci_format(writer))
            ci_add(&writer->ci, &input);
        else if (shown)
            render_text(verdict, all->module->source, options, &writer->out);
        if (grouped)
            grouped_end(&writer->grouped, &writer->out, begin);
        if (witnesses)
            witnesses += verdict->finding_count;
    }
}

/* The files that the witnesses of a report's findings are in; NULL: they are in none. */
static const char *const *witness_files(const weir_result *result, const Report *report) {
    const char *const *files = result->witness_files;
    for (const Verdict *verdict = result->result.verdicts; files && verdict != report->verdict; verdict++)
        files += verdict->finding_count;
    return files;
}

static void add_report(weir_writer *writer, const weir_result *all, size_t index) {
    const weir_write_options *options = &writer->options;
    const PipelineResult *result = &all->result;
    Report reported = result->reports[index];
    const Report *report = &reported;
    Text *to = &writer->out;
    reported.witness_files = witness_files(all, report);
    part(writer);
    if (is_page(writer) && writer->count > 1)
        return;
    switch (options->format) {
    case WEIR_TEXT:
        render_report_text(report,
                           (ReportTextOptions){.color = options->flags & WEIR_COLOR,
                                               .summary = options->flags & WEIR_SUMMARY,
                                               .width = options->width,
                                               .sections = options->sections},
                           to);
        break;
    case WEIR_MARKDOWN:
        render_report_markdown(report, to);
        break;
    case WEIR_JSON:
        render_json_report(&writer->json, report);
        break;
    case WEIR_DOT:
        render_report_dot(report, to);
        break;
    case WEIR_HTML:
        render_report_html(report,
                           &(ReportHtml){.trace = &result->traces[index],
                                         .source = result->program ? NULL : result->module->source,
                                         .root = result->question.root},
                           to);
        break;
    default:
        break;
    }
}

static void add_membar(weir_writer *writer, const MembarReport *report, Source *source) {
    if (report->asked && !report->pending_count)
        return;
    if (is_json(writer))
        render_membar_json(&writer->json, report);
    else
        render_membar_text(report, source, writer->options.flags & WEIR_COLOR, &writer->out);
    if (!report->asked)
        membar_total(&writer->totals, report);
}

static void add_membars(weir_writer *writer, const PipelineResult *result) {
    Source *source = result->module->source;
    for (size_t i = 0; i < result->count; i++)
        add_membar(writer, &result->membar_reports[i], source);
    if (result->count || result->kind == VERDICT_ERROR || is_json(writer))
        return;
    text_add_plain(&writer->out, str_of(source->name));
    text_addf(&writer->out, ": there is no function with a body in it\n");
}

static void add_port(weir_writer *writer, const PortReport *report) {
    Style style = {.color = writer->options.flags & WEIR_COLOR, .width = writer->options.width};
    part(writer);
    if (is_json(writer))
        render_port_json(&writer->json, report);
    else
        render_port_text(report, style, &writer->out);
}

static void add_difference(weir_writer *writer, const Difference *difference) {
    const weir_write_options *options = &writer->options;
    part(writer);
    if (options->format == WEIR_JSON)
        render_difference_json(difference, WEIR_VERSION, &writer->out);
    else if (options->format == WEIR_MARKDOWN)
        render_difference_markdown(difference, &writer->out);
    else
        render_difference_text(difference, options->flags & WEIR_COLOR, options->width, &writer->out);
}

void weir_writer_add(weir_writer *writer, const weir_result *result) {
    const PipelineResult *all = &result->result;
    weir_subject subject = writer->options.subject;
    bool page = is_page(writer), markdown = writer->options.format == WEIR_MARKDOWN;
    writer->failed |= ci_format(writer) && subject != WEIR_VERDICTS;
    writer->failed |= subject != WEIR_REPORTS && (page || (markdown && subject != WEIR_DIFFERENCES));
    if (all->kind == VERDICT_ERROR)
        add_problem(writer, result);
    else if (subject == WEIR_VERDICTS && all->verdicts)
        add_verdicts(writer, result);
    else if (subject == WEIR_BARRIERS && all->membar_reports)
        add_membars(writer, all);
    else if (subject == WEIR_DIFFERENCES && all->difference && !page)
        add_difference(writer, all->difference);
    for (size_t i = 0; subject == WEIR_REPORTS && i < all->report_count; i++)
        add_report(writer, result, i);
    for (size_t i = 0; subject == WEIR_PORTS && all->ports && i < all->count; i++)
        add_port(writer, &all->ports[i]);
    if (!page)
        text_flush(&writer->out);
}

/* ---- Beside results ------------------------------------------------------------------------------- */

int weir_emit(weir_result *result, unsigned flags, weir_write *write, void *to) {
    Text out = SINK_TEXT(write, to);
    if (result->result.kind == VERDICT_ERROR)
        return -1;
    bool settled = result_emit(&result->result, flags & WEIR_PRUNE, &out);
    int status = sink_finish(&out);
    return status || settled ? status : 1;
}

int weir_row_steps(weir_result *const *results, size_t count, weir_write *write, void *to) {
    Text out = SINK_TEXT(write, to);
    PipelineResult **all = calloc(count + 1, sizeof *all);
    bool ready = all != NULL;
    for (size_t i = 0; i < count && ready; i++) {
        all[i] = &results[i]->result;
        ready = all[i]->kind != VERDICT_ERROR;
    }
    bool shown = ready && results_show_row(all, count, &out);
    free(all);
    int status = sink_finish(&out);
    return shown ? status : -1;
}

int weir_glossary(unsigned width, weir_write *write, void *to) {
    Text out = SINK_TEXT(write, to);
    render_glossary_text(&out, width);
    return sink_finish(&out);
}
