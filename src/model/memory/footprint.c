/* Boxes of coordinates, and from their bits to runs of bytes. */
#include "model/memory/footprint.h"

#include "base/order.h"

#include <stdlib.h>

enum { MOST_RUNS = 1 << 16, MOST_RUN_BITS = 16 };

/* The places of a part of the view, whose sizes are powers of two: all XORs of these vectors with `origin`. */
typedef struct FootprintSpan {
    uint32_t vectors[32]; /* by their highest bit; 0 if none; reduced */
    uint32_t origin;
    unsigned count;
} FootprintSpan;

static void span_add(FootprintSpan *span, uint32_t vector) {
    for (unsigned k = 32; k-- > 0 && vector;) {
        if (!(vector >> k & 1))
            continue;
        if (span->vectors[k]) {
            vector ^= span->vectors[k];
            continue;
        }
        for (unsigned low = 0; low < k; low++)
            if (vector >> low & 1 && span->vectors[low])
                vector ^= span->vectors[low];
        span->vectors[k] = vector;
        for (unsigned high = k + 1; high < 32; high++)
            if (span->vectors[high] >> k & 1)
                span->vectors[high] ^= vector;
        span->count++;
        return;
    }
}

ORDER(compare_runs, Run, BY(begin))

typedef struct RunList {
    Arena *arena;
    Run *items;
    uint32_t count, capacity;
} RunList;

static bool run_add(RunList *list, int64_t begin, int64_t end) {
    if (list->count && list->items[list->count - 1].end == begin) {
        list->items[list->count - 1].end = end;
        return true;
    }
    if (list->count == MOST_RUNS)
        return false;
    *ARENA_PUSH(list->arena, list->items, list->count, list->capacity) = (Run){begin, end};
    return true;
}

static void merge_runs(RunList *list) {
    if (!list->count)
        return;
    qsort(list->items, list->count, sizeof *list->items, compare_runs);
    uint32_t kept = 0;
    for (uint32_t i = 1; i < list->count; i++) {
        Run *last = &list->items[kept], run = list->items[i];
        if (run.begin > last->end)
            list->items[++kept] = run;
        else if (run.end > last->end)
            last->end = run.end;
    }
    list->count = kept + 1;
}

/* [begin, end) as if there were no padding, with it. */
static bool run_add_padded(RunList *list, const Layout *layout, int64_t begin, int64_t end) {
    int64_t unit = 0;
    for (unsigned i = 0; i < layout->padding_count; i++)
        if (!unit || layout->paddings[i].interval < unit)
            unit = layout->paddings[i].interval;
    unit *= layout->element_bits / 8;
    while (unit && begin < end) {
        int64_t stop = (begin / unit + 1) * unit < end ? (begin / unit + 1) * unit : end;
        int64_t from = layout_pad(layout, begin);
        if (!run_add(list, from, from + (stop - begin)))
            return false;
        begin = stop;
    }
    return unit || run_add(list, begin, end);
}

/* `scale` is how many units of a run (bytes, columns) one step of a vector is. */
static bool span_runs(const FootprintSpan *span, const Layout *layout, int64_t scale, RunList *list) {
    unsigned low = 0; /* the lowest bits that the vectors make alone: a run's length */
    while (low < 32 && span->vectors[low] == (uint32_t)1 << low)
        low++;
    uint32_t rest[32], rest_count = 0;
    for (unsigned k = low; k < 32; k++)
        if (span->vectors[k])
            rest[rest_count++] = span->vectors[k];
    if (rest_count > MOST_RUN_BITS)
        return false;
    uint32_t place = span->origin & ~(((uint32_t)1 << low) - 1);
    int64_t length = ((int64_t)1 << low) * scale;
    for (uint32_t i = 0; i < (uint32_t)1 << rest_count; i++) {
        if (i) /* Gray code: one vector changes */
            place ^= rest[__builtin_ctz(i)];
        if (!run_add_padded(list, layout, place * scale, place * scale + length))
            return false;
    }
    return true;
}

/* Tensor memory is looked at in words, so bits of a place below a word's go. */
static uint32_t to_unit(const Layout *layout, uint32_t place) {
    return layout->space == SPACE_SHARED ? place : (place & ~0xffffu) | (place & 0xffff) * layout->element_bits / 32;
}

/* Sizes that are no powers of two are cut into parts that are. */
static bool box_runs(const Layout *layout, unsigned dim, FootprintSpan span, uint32_t affine, RunList *list) {
    if (dim == layout->rank) {
        for (unsigned i = 0; i < layout->replica_count; i++)
            span_add(&span, to_unit(layout, layout->replicas[i]));
        span.origin ^= affine;
        return span_runs(&span, layout, layout->space == SPACE_SHARED ? layout->element_bits / 8 : 1, list);
    }
    int64_t begin = 0;
    for (unsigned k = layout->bits[dim] + 1u; k-- > 0;) {
        if (!(layout->shape[dim] >> k & 1))
            continue;
        FootprintSpan part = span;
        for (unsigned bit = 0; bit < layout->bits[dim]; bit++) {
            if (bit < k)
                span_add(&part, to_unit(layout, layout->place[dim][bit]));
            else if (begin >> bit & 1)
                part.origin ^= to_unit(layout, layout->place[dim][bit]);
        }
        if (!box_runs(layout, dim + 1, part, affine, list))
            return false;
        begin += (int64_t)1 << k;
    }
    return true;
}

const LayoutFootprint *footprint_of(Module *module, Layout *layout, int32_t affine) {
    enum { MOST_KEPT = 256 };
    for (const LayoutFootprint *known = layout->footprints; known; known = known->next)
        if (known->affine == affine)
            return known;
    int64_t unit = layout->space == SPACE_SHARED ? layout->element_bits / 8 : 1;
    int64_t stride = layout_stage_stride(layout);
    if (affine < 0 || affine % unit || (layout->stages > 1 && stride < 0))
        return NULL;
    RunList stage = {.arena = &module->arena}, all = {.arena = &module->arena};
    if (!box_runs(layout, 0, (FootprintSpan){0}, (uint32_t)(affine / unit), &stage))
        return NULL;
    merge_runs(&stage);
    for (int64_t s = 0; s < layout->stages; s++)
        for (uint32_t i = 0; i < stage.count; i++)
            if (!run_add(&all, stage.items[i].begin + s * stride, stage.items[i].end + s * stride))
                return NULL;
    merge_runs(&all);
    LayoutFootprint *made = ARENA_NEW(&module->arena, LayoutFootprint);
    *made = (LayoutFootprint){layout->footprints, affine, {all.items, all.count}};
    if (layout->footprint_count < MOST_KEPT) {
        layout->footprints = made;
        layout->footprint_count++;
    }
    return made;
}

/* One box of a view: its sizes are powers of two. */
static bool part_runs(const Layout *layout, const int64_t *begin, const int64_t *end, uint32_t affine, RunList *list) {
    FootprintSpan span = {.origin = affine};
    for (unsigned d = 0; d < layout->rank; d++)
        for (unsigned bit = 0; bit < layout->bits[d]; bit++) {
            uint32_t place = to_unit(layout, layout->place[d][bit]);
            if ((int64_t)1 << bit < end[d] - begin[d])
                span_add(&span, place);
            else if (begin[d] >> bit & 1)
                span.origin ^= place;
        }
    for (unsigned i = 0; i < layout->replica_count; i++)
        span_add(&span, to_unit(layout, layout->replicas[i]));
    return span_runs(&span, layout, layout->space == SPACE_SHARED ? layout->element_bits / 8 : 1, list);
}

bool footprint_of_part(const Layout *layout, const ViewPart *part, int32_t affine, Arena *arena, Bytes *bytes) {
    RunList list = {.arena = arena};
    int64_t unit = layout->space == SPACE_SHARED ? layout->element_bits / 8 : 1;
    *bytes = (Bytes){0};
    if (layout->rank != part->rank || layout->stages != 1 || affine < 0 || affine % unit)
        return false;
    for (uint32_t i = 0; i < part->count; i++)
        if (!part_runs(layout, part->begin + i * part->rank, part->end + i * part->rank, (uint32_t)(affine / unit),
                       &list))
            return false;
    merge_runs(&list);
    *bytes = (Bytes){list.items, list.count};
    return true;
}
