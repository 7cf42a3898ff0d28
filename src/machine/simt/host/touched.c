/* A bit for each byte of each page that was touched, and each way to touch it.
 *
 * Whether a thread of a dependent launch knows that the launch before it is over: it has waited, or has come behind a
 * barrier at which a thread arrived that knew. */
#include "machine/simt/host/touched.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

enum { TOUCHED_PAGE = 4096, WORD_BITS = 64, PAGE_WORDS = TOUCHED_PAGE / WORD_BITS, MAPS = 2 * TOUCHED_WAYS };
enum { NAMED_BARRIERS = 16 };

typedef struct TouchedHost {
    const PtxHost *host;
    uint64_t **maps[MAPS]; /* of each page; NULL: nothing of it, or of all pages */
} TouchedHost;

/* A barrier at which a thread arrived that knows. */
typedef struct TouchedBarrier {
    uint64_t place;
    uint32_t kind;
} TouchedBarrier;

struct Touched {
    bool dependent, failed;
    bool triggers_first; /* some CTA lets the next launch begin before it has waited itself */
    TouchedHost *hosts;
    uint32_t host_count, host_capacity, last;
    uint32_t *knows; /* of each warp of each CTA: lanes */
    uint32_t warps_per_cta, cta_count;
    uint8_t *waited; /* of each CTA */
    TouchedBarrier *barriers;
    uint32_t barrier_count, barrier_capacity;
    uint32_t *early; /* sequences of outstanding operations that were issued early */
    uint32_t early_count, early_capacity;
};

static void forget(Touched *touched) {
    for (uint32_t i = 0; i < touched->host_count; i++)
        for (unsigned map = 0; map < MAPS; map++) {
            uint64_t **pages = touched->hosts[i].maps[map];
            for (uint64_t page = 0; pages && page <= touched->hosts[i].host->size / TOUCHED_PAGE; page++)
                free(pages[page]);
            free(pages);
        }
    touched->host_count = touched->barrier_count = touched->early_count = 0;
    touched->triggers_first = false;
}

Touched *touched_new(const PtxMachine *machine, bool dependent) {
    Touched *touched = calloc(1, sizeof *touched);
    if (!touched)
        return NULL;
    touched->dependent = dependent;
    touched->cta_count = machine->cta_count;
    touched->warps_per_cta = (machine->threads_per_cta + PTX_LANES - 1) / PTX_LANES;
    if (!dependent)
        return touched;
    touched->knows = calloc((size_t)touched->cta_count * touched->warps_per_cta + 1, sizeof *touched->knows);
    touched->waited = calloc(touched->cta_count + 1, 1);
    if (touched->knows && touched->waited)
        return touched;
    touched_free(touched);
    return NULL;
}

void touched_free(Touched *touched) {
    if (!touched)
        return;
    forget(touched);
    free(touched->hosts);
    free(touched->barriers);
    free(touched->early);
    free(touched->knows);
    free(touched->waited);
    free(touched);
}

void touched_clear(Touched *touched) {
    forget(touched);
    if (!touched->dependent)
        return;
    memset(touched->knows, 0, (size_t)touched->cta_count * touched->warps_per_cta * sizeof *touched->knows);
    memset(touched->waited, 0, touched->cta_count);
}

/* ---- Bits ---- */

static TouchedHost *host_of(Touched *touched, const PtxHost *host) {
    if (touched->last < touched->host_count && touched->hosts[touched->last].host == host)
        return &touched->hosts[touched->last];
    for (uint32_t i = 0; i < touched->host_count; i++)
        if (touched->hosts[i].host == host) {
            touched->last = i;
            return &touched->hosts[i];
        }
    if (!ARRAY_ROOM(touched->hosts, touched->host_count, touched->host_capacity, 8))
        return NULL;
    touched->last = touched->host_count++;
    touched->hosts[touched->last] = (TouchedHost){.host = host};
    return &touched->hosts[touched->last];
}

static uint64_t *page_of(TouchedHost *host, unsigned map, uint64_t page) {
    if (!host->maps[map])
        host->maps[map] = calloc(host->host->size / TOUCHED_PAGE + 1, sizeof *host->maps[map]);
    if (host->maps[map] && !host->maps[map][page])
        host->maps[map][page] = calloc(PAGE_WORDS, sizeof(uint64_t));
    return host->maps[map] ? host->maps[map][page] : NULL;
}

static void set_bits(uint64_t *words, unsigned begin, unsigned end) {
    unsigned first = begin / WORD_BITS, last = (end - 1) / WORD_BITS;
    uint64_t low = UINT64_MAX << begin % WORD_BITS, high = UINT64_MAX >> (WORD_BITS - 1 - (end - 1) % WORD_BITS);
    if (first == last) {
        words[first] |= low & high;
        return;
    }
    words[first] |= low;
    for (unsigned i = first + 1; i < last; i++)
        words[i] = UINT64_MAX;
    words[last] |= high;
}

static void touch(Touched *touched, const PtxHost *of, unsigned map, uint64_t offset, uint64_t bytes) {
    TouchedHost *host = bytes ? host_of(touched, of) : NULL;
    touched->failed |= bytes && !host;
    for (uint64_t end = offset + bytes, next; host && offset < end; offset = next) {
        uint64_t page = offset / TOUCHED_PAGE, from = page * TOUCHED_PAGE;
        uint64_t *words = page_of(host, map, page);
        next = from + TOUCHED_PAGE < end ? from + TOUCHED_PAGE : end;
        touched->failed |= !words;
        if (words)
            set_bits(words, (unsigned)(offset - from), (unsigned)(next - from));
    }
}

/* Lanes side by side are one piece. */
static void touch_lanes(Touched *touched, const PtxEvent *event, uint32_t lanes, unsigned map) {
    const PtxHost *host = NULL;
    uint64_t begin = 0, end = 0, bytes = event->access.bytes;
    for (; lanes; lanes &= lanes - 1) {
        const PtxLocation *location = &event->locations[__builtin_ctz(lanes)];
        const PtxHost *of = location->block->host;
        if (!of)
            continue;
        if (of != host || location->offset != end) {
            touch(touched, host, map, begin, end - begin);
            host = of;
            begin = location->offset;
        }
        end = location->offset + bytes;
    }
    touch(touched, host, map, begin, end - begin);
}

static void touch_pieces(Touched *touched, const PtxEvent *event, unsigned map) {
    for (uint32_t i = 0; i < event->location_count; i++)
        if (event->locations[i].block && event->locations[i].block->host)
            touch(touched, event->locations[i].block->host, map, event->locations[i].offset,
                  event->sizes ? event->sizes[i] : event->access.bytes);
}

/* ---- Who knows that the launch before is over ---- */

static uint32_t *lanes_that_know(Touched *touched, const PtxWarp *warp) {
    return &touched->knows[(size_t)warp->cta->number * touched->warps_per_cta + warp->index];
}

static bool find_barrier(const Touched *touched, uint32_t kind, uint64_t place) {
    for (uint32_t i = 0; i < touched->barrier_count; i++)
        if (touched->barriers[i].place == place && touched->barriers[i].kind == kind)
            return true;
    return false;
}

static void arrive(Touched *touched, const PtxEvent *event, uint64_t place) {
    if (!(*lanes_that_know(touched, event->warp) & event->lanes) || find_barrier(touched, event->kind, place))
        return;
    if (ARRAY_ROOM(touched->barriers, touched->barrier_count, touched->barrier_capacity, NAMED_BARRIERS))
        touched->barriers[touched->barrier_count++] = (TouchedBarrier){.place = place, .kind = event->kind};
    else
        touched->failed = true;
}

static void pass(Touched *touched, const PtxEvent *event, uint32_t arrival, uint64_t place) {
    if (find_barrier(touched, arrival, place))
        *lanes_that_know(touched, event->warp) |= event->lanes;
}

static uint64_t named_place(const PtxEvent *event) {
    return (uint64_t)event->warp->cta->number << 32 | event->barrier;
}

static void follow(Touched *touched, const PtxEvent *event) {
    switch (event->kind) {
    case PTX_EVENT_AWAIT_LAUNCHES:
        *lanes_that_know(touched, event->warp) |= event->lanes;
        touched->waited[event->warp->cta->number] = 1;
        break;
    case PTX_EVENT_TRIGGER_LAUNCHES:
        touched->triggers_first |= (event->lanes & ~*lanes_that_know(touched, event->warp)) != 0;
        break;
    case PTX_EVENT_WARP_SYNC:
        if (*lanes_that_know(touched, event->warp) & event->lanes)
            *lanes_that_know(touched, event->warp) |= event->lanes;
        break;
    case PTX_EVENT_NAMED_ARRIVE:
        arrive(touched, event, named_place(event));
        break;
    case PTX_EVENT_NAMED_SYNC:
        pass(touched, event, PTX_EVENT_NAMED_ARRIVE, named_place(event));
        break;
    case PTX_EVENT_CLUSTER_ARRIVE:
        arrive(touched, event, event->warp->cta->cluster);
        break;
    case PTX_EVENT_CLUSTER_WAIT:
        pass(touched, event, PTX_EVENT_CLUSTER_ARRIVE, event->warp->cta->cluster);
        break;
    case PTX_EVENT_ARRIVE:
        if (!event->outstanding)
            arrive(touched, event, event->place);
        break;
    case PTX_EVENT_WAIT:
        pass(touched, event, PTX_EVENT_ARRIVE, event->place);
        break;
    case PTX_EVENT_ISSUE:
        if (event->outstanding &&
            !(*lanes_that_know(touched, event->outstanding->warp) >> event->outstanding->lane & 1)) {
            if (ARRAY_ROOM(touched->early, touched->early_count, touched->early_capacity, 16))
                touched->early[touched->early_count++] = event->outstanding->sequence;
            else
                touched->failed = true;
        }
        break;
    case PTX_EVENT_LAND:
        for (uint32_t i = 0; i < touched->early_count; i++)
            if (touched->early[i] == event->outstanding->sequence)
                touched->early[i--] = touched->early[--touched->early_count];
        break;
    default:
        break;
    }
}

static bool is_early_operation(const Touched *touched, uint32_t sequence) {
    for (uint32_t i = 0; i < touched->early_count; i++)
        if (touched->early[i] == sequence)
            return true;
    return false;
}

/* ---- Events ---- */

static void touch_one_way(Touched *touched, const PtxEvent *event, unsigned way) {
    if (event->outstanding && (event->location_count != PTX_LANES || event->sizes || !event->outstanding->lanes)) {
        bool early = touched->dependent && is_early_operation(touched, event->outstanding->sequence);
        touch_pieces(touched, event, way + (early ? TOUCHED_WAYS : 0));
        return;
    }
    uint32_t late = touched->dependent ? event->lanes & *lanes_that_know(touched, event->warp) : event->lanes;
    if (touched->dependent && event->outstanding)
        late = is_early_operation(touched, event->outstanding->sequence) ? 0 : event->lanes;
    touch_lanes(touched, event, late, way);
    touch_lanes(touched, event, event->lanes & ~late, way + TOUCHED_WAYS);
}

void touched_observe(void *observer, const PtxEvent *event) {
    Touched *touched = observer;
    if (event->kind != PTX_EVENT_ACCESS) {
        if (touched->dependent)
            follow(touched, event);
        return;
    }
    bool strong = event->access.strong || event->access.is_volatile;
    switch (event->access.kind) {
    case EFFECT_READ:
        touch_one_way(touched, event, strong ? TOUCHED_STRONG_READ : TOUCHED_READ);
        break;
    case EFFECT_WRITE:
        touch_one_way(touched, event, strong ? TOUCHED_STRONG_WRITE : TOUCHED_WRITE);
        break;
    default: /* an atomic reads and writes */
        touch_one_way(touched, event, TOUCHED_STRONG_READ);
        touch_one_way(touched, event, TOUCHED_STRONG_WRITE);
        break;
    }
}

void touched_join(Touched *touched, const Touched *other) {
    touched->failed |= other->failed;
    touched->triggers_first |= other->triggers_first;
    for (uint32_t i = 0; other->waited && i < other->cta_count; i++)
        touched->waited[i] |= other->waited[i];
    for (uint32_t i = 0; i < other->host_count; i++)
        for (unsigned map = 0; map < MAPS; map++) {
            const TouchedHost *from = &other->hosts[i];
            for (uint64_t page = 0; from->maps[map] && page <= from->host->size / TOUCHED_PAGE; page++) {
                const uint64_t *words = from->maps[map][page];
                TouchedHost *to = words ? host_of(touched, from->host) : NULL;
                uint64_t *mine = to ? page_of(to, map, page) : NULL;
                touched->failed |= words && !mine;
                for (unsigned k = 0; mine && k < PAGE_WORDS; k++)
                    mine[k] |= words[k];
            }
        }
}

/* ---- What comes of it ---- */

typedef struct TouchedList {
    TouchedBytes *items;
    uint32_t count, capacity;
    bool failed;
} TouchedList;

/* Pieces of one size at one distance are told as one. */
static void add_piece(TouchedList *list, uint32_t first, TouchedBytes piece) {
    TouchedBytes *before = list->count > first ? &list->items[list->count - 1] : NULL;
    if (before && before->bytes == piece.bytes) {
        uint64_t distance = piece.address - (before->address + (before->count - 1) * before->stride);
        if (before->count == 1 || distance == before->stride) {
            before->stride = distance;
            before->count++;
            return;
        }
    }
    if (ARRAY_ROOM(list->items, list->count, list->capacity, 16))
        list->items[list->count++] = piece;
    else
        list->failed = true;
}

/* The next byte from `offset` on that is, or is not, touched; the size if there is none. */
static uint64_t next_byte(uint64_t *const *pages, uint64_t offset, uint64_t size, bool wanted) {
    while (offset < size) {
        const uint64_t *words = pages[offset / TOUCHED_PAGE];
        unsigned at = (unsigned)(offset % TOUCHED_PAGE);
        uint64_t word = words ? words[at / WORD_BITS] : 0;
        if (!words && wanted) {
            offset += TOUCHED_PAGE - at;
            continue;
        }
        word = (wanted ? word : ~word) >> at % WORD_BITS;
        if (word)
            return offset + (unsigned)__builtin_ctzll(word) < size ? offset + (unsigned)__builtin_ctzll(word) : size;
        offset += WORD_BITS - at % WORD_BITS;
    }
    return size;
}

TouchedBytes *touched_bytes(const Touched *touched, uint32_t *count) {
    TouchedList list = {.items = calloc(1, sizeof *list.items), .capacity = 1, .failed = touched->failed};
    for (uint32_t i = 0; list.items && i < touched->host_count; i++)
        for (unsigned map = 0; map < MAPS; map++) {
            const TouchedHost *host = &touched->hosts[i];
            uint32_t first = list.count;
            uint64_t size = host->host->size;
            for (uint64_t at = 0, end; host->maps[map] && (at = next_byte(host->maps[map], at, size, true)) < size;
                 at = end) {
                end = next_byte(host->maps[map], at, size, false);
                add_piece(&list, first,
                          (TouchedBytes){.address = (uintptr_t)host->host->bytes + at,
                                         .bytes = end - at,
                                         .count = 1,
                                         .way = (uint8_t)(map % TOUCHED_WAYS),
                                         .early = map >= TOUCHED_WAYS});
            }
        }
    *count = list.count;
    if (list.failed)
        free(list.items);
    return list.failed ? NULL : list.items;
}

TouchedWaits touched_waits(const Touched *touched, uint32_t ctas) {
    uint32_t count = 0;
    for (uint32_t i = 0; touched->waited && i < touched->cta_count; i++)
        count += touched->waited[i];
    return count != ctas ? TOUCHED_NO_WAIT : touched->triggers_first ? TOUCHED_WAIT : TOUCHED_WAIT_FIRST;
}
