/* Entry points of the driver that map physical memory, and that hand memory and events to other processes. */
#include "runtime/hooks.h"
#include "runtime/record/gpu.h"
#include "runtime/record/gpu_peers.h"

/* Which memory it is, is not known. */
static void lacks(const char *name) {
    gpu_unseen_program("memory that %s shares could not be told from other memory: races with what other processes do "
                       "there were not checked",
                       name);
}

/* ---- Physical memory ------------------------------------------------------------------------------ */

/* In mode shadow, addresses are those that have cells: what is mapped there gets them. */
EXPORTED Result cuMemAddressReserve(DevicePointer *to, size_t bytes, size_t alignment, DevicePointer at,
                                    uint64_t flags) {
    if (to && !at && !flags && checked_reserve(to, bytes, alignment))
        return 0;
    return NEXT(cuMemAddressReserve, (DevicePointer *, size_t, size_t, DevicePointer, uint64_t), to, bytes, alignment,
                at, flags);
}

EXPORTED Result cuMemAddressFree(DevicePointer memory, size_t bytes) {
    return checked_unreserve(memory) ? 0 : NEXT(cuMemAddressFree, (DevicePointer, size_t), memory, bytes);
}

/* Made again if there is none, but for what records could do without. */
EXPORTED Result cuMemCreate(uint64_t *handle, size_t bytes, const void *how, uint64_t flags) {
    Result result;
    do
        result = NEXT(cuMemCreate, (uint64_t *, size_t, const void *, uint64_t), handle, bytes, how, flags);
    while (result == OUT_OF_MEMORY && gpu_make_room());
    if (!result && order_on())
        GUARDED(peers_created(*handle, bytes));
    return result;
}

EXPORTED Result cuMemMap(DevicePointer memory, size_t bytes, size_t offset, uint64_t handle, uint64_t flags) {
    Result result =
        NEXT(cuMemMap, (DevicePointer, size_t, size_t, uint64_t, uint64_t), memory, bytes, offset, handle, flags);
    if (!result && (result = checked_map(memory, bytes)))
        NEXT(cuMemUnmap, (DevicePointer, size_t), memory, bytes);
    if (!result)
        GUARDED(memory_map(memory, bytes, offset, handle));
    if (!result && order_on())
        GUARDED(peers_mapped(memory, bytes, offset, handle));
    return result;
}

EXPORTED Result cuMemUnmap(DevicePointer memory, size_t bytes) {
    checked_look(false); /* while it is known what launches have touched there */
    GUARDED(memory_unmap(memory, bytes));
    if (order_on())
        GUARDED(peers_unmapped(memory, bytes));
    Result result = NEXT(cuMemUnmap, (DevicePointer, size_t), memory, bytes);
    if (!result)
        checked_unmap(memory, bytes);
    return result;
}

EXPORTED Result cuMemRelease(uint64_t handle) {
    GUARDED(memory_release(handle));
    if (order_on())
        GUARDED(peers_released(handle));
    return NEXT(cuMemRelease, (uint64_t), handle);
}

EXPORTED Result cuMemRetainAllocationHandle(uint64_t *handle, void *memory) {
    Result result = NEXT(cuMemRetainAllocationHandle, (uint64_t *, void *), handle, memory);
    if (!result && order_on())
        GUARDED(peers_retained(*handle));
    return result;
}

EXPORTED Result cuMemExportToShareableHandle(void *to, uint64_t handle, int kind, uint64_t flags) {
    Result result = NEXT(cuMemExportToShareableHandle, (void *, uint64_t, int, uint64_t), to, handle, kind, flags);
    bool known = kind == HANDLE_FILE;
    if (result || !order_on())
        return result;
    if (known)
        GUARDED(known = peers_exported(handle, *(int *)to));
    if (!known)
        lacks("cuMemExportToShareableHandle");
    return result;
}

EXPORTED Result cuMemImportFromShareableHandle(uint64_t *handle, void *from, int kind) {
    Result result = NEXT(cuMemImportFromShareableHandle, (uint64_t *, void *, int), handle, from, kind);
    bool known = kind == HANDLE_FILE;
    if (result || !order_on())
        return result;
    if (known)
        GUARDED(known = peers_imported(*handle, (int)(uintptr_t)from));
    if (!known)
        lacks("cuMemImportFromShareableHandle");
    return result;
}

/* ---- Allocations ---------------------------------------------------------------------------------- */

typedef bool Report(DevicePointer at, uint64_t bytes, const IpcHandle *handle);

/* The allocation that the address is in. */
static void report(Report *handed, DevicePointer address, const IpcHandle *handle, const char *name) {
    bool known = false;
    int mode = gpu_relax(); /* the driver is asked */
    pthread_mutex_lock(&hook_mutex);
    const CaptureAllocation *memory = memory_find(address);
    if (memory)
        known = handed(memory->begin, memory->bytes, handle);
    pthread_mutex_unlock(&hook_mutex);
    gpu_relaxed(mode);
    if (!known)
        lacks(name);
}

EXPORTED Result cuIpcGetMemHandle(IpcHandle *handle, DevicePointer memory) {
    Result result =
        checked_hand_over(handle, memory) ? 0 : NEXT(cuIpcGetMemHandle, (IpcHandle *, DevicePointer), handle, memory);
    if (!result && order_on())
        report(peers_handed, memory, handle, "cuIpcGetMemHandle");
    return result;
}

#define OPEN_MEMORY(name)                                                                       \
    EXPORTED Result name(DevicePointer *memory, IpcHandle handle, unsigned flags) {             \
        Result result;                                                                          \
        if (!checked_take_over(memory, &handle, &result))                                       \
            result = NEXT(name, (DevicePointer *, IpcHandle, unsigned), memory, handle, flags); \
        if (!result && order_on())                                                              \
            report(peers_opened, *memory, &handle, "cuIpcOpenMemHandle");                       \
        return result;                                                                          \
    }
OPEN_MEMORY(cuIpcOpenMemHandle)
OPEN_MEMORY(cuIpcOpenMemHandle_v2)

EXPORTED Result cuIpcCloseMemHandle(DevicePointer memory) {
    Result result;
    bool done = checked_hand_back(memory, &result);
    if (order_on())
        GUARDED(peers_closed(memory));
    return done ? result : NEXT(cuIpcCloseMemHandle, (DevicePointer), memory);
}

/* ---- Events --------------------------------------------------------------------------------------- */

EXPORTED Result cuIpcGetEventHandle(IpcHandle *handle, Handle event) {
    Result result = NEXT(cuIpcGetEventHandle, (IpcHandle *, Handle), handle, event);
    if (!result && order_on())
        GUARDED(peers_event(event, handle));
    return result;
}

EXPORTED Result cuIpcOpenEventHandle(Handle *event, IpcHandle handle) {
    Result result = NEXT(cuIpcOpenEventHandle, (Handle *, IpcHandle), event, handle);
    if (!result && order_on())
        GUARDED(peers_event(*event, &handle));
    return result;
}
