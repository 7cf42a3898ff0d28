/* A stand-in for the CUDA driver (libcuda.so.1) for machines without one: memory of a device is memory of the process,
 * a launch is counted, and a kernel's parameters are what tests/exec/program.c says that they are. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef int Result;
typedef void *Handle;
enum { SUCCESS = 0, INVALID = 1, UNKNOWN = 500 };

/* Kernels and the sizes of their parameters, in the order of their names in a module. */
typedef struct Kernel {
    const char *name;
    size_t sizes[6];
} Kernel;
static const Kernel kernels[] = {
    {"scale", {8, 8, 4, 4}}, /* float *to, const float *from, int count, float by */
    {"gather", {24, 1}},     /* struct { int *to; const int *from; int count; } by value, char */
    {"tile", {128, 8}},      /* tensor map, pointer */
    {"nothing", {0}},
};
static int launches;

Result cuInit(unsigned flags) {
    return flags ? INVALID : SUCCESS;
}

Result cuMemAlloc_v2(uint64_t *to, size_t bytes) {
    *to = (uintptr_t)calloc(1, bytes);
    return *to ? SUCCESS : INVALID;
}

Result cuMemFree_v2(uint64_t memory) {
    free((void *)(uintptr_t)memory);
    return SUCCESS;
}

Result cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes) {
    memcpy(to, (void *)(uintptr_t)from, bytes);
    return SUCCESS;
}

Result cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes) {
    memcpy((void *)(uintptr_t)to, from, bytes);
    return SUCCESS;
}

Result cuMemGetAddressRange_v2(uint64_t *begin, size_t *bytes, uint64_t address) {
    (void)begin;
    (void)bytes;
    (void)address;
    return INVALID; /* nothing but what was allocated through cuMemAlloc */
}

Result cuCtxSynchronize(void) {
    return SUCCESS;
}

Result cuStreamIsCapturing(Handle stream, int *status) {
    *status = stream == (Handle)1;
    return SUCCESS;
}

Result cuModuleLoadData(Handle *module, const void *image) {
    *module = (Handle)image;
    return SUCCESS;
}

Result cuLibraryLoadData(Handle *library, const void *image, int *jit, void **jit_values, unsigned jit_count,
                         int *options, void **values, unsigned count) {
    (void)jit, (void)jit_values, (void)jit_count, (void)options, (void)values, (void)count;
    *library = (char *)image + 1;
    return SUCCESS;
}

static Result find(Handle *to, const char *name) {
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (strcmp(kernels[i].name, name) == 0) {
            *to = (Handle)&kernels[i];
            return SUCCESS;
        }
    return UNKNOWN;
}

Result cuModuleGetFunction(Handle *function, Handle module, const char *name) {
    (void)module;
    return find(function, name);
}

Result cuLibraryGetKernel(Handle *kernel, Handle library, const char *name) {
    (void)library;
    return find(kernel, name);
}

Result cuFuncGetName(const char **name, Handle function) {
    *name = ((const Kernel *)function)->name;
    return SUCCESS;
}

Result cuFuncGetParamInfo(Handle function, size_t index, size_t *offset, size_t *bytes) {
    const Kernel *kernel = function;
    if (index >= 6 || !kernel->sizes[index])
        return INVALID;
    *offset = 0;
    for (size_t i = 0; i <= index; i++) {
        size_t size = kernel->sizes[i], align = size > 64 ? 64 : size > 8 ? 8 : size;
        *offset = (*offset + align - 1) / align * align + (i < index ? size : 0);
    }
    *bytes = kernel->sizes[index];
    return SUCCESS;
}

Result cuTensorMapEncodeTiled(void *to, int type, unsigned rank, void *address, const uint64_t *sizes,
                              const uint64_t *strides, const uint32_t *box, const uint32_t *steps, int interleave,
                              int swizzle, int promotion, int fill) {
    (void)strides, (void)steps, (void)interleave, (void)promotion, (void)fill, (void)type;
    uint64_t words[16] = {(uintptr_t)address, sizes[0], rank, box[0], (uint64_t)swizzle};
    memcpy(to, words, sizeof words);
    return SUCCESS;
}

Result cuLaunchKernel(Handle function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                      unsigned shared, Handle stream, void **parameters, void **extra) {
    (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared, (void)stream, (void)parameters;
    (void)extra;
    launches++;
    return function ? SUCCESS : INVALID;
}

Result cuLaunchKernelEx(const void *config, Handle function, void **parameters, void **extra) {
    (void)config, (void)parameters, (void)extra;
    launches++;
    return function ? SUCCESS : INVALID;
}

/* How many launches have reached the driver. */
int standin_launches(void) {
    return launches;
}

Result cuGetProcAddress_v2(const char *name, void **to, int version, uint64_t flags, int *status) {
    static const struct {
        const char *name;
        void (*function)(void);
    } all[] = {
        {"cuInit", (void (*)(void))cuInit},
        {"cuMemAlloc", (void (*)(void))cuMemAlloc_v2},
        {"cuMemFree", (void (*)(void))cuMemFree_v2},
        {"cuMemcpyHtoD", (void (*)(void))cuMemcpyHtoD_v2},
        {"cuModuleLoadData", (void (*)(void))cuModuleLoadData},
        {"cuModuleGetFunction", (void (*)(void))cuModuleGetFunction},
        {"cuLibraryLoadData", (void (*)(void))cuLibraryLoadData},
        {"cuLibraryGetKernel", (void (*)(void))cuLibraryGetKernel},
        {"cuTensorMapEncodeTiled", (void (*)(void))cuTensorMapEncodeTiled},
        {"cuLaunchKernel", (void (*)(void))cuLaunchKernel},
        {"cuLaunchKernelEx", (void (*)(void))cuLaunchKernelEx},
    };
    (void)version, (void)flags;
    *to = NULL;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].name, name) == 0)
            *to = *(void **)&all[i].function;
    if (status)
        *status = *to ? 0 : 1;
    return SUCCESS;
}
