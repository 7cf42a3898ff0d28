/* Streams and events of the stand-in for the CUDA driver (gpu.c). All is done when it is asked for, unless the stream
 * is captured: then it becomes a node of a graph. As in the driver, a call that a capture does not allow fails, and
 * invalidates that: one that waits for or asks about a stream that is captured (all but cuStreamIsCapturing), one in
 * the stream that waits for all others while one of these is captured, and calls that are not safe, unless the thread
 * has said that they are. */
#include "gpu.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { GLOBAL, THREAD_LOCAL, RELAXED };
enum { NON_BLOCKING = 1, MOST_STREAMS = 256, MOST_BEFORE = 64 };

typedef struct Behind { /* nodes that the next one is behind */
    Node *nodes[MOST_BEFORE];
    size_t count;
} Behind;

typedef struct Stream {
    unsigned flags;
    Capture *capture;
    Behind behind;
} Stream;

typedef struct Event {
    unsigned flags;
    Capture *capture;
    Behind behind;
} Event;

struct Capture {
    Graph *graph;
    int mode;
    pthread_t thread;
    Stream *origin;
    bool invalid, ended;
};

static Stream legacy;
static _Thread_local Stream of_thread;
static _Thread_local int thread_mode = GLOBAL;
static Stream *streams[MOST_STREAMS];
static unsigned stream_count;
static int violations; /* captures that a call has invalidated */

/* How many captures calls have invalidated. */
EXPORTED int standin_invalidated(void) {
    return violations;
}

static Stream *stream_of(Handle handle) {
    return (uintptr_t)handle <= 1 ? &legacy : (uintptr_t)handle == 2 ? &of_thread : handle;
}

static void note(Stream *stream) {
    for (unsigned i = 0; i < stream_count; i++)
        if (streams[i] == stream)
            return;
    if (stream_count < MOST_STREAMS)
        streams[stream_count++] = stream;
}

static void invalidate(Capture *capture) {
    violations += !capture->invalid;
    capture->invalid = true;
}

/* ---- What is allowed ----------------------------------------------------------------------------- */

/* The stream that waits for all others: one of these may be captured. */
static Result enter_legacy(void) {
    Result result = SUCCESS;
    for (unsigned i = 0; i < stream_count; i++)
        if (streams[i]->capture && !(streams[i]->flags & NON_BLOCKING)) {
            invalidate(streams[i]->capture);
            result = CAPTURE_IMPLICIT;
        }
    return result;
}

Result stream_enter(Handle handle, Capture **to) {
    Stream *stream = stream_of(handle);
    *to = NULL;
    if (stream == &legacy)
        return enter_legacy();
    if (stream->capture && stream->capture->invalid)
        return CAPTURE_INVALIDATED;
    *to = stream->capture;
    return SUCCESS;
}

Result stream_touch(Handle handle) {
    Stream *stream = stream_of(handle);
    if (stream == &legacy)
        return enter_legacy();
    if (!stream->capture)
        return SUCCESS;
    bool invalid = stream->capture->invalid;
    invalidate(stream->capture);
    return invalid ? CAPTURE_INVALIDATED : CAPTURE_UNSUPPORTED;
}

static bool forbids(const Capture *capture) {
    bool own = pthread_equal(capture->thread, pthread_self());
    return thread_mode != RELAXED &&
           ((own && capture->mode != RELAXED) || (!own && thread_mode == GLOBAL && capture->mode == GLOBAL));
}

Result capture_unsafe(void) {
    Result result = SUCCESS;
    for (unsigned i = 0; i < stream_count; i++)
        if (streams[i]->capture && forbids(streams[i]->capture)) {
            invalidate(streams[i]->capture);
            result = CAPTURE_UNSUPPORTED;
        }
    return result;
}

Result capture_none(void) {
    Result result = SUCCESS;
    for (unsigned i = 0; i < stream_count; i++)
        if (streams[i]->capture) {
            invalidate(streams[i]->capture);
            result = CAPTURE_UNSUPPORTED;
        }
    return result;
}

EXPORTED Result cuThreadExchangeStreamCaptureMode(int *mode) {
    int before = thread_mode;
    thread_mode = *mode;
    *mode = before;
    return SUCCESS;
}

/* ---- Streams ------------------------------------------------------------------------------------- */

EXPORTED Result cuStreamCreate(Handle *to, unsigned flags) {
    Stream *stream = calloc(1, sizeof *stream);
    stream->flags = flags;
    *to = stream;
    standin_entered();
    return SUCCESS;
}

EXPORTED Result cuStreamDestroy_v2(Handle handle) {
    for (unsigned i = 0; i < stream_count; i++)
        if (streams[i] == handle)
            streams[i] = streams[--stream_count];
    free(handle);
    return standin_failure();
}

EXPORTED Result cuStreamGetFlags(Handle handle, unsigned *flags) {
    *flags = stream_of(handle)->flags;
    return stream_touch(handle);
}

EXPORTED Result cuStreamIsCapturing(Handle handle, int *status) {
    Stream *stream = stream_of(handle);
    *status = stream->capture ? 1 + stream->capture->invalid : 0;
    for (unsigned i = 0; stream == &legacy && i < stream_count; i++)
        if (streams[i]->capture && !(streams[i]->flags & NON_BLOCKING))
            return CAPTURE_IMPLICIT;
    return standin_failure();
}

/* ---- Captures ------------------------------------------------------------------------------------ */

static Result begin(Handle handle, Graph *graph, int mode) {
    Stream *stream = stream_of(handle);
    if (stream == &legacy)
        return CAPTURE_UNSUPPORTED;
    if (stream->capture)
        return INVALID;
    Capture *capture = calloc(1, sizeof *capture);
    *capture = (Capture){.graph = graph, .mode = mode, .thread = pthread_self(), .origin = stream};
    stream->capture = capture;
    stream->behind.count = 0;
    note(stream);
    return SUCCESS;
}

EXPORTED Result cuStreamBeginCapture_v2(Handle handle, int mode) {
    return begin(handle, graph_new(), mode);
}

EXPORTED Result cuStreamBeginCapture_v2_ptsz(Handle handle, int mode) {
    return begin(handle ? handle : (Handle)2, graph_new(), mode);
}

EXPORTED Result cuStreamBeginCaptureToGraph(Handle handle, Handle graph, const Handle *before, const void *edges,
                                            size_t count, int mode) {
    (void)before, (void)edges;
    return count ? NOT_SUPPORTED : begin(handle, graph, mode);
}

static bool has(const Behind *behind, const Node *node) {
    for (size_t i = 0; i < behind->count; i++)
        if (behind->nodes[i] == node)
            return true;
    return false;
}

/* Whether something of a fork is behind nothing that was joined. */
static bool is_unjoined(const Stream *fork, const Stream *origin) {
    for (size_t i = 0; i < fork->behind.count; i++)
        if (!has(&origin->behind, fork->behind.nodes[i]) && !node_has_behind(fork->behind.nodes[i]))
            return true;
    return false;
}

static Result end(Handle handle, Handle *graph) {
    Stream *stream = stream_of(handle);
    Capture *capture = stream->capture;
    *graph = NULL;
    if (!capture)
        return INVALID;
    if (capture->origin != stream)
        return CAPTURE_UNMATCHED;
    if (capture->mode != RELAXED && !pthread_equal(capture->thread, pthread_self()))
        return CAPTURE_WRONG_THREAD;
    Result result = capture->invalid ? CAPTURE_INVALIDATED : SUCCESS;
    for (unsigned i = 0; i < stream_count; i++)
        if (streams[i]->capture == capture) {
            if (!result && streams[i] != stream && is_unjoined(streams[i], stream))
                result = CAPTURE_UNJOINED;
            streams[i]->capture = NULL;
        }
    capture->ended = true;
    if (!result)
        *graph = capture->graph;
    return result;
}

EXPORTED Result cuStreamEndCapture(Handle handle, Handle *graph) {
    return end(handle, graph);
}

EXPORTED Result cuStreamEndCapture_ptsz(Handle handle, Handle *graph) {
    return end(handle ? handle : (Handle)2, graph);
}

Result capture_add(Capture *capture, Handle handle, int type, const void *what) {
    Behind *behind = &stream_of(handle)->behind;
    behind->nodes[0] = graph_add(capture->graph, type, what, behind->nodes, behind->count);
    behind->count = 1;
    return SUCCESS;
}

void capture_dependent(Handle handle) {
    node_dependent(stream_of(handle)->behind.nodes[0]);
}

static void join(Behind *to, const Behind *from) {
    for (size_t i = 0; i < from->count; i++)
        if (!has(to, from->nodes[i]) && to->count < MOST_BEFORE)
            to->nodes[to->count++] = from->nodes[i];
}

/* The call is made when a graph is launched, not otherwise: nothing waits for it. */
EXPORTED Result cuLaunchHostFunc(Handle stream, void (*call)(void *), void *with) {
    Capture *capture;
    Result result = stream_enter(stream, &capture);
    if (!result && capture)
        result = capture_add(capture, stream, NODE_HOST, &(HostNode){call, with});
    return result ? result : standin_failure();
}

/* ---- Events -------------------------------------------------------------------------------------- */

EXPORTED Result cuEventCreate(Handle *to, unsigned flags) {
    Event *event = calloc(1, sizeof *event);
    event->flags = flags;
    *to = event;
    return SUCCESS;
}

EXPORTED Result cuEventDestroy_v2(Handle event) {
    free(event);
    return standin_failure();
}

static Result record(Event *event, Handle handle) {
    Capture *capture;
    Result result = stream_enter(handle, &capture);
    standin_put();
    if (result || !event)
        return result ? result : standin_failure();
    event->capture = capture;
    if (capture)
        event->behind = stream_of(handle)->behind;
    return standin_failure();
}

EXPORTED Result cuEventRecord(Handle event, Handle stream) {
    return record(event, stream);
}

EXPORTED Result cuEventRecord_ptsz(Handle event, Handle stream) {
    return record(event, stream ? stream : (Handle)2);
}

EXPORTED Result cuStreamWaitEvent(Handle handle, Handle of, unsigned flags) {
    Stream *stream = stream_of(handle);
    Event *event = of;
    Capture *capture;
    (void)flags;
    Result result = stream_enter(handle, &capture);
    if (result)
        return result;
    if (capture && !event->capture) {
        invalidate(capture);
        return CAPTURE_ISOLATION;
    }
    if (!event || !event->capture)
        return standin_failure();
    if (event->capture->invalid)
        return CAPTURE_INVALIDATED;
    if (event->capture->ended || (capture && capture != event->capture))
        return event->capture->ended ? CAPTURED_EVENT : CAPTURE_MERGE;
    if (!capture) { /* the stream is captured from here on, too */
        stream->capture = event->capture;
        stream->behind.count = 0;
        note(stream);
    }
    join(&stream->behind, &event->behind);
    return SUCCESS;
}

/* Whether it may be asked about, or waited for. */
Result event_touch(Handle of) {
    Event *event = of;
    Result result = capture_unsafe();
    if (result || !event || !event->capture || event->capture->ended)
        return result ? result : event && event->capture ? CAPTURED_EVENT : SUCCESS;
    invalidate(event->capture);
    return CAPTURED_EVENT;
}

/* ---- Launches ------------------------------------------------------------------------------------ */

static Result launch_in(const KernelNode *kernel, Handle stream) {
    Capture *capture;
    Result result = stream_enter(stream, &capture);
    if (!result)
        result = capture ? capture_add(capture, stream, NODE_KERNEL, kernel) : kernel_run(kernel);
    return result;
}

#define LAUNCH(name, none)                                                                                           \
    EXPORTED Result name(Handle function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,           \
                         unsigned bz, unsigned shared, Handle stream, void **parameters, void **extra) {             \
        return launch_in(&(KernelNode){function, {gx, gy, gz}, {bx, by, bz}, shared, parameters, extra, NULL, NULL}, \
                         stream ? stream : (Handle)none);                                                            \
    }
LAUNCH(cuLaunchKernel, 0)
LAUNCH(cuLaunchKernel_ptsz, 2)

EXPORTED Result cuLaunchKernelEx(const void *config, Handle function, void **parameters, void **extra) {
    const struct {
        unsigned grid[3], block[3], shared;
        Handle stream;
        const struct { int id, pad, value, rest[15]; } * attributes;
        unsigned count;
    } *launch = config;
    KernelNode kernel = {.function = function, .shared = launch->shared, .parameters = parameters, .extra = extra};
    Capture *capture;
    memcpy(kernel.grid, launch->grid, sizeof kernel.grid);
    memcpy(kernel.block, launch->block, sizeof kernel.block);
    Result result = launch_in(&kernel, launch->stream);
    if (!result && launch->count && launch->attributes->id == 6 && launch->attributes->value &&
        !stream_enter(launch->stream, &capture) && capture)
        capture_dependent(launch->stream);
    return result;
}
