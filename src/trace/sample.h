/* Which CTAs of a launch are recorded: all, or runs of CTAs with neighboring numbers, spread over the grid. Numbers are
 * by %ctaid, x fastest. Of each `sample_stride` CTAs the first `sample_run` are recorded, so the first CTA of the grid
 * always is; first chunks are those of recorded CTAs alone, in the order of their numbers. */
#ifndef TRACE_SAMPLE_H
#define TRACE_SAMPLE_H

#include "trace/file.h"

/* The largest grid whose CTAs a recording distinguishes. */
enum { SAMPLE_MOST_CTAS = UINT32_MAX / 1024 };

static inline uint64_t launch_ctas(const RecordingLaunch *launch) {
    return (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
}
static inline uint32_t launch_warps(const RecordingLaunch *launch) {
    return (launch->block[0] * launch->block[1] * launch->block[2] + RECORD_LANES - 1) / RECORD_LANES;
}
static inline bool is_sampled(const RecordingLaunch *launch) {
    return launch->sample_stride != 0;
}
/* Whether that CTA is recorded. */
static inline bool sample_has(const RecordingLaunch *launch, uint32_t cta) {
    return !is_sampled(launch) || cta % launch->sample_stride < launch->sample_run;
}
/* CTAs before that number that are recorded: of a recorded one, which of the recorded ones it is. */
static inline uint64_t sample_before(const RecordingLaunch *launch, uint64_t cta) {
    if (!is_sampled(launch))
        return cta;
    uint64_t rest = cta % launch->sample_stride;
    return cta / launch->sample_stride * launch->sample_run + (rest < launch->sample_run ? rest : launch->sample_run);
}
/* All that are recorded. */
static inline uint64_t sample_ctas(const RecordingLaunch *launch) {
    return sample_before(launch, launch_ctas(launch));
}

/* Chooses a sample of at most so many CTAs: CTAs of a cluster together, neighbors in x and, where there is room for two
 * rows of the grid, in y together, the first and the last CTA among them. All are recorded if so many fit. False: not
 * even the CTAs that have to be together fit. */
bool sample_choose(RecordingLaunch *launch, uint64_t most);
/* NULL, or one sentence: a sample that cannot be, or that parts a cluster. */
const char *sample_problem(const RecordingLaunch *launch);
/* As instrumented code takes it. */
RecordSample sample_words(const RecordingLaunch *launch);

#endif
