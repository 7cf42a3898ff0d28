/* Which values the emulator has to compute: a backward slice from control flow, synchronization and addresses. */
#ifndef MACHINE_TILE_COMPILE_SLICE_H
#define MACHINE_TILE_COMPILE_SLICE_H

#include "ir/ir.h"
#include "model/effect/effect.h"
#include "model/flow/forwarded.h"

typedef struct Slice {
    Module *module;
    ValueWalk walk;    /* its items: those whose sources are still to be added */
    bool reads_cells;  /* a value loaded from shared memory is in it */
    bool without_ends; /* how far a loop counts is not what its count is made of */
} Slice;

void slice_init(Slice *slice, Module *module);
/* Adds a value (NULL is nothing), and with slice_close everything that it depends on. */
void slice_add(Slice *slice, const Value *value);
void slice_add_list(Slice *slice, ValueList list);
/* What the place of an access to global memory is made of (any other effect: nothing); `whether`: or whether it is made
 * at all. */
void slice_add_place(Slice *slice, const Effect *effect, bool whether);
void slice_close(Slice *slice);
static inline bool slice_has(const Slice *slice, const Value *value) {
    return value && value_walk_has(&slice->walk, value);
}
/* As it is now; what is added to one of the two is not in the other. */
Slice slice_copy(const Slice *slice);

#endif
