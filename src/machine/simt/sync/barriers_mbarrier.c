/* mbarriers: init, inval, arrivals with and without bytes, bytes that come, waits by parity and by token.
 *
 * A token is the phase (upper half) and the arrivals that were pending (lower half) before the arrival that gave it. */
#include "explore/mbarrier.h"
#include "machine/simt/core/internal.h"
#include "machine/simt/sync/barriers.h"

/* A state: the phase, which mbarrier it is of, and the arrivals that were pending. */
enum { MBARRIER_BYTES = 8, TOKEN_PHASE = 32, TOKEN_TAG = 20, TOKEN_PENDING = (1 << TOKEN_TAG) - 1, TOKEN_TAGS = 4095 };

/* Never 0, and not the same for any two within 32 KB of each other. */
static uint32_t token_tag(uint64_t place) {
    return (uint32_t)((place >> 3) + (place >> 32) * 61) % TOKEN_TAGS + 1;
}

typedef struct MbarrierDetail {
    const PtxArgument *bar, *count, *gives, *phase;
    PtxSpace space;
    uint8_t verb; /* EffectVerb */
    uint8_t order, scope;
    bool by_state, blocks, drops, no_complete;
    bool announces; /* an arrival when copies are over, which is pending from now on */
} MbarrierDetail;

/* ---- Which there are ---------------------------------------------------------------------------- */

static void *take_zero(PtxMachine *machine, size_t size) {
    return memset(pool_take(machine, size), 0, size);
}

static void give_some(PtxMachine *machine, void *memory, size_t size) {
    if (memory)
        pool_give(machine, memory, size);
}

TABLE_IN(mbarriers, MbarrierTable, PtxMbarrier *, uint32_t, PtxMachine, take_zero, give_some, 16, *item,
         (*item)->offset, (key >> 3) * 0x9E3779B1u >> 7, (*item)->offset == key)

const PtxMbarrier *ptx_mbarrier_at(const PtxCta *cta, uint32_t offset) {
    const CtaSync *sync = cta ? cta_sync(cta) : NULL;
    PtxMbarrier **place = sync ? mbarriers_find(&sync->mbarriers, offset) : NULL;
    return place ? *place : NULL;
}

PtxMbarrier *mbarrier_at(const PtxMachine *machine, uint64_t place) {
    uint64_t cta = place >> 32;
    return cta < machine->cta_count && machine->ctas[cta]
               ? (PtxMbarrier *)ptx_mbarrier_at(machine->ctas[cta], (uint32_t)place)
               : NULL;
}

static PtxMbarrier *make_mbarrier(PtxMachine *machine, CtaSync *sync, uint32_t address) {
    PtxMbarrier **place = mbarriers_put(machine, &sync->mbarriers, address);
    if (!*place) {
        *place = pool_take(machine, sizeof **place);
        **place = (PtxMbarrier){.offset = address};
    }
    return *place;
}

void mbarriers_end(PtxMachine *machine, PtxCta *cta) {
    MbarrierTable *table = &cta_sync(cta)->mbarriers;
    for (uint32_t i = 0; i < table->capacity; i++)
        give_some(machine, table->items[i], sizeof *table->items[i]);
    give_some(machine, table->items, table->capacity * sizeof *table->items);
}

/* ---- Arrivals and bytes ------------------------------------------------------------------------- */

static bool fails(PtxMachine *machine, const PtxEvent *event, uint32_t lanes, RuleId rule, int64_t amount,
                  const char *what) {
    fault_with(machine, rule, event->code, event->warp, lanes, event->place, amount, what);
    return false;
}

/* There is none that is live: never was, or no more. */
static bool fails_gone(PtxMachine *machine, const PtxEvent *event, const PtxMbarrier *mbarrier) {
    return fails(machine, event, event->lanes, mbarrier ? RULE_BARRIER_INVALIDATED : RULE_BARRIER_UNINITIALIZED, 0,
                 mbarrier ? "its mbarrier has been invalidated" : "there is no mbarrier at its address");
}

/* What one lane brings. */
static MbarrierChange change_of(const PtxEvent *event) {
    bool bytes = event->kind != PTX_EVENT_ARRIVE;
    MbarrierChange change = {.arrivals = bytes ? event->arrives : event->count};
    change.bytes = !bytes ? 0 : event->kind == PTX_EVENT_COMPLETE ? -event->count : event->count;
    change.drops = event->drops ? change.arrivals : 0;
    return change;
}

/* How many of `lanes` bring it together. Arrivals of one instruction of a warp come as one: an H200 stops if they are
 * more than are pending, also where they would complete one phase after the other. Bytes that come may complete one. */
static uint32_t at_once(const MbarrierChange *one, uint32_t lanes) {
    return one->arrivals || one->bytes > 0 ? (uint32_t)__builtin_popcount(lanes) : 1;
}

/* The first `count` of them. */
static uint32_t first_lanes(uint32_t lanes, uint32_t count) {
    uint32_t taken = 0;
    for (; count; count--) {
        taken |= lanes & -lanes;
        lanes &= lanes - 1;
    }
    return taken;
}

static bool fails_bringing(PtxMachine *machine, const PtxEvent *event, uint32_t lanes, const PtxMbarrier *mbarrier,
                           MbarrierOutcome outcome, int64_t wrong) {
    if (outcome == MBARRIER_UNDERFLOW)
        return fails(machine, event, lanes, RULE_BARRIER_UNDERFLOW, wrong,
                     machine_sentence(machine, "%lld arrival%s, and %u of its %u are pending", (long long)wrong,
                                      wrong == 1 ? " comes" : "s come", mbarrier->pending, mbarrier->count));
    return fails(machine, event, lanes, RULE_BARRIER_BYTES, wrong,
                 machine_sentence(machine, "its transaction bytes would be %lld, and it counts up to 1048575",
                                  (long long)wrong));
}

/* `tokens`: of each lane, before it; NULL: it is not asked for. */
static bool bring(PtxMachine *machine, const PtxEvent *event, bool no_complete, Lanes *tokens) {
    PtxMbarrier *mbarrier = mbarrier_at(machine, event->place);
    MbarrierChange one = change_of(event);
    for (uint32_t left = event->lanes; left;) {
        if (!mbarrier || !mbarrier->live)
            return fails_gone(machine, event, mbarrier);
        uint32_t count = at_once(&one, left), lanes = first_lanes(left, count);
        MbarrierTally tally = {mbarrier->count, mbarrier->pending, mbarrier->bytes};
        MbarrierChange all = {one.arrivals * count, one.bytes * count, one.drops * count};
        int64_t wrong;
        MbarrierOutcome outcome = mbarrier_bring(&tally, &all, &wrong);
        if (outcome != MBARRIER_GOES_ON)
            return fails_bringing(machine, event, lanes, mbarrier, outcome, wrong);
        if (no_complete && !tally.pending && !tally.bytes)
            return fails(machine, event, lanes, RULE_BARRIER_UNDERFLOW, all.arrivals,
                         "it completes the phase, which .noComplete must not");
        PtxEvent reported = *event;
        reported.lanes = lanes;
        reported.phase = mbarrier->phase;
        ptx_emit(machine, &reported);
        int64_t pending = mbarrier->pending;
        for (uint32_t rest = tokens ? lanes : 0; rest; rest &= rest - 1, pending -= one.arrivals)
            tokens->at[__builtin_ctz(rest)] = (uint64_t)mbarrier->phase << TOKEN_PHASE |
                                              token_tag(event->place) << TOKEN_TAG | (pending & TOKEN_PENDING);
        bool completes = mbarrier_completes(&tally);
        mbarrier->count = tally.count;
        mbarrier->pending = tally.pending;
        mbarrier->bytes = tally.bytes;
        machine->changes++;
        if (completes) {
            reported.kind = PTX_EVENT_FLIP;
            ptx_emit(machine, &reported);
            mbarrier->phase++;
        }
        left &= ~lanes;
    }
    return true;
}

bool ptx_mbarrier_bring(PtxMachine *machine, const PtxEvent *event) {
    return bring(machine, event, false, NULL);
}

/* ---- Operands ----------------------------------------------------------------------------------- */

static bool find_places(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t *lanes,
                        PtxLocation locations[PTX_LANES]) {
    const MbarrierDetail *detail = code->detail;
    Lanes scratch;
    uint32_t unknown = 0;
    const Lanes *addresses = ptx_fetch_address(machine, group, detail->bar, &scratch, &unknown);
    uint64_t first = addresses->at[__builtin_ctz(*lanes)], differs = 0;
    for (uint32_t left = *lanes & ~unknown; left; left &= left - 1) {
        uint64_t address = addresses->at[__builtin_ctz(left)];
        differs |= address ^ first;
        if (address % MBARRIER_BYTES) {
            fault_with(machine, RULE_MBARRIER_ALIGNMENT, code, group->warp, left & -left, address, 0,
                       machine_sentence(machine, "address 0x%llx is not a multiple of 8", (unsigned long long)address));
            return false;
        }
    }
    if (differs || unknown & *lanes)
        return ptx_resolve(machine, group, code, detail->space, addresses, unknown, MBARRIER_BYTES, MBARRIER_BYTES,
                           lanes, locations);
    PtxLocation location;
    if (!ptx_resolve_one(machine, code, group->warp, (uint32_t)__builtin_ctz(*lanes), detail->space, first,
                         MBARRIER_BYTES, 1, &location))
        return false;
    for (unsigned i = 0; i < PTX_LANES; i++)
        locations[i] = location;
    return true;
}

static bool is_shared(const PtxLocation *location) {
    return location->block->space == PTX_SPACE_SHARED || location->block->space == PTX_SPACE_CLUSTER;
}

/* Lanes of `left` that have the same mbarrier as the first of them. */
static uint32_t same_place(uint32_t left, const PtxLocation locations[PTX_LANES]) {
    const PtxLocation *first = &locations[__builtin_ctz(left)];
    uint32_t same = 0;
    for (; left; left &= left - 1) {
        const PtxLocation *location = &locations[__builtin_ctz(left)];
        if (location->block == first->block && location->offset == first->offset)
            same |= left & -left;
    }
    return same;
}

/* ... and the same number. */
static uint32_t same_count(uint32_t lanes, const Lanes *counts) {
    uint64_t first = counts->at[__builtin_ctz(lanes)];
    uint32_t same = 0;
    for (; lanes; lanes &= lanes - 1)
        if ((uint32_t)counts->at[__builtin_ctz(lanes)] == (uint32_t)first)
            same |= lanes & -lanes;
    return same;
}

/* The numbers of an instruction; 1 where it has none. */
static const Lanes *find_counts(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes,
                                Lanes *scratch, PtxStep *step) {
    const MbarrierDetail *detail = code->detail;
    uint32_t unknown = 0;
    if (!detail->count) {
        for (unsigned i = 0; i < PTX_LANES; i++)
            scratch->at[i] = 1;
        return scratch;
    }
    const Lanes *counts = ptx_fetch(machine, group, detail->count, 0, scratch, &unknown);
    if (!(unknown & lanes))
        return counts;
    *step = ptx_stop(machine, code, "how many arrivals or bytes its mbarrier is told of is not known");
    return NULL;
}

static PtxStep not_shared(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lane) {
    return ptx_fault(machine, group, RULE_MBARRIER_OBJECT, code, 1u << lane, "its address is not in shared memory");
}

/* ---- Life --------------------------------------------------------------------------------------- */

static PtxStep begin_life(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lane,
                          PtxLocation location, uint32_t count) {
    static const uint8_t states[MBARRIER_BYTES] = {BYTE_UNKNOWN, BYTE_UNKNOWN, BYTE_UNKNOWN, BYTE_UNKNOWN,
                                                   BYTE_UNKNOWN, BYTE_UNKNOWN, BYTE_UNKNOWN, BYTE_UNKNOWN};
    static const uint8_t bytes[MBARRIER_BYTES];
    uint64_t place = ptx_place(location);
    PtxMbarrier *mbarrier = make_mbarrier(machine, cta_sync(machine->ctas[location.block->cta]), (uint32_t)place);
    if (mbarrier->live)
        return fault_with(machine, RULE_BARRIER_REINITIALIZED, code, group->warp, 1u << lane, place, count,
                          "the mbarrier there is live: it has to be invalidated first");
    if (!count || !mbarrier_counts(count))
        return fault_with(machine, RULE_MBARRIER_COUNT, code, group->warp, 1u << lane, place, count,
                          machine_sentence(machine, "its count is %u", count));
    ptx_emit(machine, &(PtxEvent){.kind = PTX_EVENT_INIT,
                                  .code = code,
                                  .warp = group->warp,
                                  .lanes = 1u << lane,
                                  .place = place,
                                  .count = count});
    *mbarrier = (PtxMbarrier){.offset = (uint32_t)place, .count = count, .pending = count, .live = true};
    ptx_store_bytes(machine, location, MBARRIER_BYTES, bytes, states);
    return PTX_STEP_NEXT;
}

/* Whether some group sleeps on it. */
static bool is_waited_for(const PtxCta *cta, uint64_t place) {
    for (uint32_t i = 0; i < cta->warp_count; i++)
        for (const PtxGroup *group = cta->warps[i].groups; group; group = group->next)
            if (group->status == PTX_IS_MBARRIER && group->place == place)
                return true;
    return false;
}

static PtxStep end_life(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lane,
                        PtxLocation location) {
    PtxEvent event = {.kind = PTX_EVENT_INVALIDATE,
                      .code = code,
                      .warp = group->warp,
                      .lanes = 1u << lane,
                      .place = ptx_place(location)};
    PtxMbarrier *mbarrier = mbarrier_at(machine, event.place);
    if (!mbarrier || !mbarrier->live) {
        fails_gone(machine, &event, mbarrier);
        return PTX_STEP_FAULT;
    }
    if (is_waited_for(machine->ctas[location.block->cta], event.place))
        return fault_with(machine, RULE_BARRIER_INVALIDATED, code, group->warp, event.lanes, event.place, 1,
                          "other threads wait for it");
    ptx_emit(machine, &event);
    mbarrier->live = false;
    machine->changes++;
    return PTX_STEP_NEXT;
}

static PtxStep life_run(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const MbarrierDetail *detail = code->detail;
    PtxLocation locations[PTX_LANES];
    Lanes scratch;
    PtxStep step = PTX_STEP_NEXT;
    const Lanes *counts = find_counts(machine, group, code, lanes, &scratch, &step);
    if (!counts)
        return step;
    if (!find_places(machine, group, code, &lanes, locations))
        return PTX_STEP_FAULT;
    for (; lanes && step == PTX_STEP_NEXT; lanes &= lanes - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(lanes);
        if (!is_shared(&locations[lane]))
            return not_shared(machine, group, code, lane);
        step = detail->verb == EFFECT_INIT
                   ? begin_life(machine, group, code, lane, locations[lane], (uint32_t)counts->at[lane])
                   : end_life(machine, group, code, lane, locations[lane]);
    }
    return step;
}

/* ---- Signals of threads ------------------------------------------------------------------------- */

static PtxEventKind signal_kind(EffectVerb verb) {
    return verb == EFFECT_ARRIVE ? PTX_EVENT_ARRIVE : verb == EFFECT_COMPLETE ? PTX_EVENT_COMPLETE : PTX_EVENT_EXPECT;
}

static PtxStep signal_run(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const MbarrierDetail *detail = code->detail;
    PtxLocation locations[PTX_LANES];
    Lanes scratch, tokens;
    PtxStep step = PTX_STEP_NEXT;
    uint32_t asked = lanes;
    const Lanes *counts = find_counts(machine, group, code, lanes, &scratch, &step);
    if (!counts)
        return step;
    if (!find_places(machine, group, code, &lanes, locations))
        return PTX_STEP_FAULT;
    memset(&tokens, 0, sizeof tokens);
    PtxEvent event = {.kind = signal_kind((EffectVerb)detail->verb),
                      .code = code,
                      .warp = group->warp,
                      .order = detail->order,
                      .scope = detail->scope,
                      .arrives = detail->verb == EFFECT_EXPECT,
                      .drops = detail->drops};
    for (uint32_t left = lanes; left;) {
        uint32_t first = (uint32_t)__builtin_ctz(left);
        if (!is_shared(&locations[first]))
            return not_shared(machine, group, code, first);
        event.lanes = same_count(same_place(left, locations), counts);
        event.place = ptx_place(locations[first]);
        event.count = (uint32_t)counts->at[first];
        if (event.kind == PTX_EVENT_ARRIVE && !mbarrier_counts(event.count))
            return fault_with(machine, RULE_MBARRIER_COUNT, code, group->warp, event.lanes, event.place, event.count,
                              machine_sentence(machine, "it arrives %lld times", (long long)event.count));
        if (!bring(machine, &event, detail->no_complete, &tokens))
            return PTX_STEP_FAULT;
        left &= ~event.lanes;
    }
    if (detail->gives)
        ptx_put(machine, group, detail->gives, 0, &tokens, asked, asked & ~lanes);
    return PTX_STEP_NEXT;
}

/* ---- An arrival when copies are over ------------------------------------------------------------ */

typedef struct TrackedArrival {
    PtxEvent event;
} TrackedArrival;

static void land_arrival(PtxMachine *machine, PtxOutstanding *outstanding) {
    TrackedArrival *tracked = outstanding->detail;
    const PtxMbarrier *mbarrier = mbarrier_at(machine, tracked->event.place);
    tracked->event.outstanding = outstanding;
    /* One that comes late to an mbarrier that is no more does no harm. */
    if (mbarrier && mbarrier->live)
        ptx_mbarrier_bring(machine, &tracked->event);
    pool_give(machine, tracked, sizeof *tracked);
}

static PtxStep track_run(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const MbarrierDetail *detail = code->detail;
    PtxLocation locations[PTX_LANES];
    if (!find_places(machine, group, code, &lanes, locations))
        return PTX_STEP_FAULT;
    for (uint32_t left = lanes; left;) {
        uint32_t same = same_place(left, locations), first = (uint32_t)__builtin_ctz(left);
        PtxEvent event = {.kind = PTX_EVENT_TRACK,
                          .code = code,
                          .warp = group->warp,
                          .lanes = same,
                          .place = ptx_place(locations[first]),
                          .group = GROUP_CP_ASYNC,
                          .count = 1,
                          .order = ORDER_RELEASE,
                          .scope = SCOPE_CTA};
        PtxMbarrier *mbarrier = mbarrier_at(machine, event.place);
        if (!mbarrier || !mbarrier->live) {
            fails_gone(machine, &event, mbarrier);
            return PTX_STEP_FAULT;
        }
        uint32_t more = detail->announces ? (uint32_t)__builtin_popcount(same) : 0;
        if (mbarrier->pending + more > MBARRIER_MOST_ARRIVALS)
            return fault_with(machine, RULE_MBARRIER_COUNT, code, group->warp, same, event.place, mbarrier->pending,
                              "more arrivals would be pending than it counts");
        ptx_emit(machine, &event);
        mbarrier->pending += more;
        machine->changes++;
        TrackedArrival *tracked = pool_take(machine, sizeof *tracked);
        tracked->event = event;
        tracked->event.kind = PTX_EVENT_ARRIVE;
        PtxOutstanding outstanding = {.code = code,
                                      .warp = group->warp,
                                      .lane = first,
                                      .lanes = same,
                                      .place = event.place,
                                      .land = land_arrival,
                                      .detail = tracked,
                                      .behind = warp_sync(group->warp)->last_copy};
        if (!ptx_fly(machine, &outstanding))
            return PTX_STEP_FAULT;
        left &= ~same;
    }
    return PTX_STEP_NEXT;
}

/* ---- Waits -------------------------------------------------------------------------------------- */

static bool is_over(const PtxMbarrier *mbarrier, bool by_state, uint64_t phase) {
    return by_state ? (uint32_t)(phase >> TOKEN_PHASE) != mbarrier->phase : (phase & 1) != (mbarrier->phase & 1);
}

enum { WAITS_BY_STATE = 1u << 31 };

bool mbarrier_wait_is_over(const PtxMachine *machine, const PtxGroup *group) {
    if (group->place == PTX_NO_PLACE)
        return group->since != machine->changes;
    const PtxMbarrier *mbarrier = mbarrier_at(machine, group->place);
    if (!mbarrier || !mbarrier->live)
        return true; /* and that is a fault */
    return group->waits_for & WAITS_BY_STATE
               ? (group->waits_for & ~WAITS_BY_STATE) != (mbarrier->phase & ~WAITS_BY_STATE)
               : group->waits_for != (mbarrier->phase & 1);
}

/* The group sleeps until one of its lanes can go on. */
static PtxStep sleep_on(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes,
                        const PtxLocation locations[PTX_LANES], const Lanes *phases) {
    const MbarrierDetail *detail = code->detail;
    uint32_t first = (uint32_t)__builtin_ctz(lanes);
    uint64_t wanted = detail->by_state ? phases->at[first] >> TOKEN_PHASE : phases->at[first] & 1;
    bool symmetry = same_place(lanes, locations) == lanes;
    for (uint32_t left = lanes; left; left &= left - 1) {
        uint64_t phase = phases->at[__builtin_ctz(left)];
        symmetry &= (detail->by_state ? phase >> TOKEN_PHASE : phase & 1) == wanted;
    }
    group->status = PTX_IS_MBARRIER;
    group->place = symmetry ? ptx_place(locations[first]) : PTX_NO_PLACE;
    group->waits_for = (uint32_t)wanted | (detail->by_state ? WAITS_BY_STATE : 0);
    group->since = machine->changes;
    return PTX_STEP_WAITS;
}

/* Lanes that wait for the same mbarrier and phase, that is over or not. */
static void report_wait(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes, bool over,
                        const PtxLocation *location, const Lanes *phases) {
    const MbarrierDetail *detail = code->detail;
    const PtxMbarrier *mbarrier = mbarrier_at(machine, ptx_place(*location));
    uint32_t first = (uint32_t)__builtin_ctz(lanes);
    PtxEvent event = {.kind = over ? PTX_EVENT_WAIT : PTX_EVENT_TEST,
                      .code = code,
                      .warp = group->warp,
                      .lanes = lanes,
                      .place = ptx_place(*location),
                      .order = detail->order,
                      .scope = detail->scope};
    /* by parity: the phase before this one, if there was one; else nothing is waited for */
    event.phase = detail->by_state ? (uint32_t)(phases->at[first] >> TOKEN_PHASE) : mbarrier->phase - over;
    ptx_emit(machine, &event);
}

/* Which of the lanes find their phase over; false: a fault. */
static bool find_over(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes,
                      const PtxLocation locations[PTX_LANES], const Lanes *phases, uint32_t *over) {
    const MbarrierDetail *detail = code->detail;
    const PtxMbarrier *mbarrier = NULL;
    PtxEvent event = {.code = code, .warp = group->warp, .place = PTX_NO_PLACE};
    for (*over = 0; lanes; lanes &= lanes - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(lanes);
        uint64_t place = ptx_place(locations[lane]), phase = phases->at[lane];
        event.lanes = 1u << lane;
        if (event.place != place) {
            if (!is_shared(&locations[lane]))
                return not_shared(machine, group, code, lane), false;
            event.place = place;
            mbarrier = mbarrier_at(machine, place);
            if (!mbarrier || !mbarrier->live)
                return fails_gone(machine, &event, mbarrier);
        }
        bool other = ((uint32_t)phase >> TOKEN_TAG) != token_tag(place) || phase >> TOKEN_PHASE > mbarrier->phase;
        if (detail->by_state && other && !machine->plays)
            return fails(machine, &event, event.lanes, RULE_BARRIER_TOKEN, 0,
                         "its state is not one that an arrive on this mbarrier gave");
        if (detail->by_state && (uint32_t)(phase >> TOKEN_PHASE) + 1 < mbarrier->phase)
            return fails(machine, &event, event.lanes, RULE_BARRIER_OVERRUN, (int64_t)(phase >> TOKEN_PHASE),
                         machine_sentence(machine, "its token is of phase %u, and %u phases are complete",
                                          (uint32_t)(phase >> TOKEN_PHASE), mbarrier->phase));
        if (is_over(mbarrier, detail->by_state, phase))
            *over |= 1u << lane;
    }
    return true;
}

/* Lanes whose tokens are of the same phase as that of the first of them. */
static uint32_t same_phase(uint32_t lanes, const Lanes *tokens) {
    uint64_t first = tokens->at[__builtin_ctz(lanes)] >> TOKEN_PHASE;
    uint32_t same = 0;
    for (; lanes; lanes &= lanes - 1)
        if (tokens->at[__builtin_ctz(lanes)] >> TOKEN_PHASE == first)
            same |= lanes & -lanes;
    return same;
}

/* Whether it goes on waiting. Time passes; where no other thread can go on, it passes until the wait gives up. */
static bool is_patient(const PtxMachine *machine, const PtxGroup *group, const PtxCode *code) {
    if (machine->timed || (code->once && machine->gives_up))
        return false;
    return !code->once || group->gave_up != machine->changes + 1 || group->gave_up_pc != group->pc;
}

bool waits_give_up(PtxMachine *machine) {
    for (uint32_t i = 0; i < machine->cta_count; i++)
        for (uint32_t w = 0; machine->ctas[i] && w < machine->ctas[i]->warp_count; w++)
            for (PtxGroup *group = machine->ctas[i]->warps[w].groups; group; group = group->next) {
                bool gave_up = group->gave_up == machine->changes + 1 && group->gave_up_pc == group->pc;
                if (group->status != PTX_IS_MBARRIER || !machine->program->code[group->pc].once || gave_up)
                    continue;
                group->gave_up = machine->changes + 1;
                group->gave_up_pc = group->pc;
                group->status = PTX_IS_READY;
                return true;
            }
    return false;
}

static PtxStep wait_run(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const MbarrierDetail *detail = code->detail;
    PtxLocation locations[PTX_LANES];
    Lanes scratch;
    uint32_t unknown = 0, asked = lanes, over;
    const Lanes *phases = ptx_fetch(machine, group, detail->phase, 0, &scratch, &unknown);
    if (unknown & lanes)
        return ptx_stop(machine, code, "the phase that it waits for is not known");
    if (!find_places(machine, group, code, &lanes, locations) ||
        !find_over(machine, group, code, lanes, locations, phases, &over))
        return PTX_STEP_FAULT;
    if (machine->passes)
        over = lanes;
    if (lanes && (machine->plays ? over != lanes : !over && detail->blocks && is_patient(machine, group, code)))
        return sleep_on(machine, group, code, lanes, locations, phases);
    for (uint32_t left = lanes; left;) {
        bool passed = over >> __builtin_ctz(left) & 1;
        uint32_t same = same_place(left, locations) & (passed ? over : ~over);
        if (detail->by_state)
            same = same_phase(same, phases);
        report_wait(machine, group, code, same, passed, &locations[__builtin_ctz(left)], phases);
        left &= ~same;
    }
    if (detail->gives)
        ptx_put_mask(machine, group, detail->gives, over, asked, asked & ~lanes);
    return PTX_STEP_NEXT;
}

/* ---- Tokens ------------------------------------------------------------------------------------- */

typedef struct PendingDetail {
    const PtxArgument *gives, *state;
} PendingDetail;

static PtxStep pending_run(PtxMachine *machine, PtxGroup *group, const PtxCode *code, uint32_t lanes) {
    const PendingDetail *detail = code->detail;
    Lanes scratch, counts;
    uint32_t unknown = 0;
    const Lanes *states = ptx_fetch(machine, group, detail->state, 0, &scratch, &unknown);
    for (unsigned i = 0; i < PTX_LANES; i++)
        counts.at[i] = (uint32_t)states->at[i] & TOKEN_PENDING;
    ptx_put(machine, group, detail->gives, 0, &counts, lanes, unknown & lanes);
    return PTX_STEP_NEXT;
}

static bool pending_prepare(const PtxPrepare *about, PtxCode *code) {
    PendingDetail detail = {code_argument(about->program, code, 0), code_argument(about->program, code, 1)};
    take_code(about, code, pending_run, &detail, sizeof detail);
    code->visible = false;
    return true;
}

/* ---- Preparing ---------------------------------------------------------------------------------- */

static PtxRun *run_of(const PtxEffect *effect) {
    switch (effect->effect.verb) {
    case EFFECT_INIT:
    case EFFECT_INVALIDATE:
        return life_run;
    case EFFECT_ARRIVE:
        return effect->effect.done == DONE_COPIES ? track_run : effect->effect.done == DONE_NOW ? signal_run : NULL;
    case EFFECT_EXPECT:
    case EFFECT_EXPECT_BYTES:
    case EFFECT_COMPLETE:
        return signal_run;
    case EFFECT_WAIT:
        return wait_run;
    default:
        return NULL;
    }
}

bool mbarrier_prepare(const PtxPrepare *about, PtxCode *code) {
    if (about->evaluator == PTX_EVALUATE_PENDING)
        return pending_prepare(about, code);
    const PtxEffect *effect = about->effect_count == 1 ? about->effects : NULL;
    PtxRun *run = effect ? run_of(effect) : NULL;
    if (!run)
        return false;
    MbarrierDetail detail = {.bar = named_argument(about, code, effect->on),
                             .count = named_argument(about, code, effect->count),
                             .gives = named_argument(about, code, effect->gives),
                             .phase = named_argument(about, code, effect->phase),
                             .space = space_of(code),
                             .verb = (uint8_t)effect->effect.verb,
                             .order = (uint8_t)effect->effect.order,
                             .scope = (uint8_t)effect->effect.scope,
                             .by_state = effect->by_state,
                             .blocks = effect->blocks,
                             .drops = effect->drops,
                             .no_complete = effect->no_complete,
                             .announces = !effect->effect.no_increment};
    if (!detail.bar || (run == wait_run && !detail.phase))
        return false;
    code->blocks = effect->blocks;
    return take_code(about, code, run, &detail, sizeof detail);
}
