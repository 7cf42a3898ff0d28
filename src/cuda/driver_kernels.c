/* The CUDA driver: modules that the program loads, their kernels and variables; launches, occupancy, tensor maps. A
 * module and a library are the same thing here, and so are a function and a kernel. */
#include "cuda/driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Modules ---- */

static Error load(void **to, const void *image, size_t bytes) {
    CudaModule *module = module_of_image(image);
    *to = module;
    if (!module)
        return CUDA_NO_MEMORY;
    module->loaded = true;
    module->image_bytes = bytes;
    Error error = module_read(module);
    module->image = NULL; /* the program may reuse its memory */
    if (error)
        module_unload(module);
    return error;
}

Error do_cuModuleLoadData(void **to, const void *image) {
    return to && image ? load(to, image, 0) : CUDA_INVALID_VALUE;
}

/* With a zero behind it. */
static char *read_file(const char *path, size_t *bytes) {
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    long size = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (size >= 0 && size < INT32_MAX && fseek(file, 0, SEEK_SET) == 0)
        text = calloc(1, (size_t)size + 1);
    if (text && fread(text, 1, (size_t)size, file) != (size_t)size) {
        free(text);
        text = NULL;
    }
    if (file)
        fclose(file);
    *bytes = text ? (size_t)size : 0;
    return text;
}

Error do_cuModuleLoad(void **to, const char *path) {
    if (!to || !path)
        return CUDA_INVALID_VALUE;
    size_t bytes;
    char *image = read_file(path, &bytes);
    Error error = !image ? CUDA_FILE_NOT_FOUND : bytes ? load(to, image, bytes) : CUDA_INVALID_IMAGE;
    free(image);
    return error;
}

/* Options say where a log goes, and how large it may be; nothing is said here. */
Error do_cuModuleLoadDataEx(void **to, const void *image, unsigned count, const int *options, void **values) {
    enum { INFO = 3, INFO_BYTES = 4, PROBLEMS = 5, PROBLEMS_BYTES = 6, MOST_OPTIONS = 64 };
    if (count > MOST_OPTIONS || (count && (!options || !values)))
        return CUDA_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) {
        if ((options[i] == INFO || options[i] == PROBLEMS) && values[i])
            *(char *)values[i] = 0;
        else if (options[i] == INFO_BYTES || options[i] == PROBLEMS_BYTES)
            values[i] = NULL;
    }
    return do_cuModuleLoadData(to, image);
}

Error do_cuModuleUnload(void *handle) {
    CudaModule *module = module_of(handle);
    if (!module)
        return CUDA_INVALID_HANDLE;
    module_unload(module);
    return 0;
}

Error do_cuModuleGetFunction(void **to, void *handle, const char *name) {
    CudaModule *module = module_of(handle);
    Kernel *kernel = NULL;
    if (!to || !name || !*name || !module)
        return module ? CUDA_INVALID_VALUE : CUDA_INVALID_HANDLE;
    Error error = module_kernel(module, name, &kernel);
    if (!error)
        *to = kernel;
    return error;
}

Error do_cuModuleGetFunctionCount(unsigned *count, void *handle) {
    const CudaModule *module = module_of(handle);
    if (!count || !module)
        return module ? CUDA_INVALID_VALUE : CUDA_INVALID_HANDLE;
    *count = (unsigned)weir_kernel_count(module->module);
    return 0;
}

Error do_cuModuleEnumerateFunctions(void **to, unsigned count, void *handle) {
    CudaModule *module = module_of(handle);
    if (!to || !module)
        return module ? CUDA_INVALID_VALUE : CUDA_INVALID_HANDLE;
    for (unsigned i = 0; i < count && i < weir_kernel_count(module->module); i++) {
        weir_string name = weir_kernel_name(module->module, i);
        char *text = strndup(name.data, name.size);
        Error error = text ? do_cuModuleGetFunction(&to[i], module, text) : CUDA_NO_MEMORY;
        free(text);
        if (error)
            return error;
    }
    return 0;
}

Error do_cuModuleGetGlobal(void **to, size_t *bytes, void *handle, const char *name) {
    CudaModule *module = module_of(handle);
    weir_device_variable variable;
    if (!name || !module || (!to && !bytes))
        return module ? CUDA_INVALID_VALUE : CUDA_INVALID_HANDLE;
    Error error = module_variable(module, name, &variable);
    if (!error && to)
        *to = variable.bytes;
    if (!error && bytes)
        *bytes = variable.size;
    return error;
}

Error do_cuLibraryGetModule(void **to, void *library) {
    if (!to || !module_of(library))
        return to ? CUDA_INVALID_HANDLE : CUDA_INVALID_VALUE;
    *to = library;
    return 0;
}

Error do_cuKernelGetFunction(void **to, void *kernel) {
    if (!to || !kernel_is(kernel))
        return to ? CUDA_INVALID_HANDLE : CUDA_INVALID_VALUE;
    *to = kernel;
    return 0;
}

Error do_cuFuncGetModule(void **to, void *function) {
    if (!to || !kernel_is(function))
        return to ? CUDA_INVALID_HANDLE : CUDA_INVALID_VALUE;
    *to = ((Kernel *)function)->module;
    return 0;
}

Error do_cuFuncGetAttribute(int *value, int attribute, void *function) {
    FunctionAttributes of;
    Error error = value && kernel_is(function) ? do_cudaFuncGetAttributes(&of, function)
                  : value                      ? CUDA_INVALID_HANDLE
                                               : CUDA_INVALID_VALUE;
    const int all[] = {of.threads,    (int)of.shared,    (int)of.constant,
                       (int)of.local, of.registers,      of.ptx,
                       of.binary,     of.cache,          of.dynamic,
                       of.carveout,   of.cluster_needed, of.cluster[0],
                       of.cluster[1], of.cluster[2],     !error && ((Kernel *)function)->large_cluster,
                       of.scheduling};
    if (error || attribute < 0 || attribute >= (int)(sizeof all / sizeof *all))
        return error ? error : CUDA_INVALID_VALUE;
    *value = all[attribute];
    return 0;
}

/* ---- Linking: of one image of PTX ---- */

typedef struct LinkState {
    struct LinkState *next;
    void *image;
    size_t size;
} LinkState;
static LinkState *links;

static LinkState *link_of(const void *handle) {
    LinkState *link = links;
    while (link && link != handle)
        link = link->next;
    return link;
}

Error do_cuLinkCreate(unsigned count, const int *options, void **values, void **state) {
    if (!state || (count && (!options || !values)))
        return CUDA_INVALID_VALUE;
    LinkState *link = calloc(1, sizeof *link);
    *state = link;
    if (!link)
        return CUDA_NO_MEMORY;
    link->next = links;
    links = link;
    return 0;
}

Error do_cuLinkAddData(void *state, int type, const void *data, size_t size) {
    enum { PTX = 1 };
    LinkState *link = link_of(state);
    if (!link || !data || !size || size > INT32_MAX)
        return link ? CUDA_INVALID_VALUE : CUDA_INVALID_HANDLE;
    if (link->image || type != PTX) {
        cuda_note("%s: what is linked of it was not checked",
                  link->image ? "cuLinkAddData links one image of PTX alone without a GPU"
                              : "cuLinkAddData takes PTX alone without a GPU");
        return CUDA_NOT_SUPPORTED;
    }
    link->image = calloc(1, size + 1);
    if (!link->image)
        return CUDA_NO_MEMORY;
    memcpy(link->image, data, size);
    link->size = size;
    return 0;
}

Error do_cuLinkAddFile(void *state, int type, const char *path) {
    if (!link_of(state) || !path)
        return path ? CUDA_INVALID_HANDLE : CUDA_INVALID_VALUE;
    size_t bytes;
    char *image = read_file(path, &bytes);
    Error error = image ? do_cuLinkAddData(state, type, image, bytes) : CUDA_FILE_NOT_FOUND;
    free(image);
    return error;
}

/* To the program the image is machine code; it is the PTX. */
Error do_cuLinkComplete(void *state, void **image, size_t *size) {
    const LinkState *link = link_of(state);
    if (!link || !image || !link->image)
        return link ? CUDA_INVALID_VALUE : CUDA_INVALID_HANDLE;
    *image = link->image;
    if (size)
        *size = link->size;
    return 0;
}

Error do_cuLinkDestroy(void *state) {
    for (LinkState **at = &links; *at; at = &(*at)->next) {
        LinkState *link = *at;
        if (link != state)
            continue;
        *at = link->next;
        free(link->image);
        free(link);
        return 0;
    }
    return CUDA_INVALID_HANDLE;
}

/* ---- Launches ---- */

Error do_cuLaunchKernel(void *function, Dim3 grid, Dim3 block, unsigned shared, void *stream, void **parameters,
                        void **extra, bool cooperative) {
    void *places[MOST_PARAMETERS];
    CudaLaunch made = {.kernel = function, .parameters = parameters};
    Error error = kernel_is(function) ? launch_parameters(&made, extra, places) : CUDA_INVALID_HANDLE;
    if (error)
        return error;
    return cooperative ? do_cudaLaunchCooperativeKernel(function, grid, block, made.parameters, shared, stream)
                       : do_cudaLaunchKernel(function, grid, block, made.parameters, shared, stream);
}

static RuntimeConfig config_of(const DriverConfig *given) {
    return (RuntimeConfig){given->grid,   given->block,      given->shared,
                           given->stream, given->attributes, given->attribute_count};
}

Error do_cuLaunchKernelEx(const DriverConfig *config, void *function, void **parameters, void **extra) {
    void *places[MOST_PARAMETERS];
    CudaLaunch made = {.kernel = function, .parameters = parameters};
    if (!config)
        return CUDA_INVALID_VALUE;
    Error error = kernel_is(function) ? launch_parameters(&made, extra, places) : CUDA_INVALID_HANDLE;
    RuntimeConfig runtime = config_of(config);
    return error ? error : do_cudaLaunchKernelExC(&runtime, function, made.parameters);
}

/* ---- Occupancy ---- */

typedef size_t SharedOf(int threads);

/* The most threads of a CTA with which most threads run at the same time. */
Error do_cuOccupancyMaxPotentialBlockSize(int *ctas, int *threads, void *function, void *shared_of, size_t shared,
                                          int most) {
    enum { WARP = 32 };
    FunctionAttributes of;
    int best = 0;
    if (!ctas || !threads || !kernel_is(function))
        return ctas && threads ? CUDA_INVALID_HANDLE : CUDA_INVALID_VALUE;
    Error error = do_cudaFuncGetAttributes(&of, function);
    most = most > 0 && most < of.threads ? most : of.threads;
    for (int size = most; !error && size > 0; size = (size - 1) / WARP * WARP) {
        int fit = 0;
        if (shared_of) {
            cuda_unlock();
            shared = (*(SharedOf **)&shared_of)(size);
            cuda_relock();
            if (!kernel_is(function))
                return CUDA_INVALID_HANDLE;
        }
        error = do_cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, function, size, shared);
        if (fit * size <= best)
            continue;
        best = fit * size;
        *threads = size;
        *ctas = fit * cuda.target->processors;
    }
    return error || best ? error : CUDA_INVALID_VALUE;
}

Error do_cuOccupancyClusters(int *to, void *function, const DriverConfig *config, bool size) {
    if (!config || !kernel_is(function))
        return config ? CUDA_INVALID_HANDLE : CUDA_INVALID_VALUE;
    RuntimeConfig runtime = config_of(config);
    return size ? do_cudaOccupancyMaxPotentialClusterSize(to, function, &runtime)
                : do_cudaOccupancyMaxActiveClusters(to, function, &runtime);
}

/* ---- Tensor maps ---- */

/* Bytes of an element of CUtensorMapDataType; 0: there is no such, or it is packed. */
static unsigned element_bytes(int type) {
    static const unsigned char bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    return type >= 0 && type < (int)sizeof bytes ? bytes[type] : 0;
}

/* What CUDA's documentation requires of a map without an interleaved layout. */
static bool is_tensor(const weir_tensormap *map) {
    static const unsigned swizzled[] = {0, 32, 64, 128};
    unsigned element = element_bytes((int)map->type);
    if (map->rank < 1 || map->rank > 5 || map->address % 16 || map->swizzle > 3 || map->fill > 1)
        return false;
    for (unsigned i = 0; i < map->rank; i++)
        if (!map->sizes[i] || map->sizes[i] > UINT64_C(1) << 32 || !map->box[i] || map->box[i] > 256 ||
            !map->steps[i] || map->steps[i] > 8 ||
            (i && (map->strides[i] % 16 || map->strides[i] >= UINT64_C(1) << 40)))
            return false;
    unsigned inner = map->box[0] * element;
    return inner % 16 == 0 && (!map->swizzle || inner <= swizzled[map->swizzle]);
}

Error do_cuTensorMapEncodeTiled(void *to, int type, unsigned rank, void *address, const uint64_t *sizes,
                                const uint64_t *strides, const uint32_t *box, const uint32_t *steps, int interleave,
                                int swizzle, int promotion, int fill) {
    enum { MOST_RANK = 5, NO_INTERLEAVE = 0, MOST_PROMOTION = 3 };
    weir_tensormap map = {.type = (unsigned)type,
                          .rank = rank,
                          .address = (uintptr_t)address,
                          .interleave = (unsigned)interleave,
                          .swizzle = (unsigned)swizzle,
                          .fill = (unsigned)fill};
    if (!to || rank < 1 || rank > MOST_RANK || !sizes || !box || !steps || !address || (rank > 1 && !strides) ||
        promotion < 0 || promotion > MOST_PROMOTION)
        return CUDA_INVALID_VALUE;
    memcpy(map.sizes, sizes, rank * sizeof *sizes);
    memcpy(map.box, box, rank * sizeof *box);
    memcpy(map.steps, steps, rank * sizeof *steps);
    if (rank > 1)
        memcpy(&map.strides[1], strides, (rank - 1) * sizeof *strides);
    bool large = false;
    for (unsigned i = 0; i < rank; i++)
        large |= sizes[i] == UINT64_C(1) << 32;
    if (interleave != NO_INTERLEAVE || !element_bytes(type) || swizzle > 3 || large) {
        bool known = interleave >= 0 && interleave <= 2 && type >= 0 && type <= 15 && swizzle >= 0 && swizzle <= 6;
        if (known)
            cuda_note("cuTensorMapEncodeTiled: a map that is interleaved, of packed elements, swizzled by atoms, or of "
                      "2^32 elements is not there without a GPU: the program got error %d, and what it would have "
                      "done is not checked",
                      CUDA_NOT_SUPPORTED);
        return known ? CUDA_NOT_SUPPORTED : CUDA_INVALID_VALUE;
    }
    return is_tensor(&map) && weir_device_tensormap(&map, to) == 0 ? 0 : CUDA_INVALID_VALUE;
}
