/* Entry points of the driver that load modules and libraries, and find kernels in them: which function comes from which
 * image is remembered, and in mode record the image that is loaded is an instrumented one. Contexts that end are
 * settled here, too. */
#include "exec/gpu.h"
#include "exec/hooks.h"

#include <stdlib.h>

/* What loads an image, beside the image itself. */
typedef struct Load {
    Handle *handle;
    unsigned count;
    int *options;
    void **values;
    unsigned jit_count;
    int *jit;
    void **jit_values;
} Load;
typedef Result Loader(const Load *load, const void *image);

/* ---- Beginning ----------------------------------------------------------------------------------- */

EXPORTED Result cuInit(unsigned flags) {
    hold_begin();
    return NEXT(cuInit, (unsigned), flags);
}

/* ---- Loading ------------------------------------------------------------------------------------- */

/* An instrumented image that the driver does not take leaves the program with its own. */
static Result load_recorded(const Load *load, const void *image, Loader *loader) {
    GpuModule *module = gpu_module(image);
    Result result = loader(load, module && module->image ? module->image : image);
    if (result && module && module->image) {
        module = gpu_refused(module, result);
        result = loader(load, image);
    }
    if (!result && module)
        gpu_loaded(*load->handle, module);
    return result;
}

static Result load_with(const Load *load, const void *image, Loader *loader) {
    if (gpu_on() && image)
        return load_recorded(load, image, loader);
    Result result = loader(load, image);
    if (!result)
        GUARDED(module_loaded(*load->handle, image));
    return result;
}

static Result load_data(const Load *load, const void *image) {
    hold_for_all();
    return NEXT(cuModuleLoadData, (Handle *, const void *), load->handle, image);
}

static Result load_data_ex(const Load *load, const void *image) {
    hold_for_all();
    return NEXT(cuModuleLoadDataEx, (Handle *, const void *, unsigned, int *, void **), load->handle, image,
                load->count, load->options, load->values);
}

static Result load_fat(const Load *load, const void *image) {
    hold_for_all();
    return NEXT(cuModuleLoadFatBinary, (Handle *, const void *), load->handle, image);
}

static Result load_library(const Load *load, const void *image) {
    if (!hold_is_lazy())
        hold_for_all();
    return NEXT(cuLibraryLoadData, (Handle *, const void *, int *, void **, unsigned, int *, void **, unsigned),
                load->handle, image, load->jit, load->jit_values, load->jit_count, load->options, load->values,
                load->count);
}

EXPORTED Result cuModuleLoadData(Handle *module, const void *image) {
    return load_with(&(Load){.handle = module}, image, load_data);
}

EXPORTED Result cuModuleLoadDataEx(Handle *module, const void *image, unsigned count, int *options, void **values) {
    return load_with(&(Load){module, count, options, values, 0, NULL, NULL}, image, load_data_ex);
}

EXPORTED Result cuModuleLoadFatBinary(Handle *module, const void *image) {
    return load_with(&(Load){.handle = module}, image, load_fat);
}

EXPORTED Result cuLibraryLoadData(Handle *library, const void *image, int *jit, void **jit_values, unsigned jit_count,
                                  int *options, void **values, unsigned count) {
    return load_with(&(Load){library, count, options, values, jit_count, jit, jit_values}, image, load_library);
}

EXPORTED Result cuModuleLoad(Handle *module, const char *path) {
    char *image = gpu_on() ? module_read(path) : NULL;
    if (image) {
        Result result = load_recorded(&(Load){.handle = module}, image, load_data);
        free(image);
        return result;
    }
    Result result = NEXT(cuModuleLoad, (Handle *, const char *), module, path);
    if (!result)
        GUARDED(module_loaded_from(*module, path));
    return result;
}

/* (A library may be told that its image stays where it is: what was read is kept.) */
EXPORTED Result cuLibraryLoadFromFile(Handle *library, const char *path, int *jit, void **jit_values,
                                      unsigned jit_count, int *options, void **values, unsigned count) {
    char *image = gpu_on() ? module_read(path) : NULL;
    if (image)
        return load_recorded(&(Load){library, count, options, values, jit_count, jit, jit_values}, image, load_library);
    Result result =
        NEXT(cuLibraryLoadFromFile, (Handle *, const char *, int *, void **, unsigned, int *, void **, unsigned),
             library, path, jit, jit_values, jit_count, options, values, count);
    if (!result)
        GUARDED(module_loaded_from(*library, path));
    return result;
}

EXPORTED Result cuModuleUnload(Handle module) {
    gpu_unloaded(module);
    return NEXT(cuModuleUnload, (Handle), module);
}

EXPORTED Result cuLibraryUnload(Handle library) {
    if (!hold_is_lazy())
        hold_for_all();
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
}

EXPORTED Result cuModuleGetFunction(Handle *function, Handle module, const char *name) {
    if (gpu_on() && name && gpu_asks_first(module, name))
        hold_for_all();
    Result result = NEXT(cuModuleGetFunction, (Handle *, Handle, const char *), function, module, name);
    if (!result)
        same(*function, module);
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
    return result;
}

/* The program's kernels have the parameters that it gave them. */
#define PARAMETER_INFO(name)                                                                              \
    EXPORTED Result name(Handle function, size_t index, size_t *offset, size_t *bytes) {                  \
        Result result = NEXT(name, (Handle, size_t, size_t *, size_t *), function, index, offset, bytes); \
        return !result && gpu_on() && gpu_is_ours(function, index) ? INVALID_VALUE : result;              \
    }
PARAMETER_INFO(cuFuncGetParamInfo)
PARAMETER_INFO(cuKernelGetParamInfo)

/* Local memory of all threads is made anew for it. */
EXPORTED Result cuCtxSetLimit(int limit, size_t value) {
    if (limit == LIMIT_STACK)
        hold_for_all();
    return NEXT(cuCtxSetLimit, (int, size_t), limit, value);
}

/* ---- Contexts that end --------------------------------------------------------------------------- */

EXPORTED Result cuCtxDestroy_v2(Handle context) {
    gpu_context_ends(context);
    return NEXT(cuCtxDestroy_v2, (Handle), context);
}

EXPORTED Result cuDevicePrimaryCtxReset_v2(int device) {
    gpu_device_settle(device);
    Result result = NEXT(cuDevicePrimaryCtxReset_v2, (int), device);
    gpu_device_ended(device, !result);
    return result;
}

EXPORTED Result cuDevicePrimaryCtxRelease_v2(int device) {
    gpu_device_settle(device);
    Result result = NEXT(cuDevicePrimaryCtxRelease_v2, (int), device);
    gpu_device_ended(device, false);
    return result;
}
