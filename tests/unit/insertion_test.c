/* check/fences/insertion and model/target/release: where the pass of each release puts fences, and what releases are
 * called. What the passes do was seen by compiling (scripts/oracle/fences). */
#include "running.h"

#include "check/fences/insertion.h"

/* ---- Kernels -------------------------------------------------------------------------------------- */

#define HEAD                                                                                                  \
    "#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>\n"                    \
    "#smem = #ttg.shared_memory\n"                                                                            \
    "#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>\n" \
    "!barrier = !ttg.memdesc<1xi64, #shared, #smem, mutable>\n"                                               \
    "!tile = !ttg.memdesc<64xf16, #shared, #smem, mutable>\n"                                                 \
    "!ring = !ttg.memdesc<2x64xf16, #shared, #smem, mutable>\n"                                               \
    "!desc = !tt.tensordesc<tensor<64xf16, #shared>>\n"                                                       \
    "module attributes {\"ttg.num-ctas\" = 1 : i32, \"ttg.num-warps\" = 4 : i32, ttg.target = \"cuda:90\", "  \
    "\"ttg.threads-per-warp\" = 32 : i32} {\n"
#define WHOLE(body)                                                      \
    "  tt.func public @kernel(%desc: !desc) {\n" CONSTANTS               \
    "    %data = arith.constant dense<0.0> : tensor<64xf16, #blocked>\n" \
    "    %tile = ttg.local_alloc : () -> !tile\n"                        \
    "    %ring = ttg.local_alloc : () -> !ring\n"                        \
    "    %r0 = ttg.memdesc_index %ring[%c0] : !ring -> !tile\n"          \
    "    %r1 = ttg.memdesc_index %ring[%c1] : !ring -> !tile\n"          \
    "    %a = ttg.local_alloc : () -> !barrier\n" INIT(a, 1) body KEEP "tt.return\n  }\n"
/* All memory is used to the end, so that each has bytes of its own. */
#define KEEP                                                               \
    "    %k0 = ttg.local_load %tile : !tile -> tensor<64xf16, #blocked>\n" \
    "    %k1 = ttg.local_load %r0 : !tile -> tensor<64xf16, #blocked>\n"   \
    "    %k2 = ttg.local_load %r1 : !tile -> tensor<64xf16, #blocked>\n    "
#define ALONE(body) HEAD WHOLE(body) "}\n"
#define PARTITIONS(default_body, body)                                                                        \
    "    ttg.warp_specialize(%desc, %tile, %a)\n    default {\n" default_body "    ttg.warp_yield\n    }\n"   \
    "    partition0(%desc: !desc, %tile: !tile, %a: !barrier) num_warps(4) {\n" CONSTANTS                     \
    "    %data = arith.constant dense<0.0> : tensor<64xf16, #blocked>\n" body "    ttg.warp_return\n    } : " \
    "(!desc, !tile, !barrier) -> ()\n"
#define FILL                                                               \
    "  tt.func private @fill(%to: !tile) attributes {noinline = true} {\n" \
    "    %data = arith.constant dense<0.0> : tensor<64xf16, #blocked>\n"   \
    "    ttg.local_store %data, %to : tensor<64xf16, #blocked> -> !tile\n" \
    "    tt.return\n  }\n"
#define CALLS(body) HEAD FILL WHOLE(body) "}\n"

#define STORE(to) "    ttg.local_store %data, %" #to " : tensor<64xf16, #blocked> -> !tile\n"
#define FENCE     "    ttng.fence_async_shared {bCluster = false}\n"
#define SEND(from)                                                                   \
    "    ttng.async_tma_copy_local_to_global %desc[%c0] %" #from " : !desc, !tile\n" \
    "    ttng.async_tma_store_wait {pendings = 0 : i32}\n"
#define CALL       "    tt.call @fill(%tile) : (!tile) -> ()\n"
#define LOOP(body) "    scf.for %i = %c0 to %c2 step %c1 : i32 {\n" body "    }\n"
#define IF(body)   "    scf.if %true {\n" body "    }\n"

/* ---- Where fences go ------------------------------------------------------------------------------ */

/* How many the three kinds of pass inserted, in their order. */
static void expect(const char *text, size_t writes, size_t all, size_t regions) {
    const size_t wanted[INSERTIONS] = {writes, all, regions};
    Reading *reading = read_good(text);
    const Op *kernels[2];
    assert_int_equal(program_kernels(&reading->module, kernels, 2), 1);
    for (InsertionKind kind = 0; kind < INSERTIONS; kind++)
        assert_int_equal(insertion_of(&reading->module, kernels[0], kind).count, wanted[kind]);
    done(reading);
}

static void a_copy_out_has_one_from_3_7_1_on(void **state) {
    (void)state;
    expect(ALONE(STORE(tile) SEND(tile)), 0, 1, 1);
    expect(ALONE(STORE(tile) FENCE SEND(tile)), 0, 0, 0);
    expect(ALONE(FENCE STORE(tile) SEND(tile)), 0, 1, 1);
    expect(ALONE(STORE(tile) SEND(tile) SEND(tile)), 0, 1, 1);
    expect(ALONE(STORE(tile) SEND(tile) STORE(tile) SEND(tile)), 0, 2, 2);
    expect(ALONE(SEND(tile)), 0, 0, 0);
}

static void a_copy_in_has_one_in_every_release(void **state) {
    (void)state;
    expect(ALONE(STORE(tile) EXPECT(a, 128) COPY(a)), 1, 1, 1);
    expect(ALONE(EXPECT(a, 128) COPY(a) WAIT(a, 0)), 0, 0, 0);
}

static void every_way_counts(void **state) {
    (void)state;
    expect(ALONE(IF(STORE(tile)) SEND(tile)), 0, 1, 1);
    expect(ALONE(STORE(tile) IF(FENCE) SEND(tile)), 0, 1, 1);
    expect(ALONE(STORE(tile) LOOP(SEND(tile))), 0, 1, 1);
    expect(ALONE(LOOP(SEND(tile) STORE(tile))), 0, 1, 1);
    expect(ALONE(LOOP(SEND(tile) STORE(tile) FENCE)), 0, 0, 0);
}

static void slots_of_a_ring_are_told_apart_from_3_9_on(void **state) {
    (void)state;
    expect(ALONE(STORE(r0) SEND(r0)), 0, 1, 1);
    expect(ALONE(STORE(r0) SEND(r1)), 0, 1, 0);
    expect(ALONE(STORE(r0) SEND(tile)), 0, 0, 0);
}

static void partitions_start_with_what_is_open(void **state) {
    (void)state;
    expect(ALONE(STORE(tile) PARTITIONS("", SEND(tile))), 0, 1, 1);
    expect(ALONE(STORE(tile) PARTITIONS(SEND(tile), "")), 0, 1, 1);
    expect(ALONE(STORE(tile) FENCE PARTITIONS("", SEND(tile))), 0, 0, 0);
}

static void nothing_goes_from_one_partition_to_another(void **state) {
    (void)state;
    expect(ALONE(PARTITIONS(STORE(tile) ARRIVE(a), WAIT(a, 0) SEND(tile))), 0, 0, 0);
    expect(ALONE(PARTITIONS(WAIT(a, 0) SEND(tile), STORE(tile) ARRIVE(a))), 0, 0, 0);
    expect(ALONE(STORE(tile) PARTITIONS(STORE(tile) ARRIVE(a), WAIT(a, 0) SEND(tile))), 0, 1, 1);
}

static void behind_partitions_all_of_them_count_from_3_9_on(void **state) {
    (void)state;
    expect(ALONE(PARTITIONS(STORE(tile), "") SEND(tile)), 0, 1, 1);
    expect(ALONE(PARTITIONS("", STORE(tile)) SEND(tile)), 0, 0, 1);
    expect(ALONE(PARTITIONS("", STORE(tile) FENCE) SEND(tile)), 0, 0, 0);
}

static void calls_count_from_3_9_on(void **state) {
    (void)state;
    expect(CALLS(CALL SEND(tile)), 0, 0, 1);
    expect(CALLS(CALL FENCE SEND(tile)), 0, 0, 0);
    expect(CALLS(STORE(tile) FENCE CALL SEND(tile)), 0, 0, 1);
}

/* Of no use, but it comes to an end. */
static void functions_may_call_themselves(void **state) {
    (void)state;
    expect(HEAD "  tt.func private @fill(%to: !tile) attributes {noinline = true} {\n"
                "    %data = arith.constant dense<0.0> : tensor<64xf16, #blocked>\n"
                "    ttg.local_store %data, %to : tensor<64xf16, #blocked> -> !tile\n"
                "    tt.call @fill(%to) : (!tile) -> ()\n    tt.call @fill(%to) : (!tile) -> ()\n"
                "    tt.return\n  }\n" WHOLE(CALL SEND(tile)) "}\n",
           0, 0, 1);
}

/* ---- Releases ------------------------------------------------------------------------------------- */

static void releases_have_names(void **state) {
    (void)state;
    assert_int_equal(releases_named(STR("3.6")), 1 << RELEASE_3_6);
    assert_int_equal(releases_named(STR("v3.6.0")), 1 << RELEASE_3_6);
    assert_int_equal(releases_named(STR("3.7.0")), 1 << RELEASE_3_7_0);
    assert_int_equal(releases_named(STR("3.7.2")), 1 << RELEASE_3_7_1);
    assert_int_equal(releases_named(STR("3.7")), 1 << RELEASE_3_7_0 | 1 << RELEASE_3_7_1);
    assert_int_equal(releases_named(STR("3.10")), 1 << RELEASE_3_9);
    assert_int_equal(releases_named(STR("4.0")), 1 << RELEASE_3_9);
    const char *const none[] = {"", "3", "3.4", "2.9", "3.6.", "3..6", "3.6.0.1", "main", "3.6rc1", "99999999999.1"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_int_equal(releases_named(str_of(none[i])), 0);
}

static void sets_of_releases_are_described(void **state) {
    (void)state;
    static const struct {
        ReleaseSet set;
        const char *text;
    } sets[] = {{1 << RELEASE_3_6, "3.6"},
                {RELEASES_ALL, "3.5 and later"},
                {1 << RELEASE_3_5 | 1 << RELEASE_3_6 | 1 << RELEASE_3_7_0, "3.5 to 3.7.0"},
                {1 << RELEASE_3_5 | 1 << RELEASE_3_8, "3.5, 3.8"},
                {1 << RELEASE_3_9, "3.9 and later"}};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        Text text = {0};
        releases_describe(sets[i].set, &text);
        text_char(&text, 0);
        assert_string_equal(text.data, sets[i].text);
        text_free(&text);
    }
}

static void every_release_has_one_pass(void **state) {
    (void)state;
    ReleaseSet seen = 0;
    for (InsertionKind kind = 0; kind < INSERTIONS; kind++) {
        assert_int_equal(seen & insertion_releases(kind), 0);
        seen |= insertion_releases(kind);
    }
    assert_int_equal(seen, RELEASES_ALL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_out_has_one_from_3_7_1_on),
        cmocka_unit_test(a_copy_in_has_one_in_every_release),
        cmocka_unit_test(every_way_counts),
        cmocka_unit_test(slots_of_a_ring_are_told_apart_from_3_9_on),
        cmocka_unit_test(partitions_start_with_what_is_open),
        cmocka_unit_test(nothing_goes_from_one_partition_to_another),
        cmocka_unit_test(behind_partitions_all_of_them_count_from_3_9_on),
        cmocka_unit_test(calls_count_from_3_9_on),
        cmocka_unit_test(functions_may_call_themselves),
        cmocka_unit_test(releases_have_names),
        cmocka_unit_test(sets_of_releases_are_described),
        cmocka_unit_test(every_release_has_one_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
