/* Which memory there is: allocations as the program asked for them, so that their sizes are exact. */
#include "exec/capture.h"

#include <stdlib.h>
#include <string.h>

#define NEAR (UINT64_C(1) << 32)

static Allocation *items;
static size_t count, capacity;

/* The first that begins above an address. */
static size_t above(uint64_t address) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (items[middle].begin <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void memory_add(uint64_t begin, uint64_t bytes, bool host) {
    memory_remove(begin);
    if (!begin || !bytes)
        return;
    if (count == capacity) {
        size_t wanted = capacity ? capacity * 2 : 64;
        Allocation *more = realloc(items, wanted * sizeof *more);
        if (!more)
            return;
        items = more;
        capacity = wanted;
    }
    size_t at = above(begin);
    memmove(items + at + 1, items + at, (count - at) * sizeof *items);
    items[at] = (Allocation){begin, bytes, host};
    count++;
}

void memory_remove(uint64_t begin) {
    size_t at = above(begin);
    if (!at || items[at - 1].begin != begin)
        return;
    memmove(items + at - 1, items + at, (count - at) * sizeof *items);
    count--;
}

/* Memory that came some other way: mapped, imported, a variable of a module. */
static const Allocation *ask_driver(uint64_t address) {
    static Allocation found;
    void *symbol = driver_symbol("cuMemGetAddressRange_v2");
    Result (*range)(DevicePointer *, size_t *, DevicePointer) =
        *(Result(**)(DevicePointer *, size_t *, DevicePointer)) & symbol;
    DevicePointer begin = 0;
    size_t bytes = 0;
    if (address < 4096 || !range || range(&begin, &bytes, address) != 0 || !begin || address - begin >= bytes)
        return NULL;
    found = (Allocation){begin, bytes, false};
    return &found;
}

const Allocation *memory_all(size_t *many) {
    *many = count;
    return items;
}

const Allocation *memory_find(uint64_t address) {
    size_t at = above(address);
    if (at && address - items[at - 1].begin < items[at - 1].bytes)
        return &items[at - 1];
    return ask_driver(address);
}

bool memory_near(uint64_t address) {
    size_t at = above(address);
    return (at && address - items[at - 1].begin < NEAR) || (at < count && items[at].begin - address < NEAR);
}

bool memory_read(const Allocation *allocation, void *to, uint64_t bytes) {
    if (allocation->host) {
        memcpy(to, (const void *)(uintptr_t)allocation->begin, bytes);
        return true;
    }
    void *symbol = driver_symbol("cuMemcpyDtoH_v2");
    Result (*copy)(void *, DevicePointer, size_t) = *(Result(**)(void *, DevicePointer, size_t)) & symbol;
    return copy && copy(to, allocation->begin, bytes) == 0;
}
