/* Runs that speak for families of launches: of a kernel that is run with open arguments, open program ids and open
 * data, but for the trip counts of loops, which are chosen.
 *
 * What is run is the machine's program with a few changes: the bounds of loops that are not known are trip counts,
 * which the code that makes a run chooses; loads, program ids and the grid give something unknown, and branches around
 * what neither synchronizes nor touches shared or tensor memory are passed over. A run that asks for anything that is
 * not known is no proof of anything.
 *
 * Each trip count T has two lanes (shift.h): that of T + n * L, and that of T + n, which merely saves runs. In the
 * first, a run that is longer does the same up to the head of a loop, since T is only compared with less; there the
 * state s1 of the machine and of all observers is the same as a few trips later, s2, but for numbers that count. From
 * then on the longer run has made n further such periods: its numbers are shifted by what they grew from s1 to s2.
 * Once more through the period (s2 to s3) shows that its instructions do the same with shifted numbers. docs/proofs.md
 * has the argument. */
#ifndef CHECK_PROVE_FAMILY_H
#define CHECK_PROVE_FAMILY_H

#include "base/visit.h"
#include "check/prove/shift.h"
#include "machine/tile/schedule/schedule.h"

/* A number that a launch decides, and on which trip counts depend: the bound of a loop is a multiple of it and more. */
typedef struct TripCount {
    const Op *loop;             /* the first that depends on it: runs as often as step goes into */
    int64_t factor, more, step; /* factor * number + more, rounded up */
    int64_t from;               /* the largest number with which that loop is not entered */
    bool counts;                /* it is how often the loop runs, and not less than 0 */
    int64_t period;             /* L; 0: none was found yet */
    uint64_t identity;          /* of what decides it */
} TripCount;

/* Of 32-bit numbers that a trip count shifts: by how much they grow at most if it is 1 more, and how large they were in
 * the runs that were made. */
typedef struct FamilyGrowth {
    int64_t fastest, largest;
} FamilyGrowth;

enum { MOST_CONDITIONS = 32 };

typedef struct Family Family;

/* What observers of the run add to its state. */
typedef void FamilyVisit(void *context, const StateVisit *visit);

/* Changes a copy of the program. */
Family *family_create(Arena *arena, const Program *program);
const Program *family_program(const Family *family);
/* The machine is one of that program. `visit`, with its context: what belongs to the state beside the machine. */
void family_follow(Family *family, Machine *machine, FamilyVisit *visit, void *context);

/* How a run is made. */
typedef struct FamilyRun {
    int64_t trips[MOST_TRIP_COUNTS]; /* the values of the trip counts */
    bool down[MOST_TRIP_COUNTS];     /* it is to speak for all that are less, instead of T + n * L */
    uint32_t conditions;             /* bit k: condition k holds */
    int32_t watches; /* registers that go on in one direction for so long are taken to count; 0: it is not looked for */
    bool measures;   /* periods are looked for */
    bool guesses;    /* where a slot is not known, it goes on with the first: to find trip counts, and no proof */
    uint64_t end;    /* deadline_now by which it has to be over */
} FamilyRun;

/* No register is known to count, and no period. */
void family_forget(Family *family);
/* Before a run; tensors of the run are in the scratch arena of the machine, and snapshots, too. */
void family_start(Family *family, const FamilyRun *run);
/* After it: open trip counts that it came to; conditions that it asked for, which the launch decides. */
uint32_t family_trip_counts(const Family *family, TripCount **counts);
uint32_t family_conditions(const Family *family);
/* A trip count was found that was not there when the run began: it has to be made again. */
bool family_is_new(const Family *family);
/* It was learned how a register grows: made again, the run may speak for more. */
bool family_learned(const Family *family);
/* Why the run is no proof, at which op; NULL: it is one. */
const char *family_problem(const Family *family, const Op **op);
/* Whether it speaks for T + n * L, for all n; and up to which e for T + e. */
bool family_speaks(const Family *family, uint32_t count);
int64_t family_reach(const Family *family, uint32_t count);
/* Of all runs so far. */
FamilyGrowth family_growth(const Family *family, uint32_t count);

#endif
