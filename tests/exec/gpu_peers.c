/* Memory and events of several processes, in the stand-in for the CUDA driver (gpu.c). Physical memory that can be
 * exported is a file; each export opens it once more, so that the files of two exports are two, as the driver's are.
 * Other memory can be opened by other processes where STANDIN_PEERS is set: then it is in a file, too. */
#include "gpu.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PRIVATE = 1 /* a handle of what cannot be exported */, FILE_HANDLE = 1, GRAIN = 4096, OPENED_MOST = 64 };

static int arena = -1;

int arena_file(size_t bytes) {
    if (getenv("STANDIN_PEERS"))
        arena = memfd_create("device", MFD_CLOEXEC);
    return arena >= 0 && ftruncate(arena, (off_t)bytes) == 0 ? arena : -1;
}

/* ---- Physical memory ------------------------------------------------------------------------------ */

typedef struct Physical {
    int file;
    unsigned count;
} Physical;

EXPORTED Result cuMemCreate(unsigned long long *handle, size_t bytes, const int *what, unsigned long long flags) {
    (void)flags;
    *handle = PRIVATE;
    if (!what || what[1] != FILE_HANDLE)
        return SUCCESS;
    Physical *made = calloc(1, sizeof *made);
    *made = (Physical){memfd_create("physical", MFD_CLOEXEC), 1};
    *handle = (uintptr_t)made;
    return made->file >= 0 && ftruncate(made->file, (off_t)bytes) == 0 ? SUCCESS : NO_MEMORY;
}

EXPORTED Result cuMemRelease(unsigned long long handle) {
    Physical *physical = handle > PRIVATE ? (Physical *)(uintptr_t)handle : NULL;
    if (physical && !--physical->count) {
        close(physical->file);
        free(physical);
    }
    return handle ? SUCCESS : INVALID;
}

bool physical_map(Address address, size_t bytes, size_t offset, unsigned long long handle) {
    if (handle <= PRIVATE)
        return handle;
    const Physical *physical = (const Physical *)(uintptr_t)handle;
    return mmap((void *)(uintptr_t)address, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, physical->file,
                (off_t)offset) != MAP_FAILED;
}

static int opened_again(int file) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    return open(path, O_RDWR | O_CLOEXEC);
}

EXPORTED Result cuMemExportToShareableHandle(void *to, unsigned long long handle, int kind, unsigned long long flags) {
    int file = kind == FILE_HANDLE && !flags && handle > PRIVATE
                   ? opened_again(((const Physical *)(uintptr_t)handle)->file)
                   : -1;
    memcpy(to, &file, sizeof file);
    return file < 0 ? INVALID : SUCCESS;
}

EXPORTED Result cuMemImportFromShareableHandle(unsigned long long *handle, void *from, int kind) {
    Physical *made = calloc(1, sizeof *made);
    *made = (Physical){opened_again((int)(uintptr_t)from), 1};
    *handle = (uintptr_t)made;
    return kind == FILE_HANDLE && made->file >= 0 ? SUCCESS : INVALID;
}

/* ---- Allocations ---------------------------------------------------------------------------------- */

/* As the driver's are, of 64 bytes. */
typedef struct IpcHandle {
    long process;
    int file;
    unsigned unused;
    Address base, begin;
    size_t bytes;
    char rest[24];
} IpcHandle;
_Static_assert(sizeof(IpcHandle) == 64, "a handle has 64 bytes");

static Address opened[OPENED_MOST];
static unsigned opened_count;

bool is_opened(Address address) {
    Address begin;
    size_t bytes;
    bool there = standin_allocation(address, &begin, &bytes);
    for (unsigned i = 0; i < opened_count; i++)
        if (there && opened[i] == begin)
            return true;
    return false;
}

EXPORTED Result cuIpcGetMemHandle(IpcHandle *to, Address memory) {
    *to = (IpcHandle){.process = getpid(), .file = arena};
    if (arena < 0 || !standin_allocation(memory, &to->begin, &to->bytes))
        return INVALID;
    to->base = to->begin / GRAIN * GRAIN;
    return SUCCESS;
}

EXPORTED Result cuIpcOpenMemHandle_v2(Address *to, IpcHandle handle, unsigned flags) {
    enum { OF_ARENA = 0x300000000 };
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/fd/%d", handle.process, handle.file);
    int file = flags == 1 && handle.process != getpid() ? open(path, O_RDWR | O_CLOEXEC) : -1;
    size_t bytes = handle.begin + handle.bytes - handle.base;
    Result result = file < 0 || opened_count == OPENED_MOST ? INVALID : cuMemAddressReserve(to, 1 << 16, 0, 0, 0);
    if (!result && mmap((void *)(uintptr_t)*to, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
                        (off_t)(handle.base - OF_ARENA)) == MAP_FAILED)
        result = INVALID;
    if (file >= 0)
        close(file);
    if (result)
        return result;
    *to += handle.begin - handle.base;
    opened[opened_count++] = *to;
    return standin_opened(*to, handle.bytes);
}

EXPORTED Result cuIpcCloseMemHandle(Address memory) {
    return cuMemFree_v2(memory);
}

/* ---- Events --------------------------------------------------------------------------------------- */

EXPORTED Result cuIpcGetEventHandle(IpcHandle *to, Handle event) {
    *to = (IpcHandle){.process = getpid(), .base = (uintptr_t)event};
    return event ? SUCCESS : INVALID;
}

EXPORTED Result cuIpcOpenEventHandle(Handle *to, IpcHandle handle) {
    return handle.process ? cuEventCreate(to, 2) : INVALID;
}
