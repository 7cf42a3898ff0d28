/* A recording as a file: the PTX that was run, the launch, the memory that there was, and the chunks.
 *
 *     "weirrec1", then sections: { kind: u32, 0: u32, bytes: u64 } and so many bytes, padded to 8; RECORDING_END last.
 *
 * It can come from anywhere: the reader believes no number in it. Writing needs nothing but this room and base, so that
 * a library in another program can do it. */
#ifndef TRACE_FILE_H
#define TRACE_FILE_H

#include "base/arena.h"
#include "base/text.h"
#include "trace/record.h"

#include <stdbool.h>
#include <stdio.h>

typedef enum RecordingSection {
    RECORDING_END,
    RECORDING_LAUNCH,     /* RecordingLaunch, then the kernel's name and the device's, each with a zero behind it */
    RECORDING_PTX,        /* the text before it was instrumented */
    RECORDING_PARAMETERS, /* bytes of the kernel's parameters, without ours */
    RECORDING_MEMORY,     /* RecordingMemory of each allocation; may be missing */
    RECORDING_FIRST,      /* chunks, one for each warp that was recorded */
    RECORDING_MORE,       /* chunks */
    RECORDING_UNSEEN,    /* sentences, each with a zero behind it: what was not looked at, and why. There may be nothing
                            beside it but RECORDING_LAUNCH: of a kernel that could not be recorded */
    RECORDING_SHADOW,    /* of a kernel that checked itself (trace/shadow.h), in place of chunks: ShadowState, then its
                            ShadowReports */
    RECORDING_PACKED,    /* PackHead, then all chunks, packed (trace/pack.h); in place of RECORDING_FIRST and _MORE */
    RECORDING_ORDER,     /* RecordingOrder, then RecordingKnown of each stream that it knows of: which launches of the
                            program were over when this one began; may be missing */
    RECORDING_PLACES,    /* RecordLaunch.places; may be missing */
    RECORDING_LIBRARIES, /* kernels that have no PTX: of each "LAUNCHES NAME" with a zero behind it. Beside it there is
                            nothing but RECORDING_LAUNCH, and RECORDING_UNSEEN where some of these launches could run at
                            the same time as others that were looked at */
    RECORDING_SITES,     /* what the records are of (trace/sites.h) */
    RECORDING_BESIDE,    /* beside RECORDING_SHADOW: launches that its reports name. Of each its tag and bytes, 64 bits
                            each, then a recording that has its launch, text and sites */
    RECORDING_TOUCHED, /* beside RECORDING_SHADOW: RecordingTouchedHead, ShadowSignals, then RecordingTouched of what its
                          cells said of memory that other processes have, when it was over; may be missing */
} RecordingSection;

typedef enum RecordingFlags {
    RECORDING_HUNG = 1,      /* a wait gave up */
    RECORDING_CUT = 2,       /* it was drained while the kernel ran, which did not end by itself */
    RECORDING_DEPENDENT = 4, /* launched as dependent on the one before it */
    RECORDING_ARRAYS = 16,   /* what its textures read lies in CUDA arrays, which only copies of the host write */
    RECORDING_AS_PASSED = 8  /* parameters lie as in the device's memory, and not as PTX counts their offsets */
} RecordingFlags;

/* Which memory was recorded. */
enum {
    RECORDING_GLOBAL = 1,
    RECORDING_SHARED = 2,
    RECORDING_TENSOR = 4,
    RECORDING_EVERYWHERE = 7,
    RECORDING_STOPS = 8, /* no memory: traps and failed assertions. The records have to outlive them */
};

typedef struct RecordingLaunch {
    uint32_t abi; /* RECORDING_ABI */
    uint32_t flags;
    uint32_t grid[3], block[3], cluster[3];
    uint32_t shared;  /* dynamic bytes, without what instrumentation added */
    uint32_t spaces;  /* RECORDING_GLOBAL, ... */
    uint32_t options; /* others that decide what sites there are */
    uint32_t chunk;   /* bytes of one; where no further one was used it may be less than the kernel has: what they begin
                         with */
    uint32_t tag;     /* unshifted */
    uint32_t asked;   /* RecordLaunch.next: further chunks that were asked for */
    uint32_t dropped;
    uint32_t sample_stride, sample_run; /* of so many CTAs the first so many are recorded (sample.h); 0: all */
    uint64_t shared_window, local_window, param_window;
    uint64_t number;      /* of the launch in its program, from 0 */
    uint64_t nanoseconds; /* of the kernel; 0: not measured */
    uint64_t hang_after;
    uint64_t fingerprint; /* of the image that made the records (instrument/instrument.h); 0: it has no records */
} RecordingLaunch;
enum { RECORDING_ABI = 4 }; /* up to 3, a recording did not say what its sites are */
/* The CTA, by %ctaid, that is the number-th if those of a cluster stand side by side. */
uint32_t recording_cta(const RecordingLaunch *launch, uint32_t number);

typedef struct RecordingMemory {
    uint64_t base, bytes;
} RecordingMemory;

/* When a launch was made, among all of its program: RecordingLaunch.number counts them. Of two that nothing here orders
 * both may have run at the same time. */
typedef enum RecordingOrderFlags {
    /* It may have waited for something that nothing saw: memory that a stream waits for, a semaphore of others. Nothing
     * is to be said of it and launches that it is not known to come behind. */
    RECORDING_ORDER_OPEN = 1,
    RECORDING_ORDER_CALLED = 2, /* the host was called from streams: it may know what nothing saw it waiting for */
    /* The host may have waited for more than the thread that made it is known to: another thread of it has, and may
     * have handed that on. */
    RECORDING_ORDER_THREADS = 4,
} RecordingOrderFlags;

typedef struct RecordingOrder {
    uint64_t process; /* a number that no other program has */
    uint32_t device;
    uint32_t stream; /* from 0; of one that is destroyed, and whose launches the host knows to be over, it may be used
                        again */
    uint32_t flags;
    uint32_t known_count;
    uint32_t unit; /* which GPU it is, for all processes; 0: that is not known */
    uint32_t reserved;
} RecordingOrder;

/* A clock: of the launches of a stream those before that number (RecordingLaunch.number) are over. */
typedef struct RecordingKnown {
    uint32_t stream;
    uint32_t copies; /* of the copies of the stream (trace/copies.h) those before that number are over */
    uint64_t begun;  /* when this one begins */
    uint64_t waited; /* behind griddepcontrol.wait: more than `begun` only if it is RECORDING_DEPENDENT */
    uint64_t maybe;  /* if the host waited for them in a way that nothing saw: it could have */
} RecordingKnown;

typedef struct RecordingTouchedHead {
    uint64_t process; /* as RecordingOrder has it */
    uint32_t unit;    /* likewise */
    uint32_t form;    /* of stamps: bits of a site; from bit 8 on of an epoch; 16: the actors' shift */
    uint32_t flags;
    uint32_t signal_count; /* ShadowSignals behind it */
} RecordingTouchedHead;
enum {
    RECORDING_TOUCHED_SIGNALS = 1, /* all that may order it and launches of other processes is there */
    RECORDING_TOUCHED_LOST = 2,    /* some of what it touched another launch of the process did, too, and hides */
};
/* How bytes were touched: by strong accesses of the scope of a device or a wider one, or in another way. */
enum {
    RECORDING_READ,
    RECORDING_WRITTEN,
    RECORDING_STRONGLY_READ,
    RECORDING_STRONGLY_WRITTEN,
    RECORDING_LOOKED_AT, /* nothing else of these bytes was touched, by what the cells say */
    RECORDING_WAYS
};
typedef struct RecordingTouched {
    uint64_t begin, bytes;
    uint32_t how, stamp; /* stamp: who, and when (trace/shadow.h) */
} RecordingTouched;

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
    const struct PackChunk *chunks; /* the same, first ones before further ones, where they lie apart; else NULL */
    Str packed;                     /* in place of them: to be opened, or to be written */
    uint32_t near, far;             /* ... as that has them */
    Str sites;                      /* bytes of that section; empty: it has no records */
    const RecordPlaces *places;     /* NULL: not recorded */
    Str unseen;                     /* sentences, each with a zero behind it */
    Str libraries;                  /* texts, each with a zero behind it */
    Str shadow;                     /* bytes of that section; they need not be aligned */
    Str beside;                     /* bytes of that section */
    Str touched;                    /* bytes of that section; empty: it is not known. They need not be aligned */
    const RecordingOrder *order;    /* NULL: it is not known */
    const RecordingKnown *known;
    const struct RecordingCopies *copies; /* of its program, where they were read, too (trace/copies.h); else NULL */
} Recording;

/* How such a file's name ends: what weir exec keeps, and weir check looks for in a folder. */
#define RECORDING_ENDING ".weirrec"

/* Whether a file's first bytes are those of a recording. */
bool recording_is(const void *bytes, size_t count);
/* Points into `bytes`, which have to stay; packed chunks are not opened. False, with one sentence in the arena. */
bool recording_read(Recording *recording, const uint8_t *bytes, size_t count, Arena *arena, const char **problem);
/* Packed chunks are opened in the arena, unless they are: those of a large recording take seconds, and many times as
 * much memory. False, with a sentence: they are damaged, or the time is up (base/deadline.h). */
bool recording_open(Recording *recording, Arena *arena, const char **problem);
/* Reads no more than the launch, the names, the order, and what was touched; false: it is none, or damaged. */
bool recording_read_order(Recording *recording, FILE *from, Arena *arena);
/* False: it could not be written; errno says why. */
bool recording_write(FILE *to, const Recording *recording);

#endif
