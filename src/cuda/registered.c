/* What the program's own code registers before main: images, and the addresses in it that stand for their kernels and
 * variables. Nothing is read here, since most programs never use most of it. */
#include "cuda/cuda.h"
#include "cuda/runtime.h"

#include "base/map.h"

#include <stdlib.h>
#include <string.h>

/* Something that the program has an address for. */
typedef struct Registered {
    const void *address; /* the map's key */
    CudaModule *module;
    const char *name;
    Kernel *kernel;
    void **managed; /* where its address goes */
    struct Registered *next;
} Registered;

static Map functions, variables;
static Registered *managed;
static pthread_mutex_t registering = PTHREAD_MUTEX_INITIALIZER;

static Str key_of(const void *const *address) {
    return (Str){(const char *)address, sizeof *address};
}

static Registered *add(Map *map, const void *address, CudaModule *module, const char *name) {
    Registered *one = calloc(1, sizeof *one);
    if (!one)
        return NULL;
    *one = (Registered){.address = address, .module = module, .name = name};
    void **place = map_put(map, key_of(&one->address));
    if (!place) {
        free(one);
        return NULL;
    }
    *place = one;
    return one;
}

EXPORTED void **__cudaRegisterFatBinary(void *wrapper) {
    pthread_mutex_lock(&registering);
    CudaModule *module = module_of_image(wrapper);
    pthread_mutex_unlock(&registering);
    return (void **)module;
}

EXPORTED void __cudaRegisterFatBinaryEnd(void **handle) {
    (void)handle;
}

/* Modules of a library that is closed; at the end of the process nothing has to be undone. */
EXPORTED void __cudaUnregisterFatBinary(void **handle) {
    (void)handle;
}

EXPORTED void __cudaRegisterFunction(void **handle, const char *function, char *device, const char *name, int threads,
                                     void *tid, void *bid, void *block, void *grid, int *warp) {
    (void)device, (void)threads, (void)tid, (void)bid, (void)block, (void)grid, (void)warp;
    pthread_mutex_lock(&registering);
    add(&functions, function, (CudaModule *)handle, name);
    pthread_mutex_unlock(&registering);
}

EXPORTED void __cudaRegisterVar(void **handle, char *variable, char *device, const char *name, int external,
                                size_t size, int constant, int global) {
    (void)device, (void)external, (void)size, (void)constant, (void)global;
    pthread_mutex_lock(&registering);
    add(&variables, variable, (CudaModule *)handle, name);
    pthread_mutex_unlock(&registering);
}

EXPORTED void __cudaRegisterManagedVar(void **handle, void **variable, char *device, const char *name, int external,
                                       size_t size, int constant, int global) {
    (void)device, (void)external, (void)size, (void)constant, (void)global;
    pthread_mutex_lock(&registering);
    Registered *one = add(&variables, variable, (CudaModule *)handle, name);
    if (one) {
        one->managed = variable;
        one->next = managed;
        managed = one;
    }
    pthread_mutex_unlock(&registering);
}

/* Before the program uses a managed variable, it asks for its module: its address is there then. */
EXPORTED char __cudaInitModule(void **handle) {
    Error error;
    if (!cuda_enter(__builtin_return_address(0), &error))
        return 0;
    for (Registered *one = managed; one; one = one->next) {
        weir_device_variable variable;
        if ((!handle || one->module == (CudaModule *)handle) && !*one->managed &&
            module_variable(one->module, one->name, &variable) == 0)
            *one->managed = variable.bytes;
    }
    cuda_unlock();
    return 1;
}

static Registered *look_up(const Map *map, const void *address) {
    pthread_mutex_lock(&registering);
    Registered *found = map_get(map, key_of(&address));
    pthread_mutex_unlock(&registering);
    return found;
}

Error registered_kernel(const void *function, Kernel **kernel) {
    if (kernel_is(function)) { /* a cudaKernel_t */
        *kernel = (Kernel *)(uintptr_t)function;
        return 0;
    }
    Registered *found = look_up(&functions, function);
    if (!found)
        return CUDA_INVALID_FUNCTION;
    Error error = found->kernel ? 0 : module_kernel(found->module, found->name, &found->kernel);
    *kernel = found->kernel;
    return error == CUDA_NOT_FOUND ? CUDA_INVALID_FUNCTION : error;
}

Error registered_variable(const void *symbol, weir_device_variable *variable) {
    Registered *found = look_up(&variables, symbol);
    if (!found)
        return CUDA_INVALID_SYMBOL;
    Error error = module_variable(found->module, found->name, variable);
    return error == CUDA_NOT_FOUND ? CUDA_INVALID_SYMBOL : error;
}
