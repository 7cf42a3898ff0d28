/* Loads whose value some threads do not use. Where a tile has fewer elements than there are threads, compilers let
 * several threads load the same element and compute with it, and one alone store what comes of it: the others' stores
 * have a guard that does not hold. What they read then decides nothing, and something may write it meanwhile.
 *
 * A thread uses a value if that, or what is computed from it, is stored, or addresses memory, by an instruction whose
 * guard may hold for the thread, or decides what is done; or if it is handed to lanes of the warp of which one uses
 * what comes of it. A load whose value no thread at all uses is left as it is. */
#ifndef MACHINE_SIMT_DECODE_UNUSED_H
#define MACHINE_SIMT_DECODE_UNUSED_H

#include "machine/simt/decode/program.h"

/* What a thread gets from an instruction comes from: */
typedef enum PtxGiver {
    GIVEN_ELSEWHERE, /* ... or it does something */
    GIVEN_BY_WARP,   /* what lanes of its warp have */
    GIVEN_BY_ITSELF, /* what it has itself, and nothing else happens */
} PtxGiver;
PtxGiver ptx_giver(const PtxForm *form);

/* Sets `unused` of the code of a kernel that says how many threads a CTA has; elsewhere, or if it would take more than
 * `budget` bytes, there are no such loads. */
void ptx_unused(PtxProgram *program, size_t budget);
/* Sets `dead` of all code: instructions with an effect, such as atomics, whose results are not read. */
void ptx_dead(PtxProgram *program, Arena *arena);
/* Lanes of a warp, by its number in the CTA, that do not use what a load gives them. */
static inline uint32_t code_unused(const PtxCode *code, uint32_t warp) {
    return code->unused ? code->unused[warp] : 0;
}

#endif
