/* Descriptors that a kernel makes of others: a block pointer that is advanced, and one that is moved, bounded again or
 * switched off. */
#ifndef MACHINE_TILE_MEMORY_DESCRIPTOR_H
#define MACHINE_TILE_MEMORY_DESCRIPTOR_H

#include "machine/tile/step/machine.h"

/* Whether the maker makes it of another. */
bool descriptor_is_step(const Maker *maker);
/* What becomes of the one that it is made of; a reason why that is not known, or NULL. */
const char *descriptor_step(const Machine *machine, const Maker *maker, const Word *words, Descriptor *descriptor);

/* The integers that a list of at most 8 registers holds, the rest zeros; false if one is not known. */
bool descriptor_read_list(const Machine *machine, RegisterList list, const Word *words, int64_t *numbers);

#endif
