/* A recording as a file: the PTX that was run, the launch, the memory that there was, and the chunks.
 *
 *     "weirrec1", then sections: { kind: u32, 0: u32, bytes: u64 } and so many bytes, padded to 8; RECORDING_END last.
 *
 * It can come from anywhere: the reader believes no number in it. Writing needs nothing but this room and base, so that
 * a library in somebody else's program can do it. */
#ifndef RECORD_FILE_H
#define RECORD_FILE_H

#include "base/arena.h"
#include "base/text.h"
#include "record/record.h"

#include <stdbool.h>
#include <stdio.h>

typedef enum RecordingSection {
    RECORDING_END,
    RECORDING_LAUNCH,     /* RecordingLaunch, then the kernel's name and the device's, each with a zero behind it */
    RECORDING_PTX,        /* the text before it was instrumented */
    RECORDING_PARAMETERS, /* bytes of the kernel's parameters, without ours */
    RECORDING_MEMORY,     /* RecordingMemory of each allocation; may be missing */
    RECORDING_FIRST,      /* chunks, one for each warp */
    RECORDING_MORE,       /* chunks */
    RECORDING_UNSEEN, /* sentences, each with a zero behind it: what was not looked at, and why. There may be nothing
                         beside it but RECORDING_LAUNCH: of a kernel that could not be recorded */
    RECORDING_SHADOW, /* of a kernel that checked itself (record/shadow.h), in place of chunks: ShadowState, then its
                         ShadowReports */
    RECORDING_PACKED, /* PackHead, then all chunks, packed (record/pack.h); in place of RECORDING_FIRST and _MORE */
} RecordingSection;

typedef enum RecordingFlags {
    RECORDING_HUNG = 1,      /* a wait gave up */
    RECORDING_CUT = 2,       /* it was drained while the kernel ran, which did not end by itself */
    RECORDING_DEPENDENT = 4, /* launched as dependent on the one before it */
    RECORDING_AS_PASSED = 8  /* parameters lie as in the device's memory, and not as PTX counts their offsets */
} RecordingFlags;

typedef struct RecordingLaunch {
    uint32_t abi; /* 1 */
    uint32_t flags;
    uint32_t grid[3], block[3], cluster[3];
    uint32_t shared;  /* dynamic bytes, without what instrumentation added */
    uint32_t spaces;  /* INSTRUMENT_... of instrument.h: which memory was recorded */
    uint32_t options; /* others that decide what sites there are */
    uint32_t chunk;   /* bytes of one; where no further one was used it may be less than the kernel has: what they begin
                         with */
    uint32_t tag;     /* unshifted */
    uint32_t asked;   /* RecordLaunch.next: further chunks that were asked for */
    uint32_t dropped;
    uint32_t sample_mask, sample_value;
    uint64_t shared_window, local_window, param_window;
    uint64_t number;      /* of the launch in its program, from 0 */
    uint64_t nanoseconds; /* of the kernel; 0: not measured */
    uint64_t hang_after;
} RecordingLaunch;

typedef struct RecordingMemory {
    uint64_t base, bytes;
} RecordingMemory;

typedef struct Recording {
    RecordingLaunch launch;
    const char *kernel, *device;
    Str ptx;
    const uint8_t *parameters;
    size_t parameter_bytes;
    const RecordingMemory *memory;
    size_t memory_count;
    const uint8_t *first, *more;
    size_t first_count, more_count; /* chunks */
    Str packed; /* to be written in place of them, near and far as it has them; reading leaves none */
    uint32_t near, far;
    Str unseen; /* sentences, each with a zero behind it */
    Str shadow; /* bytes of that section; they need not be aligned */
} Recording;

/* How such a file's name ends: what weir exec keeps, and weir check looks for in a folder. */
#define RECORDING_ENDING ".weirrec"

/* Whether a file's first bytes are those of a recording. */
bool recording_is(const void *bytes, size_t count);
/* Points into `bytes`, which have to stay; packed chunks are opened in the arena. False, with one sentence in the
 * arena. */
bool recording_read(Recording *recording, const uint8_t *bytes, size_t count, Arena *arena, const char **problem);
/* False: it could not be written; errno says why. */
bool recording_write(FILE *to, const Recording *recording);

#endif
