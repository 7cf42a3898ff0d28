/* Which memory of this process kernels may access, and what is known of it. */
#include "base/array.h"
#include "base/bisect.h"
#include "machine/simt/core/machine.h"
#include "machine/simt/host/host.h"

#include <stdlib.h>

static uint64_t begin_of(const HostRange *range) {
    return (uintptr_t)range->memory.bytes;
}

static uint64_t end_of(const HostRange *range) {
    return begin_of(range) + range->memory.size;
}

/* The first range that ends behind the address. */
static uint32_t first_at(const PtxDevice *device, uint64_t address) {
    uint32_t low;
    BISECT(low, 0, device->range_count, end_of(device->ranges[low]) <= address);
    return low;
}

static void drop(PtxDevice *device, uint32_t index) {
    HostRange *range = device->ranges[index];
    memmove(&device->ranges[index], &device->ranges[index + 1],
            (--device->range_count - index) * sizeof *device->ranges);
    ptx_host_free(&range->memory);
    free(range->name);
    free(range);
}

bool host_add(PtxDevice *device, void *address, uint64_t bytes, const char *name, bool written) {
    uint64_t begin = (uintptr_t)address;
    uint32_t at = first_at(device, begin);
    if (!bytes) /* overlaps nothing */
        return true;
    while (at < device->range_count && begin_of(device->ranges[at]) < begin + bytes)
        drop(device, at);
    HostRange *range =
        ARRAY_ROOM(device->ranges, device->range_count, device->range_capacity, 64) ? calloc(1, sizeof *range) : NULL;
    if (!range)
        return false;
    *range = (HostRange){.name = strdup(name ? name : "memory"),
                         .memory = {.bytes = address, .size = bytes, .states = written ? NULL : calloc(bytes + 16, 1)}};
    if (!range->name || (!written && !range->memory.states)) {
        ptx_host_free(&range->memory);
        free(range->name);
        free(range);
        return false;
    }
    memmove(&device->ranges[at + 1], &device->ranges[at], (device->range_count++ - at) * sizeof *device->ranges);
    device->ranges[at] = range;
    return true;
}

void host_share(PtxDevice *device, const void *address) {
    uint32_t at = first_at(device, (uintptr_t)address);
    if (at < device->range_count && device->ranges[at]->memory.bytes == address)
        device->ranges[at]->memory.shared = true;
}

void host_remove(PtxDevice *device, const void *address) {
    uint32_t at = first_at(device, (uintptr_t)address);
    if (at < device->range_count && device->ranges[at]->memory.bytes == address)
        drop(device, at);
}

/* The part of [address, address + bytes) that lies in a range: its first byte there. */
static uint64_t part_of(const HostRange *range, uint64_t address, uint64_t bytes, uint64_t *count) {
    uint64_t begin = address > begin_of(range) ? address : begin_of(range);
    uint64_t end = address + bytes < end_of(range) ? address + bytes : end_of(range);
    *count = end - begin;
    return begin - begin_of(range);
}

void host_written(PtxDevice *device, const void *address, uint64_t bytes) {
    uint64_t begin = (uintptr_t)address, count;
    for (uint32_t i = first_at(device, begin); i < device->range_count && begin_of(device->ranges[i]) < begin + bytes;
         i++) {
        PtxHost *memory = &device->ranges[i]->memory;
        uint64_t at = part_of(device->ranges[i], begin, bytes, &count);
        if (memory->states)
            memset(memory->states + at, BYTE_KNOWN, count);
    }
}

/* The range that an address is in, and how many bytes from there on it has; NULL: up to the next one, none. */
static PtxHost *range_at(const PtxDevice *device, uint64_t address, uint64_t *rest) {
    uint32_t at = first_at(device, address);
    *rest = UINT64_MAX;
    if (at < device->range_count && begin_of(device->ranges[at]) <= address) {
        *rest = end_of(device->ranges[at]) - address;
        return &device->ranges[at]->memory;
    }
    if (at < device->range_count)
        *rest = begin_of(device->ranges[at]) - address;
    return NULL;
}

void host_copied(PtxDevice *device, void *to, const void *from, uint64_t bytes) {
    for (uint64_t done = 0, count, other; done < bytes; done += count) {
        uint64_t source = (uintptr_t)from + done, target = (uintptr_t)to + done;
        const PtxHost *read = range_at(device, source, &count);
        PtxHost *written = range_at(device, target, &other);
        count = count < other ? count : other;
        count = count < bytes - done ? count : bytes - done;
        if (!written || (!written->states && (!read || !read->states)))
            continue;
        if (!written->states && (written->states = malloc(written->size + 16)))
            memset(written->states, BYTE_KNOWN, written->size + 16);
        if (!written->states) /* there is not enough memory: as if it were known */
            continue;
        if (read && read->states)
            memmove(written->states + (target - (uintptr_t)written->bytes),
                    read->states + (source - (uintptr_t)read->bytes), count);
        else
            memset(written->states + (target - (uintptr_t)written->bytes), BYTE_KNOWN, count);
    }
}

bool host_known(const PtxDevice *device, const void *address, uint64_t bytes) {
    uint64_t begin = (uintptr_t)address, reached = begin, count;
    for (uint32_t i = first_at(device, begin); i < device->range_count && begin_of(device->ranges[i]) < begin + bytes;
         i++) {
        const PtxHost *memory = &device->ranges[i]->memory;
        uint64_t at = part_of(device->ranges[i], begin, bytes, &count);
        if (begin_of(device->ranges[i]) + at != reached)
            return false;
        for (uint64_t k = at; memory->states && k < at + count; k++)
            if (memory->states[k] != BYTE_KNOWN)
                return false;
        reached += count;
    }
    return reached == begin + bytes;
}

void host_free(PtxDevice *device) {
    while (device->range_count)
        drop(device, device->range_count - 1);
    free(device->ranges);
    host_heap_free(device);
    while (device->kernels)
        host_forget(device, device->kernels->module);
    *device = (PtxDevice){0};
}
