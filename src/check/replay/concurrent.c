/* Who may have run beside whom. */
#include "check/replay/concurrent.h"
#include "check/replay/together.h"
#include "trace/copies.h"

#include <stdlib.h>

static const RecordingKnown *known_of(const Recording *recording, uint32_t stream) {
    static const RecordingKnown nothing;
    for (uint32_t i = 0; i < recording->order->known_count; i++)
        if (recording->known[i].stream == stream)
            return &recording->known[i];
    return &nothing;
}

Beside recordings_concurrent(const Recording *first, const Recording *second) {
    const RecordingOrder *one = first->order, *other = second->order;
    if (!one || !other || one->process != other->process)
        return BESIDE_APART;
    const RecordingKnown *known = known_of(second, one->stream);
    uint64_t number = first->launch.number;
    if (number < known->begun)
        return BESIDE_BEFORE;
    if (number < known->waited)
        return BESIDE_WAITED;
    return number < known->maybe || (one->flags | other->flags) & RECORDING_ORDER_OPEN ? BESIDE_MAYBE : BESIDE_BOTH;
}

Beside recording_beside_copy(const Recording *launch, const RecordingCopy *copy, const RecordingKnown *known) {
    const RecordingOrder *order = launch->order;
    const RecordingKnown nothing = {0}, *of = &nothing;
    for (uint32_t i = 0; i < copy->known_count; i++)
        if (known[i].stream == order->stream)
            of = &known[i];
    if (launch->launch.number < of->begun || copy->number < known_of(launch, copy->stream)->copies)
        return BESIDE_BEFORE;
    bool handed_on = copy->launches > launch->launch.number ? launch->launch.number < of->maybe
                                                            : order->flags & RECORDING_ORDER_THREADS;
    bool open = (order->flags | copy->flags) & (RECORDING_ORDER_OPEN | RECORDING_ORDER_CALLED);
    return open || handed_on ? BESIDE_MAYBE : BESIDE_BOTH;
}

bool recording_behind_copy(const Recording *launch, const RecordingCopy *copy) {
    return copy->number < known_of(launch, copy->stream)->copies;
}

int recordings_by_number(const Recording *one, const Recording *other) {
    uint64_t a = one->order ? one->order->process : 0, b = other->order ? other->order->process : 0;
    if (a != b)
        return a < b ? -1 : 1;
    a = one->launch.number;
    b = other->launch.number;
    return (a > b) - (a < b);
}

uint64_t recording_depends_on(const Recording *recording) {
    if (!recording->order || !(recording->launch.flags & RECORDING_DEPENDENT))
        return 0;
    const RecordingKnown *known = known_of(recording, recording->order->stream);
    return known->waited > known->begun ? known->waited : 0;
}

/* ---- Groups --------------------------------------------------------------------------------------- */

typedef struct ConcurrentPlaced {
    const Recording *recording;
    size_t index;
} ConcurrentPlaced;

static int by_number(const void *a, const void *b) {
    const ConcurrentPlaced *x = a, *y = b;
    int order = recordings_by_number(x->recording, y->recording);
    return order ? order : (x->index > y->index) - (x->index < y->index);
}

static size_t root_of(size_t *groups, size_t at) {
    while (groups[at] != at)
        at = groups[at] = groups[groups[at]];
    return at;
}

static void unite(size_t *groups, size_t one, size_t other) {
    one = root_of(groups, one);
    other = root_of(groups, other);
    if (one < other)
        groups[other] = one;
    else
        groups[one] = other;
}

void recordings_group(const Recording *const *recordings, size_t count, size_t *groups, Arena *arena) {
    ConcurrentPlaced *placed = ARENA_ARRAY(arena, ConcurrentPlaced, count + 1);
    for (size_t i = 0; i < count; i++) {
        groups[i] = i;
        placed[i] = (ConcurrentPlaced){recordings[i], i};
    }
    qsort(placed, count, sizeof *placed, by_number);
    for (size_t i = 0; i < count; i++)
        for (size_t k = i; k-- > 0 && placed[i].recording->order && placed[k].recording->order &&
                           placed[k].recording->order->process == placed[i].recording->order->process;)
            if (recordings_concurrent(placed[k].recording, placed[i].recording) >= BESIDE_WAITED)
                unite(groups, placed[i].index, placed[k].index);
    for (size_t i = 0; i < count; i++)
        groups[i] = root_of(groups, i);
}
