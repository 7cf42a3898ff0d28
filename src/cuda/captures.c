/* Mode capture: the PTX of each kernel and its launches, as launch files (docs/launch.md), for `weir check` here or
 * elsewhere. Launches run, and are not checked. */
#include "cuda/cuda.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_LAUNCHES = 4, MOST_BYTES = 1 << 16, MOST_KEYS = 64, NAME = 60 };

typedef struct CapturedKernel {
    char path[512]; /* without an ending; "": none could be made */
    uint64_t keys[MOST_KEYS];
    unsigned count;
} CapturedKernel;

static int pass(void *to, const char *data, size_t size) {
    return fwrite(data, 1, size, to) == size ? 0 : -1;
}

static unsigned long number(const char *variable, unsigned long otherwise) {
    const char *text = getenv(variable);
    return text && *text ? strtoul(text, NULL, 10) : otherwise;
}

/* The kernel's module beside its launches. Processes may write to one folder: a name is that of the first. */
static CapturedKernel *begin(Kernel *kernel) {
    CapturedKernel *made = calloc(1, sizeof *made);
    char name[NAME + 1], path[sizeof made->path + 8];
    size_t length = 0;
    if (!made)
        return NULL;
    for (const char *at = kernel->name; *at && length < NAME; at++)
        name[length++] = isalnum((unsigned char)*at) ? *at : '_';
    name[length] = 0;
    for (unsigned i = 1; i < 10000 && !*made->path; i++) {
        snprintf(made->path, sizeof made->path, "%s/%s-%u", cuda.folder, name, i);
        snprintf(path, sizeof path, "%s.ptx", made->path);
        FILE *file = fopen(path, "wbx");
        if (!file)
            *made->path = 0;
        else if (weir_print(kernel->module->module, WEIR_AS_WRITTEN, pass, file) != 0 || fclose(file) != 0)
            cuda_note("kernel %s could not be written", kernel->plain);
    }
    return made;
}

static bool is_new(CapturedKernel *kernel, uint64_t key) {
    unsigned long most = number("WEIR_CAPTURE_LAUNCHES", MOST_LAUNCHES);
    for (unsigned i = 0; i < kernel->count; i++)
        if (kernel->keys[i] == key)
            return false;
    if (kernel->count >= most || kernel->count >= MOST_KEYS)
        return false;
    kernel->keys[kernel->count++] = key;
    return true;
}

void capture_launch(const CudaLaunch *launch, const weir_device_launch *given) {
    Kernel *kernel = launch->kernel;
    char path[600], which[16] = "";
    CapturedKernel *captured = kernel->captured ? kernel->captured
                               : cuda.captures  ? (kernel->captured = begin(kernel))
                                                : NULL;
    if (!captured || !*captured->path || !is_new(captured, check_key(launch)))
        return;
    if (captured->count > 1)
        snprintf(which, sizeof which, ".%u", captured->count);
    snprintf(path, sizeof path, "%s.launch%s.json", captured->path, which);
    FILE *file = fopen(path, "wbx");
    int status = file ? weir_device_launch_file(cuda.device, kernel->module->module, given,
                                                number("WEIR_CAPTURE_BYTES", MOST_BYTES), pass, file)
                      : 0;
    if (file && fclose(file) != 0)
        status = -1;
    if (status == 0)
        return;
    cuda_note("a launch of kernel %s was not captured: %s", kernel->plain, weir_device_error(cuda.device));
    unlink(path);
}
