/* Physical memory is made, mapped, and given back. */
#include "runtime/shadow/gpu_map.h"

#include <string.h>

/* As CUDA's header has them (CUmemAllocationProp, CUmemAccessDesc). */
typedef struct AllocationProp {
    int type, handle_types;
    struct {
        int type, id;
    } location;
    void *win32;
    struct {
        unsigned char compression, rdma;
        unsigned short usage;
        unsigned char reserved[4];
    } flags;
} AllocationProp;
typedef struct AccessDesc {
    struct {
        int type, id;
    } location;
    int flags;
} AccessDesc;
enum { PINNED = 1, ON_DEVICE = 1, READ_WRITE = 3, GRANULARITY_MINIMUM = 0, AS_FILE = 1 };

static AllocationProp prop_of(const GpuMap *map) {
    AllocationProp prop = {.type = PINNED};
    prop.location.type = ON_DEVICE;
    prop.location.id = map->device;
    return prop;
}

const char *mapping_open(GpuMap *map, GpuResolve *resolve, int device) {
    static const char lacks[] = "the driver does not map memory by addresses";
    size_t page = 0;
    map->device = device;
#define CALL(result, name, parameters)                  \
    {                                                   \
        void *function = resolve(#name);                \
        if (!function)                                  \
            return lacks;                               \
        memcpy(&map->name, &function, sizeof function); \
    }
    MAP_CALLS(CALL)
#undef CALL
    AllocationProp prop = prop_of(map);
    if (map->cuMemGetAllocationGranularity(&page, &prop, GRANULARITY_MINIMUM) || !page)
        return lacks;
    map->page = page;
    return NULL;
}

/* What is not mapped in the end is given back. */
static int place(const GpuMap *map, uint64_t address, uint64_t bytes, GpuMapped handle) {
    AccessDesc access = {.location = {ON_DEVICE, map->device}, .flags = READ_WRITE};
    int result = map->cuMemMap(address, bytes, 0, handle, 0);
    if (result) {
        map->cuMemRelease(handle);
        return result;
    }
    result = map->cuMemSetAccess(address, bytes, &access, 1);
    if (result)
        mapping_remove(map, address, bytes, handle);
    return result;
}

int mapping_add(const GpuMap *map, uint64_t address, uint64_t bytes, GpuMapped *handle) {
    AllocationProp prop = prop_of(map);
    int result = map->cuMemCreate(handle, bytes, &prop, 0);
    return result ? result : place(map, address, bytes, *handle);
}

int mapping_add_shared(const GpuMap *map, uint64_t address, uint64_t bytes, GpuMapped *handle) {
    AllocationProp prop = prop_of(map);
    prop.handle_types = AS_FILE;
    if (map->cuMemCreate(handle, bytes, &prop, 0)) /* not every device has files */
        return mapping_add(map, address, bytes, handle);
    return place(map, address, bytes, *handle);
}

int mapping_export(const GpuMap *map, GpuMapped handle, int *file) {
    return map->cuMemExportToShareableHandle(file, handle, AS_FILE, 0);
}

int mapping_import(const GpuMap *map, uint64_t address, uint64_t bytes, int file, GpuMapped *handle) {
    int result = map->cuMemImportFromShareableHandle(handle, (void *)(uintptr_t)file, AS_FILE);
    return result ? result : place(map, address, bytes, *handle);
}

void mapping_remove(const GpuMap *map, uint64_t address, uint64_t bytes, GpuMapped handle) {
    map->cuMemUnmap(address, bytes);
    map->cuMemRelease(handle);
}
