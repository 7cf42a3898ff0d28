/* For which other CTAs of the grid a run of one CTA speaks, in closed form.
 *
 * Beside each register it is kept how its value changes from CTA to CTA: by so much for each step of %ctaid in x, y and
 * z, the same in all lanes (`linear`), or in a way that is not kept. A comparison then holds for another CTA as it does
 * for this one if a sum of steps stays between two bounds; so does that an index does not wrap, and that an address
 * stays in its buffer. Those bounds together say which CTAs do the same, instruction for instruction, with addresses in
 * global memory that are so many bytes further on. Where something decides that changes in a way that is not kept, the
 * run speaks for its own CTA alone (`alone`).
 *
 * Not for clusters of several CTAs, nor for what synchronizes CTAs by global memory: both are run whole. */
#ifndef MACHINE_SIMT_CORE_SYMMETRY_H
#define MACHINE_SIMT_CORE_SYMMETRY_H

#include "machine/simt/core/machine.h"

/* by[0] * dx + by[1] * dy + by[2] * dz lies from `least` to `most`, for CTAs that are (dx, dy, dz) from the one that
 * ran. */
typedef struct PtxSymmetryBound {
    int64_t by[3], least, most;
} PtxSymmetryBound;

/* Bytes of global memory that the CTA touches; in one that is d further on, those `by` * d further on. */
typedef struct PtxSymmetryTouch {
    uint64_t begin, end, block; /* the block: where the buffer begins */
    int64_t by[3];
    bool writes;
    const PtxCode *code;
} PtxSymmetryTouch;

typedef struct PtxSymmetry PtxSymmetry;

/* For a machine; its memory is of the arena. NULL: the kernel, or the grid, is none for which it is kept. */
PtxSymmetry *ptx_symmetry_new(Arena *arena, const PtxMachine *machine);
/* Before the CTA runs alone. */
void ptx_symmetry_start(PtxSymmetry *symmetry, const uint32_t cta[3]);
/* Before an instruction is run by lanes of a group, and for a guard that was looked at. */
void ptx_symmetry_step(PtxSymmetry *symmetry, PtxMachine *machine, PtxGroup *group, const PtxCode *code,
                       uint32_t lanes);
/* An access to global memory that the machine tells. */
void ptx_symmetry_access(PtxSymmetry *symmetry, const PtxEvent *event);

/* Behind the run, before it is asked. */
void ptx_symmetry_end(PtxSymmetry *symmetry);
/* Whether it speaks for its own CTA alone, and where that was first seen. */
const PtxCode *ptx_symmetry_alone(const PtxSymmetry *symmetry, const char **why);
/* Whether it speaks for that CTA. */
bool ptx_symmetry_speaks(const PtxSymmetry *symmetry, const uint32_t cta[3]);
const PtxSymmetryTouch *ptx_symmetry_touches(const PtxSymmetry *symmetry, uint32_t *count);

#endif
