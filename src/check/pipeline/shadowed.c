/* Launches in mode shadow beside an order log: what their cells said of memory that processes share, and their signals. Each
 * slot of a launch is a warp of the log: what it did between two of its signals comes between these, and the times of
 * signals say which of other launches come before. */
#include "check/pipeline/internal.h"

#include "base/order.h"
#include "check/replay/recording.h"
#include "ptx/places.h"
#include "trace/order_log.h"
#include "trace/shadow.h"
#include "trace/sites.h"

#include <stdlib.h>

/* Something that a slot did: an access, or a signal. */
typedef struct ShadowedAct {
    uint32_t actor, epoch; /* of a signal, that it closed */
    uint32_t number;       /* of touched bytes or signals */
    bool is_signal;
    uint64_t time;
} ShadowedAct;

typedef struct ShadowedLaunch {
    PipelineResult *result;
    const Recording *recording;
    RecordingTouchedHead head;
    const ShadowSignal *signals;
    const RecordingTouched *touched;
    uint32_t touched_count;
    ShadowedAct *acts;
    uint32_t count, actors;
    Sites sites;
    bool has_sites;
    Arena *arena;
} ShadowedLaunch;

ORDER(by_actor, ShadowedAct, BY(actor) BY(epoch) BY(is_signal) BY(number))
ORDER(by_time, ShadowedAct, BY(time) BY(actor) BY(epoch) BY(is_signal) BY(number))

static bool is_strong(const RecordingTouched *touched) {
    return touched->how == RECORDING_STRONGLY_READ || touched->how == RECORDING_STRONGLY_WRITTEN;
}

static bool releases(const ShadowedLaunch *shadowed, const ShadowedAct *act) {
    return act->is_signal && shadowed->signals[act->number].kind == SHADOW_RELEASES;
}

/* What is asynchronous has a group in place of an epoch: it is over with the first release that has waited for it. */
static uint32_t epoch_of_group(const ShadowedLaunch *shadowed, uint32_t actor, uint32_t group) {
    uint32_t epoch = UINT32_MAX;
    for (uint32_t i = 0; i < shadowed->head.signal_count; i++) {
        const ShadowSignal *signal = &shadowed->signals[i];
        if (signal->kind == SHADOW_RELEASES && signal->actor == actor && signal->complete >= group &&
            signal->epoch < epoch)
            epoch = signal->epoch;
    }
    return epoch;
}

/* A strong access that is an acquire comes behind what it has acquired, unless it has released something before. */
static uint32_t epoch_of_strong(const ShadowedLaunch *shadowed, const RecordingTouched *touched, const ShadowedAct *act) {
    uint32_t acquired = UINT32_MAX, released = UINT32_MAX;
    for (uint32_t i = 0; i < shadowed->head.signal_count; i++) {
        const ShadowSignal *signal = &shadowed->signals[i];
        if (signal->actor != act->actor || signal->epoch < act->epoch)
            continue;
        if (signal->kind == SHADOW_RELEASES && signal->epoch < released)
            released = signal->epoch;
        if (signal->kind == SHADOW_ACQUIRES && signal->epoch < acquired &&
            signal->address - touched->begin < touched->bytes)
            acquired = signal->epoch;
    }
    return acquired < released ? acquired + 1 : act->epoch;
}

static uint32_t site_bits(const ShadowedLaunch *shadowed) {
    return shadowed->head.form & 255;
}

static ShadowedAct act_of(const ShadowedLaunch *shadowed, uint32_t number) {
    uint32_t epoch_bits = shadowed->head.form >> 8 & 255, shift = shadowed->head.form >> 16 & 1;
    const RecordingTouched *touched = &shadowed->touched[number];
    uint32_t time = touched->stamp >> site_bits(shadowed), actor = time >> epoch_bits;
    ShadowedAct act = {.actor = actor >> shift, .epoch = time & ((1u << epoch_bits) - 1), .number = number};
    if (shift && actor & 1)
        act.epoch = epoch_of_group(shadowed, act.actor, act.epoch);
    else if (is_strong(touched))
        act.epoch = epoch_of_strong(shadowed, touched, &act);
    return act;
}

static void find_acts(ShadowedLaunch *shadowed) {
    for (uint32_t i = 0; i < shadowed->touched_count; i++)
        if (shadowed->touched[i].how != RECORDING_LOOKED_AT)
            shadowed->acts[shadowed->count++] = act_of(shadowed, i);
    for (uint32_t i = 0; i < shadowed->head.signal_count; i++) {
        const ShadowSignal *signal = &shadowed->signals[i];
        if (signal->kind == SHADOW_SIGNAL_NONE || signal->kind > SHADOW_FENCES)
            continue;
        shadowed->acts[shadowed->count++] =
            (ShadowedAct){signal->actor, signal->epoch, i, true, 2 * signal->time + (signal->kind != SHADOW_RELEASES)};
    }
    qsort(shadowed->acts, shadowed->count, sizeof *shadowed->acts, by_actor);
    for (uint32_t i = 0; i < shadowed->count; i++)
        if (shadowed->acts[i].actor >= shadowed->actors)
            shadowed->actors = shadowed->acts[i].actor + 1;
}

/* Times of a slot go up: an acquire may as well have been later, and a release earlier. What it has accessed has the
 * time of its next signal. */
static void settle_times(ShadowedLaunch *shadowed) {
    uint64_t last = 0;
    for (uint32_t i = 0; i < shadowed->count; i++) {
        ShadowedAct *act = &shadowed->acts[i];
        last = i && act->actor != act[-1].actor ? 0 : last;
        if (act->is_signal && act->time < last)
            act->time = last;
        if (act->is_signal && !releases(shadowed, act))
            last = act->time;
    }
    last = 0;
    for (uint32_t i = 0; i < shadowed->count; i++)
        last = shadowed->acts[i].time > last ? shadowed->acts[i].time : last;
    uint64_t next = last;
    for (uint32_t i = shadowed->count; i-- > 0;) {
        ShadowedAct *act = &shadowed->acts[i];
        next = i + 1 < shadowed->count && act[1].actor != act->actor ? last : next;
        if (!act->is_signal || act->time > next)
            act->time = next;
        next = act->time;
    }
}

/* "k.py:12" */
static Str where_of(const ShadowedLaunch *shadowed, const RecordingTouched *touched) {
    uint32_t site = (touched->stamp & ((1u << site_bits(shadowed)) - 1)) - 1;
    PtxPlace place = {0};
    Text text = {0};
    if (!shadowed->has_sites || site >= shadowed->sites.count ||
        !ptx_places(shadowed->result->ptx, shadowed->sites.items[site].statement, &place, 1) || !place.line)
        return STR("");
    text_addf(&text, "%.*s:%u", STR_ARG(place.file), place.line);
    size_t size = text.size;
    return (Str){text_keep(&text, shadowed->arena), size};
}

static ProgramStep access_step(const ShadowedLaunch *shadowed, const ShadowedAct *act) {
    enum { SCOPES = 100, ORDERS = 10 };
    const RecordingTouched *touched = &shadowed->touched[act->number];
    bool writes = touched->how == RECORDING_WRITTEN || touched->how == RECORDING_STRONGLY_WRITTEN;
    uint64_t how = (is_strong(touched) ? SCOPE_SYS * SCOPES + ORDER_RELAXED * ORDERS : 0) + (writes ? KIND_WRITE : KIND_READ);
    return (ProgramStep){.verb = ORDER_STEP,
                         .numbers = {act->time, act->actor, how, touched->begin, touched->bytes},
                         .where = where_of(shadowed, touched)};
}

static ProgramStep signal_step(const ShadowedAct *act, const ShadowSignal *signal, OrderVerb verb) {
    return (ProgramStep){.verb = (uint8_t)verb, .numbers = {act->time, act->actor, signal->address}, .where = STR("")};
}

/* What the slot has observed since its fence before, each acquired with this one. */
static void take_observed(const ShadowedLaunch *shadowed, const ShadowedAct *fence, ProgramRecording *to) {
    const ShadowSignal *own = &shadowed->signals[fence->number];
    for (uint32_t i = 0; i < shadowed->head.signal_count; i++) {
        const ShadowSignal *signal = &shadowed->signals[i];
        if (signal->kind == SHADOW_OBSERVES && signal->actor == own->actor && signal->epoch <= own->epoch)
            to->steps[to->step_count++] = signal_step(fence, signal, ORDER_ACQUIRES);
    }
}

static uint32_t steps_most(const ShadowedLaunch *shadowed) {
    uint64_t observed = 0, fences = 0;
    for (uint32_t i = 0; i < shadowed->head.signal_count; i++) {
        observed += shadowed->signals[i].kind == SHADOW_OBSERVES;
        fences += shadowed->signals[i].kind == SHADOW_FENCES;
    }
    uint64_t most = shadowed->count + observed * fences;
    return most < UINT32_MAX ? (uint32_t)most : UINT32_MAX;
}

static bool find_steps(ShadowedLaunch *shadowed, ProgramRecording *to) {
    enum { MOST_STEPS = 1 << 20 };
    uint32_t most = steps_most(shadowed);
    if (most > MOST_STEPS || shadowed->actors > MOST_STEPS)
        return false;
    qsort(shadowed->acts, shadowed->count, sizeof *shadowed->acts, by_time);
    to->steps = ARENA_ARRAY(shadowed->arena, ProgramStep, most + 1);
    for (uint32_t i = 0; i < shadowed->count; i++) {
        const ShadowedAct *act = &shadowed->acts[i];
        const ShadowSignal *signal = act->is_signal ? &shadowed->signals[act->number] : NULL;
        if (!signal)
            to->steps[to->step_count++] = access_step(shadowed, act);
        else if (signal->kind == SHADOW_FENCES)
            take_observed(shadowed, act, to);
        else if (signal->kind != SHADOW_OBSERVES)
            to->steps[to->step_count++] =
                signal_step(act, signal, signal->kind == SHADOW_RELEASES ? ORDER_RELEASES : ORDER_ACQUIRES);
    }
    const uint64_t grid[] = {shadowed->actors, 1, 1, shadowed->head.unit};
    memcpy(to->grid, grid, sizeof grid);
    return true;
}

static void find_touches(ShadowedLaunch *shadowed, ProgramRecording *to) {
    static const uint8_t ways[RECORDING_WAYS] = {[RECORDING_READ] = TOUCH_READ,
                                                 [RECORDING_WRITTEN] = TOUCH_WRITE,
                                                 [RECORDING_STRONGLY_READ] = TOUCH_STRONG_READ,
                                                 [RECORDING_STRONGLY_WRITTEN] = TOUCH_STRONG_WRITE,
                                                 [RECORDING_LOOKED_AT] = TOUCH_ANY};
    to->touches = ARENA_ARRAY(shadowed->arena, Touch, shadowed->touched_count + 1);
    to->looked_at = ARENA_ARRAY(shadowed->arena, Touch, shadowed->touched_count + 1);
    for (uint32_t i = 0; i < shadowed->touched_count; i++) {
        const RecordingTouched *touched = &shadowed->touched[i];
        Touch touch = {.begin = touched->begin, .bytes = touched->bytes, .count = 1, .how = ways[touched->how]};
        if (touched->how == RECORDING_LOOKED_AT)
            to->looked_at[to->looked_at_count++] = touch;
        else
            to->touches[to->touch_count++] = touch;
    }
}

/* Copies of what lies in the section, which need not be aligned. */
static void open_section(ShadowedLaunch *shadowed, Str section) {
    const char *at = section.data + sizeof shadowed->head;
    memcpy(&shadowed->head, section.data, sizeof shadowed->head);
    size_t signals = shadowed->head.signal_count * sizeof(ShadowSignal),
           bytes = section.size - sizeof shadowed->head - signals;
    shadowed->signals = memcpy(ARENA_ARRAY(shadowed->arena, ShadowSignal, shadowed->head.signal_count + 1), at, signals);
    shadowed->touched_count = (uint32_t)(bytes / sizeof(RecordingTouched));
    shadowed->touched =
        memcpy(ARENA_ARRAY(shadowed->arena, RecordingTouched, shadowed->touched_count + 1), at + signals, bytes);
    shadowed->acts =
        ARENA_ARRAY(shadowed->arena, ShadowedAct, shadowed->head.signal_count + shadowed->touched_count + 1);
}

bool result_shadow_touches(PipelineResult *result, ProgramRecording *recording, Arena *arena) {
    ShadowedLaunch shadowed = {.result = result, .recording = result->recording, .arena = arena};
    const char *problem;
    SiteText text = ptx_site_text(result->ptx);
    if (!result->recording->touched.size)
        return false;
    open_section(&shadowed, result->recording->touched);
    shadowed.has_sites = sites_read(&shadowed.sites, result->recording->sites, &text, arena, &problem);
    find_touches(&shadowed, recording);
    recording->of_shared = true;
    recording->lost = shadowed.head.flags & RECORDING_TOUCHED_LOST;
    bool followed = shadowed.head.flags & RECORDING_TOUCHED_SIGNALS;
    if (followed && shadowed.head.signal_count) {
        find_acts(&shadowed);
        settle_times(&shadowed);
        followed = find_steps(&shadowed, recording);
    }
    recording->signals = recording_may_signal(result->ptx, result->entries[0], followed);
    return true;
}
