/* The CUDA runtime: modules that the program loads, which are the driver's, and the driver's entry points. */
#include "cuda/driver.h"

/* ---- Modules ---- */

Error do_cudaLibraryLoadData(void **module, const void *image, const int *options, void **values, unsigned count,
                             const int *others, void **other_values, unsigned other_count) {
    if (other_count && (!others || !other_values))
        return CUDA_INVALID_VALUE;
    return do_cuModuleLoadDataEx(module, image, count, options, values);
}

Error do_cudaLibraryLoadFromFile(void **module, const char *path, const int *options, void **values, unsigned count,
                                 const int *others, void **other_values, unsigned other_count) {
    if ((count && (!options || !values)) || (other_count && (!others || !other_values)))
        return CUDA_INVALID_VALUE;
    return do_cuModuleLoad(module, path);
}

Error do_cudaLibraryUnload(void *module) {
    return do_cuModuleUnload(module);
}

Error do_cudaLibraryGetKernel(void **kernel, void *module, const char *name) {
    return do_cuModuleGetFunction(kernel, module, name);
}

Error do_cudaLibraryGetKernelCount(unsigned *count, void *module) {
    return do_cuModuleGetFunctionCount(count, module);
}

Error do_cudaLibraryEnumerateKernels(void **kernels, unsigned count, void *module) {
    return do_cuModuleEnumerateFunctions(kernels, count, module);
}

Error do_cudaLibraryGetGlobal(void **to, size_t *bytes, void *module, const char *name) {
    return do_cuModuleGetGlobal(to, bytes, module, name);
}

Error do_cudaLibraryGetManaged(void **to, size_t *bytes, void *module, const char *name) {
    return do_cuModuleGetGlobal(to, bytes, module, name);
}

Error do_cudaKernelSetAttributeForDevice(void *kernel, int attribute, int value, int device) {
    return device ? CUDA_INVALID_DEVICE : do_cudaFuncSetAttribute(kernel, attribute, value);
}

Error do_cudaGetFuncBySymbol(void **kernel, const void *function) {
    return do_cudaGetKernel(kernel, function);
}

/* ---- The driver's entry points ---- */

Error do_cudaGetDriverEntryPointByVersion(const char *name, void **to, unsigned version, unsigned long long flags,
                                          int *status) {
    enum { PER_THREAD = 2, MOST_FLAGS = 2, MOST_VERSION = 1 << 20 };
    int ignored;
    if (!name || !to || !*name || flags > MOST_FLAGS || version > MOST_VERSION)
        return CUDA_INVALID_VALUE;
    bool per_thread = flags == PER_THREAD || (!flags && stream_per_thread);
    *to = driver_entry(name, (int)version, per_thread, status ? status : &ignored);
    return *to || status ? 0 : CUDA_NOT_FOUND;
}

Error do_cudaGetDriverEntryPoint(const char *name, void **to, unsigned long long flags, int *status) {
    int version;
    do_cudaRuntimeGetVersion(&version);
    return do_cudaGetDriverEntryPointByVersion(name, to, (unsigned)version, flags, status);
}
