/* The entry points of the CUDA driver as programs call them (driver.def): each takes the lock, and does what the
 * runtime does, or what is in driver.h. Errors are those of the driver, and no thread's last ones. */
#include "cuda/driver.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

enum { DRIVER_VERSION = 13000 };
static bool ready; /* cuInit was called */

/* ---- Calls ---- */

/* What the runtime alone has an error for. */
static Error driver_error(Error error) {
    switch (error) {
    case CUDA_NO_DRIVER:
        return CUDA_NO_DEVICE;
    case CUDA_INVALID_FUNCTION:
        return CUDA_INVALID_HANDLE;
    case CUDA_INVALID_SYMBOL:
        return CUDA_NOT_FOUND;
    default:
        return error_text(error)->driver_name ? error : CUDA_INVALID_VALUE;
    }
}

static bool enter(const void *caller, Error *error) {
    *error = cuda_closed();
    if (!*error && !__atomic_load_n(&ready, __ATOMIC_ACQUIRE) && !__atomic_load_n(&cuda.begun, __ATOMIC_ACQUIRE))
        *error = CUDA_NOT_INITIALIZED;
    if (!*error && !cuda_begin_call(caller))
        *error = CUDA_NO_MEMORY;
    *error = driver_error(*error);
    return !*error;
}

static bool enter_context(const void *caller, Error *error) {
    if (!enter(caller, error))
        return false;
    *error = cuda.sticky ? cuda.sticky : context_problem();
    if (*error)
        cuda_unlock();
    return !*error;
}

static Error leave(Error error) {
    return driver_error(cuda_end_call(error));
}

static Error leave_query(Error error) {
    cuda_unlock();
    return driver_error(error);
}

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#define CALL(name, parameters, what)                                                     \
    EXPORTED Error name parameters {                                                     \
        Error error;                                                                     \
        return enter_context(__builtin_return_address(0), &error) ? leave(what) : error; \
    }
#define STREAM_CALL(name, suffix, parameters, what)              \
    CALL(name, parameters, what)                                 \
    EXPORTED Error name##suffix parameters {                     \
        Error error;                                             \
        if (!enter_context(__builtin_return_address(0), &error)) \
            return error;                                        \
        stream_per_thread = true;                                \
        error = (what);                                          \
        stream_per_thread = false;                               \
        return leave(error);                                     \
    }
#define QUERY(name, parameters, what)                                                  \
    EXPORTED Error name parameters {                                                   \
        Error error;                                                                   \
        return enter(__builtin_return_address(0), &error) ? leave_query(what) : error; \
    }
#define HARMLESS(name)                                                                \
    EXPORTED Error name(void) {                                                       \
        Error error;                                                                  \
        return enter_context(__builtin_return_address(0), &error) ? leave(0) : error; \
    }
#define MISSING(name)                                                                                     \
    EXPORTED Error name(void) {                                                                           \
        Error error;                                                                                      \
        return enter(__builtin_return_address(0), &error) ? leave_query(cuda_not_modeled(#name)) : error; \
    }
#define OWN(name)
#define SINCE(name, release)
#include "cuda/driver.def"
#undef CALL
#undef STREAM_CALL
#undef QUERY
#undef HARMLESS
#undef MISSING
#undef OWN
#undef SINCE

/* ---- What needs no cuInit ---- */

EXPORTED Error cuInit(unsigned flags) {
    Error error = flags ? CUDA_INVALID_VALUE : cuda_closed();
    if (!error)
        __atomic_store_n(&ready, true, __ATOMIC_RELEASE);
    return driver_error(error);
}

EXPORTED Error cuDriverGetVersion(int *version) {
    if (!version)
        return CUDA_INVALID_VALUE;
    *version = DRIVER_VERSION;
    return 0;
}

EXPORTED Error cuGetErrorName(Error error, const char **name) {
    if (!name)
        return CUDA_INVALID_VALUE;
    *name = error_text(error)->driver_name;
    return *name ? 0 : CUDA_INVALID_VALUE;
}

EXPORTED Error cuGetErrorString(Error error, const char **text) {
    if (!text)
        return CUDA_INVALID_VALUE;
    *text = error_text(error)->driver_name ? error_text(error)->text : NULL;
    return *text ? 0 : CUDA_INVALID_VALUE;
}

/* ---- Tables ---- */

/* The runtime as NVIDIA makes it, linked into a program or a library, asks for tables that are not documented, and
 * there is none. weir exec says of whom this is the end, and how to link it (cli/standin.c). */
EXPORTED Error cuGetExportTable(const void **table, const void *id) {
    struct link_map *object = NULL;
    Dl_info found;
    if (table)
        *table = NULL;
    if (!table || !id || cuda_closed())
        return !table || !id ? CUDA_INVALID_VALUE : driver_error(cuda_closed());
    bool known = dladdr1(__builtin_return_address(0), &found, (void **)&object, RTLD_DL_LINKMAP) && object;
    bool is_program = !known || !*object->l_name;
    char *path = realpath(is_program ? "/proc/self/exe" : object->l_name, NULL);
    cuda_say("%s %s", is_program ? "linked-in" : "linked-in-library", path ? path : "a program");
    free(path);
    return CUDA_NOT_FOUND;
}

/* ---- DriverEntry points by name ---- */

typedef void EntryPoint(void);
typedef struct DriverEntry {
    const char *name;
    EntryPoint *function;
} DriverEntry;
typedef struct Since {
    const char *name;
    int release;
} Since;

EXPORTED Error cuGetProcAddress_v2(const char *name, void **to, int version, uint64_t flags, int *status);
EXPORTED Error cuGetProcAddress(const char *name, void **to, int version, uint64_t flags);

static const DriverEntry entries[] = {
#define ENTRY(name)                                 {#name, (EntryPoint *)name},
#define CALL(name, parameters, what)                ENTRY(name)
#define STREAM_CALL(name, suffix, parameters, what) ENTRY(name) ENTRY(name##suffix)
#define QUERY(name, parameters, what)               ENTRY(name)
#define HARMLESS(name)                              ENTRY(name)
#define MISSING(name)                               ENTRY(name)
#define OWN(name)                                   ENTRY(name)
#define SINCE(name, release)
#include "cuda/driver.def"
#undef CALL
#undef STREAM_CALL
#undef QUERY
#undef HARMLESS
#undef MISSING
#undef OWN
#undef SINCE
};

static const Since since[] = {
#define CALL(name, parameters, what)
#define STREAM_CALL(name, suffix, parameters, what)
#define QUERY(name, parameters, what)
#define HARMLESS(name)
#define MISSING(name)
#define OWN(name)
#define SINCE(name, release) {#name, release},
#include "cuda/driver.def"
};

static EntryPoint *find(const char *name, const char *ending) {
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (strncmp(entries[i].name, name, length) == 0 && strcmp(entries[i].name + length, ending) == 0)
            return entries[i].function;
    return NULL;
}

static bool is_newer(const char *name, const char *ending, int version) {
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof since / sizeof *since; i++)
        if (strncmp(since[i].name, name, length) == 0 && strcmp(since[i].name + length, ending) == 0)
            return since[i].release > version;
    return false;
}

/* By the name without an ending. The newest form that the release has: cuX_v3, cuX_v2, cuX; of each that for the
 * default stream of the thread first.
 */
void *driver_entry(const char *name, int version, bool per_thread, int *status) {
    static const char *const forms[][3] = {{"_v4", "_v4_ptsz", "_v4_ptds"},
                                           {"_v3", "_v3_ptsz", "_v3_ptds"},
                                           {"_v2", "_v2_ptsz", "_v2_ptds"},
                                           {"", "_ptsz", "_ptds"}};
    enum { FOUND, NOT_FOUND, TOO_OLD };
    const char *ending = strrchr(name, '_');
    EntryPoint *found = NULL;
    *status = NOT_FOUND;
    for (size_t i = 0; !ending && i < sizeof forms / sizeof *forms && !found; i++) {
        EntryPoint *plain = find(name, forms[i][0]);
        if (!plain)
            continue;
        *status = TOO_OLD;
        if (is_newer(name, forms[i][0], version))
            continue;
        for (unsigned k = 1; per_thread && !found && k < 3; k++)
            found = find(name, forms[i][k]);
        found = found ? found : plain;
        *status = FOUND;
    }
    return *(void **)&found;
}

EXPORTED Error cuGetProcAddress_v2(const char *name, void **to, int version, uint64_t flags, int *status) {
    enum { PER_THREAD = 2, MOST_FLAGS = 3 };
    int ignored;
    if (!name || !to || flags > MOST_FLAGS)
        return CUDA_INVALID_VALUE;
    *to = driver_entry(name, version, flags & PER_THREAD, status ? status : &ignored);
    return 0;
}

EXPORTED Error cuGetProcAddress(const char *name, void **to, int version, uint64_t flags) {
    Error error = cuGetProcAddress_v2(name, to, version, flags, NULL);
    return error || *to ? error : CUDA_NOT_FOUND;
}
