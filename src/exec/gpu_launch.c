/* Launches of instrumented kernels: whether one is recorded, and the parameter that it gets for it. */
#include "exec/gpu.h"

#include "base/hash.h"
#include "exec/hooks.h"

#include <stdlib.h>

/* Allocations as large as POOL may be of an allocator that hands out parts, which are nowhere nearer than NEAR. */
enum { ALIGNED = 16, NEAR = 512, POOL = 2 << 20, POINTERS_MOST = 64 };
enum { PARAMETER_BYTES = 1 << 15, OURS_MOST = 128, MOST_DIFFERENT = 100, MOST_APART = 4 };
enum { OUT_OF_MEMORY = 2, NO_RESOURCES = 701, TOO_LARGE = 720 }; /* CUDA_ERROR_...; TOO_LARGE: a cooperative launch */

pthread_mutex_t gpu_mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t launches;

uint64_t gpu_launches(void) {
    return launches;
}

/* ---- Parameters ---------------------------------------------------------------------------------- */

/* Parameters as one block, and its size; NULL: they are given one by one. */
static const char *packed(const SeenLaunch *launch, size_t *bytes) {
    const char *block = NULL;
    *bytes = 0;
    for (void **extra = launch->parameters ? NULL : launch->extra; extra && *extra != (void *)(uintptr_t)EXTRA_END;
         extra += 2) {
        if (*extra == (void *)(uintptr_t)EXTRA_POINTER)
            block = extra[1];
        else if (*extra == (void *)(uintptr_t)EXTRA_SIZE)
            *bytes = *(size_t *)extra[1];
    }
    return block;
}

/* The bytes of the parameters as the kernel sees them. */
static bool take_values(const GpuKernel *kernel, const SeenLaunch *launch, uint8_t *values) {
    size_t size;
    const char *block = packed(launch, &size);
    for (size_t i = 0; i < kernel->parameter_count; i++) {
        const GpuParameter *parameter = &kernel->parameters[i];
        const char *from = block ? block + parameter->offset : launch->parameters ? launch->parameters[i] : NULL;
        if (!from || parameter->offset + parameter->bytes > PARAMETER_BYTES ||
            (block && parameter->offset + parameter->bytes > size))
            return false;
        memcpy(values + parameter->offset, from, parameter->bytes);
    }
    return true;
}

static Result go_packed(const SeenLaunch *launch, const GpuKernel *kernel, const void *ours, size_t ours_bytes,
                        const char *block, size_t bytes) {
    char values[PARAMETER_BYTES + OURS_MOST] = {0};
    size_t size = kernel->ours + ours_bytes;
    void *extra[] = {(void *)(uintptr_t)EXTRA_POINTER, values, (void *)(uintptr_t)EXTRA_SIZE, &size,
                     (void *)(uintptr_t)EXTRA_END};
    if (size > sizeof values)
        return INVALID_VALUE;
    memcpy(values, block, bytes < kernel->ours ? bytes : kernel->ours);
    memcpy(values + kernel->ours, ours, ours_bytes);
    return launch->go(launch, NULL, extra);
}

Result launch_ours(const SeenLaunch *launch, const GpuKernel *kernel, const void *ours, size_t ours_bytes) {
    size_t bytes;
    const char *block = packed(launch, &bytes);
    if (block)
        return go_packed(launch, kernel, ours, ours_bytes, block, bytes);
    if (!launch->parameters && kernel->parameter_count)
        return launch->go(launch, NULL, launch->extra); /* the driver says what is wrong */
    void *parameters[kernel->parameter_count + 1];
    for (size_t i = 0; i < kernel->parameter_count; i++)
        parameters[i] = launch->parameters[i];
    parameters[kernel->parameter_count] = (void *)(uintptr_t)ours;
    return launch->go(launch, parameters, NULL);
}

static Result go_with(const SeenLaunch *launch, const GpuKernel *kernel, DevicePointer ours) {
    return launch_ours(launch, kernel, &ours, sizeof ours);
}

/* ---- Which are recorded -------------------------------------------------------------------------- */

/* The driver is asked only for what may be one: there are many other words in tensor maps. */
static const Allocation *allocation_of(uint64_t word) {
    return word >> 32 && !(word >> 48) ? memory_find(word) : NULL;
}

/* Of addresses: which are the same, how far those are apart that are near, and how they are aligned. Memory that is
 * somewhere else in each launch makes no other launch of it, but what overlaps in one of them alone does. */
typedef struct Pointers {
    uint64_t seen[POINTERS_MOST];
    uint32_t count;
} Pointers;

static uint64_t add_pointer(uint64_t key, Pointers *pointers, const Allocation *in, uint64_t address) {
    uint64_t about[3] = {address % ALIGNED, POINTERS_MOST, 0};
    uint64_t near = in->bytes < POOL && in->bytes > NEAR ? in->bytes : NEAR;
    for (uint32_t i = 0; i < pointers->count && about[1] == POINTERS_MOST; i++) {
        uint64_t apart = address - pointers->seen[i];
        if (apart + near < 2 * near) {
            about[1] = i;
            about[2] = apart;
        }
    }
    if (pointers->count < POINTERS_MOST)
        pointers->seen[pointers->count++] = address;
    return hash_bytes(key, about, sizeof about);
}

/* Of what tells launches apart: the shape, the numbers, and how addresses lie to each other; and on which of the first
 * streams it is: what is recorded of one alone cannot be held against the others. */
static uint64_t launch_key(const GpuKernel *kernel, const SeenLaunch *launch, const uint8_t *values, uint32_t stream) {
    uint64_t key = hash_bytes(HASH_START, launch->grid, sizeof launch->grid), word;
    Pointers pointers = {0};
    key = hash_bytes(key, launch->block, sizeof launch->block);
    key = hash_bytes(key, launch->cluster, sizeof launch->cluster);
    key = hash_bytes(key, &launch->shared, sizeof launch->shared);
    key = hash_bytes(key, &launch->dependent, sizeof launch->dependent);
    stream = stream < MOST_APART ? stream : MOST_APART;
    key = hash_bytes(key, &stream, sizeof stream);
    for (size_t i = 0; i < kernel->parameter_count; i++) {
        const GpuParameter *parameter = &kernel->parameters[i];
        for (size_t at = 0; at < parameter->bytes; at += 8) {
            size_t rest = parameter->bytes - at < 8 ? parameter->bytes - at : 8;
            memcpy(&word, values + parameter->offset + at, rest);
            const Allocation *in = rest < 8 ? NULL : allocation_of(word);
            if (!in)
                key = hash_bytes(key, values + parameter->offset + at, rest);
            else
                key = add_pointer(key, &pointers, in, word);
        }
    }
    return key;
}

/* Whether it was seen so often that it is not recorded again; *different: it was not, but many others were. */
static bool is_repeated(GpuKernel *kernel, uint64_t key, bool *different) {
    for (size_t i = 0; i < kernel->seen_count; i++)
        if (kernel->seen[i].key == key)
            return kernel->seen[i].times++ >= gpu_options()->launches;
    *different = kernel->seen_count == MOST_DIFFERENT;
    GpuSeen *more = *different ? NULL : realloc(kernel->seen, (kernel->seen_count + 1) * sizeof *more);
    if (!more)
        return *different;
    kernel->seen = more;
    kernel->seen[kernel->seen_count++] = (GpuSeen){.key = key, .times = 1};
    return gpu_options()->launches == 0;
}

/* Why a launch cannot be looked at by itself: it is a node of a graph, or nobody knows. NULL: it can. `not_done`: what
 * is not done with a node. */
static const char *why_not_alone(const SeenLaunch *launch, Handle stream, const char *not_done) {
    int status = 0;
    if (!launch->later && gpu_driver(NULL)->stream_capturing(stream, &status) != 0)
        return "the driver tells nothing of its stream: a launch before it may have failed";
    return launch->later || status ? not_done : NULL;
}

/* A flight, if it is to be recorded and can be; NULL: it is not, which is counted or said. */
static GpuFlight *choose(GpuContext *context, GpuKernel *kernel, const SeenLaunch *launch, Handle stream,
                         const GpuOrder *order) {
    uint8_t values[PARAMETER_BYTES];
    bool different = false;
    const char *why = NULL;
    if (!kernel->wanted)
        return NULL;
    const char *not_alone = why_not_alone(launch, stream, "it is a node of a graph, which is not recorded");
    if (not_alone) {
        gpu_unseen(kernel->name, "%s", not_alone);
        return NULL;
    }
    if (!take_values(kernel, launch, values)) {
        gpu_unseen(kernel->name, "its parameters could not be read");
        return NULL;
    }
    pthread_mutex_lock(&hook_mutex);
    uint64_t key = launch_key(kernel, launch, values, order->order.stream);
    pthread_mutex_unlock(&hook_mutex);
    if (is_repeated(kernel, key, &different)) {
        if (different)
            gpu_unseen(kernel->name, "it has more than %d launches that differ in shape or numbers", MOST_DIFFERENT);
        else
            kernel->repeated++;
        return NULL;
    }
    GpuFlight *flight = flight_take(context, kernel, key, launch, &why);
    if (flight && kernel->parameter_bytes && (flight->parameters = malloc(kernel->parameter_bytes)))
        memcpy(flight->parameters, values, kernel->parameter_bytes);
    if (!flight)
        gpu_unseen(kernel->name, "%s", why);
    return flight;
}

/* ---- Making one ---------------------------------------------------------------------------------- */

/* The kernel, if it is one that was instrumented; NULL: it is launched as it is, which is said. */
static GpuKernel *instrumented(const SeenLaunch *launch) {
    GpuKernel *kernel = gpu_kernel(launch->function);
    if (!kernel) {
        const char *name = function_name(launch->function);
        gpu_unseen(name ? name : "?", "its module was not seen being loaded");
        return NULL;
    }
    kernel->launches++;
    if (kernel->module->ptx)
        return kernel;
    if (kernel->wanted && !kernel->module->excluded)
        gpu_unseen(kernel->name, "%s", kernel->module->why ? kernel->module->why : "there was no memory for its text");
    return NULL;
}

/* As it was before it was instrumented; `otherwise`: that is not to be had. */
static Result go_plain(const SeenLaunch *launch, GpuKernel *kernel, Result otherwise) {
    SeenLaunch plain = *launch;
    if (!kernel->plain)
        hold_for_all();
    pthread_mutex_lock(&gpu_mutex);
    kernel->plain = true;
    plain.function = gpu_plain(kernel, launch->function);
    pthread_mutex_unlock(&gpu_mutex);
    return plain.function ? plain.go(&plain, launch->parameters, launch->extra) : otherwise;
}

static Result make_flight(const SeenLaunch *launch, GpuFlight *flight, Handle stream) {
    bool begun = flight_begins(flight, stream);
    if (begun) {
        pthread_mutex_lock(&gpu_mutex);
        drain_watch(flight);
        pthread_mutex_unlock(&gpu_mutex);
    }
    Result result = go_with(launch, flight->kernel, begun ? flight->block : flight->context->off);
    if (begun && !result)
        flight_made(flight, stream);
    else
        flight_undo(flight, stream);
    if (!begun && !result)
        gpu_unseen(flight->kernel->name, "its records could not be prepared");
    if (result && flight->watched.found)
        hang_release(&flight->watched);
    pthread_mutex_lock(&gpu_mutex);
    if (!flight->undone) {
        flight->kernel->recorded++;
        gpu_pack_behind(flight);
    }
    drain_add(flight);
    pthread_mutex_unlock(&gpu_mutex);
    return result;
}

/* Mode shadow: every launch is checked. One that cannot be runs as it was before it was instrumented. */
static Result make_checked(const SeenLaunch *launch, GpuKernel *kernel, Handle stream) {
    uint8_t values[PARAMETER_BYTES];
    bool different = false, again = false;
    const char *problem = why_not_alone(launch, stream, "it is a node of a graph, which is not checked");
    Result result = 0;
    if (!problem && !take_values(kernel, launch, values))
        problem = "its parameters could not be read";
    if (kernel->wanted && !problem) {
        pthread_mutex_lock(&hook_mutex);
        uint64_t key = launch_key(kernel, launch, values, 0);
        pthread_mutex_unlock(&hook_mutex);
        pthread_mutex_lock(&gpu_mutex);
        again = is_repeated(kernel, key, &different);
        pthread_mutex_unlock(&gpu_mutex);
        result = checked_launch(launch, kernel, stream, values, again, &problem);
        if (!problem) {
            kernel->recorded += !result;
            return result;
        }
    }
    if (kernel->wanted)
        gpu_unseen(kernel->name, "%s", problem);
    return go_plain(launch, kernel, OUT_OF_MEMORY);
}

/* An instrumented kernel needs more registers, and a launch that has to have all CTAs at once may be too large then. */
static Result or_plain(const SeenLaunch *launch, GpuKernel *kernel, Result result) {
    if (result != NO_RESOURCES && result != TOO_LARGE)
        return result;
    Result plain = go_plain(launch, kernel, result);
    if (!plain && kernel->wanted)
        gpu_unseen(kernel->name, "it cannot be launched like this with what records it (error %d)", result);
    return plain;
}

/* One that would wait forever for CTAs that there is no room for with what is instrumented. */
static Result make_alone(const SeenLaunch *launch, GpuKernel *kernel) {
    if (kernel->wanted)
        gpu_unseen(kernel->name,
                   "its CTAs may wait for each other, and with what records it they do not all fit on the "
                   "device at once");
    return go_plain(launch, kernel, OUT_OF_MEMORY);
}

/* A node of a graph is made when that is launched. */
static GpuOrder ordered(const SeenLaunch *launch, uint64_t number) {
    GpuOrder order = {0};
    OrderLaunch made = {.stream = {.handle = launch->stream, .per_thread = launch->per_thread},
                        .number = number,
                        .dependent = launch->dependent,
                        .triggered = {launch->triggered[0], launch->triggered[1]}};
    if (!launch->later)
        order_launch(&made, &order);
    return order;
}

/* A kernel that has our parameter, though it is not recorded: it gets a block that says so. NULL: it has not. */
static GpuKernel *marked_kernel(const SeenLaunch *launch, DevicePointer *off) {
    GpuKernel *kernel = gpu_kernel(launch->function);
    if (!kernel || !kernel->module->marked || !gpu_measure(kernel, launch->function))
        return NULL;
    const GpuContext *context = gpu_context();
    *off = context ? context->off : 0;
    return *off ? kernel : NULL;
}

static Handle stream_of(const SeenLaunch *launch) {
    return launch->stream || !launch->per_thread ? launch->stream : (Handle)(uintptr_t)STREAM_PER_THREAD;
}

static Result make(const SeenLaunch *launch) {
    Handle stream = stream_of(launch);
    uint64_t now = gpu_now();
    pthread_mutex_lock(&gpu_mutex);
    uint64_t number = launches++;
    GpuKernel *kernel = instrumented(launch);
    if (kernel && gpu_crowds(kernel, launch)) {
        GpuOrder order = ordered(launch, number);
        order_unrecorded(&order, number);
        order_free(&order);
        pthread_mutex_unlock(&gpu_mutex);
        return make_alone(launch, kernel);
    }
    if (kernel && kernel->module->checks) {
        bool measured = gpu_measure(kernel, launch->function);
        pthread_mutex_unlock(&gpu_mutex);
        return measured ? make_checked(launch, kernel, stream) : OUT_OF_MEMORY;
    }
    GpuContext *context = kernel && gpu_measure(kernel, launch->function) ? gpu_context() : NULL;
    GpuOrder order = ordered(launch, number);
    GpuFlight *flight = context && context->off ? choose(context, kernel, launch, stream, &order) : NULL;
    DevicePointer off = context ? context->off : 0;
    if (flight) {
        flight->made_at = now;
        drain_soon();
        flight->launch.number = number;
        flight->order = order;
    } else {
        order_unrecorded(&order, number);
        order_free(&order);
    }
    GpuKernel *marked = kernel ? NULL : marked_kernel(launch, &off);
    pthread_mutex_unlock(&gpu_mutex);
    if (marked)
        return go_with(launch, marked, off);
    if (!kernel)
        return launch->go(launch, launch->parameters, launch->extra);
    if (!off)
        return OUT_OF_MEMORY; /* it cannot run without a block */
    return or_plain(launch, kernel, flight ? make_flight(launch, flight, stream) : go_with(launch, kernel, off));
}

Result gpu_launch(const SeenLaunch *launch) {
    if (!launch->later)
        hold_to_launch(launch->function, stream_of(launch));
    int mode = gpu_driver(NULL) ? gpu_relax() : 0;
    Result result = make(launch);
    if (!result && !launch->later)
        result = hold_launched(stream_of(launch));
    if (gpu_driver(NULL))
        gpu_relaxed(mode);
    return result;
}
