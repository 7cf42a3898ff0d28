/* Segments of allocations, and what touched them. */
#include "engine/order/races.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

/* Who touched all bytes of a segment. Shared by segments; it does not change. */
typedef struct MarkSet {
    uint32_t references, count, capacity;
    TouchMark marks[];
} MarkSet;

typedef struct TouchSegment {
    uint64_t begin, end;
    MarkSet *set;
} TouchSegment;

typedef struct FreedMemory {
    RaceMemory *memory;
    uint32_t site; /* of the free */
    TouchMark user;
} FreedMemory;

/* The last operations of its own lane, by read and by write: the next owner of the bytes begins after them, but not
 * what other lanes do with them. */
typedef struct RecycledMemory {
    const OrderLane *lane;
    uint64_t bytes;
    TouchMark marks[2];
    uint32_t mark_count;
} RecycledMemory;

enum { MOST_RECYCLED = 1024, SPARE = 2 /* marks that a set has room for when it is made */ };

static void drop(MarkSet *set) {
    if (set && !--set->references)
        free(set);
}

static MarkSet *hold(MarkSet *set) {
    set->references++;
    return set;
}

static void free_memory(const Races *races, RaceMemory *memory) {
    if (races->gone)
        races->gone(races->context, memory);
    for (uint32_t i = 0; i < memory->segment_count; i++)
        drop(memory->segments[i].set);
    free(memory->segments);
    free(memory);
}

void races_release(Races *races) {
    races->gone = NULL;
    for (uint32_t i = 0; i < races->memory_count; i++)
        free_memory(races, races->memories[i]);
    for (uint32_t i = 0; i < races->freed_count; i++)
        free_memory(races, races->freed[i].memory);
    free(races->memories);
    free(races->freed);
    free(races->recycled);
    *races = (Races){0};
}

/* ---- Allocations ---------------------------------------------------------------------------------- */

/* The first that ends behind the address. */
static uint32_t seat_of(const Races *races, uint64_t address) {
    uint32_t low = 0, high = races->memory_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const RaceMemory *memory = races->memories[middle];
        if (memory->address + memory->bytes <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

RaceMemory *races_memory(const Races *races, uint64_t address) {
    uint32_t seat = seat_of(races, address);
    return seat < races->memory_count && races->memories[seat]->address <= address ? races->memories[seat] : NULL;
}

static void remove_memory(Races *races, uint32_t seat) {
    races->memory_count--;
    memmove(&races->memories[seat], &races->memories[seat + 1], (races->memory_count - seat) * sizeof *races->memories);
}

static void add_memory(Races *races, RaceMemory *made) {
    uint32_t seat = seat_of(races, made->address);
    while (seat < races->memory_count && races->memories[seat]->address < made->address + made->bytes) {
        free_memory(races, races->memories[seat]);
        remove_memory(races, seat);
    }
    if (!ARRAY_ROOM(races->memories, races->memory_count, races->memory_capacity, 64)) {
        races->failed = true;
        free_memory(races, made);
        return;
    }
    memmove(&races->memories[seat + 1], &races->memories[seat], (races->memory_count - seat) * sizeof *races->memories);
    races->memories[seat] = made;
    races->memory_count++;
}

/* ---- Memory that is given out again ------------------------------------------------------------------ */

/* PyTorch's caching allocator has two pools: an allocation comes from the pool of its size. */
static bool is_small(uint64_t bytes) {
    static const uint64_t most_small = 1 << 20;
    return bytes <= most_small;
}

static bool could_get(const RaceMemory *freed, uint64_t bytes) {
    return bytes <= freed->bytes && is_small(bytes) == is_small(freed->bytes);
}

static void forget_freed(Races *races, uint32_t at) {
    free_memory(races, races->freed[at].memory);
    races->freed[at] = races->freed[--races->freed_count];
}

static void look_at_freed(Races *races, const OrderLane *lane, uint64_t bytes) {
    for (uint32_t i = races->freed_count; i-- > 0;) {
        const FreedMemory *freed = &races->freed[i];
        if (freed->memory->lane != lane)
            continue;
        bool over = clock_has(&lane->now, freed->user.lane, freed->user.number);
        if (!over && !could_get(freed->memory, bytes))
            continue;
        if (!over)
            races->reused(races->context, freed->memory, freed->site, &freed->user,
                          (freed->user.how & TOUCH_MAY) ||
                              clock_may_have(races->order, &lane->now, freed->user.lane, freed->user.number));
        forget_freed(races, i);
    }
}

/* The caching allocator gives multiples of it. */
static uint64_t rounded(uint64_t bytes) {
    static const uint64_t unit = 512;
    return (bytes + unit - 1) / unit * unit;
}

static void keep_last(RecycledMemory *recycled, const TouchMark *mark) {
    bool writes = mark->how & (TOUCH_WRITE | TOUCH_STRONG_WRITE);
    for (uint32_t i = 0; i < recycled->mark_count; i++) {
        TouchMark *kept = &recycled->marks[i];
        if ((kept->how == TOUCH_WRITE) != writes)
            continue;
        kept->number = kept->number < mark->number ? mark->number : kept->number;
        kept->site = kept->number == mark->number ? mark->site : kept->site;
        return;
    }
    recycled->marks[recycled->mark_count] = *mark;
    recycled->marks[recycled->mark_count].how = writes ? TOUCH_WRITE : TOUCH_READ;
    recycled->marks[recycled->mark_count++].freed = true;
}

/* A size that fits is taken first, so that only the same size is looked at: what allocations of other sizes get is not
 * known. */
static void recycle(Races *races, const RaceMemory *memory) {
    RecycledMemory made = {.lane = memory->lane, .bytes = rounded(memory->bytes)};
    for (uint32_t i = 0; i < memory->segment_count; i++)
        for (uint32_t k = 0; k < memory->segments[i].set->count; k++)
            if (memory->segments[i].set->marks[k].lane == memory->lane->index)
                keep_last(&made, &memory->segments[i].set->marks[k]);
    if (!races->recycled && !(races->recycled = calloc(MOST_RECYCLED, sizeof *races->recycled))) {
        races->failed = true;
        return;
    }
    if (races->recycled_count == MOST_RECYCLED)
        memmove(&races->recycled[0], &races->recycled[1], --races->recycled_count * sizeof *races->recycled);
    races->recycled[races->recycled_count++] = made;
}

static bool is_over(const RecycledMemory *recycled, const OrderThread *thread) {
    bool over = true;
    for (uint32_t i = 0; i < recycled->mark_count && over; i++)
        over = clock_has(&thread->knows, recycled->marks[i].lane, recycled->marks[i].number);
    return over;
}

/* What touched the bytes that the allocation gets: of several that it may get, one that is over, if there is one. */
static void take_recycled(Races *races, RaceMemory *memory, const OrderThread *thread) {
    uint32_t found = UINT32_MAX;
    for (uint32_t i = 0; i < races->recycled_count; i++) {
        const RecycledMemory *recycled = &races->recycled[i];
        if (recycled->lane == memory->lane && recycled->bytes == rounded(memory->bytes) &&
            (found == UINT32_MAX || is_over(recycled, thread)))
            found = i;
    }
    if (found == UINT32_MAX)
        return;
    RecycledMemory taken = races->recycled[found];
    races->recycled_count--;
    memmove(&races->recycled[found], &races->recycled[found + 1],
            (races->recycled_count - found) * sizeof *races->recycled);
    MarkSet *set = taken.mark_count ? calloc(1, sizeof *set + taken.mark_count * sizeof *set->marks) : NULL;
    if (set && ARRAY_ROOM(memory->segments, memory->segment_count, memory->segment_capacity, 16)) {
        *set = (MarkSet){.references = 1, .count = taken.mark_count, .capacity = taken.mark_count};
        memcpy(set->marks, taken.marks, taken.mark_count * sizeof *set->marks);
        memory->segments[memory->segment_count++] =
            (TouchSegment){memory->address, memory->address + memory->bytes, set};
        return;
    }
    races->failed |= taken.mark_count != 0;
    free(set);
}

void races_allocate(Races *races, uint64_t address, uint64_t bytes, OrderLane *lane, const OrderThread *thread,
                    uint32_t site) {
    if (lane) {
        lane_issue(races->order, lane, thread);
        look_at_freed(races, lane, bytes);
    }
    if (!bytes || address + bytes < address)
        return;
    RaceMemory *made = calloc(1, sizeof *made);
    if (!made) {
        races->failed = true;
        return;
    }
    *made = (RaceMemory){.address = address, .bytes = bytes, .site = site, .lane = lane};
    if (lane)
        take_recycled(races, made, thread);
    add_memory(races, made);
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static void adopt_segments(Races *races, RaceMemory *memory, const RaceMemory *other, uint64_t from, uint64_t end,
                           uint64_t to) {
    for (uint32_t i = 0; i < other->segment_count; i++) {
        const TouchSegment *segment = &other->segments[i];
        uint64_t first = segment->begin > from ? segment->begin : from, last = least(segment->end, end);
        if (first >= last)
            continue;
        if (!ARRAY_ROOM(memory->segments, memory->segment_count, memory->segment_capacity, 16)) {
            races->failed = true;
            return;
        }
        segment->set->references++;
        memory->segments[memory->segment_count++] = (TouchSegment){first - from + to, last - from + to, segment->set};
    }
}

void races_adopt(Races *races, RaceMemory *memory, uint64_t from, uint64_t bytes, uint64_t offset) {
    uint32_t seat = seat_of(races, from);
    while (seat < races->memory_count && races->memories[seat]->address < from + bytes) {
        RaceMemory *other = races->memories[seat];
        if (other == memory)
            return;
        adopt_segments(races, memory, other, from, from + bytes, memory->address + offset);
        remove_memory(races, seat);
        free_memory(races, other);
    }
}

void races_use(Races *races, uint64_t address, const OrderLane *lane) {
    RaceMemory *memory = races_memory(races, address);
    if (memory)
        memory->used[lane->index / 32] |= UINT32_C(1) << lane->index % 32;
}

/* The last operation of another lane that its own lane does not wait for; false: there is none. */
static bool find_user(const Races *races, const RaceMemory *memory, TouchMark *user) {
    bool found = false;
    for (uint32_t i = 0; i < memory->segment_count; i++)
        for (uint32_t k = 0; k < memory->segments[i].set->count; k++) {
            const TouchMark *mark = &memory->segments[i].set->marks[k];
            bool notified = memory->used[mark->lane / 32] >> mark->lane % 32 & 1;
            bool host = mark->lane < races->order->lane_count && races->order->lanes[mark->lane]->host;
            if (mark->lane == memory->lane->index || notified || host ||
                clock_has(&memory->lane->now, mark->lane, mark->number) || (found && mark->number < user->number))
                continue;
            *user = *mark;
            found = true;
        }
    return found;
}

void races_free(Races *races, uint64_t address, const OrderThread *thread, uint32_t site) {
    uint32_t seat = seat_of(races, address);
    RaceMemory *memory = seat < races->memory_count ? races->memories[seat] : NULL;
    if (!memory || memory->address != address)
        return;
    FreedMemory freed = {.memory = memory, .site = site};
    remove_memory(races, seat);
    if (memory->lane)
        lane_issue(races->order, memory->lane, thread);
    if (memory->lane)
        recycle(races, memory);
    if (!memory->lane || !find_user(races, memory, &freed.user)) {
        free_memory(races, memory);
    } else if (ARRAY_ROOM(races->freed, races->freed_count, races->freed_capacity, 16)) {
        races->freed[races->freed_count++] = freed;
    } else {
        races->failed = true;
        free_memory(races, memory);
    }
}

/* ---- Operations ------------------------------------------------------------------------------------- */

/* One operation's way through the segments of an allocation. */
typedef struct Walk {
    Races *races;
    const OrderedOperation *operation;
    const OrderClock *clock;
    RaceMemory *memory;
    uint8_t how;
    bool early;
    TouchSegment *made; /* the segments as they are then */
    uint32_t made_count, made_capacity;
    const MarkSet *last; /* what became of the last set: `last_made` */
    MarkSet *last_made;
    uint64_t covered; /* bytes of the touch that lie in allocations */
    OrderRace *found;
    uint32_t found_count, found_capacity;
} Walk;

static bool conflicts(uint8_t one, uint8_t other) {
    if ((one | other) & TOUCH_UNSEEN)
        return one != other;
    if ((one | other) & TOUCH_MAY)
        return (one | other) & (TOUCH_WRITE | TOUCH_STRONG_WRITE | TOUCH_MAY_WRITE);
    return (one == TOUCH_WRITE) || (other == TOUCH_WRITE) || (one == TOUCH_READ && other == TOUCH_STRONG_WRITE) ||
           (one == TOUCH_STRONG_WRITE && other == TOUCH_READ);
}

static void note_race(Walk *walk, const TouchMark *mark, uint64_t begin, uint64_t end) {
    const ProgramOrder *order = walk->races->order;
    bool talks = mark->how == TOUCH_STRONG_WRITE && walk->how == TOUCH_STRONG_READ;
    bool unseen = mark->how == TOUCH_UNSEEN || walk->how == TOUCH_UNSEEN, may = (mark->how | walk->how) & TOUCH_MAY;
    if (clock_has(walk->clock, mark->lane, mark->number) || mark->number == walk->operation->number ||
        (!conflicts(mark->how, walk->how) && !talks))
        return;
    for (uint32_t i = 0; i < walk->found_count; i++) {
        OrderRace *race = &walk->found[i];
        if (race->earlier.number == mark->number && race->memory == walk->memory && race->how == walk->how &&
            race->earlier.how == mark->how)
            return;
    }
    if (!ARRAY_ROOM(walk->found, walk->found_count, walk->found_capacity, 8)) {
        walk->races->failed = true;
        return;
    }
    walk->found[walk->found_count++] =
        (OrderRace){.memory = walk->memory,
                    .offset = begin - walk->memory->address,
                    .bytes = end - begin,
                    .earlier = *mark,
                    .how = walk->how,
                    .early = walk->early,
                    .open = unseen || may || clock_may_have(order, walk->clock, mark->lane, mark->number),
                    .unseen = unseen,
                    .may = may,
                    .communicates = talks};
}

/* Marks that stay beside the new one: those of other lanes and ways, unless a write comes after them. */
static bool stays(const Walk *walk, const TouchMark *mark) {
    if (mark->lane == walk->operation->lane->index && mark->how == walk->how)
        return false;
    return walk->how != TOUCH_WRITE || !clock_has(walk->clock, mark->lane, mark->number);
}

/* Those of the marks that stay, and the new one. The set may be where they are. */
static void add_mark(const Walk *walk, MarkSet *set, const TouchMark *marks, uint32_t count) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (stays(walk, &marks[i]))
            set->marks[kept++] = marks[i];
    set->marks[kept++] = (TouchMark){.number = walk->operation->number,
                                     .lane = walk->operation->lane->index,
                                     .site = walk->operation->site,
                                     .how = walk->how};
    set->count = kept;
}

/* The set with this operation; NULL: there is no memory. */
static MarkSet *touched(Walk *walk, const MarkSet *old) {
    if (walk->last_made && walk->last == old)
        return hold(walk->last_made);
    uint32_t count = old ? old->count : 0;
    MarkSet *set = malloc(sizeof *set + (count + SPARE) * sizeof *set->marks);
    if (!set)
        return NULL;
    *set = (MarkSet){.references = 1, .capacity = count + SPARE};
    add_mark(walk, set, old ? old->marks : NULL, count);
    walk->last = old;
    walk->last_made = set;
    return set;
}

static void add_segment(Walk *walk, uint64_t begin, uint64_t end, MarkSet *set) {
    TouchSegment *before = walk->made_count ? &walk->made[walk->made_count - 1] : NULL;
    if (begin == end || !set) {
        walk->races->failed |= !set;
        drop(set);
    } else if (before && before->set == set && before->end == begin) {
        before->end = end;
        drop(set);
    } else if (ARRAY_ROOM(walk->made, walk->made_count, walk->made_capacity, 16)) {
        walk->made[walk->made_count++] = (TouchSegment){begin, end, set};
    } else {
        walk->races->failed = true;
        drop(set);
    }
}

/* [begin, end) of the segments from *at on, and of what lies between them; those before it are passed on. */
static void walk_piece(Walk *walk, uint32_t *at, uint64_t begin, uint64_t end) {
    TouchSegment *segments = walk->memory->segments;
    uint32_t count = walk->memory->segment_count;
    for (; *at < count && segments[*at].end <= begin; ++*at)
        add_segment(walk, segments[*at].begin, segments[*at].end, segments[*at].set);
    while (begin < end) {
        TouchSegment *segment = *at < count ? &segments[*at] : NULL;
        if (!segment || segment->begin >= end) {
            add_segment(walk, begin, end, touched(walk, NULL));
            return;
        }
        if (segment->begin < begin) {
            add_segment(walk, segment->begin, begin, hold(segment->set));
            segment->begin = begin;
        } else if (segment->begin > begin) {
            add_segment(walk, begin, segment->begin, touched(walk, NULL));
            begin = segment->begin;
        }
        uint64_t until = least(end, segment->end);
        for (uint32_t i = 0; i < segment->set->count; i++)
            note_race(walk, &segment->set->marks[i], begin, until);
        add_segment(walk, begin, until, touched(walk, segment->set));
        segment->begin = begin = until;
        if (segment->begin == segment->end) {
            drop(segment->set);
            ++*at;
        }
    }
}

/* One piece that is a segment, as most are that were touched before: no other one changes. */
static bool walk_segment(Walk *walk, const Touch *touch) {
    uint64_t begin = touch->begin, end = begin + touch->bytes;
    TouchSegment *segments = walk->memory->segments;
    uint32_t low = 0, high = walk->memory->segment_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (segments[middle].begin < begin)
            low = middle + 1;
        else
            high = middle;
    }
    if (touch->count != 1 || low == walk->memory->segment_count || segments[low].begin != begin ||
        segments[low].end != end || segments[low].set->references > 1 ||
        segments[low].set->count == segments[low].set->capacity)
        return false;
    MarkSet *set = segments[low].set;
    for (uint32_t i = 0; i < set->count; i++)
        note_race(walk, &set->marks[i], begin, end);
    add_mark(walk, set, set->marks, set->count);
    walk->covered += touch->bytes;
    return true;
}

/* Pieces of a touch that lie in the allocation. */
static void walk_touch(Walk *walk, const Touch *touch) {
    uint64_t first = walk->memory->address, last = first + walk->memory->bytes;
    uint32_t at = 0;
    if (walk_segment(walk, touch))
        return;
    for (uint64_t i = 0; i < touch->count; i++) {
        uint64_t begin = touch->begin + i * touch->stride, end = begin + touch->bytes;
        begin = begin > first ? begin : first;
        end = least(end, last);
        if (begin >= end)
            continue;
        walk_piece(walk, &at, begin, end);
        walk->covered += end - begin;
    }
    for (; at < walk->memory->segment_count; at++)
        add_segment(walk, walk->memory->segments[at].begin, walk->memory->segments[at].end,
                    walk->memory->segments[at].set);
    free(walk->memory->segments);
    walk->memory->segments = walk->made;
    walk->memory->segment_count = walk->made_count;
    walk->memory->segment_capacity = walk->made_capacity;
    walk->made = NULL;
    walk->made_count = walk->made_capacity = 0;
    walk->last = NULL;
    walk->last_made = NULL;
}

/* Where the two communicate, that may order them. */
static void report_found(const Walk *walk) {
    for (uint32_t i = 0; i < walk->found_count; i++) {
        OrderRace *race = &walk->found[i];
        bool talks = race->communicates;
        race->communicates = false;
        for (uint32_t k = 0; k < walk->found_count; k++) {
            const OrderRace *other = &walk->found[k];
            race->communicates |= other->earlier.lane == race->earlier.lane &&
                                  other->earlier.how == TOUCH_STRONG_WRITE && other->how == TOUCH_STRONG_READ;
        }
        if (!talks)
            walk->races->report(walk->races->context, race);
    }
}

uint32_t races_operation(Races *races, const OrderedOperation *operation) {
    Walk walk = {.races = races, .operation = operation};
    uint32_t outside = 0;
    for (uint32_t i = 0; i < operation->touch_count; i++) {
        const Touch *touch = &operation->touches[i];
        uint64_t end = touch->begin + (touch->count - 1) * touch->stride + touch->bytes;
        walk.covered = 0;
        walk.clock = touch->early ? operation->begun : operation->waited;
        walk.how = touch->how;
        walk.early = touch->early;
        for (uint32_t seat = seat_of(races, touch->begin);
             seat < races->memory_count && races->memories[seat]->address < end; seat++) {
            walk.memory = races->memories[seat];
            walk_touch(&walk, touch);
        }
        outside += walk.covered != touch->bytes * touch->count;
    }
    report_found(&walk);
    free(walk.found);
    return outside;
}
