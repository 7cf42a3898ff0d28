/* Tensors of integers: element by element, and moving elements.
 *
 * A tensor repeats along a dimension whose stride is 0, and everything here keeps that: an elementwise op computes only
 * where one of its operands differs (a splat plus a splat is one addition), and most changes of shape only make new
 * strides for the same data. A result that would need more than TENSOR_MOST_ELEMENTS elements of data is unknown. */
#include "base/number.h"
#include "model/number/even.h"

#include <assert.h>

enum { MOST_OPERANDS = 3 };

/* ---- Looking at tensors ---------------------------------------------------------------------- */

size_t dims_size(const int64_t *dims, unsigned rank) {
    int64_t size = 1;
    for (unsigned i = 0; i < rank; i++)
        if (dims[i] < 0 || __builtin_mul_overflow(size, dims[i], &size))
            return SIZE_MAX;
    return (size_t)size;
}

size_t tensor_size(const Tensor *tensor) {
    return dims_size(tensor->dims, tensor->rank);
}

/* Where in the data. */
static int64_t position(const Tensor *tensor, const int64_t *coordinates) {
    int64_t at = 0;
    for (unsigned i = 0; i < tensor->rank; i++)
        at += coordinates[i] * tensor->strides[i];
    return at;
}

int64_t tensor_at(const Tensor *tensor, const int64_t *coordinates) {
    if (tensor->data)
        return tensor->data[position(tensor, coordinates)];
    int64_t value = tensor->base;
    for (unsigned i = 0; i < tensor->rank; i++)
        value += coordinates[i] * tensor->steps[i];
    return value;
}

int64_t tensor_linear(const Tensor *tensor, size_t index) {
    int64_t at[TENSOR_MOST_DIMS] = {0}, rest = (int64_t)index;
    for (unsigned i = tensor->rank; i-- > 0; rest /= tensor->dims[i])
        at[i] = rest % tensor->dims[i];
    return tensor_at(tensor, at);
}

bool tensor_uniform(const Tensor *tensor, int64_t *value) {
    if (!tensor->known)
        return false;
    for (unsigned i = 0; i < tensor->rank; i++)
        if (tensor->strides[i])
            return false;
    *value = tensor->data ? tensor->data[0] : tensor->base;
    return true;
}

static bool same_dims(const int64_t *a, const int64_t *b, unsigned rank) {
    return memcmp(a, b, rank * sizeof *a) == 0;
}

bool tensor_fits(const Tensor *tensor, const Evaluation *how) {
    return tensor->rank == how->rank && same_dims(tensor->dims, how->dims, how->rank);
}

/* The operand as a known tensor; NULL if it is none. */
static const Tensor *known_at_all(Word word) {
    return word_is(word, WORD_TENSOR) && word.tensor->known ? word.tensor : NULL;
}

/* The same, with its data. */
static const Tensor *known(Word word, Arena *arena) {
    const Tensor *tensor = known_at_all(word);
    if (!tensor || tensor->data)
        return tensor;
    Tensor *whole = ARENA_NEW(arena, Tensor);
    *whole = tensor_whole(tensor, arena);
    return whole;
}

/* ---- Making tensors -------------------------------------------------------------------------- */

static Tensor *new_tensor(const Evaluation *how, uint64_t identity, Arena *arena) {
    Tensor *tensor = ARENA_NEW(arena, Tensor);
    tensor->rank = how->rank;
    tensor->width = how->width;
    tensor->identity = identity;
    memcpy(tensor->dims, how->dims, sizeof tensor->dims);
    return tensor;
}

static Word word_tensor(const Tensor *tensor) {
    return (Word){.tensor = tensor, .kind = WORD_TENSOR};
}

Word tensor_unknown(const Evaluation *how, uint64_t identity, Arena *arena) {
    return word_tensor(new_tensor(how, identity, arena));
}

/* A tensor whose elements are known; the caller sets its strides. One that is the same everywhere is identified by what
 * it is rather than by how it came about, as a scalar is. */
static Word finish(Tensor *tensor, const int64_t *data) {
    int64_t value;
    tensor->known = true;
    tensor->data = data;
    for (unsigned i = 0; i < tensor->rank; i++)
        if (tensor->dims[i] == 1)
            tensor->strides[i] = 0;
    if (tensor_uniform(tensor, &value)) {
        tensor->even = true;
        tensor->base = value;
        tensor->identity = identity_mix(tensor->width, (uint64_t)value);
        for (unsigned i = 0; i < tensor->rank; i++)
            tensor->identity = identity_mix(tensor->identity, (uint64_t)tensor->dims[i]);
    }
    return word_tensor(tensor);
}

Word tensor_splat(const Evaluation *how, int64_t value, Arena *arena) {
    int64_t *data = arena_alloc(arena, sizeof *data);
    *data = value;
    return finish(new_tensor(how, 0, arena), data);
}

/* Strides of a row-major tensor that has data only along the dimensions that are not marked as repeating. Returns how
 * much data that is. */
static size_t dense_strides(Tensor *tensor, const bool *repeats) {
    size_t size = 1;
    for (unsigned i = tensor->rank; i-- > 0;) {
        bool moves = tensor->dims[i] > 1 && !(repeats && repeats[i]);
        tensor->strides[i] = moves ? (int64_t)size : 0;
        if (moves && __builtin_mul_overflow(size, (size_t)tensor->dims[i], &size))
            return SIZE_MAX;
    }
    return size;
}

Word tensor_dense(const Evaluation *how, const int64_t *data, Arena *arena) {
    return tensor_repeating(how, data, NULL, arena);
}

Word tensor_repeating(const Evaluation *how, const int64_t *data, const bool *repeats, Arena *arena) {
    Tensor *tensor = new_tensor(how, how->width, arena);
    size_t size = dense_strides(tensor, repeats);
    for (unsigned i = 0; i < how->rank; i++)
        tensor->identity = identity_mix(tensor->identity, (uint64_t)how->dims[i]);
    for (size_t i = 0; i < size; i++)
        tensor->identity = identity_mix(tensor->identity, (uint64_t)data[i]);
    even_find(tensor, data, size);
    return finish(tensor, data);
}

/* ---- Element by element ---------------------------------------------------------------------- */

/* Several tensors gone through together, along the dimensions in which any of them moves. */
typedef struct TensorWalk {
    unsigned rank, count;
    int64_t dims[TENSOR_MOST_DIMS];
    int64_t strides[MOST_OPERANDS][TENSOR_MOST_DIMS];
    const int64_t *data[MOST_OPERANDS];
} TensorWalk;

/* Adds a dimension to the walk, inside those it has; one that continues the last is made one with it. */
static void walk_add(TensorWalk *walk, int64_t size, const int64_t *strides) {
    unsigned last = walk->rank - 1;
    bool continues = walk->rank > 0;
    for (unsigned k = 0; continues && k < walk->count; k++)
        continues = walk->strides[k][last] == size * strides[k];
    if (!continues) {
        last = walk->rank++;
        walk->dims[last] = 1;
    }
    walk->dims[last] *= size;
    for (unsigned k = 0; k < walk->count; k++)
        walk->strides[k][last] = strides[k];
}

/* A walk over `count` tensors of these dimensions. Sets repeats[i] where none of them moves. */
static TensorWalk walk_over(const Tensor *const *tensors, unsigned count, unsigned rank, const int64_t *dims,
                            bool *repeats) {
    TensorWalk walk = {.count = count};
    for (unsigned k = 0; k < count; k++)
        walk.data[k] = tensors[k]->data;
    for (unsigned i = 0; i < rank; i++) {
        int64_t strides[MOST_OPERANDS];
        repeats[i] = true;
        for (unsigned k = 0; k < count; k++) {
            strides[k] = tensors[k]->strides[i];
            repeats[i] &= strides[k] == 0;
        }
        if (!repeats[i])
            walk_add(&walk, dims[i], strides);
    }
    return walk;
}

/* One innermost row, not wrapped. The code is a constant where this is called, so that what is left is a plain loop. */
static inline __attribute__((always_inline)) bool run_row(Evaluator code, const Evaluation *how, int64_t *restrict to,
                                                          int64_t size, const int64_t *const *from,
                                                          const int64_t *strides) {
    const int64_t *x = from[0], *y = from[1], *z = from[2];
    const int64_t x_step = strides[0], y_step = strides[1], z_step = strides[2], attribute = how->a;
    unsigned operand_width = how->operand_width;
    for (int64_t i = 0; i < size; i++)
        if (!evaluate_integers(code, 64, operand_width, attribute, x[i * x_step], y[i * y_step], z[i * z_step], &to[i]))
            return false;
    return true;
}

static bool run_any_row(const Evaluation *how, int64_t *to, int64_t size, const int64_t *const *from,
                        const int64_t *strides) {
    switch (how->code) {
#define EVALUATOR(id, name, kind, operands, what) \
    case EVALUATE_##id:                           \
        return run_row(EVALUATE_##id, how, to, size, from, strides);
#include "ir/evaluators.def"
#undef EVALUATOR
    default:
        return false;
    }
}

static void wrap(int64_t *numbers, size_t count, unsigned width) {
    if (width == 0 || width >= 64) /* 0: what a select hands on */
        return;
    if (width == 1) {
        for (size_t i = 0; i < count; i++)
            numbers[i] &= 1;
        return;
    }
    for (size_t i = 0; i < count; i++)
        numbers[i] = sign_extended((uint64_t)numbers[i], width);
}

/* Applies the op to every element of the walk; the results lie one after the other. */
static bool run(const Evaluation *how, const TensorWalk *walk, int64_t *to, size_t size) {
    static const int64_t nothing = 0;
    unsigned inner = walk->rank ? walk->rank - 1 : 0;
    int64_t row = walk->rank ? walk->dims[inner] : 1;
    int64_t strides[MOST_OPERANDS] = {0}, at[TENSOR_MOST_DIMS] = {0};
    const int64_t *from[MOST_OPERANDS] = {&nothing, &nothing, &nothing};
    for (unsigned k = 0; k < walk->count; k++) {
        from[k] = walk->data[k];
        strides[k] = walk->rank ? walk->strides[k][inner] : 0;
    }
    for (size_t done = 0; done < size; done += (size_t)row) {
        if (!run_any_row(how, to + done, row, from, strides))
            return false;
        for (unsigned i = inner; i-- > 0;) {
            bool over = ++at[i] == walk->dims[i];
            for (unsigned k = 0; k < walk->count; k++)
                from[k] += over ? -(at[i] - 1) * walk->strides[k][i] : walk->strides[k][i];
            if (!over)
                break;
            at[i] = 0;
        }
    }
    wrap(to, size, how->width);
    return true;
}

bool tensor_numbers(const Evaluation *how, const Word *operands, unsigned count, Arena *arena, Word *result) {
    const Tensor *tensors[MOST_OPERANDS] = {NULL};
    assert(count <= MOST_OPERANDS);
    for (unsigned i = 0; i < count; i++)
        if (!(tensors[i] = known_at_all(operands[i])) || !tensor_fits(tensors[i], how))
            return false;
    if (even_numbers(how, operands, tensors, count, arena, result))
        return true;
    for (unsigned i = 0; i < count; i++)
        tensors[i] = known(operands[i], arena);
    bool repeats[TENSOR_MOST_DIMS];
    TensorWalk walk = walk_over(tensors, count, how->rank, how->dims, repeats);
    size_t size = dims_size(walk.dims, walk.rank);
    if (size > TENSOR_MOST_ELEMENTS)
        return false;
    int64_t *data = arena_alloc(arena, size * sizeof *data);
    if (!run(how, &walk, data, size))
        return false;
    Tensor *tensor = new_tensor(how, result_identity(how, operands, count), arena);
    dense_strides(tensor, repeats);
    *result = finish(tensor, data);
    return true;
}

/* ---- Shapes that share the data -------------------------------------------------------------- */

static bool broadcast(const Tensor *from, Tensor *to) {
    if (from->rank != to->rank)
        return false;
    for (unsigned i = 0; i < to->rank; i++) {
        if (from->dims[i] != to->dims[i] && from->dims[i] != 1)
            return false;
        to->strides[i] = from->strides[i];
    }
    return true;
}

static bool expand(const Tensor *from, Tensor *to, int64_t axis) {
    if (to->rank != from->rank + 1 || axis < 0 || axis >= to->rank || to->dims[axis] != 1)
        return false;
    for (unsigned i = 0, k = 0; i < to->rank; i++)
        if (i != (unsigned)axis) {
            if (to->dims[i] != from->dims[k])
                return false;
            to->strides[i] = from->strides[k++];
        }
    return true;
}

static bool transpose(const Tensor *from, Tensor *to, const int8_t *order) {
    unsigned seen = 0;
    if (from->rank != to->rank)
        return false;
    for (unsigned i = 0; i < to->rank; i++) {
        seen |= 1u << order[i];
        if (from->dims[order[i]] != to->dims[i])
            return false;
        to->strides[i] = from->strides[order[i]];
    }
    return seen + 1 == 1u << to->rank;
}

/* The half of the last dimension that is result `index` of a split. */
static bool split(const Tensor *from, Tensor *to, unsigned index, int64_t *first) {
    if (from->rank != to->rank + 1 || from->dims[to->rank] != 2 || index > 1 ||
        !same_dims(from->dims, to->dims, to->rank))
        return false;
    memcpy(to->strides, from->strides, to->rank * sizeof *to->strides);
    *first += (int64_t)index * from->strides[to->rank];
    return true;
}

static bool slice(const Tensor *from, Tensor *to, const int64_t *offsets, int64_t *first) {
    if (from->rank != to->rank)
        return false;
    for (unsigned i = 0; i < to->rank; i++) {
        if (offsets[i] < 0 || to->dims[i] > from->dims[i] || offsets[i] > from->dims[i] - to->dims[i])
            return false;
        to->strides[i] = from->strides[i];
        *first += offsets[i] * from->strides[i];
    }
    return true;
}

/* Strides for the same data in another shape of the same size, where there are such. Dimensions of both shapes are
 * matched in groups of equal size; within a group the old strides must be those of one run of elements. */
static bool reshape_in_place(const Tensor *from, Tensor *to) {
    unsigned i = 0, k = 0;
    while (i < from->rank || k < to->rank) {
        unsigned first_i = i, first_k = k;
        int64_t old_size = i < from->rank ? from->dims[i++] : 1, new_size = k < to->rank ? to->dims[k++] : 1;
        while (old_size != new_size)
            if (old_size < new_size)
                old_size *= from->dims[i++];
            else
                new_size *= to->dims[k++];
        int64_t stride = 0, expected = 0;
        bool inner = true;
        for (unsigned at = i; at-- > first_i;) {
            if (from->dims[at] == 1)
                continue;
            if (inner)
                stride = from->strides[at];
            else if (from->strides[at] != expected)
                return false;
            expected = from->strides[at] * from->dims[at];
            inner = false;
        }
        for (unsigned at = k; at-- > first_k; stride *= to->dims[at])
            to->strides[at] = stride;
    }
    return true;
}

/* ---- Shapes that need data of their own ------------------------------------------------------ */

/* Copies the elements of `from` to where `strides` say, starting at `to`. */
static void copy(const Tensor *from, const int64_t *strides, int64_t *to) {
    Tensor target = {.rank = from->rank, .data = to};
    memcpy(target.strides, strides, from->rank * sizeof *strides);
    const Tensor *both[] = {from, &target};
    bool repeats[TENSOR_MOST_DIMS];
    TensorWalk walk = walk_over(both, 2, from->rank, from->dims, repeats);
    int64_t at[TENSOR_MOST_DIMS] = {0};
    size_t size = dims_size(walk.dims, walk.rank);
    const int64_t *source = walk.data[0];
    for (size_t done = 0; done < size; done++) {
        *to = *source;
        for (unsigned i = walk.rank; i-- > 0;) {
            bool over = ++at[i] == walk.dims[i];
            source += over ? -(at[i] - 1) * walk.strides[0][i] : walk.strides[0][i];
            to += over ? -(at[i] - 1) * walk.strides[1][i] : walk.strides[1][i];
            if (!over)
                break;
            at[i] = 0;
        }
    }
}

static int64_t *allocate(size_t size, Arena *arena) {
    return size <= TENSOR_MOST_ELEMENTS ? arena_alloc(arena, size * sizeof(int64_t)) : NULL;
}

static bool reshape(const Tensor *from, Tensor *to, const int64_t **data, Arena *arena) {
    size_t size = tensor_size(from);
    if (size == SIZE_MAX || size != tensor_size(to))
        return false;
    int64_t *elements = allocate(size, arena);
    if (!elements)
        return false;
    Tensor rows = *from;
    dense_strides(&rows, NULL);
    copy(from, rows.strides, elements);
    dense_strides(to, NULL);
    *data = elements;
    return true;
}

/* The operands as tiles of the result, the last dimension's tiles next to each other. */
static bool concatenate(const Word *operands, unsigned count, Tensor *to, const int64_t **data, Arena *arena) {
    const Tensor *first = known_at_all(operands[0]);
    int64_t tiles[TENSOR_MOST_DIMS];
    bool repeats[TENSOR_MOST_DIMS];
    if (first->rank != to->rank)
        return false;
    for (unsigned i = 0; i < to->rank; i++) {
        tiles[i] = to->dims[i] / first->dims[i];
        if (to->dims[i] % first->dims[i] || tiles[i] == 0)
            return false;
        repeats[i] = tiles[i] == 1;
    }
    if (dims_size(tiles, to->rank) != count)
        return false;
    for (unsigned k = 0; k < count; k++) {
        const Tensor *tile = known_at_all(operands[k]);
        if (!tile || tile->rank != to->rank || !same_dims(tile->dims, first->dims, to->rank))
            return false;
        for (unsigned i = 0; i < to->rank; i++)
            repeats[i] &= tile->strides[i] == 0;
    }
    int64_t *elements = allocate(dense_strides(to, repeats), arena);
    if (!elements)
        return false;
    for (unsigned k = 0; k < count; k++) {
        int64_t at = 0, rest = k;
        for (unsigned i = to->rank; i-- > 0; rest /= tiles[i])
            at += rest % tiles[i] * first->dims[i] * to->strides[i];
        copy(known(operands[k], arena), to->strides, elements + at);
    }
    *data = elements;
    return true;
}

static bool join(const Word *operands, Tensor *to, const int64_t **data, Arena *arena) {
    const Tensor *sides[] = {known(operands[0], arena), known(operands[1], arena)};
    bool repeats[TENSOR_MOST_DIMS] = {false};
    unsigned rank = to->rank - 1u;
    if (!to->rank || !sides[1] || to->dims[rank] != 2)
        return false;
    for (unsigned k = 0; k < 2; k++)
        if (sides[k]->rank != rank || !same_dims(sides[k]->dims, to->dims, rank))
            return false;
    for (unsigned i = 0; i < rank; i++)
        repeats[i] = !sides[0]->strides[i] && !sides[1]->strides[i];
    int64_t *elements = allocate(dense_strides(to, repeats), arena);
    if (!elements)
        return false;
    for (unsigned k = 0; k < 2; k++)
        copy(sides[k], to->strides, elements + k);
    *data = elements;
    return true;
}

/* Moves on to the next element of the tensor's data; coordinates are 0 where it repeats. False after the last. */
static bool next_element(const Tensor *tensor, int64_t *coordinates) {
    for (unsigned i = tensor->rank; i-- > 0;) {
        if (tensor->strides[i] && ++coordinates[i] < tensor->dims[i])
            return true;
        coordinates[i] = 0;
    }
    return false;
}

static bool gather(const Word *operands, int64_t axis, Tensor *to, const int64_t **data, Arena *arena) {
    const Tensor *from = known(operands[0], arena), *indices = known(operands[1], arena);
    bool repeats[TENSOR_MOST_DIMS];
    if (!indices || indices->rank != to->rank || from->rank != to->rank || axis < 0 || axis >= to->rank ||
        !same_dims(indices->dims, to->dims, to->rank))
        return false;
    for (unsigned i = 0; i < to->rank; i++) {
        if (i != (unsigned)axis && to->dims[i] > from->dims[i])
            return false;
        repeats[i] = indices->strides[i] == 0 && (i == (unsigned)axis || from->strides[i] == 0);
    }
    int64_t *elements = allocate(dense_strides(to, repeats), arena);
    if (!elements)
        return false;
    int64_t at[TENSOR_MOST_DIMS] = {0};
    size_t count = 0;
    do {
        int64_t index = tensor_at(indices, at), kept = at[axis];
        if (index < 0 || index >= from->dims[axis])
            return false;
        at[axis] = index;
        elements[count++] = tensor_at(from, at);
        at[axis] = kept;
    } while (next_element(to, at));
    *data = elements;
    return true;
}

/* Puts together the elements of `from` along the axis, starting at `at` and going by `step`, `size` of them. With `to`,
 * each one's sum up to there goes there. */
static bool combine(const Evaluation *how, const int64_t *at, int64_t step, int64_t size, int64_t *to, int64_t to_step,
                    int64_t *result) {
    unsigned width = how->width;
    int64_t sum = *at;
    for (int64_t i = 0; i < size; i++, at += step) {
        if (i > 0 && !evaluate_integers((Evaluator)how->b, width, width, 0, sum, *at, 0, &sum))
            return false;
        if (to)
            to[i * to_step] = sum;
    }
    *result = sum;
    return true;
}

/* The tensor without its axis: what a reduction goes over, with the strides of the source. */
static Tensor without_axis(const Tensor *from, unsigned axis) {
    Tensor rest = {.rank = (uint8_t)(from->rank - 1)};
    for (unsigned i = 0, k = 0; i < from->rank; i++)
        if (i != axis) {
            rest.dims[k] = from->dims[i];
            rest.strides[k++] = from->strides[i];
        }
    return rest;
}

/* Of a reduction the result has no axis, and may be a scalar; of a scan it has the shape of the operand. */
static bool reduce(const Evaluation *how, const Tensor *from, Tensor *to, const int64_t **data, Arena *arena) {
    unsigned axis = (unsigned)how->a;
    bool scan = how->code == EVALUATE_SCAN;
    if (how->a < 0 || how->a >= from->rank)
        return false;
    Tensor rest = without_axis(from, axis);
    const Tensor *shape = scan ? from : &rest;
    if (to->rank != shape->rank || !same_dims(to->dims, shape->dims, to->rank))
        return false;
    bool repeats[TENSOR_MOST_DIMS];
    for (unsigned i = 0; i < to->rank; i++)
        repeats[i] = shape->strides[i] == 0 && !(scan && i == axis);
    size_t needed = dense_strides(to, repeats), work;
    if (__builtin_mul_overflow(needed, scan ? 1 : (size_t)from->dims[axis], &work) || work > TENSOR_MOST_ELEMENTS)
        return false;
    int64_t *elements = allocate(needed, arena);
    Tensor targets = scan ? without_axis(to, axis) : *to;
    int64_t at[TENSOR_MOST_DIMS] = {0}, size = from->dims[axis], step = from->strides[axis], sum;
    int64_t to_step = scan ? to->strides[axis] : 0, last = how->reverse ? size - 1 : 0;
    do {
        const int64_t *source = from->data + position(&rest, at) + last * step;
        int64_t *target = elements + position(&targets, at) + last * to_step;
        if (!combine(how, source, how->reverse ? -step : step, size, scan ? target : NULL,
                     how->reverse ? -to_step : to_step, &sum))
            return false;
        if (!scan)
            *target = sum;
    } while (next_element(&rest, at));
    *data = elements;
    return true;
}

/* Those of the SHAPES that only make new strides for the same data. *first: where that begins now. */
static bool new_strides(const Evaluation *how, const Tensor *from, Tensor *to, int64_t *first) {
    switch (how->code) {
    case EVALUATE_BROADCAST:
        return broadcast(from, to);
    case EVALUATE_EXPAND:
        return expand(from, to, how->a);
    case EVALUATE_RESHAPE: {
        size_t size = tensor_size(from);
        return size != SIZE_MAX && size == tensor_size(to) && reshape_in_place(from, to);
    }
    case EVALUATE_TRANSPOSE:
        return transpose(from, to, how->order);
    case EVALUATE_SPLIT:
        return split(from, to, how->result, first);
    case EVALUATE_SLICE:
        return slice(from, to, how->offsets, first);
    default:
        return false;
    }
}

/* An even tensor in another shape has the same steps in other places. */
static bool even_shape(const Evaluation *how, const Tensor *from, uint64_t identity, Arena *arena, Word *result) {
    Tensor source = *from, shape = {.rank = how->rank};
    int64_t first = 0;
    if (!from->even)
        return false;
    memcpy(shape.dims, how->dims, sizeof shape.dims);
    memcpy(source.strides, source.steps, sizeof source.strides);
    if (!new_strides(how, &source, &shape, &first))
        return false;
    *result = even_tensor(how, from->base + first, shape.strides, identity, arena);
    return true;
}

bool tensor_shapes(const Evaluation *how, const Word *operands, unsigned count, Arena *arena, Word *result) {
    if (how->code == EVALUATE_SPLAT) {
        if (!how->tensor || !word_is(operands[0], WORD_INTEGER))
            return false;
        *result = tensor_splat(how, operands[0].bits, arena);
        return true;
    }
    const Tensor *from = known_at_all(operands[0]);
    if (!from)
        return false;
    if (how->code == EVALUATE_UNSPLAT) {
        if (how->tensor || tensor_size(from) != 1)
            return false;
        *result = word_integer(tensor_linear(from, 0));
        return true;
    }
    uint64_t identity = result_identity(how, operands, count);
    if (how->tensor && even_shape(how, from, identity, arena, result))
        return true;
    from = known(operands[0], arena);
    Tensor *to = new_tensor(how, identity, arena);
    const int64_t *data = from->data;
    int64_t first = 0;
    bool good = new_strides(how, from, to, &first);
    data += first;
    switch (how->code) {
    case EVALUATE_RESHAPE:
        good = good || reshape(from, to, &data, arena);
        break;
    case EVALUATE_JOIN:
        good = join(operands, to, &data, arena);
        break;
    case EVALUATE_CONCATENATE:
        good = concatenate(operands, count, to, &data, arena);
        break;
    case EVALUATE_GATHER:
        good = gather(operands, how->a, to, &data, arena);
        break;
    case EVALUATE_REDUCE:
    case EVALUATE_SCAN:
        good = reduce(how, from, to, &data, arena);
        break;
    default:
        break;
    }
    if (good)
        *result = how->tensor ? finish(to, data) : word_integer(data[0]);
    return good;
}
