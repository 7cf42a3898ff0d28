/* What a result says, in numbers and items, and one of its runs step by step. */
#include "api/internal.h"

#include "finding/membar.h"

/* ---- Verdicts ------------------------------------------------------------------------------------- */

weir_verdict weir_result_verdict(const weir_result *result) {
    return (weir_verdict)result->result.kind; /* ORDER VerdictKind */
}

weir_scope weir_result_scope(const weir_result *result) {
    const PipelineResult *all = &result->result;
    size_t scopes[COVERS_COUNT] = {0};
    for (size_t i = 0; i < all->count && all->verdicts; i++)
        scopes[all->verdicts[i].scope]++;
    return all->kind == VERDICT_CLEAN ? (weir_scope)verdict_scope_weakest(scopes)
                                      : WEIR_SCOPE_NONE; /* ORDER VerdictScope */
}

const char *weir_scope_name(weir_scope scope) {
    const char *name = verdict_scope_name((VerdictScope)scope);
    return name ? name : "";
}

const char *weir_scope_words(weir_scope scope) {
    return verdict_scope_words((VerdictScope)scope);
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

/* ---- Kernels -------------------------------------------------------------------------------------- */

size_t weir_result_kernels(const weir_result *result) {
    return result->result.count;
}

size_t weir_report_count(const weir_result *result) {
    return result->result.report_count;
}

static weir_kernel run_kernel(const Verdict *verdict) {
    const RunCoverage *run = &verdict->coverage;
    size_t covered = 0, proved = 0;
    for (size_t i = 0; i < verdict->launch_count; i++) {
        covered += verdict->launches[i].covered;
        proved += verdict->launches[i].proved;
    }
    return (weir_kernel){.name = verdict->kernel,
                         .verdict = (weir_verdict)verdict->kind,
                         .scope = (weir_scope)verdict->scope,
                         .coverage = {.barrier_ops = run->barrier_ops,
                                      .barrier_ops_run = run->barrier_ops_run,
                                      .accesses = run->accesses,
                                      .accesses_run = run->accesses_run,
                                      .branches = run->branches,
                                      .branches_taken = run->branches_taken,
                                      .rings = run->rings,
                                      .rings_turned = run->rings_turned,
                                      .launches = verdict->launch_count - covered,
                                      .covered = covered,
                                      .proved = proved},
                         .only_launch = verdict->only_launch,
                         .aside = verdict->aside,
                         .program = verdict->program};
}

weir_kernel weir_kernel_at(const weir_result *result, size_t index) {
    const PipelineResult *all = &result->result;
    if (index >= all->count)
        return (weir_kernel){.name = "", .verdict = WEIR_VERDICT_ERROR};
    if (all->verdicts)
        return run_kernel(&all->verdicts[index]);
    if (all->ports) {
        const PortReport *port = &all->ports[index];
        return (weir_kernel){.name = port->function,
                             .verdict = (weir_verdict)port->verdict,
                             .exact = port->exact,
                             .stage_level = port->staged,
                             .none = port->none,
                             .unknown = port->unknown,
                             .waits = port->wait_count};
    }
    const MembarReport *membar = &all->membar_reports[index];
    return (weir_kernel){.name = membar->function,
                         .verdict = (weir_verdict)membar->verdict,
                         .inserted = membar->inserted,
                         .needed = membar->needed_count,
                         .missing = membar->missing_count,
                         .present = membar->present_count,
                         .needless = membar->needless_count,
                         .answers = membar->pending_count};
}

/* ---- Items ---------------------------------------------------------------------------------------- */

/* What it does not say is "". */
static weir_item whole(weir_item item) {
    const char **const texts[] = {&item.kernel,      &item.name,       &item.text,  &item.why,  &item.fix,
                                  &item.old_text,    &item.new_text,   &item.op,    &item.file, &item.witness,
                                  &item.fingerprint, &item.suppressed, &item.reason};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!*texts[i])
            *texts[i] = "";
    return item;
}

static weir_item finding_item(const Finding *finding) {
    static const FindingPlace nowhere;
    const FindingPlace *place = finding->place_count ? &finding->places[0] : &nowhere;
    const Rule *rule = rule_of(finding->rule);
    return (weir_item){.name = rule->id,
                       .severity = (weir_severity)finding_severity(finding),
                       .text = finding->message,
                       .why = finding->why,
                       .fix = finding->fix,
                       .op = place->op,
                       .file = place->file,
                       .line = place->line,
                       .column = place->column,
                       .ir_line = place->ir_line,
                       .witness = finding->witness,
                       .fingerprint = finding->fingerprint,
                       .suppressed = suppression_kind_name(finding->suppressed),
                       .reason = finding->reason};
}

static weir_item needed_item(const MembarNeeded *needed) {
    return (weir_item){.name = needed->kind,
                       .severity = WEIR_NOTE,
                       .op = needed->at.op,
                       .file = needed->at.file,
                       .line = needed->at.line,
                       .column = needed->at.column,
                       .ir_line = needed->at.ir_line,
                       .after = needed->after,
                       .missing = needed->missing,
                       .automatic = needed->automatic,
                       .conflicts = needed->all_conflicts};
}

static weir_item difference_item(const DifferenceRow *row) {
    return (weir_item){.name = difference_level_name(row->level),
                       .severity = WEIR_NOTE,
                       .text = row->what,
                       .old_text = row->old,
                       .new_text = row->new};
}

static weir_item text_item(const char *text, const char *op, uint32_t ir_line) {
    return (weir_item){.severity = WEIR_NOTE, .text = text, .op = op, .ir_line = ir_line};
}

/* How many items of the kind a kernel has, and that with the index, if there is one. */
static size_t kernel_items(const PipelineResult *result, size_t kernel, weir_item_kind kind, size_t index,
                           weir_item *item) {
    static const Verdict nothing_run;
    static const MembarReport nothing_needed = {.problem = "", .at = {.op = ""}};
    const Verdict *verdict = result->verdicts ? &result->verdicts[kernel] : &nothing_run;
    const MembarReport *membar = result->membar_reports ? &result->membar_reports[kernel] : &nothing_needed;
    const char *problem = result->ports ? result->ports[kernel].problem : membar->problem;
    switch (kind) {
    case WEIR_ITEM_FINDING:
        if (index < verdict->finding_count)
            *item = finding_item(&verdict->findings[index]);
        return verdict->finding_count;
    case WEIR_ITEM_INCOMPLETE:
        if (index < verdict->incomplete_count)
            *item = text_item(verdict->incomplete[index].reason, verdict->incomplete[index].op,
                              verdict->incomplete[index].ir_line);
        else if (index == 0)
            *item = text_item(problem, membar->at.op, membar->at.ir_line);
        return verdict->incomplete_count + (*problem != 0);
    case WEIR_ITEM_NOTE:
        if (index < verdict->note_count)
            *item = text_item(verdict->notes[index], "", 0);
        return verdict->note_count;
    case WEIR_ITEM_LAUNCH:
        if (index < verdict->launch_count)
            *item = text_item(verdict->launches[index].text, "", 0);
        return verdict->launch_count;
    case WEIR_ITEM_UNSEEN:
        if (index < verdict->unseen_count)
            *item = (weir_item){
                .severity = WEIR_NOTE, .text = verdict->unseen[index].name, .times = verdict->unseen[index].launches};
        return verdict->unseen_count;
    case WEIR_ITEM_BARRIER:
        if (index < membar->needed_count)
            *item = needed_item(&membar->needed[index]);
        return membar->needed_count;
    default:
        return 0;
    }
}

size_t weir_item_count(const weir_result *result, weir_item_kind kind) {
    const PipelineResult *all = &result->result;
    weir_item item;
    size_t count = kind == WEIR_ITEM_DIFFERENCE && all->difference ? all->difference->row_count : 0;
    for (size_t i = 0; i < all->count; i++)
        count += kernel_items(all, i, kind, SIZE_MAX, &item);
    return count;
}

weir_item weir_item_at(const weir_result *result, weir_item_kind kind, size_t index) {
    const PipelineResult *all = &result->result;
    if (kind == WEIR_ITEM_DIFFERENCE && all->difference && index < all->difference->row_count)
        return whole(difference_item(&all->difference->rows[index]));
    for (size_t i = 0; i < all->count; i++) {
        weir_item item;
        size_t count = kernel_items(all, i, kind, index, &item);
        if (index < count) {
            item.kernel = weir_kernel_at(result, i).name;
            return whole(item);
        }
        index -= count;
    }
    return whole((weir_item){.severity = WEIR_NOTE});
}

/* ---- Several launches ----------------------------------------------------------------------------- */

typedef struct Joining {
    PipelineResult *all;
    const PipelineResult *more;
} Joining;

static void join_verdicts(void *context) {
    const Joining *joining = context;
    PipelineResult *all = joining->all;
    all->kind = VERDICT_CLEAN;
    for (size_t i = 0; i < all->count; i++) {
        verdict_join(&all->verdicts[i], &joining->more->verdicts[i]);
        all->kind = verdict_worse(all->kind, all->verdicts[i].kind);
    }
}

int weir_result_join(weir_result *result, weir_result *more) {
    Joining joining = {&result->result, &more->result};
    const PipelineResult *all = joining.all;
    if (result->module != more->module || !all->verdicts || !joining.more->verdicts || result->witness_files ||
        all->count != joining.more->count || all->kind == VERDICT_ERROR || joining.more->kind == VERDICT_ERROR)
        return -1;
    weir_result *last = result;
    while (last->joined)
        last = last->joined;
    last->joined = more;
    return result_attempt(&result->result, join_verdicts, &joining) ? 0 : -1;
}

/* ---- Witnesses ------------------------------------------------------------------------------------ */

typedef struct ResultKept {
    weir_result *result;
    size_t finding, count;
    const char *path;
} ResultKept;

static void keep_path(void *context) {
    const ResultKept *kept = context;
    weir_result *result = kept->result;
    Arena *arena = &result->result.arena;
    if (!result->witness_files)
        result->witness_files = ARENA_ARRAY(arena, const char *, kept->count);
    result->witness_files[kept->finding] = arena_copy(arena, kept->path, strlen(kept->path));
}

void weir_keep_witness(weir_result *result, size_t finding, const char *path) {
    ResultKept kept = {result, finding, weir_item_count(result, WEIR_ITEM_FINDING), path};
    if (finding < kept.count)
        result_attempt(&result->result, keep_path, &kept);
}

/* ---- One run -------------------------------------------------------------------------------------- */

static int show(weir_result *result, ShowWhat what, uint64_t step, weir_write *write, void *to) {
    Text out = SINK_TEXT(write, to);
    bool shown = result_show(&result->result, what, step, &out);
    int status = sink_finish(&out);
    return shown ? status : -1;
}

int weir_steps(weir_result *result, weir_write *write, void *to) {
    return show(result, SHOW_STEPS, 0, write, to);
}

int weir_trace(weir_result *result, weir_write *write, void *to) {
    return show(result, SHOW_TRACE, 0, write, to);
}

int weir_memory(weir_result *result, const char *name, weir_write *write, void *to) {
    Text out = SINK_TEXT(write, to);
    bool shown = result_show_memory(&result->result, name, &out);
    int status = sink_finish(&out);
    return shown ? status : -1;
}

int weir_state(weir_result *result, uint64_t step, weir_write *write, void *to) {
    return show(result, SHOW_STATE, step, write, to);
}
