/* Named barriers: bar.sync, bar.arrive, bar.red and barrier without .aligned.
 *
 * Threads arrive, and a barrier counts warps: one has arrived when all of its threads that have not ended have come,
 * each counted, ended or not. A barrier without a count that waits only for threads that have ended is complete
 * (PTX ISA, exit); one with a count is not, as an H200 shows, whatever the ISA says. */
#include "machine/simt/sync/barriers.h"

#include "machine/simt/core/play.h"

typedef struct NamedDetail {
    const PtxArgument *id, *threads; /* threads: NULL: all of the CTA */
    const PtxArgument *gives, *predicate;
    bool waits, reduces, together;
    uint8_t reduction;
} NamedDetail;

/* ---- A phase ------------------------------------------------------------------------------------ */

static uint32_t reduced(const NamedBarrier *named, unsigned reduction) {
    return reduction == PTX_REDUCTION_POPC  ? named->ones
           : reduction == PTX_REDUCTION_AND ? named->ones == named->lanes
                                            : named->ones != 0;
}

static void meet(PtxMachine *machine, PtxCta *cta, uint32_t id, const PtxEvent *by) {
    NamedBarrier *named = &cta_sync(cta)->named[id];
    PtxEvent event = {.kind = PTX_EVENT_NAMED_COMPLETE,
                      .code = by->code ? by->code : named->first,
                      .warp = by->warp,
                      .lanes = by->lanes,
                      .barrier = id,
                      .count = named->shown.expected};
    ptx_emit(machine, &event);
    for (uint32_t i = 0; i < cta->warp_count; i++) {
        WarpSync *sync = warp_sync(&cta->warps[i]);
        if (!(named->shown.warps >> i & 1))
            continue;
        sync->released[id] |= sync->waiting[id];
        sync->waiting[id] = sync->came[id] = 0;
        sync->result_unknown[id] = named->unknown;
        if (named->reduces)
            sync->result[id] = reduced(named, ((const NamedDetail *)named->first->detail)->reduction);
    }
    *named = (NamedBarrier){0};
    machine->meetings++;
}

/* The warp has arrived if all of its threads have come that have not ended; true if that is news. */
static bool warp_arrives(PtxWarp *warp, uint32_t id) {
    NamedBarrier *named = &cta_sync(warp->cta)->named[id];
    uint32_t came = warp_sync(warp)->came[id];
    if (!came || live_lanes(warp) & ~came || named->shown.warps >> warp->index & 1)
        return false;
    named->shown.warps |= UINT64_C(1) << warp->index;
    named->shown.arrived += PTX_LANES;
    return true;
}

/* Whether every warp that has threads left has arrived. */
static bool others_have_ended(const PtxCta *cta, const NamedBarrier *named) {
    for (uint32_t i = 0; i < cta->warp_count; i++)
        if (live_lanes(&cta->warps[i]) && !(named->shown.warps >> i & 1))
            return false;
    return true;
}

static void settle(PtxMachine *machine, PtxCta *cta, uint32_t id, const PtxEvent *by) {
    const NamedBarrier *named = &cta_sync(cta)->named[id];
    if (named->shown.arrived &&
        (named->shown.arrived >= named->shown.expected || (!named->counted && others_have_ended(cta, named))))
        meet(machine, cta, id, by);
}

void named_exit(PtxMachine *machine, PtxWarp *warp) {
    PtxCta *cta = warp->cta;
    for (uint32_t id = 0; id < PTX_NAMED_BARRIERS; id++) {
        const NamedBarrier *named = &cta_sync(cta)->named[id];
        if (!named->shown.expected)
            continue;
        warp_arrives(warp, id);
        settle(machine, cta, id, &(PtxEvent){.warp = warp});
    }
}

const PtxNamed *ptx_named_at(const PtxCta *cta, uint32_t id) {
    return cta->sync && id < PTX_NAMED_BARRIERS ? &cta_sync(cta)->named[id].shown : NULL;
}

/* ---- Instructions ------------------------------------------------------------------------------- */

static PtxStep misuse(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes, RuleId rule,
                      uint64_t id, const char *what) {
    return fault_with(machine, rule, code, group->warp, lanes, id, 0, what);
}

/* How many threads the barrier is for; false, with *step: a number that it cannot be for. */
static bool find_threads(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes, uint64_t *threads,
                         PtxStep *step) {
    const NamedDetail *detail = code->detail;
    uint32_t all = group->warp->cta->warp_count * PTX_LANES;
    *threads = all;
    if (!detail->threads)
        return true;
    if (!fetch_uniform(machine, group, code, detail->threads, lanes, threads, step))
        return false;
    if (!*threads || *threads % PTX_LANES || *threads > all) {
        *step = misuse(machine, group, code, lanes, RULE_NAMED_THREADS, 0,
                       machine_sentence(machine,
                                        "it is for %llu threads, which has to be a multiple of 32, at most the %u of "
                                        "the CTA",
                                        (unsigned long long)*threads, all));
        return false;
    }
    return true;
}

/* What others who are there already do not agree with. */
static bool find_conflict(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes, uint32_t id,
                          uint64_t threads, PtxStep *step) {
    const NamedDetail *detail = code->detail;
    const NamedBarrier *named = &cta_sync(group->warp->cta)->named[id];
    if (!named->shown.expected)
        return false;
    if (named->shown.expected != threads)
        *step = misuse(machine, group, code, lanes, RULE_NAMED_COUNT, id,
                       machine_sentence(machine, "it is for %llu threads, and others came to barrier %u for %u",
                                        (unsigned long long)threads, id, named->shown.expected));
    else if (named->reduces != detail->reduces)
        *step = misuse(machine, group, code, lanes, RULE_NAMED_REDUCTION, id,
                       machine_sentence(machine, "threads are at barrier %u both with and without a reduction", id));
    else if (warp_sync(group->warp)->came[id] & lanes)
        *step = misuse(machine, group, code, lanes, RULE_NAMED_COUNT, id,
                       machine_sentence(machine,
                                        "the same threads arrive at barrier %u again before it is complete: %u of %u "
                                        "threads have arrived",
                                        id, named->shown.arrived, named->shown.expected));
    else
        return false;
    return true;
}

static void arrive(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes, uint32_t id,
                   uint64_t threads) {
    const NamedDetail *detail = code->detail;
    PtxWarp *warp = group->warp;
    WarpSync *sync = warp_sync(warp);
    NamedBarrier *named = &cta_sync(warp->cta)->named[id];
    PtxEvent event = {.kind = PTX_EVENT_NAMED_ARRIVE,
                      .code = code,
                      .warp = warp,
                      .lanes = lanes,
                      .barrier = id,
                      .count = (int64_t)threads};
    ptx_emit(machine, &event);
    if (!named->shown.expected) {
        named->first = code;
        named->reduces = detail->reduces;
    }
    named->shown.expected = (uint32_t)threads;
    named->counted |= detail->threads != NULL;
    if (detail->predicate) {
        uint32_t unknown = 0, ones = ptx_fetch_mask(machine, group, detail->predicate, &unknown);
        named->ones += (uint32_t)__builtin_popcount(ones & lanes);
        named->lanes += (uint32_t)__builtin_popcount(lanes);
        named->unknown |= (unknown & lanes) != 0;
    }
    sync->came[id] |= lanes;
    if (detail->waits)
        sync->waiting[id] |= lanes;
    machine->meetings++;
    warp_arrives(warp, id);
    settle(machine, warp->cta, id, &event);
}

static void go_on(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes, uint32_t id) {
    const NamedDetail *detail = code->detail;
    WarpSync *sync = warp_sync(group->warp);
    sync->released[id] &= ~lanes;
    ptx_emit(
        machine,
        &(PtxEvent){.kind = PTX_EVENT_NAMED_SYNC, .code = code, .warp = group->warp, .lanes = lanes, .barrier = id});
    if (!detail->gives)
        return;
    uint32_t unknown = sync->result_unknown[id] ? lanes : 0;
    if (detail->gives->kind == ARGUMENT_PREDICATE || detail->reduction != PTX_REDUCTION_POPC) {
        ptx_put_mask(machine, group, detail->gives, sync->result[id] ? lanes : 0, lanes, unknown);
        return;
    }
    Lanes values;
    for (unsigned i = 0; i < PTX_LANES; i++)
        values.at[i] = sync->result[id];
    ptx_put(machine, group, detail->gives, 0, &values, lanes, unknown);
}

static PtxStep named_run(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const NamedDetail *detail = code->detail;
    WarpSync *sync = warp_sync(group->warp);
    uint64_t id, threads;
    PtxStep step = PTX_STEP_NEXT;
    if (!fetch_uniform(machine, group, code, detail->id, lanes, &id, &step))
        return step;
    if (id >= PTX_NAMED_BARRIERS)
        return misuse(
            machine, group, code, lanes, RULE_NAMED_ID, id,
            machine_sentence(machine, "there is no barrier %llu: a CTA has barriers 0 to 15", (unsigned long long)id));
    uint32_t fresh = lanes;
    if (detail->waits)
        fresh &= ~(sync->waiting[id] | sync->released[id]);
    if (fresh) {
        if (detail->together && !runs_together(machine, group, code, lanes, &step))
            return step;
        if (!find_threads(machine, group, code, fresh, &threads, &step) ||
            find_conflict(machine, group, code, fresh, (uint32_t)id, threads, &step))
            return step;
        arrive(machine, group, code, fresh, (uint32_t)id, threads);
    }
    if (!detail->waits)
        return PTX_STEP_NEXT;
    if (sync->waiting[id] & lanes) {
        group->status = PTX_IS_NAMED;
        group->waits_for = (uint32_t)id;
        return PTX_STEP_WAITS;
    }
    go_on(machine, group, code, lanes, (uint32_t)id);
    return PTX_STEP_NEXT;
}

bool play_meets(const PtxProgram *program, const PtxCode *code, uint32_t *barrier) {
    const NamedDetail *detail = code->detail;
    if (code->run != named_run || !detail->waits || detail->threads || detail->reduces ||
        detail->id->kind != ARGUMENT_CONSTANT || program->constants[detail->id->slot].at[0] >= PTX_NAMED_BARRIERS)
        return false;
    *barrier = (uint32_t)program->constants[detail->id->slot].at[0];
    return true;
}

bool named_prepare(const PtxPrepare *about, PtxCode *code) {
    const PtxEffect *sync = effect_with(about, EFFECT_NAMED_SYNC), *arrives = effect_with(about, EFFECT_NAMED_ARRIVE);
    const PtxEffect *effect = sync ? sync : arrives;
    if (!effect)
        return false;
    Str reduction = code_modifier(code, STR("op"));
    NamedDetail detail = {.id = named_argument(about, code, effect->on),
                          .waits = sync != NULL,
                          .reduces = reduction.size > 0,
                          .together = effect_with(about, EFFECT_CONVERGED) != NULL};
    if (!detail.id)
        return false;
    if (detail.reduces) { /* d, id, threads?, p: what is missing is in the middle */
        detail.gives = code_argument(about->program, code, 0);
        detail.id = code_argument(about->program, code, 1);
        detail.predicate = code_argument(about->program, code, code->count - 1);
        detail.threads = code->count == 4 ? code_argument(about->program, code, 2) : NULL;
        detail.reduction = str_is(reduction, "popc")  ? PTX_REDUCTION_POPC
                           : str_is(reduction, "and") ? PTX_REDUCTION_AND
                                                      : PTX_REDUCTION_OR;
    } else {
        detail.threads = named_argument(about, code, effect->count);
    }
    code->blocks = detail.waits && !detail.together;
    return take_code(about, code, named_run, &detail, sizeof detail);
}
