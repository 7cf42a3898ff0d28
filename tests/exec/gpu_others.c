/* What the stand-in for the CUDA driver (gpu.c) has of entry points that Weir does not model, and ways to entry points.
 */
#include "gpu.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef struct IpcHandle {
    char bytes[64];
} IpcHandle;

EXPORTED Result cuIpcGetMemHandle(IpcHandle *to, Address memory) {
    memset(to, 0, sizeof *to);
    memcpy(to, &memory, sizeof memory);
    return memory ? SUCCESS : INVALID;
}

EXPORTED Result cuIpcOpenMemHandle_v2(Address *to, IpcHandle handle, unsigned flags) {
    memcpy(to, &handle, sizeof *to);
    return flags == 1 ? SUCCESS : INVALID;
}

/* Before CUDA 11. */
EXPORTED Result cuIpcOpenMemHandle(Address *to, IpcHandle handle, unsigned flags) {
    (void)to, (void)handle, (void)flags;
    return NOT_SUPPORTED;
}

EXPORTED Result cuCtxRecordEvent(Handle context, Handle event) {
    (void)context, (void)event;
    return standin_failure();
}

EXPORTED Result cuCtxWaitEvent(Handle context, Handle event) {
    (void)context, (void)event;
    return standin_failure();
}

/* The newest form that there is, unless that came behind the version that is asked for. */
EXPORTED Result cuGetProcAddress_v2(const char *name, void **to, int version, uint64_t flags, int *status) {
    char newer[128];
    (void)flags;
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    snprintf(newer, sizeof newer, "%s_v2", name);
    *to = driver && version >= 11000 ? dlsym(driver, newer) : NULL;
    if (!*to && driver)
        *to = dlsym(driver, name);
    if (status)
        *status = *to ? 0 : 1;
    return *to ? SUCCESS : UNKNOWN;
}
