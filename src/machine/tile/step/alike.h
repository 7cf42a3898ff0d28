/* How far the numbers of one run hold for other clusters of its launch.
 *
 * A run is made for one cluster. Beside each register that holds an integer stands its form: by how much it grows with
 * each coordinate of the cluster in the grid. Whatever decides something (a comparison, a quotient, an operand of an
 * effect) makes the box of clusters smaller in which it comes out the same; what has no form makes it one cluster wide
 * along the coordinates that it depends on. The clusters of the box that is left do the same, step by step, with the
 * same barriers and views. */
#ifndef MACHINE_TILE_STEP_ALIKE_H
#define MACHINE_TILE_STEP_ALIKE_H

#include "machine/tile/step/machine.h"

enum { AXES = 3 };

/* An integer of cluster p is its value in the run plus the sum of by[a] * (p[a] - at[a]); each element of a tensor,
 * too. */
typedef struct Form {
    int64_t by[AXES];
    bool loose; /* what it is in another cluster is not known */
} Form;

typedef struct Alike {
    int64_t at[AXES];              /* the cluster of the run */
    int64_t low[AXES], high[AXES]; /* the clusters it speaks for, both included */
    int64_t
        weights[AXES]; /* programs in x that a step along each axis is, where x alone is all of them; 0: it is not */
    Form *forms;       /* of each agent's registers */
    bool loads_differ; /* what loads give may differ from cluster to cluster */
    bool places;       /* accesses to global memory may lie elsewhere in each cluster: access_form tells by how much */
} Alike;

/* Makes the box so small that a number of that form and value, from `least` to `most` here, is so everywhere in it. */
void alike_keep(Alike *alike, const Form *form, int64_t value, __int128 least, __int128 most);
/* Makes it one cluster wide along all coordinates that the form depends on. */
void alike_pin(Alike *alike, const Form *form);
/* Whether what has the form is the same in the whole box. */
bool alike_is_fixed(const Alike *alike, const Form *form);
/* The part of a form that is a multiple of a positive number, divided by it; *rest: the form without that part. */
Form alike_multiples(const Form *form, int64_t by, Form *rest);
/* left + times * right; false if that is more than 64 bits. */
bool alike_combine(const Form *left, const Form *right, int64_t times, Form *to);

/* The machine of the run calls these, if it has an Alike. */
void alike_start(const Machine *machine);
/* Before the instruction is carried out. */
void alike_follow(const Machine *machine, uint32_t agent, const Instruction *instruction);
/* A partition starts with what it captures. */
void alike_capture(const Machine *machine, uint32_t from, uint32_t to, const Fork *fork);

/* The forms of an agent's registers. */
Form *alike_forms(const Machine *machine, uint32_t agent);
/* The form of what an evaluator makes of these tensors, or of these and integers; loose where it has none. */
Form alike_tensor(Alike *alike, const Evaluation *how, const Form *forms, const Word *operands, unsigned count);
/* The form of what an evaluator makes of these integers. */
Form alike_number(Alike *alike, const Evaluation *how, const Form *forms, const int64_t *values, unsigned count);

#endif
