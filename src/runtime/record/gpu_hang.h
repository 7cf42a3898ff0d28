/* Kernels that do not end: a thread that looks at the recorded launches that run.
 *
 * A wait that goes on for too long says so in memory of the host (RecordHost), and its threads stand by. Then the
 * recording is copied out while the kernel runs, it is handed over, and the threads are told how to end:
 *
 *   exit   all threads that have not ended stand by: they exit, the launch ends as any other does, and the program goes
 *          on with whatever results there are
 *   trap   others are held at barriers, which no exit ends: the whole launch is stopped, and with it, as CUDA has it,
 *          the context: all that the process asks of the device from then on fails
 *
 * Where no wait polls, no thread reports anything: threads that are held at barriers (bar.sync, barrier.cluster.wait)
 * run no code. That is seen by what was recorded: nothing new for as long as a wait may take, and the last that each
 * thread did was to come to a barrier, to give up, or to end. Time alone never tells: a kernel that computes for an
 * hour has threads elsewhere. Nothing ends such a launch while its process lives, so
 *
 *   stay   the recording is handed over, and then it is up to who was told to end the process; so it is where a trap
 * does not end the launch
 *
 * Thread-safe; the functions of `HangDriver` are called from the watching thread, with the launch's context current. */
#ifndef RUNTIME_RECORD_GPU_HANG_H
#define RUNTIME_RECORD_GPU_HANG_H

#include "runtime/driver.h"
#include "trace/stream.h"

typedef enum HangEnd { HANG_NOT, HANG_EXITS, HANG_TRAPS, HANG_STAYS } HangEnd;

/* Entry points of the driver. */
typedef struct HangDriver {
    Result (*context_set)(Handle context);                                     /* cuCtxSetCurrent */
    Result (*stream_create)(Handle *stream, unsigned flags);                   /* cuStreamCreate */
    Result (*stream_destroy)(Handle stream);                                   /* cuStreamDestroy_v2 */
    Result (*stream_wait)(Handle stream);                                      /* cuStreamSynchronize */
    Result (*copy)(void *to, DevicePointer from, size_t bytes, Handle stream); /* cuMemcpyDtoHAsync_v2 */
    Result (*event_query)(Handle event);                                       /* cuEventQuery */
    int (*relax)(void); /* calls of the thread do not disturb captures from then on; NULL: it is not needed */
} HangDriver;

/* A launch that is watched. What it points to has to stay until hang_release. */
typedef struct HangLaunch {
    Recording recording; /* all but its chunks and what the kernel says (flags, asked, dropped, windows, memory) */
    const RecordShape *shapes;
    uint32_t site_count;
    volatile RecordHost *host;
    DevicePointer block; /* of the RecordLaunch */
    RecordLaunch given;  /* as it was before the launch */
    uint32_t first_count;
    Handle context;
    /* Told once, by the watching thread, before the launch is ended. `recording` is complete but for what is not known
     * while the kernel runs, and is gone when this returns. */
    void (*found)(struct HangLaunch *launch, const Recording *recording, HangEnd end);
    void (*stays)(struct HangLaunch *launch); /* a trap did not end it, and the process has to be ended */
    /* The driver allows no copy: some thread of the process is in a call that waits for the launch. The process has
     * to be ended. By a thread of its own. */
    void (*locked_out)(struct HangLaunch *launch);
    void *user;

    struct HangLaunch *next; /* the rest is gpu_hang.c's */
    Handle done;
    HangEnd end;
    uint64_t trapped; /* when the trap was asked for */
    bool looked_at;   /* right now, without the lock */
    uint64_t look;    /* when to look next at what is not told */
    uint32_t asked;   /* further chunks */
    uint64_t hash;    /* of all that was recorded when `asked` was the same; 0: not taken */
    uint64_t since;   /* when it was taken */
    uint64_t pause;   /* until it is taken again */
} HangLaunch;

/* Begins to watch; before the launch is made, since that may wait for the kernel. */
void hang_watch(HangLaunch *launch, const HangDriver *driver);
/* The launch is made, and so is an event behind it. */
void hang_made(HangLaunch *launch, Handle done);
/* The launch has ended, could not be made, or cannot be waited for any more; before anything that the launch uses is
 * used again. It is how the launch ended. Waits for a look that is under way. */
HangEnd hang_release(HangLaunch *launch);
/* What an end means to the program: a sentence. */
const char *hang_means(HangEnd end);

#endif
