/* `weir report K.ptx`: the kernel is checked, and the run that its verdict is about is made again, once to find the
 * cluster that something is wrong in, and once to draw it. */
#include "check/report/trace/report.h"

#include "check/report/trace/trace_report.h"
#include "check/simt/executions.h"
#include "check/simt/trail.h"

typedef struct TraceReportDrawing {
    ThreadsCheck check; /* first, so that it can be taken for its drawing */
    Verdict *reported;
    Report *report;
    Trace *trace;
    const ReportBlocked *blocked;
    size_t blocked_count;
} TraceReportDrawing;

void trace_report_add_deadlocks(Report *report, Verdict *verdict, const ReportBlocked *blocked, size_t count,
                                const char *over, const char *open) {
    bool ended = !verdict->incomplete_count;
    for (size_t i = 0; i < verdict->finding_count; i++) {
        Finding *finding = &verdict->findings[i];
        if (!str_starts(str_of(rule_of(finding->rule)->id), STR("deadlock.")) || finding->blocked_count)
            continue;
        finding->blocked = blocked;
        finding->blocked_count = count;
        break;
    }
    report_add_deadlocks(report, verdict);
    report->deadlock_verdict = report->deadlock_count ? "found" : ended ? "none" : "unknown";
    report->deadlock_reason = report->deadlock_count ? "" : ended ? over : open;
}

static const char *form_text(const ThreadsCheck *check, const PtxSchedule *schedule, uint32_t cluster) {
    const PtxMachine *machine = check->machine;
    Text text = {0};
    text_addf(&text, "One run of the machine, in this order: ");
    ptx_schedule_describe(schedule, &text);
    text_addf(&text,
              machine->cluster_size > 1 ? ". Partitions, barriers, edges and the picture are those of cluster %u"
                                        : ". Partitions, barriers, edges and the picture are those of CTA %u",
              cluster);
    text_addf(&text, " of %u. It has no clock: a step of the picture is one that synchronizes, whatever it takes.",
              machine->cta_count / machine->cluster_size);
    return verdict_keep(check->verdict, &text);
}

/* The cluster that something is wrong in, in that run; the schedule gets those CTAs alone that say all of it. */
static uint32_t find_cluster(ThreadsCheck *check, ThreadsRun *run) {
    PtxWatch *watch = runs_watch(check, false);
    PtxEnd end = watch ? runs_make(check, run, watch) : PTX_END_COMPLETE;
    return watch ? runs_found_in(check, watch, end) : 0;
}

static void draw_run(TraceReportDrawing *drawing, ThreadsRun *run) {
    ThreadsCheck *check = &drawing->check;
    PtxMachine *machine = check->machine;
    PtxSchedule whole = run->schedule;
    uint32_t cluster = find_cluster(check, run);
    TraceReport *trace_report = trace_report_begin(check, cluster, drawing->reported);
    Text printed = {0};
    machine->observe = trace_report_see;
    machine->observer = trace_report;
    machine->printed = &printed;
    ptx_schedule_run(machine, &whole);
    text_free(&printed);
    drawing->report->launch = drawing->trace->launch = check->launch->text;
    trace_report_finish(trace_report, drawing->report, drawing->trace);
    drawing->report->form_text = form_text(check, &whole, cluster);
    drawing->blocked = trace_report_blocked(trace_report, &drawing->blocked_count);
}

static void draw(ThreadsCheck *check) {
    TraceReportDrawing *drawing = (TraceReportDrawing *)check;
    ThreadsTrail trail;
    PtxLaunch *launch = ARENA_NEW(&check->arena, PtxLaunch);
    const char *problem = "its launch cannot be run";
    if (!runs_prepare(check, &problem) || !runs_shown(check, drawing->reported, &trail, &problem) ||
        !ptx_launch_bind(&check->arena, check->program, &trail.launch, launch, &problem)) {
        drawing->report->nothing = verdict_text(drawing->reported, "There is no run to draw: %s.", problem);
        return;
    }
    if (runs_open(check, launch))
        draw_run(drawing, &(ThreadsRun){trail.schedule, trail.havoc_choice});
    else
        drawing->report->nothing = "There is no run to draw.";
    runs_close(check);
}

void trace_report_report(PtxModule *module, uint32_t entry, const ThreadsOptions *options, Verdict *verdict,
                         Report *report, Trace *trace) {
    Verdict ignored = {.arena = verdict->arena, .kernel = verdict->kernel};
    TraceReportDrawing drawing = {.check = {.module = module, .entry = entry, .options = options, .verdict = &ignored},
                                  .reported = verdict,
                                  .report = report,
                                  .trace = trace};
    *report = report_blank(module->source->name, verdict);
    *trace = (Trace){.file = module->source->name, .kernel = verdict->kernel, .launch = ""};
    report->form = "run";
    report->ptx = true;
    report->coverage_note = "not listed for PTX; unordered accesses are races, and are among the findings";
    threads_check(module, entry, options, verdict);
    runs_with_arena(&drawing.check, draw);
    trace_report_add_deadlocks(report, verdict, drawing.blocked, drawing.blocked_count,
                               "every wait of the runs was over, and every thread ended", "not all of it was run");
}
