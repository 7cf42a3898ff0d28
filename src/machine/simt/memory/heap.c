/* The heap of kernels: what malloc gives them, and free takes back. Addresses are not given a second time: what was
 * freed is known as that. A launch begins with what the launches before it have left (PtxLaunch.heap). */
#include "machine/simt/core/internal.h"

enum { APART = 256, UNIT = 16 };

static uint64_t counted(uint64_t bytes) {
    return (bytes + UNIT - 1) / UNIT * UNIT;
}

void heap_start(PtxMachine *machine) {
    const PtxHeap *given = machine->launch->heap;
    PtxHeap *heap = &pools_of(machine)->heap;
    *heap = given ? *given : (PtxHeap){.next = PTX_HEAP_FIRST, .limit = PTX_HEAP_BYTES};
    for (uint32_t i = 0; i < heap->freed_count; i++)
        memory_add(machine, (PtxBlock){.space = PTX_SPACE_GLOBAL,
                                       .base = heap->freed[i].address,
                                       .freed = heap->freed[i].bytes,
                                       .heap = true,
                                       .name = PTX_HEAP_NAME,
                                       .cta = PTX_NONE});
}

bool heap_has(PtxMachine *machine, uint64_t bytes) {
    const PtxHeap *heap = &pools_of(machine)->heap;
    return bytes && heap->used <= heap->limit && bytes <= heap->limit - heap->used;
}

uint64_t heap_take(PtxMachine *machine, uint64_t bytes) {
    PtxHeap *heap = &pools_of(machine)->heap;
    const PtxBlock *block = memory_add(machine, (PtxBlock){.space = PTX_SPACE_GLOBAL,
                                                           .base = heap->next,
                                                           .size = bytes,
                                                           .fill = BYTE_NEVER,
                                                           .heap = true,
                                                           .name = PTX_HEAP_NAME,
                                                           .cta = PTX_NONE});
    if (!block)
        return 0;
    heap->next += (bytes + APART) / APART * APART + APART;
    heap->used += counted(bytes);
    machine->changes++;
    return block->base;
}

bool heap_give(PtxMachine *machine, uint64_t address) {
    PtxBlock *block = memory_find(machine, address);
    PtxHeap *heap = &pools_of(machine)->heap;
    if (!block || block->base != address || !block->heap || block->freed)
        return false;
    heap->used -= counted(block->size);
    block->freed = block->size;
    block->size = 0;
    machine->changes++;
    return true;
}

PtxHeap ptx_heap(PtxMachine *machine) {
    return pools_of(machine)->heap;
}
