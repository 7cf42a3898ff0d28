/* What there is to look at: one run of a result, step by step, as a picture, or as what the race engine knows of it;
 * and what a module is made into before it is run. */
#include "check/pipeline/internal.h"

#include "check/explain/tile/steps.h"
#include "check/launches/launches.h"
#include "check/program/check.h"
#include "check/tile/run/timeline.h"
#include "machine/tile/launch/choose.h"
#include "model/flow/print.h"

typedef struct PipelineShow {
    PipelineResult *result;
    ShowWhat what;
    uint64_t step; /* SHOW_STATE: after which */
    Text *out;
    Rerun rerun;
    TrailFile trail; /* of a witness */
    Steps steps;
    Timeline *timeline;
    Text tables; /* SHOW_STATE */
    bool shown;
} PipelineShow;

/* ---- Which run ------------------------------------------------------------------------------------ */

/* The trail of the first finding that has one; for the race engine's tables, of one that it watches. */
static bool find_witness(PipelineShow *show, size_t *kernel) {
    PipelineResult *result = show->result;
    for (size_t i = 0; i < result->count; i++)
        for (size_t k = 0; k < result->verdicts[i].finding_count; k++) {
            const char *witness = result->verdicts[i].findings[k].witness;
            if (trail_read_text(&result->arena, witness, &show->trail) &&
                (show->what != SHOW_STATE || schedule_is_immediate(&show->trail.rerun.schedule))) {
                *kernel = i;
                show->rerun = show->trail.rerun;
                return true;
            }
        }
    return false;
}

/* The launch to look at, where none goes wrong: the one that was given, or one of those that are chosen. */
static const Launch *find_launch(PipelineResult *result) {
    const Launch *given = result_given_launch(result, 0);
    size_t count = 0;
    const Launch *chosen = given ? NULL : result_choose(result, 0, &count);
    return count ? &chosen[(usual_launches(chosen, count) - 1) / 2] : given; /* neither the shortest nor the longest */
}

static bool find_run(PipelineShow *show, size_t *kernel) {
    const CheckOptions *options = &show->result->question.runs;
    *kernel = 0;
    if (show->result->trail) {
        show->rerun = show->result->trail->rerun;
        return true;
    }
    if (find_witness(show, kernel))
        return true;
    show->rerun = (Rerun){.launch = find_launch(show->result),
                          .out_of_order = options->out_of_order,
                          .schedule = {.kind = schedule_chosen(options->choice), .seed = options->seed},
                          .budget = options->budget};
    if (show->what == SHOW_STATE)
        show->rerun.schedule.kind = SCHEDULE_EAGER;
    return show->rerun.launch;
}

/* ---- Showing it ----------------------------------------------------------------------------------- */

/* Which run it is. */
static void add_head(PipelineShow *show, const Machine *machine) {
    text_addf(show->out, "@");
    text_add_plain(show->out, str_of(machine->program->name));
    text_addf(show->out, ", ");
    launch_describe(show->rerun.launch, show->out);
    text_addf(show->out, ", cluster %llu, schedule: ", (unsigned long long)show->rerun.cluster);
    schedule_describe(machine, &show->rerun.schedule, show->out);
    text_char(show->out, '\n');
}

static void attach(void *context, Machine *machine) {
    PipelineShow *show = context;
    if (show->what == SHOW_TRACE) {
        show->timeline = timeline_create(&show->result->arena, machine);
        machine->observe = timeline_observe;
        machine->observer = show->timeline;
    } else if (show->what == SHOW_STEPS) {
        add_head(show, machine);
        steps_start(&show->steps, machine, show->out);
        machine->observe = steps_observe;
        machine->observer = &show->steps;
    }
}

static void draw(PipelineShow *show, const Machine *machine, RunEnd end) {
    PipelineResult *result = show->result;
    Trace trace = {.file = result->module->source->name,
                   .kernel = machine->program->name,
                   .launch = launch_text(show->rerun.launch, &result->arena)};
    timeline_finish(show->timeline, end, &trace);
    render_trace(&trace, show->out);
}

static void show_run(void *context) {
    PipelineShow *show = context;
    PipelineResult *result = show->result;
    Verdict ignored = {.arena = &result->arena};
    size_t kernel;
    Machine *machine;
    bool whole = result->trail && result->trail->whole;
    if (!result->count || whole || !find_run(show, &kernel))
        return;
    show->rerun.global = result->question.shows_global && show->what == SHOW_STEPS;
    show->rerun.state = show->what == SHOW_STATE ? &show->tables : NULL;
    show->rerun.state_step = show->step;
    RunEnd end = check_rerun(result->module, result->functions[kernel], &show->rerun, attach, show, &ignored, &machine);
    show->shown = machine != NULL && (show->what != SHOW_STATE || show->tables.size);
    if (!show->shown)
        return;
    if (show->what == SHOW_TRACE) {
        draw(show, machine, end);
    } else if (show->what == SHOW_STEPS) {
        steps_finish(&show->steps, end);
    } else {
        add_head(show, machine);
        text_add(show->out, show->tables.data, show->tables.size);
    }
}

/* ---- Programs ------------------------------------------------------------------------------------- */

static void show_program(void *context) {
    PipelineShow *show = context;
    Verdict ignored = {.arena = &show->result->arena, .kernel = "program"};
    Trace trace;
    program_check(show->result->program, &(ProgramRecordings){0}, &ignored, &trace, &show->result->diagnostics);
    render_trace(&trace, show->out);
}

/* ---- PTX ------------------------------------------------------------------------------------------ */

/* The kernel whose run it is: the first that something was found of. */
static bool show_threads(PipelineResult *result, const ThreadsShow *show) {
    size_t kernel = 0;
    const char *problem;
    while (kernel + 1 < result->count && !result->verdicts[kernel].finding_count)
        kernel++;
    if (!result->count)
        return false;
    ThreadsOptions options = result_threads(result, kernel);
    return threads_show(result->ptx, result->entries[kernel], &options, &result->verdicts[kernel], show, &result->arena,
                        &problem);
}

bool result_show_memory(PipelineResult *result, const char *name, Text *to) {
    return result->ptx && show_threads(result, &(ThreadsShow){.memory = name, .to = to});
}

bool result_show(PipelineResult *result, ShowWhat what, uint64_t step, Text *to) {
    PipelineShow show = {.result = result, .what = what, .step = step, .out = to};
    if (result->program && launches_in(result->program))
        return false;
    if (result->program)
        return what == SHOW_TRACE && result_attempt(result, show_program, &show);
    if (result->ptx)
        return what != SHOW_STATE && show_threads(result, &(ThreadsShow){.steps = what == SHOW_STEPS,
                                                                         .global = result->question.shows_global,
                                                                         .trace = what == SHOW_TRACE,
                                                                         .to = to});
    if (what == SHOW_STEPS && results_show_row(&result, 1, to))
        return true;
    bool enough = result_attempt(result, show_run, &show) && !show.tables.failed;
    text_free(&show.tables);
    return enough && show.shown;
}

/* ---- Stages --------------------------------------------------------------------------------------- */

typedef struct ShowPrinting {
    PipelineResult *result;
    Stage stage;
    Text *to;
} ShowPrinting;

static void print_program(const ShowPrinting *printing, const Op *function) {
    Verdict verdict = {.arena = &printing->result->arena};
    const Program *program = program_compile(printing->result->module, function, 0, &verdict);
    if (program && printing->stage == STAGE_SLICE)
        program_print_slice(program, printing->to);
    else if (program)
        program_print(program, printing->to);
    for (size_t i = 0; i < verdict.incomplete_count; i++)
        text_addf(printing->to, "  line %u: %s\n", verdict.incomplete[i].ir_line, verdict.incomplete[i].reason);
}

static void print_stage(void *context) {
    const ShowPrinting *printing = context;
    Module *module = printing->result->module;
    bool flow = printing->stage == STAGE_FLOW;
    size_t count = flow ? membar_functions(module, NULL, 0) : program_kernels(module, NULL, 0);
    const Op **functions = ARENA_ARRAY(&printing->result->arena, const Op *, count + 1);
    if (printing->stage == STAGE_EFFECTS) {
        effects_print(module, printing->to);
        return;
    }
    count = flow ? membar_functions(module, functions, count) : program_kernels(module, functions, count);
    for (size_t i = 0; i < count; i++) {
        text_char(printing->to, '@');
        text_add_plain(printing->to, op_symbol(functions[i]));
        text_char(printing->to, '\n');
        if (flow)
            flow_print(module, functions[i], &printing->result->arena, printing->to);
        else
            print_program(printing, functions[i]);
    }
}

bool stage_print(Module *module, Stage stage, Text *to) {
    PipelineResult result;
    result_init(&result, module);
    bool enough = result_attempt(&result, print_stage, &(ShowPrinting){&result, stage, to});
    result_free(&result);
    return enough;
}
