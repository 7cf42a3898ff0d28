/* A stand-in for the CUDA driver (libcuda.so.1) that runs kernels: in the machine of PTX. Memory of the device is
 * memory of the process, at addresses that the machine has no other use for; everything is done when it is asked for.
 * Where STANDIN_LATER is set, a kernel that hangs does so after its launch, and calls that wait for it lock others out;
 * where it is `asked`, no wait of it gives up before the program has asked whether it runs.
 * Waits that have a limit of less than three seconds are run by the machine's clock; who gave up stands by in the
 * launch. */
#include "gpu.h"

#include "machine/simt/schedule/schedule.h"
#include "ptx/reader.h"
#include "trace/record.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define ARENA_BEGIN     UINT64_C(0x300000000)
#define ARENA_BYTES     (UINT64_C(1) << 31)
#define VARIABLES_BEGIN (ARENA_BEGIN + (UINT64_C(1) << 27)) /* of modules */
#define RANGES_BEGIN    (ARENA_BEGIN + (UINT64_C(1) << 28)) /* of addresses that are reserved, from here on */
enum { DEVICE_BYTES = 1 << 28, PAGE = 1 << 16, ALIGN = 512, BLOCKS = 1024, BUDGET = 100000000 };

/* ---- A kernel that runs yet ---------------------------------------------------------------------- */

enum { QUEUE = 1000 };
static volatile bool running, was_asked;
static int running_on;  /* that device */
static unsigned queued; /* things since it began */
static pthread_mutex_t inside = PTHREAD_MUTEX_INITIALIZER;

static int device_now(void);

/* As the driver does it in many calls: for what runs on the device of the thread. */
EXPORTED void standin_waits(void) {
    pthread_mutex_lock(&inside);
    while (running && running_on == device_now())
        usleep(1000);
    pthread_mutex_unlock(&inside);
}

EXPORTED int standin_runs(void) {
    int runs = running;
    was_asked = true;
    return runs;
}

void standin_put(void) {
    if (running && __atomic_add_fetch(&queued, 1, __ATOMIC_RELAXED) > QUEUE)
        standin_waits();
}

void standin_entered(void) {
    pthread_mutex_lock(&inside);
    pthread_mutex_unlock(&inside);
}

/* ---- Memory -------------------------------------------------------------------------------------- */

typedef struct Memory {
    Address begin;
    size_t bytes;
    bool freed;
    const void *of; /* a variable of that module; NULL: it is none */
} Memory;

static Memory blocks[BLOCKS];
static unsigned block_count;
static Address next_free, next_variable = VARIABLES_BEGIN;
static int launches, ours_of_program, loaded_modules;
static Result failure; /* of a launch: all that comes after it fails */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

Result standin_failure(void) {
    return failure;
}

static bool is_there(void) {
    if (!next_free) {
        int file = arena_file(ARENA_BYTES);
        void *arena =
            mmap((void *)(uintptr_t)ARENA_BEGIN, ARENA_BYTES, PROT_READ | PROT_WRITE,
                 (file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED) | MAP_NORESERVE | MAP_FIXED_NOREPLACE, file, 0);
        if (arena == MAP_FAILED)
            return false;
        next_free = ARENA_BEGIN;
    }
    return true;
}

static Address allocate(size_t bytes) {
    if (!is_there())
        return 0;
    Address begin = next_free;
    if (block_count == BLOCKS || bytes > VARIABLES_BEGIN - next_free)
        return 0;
    next_free += (bytes + ALIGN) / ALIGN * ALIGN;
    blocks[block_count++] = (Memory){begin, bytes, false, NULL};
    return begin;
}

static Address allocate_variable(size_t bytes, const void *of) {
    if (!is_there() || block_count == BLOCKS || bytes > RANGES_BEGIN - next_variable)
        return 0;
    Address begin = next_variable;
    next_variable += (bytes + ALIGN) / ALIGN * ALIGN;
    blocks[block_count++] = (Memory){begin, bytes, false, of};
    return begin;
}

static uint64_t mapped; /* bytes */

/* STANDIN_MEMORY: mebibytes that the device has for an allocation and all that is mapped. */
EXPORTED Result cuMemAlloc_v2(Address *to, size_t bytes) {
    Result result = capture_unsafe();
    if (result)
        return result;
    const char *memory = getenv("STANDIN_MEMORY");
    if (memory && bytes + mapped > strtoull(memory, NULL, 10) << 20)
        return NO_MEMORY;
    pthread_mutex_lock(&mutex);
    *to = allocate(bytes);
    pthread_mutex_unlock(&mutex);
    return *to ? SUCCESS : NO_MEMORY;
}

EXPORTED Result cuMemHostAlloc(void **to, size_t bytes, unsigned flags) {
    Address begin;
    (void)flags;
    Result result = cuMemAlloc_v2(&begin, bytes);
    *to = (void *)(uintptr_t)begin;
    return result;
}

EXPORTED Result cuMemFree_v2(Address memory) {
    Result result = capture_unsafe();
    if (result)
        return result;
    standin_waits();
    for (unsigned i = 0; i < block_count; i++)
        if (blocks[i].begin == memory)
            blocks[i].freed = true;
    return failure;
}

EXPORTED Result cuMemFreeHost(void *memory) {
    return cuMemFree_v2((uintptr_t)memory);
}

void standin_copy(void *to, const void *from, size_t bytes) {
    pthread_mutex_lock(&mutex);
    memcpy(to, from, bytes);
    pthread_mutex_unlock(&mutex);
}

void standin_fill(char *to, const void *element, size_t bytes, size_t count) {
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < count && bytes > 1; i++)
        memcpy(to + i * bytes, element, bytes);
    if (bytes == 1)
        memset(to, *(const uint8_t *)element, count);
    pthread_mutex_unlock(&mutex);
}

EXPORTED Result cuMemGetInfo_v2(size_t *unused, size_t *all) {
    *all = DEVICE_BYTES;
    *unused = DEVICE_BYTES - mapped;
    return SUCCESS;
}

EXPORTED Result cuMemGetAddressRange_v2(Address *begin, size_t *bytes, Address address) {
    return is_opened(address) && standin_allocation(address, begin, bytes)
               ? SUCCESS
               : INVALID; /* nothing but what was allocated by those above */
}

/* Memory that is mapped where the program wants it. */
EXPORTED Result cuMemGetAllocationGranularity(size_t *page, const void *what, int option) {
    (void)what, (void)option;
    *page = PAGE;
    return SUCCESS;
}

EXPORTED Result cuDeviceTotalMem_v2(size_t *bytes, int device) {
    *bytes = DEVICE_BYTES / 4;
    return device ? INVALID : SUCCESS;
}

EXPORTED Result cuMemAddressReserve(Address *to, size_t bytes, size_t align, Address wanted, unsigned long long flags) {
    static Address next = RANGES_BEGIN;
    (void)align, (void)wanted, (void)flags;
    *to = next;
    if (!is_there() || bytes > ARENA_BEGIN + ARENA_BYTES - next)
        return NO_MEMORY;
    next += bytes;
    return SUCCESS;
}

EXPORTED Result cuMemAddressFree(Address address, size_t bytes) {
    (void)address, (void)bytes;
    return SUCCESS;
}

EXPORTED Result cuMemMap(Address address, size_t bytes, size_t offset, unsigned long long handle,
                         unsigned long long flags) {
    (void)flags;
    if (block_count == BLOCKS || address % PAGE || bytes % PAGE || !physical_map(address, bytes, offset, handle))
        return INVALID;
    blocks[block_count++] = (Memory){address, bytes, false, NULL};
    mapped += bytes;
    return SUCCESS;
}

EXPORTED Result cuMemUnmap(Address address, size_t bytes) {
    mapped -= bytes;
    return cuMemFree_v2(address);
}

Result standin_opened(Address address, size_t bytes) {
    if (block_count == BLOCKS)
        return NO_MEMORY;
    blocks[block_count++] = (Memory){address, bytes, false, NULL};
    return SUCCESS;
}

bool standin_allocation(Address address, Address *begin, size_t *bytes) {
    for (unsigned i = 0; i < block_count; i++)
        if (!blocks[i].freed && address - blocks[i].begin < blocks[i].bytes) {
            *begin = blocks[i].begin;
            *bytes = blocks[i].bytes;
            return true;
        }
    return false;
}

EXPORTED Result cuMemSetAccess(Address address, size_t bytes, const void *what, size_t count) {
    (void)address, (void)bytes, (void)what, (void)count;
    return SUCCESS;
}

/* ---- Device, contexts, streams, events ----------------------------------------------------------- */

enum { DEVICES = 2, CONTEXTS_MOST = 8 };
static char contexts[DEVICES];
static _Thread_local int current[CONTEXTS_MOST], depth; /* a stack: devices, that of the top is the thread's */

static int device_now(void) {
    return current[depth];
}

static int device_of(const void *context) {
    return context == &contexts[1];
}
static uint64_t clock_now; /* of the device: launches come one after the other */

/* Processes that check themselves have one clock, which goes faster than instructions are run here. */
static uint64_t time_of_all(void) {
    enum { UNIT = 10, SECOND = 1000000000 };
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    uint64_t now = ((uint64_t)time.tv_sec * SECOND + (uint64_t)time.tv_nsec) / UNIT;
    return now > clock_now ? now : clock_now;
}

EXPORTED Result cuInit(unsigned flags) {
    return flags ? INVALID : SUCCESS;
}

EXPORTED Result cuCtxGetCurrent(Handle *to) {
    *to = &contexts[current[depth]];
    return SUCCESS;
}

EXPORTED Result cuCtxSetCurrent(Handle to) {
    current[depth] = device_of(to);
    return failure;
}

EXPORTED Result cuCtxPushCurrent_v2(Handle to) {
    if (depth + 1 == CONTEXTS_MOST)
        return INVALID;
    current[++depth] = device_of(to);
    return failure;
}

EXPORTED Result cuCtxPopCurrent_v2(Handle *to) {
    if (to)
        *to = &contexts[current[depth]];
    depth -= depth > 0;
    return failure;
}

EXPORTED Result cuCtxEnablePeerAccess(Handle peer, unsigned flags) {
    return flags || device_of(peer) == current[depth] ? INVALID : SUCCESS;
}

EXPORTED Result cuCtxGetDevice(int *device) {
    *device = current[depth];
    return SUCCESS;
}

EXPORTED Result cuDeviceGetAttribute(int *value, int attribute, int device) {
    *value = attribute == 75 ? 9 : attribute == 16 ? 4 : 0; /* sm_90 with four SMs */
    return device < DEVICES ? SUCCESS : INVALID;
}

EXPORTED Result cuDeviceGetName(char *name, int bytes, int device) {
    snprintf(name, (size_t)bytes, "a machine of PTX");
    return device < DEVICES ? SUCCESS : INVALID;
}

EXPORTED Result cuDevicePrimaryCtxRetain(Handle *to, int device) {
    *to = &contexts[device == 1];
    return device < DEVICES ? SUCCESS : INVALID;
}

EXPORTED Result cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) {
    *flags = 0;
    *active = 1;
    return device < DEVICES ? SUCCESS : INVALID;
}

#define NOTHING(name, ...)              \
    EXPORTED Result name(__VA_ARGS__) { \
        return failure;                 \
    }
NOTHING(cuDevicePrimaryCtxRelease_v2, int device __attribute__((unused)))
NOTHING(cuDevicePrimaryCtxReset_v2, int device __attribute__((unused)))
NOTHING(cuStreamWaitValue32_v2, Handle of __attribute__((unused)), Address at __attribute__((unused)),
        uint32_t value __attribute__((unused)), unsigned flags __attribute__((unused)))

EXPORTED Result cuCtxSynchronize(void) {
    Result result = capture_none();
    return result ? result : failure;
}

EXPORTED Result cuEventSynchronize(Handle of) {
    Result result = event_touch(of);
    return result ? result : failure;
}

/* STANDIN_BUSY: milliseconds from when an event is first asked for, before which no kernel is seen to have ended. */
static bool is_busy(void) {
    static uint64_t since;
    const char *busy = getenv("STANDIN_BUSY");
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t milliseconds = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
    since = since ? since : milliseconds;
    return busy && milliseconds - since < strtoull(busy, NULL, 10);
}

static _Thread_local bool queries; /* by this thread: it waits for launches, being one of the library */
EXPORTED Result cuEventQuery(Handle of) {
    Result result = event_touch(of);
    queries = true;
    return result ? result : running || is_busy() ? NOT_READY : failure;
}

EXPORTED Result cuStreamSynchronize(Handle stream) {
    Result result = stream_touch(stream);
    while (!result && !stream && running)
        usleep(1000);
    return result ? result : failure;
}

EXPORTED Result cuStreamQuery(Handle stream) {
    Result result = stream_touch(stream);
    return result ? result : !stream && running ? NOT_READY : failure;
}

EXPORTED Result cuStreamGetCtx(Handle stream, Handle *to) {
    *to = &contexts[current[depth]];
    return stream_touch(stream);
}

EXPORTED Result cuEventElapsedTime(float *milliseconds, Handle from, Handle to) {
    (void)from, (void)to;
    *milliseconds = 1;
    return SUCCESS;
}

/* ---- Modules ------------------------------------------------------------------------------------- */

enum { ATTRIBUTES = 16, KERNELS_MOST = 16 };
typedef struct Found {
    struct Loaded *of;
    uint32_t function;
    char name[128];
    int attributes[ATTRIBUTES], preferences[2]; /* as they were set */
    struct Found *in_context;                   /* of a library's kernel: the function that it is there */
    bool of_kernel;                             /* it is one */
} Found;
typedef struct Loaded {
    PtxModule module;
    unsigned registers;
    Handle kernel;      /* of a library: the one that was asked for */
    Address *variables; /* where those are that some kernel uses; 0: nowhere */
    Found *found[KERNELS_MOST];
    unsigned found_count;
} Loaded;

static PtxProgram *program_of(const Loaded *loaded, uint32_t function, Arena *arena) {
    const char *problem;
    arena_init(arena, SIZE_MAX);
    return ptx_program(arena, &loaded->module, function, SIZE_MAX, &problem);
}

static bool is_variable(const PtxProgram *program, uint32_t i) {
    PtxSpace space = program->seats[i].space;
    return program->used[i] && program->seats[i].bytes && (space == PTX_SPACE_GLOBAL || space == PTX_SPACE_CONST);
}

/* Pointers to variables in what others begin with: the machine has them elsewhere. */
static void move_pointers(const Loaded *loaded, const PtxProgram *program, uint32_t variable) {
    uint64_t word;
    for (uint64_t at = 0; at + 8 <= program->seats[variable].bytes; at += 8) {
        memcpy(&word, (void *)(uintptr_t)(loaded->variables[variable] + at), 8);
        for (uint32_t i = 0; i < loaded->module.variables_count; i++)
            if (is_variable(program, i) && word - program->seats[i].at < program->seats[i].bytes) {
                word += loaded->variables[i] - program->seats[i].at;
                memcpy((void *)(uintptr_t)(loaded->variables[variable] + at), &word, 8);
                break;
            }
    }
}

static void place_variables(Loaded *loaded) {
    Arena arena;
    uint32_t count = loaded->module.variables_count;
    loaded->variables = calloc(count + 1, sizeof *loaded->variables);
    for (uint32_t f = 0; f < loaded->module.functions_count; f++) {
        const PtxProgram *program = loaded->module.functions[f].entry ? program_of(loaded, f, &arena) : NULL;
        bool *now = calloc(count + 1, 1);
        for (uint32_t i = 0; program && i < count; i++)
            if (is_variable(program, i) && !loaded->variables[i]) {
                loaded->variables[i] = allocate_variable(program->seats[i].bytes, loaded);
                if (program->images[i])
                    memcpy((void *)(uintptr_t)loaded->variables[i], program->images[i], program->seats[i].bytes);
                now[i] = true;
            }
        for (uint32_t i = 0; program && i < count; i++)
            if (now[i] && program->images[i])
                move_pointers(loaded, program, i);
        free(now);
        if (loaded->module.functions[f].entry)
            arena_free(&arena);
    }
}

EXPORTED Result cuModuleLoadData(Handle *to, const void *image) {
    Result unsafe = capture_unsafe();
    if (unsafe)
        return unsafe;
    const char *text = image_text(image);
    const char *refused = getenv("STANDIN_REFUSES"); /* kernels of that name */
    if (refused && strstr(text, refused))
        return BAD_PTX;
    if (queries && gettid() != getpid() && strstr(text, "weir_pack")) /* who watches for hangs may be locked out */
        abort();
    standin_waits();
    Loaded *loaded = calloc(1, sizeof *loaded);
    Diagnostics diagnostics = {0};
    if (!ptx_read(&loaded->module, source_copy("loaded", text, strlen(text)), true, &diagnostics))
        return BAD_PTX;
    loaded->registers = image_registers(text);
    pthread_mutex_lock(&mutex);
    place_variables(loaded);
    loaded_modules++;
    pthread_mutex_unlock(&mutex);
    *to = loaded;
    return SUCCESS;
}

EXPORTED Result cuModuleUnload(Handle module) {
    ptx_free(&((Loaded *)module)->module);
    return SUCCESS;
}

EXPORTED Result cuModuleGetFunction(Handle *to, Handle handle, const char *name) {
    Loaded *loaded = handle;
    for (unsigned i = 0; i < loaded->found_count; i++)
        if (strcmp(loaded->found[i]->name, name) == 0) {
            *to = loaded->found[i];
            return SUCCESS;
        }
    for (uint32_t i = 0; i < loaded->module.functions_count && loaded->found_count < KERNELS_MOST; i++)
        if (loaded->module.functions[i].entry &&
            str_is(ptx_name(&loaded->module, loaded->module.functions[i].name), name)) {
            Found *found = calloc(1, sizeof *found);
            *found = (Found){.of = loaded, .function = i};
            snprintf(found->name, sizeof found->name, "%s", name);
            *to = loaded->found[loaded->found_count++] = found;
            return SUCCESS;
        }
    return UNKNOWN;
}

EXPORTED Result cuModuleGetGlobal_v2(Address *to, size_t *bytes, Handle handle, const char *name) {
    const Loaded *loaded = handle;
    for (uint32_t i = 0; i < loaded->module.variables_count; i++)
        for (unsigned k = 0; loaded->variables[i] && k < block_count; k++)
            if (blocks[k].begin == loaded->variables[i] &&
                str_is(ptx_name(&loaded->module, loaded->module.variables[i].name), name)) {
                *to = blocks[k].begin;
                *bytes = blocks[k].bytes;
                return SUCCESS;
            }
    return UNKNOWN;
}

EXPORTED Result cuLibraryGetGlobal(Address *to, size_t *bytes, Handle library, const char *name) {
    return cuModuleGetGlobal_v2(to, bytes, library, name);
}

/* A library's kernels are loaded when they are used, and each has one handle. */
EXPORTED Result cuLibraryLoadData(Handle *to, const void *image, int *jit, void **jit_values, unsigned jit_count,
                                  int *options, void **option_values, unsigned count) {
    (void)jit, (void)jit_values, (void)jit_count, (void)options, (void)option_values, (void)count;
    return cuModuleLoadData(to, image);
}

EXPORTED Result cuLibraryGetKernel(Handle *to, Handle library, const char *name) {
    Loaded *loaded = library;
    Result result = loaded->kernel ? SUCCESS : cuModuleGetFunction(&loaded->kernel, library, name);
    *to = loaded->kernel;
    return result;
}

Handle kernel_function(Handle kernel) {
    Found *found = kernel;
    if (found->of->kernel != kernel)
        return kernel;
    if (!found->in_context && (found->in_context = malloc(sizeof *found))) {
        *found->in_context = *found;
        found->in_context->of_kernel = true;
    }
    return found->in_context;
}

EXPORTED Result cuKernelGetFunction(Handle *to, Handle kernel) {
    *to = kernel_function(kernel);
    return SUCCESS;
}

enum { MOST_THREADS = 0, LOCAL_BYTES = 3, REGISTERS = 4, DYNAMIC_BYTES = 8, DEEP = 4096, REGISTERS_OF_SM = 65536 };
enum { DYNAMIC_UNASKED = 48 << 10, DYNAMIC_MOST = 227 << 10 };
EXPORTED Result cuFuncGetAttribute(int *value, int attribute, Handle function) {
    const Found *found = function;
    int threads = (int)(REGISTERS_OF_SM / found->of->registers) / 32 * 32;
    *value = attribute == MOST_THREADS      ? (threads < 1024 ? threads : 1024)
             : attribute == REGISTERS       ? (int)found->of->registers
             : attribute != LOCAL_BYTES     ? found->attributes[attribute]
             : !strcmp(found->name, "deep") ? DEEP
                                            : 0;
    return SUCCESS;
}

EXPORTED Result cuFuncSetAttribute(Handle function, int attribute, int value) {
    if (attribute < DYNAMIC_BYTES || attribute >= ATTRIBUTES || (attribute == DYNAMIC_BYTES && value > DYNAMIC_MOST))
        return INVALID;
    ((Found *)function)->attributes[attribute] = value;
    return SUCCESS;
}

EXPORTED Result cuFuncSetCacheConfig(Handle function, int value) {
    ((Found *)function)->preferences[0] = value;
    return SUCCESS;
}

EXPORTED Result cuFuncSetSharedMemConfig(Handle function, int value) {
    ((Found *)function)->preferences[1] = value;
    return SUCCESS;
}

EXPORTED Result cuFuncGetName(const char **name, Handle function) {
    *name = ((Found *)function)->name;
    return SUCCESS;
}

EXPORTED Result cuFuncGetModule(Handle *to, Handle function) {
    const Found *found = function;
    *to = found->of_kernel ? (char *)found->of + 1 : (char *)found->of; /* the module of a library is not that */
    return SUCCESS;
}

Result function_parameter_info(Handle function, size_t index, size_t *offset, size_t *bytes) {
    const Found *found = function;
    const PtxFunction *kernel = &found->of->module.functions[found->function];
    Arena arena;
    if (index >= kernel->parameter_count)
        return INVALID;
    const PtxSymbolSlot *seat = &program_of(found->of, found->function, &arena)->seats[kernel->parameters + index];
    *offset = seat->at;
    *bytes = seat->bytes;
    arena_free(&arena);
    return SUCCESS;
}

EXPORTED Result cuFuncGetParamInfo(Handle function, size_t index, size_t *offset, size_t *bytes) {
    return function_parameter_info(function, index, offset, bytes);
}

/* ---- Launches ------------------------------------------------------------------------------------ */

static void take_parameters(const PtxProgram *program, PtxLaunch *launch, void **parameters, void **extra) {
    const PtxFunction *kernel = &program->module->functions[program->entry];
    memset(launch->known, BYTE_KNOWN, program->parameter_bytes);
    for (; !parameters && extra && *extra; extra += 2)
        if (*extra == (void *)1)
            memcpy(launch->parameters, extra[1], program->parameter_bytes);
    for (uint32_t i = 0; parameters && i < kernel->parameter_count; i++) {
        const PtxSymbolSlot *seat = &program->seats[kernel->parameters + i];
        memcpy(launch->parameters + seat->at, parameters[i], seat->bytes);
    }
}

/* Where a driver might put variables, and not where Weir would; and what they hold. */
static void give_variables(const Loaded *of, PtxProgram *program) {
    for (uint32_t i = 0; i < of->module.variables_count; i++)
        if (is_variable(program, i)) {
            program->seats[i].at = of->variables[i];
            program->images[i] = ARENA_ARRAY(program->arena, uint8_t, program->seats[i].bytes + 8);
            memcpy(program->images[i], (void *)(uintptr_t)of->variables[i], program->seats[i].bytes);
        }
}

/* Those of the module are its own. */
static bool is_named(const PtxProgram *program, Address begin) {
    for (uint32_t i = 0; i < program->module->variables_count; i++)
        if (is_variable(program, i) && program->seats[i].at == begin)
            return true;
    return false;
}

/* As it is now: copies are what the launch begins with. */
static void give_memory(Arena *arena, const PtxProgram *program, PtxLaunch *launch) {
    launch->buffers = ARENA_ARRAY(arena, PtxBuffer, block_count + 1);
    for (unsigned i = 0; i < block_count; i++) {
        if (blocks[i].freed || !blocks[i].bytes || (blocks[i].of && is_named(program, blocks[i].begin)))
            continue;
        uint8_t *now = arena_alloc(arena, blocks[i].bytes);
        memcpy(now, (void *)(uintptr_t)blocks[i].begin, blocks[i].bytes);
        launch->buffers[launch->buffer_count++] = (PtxBuffer){.name = "memory",
                                                              .parameter = PTX_NONE,
                                                              .address = blocks[i].begin,
                                                              .bytes = blocks[i].bytes,
                                                              .data = now,
                                                              .data_bytes = blocks[i].bytes};
    }
}

/* What the kernel has changed: what the host has written meanwhile stays. */
static void take_memory(const PtxMachine *machine, const PtxLaunch *launch) {
    enum { PIECE = 4096 }; /* most are as they were */
    const PtxProgram *program = machine->program;
    for (uint32_t i = 0; i < machine->block_count; i++) {
        const PtxBlock *block = &machine->blocks[i];
        if (block->space == PTX_SPACE_GLOBAL && block->bytes && is_named(program, block->base))
            memcpy((void *)(uintptr_t)block->base, block->bytes, block->size);
    }
    for (uint32_t i = 0; i < launch->buffer_count; i++) {
        const PtxBuffer *buffer = &launch->buffers[i];
        const PtxBlock *block = machine->blocks;
        while (block->base != buffer->address)
            block++;
        for (uint64_t begin = 0, end; begin < block->size; begin = end) {
            end = begin + PIECE < block->size ? begin + PIECE : block->size;
            if (memcmp(block->bytes + begin, buffer->data + begin, end - begin) == 0)
                continue;
            for (uint64_t at = begin; at < end; at++)
                if (block->bytes[at] != buffer->data[at])
                    ((uint8_t *)(uintptr_t)block->base)[at] = block->bytes[at];
        }
    }
}

/* Whether it has been instrumented. */
static bool is_marked(const Found *found) {
    const PtxModule *module = &found->of->module;
    const PtxFunction *kernel = &module->functions[found->function];
    uint32_t last = kernel->parameters + kernel->parameter_count - 1;
    return kernel->parameter_count && str_is(ptx_name(module, module->variables[last].name), "weir_launch");
}

/* Of a kernel that gathers, there is room for twice as many before it is instrumented, or with fewer registers. */
EXPORTED Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks_of_it, Handle function, int threads,
                                                            size_t shared) {
    const Found *found = function;
    (void)threads, (void)shared;
    bool limited = found->of->registers != image_registers("weir_launch") && strcmp(found->name, "gathers_all") != 0;
    *blocks_of_it = strncmp(found->name, "gathers", 7) == 0 && (!is_marked(found) || limited) ? 2 : 1;
    return SUCCESS;
}

/* What a recorded kernel is launched with; NULL: it is another one. */
static const RecordLaunch *block_of(const PtxProgram *program, const PtxLaunch *launch) {
    const PtxModule *module = program->module;
    const PtxFunction *kernel = &module->functions[program->entry];
    const RecordLaunch *block;
    uint32_t last = kernel->parameters + kernel->parameter_count - 1;
    if (!kernel->parameter_count || !str_is(ptx_name(module, module->variables[last].name), "weir_launch"))
        return NULL;
    if (program->seats[last].bytes != sizeof block) /* it checks itself, and hangs as it is */
        return NULL;
    memcpy(&block, launch->parameters + program->seats[last].at, sizeof block);
    return block;
}

/* Where it tells that it hangs, if that is to be told soon; NULL. */
static volatile RecordHost *host_of(const RecordLaunch *block) {
    return block && block->spin_timeout < record_spin_timeout(UINT64_C(3000000000))
               ? (volatile RecordHost *)(uintptr_t)block->host
               : NULL;
}

/* Until the host says how its threads end; those at barriers never do, and a kernel that is obstinate is not trapped.
 */
static PtxEnd stand_by(volatile RecordHost *host, const char *name) {
    while (!host->drained || (host->drained == 2 && strcmp(name, "obstinate") == 0))
        usleep(1000);
    return host->drained == 1 ? PTX_END_COMPLETE : PTX_END_FAULT;
}

/* What is left of a kernel that is launched and hangs. */
typedef struct Later {
    volatile RecordHost *host;
    const char *name;
    uint32_t gives_up; /* not 0: a wait of it does, later */
} Later;

static void *stand_by_later(void *words) {
    const Later *later = words;
    while (later->gives_up && !was_asked)
        usleep(1000);
    if (later->gives_up)
        later->host->hang = later->gives_up;
    if (stand_by(later->host, later->name) != PTX_END_COMPLETE)
        failure = FAILED;
    running = false;
    free(words);
    return NULL;
}

/* That a wait gave up is not in memory yet. */
static uint32_t take_back(const PtxMachine *machine, volatile RecordHost *host) {
    const char *when = getenv("STANDIN_LATER");
    uint32_t word = 0;
    for (uint32_t i = 0; when && strcmp(when, "asked") == 0 && i < machine->block_count; i++) {
        const PtxBlock *block = &machine->blocks[i];
        uint64_t offset = (uintptr_t)&host->hang - block->base;
        if (block->space != PTX_SPACE_GLOBAL || !block->bytes || offset >= block->size)
            continue;
        memcpy(&word, block->bytes + offset, sizeof word);
        memset(block->bytes + offset, 0, sizeof word);
    }
    return word;
}

static PtxEnd hang(volatile RecordHost *host, const char *name, uint32_t gives_up) {
    Later *later = getenv("STANDIN_LATER") ? malloc(sizeof *later) : NULL;
    pthread_t thread;
    if (!later)
        return stand_by(host, name);
    *later = (Later){host, name, gives_up};
    const char *blocking = getenv("CUDA_LAUNCH_BLOCKING");
    running_on = device_now();
    running = true;
    pthread_create(&thread, NULL, stand_by_later, later);
    pthread_detach(thread);
    if (blocking && *blocking)
        standin_waits();
    return PTX_END_COMPLETE;
}

static int plain_launches, last_preferences[2];

Result kernel_run(const KernelNode *kernel) {
    Arena arena;
    const char *problem = "";
    const unsigned *block = kernel->block;
    Handle function = kernel->function ? kernel->function : kernel->kernel;
    const Found *found = function;
    bool recorded = found->of->module.functions[found->function].parameter_count > 0;
    if (block[0] * block[1] * block[2] * found->of->registers > 65536 ||
        (recorded && strcmp(found->name, "crowded") == 0))
        return NO_RESOURCES; /* of a kernel without parameters that is crowded: not with what records it */
    if (kernel->shared > DYNAMIC_UNASKED && (int)kernel->shared > found->attributes[DYNAMIC_BYTES])
        return INVALID;
    pthread_mutex_lock(&mutex);
    bool ours = strncmp(found->name, "weir_", strlen("weir_")) == 0;
    launches += !ours;
    last_preferences[0] = ours ? last_preferences[0] : found->preferences[0];
    last_preferences[1] = ours ? last_preferences[1] : found->preferences[1];
    plain_launches += !ours && !is_marked(found);
    ours_of_program += ours && gettid() == getpid();
    PtxProgram *program = program_of(found->of, found->function, &arena);
    give_variables(found->of, program);
    PtxLaunch launch = {.cluster = {1, 1, 1}, .dynamic_bytes = kernel->shared};
    memcpy(launch.grid, kernel->grid, sizeof launch.grid);
    memcpy(launch.block, kernel->block, sizeof launch.block);
    launch.parameters = ARENA_ARRAY(&arena, uint8_t, program->parameter_bytes + 8);
    launch.known = ARENA_ARRAY(&arena, uint8_t, program->parameter_bytes + 8);
    take_parameters(program, &launch, kernel->parameters, kernel->extra);
    give_memory(&arena, program, &launch);
    PtxMachine *machine = ptx_machine(program, &launch, COMPUTES_ALL, &problem);
    PtxEnd end = PTX_END_FAULT;
    if (machine) {
        const RecordLaunch *records = block_of(program, &launch);
        volatile RecordHost *host = host_of(records);
        PtxSchedule schedule = {.kind = host ? SCHEDULE_ROUND_ROBIN : SCHEDULE_EAGER};
        machine->budget = BUDGET;
        bool of_all = !records && getenv("STANDIN_PEERS");
        machine->timed = records || of_all;
        machine->clock_begin = clock_now = of_all ? time_of_all() : clock_now;
        end = ptx_schedule_run(machine, &schedule);
        clock_now = machine->clock;
        if (host && end == PTX_END_STUCK) {
            uint32_t gives_up = take_back(machine, host);
            take_memory(machine, &launch);
            pthread_mutex_unlock(&mutex);
            end = hang(host, found->name, gives_up);
            pthread_mutex_lock(&mutex);
        } else if (end != PTX_END_COMPLETE)
            fprintf(stderr, "the machine of PTX: end %d, line %u: %s\n", end,
                    machine->fault.code ? code_line(program, machine->fault.code)
                    : machine->unknown  ? code_line(program, machine->unknown)
                                        : 0,
                    machine->fault.what    ? machine->fault.what
                    : machine->unknown_why ? machine->unknown_why
                                           : "");
        take_memory(machine, &launch);
        ptx_machine_free(machine);
    } else {
        fprintf(stderr, "the machine of PTX: %s\n", problem);
    }
    arena_free(&arena);
    if (end != PTX_END_COMPLETE)
        failure = FAILED;
    pthread_mutex_unlock(&mutex);
    return SUCCESS;
}

/* How many launches of the program have reached the driver. */
EXPORTED int standin_launches(void) {
    return launches;
}

/* How many the library has made of its own, in calls of the program's first thread. */
EXPORTED int standin_ours(void) {
    return ours_of_program;
}

/* How many of them were made of the program's own function; modules that were loaded; and of the last launch the
 * preferences of its function. */
EXPORTED int standin_plain(void) {
    return plain_launches;
}

EXPORTED int standin_loaded(void) {
    return loaded_modules;
}

EXPORTED int standin_preferences(void) {
    return last_preferences[0] + 16 * last_preferences[1];
}
