/* Arrays of CUDA, which lie in memory row by row, and textures and surfaces, whose handles are the addresses of what
 * they stand for (weir_device_texture). */
#include "cuda/runtime.h"

#include <stdlib.h>
#include <string.h>

enum { PITCH = 64, LAYERED = 1, SURFACES = 2, CUBE = 4, GATHERS = 8, FACES = 6, LONGEST = 1 << 17 };

/* ---- Arrays ---- */

static Array *arrays;

Array *array_of(const void *handle) {
    Array *array = arrays;
    while (array && array != handle)
        array = array->next;
    return array;
}

static unsigned channels_of(const Channels *format) {
    return (unsigned)((format->x > 0) + (format->y > 0) + (format->z > 0) + (format->w > 0));
}

static bool is_format(const Channels *format) {
    const int bits[] = {format->x, format->y, format->z, format->w};
    unsigned channels = channels_of(format);
    for (unsigned i = 0; i < 4; i++)
        if (bits[i] != (i < channels ? format->x : 0))
            return false;
    return (channels == 1 || channels == 2 || channels == 4) &&
           (format->x == 8 || format->x == 16 || format->x == 32) && format->kind >= 0 && format->kind <= 2 &&
           (format->kind != 2 || format->x > 8);
}

size_t array_element(const Array *array) {
    return (size_t)array->format.x * channels_of(&array->format) / 8;
}

static bool fits(size_t at, size_t count, size_t size) {
    size = size ? size : 1;
    return at <= size && count <= size - at;
}

bool array_span(const Array *array, Position at, Extent extent, Span *to) {
    *to = (Span){array->at + at.x * array_element(array) + at.y * array->pitch + at.z * array->slice, array->pitch,
                 array->slice};
    return fits(at.x, extent.width, array->width) && fits(at.y, extent.height, array->height) &&
           fits(at.z, extent.depth, array->depth);
}

Error do_cudaMalloc3DArray(Array **to, const Channels *format, Extent extent, unsigned flags) {
    bool layered = flags & LAYERED, cube = flags & CUBE;
    size_t bytes;
    if (!to || !format || !is_format(format) || flags & ~(unsigned)(LAYERED | SURFACES | CUBE | GATHERS) ||
        !extent.width || extent.width > LONGEST || extent.height > LONGEST || extent.depth > LONGEST)
        return CUDA_INVALID_VALUE;
    if (cube &&
        (extent.width != extent.height || !extent.depth || extent.depth % FACES || (extent.depth != FACES && !layered)))
        return CUDA_INVALID_VALUE;
    if (layered ? !extent.depth : extent.depth && !extent.height)
        return CUDA_INVALID_VALUE;
    Array *array = calloc(1, sizeof *array);
    if (!array)
        return CUDA_NO_MEMORY;
    *array = (Array){.next = arrays,
                     .width = extent.width,
                     .height = extent.height,
                     .depth = extent.depth,
                     .format = *format,
                     .flags = flags};
    array->pitch = (extent.width * array_element(array) + PITCH - 1) / PITCH * PITCH;
    array->slice = array->pitch * (extent.height ? extent.height : 1);
    bytes = array->slice * (extent.depth ? extent.depth : 1);
    array->at = memory_allocate(MEMORY_ARRAY, bytes, false);
    if (!array->at) {
        free(array);
        return CUDA_NO_MEMORY;
    }
    arrays = *to = array;
    return 0;
}

Error do_cudaMallocArray(Array **to, const Channels *format, size_t width, size_t height, unsigned flags) {
    if (flags & (LAYERED | CUBE))
        return CUDA_INVALID_VALUE;
    return do_cudaMalloc3DArray(to, format, (Extent){width, height, 0}, flags);
}

Error do_cudaFreeArray(void *handle) {
    Array *array = array_of(handle), **at = &arrays;
    if (!array)
        return handle ? CUDA_INVALID_VALUE : 0;
    while (*at != array)
        at = &(*at)->next;
    *at = array->next;
    memory_free(array->at, 1 << MEMORY_ARRAY);
    free(array);
    return 0;
}

void array_forget_all(void) {
    while (arrays) {
        Array *array = arrays;
        arrays = array->next;
        free(array);
    }
}

Error do_cudaArrayGetInfo(Channels *format, Extent *extent, unsigned *flags, void *handle) {
    const Array *array = array_of(handle);
    if (!array)
        return CUDA_INVALID_HANDLE;
    if (format)
        *format = array->format;
    if (extent)
        *extent = (Extent){array->width, array->height, array->depth};
    if (flags)
        *flags = array->flags;
    return 0;
}

Error do_cudaGetChannelDesc(Channels *format, const void *handle) {
    const Array *array = array_of(handle);
    if (!format || !array)
        return format ? CUDA_INVALID_HANDLE : CUDA_INVALID_VALUE;
    *format = array->format;
    return 0;
}

/* ---- Copies: x and width in bytes ---- */

static Error copy_rows(const char *name, const void *handle, Position at, Span other, size_t width, size_t height,
                       bool from_array, int kind, void *stream, bool waits) {
    const Array *array = array_of(handle);
    if (!array || !fits(at.x, width, array->width * array_element(array)) || !fits(at.y, height, array->height))
        return array ? CUDA_INVALID_VALUE : CUDA_INVALID_HANDLE;
    Span own = {.at = array->at + at.x + at.y * array->pitch, .pitch = array->pitch};
    Copy copy = {.name = name,
                 .to = from_array ? other : own,
                 .from = from_array ? own : other,
                 .extent = {width, height, 1},
                 .kind = kind,
                 .waits = waits};
    return copy_make(&copy, stream);
}

static Span side(const void *at, size_t pitch) {
    return (Span){.at = (char *)(uintptr_t)at, .pitch = pitch};
}

Error do_cudaMemcpy2DToArray(void *array, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                             size_t height, int kind) {
    return copy_rows("cudaMemcpy2DToArray", array, (Position){x, y, 0}, side(from, pitch), width, height, false, kind,
                     NULL, true);
}

Error do_cudaMemcpy2DToArrayAsync(void *array, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                  size_t height, int kind, void *stream) {
    return copy_rows("cudaMemcpy2DToArrayAsync", array, (Position){x, y, 0}, side(from, pitch), width, height, false,
                     kind, stream, false);
}

Error do_cudaMemcpy2DFromArray(void *to, size_t pitch, const void *array, size_t x, size_t y, size_t width,
                               size_t height, int kind) {
    return copy_rows("cudaMemcpy2DFromArray", array, (Position){x, y, 0}, side(to, pitch), width, height, true, kind,
                     NULL, true);
}

Error do_cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, const void *array, size_t x, size_t y, size_t width,
                                    size_t height, int kind, void *stream) {
    return copy_rows("cudaMemcpy2DFromArrayAsync", array, (Position){x, y, 0}, side(to, pitch), width, height, true,
                     kind, stream, false);
}

/* Bytes of rows one after the other: whole ones, or a part of one. */
static Error copy_flat(const char *name, const void *handle, Position at, const void *other, size_t bytes,
                       bool from_array, int kind) {
    const Array *array = array_of(handle);
    size_t row = array ? array->width * array_element(array) : 1;
    bool whole = !at.x && bytes % row == 0;
    if (!array || (!whole && !fits(at.x, bytes, row)))
        return array ? cuda_not_modeled("a copy of bytes that begins or ends in the midst of a row of an array")
                     : CUDA_INVALID_HANDLE;
    return copy_rows(name, handle, at, side(other, row), whole ? row : bytes, whole ? bytes / row : 1, from_array, kind,
                     NULL, true);
}

Error do_cudaMemcpyToArray(void *array, size_t x, size_t y, const void *from, size_t bytes, int kind) {
    return copy_flat("cudaMemcpyToArray", array, (Position){x, y, 0}, from, bytes, false, kind);
}

Error do_cudaMemcpyFromArray(void *to, const void *array, size_t x, size_t y, size_t bytes, int kind) {
    return copy_flat("cudaMemcpyFromArray", array, (Position){x, y, 0}, to, bytes, true, kind);
}

/* ---- Textures and surfaces ---- */

typedef struct Resource { /* cudaResourceDesc */
    int kind;
    union {
        const void *array;
        struct {
            char *at;
            Channels format;
            size_t bytes; /* of a plane: elements of a row */
            size_t height, pitch;
        } memory;
        int room[32];
    };
} Resource;
enum { RESOURCE_ARRAY, RESOURCE_MIPMAPPED, RESOURCE_LINE, RESOURCE_PLANE };

typedef struct Sampling { /* cudaTextureDesc */
    int modes[3], linear, floats, gamma;
    float border[4];
    int normalized;
    unsigned anisotropy;
} Sampling;

static void describe_format(const Channels *format, weir_texture *to) {
    to->channels = channels_of(format);
    to->bits = (unsigned)format->x;
    to->kind = (unsigned)format->kind;
}

static Error describe_array(const Array *array, weir_texture *to) {
    if (!array)
        return CUDA_INVALID_HANDLE;
    bool layered = array->flags & LAYERED, cube = array->flags & CUBE;
    *to = (weir_texture){
        .address = (uintptr_t)array->at,
        .pitch = array->pitch,
        .slice = array->slice,
        .size = {(unsigned)array->width, (unsigned)array->height, layered || cube ? 0 : (unsigned)array->depth},
        .layers = layered ? (unsigned)array->depth / (cube ? FACES : 1) : 0,
        .cube = cube};
    describe_format(&array->format, to);
    return 0;
}

static Error describe_memory(const Resource *resource, weir_texture *to) {
    const Channels *format = &resource->memory.format;
    bool line = resource->kind == RESOURCE_LINE;
    if ((!line && resource->kind != RESOURCE_PLANE) || !is_format(format))
        return CUDA_INVALID_VALUE;
    size_t element = (size_t)format->x * channels_of(format) / 8;
    size_t width = line ? resource->memory.bytes / element : resource->memory.bytes;
    size_t height = line ? 0 : resource->memory.height, pitch = line ? 0 : resource->memory.pitch;
    const Allocation *one = memory_of(resource->memory.at);
    size_t there = one ? one->at + one->bytes - (uintptr_t)resource->memory.at : 0;
    if (!width || width > UINT32_MAX / element || height > LONGEST || pitch > UINT32_MAX)
        return CUDA_INVALID_VALUE;
    if ((!line && (!height || pitch < width * element)) ||
        there < (height ? (height - 1) * pitch : 0) + width * element)
        return CUDA_INVALID_VALUE;
    *to = (weir_texture){.address = (uintptr_t)resource->memory.at,
                         .pitch = pitch,
                         .size = {(unsigned)width, (unsigned)height, 0},
                         .buffer = line};
    describe_format(format, to);
    return 0;
}

static Error make_handle(uint64_t *to, const weir_texture *texture) {
    unsigned char bytes[128];
    if (weir_device_texture(texture, bytes) != 0)
        return CUDA_INVALID_VALUE;
    void *at = memory_allocate(MEMORY_HANDLE, sizeof bytes, false);
    if (!at)
        return CUDA_NO_MEMORY;
    memcpy(at, bytes, sizeof bytes);
    *to = (uintptr_t)at;
    return 0;
}

Error do_cudaCreateTextureObject(uint64_t *to, const void *resource, const void *texture, const void *view) {
    const Resource *from = resource;
    const Sampling *how = texture;
    weir_texture made;
    if (!to || !from || !how)
        return CUDA_INVALID_VALUE;
    if (view || how->gamma || how->anisotropy > 1 || from->kind == RESOURCE_MIPMAPPED)
        return cuda_not_modeled("cudaCreateTextureObject with a view, mipmaps, sRGB or anisotropy");
    Error error =
        from->kind == RESOURCE_ARRAY ? describe_array(array_of(from->array), &made) : describe_memory(from, &made);
    if (error)
        return error;
    for (unsigned i = 0; i < 3; i++)
        made.mode[i] = (unsigned)how->modes[i];
    made.linear = how->linear;
    made.floats = how->floats && made.kind != 2;
    made.normalized = how->normalized != 0;
    memcpy(made.border, how->border, sizeof made.border);
    if (made.linear && made.kind != 2 && !made.floats)
        return CUDA_INVALID_VALUE; /* integers are not filtered */
    return make_handle(to, &made);
}

Error do_cudaCreateSurfaceObject(uint64_t *to, const void *resource) {
    const Resource *from = resource;
    const Array *array = from && from->kind == RESOURCE_ARRAY ? array_of(from->array) : NULL;
    weir_texture made;
    if (!to || !array || !(array->flags & SURFACES))
        return CUDA_INVALID_VALUE;
    Error error = describe_array(array, &made);
    made.surface = 1;
    return error ? error : make_handle(to, &made);
}

Error do_cudaDestroyTextureObject(uint64_t texture) {
    return texture ? memory_free((void *)(uintptr_t)texture, 1 << MEMORY_HANDLE) : 0;
}

Error do_cudaDestroySurfaceObject(uint64_t surface) {
    return do_cudaDestroyTextureObject(surface);
}
