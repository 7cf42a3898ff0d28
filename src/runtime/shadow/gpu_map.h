/* Memory of a device that is mapped, block by block, at addresses that were reserved before. It knows the driver by the
 * functions that it is given. */
#ifndef RUNTIME_SHADOW_GPU_MAP_H
#define RUNTIME_SHADOW_GPU_MAP_H

#include <stddef.h>
#include <stdint.h>

/* The driver's function of that name ("cuMemCreate"); NULL: it has none. */
typedef void *GpuResolve(const char *name);
typedef unsigned long long GpuMapped; /* CUmemGenericAllocationHandle */
struct AllocationProp;
struct AccessDesc;

#define MAP_CALLS(CALL)                                                                              \
    CALL(int, cuMemAddressReserve, (uint64_t *, size_t, size_t, uint64_t, unsigned long long))       \
    CALL(int, cuMemAddressFree, (uint64_t, size_t))                                                  \
    CALL(int, cuMemCreate, (GpuMapped *, size_t, const struct AllocationProp *, unsigned long long)) \
    CALL(int, cuMemRelease, (GpuMapped))                                                             \
    CALL(int, cuMemMap, (uint64_t, size_t, size_t, GpuMapped, unsigned long long))                   \
    CALL(int, cuMemUnmap, (uint64_t, size_t))                                                        \
    CALL(int, cuMemSetAccess, (uint64_t, size_t, const struct AccessDesc *, size_t))                 \
    CALL(int, cuMemGetAllocationGranularity, (size_t *, const struct AllocationProp *, int))         \
    CALL(int, cuMemExportToShareableHandle, (void *, GpuMapped, int, unsigned long long))            \
    CALL(int, cuMemImportFromShareableHandle, (GpuMapped *, void *, int))

typedef struct GpuMap {
    int device;
    uint64_t page; /* sizes and addresses are multiples of it */
#define CALL(result, name, parameters) result(*name) parameters;
    MAP_CALLS(CALL)
#undef CALL
} GpuMap;

/* NULL, or one sentence that begins with "the driver". */
const char *mapping_open(GpuMap *map, GpuResolve *resolve, int device);
/* Physical memory at an address that was reserved. 0, or what the driver says. */
int mapping_add(const GpuMap *map, uint64_t address, uint64_t bytes, GpuMapped *handle);
/* The same, of which other processes can have a file; and that of another process, by its file. */
int mapping_add_shared(const GpuMap *map, uint64_t address, uint64_t bytes, GpuMapped *handle);
int mapping_export(const GpuMap *map, GpuMapped handle, int *file);
int mapping_import(const GpuMap *map, uint64_t address, uint64_t bytes, int file, GpuMapped *handle);
void mapping_remove(const GpuMap *map, uint64_t address, uint64_t bytes, GpuMapped handle);

#endif
