/* The entry points of the CUDA runtime (runtime.def): each is do_NAME, called with the lock held. */
#ifndef CUDA_RUNTIME_H
#define CUDA_RUNTIME_H

#include "cuda/cuda.h"

#define EXPORTED __attribute__((visibility("default")))

/* cudaExtent, cudaPitchedPtr, cudaPos, cudaMemcpy3DParms, cudaMemLocation, cudaChannelFormatDesc */
typedef struct Pitched {
    void *at;
    size_t pitch, width, height;
} Pitched;
typedef struct Position {
    size_t x, y, z;
} Position;
typedef struct Array Array;
typedef struct Copy3D {
    Array *from_array;
    Position from_at;
    Pitched from;
    Array *to_array;
    Position to_at;
    Pitched to;
    Extent extent;
    int kind;
} Copy3D;
typedef struct CopyPeer3D {
    Array *from_array;
    Position from_at;
    Pitched from;
    int from_device;
    Array *to_array;
    Position to_at;
    Pitched to;
    int to_device;
    Extent extent;
} CopyPeer3D;
typedef struct Channels {
    int x, y, z, w, kind;
} Channels;
struct KernelNode;
struct HostNode;
struct FillNode;
typedef struct RuntimeConfig { /* cudaLaunchConfig_t */
    Dim3 grid, block;
    size_t shared;
    void *stream;
    const void *attributes;
    unsigned attribute_count;
} RuntimeConfig;

/* Of all errors: what the runtime and the driver call it (NULL: it has none such), and a text. */
typedef struct ErrorText {
    Error error;
    const char *name, *driver_name, *text;
} ErrorText;
const ErrorText *error_text(Error error);

/* A copy in three dimensions: both sides, and its extent in bytes. */
Error volume_of(const Copy3D *given, Copy *copy);
/* Copies and fills: now, or as a node of a graph that is captured from the stream. */
Error copy_make(Copy *copy, void *stream);
Error copy_lines(const char *name, Span to, Span from, size_t width, size_t height, int kind, void *stream, bool waits);
Error fill_make(const char *name, Span to, Extent extent, unsigned value, unsigned element, void *stream, bool waits);
Error graph_add_copy(void **to, void *graph, void *const *from, size_t count, const Copy *copy);
/* Of a node of that graph; NULL: of any that cannot be launched. */
Error graph_set_copy(void *exec, void *node, const Copy *copy);

typedef struct FunctionAttributes { /* cudaFuncAttributes: the first 88 bytes are all of CUDA 12's and 13's */
    size_t shared, constant, local;
    int threads, registers, ptx, binary, cache, dynamic, carveout, cluster_needed, cluster[3], scheduling;
} FunctionAttributes;

/* Arrays (arrays.c): bytes of an element; where a position is in one. */
struct Array {
    Array *next;
    char *at;
    size_t width, height, depth; /* elements; 0: it has no such dimension; depth: layers, of an array that has some */
    size_t pitch, slice;
    Channels format;
    unsigned flags;
};
size_t array_element(const Array *array);
/* The one of a handle; NULL: there is none such. */
Array *array_of(const void *handle);
/* False: it has not all of the extent there, in elements. */
bool array_span(const Array *array, Position at, Extent extent, Span *to);
/* Arrays are gone, as all memory is. */
void array_forget_all(void);

#define CALL(name, parameters, given)                Error do_##name parameters;
#define STREAM_CALL(name, suffix, parameters, given) Error do_##name parameters;
#define VERSIONED(name, parameters, given, parameters12, given12) \
    Error do_##name parameters;                                   \
    Error do12_##name parameters12;
#define HARMLESS(name)
#define MISSING(name)
#include "cuda/runtime.def"
#undef CALL
#undef STREAM_CALL
#undef VERSIONED
#undef HARMLESS
#undef MISSING

/* Of a stream that is being captured (graphs.c). */
Error graph_launch(Stream *stream, const CudaLaunch *launch);
Error graph_copy(const Copy *copy);
Error graph_fill(const char *name, Span to, Extent extent, unsigned value, unsigned element, Stream *stream);
Error graph_host_function(Stream *stream, void *function, void *data);
Error graph_event_recorded(Event *event, Stream *stream);
Error graph_event_waited(Event *event, Stream *stream);
/* A node that records the event, or waits for it, whenever the graph is launched. */
Error graph_event_node(Event *event, Stream *stream, bool records);
Error graph_allocate(Stream *stream, void **to, size_t bytes);
Error graph_free(Stream *stream, void *memory);
void graph_forget_all(void);

#endif
