/* A run while it is watched, and what is made of it at its end. */
#include "check/report/trace/internal.h"

/* ---- Beginning ----------------------------------------------------------------------------------- */

/* Code that a finding names. */
static bool *find_found(const ThreadsCheck *check, const Verdict *reported) {
    const PtxProgram *program = check->program;
    bool *found = ARENA_ARRAY((Arena *)&check->arena, bool, program->code_count + 1);
    for (uint32_t at = 0; at < program->code_count; at++) {
        uint32_t line = code_line(program, &program->code[at]);
        for (size_t i = 0; i < reported->finding_count && !found[at]; i++)
            for (size_t k = 0; k < reported->findings[i].place_count; k++)
                found[at] |= reported->findings[i].places[k].ir_line == line;
    }
    return found;
}

TraceReport *trace_report_begin(ThreadsCheck *check, uint32_t cluster, const Verdict *reported) {
    const PtxMachine *machine = check->machine;
    TraceReport *trace_report = ARENA_NEW(&check->arena, TraceReport);
    uint32_t codes = check->program->code_count + 1, size = machine->cluster_size;
    *trace_report = (TraceReport){.check = check,
                                  .reported = reported,
                                  .arena = &check->arena,
                                  .cluster = cluster,
                                  .warps = (machine->threads_per_cta + PTX_LANES - 1) / PTX_LANES};
    trace_report->actor_count = size * trace_report->warps;
    trace_report->actors = ARENA_ARRAY(&check->arena, Actor, trace_report->actor_count + 1);
    for (uint32_t i = 0; i < trace_report->actor_count; i++)
        trace_report->actors[i] = (Actor){.rank = i / trace_report->warps,
                                          .warp = i % trace_report->warps,
                                          .times = ARENA_ARRAY(&check->arena, uint32_t, codes)};
    trace_report->does = ARENA_ARRAY(&check->arena, uint8_t, codes);
    trace_report->mechanism = ARENA_ARRAY(&check->arena, uint8_t, codes);
    memset(trace_report->mechanism, MECHANISM_ARRIVE, codes);
    trace_report->found = find_found(check, reported);
    uint64_t shared = check->program->dynamic_at + check->launch->dynamic_bytes;
    trace_report->granule_count = (uint32_t)(shared / GRANULE + 1);
    trace_report->granules = ARENA_ARRAY(&check->arena, Granule *, size);
    for (uint32_t i = 0; i < size; i++)
        trace_report->granules[i] = ARENA_ARRAY(&check->arena, Granule, trace_report->granule_count);
    trace_report->touched = ARENA_ARRAY(&check->arena, Touched, trace_report->granule_count);
    trace_report->knows =
        ARENA_ARRAY(&check->arena, Knows, (size_t)trace_report->actor_count * trace_report->actor_count);
    return trace_report;
}

/* ---- Events -------------------------------------------------------------------------------------- */

/* Whether an event is the one of several that stands for its instruction. */
static bool is_first(const PtxEvent *event) {
    switch (event->kind) {
    case PTX_EVENT_ACCESS:
    case PTX_EVENT_ARRIVE:
    case PTX_EVENT_COMPLETE:
        return !event->outstanding;
    case PTX_EVENT_NAMED_COMPLETE:
    case PTX_EVENT_NAMED_SYNC:
    case PTX_EVENT_CLUSTER_COMPLETE:
    case PTX_EVENT_FLIP:
    case PTX_EVENT_LAND:
    case PTX_EVENT_CTA_OVER:
        return false;
    default:
        return true;
    }
}

static uint8_t done_by(const PtxEvent *event) {
    switch (event->kind) {
    case PTX_EVENT_ACCESS:
    case PTX_EVENT_WARP_SYNC:
    case PTX_EVENT_LAND:
    case PTX_EVENT_EXIT:
    case PTX_EVENT_UNKNOWN:
        return 0;
    case PTX_EVENT_ISSUE:
        return DOES_SYNCHRONIZE | DOES_FLY |
               (event->outstanding && event->outstanding->group == GROUP_WGMMA ? DOES_MULTIPLY : 0);
    default:
        return DOES_SYNCHRONIZE;
    }
}

static void note_code(TraceReport *trace_report, const PtxEvent *event) {
    uint32_t code = code_number(trace_report, event->code);
    Actor *actor = &trace_report->actors[trace_report_actor(trace_report, event->warp)];
    trace_report->does[code] |= done_by(event);
    actor->times[code] += is_first(event);
    if (event->kind == PTX_EVENT_TRACK)
        trace_report->mechanism[code] = MECHANISM_CP_ASYNC;
    if (event->kind == PTX_EVENT_COMMIT_TO)
        trace_report->mechanism[code] = MECHANISM_COMMIT;
}

void trace_report_see(void *observer, const PtxEvent *event) {
    TraceReport *trace_report = observer;
    trace_report->order++;
    if (!event->warp || !event->code || event->warp->cta->cluster != trace_report->cluster)
        return;
    note_code(trace_report, event);
    switch (event->kind) {
    case PTX_EVENT_ACCESS:
        trace_report_access(trace_report, event);
        break;
    case PTX_EVENT_WARP_SYNC:
    case PTX_EVENT_TEST:
    case PTX_EVENT_LAND:
    case PTX_EVENT_CTA_OVER:
        break;
    case PTX_EVENT_FENCE:
    case PTX_EVENT_ISSUE:
    case PTX_EVENT_COMMIT:
    case PTX_EVENT_AWAIT:
    case PTX_EVENT_AWAIT_LAUNCHES:
    case PTX_EVENT_TRIGGER_LAUNCHES:
    case PTX_EVENT_EXIT:
    case PTX_EVENT_UNKNOWN:
        trace_report_draw(trace_report, event, 0);
        break;
    default:
        trace_report_sync(trace_report, event);
        break;
    }
}

/* ---- The end ------------------------------------------------------------------------------------- */

ReportPlace trace_report_place(const TraceReport *trace_report, const char *role, const PtxCode *code, uint64_t times) {
    enum { INLINED = 8 };
    FindingPlace place = {.op = "", .file = ""}, inlined[INLINED];
    code_place(trace_report->check, code, &place, inlined);
    return (ReportPlace){.partition = role,
                         .op = place.op,
                         .detail = "",
                         .file = place.file,
                         .line = place.line,
                         .column = place.column,
                         .ir_line = place.ir_line,
                         .ptx = true,
                         .times = times};
}

uint64_t trace_report_times(const TraceReport *trace_report, uint32_t role, const PtxCode *code) {
    uint64_t times = 0;
    for (uint32_t i = 0; i < trace_report->actor_count; i++)
        times +=
            trace_report->actors[i].role == role ? trace_report->actors[i].times[code_number(trace_report, code)] : 0;
    return times;
}

void trace_report_finish(TraceReport *trace_report, Report *report, Trace *trace) {
    report->cluster = trace_report->check->machine->cluster_size;
    trace_report_find_roles(trace_report);
    trace_report_sync_blocked(trace_report);
    trace_report_find_rings(trace_report);
    trace_report_find_pieces(trace_report);
    trace_report_name_all(trace_report);
    trace_report_add_roles(trace_report, report);
    trace_report_add_barriers(trace_report, report);
    trace_report_add_edges(trace_report, report);
    trace_report_add_buffers(trace_report, report);
    trace_report_add_lanes(trace_report, trace);
}
