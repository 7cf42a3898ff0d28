/* What an outcome says: in numbers, as text, as JSON, and one of its runs step by step. */
#include "api/internal.h"

#include "analyze/run/steps.h"
#include "analyze/run/timeline.h"
#include "render/json.h"
#include "render/text.h"

#include <stdlib.h>

/* ---- Numbers -------------------------------------------------------------------------------------- */

weir_verdict weir_outcome_verdict(const weir_outcome *outcome) {
    return (weir_verdict)outcome->kind; /* ORDER VerdictKind */
}

size_t weir_outcome_kernels(const weir_outcome *outcome) {
    return outcome->kernel_count;
}

size_t weir_outcome_count(const weir_outcome *outcome, weir_verdict verdict) {
    size_t count = 0;
    for (size_t i = 0; i < outcome->kernel_count; i++)
        count += outcome->verdicts[i].kind == (VerdictKind)verdict;
    return count;
}

const char *weir_verdict_name(weir_verdict verdict) {
    return verdict_kind_name((VerdictKind)verdict);
}

int weir_verdict_status(weir_verdict verdict) {
    return verdict_status((VerdictKind)verdict);
}

weir_verdict weir_verdict_worse(weir_verdict a, weir_verdict b) {
    return (weir_verdict)verdict_worse((VerdictKind)a, (VerdictKind)b);
}

size_t weir_finding_count(const weir_outcome *outcome) {
    size_t count = 0;
    for (size_t i = 0; i < outcome->kernel_count; i++)
        count += outcome->verdicts[i].finding_count;
    return count;
}

weir_finding weir_finding_at(const weir_outcome *outcome, size_t index) {
    static const FindingPlace nowhere = {.file = ""};
    for (size_t i = 0; i < outcome->kernel_count; i++) {
        const Verdict *verdict = &outcome->verdicts[i];
        if (index >= verdict->finding_count) {
            index -= verdict->finding_count;
            continue;
        }
        const Finding *finding = &verdict->findings[index];
        const FindingPlace *place = finding->place_count ? &finding->places[0] : &nowhere;
        const Rule *rule = rule_of(finding->rule);
        return (weir_finding){verdict->kernel,  rule->id,        (weir_severity)rule->severity,
                              finding->message, finding->why,    finding->fix,
                              place->file,      place->line,     place->column,
                              place->ir_line,   finding->witness};
    }
    return (weir_finding){"", "", WEIR_NOTE, "", "", "", "", 0, 0, 0, ""};
}

size_t weir_incomplete_count(const weir_outcome *outcome) {
    size_t count = 0;
    for (size_t i = 0; i < outcome->kernel_count; i++)
        count += outcome->verdicts[i].incomplete_count;
    return count;
}

weir_incomplete weir_incomplete_at(const weir_outcome *outcome, size_t index) {
    for (size_t i = 0; i < outcome->kernel_count; i++) {
        const Verdict *verdict = &outcome->verdicts[i];
        if (index < verdict->incomplete_count) {
            const Incomplete *incomplete = &verdict->incomplete[index];
            return (weir_incomplete){verdict->kernel, incomplete->reason, incomplete->op, incomplete->ir_line};
        }
        index -= verdict->incomplete_count;
    }
    return (weir_incomplete){"", "", "", 0};
}

typedef struct Kept {
    size_t index;
    const char *path;
} Kept;

static void keep_path(weir_outcome *outcome, void *context) {
    const Kept *kept = context;
    outcome->witness_files[kept->index] = arena_copy(&outcome->arena, kept->path, strlen(kept->path));
}

void weir_finding_keep_witness(weir_outcome *outcome, size_t index, const char *path) {
    Kept kept = {index, path};
    if (index < weir_finding_count(outcome))
        outcome_attempt(outcome, keep_path, &kept);
}

/* ---- Text ----------------------------------------------------------------------------------------- */

static const char *file_name(const weir_outcome *outcome) {
    return outcome->module->module.source->name;
}

int weir_outcome_errors(const weir_outcome *outcome, unsigned flags, weir_write *write, void *to) {
    Sink sink = {write, to};
    Text out = {.sink = sink_pass, .to = &sink};
    bool colour = flags & WEIR_COLOUR;
    if (!outcome->module->ok) {
        report_diagnostics(&outcome->module->diagnostics, file_name(outcome), colour, &out);
    } else if (outcome->diagnostics.errors) {
        report_diagnostics(&outcome->diagnostics, outcome->source->name, colour, &out);
    } else if (*outcome->problem) {
        report_sentence(file_name(outcome), outcome->problem, colour, &out);
    }
    return sink_finish(&out);
}

int weir_outcome_text(const weir_outcome *outcome, unsigned flags, weir_write *write, void *to) {
    Sink sink = {write, to};
    Text out = {.sink = sink_pass, .to = &sink};
    const char *const *witnesses = outcome->witness_files;
    for (size_t i = 0; i < outcome->kernel_count; i++) {
        TextOptions options = {.colour = flags & WEIR_COLOUR,
                               .launches = flags & WEIR_LAUNCHES,
                               .witnesses = witnesses,
                               .witness_hint = "--witness DIR keeps it, for weir run --replay"};
        if (!(flags & WEIR_SKIP_CLEAN) || outcome->verdicts[i].kind != VERDICT_CLEAN)
            render_text(&outcome->verdicts[i], outcome->module->module.source, options, &out);
        witnesses += outcome->verdicts[i].finding_count;
    }
    return sink_finish(&out);
}

/* ---- JSON ----------------------------------------------------------------------------------------- */

struct weir_json {
    Sink sink;
    Text out;
    JsonReport report;
};

weir_json *weir_json_begin(weir_write *write, void *to) {
    weir_json *json = calloc(1, sizeof *json);
    if (!json)
        return NULL;
    json->sink = (Sink){write, to};
    json->out = (Text){.sink = sink_pass, .to = &json->sink};
    json->report = render_json_begin(&json->out, WEIR_VERSION);
    return json;
}

weir_json *weir_json_part(void) {
    weir_json *json = calloc(1, sizeof *json);
    if (json)
        json->report = (JsonReport){.json.to = &json->out};
    return json;
}

void weir_json_join(weir_json *json, weir_json *part) {
    render_json_join(&json->report, &part->report);
    json->out.failed |= part->out.failed;
    text_free(&part->out);
    free(part);
}

void weir_json_error(weir_json *json, const char *file, const char *sentence) {
    Incomplete reason = {sentence, "", 0};
    Verdict verdict = {.kernel = "", .kind = VERDICT_ERROR, .incomplete = &reason, .incomplete_count = 1};
    render_json_input(&json->report, file, &verdict, NULL);
}

/* The first of the errors stands for all; the others are on standard error. */
void outcome_problem(const weir_outcome *outcome, Text *to) {
    const Diagnostics *diagnostics = !outcome->module->ok ? &outcome->module->diagnostics : &outcome->diagnostics;
    const char *file = !outcome->module->ok || !outcome->source ? file_name(outcome) : outcome->source->name;
    if (!first_error(diagnostics, file, to))
        text_addf(to, "%s", outcome->problem);
}

static void add_error(weir_json *json, const weir_outcome *outcome) {
    Text text = {0};
    outcome_problem(outcome, &text);
    text_char(&text, 0);
    weir_json_error(json, file_name(outcome), text.failed ? "" : text.data);
    text_free(&text);
}

void weir_json_add(weir_json *json, const weir_outcome *outcome) {
    const char *const *witnesses = outcome->witness_files;
    if (outcome->kind == VERDICT_ERROR)
        add_error(json, outcome);
    for (size_t i = 0; i < outcome->kernel_count; i++) {
        render_json_input(&json->report, file_name(outcome), &outcome->verdicts[i], witnesses);
        witnesses += outcome->verdicts[i].finding_count;
    }
}

int weir_json_end(weir_json *json) {
    render_json_end(&json->report);
    int status = sink_finish(&json->out);
    free(json);
    return status;
}

/* ---- One run -------------------------------------------------------------------------------------- */

typedef enum ShowWhat { SHOW_STEPS, SHOW_TRACE, SHOW_STATE } ShowWhat;

typedef struct Show {
    ShowWhat what;
    uint64_t step; /* SHOW_STATE: after which */
    Text *out;
    Rerun rerun;
    TrailFile trail; /* of a witness */
    Steps steps;
    Timeline *timeline;
    Text tables; /* SHOW_STATE */
    Arena *arena;
    bool shown;
} Show;

/* The trail of the first finding that has one; for the race engine's tables, of one that it watches. */
static bool find_witness(weir_outcome *outcome, Show *show, size_t *kernel) {
    for (size_t i = 0; i < outcome->kernel_count; i++)
        for (size_t k = 0; k < outcome->verdicts[i].finding_count; k++) {
            const char *witness = outcome->verdicts[i].findings[k].witness;
            if (trail_read_text(&outcome->arena, witness, &show->trail) &&
                (show->what != SHOW_STATE || schedule_is_immediate(&show->trail.rerun.schedule))) {
                *kernel = i;
                show->rerun = show->trail.rerun;
                return true;
            }
        }
    return false;
}

static bool find_run(weir_outcome *outcome, Show *show, size_t *kernel) {
    static const ScheduleKind kinds[] = {SCHEDULE_EAGER,       SCHEDULE_EAGER,  SCHEDULE_LAZY,
                                         SCHEDULE_ROUND_ROBIN, SCHEDULE_RANDOM, SCHEDULE_EAGER};
    *kernel = 0;
    if (outcome->trail) {
        show->rerun = outcome->trail->rerun;
        return true;
    }
    if (find_witness(outcome, show, kernel))
        return true;
    show->rerun = (Rerun){.launch = outcome_launch(outcome, 0),
                          .out_of_order = outcome->options.out_of_order,
                          .schedule = {.kind = kinds[outcome->options.choice], .seed = outcome->options.seed},
                          .budget = outcome->options.budget}; /* ORDER ScheduleChoice */
    if (show->what == SHOW_STATE)
        show->rerun.schedule.kind = SCHEDULE_EAGER;
    return show->rerun.launch;
}

/* Which run it is. */
static void add_head(Show *show, const Machine *machine) {
    text_addf(show->out, "@");
    text_add_plain(show->out, str_of(machine->program->name));
    text_addf(show->out, ", ");
    launch_describe(show->rerun.launch, show->out);
    text_addf(show->out, ", cluster %llu, schedule: ", (unsigned long long)show->rerun.cluster);
    schedule_describe(machine, &show->rerun.schedule, show->out);
    text_char(show->out, '\n');
}

static void attach(void *context, Machine *machine) {
    Show *show = context;
    if (show->what == SHOW_TRACE) {
        show->timeline = timeline_create(show->arena, machine);
        machine->observe = timeline_observe;
        machine->observer = show->timeline;
    } else if (show->what == SHOW_STEPS) {
        add_head(show, machine);
        steps_start(&show->steps, machine, show->out);
        machine->observe = steps_observe;
        machine->observer = &show->steps;
    }
}

static void draw(weir_outcome *outcome, Show *show, const Machine *machine, RunEnd end) {
    Text launch = {0};
    launch_describe(show->rerun.launch, &launch);
    Trace trace = {.file = file_name(outcome),
                   .kernel = machine->program->name,
                   .launch = arena_copy(&outcome->arena, launch.data ? launch.data : "", launch.size)};
    text_free(&launch);
    timeline_finish(show->timeline, end, &trace);
    render_trace(&trace, show->out);
}

static void show_run(weir_outcome *outcome, void *context) {
    Show *show = context;
    Verdict nobody = {.arena = &outcome->arena};
    size_t kernel;
    Machine *machine;
    show->arena = &outcome->arena;
    bool whole = outcome->trail && outcome->trail->whole;
    if (!outcome->kernel_count || whole || !find_run(outcome, show, &kernel))
        return;
    show->rerun.global = outcome->global && show->what == SHOW_STEPS;
    show->rerun.state = show->what == SHOW_STATE ? &show->tables : NULL;
    show->rerun.state_step = show->step;
    RunEnd end = deadlock_rerun(&outcome->module->module, outcome->kernels[kernel], &show->rerun, attach, show, &nobody,
                                &machine);
    if (!machine)
        return;
    show->shown = true;
    if (show->what == SHOW_TRACE) {
        draw(outcome, show, machine, end);
    } else if (show->what == SHOW_STEPS) {
        steps_finish(&show->steps, end);
    } else if (show->tables.size) {
        add_head(show, machine);
        text_add(show->out, show->tables.data, show->tables.size);
    } else {
        show->shown = false;
    }
}

static int look(weir_outcome *outcome, Show show, weir_write *write, void *to) {
    Sink sink = {write, to};
    Text out = {.sink = sink_pass, .to = &sink};
    show.out = &out;
    show.shown = show.what == SHOW_STEPS && row_show(&outcome, 1, &out);
    bool enough = show.shown || (outcome_attempt(outcome, show_run, &show) && !show.tables.failed);
    text_free(&show.tables);
    int status = sink_finish(&out);
    return enough && show.shown ? status : -1;
}

int weir_steps(weir_outcome *outcome, weir_write *write, void *to) {
    return look(outcome, (Show){.what = SHOW_STEPS}, write, to);
}

int weir_trace(weir_outcome *outcome, weir_write *write, void *to) {
    return look(outcome, (Show){.what = SHOW_TRACE}, write, to);
}

int weir_state(weir_outcome *outcome, uint64_t step, weir_write *write, void *to) {
    return look(outcome, (Show){.what = SHOW_STATE, .step = step}, write, to);
}
