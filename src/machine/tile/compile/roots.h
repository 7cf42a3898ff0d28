/* Whose memory an address may lie in: the arguments of a kernel that the address is made of, read off the IR. What a
 * pointer is moved by does not count, only what it is a pointer to. */
#ifndef MACHINE_TILE_COMPILE_ROOTS_H
#define MACHINE_TILE_COMPILE_ROOTS_H

#include "machine/tile/compile/program.h"

enum { MOST_ROOTS = 64 };

typedef struct Roots {
    uint64_t parameters; /* a bit for each of the first MOST_ROOTS */
    bool elsewhere;      /* or in that of none: made of a number, or itself loaded from memory */
} Roots;

/* Of a pointer, a tensor of pointers, or a descriptor. */
Roots address_roots(const Program *program, const Value *address);

#endif
