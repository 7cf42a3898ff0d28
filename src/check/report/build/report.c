/* Puts the barrier report together: one check of the kernel that the observers of the report look on at, then section
 * after section. */
#include "check/report/build/report.h"

#include "check/report/build/beyond.h"
#include "check/report/build/coverage.h"
#include "check/report/build/internal.h"
#include "check/tile/run/timeline.h"
#include "check/tile/run/trail.h"
#include "model/target/target.h"

/* ---- Looking on ----------------------------------------------------------------------------------- */

typedef struct Onlooker {
    Arena *arena; /* the module's */
    Machine *machine;
    Watch *watch;
    Coverage *coverage;
} Onlooker;

static void start(void *context, Machine *machine, const Rerun *rerun) {
    Onlooker *onlooker = context;
    if (!onlooker->machine) {
        onlooker->machine = machine;
        onlooker->watch = watch_create(onlooker->arena, machine);
        onlooker->coverage = coverage_create(onlooker->arena, machine, onlooker->watch);
    }
    watch_start(onlooker->watch, rerun);
    coverage_start(onlooker->coverage, rerun);
}

static void observe(void *context, const Event *event) {
    Onlooker *onlooker = context;
    watch_observe(onlooker->watch, event);
    coverage_observe(onlooker->coverage, event);
}

static void end(void *context, Machine *machine, RunEnd end) {
    Onlooker *onlooker = context;
    (void)machine;
    watch_end(onlooker->watch, end);
}

/* ---- What kind of IR it is ------------------------------------------------------------------------ */

/* Whether there are barriers in the IR, and not only those that it will need. */
static bool has_barriers(const Builder *builder) {
    for (size_t i = 0; i < builder->barrier_count; i++)
        if (strcmp(builder->barriers[i].kind, "planned") != 0)
            return true;
    return false;
}

static bool has_kind(const Builder *builder, const char *kind) {
    for (size_t i = 0; i < builder->barrier_count; i++)
        if (strcmp(builder->barriers[i].kind, kind) == 0)
            return true;
    return false;
}

static bool has_buffer_ids(const Builder *builder) {
    for (uint32_t i = 0; i < builder->allocations.count; i++)
        if (op_attr(builder->allocations.items[i].op, "buffer.id"))
            return true;
    return false;
}

static void set_form(Report *report, const char *form, const char *text) {
    report->form = form;
    report->form_text = text;
}

static void name_form(Builder *builder) {
    Report *report = builder->report;
    bool separated = builder->form == PARTITION_REGIONS || builder->form == PARTITION_GROUPS;
    bool marked = builder->form == PARTITION_TASKS || builder->form == PARTITION_SCHEDULED;
    if (has_kind(builder, "aref"))
        set_form(report, "aref",
                 "Data passes through arefs, each a ring of buffers with two rings of barriers that a later pass "
                 "creates.");
    else if (has_kind(builder, "token"))
        set_form(report, "tokens",
                 "Partitions synchronize through tokens, each of which becomes two rings of barriers, full and empty.");
    else if (separated)
        set_form(report, "lowered", "Partitions are regions, ordered by hardware barriers.");
    else if (marked && builder->barrier_count)
        set_form(report, "lowered", "Barriers are in; the partition of an op is still an attribute.");
    else if (marked && has_buffer_ids(builder))
        set_form(report, "planned",
                 "Ops have tasks and buffers have offsets; there are no barriers yet: the report says which will be "
                 "needed.");
    else if (marked)
        set_form(report, builder->form == PARTITION_TASKS ? "tasks" : "scheduled",
                 "Ops name the partitions that will run them; there are no barriers yet: the report says which will "
                 "be needed.");
    else
        set_form(report, "plain", "The kernel is not split into partitions.");
    if (!separated && !marked && !builder->barrier_count)
        report->nothing = "The kernel has neither partitions nor barriers: there is nothing to report.";
}

/* ---- Deadlocks ------------------------------------------------------------------------------------ */

static bool is_deadlock(const Finding *finding) {
    return strncmp(rule_of(finding->rule)->id, "deadlock.", 9) == 0;
}

static void judge(Report *report, const char *verdict, const char *reason) {
    report->deadlock_verdict = verdict;
    report->deadlock_reason = reason;
}

static void judge_deadlocks(Builder *builder, uint64_t runs) {
    Report *report = builder->report;
    report_add_deadlocks(report, builder->verdict);
    if (report->deadlock_count)
        judge(report, "found", report->deadlocks[0].message);
    else if (!has_barriers(builder))
        judge(report, "none", "There are no barriers to hang on yet.");
    else if (!runs)
        judge(report, "unknown", "The kernel was not run, so nothing is known of its phases.");
    else if (builder->verdict->incomplete_count)
        judge(report, "unknown",
              verdict_text(builder->verdict,
                           "No agent was seen to wait forever, but not everything could be checked: %s.",
                           builder->verdict->incomplete[0].reason));
    else
        judge(report, "none",
              verdict_text(builder->verdict,
                           "In %llu run%s every wait found the phase of its parity complete and every agent "
                           "finished. Where a barrier could complete its next phase before a wait had seen the "
                           "current one, schedules that delay the waiter were tried.",
                           (unsigned long long)runs, plural((int64_t)runs)));
}

/* ---- Coverage's witnesses ------------------------------------------------------------------------- */

static void add_witness(Builder *builder, const MissingEdge *missing) {
    Verdict ignored = {.arena = builder->verdict->arena};
    Trail trail = {.arena = &builder->module->arena};
    Rerun again = missing->rerun;
    Machine *machine;
    again.schedule.record = &trail;
    (void)check_rerun(builder->module, builder->function, &again, NULL, NULL, &ignored, &machine);
    if (!machine)
        return;
    Text text = {0};
    trail_write(machine, &missing->rerun, &trail, &text);
    builder->verdict->findings[missing->finding].witness = verdict_keep(builder->verdict, &text);
}

static void cover(Builder *builder, Coverage *coverage) {
    size_t count;
    const MissingEdge *missing = coverage_report(coverage, builder, &count);
    if (builder->hung)
        builder->report->coverage_note =
            verdict_text(builder->verdict, "%s%sThe run hangs: what would be overwritten after that is in no table.",
                         builder->report->coverage_note, *builder->report->coverage_note ? " " : "");
    for (size_t i = 0; i < count; i++)
        add_witness(builder, &missing[i]);
}

/* ---- The picture ---------------------------------------------------------------------------------- */

static const uint64_t picture_budget = 200 * 1000;

typedef struct ReportPicture {
    Arena *arena;
    const Verdict *verdict;
    Timeline *timeline;
} ReportPicture;

/* The accesses that findings are about; what is wrong with a wait is drawn anyway. */
static void mark(const ReportPicture *picture) {
    for (size_t i = 0; i < picture->verdict->finding_count; i++) {
        const Finding *finding = &picture->verdict->findings[i];
        for (size_t k = 0; k < finding->place_count && !is_deadlock(finding); k++)
            timeline_mark(picture->timeline, finding->places[k].ir_line);
    }
}

static void attach(void *context, Machine *machine) {
    ReportPicture *picture = context;
    picture->timeline = timeline_create(picture->arena, machine);
    machine->observe = timeline_observe;
    machine->observer = picture->timeline;
    mark(picture);
}

/* The run that shows the first finding; without one, the run that the report is about, all agents in turn. */
static void draw(Builder *builder, Trace *trace) {
    Verdict ignored = {.arena = builder->verdict->arena};
    ReportPicture picture = {.arena = &builder->module->arena, .verdict = builder->verdict};
    Rerun rerun = builder->sights->rerun;
    TrailFile witness;
    Machine *machine;
    rerun.launch = &builder->sights->launch;
    rerun.schedule = (Schedule){.kind = SCHEDULE_ROUND_ROBIN};
    rerun.budget = picture_budget;
    for (size_t i = 0; i < builder->verdict->finding_count; i++)
        if (trail_read_text(&builder->module->arena, builder->verdict->findings[i].witness, &witness)) {
            rerun = witness.rerun;
            break;
        }
    RunEnd end = check_rerun(builder->module, builder->function, &rerun, attach, &picture, &ignored, &machine);
    if (!machine)
        return;
    *trace = (Trace){.file = builder->report->file,
                     .kernel = builder->report->kernel,
                     .launch = launch_text(rerun.launch, builder->arena)};
    timeline_finish(picture.timeline, end, trace);
}

/* ---- All of it ------------------------------------------------------------------------------------ */

/* Where the run hangs, what it was meant to do is seen in one that goes on past the waits that block. */
static void look_beyond(Builder *builder) {
    Beyond beyond = beyond_run(builder->module, builder->function, builder->sights, builder->verdict);
    if (!beyond.sights)
        return;
    builder->hung = builder->sights;
    builder->sights = beyond.sights;
    builder->machine = beyond.machine;
    builder->report->hung = true;
}

static void finish(Builder *builder) {
    Report *report = builder->report;
    report->barriers = builder->barriers;
    report->barrier_count = builder->barrier_count;
    report->buffers = builder->buffers;
    report->buffer_count = builder->buffer_count;
    report->edges = builder->edges;
    report->edge_count = builder->edge_count;
}

static Builder *begin(Module *module, const Op *function, Verdict *verdict) {
    Builder *builder = ARENA_NEW(verdict->arena, Builder);
    *builder = (Builder){.module = module,
                         .function = function,
                         .verdict = verdict,
                         .arena = verdict->arena,
                         .names = names_of(module, function),
                         .allocations = allocations_of(module, function),
                         .report = ARENA_NEW(verdict->arena, Report)};
    *builder->report = report_blank(module->source->name, verdict);
    return builder;
}

/* Whether ops name their partitions, and nothing parts or orders them yet. */
static bool is_only_planned(const Builder *builder) {
    bool marked = builder->form == PARTITION_TASKS || builder->form == PARTITION_SCHEDULED;
    return marked && !builder->barrier_count;
}

void report_check_plan(Module *module, const Op *function, Verdict *verdict) {
    PartitionForm form = report_form(function);
    if (form != PARTITION_TASKS && form != PARTITION_SCHEDULED)
        return;
    Builder *builder = begin(module, function, verdict);
    report_partitions(builder);
    report_barriers(builder);
    if (is_only_planned(builder))
        report_plan(builder);
}

const Report *report_build(Module *module, const Op *function, const CheckOptions *options, Verdict *verdict,
                           Trace *trace) {
    Onlooker onlooker = {.arena = &module->arena};
    const Spectator spectator = {&onlooker, start, observe, end};
    CheckOptions watched = *options;
    watched.spectator = &spectator;
    *trace = (Trace){.file = "", .kernel = "", .launch = ""};
    check_runs(module, function, &watched, verdict);
    Builder *builder = begin(module, function, verdict);
    Report *report = builder->report;
    builder->machine = onlooker.machine;
    builder->sights = watch_kept(onlooker.watch);
    if (builder->sights && builder->sights->end == RUN_STUCK)
        look_beyond(builder);
    report->target = verdict_text(verdict, "%.*s", STR_ARG(target_text(function)));
    report->launch = builder->sights ? launch_text(&builder->sights->launch, verdict->arena) : "";
    report->cluster = onlooker.machine ? onlooker.machine->program->ctas : 0;
    report_partitions(builder);
    report_barriers(builder);
    name_form(builder);
    if (is_only_planned(builder)) {
        report_plan(builder);
    } else {
        report_buffers(builder, onlooker.coverage);
        report_edges(builder);
    }
    report_token_chains(builder);
    report_aliases(builder);
    report_candidates(builder);
    if (onlooker.coverage && has_barriers(builder))
        cover(builder, onlooker.coverage);
    else if (has_barriers(builder))
        report->coverage_note = "The kernel was not run, so it is not known what is overwritten when.";
    judge_deadlocks(builder, watch_runs(onlooker.watch));
    finish(builder);
    if (builder->sights && !*report->nothing)
        draw(builder, trace);
    return report;
}
