/* Rows of elements, and what makes rows of a tensor or a box. */
#include "machine/tile/memory/pieces.h"

#include "base/number.h"
#include "model/number/tensor.h"

/* Larger accesses are not gone through. */
static const int64_t most_pieces = (int64_t)TENSOR_MOST_ELEMENTS;

/* ---- Boxes ---------------------------------------------------------------------------------------- */

/* The last dimension at one place of all others. */
static void take_row(const Box *box, int64_t address, Runs *runs) {
    unsigned last = box->rank - 1;
    int64_t count = box->end[last] - box->begin[last];
    address = address_add(address, box->begin[last], box->strides[last]);
    if (box->strides[last] == box->element) {
        runs_take(runs, address, count * box->element);
        return;
    }
    for (int64_t i = 0; i < count; i++)
        runs_take(runs, address_add(address, i, box->strides[last]), box->element);
}

/* The dimension with the smallest stride last. */
static Box ordered(const Box *box) {
    Box to = *box;
    for (unsigned i = 1; i < to.rank; i++)
        for (unsigned at = i; at > 0 && magnitude(to.strides[at - 1]) < magnitude(to.strides[at]); at--) {
            int64_t *const lists[] = {to.begin, to.end, to.strides};
            for (unsigned k = 0; k < sizeof lists / sizeof *lists; k++) {
                int64_t other = lists[k][at];
                lists[k][at] = lists[k][at - 1];
                lists[k][at - 1] = other;
            }
        }
    return to;
}

/* How many elements it has; -1 if those are too many. */
static int64_t count_box(const Box *box) {
    int64_t pieces = 1, size;
    for (unsigned i = 0; i < box->rank; i++)
        if (box->end[i] <= box->begin[i])
            return 0;
    for (unsigned i = 0; i < box->rank; i++)
        if (__builtin_sub_overflow(box->end[i], box->begin[i], &size) ||
            __builtin_mul_overflow(pieces, size, &pieces) || pieces > most_pieces)
            return -1;
    return pieces;
}

/* From its first byte to its last; false if that is no such number. */
static bool take_hull(const Box *box, Runs *runs) {
    __int128 begin = box->base, end = begin;
    for (unsigned i = 0; i < box->rank; i++) {
        __int128 first = (__int128)box->strides[i] * box->begin[i],
                 last = (__int128)box->strides[i] * (box->end[i] - 1);
        begin += first < last ? first : last;
        end += first < last ? last : first;
    }
    end += box->element;
    if (begin != (int64_t)begin || end != (int64_t)end)
        return false;
    runs_take(runs, (int64_t)begin, (int64_t)(end - begin));
    return true;
}

bool pieces_of_box(const Box *box, Runs *runs, uint64_t *elements) {
    int64_t at[TENSOR_MOST_DIMS], pieces = count_box(box);
    if (pieces < 0)
        return false;
    *elements += (uint64_t)pieces;
    if (runs->hull && pieces && take_hull(box, runs))
        return true;
    if (!box->rank)
        runs_take(runs, box->base, box->element);
    if (!box->rank || !pieces)
        return true;
    Box to = ordered(box);
    memcpy(at, to.begin, sizeof at);
    for (bool more = true; more;) {
        int64_t address = to.base;
        for (unsigned i = 0; i + 1 < to.rank; i++)
            address = address_add(address, at[i], to.strides[i]);
        take_row(&to, address, runs);
        more = false;
        for (unsigned i = to.rank - 1; i-- > 0 && !more;) {
            more = ++at[i] < to.end[i];
            at[i] = more ? at[i] : to.begin[i];
        }
    }
    return true;
}

/* ---- Rows of a tensor ----------------------------------------------------------------------------- */

typedef struct PieceRow {
    const int64_t *places, *mask; /* mask: NULL where it is on everywhere */
    int64_t count, place_stride, mask_stride;
} PieceRow;

static bool is_on(const PieceRow *row, int64_t index) {
    return !row->mask || row->mask[index * row->mask_stride];
}

/* Four at a time, for these two loops are most of the time that an access takes. */
static int64_t count_on(const PieceRow *row) {
    const int64_t *mask = row->mask, stride = row->mask_stride;
    int64_t on[4] = {0}, i = 0;
    if (!mask || !stride)
        return is_on(row, 0) ? row->count : 0;
    for (; i + 4 <= row->count; i += 4, mask += 4 * stride)
        for (unsigned k = 0; k < 4; k++)
            on[k] += mask[k * stride] != 0;
    for (; i < row->count; i++, mask += stride)
        on[0] += *mask != 0;
    return on[0] + on[1] + on[2] + on[3];
}

static bool has_step(const PieceRow *row, int64_t step) {
    const int64_t *place = row->places, stride = row->place_stride;
    uint64_t expected = (uint64_t)*place, by = (uint64_t)step, differences[4] = {0};
    int64_t i = 0;
    for (; i + 4 <= row->count; i += 4, place += 4 * stride, expected += 4 * by)
        for (unsigned k = 0; k < 4; k++)
            differences[k] |= (uint64_t)place[k * stride] ^ (expected + k * by);
    for (; i < row->count; i++, place += stride, expected += by)
        differences[0] |= (uint64_t)*place ^ expected;
    return !(differences[0] | differences[1] | differences[2] | differences[3]);
}

/* Leaves those at its ends out that are off, so that of `on` elements no other is left where they are in one piece. */
static void trim(PieceRow *row) {
    int64_t first = 0, end = row->count;
    while (first < end && !is_on(row, first))
        first++;
    while (end > first && !is_on(row, end - 1))
        end--;
    row->places += first * row->place_stride;
    row->mask += first * row->mask_stride;
    row->count = end - first;
}

/* Returns how many of its elements are touched. */
static int64_t take_elements(PieceRow row, const PieceUnit *unit, Runs *runs) {
    int64_t on = count_on(&row);
    if (on && on < row.count)
        trim(&row);
    bool all = on == row.count;
    if (on && all && has_step(&row, unit->bytes / unit->scale)) {
        runs_take(runs, address_add(unit->base, row.places[0], unit->scale), row.count * unit->bytes);
        return on;
    }
    for (int64_t i = 0; i < row.count && on; i++)
        if (all || is_on(&row, i))
            runs_take(runs, address_add(unit->base, row.places[i * row.place_stride], unit->scale), unit->bytes);
    return on;
}

/* ---- Dimensions of a tensor ----------------------------------------------------------------------- */

/* A dimension of an index and its mask, gone along in the direction in which addresses grow. */
typedef struct PieceAxis {
    int64_t size, place_stride, mask_stride;
    int64_t step; /* between its first two elements */
} PieceAxis;

/* The dimensions along which something changes. */
typedef struct Axes {
    PieceAxis items[TENSOR_MOST_DIMS];
    unsigned count;
    const int64_t *places, *mask; /* of the first element */
    int64_t pieces, repeats;      /* repeats: how many elements each piece stands for */
} Axes;

static void add_axis(Axes *axes, PieceAxis axis) {
    axis.step = (int64_t)((uint64_t)axes->places[axis.place_stride] - (uint64_t)axes->places[0]);
    if (axis.step < 0) {
        axes->places += (axis.size - 1) * axis.place_stride;
        axes->mask += axes->mask ? (axis.size - 1) * axis.mask_stride : 0;
        axis.place_stride = -axis.place_stride;
        axis.mask_stride = -axis.mask_stride;
        axis.step = (int64_t)(0 - (uint64_t)axis.step);
    }
    axes->items[axes->count++] = axis;
}

static PieceAxis axis_of(const Tensor *index, const Tensor *mask, unsigned dim) {
    return (PieceAxis){
        .size = index->dims[dim], .place_stride = index->strides[dim], .mask_stride = mask ? mask->strides[dim] : 0};
}

/* False if there are more pieces than are looked at. */
static bool find_axes(const Tensor *index, const Tensor *mask, Axes *axes) {
    *axes = (Axes){.places = index->data, .mask = mask ? mask->data : NULL, .pieces = 1, .repeats = 1};
    for (unsigned i = 0; i < index->rank; i++) {
        PieceAxis axis = axis_of(index, mask, i);
        int64_t *count = axis.place_stride || axis.mask_stride ? &axes->pieces : &axes->repeats;
        if (__builtin_mul_overflow(*count, axis.size, count) || axes->pieces > most_pieces)
            return false;
    }
    for (unsigned i = 0; i < index->rank; i++) {
        PieceAxis axis = axis_of(index, mask, i);
        if (axis.size > 1 && (axis.place_stride || axis.mask_stride))
            add_axis(axes, axis);
    }
    return true;
}

/* The axes by what `key` gives, that with the smallest last. */
static void sort_axes(Axes *axes, uint64_t (*key)(const PieceAxis *axis)) {
    for (unsigned i = 1; i < axes->count; i++) {
        PieceAxis axis = axes->items[i];
        unsigned at = i;
        for (; at > 0 && key(&axes->items[at - 1]) < key(&axis); at--)
            axes->items[at] = axes->items[at - 1];
        axes->items[at] = axis;
    }
}

/* In memory: what is next to each other there comes after each other. */
static uint64_t by_place(const PieceAxis *axis) {
    return magnitude(axis->place_stride);
}

/* The same addresses under another mask come last of all. */
static uint64_t by_step(const PieceAxis *axis) {
    return axis->step ? (uint64_t)axis->step : UINT64_MAX;
}

/* The rows along the last axis, one after the other. */
typedef struct PieceWalk {
    const Axes *axes;
    unsigned outer; /* axes but the last */
    int64_t at[TENSOR_MOST_DIMS];
    PieceRow row;
} PieceWalk;

static PieceWalk walk_start(const Axes *axes) {
    PieceWalk walk = {.axes = axes,
                      .outer = axes->count ? axes->count - 1 : 0,
                      .row = {.places = axes->places, .mask = axes->mask, .count = 1}};
    if (axes->count) {
        const PieceAxis *last = &axes->items[walk.outer];
        walk.row.count = last->size;
        walk.row.place_stride = last->place_stride;
        walk.row.mask_stride = last->mask_stride;
    }
    return walk;
}

/* False if that was the last row. */
static bool walk_on(PieceWalk *walk) {
    for (unsigned i = walk->outer; i-- > 0;) {
        const PieceAxis *axis = &walk->axes->items[i];
        bool over = ++walk->at[i] == axis->size;
        int64_t by = over ? 1 - axis->size : 1;
        walk->row.places += by * axis->place_stride;
        if (walk->row.mask)
            walk->row.mask += by * axis->mask_stride;
        if (!over)
            return true;
        walk->at[i] = 0;
    }
    return false;
}

/* ---- Tensors -------------------------------------------------------------------------------------- */

/* The elements of a row that are on: false if they are in more than one piece. */
static bool find_on(const PieceRow *row, int64_t *first, int64_t *end) {
    PieceRow rest = *row;
    int64_t on = count_on(row);
    if (on && on < row->count)
        trim(&rest);
    *first = on ? (rest.places - row->places) / (row->place_stride ? row->place_stride : 1) : 0;
    *end = *first + on;
    return !on || on == rest.count;
}

/* What is on, so far. */
typedef struct Window {
    int64_t begin[TENSOR_MOST_DIMS], end[TENSOR_MOST_DIMS];
    int64_t rows;
} Window;

/* A row with something on: false if that is not what the rows before have. */
static bool widen(Window *window, const PieceWalk *walk, int64_t first, int64_t end) {
    bool same = !window->rows || (window->begin[walk->outer] == first && window->end[walk->outer] == end);
    for (unsigned i = 0; i < walk->outer; i++) {
        int64_t at = walk->at[i];
        window->begin[i] = window->rows && window->begin[i] < at ? window->begin[i] : at;
        window->end[i] = window->rows && window->end[i] > at ? window->end[i] : at + 1;
    }
    window->begin[walk->outer] = first;
    window->end[walk->outer] = end;
    window->rows++;
    return same;
}

/* Whether the addresses are those of a box, and what is on is a box of them. */
static bool find_box(const Axes *axes, const PieceUnit *unit, Box *box) {
    Window window = {.rows = 0};
    PieceWalk walk = walk_start(axes);
    for (unsigned i = 0; i < axes->count; i++)
        if (!axes->items[i].place_stride)
            return false;
    do {
        uint64_t expected = (uint64_t)axes->places[0];
        int64_t first, end;
        for (unsigned i = 0; i < walk.outer; i++)
            expected += (uint64_t)walk.at[i] * (uint64_t)axes->items[i].step;
        if ((uint64_t)walk.row.places[0] != expected || !has_step(&walk.row, axes->items[walk.outer].step))
            return false;
        if (!find_on(&walk.row, &first, &end) || (end > first && !widen(&window, &walk, first, end)))
            return false;
    } while (walk_on(&walk));
    int64_t rows = 1;
    *box = (Box){
        .rank = axes->count, .base = address_add(unit->base, axes->places[0], unit->scale), .element = unit->bytes};
    for (unsigned i = 0; i < axes->count; i++) {
        box->begin[i] = window.begin[i];
        box->end[i] = window.end[i];
        box->strides[i] = address_add(0, axes->items[i].step, unit->scale);
        rows *= i < walk.outer ? window.end[i] - window.begin[i] : 1;
    }
    return rows == window.rows || !window.rows;
}

/* Of an even tensor that is touched everywhere. */
static bool pieces_of_even(const Tensor *index, const PieceUnit *unit, Runs *runs, uint64_t *elements) {
    Box box = {.base = address_add(unit->base, index->base, unit->scale), .element = unit->bytes};
    uint64_t on = 0, repeats = 1;
    for (unsigned i = 0; i < index->rank; i++) {
        int64_t step = address_add(0, index->steps[i], unit->scale), last = index->dims[i] - 1;
        if (!step || !last) {
            if (__builtin_mul_overflow(repeats, (uint64_t)index->dims[i], &repeats))
                return false;
            continue;
        }
        if (step < 0) { /* the other way round */
            box.base = address_add(box.base, last, step);
            step = -step;
        }
        box.end[box.rank] = last + 1;
        box.strides[box.rank++] = step;
    }
    if (!pieces_of_box(&box, runs, &on))
        return false;
    *elements += on * repeats;
    return true;
}

bool pieces_of_tensor(const Tensor *index, const Tensor *mask, const PieceUnit *unit, Runs *runs, uint64_t *elements) {
    Axes axes;
    Box box;
    uint64_t on = 0;
    int64_t all;
    for (unsigned i = 0; i < index->rank; i++)
        if (!index->dims[i])
            return true;
    if (mask && tensor_uniform(mask, &all)) {
        if (!all)
            return true;
        mask = NULL;
    }
    if (!mask && index->even)
        return pieces_of_even(index, unit, runs, elements);
    Tensor whole = tensor_whole(index, runs->arena), whole_mask;
    index = &whole;
    if (mask) {
        whole_mask = tensor_whole(mask, runs->arena);
        mask = &whole_mask;
    }
    if (!find_axes(index, mask, &axes))
        return false;
    sort_axes(&axes, by_place);
    if (axes.count && find_box(&axes, unit, &box)) {
        if (!pieces_of_box(&box, runs, &on))
            return false;
    } else {
        sort_axes(&axes, by_step);
        PieceWalk walk = walk_start(&axes);
        do
            on += (uint64_t)take_elements(walk.row, unit, runs);
        while (walk_on(&walk));
    }
    *elements += on * (uint64_t)axes.repeats;
    return true;
}
