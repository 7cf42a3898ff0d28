/* Kernels in images that record, beside the program's own: what the program has loaded stays as it is, and a launch
 * that is recorded takes the variant of its function. A variant is made for the shape of the launch's CTAs; where the
 * text says how large they are, threads of our own begin when the function is asked for. Variants use the variables of
 * the program's image, and have the attributes that the program has set. */
#include "runtime/hooks.h"
#include "runtime/record/gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS_MOST = 8, NAME_BYTES = 4096, SLEEP = 200 }; /* microseconds */
enum { FUNCTION_DYNAMIC = 8, FUNCTION_CARVEOUT = 9, FUNCTION_NON_PORTABLE = 14, FUNCTION_POLICY = 15 };

static const char still_runs[] =
    "its first launch was made while another kernel ran, which may have waited for it: what "
    "records it could not be loaded";

struct GpuVariant {
    GpuVariant *next;   /* of the kernel */
    GpuVariant *behind; /* in the queue */
    GpuKernel *kernel;
    GpuModule *form;       /* what it is made of */
    Handle owner, context; /* what the program's function was loaded with; NULL: that was unloaded */
    bool library;
    int device;
    unsigned registers;
    enum { VARIANT_QUEUED, VARIANT_MAKING, VARIANT_MADE } state;
    GpuImage image;
    Handle module, function;
    const char *why; /* it cannot be had: one sentence */
    uint64_t again;  /* ... until it is tried once more */
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* of all that is below */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static GpuVariant *queue;
static unsigned workers, making;

/* ---- Making one ---------------------------------------------------------------------------------- */

typedef struct Pointing {
    GpuVariant *variant;
    Handle stream; /* NULL: none was needed yet */
} Pointing;

/* Where the program's image has a variable. */
static bool find_variable(const GpuVariant *variant, const char *name, DevicePointer *at) {
    static const char *const questions[] = {"cuLibraryGetGlobal", "cuLibraryGetManaged"};
    size_t bytes;
    if (!variant->library)
        return gpu_driver(NULL)->module_variable(at, &bytes, variant->owner, name) == 0;
    for (size_t i = 0; i < 2; i++) {
        void *symbol = driver_symbol(questions[i]);
        if (symbol && (*(Result(**)(DevicePointer *, size_t *, Handle, const char *)) &
                       symbol)(at, &bytes, variant->owner, name) == 0)
            return true;
    }
    return false;
}

static void point(void *of, const char *name, bool literal) {
    const GpuDriver *driver = gpu_driver(NULL);
    Pointing *pointing = of;
    GpuVariant *variant = pointing->variant;
    char pointer[NAME_BYTES];
    DevicePointer to, at;
    size_t bytes;
    if (variant->why)
        return;
    bool named = snprintf(pointer, sizeof pointer, INSTRUMENT_AT "%s", name) < (int)sizeof pointer;
    Result result = named ? driver->module_variable(&to, &bytes, variant->module, pointer) : INVALID_VALUE;
    bool found = !result && find_variable(variant, name, &at);
    if (result == NOT_FOUND || (!result && !found && literal))
        return; /* the kernel does not use it, or has a copy */
    if (!result && !found)
        variant->why = "a variable that it uses was not found in the image that the program has loaded";
    else if (result || (!pointing->stream && driver->stream_create(&pointing->stream, STREAM_NON_BLOCKING) != 0) ||
             driver->copy_to(to, &at, sizeof at, pointing->stream) != 0 || driver->stream_wait(pointing->stream) != 0)
        variant->why = "the variables of its module could not be shared";
}

static void point_all(GpuVariant *variant) {
    Pointing pointing = {.variant = variant};
    if (!gpu_each_variable(variant->image.module, point, &pointing))
        variant->why = "there was no memory to instrument it";
    void *destroy = driver_symbol("cuStreamDestroy_v2");
    if (pointing.stream && destroy)
        (*(Result(**)(Handle)) & destroy)(pointing.stream);
}

/* A part of the time that waits of kernels have. */
static uint64_t longest_wait(void) {
    uint64_t limit = gpu_options()->hang_after;
    return (limit ? limit : UINT64_C(8000000000)) / 8;
}

/* Where it loads a module, the driver waits for all that runs in the context, with its lock held; and what runs may
 * wait for the launch that the module is for. False: something that is recorded does not end soon. */
static bool may_load(Handle context) {
    uint64_t begin = gpu_now(), longest = longest_wait();
    while (drain_flies() && drain_busy(context)) {
        if (gpu_now() - begin > longest)
            return false;
        usleep(SLEEP);
    }
    return true;
}

static void load(GpuVariant *variant) {
    const GpuDriver *driver = gpu_driver(NULL);
    char *sentence = NULL;
    size_t count = 0, offset, bytes;
    if (!may_load(variant->context)) {
        variant->why = still_runs;
        variant->again = gpu_now() + longest_wait();
        return;
    }
    Result result = driver->module_load(&variant->module, variant->image.bytes);
    if (!result)
        result = driver->module_function(&variant->function, variant->module, variant->kernel->name);
    while (!result && function_parameter(variant->function, count, &offset, &bytes))
        count++;
    if (!result && count) {
        variant->kernel->ours = offset;
        return;
    }
    if (asprintf(&sentence, "the driver did not load it with what records it (error %d)", result) < 0)
        sentence = NULL;
    variant->why = sentence ? sentence : "the driver did not load it with what records it";
}

/* The mutex is not held. */
static void make(GpuVariant *variant) {
    const GpuDriver *driver = gpu_driver(NULL);
    Handle current = NULL;
    bool pushed = (driver->context_current(&current) != 0 || current != variant->context) &&
                  driver->context_push(variant->context) == 0;
    int mode = gpu_relax();
    uint64_t begin = gpu_now();
    if (!variant->image.bytes && !gpu_image(variant->kernel, variant->form, variant->registers, &variant->image))
        variant->why = variant->image.why;
    uint64_t compiled = gpu_now();
    if (!variant->why && !variant->module)
        load(variant);
    if (!variant->why)
        point_all(variant);
    if (gpu_options()->times)
        folder_log("image of %s begun at %llu, compiled after %llu ns, loaded after %llu ns",
                   variant->kernel->name, (unsigned long long)begin, (unsigned long long)(compiled - begin),
                   (unsigned long long)(gpu_now() - begin));
    gpu_relaxed(mode);
    if (pushed)
        driver->context_pop(&current);
}

/* ---- The queue ----------------------------------------------------------------------------------- */

/* Makes the first that is queued; false: there is none. The mutex is held, and let go meanwhile. */
static bool make_first(void) {
    GpuVariant *variant = queue;
    if (!variant)
        return false;
    queue = variant->behind;
    variant->state = VARIANT_MAKING;
    making++;
    pthread_mutex_unlock(&mutex);
    make(variant);
    pthread_mutex_lock(&mutex);
    if (variant->image.bytes)
        variant->kernel->module = variant->image.module;
    making--;
    variant->state = VARIANT_MADE;
    pthread_cond_broadcast(&changed);
    return true;
}

static void *work(void *unused) {
    pthread_mutex_lock(&mutex);
    while (make_first())
        ;
    workers--;
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void start_worker(void) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    pthread_t thread;
    if (workers >= WORKERS_MOST || (workers && (long)workers + 1 >= cores) ||
        pthread_create(&thread, NULL, work, NULL) != 0)
        return;
    workers++;
    pthread_detach(thread);
}

/* All that is queued is made. The mutex is held. */
static void settle(void) {
    while (make_first() || making)
        if (!queue && making)
            pthread_cond_wait(&changed, &mutex);
}

/* The mutex is held. */
static GpuVariant *find(const GpuKernel *kernel, const GpuModule *form, Handle owner, Handle context,
                        unsigned registers) {
    GpuVariant *variant = kernel->variants;
    while (variant && (variant->form != form || variant->owner != owner || variant->context != context ||
                       variant->registers != registers))
        variant = variant->next;
    return variant;
}

static const void *image_of(const GpuKernel *kernel, const GpuModule *form, unsigned registers, GpuImage *image) {
    for (const GpuVariant *variant = kernel->variants; variant; variant = variant->next)
        if (variant->form == form && variant->registers == registers && variant->state == VARIANT_MADE &&
            variant->image.bytes)
            *image = variant->image;
    return image->bytes;
}

/* One that is there, or is queued now; one whose module was unloaded is used again, and one that could not be loaded
 * then is tried again. NULL: no memory. The mutex is held. */
static GpuVariant *ask(GpuKernel *kernel, GpuModule *form, Handle owner, bool library, Handle context,
                       unsigned registers) {
    GpuVariant *variant = find(kernel, form, owner, context, registers);
    if (variant && (variant->state != VARIANT_MADE || variant->why != still_runs || gpu_now() < variant->again))
        return variant;
    if (!variant)
        variant = find(kernel, form, NULL, context, registers);
    if (!variant && (variant = calloc(1, sizeof *variant))) {
        *variant = (GpuVariant){
            .next = kernel->variants, .kernel = kernel, .form = form, .context = context, .registers = registers};
        image_of(kernel, form, registers, &variant->image);
        kernel->variants = variant;
    }
    if (!variant)
        return NULL;
    variant->owner = owner;
    variant->library = library;
    gpu_driver(NULL)->context_device(&variant->device);
    variant->why = NULL;
    variant->state = VARIANT_QUEUED;
    GpuVariant **last = &queue;
    while (*last)
        last = &(*last)->behind;
    variant->behind = NULL;
    *last = variant;
    return variant;
}

/* ---- Asking for one ------------------------------------------------------------------------------ */

void gpu_variant_soon(Handle function) {
    Handle context = NULL;
    bool library;
    pthread_mutex_lock(&gpu_mutex);
    GpuKernel *kernel = gpu_driver(NULL) ? gpu_kernel(function) : NULL;
    pthread_mutex_unlock(&gpu_mutex);
    bool known = kernel && kernel->wanted && kernel->home->ptx && !gpu_waits_for_shape(kernel);
    Handle owner = known ? gpu_owner(function, &library) : NULL;
    if (!owner || gpu_driver(NULL)->context_current(&context) != 0 || !context)
        return;
    pthread_mutex_lock(&mutex);
    GpuVariant *variant = ask(kernel, kernel->home, owner, library, context, 0);
    if (variant && variant->state == VARIANT_QUEUED)
        start_worker();
    pthread_mutex_unlock(&mutex);
}

/* The driver waits, too, where it makes local memory again, which instrumented kernels may need more of. */
static bool has_local(const GpuVariant *variant) {
    uint64_t local = gpu_attribute(variant->function, FUNCTION_LOCAL);
    bool grows = hold_local_grows(local);
    if (grows && !may_load(variant->context))
        return false;
    if (grows)
        hold_local_grown(local);
    return true;
}

static void set_preference(const char *name, Handle function, int value) {
    void *symbol = value ? driver_symbol(name) : NULL;
    if (symbol)
        (*(Result(**)(Handle, int)) & symbol)(function, value - 1);
}

/* What the program has set of its function. */
static void carry_attributes(const GpuKernel *kernel, Handle from, Handle to) {
    static const int attributes[] = {FUNCTION_DYNAMIC,     FUNCTION_CARVEOUT,    FUNCTION_CLUSTER,
                                     FUNCTION_CLUSTER + 1, FUNCTION_CLUSTER + 2, FUNCTION_NON_PORTABLE,
                                     FUNCTION_POLICY};
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        uint32_t value = gpu_attribute(from, attributes[i]);
        if (value != gpu_attribute(to, attributes[i]))
            gpu_driver(NULL)->function_set(to, attributes[i], (int)value);
    }
    set_preference("cuFuncSetCacheConfig", to, kernel->cache);
    set_preference("cuFuncSetSharedMemConfig", to, kernel->banks);
}

/* The registers with which a launch could be made, and why it cannot be as it is; 0: it can. */
static unsigned unfit(GpuModule *module, const SeenLaunch *launch, Handle variant, const char **why) {
    uint32_t threads = launch->block[0] * launch->block[1] * launch->block[2];
    uint32_t most = gpu_attribute(variant, FUNCTION_THREADS), together = gpu_together(module, launch);
    uint64_t ctas = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    if (most && threads > most && threads <= gpu_attribute(launch->function, FUNCTION_THREADS)) {
        *why = "it cannot be launched with so many threads with what records it";
        return gpu_registers_for(threads, together ? together : 1);
    }
    if (together && ctas > gpu_resident(launch, variant)) {
        *why = "its CTAs may wait for each other, and with what records it they do not all fit on the device at once";
        return gpu_registers_for(threads, together);
    }
    return 0;
}

Handle gpu_variant(GpuKernel *kernel, const SeenLaunch *launch, GpuModule **module, const char **why) {
    Handle context = NULL;
    bool library = false;
    Handle owner = gpu_owner(launch->function, &library);
    unsigned registers = kernel->registers;
    *why = "there was no memory to instrument it";
    if (gpu_driver(NULL)->context_current(&context) != 0 || !context)
        return NULL;
    GpuModule *form = gpu_shaped(kernel, launch->block);
    if (launch->loops)
        form = gpu_once(form);
    if (!form)
        return NULL;
    for (;;) {
        pthread_mutex_lock(&mutex);
        GpuVariant *variant = ask(kernel, form, owner, library, context, registers);
        settle();
        pthread_mutex_unlock(&mutex);
        if (!variant || variant->why) {
            *why = variant && registers == kernel->registers ? variant->why : *why;
            return NULL;
        }
        carry_attributes(kernel, launch->function, variant->function);
        unsigned needed = unfit(variant->image.module, launch, variant->function, why);
        if (!needed && !has_local(variant)) {
            *why = still_runs;
            return NULL;
        }
        if (!needed) {
            kernel->registers = registers;
            *module = variant->image.module;
            return variant->function;
        }
        if (registers && needed >= registers)
            return NULL;
        registers = needed;
    }
}

/* ---- Ends ---------------------------------------------------------------------------------------- */

static Handle ended_owner, ended_context;
static int ended_device;

/* A variant without its module is used again; one without its context is gone. (What is gone may be looked at yet.) */
static void end_of(GpuKernel *kernel) {
    for (GpuVariant **at = &kernel->variants; *at;) {
        GpuVariant *variant = *at;
        if (variant->owner == ended_owner && ended_owner)
            variant->owner = NULL;
        if (variant->context == ended_context || variant->device == ended_device)
            *at = variant->next;
        else
            at = &variant->next;
    }
}

void gpu_variants_end(Handle owner, Handle context, int device) {
    pthread_mutex_lock(&mutex);
    settle();
    ended_owner = owner;
    ended_context = context;
    ended_device = device;
    gpu_each_kernel(end_of);
    pthread_mutex_unlock(&mutex);
}

void gpu_variants_settle(uint64_t nanoseconds) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += (time_t)(nanoseconds / 1000000000) + 1;
    pthread_mutex_lock(&mutex);
    queue = NULL;
    while (making && pthread_cond_timedwait(&changed, &mutex, &until) == 0)
        ;
    pthread_mutex_unlock(&mutex);
}
