/* What the stand-in for the CUDA driver (gpu.c) has of entry points that Weir does not model, and ways to entry points.
 */
#include "gpu.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

EXPORTED Result cuMemcpy3DBatchAsync_v2(size_t count, const void *copies, unsigned long long flags, Handle stream) {
    (void)copies, (void)stream;
    return count || flags ? INVALID : SUCCESS;
}

/* Before CUDA 13. */
EXPORTED Result cuMemcpy3DBatchAsync(size_t count, const void *copies, size_t *failed, unsigned long long flags,
                                     Handle stream) {
    (void)count, (void)copies, (void)failed, (void)flags, (void)stream;
    return NOT_SUPPORTED;
}

/* It says what it got. */
EXPORTED Result cuMemPoolExportPointer(void *to, Address memory) {
    memset(to, 0, 64);
    memcpy(to, &memory, sizeof memory);
    return memory ? SUCCESS : INVALID;
}

/* A pool that gives out at once what was freed last. */
static Address unused;
static size_t unused_bytes;

EXPORTED Result cuMemAllocAsync(Address *to, size_t bytes, Handle stream) {
    (void)stream;
    if (!unused || unused_bytes != bytes)
        return cuMemAlloc_v2(to, bytes);
    *to = unused;
    unused = 0;
    return SUCCESS;
}

EXPORTED Result cuMemFreeAsync(Address memory, Handle stream) {
    (void)stream;
    if (!standin_allocation(memory, &unused, &unused_bytes) || unused != memory)
        return INVALID;
    return SUCCESS;
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
