/* Memory with shadow memory beside it, for kernels that check themselves (trace/shadow.h): one range of addresses is
 * reserved, allocations are mapped into its first part, their cells into the second, so that a cell is found by
 * arithmetic. Launches run as the program has them: prepare, launch, made; what one has found is told when it is over.
 *
 * It knows the driver by the functions that it is given, and nothing else of the program that it runs in. */
#ifndef RUNTIME_SHADOW_GPU_SHADOW_H
#define RUNTIME_SHADOW_GPU_SHADOW_H

#include "runtime/shadow/gpu_map.h"
#include "trace/file.h"
#include "trace/shadow.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct GpuShadow GpuShadow;

/* Its first sizeof(ShadowState) + count * sizeof(ShadowReport) bytes are what a recording has as RECORDING_SHADOW. */
typedef struct GpuShadowResult {
    ShadowState state; /* the counters behind `trouble` */
    ShadowReport reports[SHADOW_REPORTS];
    uint32_t count; /* of them that are there */
    ShadowSignal signals[SHADOW_SIGNALS];
    uint32_t signal_count; /* of them that are there; more were made if the state says so */
} GpuShadowResult;

typedef struct GpuShadowOptions {
    bool seed_layout;   /* its cells have no tags: one launch at a time */
    uint64_t range;     /* bytes of addresses for allocations; 0: four times the device's memory */
    uint64_t row_bytes; /* the most that clocks of flags may take; 0: 64 MiB */
    /* A launch is over, and has found that; or it failed with a status, and there is no result. */
    void (*over)(void *about, int status, const GpuShadowResult *result);
} GpuShadowOptions;

/* For a device, whose context is current. NULL, with a sentence. */
GpuShadow *gpu_shadow_open(GpuResolve *resolve, int device, const GpuShadowOptions *options, const char **problem);
void gpu_shadow_close(GpuShadow *shadow);

/* In place of cuMemAlloc and cuMemFree. 0, or what the driver says. Whole pages of the device (2 MiB) are taken. */
int gpu_shadow_allocate(GpuShadow *shadow, uint64_t bytes, uint64_t *address);
int gpu_shadow_release(GpuShadow *shadow, uint64_t address);
/* Whether an address is in the range; `*base`, `*bytes`: of its allocation, as it was asked for. */
bool gpu_shadow_holds(const GpuShadow *shadow, uint64_t address, uint64_t *base, uint64_t *bytes);

/* An allocation as other processes get it, in place of a CUipcMemHandle. */
typedef struct GpuShadowHandle {
    char bytes[64];
} GpuShadowHandle;
bool gpu_shadow_hand_over(GpuShadow *shadow, uint64_t address, GpuShadowHandle *handle);
/* Whether it is one of ours; the allocation that it is of, in this process: 0, or what the driver says; and back. */
bool gpu_shadow_is_handle(const GpuShadowHandle *handle);
int gpu_shadow_take_over(GpuShadow *shadow, const GpuShadowHandle *handle, uint64_t *address, uint64_t *bytes);
bool gpu_shadow_hand_back(GpuShadow *shadow, uint64_t address, int *result);

/* In place of cuMemAddressReserve and cuMemAddressFree: addresses to which the program maps memory itself. 0: there are
 * none, and the driver has others. */
uint64_t gpu_shadow_reserve(GpuShadow *shadow, uint64_t bytes, uint64_t alignment);
bool gpu_shadow_unreserve(GpuShadow *shadow, uint64_t address);
/* Whether the address is of those; the program has mapped memory there: it gets cells; it has unmapped it. */
bool gpu_shadow_lends(const GpuShadow *shadow, uint64_t address);
int gpu_shadow_map(GpuShadow *shadow, uint64_t address, uint64_t bytes);
void gpu_shadow_unmap(GpuShadow *shadow, uint64_t address, uint64_t bytes);
/* Adds what the launch of that tag, which is over, has touched there, and no other launch has since: `*lost` if some
 * has, or could run at the same time. False: it cannot be said, or it is more than `room`. */
bool gpu_shadow_touched(const GpuShadow *shadow, uint32_t tag, uint64_t address, uint64_t bytes, RecordingTouched *to,
                        uint32_t room, uint32_t *count, bool *lost);

/* How stamps of that launch are laid out (RecordingTouchedHead.form). */
uint32_t gpu_shadow_stamps(const GpuShadow *shadow, uint32_t tag);

/* The 16 bytes of the module's variable `weir_shadow`. */
typedef struct GpuShadowMark {
    uint32_t abi, sites, flags, cell;
} GpuShadowMark;

typedef struct GpuShadowShape {
    uint32_t grid[3], block[3], cluster[3];
    uint32_t resident; /* CTAs that can run at the same time: per SM, times SMs */
    const ShadowMap *maps;
    uint32_t map_count;
    bool dependent; /* it may begin before the launch before it has ended */
    bool signals;   /* what may order it and launches of other processes is wanted */
    void *about;    /* of the launch, for free(): until no launch can run at the same time any more */
    /* Of it and one that was made earlier: GPU_SHADOW_BEGUN, ...; NULL: each is over when the next one begins. */
    unsigned (*beside)(const void *about, const void *earlier);
} GpuShadowShape;
/* The two may run at the same time when it begins; and once it has waited for the launches before it. */
enum { GPU_SHADOW_BEGUN = 1, GPU_SHADOW_WAITED = 2 };

/* Fills in the last parameter of the kernel, when all that has to be done before is done: nothing of it is in the
 * program's streams. False, with a sentence: the launch cannot be checked, and `about` is freed. */
bool gpu_shadow_prepare(GpuShadow *shadow, const GpuShadowMark *mark, const GpuShadowShape *shape, ShadowLaunch *launch,
                        const char **problem);

/* It was made in that stream, as prepared last; or it was not. */
void gpu_shadow_made(GpuShadow *shadow, void *stream);
void gpu_shadow_undo(GpuShadow *shadow);
/* Tells of launches that are over; or waits for all. */
void gpu_shadow_look(GpuShadow *shadow, bool waits);
/* What was given with the launch of that tag; NULL: it is not known any more. */
const void *gpu_shadow_about(const GpuShadow *shadow, uint32_t tag);

/* In place of gpu_shadow_made: waits for the stream, and fetches what the launch that was prepared last has reported.
 */
int gpu_shadow_collect(GpuShadow *shadow, void *stream, GpuShadowResult *result);

/* For PyTorch's CUDAPluggableAllocator, which has no context of its own: `weir_gpu_alloc` and `weir_gpu_free` of
 * libweir-gpu.so call the shadow of that device. */

#endif
