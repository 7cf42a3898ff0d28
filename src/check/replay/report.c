/* `weir report K.weirrec`: a recording is played twice, once for its verdict, and once to draw the cluster that this is
 * about. */
#include "check/replay/internal.h"

#include "check/report/trace/trace_report.h"

typedef struct ReportDrawing {
    RecordingSeen seen; /* first, so that it can be taken for its drawing */
    const Verdict *reported;
    TraceReport *trace_report;
    Report *report;
    Trace *trace;
    const ReportBlocked *blocked;
    size_t blocked_count;
} ReportDrawing;

static void begin(RecordingSeen *seen, ThreadsCheck *check) {
    ReportDrawing *drawing = (ReportDrawing *)seen;
    drawing->trace_report = trace_report_begin(check, seen->cluster, drawing->reported);
    seen->see = trace_report_see;
    seen->observer = drawing->trace_report;
}

static void end(RecordingSeen *seen, ThreadsCheck *check) {
    ReportDrawing *drawing = (ReportDrawing *)seen;
    drawing->report->launch = check->launch->text;
    trace_report_finish(drawing->trace_report, drawing->report, drawing->trace);
    drawing->blocked = trace_report_blocked(drawing->trace_report, &drawing->blocked_count);
}

/* ---- The report ---------------------------------------------------------------------------------- */

static const char *form_text(Verdict *verdict, const Recording *recording, uint32_t cluster) {
    const RecordingLaunch *launch = &recording->launch;
    Text text = {0};
    const uint32_t *grid = launch->grid, *size = launch->cluster;
    uint64_t ctas = (uint64_t)grid[0] * grid[1] * grid[2], each = (uint64_t)size[0] * size[1] * size[2];
    text_addf(&text, "Launch %llu of its program", (unsigned long long)launch->number + 1);
    if (*recording->device)
        text_addf(&text, " on %s", recording->device);
    if (launch->nanoseconds)
        text_addf(&text, ", %.1f us", (double)launch->nanoseconds / 1000);
    text_addf(&text,
              each > 1 ? ". Partitions, barriers, edges and the picture are those of cluster %u"
                       : ". Partitions, barriers, edges and the picture are those of CTA %u",
              cluster);
    text_addf(&text,
              " of %llu. A recording has no clock: each step of the picture is a synchronization, not a length of "
              "time.",
              (unsigned long long)(each ? ctas / each : ctas));
    return verdict_keep(verdict, &text);
}

static void draw(PtxModule *module, uint32_t entry, const Recording *recording, const ThreadsOptions *options,
                 ReportDrawing *drawing) {
    Verdict ignored = {.arena = drawing->reported->arena, .kernel = drawing->reported->kernel};
    drawing->seen.begin = begin;
    drawing->seen.end = end;
    recording_check_seen(module, entry, recording, options, &ignored, &drawing->seen);
}

void recording_report(PtxModule *module, uint32_t entry, const Recording *recording, const ThreadsOptions *options,
                      Verdict *verdict, Report *report, Trace *trace) {
    ReportDrawing drawing = {.reported = verdict, .report = report, .trace = trace};
    *report = report_blank(module->source->name, verdict);
    *trace = (Trace){.file = module->source->name, .kernel = verdict->kernel, .launch = ""};
    report->form = "recorded";
    report->ptx = true;
    report->coverage_note = "not listed for a recording; unordered accesses are races, and are among the findings";
    if (recording->shadow.size || !recording->ptx.size) {
        recording_check(module, entry, recording, options, verdict);
        report->nothing = recording->ptx.size ? "The kernel checked itself (--mode shadow), and left nothing to draw."
                                              : "The kernel was not recorded.";
        return;
    }
    recording_check_seen(module, entry, recording, options, verdict, &drawing.seen);
    uint32_t cluster = drawing.seen.cluster;
    draw(module, entry, recording, options, &drawing);
    trace->launch = report->launch;
    report->form_text = form_text(verdict, recording, cluster);
    trace_report_add_deadlocks(report, verdict, drawing.blocked, drawing.blocked_count,
                               "every wait of the recording completed, and every thread ended",
                               "the recording is not complete");
}
