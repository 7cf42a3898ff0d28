/* Which bytes of global memory an access touches, exactly: of loads, stores, atomics, copies and TMA boxes.
 *
 * Only in a program that was compiled with COMPILE_GLOBAL, and of an EVENT_ACCESS while it is told: the registers of
 * its agent still hold what it was made with. Addresses are the emulator's: each argument of the kernel that is a
 * pointer or a descriptor has 2^40 bytes of its own.
 *
 * In a cluster whose CTAs have one program between them (num-ctas), each touches the part of a tensor that its layout
 * gives to it. What several have a part of, all load, but only the first of them stores or updates; likewise a scalar
 * is stored and updated by the first CTA. */
#ifndef MACHINE_TILE_MEMORY_ACCESS_H
#define MACHINE_TILE_MEMORY_ACCESS_H

#include "machine/tile/step/symmetry.h"

/* The addresses of its bytes, in `arena`; none if every element is masked off or outside of its tensor. A box is
 * clipped to the shape of its descriptor, as the hardware does. The descriptor itself, where a copy reads it and it
 * lies in the parameters of the kernel, is no global memory. False if the bytes are not known: *reason, which fits
 * behind a colon, says why. */
bool access_ranges(const Machine *machine, const Event *event, Arena *arena, Bytes *bytes, const char **reason);
/* The same as one run from its first byte to its last, which may hold bytes that it does not touch; empty if it touches
 * none. Much cheaper where there are many. */
bool access_hull(const Machine *machine, const Event *event, Arena *arena, Run *hull);
/* The same, and how many elements of its tensor it touches: two at the same address count twice. */
bool access_elements(const Machine *machine, const Event *event, Arena *arena, Bytes *bytes, uint64_t *elements,
                     const char **reason);
/* The bytes that it touches at most, where only its mask is not known; false if they are not known either. */
bool access_most(const Machine *machine, const Event *event, Arena *arena, Bytes *bytes);
/* Bytes of one of its elements, each of which an atomic access touches at once; 0: not known. */
uint32_t access_element(const Machine *machine, const Event *event);

/* Which thread of its partition makes each piece of an access: by the layout of its tensor. Of the threads that have a
 * copy of an element it is the first, which alone stores or updates; the others load it, too (`copies`). */
enum { THREAD_ENGINE = UINT32_MAX - 1 /* a TMA unit, for one thread */, THREAD_UNKNOWN = UINT32_MAX };
typedef struct ThreadPiece {
    int64_t begin;
    uint32_t bytes, thread;
} ThreadPiece;
typedef struct ThreadPieces {
    ThreadPiece *items;
    uint32_t count, capacity;
    bool copies;
} ThreadPieces;
/* False as access_ranges. Memory: `arena`. */
bool access_threads(const Machine *machine, const Event *event, Arena *arena, ThreadPieces *pieces);
/* The same number for two accesses of one partition: the thread that touches an element in the one, and no other,
 * touches it in the other. 0: not known. */
uint64_t access_mapping(const Machine *machine, const Event *event);

/* In a run that follows forms (Alike.places): by how much all its bytes move with each coordinate of the cluster. The
 * box of clusters is made so small that it is the same bytes but for that. */
AffineForm access_form(const Machine *machine, const Event *event);

/* The argument in whose memory an address lies, and how far from its start; an address shortly before the start has a
 * negative offset. False if it is in that of none. */
bool address_argument(const Machine *machine, int64_t address, uint32_t *argument, int64_t *offset);

/* Whether it lies in memory that the kernel has allocated for each of its CTAs. */
bool address_is_scratch(int64_t address);
/* Which memory of these, and how far from its start in the first CTA of the cluster. */
uint32_t address_scratch(int64_t address, int64_t *offset);
/* How far from its start that of the agent's CTA begins. */
int64_t address_scratch_base(const Machine *machine, uint32_t agent);
/* An address that is the same in every cluster becomes one that is the cluster's alone, where programs have `scratches`
 * of them at most: which one it is, is then a remainder. False: there are too many clusters. */
bool scratch_of_cluster(uint64_t cluster, uint32_t scratches, int64_t *address);

/* "%a + 0..127, 256..383 and 6 more": the first `most` runs, first and last byte of each. "nothing" if there is none.
 */
void access_print(const Machine *machine, const Bytes *bytes, uint32_t most, Text *to);

#endif
