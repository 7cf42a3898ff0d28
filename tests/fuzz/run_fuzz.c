/* Any bytes as IR, and every kernel that reads without errors run with small budgets. Whatever it is, running it ends
 * without a fault, with a verdict that can be put into words and into JSON; and of each finding holds: its witness is a
 * trail, and the trail runs again, can be shown step by step and as a picture, and ends as the finding says. The
 * barrier report of it can be made and written in every format, and does not differ from itself. */
#include "check/explain/tile/blocked.h"
#include "check/explain/tile/steps.h"
#include "check/report/build/report.h"
#include "check/report/difference/compare.h"
#include "check/tile/run/timeline.h"
#include "check/tile/run/trail.h"
#include "mlir/reader.h"
#include "render/report/difference.h"
#include "render/report/report.h"
#include "render/report/report_json.h"
#include "said.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LARGEST_INPUT = 64 << 10, MOST_MODULES = 4, MOST_KERNELS = 4, STEPS = 20000, STATES = 500 };
static const size_t reading_budget = (size_t)64 << 20, running_budget = (size_t)512 << 20;

static void give_up(const char *why, const Finding *finding) {
    fprintf(stderr, "%s: %s\n%s\n", rule_of(finding->rule)->id, why, finding->witness);
    abort();
}

/* ---- Witnesses ---------------------------------------------------------------------------------- */

typedef struct Show {
    bool picture;
    Text out;
    Steps steps;
    Timeline *timeline;
} Show;

static void attach(void *context, Machine *machine) {
    Show *show = context;
    if (show->picture) {
        show->timeline = timeline_create(&machine->program->module->arena, machine);
        machine->observe = timeline_observe;
        machine->observer = show->timeline;
    } else {
        steps_start(&show->steps, machine, &show->out);
        machine->observe = steps_observe;
        machine->observer = &show->steps;
    }
}

static bool is_about(const Finding *finding, const char *family) {
    return strncmp(rule_of(finding->rule)->id, family, strlen(family)) == 0;
}

static bool ends_as_said(const Finding *finding, RunEnd end, const Machine *machine) {
    if (is_about(finding, "race.") || is_about(finding, "coverage.") ||
        finding->rule == RULE_BARRIER_OVERWRITTEN) /* it goes on after one */
        return end != RUN_DIVERGED;
    switch (end) {
    case RUN_STUCK:
        return is_about(finding, "deadlock.");
    case RUN_FAULT:
        return machine->fault.rule == finding->rule;
    case RUN_COMPLETE:
        return finding->rule == RULE_BARRIER_BYTES || finding->rule == RULE_BARRIER_OVERRUN;
    default:
        return false;
    }
}

static void check_witness(Module *module, const Op *function, const Finding *finding, bool picture) {
    Source *source = source_copy("witness", finding->witness, strlen(finding->witness));
    Diagnostics diagnostics = {0};
    TrailFile file;
    Verdict verdict = {.arena = &module->arena};
    Show show = {.picture = picture};
    Machine *machine;
    if (!source || !trail_read(&module->arena, source, &file, &diagnostics))
        give_up("its witness is no trail", finding);
    file.rerun.budget = 2 * STEPS;
    RunEnd end = check_rerun(module, function, &file.rerun, attach, &show, &verdict, &machine);
    if (!machine || !ends_as_said(finding, end, machine))
        give_up("its witness does not show it", finding);
    if (picture) {
        Trace trace = {.file = "fuzz", .kernel = machine->program->name, .launch = ""};
        timeline_finish(show.timeline, end, &trace);
        render_trace(&trace, &show.out);
    } else {
        steps_finish(&show.steps, end);
    }
    text_free(&show.out);
    diagnostics_free(&diagnostics);
    source_free(source);
}

/* ---- Kernels ------------------------------------------------------------------------------------ */

static void run(Module *module, const Op *function, ScheduleChoice choice) {
    Verdict verdict = {.arena = &module->arena};
    check_runs(module, function, &(CheckOptions){.choice = choice, .budget = STEPS, .states = STATES}, &verdict);
    verdict_close(&verdict);
    say_verdict(&verdict, module->source);
    for (size_t i = 0; i < verdict.finding_count; i++)
        if (*verdict.findings[i].witness) {
            check_witness(module, function, &verdict.findings[i], false);
            check_witness(module, function, &verdict.findings[i], true);
        }
}

/* ---- Reports ------------------------------------------------------------------------------------ */

static void give_up_report(const char *why, Str text) {
    fprintf(stderr, "the report: %s\n%.*s\n", why, STR_ARG(text));
    abort();
}

/* What is for a terminal moves nothing on it. */
static void check_plain(Str text) {
    for (size_t i = 0; i < text.size; i++)
        if ((unsigned char)text.data[i] < ' ' && text.data[i] != '\n')
            give_up_report("has control characters", text);
}

static void write_report(const Report *report, const Trace *trace, Source *source) {
    Text texts[6] = {{0}};
    render_report_text(report, (ReportTextOptions){.width = 80}, &texts[0]);
    check_plain((Str){texts[0].data, texts[0].size});
    render_report_text(report, (ReportTextOptions){.color = true}, &texts[1]);
    render_report_markdown(report, &texts[2]);
    render_report_dot(report, &texts[3]);
    render_report_html(report, &(ReportHtml){trace, source, NULL}, &texts[4]);
    JsonSeries reports = render_json_begin(&texts[5], "0", "reports", true);
    render_json_report(&reports, report);
    render_json_end(&reports, NULL, NULL);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (!texts[i].size || texts[i].failed)
            give_up_report("one of its formats is empty", (Str){"", 0});
        text_free(&texts[i]);
    }
}

static void compare_with_itself(Module *module, const Report *report) {
    const Difference *difference = difference_find(&module->arena, report, report);
    Text text = {0};
    render_difference_text(difference, false, 80, &text);
    if (difference->row_count)
        give_up_report("differs from itself", (Str){text.data, text.size});
    text_free(&text);
}

static void make_report(Module *module, const Op *function) {
    Verdict verdict = {.arena = &module->arena};
    Trace trace;
    const Report *report =
        report_build(module, function, &(CheckOptions){.budget = STEPS, .states = STATES}, &verdict, &trace);
    verdict_close(&verdict);
    write_report(report, &trace, module->source);
    compare_with_itself(module, report);
    for (size_t i = 0; i < verdict.finding_count; i++)
        if (*verdict.findings[i].witness && is_about(&verdict.findings[i], "coverage."))
            check_witness(module, function, &verdict.findings[i], false);
}

static void run_module(Source *source, const Unit *unit, bool dump) {
    Module module;
    Diagnostics diagnostics = {0};
    jmp_buf exhausted;
    const Op *functions[MOST_KERNELS];
    if (read_unit(&module, source, unit, (ReadOptions){.dump = dump, .budget = reading_budget}, &diagnostics)) {
        /* Text that is written when memory ends is lost; the process has enough of it for that. */
        module.arena.budget = module.arena.held + running_budget;
        module.arena.exhausted = &exhausted;
        if (!setjmp(exhausted)) {
            size_t count = program_kernels(&module, functions, MOST_KERNELS);
            for (size_t i = 0; i < count && i < MOST_KERNELS; i++) {
                run(&module, functions[i], SCHEDULES_DIRECTED);
                run(&module, functions[i], SCHEDULES_ALL);
                make_report(&module, functions[i]);
            }
        }
    }
    diagnostics_free(&diagnostics);
    module_free(&module);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > LARGEST_INPUT)
        return 0;
    Source *source = source_copy("fuzz", (const char *)data, size);
    Units units;
    if (!source || !units_find(source, &units))
        abort();
    for (size_t i = 0; i < units.count && i < MOST_MODULES; i++)
        run_module(source, &units.items[i], units.dump);
    units_free(&units);
    source_free(source);
    return 0;
}
