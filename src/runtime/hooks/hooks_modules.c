/* Entry points of the driver that load modules and libraries, and find kernels in them: which function comes from which
 * image is remembered. Contexts that end are settled here, too. */
#include "runtime/hooks.h"
#include "runtime/record/gpu.h"

#include <stdlib.h>

/* What loads an image, beside the image itself. */
typedef struct HooksModuleLoad {
    Handle *handle;
    unsigned count;
    int *options;
    void **values;
    unsigned jit_count;
    int *jit;
    void **jit_values;
} HooksModuleLoad;
typedef Result Loader(const HooksModuleLoad *load, const void *image);
static Loader load_library;

/* ---- Beginning ----------------------------------------------------------------------------------- */

EXPORTED Result cuInit(unsigned flags) {
    hold_begin();
    return NEXT(cuInit, (unsigned), flags);
}

/* ---- Loading ------------------------------------------------------------------------------------- */

/* The image is loaded as it is: its kernels that are recorded have variants in images of their own (gpu_variants.c). */
static Result load_with(const HooksModuleLoad *load, const void *image, Loader *loader) {
    GpuModule *module = gpu_on() && image ? gpu_module(image) : NULL;
    Result result = loader(load, image);
    if (!result && module)
        gpu_loaded(*load->handle, module, loader == load_library);
    else if (!result && !gpu_on())
        GUARDED(module_loaded(*load->handle, image));
    return result;
}

static Result load_data(const HooksModuleLoad *load, const void *image) {
    hold_for_all();
    return NEXT(cuModuleLoadData, (Handle *, const void *), load->handle, image);
}

static Result load_data_ex(const HooksModuleLoad *load, const void *image) {
    hold_for_all();
    return NEXT(cuModuleLoadDataEx, (Handle *, const void *, unsigned, int *, void **), load->handle, image,
                load->count, load->options, load->values);
}

static Result load_fat(const HooksModuleLoad *load, const void *image) {
    hold_for_all();
    return NEXT(cuModuleLoadFatBinary, (Handle *, const void *), load->handle, image);
}

static Result load_library(const HooksModuleLoad *load, const void *image) {
    if (!hold_is_lazy())
        hold_for_all();
    return NEXT(cuLibraryLoadData, (Handle *, const void *, int *, void **, unsigned, int *, void **, unsigned),
                load->handle, image, load->jit, load->jit_values, load->jit_count, load->options, load->values,
                load->count);
}

EXPORTED Result cuModuleLoadData(Handle *module, const void *image) {
    return load_with(&(HooksModuleLoad){.handle = module}, image, load_data);
}

EXPORTED Result cuModuleLoadDataEx(Handle *module, const void *image, unsigned count, int *options, void **values) {
    return load_with(&(HooksModuleLoad){module, count, options, values, 0, NULL, NULL}, image, load_data_ex);
}

EXPORTED Result cuModuleLoadFatBinary(Handle *module, const void *image) {
    return load_with(&(HooksModuleLoad){.handle = module}, image, load_fat);
}

EXPORTED Result cuLibraryLoadData(Handle *library, const void *image, int *jit, void **jit_values, unsigned jit_count,
                                  int *options, void **values, unsigned count) {
    return load_with(&(HooksModuleLoad){library, count, options, values, jit_count, jit, jit_values}, image,
                     load_library);
}

/* What was loaded from a file: it is read once more. */
static void loaded_from(Handle handle, const char *path, bool library) {
    char *image = gpu_on() ? module_read(path) : NULL;
    GpuModule *module = image ? gpu_module(image) : NULL;
    if (module)
        gpu_loaded(handle, module, library);
    else if (!gpu_on())
        GUARDED(module_loaded_from(handle, path));
    free(image);
}

EXPORTED Result cuModuleLoad(Handle *module, const char *path) {
    hold_for_all();
    Result result = NEXT(cuModuleLoad, (Handle *, const char *), module, path);
    if (!result)
        loaded_from(*module, path, false);
    return result;
}

EXPORTED Result cuLibraryLoadFromFile(Handle *library, const char *path, int *jit, void **jit_values,
                                      unsigned jit_count, int *options, void **values, unsigned count) {
    if (!hold_is_lazy())
        hold_for_all();
    Result result =
        NEXT(cuLibraryLoadFromFile, (Handle *, const char *, int *, void **, unsigned, int *, void **, unsigned),
             library, path, jit, jit_values, jit_count, options, values, count);
    if (!result)
        loaded_from(*library, path, true);
    return result;
}

EXPORTED Result cuModuleUnload(Handle module) {
    if (gpu_on())
        gpu_unloaded(module);
    return NEXT(cuModuleUnload, (Handle), module);
}

EXPORTED Result cuLibraryUnload(Handle library) {
    if (!hold_is_lazy())
        hold_for_all();
    if (gpu_on())
        gpu_unloaded(library);
    return NEXT(cuLibraryUnload, (Handle), library);
}

/* ---- Kernels of a module ------------------------------------------------------------------------- */

static void same(Handle of, Handle from) {
    if (gpu_on())
        gpu_same(of, from);
    else
        GUARDED(module_same(of, from));
}

/* The same of one whose code may be loaded when it is used. */
static void same_later(Handle of, Handle from) {
    same(of, from);
    if (gpu_on() && hold_is_lazy())
        gpu_lazy(of);
    else if (gpu_on())
        gpu_variant_soon(of);
}

EXPORTED Result cuModuleGetFunction(Handle *function, Handle module, const char *name) {
    if (gpu_on() && name && gpu_asks_first(module, name))
        hold_for_all();
    Result result = NEXT(cuModuleGetFunction, (Handle *, Handle, const char *), function, module, name);
    if (!result)
        same(*function, module);
    if (!result && gpu_on())
        gpu_variant_soon(*function);
    return result;
}

EXPORTED Result cuLibraryGetKernel(Handle *kernel, Handle library, const char *name) {
    Result result = NEXT(cuLibraryGetKernel, (Handle *, Handle, const char *), kernel, library, name);
    if (!result)
        same_later(*kernel, library);
    return result;
}

EXPORTED Result cuLibraryGetModule(Handle *module, Handle library) {
    Result result = NEXT(cuLibraryGetModule, (Handle *, Handle), module, library);
    if (!result)
        same(*module, library);
    return result;
}

EXPORTED Result cuKernelGetFunction(Handle *function, Handle kernel) {
    if (gpu_on() && gpu_loads(kernel))
        hold_for_all();
    Result result = NEXT(cuKernelGetFunction, (Handle *, Handle), function, kernel);
    if (!result)
        same(*function, kernel);
    if (!result && gpu_on())
        gpu_variant_soon(*function);
    return result;
}

/* Preferences cannot be asked for: a variant gets those that were set. */
#define PREFERENCE(name, caches)                                    \
    EXPORTED Result name(Handle function, int value) {              \
        Result result = NEXT(name, (Handle, int), function, value); \
        if (!result && gpu_on())                                    \
            gpu_prefers(function, caches, value);                   \
        return result;                                              \
    }
PREFERENCE(cuFuncSetCacheConfig, true)
PREFERENCE(cuFuncSetSharedMemConfig, false)

EXPORTED Result cuKernelSetCacheConfig(Handle kernel, int value, int device) {
    Result result = NEXT(cuKernelSetCacheConfig, (Handle, int, int), kernel, value, device);
    if (!result && gpu_on())
        gpu_prefers(kernel, true, value);
    return result;
}

/* Local memory of all threads is made again for it. */
EXPORTED Result cuCtxSetLimit(int limit, size_t value) {
    if (limit == LIMIT_STACK)
        hold_for_all();
    return NEXT(cuCtxSetLimit, (int, size_t), limit, value);
}

/* ---- Contexts that end --------------------------------------------------------------------------- */

#define DESTROY_CONTEXT(exported)                 \
    EXPORTED Result exported(Handle context) {    \
        gpu_variants_end(NULL, context, -1);      \
        gpu_context_ends(context);                \
        return NEXT(exported, (Handle), context); \
    }
DESTROY_CONTEXT(cuCtxDestroy)
DESTROY_CONTEXT(cuCtxDestroy_v2)

#define END_PRIMARY(exported, resets)                              \
    EXPORTED Result exported(int device) {                         \
        gpu_variants_end(NULL, NULL, -1);                          \
        gpu_device_settle(device);                                 \
        Result result = NEXT(exported, (int), device);             \
        if (gpu_device_ended(device, resets && !result) || resets) \
            gpu_variants_end(NULL, NULL, device);                  \
        return result;                                             \
    }
END_PRIMARY(cuDevicePrimaryCtxReset, true)
END_PRIMARY(cuDevicePrimaryCtxReset_v2, true)
END_PRIMARY(cuDevicePrimaryCtxRelease, false)
END_PRIMARY(cuDevicePrimaryCtxRelease_v2, false)
