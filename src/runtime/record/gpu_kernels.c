/* Which image a handle of the driver belongs to: modules and libraries, and the functions and kernels in them. */
#include "base/table.h"
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

typedef TABLE_OF(GpuKernelKnown) GpuKernelTable;
static GpuKernelTable table;

/* ---- The table ----------------------------------------------------------------------------------- */

static void *take(const void *nothing, size_t size) {
    (void)nothing;
    return calloc(1, size);
}
#define GIVE(nothing, items, size) free(items)
TABLE_IN(known, GpuKernelTable, GpuKernelKnown, Handle, const void, take, GIVE, 256, item->handle, item->handle,
         (uint32_t)(((uintptr_t)key * UINT64_C(0x9e3779b97f4a7c15)) >> 20), item->handle == key)

static GpuKernelKnown *find(Handle handle) {
    return known_find(&table, handle);
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
    known = known_put(NULL, &table, handle);
    if (known)
        *known = (GpuKernelKnown){.handle = handle, .owner = owner, .module = module, .library = library};
    return known;
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
    for (uint32_t i = 0; i < table.capacity;) {
        GpuKernelKnown *known = &table.items[i];
        if (!known->handle || known->owner != handle) {
            i++;
            continue;
        }
        free_names(known);
        *known_remove(&table, known->handle) = (GpuKernelKnown){0}; /* another one may stand here now */
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
    for (uint32_t i = 0; name && of_kernel && i < table.capacity; i++) {
        const GpuKernelKnown *known = &table.items[i];
        Handle handle = known->handle, found = NULL;
        if (!handle || handle == known->owner || !known->library)
            continue;
        other = known->kernel ? known->kernel->name : function_name(handle);
        if (other && strcmp(other, name) == 0 && of_kernel(&found, handle) == 0 && found == function)
            return known;
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
