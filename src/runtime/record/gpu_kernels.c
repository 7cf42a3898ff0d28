/* Which image a handle of the driver belongs to: modules and libraries, and the functions and kernels in them. */
#include "runtime/record/gpu.h"

#include <stdlib.h>

/* Of a function that was asked for. */
typedef struct GpuKernelName {
    struct GpuKernelName *next;
    char text[];
} GpuKernelName;

typedef struct GpuKernelKnown {
    Handle handle; /* NULL: free */
    Handle owner;  /* what was loaded: they are unloaded together */
    GpuModule *module;
    bool library;         /* what was loaded is one */
    GpuKernel *kernel;    /* of a function that was launched */
    bool lazy;            /* its code is not loaded before it is used */
    bool used;            /* ... and now it is */
    GpuKernelName *names; /* of a module: functions of it that were asked for */
} GpuKernelKnown;

static GpuKernelKnown *table;
static size_t capacity, used; /* `used` counts those that were taken away, too */

static char gone; /* stands where one was taken away */

/* ---- The table ----------------------------------------------------------------------------------- */

static size_t place_of(Handle handle) {
    return (size_t)(((uintptr_t)handle * 0x9e3779b97f4a7c15u) >> 20) & (capacity - 1);
}

static GpuKernelKnown *find(Handle handle) {
    for (size_t i = capacity ? place_of(handle) : 0; capacity && table[i].handle; i = (i + 1) & (capacity - 1))
        if (table[i].handle == handle)
            return &table[i];
    return NULL;
}

static void put(GpuKernelKnown item) {
    size_t i = place_of(item.handle);
    while (table[i].handle)
        i = (i + 1) & (capacity - 1);
    table[i] = item;
    used++;
}

static bool grow(void) {
    GpuKernelKnown *before = table;
    size_t count = capacity;
    GpuKernelKnown *more = calloc(capacity ? capacity * 2 : 256, sizeof *more);
    if (!more)
        return false;
    table = more;
    capacity = capacity ? capacity * 2 : 256;
    used = 0;
    for (size_t i = 0; i < count; i++)
        if (before[i].handle && before[i].handle != (Handle)&gone)
            put(before[i]);
    free(before);
    return true;
}

static void free_names(GpuKernelKnown *known) {
    while (known->names) {
        GpuKernelName *next = known->names->next;
        free(known->names);
        known->names = next;
    }
}

static GpuKernelKnown *remember(Handle handle, Handle owner, GpuModule *module, bool library) {
    GpuKernelKnown *known = find(handle);
    if (known) { /* an old one, whose end was not seen; or a function that was asked for once more */
        bool same = known->module == module && known->owner == owner && handle != owner;
        if (!same)
            free_names(known);
        *known = (GpuKernelKnown){.handle = handle,
                                  .owner = owner,
                                  .module = module,
                                  .library = library,
                                  .kernel = known->module == module ? known->kernel : NULL,
                                  .used = same && known->used,
                                  .names = known->names};
        return known;
    }
    if (2 * (used + 1) > capacity && !grow())
        return NULL;
    put((GpuKernelKnown){.handle = handle, .owner = owner, .module = module, .library = library});
    return find(handle);
}

void gpu_loaded(Handle handle, GpuModule *module, bool library) {
    pthread_mutex_lock(&gpu_mutex);
    gpu_begin();
    remember(handle, handle, module, library);
    pthread_mutex_unlock(&gpu_mutex);
}

void gpu_unloaded(Handle handle) {
    gpu_variants_end(handle, NULL, -1);
    pthread_mutex_lock(&gpu_mutex);
    for (size_t i = 0; i < capacity; i++)
        if (table[i].handle && table[i].owner == handle) {
            free_names(&table[i]);
            table[i] = (GpuKernelKnown){.handle = (Handle)&gone};
        }
    pthread_mutex_unlock(&gpu_mutex);
}

void gpu_same(Handle of, Handle from) {
    pthread_mutex_lock(&gpu_mutex);
    const GpuKernelKnown *known = find(from);
    if (known)
        remember(of, known->owner, known->module, known->library);
    pthread_mutex_unlock(&gpu_mutex);
}

void gpu_lazy(Handle handle) {
    pthread_mutex_lock(&gpu_mutex);
    GpuKernelKnown *known = find(handle);
    if (known)
        known->lazy = !known->used;
    pthread_mutex_unlock(&gpu_mutex);
}

bool gpu_loads(Handle handle) {
    pthread_mutex_lock(&gpu_mutex);
    GpuKernelKnown *known = find(handle);
    bool loads = known && known->lazy;
    if (loads) {
        known->lazy = false;
        known->used = true;
    }
    pthread_mutex_unlock(&gpu_mutex);
    return loads;
}

bool gpu_asks_first(Handle module, const char *name) {
    pthread_mutex_lock(&gpu_mutex);
    GpuKernelKnown *known = find(module);
    const GpuKernelName *there = known ? known->names : NULL;
    while (there && strcmp(there->text, name) != 0)
        there = there->next;
    size_t bytes = strlen(name) + 1;
    GpuKernelName *more = known && !there ? malloc(sizeof *more + bytes) : NULL;
    if (more) {
        more->next = known->names;
        memcpy(more->text, name, bytes);
        known->names = more;
    }
    pthread_mutex_unlock(&gpu_mutex);
    return !there;
}

/* ---- Kernels ------------------------------------------------------------------------------------- */

/* The kernel of a library that the function is of, in the current context: nodes of graphs have functions that the
 * program did not ask for. */
static const GpuKernelKnown *kernel_of(Handle function) {
    void *symbol = driver_symbol("cuKernelGetFunction");
    Result (*of_kernel)(Handle *, Handle) = *(Result(**)(Handle *, Handle)) & symbol;
    const char *name = function_name(function), *other;
    for (size_t i = 0; name && of_kernel && i < capacity; i++) {
        Handle handle = table[i].handle, found = NULL;
        if (!handle || handle == (Handle)&gone || handle == table[i].owner || !table[i].library)
            continue;
        other = table[i].kernel ? table[i].kernel->name : function_name(handle);
        if (other && strcmp(other, name) == 0 && of_kernel(&found, handle) == 0 && found == function)
            return &table[i];
    }
    return NULL;
}

/* What a function that was found in some other way is of. */
static const GpuKernelKnown *ask(Handle function) {
    static const char *const questions[] = {"cuFuncGetModule", "cuKernelGetLibrary"};
    for (size_t i = 0; i < 2; i++) {
        void *symbol = driver_symbol(questions[i]);
        Result (*owner)(Handle *, Handle) = *(Result(**)(Handle *, Handle)) & symbol;
        Handle found = NULL;
        const GpuKernelKnown *known = owner && owner(&found, function) == 0 && found ? find(found) : NULL;
        if (known)
            return known;
    }
    return kernel_of(function);
}

static GpuKernel *kernel_named(GpuModule *module, const char *name) {
    for (GpuKernel *kernel = module->kernels; kernel; kernel = kernel->next)
        if (strcmp(kernel->name, name) == 0)
            return kernel;
    GpuKernel *kernel = calloc(1, sizeof *kernel);
    char *copy = kernel ? strdup(name) : NULL;
    if (!copy) {
        free(kernel);
        return NULL;
    }
    *kernel =
        (GpuKernel){.next = module->kernels, .home = module, .module = module, .name = copy, .wanted = gpu_wants(name)};
    return module->kernels = kernel;
}

GpuKernel *gpu_kernel(Handle function) {
    GpuKernelKnown *known = find(function);
    if (known && known->kernel)
        return known->kernel;
    const GpuKernelKnown *from = known ? known : ask(function);
    const char *name = from ? function_name(function) : NULL;
    if (!name)
        return NULL;
    known = remember(function, from->owner, from->module, from->library);
    return known ? known->kernel = kernel_named(known->module, name) : NULL;
}

Handle gpu_owner(Handle function, bool *library) {
    pthread_mutex_lock(&gpu_mutex);
    const GpuKernelKnown *known = find(function);
    Handle owner = known ? known->owner : NULL;
    *library = known && known->library;
    pthread_mutex_unlock(&gpu_mutex);
    return owner;
}

/* A function and a kernel have each their own question. */
uint32_t gpu_attribute(Handle function, int attribute) {
    void *of_kernel = driver_symbol("cuKernelGetAttribute");
    Result (*ask_kernel)(int *, int, Handle, int) = *(Result(**)(int *, int, Handle, int)) & of_kernel;
    int value = 0, device = 0;
    if (gpu_driver(NULL)->function_attribute(&value, attribute, function) == 0)
        return (uint32_t)value;
    if (ask_kernel && gpu_driver(NULL)->context_device(&device) == 0 &&
        ask_kernel(&value, attribute, function, device) == 0)
        return (uint32_t)value;
    return 0;
}

bool gpu_measure(GpuKernel *kernel, Handle function) {
    size_t count = 0, offset, bytes;
    if (kernel->measured)
        return kernel->parameters != NULL;
    kernel->measured = true;
    while (function_parameter(function, count, &offset, &bytes))
        count++;
    kernel->parameters = calloc(count + 1, sizeof *kernel->parameters);
    if (!kernel->parameters)
        return false;
    kernel->parameter_count = count;
    for (size_t i = 0; i < count; i++) {
        GpuParameter *parameter = &kernel->parameters[i];
        function_parameter(function, i, &parameter->offset, &parameter->bytes);
        kernel->parameter_bytes = parameter->offset + parameter->bytes;
    }
    for (int axis = 0; axis < 3; axis++)
        kernel->cluster[axis] = gpu_attribute(function, FUNCTION_CLUSTER + axis);
    return true;
}

uint64_t gpu_local(Handle function) {
    pthread_mutex_lock(&gpu_mutex);
    GpuKernel *kernel = gpu_kernel(function);
    if (kernel && !kernel->local_known) {
        kernel->local = gpu_attribute(function, FUNCTION_LOCAL);
        kernel->local_known = true;
    }
    uint64_t local = kernel ? kernel->local : 0;
    pthread_mutex_unlock(&gpu_mutex);
    return local;
}

void gpu_prefers(Handle function, bool caches, int value) {
    pthread_mutex_lock(&gpu_mutex);
    GpuKernel *kernel = gpu_kernel(function);
    if (kernel)
        *(caches ? &kernel->cache : &kernel->banks) = value + 1;
    pthread_mutex_unlock(&gpu_mutex);
}
