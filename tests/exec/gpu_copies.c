/* Copies and memsets of the stand-in for the CUDA driver (gpu.c): made at once, or nodes of a graph that is captured.
 */
#include "gpu.h"

Result slices_run(const SlicesNode *slices) {
    const SlicesSide *from = &slices->from, *to = &slices->to;
    for (size_t z = 0; z < slices->depth; z++)
        for (size_t y = 0; y < slices->height; y++)
            standin_copy((char *)(to->type == 1 ? to->host : to->device) +
                             ((to->z + z) * to->height + to->y + y) * to->pitch + to->x,
                         (char *)(from->type == 1 ? from->host : from->device) +
                             ((from->z + z) * from->height + from->y + y) * from->pitch + from->x,
                         slices->width);
    return standin_failure();
}

Result set_run(const SetNode *set) {
    for (size_t y = 0; y < set->height; y++)
        standin_fill((char *)(uintptr_t)(set->to + y * set->pitch), &set->value, set->element, set->width);
    return standin_failure();
}

/* In a stream: now, or by a node. */
static Result copy_in(void *to, const void *from, size_t bytes, Handle stream) {
    SlicesNode slices = {.from = {.type = 4, .device = (uintptr_t)from},
                         .to = {.type = 4, .device = (uintptr_t)to},
                         .width = bytes,
                         .height = 1,
                         .depth = 1};
    Capture *capture;
    Result result = stream_enter(stream, &capture);
    if (!result)
        result = capture ? capture_add(capture, stream, NODE_COPY, &slices) : slices_run(&slices);
    return result;
}

static Result set_in(const SetNode *set, Handle stream) {
    Capture *capture;
    Result result = stream_enter(stream, &capture);
    if (!result)
        result = capture ? capture_add(capture, stream, NODE_SET, set) : set_run(set);
    return result;
}

EXPORTED Result cuMemcpyDtoH_v2(void *to, Address from, size_t bytes) {
    standin_waits();
    return copy_in(to, (void *)(uintptr_t)from, bytes, NULL);
}

EXPORTED Result cuMemcpyHtoD_v2(Address to, const void *from, size_t bytes) {
    return copy_in((void *)(uintptr_t)to, from, bytes, NULL);
}

EXPORTED Result cuMemcpyDtoHAsync_v2(void *to, Address from, size_t bytes, Handle stream) {
    if (!stream)
        standin_waits();
    return copy_in(to, (void *)(uintptr_t)from, bytes, stream);
}

EXPORTED Result cuMemcpyHtoDAsync_v2(Address to, const void *from, size_t bytes, Handle stream) {
    return copy_in((void *)(uintptr_t)to, from, bytes, stream);
}

EXPORTED Result cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes, Handle stream) {
    return copy_in((void *)(uintptr_t)to, (void *)(uintptr_t)from, bytes, stream);
}

EXPORTED Result cuMemcpyDtoD_v2(Address to, Address from, size_t bytes) {
    return copy_in((void *)(uintptr_t)to, (void *)(uintptr_t)from, bytes, NULL);
}

EXPORTED Result cuMemsetD8_v2(Address to, unsigned char value, size_t bytes) {
    return set_in(&(SetNode){.to = to, .value = value, .element = 1, .width = bytes, .height = 1}, NULL);
}

EXPORTED Result cuMemcpyBatchAsync_v2(Address *to, Address *from, size_t *bytes, size_t count, void *attributes,
                                      size_t *which, size_t attribute_count, Handle stream) {
    Result result = SUCCESS;
    (void)attributes, (void)which, (void)attribute_count;
    for (size_t i = 0; i < count && !result; i++)
        result = copy_in((void *)(uintptr_t)to[i], (void *)(uintptr_t)from[i], bytes[i], stream);
    return result;
}

/* CU_POINTER_ATTRIBUTE_SYNC_MEMOPS of all memory. */
static unsigned synchronous;

EXPORTED Result cuPointerSetAttribute(const unsigned *value, int attribute, Address memory) {
    (void)memory;
    synchronous = *value;
    return attribute == 6 ? SUCCESS : INVALID;
}

EXPORTED Result cuPointerGetAttribute(unsigned *value, int attribute, Address memory) {
    (void)memory;
    *value = synchronous;
    return attribute == 6 ? SUCCESS : INVALID;
}

EXPORTED Result cuMemsetD8Async(Address to, unsigned char value, size_t bytes, Handle stream) {
    return set_in(&(SetNode){.to = to, .value = value, .element = 1, .width = bytes, .height = 1}, stream);
}

EXPORTED Result cuMemsetD8Async_ptsz(Address to, unsigned char value, size_t bytes, Handle stream) {
    return cuMemsetD8Async(to, value, bytes, stream ? stream : (Handle)2);
}

/* CUDA_MEMCPY2D of memory that has addresses on both sides. */
typedef struct Rows {
    size_t from_x, from_y;
    unsigned from_type;
    uintptr_t from_host, from_device, from_array;
    size_t from_pitch, to_x, to_y;
    unsigned to_type;
    uintptr_t to_host, to_device, to_array;
    size_t to_pitch, width, height;
} Rows;

EXPORTED Result cuMemcpy2DAsync_v2(const Rows *rows, Handle stream) {
    uintptr_t from = rows->from_type == 1 ? rows->from_host : rows->from_device;
    uintptr_t to = rows->to_type == 1 ? rows->to_host : rows->to_device;
    (void)stream;
    for (size_t i = 0; i < rows->height; i++)
        standin_copy((void *)(to + (rows->to_y + i) * rows->to_pitch + rows->to_x),
                     (void *)(from + (rows->from_y + i) * rows->from_pitch + rows->from_x), rows->width);
    return standin_failure();
}

EXPORTED Result cuMemsetD2D32Async(Address to, size_t pitch, uint32_t value, size_t width, size_t height,
                                   Handle stream) {
    return set_in(&(SetNode){.to = to, .pitch = pitch, .value = value, .element = 4, .width = width, .height = height},
                  stream);
}

/* ---- CUDA arrays: what they hold is not looked at ---- */

EXPORTED Result cuMemcpyHtoA_v2(Handle array, size_t at, const void *from, size_t bytes) {
    (void)array, (void)at, (void)from, (void)bytes;
    return standin_failure();
}

EXPORTED Result cuMemcpyHtoAAsync_v2(Handle array, size_t at, const void *from, size_t bytes, Handle stream) {
    (void)array, (void)at, (void)from, (void)bytes, (void)stream;
    return standin_failure();
}

EXPORTED Result cuTexObjectCreate(uint64_t *object, const int *resource, const void *texture, const void *view) {
    (void)resource, (void)texture, (void)view;
    *object = 1;
    return standin_failure();
}

EXPORTED Result cuSurfObjectCreate(uint64_t *object, const int *resource) {
    (void)resource;
    *object = 2;
    return standin_failure();
}
