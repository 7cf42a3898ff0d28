/* The start of CTAs, and who reaches into one of them from another CTA of the cluster (WATCHES_STARTS). */
#include "check/simt/watch_internal.h"

static ThreadsAccess start_access(const PtxWatch *watch, const PtxEvent *event, AccessKind kind) {
    return (ThreadsAccess){.kind = (uint8_t)kind, .element = 1, .bytes = 1, .site = watch_site(watch, event->code)};
}

/* Where the start of a CTA is in this engine. */
static uint64_t start_of(const PtxWatch *watch, uint32_t cta) {
    return threads_shared(ptx_watch_cta(watch, cta), 0);
}

/* Whether that is memory of another CTA; which is then in the same cluster. */
static bool is_beyond_cta(const PtxWarp *warp, const PtxLocation *location) {
    return location->block->cta != PTX_NONE && location->block->cta != warp->cta->number;
}

void watch_started(PtxWatch *watch, const PtxEvent *event) {
    const PtxCta *cta = event->warp->cta;
    if (watch->started[cta->number] || event->kind == PTX_EVENT_CTA_OVER)
        return;
    watch->started[cta->number] = true;
    uint32_t first = watch_warp(watch, &cta->warps[0]), lanes = cta->warps[0].launched & -cta->warps[0].launched;
    uint32_t operation = threads_issue(watch->engine, first, lanes, true, 0, watch_site(watch, event->code));
    ThreadsAccess access = start_access(watch, event, KIND_WRITE);
    threads_piece(watch->engine, operation, &access, start_of(watch, cta->number), 1);
    for (uint32_t i = 0; i < cta->warp_count; i++)
        threads_done(watch->engine, operation, THREADS_ALL_DONE, watch_warp(watch, &cta->warps[i]),
                     cta->warps[i].launched, false);
}

/* By lanes of a warp, into those CTAs. */
static void reach(PtxWatch *watch, const PtxEvent *event, uint32_t lanes, uint32_t cta) {
    ThreadsAccess access = start_access(watch, event, KIND_READ);
    uint64_t addresses[PTX_LANES];
    for (uint32_t i = 0; i < PTX_LANES; i++)
        addresses[i] = start_of(watch, cta);
    threads_access(watch->engine, 0, watch_warp(watch, event->warp), lanes, &access, addresses);
}

void watch_reaches(PtxWatch *watch, const PtxEvent *event) {
    uint32_t own = event->warp->cta->number;
    switch (event->kind) {
    case PTX_EVENT_ACCESS:
        for (uint32_t rest = event->lanes; rest; rest &= rest - 1)
            if (is_beyond_cta(event->warp, &event->locations[__builtin_ctz(rest)]))
                reach(watch, event, rest & -rest, event->locations[__builtin_ctz(rest)].block->cta);
        break;
    case PTX_EVENT_EXPECT:
    case PTX_EVENT_ARRIVE:
    case PTX_EVENT_COMPLETE:
    case PTX_EVENT_COMMIT_TO:
    case PTX_EVENT_PEER:
        if ((uint32_t)(event->place >> 32) != own)
            reach(watch, event, event->lanes, (uint32_t)(event->place >> 32));
        break;
    default:
        break;
    }
}

void watch_outstanding_reaches(PtxWatch *watch, uint32_t operation, const PtxEvent *event) {
    ThreadsAccess access = start_access(watch, event, KIND_READ);
    bool by_lane = event->outstanding->group == GROUP_CP_ASYNC;
    for (uint32_t i = 0; i < event->location_count; i++)
        if ((!by_lane || event->lanes >> i & 1) && is_beyond_cta(event->warp, &event->locations[i]))
            threads_piece(watch->engine, operation, &access, start_of(watch, event->locations[i].block->cta), 1);
}
