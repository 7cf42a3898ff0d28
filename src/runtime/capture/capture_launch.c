/* Writes a launch as a launch file (docs/launch.md) beside the module of the kernel: shape, arguments, and what the
 * memory that they point to holds before the launch. A launch whose shape and numbers were seen before is not written
 * again. */
#include "runtime/capture/capture.h"

#include "base/hash.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MOST_LAUNCHES = 4,      /* of one kernel, unless WEIR_CAPTURE_LAUNCHES says otherwise */
    MOST_BYTES = 1 << 16,   /* of one buffer in a file, unless WEIR_CAPTURE_BYTES says otherwise */
    READ_BYTES = 1 << 26,   /* of one buffer that are looked at: a rest of zeros is told in one word */
    MOST_PARAMETERS = 4096, /* a kernel's parameters have at most 32,764 bytes */
    PARAMETER_BYTES = 1 << 15,
    MOST_BUFFERS = 256,
    NAME_MOST = 60,
};

typedef struct SeenKernel {
    char *name;
    CaptureModule *module;
    char *path;           /* of its launches, without ".launch.json" */
    uint64_t *keys;       /* of the launches that were written */
    uint64_t count, seen; /* written; made */
} SeenKernel;

typedef struct CaptureLaunchParameter {
    size_t offset, bytes;
} CaptureLaunchParameter;

/* One launch while it is written. */
typedef struct CaptureLaunchWriting {
    FILE *to;
    const SeenLaunch *launch;
    unsigned char values[PARAMETER_BYTES];
    CaptureLaunchParameter parameters[MOST_PARAMETERS];
    size_t count;
    CaptureAllocation buffers[MOST_BUFFERS];
    size_t buffer_count;
    bool readable; /* the contents of memory may be read now */
} CaptureLaunchWriting;

static SeenKernel *kernels;
static size_t kernel_count;

/* ---- Values -------------------------------------------------------------------------------------- */

static bool take_values(CaptureLaunchWriting *writing) {
    const SeenLaunch *launch = writing->launch;
    const char *block = NULL;
    for (void **extra = launch->parameters ? NULL : launch->extra; extra && *extra != (void *)(uintptr_t)EXTRA_END;
         extra += 2)
        if (*extra == (void *)(uintptr_t)EXTRA_POINTER)
            block = extra[1];
    size_t offset, bytes;
    if (!driver_symbol("cuFuncGetParamInfo")) /* before CUDA 12.4 */
        return false;
    while (writing->count < MOST_PARAMETERS && function_parameter(launch->function, writing->count, &offset, &bytes)) {
        const char *from = launch->parameters ? launch->parameters[writing->count] : block ? block + offset : NULL;
        if (!from || offset + bytes > PARAMETER_BYTES)
            return false;
        memcpy(writing->values + offset, from, bytes);
        writing->parameters[writing->count++] = (CaptureLaunchParameter){offset, bytes};
    }
    return true;
}

static uint64_t word_at(const CaptureLaunchWriting *writing, size_t offset) {
    uint64_t word;
    memcpy(&word, writing->values + offset, sizeof word);
    return word;
}

/* What tells launches apart: the shape and the numbers, not the addresses. */
static uint64_t launch_key(const CaptureLaunchWriting *writing) {
    const SeenLaunch *launch = writing->launch;
    uint64_t key = hash_bytes(HASH_START, launch->grid, sizeof launch->grid);
    key = hash_bytes(key, launch->block, sizeof launch->block);
    key = hash_bytes(key, launch->cluster, sizeof launch->cluster);
    key = hash_bytes(key, &launch->shared, sizeof launch->shared);
    for (size_t i = 0; i < writing->count; i++) {
        const CaptureLaunchParameter *parameter = &writing->parameters[i];
        for (size_t at = 0; at < parameter->bytes; at += 8) {
            size_t rest = parameter->bytes - at < 8 ? parameter->bytes - at : 8;
            if (rest < 8 || !memory_find(word_at(writing, parameter->offset + at)))
                key = hash_bytes(key, writing->values + parameter->offset + at, rest);
        }
    }
    return key;
}

/* ---- Memory -------------------------------------------------------------------------------------- */

static void write_hex(FILE *to, const unsigned char *bytes, size_t count) {
    static const char digits[] = "0123456789abcdef";
    fputc('"', to);
    for (size_t i = 0; i < count; i++) {
        fputc(digits[bytes[i] >> 4], to);
        fputc(digits[bytes[i] & 15], to);
    }
    fputc('"', to);
}

/* Whether memory holds addresses of memory: they mean nothing in another run. */
static bool holds_addresses(const unsigned char *bytes, uint64_t count) {
    for (size_t at = 0; at + 8 <= count; at += 8) {
        uint64_t word;
        memcpy(&word, bytes + at, sizeof word);
        if (word >> 32 && word >> 48 == 0 && (memory_near(word) || memory_find(word)))
            return true;
    }
    return false;
}

/* `"data"` as far as it goes, and `"zero"` where the rest is that. */
static void write_contents(CaptureLaunchWriting *writing, const CaptureAllocation *allocation) {
    uint64_t most = folder_number("WEIR_CAPTURE_BYTES", MOST_BYTES);
    uint64_t looked = allocation->bytes < READ_BYTES ? allocation->bytes : most < READ_BYTES ? most : READ_BYTES;
    looked = looked < allocation->bytes ? looked : allocation->bytes;
    unsigned char *bytes = writing->readable ? malloc(looked) : NULL;
    if (!bytes || !memory_read(allocation, bytes, looked)) {
        free(bytes);
        return;
    }
    uint64_t used = looked;
    while (used && !bytes[used - 1])
        used--;
    uint64_t shown = used < most ? used : most, words = (shown + 7) / 8 * 8;
    if (holds_addresses(bytes, words < looked ? words : looked)) {
        fputs(", \"x-holds\": \"addresses\"", writing->to);
    } else {
        if (used) {
            fputs(", \"data\": ", writing->to);
            write_hex(writing->to, bytes, shown);
        }
        if (looked == allocation->bytes && used <= most)
            fputs(", \"zero\": true", writing->to);
    }
    free(bytes);
}

/* The number of a buffer in this file; `first`: nothing was said of it yet. */
static size_t buffer_number(CaptureLaunchWriting *writing, const CaptureAllocation *allocation, bool *first) {
    for (size_t i = 0; i < writing->buffer_count; i++)
        if (writing->buffers[i].begin == allocation->begin) {
            *first = false;
            return i;
        }
    *first = true;
    if (writing->buffer_count == MOST_BUFFERS)
        return MOST_BUFFERS;
    writing->buffers[writing->buffer_count] = *allocation;
    return writing->buffer_count++;
}

static void write_pointer(CaptureLaunchWriting *writing, uint64_t address, const CaptureAllocation *found) {
    CaptureAllocation allocation = *found; /* what the driver says of another address replaces it */
    bool first;
    size_t number = buffer_number(writing, &allocation, &first);
    uint64_t offset = address - allocation.begin;
    fprintf(writing->to, "{\"tensor\": {\"shape\": [%llu], \"dtype\": \"u8\", \"buffer\": \"b%zu\"",
            (unsigned long long)(allocation.bytes - offset), number);
    if (offset)
        fprintf(writing->to, ", \"offset\": %llu", (unsigned long long)offset);
    if (first)
        write_contents(writing, &allocation);
    fputs("}}", writing->to);
}

/* ---- Arguments ----------------------------------------------------------------------------------- */

static void write_list(FILE *to, const char *key, const uint64_t *numbers, unsigned count) {
    fprintf(to, ", \"%s\": [", key);
    for (unsigned i = count; i--;) /* the outermost first, as in the rest of the file */
        fprintf(to, "%llu%s", (unsigned long long)numbers[i], i ? ", " : "");
    fputc(']', to);
}

static void write_map(CaptureLaunchWriting *writing, const CaptureTensorMap *map) {
    static const char *const types[] = {"u8",  "u16", "u32",  "i32", "u64", "i64", "f16",
                                        "f32", "f64", "bf16", "f32", "f32", "f32"};
    static const uint64_t bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    size_t type = (size_t)map->type < sizeof types / sizeof *types ? (size_t)map->type : 0;
    uint64_t strides[TENSOR_MAP_DIMS] = {1}, box[TENSOR_MAP_DIMS], steps[TENSOR_MAP_DIMS];
    for (unsigned i = 0; i < map->rank; i++) {
        strides[i] = i ? map->strides[i] / bytes[type] : 1;
        box[i] = map->box[i];
        steps[i] = map->steps[i];
    }
    fprintf(writing->to, "{\"descriptor\": {\"dtype\": \"%s\"", types[type]);
    write_list(writing->to, "shape", map->sizes, map->rank);
    write_list(writing->to, "strides", strides, map->rank);
    write_list(writing->to, "block", box, map->rank);
    write_list(writing->to, "element_strides", steps, map->rank);
    fprintf(writing->to, ", \"interleave\": %d, \"swizzle\": %d, \"fill\": %d", map->interleave, map->swizzle,
            map->fill);
    const CaptureAllocation *found = memory_find(map->address);
    if (found) {
        CaptureAllocation allocation = *found;
        bool first;
        size_t number = buffer_number(writing, &allocation, &first);
        fprintf(writing->to, ", \"buffer\": \"b%zu\"", number);
        if (map->address != allocation.begin)
            fprintf(writing->to, ", \"offset\": %llu",
                    (unsigned long long)((map->address - allocation.begin) / bytes[type]));
        else if (first)
            write_contents(writing, &allocation);
    }
    fputs("}}", writing->to);
}

/* A number, or a struct: its bytes, zeros for those that are addresses, and where these are. */
static void write_bytes(CaptureLaunchWriting *writing, const CaptureLaunchParameter *parameter) {
    uint64_t addresses[PARAMETER_BYTES / 8];
    size_t words = parameter->bytes > 8 ? parameter->bytes / 8 : 0;
    for (size_t i = 0; i < words; i++) {
        addresses[i] = word_at(writing, parameter->offset + i * 8);
        if (memory_find(addresses[i]))
            memset(writing->values + parameter->offset + i * 8, 0, 8);
        else
            addresses[i] = 0;
    }
    fputs("{\"bytes\": ", writing->to);
    write_hex(writing->to, writing->values + parameter->offset, parameter->bytes);
    const char *before = ", \"pointers\": {";
    for (size_t i = 0; i < words; i++) {
        const CaptureAllocation *found = addresses[i] ? memory_find(addresses[i]) : NULL;
        if (!found)
            continue;
        fprintf(writing->to, "%s\"%zu\": ", before, i * 8);
        write_pointer(writing, addresses[i], found);
        before = ", ";
    }
    fputs(before[2] ? "}" : "}}", writing->to);
}

static void write_argument(CaptureLaunchWriting *writing, const CaptureLaunchParameter *parameter) {
    const CaptureTensorMap *map =
        parameter->bytes == TENSOR_MAP_BYTES ? map_find(writing->values + parameter->offset) : NULL;
    uint64_t address = parameter->bytes == 8 ? word_at(writing, parameter->offset) : 0;
    const CaptureAllocation *found = address ? memory_find(address) : NULL;
    if (map)
        write_map(writing, map);
    else if (found)
        write_pointer(writing, address, found);
    else
        write_bytes(writing, parameter);
}

static void write_triple(FILE *to, const char *key, const uint32_t *numbers) {
    fprintf(to, ",\n \"%s\": [%u, %u, %u]", key, numbers[0], numbers[1], numbers[2]);
}

static void write_launch(CaptureLaunchWriting *writing, const char *name) {
    const SeenLaunch *launch = writing->launch;
    fprintf(writing->to, "{\"kernel\": \"%s\"", name);
    write_triple(writing->to, "grid", launch->grid);
    write_triple(writing->to, "block", launch->block);
    if (launch->cluster[0])
        write_triple(writing->to, "cluster", launch->cluster);
    fprintf(writing->to, ",\n \"shared\": %u", launch->shared);
    if (launch->dependent)
        fputs(",\n \"dependent\": true", writing->to);
    fputs(",\n \"args\": [", writing->to);
    for (size_t i = 0; i < writing->count; i++) {
        fputs(i ? ",\n  " : "\n  ", writing->to);
        write_argument(writing, &writing->parameters[i]);
    }
    fputs("],\n \"from\": \"weir exec\"}\n", writing->to);
}

/* ---- Kernels and files --------------------------------------------------------------------------- */

static SeenKernel *find_kernel(const char *name, CaptureModule *module) {
    for (size_t i = 0; i < kernel_count; i++)
        if (kernels[i].module == module && strcmp(kernels[i].name, name) == 0)
            return &kernels[i];
    SeenKernel *more = realloc(kernels, (kernel_count + 1) * sizeof *more);
    char *copy = more ? strdup(name) : NULL;
    if (more)
        kernels = more;
    if (!copy)
        return NULL;
    kernels[kernel_count] = (SeenKernel){.name = copy, .module = module};
    return &kernels[kernel_count++];
}

/* The module's file for this kernel: the image itself, or another name of a file that has it. False: none can be made.
 * Processes may write to one folder: a name is taken by the first that makes it. */
static bool make_image(const char *path, CaptureModule *module) {
    if (module->path && link(module->path, path) == 0)
        return true;
    FILE *to = fopen(path, "wbx");
    if (!to)
        return false;
    bool good = module_write(to, module);
    good &= fclose(to) == 0;
    if (!module->path)
        module->path = strdup(path);
    return good;
}

static bool take_path(SeenKernel *kernel) {
    char name[NAME_MOST + 1], path[4096], image[4096 + 16];
    size_t length = 0;
    for (const char *at = kernel->name; *at && length < NAME_MOST; at++)
        name[length++] = isalnum((unsigned char)*at) ? *at : '_';
    name[length] = 0;
    for (unsigned number = 1; number < 10000 && !kernel->path; number++) {
        if (snprintf(path, sizeof path, "%s/%s-%u", folder_path(), name, number) >= (int)sizeof path)
            return false;
        snprintf(image, sizeof image, "%s%s", path, kernel->module->ending);
        if (access(image, F_OK) != 0 && make_image(image, kernel->module))
            kernel->path = strdup(path);
    }
    return kernel->path != NULL;
}

static FILE *open_launch(const SeenKernel *kernel) {
    char path[4096 + 64];
    if (kernel->count)
        snprintf(path, sizeof path, "%s.launch.%llu.json", kernel->path, (unsigned long long)kernel->count + 1);
    else
        snprintf(path, sizeof path, "%s.launch.json", kernel->path);
    return fopen(path, "wx");
}

static bool is_new(SeenKernel *kernel, uint64_t key) {
    for (uint64_t i = 0; i < kernel->count; i++)
        if (kernel->keys[i] == key)
            return false;
    uint64_t *more = realloc(kernel->keys, (kernel->count + 1) * sizeof *more);
    if (!more)
        return false;
    kernel->keys = more;
    kernel->keys[kernel->count] = key;
    return true;
}

/* Everything that the program has asked for so far is done, unless a graph is being captured: to wait for the
 * context would invalidate that. */
static bool settle(const SeenLaunch *launch) {
    void *wait = driver_symbol("cuCtxSynchronize");
    Result (*synchronize)(void) = *(Result(**)(void)) & wait;
    return !launch->later && !capture_underway() && synchronize && synchronize() == 0;
}

static void write_seen(SeenKernel *kernel, CaptureLaunchWriting *writing) {
    uint64_t most = folder_number("WEIR_CAPTURE_LAUNCHES", MOST_LAUNCHES);
    kernel->seen++;
    if (kernel->count >= most || !is_new(kernel, launch_key(writing)))
        return;
    if (!kernel->path && !take_path(kernel)) {
        folder_log("note kernel %s could not be written", kernel->name);
        return;
    }
    writing->to = open_launch(kernel);
    if (!writing->to)
        return;
    writing->readable = settle(writing->launch);
    write_launch(writing, kernel->name);
    fclose(writing->to);
    kernel->count++;
}

void launch_seen(const SeenLaunch *launch) {
    if (!folder_path())
        return;
    const char *name = function_name(launch->function);
    if (!name) {
        folder_log("note a kernel was launched whose name this driver does not tell: it was not checked");
        return;
    }
    CaptureModule *module = module_of(launch->function);
    if (!module)
        module = module_with(name);
    if (!module || !module_has_ptx(module)) {
        folder_log("note kernel %s has no PTX, only machine code: it was not checked", name);
        return;
    }
    SeenKernel *kernel = find_kernel(name, module);
    CaptureLaunchWriting *writing = kernel ? calloc(1, sizeof *writing) : NULL;
    if (!writing)
        return;
    writing->launch = launch;
    if (take_values(writing))
        write_seen(kernel, writing);
    else
        folder_log("note the arguments of kernel %s could not be read: it was not checked", name);
    free(writing);
}

/* What this process has seen, for the process that started it. */
__attribute__((destructor)) static void say_counts(void) {
    uint64_t launches = 0, written = 0;
    for (size_t i = 0; i < kernel_count; i++) {
        launches += kernels[i].seen;
        written += kernels[i].count;
    }
    if (kernel_count)
        folder_log("counts %ld %zu %llu %llu", (long)getpid(), kernel_count, (unsigned long long)launches,
                   (unsigned long long)written);
}
