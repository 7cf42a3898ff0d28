/* Placing is Triton's: slots of free memory, each from some offset on and for some time, are filled from the lowest on,
 * every time with the largest buffer that meets this slot and no other; buffers that meet although their bytes overlap
 * are then moved past each other until none do. That takes the square of their number or more, so that thousands of
 * buffers are placed first-fit in the order of time instead. */
#include "model/memory/allocator.h"

#include "base/number.h"
#include "base/order.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_COMPARISONS = 200 * 1000 * 1000, /* of two buffers, while they are moved apart */
    MOST_NEIGHBORS = 256,                 /* buffers alive at once among which a gap is looked for */
};

/* ---- Slots ------------------------------------------------------------------------------------- */

/* Free memory from an offset on, for some time. */
typedef struct AllocatorOpening {
    int64_t offset;
    Lifetime time;
} AllocatorOpening;

typedef struct Openings {
    AllocatorOpening *items; /* the lowest last; those of one offset in the reverse order of their coming */
    uint32_t count;
} Openings;

static void open_at(Openings *openings, int64_t offset, uint32_t begin, uint32_t end) {
    uint32_t at = openings->count++;
    for (; at > 0 && openings->items[at - 1].offset <= offset; at--)
        openings->items[at] = openings->items[at - 1];
    openings->items[at] = (AllocatorOpening){offset, {begin, end}};
}

static bool meets_open(const Openings *openings, Lifetime life) {
    for (uint32_t i = 0; i < openings->count; i++)
        if (lifetimes_overlap(openings->items[i].time, life))
            return true;
    return false;
}

/* First places, which may still overlap. */
static void fill(Arena *arena, Buffer **order, uint32_t count) {
    Openings openings = {.items = ARENA_ARRAY(arena, AllocatorOpening, 3 * (size_t)count + 4)};
    Buffer **waiting = ARENA_ARRAY(arena, Buffer *, count + 1);
    uint32_t left = count;
    memcpy(waiting, order, sizeof *waiting * count);
    open_at(&openings, 0, 0, UINT32_MAX);
    while (left && openings.count) {
        AllocatorOpening opening = openings.items[--openings.count];
        uint32_t i = 0;
        while (i < left &&
               (!lifetimes_overlap(waiting[i]->life, opening.time) || meets_open(&openings, waiting[i]->life)))
            i++;
        if (i == left)
            continue;
        Buffer *buffer = waiting[i];
        Lifetime life = buffer->life, time = opening.time;
        left--;
        memmove(&waiting[i], &waiting[i + 1], sizeof *waiting * (left - i));
        buffer->offset = rounded_up(opening.offset, buffer->alignment);
        open_at(&openings, buffer->offset + buffer->size, life.begin > time.begin ? life.begin : time.begin,
                life.end < time.end ? life.end : time.end);
        if (time.begin < life.begin)
            open_at(&openings, opening.offset, time.begin, life.end);
        if (life.end < time.end)
            open_at(&openings, opening.offset, life.begin, time.end);
    }
}

/* ---- Moving apart ------------------------------------------------------------------------------ */

/* At the places where they were when the round began. */
static bool interfere(const Buffer *a, const Buffer *b) {
    if (a == b || a->was >= b->was + b->size || b->was >= a->was + a->size)
        return false;
    return lifetimes_overlap(a->life, b->life) ||
           (a->specialize && a->specialize == b->specialize && a->partition != b->partition);
}

/* Colors, so that no two that interfere have the same; all but those of the first color move past whom they interfere
 * with, which is passed where it is by then. True if any did. */
static bool move_apart(Buffer **order, uint32_t count, bool *taken) {
    bool any = false;
    for (uint32_t i = 0; i < count; i++)
        order[i]->was = order[i]->offset;
    for (uint32_t i = 0; i < count; i++) {
        memset(taken, 0, count + 1);
        for (uint32_t k = 0; k < i; k++)
            if (interfere(order[i], order[k]))
                taken[order[k]->color] = true;
        order[i]->color = 0;
        while (taken[order[i]->color])
            order[i]->color++;
        any |= order[i]->color != 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        int64_t end = 0;
        for (uint32_t k = 0; k < count && order[i]->color; k++)
            if (interfere(order[i], order[k]) && order[k]->offset + order[k]->size > end)
                end = order[k]->offset + order[k]->size;
        if (order[i]->color)
            order[i]->offset = rounded_up(end, order[i]->alignment);
    }
    return any;
}

/* False if it takes too long. */
static bool place_as_triton(Arena *arena, Buffer **order, uint32_t count) {
    bool *taken = ARENA_ARRAY(arena, bool, count + 1);
    fill(arena, order, count);
    for (int64_t left = MOST_COMPARISONS; left > 0; left -= (int64_t)count * count)
        if (!move_apart(order, count, taken))
            return true;
    return false;
}

/* ---- Very many buffers ------------------------------------------------------------------------- */

ORDER_POINTERS(by_begin, Buffer, BY(life.begin) BY(number))

/* Partitions run at the same time, so what is in them lives as long as the op that has them. */
static void widen(Buffer **order, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        Lifetime *life = &order[i]->life, whole = order[i]->specialized;
        if (!order[i]->specialize)
            continue;
        life->begin = whole.begin < life->begin ? whole.begin : life->begin;
        life->end = whole.end > life->end ? whole.end : life->end;
    }
}

/* Buffers that live, by offset. */
typedef struct Alive {
    Buffer *items[MOST_NEIGHBORS];
    uint32_t count;
    int64_t bottom; /* below this is memory of which it is not known when it gets free */
} Alive;

static void forget_dead(Alive *alive, uint32_t now) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < alive->count; i++)
        if (alive->items[i]->life.end > now)
            alive->items[kept++] = alive->items[i];
    alive->count = kept;
}

static int64_t lowest_gap(const Alive *alive, const Buffer *buffer) {
    int64_t offset = rounded_up(alive->bottom, buffer->alignment);
    for (uint32_t i = 0; i < alive->count && alive->items[i]->offset < offset + buffer->size; i++) {
        int64_t end = rounded_up(alive->items[i]->offset + alive->items[i]->size, buffer->alignment);
        offset = end > offset ? end : offset;
    }
    return offset;
}

static void remember(Alive *alive, Buffer *buffer) {
    if (alive->count == MOST_NEIGHBORS) { /* too many to look among: from now on all go above these */
        for (uint32_t i = 0; i < alive->count; i++) {
            int64_t end = alive->items[i]->offset + alive->items[i]->size;
            alive->bottom = end > alive->bottom ? end : alive->bottom;
        }
        alive->count = 0;
    }
    uint32_t at = alive->count++;
    for (; at > 0 && alive->items[at - 1]->offset > buffer->offset; at--)
        alive->items[at] = alive->items[at - 1];
    alive->items[at] = buffer;
}

/* Each at the lowest gap between those that live when it begins to. */
static void place_first_fit(Buffer **order, uint32_t count) {
    Alive alive = {0};
    widen(order, count);
    qsort(order, count, sizeof *order, by_begin);
    for (uint32_t i = 0; i < count; i++) {
        forget_dead(&alive, order[i]->life.begin);
        order[i]->offset = lowest_gap(&alive, order[i]);
        remember(&alive, order[i]);
    }
}

/* ---- All --------------------------------------------------------------------------------------- */

ORDER_POINTERS(by_size, Buffer, BY_MOST(size) BY(number))

void allocator_place(Arena *arena, Buffer *buffers, uint32_t count, uint32_t exact) {
    Buffer **order = ARENA_ARRAY(arena, Buffer *, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        buffers[i].number = i;
        order[i] = &buffers[i];
    }
    qsort(order, count, sizeof *order, by_size);
    if (count > exact || !place_as_triton(arena, order, count))
        place_first_fit(order, count);
}
