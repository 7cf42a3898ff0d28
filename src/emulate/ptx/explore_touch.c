/* What a step of an exploration touches: two steps that touch nothing in common come in either order to the same. */
#include "emulate/ptx/explore_internal.h"

/* Things that are shared and are no memory. */
typedef enum Thing { THING_SC, THING_NAMED, THING_CLUSTER, THING_WARP, THING_MBARRIER } Thing;

/* Makes a piece as long as both. */
static void widen(Touched *piece, Touched other) {
    uint64_t end = piece->at + piece->bytes, other_end = other.at + other.bytes;
    piece->at = other.at < piece->at ? other.at : piece->at;
    piece->bytes = (other_end > end ? other_end : end) - piece->at;
}

/* Neighbors are one piece; where there are too many, those of one block are, with what is between them. */
static void add(Touch *touch, Touched piece) {
    bool full = touch->count == TOUCHED_MOST;
    for (uint32_t i = 0; i < touch->count; i++) {
        Touched *at = &touch->pieces[i];
        bool near = piece.at <= at->at + at->bytes && at->at <= piece.at + piece.bytes;
        if (at->block == piece.block && at->writes == piece.writes && piece.block && (full || near)) {
            widen(at, piece);
            return;
        }
    }
    if (full)
        touch->all = true;
    else
        touch->pieces[touch->count++] = piece;
}

static void add_thing(Touch *touch, Thing thing, uint64_t number, bool writes) {
    add(touch,
        (Touched){.at = (uint64_t)thing << 60 | (number & ((UINT64_C(1) << 60) - 1)), .bytes = 1, .writes = writes});
}

static void add_access(Touch *touch, const PtxEvent *event) {
    bool writes = event->access.kind != EFFECT_READ;
    for (uint32_t i = 0; i < event->spot_count; i++) {
        bool here = event->spot_count > PTX_LANES || event->sizes || !event->lanes || event->lanes >> i & 1;
        if (here && event->spots[i].block)
            add(touch, (Touched){event->spots[i].block, event->spots[i].offset,
                                 event->sizes ? event->sizes[i] : event->access.bytes, writes});
    }
}

/* Arrivals come in any order to the same, and so do ends of threads: only that a barrier is complete is noticed. */
static void add_barrier(Touch *touch, const PtxEvent *event) {
    const PtxCta *cta = event->warp ? event->warp->cta : NULL;
    switch (event->kind) {
    case PTX_EVENT_NAMED_ARRIVE:
    case PTX_EVENT_NAMED_MEET:
        add_thing(touch, THING_NAMED, (uint64_t)cta->number << 8 | event->barrier, event->kind == PTX_EVENT_NAMED_MEET);
        break;
    case PTX_EVENT_CLUSTER_ARRIVE:
    case PTX_EVENT_CLUSTER_MEET:
        add_thing(touch, THING_CLUSTER, cta->cluster, event->kind == PTX_EVENT_CLUSTER_MEET);
        break;
    case PTX_EVENT_TEST:
    case PTX_EVENT_WAIT:
    case PTX_EVENT_EXPECT:
    case PTX_EVENT_ARRIVE:
    case PTX_EVENT_COMPLETE:
    case PTX_EVENT_TRACK:
    case PTX_EVENT_COMMIT_TO:
        add_thing(touch, THING_MBARRIER, event->place, false);
        break;
    case PTX_EVENT_INIT:
    case PTX_EVENT_INVALIDATE:
    case PTX_EVENT_FLIP:
        add_thing(touch, THING_MBARRIER, event->place, true);
        break;
    default:
        break;
    }
}

void touch_event(Touch *touch, const PtxEvent *event) {
    const PtxCta *cta = event->warp ? event->warp->cta : NULL;
    switch (event->kind) {
    case PTX_EVENT_ACCESS:
        add_access(touch, event);
        break;
    case PTX_EVENT_FENCE:
        if (event->sequential)
            add_thing(touch, THING_SC, 0, true);
        break;
    case PTX_EVENT_WARP_SYNC:
        add_thing(touch, THING_WARP, (uint64_t)cta->number << 16 | event->warp->index, true);
        break;
    case PTX_EVENT_CTA_OVER: /* nobody may use its memory any more */
        add(touch, (Touched){&cta->shared, 0, cta->shared.size, true});
        break;
    case PTX_EVENT_UNKNOWN:
        touch->all = true;
        break;
    default:
        add_barrier(touch, event);
    }
}

bool touch_apart(const Touch *one, const Touch *other) {
    if (one->all || other->all)
        return false;
    for (uint32_t i = 0; i < one->count; i++)
        for (uint32_t k = 0; k < other->count; k++) {
            const Touched *a = &one->pieces[i], *b = &other->pieces[k];
            if (a->block == b->block && (a->writes || b->writes) && a->at < b->at + b->bytes &&
                b->at < a->at + a->bytes)
                return false;
        }
    return true;
}
