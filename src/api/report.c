/* Barrier reports: which module to report on, reports in every format, and the difference of two. */
#include "api/internal.h"

#include "analyze/report/compare.h"
#include "analyze/report/one_buffer.h"
#include "model/effect/effect.h"
#include "model/flow/partition.h"
#include "render/difference.h"
#include "render/report.h"
#include "render/report_json.h"

#include <inttypes.h>
#include <stdlib.h>

static const size_t difference_budget = (size_t)1 << 30;

Report report_blank(const Verdict *verdict) {
    return (Report){.file = "",
                    .kernel = verdict->kernel,
                    .form = "",
                    .form_text = "",
                    .target = "",
                    .module = "",
                    .nothing = "",
                    .verdict = verdict,
                    .launch = "",
                    .deadlock_verdict = "unknown",
                    .deadlock_reason = "",
                    .coverage_note = ""};
}

/* ---- Making ------------------------------------------------------------------------------------ */

weir_barrier_report *weir_barrier_report_make(weir_module *module, const weir_run_options *options) {
    weir_barrier_report *report = calloc(1, sizeof *report);
    if (report)
        report->outcome = outcome_make(module, options, true);
    if (report && report->outcome)
        return report;
    free(report);
    return NULL;
}

void weir_barrier_report_free(weir_barrier_report *report) {
    if (!report)
        return;
    weir_outcome_free(report->outcome);
    free(report);
}

weir_outcome *weir_barrier_report_outcome(weir_barrier_report *report) {
    return report->outcome;
}

size_t weir_barrier_report_count(const weir_barrier_report *report) {
    return report->outcome->report_count;
}

static void add_why(weir_outcome *outcome, void *context) {
    Text text = {0};
    text_addf(&text, "%s%s%s", outcome->reports[0].module, *outcome->reports[0].module ? ", " : "",
              (const char *)context);
    const char *module = arena_copy(&outcome->arena, text.data ? text.data : "", text.size);
    text_free(&text);
    for (size_t i = 0; i < outcome->report_count; i++)
        outcome->reports[i].module = module;
}

void weir_barrier_report_explain(weir_barrier_report *report, const char *why) {
    if (report->outcome->report_count)
        outcome_attempt(report->outcome, add_why, (void *)why);
}

/* ---- One buffer -------------------------------------------------------------------------------- */

typedef struct Keep {
    int64_t id;
    bool kept;
} Keep;

enum { MOST_IDS = 1024 };

static int by_id(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* "; there is 0, 1, 8", or nothing if there is none. */
static void list_ids(const weir_outcome *outcome, Text *to) {
    int64_t ids[MOST_IDS];
    size_t count = 0;
    for (size_t i = 0; i < outcome->report_count; i++)
        for (size_t k = 0; k < outcome->reports[i].buffer_count && count < MOST_IDS; k++)
            if (outcome->reports[i].buffers[k].id >= 0)
                ids[count++] = outcome->reports[i].buffers[k].id;
    qsort(ids, count, sizeof *ids, by_id);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || ids[i] != ids[i - 1])
            text_addf(to, "%s%" PRId64, i ? ", " : "; there is ", ids[i]);
}

static void keep_buffer(weir_outcome *outcome, void *context) {
    Keep *keep = context;
    size_t kept = 0;
    for (size_t i = 0; i < outcome->report_count; i++)
        if (report_keep_buffer(&outcome->arena, &outcome->reports[i], keep->id)) {
            outcome->reports[kept] = outcome->reports[i];
            outcome->traces[kept++] = outcome->traces[i];
        }
    keep->kept = kept > 0;
    if (kept) {
        outcome->report_count = kept;
        return;
    }
    Text ids = {0};
    list_ids(outcome, &ids);
    outcome_fail(outcome, "there is no buffer with buffer.id %" PRId64 "%.*s", keep->id, (int)ids.size,
                 ids.data ? ids.data : "");
    text_free(&ids);
    outcome->kind = VERDICT_ERROR;
    outcome->kernel_count = outcome->report_count = 0;
}

int weir_barrier_report_keep_buffer(weir_barrier_report *report, int64_t id) {
    Keep keep = {.id = id};
    return report->outcome->report_count && outcome_attempt(report->outcome, keep_buffer, &keep) && keep.kept ? 0 : -1;
}

/* ---- Which module ------------------------------------------------------------------------------ */

/* How much there is to report on, least first, and what a module of that kind is chosen for. */
#define MODULE_RANKS(M)                                     \
    M(NOTHING, "none has a kernel")                         \
    M(KERNEL, "the last with a kernel")                     \
    M(BARRIERS, "the latest with barriers")                 \
    M(TASKS, "the latest with partitions or tasks")         \
    M(PLANNED, "the latest with tasks and planned buffers") \
    M(TASK_BARRIERS, "the latest with tasks and barriers")  \
    M(PARTITIONED, "the latest with partitions and barriers")

typedef enum ModuleRank {
#define RANK(id, why) RANK_##id,
    MODULE_RANKS(RANK)
#undef RANK
} ModuleRank;

static bool synchronises(Module *module, const Op *op) {
    Effect effects[EFFECTS_MOST];
    unsigned count = effects_of(module, op, effects);
    for (unsigned i = 0; i < count; i++) {
        EffectVerb verb = effects[i].verb;
        if ((verb >= EFFECT_INIT && verb <= EFFECT_WAIT) || verb == EFFECT_NAMED_ARRIVE || verb == EFFECT_NAMED_SYNC)
            return true;
    }
    return false;
}

static ModuleRank rank_of(weir_module *module) {
    bool regions = false, tasks = false, barriers = false, planned = false;
    if (!weir_kernel_count(module))
        return RANK_NOTHING;
    for (const weir_op *at = weir_first_op(module); at; at = weir_next_op(at)) {
        const Op *op = (const Op *)at;
        PartitionForm form = partitions_of(op).form;
        regions |= form == PARTITION_REGIONS || form == PARTITION_GROUPS;
        tasks |= form == PARTITION_TASKS || form == PARTITION_SCHEDULED;
        planned |= op_attr(op, "buffer.id") != NULL;
        barriers = barriers || synchronises(&module->module, op);
    }
    if (barriers && (regions || tasks))
        return regions ? RANK_PARTITIONED : RANK_TASK_BARRIERS;
    if (tasks && planned)
        return RANK_PLANNED;
    return regions || tasks ? RANK_TASKS : barriers ? RANK_BARRIERS : RANK_KERNEL;
}

size_t weir_barrier_report_module(weir_file *file, const char **why) {
    static const char *const reasons[] = {
#define RANK(id, why) [RANK_##id] = why,
        MODULE_RANKS(RANK)
#undef RANK
    };
    size_t best = file->units.count ? file->units.count - 1 : 0;
    ModuleRank most = RANK_NOTHING;
    for (size_t i = file->units.count; i-- > 0 && most != RANK_PARTITIONED;) {
        weir_module *module = weir_parse(file, i, 0);
        ModuleRank rank = module ? rank_of(module) : RANK_NOTHING;
        weir_module_free(module);
        if (rank > most) {
            most = rank;
            best = i;
        }
    }
    *why = reasons[most];
    return best;
}

/* ---- Writing ----------------------------------------------------------------------------------- */

struct weir_reports {
    Sink sink;
    weir_report_options options;
    Text out; /* a page about one kernel is held back until the end */
    JsonSeries json;
    size_t count;
};

static bool is_page(weir_report_format format) {
    return format == WEIR_REPORT_DOT || format == WEIR_REPORT_HTML;
}

weir_reports *weir_reports_begin(const weir_report_options *options, weir_write *write, void *to) {
    weir_reports *reports = calloc(1, sizeof *reports);
    if (!reports)
        return NULL;
    reports->sink = (Sink){write, to};
    if (options)
        reports->options = *options;
    if (!is_page(reports->options.format))
        reports->out = (Text){.sink = sink_pass, .to = &reports->sink};
    reports->json = render_json_reports_begin(&reports->out, WEIR_VERSION);
    return reports;
}

static void add_report(weir_reports *reports, const weir_outcome *outcome, size_t index) {
    const weir_report_options *options = &reports->options;
    const Report *report = &outcome->reports[index];
    Text *to = &reports->out;
    bool first = reports->count++ == 0;
    if (!first && (options->format == WEIR_REPORT_TEXT || options->format == WEIR_REPORT_MARKDOWN))
        text_char(to, '\n');
    switch (options->format) {
    case WEIR_REPORT_TEXT:
        render_report_text(report, (ReportTextOptions){.colour = options->flags & WEIR_COLOUR, .width = options->width},
                           to);
        break;
    case WEIR_REPORT_MARKDOWN:
        render_report_markdown(report, to);
        break;
    case WEIR_REPORT_JSON:
        render_json_reports_add(&reports->json, report);
        break;
    case WEIR_REPORT_DOT:
        if (first)
            render_report_dot(report, to);
        break;
    case WEIR_REPORT_HTML:
        if (first)
            render_report_html(report, &outcome->traces[index], outcome->module->module.source, to);
        break;
    }
}

void weir_reports_error(weir_reports *reports, const char *file, const char *sentence) {
    Incomplete reason = {sentence, "", 0};
    Verdict verdict = {.kernel = "", .kind = VERDICT_ERROR, .incomplete = &reason, .incomplete_count = 1};
    Report report = report_blank(&verdict);
    report.file = file;
    if (reports->options.format == WEIR_REPORT_JSON)
        render_json_reports_add(&reports->json, &report);
}

void weir_reports_add(weir_reports *reports, const weir_barrier_report *report) {
    const weir_outcome *outcome = report->outcome;
    for (size_t i = 0; i < outcome->report_count; i++)
        add_report(reports, outcome, i);
    if (outcome->kind != VERDICT_ERROR)
        return;
    Text problem = {0};
    outcome_problem(outcome, &problem);
    text_char(&problem, 0);
    weir_reports_error(reports, outcome->module->module.source->name, problem.failed ? "" : problem.data);
    text_free(&problem);
}

int weir_reports_end(weir_reports *reports) {
    bool page = is_page(reports->options.format), good = !page || reports->count <= 1;
    if (reports->options.format == WEIR_REPORT_JSON)
        render_json_reports_end(&reports->json);
    if (page && good && reports->out.size)
        good = !reports->out.failed && sink_pass(&reports->sink, reports->out.data, reports->out.size);
    if (page)
        text_free(&reports->out);
    else
        good = sink_finish(&reports->out) == 0;
    free(reports);
    return good ? 0 : -1;
}

int weir_barrier_report_write(const weir_barrier_report *report, const weir_report_options *options, weir_write *write,
                              void *to) {
    weir_reports *reports = weir_reports_begin(options, write, to);
    if (!reports)
        return -1;
    weir_reports_add(reports, report);
    return weir_reports_end(reports);
}

int weir_glossary(unsigned width, weir_write *write, void *to) {
    Sink sink = {write, to};
    Text out = {.sink = sink_pass, .to = &sink};
    render_glossary_text(&out, width);
    return sink_finish(&out);
}

/* ---- Differences ------------------------------------------------------------------------------- */

struct weir_difference {
    Arena arena;
    const Difference *found;
};

static bool find_difference(weir_difference *difference, const Report *old, const Report *new) {
    jmp_buf exhausted;
    if (setjmp(exhausted)) {
        difference->arena.exhausted = NULL;
        return false;
    }
    difference->arena.exhausted = &exhausted;
    difference->found = difference_find(&difference->arena, old, new);
    difference->arena.exhausted = NULL;
    return true;
}

weir_difference *weir_difference_make(const weir_barrier_report *old_report, size_t old_kernel,
                                      const weir_barrier_report *new_report, size_t new_kernel) {
    const weir_outcome *old = old_report->outcome, *new = new_report->outcome;
    if (old_kernel >= old->report_count || new_kernel >= new->report_count)
        return NULL;
    weir_difference *difference = calloc(1, sizeof *difference);
    if (!difference)
        return NULL;
    arena_init(&difference->arena, difference_budget);
    if (find_difference(difference, &old->reports[old_kernel], &new->reports[new_kernel]))
        return difference;
    weir_difference_free(difference);
    return NULL;
}

void weir_difference_free(weir_difference *difference) {
    if (!difference)
        return;
    arena_free(&difference->arena);
    free(difference);
}

size_t weir_difference_count(const weir_difference *difference) {
    return difference->found->row_count;
}

weir_difference_row weir_difference_at(const weir_difference *difference, size_t index) {
    if (index >= difference->found->row_count)
        return (weir_difference_row){"", "", "", ""};
    const DifferenceRow *row = &difference->found->rows[index];
    return (weir_difference_row){difference_level_name(row->level), row->what, row->old, row->new};
}

int weir_difference_write(const weir_difference *difference, const weir_report_options *options, weir_write *write,
                          void *to) {
    static const weir_report_options usual;
    Sink sink = {write, to};
    Text out = {.sink = sink_pass, .to = &sink};
    options = options ? options : &usual;
    if (is_page(options->format))
        return -1;
    if (options->format == WEIR_REPORT_JSON)
        render_difference_json(difference->found, WEIR_VERSION, &out);
    else if (options->format == WEIR_REPORT_MARKDOWN)
        render_difference_markdown(difference->found, &out);
    else
        render_difference_text(difference->found, options->flags & WEIR_COLOUR, options->width, &out);
    return sink_finish(&out);
}
