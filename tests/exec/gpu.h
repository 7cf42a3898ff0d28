/* Between the files of the stand-in for the CUDA driver that runs kernels (gpu.c). */
#ifndef TESTS_EXEC_GPU_H
#define TESTS_EXEC_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int Result;
typedef void *Handle;
typedef uint64_t Address;
enum {
    SUCCESS = 0,
    INVALID = 1,
    NO_MEMORY = 2,
    NO_CONTEXT = 201,
    BAD_PTX = 218,
    UNKNOWN = 500,
    NO_RESOURCES = 701,
    NOT_READY = 600,
    FAILED = 719,
    NOT_SUPPORTED = 801,
    CAPTURE_UNSUPPORTED = 900,
    CAPTURE_INVALIDATED = 901,
    CAPTURE_MERGE = 902,
    CAPTURE_UNMATCHED = 903,
    CAPTURE_UNJOINED = 904,
    CAPTURE_ISOLATION = 905,
    CAPTURE_IMPLICIT = 906,
    CAPTURED_EVENT = 907,
    CAPTURE_WRONG_THREAD = 908
};

#define EXPORTED __attribute__((visibility("default")))

/* The text that an image has: what was linked, a fatbin or what points to one, or PTX itself (gpu_images.c). */
const char *image_text(const void *image);
/* Registers that a kernel of a text has here. */
unsigned image_registers(const char *text);

/* ---- The device (gpu.c) ---- */

/* What a launch has left: all that comes after it fails. */
Result standin_failure(void);
/* Something is put into a stream; a call that others may be locked out of. */
void standin_put(void);
void standin_entered(void);
void standin_waits(void);
void standin_copy(void *to, const void *from, size_t bytes);
void standin_fill(char *to, const void *element, size_t bytes, size_t count);
/* A kernel of a library, in the context; another function is what it is. */
Handle kernel_function(Handle kernel);
/* Offset and size of a parameter. */
Result function_parameter_info(Handle function, size_t index, size_t *offset, size_t *bytes);

/* Memory is there that another process has, too; and the allocation that an address is in. */
Result standin_opened(Address address, size_t bytes);
bool standin_allocation(Address address, Address *begin, size_t *bytes);

/* ---- Memory of several processes (gpu_peers.c) ---- */

/* The file that the device's memory is in; -1: other processes cannot have it. */
int arena_file(size_t bytes);
bool is_opened(Address address);
/* False: the handle is none, or cannot be mapped there. */
bool physical_map(Address address, size_t bytes, size_t offset, unsigned long long handle);

/* ---- Streams and what is captured in them (gpu_streams.c) ---- */

typedef struct Capture Capture;

/* Something is put into a stream: whether that is captured now, and what the driver says of it. */
Result stream_enter(Handle stream, Capture **to);
/* A call that a stream which is captured does not allow. */
Result stream_touch(Handle stream);
/* A call that may not be made while this thread captures, or any does for all threads. */
Result capture_unsafe(void);
/* One that may not be made while anything is captured. */
Result capture_none(void);
/* An event is asked about, or waited for. */
Result event_touch(Handle event);

/* ---- Graphs (gpu_graphs.c) ---- */

typedef struct Graph Graph;
typedef struct Node Node;
enum {
    NODE_KERNEL,
    NODE_COPY,
    NODE_SET,
    NODE_HOST,
    NODE_CHILD,
    NODE_EMPTY,
    NODE_WAIT,
    NODE_RECORD,
    NODE_ALLOCATE = 10,
    NODE_FREE = 11,
    NODE_CONDITIONAL = 13
};

typedef struct KernelNode {
    Handle function;
    unsigned grid[3], block[3], shared;
    void **parameters, **extra;
    Handle kernel, context;
} KernelNode;
typedef struct SetNode {
    Address to;
    size_t pitch;
    unsigned value, element;
    size_t width, height;
} SetNode;
typedef struct HostNode {
    void (*call)(void *);
    void *with;
} HostNode;
/* CUDA_MEMCPY3D of memory that has addresses on both sides. */
typedef struct SlicesSide {
    size_t x, y, z, level;
    unsigned type;
    uintptr_t host, device, array, reserved;
    size_t pitch, height;
} SlicesSide;
typedef struct SlicesNode {
    SlicesSide from, to;
    size_t width, height, depth;
} SlicesNode;

Result cuMemAlloc_v2(Address *to, size_t bytes);
Result cuMemFree_v2(Address memory);
Result cuMemAddressReserve(Address *to, size_t bytes, size_t align, Address wanted, unsigned long long flags);
Result cuEventCreate(Handle *to, unsigned flags);
Graph *graph_new(void);
bool node_has_behind(const Node *node);
/* A node behind others. What it does is copied. */
Node *graph_add(Graph *graph, int type, const void *what, Node *const *before, size_t count);
/* In a stream that is captured: behind what is there. */
Result capture_add(Capture *capture, Handle stream, int type, const void *what);
/* The last node in a stream may begin before the one before it has ended. */
void capture_dependent(Handle stream);
void node_dependent(Node *node);
Result kernel_run(const KernelNode *kernel);
Result slices_run(const SlicesNode *slices);
Result set_run(const SetNode *set);

#endif
