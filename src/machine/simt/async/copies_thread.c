/* cp.async: each thread copies 4, 8 or 16 bytes from global to shared memory, fewer of them where it says so, the rest
 * zeros. The copies of a warp's instruction are one outstanding operation; those of a warp land one after the other. */
#include "machine/simt/async/copies.h"
#include "machine/simt/core/internal.h"
#include "machine/simt/core/play.h"

enum { MOST_THREAD_BYTES = 16 };

typedef struct ThreadCopyDetail {
    const PtxArgument *to, *from;
    const PtxArgument *limit;  /* bytes that are read; NULL: all */
    const PtxArgument *ignore; /* predicate: nothing is read */
    uint32_t bytes;
    PtxAccess read, write;
} ThreadCopyDetail;

typedef struct ThreadCopy {
    PtxLocation to[PTX_LANES], from[PTX_LANES];
    uint32_t sizes[PTX_LANES]; /* bytes that are read */
    uint32_t reads;            /* lanes that read any */
} ThreadCopy;

static void report_lanes(PtxMachine *machine, const PtxOutstanding *outstanding, const PtxAccess *access,
                         uint32_t lanes, const PtxLocation locations[PTX_LANES]) {
    ptx_emit(machine, &(PtxEvent){.kind = PTX_EVENT_ACCESS,
                                  .code = outstanding->code,
                                  .warp = outstanding->warp,
                                  .lanes = lanes,
                                  .outstanding = outstanding,
                                  .access = *access,
                                  .locations = locations,
                                  .location_count = PTX_LANES,
                                  .changes = lanes});
}

/* Those that read as many bytes at once. */
static void report_reads(PtxMachine *machine, const PtxOutstanding *outstanding, const ThreadCopy *copy) {
    PtxAccess access = ((const ThreadCopyDetail *)outstanding->code->detail)->read;
    for (uint32_t left = copy->reads; left;) {
        uint32_t same = 0;
        access.bytes = copy->sizes[__builtin_ctz(left)];
        access.element = access.bytes & (access.bytes - 1) ? 1 : access.bytes;
        for (uint32_t rest = left; rest; rest &= rest - 1)
            same |= copy->sizes[__builtin_ctz(rest)] == access.bytes ? rest & -rest : 0;
        report_lanes(machine, outstanding, &access, same, copy->from);
        left &= ~same;
    }
}

static void land_thread_copy(PtxMachine *machine, PtxOutstanding *outstanding) {
    const ThreadCopyDetail *detail = outstanding->code->detail;
    ThreadCopy *copy = outstanding->detail;
    report_reads(machine, outstanding, copy);
    report_lanes(machine, outstanding, &detail->write, outstanding->lanes, copy->to);
    bool loads = copy_loads(machine, outstanding->code);
    for (uint32_t left = machine->plays ? 0 : outstanding->lanes; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        uint8_t bytes[MOST_THREAD_BYTES] = {0}, states[MOST_THREAD_BYTES];
        if (detail->bytes == MOST_THREAD_BYTES && copy->sizes[lane] == MOST_THREAD_BYTES && loads &&
            copy->reads >> lane & 1 && load_known(copy->from[lane], MOST_THREAD_BYTES, bytes)) {
            ptx_store_bytes(machine, copy->to[lane], MOST_THREAD_BYTES, bytes, NULL);
            continue;
        }
        memset(states, BYTE_KNOWN, sizeof states);
        if (copy->reads >> lane & 1)
            copy_load(machine, outstanding->code, copy->from[lane], copy->sizes[lane], bytes, states);
        copy_note_unset(machine, outstanding, lane, copy->from[lane], detail->bytes, states);
        ptx_store_bytes(machine, copy->to[lane], detail->bytes, bytes, states);
    }
    pool_give(machine, copy, sizeof *copy);
}

/* How many bytes each lane reads; false, with *step: that is not known, or more than it copies. */
static bool find_sizes(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes, ThreadCopy *copy,
                       PtxStep *step) {
    const ThreadCopyDetail *detail = code->detail;
    Lanes scratch;
    uint32_t unknown = 0, ignored = detail->ignore ? ptx_fetch_mask(machine, group, detail->ignore, &unknown) : 0;
    const Lanes *limits = detail->limit ? ptx_fetch(machine, group, detail->limit, 0, &scratch, &unknown) : NULL;
    if (unknown & lanes) {
        *step = ptx_stop(machine, code, "how many bytes its copy reads is not known");
        return false;
    }
    copy->reads = 0;
    for (; lanes; lanes &= lanes - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(lanes);
        uint64_t size = limits ? (uint32_t)limits->at[lane] : detail->bytes;
        if (size > detail->bytes) {
            *step = fault_with(machine, RULE_COPY_WIDTH, code, group->warp, 1u << lane, 0, (int64_t)size,
                               machine_sentence(machine, "it reads %llu bytes, and copies %u", (unsigned long long)size,
                                                detail->bytes));
            return false;
        }
        copy->sizes[lane] = ignored >> lane & 1 ? 0 : (uint32_t)size;
        copy->reads |= (uint32_t)(copy->sizes[lane] != 0) << lane;
    }
    return true;
}

/* Where lanes read: of those that read less than all, no more has to be there. */
static bool find_sources(PtxMachine *machine, PtxGroup *group, const PtxCode *code, ThreadCopy *copy) {
    const ThreadCopyDetail *detail = code->detail;
    Lanes scratch;
    uint32_t unknown = 0, whole = 0;
    const Lanes *addresses = ptx_fetch_address(machine, group, detail->from, &scratch, &unknown);
    for (uint32_t left = copy->reads; left; left &= left - 1)
        whole |= (uint32_t)(copy->sizes[__builtin_ctz(left)] == detail->bytes) << __builtin_ctz(left);
    uint32_t some = copy->reads & ~whole & ~unknown;
    if (whole && !ptx_resolve(machine, group, code, PTX_SPACE_GLOBAL, addresses, unknown, detail->bytes, detail->bytes,
                              &whole, copy->from))
        return false;
    for (uint32_t left = some; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        if (!ptx_resolve_one(machine, code, group->warp, lane, PTX_SPACE_GLOBAL, addresses->at[lane], copy->sizes[lane],
                             detail->bytes, &copy->from[lane]))
            return false;
    }
    copy->reads = whole | some;
    return true;
}

/* Lanes of `lanes` that have committed as many groups as the first of them. */
static uint32_t same_group(const PtxWarp *warp, uint32_t lanes) {
    const uint32_t *committed = warp_sync(warp)->committed[SLOT_COPIES];
    uint32_t first = committed[__builtin_ctz(lanes)], same = 0;
    for (; lanes; lanes &= lanes - 1)
        if (committed[__builtin_ctz(lanes)] == first)
            same |= lanes & -lanes;
    return same;
}

static PtxStep thread_copy_run(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const ThreadCopyDetail *detail = code->detail;
    WarpSync *sync = warp_sync(group->warp);
    ThreadCopy found;
    memset(&found, 0, sizeof found);
    Lanes scratch;
    uint32_t unknown = 0;
    PtxStep step = PTX_STEP_NEXT;
    if (!find_sizes(machine, group, code, lanes, &found, &step))
        return step;
    const Lanes *addresses = ptx_fetch_address(machine, group, detail->to, &scratch, &unknown);
    if (!ptx_resolve(machine, group, code, PTX_SPACE_SHARED, addresses, unknown, detail->bytes, detail->bytes, &lanes,
                     found.to))
        return PTX_STEP_FAULT;
    found.reads &= lanes;
    if (!find_sources(machine, group, code, &found))
        return PTX_STEP_FAULT;
    while (lanes) {
        uint32_t same = same_group(group->warp, lanes);
        ThreadCopy *copy = pool_take(machine, sizeof *copy);
        *copy = found;
        copy->reads &= same;
        PtxOutstanding outstanding = {.code = code,
                                      .warp = group->warp,
                                      .lane = (uint32_t)__builtin_ctz(same),
                                      .lanes = same,
                                      .group = GROUP_CP_ASYNC,
                                      .land = land_thread_copy,
                                      .detail = copy,
                                      .behind = sync->last_copy};
        sync->last_copy = machine->next_sequence + 1;
        if (!ptx_fly(machine, &outstanding))
            return PTX_STEP_FAULT;
        lanes &= ~same;
    }
    return PTX_STEP_NEXT;
}

bool thread_copy_prepare(const PtxPrepare *about, PtxCode *code) {
    const PtxEffect *read = effect_with(about, EFFECT_READ), *write = effect_with(about, EFFECT_WRITE);
    if (!read || !write || write->effect.group != GROUP_CP_ASYNC)
        return false;
    ThreadCopyDetail detail = {.to = named_argument(about, code, write->on),
                               .from = named_argument(about, code, read->on)};
    const PtxArgument *size = named_argument(about, code, write->count);
    if (!detail.to || !detail.from || !size || size->kind != ARGUMENT_CONSTANT)
        return false;
    detail.bytes = (uint32_t)about->program->constants[size->slot].at[0];
    if (!detail.bytes || detail.bytes > MOST_THREAD_BYTES)
        return false;
    /* [d], [s], size, source?, policy? */
    uint32_t policies = code_modifier(code, STR("hint")).size ? 1 : 0;
    if (code->count > 3 + policies) {
        const PtxArgument *source = code_argument(about->program, code, 3);
        if (source->kind == ARGUMENT_PREDICATE || (source->kind == ARGUMENT_CONSTANT && source->bits == 1))
            detail.ignore = source;
        else
            detail.limit = source;
    }
    detail.read = (PtxAccess){.kind = KIND_READ, .element = detail.bytes, .bytes = detail.bytes, .used = ~0u};
    detail.write = detail.read;
    detail.write.kind = KIND_WRITE;
    return take_code(about, code, thread_copy_run, &detail, sizeof detail);
}

bool play_copy(const PtxProgram *program, const PtxCode *code, PlayCopy *copy) {
    const ThreadCopyDetail *detail = code->detail;
    if (code->run != thread_copy_run || detail->ignore)
        return false;
    *copy = (PlayCopy){
        .from = {.access = detail->read, .space = PTX_SPACE_GLOBAL, .align = detail->bytes},
        .to = {.access = detail->write, .space = PTX_SPACE_SHARED, .align = detail->bytes},
        .bytes = detail->bytes,
    };
    const PtxArgument *limit = detail->limit;
    if (limit && limit->kind == ARGUMENT_ROW)
        copy->limit = limit;
    else if (limit && (limit->kind != ARGUMENT_CONSTANT || program->constants[limit->slot].at[0] != detail->bytes))
        return false;
    return play_address(program, detail->from, &copy->from) && play_address(program, detail->to, &copy->to);
}
