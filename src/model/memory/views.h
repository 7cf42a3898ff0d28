/* Where views of memory lie: exact sets of bytes of shared memory, of rows and 32-bit columns of tensor memory.
 *
 * A storage is what two allocations share when they are the same memory under two names: `allocation.offset` puts all
 * allocations of a space into one storage, `buffer.id` (with `buffer.offset`) those of one id,
 * `tensor_memory_col_offset` those of tensor memory; any other allocation is a storage of its own.
 *
 * A view's place in its storage is an Offset. Shared memory: the byte of element e is base + (affine XOR e's position
 * in the layout), as subslices of swizzled buffers combine by XOR. Tensor memory: base is (row << 16 | column), and
 * combines by addition. */
#ifndef MODEL_MEMORY_VIEWS_H
#define MODEL_MEMORY_VIEWS_H

#include "ir/ir.h"
#include "model/effect/effect.h"
#include "model/layout/layout.h"

typedef struct Offset {
    int32_t base, affine;
} Offset;

typedef struct Allocation {
    const Op *op;
    Space space;
    uint32_t storage;
    Offset offset;
    int64_t size; /* bytes; tensor memory: columns */
} Allocation;

typedef struct Allocations {
    Allocation *items;
    uint32_t count, storage_count;
    bool moved; /* ops do not stand in the order of the text (edit_move) */
} Allocations;

/* Every allocation below `root` (ttg.local_alloc, ttng.tmem_alloc and what else the table says allocates), in the order
 * of the IR. In the module's arena. */
Allocations allocations_of(Module *module, const Op *root);
/* NULL if the op (NULL: none) allocates nothing. */
const Allocation *allocation_find(const Allocations *allocations, const Op *op);
/* The one that a value (NULL: none) is a part of, found in the IR alone; NULL if it cannot be seen. */
const Allocation *allocation_of(const Allocations *allocations, Module *module, const Value *value);
/* Where it begins in its storage: a byte, or a column. */
static inline int64_t allocation_begin(const Allocation *allocation) {
    return allocation->space == SPACE_TENSOR ? allocation->offset.base & UINT16_MAX : allocation->offset.base;
}

/* What a view op (EFFECT_VIEW) does to the offset of its source: base += index * stride + add, affine ^= flip, where
 * index is the value of `index` (NULL: none). `problem` is a sentence when that cannot be said, else NULL. */
typedef struct ViewStep {
    const Value *index;
    int64_t stride, add, flip;
    int64_t limit;     /* the index is less, and not negative, or the view is outside of its source; 0: not known */
    const Value *rank; /* map_to_remote_buffer: the CTA; else NULL */
    uint32_t cta;      /* it begins in the CTA so far away (XOR) from where its source begins */
    const char *problem;
} ViewStep;
ViewStep view_step_of(Module *module, const Op *op);
/* What a value is a view of, by the effects of the op that makes it; NULL if it is none. */
const Value *view_source(Module *module, const Value *value);

/* Bytes (tensor memory: 32-bit words) that a memory descriptor's type describes in one CTA; -1 if that is not known. */
int64_t memdesc_bytes(Module *module, const Type *memdesc);
/* How many bytes a TMA copy into it delivers. */
int64_t memdesc_transfer_bytes(Module *module, const Type *memdesc);

/* The bytes of a view of that type at that offset of its storage; false if the layout is not known. */
bool view_bytes(Module *module, const Type *memdesc, Offset at, Arena *arena, Bytes *bytes);

/* Boxes of a view, in the coordinates of its encoding: what of it one CTA touches in the memory of one other. */
typedef struct ViewPart {
    uint32_t count;
    uint8_t rank;
    int64_t elements;           /* of all of them: no two share one */
    const int64_t *begin, *end; /* [count][rank]; sizes are powers of two, and each begins at a multiple of its own */
} ViewPart;
/* Their bytes; NULL: of the whole view. */
bool view_part_bytes(Module *module, const Type *memdesc, Offset at, const ViewPart *part, Arena *arena, Bytes *bytes);

/* The same as view_step_of for one result of an op that has several: what nvws.aref.put.enter and its like hand out are
 * views of the aref's buffers, at slot `index`. */
ViewStep view_step_of_result(Module *module, const Op *op, uint32_t result);

#endif
