/* The arithmetic of shadow memory: no memory is touched here. */
#include "engine/shadow/shadow.h"

#include <stddef.h>

/* Without the bit that says real memory. */
static uint64_t real_mask(const ShadowRange *range) {
    return (range->size - 1) >> 1;
}

/* What a region has of each half. */
static uint64_t region_size(const ShadowRange *range) {
    return range->size / 2 / range->region_count;
}

const char *shadow_problem(const ShadowRange *range) {
    if (range->size < 4096 || (range->size & (range->size - 1)))
        return "the size of the range is not a power of two";
    if (range->base & (range->size - 1))
        return "the range is not aligned to its size";
    if (range->region_count < 1 || range->region_count > SHADOW_REGIONS)
        return "a range has one or two regions";
    for (uint32_t i = 0; i < range->region_count; i++) {
        const ShadowRegion *region = &range->regions[i];
        if (!region->granule || (region->granule & (region->granule - 1)) || !region->cell)
            return "a granule is not a power of two, or a cell is empty";
    }
    return NULL;
}

bool shadow_manages(const ShadowRange *range, uint64_t address) {
    return address - range->base < range->size;
}

bool shadow_is_real(const ShadowRange *range, uint64_t address) {
    return shadow_manages(range, address) && address - range->base > real_mask(range);
}

ShadowRegionKind shadow_region(const ShadowRange *range, uint64_t address) {
    uint64_t offset = (address - range->base) & real_mask(range);
    return offset < region_size(range) ? SHADOW_FINE : SHADOW_COARSE;
}

uint64_t shadow_cell(const ShadowRange *range, uint64_t address) {
    ShadowRegionKind kind = shadow_region(range, address);
    const ShadowRegion *region = &range->regions[kind];
    uint64_t begin = (uint64_t)kind * region_size(range);
    uint64_t offset = ((address - range->base) & real_mask(range)) - begin;
    return range->base + begin + offset / region->granule * region->cell;
}

uint64_t shadow_real_begin(const ShadowRange *range, ShadowRegionKind region) {
    return range->base + range->size / 2 + (uint64_t)region * region_size(range);
}

uint64_t shadow_real_bytes(const ShadowRange *range, ShadowRegionKind region) {
    uint64_t bytes = region_size(range), cells = bytes / range->regions[region].cell;
    return cells < bytes / range->regions[region].granule ? cells * range->regions[region].granule : bytes;
}
