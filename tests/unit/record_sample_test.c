/* Samples of CTAs: what instrumented code computes is what the reader does, and what a sample has to have. */
#include "trace/sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static RecordingLaunch launch_of(uint32_t x, uint32_t y, uint32_t z, uint32_t threads) {
    return (RecordingLaunch){.grid = {x, y, z}, .block = {threads, 1, 1}, .cluster = {1, 1, 1}};
}

/* As chunks.c writes it. */
static bool finds(const RecordSample *sample, uint32_t warp, uint32_t *chunk) {
    uint32_t quotient = (uint32_t)((uint64_t)warp * sample->factor >> sample->shift);
    uint32_t rest = warp - quotient * sample->stride;
    *chunk = quotient * sample->run + rest;
    return rest < sample->run;
}

static void check(const RecordingLaunch *launch) {
    RecordSample sample = sample_words(launch);
    uint32_t warps = launch_warps(launch), chunk;
    uint64_t recorded = 0, ctas = launch_ctas(launch);
    assert_null(sample_problem(launch));
    for (uint32_t cta = 0; cta < ctas; cta++) {
        assert_int_equal(sample_before(launch, cta), recorded);
        for (uint32_t i = 0; i<warps; i += warps> 1 ? warps - 1 : 1) {
            assert_int_equal(finds(&sample, cta * warps + i, &chunk), sample_has(launch, cta));
            if (sample_has(launch, cta))
                assert_int_equal(chunk, recorded * warps + i);
        }
        recorded += sample_has(launch, cta);
    }
    assert_int_equal(sample_ctas(launch), recorded);
}

static void all_fit(void **state) {
    (void)state;
    RecordingLaunch launch = launch_of(7, 3, 2, 96);
    assert_true(sample_choose(&launch, 42));
    assert_false(is_sampled(&launch));
    assert_int_equal(sample_ctas(&launch), 42);
    check(&launch);
}

/* At most as many as fit, the first and the last among them, and each with a neighbor. */
static void samples_of_every_size(void **state) {
    (void)state;
    static const uint32_t grids[] = {2, 3, 97, 1000, 4096, 40000}, threads[] = {1, 33, 1024};
    for (unsigned i = 0; i < sizeof grids / sizeof *grids; i++)
        for (uint32_t most = 1; most < grids[i]; most += most < 20 ? 1 : most / 3) {
            RecordingLaunch launch = launch_of(grids[i], 1, 1, threads[most % 3]);
            assert_true(sample_choose(&launch, most));
            assert_true(is_sampled(&launch));
            assert_in_range(sample_ctas(&launch), 1 + most / 3, most);
            assert_true(sample_has(&launch, 0));
            if (most > 1)
                assert_true(sample_has(&launch, grids[i] - 1));
            if (most > 3)
                assert_true(sample_has(&launch, 1));
            check(&launch);
        }
}

static void large_grids(void **state) {
    (void)state;
    RecordingLaunch launch = launch_of(400000, 1, 1, 256);
    assert_true(sample_choose(&launch, 96));
    assert_in_range(sample_ctas(&launch), 80, 96);
    check(&launch);
    launch = launch_of(SAMPLE_MOST_CTAS, 1, 1, 1024);
    assert_true(sample_choose(&launch, 100000));
    check(&launch);
}

/* Two rows of the grid, where so many fit. */
static void rows_are_neighbors(void **state) {
    (void)state;
    RecordingLaunch launch = launch_of(50, 80, 1, 32);
    assert_true(sample_choose(&launch, 300));
    assert_true(sample_has(&launch, 0) && sample_has(&launch, 50) && sample_has(&launch, 99));
    assert_true(sample_has(&launch, 50 * 80 - 1));
    check(&launch);
}

static void clusters_are_whole(void **state) {
    (void)state;
    static const uint32_t clusters[][3] = {{2, 1, 1}, {4, 2, 1}, {1, 2, 1}, {2, 2, 2}};
    for (unsigned i = 0; i < sizeof clusters / sizeof *clusters; i++) {
        RecordingLaunch launch = launch_of(8, 12, 20, 64);
        memcpy(launch.cluster, clusters[i], sizeof launch.cluster);
        assert_true(sample_choose(&launch, 700));
        assert_true(is_sampled(&launch));
        check(&launch);
        uint32_t size = clusters[i][0] * clusters[i][1] * clusters[i][2];
        for (uint32_t number = 0; number < 8 * 12 * 20; number++)
            assert_int_equal(sample_has(&launch, recording_cta(&launch, number)),
                             sample_has(&launch, recording_cta(&launch, number / size * size)));
    }
    RecordingLaunch launch = launch_of(8, 12, 20, 64);
    launch.cluster[2] = 2;
    assert_false(sample_choose(&launch, 8 * 12 * 2 - 1)); /* no cluster of it is alone */
}

static void what_cannot_be(void **state) {
    (void)state;
    static const uint32_t samples[][2] = {{0, 1}, {4, 4}, {4, 0}, {101, 2}, {5, 2}, {4, 1}};
    for (unsigned i = 0; i < sizeof samples / sizeof *samples; i++) {
        RecordingLaunch launch = launch_of(100, 1, 1, 32);
        launch.cluster[0] = 2;
        launch.sample_stride = samples[i][0];
        launch.sample_run = samples[i][1];
        assert_non_null(sample_problem(&launch));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_fit),
        cmocka_unit_test(samples_of_every_size),
        cmocka_unit_test(large_grids),
        cmocka_unit_test(rows_are_neighbors),
        cmocka_unit_test(clusters_are_whole),
        cmocka_unit_test(what_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
