/* How far the numbers of one run hold for other clusters of its launch.
 *
 * A run is made for one cluster. Beside each register that holds an integer stands its form: by how much it grows with
 * each coordinate of the cluster in the grid. Whatever decides something (a comparison, a quotient, an operand of an
 * effect) makes the box of clusters smaller in which it comes out the same; what has no form makes it one cluster wide
 * along the coordinates that it depends on. The clusters of the box that is left do the same, step by step, with the
 * same barriers and views. */
#ifndef MACHINE_TILE_STEP_SYMMETRY_H
#define MACHINE_TILE_STEP_SYMMETRY_H

#include "machine/tile/step/machine.h"

enum { AXES = 3 };

/* An integer of cluster p is its value in the run plus the sum of by[a] * (p[a] - at[a]); each element of a tensor,
 * too. */
typedef struct AffineForm {
    int64_t by[AXES];
    bool loose; /* what it is in another cluster is not known */
} AffineForm;

typedef struct Symmetry {
    int64_t at[AXES];              /* the cluster of the run */
    int64_t low[AXES], high[AXES]; /* the clusters it speaks for, both included */
    int64_t
        weights[AXES]; /* programs in x that a step along each axis is, where x alone is all of them; 0: it is not */
    AffineForm *forms; /* of each agent's registers */
    bool loads_differ; /* what loads give may differ from cluster to cluster */
    bool places;       /* accesses to global memory may lie elsewhere in each cluster: access_form tells by how much */
} Symmetry;

/* Makes the box so small that a number of that form and value, from `least` to `most` here, is so everywhere in it. */
void symmetry_keep(Symmetry *symmetry, const AffineForm *form, int64_t value, __int128 least, __int128 most);
/* Makes it one cluster wide along all coordinates that the form depends on. */
void symmetry_pin(Symmetry *symmetry, const AffineForm *form);
/* Whether what has the form is the same in the whole box. */
bool symmetry_is_fixed(const Symmetry *symmetry, const AffineForm *form);
/* The part of a form that is a multiple of a positive number, divided by it; *rest: the form without that part. */
AffineForm symmetry_multiples(const AffineForm *form, int64_t by, AffineForm *rest);
/* left + times * right; false if that is more than 64 bits. */
bool symmetry_combine(const AffineForm *left, const AffineForm *right, int64_t times, AffineForm *to);

/* The machine of the run calls these, if it has an Alike. */
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
