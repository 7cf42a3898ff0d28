/* Two accesses that conflict and are not ordered: whether that is a race, which one, and why. */
#include "engine/hb/threads_attempt.h"

/* Whether the lane would be known if what the bridge has counted. */
static bool known_behind(const Attempt *attempt, uint64_t key, const ThreadsRecord *earlier, uint32_t lane) {
    ThreadsClock bridge;
    return threads_bridge(attempt->knower.clock, key, &bridge) &&
           threads_clock_known(&bridge, earlier->cta, earlier->warp, earlier->epoch) >> lane & 1;
}

/* Whether they are in base causality order: proxies do not count. */
static bool before_by_clock(const Attempt *attempt, const ThreadsRecord *earlier, uint32_t lane, uint32_t by) {
    if (earlier->operation)
        return threads_knows_operation(attempt->threads, &attempt->knower, earlier->operation, lane,
                                       earlier->kind != KIND_READ, by);
    return (lane == by && attempt_same_warp(attempt, earlier) && earlier->epoch <= attempt->knower.own_epoch) ||
           threads_clock_known(attempt->knower.clock, earlier->cta, earlier->warp, earlier->epoch) >> lane & 1;
}

/* Whether who issued this operation knows the earlier access by now: then it is the operation that is not over. */
static bool issuer_knows(const Attempt *attempt, const ThreadsRecord *earlier, uint32_t lane, uint32_t by) {
    Threads *threads = attempt->threads;
    if (!attempt->knower.operation || earlier->operation || !threads->ctas[attempt->knower.cta])
        return false;
    if (attempt_same_warp(attempt, earlier) && lane == by)
        return true;
    const ThreadsView *view =
        threads_view_of(threads, attempt->knower.cta * threads->cta_warps + attempt->knower.warp, by);
    return view && threads_clock_known(view->clock, earlier->cta, earlier->warp, earlier->epoch) >> lane & 1;
}

static ThreadsReason reason_of(const Attempt *attempt, uint32_t index, uint32_t lane, uint32_t by) {
    const ThreadsRecord *earlier = record_at(attempt->threads, index), *record = attempt->record;
    if (earlier->instruction == record->instruction && !record->operation)
        return THREADS_SAME_INSTRUCTION;
    if (attempt_needs_fence(attempt, earlier) && before_by_clock(attempt, earlier, lane, by))
        return THREADS_OTHER_PROXY;
    if (earlier->order != ORDER_WEAK && record->order != ORDER_WEAK && earlier->proxy == record->proxy)
        return level_has(attempt->threads, earlier->level, earlier->cta, record->cta) &&
                       level_has(attempt->threads, record->level, record->cta, earlier->cta)
                   ? THREADS_MIXED_SIZE
                   : THREADS_TOO_NARROW;
    if (earlier->operation || issuer_knows(attempt, earlier, lane, by))
        return THREADS_IN_FLIGHT;
    if (known_behind(attempt, KEY_LOOSE, earlier, lane))
        return THREADS_TOO_NARROW;
    return attempt_same_warp(attempt, earlier) && !record->operation ? THREADS_SAME_WARP : THREADS_UNORDERED;
}

static bool was_waited_for(const Attempt *attempt, const ThreadsRecord *earlier, uint32_t lane) {
    if (!earlier->operation)
        return false;
    const ThreadsOperation *operation = operation_at(attempt->threads, earlier->operation);
    for (const Completion *done = operation->completions; done; done = done->next)
        if (done->part >> lane & 1 && !done->object && !done->in_order &&
            !(done->reads_only && earlier->kind != KIND_READ))
            return true;
    return false;
}

/* Words of a cell, as races are counted. */
static uint32_t words_of(const ShadowPage *page) {
    return page->shift > 2 ? 1U << (page->shift - 2) : 1;
}

static void note_reported(Attempt *attempt, uint32_t race, uint32_t times) {
    for (uint32_t i = attempt->reported_count; i-- > 0;)
        if (attempt->reported[i].race == race) {
            attempt->reported[i].times += times;
            return;
        }
    if (attempt->reported_count < MOST_REPORTED)
        attempt->reported[attempt->reported_count++] = (Reported){race, times};
    else
        attempt->steady = false;
}

void attempt_again(Attempt *attempt, uint32_t race, uint32_t times) {
    attempt->threads->races[race].times += (uint64_t)times * words_of(attempt->page);
    note_reported(attempt, race, times);
}

uint32_t attempt_report(Attempt *attempt, uint32_t index, uint32_t lane, uint32_t by, ThreadsReason reason) {
    const ThreadsRecord *earlier = record_at(attempt->threads, index), *record = attempt->record;
    bool silent = record->kind != KIND_READ ? record->silent >> by & 1 : earlier->silent >> lane & 1;
    uint32_t shift = attempt->page->shift;
    ThreadsRace race = {
        .first = threads_side(attempt->threads, earlier, lane),
        .second = threads_side(attempt->threads, record, by),
        .address = attempt->address,
        .bytes = shift > 2 ? 4 : 1U << shift,
        .reason = reason,
        .same_value = silent,
        .waited = was_waited_for(attempt, earlier, lane),
    };
    uint32_t reported = threads_report(attempt->threads, &race, words_of(attempt->page));
    note_reported(attempt, reported, 1);
    return reported;
}

/* Whether something before, in the generic proxy, has observed the strong write. */
static bool was_observed(const Attempt *attempt, uint32_t index, uint32_t lane, uint32_t by) {
    Threads *threads = attempt->threads;
    const Knower *knower = &attempt->knower;
    if (attempt->record->proxy == PROXY_GENERIC)
        return threads_was_observed(threads, knower, by, index, lane, attempt->address);
    uint64_t keys[4];
    uint32_t count = attempt_keys_at(attempt->address, attempt->record->proxy, keys);
    for (uint32_t i = 0; i < count; i++) {
        ThreadsClock bridge;
        Knower behind = *knower;
        behind.clock = threads_bridge(knower->clock, keys[i], &bridge) ? &bridge : NULL;
        behind.own_epoch = knower->notes ? threads_own(knower->notes, by, keys[i]) : 0;
        if (threads_was_observed(threads, &behind, by, index, lane, attempt->address))
            return true;
    }
    return false;
}

/* Other lanes of an earlier operation that are the same race as this one: they are over, too, and it is the fence that
 * is missing. */
static uint32_t reported_alike(const Attempt *attempt, uint32_t index, uint32_t lane) {
    const ThreadsRecord *earlier = record_at(attempt->threads, index);
    if (attempt->knower.notes || attempt->knower.operation == earlier->operation ||
        !attempt_needs_fence(attempt, earlier))
        return 0;
    uint32_t over =
        threads_operation_known(attempt->threads, &attempt->knower, earlier->operation, earlier->kind != KIND_READ);
    uint32_t silent = attempt->record->kind != KIND_READ ? 0 : earlier->silent;
    return over >> lane & 1 ? over & (silent >> lane & 1 ? silent : ~silent) : 0;
}

/* The race of two accesses, of which the earlier one is an operation's: lanes of that are told one after the other. */
static void report_operation(Attempt *attempt, uint32_t index, uint32_t lane, uint32_t by) {
    Asked *asked = attempt_asked(attempt, index, by);
    if (asked->reported >> lane & 1 && !attempt->threads->shape.by_word) {
        attempt_again(attempt, asked->race, 1);
        return;
    }
    uint32_t race = attempt_report(attempt, index, lane, by, reason_of(attempt, index, lane, by));
    if (asked->reported && asked->race != race)
        return;
    asked->race = race;
    asked->reported |= 1U << lane | reported_alike(attempt, index, lane);
}

/* Two that are morally strong by being volatile, and not ordered. What changes nothing is no pair. */
static void keep_loose(Attempt *attempt, uint32_t index, uint32_t lane, uint32_t by) {
    Threads *threads = attempt->threads;
    const ThreadsRecord *earlier = record_at(threads, index), *record = attempt->record;
    bool silent = record->kind != KIND_READ ? record->silent >> by & 1 : earlier->silent >> lane & 1;
    if (silent || threads->loose_count == MOST_LOOSE)
        return;
    for (uint32_t i = 0; i < threads->loose_count; i++)
        if (threads->loose[i].first.access.site == earlier->site &&
            threads->loose[i].second.access.site == record->site) {
            threads->loose[i].times++;
            return;
        }
    threads->loose[threads->loose_count++] = (ThreadsRace){
        .first = threads_side(threads, earlier, lane),
        .second = threads_side(threads, record, by),
        .address = attempt->address,
        .bytes = 1U << attempt->page->shift,
        .reason = earlier->instruction == record->instruction ? THREADS_SAME_INSTRUCTION
                  : attempt_same_warp(attempt, earlier)       ? THREADS_SAME_WARP
                                                              : THREADS_UNORDERED,
        .times = 1,
    };
}

bool attempt_is_settled(const Attempt *attempt, const ThreadsRecord *earlier) {
    const ThreadsRecord *record = attempt->record;
    if (record->loose && earlier->loose && attempt->threads->loose_count < MOST_LOOSE)
        return false;
    return record->order != ORDER_WEAK && threads_morally_strong(attempt->threads, earlier, record) &&
           (attempt->threads->order_site != THREADS_NONE ||
            !((record->gives && earlier->kind != KIND_READ) || (earlier->gives && record->kind != KIND_READ)));
}

uint32_t attempt_judge(Attempt *attempt, uint32_t index, uint32_t lanes) {
    Threads *threads = attempt->threads;
    const ThreadsRecord *earlier = record_at(threads, index), *record = attempt->record;
    bool strong = threads_morally_strong(threads, earlier, record), weak = earlier->order == ORDER_WEAK;
    uint32_t found = 0;
    attempt->steady &= weak; /* who has observed it depends on the address */
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint32_t lane = lowest(rest);
        for (uint32_t all = attempt->by; all; all &= all - 1) {
            uint32_t by = lowest(all);
            if (attempt_lane_before(attempt, index, lane, by) || (!weak && was_observed(attempt, index, lane, by)))
                continue;
            found |= 1U << lane;
            if (!strong && earlier->operation) {
                report_operation(attempt, index, lane, by);
                break;
            } else if (!strong) {
                attempt_report(attempt, index, lane, by, reason_of(attempt, index, lane, by));
                break;
            }
            if (record->loose && earlier->loose)
                keep_loose(attempt, index, lane, by);
            bool reads = record->gives && earlier->kind != KIND_READ;
            if (threads->order_site == THREADS_NONE && (reads || (earlier->gives && record->kind != KIND_READ)))
                threads->order_site = reads ? record->site : earlier->site;
        }
    }
    return found;
}
