/* Layouts of tensors, against formulas for the element that a thread holds, and what conversions between them move. */
#include "reading.h"

#include "model/layout/convert.h"

/* A function whose arguments have these types, after the aliases. */
static Reading *read_tensors(const char *aliases, const char *const *types, unsigned count) {
    Text text = {0};
    text_addf(&text, "%s\ntt.func @f(", aliases);
    for (unsigned i = 0; i < count; i++)
        text_addf(&text, "%s%%%u: tensor<%s>", i ? ", " : "", i, types[i]);
    text_addf(&text, ") {\n  tt.return\n}\n");
    text_char(&text, 0);
    Reading *reading = read_good(text.data);
    text_free(&text);
    return reading;
}

static const Distributed *layout_at(Reading *reading, unsigned index) {
    const Distributed *layout = distributed_of(&reading->module, first_op(reading)->regions[0].first->args[index].type);
    assert_non_null(layout);
    return layout;
}

typedef struct Thread {
    unsigned numbers[HOLDERS];
} Thread;

/* The coordinate of what a thread holds. */
static int64_t held(const Distributed *layout, const Thread *thread, unsigned dim) {
    uint32_t at = 0;
    for (unsigned h = 0; h < HOLDERS; h++)
        for (unsigned i = 0; i < layout->count[h]; i++)
            if (thread->numbers[h] >> i & 1)
                at ^= layout->bases[h][i][dim];
    return at;
}

typedef void Expected(unsigned value, unsigned lane, unsigned warp, int64_t *row, int64_t *column);

static void assert_holds(const char *aliases, const char *type, unsigned values, unsigned lanes, unsigned warps,
                         Expected *expected) {
    Reading *reading = read_tensors(aliases, &type, 1);
    const Distributed *layout = layout_at(reading, 0);
    assert_true(layout->known);
    assert_int_equal(1u << layout->count[HOLD_REGISTER], values);
    assert_int_equal(1u << layout->count[HOLD_LANE], lanes);
    assert_int_equal(1u << layout->count[HOLD_WARP], warps);
    for (unsigned value = 0; value < values; value++)
        for (unsigned lane = 0; lane < lanes; lane++)
            for (unsigned warp = 0; warp < warps; warp++) {
                int64_t row, column;
                Thread thread = {{value, lane, warp, 0}};
                expected(value, lane, warp, &row, &column);
                assert_int_equal(held(layout, &thread, 0), row);
                assert_int_equal(held(layout, &thread, 1), column);
            }
    done(reading);
}

/* ---- Encodings --------------------------------------------------------------------------------- */

#define BLOCKED \
    "#b = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>\n"

/* A tile is 32 x 16; on 64 x 32 it is repeated along columns first. */
static void blocked_64_32(unsigned value, unsigned lane, unsigned warp, int64_t *row, int64_t *column) {
    *row = lane / 4 + 8 * warp + 32 * (value / 8);
    *column = value % 4 + 4 * (lane % 4) + 16 * (value / 4 % 2);
}

/* On 16 x 8 half the warps and half the lanes hold what others do. */
static void blocked_16_8(unsigned value, unsigned lane, unsigned warp, int64_t *row, int64_t *column) {
    *row = lane / 4 + 8 * (warp % 2);
    *column = value % 4 + 4 * (lane % 2);
}

static void blocked_tiles_repeat_or_are_cut(void **state) {
    (void)state;
    assert_holds(BLOCKED, "64x32xf16, #b", 16, 32, 4, blocked_64_32);
    assert_holds(BLOCKED, "16x8xf16, #b", 4, 32, 4, blocked_16_8);
}

/* Accumulators of mma.m16n8: 4 lanes along 8 columns, 8 rows, and rows 8 further down. */
static void mma_v2(unsigned value, unsigned lane, unsigned warp, int64_t *row, int64_t *column) {
    *row = lane / 4 + 8 * (value / 2 % 2) + 16 * (warp / 2);
    *column = value % 2 + 2 * (lane % 4) + 8 * (warp % 2) + 16 * (value / 4);
}

/* wgmma: warps go down first. */
static void mma_v3(unsigned value, unsigned lane, unsigned warp, int64_t *row, int64_t *column) {
    *row = lane / 4 + 8 * (value / 2 % 2) + 16 * warp;
    *column = value % 2 + 2 * (lane % 4) + 8 * (value / 4);
}

/* Operand A: each lane has two neighbors along K, and again 8 further. Warps along N hold the same. */
static void mma_v2_a(unsigned value, unsigned lane, unsigned warp, int64_t *row, int64_t *column) {
    *row = lane / 4 + 8 * (value / 2 % 2) + 16 * (warp / 2);
    *column = value % 2 + 2 * (lane % 4) + 8 * (value / 4);
}

#define MMA2 "#m = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>\n"
#define MMA3 \
    "#m = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 32, 16]}>\n"

static void products_have_the_instruction_s_layout(void **state) {
    (void)state;
    assert_holds(MMA2, "32x32xf32, #m", 8, 32, 4, mma_v2);
    assert_holds(MMA3, "64x32xf32, #m", 16, 32, 4, mma_v3);
    assert_holds(MMA2, "32x16xf16, #ttg.dot_op<{opIdx = 0, parent = #m, kWidth = 2}>", 8, 32, 4, mma_v2_a);
}

static void linear(unsigned value, unsigned lane, unsigned warp, int64_t *row, int64_t *column) {
    *row = lane % 8 ^ (value ? 8 : 0);
    *column = (lane / 8) ^ 4 * (warp % 2) ^ (value ? 1 : 0);
}

static void linear_bases_are_taken_as_they_are(void **state) {
    (void)state;
    assert_holds("",
                 "16x8xf16, #ttg.linear<{register = [[8, 1]], lane = [[1, 0], [2, 0], [4, 0], [0, 1], [0, 2]], "
                 "warp = [[0, 4], [0, 0]], block = []}>",
                 2, 32, 4, linear);
}

static void slices_lose_a_dimension_and_the_registers_along_it(void **state) {
    (void)state;
    const char *types[] = {"64xf16, #ttg.slice<{dim = 1, parent = #b}>", "64x32xf16, #b"};
    Reading *reading = read_tensors(BLOCKED, types, 2);
    const Distributed *slice = layout_at(reading, 0), *whole = layout_at(reading, 1);
    assert_true(slice->known);
    assert_int_equal(slice->rank, 1);
    assert_int_equal(slice->count[HOLD_REGISTER], 1);
    assert_int_equal(slice->count[HOLD_LANE], 5);
    for (unsigned lane = 0; lane < 32; lane++)
        for (unsigned warp = 0; warp < 4; warp++) {
            Thread thread = {{0, lane, warp, 0}};
            assert_int_equal(held(slice, &thread, 0), held(whole, &thread, 0));
        }
    assert_int_equal(distributed_along(slice, HOLD_LANE, 0), 8);
    assert_int_equal(distributed_along(slice, HOLD_WARP, 0), 4);
    done(reading);
}

static void ctas_split_or_share_the_tensor(void **state) {
    (void)state;
    const char *types[] = {
        "64x32xf16, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], "
        "order = [1, 0], CGALayout = [[0, 0], [1, 0]]}>",
        "64x32xf16, #triton_gpu.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], "
        "order = [1, 0], CTAsPerCGA = [2, 2], CTASplitNum = [2, 1], CTAOrder = [1, 0]}>"};
    Reading *reading = read_tensors("", types, 2);
    for (unsigned i = 0; i < 2; i++) {
        const Distributed *layout = layout_at(reading, i);
        assert_true(layout->known);
        assert_int_equal(layout->count[HOLD_BLOCK], 2);
        assert_int_equal(held(layout, &(Thread){{0, 0, 0, 1}}, 0), 0);
        assert_int_equal(held(layout, &(Thread){{0, 0, 0, 2}}, 0), 32);
        assert_int_equal(layout->count[HOLD_REGISTER], 3);
        assert_int_equal(distributed_along(layout, HOLD_BLOCK, 0), 2);
    }
    assert_int_equal(convert_reach(layout_at(reading, 0), layout_at(reading, 1)), REACH_NOWHERE);
    done(reading);
}

/* Every element is held by some thread of the AMD layouts. */
static void amd_layouts_cover_the_tensor(void **state) {
    (void)state;
    const char *types[] = {
        "64x64xf32, #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], instrShape = [32, 32, 8], isTransposed = true}>",
        "64x64xf16, #ttg.dot_op<{opIdx = 1, parent = #ttg.amd_mfma<{version = 3, warpsPerCTA = [2, 2], "
        "instrShape = [16, 16, 16], isTransposed = false}>, kWidth = 4}>",
        "32x32xf32, #ttg.amd_wmma<{version = 2, isTranspose = false, ctaLayout = {warp = [[0, 1], [1, 0]]}}>",
        "32x32xf16, #ttg.dot_op<{opIdx = 0, parent = #ttg.amd_wmma<{version = 1, isTranspose = false, "
        "warpsPerCTA = [2, 2]}>, kWidth = 16}>"};
    Reading *reading = read_tensors("", types, 4);
    for (unsigned i = 0; i < 4; i++) {
        const Distributed *layout = layout_at(reading, i);
        uint32_t found[DISTRIBUTED_RANK] = {0};
        assert_true(layout->known);
        for (unsigned h = 0; h < HOLDERS; h++)
            for (unsigned k = 0; k < layout->count[h]; k++)
                for (unsigned d = 0; d < layout->rank; d++)
                    found[d] |= layout->bases[h][k][d];
        for (unsigned d = 0; d < layout->rank; d++)
            assert_int_equal(found[d], (1u << layout->bits[d]) - 1);
    }
    assert_int_equal(layout_at(reading, 0)->count[HOLD_LANE], 6);
    assert_int_equal(layout_at(reading, 2)->count[HOLD_LANE], 5);
    done(reading);
}

static void what_is_not_understood_is_not_known(void **state) {
    (void)state;
    static const char *const types[] = {
        "64x32xf16",
        "64x32xf16, #ttg.unheard_of<{}>",
        "48x32xf16, #b",
        "64xf16, #b",
        "64x32xf16, #ttg.blocked<{sizePerThread = [1, 3], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, "
        "0]}>",
        "64x32xf16, #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, "
        "1]}>",
        "64x32xf16, #ttg.blocked<{sizePerThread = [4096, 4096], threadsPerWarp = [4096, 4096], warpsPerCTA = [4096, "
        "4096], order = [1, 0]}>",
        "64x32xf16, #ttg.nvidia_mma<{versionMajor = 1, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16, 8]}>",
        "64x32xf16, #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, warpsPerCTA = [2, 2], instrShape = [16]}>",
        "64x32xf16, #ttg.dot_op<{opIdx = 2, parent = #b}>",
        "64x32xf16, #ttg.dot_op<{opIdx = 0, parent = #ttg.slice<{dim = 0, parent = #b}>}>",
        "64x32xf16, #ttg.slice<{dim = 9, parent = #b}>",
        "64x32xf16, #ttg.linear<{register = [[1]], lane = [], warp = [], block = []}>",
        "64x32xf16, #ttg.blocked<{}>",
        "1099511627776x64xf16, #b",
    };
    enum { COUNT = sizeof types / sizeof *types };
    Reading *reading = read_tensors(BLOCKED, types, COUNT);
    for (unsigned i = 0; i < COUNT; i++)
        assert_false(layout_at(reading, i)->known);
    assert_null(distributed_of(&reading->module, type_named(&reading->module, "i32")));
    assert_int_equal(convert_reach(layout_at(reading, 0), layout_at(reading, 1)), REACH_UNKNOWN);
    assert_int_equal(convert_elements(layout_at(reading, 0), layout_at(reading, 1), 16, (ConvertMeans){.banks = 32}),
                     -1);
    done(reading);
}

/* ---- Conversions ------------------------------------------------------------------------------- */

static Reach reach_between(const char *from, const char *to, bool *shuffles, bool *warps) {
    const char *types[] = {from, to};
    Reading *reading = read_tensors(BLOCKED MMA2, types, 2);
    const Distributed *source = layout_at(reading, 0), *target = layout_at(reading, 1);
    Reach reach = convert_reach(source, target);
    *shuffles = reach == REACH_LANES && convert_by_shuffles(source, target);
    *warps = convert_within_warps(source, target);
    done(reading);
    return reach;
}

#define LINEAR(registers, lanes, warps) \
    "64xf16, #ttg.linear<{register = [" registers "], lane = [" lanes "], warp = [" warps "], block = []}>"

static void a_conversion_reaches_as_far_as_its_bases_move(void **state) {
    (void)state;
    const char *plain = LINEAR("[1], [2]", "[4], [8]", "[16], [32]");
    bool shuffles, warps;
    assert_int_equal(reach_between(plain, plain, &shuffles, &warps), REACH_NOWHERE);
    assert_int_equal(reach_between(plain, LINEAR("[2], [1]", "[4], [8]", "[16], [32]"), &shuffles, &warps),
                     REACH_REGISTERS);
    assert_int_equal(reach_between(plain, LINEAR("[1], [4]", "[2], [8]", "[16], [32]"), &shuffles, &warps),
                     REACH_LANES);
    assert_true(shuffles); /* one bit changes places */
    assert_true(warps);
    assert_int_equal(reach_between(plain, LINEAR("[4], [8]", "[1], [2]", "[16], [32]"), &shuffles, &warps),
                     REACH_LANES);
    assert_false(shuffles); /* two do */
    assert_true(warps);
    assert_int_equal(reach_between(plain, LINEAR("[1], [2]", "[4], [16]", "[8], [32]"), &shuffles, &warps),
                     REACH_WARPS);
    assert_false(warps);
    assert_int_equal(reach_between("64x32xf16, #b", "64x32xf16, #m", &shuffles, &warps), REACH_WARPS);
}

static void warps_that_hold_copies_need_each_other(void **state) {
    (void)state;
    bool shuffles, warps;
    Reach reach = reach_between(LINEAR("[1], [2], [4]", "[8], [16]", "[32], [0]"),
                                LINEAR("[1], [8], [16]", "[2], [4]", "[32], [0]"), &shuffles, &warps);
    assert_int_equal(reach, REACH_LANES);
    assert_false(shuffles);
    assert_false(warps); /* the copy is written once, and both warps read that */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocked_tiles_repeat_or_are_cut),
        cmocka_unit_test(products_have_the_instruction_s_layout),
        cmocka_unit_test(linear_bases_are_taken_as_they_are),
        cmocka_unit_test(slices_lose_a_dimension_and_the_registers_along_it),
        cmocka_unit_test(ctas_split_or_share_the_tensor),
        cmocka_unit_test(amd_layouts_cover_the_tensor),
        cmocka_unit_test(what_is_not_understood_is_not_known),
        cmocka_unit_test(a_conversion_reaches_as_far_as_its_bases_move),
        cmocka_unit_test(warps_that_hold_copies_need_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
