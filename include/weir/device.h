/* A device without a GPU, for programs in C: compiled kernels run on the memory of the process, and are checked with
 * the data that is there. docs/device.md is about the same from Python. */
#ifndef WEIR_DEVICE_H
#define WEIR_DEVICE_H

#include <weir/weir.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of a device one thing is asked at a time. NULL if there is no memory. */
typedef struct weir_device weir_device;
WEIR_API weir_device *weir_device_create(void);
WEIR_API void weir_device_destroy(weir_device *device);
/* One sentence on why the last call on the device did not do what it should. */
WEIR_API const char *weir_device_error(const weir_device *device);

/* CTAs of a launch run on so many threads at most; 0, as it is at first: one for each processor. Results do not depend
 * on it: CTAs run at the same time where their order cannot matter, and in the order of their numbers where it can. */
WEIR_API void weir_device_jobs(weir_device *device, unsigned jobs);

/* Memory that kernels may access, by its address: it is not copied, and stays the caller's. What was named before and
 * overlaps it is gone. `written` 0: its bytes are not known before a kernel writes them, or weir_device_written says
 * so. WEIR_MEMORY_SHARED is added where other processes or devices access it, too (weir_device_others). 0, or -1 if
 * there is not enough memory. */
enum { WEIR_MEMORY_SHARED = 2 };
WEIR_API int weir_device_memory(weir_device *device, void *address, size_t bytes, const char *name, int written);
/* Launches take turns with those of other processes by a lock on that file, where there is memory that they share: one
 * that waits for a signal of another process lets that go on. What such a launch has written to that memory stays,
 * however it ends. 0 or -1. */
WEIR_API int weir_device_others(weir_device *device, const char *lock);
/* That which begins there is gone. */
WEIR_API void weir_device_remove(weir_device *device, const void *address);
/* The program wrote bytes itself, or copied them: what is known of them goes along; whether bytes are all known. */
WEIR_API void weir_device_written(weir_device *device, const void *address, size_t bytes);
WEIR_API void weir_device_copied(weir_device *device, void *to, const void *from, size_t bytes);
WEIR_API int weir_device_known(const weir_device *device, const void *address, size_t bytes);

/* Memory that kernels get by malloc stays until a kernel frees it; it has addresses from WEIR_DEVICE_HEAP on, in which
 * the program cannot read. At most so many bytes (8 MiB unless it is said): 0, or -1 if a kernel that takes some was
 * run before. And all of it is gone, as when the device is reset. */
#define WEIR_DEVICE_HEAP UINT64_C(0x80000000000000)
WEIR_API int weir_device_heap(weir_device *device, size_t bytes);
WEIR_API void weir_device_heap_reset(weir_device *device);

typedef struct weir_device_launch {
    const char *kernel; /* NULL: the only one of the module */
    unsigned grid[3];
    unsigned block[3];       /* zeros: what the kernel requires */
    unsigned cluster[3];     /* zeros: what the kernel requires, or one CTA */
    size_t shared;           /* bytes of dynamic shared memory */
    void *const *parameters; /* a pointer to each, as cuLaunchKernel takes them */
    size_t parameter_count;
    unsigned timeout;  /* seconds of processor time; 0: no bound */
    int dependent;     /* it may begin while the launch before it runs (programmatic dependent launch) */
    weir_write *print; /* takes what the kernel prints; may be NULL */
    void *print_to;
    weir_write *print_error; /* takes what threads print whose assertion fails, with print_to; may be NULL */
} weir_device_launch;

/* How many parameters a kernel has; of the first `most` the size in bytes. 0: there is no such kernel. */
WEIR_API size_t weir_device_parameters(weir_device *device, weir_module *module, const char *kernel, size_t *sizes,
                                       size_t most);
/* The same, with where each begins in the block of all of them. */
WEIR_API size_t weir_device_layout(weir_device *device, weir_module *module, const char *kernel, size_t *offsets,
                                   size_t *sizes, size_t most);

/* A tensor map for tiled copies, as cuTensorMapEncodeTiled takes it; dimension 0 is the innermost. */
typedef struct weir_tensormap {
    unsigned type; /* CUtensorMapDataType */
    unsigned rank;
    uint64_t address;
    uint64_t sizes[5], strides[5]; /* strides: bytes from one element to the next; the first is not looked at */
    uint32_t box[5], steps[5];     /* steps: of elements that are copied; 0 is 1 */
    unsigned interleave, swizzle;  /* as in CUtensorMapInterleave and CUtensorMapSwizzle */
    unsigned fill;                 /* 0: zeros outside of the tensor, 1: NaN */
} weir_tensormap;
/* The bytes of a map for kernels on a device. 0, or -1 if there is no such type or rank. */
WEIR_API int weir_device_tensormap(const weir_tensormap *map, unsigned char bytes[128]);

/* What a texture or surface object stands for: bytes that lie in memory of the device, 16-byte aligned; their address
 * is its handle. Kinds, modes and filters have CUDA's numbers. 0, or -1 if there is no such texture. */
typedef struct weir_texture {
    uint64_t address;
    uint64_t pitch, slice;     /* bytes from one row, and layer or slice, to the next */
    unsigned size[3], layers;  /* elements; 0: it has no such dimension; layers 0: it has none. Of a cube, 6 each */
    unsigned channels, bits;   /* of each channel */
    unsigned kind;             /* 0 signed, 1 unsigned, 2 real */
    unsigned mode[3];          /* 0 wrap, 1 clamp, 2 mirror, 3 border */
    int linear, normalized;    /* filtered; coordinates are of 0 to 1 */
    int floats;                /* integers are read as reals of 0 to 1, or -1 to 1 */
    int surface, cube, buffer; /* buffer: of linear memory */
    float border[4];
} weir_texture;
WEIR_API int weir_device_texture(const weir_texture *texture, unsigned char bytes[128]);

/* How a launch ended. Memory has its results after WEIR_DEVICE_DONE, and is as it was before after all others. */
typedef enum weir_device_end {
    WEIR_DEVICE_DONE,
    WEIR_DEVICE_INVALID, /* the launch does not fit the kernel */
    WEIR_DEVICE_ADDRESS, /* an access to memory that is not there */
    WEIR_DEVICE_TRAP,
    WEIR_DEVICE_FAULT,       /* what the hardware does not allow otherwise: barriers, masks, ... */
    WEIR_DEVICE_HANG,        /* no thread can go on */
    WEIR_DEVICE_UNSUPPORTED, /* an instruction that Weir cannot run */
    WEIR_DEVICE_LIMIT,       /* time, or memory */
    WEIR_DEVICE_ALIGNMENT,   /* an access whose address is no multiple of its size */
    WEIR_DEVICE_ASSERTION,   /* an assertion failed */
} weir_device_end;
/* Runs every CTA of the launch. */
WEIR_API weir_device_end weir_device_run(weir_device *device, weir_module *module, const weir_device_launch *launch);
/* Bytes that a launch touches: `count` pieces, each `stride` behind the one before it. */
enum {
    WEIR_TOUCH_READ = 1,
    WEIR_TOUCH_WRITE = 2,
    WEIR_TOUCH_STRONG_READ = 4, /* by atomics, volatile accesses and the like */
    WEIR_TOUCH_STRONG_WRITE = 8,
    WEIR_TOUCH_EARLY = 16 /* by a dependent launch, before it has waited for the launch before it */
};
typedef struct weir_device_touch {
    uint64_t address, bytes, stride, count;
    unsigned how; /* WEIR_TOUCH_... */
} weir_device_touch;
/* Whether launches that are run from now on say what they touch. WEIR_WATCH_THREADS: and threads of launches that take
 * turns with other processes, which cannot be checked by themselves, are held against each other as they run. */
enum { WEIR_WATCH_THREADS = 2 };
WEIR_API void weir_device_watch(weir_device *device, int on);
/* A sentence if threads of the last such launch race, or were not looked at; else "". */
WEIR_API const char *weir_device_threads(const weir_device *device);
/* What the last launch has touched, until the next one runs; *waits: of a dependent launch, 1 if every CTA has
 * waited for the launch before it, 2 if each did so before it let the next launch begin, else 0. NULL: it is not known.
 */
WEIR_API const weir_device_touch *weir_device_touches(const weir_device *device, size_t *count, int *waits);
/* What warps of the last launch have done, where there is memory that other processes access, too: accesses to that,
 * and what orders them: strong accesses to any memory, fences, barriers. In the order of their times (CLOCK_MONOTONIC,
 * nanoseconds). */
enum { WEIR_STEP_ACCESS, WEIR_STEP_FENCE, WEIR_STEP_ARRIVE, WEIR_STEP_PASS };
typedef struct weir_device_step {
    uint64_t time;
    uint64_t address, bytes; /* of barriers: the number of its phase; bytes 0: an access that was made again */
    unsigned warp;           /* of the grid */
    unsigned what;           /* WEIR_STEP_... */
    unsigned kind;           /* 0 reads, 1 writes, 2 updates */
    unsigned order;          /* 0 weak, 1 relaxed, 2 acquire, 3 release, 4 acq_rel */
    unsigned scope;          /* 0 none, 1 cta, 2 cluster, 3 gpu, 4 sys */
    const char *file;        /* of the source, file_size bytes; NULL: it is not known */
    size_t file_size;
    unsigned line;
} weir_device_step;
/* Until the next launch runs; `shape`: CTAs, warps of a CTA, CTAs of a cluster. NULL: there are none; or they are not
 * known, and *problem says why. */
WEIR_API const weir_device_step *weir_device_steps(const weir_device *device, size_t *count, unsigned shape[3],
                                                   const char **problem);
/* Checks the launch as weir_run does, with the data that is in memory now; memory is the same afterwards. Of the
 * options those on launches do not count. NULL if there is no memory. The result is freed before the device, and before
 * its module. */
WEIR_API weir_result *weir_device_check(weir_device *device, weir_module *module, const weir_device_launch *launch,
                                        const weir_run_options *options);
/* Whether a proof of the kernel (weir_proof_make) covers the launch: 1; 0, and *lacks (or NULL) says why not, as long
 * as the proof is there. */
WEIR_API int weir_device_covers(weir_device *device, weir_module *module, const weir_device_launch *launch,
                                const weir_proof *proof, const char **lacks);
/* The launch as a launch file (docs/launch.md), with at most so many bytes of each buffer. 0, or -1 with an error. */
WEIR_API int weir_device_launch_file(weir_device *device, weir_module *module, const weir_device_launch *launch,
                                     size_t most, weir_write *write, void *to);
/* The variables of a module in global memory lie from there on, before a kernel of it is asked for: how many bytes they
 * take, at most `room`; 0: there are none; SIZE_MAX: they do not fit, or the module has no kernel that can be read. */
WEIR_API size_t weir_device_place(weir_device *device, weir_module *module, void *at, size_t room);
/* A variable of such a module, in global memory or const memory: its bytes are there for the caller. 0, or -1 if there
 * is no such variable. */
typedef struct weir_device_variable {
    uint64_t address; /* for kernels; of const memory, there */
    void *bytes;
    size_t size;
    int constant;
} weir_device_variable;
WEIR_API int weir_device_variable_of(weir_device *device, weir_module *module, const char *name,
                                     weir_device_variable *variable);
/* What a kernel takes and requires. 0, or -1 if there is no such kernel. */
typedef struct weir_device_kernel {
    size_t parameters;
    size_t shared;        /* bytes of static shared memory */
    size_t constant;      /* bytes of const memory of its module */
    size_t local;         /* bytes of local memory of a thread, without registers that are spilled */
    unsigned most;        /* threads of a CTA at most; 0: not said */
    unsigned required[3]; /* threads of a CTA; 0: not said */
    unsigned cluster[3];  /* CTAs of a cluster; 0: not said */
} weir_device_kernel;
WEIR_API int weir_device_kernel_of(weir_device *device, weir_module *module, const char *name,
                                   weir_device_kernel *kernel);
/* Kernels of the module are not kept for later launches any more: before it is freed. */
WEIR_API void weir_device_forget(weir_device *device, const weir_module *module);

#ifdef __cplusplus
}
#endif

#endif
