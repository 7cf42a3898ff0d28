/* Between the files of the library that `weir exec` loads into programs: what a launch is made of, and who keeps what.
 * One mutex, which the hooks hold, guards all of it. */
#ifndef RUNTIME_CAPTURE_CAPTURE_H
#define RUNTIME_CAPTURE_CAPTURE_H

#include "runtime/driver.h"

#include <stdbool.h>
#include <stdio.h>

/* ---- The driver behind (capture_driver.c) -------------------------------------------------------- */

/* dlsym as it is without this library, which looks at where it was called from for what RTLD_NEXT means. So the
 * functions between a program and it end with a jump: clang and gcc 15 do that or report an error, and tests/exec/jumps
 * looks at what others made. */
void *next_dlsym(void *handle, const char *name);
#if __has_attribute(musttail)
#define JUMP __attribute__((musttail)) return
#else
#define JUMP return
#endif
/* An entry point of the real driver by the name that it is exported under; NULL: this driver does not have it. Keeps
 * the driver loaded. */
void *driver_symbol(const char *name);

/* ---- Memory (capture_memory.c) ------------------------------------------------------------------- */

typedef struct CaptureAllocation {
    uint64_t begin, bytes;
    bool host;    /* readable without the driver */
    bool managed; /* it moves between the host and devices */
    bool pooled;  /* it is allocated in the order of a stream */
} CaptureAllocation;

void memory_add(uint64_t begin, uint64_t bytes, bool host);
void memory_add_managed(uint64_t begin, uint64_t bytes);
void memory_add_pooled(uint64_t begin, uint64_t bytes);
void memory_remove(uint64_t begin);
/* The allocation that an address is in: one that was seen, else what the driver says. NULL: none. */
const CaptureAllocation *memory_find(uint64_t address);
/* All that were seen. */
const CaptureAllocation *memory_all(size_t *many);
/* Physical memory (a handle, from an offset on) is mapped at an address, or no more. */
void memory_map(uint64_t begin, uint64_t bytes, uint64_t offset, uint64_t handle);
void memory_unmap(uint64_t begin, uint64_t bytes);
/* The handle may mean other memory from now on; what is mapped stays. */
void memory_release(uint64_t handle);
/* What is mapped, pieces that lie side by side as one: from the *at-th piece on, which becomes the one behind it.
 * False: there is no more. */
bool memory_mapped(size_t *at, CaptureAllocation *run);
/* Whether some of it is mapped at two addresses. */
bool memory_twice(void);
/* Whether it may be one: memory was allocated less than 4 GiB away from it. The heap that kernels allocate from lies
 * there, of which the driver says nothing. */
bool memory_near(uint64_t address);
/* Copies bytes as they are before the launch. False: the driver does not let it. */
bool memory_read(const CaptureAllocation *allocation, void *to, uint64_t bytes);

/* ---- Modules and kernels (capture_modules.c) ----------------------------------------------------- */

typedef struct CaptureModule {
    const void *image; /* a copy */
    size_t bytes;
    const char *ending; /* ".ptx", ".fatbin", ".cubin" */
    char *path;         /* of the first file that was written of it; NULL: none */
} CaptureModule;

/* As many bytes as an image has by what it says itself, and how a file of it ends; of a wrapper, what it wraps. */
const void *module_image(const void *image, size_t *bytes, const char **ending);
/* The bytes of a file, with a zero behind them, for free(); NULL: it cannot be read. */
char *module_read(const char *path);
/* A module or library was loaded from memory or from a file. */
void module_loaded(Handle handle, const void *image);
void module_loaded_from(Handle handle, const char *path);
/* `of` belongs to what `from` belongs to: a function to its module, a module to its library. */
void module_same(Handle of, Handle from);
/* The module of a function or kernel; NULL: it was never seen. */
CaptureModule *module_of(Handle function);
/* One that holds the kernel by that name, of those that the program and its libraries have in them; NULL: none. */
CaptureModule *module_with(const char *kernel);
/* Whether it holds PTX, not machine code alone. */
bool module_has_ptx(const CaptureModule *module);
/* The image as a file; of a fatbin its PTX. False: it could not be written. */
bool module_write(FILE *to, const CaptureModule *module);
/* The name of a function or a kernel; NULL: the driver does not say. */
const char *function_name(Handle function);
/* Offset and size of its parameter; false: it has no such parameter. */
bool function_parameter(Handle function, size_t index, size_t *offset, size_t *bytes);

/* ---- Tensor maps (capture_maps.c) ---------------------------------------------------------------- */

typedef struct CaptureTensorMap {
    unsigned char bytes[TENSOR_MAP_BYTES];
    int type, interleave, swizzle, promotion, fill;
    unsigned rank;
    uint64_t address, sizes[TENSOR_MAP_DIMS], strides[TENSOR_MAP_DIMS]; /* strides in bytes, from dimension 1 on */
    uint32_t box[TENSOR_MAP_DIMS], steps[TENSOR_MAP_DIMS];
} CaptureTensorMap;

void map_add(const CaptureTensorMap *map);
const CaptureTensorMap *map_find(const unsigned char *bytes);

/* ---- Launches (capture_launch.c) ----------------------------------------------------------------- */

typedef struct SeenLaunch SeenLaunch;
/* Hands it to the driver, with these parameters. */
typedef Result LaunchGo(const SeenLaunch *launch, void **parameters, void **extra);
struct SeenLaunch {
    Handle function, stream;
    uint32_t grid[3], block[3], cluster[3], shared;
    bool dependent, cooperative;
    bool remote;                  /* its memory synchronization domain is not the default one */
    Handle triggered[2];          /* events that it records while it runs; NULL: none */
    bool per_thread;              /* no stream is that of the thread */
    bool later;                   /* a node of a graph: what memory holds when it runs is not known now */
    bool again;                   /* it is recorded though equal ones were, because of others beside it */
    bool maybe;                   /* in the body of a conditional node, which may not be run */
    bool loops;                   /* ... or several times */
    struct GpuOutstanding **held; /* not NULL: `go` does not make it yet, and what records it comes here; gpu_held */
    Handle in;                    /* ... where it is made then; `stream` is one of those that stand for the order */
    void **parameters, **extra;
    LaunchGo *go;
    const void *call; /* what `go` needs beside it */
};

void launch_seen(const SeenLaunch *launch);
/* Whether all textures of the program so far are CUDA arrays, and none of these is a surface (hooks_memory.c). */
bool textures_are_arrays(void);
/* Whether any stream of the program is being captured (hooks_graphs.c). */
bool capture_underway(void);

/* ---- The folder (capture_folder.c) --------------------------------------------------------------- */

/* Where files go; NULL: nothing is captured. */
const char *folder_path(void);
/* One line of capture.log, each line once. */
void folder_log(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A number that the environment gives, else `otherwise`. */
uint64_t folder_number(const char *variable, uint64_t otherwise);

#endif
