/* A sample of a launch's CTAs is chosen, and put into the words that instrumented code divides by. */
#include "trace/sample.h"

/* CTAs with neighboring numbers that whole clusters are made of. */
static uint64_t inseparable(const RecordingLaunch *launch) {
    const uint32_t *grid = launch->grid, *cluster = launch->cluster;
    if (cluster[2] > 1)
        return (uint64_t)grid[0] * grid[1] * cluster[2];
    return cluster[1] > 1 ? (uint64_t)grid[0] * cluster[1] : cluster[0];
}

static uint64_t root_of(uint64_t number) {
    uint64_t root = 1;
    while (root * root < number)
        root++;
    return root;
}

/* Runs are at least as long as there are runs, so that one that is moved to the end of the grid by rounding up still
 * has its last CTA. */
bool sample_choose(RecordingLaunch *launch, uint64_t most) {
    uint64_t unit = inseparable(launch), all = launch_ctas(launch) / unit, room = most / unit, run, runs;
    launch->sample_stride = launch->sample_run = 0;
    if (room >= all)
        return true;
    if (!room)
        return false;
    if (room == 1) {
        run = 1;
        launch->sample_stride = (uint32_t)(all * unit);
    } else {
        uint64_t rows = (2 * (uint64_t)launch->grid[0] + unit - 1) / unit;
        run = root_of(room);
        if (run < rows && rows <= room / 2)
            run = rows;
        run = run > room / 2 ? room / 2 : run;
        runs = room / run;
        runs = runs > run + 1 ? run + 1 : runs;
        launch->sample_stride = (uint32_t)((all - run + runs - 2) / (runs - 1) * unit);
    }
    launch->sample_run = (uint32_t)(run * unit);
    return true;
}

const char *sample_problem(const RecordingLaunch *launch) {
    if (!is_sampled(launch))
        return launch->sample_run ? "the recording's sample is of no CTAs" : NULL;
    uint64_t unit = inseparable(launch);
    bool good = launch->sample_run && launch->sample_run < launch->sample_stride &&
                launch->sample_stride <= launch_ctas(launch) && launch->sample_run % unit == 0 &&
                launch->sample_stride % unit == 0;
    return good ? NULL : "the recording's sample is one that no launch can have";
}

/* n / d for n below 2^31 is n * ceil(2^s / d) >> s, with s = 31 + ceil(log2 d): the factor has an error of less than d,
 * so that n times it is less than 2^s. */
RecordSample sample_words(const RecordingLaunch *launch) {
    uint64_t warps = launch_warps(launch), stride = launch->sample_stride * warps;
    if (!is_sampled(launch))
        return (RecordSample){.run = UINT32_MAX};
    unsigned shift = 31;
    while (UINT64_C(1) << (shift - 31) < stride)
        shift++;
    return (RecordSample){.factor = (uint32_t)(((UINT64_C(1) << shift) + stride - 1) / stride),
                          .shift = shift,
                          .stride = (uint32_t)stride,
                          .run = (uint32_t)(launch->sample_run * warps)};
}
