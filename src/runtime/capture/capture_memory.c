/* Which memory there is: allocations as the program asked for them, so that their sizes are exact. */
#include "base/array.h"
#include "base/bisect.h"
#include "runtime/capture/capture.h"

#include <stdlib.h>
#include <string.h>

#define NEAR (UINT64_C(1) << 32)

static CaptureAllocation *items;
static size_t count, capacity;

/* The first that begins above an address. */
static size_t above(uint64_t address) {
    size_t low;
    BISECT(low, 0, count, items[low].begin <= address);
    return low;
}

static void add(CaptureAllocation allocation) {
    memory_remove(allocation.begin);
    if (!allocation.begin || !allocation.bytes || !ARRAY_ROOM(items, count, capacity, 64))
        return;
    size_t at = above(allocation.begin);
    memmove(items + at + 1, items + at, (count - at) * sizeof *items);
    items[at] = allocation;
    count++;
}

void memory_add(uint64_t begin, uint64_t bytes, bool host) {
    add((CaptureAllocation){begin, bytes, .host = host});
}

void memory_add_managed(uint64_t begin, uint64_t bytes) {
    add((CaptureAllocation){begin, bytes, .managed = true});
}

void memory_add_pooled(uint64_t begin, uint64_t bytes) {
    add((CaptureAllocation){begin, bytes, .pooled = true});
}

void memory_remove(uint64_t begin) {
    size_t at = above(begin);
    if (!at || items[at - 1].begin != begin)
        return;
    memmove(items + at - 1, items + at, (count - at) * sizeof *items);
    count--;
}

/* ---- Mapped ---- */

typedef struct CaptureMemoryMapping {
    uint64_t begin, bytes, offset, handle;
    uint64_t released; /* handles that were released before its own was; 0: it was not */
} CaptureMemoryMapping;

static CaptureMemoryMapping *mappings; /* by address */
static size_t mapping_count, mapping_capacity;
static bool twice; /* some memory is there at two addresses */

/* Whether one of the first `end` has some of the same memory as the i-th. */
static bool has_same(size_t i, size_t end) {
    const CaptureMemoryMapping *one = &mappings[i];
    for (size_t k = 0; k < end; k++) {
        const CaptureMemoryMapping *other = &mappings[k];
        if (k != i && one->handle == other->handle && one->released == other->released &&
            one->offset < other->offset + other->bytes && other->offset < one->offset + one->bytes)
            return true;
    }
    return false;
}

void memory_map(uint64_t begin, uint64_t bytes, uint64_t offset, uint64_t handle) {
    size_t at = mapping_count;
    if (!ARRAY_ROOM(mappings, mapping_count, mapping_capacity, 64))
        return;
    while (at && mappings[at - 1].begin > begin)
        at--;
    memmove(mappings + at + 1, mappings + at, (mapping_count - at) * sizeof *mappings);
    mappings[at] = (CaptureMemoryMapping){begin, bytes, offset, handle, 0};
    mapping_count++;
    twice |= has_same(at, mapping_count);
}

void memory_release(uint64_t handle) {
    static uint64_t count;
    count++;
    for (size_t i = 0; i < mapping_count; i++)
        if (mappings[i].handle == handle && !mappings[i].released)
            mappings[i].released = count;
}

void memory_unmap(uint64_t begin, uint64_t bytes) {
    size_t kept = 0;
    for (size_t i = 0; i < mapping_count; i++)
        if (mappings[i].begin - begin >= bytes)
            mappings[kept++] = mappings[i];
    mapping_count = kept;
    bool still = false;
    for (size_t i = 0; twice && i < mapping_count && !still; i++)
        still = has_same(i, i);
    twice = still;
}

bool memory_mapped(size_t *at, CaptureAllocation *run) {
    if (*at >= mapping_count)
        return false;
    *run = (CaptureAllocation){mappings[*at].begin, mappings[*at].bytes, .host = false};
    while (++*at < mapping_count && mappings[*at].begin == run->begin + run->bytes)
        run->bytes += mappings[*at].bytes;
    return true;
}

bool memory_twice(void) {
    return twice;
}

static const CaptureAllocation *find_mapped(uint64_t address) {
    static CaptureAllocation run;
    for (size_t at = 0; memory_mapped(&at, &run);)
        if (address - run.begin < run.bytes)
            return &run;
    return NULL;
}

/* Memory that came some other way: opened, a variable of a module. */
static const CaptureAllocation *ask_driver(uint64_t address) {
    static CaptureAllocation found;
    void *symbol = driver_symbol("cuMemGetAddressRange_v2");
    Result (*range)(DevicePointer *, size_t *, DevicePointer) =
        *(Result(**)(DevicePointer *, size_t *, DevicePointer)) & symbol;
    DevicePointer begin = 0;
    size_t bytes = 0;
    if (address < 4096 || !range || range(&begin, &bytes, address) != 0 || !begin || address - begin >= bytes)
        return NULL;
    found = (CaptureAllocation){begin, bytes, .host = false};
    return &found;
}

const CaptureAllocation *memory_all(size_t *many) {
    *many = count;
    return items;
}

const CaptureAllocation *memory_find(uint64_t address) {
    size_t at = above(address);
    if (at && address - items[at - 1].begin < items[at - 1].bytes)
        return &items[at - 1];
    const CaptureAllocation *mapped = find_mapped(address);
    return mapped ? mapped : ask_driver(address);
}

bool memory_near(uint64_t address) {
    size_t at = above(address);
    return (at && address - items[at - 1].begin < NEAR) || (at < count && items[at].begin - address < NEAR);
}

bool memory_read(const CaptureAllocation *allocation, void *to, uint64_t bytes) {
    if (allocation->host) {
        memcpy(to, (const void *)(uintptr_t)allocation->begin, bytes);
        return true;
    }
    void *symbol = driver_symbol("cuMemcpyDtoH_v2");
    Result (*copy)(void *, DevicePointer, size_t) = *(Result(**)(void *, DevicePointer, size_t)) & symbol;
    return copy && copy(to, allocation->begin, bytes) == 0;
}
