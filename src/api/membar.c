/* Thread barriers: what each function of a module needs and has, written out, put into the IR, and as findings of a
 * check. */
#include "api/internal.h"

#include "analyze/membar/report.h"
#include "render/membar.h"

#include <stdlib.h>

static const size_t membar_budget = (size_t)1 << 30;

struct weir_membar {
    weir_module *module;
    Arena arena;
    VerdictKind kind;
    const char *problem; /* one sentence on what is wrong with what was asked for; "" if nothing is */
    const Op **functions;
    const MembarResult **results;
    MembarReport *reports;
    size_t count; /* of functions that were looked at */
};

/* ---- Making --------------------------------------------------------------------------------------- */

typedef struct Request {
    weir_membar *membar;
    const weir_membar_options *options;
    MembarModel model, other;
    MembarStage stage;
    size_t function; /* the one that is looked at */
} Request;

static bool fail(weir_membar *membar, const char *format, const char *name) {
    Text text = {0};
    text_addf(&text, format, name);
    membar->problem = arena_copy(&membar->arena, text.data ? text.data : "", text.size);
    text_free(&text);
    return false;
}

static bool set_model(weir_membar *membar, const char *name, MembarModel *model) {
    return !name || membar_model_find(name, model) ||
           fail(membar, "there is no model '%s'; there are sync, near and async", name);
}

static bool set_options(Request *request) {
    const weir_membar_options *options = request->options;
    request->model = MEMBAR_ASYNC;
    if (!set_model(request->membar, options->model, &request->model) ||
        !set_model(request->membar, options->compare, &request->other))
        return false;
    if (!options->stage)
        return true;
    request->stage = strcmp(options->stage, "inserted") == 0 ? MEMBAR_STAGE_INSERTED : MEMBAR_STAGE_BEFORE;
    return request->stage == MEMBAR_STAGE_INSERTED || strcmp(options->stage, "before") == 0 ||
           fail(request->membar, "barriers are 'inserted', or it is 'before' that, not '%s'", options->stage);
}

/* Leaves the function of that name only. */
static bool keep_function(weir_membar *membar, const char *name) {
    Str wanted = str_of(name + (name[0] == '@'));
    size_t kept = 0;
    for (size_t i = 0; i < membar->count; i++)
        if (str_equal(op_symbol(membar->functions[i]), wanted))
            membar->functions[kept++] = membar->functions[i];
    if (kept) {
        membar->count = kept;
        return true;
    }
    Text text = {0};
    text_addf(&text, "there is no function '%s'; there is %s", name, membar->count ? "" : "none with a body");
    list_functions(membar->functions, membar->count, &text);
    membar->problem = arena_copy(&membar->arena, text.data ? text.data : "", text.size);
    text_free(&text);
    return false;
}

static void prepare(void *context) {
    Request *request = context;
    weir_membar *membar = request->membar;
    Module *module = &membar->module->module;
    if (!membar->module->ok) {
        fail(membar, "%s", "it has errors");
        return;
    }
    size_t count = membar_functions(module, NULL, 0);
    membar->functions = ARENA_ARRAY(&membar->arena, const Op *, count + 1);
    membar->results = ARENA_ARRAY(&membar->arena, const MembarResult *, count + 1);
    membar->reports = ARENA_ARRAY(&membar->arena, MembarReport, count + 1);
    membar->count = membar_functions(module, membar->functions, count);
    if (set_options(request) && request->options->function)
        keep_function(membar, request->options->function);
}

static void look_at(void *context) {
    Request *request = context;
    weir_membar *membar = request->membar;
    Module *module = &membar->module->module;
    const Op *function = membar->functions[request->function];
    const MembarResult *result = membar_analyze(module, function, request->model);
    MembarQuestion question = {.stage = request->stage, .line = request->options->line};
    if (request->options->compare)
        question.other = membar_analyze(module, function, request->other);
    membar->results[request->function] = result;
    membar->reports[request->function] = membar_report(&membar->arena, module, result, question);
}

static void look_at_all(Request *request) {
    weir_membar *membar = request->membar;
    for (size_t i = 0; i < membar->count; i++) {
        request->function = i;
        MembarReport *report = &membar->reports[i];
        if (!attempt(membar->module, &membar->arena, look_at, request)) {
            *report = membar_report_blank(membar->module->module.source->name, "");
            report->model = membar_model_name(request->model);
            report->problem = "the analysis takes more memory than it may";
            report->verdict = VERDICT_INCOMPLETE;
            membar->results[i] = NULL;
        }
        membar->kind = verdict_worse(membar->kind, report->verdict);
    }
}

weir_membar *weir_membar_make(weir_module *module, const weir_membar_options *options) {
    static const weir_membar_options usual;
    weir_membar *membar = calloc(1, sizeof *membar);
    if (!membar)
        return NULL;
    membar->module = module;
    membar->problem = "";
    arena_init(&membar->arena, membar_budget);
    Request request = {.membar = membar, .options = options ? options : &usual};
    if (!attempt(module, &membar->arena, prepare, &request))
        membar->problem = "there is not enough memory";
    if (*membar->problem) {
        membar->kind = VERDICT_ERROR;
        membar->count = 0;
    }
    look_at_all(&request);
    return membar;
}

void weir_membar_free(weir_membar *membar) {
    if (!membar)
        return;
    arena_free(&membar->arena);
    free(membar);
}

/* ---- Numbers -------------------------------------------------------------------------------------- */

weir_verdict weir_membar_verdict(const weir_membar *membar) {
    return (weir_verdict)membar->kind; /* ORDER VerdictKind */
}

size_t weir_membar_count(const weir_membar *membar) {
    return membar->count;
}

weir_membar_function weir_membar_at(const weir_membar *membar, size_t index) {
    if (index >= membar->count)
        return (weir_membar_function){"", WEIR_VERDICT_ERROR, 0, 0, 0, 0, 0, 0, ""};
    const MembarReport *report = &membar->reports[index];
    return (weir_membar_function){report->function,       (weir_verdict)report->verdict, report->inserted,
                                  report->needed_count,   report->missing_count,         report->present_count,
                                  report->needless_count, report->pending_count,         report->problem};
}

weir_membar_need weir_membar_need_at(const weir_membar *membar, size_t function, size_t index) {
    if (function >= membar->count || index >= membar->reports[function].needed_count)
        return (weir_membar_need){"", "", 0, 0, 0, "", 0, 0, 0};
    const MembarNeeded *needed = &membar->reports[function].needed[index];
    return (weir_membar_need){needed->at.op,   needed->kind,       needed->after,
                              needed->missing, needed->automatic,  needed->at.file,
                              needed->at.line, needed->at.ir_line, needed->all_conflicts};
}

/* ---- Writing -------------------------------------------------------------------------------------- */

int weir_membar_errors(const weir_membar *membar, unsigned flags, weir_write *write, void *to) {
    Sink sink = {write, to};
    Text out = {.sink = sink_pass, .to = &sink};
    const char *file = membar->module->module.source->name;
    if (!membar->module->ok)
        report_diagnostics(&membar->module->diagnostics, file, flags & WEIR_COLOUR, &out);
    else if (*membar->problem)
        report_sentence(file, membar->problem, flags & WEIR_COLOUR, &out);
    return sink_finish(&out);
}

typedef struct Emission {
    const weir_membar *membar;
    const MembarResult **results;
    bool prune;
    Text *out;
} Emission;

static void emit(void *context) {
    const Emission *emission = context;
    size_t count = 0;
    for (size_t i = 0; i < emission->membar->count; i++)
        if (emission->membar->results[i])
            emission->results[count++] = emission->membar->results[i];
    membar_emit(&emission->membar->module->module, emission->results, count, emission->prune, emission->out);
}

int weir_membar_emit(const weir_membar *membar, int prune, weir_write *write, void *to) {
    Sink sink = {write, to};
    Text out = {.sink = sink_pass, .to = &sink};
    Arena arena;
    if (membar->kind == VERDICT_ERROR)
        return -1;
    arena_init(&arena, SIZE_MAX);
    Emission emission = {membar, calloc(membar->count + 1, sizeof(MembarResult *)), prune, &out};
    if (!emission.results || !attempt(membar->module, &arena, emit, &emission))
        out.failed = true;
    free(emission.results);
    arena_free(&arena);
    return sink_finish(&out);
}

/* ---- Any number of modules ------------------------------------------------------------------------ */

struct weir_membars {
    Sink sink;
    unsigned flags;
    bool is_json;
    Text out;
    JsonSeries json;
    MembarTotals totals;
};

weir_membars *weir_membars_begin(int json, unsigned flags, weir_write *write, void *to) {
    weir_membars *membars = calloc(1, sizeof *membars);
    if (!membars)
        return NULL;
    membars->sink = (Sink){write, to};
    membars->flags = flags;
    membars->is_json = json;
    membars->out = (Text){.sink = sink_pass, .to = &membars->sink};
    membars->json = render_membar_json_begin(&membars->out, WEIR_VERSION);
    return membars;
}

static void add_report(weir_membars *membars, const MembarReport *report, Source *source) {
    if (report->asked && !report->pending_count)
        return;
    if (membars->is_json)
        render_membar_json_add(&membars->json, report);
    else
        render_membar_text(report, source, membars->flags & WEIR_COLOUR, &membars->out);
    if (!report->asked)
        membar_total(&membars->totals, report);
}

void weir_membars_add(weir_membars *membars, const weir_membar *membar) {
    Source *source = membar->module->module.source;
    if (membar->kind == VERDICT_ERROR) {
        Text text = {0};
        if (membar->module->ok || !first_error(&membar->module->diagnostics, source->name, &text))
            text_addf(&text, "%s", membar->problem);
        text_char(&text, 0);
        weir_membars_error(membars, source->name, text.failed ? "" : text.data);
        text_free(&text);
    }
    for (size_t i = 0; i < membar->count; i++)
        add_report(membars, &membar->reports[i], source);
    if (!membar->count && membar->kind != VERDICT_ERROR && !membars->is_json) {
        text_add_plain(&membars->out, str_of(source->name));
        text_addf(&membars->out, ": there is no function with a body in it\n");
    }
}

void weir_membars_error(weir_membars *membars, const char *file, const char *sentence) {
    MembarReport report = membar_report_blank(file, "");
    report.problem = sentence;
    report.verdict = VERDICT_ERROR;
    if (membars->is_json)
        render_membar_json_add(&membars->json, &report);
}

int weir_membars_end(weir_membars *membars) {
    if (membars->is_json)
        render_membar_json_end(&membars->json, &membars->totals);
    else if (membars->totals.functions > 1)
        render_membar_totals(&membars->totals, &membars->out);
    int status = sink_finish(&membars->out);
    free(membars);
    return status;
}

/* ---- Checks --------------------------------------------------------------------------------------- */

/* Functions that kernels call are looked at with the first kernel. */
void outcome_membar(weir_outcome *outcome, size_t kernel, bool summary) {
    Module *module = &outcome->module->module;
    Verdict *verdict = &outcome->verdicts[kernel];
    membar_findings(module, outcome->kernels[kernel], summary, verdict);
    if (kernel != 0)
        return;
    size_t count = membar_functions(module, NULL, 0);
    const Op **functions = ARENA_ARRAY(&outcome->arena, const Op *, count + 1);
    const Op **kernels = ARENA_ARRAY(&outcome->arena, const Op *, count + 1);
    membar_functions(module, functions, count);
    size_t launched = program_kernels(module, kernels, count), next = 0;
    for (size_t i = 0; i < count; i++)
        if (next < launched && kernels[next] == functions[i]) /* both in the order of the text */
            next++;
        else
            membar_findings(module, functions[i], summary, verdict);
}
