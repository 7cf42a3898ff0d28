/* Mode shadow: kernels check themselves against shadow memory (gpu_shadow.h). Memory that the program allocates is
 * placed in a range with its shadow; launches run as the program has them, those that may run at the same time by the
 * clocks of gpu_order.h, and each leaves a recording of what it found when it is over. */
#include "runtime/hooks.h"
#include "runtime/record/gpu.h"
#include "runtime/record/gpu_peers.h"
#include "runtime/shadow/gpu_shadow.h"

#include <stdlib.h>
#include <unistd.h>

enum { DEVICES = 64, PITCH = 512, NAME_BYTES = 256 };

typedef struct Shadowed {
    bool asked;
    GpuShadow *shadow;
    Handle context;  /* that it was made in */
    const char *why; /* there is none: one sentence */
    char name[NAME_BYTES];
} Shadowed;

/* One that is checked, until no launch can run at the same time any more. */
typedef struct CheckedLaunch {
    const Shadowed *of;
    GpuKernel *kernel;
    uint32_t grid[3], block[3], cluster[3], shared, stream;
    bool dependent, again;
    bool placed; /* its stream and number are known; */
    bool unsure; /* what was not seen may order it and another launch */
    uint64_t number, process;
    uint32_t unit;
    const GpuOrder *order; /* while it is prepared */
    uint8_t values[];
} CheckedLaunch;

static void ended(void *about, int status, const GpuShadowResult *result);

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
        GpuShadowOptions options = {.seed_layout = gpu_options()->instrument.seed_layout, .over = ended};
        of->asked = true;
        of->context = context;
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
            gpu_shadow_look(devices[i].shadow, false);
            *result = gpu_shadow_release(devices[i].shadow, memory);
            gpu_relaxed(mode);
        }
    }
    pthread_mutex_unlock(&mutex);
    return held;
}

typedef bool Belongs(const GpuShadow *shadow, uint64_t address);

/* The one that the address belongs to, with its context current; NULL: none, and the driver is to be asked. The mutex
 * is held until it is left. */
static Shadowed *enter(Belongs *belongs, DevicePointer memory, int *mode) {
    const GpuDriver *driver = gpu_checks() ? gpu_driver(NULL) : NULL;
    if (!driver)
        return NULL;
    pthread_mutex_lock(&mutex);
    for (unsigned i = 0; i < DEVICES; i++)
        if (devices[i].shadow && belongs(devices[i].shadow, memory)) {
            *mode = gpu_relax();
            driver->context_push(devices[i].context);
            return &devices[i];
        }
    pthread_mutex_unlock(&mutex);
    return NULL;
}
static void leave(int mode) {
    Handle context;
    gpu_driver(NULL)->context_pop(&context);
    gpu_relaxed(mode);
    pthread_mutex_unlock(&mutex);
}

static bool has(const GpuShadow *shadow, uint64_t address) {
    uint64_t base, bytes;
    return gpu_shadow_holds(shadow, address, &base, &bytes);
}

bool checked_reserve(DevicePointer *to, size_t bytes, size_t alignment) {
    DevicePointer got = 0;
    if (!gpu_checks())
        return false;
    pthread_mutex_lock(&mutex);
    int mode = gpu_driver(NULL) ? gpu_relax() : 0;
    Shadowed *of = current();
    if (of && of->shadow)
        got = gpu_shadow_reserve(of->shadow, bytes, alignment);
    if (gpu_driver(NULL))
        gpu_relaxed(mode);
    pthread_mutex_unlock(&mutex);
    if (got)
        *to = got;
    return got;
}

bool checked_unreserve(DevicePointer memory) {
    int mode;
    Shadowed *of = enter(gpu_shadow_lends, memory, &mode);
    bool done = of && gpu_shadow_unreserve(of->shadow, memory);
    if (of)
        leave(mode);
    return done;
}

Result checked_map(DevicePointer memory, size_t bytes) {
    int mode;
    Shadowed *of = enter(gpu_shadow_lends, memory, &mode);
    Result result = of ? gpu_shadow_map(of->shadow, memory, bytes) : 0;
    if (of)
        leave(mode);
    return result;
}

void checked_unmap(DevicePointer memory, size_t bytes) {
    int mode;
    Shadowed *of = enter(gpu_shadow_lends, memory, &mode);
    if (!of)
        return;
    gpu_shadow_unmap(of->shadow, memory, bytes);
    leave(mode);
}

bool checked_hand_over(IpcHandle *handle, DevicePointer memory) {
    GpuShadowHandle ours;
    int mode;
    Shadowed *of = enter(has, memory, &mode);
    bool done = of && gpu_shadow_hand_over(of->shadow, memory, &ours);
    if (of)
        leave(mode);
    if (done)
        memcpy(handle, &ours, sizeof ours);
    return done;
}

bool checked_take_over(DevicePointer *memory, const IpcHandle *handle, Result *result) {
    GpuShadowHandle theirs;
    uint64_t bytes = 0;
    memcpy(&theirs, handle, sizeof theirs);
    if (!gpu_checks() || !gpu_shadow_is_handle(&theirs))
        return false;
    pthread_mutex_lock(&mutex);
    int mode = gpu_driver(NULL) ? gpu_relax() : 0;
    Shadowed *of = current();
    *result = of && of->shadow ? gpu_shadow_take_over(of->shadow, &theirs, memory, &bytes) : INVALID_VALUE;
    if (gpu_driver(NULL))
        gpu_relaxed(mode);
    pthread_mutex_unlock(&mutex);
    if (!*result)
        GUARDED(memory_add(*memory, bytes, false));
    return true;
}

bool checked_hand_back(DevicePointer memory, Result *result) {
    int mode;
    Shadowed *of = enter(has, memory, &mode);
    if (of)
        gpu_shadow_look(of->shadow, false);
    bool done = of && gpu_shadow_hand_back(of->shadow, memory, result), gone = done && !has(of->shadow, memory);
    if (of)
        leave(mode);
    if (gone)
        GUARDED(memory_remove(memory));
    return done;
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

static Recording recording_of(const CheckedLaunch *launch) {
    const GpuKernel *kernel = launch->kernel;
    Recording recording = {.launch = {.abi = RECORDING_ABI,
                                      .flags = launch->dependent ? RECORDING_DEPENDENT : 0,
                                      .shared = launch->shared,
                                      .spaces = kernel->module->spaces,
                                      .options = kernel->module->options,
                                      .chunk = 64,
                                      .tag = 1,
                                      .number = launch->number},
                           .kernel = kernel->name,
                           .device = launch->of->name,
                           .ptx = {kernel->module->ptx, kernel->module->ptx_bytes},
                           .parameters = launch->values,
                           .parameter_bytes = kernel->parameter_bytes};
    for (int axis = 0; axis < 3; axis++) {
        recording.launch.grid[axis] = launch->grid[axis];
        recording.launch.block[axis] = launch->block[axis];
        recording.launch.cluster[axis] = launch->cluster[axis];
    }
    recording.sites = gpu_site_table(kernel->module, kernel, launch->block);
    return recording;
}

/* Launches that its reports name, each as a recording that has nothing but its text. */
static char *others_of(const CheckedLaunch *launch, const GpuShadowResult *result, size_t *bytes) {
    static const ShadowState nothing;
    char *text = NULL;
    bool done[SHADOW_TAGS + 1] = {false};
    FILE *to = open_memstream(&text, bytes);
    for (uint32_t i = 0; to && i < result->count; i++) {
        uint32_t tag = result->reports[i].other;
        const CheckedLaunch *other = tag ? gpu_shadow_about(launch->of->shadow, tag) : NULL;
        char *one = NULL;
        size_t size = 0;
        if (!other || done[tag])
            continue;
        Recording recording = recording_of(other);
        recording.shadow = (Str){(const char *)&nothing, sizeof nothing};
        FILE *into = open_memstream(&one, &size);
        bool good = into && recording_write(into, &recording);
        if (into)
            fclose(into);
        uint64_t head[] = {tag, size};
        if (good && fwrite(head, sizeof head, 1, to) == 1)
            fwrite(one, 1, size, to);
        free(one);
        done[tag] = true;
    }
    if (to)
        fclose(to);
    return text;
}

static bool is_in(const RecordingMemory *memory, uint32_t count, uint64_t address) {
    for (uint32_t i = 0; i < count; i++)
        if (address - memory[i].base < memory[i].bytes)
            return true;
    return false;
}

/* How many of the launch's signals are to be kept: all, if some are in memory that other processes have. */
static uint32_t signals_of(const GpuShadowResult *result, const RecordingMemory *shared, uint32_t count) {
    for (uint32_t i = 0; i < result->signal_count; i++)
        if (is_in(shared, count, result->signals[i].address))
            return result->signal_count;
    return 0;
}

/* What it has touched of memory that other processes have, as a section of a recording; empty: that is not known. */
static Str touched_by(const CheckedLaunch *launch, const GpuShadowResult *result) {
    enum { MOST_RUNS = 1 << 15, MOST_SHARED = 256 };
    static const uint64_t most_bytes = UINT64_C(1) << 28;
    const ShadowState *state = &result->state;
    RecordingMemory shared[MOST_SHARED];
    uint32_t count = 0, runs = 0, at = 0;
    uint64_t bytes = 0;
    bool lost = false;
    pthread_mutex_lock(&hook_mutex);
    while (count < MOST_SHARED && peers_next(&at, &shared[count]))
        bytes += shared[count++].bytes;
    pthread_mutex_unlock(&hook_mutex);
    if (!launch->placed || launch->dependent || count == MOST_SHARED || bytes > most_bytes)
        return (Str){NULL, 0};
    RecordingTouchedHead head = {.process = launch->process,
                                 .unit = launch->unit,
                                 .form = gpu_shadow_stamps(launch->of->shadow, state->tag),
                                 .signal_count = signals_of(result, shared, count)};
    size_t before = sizeof head + head.signal_count * sizeof *result->signals;
    char *section = malloc(before + MOST_RUNS * sizeof(RecordingTouched));
    RecordingTouched *first = section ? (RecordingTouched *)(section + before) : NULL;
    bool good = section;
    for (; runs < count && good; runs++)
        first[runs] =
            (RecordingTouched){.begin = shared[runs].base, .bytes = shared[runs].bytes, .how = RECORDING_LOOKED_AT};
    for (uint32_t i = 0; i < count && good; i++)
        good = gpu_shadow_touched(launch->of->shadow, state->tag, shared[i].base, shared[i].bytes, first, MOST_RUNS,
                                  &runs, &lost);
    if (!good) {
        free(section);
        return (Str){NULL, 0};
    }
    bool all = state->signals && state->signal_count <= SHADOW_SIGNALS && !(state->trouble & SHADOW_EPOCHS_OVER);
    head.flags = ((all || !state->row_count) && !state->outside ? RECORDING_TOUCHED_SIGNALS : 0) | (lost ? RECORDING_TOUCHED_LOST : 0);
    memcpy(section, &head, sizeof head);
    memcpy(section + sizeof head, result->signals, head.signal_count * sizeof *result->signals);
    return (Str){section, before + runs * sizeof *first};
}

static void write_result(const CheckedLaunch *launch, const GpuShadowResult *result) {
    static const char unsure[] =
        "it may or may not have run at the same time as launches that other things than streams, "
        "events and the host's waits order: races with these were not checked";
    size_t count, other_bytes = 0;
    Recording recording = recording_of(launch);
    char *others = others_of(launch, result, &other_bytes);
    recording.shadow =
        (Str){(const char *)result, offsetof(GpuShadowResult, reports) + result->count * sizeof *result->reports};
    recording.beside = (Str){others, other_bytes};
    recording.touched = peers_on() && !launch->again ? touched_by(launch, result) : (Str){NULL, 0};
    Text unseen = {0};
    if (launch->unsure)
        text_add(&unseen, unsure, sizeof unsure);
    pthread_mutex_lock(&hook_mutex);
    if (memory_twice())
        text_add(&unseen, TWO_ADDRESSES, sizeof TWO_ADDRESSES);
    recording.unseen = (Str){unseen.data, unseen.size};
    const CaptureAllocation *all = memory_all(&count);
    RecordingMemory *memory = calloc(count + 1, sizeof *memory);
    for (size_t i = 0; memory && i < count; i++)
        memory[i] = (RecordingMemory){all[i].begin, all[i].bytes};
    pthread_mutex_unlock(&hook_mutex);
    recording.memory = memory;
    recording.memory_count = memory ? count : 0;
    drain_write(&recording, 0);
    free(memory);
    free(others);
    text_free(&unseen);
    free((void *)(uintptr_t)recording.touched.data);
}

/* Whether something is to be said of a launch that is like others that nothing was to be said of. */
static bool is_reporting(const CheckedLaunch *launch, const GpuShadowResult *result) {
    uint64_t ctas = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    uint32_t cluster = launch->cluster[0] * launch->cluster[1] * launch->cluster[2];
    return result->count || result->state.trouble || (result->state.waits && result->state.waited < ctas / cluster);
}

static void ended(void *about, int status, const GpuShadowResult *result) {
    const CheckedLaunch *launch = about;
    if (status)
        gpu_unseen(launch->kernel->name, "its launch failed with CUDA error %d, and what it found was lost", status);
    else if (!launch->again || is_reporting(launch, result))
        write_result(launch, result);
}

static RecordingKnown known_of(const GpuOrder *order, uint32_t stream) {
    for (uint32_t i = 0; i < order->order.known_count; i++)
        if (order->known[i].stream == stream)
            return order->known[i];
    return (RecordingKnown){0};
}

/* Whether a launch that is prepared may run at the same time as one that was made before. */
static unsigned may_run_beside(const void *about, const void *earlier) {
    CheckedLaunch *launch = (CheckedLaunch *)(uintptr_t)about;
    const CheckedLaunch *other = earlier;
    if (!launch->placed || !other->placed) {
        launch->unsure = true;
        return 0;
    }
    RecordingKnown known = known_of(launch->order, other->stream);
    if (other->number < known.begun)
        return 0;
    if (other->number >= known.waited &&
        (other->number < known.maybe || launch->order->order.flags & RECORDING_ORDER_OPEN)) {
        launch->unsure = true;
        return 0;
    }
    return GPU_SHADOW_BEGUN | (other->number < known.waited ? 0 : GPU_SHADOW_WAITED);
}

/* NULL: there is no memory. */
static CheckedLaunch *describe(const SeenLaunch *launch, GpuKernel *kernel, const uint8_t *values, bool again,
                               uint64_t number, const GpuOrder *order) {
    CheckedLaunch *made = calloc(1, sizeof *made + kernel->parameter_bytes);
    if (!made)
        return NULL;
    *made = (CheckedLaunch){.kernel = kernel,
                            .shared = launch->shared,
                            .again = again,
                            .number = number,
                            .placed = order->there,
                            .process = order->order.process,
                            .unit = order->order.unit,
                            .stream = order->order.stream,
                            .order = order};
    RecordingKnown own = order->there ? known_of(order, order->order.stream) : (RecordingKnown){0};
    made->dependent = launch->dependent && (!order->there || own.waited > own.begun);
    memcpy(made->values, values, kernel->parameter_bytes);
    for (int axis = 0; axis < 3; axis++) {
        uint32_t compiled = kernel->cluster[axis], asked = launch->cluster[axis];
        made->grid[axis] = launch->grid[axis];
        made->block[axis] = launch->block[axis];
        made->cluster[axis] = asked ? asked : compiled ? compiled : 1;
    }
    return made;
}

/* The mutex is held. */
static Result check(const SeenLaunch *launch, GpuKernel *kernel, Handle stream, CheckedLaunch *about,
                    const char **problem) {
    Shadowed *of = current();
    ShadowMap maps[SHADOW_MAPS];
    ShadowLaunch ours;
    GpuShadowShape shape = {.resident = gpu_resident(launch, launch->function),
                            .maps = maps,
                            .dependent = about->dependent,
                            .signals = peers_on(),
                            .about = about,
                            .beside = may_run_beside};
    *problem = !of ? "there is no context" : of->why;
    if (!of || !of->shadow) {
        free(about);
        return 0;
    }
    about->of = of;
    memcpy(shape.grid, about->grid, sizeof shape.grid);
    memcpy(shape.block, about->block, sizeof shape.block);
    memcpy(shape.cluster, about->cluster, sizeof shape.cluster);
    shape.map_count = take_maps(kernel, about->values, maps);
    *problem = NULL;
    if (!gpu_shadow_prepare(of->shadow, &kernel->module->shadow, &shape, &ours, problem)) {
        *problem = *problem ? *problem : "its shadow could not be prepared";
        return 0;
    }
    Result made = launch_ours(launch, kernel, &ours, sizeof ours);
    if (made)
        gpu_shadow_undo(of->shadow);
    else
        gpu_shadow_made(of->shadow, stream);
    return made;
}

Result checked_launch(const SeenLaunch *launch, GpuKernel *kernel, Handle stream, const CheckedPlace *place,
                      const char **problem) {
    CheckedLaunch *about = describe(launch, kernel, place->values, place->again, place->number, place->order);
    *problem = "there was no memory";
    if (!about)
        return 0;
    pthread_mutex_lock(&mutex);
    Result result = check(launch, kernel, stream, about, problem);
    pthread_mutex_unlock(&mutex);
    return result;
}

void checked_look(bool waits) {
    bool any = false;
    if (!gpu_checks() || (!waits && (capture_underway() || pthread_mutex_trylock(&mutex) != 0)))
        return;
    if (waits)
        pthread_mutex_lock(&mutex);
    for (unsigned i = 0; i < DEVICES; i++)
        any |= devices[i].shadow != NULL;
    int mode = any ? gpu_relax() : 0;
    for (unsigned i = 0; i < DEVICES && any; i++)
        if (devices[i].shadow)
            gpu_shadow_look(devices[i].shadow, waits);
    if (any)
        gpu_relaxed(mode);
    pthread_mutex_unlock(&mutex);
}
