/* A run while it is watched, and what is made of it at its end. */
#include "check/report/trace/internal.h"

/* ---- Beginning ----------------------------------------------------------------------------------- */

/* Code that a finding names. */
static bool *find_found(const ThreadsCheck *check, const Verdict *told) {
    const PtxProgram *program = check->program;
    bool *found = ARENA_ARRAY((Arena *)&check->arena, bool, program->code_count + 1);
    for (uint32_t at = 0; at < program->code_count; at++) {
        uint32_t line = code_line(program, &program->code[at]);
        for (size_t i = 0; i < told->finding_count && !found[at]; i++)
            for (size_t k = 0; k < told->findings[i].place_count; k++)
                found[at] |= told->findings[i].places[k].ir_line == line;
    }
    return found;
}

Portrait *portrait_begin(ThreadsCheck *check, uint32_t cluster, const Verdict *told) {
    const PtxMachine *machine = check->machine;
    Portrait *portrait = ARENA_NEW(&check->arena, Portrait);
    uint32_t codes = check->program->code_count + 1, size = machine->cluster_size;
    *portrait = (Portrait){.check = check,
                           .told = told,
                           .arena = &check->arena,
                           .cluster = cluster,
                           .warps = (machine->threads_per_cta + PTX_LANES - 1) / PTX_LANES};
    portrait->actor_count = size * portrait->warps;
    portrait->actors = ARENA_ARRAY(&check->arena, Actor, portrait->actor_count + 1);
    for (uint32_t i = 0; i < portrait->actor_count; i++)
        portrait->actors[i] = (Actor){.rank = i / portrait->warps,
                                      .warp = i % portrait->warps,
                                      .times = ARENA_ARRAY(&check->arena, uint32_t, codes)};
    portrait->does = ARENA_ARRAY(&check->arena, uint8_t, codes);
    portrait->mechanism = ARENA_ARRAY(&check->arena, uint8_t, codes);
    memset(portrait->mechanism, MECHANISM_ARRIVE, codes);
    portrait->found = find_found(check, told);
    uint64_t shared = check->program->dynamic_at + check->launch->dynamic_bytes;
    portrait->granule_count = (uint32_t)(shared / GRANULE + 1);
    portrait->granules = ARENA_ARRAY(&check->arena, Granule *, size);
    for (uint32_t i = 0; i < size; i++)
        portrait->granules[i] = ARENA_ARRAY(&check->arena, Granule, portrait->granule_count);
    portrait->touched = ARENA_ARRAY(&check->arena, Touched, portrait->granule_count);
    portrait->knows = ARENA_ARRAY(&check->arena, Knows, (size_t)portrait->actor_count * portrait->actor_count);
    return portrait;
}

/* ---- Events -------------------------------------------------------------------------------------- */

/* Whether an event is the one of several that stands for its instruction. */
static bool is_first(const PtxEvent *event) {
    switch (event->kind) {
    case PTX_EVENT_ACCESS:
    case PTX_EVENT_ARRIVE:
    case PTX_EVENT_COMPLETE:
        return !event->flight;
    case PTX_EVENT_NAMED_MEET:
    case PTX_EVENT_NAMED_SYNC:
    case PTX_EVENT_CLUSTER_MEET:
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
        return DOES_SYNCHRONIZE | DOES_FLY | (event->flight && event->flight->group == GROUP_WGMMA ? DOES_MULTIPLY : 0);
    default:
        return DOES_SYNCHRONIZE;
    }
}

static void note_code(Portrait *portrait, const PtxEvent *event) {
    uint32_t code = code_number(portrait, event->code);
    Actor *actor = &portrait->actors[portrait_actor(portrait, event->warp)];
    portrait->does[code] |= done_by(event);
    actor->times[code] += is_first(event);
    if (event->kind == PTX_EVENT_TRACK)
        portrait->mechanism[code] = MECHANISM_CP_ASYNC;
    if (event->kind == PTX_EVENT_COMMIT_TO)
        portrait->mechanism[code] = MECHANISM_COMMIT;
}

void portrait_see(void *observer, const PtxEvent *event) {
    Portrait *portrait = observer;
    portrait->order++;
    if (!event->warp || !event->code || event->warp->cta->cluster != portrait->cluster)
        return;
    note_code(portrait, event);
    switch (event->kind) {
    case PTX_EVENT_ACCESS:
        portrait_access(portrait, event);
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
    case PTX_EVENT_EXIT:
    case PTX_EVENT_UNKNOWN:
        portrait_draw(portrait, event, 0);
        break;
    default:
        portrait_meet(portrait, event);
        break;
    }
}

/* ---- The end ------------------------------------------------------------------------------------- */

ReportPlace portrait_place(const Portrait *portrait, const char *role, const PtxCode *code, uint64_t times) {
    enum { INLINED = 8 };
    FindingPlace place = {.op = "", .file = ""}, inlined[INLINED];
    code_place(portrait->check, code, &place, inlined);
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

uint64_t portrait_times(const Portrait *portrait, uint32_t role, const PtxCode *code) {
    uint64_t times = 0;
    for (uint32_t i = 0; i < portrait->actor_count; i++)
        times += portrait->actors[i].role == role ? portrait->actors[i].times[code_number(portrait, code)] : 0;
    return times;
}

void portrait_finish(Portrait *portrait, Report *report, Trace *trace) {
    report->cluster = portrait->check->machine->cluster_size;
    portrait_find_roles(portrait);
    portrait_meet_blocked(portrait);
    portrait_find_rings(portrait);
    portrait_find_pieces(portrait);
    portrait_name_all(portrait);
    portrait_tell_roles(portrait, report);
    portrait_tell_barriers(portrait, report);
    portrait_tell_edges(portrait, report);
    portrait_tell_buffers(portrait, report);
    portrait_tell_lanes(portrait, trace);
}
