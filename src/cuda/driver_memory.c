/* The CUDA driver: the device, memory, copies and fills, where they are not the runtime's. */
#include "cuda/driver.h"

#include <stdio.h>
#include <string.h>

/* ---- The device ---- */

Error do_cuDeviceGetName(char *name, int length, int device) {
    if (!name || length <= 0)
        return CUDA_INVALID_VALUE;
    if (device)
        return CUDA_INVALID_DEVICE;
    snprintf(name, (size_t)length, "%s", cuda.target->gpu);
    return 0;
}

Error do_cuDeviceGetUuid(void *uuid, int device) {
    if (!uuid || device)
        return uuid ? CUDA_INVALID_DEVICE : CUDA_INVALID_VALUE;
    memcpy(uuid, gpu_uuid, GPU_UUID_BYTES);
    return 0;
}

Error do_cuDeviceTotalMem(size_t *bytes, int device) {
    if (!bytes || device)
        return bytes ? CUDA_INVALID_DEVICE : CUDA_INVALID_VALUE;
    *bytes = cuda.target->memory;
    return 0;
}

/* CUdevprop: of these attributes one number each. */
Error do_cuDeviceGetProperties(int *properties, int device) {
    static const int attributes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
    if (!properties || device)
        return properties ? CUDA_INVALID_DEVICE : CUDA_INVALID_VALUE;
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        gpu_attribute(attributes[i], &properties[i]);
    return 0;
}

/* ---- Memory ---- */

Error do_cuMemAlloc(void **to, size_t bytes) {
    return bytes ? do_cudaMalloc(to, bytes) : CUDA_INVALID_VALUE;
}

Error do_cuMemAllocPitch(void **to, size_t *pitch, size_t width, size_t height, unsigned element) {
    bool good = width && height && (element == 4 || element == 8 || element == 16);
    return good ? do_cudaMallocPitch(to, pitch, width, height) : CUDA_INVALID_VALUE;
}

Error do_cuMemGetAddressRange(void **base, size_t *bytes, void *memory) {
    const Allocation *one = memory_of(memory);
    if (!one)
        return CUDA_NOT_FOUND;
    if (base)
        *base = (void *)one->at;
    if (bytes)
        *bytes = one->bytes;
    return 0;
}

enum {
    POINTER_CONTEXT = 1,
    POINTER_KIND = 2,
    POINTER_DEVICE = 3,
    POINTER_HOST = 4,
    POINTER_SYNC = 6,
    POINTER_NUMBER = 7,
    POINTER_MANAGED = 8,
    POINTER_ORDINAL = 9,
    POINTER_START = 11,
    POINTER_SIZE = 12,
    POINTER_MAPPED = 13,
};

static size_t pointer_bytes(int attribute) {
    if (attribute == POINTER_KIND || attribute == POINTER_ORDINAL)
        return sizeof(int);
    return attribute <= POINTER_HOST || attribute == POINTER_NUMBER || attribute == POINTER_START ||
                   attribute == POINTER_SIZE
               ? sizeof(uint64_t)
               : 1;
}

/* One attribute; false: there is no such, or it is not known. */
static bool pointer_attribute(void *data, int attribute, void *memory, const Allocation *one) {
    enum { HOST = 1, DEVICE = 2 };
    bool on_host = one->kind == MEMORY_HOST || one->kind == MEMORY_REGISTERED;
    bool has_host = on_host || one->kind == MEMORY_MANAGED;
    uint64_t word = 0;
    switch (attribute) {
    case POINTER_CONTEXT:
    case POINTER_DEVICE:
    case POINTER_HOST:
    case POINTER_START:
    case POINTER_SIZE:
    case POINTER_NUMBER:
        word = attribute == POINTER_CONTEXT  ? (uintptr_t)context_numbered(one->context)
               : attribute == POINTER_START  ? one->at
               : attribute == POINTER_SIZE   ? one->bytes
               : attribute == POINTER_NUMBER ? one->number
                                             : (uintptr_t)memory;
        if (attribute == POINTER_HOST && !has_host)
            return false;
        break;
    case POINTER_KIND:
        word = on_host ? HOST : DEVICE;
        break;
    case POINTER_MANAGED:
    case POINTER_SYNC:
        word = attribute == POINTER_MANAGED && one->kind == MEMORY_MANAGED;
        break;
    case POINTER_MAPPED:
        word = 1;
        break;
    case POINTER_ORDINAL:
        break;
    default:
        return false;
    }
    memcpy(data, &word, pointer_bytes(attribute));
    return true;
}

Error do_cuPointerGetAttribute(void *data, int attribute, void *memory) {
    const Allocation *one = memory_of(memory);
    return data && one && pointer_attribute(data, attribute, memory, one) ? 0 : CUDA_INVALID_VALUE;
}

/* Of what is no memory of CUDA they are zeros. */
Error do_cuPointerGetAttributes(unsigned count, const int *attributes, void **data, void *memory) {
    const Allocation *one = memory_of(memory);
    enum { MOST = 64 };
    if (!count || count > MOST || !attributes || !data)
        return CUDA_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) {
        if (!data[i])
            return CUDA_INVALID_VALUE;
        if (!one || !pointer_attribute(data[i], attributes[i], memory, one))
            memset(data[i], 0, pointer_bytes(attributes[i]));
    }
    return 0;
}

/* ---- Copies ---- */

Error do_cuMemcpy(const char *name, void *to, const void *from, size_t bytes, int kind, void *stream, bool waits) {
    return copy_lines(name, (Span){.at = to}, (Span){.at = (char *)(uintptr_t)from}, bytes, 1, kind, stream, waits);
}

Error do_cuMemcpyPeer(const char *name, void *to, void *to_context, const void *from, void *from_context, size_t bytes,
                      void *stream, bool waits) {
    if (!context_of(to_context) || !context_of(from_context))
        return CUDA_INVALID_CONTEXT;
    return do_cuMemcpy(name, to, from, bytes, COPY_BY_ADDRESS, stream, waits);
}

enum { KIND_HOST = 1, KIND_DEVICE, KIND_ARRAY, KIND_UNIFIED };

static Error side_of(int kind, const void *host, const void *device, size_t pitch, size_t height, const size_t at[3],
                     Extent extent, Span *to) {
    const char *first = kind == KIND_HOST ? host : device;
    if (kind == KIND_ARRAY) {
        cuda_note("arrays of the driver are not there without a GPU: a copy of one was not made");
        return CUDA_NOT_SUPPORTED;
    }
    bool rows = extent.height > 1 || extent.depth > 1, slices = extent.depth > 1;
    if (kind < KIND_HOST || kind > KIND_UNIFIED || !first || (rows && pitch < at[0] + extent.width) ||
        (slices && height < at[1] + extent.height))
        return CUDA_INVALID_VALUE;
    *to = (Span){(char *)(uintptr_t)first + at[0] + at[1] * pitch + at[2] * pitch * height, pitch, pitch * height};
    return 0;
}

Error slices_of(const Slices *given, Copy *copy) {
    if (!given || given->from_level || given->to_level)
        return CUDA_INVALID_VALUE;
    const size_t from[3] = {given->from_x, given->from_y, given->from_z};
    const size_t to[3] = {given->to_x, given->to_y, given->to_z};
    bool from_host = given->from_kind == KIND_HOST, to_host = given->to_kind == KIND_HOST;
    copy->extent = (Extent){given->width, given->height, given->depth};
    copy->kind = given->from_kind == KIND_UNIFIED || given->to_kind == KIND_UNIFIED ? COPY_BY_ADDRESS
                 : from_host ? to_host ? COPY_HOST_TO_HOST : COPY_TO_DEVICE
                 : to_host   ? COPY_TO_HOST
                             : COPY_ON_DEVICE;
    Error error = side_of(given->from_kind, given->from_host, given->from_device, given->from_pitch, given->from_height,
                          from, copy->extent, &copy->from);
    return error ? error
                 : side_of(given->to_kind, given->to_host, given->to_device, given->to_pitch, given->to_height, to,
                           copy->extent, &copy->to);
}

Error do_cuMemcpy3D(const char *name, const Slices *slices, void *stream, bool waits) {
    Copy copy = {.name = name, .waits = waits};
    Error error = slices_of(slices, &copy);
    return error ? error : copy_make(&copy, stream);
}

Error do_cuMemcpy2D(const char *name, const Rows *rows, void *stream, bool waits) {
    if (!rows)
        return CUDA_INVALID_VALUE;
    Slices slices = {.from_x = rows->from_x,
                     .from_y = rows->from_y,
                     .from_kind = rows->from_kind,
                     .from_host = rows->from_host,
                     .from_device = rows->from_device,
                     .from_pitch = rows->from_pitch ? rows->from_pitch : rows->from_x + rows->width,
                     .to_x = rows->to_x,
                     .to_y = rows->to_y,
                     .to_kind = rows->to_kind,
                     .to_host = rows->to_host,
                     .to_device = rows->to_device,
                     .to_pitch = rows->to_pitch ? rows->to_pitch : rows->to_x + rows->width,
                     .width = rows->width,
                     .height = rows->height,
                     .depth = 1};
    return do_cuMemcpy3D(name, &slices, stream, waits);
}

Error do_cuMemset(const char *name, void *to, size_t pitch, unsigned value, unsigned element, size_t width,
                  size_t height, void *stream, bool waits) {
    unsigned mask = element == 1 ? 0xff : element == 2 ? 0xffff : ~0u;
    if (width > SIZE_MAX / element || (height > 1 && pitch % element))
        return CUDA_INVALID_VALUE;
    Span span = {.at = to, .pitch = pitch};
    return fill_make(name, span, (Extent){width * element, height, 1}, value & mask, element, stream, waits);
}
