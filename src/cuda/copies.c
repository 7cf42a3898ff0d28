/* Copies and fills, in lines, planes and volumes. */
#include "cuda/cuda.h"

#include <stdlib.h>
#include <string.h>

/* Bytes from the first to the last that a span has; SIZE_MAX: more than there can be. */
static size_t reach(const Span *span, Extent extent) {
    size_t rows, slices;
    if (!extent.width || !extent.height || !extent.depth)
        return 0;
    if (__builtin_mul_overflow(extent.height - 1, span->pitch, &rows) ||
        __builtin_mul_overflow(extent.depth - 1, span->slice, &slices) || __builtin_add_overflow(rows, slices, &rows) ||
        __builtin_add_overflow(rows, extent.width, &rows))
        return SIZE_MAX;
    return rows;
}

/* Whether memory that CUDA knows has all of it; that of the host alone is the program's own business. */
static Error check_side(const char *name, const Span *span, Extent extent, bool device) {
    const Allocation *one = memory_of(span->at);
    size_t bytes = reach(span, extent);
    if (!one)
        return device || !span->at || memory_was(span->at) ? CUDA_INVALID_VALUE : 0;
    size_t rest = one->at + one->bytes - (uintptr_t)span->at;
    if (bytes <= rest)
        return 0;
    cuda_note("%s (%s) goes beyond the memory that it is given, by %zu of its bytes (that has %zu): it was not made",
              name, cuda_where(), bytes - rest, one->bytes);
    return CUDA_INVALID_VALUE;
}

static void touch(char what, const Span *span, Extent extent) {
    if (!memory_of(span->at))
        return;
    if (extent.height == 1 && extent.depth == 1) {
        log_touch(what, span->at, extent.width, 0, 1);
        return;
    }
    for (size_t i = 0; i < extent.depth; i++)
        log_touch(what, span->at + i * span->slice, extent.width, span->pitch, extent.height);
}

static bool device_side(const void *at) {
    const Allocation *one = memory_of(at);
    return one && one->kind != MEMORY_HOST && one->kind != MEMORY_REGISTERED;
}

Error copy_bytes(const Copy *copy) {
    Extent extent = copy->extent;
    if (copy->kind < COPY_HOST_TO_HOST || copy->kind > COPY_BY_ADDRESS)
        return CUDA_INVALID_DIRECTION;
    if (!extent.width || !extent.height || !extent.depth)
        return 0;
    if (!copy->to.at || !copy->from.at ||
        (extent.height > 1 && (copy->to.pitch < extent.width || copy->from.pitch < extent.width)))
        return copy->to.at && copy->from.at ? CUDA_INVALID_PITCH : CUDA_INVALID_VALUE;
    bool to = copy->kind == COPY_TO_DEVICE || copy->kind == COPY_ON_DEVICE;
    bool from = copy->kind == COPY_TO_HOST || copy->kind == COPY_ON_DEVICE;
    Error error = check_side(copy->name, &copy->to, extent, to);
    error = error ? error : check_side(copy->name, &copy->from, extent, from);
    if (error)
        return error;
    for (size_t i = 0; i < extent.depth; i++)
        for (size_t k = 0; k < extent.height; k++) {
            char *target = copy->to.at + i * copy->to.slice + k * copy->to.pitch;
            const char *source = copy->from.at + i * copy->from.slice + k * copy->from.pitch;
            memmove(target, source, extent.width);
            weir_device_copied(cuda.device, target, source, extent.width);
        }
    if (!log_on())
        return 0;
    copy->stream->busy = true;
    log_line("copy %llu \"%s\" \"%s\"", (unsigned long long)copy->stream->number, copy->name, cuda_where());
    touch('r', &copy->from, extent);
    touch('w', &copy->to, extent);
    bool both = device_side(copy->to.at) && device_side(copy->from.at);
    bool staged = !memory_of(copy->from.at) && device_side(copy->to.at); /* may arrive when the call is over */
    bool paged = !memory_of(copy->to.at) || !memory_of(copy->from.at);
    if (((copy->waits && !both) || paged) && !staged)
        stream_await(copy->stream);
    return 0;
}

Error copy_fill(const char *name, Span to, Extent extent, unsigned value, unsigned element, Stream *stream,
                bool waits) {
    if (!extent.width || !extent.height || !extent.depth)
        return 0;
    if (extent.height > 1 && to.pitch < extent.width)
        return CUDA_INVALID_VALUE;
    Error error = check_side(name, &to, extent, true);
    if (error || (uintptr_t)to.at % element)
        return CUDA_INVALID_VALUE;
    for (size_t i = 0; i < extent.depth; i++)
        for (size_t k = 0; k < extent.height; k++) {
            char *row = to.at + i * to.slice + k * to.pitch;
            if (element == 1)
                memset(row, (int)value, extent.width);
            for (size_t at = 0; element > 1 && at < extent.width; at += element)
                memcpy(row + at, &value, element);
            weir_device_written(cuda.device, row, extent.width);
        }
    if (!log_on())
        return 0;
    stream->busy = true;
    log_line("copy %llu \"%s\" \"%s\"", (unsigned long long)stream->number, name, cuda_where());
    touch('w', &to, extent);
    if (waits && !device_side(to.at))
        stream_await(stream);
    return 0;
}
