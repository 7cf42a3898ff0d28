/* Where the shadow of an address lies.
 *
 * One range of addresses is reserved, a power of two in size and aligned to it. Its upper half holds the real memory,
 * its lower half the shadow, a cell for each granule; both are mapped when they are first used. A range can have two
 * regions: a fine one, and a coarse one for bulk data, each with its granule; which one an address is in is the bit
 * below the one that tells real memory from shadow. The arithmetic is the same for a device's memory and for the
 * emulator's. */
#ifndef ENGINE_SHADOW_SHADOW_H
#define ENGINE_SHADOW_SHADOW_H

#include <stdbool.h>
#include <stdint.h>

typedef enum ShadowRegionKind { SHADOW_FINE, SHADOW_COARSE, SHADOW_REGIONS } ShadowRegionKind;

typedef struct ShadowRegion {
    uint32_t granule, cell; /* bytes of real memory that a cell stands for, and of the cell */
} ShadowRegion;

typedef struct ShadowRange {
    uint64_t base; /* a multiple of `size` */
    uint64_t size; /* a power of two */
    ShadowRegion regions[SHADOW_REGIONS];
    uint32_t region_count; /* 1: all of it is fine */
} ShadowRange;

/* NULL, or a sentence that says why the range makes no sense. */
const char *shadow_problem(const ShadowRange *range);
/* Whether the range has it, as real memory or as shadow: of anything else nothing is known. */
bool shadow_manages(const ShadowRange *range, uint64_t address);
bool shadow_is_real(const ShadowRange *range, uint64_t address);
/* Of an address of real memory. */
ShadowRegionKind shadow_region(const ShadowRange *range, uint64_t address);
/* The first byte of the cell of an address of real memory. */
uint64_t shadow_cell(const ShadowRange *range, uint64_t address);
/* Where the real memory of a region begins, and how many bytes of it the region's half of the shadow has cells for. */
uint64_t shadow_real_begin(const ShadowRange *range, ShadowRegionKind region);
uint64_t shadow_real_bytes(const ShadowRange *range, ShadowRegionKind region);

#endif
