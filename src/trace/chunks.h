/* What the files of the stream share (stream.h): heads of units, and where chunks are. */
#ifndef TRACE_CHUNKS_H
#define TRACE_CHUNKS_H

#include "trace/pack.h"
#include "trace/sample.h"
#include "trace/stream.h"

#include <string.h>

typedef struct Head {
    uint32_t word, lanes;
    uint64_t value;
} Head;

static inline Head head_at(const uint8_t *at) {
    Head head;
    memcpy(&head, at, sizeof head);
    return head;
}

/* Which first chunk is that of a warp of the grid; first_count: it was not recorded. `warps`: of a CTA. */
static inline size_t first_number(const Recording *recording, uint32_t warps, uint32_t warp) {
    const RecordingLaunch *launch = &recording->launch;
    if (!is_sampled(launch))
        return warp < recording->first_count ? warp : recording->first_count;
    uint32_t cta = warp / warps;
    return cta < launch_ctas(launch) && sample_has(launch, cta)
               ? (size_t)sample_before(launch, cta) * warps + warp % warps
               : recording->first_count;
}

static inline const uint8_t *first_chunk(const Recording *recording, size_t number) {
    return recording->chunks ? recording->chunks[number].at : recording->first + number * recording->launch.chunk;
}

static inline const uint8_t *further_chunk(const RecordReader *reader, uint32_t number) {
    const Recording *recording = reader->recording;
    return recording->chunks ? recording->chunks[recording->first_count + number].at
                             : recording->more + (size_t)number * recording->launch.chunk;
}

/* Whether the chunk was written in this launch. */
static inline bool is_written(const RecordReader *reader, Head head) {
    return record_tag(head.word) == reader->recording->launch.tag && record_kind(head.word) == RECORD_CHUNK;
}

static inline bool refuse(RecordReader *reader, const char *problem) {
    if (!reader->problem)
        reader->problem = problem;
    reader->damaged++;
    return false;
}

#endif
