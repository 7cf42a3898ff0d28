/* Memory for a launch that came without: a number for every argument that addresses depend on, descriptors, and a small
 * grid of more than one CTA, so that the whole grid can be run on one global memory.
 *
 * Each pointer has memory of its own, of any size, whose data is not known; memory that atomics and flags are in holds
 * zeros. Strides are chosen so that nothing overlaps that a caller would lay out side by side: how far addresses reach
 * without a stride, and by how much more with it, is found out by running the grid. */
#ifndef MACHINE_TILE_GRID_CHOOSE_MEMORY_H
#define MACHINE_TILE_GRID_CHOOSE_MEMORY_H

#include "machine/tile/schedule/schedule.h"

/* How large sizes are; what is given stays. */
typedef enum Room {
    ROOM_PLENTY, /* each CTA has tiles of its own, and whole ones */
    ROOM_MODEST, /* a few tiles, as for kernels that go over all of them */
    ROOM_AS_IS,  /* those of `base`, where it has one */
    ROOM_OTHER,  /* other sizes, strides and another grid than those before */
    ROOM_LEAST,  /* 1, and the smallest grid */
    ROOM_UNEVEN, /* a few tiles, the last of them not whole, and more programs than one row of tiles or heads has */
} Room;

typedef struct MemoryRequest {
    const Program *program; /* compiled with COMPILE_GLOBAL | COMPILE_DATA */
    const Launch *base;     /* what control depends on, chosen or given: one of `bases` (choose.h) */
    const Launch *bases;
    size_t base_count;
    const Launch *given; /* what of it was given, and stays; its grid is 0 where none is given */
    Room room;
    uint64_t budget; /* instructions of one run */
} MemoryRequest;

/* Memory: `arena`, which must be able to jump. Anything but RUN_COMPLETE: the kernel does not run with such numbers, as
 * far as it was tried. */
RunEnd choose_memory(Arena *arena, const MemoryRequest *request, Launch *launch);
/* Whether a parameter is a number, and was chosen; and whether other rooms have other ones. */
bool number_is_chosen(const MemoryRequest *request, uint32_t parameter);
bool number_varies(const MemoryRequest *request, uint32_t parameter);
/* Whether the grid was chosen for a kernel that does not look at its program id. */
bool programs_are_symmetry(const MemoryRequest *request);

#endif
