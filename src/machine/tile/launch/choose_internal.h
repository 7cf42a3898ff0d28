/* What the two halves of the chooser share: launches from what is wanted of loops (choose.c), and of branches and ops
 * (choose_ways.c). */
#ifndef MACHINE_TILE_LAUNCH_CHOOSE_INTERNAL_H
#define MACHINE_TILE_LAUNCH_CHOOSE_INTERNAL_H

#include "machine/tile/launch/choose.h"
#include "machine/tile/launch/solve.h"
#include "machine/tile/launch/steering.h"

enum {
    MOST_WIDTH = 16,      /* bits of a counter that is made to wrap */
    MOST_TURNS = 1 << 18, /* of one program, where a ring has not been gone around yet, */
    FEW_TURNS = 1 << 13,  /* where it has, */
    SOME_TURNS = 1 << 11, /* and where a number is to get past something */
    MOST_DIVISIONS = 64,  /* that are looked at */
};

typedef struct Chooser {
    const Program *program;
    Arena *arena;
    Solver *solver;
    const Launch *like, *fixed;
    Setting base;
    int64_t depth; /* of the deepest ring */
    int64_t unit;  /* sizes are multiples of it */
    int64_t units[SETTING_MOST_NUMBERS];
    bool even;                           /* those of the launch that was given are, too */
    const Op *divisions[MOST_DIVISIONS]; /* by what is not the same at every launch */
    uint32_t division_count;
    Setting settings[MOST_CHOSEN];
    Launch *launches;
    size_t count;
} Chooser;

/* The setting to start from is the solver's again. */
void start_over(Chooser *chooser);
/* The solver's setting, as a launch, unless there is such a one. */
void add_launch(Chooser *chooser, LaunchDoubt doubt);

/* Whether no other loop with open bounds is in it. */
bool is_innermost(const Program *program, const Loop *loop);
/* Loops of other strands that run by other numbers are meant to run as often: the caller of the kernel ensures it. */
void keep_in_step(Chooser *chooser, const Loop *loop, int64_t trips);
/* About how many turns loops make, of one program: what running a launch takes. */
double turns_of(Chooser *chooser);

/* That branches, predicates, whiles and switches go every way. */
void want_ways(Chooser *chooser);
/* The same of ways that no branch goes: an effect that is left out, a phase, a slot, a value that is selected. */
void want_choices(Chooser *chooser);

/* Slots and phases that are another in the same turns. */
void want_shifts(Chooser *chooser);
/* Conditions by twos, in every combination. */
void want_pairs(Chooser *chooser);

#endif
