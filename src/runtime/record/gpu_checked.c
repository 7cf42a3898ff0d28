/* Mode shadow: kernels check themselves against shadow memory (gpu_shadow.h). Memory that the program allocates is
 * placed in a range with its shadow; launches are made one after the other, and each leaves a recording of what it
 * found. */
#include "runtime/hooks.h"
#include "runtime/record/gpu.h"
#include "runtime/shadow/gpu_shadow.h"

#include <stdlib.h>
#include <unistd.h>

enum { DEVICES = 64, PITCH = 512, NAME_BYTES = 256 };

typedef struct Shadowed {
    bool asked;
    GpuShadow *shadow;
    const char *why; /* there is none: one sentence */
    char name[NAME_BYTES];
} Shadowed;

static Shadowed devices[DEVICES];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* of devices, and of a launch until it is over */

static void *resolve(const char *name) {
    return driver_symbol(name);
}

/* Of the device whose context is current; NULL: there is no context. The mutex is held. */
static Shadowed *current(void) {
    const GpuDriver *driver = gpu_driver(NULL);
    int device = 0;
    Handle context = NULL;
    if (!driver || driver->context_current(&context) != 0 || !context || driver->context_device(&device) != 0 ||
        device < 0 || device >= DEVICES)
        return NULL;
    Shadowed *of = &devices[device];
    if (!of->asked) {
        GpuShadowOptions options = {.seed_layout = gpu_options()->instrument.seed_layout};
        of->asked = true;
        driver->device_name(of->name, sizeof of->name, device);
        of->shadow = gpu_shadow_open(resolve, device, &options, &of->why);
    }
    return of;
}

/* ---- Memory -------------------------------------------------------------------------------------- */

bool checked_allocate(DevicePointer *to, size_t bytes, Result *result) {
    if (!gpu_checks() || !bytes)
        return false;
    pthread_mutex_lock(&mutex);
    int mode = gpu_driver(NULL) ? gpu_relax() : 0;
    Shadowed *of = current();
    bool there = of && of->shadow;
    if (there)
        *result = gpu_shadow_allocate(of->shadow, bytes, to);
    if (gpu_driver(NULL))
        gpu_relaxed(mode);
    pthread_mutex_unlock(&mutex);
    return there;
}

bool checked_pitch(DevicePointer *to, size_t *pitch, size_t width, size_t height, Result *result) {
    size_t rounded = (width + PITCH - 1) / PITCH * PITCH;
    if (!checked_allocate(to, rounded * height, result))
        return false;
    *pitch = rounded;
    return true;
}

bool checked_free(DevicePointer memory, Result *result) {
    bool held = false;
    if (!gpu_checks() || !memory)
        return false;
    pthread_mutex_lock(&mutex);
    for (unsigned i = 0; i < DEVICES && !held; i++) {
        uint64_t base, bytes;
        held = devices[i].shadow && gpu_shadow_holds(devices[i].shadow, memory, &base, &bytes);
        if (held && capture_underway()) { /* what runs may use it, and cannot be waited for: it stays */
            *result = 0;
        } else if (held) {
            int mode = gpu_relax();
            gpu_driver(NULL)->context_wait(); /* what runs may use it */
            *result = gpu_shadow_release(devices[i].shadow, memory);
            gpu_relaxed(mode);
        }
    }
    pthread_mutex_unlock(&mutex);
    return held;
}

/* For PyTorch's CUDAPluggableAllocator. */
EXPORTED void *weir_gpu_alloc(ssize_t size, int device, void *stream) {
    DevicePointer memory = 0;
    (void)device, (void)stream; /* its context is current */
    return size > 0 && !cuMemAlloc_v2(&memory, (size_t)size) ? (void *)(uintptr_t)memory : NULL;
}

EXPORTED void weir_gpu_free(void *memory, ssize_t size, int device, void *stream) {
    (void)size, (void)device, (void)stream;
    cuMemFree_v2((uintptr_t)memory);
}

/* ---- Launches ------------------------------------------------------------------------------------ */

/* Tensor maps among the parameters that the program had encoded. */
static uint32_t take_maps(const GpuKernel *kernel, const uint8_t *values, ShadowMap maps[SHADOW_MAPS]) {
    static const uint32_t element_bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    uint32_t count = 0;
    pthread_mutex_lock(&hook_mutex);
    for (size_t i = 0; i < kernel->parameter_count && count < SHADOW_MAPS; i++) {
        const GpuParameter *parameter = &kernel->parameters[i];
        const CaptureTensorMap *map =
            parameter->bytes == TENSOR_MAP_BYTES ? map_find(values + parameter->offset) : NULL;
        if (!map || (size_t)map->type >= sizeof element_bytes / sizeof *element_bytes)
            continue;
        ShadowMap *to = &maps[count++];
        *to = (ShadowMap){.parameter = (uint32_t)parameter->offset + 1,
                          .rank = map->rank,
                          .element = element_bytes[map->type],
                          .address = map->address};
        for (unsigned k = 0; k < map->rank && k < SHADOW_DIMS; k++) {
            to->size[k] = (uint32_t)map->sizes[k];
            to->box[k] = map->box[k];
            to->stride[k] = k ? map->strides[k] : to->element;
        }
    }
    pthread_mutex_unlock(&hook_mutex);
    return count;
}

static void write_result(const Shadowed *of, const GpuKernel *kernel, const SeenLaunch *launch, const uint8_t *values,
                         const GpuShadowResult *result) {
    Recording recording = {
        .launch = {.abi = RECORDING_ABI,
                   .flags = launch->dependent ? RECORDING_DEPENDENT : 0,
                   .shared = launch->shared,
                   .spaces = kernel->module->spaces,
                   .options = kernel->module->options,
                   .chunk = 64,
                   .tag = 1,
                   .number = gpu_launches() - 1},
        .kernel = kernel->name,
        .device = of->name,
        .ptx = {kernel->module->ptx, kernel->module->ptx_bytes},
        .parameters = values,
        .parameter_bytes = kernel->parameter_bytes,
        .shadow = {(const char *)result, offsetof(GpuShadowResult, reports) + result->count * sizeof *result->reports}};
    size_t count;
    for (int axis = 0; axis < 3; axis++) {
        uint32_t compiled = kernel->cluster[axis], asked = launch->cluster[axis];
        recording.launch.grid[axis] = launch->grid[axis];
        recording.launch.block[axis] = launch->block[axis];
        recording.launch.cluster[axis] = asked ? asked : compiled ? compiled : 1;
    }
    pthread_mutex_lock(&hook_mutex);
    const CaptureAllocation *all = memory_all(&count);
    RecordingMemory *memory = calloc(count + 1, sizeof *memory);
    for (size_t i = 0; memory && i < count; i++)
        memory[i] = (RecordingMemory){all[i].begin, all[i].bytes};
    pthread_mutex_unlock(&hook_mutex);
    recording.sites = gpu_site_table(kernel->module, kernel, launch->block);
    recording.memory = memory;
    recording.memory_count = memory ? count : 0;
    drain_write(&recording, 0);
    free(memory);
}

/* Whether something is to be said of a launch that is like others that nothing was to be said of. */
static bool is_reporting(const GpuShadowResult *result) {
    return result->count || result->state.trouble;
}

/* The mutex is held. */
static Result check(const SeenLaunch *launch, GpuKernel *kernel, Handle stream, const uint8_t *values, bool again,
                    const char **problem) {
    static GpuShadowResult result;
    Shadowed *of = current();
    ShadowMap maps[SHADOW_MAPS];
    ShadowLaunch ours;
    GpuShadowShape shape = {.resident = gpu_resident(launch, launch->function), .maps = maps, .stream = stream};
    *problem = !of ? "there is no context" : of->why;
    if (!of || !of->shadow)
        return 0;
    for (int axis = 0; axis < 3; axis++) {
        uint32_t compiled = kernel->cluster[axis], asked = launch->cluster[axis];
        shape.grid[axis] = launch->grid[axis];
        shape.block[axis] = launch->block[axis];
        shape.cluster[axis] = asked ? asked : compiled ? compiled : 1;
    }
    shape.map_count = take_maps(kernel, values, maps);
    *problem = NULL;
    if (!gpu_shadow_prepare(of->shadow, &kernel->module->shadow, &shape, &ours, problem)) {
        *problem = *problem ? *problem : "its shadow could not be prepared";
        return 0;
    }
    Result made = launch_ours(launch, kernel, &ours, sizeof ours);
    if (made)
        return made;
    Result ended = gpu_shadow_collect(of->shadow, stream, &result);
    if (ended)
        gpu_unseen(kernel->name, "its launch failed with CUDA error %d, and what it found was lost", ended);
    else if (!again || is_reporting(&result))
        write_result(of, kernel, launch, values, &result);
    return 0;
}

Result checked_launch(const SeenLaunch *launch, GpuKernel *kernel, Handle stream, const uint8_t *values, bool again,
                      const char **problem) {
    pthread_mutex_lock(&mutex);
    Result result = check(launch, kernel, stream, values, again, problem);
    pthread_mutex_unlock(&mutex);
    return result;
}
