/* What a step of an exploration touches: two steps that touch nothing in common come in either order to the same. */
#include "machine/simt/schedule/explore_internal.h"

/* Things that are shared and are no memory. */
typedef enum ExploreTouchThing { THING_SC, THING_NAMED, THING_CLUSTER, THING_WARP, THING_MBARRIER } ExploreTouchThing;

/* Makes a piece as long as both. */
static void widen(ExploreTouched *piece, ExploreTouched other) {
    uint64_t end = piece->at + piece->bytes, other_end = other.at + other.bytes;
    piece->at = other.at < piece->at ? other.at : piece->at;
    piece->bytes = (other_end > end ? other_end : end) - piece->at;
    piece->first = other.first < piece->first ? other.first : piece->first;
    piece->last = other.last > piece->last ? other.last : piece->last;
}

/* Neighbors are one piece; where there are too many, those of one memory are, with what is between them. */
static void add(ExploreTouch *touch, ExploreTouched piece) {
    bool full = touch->count == TOUCHED_MOST;
    for (uint32_t i = 0; i < touch->count; i++) {
        ExploreTouched *at = &touch->pieces[i];
        bool near = piece.at <= at->at + at->bytes && at->at <= piece.at + piece.bytes;
        if (at->memory == piece.memory && at->kind == piece.kind && piece.memory && (full || near)) {
            widen(at, piece);
            return;
        }
    }
    if (full)
        touch->all = true;
    else
        touch->pieces[touch->count++] = piece;
}

static void add_thing(ExploreTouch *touch, ExploreTouchThing thing, uint64_t number, TouchKind kind) {
    add(touch,
        (ExploreTouched){.at = (uint64_t)thing << 60 | (number & ((UINT64_C(1) << 60) - 1)), .bytes = 1, .kind = kind});
}

static ExploreTouched piece_of(const PtxBlock *block, uint64_t offset, uint64_t bytes, TouchKind kind) {
    uint64_t memory = (uint64_t)block->cta << 8 | (uint64_t)block->space | (UINT64_C(1) << 63);
    return (ExploreTouched){.memory = memory, .at = block->base + offset, .bytes = bytes, .kind = kind};
}

static void add_access(ExploreTouch *touch, const PtxEvent *event, bool chosen, uint32_t first, uint32_t last) {
    TouchKind kind = event->access.kind != KIND_READ ? TOUCH_WRITE : chosen ? TOUCH_CHOSEN : TOUCH_READ;
    for (uint32_t i = 0; i < event->location_count; i++) {
        bool here = event->location_count > PTX_LANES || event->sizes || !event->lanes || event->lanes >> i & 1;
        if (!here || !event->locations[i].block)
            continue;
        ExploreTouched piece = piece_of(event->locations[i].block, event->locations[i].offset,
                                        event->sizes ? event->sizes[i] : event->access.bytes, kind);
        piece.first = first;
        piece.last = last;
        add(touch, piece);
    }
}

/* Arrivals come in any order to the same, and so do ends of threads: only that a barrier is complete is noticed. */
static void add_barrier(ExploreTouch *touch, const PtxEvent *event) {
    const PtxCta *cta = event->warp ? event->warp->cta : NULL;
    uint64_t named = cta ? (uint64_t)cta->number << 8 | event->barrier : 0;
    switch (event->kind) {
    case PTX_EVENT_NAMED_ARRIVE:
        add_thing(touch, THING_NAMED, named, TOUCH_ARRIVE);
        break;
    case PTX_EVENT_NAMED_COMPLETE:
        add_thing(touch, THING_NAMED, named, TOUCH_WRITE);
        break;
    case PTX_EVENT_NAMED_SYNC:
        add_thing(touch, THING_NAMED, named, TOUCH_PASS);
        break;
    case PTX_EVENT_CLUSTER_ARRIVE:
        add_thing(touch, THING_CLUSTER, cta->cluster, TOUCH_ARRIVE);
        break;
    case PTX_EVENT_CLUSTER_COMPLETE:
        add_thing(touch, THING_CLUSTER, cta->cluster, TOUCH_WRITE);
        break;
    case PTX_EVENT_CLUSTER_WAIT:
        add_thing(touch, THING_CLUSTER, cta->cluster, TOUCH_PASS);
        break;
    default:
        break;
    }
}

static void add_mbarrier(ExploreTouch *touch, const PtxEvent *event) {
    switch (event->kind) {
    case PTX_EVENT_TEST:
        add_thing(touch, THING_MBARRIER, event->place, TOUCH_READ);
        break;
    case PTX_EVENT_EXPECT:
        add_thing(touch, THING_MBARRIER, event->place, TOUCH_EXPECT);
        break;
    case PTX_EVENT_COMPLETE:
        add_thing(touch, THING_MBARRIER, event->place, TOUCH_BYTES);
        break;
    case PTX_EVENT_WAIT: /* what blocks until then comes to the same wherever it begins to wait */
        add_thing(touch, THING_MBARRIER, event->place, event->code && event->code->blocks ? TOUCH_PASS : TOUCH_READ);
        break;
    case PTX_EVENT_ARRIVE:
    case PTX_EVENT_TRACK:
    case PTX_EVENT_COMMIT_TO:
        /* a thread that expects bytes and arrives with one instruction does so before the phase can be complete */
        if (touch->count && touch->pieces[touch->count - 1].kind == TOUCH_EXPECT)
            touch->count--;
        add_thing(touch, THING_MBARRIER, event->place, TOUCH_ARRIVE);
        break;
    case PTX_EVENT_INIT:
    case PTX_EVENT_INVALIDATE:
    case PTX_EVENT_FLIP:
        add_thing(touch, THING_MBARRIER, event->place, TOUCH_WRITE);
        break;
    default:
        add_barrier(touch, event);
    }
}

void touch_event(ExploreTouch *touch, const PtxEvent *event, bool chosen, uint32_t first, uint32_t last) {
    const PtxCta *cta = event->warp ? event->warp->cta : NULL;
    switch (event->kind) {
    case PTX_EVENT_ACCESS:
        add_access(touch, event, chosen, first, last);
        break;
    case PTX_EVENT_FENCE:
        if (event->sequential)
            add_thing(touch, THING_SC, 0, TOUCH_WRITE);
        break;
    case PTX_EVENT_WARP_SYNC:
        add_thing(touch, THING_WARP, (uint64_t)cta->number << 16 | event->warp->index, TOUCH_WRITE);
        break;
    case PTX_EVENT_CTA_OVER: /* nothing may use its memory any more */
        add(touch, piece_of(&cta->shared, 0, cta->shared.size, TOUCH_WRITE));
        break;
    case PTX_EVENT_UNKNOWN:
        touch->all = true;
        break;
    default:
        add_mbarrier(touch, event);
    }
}

static TouchOrder order_of(TouchKind first, TouchKind second) {
    TouchKind expects = first == TOUCH_EXPECT ? second : second == TOUCH_EXPECT ? first : TOUCH_READ;
    if (expects == TOUCH_ARRIVE || expects == TOUCH_BYTES)
        return TOUCH_EXCHANGE;
    if (first != TOUCH_WRITE && second != TOUCH_WRITE)
        return TOUCH_APART;
    return first == TOUCH_ARRIVE || first == TOUCH_PASS || second == TOUCH_PASS ? TOUCH_BEHIND : TOUCH_EXCHANGE;
}

static TouchOrder pieces_order(const ExploreTouched *first, const ExploreTouched *second) {
    if (first->kind == TOUCH_WRITE && second->kind == TOUCH_CHOSEN)
        return first->first < second->last && second->last <= first->last ? TOUCH_BEHIND : TOUCH_APART;
    return order_of(first->kind, second->kind);
}

TouchOrder touch_order(const ExploreTouch *first, const ExploreTouch *second) {
    if (first->all || second->all)
        return TOUCH_EXCHANGE;
    TouchOrder most = TOUCH_APART;
    for (uint32_t i = 0; i < first->count; i++)
        for (uint32_t k = 0; k < second->count; k++) {
            const ExploreTouched *a = &first->pieces[i], *b = &second->pieces[k];
            if (a->memory != b->memory || a->at >= b->at + b->bytes || b->at >= a->at + a->bytes)
                continue;
            TouchOrder order = pieces_order(a, b);
            most = order > most ? order : most;
        }
    return most;
}
