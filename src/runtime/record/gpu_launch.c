/* Launches: whether one is recorded, which is made of the variant of its kernel then (gpu_variants.c), and the
 * parameter that it gets for it. All others are made as the program has them. */
#include "runtime/record/gpu.h"
#include "runtime/record/gpu_named.h"
#include "runtime/record/gpu_peers.h"

#include "base/hash.h"
#include "runtime/hooks.h"

#include <stdlib.h>

/* Allocations as large as POOL may be of an allocator that hands out parts, which are nowhere nearer than NEAR. */
enum { ALIGNED = 16, NEAR = 512, POOL = 2 << 20, POINTERS_MOST = 64 };
enum { PARAMETER_BYTES = 1 << 15, OURS_MOST = 128, MOST_DIFFERENT = 1000, MOST_APART = 4, USUAL_LAUNCHES = 3 };

pthread_mutex_t gpu_mutex = PTHREAD_MUTEX_INITIALIZER;
static const char reports_nothing[] = "the driver tells nothing of its stream: a launch before it may have failed";
static uint64_t launches;  /* numbers so far */
static uint64_t of_graphs; /* ... of graphs, or of what was not run: not of launches */

uint64_t gpu_launches(void) {
    return launches - of_graphs;
}

uint64_t gpu_graph_number(void) {
    pthread_mutex_lock(&gpu_mutex);
    uint64_t number = launches++;
    of_graphs++;
    pthread_mutex_unlock(&gpu_mutex);
    return number;
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

static Result go_plain(const SeenLaunch *launch) {
    return launch->go(launch, launch->parameters, launch->extra);
}

/* ---- Which are recorded -------------------------------------------------------------------------- */

/* The driver is asked only for what may be one: there are many other words in tensor maps. */
static const CaptureAllocation *allocation_of(uint64_t word) {
    return word >> 32 && !(word >> 48) ? memory_find(word) : NULL;
}

/* Of addresses: which are the same, how far those are apart that are near, and how they are aligned. Memory that is
 * somewhere else in each launch makes no other launch of it, but what overlaps in one of them alone does. */
typedef struct GpuLaunchPointers {
    uint64_t seen[POINTERS_MOST];
    uint32_t count;
} GpuLaunchPointers;

static uint64_t add_pointer(uint64_t key, GpuLaunchPointers *pointers, const CaptureAllocation *in, uint64_t address) {
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
    GpuLaunchPointers pointers = {0};
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
            const CaptureAllocation *in = rest < 8 ? NULL : allocation_of(word);
            if (!in)
                key = hash_bytes(key, values + parameter->offset + at, rest);
            else
                key = add_pointer(key, &pointers, in, word);
        }
    }
    return key;
}

/* Of what tells launches apart that are equal otherwise: where their memory is. */
static uint64_t exact_key(const GpuKernel *kernel, uint64_t key, const uint8_t *values) {
    key = hash_bytes(key, &kernel, sizeof kernel);
    for (size_t i = 0; i < kernel->parameter_count; i++)
        key = hash_bytes(key, values + kernel->parameters[i].offset, kernel->parameters[i].bytes);
    return key;
}

/* Whether it was seen so often that it is not recorded again; *different: it was not, but many others were. One that
 * may not be run is equal to those that are known to have been. */
static bool is_repeated(GpuKernel *kernel, uint64_t key, bool maybe, bool *different) {
    uint64_t most = gpu_options()->launches;
    for (size_t i = 0; i < kernel->seen_count; i++) {
        GpuSeen *seen = &kernel->seen[i];
        if (seen->key != key)
            continue;
        bool few = seen->times++ < most;
        if (few && most <= USUAL_LAUNCHES) /* others need the disk, if there is little of it left */
            few = !seen->enough && (!seen->landed || disk_has(gpu_options()->disk / 2));
        return !few && (!maybe || seen->landed || !most);
    }
    *different = kernel->seen_count == MOST_DIFFERENT;
    GpuSeen *more = *different ? NULL : realloc(kernel->seen, (kernel->seen_count + 1) * sizeof *more);
    if (!more)
        return *different;
    kernel->seen = more;
    kernel->seen[kernel->seen_count++] = (GpuSeen){.key = key, .times = 1};
    return gpu_options()->launches == 0;
}

uint64_t gpu_launch_key(GpuKernel *kernel, const SeenLaunch *launch, uint64_t *exact) {
    uint8_t values[PARAMETER_BYTES];
    pthread_mutex_lock(&gpu_mutex);
    bool records = kernel->wanted && kernel->home->ptx && gpu_measure(kernel, launch->function) &&
                   take_values(kernel, launch, values);
    pthread_mutex_unlock(&gpu_mutex);
    if (!records)
        return 0;
    pthread_mutex_lock(&hook_mutex);
    uint64_t key = launch_key(kernel, launch, values, 0);
    pthread_mutex_unlock(&hook_mutex);
    *exact = exact_key(kernel, key, values);
    return key | 1;
}

/* It was not recorded after all. */
static void unsee(GpuKernel *kernel, uint64_t key) {
    for (size_t i = 0; i < kernel->seen_count; i++)
        if (kernel->seen[i].key == key && kernel->seen[i].times)
            kernel->seen[i].times--;
}

/* What distinguishes a launch from others, and its parameters. */
typedef struct GpuLaunchChoice {
    uint64_t key;
    OrderKernel looked_at;
    uint8_t values[PARAMETER_BYTES];
} GpuLaunchChoice;

/* Whether it is to be recorded; if it is not, that is counted or said. */
static bool is_chosen(GpuKernel *kernel, const SeenLaunch *launch, const GpuOrder *order, uint64_t number,
                      GpuLaunchChoice *choice) {
    bool different = false;
    if (!take_values(kernel, launch, choice->values)) {
        gpu_unseen(kernel->name, "its parameters could not be read");
        return false;
    }
    pthread_mutex_lock(&hook_mutex);
    choice->key = launch_key(kernel, launch, choice->values, order->order.stream);
    pthread_mutex_unlock(&hook_mutex);
    choice->looked_at =
        (OrderKernel){.name = kernel->name, .key = exact_key(kernel, choice->key, choice->values), .number = number};
    bool repeated = is_repeated(kernel, choice->key, launch->maybe, &different);
    if (different) {
        gpu_unseen(kernel->name, "it has more than %d launches that differ in shape or numbers", MOST_DIFFERENT);
        return false;
    }
    if (!repeated || launch->again || order_wants(order, choice->looked_at.key)) {
        order_chosen(order, &choice->looked_at);
        return true;
    }
    kernel->repeated++;
    order_looked_at(order, &choice->looked_at);
    return false;
}

/* An outstanding launch for a launch that is to be recorded; NULL: it cannot be, which is said. The mutex is held, and
 * let go until there is a twin. */
static GpuOutstanding *take_outstanding(GpuContext *context, GpuKernel *kernel, const SeenLaunch *launch,
                                        const GpuLaunchChoice *choice, Handle *variant) {
    const char *why = disk_full;
    GpuModule *module = NULL;
    *variant = NULL;
    if (disk_has(kernel->packed + kernel->module->ptx_bytes)) {
        pthread_mutex_unlock(&gpu_mutex);
        *variant = gpu_variant(kernel, launch, &module, &why);
        pthread_mutex_lock(&gpu_mutex);
    }
    GpuOutstanding *outstanding =
        *variant ? outstanding_take(context, kernel, module, choice->key, launch, &why) : NULL;
    if (!outstanding) {
        gpu_unseen(kernel->name, "%s", why);
        unsee(kernel, choice->key);
    } else if (kernel->parameter_bytes && (outstanding->parameters = malloc(kernel->parameter_bytes))) {
        memcpy(outstanding->parameters, choice->values, kernel->parameter_bytes);
    }
    return outstanding;
}

/* ---- Making one ---------------------------------------------------------------------------------- */

/* Counts launches. The kernel, if it is one that can be recorded; NULL: it runs as it is, which is said if it is to be.
 */
static GpuKernel *recordable(GpuKernel *kernel, Handle function, uint64_t times) {
    if (!kernel) {
        const char *name = function ? function_name(function) : NULL;
        gpu_unseen_times(times, name ? name : "kernel_without_a_name", "its module was not seen being loaded");
        return NULL;
    }
    kernel->launches += times;
    if (!kernel->wanted)
        return NULL;
    if (kernel->home->ptx)
        return kernel;
    gpu_unseen_times(times, kernel->name, "%s",
                     kernel->home->why ? kernel->home->why : "there was no memory for its text");
    return NULL;
}

/* Whether it has no PTX, and the options do not leave it out. */
bool gpu_is_library(const GpuKernel *kernel) {
    const char *why = kernel && kernel->wanted ? kernel->home->why : NULL;
    return why && strcmp(why, NO_PTX) == 0;
}

void gpu_ran_plain(GpuKernel *kernel, uint64_t times, const char *why) {
    pthread_mutex_lock(&gpu_mutex);
    launches += times;
    kernel = times ? recordable(kernel, NULL, times) : NULL;
    if (kernel && why)
        gpu_unseen_times(times, kernel->name, "%s", why);
    else if (kernel)
        kernel->repeated += times;
    pthread_mutex_unlock(&gpu_mutex);
}

/* The driver does not take it with what records it: it is launched as the program has it, whatever comes of that. */
static Result make_after_all(const SeenLaunch *launch, GpuKernel *kernel, Result refused) {
    Result result = go_plain(launch);
    if (!result && refused)
        gpu_unseen(kernel->name, "it cannot be launched like this with what records it (error %d)", refused);
    else if (!result)
        gpu_unseen(kernel->name, "its records could not be prepared");
    return result;
}

void gpu_held(GpuOutstanding *outstanding, Handle stream, bool made) {
    GpuKernel *kernel = outstanding->kernel;
    if (made)
        outstanding_made(outstanding, stream);
    else
        outstanding_undo(outstanding, stream);
    if (!made && outstanding->watched.found)
        hang_release(&outstanding->watched);
    pthread_mutex_lock(&gpu_mutex);
    if (made) {
        kernel->recorded++;
        if (!outstanding->maybe)
            gpu_pack_behind(outstanding);
    } else {
        unsee(kernel, outstanding->key);
    }
    drain_add(outstanding);
    pthread_mutex_unlock(&gpu_mutex);
}

void gpu_held_failed(GpuOutstanding *outstanding, Handle stream) {
    pthread_mutex_lock(&gpu_mutex);
    outstanding->kernel->launches--;
    of_graphs++;
    pthread_mutex_unlock(&gpu_mutex);
    gpu_held(outstanding, stream, false);
}

void gpu_not_run(GpuOutstanding *outstanding) {
    outstanding->undone = true;
    pthread_mutex_lock(&gpu_mutex);
    outstanding->kernel->recorded--;
    outstanding->kernel->launches--;
    of_graphs++;
    unsee(outstanding->kernel, outstanding->key);
    pthread_mutex_unlock(&gpu_mutex);
}

static Result make_outstanding(const SeenLaunch *launch, Handle variant, GpuOutstanding *outstanding, Handle stream) {
    SeenLaunch recorded = *launch;
    bool begun = outstanding_begins(outstanding, stream);
    if (begun) {
        pthread_mutex_lock(&gpu_mutex);
        drain_watch(outstanding);
        pthread_mutex_unlock(&gpu_mutex);
    }
    recorded.function = variant;
    Result result =
        begun ? launch_ours(&recorded, outstanding->kernel, &outstanding->block, sizeof outstanding->block) : 0;
    bool made = begun && !result;
    GpuKernel *kernel = outstanding->kernel;
    if (made && launch->held)
        *launch->held = outstanding;
    else
        gpu_held(outstanding, stream, made);
    return made ? 0 : make_after_all(launch, kernel, result);
}

/* Mode shadow: every launch is checked. One that cannot be runs as it is. */
static Result make_checked(const SeenLaunch *launch, GpuKernel *kernel, Handle stream, uint64_t number,
                           const GpuOrder *order) {
    uint8_t values[PARAMETER_BYTES];
    bool different = false, again = false;
    SeenLaunch checked = *launch;
    GpuModule *module;
    const char *problem = take_values(kernel, launch, values) ? NULL : "its parameters could not be read";
    if (!problem && (checked.function = gpu_variant(kernel, launch, &module, &problem))) {
        pthread_mutex_lock(&hook_mutex);
        uint64_t key = launch_key(kernel, launch, values, 0);
        pthread_mutex_unlock(&hook_mutex);
        pthread_mutex_lock(&gpu_mutex);
        again = is_repeated(kernel, key, false, &different);
        pthread_mutex_unlock(&gpu_mutex);
        problem = NULL;
        CheckedPlace place = {.values = values, .again = again, .number = number, .order = order};
        Result result = checked_launch(&checked, kernel, stream, &place, &problem);
        if (!problem && !result) {
            OrderKernel looked_at = {.name = kernel->name, .number = number, .recorded = true};
            order_looked_at(order, &looked_at);
            kernel->recorded++;
        }
        if (!problem && result) {
            pthread_mutex_lock(&gpu_mutex);
            unsee(kernel, key);
            pthread_mutex_unlock(&gpu_mutex);
        }
        if (!problem)
            return result ? make_after_all(launch, kernel, result) : 0;
    }
    gpu_unseen(kernel->name, "%s", problem);
    return go_plain(launch);
}

/* Whether it may read what another kernel writes meanwhile, by its text. */
static bool may_poll(const GpuKernel *kernel) {
    static const char *const words[] = {".volatile", ".acquire", ".relaxed", ".cv.", ".mmio", "atom."};
    GpuModule *home = kernel ? kernel->home : NULL;
    if (!home || !home->ptx)
        return true;
    for (unsigned i = 0; !home->searched && i < sizeof words / sizeof *words; i++)
        home->polls |= strstr(home->ptx, words[i]) != NULL;
    home->searched = true;
    return home->polls;
}

static GpuOrder ordered(const SeenLaunch *launch, const GpuContext *context, const GpuKernel *kernel, uint64_t number) {
    GpuOrder order = {0};
    const GpuKernel *any = kernel ? kernel : gpu_kernel(launch->function);
    if (peers_on() && !named_on()) {
        pthread_mutex_lock(&hook_mutex);
        peers_announce();
        pthread_mutex_unlock(&hook_mutex);
    }
    OrderLaunch made = {.stream = {.handle = launch->stream,
                                   .context = context ? context->context : NULL,
                                   .per_thread = launch->per_thread},
                        .number = number,
                        .dependent = launch->dependent,
                        .may_poll = (kernel || !named_here()) && may_poll(kernel), /* PyTorch's own do not */
                        .name = any ? any->name : "a kernel",
                        .has_text = kernel,
                        .remote = launch->remote && kernel,
                        .triggered = {launch->triggered[0], launch->triggered[1]}};
    order_launch(&made, &order);
    return order;
}

static Handle stream_of(const SeenLaunch *launch) {
    if (launch->held)
        return launch->in;
    return launch->stream || !launch->per_thread ? launch->stream : (Handle)(uintptr_t)STREAM_PER_THREAD;
}

/* Before the first launch of a kernel is placed among others: its variant may take long. */
static void prepare(GpuKernel *kernel, const SeenLaunch *launch) {
    const char *why;
    GpuModule *module;
    kernel->prepared = true;
    if (!gpu_options()->launches)
        return;
    peers_calls();
    pthread_mutex_unlock(&gpu_mutex);
    int mode = gpu_relax();
    gpu_variant(kernel, launch, &module, &why);
    gpu_relaxed(mode);
    pthread_mutex_lock(&gpu_mutex);
}

/* The driver does not say whether its stream is captured: a launch before it failed, or the stream would wait for one
 * that is. This one fails then, as it would without us. */
static Result make_unknown(const SeenLaunch *launch) {
    Result result = go_plain(launch);
    if (result)
        return result;
    pthread_mutex_lock(&gpu_mutex);
    launches++;
    GpuKernel *kernel = recordable(gpu_kernel(launch->function), launch->function, 1);
    if (kernel)
        gpu_unseen(kernel->name, reports_nothing);
    pthread_mutex_unlock(&gpu_mutex);
    return 0;
}

/* An outstanding launch for a launch that was chosen, which has its place among others; NULL: it runs as it is. */
static GpuOutstanding *ready(GpuContext *context, GpuKernel *kernel, const SeenLaunch *launch, GpuLaunchChoice *choice,
                             GpuOrder *order, Handle *variant) {
    GpuOutstanding *outstanding = take_outstanding(context, kernel, launch, choice, variant);
    if (outstanding) {
        outstanding->launch.number = choice->looked_at.number;
        outstanding->order = *order;
        outstanding->maybe = launch->maybe;
        named_recorded(order, choice->looked_at.number);
        order_recorded(order, choice->looked_at.number);
        choice->looked_at.recorded = !launch->maybe; /* beside others it may not be run, either */
        order_looked_at(order, &choice->looked_at);
        drain_soon();
    }
    return outstanding;
}

/* Of launches that are not recorded, the driver is asked for the context alone. */
static Result make(const SeenLaunch *launch) {
    Handle stream = stream_of(launch), variant = NULL;
    uint64_t now = gpu_now();
    GpuLaunchChoice choice;
    GpuCapture capture = launch->later ? CAPTURE_ACTIVE : capture_underway() ? gpu_capture(stream) : CAPTURE_NONE;
    if (capture == CAPTURE_ACTIVE) { /* a node, which counts when its graph is launched */
        if (!launch->later)
            named_node();
        return go_plain(launch);
    }
    if (capture == CAPTURE_UNKNOWN)
        return make_unknown(launch);
    pthread_mutex_lock(&gpu_mutex);
    GpuKernel *kernel = recordable(gpu_kernel(launch->function), launch->function, 1);
    bool measured = kernel && gpu_measure(kernel, launch->function);
    if (measured && !kernel->prepared)
        prepare(kernel, launch);
    named_launch();
    uint64_t number = launches++, prepared = gpu_options()->times ? gpu_now() : 0;
    if (measured && gpu_checks()) {
        GpuOrder placed = ordered(launch, NULL, kernel, number);
        if (peers_on() && placed.there) { /* what it touches of memory that others have goes with its recording */
            named_recorded(&placed, number);
            order_recorded(&placed, number);
        }
        pthread_mutex_unlock(&gpu_mutex);
        int mode = gpu_relax();
        Result result = make_checked(launch, kernel, stream, number, &placed);
        gpu_relaxed(mode);
        order_free(&placed);
        return result;
    }
    GpuContext *context = measured ? gpu_context() : NULL;
    GpuOrder order = ordered(launch, context, kernel, number);
    if (context && is_chosen(kernel, launch, &order, number, &choice)) {
        int mode = gpu_relax();
        bool unknown = gpu_capture(stream) == CAPTURE_UNKNOWN;
        GpuOutstanding *outstanding = unknown ? NULL : ready(context, kernel, launch, &choice, &order, &variant);
        if (outstanding)
            outstanding->made_at = now;
        else
            order_free(&order);
        if (unknown)
            unsee(kernel, choice.key);
        pthread_mutex_unlock(&gpu_mutex);
        uint64_t has_memory = gpu_now();
        Result result = outstanding ? make_outstanding(launch, variant, outstanding, stream) : 0;
        gpu_relaxed(mode);
        if (outstanding && gpu_options()->times)
            folder_log("waits %s launch %llu asked for at %llu, prepared after %llu ns, has memory after %llu ns, made "
                       "after %llu ns",
                       kernel->name, (unsigned long long)number, (unsigned long long)now,
                       (unsigned long long)(prepared - now), (unsigned long long)(has_memory - now),
                       (unsigned long long)(gpu_now() - now));
        if (!outstanding)
            result = go_plain(launch);
        if (unknown && !result)
            gpu_unseen(kernel->name, reports_nothing);
        return result;
    }
    if (!kernel && !named_here() && gpu_is_library(gpu_kernel(launch->function)))
        order_library(&order, number);
    if (kernel && !context)
        gpu_unseen(kernel->name, "there was no memory to record it");
    order_free(&order);
    pthread_mutex_unlock(&gpu_mutex);
    return go_plain(launch);
}

Result gpu_launch(const SeenLaunch *launch) {
    if (!launch->later)
        hold_to_launch(launch->function, stream_of(launch));
    over_making(1);
    Result result = make(launch);
    over_making(-1);
    if (!result && !launch->later && !launch->held)
        result = hold_launched(stream_of(launch));
    gpu_failed(result, NULL);
    return result;
}
