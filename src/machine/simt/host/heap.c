/* The heap of kernels on a device: what a launch gets by malloc and does not free is there for the launches after it.
 */
#include "base/array.h"
#include "machine/simt/core/machine.h"
#include "machine/simt/host/host.h"

#include <stdlib.h>

enum { MOST_FREED = 4096 }; /* that are known as such; what was freed before them is no memory */

static void drop_pieces(HostHeap *heap, uint32_t count) {
    while (heap->count > count) {
        HostPiece *piece = heap->pieces[--heap->count];
        free(piece->memory.bytes);
        ptx_host_free(&piece->memory);
        free(piece);
    }
}

void host_heap_free(PtxDevice *device) {
    HostHeap *heap = &device->heap;
    drop_pieces(heap, 0);
    free(heap->pieces);
    free(heap->left.freed);
    *heap = (HostHeap){0};
}

bool host_heap_limit(PtxDevice *device, uint64_t bytes) {
    if (device->heap.used)
        return false;
    device->heap.left = (PtxHeap){.next = PTX_HEAP_FIRST, .limit = bytes};
    return true;
}

/* Behind all other memory. */
void host_heap_place(PtxDevice *device, PtxLaunch *launch) {
    HostHeap *heap = &device->heap;
    if (!heap->left.next)
        host_heap_limit(device, PTX_HEAP_BYTES);
    launch->heap = &heap->left;
    for (uint32_t i = 0; i < heap->count; i++) {
        HostPiece *piece = heap->pieces[i];
        launch->buffers[launch->buffer_count++] = (PtxBuffer){.name = PTX_HEAP_NAME,
                                                              .parameter = PTX_NONE,
                                                              .address = piece->address,
                                                              .bytes = piece->memory.size,
                                                              .data = piece->memory.bytes,
                                                              .data_bytes = piece->memory.size,
                                                              .heap = true,
                                                              .host = &piece->memory};
    }
}

static bool add_piece(HostHeap *heap, const PtxBlock *block) {
    enum { ROOM = 16 };
    HostPiece *piece = ARRAY_ROOM(heap->pieces, heap->count, heap->capacity, 64) ? calloc(1, sizeof *piece) : NULL;
    if (!piece)
        return false;
    *piece = (HostPiece){.address = block->base,
                         .memory = {.bytes = calloc(block->size + ROOM, 1),
                                    .states = calloc(block->size + ROOM, 1),
                                    .size = block->size}};
    heap->pieces[heap->count++] = piece;
    if (!piece->memory.bytes || !piece->memory.states)
        return false;
    if (block->bytes)
        memcpy(piece->memory.bytes, block->bytes, block->size);
    if (block->states)
        memcpy(piece->memory.states, block->states, block->size);
    else
        memset(piece->memory.states, block->fill, block->size);
    return true;
}

/* Of what the launch freed. */
static bool add_freed(PtxHeap *left, const PtxMachine *machine) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < machine->block_count; i++)
        count += machine->blocks[i].freed != 0;
    PtxFreed *freed = count ? malloc(count * sizeof *freed) : NULL;
    if (count && !freed)
        return false;
    uint32_t skip = count > MOST_FREED ? count - MOST_FREED : 0, made = 0;
    for (uint32_t i = 0; i < machine->block_count; i++) {
        const PtxBlock *block = &machine->blocks[i];
        if (block->freed && !(skip && skip--))
            freed[made++] = (PtxFreed){.address = block->base, .bytes = block->freed};
    }
    free(left->freed);
    left->freed = freed;
    left->freed_count = made;
    return true;
}

bool host_heap_take(PtxDevice *device, PtxMachine *machine) {
    HostHeap *heap = &device->heap;
    uint32_t before = heap->count;
    PtxHeap left = ptx_heap(machine);
    bool good = true;
    for (uint32_t i = 0; i < machine->block_count && good; i++) {
        const PtxBlock *block = &machine->blocks[i];
        if (block->heap && !block->freed && !block->host)
            good = add_piece(heap, block);
    }
    if (!good || !add_freed(&heap->left, machine)) {
        drop_pieces(heap, before);
        return false;
    }
    heap->left.next = left.next;
    heap->left.used = left.used;
    return true;
}

void host_heap_give(PtxDevice *device, const PtxMachine *machine) {
    HostHeap *heap = &device->heap;
    uint32_t kept = 0, block = 0;
    for (uint32_t i = 0; i < heap->count; i++) { /* both are sorted */
        HostPiece *piece = heap->pieces[i];
        while (machine->blocks[block].base < piece->address)
            block++;
        if (!machine->blocks[block].freed) {
            heap->pieces[kept++] = piece;
            continue;
        }
        free(piece->memory.bytes);
        ptx_host_free(&piece->memory);
        free(piece);
    }
    heap->count = kept;
}
