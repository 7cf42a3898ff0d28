/* Between the files of the stand-in for the CUDA driver that runs kernels (gpu.c). */
#ifndef TESTS_EXEC_GPU_H
#define TESTS_EXEC_GPU_H

#include <stdint.h>

typedef int Result;
typedef void *Handle;
typedef uint64_t Address;
enum {
    SUCCESS = 0,
    INVALID = 1,
    NO_MEMORY = 2,
    NO_CONTEXT = 201,
    BAD_PTX = 218,
    UNKNOWN = 500,
    NO_RESOURCES = 701,
    NOT_READY = 600,
    FAILED = 719
};

#define EXPORTED __attribute__((visibility("default")))

/* The text that an image has: what was linked, a fatbin or what points to one, or PTX itself (gpu_images.c). */
const char *image_text(const void *image);
/* Registers that a kernel of a text has here. */
unsigned image_registers(const char *text);

#endif
