/* Allocations, views and the bytes that they are. */
#include "reading.h"

#include "model/layout/layout.h"
#include "model/memory/views.h"

#define SWIZZLED "#e = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>\n"
#define NVMMA    "#e = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>\n"
#define BARRIER  "#b = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n"
#define TENSOR   "#t = #ttng.tensor_memory_encoding<blockM = 128, blockN = 128, colStride = 1>\n"
#define SMEM     "#smem = #ttg.shared_memory\n"

/* A function's body, read, and its allocations. */
typedef struct Kernel {
    Reading *reading;
    Module *module;
    Allocations allocations;
} Kernel;

static Kernel kernel(const char *aliases, const char *body) {
    Text text = {0};
    text_addf(&text, "%s" SMEM "tt.func @f(%%i: i32, %%j: i32) {\n%s  tt.return\n}\n", aliases, body);
    text_char(&text, 0);
    Kernel k = {.reading = read_good(text.data)};
    text_free(&text);
    k.module = &k.reading->module;
    k.allocations = allocations_of(k.module, first_op(k.reading));
    return k;
}

static const Value *value_named(Kernel *k, const char *name) {
    Op *root = first_op(k->reading);
    for (Op *op = root; op; op = op_next_in_walk(op, root))
        for (uint32_t i = 0; i < op->result_count; i++)
            if (op->results[i].name && str_is(op->results[i].name->text, name))
                return &op->results[i];
    fail_msg("there is no %%%s", name);
    return NULL;
}

static const Allocation *allocation(Kernel *k, const char *name) {
    const Allocation *found = allocation_find(&k->allocations, value_named(k, name)->owner);
    assert_non_null(found);
    return found;
}

/* Where a view lies when every index that is not a constant has this value. */
static Offset offset_of(Kernel *k, const Value *value, int64_t index) {
    const Op *op = value->owner;
    const Allocation *found = allocation_find(&k->allocations, op);
    if (found)
        return found->offset;
    ViewStep step = view_step_of(k->module, op);
    assert_null(step.problem);
    Offset at = offset_of(k, op->operands[0], index);
    at.base += (int32_t)((step.index ? index * step.stride : 0) + step.add);
    at.affine ^= (int32_t)step.flip;
    return at;
}

static Bytes bytes_at(Kernel *k, const char *name, int64_t index) {
    const Value *value = value_named(k, name);
    Bytes bytes;
    assert_true(view_bytes(k->module, value->type, offset_of(k, value, index), &k->module->arena, &bytes));
    for (uint32_t i = 0; i < bytes.count; i++) {
        assert_true(bytes.runs[i].begin < bytes.runs[i].end);
        assert_true(i == 0 || bytes.runs[i - 1].end < bytes.runs[i].begin);
    }
    return bytes;
}

static Bytes bytes_of(Kernel *k, const char *name) {
    return bytes_at(k, name, 0);
}

static void assert_runs(Bytes bytes, uint32_t count, const Run *runs) {
    assert_int_equal(bytes.count, count);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(bytes.runs[i].begin, runs[i].begin);
        assert_int_equal(bytes.runs[i].end, runs[i].end);
    }
}
#define RUNS(...)                                         \
    sizeof((Run[]){__VA_ARGS__}) / sizeof(Run), (Run[]) { \
        __VA_ARGS__                                       \
    }

static void assert_same(Bytes a, Bytes b) {
    assert_runs(a, b.count, b.runs);
}

static void assert_apart(Bytes a, Bytes b) {
    assert_false(bytes_overlap(&a, &b));
    assert_false(bytes_overlap(&b, &a));
}

/* Parts that do not meet and together are the whole. */
static void assert_parts(Bytes whole, const Bytes *parts, unsigned count) {
    int64_t size = 0;
    for (unsigned i = 0; i < count; i++) {
        assert_true(bytes_contain(&whole, &parts[i]));
        assert_false(bytes_contain(&parts[i], &whole));
        assert_true(bytes_overlap(&whole, &parts[i]));
        for (unsigned j = 0; j < i; j++)
            assert_apart(parts[i], parts[j]);
        size += bytes_size(&parts[i]);
    }
    assert_int_equal(size, bytes_size(&whole));
}

/* ---- Sets of bytes ----------------------------------------------------------------------------- */

static void sets_of_bytes(void **state) {
    (void)state;
    Bytes none = {0};
    Bytes a = {(Run[]){{0, 4}, {8, 12}}, 2}, holes = {(Run[]){{4, 8}, {12, 16}}, 2}, part = {(Run[]){{9, 11}}, 1};
    Bytes across = {(Run[]){{3, 9}}, 1};
    assert_apart(a, holes);
    assert_apart(a, none);
    assert_true(bytes_overlap(&a, &part));
    assert_true(bytes_overlap(&a, &across));
    assert_true(bytes_contain(&a, &part));
    assert_true(bytes_contain(&a, &none));
    assert_false(bytes_contain(&a, &across));
    assert_false(bytes_contain(&none, &a));
    assert_int_equal(bytes_size(&a), 8);
}

/* ---- Shared memory ----------------------------------------------------------------------------- */

static void a_tile_is_one_run(void **state) {
    (void)state;
    Kernel k = kernel(NVMMA, "  %a = ttg.local_alloc : () -> !ttg.memdesc<128x128xf16, #e, #smem, mutable>\n");
    assert_runs(bytes_of(&k, "a"), RUNS({0, 32768}));
    assert_int_equal(allocation(&k, "a")->size, 32768);
    assert_int_equal(memdesc_bytes(k.module, value_named(&k, "a")->type), 32768);
    done(k.reading);
}

/* The byte of every element of a part, from the address form of the swizzle. */
static void assert_swizzled_part(Bytes bytes, int64_t row, int64_t column, int64_t rows, int64_t columns) {
    int64_t covered = 0;
    for (int64_t r = row; r < row + rows; r++)
        for (int64_t c = column; c < column + columns; c++) {
            int64_t byte = 2 * (r * 64 + (c ^ 8 * (r / 2 % 4)));
            Bytes element = {(Run[]){{byte, byte + 2}}, 1};
            assert_true(bytes_contain(&bytes, &element));
            covered += 2;
        }
    assert_int_equal(bytes_size(&bytes), covered);
}

static void subslices_of_a_swizzled_buffer(void **state) {
    (void)state;
    Kernel k = kernel(
        SWIZZLED, "  %a = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #e, #smem, mutable>\n"
                  "  %q0 = ttg.memdesc_subslice %a[0, 0] : !ttg.memdesc<64x64xf16, #e, #smem, mutable> -> "
                  "!ttg.memdesc<32x32xf16, #e, #smem, mutable, 64x64>\n"
                  "  %q1 = ttg.memdesc_subslice %a[0, 32] : !ttg.memdesc<64x64xf16, #e, #smem, mutable> -> "
                  "!ttg.memdesc<32x32xf16, #e, #smem, mutable, 64x64>\n"
                  "  %q2 = ttg.memdesc_subslice %a[32, 0] : !ttg.memdesc<64x64xf16, #e, #smem, mutable> -> "
                  "!ttg.memdesc<32x32xf16, #e, #smem, mutable, 64x64>\n"
                  "  %q3 = ttg.memdesc_subslice %a[32, 32] : !ttg.memdesc<64x64xf16, #e, #smem, mutable> -> "
                  "!ttg.memdesc<32x32xf16, #e, #smem, mutable, 64x64>\n"
                  "  %row = ttg.memdesc_subslice %q3[16, 0] : !ttg.memdesc<32x32xf16, #e, #smem, mutable, 64x64> -> "
                  "!ttg.memdesc<16x32xf16, #e, #smem, mutable, 64x64>\n"
                  "  %half = ttg.memdesc_subslice %a[32, 0] : !ttg.memdesc<64x64xf16, #e, #smem, mutable> -> "
                  "!ttg.memdesc<32x64xf16, #e, #smem, mutable, 64x64>\n");
    Bytes parts[] = {bytes_of(&k, "q0"), bytes_of(&k, "q1"), bytes_of(&k, "q2"), bytes_of(&k, "q3")};
    assert_parts(bytes_of(&k, "a"), parts, 4);
    for (int i = 0; i < 4; i++)
        assert_swizzled_part(parts[i], i / 2 * 32, i % 2 * 32, 32, 32);
    assert_swizzled_part(bytes_of(&k, "row"), 48, 32, 16, 32);
    assert_runs(bytes_of(&k, "half"), RUNS({4096, 8192}));
    assert_int_equal(memdesc_bytes(k.module, value_named(&k, "q0")->type), 2048);
    done(k.reading);
}

/* Within the swizzle, an origin moves elements about: addition would be wrong. */
static void subslices_combine_by_xor(void **state) {
    (void)state;
    Kernel k = kernel(SWIZZLED, "  %a = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #e, #smem, mutable>\n"
                                "  %v = ttg.memdesc_subslice %a[6, 8] : !ttg.memdesc<64x64xf16, #e, #smem, mutable> -> "
                                "!ttg.memdesc<2x8xf16, #e, #smem, mutable, 64x64>\n");
    assert_swizzled_part(bytes_of(&k, "v"), 6, 8, 2, 8);
    done(k.reading);
}

static void halves_of_a_tile_of_panels(void **state) {
    (void)state;
    Kernel k = kernel(NVMMA, "  %a = ttg.local_alloc : () -> !ttg.memdesc<128x128xf16, #e, #smem, mutable>\n"
                             "  %left = ttg.memdesc_subslice %a[0, 0] : !ttg.memdesc<128x128xf16, #e, #smem, mutable> "
                             "-> !ttg.memdesc<128x64xf16, #e, #smem, mutable, 128x128>\n"
                             "  %right = ttg.memdesc_subslice %a[0, 64] : !ttg.memdesc<128x128xf16, #e, #smem, mutable>"
                             " -> !ttg.memdesc<128x64xf16, #e, #smem, mutable, 128x128>\n"
                             "  %top = ttg.memdesc_subslice %a[0, 0] : !ttg.memdesc<128x128xf16, #e, #smem, mutable> "
                             "-> !ttg.memdesc<64x128xf16, #e, #smem, mutable, 128x128>\n"
                             "  %low = ttg.memdesc_subslice %a[64, 0] : !ttg.memdesc<128x128xf16, #e, #smem, mutable> "
                             "-> !ttg.memdesc<64x128xf16, #e, #smem, mutable, 128x128>\n");
    assert_runs(bytes_of(&k, "left"), RUNS({0, 16384}));
    assert_runs(bytes_of(&k, "right"), RUNS({16384, 32768}));
    assert_runs(bytes_of(&k, "top"), RUNS({0, 8192}, {16384, 24576}));
    assert_runs(bytes_of(&k, "low"), RUNS({8192, 16384}, {24576, 32768}));
    done(k.reading);
}

static void slots_of_a_ring(void **state) {
    (void)state;
    Kernel k =
        kernel(NVMMA, "  %a = ttg.local_alloc {allocation.offset = 1024 : i32} : () -> !ttg.memdesc<3x128x64xf16, #e, "
                      "#smem, mutable>\n"
                      "  %v = ttg.memdesc_index %a[%i] : !ttg.memdesc<3x128x64xf16, #e, #smem, mutable> -> "
                      "!ttg.memdesc<128x64xf16, #e, #smem, mutable>\n"
                      "  %last = ttg.memdesc_subslice %a[1, 0, 0] : !ttg.memdesc<3x128x64xf16, #e, #smem, mutable> -> "
                      "!ttg.memdesc<2x128x64xf16, #e, #smem, mutable, 3x128x64>\n");
    Bytes slots[] = {bytes_at(&k, "v", 0), bytes_at(&k, "v", 1), bytes_at(&k, "v", 2)};
    assert_parts(bytes_of(&k, "a"), slots, 3);
    assert_runs(slots[2], RUNS({1024 + 32768, 1024 + 49152}));
    assert_runs(bytes_of(&k, "last"), RUNS({1024 + 16384, 1024 + 49152}));
    ViewStep step = view_step_of(k.module, value_named(&k, "v")->owner);
    assert_ptr_equal(step.index, first_op(k.reading)->regions[0].first->args);
    assert_int_equal(step.stride, 16384);
    done(k.reading);
}

static void transposed_reshaped_and_reinterpreted_views(void **state) {
    (void)state;
    Kernel k = kernel(
        NVMMA "#et = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = true, elementBitWidth = 16}>\n"
              "#r = #ttg.shared_linear<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0]]}, alignment = 16>\n"
              "#s = #ttg.shared_linear<{offset = [[1], [2], [4], [8], [16], [32]]}, alignment = 16>\n"
              "#f = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 32}>\n",
        "  %a = ttg.local_alloc : () -> !ttg.memdesc<2x64x128xf16, #e, #smem, mutable>\n"
        "  %s = ttg.memdesc_index %a[%i] : !ttg.memdesc<2x64x128xf16, #e, #smem, mutable> -> "
        "!ttg.memdesc<64x128xf16, #e, #smem, mutable>\n"
        "  %t = ttg.memdesc_trans %s {order = array<i32: 1, 0>} : !ttg.memdesc<64x128xf16, #e, #smem, mutable> -> "
        "!ttg.memdesc<128x64xf16, #et, #smem, mutable>\n"
        "  %f = ttg.memdesc_reinterpret %s : !ttg.memdesc<64x128xf16, #e, #smem, mutable> -> "
        "!ttg.memdesc<32x64xf32, #f, #smem, mutable>\n"
        "  %b = ttg.local_alloc : () -> !ttg.memdesc<4x16xf16, #r, #smem, mutable>\n"
        "  %l = ttg.memdesc_reshape %b : !ttg.memdesc<4x16xf16, #r, #smem, mutable> -> "
        "!ttg.memdesc<64xf16, #s, #smem, mutable>\n");
    assert_same(bytes_at(&k, "t", 1), bytes_at(&k, "s", 1));
    assert_runs(bytes_at(&k, "f", 1), RUNS({16384, 16384 + 8192}));
    assert_same(bytes_of(&k, "l"), bytes_of(&k, "b"));
    done(k.reading);
}

static void padded_rows(void **state) {
    (void)state;
    Kernel k = kernel("#e = #ttg.padded_shared<[4:+2] {order = [1, 0], shape = [4, 4]}>\n",
                      "  %a = ttg.local_alloc : () -> !ttg.memdesc<2x4x4xi32, #e, #smem, mutable>\n"
                      "  %s = ttg.memdesc_index %a[%i] : !ttg.memdesc<2x4x4xi32, #e, #smem, mutable> -> "
                      "!ttg.memdesc<4x4xi32, #e, #smem, mutable>\n"
                      "  %low = ttg.memdesc_subslice %s[2, 0] : !ttg.memdesc<4x4xi32, #e, #smem, mutable> -> "
                      "!ttg.memdesc<2x4xi32, #e, #smem, mutable, 4x4>\n");
    assert_runs(bytes_at(&k, "s", 1), RUNS({96, 112}, {120, 136}, {144, 160}, {168, 184}));
    assert_runs(bytes_at(&k, "low", 0), RUNS({48, 64}, {72, 88}));
    assert_int_equal(allocation(&k, "a")->size, 184);
    done(k.reading);
}

/* Each element has a place beside it that means no other. */
static void places_that_mean_nothing_belong_to_the_view(void **state) {
    (void)state;
    Kernel k = kernel("#e = #ttg.shared_linear<{offset = [[0, 1], [0, 0], [1, 0], [2, 0]]}, alignment = 16>\n"
                      "#f = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 8, "
                      "fp4Padded = true}>\n",
                      "  %a = ttg.local_alloc : () -> !ttg.memdesc<4x2xi32, #e, #smem, mutable>\n"
                      "  %f = ttg.local_alloc : () -> !ttg.memdesc<128x64xi8, #f, #smem, mutable>\n");
    assert_runs(bytes_of(&k, "a"), RUNS({0, 64}));
    assert_runs(bytes_of(&k, "f"), RUNS({0, 16384}));
    assert_int_equal(memdesc_transfer_bytes(k.module, value_named(&k, "f")->type), 128 * 64);
    done(k.reading);
}

static void sizes_that_are_no_powers_of_two(void **state) {
    (void)state;
    Kernel k = kernel(SWIZZLED BARRIER, "  %bars = ttg.local_alloc : () -> !ttg.memdesc<3xi64, #b, #smem, mutable>\n"
                                        "  %rows = ttg.local_alloc : () -> !ttg.memdesc<6x64xf16, #e, #smem, mutable>\n"
                                        "  %i1 = ttg.local_alloc : () -> !ttg.memdesc<24xi1, #b, #smem, mutable>\n");
    assert_runs(bytes_of(&k, "bars"), RUNS({0, 24}));
    assert_runs(bytes_of(&k, "rows"), RUNS({0, 768}));
    assert_runs(bytes_of(&k, "i1"), RUNS({0, 24}));
    assert_int_equal(allocation(&k, "rows")->size, 768);
    done(k.reading);
}

static void barriers_of_any_encoding(void **state) {
    (void)state;
    Kernel k = kernel(
        NVMMA BARRIER "#c = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0], CGALayout = [[1], "
                      "[2]]}>\n#u = #dialect.unknown\n",
        "  %a = ttg.local_alloc : () -> !ttg.memdesc<2x1xi64, #b, #smem, mutable>\n"
        "  %a0 = ttg.memdesc_index %a[%i] : !ttg.memdesc<2x1xi64, #b, #smem, mutable> -> !ttg.memdesc<1xi64, #b, "
        "#smem, mutable>\n"
        "  %c = ttg.local_alloc : () -> !ttg.memdesc<4xi64, #c, #smem, mutable>\n"
        "  %n = ttg.local_alloc : () -> !ttg.memdesc<3x1xi64, #e, #smem, mutable>\n"
        "  %n0 = ttg.memdesc_index %n[%i] : !ttg.memdesc<3x1xi64, #e, #smem, mutable> -> !ttg.memdesc<1xi64, #e, "
        "#smem, mutable>\n"
        "  %u = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #u, #smem, mutable>\n"
        "  %t = ttg.local_alloc : () -> !ttg.memdesc<5xi64, #b, #smem, mutable>\n"
        "  %t0 = ttg.memdesc_index %t[%i] : !ttg.memdesc<5xi64, #b, #smem, mutable> -> !ttg.memdesc<1xi64, #b, #smem, "
        "mutable>\n"
        "  %t1 = ttg.memdesc_index %t0[%i] : !ttg.memdesc<1xi64, #b, #smem, mutable> -> !ttg.memdesc<1xi64, #b, #smem, "
        "mutable>\n"
        "  %o = ttg.memdesc_subview %t[%i] : !ttg.memdesc<5xi64, #b, #smem, mutable> -> !ttg.memdesc<1xi64, #b, #smem, "
        "mutable>\n");
    assert_runs(bytes_at(&k, "a0", 1), RUNS({8, 16}));
    assert_runs(bytes_of(&k, "c"), RUNS({0, 8})); /* one in each of four CTAs */
    assert_runs(bytes_at(&k, "n0", 2), RUNS({16, 24}));
    assert_runs(bytes_of(&k, "u"), RUNS({0, 8}));
    assert_runs(bytes_at(&k, "t0", 4), RUNS({32, 40}));
    assert_runs(bytes_at(&k, "t1", 0), RUNS({0, 8}));
    assert_runs(bytes_at(&k, "o", 4), RUNS({32, 40}));
    assert_int_equal(allocation(&k, "n")->size, 24);
    done(k.reading);
}

/* Release 3.2 and 3.3: one op for all, its offsets values. */
static void views_with_offsets_that_are_operands(void **state) {
    (void)state;
    Kernel k = kernel(
        SWIZZLED, "  %c0 = arith.constant 0 : i32\n"
                  "  %c16 = arith.constant 16 : i32\n"
                  "  %a = ttg.local_alloc : () -> !ttg.memdesc<3x64x64xf16, #e, #smem, mutable>\n"
                  "  %s = ttg.memdesc_subview %a[%i, %c0, %c0] : !ttg.memdesc<3x64x64xf16, #e, #smem, mutable> -> "
                  "!ttg.memdesc<64x64xf16, #e, #smem, mutable>\n"
                  "  %v = ttg.memdesc_subview %s[%c16, %c0] : !ttg.memdesc<64x64xf16, #e, #smem, mutable> -> "
                  "!ttg.memdesc<16x64xf16, #e, #smem, mutable, 64x64>\n"
                  "  %d = ttg.memdesc_dynamic_subslice %s[%j, %c0] : !ttg.memdesc<64x64xf16, #e, #smem, mutable> -> "
                  "!ttg.memdesc<16x64xf16, #e, #smem, mutable, 64x64>\n"
                  "  %w = ttg.memdesc_subview %s[%c0, %j] : !ttg.memdesc<64x64xf16, #e, #smem, mutable> -> "
                  "!ttg.memdesc<64x1xf16, #e, #smem, mutable, 64x64>\n"
                  "  %x = ttg.memdesc_subview %s[%i, %j] : !ttg.memdesc<64x64xf16, #e, #smem, mutable> -> "
                  "!ttg.memdesc<16x64xf16, #e, #smem, mutable, 64x64>\n"
                  "  %y = ttg.memdesc_subview %s[%j, %c0] : !ttg.memdesc<64x64xf16, #e, #smem, mutable> -> "
                  "!ttg.memdesc<1x64xf16, #e, #smem, mutable, 64x64>\n");
    assert_runs(bytes_at(&k, "s", 2), RUNS({16384, 24576}));
    assert_runs(bytes_at(&k, "v", 1), RUNS({8192 + 2048, 8192 + 4096}));
    ViewStep step = view_step_of(k.module, value_named(&k, "d")->owner);
    assert_null(step.problem);
    assert_int_equal(step.stride, 128); /* a row */
    assert_non_null(view_step_of(k.module, value_named(&k, "x")->owner).problem);
    assert_non_null(view_step_of(k.module, value_named(&k, "y")->owner).problem); /* the phase changes with the row */
    assert_non_null(view_step_of(k.module, value_named(&k, "w")->owner).problem); /* so does the column */
    done(k.reading);
}

static void an_encoding_that_is_not_understood_has_no_bytes(void **state) {
    (void)state;
    Kernel k = kernel("#e = #ttg.partitioned_shared<{numPartitions = 2, numGroups = 1, partitionDim = 0, "
                      "partitionLayout = #in}>\n#in = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order "
                      "= [1, 0]}>\n",
                      "  %a = ttg.local_alloc {allocation.offset = [256 : i32, 8192 : i32]} : () -> "
                      "!ttg.memdesc<2x64x16xf16, #e, #smem, mutable>\n"
                      "  %v = ttg.memdesc_index %a[%i] : !ttg.memdesc<2x64x16xf16, #e, #smem, mutable> -> "
                      "!ttg.memdesc<64x16xf16, #e, #smem, mutable>\n"
                      "  %w = ttg.memdesc_subslice %v[32, 0] : !ttg.memdesc<64x16xf16, #e, #smem, mutable> -> "
                      "!ttg.memdesc<32x16xf16, #e, #smem, mutable, 64x16>\n"
                      "  %p = ttg.memdesc_index %a[%i] : !ttg.memdesc<2x64x16xf16, #e, #smem, mutable> -> "
                      "!ttg.memdesc<64x16x!tt.ptr<f16>, #e, #smem, mutable>\n");
    const Value *v = value_named(&k, "v");
    Bytes bytes;
    assert_false(view_bytes(k.module, v->type, (Offset){0}, &k.module->arena, &bytes));
    assert_int_equal(memdesc_bytes(k.module, v->type), 2048);
    assert_int_equal(view_step_of(k.module, v->owner).stride, 2048);
    assert_int_equal(allocation(&k, "a")->offset.base, 256);
    assert_int_equal(allocation(&k, "a")->size, 4096);
    assert_non_null(view_step_of(k.module, value_named(&k, "w")->owner).problem);
    assert_int_equal(memdesc_bytes(k.module, value_named(&k, "p")->type), 8192);
    assert_int_equal(memdesc_bytes(k.module, type_named(k.module, "i32")), -1);
    done(k.reading);
}

static void views_in_and_of_other_ctas(void **state) {
    (void)state;
    Kernel k = kernel(
        "#e = #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0], CGALayout = [[1, 0]]}>\n",
        "  %a = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #e, #smem, mutable>\n"
        "  %own = ttg.memdesc_subslice %a[16, 0] : !ttg.memdesc<64x64xf16, #e, #smem, mutable> -> "
        "!ttg.memdesc<16x64xf16, #e, #smem, mutable, 64x64>\n"
        "  %peer = ttg.memdesc_subslice %a[32, 0] : !ttg.memdesc<64x64xf16, #e, #smem, mutable> -> "
        "!ttg.memdesc<32x64xf16, #e, #smem, mutable, 64x64>\n"
        "  %far = ttng.map_to_remote_buffer %a, %i : !ttg.memdesc<64x64xf16, #e, #smem, mutable> -> "
        "!ttg.memdesc<64x64xf16, #e, #smem, mutable>\n");
    assert_runs(bytes_of(&k, "a"), RUNS({0, 4096}));
    assert_runs(bytes_of(&k, "own"), RUNS({2048, 4096}));
    ViewStep peer = view_step_of(k.module, value_named(&k, "peer")->owner);
    assert_null(peer.problem);
    assert_int_equal(peer.cta, 1);
    assert_int_equal(view_step_of(k.module, value_named(&k, "own")->owner).cta, 0);
    const int64_t begin[] = {16, 0, 32, 32}, end[] = {18, 64, 34, 64};
    const ViewPart part = {.count = 2, .rank = 2, .elements = 192, .begin = begin, .end = end};
    Bytes bytes;
    assert_true(view_part_bytes(k.module, value_named(&k, "a")->type, (Offset){0}, &part, &k.module->arena, &bytes));
    assert_runs(bytes, RUNS({64, 128}, {192, 256}, {2048, 2304}));
    ViewStep step = view_step_of(k.module, value_named(&k, "far")->owner);
    assert_null(step.problem);
    assert_non_null(step.rank);
    assert_int_equal(memdesc_transfer_bytes(k.module, value_named(&k, "a")->type), 4096);
    done(k.reading);
}

/* ---- Storages ---------------------------------------------------------------------------------- */

static void placed_allocations_share_the_memory_of_the_function(void **state) {
    (void)state;
    Kernel k = kernel(NVMMA BARRIER,
                      "  %a = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<64x64xf16, #e, #smem, "
                      "mutable>\n"
                      "  %b = ttg.local_alloc {allocation.offset = 4096 : i32} : () -> !ttg.memdesc<64x64xf16, #e, "
                      "#smem, mutable>\n"
                      "  %c = ttg.local_alloc {allocation.offset = 8192 : i32} : () -> !ttg.memdesc<1xi64, #b, #smem, "
                      "mutable>\n"
                      "  %d = ttg.local_alloc : () -> !ttg.memdesc<1xi64, #b, #smem, mutable>\n");
    assert_int_equal(k.allocations.count, 4);
    assert_int_equal(k.allocations.storage_count, 2);
    assert_int_equal(allocation(&k, "a")->storage, allocation(&k, "b")->storage);
    assert_int_equal(allocation(&k, "a")->storage, allocation(&k, "c")->storage);
    assert_int_not_equal(allocation(&k, "a")->storage, allocation(&k, "d")->storage);
    Bytes a = bytes_of(&k, "a"), b = bytes_of(&k, "b"), c = bytes_of(&k, "c");
    assert_true(bytes_overlap(&a, &b)); /* the same bytes at another time */
    assert_true(bytes_overlap(&b, &c));
    assert_apart(a, c);
    assert_null(allocation_find(&k.allocations, first_op(k.reading)));
    done(k.reading);
}

static void planned_allocations_share_by_their_buffer(void **state) {
    (void)state;
    Kernel k = kernel(
        NVMMA TENSOR "#one = #ttng.tensor_memory_encoding<blockM = 128, blockN = 1, colStride = 1>\n",
        "  %qk = ttng.tmem_alloc {buffer.copy = 1 : i32, buffer.id = 8 : i32} : () -> !ttg.memdesc<128x128xf32, #t, "
        "#ttng.tensor_memory, mutable>\n"
        "  %alpha = ttng.tmem_alloc {buffer.id = 8 : i32, buffer.offset = 64 : i32} : () -> !ttg.memdesc<128x1xf32, "
        "#one, #ttng.tensor_memory, mutable>\n"
        "  %m = ttng.tmem_alloc {buffer.id = 8 : i32, buffer.offset = 65 : i32} : () -> !ttg.memdesc<128x1xf32, #one, "
        "#ttng.tensor_memory, mutable>\n"
        "  %l = ttng.tmem_alloc {buffer.id = 8 : i32, buffer.offset = 66 : i32} : () -> !ttg.memdesc<128x1xf32, #one, "
        "#ttng.tensor_memory, mutable>\n"
        "  %p = ttng.tmem_alloc {buffer.id = 8 : i32, buffer.offset = 0 : i32} : () -> !ttg.memdesc<128x128xf16, #t, "
        "#ttng.tensor_memory, mutable>\n"
        "  %acc = ttng.tmem_alloc {buffer.id = 9 : i32} : () -> !ttg.memdesc<128x128xf32, #t, #ttng.tensor_memory, "
        "mutable>\n"
        "  %host = ttg.local_alloc {buffer.id = 8 : i32} : () -> !ttg.memdesc<128x64xf16, #e, #smem, mutable>\n"
        "  %guest = ttg.local_alloc {allocation.reuseTarget = 8 : i32, allocation.shareGroup = 22 : i32, buffer.id = "
        "22 : i32} : () -> !ttg.memdesc<64x64xf16, #e, #smem, mutable>\n"
        "  %other = ttg.local_alloc {allocation.shareGroup = 22 : i32} : () -> !ttg.memdesc<64x64xf16, #e, #smem, "
        "mutable>\n"
        "  %alone = ttg.local_alloc {buffer.id = 23 : i32} : () -> !ttg.memdesc<64x64xf16, #e, #smem, mutable>\n");
    static const char *const packed[] = {"alpha", "m", "l"};
    Bytes owner = bytes_of(&k, "qk"), p = bytes_of(&k, "p");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(allocation(&k, packed[i])->storage, allocation(&k, "qk")->storage);
        Bytes one = bytes_of(&k, packed[i]);
        assert_int_equal(one.count, 128);
        assert_int_equal(one.runs[1].begin, 1 << 16 | (64 + i));
        assert_true(bytes_contain(&owner, &one));
        assert_apart(one, p); /* 128 columns of 16 bits are 64 of a word */
        for (int j = 0; j < i; j++)
            assert_apart(one, bytes_of(&k, packed[j]));
    }
    assert_int_not_equal(allocation(&k, "acc")->storage, allocation(&k, "qk")->storage);
    assert_int_not_equal(allocation(&k, "host")->storage, allocation(&k, "qk")->storage);
    assert_int_equal(allocation(&k, "guest")->storage, allocation(&k, "host")->storage);
    assert_int_equal(allocation(&k, "other")->storage, allocation(&k, "host")->storage);
    assert_int_not_equal(allocation(&k, "alone")->storage, allocation(&k, "host")->storage);
    assert_int_equal(allocation(&k, "qk")->size, 128);
    assert_int_equal(allocation(&k, "p")->size, 64);
    done(k.reading);
}

static void tokens_and_arefs_are_rings_of_barriers(void **state) {
    (void)state;
    Kernel k = kernel(
        NVMMA,
        "  %t = nvws.create_token {loadType = 1 : i32, numBuffers = 3 : i32} : tensor<3x!nvws.token>\n"
        "  %a = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #e, #smem, mutable>\n"
        "  %b = ttg.local_alloc : () -> !ttg.memdesc<2x64x128xf16, #e, #smem, mutable>\n"
        "  %r = nvws.aref.create %a, %b : !nvws.aref<[!ttg.memdesc<2x64x64xf16, #e, #smem, mutable>, "
        "!ttg.memdesc<2x64x128xf16, #e, #smem, mutable>]>\n"
        "  %v:2, %k = nvws.aref.put.enter %r[%i, %j] : !nvws.aref<[!ttg.memdesc<2x64x64xf16, #e, #smem, mutable>, "
        "!ttg.memdesc<2x64x128xf16, #e, #smem, mutable>]> -> !ttg.memdesc<64x64xf16, #e, #smem, mutable>, "
        "!ttg.memdesc<64x128xf16, #e, #smem, mutable>, !ttg.async.token\n");
    assert_int_equal(k.allocations.storage_count, 4);
    assert_int_equal(allocation(&k, "t")->size, 48);
    assert_int_equal(allocation(&k, "t")->space, SPACE_SHARED);
    assert_int_equal(allocation(&k, "r")->size, 32);
    const Op *enter = value_named(&k, "v")->owner;
    assert_int_equal(view_step_of(k.module, enter).stride, 8192);
    ViewStep second = view_step_of_result(k.module, enter, 1);
    assert_int_equal(second.stride, 16384);
    assert_ptr_equal(second.index, enter->operands[1]);
    done(k.reading);
}

static void storage_that_is_named_apart_from_its_buffers(void **state) {
    (void)state;
    Kernel k = kernel(
        NVMMA,
        "  %s = tlx.storage_alias_spec storage = smem : !tlx.storage_alias_spec<smem>\n"
        "  %a = tlx.storage_alias_local_alloc %s : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<128x64xf16, #e, "
        "#smem, mutable>\n"
        "  %b = tlx.storage_alias_local_alloc %s : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<64x64xf16, #e, #smem, "
        "mutable>\n"
        "  %c = tlx.storage_alias_local_alloc %s : !tlx.storage_alias_spec<smem> -> !ttg.memdesc<64x64xf16, #e, #smem, "
        "mutable>\n"
        "  %g = tlx.reuse_group(%b, %c) group_kind = distinct : (!ttg.memdesc<64x64xf16, #e, #smem, mutable>, "
        "!ttg.memdesc<64x64xf16, #e, #smem, mutable>) -> !tlx.reuse_group<distinct>\n"
        "  %h = tlx.reuse_group(%a, %g) group_kind = shared : (!ttg.memdesc<128x64xf16, #e, #smem, mutable>, "
        "!tlx.reuse_group<distinct>) -> !tlx.reuse_group<shared>\n"
        "  tlx.set_buffer_overlap(%s, %h) : (!tlx.storage_alias_spec<smem>, !tlx.reuse_group<shared>) -> ()\n");
    Bytes parts[] = {bytes_of(&k, "b"), bytes_of(&k, "c")};
    assert_parts(bytes_of(&k, "a"), parts, 2);
    assert_int_equal(allocation(&k, "s")->size, 16384);
    done(k.reading);
}

/* ---- Tensor memory ----------------------------------------------------------------------------- */

static void columns_of_tensor_memory(void **state) {
    (void)state;
    Kernel k = kernel(
        TENSOR,
        "  %a = ttng.tmem_alloc {tensor_memory_col_offset = 256 : i32, tensor_memory_row_offset = 0 : i32} : () -> "
        "!ttg.memdesc<2x128x128xf32, #t, #ttng.tensor_memory, mutable>\n"
        "  %v = ttg.memdesc_index %a[%i] : !ttg.memdesc<2x128x128xf32, #t, #ttng.tensor_memory, mutable> -> "
        "!ttg.memdesc<128x128xf32, #t, #ttng.tensor_memory, mutable>\n"
        "  %left = ttng.tmem_subslice %v {N = 0 : i32} : !ttg.memdesc<128x128xf32, #t, #ttng.tensor_memory, mutable> "
        "-> !ttg.memdesc<128x64xf32, #t, #ttng.tensor_memory, mutable, 128x128>\n"
        "  %right = ttng.tmem_subslice %v {offset = 64 : i32} : !ttg.memdesc<128x128xf32, #t, #ttng.tensor_memory, "
        "mutable> -> !ttg.memdesc<128x64xf32, #t, #ttng.tensor_memory, mutable, 128x128>\n"
        "  %h = ttng.tmem_alloc {tensor_memory_col_offset = 0 : i32, tensor_memory_row_offset = 0 : i32} : () -> "
        "!ttg.memdesc<128x128xf16, #t, #ttng.tensor_memory, mutable>\n"
        "  %hs = ttng.tmem_subslice %h {offset = 64 : i32, dim = 1 : i32} : !ttg.memdesc<128x128xf16, #t, "
        "#ttng.tensor_memory, mutable> -> !ttg.memdesc<128x64xf16, #t, #ttng.tensor_memory, mutable, 128x128>\n");
    Bytes all = bytes_of(&k, "a"), slot = bytes_at(&k, "v", 1);
    assert_int_equal(all.count, 128);
    assert_int_equal(all.runs[3].begin, 3 << 16 | 256);
    assert_int_equal(all.runs[3].end, 3 << 16 | 512);
    assert_int_equal(slot.runs[127].begin, 127 << 16 | 384);
    Bytes halves[] = {bytes_at(&k, "left", 1), bytes_at(&k, "right", 1)};
    assert_parts(slot, halves, 2);
    assert_int_equal(halves[1].runs[0].begin, 384 + 64);
    Bytes narrow = bytes_of(&k, "hs");
    assert_int_equal(narrow.runs[0].begin, 32);
    assert_int_equal(narrow.runs[0].end, 64);
    assert_int_equal(allocation(&k, "a")->size, 256);
    assert_int_equal(allocation(&k, "a")->storage, allocation(&k, "h")->storage);
    assert_int_equal(memdesc_bytes(k.module, value_named(&k, "v")->type), 128 * 128);
    done(k.reading);
}

static void tiles_of_64_rows(void **state) {
    (void)state;
    Kernel k = kernel(
        "#t = #ttng.tensor_memory_encoding<blockM = 64, blockN = 32, colStride = 1>\n",
        "  %a = ttng.tmem_alloc {tensor_memory_col_offset = 0 : i32, tensor_memory_row_offset = 0 : i32} : () -> "
        "!ttg.memdesc<64x32xf32, #t, #ttng.tensor_memory, mutable>\n"
        "  %b = ttng.tmem_alloc {tensor_memory_col_offset = 0 : i32, tensor_memory_row_offset = 16 : i32} : () -> "
        "!ttg.memdesc<64x32xf32, #t, #ttng.tensor_memory, mutable>\n"
        "  %w = ttng.tmem_alloc {tensor_memory_col_offset = 0 : i32, tensor_memory_row_offset = 0 : i32} : () -> "
        "!ttg.memdesc<64x128xf32, #t, #ttng.tensor_memory, mutable>\n"
        "  %s = ttng.tmem_subslice %w {N = 32 : i32} : !ttg.memdesc<64x128xf32, #t, #ttng.tensor_memory, mutable> -> "
        "!ttg.memdesc<64x32xf32, #t, #ttng.tensor_memory, mutable, 64x128>\n");
    Bytes a = bytes_of(&k, "a"), b = bytes_of(&k, "b");
    assert_int_equal(a.count, 64);
    assert_int_equal(a.runs[15].begin, 15 << 16);
    assert_int_equal(a.runs[16].begin, 32 << 16);
    assert_apart(a, b); /* one above the other in each quarter */
    assert_same(bytes_of(&k, "s"), b);
    assert_int_equal(allocation(&k, "w")->size, 64);
    assert_int_equal(memdesc_bytes(k.module, value_named(&k, "a")->type), 64 * 32);
    done(k.reading);
}

static void scales_lie_in_every_quarter(void **state) {
    (void)state;
    Kernel k = kernel("#s = #ttng.tensor_memory_scales_encoding<>\n",
                      "  %a = ttng.tmem_alloc : () -> !ttg.memdesc<128x4xi8, #s, #ttng.tensor_memory, mutable>\n");
    Bytes a = bytes_of(&k, "a");
    assert_int_equal(a.count, 128);
    assert_int_equal(a.runs[100].begin, 100 << 16);
    assert_int_equal(a.runs[100].end, (100 << 16) + 4);
    assert_int_equal(allocation(&k, "a")->size, 4);
    done(k.reading);
}

/* ---- Other questions about types --------------------------------------------------------------- */

static void space_and_transfer(void **state) {
    (void)state;
    Kernel k =
        kernel(NVMMA TENSOR "#tmem = #ttng.tensor_memory\n!d = !ttg.memdesc<64x64xf16, #e, #smem, mutable>\n",
               "  %a = ttg.local_alloc : () -> !d\n"
               "  %b = ttng.tmem_alloc : () -> !ttg.memdesc<128x128xf32, #t, #tmem, mutable>\n"
               "  %c = ttg.local_alloc : () -> !ttg.memdesc<2x64x64xf16, #e, #smem, mutable>\n"
               "  %v = ttg.memdesc_subslice %a[0, 0] : !d -> !ttg.memdesc<32x64xf16, #e, #smem, mutable, 64x64>\n");
    assert_int_equal(memdesc_space(value_named(&k, "a")->type), SPACE_SHARED);
    assert_int_equal(memdesc_space(value_named(&k, "b")->type), SPACE_TENSOR);
    assert_int_equal(memdesc_space(type_named(k.module, "i32")), SPACE_NONE);
    assert_int_equal(memdesc_space(NULL), SPACE_NONE);
    assert_int_equal(memdesc_transfer_bytes(k.module, value_named(&k, "a")->type), 8192);
    assert_int_equal(memdesc_transfer_bytes(k.module, value_named(&k, "v")->type), 4096);
    assert_int_equal(memdesc_transfer_bytes(k.module, type_named(k.module, "i32")), -1);
    done(k.reading);
}

static void what_is_no_view_is_no_view(void **state) {
    (void)state;
    Kernel k = kernel(NVMMA, "  %a = ttg.local_alloc : () -> !ttg.memdesc<64x64xf16, #e, #smem, mutable>\n"
                             "  %x = arith.addi %i, %j : i32\n");
    assert_non_null(view_step_of(k.module, value_named(&k, "x")->owner).problem);
    assert_non_null(view_step_of(k.module, value_named(&k, "a")->owner).problem);
    done(k.reading);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_of_bytes),
        cmocka_unit_test(a_tile_is_one_run),
        cmocka_unit_test(subslices_of_a_swizzled_buffer),
        cmocka_unit_test(subslices_combine_by_xor),
        cmocka_unit_test(halves_of_a_tile_of_panels),
        cmocka_unit_test(slots_of_a_ring),
        cmocka_unit_test(transposed_reshaped_and_reinterpreted_views),
        cmocka_unit_test(padded_rows),
        cmocka_unit_test(places_that_mean_nothing_belong_to_the_view),
        cmocka_unit_test(sizes_that_are_no_powers_of_two),
        cmocka_unit_test(barriers_of_any_encoding),
        cmocka_unit_test(views_with_offsets_that_are_operands),
        cmocka_unit_test(an_encoding_that_is_not_understood_has_no_bytes),
        cmocka_unit_test(views_in_and_of_other_ctas),
        cmocka_unit_test(placed_allocations_share_the_memory_of_the_function),
        cmocka_unit_test(planned_allocations_share_by_their_buffer),
        cmocka_unit_test(tokens_and_arefs_are_rings_of_barriers),
        cmocka_unit_test(storage_that_is_named_apart_from_its_buffers),
        cmocka_unit_test(columns_of_tensor_memory),
        cmocka_unit_test(tiles_of_64_rows),
        cmocka_unit_test(scales_lie_in_every_quarter),
        cmocka_unit_test(space_and_transfer),
        cmocka_unit_test(what_is_no_view_is_no_view),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
