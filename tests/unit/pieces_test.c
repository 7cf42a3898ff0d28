/* machine/tile/memory/pieces: what tensors of addresses and boxes touch, against a look at each element. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "machine/tile/memory/pieces.h"

enum { MEMORY = 1 << 16 };

static uint64_t next_random(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

static void assert_marks(const Runs *runs, const uint8_t *marks) {
    static uint8_t found[MEMORY];
    memset(found, 0, sizeof found);
    for (uint32_t i = 0; i < runs->count; i++) {
        assert_true(runs->runs[i].begin >= 0 && runs->runs[i].end <= MEMORY);
        assert_true(runs->runs[i].begin < runs->runs[i].end);
        if (i)
            assert_true(runs->runs[i].begin > runs->runs[i - 1].end);
        memset(found + runs->runs[i].begin, 1, (size_t)(runs->runs[i].end - runs->runs[i].begin));
    }
    assert_memory_equal(found, marks, MEMORY);
}

/* A tensor, its strides in a random order of the dimensions, some of them 0; and data for it. */
static Tensor random_tensor(uint64_t *seed, Arena *arena, const Tensor *like, size_t *size) {
    Tensor tensor = {.known = true, .rank = (uint8_t)(1 + next_random(seed) % 3)};
    unsigned order[3] = {0, 1, 2};
    if (like)
        tensor = *like;
    for (unsigned i = 0; i < tensor.rank; i++) {
        unsigned other = (unsigned)(next_random(seed) % tensor.rank), was = order[i];
        tensor.dims[i] = like ? like->dims[i] : (int64_t)(1 + next_random(seed) % 12);
        if (order[other] < tensor.rank && was < tensor.rank) {
            order[i] = order[other];
            order[other] = was;
        }
    }
    *size = 1;
    for (unsigned k = 0; k < tensor.rank; k++) {
        unsigned i = order[k];
        bool repeats = next_random(seed) % 5 == 0;
        tensor.strides[i] = repeats ? 0 : (int64_t)*size;
        *size *= repeats ? 1 : (size_t)tensor.dims[i];
    }
    tensor.data = ARENA_ARRAY(arena, int64_t, *size);
    return tensor;
}

/* Numbers from 0 to 4095: of a box, or of a box with a few that are elsewhere, or any. */
static void fill_index(uint64_t *seed, Tensor *index, size_t size) {
    int64_t *data = (int64_t *)index->data, steps[3], first = (int64_t)(next_random(seed) % 64);
    unsigned kind = (unsigned)(next_random(seed) % 4);
    for (unsigned i = 0; i < index->rank; i++) {
        static const int64_t some[] = {1, 1, 2, 12, 16, 100, -1, -5};
        steps[i] = some[next_random(seed) % 8];
        first += steps[i] < 0 ? -steps[i] * (index->dims[i] - 1) : 0;
    }
    for (size_t k = 0; k < size; k++)
        data[k] = (int64_t)(next_random(seed) % 4096);
    for (size_t k = 0; k < tensor_size(index) && kind; k++) {
        int64_t value = first, place = 0;
        size_t rest = k;
        for (unsigned i = index->rank; i-- > 0; rest /= (size_t)index->dims[i]) {
            int64_t at = (int64_t)(rest % (size_t)index->dims[i]);
            value += index->strides[i] ? at * steps[i] : 0;
            place += at * index->strides[i];
        }
        data[place] = kind == 1 && next_random(seed) % 8 == 0 ? data[place] : value;
    }
}

/* On below a limit in each dimension, or anywhere. */
static void fill_mask(uint64_t *seed, Tensor *mask) {
    int64_t *data = (int64_t *)mask->data, begin[3], end[3];
    bool box = next_random(seed) % 3 > 0;
    for (unsigned i = 0; i < mask->rank; i++) {
        begin[i] = next_random(seed) % 3 ? 0 : (int64_t)(next_random(seed) % (uint64_t)mask->dims[i]);
        end[i] = next_random(seed) % 2 ? mask->dims[i] : (int64_t)(next_random(seed) % 13);
    }
    for (size_t k = 0; k < tensor_size(mask); k++) {
        bool on = true;
        int64_t place = 0;
        size_t rest = k;
        for (unsigned i = mask->rank; i-- > 0; rest /= (size_t)mask->dims[i]) {
            int64_t at = (int64_t)(rest % (size_t)mask->dims[i]);
            on &= !mask->strides[i] || (at >= begin[i] && at < end[i]);
            place += at * mask->strides[i];
        }
        data[place] = box ? on : next_random(seed) % 2;
    }
}

static void tensors_of_addresses(void **state) {
    (void)state;
    static uint8_t marks[MEMORY];
    for (uint64_t round = 0; round < 4000; round++) {
        uint64_t seed = round, elements = 0, expected = 0;
        size_t size;
        Arena arena;
        arena_init(&arena, (size_t)1 << 26);
        Tensor index = random_tensor(&seed, &arena, NULL, &size), mask;
        fill_index(&seed, &index, size);
        bool masked = next_random(&seed) % 2;
        if (masked) {
            mask = random_tensor(&seed, &arena, &index, &size);
            fill_mask(&seed, &mask);
        }
        int64_t bytes = INT64_C(1) << next_random(&seed) % 4;
        PieceUnit unit = {.base = 64, .scale = next_random(&seed) % 2 ? bytes : 1, .bytes = bytes};
        memset(marks, 0, sizeof marks);
        for (size_t k = 0; k < tensor_size(&index); k++)
            if (!masked || tensor_linear(&mask, k)) {
                memset(marks + unit.base + tensor_linear(&index, k) * unit.scale, 1, (size_t)bytes);
                expected++;
            }
        Runs runs = {.arena = &arena};
        assert_true(pieces_of_tensor(&index, masked ? &mask : NULL, &unit, &runs, &elements));
        runs_sort(&runs);
        assert_int_equal(elements, expected);
        assert_marks(&runs, marks);
        arena_free(&arena);
    }
}

static void boxes(void **state) {
    (void)state;
    static uint8_t marks[MEMORY];
    for (uint64_t round = 0; round < 500; round++) {
        uint64_t seed = round, elements = 0, expected = 0;
        Arena arena;
        arena_init(&arena, (size_t)1 << 26);
        Box box = {.rank = 3, .base = MEMORY / 2, .element = 4};
        for (unsigned i = 0; i < 3; i++) {
            static const int64_t strides[] = {4, 8, 16, 64, 100, 512, -4, -64};
            box.strides[i] = strides[next_random(&seed) % 8];
            box.begin[i] = (int64_t)(next_random(&seed) % 8) - 4;
            box.end[i] = box.begin[i] + (int64_t)(next_random(&seed) % 8);
        }
        memset(marks, 0, sizeof marks);
        for (int64_t x = box.begin[0]; x < box.end[0]; x++)
            for (int64_t y = box.begin[1]; y < box.end[1]; y++)
                for (int64_t z = box.begin[2]; z < box.end[2]; z++, expected++)
                    memset(marks + box.base + x * box.strides[0] + y * box.strides[1] + z * box.strides[2], 1, 4);
        Runs runs = {.arena = &arena};
        assert_true(pieces_of_box(&box, &runs, &elements));
        runs_sort(&runs);
        assert_int_equal(elements, expected);
        assert_marks(&runs, marks);
        arena_free(&arena);
    }
}

/* More than fit into memory are refused, and so is what has no number. */
static void too_many(void **state) {
    (void)state;
    uint64_t elements = 0;
    Runs runs = {.arena = NULL};
    Box box = {.rank = 2, .element = 1, .end = {1 << 20, 1 << 20}, .strides = {INT64_C(1) << 30, 2}};
    assert_false(pieces_of_box(&box, &runs, &elements));
    box = (Box){.rank = 1, .element = 1, .begin = {INT64_MIN}, .end = {INT64_MAX}, .strides = {2}};
    assert_false(pieces_of_box(&box, &runs, &elements));
    int64_t zero = 0;
    Tensor index = {.known = true, .rank = 2, .dims = {1 << 20, 1 << 20}, .strides = {1 << 20, 1}, .data = &zero};
    assert_false(pieces_of_tensor(&index, NULL, &(PieceUnit){0, 1, 1}, &runs, &elements));
    assert_int_equal(runs.count, 0);
}

/* A column-major tile comes in order, one run a column, without sorting. */
static void any_dense_order(void **state) {
    (void)state;
    enum { SIDE = 32 };
    int64_t data[SIDE * SIDE];
    Arena arena;
    arena_init(&arena, (size_t)1 << 26);
    for (int64_t i = 0; i < SIDE; i++)
        for (int64_t k = 0; k < SIDE; k++)
            data[i * SIDE + k] = 4 * i + 1024 * k;
    Tensor index = {.known = true, .rank = 2, .dims = {SIDE, SIDE}, .strides = {SIDE, 1}, .data = data};
    Runs runs = {.arena = &arena};
    uint64_t elements = 0;
    assert_true(pieces_of_tensor(&index, NULL, &(PieceUnit){0, 1, 4}, &runs, &elements));
    assert_false(runs.disordered);
    assert_int_equal(runs.count, SIDE);
    assert_int_equal(runs.runs[1].begin, 1024);
    assert_int_equal(runs.runs[1].end, 1024 + 4 * SIDE);
    arena_free(&arena);
}

/* Anywhere in the 64 bits, and in any number. */
static void sorting(void **state) {
    (void)state;
    static const uint32_t counts[] = {2, 48, 49, 1000, 20000};
    for (unsigned c = 0; c < sizeof counts / sizeof *counts; c++)
        for (unsigned shift = 0; shift < 48; shift += 6) {
            uint64_t seed = shift;
            Arena arena;
            arena_init(&arena, (size_t)1 << 26);
            Runs runs = {.arena = &arena};
            for (uint32_t i = 0; i < counts[c]; i++)
                runs_take(&runs, (int64_t)(next_random(&seed) << shift) - (INT64_C(1) << 40), 3);
            runs_sort(&runs);
            for (uint32_t i = 1; i < runs.count; i++)
                assert_true(runs.runs[i].begin > runs.runs[i - 1].end);
            arena_free(&arena);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_of_addresses), cmocka_unit_test(boxes),   cmocka_unit_test(too_many),
        cmocka_unit_test(any_dense_order),      cmocka_unit_test(sorting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
