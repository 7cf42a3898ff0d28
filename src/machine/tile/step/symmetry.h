/* What the machine of IR keeps for CTA symmetry (explore/symmetry.h): the affine form of each register that holds an
 * integer or a tensor of them, beside a run of one cluster. The clusters of the box that is left do the same, with the
 * same barriers and views. */
#ifndef MACHINE_TILE_STEP_SYMMETRY_H
#define MACHINE_TILE_STEP_SYMMETRY_H

#include "explore/symmetry.h"
#include "machine/tile/step/machine.h"

struct TileSymmetry {
    Symmetry box;
    AffineForm *forms; /* of each agent's registers */
    bool loads_differ; /* what loads give may differ from cluster to cluster */
    bool places;       /* accesses to global memory may lie elsewhere in each cluster: access_form tells by how much */
};

/* The machine of the run calls these, if it has a TileSymmetry. */
void symmetry_start(const Machine *machine);
/* Before the instruction is carried out. */
void symmetry_follow(const Machine *machine, uint32_t agent, const Instruction *instruction);
/* A partition starts with what it captures. */
void symmetry_capture(const Machine *machine, uint32_t from, uint32_t to, const Fork *fork);

/* The forms of an agent's registers. */
AffineForm *symmetry_forms(const Machine *machine, uint32_t agent);
/* The form of what an evaluator makes of these tensors, or of these and integers; loose where it has none. */
AffineForm symmetry_tensor(Symmetry *symmetry, const Evaluation *how, const AffineForm *forms, const Word *operands,
                           unsigned count);
/* The form of what an evaluator makes of these integers. */
AffineForm symmetry_number(Symmetry *symmetry, const Evaluation *how, const AffineForm *forms, const int64_t *values,
                           unsigned count);

#endif
