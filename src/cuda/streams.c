/* Streams and events: what they order on a GPU is written to the log. */
#include "cuda/cuda.h"
#include "cuda/runtime.h"

#include <stdlib.h>
#include <time.h>

static _Thread_local Stream *own; /* of this thread, one for each context */
static Stream *streams;
static Event *events;
static uint64_t stream_count, event_count;
_Thread_local bool stream_per_thread;

double cuda_seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

void stream_open(Stream *stream, unsigned kind) {
    stream->number = ++stream_count;
    stream->id = stream->number + 2;
    stream->context = context_number();
    log_line("stream %llu %u %llu \"%s\"", (unsigned long long)stream->number, kind,
             (unsigned long long)stream->context, cuda_where());
}

static Stream *make_stream(unsigned flags, int priority) {
    Stream *stream = calloc(1, sizeof *stream);
    if (!stream)
        return NULL;
    *stream = (Stream){.next = streams, .flags = flags, .priority = priority};
    stream_open(stream, flags & 1 ? 0 : 1);
    return streams = stream;
}

/* The stream of this thread in its context. */
static Stream *own_stream(void) {
    for (Stream *stream = own; stream; stream = stream->other)
        if (stream->context == context_number() && !stream->gone)
            return stream;
    Stream *made = make_stream(0, 0);
    if (made) {
        made->own = true;
        made->other = own;
        own = made;
    }
    return made;
}

Stream *stream_of(void *handle) {
    enum { LEGACY_STREAM = 1, PER_THREAD_STREAM = 2 };
    uintptr_t number = (uintptr_t)handle;
    if (number == LEGACY_STREAM || (!number && !stream_per_thread))
        return context_stream();
    if (number == PER_THREAD_STREAM || !number)
        return own_stream();
    for (Stream *stream = streams; stream; stream = stream->next)
        if (stream == handle)
            return stream;
    return NULL;
}

Event *event_of(void *handle) {
    for (Event *event = events; event; event = event->next)
        if (event == handle)
            return event;
    return NULL;
}

/* ---- Streams ---- */

static Error create_stream(void **stream, unsigned flags, int priority) {
    if (!stream || flags > 1)
        return CUDA_INVALID_VALUE;
    *stream = make_stream(flags, priority);
    return *stream ? 0 : CUDA_NO_MEMORY;
}

Error do_cudaStreamCreate(void **stream) {
    return create_stream(stream, 0, 0);
}

Error do_cudaStreamCreateWithFlags(void **stream, unsigned flags) {
    return create_stream(stream, flags, 0);
}

Error do_cudaStreamCreateWithPriority(void **stream, unsigned flags, int priority) {
    priority = priority < -5 ? -5 : priority > 0 ? 0 : priority;
    return create_stream(stream, flags, priority);
}

Error do_cudaStreamDestroy(void *handle) {
    for (Stream **at = &streams; *at; at = &(*at)->next) {
        Stream *stream = *at;
        if (stream != handle || stream->own)
            continue;
        *at = stream->next;
        log_line("closed %llu", (unsigned long long)stream->number);
        free(stream->last);
        free(stream);
        return 0;
    }
    return CUDA_INVALID_HANDLE;
}

/* What the host has waited for is not told apart: no event is busy afterwards. */
static void know_events(void) {
    for (Event *event = events; event; event = event->next)
        event->busy = false;
}

void stream_await(Stream *stream) {
    stream->busy = false;
    know_events();
    log_line("await-stream %llu", (unsigned long long)stream->number);
}

Error do_cudaStreamSynchronize(void *handle) {
    Stream *stream = stream_of(handle);
    if (!stream)
        return CUDA_INVALID_HANDLE;
    if (stream->capture) {
        stream->capture_status = 2;
        return CUDA_CAPTURE_UNSUPPORTED;
    }
    stream_await(stream);
    return 0;
}

/* On a GPU the answer may be no as long as the host has not waited: the first one is. */
Error do_cudaStreamQuery(void *handle) {
    Stream *stream = stream_of(handle);
    bool busy = stream && stream->busy && !stream->capture;
    if (!busy)
        return do_cudaStreamSynchronize(handle);
    stream->busy = false;
    return CUDA_NOT_READY;
}

Error do_cudaStreamGetFlags(void *handle, unsigned *flags) {
    Stream *stream = stream_of(handle);
    if (!stream || !flags)
        return stream ? CUDA_INVALID_VALUE : CUDA_INVALID_HANDLE;
    *flags = stream->flags & 1;
    return 0;
}

Error do_cudaStreamGetPriority(void *handle, int *priority) {
    Stream *stream = stream_of(handle);
    if (!stream || !priority)
        return stream ? CUDA_INVALID_VALUE : CUDA_INVALID_HANDLE;
    *priority = stream->priority;
    return 0;
}

Error do_cudaStreamGetId(void *handle, unsigned long long *id) {
    Stream *stream = stream_of(handle);
    if (!stream || !id)
        return stream ? CUDA_INVALID_VALUE : CUDA_INVALID_HANDLE;
    *id = stream->id ? stream->id : 1;
    return 0;
}

Error do_cudaStreamGetDevice(void *handle, int *device) {
    if (!stream_of(handle) || !device)
        return device ? CUDA_INVALID_HANDLE : CUDA_INVALID_VALUE;
    *device = 0;
    return 0;
}

Error do_cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    if (least)
        *least = 0;
    if (greatest)
        *greatest = -5;
    return 0;
}

void stream_await_all(uint64_t context) {
    for (Stream *stream = streams; stream; stream = stream->next)
        stream->busy &= stream->context != context;
    if (context == context_number())
        context_stream()->busy = false;
    know_events();
    log_line("await-all %llu", (unsigned long long)context);
}

Error stream_synchronize_all(uint64_t context) {
    for (Stream *stream = streams; stream; stream = stream->next)
        if (stream->capture && stream->context == context) {
            stream->capture_status = 2;
            return CUDA_CAPTURE_UNSUPPORTED;
        }
    stream_await_all(context);
    return 0;
}

Error do_cudaDeviceSynchronize(void) {
    return stream_synchronize_all(context_number());
}

/* ---- Events ---- */

static Error create_event(void **to, unsigned flags) {
    Event *event = to && flags < 8 ? calloc(1, sizeof *event) : NULL;
    if (!event)
        return to && flags < 8 ? CUDA_NO_MEMORY : CUDA_INVALID_VALUE;
    *event = (Event){.next = events, .number = ++event_count, .flags = flags, .context = context_number()};
    *to = events = event;
    return 0;
}

Error do_cudaEventCreate(void **event) {
    return create_event(event, 0);
}

Error do_cudaEventCreateWithFlags(void **event, unsigned flags) {
    return create_event(event, flags);
}

Error do_cudaEventDestroy(void *handle) {
    for (Event **at = &events; *at; at = &(*at)->next) {
        Event *event = *at;
        if (event != handle)
            continue;
        *at = event->next;
        log_line("gone %llu", (unsigned long long)event->number);
        free(event->last);
        free(event);
        return 0;
    }
    return CUDA_INVALID_HANDLE;
}

/* It is recorded while the last launch of the stream runs. */
Error event_during_launch(void *handle, void *stream_handle) {
    Event *event = event_of(handle);
    Stream *stream = stream_of(stream_handle);
    if (!event)
        return CUDA_INVALID_HANDLE;
    if (stream->capture)
        return cuda_not_modeled("a launch that records an event, in a stream that is captured");
    event->recorded = event->busy = true;
    event->capture = NULL;
    event->at = cuda_seconds();
    log_line("record %llu %llu 1", (unsigned long long)event->number, (unsigned long long)stream->number);
    return 0;
}

Error do_cudaEventRecordWithFlags(void *handle, void *stream_handle, unsigned flags) {
    Event *event = event_of(handle);
    Stream *stream = stream_of(stream_handle);
    if (!event || !stream)
        return CUDA_INVALID_HANDLE;
    if (flags > 1)
        return CUDA_INVALID_VALUE;
    if (stream->capture)
        return flags ? graph_event_node(event, stream, true) : graph_event_recorded(event, stream);
    event->recorded = event->busy = true;
    event->capture = NULL;
    event->at = cuda_seconds();
    log_line("record %llu %llu", (unsigned long long)event->number, (unsigned long long)stream->number);
    return 0;
}

Error do_cudaEventRecord(void *event, void *stream) {
    return do_cudaEventRecordWithFlags(event, stream, 0);
}

Error do_cudaStreamWaitEvent(void *stream_handle, void *handle, unsigned flags) {
    Event *event = event_of(handle);
    Stream *stream = stream_of(stream_handle);
    if (!event || !stream)
        return CUDA_INVALID_HANDLE;
    if (flags > 1)
        return CUDA_INVALID_VALUE;
    if (stream->capture && flags)
        return graph_event_node(event, stream, false);
    if (event->capture || stream->capture)
        return graph_event_waited(event, stream);
    if (event->recorded)
        log_line("wait %llu %llu", (unsigned long long)event->number, (unsigned long long)stream->number);
    return 0;
}

Error do_cudaEventSynchronize(void *handle) {
    Event *event = event_of(handle);
    if (!event)
        return CUDA_INVALID_HANDLE;
    event->busy = false;
    if (event->recorded)
        log_line("await-event %llu", (unsigned long long)event->number);
    return 0;
}

Error do_cudaEventQuery(void *handle) {
    Event *event = event_of(handle);
    if (!event || !event->busy)
        return do_cudaEventSynchronize(handle);
    event->busy = false;
    return CUDA_NOT_READY;
}

/* What passed here; no less than what a GPU can tell. */
Error do_cudaEventElapsedTime(float *milliseconds, void *begin, void *end) {
    Event *first = event_of(begin), *second = event_of(end);
    if (!first || !second || !milliseconds)
        return milliseconds ? CUDA_INVALID_HANDLE : CUDA_INVALID_VALUE;
    if (!first->recorded || !second->recorded || (first->flags | second->flags) & 2)
        return CUDA_INVALID_HANDLE;
    *milliseconds = (float)((second->at - first->at) * 1e3);
    if (*milliseconds >= 0 && *milliseconds < 0.0005f)
        *milliseconds = 0.0005f;
    return 0;
}

Error do_cudaEventElapsedTime_v2(float *milliseconds, void *begin, void *end) {
    return do_cudaEventElapsedTime(milliseconds, begin, end);
}

/* ---- Functions of the host ---- */

typedef void HostFunction(void *data);
typedef void StreamCallback(void *stream, Error status, void *data);

static void call_out(HostFunction *function, void *data) {
    cuda_unlock();
    function(data);
    cuda_relock();
}

/* Called in the place of the stream: it is ordered as a kernel is, and its accesses are not seen. */
Error do_cudaLaunchHostFunc(void *handle, void *function, void *data) {
    Stream *stream = stream_of(handle);
    if (!stream || !function)
        return stream ? CUDA_INVALID_VALUE : CUDA_INVALID_HANDLE;
    if (stream->capture)
        return graph_host_function(stream, function, data);
    log_host_function(stream);
    call_out(*(HostFunction **)&function, data);
    return 0;
}

Error do_cudaStreamAddCallback(void *handle, void *function, void *data, unsigned flags) {
    Stream *stream = stream_of(handle);
    if (!stream || !function || flags)
        return stream ? CUDA_INVALID_VALUE : CUDA_INVALID_HANDLE;
    if (stream->capture)
        return CUDA_CAPTURE_UNSUPPORTED;
    StreamCallback *callback = *(StreamCallback **)&function;
    log_host_function(stream);
    cuda_unlock();
    callback(handle, cuda.sticky, data);
    cuda_relock();
    return 0;
}

Stream *stream_next(const Stream *stream) {
    return stream ? stream->next : streams;
}

void stream_forget_capture(const struct Graph *graph) {
    for (Event *event = events; event; event = event->next)
        if (event->capture == graph) {
            event->capture = NULL;
            event->last_count = 0;
        }
}

void stream_forget_all(uint64_t context) {
    for (Stream **at = &streams; *at;) {
        Stream *stream = *at;
        if (stream->context != context) {
            at = &stream->next;
            continue;
        }
        *at = stream->next;
        free(stream->last);
        stream->gone = true;
        if (!stream->own) /* else its thread still knows it */
            free(stream);
    }
    for (Event **at = &events; *at;) {
        Event *event = *at;
        if (event->context != context) {
            at = &event->next;
            continue;
        }
        *at = event->next;
        free(event->last);
        free(event);
    }
}
