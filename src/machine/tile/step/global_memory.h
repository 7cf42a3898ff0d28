/* Global memory of a run: areas of memory on one or more devices, what is known of their bytes, and whether anything
 * has written them.
 *
 * Each area has 2^40 addresses of its own, the half of them before its start, so that an address tells its area, also
 * one that is outside of it. Bytes are kept where they were given or written; the rest of an area was written before
 * the run if its launch says so (an input), and its data is not known. Integers are known bit for bit; of anything else
 * an identity is kept, so that what two CTAs write can be compared. */
#ifndef MACHINE_TILE_STEP_GLOBAL_MEMORY_H
#define MACHINE_TILE_STEP_GLOBAL_MEMORY_H

#include "explore/launch/launch.h"
#include "model/number/value.h"

typedef struct GlobalMemory GlobalMemory;

enum { AREA_SHIFT = 40, MOST_AREAS = 1 << 20, NO_AREA = UINT32_MAX };
/* Where the first area lies: no device has such addresses, and kernels do not compute such numbers, so that what a
 * kernel has loaded or counted is in an area only if it comes from the address of an argument. */
#define AREA_ORIGIN (INT64_C(0x1b5c9d) << AREA_SHIFT)
/* The largest area, and how far before the start of one an address is still counted as its own. */
#define AREA_HALF ((int64_t)1 << (AREA_SHIFT - 1))

typedef struct Area {
    const char *name; /* "c_ptr", or the name of its buffer */
    uint32_t device;
    uint8_t rank;
    uint16_t element_bits;                                          /* in memory; 0: not known */
    int64_t shape[ARGUMENT_MOST_DIMS], strides[ARGUMENT_MOST_DIMS]; /* strides: elements */
    int64_t before; /* bytes that belong to it before its first element: of the allocation that it is a view of */
    int64_t bytes;  /* from its first to its last element, or to the end of that allocation; -1: not known */
    bool storage;   /* `before` and `bytes` are those of the allocation that it is a view of */
    bool sparse;    /* its elements leave gaps, which belong to nothing, and lie in each other's gaps nowhere */
    bool written;   /* before the run: the launch gave it data, or does not say that it is an output */
    bool zero;      /* before the run it holds zeros, beside the data */
} Area;

GlobalMemory *global_create(Arena *arena);
/* A new area, at most MOST_AREAS of at most AREA_HALF bytes; `data` (may be NULL) as in Argument, and must outlive the
 * memory. Its number; its address is AREA_ORIGIN + (number << AREA_SHIFT). */
uint32_t global_add(GlobalMemory *memory, const Area *area, const int64_t *data, size_t data_count);
static inline int64_t global_address(uint32_t area) {
    return AREA_ORIGIN + ((int64_t)area << AREA_SHIFT);
}
/* The area in whose addresses one lies, and how far from its start (negative: before it); NULL: none. */
const Area *global_area(const GlobalMemory *memory, int64_t address, int64_t *offset);
/* Its number, if it lies in that of one; and how many areas there are. */
uint32_t global_area_number(int64_t address);
uint32_t global_area_count(const GlobalMemory *memory);
/* Back to how it was before the first step. */
void global_reset(GlobalMemory *memory);
/* How often the known value of an element has changed: a CTA that has read all and found nothing new waits for this. */
uint64_t global_version(const GlobalMemory *memory);

/* An element of `width` bits (whole bytes, 8 to 64). Known: an integer; else unknown, with an identity: what was
 * written if just that is read, else one made of the bytes' own, of the address alone where nothing has written. What
 * is written outside of all areas is lost. */
Word global_read(GlobalMemory *memory, int64_t address, unsigned width);
/* An identity of what the bytes begin .. end - 1 hold together: the same if nothing has changed any of them. */
uint64_t global_identity(GlobalMemory *memory, int64_t begin, int64_t end);
void global_write(GlobalMemory *memory, int64_t address, unsigned width, Word value);
/* `count` elements side by side, each written with an unknown value; its identity is made of `identity` and of its
 * number, which is `first` for the first of them. */
void global_write_row(GlobalMemory *memory, int64_t address, unsigned width, uint64_t count, uint64_t identity,
                      uint64_t first);
/* The bytes begin .. end - 1 are written with data that nothing follows. */
void global_write_unknown(GlobalMemory *memory, int64_t begin, int64_t end, uint64_t identity);
/* Whether that was the last that was done to all of them. */
bool global_holds(GlobalMemory *memory, int64_t begin, int64_t end, uint64_t identity);
/* The first byte of begin .. end - 1 that nothing has written (and the end of that run); false: there is none. */
bool global_unwritten(const GlobalMemory *memory, int64_t begin, int64_t end, int64_t *from, int64_t *to);
/* Counts the bytes as written and leaves what is known of them. Writing does it, too. */
void global_mark_written(GlobalMemory *memory, int64_t begin, int64_t end);
/* The first byte that is outside of the area's tensor; false: all of it is inside, or the tensor is not known. */
bool global_outside(const GlobalMemory *memory, int64_t begin, int64_t end, int64_t *from);

/* "c_ptr[3, 17]", "c_ptr + 6 bytes past its end", "flags@1[0]" (of device 1, if there is more than one). */
void global_name(const GlobalMemory *memory, int64_t address, Text *to);

#endif
