/* The entry points of the CUDA runtime as programs call them: each takes the lock, does what it does, and keeps an
 * error as the thread's last one. Those that do none of this are here, too: texts of errors, launches between <<< and
 * >>>. */
#include "cuda/runtime.h"

#include <string.h>

/* After a launch that ended badly nothing is done any more, but what asks about the device, and what ends it all. */
static bool is_over(const char *name) {
    static const char *const rest[] = {
        "cudaDeviceReset",      "cudaThreadExit",        "cudaGetDevice",           "cudaGetDeviceCount",
        "cudaDriverGetVersion", "cudaRuntimeGetVersion", "cudaGetDeviceProperties", "cudaGetDeviceProperties_v2"};
    for (size_t i = 0; cuda.sticky && i < sizeof rest / sizeof *rest; i++)
        if (strcmp(name, rest[i]) == 0)
            return false;
    return cuda.sticky;
}

#define CALL(name, parameters, given)                                      \
    EXPORTED Error name parameters {                                       \
        Error error;                                                       \
        if (!cuda_enter(__builtin_return_address(0), &error))              \
            return error;                                                  \
        return cuda_leave(is_over(#name) ? cuda.sticky : do_##name given); \
    }
#define STREAM_CALL(name, suffix, parameters, given)            \
    CALL(name, parameters, given)                               \
    EXPORTED Error name##suffix parameters {                    \
        Error error;                                            \
        if (!cuda_enter(__builtin_return_address(0), &error))   \
            return error;                                       \
        stream_per_thread = true;                               \
        error = is_over(#name) ? cuda.sticky : do_##name given; \
        stream_per_thread = false;                              \
        return cuda_leave(error);                               \
    }
#define SYMBOL(made, version) __asm__(".symver " #made ", " version);
#define VERSIONED(name, parameters, given, parameters12, given12)              \
    SYMBOL(name##_13, #name "@@libcudart.so.13")                               \
    SYMBOL(name##_12, #name "@libcudart.so.12")                                \
    EXPORTED Error name##_13 parameters {                                      \
        Error error;                                                           \
        if (!cuda_enter(__builtin_return_address(0), &error))                  \
            return error;                                                      \
        return cuda_leave(is_over(#name) ? cuda.sticky : do_##name given);     \
    }                                                                          \
    EXPORTED Error name##_12 parameters12 {                                    \
        Error error;                                                           \
        if (!cuda_enter(__builtin_return_address(0), &error))                  \
            return error;                                                      \
        return cuda_leave(is_over(#name) ? cuda.sticky : do12_##name given12); \
    }
#define HARMLESS(name)                                        \
    EXPORTED Error name(void) {                               \
        Error error;                                          \
        if (!cuda_enter(__builtin_return_address(0), &error)) \
            return error;                                     \
        return cuda_leave(0);                                 \
    }
#define MISSING(name)                                                                  \
    EXPORTED Error name(void) {                                                        \
        Error error;                                                                   \
        return cuda_enter(NULL, &error) ? cuda_leave(cuda_not_modeled(#name)) : error; \
    }
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#include "cuda/runtime.def"

/* ---- Errors ---- */

const ErrorText *error_text(Error error) {
    static const ErrorText errors[] = {
#define CUDA_ERROR(number, name, driver_name, text) {number, name, driver_name, text},
#include "cuda/errors.def"
#undef CUDA_ERROR
    };
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].error == error)
            return &errors[i];
    static const ErrorText none = {-1, "unrecognized error code", NULL, "unrecognized error code"};
    return &none;
}

EXPORTED const char *cudaGetErrorName(Error error) {
    return error_text(error)->name;
}

EXPORTED const char *cudaGetErrorString(Error error) {
    return error_text(error)->text;
}

EXPORTED Error cudaGetLastError(void) {
    return cuda_last(true);
}

EXPORTED Error cudaPeekAtLastError(void) {
    return cuda_last(false);
}

/* ---- <<< and >>> ---- */

enum { MOST_PENDING = 16 };

typedef struct Pending {
    Dim3 grid, block;
    size_t shared;
    void *stream;
} Pending;

static _Thread_local Pending pending[MOST_PENDING];
static _Thread_local unsigned pending_count;
_Thread_local const void *pushed_from;

EXPORTED unsigned __cudaPushCallConfiguration(Dim3 grid, Dim3 block, size_t shared, void *stream) {
    if (pending_count == MOST_PENDING)
        return CUDA_NO_CONFIGURATION;
    pending[pending_count++] = (Pending){grid, block, shared, stream};
    pushed_from = __builtin_return_address(0);
    return 0;
}

EXPORTED Error __cudaPopCallConfiguration(Dim3 *grid, Dim3 *block, size_t *shared, void *stream) {
    if (!pending_count)
        return CUDA_NO_CONFIGURATION;
    const Pending *one = &pending[--pending_count];
    *grid = one->grid;
    *block = one->block;
    *shared = one->shared;
    memcpy(stream, &one->stream, sizeof one->stream);
    return 0;
}

EXPORTED Channels cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
    return (Channels){x, y, z, w, kind};
}
