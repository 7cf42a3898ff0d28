/* What stands in for CUDA's libraries where there is no GPU: the state that all of its files share. `weir exec` puts it
 * in front of the program (libcudart.so.12, libcudart.so.13, libcuda.so.1); kernels run on the CPU by weir/device.h,
 * and are checked as they run.
 *
 * One lock guards all of it. An operation is over when its call returns: streams and events order nothing here, and
 * what they order on a GPU is in the order log (log.c). */
#ifndef CUDA_CUDA_H
#define CUDA_CUDA_H

#include "base/text.h"
#include "weir/device.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

/* ---- Types of CUDA, as its documentation has them: handles are pointers, enumerations are ints ---- */

typedef int Error; /* cudaError_t; CUresult has the same numbers */
enum {
    CUDA_INVALID_VALUE = 1,
    CUDA_NO_MEMORY = 2,
    CUDA_NOT_INITIALIZED = 3,
    CUDA_UNLOADING = 4,
    CUDA_INVALID_CONFIGURATION = 9,
    CUDA_INVALID_PITCH = 12,
    CUDA_INVALID_SYMBOL = 13,
    CUDA_INVALID_DIRECTION = 21,
    CUDA_NO_DRIVER = 35,
    CUDA_NO_CONFIGURATION = 52,
    CUDA_INVALID_FUNCTION = 98,
    CUDA_NO_DEVICE = 100,
    CUDA_INVALID_DEVICE = 101,
    CUDA_INVALID_IMAGE = 200,
    CUDA_INVALID_CONTEXT = 201,
    CUDA_NO_IMAGE = 209,
    CUDA_UNSUPPORTED_LIMIT = 215,
    CUDA_INVALID_PTX = 218,
    CUDA_FILE_NOT_FOUND = 301,
    CUDA_INVALID_HANDLE = 400,
    CUDA_ILLEGAL_STATE = 401,
    CUDA_NOT_FOUND = 500,
    CUDA_NOT_READY = 600,
    CUDA_ILLEGAL_ADDRESS = 700,
    CUDA_OUT_OF_RESOURCES = 701,
    CUDA_PEER_ENABLED = 704,
    CUDA_PEER_NOT_ENABLED = 705,
    CUDA_CONTEXT_DESTROYED = 709,
    CUDA_ASSERT = 710,
    CUDA_REGISTERED = 712,
    CUDA_NOT_REGISTERED = 713,
    CUDA_MISALIGNED = 716,
    CUDA_LAUNCH_FAILURE = 719,
    CUDA_COOPERATIVE_TOO_LARGE = 720,
    CUDA_NOT_SUPPORTED = 801,
    CUDA_CAPTURE_UNSUPPORTED = 900,
    CUDA_CAPTURE_INVALIDATED = 901,
    CUDA_CAPTURE_MERGE = 902,
    CUDA_CAPTURE_UNMATCHED = 903,
    CUDA_CAPTURE_UNJOINED = 904,
    CUDA_CAPTURE_ISOLATION = 905,
    CUDA_UPDATE_FAILED = 910,
    CUDA_INVALID_CLUSTER = 912,
};

typedef struct Dim3 {
    unsigned x, y, z;
} Dim3;

/* ---- State (state.c) ---- */

typedef struct CudaTarget CudaTarget;
typedef struct Stream Stream;

typedef struct CudaState {
    bool begun, ended;
    pid_t process;       /* that has begun */
    const char *folder;  /* of weir exec; NULL: nothing is checked or logged */
    bool checks;         /* launches are checked as they run */
    bool captures;       /* mode capture: launches are written down */
    bool volatile_races; /* volatile accesses can race */
    double prove_time;   /* seconds for the proof of a kernel; 0: none is tried */
    Error sticky;        /* of a launch that ended badly: all calls fail from then on, */
    bool fresh;          /* but that one */
    weir_context *weir;
    weir_device *device;
    const CudaTarget *target;
    uint64_t launches;
} CudaState;
extern CudaState cuda;

/* A call begins: the lock is held until cuda_leave. False: the process ends, or is one that a fork made after CUDA was
 * used; *error says so, and the lock is not held. */
bool cuda_enter(const void *caller, Error *error);
/* What the call gives back; an error is the last one of this thread, and one that sticks takes the place of all. */
Error cuda_leave(Error error);
/* The thread's last error, which is forgotten with `reset`. */
Error cuda_last(bool reset);
/* The lock is not held while the program's own code runs. */
void cuda_unlock(void);
void cuda_relock(void);
/* A sentence for the summary of weir exec, each once: what was not looked at. */
void cuda_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* One line of capture.log. */
void cuda_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A call that is not modeled: an error, and the run is incomplete by its name. */
Error cuda_not_modeled(const char *name);
/* Where the program's own code made the call that runs: "/home/me/program+0x12f4"; "" if it is not known. */
const char *cuda_where(void);
void cuda_came_from(const void *caller);
const void *cuda_caller(void);

/* The same for entry points of the driver, whose errors are no thread's last ones: whether calls can be made at all
 * (0), and the end of one. */
Error cuda_closed(void);
bool cuda_begin_call(const void *caller);
Error cuda_end_call(Error error);

/* ---- Contexts (contexts.c) ---- */

/* That of the thread, by its number in the log; the primary one, 0, where it has none. */
uint64_t context_number(void);
/* Its default stream. */
Stream *context_stream(void);
/* The runtime is called: a thread without a context has the primary one from now on. */
void context_bind(void);

/* ---- The GPU that it stands for (gpu.c) ---- */

struct CudaTarget {
    const char *name, *gpu;
    unsigned capability; /* 90 of sm_90 */
    size_t memory;
    int processors, cache, shared_most, shared_block, clock, memory_clock, bus;
    int threads, ctas; /* of a multiprocessor at most */
};
const CudaTarget *gpu_named(const char *name); /* NULL: there is no such */
enum { GPU_UUID_BYTES = 16 };
extern const char gpu_uuid[GPU_UUID_BYTES + 1];
/* An attribute by its number; false: there is none. */
bool gpu_attribute(int attribute, int *value);
/* Properties as CUDA 13 has them, and as CUDA 12 does. */
void gpu_properties(void *properties);
void gpu_properties_12(void *properties);
size_t gpu_free(size_t *total);
/* CTAs of so many threads and bytes of shared memory that a multiprocessor runs at the same time. */
int gpu_occupancy(int threads, size_t shared);

/* ---- Memory (memory.c) ---- */

typedef enum MemoryKind {
    MEMORY_DEVICE,
    MEMORY_MANAGED,
    MEMORY_HOST,
    MEMORY_REGISTERED,
    MEMORY_ARRAY,
    MEMORY_HANDLE, /* what a texture or surface object stands for */
    MEMORY_VARIABLES
} MemoryKind;
typedef struct Allocation {
    uintptr_t at;
    size_t bytes;
    MemoryKind kind;
    unsigned flags;
    uint64_t number;
    bool pooled;   /* by cudaMallocAsync */
    bool of_graph; /* a node of one allocates it */
    void *pool;
    uint64_t context;
    const struct CudaModule *module; /* of variables */
} Allocation;

/* NULL: there is not enough memory. */
void *memory_allocate(MemoryKind kind, size_t bytes, bool of_graph);
/* Memory that was freed, at the same place; false: it is another's now. */
bool memory_again(void *at, size_t bytes);
Error memory_register(void *at, size_t bytes, unsigned flags);
/* Of one of these kinds (a mask); `stream`: where it is freed. */
Error memory_free(void *at, unsigned kinds);
/* The one that an address is in; NULL: none. */
Allocation *memory_of(const void *at);
/* Whether it is where memory may be, whether it is there now or not. */
bool memory_was(const void *at);
void memory_each(void (*work)(Allocation *allocation));
/* All of it of a context, at its end: cudaDeviceReset. */
void memory_reset(uint64_t context);
/* Where the variables of a module begin, and how much room there is; then how much they take. */
void *memory_room(size_t *room);
void memory_take(size_t bytes);
/* Variables of a module lie there, all of them or one of const memory, which copies reach; until it is unloaded. */
struct CudaModule;
void memory_variables(const struct CudaModule *module, void *at, size_t bytes);
void memory_drop_variables(const struct CudaModule *module);
size_t memory_used(void);

/* ---- Copies (copies.c) ---- */

typedef struct Span { /* slices of rows of bytes */
    char *at;
    size_t pitch, slice; /* from one row to the next; from one slice to the next */
} Span;
typedef struct Extent {
    size_t width, height, depth; /* width: bytes */
} Extent;
enum { COPY_HOST_TO_HOST, COPY_TO_DEVICE, COPY_TO_HOST, COPY_ON_DEVICE, COPY_BY_ADDRESS };
typedef struct Copy {
    const char *name;
    Span to, from;
    Extent extent;
    int kind;
    bool waits; /* the host does until it is over */
    Stream *stream;
} Copy;
Error copy_bytes(const Copy *copy);
/* Elements of 1, 2 or 4 bytes. */
Error copy_fill(const char *name, Span to, Extent extent, unsigned value, unsigned element, Stream *stream, bool waits);

/* ---- Modules (modules.c) ---- */

typedef struct Kernel Kernel;
typedef struct CudaModule CudaModule;
struct Kernel {
    Kernel *next;
    CudaModule *module;
    char *name, *plain; /* plain: as people write it */
    weir_device_kernel about;
    size_t *sizes; /* of its parameters */
    size_t *offsets;
    size_t dynamic_most;
    int carveout;
    bool large_cluster;
    /* checks.c */
    struct CheckedKernel *checked;
    struct CapturedKernel *captured; /* captures.c */
};
struct CudaModule {
    CudaModule *next;
    const void *image;
    size_t image_bytes; /* of a file; 0: it says how large it is */
    bool tried;         /* it was read, */
    Error error;        /* with this */
    weir_file *file;
    weir_module *module;
    void *variables; /* in global memory, */
    size_t variable_bytes;
    Kernel *kernels;
    bool loaded; /* by the program, while it ran; */
    bool gone;   /* and unloaded: of its kernels the names and what was found are kept */
    uint64_t context;
};
/* An image that the program has in it, or that it gives: a fatbin, a wrapper of one, a cubin, PTX. It is read when
 * something of it is asked for. */
CudaModule *module_of_image(const void *image);
CudaModule *module_of(const void *handle); /* NULL: there is none such that the program has loaded */
void module_unload(CudaModule *module);
Error module_read(CudaModule *module);
Error module_kernel(CudaModule *module, const char *name, Kernel **kernel);
Error module_variable(CudaModule *module, const char *name, weir_device_variable *variable);
CudaModule *module_first(void);
/* What the program's own code has registered, by the address that stands for it. */
Error registered_kernel(const void *function, Kernel **kernel);
Error registered_variable(const void *symbol, weir_device_variable *variable);
bool kernel_is(const void *kernel);

/* ---- Streams and events (streams.c) ---- */

struct Stream {
    Stream *next;
    uint64_t number; /* in the log */
    unsigned flags;
    int priority;
    uint64_t id;
    struct Graph *capture; /* what is put into it becomes a node of this graph */
    int capture_status;
    struct Node **last; /* nodes that the next one depends on */
    size_t last_count;
    bool origin;
    bool busy; /* something was put into it, and the host does not know that it is over */
    uint64_t context;
    bool own, gone; /* own: it is a thread's, and the next one of that thread is that of another context */
    Stream *other;
};
typedef struct Event {
    struct Event *next;
    uint64_t number;
    unsigned flags;
    bool recorded;
    bool busy; /* ... and the host does not know that it is over */
    double at;
    uint64_t context;
    struct Graph *capture;
    struct Node **last;
    size_t last_count;
} Event;
/* The stream of a handle: 0, 1 and 2 stand for the default ones. NULL: there is none such. */
Stream *stream_of(void *handle);
Event *event_of(void *handle);
/* A launch records it before it is over: when its CTAs have begun, or have triggered. */
Error event_during_launch(void *event, void *stream);
/* Entry points for the default stream of each thread set it for their call. */
extern _Thread_local bool stream_per_thread;
void stream_forget_all(uint64_t context);
/* A number for the log, where it is one of a kind (0 non-blocking, 1 blocking, 2 the default stream of a context). */
void stream_open(Stream *stream, unsigned kind);
/* The host waits for a stream; for all streams of a context. */
void stream_await(Stream *stream);
void stream_await_all(uint64_t context);
/* The same, as a call of the program: an error if something is put into a graph. */
Error stream_synchronize_all(uint64_t context);
/* The stream behind that one; NULL: the first. */
Stream *stream_next(const Stream *stream);
/* Events that were recorded while a graph was captured are of no graph any more. */
void stream_forget_capture(const struct Graph *graph);
double cuda_seconds(void);

/* ---- Launches (launches.c) ---- */

typedef struct CudaLaunch {
    Kernel *kernel;
    unsigned grid[3], block[3], cluster[3];
    size_t shared;
    Stream *stream;
    void **parameters;
    bool cooperative, dependent;
    struct Event *event;
} CudaLaunch;
Error launch_make(CudaLaunch *launch);
/* Parameters that are given as one block (CU_LAUNCH_PARAM_BUFFER_POINTER), if `extra` has that. */
enum { MOST_PARAMETERS = 4096 };
Error launch_parameters(CudaLaunch *launch, void **extra, void *places[MOST_PARAMETERS]);
/* The launch can be made; else which error it is. */
Error launch_fits(const CudaLaunch *launch);
/* It runs now. */
Error launch_run(const CudaLaunch *launch);

/* ---- Checks of launches (checks.c) ---- */

/* Before it runs; memory is the same afterwards. */
/* False: it was not checked, though it could be: it is equal to others, or there is no time left. `anyway`: it is. */
bool check_launch(const CudaLaunch *launch, const weir_device_launch *given, bool anyway);
void check_end(void);
/* Before its kernel goes: how many launches there were is kept for the end. */
void check_forget(Kernel *kernel);
/* What tells launches of a kernel apart: shape and numbers, and of addresses by which others they lie. */
uint64_t check_key(const CudaLaunch *launch);
/* In mode capture, before it runs (captures.c). */
void capture_launch(const CudaLaunch *launch, const weir_device_launch *given);

/* ---- The order log (log.c) ---- */

bool log_on(void);
void log_begin(void);
void log_end(void);
void log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Threads of the program (base/host/threads.h). */
void *log_thread_made(void);
void log_thread_not_made(void *made);
uint64_t log_thread_begun(void *made);
void log_thread_joined(uint64_t id);
void log_allocated(const Allocation *allocation);
/* An operation of a stream, or of the host if that is NULL, allocates the memory or frees it. */
void log_lifetime(const Stream *stream, const char *name, bool frees, const Allocation *allocation);
void log_freed(const Allocation *allocation);
/* The program never freed it, and ends, or resets the device or destroys the context. */
void log_left(Allocation *allocation);
/* The host runs a function in the stream, and may access what it can. */
void log_host_function(const Stream *stream);
void log_launch(const CudaLaunch *launch, bool ran);
void log_touch(char what, const void *at, size_t bytes, size_t stride, size_t count);

#endif
