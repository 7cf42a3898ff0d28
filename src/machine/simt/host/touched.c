/* A bit for each byte of each page that was touched, and each way to touch it; pages by their addresses.
 *
 * Whether a thread of a dependent launch knows that the launch before it is over: it has waited, or has come behind a
 * barrier at which a thread arrived that knew. */
#include "machine/simt/host/touched.h"

#include "base/array.h"
#include "base/table.h"

#include <stdlib.h>
#include <string.h>

enum { TOUCHED_PAGE = 4096, WORD_BITS = 64, PAGE_WORDS = TOUCHED_PAGE / WORD_BITS, MAPS = 2 * TOUCHED_WAYS };
enum { NAMED_BARRIERS = 16 };

typedef struct TouchedPage {
    uint64_t number; /* of the page of memory, + 1; 0: free */
    uint64_t *words;
} TouchedPage;

typedef TABLE_OF(TouchedPage) TouchedPages;

static void *take(void *memory, size_t size) {
    (void)memory;
    return calloc(1, size);
}

static void give(void *memory, void *items, size_t size) {
    (void)memory, (void)size;
    free(items);
}

TABLE_IN(pages, TouchedPages, TouchedPage, uint64_t, void, take, give, 64, item->number, item->number - 1,
         table_hash(key), item->number == key + 1)

/* A barrier at which a thread arrived that knows. */
typedef struct TouchedBarrier {
    uint64_t place;
    uint32_t kind;
} TouchedBarrier;

struct Touched {
    bool dependent, failed;
    bool triggers;       /* some CTA lets the next launch begin before it ends */
    bool triggers_first; /* some CTA lets the next launch begin before it has waited itself */
    TouchedPages maps[MAPS];
    TouchedPage last[MAPS]; /* of each, the page that was touched last */
    uint32_t *knows;        /* of each warp of each CTA: lanes */
    uint32_t warps_per_cta, cta_count;
    uint8_t *waited; /* of each CTA */
    TouchedBarrier *barriers;
    uint32_t barrier_count, barrier_capacity;
    uint32_t *early; /* sequences of outstanding operations that were issued early */
    uint32_t early_count, early_capacity;
};

static void forget(Touched *touched) {
    for (unsigned map = 0; map < MAPS; map++) {
        for (uint32_t i = 0; i < touched->maps[map].capacity; i++)
            free(touched->maps[map].items[i].words);
        free(touched->maps[map].items);
        touched->maps[map] = (TouchedPages){0};
        touched->last[map] = (TouchedPage){0};
    }
    touched->barrier_count = touched->early_count = 0;
    touched->triggers = touched->triggers_first = false;
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

static uint64_t *page_of(Touched *touched, unsigned map, uint64_t number) {
    TouchedPage *last = &touched->last[map];
    if (last->number == number + 1)
        return last->words;
    TouchedPage *page = pages_put(NULL, &touched->maps[map], number);
    if (page && !page->number && !(page->words = calloc(PAGE_WORDS, sizeof(uint64_t))))
        page = NULL;
    touched->failed |= !page;
    if (!page)
        return NULL;
    page->number = number + 1;
    *last = *page;
    return page->words;
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

static void touch(Touched *touched, unsigned map, uint64_t address, uint64_t bytes) {
    for (uint64_t end = address + bytes, next; address < end && !touched->failed; address = next) {
        uint64_t page = address / TOUCHED_PAGE, from = page * TOUCHED_PAGE;
        uint64_t *words = page_of(touched, map, page);
        next = from + TOUCHED_PAGE < end ? from + TOUCHED_PAGE : end;
        if (words)
            set_bits(words, (unsigned)(address - from), (unsigned)(next - from));
    }
}

/* Where it is, of memory that other launches may have; false: it is not. */
static bool address_of(const PtxLocation *location, uint64_t *address) {
    const PtxBlock *block = location->block;
    bool own = block && (block->space != PTX_SPACE_GLOBAL || (block->base >= PTX_WINDOW_HEAP && !block->heap));
    if (!block || (!block->host && own))
        return false;
    *address = (block->host && !block->heap ? (uintptr_t)block->host->bytes : block->base) + location->offset;
    return true;
}

/* Lanes side by side are one piece. */
static void touch_lanes(Touched *touched, const PtxEvent *event, uint32_t lanes, unsigned map) {
    uint64_t begin = 0, end = 0, bytes = event->access.bytes, address;
    for (; lanes; lanes &= lanes - 1) {
        if (!address_of(&event->locations[__builtin_ctz(lanes)], &address))
            continue;
        if (address != end) {
            touch(touched, map, begin, end - begin);
            begin = address;
        }
        end = address + bytes;
    }
    touch(touched, map, begin, end - begin);
}

static void touch_pieces(Touched *touched, const PtxEvent *event, unsigned map) {
    uint64_t address;
    for (uint32_t i = 0; i < event->location_count; i++)
        if (address_of(&event->locations[i], &address))
            touch(touched, map, address, event->sizes ? event->sizes[i] : event->access.bytes);
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
        touched->triggers = true;
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
    touched->triggers |= other->triggers;
    touched->triggers_first |= other->triggers_first;
    for (uint32_t i = 0; other->waited && i < other->cta_count; i++)
        touched->waited[i] |= other->waited[i];
    for (unsigned map = 0; map < MAPS; map++)
        for (uint32_t i = 0; i < other->maps[map].capacity; i++) {
            const TouchedPage *from = &other->maps[map].items[i];
            uint64_t *mine = from->number ? page_of(touched, map, from->number - 1) : NULL;
            for (unsigned k = 0; mine && k < PAGE_WORDS; k++)
                mine[k] |= from->words[k];
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

static int by_number(const void *a, const void *b) {
    const TouchedPage *one = a, *other = b;
    return (one->number > other->number) - (one->number < other->number);
}

/* The next byte of a page from `at` on that is, or is not, touched; its size if there is none. */
static unsigned next_byte(const uint64_t *words, unsigned at, bool wanted) {
    while (at < TOUCHED_PAGE) {
        uint64_t word = (wanted ? words[at / WORD_BITS] : ~words[at / WORD_BITS]) >> at % WORD_BITS;
        if (word)
            return at + (unsigned)__builtin_ctzll(word);
        at += WORD_BITS - at % WORD_BITS;
    }
    return TOUCHED_PAGE;
}

/* Those of a page; one that begins where the last one ends is told with that. */
static void list_page(TouchedList *list, uint32_t first, const TouchedPage *page, TouchedBytes *open) {
    uint64_t base = (page->number - 1) * TOUCHED_PAGE;
    for (unsigned at = 0, end; (at = next_byte(page->words, at, true)) < TOUCHED_PAGE; at = end) {
        end = next_byte(page->words, at, false);
        if (open->bytes && open->address + open->bytes == base + at) {
            open->bytes += end - at;
            continue;
        }
        if (open->bytes)
            add_piece(list, first, *open);
        open->address = base + at;
        open->bytes = end - at;
    }
}

static void list_map(TouchedList *list, const TouchedPages *pages, unsigned map) {
    TouchedPage *sorted = calloc(pages->count + 1, sizeof *sorted);
    uint32_t count = 0, first = list->count;
    TouchedBytes open = {.count = 1, .way = (uint8_t)(map % TOUCHED_WAYS), .early = map >= TOUCHED_WAYS};
    list->failed |= !sorted;
    for (uint32_t i = 0; sorted && i < pages->capacity; i++)
        if (pages->items[i].number)
            sorted[count++] = pages->items[i];
    if (count)
        qsort(sorted, count, sizeof *sorted, by_number);
    for (uint32_t i = 0; i < count; i++)
        list_page(list, first, &sorted[i], &open);
    if (open.bytes)
        add_piece(list, first, open);
    free(sorted);
}

TouchedBytes *touched_bytes(const Touched *touched, uint32_t *count) {
    TouchedList list = {.items = calloc(1, sizeof *list.items), .capacity = 1, .failed = touched->failed};
    for (unsigned map = 0; list.items && map < MAPS; map++)
        list_map(&list, &touched->maps[map], map);
    *count = list.count;
    if (list.failed)
        free(list.items);
    return list.failed ? NULL : list.items;
}

bool touched_triggers(const Touched *touched) {
    return touched->triggers;
}

TouchedWaits touched_waits(const Touched *touched, uint32_t ctas) {
    uint32_t count = 0;
    for (uint32_t i = 0; touched->waited && i < touched->cta_count; i++)
        count += touched->waited[i];
    return count != ctas ? TOUCHED_NO_WAIT : touched->triggers_first ? TOUCHED_WAIT : TOUCHED_WAIT_FIRST;
}
